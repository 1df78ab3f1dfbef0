/* SPDX-License-Identifier: Apache-2.0 */
/* Which version runs a job, and why none does; lost jobs, aborts, reasons. */
#include "server/policy/version/version_choice.h"

#include "db/states.h"
#include "server/base/arena.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/limits/limits.h"
#include "server/policy/refusal/reason.h"
#include "server/policy/result/reconcile.h"
#include "server/policy/version/reliability.h"
#include "tests/support/test.h"

static const struct app_row app = {.id = 7, .user_friendly_name = {.at = "Seven", .length = 5}};
static const struct app_row other_app = {.id = 8};
static int64_t none_chosen[8];

static struct version_option usable(const struct app_version_row *version, double flops)
{
    return (struct version_option){.app = &app,
                                   .version = version,
                                   .is_64bit = true,
                                   .is_current = true,
                                   .is_runnable = true,
                                   .choice_flops = flops,
                                   .daily_limit = LIMIT_NONE,
                                   .app_version_id = version->id};
}

static const struct version_option *choose(struct version_option *items, size_t count,
                                           struct version_demand demand,
                                           struct refusal *ret_refusal)
{
    const struct version_options options = {.items = items, .count = count};

    if (demand.appid == 0)
        demand.appid = app.id;
    if (demand.client_version == 0)
        demand.client_version = 70000;
    *ret_refusal = (struct refusal){.reason = REASON_COUNT};
    return version_choose(&options, &demand, none_chosen, ret_refusal);
}

static void the_fastest_usable_version_wins(void **state)
{
    static const struct app_version_row rows[3] = {{.id = 1}, {.id = 2}, {.id = 3}};
    struct version_option items[] = {usable(&rows[0], 1), usable(&rows[1], 3), usable(&rows[2], 2)};
    struct refusal refusal;

    (void)state;
    assert_ptr_equal(choose(items, 3, (struct version_demand){0}, &refusal), &items[1]);
    items[1].is_runnable = false;
    assert_ptr_equal(choose(items, 3, (struct version_demand){0}, &refusal), &items[2]);
    items[2].resource = 1; /* a faster one elsewhere does not hide the slower one here */
    assert_ptr_equal(choose(items, 3, (struct version_demand){0}, &refusal), &items[0]);
    assert_ptr_equal(choose(items, 3, (struct version_demand){.resource = 1}, &refusal), &items[2]);
}

static void the_first_platform_wins_if_so_configured(void **state)
{
    static const struct app_version_row rows[2] = {{.id = 1}, {.id = 2}};
    struct version_option items[] = {usable(&rows[0], 9), usable(&rows[1], 3)};
    struct version_demand demand = {.prefer_primary_platform = true};
    struct refusal refusal;

    (void)state;
    items[0].platform_rank = 1;
    assert_ptr_equal(choose(items, 2, demand, &refusal), &items[1]);
    items[1].is_64bit = false;
    demand.needs_64bit = true;
    assert_ptr_equal(choose(items, 2, demand, &refusal), &items[0]);
}

