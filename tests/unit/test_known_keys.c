/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys a process knows to be right, for how long, and how many. */
#include "server/base/random.h"
#include "server/process/known_keys.h"
#include "tests/support/test.h"

#include <stdlib.h>

static void a_key_that_was_found_is_known_for_a_day(void **state)
{
    struct known_keys known = {.begun_ns = 0};
    uint64_t found = 3 * KNOWN_KEYS_NS;

    (void)state;
    assert_false(known_keys_has(&known, 17, found));
    known_keys_add(&known, 17, found);
    assert_true(known_keys_has(&known, 17, found));
    assert_false(known_keys_has(&known, 18, found));
    assert_true(known_keys_has(&known, 17, found + KNOWN_KEYS_NS));
    known_keys_add(&known, 18, found + KNOWN_KEYS_NS); /* the next day begins */
    assert_true(known_keys_has(&known, 17, found + KNOWN_KEYS_NS));
    assert_true(known_keys_has(&known, 18, found + 2 * KNOWN_KEYS_NS - 1));
    assert_false(known_keys_has(&known, 17, found + 2 * KNOWN_KEYS_NS));
    assert_false(known_keys_has(&known, 18, found + 3 * KNOWN_KEYS_NS));
    known_keys_free(&known);
}

static void one_that_comes_again_stays_known(void **state)
{
    struct known_keys known = {.begun_ns = 0};

    (void)state;
    for (uint64_t now = 1; now < 40; now++) {
        known_keys_add(&known, 17, now * (KNOWN_KEYS_NS - 1));
        assert_true(known_keys_has(&known, 17, (now + 1) * (KNOWN_KEYS_NS - 1)));
    }
    known_keys_free(&known);
}

static void numbers_of_any_kind_are_kept_apart(void **state)
{
    struct known_keys known = {.begun_ns = 0};

    (void)state;
    known_keys_add(&known, 0, 1); /* marks a free place: never known */
    assert_false(known_keys_has(&known, 0, 1));
    for (uint64_t i = 1; i <= 5000; i++)
        known_keys_add(&known, i << 40, 1);
    for (uint64_t i = 1; i <= 5000; i++) {
        assert_true(known_keys_has(&known, i << 40, 1));
        assert_false(known_keys_has(&known, (i << 40) + 1, 1));
    }
    assert_int_equal(known.now.count, 5000);
    known_keys_free(&known);
}

/* The latest of too many are known, and the memory is bounded. */
static void as_many_accounts_as_one_likes(void **state)
{
    enum { MANY = 5 * KNOWN_KEYS_OF_SET / 2 };
    struct known_keys known = {.begun_ns = 0};

    (void)state;
    for (uint64_t i = 1; i <= MANY; i++)
        known_keys_add(&known, i, 1);
    for (uint64_t i = MANY - KNOWN_KEYS_OF_SET + 1; i <= MANY; i++)
        assert_true(known_keys_has(&known, i, 1));
    assert_false(known_keys_has(&known, 1, 1));
    assert_true(known.now.room <= 2 * KNOWN_KEYS_OF_SET);
    assert_true(known.before.room <= 2 * KNOWN_KEYS_OF_SET);
    known_keys_free(&known);
}

/* Beside a list with the time of each, looked up the slow way: whoever was found within a day is
 * known, and nobody who was not within two. */
static void any_history_is_remembered(void **state)
{
    enum { ACCOUNTS = 50 };
    struct known_keys known = {.begun_ns = 0};
    struct random random = {.state = 5};
    uint64_t found[ACCOUNTS] = {0}, now = 10 * KNOWN_KEYS_NS;
    size_t forgotten = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t account = random_next(&random) % ACCOUNTS;

        now += random_next(&random) % (KNOWN_KEYS_NS / 16);
        if (random_next(&random) % 3 == 0) {
            known_keys_add(&known, account + 1, now);
            found[account] = now;
            continue;
        }
        if (now - found[account] <= KNOWN_KEYS_NS)
            assert_true(known_keys_has(&known, account + 1, now));
        if (now - found[account] >= 2 * KNOWN_KEYS_NS) {
            assert_false(known_keys_has(&known, account + 1, now));
            forgotten++;
        }
    }
    assert_true(forgotten > 100);
    known_keys_free(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_was_found_is_known_for_a_day),
        cmocka_unit_test(one_that_comes_again_stays_known),
        cmocka_unit_test(numbers_of_any_kind_are_kept_apart),
        cmocka_unit_test(as_many_accounts_as_one_likes),
        cmocka_unit_test(any_history_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
