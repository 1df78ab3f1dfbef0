/* SPDX-License-Identifier: Apache-2.0 */
/* Transitions in the database: what is found, what is locked, what is written, and that two at once
 * do not do the same twice. */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/admin.h"
#include "server/base/arena.h"
#include "server/policy/result/report_verdict.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum { NOW = 1800000000 };

static void add_workunits(struct test_fixture *fixture, const char *ids,
                          const char *transition_time)
{
    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, appid, transition_time, size_class, hr_class,"
             " app_version_id, result_template_file) SELECT seq, CONCAT('w', seq), 1, %s, -1, 2, 3,"
             " 'templates/t' FROM %s",
             transition_time, ids);
}

static void a_pass_meets_everything_due_once(void **state)
{
    struct test_fixture *fixture = *state;
    struct due_place place = {.transition_time = INT32_MIN};
    int64_t ids[4], last = 0;
    size_t count, found = 0;

    /* Three of each moment; the last three not due; one that is nobody's business. */
    add_workunits(fixture, "seq_1_to_21", "1799999995 + (21 - seq) DIV 3");
    test_sql(fixture->database, "UPDATE workunit SET transitioner_flags = 1 WHERE id = 11");
    do {
        assert_status(STATUS_OK, db_admin_due(fixture->db, NOW, &place, ids, 4, &count));
        for (size_t i = 0; i < count; i++) {
            int64_t moment = test_sql_integer(
                fixture->database, "SELECT transition_time FROM workunit WHERE id = %lld",
                (long long)ids[i]);

            assert_true(moment >= last && moment <= NOW);
            assert_true(ids[i] != 11);
            last = moment;
            found++;
        }
        assert_i64(place.id, count > 0 ? ids[count - 1] : place.id);
    } while (count == 4);
    assert_int_equal(found, 17); /* 21 - 3 - 1 */
}

static int64_t rows_gone_through(struct test_fixture *fixture)
{
    return test_sql_integer(fixture->database,
                            "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
                            " WHERE VARIABLE_NAME = 'HANDLER_READ_NEXT'");
}

static void looking_goes_along_the_index(void **state)
{
    struct test_fixture *fixture = *state;
    int64_t ids[10], least = INT64_MAX;
    size_t count;

    add_workunits(fixture, "seq_1_to_6000", "1800000000");
    for (int i = 0; i < 10; i++) { /* other tests read too, though not always */
        struct due_place place = {.transition_time = NOW, .id = 5000};
        int64_t before = rows_gone_through(fixture), rows;

        assert_status(STATUS_OK, db_admin_due(fixture->db, NOW, &place, ids, 10, &count));
        assert_int_equal(count, 10);
        assert_i64(ids[0], 5001);
        rows = rows_gone_through(fixture) - before;
        least = rows < least ? rows : least;
    }
    assert_true(least < 1000);
}

