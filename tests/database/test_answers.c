/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs, batches, results and answers as an administrator looks at them: which are found, in which
 * order, and by which index. */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/admin.h"
#include "db/batches.h"
#include "db/mariadb.h"
#include "db/statement.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <stdlib.h>

#include "server/base/banned.h"

static const struct answer_filter everything = {.before = INT64_MAX, .outcome = -1, .most = 1000};

/* A job for each state, in the order of JOB_STATES, twice over in two applications. */
static int setup(void **state)
{
    struct test_fixture *fixture;

    (void)test_fixture_open(state);
    fixture = *state;
    test_sql(fixture->database,
             "INSERT INTO app (id, name) VALUES (1, 'one'), (2, 'two');"
             "INSERT INTO workunit (id, appid, name, batch) SELECT seq, 1 + (seq > 7),"
             " CONCAT(IF(seq > 7, 'b_', 'a_'), seq), IF(seq > 7, 5, 0) FROM seq_1_to_14;"
             /* unsent, in progress, waiting for validation, waiting, done, failed, cancelled */
             "INSERT INTO result (id, workunitid, appid, name, batch, server_state, outcome,"
             " xml_doc_in, stderr_out) SELECT 10 + id, id, appid, CONCAT(name, '_0'), batch,"
             " ELT(1 + (id - 1) %% 7, 2, 4, 5, 5, 5, 5, 5),"
             " ELT(1 + (id - 1) %% 7, 0, 0, 1, 4, 1, 3, 5), 'in', 'err' FROM workunit;"
             "UPDATE workunit SET canonical_resultid = 10 + id, assimilate_state = 1"
             " WHERE id IN (5, 12);"
             "UPDATE workunit SET error_mask = 2, assimilate_state = 1 WHERE id IN (6, 13);"
             "UPDATE workunit SET error_mask = 18, assimilate_state = 1 WHERE id IN (7, 14);"
             "UPDATE workunit SET need_validate = 1 WHERE id = 10;"
             "INSERT INTO batch (id, name) VALUES (5, 'fifth')");
    return 0;
}

static struct job_view *list(struct test_fixture *fixture, struct answer_filter filter,
                             size_t wanted)
{
    struct job_view *jobs = NULL;
    size_t count = 0;
    assert_status(STATUS_OK, db_admin_jobs(fixture->db, fixture->arena, &filter, &jobs, &count));
    assert_int_equal(count, wanted);
    return jobs;
}

static void jobs_are_listed_by_state(void **state)
{
    static const struct {
        const char *word;
        bool is_open;
    } words[] = {
#define STATE(word, is_open) {word, is_open},
        JOB_STATES(STATE)
#undef STATE
    };
    struct test_fixture *fixture = *state;
    struct answer_filter filter = everything;
    struct job_view *jobs = list(fixture, filter, 14);
    for (int64_t i = 0; i < 14; i++) {
        assert_i64(jobs[i].row.id, 14 - i);
        assert_text(jobs[i].row.state, words[(13 - i) % 7].word);
    }
    for (size_t i = 0; i < 7; i++) {
        filter = everything;
        filter.state = text_from(words[i].word);
        filter.is_open = words[i].is_open;
        jobs = list(fixture, filter, 2);
        assert_i64(jobs[0].row.id, (int64_t)i + 8);
        assert_i64(jobs[1].row.id, (int64_t)i + 1);
        assert_text(jobs[0].row.app, "two");
        filter.before = jobs[0].row.id; /* the next page */
        assert_i64(list(fixture, filter, 1)[0].row.id, (int64_t)i + 1);
        filter.before = INT64_MAX;
        filter.most = 1;
        assert_i64(list(fixture, filter, 1)[0].row.id, (int64_t)i + 8);
        filter.appid = 1;
        assert_i64(list(fixture, filter, 1)[0].row.id, (int64_t)i + 1);
        filter.batch = 5;
        (void)list(fixture, filter, 0);
        filter.appid = 0;
        assert_i64(list(fixture, filter, 1)[0].row.id, (int64_t)i + 8);
    }
    jobs = list(fixture, everything, 14);
    assert_i64(jobs[13].unsent, 1);
    assert_i64(jobs[12].in_progress, 1);
    assert_i64(jobs[11].success, 1);
    assert_i64(jobs[10].failed, 1);
    assert_i64(jobs[7].success + jobs[7].failed + jobs[7].unsent, 0); /* not needed */
}

