/* SPDX-License-Identifier: Apache-2.0 */
/* The page "Project" from figures of all kinds, and the words by which servers tell each other what
 * is on it. */
#include "server/status/project_page.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/status/page_frame.h"
#include "server/status/public_page.h"
#include "server/status/slot_words.h"
#include "tests/support/page_look.h"
#include "tests/support/test.h"

#include <math.h>

enum { NOW = 1767268900, MANY = 2000 };

struct world {
    struct arena *arena;
    struct project_totals totals;
    struct project_app apps[MANY];
    struct project_batch batches[PROJECT_BATCHES_MOST];
    struct project_hour week[WEEK_SLOTS];
    struct project_version versions[MANY];
    struct project_host hosts[MANY];
    struct stuck_class classes[STUCK_CLASSES_MOST];
    struct stuck_jobs stuck;
    struct project_disk disk;
    struct app_row app;
    struct project_figures figures;
    struct buffer page, plain;
};

static int make_world(void **state)
{
    static struct world world;

    world = (struct world){.arena = arena_create(1 << 24),
                           .page = buffer_on_heap(STATUS_BYTES_MAX),
                           .plain = buffer_on_heap(STATUS_BYTES_MAX)};
    world.totals.apps = world.apps;
    world.totals.batches = world.batches;
    world.stuck.classes = world.classes;
    world.app = (struct app_row){
        .id = 1, .name = TEXT("demo"), .user_friendly_name = TEXT("Demonstration")};
    world.disk = (struct project_disk){
        .words = "the project's folder", .is_known = true, .bytes = 1000, .free = 900};
    world.figures = (struct project_figures){.project = TEXT("Test"),
                                             .now = NOW,
                                             .totals = &world.totals,
                                             .week = world.week,
                                             .week_begin = NOW / 3600 * 3600 - 167 * 3600,
                                             .versions = world.versions,
                                             .hosts = world.hosts,
                                             .apps = &world.app,
                                             .app_count = 1,
                                             .disks = &world.disk,
                                             .disk_count = 1,
                                             .stuck = &world.stuck};
    *state = &world;
    return world.arena == NULL;
}

static int remove_world(void **state)
{
    struct world *world = *state;

    buffer_free(&world->page);
    buffer_free(&world->plain);
    arena_destroy(world->arena);
    return 0;
}

static void write_page(struct world *world)
{
    world->page.length = world->plain.length = 0;
    project_page_write(&world->figures, &world->page);
    assert_false(world->page.overflowed);
    assert_page_is_sound(buffer_text(&world->page));
    page_without_labels(buffer_text(&world->page), &world->plain);
}

static bool has(struct world *world, const char *words)
{
    return text_contains(buffer_text(&world->plain), text_from(words));
}

/* "Not known" is another thing than "none". */
static void nothing_is_known_at_first(void **state)
{
    struct world *world = *state;

    write_page(world);
    assert_true(has(world, "<title>1 note: Test (Project)</title>"));
    assert_true(has(world, "jobs have not been counted yet"));
    assert_true(has(world, "<p>Not known: <code>qmctl transition</code> looks once an hour"));
    assert_true(has(world, "Outcomes have not been read yet"));
    assert_true(has(world, "Nothing is known yet."));
    assert_false(has(world, "nan") || has(world, "(null)") || has(world, "id=\"streams\""));
}

static void count_well(struct world *world)
{
    world->totals.at = NOW - 300;
    world->stuck.at = NOW - 1800;
    world->stuck.kinds = 12;
    world->stuck.hosts = 40;
    world->figures.fates_read = NOW - 20;
}

static void all_is_well(void **state)
{
    struct world *world = *state;

    count_well(world);
    world->totals.values[TOTAL_results_ready_to_send] = 12345;
    world->totals.values[TOTAL_workunits_waiting_for_purge] = 17;
    write_page(world);
    assert_true(has(world, "<title>OK: Test (Project)</title>"));
    assert_true(has(world, "<nav><a href=\"status\">Server</a><strong>Project</strong></nav>"));
    assert_true(has(world, "<tr><th scope=\"row\">results unsent</th><td>12,345</td>"));
    assert_true(
        has(world, "<tr><th scope=\"row\">finished jobs that can be purged</th><td>17</td>"));
    assert_true(has(world, "None. Every kind of waiting job (12) fits a host of the last week."));
    assert_true(has(world, "No result was sent or came back in the last day."));
    assert_true(has(world, "<th scope=\"row\">the project&#39;s folder</th><td>1,000 bytes</td>"
                           "<td>900 bytes</td><td>10 %</td>"));
}

