/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs count of a host's memory, and where it may run short. */
#include "server/policy/dispatch/host_view.h"

#include "config/config.h"
#include "server/parse/client_age.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

static struct version_option options[2];
static struct host_view view;

/* 4 CPUs and 10 GB, a version of one CPU, 8 jobs in a reply. */
static int setup(void **state)
{
    (void)state;
    options[0] = (struct version_option){.is_fit = true, .usage = {.avg_ncpus = 1}};
    options[1] = (struct version_option){.is_fit = true, .usage = {.avg_ncpus = 1}};
    view = (struct host_view){.memory = 10e9,
                              .limits = {.reply = 8},
                              .asked = {.resource_count = 1},
                              .options = {.items = options, .count = 2}};
    view.asked.resources[RESOURCE_CPU].count = 4;
    return 0;
}

/* Whether it runs short where more than `jobs` of equal jobs do, each of which takes all that a
 * part of `jobs` leaves to it. */
static void assert_jobs_at_once(double jobs)
{
    assert_false(memory_may_run_short(&view, view.memory / jobs));
    assert_true(memory_may_run_short(&view, view.memory / jobs * 1.0001));
}

/* One more may begin while CPUs are in part free. */
static void as_many_jobs_count_as_can_run(void **state)
{
    (void)state;
    assert_jobs_at_once(5);
    view.asked.resources[RESOURCE_CPU].count = 6;
    assert_jobs_at_once(7);
}

static void no_more_jobs_count_than_the_host_can_have(void **state)
{
    (void)state;
    view.limits.reply = 3;
    assert_jobs_at_once(3);
    view.in_progress_total = 1;
    assert_jobs_at_once(4);
    view.in_progress_total = 10;
    assert_jobs_at_once(5);
}

/* The narrowest version that the host can run; a wide one does not make less of them. */
static void narrow_versions_run_more_at_a_time(void **state)
{
    (void)state;
    view.limits.reply = 1000;
    options[1].usage.avg_ncpus = 4;
    assert_jobs_at_once(5);
    options[1].usage.avg_ncpus = 0.5;
    assert_jobs_at_once(9);
    options[1].is_fit = false;
    assert_jobs_at_once(5);
    options[1].is_fit = true;
    options[1].usage.avg_ncpus = 0.001; /* nothing counts as narrower */
    view.limits.reply = 10000;
    assert_jobs_at_once(4001);
    options[1].usage.avg_ncpus = 0;
    assert_jobs_at_once(4001);
}

static void coprocessors_run_jobs_besides(void **state)
{
    (void)state;
    view.limits.reply = 1000;
    view.asked.resource_count = 2;
    view.asked.resources[1].count = 2;
    assert_jobs_at_once(7);
    options[1] = (struct version_option){
        .is_fit = true, .resource = 1, .usage = {.avg_ncpus = 0.1, .coproc_count = 0.5}};
    assert_jobs_at_once(9);
    options[1].resource = 2; /* one that the host lacks */
    assert_jobs_at_once(7);
}

/* What a plan class says of memory counts instead of the bounds, which may be small. */
static void versions_may_take_more_than_the_bounds_of_jobs(void **state)
{
    (void)state;
    assert_false(memory_may_run_short(&view, 1e6));
    options[1].memory = 2.1e9;
    assert_true(memory_may_run_short(&view, 1e6));
    options[1].memory = 1.9e9;
    assert_false(memory_may_run_short(&view, 1e6));
    assert_true(memory_may_run_short(&view, 2.1e9));
    options[1].memory = 2.1e9;
    options[1].is_fit = false;
    assert_false(memory_may_run_short(&view, 1e6));
}

static void a_job_counts_what_its_client_counts(void **state)
{
    (void)state;
    assert_real(memory_counted(&view, NULL, 5e9), 0, 0);
    view.simulates_memory = true;
    assert_real(memory_counted(&view, NULL, 5e9), 5e9, 0);
    assert_real(memory_counted(&view, &options[0], 5e9), 5e9, 0);
    options[0].memory = 3e9; /* of the version, instead of the bound */
    assert_real(memory_counted(&view, &options[0], 5e9), 3e9, 0);
    options[0].memory_peak = 2e9;
    assert_real(memory_counted(&view, &options[0], 5e9), 2e9, 0);
    view.memory_is_strict = true;
    assert_real(memory_counted(&view, &options[0], 5e9), 3e9, 0);
}

static void bounds_are_strict_where_the_client_knows_of_it(void **state)
{
    struct config *config;

    (void)state;
    assert_status(STATUS_OK, config_defaults(&config));
    assert_false(memory_is_strict(config, CLIENT_READS_STRICT_MEMORY_BOUND));
    config->strict_memory_bound = true;
    assert_true(memory_is_strict(config, CLIENT_READS_STRICT_MEMORY_BOUND));
    assert_false(memory_is_strict(config, CLIENT_READS_STRICT_MEMORY_BOUND - 1));
    config_release(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(as_many_jobs_count_as_can_run, setup),
        cmocka_unit_test_setup(no_more_jobs_count_than_the_host_can_have, setup),
        cmocka_unit_test_setup(narrow_versions_run_more_at_a_time, setup),
        cmocka_unit_test_setup(coprocessors_run_jobs_besides, setup),
        cmocka_unit_test_setup(versions_may_take_more_than_the_bounds_of_jobs, setup),
        cmocka_unit_test_setup(a_job_counts_what_its_client_counts, setup),
        cmocka_unit_test_setup(bounds_are_strict_where_the_client_knows_of_it, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
