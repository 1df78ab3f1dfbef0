/* SPDX-License-Identifier: Apache-2.0 */
/* Limits. All of them are counts of whole jobs; LIMIT_NONE stands for "no limit", so that callers
 * compare and never ask. */
#include "server/policy/limits.h"

#include <math.h>

#include "server/base/banned.h"

#define CPUS_MAX 4096.0
#define GPUS_MAX 64.0

static int64_t whole(double number)
{
    if (!(number >= 1))
        return number > 0 ? 1 : 0;
    return number >= 1e15 ? LIMIT_NONE : (int64_t)number;
}

double limits_usable_cpus(int64_t p_ncpus, const struct config *config,
                          const struct global_preferences *preferences,
                          const struct project_preferences *project)
{
    double cpus = (double)p_ncpus;

    if (config->non_cpu_intensive)
        return 1;
    if (preferences->max_ncpus_pct > 0 && preferences->max_ncpus_pct < 100)
        cpus = floor(cpus * preferences->max_ncpus_pct / 100);
    cpus = fmin(cpus, fmin((double)config->max_ncpus, CPUS_MAX));
    if (project->max_cpus > 0)
        cpus = fmin(cpus, (double)project->max_cpus);
    return fmax(cpus, 1);
}

struct job_limits limits_of(const struct config *config, const struct amounts *amounts,
                            const struct project_preferences *project)
{
    struct job_limits limits = {.reply = config->reply_jobs_max, .in_progress_total = LIMIT_NONE};
    double gpus = 0;

    for (size_t i = 0; i < amounts->resource_count; i++) {
        double count = i == RESOURCE_CPU ? amounts->resources[i].count
                                         : fmin(amounts->resources[i].count, GPUS_MAX);
        int64_t each =
            i == RESOURCE_CPU ? config->max_wus_in_progress : config->max_wus_in_progress_gpu;

        if (i != RESOURCE_CPU)
            gpus += count;
        limits.in_progress[i] = each > 0 ? whole((double)each * count) : LIMIT_NONE;
    }
    if (config->max_wus_to_send > 0) {
        double processors = config->non_cpu_intensive ? 1
                                                      : amounts->resources[RESOURCE_CPU].count +
                                                            config->gpu_multiplier * gpus;
        int64_t scaled = whole((double)config->max_wus_to_send * processors);
        if (scaled < limits.reply)
            limits.reply = scaled;
    }
    if (project->max_jobs > 0)
        limits.in_progress_total = project->max_jobs;
    return limits;
}

int64_t limits_daily(int64_t stored, int64_t quota, double processors)
{
    if (quota <= 0)
        return LIMIT_NONE;
    if (stored <= 0) /* not yet set */
        stored = quota;
    if (stored == 1) /* a version that fails: one try a day, on however many processors */
        return 1;
    return whole((double)stored * fmax(processors, 1));
}
