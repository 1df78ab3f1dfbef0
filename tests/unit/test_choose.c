/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs a host gets: each check by itself, then the choice against a slow and obvious one on
 * random hosts and jobs. */
#include "server/policy/dispatch/choose.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/random.h"
#include "server/parse/message.h"
#include "tests/support/edf_slow.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

enum { JOBS_MAX = 60, APPS = 3 };

/* A host with 4 CPUs of 1 GFLOPS, one app with one version, and room for everything. */
struct world {
    struct arena *arena;
    struct config *config;
    struct message message;
    struct host_row host;
    struct project_preferences project;
    struct app_row apps[APPS];
    struct app_version_row versions[APPS];
    struct version_option options[APPS];
    struct host_view view;
    struct workunit_row workunits[JOBS_MAX];
    struct job jobs[JOBS_MAX];
    size_t job_count;
    double connection_period; /* s */
    struct budget budget;
};

/* Made anew for each case. */
static struct world *world;
/* Of the last choice. */
static struct job *chosen[JOBS_MAX];
static struct choice_notes notes;

static void add_job(size_t app, double seconds, int64_t priority)
{
    size_t i = world->job_count++;

    world->workunits[i] = (struct workunit_row){.id = 100 + (int64_t)i,
                                                .appid = world->apps[app].id,
                                                .rsc_fpops_est = seconds * 1e9,
                                                .rsc_memory_bound = 1e6,
                                                .rsc_disk_bound = 1e6,
                                                .delay_bound = 1000000};
    world->jobs[i] = (struct job){.resultid = 1000 + (int64_t)i,
                                  .priority = priority,
                                  .workunit = &world->workunits[i],
                                  .app = &world->apps[app]};
}

static void free_world(void)
{
    arena_destroy(world->arena);
    config_release(world->config);
    free(world);
    world = NULL;
}

static void make_world(void)
{
    if (world != NULL)
        free_world();
    world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->arena = arena_create(1 << 26);
    assert_status(STATUS_OK, config_defaults(&world->config));
    message_init(&world->message);
    for (int i = 0; i < APPS; i++) {
        world->apps[i] =
            (struct app_row){.id = 1 + i, .user_friendly_name = text_from("App"), .weight = 1};
        world->versions[i] = (struct app_version_row){.id = 50 + i, .appid = 1 + i};
        world->options[i] =
            (struct version_option){.app = &world->apps[i],
                                    .version = &world->versions[i],
                                    .is_64bit = true,
                                    .is_current = true,
                                    .is_runnable = true,
                                    .usage = {.avg_ncpus = 1, .projected_flops = 1e9},
                                    .choice_flops = 1e9,
                                    .daily_limit = LIMIT_NONE};
    }
    world->view = (struct host_view){
        .config = world->config,
        .message = &world->message,
        .host = &world->host,
        .project = &world->project,
        .userid = 17,
        .client_version = 80000,
        .delay_bound_most = INT64_MAX,
        .memory = 1e9,
        .disk = 1e9,
        .correction = 1,
        .availability = {.cpu = 1, .gpu = 1},
        .expected = {.cpu = 1, .gpu = 1},
        .stretch = {.cpu = 1, .gpu = 1},
        .asked = {.resource_count = 1,
                  .share = 1,
                  .resources = {{.type = text_from("CPU"), .count = 4, .seconds = 1000}}},
        .limits = {.reply = 100,
                   .in_progress = {LIMIT_NONE},
                   .in_progress_total = LIMIT_NONE,
                   .project_total = LIMIT_NONE},
        .options = {.items = world->options, .count = APPS},
    };
}

static int setup(void **state)
{
    (void)state;
    make_world();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free_world();
    return 0;
}

/* What is queued is known by estimated_delay alone. */
static void begin(struct tally *ret_tally)
{
    const struct workload_sources sources = {.message = &world->message,
                                             .asked = &world->view.asked,
                                             .availability = {.cpu = 1, .gpu = 1},
                                             .connection_period = world->connection_period,
                                             .jobs_max = JOBS_MAX,
                                             .budget = &world->budget};

    world->budget = (struct budget){0};
    world->view.workload = workload_make(world->arena, &sources);
    assert_non_null(world->view.workload);
    assert_true(tally_begin(&world->view, world->arena, JOBS_MAX, ret_tally));
}

static size_t choose(void)
{
    struct tally tally;

    memset(&notes, 0, sizeof(notes));
    begin(&tally);
    return choose_jobs(&world->view, &tally, world->jobs, world->job_count, chosen, &notes);
}

/* --- checks, one by one ----------------------------------------------------------------------- */

static enum reason refused_as(enum check_kind kind)
{
    struct tally tally;
    struct refusal refusal = {.reason = REASON_COUNT};

    begin(&tally);
    if (job_check(&world->view, &tally, kind, RESOURCE_CPU, &world->jobs[0], &refusal))
        return REASON_COUNT;
    return refusal.reason;
}

static enum reason refused_for(void)
{
    return refused_as(CHECK_NEW);
}