static void each_obstacle_has_its_reason(void **state)
{
    static const struct app_version_row plain = {.id = 1, .version_num = 103};
    static const struct app_version_row beta = {.id = 1, .beta = 1};
    static const struct app_version_row young = {.id = 1, .min_core_version = 71200};
    static const struct app_version_row old = {.id = 1, .max_core_version = 60000};
    struct refusal refusal;
    struct version_option item;

    (void)state;
    item = usable(&plain, 1);
    assert_null(choose(&item, 1, (struct version_demand){.appid = other_app.id}, &refusal));
    assert_int_equal(refusal.reason, REASON_VERSION_PLATFORM);
    assert_null(choose(&item, 1, (struct version_demand){.version_num = 104}, &refusal));
    assert_int_equal(refusal.reason, REASON_VERSION_PLATFORM);
    assert_null(choose(&item, 1, (struct version_demand){.committed_id = 5}, &refusal));
    assert_int_equal(refusal.reason, REASON_COMMITTED_VERSION);
    item.is_current = false;
    assert_null(choose(&item, 1, (struct version_demand){0}, &refusal));
    assert_non_null(choose(&item, 1, (struct version_demand){.version_num = 103}, &refusal));
    assert_non_null(choose(&item, 1, (struct version_demand){.committed_id = 1}, &refusal));
    item = usable(&beta, 1);
    assert_null(choose(&item, 1, (struct version_demand){0}, &refusal));
    assert_int_equal(refusal.reason, REASON_VERSION_BETA);
    assert_non_null(choose(&item, 1, (struct version_demand){.allow_beta = true}, &refusal));
    item = usable(&young, 1);
    assert_null(choose(&item, 1, (struct version_demand){0}, &refusal));
    assert_int_equal(refusal.reason, REASON_CLIENT_TOO_OLD);
    assert_real(refusal.need, 71200, 0);
    item = usable(&old, 1);
    assert_null(choose(&item, 1, (struct version_demand){0}, &refusal));
    assert_int_equal(refusal.reason, REASON_CLIENT_TOO_NEW);
    item = usable(&plain, 1);
    item.is_64bit = false;
    assert_null(choose(&item, 1, (struct version_demand){.needs_64bit = true}, &refusal));
    assert_int_equal(refusal.reason, REASON_VERSION_64BIT);
    item = usable(&plain, 1);
    item.is_runnable = false;
    assert_null(choose(&item, 1, (struct version_demand){0}, &refusal));
    assert_int_equal(refusal.reason, REASON_VERSION_PLAN_CLASS);
}

/* One version's quota does not end the hand-out of another (and never that of a resend). */
static void a_used_up_quota_leaves_the_other_versions(void **state)
{
    static const struct app_version_row rows[2] = {{.id = 1}, {.id = 2}};
    struct version_option items[] = {usable(&rows[0], 9), usable(&rows[1], 3)};
    struct refusal refusal;

    (void)state;
    items[0].daily_limit = 5;
    items[0].jobs_today = 4;
    assert_ptr_equal(choose(items, 2, (struct version_demand){0}, &refusal), &items[0]);
    items[0].jobs_today = 5;
    assert_ptr_equal(choose(items, 2, (struct version_demand){0}, &refusal), &items[1]);
    assert_null(choose(items, 1, (struct version_demand){0}, &refusal));
    assert_int_equal(refusal.reason, REASON_DAILY_QUOTA);
    assert_real(refusal.need, 5, 0);
    assert_non_null(choose(items, 1, (struct version_demand){.is_resend = true}, &refusal));
}

static void own_versions_do_not_serve_committed_workunits(void **state)
{
    static const struct client_app_version own = {.version_num = 103};
    struct version_option item = {.app = &app,
                                  .anonymous = &own,
                                  .is_current = true,
                                  .is_runnable = true,
                                  .daily_limit = LIMIT_NONE};
    struct refusal refusal;

    (void)state;
    assert_non_null(choose(&item, 1, (struct version_demand){0}, &refusal));
    assert_null(choose(&item, 1, (struct version_demand){.is_homogeneous = true}, &refusal));
}

static void numbers_of_own_versions_differ_by_table(void **state)
{
    (void)state;
    assert_i64(anonymous_version_id(NO_TEXT), -2);
    assert_i64(anonymous_version_id(TEXT("NVIDIA")), -3);
    assert_i64(anonymous_version_id(TEXT("apple_gpu")), -6);
    assert_i64(anonymous_version_id(TEXT("odd")), 0);
    assert_i64(anonymous_statistics_id(12, -2), 12000002);
    assert_i64(anonymous_statistics_id(5000, -3), INT64_C(5000000003));
}

static void plan_classes_tell_their_type_by_substring(void **state)
{
    (void)state;
    assert_text(plan_class_type(TEXT("cuda102")), "NVIDIA");
    assert_text(plan_class_type(TEXT("opencl_nvidia")), "NVIDIA");
    assert_text(plan_class_type(TEXT("simulation")), "ATI"); /* "ati", as BOINC has it */
    assert_text(plan_class_type(TEXT("opencl_intel_gpu")), "intel_gpu");
    assert_text(plan_class_type(TEXT("mt")), "CPU");
}

