/* SPDX-License-Identifier: Apache-2.0 */
/* The last day of a server in slots of five minutes, whatever becomes of its clock. */
#include "server/status/slot_ring.h"

#include "tests/support/test.h"

#include <math.h>

static const double noon = 1767268800; /* a multiple of a slot */
static const double none[SLOT_LEVELS] = {NAN};

/* At so many s behind noon, with as many s of the steady clock. */
static void add(struct slot_ring *ring, double at, uint64_t first, uint64_t second)
{
    const uint64_t totals[2] = {first, second};

    slot_ring_add(ring, noon + at, 1000 + at, totals, none);
}

static void assert_slot(const struct slot_ring *ring, size_t age, double at, double seconds,
                        uint64_t first)
{
    struct slot slot = slot_ring_slot(ring, age);

    assert_i64(slot.begin, (int64_t)(noon + at));
    assert_real(slot.seconds, seconds, 1e-6);
    assert_i64((int64_t)slot.own[0], (int64_t)first);
}

static void differences_go_into_the_slot_that_it_is(void **state)
{
    struct slot_ring *ring = slot_ring_create(DAY_SLOT_S, DAY_SLOTS, 2, noon, 1000);
    uint64_t sum[2];

    (void)state;
    assert_slot(ring, 0, 0, 0, 0);
    add(ring, 100, 7, 1);
    add(ring, 299, 10, 1);
    assert_slot(ring, 0, 0, 299, 10);
    add(ring, 300, 15, 4);
    assert_slot(ring, 0, 300, 1, 5);
    assert_slot(ring, 1, 0, 299, 10);
    assert_real(slot_ring_sum(ring, 1, sum), 1, 0);
    assert_i64((int64_t)sum[1], 3);
    assert_real(slot_ring_sum(ring, 1000, sum), 300, 0);
    assert_i64((int64_t)sum[0], 15);
    assert_i64((int64_t)sum[1], 4);
    assert_slot(ring, 2, -300, 0, 0);
    slot_ring_destroy(ring);
}

/* After a day each slot has been used again, and only the last day is known. */
static void a_day_wraps_around(void **state)
{
    struct slot_ring *ring = slot_ring_create(DAY_SLOT_S, DAY_SLOTS, 2, noon, 1000);
    uint64_t total = 0, sum[2];

    (void)state;
    for (int i = 1; i <= 3 * DAY_SLOTS; i++)
        add(ring, i * 300.0, ++total, 0);
    assert_slot(ring, 0, 3 * DAY_SLOTS * 300.0, 300, 1);
    assert_slot(ring, DAY_SLOTS - 1, (2 * DAY_SLOTS + 1) * 300.0, 300, 1);
    assert_real(slot_ring_sum(ring, DAY_SLOTS, sum), 86400, 1e-6);
    assert_i64((int64_t)sum[0], DAY_SLOTS);
    assert_i64((int64_t)slot_ring_slot(ring, DAY_SLOTS).own[0], 0);
    slot_ring_destroy(ring);
}

static void what_nobody_watched_is_unknown(void **state)
{
    struct slot_ring *ring = slot_ring_create(DAY_SLOT_S, DAY_SLOTS, 2, noon, 1000);
    uint64_t sum[2];

    (void)state;
    add(ring, 200, 5, 0);
    add(ring, 1300, 105, 0);               /* three slots were not seen */
    assert_slot(ring, 0, 1200, 1100, 100); /* the rate is right all the same */
    for (size_t age = 1; age <= 3; age++)
        assert_slot(ring, age, 1200 - (double)age * 300, 0, 0);
    assert_slot(ring, 4, 0, 200, 5);
    add(ring, 1300 + 2 * 86400.0, 106, 0); /* two days */
    assert_slot(ring, 0, 1200 + 2 * 86400.0, 2 * 86400, 1);
    assert_real(slot_ring_sum(ring, DAY_SLOTS, sum), 2 * 86400, 1e-6);
    assert_i64((int64_t)sum[0], 1);
    slot_ring_destroy(ring);
}

/* The clock is set, and half a second passes. */
static void a_clock_may_be_set(void **state)
{
    struct slot_ring *ring = slot_ring_create(DAY_SLOT_S, DAY_SLOTS, 2, noon, 1000);
    uint64_t total[2] = {10, 0};

    (void)state;
    slot_ring_add(ring, noon + 1, 1001, total, none);
    total[0] = 12;
    slot_ring_add(ring, noon + 3601, 1001.5, total, none); /* an hour ahead: no hour was watched */
    assert_slot(ring, 0, 3600, 0.5, 2);
    assert_slot(ring, 12, 0, 1, 10);
    total[0] = 13;
    slot_ring_add(ring, noon + 3599, 1002, total, none); /* back a little: the slot goes on */
    assert_slot(ring, 0, 3600, 1, 3);
    total[0] = 20;
    slot_ring_add(ring, noon + 2, 1002.5, total, none); /* back: the future has not been yet */
    assert_slot(ring, 0, 0, 1.5, 17);
    total[0] = 21;
    slot_ring_add(ring, noon + 3600, 4600, total, none);
    assert_slot(ring, 0, 3600, 3597.5, 1); /* nothing is left of what was forgotten */
    slot_ring_add(ring, noon - 10 * 86400.0, 4601, total, none);
    assert_slot(ring, 0, -10 * 86400.0, 1, 0);
    for (size_t age = 1; age < DAY_SLOTS; age++)
        assert_real(slot_ring_slot(ring, age).seconds, 0, 0);
    slot_ring_add(ring, -5, 4602, total, none);
    assert_i64(slot_ring_slot(ring, 0).begin, 0);
    assert_real(slot_ring_slot(ring, 0).seconds, 1, 1e-6);
    slot_ring_add(ring, -5, 4600, total, none); /* no such clock goes back */
    assert_real(slot_ring_slot(ring, 0).seconds, 1, 1e-6);
    slot_ring_add(ring, NAN, 4603, total, none);
    slot_ring_add(ring, 1e300, 4604, total, none);
    assert_real(slot_ring_slot(ring, 1).seconds, 0, 0);
    slot_ring_destroy(ring);
}

