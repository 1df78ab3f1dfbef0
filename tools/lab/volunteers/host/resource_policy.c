/* SPDX-License-Identifier: Apache-2.0 */
/* A host with a client from 2009 on, which fetches work for each resource.
 *
 * Until 2012 (client/fetch.h): a request is worth it when a processor is idle or a tenth of the
 * buffer is lacking. Since then (client/marks.h): the buffer is filled up to its high mark when it
 * falls below the low one. The buffer is wall time; the host is on for a part of it. */
#include "tools/lab/volunteers/client/fetch.h"
#include "tools/lab/volunteers/client/marks.h"
#include "tools/lab/volunteers/host/policy.h"
#include "tools/lab/volunteers/host/runtime_estimate.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define LEAST 1e-6 /* instances */

static double buffer_of(const struct volunteer *volunteer)
{
    return volunteer->machine.buffer * volunteer_on_fraction(volunteer);
}

static void simulate(struct volunteer *volunteer)
{
    struct fetch_job jobs[VOLUNTEER_JOBS_MAX];
    size_t count = estimate_queue(volunteer, jobs);

    fetch_simulate(&volunteer->fetch, jobs, count, buffer_of(volunteer), volunteer->now);
}

static bool lacks(const struct volunteer *volunteer, size_t r)
{
    const struct fetch_resource *resource = &volunteer->fetch.resources[r];

    return resource->count > 0 &&
           (resource->idle > LEAST ||
            resource->shortfall > buffer_of(volunteer) * resource->count / 10);
}

bool fetch_by_resources(struct volunteer *volunteer, size_t project,
                        struct fetch_request *ret_request)
{
    simulate(volunteer);
    volunteer->lacks_work = false;
    if (volunteer->job_count >= VOLUNTEER_JOBS_MAX)
        return false;
    if (project != POLICY_ANY_PROJECT)
        return fetch_add_to_contact(&volunteer->fetch, project, volunteer->now, ret_request);
    for (size_t r = 0; r < volunteer->fetch.resource_count; r++)
        if (lacks(volunteer, r))
            volunteer->lacks_work = true;
        else
            volunteer->fetch.resources[r].shortfall = volunteer->fetch.resources[r].idle = 0;
    return volunteer->lacks_work && fetch_choose(&volunteer->fetch, volunteer->now, ret_request);
}

void fetch_by_resources_hear(struct volunteer *volunteer, const struct fetch_request *request,
                             const enum fetch_answer answers[CLIENT_RESOURCES])
{
    fetch_handle_reply(&volunteer->fetch, request, answers, volunteer->now, &volunteer->random);
}

/* What ran on average is counted as if it had run all the time. */
void fetch_by_resources_book(struct volunteer *volunteer, double interval)
{
    struct fetch_job jobs[CLIENT_PROJECTS_MAX];

    if (volunteer->project_count < 2)
        return;
    for (size_t p = 0; p < volunteer->project_count; p++) {
        jobs[p] = (struct fetch_job){.project = p, .running = true};
        for (size_t r = 0; r < CLIENT_RESOURCES; r++)
            jobs[p].uses[r] = volunteer->projects[p].used[r] / interval;
    }
    fetch_accumulate_debt(&volunteer->fetch, jobs, volunteer->project_count, interval,
                          volunteer->now);
}

double fetch_by_resources_next(const struct volunteer *volunteer)
{
    double next = INFINITY;

    for (size_t p = 0; p < volunteer->project_count; p++)
        next = fmin(next, fetch_next_contact(&volunteer->fetch, p));
    return next;
}

/* --- up to two marks -------------------------------------------------------------------------- */

static struct marks marks_of(const struct volunteer *volunteer)
{
    double on = volunteer_on_fraction(volunteer);

    return (struct marks){.low = volunteer->machine.buffer * on,
                          .high = (volunteer->machine.buffer + volunteer->machine.extra) * on};
}

/* The first contact to a project asks for one second of each resource, which brings a job of it at
 * once. */
static bool ask_first(const struct volunteer *volunteer, size_t project,
                      struct fetch_request *ret_request)
{
    if (volunteer->projects[project].hostid != 0 ||
        volunteer->fetch.projects[project].min_rpc_time > volunteer->now)
        return false;
    *ret_request = (struct fetch_request){.project = project, .scalar = 1};
    for (size_t r = 0; r < volunteer->fetch.resource_count; r++)
        ret_request->seconds[r] = volunteer->fetch.resources[r].count > 0;
    return true;
}

static void rank(struct volunteer *volunteer, const struct marks *marks, double *ret_priorities)
{
    struct fetch_job jobs[VOLUNTEER_JOBS_MAX];
    size_t count = estimate_queue(volunteer, jobs);

    fetch_simulate(&volunteer->fetch, jobs, count, marks->high, volunteer->now);
    marks_rank(&volunteer->fetch, marks, jobs, count, ret_priorities);
}

bool fetch_by_marks(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request)
{
    struct marks marks = marks_of(volunteer);
    double priorities[CLIENT_PROJECTS_MAX];

    volunteer->lacks_work = true; /* sooner or later: see fetch_by_marks_next */
    for (size_t p = 0; p < volunteer->project_count; p++)
        if ((project == POLICY_ANY_PROJECT || project == p) && ask_first(volunteer, p, ret_request))
            return true;
    rank(volunteer, &marks, priorities);
    if (volunteer->job_count >= VOLUNTEER_JOBS_MAX)
        return false;
    return project == POLICY_ANY_PROJECT
               ? marks_choose(&volunteer->fetch, &marks, priorities, volunteer->now, ret_request)
               : marks_add(&volunteer->fetch, &marks, priorities, project, volunteer->now,
                           ret_request);
}

/* Since its project is one job below its limits now, whatever they are. */
void fetch_at_present_job_over(struct volunteer *volunteer, const struct volunteer_job *job)
{
    struct fetch_account *accounts = volunteer->fetch.projects[job->project].accounts;

    if (job->failed)
        return;
    accounts[CLIENT_CPU].backoff = accounts[CLIENT_CPU].backoff_end = 0;
    accounts[job->coproc].backoff = accounts[job->coproc].backoff_end = 0;
}

double fetch_by_marks_next(const struct volunteer *volunteer)
{
    struct marks marks = marks_of(volunteer);

    return marks_next(&volunteer->fetch, &marks, volunteer->now);
}
