/* SPDX-License-Identifier: Apache-2.0 */
/* How much work a request asks for, how long jobs take, and what limits say. */
#include "server/policy/limits/amounts.h"

#include "server/base/random.h"
#include "server/parse/message.h"
#include "server/policy/disk/disk.h"
#include "server/policy/limits/limits.h"
#include "server/policy/version/estimate.h"
#include "tests/support/test.h"

#include <math.h>

static struct availability availability_said(const struct message *message, int64_t client_version)
{
    return availability_of(message, availability_reported(message, client_version));
}

static struct message blank(void)
{
    struct message message;

    message_init(&message);
    return message;
}

/* --- is work wanted --------------------------------------------------------------------------- */

static void scalar_counts_only_without_resource_figures(void **state)
{
    struct message message = blank();

    (void)state;
    assert_false(message_wants_work(&message));
    message.work_req_seconds = 0.5;
    assert_true(message_wants_work(&message));
    message.has_resource_request = true;
    assert_false(message_wants_work(&message));
}

static void instances_alone_are_a_request(void **state)
{
    struct message message = blank();
    struct coproc coproc = {.type = TEXT("NVIDIA"), .count = 1, .req_instances = 1};
    struct amounts amounts;

    (void)state;
    message.has_resource_request = true;
    message.cpu_req_instances = 1;
    assert_true(message_wants_work(&message));
    message.cpu_req_instances = 0;
    message.coprocs = &coproc;
    message.coproc_count = 1;
    assert_true(message_wants_work(&message));
    amounts_read(&message, (struct cpus){4, 4}, true, &amounts);
    assert_false(amounts_wants(&amounts, RESOURCE_CPU));
    assert_true(amounts_wants(&amounts, 1));
    coproc.count = 0; /* a coprocessor that is not there wants nothing, and nor does an idle one */
    assert_false(message_wants_work(&message));
    coproc.count = 1;
    coproc.req_instances = 0;
    assert_false(message_wants_work(&message));
    coproc.req_seconds = 1;
    assert_true(message_wants_work(&message));
}

static void dont_send_work_wins(void **state)
{
    struct message message = blank();
    struct amounts amounts;

    (void)state;
    message.has_resource_request = true;
    message.cpu_req_seconds = 1000;
    message.dont_send_work = true;
    assert_false(message_wants_work(&message));
    amounts_read(&message, (struct cpus){4, 4}, true, &amounts);
    assert_false(amounts_wants(&amounts, RESOURCE_CPU));
}

/* --- the old request -------------------------------------------------------------------------- */

/* 1,000 s on a processor of 1 GFLOPS with share 0.5, on 0.8 of the time and active 0.9 of that:
 * 360 GFLOP. */
static void project_normalized_seconds_are_360_gflop(void **state)
{
    struct message message = blank();
    struct amounts amounts;
    struct amount_use use = {.instances = 1};

    (void)state;
    message.work_req_seconds = 1000;
    message.prrs_fraction = 0.5;
    message.has_prrs_fraction = true;
    message.on_frac = 0.8;
    message.active_frac = 0.9;
    message.has_on_frac = message.has_active_frac = true;
    amounts_read(&message, (struct cpus){1, 1}, true, &amounts);
    use.wall_time = estimate_wall_time(359e9, 1e9, availability_said(&message, 50400).cpu, 1);
    assert_true(amounts_fits(&amounts, &use));
    amounts_take(&amounts, &use);
    assert_true(amounts_wants(&amounts, RESOURCE_CPU));
    use.wall_time = estimate_wall_time(1e9, 1e9, availability_said(&message, 50400).cpu, 1);
    amounts_take(&amounts, &use);
    assert_real(amounts.scalar_seconds, 0, 1e-6);

    amounts_read(&message, (struct cpus){1, 1}, false, &amounts);
    use.wall_time = estimate_wall_time(720e9, 1e9, 0.72, 1);
    amounts_take(&amounts, &use);
    assert_real(amounts.scalar_seconds, 0, 1e-6);
}

