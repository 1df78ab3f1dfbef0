/* SPDX-License-Identifier: Apache-2.0 */
/* The checks. Their order is that of the table below: what can be said from the job alone, then
 * the choice of a version, then what depends on what was given before, and the deadline last. The
 * rows that candidates come from may be seconds old; what must be exact (one per user, committed
 * version, still unsent) is looked at again under lock when the jobs are claimed. */
#include "server/policy/dispatch/checks.h"

#include "server/policy/dispatch/checks_parts.h"

#include <math.h>

#include "server/base/banned.h"

static bool app_is_in_use(struct question *question)
{
    return question->job->app != NULL && question->job->app->deprecated == 0;
}

static bool is_not_reserved(struct question *question)
{
    return question->job->workunit->transitioner_flags == 0;
}

static bool user_gets_general_jobs(struct question *question)
{
    return !question->view->only_assigned;
}

static bool workunit_is_open(struct question *question)
{
    const struct workunit_row *workunit = question->job->workunit;
    return workunit->error_mask == 0 &&
           (workunit->canonical_resultid == 0 || question->job->assignment == JOB_BROADCAST);
}

static bool app_is_wanted(struct question *question)
{
    return question->view->project->allow_non_preferred_apps ||
           app_is_selected(question->view->project, question->job->app->id);
}

static bool app_is_allowed_by_beta(struct question *question)
{
    return question->job->app->beta == 0 || question->view->project->allow_beta_work;
}

static bool batch_is_for_user(struct question *question)
{
    int64_t batch = question->job->workunit->batch;
    return !question->view->config->user_filter || batch == 0 || batch == question->view->userid;
}

bool job_is_accelerated(const struct config *config, const struct job *job)
{
    return config->batch_accel && job->app->n_size_classes > 0 && job->workunit->priority > 0;
}

static bool keywords_are_accepted(struct question *question)
{
    const struct id_list *refused = &question->view->keywords_no;
    return !question->view->config->keyword_sched ||
           keywords_among(question->job->workunit->keywords, refused->ids, refused->count) == 0;
}

static bool is_fast_enough(struct question *question)
{
    /* The column is used for this by the program that looks at batches. */
    return !job_is_accelerated(question->view->config, question->job) ||
           question->view->host->error_rate > 0;
}

static bool resource_is_allowed(struct question *question)
{
    question->name = question->view->asked.resources[question->resource].type;
    return !question->view->is_excluded[question->resource];
}

static bool host_kind_is_known(struct question *question)
{
    return app_hr_type(question->view->config, question->job->app) == HR_NONE ||
           hr_class_for(question->view, question->job->app) != 0;
}

static bool host_kind_is_right(struct question *question)
{
    int64_t committed = question->job->workunit->hr_class;
    return app_hr_type(question->view->config, question->job->app) == HR_NONE || committed == 0 ||
           committed == hr_class_for(question->view, question->job->app);
}

static bool fits_memory(struct question *question)
{
    question->need = question->job->workunit->rsc_memory_bound;
    question->have = question->view->memory;
    return question->need <= question->have;
}

static bool fits_bandwidth(struct question *question)
{
    question->need = question->job->workunit->rsc_bandwidth_bound;
    question->have = question->view->host->n_bwdown;
    return question->need <= 0 || question->have <= 0 || question->have >= question->need;
}

static bool fits_disk(struct question *question)
{
    question->need = question->job->workunit->rsc_disk_bound;
    question->have = fmax(question->tally->disk_left, 0);
    return question->need <= question->have;
}

static bool is_within_user_limit(struct question *question)
{
    question->need = (double)question->view->limits.in_progress_total;
    question->have = (double)question->tally->in_progress_total;
    return question->tally->in_progress_total < question->view->limits.in_progress_total;
}

static bool is_within_resource_limit(struct question *question)
{
    int64_t limit = question->view->limits.in_progress[question->resource];

    question->need = (double)limit;
    question->have = (double)question->tally->in_progress[question->resource];
    question->name = question->view->asked.resources[question->resource].type;
    return question->tally->in_progress[question->resource] < limit;
}

static bool is_within_project_limit(struct question *question)
{
    question->need = (double)question->view->limits.project_total;
    question->have = (double)question->tally->in_progress_total;
    question->name = question->view->config->long_name;
    return question->tally->in_progress_total < question->view->limits.project_total;
}

static bool is_within_app_limit(struct question *question)
{
    const struct tally *tally = question->tally;

    for (size_t i = 0; i < tally->app_limit_count; i++) {
        const struct app_limit *limit = &tally->app_limits[i];
        int64_t all = tally->app_counts[i].total;
        int64_t here = tally->app_counts[i].by_resource[question->resource];
        bool is_full = all >= limit->total;

        if (limit->appid != question->job->app->id ||
            (!is_full && here < limit->by_resource[question->resource]))
            continue;
        question->need = (double)(is_full ? limit->total : limit->by_resource[question->resource]);
        question->have = (double)(is_full ? all : here);
        return false;
    }
    return true;
}

/* A project with a share of 0 fills idle processors and makes no stock of jobs. */
static bool is_for_idle_processor(struct question *question)
{
    const struct amounts *left = &question->tally->left;

    question->name = question->view->asked.resources[question->resource].type;
    return !question->view->is_backup || left->is_scalar ||
           left->resources[question->resource].instances > 0;
}

static bool workunit_is_in_reply(const struct tally *tally, int64_t workunitid)
{
    for (size_t i = 0; i < tally->workunit_count; i++)
        if (tally->workunits[i] == workunitid)
            return true;
    return false;
}