static void names_are_taken_as_they_are(void **state)
{
    struct test_fixture *fixture = *state;
    struct answer_filter filter = everything;
    struct job_view job;
    test_sql(fixture->database, "INSERT INTO workunit (id, appid, name) VALUES (20, 1, 'x%%y_1'),"
                                " (21, 1, 'x%%yz1'), (22, 1, 'xay_1'), (23, 1, 'x\\\\y')");
    filter.name_prefix = TEXT("x%y_");
    assert_i64(list(fixture, filter, 1)[0].row.id, 20);
    filter.name_prefix = TEXT("x\\");
    assert_i64(list(fixture, filter, 1)[0].row.id, 23);
    filter.name_prefix = TEXT("a_");
    (void)list(fixture, filter, 7);
    filter.name_prefix = TEXT("' OR 1 = 1 -- ");
    (void)list(fixture, filter, 0);
    assert_status(STATUS_OK, db_admin_job(fixture->db, fixture->arena, 0, TEXT("a_5"), &job));
    assert_i64(job.row.canonical_resultid, 15);
    assert_status(STATUS_OK, db_admin_job(fixture->db, fixture->arena, 6, NO_TEXT, &job));
    assert_text(job.row.name, "a_6");
    assert_i64(job.row.error_mask, 2);
    assert_status(STATUS_NOT_FOUND, db_admin_job(fixture->db, fixture->arena, 0, TEXT("a_"), &job));
}

static void jobs_are_counted(void **state)
{
    struct test_fixture *fixture = *state;
    struct answer_filter filter = everything;
    struct job_count_row *rows;
    size_t count;
    assert_status(STATUS_OK,
                  db_admin_job_counts(fixture->db, fixture->arena, &filter, &rows, &count));
    assert_int_equal(count, 14);
    assert_text(rows[0].app, "one");
    assert_text(rows[0].state, "cancelled");
    assert_i64(rows[0].jobs, 1);
    filter.batch = 5;
    assert_status(STATUS_OK,
                  db_admin_job_counts(fixture->db, fixture->arena, &filter, &rows, &count));
    assert_int_equal(count, 7);
}

static void batches_have_names_and_progress(void **state)
{
    struct test_fixture *fixture = *state;
    struct answer_filter filter = everything;
    struct batch_view *rows;
    size_t count;
    test_sql(fixture->database, "INSERT INTO workunit (id, appid, name, batch) VALUES"
                                " (30, 1, 'n', 4)");
    assert_status(STATUS_OK, db_batch_list(fixture->db, fixture->arena, &filter, &rows, &count));
    assert_int_equal(count, 2);
    assert_i64(rows[0].row.batch, 5);
    assert_text(rows[0].row.name, "fifth");
    assert_text(rows[0].row.app, "two");
    assert_i64(rows[0].row.jobs, 7);
    assert_i64(rows[0].row.done, 1);
    assert_i64(rows[0].row.failed, 1);
    assert_i64(rows[0].row.cancelled, 1);
    assert_i64(rows[0].unsent, 1);
    assert_i64(rows[0].in_progress, 1);
    assert_text(rows[1].row.name, "");
    filter.before = 5;
    assert_status(STATUS_OK, db_batch_list(fixture->db, fixture->arena, &filter, &rows, &count));
    assert_int_equal(count, 1);
}

static size_t result_count(struct test_fixture *fixture, struct answer_filter filter)
{
    struct result_entry_row *rows;
    size_t count = 0;
    assert_status(STATUS_OK, db_admin_results(fixture->db, fixture->arena, &filter, &rows, &count));
    for (size_t i = 1; i < count; i++)
        assert_true(rows[i - 1].id > rows[i].id);
    return count;
}

