/* SPDX-License-Identifier: Apache-2.0 */
/* The check that makes a job one for this host: the version is chosen, and with it what the job
 * takes, how long it runs, and by when it is wanted. */
#include "server/policy/dispatch/checks_parts.h"

#include "server/policy/dispatch/reliable.h"

#include "server/base/banned.h"

static struct version_demand demand_of(const struct question *question)
{
    const struct host_view *view = question->view;
    const struct job *job = question->job;
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
    return demand;
}

static const struct version_option *choose(struct question *question, struct version_demand demand)
{
    const struct version_options *options = &question->view->options;
    const int64_t *jobs = question->tally->option_jobs;
    const struct version_option *option = version_choose(options, &demand, jobs, &question->why);

    if (option != NULL || demand.committed_id == 0 || demand.is_homogeneous)
        return option;
    demand.committed_id = 0; /* the version of then is gone; another does */
    return version_choose(options, &demand, jobs, &question->why);
}

/* The reason is in the question already. */
static void explain_version(struct question *question)
{
    question->why.name = question->job->app->user_friendly_name;
    question->why.type = question->view->asked.resources[question->resource].type;
    if (question->view->message->anonymous_platform &&
        question->why.reason == REASON_VERSION_PLATFORM)
        question->why.reason = REASON_ANONYMOUS_VERSION;
}

static struct amount_use use_of(const struct question *question)
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

bool version_is_found(struct question *question)
{
    struct version_demand demand = demand_of(question);
    struct job *job = question->job;

    job->option = choose(question, demand);
    if (job->option == NULL) {
        explain_version(question);
        return false;
    }
    job->use = use_of(question);
    job->delay_bound = job->workunit->delay_bound;
    if (demand.needs_reliable)
        job->delay_bound = reduced_delay_bound(job->delay_bound,
                                               question->view->config->reliable_reduced_delay_bound,
                                               job->use.wall_time);
    return true;
}