/* Each row spoils one thing, and that thing alone is the reason. */
static void each_check_refuses_for_its_reason(void **state)
{
    static const int64_t other_apps[] = {2};
    static const int64_t refused_keywords[] = {7};

    (void)state;
    for (int spoilt = 0; spoilt < REASON_COUNT; spoilt++) {
        struct workunit_row *workunit;
        struct app_row *app;

        make_world();
        workunit = &world->workunits[0];
        app = &world->apps[0];
        add_job(0, 100, 0);
        assert_int_equal(refused_for(), REASON_COUNT);
        switch (spoilt) {
        case REASON_APP_GONE:
            app->deprecated = 1;
            break;
        case REASON_RESERVED:
            workunit->transitioner_flags = 1;
            break;
        case REASON_ONLY_ASSIGNED:
            world->view.only_assigned = true;
            break;
        case REASON_WORKUNIT_OVER:
            workunit->error_mask = 16;
            break;
        case REASON_APP_NOT_SELECTED:
            world->project.app_ids = other_apps;
            world->project.app_id_count = 1;
            break;
        case REASON_APP_BETA:
            app->beta = 1;
            break;
        case REASON_OTHER_USER:
            world->config->user_filter = true;
            workunit->batch = 18;
            break;
        case REASON_DISK_UNKNOWN:
            world->view.disk_is_unknown = true;
            break;
        case REASON_RESOURCE_EXCLUDED:
            world->view.is_excluded[0] = true;
            break;
        case REASON_HR_UNKNOWN:
            app->homogeneous_redundancy = 1;
            break;
        case REASON_HR_COMMITTED:
            app->homogeneous_redundancy = 1;
            world->view.hr_classes[1] = 405;
            workunit->hr_class = 386;
            break;
        case REASON_COMMITTED_VERSION:
            app->homogeneous_app_version = 1;
            workunit->app_version_id = 51;
            break;
        case REASON_VERSION_PLAN_CLASS:
            world->options[0].is_runnable = false;
            break;
        case REASON_ANONYMOUS_VERSION:
            world->message.anonymous_platform = true;
            world->view.options.count = 0;
            break;
        case REASON_MEMORY:
            workunit->rsc_memory_bound = 1e9 + 1;
            break;
        case REASON_DISK:
            workunit->rsc_disk_bound = 1e9 + 1;
            break;
        case REASON_BANDWIDTH:
            workunit->rsc_bandwidth_bound = 1000;
            world->host.n_bwdown = 999;
            break;
        case REASON_USER_MAX_JOBS:
            world->view.limits.in_progress_total = 3;
            world->view.in_progress_total = 3;
            break;
        case REASON_IN_PROGRESS:
            world->view.limits.in_progress[0] = 3;
            world->view.in_progress[0] = 3;
            break;
        case REASON_DEADLINE:
            workunit->delay_bound = 99;
            break;
        case REASON_CONNECTION:
            world->view.client_version = 60000;
            world->connection_period = 1000001;
            break;
        case REASON_BACKUP:
            world->view.is_backup = true;
            break;
        case REASON_KEYWORD:
            world->config->keyword_sched = true;
            workunit->keywords = text_from("5 7");
            world->view.keywords_no = (struct id_list){.ids = refused_keywords, .count = 1};
            break;
        case REASON_TURNAROUND:
            world->config->batch_accel = true;
            app->n_size_classes = 1;
            workunit->priority = 1;
            break;
        case REASON_UNRELIABLE:
            world->config->reliable_on_priority = 10;
            world->jobs[0].priority = 10;
            break;
        default:
            continue;
        }
        assert_int_equal(refused_for(), spoilt);
    }
}

/* The reason is the deadline only when nothing else stood in the way. */
static void the_deadline_is_judged_last(void **state)
{
    (void)state;
    add_job(0, 100, 0);
    world->workunits[0].delay_bound = 99;
    world->view.limits.in_progress[0] = 0;
    assert_int_equal(refused_for(), REASON_IN_PROGRESS);
}

static void an_idle_host_is_not_exempt_from_deadlines(void **state)
{
    (void)state;
    add_job(0, 100, 0);
    world->workunits[0].delay_bound = 99;
    assert_int_equal(choose(), 0);
    assert_true(notes.late[RESOURCE_CPU]);
    world->workunits[0].delay_bound = 100; /* exactly is in time */
    assert_int_equal(choose(), 1);
}

/* A retry for a reliable host has half the time, but never less than twice its estimate, and all of
 * it where half will not do. */
static void retries_have_less_time_where_it_is_enough(void **state)
{
    static const struct {
        double seconds;
        int64_t delay_bound, as_sent;
    } cases[] = {{100, 1000, 500}, {300, 1000, 600}, {600, 1000, 1000}, {30, 100, 60}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make_world();
        world->config->reliable_on_priority = 10;
        world->config->reliable_reduced_delay_bound = 0.5;
        world->options[0].is_reliable = true;
        add_job(0, cases[i].seconds, 10);
        world->workunits[0].delay_bound = cases[i].delay_bound;
        assert_int_equal(refused_for(), REASON_COUNT);
        assert_i64(world->jobs[0].delay_bound, cases[i].as_sent);
        world->jobs[0].priority = 9;
        assert_int_equal(refused_for(), REASON_COUNT);
        assert_i64(world->jobs[0].delay_bound, cases[i].delay_bound);
    }
}

