/* SPDX-License-Identifier: Apache-2.0 */
/* How long a job takes on a host (policy(7) 5.1 to 5.4); pure. */
#ifndef SERVER_POLICY_VERSION_ESTIMATE_H
#define SERVER_POLICY_VERSION_ESTIMATE_H

#include "db/rows.h"
#include "server/parse/message.h"
#include "server/policy/version/presence.h"

#include <stdbool.h>
#include <stdint.h>

/* The part of wall time in which jobs run, [0.01, 1]. */
struct availability {
    double cpu, gpu;
};
/* The part of the time in which the client can compute, as it reports it. An absent fraction is
 * unknown, not zero. */
struct presence_shares availability_reported(const struct message *message, int64_t client_version);
/* Of a client that can compute for this part of the time. */
struct availability availability_of(const struct message *message, struct presence_shares shares);

/* What the client multiplies its own estimates by: its correction factor before 7.0.28, which obey
 * it whatever the server says, else 1. */
double estimate_correction(const struct message *message, int64_t client_version);

/* FLOPS of one CPU as a benchmark gave it, or a stand-in where it cannot be. */
double estimate_cpu_flops(double p_fpops);
/* Whether it did: clients say exactly 1e9 where theirs failed or has not run yet. */
bool estimate_has_benchmark(double p_fpops);
/* What is stored as result.flops_estimate: the peak; or 1e9, by which validators know that there
 * was no benchmark, where more than a tenth of the peak is that of CPUs. Nothing real is called so.
 */
double estimate_stored_peak(double p_fpops, double peak_flops, double peak_of_cpus);

/* What the project's active hosts measured, to bound what plan classes believe of one host. */
struct benchmarks {
    double median, most; /* FLOPS of one CPU; `most`: the 95th percentile. 0: too few hosts */
};
/* Sorts the samples in place. */
struct benchmarks benchmarks_of(double *samples, size_t count);
double estimate_capped_flops(double p_fpops, const struct benchmarks *benchmarks);

/* The speed of a version on a host. `statistics` is NULL when the host has none. */
struct speed_question {
    double class_flops;     /* what the plan class says; the CPU's speed without one */
    double benchmark_flops; /* p_fpops * (CPUs + 10 * coprocessors) */
    double peak_flops;
    const struct host_app_version_row *statistics;
    const struct app_version_row *version; /* NULL: anonymous platform */
    bool no_statistics;                    /* rte_no_stats */
};
double estimate_projected_flops(const struct speed_question *question);
/* Clients give a job up after its bound / projected FLOPS. Until the host has statistics of its
 * own, that time is to be what it would be by benchmarks alone, and longer by `margin` (1: not):
 * times which the bound is sent. Never below 1. */
double estimate_bound_scale(const struct speed_question *question, double margin);
/* The same mixed with the plan class's word by the number of samples: for comparing versions. */
double estimate_blended_flops(const struct speed_question *question);

/* Seconds of wall time. An estimate that is not positive counts as 1e12 FLOP. */
double estimate_wall_time(double fpops_est, double projected_flops, double availability,
                          double correction);

#endif
