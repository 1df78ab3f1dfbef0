/* SPDX-License-Identifier: Apache-2.0 */
/* What one of the servers does for all: written once an interval, by whoever comes first, and never
 * over what the validator has written meanwhile. */
#include "server/process/duties.h"

#include "server/base/arena.h"
#include "server/project/catalog.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <math.h>

static struct test_database *database;
static struct db *db;
static struct catalog *catalog;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    test_sql(database,
             "SET SESSION sql_mode = '';"
             "INSERT INTO app SET id = 1, name = 'one', min_avg_pfc = 1;"
             "INSERT INTO app SET id = 2, name = 'two', min_avg_pfc = 1;"
             "INSERT INTO app SET id = 3, name = 'three', min_avg_pfc = 1, min_version = 100;"
             "INSERT INTO app SET id = 4, name = 'four', min_avg_pfc = 1, deprecated = 1;"
             "INSERT INTO app_version (id, appid, version_num, platformid, plan_class, pfc_n,"
             " pfc_avg, deprecated) VALUES"
             " (10, 1, 90, 1, '', 5000, 1, 0), (11, 1, 100, 1, '', 200, 4, 0),"
             " (12, 1, 100, 1, 'cuda', 300, 20, 0), (13, 1, 100, 2, '', 50, 9, 0),"
             " (20, 2, 100, 1, '', 500, 3, 0),"
             " (30, 3, 99, 1, '', 200, 9, 0), (31, 3, 100, 1, '', 200, 2, 0),"
             " (32, 3, 101, 1, '', 200, 6, 0), (33, 3, 102, 1, '', 200, 1, 1),"
             " (40, 4, 1, 1, '', 200, 2, 0), (41, 4, 1, 2, '', 200, 6, 0);"
             "UPDATE app_version SET xml_doc = '<app_version></app_version>'");
    db = test_database_open(database);
    assert_status(STATUS_OK, catalog_load(db, &catalog));
    (void)db_rollback(db);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    catalog_release(catalog);
    db_close(db);
    test_database_destroy(database);
    return 0;
}

static void assert_scale(int version, double expected)
{
    double scale =
        test_sql_real(database, "SELECT pfc_scale FROM app_version WHERE id = %d", version);

    if (!(fabs(scale - expected) < 1e-9))
        fail_msg("version %d: scale %g instead of %g", version, scale, expected);
}

static double min_avg_pfc(int app)
{
    return test_sql_real(database, "SELECT min_avg_pfc FROM app WHERE id = %d", app);
}

static bool duty(int64_t interval)
{
    bool done = false;

    assert_status(STATUS_OK, duty_credit_scales(db, catalog, interval, &done));
    return done;
}

static void versions_are_compared_as_the_feeder_does(void **state)
{
    (void)state;
    assert_true(duty(600));
    assert_scale(10, 0); /* superseded */
    assert_scale(11, 1);
    assert_scale(12, 0.2);
    assert_scale(13, 0); /* too few samples */
    assert_true(min_avg_pfc(1) == 4);
    assert_scale(20, 0); /* alone */
    assert_true(min_avg_pfc(2) == 1);
    assert_scale(30, 0); /* below min_version */
    assert_scale(31, 2);
    assert_scale(32, 2.0 / 3);
    assert_scale(33, 0);
    assert_true(min_avg_pfc(3) == 4);
    assert_scale(40, 0);
    assert_true(min_avg_pfc(4) == 1);
}

static void it_is_done_once_an_interval(void **state)
{
    (void)state;
    assert_true(duty(600));
    assert_false(duty(600));
    test_sql(database, "UPDATE app_version SET pfc_avg = 2 WHERE id = 11;"
                       "UPDATE qm_duty SET due = UNIX_TIMESTAMP() - 1");
    db_count_reset(db);
    assert_true(duty(600));
    assert_scale(11, 1);
    assert_scale(12, 0.1);
    test_sql(database, "UPDATE qm_duty SET due = UNIX_TIMESTAMP() + 100000");
    assert_true(duty(600)); /* a clock was wrong */
    assert_false(duty(600));
}

