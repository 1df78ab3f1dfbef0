/* SPDX-License-Identifier: Apache-2.0 */
/* Claiming. What was chosen is a hint until here. In this order:
 *
 *   lock the workunits, by id     the rules that span instances of a workunit (not over, one per
 *                                 user and host, committed version) hold from here to the commit
 *   read the documents            a job that cannot be written is not taken
 *   conditional update            of the results that are still unsent; the others are lost
 *   what cannot be written        is over: nobody will meet it again
 *
 * Nothing is given back: whatever may fail is looked at before the update. */
#include "server/select/claim.h"

#include "server/answer.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/policy/bounds.h"
#include "server/request.h"
#include "server/select/document.h"
#include "server/select/source.h"
#include "server/select/view.h"

#include <stdlib.h>

#include "server/base/banned.h"

/* One chosen job on its way. */
struct attempt {
    const struct job *job;
    struct job_documents documents;
};

static int compare_ids(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

static int compare_locked(const void *key, const void *row)
{
    int64_t id = *(const int64_t *)key, other = ((const struct locked_workunit *)row)->id;
    return (id > other) - (id < other);
}

static enum status lock_workunits(struct request *request, struct job *const *chosen, size_t count,
                                  struct locked_workunit **ret_rows, size_t *ret_count)
{
    int64_t *ids = ARENA_ARRAY(request->arena, count, int64_t);
    size_t unique = 0;

    if (ids == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        ids[i] = chosen[i]->workunit->id;
    qsort(ids, count, sizeof(ids[0]), compare_ids);
    for (size_t i = 0; i < count; i++)
        if (unique == 0 || ids[unique - 1] != ids[i])
            ids[unique++] = ids[i];
    return db_workunits_lock(request->db, request->arena, ids, unique, request->visit.user.id,
                             request->visit.host.id, ret_rows, ret_count);
}

enum reason claim_judge(const struct host_view *view, const struct job *job,
                        struct locked_workunit *row)
{
    int64_t id = job->option->app_version_id;

    bool is_assigned = job->assignment != JOB_GENERAL;

    if (row == NULL || row->error_mask != 0 ||
        (row->canonical_resultid != 0 && job->assignment != JOB_BROADCAST))
        return REASON_WORKUNIT_OVER;
    if (view->config->one_result_per_user_per_wu && !is_assigned && row->results_of_user > 0)
        return REASON_ONE_PER_USER;
    if ((view->config->one_result_per_host_per_wu || is_assigned) && row->results_of_host > 0)
        return REASON_ONE_PER_HOST;
    if (app_hr_type(view->config, job->app) != HR_NONE) {
        int64_t class_number = hr_class_for(view, job->app);
        if (row->hr_class != 0 && row->hr_class != class_number)
            return REASON_HR_COMMITTED;
        row->hr_class = class_number;
    }
    if (job->app->homogeneous_app_version != 0) {
        if (row->app_version_id != 0 && row->app_version_id != id)
            return REASON_COMMITTED_VERSION;
        row->app_version_id = id;
    }
    return REASON_COUNT;
}

static void refuse(struct choice_notes *notes, const struct job *job, enum reason reason)
{
    struct refusal refusal = {.reason = reason, .name = job->app->user_friendly_name};
    refusals_add(&notes->refusals, &refusal);
}

/* Jobs that nobody can be sent. */
struct faulty {
    int64_t *resultids, *workunitids;
    size_t count;
};

/* Drops jobs whose documents cannot be sent; returns how many are left. */
static size_t drop_faulty(struct request *request, struct attempt *attempts, size_t count,
                          struct choice_notes *notes, struct faulty *faulty)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const char *fault = documents_fault(&attempts[i].documents);
        if (fault == NULL) {
            attempts[kept++] = attempts[i];
            continue;
        }
        counter_add(COUNTER_jobs_faulty, 1);
        log_line(LOG_LEVEL_WARNING, "event=job_not_sent result=%lld host=%lld why=\"%s\"",
                 (long long)attempts[i].job->resultid, (long long)request->visit.host.id, fault);
        refuse(notes, attempts[i].job, REASON_DOCUMENT);
        source_doubt(request, attempts[i].job->resultid);
        faulty->resultids[faulty->count] = attempts[i].job->resultid;
        faulty->workunitids[faulty->count++] = attempts[i].job->workunit->id;
    }
    return kept;
}

static enum status read_documents(struct request *request, struct attempt *attempts, size_t count)
{
    int64_t *ids = ARENA_ARRAY(request->arena, count, int64_t);
    struct job_documents *documents = ARENA_ARRAY(request->arena, count, struct job_documents);
    enum status status;

