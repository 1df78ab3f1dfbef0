/* SPDX-License-Identifier: Apache-2.0 */
/* Which input files are needed is not in any index: when some are to be deleted, the documents of
 * all unfinished workunits are read, and the names in them kept as hashes. Two names of one hash
 * only keep a file too long. In a loop that is done so seldom that it takes a twentieth of the
 * time at most. */
#include "server/passes/deletion_pass.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/file_deletion.h"
#include "db/lease.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/passes/complaints.h"
#include "server/passes/pass_lease.h"
#include "server/passes/upload_folder.h"
#include "server/submit/inputs_lock.h"
#include "server/submit/output_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { ERRORS_EVERY = 3600, REST = 20 /* times as long as the reading took */ };
#define PART_BYTES ((size_t)1 << 30)

struct name_set {
    uint64_t *hashes;
    size_t count, room;
};

/* That a file is not there says something only where the folder is. */
struct files_folder {
    struct text path;
    bool is_there; /* as was seen a moment ago: for one page */
};

struct deleted_files;

struct deletion {
    struct pass_owner *owner;
    struct pass_counts *counts;
    struct complaints complaints;
    struct arena *arena; /* of one page */
    struct name_set needed;
    struct files_folder uploads, downloads;
    struct pass_lease *lease; /* of outputs, or of all inputs */
    const struct deleted_files *which;
    int64_t state, after; /* behind which row of that state the next page begins */
    struct deletable_row *rows;
    int64_t left; /* rows that may still be looked at */
};

/* --- names
 * ---------------------------------------------------------------------------------------- */

static enum status add_name(struct name_set *names, struct text name)
{
    if (names->count == names->room) {
        size_t room = names->room > 0 ? 2 * names->room : 1024;
        uint64_t *hashes = reallocarray(names->hashes, room, sizeof(*hashes));

        if (hashes == NULL)
            return STATUS_NO_MEMORY;
        names->hashes = hashes;
        names->room = room;
    }
    names->hashes[names->count++] = text_hash(name);
    return STATUS_OK;
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

static bool has_name(const struct name_set *names, struct text name)
{
    uint64_t hash = text_hash(name);

    return names->count > 0 &&
           bsearch(&hash, names->hashes, names->count, sizeof(hash), compare_hashes) != NULL;
}

static enum status add_document(struct deletion *deletion, struct text document)
{
    struct arena_mark mark = arena_mark(deletion->arena);
    struct output_file *files;
    size_t count;
    enum status status = output_files_read(deletion->arena, document, &files, &count);

    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = add_name(&deletion->needed, files[i].name);
    arena_rewind(deletion->arena, mark);
    return status;
}

/* Of one state: all of INIT, of the others those that are still needed. */
static enum status read_needed(struct deletion *deletion, int64_t state)
{
    struct deletable_row *rows;
    size_t count = DB_DELETION_MOST;
    int64_t after = 0;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == DB_DELETION_MOST) {
        arena_reset(deletion->arena);
        status = db_deletion_workunits(deletion->owner->db, deletion->arena, state, after, &rows,
                                       &count);
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            after = rows[i].id;
            if (rows[i].is_needed != 0)
                status = add_document(deletion, rows[i].document);
        }
    }
    return status;
}

static enum status find_needed(struct deletion *deletion)
{
    static const int64_t states[] = {FILE_DELETE_READY, FILE_DELETE_ERROR, FILE_DELETE_INIT};
    struct version_entry_row *versions;
    size_t count;
    enum status status;

    arena_reset(deletion->arena);
    status = db_admin_versions(deletion->owner->db, deletion->arena, &versions, &count);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = add_document(deletion, versions[i].app_version.xml_doc);
    for (size_t i = 0; status == STATUS_OK && i < sizeof(states) / sizeof(states[0]); i++)
        status = read_needed(deletion, states[i]);
    if (deletion->needed.count > 0)
        qsort(deletion->needed.hashes, deletion->needed.count, sizeof(uint64_t), compare_hashes);
    return status;
}

/* --- files
 * ---------------------------------------------------------------------------------------- */