/* At the end of a batch in a hurry a job is due as soon as its hosts return results, but never
 * before twice its estimate, and times out as late as ever. */
static void in_a_hurry_jobs_are_due_sooner(void **state)
{
    static const struct {
        double seconds;
        int64_t within, priority, as_sent, open;
    } cases[] = {{100, 500, 9, 500, 1000},   {300, 500, 9, 600, 1000}, {600, 500, 9, 1000, 1000},
                 {100, 1001, 9, 1000, 1000}, {2, 5, 9, 5, 1000},       {100, 300, 10, 300, 500},
                 {100, 0, 9, 1000, 1000}};
    static struct hurry_row hurry = {.id = 7};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make_world();
        world->config->reliable_on_priority = 10;
        world->config->reliable_reduced_delay_bound = 0.5;
        world->options[0].is_reliable = true;
        world->host.avg_turnaround = 1;
        world->view.hurries = &hurry;
        world->view.hurry_count = 1;
        hurry.within = cases[i].within;
        add_job(0, cases[i].seconds, cases[i].priority);
        world->workunits[0].delay_bound = 1000;
        world->workunits[0].batch = 7;
        assert_int_equal(refused_for(), REASON_COUNT);
        assert_i64(world->jobs[0].delay_bound, cases[i].as_sent);
        assert_i64(world->jobs[0].open_bound, cases[i].open);
        assert_int_equal(refused_as(CHECK_ASSIGNED), REASON_COUNT);
        assert_i64(world->jobs[0].delay_bound, 1000);
    }
}

/* How soon a host returns jobs of other apps says little of this one; if it has none of them, its
 * latest jobs say most. */
static void the_end_of_a_batch_is_for_hosts_that_return_the_app_soon(void **state)
{
    static const struct {
        double of_all, of_version, of_other_app, of_other_version;
        bool other_runs, is_sent;
    } cases[] = {{500, 0, 0, 0, true, true},       {501, 0, 0, 0, true, false},
                 {0, 0, 0, 0, true, false},        {500, 900, 0, 0, true, true},
                 {501, 100, 0, 100, true, false},  {900, 500, 400, 0, true, true},
                 {100, 501, 400, 0, true, false},  {500, 0, 400, 0, true, true},
                 {900, 501, 400, 400, true, true}, {900, 501, 400, 400, false, false}};
    static struct hurry_row hurry = {.id = 7, .within = 500};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make_world();
        world->view.hurries = &hurry;
        world->view.hurry_count = 1;
        add_job(0, 100, 9);
        world->workunits[0].batch = 7;
        world->host.avg_turnaround = cases[i].of_all;
        world->options[0].turnaround = cases[i].of_version;
        world->options[1].turnaround = cases[i].of_other_app;
        world->options[2].turnaround = cases[i].of_other_version;
        world->options[2].app = &world->apps[0];
        world->options[2].is_runnable = cases[i].other_runs;
        assert_int_equal(refused_for(), cases[i].is_sent ? REASON_COUNT : REASON_HURRY);
    }
}

/* A lost job goes out again with the version that it was sent with, though a newer one has taken
 * its place since. Ids below 0 are those of versions of the client's own, which bind nobody. */
static void a_lost_job_keeps_its_version(void **state)
{
    static const struct {
        int64_t sent;
        enum reason reason;
    } cases[] = {{1, REASON_COUNT},
                 {2, REASON_VERSION_PLATFORM},
                 {0, REASON_VERSION_PLATFORM},
                 {-2, REASON_VERSION_PLATFORM}};

    (void)state;
    world->versions[0].id = 1;
    world->options[0].is_current = false;
    add_job(0, 100, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        world->jobs[0].sent_version_id = cases[i].sent;
        assert_int_equal(refused_as(CHECK_RESEND), cases[i].reason);
    }
}

/* The project's own kind of redundancy holds where an app says nothing. */
static void redundancy_of_the_project_is_for_apps_without_their_own(void **state)
{
    (void)state;
    add_job(0, 100, 0);
    world->config->homogeneous_redundancy = HR_COARSE;
    assert_int_equal(refused_for(), REASON_HR_UNKNOWN);
    world->view.hr_classes[HR_COARSE] = 386;
    assert_int_equal(refused_for(), REASON_COUNT);
    world->workunits[0].hr_class = 258;
    assert_int_equal(refused_for(), REASON_HR_COMMITTED);
    world->apps[0].homogeneous_redundancy = HR_FINE;
    world->view.hr_classes[HR_FINE] = 258;
    assert_int_equal(refused_for(), REASON_COUNT);
}

