/* SPDX-License-Identifier: Apache-2.0 */
/* The room of the status page, which shows an administrator in a browser how one server process
 * does: what came and how it ended, why hosts got nothing, what is queued, where the time goes.
 *
 * This ring remembers the last day. The process gives it the totals of its counters once in a while
 * (day_ring_add); the difference to the time before goes into the slot of five minutes that it is.
 * The page (status_page.h) is made of such a ring and of the figures of the moment, for whoever
 * asks. Both are pure: no clock, no lock, no I/O. The figures are gathered by
 * server/process/status_keeper.h.
 *
 * Time goes by two clocks. Slots are named by the time of day, which somebody may set: forward,
 * then the slots between are unknown; backward, then what lies in the future is forgotten, but for
 * a step into the slot before, which is as if nothing had happened. How long a slot was watched,
 * by which rates are computed, goes by a clock that nobody sets. */
#ifndef SERVER_STATUS_DAY_RING_H
#define SERVER_STATUS_DAY_RING_H

#include <stddef.h>
#include <stdint.h>

enum { DAY_SLOT_S = 300, DAY_SLOTS = 288, DAY_SLOTS_OF_HOUR = 12, DAY_LEVELS = 2 };

/* What rises and falls, such as a length of a queue. NAN: not known. */
struct day_level {
    double last, most;
};

struct day_slot {
    int64_t begin;          /* epoch, a multiple of DAY_SLOT_S */
    double seconds;         /* watched; 0: nothing is known */
    const uint64_t *counts; /* what the totals rose by; in the ring */
    struct day_level levels[DAY_LEVELS];
};

struct day_ring;

/* For so many totals, all 0 at `now` (epoch) and `steady` (s of a clock that only goes on). NULL:
 * no memory. Its size never changes. */
struct day_ring *day_ring_create(size_t count, double now, double steady);
void day_ring_destroy(struct day_ring *ring); /* NULL is fine */

/* The totals and levels of this moment. A total that is less than before began anew at 0. */
void day_ring_add(struct day_ring *ring, double now, double steady, const uint64_t *totals,
                  const double levels[DAY_LEVELS]);

/* The slot of that age: 0 the newest, which is not over yet, to DAY_SLOTS - 1. Of one that was not
 * watched `seconds` is 0 and the counts are 0. */
struct day_slot day_ring_slot(const struct day_ring *ring, size_t age);
/* Adds up the newest `slots` slots; answers how many seconds of them were watched. */
double day_ring_sum(const struct day_ring *ring, size_t slots, uint64_t *ret_counts);

#endif
