/* SPDX-License-Identifier: Apache-2.0 */
/* Figures that outlive a process: what one server counts for all, and what each has counted itself.
 */
#include "db/figure_rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/process/project_count.h"
#include "server/process/project_keeper.h"
#include "server/process/status_keeper.h"
#include "server/project/catalog.h"
#include "tests/support/database.h"
#include "tests/support/page_look.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { NOW = 1795000000, HOUR = 3600, DAY = 86400 };

static struct test_fixture *fixture;
static struct catalog *catalog;
static struct project_hour week[WEEK_SLOTS];

static int open_world(void **state)
{
    int failed = test_fixture_open(state);

    fixture = *state;
    return failed;
}

static int begin(void **state)
{
    (void)state;
    test_fixture_clear(fixture);
    test_sql(
        fixture->database,
        "INSERT INTO qm_duty (name, due) VALUES ('project figures', 0);"
        "INSERT INTO app SET id = 1, name = 'one', user_friendly_name = 'One';"
        "INSERT INTO app SET id = 2, name = 'two', user_friendly_name = 'Two', deprecated = 1");
    assert_status(STATUS_OK, catalog_load(fixture->db, &catalog));
    (void)db_rollback(fixture->db);
    return 0;
}

static int end(void **state)
{
    (void)state;
    catalog_release(catalog);
    return 0;
}

static bool count(int64_t now, int64_t interval)
{
    bool done = false;

    assert_status(STATUS_OK,
                  duty_project_figures(fixture->db, test_database_config(fixture->database),
                                       catalog, now, interval, &done));
    return done;
}

/* As another server knows it. */
static const struct project_totals *known(int64_t now)
{
    struct project_keeper *keeper = project_keeper_create();
    struct project_figures figures = {.now = now};

    assert_status(STATUS_OK, project_keeper_read(keeper, fixture->other, now));
    (void)db_rollback(fixture->other);
    assert_true(project_keeper_figures(keeper, fixture->arena, now, week, &figures));
    project_keeper_destroy(keeper);
    return figures.totals;
}

/* A row or more in each state, in different numbers. */
static void add_one_in_each_state(void)
{
    test_sql(
        fixture->database,
        "INSERT INTO result (id, workunitid, appid, name, server_state) SELECT seq, seq, 1, seq, 2"
        " FROM seq_1_to_3;"
        "INSERT INTO result (id, workunitid, appid, name, server_state) SELECT seq, seq, 2, seq, 2"
        " FROM seq_4_to_5;"
        "INSERT INTO result (id, workunitid, appid, name, server_state) SELECT seq, seq, 1, seq, 4"
        " FROM seq_6_to_9;"
        "INSERT INTO result (id, workunitid, appid, name, server_state, file_delete_state)"
        " SELECT seq, seq, 1, seq, 5, 1 FROM seq_10_to_15;"
        /* Valid ones of 0.5, 1 and 2.001 h by two volunteers; an old one; one that is not valid. */
        "UPDATE result SET validate_state = 1, received_time = %d, userid = id %% 2,"
        " elapsed_time = ELT(id - 9, 1800, 3600, 7203.6) WHERE id IN (10, 11, 12);"
        "UPDATE result SET validate_state = 1, received_time = %d, userid = 9, elapsed_time = 1e6"
        " WHERE id = 13;"
        "UPDATE result SET validate_state = 2, received_time = %d, userid = 9, elapsed_time = 1e6"
        " WHERE id = 14;",
        NOW - HOUR, NOW - 2 * DAY, NOW - HOUR);
    test_sql(
        fixture->database,
        "INSERT INTO workunit (id, appid, name, need_validate, transition_time) SELECT seq, 1,"
        " seq, 1, 2147483647 FROM seq_1_to_7;"
        "INSERT INTO workunit (id, appid, name, assimilate_state, transition_time) SELECT seq,"
        " 2, seq, 1, 2147483647 FROM seq_8_to_15;"
        "INSERT INTO workunit (id, appid, name, file_delete_state, transition_time) SELECT seq,"
        " 1, seq, 1, 2147483647 FROM seq_16_to_24;"
        "INSERT INTO workunit (id, appid, name, file_delete_state, transition_time) SELECT seq,"
        " 1, seq, 2, 2147483647 FROM seq_25_to_34;"
        "INSERT INTO batch (id, state) VALUES (1, 2), (2, 4);"
        "INSERT INTO qm_batch_outputs (batch, fraction_done, nerror_jobs, place, counting, bytes)"
        " VALUES (1, 1, 0, 0, 5000, 5000), (2, 1, 0, 0, 300, 300);"
        "UPDATE workunit SET transition_time = %d WHERE id = 20",
        NOW - 5400);
    test_sql(fixture->database,
             "INSERT INTO user (id, create_time, email_addr, authenticator, name, total_credit,"
             " expavg_credit) SELECT seq, IF(seq > 7, %d, %d), seq, seq, seq, seq - 1,"
             " IF(seq > 5, 100, 0.5) FROM seq_1_to_9;"
             "INSERT INTO host (id, create_time, total_credit, expavg_credit) SELECT seq,"
             " IF(seq > 8, %d, %d), seq - 1, IF(seq > 10, 100, 0.5) FROM seq_1_to_11",
             NOW - HOUR, NOW - 2 * DAY, NOW - HOUR, NOW - 2 * DAY);
}