static void the_resource_share_stands_in_for_the_runnable_one(void **state)
{
    struct message message = blank();
    struct amounts amounts;

    (void)state;
    message.work_req_seconds = 1;
    message.resource_share_fraction = 0.25;
    amounts_read(&message, (struct cpus){1, 1}, true, &amounts);
    assert_real(amounts.share, 0.25, 0);
    message.prrs_fraction = 0.75;
    message.has_prrs_fraction = true;
    amounts_read(&message, (struct cpus){1, 1}, true, &amounts);
    assert_real(amounts.share, 0.75, 0);
    message.has_resource_request = true;
    amounts_read(&message, (struct cpus){1, 1}, true, &amounts);
    assert_real(amounts.share, 1, 0);
}

/* --- per resource ----------------------------------------------------------------------------- */

static void absurd_requests_are_bounded(void **state)
{
    struct message message = blank();
    struct coproc coprocs[] = {
        {.type = TEXT("NVIDIA"), .count = 2, .req_seconds = 1e300, .req_instances = 99},
        {.type = TEXT("CPU"), .count = 2, .req_seconds = 5},
        {.type = TEXT("ATI"), .count = 0, .req_seconds = 5},
        {.count = 2, .req_seconds = 5},
    };
    struct amounts amounts;

    (void)state;
    message.has_resource_request = true;
    message.cpu_req_seconds = -5;
    message.cpu_req_instances = 1e9;
    message.estimated_delay = 1e300;
    message.coprocs = coprocs;
    message.coproc_count = 4;
    amounts_read(&message, (struct cpus){4, 4}, true, &amounts);
    assert_int_equal(amounts.resource_count, 2);
    assert_real(amounts.resources[0].seconds, 0, 0);
    assert_real(amounts.resources[0].instances, 4, 0);
    assert_true(amounts.resources[0].estimated_delay < 1e9);
    assert_real(amounts.resources[1].seconds, 28 * 86400, 0);
    assert_real(amounts.resources[1].instances, 2, 0);
    assert_false(amounts.resources[1].tells_idle);
    assert_int_equal(amounts_resource(&amounts, TEXT("NVIDIA")), 1);
    assert_int_equal(amounts_resource(&amounts, TEXT("ATI")), 2);
    assert_int_equal(amounts_resource(&amounts, NO_TEXT), RESOURCE_CPU);
    coprocs[0].has_req_instances = true;
    message.estimated_delay = -5;
    amounts_read(&message, (struct cpus){4, 4}, true, &amounts);
    assert_true(amounts.resources[1].tells_idle);
    assert_real(amounts.resources[0].estimated_delay, 0, 0);
}

static void a_coprocessor_job_charges_only_whole_cpus(void **state)
{
    struct amounts amounts = {
        .resource_count = 2,
        .share = 1,
        .resources = {{.seconds = 1000, .instances = 4}, {.seconds = 1000, .instances = 1}}};
    struct amount_use use = {.resource = 1, .instances = 1, .cpus = 0.9, .wall_time = 100};

    (void)state;
    amounts_take(&amounts, &use);
    assert_real(amounts.resources[0].seconds, 1000, 0);
    assert_real(amounts.resources[1].seconds, 900, 0);
    use.cpus = 1;
    amounts_take(&amounts, &use);
    assert_real(amounts.resources[0].seconds, 900, 0);
    assert_real(amounts.resources[0].instances, 3, 0);
}

/* --- estimates -------------------------------------------------------------------------------- */

