/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that several checks ask for, from a host's figures and its volunteer's preferences. */
#include "server/policy/dispatch/host_view.h"

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

double memory_usable(double m_nbytes, const struct global_preferences *preferences)
{
    double busy = preferences->ram_max_used_busy_fraction;
    double idle = preferences->ram_max_used_idle_fraction;
    double bytes = m_nbytes > 0 ? m_nbytes : MEMORY_DEFAULT;

    if (busy > 0 && idle > 0)
        bytes *= fmin(1, fmax(busy, idle));
    return bytes;
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
