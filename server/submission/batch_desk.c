/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/batch_desk.h"

#include "db/batches.h"
#include "db/submitted.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/passes/batch_pass.h"
#include "server/passes/pass_repeat.h"
#include "server/submission/count_pauses.h"

#include "server/base/banned.h"

enum { JOBS_AT_ONCE_READ = 256, NAME_MOST = 254 /* bytes, of the column */, NAME_SHOWN = 100 };

/* --- its row ---------------------------------------------------------------------------------- */

enum status batch_name_check(struct text name, struct failure *failure)
{
    if (name.length > NAME_MOST)
        return fail(failure, STATUS_INVALID, "batch_name has more than %d bytes", NAME_MOST);
    for (size_t at = 0, length; at < name.length; at += length) {
        length = text_character((struct text){name.at + at, name.length - at});
        if (length == 0 || (unsigned char)name.at[at] < ' ' || name.at[at] == 127)
            return fail(failure, STATUS_INVALID,
                        "batch_name has a control character, or is not UTF-8, at byte %zu", at + 1);
    }
    return STATUS_OK;
}

struct row_change {
    struct desk *desk;
    struct new_batch wanted;
    int64_t id;
};

static enum status check_expiry(struct desk *desk, double expire_time)
{
    return expire_time >= 0 && expire_time <= (double)INT32_MAX
               ? STATUS_OK
               : fail(desk->failure, STATUS_INVALID, "expire_time must be from 0 to %d", INT32_MAX);
}

static enum status add_row(void *subject)
{
    struct row_change *change = subject;
    enum status status = db_batch_add(change->desk->db, &change->wanted, &change->id);

    return status == STATUS_OK ? db_commit(change->desk->db) : status;
}

enum status desk_create_batch(struct desk *desk, const struct submitter *submitter,
                              const struct app_row *app, struct text name, double expire_time,
                              int64_t *ret_id)
{
    struct row_change change = {.desk = desk,
                                .wanted = {.name = name,
                                           .userid = submitter->userid,
                                           .appid = app->id,
                                           .now = desk->now,
                                           .expire_time = (int64_t)expire_time}};
    enum status status = batch_name_check(name, desk->failure);

    if (status == STATUS_OK)
        status = check_expiry(desk, expire_time);
    if (status != STATUS_OK)
        return status;
    status = desk_failed(desk, repeat_transaction(desk->db, add_row, &change), "batch");
    *ret_id = change.id;
    return status;
}

static enum status expire_row(void *subject)
{
    struct row_change *change = subject;
    enum status status = db_batch_expire(change->desk->db, change->id, change->wanted.expire_time);

    return status == STATUS_OK ? db_commit(change->desk->db) : status;
}

enum status desk_expire_batch(struct desk *desk, const struct owned_batch_row *batch,
                              double expire_time)
{
    struct row_change change = {
        .desk = desk, .id = batch->id, .wanted.expire_time = (int64_t)expire_time};
    enum status status = check_expiry(desk, expire_time);

    if (status == STATUS_OK && batch->state == BATCH_RETIRED)
        return fail(desk->failure, STATUS_INVALID, "batch %" PRId64 " is retired", batch->id);
    return status == STATUS_OK
               ? desk_failed(desk, repeat_transaction(desk->db, expire_row, &change), "batch")
               : status;
}

/* --- its end ---------------------------------------------------------------------------------- */

static enum status check_whole(struct desk *desk, const struct job_change_sums *sums)
{
    return sums->is_whole ? STATUS_OK
                          : fail(desk->failure, STATUS_IO,
                                 "the server stops: some jobs are not cancelled yet, ask again");
}

enum status desk_abort_batch(struct desk *desk, const struct owned_batch_row *batch)
{
    struct pass_owner owner = desk_owner(desk);
    struct job_change_sums sums;
    enum status status;

    if (batch->state == BATCH_RETIRED)
        return STATUS_OK;
    status = batch_abort(&owner, batch->id, desk->now, &sums);
    return status == STATUS_OK ? check_whole(desk, &sums) : status;
}

enum status desk_retire_batch(struct desk *desk, const struct owned_batch_row *batch)
{
    struct pass_owner owner = desk_owner(desk);
    int64_t unfinished;
    enum status status = batch_retire(&owner, batch->id, desk->now, &unfinished);

    if (status != STATUS_INVALID)
        return status;
    status = desk_abort_batch(desk, batch);
    return status == STATUS_OK ? batch_retire(&owner, batch->id, desk->now, &unfinished) : status;
}

