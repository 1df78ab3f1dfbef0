/* SPDX-License-Identifier: Apache-2.0 */
/* What is recorded comes out of the reader as it went in; what is damaged costs itself alone; and
 * put again, a request gets what the options allow. */
#include "server/replay/replay.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/project/catalog.h"
#include "server/recording/recording.h"
#include "server/replay/replay_tally.h"
#include "server/reply/answer.h"
#include "tests/support/test.h"

#include <string.h>

#include "server/base/banned.h"

enum { NOW = 1795000000 };

static struct arena *arena; /* of each case */

static int make_arena(void **state)
{
    (void)state;
    arena = arena_create((size_t)64 << 20);
    return arena == NULL ? -1 : 0;
}

static int destroy_arena(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct record_table *const tables[] = {
    &record_heads,       &record_hosts,      &record_host_versions, &record_version_changes,
    &record_globals,     &record_projects,   &record_in_progress,   &record_jobs,
    &record_unsent_jobs, &record_benchmarks, &record_apps,          &record_platforms,
    &record_versions,    &record_retired,
};

/* A value of its own in each column. */
static void fill(const struct record_table *table, char *row)
{
    for (size_t i = 0; i < table->count; i++) {
        char *field = row + table->columns[i].offset;
        const int64_t integer = (int64_t)i - 3;
        const double real = 0.1 * (double)(i + 1);
        const bool flag = i % 2 == 0;
        const struct text text = i % 2 == 0 ? TEXT("a b%<&>\n\377") : NO_TEXT;

        switch (table->columns[i].type) {
        case COLUMN_INTEGER:
            memcpy(field, &integer, sizeof integer);
            break;
        case COLUMN_REAL:
            memcpy(field, &real, sizeof real);
            break;
        case COLUMN_FLAG:
            memcpy(field, &flag, sizeof flag);
            break;
        case COLUMN_TEXT:
            memcpy(field, &text, sizeof text);
            break;
        }
    }
}

static struct text written(const struct record_table *table, const void *row)
{
    struct buffer text = buffer_in(arena);

    record_row_write(&text, table, row);
    return buffer_text(&text);
}

static void every_row_comes_out_as_it_went_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char *row = arena_alloc(arena, tables[i]->size);
        char *again = arena_alloc(arena, tables[i]->size);
        struct record_line line;
        struct text text, rest;

        fill(tables[i], row);
        rest = text = written(tables[i], row);
        assert_true(record_next_line(&rest, &line));
        assert_int_equal(rest.length, 0);
        assert_true(text_is(line.tag, tables[i]->tag));
        assert_status(STATUS_OK, record_row_read(tables[i], line.content, arena, again, NULL));
        assert_text(written(tables[i], again), text_string(arena, text));
    }
}

