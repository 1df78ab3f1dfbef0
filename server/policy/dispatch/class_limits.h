/* SPDX-License-Identifier: Apache-2.0 */
/* The amounts by which the job pool separates jobs that differ in nothing else: four, each with a
 * maximum for a host (class_limits() in checks.h). Classes that need more are skipped without a
 * look; pure. */
#ifndef SERVER_POLICY_DISPATCH_CLASS_LIMITS_H
#define SERVER_POLICY_DISPATCH_CLASS_LIMITS_H

struct host_view;
struct version_option;
struct workunit_row;

enum class_limit {
    CLASS_MEMORY,    /* bytes */
    CLASS_DISK,      /* bytes */
    CLASS_BANDWIDTH, /* bytes per s */
    CLASS_SPEED,     /* FLOP per s that meet the delay bound on an idle host */
    CLASS_LIMIT_COUNT
};

/* What a job takes of each. */
void class_amounts(const struct workunit_row *workunit, double ret_amounts[CLASS_LIMIT_COUNT]);

/* FLOP a second, by the clock on the wall, that a job of the option does here. */
double class_speed(const struct host_view *view, const struct version_option *option);

#endif
