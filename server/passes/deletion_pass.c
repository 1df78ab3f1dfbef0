/* SPDX-License-Identifier: Apache-2.0 */
/* A batch is some pages of rows. Only the names of their files are kept; then nothing of the
 * database is open while the files are deleted, one folder after another, and one transaction marks
 * the rows. What is needed of input files is read so seldom in a loop that it takes a twentieth of
 * the time at most; but where a turn ended before all were gone, half of it. */
#include "server/passes/deletion_pass.h"

#include "config/config.h"
#include "db/file_deletion.h"
#include "db/lease.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/passes/complaints.h"
#include "server/passes/needed_inputs.h"
#include "server/passes/pass_lease.h"
#include "server/passes/pass_repeat.h"
#include "server/passes/unlinking.h"
#include "server/passes/upload_folder.h"
#include "server/project/hierarchy.h"
#include "server/submit/inputs_lock.h"
#include "server/submit/output_files.h"
#include "server/submit/placed_list.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    ERRORS_EVERY = 3600,
    COUNTED_ON_S = 86400, /* jobs may come so long after a file was asked for */
    REST = 20,            /* times as long as the reading took */
    BATCH_ROWS = 1024,    /* a multiple of DB_DELETION_MOST */
    BATCH_FILES = 4096,   /* no other row is begun */
    NAMES_MOST = 3,       /* of an input file, with those beside it */
    FILES_MOST = BATCH_FILES + NAMES_MOST * OUTPUT_FILES_MAX,
    LISTS_AT_ONCE = 100
};
#define PART_BYTES ((size_t)1 << 30)

/* That a file is not there says something only where the folder is. */
struct files_folder {
    struct text path;
    bool is_there; /* as was seen a moment ago: for one batch */
};

struct doomed_row {
    int64_t id, state; /* its new one */
    size_t files_left; /* that were not dealt with */
    bool is_needed;
    struct text too_long; /* the name of one that lists too many files; empty: none */
};
struct doomed_file {
    const char *path;
    size_t row;
};
struct batch {
    struct doomed_row rows[BATCH_ROWS];
    struct doomed_file files[FILES_MOST];
    struct unlinking unlinkings[FILES_MOST]; /* of them, in the same order */
    size_t row_count, file_count;
    int64_t due_count; /* rows that are not needed */
};

struct deleted_files;

struct deletion {
    struct pass_owner *owner;
    struct pass_counts *counts;
    struct complaints complaints;
    struct arena *arena;       /* of one page, and then of the statements */
    struct arena *batch_arena; /* of the files */
    struct needed_inputs needed;
    struct files_folder uploads, downloads;
    struct pass_lease *lease; /* of outputs, or of all inputs */
    const struct deleted_files *which;
    int64_t state, after; /* behind which row of that state the next batch begins */
    struct batch *batch;
    int64_t left;          /* rows that may still be looked at */
    int64_t now;           /* epoch */
    double seconds, until; /* of a turn, which ends at that moment */
    bool is_cut;           /* it ended before all was done */
};

/* --- files
 * ---------------------------------------------------------------------------------------- */

/* What became of it; `error` as in unlinking.h. An empty folder is one that is not mounted, unless
 * it became empty by us. */
static enum status note_deletion(struct deletion *deletion, struct files_folder *folder, int error,
                                 struct failure *failure)
{
    bool is_deleted = error == 0;

    if (!is_deleted && error != ENOENT)
        return fail(failure, STATUS_IO, "%s", strerror(error));
    deletion->counts->files_deleted += is_deleted;
    folder->is_there =
        folder->is_there || is_deleted || folder_is_there(deletion->arena, folder->path, failure);
    return folder->is_there ? STATUS_OK : STATUS_IO;
}

/* The paths of an input file and of what BOINC's programs put beside it, but for those that are
 * needed. They live as long as the arena; there is room for NAMES_MOST. */
static size_t list_names(const struct deletion *deletion, struct arena *arena, struct text name,
                         struct text path, const char **ret_paths)
{
    static const char *const endings[NAMES_MOST] = {"", ".gz", ".md5"};
    size_t count = 0;

