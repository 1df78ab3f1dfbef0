/* SPDX-License-Identifier: Apache-2.0 */
/* How long the jobs of a host will still take, as its client has it. */
#include "tools/lab/volunteers/host/runtime_estimate.h"

#include "tools/lab/volunteers/client/duration.h"
#include "tools/lab/volunteers/client/fetch.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define LEAST 60.0 /* s: a job that is not done always has so much left */
enum { INSTANCES_MAX = 1024 };

/* The server's estimate, less the time that the job has run. */
static double estimate_by_server(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    (void)volunteer;
    return fmax(LEAST, job->estimate - job->elapsed);
}

/* Corrected by the project's duration correction factor; once the job runs, mixed with what its
 * fraction done says. */
static double estimate_corrected(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    double before = job->estimate * volunteer->projects[job->project].correction;
    double fraction_done = job->duration > 0 ? job->progress / job->duration : 0;

    return fmax(LEAST, duration_left(before, job->elapsed, fraction_done));
}

static void estimate_correct(struct volunteer *volunteer, const struct volunteer_job *job)
{
    struct volunteer_project *project = &volunteer->projects[job->project];

    if (!job->failed)
        project->correction = duration_correct(project->correction, job->estimate, job->elapsed);
}

const struct estimate_policy estimate_policies[ESTIMATE_POLICIES] = {
    {"server", estimate_by_server, NULL},
    {"corrected", estimate_corrected, estimate_correct},
};

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

size_t estimate_queue(const struct volunteer *volunteer, struct fetch_job *ret_jobs)
{
    size_t count = 0;

    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        if (job->done)
            continue;
        ret_jobs[count] =
            (struct fetch_job){.project = job->project, .left = estimate_left(volunteer, job)};
        ret_jobs[count].uses[CLIENT_CPU] = job->cpus;
        if (job->coproc != CLIENT_CPU)
            ret_jobs[count].uses[job->coproc] = job->coprocs;
        count++;
    }
    return count;
}

/* --- the estimated delay of a resource ------------------------------------------------------- */

/* Jobs are laid onto the instances by deadline, each where it can begin first. Those that would be
 * late are in danger: they will run whatever else comes. Others give way to new jobs, and count for
 * nothing. A job that uses a part of an instance takes the instance for that part of its time. */
static size_t first_free(const double *free_at, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (free_at[i] < free_at[best])
            best = i;
    return best;
}

double estimate_busy_delay(const struct volunteer *volunteer, size_t resource)
{
    double free_at[INSTANCES_MAX] = {0}, busy[INSTANCES_MAX] = {0}, least = INFINITY;
    const struct duration_availability presence = {volunteer_on_fraction(volunteer), 1, 1};
    size_t count = resource < volunteer->fetch.resource_count
                       ? (size_t)fmin(volunteer->fetch.resources[resource].count, INSTANCES_MAX)
                       : 0;

    for (size_t i = 0; count > 0 && i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];
        double uses = resource == CLIENT_CPU ? job->cpus : job->coprocs;

        if (job->done || job->coproc != resource)
            continue;
        while (uses > 0) {
            size_t at = first_free(free_at, count);

            free_at[at] +=
                duration_normalize(&presence, estimate_left(volunteer, job)) * fmin(uses, 1);
            if (volunteer->now + free_at[at] > job->deadline)
                busy[at] = free_at[at];
            uses -= 1;
        }
    }
    for (size_t i = 0; i < count; i++)
        least = fmin(least, busy[i]);
    return count > 0 ? least : 0;
}