static void what_is_no_row_is_refused(void **state)
{
    static const char *const bad[] = {"",      "1",     "1 2 3",   "x 2",    "1  2",
                                      "nan 1", "inf 1", "1e999 1", "0x1p4 1"};
    struct benchmarks row;

    (void)state;
    assert_status(STATUS_OK, record_row_read(&record_benchmarks, TEXT("1 2"), arena, &row, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_status(STATUS_INVALID,
                      record_row_read(&record_benchmarks, text_from(bad[i]), arena, &row, NULL));
}

static void numbers_stay_where_sums_are_numbers(void **state)
{
    struct platform_row row;

    (void)state;
    assert_status(STATUS_OK, record_row_read(&record_platforms, TEXT("9007199254740992 x"), arena,
                                             &row, NULL));
    assert_status(STATUS_INVALID, record_row_read(&record_platforms, TEXT("9007199254740993 x"),
                                                  arena, &row, NULL));
    assert_status(STATUS_INVALID, record_row_read(&record_platforms, TEXT("-9007199254740993 x"),
                                                  arena, &row, NULL));
}

/* --- pieces ----------------------------------------------------------------------------------- */

static void a_damaged_piece_costs_itself_alone(void **state)
{
    struct text lines, rest = TEXT("rubbish\nmore\n<recorded>\na\n</recorded>\n"
                                   "<recorded>\ncut off\n<circumstances>\nb\n</circumstances>\n"
                                   "<recorded>\n</circumstances>\n</recorded>\n<recorded>\nend");

    (void)state;
    assert_int_equal(recorded_next(&rest, &lines), PIECE_DAMAGED);
    assert_int_equal(recorded_next(&rest, &lines), PIECE_REQUEST);
    assert_text(lines, "a\n");
    assert_int_equal(recorded_next(&rest, &lines), PIECE_DAMAGED);
    assert_int_equal(recorded_next(&rest, &lines), PIECE_CIRCUMSTANCES);
    assert_text(lines, "b\n");
    assert_int_equal(recorded_next(&rest, &lines), PIECE_REQUEST);
    assert_int_equal(recorded_next(&rest, &lines), PIECE_DAMAGED);
    assert_int_equal(recorded_next(&rest, &lines), PIECE_END);
}

static void what_nobody_writes_is_too_long(void **state)
{
    struct buffer text = buffer_in(arena);
    struct text rest, lines;

    (void)state;
    buffer_add_string(&text, "<recorded>\n");
    while (text.length <= RECORD_BYTES_MAX + 20)
        buffer_add_string(&text, "<a>1</a>\n");
    buffer_add_string(&text, "</recorded>\n<recorded>\n</recorded>\n");
    rest = buffer_text(&text);
    assert_int_equal(recorded_next(&rest, &lines), PIECE_DAMAGED);
    assert_int_equal(recorded_next(&rest, &lines), PIECE_REQUEST);
}

/* --- circumstances ---------------------------------------------------------------------------- */

/* An app with versions for the CPU and for NVIDIA. */
static struct catalog *make_catalog(void)
{
    static struct app_row app = {.id = 1, .name = {.at = "app", .length = 3}, .weight = 1};
    static struct platform_row platform = {.id = 5,
                                           .name = {.at = "x86_64-pc-linux-gnu", .length = 19}};
    static struct app_version_row versions[] = {
        {.id = 11, .appid = 1, .version_num = 100, .platformid = 5},
        {.id = 12,
         .appid = 1,
         .version_num = 100,
         .platformid = 5,
         .plan_class = {.at = "sse2", .length = 4}},
    };
    struct catalog *catalog = NULL;

    assert_status(STATUS_OK, catalog_begin(&catalog));
    catalog->rows = (struct catalog_rows){.apps = &app,
                                          .app_count = 1,
                                          .versions = versions,
                                          .version_count = 2,
                                          .platforms = &platform,
                                          .platform_count = 1};
    assert_status(STATUS_OK, catalog_finish(catalog));
    return catalog;
}

static const char spec[] = "<plan_classes><plan_class><name>sse2</name>"
                           "<cpu_feature>sse2</cpu_feature></plan_class></plan_classes>";

/* What stands between the first and the last line. */
static struct text circumstances_of(const struct config *config, bool has_spec)
{
    struct plan_classes classes = plan_classes_builtin();
    struct catalog *catalog = make_catalog();
    struct buffer text = buffer_in(arena);
    struct text rest, lines;

    if (has_spec)
        assert_status(STATUS_OK, plan_classes_parse(text_from(spec), &classes, NULL));
    (void)circumstances_write(config, &classes, catalog, &text);
    catalog_release(catalog);
    plan_classes_free(&classes);
    rest = buffer_text(&text);
    assert_int_equal(recorded_next(&rest, &lines), PIECE_CIRCUMSTANCES);
    assert_int_equal(rest.length, 0);
    return lines;
}

static struct config *options(const char *name, const char *value)
{
    struct config *config = NULL;

    assert_status(STATUS_OK, config_defaults(&config));
    if (name != NULL)
        assert_status(STATUS_OK, config_set(config, text_from(name), text_from(value), NULL));
    return config;
}

static void circumstances_come_out_as_they_went_in(void **state)
{
    struct config *config = options("max_wus_in_progress", "7");
    struct circumstances read;
    struct text lines;

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("ban_os"), TEXT("Lin<&>\\.ux"), NULL));
    lines = circumstances_of(config, true);
    assert_status(STATUS_OK, circumstances_read(lines, arena, &read, NULL));
    assert_int_equal(read.config->max_wus_in_progress, 7);
    assert_text(read.config->ban_os.texts.items[0], "Lin<&>\\.ux");
    assert_int_equal(read.catalog->rows.version_count, 2);
    assert_non_null(catalog_app_by_name(read.catalog, TEXT("app")));
    assert_int_equal(read.plan_classes.count, 1);
    assert_false(read.plan_classes.is_builtin);
    assert_text(circumstances_of(read.config, true), text_string(arena, lines));
    circumstances_free(&read);
    config_release(config);
}