/* The turn is not lost with the server that took it. */
static void a_turn_that_was_not_finished_is_due(void **state)
{
    bool is_ours = false;

    (void)state;
    assert_status(STATUS_OK, db_duty_take(db, TEXT("credit scales"), 600, &is_ours));
    assert_true(is_ours);
    assert_status(STATUS_OK, db_reopen(db));
    assert_true(duty(600));
}

static void a_row_that_changed_since_is_left_alone(void **state)
{
    struct version_scale scales[2] = {
        {.read = {.id = 11, .pfc_n = 200, .pfc_scale = 0}, .pfc_scale = 7},
        {.read = {.id = 12, .pfc_n = 300, .pfc_scale = 0}, .pfc_scale = 8}};
    struct arena *arena = arena_create(1 << 20);
    uint64_t saved = 0;

    (void)state;
    test_sql(database, "UPDATE app_version SET pfc_n = 201 WHERE id = 11");
    assert_status(STATUS_OK, db_version_scales_save(db, arena, scales, 2, &saved));
    assert_status(STATUS_OK, db_commit(db));
    assert_int_equal(saved, 1);
    assert_scale(11, 0);
    assert_scale(12, 8);
    scales[1].read.pfc_scale = 9; /* others wrote 8 */
    assert_status(STATUS_OK, db_version_scales_save(db, arena, scales, 2, &saved));
    assert_int_equal(saved, 0);
    arena_destroy(arena);
}

static void a_failing_statement_leaves_everything(void **state)
{
    bool done = true;

    (void)state;
    for (uint64_t nth = 1; nth <= 5; nth++) {
        db_fail_nth(db, nth, STATUS_DB_RETRY);
        assert_status(STATUS_DB_RETRY, duty_credit_scales(db, catalog, 600, &done));
        assert_false(done);
        assert_scale(11, 0);
    }
    db_fail_nth(db, 6, STATUS_DB_RETRY);
    assert_true(duty(600));
    db_fail_nth(db, 0, STATUS_OK);
}

/* --- credit that fades --- */

/* A round with steps; returns how many of these there were, 0: it was not our turn. */
static int fade(void)
{
    struct fading fading = {.is_under_way = false};
    int64_t now = test_sql_integer(database, "SELECT UNIX_TIMESTAMP()");
    bool ended = false;
    int steps = 0;

    do {
        assert_status(STATUS_OK, duty_fading_credit(db, &fading, now, &ended));
        steps += ended || fading.is_under_way;
    } while (fading.is_under_way);
    return steps;
}

static void assert_credit(const char *row, double expected)
{
    double credit = test_sql_real(database, "SELECT expavg_credit FROM %s", row);

    if (!(fabs(credit - expected) < 1e-3))
        fail_msg("%s: %g instead of %g", row, credit, expected);
}

/* What BOINC's update_stats makes of the same; but a team's size is right whatever its credit is.
 */
static void credit_fades_with_a_half_life_of_a_week(void **state)
{
    (void)state;
    test_sql(
        database,
        "INSERT INTO user (id, email_addr, authenticator, name, teamid, expavg_credit,"
        " expavg_time) VALUES (1, '1', '1', '1', 5, 100, UNIX_TIMESTAMP() - 14 * 86400),"
        " (2, '2', '2', '2', 5, 1234.5, UNIX_TIMESTAMP() - 3 * 86400),"
        " (3, '3', '3', '3', 6, 0.1, UNIX_TIMESTAMP() - 14 * 86400),"
        " (4, '4', '4', '4', 0, 50, UNIX_TIMESTAMP() - 86300);"
        "INSERT INTO host (id, userid, expavg_credit, expavg_time) VALUES"
        " (1, 1, 10, UNIX_TIMESTAMP() - 14 * 86400), (2, 1, 10, UNIX_TIMESTAMP() - 60);"
        "INSERT INTO team (id, name, nusers, expavg_credit, expavg_time) VALUES"
        " (5, '5', 1, 8, UNIX_TIMESTAMP() - 7 * 86400), (6, '6', 77, 0.05, 0), (7, '7', 3, 0, 0);"
        "UPDATE app_version SET expavg_credit = 0.08, expavg_time = UNIX_TIMESTAMP() - 14 * 86400"
        " WHERE id = 10");
    assert_int_equal(fade(), 1);
    assert_credit("user WHERE id = 1", 25);
    assert_credit("user WHERE id = 2", 917.2300);
    assert_credit("user WHERE id = 3", 0.1);
    assert_credit("user WHERE id = 4", 50);
    assert_credit("host WHERE id = 1", 2.5);
    assert_credit("host WHERE id = 2", 10);
    assert_credit("team WHERE id = 5", 4);
    assert_credit("team WHERE id = 6", 0.05);
    assert_credit("app_version WHERE id = 10", 0.02);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM team WHERE (id = 5 AND nusers = 2)"
                                          " OR (id = 6 AND nusers = 1) OR (id = 7 AND nusers = 0)"),
               3);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM host WHERE id = 1 AND"
                                          " expavg_time > UNIX_TIMESTAMP() - 3600"),
               1);
    assert_int_equal(fade(), 0); /* within the hour */
    test_sql(database, "UPDATE qm_duty SET due = 0");
    assert_int_equal(fade(), 1);
    assert_credit("user WHERE id = 1", 25); /* within the day */
}

