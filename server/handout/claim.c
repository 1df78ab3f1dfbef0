/* SPDX-License-Identifier: Apache-2.0 */
/* Claiming. What was chosen is a hint until here. In this order:
 *
 *   lock the workunits, by id     the rules that span instances of a workunit (not over, one per
 *                                 user and host, committed version) hold from here to the commit;
 *                                 documents come along: what cannot be written is not taken
 *   conditional update            of the results that are still unsent; the others are lost
 *   what cannot be written        is over: nobody is offered it again; what only this client
 *                                 cannot read stays for others
 *
 * Nothing is given back: whatever may fail is checked before the update. */
#include "server/handout/claim.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/handout/source.h"
#include "server/handout/view.h"
#include "server/policy/host/bounds.h"
#include "server/project/document_check.h"
#include "server/reply/answer.h"
#include "server/reply/reply.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

/* One chosen job on its way. */
struct attempt {
    const struct job *job;
    struct locked_job locked;
};

/* Which of a workunit's results this user or host has is counted only for rules that ask. */
static enum status lock_jobs(struct request *request, struct job *const *chosen, size_t count,
                             struct locked_job *ret_jobs)
{
    const struct config *config = request->config;
    const struct counted_results counts = {.userid = request->visit.user.id,
                                           .hostid = request->visit.host.id};
    struct job_key *keys = ARENA_ARRAY(request->arena, count, struct job_key);
    bool has_rule = config->one_result_per_user_per_wu || config->one_result_per_host_per_wu;

    if (keys == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        keys[i] = (struct job_key){chosen[i]->resultid, chosen[i]->workunit->id};
        has_rule = has_rule || chosen[i]->assignment != JOB_GENERAL;
    }
    return db_jobs_lock(request->db, request->arena, keys, count, has_rule ? &counts : NULL,
                        ret_jobs);
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
        const char *fault = documents_fault(&attempts[i].locked.documents);
        if (fault == NULL) {
            attempts[kept++] = attempts[i];
            continue;
        }
        counter_add(COUNTER_jobs_faulty, 1);
        log_line(LOG_LEVEL_WARNING, "event=job_not_sent result=%lld host=%lld why=\"%s\"",
                 (long long)attempts[i].job->resultid, (long long)request->visit.host.id, fault);
        refuse(notes, attempts[i].job, REASON_DOCUMENT);
        source_changed(request, attempts[i].job->resultid);
        faulty->resultids[faulty->count] = attempts[i].job->resultid;
        faulty->workunitids[faulty->count++] = attempts[i].job->workunit->id;
    }
    return kept;
}

/* Drops jobs that this host's client cannot be sent, though another's may; returns how many are
 * left. */
static size_t drop_unreadable(struct request *request, struct attempt *attempts, size_t count,
                              struct choice_notes *notes)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct answer_job job =
            claim_describe(attempts[i].job, &attempts[i].locked.documents);
        const char *fault = reply_job_fault(&job, request->client_version);

        if (fault == NULL) {
            attempts[kept++] = attempts[i];
            continue;
        }
        log_line(LOG_LEVEL_WARNING, "event=job_not_sent result=%lld host=%lld why=\"%s\"",
                 (long long)job.resultid, (long long)request->visit.host.id, fault);
        refuse(notes, attempts[i].job, REASON_LONG_NAMES);
    }
    return kept;
}

static struct claim claim_of(const struct request *request, const struct host_view *view,
                             const struct attempt *attempt)
{
    const struct job *job = attempt->job;
    const struct app_row *app = job->app;
    int64_t now = (int64_t)request->now;
    /* The column has 32 bits. */
    int64_t deadline = bound_int32(now + job->delay_bound + view_grace_period(request->config));
    bool must_replicate =
        app->target_nresults > 1 && job->workunit->target_nresults == 1 && !job->option->is_trusted;

    return (struct claim){
        .resultid = job->resultid,
        .workunitid = job->workunit->id,
        .sent_time = now,
        .report_deadline = deadline,
        .is_due_before = attempt->locked.row->transition_time <= deadline,
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
                        const struct attempt *attempts, size_t count, struct choice_notes *notes,
                        struct claimed *claimed)
{
    struct claim *claims = ARENA_ARRAY(request->arena, count, struct claim);
    bool *is_claimed = ARENA_ARRAY(request->arena, count, bool);
    enum status status;

    claimed->jobs = ARENA_ARRAY(request->arena, count, struct answer_job);
    claimed->of = ARENA_ARRAY(request->arena, count, const struct job *);
    if (claims == NULL || is_claimed == NULL || claimed->jobs == NULL || claimed->of == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        claims[i] = claim_of(request, view, &attempts[i]);
    status = db_results_claim(request->db, request->arena, request->visit.host.id,
                              request->visit.user.id, claims, count, is_claimed);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const struct job *job = attempts[i].job;
        struct answer_job *answer = &claimed->jobs[claimed->count];

        if (!is_claimed[i]) {
            source_lost(request, job->resultid);
            refuse(notes, job, REASON_OTHERS_FASTER);
            claimed->lost++;
            continue;
        }
        *answer = claim_describe(job, &attempts[i].locked.documents);
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
    struct locked_job *locked = ARENA_ARRAY(request->arena, count, struct locked_job);
    size_t kept = 0;
    enum status status;

    *ret_claimed = (struct claimed){0};
    if (attempts == NULL || faulty.resultids == NULL || faulty.workunitids == NULL ||
        locked == NULL)
        return STATUS_NO_MEMORY;
    status = lock_jobs(request, chosen, count, locked);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        enum reason reason = claim_judge(view, chosen[i], locked[i].row);

        if (reason == REASON_COUNT) {
            attempts[kept++] = (struct attempt){.job = chosen[i], .locked = locked[i]};
            continue;
        }
        refuse(notes, chosen[i], reason);
        if (reason != REASON_ONE_PER_USER && reason != REASON_ONE_PER_HOST)
            source_changed(request, chosen[i]->resultid);
    }
    kept = drop_faulty(request, attempts, kept, notes, &faulty);
    kept = drop_unreadable(request, attempts, kept, notes);
    if (kept > 0)
        status = take(request, view, attempts, kept, notes, ret_claimed);
    if (status == STATUS_OK && faulty.count > 0)
        status = db_results_reject(request->db, request->arena, faulty.resultids,
                                   faulty.workunitids, faulty.count, (int64_t)request->now);
    ret_claimed->refused = count - kept;
    return status;
}
