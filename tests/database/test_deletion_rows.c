/* SPDX-License-Identifier: Apache-2.0 */
/* Rows whose files are to be deleted: which are found, which are still needed, and that a row in
 * another state stays as it is. */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/file_deletion.h"
#include "db/file_sweep.h"
#include "db/submitted.h"

#include "server/base/banned.h"

static void answers_are_needed_until_they_are_taken(void **state)
{
    struct test_fixture *fixture = *state;
    struct deletable_row *rows;
    size_t count;

    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, canonical_resultid, assimilate_state) VALUES"
             " (1, 'w1', 11, 1), (2, 'w2', 21, 2), (3, 'w3', 0, 1);"
             "INSERT INTO result (id, workunitid, name, file_delete_state, xml_doc_in) VALUES"
             " (11, 1, 'r11', 1, 'x'), (12, 1, 'r12', 1, ''), (21, 2, 'r21', 1, ''),"
             " (31, 3, 'r31', 1, ''), (32, 3, 'r32', 2, ''), (41, 9, 'orphan', 1, '')");
    assert_status(STATUS_OK, db_deletion_results(fixture->db, fixture->arena, 1, 0, &rows, &count));
    assert_int_equal(count, 5);
    assert_text(rows[0].name, "r11");
    assert_text(rows[0].document, "x");
    for (size_t i = 0; i < count; i++)
        assert_i64(rows[i].is_needed, rows[i].id == 11);
    assert_status(STATUS_OK,
                  db_deletion_results(fixture->db, fixture->arena, 1, 31, &rows, &count));
    assert_int_equal(count, 1);
    assert_i64(rows[0].id, 41);
}

static void inputs_are_needed_until_all_is_over(void **state)
{
    struct test_fixture *fixture = *state;
    struct deletable_row *rows;
    size_t count;

    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, file_delete_state, xml_doc) VALUES"
             " (1, 'w1', 1, 'x'), (2, 'w2', 1, ''), (3, 'w3', 0, '');"
             "INSERT INTO result (id, workunitid, name, server_state) VALUES (11, 1, 'r11', 5),"
             " (21, 2, 'r21', 5), (22, 2, 'r22', 4)");
    assert_status(STATUS_OK,
                  db_deletion_workunits(fixture->db, fixture->arena, 1, 0, &rows, &count));
    assert_int_equal(count, 2);
    assert_text(rows[0].document, "x");
    assert_i64(rows[0].is_needed, 0);
    assert_i64(rows[1].is_needed, 1);
    assert_status(STATUS_OK,
                  db_deletion_workunits(fixture->db, fixture->arena, 0, 0, &rows, &count));
    assert_int_equal(count, 1);
    assert_i64(rows[0].is_needed, 1); /* nobody wants it deleted */
}

static void only_what_was_to_be_deleted_is_marked(void **state)
{
    struct test_fixture *fixture = *state;
    const int64_t ids[] = {3, 0, 1, 2, 4};

    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, file_delete_state) SELECT seq + 1, seq, seq"
             " FROM seq_0_to_3; INSERT INTO result (id, name, file_delete_state)"
             " SELECT seq + 1, seq, seq FROM seq_0_to_3");
    assert_status(STATUS_OK, db_deletion_save_workunits(fixture->db, fixture->arena, ids, 5, 2));
    assert_status(STATUS_OK, db_deletion_save_results(fixture->db, fixture->arena, ids, 5, 3));
    assert_status(STATUS_OK, db_deletion_save_results(fixture->db, fixture->arena, ids, 0, 2));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_text(test_sql_text(fixture->database,
                              "SELECT CONCAT((SELECT GROUP_CONCAT(file_delete_state ORDER BY id)"
                              " FROM workunit), ' ', (SELECT GROUP_CONCAT(file_delete_state"
                              " ORDER BY id) FROM result))"),
                "0,2,2,2 0,3,2,3");
}

