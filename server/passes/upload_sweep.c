/* SPDX-License-Identifier: Apache-2.0 */
/* They are gathered up to a number, so that millions of files need no more memory than a
 * hundred thousand: their results are looked up, then all archives are read for them, and then what
 * may go is deleted, folder by folder. Results are looked up once more directly before that, since
 * the archives take their time. */
#include "server/passes/upload_sweep.h"

#include "config/config.h"
#include "db/db.h"
#include "db/file_sweep.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/sorted.h"
#include "server/passes/complaints.h"
#include "server/passes/result_archive.h"
#include "server/project/hierarchy.h"
#include "server/submit/output_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { ORPHANS_MOST = 100000, GROUP_MOST = 256 };
#define ORPHANS_BYTES ((size_t)256 << 20)
#define SCRATCH_BYTES ((size_t)64 << 20)

/* What the archive that is being read says of it; it counts when that was whole. */
enum archived_word { ARCHIVED_NOT, ARCHIVED_FREE, ARCHIVED_MARKED };

struct orphan {
    struct text name;
    size_t result_length; /* of the name's first part */
    int64_t folder;       /* its number */
    struct stat stat;
    enum sweep_kind kind; /* unproved until an archive has it */
    enum archived_word word;
};

struct uploads_sweep {
    struct pass_owner *owner;
    const struct upload_sweep_settings *settings;
    struct sweep_count *counts;
    struct complaints complaints;
    struct arena *kept;    /* the orphans' names */
    struct arena *scratch; /* of one group, or one archived result */
    struct orphan *orphans;
    struct orphan **by_name;
    struct orphan **heard; /* of which the archive that is being read says something */
    size_t count, heard_count;
    double begun;
    int64_t folder; /* that is being looked at */
    int64_t next_result, looked_at;
    int uploads;
    bool has_archives; /* were read: what is wrong with them was said */
};

static struct text result_of(const struct orphan *orphan)
{
    return text_first(orphan->name, orphan->result_length);
}

static void count_file(struct uploads_sweep *sweep, enum sweep_kind kind, const struct stat *found)
{
    sweep->counts[kind].files++;
    sweep->counts[kind].bytes += S_ISREG(found->st_mode) ? (double)found->st_size : 0;
}

/* --- results -------------------------------------------------------------------------------------
 */

/* Of a group. A result whose name differs in capitals counts as well, where the database takes such
 * names for the same. */
static enum status look_up(struct uploads_sweep *sweep, struct orphan *group, size_t count)
{
    struct pass_owner *owner = sweep->owner;
    struct text names[GROUP_MOST], *known = NULL;
    size_t known_count = 0;
    enum status status;

    arena_reset(sweep->scratch);
    for (size_t i = 0; i < count; i++)
        names[i] = result_of(&group[i]);
    status = db_sweep_known_results(owner->db, sweep->scratch, names, count, &known, &known_count);
    if (status == STATUS_OK)
        status = db_end(owner->db);
    if (status != STATUS_OK)
        return pass_failed(owner, status, "results");
    for (size_t i = 0; i < known_count; i++)
        known[i] = text_lower_case(sweep->scratch, known[i]);
    sorted_names(known, known_count);
    for (size_t i = 0; i < count; i++)
        if (sorted_has_name(known, known_count, text_lower_case(sweep->scratch, names[i])))
            group[i].kind = SWEEP_named;
    return arena_overflowed(sweep->scratch) ? fail(owner->failure, STATUS_NO_MEMORY, "no memory")
                                            : STATUS_OK;
}

/* Calls it for one group after another. */
typedef enum status group_call(struct uploads_sweep *sweep, struct orphan *group, size_t count);
static enum status for_each_group(struct uploads_sweep *sweep, group_call *call)
{
    enum status status = STATUS_OK;

    for (size_t at = 0, count; status == STATUS_OK && at < sweep->count; at += count) {
        count = sweep->count - at < GROUP_MOST ? sweep->count - at : GROUP_MOST;
        status = call(sweep, &sweep->orphans[at], count);
    }
    return status;
}

