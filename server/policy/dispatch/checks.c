/* SPDX-License-Identifier: Apache-2.0 */
/* The checks. Their order is that of checks.def: what can be said from the job alone, then the
 * choice of a version, then what depends on what was given before, and the deadline last. The rows
 * that candidates come from may be seconds old; what must be exact (one per user, committed
 * version, still unsent) is checked again under lock when the jobs are claimed.
 *
 * A check looks at nothing that is not known at its shallowest depth, and leaves figures and a name
 * in the question only where it refuses. */
#include "server/policy/dispatch/checks.h"

#include "db/db.h"
#include "server/base/sorted.h"
#include "server/parse/message.h"
#include "server/policy/version/buda.h"
#include "server/policy/version/reliability.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define EQUAL_INSTANCES 1e-6 /* what rounding makes of parts */
/* What rounding may make of a limit. */
#define SPEED_SLACK (1 + 1e-9)

/* One check of one job: what it asks, and what it leaves for the refusal. */
struct job_question {
    const struct host_view *view;
    const struct tally *tally;
    enum check_kind kind;
    size_t resource;
    struct job *job;     /* NULL: of any job */
    double need, have;   /* for the refusal */
    struct text name;    /* empty: the app's */
    struct refusal *why; /* of checks that know more than one reason */
};

/* An amount that is needed, and the most there is. */
static bool is_enough(struct job_question *question, double need, double have)
{
    if (need <= have)
        return true;
    question->need = need;
    question->have = have;
    return false;
}

/* One more than there are. */
static bool is_below(struct job_question *question, int64_t count, int64_t limit)
{
    if (count < limit)
        return true;
    question->need = (double)limit;
    question->have = (double)count;
    return false;
}

static struct text resource_name(const struct job_question *question)
{
    return message_type_name(question->view->asked.resources[question->resource].type);
}

/* Whether the processor passes, which the refusal names. */
static bool name_resource(struct job_question *question, bool passes)
{
    if (!passes)
        question->name = resource_name(question);
    return passes;
}

/* --- the job, the user and the project -------------------------------------------------------- */

static bool app_is_in_use(struct job_question *question)
{
    return question->job->app != NULL && question->job->app->deprecated == 0;
}

static bool is_not_reserved(struct job_question *question)
{
    return question->job->workunit->transitioner_flags == 0;
}

static bool user_gets_general_jobs(struct job_question *question)
{
    return !question->view->only_assigned;
}

static bool workunit_is_open(struct job_question *question)
{
    const struct workunit_row *workunit = question->job->workunit;
    return workunit->error_mask == 0 &&
           (workunit->canonical_resultid == 0 || question->job->assignment == JOB_BROADCAST);
}

static bool app_is_wanted(struct job_question *question)
{
    return question->view->project->allow_non_preferred_apps ||
           app_is_selected(question->view->project, question->job->app->id);
}

static bool app_is_allowed_by_beta(struct job_question *question)
{
    return question->job->app->beta == 0 || question->view->project->allow_beta_work;
}

static bool batch_is_for_user(struct job_question *question)
{
    int64_t batch = question->job->workunit->batch;
    return !question->view->config->user_filter || batch == 0 || batch == question->view->userid;
}

static bool keywords_are_accepted(struct job_question *question)
{
    const struct id_list *refused = &question->view->keywords_no;
    return !question->view->config->keyword_sched ||
           keywords_among(question->job->workunit->keywords, refused->ids, refused->count) == 0;
}

/* Within how many s a host must return jobs of the batch, on the average; 0: any host may have
 * them. */
static int64_t hurry_within(const struct host_view *view, int64_t batch)
{
    const struct hurry_row wanted = {.id = batch}, *found;

    if (batch == 0 || view->hurry_count == 0)
        return 0;
    found = bsearch(&wanted, view->hurries, view->hurry_count, sizeof wanted, sorted_compare_ids);
    return found != NULL ? found->within : 0;
}

static bool returns_other_apps(const struct host_view *view, const struct app_row *app)
{
    const struct option_span all = version_options_all(&view->options);

    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].app != app && all.items[i].turnaround > 0)
            return true;
    return false;
}