static bool is_first_for_host(struct question *question)
{
    return !question->view->config->one_result_per_host_per_wu ||
           !(question->job->met_host ||
             workunit_is_in_reply(question->tally, question->job->workunit->id));
}

static bool is_first_for_user(struct question *question)
{
    return !question->view->config->one_result_per_user_per_wu ||
           !(question->job->met_user ||
             workunit_is_in_reply(question->tally, question->job->workunit->id));
}

enum {
    NEW = 1 << CHECK_NEW | 1 << CHECK_UNTIMED,
    TIMED = 1 << CHECK_NEW,
    ALWAYS_ON = 1 << CHECK_ALWAYS_ON,
    ASSIGNED = 1 << CHECK_ASSIGNED,
    RESEND = 1 << CHECK_RESEND
};

static const struct {
    enum reason reason; /* of a refusal; the version choice brings its own */
    unsigned kinds;     /* of check that it belongs to */
    bool (*passes)(struct question *question);
} checks[] = {
    {REASON_APP_GONE, NEW | ALWAYS_ON | ASSIGNED | RESEND, app_is_in_use},
    {REASON_RESERVED, NEW | ALWAYS_ON, is_not_reserved},
    {REASON_ONLY_ASSIGNED, NEW | ALWAYS_ON, user_gets_general_jobs},
    {REASON_WORKUNIT_OVER, NEW | ALWAYS_ON | ASSIGNED | RESEND, workunit_is_open},
    {REASON_APP_NOT_SELECTED, NEW | ALWAYS_ON | ASSIGNED | RESEND, app_is_wanted},
    {REASON_APP_BETA, NEW | ALWAYS_ON | ASSIGNED, app_is_allowed_by_beta},
    {REASON_KEYWORD, NEW | ALWAYS_ON, keywords_are_accepted},
    {REASON_OTHER_USER, NEW | ALWAYS_ON, batch_is_for_user},
    {REASON_TURNAROUND, NEW, is_fast_enough},
    {REASON_RESOURCE_EXCLUDED, NEW | ALWAYS_ON | ASSIGNED, resource_is_allowed},
    {REASON_HR_UNKNOWN, NEW | ALWAYS_ON | ASSIGNED, host_kind_is_known},
    {REASON_HR_COMMITTED, NEW | ALWAYS_ON | ASSIGNED, host_kind_is_right},
    {REASON_COUNT, NEW | ALWAYS_ON | ASSIGNED | RESEND, version_is_found},
    {REASON_MEMORY, NEW | ALWAYS_ON | ASSIGNED | RESEND, fits_memory},
    {REASON_BANDWIDTH, NEW | ALWAYS_ON, fits_bandwidth},
    {REASON_DISK, NEW | ALWAYS_ON | ASSIGNED | RESEND, fits_disk},
    {REASON_BACKUP, NEW, is_for_idle_processor},
    {REASON_ONE_PER_USER, NEW | ALWAYS_ON, is_first_for_user},
    {REASON_ONE_PER_HOST, NEW | ALWAYS_ON, is_first_for_host},
    {REASON_USER_MAX_JOBS, NEW | ALWAYS_ON, is_within_user_limit},
    {REASON_IN_PROGRESS, NEW | ALWAYS_ON, is_within_project_limit},
    {REASON_IN_PROGRESS, NEW | ALWAYS_ON, is_within_resource_limit},
    {REASON_IN_PROGRESS, NEW | ALWAYS_ON, is_within_app_limit},
    {REASON_COUNT, TIMED, meets_deadline},
};

/* Of what a check left in the question. */
static struct refusal refusal_of(const struct question *question, enum reason reason)
{
    return (struct refusal){
        .reason = reason, .name = question->name, .need = question->need, .have = question->have};
}

bool job_check(const struct host_view *view, const struct tally *tally, enum check_kind kind,
               size_t resource, struct job *job, struct refusal *ret_refusal)
{
    struct question question = {
        .view = view, .tally = tally, .kind = kind, .resource = resource, .job = job};

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if ((checks[i].kinds & (1U << kind)) == 0)
            continue;
        question.need = question.have = 0;
        question.name = job->app != NULL ? job->app->user_friendly_name : NO_TEXT;
        if (checks[i].passes(&question))
            continue;
        *ret_refusal = checks[i].reason == REASON_COUNT ? question.why
                                                        : refusal_of(&question, checks[i].reason);
        return false;
    }
    return true;
}

bool resource_is_closed(const struct host_view *view, const struct tally *tally, size_t resource,
                        struct refusal *ret_refusal)
{
    /* Of the checks above those that do not look at the job, most useful first. */
    static const struct {
        enum reason reason;
        bool (*passes)(struct question *question);
    } closing[] = {{REASON_RESOURCE_EXCLUDED, resource_is_allowed},
                   {REASON_BACKUP, is_for_idle_processor},
                   {REASON_USER_MAX_JOBS, is_within_user_limit},
                   {REASON_IN_PROGRESS, is_within_project_limit},
                   {REASON_IN_PROGRESS, is_within_resource_limit}};

    for (size_t i = 0; i < sizeof(closing) / sizeof(closing[0]); i++) {
        struct question question = {.view = view, .tally = tally, .resource = resource};

        if (closing[i].passes(&question))
            continue;
        *ret_refusal = refusal_of(&question, closing[i].reason);
        return true;
    }
    return false;
}
