/* SPDX-License-Identifier: Apache-2.0 */
/* The table of checks is walked at several depths. On random hosts and jobs: what a shallow walk
 * refuses the walk over a job refuses too, and for nothing that a shallow walk lets pass does a
 * check of its depth refuse a job; and no limit of the pool's search is narrower than its check. */
#include "server/policy/dispatch/checks.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/random.h"
#include "server/parse/message.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 60000, APPS = 3, OPTIONS = 4 };

/* At which depths some check gives the reason. */
enum { HOST = 1, APP = 2, GROUP = 4, CLASS = 8, JOB = 16, LOCKED = 32 };
#define DEPTH_no     0
#define DEPTH_HOST   HOST
#define DEPTH_APP    APP
#define DEPTH_GROUP  GROUP
#define DEPTH_CLASS  CLASS
#define DEPTH_JOB    JOB
#define DEPTH_LOCKED LOCKED

static const struct row {
    const char *function;
    enum reason reason;
    unsigned depths;
    const char *limit;
} rows[] = {
#define CHECK(function, reason, kinds, host, app, group, class, job, locked, limit)             \
    {#function, reason,                                                                         \
     DEPTH_##host | DEPTH_##app | DEPTH_##group | DEPTH_##class | DEPTH_##job | DEPTH_##locked, \
     #limit},
#include "server/policy/dispatch/checks.def"
#undef CHECK
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static struct world {
    struct arena *arena;
    struct config *config;
    struct message message;
    struct host_row host;
    struct project_preferences project;
    struct app_row apps[APPS];
    struct app_version_row versions[OPTIONS];
    struct version_option options[OPTIONS];
    struct host_view view;
    struct app_limit app_limit;
    struct app_count app_count;
    int64_t option_jobs[OPTIONS];
    struct workload *workload;
    struct tally tally;
    struct workunit_row workunit;
    struct job job;
    struct random random;
} world;

static uint64_t below(uint64_t most)
{
    return random_next(&world.random) % most;
}

/* True once in `times`. */
static bool seldom(uint64_t times)
{
    return below(times) == 0;
}

static void make_versions(void)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        int64_t appid = 1 + (int64_t)(i % APPS);

        world.versions[i] = (struct app_version_row){
            .id = 50 + (int64_t)i, .appid = appid, .version_num = 100 + (int64_t)below(2)};
        world.options[i] =
            (struct version_option){.app = &world.apps[appid - 1],
                                    .version = &world.versions[i],
                                    .app_version_id = world.versions[i].id,
                                    .is_64bit = true,
                                    .is_current = !seldom(5),
                                    .is_runnable = !seldom(12),
                                    .resource = below(2),
                                    .usage = {.avg_ncpus = 1,
                                              .coproc_count = 1,
                                              .projected_flops = 1e9 * (double)(1 + below(3))},
                                    .is_reliable = !seldom(3),
                                    .choice_flops = 1e9 * (double)(1 + below(3)),
                                    .daily_limit = LIMIT_NONE};
    }
}

