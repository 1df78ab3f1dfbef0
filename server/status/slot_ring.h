/* SPDX-License-Identifier: Apache-2.0 */
/* The room of the status pages, which show an administrator in a browser how the servers do
 * (status_page.h: what came and how it ended, why hosts got nothing, what is queued, where the
 * time goes) and how the project does (project_page.h: jobs through their whole life, who fails).
 *
 * This ring remembers the last hour or day in slots. The process gives it the totals of its
 * counters now and then (slot_ring_add); the difference from the last time goes into the current
 * slot. The same slots have the counts of other processes, and of this one before a restart
 * (slot_ring_set_others), from rows of the database (slot_words.h). A page is made from such rings
 * and the current figures. All is pure: no clock, no lock, no I/O. The figures are gathered by
 * server/process/status_keeper.h and project_keeper.h.
 *
 * There are two clocks. Slots are numbered by the time of day, which somebody may set. If it is
 * set forward, the slots in between are unknown; if backward, later slots are forgotten, except
 * that a step back by one slot changes nothing. Rates use the time for which a slot was watched,
 * measured by a clock that nobody sets. */
#ifndef SERVER_STATUS_SLOT_RING_H
#define SERVER_STATUS_SLOT_RING_H

#include <stddef.h>
#include <stdint.h>

enum { DAY_SLOT_S = 300, DAY_SLOTS = 288, HOUR_SLOT_S = 60, HOUR_SLOTS = 60, SLOT_LEVELS = 1 };

/* What rises and falls, such as a length of a queue: how high it stood last. NAN: not known. */
struct slot {
    int64_t begin;                /* epoch, a multiple of the length of a slot */
    double seconds;               /* watched by any process; 0: nothing is known */
    const uint64_t *own, *others; /* what the totals rose by; in the ring */
    double levels[SLOT_LEVELS];
};
/* By all processes. */
static inline uint64_t slot_count(const struct slot *slot, size_t total)
{
    return slot->own[total] + slot->others[total];
}

struct slot_ring;

/* Of `slots` slots of `slot_s` seconds, for so many totals, all 0 at `now` (epoch) and `steady` (s
 * of a clock that only goes on). NULL: no memory. Its size never changes. */
struct slot_ring *slot_ring_create(int64_t slot_s, size_t slots, size_t count, double now,
                                   double steady);
void slot_ring_destroy(struct slot_ring *ring); /* NULL is fine */

/* The totals and levels of this moment. A total that is less than before began anew at 0. */
void slot_ring_add(struct slot_ring *ring, double now, double steady, const uint64_t *totals,
                   const double levels[SLOT_LEVELS]);

/* What this process has in a slot, or all others together. */
struct slot_share {
    double seconds; /* watched; of others: the sum */
    const uint64_t *counts;
    double levels[SLOT_LEVELS];
};
/* The others' share of the slot that begins then, in the place of what was known of it. Nothing
 * where the ring has no such slot. */
void slot_ring_set_others(struct slot_ring *ring, int64_t begin, const struct slot_share *others);
/* Of the slot of that age. */
struct slot_share slot_ring_own(const struct slot_ring *ring, size_t age);

/* The slot of that age: 0 the newest, which is not over yet, to slots - 1. Of one that was not
 * watched `seconds` is 0 and the counts are 0. */
struct slot slot_ring_slot(const struct slot_ring *ring, size_t age);
/* Adds up the newest `slots` slots; answers how many seconds of them were watched. */
double slot_ring_sum(const struct slot_ring *ring, size_t slots, uint64_t *ret_counts);

#endif
