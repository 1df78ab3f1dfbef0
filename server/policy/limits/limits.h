/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on the number of jobs: per reply, per day, in progress (policy(7) 6.2, 3.3, 3.4); pure.
 *
 * This room answers how much a host may get before any job is looked at. Three come in: the message
 * of the client, the preferences of its user, and config.xml. The preferences are read first
 * (preferences.h): which are in force, and what they say of CPUs, memory, disk, apps and numbers of
 * jobs. With them the processors that count are known (limits_cpus), then what is asked for
 * of each resource, bounded to what a host can mean (amounts.h), and then the limits here.
 *
 * server/request/ reads the preferences and begins a new day of the quota; server/handout/view.c
 * makes amounts and limits part of the view of a host. While jobs are chosen,
 * server/policy/dispatch/ takes each from the amounts and compares its counts with the limits; the
 * limits do not change. */
#ifndef SERVER_POLICY_LIMITS_LIMITS_H
#define SERVER_POLICY_LIMITS_LIMITS_H

#include "config/config.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/limits/preferences.h"

#include <stdbool.h>
#include <stdint.h>

/* What BOINC may use by the preferences in force, and what our bounds leave of it. */
struct cpus limits_cpus(int64_t p_ncpus, const struct config *config,
                        const struct global_preferences *preferences,
                        const struct project_preferences *project);

/* Whether any limit counts the jobs that a host has in progress. */
bool limits_count_in_progress(const struct config *config,
                              const struct project_preferences *project, bool has_coprocs);

#define LIMIT_NONE INT64_MAX

struct job_limits {
    int64_t reply;                      /* jobs in one reply */
    int64_t in_progress[RESOURCES_MAX]; /* by resource */
    int64_t in_progress_total;          /* the user's own limit */
    int64_t project_total;              /* the project's */
};
/* `amounts` gives the instances of each resource. */
struct job_limits limits_of(const struct config *config, const struct amounts *amounts,
                            const struct project_preferences *project);

/* Of one app in progress, all and by resource. */
struct app_limit {
    int64_t appid, total, by_resource[RESOURCES_MAX];
};
struct app_limit limits_of_app(const struct jobs_in_progress *given, int64_t appid,
                               const struct amounts *amounts);

/* Jobs per day of one version: `stored` is max_jobs_per_day, `quota` daily_result_quota,
 * `processors` the CPUs, or coprocessors times their multiplier. Without a configured quota there
 * is none, whatever is stored: validators count that column up from 0. */
int64_t limits_daily(int64_t stored, int64_t quota, double processors);

/* max_jobs_per_day of a version of which the host has no row yet. It is low, since nobody knows
 * whether the host can run it, and no more than `best`, the most that it has of any version (0: it
 * has no row at all). Each success doubles it. 0: no quota is configured. */
int64_t limits_first_quota(const struct config *config, int64_t best);
/* Whether a version with this max_jobs_per_day has yet to show that the host can run it. Those of
 * one resource count their jobs of a day together, or a host that fails would have the first quota
 * of each. */
bool limits_is_unproven(const struct config *config, int64_t stored);

/* Each host has a midnight of its own, so that a project's hosts do not come back all at once.
 * Whether it lay between the two times (epoch); a host that was never here begins a new day. */
bool quota_day_is_new(int64_t hostid, int64_t previous_time, int64_t now);

#endif