static void make_view(void)
{
    world.host = (struct host_row){.id = 3,
                                   .n_bwdown = seldom(2) ? 0 : (double)(2 + below(3)),
                                   .avg_turnaround = (double)(100 * below(3)),
                                   .error_rate = seldom(2) ? 0.01 : 0};
    world.project = (struct project_preferences){.allow_beta_work = seldom(2),
                                                 .allow_non_preferred_apps = seldom(2)};
    static const int64_t selected[] = {1, 2}, refused[] = {12};
    static const struct hurry_row limited_batch = {.id = 18, .within = 100};

    world.project.app_ids = selected;
    world.project.app_id_count = seldom(2) ? 0 : 2;
    world.view = (struct host_view){
        .config = world.config,
        .message = &world.message,
        .host = &world.host,
        .project = &world.project,
        .userid = 17,
        .client_version = 80000,
        .delay_bound_most = INT64_MAX,
        .is_backup = seldom(10),
        .only_assigned = seldom(30),
        .memory = (double)(2 + below(3)),
        .disk = (double)below(6) - 1,
        .disk_is_unknown = seldom(20),
        .correction = 0.5 * (double)(1 + below(3)),
        .availability = {.cpu = 0.5 * (double)(1 + below(2)), .gpu = 1},
        .expected = {.cpu = 0.25 * (double)(1 + below(4)), .gpu = 0.5},
        .asked = {.resource_count = 2,
                  .share = 1,
                  .is_scalar = seldom(4),
                  .resources = {{.type = TEXT("CPU"), .count = 4, .seconds = 1000},
                                {.type = TEXT("NVIDIA"), .count = 1, .seconds = 1000}}},
        .limits = {.reply = 100,
                   .in_progress = {seldom(8) ? 2 : LIMIT_NONE, seldom(8) ? 2 : LIMIT_NONE},
                   .in_progress_total = seldom(12) ? 3 : LIMIT_NONE,
                   .project_total = seldom(12) ? 3 : LIMIT_NONE},
        .hr_classes = {0, seldom(4) ? 0 : 405, seldom(4) ? 0 : 386},
        .is_excluded = {seldom(12), seldom(12)},
        .options = {.items = world.options, .count = OPTIONS},
        .hurries = &limited_batch,
        .hurry_count = seldom(3),
    };
    if (seldom(2)) {
        world.view.keywords_no.ids = refused;
        world.view.keywords_no.count = 1;
    }
    world.view.stretch =
        (struct availability){world.view.availability.cpu / world.view.expected.cpu, 2};
    world.view.asked.resources[0].instances = seldom(2) ? 1 : 0;
    world.app_limit =
        (struct app_limit){.appid = 1, .total = 2, .by_resource = {LIMIT_NONE, LIMIT_NONE}};
    world.app_count = (struct app_count){.total = (int64_t)below(4)};
}

static void make_tally(void)
{
    static int64_t given[] = {501};
    const struct workload_sources sources = {.message = &world.message,
                                             .asked = &world.view.asked,
                                             .availability = {.cpu = 1, .gpu = 1}};
    static struct budget budget;
    struct workload_sources bounded = sources;

    budget = (struct budget){0};
    bounded.budget = &budget;
    bounded.jobs_max = 4;
    world.view.workload = workload_make(world.arena, &bounded);
    assert_non_null(world.view.workload);
    assert_true(tally_begin(&world.view, world.arena, 4, &world.tally));
    world.tally.in_progress[0] = (int64_t)below(4);
    world.tally.in_progress[1] = (int64_t)below(4);
    world.tally.in_progress_total = (int64_t)below(5);
    world.tally.disk_left -= (double)below(2);
    if (seldom(6)) {
        world.tally.workunits = given;
        world.tally.workunit_count = 1;
    }
    if (seldom(6)) {
        world.tally.app_limits = &world.app_limit;
        world.tally.app_counts = &world.app_count;
        world.tally.app_limit_count = 1;
    }
}

static void make_job(void)
{
    struct app_row *app = &world.apps[below(APPS)];

    world.workunit = (struct workunit_row){
        .id = 500 + (int64_t)below(2),
        .appid = app->id,
        .batch = (int64_t)(seldom(2) ? 0 : 17 + below(2)),
        .rsc_fpops_est = 25e9 * (double)(1 + below(12)),
        .rsc_memory_bound = (double)below(5),
        .rsc_disk_bound = (double)below(5),
        .rsc_bandwidth_bound = (double)below(5),
        .delay_bound = 100,
        .hr_class = !seldom(3) ? 0 : (seldom(2) ? 405 : 386),
        .app_version_id = !seldom(3) ? 0 : 50 + (int64_t)below(OPTIONS),
        .app_version_num = !seldom(4) ? 0 : 100 + (int64_t)below(2),
        .error_mask = seldom(30) ? 16 : 0,
        .canonical_resultid = seldom(30) ? 7 : 0,
        .priority = seldom(4) ? 1 : 0,
        .keywords = seldom(3) ? TEXT("7 12") : NO_TEXT,
    };
    world.job = (struct job){.resultid = 1000,
                             .priority = seldom(3) ? 10 : 0,
                             .workunit = &world.workunit,
                             .app = app,
                             .user_had_one = seldom(12),
                             .host_had_one = seldom(12)};
}