static void an_absent_fraction_is_unknown_not_small(void **state)
{
    struct message message = blank();

    (void)state;
    assert_real(availability_said(&message, 80000).cpu, 1, 0);
    assert_real(availability_said(&message, 80000).gpu, 1, 0);
    message.has_active_frac = true;
    message.active_frac = 0.5;
    assert_real(availability_said(&message, 61000).gpu, 0.5, 0);
    message.has_gpu_active_frac = true;
    message.gpu_active_frac = 0.25;
    assert_real(availability_said(&message, 80000).gpu, 0.25, 0);
    message.has_on_frac = true;
    message.on_frac = 0;
    assert_real(availability_said(&message, 80000).cpu, 0.01, 0);
    message.on_frac = 0.5;
    message.has_cpu_efficiency = true;
    message.cpu_efficiency = 0.5;
    assert_real(availability_said(&message, 80000).cpu, 0.125, 0);
}

static void clients_of_4_19_and_before_give_only_the_on_fraction(void **state)
{
    struct message message = blank();

    (void)state;
    message.has_on_frac = message.has_active_frac = true;
    message.on_frac = 0.5;
    message.active_frac = 0.5;
    assert_real(availability_said(&message, 41900).cpu, 0.5, 0);
    assert_real(availability_said(&message, 41901).cpu, 0.25, 0);
}

static void old_clients_correct_durations_themselves(void **state)
{
    struct message message = blank();

    (void)state;
    assert_real(estimate_correction(&message, 60200), 1, 0);
    message.duration_correction_factor = 3;
    assert_real(estimate_correction(&message, 60200), 3, 0);
    assert_real(estimate_correction(&message, 70028), 1, 0);
    message.duration_correction_factor = 1e9;
    assert_real(estimate_correction(&message, 60200), 80, 0);
}

static void statistics_count_from_their_number_of_samples_on(void **state)
{
    struct host_app_version_row row = {.et_n = 10, .et_avg = 1 / 5e9};
    struct app_version_row version = {.pfc_n = 100, .pfc_avg = 0.5};
    struct speed_question question = {.class_flops = 1e9,
                                      .benchmark_flops = 1e9,
                                      .peak_flops = 1e9,
                                      .statistics = &row,
                                      .version = &version};

    (void)state;
    assert_real(estimate_projected_flops(&question), 1e9, 1);
    version.pfc_n = 101;
    assert_real(estimate_projected_flops(&question), 2e9, 1);
    row.et_n = 11;
    assert_real(estimate_projected_flops(&question), 5e9, 1);
    question.no_statistics = true;
    assert_real(estimate_projected_flops(&question), 1e9, 1);
}

static void statistics_cannot_exceed_250_times_the_class(void **state)
{
    struct host_app_version_row row = {.et_n = 11, .et_avg = 1e-15};
    struct speed_question question = {
        .class_flops = 1e9, .benchmark_flops = 1e9, .peak_flops = 1e9, .statistics = &row};

    (void)state;
    assert_real(estimate_projected_flops(&question), 250e9, 1);
    row.et_avg = 0;
    assert_real(estimate_projected_flops(&question), 1e9, 1);
    row.et_avg = NAN;
    assert_real(estimate_projected_flops(&question), 1e9, 1);
}

static void the_time_to_give_up_is_not_shortened_by_others(void **state)
{
    struct host_app_version_row row = {.et_n = 10, .et_avg = 1 / 5e9};
    struct app_version_row version = {.pfc_n = 101, .pfc_avg = 0.01};
    struct speed_question question = {.class_flops = 1e9,
                                      .benchmark_flops = 2e9,
                                      .peak_flops = 1e9,
                                      .statistics = &row,
                                      .version = &version};

    (void)state;
    assert_real(estimate_projected_flops(&question), 100e9, 1);
    assert_real(estimate_bound_scale(&question, 1), 50, 1e-9);
    assert_real(estimate_bound_scale(&question, 10), 500, 1e-9);
    row.et_n = 11;
    assert_real(estimate_bound_scale(&question, 1), 1, 0);
    row.et_n = 0;
    version.pfc_avg = 10; /* slower than the benchmark */
    assert_real(estimate_bound_scale(&question, 1), 1, 0);
    question.no_statistics = true;
    assert_real(estimate_bound_scale(&question, 1), 1, 0);
}

