/* SPDX-License-Identifier: Apache-2.0 */
/* Earliest deadline first, coprocessors before CPUs: what a server simulates is what runs. Of the
 * CPUs that coprocessor jobs use only whole ones are withheld from the other jobs. */
#include "tools/lab/volunteers/host/network.h"
#include "tools/lab/volunteers/host/policy.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define LEAST 1e-9 /* instances */

double run_coprocs(struct volunteer *volunteer)
{
    double used[CLIENT_RESOURCES] = {0}, cpus = 0;

    for (size_t i = 0; i < volunteer->job_count; i++) {
        struct volunteer_job *job = &volunteer->jobs[i];

        if (job->coproc == CLIENT_CPU)
            continue;
        job->running =
            network_is_runnable(job) && used[job->coproc] + job->coprocs <=
                                            volunteer->fetch.resources[job->coproc].count + LEAST;
        if (!job->running)
            continue;
        used[job->coproc] += job->coprocs;
        cpus += job->cpus;
    }
    return volunteer->fetch.resources[CLIENT_CPU].count - floor(cpus + LEAST);
}

void run_by_deadline(struct volunteer *volunteer)
{
    double cpus = run_coprocs(volunteer);

    for (size_t i = 0; i < volunteer->job_count; i++) {
        struct volunteer_job *job = &volunteer->jobs[i];

        if (job->coproc != CLIENT_CPU)
            continue;
        job->running = network_is_runnable(job) && job->cpus <= cpus + LEAST;
        if (job->running)
            cpus -= job->cpus;
    }
}