    for (size_t i = 0; i < NAMES_MOST; i++)
        if (!needed_inputs_have(&deletion->needed,
                                text_print(arena, TEXT_FORMAT "%s", TEXT_ARG(name), endings[i])))
            ret_paths[count++] =
                text_string(arena, text_print(arena, TEXT_FORMAT "%s", TEXT_ARG(path), endings[i]));
    return count;
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

static void note_file(struct deletion *deletion, const struct doomed_file *file, int error)
{
    struct files_folder *folder =
        deletion->which->are_inputs ? &deletion->downloads : &deletion->uploads;
    struct doomed_row *row = &deletion->batch->rows[file->row];
    struct arena_mark mark = arena_mark(deletion->arena);
    struct failure why = {.status = STATUS_OK};

    if (error == UNLINK_NOT_TRIED)
        return;
    row->files_left--;
    if (note_deletion(deletion, folder, error, &why) != STATUS_OK) {
        complain(&deletion->complaints, deletion->owner, "file", text_from(file->path), why.text,
                 ERRORS_EVERY);
        row->state = FILE_DELETE_ERROR;
    }
    arena_rewind(deletion->arena, mark);
}

static int compare_paths(const void *a, const void *b)
{
    const struct doomed_file *left = a, *right = b;

    return strcmp(left->path, right->path);
}

/* What is left of the batch when it is to end, or the lease is lost, is looked at again. */
static void delete_batch_files(struct deletion *deletion)
{
    struct batch *batch = deletion->batch;

    if (batch->file_count > 0)
        qsort(batch->files, batch->file_count, sizeof(batch->files[0]), compare_paths);
    for (size_t i = 0; i < batch->file_count; i++)
        batch->unlinkings[i].path = batch->files[i].path;
    unlink_files(batch->unlinkings, batch->file_count, deletion->lease);
    arena_reset(deletion->arena);
    for (size_t i = 0; i < batch->file_count; i++)
        note_file(deletion, &batch->files[i], batch->unlinkings[i].error);
}

/* --- batches
 * -------------------------------------------------------------------------------------- */

static bool has_room(const struct deletion *deletion)
{
    const struct batch *batch = deletion->batch;

    return batch->row_count < BATCH_ROWS && batch->file_count < BATCH_FILES &&
           batch->due_count < deletion->left;
}

static void add_file(struct deletion *deletion, const char *path)
{
    struct batch *batch = deletion->batch;

    batch->files[batch->file_count++] = (struct doomed_file){path, batch->row_count};
    batch->rows[batch->row_count].files_left++;
}

static void add_files(struct deletion *deletion, const struct output_file *files, size_t count)
{
    int64_t fanout = deletion->owner->config->uldl_dir_fanout;
    bool are_inputs = deletion->which->are_inputs;
    struct text folder = are_inputs ? deletion->downloads.path : deletion->uploads.path;
    struct arena *arena = deletion->batch_arena;

    for (size_t i = 0; i < count; i++) {
        struct text path = output_file_path(arena, &files[i], folder, fanout);
        const char *paths[NAMES_MOST];
        size_t names = 1;

        if (path.length == 0 || files[i].no_delete ||
            (are_inputs && needed_inputs_have(&deletion->needed, files[i].name)))
            continue;
        if (are_inputs)
            names = list_names(deletion, arena, files[i].name, path, paths);
        else
            paths[0] = text_string(arena, path);
        for (size_t j = 0; j < names; j++)
            add_file(deletion, paths[j]);
    }
}

static void add_row(struct deletion *deletion, const struct deletable_row *row)
{
    struct batch *batch = deletion->batch;
    struct doomed_row *doomed = &batch->rows[batch->row_count];
    struct output_file *files;
    size_t count;
    bool stays;

    *doomed = (struct doomed_row){row->id, FILE_DELETE_DONE, 0, row->is_needed != 0, NO_TEXT};
    if (deletion->which->are_inputs && needed_inputs_are_of(&deletion->needed, row->id))
        doomed->is_needed = true;
    batch->due_count += !doomed->is_needed;
    stays = doomed->is_needed ||
            (deletion->which->are_inputs && text_contains(row->name, TEXT("nodelete")));
    if (!stays && output_files_read(deletion->arena, row->document, &files, &count) == STATUS_OK)
        add_files(deletion, files, count);
    else if (!stays)
        doomed->too_long = text_copy(deletion->batch_arena, row->name);
    batch->row_count++;
}

static void begin_batch(struct deletion *deletion)
{
    arena_reset(deletion->batch_arena);
    deletion->batch->row_count = deletion->batch->file_count = 0;
    deletion->batch->due_count = 0;
    deletion->uploads.is_there = deletion->downloads.is_there = false;
}

/* Page by page, as documents may be long. */
static enum status find_batch(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct deletion *deletion = subject;
    struct batch *batch = deletion->batch;
    int64_t after = deletion->after;
    size_t count = DB_DELETION_MOST;
    enum status status = STATUS_OK;

    must(most == BATCH_ROWS);
    begin_batch(deletion);
    while (status == STATUS_OK && count == DB_DELETION_MOST && has_room(deletion)) {
        struct deletable_row *rows;

        arena_reset(deletion->arena);
        status = deletion->which->read(deletion->owner->db, deletion->arena, deletion->state, after,
                                       &rows, &count);
        for (size_t i = 0; status == STATUS_OK && i < count && has_room(deletion); i++) {
            ret_ids[batch->row_count] = after = rows[i].id;
            add_row(deletion, &rows[i]);
        }
        if (status == STATUS_OK && arena_overflowed(deletion->batch_arena))
            status = STATUS_NO_MEMORY;
    }
    *ret_count = batch->row_count;
    return status;
}

/* Batches of outputs are shared with others; of inputs we have all. */
static enum status next_batch(struct deletion *deletion)
{
    int64_t ids[BATCH_ROWS];
    size_t count;
    enum status status;