static void results_are_listed(void **state)
{
    struct test_fixture *fixture = *state;
    struct answer_filter filter = everything;
    assert_int_equal(result_count(fixture, filter), 14);
    filter.server_state = RESULT_OVER;
    assert_int_equal(result_count(fixture, filter), 10);
    filter.outcome = OUTCOME_SUCCESS;
    assert_int_equal(result_count(fixture, filter), 4);
    filter.appid = 2;
    assert_int_equal(result_count(fixture, filter), 2);
    filter.appid = 0;
    filter.batch = 5;
    assert_int_equal(result_count(fixture, filter), 2);
    filter.batch = 0;
    filter.name_prefix = TEXT("a_");
    assert_int_equal(result_count(fixture, filter), 2);
    filter.most = 1;
    assert_int_equal(result_count(fixture, filter), 1);
}

static size_t answers(struct test_fixture *fixture, struct answer_filter filter, bool all,
                      int64_t after)
{
    struct answer_row *rows;
    size_t count = 0;
    assert_status(STATUS_OK, db_admin_answers(fixture->db, fixture->arena, &filter, all, after,
                                              &rows, &count));
    for (size_t i = 0; i < count; i++) {
        assert_text(rows[i].xml_doc_in, "in");
        assert_text(rows[i].stderr_out, "err");
        assert_true(i == 0 || rows[i].result.id > rows[i - 1].result.id);
    }
    return count;
}

static void answers_are_canonical_or_all(void **state)
{
    struct test_fixture *fixture = *state;
    struct answer_filter filter = everything;
    struct answer_row *rows;
    const int64_t jobs[] = {4, 5, 12, 99}, results[] = {13, 15, 99};
    size_t count;
    assert_int_equal(answers(fixture, filter, false, 0), 2);
    assert_int_equal(answers(fixture, filter, false, 5), 1);
    assert_int_equal(answers(fixture, filter, true, 0), 4);
    assert_int_equal(answers(fixture, filter, true, 15), 2);
    filter.batch = 5;
    assert_int_equal(answers(fixture, filter, false, 0), 1);
    assert_int_equal(answers(fixture, filter, true, 0), 2);
    filter.batch = 0;
    filter.name_prefix = TEXT("a_5");
    assert_int_equal(answers(fixture, filter, false, 0), 1);
    assert_int_equal(answers(fixture, filter, true, 0), 1);
    filter.name_prefix = NO_TEXT;
    filter.appid = 1;
    assert_status(STATUS_OK, db_admin_answers_of(fixture->db, fixture->arena, &filter, false, jobs,
                                                 4, &rows, &count));
    assert_int_equal(count, 1);
    assert_text(rows[0].job, "a_5");
    assert_status(STATUS_OK, db_admin_answers_of(fixture->db, fixture->arena, &filter, true,
                                                 results, 3, &rows, &count));
    assert_int_equal(count, 2);
    assert_status(STATUS_OK,
                  db_admin_answers_of_job(fixture->db, fixture->arena, 6, &rows, &count));
    assert_int_equal(count, 1);
    assert_i64(rows[0].result.outcome, OUTCOME_CLIENT_ERROR);
}

static void open_ones_are_known_by_number(void **state)
{
    struct test_fixture *fixture = *state;
    struct answer_filter filter = everything;
    int64_t *ids, newest;
    size_t count;
    assert_status(STATUS_OK, db_admin_open_ids(fixture->db, fixture->arena, &filter, false, &ids,
                                               &count, &newest));
    assert_int_equal(count, 8);
    assert_i64(ids[0], 1);
    assert_i64(ids[7], 11);
    assert_i64(newest, 14);
    filter.batch = 5;
    assert_status(STATUS_OK, db_admin_open_ids(fixture->db, fixture->arena, &filter, true, &ids,
                                               &count, &newest));
    assert_int_equal(count, 2);
    assert_i64(ids[0], 18);
    assert_i64(newest, 24);
}