static void any_damage_to_circumstances_is_seen(void **state)
{
    struct config *config = options(NULL, NULL);
    struct text lines = circumstances_of(config, false);
    char *damaged = arena_alloc(arena, lines.length);

    (void)state;
    for (size_t i = 0; i < lines.length; i += 37) {
        struct circumstances read;

        memcpy(damaged, lines.at, lines.length);
        damaged[i] = damaged[i] == '1' ? '2' : '1';
        assert_status(STATUS_INVALID,
                      circumstances_read((struct text){.at = damaged, .length = lines.length},
                                         arena, &read, NULL));
    }
    config_release(config);
}

/* --- requests --------------------------------------------------------------------------------- */

static const char request_text[] =
    "<scheduler_request>\n<authenticator>x0123456789abcdef</authenticator>\n"
    "<core_client_major_version>8</core_client_major_version>\n"
    "<core_client_minor_version>0</core_client_minor_version>\n"
    "<core_client_release>2</core_client_release>\n"
    "<platform_name>x86_64-pc-linux-gnu</platform_name>\n"
    "<client_cap_plan_class>1</client_cap_plan_class>\n"
    "<work_req_seconds>100000</work_req_seconds>\n<cpu_req_secs>100000</cpu_req_secs>\n"
    "<cpu_req_instances>4</cpu_req_instances>\n"
    "<host_info>\n<p_ncpus>4</p_ncpus>\n<p_fpops>1e9</p_fpops>\n<m_nbytes>4e9</m_nbytes>\n"
    "<d_total>1e12</d_total>\n<d_free>1e12</d_free>\n<os_name>Linux</os_name>\n"
    "<p_vendor>GenuineIntel</p_vendor>\n<p_model>any</p_model>\n</host_info>\n"
    "<other_results>\n</other_results>\n</scheduler_request>\n";

/* A record of a host that asks for 100,000 s, with six small jobs of 10,000 s and four that need
 * 3 GB there. */
static struct text record_text(void)
{
    const struct record_head head = {
        .now = NOW, .seed_low = 7, .reads_in_progress = true, .has_supply = true};
    const struct host_row host = {.rpc_time = NOW - 1000,
                                  .on_frac = 1,
                                  .connected_frac = 1,
                                  .active_frac = 1,
                                  .duration_correction_factor = 1};
    const struct global_preferences prefs = {.ram_max_used_busy_fraction = 0.9,
                                             .ram_max_used_idle_fraction = 0.9};
    const struct project_preferences project = {.resource_share = 100};
    struct record_unsent unsent = {.order = 1,
                                   .jobs = 6,
                                   .workunits = 6,
                                   .workunit = {.appid = 1,
                                                .rsc_fpops_est = 1e13,
                                                .rsc_fpops_bound = 1e15,
                                                .rsc_memory_bound = 1e6,
                                                .rsc_disk_bound = 1e6,
                                                .delay_bound = 864000,
                                                .target_nresults = 1}};
    struct buffer text = buffer_in(arena);

