/* SPDX-License-Identifier: Apache-2.0 */
/* The tally begins with what the host has by its view; each job that is chosen is then added to
 * every figure that a check compares. */
#include "server/policy/dispatch/tally.h"

#include "server/base/arena.h"
#include "server/policy/dispatch/job.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

bool tally_begin(const struct host_view *view, struct arena *arena, size_t jobs_max,
                 struct tally *ret_tally)
{
    struct tally *tally = ret_tally;

    *tally = (struct tally){.left = view->asked,
                            .disk_left = view->disk,
                            .in_progress_total = view->in_progress_total,
                            .workload = view->workload,
                            .stretch = view->stretch,
                            .workunit_capacity = jobs_max};
    tally->app_limits = view->app_limits;
    tally->app_limit_count = view->app_limit_count;
    tally->app_counts = ARENA_ARRAY(arena, view->app_limit_count, struct app_count);
    if (tally->app_counts == NULL)
        return false;
    for (size_t i = 0; i < view->app_limit_count; i++)
        tally->app_counts[i] = view->app_counts[i];
    if (view->workload != NULL) {
        edf_reset(view->workload->edf);
        memcpy(tally->occupied, view->workload->occupied, sizeof(tally->occupied));
    }
    tally->option_jobs = ARENA_ARRAY(arena, view->options.count, int64_t);
    tally->workunits = ARENA_ARRAY(arena, jobs_max, int64_t);
    if (tally->option_jobs == NULL || tally->workunits == NULL)
        return false;
    for (size_t i = 0; i < view->asked.resource_count; i++)
        tally->in_progress[i] = view->in_progress[i];
    return true;
}

double deadline_margin(const struct config *config, const struct version_option *option,
                       bool is_at_once)
{
    return fmax(is_at_once ? 1 : config->deadline_margin,
                option->is_untried ? config->untried_margin : 1);
}

void tally_take_use(struct tally *tally, const struct tally_use *use)
{
    size_t resource = use->use.resource;
    struct edf_job job = workload_job(&use->use, &tally->stretch, use->deadline, use->memory);

    job.wall_time *= use->margin;
    if (!use->is_always_on) {
        amounts_take(&tally->left, &use->use);
        if (!use->is_queued) {
            amounts_occupy(tally->occupied, &use->use);
            if (tally->workload != NULL)
                edf_take(tally->workload->edf, &job);
        }
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
    const struct tally_use use = {
        .use = job->use,
        .workunitid = job->workunit->id,
        .appid = job->app->id,
        .disk = job->workunit->rsc_disk_bound,
        .memory = memory_counted(view, job->option, job->workunit->rsc_memory_bound),
        .deadline = (double)job->delay_bound,
        .margin = job->margin,
        .is_always_on = job->app->non_cpu_intensive != 0};

    tally_take_use(tally, &use);
    tally->option_jobs[version_counter(&view->options, job->option)]++;
}
