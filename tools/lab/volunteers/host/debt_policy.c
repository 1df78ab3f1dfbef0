/* SPDX-License-Identifier: Apache-2.0 */
/* A host with a client of 2004 (client/debt.h).
 *
 * It chooses what runs when a job ends or comes, and after each period. That age knew neither
 * coprocessors nor jobs of several CPUs: coprocessor jobs run beside the others, and a job of
 * several CPUs counts as one of one CPU.
 *
 * It fetches work by the time until a project's queue is empty. The period T between contacts is
 * half of the buffer, so that 2T, up to which it asks, is the buffer. The project that lacks most
 * for its share is asked first, then the next. */
#include "tools/lab/volunteers/client/debt.h"
#include "tools/lab/volunteers/host/contact.h"
#include "tools/lab/volunteers/host/network.h"
#include "tools/lab/volunteers/host/policy.h"
#include "tools/lab/volunteers/host/runtime_estimate.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include "server/base/banned.h"

void run_by_debt(struct volunteer *volunteer)
{
    struct debt_project projects[CLIENT_PROJECTS_MAX];
    struct debt_result results[VOLUNTEER_JOBS_MAX];
    double cpus = run_coprocs(volunteer);

    for (size_t p = 0; p < volunteer->project_count; p++)
        projects[p] = (struct debt_project){.share = volunteer->fetch.projects[p].share,
                                            .debt = volunteer->projects[p].debt};
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];
        bool is_mine = job->coproc == CLIENT_CPU;

        results[i] = (struct debt_result){.project = job->project,
                                          .deadline = job->deadline,
                                          .cpu_time = job->elapsed,
                                          .cpu_time_at_schedule = job->booked,
                                          .runnable = is_mine && network_is_runnable(job),
                                          .active = job->begun,
                                          .running = is_mine && job->ran};
    }
    debt_schedule(projects, volunteer->project_count, results, volunteer->job_count, (size_t)cpus);
    for (size_t p = 0; p < volunteer->project_count; p++)
        volunteer->projects[p].debt = projects[p].debt;
    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].coproc == CLIENT_CPU) {
            volunteer->jobs[i].running = results[i].running;
            volunteer->jobs[i].booked = results[i].cpu_time_at_schedule;
        }
    volunteer->next_choice = volunteer->now + volunteer->population->period;
}

static enum debt_urgency request_work(const struct volunteer *volunteer,
                                      struct debt_project projects[CLIENT_PROJECTS_MAX])
{
    struct debt_result results[VOLUNTEER_JOBS_MAX];
    const struct debt_host host = {.cpus = (size_t)volunteer->fetch.resources[CLIENT_CPU].count,
                                   .active_fraction = volunteer_on_fraction(volunteer),
                                   .connection_period = volunteer->machine.buffer / 2};

    for (size_t p = 0; p < volunteer->project_count; p++)
        projects[p] = (struct debt_project){.share = volunteer->fetch.projects[p].share};
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        results[i] = (struct debt_result){.project = job->project,
                                          .deadline = job->deadline,
                                          .cpu_time_left = estimate_left(volunteer, job),
                                          .runnable = !job->done && job->coproc == CLIENT_CPU};
    }
    return debt_request_work(&host, projects, volunteer->project_count, results,
                             volunteer->job_count);
}

bool fetch_by_debt(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request)
{
    struct debt_project projects[CLIENT_PROJECTS_MAX];
    size_t best = volunteer->project_count;

    volunteer->lacks_work = false;
    if (volunteer->job_count >= VOLUNTEER_JOBS_MAX ||
        request_work(volunteer, projects) == DEBT_WORK_NOT_NEEDED)
        return false;
    volunteer->lacks_work = true;
    for (size_t p = 0; p < volunteer->project_count; p++) {
        if (projects[p].work_request <= 0 || contact_is_deferred(volunteer, p) ||
            (project != POLICY_ANY_PROJECT && p != project))
            continue;
        if (best == volunteer->project_count || projects[p].work_request * projects[best].share >
                                                    projects[best].work_request * projects[p].share)
            best = p;
    }
    if (best == volunteer->project_count)
        return false;
    *ret_request = (struct fetch_request){.project = best, .scalar = projects[best].work_request};
    ret_request->seconds[CLIENT_CPU] = projects[best].work_request;
    return true;
}
