/* SPDX-License-Identifier: Apache-2.0 */
/* Validation in the database: what is read, locked and written; credit by figures worked by hand;
 * and that nothing is granted twice or by halves, whatever fails or comes between. */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/validation.h"
#include "server/base/arena.h"
#include "server/policy/result/report_verdict.h"
#include "server/policy/result/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { NOW = 1800000000, HOUR = 3600, FAILURES_MAX = 60 };

/* Three users, each with a host; the first two users are in team 1. A job of 3.6e13 FLOP, a quorum
 * of two, of which hosts 1 and 2 have given the same answer. */
static void fill(struct test_fixture *fixture)
{
    test_sql(fixture->database,
             "INSERT INTO team (id, name, expavg_time) VALUES (1, 't1', %d), (2, 't2', %d);"
             "INSERT INTO user (id, name, email_addr, authenticator, teamid, expavg_credit,"
             " expavg_time) SELECT seq, CONCAT('u', seq), CONCAT('u', seq), CONCAT('a', seq),"
             " seq < 3, 50, %d FROM seq_1_to_3;"
             "INSERT INTO host (id, userid, expavg_time) SELECT seq, seq, %d FROM seq_1_to_3;"
             "INSERT INTO app_version (id, appid) VALUES (11, 1);"
             "INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day,"
             " consecutive_valid) SELECT seq, 11, 500, 7 FROM seq_1_to_3;"
             "INSERT INTO workunit (id, name, appid, need_validate, min_quorum, target_nresults,"
             " max_success_results, rsc_fpops_est, transition_time)"
             " VALUES (1, 'w1', 1, 1, 2, 2, 5, 3.6e13, %d)",
             NOW, NOW, NOW - 3 * HOUR, NOW, INT32_MAX);
    test_sql(fixture->database,
             "INSERT INTO result (id, workunitid, name, server_state, outcome, hostid, sent_time,"
             " received_time, elapsed_time, flops_estimate, app_version_id, xml_doc_in)"
             " SELECT seq, 1, CONCAT('w1_', seq), 5, 1, seq, %d, %d, 3600, 5e9, 11,"
             " CONCAT('document ', seq) FROM seq_1_to_2;"
             "INSERT INTO result (id, workunitid, name, server_state) VALUES (8, 1, 'w1_8', 2),"
             " (9, 1, 'w1_9', 1)",
             NOW - 2 * HOUR, NOW);
}

static void add_third(struct test_fixture *fixture)
{
    test_sql(fixture->database,
             "INSERT INTO result (id, workunitid, name, server_state, outcome, hostid, sent_time,"
             " received_time, elapsed_time, flops_estimate, app_version_id)"
             " VALUES (3, 1, 'w1_3', 5, 1, 3, %d, %d, 3600, 5e9, 11);"
             "UPDATE workunit SET need_validate = 1 WHERE id = 1",
             NOW - 2 * HOUR, NOW);
}

/* One validation of workunit 1, as a pass does it. */
struct judging {
    struct validation_rows read;
    struct judged_job job;
    struct quorum_result results[QUORUM_RESULTS_MAX], verdicts[QUORUM_RESULTS_MAX];
    struct quorum quorum;
    struct quorum_decision decision;
    unsigned char answers[QUORUM_RESULTS_MAX * QUORUM_RESULTS_MAX];
};

/* All results are the same, but for one. */
static enum status read_and_compare(struct db *db, struct arena *arena, struct judging *judging,
                                    int64_t wrong)
{
    enum status status = db_validation_read(db, arena, &(int64_t){1}, 1, &judging->read);

    if (status == STATUS_OK)
        status = db_end(db);
    if (status != STATUS_OK)
        return status;
    if (judging->read.workunit_count == 0)
        return STATUS_NOT_FOUND;
    verdict_jobs(&judging->read, &judging->job);
    verdict_select(&judging->job, judging->results, &judging->quorum);
    for (size_t i = 0; i < judging->quorum.count; i++)
        for (size_t j = 0; j < judging->quorum.count; j++)
            judging->answers[i * judging->quorum.count + j] =
                judging->results[i].id == wrong || judging->results[j].id == wrong
                    ? QUORUM_DIFFERENT
                    : QUORUM_SAME;
    judging->quorum.answers = judging->answers;
    assert_int_equal(quorum_decide(&judging->quorum, judging->verdicts, &judging->decision),
                     QUORUM_DECIDED);
    return STATUS_OK;
}

