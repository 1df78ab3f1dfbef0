/* SPDX-License-Identifier: Apache-2.0 */
/* Which version runs a job, and why none does; lost jobs, aborts, reasons. */
#include "server/policy/version/version_choice.h"

#include "db/db.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/marked.h"
#include "server/base/random.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/limits/limits.h"
#include "server/policy/refusal/reason.h"
#include "server/policy/result/reconcile.h"
#include "server/policy/version/own_versions.h"
#include "server/policy/version/reliability.h"
#include "server/policy/version/version_absence.h"
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
    item = usable(&plain, 1);
    item.bounds = (struct plan_bounds){.min_wu_id = 10};
    assert_null(choose(&item, 1, (struct version_demand){.workunitid = 9}, &refusal));
    assert_int_equal(refusal.reason, REASON_VERSION_WORKUNIT);
    assert_non_null(choose(&item, 1, (struct version_demand){.workunitid = 10}, &refusal));
    assert_non_null(
        choose(&item, 1, (struct version_demand){.workunitid = 9, .is_resend = true}, &refusal));
}

/* One version's quota does not end the hand-out of another (and never that of a resend). */
/* The host has platforms 1 and 2; app 7 has versions of 1, 2 and 3, and from 200 on they count. */
static void what_became_of_a_version_is_told(void **state)
{
    static struct app_row apps[] = {{.id = 7, .min_version = 200}, {.id = 8}, {.id = 9}};
    static struct app_version_row versions[] = {
        {.id = 1, .appid = 7, .platformid = 1, .version_num = 150},
        {.id = 2, .appid = 7, .platformid = 3, .version_num = 205},
        {.id = 3, .appid = 7, .platformid = 2, .version_num = 207, .deprecated = 1},
        {.id = 4, .appid = 8, .platformid = 3, .version_num = 100}};
    static struct retired_version_row retired[] = {
        {.id = 5, .appid = 7, .platformid = 1, .version_num = 206},
        {.id = 6, .appid = 7, .platformid = 3, .version_num = 300},
        {.id = 7, .appid = 9, .platformid = 3, .version_num = 100}};
    const struct catalog_rows rows = {.apps = apps,
                                      .app_count = 3,
                                      .versions = versions,
                                      .version_count = 4,
                                      .retired = retired,
                                      .retired_count = 3};
    const struct version_offer offer = {.rows = &rows, .platformids = {1, 2}};
    static const struct {
        int64_t appid, asked;
        enum reason reason;
        double told;
    } cases[] = {
        {7, 0, REASON_VERSION_RETIRED, 207},   {7, 150, REASON_VERSION_RETIRED, 150},
        {7, 206, REASON_VERSION_RETIRED, 206}, {7, 205, REASON_VERSION_PLATFORM, 0},
        {7, 300, REASON_VERSION_MISSING, 300}, {7, 777, REASON_VERSION_MISSING, 777},
        {8, 0, REASON_VERSION_PLATFORM, 0},    {8, 100, REASON_VERSION_PLATFORM, 0},
        {9, 0, REASON_VERSION_NONE, 0},        {9, 100, REASON_VERSION_MISSING, 100},
        {10, 0, REASON_VERSION_NONE, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct refusal refusal = version_absence(&offer, cases[i].appid, cases[i].asked);

        assert_int_equal(refusal.reason, cases[i].reason);
        if (cases[i].told > 0)
            assert_real(refusal.need, cases[i].told, 0);
    }
}

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

/* --- many own versions ------------------------------------------------------------------------ */

enum { WORLDS = 10000, OWN_MAX = 40, OWN_MANY = 10000, JOBS_MANY = 1000, KINDS = 5 };

static size_t draw(struct random *random, size_t count)
{
    return (size_t)(random_next(random) % count);
}

/* What a client's versions of one app and resource have in common. */
struct own_statistics {
    bool is_reliable;
    int64_t daily_limit, jobs_today;
};

/* A host that shows a CPU and some coprocessors; those that it lacks have the resource behind. */
static struct version_option own_option(const struct app_row *of, struct client_app_version *own,
                                        size_t kind, size_t resources,
                                        const struct own_statistics *statistics)
{
    size_t resource = kind < resources ? kind : resources;

    return (struct version_option){.app = of,
                                   .anonymous = own,
                                   .is_current = true,
                                   .is_runnable = resource < resources,
                                   .is_fit = resource < resources,
                                   .is_reliable = statistics->is_reliable,
                                   .resource = resource,
                                   .daily_limit = statistics->daily_limit,
                                   .jobs_today = statistics->jobs_today,
                                   .app_version_id = -2 - (int64_t)kind};
}

struct own_world {
    struct client_app_version own[OWN_MAX];
    struct version_option items[OWN_MAX];
    int64_t chosen[OWN_MAX];
    struct version_options all, sorted;
    size_t resources;
};

static void make_world(struct random *random, struct arena *arena, struct budget *spent,
                       struct own_world *world)
{
    static const struct app_row *const apps[] = {&app, &other_app};
    struct own_statistics statistics[2][KINDS];
    const struct version_option *first[2][KINDS] = {{NULL}};

    *world = (struct own_world){.resources = 1 + draw(random, KINDS)};
    for (size_t i = 0; i < 2 * KINDS; i++)
        statistics[i / KINDS][i % KINDS] = (struct own_statistics){
            .is_reliable = draw(random, 2) == 0,
            .daily_limit = draw(random, 3) == 0 ? LIMIT_NONE : (int64_t)draw(random, 6),
            .jobs_today = (int64_t)draw(random, 4)};
    world->all = (struct version_options){.items = world->items, .count = draw(random, OWN_MAX)};
    for (size_t i = 0; i < world->all.count; i++) {
        size_t of = draw(random, 2), kind = draw(random, 2) * draw(random, KINDS);
        struct version_option *option = &world->items[i];

        world->own[i].version_num = (int64_t)draw(random, 4);
        *option =
            own_option(apps[of], &world->own[i], kind, world->resources, &statistics[of][kind]);
        option->is_64bit = draw(random, 2) == 0;
        option->choice_flops = (double)draw(random, 6);
        option->counted_with = first[of][kind] != NULL ? first[of][kind] : option;
        first[of][kind] = option->counted_with;
        world->chosen[i] = (int64_t)(draw(random, 2) * draw(random, 4));
    }
    world->sorted = world->all;
    world->sorted.own = own_versions_sort(arena, &world->all, spent);
    assert_non_null(world->sorted.own);
}

static void check_world(struct random *random, const struct own_world *world)
{
    const struct version_demand demand = {
        .appid = draw(random, 10) == 0 ? 9 : (draw(random, 2) == 0 ? app.id : other_app.id),
        .version_num = (int64_t)(draw(random, 2) * draw(random, 5)),
        .committed_id = (int64_t)(draw(random, 4) == 0),
        .is_homogeneous = draw(random, 8) == 0,
        .needs_64bit = draw(random, 3) == 0,
        .resource = draw(random, world->resources),
        .client_version = 70000,
        .allow_beta = draw(random, 2) == 0,
        .prefer_primary_platform = draw(random, 2) == 0,
        .needs_reliable = draw(random, 3) == 0,
        .is_resend = draw(random, 4) == 0};
    struct refusal slow_why = {.reason = REASON_COUNT}, why = {.reason = REASON_COUNT};
    const struct version_option *slow =
        version_choose(&world->all, &demand, world->chosen, &slow_why);
    int64_t id = -1 - (int64_t)draw(random, KINDS + 2);

    assert_ptr_equal(version_choose(&world->sorted, &demand, world->chosen, &why), slow);
    assert_int_equal(why.reason, slow_why.reason);
    assert_true(text_equal(why.name, slow_why.name) && text_equal(why.why, slow_why.why));
    assert_real(why.need, slow_why.need, 0);
    assert_real(why.have, slow_why.have, 0);
    assert_ptr_equal(version_option_find(&world->sorted, demand.appid, id, 0),
                     version_option_find(&world->all, demand.appid, id, 0));
    assert_ptr_equal(version_option_find(&world->sorted, 0, id, 0),
                     version_option_find(&world->all, 0, id, 0));
}

static void sorted_own_versions_give_the_same_choice_and_reason(void **state)
{
    static struct own_world world;
    struct arena *arena = arena_create(1 << 20);
    struct random random = {.state = 20261122};
    struct budget spent = {0};

    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        struct arena_mark mark = arena_mark(arena);

        make_world(&random, arena, &spent, &world);
        for (int question = 0; question < 4; question++)
            check_world(&random, &world);
        for (size_t j = 0; j < world.all.count; j++)
            assert_ptr_equal(version_option_of(&world.all, NULL, &world.own[j], NULL),
                             &world.items[j]);
        arena_rewind(arena, mark);
    }
    arena_destroy(arena);
}