    if (!deletion->which->are_inputs)
        return pass_lease_take(deletion->lease, find_batch, deletion, ids, BATCH_ROWS, &count);
    status = find_batch(deletion, ids, BATCH_ROWS, &count);
    return status == STATUS_OK ? db_end(deletion->owner->db) : status;
}

static enum status save_state(struct deletion *deletion, int64_t state)
{
    const struct batch *batch = deletion->batch;
    int64_t ids[BATCH_ROWS];
    size_t count = 0;

    for (size_t i = 0; i < batch->row_count; i++)
        if (!batch->rows[i].is_needed && batch->rows[i].files_left == 0 &&
            batch->rows[i].state == state)
            ids[count++] = batch->rows[i].id;
    return deletion->which->save(deletion->owner->db, deletion->arena, ids, count, state);
}

static enum status try_to_save(void *subject)
{
    struct deletion *deletion = subject;
    enum status status = pass_lease_check(deletion->lease);

    arena_reset(deletion->arena);
    if (status == STATUS_NOT_FOUND)
        return db_rollback(deletion->owner->db); /* others have them */
    if (status == STATUS_OK)
        status = save_state(deletion, FILE_DELETE_DONE);
    if (status == STATUS_OK)
        status = save_state(deletion, FILE_DELETE_ERROR);
    return status == STATUS_OK ? db_commit(deletion->owner->db) : status;
}

/* What is not saved is looked at again, and is gone then. */
static enum status delete_batch(struct deletion *deletion)
{
    struct batch *batch = deletion->batch;

    for (size_t i = 0; i < batch->row_count; i++) {
        if (batch->rows[i].too_long.length == 0)
            continue;
        complain(&deletion->complaints, deletion->owner, "files of", batch->rows[i].too_long,
                 "the list is too long", ERRORS_EVERY);
        batch->rows[i].state = FILE_DELETE_ERROR;
    }
    delete_batch_files(deletion);
    deletion->after = batch->rows[batch->row_count - 1].id;
    deletion->left -= batch->due_count;
    return batch->due_count > 0 ? repeat_transaction(deletion->owner->db, try_to_save, deletion)
                                : STATUS_OK;
}

static void begin_turn(struct deletion *deletion)
{
    deletion->until = clock_seconds() + deletion->seconds;
    deletion->is_cut = false;
}

/* Those in this state, batch by batch. */
static enum status delete_all_of(struct deletion *deletion, const struct deleted_files *which,
                                 int64_t state)
{
    bool goes_on = true;
    enum status status = STATUS_OK;

    deletion->which = which;
    deletion->state = state;
    deletion->after = 0;
    while (status == STATUS_OK && goes_on && deletion->left > 0) {
        double begun = clock_seconds();

        status = next_batch(deletion);
        if (status != STATUS_OK || deletion->batch->row_count == 0)
            break;
        status = delete_batch(deletion);
        goes_on = pass_lease_is_held(deletion->lease);
        pass_progress(deletion->owner, "files deleted", deletion->counts->files_deleted);
        /* Whoever makes jobs waits for the end of inputs. */
        if (status == STATUS_OK && goes_on && !which->are_inputs)
            status = pass_give_way(deletion->owner, clock_seconds() - begun);
        if (clock_seconds() >= deletion->until) {
            deletion->is_cut = true;
            break; /* what is done stays done, and other passes have their turn */
        }
    }
    return status;
}

/* --- files that submitters brought -------------------------------------------------------------
 */

/* It came of late, or somebody heard that it is there: jobs may name it soon. */
static bool is_counted_on(const struct deletion *deletion, const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && info.st_ctim.tv_sec > deletion->now - COUNTED_ON_S;
}

/* Whether nothing of it is left. */
static bool delete_brought(struct deletion *deletion, const struct job_file_row *row)
{
    struct unlinking unlinkings[NAMES_MOST];
    const char *paths[NAMES_MOST];
    struct text path;
    size_t count;
    bool is_gone = true;

    if (file_name_fault(row->name) != NULL)
        return true; /* no such file */
    path = hierarchy_path(deletion->arena, deletion->downloads.path, row->name,
                          deletion->owner->config->uldl_dir_fanout);
    if (needed_inputs_have(&deletion->needed, row->name) ||
        is_counted_on(deletion, text_string(deletion->arena, path)))
        return false;
    count = list_names(deletion, deletion->arena, row->name, path, paths);
    for (size_t i = 0; i < count; i++)
        unlinkings[i].path = paths[i];
    unlink_files(unlinkings, count, deletion->lease);
    for (size_t i = 0; i < count; i++) {
        struct failure why = {.status = STATUS_OK};

        if (unlinkings[i].error != UNLINK_NOT_TRIED &&
            note_deletion(deletion, &deletion->downloads, unlinkings[i].error, &why) == STATUS_OK)
            continue;
        is_gone = false;
        if (why.status != STATUS_OK)
            complain(&deletion->complaints, deletion->owner, "file", text_from(paths[i]), why.text,
                     ERRORS_EVERY);
    }
    return is_gone;
}

struct gone_files {
    struct db *db;
    int64_t ids[DB_DELETION_MOST];
    size_t count;
};

static enum status forget_brought(void *subject)
{
    struct gone_files *gone = subject;
    enum status status = db_deletion_forget_job_files(gone->db, gone->ids, gone->count);