static enum status lock_and_write(struct db *db, struct arena *arena, const struct judging *judging)
{
    const struct verdict_rules rules = {.now = NOW, .daily_result_quota = 500};
    const struct credited_pair pairs[] = {{3, 11}, {1, 11}, {2, 11}};
    struct validation_rows before, after;
    struct judged_job job;
    struct verdict_counts counts = {.valid = 0};
    enum status status = db_validation_lock(db, arena, &(int64_t){1}, 1, pairs, 3, &before);

    if (status != STATUS_OK)
        return status;
    if (before.workunit_count == 0)
        return STATUS_NOT_FOUND;
    verdict_jobs(&before, &job);
    if (!verdict_is_current(&judging->job, &job))
        return STATUS_INVALID;
    assert_status(STATUS_OK, db_validation_copy(arena, &before, &after));
    verdict_jobs(&after, &job);
    verdict_apply(&rules, &judging->decision, judging->verdicts, judging->quorum.count, &job,
                  &after, &counts);
    status = db_validation_save(db, arena, &before, &after);
    return status == STATUS_OK ? db_commit(db) : status;
}

static enum status judge(struct test_fixture *fixture, int64_t wrong)
{
    struct judging *judging = calloc(1, sizeof(*judging));
    enum status status;

    assert_non_null(judging);
    arena_reset(fixture->arena);
    status = read_and_compare(fixture->db, fixture->arena, judging, wrong);
    if (status == STATUS_OK)
        status = lock_and_write(fixture->db, fixture->arena, judging);
    free(judging);
    return status;
}

static double credit_of(struct test_fixture *fixture, const char *table, int64_t id)
{
    return test_sql_real(fixture->database, "SELECT total_credit FROM %s WHERE id = %lld", table,
                         (long long)id);
}

static void due_workunits_are_found_by_app(void **state)
{
    struct test_fixture *fixture = *state;
    int64_t ids[3];
    size_t count;

    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, appid, need_validate) SELECT seq, CONCAT('w', seq),"
             " 1 + seq MOD 2, seq > 4 FROM seq_1_to_12");
    assert_status(STATUS_OK, db_validation_due(fixture->db, 1, 0, ids, 3, &count));
    assert_int_equal(count, 3);
    assert_i64(ids[0], 6);
    assert_i64(ids[2], 10);
    assert_status(STATUS_OK, db_validation_due(fixture->db, 1, ids[2], ids, 3, &count));
    assert_int_equal(count, 1);
    assert_i64(ids[0], 12);
}

static void documents_come_in_the_order_of_ids(void **state)
{
    struct test_fixture *fixture = *state;
    const int64_t ids[] = {2, 1, 77};
    struct output_document_row *rows;
    size_t count;

    fill(fixture);
    assert_status(STATUS_OK,
                  db_output_documents(fixture->db, fixture->arena, ids, 3, &rows, &count));
    assert_int_equal(count, 2);
    assert_text(rows[0].xml_doc_in, "document 1");
    assert_i64(rows[1].id, 2);
}

