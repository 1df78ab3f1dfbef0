/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of clients, and the units of their requests. */
#include "tests/support/test.h"
#include "tools/lab/volunteers/client/duration.h"

#include <math.h>

#include "server/base/banned.h"

#define MINUTE 60.0

static const struct duration_availability away = {
    .on_fraction = 0.8, .active_fraction = 0.9, .cpu_efficiency = 1};

static void a_thousand_seconds_are_360_gflop(void **state)
{
    (void)state;
    assert_real(duration_operations(&away, 0.5, 1e9, 1000), 360e9, 1);
    /* And so much work takes the thousand seconds. */
    assert_real(duration_project_normalize(&away, 0.5, 360), 1000, 1e-9);
    /* Without regard to the share half of that. */
    assert_real(duration_normalize(&away, 360), 500, 1e-9);
}

static void a_host_that_never_computes_never_ends(void **state)
{
    (void)state;
    const struct duration_availability never = {
        .on_fraction = 0, .active_fraction = 1, .cpu_efficiency = 1};

    assert_true(isinf(duration_normalize(&never, 1)));
    assert_real(duration_normalize(&never, 0), 0, 0);
    assert_true(isinf(duration_project_normalize(&away, 0, 1)));
}

static void a_running_job_shows_its_duration_by_elapsed_time(void **state)
{
    (void)state;
    /* Five minutes, a quarter done: by itself it says twenty, whatever CPU time it used. */
    assert_real(duration_of_running(20 * MINUTE, 5 * MINUTE, 0.25), 20 * MINUTE, 1e-9);
    /* It counts as much as is done. */
    assert_real(duration_of_running(40 * MINUTE, 5 * MINUTE, 0.25), 35 * MINUTE, 1e-9);
    assert_real(duration_left(40 * MINUTE, 5 * MINUTE, 0.25), 26.25 * MINUTE, 1e-9);
    assert_real(duration_of_running(40 * MINUTE, 5 * MINUTE, 1), 5 * MINUTE, 1e-9);
    assert_real(duration_left(40 * MINUTE, 5 * MINUTE, 1), 0, 0);
    assert_real(duration_left(40 * MINUTE, 5 * MINUTE, 0), 40 * MINUTE, 1e-9);
}

static void unstarted_jobs_are_estimated_by_their_version(void **state)
{
    (void)state;
    assert_real(duration_of_unstarted(3600e9, 2e9, 1), 1800, 1e-9);
    assert_real(duration_of_unstarted(3600e9, 2e9, 1.5), 2700, 1e-9);
}

static void correction_rises_at_once_and_sinks_slowly(void **state)
{
    (void)state;
    double correction = duration_correct(1, 1000, 3000);

    assert_real(correction, 3, 0);
    correction = duration_correct(correction, 1000, 1000);
    assert_real(correction, 2.8, 1e-9);
    /* One that ended after a moment hardly counts. */
    assert_real(duration_correct(correction, 1000, 1), 2.8 * 0.99 + 0.00001, 1e-9);
    for (int i = 0; i < 200; i++)
        correction = duration_correct(correction, 1000, 500);
    assert_real(correction, 0.5, 0.001);
    assert_real(duration_correct(1, 1, 1e9), 100, 0);
    assert_real(duration_correct(1, 0, 1000), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_seconds_are_360_gflop),
        cmocka_unit_test(a_host_that_never_computes_never_ends),
        cmocka_unit_test(a_running_job_shows_its_duration_by_elapsed_time),
        cmocka_unit_test(unstarted_jobs_are_estimated_by_their_version),
        cmocka_unit_test(correction_rises_at_once_and_sinks_slowly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