static void what_is_locked_is_complete_and_still_due(void **state)
{
    struct test_fixture *fixture = *state;
    const int64_t ids[] = {3, 1, 2, 9, 3};
    struct due_rows rows;

    add_workunits(fixture, "seq_1_to_3", "1800000000");
    test_sql(fixture->database,
             "UPDATE workunit SET transition_time = 1800000001 WHERE id = 2;"
             "UPDATE workunit SET need_validate = 1, canonical_resultid = 7, error_mask = 4,"
             " delay_bound = 11, min_quorum = 12, target_nresults = 13, max_error_results = 14,"
             " max_total_results = 15, batch = 16, priority = 17, assimilate_state = 1,"
             " file_delete_state = 2, transitioner_flags = 2 WHERE id = 3;"
             "INSERT INTO result (id, workunitid, name, server_state) VALUES (30, 3, 'w3_1', 2),"
             " (10, 1, 'w1_0', 2), (20, 2, 'w2_0', 2), (29, 3, 'w3_0', 5);"
             "UPDATE result SET outcome = 1, hostid = 4, report_deadline = 5, received_time = 6,"
             " validate_state = 4, file_delete_state = 1, exit_status = 203, app_version_id = -2"
             " WHERE id = 29");
    assert_status(STATUS_OK, db_admin_due_lock(fixture->db, fixture->arena, ids, 5, NOW, &rows));
    assert_int_equal(rows.workunit_count, 2);
    assert_i64(rows.workunits[0].id, 1);
    const struct due_workunit_row *workunit = &rows.workunits[1];
    assert_i64(workunit->id, 3);
    assert_text(workunit->name, "w3");
    assert_text(workunit->result_template_file, "templates/t");
    assert_i64(workunit->need_validate, 1);
    assert_i64(workunit->canonical_resultid, 7);
    assert_i64(workunit->error_mask, 4);
    assert_i64(workunit->delay_bound, 11);
    assert_i64(workunit->min_quorum, 12);
    assert_i64(workunit->target_nresults, 13);
    assert_i64(workunit->max_error_results, 14);
    assert_i64(workunit->max_total_results, 15);
    assert_i64(workunit->batch, 16);
    assert_i64(workunit->priority, 17);
    assert_i64(workunit->assimilate_state, 1);
    assert_i64(workunit->file_delete_state, 2);
    assert_i64(workunit->transitioner_flags, 2);
    assert_i64(workunit->size_class, -1);
    assert_i64(workunit->hr_class, 2);
    assert_i64(workunit->app_version_id, 3);
    assert_int_equal(rows.result_count, 3);
    assert_i64(rows.results[0].id, 10);
    const struct due_result_row *result = &rows.results[1];
    assert_i64(result->id, 29);
    assert_i64(result->outcome, 1);
    assert_i64(result->hostid, 4);
    assert_i64(result->report_deadline, 5);
    assert_i64(result->received_time, 6);
    assert_i64(result->validate_state, 4);
    assert_i64(result->file_delete_state, 1);
    assert_i64(result->exit_status, 203);
    assert_i64(result->app_version_id, -2);
    assert_i64(rows.results[2].id, 30);
}

static void only_what_a_transition_changes_is_written(void **state)
{
    struct test_fixture *fixture = *state;
    struct due_workunit_row workunit = {.id = 1,
                                        .need_validate = 1,
                                        .canonical_resultid = 2,
                                        .transition_time = NOW + 3,
                                        .error_mask = 4,
                                        .file_delete_state = 1,
                                        .assimilate_state = 1};
    struct due_result_row result = {
        .id = 10, .server_state = 5, .outcome = 4, .validate_state = 3, .file_delete_state = 1};
    const struct due_rows changed = {
        .workunits = &workunit, .workunit_count = 1, .results = &result, .result_count = 1};

    add_workunits(fixture, "seq_1_to_2", "1800000000");
    test_sql(fixture->database, "INSERT INTO result (id, workunitid, name, server_state, hostid,"
                                " report_deadline) VALUES (10, 1, 'w1_0', 4, 8, 9),"
                                " (11, 1, 'w1_1', 4, 8, 9)");
    assert_status(STATUS_OK, db_admin_due_save(fixture->db, fixture->arena, &changed));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(*) FROM workunit WHERE id = 1 AND name = 'w1' AND"
                                " need_validate = 1 AND canonical_resultid = 2 AND transition_time"
                                " = 1800000003 AND error_mask = 4 AND file_delete_state = 1 AND"
                                " assimilate_state = 1 AND hr_class = 0 AND app_version_id = 0"),
               1);
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(*) FROM result WHERE id = 10 AND server_state = 5 AND"
                                " outcome = 4 AND validate_state = 3 AND file_delete_state = 1 AND"
                                " hostid = 8 AND report_deadline = 9 AND received_time = 0"),
               1);
    assert_i64(test_sql_integer(fixture->database, "SELECT server_state FROM result WHERE id = 11"),
               4);
}

