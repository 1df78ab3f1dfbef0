/* SPDX-License-Identifier: Apache-2.0 */
/* Disk space. The user's preferences and the disk itself set three bounds, the least of which
 * holds; a limit of 0 is none. Clients of August 2004 sent three figures of their own: then theirs
 * count, and where today's formula can be had as well, each is bounded by it, raised by what the
 * deletion would free, since deleting raises all three of its bounds by as much. */
#include "server/policy/disk/disk.h"

#include <math.h>

#include "server/base/banned.h"

#define GIGABYTE 1073741824.0 /* 2^30 */

double disk_by_preferences(const struct message *message,
                           const struct global_preferences *preferences, double default_min_free_gb)
{
    double used = message->has_disk_usage         ? message->d_boinc_used_total
                  : message->has_total_disk_usage ? message->total_disk_usage
                                                  : 0;
    double space =
        message->d_free - GIGABYTE * fmax(preferences->disk_min_free_gb, default_min_free_gb);

    if (!(used > 0)) /* unknown: the percentages mean nothing */
        return space;
    if (preferences->disk_max_used_pct > 0)
        space = fmin(space, message->d_total * preferences->disk_max_used_pct / 100 - used);
    if (preferences->disk_max_used_gb > 0)
        space = fmin(space, GIGABYTE * preferences->disk_max_used_gb - used);
    return space;
}

bool disk_is_reported(const struct message *message)
{
    return message->has_project_disk_free && message->project_disk_free >= 0;
}

/* A later figure that is absent, or makes no sense, is the one before. */
static double figure(bool is_there, double bytes, double before)
{
    return is_there && bytes > before ? bytes : before;
}

struct disk_space disk_space_of(const struct message *message,
                                const struct global_preferences *preferences,
                                double default_min_free_gb, double own_files)
{
    double formula = disk_by_preferences(message, preferences, default_min_free_gb);
    double amounts[DISK_PASSES];
    struct disk_space space;

    if (disk_is_reported(message)) {
        amounts[0] = message->project_disk_free;
        amounts[1] = figure(message->has_potentially_free_offender,
                            message->potentially_free_offender, amounts[0]);
        amounts[2] =
            figure(message->has_potentially_free_self, message->potentially_free_self, amounts[1]);
        if (!message->has_disk_usage)
            formula = INFINITY;
        for (size_t i = DISK_PASSES; i-- > 0;)
            amounts[i] = fmin(amounts[i], formula + (amounts[i] - amounts[0]));
    } else {
        amounts[0] = amounts[1] = formula;
        amounts[2] = own_files > 0 ? formula + own_files : formula;
    }
    for (size_t i = 0; i < DISK_PASSES; i++)
        space.amounts[i] = amounts[i] > 0 ? amounts[i] : 0;
    return space;
}