/* How soon the host returns jobs like this one, s. Where they are all of one app, its latest ones
 * tell best: those of a version are a mean of very many. Where they are not, those of the version
 * with which it is soonest; jobs of all apps while none has come back, and for the client's own
 * versions, of which it may list many. 0: not known. */
static double usual_turnaround(const struct host_view *view, const struct job *job)
{
    const struct option_span span = version_options_for(&view->options, job->workunit->buda_app);
    double least = 0;

    if (view->options.own != NULL || !returns_other_apps(view, job->app))
        return view->host->avg_turnaround;
    for (size_t i = 0; i < span.count; i++) {
        const struct version_option *option = &span.items[i];

        if (option->app == job->app && option->is_runnable && option->turnaround > 0 &&
            (least == 0 || option->turnaround < least))
            least = option->turnaround;
    }
    return least > 0 ? least : view->host->avg_turnaround;
}

/* A host of which nothing is known is none. */
static bool returns_soon(struct job_question *question)
{
    double within = (double)hurry_within(question->view, question->job->workunit->batch);
    double turnaround;

    if (within == 0)
        return true;
    turnaround = usual_turnaround(question->view, question->job);
    if (turnaround > 0 && turnaround <= within)
        return true;
    question->need = within;
    question->have = turnaround;
    return false;
}

static bool is_fast_enough(struct job_question *question)
{
    /* The project's program for batches keeps this in the column. */
    return !job_is_accelerated(question->view->config, question->job) ||
           question->view->host->error_rate > 0;
}

static bool resource_is_allowed(struct job_question *question)
{
    return name_resource(question, !question->view->is_excluded[question->resource]);
}

static bool host_kind_is_known(struct job_question *question)
{
    return app_hr_type(question->view->config, question->job->app) == HR_NONE ||
           hr_class_for(question->view, question->job->app) != 0;
}

static bool host_kind_is_right(struct job_question *question)
{
    int64_t committed = question->job->workunit->hr_class;
    return app_hr_type(question->view->config, question->job->app) == HR_NONE || committed == 0 ||
           committed == hr_class_for(question->view, question->job->app);
}

static double memory_most(const struct host_view *view, double speed)
{
    (void)speed;
    return view->memory;
}

static bool fits_memory(struct job_question *question)
{
    return is_enough(question, question->job->workunit->rsc_memory_bound,
                     memory_most(question->view, 0));
}

/* A download that was never measured is no reason. */
static double bandwidth_most(const struct host_view *view, double speed)
{
    (void)speed;
    return view->host->n_bwdown > 0 ? view->host->n_bwdown : HUGE_VAL;
}

static bool fits_bandwidth(struct job_question *question)
{
    return is_enough(question, question->job->workunit->rsc_bandwidth_bound,
                     bandwidth_most(question->view, 0));
}

/* Nobody knows of free space: neither did the client tell of it, now or before. */
static bool disk_is_known(struct job_question *question)
{
    return !question->view->disk_is_unknown ||
           is_enough(question, question->job->workunit->rsc_disk_bound, 0);
}

/* Before the reply takes any. */
static double disk_most(const struct host_view *view, double speed)
{
    (void)speed;
    return fmax(view->disk, 0);
}

static bool fits_disk(struct job_question *question)
{
    return is_enough(question, question->job->workunit->rsc_disk_bound,
                     fmax(question->tally->disk_left, 0));
}

static bool is_within_user_limit(struct job_question *question)
{
    return is_below(question, question->tally->in_progress_total,
                    question->view->limits.in_progress_total);
}

static bool is_within_resource_limit(struct job_question *question)
{
    return name_resource(question,
                         is_below(question, question->tally->in_progress[question->resource],
                                  question->view->limits.in_progress[question->resource]));
}

static bool is_within_project_limit(struct job_question *question)
{
    if (is_below(question, question->tally->in_progress_total,
                 question->view->limits.project_total))
        return true;
    question->name = question->view->config->long_name;
    return false;
}

