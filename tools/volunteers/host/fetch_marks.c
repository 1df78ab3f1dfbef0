/* SPDX-License-Identifier: Apache-2.0 */
/* Fetching by marks.h over the jobs of a host. The first contact to a project asks for one second
 * of each resource, which brings a job of it at once. */
#include "tools/volunteers/client/marks.h"
#include "tools/volunteers/host/policy.h"
#include "tools/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

static struct marks marks_of(const struct volunteer *volunteer)
{
    double on = volunteer_on_fraction(volunteer);

    return (struct marks){.low = volunteer->machine.buffer * on,
                          .high = (volunteer->machine.buffer + volunteer->machine.extra) * on};
}

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

static void simulate(struct volunteer *volunteer, const struct marks *marks, double *ret_priorities)
{
    struct fetch_job jobs[VOLUNTEER_JOBS_MAX];
    size_t count = estimate_queue(volunteer, jobs);

    fetch_simulate(&volunteer->fetch, jobs, count, marks->high, volunteer->now);
    marks_rank(&volunteer->fetch, marks, jobs, count, ret_priorities);
}

bool fetch_by_marks(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request)
{
    struct marks marks = marks_of(volunteer);
    double priorities[FETCH_PROJECTS_MAX];

    volunteer->lacks_work = true; /* sooner or later: see fetch_by_marks_next */
    for (size_t p = 0; p < volunteer->project_count; p++)
        if ((project == POLICY_ANY_PROJECT || project == p) && ask_first(volunteer, p, ret_request))
            return true;
    simulate(volunteer, &marks, priorities);
    if (volunteer->job_count >= VOLUNTEER_JOBS_MAX)
        return false;
    return project == POLICY_ANY_PROJECT
               ? marks_choose(&volunteer->fetch, &marks, priorities, volunteer->now, ret_request)
               : marks_add(&volunteer->fetch, &marks, priorities, project, volunteer->now,
                           ret_request);
}

double fetch_by_marks_next(const struct volunteer *volunteer)
{
    struct marks marks = marks_of(volunteer);

    return marks_next(&volunteer->fetch, &marks, volunteer->now);
}
