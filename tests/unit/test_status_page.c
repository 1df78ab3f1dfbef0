/* SPDX-License-Identifier: Apache-2.0 */
/* The status page from figures of all kinds: of a server that has just begun, of a busy one, and of
 * one whose applications were named by somebody hostile. */
#include "server/status/status_page.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/request/walk.h"
#include "server/status/page_words.h"
#include "tests/support/page_look.h"
#include "tests/support/test.h"

#include <math.h>

enum { NOW = 1767268900, APPS_MOST = 1000 };

struct world {
    struct arena *arena;
    struct slot_ring *hour, *day;
    uint64_t totals[STATUS_TOTALS];
    struct status_app apps[APPS_MOST];
    struct status_event events[100];
    struct status_finding finding;
    struct backlog backlog;
    struct status_figures figures;
    struct buffer page;
    struct buffer plain; /* the same without the labels of cells */
};

static int make_world(void **state)
{
    static struct world world;

    world = (struct world){
        .arena = arena_create(1 << 24),
        .hour = slot_ring_create(HOUR_SLOT_S, HOUR_SLOTS, STATUS_TOTALS, NOW - 86400, 0),
        .day = slot_ring_create(DAY_SLOT_S, DAY_SLOTS, STATUS_TOTALS, NOW - 86400, 0),
        .page = buffer_on_heap(STATUS_BYTES_MAX),
        .plain = buffer_on_heap(STATUS_BYTES_MAX)};
    world.figures = (struct status_figures){
        .project = TEXT("Test"),
        .version = "1.2.3",
        .now = NOW,
        .began = NOW - 86400,
        .process = 4711,
        .hour = world.hour,
        .day = world.day,
        .totals = world.totals,
        .pool_lag = NAN,
    };
    for (int i = 0; i < STEP_COUNT; i++)
        world.figures.steps[i] = (struct status_step){.word = request_step_word((enum step)i),
                                                      .brief = request_step_brief((enum step)i)};
    world.figures.steps[STEP_COUNT] = (struct status_step){.word = "commit", .brief = "commits"};
    *state = &world;
    return world.arena == NULL || world.hour == NULL || world.day == NULL;
}

static int remove_world(void **state)
{
    struct world *world = *state;

    buffer_free(&world->page);
    buffer_free(&world->plain);
    slot_ring_destroy(world->hour);
    slot_ring_destroy(world->day);
    arena_destroy(world->arena);
    return 0;
}

/* As the process gathers it while it runs. */
static void pass(struct world *world, double at)
{
    const double levels[SLOT_LEVELS] = {(double)world->figures.pool_jobs};

    slot_ring_add(world->hour, NOW - 86400 + at, at, world->totals, levels);
    slot_ring_add(world->day, NOW - 86400 + at, at, world->totals, levels);
}

static struct text write_page(struct world *world)
{
    world->page.length = world->plain.length = 0;
    status_page_write(&world->figures, &world->page);
    assert_false(world->page.overflowed);
    page_without_labels(buffer_text(&world->page), &world->plain);
    return buffer_text(&world->page);
}

static bool has(struct world *world, const char *words)
{
    return text_contains(buffer_text(&world->plain), text_from(words));
}

static void a_server_that_has_just_begun_has_a_page(void **state)
{
    struct world *world = *state;

    world->figures.began = NOW;
    assert_page_is_sound(write_page(world));
    assert_true(has(world, "The database was not examined yet."));
    assert_true(has(world, "Nothing is known yet."));
    assert_true(has(world, "No host was refused jobs"));
    assert_true(has(world, "No file was reread"));
    assert_true(has(world, "<dd class=\"words\">mean of the last hour</dd>"));
    assert_true(has(world, "<p>Waiting now: 0 requests.</p>"));
    assert_false(has(world, "at most -"));
    assert_true(has(world, "number 4711, up for 0 s since 2026-01-01 12:01:40 UTC"));
    assert_false(has(world, "nan") || has(world, "inf\"") || has(world, "(null)"));
}