static bool is_within_app_limit(struct job_question *question)
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
        return is_below(question, is_full ? all : here,
                        is_full ? limit->total : limit->by_resource[question->resource]);
    }
    return true;
}

/* A project with a share of 0 fills idle processors and makes no stock of jobs. */
static bool is_for_idle_processor(struct job_question *question)
{
    const struct amounts *left = &question->tally->left;

    return name_resource(question, !question->view->is_backup || left->is_scalar ||
                                       amounts_wants_instances(left, question->resource));
}

static bool workunit_is_in_reply(const struct tally *tally, int64_t workunitid)
{
    for (size_t i = 0; i < tally->workunit_count; i++)
        if (tally->workunits[i] == workunitid)
            return true;
    return false;
}

static bool is_first_for_host(struct job_question *question)
{
    return !question->view->config->one_result_per_host_per_wu ||
           !(question->job->host_had_one ||
             workunit_is_in_reply(question->tally, question->job->workunit->id));
}

static bool is_first_for_user(struct job_question *question)
{
    return !question->view->config->one_result_per_user_per_wu ||
           !(question->job->user_had_one ||
             workunit_is_in_reply(question->tally, question->job->workunit->id));
}

/* Of what is assigned each host has one, whatever the configuration says. */
static bool host_had_none(struct job_question *question)
{
    return !question->job->host_had_one;
}

/* Instances that idle beside the queue and what was chosen. The client knows it best, since it
 * lists suspended jobs too. */
static double idle_instances(const struct tally *tally, size_t resource)
{
    const struct resource *left = &tally->left.resources[resource];

    return left->tells_idle ? left->instances : left->count - tally->occupied[resource];
}

/* Whether as many of them idle as the job takes: it would not queue. */
static bool idles_for(const struct job_question *question)
{
    return idle_instances(question->tally, question->resource) >=
           question->job->use.instances - EQUAL_INSTANCES;
}

/* A container of an always-on app would hold what the others need. */
static bool buda_app_is_served(struct job_question *question)
{
    const struct job *job = question->job;
    const struct buda_apps *apps = question->view->options.buda;
    const struct buda_app *app;

    if (job->workunit->buda_app == 0 || question->view->options.own != NULL)
        return true; /* the choice of a version has more to say */
    app = apps != NULL ? buda_app_find(apps, job->workunit->buda_app) : NULL;
    return app != NULL && app->count > 0 && job->app->non_cpu_intensive == 0;
}

/* --- the version ------------------------------------------------------------------------------ */

/* This check makes a job one for this host: the version is chosen, and with it what the job takes,
 * how long it runs, and by when it is to be done. */

static bool is_for_reliable(const struct host_view *view, const struct job *job)
{
    return job->app->beta == 0 && priority_needs_reliable(view->config, job->priority);
}

/* Whether this host may have some version of those that only reliable hosts get. Of the client's
 * own versions, of which it may list many, that is seen job by job. */
static bool a_version_is_reliable(struct job_question *question)
{
    const struct version_options *options = &question->view->options;
    const struct job *job = question->job;
    const struct option_span span = version_options_for(options, job->workunit->buda_app);

    if (options->own != NULL || !is_for_reliable(question->view, job))
        return true;
    for (size_t i = 0; i < span.count; i++)
        if (span.items[i].app == job->app && span.items[i].is_reliable)
            return true;
    return false;
}

static struct version_demand demand_of(const struct job_question *question)
{
    const struct host_view *view = question->view;
    const struct job *job = question->job;
    struct version_demand demand = {
        .appid = job->app->id,
        .workunitid = job->workunit->id,
        .batch = job->workunit->batch,
        .buda_app = job->workunit->buda_app,
        .variant = job->sent_variant,
        .version_num = job->workunit->app_version_num,
        .is_homogeneous = job->app->homogeneous_app_version != 0,
        .needs_64bit = job->workunit->rsc_memory_bound > view->memory_32bit,
        .resource = question->resource,
        .client_version = view->client_version,
        .allow_beta = view->project->allow_beta_work,
        .prefer_primary_platform = view->config->prefer_primary_platform,
        .is_resend = question->kind == CHECK_RESEND,
        .needs_reliable = question->kind != CHECK_ASSIGNED && is_for_reliable(view, job),
    };

