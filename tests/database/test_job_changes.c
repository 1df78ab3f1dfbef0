/* SPDX-License-Identifier: Apache-2.0 */
/* Changing many jobs at once: those that are selected, some hundred in a transaction, and what a
 * transition then makes of them. */
#include "db/job_changes.h"

#include "db/admin.h"
#include "server/base/arena.h"
#include "server/policy/result/transition_rules.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <pthread.h>

#include "server/base/banned.h"

#define NOW 1800000000
enum { JOBS = 600, OTHERS = 3 };

static struct test_fixture *fixture;

/* Jobs 1 to 600 of batch 9, "job_N", with two unsent results each; three of another application and
 * batch, "Other%N". */
static int setup(void **state)
{
    (void)test_fixture_open(state);
    fixture = *state;
    test_sql(
        fixture->database,
        "INSERT INTO app (id, name) VALUES (1, 'demo'), (2, 'rare');"
        "INSERT INTO workunit (id, name, appid, batch, min_quorum, target_nresults,"
        " max_error_results, max_total_results, max_success_results, delay_bound,"
        " transition_time) SELECT seq, CONCAT('job_', seq), 1, 9, 2, 2, 1, 4, 3, 60, 2000000000"
        " FROM seq_1_to_%d;"
        "INSERT INTO workunit (id, name, appid, batch, target_nresults, transition_time)"
        " SELECT 1000 + seq, CONCAT('Other%%', seq), 2, 10, 1, 2000000000 FROM seq_1_to_%d;"
        "INSERT INTO result (id, name, workunitid, appid, batch, server_state)"
        " SELECT 2 * id + seq, CONCAT(name, '_', seq), id, appid, batch, 2"
        " FROM workunit JOIN seq_0_to_1",
        JOBS, OTHERS);
    return 0;
}

static int64_t count(const char *what)
{
    return test_sql_integer(fixture->database, "SELECT COUNT(*) FROM %s", what);
}

static struct jobs_changed change(const struct job_selection *selection, struct job_change change,
                                  int *ret_parts)
{
    struct job_place place = {.is_done = false};
    struct jobs_changed sums = {.selected = 0};

    *ret_parts = 0;
    change.now = NOW;
    while (!place.is_done) {
        struct jobs_changed part;

        assert_status(STATUS_OK, db_jobs_change(fixture->db, fixture->arena, selection, &change,
                                                &place, &part));
        assert_status(STATUS_OK, db_commit(fixture->db));
        assert_true(part.selected <= JOBS_AT_ONCE);
        sums.selected += part.selected;
        sums.jobs += part.jobs;
        sums.results += part.results;
        sums.in_progress += part.in_progress;
        if (part.missing > 0 && sums.missing == 0)
            sums.first_missing = part.first_missing;
        sums.missing += part.missing;
        ++*ret_parts;
    }
    return sums;
}

static struct jobs_changed do_change(struct job_selection selection, enum job_change_kind kind)
{
    int parts;

    return change(&selection, (struct job_change){.kind = kind}, &parts);
}

static void assert_changed(struct jobs_changed changed, uint64_t selected, uint64_t jobs,
                           uint64_t results)
{
    assert_i64((int64_t)changed.selected, (int64_t)selected);
    assert_i64((int64_t)changed.jobs, (int64_t)jobs);
    assert_i64((int64_t)changed.results, (int64_t)results);
}

/* What a transition makes of a job, which is due now. */
static struct transition_wanted transition(int64_t id, struct due_workunit_row *ret_workunit)
{
    const struct transition_rules rules = {.now = NOW};
    struct transition_wanted wanted = {.count = 0};
    struct due_result_row *results;
    struct due_rows rows;

    assert_status(STATUS_OK, db_admin_due_lock(fixture->db, fixture->arena, &id, 1, NOW, &rows));
    assert_i64((int64_t)rows.workunit_count, 1);
    results = ARENA_ARRAY(fixture->arena, rows.result_count, struct due_result_row);
    transition_decide(&rules, &rows.workunits[0], rows.results, rows.result_count, ret_workunit,
                      results, &wanted);
    assert_status(STATUS_OK, db_rollback(fixture->db));
    return wanted;
}

/* --- which --------------------------------------------------------------------------------- */