static void comparing_mixes_by_samples(void **state)
{
    struct host_app_version_row row = {.et_n = 11, .et_avg = 1 / 3e9, .pfc_n = 4};
    struct speed_question question = {
        .class_flops = 1e9, .benchmark_flops = 1e9, .peak_flops = 1e9, .statistics = &row};

    (void)state;
    assert_real(estimate_blended_flops(&question), (3 * 3e9 + 1e9) / 4, 1);
}

static void no_number_makes_an_estimate_useless(void **state)
{
    static const double odd[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-300, 1e300, 1};
    size_t count = sizeof(odd) / sizeof(odd[0]);

    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            for (size_t k = 0; k < count; k++) {
                double wall = estimate_wall_time(odd[i], odd[j], odd[k], 1);
                assert_true(wall >= 0 && wall <= 1e12);
                assert_true(isfinite(estimate_cpu_flops(odd[i])) && estimate_cpu_flops(odd[i]) > 0);
            }
    assert_real(estimate_wall_time(0, 1e9, 1, 1), 1000, 1e-9);
    assert_real(estimate_wall_time(5e8, 1e9, 1, 1), 0.5, 1e-12);
    assert_real(estimate_wall_time(0.5, 1e9, 1, 1), 1e-9, 1e-15);
}

/* --- disk ------------------------------------------------------------------------------------- */

#define GIGABYTE 1073741824.0

static void disk_is_the_least_of_three_bounds(void **state)
{
    struct message message = blank();
    struct global_preferences preferences = {.disk_max_used_gb = 10, .disk_max_used_pct = 50};
    struct random random = {.state = 4};

    (void)state;
    message.has_disk_usage = true;
    for (int i = 0; i < 1000; i++) {
        double least, got;

        message.d_total = 100 * GIGABYTE * random_unit(&random);
        message.d_free = message.d_total * random_unit(&random);
        message.d_boinc_used_total = 1 + 20 * GIGABYTE * random_unit(&random);
        preferences.disk_min_free_gb = 3 * random_unit(&random);
        got = disk_space_of(&message, &preferences, 1, 0).amounts[0];
        least = message.d_free - GIGABYTE * preferences.disk_min_free_gb;
        if (least > message.d_free - GIGABYTE)
            least = message.d_free - GIGABYTE;
        if (least > 10 * GIGABYTE - message.d_boinc_used_total)
            least = 10 * GIGABYTE - message.d_boinc_used_total;
        if (least > message.d_total / 2 - message.d_boinc_used_total)
            least = message.d_total / 2 - message.d_boinc_used_total;
        assert_real(got, least > 0 ? least : 0, 1);
    }
    message.d_free = message.d_total = 100 * GIGABYTE;
    message.d_boinc_used_total = 1;
    preferences.disk_max_used_gb = 0.5;
    assert_real(disk_space_of(&message, &preferences, 1, 0).amounts[0], 0.5 * GIGABYTE, 1);
}

static void the_figure_of_2004_stands_alone_or_is_bounded(void **state)
{
    struct message message = blank();
    struct global_preferences preferences = {0};

    (void)state;
    message.d_free = 5 * GIGABYTE;
    message.project_disk_free = 8 * GIGABYTE;
    message.has_project_disk_free = true;
    assert_real(disk_space_of(&message, &preferences, 1, 0).amounts[0], 8 * GIGABYTE, 1);
    message.has_disk_usage = true;
    assert_real(disk_space_of(&message, &preferences, 1, 0).amounts[0], 4 * GIGABYTE, 1);
    message.has_potentially_free_offender = message.has_potentially_free_self = true;
    message.potentially_free_offender = GIGABYTE; /* less than what is free anyway */
    message.potentially_free_self = 2 * GIGABYTE;
    for (size_t i = 0; i < DISK_PASSES; i++)
        assert_real(disk_space_of(&message, &preferences, 1, 0).amounts[i], 4 * GIGABYTE, 1);
    message.project_disk_free = -1; /* counts as absent */
    message.has_disk_usage = false;
    assert_real(disk_space_of(&message, &preferences, 1, 0).amounts[0], 4 * GIGABYTE, 1);
    assert_real(disk_space_of(&message, &preferences, 6, 0).amounts[0], 0, 0);
}

