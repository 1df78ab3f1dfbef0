/* SPDX-License-Identifier: Apache-2.0 */
/* What several checks ask for, from a host's figures and its volunteer's preferences. */
#include "server/policy/dispatch/host_view.h"

#include "server/parse/client_age.h"

#include <math.h>

#include "server/base/banned.h"

bool id_list_has(struct id_list list, int64_t id)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.ids[i] == id)
            return true;
    return false;
}

#define MEMORY_DEFAULT 64e6
#define NARROWEST      1e-3 /* of a processor; nothing takes less but what takes none */

double memory_usable(double m_nbytes, const struct global_preferences *preferences)
{
    double busy = preferences->ram_max_used_busy_fraction;
    double idle = preferences->ram_max_used_idle_fraction;
    double bytes = m_nbytes > 0 ? m_nbytes : MEMORY_DEFAULT;

    if (busy > 0 && idle > 0)
        bytes *= fmin(1, fmax(busy, idle));
    return bytes;
}

bool memory_is_strict(const struct config *config, int64_t client_version)
{
    return config->strict_memory_bound && client_version >= CLIENT_READS_STRICT_MEMORY_BOUND;
}

/* How many jobs of this project's versions can run beside each other. */
static double jobs_at_once(const struct host_view *view)
{
    const struct option_span all = version_options_all(&view->options);
    double narrowest[RESOURCES_MAX], most = 1; /* one more may begin on CPUs in part taken */

    for (size_t i = 0; i < view->asked.resource_count; i++)
        narrowest[i] = 1;
    for (size_t i = 0; i < all.count; i++) {
        const struct version_option *option = &all.items[i];
        double width =
            option->resource == RESOURCE_CPU ? option->usage.avg_ncpus : option->usage.coproc_count;

        if (option->is_fit && option->resource < view->asked.resource_count)
            narrowest[option->resource] = fmin(narrowest[option->resource], width);
    }
    for (size_t i = 0; i < view->asked.resource_count; i++)
        most += view->asked.resources[i].count / fmax(narrowest[i], NARROWEST);
    return most;
}

/* What versions count instead of a job's bound. */
static double largest_of_versions(const struct host_view *view)
{
    const struct option_span all = version_options_all(&view->options);
    double largest = 0;

    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].is_fit)
            largest = fmax(largest, all.items[i].memory);
    return largest;
}

bool memory_may_run_short(const struct host_view *view, double largest_bound)
{
    double jobs = (double)view->in_progress_total + (double)view->limits.reply;
    double largest = fmax(largest_bound, largest_of_versions(view));

    return largest * jobs > view->memory && largest * fmin(jobs, jobs_at_once(view)) > view->memory;
}

double memory_counted(const struct host_view *view, const struct version_option *option,
                      double bound)
{
    if (!view->simulates_memory)
        return 0;
    if (option == NULL)
        return bound;
    if (option->memory_peak > 0 && !view->memory_is_strict)
        return option->memory_peak;
    return option->memory > 0 ? option->memory : bound;
}

bool resource_is_excluded(const struct project_preferences *project, size_t resource,
                          struct text type)
{
    if (resource == RESOURCE_CPU)
        return project->no_cpu;
    if (project->no_gpus)
        return true;
    for (size_t i = 0; i < project->no_resource_count; i++)
        if (text_equal_nocase(project->no_resources[i], type))
            return true;
    return false;
}

bool app_is_selected(const struct project_preferences *project, int64_t appid)
{
    for (size_t i = 0; i < project->app_id_count; i++)
        if (project->app_ids[i] == appid)
            return true;
    return project->app_id_count == 0;
}

enum hr_type app_hr_type(const struct config *config, const struct app_row *app)
{
    int64_t type = app->homogeneous_redundancy != HR_NONE ? app->homogeneous_redundancy
                                                          : config->homogeneous_redundancy;
    return type == HR_NONE ? HR_NONE : type == HR_FINE ? HR_FINE : HR_COARSE;
}

int64_t hr_class_for(const struct host_view *view, const struct app_row *app)
{
    enum hr_type type = app_hr_type(view->config, app);
    return type == HR_NONE ? 0 : view->hr_classes[type];
}

int64_t grace_period(const struct config *config)
{
    if (config->report_grace_period > 0)
        return config->report_grace_period;
    return (int64_t)(config->grace_period_hours * 3600);
}

bool option_runs(const struct host_view *view, const struct version_option *option)
{
    return option->is_runnable && option->resource < view->asked.resource_count &&
           !view->is_excluded[option->resource];
}
