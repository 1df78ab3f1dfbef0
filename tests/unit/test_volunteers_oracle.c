/* SPDX-License-Identifier: Apache-2.0 */
/* The bound for policies: what a crowd could do that knows the future. */
#include "server/base/buffer.h"
#include "tests/support/emulation.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/crowd/scenario.h"
#include "tools/lab/volunteers/figures/oracle.h"
#include "tools/lab/volunteers/host/life.h"

#include <math.h>
#include <stdio.h>

#include "server/base/banned.h"

#define HOUR 3600.0
#define DAY  86400.0

/* Two hosts of two CPUs of 1 GFLOPS, always on, for ten days; jobs of an hour. */
static struct scenario steady(double bound)
{
    return (struct scenario){.hosts = 2,
                             .days = 10,
                             .seed = 3,
                             .begin = EMULATION_BEGIN,
                             .population = emulation_steady(),
                             .oracle_operations = HOUR * 1e9,
                             .oracle_bounds = {bound},
                             .oracle_bound_count = 1};
}

static double part(const struct oracle *oracle, double flops)
{
    return flops / oracle->flops_total;
}

static void who_is_always_there_is_busy_if_jobs_can_be_in_time(void **state)
{
    (void)state;
    struct scenario scenario = steady(HOUR);
    struct oracle oracle;

    scenario.population.cpus_min = scenario.population.cpus_max = 2;
    assert_true(oracle_run(&scenario, &oracle));
    assert_real(oracle.flops_total, 2 * 2 * 10 * DAY * 1e9, 1);
    assert_real(part(&oracle, oracle.flops_useful), 1, 1e-9);
    assert_int_equal(oracle.count, 2 * 2 * 240);
    assert_real(oracle_latency(&oracle, 0.5), HOUR, 1e-3);
    oracle_free(&oracle);
    scenario.oracle_bounds[0] = HOUR - 1;
    assert_true(oracle_run(&scenario, &oracle));
    assert_real(oracle.flops_useful, 0, 0);
    assert_int_equal(oracle.count, 0);
    assert_real(oracle_latency(&oracle, 0.5), 0, 0);
    oracle_free(&oracle);
}

/* Half of the jobs take longer than estimated; it takes the others, and none is late. */
static void it_knows_how_long_jobs_take(void **state)
{
    (void)state;
    struct scenario scenario = steady(HOUR);
    struct oracle oracle;

    scenario.population.estimate_sigma = 1;
    assert_true(oracle_run(&scenario, &oracle));
    assert_true(part(&oracle, oracle.flops_useful) > 0.99);
    assert_true(oracle_latency(&oracle, 1) <= HOUR);
    assert_true(oracle_latency(&oracle, 0.5) < oracle_latency(&oracle, 0.95));
    oracle_free(&oracle);
}

/* Nobody knows what fails. */
static void what_fails_is_wasted(void **state)
{
    (void)state;
    struct scenario scenario = steady(HOUR);
    struct oracle oracle;

    scenario.population.error_rate = 0.5;
    assert_true(oracle_run(&scenario, &oracle));
    /* Of two jobs one fails, on average half way. */
    assert_real(part(&oracle, oracle.flops_wasted), 1.0 / 3, 0.05);
    assert_real(part(&oracle, oracle.flops_useful), 2.0 / 3, 0.05);
    oracle_free(&oracle);
}

/* The hosts are those of a run, and there at the same times. */
static void it_knows_when_hosts_are_there(void **state)
{
    (void)state;
    struct scenario scenario = steady(HOUR);
    struct oracle tight, wide;
    struct emulation *emulation = emulation_create();

    scenario.hosts = 1;
    scenario.days = 100;
    scenario.population.always_on = false;
    assert_true(oracle_run(&scenario, &tight));
    scenario.oracle_bounds[0] = 100 * DAY;
    assert_true(oracle_run(&scenario, &wide));
    emulation->population = scenario.population;
    emulation_begin(emulation, 3);
    emulation_run(emulation, 100);
    assert_real(tight.flops_total, emulation->volunteer.tally.flops_total,
                1e-3 * tight.flops_total);
    assert_real(wide.flops_total, tight.flops_total, 1);
    /* A job that waits for its host to come back is in time only where the bound allows it. */
    assert_true(part(&tight, tight.flops_useful) < part(&wide, wide.flops_useful) - 0.05);
    assert_true(part(&wide, wide.flops_useful) > 0.97);
    assert_true(oracle_latency(&tight, 1) <= HOUR + 1e-6);
    assert_true(oracle_latency(&wide, 1) > HOUR);
    oracle_free(&tight);
    oracle_free(&wide);
    emulation_free(emulation);
}

/* Four CPUs, ten jobs of an hour: four are back each hour, whatever is before the batch. */
static void a_batch_is_what_is_finished_first(void **state)
{
    (void)state;
    struct scenario scenario = steady(HOUR);
    struct buffer buffer = buffer_on_heap(4096);
    struct oracle oracle;

    scenario.population.cpus_min = scenario.population.cpus_max = 2;
    scenario.oracle_batch_jobs = 10;
    scenario.oracle_batch_days = 9;
    assert_true(oracle_run(&scenario, &oracle));
    assert_int_equal(oracle.count, 2 * 2 * 24);
    assert_real(oracle_batch_back(&oracle, &scenario, 0.4), HOUR, 1e-3);
    assert_real(oracle_batch_back(&oracle, &scenario, 0.41), 2 * HOUR, 1e-3);
    assert_real(oracle_batch_back(&oracle, &scenario, 1), 3 * HOUR, 1e-3);
    oracle_write_json(&oracle, &scenario, &buffer);
    assert_true(text_contains(buffer_text(&buffer),
                              TEXT("\"back_90\": 3.000, \"back_99\": 3.000, \"back_100\": 3.000")));
    scenario.oracle_batch_jobs = 97;
    assert_real(oracle_batch_back(&oracle, &scenario, 1), DAY, 1e-3); /* not within the run */
    oracle_free(&oracle);
    buffer_free(&buffer);
}

static void its_figures_have_the_names_of_tables(void **state)
{
    (void)state;
    double latencies[] = {HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR};
    const struct scenario scenario = {.days = 2};
    const struct oracle oracle = {.flops_total = 8e9,
                                  .flops_useful = 4e9,
                                  .flops_wasted = 1e9,
                                  .latencies = latencies,
                                  .count = 4};
    struct buffer buffer = buffer_on_heap(4096);

    oracle_write_json(&oracle, &scenario, &buffer);
    assert_text(buffer_text(&buffer),
                "\"flops_total\": 8.000000e+09, \"idle_fraction\": 0.375000, "
                "\"wasted_fraction\": 0.125000, \"counted_fraction\": 0.500000,\n"
                " \"in_time_fraction\": 1, \"copies\": 1, \"finished\": 2.000,\n"
                " \"latency_p50\": 3.000, \"latency_p95\": 4.000, \"latency_p99\": 4.000");
    buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_always_there_is_busy_if_jobs_can_be_in_time),
        cmocka_unit_test(it_knows_how_long_jobs_take),
        cmocka_unit_test(what_fails_is_wasted),
        cmocka_unit_test(it_knows_when_hosts_are_there),
        cmocka_unit_test(a_batch_is_what_is_finished_first),
        cmocka_unit_test(its_figures_have_the_names_of_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
