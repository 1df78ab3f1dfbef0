/* SPDX-License-Identifier: Apache-2.0 */
/* Sharing of CPUs by debt, and fetching by time to starvation. */
#include "tests/support/test.h"
#include "tools/lab/volunteers/client/debt.h"

#include <math.h>

#include "server/base/banned.h"

#define MINUTE 60.0
#define DAY    86400.0

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct debt_result task(size_t project, bool running, double cpu_time)
{
    return (struct debt_result){
        .project = project,
        .deadline = 10 * DAY,
        .cpu_time = cpu_time,
        .cpu_time_left = DAY,
        .runnable = true,
        .active = true,
        .running = running,
    };
}

static struct debt_result fresh(size_t project, double deadline)
{
    return (struct debt_result){
        .project = project, .deadline = deadline, .cpu_time_left = DAY, .runnable = true};
}

static void a_gains_five_minutes(void **state)
{
    (void)state;
    struct debt_project projects[] = {{.share = 75}, {.share = 25}};
    struct debt_result results[] = {task(0, true, 25 * MINUTE), task(1, true, 15 * MINUTE)};

    assert_i64((int64_t)debt_schedule(projects, 2, results, 2, 2), 2);
    assert_real(projects[0].debt, 5 * MINUTE, 1e-9);
    assert_real(projects[1].debt, -5 * MINUTE, 1e-9);
    /* What was counted once is not counted again. */
    (void)debt_schedule(projects, 2, results, 2, 2);
    assert_real(projects[0].debt, 5 * MINUTE, 1e-9);
}

static void a_project_with_nothing_to_run_owes_nothing(void **state)
{
    (void)state;
    struct debt_project projects[] = {{.share = 75, .debt = 1000}, {.share = 25}, {.share = 25}};
    struct debt_result results[] = {task(1, true, 600), task(2, false, 0)};

    (void)debt_schedule(projects, 3, results, 2, 1);
    assert_real(projects[0].debt, 0, 0);
    /* The two others share by themselves. */
    assert_real(projects[1].debt, -300, 1e-9);
    assert_real(projects[2].debt, 300, 1e-9);
    assert_true(results[1].running);
    assert_false(results[0].running);
}

static void running_goes_before_preempted_before_new(void **state)
{
    (void)state;
    struct debt_project projects[] = {{.share = 1}};
    struct debt_result results[] = {fresh(0, 1 * DAY), task(0, false, 0), task(0, true, 0)};
    static const bool wanted[][3] = {{false, false, true}, {false, true, true}, {true, true, true}};

    for (size_t cpus = 1; cpus <= 3; cpus++) {
        struct debt_result tried[3];

        memcpy(tried, results, sizeof(tried));
        assert_i64((int64_t)debt_schedule(projects, 1, tried, 3, cpus), (int64_t)cpus);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(tried[i].running, wanted[cpus - 1][i]);
    }
}

static void of_new_results_the_earliest_deadline_is_begun(void **state)
{
    (void)state;
    struct debt_project projects[] = {{.share = 1}};
    struct debt_result results[] = {fresh(0, 3 * DAY), fresh(0, 1 * DAY), fresh(0, 2 * DAY)};

    assert_i64((int64_t)debt_schedule(projects, 1, results, 3, 1), 1);
    assert_true(results[1].active);
    assert_false(results[0].active || results[2].active);
}

static void more_results_can_be_active_than_there_are_cpus(void **state)
{
    (void)state;
    struct debt_project projects[] = {{.share = 1}, {.share = 1}};
    struct debt_result results[] = {fresh(0, DAY), fresh(1, DAY)};
    size_t active = 0;

    for (int period = 0; period < 4; period++) {
        size_t running = 0;

        (void)debt_schedule(projects, 2, results, 2, 1);
        for (size_t i = 0; i < 2; i++) {
            running += results[i].running;
            results[i].cpu_time += results[i].running ? 3600 : 0;
        }
        assert_int_equal(running, 1);
    }
    for (size_t i = 0; i < 2; i++)
        active += results[i].active;
    assert_int_equal(active, 2);
}