static void late_reports_may_come(void **state)
{
    struct test_fixture *fixture = *state;
    struct answer_filter filter = everything;
    const int64_t some[] = {11, 14, 17, 21};
    int64_t *ids = NULL, due = 0;
    size_t count = 0;
    /* 14 and 21 timed out; the one that was reported as such cannot be reported again */
    assert_status(STATUS_OK,
                  db_admin_lapsed_ids(fixture->db, fixture->arena, &filter, 0, &ids, &count));
    assert_int_equal(count, 2);
    assert_status(STATUS_OK,
                  db_admin_lapsed_ids(fixture->db, fixture->arena, &filter, 14, &ids, &count));
    assert_int_equal(count, 1);
    assert_i64(ids[0], 21);
    test_sql(fixture->database, "UPDATE result SET outcome = 7 WHERE id = 17;"
                                "UPDATE result SET received_time = 1 WHERE id = 21;"
                                "UPDATE workunit SET transition_time = 100 + id");
    assert_status(STATUS_OK, db_rollback(fixture->db));
    assert_status(STATUS_OK,
                  db_admin_lapsed_of(fixture->db, fixture->arena, some, 4, &ids, &count));
    assert_int_equal(count, 2);
    assert_i64(ids[0] + ids[1], 14 + 17);
    assert_status(STATUS_OK,
                  db_admin_lapsed_of(fixture->db, fixture->arena, NULL, 0, &ids, &count));
    assert_int_equal(count, 0);
    filter.name_prefix = TEXT("a_4");
    assert_status(STATUS_OK,
                  db_admin_lapsed_ids(fixture->db, fixture->arena, &filter, 0, &ids, &count));
    assert_int_equal(count, 1);
    /* open jobs: 1 to 4 and 8 to 11 */
    filter.name_prefix = NO_TEXT;
    assert_status(STATUS_OK,
                  db_admin_due_jobs(fixture->db, fixture->arena, &filter, 102, 108, &due));
    assert_i64(due, 4);
    filter.batch = 5;
    assert_status(STATUS_OK,
                  db_admin_due_jobs(fixture->db, fixture->arena, &filter, 102, 108, &due));
    assert_i64(due, 1);
}

static void a_batch_of_two_applications_is_counted_by_each(void **state)
{
    struct test_fixture *fixture = *state;
    struct answer_filter filter = everything;
    struct batch_view *rows = NULL;
    size_t count = 0;
    test_sql(fixture->database, "UPDATE workunit SET batch = 5; UPDATE result SET batch = 5");
    filter.appid = 1;
    assert_status(STATUS_OK, db_batch_list(fixture->db, fixture->arena, &filter, &rows, &count));
    assert_int_equal(count, 1);
    assert_i64(rows[0].row.jobs, 7);
    assert_i64(rows[0].unsent, 1);
    assert_i64(rows[0].in_progress, 1);
}

/* --- what the optimizer makes of it ---------------------------------------------------------- */

enum { MANY = 50000 };

/* The statement with these values in the order of its text, EXPLAINed. */
static struct text plan_of(struct test_fixture *fixture, enum statement statement,
                           const char *const *values)
{
    struct statement_text text = {0};
    struct buffer sql = buffer_on_heap(0);
    assert_status(STATUS_OK, statement_write(statement_definition(statement), 1,
                                             db_actual_columns(fixture->db), &text, NULL));
    for (const char *at = text.sql; *at != '\0'; at++) {
        if (*at != '?') {
            buffer_add_char(&sql, *at);
        } else {
            must(*values != NULL);
            buffer_add_string(&sql, *values++);
        }
    }
    buffer_add_char(&sql, '\0');
    struct text plan = test_sql_text(fixture->database, "EXPLAIN FORMAT=JSON %s", sql.at);
    statement_text_free(&text);
    buffer_free(&sql);
    return plan;
}

