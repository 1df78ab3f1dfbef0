/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing what to run by debt and by deadline. */
#include "tests/support/test.h"
#include "tools/lab/volunteers/client/schedule.h"

#include <math.h>

#include "server/base/banned.h"

#define HOUR 3600.0
#define DAY  86400.0

static const struct schedule_host one_cpu = {.cpus = 1, .period = HOUR};
static const struct schedule_host two_cpus = {.cpus = 2, .period = HOUR};

static struct schedule_result result(size_t project, double deadline)
{
    return (struct schedule_result){
        .project = project, .deadline = deadline, .cpus = 1, .coproc = CLIENT_NO_COPROC};
}

static void results_are_runnable_with_files_and_nearly_before(void **state)
{
    (void)state;
    struct schedule_project projects[] = {{.share = 1}, {.share = 1, .suspended = true}};
    static const struct {
        struct schedule_result result;
        bool runnable, nearly;
    } cases[] = {
        {{.files = SCHEDULE_FILES_HERE}, true, true},
        {{.files = SCHEDULE_FILES_COMING}, false, true},
        {{.files = SCHEDULE_FILES_DEFERRED}, false, false},
        {{.done = true}, false, false},
        {{.suspended = true}, false, false},
        {{.project = 1}, false, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(schedule_result_is_runnable(&cases[i].result, projects),
                         cases[i].runnable);
        assert_int_equal(schedule_result_is_nearly_runnable(&cases[i].result, projects),
                         cases[i].nearly);
    }
}

static void projects_are_fetchable_unless_something_is_in_the_way(void **state)
{
    (void)state;
    static const struct {
        struct schedule_project project;
        bool deferred, overworked, fetchable, latency_limited, potentially_runnable;
    } cases[] = {
        {{.share = 1}, false, false, true, false, true},
        {{.min_rpc_time = 1001}, true, false, false, false, false},
        {{.min_rpc_time = 1000}, false, false, true, false, true},
        {{.no_new_work = true}, false, false, false, false, false},
        {{.master_pending = true}, false, false, false, false, false},
        {{.long_debt = -HOUR - 1}, false, true, false, false, true},
        {{.long_debt = -HOUR}, false, false, true, false, true},
        {{.suspended = true, .long_debt = -DAY}, false, false, false, false, false},
        /* It has work that would be late: it counts while its delay lasts. */
        {{.min_rpc_time = 1001, .no_work_deadlines = true, .reply_delay_end = 1001},
         true,
         false,
         false,
         true,
         true},
        {{.no_new_work = true, .no_work_deadlines = true, .reply_delay_end = 1000},
         false,
         false,
         false,
         false,
         false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct schedule_project project = cases[i].project;

        schedule_judge_projects(&one_cpu, &project, 1, NULL, 0, 1000);
        assert_int_equal(project.state.deferred, cases[i].deferred);
        assert_int_equal(project.state.overworked, cases[i].overworked);
        assert_int_equal(project.state.fetchable, cases[i].fetchable);
        assert_int_equal(project.state.latency_limited, cases[i].latency_limited);
        assert_int_equal(project.state.potentially_runnable, cases[i].potentially_runnable);
    }
}

static void a_project_is_downloading_while_nothing_is_deferred(void **state)
{
    (void)state;
    struct schedule_project project = {.share = 1, .no_new_work = true};
    struct schedule_result results[] = {result(0, DAY), result(0, DAY)};

    results[0].files = results[1].files = SCHEDULE_FILES_COMING;
    schedule_judge_projects(&one_cpu, &project, 1, results, 2, 0);
    assert_true(project.state.downloading && project.state.potentially_runnable);
    assert_false(project.state.runnable);
    results[1].files = SCHEDULE_FILES_DEFERRED;
    schedule_judge_projects(&one_cpu, &project, 1, results, 2, 0);
    assert_false(project.state.downloading || project.state.potentially_runnable);
    results[0].files = SCHEDULE_FILES_HERE;
    schedule_judge_projects(&one_cpu, &project, 1, results, 2, 0);
    assert_true(project.state.runnable && project.state.potentially_runnable);
}

static void debts_are_kept_among_those_that_could_have_run(void **state)
{
    (void)state;
    struct schedule_project projects[3] = {{.share = 3, .cpu_time = 100},
                                           {.share = 1, .cpu_time = 100},
                                           {.share = 4, .short_debt = 50}};

    projects[0].state = projects[1].state =
        (struct schedule_state){.runnable = true, .potentially_runnable = true};
    projects[2].state = (struct schedule_state){.potentially_runnable = true};
    schedule_adjust_debts(projects, 3);
    /* Short: +50 and -50, raised to a least of 0; none without a runnable result. */
    assert_real(projects[0].short_debt, 100, 1e-9);
    assert_real(projects[1].short_debt, 0, 1e-9);
    assert_real(projects[2].short_debt, 0, 0);
    /* Long: 75 - 100, 25 - 100, 100. */
    assert_real(projects[0].long_debt, -25, 1e-9);
    assert_real(projects[1].long_debt, -75, 1e-9);
    assert_real(projects[2].long_debt, 100, 1e-9);
    assert_real(projects[0].cpu_time, 0, 0);
}

static void debts_are_normalized(void **state)
{
    (void)state;
    struct schedule_project projects[2] = {{.share = 1, .long_debt = 500}, {.share = 1}};

    for (size_t p = 0; p < 2; p++)
        projects[p].state = (struct schedule_state){.runnable = true, .potentially_runnable = true};
    for (int period = 0; period < 100; period++) {
        projects[1].cpu_time = DAY;
        schedule_adjust_debts(projects, 2);
        assert_real(fmin(projects[0].short_debt, projects[1].short_debt), 0, 1e-9);
        assert_true(projects[0].short_debt <= SCHEDULE_SHORT_DEBT_MAX);
        assert_real(projects[0].long_debt + projects[1].long_debt, 0, 1e-6);
    }
    assert_real(projects[0].short_debt, SCHEDULE_SHORT_DEBT_MAX, 0);
}

static void endangered_results_go_first_by_deadline(void **state)
{
    (void)state;
    struct schedule_project projects[] = {{.share = 1, .short_debt = 9000},
                                          {.share = 1, .deadlines_missed = 2}};
    struct schedule_result results[] = {result(0, 1 * HOUR), result(1, 9 * HOUR),
                                        result(1, 5 * HOUR), result(1, 7 * HOUR)};
    const struct schedule_host three = {.cpus = 3, .period = HOUR};

    assert_int_equal(schedule_choose(&one_cpu, projects, 2, results, 4, 0), 1);
    assert_true(results[2].scheduled);
    /* Two are in danger; the third CPU goes by debt. */
    assert_int_equal(schedule_choose(&three, projects, 2, results, 4, 0), 3);
    assert_true(results[2].scheduled && results[3].scheduled && results[0].scheduled);
    assert_false(results[1].scheduled);
}

static void without_danger_debt_decides_and_the_first_received(void **state)
{
    (void)state;
    struct schedule_project projects[] = {{.share = 1}, {.share = 1, .short_debt = 1}};
    struct schedule_result results[] = {result(0, 1 * HOUR), result(1, 9 * HOUR),
                                        result(1, 5 * HOUR)};

    assert_int_equal(schedule_choose(&one_cpu, projects, 2, results, 3, 0), 1);
    assert_true(results[1].scheduled);
    results[2].running = true; /* its period is over, but it is in memory */
    results[2].begun = -HOUR;
    assert_int_equal(schedule_choose(&one_cpu, projects, 2, results, 3, 0), 1);
    assert_true(results[2].scheduled);
    /* Half a period was anticipated for it: the other project is next. */
    assert_int_equal(schedule_choose(&two_cpus, projects, 2, results, 3, 0), 2);
    assert_true(results[2].scheduled && results[0].scheduled);
}

static void what_runs_keeps_its_period(void **state)
{
    (void)state;
    struct schedule_project projects[] = {{.share = 1, .short_debt = DAY}, {.share = 1}};
    struct schedule_result results[] = {result(0, DAY), result(1, DAY)};

    results[1].running = true;
    results[1].begun = 1;
    (void)schedule_choose(&one_cpu, projects, 2, results, 2, HOUR);
    assert_true(results[1].scheduled);
    (void)schedule_choose(&one_cpu, projects, 2, results, 2, HOUR + 1);
    assert_true(results[0].scheduled);
    /* But not against a deadline. */
    projects[0].deadlines_missed = 1;
    (void)schedule_choose(&one_cpu, projects, 2, results, 2, HOUR);
    assert_true(results[0].scheduled);
}

static void coprocessors_are_kept_busy_and_cpus_counted(void **state)
{
    (void)state;
    struct schedule_project projects[] = {{.share = 1, .short_debt = DAY}, {.share = 1}};
    struct schedule_result results[] = {result(0, DAY), result(0, DAY), result(1, DAY),
                                        result(1, DAY)};
    const struct schedule_host host = {.cpus = 2, .coprocs = {1}, .period = HOUR};

    for (size_t i = 2; i < 4; i++) {
        results[i].coproc = 0;
        results[i].coprocs = 1;
    }
    assert_int_equal(schedule_choose(&host, projects, 2, results, 4, 0), 2);
    assert_true(results[2].scheduled && results[0].scheduled);
    results[2].cpus = 0.1; /* the rest is not enough for two more */
    results[0].cpus = 2;
    assert_int_equal(schedule_choose(&host, projects, 2, results, 4, 0), 2);
    assert_true(results[2].scheduled && results[1].scheduled);
    results[0].cpus = 16; /* never more than all of them */
    results[1].done = results[2].done = results[3].done = true;
    assert_int_equal(schedule_choose(&host, projects, 2, results, 4, 0), 1);
}

static void the_endangered_preempt_who_loses_least(void **state)
{
    (void)state;
    struct schedule_result results[] = {result(0, DAY), result(0, DAY), result(1, HOUR)};

    for (size_t i = 0; i < 2; i++) {
        results[i].running = true;
        results[i].since_checkpoint = i == 0 ? 500 : 20;
    }
    results[2].scheduled = results[0].scheduled = false;
    results[2].scheduled = true;
    results[2].deadline_missed = true;
    schedule_enforce(&two_cpus, results, 3, 100, 200);
    assert_true(results[2].running && results[0].running);
    assert_false(results[1].running);
    assert_real(results[2].begun, 200, 0);
    for (size_t i = 0; i < 2; i++) { /* of two that lose the same, the first */
        results[i].running = true;
        results[i].since_checkpoint = 20;
    }
    results[2].running = false;
    schedule_enforce(&two_cpus, results, 3, 100, 200);
    assert_true(results[2].running && results[1].running);
    assert_false(results[0].running);
}

static void others_wait_for_a_checkpoint(void **state)
{
    (void)state;
    struct schedule_result results[] = {result(0, DAY), result(1, DAY)};

    results[0].running = true;
    results[0].checkpoint = 100;
    results[1].scheduled = true;
    schedule_enforce(&one_cpu, results, 2, 100, 200);
    assert_true(results[0].running);
    assert_false(results[1].running);
    results[0].checkpoint = 250;
    schedule_enforce(&one_cpu, results, 2, 100, 300);
    assert_true(results[1].running);
    assert_false(results[0].running);
    /* Nobody makes room for nobody. */
    results[1].scheduled = false;
    results[1].checkpoint = 350;
    schedule_enforce(&one_cpu, results, 2, 300, 400);
    assert_true(results[1].running);
}

/* A GPU result that uses no whole CPU, and a CPU result: neither has what the other waits for. */
static void nobody_stops_for_who_cannot_use_it(void **state)
{
    (void)state;
    const struct schedule_host host = {.cpus = 1, .coprocs = {1}, .period = HOUR};

    for (int endangered = 0; endangered < 2; endangered++)
        for (int waits_for_gpu = 0; waits_for_gpu < 2; waits_for_gpu++) {
            struct schedule_result results[] = {result(0, DAY), result(0, DAY), result(1, HOUR)};

            results[0].coproc = 0;
            results[0].coprocs = 1;
            results[0].cpus = 0;
            /* One runs on each, one of them may stop; the third waits for the other. */
            results[0].running = results[1].running = true;
            results[0].scheduled = waits_for_gpu == 1;
            results[1].scheduled = waits_for_gpu == 0;
            results[0].checkpoint = results[1].checkpoint = 150;
            if (waits_for_gpu) {
                results[2].coproc = 0;
                results[2].coprocs = 1;
                results[2].cpus = 0;
            }
            results[2].scheduled = true;
            results[2].deadline_missed = endangered;
            schedule_enforce(&host, results, 3, 100, 200);
            assert_true(results[0].running && results[1].running);
            assert_false(results[2].running);
        }
}

/* P1(0.1, 1, .5) P2(1, 24, .25) P3(1, 24, .25), two CPUs, a period of one hour. */
static void scenario_1_runs_long_tasks_for_their_whole_period(void **state)
{
    (void)state;
    struct schedule_project projects[] = {{.share = 2}, {.share = 1}, {.share = 1}};
    struct schedule_result results[] = {result(0, HOUR), result(1, DAY), result(2, DAY)};
    double left[] = {HOUR / 10, HOUR, HOUR}, used[3] = {0};
    size_t preempted = 0;

    for (int step = 0; step < 5000; step++) {
        double now = step * HOUR / 10, chosen_at = now;
        bool ran[3];

        for (size_t i = 0; i < 3; i++)
            ran[i] = results[i].running && left[i] < (i == 0 ? HOUR / 10 : HOUR) - 1;
        schedule_judge_projects(&two_cpus, projects, 3, results, 3, now);
        schedule_adjust_debts(projects, 3);
        assert_int_equal(schedule_choose(&two_cpus, projects, 3, results, 3, now), 2);
        for (size_t i = 0; i < 3; i++)
            results[i].checkpoint = now + 1; /* whenever it is asked for */
        schedule_enforce(&two_cpus, results, 3, chosen_at, now);
        for (size_t i = 0; i < 3; i++) {
            preempted += ran[i] && !results[i].running;
            if (!results[i].running)
                continue;
            used[i] += HOUR / 10;
            projects[i].cpu_time += HOUR / 10;
            left[i] -= HOUR / 10;
            if (left[i] < 1) { /* the next one of the project takes its place */
                left[i] = i == 0 ? HOUR / 10 : HOUR;
                results[i].running = false;
            }
        }
    }
    assert_int_equal(preempted, 0);
    assert_real(used[0] / (used[0] + used[1] + used[2]), 0.5, 0.02);
    assert_real(used[1] / (used[0] + used[1] + used[2]), 0.25, 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_runnable_with_files_and_nearly_before),
        cmocka_unit_test(projects_are_fetchable_unless_something_is_in_the_way),
        cmocka_unit_test(a_project_is_downloading_while_nothing_is_deferred),
        cmocka_unit_test(debts_are_kept_among_those_that_could_have_run),
        cmocka_unit_test(debts_are_normalized),
        cmocka_unit_test(endangered_results_go_first_by_deadline),
        cmocka_unit_test(without_danger_debt_decides_and_the_first_received),
        cmocka_unit_test(what_runs_keeps_its_period),
        cmocka_unit_test(coprocessors_are_kept_busy_and_cpus_counted),
        cmocka_unit_test(the_endangered_preempt_who_loses_least),
        cmocka_unit_test(others_wait_for_a_checkpoint),
        cmocka_unit_test(nobody_stops_for_who_cannot_use_it),
        cmocka_unit_test(scenario_1_runs_long_tasks_for_their_whole_period),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