static void jobs_are_selected_by_all_that_is_given(void **state)
{
    const struct text names[] = {TEXT("job_7"), TEXT("JOB_8"), TEXT("Other%1"), TEXT("Other%4"),
                                 TEXT("job")};
    const struct {
        struct job_selection selection;
        uint64_t wanted, missing;
        size_t first_missing;
        int parts;
    } cases[] = {
        {{.names = names, .name_count = 5}, 3, 2, 3, 1},
        {{.names = names, .name_count = 5, .appid = 2}, 1, 2, 3, 1},
        {{.names = names, .name_count = 5, .name_prefix = TEXT("Oth")}, 1, 2, 3, 1},
        {{.names = names, .name_count = 1, .batch = 10}, 0, 0, 0, 1},
        {{.name_prefix = TEXT("job_")}, JOBS, 0, 0, 3},
        {{.name_prefix = TEXT("Other%")}, OTHERS, 0, 0, 1},
        {{.name_prefix = TEXT("jo%")}, 0, 0, 0, 1},
        {{.name_prefix = TEXT("job_59"), .batch = 9}, 11, 0, 0, 1},
        {{.batch = 9}, JOBS, 0, 0, 3},
        {{.batch = 9, .first_id = 10, .last_id = 29}, 20, 0, 0, 3},
        {{.batch = 11}, 0, 0, 0, 1},
        {{.appid = 1}, JOBS, 0, 0, 3},
        {{.appid = 2, .first_id = 600}, OTHERS, 0, 0, 1},
        {{.first_id = 600, .last_id = 1001}, 2, 0, 0, 1},
        {{.first_id = 5, .last_id = 5}, 1, 0, 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int parts;
        struct jobs_changed changed =
            change(&cases[i].selection,
                   (struct job_change){.kind = JOB_CHANGE_CANCEL, .is_rehearsed = true}, &parts);

        assert_changed(changed, cases[i].wanted, cases[i].wanted, 0);
        assert_i64((int64_t)changed.missing, (int64_t)cases[i].missing);
        assert_i64((int64_t)changed.first_missing, (int64_t)cases[i].first_missing);
        assert_i64(parts, cases[i].parts);
    }
    assert_i64(count("workunit WHERE error_mask <> 0 OR transition_time <> 2000000000"), 0);
    assert_i64(count("result WHERE server_state <> 2"), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct jobs_changed changed = do_change(cases[i].selection, JOB_CHANGE_TRANSITION);

        assert_changed(changed, cases[i].wanted, cases[i].wanted, 0);
        assert_i64(count("workunit WHERE transition_time = 1800000000"), (int64_t)cases[i].wanted);
        test_sql(fixture->database, "UPDATE workunit SET transition_time = 2000000000");
    }
}

/* An old database lacks the index of batches. */
static void a_batch_is_found_without_its_index(void **state)
{
    (void)state;
    test_sql(fixture->database, "ALTER TABLE workunit DROP INDEX wu_batch");
    assert_changed(do_change((struct job_selection){.batch = 10}, JOB_CHANGE_TRANSITION), OTHERS,
                   OTHERS, 0);
}

/* Of an application that is gone, for a host that is gone, for it and for one that is there, for a
 * record that was merged. */
static void lost_jobs_are_found_and_end(void **state)
{
    (void)state;
    test_sql(fixture->database,
             "INSERT INTO user (id, email_addr, name, authenticator) VALUES (1, 'a', 'a', 'a');"
             "INSERT INTO host (id, userid) VALUES (5, 1), (6, 0);"
             "INSERT INTO assignment (id, workunitid, target_type, target_id) VALUES"
             " (1, 10, 1, 4), (2, 11, 1, 4), (3, 11, 1, 5), (4, 12, 1, 6), (5, 13, 2, 1),"
             " (6, 14, 0, 0), (7, 15, 3, 9);"
             "UPDATE workunit SET appid = 77 WHERE id = 20");
    assert_changed(do_change((struct job_selection){.is_lost = true}, JOB_CHANGE_CANCEL), 4, 4, 8);
    assert_text(test_sql_text(fixture->database,
                              "SELECT GROUP_CONCAT(id ORDER BY id) FROM workunit"
                              " WHERE error_mask = 16 AND transition_time = 1800000000"),
                "10,12,15,20");
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT SUM(id) FROM workunit WHERE assimilate_state = 2"),
               20);
    assert_changed(
        do_change((struct job_selection){.is_lost = true, .appid = 1}, JOB_CHANGE_CANCEL), 0, 0, 0);
}

/* --- what becomes of them ------------------------------------------------------------------ */