/* Two streams of weights 3 and 1 in one reply, with jobs of one size. */
static void streams_share_a_reply(void **state)
{
    const struct streams streams = {.count = 1};
    size_t count, of_second = 0;

    (void)state;
    for (size_t i = 0; i < 40; i++) {
        add_job(0, 100, 0);
        world->jobs[i].stream =
            (struct stream){.key = {STREAM_APP, i >= 20}, .weight = i >= 20 ? 3 : 1};
    }
    world->view.streams = &streams;
    world->view.asked.resources[0].seconds = 1600;
    count = choose();
    assert_int_equal(count, 16);
    for (size_t i = 0; i < count; i++)
        of_second += chosen[i]->stream.key.id == 1;
    assert_int_equal(of_second, 12);
    /* What was given before counts. */
    for (size_t i = 0; i < 40; i++) {
        world->jobs[i].is_gone = false;
        world->jobs[i].stream.clock = i >= 20 ? 1e15 : 0;
    }
    count = choose();
    assert_int_equal(count, 16);
    for (size_t i = 0; i < count; i++)
        assert_i64(chosen[i]->stream.key.id, 0);
}

/* An owner's priorities order the owner's own jobs; beside others they count as 0. */
static void owners_order_their_own_jobs_only(void **state)
{
    const struct streams streams = {.count = 1, .by_owner = true};
    static const struct {
        int64_t owner, priority;
        double clock;
    } rows[] = {{0, 3, 9}, {7, 1000000, 5}, {7, 2, 5}, {8, -5, 4}, {0, 0, 4.5}, {0, -1, 1}};
    static const size_t order[] = {0, 3, 4, 1, 2, 5};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        add_job(0, 100, 0);
        world->jobs[i].priority = rows[i].priority;
        world->jobs[i].stream =
            (struct stream){.key = {rows[i].owner > 0 ? STREAM_USER : STREAM_REST, rows[i].owner},
                            .weight = 1e15,
                            .clock = rows[i].clock};
    }
    world->view.streams = &streams;
    world->view.asked.resources[0].seconds = 100000;
    assert_int_equal(choose(), 6);
    for (size_t i = 0; i < 6; i++)
        assert_ptr_equal(chosen[i], &world->jobs[order[i]]);
}

static void deadlines_can_be_ignored(void **state)
{
    (void)state;
    add_job(0, 100, 0);
    world->workunits[0].delay_bound = 1;
    world->config->ignore_delay_bound = true;
    assert_int_equal(refused_for(), REASON_COUNT);
}

/* 4 CPUs, tasks of 28,803 s, bound of 3 days: eight rounds on each CPU. */
static void thirty_two_of_forty_jobs_are_in_time(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        add_job(0, 28803, 0);
        world->workunits[i].delay_bound = 259200;
    }
    world->view.asked.resources[0].seconds = 2419200;
    assert_int_equal(choose(), 32);
}

/* --- the choice ------------------------------------------------------------------------------- */

static void priority_comes_before_fit(void **state)
{
    (void)state;
    add_job(0, 5000, 9); /* overshoots */
    add_job(0, 900, 1);
    assert_int_equal(choose(), 1);
    assert_i64(chosen[0]->resultid, 1000);
}

static void of_jobs_that_overshoot_the_smallest_is_taken(void **state)
{
    (void)state;
    add_job(0, 50000, 1);
    add_job(0, 1200, 1);
    add_job(0, 3000, 1);
    assert_int_equal(choose(), 1);
    assert_i64(chosen[0]->resultid, 1001);
}

static void a_literal_second_is_one_job(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        add_job(0, 1000, 0);
    world->view.asked.resources[0].seconds = 1;
    assert_int_equal(choose(), 1);
}

static void each_idle_instance_gets_a_job(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        add_job(0, 1000, 0);
    world->view.asked.resources[0].seconds = 0;
    world->view.asked.resources[0].instances = 3;
    assert_int_equal(choose(), 3);
}

/* Where all that work is asked for is closed, nothing need be searched. */
static void nothing_is_searched_for_a_resource_that_the_user_excludes(void **state)
{
    struct tally tally;

    (void)state;
    begin(&tally);
    memset(&notes, 0, sizeof(notes));
    assert_false(choose_is_idle(&world->view, &tally, &notes));
    world->view.is_excluded[0] = true;
    assert_true(choose_is_idle(&world->view, &tally, &notes));
    assert_int_equal(notes.refusals.by_reason[REASON_RESOURCE_EXCLUDED].count, 1);
}

static void coprocessor_requests_get_no_cpu_jobs(void **state)
{
    (void)state;
    add_job(0, 100, 0);
    world->view.asked.resource_count = 2;
    world->view.asked.resources[0].seconds = 0;
    world->view.asked.resources[1] =
        (struct resource){.type = text_from("NVIDIA"), .count = 1, .seconds = 1000};
    world->view.limits.in_progress[1] = LIMIT_NONE;
    assert_int_equal(choose(), 0);
    world->options[0].resource = 1;
    world->options[0].usage.coproc_count = 1;
    assert_int_equal(choose(), 1);
    world->jobs[0].is_gone = false;
    world->view.asked.resources[0].seconds = 1000;
    world->view.asked.resources[1].seconds = 0;
    assert_int_equal(choose(), 0);
}