static void large_memory_needs_64_bit_by_system(void **state)
{
    double gigabyte = 1073741824.0;

    (void)state;
    assert_true(job_needs_64bit(2.5 * gigabyte, TEXT("Microsoft Windows 11")));
    assert_false(job_needs_64bit(2.5 * gigabyte, TEXT("Linux Debian")));
    assert_true(job_needs_64bit(3.5 * gigabyte, TEXT("Linux Debian")));
    assert_false(job_needs_64bit(3.5 * gigabyte, TEXT("Darwin")));
    assert_true(platform_is_64bit(TEXT("x86_64-pc-linux-gnu")));
    assert_false(platform_is_64bit(TEXT("i686-pc-linux-gnu")));
}

static void trust_grows_with_valid_results(void **state)
{
    (void)state;
    assert_false(version_is_trusted(9, 0.99));
    assert_false(version_is_trusted(10, 0.05));
    assert_true(version_is_trusted(10, 0.2));
    assert_true(version_is_trusted(1000, 0.05));
}

static void chance_is_bounded(void **state)
{
    (void)state;
    assert_real(version_randomize(100, 1, 1, false, -5, 0), 10, 1e-9);
    assert_real(version_randomize(100, 1, 0, false, -5, 0), 100, 1e-9);
    assert_real(version_randomize(100, 100, 1, false, 1, 0), 101, 1e-9);
    assert_real(version_randomize(100, 1, 0, true, 0, 0.5), 1, 1e-9);
    assert_real(version_randomize(100, 1, 0, true, 0, 0.995), 100, 1e-9);
}

/* --- lost jobs -------------------------------------------------------------------------------- */

static void a_lost_job_gets_half_its_time_again(void **state)
{
    struct result_row result = {.sent_time = 1000, .report_deadline = 2000};
    struct workunit_row workunit = {.delay_bound = 1000};

    (void)state;
    assert_i64(resend_deadline(&result, &workunit, 0, 1100), 2000); /* never earlier than before */
    assert_i64(resend_deadline(&result, &workunit, 0, 1900), 2400);
    workunit.delay_bound = 300;
    assert_i64(resend_deadline(&result, &workunit, 0, 1900), 2200);
    assert_i64(resend_deadline(&result, &workunit, 0, 2000), 2300);
    assert_i64(resend_deadline(&result, &workunit, 0, 2001), 0);
}

static void grace_is_not_added_twice(void **state)
{
    struct result_row result = {.sent_time = 1000, .report_deadline = 2500};
    struct workunit_row workunit = {.delay_bound = 1000};

    (void)state;
    assert_i64(resend_deadline(&result, &workunit, 500, 1001), 2000);
    for (int i = 0; i < 20; i++) {
        result.report_deadline = 500 + resend_deadline(&result, &workunit, 500, 1001);
        result.sent_time = 1001;
    }
    assert_i64(result.report_deadline, 2500);
}

/* --- aborts ----------------------------------------------------------------------------------- */

static void only_what_nobody_needs_is_aborted(void **state)
{
    static const struct {
        enum abort_kind wanted;
        int64_t server_state, outcome, error_mask, assimilate_state;
    } cases[] = {
        {ABORT_NOT, RESULT_IN_PROGRESS, 0, 0, 0},
        {ABORT_NOW, RESULT_IN_PROGRESS, 0, WU_ERROR_CANCELLED, 0},
        {ABORT_NOT, RESULT_IN_PROGRESS, 0, WU_ERROR_TOO_MANY_ERROR_RESULTS, 0},
        {ABORT_IF_NOT_STARTED, RESULT_IN_PROGRESS, 0, 0, ASSIMILATE_DONE},
        {ABORT_IF_NOT_STARTED, RESULT_OVER, OUTCOME_NO_REPLY, 0, 0},
    };

    (void)state;
    assert_int_equal(abort_decide(NULL, NULL, 3), ABORT_NOW);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct result_row row = {.server_state = cases[i].server_state,
                                       .outcome = cases[i].outcome};
        const struct workunit_row workunit = {.id = 1,
                                              .error_mask = cases[i].error_mask,
                                              .assimilate_state = cases[i].assimilate_state};
        assert_int_equal(abort_decide(&row, &workunit, 3), cases[i].wanted);
    }
}

static void a_job_of_the_users_other_host_is_left_alone(void **state)
{
    const struct result_row row = {.server_state = RESULT_IN_PROGRESS, .userid = 3, .hostid = 9};
    const struct result_row over = {.server_state = RESULT_OVER, .userid = 3, .hostid = 9};

    (void)state;
    assert_int_equal(abort_decide(&row, NULL, 3), ABORT_NOT);
    assert_int_equal(abort_decide(&row, NULL, 4), ABORT_NOW);
    assert_int_equal(abort_decide(&over, NULL, 3), ABORT_NOW);
}

