/* SPDX-License-Identifier: Apache-2.0 */
/* How much work is asked for, and of whom. */
#include "tests/support/test.h"
#include "tools/lab/volunteers/client/shortfall.h"

#include "server/base/banned.h"

static void sizes_sum_up_to_what_the_host_lacks(void **state)
{
    (void)state;
    struct shortfall_project projects[] = {
        {.share = 3, .shortfall = 10}, {.share = 1, .shortfall = 500}, {.share = 6}};

    shortfall_set_sizes(projects, 3, 200);
    assert_real(projects[0].size, 150, 1e-9);
    assert_real(projects[1].size, 50, 1e-9);
    assert_real(projects[2].size, 0, 0); /* it lacks nothing */
    shortfall_set_sizes(projects, 3, 0);
    assert_real(projects[0].size, 10, 0);
    assert_real(projects[2].size, 0, 0);
}

static void who_may_not_be_asked_is_not(void **state)
{
    (void)state;
    static const struct shortfall_project cases[] = {
        {.share = 1, .shortfall = 1, .suspended = true},
        {.share = 1, .shortfall = 1, .deferred = true},
        {.share = 1, .shortfall = 1, .no_new_work = true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct shortfall_project project = cases[i];

        shortfall_set_sizes(&project, 1, 100);
        assert_real(project.size, 0, 0);
        assert_int_equal(shortfall_choose_project(&project, 1), 1);
    }
}

static void the_overworked_are_asked_when_nobody_else_can_be(void **state)
{
    (void)state;
    struct shortfall_project projects[] = {{.share = 1, .shortfall = 50, .overworked = true},
                                           {.share = 1}};

    shortfall_set_sizes(projects, 2, 100);
    assert_real(projects[0].size, 0, 0);
    assert_real(projects[1].size, 100, 1e-9);
    projects[1].deferred = true;
    shortfall_set_sizes(projects, 2, 100);
    assert_real(projects[0].size, 100, 1e-9);
    /* Not without need. */
    shortfall_set_sizes(projects, 2, 0);
    assert_real(projects[0].size, 0, 0);
}

static void the_greatest_debt_and_shortfall_is_contacted(void **state)
{
    (void)state;
    struct shortfall_project projects[] = {{.long_debt = 100, .shortfall = 10, .size = 1},
                                           {.long_debt = 50, .shortfall = 70, .size = 1},
                                           {.long_debt = 9000}};

    assert_int_equal(shortfall_choose_project(projects, 3), 1);
    projects[1].size = 0;
    assert_int_equal(shortfall_choose_project(projects, 3), 0);
}

static void without_cpu_one_result_is_enough(void **state)
{
    (void)state;
    struct shortfall_project projects[] = {{.share = 1, .no_cpu = true}, {.share = 1}};

    shortfall_set_sizes(projects, 2, 100);
    assert_real(projects[0].size, 1, 0);
    assert_real(projects[1].size, 100, 1e-9);
    projects[0].has_nearly_runnable = true;
    shortfall_set_sizes(projects, 2, 100);
    assert_real(projects[0].size, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_sum_up_to_what_the_host_lacks),
        cmocka_unit_test(who_may_not_be_asked_is_not),
        cmocka_unit_test(the_overworked_are_asked_when_nobody_else_can_be),
        cmocka_unit_test(the_greatest_debt_and_shortfall_is_contacted),
        cmocka_unit_test(without_cpu_one_result_is_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
