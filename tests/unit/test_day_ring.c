/* SPDX-License-Identifier: Apache-2.0 */
/* The last day of a server in slots of five minutes, whatever becomes of its clock. */
#include "server/status/day_ring.h"

#include "tests/support/test.h"

#include <math.h>

static const double noon = 1767268800; /* a multiple of a slot */
static const double none[DAY_LEVELS] = {NAN, NAN};

/* At so many s behind noon, with as many s of the steady clock. */
static void add(struct day_ring *ring, double at, uint64_t first, uint64_t second)
{
    const uint64_t totals[2] = {first, second};

    day_ring_add(ring, noon + at, 1000 + at, totals, none);
}

static void assert_slot(const struct day_ring *ring, size_t age, double at, double seconds,
                        uint64_t first)
{
    struct day_slot slot = day_ring_slot(ring, age);

    assert_i64(slot.begin, (int64_t)(noon + at));
    assert_real(slot.seconds, seconds, 1e-6);
    assert_i64((int64_t)slot.counts[0], (int64_t)first);
}

static void differences_go_into_the_slot_that_it_is(void **state)
{
    struct day_ring *ring = day_ring_create(2, noon, 1000);
    uint64_t sum[2];

    (void)state;
    assert_slot(ring, 0, 0, 0, 0);
    add(ring, 100, 7, 1);
    add(ring, 299, 10, 1);
    assert_slot(ring, 0, 0, 299, 10);
    add(ring, 300, 15, 4);
    assert_slot(ring, 0, 300, 1, 5);
    assert_slot(ring, 1, 0, 299, 10);
    assert_real(day_ring_sum(ring, 1, sum), 1, 0);
    assert_i64((int64_t)sum[1], 3);
    assert_real(day_ring_sum(ring, 1000, sum), 300, 0);
    assert_i64((int64_t)sum[0], 15);
    assert_i64((int64_t)sum[1], 4);
    assert_slot(ring, 2, -300, 0, 0);
    day_ring_destroy(ring);
}

/* After a day each slot has been used again, and only the last day is known. */
static void a_day_wraps_around(void **state)
{
    struct day_ring *ring = day_ring_create(2, noon, 1000);
    uint64_t total = 0, sum[2];

    (void)state;
    for (int i = 1; i <= 3 * DAY_SLOTS; i++)
        add(ring, i * 300.0, ++total, 0);
    assert_slot(ring, 0, 3 * DAY_SLOTS * 300.0, 300, 1);
    assert_slot(ring, DAY_SLOTS - 1, (2 * DAY_SLOTS + 1) * 300.0, 300, 1);
    assert_real(day_ring_sum(ring, DAY_SLOTS, sum), 86400, 1e-6);
    assert_i64((int64_t)sum[0], DAY_SLOTS);
    assert_i64((int64_t)day_ring_slot(ring, DAY_SLOTS).counts[0], 0);
    day_ring_destroy(ring);
}

static void what_nobody_watched_is_unknown(void **state)
{
    struct day_ring *ring = day_ring_create(2, noon, 1000);
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
    assert_real(day_ring_sum(ring, DAY_SLOTS, sum), 2 * 86400, 1e-6);
    assert_i64((int64_t)sum[0], 1);
    day_ring_destroy(ring);
}

/* The clock is set, and half a second passes. */
static void a_clock_may_be_set(void **state)
{
    struct day_ring *ring = day_ring_create(2, noon, 1000);
    uint64_t total[2] = {10, 0};

    (void)state;
    day_ring_add(ring, noon + 1, 1001, total, none);
    total[0] = 12;
    day_ring_add(ring, noon + 3601, 1001.5, total, none); /* an hour ahead: no hour was watched */
    assert_slot(ring, 0, 3600, 0.5, 2);
    assert_slot(ring, 12, 0, 1, 10);
    total[0] = 13;
    day_ring_add(ring, noon + 3599, 1002, total, none); /* back a little: the slot goes on */
    assert_slot(ring, 0, 3600, 1, 3);
    total[0] = 20;
    day_ring_add(ring, noon + 2, 1002.5, total, none); /* back: the future has not been yet */
    assert_slot(ring, 0, 0, 1.5, 17);
    total[0] = 21;
    day_ring_add(ring, noon + 3600, 4600, total, none);
    assert_slot(ring, 0, 3600, 3597.5, 1); /* nothing is left of what was forgotten */
    day_ring_add(ring, noon - 10 * 86400.0, 4601, total, none);
    assert_slot(ring, 0, -10 * 86400.0, 1, 0);
    for (size_t age = 1; age < DAY_SLOTS; age++)
        assert_real(day_ring_slot(ring, age).seconds, 0, 0);
    day_ring_add(ring, -5, 4602, total, none);
    assert_i64(day_ring_slot(ring, 0).begin, 0);
    assert_real(day_ring_slot(ring, 0).seconds, 1, 1e-6);
    day_ring_add(ring, -5, 4600, total, none); /* no such clock goes back */
    assert_real(day_ring_slot(ring, 0).seconds, 1, 1e-6);
    day_ring_add(ring, NAN, 4603, total, none);
    day_ring_add(ring, 1e300, 4604, total, none);
    assert_real(day_ring_slot(ring, 1).seconds, 0, 0);
    day_ring_destroy(ring);
}

static void a_counter_may_begin_anew(void **state)
{
    struct day_ring *ring = day_ring_create(2, noon, 1000);

    (void)state;
    add(ring, 1, 100, 7);
    add(ring, 2, 3, 7);
    assert_slot(ring, 0, 0, 2, 103);
    add(ring, 3, 4, 7);
    assert_slot(ring, 0, 0, 3, 104);
    day_ring_destroy(ring);
}

static void levels_are_kept_as_last_and_most(void **state)
{
    struct day_ring *ring = day_ring_create(1, noon, 1000);
    const uint64_t total = 0;

    (void)state;
    assert_true(isnan(day_ring_slot(ring, 0).levels[1].most));
    day_ring_add(ring, noon + 1, 1001, &total, (double[DAY_LEVELS]){5, NAN});
    day_ring_add(ring, noon + 2, 1002, &total, (double[DAY_LEVELS]){9, 1});
    day_ring_add(ring, noon + 3, 1003, &total, (double[DAY_LEVELS]){2, NAN});
    assert_real(day_ring_slot(ring, 0).levels[0].last, 2, 0);
    assert_real(day_ring_slot(ring, 0).levels[0].most, 9, 0);
    assert_true(isnan(day_ring_slot(ring, 0).levels[1].last));
    assert_real(day_ring_slot(ring, 0).levels[1].most, 1, 0);
    day_ring_add(ring, noon + 300, 1300, &total, (double[DAY_LEVELS]){1, 0});
    assert_real(day_ring_slot(ring, 0).levels[0].most, 1, 0);
    day_ring_destroy(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_go_into_the_slot_that_it_is),
        cmocka_unit_test(a_day_wraps_around),
        cmocka_unit_test(what_nobody_watched_is_unknown),
        cmocka_unit_test(a_clock_may_be_set),
        cmocka_unit_test(a_counter_may_begin_anew),
        cmocka_unit_test(levels_are_kept_as_last_and_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
