/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation of weighted round robin. */
#include "server/base/random.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/client/robin.h"

#include <math.h>

#include "server/base/banned.h"

static const struct robin_host two_cpus = {.cpus = 2, .available_fraction = 1};

static struct robin_result result(size_t project, double left, double deadline)
{
    return (struct robin_result){.project = project,
                                 .left = left,
                                 .deadline = deadline,
                                 .cpus = 1,
                                 .coproc = CLIENT_NO_COPROC,
                                 .nearly_runnable = true};
}

/* A has two thirds: A1, A2; B has a third: B1. All run to 4, A2 ends then, A1 at 8. */
static void the_figure_lacks_four_of_a_none_of_b_two_in_all(void **state)
{
    (void)state;
    struct robin_project projects[] = {{.share = 2}, {.share = 1}};
    struct robin_result results[] = {result(0, 4 * 2.0 / 3 + 4, 1e9), result(0, 4 * 2.0 / 3, 1e9),
                                     result(1, 20, 1e9)};

    assert_real(robin_simulate(&two_cpus, projects, 2, results, 3, 10), 2, 1e-6);
    assert_real(results[1].finish, 4, 1e-6);
    assert_real(results[0].finish, 8, 1e-6);
    assert_real(projects[0].shortfall, 4, 1e-6);
    assert_real(projects[1].shortfall, 0, 1e-6);
}

static void what_one_cannot_use_others_get(void **state)
{
    (void)state;
    struct robin_project projects[] = {{.share = 90}, {.share = 9}, {.share = 1}};
    struct robin_result results[] = {result(0, 100, 1e9), result(1, 90, 1e9), result(2, 10, 1e9)};

    /* A one CPU; B and C nine tenths and one tenth of the other. */
    (void)robin_simulate(&two_cpus, projects, 3, results, 3, 0);
    for (size_t i = 0; i < 3; i++)
        assert_real(results[i].finish, 100, 1e-3);
}

static void deadlines_are_missed_under_round_robin(void **state)
{
    (void)state;
    struct robin_project projects[] = {{.share = 1}, {.share = 1}};
    struct robin_result results[] = {result(0, 10, 15), result(1, 10, 25), result(1, 5, 100)};
    const struct robin_host one_cpu = {.cpus = 1, .available_fraction = 1};

    /* Alone the first would end at 10; beside others it does at 20. */
    (void)robin_simulate(&one_cpu, projects, 2, results, 3, 0);
    assert_real(results[0].finish, 20, 1e-6);
    assert_true(results[0].deadline_missed);
    assert_true(results[1].deadline_missed == (results[1].finish > 25));
    assert_int_equal(projects[0].deadlines_missed, 1);
    assert_false(results[2].deadline_missed);
}

static void absence_makes_everything_later(void **state)
{
    (void)state;
    struct robin_project projects[] = {{.share = 1}};
    struct robin_result results[] = {result(0, 10, 15)};
    const struct robin_host half = {.cpus = 1, .available_fraction = 0.5};

    assert_real(robin_simulate(&half, projects, 1, results, 1, 100), 80, 1e-6);
    assert_real(results[0].finish, 20, 1e-6);
    assert_true(results[0].deadline_missed);
}

static void one_gpu_runs_one_result_at_a_time(void **state)
{
    (void)state;
    struct robin_project projects[] = {{.share = 1}};
    struct robin_result results[] = {result(0, 10, 1e9), result(0, 10, 15)};
    const struct robin_host host = {.cpus = 2, .coprocs = {1}, .available_fraction = 1};

    for (size_t i = 0; i < 2; i++) {
        results[i].coproc = 0;
        results[i].coprocs = 1;
    }
    /* The CPU that the second one waits with is not lacking work: 80 s of two are. */
    assert_real(robin_simulate(&host, projects, 1, results, 2, 100), 10 + 160, 1e-6);
    assert_real(results[0].finish, 10, 1e-6);
    assert_real(results[1].finish, 20, 1e-6);
    assert_true(results[1].deadline_missed);
}

static void results_of_several_cpus_use_them(void **state)
{
    (void)state;
    struct robin_project projects[] = {{.share = 1}};
    struct robin_result results[] = {result(0, 10, 1e9)};

    results[0].cpus = 2;
    assert_real(robin_simulate(&two_cpus, projects, 1, results, 1, 10), 0, 1e-6);
    assert_real(results[0].finish, 10, 1e-6);
}

static void what_is_not_nearly_runnable_does_not_count(void **state)
{
    (void)state;
    struct robin_project projects[] = {{.share = 1}};
    struct robin_result results[] = {result(0, 10, 5)};

    results[0].nearly_runnable = false;
    assert_real(robin_simulate(&two_cpus, projects, 1, results, 1, 10), 20, 1e-6);
    assert_int_equal(projects[0].deadlines_missed, 0);
}

/* The same in small steps of time, by the words of the definition. CPU results only. */
static double slow_total(const struct robin_project *projects, struct robin_result *results,
                         size_t count, double queue, double step)
{
    double total = 0;

    for (double now = 0; now < queue; now += step) {
        double wish[3] = {0}, got[3] = {0}, cpus = two_cpus.cpus;

        for (size_t i = 0; i < count; i++)
            wish[results[i].project] += results[i].left > 0;
        for (int round = 0; round < 3; round++) {
            double shares = 0, now_cpus = cpus;

            for (size_t p = 0; p < 3; p++)
                shares += got[p] < wish[p] - 1e-9 ? projects[p].share : 0;
            for (size_t p = 0; p < 3 && shares > 0; p++)
                if (got[p] < wish[p] - 1e-9) {
                    double more = fmin(wish[p] - got[p], now_cpus * projects[p].share / shares);

                    got[p] += more;
                    cpus -= more;
                }
        }
        total += cpus * step;
        for (size_t i = 0; i < count; i++)
            if (results[i].left > 0)
                results[i].left -= step * got[results[i].project] / wish[results[i].project];
    }
    return total;
}

static void agrees_with_the_slow_way(void **state)
{
    (void)state;
    struct random random = {.state = 9};

    for (int round = 0; round < 20; round++) {
        struct robin_project projects[3];
        struct robin_result results[6];
        double total;

        for (size_t p = 0; p < 3; p++)
            projects[p] = (struct robin_project){.share = 1 + random_unit(&random) * 5};
        for (size_t i = 0; i < 6; i++)
            results[i] = result((size_t)(random_next(&random) % 3), random_unit(&random) * 5, 1e9);
        total = robin_simulate(&two_cpus, projects, 3, results, 6, 12);
        assert_real(total, slow_total(projects, results, 6, 12, 0.001), 0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figure_lacks_four_of_a_none_of_b_two_in_all),
        cmocka_unit_test(what_one_cannot_use_others_get),
        cmocka_unit_test(deadlines_are_missed_under_round_robin),
        cmocka_unit_test(absence_makes_everything_later),
        cmocka_unit_test(one_gpu_runs_one_result_at_a_time),
        cmocka_unit_test(results_of_several_cpus_use_them),
        cmocka_unit_test(what_is_not_nearly_runnable_does_not_count),
        cmocka_unit_test(agrees_with_the_slow_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
