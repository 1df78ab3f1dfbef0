/* SPDX-License-Identifier: Apache-2.0 */
/* Where a row of failures ends the pass at one place (pass_repeat.h), it goes on once at another,
 * which is drawn: so no number of jobs that fail keeps the others waiting for ever, in a command
 * that is begun anew each time either. */
#include "server/passes/assimilation_pass.h"

#include "config/config.h"
#include "db/assimilation.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/random.h"
#include "server/passes/command_run.h"
#include "server/passes/complaints.h"
#include "server/passes/pass_lease.h"
#include "server/passes/pass_repeat.h"
#include "server/passes/upload_folder.h"
#include "server/submit/output_files.h"

#include <inttypes.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    PART_JOBS = 8, /* taken together: a command may take minutes for each */
    PAGE_JOBS = 256,
    VARIABLES = 7
};
#define PART_BYTES ((size_t)1 << 30)

struct assimilation {
    struct pass_owner *owner;
    const struct pass_settings *settings;
    struct assimilation_failures *failures;
    struct pass_counts *counts;
    struct complaints complaints;
    const struct app_row *app;
    struct arena *arena; /* of one job */
    struct pass_lease *lease;
    struct failure_row row;
    int64_t after; /* the last that was looked at */
    int64_t left;  /* jobs that may still be given on */
};

/* --- failures -----------------------------------------------------------------------------------
 */

static void forget_old_failures(struct assimilation_failures *failures, int64_t now)
{
    size_t kept = 0;

    for (size_t i = 0; i < failures->count; i++)
        if (failures->items[i].until > now)
            failures->items[kept++] = failures->items[i];
    failures->count = kept;
}

static bool has_failed(const struct assimilation_failures *failures, int64_t id)
{
    for (size_t i = 0; i < failures->count; i++)
        if (failures->items[i].id == id)
            return true;
    return false;
}

static void note_failure(struct assimilation *assimilation, const struct finished_job_row *job,
                         const char *why)
{
    struct assimilation_failures *failures = assimilation->failures;

    complain(&assimilation->complaints, assimilation->owner, "assimilation of job", job->name, why,
             PASS_PUT_OFF);
    assimilation->counts->put_off++;
    assimilation->row.failures++;
    if (failures->count == sizeof(failures->items) / sizeof(failures->items[0]))
        return; /* it is tried again sooner */
    failures->items[failures->count].id = job->id;
    failures->items[failures->count++].until = assimilation->settings->now + PASS_PUT_OFF;
}

/* --- one job ------------------------------------------------------------------------------------
 */

/* Neither an answer nor an error should not be. */
static int64_t error_bits_of(const struct finished_job_row *job)
{
    return job->canonical_resultid == 0 && job->error_mask == 0 ? WU_ERROR_NO_CANONICAL_RESULT : 0;
}

static enum status list_files(struct assimilation *assimilation, const struct finished_job_row *job,
                              const char ***ret_paths, size_t *ret_count, struct failure *failure)
{
    struct output_file *files;
    size_t count;
    enum status status = output_files_read(assimilation->arena, job->xml_doc_in, &files, &count);

    *ret_paths = status == STATUS_OK ? ARENA_ARRAY(assimilation->arena, count, const char *) : NULL;
    if (*ret_paths == NULL)
        return fail(failure, STATUS_TOO_LARGE, "its list of output files is too long");
    for (size_t i = 0; i < count; i++) {
        status = output_file_find(assimilation->owner->config, assimilation->arena, &files[i],
                                  &(*ret_paths)[i], failure);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
    }
    *ret_count = count;
    return STATUS_OK;
}

/* Nobody wants it: marked as it is. */
static bool is_for_nobody(const struct assimilation *assimilation)
{
    return text_is(text_from(assimilation->settings->assimilate), "none");
}

