/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/file_desk.h"

#include "config/config.h"
#include "db/submitted.h"
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/passes/pass_repeat.h"
#include "server/project/hierarchy.h"
#include "server/submit/inputs_lock.h"
#include "server/submit/placed_list.h"
#include "server/submit/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PLACE_TRIES = 3 /* what is in the way may be taken away */, FILE_MODE = 0644 };

struct job_file_coming {
    const char *place;     /* where clients fetch it */
    const char *temporary; /* where it comes in; NULL: not yet, or it is put away */
    char md5[MD5_HEX_SIZE];
    int64_t bytes;
    bool is_placed; /* by us */
};

/* --- names ------------------------------------------------------------------------------------ */

/* Of a file beside others: .md5 and .gz belong to those. */
static bool is_fit(struct text name)
{
    bool fits = name.length > 0 && name.length <= JOB_FILE_NAME_MAX && name.at[0] != '.' &&
                name.at[0] != '-' && file_name_fault(name) == NULL &&
                !text_ends(name, TEXT(".md5")) && !text_ends(name, TEXT(".new"));

    for (size_t i = 0; i < name.length; i++) {
        unsigned char c = (unsigned char)name.at[i];

        fits = fits && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.');
    }
    return fits;
}

static const char *place_of(const struct desk *desk, struct text name, int64_t fanout)
{
    return text_string(desk->arena,
                       hierarchy_path(desk->arena, desk->config->download_dir, name, fanout));
}

/* A file of an application lies at the top; a host that has it takes no other of its name. */
static bool is_of_application(const struct desk *desk, struct text name)
{
    return desk->config->uldl_dir_fanout > 0 && access(place_of(desk, name, 0), F_OK) == 0;
}

enum status desk_check_files(struct desk *desk, const struct submitter *submitter,
                             const struct files_named *named)
{
    const struct batch_named which = {.id = named->batch};
    struct owned_batch_row batch;
    enum status status = STATUS_OK;

    if (desk->config->download_dir.length == 0)
        return fail(desk->failure, STATUS_IO, "the project has no download_dir");
    if (named->count > JOB_FILES_AT_ONCE_MAX)
        return fail(desk->failure, STATUS_TOO_LARGE, "more than %d files", JOB_FILES_AT_ONCE_MAX);
    for (size_t i = 0; i < named->count; i++) {
        if (!is_fit(named->names[i]))
            return fail(desk->failure, STATUS_INVALID,
                        "file %zu: \"" TEXT_FORMAT "\" cannot be the name of a file: 1 to %d of "
                        "the characters A-Z a-z 0-9 _ - ., not beginning with . or -",
                        i, TEXT_ARG(text_first(named->names[i], 100)), JOB_FILE_NAME_MAX);
        if (is_of_application(desk, named->names[i]))
            return fail(desk->failure, STATUS_INVALID,
                        "file %zu: a file of the project has the "
                        "name " TEXT_FORMAT,
                        i, TEXT_ARG(named->names[i]));
    }
    if (named->batch != 0)
        status = desk_batch(desk, submitter, &which, &batch);
    return status;
}

/* The MD5 that a name is made of, behind an optional jf_; empty: none. */
static struct text md5_in_name(struct text name)
{
    if (text_starts(name, TEXT("jf_")))
        name = (struct text){name.at + 3, name.length - 3};
    return name.length >= MD5_HEX_SIZE - 1 &&
                   text_is_hex(text_first(name, MD5_HEX_SIZE - 1), MD5_HEX_SIZE - 1) &&
                   (name.length == MD5_HEX_SIZE - 1 ||
                    text_hex_digit(name.at[MD5_HEX_SIZE - 1]) < 0)
               ? text_first(name, MD5_HEX_SIZE - 1)
               : NO_TEXT;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct noting {
    struct desk *desk;
    const struct files_named *named;
    const bool *is_there; /* of each name; NULL: all are */
};

static enum status note_files(void *subject)
{
    const struct noting *noting = subject;
    const struct files_named *named = noting->named;
    struct desk *desk = noting->desk;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < named->count && status == STATUS_OK; i++) {
        struct arena_mark mark = arena_mark(desk->arena);

        if (noting->is_there == NULL || noting->is_there[i])
            status = db_job_file_note(desk->db, desk->arena, named->names[i], (double)desk->now,
                                      named->delete_time, named->batch);
        if (status == STATUS_INVALID)
            (void)fail(desk->failure, status,
                       "file %zu: " TEXT_FORMAT " differs from another name only by capitals", i,
                       TEXT_ARG(named->names[i]));
        arena_rewind(desk->arena, mark);
    }
    return status == STATUS_OK ? db_commit(desk->db) : status;
}

