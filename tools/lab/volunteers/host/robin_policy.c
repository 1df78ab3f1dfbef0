/* SPDX-License-Identifier: Apache-2.0 */
/* A host with a client of 2006 to 2010: round robin by short-term debt, jobs in danger of missing
 * their deadlines first (client/schedule.h over the simulation of client/robin.h).
 *
 * It chooses when a job ends or comes, and after each period. What was chosen begins at once where
 * a processor is idle or the job is in danger; else when a job that is to stop writes a checkpoint.
 *
 * It fetches work by the shortfalls of projects under the same simulation (client/shortfall.h):
 * overworked projects are passed over while others can be asked, and latency-limited ones gain debt
 * meanwhile. It asks for CPUs only, as that age knew no others. Less than a tenth of the buffer is
 * not worth a request. */
#include "tools/lab/volunteers/client/marks.h"
#include "tools/lab/volunteers/client/schedule.h"
#include "tools/lab/volunteers/client/shortfall.h"
#include "tools/lab/volunteers/host/policy.h"
#include "tools/lab/volunteers/host/robin_view.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define MOMENT   1e-3 /* s */
#define NO_SHARE 1e-6 /* stands for a share of 0 */

/* --- what runs -------------------------------------------------------------------------------- */

/* What a project is owed as clients from 2012 on see it: what it got lately, by its share. Whoever
 * gets a processor gets that much more, for a period to come. */
static void owe_recent(const struct volunteer *volunteer, struct robin_view *view)
{
    const struct fetch_host *host = &volunteer->fetch;
    double recent[CLIENT_PROJECTS_MAX], all = 0, shares = 0;

    for (size_t p = 0; p < host->project_count; p++) {
        recent[p] = host->projects[p].recent + volunteer_unbooked_flops(volunteer, p);
        all += recent[p];
        shares += host->projects[p].share;
    }
    all += view->host.period * marks_peak_flops(host); /* nobody got anything yet */
    for (size_t p = 0; p < host->project_count; p++)
        view->projects[p].short_debt =
            -recent[p] / all * shares / fmax(host->projects[p].share, NO_SHARE);
    for (size_t i = 0; i < view->count; i++) {
        const struct volunteer_job *job = view->jobs[i];
        double flops = job->cpus * host->resources[CLIENT_CPU].flops;

        if (job->coproc != CLIENT_CPU)
            flops += job->coprocs * host->resources[job->coproc].flops;
        view->results[i].charge = flops * view->host.period / all * shares /
                                  fmax(host->projects[job->project].share, NO_SHARE);
    }
}

static void choose(struct volunteer *volunteer, struct robin_view *view, bool by_recent)
{
    robin_view_adjust_debts(volunteer, view);
    robin_view_simulate(volunteer, view, volunteer->machine.buffer);
    if (by_recent)
        owe_recent(volunteer, view);
    schedule_choose(&view->host, view->projects, volunteer->project_count, view->results,
                    view->count, volunteer->now);
    volunteer->chosen_at = volunteer->now;
    volunteer->must_choose = false;
}

/* The next checkpoint of somebody who is to stop for somebody who waits; INFINITY: none. */
static double next_turn(const struct volunteer *volunteer, const struct robin_view *view)
{
    double next = INFINITY;
    bool waits = false;

    for (size_t i = 0; i < view->count; i++) {
        const struct schedule_result *result = &view->results[i];

        waits = waits || (result->scheduled && !result->running);
        if (result->running && !result->scheduled)
            next = fmin(next, volunteer->now + volunteer->population->checkpoint -
                                  result->since_checkpoint);
    }
    return waits ? next : INFINITY;
}

static void run(struct volunteer *volunteer, bool by_recent)
{
    struct robin_view view;

    robin_view_take(volunteer, &view);
    if (volunteer->must_choose ||
        volunteer->now >= volunteer->chosen_at + volunteer->population->period)
        choose(volunteer, &view, by_recent);
    schedule_enforce(&view.host, view.results, view.count, volunteer->chosen_at, volunteer->now);
    for (size_t i = 0; i < view.count; i++) {
        view.jobs[i]->running = view.results[i].running;
        view.jobs[i]->scheduled = view.results[i].scheduled;
        view.jobs[i]->deadline_missed = view.results[i].deadline_missed;
    }
    volunteer->next_choice = fmin(volunteer->chosen_at + volunteer->population->period,
                                  fmax(next_turn(volunteer, &view), volunteer->now + MOMENT));
}

void run_by_robin(struct volunteer *volunteer)
{
    run(volunteer, false);
}

void run_by_recent(struct volunteer *volunteer)
{
    run(volunteer, true);
}

/* --- work fetch ------------------------------------------------------------------------------- */

static double worth_asking(const struct volunteer *volunteer)
{
    return volunteer->machine.buffer * volunteer->fetch.resources[CLIENT_CPU].count / 10;
}

static void compute_shortfalls(struct volunteer *volunteer,
                               struct shortfall_project demands[CLIENT_PROJECTS_MAX])
{
    struct robin_view view;
    double shares = 0, least = worth_asking(volunteer), total;

    robin_view_take(volunteer, &view);
    robin_view_adjust_debts(volunteer, &view);
    robin_view_simulate(volunteer, &view, volunteer->machine.buffer);
    for (size_t p = 0; p < volunteer->project_count; p++)
        shares += view.projects[p].share;
    for (size_t p = 0; p < volunteer->project_count; p++) {
        const struct schedule_project *project = &view.projects[p];
        double shortfall = view.robin_projects[p].shortfall;

        demands[p] = (struct shortfall_project){
            .share = project->share,
            .shortfall = shortfall * shares > least * project->share ? shortfall : 0,
            .long_debt = project->long_debt,
            .deferred = project->state.deferred,
            .overworked = project->state.overworked,
        };
    }
    total = view.total_shortfall;
    shortfall_set_sizes(demands, volunteer->project_count, total > least ? total : 0);
}

static double idle_cpus(const struct volunteer *volunteer)
{
    double idle = volunteer->fetch.resources[CLIENT_CPU].count;

    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].running)
            idle -= volunteer->jobs[i].cpus;
    return fmax(0, idle);
}

bool fetch_by_demand(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request)
{
    struct shortfall_project demands[CLIENT_PROJECTS_MAX];
    size_t chosen;
    double seconds;

    volunteer->lacks_work = false;
    if (volunteer->job_count >= VOLUNTEER_JOBS_MAX)
        return false;
    compute_shortfalls(volunteer, demands);
    chosen = project == POLICY_ANY_PROJECT
                 ? shortfall_choose_project(demands, volunteer->project_count)
                 : project;
    /* Work may be lacking though every project is deferred. */
    for (size_t p = 0; p < volunteer->project_count; p++)
        volunteer->lacks_work = volunteer->lacks_work || demands[p].size > 0 ||
                                (demands[p].shortfall > 0 && demands[p].deferred);
    if (chosen == volunteer->project_count || demands[chosen].size <= 0)
        return false;
    /* Sizes are wall time; the host is on for a part of it. */
    seconds = demands[chosen].size * volunteer_on_fraction(volunteer);
    *ret_request = (struct fetch_request){.project = chosen, .scalar = seconds};
    ret_request->seconds[CLIENT_CPU] = seconds;
    ret_request->instances[CLIENT_CPU] = idle_cpus(volunteer);
    return true;
}