static void each_state_is_counted(void **state)
{
    const struct project_totals *totals;

    (void)state;
    add_one_in_each_state();
    assert_true(count(NOW, 600));
    totals = known(NOW + 60);
#define IS(total, number) assert_real(totals->values[TOTAL_##total], number, 1e-9)
    IS(results_ready_to_send, 5);
    IS(results_in_progress, 4);
    IS(workunits_waiting_for_validation, 7);
    IS(workunits_waiting_for_assimilation, 8);
    IS(workunits_waiting_for_deletion, 9);
    IS(results_waiting_for_deletion, 6);
    IS(workunits_waiting_for_purge, 10);
    IS(batch_outputs_bytes, 5000);
    IS(transitioner_backlog_hours, 1.5);
    IS(users_with_recent_credit, 4);
    IS(users_with_credit, 7);
    IS(users_registered_in_past_24_hours, 2);
    IS(hosts_with_recent_credit, 1);
    IS(hosts_with_credit, 9);
    IS(hosts_registered_in_past_24_hours, 3);
    IS(current_floating_point_speed, (4 * 100 + 5 * 0.5) / 200);
    assert_i64(totals->at, NOW);
    assert_i64((int64_t)totals->app_count, 1); /* the other one is no longer in use */
    assert_i64(totals->apps[0].unsent, 3);
    assert_i64(totals->apps[0].in_progress, 4);
    assert_real(totals->apps[0].avg_runtime, 1.17, 1e-9);
    assert_real(totals->apps[0].min_runtime, 0.5, 1e-9);
    assert_real(totals->apps[0].max_runtime, 2.01, 1e-9);
    assert_i64(totals->apps[0].users, 2);
}

static void an_empty_project_is_counted_too(void **state)
{
    const struct project_totals *totals;

    (void)state;
    assert_i64(known(NOW)->at, 0);
    assert_true(count(NOW, 600));
    totals = known(NOW);
    assert_i64(totals->at, NOW);
    for (int i = 0; i < TOTAL_COUNT; i++)
        assert_real(totals->values[i], 0, 0);
    assert_i64((int64_t)totals->batch_count, 0);
}

static void it_is_counted_once_an_interval_by_one_server(void **state)
{
    (void)state;
    assert_true(count(NOW, 600));
    assert_false(count(NOW + 300, 600));
    assert_i64(known(NOW + 300)->at, NOW);
    test_sql(fixture->database, "UPDATE qm_duty SET due = UNIX_TIMESTAMP() - 1");
    assert_true(count(NOW + 600, 600));
    assert_i64(known(NOW + 600)->at, NOW + 600);
    /* A count that fails leaves what there was, and keeps nobody from taking the next turn. */
    for (uint64_t nth = 3; nth < 9; nth += 2) {
        bool done, is_free = false;

        test_sql(fixture->database, "UPDATE qm_duty SET due = 0");
        db_fail_nth(fixture->db, nth, STATUS_DB_RETRY);
        assert_int_not_equal(
            STATUS_OK, duty_project_figures(fixture->db, test_database_config(fixture->database),
                                            catalog, NOW + 700, 600, &done));
        assert_false(done);
        test_sql(fixture->database, "UPDATE qm_duty SET due = 0");
        assert_status(STATUS_OK,
                      db_duty_take(fixture->other, TEXT("project figures"), 600, &is_free));
        assert_true(is_free);
        (void)db_rollback(fixture->other);
    }
    db_fail_nth(fixture->db, 0, STATUS_OK);
    assert_i64(known(NOW + 700)->at, NOW + 600);
    assert_true(count(NOW + 700, 600));
}

