/* SPDX-License-Identifier: Apache-2.0 */
/* A heap of four children to a node: half as deep as one of two, and the four lie side by side. */
#include "server/policy/edf/edf_slots.h"

#include "server/base/banned.h"

enum { CHILDREN = 4, JOB_COST = 10, LEVEL_COST = 6 /* units */ };

/* A slot that was never taken: it is entered at the bottom and rises. */
static void enter(struct edf_slots *slots, double end, uint64_t *work)
{
    size_t at = slots->count++;

    while (at > 0 && slots->until[(at - 1) / CHILDREN] > end) {
        slots->until[at] = slots->until[(at - 1) / CHILDREN];
        at = (at - 1) / CHILDREN;
        *work += LEVEL_COST;
    }
    slots->until[at] = end;
}

/* The slot on top is taken until `end`: it sinks. */
static void sink(struct edf_slots *slots, double end, uint64_t *work)
{
    double *until = slots->until;
    size_t at = 0;

    for (;;) {
        size_t first = CHILDREN * at + 1, least = first;

        *work += LEVEL_COST;
        if (first >= slots->count)
            break;
        for (size_t i = first + 1; i < first + CHILDREN && i < slots->count; i++)
            least = until[i] < until[least] ? i : least;
        if (until[least] >= end)
            break;
        until[at] = until[least];
        at = least;
    }
    until[at] = end;
}

double edf_slots_take(struct edf_slots *slots, double wall_time, uint64_t *work)
{
    double end = wall_time;

    *work += JOB_COST;
    if (wall_time <= 0)
        return 0; /* nothing left to do is done */
    if (slots->count < slots->most) {
        enter(slots, end, work);
    } else {
        end += slots->until[0];
        sink(slots, end, work);
    }
    return end;
}
