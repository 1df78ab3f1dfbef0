/* SPDX-License-Identifier: Apache-2.0 */
/* Credit, its averages, and the statistics that a verdict adds to, with figures worked by hand. */
#include "server/policy/result/credit.h"
#include "server/policy/result/run_statistics.h"

#include "tests/support/test.h"

#include <math.h>

#define NOW  1800000000.0
#define DAY  86400.0
#define FINE 1e-6

static void a_job_is_worth_its_size(void **state)
{
    (void)state;
    assert_real(credit_of_job(0, 1e13), 23.148148, FINE);
    assert_real(credit_of_job(0, 3.6e13), 83.333333, FINE);
    assert_real(credit_of_job(77, 3.6e13), 77, 0);
    assert_real(credit_of_job(0, 0), 0, 0);
    assert_real(credit_of_job(0, -1), 0, 0);
    assert_real(credit_of_job(-3, 4.32e11), 1, 0);
    assert_real(credit_of_job(0, NAN), 0, 0);
    assert_real(credit_of_job(0, INFINITY), CREDIT_MOST, 0);
    assert_real(credit_of_job(1e9, 1), CREDIT_MOST, 0);
}

static void averages_follow_the_table(void **state)
{
    static const struct {
        double before, span, credit, after;
    } cases[] = {
        {100, 7 * DAY, 0, 50},
        {0, DAY, 100, 9.427634},
        {50, 3600, 20, 51.770472},
        {50, 0, 100, 59.902103},
        {50, -500, 100, 59.902103}, /* a clock that was set back */
        {50, 10800, 83.333333, 57.585827},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct credit_average average = {.credit = cases[i].before, .time = NOW - cases[i].span};

        credit_average_add(&average, NOW, 0, cases[i].credit);
        assert_real(average.credit, cases[i].after, FINE);
        assert_real(average.time, NOW, 0);
    }
}

static void a_steady_host_reaches_its_rate(void **state)
{
    struct credit_average average = {.time = NOW};

    (void)state;
    for (int i = 1; i <= 60 * 24; i++)
        credit_average_add(&average, NOW + i * 3600, 0, 100.0 / 24);
    assert_real(average.credit, 99.7371, 1e-4);
}

static void the_first_credit_ever_goes_by_the_time_it_took(void **state)
{
    struct credit_average average = {.time = 0};

    (void)state;
    credit_average_add(&average, NOW, NOW - 7200, 43.0556);
    assert_real(average.credit, 516.6672, FINE);
    assert_real(average.time, NOW, 0);
    average = (struct credit_average){.time = 0};
    credit_average_add(&average, NOW, NOW, 1); /* in no time: taken as a second */
    assert_real(average.credit, DAY, FINE);
    average = (struct credit_average){.time = 0};
    credit_average_add(&average, NOW, 0, 0);
    assert_real(average.credit, 0, 0);
    assert_real(average.time, NOW, 0);
}

/* --- statistics --------------------------------------------------------------------------------
 */

/* An hour at 5 GFLOPS for 1.8e13 FLOP. */
static struct valid_run an_hour(void)
{
    return (struct valid_run){.elapsed_time = 3600,
                              .cpu_time = 3500,
                              .flops_estimate = 5e9,
                              .rsc_fpops_est = 1.8e13,
                              .turnaround = 7200};
}

