/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs are laid onto the instances by deadline, each where it can begin first. Those that would be
 * late are in danger: they will run whatever else comes. Others give way, and count for nothing. A
 * part of an instance is taken for so much less time. */
#include "tools/volunteers/host/busy.h"

#include "tools/volunteers/client/duration.h"
#include "tools/volunteers/host/policy.h"
#include "tools/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

enum { INSTANCES_MAX = 1024 };

static size_t first_free(const double *free_at, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (free_at[i] < free_at[best])
            best = i;
    return best;
}

double busy_delay(const struct volunteer *volunteer, size_t resource)
{
    double free_at[INSTANCES_MAX] = {0}, busy[INSTANCES_MAX] = {0}, least = INFINITY;
    const struct availability presence = {volunteer_on_fraction(volunteer), 1, 1};
    size_t count = resource < volunteer->fetch.resource_count
                       ? (size_t)fmin(volunteer->fetch.resources[resource].count, INSTANCES_MAX)
                       : 0;

    for (size_t i = 0; count > 0 && i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];
        double uses = resource == FETCH_CPU ? job->cpus : job->coprocs;

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