static void always_on_apps_get_one_job_each_whatever_was_asked(void **state)
{
    struct tally tally;
    static const int64_t has[] = {2};

    (void)state;
    world->apps[0].non_cpu_intensive = world->apps[1].non_cpu_intensive = 1;
    for (size_t i = 0; i < 6; i++) {
        add_job(i % APPS, 100, 0);
        world->workunits[i].delay_bound = 1; /* nor do deadlines count */
    }
    world->view.asked.resources[0].seconds = 0;
    world->jobs[4].app = NULL; /* an app that the catalog does not have */
    begin(&tally);
    assert_int_equal(choose_always_on(&world->view, &tally, world->jobs, 6,
                                      (struct id_list){.ids = has, .count = 1}, chosen, &notes),
                     1);
    assert_i64(chosen[0]->app->id, 1);
    world->jobs[0].is_gone = false;
    begin(&tally);
    assert_int_equal(
        choose_always_on(&world->view, &tally, world->jobs, 6, (struct id_list){0}, chosen, &notes),
        2);
    assert_int_equal(choose(), 0);
}

static void an_always_on_job_is_refused_for_a_reason(void **state)
{
    struct tally tally;

    (void)state;
    notes = (struct choice_notes){0};
    world->apps[0].non_cpu_intensive = 1;
    add_job(0, 100, 0);
    world->workunits[0].rsc_memory_bound = 2 * world->view.memory;
    begin(&tally);
    assert_int_equal(
        choose_always_on(&world->view, &tally, world->jobs, 1, (struct id_list){0}, chosen, &notes),
        0);
    assert_true(notes.refusals.by_reason[REASON_MEMORY].count > 0);
}

/* What another server wants to be looked at now is not given meanwhile, whichever clock is ahead.
 */
static void an_assigned_job_waits_for_its_transition(void **state)
{
    static const struct {
        int64_t transition_in; /* s */
        enum assignment_verdict verdict;
    } cases[] = {{-3600, ASSIGNMENT_NOT}, {-1, ASSIGNMENT_NOT}, {0, ASSIGNMENT_NOT},
                 {5, ASSIGNMENT_NOT},     {61, ASSIGNMENT_NEW}, {86400, ASSIGNMENT_NEW}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct assignment_question question = {
            .wanted_results = 1, .transition_time = 1000 + cases[i].transition_in, .now = 1000};

        assert_int_equal(assignment_decide(&question), cases[i].verdict);
    }
}

