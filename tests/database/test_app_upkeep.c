/* SPDX-License-Identifier: Apache-2.0 */
/* Classes, statistics and run times of one application among the rows of others. */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/admin.h"
#include "db/rows.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum { JOBS = 600 };

/* App 1 with version 11, and app 2. */
static int setup(void **state)
{
    struct test_fixture *fixture;

    if (test_fixture_open(state) != 0)
        return -1;
    fixture = *state;
    test_database_add_app(fixture->database);
    test_sql(fixture->database,
             "INSERT INTO app SET id = 2, name = 'other', min_avg_pfc = 5;"
             "INSERT INTO app_version SET id = 12, appid = 2, version_num = 1, pfc_n = 3,"
             " pfc_avg = 4, pfc_scale = 5");
    return 0;
}

static int64_t count(struct test_fixture *fixture, const char *what)
{
    return test_sql_integer(fixture->database, "SELECT COUNT(*) FROM %s", what);
}

/* Of each ten jobs one is with a host, one has an answer, and one a success that waits for another
 * to compare it with; of two a result was invalid or never came. The last are of another class, of
 * another application, or finished. */
static void a_class_is_released_but_for_what_is_out(void **state)
{
    struct test_fixture *fixture = *state;
    struct class_released some, sums = {0};
    int64_t last = 0;
    int parts = 0;

    test_sql(
        fixture->database,
        "INSERT INTO workunit (id, appid, name, hr_class, assimilate_state, canonical_resultid)"
        " SELECT seq, 1, seq, 267, 0, IF(seq %% 10 = 1, seq, 0) FROM seq_1_to_%d;"
        "INSERT INTO workunit (id, appid, name, hr_class, assimilate_state) VALUES"
        " (1001, 1, 'class', 268, 0), (1002, 2, 'app', 267, 0), (1003, 1, 'over', 267, 2);"
        "INSERT INTO result (id, workunitid, appid, name, server_state, outcome, validate_state)"
        " SELECT seq, seq, 1, seq, CASE seq %% 10 WHEN 2 THEN 4 WHEN 3 THEN 5 WHEN 4 THEN 5"
        " WHEN 5 THEN 5 ELSE 2 END, CASE seq %% 10 WHEN 3 THEN 1 WHEN 4 THEN 1 WHEN 5 THEN 4 ELSE 0"
        " END, IF(seq %% 10 = 4, 2, 0) FROM seq_1_to_%d",
        JOBS, JOBS);
    do {
        assert_status(STATUS_OK, db_admin_class_release(fixture->db, 1, 267, &last, &some));
        assert_status(STATUS_OK, db_commit(fixture->db));
        assert_true(some.released + some.kept <= 256);
        sums.released += some.released;
        sums.kept += some.kept;
        parts++;
    } while (last != 0);
    assert_int_equal(parts, 4);
    assert_i64((int64_t)sums.released, JOBS - 3 * JOBS / 10);
    assert_i64((int64_t)sums.kept, 3 * JOBS / 10);
    assert_i64(
        count(fixture, "workunit WHERE id <= 600 AND (hr_class = 0) = (id % 10 IN (1, 2, 3))"), 0);
    assert_i64(count(fixture, "workunit WHERE id > 1000 AND hr_class <> 0"), 3);
}

/* Servers lock a job before they hand it out: what they are at is waited for. */
static void a_job_that_is_being_handed_out_is_waited_for(void **state)
{
    struct test_fixture *fixture = *state;
    struct class_released some;
    int64_t last = 0;

    test_sql(fixture->database, "INSERT INTO workunit SET id = 1, appid = 1, hr_class = 267");
    assert_status(STATUS_OK, db_admin_class_release(fixture->other, 1, 267, &last, &some));
    last = 0;
    /* After its patience, not beside. */
    assert_status(STATUS_DB_RETRY, db_admin_class_release(fixture->db, 1, 267, &last, &some));
    db_rollback(fixture->db);
    assert_status(STATUS_OK, db_commit(fixture->other));
    assert_status(STATUS_OK, db_admin_class_release(fixture->db, 1, 267, &last, &some));
    assert_i64(last, 0);
}