static void make_world(void)
{
    arena_reset(world.arena);
    world.config->user_filter = seldom(3);
    world.config->one_result_per_user_per_wu = seldom(2);
    world.config->one_result_per_host_per_wu = seldom(2);
    world.config->ignore_delay_bound = seldom(4);
    world.config->keyword_sched = seldom(3);
    world.config->batch_accel = seldom(6);
    world.config->reliable_on_priority = seldom(3) ? 5 : 0;
    for (int i = 0; i < APPS; i++)
        world.apps[i] =
            (struct app_row){.id = 1 + i,
                             .user_friendly_name = TEXT("App"),
                             .weight = 1,
                             .deprecated = seldom(12),
                             .beta = seldom(6),
                             .homogeneous_redundancy = seldom(2) ? 0 : (int64_t)below(3),
                             .homogeneous_app_version = seldom(3),
                             .non_cpu_intensive = seldom(5),
                             .n_size_classes = seldom(3) ? 2 : 0};
    make_versions();
    make_view();
    make_tally();
    make_job();
}

static int setup(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    world.random.state = 20261127;
    world.arena = arena_create(1 << 24);
    assert_status(STATUS_OK, config_defaults(&world.config));
    message_init(&world.message);
    return world.arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(world.arena);
    config_release(world.config);
    return 0;
}

/* --- the claims ------------------------------------------------------------------------------- */

static enum check_kind kind(void)
{
    return world.job.app->non_cpu_intensive != 0 ? CHECK_ALWAYS_ON : CHECK_NEW;
}

/* Why the walk over jobs refuses, REASON_COUNT: it does not. */
static struct refusal refusal_of_job(size_t resource, struct job *job)
{
    struct refusal refusal = {.reason = REASON_COUNT};

    if (job_check(&world.view, &world.tally, kind(), resource, job, &refusal))
        refusal.reason = REASON_COUNT;
    return refusal;
}

/* A job refused for a reason that only checks of the depth give. */
static bool is_of(unsigned depth, const struct refusal *refusal)
{
    bool is_given = false;

    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].reason == refusal->reason && (rows[i].depths & JOB) != 0) {
            /* Of applications it is no matter of the processor; the names tell. */
            bool is_the_apps = strcmp(rows[i].function, "is_within_app_limit") == 0;

            if (is_the_apps !=
                (rows[i].reason == REASON_IN_PROGRESS && text_is(refusal->name, "App")))
                continue;
            if ((rows[i].depths & depth) == 0)
                return false;
            is_given = true;
        }
    return is_given;
}

/* What was seen of each reason at each depth: a claim that met no case says nothing. */
static struct {
    unsigned host, locked;
} seen[REASON_COUNT];

static void what_is_closed_to_all_is_closed_to_each(void **state)
{
    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        make_world();
        for (size_t resource = 0; resource < 2; resource++) {
            struct refusal why, deep;
            bool is_closed = resource_is_closed(&world.view, &world.tally, resource, &why);

            if (kind() != CHECK_NEW)
                continue;
            deep = refusal_of_job(resource, &world.job);
            if (is_closed) {
                assert_int_not_equal(deep.reason, REASON_COUNT);
                seen[why.reason].host++;
            } else
                assert_false(is_of(HOST, &deep));
        }
    }
    assert_true(seen[REASON_RESOURCE_EXCLUDED].host > 100 && seen[REASON_BACKUP].host > 100 &&
                seen[REASON_USER_MAX_JOBS].host > 100 && seen[REASON_IN_PROGRESS].host > 100);
}

/* Whether the app would be open but for one thing. */
static void count_sole_causes(unsigned *ret_counts)
{
    for (int cause = 0; cause < 4; cause++) {
        struct app_row app = *world.job.app;

        if (cause == 0)
            app.deprecated = 0;
        else if (cause == 1)
            app.beta = 0;
        else if (cause == 2)
            app.homogeneous_redundancy = 0;
        else
            app.id = 1;
        ret_counts[cause] += app_is_open(&world.view, &app);
    }
}

static void an_app_that_is_closed_has_no_job(void **state)
{
    unsigned closed = 0, sole_causes[4] = {0};

    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        bool is_open;

        make_world();
        is_open = app_is_open(&world.view, world.job.app);
        closed += !is_open;
        if (!is_open)
            count_sole_causes(sole_causes);
        for (size_t resource = 0; resource < 2; resource++) {
            struct refusal deep = refusal_of_job(resource, &world.job);

            if (is_open)
                assert_false(is_of(APP, &deep));
            else
                assert_int_not_equal(deep.reason, REASON_COUNT);
        }
    }
    assert_in_range(closed, WORLDS / 10, WORLDS - WORLDS / 10);
    for (int cause = 0; cause < 4; cause++)
        assert_true(sole_causes[cause] > 100);
}

