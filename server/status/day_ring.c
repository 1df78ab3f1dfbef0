/* SPDX-License-Identifier: Apache-2.0 */
/* A slot lies at its number modulo the size of the ring, with its number beside it: what is left
 * there of another day is known by it, so that nothing has to be cleared when time passes. */
#include "server/status/day_ring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { NO_SLOT = -1 };

struct slot {
    int64_t number; /* time / DAY_SLOT_S */
    double seconds;
    struct day_level levels[DAY_LEVELS];
};

struct day_ring {
    size_t count;
    int64_t newest;
    double steady; /* when the totals were taken */
    struct slot slots[DAY_SLOTS];
    uint64_t *totals, *none; /* of the last time; zeros */
    uint64_t *counts;        /* `count` for each slot */
};

static size_t place_of(int64_t number)
{
    return (size_t)(number % DAY_SLOTS);
}

static int64_t number_of(double now)
{
    return now > 0 && now < 1e15 ? (int64_t)now / DAY_SLOT_S : 0;
}

static uint64_t *counts_at(const struct day_ring *ring, size_t place)
{
    return ring->counts + place * ring->count;
}

/* The newest slot, empty when it is new. */
static struct slot *open_newest(struct day_ring *ring)
{
    size_t place = place_of(ring->newest);
    struct slot *slot = &ring->slots[place];

    if (slot->number == ring->newest)
        return slot;
    *slot = (struct slot){.number = ring->newest};
    for (size_t i = 0; i < DAY_LEVELS; i++)
        slot->levels[i] = (struct day_level){NAN, NAN};
    memset(counts_at(ring, place), 0, ring->count * sizeof(uint64_t));
    return slot;
}

struct day_ring *day_ring_create(size_t count, double now, double steady)
{
    struct day_ring *ring = calloc(1, sizeof(*ring));

    if (ring == NULL)
        return NULL;
    *ring = (struct day_ring){
        .count = count,
        .newest = number_of(now),
        .steady = steady,
        .totals = calloc(count + 1, sizeof(uint64_t)),
        .none = calloc(count + 1, sizeof(uint64_t)),
        .counts = calloc(count * DAY_SLOTS + 1, sizeof(uint64_t)),
    };
    for (size_t i = 0; i < DAY_SLOTS; i++)
        ring->slots[i].number = NO_SLOT;
    if (ring->totals == NULL || ring->none == NULL || ring->counts == NULL) {
        day_ring_destroy(ring);
        return NULL;
    }
    (void)open_newest(ring);
    return ring;
}

void day_ring_destroy(struct day_ring *ring)
{
    if (ring == NULL)
        return;
    free(ring->totals);
    free(ring->none);
    free(ring->counts);
    free(ring);
}

static void go_to(struct day_ring *ring, int64_t number)
{
    if (number == ring->newest - 1) /* hardly set back: the slot goes on */
        return;
    for (size_t i = 0; i < DAY_SLOTS; i++)
        if (ring->slots[i].number > number)
            ring->slots[i].number = NO_SLOT;
    ring->newest = number;
}

void day_ring_add(struct day_ring *ring, double now, double steady, const uint64_t *totals,
                  const double levels[DAY_LEVELS])
{
    struct slot *slot;
    uint64_t *counts;

    go_to(ring, number_of(now));
    slot = open_newest(ring);
    counts = counts_at(ring, place_of(ring->newest));
    if (steady > ring->steady)
        slot->seconds += steady - ring->steady;
    ring->steady = steady;
    for (size_t i = 0; i < ring->count; i++) {
        counts[i] += totals[i] < ring->totals[i] ? totals[i] : totals[i] - ring->totals[i];
        ring->totals[i] = totals[i];
    }
    for (size_t i = 0; i < DAY_LEVELS; i++) {
        slot->levels[i].last = levels[i];
        slot->levels[i].most = fmax(slot->levels[i].most, levels[i]); /* the one that is no NAN */
    }
}

struct day_slot day_ring_slot(const struct day_ring *ring, size_t age)
{
    int64_t number = ring->newest - (int64_t)age;
    struct day_slot found = {.begin = number * DAY_SLOT_S, .counts = ring->none};

    for (size_t i = 0; i < DAY_LEVELS; i++)
        found.levels[i] = (struct day_level){NAN, NAN};
    if (age >= DAY_SLOTS || number < 0 || ring->slots[place_of(number)].number != number)
        return found;
    found.seconds = ring->slots[place_of(number)].seconds;
    found.counts = counts_at(ring, place_of(number));
    memcpy(found.levels, ring->slots[place_of(number)].levels, sizeof(found.levels));
    return found;
}

double day_ring_sum(const struct day_ring *ring, size_t slots, uint64_t *ret_counts)
{
    double seconds = 0;

    memset(ret_counts, 0, ring->count * sizeof(*ret_counts));
    for (size_t age = 0; age < slots && age < DAY_SLOTS; age++) {
        struct day_slot slot = day_ring_slot(ring, age);

        seconds += slot.seconds;
        for (size_t i = 0; i < ring->count; i++)
            ret_counts[i] += slot.counts[i];
    }
    return seconds;
}
