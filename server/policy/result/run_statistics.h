/* SPDX-License-Identifier: Apache-2.0 */
/* What a verdict, and of a variant a report, adds to the statistics of a host that later jobs are
 * chosen by (policy(7) 13.4, 4.6); pure. */
#ifndef SERVER_POLICY_RESULT_RUN_STATISTICS_H
#define SERVER_POLICY_RESULT_RUN_STATISTICS_H

#include "db/rows.h"

#include <stdbool.h>
#include <stdint.h>

/* How a valid result ran. */
struct valid_run {
    double elapsed_time, cpu_time; /* s */
    double flops_estimate;         /* peak FLOPS of what it used */
    double rsc_fpops_est;          /* FLOP */
    double turnaround;             /* s from sending to report */
    bool is_outlier;               /* its times say nothing */
    bool is_unreplicated;          /* nothing was there to compare it with, by the app's choice */
};

/* The statistics of a host with the version; the averages take one sample of each kind. As M = 0
 * stands for daily_result_quota (policy(7) 3.3), it becomes one more than that; 0 where there is no
 * quota. */
void run_statistics_add_valid(struct judged_version_row *version, const struct valid_run *run,
                              int64_t daily_result_quota);
/* An invalid one: its row of valid ones ends, and what valid ones have added to the quota goes. */
void run_statistics_add_invalid(struct judged_version_row *version, int64_t daily_result_quota);
/* pfc_n and pfc_avg of the version on all hosts. */
void run_statistics_add_version(double *pfc_n, double *pfc_avg, const struct valid_run *run);
/* The host's statistics of a variant of a science app, of a job that took so many seconds. */
void run_statistics_add_variant(struct host_variant_row *variant, double elapsed_time,
                                double rsc_fpops_est);
/* host.avg_turnaround after one more. */
double run_statistics_turnaround(double avg_turnaround, double turnaround);

#endif