static void no_cpu_idles_while_another_project_has_results(void **state)
{
    (void)state;
    struct debt_project projects[] = {{.share = 90, .debt = 9000}, {.share = 10}};
    struct debt_result results[] = {fresh(0, DAY), fresh(1, DAY), fresh(1, DAY)};

    assert_i64((int64_t)debt_schedule(projects, 2, results, 3, 4), 3);
}

/* 40 minutes of two CPUs are 20 each: A is owed 10 and so gets the first, B the second. */
static void a_cpu_given_lowers_what_is_anticipated(void **state)
{
    (void)state;
    struct debt_project projects[] = {{.share = 1, .debt = 15 * MINUTE},
                                      {.share = 1, .debt = -5 * MINUTE}};
    struct debt_result results[] = {task(0, true, 25 * MINUTE), task(0, false, 0),
                                    task(1, true, 15 * MINUTE), task(1, false, 0)};

    assert_i64((int64_t)debt_schedule(projects, 2, results, 4, 2), 2);
    assert_real(projects[0].debt, 10 * MINUTE, 1e-9);
    assert_real(projects[1].debt, 0, 1e-9);
    assert_true(results[0].running && results[2].running);
    assert_real(projects[0].anticipated, -10 * MINUTE, 1e-9);
    assert_real(projects[1].anticipated, -20 * MINUTE, 1e-9);
    /* Owed more than the period is worth, it gets both. */
    projects[0].debt = 30 * MINUTE;
    results[0].cpu_time += 20 * MINUTE;
    results[2].cpu_time += 20 * MINUTE;
    assert_i64((int64_t)debt_schedule(projects, 2, results, 4, 2), 2);
    assert_true(results[0].running && results[1].running);
}

/* requirement 0-5: of ten results of two projects, only one each is ever begun on one CPU. */
static void few_results_are_begun(void **state)
{
    (void)state;
    struct debt_project projects[] = {{.share = 2}, {.share = 1}};
    struct debt_result results[10];
    size_t active = 0;

    for (size_t i = 0; i < COUNT(results); i++)
        results[i] = fresh(i % 2, (double)(20 - i) * DAY);
    for (int period = 0; period < 200; period++) {
        (void)debt_schedule(projects, 2, results, COUNT(results), 1);
        for (size_t i = 0; i < COUNT(results); i++)
            results[i].cpu_time += results[i].running ? 3600 : 0;
    }
    for (size_t i = 0; i < COUNT(results); i++)
        active += results[i].active;
    assert_int_equal(active, 2);
    assert_true(results[8].active && results[9].active);
}

static void shares_are_kept_in_the_long_run(void **state)
{
    (void)state;
    struct debt_project projects[] = {{.share = 5}, {.share = 3}, {.share = 2}};
    struct debt_result results[9];
    double total = 0;

    for (size_t i = 0; i < COUNT(results); i++)
        results[i] = fresh(i % 3, (double)i * DAY);
    for (int period = 0; period < 1000; period++) {
        (void)debt_schedule(projects, 3, results, COUNT(results), 2);
        for (size_t i = 0; i < COUNT(results); i++)
            results[i].cpu_time += results[i].running ? 3600 : 0;
    }
    for (size_t i = 0; i < COUNT(results); i++)
        total += results[i].cpu_time;
    for (size_t p = 0; p < 3; p++) {
        double got = results[p].cpu_time + results[p + 3].cpu_time + results[p + 6].cpu_time;

        assert_real(got / total, projects[p].share / 10, 0.01);
    }
}