    buffer_add_string(&text, "<format>3</format>\n<under>0123456789abcdef</under>\n"
                             "<host>x1</host>\n<user>x2</user>\n");
    record_row_write(&text, &record_heads, &head);
    record_row_write(&text, &record_hosts, &host);
    record_row_write(&text, &record_globals, &prefs);
    record_row_write(&text, &record_projects, &project);
    record_row_write(&text, &record_unsent_jobs, &unsent);
    unsent.order = 2;
    unsent.jobs = unsent.workunits = 4;
    unsent.workunit.rsc_memory_bound = 3e9;
    record_row_write(&text, &record_unsent_jobs, &unsent);
    buffer_add_string(&text, request_text);
    return buffer_text(&text);
}

static struct replay_outcome put(struct text record_lines, const char *option, const char *value)
{
    struct config *config = options(option, value);
    const struct plan_classes classes = plan_classes_builtin();
    struct catalog *catalog = make_catalog();
    const struct replay_world world = {
        .config = config, .plan_classes = &classes, .catalog = catalog};
    struct recorded_request record;
    struct replay_outcome outcome;
    bool asks = false;

    assert_status(STATUS_OK, recorded_request_read(record_lines, arena, &record, NULL));
    assert_status(STATUS_OK, replay_request(&record, &world, arena, &outcome, &asks, NULL));
    assert_true(asks);
    catalog_release(catalog);
    config_release(config);
    return outcome;
}

static void a_request_gets_what_was_there_and_options_allow(void **state)
{
    struct replay_outcome all = put(record_text(), NULL, NULL);
    struct replay_outcome again = put(record_text(), NULL, NULL);
    struct replay_outcome few = put(record_text(), "max_wus_in_progress", "1");
    struct replay_outcome none = put(record_text(), "dont_send_jobs", "1");
    struct replay_outcome late = put(record_text(), "min_sendwork_interval", "5000");

    (void)state;
    assert_int_equal(all.job_count, 10);
    assert_int_equal(all.jobs[REPLAY_CPU], 10);
    assert_true(replay_outcome_equal(&all, &again));
    assert_int_equal(few.job_count, 4); /* one for each CPU */
    assert_int_equal(none.job_count, 0);
    assert_string_equal("dont_send_jobs", none.why);
    assert_string_equal("too_recent", late.why);
    assert_false(replay_outcome_equal(&all, &few));
}

static void every_line_may_be_lost_or_wrong(void **state)
{
    struct text text = record_text(), rest = text;

    (void)state;
    while (rest.length > 0) {
        size_t begin = text.length - rest.length;
        struct text line = text_split(&rest, '\n');
        struct buffer without = buffer_in(arena), wrong = buffer_in(arena);
        struct recorded_request record;
        struct failure failure = {0};

        if (text_is(line, "<scheduler_request>"))
            return;
        buffer_add(&without, (struct text){.at = text.at, .length = begin});
        buffer_add(&without, rest);
        (void)!recorded_request_read(buffer_text(&without), arena, &record, &failure);
        buffer_add(&wrong, (struct text){.at = text.at, .length = begin + line.length / 2});
        buffer_add_string(&wrong, "?\n");
        buffer_add(&wrong, rest);
        (void)!recorded_request_read(buffer_text(&wrong), arena, &record, &failure);
    }
    fail_msg("no request in the record");
}

static void jobs_that_cannot_be_are_refused(void **state)
{
    struct buffer text = buffer_in(arena);
    struct record_unsent unsent = {.order = 1, .jobs = 2, .workunits = 3};
    struct recorded_request record;

    (void)state;
    record_row_write(&text, &record_unsent_jobs, &unsent);
    buffer_add(&text, record_text());
    assert_status(STATUS_INVALID, recorded_request_read(buffer_text(&text), arena, &record, NULL));
}

/* --- the tally -------------------------------------------------------------------------------- */

static struct replay_outcome got(int64_t cpu, int64_t nvidia, const char *why)
{
    struct replay_outcome outcome = {.jobs = {[REPLAY_CPU] = cpu, [REPLAY_NVIDIA] = nvidia},
                                     .job_count = cpu + nvidia,
                                     .versions = (uint64_t)(cpu * 3 + nvidia * 1000)};

