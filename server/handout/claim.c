/* SPDX-License-Identifier: Apache-2.0 */
/* Claiming. What was chosen is a hint until here. In this order:
 *
 *   lock the workunits, by id     the rules that span instances of a workunit (not over, one per
 *   and the results               user and host, committed version) hold from here to the commit;
 *                                 what is not unsent any more is lost, whoever got it, and when;
 *                                 documents come along: what cannot be written is not taken
 *   update                        of the others
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
#include "server/policy/result/reconcile.h"
#include "server/policy/version/buda.h"
#include "server/project/document_check.h"
#include "server/reply/answer.h"
#include "server/reply/reply.h"
#include "server/rpc/request.h"
#include "server/rpc/world.h"

#include "server/base/banned.h"

/* One chosen job on its way. */
struct locked_choice {
    const struct job *job;
    struct locked_job locked;
};

/* Which of a workunit's results this user or host has is counted only for rules that ask. */
static enum status lock_jobs(struct request *request, struct job *const *chosen, size_t count,
                             struct locked_job *ret_jobs)
{
    const struct config *config = request->config;
    const struct counted_results counts = {.userid = request->attempt.user.id,
                                           .hostid = request->attempt.host.id};
    struct job_key *keys = ARENA_ARRAY(request->arena, count, struct job_key);
    const struct workunit_row **believed =
        ARENA_ARRAY(request->arena, count, const struct workunit_row *);
    bool has_rule = config->one_result_per_user_per_wu || config->one_result_per_host_per_wu;

    if (keys == NULL || believed == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        believed[i] = chosen[i]->workunit;
        keys[i] = (struct job_key){chosen[i]->resultid, chosen[i]->workunit->id};
        has_rule = has_rule || chosen[i]->assignment != JOB_GENERAL;
    }
    return request->world->jobs_lock(request, keys, believed, count, has_rule ? &counts : NULL,
                                     ret_jobs);
}

/* The class and version that the workunit gets committed to by this job bind the next one. */
static void commit_workunit(const struct host_view *view, const struct job *job,
                            struct locked_workunit *row)
{
    if (app_hr_type(view->config, job->app) != HR_NONE)
        row->hr_class = hr_class_for(view, job->app);
    if (job->app->homogeneous_app_version != 0)
        row->app_version_id = job->option->app_version_id;
}

static void refuse(struct refusals *refused, const struct job *job, enum reason reason)
{
    struct refusal refusal = {.reason = reason, .name = job->app->user_friendly_name};
    refusals_add(refused, &refusal);
}

/* Jobs that nobody can be sent. */
struct faulty {
    int64_t *resultids, *workunitids;
    size_t count;
};

/* Whether the job can be written. One that nobody can be sent is noted as faulty; one that only
 * this host's client cannot read stays for others, and one without a variant until there is one. */
static enum reason judge_documents(struct request *request, const struct locked_choice *choice,
                                   struct faulty *faulty)
{
    const struct job *job = choice->job;
    const struct answer_job described = claim_describe(job, &choice->locked.documents);
    const char *fault = reply_job_fault(&described, request->client_version), *of_documents;

    if (fault == NULL)
        return REASON_COUNT;
    of_documents = documents_fault(&choice->locked.documents);
    log_line(LOG_LEVEL_WARNING, "event=job_not_sent result=%lld host=%lld why=\"%s\"",
             (long long)job->resultid, (long long)request->attempt.host.id,
             of_documents != NULL ? of_documents : fault);
    if (reply_lacks_variant(&described))
        return REASON_BUDA_APP;
    if (of_documents == NULL)
        return REASON_LONG_NAMES;
    counter_add(COUNTER_jobs_faulty, 1);
    faulty->resultids[faulty->count] = job->resultid;
    faulty->workunitids[faulty->count++] = job->workunit->id;
    return REASON_DOCUMENT;
}

/* Whether the pool may offer the job to others as it holds it. */
static bool stays_as_it_is(enum reason reason)
{
    return reason == REASON_ONE_PER_USER || reason == REASON_ONE_PER_HOST ||
           reason == REASON_LONG_NAMES;
}

/* Of what was locked, what may be taken; returns how many these are. */
static size_t judge_locked(struct request *request, const struct host_view *view,
                           struct job *const *chosen, const struct locked_job *locked, size_t count,
                           struct refusals *refused, struct faulty *faulty,
                           struct locked_choice *ret_choices, struct claimed *claimed)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct locked_choice choice = {.job = chosen[i], .locked = locked[i]};
        enum reason reason = job_check_locked(view, chosen[i], locked[i].row);

        if (reason == REASON_COUNT && !locked[i].is_unsent) {
            source_lost(request, chosen[i]->resultid);
            refuse(refused, chosen[i], REASON_OTHERS_FASTER);
            claimed->lost++;
            continue;
        }
        if (reason == REASON_COUNT && request->world->has_documents)
            reason = judge_documents(request, &choice, faulty);
        if (reason == REASON_COUNT) {
            commit_workunit(view, chosen[i], locked[i].row);
            ret_choices[kept++] = choice;
            continue;
        }
        refuse(refused, chosen[i], reason);
        claimed->over += reason == REASON_WORKUNIT_OVER;
        if (!stays_as_it_is(reason))
            source_changed(request, chosen[i]->resultid);
    }
    return kept;
}