static void the_latest_deadlines_are_left_out(void **state)
{
    (void)state;
    const struct debt_host host = {.cpus = 2, .active_fraction = 0.5, .connection_period = DAY};
    struct debt_project projects[] = {{.share = 1}, {.share = 1}};
    struct debt_result results[] = {fresh(0, 3 * DAY), fresh(0, 1 * DAY), fresh(0, 2 * DAY)};

    results[0].cpu_time_left = 100;
    results[1].cpu_time_left = 10;
    results[2].cpu_time_left = 1;
    /* Half of two CPUs half of the time: 0.5 s of CPU in a second. */
    assert_real(debt_time_to_count(&host, projects, 2, results, 3, 0, 0), 222, 1e-9);
    assert_real(debt_time_to_count(&host, projects, 2, results, 3, 0, 1), 22, 1e-9);
    assert_real(debt_time_to_count(&host, projects, 2, results, 3, 0, 2), 20, 1e-9);
    assert_real(debt_time_to_count(&host, projects, 2, results, 3, 0, 3), 0, 0);
    results[0].runnable = false; /* a suspended one is not among those that are left */
    assert_real(debt_time_to_count(&host, projects, 2, results, 3, 0, 1), 20, 1e-9);
    results[0].runnable = true;
    assert_real(debt_time_to_count(&host, projects, 2, results, 3, 1, 0), 0, 0);
}

static void as_many_results_are_needed_as_a_share_can_occupy(void **state)
{
    (void)state;
    const struct debt_host host = {.cpus = 4, .active_fraction = 1, .connection_period = DAY};
    const struct debt_project projects[] = {{.share = 70}, {.share = 25}, {.share = 5}};

    assert_int_equal(debt_min_results(&host, projects, 3, 0), 3); /* of 2.8 */
    assert_int_equal(debt_min_results(&host, projects, 3, 1), 1);
    assert_int_equal(debt_min_results(&host, projects, 3, 2), 1); /* of 0.2 */
}

static void work_is_asked_for_up_to_twice_the_period(void **state)
{
    (void)state;
    const struct debt_host host = {.cpus = 1, .active_fraction = 1, .connection_period = DAY};
    struct debt_project projects[] = {{.share = 1}, {.share = 1}};
    struct debt_result results[] = {fresh(0, DAY), fresh(1, DAY)};

    /* Neither starves within a day: half a CPU each. */
    results[0].cpu_time_left = results[1].cpu_time_left = 0.6 * DAY;
    assert_int_equal(debt_request_work(&host, projects, 2, results, 2), DEBT_WORK_NOT_NEEDED);
    assert_real(projects[0].work_request + projects[1].work_request, 0, 0);

    /* One does: both are filled up to two days, in s of CPU. */
    results[0].cpu_time_left = 0.4 * DAY;
    assert_int_equal(debt_request_work(&host, projects, 2, results, 2), DEBT_WORK_NEEDED);
    assert_real(projects[0].work_request, 0.6 * DAY, 1e-6);
    assert_real(projects[1].work_request, 0.4 * DAY, 1e-6);

    /* One has nothing. */
    results[1].runnable = false;
    assert_int_equal(debt_request_work(&host, projects, 2, results, 2), DEBT_WORK_NEEDED_NOW);
    assert_real(projects[1].work_request, DAY, 1e-6);
}

static void a_project_without_share_asks_for_nothing(void **state)
{
    (void)state;
    const struct debt_host host = {.cpus = 1, .active_fraction = 1, .connection_period = DAY};
    struct debt_project projects[] = {{.share = 0}};

    assert_int_equal(debt_request_work(&host, projects, 1, NULL, 0), DEBT_WORK_NOT_NEEDED);
    assert_real(projects[0].work_request, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gains_five_minutes),
        cmocka_unit_test(a_project_with_nothing_to_run_owes_nothing),
        cmocka_unit_test(running_goes_before_preempted_before_new),
        cmocka_unit_test(of_new_results_the_earliest_deadline_is_begun),
        cmocka_unit_test(more_results_can_be_active_than_there_are_cpus),
        cmocka_unit_test(no_cpu_idles_while_another_project_has_results),
        cmocka_unit_test(a_cpu_given_lowers_what_is_anticipated),
        cmocka_unit_test(few_results_are_begun),
        cmocka_unit_test(shares_are_kept_in_the_long_run),
        cmocka_unit_test(the_latest_deadlines_are_left_out),
        cmocka_unit_test(as_many_results_are_needed_as_a_share_can_occupy),
        cmocka_unit_test(work_is_asked_for_up_to_twice_the_period),
        cmocka_unit_test(a_project_without_share_asks_for_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