/* Each hour keeps its last count, for a week. */
static void hours_are_remembered_for_a_week(void **state)
{
    struct project_keeper *keeper = project_keeper_create();
    struct project_figures figures = {.now = NOW};
    const int64_t hour = NOW / HOUR * HOUR;

    (void)state;
    for (int64_t i = -200; i <= 0; i++) {
        test_sql(fixture->database,
                 "UPDATE qm_duty SET due = 0; INSERT INTO result (id, workunitid, appid, name,"
                 " server_state) VALUES (%lld, 1, 1, %lld, 2)",
                 (long long)i + 1000, (long long)i + 1000);
        assert_true(count(hour + i * HOUR, 600));
    }
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(*) FROM qm_figures WHERE kind = 'project'"),
               193);
    assert_status(STATUS_OK, project_keeper_read(keeper, fixture->db, hour));
    test_sql(fixture->database, "UPDATE qm_duty SET due = 0; DELETE FROM result");
    assert_true(count(hour + 60, 600));
    assert_status(STATUS_OK, project_keeper_read(keeper, fixture->db, hour + 60));
    assert_true(project_keeper_figures(keeper, fixture->arena, hour + 60, week, &figures));
    assert_i64(figures.week_begin, hour - 167 * HOUR);
    for (int i = 0; i < WEEK_SLOTS; i++) {
        assert_true(week[i].has_totals);
        assert_real(week[i].totals[TOTAL_results_ready_to_send], i == 167 ? 0 : i + 34, 0);
    }
    /* A day without a server is blank. */
    assert_true(project_keeper_figures(keeper, fixture->arena, hour + DAY, week, &figures));
    assert_false(week[WEEK_SLOTS - 1].has_totals);
    assert_true(week[WEEK_SLOTS - 25].has_totals);
    project_keeper_destroy(keeper);
}

static void batches_are_looked_at_whole_or_in_parts(void **state)
{
    const struct project_totals *totals;

    (void)state;
    test_sql(
        fixture->database,
        "INSERT INTO workunit (id, appid, name, batch, canonical_resultid, error_mask,"
        " create_time) SELECT seq, 1, seq, 5, seq <= 5000, 0, 7 FROM seq_1_to_20000;"
        "INSERT INTO workunit (id, appid, name, batch, canonical_resultid, error_mask)"
        " SELECT seq, 1, seq, 6, seq %% 10 = 0, ELT(1 + seq %% 10, 0, 1, 16, 16, 0, 0, 0, 0, 0,"
        " 0) FROM seq_20001_to_20100;"
        "INSERT INTO batch (id, name) VALUES (6, 'a\nname');"
        "INSERT INTO qm_batch_date (batch, half, most, ahead, made_at) VALUES (6, 77, 99, 0, 0)");
    assert_true(count(NOW, 600));
    totals = known(NOW);
    assert_i64((int64_t)totals->batch_count, 2);
    assert_i64(totals->batches[0].id, 6);
    assert_text(totals->batches[0].name, "a name");
    assert_true(totals->batches[0].half == 77 && totals->batches[0].most == 99);
    assert_i64(totals->batches[0].jobs, 100);
    assert_i64(totals->batches[0].looked_at, 100);
    assert_i64(totals->batches[0].done, 10);
    assert_i64(totals->batches[0].failed, 10);
    assert_i64(totals->batches[0].cancelled, 20);
    assert_i64(totals->batches[1].id, 5);
    assert_i64(totals->batches[1].appid, 1);
    assert_i64(totals->batches[1].created, 7);
    assert_i64(totals->batches[1].jobs, 20000);
    assert_i64(totals->batches[1].looked_at, 10000);
    assert_in_range(totals->batches[1].done, 2490, 2510);
    /* A project of former years: all jobs would be read, so nothing is. */
    test_sql(fixture->database, "UPDATE qm_duty SET due = 0; DROP INDEX wu_batch ON workunit");
    assert_true(count(NOW, 600));
    assert_i64((int64_t)known(NOW)->batch_count, 0);
    test_sql(fixture->database, "CREATE INDEX wu_batch ON workunit (batch)");
    /* No more than the newest. */
    test_sql(fixture->database,
             "UPDATE qm_duty SET due = 0; INSERT INTO workunit (id, appid, name, batch) SELECT seq,"
             " 1, seq, seq FROM seq_30001_to_30100");
    assert_true(count(NOW, 600));
    totals = known(NOW);
    assert_i64((int64_t)totals->batch_count, PROJECT_BATCHES_MOST);
    assert_i64(totals->batches[0].id, 30100);
}

