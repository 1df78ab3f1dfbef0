/* SPDX-License-Identifier: Apache-2.0 */
/* Where a row of failures ends the pass at one place (pass_repeat.h), it goes on once at another,
 * which is drawn: so no number of jobs that fail keeps the others waiting for ever, in a command
 * that is begun anew each time either. */
#include "server/passes/assimilation_pass.h"

#include "config/config.h"
#include "db/assimilation.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/json.h"
#include "server/base/random.h"
#include "server/base/sorted.h"
#include "server/passes/command_crew.h"
#include "server/passes/complaints.h"
#include "server/passes/pass_lease.h"
#include "server/passes/pass_repeat.h"
#include "server/passes/upload_folder.h"
#include "server/submit/output_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum {
    PART_MOST = 256,  /* taken together */
    PROCESS_JOBS = 8, /* the same for each process, at first: a command may take minutes for each */
    PAGE_JOBS = 256,
    VARIABLES = 7
};
#define PART_BYTES ((size_t)1 << 30)

/* A job that is done, or comes later. */
struct kept_answer {
    const struct finished_job_row *job;
    bool is_done;
};

struct assimilation {
    struct pass_owner *owner;
    const struct pass_settings *settings;
    struct assimilation_failures *failures;
    struct pass_counts *counts;
    struct complaints complaints;
    struct command_crew *crew; /* NULL: nobody wants them */
    bool reads_lines;          /* the crew */
    int64_t parallel;
    const struct app_row *app;
    struct pass_lease *lease;
    struct failure_row row;
    int64_t after; /* the last that was looked at */
    int64_t left;  /* jobs that may still be given on */

    struct arena *arena; /* of the jobs that were taken */
    size_t part;         /* as many were taken; 0: none */
    struct finished_job_row *jobs;
    size_t job_count, next; /* the first that was not begun */
    struct kept_answer kept[PART_MOST];
    size_t kept_count;
    double save_at; /* not before, where others are waited for; but before others are begun */
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

/* --- what a command gets ------------------------------------------------------------------------
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
    struct found_file found;
    size_t count;
    enum status status = output_files_read(assimilation->arena, job->xml_doc_in, &files, &count);

    *ret_paths = status == STATUS_OK ? ARENA_ARRAY(assimilation->arena, count, const char *) : NULL;
    if (*ret_paths == NULL)
        return fail(failure, STATUS_TOO_LARGE, "its list of output files is too long");
    for (size_t i = 0; i < count; i++) {
        status = output_file_find(assimilation->owner->config, assimilation->arena, &files[i],
                                  &found, failure);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
        (*ret_paths)[i] = found.path;
        if (assimilation->reads_lines && !json_can_hold(text_from(found.path)))
            return fail(failure, STATUS_INVALID, "%s is no UTF-8, which JSON has to be",
                        found.path);
    }
    *ret_count = count;
    return STATUS_OK;
}

static struct text line_of(struct assimilation *assimilation, const struct finished_job_row *job,
                           const char *const *paths, size_t count)
{
    struct buffer line = buffer_in(assimilation->arena);

    buffer_print(&line, "{\"id\": %" PRId64 ", \"job\": ", job->id);
    json_add_string(&line, job->name);
    buffer_add_string(&line, ", \"app\": ");
    json_add_string(&line, assimilation->app->name);
    buffer_print(&line,
                 ", \"batch\": %" PRId64 ", \"error_mask\": %" PRId64 ", \"result\": ", job->batch,
                 job->error_mask | error_bits_of(job));
    json_add_string(&line, job->result_name);
    buffer_add_string(&line, ", \"files\": [");
    for (size_t i = 0; i < count; i++) {
        buffer_add_string(&line, i == 0 ? "" : ", ");
        json_add_string(&line, text_from(paths[i]));
    }
    buffer_add_string(&line, "]}");
    return buffer_text(&line);
}

/* STATUS_OK: it is asked. */
static enum status ask(struct assimilation *assimilation, const struct finished_job_row *job,
                       struct failure *failure)
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
    struct command_question question = {.id = job->id, .environment = environment};
    const char **paths;
    enum status status = list_files(assimilation, job, &paths, &question.argument_count, failure);

    if (status != STATUS_OK)
        return status;
    question.arguments = paths;
    if (assimilation->reads_lines)
        question.line = line_of(assimilation, job, paths, question.argument_count);
    if (arena_overflowed(arena) || command_crew_ask(assimilation->crew, &question) != STATUS_OK)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    return STATUS_OK;
}

/* --- what becomes of jobs -----------------------------------------------------------------------
 */

static int compare_kept(const void *a, const void *b)
{
    const struct kept_answer *left = a, *right = b;

    return sorted_compare_ids(&left->job->id, &right->job->id);
}

