/* SPDX-License-Identifier: Apache-2.0 */
/* A slot lies at its number modulo the size of the ring, with its number beside it: what is left
 * there of an earlier round is known by it, so that nothing has to be cleared when time passes. */
#include "server/status/slot_ring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { NO_SLOT = -1 };

struct ring_slot {
    int64_t number; /* time / slot_s */
    double seconds, others_seconds;
    double levels[SLOT_LEVELS], others_levels[SLOT_LEVELS];
};

struct slot_ring {
    int64_t slot_s;
    size_t slot_count, count;
    int64_t newest;
    double now, steady; /* when the totals were taken */
    struct ring_slot *slots;
    uint64_t *totals, *none; /* of the last time; zeros */
    uint64_t *counts;        /* 2 * `count` for each slot: own ones, others' */
};

static size_t place_of(const struct slot_ring *ring, int64_t number)
{
    return (size_t)(number % (int64_t)ring->slot_count);
}

static int64_t number_of(int64_t slot_s, double now)
{
    return now > 0 && now < 1e15 ? (int64_t)now / slot_s : 0;
}

static uint64_t *counts_at(const struct slot_ring *ring, size_t place)
{
    return ring->counts + 2 * place * ring->count;
}

static void clear_levels(double levels[SLOT_LEVELS])
{
    for (size_t i = 0; i < SLOT_LEVELS; i++)
        levels[i] = NAN;
}

/* The slot of that number, empty when it is new. */
static struct ring_slot *open_slot(struct slot_ring *ring, int64_t number)
{
    size_t place = place_of(ring, number);
    struct ring_slot *slot = &ring->slots[place];

    if (slot->number == number)
        return slot;
    *slot = (struct ring_slot){.number = number};
    clear_levels(slot->levels);
    clear_levels(slot->others_levels);
    memset(counts_at(ring, place), 0, 2 * ring->count * sizeof(uint64_t));
    return slot;
}

struct slot_ring *slot_ring_create(int64_t slot_s, size_t slots, size_t count, double now,
                                   double steady)
{
    struct slot_ring *ring = calloc(1, sizeof(*ring));

    if (ring == NULL)
        return NULL;
    *ring = (struct slot_ring){
        .slot_s = slot_s,
        .slot_count = slots,
        .count = count,
        .newest = number_of(slot_s, now),
        .now = now,
        .steady = steady,
        .slots = calloc(slots, sizeof(struct ring_slot)),
        .totals = calloc(count + 1, sizeof(uint64_t)),
        .none = calloc(count + 1, sizeof(uint64_t)),
        .counts = calloc(2 * count * slots + 1, sizeof(uint64_t)),
    };
    if (ring->slots == NULL || ring->totals == NULL || ring->none == NULL || ring->counts == NULL) {
        slot_ring_destroy(ring);
        return NULL;
    }
    for (size_t i = 0; i < slots; i++)
        ring->slots[i].number = NO_SLOT;
    (void)open_slot(ring, ring->newest);
    return ring;
}

void slot_ring_destroy(struct slot_ring *ring)
{
    if (ring == NULL)
        return;
    free(ring->slots);
    free(ring->totals);
    free(ring->none);
    free(ring->counts);
    free(ring);
}

static void go_to(struct slot_ring *ring, int64_t number)
{
    if (number == ring->newest - 1) /* hardly set back: the slot goes on */
        return;
    for (size_t i = 0; i < ring->slot_count; i++)
        if (ring->slots[i].number > number)
            ring->slots[i].number = NO_SLOT;
    ring->newest = number;
}

void slot_ring_add(struct slot_ring *ring, double now, double steady, const uint64_t *totals,
                   const double levels[SLOT_LEVELS])
{
    struct ring_slot *slot;
    uint64_t *counts;

    go_to(ring, number_of(ring->slot_s, now));
    slot = open_slot(ring, ring->newest);
    counts = counts_at(ring, place_of(ring, ring->newest));
    if (steady > ring->steady)
        slot->seconds += steady - ring->steady;
    ring->now = now;
    ring->steady = steady;
    for (size_t i = 0; i < ring->count; i++) {
        counts[i] += totals[i] < ring->totals[i] ? totals[i] : totals[i] - ring->totals[i];
        ring->totals[i] = totals[i];
    }
    memcpy(slot->levels, levels, sizeof(slot->levels));
}

void slot_ring_set_others(struct slot_ring *ring, int64_t begin, const struct slot_share *others)
{
    int64_t number = begin / ring->slot_s;
    struct ring_slot *slot;

    if (begin < 0 || number > ring->newest || number <= ring->newest - (int64_t)ring->slot_count)
        return;
    slot = open_slot(ring, number);
    slot->others_seconds = others->seconds;
    memcpy(slot->others_levels, others->levels, sizeof(slot->others_levels));
    memcpy(counts_at(ring, place_of(ring, number)) + ring->count, others->counts,
           ring->count * sizeof(uint64_t));
}

/* NULL: nothing is known of it. */
static const struct ring_slot *slot_of_age(const struct slot_ring *ring, size_t age)
{
    int64_t number = ring->newest - (int64_t)age;

    if (age >= ring->slot_count || number < 0 ||
        ring->slots[place_of(ring, number)].number != number)
        return NULL;
    return &ring->slots[place_of(ring, number)];
}

struct slot_share slot_ring_own(const struct slot_ring *ring, size_t age)
{
    const struct ring_slot *slot = slot_of_age(ring, age);
    struct slot_share own = {.counts = ring->none};

    clear_levels(own.levels);
    if (slot == NULL)
        return own;
    own.seconds = slot->seconds;
    own.counts = counts_at(ring, place_of(ring, slot->number));
    memcpy(own.levels, slot->levels, sizeof(own.levels));
    return own;
}

/* Several processes that watch at a time watch no longer than the slot has been; one that slept may
 * have. */
static double watched(const struct slot_ring *ring, const struct ring_slot *slot)
{
    double passed = slot->number == ring->newest ? ring->now - (double)(slot->number * ring->slot_s)
                                                 : (double)ring->slot_s;

    return fmax(slot->seconds, fmin(slot->seconds + slot->others_seconds, passed));
}

struct slot slot_ring_slot(const struct slot_ring *ring, size_t age)
{
    const struct ring_slot *slot = slot_of_age(ring, age);
    struct slot found = {.begin = (ring->newest - (int64_t)age) * ring->slot_s,
                         .own = ring->none,
                         .others = ring->none};

    clear_levels(found.levels);
    if (slot == NULL)
        return found;
    found.seconds = watched(ring, slot);
    found.own = counts_at(ring, place_of(ring, slot->number));
    found.others = found.own + ring->count;
    for (size_t i = 0; i < SLOT_LEVELS; i++) /* the one that is no NAN */
        found.levels[i] = fmax(slot->levels[i], slot->others_levels[i]);
    return found;
}

double slot_ring_sum(const struct slot_ring *ring, size_t slots, uint64_t *ret_counts)
{
    double seconds = 0;

    memset(ret_counts, 0, ring->count * sizeof(*ret_counts));
    for (size_t age = 0; age < slots && age < ring->slot_count; age++) {
        struct slot slot = slot_ring_slot(ring, age);

        seconds += slot.seconds;
        for (size_t i = 0; i < ring->count; i++)
            ret_counts[i] += slot_count(&slot, i);
    }
    return seconds;
}