/* --- limits ----------------------------------------------------------------------------------- */

static struct config *defaults(void)
{
    struct config *config;

    assert_status(STATUS_OK, config_defaults(&config));
    return config;
}

static void assert_cpus(int64_t p_ncpus, const struct config *config,
                        const struct global_preferences *preferences,
                        const struct project_preferences *project, double usable, double ours)
{
    struct cpus cpus = limits_cpus(p_ncpus, config, preferences, project);

    assert_real(cpus.usable, usable, 0);
    assert_real(cpus.ours, ours, 0);
}

static void usable_cpus_follow_the_preferences_in_force(void **state)
{
    struct config *config = defaults();
    struct global_preferences preferences = {.max_ncpus_pct = 50};
    struct project_preferences project = {0};

    (void)state;
    assert_cpus(7, config, &preferences, &project, 3, 3);
    assert_cpus(1, config, &preferences, &project, 1, 1);
    assert_cpus(-4, config, &preferences, &project, 1, 1);
    preferences.max_cpus = 3;
    assert_cpus(1000, config, &preferences, &project, 3, 3);
    assert_cpus(4, config, &preferences, &project, 2, 2);
    preferences.max_cpus = 0.5;
    assert_cpus(4, config, &preferences, &project, 1, 1);
    preferences.max_cpus = 0;
    preferences.max_ncpus_pct = 100;
    assert_cpus(7, config, &preferences, &project, 7, 7);
    preferences.max_ncpus_pct = 150;
    assert_cpus(7, config, &preferences, &project, 7, 7);
    preferences.max_ncpus_pct = 0.5;
    assert_cpus(7, config, &preferences, &project, 1, 1);
    config_release(config);
}

static void our_bounds_leave_the_machine_as_it_is(void **state)
{
    struct config *config = defaults();
    struct global_preferences preferences = {.max_ncpus_pct = 50};
    struct project_preferences project = {0};

    (void)state;
    assert_cpus(1000, config, &preferences, &project, 500, 64);
    project.max_cpus = 2;
    assert_cpus(1000, config, &preferences, &project, 500, 2);
    project.max_cpus = 400; /* max_ncpus stays */
    assert_cpus(1000, config, &preferences, &project, 500, 64);
    preferences.max_cpus = 40;
    assert_cpus(1000, config, &preferences, &project, 40, 40);
    config->max_ncpus = 4096;
    preferences.max_cpus = 0;
    assert_cpus(100000, config, &preferences, &project, 4096, 400);
    config->non_cpu_intensive = true; /* such jobs take no turns */
    assert_cpus(8, config, &preferences, &project, 4, 1);
    config_release(config);
}

static void jobs_per_reply_scale_with_processors(void **state)
{
    struct config *config = defaults();
    struct project_preferences project = {.max_jobs = 3};
    struct amounts amounts = {
        .resource_count = 2, .our_cpus = 4, .resources = {{.count = 9}, {.count = 2}}};
    struct job_limits limits;

    (void)state;
    config->gpu_multiplier = 3;
    config->max_wus_in_progress = 2;
    limits = limits_of(config, &amounts, &project);
    assert_i64(limits.reply, 100);
    assert_i64(limits.in_progress[0], 8);
    assert_true(limits.in_progress[1] == LIMIT_NONE);
    assert_i64(limits.in_progress_total, 3);
    config->max_wus_in_progress = 1;
    config->max_wus_in_progress_gpu = 5;
    config->max_wus_to_send = 0;
    limits = limits_of(config, &amounts, &project);
    assert_i64(limits.in_progress[0], 4);
    assert_i64(limits.in_progress[1], 10);
    assert_i64(limits.reply, config->reply_jobs_max);
    config_release(config);
}