    return status == STATUS_OK ? db_commit(gone->db) : status;
}

/* A page of them, whose files go first. */
static enum status delete_brought_page(struct deletion *deletion, size_t *ret_count)
{
    struct gone_files gone = {.db = deletion->owner->db};
    struct job_file_row *rows;
    enum status status = db_deletion_job_files(deletion->owner->db, deletion->arena, false,
                                               deletion->now, deletion->after, &rows, ret_count);

    if (status == STATUS_OK)
        status = db_end(deletion->owner->db);
    for (size_t i = 0; status == STATUS_OK && i < *ret_count; i++) {
        deletion->after = rows[i].id;
        if (delete_brought(deletion, &rows[i]))
            gone.ids[gone.count++] = rows[i].id;
    }
    return status == STATUS_OK && gone.count > 0
               ? repeat_transaction(deletion->owner->db, forget_brought, &gone)
               : status;
}

static enum status delete_all_brought(struct deletion *deletion)
{
    size_t count = DB_DELETION_MOST;
    enum status status = STATUS_OK;

    deletion->after = 0;
    deletion->downloads.is_there = false;
    while (status == STATUS_OK && count == DB_DELETION_MOST &&
           pass_lease_is_held(deletion->lease) && clock_seconds() < deletion->until) {
        arena_reset(deletion->arena);
        status = delete_brought_page(deletion, &count);
    }
    return status;
}

/* --- files of a killed command that made jobs --------------------------------------------------
 */

static enum placed_fate fate_of_call(void *context, const char *key)
{
    (void)context;
    return strcmp(key, PLACED_BY_COMMAND) == 0 ? PLACED_GOES : PLACED_WAITS;
}

/* Templates are in the same list: what is needed says nothing of them. */
static bool is_kept(void *context, struct text place)
{
    const struct deletion *deletion = context;
    struct text name = text_behind_last(place, '/');
    struct text of_input = hierarchy_path(deletion->arena, deletion->downloads.path, name,
                                          deletion->owner->config->uldl_dir_fanout);

    return !text_equal(place, of_input) || needed_inputs_have(&deletion->needed, name);
}

static void clear_placed(struct deletion *deletion)
{
    const struct placed_judge judge = {fate_of_call, is_kept, deletion};

    arena_reset(deletion->arena);
    placed_lists_clear(deletion->arena, deletion->downloads.path, LISTS_AT_ONCE, &judge);
}

/* --- all
 * ------------------------------------------------------------------------------------------ */

static enum status has_inputs(struct deletion *deletion, bool with_errors, bool *ret_has)
{
    struct deletable_row *rows;
    struct job_file_row *brought;
    size_t ready, failed = 0, due = 0;
    enum status status;

