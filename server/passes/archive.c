/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/archive.h"

#include "server/base/buffer.h"
#include "server/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum archive_kind { WORKUNITS, RESULTS, WORKUNIT_INDEX, RESULT_INDEX, KINDS };
enum { NUMBERS_TRIED = 1000 };

static const struct {
    const char *name;
    const char *begin, *end; /* of the document */
} kinds[KINDS] = {{"wu_archive", "<archive>\n", "</archive>\n"},
                  {"result_archive", "<archive>\n", "</archive>\n"},
                  {"wu_index", "", ""},
                  {"result_index", "", ""}};

struct archive {
    char folder[PATH_MAX];
    int64_t number;
    bool is_open;
    struct {
        int file;
        off_t kept;  /* where the next part begins */
        off_t added; /* behind the last part */
        char path[PATH_MAX];
    } files[KINDS];
};

/* --- rows ----------------------------------------------------------------------------------------
 */

#define WHOLE(column)   buffer_print(to, "  <" #column ">%" PRId64 "</" #column ">\n", row->column)
#define DECIMAL(column) buffer_print(to, "  <" #column ">%.15e</" #column ">\n", row->column)
#define WORDS(column)   buffer_add_element(to, 2, #column, row->column)

static void write_workunit(struct buffer *to, const struct purged_workunit_row *purged)
{
    const struct archived_workunit_row *row = &purged->archived_workunit;

    buffer_add_string(to, "<workunit_archive>\n");
    WHOLE(id);
    WHOLE(create_time);
    WHOLE(appid);
    WORDS(name);
    WORDS(xml_doc);
    WHOLE(batch);
    DECIMAL(rsc_fpops_est);
    DECIMAL(rsc_fpops_bound);
    DECIMAL(rsc_memory_bound);
    DECIMAL(rsc_disk_bound);
    WHOLE(need_validate);
    WHOLE(canonical_resultid);
    DECIMAL(canonical_credit);
    WHOLE(transition_time);
    WHOLE(delay_bound);
    WHOLE(error_mask);
    WHOLE(file_delete_state);
    WHOLE(assimilate_state);
    WHOLE(hr_class);
    DECIMAL(opaque);
    WHOLE(min_quorum);
    WHOLE(target_nresults);
    WHOLE(max_error_results);
    WHOLE(max_total_results);
    WHOLE(max_success_results);
    WORDS(result_template_file);
    WHOLE(priority);
    buffer_print(to, "  <mod_time>%" PRId64 "</mod_time>\n", purged->mod_time);
    DECIMAL(rsc_bandwidth_bound);
    WHOLE(fileset_id);
    WHOLE(app_version_id);
    WHOLE(transitioner_flags);
    WHOLE(size_class);
    WORDS(keywords);
    WHOLE(app_version_num);
    buffer_add_string(to, "</workunit_archive>\n");
}

static void write_result(struct buffer *to, const struct purged_result_row *purged)
{
    const struct archived_result_row *row = &purged->archived_result;

    buffer_add_string(to, "<result_archive>\n");
    WHOLE(id);
    WHOLE(create_time);
    WHOLE(workunitid);
    WHOLE(server_state);
    WHOLE(outcome);
    WHOLE(client_state);
    WHOLE(hostid);
    WHOLE(userid);
    WHOLE(report_deadline);
    WHOLE(sent_time);
    WHOLE(received_time);
    WORDS(name);
    DECIMAL(cpu_time);
    WORDS(xml_doc_in);
    WORDS(xml_doc_out);
    WORDS(stderr_out);
    WHOLE(batch);
    WHOLE(file_delete_state);
    WHOLE(validate_state);
    DECIMAL(claimed_credit);
    DECIMAL(granted_credit);
    DECIMAL(opaque);
    WHOLE(random);
    WHOLE(app_version_num);
    WHOLE(app_version_id);
    WHOLE(appid);
    WHOLE(exit_status);
    WHOLE(teamid);
    WHOLE(priority);
    buffer_print(to, "  <mod_time>%" PRId64 "</mod_time>\n", purged->mod_time);
    DECIMAL(elapsed_time);
    DECIMAL(flops_estimate);
    WHOLE(runtime_outlier);
    WHOLE(size_class);
    DECIMAL(peak_working_set_size);
    DECIMAL(peak_swap_size);
    DECIMAL(peak_disk_usage);
    buffer_add_string(to, "</result_archive>\n");
}

static void write_index(struct buffer *to, int64_t id, int64_t number, struct text name)
{
    buffer_print(to, "%" PRId64 "     %" PRId64 "    " TEXT_FORMAT "\n", id, number,
                 TEXT_ARG(name));
}

static void write_rows(struct buffer *to, enum archive_kind kind, const struct archive *archive,
                       const struct purge_rows *rows)
{
    for (size_t i = 0; i < rows->workunit_count; i++) {
        const struct archived_workunit_row *row = &rows->workunits[i].archived_workunit;

        if (kind == WORKUNITS)
            write_workunit(to, &rows->workunits[i]);
        else if (kind == WORKUNIT_INDEX)
            write_index(to, row->id, archive->number, row->name);
    }
    for (size_t i = 0; i < rows->result_count; i++) {
        const struct archived_result_row *row = &rows->results[i].archived_result;

        if (kind == RESULTS)
            write_result(to, &rows->results[i]);
        else if (kind == RESULT_INDEX)
            write_index(to, row->id, archive->number, row->name);
    }
}