static void what_is_wrong_is_at_the_top(void **state)
{
    struct world *world = *state;

    count_well(world);
    world->figures.versions_failing = 1;
    world->figures.hosts_failing = 3;
    world->stuck.jobs = 35;
    world->stuck.count = 1;
    world->classes[0] = (struct stuck_class){.app = TEXT("demo"),
                                             .job = TEXT("demo_1"),
                                             .words = TEXT("40 hosts: too little memory"),
                                             .jobs = 35};
    world->totals.values[TOTAL_transitioner_backlog_hours] = 3;
    world->disk.free = 40;
    write_page(world);
    assert_true(has(world, "<title>4 problems: Test (Project)</title>"));
    assert_true(has(world, "</strong> 1 version with too many failures"));
    assert_true(has(world, "</strong> 3 hosts whose recent results all failed"));
    assert_true(has(world, "</strong> 35 waiting jobs fit none of the hosts"));
    assert_false(has(world, "there may be more"));
    assert_true(has(world, "Transitions are late by 3.0 h"));
    assert_true(has(world, "The disk of the project's folder has only 40 bytes left."));
    assert_true(has(world, "<tr><th scope=\"row\">demo</th><td>35</td><td class=\"left\">demo_1"
                           "</td><td class=\"left\">40 hosts: too little memory</td></tr>"));
    world->stuck.is_limited = true;
    write_page(world);
    assert_true(has(world, "</strong> At least 35 waiting jobs fit none of the hosts"));
    assert_true(has(world, "hosts asked: 40. Only the oldest and newest waiting jobs of each "));
    /* What was found long ago says nothing. */
    world->stuck.at = NOW - 3 * 86400;
    world->totals.at = NOW - 3 * 3600;
    write_page(world);
    assert_false(has(world, "waiting jobs fit none"));
    assert_true(has(world, "jobs were last counted 3.0 h ago"));
    /* Nobody was asked, and there is nothing to ask for. */
    world->stuck = (struct stuck_jobs){.at = NOW, .kinds = 1, .classes = world->classes};
    write_page(world);
    assert_true(has(world, "Not known: no host that asked within the last week"));
    world->stuck.kinds = 0;
    write_page(world);
    assert_true(has(world, "None: no jobs were waiting."));
}

/* A pass that succeeds with some jobs is a note, one that failed long ago is nothing. */
static void failing_passes_are_shown(void **state)
{
    struct world *world = *state;
    struct pass_note_row passes[] = {
        {TEXT("assimilation"), TEXT("demo"), 2, NOW - 600, NOW - 60, NOW - 30, TEXT("a full disk")},
        {TEXT("deletion"), NO_TEXT, 9, NOW - 3500, NOW - 1801, 0, TEXT("long ago")},
        {TEXT("validation"), TEXT("a&b"), 7, NOW - 600, NOW - 60, NOW - 601, TEXT("exit <9>")}};

    count_well(world);
    world->figures.passes = passes;
    world->figures.pass_count = 3;
    write_page(world);
    assert_true(has(world, "<title>1 problem: Test (Project)</title>"));
    assert_true(has(world, "validation of a&amp;b fails for every job: see "));
    assert_true(has(world, "assimilation of demo fails for some jobs: see "));
    assert_true(has(world,
                    "<th scope=\"row\">validation of a&amp;b</th><td>7</td><td>10 min ago</td>"
                    "<td class=\"left bad\"><strong>none</strong></td>"
                    "<td class=\"left\">exit &lt;9&gt;</td>"));
    assert_false(has(world, "long ago") || has(world, "No failures in the last half hour"));
    world->figures.pass_count = 0;
    write_page(world);
    assert_true(has(world, "No failures in the last half hour"));
}

static void errors_of_jobs_and_versions_are_told(void **state)
{
    struct world *world = *state;

    count_well(world);
    world->figures.job_errors = 2;
    world->figures.version_errors = 1;
    write_page(world);
    assert_true(has(world, "<title>2 problems: Test (Project)</title>"));
    assert_true(has(world, "2 errors of jobs: see <code>qmctl check-config</code>"));
    assert_true(has(world, "1 error of versions: see"));
}