/* An empty folder is one that is not mounted, unless it became empty by us. */
static enum status delete_path(struct deletion *deletion, struct files_folder *folder,
                               const char *path, struct failure *failure)
{
    bool is_deleted = unlink(path) == 0;

    if (!is_deleted && errno != ENOENT)
        return fail(failure, STATUS_IO, "%s", strerror(errno));
    deletion->counts->files_deleted += is_deleted;
    folder->is_there =
        folder->is_there || is_deleted || folder_is_there(deletion->arena, folder->path, failure);
    return folder->is_there ? STATUS_OK : STATUS_IO;
}

/* What BOINC's programs put beside an input file. */
static enum status delete_siblings(struct deletion *deletion, const struct output_file *file,
                                   struct text path, struct failure *failure)
{
    static const char *const endings[] = {".gz", ".md5"};
    enum status status = STATUS_OK;

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]) && status == STATUS_OK; i++) {
        struct text name =
            text_print(deletion->arena, TEXT_FORMAT "%s", TEXT_ARG(file->name), endings[i]);
        struct text sibling =
            text_print(deletion->arena, TEXT_FORMAT "%s", TEXT_ARG(path), endings[i]);

        if (!has_name(&deletion->needed, name))
            status = delete_path(deletion, &deletion->downloads,
                                 text_string(deletion->arena, sibling), failure);
    }
    return status;
}

/* The files of results, or those of workunits. */
struct deleted_files {
    enum status (*read)(struct db *db, struct arena *arena, int64_t state, int64_t after,
                        struct deletable_row **ret_rows, size_t *ret_count);
    enum status (*save)(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                        int64_t state);
    bool are_inputs;
};
static const struct deleted_files outputs = {db_deletion_results, db_deletion_save_results, false};
static const struct deleted_files inputs = {db_deletion_workunits, db_deletion_save_workunits,
                                            true};

/* DONE, or ERROR where a file could not be deleted. */
static int64_t delete_files(struct deletion *deletion, const struct deletable_row *row,
                            bool are_inputs)
{
    const struct config *config = deletion->owner->config;
    struct files_folder *folder = are_inputs ? &deletion->downloads : &deletion->uploads;
    struct output_file *files;
    size_t count;
    int64_t state = FILE_DELETE_DONE;

    if (are_inputs && text_contains(row->name, TEXT("nodelete")))
        return FILE_DELETE_DONE;
    if (output_files_read(deletion->arena, row->document, &files, &count) != STATUS_OK) {
        complain(&deletion->complaints, deletion->owner, "files of", row->name,
                 "the list is too long", ERRORS_EVERY);
        return FILE_DELETE_ERROR;
    }
    for (size_t i = 0; i < count; i++) {
        struct text path =
            output_file_path(deletion->arena, &files[i], folder->path, config->uldl_dir_fanout);
        struct failure why = {.status = STATUS_OK};
        enum status status;

        if (path.length == 0 || files[i].no_delete ||
            (are_inputs && has_name(&deletion->needed, files[i].name)))
            continue;
        status = delete_path(deletion, folder, text_string(deletion->arena, path), &why);
        if (status == STATUS_OK && are_inputs)
            status = delete_siblings(deletion, &files[i], path, &why);
        if (status == STATUS_OK)
            continue;
        complain(&deletion->complaints, deletion->owner, "file", path, why.text, ERRORS_EVERY);
        state = FILE_DELETE_ERROR;
    }
    return state;
}

/* --- rows
 * ----------------------------------------------------------------------------------------- */

static void begin_page(struct deletion *deletion)
{
    arena_reset(deletion->arena);
    deletion->uploads.is_there = deletion->downloads.is_there = false;
}

struct outcome_list { /* the rows of a page by what became of them */
    int64_t done[DB_DELETION_MOST], failed[DB_DELETION_MOST];
    size_t done_count, failed_count;
};

static void note_outcome(struct outcome_list *outcomes, int64_t id, int64_t state)
{
    if (state == FILE_DELETE_DONE)
        outcomes->done[outcomes->done_count++] = id;
    else
        outcomes->failed[outcomes->failed_count++] = id;
}