/* Asks the command; STATUS_IO: it failed. */
static enum status give_on(struct assimilation *assimilation, const struct finished_job_row *job,
                           enum command_exit *ret_exit, struct failure *failure)
{
    struct arena *arena = assimilation->arena;
    const char *environment[VARIABLES] = {
        command_number(arena, "QM_JOB_ID", job->id),
        command_text(arena, "QM_JOB", job->name),
        command_text(arena, "QM_APP", assimilation->app->name),
        command_number(arena, "QM_BATCH", job->batch),
        command_number(arena, "QM_ERROR_MASK", job->error_mask | error_bits_of(job)),
        command_text(arena, "QM_RESULT", job->result_name),
    };
    const char **paths;
    size_t count = 0;
    enum status status;

    *ret_exit = COMMAND_YES;
    if (is_for_nobody(assimilation))
        return STATUS_OK;
    status = list_files(assimilation, job, &paths, &count, failure);
    if (status != STATUS_OK)
        return status;
    if (arena_overflowed(arena))
        return fail(failure, STATUS_IO, "no memory");
    status =
        command_run(&(struct command_call){.command = assimilation->settings->assimilate,
                                           .arguments = paths,
                                           .argument_count = count,
                                           .environment = environment,
                                           .seconds_max = assimilation->settings->command_seconds},
                    ret_exit, failure);
    if (status == STATUS_OK && *ret_exit != COMMAND_YES && *ret_exit != COMMAND_LATER)
        return fail(failure, STATUS_IO, "the command ended with status %d", (int)*ret_exit);
    return status;
}

/* What becomes of a job that the command got. */
struct saving {
    struct assimilation *assimilation;
    const struct finished_job_row *job;
    bool is_done;
};

static enum status save(void *subject)
{
    const struct saving *saving = subject;
    struct db *db = saving->assimilation->owner->db;
    int64_t now = saving->assimilation->settings->now;
    enum status status = pass_lease_check(saving->assimilation->lease);

    if (status == STATUS_OK)
        status = db_assimilation_save(
            db, saving->job->id, saving->is_done ? ASSIMILATE_DONE : ASSIMILATE_INIT,
            error_bits_of(saving->job), saving->is_done ? now : now + PASS_PUT_OFF);
    return status == STATUS_OK ? db_commit(db) : status;
}

static enum status assimilate(struct assimilation *assimilation, int64_t id)
{
    struct failure why = {.status = STATUS_OK};
    struct db *db = assimilation->owner->db;
    struct finished_job_row job;
    enum command_exit found = COMMAND_LATER;
    struct saving saving;
    double begun = clock_seconds();
    enum status status;

    arena_reset(assimilation->arena);
    status = db_assimilation_job(db, assimilation->arena, id, &job);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) {
        enum status end = db_end(db);

        if (end != STATUS_OK)
            return end;
    }
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    if (give_on(assimilation, &job, &found, &why) != STATUS_OK) {
        if (pass_is_to_end(assimilation->owner))
            return STATUS_OK; /* it was not the command that failed */
        note_failure(assimilation, &job, why.text);
        assimilation->row.seconds += clock_seconds() - begun;
        return STATUS_OK;
    }
    assimilation->row = (struct failure_row){0};
    saving = (struct saving){assimilation, &job, found == COMMAND_YES};
    status = repeat_transaction(db, save, &saving);
    assimilation->counts->assimilated += status == STATUS_OK && found == COMMAND_YES;
    assimilation->counts->deferred += status == STATUS_OK && found != COMMAND_YES;
    pass_progress(assimilation->owner, "jobs assimilated", assimilation->counts->assimilated);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status; /* others have it */
}

/* --- all ----------------------------------------------------------------------------------------
 */

/* Keeps the first of those that have not failed lately, `most` at most. */
static size_t pass_over_failures(const struct assimilation *assimilation, const int64_t *found,
                                 size_t found_count, int64_t *ret_ids, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < found_count && count < most; i++)
        if (!has_failed(assimilation->failures, found[i]))
            ret_ids[count++] = found[i];
    return count;
}