enum status desk_query_files(struct desk *desk, const struct submitter *submitter,
                             const struct files_named *named, absent_file_call *call, void *context)
{
    bool *is_there = ARENA_ARRAY(desk->arena, named->count, bool);
    struct noting noting = {.desk = desk, .named = named, .is_there = is_there};
    const char *downloads = text_string(desk->arena, desk->config->download_dir);
    enum status status = STATUS_OK;
    bool is_of_others = false;
    int lock;

    if (is_there == NULL)
        return fail(desk->failure, STATUS_TOO_LARGE, "too many files");
    lock = inputs_lock_shared(downloads);
    for (size_t i = 0; i < named->count && status == STATUS_OK; i++) {
        struct arena_mark mark = arena_mark(desk->arena);
        const char *place = place_of(desk, named->names[i], desk->config->uldl_dir_fanout);

        is_there[i] = inputs_count_on(place);
        if (is_there[i]) {
            status = db_job_file_is_of_others(desk->db, named->names[i], submitter->userid,
                                              &is_of_others);
            is_there[i] = !is_of_others;
        }
        arena_rewind(desk->arena, mark);
    }
    if (status == STATUS_OK)
        status = repeat_transaction(desk->db, note_files, &noting);
    inputs_unlock(lock);
    if (status != STATUS_OK)
        return desk_failed(desk, status, "job_file");
    for (size_t i = 0; i < named->count; i++)
        if (!is_there[i])
            call(context, i);
    return STATUS_OK;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static enum status fail_io(const struct files_upload *upload, const char *what)
{
    return fail(upload->desk->failure, STATUS_IO, "file %zu cannot be %s: %s", upload->begun - 1,
                what, strerror(errno));
}

/* Whether the content is the same is not told of another's file. Who has the content of a name that
 * is made of it learns nothing. */
static enum status check_owners(struct desk *desk, const struct submitter *submitter,
                                const struct files_named *named)
{
    bool is_of_others = false;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < named->count && status == STATUS_OK; i++) {
        if (md5_in_name(named->names[i]).length > 0)
            continue;
        status =
            db_job_file_is_of_others(desk->db, named->names[i], submitter->userid, &is_of_others);
        if (status == STATUS_OK && is_of_others)
            return fail(desk->failure, STATUS_INVALID,
                        "file %zu: the name " TEXT_FORMAT " is not free, choose another", i,
                        TEXT_ARG(named->names[i]));
    }
    return desk_failed(desk, status, "job_file");
}

enum status files_upload_begin(struct files_upload *upload, struct desk *desk,
                               const struct submitter *submitter, const struct files_named *named)
{
    *upload = (struct files_upload){.desk = desk, .named = named, .descriptor = -1};
    upload->files = ARENA_ARRAY(desk->arena, named->count, struct job_file_coming);
    upload->placed = placed_list_begin(desk->arena, desk->config->download_dir, "files");
    return upload->files != NULL ? check_owners(desk, submitter, named)
                                 : fail(desk->failure, STATUS_TOO_LARGE, "too many files");
}

static enum status make_folder(const struct files_upload *upload, struct text name)
{
    const struct config *config = upload->desk->config;
    char folder[HIERARCHY_FOLDER_SIZE];
    const char *path;

    hierarchy_folder(name, config->uldl_dir_fanout, folder);
    path = text_string(upload->desk->arena, text_print(upload->desk->arena, TEXT_FORMAT "/%s",
                                                       TEXT_ARG(config->download_dir), folder));
    return folder[0] == '\0' || file_make_folder(path, 0775) || errno == EEXIST
               ? STATUS_OK
               : fail_io(upload, "placed");
}

enum status files_upload_open(struct files_upload *upload)
{
    struct desk *desk = upload->desk;
    struct job_file_coming *file;
    struct text name;
    enum status status;

    if (upload->begun == upload->named->count)
        return fail(desk->failure, STATUS_INVALID, "more files came than the %zu that are named",
                    upload->named->count);
    file = &upload->files[upload->begun];
    name = upload->named->names[upload->begun++];
    file->place = place_of(desk, name, desk->config->uldl_dir_fanout);
    file->temporary = text_string(
        desk->arena, text_print(desk->arena, "%s.%016" PRIx64 ".new", file->place, random_u64()));
    status = make_folder(upload, name);
    if (status != STATUS_OK)
        return status;
    placed_list_add(upload->placed, file->temporary, -1, file->place);
    upload->descriptor =
        open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    return upload->descriptor >= 0 ? STATUS_OK : fail_io(upload, "written");
}

enum status files_upload_add(struct files_upload *upload, struct text bytes)
{
    if (!stage_leaves_room(upload->desk->config, upload->descriptor, (int64_t)bytes.length))
        return fail(upload->desk->failure, STATUS_IO, "the project's disk is full");
    if (!file_write_all(upload->descriptor, bytes))
        return fail_io(upload, "written");
    upload->files[upload->begun - 1].bytes += (int64_t)bytes.length;
    return STATUS_OK;
}