static void who_fails_is_shown(void **state)
{
    struct world *world = *state;

    count_well(world);
    world->versions[0] = (struct project_version){.version = TEXT("demo 1.03 <linux>"),
                                                  .sent = 60,
                                                  .ended = 50,
                                                  .failed = 25,
                                                  .worst = TEXT("ERR_RESULT_DOWNLOAD"),
                                                  .fails = true};
    world->figures.version_count = 1;
    world->hosts[0] =
        (struct project_host){.id = 77, .ended = 5, .failed = 1, .at = NOW - 7200, .fails = false};
    world->figures.host_count = 1;
    write_page(world);
    assert_true(has(world, "<tr><th scope=\"row\">demo 1.03 &lt;linux&gt;</th><td>60</td>"
                           "<td>50</td><td>25</td><td>50 %</td>"));
    assert_true(has(world, "<td class=\"left bad\"><strong>fails</strong></td>"
                           "<td class=\"left\">ERR_RESULT_DOWNLOAD</td>"));
    assert_true(has(world, "<tr><th scope=\"row\">77</th><td>5</td><td>1</td><td>20 %</td>"));
    assert_true(has(world, "<td class=\"left\">ok</td><td>2.0 h ago</td></tr>"));
}

/* Hours that nobody counted are left blank, in the pictures and in the table. */
static void the_week_is_drawn_as_far_as_it_is_known(void **state)
{
    struct world *world = *state;
    struct project_hour *hour = &world->week[WEEK_SLOTS - 1];

    count_well(world);
    *hour = (struct project_hour){.has_totals = true, .has_fates = true};
    hour->totals[TOTAL_results_in_progress] = 60;
    hour->totals[TOTAL_results_ready_to_send] = 30;
    hour->fates[FATE_SENT] = 50;
    hour->fates[FATE_SUCCESS] = 8;
    hour->fates[FATE_INVALID] = 1;
    hour->fates[FATE_VALIDATE_ERROR] = 1;
    write_page(world);
    assert_true(has(world, "<desc id=\"week-states-words\">Highest 90 jobs at 01-01 12:00 UTC, "
                           "mean 90 jobs, last 90 jobs.</desc>"));
    assert_true(has(world, "<desc id=\"week-outcomes-words\">Highest 10 per hour"));
    assert_true(has(world, "2025-12-31 13:00:00 UTC</th><td>50</td><td>8</td><td>0</td><td>0</td>"
                           "<td>2</td><td>30</td><td>60</td><td>0</td></tr>"));
    assert_false(has(world, "2025-12-30 13:00:00"));
    assert_true(has(world, "<dt>Results over</dt><dd>8</dd>"));
}

static void batches_apps_and_streams_are_shown(void **state)
{
    struct world *world = *state;
    const struct project_stream streams[] = {{.words = TEXT("app demo"), .share = 0.75, .had = 0.5},
                                             {.words = TEXT("rest"), .share = 0.25, .had = NAN}};

    count_well(world);
    world->totals.app_count = 2;
    world->apps[0] = (struct project_app){.id = 1,
                                          .unsent = 5,
                                          .in_progress = 6,
                                          .avg_runtime = 2,
                                          .min_runtime = 1,
                                          .max_runtime = 3,
                                          .users = 4};
    world->apps[1] = (struct project_app){.id = 9};
    world->totals.batch_count = 2;
    world->batches[0] = (struct project_batch){.id = 8,
                                               .appid = 1,
                                               .jobs = 100,
                                               .looked_at = 100,
                                               .done = 40,
                                               .failed = 2,
                                               .cancelled = 8,
                                               .created = NOW - 3600,
                                               .name = TEXT("<first>"),
                                               .half = NOW + 7200,
                                               .most = NOW + 10800};
    world->batches[1] = (struct project_batch){.id = 7,
                                               .appid = 9,
                                               .jobs = 1000000,
                                               .looked_at = 10000,
                                               .done = 2500,
                                               .created = NOW - 86400};
    world->figures.streams = streams;
    world->figures.stream_count = 2;
    write_page(world);
    assert_true(has(world, "Demonstration <code>demo</code></th><td>5</td><td>6</td><td>2.0 h</td>"
                           "<td>60 min</td><td>3.0 h</td><td>4</td>"));
    assert_true(has(world, "<th scope=\"row\">number 9</th><td>0</td><td>0</td><td>-</td>"));
    assert_true(has(world, "8 &lt;first&gt;</th><td class=\"left\">demo</td><td>100</td><td>40</td>"
                           "<td>2</td><td>8</td><td>50 %</td>"));
    assert_true(has(world, "60 min ago</td><td>in 2.0 h</td><td>in 3.0 h</td></tr>"));
    assert_true(has(world, "24 h ago</td><td></td><td></td></tr>"));
    assert_true(has(world, "<td>1,000,000</td><td>about 25 %</td><td>about 0 %</td>"));
    assert_false(has(world, "Copies"));
    assert_true(has(world, "<th scope=\"row\">app demo</th><td>75 %</td>"));
    assert_true(has(world, "<td>50 %</td>"));
}