static void limits_in_progress_are_of_the_project_and_of_apps(void **state)
{
    static const struct jobs_in_progress given[] = {
        {.total = {.jobs = 20}, .cpu = {.jobs = 3, .per_processor = true}, .gpu = {.jobs = 2}},
        {.app_name = {.at = "x", .length = 1},
         .cpu = {.jobs = 1},
         .gpu = {.jobs = 2, .per_processor = true}}};
    struct config *config = defaults();
    struct project_preferences project = {.max_jobs = 0};
    struct amounts amounts = {.resource_count = 3,
                              .our_cpus = 4,
                              .resources = {{.count = 9}, {.count = 2}, {.count = 1000}}};
    struct job_limits limits;
    struct app_limit limit;

    (void)state;
    config->jobs_in_progress = given;
    config->jobs_in_progress_count = 2;
    limits = limits_of(config, &amounts, &project);
    assert_i64(limits.project_total, 20);
    assert_true(limits.in_progress_total == LIMIT_NONE);
    assert_i64(limits.in_progress[0], 12);
    assert_i64(limits.in_progress[1], 2); /* of each type by itself */
    assert_i64(limits.in_progress[2], 2);
    config->max_wus_in_progress = 2; /* the older option: the smaller one counts */
    limits = limits_of(config, &amounts, &project);
    assert_i64(limits.in_progress[0], 8);
    limit = limits_of_app(&given[1], 7, &amounts);
    assert_i64(limit.appid, 7);
    assert_true(limit.total == LIMIT_NONE);
    assert_i64(limit.by_resource[0], 1);
    assert_i64(limit.by_resource[1], 4);
    assert_i64(limit.by_resource[2], 128); /* nobody has more than 64 of one type */
    config_release(config);
}

/* policy(7) 5.4: what plan classes believe of a benchmark. */
static void benchmarks_are_capped_by_those_of_others(void **state)
{
    double samples[100];
    struct benchmarks benchmarks;

    (void)state;
    for (int i = 0; i < 100; i++)
        samples[(i * 37) % 100] = (i + 1) * 1e8;
    benchmarks = benchmarks_of(samples, 100);
    assert_real(benchmarks.median, 5.1e9, 1);
    assert_real(benchmarks.most, 9.6e9, 1);
    assert_real(estimate_capped_flops(0, &benchmarks), 5.1e9, 1);
    assert_real(estimate_capped_flops(10.5e9, &benchmarks), 10.5e9, 1); /* within a tenth */
    assert_real(estimate_capped_flops(1e12, &benchmarks), 9.6e9, 1);
    benchmarks = benchmarks_of(samples, 10);
    assert_real(benchmarks.median, 0.6e9, 1);
    benchmarks = benchmarks_of(samples, 9); /* too few to know */
    assert_real(estimate_capped_flops(-1, &benchmarks), 3.3e9, 1);
    assert_real(estimate_capped_flops(1e12, &benchmarks), 3.3e9, 1);
    assert_real(estimate_capped_flops(2e9, &benchmarks), 2e9, 1);
    assert_real(estimate_capped_flops(1e9, &benchmarks), 3.3e9, 1); /* it never ran */
    assert_real(estimate_capped_flops(1.1e9, &benchmarks), 1.1e9, 1);
    benchmarks = (struct benchmarks){.median = 0, .most = 9e9}; /* half of them never ran */
    assert_real(estimate_capped_flops(0, &benchmarks), 3.3e9, 1);
}