/* 3.6e13 / 4.32e11 = 83.3333 for each; 50 * 0.987699 + 0.0123013 * 83.3333 / 0.125 = 57.5858. */
static void assert_granted_once(struct test_fixture *fixture)
{
    for (int64_t id = 1; id <= 2; id++) {
        assert_real(credit_of(fixture, "user", id), 83.333333, 1e-6);
        assert_real(credit_of(fixture, "host", id), 83.333333, 1e-6);
        assert_real(test_sql_real(fixture->database,
                                  "SELECT expavg_credit FROM user WHERE id = %lld", (long long)id),
                    57.585827, 1e-6);
        assert_i64(test_sql_integer(fixture->database,
                                    "SELECT max_jobs_per_day * 1000 + consecutive_valid FROM"
                                    " host_app_version WHERE host_id = %lld AND et_n = 1 AND"
                                    " turnaround_avg = 7200 AND pfc_avg BETWEEN 0.4999 AND 0.5001",
                                    (long long)id),
                   501008);
        assert_real(test_sql_real(fixture->database,
                                  "SELECT granted_credit FROM result WHERE id = %lld AND"
                                  " validate_state = 1",
                                  (long long)id),
                    83.333333, 1e-6);
    }
    assert_real(credit_of(fixture, "team", 1), 166.666667, 1e-6);
    assert_real(credit_of(fixture, "team", 2), 0, 0);
    assert_i64(test_sql_integer(fixture->database, "SELECT pfc_n FROM app_version"), 2);
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(*) FROM result WHERE id IN (8, 9) AND"
                                " server_state = 5 AND outcome = 5"),
               2);
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(*) FROM workunit WHERE canonical_resultid = 1 AND"
                                " need_validate = 0 AND assimilate_state = 1 AND"
                                " transition_time = 2147483647 AND"
                                " canonical_credit BETWEEN 83.3333 AND 83.3334"),
               1);
}

static void assert_nothing_granted(struct test_fixture *fixture)
{
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT (SELECT SUM(total_credit) FROM user)"
                                " + (SELECT SUM(total_credit) FROM host)"
                                " + (SELECT SUM(total_credit) FROM team)"
                                " + (SELECT SUM(validate_state + granted_credit) FROM result)"
                                " + (SELECT SUM(et_n + pfc_n) FROM host_app_version)"
                                " + (SELECT SUM(canonical_resultid) FROM workunit)"),
               0);
    assert_i64(test_sql_integer(fixture->database, "SELECT need_validate FROM workunit"), 1);
}

static void the_worked_example(void **state)
{
    struct test_fixture *fixture = *state;

    fill(fixture);
    assert_status(STATUS_OK, judge(fixture, 0));
    assert_granted_once(fixture);
    add_third(fixture); /* a late one */
    assert_status(STATUS_OK, judge(fixture, 0));
    assert_real(credit_of(fixture, "user", 3), 83.333333, 1e-6);
    assert_real(test_sql_real(fixture->database, "SELECT SUM(total_credit) FROM user"), 250, 1e-6);
    assert_i64(test_sql_integer(fixture->database, "SELECT transition_time FROM workunit"), NOW);
    assert_status(STATUS_NOT_FOUND, judge(fixture, 0));
}

static void a_late_result_that_differs_costs_its_host(void **state)
{
    struct test_fixture *fixture = *state;

    fill(fixture);
    assert_status(STATUS_OK, judge(fixture, 0));
    add_third(fixture);
    assert_status(STATUS_OK, judge(fixture, 3));
    assert_real(credit_of(fixture, "user", 3), 0, 0);
    assert_i64(
        test_sql_integer(fixture->database, "SELECT validate_state FROM result WHERE id = 3"), 2);
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT consecutive_valid FROM host_app_version WHERE host_id = 3"),
               0);
}

static void whatever_fails_nothing_is_granted_twice(void **state)
{
    static const enum status failures[] = {STATUS_DB_GONE, STATUS_DB_RETRY, STATUS_DB_REFUSED};
    struct test_fixture *fixture = *state;
    uint64_t most = 0;

    for (size_t kind = 0; kind < 3; kind++)
        for (uint64_t n = 1; n < FAILURES_MAX; n++) {
            enum status status;

            test_fixture_clear(fixture);
            fill(fixture);
            db_fail_nth(fixture->db, n, failures[kind]);
            status = judge(fixture, 0);
            db_fail_nth(fixture->db, 0, STATUS_OK);
            if (status == STATUS_OK) {
                most = n > most ? n : most;
                assert_granted_once(fixture);
                break;
            }
            assert_status(failures[kind], status);
            (void)db_rollback(fixture->db);
            assert_nothing_granted(fixture);
            assert_status(STATUS_OK, judge(fixture, 0));
            assert_granted_once(fixture);
        }
    assert_true(most > 15 && most < FAILURES_MAX); /* every statement had its turn */
}

