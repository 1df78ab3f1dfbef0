/* SPDX-License-Identifier: Apache-2.0 */
/* How long the jobs of a host will still take, as its client has it. */
#include "tools/volunteers/client/duration.h"
#include "tools/volunteers/host/policy.h"
#include "tools/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define LEAST 60.0 /* s: what is not done is never said to be */

double estimate_left(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    return estimate_policies[volunteer->population->habits.estimate].left(volunteer, job);
}

void estimate_learn(struct volunteer *volunteer, const struct volunteer_job *job)
{
    const struct estimate_policy *policy =
        &estimate_policies[volunteer->population->habits.estimate];

    if (policy->learn != NULL)
        policy->learn(volunteer, job);
}

/* The server's word, less the time that it has run. */
double estimate_by_server(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    (void)volunteer;
    return fmax(LEAST, job->estimate - job->elapsed);
}

/* Corrected by what jobs of its project showed; of one that runs, mixed with what it shows itself.
 */
double estimate_corrected(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    double before = job->estimate * volunteer->projects[job->project].correction;
    double fraction_done = job->duration > 0 ? job->progress / job->duration : 0;

    return fmax(LEAST, duration_left(before, job->elapsed, fraction_done));
}

void estimate_correct(struct volunteer *volunteer, const struct volunteer_job *job)
{
    struct volunteer_project *project = &volunteer->projects[job->project];

    if (!job->failed)
        project->correction = duration_correct(project->correction, job->estimate, job->elapsed);
}

size_t estimate_queue(const struct volunteer *volunteer, struct fetch_job *ret_jobs)
{
    size_t count = 0;

    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        if (job->done)
            continue;
        ret_jobs[count] =
            (struct fetch_job){.project = job->project, .left = estimate_left(volunteer, job)};
        ret_jobs[count].uses[FETCH_CPU] = job->cpus;
        if (job->coproc != FETCH_CPU)
            ret_jobs[count].uses[job->coproc] = job->coprocs;
        count++;
    }
    return count;
}