/* Each row is a question of a workunit that wants one more instance, with one thing changed. */
static void who_gets_an_assigned_job(void **state)
{
    static const struct {
        struct assignment_question changed;
        enum assignment_verdict verdict;
    } cases[] = {
        {{0}, ASSIGNMENT_NEW},
        {{.error_mask = 1}, ASSIGNMENT_NOT},
        {{.results_of_host = 1}, ASSIGNMENT_NOT},
        {{.results_of_host = 1, .has_unsent = true}, ASSIGNMENT_NOT},
        {{.error_mask = 1, .is_broadcast = true}, ASSIGNMENT_NOT},
        {{.results_of_host = 1, .is_broadcast = true}, ASSIGNMENT_NOT},
        {{.has_unsent = true}, ASSIGNMENT_UNSENT},
        {{.canonical_resultid = 9}, ASSIGNMENT_NOT},
        {{.canonical_resultid = 9, .has_unsent = true}, ASSIGNMENT_NOT},
        {{.need_validate = 1}, ASSIGNMENT_NOT},
        {{.need_validate = 1, .has_unsent = true}, ASSIGNMENT_UNSENT},
        {{.unsent = 2}, ASSIGNMENT_NOT},
        {{.in_progress = 2}, ASSIGNMENT_NOT},
        {{.success = 2}, ASSIGNMENT_NOT},
        {{.in_progress = 1}, ASSIGNMENT_NEW},
        {{.is_broadcast = true, .success = 2, .canonical_resultid = 9}, ASSIGNMENT_NEW},
        {{.is_broadcast = true, .has_unsent = true, .need_validate = 1}, ASSIGNMENT_UNSENT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct assignment_question question = cases[i].changed;

        question.wanted_results = 2;
        question.transition_time = 90000;
        question.now = 1000;
        if (assignment_decide(&question) != cases[i].verdict)
            fail_msg("case %zu", i);
    }
}

static void the_margin_of_a_version_that_nobody_has_tried_is_no_smaller(void **state)
{
    static const struct {
        double of_all, of_untried, untried;
    } cases[] = {{1, 1, 1}, {1, 2, 2}, {3, 2, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct version_option tried = {0}, untried = {.is_untried = true};

        world->config->deadline_margin = cases[i].of_all;
        world->config->untried_margin = cases[i].of_untried;
        assert_real(deadline_margin(world->config, &tried, false), cases[i].of_all, 0);
        assert_real(deadline_margin(world->config, &untried, false), cases[i].untried, 0);
        /* An idle instance needs none, but nobody knows more of the version for it. */
        assert_real(deadline_margin(world->config, &tried, true), 1, 0);
        assert_real(deadline_margin(world->config, &untried, true), cases[i].of_untried, 0);
    }
}

/* --- against the slow and obvious ------------------------------------------------------------- */

/* A random host, request and list of jobs, tight enough that each limit is met sometimes. */
static void random_world(struct random *random)
{
    struct resource *cpu;
    size_t count = 1 + random_next(random) % 40;
    int64_t priority = 3;

    make_world();
    cpu = &world->view.asked.resources[0];
    world->view.asked.is_scalar = random_next(random) % 4 == 0;
    world->view.asked.scalar_seconds = 3000 * random_unit(random);
    world->view.asked.share = 0.1 + 0.9 * random_unit(random);
    cpu->count = (double)(1 + random_next(random) % 4);
    cpu->seconds = random_next(random) % 3 == 0 ? 0 : 5000 * random_unit(random);
    cpu->instances = (double)(random_next(random) % 4);
    cpu->estimated_delay = random_next(random) % 2 == 0 ? 0 : 500;
    cpu->tells_idle = !world->view.asked.is_scalar && random_next(random) % 2 == 0;
    if (random_next(random) % 2 == 0)
        world->config->deadline_margin = 1 + 3 * random_unit(random);
    world->config->untried_margin = 1 + 2 * random_unit(random);
    world->options[0].is_untried = random_next(random) % 4 == 0;
    world->view.disk = 10e6 * random_unit(random);
    world->view.limits.reply = 1 + (int64_t)(random_next(random) % 8);
    world->view.limits.in_progress[0] = 1 + (int64_t)(random_next(random) % 8);
    world->view.in_progress[0] = (int64_t)(random_next(random) % 3);
    world->config->one_result_per_host_per_wu = random_next(random) % 2;
    world->options[0].daily_limit = (int64_t)(random_next(random) % 4);
    world->options[1].usage.avg_ncpus = 2.5;
    world->apps[2].beta = 1;
    world->project.allow_beta_work = random_next(random) % 2;
    for (size_t i = 0; i < count; i++) {
        add_job(random_next(random) % APPS, 10 + 2000 * random_unit(random), priority);
        world->workunits[i].id = 100 + (int64_t)(random_next(random) % count);
        world->workunits[i].rsc_disk_bound = 3e6 * random_unit(random);
        world->workunits[i].delay_bound = 100 + (int64_t)(random_next(random) % 6000);
        if (random_next(random) % 8 == 0)
            priority--;
    }
}

static struct edf_job slow_job(const struct job *job)
{
    return (struct edf_job){.wall_time = job->workunit->rsc_fpops_est / 1e9,
                            .deadline = (double)job->workunit->delay_bound,
                            .cpus = job->app == &world->apps[1] ? 2.5 : 1};
}

static struct edf_job slow_longer(const struct job *job, double margin)
{
    struct edf_job longer = slow_job(job);

    longer.wall_time *= margin;
    return longer;
}

/* As many CPUs idle as the job takes, by what the client says, or beside its queue. */
static bool slow_idles(struct job *const *taken, size_t count, const struct job *job)
{
    const struct resource *cpu = &world->view.asked.resources[0];
    double idle = cpu->tells_idle ? cpu->instances : cpu->estimated_delay > 0 ? 0 : cpu->count;

    for (size_t i = 0; i < count; i++)
        idle -= slow_job(taken[i]).cpus;
    return idle >= slow_job(job).cpus;
}

/* None for what idle CPUs can have at once, but that of an untried version. */
static double slow_margin(struct job *const *taken, size_t count, const struct job *job)
{
    double untried =
        world->options[job->app->id - 1].is_untried ? world->config->untried_margin : 1;

    return slow_idles(taken, count, job) ? untried : fmax(untried, world->config->deadline_margin);
}

/* Whether a job is in time beside those that were chosen, each by its margin, and leaves these in
 * time. All CPUs are taken until the delay that the client says is over. */
static bool slow_in_time(struct job *const *taken, const double *margins, size_t count,
                         const struct job *job, double margin)
{
    static struct edf_slow slow;
    const struct resource *cpu = &world->view.asked.resources[0];
    const struct edf_host host = {.counts = {cpu->count}, .resource_count = 1};
    const struct edf_job asked = slow_longer(job, margin);
    struct edf_job fillers[8];
    size_t filler_count = cpu->estimated_delay > 0 ? (size_t)cpu->count : 0;

    for (size_t i = 0; i < filler_count; i++)
        fillers[i] =
            (struct edf_job){.wall_time = cpu->estimated_delay, .deadline = -INFINITY, .cpus = 1};
    edf_slow_begin(&slow, &host, fillers, filler_count);
    for (size_t i = 0; i < count; i++) {
        const struct edf_job chosen_job = slow_longer(taken[i], margins[i]);
        edf_slow_take(&slow, &chosen_job);
    }
    return edf_slow_try(&slow, &asked);
}

/* Powers of two of its duration until it is due; only where there is a margin. */
static double slow_slack(const struct job *job)
{
    const struct edf_job asked = slow_job(job);

    return world->config->deadline_margin > 1 ? floor(log2(asked.deadline / asked.wall_time)) : 0;
}

/* Of the jobs of a priority that pass all but the deadline beside those that were chosen the best,
 * by fit, size, slack and score; NULL: none does. */
static struct job *slow_best(struct job *const *taken, size_t count, const bool *is_late,
                             int64_t priority)
{
    const struct host_view *view = &world->view;
    struct amounts left = view->asked;
    double disk = view->disk;
    int64_t used[APPS] = {0};
    struct job *best = NULL;
    bool best_fits = false;
    int best_score = 0;

    for (size_t i = 0; i < count; i++) {
        const struct edf_job job = slow_job(taken[i]);
        left.resources[0].seconds -= job.wall_time * job.cpus;
        left.resources[0].instances -= job.cpus;
        left.scalar_seconds -= job.wall_time / left.share;
        disk -= taken[i]->workunit->rsc_disk_bound;
        used[taken[i]->app->id - 1]++;
    }
    if (left.is_scalar ? left.scalar_seconds <= 0
                       : left.resources[0].seconds <= 0 && left.resources[0].instances <= 0)
        return NULL;
    if ((int64_t)count >= view->limits.reply)
        return NULL;
    for (size_t i = 0; i < world->job_count; i++) {
        struct job *job = &world->jobs[i];
        struct edf_job asked = slow_job(job);
        int score = job->app->beta != 0;
        double size = asked.wall_time * asked.cpus;
        bool fits = left.is_scalar ? asked.wall_time / left.share <= left.scalar_seconds
                                   : size <= left.resources[0].seconds;
        bool possible = !is_late[i] && job->priority == priority &&
                        disk >= job->workunit->rsc_disk_bound &&
                        (int64_t)count + view->in_progress[0] < view->limits.in_progress[0] &&
                        used[job->app->id - 1] < world->options[job->app->id - 1].daily_limit &&
                        (job->app->beta == 0 || world->project.allow_beta_work);

        for (size_t j = 0; j < count; j++)
            if (taken[j] == job || (world->config->one_result_per_host_per_wu &&
                                    taken[j]->workunit->id == job->workunit->id))
                possible = false;
        if (!possible)
            continue;
        if (best != NULL && fits != best_fits && !fits)
            continue;
        if (best != NULL && fits == best_fits) {
            struct edf_job other = slow_job(best);
            double best_size = other.wall_time * other.cpus;
            if (!fits && size > best_size)
                continue;
            if ((fits || size == best_size) && slow_slack(job) > slow_slack(best))
                continue;
            if ((fits || size == best_size) && slow_slack(job) == slow_slack(best) &&
                score <= best_score)
                continue;
        }
        best = job;
        best_fits = fits;
        best_score = score;
    }
    return best;
}

/* Everything from scratch for every job that is chosen: one resource, so no order among them. What
 * was late once is not asked again. */
static size_t slow_choose(struct job **ret_chosen)
{
    double margins[JOBS_MAX];
    size_t count = 0;

    for (int64_t priority = 3; priority > 3 - JOBS_MAX; priority--) {
        bool is_late[JOBS_MAX] = {false};
        struct job *best;

        while ((best = slow_best(ret_chosen, count, is_late, priority)) != NULL) {
            margins[count] = slow_margin(ret_chosen, count, best);
            if (slow_in_time(ret_chosen, margins, count, best, margins[count]))
                ret_chosen[count++] = best;
            else
                is_late[best - world->jobs] = true;
        }
    }
    return count;
}

/* Which conditions a job fails on its own, before anything is chosen. */
static void slow_reasons(const struct job *job, bool ret_fails[REASON_COUNT])
{
    const struct host_view *view = &world->view;

    memset(ret_fails, 0, REASON_COUNT * sizeof *ret_fails);
    ret_fails[REASON_DISK] = view->disk < job->workunit->rsc_disk_bound;
    ret_fails[REASON_IN_PROGRESS] = view->in_progress[0] >= view->limits.in_progress[0];
    ret_fails[REASON_DAILY_QUOTA] = world->options[job->app->id - 1].daily_limit <= 0;
    ret_fails[REASON_APP_BETA] = job->app->beta != 0 && !world->project.allow_beta_work;
    ret_fails[REASON_DEADLINE] = !slow_in_time(NULL, NULL, 0, job, slow_margin(NULL, 0, job));
}

static bool asks_for_work(void)
{
    const struct amounts *asked = &world->view.asked;

    return asked->is_scalar ? asked->scalar_seconds > 0
                            : asked->resources[0].seconds > 0 || asked->resources[0].instances > 0;
}

/* Where nothing was chosen: each reason given is true of some job, and each job has one of its own
 * among them. */
static void compare_reasons(int round)
{
    bool is_true[REASON_COUNT] = {false}, own[REASON_COUNT];

    for (size_t i = 0; i < world->job_count; i++) {
        bool is_explained = false;

        slow_reasons(&world->jobs[i], own);
        for (int reason = 0; reason < REASON_COUNT; reason++) {
            is_true[reason] |= own[reason];
            is_explained |= own[reason] && notes.refusals.by_reason[reason].count > 0;
        }
        if (!is_explained)
            fail_msg("round %d: none of the reasons given is true of job %zu", round, i);
    }
    for (int reason = 0; reason < REASON_COUNT; reason++)
        if (notes.refusals.by_reason[reason].count > 0 && !is_true[reason])
            fail_msg("round %d: %s is given and true of no job", round,
                     reason_word((enum reason)reason));
}

#ifdef QM_SANITIZED
enum { WORLDS = 2000 };
#else
enum { WORLDS = 50000 };
#endif

static void the_choice_is_that_of_the_slow_way(void **state)
{
    struct random random = {.state = 2026};
    size_t chosen_in_all = 0, explained = 0;

    (void)state;
    for (int round = 0; round < WORLDS; round++) {
        struct job *slow[JOBS_MAX];
        size_t slow_count, count;

        random_world(&random);
        slow_count = slow_choose(slow);
        count = choose();
        if (count != slow_count)
            fail_msg("round %d: %zu jobs, the slow way takes %zu", round, count, slow_count);
        for (size_t i = 0; i < count; i++)
            if (chosen[i] != slow[i])
                fail_msg("round %d: job %zu differs", round, i);
        if (count == 0 && world->view.limits.reply > 0 && asks_for_work()) {
            compare_reasons(round);
            explained++;
        }
        chosen_in_all += count;
    }
    assert_true(chosen_in_all > WORLDS);
    assert_true(explained > WORLDS / 100);
}

/* What was ranked before a choice is judged as it is after it: one job after the other, each from
 * the beginning, makes the same list. Versions of one app run at different speeds, and a quota that
 * is filled makes jobs longer. Deadlines are left to the slow way above. */
static void one_by_one_the_choice_is_the_same(void **state)
{
    struct random random = {.state = 11};
    int quotas_filled = 0;

    (void)state;
    for (int round = 0; round < WORLDS / 5; round++) {
        struct job *at_once[JOBS_MAX];
        struct tally tally;
        int64_t most;
        size_t count, singly = 0;

        random_world(&random);
        world->config->ignore_delay_bound = true;
        world->options[2].app = &world->apps[0];
        world->options[0].choice_flops = world->options[0].usage.projected_flops =
            (1 + 4 * random_unit(&random)) * 1e9;
        most = world->view.limits.reply;
        count = choose();
        memcpy(at_once, chosen, sizeof(at_once));
        for (size_t i = 0; i < world->job_count; i++)
            world->jobs[i].is_gone = false;
        begin(&tally);
        for (size_t got = 1; got == 1 && (int64_t)singly < most; singly += got) {
            world->view.limits.reply = (int64_t)singly + 1;
            got = choose_jobs(&world->view, &tally, world->jobs, world->job_count, chosen + singly,
                              &notes);
        }
        assert_int_equal(count, singly);
        for (size_t i = 0; i < count; i++)
            assert_ptr_equal(at_once[i], chosen[i]);
        quotas_filled += world->options[0].daily_limit > 0 &&
                         tally.option_jobs[0] == world->options[0].daily_limit &&
                         tally.option_jobs[2] > 0;
    }
    assert_true(quotas_filled > WORLDS / 1000);
}

static void no_sum_is_ever_exceeded(void **state)
{
    struct random random = {.state = 77};

    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t count;
        double disk = 0;
        int64_t of_first_app = 0;

        random_world(&random);
        count = choose();
        for (size_t i = 0; i < count; i++) {
            disk += chosen[i]->workunit->rsc_disk_bound;
            of_first_app += chosen[i]->app == &world->apps[0];
            for (size_t j = 0; j < i; j++)
                assert_ptr_not_equal(chosen[i], chosen[j]);
        }
        assert_true(count == 0 || disk <= world->view.disk);
        assert_true((int64_t)count <= world->view.limits.reply);
        assert_true(count == 0 || (int64_t)count + world->view.in_progress[0] <=
                                      world->view.limits.in_progress[0]);
        assert_true(of_first_app <= world->options[0].daily_limit);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(each_check_refuses_for_its_reason),
        CASE(the_deadline_is_judged_last),
        CASE(an_idle_host_is_not_exempt_from_deadlines),
        CASE(retries_have_less_time_where_it_is_enough),
        CASE(in_a_hurry_jobs_are_due_sooner),
        CASE(the_end_of_a_batch_is_for_hosts_that_return_the_app_soon),
        CASE(a_lost_job_keeps_its_version),
        CASE(redundancy_of_the_project_is_for_apps_without_their_own),
        CASE(streams_share_a_reply),
        CASE(owners_order_their_own_jobs_only),
        CASE(deadlines_can_be_ignored),
        CASE(thirty_two_of_forty_jobs_are_in_time),
        CASE(priority_comes_before_fit),
        CASE(of_jobs_that_overshoot_the_smallest_is_taken),
        CASE(a_literal_second_is_one_job),
        CASE(each_idle_instance_gets_a_job),
        CASE(nothing_is_searched_for_a_resource_that_the_user_excludes),
        CASE(coprocessor_requests_get_no_cpu_jobs),
        CASE(always_on_apps_get_one_job_each_whatever_was_asked),
        CASE(an_always_on_job_is_refused_for_a_reason),
        CASE(an_assigned_job_waits_for_its_transition),
        CASE(who_gets_an_assigned_job),
        CASE(the_margin_of_a_version_that_nobody_has_tried_is_no_smaller),
        CASE(the_choice_is_that_of_the_slow_way),
        CASE(one_by_one_the_choice_is_the_same),
        CASE(no_sum_is_ever_exceeded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
