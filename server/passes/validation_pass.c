/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/validation_pass.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/passes/command_crew.h"
#include "server/passes/pass_lease.h"
#include "server/passes/validation_parts.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { PROCESS_JOBS = 16 /* taken together at first, for each process that compares */ };
#define PART_BYTES ((size_t)1 << 30)

/* --- reading -----------------------------------------------------------------------------------
 */

struct validation_reading {
    struct validation_pass *pass;
    const int64_t *ids;
    size_t count;
};

/* What is in xml_doc_in matters where files are compared. */
static enum status read_documents(struct validation_pass *pass)
{
    int64_t *ids;
    size_t count = 0, at = 0;

    pass->document_count = 0;
    if (pass->kind == BY_NOBODY)
        return STATUS_OK;
    for (size_t i = 0; i < pass->validation_count; i++)
        count += pass->validations[i].quorum.count;
    ids = ARENA_ARRAY(pass->arena, count, int64_t);
    if (ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < pass->validation_count; i++)
        for (size_t j = 0; j < pass->validations[i].quorum.count; j++)
            ids[at++] = pass->validations[i].results[j].id;
    return db_output_documents(pass->owner->db, pass->arena, ids, count, &pass->documents,
                               &pass->document_count);
}

static enum status open_validations(struct validation_pass *pass)
{
    size_t count = pass->rows.workunit_count;
    struct judged_job *jobs = ARENA_ARRAY(pass->arena, count, struct judged_job);

    pass->validations = ARENA_ARRAY(pass->arena, count, struct validation);
    if (jobs == NULL || pass->validations == NULL)
        return STATUS_TOO_LARGE;
    verdict_jobs(&pass->rows, jobs);
    for (pass->validation_count = 0; pass->validation_count < count; pass->validation_count++) {
        struct validation *validation = &pass->validations[pass->validation_count];

        validation->job = jobs[pass->validation_count];
        if (!validation_open(pass, validation))
            return STATUS_TOO_LARGE;
    }
    return STATUS_OK;
}

static enum status read_some(void *subject)
{
    const struct validation_reading *reading = subject;
    struct validation_pass *pass = reading->pass;
    struct db *db = pass->owner->db;
    enum status status;

    arena_reset(pass->arena);
    pass->validation_count = 0;
    status = db_validation_read(db, pass->arena, reading->ids, reading->count, &pass->rows);
    if (status == STATUS_OK)
        status = open_validations(pass);
    if (status == STATUS_OK)
        status = read_documents(pass);
    return status == STATUS_OK ? db_end(db) : status;
}

/* --- comparing and writing ---------------------------------------------------------------------
 */

struct postponing {
    struct validation_pass *pass;
    int64_t id;
    size_t count;
};

static enum status try_to_postpone(void *subject)
{
    struct postponing *postponing = subject;
    struct validation_pass *pass = postponing->pass;
    struct db *db = pass->owner->db;
    enum status status = pass_lease_check(pass->lease);

    if (status == STATUS_OK)
        status = db_validation_postpone(db, &postponing->id, 1, pass->settings->now + PASS_PUT_OFF,
                                        &postponing->count);
    return status == STATUS_OK ? db_commit(db) : status;
}

static enum status postpone(struct validation_pass *pass, const struct validation *validation,
                            const char *why)
{
    struct postponing postponing = {.pass = pass, .id = validation->job.workunit->id};
    enum status status = repeat_transaction(pass->owner->db, try_to_postpone, &postponing);

    if (status == STATUS_NOT_FOUND)
        return status;
    complain(pass->complaints, pass->owner, "validation of job", validation->job.workunit->name,
             why, PASS_PUT_OFF);
    pass->counts->put_off += status == STATUS_OK;
    return status;
}

/* The validations that were read, on their way. */
struct course {
    struct validation *ready[VALIDATION_PART_MOST];
    size_t ready_count;
    double write_at; /* not before, where a command decides and others are waited for; but before
                      * others are begun */
    size_t next;     /* the first that was not begun */
};

static bool is_to_write(const struct validation_pass *pass, const struct course *course)
{
    return course->ready_count >= pass->write_most ||
           (pass->crew != NULL && course->ready_count > 0 && clock_seconds() >= course->write_at);
}

/* False: nothing more is to be begun now. */
static bool may_begin(const struct validation_pass *pass, const struct course *course)
{
    return course->next < pass->validation_count && !is_to_write(pass, course) &&
           !failure_row_ends_pass(&pass->row) && pass_lease_is_held(pass->lease) &&
           (pass->crew == NULL || command_crew_has_room(pass->crew));
}