    if (demand.is_homogeneous)
        demand.committed_id = job->workunit->app_version_id;
    else if (question->kind == CHECK_RESEND)
        demand.committed_id = job->sent_version_id > 0 ? job->sent_version_id : 0;
    return demand;
}

static const struct version_option *choose_version(struct job_question *question,
                                                   struct version_demand demand)
{
    const struct version_options *options = &question->view->options;
    const int64_t *jobs = question->tally->option_jobs;
    const struct version_option *option = version_choose(options, &demand, jobs, question->why);

    if (option != NULL ||
        ((demand.committed_id == 0 || demand.is_homogeneous) && demand.variant == 0))
        return option;
    if (!demand.is_homogeneous)
        demand.committed_id = 0; /* the version of then is gone; another does */
    demand.variant = 0;
    return version_choose(options, &demand, jobs, question->why);
}

/* The reason is in the question already. */
static void explain_version(struct job_question *question)
{
    question->why->name = question->job->app->user_friendly_name;
    question->why->type = question->view->asked.resources[question->resource].type;
    if (question->view->message->anonymous_platform &&
        question->why->reason == REASON_VERSION_PLATFORM)
        question->why->reason = REASON_ANONYMOUS_VERSION;
}

static struct amount_use use_of(const struct job_question *question)
{
    const struct host_view *view = question->view;
    const struct usage *usage = &question->job->option->usage;
    bool on_cpu = question->resource == RESOURCE_CPU;

    return (struct amount_use){
        .resource = question->resource,
        .instances = on_cpu ? usage->avg_ncpus : usage->coproc_count,
        .cpus = usage->avg_ncpus,
        .wall_time = estimate_wall_time(
            question->job->workunit->rsc_fpops_est, usage->projected_flops,
            on_cpu ? view->availability.cpu : view->availability.gpu, view->correction),
    };
}

/* From now to the workunit's deadline, or to the latest that can be stored. */
static int64_t full_delay_bound(const struct job_question *question)
{
    int64_t bound = question->job->workunit->delay_bound;
    int64_t most = question->view->delay_bound_most;

    return bound > most ? most : bound;
}

/* A client runs sooner what is due sooner. In a hurry it may be late: then another host has got the
 * job besides, and the first answer counts. */
static void choose_bounds(struct job_question *question, bool is_reliable)
{
    const struct host_view *view = question->view;
    struct job *job = question->job;
    double wall_time = workload_time(&job->use, &view->stretch);
    bool is_general = question->kind == CHECK_NEW || question->kind == CHECK_UNTIMED;
    int64_t within = is_general ? hurry_within(view, job->workunit->batch) : 0;

    job->open_bound = full_delay_bound(question);
    if (is_reliable)
        job->open_bound = reduced_delay_bound(
            job->open_bound, view->config->reliable_reduced_delay_bound, wall_time);
    job->delay_bound = within > 0 ? shorter_delay_bound(job->open_bound, (double)within, wall_time)
                                  : job->open_bound;
}

static bool version_is_found(struct job_question *question)
{
    struct version_demand demand = demand_of(question);
    struct job *job = question->job;

    job->option = choose_version(question, demand);
    if (job->option == NULL) {
        explain_version(question);
        return false;
    }
    job->use = use_of(question);
    job->margin = deadline_margin(question->view->config, job->option, idles_for(question));
    choose_bounds(question, demand.needs_reliable);
    return true;
}

/* Another result of the workunit may have committed it since the version was chosen. */
static bool version_is_committed(struct job_question *question)
{
    int64_t committed = question->job->workunit->app_version_id;

    return question->job->app->homogeneous_app_version == 0 || committed == 0 ||
           committed == question->job->option->app_version_id;
}

/* --- the deadline ----------------------------------------------------------------------------- */

/* The last check: whether the job would be in time and make no other late, by simulation. A
 * deadline that was reduced for a retry is only tried: where it cannot be met, the workunit's own
 * counts. */

