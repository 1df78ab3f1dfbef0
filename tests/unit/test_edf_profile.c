/* SPDX-License-Identifier: Apache-2.0 */
/* What is free over time, written down: joined, compared, turned from coprocessor to CPU jobs. */
#include "server/policy/edf/edf_profile.h"

#include "server/base/arena.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

enum { SEGMENTS = 3, ROWS = 3 };

static int make_arena(void **state)
{
    *state = arena_create(1 << 20);
    return *state == NULL;
}

static int drop_arena(void **state)
{
    arena_destroy(*state);
    return 0;
}

/* 4 CPUs and 10 pages; coprocessor jobs take one CPU part or another, and memory, in each of the
 * segments that begin at 0, 1 and 2. */
static struct edf_profile make(struct arena *arena, struct edf_shape *shape,
                               const int64_t parts[SEGMENTS], const int64_t pages[SEGMENTS])
{
    const struct edf_need job = {.wall_time = 1, .cpus = EDF_UNIT, .memory = 3};
    const struct edf_need small = {.wall_time = 1, .cpus = EDF_UNIT, .memory = 2};
    struct edf_profile profile;

    *shape = (struct edf_shape){.cpus = 4 * EDF_UNIT, .types = 2, .memory = 10};
    shape->counts[1] = 5 * EDF_UNIT;
    edf_shape_note(shape, &job);
    edf_shape_note(shape, &small);
    assert_true(edf_profile_alloc(&profile, arena, SEGMENTS, ROWS));
    edf_profile_clear(&profile, shape);
    assert_int_equal(profile.rows, ROWS);
    assert_int_equal(profile.memory, 2);
    profile.count = SEGMENTS;
    for (size_t i = 0; i < SEGMENTS; i++) {
        profile.starts[i] = (double)i;
        profile.free[i] = 5 * EDF_UNIT - parts[i] * EDF_UNIT;
        profile.free[profile.room + i] = 5 * EDF_UNIT;
        profile.free[2 * profile.room + i] = 10 - pages[i];
    }
    edf_profile_turn_to_cpus(&profile, shape);
    return profile;
}

static void segments_are_joined_where_all_is_equal(void **state)
{
    static const struct {
        int64_t parts[SEGMENTS], pages[SEGMENTS];
        size_t count;
    } cases[] = {{{0, 0, 0}, {0, 0, 0}, 1}, {{2, 2, 0}, {1, 1, 1}, 2}, {{2, 2, 0}, {2, 1, 1}, 3},
                 {{0, 0, 0}, {3, 3, 0}, 2}, {{0, 0, 0}, {3, 0, 0}, 2}, {{3, 2, 0}, {1, 1, 1}, 3}};
    struct edf_shape shape;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct edf_profile profile = make(*state, &shape, cases[i].parts, cases[i].pages);

        assert_int_equal(profile.count, cases[i].count);
        assert_int_equal(profile.memory, profile.rows - 1);
        assert_int_equal(profile.free[profile.memory * profile.room], 10 - cases[i].pages[0]);
        assert_int_equal(profile.free[profile.memory * profile.room + profile.count - 1],
                         10 - cases[i].pages[SEGMENTS - 1]);
    }
}

static void profiles_are_equal_where_all_is_equal(void **state)
{
    static const int64_t none[SEGMENTS] = {0}, parts[] = {3, 2, 0}, fewer[] = {3, 3, 0};
    static const int64_t pages[] = {2, 1, 0}, others[] = {2, 2, 0};
    struct edf_shape shape;
    struct edf_profile one = make(*state, &shape, parts, pages), other, first;

    other = make(*state, &shape, parts, pages);
    assert_true(edf_profile_equal(&one, &other));
    other = make(*state, &shape, parts, others);
    assert_false(edf_profile_equal(&one, &other));
    other = make(*state, &shape, fewer, pages);
    assert_false(edf_profile_equal(&one, &other));
    first = one; /* the beginning of it */
    first.count = 1;
    assert_false(edf_profile_equal(&one, &first));
    assert_false(edf_profile_equal(&first, &one));
    one = make(*state, &shape, none, none);
    other = one; /* without memory */
    other.memory = 0;
    assert_false(edf_profile_equal(&one, &other));
    assert_false(edf_profile_equal(&other, &one));
    other = one; /* with the row of what is left of the CPUs */
    other.rows++;
    assert_false(edf_profile_equal(&one, &other));
}

static void a_page_is_memory(void **state)
{
    const struct edf_shape shape = {.cpus = EDF_UNIT, .types = 1, .memory = 1};
    struct edf_profile profile;

    assert_true(edf_profile_alloc(&profile, *state, SEGMENTS, ROWS));
    edf_profile_clear(&profile, &shape);
    assert_int_equal(profile.memory, 1);
    assert_int_equal(profile.free[profile.room], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(segments_are_joined_where_all_is_equal, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(profiles_are_equal_where_all_is_equal, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(a_page_is_memory, make_arena, drop_arena),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