static void a_batch_in_a_hurry_says_what_that_does(void **state)
{
    struct world *world = *state;

    count_well(world);
    world->totals.batch_count = 3;
    world->batches[0] = (struct project_batch){
        .id = 9, .jobs = 1, .looked_at = 1, .hurry = true, .copies = 1200, .within = 108000};
    world->batches[1] = (struct project_batch){.id = 8, .jobs = 1, .looked_at = 1, .hurry = true};
    world->batches[2] =
        (struct project_batch){.id = 7, .jobs = 1, .looked_at = 1, .copies = 5, .within = 6};
    write_page(world);
    assert_true(has(world, "Copies</th><th scope=\"col\">Unsent go to</th></tr>"));
    assert_true(has(world, "<td></td><td></td><td>1,200</td><td>hosts below 30 h</td></tr>"));
    assert_true(has(world, "<td></td><td></td><td>0</td><td>all hosts</td></tr>"));
    assert_true(has(world, "<td></td><td></td><td></td><td></td></tr>"));
}

/* As much of all as there can be. */
static void a_page_is_bounded(void **state)
{
    struct world *world = *state;
    static char words[254];
    const struct text long_words = {words, sizeof(words)};

    memset(words, '"', sizeof(words));
    count_well(world);
    for (size_t i = 0; i < MANY; i++) {
        world->versions[i] = (struct project_version){.version = long_words, .worst = long_words};
        world->hosts[i] = (struct project_host){.id = INT64_MAX};
        world->apps[i] = (struct project_app){.id = 1};
    }
    for (size_t i = 0; i < PROJECT_BATCHES_MOST; i++)
        world->batches[i] =
            (struct project_batch){.id = INT64_MAX, .name = long_words, .hurry = true};
    for (size_t i = 0; i < STUCK_CLASSES_MOST; i++)
        world->classes[i] = (struct stuck_class){long_words, long_words, long_words, INT64_MAX};
    for (size_t i = 0; i < WEEK_SLOTS; i++) {
        world->week[i] = (struct project_hour){.has_totals = true, .has_fates = true};
        for (int j = 0; j < TOTAL_COUNT; j++)
            world->week[i].totals[j] = (double)((i * 7919 + (size_t)j) % 1009) * 1e15;
        for (int j = 0; j < FATE_NUMBERS; j++)
            world->week[i].fates[j] = (int64_t)((i * 7919 + (size_t)j) % 1009) << 40;
    }
    world->app.name = world->app.user_friendly_name = long_words;
    world->figures.version_count = world->figures.host_count = world->totals.app_count = MANY;
    world->totals.batch_count = PROJECT_BATCHES_MOST;
    world->stuck.count = STUCK_CLASSES_MOST;
    write_page(world);
    printf("a full page: %zu bytes\n", world->page.length);
    assert_true(world->page.length < 800000);
}