/* What is not saved is looked at again, and is gone then. */
static enum status save_outcomes(struct deletion *deletion, const struct outcome_list *outcomes)
{
    const struct deleted_files *which = deletion->which;
    struct db *db = deletion->owner->db;
    enum status status;

    if (outcomes->done_count + outcomes->failed_count == 0)
        return db_end(db);
    status = pass_lease_check(deletion->lease);
    if (status == STATUS_OK)
        status = which->save(db, deletion->arena, outcomes->done, outcomes->done_count,
                             FILE_DELETE_DONE);
    if (status == STATUS_OK)
        status = which->save(db, deletion->arena, outcomes->failed, outcomes->failed_count,
                             FILE_DELETE_ERROR);
    if (status == STATUS_OK)
        status = db_commit(db);
    if (status != STATUS_OK)
        (void)db_rollback(db);
    return status == STATUS_DB_RETRY || status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status find_page(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct deletion *deletion = subject;
    enum status status;

    (void)most; /* DB_DELETION_MOST */
    begin_page(deletion);
    status = deletion->which->read(deletion->owner->db, deletion->arena, deletion->state,
                                   deletion->after, &deletion->rows, ret_count);
    for (size_t i = 0; status == STATUS_OK && i < *ret_count; i++)
        ret_ids[i] = deletion->rows[i].id;
    return status;
}

/* Pages of outputs are shared with others; of inputs we have all. */
static enum status next_page(struct deletion *deletion, size_t *ret_count)
{
    int64_t ids[DB_DELETION_MOST];

    *ret_count = 0;
    if (deletion->which->are_inputs)
        return find_page(deletion, ids, DB_DELETION_MOST, ret_count);
    return pass_lease_take(deletion->lease, find_page, deletion, ids, DB_DELETION_MOST, ret_count);
}

static enum status delete_page(struct deletion *deletion, size_t count)
{
    struct outcome_list outcomes = {.done_count = 0};

    for (size_t i = 0; i < count && deletion->left > 0 && pass_lease_is_held(deletion->lease);
         i++) {
        const struct deletable_row *row = &deletion->rows[i];

        deletion->after = row->id;
        if (row->is_needed != 0)
            continue;
        deletion->left--;
        note_outcome(&outcomes, row->id, delete_files(deletion, row, deletion->which->are_inputs));
    }
    return save_outcomes(deletion, &outcomes);
}

/* Those in this state, page by page. */
static enum status delete_all_of(struct deletion *deletion, const struct deleted_files *which,
                                 int64_t state)
{
    size_t count = DB_DELETION_MOST;
    enum status status = STATUS_OK;

    deletion->which = which;
    deletion->state = state;
    deletion->after = 0;
    while (status == STATUS_OK && count > 0 && deletion->left > 0) {
        int64_t before = deletion->after;

        status = next_page(deletion, &count);
        if (status == STATUS_OK && count > 0)
            status = delete_page(deletion, count);
        if (deletion->after == before)
            break; /* nothing was done: the lease is lost */
        pass_progress(deletion->owner, "files deleted", deletion->counts->files_deleted);
    }
    return status;
}

/* --- all
 * ------------------------------------------------------------------------------------------ */

static enum status has_inputs(struct deletion *deletion, bool with_errors, bool *ret_has)
{
    struct deletable_row *rows;
    size_t ready, failed = 0;
    enum status status;

    arena_reset(deletion->arena);
    status = db_deletion_workunits(deletion->owner->db, deletion->arena, FILE_DELETE_READY, 0,
                                   &rows, &ready);
    if (status == STATUS_OK && with_errors)
        status = db_deletion_workunits(deletion->owner->db, deletion->arena, FILE_DELETE_ERROR, 0,
                                       &rows, &failed);
    *ret_has = status == STATUS_OK && ready + failed > 0;
    return status;
}

/* What is needed was read once, for all inputs: so one worker has them all. */
static enum status find_all(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct deletion *deletion = subject;
    const struct lease_key key = {.pass = TEXT("inputs")};
    bool is_taken = true;
    enum status status = db_lease_exists(deletion->owner->db, &key, &is_taken);

    must(most >= 2);
    ret_ids[0] = 0;
    ret_ids[1] = INT64_MAX;
    *ret_count = is_taken ? 0 : 2;
    return status;
}

/* From reading what is needed until the files are gone, nobody may count on another one. */
static enum status delete_unneeded_inputs(struct deletion *deletion, bool with_errors)
{
    int64_t ids[2];
    size_t count = 0;
    enum status status = pass_lease_take(deletion->lease, find_all, deletion, ids, 2, &count);