static void jobs_by_class_in_pieces(void **state)
{
    struct test_fixture *fixture = *state;
    struct classed_job_row *rows;
    struct host_kind_row *hosts;
    size_t found;

    test_sql(fixture->database,
             "INSERT INTO workunit (id, appid, name, hr_class, assimilate_state) VALUES"
             " (1, 1, 'a', 267, 0), (2, 1, 'b', 0, 0), (3, 2, 'c', 267, 0), (4, 1, 'd', 267, 2),"
             " (5, 1, 'e', 268, 0);"
             "INSERT INTO result SET id = 9, workunitid = 5, name = 'r', server_state = 4;"
             "INSERT INTO host (id, userid, os_name) VALUES (1, 1, 'Linux'), (2, 0, 'gone'),"
             " (3, 1, 'Darwin')");
    assert_status(STATUS_OK,
                  db_admin_classed_jobs(fixture->db, fixture->arena, 1, 0, 2, &rows, &found));
    assert_int_equal(found, 2);
    assert_i64(rows[0].hr_class, 267);
    assert_i64(rows[0].is_out, 0);
    assert_i64(rows[1].id, 2);
    assert_status(STATUS_OK,
                  db_admin_classed_jobs(fixture->db, fixture->arena, 1, 2, 2, &rows, &found));
    assert_int_equal(found, 1);
    assert_i64(rows[0].is_out, 1);
    assert_status(STATUS_OK,
                  db_admin_host_kinds(fixture->db, fixture->arena, INT64_MAX, 1, &hosts, &found));
    assert_int_equal(found, 1);
    assert_text(hosts[0].os_name, "Darwin");
    assert_status(STATUS_OK,
                  db_admin_host_kinds(fixture->db, fixture->arena, 3, 5, &hosts, &found));
    assert_int_equal(found, 1);
    assert_text(hosts[0].os_name, "Linux");
}

/* Those of one application, also of volunteers' own versions, and of nothing else. */
static void statistics_are_forgotten(void **state)
{
    struct test_fixture *fixture = *state;
    uint64_t rows, sum = 0;
    int64_t last = 0;

    test_sql(fixture->database,
             "UPDATE app SET min_avg_pfc = 7 WHERE id = 1;"
             "UPDATE app_version SET pfc_n = 1, pfc_avg = 2, pfc_scale = 3 WHERE id = 11;"
             "INSERT INTO host_app_version (host_id, app_version_id, pfc_n, et_n, et_avg, et_q,"
             " turnaround_n, max_jobs_per_day, consecutive_valid)"
             " SELECT seq, IF(seq %% 3, 11, 1000002), 1, 2, 3, 4, 5, 6, 7 FROM seq_1_to_600;"
             "INSERT INTO host_app_version (host_id, app_version_id, pfc_n, et_n)"
             " VALUES (1, 12, 1, 2), (1, 2000002, 1, 2), (601, 11, 0, 0)");
    assert_status(STATUS_OK, db_admin_statistics_forget(fixture->db, 1));
    assert_status(STATUS_OK, db_commit(fixture->db));
    do {
        assert_status(STATUS_OK, db_admin_host_statistics_forget(fixture->db, 1, &last, &rows));
        assert_status(STATUS_OK, db_commit(fixture->db));
        assert_true(rows <= 256);
        sum += rows;
    } while (last != 0);
    assert_i64((int64_t)sum, 600);
    assert_i64(count(fixture, "app WHERE (id = 1 AND min_avg_pfc = 1) OR (id = 2 AND"
                              " min_avg_pfc = 5)"),
               2);
    assert_i64(count(fixture, "app_version WHERE (id = 11 AND pfc_n = 0 AND pfc_avg = 0 AND"
                              " pfc_scale = 0) OR (id = 12 AND pfc_n = 3 AND pfc_scale = 5)"),
               2);
    assert_i64(count(fixture, "host_app_version WHERE pfc_n = 0 AND et_n = 0 AND et_avg = 0 AND"
                              " et_q = 0 AND turnaround_n = 5 AND max_jobs_per_day = 6 AND"
                              " consecutive_valid = 7"),
               600);
    assert_i64(count(fixture, "host_app_version WHERE pfc_n = 1 AND et_n = 2"), 2);
}

/* Successes whose times say something, of the newest results. */
static void run_times_of_successes(void **state)
{
    struct test_fixture *fixture = *state;
    struct run_time_row *rows;
    size_t found;

    test_sql(
        fixture->database,
        "INSERT INTO workunit (id, appid, name, rsc_fpops_est, rsc_fpops_bound) VALUES"
        " (1, 1, 'a', 1e12, 1e13), (2, 1, 'b', 0, 1);"
        "INSERT INTO result (id, workunitid, appid, name, server_state, outcome, elapsed_time,"
        " flops_estimate, app_version_id, runtime_outlier) VALUES"
        " (1, 1, 1, 'too old', 5, 1, 100, 2e9, 11, 0), (2, 1, 1, 'r2', 5, 1, 100, 2e9, 11, 0),"
        " (3, 1, 1, 'failed', 5, 3, 100, 2e9, 11, 0), (4, 1, 1, 'no time', 5, 1, 0, 2e9, 11, 0),"
        " (5, 1, 1, 'no benchmark', 5, 1, 100, 1e9, 11, 0), (6, 1, 1, 'odd', 5, 1, 9, 2e9, 11, 1),"
        " (7, 2, 1, 'no estimate', 5, 1, 100, 2e9, 11, 0), (8, 1, 2, 'other', 5, 1, 1, 2e9, 12, 0),"
        " (9, 1, 1, 'out', 4, 0, 0, 2e9, 11, 0), (10, 1, 1, 'r10', 5, 1, 300, 2e9, -2, 0)");
    assert_status(STATUS_OK, db_admin_run_times(fixture->db, fixture->arena, 1, 7, &rows, &found));
    assert_int_equal(found, 2);
    assert_i64(rows[0].app_version_id + rows[1].app_version_id, 11 - 2);
    assert_real(rows[0].flop + rows[1].flop, 8e11, 1);
    assert_real(rows[0].fpops_est, 1e12, 1);
    assert_real(rows[0].fpops_bound, 1e13, 1);
}

