/* SPDX-License-Identifier: Apache-2.0 */
/* The checks. Their order is that of the table below: what can be said from the job alone, then
 * the choice of a version, then what depends on what was given before, and the deadline last. The
 * rows that candidates come from may be seconds old; what must be exact (one per user, committed
 * version, still unsent) is looked at again under lock when the jobs are claimed. */
#include "server/policy/checks.h"

#include "server/base/arena.h"
#include "server/policy/reliable.h"

#include <math.h>

#include "server/base/banned.h"

#define MEMORY_DEFAULT 64e6

double memory_usable(double m_nbytes, const struct global_preferences *preferences)
{
    double busy = preferences->ram_max_used_busy_fraction;
    double idle = preferences->ram_max_used_idle_fraction;
    double bytes = m_nbytes > 0 ? m_nbytes : MEMORY_DEFAULT;

    if (busy > 0 && idle > 0)
        bytes *= fmin(1, fmax(busy, idle));
    return bytes;
}

bool resource_is_excluded(const struct project_preferences *project, size_t resource,
                          struct text type)
{
    if (resource == RESOURCE_CPU)
        return project->no_cpu;
    if (project->no_gpus)
        return true;
    for (size_t i = 0; i < project->no_resource_count; i++)
        if (text_equal_nocase(project->no_resources[i], type))
            return true;
    return false;
}

bool app_is_selected(const struct project_preferences *project, int64_t appid)
{
    for (size_t i = 0; i < project->app_id_count; i++)
        if (project->app_ids[i] == appid)
            return true;
    return project->app_id_count == 0;
}

enum hr_type app_hr_type(const struct config *config, const struct app_row *app)
{
    int64_t type = app->homogeneous_redundancy != HR_NONE ? app->homogeneous_redundancy
                                                          : config->homogeneous_redundancy;
    return type == HR_NONE ? HR_NONE : type == HR_FINE ? HR_FINE : HR_COARSE;
}

int64_t hr_class_for(const struct host_view *view, const struct app_row *app)
{
    enum hr_type type = app_hr_type(view->config, app);
    return type == HR_NONE ? 0 : view->hr_classes[type];
}

bool tally_begin(const struct host_view *view, struct arena *arena, size_t jobs_max,
                 struct tally *ret_tally)
{
    struct tally *tally = ret_tally;

    *tally = (struct tally){.left = view->asked,
                            .disk_left = view->disk,
                            .in_progress_total = view->in_progress_total,
                            .workload = view->workload,
                            .workunit_capacity = jobs_max,
                            .shares = view->shares};
    tally->app_limits = view->app_limits;
    tally->app_limit_count = view->app_limit_count;
    tally->app_counts = ARENA_ARRAY(arena, view->app_limit_count, struct app_count);
    if (tally->app_counts == NULL)
        return false;
    for (size_t i = 0; i < view->app_limit_count; i++)
        tally->app_counts[i] = view->app_counts[i];
    if (view->workload != NULL)
        edf_reset(view->workload->edf);
    tally->option_jobs = ARENA_ARRAY(arena, view->options.count, int64_t);
    tally->workunits = ARENA_ARRAY(arena, jobs_max, int64_t);
    if (tally->option_jobs == NULL || tally->workunits == NULL)
        return false;
    for (size_t i = 0; i < view->asked.resource_count; i++) {
        const struct resource *resource = &view->asked.resources[i];
        tally->in_progress[i] = view->in_progress[i];
        if (!busy_make(arena, resource->count, resource->estimated_delay, &tally->busy[i]))
            return false;
    }
    return true;
}

double deadline_margin(const struct config *config, const struct version_option *option)
{
    return fmax(fmax(config->deadline_margin, option->is_untried ? config->untried_margin : 1), 1);
}