    (void)snprintf(outcome.why, sizeof outcome.why, "%s", why);
    return outcome;
}

static void add(struct replay_tally *tally, const char *host, struct replay_outcome recorded,
                struct replay_outcome control, struct replay_outcome changed)
{
    const struct replay_comparison comparison = {.host = text_from(host),
                                                 .asks = true,
                                                 .recorded = recorded,
                                                 .control = control,
                                                 .changed = changed};

    assert_status(STATUS_OK, replay_tally_add(tally, &comparison));
}

static void differences_are_counted_by_kind_and_host(void **state)
{
    struct replay_tally *tally = replay_tally_create();
    const struct replay_outcome one = got(1, 0, ""), none = got(0, 0, "memory");
    const struct replay_figures *figures;

    (void)state;
    add(tally, "a", one, one, got(1, 2, "")); /* more for its GPU, twice */
    add(tally, "a", one, one, got(1, 1, ""));
    add(tally, "b", one, one, none);  /* none any more */
    add(tally, "c", none, none, one); /* served */
    add(tally, "c", none, none, got(0, 0, "disk"));
    add(tally, "d", one, none, one); /* the control is not as recorded */
    add(tally, "e", one, one, one);
    figures = replay_tally_figures(tally);
    assert_int_equal(figures->requests, 7);
    assert_int_equal(figures->hosts, 5);
    assert_int_equal(figures->as_recorded, 6);
    assert_int_equal(figures->fewer_than_recorded, 1);
    assert_int_equal(figures->same, 1);
    assert_int_equal(figures->changes[REPLAY_NVIDIA].requests_more, 2);
    assert_int_equal(figures->changes[REPLAY_NVIDIA].jobs_more, 3);
    assert_int_equal(figures->changes[REPLAY_NVIDIA].hosts_more, 1);
    assert_int_equal(figures->changes[REPLAY_CPU].hosts_more, 1);
    assert_int_equal(figures->changes[REPLAY_CPU].hosts_fewer, 1);
    assert_int_equal(figures->changes[REPLAY_CPU].hosts_none, 1);
    assert_int_equal(figures->shift_count, 3);
    replay_tally_destroy(tally);
}

static void every_reason_makes_a_difference(void **state)
{
    const struct replay_outcome none = got(0, 0, "memory");

    (void)state;
    for (int reason = 0; reason < REASON_COUNT; reason++) {
        struct replay_outcome other = none;

        other.is_said[reason] = true;
        assert_false(replay_outcome_equal(&none, &other));
    }
}

static void many_hosts_and_shifts_are_bounded(void **state)
{
    struct replay_tally *tally = replay_tally_create();
    const struct replay_figures *figures;
    char host[32], why[32];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(host, sizeof host, "x%d", i);
        (void)snprintf(why, sizeof why, "reason%d", i);
        add(tally, host, got(1, 0, ""), got(1, 0, ""), got(0, 0, why));
    }
    figures = replay_tally_figures(tally);
    assert_int_equal(figures->hosts, 5000);
    assert_int_equal(figures->shift_count, REPLAY_SHIFTS_MAX);
    assert_int_equal(figures->other_shifts, 5000 - REPLAY_SHIFTS_MAX);
    replay_tally_destroy(tally);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_arena, destroy_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_row_comes_out_as_it_went_in),
        CASE(what_is_no_row_is_refused),
        CASE(numbers_stay_where_sums_are_numbers),
        CASE(a_damaged_piece_costs_itself_alone),
        CASE(what_nobody_writes_is_too_long),
        CASE(circumstances_come_out_as_they_went_in),
        CASE(any_damage_to_circumstances_is_seen),
        CASE(a_request_gets_what_was_there_and_options_allow),
        CASE(every_line_may_be_lost_or_wrong),
        CASE(jobs_that_cannot_be_are_refused),
        CASE(differences_are_counted_by_kind_and_host),
        CASE(every_reason_makes_a_difference),
        CASE(many_hosts_and_shifts_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