/* What a choice costs does not grow with the versions that a client lists: not when the best is
 * taken, not for a number that none has, not when the quota is used up. */
static void the_cost_of_a_choice_is_independent_of_how_many_are_listed(void **state)
{
    static struct client_app_version own[OWN_MANY];
    static struct version_option items[OWN_MANY];
    static int64_t chosen[OWN_MANY];
    static const size_t counts[] = {10, OWN_MANY};
    uint64_t costs[2];

    (void)state;
    for (size_t run = 0; run < 2; run++) {
        struct arena *arena = arena_create(1 << 24);
        struct version_options options = {.items = items, .count = counts[run]};
        struct own_statistics statistics = {.daily_limit = LIMIT_NONE};
        struct budget spent = {0};
        struct refusal refusal;
        uint64_t before;

        for (size_t i = 0; i < options.count; i++) {
            own[i].version_num = 1 + (int64_t)i;
            items[i] = own_option(&app, &own[i], 0, 1, &statistics);
            items[i].choice_flops = (double)(i * 7919 % OWN_MANY);
        }
        options.own = own_versions_sort(arena, &options, &spent);
        assert_non_null(options.own);
        before = spent.spent;
        for (size_t i = 0; i < JOBS_MANY; i++) {
            struct version_demand demand = {.appid = app.id, .client_version = 70000};

            assert_non_null(version_choose(&options, &demand, chosen, &refusal));
            demand.version_num = 1 + (int64_t)(i % counts[0]);
            assert_ptr_equal(version_choose(&options, &demand, chosen, &refusal)->anonymous,
                             &own[i % counts[0]]);
            demand.version_num = OWN_MANY + 1;
            assert_null(version_choose(&options, &demand, chosen, &refusal));
            demand = (struct version_demand){.appid = app.id, .needs_64bit = true};
            assert_null(version_choose(&options, &demand, chosen, &refusal));
            demand = (struct version_demand){.appid = app.id, .needs_reliable = true};
            assert_null(version_choose(&options, &demand, chosen, &refusal));
        }
        costs[run] = spent.spent - before;
        assert_true(costs[run] < (uint64_t)JOBS_MANY * 5 * 200);
        for (size_t i = 0; i < options.count; i++)
            items[i].daily_limit = 0;
        before = spent.spent;
        for (size_t i = 0; i < JOBS_MANY; i++)
            assert_null(version_choose(&options, &(struct version_demand){.appid = app.id}, chosen,
                                       &refusal));
        costs[run] += spent.spent - before;
        assert_int_equal(refusal.reason, REASON_DAILY_QUOTA);
        arena_destroy(arena);
    }
    assert_true(costs[0] == costs[1]);
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
    assert_true(memory_of_32bit(TEXT("Microsoft Windows 11")) == 2 * gigabyte);
    assert_true(memory_of_32bit(TEXT("Linux Debian")) == 3 * gigabyte);
    assert_true(memory_of_32bit(TEXT("Darwin")) == 4 * gigabyte);
    assert_true(memory_of_32bit(TEXT("Haiku")) == 2 * gigabyte);
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
    workunit.delay_bound = 0; /* no bound */
    assert_i64(resend_deadline(&result, &workunit, 0, 1900), 2400);
    result.report_deadline = INT32_MAX - 10;
    workunit.delay_bound = 0;
    assert_i64(resend_deadline(&result, &workunit, 5, INT32_MAX - 100), INT32_MAX - 6);
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
        {ABORT_NOT, RESULT_OVER, OUTCOME_CLIENT_ERROR, 0, 0},
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
    struct refusals refusals = {0};
    struct refusal picked[REASONS_SAID_MAX];

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
    assert_true(reason_is_notice(REASON_MEMORY)); /* the volunteer can change it */
    assert_false(reason_is_notice(REASON_BACKUP));
    assert_false(reason_is_notice(REASON_COUNT));
    refusals.by_reason[REASON_RESOURCE_EXCLUDED].count = 1; /* the first of all, once */
    assert_int_equal(refusals_pick(&refusals, picked), 1);
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
                "Seven needs 2.01 GB of memory, but BOINC may use only 1.99 GB");
    refusal = (struct refusal){
        .reason = REASON_CLIENT_TOO_OLD, .name = TEXT("Seven"), .need = 71205, .have = 60210};
    assert_text(reason_explain(arena, &refusal),
                MARKED(SAYS_NEWER_CLIENT) ": Seven needs BOINC 7.12.5 or later; yours is 6.2.10");
    refusal = (struct refusal){.reason = REASON_QUEUE_DEADLINE,
                               .name = TEXT("Seven"),
                               .task = TEXT("t"),
                               .task_left = 86400};
    for (int i = -1; i <= 1; i++) {
        static const char *const due[] = {", due 24.00 hours ago, ", ", due in 0 minutes, ",
                                          ", due in 24.00 hours, "};

        refusal.task_due = i * 86400;
        if (!text_contains(reason_explain(arena, &refusal), text_from(due[i + 1])))
            fail_msg(TEXT_FORMAT, TEXT_ARG(reason_explain(arena, &refusal)));
    }
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
    refusals_add(&refusals, &(struct refusal){
                                .reason = REASON_MEMORY, .name = TEXT("a"), .need = 4, .have = 1});
    refusals_add(&refusals, &(struct refusal){
                                .reason = REASON_MEMORY, .name = TEXT("b"), .need = 4, .have = 1});
    refusals_add(&refusals, &(struct refusal){.reason = REASON_MEMORY, .need = 7, .have = 1});
    assert_int_equal(refusals_pick(&refusals, picked), 3);
    assert_int_equal(picked[0].reason, REASON_MEMORY);
    assert_real(picked[0].need, 4, 0);
    assert_text(picked[0].name, "a"); /* the first of those as near */
    assert_int_equal(picked[1].reason, REASON_DEADLINE);
    assert_int_equal(picked[2].reason, REASON_NO_JOBS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_usable_version_wins),
        cmocka_unit_test(the_first_platform_wins_if_so_configured),
        cmocka_unit_test(each_obstacle_has_its_reason),
        cmocka_unit_test(what_became_of_a_version_is_told),
        cmocka_unit_test(a_used_up_quota_leaves_the_other_versions),
        cmocka_unit_test(own_versions_do_not_serve_committed_workunits),
        cmocka_unit_test(sorted_own_versions_give_the_same_choice_and_reason),
        cmocka_unit_test(the_cost_of_a_choice_is_independent_of_how_many_are_listed),
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