void tally_take_resent(struct tally *tally, const struct tally_use *use)
{
    size_t resource = use->use.resource;
    struct edf_job job = workload_job(&use->use, use->deadline);

    job.wall_time *= use->margin;
    if (!use->is_always_on) {
        amounts_take(&tally->left, &use->use);
        busy_book(&tally->busy[resource], use->use.instances, use->use.wall_time);
        if (tally->workload != NULL && !use->is_queued)
            edf_take(tally->workload->edf, &job);
    }
    tally->disk_left -= fmax(use->disk, 0);
    tally->jobs++;
    tally->in_progress[resource]++;
    tally->in_progress_total++;
    for (size_t i = 0; i < tally->app_limit_count; i++)
        if (tally->app_limits[i].appid == use->appid) {
            tally->app_counts[i].total++;
            tally->app_counts[i].by_resource[resource]++;
        }
    if (tally->workunit_count < tally->workunit_capacity)
        tally->workunits[tally->workunit_count++] = use->workunitid;
}

void tally_take(struct tally *tally, const struct host_view *view, const struct job *job)
{
    const struct tally_use use = {.use = job->use,
                                  .workunitid = job->workunit->id,
                                  .appid = job->app->id,
                                  .disk = job->workunit->rsc_disk_bound,
                                  .deadline = (double)job->delay_bound,
                                  .margin = deadline_margin(view->config, job->option),
                                  .is_always_on = job->app->non_cpu_intensive != 0};

    tally_take_resent(tally, &use);
    tally->option_jobs[job->option - view->options.items]++;
    if (view->streams != NULL)
        stream_charge(view->streams, &tally->shares, job->stream, job->workunit->rsc_fpops_est);
}

struct question {
    const struct host_view *view;
    const struct tally *tally;
    enum check_kind kind;
    size_t resource;
    struct job *job;
    double need, have; /* for the refusal */
    struct text name;
    struct refusal why; /* of checks that know more than one reason */
};

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

