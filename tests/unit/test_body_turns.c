/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of large bodies: one of an account at a time, in the order in which they came. */
#include "server/base/random.h"
#include "server/process/body_turns.h"
#include "tests/support/test.h"

static void the_first_has_the_turn_and_others_follow(void **state)
{
    struct body_turns turns = {0};
    struct body_turn_entry a[3] = {{0}}, b = {0};

    (void)state;
    assert_true(body_turns_ask(&turns, &a[0], 1));
    assert_false(body_turns_ask(&turns, &a[1], 1));
    assert_true(body_turns_ask(&turns, &b, 2));
    assert_false(body_turns_ask(&turns, &a[2], 1));
    assert_null(body_turns_next(&turns));
    assert_false(body_turns_leave(&turns, &b));
    assert_true(body_turns_leave(&turns, &a[0]));
    assert_ptr_equal(body_turns_next(&turns), &a[1]);
    assert_null(body_turns_next(&turns));
    assert_true(body_turns_leave(&turns, &a[1]));
    assert_false(body_turns_ask(&turns, &a[0], 1)); /* granted is taken */
    assert_ptr_equal(body_turns_next(&turns), &a[2]);
    assert_false(body_turns_leave(&turns, &a[0]));
    assert_false(body_turns_leave(&turns, &a[2]));
    assert_false(body_turns_leave(&turns, &a[2])); /* nothing more happens */
    assert_null(turns.first);
}

enum { ENTRIES = 12, ACCOUNTS = 3, STEPS = 20000 };

/* Of each account with entries exactly one has the turn or was granted it, and nobody overtakes. */
static void any_history_keeps_the_rules(void **state)
{
    struct random random = {.state = 5};
    struct body_turns turns = {0};
    struct body_turn_entry entries[ENTRIES] = {{0}};
    size_t asked[ENTRIES] = {0}, granted = 0;

    (void)state;
    for (size_t step = 1; step <= STEPS; step++) {
        size_t i = random_next(&random) % ENTRIES;

        if (random_next(&random) % 4 == 0) {
            granted += body_turns_next(&turns) != NULL;
        } else if (entries[i].turn == BODY_TURN_NONE) {
            asked[i] = step;
            (void)body_turns_ask(&turns, &entries[i], random_next(&random) % ACCOUNTS);
        } else {
            (void)body_turns_leave(&turns, &entries[i]);
        }
        for (size_t account = 0; account < ACCOUNTS; account++) {
            size_t holds = 0, count = 0, first = SIZE_MAX, holder = 0;

            for (size_t k = 0; k < ENTRIES; k++) {
                if (entries[k].turn == BODY_TURN_NONE || entries[k].account != account)
                    continue;
                count++;
                first = asked[k] < first ? asked[k] : first;
                if (entries[k].turn != BODY_TURN_WAITS) {
                    holds++;
                    holder = asked[k];
                }
            }
            assert_int_equal(holds, count > 0);
            assert_true(count == 0 || holder == first);
        }
    }
    assert_true(granted > STEPS / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_has_the_turn_and_others_follow),
        cmocka_unit_test(any_history_keeps_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