static void two_at_once_do_it_once(void **state)
{
    struct test_fixture *fixture = *state;
    struct db *other = test_database_open(fixture->database);
    const int64_t id = 1;
    struct due_rows rows;

    add_workunits(fixture, "seq_1_to_1", "1800000000");
    assert_status(STATUS_OK, db_admin_due_lock(fixture->db, fixture->arena, &id, 1, NOW, &rows));
    assert_int_equal(rows.workunit_count, 1);
    rows.workunits[0].transition_time = NOW + 1;
    assert_status(STATUS_OK, db_admin_due_save(fixture->db, fixture->arena, &rows));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_status(STATUS_OK, db_admin_due_lock(other, fixture->arena, &id, 1, NOW, &rows));
    assert_int_equal(rows.workunit_count, 0);
    assert_status(STATUS_OK, db_admin_due_postpone(other, id, NOW, NOW + 600));
    assert_status(STATUS_OK, db_commit(other));
    assert_i64(test_sql_integer(fixture->database, "SELECT transition_time FROM workunit"),
               NOW + 1); /* not due, so not put off */
    assert_status(STATUS_OK, db_admin_due_postpone(other, id, NOW + 1, NOW + 600));
    assert_status(STATUS_OK, db_commit(other));
    assert_i64(test_sql_integer(fixture->database, "SELECT transition_time FROM workunit"),
               NOW + 600);
    db_close(other);
}

/* The statement computes what the policy says of one failure after the other. */
static void time_outs_lower_quotas_as_errors_do(void **state)
{
    struct test_fixture *fixture = *state;
    static const int64_t quotas[] = {0, 1, 5, 100};
    static const int64_t stored[] = {0, 1, 2, 7, 100, 130};
    struct time_outs time_outs[6];

    for (int64_t i = 0; i < 6; i++)
        time_outs[i] = (struct time_outs){.hostid = i, .app_version_id = 3, .count = 1 + i % 3};
    for (size_t q = 0; q < 4; q++) {
        test_sql(fixture->database, "DELETE FROM host_app_version");
        for (int i = 0; i < 5; i++)
            test_sql(fixture->database,
                     "INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day,"
                     " consecutive_valid) VALUES (%d, 3, %lld, 9), (%d, 4, 50, 9)",
                     i, (long long)stored[i], i);
        assert_status(STATUS_OK, db_admin_time_outs_save(fixture->db, fixture->arena, time_outs, 6,
                                                         quotas[q]));
        assert_status(STATUS_OK, db_commit(fixture->db));
        for (int i = 0; i < 5; i++) {
            int64_t wanted = stored[i];

            for (int64_t n = 0; n < time_outs[i].count; n++)
                wanted = report_quota_after(wanted, quotas[q], OUTCOME_NO_REPLY, 0);
            assert_i64(test_sql_integer(fixture->database,
                                        "SELECT max_jobs_per_day FROM host_app_version"
                                        " WHERE host_id = %d AND app_version_id = 3",
                                        i),
                       wanted);
        }
        assert_i64(test_sql_integer(fixture->database,
                                    "SELECT SUM(consecutive_valid) + SUM(app_version_id = 4 AND"
                                    " max_jobs_per_day = 50) FROM host_app_version"),
                   5 * 9 + 5); /* the others' */
    }
}

static void a_database_without_size_classes_has_no_class_0(void **state)
{
    struct test_fixture *fixture = *state;
    const int64_t id = 1;
    struct due_rows rows;
    struct db *db;
    struct new_workunit workunit = {.name = TEXT("old"), .size_class = -1};
    struct new_result result = {.name = TEXT("old_0"), .server_state = RESULT_UNSENT};
    int64_t new_id;

    add_workunits(fixture, "seq_1_to_1", "1800000000");
    test_sql(fixture->database,
             "ALTER TABLE workunit DROP COLUMN size_class, DROP COLUMN keywords, DROP COLUMN"
             " app_version_num; ALTER TABLE result DROP COLUMN size_class");
    db = test_database_open(fixture->database);
    assert_status(STATUS_OK, db_admin_due_lock(db, fixture->arena, &id, 1, NOW, &rows));
    assert_i64(rows.workunits[0].size_class, -1);
    assert_status(STATUS_OK, db_admin_workunits_add(db, fixture->arena, &workunit, 1, &new_id));
    result.workunitid = new_id;
    assert_status(STATUS_OK, db_admin_results_add(db, fixture->arena, &result, 1));
    db_close(db);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, test_fixture_open, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(a_pass_meets_everything_due_once),
        CASE(looking_goes_along_the_index),
        CASE(what_is_locked_is_complete_and_still_due),
        CASE(only_what_a_transition_changes_is_written),
        CASE(two_at_once_do_it_once),
        CASE(time_outs_lower_quotas_as_errors_do),
        CASE(a_database_without_size_classes_has_no_class_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