/* Jobs 2, 4 and 5 have a result more than they lack. */
static void copies_of_a_batch_in_a_hurry_are_counted(void **state)
{
    struct config *config = test_database_config(fixture->database);
    const struct project_totals *totals;

    (void)state;
    test_sql(fixture->database,
             "INSERT INTO workunit (id, appid, name, batch, min_quorum, canonical_resultid,"
             " error_mask) SELECT seq, 1, seq, 6, IF(seq IN (3, 5), 2, 1), seq = 6, seq = 7"
             " FROM seq_1_to_7;"
             "INSERT INTO result (name, workunitid, server_state, outcome, validate_state) VALUES"
             " ('1', 1, 4, 0, 0), ('2', 2, 2, 0, 0), ('3', 2, 4, 0, 0), ('4', 3, 4, 0, 0),"
             " ('5', 3, 4, 0, 0), ('6', 4, 4, 0, 0), ('7', 4, 4, 0, 0), ('8', 4, 5, 1, 2),"
             " ('9', 5, 4, 0, 0), ('10', 5, 4, 0, 0), ('11', 5, 5, 1, 0), ('12', 6, 4, 0, 0),"
             " ('13', 7, 4, 0, 0), ('14', 7, 4, 0, 0);"
             "INSERT INTO qm_hurry (batch, wanted, within) VALUES (6, 1, 7200)");
    assert_true(count(NOW, 600));
    totals = known(NOW);
    assert_false(totals->batches[0].hurry); /* what it needs is not configured */
    assert_i64(totals->batches[0].copies, 0);
    assert_status(STATUS_OK, config_set(config, TEXT("send_result_abort"), TEXT("1"), NULL));
    assert_status(STATUS_OK,
                  config_set(config, TEXT("one_result_per_host_per_wu"), TEXT("1"), NULL));
    test_sql(fixture->database, "UPDATE qm_duty SET due = 0");
    assert_true(count(NOW, 600));
    totals = known(NOW);
    assert_true(totals->batches[0].hurry);
    assert_i64(totals->batches[0].copies, 3);
    assert_i64(totals->batches[0].within, 7200);
}

/* --- what each process counts ----------------------------------------------------------------- */

static const double levels[SLOT_LEVELS] = {NAN};

/* The cells of a row of the page. */
static void assert_row(struct status_keeper *keeper, const char *row, bool is_there)
{
    struct day_world {
        struct status_figures figures;
        struct buffer page, plain;
    } *world = arena_alloc(fixture->arena, sizeof(*world));

    memset(world, 0, sizeof(*world));
    world->page = buffer_on_heap(STATUS_BYTES_MAX);
    world->plain = buffer_on_heap(STATUS_BYTES_MAX);
    world->figures = (struct status_figures){
        .project = TEXT("Test"), .version = "1", .now = (int64_t)time(NULL), .pool_lag = NAN};
    for (int i = 0; i < STATUS_STEPS; i++)
        world->figures.steps[i] = (struct status_step){.word = "x", .brief = "x"};
    status_keeper_write(keeper, &world->figures, &world->page);
    page_without_labels(buffer_text(&world->page), &world->plain);
    if (text_contains(buffer_text(&world->plain), text_from(row)) != is_there)
        fail_msg("%s: \"%s\"", is_there ? "not there" : "there", row);
    buffer_free(&world->page);
    buffer_free(&world->plain);
}