static enum status go_on(struct validation_pass *pass, struct course *course,
                         struct validation *validation, const struct command_answer *answer)
{
    struct failure why = {.status = STATUS_OK};
    double begun = clock_seconds();

    switch (validation_go_on(pass, validation, answer, &why)) {
    case VALIDATION_READY:
        pass->row = (struct failure_row){0};
        course->ready[course->ready_count++] = validation;
        return STATUS_OK;
    case VALIDATION_ASKED:
        return STATUS_OK;
    case VALIDATION_FAILED:
        break;
    }
    pass->row.failures++;
    pass->row.seconds += answer != NULL ? answer->seconds : clock_seconds() - begun;
    return postpone(pass, validation, why.text);
}

static enum status await(struct validation_pass *pass, struct course *course)
{
    double until = course->ready_count > 0 ? course->write_at : clock_seconds() + 3600;
    struct command_answer answer;

    if (!command_crew_await(pass->crew, until, &answer))
        return STATUS_OK;
    for (size_t i = 0; i < course->next; i++)
        if (pass->validations[i].question == answer.id)
            return go_on(pass, course, &pass->validations[i], &answer);
    return STATUS_OK;
}

static int compare_validations(const void *a, const void *b)
{
    const struct validation *const *left = a, *const *right = b;

    return ((*left)->job.workunit->id > (*right)->job.workunit->id) -
           ((*left)->job.workunit->id < (*right)->job.workunit->id);
}

static enum status write_ready(struct validation_pass *pass, struct course *course)
{
    size_t count = course->ready_count;
    double begun = clock_seconds();
    enum status status;

    course->ready_count = 0;
    qsort(course->ready, count, sizeof(course->ready[0]), compare_validations);
    status = validation_write(pass, course->ready, count);
    course->write_at = pass_next_write(begun, clock_seconds());
    return status;
}

/* Until all that may be begun is done. */
static enum status compare_and_write(struct validation_pass *pass)
{
    struct course course = {.write_at = clock_seconds() + pass_next_write(0, 0)};
    enum status status = STATUS_OK;

    while (status == STATUS_OK) {
        size_t waiting;

        while (status == STATUS_OK && may_begin(pass, &course))
            status = go_on(pass, &course, &pass->validations[course.next++], NULL);
        waiting = pass->crew == NULL ? 0 : command_crew_waiting(pass->crew);
        if (status != STATUS_OK || (waiting == 0 && course.ready_count == 0))
            break;
        if (waiting == 0 || is_to_write(pass, &course))
            status = write_ready(pass, &course);
        else
            status = await(pass, &course);
    }
    if (status != STATUS_OK && pass->crew != NULL)
        command_crew_drop(pass->crew);
    return status;
}

/* One whose rows are as they were read is written; another is read again. */
static enum status try_alone(void *subject)
{
    const struct validation_reading *reading = subject;
    struct validation_pass *pass = reading->pass;
    enum status status = read_some(subject);

    if (status == STATUS_OK)
        status = compare_and_write(pass);
    return status == STATUS_OK && pass->validation_count == 1 && pass->validations[0].is_changed
               ? STATUS_DB_RETRY
               : status;
}

/* What is to be said of one whose rows could not be read. */
static struct text name_of(const struct validation_pass *pass)
{
    return pass->validation_count == 1      ? pass->validations[0].job.workunit->name
           : pass->rows.workunit_count == 1 ? pass->rows.workunits[0].name
                                            : NO_TEXT;
}

static enum status validate_alone(struct validation_pass *pass, int64_t id)
{
    struct validation_reading reading = {pass, &id, 1};
    enum status status = repeat_transaction(pass->owner->db, try_alone, &reading);

    return validation_pass_over(pass, name_of(pass), status);
}

static enum status validate_some(struct validation_pass *pass, const int64_t *ids, size_t count)
{
    struct validation_reading reading = {pass, ids, count};
    int64_t changed[VALIDATION_PART_MOST];
    size_t changed_count = 0;
    enum status status = repeat_transaction(pass->owner->db, read_some, &reading);

    if (status == STATUS_OK)
        status = compare_and_write(pass);
    else if (count > 1 && status != STATUS_DB_GONE && status != STATUS_DB_UNKNOWN &&
             status != STATUS_DB_BUG) {
        status = validate_some(pass, ids, count / 2);
        return status == STATUS_OK ? validate_some(pass, ids + count / 2, count - count / 2)
                                   : status;
    } else
        status = validation_pass_over(pass, name_of(pass), status);
    for (size_t i = 0; i < pass->validation_count; i++)
        if (pass->validations[i].is_changed)
            changed[changed_count++] = pass->validations[i].job.workunit->id;
    for (size_t i = 0; status == STATUS_OK && i < changed_count && pass_lease_is_held(pass->lease);
         i++)
        status = validate_alone(pass, changed[i]);
    return status;
}