static bool version_is_found(struct question *question)
{
    const struct host_view *view = question->view;
    struct job *job = question->job;
    struct version_demand demand = {
        .appid = job->app->id,
        .workunitid = job->workunit->id,
        .batch = job->workunit->batch,
        .version_num = job->workunit->app_version_num,
        .is_homogeneous = job->app->homogeneous_app_version != 0,
        .needs_64bit = job_needs_64bit(job->workunit->rsc_memory_bound, view->host->os_name),
        .resource = question->resource,
        .client_version = view->client_version,
        .allow_beta = view->project->allow_beta_work,
        .prefer_primary_platform = view->config->prefer_primary_platform,
        .is_resend = question->kind == CHECK_RESEND,
        .needs_reliable = question->kind != CHECK_ASSIGNED && job->app->beta == 0 &&
                          priority_needs_reliable(view->config, job->priority),
    };

    if (demand.is_homogeneous)
        demand.committed_id = job->workunit->app_version_id;
    else if (question->kind == CHECK_RESEND)
        demand.committed_id = job->sent_version_id > 0 ? job->sent_version_id : 0;
    job->option =
        version_choose(&view->options, &demand, question->tally->option_jobs, &question->why);
    if (job->option == NULL && demand.committed_id != 0 && !demand.is_homogeneous) {
        demand.committed_id = 0; /* the version of then is gone; another does */
        job->option =
            version_choose(&view->options, &demand, question->tally->option_jobs, &question->why);
    }
    if (job->option == NULL) {
        question->why.name = job->app->user_friendly_name;
        question->why.type = view->asked.resources[question->resource].type;
        if (view->message->anonymous_platform && question->why.reason == REASON_VERSION_PLATFORM)
            question->why.reason = REASON_ANONYMOUS_VERSION;
        return false;
    }
    job->use = (struct amount_use){
        .resource = question->resource,
        .instances = question->resource == RESOURCE_CPU ? job->option->usage.avg_ncpus
                                                        : job->option->usage.coproc_count,
        .cpus = job->option->usage.avg_ncpus,
        .wall_time = estimate_wall_time(
            job->workunit->rsc_fpops_est, job->option->usage.projected_flops,
            question->resource == RESOURCE_CPU ? view->availability.cpu : view->availability.gpu,
            view->correction),
    };
    job->delay_bound = job->workunit->delay_bound;
    if (demand.needs_reliable)
        job->delay_bound = reduced_delay_bound(
            job->delay_bound, view->config->reliable_reduced_delay_bound, job->use.wall_time);
    return true;
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

static bool meets_deadline_plainly(struct question *question)
{
    struct job *job = question->job;
    const struct busy *busy = &question->tally->busy[question->resource];

    question->have = busy_finish(busy, job->use.instances, job->use.wall_time);
    if (!deadline_is_met(question->have, (double)job->delay_bound))
        job->delay_bound = job->workunit->delay_bound; /* a reduced one is a wish */
    question->need = (double)job->delay_bound;
    question->why = (struct refusal){.reason = REASON_DEADLINE,
                                     .name = question->name,
                                     .need = question->need,
                                     .have = question->have};
    return deadline_is_met(question->have, question->need);
}

/* The words for a deadline that the workload does not allow. */
static void explain_workload(struct question *question, enum workload_answer answer,
                             const struct edf_reason *reason)
{
    const struct workload *workload = question->view->workload;
    struct refusal *why = &question->why;

    *why = (struct refusal){.reason = REASON_DEADLINE,
                            .name = question->name,
                            .need = (double)question->job->delay_bound,
                            .have = reason->finish};
    if (answer == WORKLOAD_CONNECTION) {
        why->reason = REASON_CONNECTION;
        why->have = workload->connection_period;
    } else if (answer == WORKLOAD_UNKNOWN) {
        why->reason = REASON_QUEUE_TOO_LARGE;
        why->need = why->have = (double)workload->count;
    } else if (answer == WORKLOAD_DELAYS) {
        why->reason = REASON_QUEUE_DEADLINE;
        why->need = 0;
        why->have = reason->lateness_after - reason->lateness_before;
    }
    if (reason->has_listed) {
        why->task = workload->names[reason->listed];
        why->task_left = workload->jobs[reason->listed].wall_time;
        why->task_due = workload->jobs[reason->listed].deadline;
    }
}

static bool skips_connection(const struct question *question)
{
    struct text rule = question->view->config->edf_min_queue;

    /* A job of another resource counts as well: then the rule is kept rather than not. */
    if (text_is(rule, "when_not_idle"))
        return (double)question->view->workload->count + (double)question->tally->jobs <
               question->view->asked.resources[question->resource].count;
    return text_is(rule, "never");
}

static bool meets_deadline(struct question *question)
{
    struct job *job = question->job;
    enum workload_answer answer;
    struct edf_reason reason;
    struct edf_job asked;

    if (question->view->config->ignore_delay_bound)
        return true;
    if (question->view->workload == NULL)
        return meets_deadline_plainly(question);
    asked = workload_job(&job->use, (double)job->delay_bound);
    asked.wall_time *= deadline_margin(question->view->config, job->option);
    answer = workload_try(question->view->workload, &asked, skips_connection(question), &reason);
    if (answer != WORKLOAD_IN_TIME && job->delay_bound != job->workunit->delay_bound) {
        job->delay_bound = job->workunit->delay_bound; /* a reduced one is a wish */
        asked.deadline = (double)job->delay_bound;
        answer =
            workload_try(question->view->workload, &asked, skips_connection(question), &reason);
    }
    if (answer == WORKLOAD_IN_TIME)
        return true;
    explain_workload(question, answer, &reason);
    return false;
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
        if (checks[i].reason == REASON_COUNT)
            *ret_refusal = question.why;
        else
            *ret_refusal = (struct refusal){.reason = checks[i].reason,
                                            .name = question.name,
                                            .need = question.need,
                                            .have = question.have};
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
        *ret_refusal = (struct refusal){.reason = closing[i].reason,
                                        .name = question.name,
                                        .need = question.need,
                                        .have = question.have};
        return true;
    }
    return false;
}
