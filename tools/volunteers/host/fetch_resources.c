/* SPDX-License-Identifier: Apache-2.0 */
/* Fetching by resources, as clients do from 2009 on: fetch.h over the jobs of a host. A request is
 * worth it when something is idle or a tenth of the buffer is lacking. The buffer is wall time, of
 * which the host is on a part. */
#include "tools/volunteers/host/policy.h"
#include "tools/volunteers/host/volunteer.h"

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
                             const enum fetch_answer answers[FETCH_RESOURCES_MAX])
{
    fetch_handle_reply(&volunteer->fetch, request, answers, volunteer->now, &volunteer->random);
}

/* What ran on average is booked as if it had run all the time. */
void fetch_by_resources_settle(struct volunteer *volunteer, double interval)
{
    struct fetch_job jobs[FETCH_PROJECTS_MAX];

    if (volunteer->project_count < 2)
        return;
    for (size_t p = 0; p < volunteer->project_count; p++) {
        jobs[p] = (struct fetch_job){.project = p, .running = true};
        for (size_t r = 0; r < FETCH_RESOURCES_MAX; r++)
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
