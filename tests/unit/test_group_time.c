/* SPDX-License-Identifier: Apache-2.0 */
/* How long requests that share a transaction may wait for one another. */
#include "server/process/group_time.h"
#include "tests/support/test.h"

#define MS UINT64_C(1000000)

enum { LONGEST = GROUP_TIME_LONGEST_NS / 1000000 };

static void what_was_taken_is_run_in_half_of_the_time_that_is_left(void **state)
{
    static const struct {
        uint64_t usual_ms, passed_ms;
        size_t taken;
        bool has_room;
    } rows[] = {
        {0, 0, 0, true},        {0, LONGEST - 1, 100, true},
        {0, LONGEST, 0, false}, {2, 0, 6, true},   /* 12 of 25 ms */
        {2, 0, 7, false},       {2, 20, 1, true},  /* 2 of 5 */
        {2, 20, 2, false},      {2, 21, 1, false}, /* 2 of 4 */
        {2, 100, 0, false},     {100, 0, 0, true},
        {100, 0, 1, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct group_time time = {.begun_ns = 7000 * MS,
                                        .usual_run_ns = rows[i].usual_ms * MS};
        uint64_t now_ns = time.begun_ns + rows[i].passed_ms * MS;

        assert_int_equal(group_time_has_room(&time, rows[i].taken, now_ns), rows[i].has_room);
        assert_int_equal(group_time_is_left(&time, now_ns), rows[i].passed_ms < LONGEST);
    }
}

static void what_is_usual_follows_what_was(void **state)
{
    struct group_time time = {0};

    (void)state;
    group_time_note_run(&time, 8 * MS);
    assert_int_equal(time.usual_run_ns, MS);
    for (int i = 0; i < 100; i++)
        group_time_note_run(&time, 8 * MS);
    assert_in_range(time.usual_run_ns, 8 * MS - 100, 8 * MS);
    group_time_note_run(&time, 0);
    assert_in_range(time.usual_run_ns, 7 * MS - 100, 7 * MS + 100);
    for (int i = 0; i < 1000; i++)
        group_time_note_run(&time, 0);
    assert_in_range(time.usual_run_ns, 0, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_taken_is_run_in_half_of_the_time_that_is_left),
        cmocka_unit_test(what_is_usual_follows_what_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