static void what_changed_meanwhile_is_read_again(void **state)
{
    static const char *const changes[] = {
        /* a report came */
        "UPDATE result SET server_state = 5, outcome = 1, hostid = 3 WHERE id = 8",
        /* another validator was quicker, or half done */
        "UPDATE workunit SET canonical_resultid = 2",
        "UPDATE result SET validate_state = 4 WHERE id = 2",
        /* the account of a result was deleted */
        "UPDATE result SET outcome = 7, validate_state = 2, hostid = 0 WHERE id = 1",
        /* two records of one computer were merged */
        "UPDATE result SET hostid = 3 WHERE id = 2",
        /* the job was cancelled */
        "UPDATE workunit SET error_mask = 16", "UPDATE workunit SET min_quorum = 3"};
    struct test_fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct judging *judging = calloc(1, sizeof(*judging));

        assert_non_null(judging);
        test_fixture_clear(fixture);
        fill(fixture);
        assert_status(STATUS_OK, read_and_compare(fixture->db, fixture->arena, judging, 0));
        test_sql(fixture->database, "%s", changes[i]);
        if (lock_and_write(fixture->db, fixture->arena, judging) != STATUS_INVALID)
            fail_msg("%s", changes[i]);
        assert_status(STATUS_OK, db_rollback(fixture->db));
        assert_real(credit_of(fixture, "user", 1), 0, 0);
        free(judging);
    }
}

static void what_does_not_matter_is_no_change(void **state)
{
    struct test_fixture *fixture = *state;
    struct judging *judging = calloc(1, sizeof(*judging));

    assert_non_null(judging);
    fill(fixture);
    assert_status(STATUS_OK, read_and_compare(fixture->db, fixture->arena, judging, 0));
    test_sql(fixture->database,
             "UPDATE result SET server_state = 4, report_deadline = %d, hostid ="
             " 3 WHERE id = 8; UPDATE workunit SET transition_time = 5",
             NOW + 99);
    assert_status(STATUS_OK, lock_and_write(fixture->db, fixture->arena, judging));
    /* The deadline of what was sent meanwhile is looked at. */
    assert_i64(test_sql_integer(fixture->database, "SELECT transition_time FROM workunit"),
               NOW + 99);
    free(judging);
}

static void two_at_once_grant_once(void **state)
{
    struct test_fixture *fixture = *state;
    struct judging *first = calloc(1, sizeof(*first)), *second = calloc(1, sizeof(*second));

    assert_non_null(first);
    assert_non_null(second);
    fill(fixture);
    assert_status(STATUS_OK, read_and_compare(fixture->db, fixture->arena, first, 0));
    assert_status(STATUS_OK, read_and_compare(fixture->other, fixture->arena, second, 0));
    assert_status(STATUS_OK, lock_and_write(fixture->db, fixture->arena, first));
    assert_status(STATUS_NOT_FOUND, lock_and_write(fixture->other, fixture->arena, second));
    assert_status(STATUS_OK, db_rollback(fixture->other));
    assert_granted_once(fixture);
    free(first);
    free(second);
}

static void credit_goes_to_the_team_of_the_moment(void **state)
{
    struct test_fixture *fixture = *state;

    fill(fixture);
    test_sql(fixture->database, "UPDATE user SET teamid = 2 WHERE id = 2;"
                                "UPDATE result SET teamid = 1");
    assert_status(STATUS_OK, judge(fixture, 0));
    assert_real(credit_of(fixture, "team", 1), 83.333333, 1e-6);
    assert_real(credit_of(fixture, "team", 2), 83.333333, 1e-6);
}