static void a_valid_result_is_one_sample_of_each_kind(void **state)
{
    struct judged_version_row version = {.max_jobs_per_day = 500, .consecutive_valid = 3};
    struct valid_run run = an_hour();

    (void)state;
    run_statistics_add_valid(&version, &run, 500);
    assert_i64(version.max_jobs_per_day, 501);
    assert_i64(version.consecutive_valid, 4);
    assert_real(version.et_n, 1, 0);
    assert_real(version.et_avg, 2e-10, 1e-20);
    assert_real(version.et_var, 0, 1e-25);
    assert_real(version.pfc_n, 1, 0);
    assert_real(version.pfc_avg, 1, 1e-12);
    assert_real(version.turnaround_n, 1, 0);
    assert_real(version.turnaround_avg, 7200, 0);
    run.turnaround = 3600; /* mean 5400, q = (3600 - 7200) * (3600 - 5400) */
    run_statistics_add_valid(&version, &run, 500);
    assert_real(version.turnaround_avg, 5400, 1e-9);
    assert_real(version.turnaround_q, 6480000, 1e-6);
    assert_real(version.turnaround_var, 3240000, 1e-6);
    run.turnaround = 540000; /* counts as ten times the average, 54000 */
    run_statistics_add_valid(&version, &run, 500);
    assert_real(version.turnaround_avg, 21600, 1e-9);
    version = (struct judged_version_row){.max_jobs_per_day = 500};
    run = an_hour();
    run_statistics_add_valid(&version, &run, 500);
    run.elapsed_time = 360000; /* the second sample is cut down already */
    run_statistics_add_valid(&version, &run, 500);
    assert_real(version.et_avg, (2e-10 + 2e-9) / 2, 1e-20);
    run.rsc_fpops_est = 1e-320; /* what is no number is no sample */
    run_statistics_add_valid(&version, &run, 500);
    assert_real(version.et_n, 2, 0);
    assert_real(version.et_avg, (2e-10 + 2e-9) / 2, 1e-20);
}

static void later_samples_weigh_a_hundredth(void **state)
{
    struct judged_version_row version = {
        .turnaround_n = 18, .turnaround_avg = 100, .turnaround_var = 10, .turnaround_q = 180};
    struct valid_run run = an_hour();

    (void)state;
    run.turnaround = 119;
    run_statistics_add_valid(&version, &run, 500); /* the 19th weighs like the others */
    assert_real(version.turnaround_avg, 101, 1e-9);
    assert_real(version.turnaround_q, 180 + 19.0 * 18, 1e-9);
    assert_real(version.turnaround_var, 522.0 / 19, 1e-9);
    version.turnaround_var = 10;
    run.turnaround = 121;
    run_statistics_add_valid(&version, &run, 500); /* the 20th does not */
    assert_real(version.turnaround_n, 20, 0);
    assert_real(version.turnaround_avg, 101.2, 1e-9);
    assert_real(version.turnaround_var, 10 + 0.01 * (400 - 10), 1e-9);
    assert_real(version.turnaround_q, 522, 1e-9);
}

static void what_says_nothing_is_no_sample(void **state)
{
    struct judged_version_row version = {.max_jobs_per_day = 0};
    double n = 0, avg = 0;
    struct valid_run run;

    (void)state;
    for (int i = 0; i < 4; i++) {
        run = an_hour();
        run.is_outlier = i == 0;
        run.flops_estimate = i == 1 ? 0 : i == 2 ? 1e9 : i == 3 ? -5 : 5e9;
        run_statistics_add_valid(&version, &run, 500);
        run_statistics_add_version(&n, &avg, &run);
    }
    assert_i64(version.consecutive_valid, 4); /* they are valid all the same */
    assert_real(version.et_n + version.pfc_n + version.turnaround_n + n, 0, 0);
    run = an_hour();
    run.flops_estimate = 5e14; /* 100000 times what was estimated */
    run_statistics_add_valid(&version, &run, 500);
    run_statistics_add_version(&n, &avg, &run);
    assert_real(version.pfc_n + n, 0, 0);
    assert_real(version.et_n, 1, 0);
    run = an_hour();
    run.rsc_fpops_est = 0;
    run_statistics_add_valid(&version, &run, 500);
    assert_real(version.et_n, 1, 0); /* and not infinite */
    assert_real(version.et_avg, 2e-10, 1e-20);
    assert_real(version.turnaround_n, 2, 0);
    run = an_hour();
    run.elapsed_time = 0; /* old clients tell CPU time only */
    run.turnaround = -1;  /* clocks */
    run_statistics_add_valid(&version, &run, 500);
    assert_real(version.et_avg, (2e-10 + 3500 / 1.8e13) / 2, 1e-20);
    assert_real(version.turnaround_n, 2, 0);
}

static void versions_are_averaged_over_all_hosts(void **state)
{
    double n = 99, avg = 2;
    struct valid_run run = an_hour();

    (void)state;
    run_statistics_add_version(&n, &avg, &run); /* the hundredth weighs a thousandth */
    assert_real(n, 100, 0);
    assert_real(avg, 1.999, 1e-12);
    n = 1;
    run_statistics_add_version(&n, &avg, &run);
    assert_real(avg, (1.999 + 1) / 2, 1e-12);
}