/* By number: until their time; in a batch that may get jobs; both are over; one batch of two is. */
static void files_of_submitters_are_held(void **state)
{
    struct test_fixture *fixture = *state;
    const int64_t gone[] = {3};
    struct job_file_row *rows;
    size_t count;
    bool is_of_others;

    test_sql(fixture->database,
             "INSERT INTO job_file (id, name, create_time, delete_time) VALUES (1, 'f1', 1, 1000),"
             " (2, 'f2', 1, 0), (3, 'f3', 1, 999), (4, 'f4', 1, 0);"
             "INSERT INTO batch (id, user_id, state) VALUES (7, 5, 1), (8, 5, 2), (9, 6, 4);"
             "INSERT INTO batch_file_assoc (job_file_id, batch_id)"
             " VALUES (2, 7), (3, 8), (4, 9), (4, 7)");
    assert_status(STATUS_OK,
                  db_deletion_job_files(fixture->db, fixture->arena, true, 1000, 0, &rows, &count));
    assert_int_equal(count, 3);
    assert_i64(rows[0].id, 1);
    assert_i64(rows[1].id, 2);
    assert_i64(rows[2].id, 4);
    assert_status(STATUS_OK, db_deletion_job_files(fixture->db, fixture->arena, false, 1000, 0,
                                                   &rows, &count));
    assert_int_equal(count, 1);
    assert_text(rows[0].name, "f3");
    for (int64_t userid = 5; userid <= 6; userid++) {
        assert_status(STATUS_OK,
                      db_job_file_is_of_others(fixture->db, TEXT("f1"), userid, &is_of_others));
        assert_false(is_of_others); /* for no batch */
        assert_status(STATUS_OK,
                      db_job_file_is_of_others(fixture->db, TEXT("f2"), userid, &is_of_others));
        assert_true(is_of_others == (userid == 6));
        assert_status(STATUS_OK,
                      db_job_file_is_of_others(fixture->db, TEXT("f4"), userid, &is_of_others));
        assert_false(is_of_others); /* of both */
    }
    assert_status(STATUS_OK, db_deletion_forget_job_files(fixture->db, gone, 1));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_text(test_sql_text(fixture->database,
                              "SELECT CONCAT((SELECT GROUP_CONCAT(id ORDER BY id) FROM job_file),"
                              " ' ', (SELECT COUNT(*) FROM batch_file_assoc))"),
                "1,2,4 3");
}

static void known_results_are_found(void **state)
{
    const struct text names[] = {TEXT("r1_0"), TEXT("R2_0"), TEXT("r3_0")};
    struct test_fixture *fixture = *state;
    struct text *known;
    size_t count;

    test_sql(fixture->database, "INSERT INTO result (id, workunitid, name) VALUES (1, 1, 'r1_0'),"
                                " (2, 2, 'r2_0'), (4, 4, 'r4_0')");
    assert_status(STATUS_OK,
                  db_sweep_known_results(fixture->db, fixture->arena, names, 3, &known, &count));
    assert_int_equal(count, 2); /* the tables do not tell capitals from small letters */
    assert_status(STATUS_OK, db_sweep_known_results(fixture->db, fixture->arena, names + 2, 1,
                                                    &known, &count));
    assert_int_equal(count, 0);
}

/* Also when all of them are gone. */
static void numbers_that_were_given_out_are_known(void **state)
{
    struct test_fixture *fixture = *state;
    int64_t next = 0;

    test_sql(fixture->database, "INSERT INTO result (id, workunitid, name) VALUES (77, 1, 'r77_0');"
                                "DELETE FROM result");
    assert_status(STATUS_OK, db_sweep_next_result(fixture->db, &next));
    assert_i64(next, 78);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, test_fixture_open, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(answers_are_needed_until_they_are_taken),
        CASE(inputs_are_needed_until_all_is_over),
        CASE(only_what_was_to_be_deleted_is_marked),
        CASE(known_results_are_found),
        CASE(files_of_submitters_are_held),
        CASE(numbers_that_were_given_out_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