static void who_is_gone_gets_nothing(void **state)
{
    struct test_fixture *fixture = *state;

    fill(fixture);
    test_sql(fixture->database, "DELETE FROM host WHERE id = 1; DELETE FROM user WHERE id = 2;"
                                "DELETE FROM host_app_version; DELETE FROM app_version");
    assert_status(STATUS_OK, judge(fixture, 0));
    assert_real(test_sql_real(fixture->database, "SELECT SUM(total_credit) FROM user"), 0, 0);
    assert_real(credit_of(fixture, "host", 2), 83.333333, 1e-6);
    assert_i64(test_sql_integer(fixture->database, "SELECT SUM(validate_state) FROM result"), 2);
}

static void a_preset_credit_wins_and_is_granted_to_all(void **state)
{
    struct test_fixture *fixture = *state;

    fill(fixture);
    test_sql(fixture->database, "UPDATE workunit SET canonical_credit = 77");
    assert_status(STATUS_OK, judge(fixture, 0));
    add_third(fixture);
    test_sql(fixture->database, "UPDATE workunit SET canonical_credit = 5"); /* says nothing now */
    assert_status(STATUS_OK, judge(fixture, 0));
    assert_real(test_sql_real(fixture->database, "SELECT SUM(total_credit) FROM user"), 231, 1e-9);
}

static void what_is_put_off_is_due_again(void **state)
{
    struct test_fixture *fixture = *state;
    size_t count;

    fill(fixture);
    for (int i = 0; i < 2; i++) { /* the second time it is not there to be put off */
        assert_status(STATUS_OK,
                      db_validation_postpone(fixture->db, &(int64_t){1}, 1, NOW + 600 + i, &count));
        assert_int_equal(count, 1 - i);
        assert_status(STATUS_OK, db_commit(fixture->db));
        assert_i64(test_sql_integer(fixture->database, "SELECT transition_time FROM workunit"),
                   NOW + 600);
    }
    assert_i64(test_sql_integer(fixture->database, "SELECT need_validate FROM workunit"), 0);
    assert_i64(test_sql_integer(fixture->database, "SELECT SUM(validate_state) FROM result"), 0);
}

/* A list of pairs goes to the database in parts, and a row may be found by two of them. */
static void many_pairs_give_each_row_once(void **state)
{
    enum { HOSTS = 200, VERSIONS = 3, PAIRS = HOSTS * VERSIONS };
    struct test_fixture *fixture = *state;
    struct credited_pair *pairs = calloc(PAIRS, sizeof(*pairs));
    struct validation_rows rows;

    assert_non_null(pairs);
    test_sql(fixture->database,
             "INSERT INTO host_app_version (host_id, app_version_id) SELECT hosts.seq, versions.seq"
             " FROM seq_1_to_%d AS hosts, seq_11_to_14 AS versions", /* nobody has 14 */
             HOSTS);
    for (int64_t i = 0; i < PAIRS; i++)
        pairs[PAIRS - 1 - i] = (struct credited_pair){1 + i / VERSIONS, 11 + i % VERSIONS};
    assert_status(STATUS_OK, db_validation_lock(fixture->db, fixture->arena, &(int64_t){1}, 1,
                                                pairs, PAIRS, &rows));
    assert_int_equal(rows.host_version_count, PAIRS);
    for (int64_t i = 0; i < PAIRS; i++) {
        assert_i64(rows.host_versions[i].host_id, 1 + i / VERSIONS);
        assert_i64(rows.host_versions[i].app_version_id, 11 + i % VERSIONS);
    }
    assert_status(STATUS_OK, db_rollback(fixture->db));
    free(pairs);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, test_fixture_open, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(due_workunits_are_found_by_app),
        CASE(documents_come_in_the_order_of_ids),
        CASE(the_worked_example),
        CASE(a_late_result_that_differs_costs_its_host),
        CASE(whatever_fails_nothing_is_granted_twice),
        CASE(what_changed_meanwhile_is_read_again),
        CASE(what_does_not_matter_is_no_change),
        CASE(two_at_once_grant_once),
        CASE(credit_goes_to_the_team_of_the_moment),
        CASE(who_is_gone_gets_nothing),
        CASE(a_preset_credit_wins_and_is_granted_to_all),
        CASE(what_is_put_off_is_due_again),
        CASE(many_pairs_give_each_row_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
