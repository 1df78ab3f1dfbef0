/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable hosts report soon and without errors. Errors show in a daily quota that was reduced;
 * kinds of computers that are always slow are given more time. */
#include "server/policy/version/reliability.h"

#include <math.h>

#include "server/base/banned.h"

#define VALID_MIN          10  /* results in a row, for either */
#define TURNAROUND_MIN     10  /* results, before their average says anything */
#define SLOW_KIND_FACTOR   1.8 /* of turnaround */
#define FRACTION_MIN       0.01
#define ESTIMATES_IN_BOUND 2 /* a reduced bound leaves this many times the estimate */

bool priority_needs_reliable(const struct config *config, int64_t priority)
{
    return config->reliable_on_priority != 0 && priority >= config->reliable_on_priority;
}

static bool is_slow_kind(struct text os_name, struct text p_vendor)
{
    if (text_contains(os_name, TEXT("Darwin")))
        return text_contains(p_vendor, TEXT("Macintosh")) || text_contains(p_vendor, TEXT("Power"));
    return !text_contains(os_name, TEXT("Windows")) && !text_contains(os_name, TEXT("Linux"));
}

bool version_is_reliable(const struct host_app_version_row *row, const struct config *config,
                         struct text os_name, struct text p_vendor)
{
    double turnaround_max = (double)config->reliable_max_avg_turnaround *
                            (is_slow_kind(os_name, p_vendor) ? SLOW_KIND_FACTOR : 1);

    if (row->turnaround_n > TURNAROUND_MIN && turnaround_max > 0 &&
        row->turnaround_avg > turnaround_max)
        return false;
    if (row->max_jobs_per_day > 0 && row->max_jobs_per_day < config->daily_result_quota)
        return false;
    return row->consecutive_valid >= VALID_MIN;
}

bool version_is_trusted(int64_t consecutive_valid, double chance)
{
    return consecutive_valid >= VALID_MIN && chance > 1 / (double)consecutive_valid;
}

int64_t shorter_delay_bound(int64_t delay_bound, double wanted, double wall_time)
{
    double full = (double)delay_bound, comfortable = ESTIMATES_IN_BOUND * wall_time;

    if (wanted < comfortable && comfortable < fmin(full, 2 * wanted))
        wanted = comfortable;
    return wanted < full ? (int64_t)wanted : delay_bound;
}

int64_t reduced_delay_bound(int64_t delay_bound, double fraction, double wall_time)
{
    if (!(fraction > FRACTION_MIN) || fraction >= 1)
        return delay_bound;
    return shorter_delay_bound(delay_bound, (double)delay_bound * fraction, wall_time);
}
