/* SPDX-License-Identifier: Apache-2.0 */
/* The figures that runs of the emulated crowd are judged by. */
#include "tests/support/test.h"
#include "tools/lab/volunteers/host/host_tally.h"

#include <math.h>

#include "server/base/banned.h"

static void sums_take_every_count(void **state)
{
    (void)state;
    struct host_tally sum = {.flops_total = 1, .flops_used = 1};
    struct host_tally one = {.flops_total = 9, .flops_used = 4, .flops_wasted = 2};

#define SET(name) one.name = 3;
    TALLY_COUNTS(SET)
    one.resources[CLIENT_ATI].starved = 5;
    tally_add(&sum, &one);
    tally_add(&sum, &one);
#define IS_SUM(name) assert_int_equal(sum.name, 6);
    TALLY_COUNTS(IS_SUM)
    assert_real(sum.resources[CLIENT_ATI].starved, 10, 0);
    assert_real(tally_idle_fraction(&sum), 1 - 9.0 / 19, 1e-12);
    assert_real(tally_wasted_fraction(&sum), 4.0 / 19, 1e-12);
}

static void violation_is_what_went_to_others(void **state)
{
    (void)state;
    struct tally_project a = {.flops_used = 75}, b = {.flops_used = 25};
    const struct tally_project *both[] = {&a, &b};

    assert_real(tally_share_violation(both, (const double[]){3, 1}, 2), 0, 1e-12);
    assert_real(tally_share_violation(both, (const double[]){1, 1}, 2), 0.5, 1e-12);
    a.flops_used = b.flops_used = 0;
    assert_real(tally_share_violation(both, (const double[]){1, 1}, 2), 0, 0);
}

/* Steps of any length give the same integral. */
static void monotony_grows_with_the_time_between_turns(void **state)
{
    (void)state;
    struct tally_project fine = {.gap = 0}, coarse = {.gap = 0}, always = {.gap = 0};
    const struct tally_project *both[] = {&coarse, &always};
    double mean;

    for (int i = 0; i < 1000; i++)
        tally_project_waits(&fine, 7.2);
    tally_project_waits(&coarse, 7200);
    tally_project_runs(&always, 7200, 1);
    assert_real(fine.gap_squares, coarse.gap_squares, 1e-6 * coarse.gap_squares);
    assert_real(fine.gap, 7200, 1e-6);
    mean = sqrt(7200.0 * 7200 / 3) / 2 / (3600 * 2);
    assert_real(tally_monotony(both, 2, 3600), 1 - 1 / (mean + 1), 1e-12);
    assert_real(tally_monotony(&both[1], 1, 3600), 0, 0);
    tally_project_runs(&coarse, 10, 1);
    assert_real(coarse.gap, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_take_every_count),
        cmocka_unit_test(violation_is_what_went_to_others),
        cmocka_unit_test(monotony_grows_with_the_time_between_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
