/* SPDX-License-Identifier: Apache-2.0 */
/* Files come at the speed of the host's network, while it is on, those of one job after the other
 * in the order in which the jobs came. Results take no time on their way back. */
#include "tools/lab/volunteers/host/network.h"

#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define MOMENT    1e-3 /* s: a file that comes within this time counts as here */
#define BYTES_MAX 1e18 /* however large a server says that a file is */

void network_fetch(const struct volunteer *volunteer, struct volunteer_job *job, double bytes)
{
    job->coming = volunteer->machine.network > 0 && bytes > 0 ? fmin(bytes, BYTES_MAX) : 0;
}

/* NULL: none is waiting. */
static struct volunteer_job *first(const struct volunteer *volunteer)
{
    struct volunteer_job *best = NULL;

    if (volunteer->machine.network <= 0)
        return NULL;
    for (size_t i = 0; i < volunteer->job_count; i++) {
        struct volunteer_job *job = &volunteer->jobs[i];

        if (!job->done && job->coming > 0 && (best == NULL || job->number < best->number))
            best = job;
    }
    return best;
}

void network_advance(struct volunteer *volunteer, double interval)
{
    struct volunteer_job *job = first(volunteer);

    if (job == NULL)
        return;
    job->coming -= interval * volunteer->machine.network;
    if (job->coming > volunteer->machine.network * MOMENT)
        return;
    job->coming = 0;
    volunteer->stale = true;
}

double network_next(const struct volunteer *volunteer)
{
    const struct volunteer_job *job = first(volunteer);

    return job != NULL ? job->coming / volunteer->machine.network : INFINITY;
}

bool network_is_runnable(const struct volunteer_job *job)
{
    return !job->done && job->coming <= 0;
}
