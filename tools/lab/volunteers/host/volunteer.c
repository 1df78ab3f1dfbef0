/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/volunteers/host/volunteer.h"

#include "server/base/banned.h"

double volunteer_on_fraction(const struct volunteer *volunteer)
{
    /* A day of presence to begin with, so that the first hours do not count for everything. */
    double on = volunteer->on_time + 86400;

    return on / (on + volunteer->off_time);
}

double volunteer_unbooked_flops(const struct volunteer *volunteer, size_t project)
{
    double flops = 0;

    for (size_t r = 0; r < volunteer->fetch.resource_count; r++)
        flops += volunteer->projects[project].used[r] * volunteer->fetch.resources[r].flops;
    return flops;
}
