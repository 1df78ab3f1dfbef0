/* SPDX-License-Identifier: Apache-2.0 */
/* Averages that weigh their first samples alike and later ones by a fixed part, so that they follow
 * what changes. A sample far above the average counts as ten times the average. */
#include "server/policy/result/run_statistics.h"

#include <math.h>
#include <stddef.h>

#include "server/base/banned.h"

#define SAMPLE_LIMIT  10.0
#define FLOPS_UNKNOWN 1e9 /* a host whose benchmarks never ran */
#define ELAPSED_LEAST 1e-6
#define RATIO_LEAST   1e-4
#define RATIO_MOST    1e4

struct average_kind {
    double threshold; /* samples that weigh alike */
    double weight;    /* of a later one */
};
static const struct average_kind of_host = {20, 0.01};
static const struct average_kind of_version = {100, 0.001};

/* What a column holds of a number that is too large for it, so that it makes no difference whether
 * a row is written and read between two samples. */
static double held(double number)
{
    return isfinite(number) ? number : 0;
}

static int64_t one_more(int64_t number)
{
    return number < INT32_MAX ? number + 1 : number;
}

/* `var` and `q` NULL: the variance is not kept. */
static void add_sample(const struct average_kind *kind, double sample, double *n, double *avg,
                       double *var, double *q)
{
    double difference;

    if (!(sample >= 0) || !isfinite(sample))
        return;
    if (*n > 0 && *avg > 0 && sample > *avg * SAMPLE_LIMIT)
        sample = *avg * SAMPLE_LIMIT;
    *n += 1;
    difference = sample - *avg;
    *avg += *n < kind->threshold ? difference / *n : kind->weight * difference;
    if (var == NULL)
        return;
    if (*n < kind->threshold) {
        *q = held(*q + difference * (sample - *avg));
        *var = held(*q / *n);
    } else {
        *var = held(*var + kind->weight * (difference * difference - *var));
    }
}

static double elapsed_of(const struct valid_run *run)
{
    return run->elapsed_time < ELAPSED_LEAST ? run->cpu_time : run->elapsed_time;
}

static bool has_samples(const struct valid_run *run)
{
    return !run->is_outlier && run->flops_estimate > 0 && run->flops_estimate != FLOPS_UNKNOWN;
}

/* Peak FLOP for each estimated one; negative: not to be used. */
static double ratio_of(const struct valid_run *run)
{
    double ratio =
        run->rsc_fpops_est > 0 ? elapsed_of(run) * run->flops_estimate / run->rsc_fpops_est : -1;

    return ratio >= RATIO_LEAST && ratio <= RATIO_MOST ? ratio : -1;
}

void run_statistics_add_valid(struct judged_version_row *version, const struct valid_run *run,
                              int64_t daily_result_quota)
{
    if (version->max_jobs_per_day > 0)
        version->max_jobs_per_day = one_more(version->max_jobs_per_day);
    else
        version->max_jobs_per_day = daily_result_quota > 0 ? daily_result_quota + 1 : 0;
    if (!run->is_unreplicated)
        version->consecutive_valid = one_more(version->consecutive_valid);
    if (!has_samples(run))
        return;
    add_sample(&of_host, ratio_of(run), &version->pfc_n, &version->pfc_avg, NULL, NULL);
    if (run->rsc_fpops_est > 0)
        add_sample(&of_host, elapsed_of(run) / run->rsc_fpops_est, &version->et_n, &version->et_avg,
                   &version->et_var, &version->et_q);
    add_sample(&of_host, run->turnaround, &version->turnaround_n, &version->turnaround_avg,
               &version->turnaround_var, &version->turnaround_q);
}

void run_statistics_add_invalid(struct judged_version_row *version, int64_t daily_result_quota)
{
    version->consecutive_valid = 0;
    if (daily_result_quota > 0 && version->max_jobs_per_day > daily_result_quota)
        version->max_jobs_per_day--;
}

void run_statistics_add_version(double *pfc_n, double *pfc_avg, const struct valid_run *run)
{
    if (has_samples(run))
        add_sample(&of_version, ratio_of(run), pfc_n, pfc_avg, NULL, NULL);
}

void run_statistics_add_variant(struct host_variant_row *variant, double elapsed_time,
                                double rsc_fpops_est)
{
    if (elapsed_time > 0 && rsc_fpops_est > 0)
        add_sample(&of_host, elapsed_time / rsc_fpops_est, &variant->et_n, &variant->et_avg,
                   &variant->et_var, &variant->et_q);
}

double run_statistics_turnaround(double avg_turnaround, double turnaround)
{
    if (!(turnaround >= 0)) /* the clock was set back meanwhile */
        return avg_turnaround > 0 ? avg_turnaround : 0;
    return avg_turnaround > 0 ? 0.7 * avg_turnaround + 0.3 * turnaround : turnaround;
}