/* --- reasons ---------------------------------------------------------------------------------- */

static void every_reason_reads_well(void **state)
{
    struct arena *arena = arena_create(1 << 20);

    (void)state;
    for (int i = 0; i < REASON_COUNT; i++) {
        const struct refusal refusal = {.reason = (enum reason)i,
                                        .name = TEXT("Seven"),
                                        .type = TEXT("CPU"),
                                        .need = 3e9,
                                        .have = 2e9};
        struct text text = reason_explain(arena, &refusal);

        assert_true(text.length > 10);
        assert_false(text_contains(text, TEXT("{")));
        assert_false(text_contains(text, TEXT("}")));
        assert_true(strlen(reason_word((enum reason)i)) > 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(reason_word((enum reason)i), reason_word((enum reason)j));
    }
    arena_destroy(arena);
}

static void figures_are_rounded_the_honest_way(void **state)
{
    struct arena *arena = arena_create(1 << 20);
    struct refusal refusal = {.reason = REASON_MEMORY,
                              .name = TEXT("Seven"),
                              .need = 1073741824.0 * 2.001,
                              .have = 1073741824.0 * 1.999};

    (void)state;
    assert_text(reason_explain(arena, &refusal),
                "Seven needs 2.01 GB of memory, but only 1.99 GB may be used");
    refusal = (struct refusal){
        .reason = REASON_CLIENT_TOO_OLD, .name = TEXT("Seven"), .need = 71205, .have = 60210};
    assert_text(reason_explain(arena, &refusal),
                "Seven needs BOINC 7.12.5 or later; yours is 6.2.10");
    arena_destroy(arena);
}

static void the_most_useful_reasons_are_said_with_the_nearest_figures(void **state)
{
    struct refusals refusals = {0};
    struct refusal picked[REASONS_SAID_MAX];

    (void)state;
    refusals_add(&refusals, &(struct refusal){.reason = REASON_NO_JOBS});
    refusals_add(&refusals, &(struct refusal){.reason = REASON_RESERVED});
    refusals_add(&refusals, &(struct refusal){.reason = REASON_DEADLINE, .need = 10, .have = 11});
    refusals_add(&refusals, &(struct refusal){.reason = REASON_MEMORY, .need = 9, .have = 1});
    refusals_add(&refusals, &(struct refusal){.reason = REASON_MEMORY, .need = 4, .have = 1});
    refusals_add(&refusals, &(struct refusal){.reason = REASON_MEMORY, .need = 7, .have = 1});
    assert_int_equal(refusals_pick(&refusals, picked), 3);
    assert_int_equal(picked[0].reason, REASON_MEMORY);
    assert_real(picked[0].need, 4, 0);
    assert_int_equal(picked[1].reason, REASON_DEADLINE);
    assert_int_equal(picked[2].reason, REASON_NO_JOBS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_usable_version_wins),
        cmocka_unit_test(the_first_platform_wins_if_so_configured),
        cmocka_unit_test(each_obstacle_has_its_reason),
        cmocka_unit_test(a_used_up_quota_leaves_the_other_versions),
        cmocka_unit_test(own_versions_do_not_serve_committed_workunits),
        cmocka_unit_test(numbers_of_own_versions_differ_by_table),
        cmocka_unit_test(plan_classes_tell_their_type_by_substring),
        cmocka_unit_test(large_memory_needs_64_bit_by_system),
        cmocka_unit_test(trust_grows_with_valid_results),
        cmocka_unit_test(chance_is_bounded),
        cmocka_unit_test(a_lost_job_gets_half_its_time_again),
        cmocka_unit_test(grace_is_not_added_twice),
        cmocka_unit_test(only_what_nobody_needs_is_aborted),
        cmocka_unit_test(a_job_of_the_users_other_host_is_left_alone),
        cmocka_unit_test(every_reason_reads_well),
        cmocka_unit_test(figures_are_rounded_the_honest_way),
        cmocka_unit_test(the_most_useful_reasons_are_said_with_the_nearest_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