/* --- archives ------------------------------------------------------------------------------------
 */

static int compare_orphans(const void *a, const void *b)
{
    const struct orphan *const *left = a, *const *right = b;

    return text_compare((*left)->name, (*right)->name);
}

static struct orphan *find_orphan(const struct uploads_sweep *sweep, struct text name)
{
    const struct orphan wanted = {.name = name}, *key = &wanted;
    struct orphan **found =
        bsearch(&key, sweep->by_name, sweep->count, sizeof(struct orphan *), compare_orphans);

    return found == NULL ? NULL : *found;
}

static void hear(struct uploads_sweep *sweep, const struct archived_result *result,
                 const struct output_file *file)
{
    struct orphan *orphan = find_orphan(sweep, file->name);
    enum archived_word word = file->no_delete || file->sticky ? ARCHIVED_MARKED : ARCHIVED_FREE;

    if (orphan == NULL || !text_equal(result_of(orphan), result->name))
        return;
    if (orphan->word == ARCHIVED_NOT)
        sweep->heard[sweep->heard_count++] = orphan;
    if (orphan->word != ARCHIVED_MARKED)
        orphan->word = word;
}

static enum status hear_result(void *context, const struct archived_result *result)
{
    struct uploads_sweep *sweep = context;
    struct output_file *files;
    size_t count;

    if (result->id >= sweep->next_result)
        return fail(sweep->owner->failure, STATUS_INVALID,
                    "result %" PRId64 " was purged, and the database never had one of this number: "
                    "it is another project's, or an older copy. Nothing is deleted; move archives "
                    "that are not of this database away",
                    result->id);
    arena_reset(sweep->scratch);
    if (output_files_read(sweep->scratch, result->xml_doc_in, &files, &count) != STATUS_OK)
        return STATUS_OK; /* as if it were in no archive */
    for (size_t i = 0; i < count; i++)
        hear(sweep, result, &files[i]);
    return STATUS_OK;
}

/* What any archive marks stays. */
static void take_words(struct uploads_sweep *sweep, bool count)
{
    for (size_t i = 0; i < sweep->heard_count; i++) {
        struct orphan *orphan = sweep->heard[i];

        if (count && orphan->kind != SWEEP_named && orphan->word == ARCHIVED_MARKED)
            orphan->kind = SWEEP_marked;
        else if (count && orphan->kind == SWEEP_unproved)
            orphan->kind = SWEEP_purged;
        orphan->word = ARCHIVED_NOT;
    }
    sweep->heard_count = 0;
}

static enum status read_archive(struct uploads_sweep *sweep, const char *folder, const char *name)
{
    struct failure why = {.status = STATUS_OK};
    char path[PATH_MAX];
    enum status status = STATUS_INVALID;

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path))
        status = result_archive_read(path, hear_result, sweep, &why);
    take_words(sweep, status == STATUS_OK);
    if (sweep->owner->failure->status != STATUS_OK)
        return sweep->owner->failure->status;
    if (status != STATUS_OK && !sweep->has_archives)
        complain(&sweep->complaints, sweep->owner, "archive", text_from(path), why.text, 0);
    return STATUS_OK;
}

static bool is_archive(struct text name)
{
    return text_starts(name, TEXT("result_archive_")) &&
           (text_ends(name, TEXT(".xml")) || text_contains(name, TEXT(".xml.")));
}

static enum status read_folder(struct uploads_sweep *sweep, const char *folder)
{
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    int64_t count = 0;
    enum status status = STATUS_OK;

    if (stream == NULL && errno == ENOENT)
        return STATUS_OK; /* nothing was ever purged: then nothing can go */
    if (stream == NULL)
        return fail(sweep->owner->failure, STATUS_IO, "%s: %s", folder, strerror(errno));
    while (status == STATUS_OK && (entry = readdir(stream)) != NULL)
        if (is_archive(text_from(entry->d_name))) {
            status = read_archive(sweep, folder, entry->d_name);
            pass_progress(sweep->owner, "archives read", ++count);
        }
    (void)closedir(stream);
    return status;
}