static void without_replication_nothing_is_proved(void **state)
{
    struct judged_version_row version = {.max_jobs_per_day = 1, .consecutive_valid = 9};
    struct valid_run run = an_hour();

    (void)state;
    run.is_unreplicated = true;
    run_statistics_add_valid(&version, &run, 500);
    assert_i64(version.consecutive_valid, 9);
    assert_i64(version.max_jobs_per_day, 2);
}

/* 0 is no number of jobs, but says that nobody has set one. */
static void a_quota_that_is_not_set_is_the_projects(void **state)
{
    static const struct {
        int64_t quota, before, after;
    } cases[] = {{500, 0, 501}, {500, 1, 2}, {500, 500, 501}, {0, 0, 0}, {0, 7, 8}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct judged_version_row version = {.max_jobs_per_day = cases[i].before};
        struct valid_run run = an_hour();

        run_statistics_add_valid(&version, &run, cases[i].quota);
        assert_i64(version.max_jobs_per_day, cases[i].after);
    }
}

static void an_invalid_result_costs_what_valid_ones_gave(void **state)
{
    static const struct {
        int64_t quota, before, after;
    } cases[] = {{500, 501, 500}, {500, 500, 500}, {500, 3, 3}, {0, 7, 7}, {500, 0, 0}, {1, 2, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct judged_version_row version = {
            .max_jobs_per_day = cases[i].before, .consecutive_valid = 12, .et_n = 5};

        run_statistics_add_invalid(&version, cases[i].quota);
        assert_i64(version.max_jobs_per_day, cases[i].after);
        assert_i64(version.consecutive_valid, 0);
        assert_real(version.et_n, 5, 0);
    }
}

static void turnaround_of_a_host_follows_slowly(void **state)
{
    (void)state;
    assert_real(run_statistics_turnaround(0, 5000), 5000, 0);
    assert_real(run_statistics_turnaround(1000, 2000), 1300, 1e-9);
    /* The clock was set back while the job was away: nobody knows how long it took. */
    assert_real(run_statistics_turnaround(0, -7200), 0, 0);
    assert_real(run_statistics_turnaround(1000, -7200), 1000, 0);
    assert_real(run_statistics_turnaround(1000, NAN), 1000, 0);
    assert_real(run_statistics_turnaround(-7200, 2000), 2000, 0); /* of an earlier version */
    assert_real(run_statistics_turnaround(-7200, -1), 0, 0);
}

static void a_variant_is_sampled_where_both_are_known(void **state)
{
    struct host_variant_row row = {.et_n = 0};

    (void)state;
    run_statistics_add_variant(&row, 0, 10);
    run_statistics_add_variant(&row, 10, 0);
    assert_real(row.et_n, 0, 0);
    run_statistics_add_variant(&row, 0.5, 0.25);
    assert_real(row.et_n, 1, 0);
    assert_real(row.et_avg, 2, 1e-9);
    run_statistics_add_variant(&row, 4, 1);
    assert_real(row.et_n, 2, 0);
    assert_real(row.et_avg, 3, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_worth_its_size),
        cmocka_unit_test(averages_follow_the_table),
        cmocka_unit_test(a_steady_host_reaches_its_rate),
        cmocka_unit_test(the_first_credit_ever_goes_by_the_time_it_took),
        cmocka_unit_test(a_valid_result_is_one_sample_of_each_kind),
        cmocka_unit_test(later_samples_weigh_a_hundredth),
        cmocka_unit_test(what_says_nothing_is_no_sample),
        cmocka_unit_test(versions_are_averaged_over_all_hosts),
        cmocka_unit_test(without_replication_nothing_is_proved),
        cmocka_unit_test(a_quota_that_is_not_set_is_the_projects),
        cmocka_unit_test(an_invalid_result_costs_what_valid_ones_gave),
        cmocka_unit_test(turnaround_of_a_host_follows_slowly),
        cmocka_unit_test(a_variant_is_sampled_where_both_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