    if (status != STATUS_OK || count == 0)
        return status;
    status = find_needed(deletion);
    if (status == STATUS_OK)
        status = db_end(deletion->owner->db);
    if (status == STATUS_OK && with_errors)
        status = delete_all_of(deletion, &inputs, FILE_DELETE_ERROR);
    return status == STATUS_OK ? delete_all_of(deletion, &inputs, FILE_DELETE_READY) : status;
}

static enum status delete_outputs(struct deletion *deletion, bool with_errors)
{
    enum status status = STATUS_NO_MEMORY;

    deletion->lease = pass_lease_create(deletion->owner, "outputs", 0);
    if (deletion->lease != NULL)
        status = with_errors ? delete_all_of(deletion, &outputs, FILE_DELETE_ERROR) : STATUS_OK;
    if (status == STATUS_OK)
        status = delete_all_of(deletion, &outputs, FILE_DELETE_READY);
    pass_lease_destroy(deletion->lease);
    return status;
}

static enum status delete_inputs(struct deletion *deletion, struct deletion_schedule *schedule,
                                 bool with_errors)
{
    double begun;
    int lock = -1;
    enum status status = db_end(deletion->owner->db); /* nothing read is older than the lock */

    if (status != STATUS_OK ||
        inputs_lock_alone(text_string(deletion->arena, deletion->downloads.path), &lock) !=
            STATUS_OK)
        return status; /* jobs are being made: in the next round */
    begun = clock_seconds();
    deletion->lease = pass_lease_create(deletion->owner, "inputs", 0);
    status =
        deletion->lease == NULL ? STATUS_NO_MEMORY : delete_unneeded_inputs(deletion, with_errors);
    pass_lease_destroy(deletion->lease);
    inputs_unlock(lock);
    schedule->inputs_at = clock_seconds() + REST * (clock_seconds() - begun);
    return status;
}

static enum status delete_all(struct deletion *deletion, struct deletion_schedule *schedule,
                              bool with_errors)
{
    double begun = clock_seconds();
    bool has = false;
    enum status status = delete_outputs(deletion, with_errors);

    if (status == STATUS_OK && begun >= schedule->inputs_at)
        status = has_inputs(deletion, with_errors, &has);
    return status == STATUS_OK && has ? delete_inputs(deletion, schedule, with_errors) : status;
}

enum status deletion_pass(struct pass_owner *owner, const struct pass_settings *settings,
                          struct deletion_schedule *schedule, struct pass_counts *counts)
{
    struct deletion deletion = {.owner = owner,
                                .counts = counts,
                                .uploads.path = owner->config->upload_dir,
                                .downloads.path = owner->config->download_dir,
                                .left = settings->jobs_max > 0 ? settings->jobs_max : INT64_MAX};
    bool with_errors = settings->now >= schedule->errors_at;
    int64_t deleted = counts->files_deleted;
    enum status status = STATUS_NO_MEMORY;

    if (!settings->deletes_files)
        return STATUS_OK;
    deletion.arena = arena_create(PART_BYTES);
    if (deletion.arena != NULL)
        status = delete_all(&deletion, schedule, with_errors);
    if (status == STATUS_OK)
        status = complaints_keep(&deletion.complaints, owner,
                                 &(struct pass_turn){.pass = "deletion",
                                                     .now = settings->now,
                                                     .failures = deletion.complaints.count,
                                                     .has_done = counts->files_deleted > deleted});
    if (status != STATUS_OK)
        (void)db_rollback(owner->db);
    else if (with_errors)
        schedule->errors_at = settings->now + ERRORS_EVERY;
    arena_destroy(deletion.arena);
    free(deletion.needed.hashes);
    return pass_failed(owner, status, "deletion of files");
}
