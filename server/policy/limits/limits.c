/* SPDX-License-Identifier: Apache-2.0 */
/* Limits. All of them are counts of whole jobs; LIMIT_NONE stands for "no limit", so that callers
 * compare and never ask. */
#include "server/policy/limits/limits.h"

#include "server/base/random.h"

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

struct cpus limits_cpus(int64_t p_ncpus, const struct config *config,
                        const struct global_preferences *preferences,
                        const struct project_preferences *project)
{
    struct cpus cpus = {.usable = (double)p_ncpus};

    if (preferences->max_ncpus_pct > 0 && preferences->max_ncpus_pct < 100)
        cpus.usable = floor(cpus.usable * preferences->max_ncpus_pct / 100);
    if (preferences->max_cpus > 0)
        cpus.usable = fmin(cpus.usable, floor(preferences->max_cpus));
    cpus.usable = fmax(fmin(cpus.usable, CPUS_MAX), 1);
    cpus.ours = config->non_cpu_intensive ? 1 : fmin(cpus.usable, (double)config->max_ncpus);
    if (project->max_cpus > 0)
        cpus.ours = fmin(cpus.ours, (double)project->max_cpus);
    return cpus;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t limit_for(const struct jobs_limit *given, double processors)
{
    if (given->jobs <= 0)
        return LIMIT_NONE;
    return given->per_processor ? whole((double)given->jobs * processors) : given->jobs;
}

static double instances(const struct amounts *amounts, size_t resource)
{
    return resource == RESOURCE_CPU ? amounts->our_cpus
                                    : fmin(amounts->resources[resource].count, GPUS_MAX);
}

struct app_limit limits_of_app(const struct jobs_in_progress *given, int64_t appid,
                               const struct amounts *amounts)
{
    struct app_limit limit = {.appid = appid,
                              .total = given->total.jobs > 0 ? given->total.jobs : LIMIT_NONE};

    for (size_t i = 0; i < amounts->resource_count; i++)
        limit.by_resource[i] =
            limit_for(i == RESOURCE_CPU ? &given->cpu : &given->gpu, instances(amounts, i));
    return limit;
}

/* max_jobs_in_progress of the project, over what the older options say. */
static void add_project_limits(const struct config *config, const struct amounts *amounts,
                               struct job_limits *limits)
{
    for (size_t i = 0; i < config->jobs_in_progress_count; i++) {
        struct app_limit limit = limits_of_app(&config->jobs_in_progress[i], 0, amounts);

        if (config->jobs_in_progress[i].app_name.length > 0)
            continue;
        limits->project_total = smaller(limits->project_total, limit.total);
        for (size_t j = 0; j < amounts->resource_count; j++)
            limits->in_progress[j] = smaller(limits->in_progress[j], limit.by_resource[j]);
    }
}

struct job_limits limits_of(const struct config *config, const struct amounts *amounts,
                            const struct project_preferences *project)
{
    struct job_limits limits = {.reply = config->reply_jobs_max,
                                .in_progress_total = LIMIT_NONE,
                                .project_total = LIMIT_NONE};
    double gpus = 0;

    for (size_t i = 0; i < amounts->resource_count; i++) {
        double count = instances(amounts, i);
        int64_t each =
            i == RESOURCE_CPU ? config->max_wus_in_progress : config->max_wus_in_progress_gpu;

        if (i != RESOURCE_CPU)
            gpus += count;
        limits.in_progress[i] = each > 0 ? whole((double)each * count) : LIMIT_NONE;
    }
    if (config->max_wus_to_send > 0) {
        double processors =
            config->non_cpu_intensive ? 1 : amounts->our_cpus + config->gpu_multiplier * gpus;
        int64_t scaled = whole((double)config->max_wus_to_send * processors);
        if (scaled < limits.reply)
            limits.reply = scaled;
    }
    add_project_limits(config, amounts, &limits);
    if (project->max_jobs > 0)
        limits.in_progress_total = project->max_jobs;
    return limits;
}

bool limits_count_in_progress(const struct config *config,
                              const struct project_preferences *project, bool has_coprocs)
{
    return config->max_wus_in_progress > 0 ||
           (has_coprocs && config->max_wus_in_progress_gpu > 0) ||
           config->jobs_in_progress_count > 0 || project->max_jobs > 0;
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

int64_t limits_first_quota(const struct config *config, int64_t best)
{
    int64_t quota = config->daily_result_quota;

    if (config->untried_quota <= 0)
        return quota;
    if (best > 0)
        quota = smaller(quota, best);
    return smaller(quota, config->untried_quota);
}

bool limits_is_unproven(const struct config *config, int64_t stored)
{
    return stored > 0 && stored <= config->untried_quota && stored < config->daily_result_quota;
}

/* --- the day ---------------------------------------------------------------------------------- */

/* Days are counted from the epoch, shifted by a part of a day that the host's id gives. A day
 * number, unlike a day of the year, also differs after exactly one year; a clock set back gives a
 * new day too, which errs to the volunteer's side. */

static const int64_t day_length = 86400;                     /* s */
static const uint64_t spread = UINT64_C(0x71756f7461646179); /* any constant of its own */

static int64_t day_of(int64_t hostid, int64_t time)
{
    int64_t shift = (int64_t)(random_mix((uint64_t)hostid, spread) % (uint64_t)day_length);

    return (time + shift) / day_length;
}

bool quota_day_is_new(int64_t hostid, int64_t previous_time, int64_t now)
{
    return previous_time <= 0 || day_of(hostid, previous_time) != day_of(hostid, now);
}