/* The same results by the variants of science apps that they were sent with; and how fast hosts are
 * with these, until that is forgotten. */
static void variants_are_told_apart(void **state)
{
    struct test_fixture *fixture = *state;
    const int64_t forgotten[] = {70, 71};
    struct run_time_row *times;
    struct variant_jobs_row *jobs;
    struct variant_speed_row *speeds;
    size_t found;
    int64_t last = 0;
    uint64_t rows, sum = 0;

    test_sql(fixture->database,
             "INSERT INTO workunit (id, appid, name, rsc_fpops_est, rsc_fpops_bound)"
             " VALUES (1, 1, 'a', 1e12, 1e13);"
             "INSERT INTO result (id, workunitid, appid, name, server_state, outcome, elapsed_time,"
             " flops_estimate, app_version_id) VALUES"
             " (1, 1, 1, 'too old', 5, 1, 100, 2e9, 11), (2, 1, 1, 'r2', 5, 1, 100, 2e9, 11),"
             " (3, 1, 1, 'failed', 5, 3, 100, 2e9, 11), (4, 1, 1, 'out', 4, 0, 0, 2e9, 11),"
             " (5, 1, 1, 'lost', 5, 4, 0, 2e9, 11), (6, 1, 1, 'no answer', 5, 6, 5, 2e9, 11),"
             " (7, 1, 1, 'r7', 5, 1, 50, 2e9, 11), (8, 1, 1, 'of none', 5, 1, 5, 2e9, 11),"
             " (9, 1, 1, 'unsent', 2, 0, 0, 0, 0), (10, 1, 1, 'not needed', 5, 5, 0, 0, 0);"
             "INSERT INTO qm_result_variant (resultid, variant) VALUES (1, 70), (2, 70), (3, 70),"
             " (4, 70), (5, 70), (6, 70), (7, 80), (10, 80);"
             "INSERT INTO qm_host_variant (hostid, variant, et_n, et_avg, et_var, et_q)"
             " VALUES (1, 70, 3, 1e-9, 0, 0), (2, 70, 1, 5e-9, 0, 0), (3, 70, 0, 0, 0, 0),"
             " (1, 80, 5, 1e-10, 0, 0)");
    test_sql(fixture->database,
             "INSERT INTO qm_host_variant (hostid, variant, et_n, et_avg, et_var, et_q)"
             " SELECT seq, 71, 1, 1e-9, 0, 0 FROM seq_100_to_1099");
    assert_status(STATUS_OK,
                  db_admin_run_times(fixture->db, fixture->arena, 1, 20, &times, &found));
    assert_int_equal(found, 4);
    for (size_t i = 0; i < found; i++)
        assert_i64(times[i].variant, times[i].flop > 1.5e11 ? 70 : times[i].flop > 5e10 ? 80 : 0);
    assert_status(STATUS_OK, db_admin_variant_jobs(fixture->db, fixture->arena, 7, &jobs, &found));
    assert_int_equal(found, 2);
    assert_i64(jobs[0].variant, 70);
    assert_i64(jobs[0].in_progress, 1);
    assert_i64(jobs[0].succeeded, 1);
    assert_i64(jobs[0].failed, 2);
    assert_i64(jobs[0].lost, 1);
    assert_i64(jobs[1].variant, 80);
    assert_i64(jobs[1].succeeded, 1);
    assert_i64(jobs[1].failed + jobs[1].lost + jobs[1].in_progress, 0);
    assert_status(STATUS_OK,
                  db_admin_variant_speeds(fixture->db, fixture->arena, 10, &speeds, &found));
    assert_int_equal(found, 3);
    assert_i64(speeds[0].variant, 70);
    assert_i64(speeds[0].hosts, 2);
    assert_real(speeds[0].runs, 4, 0);
    assert_real(speeds[0].flops, 5e8, 1); /* 4 jobs in 8 ns for each FLOP of one */
    do {
        assert_status(STATUS_OK, db_admin_variants_forget(fixture->db, forgotten, 2, &last, &rows));
        assert_status(STATUS_OK, db_commit(fixture->db));
        sum += rows;
    } while (last != 0);
    assert_i64((int64_t)sum, 1003);
    assert_i64(count(fixture, "qm_host_variant WHERE variant = 80"), 1);
    assert_i64(count(fixture, "qm_host_variant"), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, test_fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_class_is_released_but_for_what_is_out),
        CASE(a_job_that_is_being_handed_out_is_waited_for),
        CASE(jobs_by_class_in_pieces),
        CASE(statistics_are_forgotten),
        CASE(run_times_of_successes),
        CASE(variants_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
