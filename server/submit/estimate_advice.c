/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submit/estimate_advice.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum { SAMPLES_THAT_TELL = 10 };
#define GOOD_WITHIN     2.0 /* times, either way */
#define ALIKE_WITHIN    10.0
#define NEAR_BOUND      0.5 /* of rsc_fpops_bound */
#define MANY_NEAR_BOUND 0.01

static double ratio(const struct estimate_sample *sample)
{
    return sample->flop / sample->fpops_est;
}

static int compare_ratios(const void *a, const void *b)
{
    double left = ratio(a), right = ratio(b);

    return (left > right) - (left < right);
}

static double quantile(const struct estimate_sample *sorted, size_t count, double part)
{
    return ratio(&sorted[(size_t)(part * (double)(count - 1) + 0.5)]);
}

struct estimate_spread estimate_spread_of(struct estimate_sample *samples, size_t count)
{
    struct estimate_spread spread = {.count = count};
    size_t near_bound = 0;

    if (count == 0)
        return spread;
    qsort(samples, count, sizeof samples[0], compare_ratios);
    for (size_t i = 0; i < count; i++)
        near_bound += samples[i].flop > NEAR_BOUND * samples[i].fpops_bound;
    spread.low = quantile(samples, count, 0.05);
    spread.median = quantile(samples, count, 0.5);
    spread.high = quantile(samples, count, 0.95);
    spread.near_bound = (double)near_bound / (double)count;
    return spread;
}

struct text estimate_words(struct arena *arena, const struct estimate_spread *spread)
{
    struct buffer words = buffer_in(arena);

    if (spread->count < SAMPLES_THAT_TELL)
        return TEXT("too few results to tell");
    if (spread->median > GOOD_WITHIN || spread->median < 1 / GOOD_WITHIN)
        buffer_print(&words, "rsc_fpops_est is too %s: multiply it by %.2g",
                     spread->median > 1 ? "small" : "large", spread->median);
    else
        buffer_add_string(&words, "rsc_fpops_est is right");
    if (spread->high > ALIKE_WITHIN * spread->low)
        buffer_print(&words, "; jobs differ %.0f times: give each its own estimate",
                     spread->high / spread->low);
    if (spread->near_bound > MANY_NEAR_BOUND)
        buffer_print(&words,
                     "; %.0f %% use more than half of rsc_fpops_bound, at which clients give up: "
                     "raise it",
                     100 * spread->near_bound);
    return buffer_text(&words);
}