/* --- files ---------------------------------------------------------------------------------------
 */

static enum status write_at(const struct archive *archive, enum archive_kind kind, off_t at,
                            struct text text, struct failure *failure)
{
    while (text.length > 0) {
        ssize_t written = pwrite(archive->files[kind].file, text.at, text.length, at);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail(failure, STATUS_IO, "%s: %s", archive->files[kind].path, strerror(errno));
        text = (struct text){text.at + written, text.length - (size_t)written};
        at += written;
    }
    return STATUS_OK;
}

/* The end of the document behind `at`, and nothing behind it; on the disk. */
static enum status finish_file(const struct archive *archive, enum archive_kind kind, off_t at,
                               struct failure *failure)
{
    struct text end = text_from(kinds[kind].end);
    enum status status = write_at(archive, kind, at, end, failure);

    if (status != STATUS_OK)
        return status;
    if (ftruncate(archive->files[kind].file, at + (off_t)end.length) != 0 ||
        fsync(archive->files[kind].file) != 0)
        return fail(failure, STATUS_IO, "%s: %s", archive->files[kind].path, strerror(errno));
    return STATUS_OK;
}

/* False: errno says why. */
static bool open_file(struct archive *archive, enum archive_kind kind)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s_%" PRId64 ".xml", archive->folder,
                          kinds[kind].name, archive->number);

    if (length < 0 || length >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(archive->files[kind].path, path, (size_t)length + 1);
    archive->files[kind].file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    return archive->files[kind].file >= 0 && file_give(archive->files[kind].file, path);
}

/* The new names are on the disk too. */
static enum status sync_folder(const struct archive *archive, struct failure *failure)
{
    int folder = open(archive->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_done = folder >= 0 && fsync(folder) == 0;

    if (!is_done)
        (void)fail(failure, STATUS_IO, "%s: %s", archive->folder, strerror(errno));
    if (folder >= 0)
        (void)close(folder);
    return is_done ? STATUS_OK : STATUS_IO;
}

static enum status open_files(struct archive *archive, struct failure *failure)
{
    int tries = 0;

    /* Two purges may begin in one second. */
    while (!open_file(archive, WORKUNITS)) {
        if (errno != EEXIST || ++tries == NUMBERS_TRIED)
            return fail(failure, STATUS_IO, "%s: %s", archive->files[WORKUNITS].path,
                        strerror(errno));
        archive->number++;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        struct text begin = text_from(kinds[kind].begin);
        enum status status = STATUS_OK;

        if (kind != WORKUNITS && !open_file(archive, (enum archive_kind)kind))
            status = fail(failure, STATUS_IO, "%s: %s", archive->files[kind].path, strerror(errno));
        if (status == STATUS_OK)
            status = write_at(archive, (enum archive_kind)kind, 0, begin, failure);
        if (status != STATUS_OK)
            return status;
        archive->files[kind].kept = archive->files[kind].added = (off_t)begin.length;
    }
    archive->is_open = true;
    return sync_folder(archive, failure);
}

enum status archive_open(const char *folder, int64_t now, struct archive **ret_archive,
                         struct failure *failure)
{
    struct archive *archive = calloc(1, sizeof(*archive));

    *ret_archive = NULL;
    if (archive == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    archive->number = now;
    for (int kind = 0; kind < KINDS; kind++)
        archive->files[kind].file = -1;
    if (snprintf(archive->folder, sizeof(archive->folder), "%s", folder) >= PATH_MAX ||
        (!file_make_folder(folder, 0750) && errno != EEXIST)) {
        free(archive);
        return fail(failure, STATUS_IO, "%s: %s", folder, strerror(errno));
    }
    *ret_archive = archive;
    return STATUS_OK;
}

enum status archive_add(struct archive *archive, const struct purge_rows *rows,
                        struct failure *failure)
{
    enum status status = archive->is_open ? STATUS_OK : open_files(archive, failure);

    for (int kind = 0; kind < KINDS && status == STATUS_OK; kind++) {
        struct buffer buffer = buffer_on_heap(0);
        off_t at = archive->files[kind].kept;

        write_rows(&buffer, (enum archive_kind)kind, archive, rows);
        if (buffer.overflowed)
            status = fail(failure, STATUS_NO_MEMORY, "no memory");
        else
            status = write_at(archive, (enum archive_kind)kind, at, buffer_text(&buffer), failure);
        archive->files[kind].added = at + (off_t)buffer.length;
        if (status == STATUS_OK)
            status =
                finish_file(archive, (enum archive_kind)kind, archive->files[kind].added, failure);
        buffer_free(&buffer);
    }
    return status;
}

void archive_keep(struct archive *archive)
{
    for (int kind = 0; kind < KINDS; kind++)
        archive->files[kind].kept = archive->files[kind].added;
}

enum status archive_close(struct archive *archive, struct failure *failure)
{
    enum status status = STATUS_OK;

    if (archive == NULL)
        return STATUS_OK;
    for (int kind = 0; kind < KINDS; kind++) {
        if (status == STATUS_OK && archive->is_open)
            status =
                finish_file(archive, (enum archive_kind)kind, archive->files[kind].kept, failure);
        if (archive->files[kind].file >= 0)
            (void)close(archive->files[kind].file);
    }
    free(archive);
    return status;
}