/* What is refused at the depth is refused job by job too, and no check of the depth refuses a job
 * of what is open. */
static void compare_with_jobs(unsigned depth, bool is_open)
{
    for (size_t resource = 0; resource < 2; resource++) {
        struct refusal deep = refusal_of_job(resource, &world.job);

        if (is_open)
            assert_false(is_of(depth, &deep));
        else
            assert_int_not_equal(deep.reason, REASON_COUNT);
    }
}

static void a_group_that_is_closed_has_no_job(void **state)
{
    unsigned closed_by_kind = 0, closed_by_user = 0;

    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        struct workunit_row common = {0};
        struct job of_group = {0};
        bool is_open;

        make_world();
        common.hr_class = world.workunit.hr_class;
        common.batch = world.workunit.batch;
        of_group.workunit = &common;
        of_group.app = world.job.app;
        is_open = group_is_open(&world.view, &of_group);
        compare_with_jobs(GROUP, is_open);
        if (is_open)
            continue;
        common.hr_class = 0;
        closed_by_kind += group_is_open(&world.view, &of_group);
        common.hr_class = world.workunit.hr_class;
        common.batch = 0;
        closed_by_user += group_is_open(&world.view, &of_group);
    }
    assert_true(closed_by_kind > 100 && closed_by_user > 100);
}

/* What a class of the pool knows of its jobs, and nothing else. */
static struct workunit_row common_of(const struct workunit_row *workunit)
{
    return (struct workunit_row){.appid = workunit->appid,
                                 .batch = workunit->batch,
                                 .priority = workunit->priority,
                                 .keywords = workunit->keywords};
}

static void a_class_that_is_closed_has_no_job(void **state)
{
    unsigned closed_by_keyword = 0, closed_by_batch = 0, closed_by_priority = 0, closed_by_mark = 0;

    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        struct workunit_row common;
        struct job of_class;
        bool is_open;

        make_world();
        common = common_of(&world.workunit);
        of_class =
            (struct job){.priority = world.job.priority, .workunit = &common, .app = world.job.app};
        is_open = class_is_open(&world.view, &of_class);
        compare_with_jobs(CLASS, is_open);
        if (is_open)
            continue;
        common.keywords = NO_TEXT;
        closed_by_keyword += class_is_open(&world.view, &of_class);
        common = common_of(&world.workunit);
        common.batch = 0;
        closed_by_batch += class_is_open(&world.view, &of_class);
        common = common_of(&world.workunit);
        common.priority = 0;
        closed_by_mark += class_is_open(&world.view, &of_class);
        common = common_of(&world.workunit);
        of_class.priority = 0;
        closed_by_priority += class_is_open(&world.view, &of_class);
    }
    assert_true(closed_by_keyword > 100 && closed_by_batch > 100 && closed_by_mark > 100 &&
                closed_by_priority > 100);
}

/* Of the fastest version that could run the job, as the pool's search is told. */
static double fastest(void)
{
    const struct version_demand demand = {
        .version_num = world.workunit.app_version_num,
        .committed_id =
            world.job.app->homogeneous_app_version != 0 ? world.workunit.app_version_id : 0,
        .is_homogeneous = world.job.app->homogeneous_app_version != 0};
    double speed = 0;

    for (size_t i = 0; i < OPTIONS; i++)
        if (world.options[i].app == world.job.app &&
            version_is_asked_for(&world.options[i], &demand))
            speed = fmax(speed, class_speed(&world.view, &world.options[i]));
    return speed;
}

static void no_limit_is_narrower_than_its_check(void **state)
{
    static const enum reason of[CLASS_LIMIT_COUNT] = {[CLASS_MEMORY] = REASON_MEMORY,
                                                      [CLASS_DISK] = REASON_DISK,
                                                      [CLASS_BANDWIDTH] = REASON_BANDWIDTH,
                                                      [CLASS_SPEED] = REASON_DEADLINE};
    unsigned passed = 0, at_limit[CLASS_LIMIT_COUNT] = {0}, refused[CLASS_LIMIT_COUNT] = {0};

    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        double amounts[CLASS_LIMIT_COUNT], limits[CLASS_LIMIT_COUNT];

        make_world();
        class_amounts(&world.workunit, amounts);
        class_limits(&world.view, kind(), fastest(), limits);
        for (size_t resource = 0; resource < 2; resource++) {
            struct refusal deep = refusal_of_job(resource, &world.job);

            passed += deep.reason == REASON_COUNT;
            for (int which = 0; which < CLASS_LIMIT_COUNT; which++) {
                if (deep.reason == REASON_COUNT) {
                    assert_true(amounts[which] <= limits[which]);
                    at_limit[which] += amounts[which] > limits[which] * 0.99;
                }
                refused[which] += deep.reason == of[which] && amounts[which] > limits[which];
            }
        }
    }
    assert_true(passed > 1000);
    for (int which = 0; which < CLASS_LIMIT_COUNT; which++) {
        assert_true(at_limit[which] > 100); /* a narrower one would show */
        assert_true(refused[which] > 100);  /* and it spares something */
    }
}

