/* SPDX-License-Identifier: Apache-2.0 */
/* The system's monotonic clock, in the two units that are asked for, and the thread's. A pause ends
 * up to twice above its longest: the last doubling is not cut. */
#include "server/base/clock.h"

#include <time.h>

#include "server/base/banned.h"

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_thread_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

double clock_seconds(void)
{
    return (double)clock_ns() * 1e-9;
}

double backoff_pause(double first, double longest, int64_t failures)
{
    double pause = first;

    for (int64_t i = 1; i < failures && pause < longest; i++)
        pause *= 2;
    return pause;
}
