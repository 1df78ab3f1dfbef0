/* SPDX-License-Identifier: Apache-2.0 */
/* Normalized time is wall time: it includes the time that the host is off or its CPUs are busy with
 * other things. A correction factor mends estimates that are wrong for all jobs of a project. It
 * rises at once, since a job that takes too long may miss its deadline, and sinks slowly; slower
 * still when a job ended much too early, as failed ones do.
 *
 * The numbers are those of BOINC clients since: the estimate of a running job is weighted by the
 * fraction done, and the factor moves by a tenth, or by a hundredth where a job took less than a
 * tenth of what was expected. */
#include "tools/lab/volunteers/client/duration.h"

#include <math.h>

#include "server/base/banned.h"

#define CORRECTION_MIN 0.01
#define CORRECTION_MAX 100.0

static double rate(const struct duration_availability *availability)
{
    return availability->on_fraction * availability->active_fraction * availability->cpu_efficiency;
}

static double divide(double time, double by)
{
    if (time <= 0)
        return 0;
    return by > 0 ? time / by : INFINITY;
}

double duration_normalize(const struct duration_availability *availability, double cpu_time)
{
    return divide(cpu_time, rate(availability));
}

double duration_project_normalize(const struct duration_availability *availability,
                                  double share_fraction, double cpu_time)
{
    return divide(cpu_time, rate(availability) * share_fraction);
}

double duration_operations(const struct duration_availability *availability, double share_fraction,
                           double flops, double request)
{
    return request * flops * share_fraction * rate(availability);
}

double duration_of_unstarted(double operations, double flops, double correction)
{
    return divide(operations, flops) * correction;
}

double duration_of_running(double estimate_before, double elapsed, double fraction_done)
{
    double done = fmin(fmax(fraction_done, 0), 1);
    double shown = done > 0 ? elapsed / done : 0;

    return done * shown + (1 - done) * estimate_before;
}

double duration_left(double estimate_before, double elapsed, double fraction_done)
{
    double done = fmin(fmax(fraction_done, 0), 1);

    return (1 - done) * duration_of_running(estimate_before, elapsed, fraction_done);
}

double duration_correct(double correction, double estimate, double elapsed)
{
    double ratio;

    if (estimate <= 0 || elapsed < 0)
        return correction;
    ratio = elapsed / estimate;
    if (ratio > correction)
        correction = ratio;
    else if (ratio < correction / 10)
        correction = 0.99 * correction + 0.01 * ratio;
    else
        correction = 0.9 * correction + 0.1 * ratio;
    return fmin(fmax(correction, CORRECTION_MIN), CORRECTION_MAX);
}