enum status files_upload_close(struct files_upload *upload)
{
    struct job_file_coming *file = &upload->files[upload->begun - 1];
    struct text name = upload->named->names[upload->begun - 1], said = md5_in_name(name);
    bool is_kept = fsync(upload->descriptor) == 0 &&
                   file_give(upload->descriptor, file->temporary) &&
                   fchmod(upload->descriptor, FILE_MODE) == 0 /* whatever the umask */ &&
                   md5_hex_of_descriptor(upload->descriptor, file->md5) == STATUS_OK &&
                   inputs_made(upload->descriptor);

    if (!is_kept)
        return fail_io(upload, "written");
    placed_list_add(upload->placed, file->temporary, upload->descriptor, file->place);
    (void)close(upload->descriptor);
    upload->descriptor = -1;
    return said.length == 0 || text_equal_nocase(said, text_from(file->md5))
               ? STATUS_OK
               : fail(upload->desk->failure, STATUS_INVALID,
                      "file %zu: its MD5 is %s, not that of its name " TEXT_FORMAT,
                      upload->begun - 1, file->md5, TEXT_ARG(name));
}

/* --- places ----------------------------------------------------------------------------------- */

/* It is there already: the same is fine. */
static enum status check_same(const struct files_upload *upload, size_t index)
{
    const struct job_file_coming *file = &upload->files[index];
    char there[MD5_HEX_SIZE];
    int64_t bytes = 0;
    enum status status;

    status = md5_hex_of_file(file->place, there, &bytes, upload->desk->failure);

    if (status == STATUS_OK && strcmp(there, file->md5) != 0)
        return fail(upload->desk->failure, STATUS_INVALID,
                    "file %zu: there is a file " TEXT_FORMAT " with other content", index,
                    TEXT_ARG(upload->named->names[index]));
    return status;
}

/* What BOINC's programs look for beside it; without it they read the file. */
static void write_sum(struct desk *desk, const struct job_file_coming *file)
{
    struct failure why = {.status = STATUS_OK};
    const char *path = text_string(desk->arena, text_print(desk->arena, "%s.md5", file->place));
    struct text sum = text_print(desk->arena, "%s %" PRId64 "\n", file->md5, file->bytes);

    if (file_write_at_ease(path, sum, FILE_MODE, &why) != STATUS_OK)
        log_event(LOG_LEVEL_DEBUG, "md5_not_written", text_from(why.text));
}

static enum status place_file(struct files_upload *upload, size_t index)
{
    struct job_file_coming *file = &upload->files[index];
    int error = EEXIST;

    for (int tries = 0; tries < PLACE_TRIES && error == EEXIST; tries++) {
        if (link(file->temporary, file->place) == 0) {
            file->is_placed = true;
            write_sum(upload->desk, file);
            return STATUS_OK;
        }
        error = errno;
        if (error == EEXIST && inputs_count_on(file->place))
            return check_same(upload, index);
    }
    return fail(upload->desk->failure, STATUS_IO, "file %zu cannot be placed: %s", index,
                strerror(error));
}

/* But for what others count on meanwhile. */
static void take_back(struct files_upload *upload)
{
    for (size_t i = 0; i < upload->begun; i++) {
        struct job_file_coming *file = &upload->files[i];

        if (file->is_placed && inputs_take_away(file->place))
            (void)unlink(text_string(upload->desk->arena,
                                     text_print(upload->desk->arena, "%s.md5", file->place)));
    }
}

/* Nobody deletes inputs meanwhile. */
enum status files_upload_finish(struct files_upload *upload)
{
    struct desk *desk = upload->desk;
    struct noting noting = {.desk = desk, .named = upload->named};
    enum status status = STATUS_OK;
    int lock;

    if (upload->begun != upload->named->count)
        return fail(desk->failure, STATUS_INVALID, COUNT_FORMAT " named, but %zu came",
                    COUNT_ARG(upload->named->count, "file"), upload->begun);
    lock = inputs_lock_shared(text_string(desk->arena, desk->config->download_dir));
    for (size_t i = 0; i < upload->begun && status == STATUS_OK; i++)
        status = place_file(upload, i);
    if (status == STATUS_OK && upload->named->count > 0)
        status = desk_failed(desk, repeat_transaction(desk->db, note_files, &noting), "job_file");
    upload->is_unknown = status == STATUS_DB_UNKNOWN;
    if (status != STATUS_OK && !upload->is_unknown)
        take_back(upload);
    inputs_unlock(lock);
    return status;
}

void files_upload_drop(struct files_upload *upload)
{
    if (upload->descriptor >= 0)
        (void)close(upload->descriptor);
    upload->descriptor = -1;
    for (size_t i = 0; i < upload->begun; i++) {
        if (upload->files[i].temporary != NULL)
            (void)unlink(upload->files[i].temporary);
        upload->files[i].temporary = NULL;
    }
    placed_list_end(upload->placed, !upload->is_unknown);
}