/* --- all ----------------------------------------------------------------------------------------
 */

static int64_t parallel_of(const struct pass_settings *settings)
{
    return settings->parallel > 0 ? settings->parallel : 1;
}

static enum status find_due(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct validation_pass *pass = subject;

    return db_validation_due(pass->owner->db, pass->app->id, pass->after, ret_ids, most, ret_count);
}

/* What a command fails for is put off; when too many are, the others come in the next round. */
static enum status validate_all(struct validation_pass *pass)
{
    int64_t ids[VALIDATION_PART_MOST];
    size_t least = pass->crew != NULL ? (size_t)(PROCESS_JOBS * parallel_of(pass->settings))
                                      : VALIDATION_PART_MOST;
    size_t count;
    double begun = clock_seconds();
    enum status status;

    do {
        size_t most = pass_part_jobs(&pass->part, clock_seconds() - begun, least,
                                     VALIDATION_PART_MOST, pass->left);

        begun = clock_seconds();
        status = pass_lease_take(pass->lease, find_due, pass, ids, most, &count);
        if (status != STATUS_OK || count == 0)
            break;
        pass->after = ids[count - 1];
        status = validate_some(pass, ids, count);
        status = status == STATUS_NOT_FOUND ? STATUS_OK : status; /* others have them now */
        pass->left -= (int64_t)count;
    } while (status == STATUS_OK && pass->left > 0 && !failure_row_ends_pass(&pass->row));
    return status;
}

static enum status validate_app(void *subject, const struct app_row *app)
{
    struct validation_pass *pass = subject;
    int64_t complaints = pass->complaints->count;
    enum status status = STATUS_NO_MEMORY;

    pass->app = app;
    pass->after = 0;
    pass->has_judged = false;
    pass->row = (struct failure_row){0};
    pass->lease = pass_lease_create(pass->owner, "validation", app->id);
    if (pass->lease != NULL)
        status = validate_all(pass);
    pass_lease_destroy(pass->lease);
    if (status != STATUS_OK)
        return status;
    return complaints_keep(pass->complaints, pass->owner,
                           &(struct pass_turn){.pass = "validation",
                                               .appid = app->id,
                                               .now = pass->settings->now,
                                               .failures = pass->complaints->count - complaints,
                                               .has_done = pass->has_judged});
}

static enum status run(struct validation_pass *pass)
{
    const struct pass_settings *settings = pass->settings;
    const struct command_crew_settings crew = {
        .command = pass->crew_reads_lines ? settings->validate_batch : settings->validate,
        .reads_lines = pass->crew_reads_lines,
        .needs_verdict = true,
        .parallel = parallel_of(settings),
        .seconds_max = settings->command_seconds,
        .owner = pass->owner};

    pass->arena = arena_create(PART_BYTES);
    pass->write_arena = arena_create(PART_BYTES);
    if (pass->kind == BY_COMMAND)
        pass->crew = command_crew_create(&crew);
    if (pass->arena == NULL || pass->write_arena == NULL ||
        (pass->kind == BY_COMMAND && pass->crew == NULL))
        return STATUS_NO_MEMORY;
    return for_each_app(pass->owner->db, validate_app, pass);
}

enum status validation_pass(struct pass_owner *owner, const struct pass_settings *settings,
                            struct pass_counts *counts)
{
    struct complaints complaints = {.count = 0};
    struct validation_pass pass = {.owner = owner,
                                   .settings = settings,
                                   .counts = counts,
                                   .complaints = &complaints,
                                   .kind = BY_COMMAND,
                                   .crew_reads_lines = settings->validate_batch != NULL,
                                   .write_most = VALIDATION_WRITE_MOST / 4,
                                   .left = settings->jobs_max > 0 ? settings->jobs_max : INT64_MAX};
    enum status status;

    if (settings->trusts)
        pass.kind = BY_NOBODY;
    else if (settings->validate != NULL && strcmp(settings->validate, "bitwise") == 0)
        pass.kind = BY_BYTES;
    else if (settings->validate == NULL && settings->validate_batch == NULL)
        return STATUS_OK;
    status = run(&pass);
    command_crew_destroy(pass.crew);
    arena_destroy(pass.write_arena);
    arena_destroy(pass.arena);
    return pass_failed(owner, status, "validation");
}