static void expect_plan(struct test_fixture *fixture, enum statement statement,
                        const char *const *values, const char *key)
{
    struct text plan = plan_of(fixture, statement, values);
    if (!text_contains(plan, text_from(key)) || text_contains(plan, TEXT("temporary_table")))
        fail_msg("%s is not read by %s:\n" TEXT_FORMAT, statement_name(statement), key,
                 TEXT_ARG(plan));
}

/* Values that do not matter leave the index alone, and nothing is sorted where an index has the
 * order. */
static void large_projects_are_read_by_an_index(void **state)
{
    static const char *const page[] = {"0", "0", "0", "0", "''", "''", "''", "''", "9", "10", NULL};
    static const char *const open_page[] = {"2",        "2",        "0", "0",  "''", "''",
                                            "'unsent'", "'unsent'", "9", "10", NULL};
    static const char *const batch_page[] = {"0",  "0",  "7", "7",  "''", "''",
                                             "''", "''", "9", "10", NULL};
    static const char *const name_page[] = {"0",  "0",  "0", "0",  "'j12%%'", "'j12%%'",
                                            "''", "''", "9", "10", NULL};
    static const char *const open_ids[] = {"2", NULL};
    static const char *const lapsed[] = {"0", "0", "7", "7", "''", "''", "5", NULL};
    static const char *const canonical[] = {"0", "0", "0", "0", "''", "''", "5", "10", NULL};
    struct test_fixture *fixture = *state;
    test_sql(fixture->database,
             "DELETE FROM result; DELETE FROM workunit;"
             "INSERT INTO workunit (id, appid, name, batch, assimilate_state, canonical_resultid)"
             " SELECT seq, 1 + seq %% 3, CONCAT('j', seq), seq DIV 100, seq %% 50 > 0, seq %% 50"
             " FROM seq_1_to_%d;"
             "INSERT INTO result (id, workunitid, appid, name, batch, server_state, outcome)"
             " SELECT seq, seq, 1 + seq %% 3, CONCAT('j', seq, '_0'), seq DIV 100,"
             " IF(seq %% 50, 5, 2), seq %% 50 > 0 FROM seq_1_to_%d;"
             "ANALYZE TABLE workunit, result",
             MANY, MANY);
    expect_plan(fixture, STATEMENT_admin_jobs, page, "\"key\": \"PRIMARY\"");
    expect_plan(fixture, STATEMENT_admin_jobs_open, open_page, "\"key\": \"wu_assim\"");
    expect_plan(fixture, STATEMENT_admin_jobs_by_key, batch_page, "\"key\": \"wu_batch\"");
    expect_plan(fixture, STATEMENT_admin_jobs_by_key, name_page, "\"key\": \"name\"");
    expect_plan(fixture, STATEMENT_admin_open_jobs, open_ids, "\"using_index\": true");
    expect_plan(fixture, STATEMENT_admin_open_results, open_ids, "\"using_index\": true");
    expect_plan(fixture, STATEMENT_admin_lapsed_results_by_key, lapsed, "\"key\": \"res_batch\"");
    expect_plan(fixture, STATEMENT_admin_canonical_answers, canonical, "\"key\": \"PRIMARY\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(jobs_are_listed_by_state, setup, test_fixture_close),
        cmocka_unit_test_setup_teardown(names_are_taken_as_they_are, setup, test_fixture_close),
        cmocka_unit_test_setup_teardown(jobs_are_counted, setup, test_fixture_close),
        cmocka_unit_test_setup_teardown(batches_have_names_and_progress, setup, test_fixture_close),
        cmocka_unit_test_setup_teardown(results_are_listed, setup, test_fixture_close),
        cmocka_unit_test_setup_teardown(answers_are_canonical_or_all, setup, test_fixture_close),
        cmocka_unit_test_setup_teardown(open_ones_are_known_by_number, setup, test_fixture_close),
        cmocka_unit_test_setup_teardown(late_reports_may_come, setup, test_fixture_close),
        cmocka_unit_test_setup_teardown(a_batch_of_two_applications_is_counted_by_each, setup,
                                        test_fixture_close),
        cmocka_unit_test_setup_teardown(large_projects_are_read_by_an_index, setup,
                                        test_fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