static enum status read_archives(struct uploads_sweep *sweep)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < sweep->count; i++)
        sweep->by_name[i] = &sweep->orphans[i];
    qsort(sweep->by_name, sweep->count, sizeof(sweep->by_name[0]), compare_orphans);
    for (size_t i = 0; status == STATUS_OK && i < sweep->settings->archive_count; i++)
        status = read_folder(sweep, sweep->settings->archives[i]);
    sweep->has_archives = true;
    return status;
}

/* --- deleting ------------------------------------------------------------------------------------
 */

static void delete_orphan(struct uploads_sweep *sweep, struct orphan *orphan, const char *folder)
{
    char name[NAME_MAX + 1];

    (void)snprintf(name, sizeof(name), TEXT_FORMAT, TEXT_ARG(orphan->name));
    switch (folder_look_delete(sweep->uploads, folder, name, &orphan->stat)) {
    case FOLDER_DELETED:
        orphan->kind = SWEEP_deleted;
        break;
    case FOLDER_CHANGED:
        orphan->kind = SWEEP_changed;
        break;
    case FOLDER_FAILED:
        orphan->kind = SWEEP_failed;
        complain(&sweep->complaints, sweep->owner, "file", orphan->name, strerror(errno), 0);
        break;
    }
}

static enum status end_orphan(struct uploads_sweep *sweep, struct orphan *orphan)
{
    const struct upload_sweep_settings *settings = sweep->settings;
    char folder[NAME_MAX + 1];

    folder_look_name(orphan->folder, sweep->owner->config->uldl_dir_fanout, folder, sizeof(folder));
    if (orphan->kind == SWEEP_purged && settings->deletes)
        delete_orphan(sweep, orphan, folder);
    count_file(sweep, orphan->kind, &orphan->stat);
    pass_progress(sweep->owner, "files deleted", sweep->counts[SWEEP_deleted].files);
    if ((orphan->kind == SWEEP_purged || orphan->kind == SWEEP_deleted) && settings->visit != NULL)
        return settings->visit(settings->context, folder, orphan->name,
                               (double)orphan->stat.st_size);
    return STATUS_OK;
}

static enum status end_group(struct uploads_sweep *sweep, struct orphan *group, size_t count)
{
    enum status status = sweep->settings->deletes ? look_up(sweep, group, count) : STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = end_orphan(sweep, &group[i]);
    return status;
}

static enum status end_batch(struct uploads_sweep *sweep)
{
    enum status status = for_each_group(sweep, look_up);

    if (status == STATUS_OK && sweep->settings->archive_count > 0)
        status = read_archives(sweep);
    if (status == STATUS_OK)
        status = for_each_group(sweep, end_group);
    sweep->count = 0;
    arena_reset(sweep->kept);
    return status;
}

/* --- looking -------------------------------------------------------------------------------------
 */

static bool is_in_place(const struct folder_found *found, int64_t fanout)
{
    char folder[HIERARCHY_FOLDER_SIZE];

    hierarchy_folder(text_from(found->name), fanout, folder);
    return fanout <= 0 || strcmp(folder, found->folder) == 0;
}

enum sweep_kind upload_sweep_judge(const struct folder_found *found, int64_t fanout, int64_t now,
                                   struct text *ret_result)
{
    *ret_result = output_file_result(text_from(found->name));
    if (!S_ISREG(found->stat.st_mode))
        return SWEEP_no_file;
    if (ret_result->length == 0)
        return SWEEP_foreign;
    if (!is_in_place(found, fanout))
        return SWEEP_misplaced;
    return folder_look_changed(&found->stat) > now - SWEEP_AGE_LEAST ? SWEEP_young : SWEEP_purged;
}