/* Byte for byte, since programs of others read it: they look for these elements by name. */
static void what_anybody_may_know_is_as_boinc_says_it(void **state)
{
    struct world *world = *state;
    struct public_figures figures = {.totals = &world->totals,
                                     .apps = &world->app,
                                     .app_count = 1,
                                     .host = TEXT("example.org"),
                                     .scheduler_serves = true};

    world->app.name = TEXT("demo & \xc3\xa4");
    for (int i = 0; i < TOTAL_COUNT; i++)
        world->totals.values[i] = i + 1;
    world->totals.values[TOTAL_transitioner_backlog_hours] = 0.25;
    world->totals.values[TOTAL_users_with_credit] = 123456789;
    world->totals.app_count = 2;
    world->apps[0] = (struct project_app){1, 2, 3, 1.17, 0.5, 2.01, 4};
    world->apps[1] = (struct project_app){.id = 5}; /* which the catalog does not have */
    public_page_write(&figures, &world->page);
    assert_text(buffer_text(&world->page),
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<server_status>\n"
                "<daemon_status>\n<daemon>\n<host>example.org</host>\n"
                "<command>Scheduler</command>\n<status>running</status>\n</daemon>\n"
                "</daemon_status>\n<database_file_states>\n"
                "<results_ready_to_send>1</results_ready_to_send>\n"
                "<results_in_progress>2</results_in_progress>\n"
                "<workunits_waiting_for_validation>3</workunits_waiting_for_validation>\n"
                "<workunits_waiting_for_assimilation>4</workunits_waiting_for_assimilation>\n"
                "<workunits_waiting_for_deletion>5</workunits_waiting_for_deletion>\n"
                "<results_waiting_for_deletion>6</results_waiting_for_deletion>\n"
                "<transitioner_backlog_hours>0.25</transitioner_backlog_hours>\n"
                "<users_with_recent_credit>8</users_with_recent_credit>\n"
                "<users_with_credit>123456789</users_with_credit>\n"
                "<users_registered_in_past_24_hours>10</users_registered_in_past_24_hours>\n"
                "<hosts_with_recent_credit>11</hosts_with_recent_credit>\n"
                "<hosts_with_credit>12</hosts_with_credit>\n"
                "<hosts_registered_in_past_24_hours>13</hosts_registered_in_past_24_hours>\n"
                "<current_floating_point_speed>14</current_floating_point_speed>\n"
                "<tasks_by_app>\n<app>\n<id>1</id>\n<name>demo &amp; \xc3\xa4</name>\n"
                "<unsent>2</unsent>\n<in_progress>3</in_progress>\n"
                "<avg_runtime>1.17</avg_runtime>\n<min_runtime>0.5</min_runtime>\n"
                "<max_runtime>2.01</max_runtime>\n<users>4</users>\n</app>\n</tasks_by_app>\n"
                "</database_file_states>\n</server_status>\n");
    world->page.length = 0;
    public_counts_write(figures.totals, &world->page);
    assert_text(buffer_text(&world->page),
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<job_counts>\n"
                "<results_ready_to_send>1</results_ready_to_send>\n"
                "<results_in_progress>2</results_in_progress>\n"
                "<results_need_file_delete>6</results_need_file_delete>\n"
                "<wus_need_validate>3</wus_need_validate>\n"
                "<wus_need_assimilate>4</wus_need_assimilate>\n"
                "<wus_need_file_delete>5</wus_need_file_delete>\n</job_counts>\n");
    /* With an upload handler; stopped, with an application that is no longer in use. */
    figures.scheduler_serves = false;
    figures.has_uploads = figures.uploads_are_taken = true;
    world->app.deprecated = 1;
    world->page.length = 0;
    public_page_write(&figures, &world->page);
    assert_true(text_contains(buffer_text(&world->page),
                              TEXT("<command>Upload server</command>\n<status>running</status>\n"
                                   "</daemon>\n<daemon>\n<host>example.org</host>\n"
                                   "<command>Scheduler</command>\n<status>not running</status>")));
    assert_true(text_contains(buffer_text(&world->page), TEXT("<tasks_by_app>\n</tasks_by_app>")));
}

/* --- words ------------------------------------------------------------------------------------ */

