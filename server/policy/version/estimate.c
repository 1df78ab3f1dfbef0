/* SPDX-License-Identifier: Apache-2.0 */
/* Run time estimates. Statistics of the host with this version come first, then those of the
 * version on all hosts, then benchmarks. Numbers come from clients and from rows that clients
 * filled, so each is bounded where it enters: a wrong estimate may cost a job, never a crash, a
 * division by zero or an endless hand-out. */
#include "server/policy/version/estimate.h"

#include "server/base/between.h"
#include "server/parse/client_age.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define AVAILABILITY_MIN 0.01
/* Between what the slowest and the fastest processor of the next decades could do. */
#define FLOPS_MIN     1e6
#define CPU_FLOPS_MAX 1e14
#define FLOPS_MAX     1e18
#define FLOPS_DEFAULT 1e9 /* and what clients say whose benchmark failed */
#define FPOPS_DEFAULT 1e12
#define FPOPS_MAX     1e24
#define WALL_TIME_MAX 1e12 /* s */
/* Clients take their factor seriously between these (policy(7) 5.3). */
#define CORRECTION_MIN 0.02
#define CORRECTION_MAX 80.0

#define SAMPLES_HOST    10.0  /* more than this many: the host's own statistics count */
#define SAMPLES_VERSION 100.0 /* likewise of a version on all hosts */
/* Of hosts' benchmarks (policy(7) 5.4). */
#define BENCHMARK_HOSTS_MIN 10
#define BENCHMARK_MOST_PART 0.95
#define BENCHMARK_TOLERANCE 1.1
#define BENCHMARK_DEFAULT   3.3e9

#define GUESSED_PART_MOST 0.1 /* of a peak that counts as known */

#define SPEEDUP_MAX 250.0 /* statistics cannot say more than this times the plan class */

struct presence_shares availability_reported(const struct message *message, int64_t client_version)
{
    double on = message->has_on_frac ? between(message->on_frac, 0, 1) : 1;
    double active = message->has_active_frac ? between(message->active_frac, 0, 1) : 1;
    double gpu = message->has_gpu_active_frac ? between(message->gpu_active_frac, 0, 1) : active;

    if (client_version < CLIENT_TELLS_ACTIVE_FRACTION)
        active = gpu = 1;
    return (struct presence_shares){.cpu = on * active, .gpu = on * gpu};
}

struct availability availability_of(const struct message *message, struct presence_shares shares)
{
    double efficiency = 1;

    if (message->has_cpu_efficiency && message->cpu_efficiency > 0)
        efficiency = between(message->cpu_efficiency, AVAILABILITY_MIN, 1);
    return (struct availability){
        .cpu = between(shares.cpu * efficiency, AVAILABILITY_MIN, 1),
        .gpu = between(shares.gpu, AVAILABILITY_MIN, 1),
    };
}

double estimate_correction(const struct message *message, int64_t client_version)
{
    double factor = message->duration_correction_factor;

    if (client_version >= CLIENT_READS_DONT_USE_DCF || !(factor > 0))
        return 1;
    return between(factor, CORRECTION_MIN, CORRECTION_MAX);
}

double estimate_cpu_flops(double p_fpops)
{
    if (!(p_fpops > 0))
        return FLOPS_DEFAULT;
    return between(p_fpops, FLOPS_MIN, CPU_FLOPS_MAX);
}

bool estimate_has_benchmark(double p_fpops)
{
    return p_fpops > 0 && p_fpops != FLOPS_DEFAULT;
}

double estimate_stored_peak(double p_fpops, double peak_flops, double peak_of_cpus)
{
    if (!estimate_has_benchmark(p_fpops) && !(peak_of_cpus <= GUESSED_PART_MOST * peak_flops))
        return FLOPS_DEFAULT;
    return peak_flops != FLOPS_DEFAULT ? peak_flops : FLOPS_DEFAULT + 1;
}

static int compare_reals(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

struct benchmarks benchmarks_of(double *samples, size_t count)
{
    if (count < BENCHMARK_HOSTS_MIN)
        return (struct benchmarks){0};
    qsort(samples, count, sizeof(samples[0]), compare_reals);
    return (struct benchmarks){.median = samples[count / 2],
                               .most = samples[(size_t)((double)count * BENCHMARK_MOST_PART)]};
}

double estimate_capped_flops(double p_fpops, const struct benchmarks *benchmarks)
{
    bool is_known = benchmarks->median > 0 && benchmarks->most > 0;
    double median = is_known ? benchmarks->median : BENCHMARK_DEFAULT;
    double most = is_known ? benchmarks->most : BENCHMARK_DEFAULT;

    if (!estimate_has_benchmark(p_fpops))
        p_fpops = median;
    else if (p_fpops > BENCHMARK_TOLERANCE * most)
        p_fpops = most;
    return between(p_fpops, FLOPS_MIN, CPU_FLOPS_MAX);
}

static bool has_own_statistics(const struct speed_question *question)
{
    const struct host_app_version_row *own = question->statistics;

    return own != NULL && own->et_n > SAMPLES_HOST && own->et_avg > 0;
}

double estimate_projected_flops(const struct speed_question *question)
{
    const struct host_app_version_row *own = question->statistics;
    const struct app_version_row *version = question->version;
    double flops = question->benchmark_flops;

    if (question->no_statistics)
        return between(flops, FLOPS_MIN, FLOPS_MAX);
    if (has_own_statistics(question))
        flops = fmin(1 / own->et_avg, SPEEDUP_MAX * question->class_flops);
    else if (version != NULL && version->pfc_n > SAMPLES_VERSION && version->pfc_avg > 0)
        flops = fmin(question->peak_flops / version->pfc_avg, SPEEDUP_MAX * question->class_flops);
    return between(flops, FLOPS_MIN, FLOPS_MAX);
}

double estimate_bound_scale(const struct speed_question *question, double margin)
{
    double scale = 1;

    if (!has_own_statistics(question))
        scale = estimate_projected_flops(question) /
                between(question->benchmark_flops, FLOPS_MIN, FLOPS_MAX);
    return fmax(scale, 1) * fmax(margin, 1);
}

double estimate_blended_flops(const struct speed_question *question)
{
    double flops = estimate_projected_flops(question);
    double samples;

    if (question->statistics == NULL)
        return flops;
    samples = between(question->statistics->pfc_n, 1, 1e9);
    flops = ((samples - 1) * flops + question->class_flops) / samples;
    return between(flops, FLOPS_MIN, FLOPS_MAX);
}

double estimate_wall_time(double fpops_est, double projected_flops, double availability,
                          double correction)
{
    double fpops = fpops_est > 0 ? between(fpops_est, 1, FPOPS_MAX) : FPOPS_DEFAULT;
    double flops = between(projected_flops, FLOPS_MIN, FLOPS_MAX);
    double wall = fpops / flops / between(availability, AVAILABILITY_MIN, 1) * correction;

    return between(wall, 0, WALL_TIME_MAX);
}
