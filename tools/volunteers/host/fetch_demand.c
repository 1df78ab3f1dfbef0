/* SPDX-License-Identifier: Apache-2.0 */
/* Fetching by what projects lack under round robin (demand.h, robin.h): overworked ones are passed
 * over while others can be asked, latency-limited ones gain debt meanwhile. CPUs only: what it
 * lacks of coprocessors that age did not know. As elsewhere, less than a tenth of the buffer is
 * nothing. */
#include "tools/volunteers/client/shortfall.h"
#include "tools/volunteers/host/adapt.h"
#include "tools/volunteers/host/policy.h"

#include <math.h>

#include "server/base/banned.h"

static double worth_asking(const struct volunteer *volunteer)
{
    return volunteer->machine.buffer * volunteer->fetch.resources[FETCH_CPU].count / 10;
}

static void demand(struct volunteer *volunteer, struct demand demands[FETCH_PROJECTS_MAX])
{
    struct adaptation adaptation;
    double shares = 0, least = worth_asking(volunteer), total;

    adapt_host(volunteer, &adaptation);
    adapt_settle_debts(volunteer, &adaptation);
    adapt_simulate(volunteer, &adaptation, volunteer->machine.buffer);
    for (size_t p = 0; p < volunteer->project_count; p++)
        shares += adaptation.projects[p].share;
    for (size_t p = 0; p < volunteer->project_count; p++) {
        const struct schedule_project *project = &adaptation.projects[p];
        double shortfall = adaptation.robin_projects[p].shortfall;

        demands[p] = (struct demand){
            .share = project->share,
            .shortfall = shortfall * shares > least * project->share ? shortfall : 0,
            .long_debt = project->long_debt,
            .deferred = project->state.deferred,
            .overworked = project->state.overworked,
        };
    }
    total = adaptation.total_shortfall;
    demand_compute(demands, volunteer->project_count, total > least ? total : 0);
}

static double idle_cpus(const struct volunteer *volunteer)
{
    double idle = volunteer->fetch.resources[FETCH_CPU].count;

    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].running)
            idle -= volunteer->jobs[i].cpus;
    return fmax(0, idle);
}

bool fetch_by_demand(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request)
{
    struct demand demands[FETCH_PROJECTS_MAX];
    size_t chosen;
    double seconds;

    volunteer->lacks_work = false;
    if (volunteer->job_count >= VOLUNTEER_JOBS_MAX)
        return false;
    demand(volunteer, demands);
    chosen = project == POLICY_ANY_PROJECT
                 ? demand_choose_project(demands, volunteer->project_count)
                 : project;
    /* Something may be lacking though everybody is deferred. */
    for (size_t p = 0; p < volunteer->project_count; p++)
        volunteer->lacks_work = volunteer->lacks_work || demands[p].size > 0 ||
                                (demands[p].shortfall > 0 && demands[p].deferred);
    if (chosen == volunteer->project_count || demands[chosen].size <= 0)
        return false;
    /* Sizes are wall time, of which the host is on a part. */
    seconds = demands[chosen].size * volunteer_on_fraction(volunteer);
    *ret_request = (struct fetch_request){.project = chosen, .scalar = seconds};
    ret_request->seconds[FETCH_CPU] = seconds;
    ret_request->instances[FETCH_CPU] = idle_cpus(volunteer);
    return true;
}
