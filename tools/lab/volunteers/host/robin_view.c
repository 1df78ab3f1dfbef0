/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/volunteers/host/robin_view.h"

#include "tools/lab/volunteers/host/runtime_estimate.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

static int compare_numbers(const void *a, const void *b)
{
    const struct volunteer_job *const *one = a, *const *other = b;

    return ((*one)->number > (*other)->number) - ((*one)->number < (*other)->number);
}

static struct schedule_result describe(const struct volunteer_job *job)
{
    bool is_cpu = job->coproc == CLIENT_CPU;

    return (struct schedule_result){
        .project = job->project,
        .files = job->coming > 0 ? SCHEDULE_FILES_COMING : SCHEDULE_FILES_HERE,
        .deadline = job->deadline,
        /* Of the CPUs that coprocessor jobs use only whole ones are gone for the others. */
        .cpus = is_cpu ? job->cpus : floor(job->cpus),
        .coproc = is_cpu ? (size_t)CLIENT_NO_COPROC : job->coproc - 1,
        .coprocs = job->coprocs,
        .deadline_missed = job->deadline_missed,
        .running = job->running,
        .begun = job->begun_at,
        .checkpoint = job->checkpoint,
        .since_checkpoint = job->since_checkpoint,
        .scheduled = job->scheduled,
    };
}

void robin_view_take(struct volunteer *volunteer, struct robin_view *ret_view)
{
    struct robin_view *to = ret_view;

    to->host = (struct schedule_host){.cpus = volunteer->fetch.resources[CLIENT_CPU].count,
                                      .period = volunteer->population->period};
    for (size_t r = 1; r < CLIENT_RESOURCES; r++)
        to->host.coprocs[r - 1] = volunteer->fetch.resources[r].count;
    to->count = 0;
    to->total_shortfall = 0;
    for (size_t i = 0; i < volunteer->job_count; i++)
        if (!volunteer->jobs[i].done)
            to->jobs[to->count++] = &volunteer->jobs[i];
    qsort(to->jobs, to->count, sizeof(to->jobs[0]), compare_numbers);
    for (size_t i = 0; i < to->count; i++)
        to->results[i] = describe(to->jobs[i]);
    for (size_t p = 0; p < volunteer->project_count; p++) {
        const struct volunteer_project *project = &volunteer->projects[p];

        to->projects[p] = (struct schedule_project){
            .share = volunteer->fetch.projects[p].share,
            .master_pending = volunteer->population->reads_masters && project->session.fetch_master,
            .min_rpc_time = volunteer->fetch.projects[p].min_rpc_time,
            .no_work_deadlines = project->no_work_deadlines,
            .reply_delay_end = project->reply_delay_end,
            .short_debt = project->short_debt,
            .long_debt = project->long_debt,
            .cpu_time = project->cpu_time,
        };
    }
    schedule_judge_projects(&to->host, to->projects, volunteer->project_count, to->results,
                            to->count, volunteer->now);
}

void robin_view_adjust_debts(struct volunteer *volunteer, struct robin_view *view)
{
    schedule_adjust_debts(view->projects, volunteer->project_count);
    for (size_t p = 0; p < volunteer->project_count; p++) {
        volunteer->projects[p].short_debt = view->projects[p].short_debt;
        volunteer->projects[p].long_debt = view->projects[p].long_debt;
        volunteer->projects[p].cpu_time = view->projects[p].cpu_time;
    }
}

void robin_view_simulate(const struct volunteer *volunteer, struct robin_view *view, double queue)
{
    struct robin_host host = {.cpus = view->host.cpus,
                              .available_fraction = volunteer_on_fraction(volunteer)};

    for (size_t r = 1; r < CLIENT_RESOURCES; r++)
        host.coprocs[r - 1] = volunteer->fetch.resources[r].count;
    for (size_t p = 0; p < volunteer->project_count; p++)
        view->robin_projects[p] = (struct robin_project){.share = view->projects[p].share};
    for (size_t i = 0; i < view->count; i++) {
        const struct volunteer_job *job = view->jobs[i];

        view->robin_results[i] = (struct robin_result){
            .project = job->project,
            .left = estimate_left(volunteer, job),
            .deadline = job->deadline - volunteer->now,
            .cpus = job->cpus,
            .coproc = job->coproc == CLIENT_CPU ? (size_t)CLIENT_NO_COPROC : job->coproc - 1,
            .coprocs = job->coprocs,
            .nearly_runnable =
                schedule_result_is_nearly_runnable(&view->results[i], view->projects),
        };
    }
    view->total_shortfall = robin_simulate(&host, view->robin_projects, volunteer->project_count,
                                           view->robin_results, view->count, queue);
    for (size_t i = 0; i < view->count; i++)
        view->results[i].deadline_missed = view->robin_results[i].deadline_missed;
    for (size_t p = 0; p < volunteer->project_count; p++)
        view->projects[p].deadlines_missed = view->robin_projects[p].deadlines_missed;
}
