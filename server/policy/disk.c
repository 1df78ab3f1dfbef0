/* SPDX-License-Identifier: Apache-2.0 */
/* Disk space. The user's preferences and the disk itself set three bounds, the least of which
 * holds. Clients of August 2004 sent figures of their own; then theirs count, bounded by today's
 * formula where its inputs were sent too. Amounts 2 and 3 are at least amount 1 and wait for the
 * passes that use them. */
#include "server/policy/disk.h"

#include <math.h>
#include <stdbool.h>

#include "server/base/banned.h"

#define GIGABYTE 1073741824.0 /* 2^30 */

/* Today's formula; may be negative. */
static double free_by_preferences(const struct message *message,
                                  const struct global_preferences *preferences,
                                  double default_min_free_gb)
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

struct disk_space disk_space_of(const struct message *message,
                                const struct global_preferences *preferences,
                                double default_min_free_gb)
{
    double formula = free_by_preferences(message, preferences, default_min_free_gb);
    double figure = message->project_disk_free;
    bool has_figure = message->has_project_disk_free && figure >= 0;
    double first = !has_figure ? formula : message->has_disk_usage ? fmin(figure, formula) : figure;

    if (!(first > 0))
        first = 0;
    return (struct disk_space){.amounts = {first, first, first}};
}