    if (ids == NULL || documents == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        ids[i] = attempts[i].job->resultid;
    status = db_job_documents(request->db, request->arena, ids, count, documents);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        attempts[i].documents = documents[i];
    return status;
}

static struct claim claim_of(const struct request *request, const struct host_view *view,
                             const struct job *job)
{
    const struct app_row *app = job->app;
    int64_t now = (int64_t)request->now;
    bool must_replicate =
        app->target_nresults > 1 && job->workunit->target_nresults == 1 && !job->option->is_trusted;

    return (struct claim){
        .resultid = job->resultid,
        .workunitid = job->workunit->id,
        .sent_time = now,
        /* The column has 32 bits. */
        .report_deadline = bound_int32(now + job->delay_bound + view_grace_period(request->config)),
        .app_version_id = job->option->app_version_id,
        .flops_estimate = job->option->usage.peak_flops,
        .commit_hr_class = hr_class_for(view, app),
        .commit_app_version_id =
            app->homogeneous_app_version != 0 ? job->option->app_version_id : 0,
        .replicate_target = must_replicate ? app->target_nresults : 0,
    };
}

struct answer_job claim_describe(const struct job *job, const struct job_documents *documents)
{
    const struct workunit_row *workunit = job->workunit;

    return (struct answer_job){
        .resultid = job->resultid,
        .workunitid = workunit->id,
        .appid = job->app->id,
        .app = job->app,
        .version = job->option->version,
        .anonymous = job->option->anonymous,
        .platform = job->option->anonymous != NULL ? NO_TEXT : job->option->platform,
        .usage = job->option->usage,
        .fpops_scale = job->option->fpops_scale,
        .wall_time = job->use.wall_time,
        .rsc_fpops_est = workunit->rsc_fpops_est,
        .rsc_fpops_bound = workunit->rsc_fpops_bound * job->option->bound_scale,
        .rsc_memory_bound =
            job->option->memory > 0 ? job->option->memory : workunit->rsc_memory_bound,
        .rsc_disk_bound = workunit->rsc_disk_bound,
        .keywords = workunit->keywords,
        .documents = *documents,
    };
}

static enum status take(struct request *request, const struct host_view *view,
                        const struct attempt *attempts, size_t count, struct claimed *claimed)
{
    struct claim *claims = ARENA_ARRAY(request->arena, count, struct claim);
    bool *is_claimed = ARENA_ARRAY(request->arena, count, bool);
    enum status status;

    claimed->jobs = ARENA_ARRAY(request->arena, count, struct answer_job);
    claimed->of = ARENA_ARRAY(request->arena, count, const struct job *);
    if (claims == NULL || is_claimed == NULL || claimed->jobs == NULL || claimed->of == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        claims[i] = claim_of(request, view, attempts[i].job);
    status = db_results_claim(request->db, request->arena, request->visit.host.id,
                              request->visit.user.id, claims, count, is_claimed);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const struct job *job = attempts[i].job;
        struct answer_job *answer = &claimed->jobs[claimed->count];

        if (!is_claimed[i]) {
            source_lost(request, job->resultid);
            claimed->lost++;
            continue;
        }
        *answer = claim_describe(job, &attempts[i].documents);
        answer->report_deadline = claims[i].report_deadline - view_grace_period(request->config);
        claimed->of[claimed->count++] = job;
    }
    counter_add(COUNTER_claims_lost, claimed->lost);
    return STATUS_OK;
}

enum status claim_jobs(struct request *request, const struct host_view *view,
                       struct job *const *chosen, size_t count, struct choice_notes *notes,
                       struct claimed *ret_claimed)
{
    struct attempt *attempts = ARENA_ARRAY(request->arena, count, struct attempt);
    struct faulty faulty = {.resultids = ARENA_ARRAY(request->arena, count, int64_t),
                            .workunitids = ARENA_ARRAY(request->arena, count, int64_t)};
    struct locked_workunit *rows = NULL;
    size_t row_count = 0, kept = 0;
    enum status status;

    *ret_claimed = (struct claimed){0};
    if (attempts == NULL || faulty.resultids == NULL || faulty.workunitids == NULL)
        return STATUS_NO_MEMORY;
    status = lock_workunits(request, chosen, count, &rows, &row_count);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        struct locked_workunit *row = row_count == 0
                                          ? NULL
                                          : bsearch(&chosen[i]->workunit->id, rows, row_count,
                                                    sizeof(rows[0]), compare_locked);
        enum reason reason = claim_judge(view, chosen[i], row);
        if (reason == REASON_COUNT) {
            attempts[kept++].job = chosen[i];
            continue;
        }
        refuse(notes, chosen[i], reason);
        if (reason != REASON_ONE_PER_USER && reason != REASON_ONE_PER_HOST)
            source_doubt(request, chosen[i]->resultid);
    }
    if (kept > 0)
        status = read_documents(request, attempts, kept);
    if (status != STATUS_OK)
        return status;
    kept = drop_faulty(request, attempts, kept, notes, &faulty);
    if (kept > 0)
        status = take(request, view, attempts, kept, ret_claimed);
    if (status == STATUS_OK && faulty.count > 0)
        status = db_results_reject(request->db, request->arena, faulty.resultids,
                                   faulty.workunitids, faulty.count, (int64_t)request->now);
    ret_claimed->refused = count - kept;
    return status;
}