static void cancel_takes_back_what_is_not_out(void **state)
{
    const struct job_selection batch = {.batch = 9};
    struct jobs_changed changed;

    (void)state;
    test_sql(fixture->database,
             "UPDATE result SET server_state = 4, hostid = 1 WHERE name = 'job_3_0';"
             "UPDATE result SET server_state = 1 WHERE name = 'job_3_1';"
             "UPDATE workunit SET canonical_resultid = 1 WHERE name = 'job_4'");
    changed = do_change(batch, JOB_CHANGE_CANCEL);
    assert_changed(changed, JOBS, JOBS - 1, 2 * JOBS - 3);
    assert_i64((int64_t)changed.in_progress, 1);
    assert_i64(count("workunit WHERE error_mask = 16 AND batch = 9 AND "
                     "transition_time = 1800000000"),
               JOBS - 1);
    assert_i64(count("result WHERE server_state = 5 AND outcome = 5"), 2 * JOBS - 3);
    assert_i64(count("result WHERE server_state = 4 AND outcome = 0"), 1);
    assert_i64(count("result WHERE server_state = 2"), 2 + 2 * OTHERS);
    assert_changed(do_change(batch, JOB_CHANGE_CANCEL), JOBS, 0, 0); /* once is enough */
}

static void priority_is_that_of_the_job_and_of_what_waits(void **state)
{
    int parts;

    (void)state;
    test_sql(fixture->database, "UPDATE result SET server_state = 4 WHERE name = 'job_3_0';"
                                "UPDATE workunit SET canonical_resultid = 1 WHERE id = 4;"
                                "UPDATE workunit SET error_mask = 1 WHERE id = 5");
    assert_changed(change(&(struct job_selection){.batch = 9},
                          (struct job_change){.kind = JOB_CHANGE_PRIORITY, .priority = -7}, &parts),
                   JOBS, JOBS - 2, 2 * (JOBS - 2) - 1);
    assert_i64(count("workunit WHERE priority = -7"), JOBS - 2);
    assert_i64(count("result WHERE priority = -7 AND server_state = 2"), 2 * (JOBS - 2) - 1);
    assert_i64(count("result WHERE priority <> 0 AND name = 'job_3_0'"), 0);
}

static void a_transition_that_is_forbidden_stays_so(void **state)
{
    (void)state;
    test_sql(fixture->database, "UPDATE workunit SET transitioner_flags = id %% 3 WHERE id < 7");
    assert_changed(
        do_change((struct job_selection){.first_id = 1, .last_id = 6}, JOB_CHANGE_TRANSITION), 6, 4,
        0);
    assert_i64(count("workunit WHERE transition_time = 1800000000 AND transitioner_flags = 1"), 0);
}

/* Job 1 failed by errors, 2 by too many results, one of them a success that was given up, 3 could
 * not be sent, 4 is open, 5 has its answer, 6 was cancelled, 7 has no files any more. */
static void failed_jobs_get_results_again(void **state)
{
    struct due_workunit_row after;

    (void)state;
    test_sql(fixture->database,
             "UPDATE result SET server_state = 5, outcome = 3, file_delete_state = 1"
             " WHERE workunitid IN (1, 7);"
             "UPDATE workunit SET error_mask = 2, assimilate_state = 2, file_delete_state = 1,"
             " max_error_results = 1 WHERE id IN (1, 7);"
             "UPDATE workunit SET file_delete_state = 2 WHERE id = 7;"
             "UPDATE result SET server_state = 5, outcome = IF(id = 4, 4, 1), validate_state = 3,"
             " file_delete_state = 2 WHERE workunitid = 2;"
             "UPDATE workunit SET error_mask = 8, assimilate_state = 1, max_total_results = 2"
             " WHERE id = 2;"
             "UPDATE result SET server_state = 5, outcome = 2 WHERE workunitid = 3;"
             "UPDATE workunit SET error_mask = 1 WHERE id = 3;"
             "UPDATE workunit SET canonical_resultid = 10 WHERE id = 5;"
             "UPDATE workunit SET error_mask = 18 WHERE id = 6");
    assert_changed(do_change((struct job_selection){.first_id = 1, .last_id = 7}, JOB_CHANGE_RETRY),
                   7, 3, 3);
    assert_i64(count("workunit WHERE error_mask = 0 AND assimilate_state = 0 AND"
                     " file_delete_state = 0 AND transition_time = 1800000000"),
               3);
    assert_i64(transition(1, &after).count, 2);
    assert_i64(after.error_mask, 0);
    assert_i64(transition(2, &after).count, 2);
    assert_i64(after.error_mask, 0);
    assert_i64(transition(3, &after).count, 2);
    assert_i64(after.error_mask, 0);
    assert_i64(count("workunit WHERE id IN (6, 7) AND error_mask <> 0"), 2);
}

/* Job 1 failed, as its successes were no use to a validator that was broken; 2 waits for a third; 3
 * has its answer and one that was found wrong; the answer of 4 is deleted; of 5 the uploads are; 6
 * was cancelled; 7 has an answer that counts. */