enum status desk_abort_jobs(struct desk *desk, const struct submitter *submitter,
                            const struct text *names, size_t count)
{
    struct pass_owner owner = desk_owner(desk);
    const struct job_selection selection = {.names = names, .name_count = count};
    const struct job_change cancel = {.kind = JOB_CHANGE_CANCEL, .now = desk->now};
    struct job_change_sums sums;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct arena_mark mark = arena_mark(desk->arena);
        struct owned_job_row job;

        status = desk_find_job(desk, submitter, 0, names[i], &job);
        arena_rewind(desk->arena, mark);
    }
    if (status != STATUS_OK || count == 0)
        return status;
    status = job_change_pass(&owner, &selection, &cancel, "jobs cancelled", &sums);
    return status == STATUS_OK ? check_whole(desk, &sums) : status;
}

/* --- what is known of it ---------------------------------------------------------------------- */

struct refreshing {
    struct desk *desk;
    int64_t id, unfinished;
};

static enum status refresh_row(void *subject)
{
    struct refreshing *refreshing = subject;
    struct desk *desk = refreshing->desk;
    enum status status =
        db_batch_refresh(desk->db, refreshing->id, desk->now, &refreshing->unfinished);

    return status == STATUS_OK ? db_commit(desk->db) : status;
}

enum status desk_refresh(struct desk *desk, const struct submitter *submitter,
                         struct owned_batch_row *batch)
{
    struct refreshing refreshing = {.desk = desk, .id = batch->id};
    double began = clock_seconds(), ended;
    enum status status = STATUS_OK;

    if ((batch->state != BATCH_IN_PROGRESS && batch->state != BATCH_ABORTED) ||
        (desk->pauses != NULL && !count_pauses_is_over(desk->pauses, batch->id, began)))
        return STATUS_OK;
    status = repeat_transaction(desk->db, refresh_row, &refreshing);
    ended = clock_seconds();
    if (desk->pauses != NULL)
        count_pauses_begin(desk->pauses, batch->id, ended - began, ended);
    if (status == STATUS_OK)
        status =
            db_owned_batch(desk->db, desk->arena, submitter->userid, batch->id, NO_TEXT, batch);
    return desk_failed(desk, status, "batch");
}

/* The instances are in the order of the jobs. */
static void call_each(const struct owned_job_row *jobs, size_t job_count,
                      const struct owned_instance_row *instances, size_t instance_count,
                      desk_job_call *call, void *context)
{
    size_t at = 0;

    for (size_t i = 0; i < job_count; i++) {
        size_t first = at;
        struct desk_job job = {.row = &jobs[i]};

        while (at < instance_count && instances[at].workunitid == jobs[i].id)
            at++;
        job.instance_count = at - first;
        job.instances = at > first ? &instances[first] : NULL;
        call(context, &job);
    }
}

enum status desk_each_job(struct desk *desk, int64_t batch, int64_t since, desk_job_call *call,
                          void *context)
{
    int64_t after = 0;
    size_t count = JOBS_AT_ONCE_READ;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == JOBS_AT_ONCE_READ) {
        struct arena_mark mark = arena_mark(desk->arena);
        struct owned_job_row *jobs;
        struct owned_instance_row *instances = NULL;
        size_t instance_count = 0;

        status = db_owned_jobs(desk->db, desk->arena, batch, after, since, JOBS_AT_ONCE_READ, &jobs,
                               &count);
        if (status == STATUS_OK)
            status =
                db_owned_instances(desk->db, desk->arena, jobs, count, &instances, &instance_count);
        if (status == STATUS_OK && count > 0) {
            after = jobs[count - 1].id;
            call_each(jobs, count, instances, instance_count, call, context);
        }
        arena_rewind(desk->arena, mark);
    }
    return desk_failed(desk, status, "jobs");
}

enum status desk_find_job(struct desk *desk, const struct submitter *submitter, int64_t id,
                          struct text name, struct owned_job_row *ret_job)
{
    enum status status = STATUS_NOT_FOUND;

    if (id != 0 || (name.length > 0 && name.length <= NAME_MOST))
        status = db_owned_job(desk->db, desk->arena, submitter->userid, id, name, ret_job);
    if (status != STATUS_NOT_FOUND)
        return desk_failed(desk, status, "job");
    if (id != 0)
        return fail(desk->failure, STATUS_INVALID, "there is no job %" PRId64 " of yours", id);
    if (name.length == 0)
        return fail(desk->failure, STATUS_INVALID, "the request names no job");
    return fail(desk->failure, STATUS_INVALID, "there is no job " TEXT_FORMAT " of yours",
                TEXT_ARG(text_first(name, NAME_SHOWN)));
}
