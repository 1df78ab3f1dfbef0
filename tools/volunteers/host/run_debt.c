/* SPDX-License-Identifier: Apache-2.0 */
/* Running by debt (debt.h), chosen again when a job ends or comes and after each period. That age
 * knew no coprocessors and no jobs of several CPUs: jobs of coprocessors run beside, and one of
 * several CPUs counts as one. */
#include "tools/volunteers/client/debt.h"
#include "tools/volunteers/host/network.h"
#include "tools/volunteers/host/policy.h"
#include "tools/volunteers/host/volunteer.h"

#include "server/base/banned.h"

void run_by_debt(struct volunteer *volunteer)
{
    struct debt_project projects[FETCH_PROJECTS_MAX];
    struct debt_result results[VOLUNTEER_JOBS_MAX];
    double cpus = run_coprocs(volunteer);

    for (size_t p = 0; p < volunteer->project_count; p++)
        projects[p] = (struct debt_project){.share = volunteer->fetch.projects[p].share,
                                            .debt = volunteer->projects[p].debt};
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];
        bool is_mine = job->coproc == FETCH_CPU;

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
        if (volunteer->jobs[i].coproc == FETCH_CPU) {
            volunteer->jobs[i].running = results[i].running;
            volunteer->jobs[i].booked = results[i].cpu_time_at_schedule;
        }
    volunteer->next_choice = volunteer->now + volunteer->population->period;
}