static enum status take_found(void *context, const struct folder_found *found)
{
    struct uploads_sweep *sweep = context;
    struct orphan *orphan = &sweep->orphans[sweep->count];
    struct text result;
    enum sweep_kind kind = upload_sweep_judge(found, sweep->owner->config->uldl_dir_fanout,
                                              sweep->settings->now, &result);

    pass_progress(sweep->owner, "files looked at", ++sweep->looked_at);
    if (kind != SWEEP_purged) {
        count_file(sweep, kind, &found->stat);
        return STATUS_OK;
    }
    *orphan = (struct orphan){.name = text_copy(sweep->kept, text_from(found->name)),
                              .result_length = result.length,
                              .folder = sweep->folder,
                              .stat = found->stat,
                              .kind = SWEEP_unproved};
    if (orphan->name.length == 0)
        return fail(sweep->owner->failure, STATUS_NO_MEMORY, "no memory");
    return ++sweep->count < ORPHANS_MOST ? STATUS_OK : end_batch(sweep);
}

static bool has_time(const struct uploads_sweep *sweep)
{
    return sweep->settings->folder == NULL ||
           clock_seconds() - sweep->begun < sweep->settings->seconds;
}

static enum status look_at_folders(struct uploads_sweep *sweep)
{
    int64_t fanout = sweep->owner->config->uldl_dir_fanout;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && sweep->folder < folder_look_count(fanout) && has_time(sweep)) {
        status = folder_look(sweep->uploads, sweep->folder, fanout, take_found, sweep,
                             sweep->owner->failure);
        sweep->folder++;
    }
    if (status == STATUS_OK)
        status = end_batch(sweep);
    if (sweep->settings->folder != NULL)
        *sweep->settings->folder = sweep->folder;
    return status;
}

static enum status begin(struct uploads_sweep *sweep)
{
    struct pass_owner *owner = sweep->owner;
    const char *dir = text_string(owner->arena, owner->config->upload_dir);
    enum status status;

    if (owner->config->upload_dir.length == 0)
        return fail(owner->failure, STATUS_INVALID, "config.xml has no upload_dir");
    sweep->kept = arena_create(ORPHANS_BYTES);
    sweep->scratch = arena_create(SCRATCH_BYTES);
    sweep->orphans = calloc(ORPHANS_MOST, sizeof(sweep->orphans[0]));
    sweep->by_name = calloc(ORPHANS_MOST, sizeof(sweep->by_name[0]));
    sweep->heard = calloc(ORPHANS_MOST, sizeof(sweep->heard[0]));
    if (sweep->kept == NULL || sweep->scratch == NULL || sweep->orphans == NULL ||
        sweep->by_name == NULL || sweep->heard == NULL)
        return fail(owner->failure, STATUS_NO_MEMORY, "no memory");
    sweep->uploads = folder_look_open(dir);
    if (sweep->uploads < 0)
        return fail(owner->failure, STATUS_IO, "upload_dir %s: %s", dir, strerror(errno));
    status = db_sweep_next_result(owner->db, &sweep->next_result);
    return pass_failed(owner, status, "results");
}

enum status upload_sweep(struct pass_owner *owner, const struct upload_sweep_settings *settings,
                         struct sweep_count ret_counts[SWEEP_KIND_COUNT])
{
    struct uploads_sweep sweep = {.owner = owner,
                                  .settings = settings,
                                  .counts = ret_counts,
                                  .folder = settings->folder == NULL ? 0 : *settings->folder,
                                  .begun = clock_seconds(),
                                  .uploads = -1};
    enum status status;

    memset(ret_counts, 0, SWEEP_KIND_COUNT * sizeof(ret_counts[0]));
    status = begin(&sweep);
    if (status == STATUS_OK)
        status = look_at_folders(&sweep);
    if (sweep.uploads >= 0)
        (void)close(sweep.uploads);
    free(sweep.heard);
    free(sweep.by_name);
    free(sweep.orphans);
    arena_destroy(sweep.scratch);
    arena_destroy(sweep.kept);
    return status;
}
