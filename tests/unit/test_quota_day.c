/* SPDX-License-Identifier: Apache-2.0 */
/* The host's own midnight. */
#include "server/policy/limits/limits.h"

#include "tests/support/test.h"

enum { DAY = 86400, NOW = 1795000000 };

static void a_day_has_one_midnight(void **state)
{
    (void)state;
    for (int64_t host = 1; host <= 50; host++) {
        int midnights = 0;

        for (int64_t time = NOW; time < NOW + DAY; time += 600)
            midnights += quota_day_is_new(host, time, time + 600);
        assert_int_equal(midnights, 1);
        assert_true(quota_day_is_new(host, NOW, NOW + DAY));
        assert_true(quota_day_is_new(host, NOW, NOW + 365 * DAY));
        assert_false(quota_day_is_new(host, NOW, NOW));
    }
}

static void hosts_have_different_midnights(void **state)
{
    int early = 0;

    (void)state;
    for (int64_t host = 1; host <= 1000; host++)
        early += quota_day_is_new(host, NOW, NOW + DAY / 4);
    assert_in_range(early, 200, 300);
}

static void a_first_contact_begins_a_day(void **state)
{
    (void)state;
    assert_true(quota_day_is_new(5, 0, NOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_has_one_midnight),
        cmocka_unit_test(hosts_have_different_midnights),
        cmocka_unit_test(a_first_contact_begins_a_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