/* Of those with this answer and these error bits. */
static enum status save_kind(struct assimilation *assimilation, bool is_done, int64_t error_bits,
                             int64_t *counter)
{
    int64_t now = assimilation->settings->now, ids[PART_MOST];
    const struct assimilated as = {is_done ? ASSIMILATE_DONE : ASSIMILATE_INIT, error_bits,
                                   is_done ? now : now + PASS_PUT_OFF};
    size_t count = 0, saved = 0;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < assimilation->kept_count; i++)
        if (assimilation->kept[i].is_done == is_done &&
            error_bits_of(assimilation->kept[i].job) == error_bits)
            ids[count++] = assimilation->kept[i].job->id;
    if (count > 0)
        status = db_assimilation_save(assimilation->owner->db, ids, count, &as, &saved);
    *counter += (int64_t)saved;
    return status;
}

struct saving {
    struct assimilation *assimilation;
    int64_t assimilated, deferred;
};

static enum status save(void *subject)
{
    static const int64_t error_bits[] = {0, WU_ERROR_NO_CANONICAL_RESULT};
    struct saving *saving = subject;
    struct assimilation *assimilation = saving->assimilation;
    enum status status = pass_lease_check(assimilation->lease);

    saving->assimilated = saving->deferred = 0;
    for (size_t i = 0; status == STATUS_OK && i < 2; i++) {
        status = save_kind(assimilation, true, error_bits[i], &saving->assimilated);
        if (status == STATUS_OK)
            status = save_kind(assimilation, false, error_bits[i], &saving->deferred);
    }
    return status == STATUS_OK ? db_commit(assimilation->owner->db) : status;
}

/* NOT_FOUND: others have them now. */
static enum status save_kept(struct assimilation *assimilation)
{
    struct saving saving = {.assimilation = assimilation};
    double begun = clock_seconds();
    enum status status;

    qsort(assimilation->kept, assimilation->kept_count, sizeof(assimilation->kept[0]),
          compare_kept);
    status = repeat_transaction(assimilation->owner->db, save, &saving);
    assimilation->kept_count = 0;
    assimilation->save_at = pass_next_write(begun, clock_seconds());
    if (status != STATUS_OK)
        return status;
    assimilation->counts->assimilated += saving.assimilated;
    assimilation->counts->deferred += saving.deferred;
    pass_progress(assimilation->owner, "jobs assimilated", assimilation->counts->assimilated);
    return STATUS_OK;
}

static void keep(struct assimilation *assimilation, const struct finished_job_row *job,
                 bool is_done)
{
    assimilation->kept[assimilation->kept_count++] = (struct kept_answer){job, is_done};
    assimilation->row = (struct failure_row){0};
}

/* --- some jobs ----------------------------------------------------------------------------------
 */

struct assimilation_reading {
    struct assimilation *assimilation;
    const int64_t *ids;
    size_t count;
};

static enum status read_jobs(void *subject)
{
    const struct assimilation_reading *reading = subject;
    struct assimilation *assimilation = reading->assimilation;
    struct db *db = assimilation->owner->db;
    enum status status;

    arena_reset(assimilation->arena);
    status = db_assimilation_jobs(db, assimilation->arena, reading->ids, reading->count,
                                  &assimilation->jobs, &assimilation->job_count);
    return status == STATUS_OK ? db_end(db) : status;
}

/* Begins the next job: one that nobody wants, or that its submitter fetches, is done. */
static void begin(struct assimilation *assimilation)
{
    const struct finished_job_row *job = &assimilation->jobs[assimilation->next++];
    struct failure why = {.status = STATUS_OK};
    double begun = clock_seconds();

    assimilation->after = job->id;
    if (assimilation->crew == NULL || job->is_fetched) {
        keep(assimilation, job, true);
    } else if (ask(assimilation, job, &why) != STATUS_OK) {
        note_failure(assimilation, job, why.text);
        assimilation->row.seconds += clock_seconds() - begun;
    }
}

static bool is_to_save(const struct assimilation *assimilation)
{
    return assimilation->crew != NULL && assimilation->kept_count > 0 &&
           clock_seconds() >= assimilation->save_at;
}

static bool may_begin(const struct assimilation *assimilation)
{
    return assimilation->next < assimilation->job_count && !is_to_save(assimilation) &&
           !failure_row_ends_pass(&assimilation->row) && pass_lease_is_held(assimilation->lease) &&
           (assimilation->crew == NULL || command_crew_has_room(assimilation->crew));
}

static void await(struct assimilation *assimilation)
{
    double until = assimilation->kept_count > 0 ? assimilation->save_at : clock_seconds() + 3600;
    struct command_answer answer;
    const struct finished_job_row *job;

    if (!command_crew_await(assimilation->crew, until, &answer))
        return;
    job = bsearch(&answer.id, assimilation->jobs, assimilation->job_count,
                  sizeof(assimilation->jobs[0]), sorted_compare_ids);
    must(job != NULL);
    if (answer.status == STATUS_OK && answer.exit == COMMAND_NO)
        answer.status =
            fail(&answer.failure, STATUS_IO, "the command ended with status %d", (int)answer.exit);
    if (answer.status == STATUS_OK) {
        keep(assimilation, job, answer.exit == COMMAND_YES);
    } else {
        note_failure(assimilation, job, answer.failure.text);
        assimilation->row.seconds += answer.seconds;
    }
}