    arena_reset(deletion->arena);
    status = db_deletion_workunits(deletion->owner->db, deletion->arena, FILE_DELETE_READY, 0,
                                   &rows, &ready);
    if (status == STATUS_OK && with_errors)
        status = db_deletion_workunits(deletion->owner->db, deletion->arena, FILE_DELETE_ERROR, 0,
                                       &rows, &failed);
    if (status == STATUS_OK && with_errors)
        status = db_deletion_job_files(deletion->owner->db, deletion->arena, false, deletion->now,
                                       0, &brought, &due);
    *ret_has = status == STATUS_OK &&
               (ready + failed + due > 0 ||
                (with_errors &&
                 placed_lists_wait(deletion->arena, deletion->downloads.path, PLACED_BY_COMMAND)));
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
static enum status delete_unneeded_inputs(struct deletion *deletion, bool with_errors,
                                          double *ret_reading)
{
    double begun = clock_seconds();
    int64_t ids[2];
    size_t count = 0;
    enum status status = pass_lease_take(deletion->lease, find_all, deletion, ids, 2, &count);

    if (status != STATUS_OK || count == 0)
        return status;
    status =
        needed_inputs_read(&deletion->needed, deletion->owner->db, deletion->arena, deletion->now);
    *ret_reading = clock_seconds() - begun;
    begin_turn(deletion);
    if (status == STATUS_OK)
        clear_placed(deletion);
    if (status == STATUS_OK && with_errors)
        status = delete_all_of(deletion, &inputs, FILE_DELETE_ERROR);
    if (status == STATUS_OK)
        status = delete_all_of(deletion, &inputs, FILE_DELETE_READY);
    return status == STATUS_OK && with_errors ? delete_all_brought(deletion) : status;
}

static enum status delete_outputs(struct deletion *deletion, bool with_errors)
{
    enum status status = STATUS_NO_MEMORY;

    deletion->lease = pass_lease_create(deletion->owner, "outputs", 0);
    begin_turn(deletion);
    if (deletion->lease != NULL)
        status = with_errors ? delete_all_of(deletion, &outputs, FILE_DELETE_ERROR) : STATUS_OK;
    if (status == STATUS_OK)
        status = delete_all_of(deletion, &outputs, FILE_DELETE_READY);
    pass_lease_destroy(deletion->lease);
    return status;
}

double deletion_inputs_rest(double reading, double all, bool is_cut)
{
    return is_cut ? all : REST * reading;
}

static enum status delete_inputs(struct deletion *deletion, struct deletion_schedule *schedule,
                                 bool with_errors)
{
    double begun, reading = 0;
    int lock = -1;
    enum status status = db_end(deletion->owner->db); /* nothing read is older than the lock */

    if (status != STATUS_OK ||
        inputs_lock_alone(text_string(deletion->arena, deletion->downloads.path), &lock) !=
            STATUS_OK)
        return status; /* jobs are being made: in the next round */
    begun = clock_seconds();
    deletion->lease = pass_lease_create(deletion->owner, "inputs", 0);
    status = deletion->lease == NULL ? STATUS_NO_MEMORY
                                     : delete_unneeded_inputs(deletion, with_errors, &reading);
    pass_lease_destroy(deletion->lease);
    inputs_unlock(lock);
    schedule->inputs_at =
        clock_seconds() + deletion_inputs_rest(reading, clock_seconds() - begun, deletion->is_cut);
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
    struct deletion deletion = {
        .owner = owner,
        .counts = counts,
        .uploads.path = owner->config->upload_dir,
        .downloads.path = owner->config->download_dir,
        .now = settings->now,
        .left = settings->jobs_max > 0 ? settings->jobs_max : INT64_MAX,
        .seconds = settings->deletion_seconds > 0 ? settings->deletion_seconds : INFINITY};
    bool with_errors = settings->now >= schedule->errors_at;
    int64_t deleted = counts->files_deleted;
    enum status status = STATUS_NO_MEMORY;

    if (!settings->deletes_files)
        return STATUS_OK;
    deletion.arena = arena_create(PART_BYTES);
    deletion.batch_arena = arena_create(PART_BYTES);
    deletion.batch = malloc(sizeof(*deletion.batch));
    if (deletion.arena != NULL && deletion.batch_arena != NULL && deletion.batch != NULL)
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
    arena_destroy(deletion.batch_arena);
    free(deletion.batch);
    needed_inputs_free(&deletion.needed);
    return pass_failed(owner, status, "deletion of files");
}
