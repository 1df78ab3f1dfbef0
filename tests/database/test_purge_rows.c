/* SPDX-License-Identifier: Apache-2.0 */
/* Purging: which workunits are old enough and done with, and that rows go together or not at all.
 */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/purge.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum { MOST = 10, FAILURES_MAX = 20 };

static const struct purge_filter anything = {.before = INT32_MAX};

static void fill(struct test_fixture *fixture)
{
    test_sql(fixture->database,
             "INSERT INTO workunit (id, appid, name, file_delete_state, assimilate_state,"
             " canonical_resultid, xml_doc) SELECT seq, 1 + seq MOD 2, CONCAT('w', seq), 2, 2, seq,"
             " 'x' FROM seq_1_to_6;"
             "INSERT INTO result (id, workunitid, name, server_state, file_delete_state)"
             " SELECT 10 * seq, seq, CONCAT('r', seq), 5, 2 FROM seq_1_to_6;"
             "INSERT INTO qm_result_variant (resultid, variant) VALUES (10, 7), (60, 7), (77, 7);"
             "INSERT INTO assignment (workunitid) VALUES (1), (77);"
             "INSERT INTO qm_workunit (workunitid, handouts) VALUES (1, 3), (6, 2), (77, 1)");
}

static enum status purge(struct test_fixture *fixture, size_t *ret_count)
{
    int64_t ids[MOST];
    struct purge_rows rows;
    enum status status;

    arena_reset(fixture->arena);
    status = db_purge_due(fixture->db, &anything, 0, ids, MOST, ret_count);
    if (status == STATUS_OK)
        status = db_purge_lock(fixture->db, fixture->arena, &anything, ids, *ret_count, &rows);
    if (status == STATUS_OK)
        status = db_purge_delete(fixture->db, fixture->arena, &rows);
    return status == STATUS_OK ? db_commit(fixture->db) : status;
}

static int64_t count_rows(struct test_fixture *fixture)
{
    return test_sql_integer(fixture->database,
                            "SELECT (SELECT COUNT(*) FROM workunit) * 100"
                            " + (SELECT COUNT(*) FROM result) * 10"
                            " + (SELECT COUNT(*) FROM assignment)"
                            " + (SELECT COUNT(*) FROM qm_workunit) * 1000"
                            " + (SELECT COUNT(*) FROM qm_result_variant) * 10000");
}

/* Other programs delete hosts and workunits without a look at our tables. */
static void what_is_kept_of_nobody_goes(void **state)
{
    struct test_fixture *fixture = *state;
    struct purge_lost lost = {.hostid = 0};
    size_t count = 0;

    test_sql(fixture->database,
             "INSERT INTO host (id) VALUES (1), (3);"
             "INSERT INTO qm_host (hostid) VALUES (1), (2), (3), (4);"
             "INSERT INTO qm_host_said (hostid, request) VALUES (1, 'a'), (2, 'b'), (4, 'd');"
             "INSERT INTO qm_host_variant (hostid, variant) VALUES (1, 7), (2, 7);"
             "INSERT INTO result (id, name) VALUES (60, 'r');"
             "INSERT INTO qm_result_variant (resultid, variant) VALUES (60, 7), (77, 7);"
             "INSERT INTO workunit (id, name) VALUES (6, 'w');"
             "INSERT INTO qm_workunit (workunitid, handouts) VALUES (6, 2), (77, 1)");
    assert_status(STATUS_OK, db_purge_lost(fixture->db, &lost, &count));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_int_equal(count, 4);
    assert_i64(
        test_sql_integer(fixture->database, "SELECT COUNT(*) * 100 + SUM(hostid) FROM qm_host"),
        204);
    assert_i64(test_sql_integer(fixture->database, "SELECT SUM(hostid) FROM qm_host_said"), 1);
    assert_i64(test_sql_integer(fixture->database, "SELECT SUM(workunitid) FROM qm_workunit"), 6);
    assert_i64(test_sql_integer(fixture->database, "SELECT SUM(hostid) FROM qm_host_variant"), 1);
    assert_i64(test_sql_integer(fixture->database, "SELECT SUM(resultid) FROM qm_result_variant"),
               60);
    assert_status(STATUS_OK, db_purge_lost(fixture->db, &lost, &count));
    assert_int_equal(count, 0);
    db_rollback(fixture->db);
}

static void only_what_is_done_with_is_found(void **state)
{
    static const char *const reasons[] = {
        "UPDATE workunit SET file_delete_state = 1 WHERE id = 3",
        "UPDATE workunit SET assimilate_state = 1 WHERE id = 3",
        "UPDATE workunit SET name = 'a nodelete b' WHERE id = 3",
        "UPDATE result SET server_state = 4 WHERE id = 30",
        "UPDATE result SET file_delete_state = 1 WHERE id = 30",
        "UPDATE result SET file_delete_state = 3 WHERE id = 30",
    };
    struct test_fixture *fixture = *state;
    struct purge_filter filter = anything;
    int64_t ids[MOST];
    size_t count;

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct purge_rows rows;

        test_fixture_clear(fixture);
        fill(fixture);
        assert_status(STATUS_OK, db_purge_due(fixture->db, &filter, 2, ids, MOST, &count));
        assert_int_equal(count, 4);
        test_sql(fixture->database, "%s", reasons[i]); /* after it was found */
        assert_status(STATUS_OK,
                      db_purge_lock(fixture->db, fixture->arena, &filter, ids, count, &rows));
        assert_int_equal(rows.workunit_count, 3);
        assert_int_equal(rows.result_count, 3);
        assert_i64(rows.workunits[0].archived_workunit.id, 4);
        assert_status(STATUS_OK, db_rollback(fixture->db));
        assert_status(STATUS_OK, db_purge_due(fixture->db, &filter, 2, ids, MOST, &count));
        assert_int_equal(count, 3);
    }
    filter.appid = 1;
    assert_status(STATUS_OK, db_purge_due(fixture->db, &filter, 0, ids, MOST, &count));
    assert_int_equal(count, 3); /* 2, 4, 6 */
    filter.before = 1000;
    assert_status(STATUS_OK, db_purge_due(fixture->db, &filter, 0, ids, MOST, &count));
    assert_int_equal(count, 0);
}

static void rows_go_together_or_not_at_all(void **state)
{
    struct test_fixture *fixture = *state;
    size_t count = 0;
    uint64_t n = 1;

    for (; n < FAILURES_MAX; n++) {
        enum status status;

        test_fixture_clear(fixture);
        fill(fixture);
        db_fail_nth(fixture->db, n, STATUS_DB_GONE);
        status = purge(fixture, &count);
        db_fail_nth(fixture->db, 0, STATUS_OK);
        if (status == STATUS_OK)
            break;
        (void)db_rollback(fixture->db);
        assert_i64(count_rows(fixture), 33662);
        assert_status(STATUS_OK, purge(fixture, &count));
        assert_i64(count_rows(fixture), 11001);
    }
    assert_true(n > 5 && n < FAILURES_MAX);
    assert_int_equal(count, 6);
    assert_i64(count_rows(fixture), 11001);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, test_fixture_open, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(only_what_is_done_with_is_found),
        CASE(what_is_kept_of_nobody_goes),
        CASE(rows_go_together_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
