/* SPDX-License-Identifier: Apache-2.0 */
/* The system's monotonic clock, in the two units that are asked for. A pause ends up to twice above
 * its longest: the last doubling is not cut. */
#include "server/base/clock.h"

#include <time.h>

#include "server/base/banned.h"

uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

double clock_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double backoff_pause(double first, double longest, int64_t failures)
{
    double pause = first;

    for (int64_t i = 1; i < failures && pause < longest; i++)
        pause *= 2;
    return pause;
}