static void turn(struct status_keeper *keeper)
{
    status_keeper_add(keeper, levels);
    assert_status(STATUS_OK, status_keeper_save(keeper, fixture->db));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_status(STATUS_OK, status_keeper_load(keeper, fixture->db));
    (void)db_rollback(fixture->db);
}

/* The counters of this test are those of both; each takes what they rose by between its turns. */
static void processes_know_each_other_and_outlive_each_other(void **state)
{
    struct status_keeper *one, *other, *again;

    (void)state;
    one = status_keeper_create(101);
    counter_add(COUNTER_jobs_sent, 7000);
    status_keeper_add(one, levels); /* what this process did before goes to it as well */
    turn(one);
    test_sql(
        fixture->database,
        "INSERT INTO qm_server (id, name, started, beat) VALUES (101, 'a:1', UNIX_TIMESTAMP() - 90,"
        " UNIX_TIMESTAMP()), (102, 'b:2', UNIX_TIMESTAMP() - 50,"
        " UNIX_TIMESTAMP() - 30)");
    test_sql(fixture->database,
             "INSERT INTO qm_figures SELECT kind, begin, 102, 'seconds 40\njobs_sent 5\nrequests 3'"
             " FROM qm_figures WHERE process = 101");
    turn(one);
    assert_row(one, "<td>7,005</td><td>7,005</td><td>7,000</td>", true);
    assert_row(one, "a:1 (this one)</th><td>90 s</td>", true);
    assert_row(one,
               "b:2</th><td>50 s</td><td class=\"bad\"><strong>30 s ago, silent</strong></td>"
               "<td>3</td><td>5</td>",
               true);
    /* The same process, started again: nothing of its own, and the day is as it was. */
    status_keeper_destroy(one);
    again = status_keeper_create(103);
    assert_status(STATUS_OK, status_keeper_load(again, fixture->db));
    assert_row(again, "<td>7,005</td><td>7,005</td><td>7,000</td>", true);
    /* Its rows are its own: what it writes is not added to what it reads. */
    other = status_keeper_create(102);
    status_keeper_add(other, levels);
    assert_status(STATUS_OK, status_keeper_load(other, fixture->db));
    assert_row(other, "<td>14,000</td><td>14,000</td><td>7,000</td>", true);
    status_keeper_destroy(other);
    status_keeper_destroy(again);
}

static void rows_are_kept_as_long_as_pages_show_them(void **state)
{
    (void)state;
    test_sql(fixture->database,
             "INSERT INTO qm_figures SELECT 'minute', seq * 60, 1, '' FROM seq_%d_to_%d;"
             "INSERT INTO qm_figures SELECT 'slot', seq * 300, 1, '' FROM seq_%d_to_%d;"
             "INSERT INTO qm_figures VALUES ('stuck', 0, 0, '')",
             NOW / 60 - 200, NOW / 60, NOW / 300 - 600, NOW / 300);
    assert_status(STATUS_OK, db_figures_prune(fixture->db, NOW));
    assert_status(STATUS_OK, db_commit(fixture->db));
#define LEFT(kind) \
    test_sql_integer(fixture->database, "SELECT COUNT(*) FROM qm_figures WHERE kind = '" kind "'")
    assert_i64(LEFT("minute"), 70);
    assert_i64(LEFT("slot"), 300);
    assert_i64(LEFT("stuck"), 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(each_state_is_counted),
        CASE(an_empty_project_is_counted_too),
        CASE(it_is_counted_once_an_interval_by_one_server),
        CASE(hours_are_remembered_for_a_week),
        CASE(batches_are_looked_at_whole_or_in_parts),
        CASE(copies_of_a_batch_in_a_hurry_are_counted),
        CASE(processes_know_each_other_and_outlive_each_other),
        CASE(rows_are_kept_as_long_as_pages_show_them),
    };

    return cmocka_run_group_tests(tests, open_world, test_fixture_close);
}