static void all_is_well(void **state)
{
    struct world *world = *state;

    world->figures.examined = NOW - 4;
    world->figures.clock_ahead = 59;
    write_page(world);
    assert_true(has(world, "OK: nothing needs attention."));
    assert_true(has(world, "<title>OK: Test (Server)</title>"));
    assert_true(has(world, "<nav><strong>Server</strong><a href=\"project\">Project</a></nav>"));
    assert_true(has(world, "OK: it can be read and written. Examined 4.0 s ago."));
    assert_true(
        has(world, "Database, versions and jobs: not checked within two days (a server looks"));
    world->figures.database_checked = NOW - 720;
    world->figures.web_checked = NOW + 5;
    write_page(world);
    assert_true(has(world, "Database, versions and jobs: checked 12 min ago. Web pages, as clients "
                           "see them: checked 0 s ago.</p>"));
}

/* Each of them at the top, in words. */
static void what_is_wrong_is_at_the_top(void **state)
{
    struct world *world = *state;
    struct status_figures well;

    world->figures.examined = NOW;
    well = world->figures;
#define SAYS(change, words)                                  \
    do {                                                     \
        world->figures = well;                               \
        world->figures.change;                               \
        assert_page_is_sound(write_page(world));             \
        assert_true(has(world, words));                      \
        assert_false(has(world, "nothing needs attention")); \
    } while (0)
    for (int i = DB_TROUBLE_NONE + 1; i < DB_TROUBLE_COUNT; i++)
        SAYS(trouble = (enum db_trouble)i,
             text_string(world->arena, text_print(world->arena, "Problem:</strong> The database %s",
                                                  db_trouble_words[i].words)));
    SAYS(trouble = DB_TROUBLE_SPACE; world->figures.is_stopped = true;
         world->figures.clock_ahead = -60, "<title>2 problems: Test (Server)</title>");
    SAYS(clock_ahead = -60, "<title>1 note: Test (Server)</title>");
    SAYS(clock_ahead = -60, "the database's clock is 60 s behind this machine's");
    SAYS(away_for = 90, "Requests have found no database for 90 s");
    SAYS(is_stopped = true, "<code>stop_sched</code>");
    SAYS(sends_no_jobs = true, "Nobody gets jobs");
    SAYS(config_was_refused = true, "The current config.xml was refused");
    SAYS(restarts_wanted = 3, "need a restart: 3.");
    SAYS(oldest_wait = 6, "A request has waited for a thread for 6.0 s");
    world->finding = (struct status_finding){.topic = "keys", .errors = 2, .warnings = 1};
    SAYS(findings = &world->finding;
         world->figures.finding_count = 1,
         "The project has 2 errors and 1 warning in its configuration: see");
    world->finding.errors = 0;
    SAYS(findings = &world->finding;
         world->figures.finding_count = 1, "The project has 1 warning in its configuration: see");
    SAYS(has_pool = true, "being read for the first time");
    SAYS(has_pool = world->figures.pool_is_filled = true;
         world->figures.pool_lag = 40, "New jobs were last read 40 s ago");
    world->totals[STATUS_requests_turned_away] = 12;
    pass(world, 86390);
    SAYS(now = NOW, "because too many waited: 12.");
}

static void every_reason_that_occurred_is_shown_in_words(void **state)
{
    struct world *world = *state;

    for (int i = 0; i < REASON_COUNT; i += 2)
        world->totals[STATUS_REASONS + i] = (uint64_t)i + 1;
    pass(world, 86390);
    assert_page_is_sound(write_page(world));
    for (int i = 0; i < REASON_COUNT; i++) {
        struct buffer words = buffer_on_heap(1000);

        buffer_add_string(&words, "<tr><th scope=\"row\">");
        page_text(&words, text_from(reason_brief((enum reason)i)));
        buffer_print(
            &words,
            "</th><td class=\"left\"><code>%s</code></td><td class=\"left\">%s</td><td>%d</td>",
            reason_word((enum reason)i), reason_scope_word((enum reason)i), i + 1);
        assert_int_equal(text_contains(buffer_text(&world->plain), buffer_text(&words)),
                         i % 2 == 0);
        assert_true(strlen(reason_brief((enum reason)i)) > 10);
        buffer_free(&words);
    }
}