static void successes_are_judged_again(void **state)
{
    struct due_workunit_row after;
    struct jobs_changed changed;

    (void)state;
    test_sql(fixture->database,
             "UPDATE result SET server_state = 5, outcome = 1, hostid = 7, validate_state = 2,"
             " granted_credit = 0 WHERE workunitid < 8;"
             "UPDATE result SET outcome = 6, validate_state = 2 WHERE workunitid = 1;"
             "UPDATE workunit SET error_mask = 2, assimilate_state = 2 WHERE id = 1;"
             "UPDATE result SET validate_state = 4 WHERE workunitid = 2;"
             "UPDATE workunit SET canonical_resultid = 2 * id WHERE id IN (3, 4, 7);"
             "UPDATE result SET validate_state = 1 WHERE id IN (6, 8, 14, 15);"
             "UPDATE result SET file_delete_state = 2 WHERE id = 8 OR workunitid = 5;"
             "UPDATE workunit SET error_mask = 16 WHERE id = 6;"
             "UPDATE workunit SET assimilate_state = 2 WHERE id = 3");
    changed = do_change((struct job_selection){.first_id = 1, .last_id = 7}, JOB_CHANGE_REVALIDATE);
    assert_changed(changed, 7, 3, 5);
    for (int64_t id = 1; id <= 3; id++) {
        assert_i64(transition(id, &after).count, 0);
        assert_i64(after.need_validate, 1);
        assert_i64(after.error_mask, 0);
        assert_i64(after.assimilate_state, id == 3 ? ASSIMILATE_DONE : ASSIMILATE_INIT);
    }
    assert_i64(count("result WHERE id = 6 AND validate_state = 1"), 1); /* credit was granted */
    assert_i64(count("workunit WHERE id IN (4, 5, 6, 7) AND transition_time = 1800000000"), 0);
}

struct other_change {
    enum status status;
    struct jobs_changed changed;
};

static void *cancel_first_jobs(void *argument)
{
    struct other_change *other = argument;
    struct job_place place = {.is_done = false};

    other->status = db_jobs_change(
        fixture->db, fixture->arena, &(struct job_selection){.last_id = 5},
        &(struct job_change){.kind = JOB_CHANGE_CANCEL, .now = NOW}, &place, &other->changed);
    return NULL;
}

/* The answer of job 3 comes between the look at it and its lock. */
static void what_others_changed_meanwhile_stays(void **state)
{
    const int64_t third = 3;
    struct other_change other = {.status = STATUS_DB_BUG};
    struct due_rows rows;
    pthread_t thread;

    (void)state;
    test_sql(fixture->database, "UPDATE workunit SET transition_time = 0 WHERE id = 3");
    assert_status(STATUS_OK,
                  db_admin_due_lock(fixture->other, fixture->arena, &third, 1, NOW, &rows));
    rows.workunits[0].canonical_resultid = 6;
    rows.result_count = 0;
    assert_status(STATUS_OK, db_admin_due_save(fixture->other, fixture->arena, &rows));
    assert_int_equal(pthread_create(&thread, NULL, cancel_first_jobs, &other), 0);
    test_database_wait_for_lock_wait(fixture->database);
    assert_status(STATUS_OK, db_commit(fixture->other));
    (void)pthread_join(thread, NULL);
    assert_status(STATUS_OK, other.status);
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_changed(other.changed, 5, 4, 8);
    assert_i64(count("workunit WHERE error_mask = 16"), 4);
    assert_i64(count("workunit WHERE id = 3 AND error_mask = 0"), 1);
}

static void a_failing_statement_is_said(void **state)
{
    const struct job_change retry = {.kind = JOB_CHANGE_RETRY, .now = NOW};
    const struct job_selection one = {.first_id = 1, .last_id = 1};

    (void)state;
    test_sql(fixture->database, "UPDATE workunit SET error_mask = 2 WHERE id = 1");
    for (uint64_t nth = 1; nth <= 4; nth++) {
        struct job_place place = {.is_done = false};
        struct jobs_changed changed;

        db_fail_nth(fixture->db, nth, STATUS_DB_RETRY);
        assert_status(STATUS_DB_RETRY,
                      db_jobs_change(fixture->db, fixture->arena, &one, &retry, &place, &changed));
        assert_status(STATUS_OK, db_rollback(fixture->db));
    }
    db_fail_nth(fixture->db, 0, STATUS_OK);
    assert_i64(count("workunit WHERE error_mask = 2"), 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(jobs_are_selected_by_all_that_is_given),
        CASE(a_batch_is_found_without_its_index),
        CASE(lost_jobs_are_found_and_end),
        CASE(cancel_takes_back_what_is_not_out),
        CASE(priority_is_that_of_the_job_and_of_what_waits),
        CASE(a_transition_that_is_forbidden_stays_so),
        CASE(failed_jobs_get_results_again),
        CASE(successes_are_judged_again),
        CASE(what_others_changed_meanwhile_stays),
        CASE(a_failing_statement_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