static void a_counter_may_begin_anew(void **state)
{
    struct slot_ring *ring = slot_ring_create(DAY_SLOT_S, DAY_SLOTS, 2, noon, 1000);

    (void)state;
    add(ring, 1, 100, 7);
    add(ring, 2, 3, 7);
    assert_slot(ring, 0, 0, 2, 103);
    add(ring, 3, 4, 7);
    assert_slot(ring, 0, 0, 3, 104);
    slot_ring_destroy(ring);
}

static void levels_are_kept_as_last(void **state)
{
    struct slot_ring *ring = slot_ring_create(DAY_SLOT_S, DAY_SLOTS, 1, noon, 1000);
    const uint64_t total = 0;

    (void)state;
    assert_true(isnan(slot_ring_slot(ring, 0).levels[0]));
    slot_ring_add(ring, noon + 1, 1001, &total, (double[SLOT_LEVELS]){9});
    slot_ring_add(ring, noon + 3, 1003, &total, (double[SLOT_LEVELS]){2});
    assert_real(slot_ring_slot(ring, 0).levels[0], 2, 0);
    slot_ring_add(ring, noon + 300, 1300, &total, none);
    assert_true(isnan(slot_ring_slot(ring, 0).levels[0]));
    slot_ring_destroy(ring);
}

/* What others have counted is added, and replaced by what they have counted since. */
static void others_are_added(void **state)
{
    struct slot_ring *ring = slot_ring_create(60, 60, 2, noon, 1000);
    uint64_t counts[2] = {5, 7}, sum[2];
    struct slot_share others = {.seconds = 50, .counts = counts, .levels = {40}};
    struct slot slot;

    (void)state;
    add(ring, 59, 10, 1);
    add(ring, 70, 12, 1);
    slot_ring_set_others(ring, (int64_t)noon, &others);
    counts[0] = 6;
    slot_ring_set_others(ring, (int64_t)noon, &others);
    slot_ring_set_others(ring, (int64_t)noon - 60, &others);
    slot = slot_ring_slot(ring, 1);
    assert_i64((int64_t)slot_count(&slot, 0), 16);
    assert_i64((int64_t)slot_count(&slot, 1), 8);
    assert_real(slot.seconds, 60, 1e-6); /* both watched at a time, no longer than it was */
    assert_real(slot.levels[0], 40, 0);
    slot = slot_ring_slot(ring, 2);
    assert_i64((int64_t)slot_count(&slot, 0), 6);
    assert_real(slot.seconds, 50, 1e-6);
    assert_real(slot_ring_own(ring, 1).seconds, 59, 1e-6);
    assert_i64((int64_t)slot_ring_own(ring, 1).counts[0], 10);
    assert_real(slot_ring_own(ring, 60).seconds, 0, 0);
    assert_real(slot_ring_sum(ring, 60, sum), 60 + 50 + 11, 1e-6);
    assert_i64((int64_t)sum[0], 24);
    /* The slot that runs has been no longer than until now. */
    slot_ring_set_others(ring, (int64_t)noon + 60, &others);
    assert_real(slot_ring_slot(ring, 0).seconds, 11, 1e-6);
    /* What the ring does not reach is no matter. */
    slot_ring_set_others(ring, (int64_t)noon + 120, &others);
    slot_ring_set_others(ring, (int64_t)noon - 3600, &others);
    slot_ring_set_others(ring, -60, &others);
    assert_real(slot_ring_sum(ring, 60, sum), 60 + 50 + 11, 1e-6);
    assert_i64((int64_t)sum[0], 30);
    /* A slot that is used anew has nothing of its former others. */
    add(ring, 3600 + 10, 12, 1);
    slot = slot_ring_slot(ring, 0);
    assert_i64((int64_t)slot_count(&slot, 1), 0);
    assert_true(isnan(slot.levels[0]));
    slot_ring_destroy(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_go_into_the_slot_that_it_is),
        cmocka_unit_test(a_day_wraps_around),
        cmocka_unit_test(what_nobody_watched_is_unknown),
        cmocka_unit_test(a_clock_may_be_set),
        cmocka_unit_test(a_counter_may_begin_anew),
        cmocka_unit_test(levels_are_kept_as_last),
        cmocka_unit_test(others_are_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