static struct claim claim_of(const struct request *request, const struct host_view *view,
                             const struct locked_choice *choice)
{
    const struct job *job = choice->job;
    const struct app_row *app = job->app;
    int64_t now = (int64_t)request->now;
    int64_t grace = grace_period(request->config);
    int64_t open = now + job->open_bound, latest = deadline_latest(grace);
    /* In the last seconds before `latest`, and after it, the least delay bound leads beyond it. */
    int64_t deadline = (open < latest ? open : latest) + grace;
    /* Of an assigned job the other instance would be for the same hosts, perhaps for this one. */
    bool must_replicate = app->target_nresults > 1 && job->workunit->target_nresults == 1 &&
                          !job->option->is_trusted && job->assignment == JOB_GENERAL;

    return (struct claim){
        .resultid = job->resultid,
        .workunitid = job->workunit->id,
        .sent_time = now,
        .report_deadline = deadline,
        .is_due_before = choice->locked.row->transition_time <= deadline,
        .app_version_id = job->option->app_version_id,
        .flops_estimate = job->option->stored_peak,
        .variant = job->option->variant != NULL ? job->option->variant->number : 0,
        .commit_hr_class = hr_class_for(view, app),
        .commit_app_version_id =
            app->homogeneous_app_version != 0 ? job->option->app_version_id : 0,
        .replicate_target = must_replicate ? app->target_nresults : 0,
    };
}

/* What the client goes by. */
static int64_t told_deadline(const struct request *request, const struct job *job,
                             const struct claim *claim)
{
    int64_t latest = claim->report_deadline - grace_period(request->config);
    int64_t told = (int64_t)request->now + job->delay_bound;

    return told < latest ? told : latest;
}

struct answer_job claim_describe(const struct job *job, const struct job_documents *documents)
{
    const struct workunit_row *workunit = job->workunit;

    return (struct answer_job){
        .resultid = job->resultid,
        .workunitid = workunit->id,
        .appid = job->app->id,
        .app_version_id = job->option->app_version_id,
        .app = job->app,
        .version = job->option->version,
        .anonymous = job->option->anonymous,
        .platform = job->option->anonymous != NULL ? NO_TEXT : job->option->platform,
        .workunit = workunit,
        .priority = job->priority,
        .is_assigned = job->assignment != JOB_GENERAL,
        .usage = job->option->usage,
        .variant = job->option->variant,
        .wrapper_usage = job->option->wrapper != NULL ? &job->option->wrapper->usage : NULL,
        .fpops_scale = job->option->fpops_scale,
        .wall_time = job->use.wall_time,
        .margin = job->margin,
        .rsc_fpops_est = workunit->rsc_fpops_est,
        .rsc_fpops_bound = workunit->rsc_fpops_bound * job->option->bound_scale,
        .rsc_memory_bound =
            job->option->memory > 0 ? job->option->memory : workunit->rsc_memory_bound,
        .rsc_disk_bound = workunit->rsc_disk_bound,
        .keywords = workunit->keywords,
        .documents = *documents,
    };
}

/* Who makes jobs that are due when times do not fit their columns should know it. */
static void report_capped(const struct request *request, const struct host_view *view,
                          const struct claimed *claimed)
{
    size_t count = 0;

    for (size_t i = 0; i < claimed->count; i++)
        count += claimed->of[i]->workunit->delay_bound > view->delay_bound_most;
    if (count == 0)
        return;
    counter_add(COUNTER_deadlines_capped, count);
    log_line(LOG_LEVEL_WARNING, "event=deadlines_capped jobs=%zu host=%lld until=%lld", count,
             (long long)request->attempt.host.id,
             (long long)deadline_latest(grace_period(request->config)));
}

static enum status take(struct request *request, const struct host_view *view,
                        const struct locked_choice *choices, size_t count, struct claimed *claimed)
{
    struct claim *claims = ARENA_ARRAY(request->arena, count, struct claim);
    enum status status;

    claimed->jobs = ARENA_ARRAY(request->arena, count, struct answer_job);
    claimed->of = ARENA_ARRAY(request->arena, count, const struct job *);
    if (claims == NULL || claimed->jobs == NULL || claimed->of == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        claims[i] = claim_of(request, view, &choices[i]);
    status = request->world->results_claim(request, claims, count);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        claimed->jobs[i] = claim_describe(choices[i].job, &choices[i].locked.documents);
        claimed->jobs[i].is_checked = request->world->has_documents;
        claimed->jobs[i].report_deadline = told_deadline(request, choices[i].job, &claims[i]);
        claimed->of[i] = choices[i].job;
    }
    claimed->count = count;
    report_capped(request, view, claimed);
    return STATUS_OK;
}

enum status claim_jobs(struct request *request, const struct host_view *view,
                       struct job *const *chosen, size_t count, struct refusals *refused,
                       struct claimed *ret_claimed)
{
    struct locked_choice *choices = ARENA_ARRAY(request->arena, count, struct locked_choice);
    struct faulty faulty = {.resultids = ARENA_ARRAY(request->arena, count, int64_t),
                            .workunitids = ARENA_ARRAY(request->arena, count, int64_t)};
    struct locked_job *locked = ARENA_ARRAY(request->arena, count, struct locked_job);
    size_t kept = 0;
    enum status status;

    *ret_claimed = (struct claimed){0};
    if (choices == NULL || faulty.resultids == NULL || faulty.workunitids == NULL || locked == NULL)
        return STATUS_NO_MEMORY;
    status = lock_jobs(request, chosen, count, locked);
    if (status != STATUS_OK)
        return status;
    kept =
        judge_locked(request, view, chosen, locked, count, refused, &faulty, choices, ret_claimed);
    counter_add(COUNTER_claims_lost, ret_claimed->lost);
    if (kept > 0)
        status = take(request, view, choices, kept, ret_claimed);
    if (status == STATUS_OK && faulty.count > 0)
        status = db_results_reject(request->db, request->arena, faulty.resultids,
                                   faulty.workunitids, faulty.count, (int64_t)request->now);
    ret_claimed->refused = count - kept - ret_claimed->lost;
    return status;
}
