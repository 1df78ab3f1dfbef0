/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy/dispatch/class_limits.h"

#include "server/policy/dispatch/host_view.h"

#include <math.h>

#include "server/base/banned.h"

#define FPOPS_UNKNOWN 1e12 /* as estimate_wall_time has it */
#define FPOPS_MAX     1e24
#define SECONDS_LEAST 1e-6 /* times are equal within it */

/* That meets the delay bound with nothing else to do. */
static double speed_needed(const struct workunit_row *workunit)
{
    double fpops = workunit->rsc_fpops_est > 0 ? workunit->rsc_fpops_est : FPOPS_UNKNOWN;

    return fmin(fmax(fpops, 1), FPOPS_MAX) /
           (fmax((double)workunit->delay_bound, 0) + SECONDS_LEAST);
}

void class_amounts(const struct workunit_row *workunit, double ret_amounts[CLASS_LIMIT_COUNT])
{
    ret_amounts[CLASS_MEMORY] = workunit->rsc_memory_bound;
    ret_amounts[CLASS_DISK] = workunit->rsc_disk_bound;
    ret_amounts[CLASS_BANDWIDTH] = workunit->rsc_bandwidth_bound;
    ret_amounts[CLASS_SPEED] = speed_needed(workunit);
}

double class_speed(const struct host_view *view, const struct version_option *option)
{
    return option->usage.projected_flops / view->correction *
           (option->resource == RESOURCE_CPU ? view->expected.cpu : view->expected.gpu);
}