/* The words for a deadline that the workload does not allow. */
static void explain_workload(struct job_question *question, enum workload_answer answer,
                             const struct edf_reason *reason)
{
    const struct workload *workload = question->view->workload;
    struct refusal *why = question->why;

    *why = (struct refusal){.reason = REASON_DEADLINE,
                            .name = question->job->app->user_friendly_name,
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

static bool skips_connection(const struct job_question *question)
{
    const struct host_view *view = question->view;
    enum config_edf_min_queue rule =
        preferences_connection_rule(view->config, view->client_version);

    return rule == EDF_MIN_QUEUE_NEVER ||
           (rule == EDF_MIN_QUEUE_WHEN_NOT_IDLE &&
            idle_instances(question->tally, question->resource) > EQUAL_INSTANCES);
}

/* An idle host's fastest version would do it by then. */
static double speed_most(const struct host_view *view, double speed)
{
    return view->config->ignore_delay_bound ? HUGE_VAL : speed * SPEED_SLACK;
}

static bool meets_deadline(struct job_question *question)
{
    struct job *job = question->job;
    enum workload_answer answer;
    struct edf_reason reason;
    struct edf_job asked;

    if (question->view->config->ignore_delay_bound)
        return true;
    asked =
        workload_job(&job->use, &question->view->stretch, (double)job->delay_bound,
                     memory_counted(question->view, job->option, job->workunit->rsc_memory_bound));
    asked.wall_time *= job->margin;
    answer = workload_try(question->view->workload, &asked, skips_connection(question), &reason);
    if (answer != WORKLOAD_IN_TIME && job->delay_bound != full_delay_bound(question)) {
        job->delay_bound = job->open_bound = full_delay_bound(question); /* else it cannot be met */
        asked.deadline = (double)job->delay_bound;
        answer =
            workload_try(question->view->workload, &asked, skips_connection(question), &reason);
    }
    if (answer == WORKLOAD_IN_TIME)
        return true;
    explain_workload(question, answer, &reason);
    return false;
}

/* --- the walks -------------------------------------------------------------------------------- */

enum {
    NEW = 1 << CHECK_NEW | 1 << CHECK_UNTIMED,
    TIMED = 1 << CHECK_NEW,
    ALWAYS_ON = 1 << CHECK_ALWAYS_ON,
    ASSIGNED = 1 << CHECK_ASSIGNED,
    RESEND = 1 << CHECK_RESEND
};

/* The depths of checks.def, as bits beside those of the kinds. */
enum {
    DEPTH_no = 0,
    DEPTH_HOST = 1 << 8,
    DEPTH_APP = 1 << 9,
    DEPTH_GROUP = 1 << 10,
    DEPTH_CLASS = 1 << 11,
    DEPTH_JOB = 1 << 12,
    DEPTH_LOCKED = 1 << 13
};
_Static_assert(1 << CHECK_RESEND < DEPTH_HOST, "kinds and depths are bits of one number");

static const struct {
    enum reason reason;
    unsigned made_for; /* kinds and depths */
    bool (*passes)(struct job_question *question);
} checks[] = {
#define CHECK(passes, reason, kinds, host, app, group, class, job, locked, limit)         \
    {reason,                                                                              \
     (kinds) | DEPTH_##host | DEPTH_##app | DEPTH_##group | DEPTH_##class | DEPTH_##job | \
         DEPTH_##locked,                                                                  \
     passes},
#include "server/policy/dispatch/checks.def"
#undef CHECK
};

#define BOUND_NONE(kinds)
#define BOUND_MEMORY(kinds)    {kinds, CLASS_MEMORY, memory_most},
#define BOUND_DISK(kinds)      {kinds, CLASS_DISK, disk_most},
#define BOUND_BANDWIDTH(kinds) {kinds, CLASS_BANDWIDTH, bandwidth_most},
#define BOUND_SPEED(kinds)     {kinds, CLASS_SPEED, speed_most},

static const struct {
    unsigned kinds;
    enum class_limit which;
    double (*most)(const struct host_view *view, double speed);
} limits[] = {
#define CHECK(passes, reason, kinds, host, app, group, class, job, locked, limit) \
    BOUND_##limit(kinds)
#include "server/policy/dispatch/checks.def"
#undef CHECK
};

/* All checks of one depth. False: refused, for question->why. */
static bool walk(unsigned depth, struct job_question *question)
{
    const unsigned asked = depth | 1U << question->kind;

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        const struct job *job = question->job;

        if ((checks[i].made_for & asked) != asked || checks[i].passes(question))
            continue;
        if (checks[i].reason == REASON_COUNT) /* it is written already */
            return false;
        if (question->name.length == 0 && job != NULL && job->app != NULL)
            question->name = job->app->user_friendly_name;
        *question->why = (struct refusal){.reason = checks[i].reason,
                                          .name = question->name,
                                          .need = question->need,
                                          .have = question->have};
        return false;
    }
    return true;
}

bool job_check(const struct host_view *view, const struct tally *tally, enum check_kind kind,
               size_t resource, struct job *job, struct refusal *ret_refusal)
{
    struct job_question question = {.view = view,
                                    .tally = tally,
                                    .kind = kind,
                                    .resource = resource,
                                    .job = job,
                                    .why = ret_refusal};

    return walk(DEPTH_JOB, &question);
}

bool resource_is_closed(const struct host_view *view, const struct tally *tally, size_t resource,
                        struct refusal *ret_refusal)
{
    struct job_question question = {
        .view = view, .tally = tally, .kind = CHECK_NEW, .resource = resource, .why = ret_refusal};

    return !walk(DEPTH_HOST, &question);
}

/* Of jobs that nobody is named for. */
static enum check_kind kind_of(const struct app_row *app)
{
    return app->non_cpu_intensive != 0 ? CHECK_ALWAYS_ON : CHECK_NEW;
}

bool app_is_open(const struct host_view *view, const struct app_row *app)
{
    struct job job = {.app = app};
    struct refusal why;
    struct job_question question = {.view = view, .kind = kind_of(app), .job = &job, .why = &why};

    return walk(DEPTH_APP, &question);
}

static bool is_open_at(unsigned depth, const struct host_view *view, struct job *job)
{
    struct refusal why;
    struct job_question question = {
        .view = view, .kind = kind_of(job->app), .job = job, .why = &why};

    return walk(depth, &question);
}

bool group_is_open(const struct host_view *view, struct job *job)
{
    return is_open_at(DEPTH_GROUP, view, job);
}

bool class_is_open(const struct host_view *view, struct job *job)
{
    return is_open_at(DEPTH_CLASS, view, job);
}

void class_limits(const struct host_view *view, enum check_kind kind, double speed,
                  double ret_limits[CLASS_LIMIT_COUNT])
{
    for (int i = 0; i < CLASS_LIMIT_COUNT; i++)
        ret_limits[i] = HUGE_VAL;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if ((limits[i].kinds & 1U << kind) != 0)
            ret_limits[limits[i].which] =
                fmin(ret_limits[limits[i].which], limits[i].most(view, speed));
}

/* The job is looked at as if it had been found now. What was chosen beside it is no other's. */
enum reason job_check_locked(const struct host_view *view, const struct job *job,
                             const struct locked_workunit *row)
{
    static const struct tally nothing_else;
    struct workunit_row workunit;
    struct job seen = *job;
    struct refusal why = {.reason = REASON_COUNT};
    struct job_question question = {.view = view,
                                    .tally = &nothing_else,
                                    .kind = job->assignment != JOB_GENERAL ? CHECK_ASSIGNED
                                                                           : kind_of(job->app),
                                    .job = &seen,
                                    .why = &why};

    if (row == NULL)
        return REASON_WORKUNIT_OVER;
    workunit = *job->workunit;
    workunit.error_mask = row->error_mask;
    workunit.canonical_resultid = row->canonical_resultid;
    workunit.hr_class = row->hr_class;
    workunit.app_version_id = row->app_version_id;
    seen.workunit = &workunit;
    seen.user_had_one = row->results_of_user > 0;
    seen.host_had_one = row->results_of_host > 0;
    (void)walk(DEPTH_LOCKED, &question);
    return why.reason;
}
