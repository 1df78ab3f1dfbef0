/* SPDX-License-Identifier: Apache-2.0 */
/* Finished workunits: which are found, what is read of them, and that only one that is READY is
 * marked. */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/assimilation.h"

#include "server/base/banned.h"

enum { NOW = 1800000000 };

static void fill(struct test_fixture *fixture)
{
    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, appid, batch, error_mask, assimilate_state,"
             " transition_time) SELECT seq, CONCAT('w', seq), 1 + (seq > 6), 4, 8, seq MOD 3, %d"
             " FROM seq_1_to_9;"
             "UPDATE workunit SET canonical_resultid = 10 * id WHERE id IN (1, 4);"
             "INSERT INTO result (id, workunitid, name, xml_doc_in) VALUES (10, 1, 'r', 'doc')",
             NOW + 9);
}

static void what_is_ready_is_found_and_read(void **state)
{
    struct test_fixture *fixture = *state;
    const int64_t wanted[] = {1, 2, 4, 77};
    struct finished_job_row *jobs;
    int64_t ids[4];
    size_t count;

    fill(fixture);
    assert_status(STATUS_OK, db_assimilation_due(fixture->db, 1, 0, ids, 4, &count));
    assert_int_equal(count, 2);
    assert_i64(ids[0], 1);
    assert_i64(ids[1], 4);
    assert_status(STATUS_OK, db_assimilation_due(fixture->db, 2, 0, ids, 1, &count));
    assert_i64(ids[0], 7);
    assert_status(STATUS_OK, db_assimilation_due(fixture->db, 2, 7, ids, 1, &count));
    assert_int_equal(count, 0);
    assert_status(STATUS_OK, db_assimilation_last(fixture->db, 1, &ids[0]));
    assert_i64(ids[0], 4);
    assert_status(STATUS_NOT_FOUND, db_assimilation_last(fixture->db, 3, &ids[0]));
    assert_status(STATUS_OK,
                  db_assimilation_jobs(fixture->db, fixture->arena, wanted, 4, &jobs, &count));
    assert_int_equal(count, 2);
    assert_text(jobs[0].name, "w1");
    assert_i64(jobs[0].batch, 4);
    assert_i64(jobs[0].error_mask, 8);
    assert_i64(jobs[0].canonical_resultid, 10);
    assert_text(jobs[0].result_name, "r");
    assert_text(jobs[0].xml_doc_in, "doc");
    assert_i64(jobs[1].id, 4);
    assert_text(jobs[1].result_name, ""); /* its row is gone */
}

static void only_what_is_ready_is_marked(void **state)
{
    struct test_fixture *fixture = *state;
    const int64_t ids[] = {1, 2, 3, 4};
    const struct assimilated done = {ASSIMILATE_DONE, 32, NOW},
                             later = {ASSIMILATE_INIT, 0, NOW + 99};
    size_t count;

    fill(fixture);
    assert_status(STATUS_OK, db_assimilation_save(fixture->db, ids, 3, &done, &count));
    assert_int_equal(count, 1);
    assert_status(STATUS_OK, db_assimilation_save(fixture->db, ids + 3, 1, &later, &count));
    assert_int_equal(count, 1);
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_text(test_sql_text(fixture->database,
                              "SELECT GROUP_CONCAT(assimilate_state, ' ', error_mask, ' ',"
                              " transition_time - %d ORDER BY id) FROM workunit WHERE id < 5",
                              NOW),
                "2 40 0,2 8 9,0 8 9,0 8 9");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, test_fixture_open, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(what_is_ready_is_found_and_read),
        CASE(only_what_is_ready_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