/* Under the lock the job is judged by what stands there, and nothing else of it is. */
static void the_lock_shows_what_a_new_look_would(void **state)
{
    unsigned other_version = 0;

    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        struct locked_workunit row;
        struct job job;
        struct refusal deep;
        enum reason locked;
        size_t resource = below(2);

        make_world();
        world.workunit.error_mask = world.workunit.canonical_resultid = 0;
        world.job.user_had_one = world.job.host_had_one = false;
        job = world.job;
        if (refusal_of_job(resource, &job).reason != REASON_COUNT)
            continue;
        row = (struct locked_workunit){.id = world.workunit.id,
                                       .hr_class = world.workunit.hr_class,
                                       .app_version_id = world.workunit.app_version_id};
        assert_int_equal(job_check_locked(&world.view, &job, &row), REASON_COUNT);
        row.error_mask = seldom(6) ? 16 : 0;
        row.canonical_resultid = seldom(6) ? 7 : 0;
        row.results_of_user = seldom(4);
        row.results_of_host = seldom(4);
        row.hr_class = seldom(4) ? 386 : row.hr_class;
        row.app_version_id = seldom(4) ? 50 + (int64_t)below(OPTIONS) : row.app_version_id;
        locked = job_check_locked(&world.view, &job, &row);
        seen[locked == REASON_COUNT ? 0 : locked].locked++;
        world.workunit.error_mask = row.error_mask;
        world.workunit.canonical_resultid = row.canonical_resultid;
        world.workunit.hr_class = row.hr_class;
        world.workunit.app_version_id = row.app_version_id;
        world.job.user_had_one = row.results_of_user > 0;
        world.job.host_had_one = row.results_of_host > 0;
        deep = refusal_of_job(resource, &world.job);
        if (locked == REASON_COMMITTED_VERSION) /* another version might run it, not this one */
            other_version++;
        else if (locked != REASON_COUNT)
            assert_int_not_equal(deep.reason, REASON_COUNT);
        else
            assert_false(is_of(LOCKED, &deep));
    }
    assert_true(other_version > 20);
    assert_true(seen[REASON_WORKUNIT_OVER].locked > 100 && seen[REASON_HR_COMMITTED].locked > 20 &&
                seen[REASON_ONE_PER_USER].locked > 100 && seen[REASON_ONE_PER_HOST].locked > 100);
}

/* A reason is as wide as the depth at which it is found, and what has a limit is a check of jobs. A
 * check of classes may foretell what the choice of a version would say. */
static void reasons_bind_whom_their_depth_knows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].depths & HOST) != 0)
            assert_true(reason_binds(rows[i].reason) <= BINDS_RESOURCE);
        if ((rows[i].depths & APP) != 0)
            assert_true(reason_binds(rows[i].reason) <= BINDS_APP);
        if ((rows[i].depths & (HOST | APP | GROUP)) != 0 || strcmp(rows[i].limit, "NONE") != 0)
            assert_true((rows[i].depths & JOB) != 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rows[i].function, rows[j].function);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_closed_to_all_is_closed_to_each, setup, teardown),
        cmocka_unit_test_setup_teardown(an_app_that_is_closed_has_no_job, setup, teardown),
        cmocka_unit_test_setup_teardown(a_group_that_is_closed_has_no_job, setup, teardown),
        cmocka_unit_test_setup_teardown(a_class_that_is_closed_has_no_job, setup, teardown),
        cmocka_unit_test_setup_teardown(no_limit_is_narrower_than_its_check, setup, teardown),
        cmocka_unit_test_setup_teardown(the_lock_shows_what_a_new_look_would, setup, teardown),
        cmocka_unit_test_setup_teardown(reasons_bind_whom_their_depth_knows, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