static void a_failed_benchmark_is_told_by_its_own_number(void **state)
{
    (void)state;
    assert_false(estimate_has_benchmark(1e9));
    assert_false(estimate_has_benchmark(0));
    assert_false(estimate_has_benchmark(NAN));
    assert_true(estimate_has_benchmark(1e9 + 1));
    assert_real(estimate_stored_peak(1e9, 13.2e9, 13.2e9), 1e9, 0); /* four threads */
    assert_real(estimate_stored_peak(1e9, 1.6e9, 1.6e9), 1e9, 0);   /* half a CPU */
    assert_real(estimate_stored_peak(0, 5e12, 3e9), 5e12, 0); /* nearly all is the coprocessor's */
    assert_real(estimate_stored_peak(0, 5e12, 5e11), 5e12, 0);
    assert_real(estimate_stored_peak(0, 5e12, 5.1e11), 1e9, 0);
    assert_real(estimate_stored_peak(0, NAN, NAN), 1e9, 0);
    assert_real(estimate_stored_peak(2e9, 4e9, 4e9), 4e9, 0);
    assert_real(estimate_stored_peak(2.5e8, 1e9, 1e9), 1e9 + 1, 0); /* four threads so slow */
}

static void a_host_without_benchmarks_has_the_usual_speed(void **state)
{
    (void)state;
    assert_real(estimate_cpu_flops(0), estimate_cpu_flops(-1), 0);
    assert_true(estimate_cpu_flops(0) > estimate_cpu_flops(1));
}

static void daily_quota_has_its_traps(void **state)
{
    (void)state;
    assert_true(limits_daily(0, 0, 4) == LIMIT_NONE); /* neither: no quota */
    assert_true(limits_daily(1, 0, 4) == LIMIT_NONE); /* validators count up from 0 */
    assert_i64(limits_daily(0, 10, 4), 40);           /* not yet set */
    assert_i64(limits_daily(1, 10, 4), 1);            /* a failing version: not scaled */
    assert_i64(limits_daily(2, 10, 4), 8);
    assert_i64(limits_daily(2, 10, 0), 2); /* a processor at least */
    assert_i64(limits_daily(INT64_MAX, 10, 1e9), LIMIT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_benchmark_is_told_by_its_own_number),
        cmocka_unit_test(scalar_counts_only_without_resource_figures),
        cmocka_unit_test(instances_alone_are_a_request),
        cmocka_unit_test(dont_send_work_wins),
        cmocka_unit_test(project_normalized_seconds_are_360_gflop),
        cmocka_unit_test(the_resource_share_stands_in_for_the_runnable_one),
        cmocka_unit_test(absurd_requests_are_bounded),
        cmocka_unit_test(a_coprocessor_job_charges_only_whole_cpus),
        cmocka_unit_test(an_absent_fraction_is_unknown_not_small),
        cmocka_unit_test(clients_of_4_19_and_before_give_only_the_on_fraction),
        cmocka_unit_test(old_clients_correct_durations_themselves),
        cmocka_unit_test(statistics_count_from_their_number_of_samples_on),
        cmocka_unit_test(statistics_cannot_exceed_250_times_the_class),
        cmocka_unit_test(the_time_to_give_up_is_not_shortened_by_others),
        cmocka_unit_test(comparing_mixes_by_samples),
        cmocka_unit_test(no_number_makes_an_estimate_useless),
        cmocka_unit_test(disk_is_the_least_of_three_bounds),
        cmocka_unit_test(the_figure_of_2004_stands_alone_or_is_bounded),
        cmocka_unit_test(usable_cpus_follow_the_preferences_in_force),
        cmocka_unit_test(our_bounds_leave_the_machine_as_it_is),
        cmocka_unit_test(jobs_per_reply_scale_with_processors),
        cmocka_unit_test(limits_in_progress_are_of_the_project_and_of_apps),
        cmocka_unit_test(benchmarks_are_capped_by_those_of_others),
        cmocka_unit_test(a_host_without_benchmarks_has_the_usual_speed),
        cmocka_unit_test(daily_quota_has_its_traps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