static void totals_are_read_as_they_were_written(void **state)
{
    struct world *world = *state;
    struct project_totals read;

    world->totals.at = NOW;
    world->totals.seconds = 0.25;
    for (int i = 0; i < TOTAL_COUNT; i++)
        world->totals.values[i] = i + 0.125;
    world->totals.app_count = 1;
    world->apps[0] = (struct project_app){1, 2, 3, 0.25, 0.01, 9.5, 4};
    world->totals.batch_count = 2;
    world->batches[0] =
        (struct project_batch){1, 2, 3, 4, 5, 6, 7, 8, TEXT("a b\nc"), 9, 10, true, 11, 12};
    world->batches[1] = (struct project_batch){.id = 9};
    project_totals_write(&world->totals, true, &world->page);
    assert_true(project_totals_read(world->arena, buffer_text(&world->page), &read));
    assert_i64(read.at, NOW);
    assert_real(read.seconds, 0.25, 0);
    for (int i = 0; i < TOTAL_COUNT; i++)
        assert_real(read.values[i], i + 0.125, 0);
    assert_i64((int64_t)read.app_count, 1);
    assert_memory_equal(&read.apps[0], &world->apps[0], sizeof(read.apps[0]));
    assert_i64((int64_t)read.batch_count, 2);
    assert_i64(read.batches[0].created, 8);
    assert_text(read.batches[0].name, "a b c");
    assert_true(read.batches[0].half == 9 && read.batches[0].most == 10);
    assert_true(read.batches[0].hurry && read.batches[0].copies == 11);
    assert_i64(read.batches[0].within, 12);
    assert_true(read.batches[1].id == 9 && read.batches[1].half == 0 && !read.batches[1].hurry);
    /* Without the lists, and with lines of another version. */
    world->page.length = 0;
    buffer_add_string(&world->page, "of_tomorrow 5\napp x\nbatch 1\nbatch_done 5 6\nbatch_hurry 1 "
                                    "2\n\nresults_in_progress many\n");
    project_totals_write(&world->totals, false, &world->page);
    assert_true(project_totals_read(world->arena, buffer_text(&world->page), &read));
    assert_i64(read.at, NOW);
    assert_true(read.app_count == 0 && read.batch_count == 0);
}

static void stuck_jobs_are_read_as_they_were_written(void **state)
{
    struct world *world = *state;
    const struct stuck_class class = {TEXT("demo"), TEXT("a job\t"), TEXT("3 hosts: memory"), 7};
    const struct stuck_jobs stuck = {NOW, 5, 3, 7, true, &class, 1};
    struct stuck_jobs read;

    stuck_words_write(&stuck, &world->page);
    buffer_add_string(&world->page, "later 1\nclass\n");
    assert_true(stuck_words_read(world->arena, buffer_text(&world->page), &read));
    assert_i64(read.at, NOW);
    assert_i64(read.kinds, 5);
    assert_i64(read.hosts, 3);
    assert_i64(read.jobs, 7);
    assert_true(read.is_limited);
    assert_i64((int64_t)read.count, 2);
    assert_i64(read.classes[0].jobs, 7);
    assert_text(read.classes[0].app, "demo");
    assert_text(read.classes[0].job, "a job ");
    assert_text(read.classes[0].words, "3 hosts: memory");
    assert_i64(read.classes[1].jobs, 0);
    assert_true(stuck_is_current(&read, NOW + 86400));
    assert_false(stuck_is_current(&read, NOW + 2 * 86400));
}

/* Every total has a name of its own. */
static void slots_are_read_as_they_were_written(void **state)
{
    struct world *world = *state;
    static uint64_t counts[STATUS_TOTALS];
    static struct slot_sum sum;
    struct slot_share share = {.seconds = 59.5, .counts = counts, .levels = {12}};

    for (int i = 0; i < STATUS_TOTALS; i++)
        counts[i] = (uint64_t)i + 1;
    slot_words_write(&share, &world->page);
    slot_sum_begin(&sum);
    assert_true(isnan(sum.levels[0]));
    slot_words_add(buffer_text(&world->page), &sum);
    buffer_add_string(&world->page, "of_tomorrow 5\nrequests many\nreason. 4\nseconds -5\n");
    slot_words_add(buffer_text(&world->page), &sum);
    for (int i = 0; i < STATUS_TOTALS; i++)
        assert_i64((int64_t)sum.counts[i], 2 * (i + 1));
    assert_real(sum.seconds, 119, 1e-9);
    assert_real(sum.levels[0], 12, 0);
    printf("a slot of all totals: %zu bytes\n", world->page.length);
    assert_true(world->page.length < 20000);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_world, remove_world)
    const struct CMUnitTest tests[] = {
        CASE(nothing_is_known_at_first),
        CASE(all_is_well),
        CASE(what_is_wrong_is_at_the_top),
        CASE(failing_passes_are_shown),
        CASE(errors_of_jobs_and_versions_are_told),
        CASE(who_fails_is_shown),
        CASE(the_week_is_drawn_as_far_as_it_is_known),
        CASE(batches_apps_and_streams_are_shown),
        CASE(a_batch_in_a_hurry_says_what_that_does),
        CASE(a_page_is_bounded),
        CASE(what_anybody_may_know_is_as_boinc_says_it),
        CASE(totals_are_read_as_they_were_written),
        CASE(stuck_jobs_are_read_as_they_were_written),
        CASE(slots_are_read_as_they_were_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