/* Of those that were taken; an answer is kept for a moment, so that many are saved together. */
static enum status assimilate_taken(struct assimilation *assimilation, const int64_t *ids,
                                    size_t count)
{
    struct assimilation_reading reading = {assimilation, ids, count};
    enum status status = repeat_transaction(assimilation->owner->db, read_jobs, &reading);

    assimilation->next = 0;
    assimilation->save_at = pass_next_write(0, 0) + clock_seconds();
    while (status == STATUS_OK) {
        size_t waiting;

        while (may_begin(assimilation))
            begin(assimilation);
        waiting = assimilation->crew == NULL ? 0 : command_crew_waiting(assimilation->crew);
        if (waiting == 0 && assimilation->kept_count == 0)
            break;
        if (waiting == 0 || is_to_save(assimilation))
            status = save_kept(assimilation);
        else
            await(assimilation);
    }
    if (status != STATUS_OK && assimilation->crew != NULL)
        command_crew_drop(assimilation->crew);
    assimilation->after = ids[count - 1] > assimilation->after && status == STATUS_OK &&
                                  assimilation->next == assimilation->job_count
                              ? ids[count - 1]
                              : assimilation->after;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status; /* others have them */
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

/* Those of the app behind assimilation->after, until too many fail. */
static enum status assimilate_some(struct assimilation *assimilation)
{
    int64_t ids[PART_MOST];
    size_t least =
        assimilation->crew != NULL ? (size_t)(PROCESS_JOBS * assimilation->parallel) : PART_MOST;
    size_t count;
    double begun = clock_seconds();
    enum status status;

    assimilation->row = (struct failure_row){0};
    do {
        size_t most = pass_part_jobs(&assimilation->part, clock_seconds() - begun, least, PART_MOST,
                                     assimilation->left);

        begun = clock_seconds();
        status = pass_lease_take(assimilation->lease, find_due, assimilation, ids, most, &count);
        if (status == STATUS_OK && count > 0)
            status = assimilate_taken(assimilation, ids, count);
        assimilation->left -= (int64_t)count;
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

    int64_t complaints = assimilation->complaints.count;
    int64_t given = assimilation->counts->assimilated + assimilation->counts->deferred;

    assimilation->app = app;
    assimilation->after = 0;
    assimilation->lease = pass_lease_create(assimilation->owner, "assimilation", app->id);
    if (assimilation->lease != NULL)
        status = assimilate_all(assimilation);
    pass_lease_destroy(assimilation->lease);
    if (status != STATUS_OK)
        return status;
    return complaints_keep(
        &assimilation->complaints, assimilation->owner,
        &(struct pass_turn){.pass = "assimilation",
                            .appid = app->id,
                            .now = assimilation->settings->now,
                            .failures = assimilation->complaints.count - complaints,
                            .has_done =
                                assimilation->counts->assimilated + assimilation->counts->deferred >
                                given});
}

static enum status run(struct assimilation *assimilation)
{
    const struct pass_settings *settings = assimilation->settings;
    const struct command_crew_settings crew = {
        .command = assimilation->reads_lines ? settings->assimilate_batch : settings->assimilate,
        .reads_lines = assimilation->reads_lines,
        .parallel = assimilation->parallel,
        .seconds_max = settings->command_seconds,
        .owner = assimilation->owner};
    bool is_for_nobody = !assimilation->reads_lines && strcmp(settings->assimilate, "none") == 0;

    assimilation->arena = arena_create(PART_BYTES);
    if (!is_for_nobody)
        assimilation->crew = command_crew_create(&crew);
    if (assimilation->arena == NULL || (!is_for_nobody && assimilation->crew == NULL))
        return STATUS_NO_MEMORY;
    return for_each_app(assimilation->owner->db, assimilate_app, assimilation);
}

enum status assimilation_pass(struct pass_owner *owner, const struct pass_settings *settings,
                              struct assimilation_failures *failures, struct pass_counts *counts)
{
    struct assimilation assimilation = {.owner = owner,
                                        .settings = settings,
                                        .failures = failures,
                                        .counts = counts,
                                        .reads_lines = settings->assimilate_batch != NULL,
                                        .parallel = settings->parallel > 0 ? settings->parallel : 1,
                                        .left = settings->jobs_max > 0 ? settings->jobs_max
                                                                       : INT64_MAX};
    enum status status;

    if (settings->assimilate == NULL && settings->assimilate_batch == NULL)
        return STATUS_OK;
    forget_old_failures(failures, settings->now);
    status = run(&assimilation);
    command_crew_destroy(assimilation.crew);
    arena_destroy(assimilation.arena);
    return pass_failed(owner, status, "assimilation");
}