/* Hosts that are gone bound nobody's benchmark any more. */
static void a_host_that_is_gone_is_not_credible_for_ever(void **state)
{
    (void)state;
    test_sql(database,
             "INSERT INTO host (id, userid, p_fpops, expavg_credit, expavg_time) SELECT seq, 1,"
             " IF(seq <= 20, 9e9, 2e9), IF(seq <= 20, 1000, 20),"
             " UNIX_TIMESTAMP() - IF(seq <= 20, 70 * 86400, 60) FROM seq_1_to_40;"
             "UPDATE qm_duty SET due = 0");
    assert_true(fade() > 0);
    catalog_release(catalog);
    assert_status(STATUS_OK, catalog_load(db, &catalog));
    (void)db_rollback(db);
    assert_true(catalog->benchmarks.most == 2e9);
}

/* 3,000 hosts: twelve parts with one for each other table, ten of them in a step. A part has no
 * more statements than a look and a change, and locks no more than its rows. */
static void a_round_goes_in_short_transactions(void **state)
{
    struct db_count counted;

    (void)state;
    test_sql(database, "INSERT INTO host (id, userid, expavg_credit) SELECT seq, 1, 50"
                       " FROM seq_1_to_3000");
    db_count_reset(db);
    assert_int_equal(fade(), 2);
    counted = db_count(db);
    assert_int_equal(counted.commits, 1 + 12 + 3);
    assert_int_equal(counted.statements - counted.commits, 1 + 2 * 12 + 3);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM host WHERE expavg_time > 0"), 3000);
}

static void a_round_that_fails_is_done_an_hour_later(void **state)
{
    struct fading fading = {.is_under_way = false};
    bool ended = true;

    (void)state;
    test_sql(database, "INSERT INTO host (id, userid, expavg_credit) VALUES (1, 1, 50)");
    db_fail_nth(db, 3, STATUS_DB_GONE);
    assert_status(STATUS_DB_GONE, duty_fading_credit(db, &fading, 1000000, &ended));
    assert_false(ended);
    assert_false(fading.is_under_way);
    db_fail_nth(db, 0, STATUS_OK);
    assert_int_equal(fade(), 0);
    test_sql(database, "UPDATE qm_duty SET due = UNIX_TIMESTAMP() - 1");
    assert_int_equal(fade(), 1);
    assert_credit("host WHERE id = 1", 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(versions_are_compared_as_the_feeder_does),
        CASE(it_is_done_once_an_interval),
        CASE(a_turn_that_was_not_finished_is_due),
        CASE(a_row_that_changed_since_is_left_alone),
        CASE(a_failing_statement_leaves_everything),
        CASE(credit_fades_with_a_half_life_of_a_week),
        CASE(a_host_that_is_gone_is_not_credible_for_ever),
        CASE(a_round_goes_in_short_transactions),
        CASE(a_round_that_fails_is_done_an_hour_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
