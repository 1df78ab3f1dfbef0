/* SPDX-License-Identifier: Apache-2.0 */
/* Fetching by the time until a project starves (debt.h). The period T between contacts is half of
 * the buffer, so that 2T, up to which it asks, is the buffer. The project that lacks most for its
 * share is asked, then the next.
 *
 * The old texts know no waiting after a reply without jobs, and think once a second. Who has no
 * work and names no delay would be asked each second, so such a project waits as after a failed
 * RPC. */
#include "tools/volunteers/client/debt.h"
#include "tools/volunteers/client/rpc_session.h"
#include "tools/volunteers/host/policy.h"
#include "tools/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define THINK 600.0 /* s, when nothing keeps it from asking */

static bool wait_for(const struct volunteer *volunteer, size_t project)
{
    return volunteer->fetch.projects[project].min_rpc_time > volunteer->now;
}

static enum debt_urgency request_work(const struct volunteer *volunteer,
                                      struct debt_project projects[FETCH_PROJECTS_MAX])
{
    struct debt_result results[VOLUNTEER_JOBS_MAX];
    const struct debt_host host = {.cpus = (size_t)volunteer->fetch.resources[FETCH_CPU].count,
                                   .active_fraction = volunteer_on_fraction(volunteer),
                                   .connection_period = volunteer->machine.buffer / 2};

    for (size_t p = 0; p < volunteer->project_count; p++)
        projects[p] = (struct debt_project){.share = volunteer->fetch.projects[p].share};
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        results[i] = (struct debt_result){.project = job->project,
                                          .deadline = job->deadline,
                                          .cpu_time_left = estimate_left(volunteer, job),
                                          .runnable = !job->done && job->coproc == FETCH_CPU};
    }
    return debt_request_work(&host, projects, volunteer->project_count, results,
                             volunteer->job_count);
}

bool fetch_by_debt(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request)
{
    struct debt_project projects[FETCH_PROJECTS_MAX];
    size_t best = volunteer->project_count;

    volunteer->lacks_work = false;
    if (volunteer->job_count >= VOLUNTEER_JOBS_MAX ||
        request_work(volunteer, projects) == DEBT_WORK_NOT_NEEDED)
        return false;
    volunteer->lacks_work = true;
    for (size_t p = 0; p < volunteer->project_count; p++) {
        if (projects[p].work_request <= 0 || wait_for(volunteer, p) ||
            (project != POLICY_ANY_PROJECT && p != project))
            continue;
        if (best == volunteer->project_count || projects[p].work_request * projects[best].share >
                                                    projects[best].work_request * projects[p].share)
            best = p;
    }
    if (best == volunteer->project_count)
        return false;
    *ret_request = (struct fetch_request){.project = best, .scalar = projects[best].work_request};
    ret_request->seconds[FETCH_CPU] = projects[best].work_request;
    return true;
}

void fetch_wait_if_empty(struct volunteer *volunteer, const struct fetch_request *request,
                         const enum fetch_answer answers[FETCH_RESOURCES_MAX])
{
    struct volunteer_project *project = &volunteer->projects[request->project];
    bool any = false;

    for (size_t r = 0; r < FETCH_RESOURCES_MAX; r++)
        any = any || answers[r] == FETCH_SENT;
    if (any)
        project->empties = 0;
    /* Who has work that would be late says when to come again. */
    if (any || request->seconds[FETCH_CPU] <= 0 || project->no_work_deadlines)
        return;
    project->empties++;
    volunteer->fetch.projects[request->project].min_rpc_time =
        volunteer->now + session_backoff(project->empties, &volunteer->random);
}

double fetch_next_free(const struct volunteer *volunteer)
{
    double next = INFINITY;

    for (size_t p = 0; p < volunteer->project_count; p++)
        if (wait_for(volunteer, p))
            next = fmin(next, volunteer->fetch.projects[p].min_rpc_time);
    return isinf(next) ? volunteer->now + THINK : next;
}
