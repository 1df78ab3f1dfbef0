/* SPDX-License-Identifier: Apache-2.0 */
/* Which late jobs get more time, and when their hosts should come again (policy(7) 11.3). */
#include "server/policy/result/extension.h"

#include "tests/support/test.h"

#include <math.h>

enum { HOUR = 3600, SPAN = 23400, SENT = 1000000, BOUND = 24 * HOUR };
/* The client's deadline, and the one stored with a grace period of ten minutes. */
enum { TOLD = SENT + BOUND, GRACE = 600, STORED = TOLD + GRACE };

static void each_case_has_its_deadline(void **state)
{
    static const struct {
        const char *what;
        int64_t now; /* s before (-) or after the client's deadline */
        double left; /* s */
        int64_t stored, wanted;
        double availability;
        bool is_computed;
    } cases[] = {
        {"far ahead, though it cannot be met", -SPAN, 40 * HOUR, STORED, STORED, 1, false},
        {"near, and in time", -3 * HOUR, 3 * HOUR, STORED, STORED, 1, false},
        {"near, and late", -3 * HOUR, 3 * HOUR + 1, STORED, STORED + SPAN, 1, false},
        {"late as its host is often away", -3 * HOUR, 2 * HOUR, STORED, STORED + SPAN, .5, false},
        {"near and late, but it had more time before", -3 * HOUR, 9 * HOUR, STORED + SPAN,
         STORED + SPAN, 1, false},
        {"the last moment before", 0, 1, STORED, STORED + SPAN, 1, false},
        {"begun, 10 h left", HOUR, 10 * HOUR, STORED, TOLD + HOUR + 12 * HOUR + SPAN, 1, false},
        {"begun, a host that is seldom on", HOUR, HOUR, STORED, TOLD + HOUR + 6 * HOUR + SPAN, .01,
         false},
        {"begun, and what it had is enough", HOUR, HOUR, STORED + 10 * HOUR, STORED + 10 * HOUR, 1,
         false},
        {"never beyond twice its time", 10 * HOUR, 40 * HOUR, STORED, SENT + 2 * BOUND, 1, false},
        {"which it has had", 23 * HOUR, 40 * HOUR, SENT + 2 * BOUND, SENT + 2 * BOUND, 1, false},
        {"computed, far ahead", -20 * HOUR, 0, STORED, STORED, 1, true},
        {"computed, near", -HOUR, 0, STORED, TOLD - HOUR + SPAN, 1, true},
        {"computed, again", 3 * HOUR, 0, TOLD - HOUR + SPAN, TOLD + 3 * HOUR + SPAN, 1, true},
        {"computed, for ever", 23 * HOUR, 0, STORED, SENT + 2 * BOUND, 1, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct extension_facts facts = {.now = (double)(TOLD + cases[i].now),
                                              .sent_time = SENT,
                                              .delay_bound = BOUND,
                                              .stored = cases[i].stored,
                                              .grace = GRACE,
                                              .is_computed = cases[i].is_computed,
                                              .told = TOLD,
                                              .left = cases[i].left,
                                              .availability = cases[i].availability};
        int64_t got = extension_deadline(&facts);

        if (got != cases[i].wanted)
            fail_msg("%s: %lld s from the client's deadline", cases[i].what,
                     (long long)(got - TOLD));
    }
}

static void a_job_without_a_workunit_gets_none(void **state)
{
    const struct extension_facts facts = {.now = TOLD + 1,
                                          .sent_time = SENT,
                                          .stored = STORED,
                                          .told = TOLD,
                                          .left = 99,
                                          .availability = 1};

    (void)state;
    assert_int_equal(extension_deadline(&facts), STORED);
}

static void hosts_are_heard_of_before_a_deadline(void **state)
{
    (void)state;
    assert_real(extension_contact(100, INFINITY, 0), 6 * HOUR, 0);
    assert_real(extension_contact(100, 100 + 5 * HOUR, 0), 5 * HOUR - 600, 0);
    assert_real(extension_contact(100, 100 + HOUR / 3, 0), 900, 0);
    assert_real(extension_contact(100, 100 + 5 * HOUR, 8 * HOUR), 8 * HOUR, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_has_its_deadline),
        cmocka_unit_test(a_job_without_a_workunit_gets_none),
        cmocka_unit_test(hosts_are_heard_of_before_a_deadline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