static enum status find_due(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    const struct assimilation *assimilation = subject;
    int64_t found[PAGE_JOBS], after = assimilation->after;
    size_t found_count;
    enum status status;

    do {
        status = db_assimilation_due(assimilation->owner->db, assimilation->app->id, after, found,
                                     PAGE_JOBS, &found_count);
        if (status != STATUS_OK)
            return status;
        *ret_count = pass_over_failures(assimilation, found, found_count, ret_ids, most);
        after = found_count > 0 ? found[found_count - 1] : after;
    } while (*ret_count == 0 && found_count == PAGE_JOBS);
    return status;
}

/* Of those that were taken. */
static enum status assimilate_taken(struct assimilation *assimilation, const int64_t *ids,
                                    size_t count)
{
    enum status status = STATUS_OK;

    for (size_t i = 0;
         status == STATUS_OK && i < count && assimilation->left > 0 &&
         !failure_row_ends_pass(&assimilation->row) && pass_lease_is_held(assimilation->lease);
         i++) {
        assimilation->after = ids[i];
        status = assimilate(assimilation, ids[i]);
        assimilation->left--;
    }
    return status;
}

/* Those of the app behind assimilation->after, until too many fail. */
static enum status assimilate_some(struct assimilation *assimilation)
{
    int64_t ids[PART_JOBS];
    size_t count;
    enum status status;

    assimilation->row = (struct failure_row){0};
    do {
        size_t most = assimilation->left < PART_JOBS ? (size_t)assimilation->left : PART_JOBS;

        status = pass_lease_take(assimilation->lease, find_due, assimilation, ids, most, &count);
        if (status == STATUS_OK)
            status = assimilate_taken(assimilation, ids, count);
    } while (status == STATUS_OK && count > 0 && assimilation->left > 0 &&
             !failure_row_ends_pass(&assimilation->row));
    return status;
}

/* Goes on once at a place that is drawn, where it was too many that failed. */
static enum status assimilate_all(struct assimilation *assimilation)
{
    struct db *db = assimilation->owner->db;
    int64_t last = 0;
    enum status status = assimilate_some(assimilation);

    if (status != STATUS_OK || !failure_row_ends_pass(&assimilation->row))
        return status;
    status = db_assimilation_last(db, assimilation->app->id, &last);
    (void)db_end(db);
    if (status == STATUS_OK && last > assimilation->after) {
        assimilation->after += (int64_t)(random_u64() % (uint64_t)(last - assimilation->after));
        status = assimilate_some(assimilation);
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status assimilate_app(void *subject, const struct app_row *app)
{
    struct assimilation *assimilation = subject;
    enum status status = STATUS_NO_MEMORY;

    assimilation->app = app;
    assimilation->after = 0;
    assimilation->lease = pass_lease_create(assimilation->owner, "assimilation", app->id);
    if (assimilation->lease != NULL)
        status = assimilate_all(assimilation);
    pass_lease_destroy(assimilation->lease);
    return status;
}

enum status assimilation_pass(struct pass_owner *owner, const struct pass_settings *settings,
                              struct assimilation_failures *failures, struct pass_counts *counts)
{
    struct assimilation assimilation = {.owner = owner,
                                        .settings = settings,
                                        .failures = failures,
                                        .counts = counts,
                                        .left = settings->jobs_max > 0 ? settings->jobs_max
                                                                       : INT64_MAX};
    enum status status = STATUS_NO_MEMORY;

    if (settings->assimilate == NULL)
        return STATUS_OK;
    forget_old_failures(failures, settings->now);
    assimilation.arena = arena_create(PART_BYTES);
    if (assimilation.arena != NULL)
        status = for_each_app(owner->db, assimilate_app, &assimilation);
    arena_destroy(assimilation.arena);
    return pass_failed(owner, status, "assimilation");
}