static void every_step_counter_and_error_has_a_row(void **state)
{
    struct world *world = *state;

    assert_page_is_sound(write_page(world));
#define HAS_ROW(name, words) assert_true(has(world, "<th scope=\"row\">" words "</th>"));
    STATUS_TRAFFIC(HAS_ROW)
    STATUS_DATABASE(HAS_ROW)
    for (int i = 0; i < DB_ERROR_COUNT; i++) {
        struct buffer words = buffer_on_heap(1000);

        page_text(&words, text_from(db_error_words[i].words));
        assert_true(text_contains(buffer_text(&world->plain), buffer_text(&words)));
        buffer_free(&words);
    }
    for (int i = 0; i < STATUS_STEPS; i++)
        assert_true(has(
            world, text_string(world->arena, text_print(world->arena, "<th scope=\"row\">%s</th>",
                                                        world->figures.steps[i].word))));
}

static void words_from_elsewhere_are_escaped(void **state)
{
    struct world *world = *state;
    struct text hostile =
        TEXT("<script>alert('1')</script>\"&\xff\x01 \xc3\xa4\xed\xa0\x80\xef\xbf\xbf");
    const struct status_resource resource = {.type = hostile, .apps = 1};

    world->apps[0] = (struct status_app){.name = hostile, .title = hostile, .resources = hostile};
    world->events[0] = (struct status_event){.what = hostile, .words = hostile};
    world->figures.project = hostile;
    world->figures.has_pool = true;
    world->figures.apps = world->apps;
    world->figures.app_count = 1;
    world->figures.resources = &resource;
    world->figures.resource_count = 1;
    world->figures.events = world->events;
    world->figures.event_count = 1;
    assert_page_is_sound(write_page(world));
    assert_true(has(world, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;"));
    assert_false(has(world, "<script>alert"));
}

static void what_was_read_again_is_told(void **state)
{
    struct world *world = *state;

    world->events[0] = (struct status_event){.at = NOW - 60,
                                             .what = TEXT("config.xml"),
                                             .is_refused = true,
                                             .words = TEXT("line 3: threads is \"many\"")};
    world->events[1] = (struct status_event){
        .at = NOW - 90, .what = TEXT("config.xml"), .words = TEXT("threads: 8, was 4\nno_x: 1")};
    world->figures.events = world->events;
    world->figures.event_count = 2;
    assert_page_is_sound(write_page(world));
    assert_true(has(world, "2026-01-01 12:00:40 UTC</th><td class=\"left\">config.xml</td>"
                           "<td class=\"left bad\"><strong>refused</strong></td>"
                           "<td class=\"left\">line 3: threads is &quot;many&quot;</td>"));
    assert_true(has(world, "taken</td><td class=\"left\">threads: 8, was 4<br/>no_x: 1</td>"));
}

/* The figures of a window are those of its slots. */
static void windows_are_added_up(void **state)
{
    struct world *world = *state;

    world->totals[STATUS_jobs_sent] = 1000000;
    pass(world, 300);
    world->totals[STATUS_jobs_sent] += 234;
    pass(world, 86390);
    write_page(world);
    assert_true(has(world, "<th scope=\"row\">jobs handed out</th><td>0.003</td><td>234</td>"
                           "<td>1,000,234</td><td>1,000,234</td>"));
}

/* Processes of the project, with what each has done. */
static void processes_are_shown(void **state)
{
    struct world *world = *state;
    const struct status_process processes[] = {
        {.name = TEXT("a.example:11"),
         .is_this = true,
         .up_for = 7200,
         .silent_for = 3,
         .requests = 1234,
         .jobs_sent = 20,
         .reports = 18,
         .mean = 0.012},
        {.name = TEXT("b<:12"), .is_silent = true, .up_for = 60, .silent_for = 1800, .mean = NAN},
    };

    write_page(world);
    assert_true(has(world, "The project's processes are not known yet"));
    world->figures.processes = processes;
    world->figures.process_count = 2;
    assert_page_is_sound(write_page(world));
    assert_true(has(world, "<tr><th scope=\"row\">a.example:11 (this one)</th><td>2.0 h</td>"
                           "<td>3.0 s ago</td><td>1,234</td><td>20</td><td>18</td>"
                           "<td>12 ms</td></tr>"));
    assert_true(has(world, "<tr><th scope=\"row\">b&lt;:12</th><td>60 s</td><td class=\"bad\">"
                           "<strong>30 min ago, silent</strong></td><td>0</td>"));
    world->figures.process_count = 0;
}

static void uploads_are_shown(void **state)
{
    struct world *world = *state;

    write_page(world);
    assert_true(has(world, "<p>Not known: no upload handler"));
    world->figures.uploads = (struct status_uploads){
        .at = NOW - 20, .began = NOW - 100, .done = 1234, .bytes = 5 << 20, .later = 2};
    assert_page_is_sound(write_page(world));
    assert_true(has(world, "<p>The upload handler last reported 20 s ago; it began 2026-01-01"));
    assert_true(has(world, "<th scope=\"row\">files taken</th><td>1,234</td>"));
    assert_true(has(world, "<th scope=\"row\">written</th><td>5.0 MiB</td>"));
    assert_false(has(world, "<li class=\"bad\"><strong>Problem:</strong> The upload handler"));
    world->figures.uploads.is_stopped = true;
    write_page(world);
    assert_true(has(world, "Problem:</strong> Uploads are refused because"));
    world->figures.uploads.at = NOW - 300;
    write_page(world);
    assert_true(has(world, "Problem:</strong> The upload handler last reported 5.0 min ago"));
    world->figures.uploads = (struct status_uploads){.at = 0};
}

/* Of all processes together, but for what is since the start. */
static void windows_hold_what_others_did(void **state)
{
    struct world *world = *state;
    static uint64_t counts[STATUS_TOTALS];
    const struct slot_share others = {.seconds = 60, .counts = counts, .levels = {NAN}};

    world->totals[STATUS_jobs_sent] = 5;
    pass(world, 86400);
    counts[STATUS_jobs_sent] = 100;
    counts[STATUS_REASONS] = 7;
    slot_ring_set_others(world->hour, NOW / HOUR_SLOT_S * HOUR_SLOT_S - 60, &others);
    slot_ring_set_others(world->day, NOW / DAY_SLOT_S * DAY_SLOT_S, &others);
    write_page(world);
    assert_true(has(world, "<td>105</td><td>105</td><td>5</td></tr>"));
    assert_true(has(world, "<td>7</td><td>7</td><td>0</td><td>100 %</td>"));
}

/* Every slot, every application and every event as long as it can be. */
static void a_page_is_bounded(void **state)
{
    struct world *world = *state;
    static char name[254], words[600];

    memset(name, '"', sizeof(name));
    memset(words, '"', sizeof(words));
    for (size_t i = 0; i < APPS_MOST; i++)
        world->apps[i] = (struct status_app){.name = {name, sizeof(name)},
                                             .title = {name, sizeof(name)},
                                             .resources = TEXT("CPU, NVIDIA, ATI, intel_gpu"),
                                             .jobs = 1000000000 - i};
    for (size_t i = 0; i < 100; i++)
        world->events[i] =
            (struct status_event){.what = TEXT("config.xml"), .words = {words, sizeof(words)}};
    world->figures.has_pool = true;
    world->figures.pool_jobs = 123456789;
    world->figures.apps = world->apps;
    world->figures.app_count = APPS_MOST;
    world->figures.events = world->events;
    world->figures.event_count = 100;
    for (int i = 1; i <= DAY_SLOTS * 5; i++) {
        for (int j = 0; j < STATUS_TOTALS; j++)
            world->totals[j] += (uint64_t)(i * 7919 + j * 104729) % 1000003 * 1000000007;
        pass(world, i * 60.0);
    }
    assert_page_is_sound(write_page(world));
    assert_true(has(world, "900 more applications"));
    printf("1000 applications: %zu bytes\n", world->page.length);
    assert_true(world->page.length < 800000);
}

/* The digests are those of what stands between the tags. */
static void the_policy_lets_the_page_work(void **state)
{
    struct world *world = *state;
    struct buffer policy = buffer_on_heap(2000);
    struct text page = write_page(world);
    static const char *const tags[] = {"style", "script"};

    page_policy(&policy);
    for (size_t i = 0; i < 2; i++) {
        struct text open = text_print(world->arena, "<%s>", tags[i]);
        size_t from = text_find(page, open) + open.length;
        struct text rest = {page.at + from, page.length - from};
        char digest[SHA256_BASE64_SIZE];

        rest.length = text_find(rest, text_print(world->arena, "</%s>", tags[i]));
        assert_true(rest.length > 1000);
        sha256_base64(rest, digest);
        assert_true(text_contains(buffer_text(&policy),
                                  text_print(world->arena, "%s-src 'sha256-%s'", tags[i], digest)));
        assert_false(text_contains(rest, TEXT("http")) || text_contains(rest, TEXT("url(")));
    }
    assert_true(text_starts(buffer_text(&policy), TEXT("default-src 'none'; ")));
    buffer_free(&policy);
}

static void assert_words(void write(struct buffer *page, double number), double number,
                         const char *words)
{
    struct buffer page = buffer_on_heap(100);

    write(&page, number);
    assert_text(buffer_text(&page), words);
    buffer_free(&page);
}

static void figures_can_be_read(void **state)
{
    (void)state;
    assert_words(page_number, 0, "0");
    assert_words(page_number, NAN, "-");
    assert_words(page_number, 0.0004, "0.0004");
    assert_words(page_number, 0.0123, "0.012");
    assert_words(page_number, 9.94, "9.9");
    assert_words(page_number, 9.96, "10");
    assert_words(page_number, 99.4, "99");
    assert_words(page_number, 1234567.4, "1,234,567");
    assert_words(page_duration, 0, "0 s");
    assert_words(page_duration, 0.00034, "340 µs");
    assert_words(page_duration, 0.9994, "999 ms");
    assert_words(page_duration, 0.9996, "1.0 s");
    assert_words(page_duration, 119, "119 s");
    assert_words(page_duration, 150, "2.5 min");
    assert_words(page_duration, 86400, "24 h");
    assert_words(page_duration, 864000, "10 days");
    assert_words(page_duration, -1, "0 s");
    assert_words(page_duration, INFINITY, "-");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_world, remove_world)
    const struct CMUnitTest tests[] = {
        CASE(a_server_that_has_just_begun_has_a_page),
        CASE(all_is_well),
        CASE(what_is_wrong_is_at_the_top),
        CASE(every_reason_that_occurred_is_shown_in_words),
        CASE(every_step_counter_and_error_has_a_row),
        CASE(words_from_elsewhere_are_escaped),
        CASE(what_was_read_again_is_told),
        CASE(windows_are_added_up),
        CASE(windows_hold_what_others_did),
        CASE(processes_are_shown),
        CASE(uploads_are_shown),
        CASE(a_page_is_bounded),
        CASE(the_policy_lets_the_page_work),
        CASE(figures_can_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
