/* SPDX-License-Identifier: Apache-2.0 */
/* When a pass fails: the last failure counts for half an hour, and a success since the first one
 * makes it a part. */
#include "server/status/pass_state.h"

#include "tests/support/case_arena.h"
#include "tests/support/test.h"

enum { NOW = 1800000000 };

static struct pass_note_row note(int64_t failures, int64_t since, int64_t failed_at,
                                 int64_t done_at)
{
    return (struct pass_note_row){TEXT("validation"), TEXT("demo"),  failures,        NOW + since,
                                  NOW + failed_at,    NOW + done_at, TEXT("status 9")};
}

static void the_last_half_hour_and_successes_count(void **state)
{
    const struct {
        struct pass_note_row note;
        enum pass_state state;
    } cases[] = {
        {note(0, -600, -60, -900), PASS_WELL},         {note(1, -600, -60, -601), PASS_FAILS},
        {note(1, -600, -60, -600), PASS_FAILS_PARTLY}, {note(1, -3600, -1800, -NOW), PASS_FAILS},
        {note(1, -3600, -1801, -NOW), PASS_WELL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(pass_state_of(&cases[i].note, NOW), cases[i].state);
}

static void what_failed_is_named(void **state)
{
    struct arena *arena = case_arena;
    struct pass_note_row failing = note(2, -125, -60, -NOW);

    (void)state;
    assert_text(pass_state_name(arena, &failing), "validation of demo");
    assert_text(pass_state_words(arena, &failing, NOW),
                "2 failures, the first 2 minutes ago, and no success: status 9");
    failing.done_at = NOW;
    failing.app = NO_TEXT;
    assert_text(pass_state_name(arena, &failing), "validation");
    assert_text(pass_state_words(arena, &failing, NOW),
                "2 failures, the first 2 minutes ago, and some successes: status 9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_half_hour_and_successes_count),
        cmocka_unit_test_setup_teardown(what_failed_is_named, case_arena_setup,
                                        case_arena_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
