/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-out: candidates, locks, claims, documents; two connections that want the same. */
#include "db/db.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define NOW 1800000000

static void add_jobs(struct test_database *database, int first, int last, int appid, int priority)
{
    test_sql(database,
             "INSERT INTO workunit (id, appid, name, transition_time, rsc_memory_bound, priority,"
             " target_nresults, xml_doc) SELECT seq, %d, CONCAT('wu_', seq), 2147483647, 1e6, %d,"
             " 2, CONCAT('<workunit>', seq, '</workunit>') FROM seq_%d_to_%d;"
             "INSERT INTO result (id, workunitid, appid, name, server_state, priority, xml_doc_in)"
             " SELECT 1000 + seq, seq, %d, CONCAT('wu_', seq, '_0'), 2, %d, CONCAT('<result>', seq)"
             " FROM seq_%d_to_%d",
             appid, priority, first, last, appid, priority, first, last);
}

static int setup(void **state)
{
    struct test_fixture *f = *state;

    test_fixture_clear(f);
    add_jobs(f->database, 1, 20, 1, 0);
    return 0;
}

static struct claim claim_of(int workunit)
{
    return (struct claim){.resultid = 1000 + workunit,
                          .workunitid = workunit,
                          .sent_time = NOW,
                          .report_deadline = NOW + 1000,
                          .app_version_id = 5,
                          .flops_estimate = 1e10};
}

static void claim_for_good(struct test_fixture *f, const struct claim *claims, size_t count)
{
    assert_status(STATUS_OK, db_results_claim(f->db, f->arena, 7, 9, claims, count));
    assert_status(STATUS_OK, db_commit(f->db));
}

static void a_claim_writes_result_and_workunit(void **state)
{
    struct test_fixture *f = *state;
    struct claim claim = claim_of(3);

    claim.commit_hr_class = 77;
    claim.commit_app_version_id = 5;
    claim_for_good(f, &claim, 1);
    assert_text(test_sql_text(f->database,
                              "SELECT CONCAT_WS(' ', server_state, hostid, userid, sent_time,"
                              " report_deadline, app_version_id, flops_estimate)"
                              " FROM result WHERE id = 1003"),
                "4 7 9 1800000000 1800001000 5 10000000000");
    assert_text(test_sql_text(f->database,
                              "SELECT CONCAT_WS(' ', transition_time, hr_class, app_version_id)"
                              " FROM workunit WHERE id = 3"),
                "1800001000 77 5");
}

static void a_claim_never_raises_transition_time_nor_uncommits(void **state)
{
    struct test_fixture *f = *state;
    struct claim claim = claim_of(4);

    test_sql(f->database, "UPDATE workunit SET transition_time = 5, hr_class = 8,"
                          " app_version_id = 9 WHERE id = 4");
    claim_for_good(f, &claim, 1);
    assert_text(test_sql_text(f->database,
                              "SELECT CONCAT_WS(' ', transition_time, hr_class, app_version_id)"
                              " FROM workunit WHERE id = 4"),
                "5 8 9");
}

/* One writes the results, one the workunits; as many if each job is of a kind of its own. */
static void claiming_ten_takes_two_statements(void **state)
{
    struct test_fixture *f = *state;
    struct claim claims[10];

    for (int kinds = 1; kinds <= 2; kinds++) {
        for (int i = 0; i < 10; i++) {
            claims[i] = claim_of(10 - i);
            if (kinds == 2)
                claims[i].report_deadline += i % 2;
        }
        assert_status(STATUS_OK, db_results_claim(f->db, f->arena, 7, 9, claims, 10));
        assert_status(STATUS_OK, db_rollback(f->db));
        assert_status(STATUS_OK, db_begin(f->db));
        db_count_reset(f->db);
        assert_status(STATUS_OK, db_results_claim(f->db, f->arena, 7, 9, claims, 10));
        assert_i64((int64_t)db_count(f->db).statements, 2);
        assert_status(STATUS_OK, db_rollback(f->db));
    }
    assert_status(STATUS_OK, db_results_claim(f->db, f->arena, 7, 9, claims, 10));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM result WHERE hostid = 7"), 10);
    assert_i64(
        test_sql_integer(f->database,
                         "SELECT COUNT(*) FROM result JOIN workunit"
                         " ON workunit.id = workunitid WHERE report_deadline = transition_time"
                         " AND report_deadline = 1800001000 + (10 - workunitid) %% 2"),
        10);
}

/* What is written alike is written together, and each job's values are its own otherwise. */
static void every_value_of_a_claim_counts(void **state)
{
    struct test_fixture *f = *state;
    struct claim claims[4];

    for (int turn = 0; turn < 14; turn++) { /* 6: all are alike */
        int kind = turn % 7, count = turn < 7 ? 3 : 4;

        for (int i = 0; i < count; i++)
            claims[i] = claim_of(i + 1);
        claims[2].sent_time += kind == 0;
        claims[2].report_deadline += kind == 1;
        claims[2].app_version_id += kind == 2;
        claims[2].flops_estimate += kind == 3;
        claims[2].commit_hr_class = kind == 4;
        claims[2].commit_app_version_id = kind == 5;
        claim_for_good(f, claims, (size_t)count);
        assert_i64(
            test_sql_integer(f->database,
                             "SELECT COUNT(*) FROM result JOIN workunit ON workunit.id = workunitid"
                             " WHERE server_state = 4 AND sent_time = 1800000000 + (%d AND"
                             " workunitid = 3) AND report_deadline = 1800001000 + (%d AND"
                             " workunitid = 3) AND result.app_version_id = 5 + (%d AND"
                             " workunitid = 3) AND flops_estimate = 1e10 + (%d AND workunitid = 3)"
                             " AND hr_class = (%d AND workunitid = 3) AND"
                             " workunit.app_version_id = (%d AND workunitid = 3)"
                             " AND transition_time = report_deadline",
                             kind == 0, kind == 1, kind == 2, kind == 3, kind == 4, kind == 5),
            count);
        test_sql(f->database, "UPDATE result SET server_state = 2, hostid = 0;"
                              "UPDATE workunit SET transition_time = 2147483647, hr_class = 0,"
                              " app_version_id = 0");
    }
}

/* Few jobs that are written alike are one statement, unless two are of one workunit. */
static void claiming_a_few_takes_one_statement(void **state)
{
    struct test_fixture *f = *state;
    static const uint64_t statements[] = {1, 1, 2};

    for (int kind = 0; kind < 3; kind++) {
        struct claim claims[2] = {claim_of(2), claim_of(1)};
        size_t count = kind == 0 ? 1 : 2;

        claims[0].commit_hr_class = claims[1].commit_hr_class = 4;
        if (kind == 2) {
            test_sql(f->database, "UPDATE result SET workunitid = 1 WHERE id = 1002");
            claims[0].workunitid = 1;
        }
        for (int turn = 0; turn < 2; turn++) {
            assert_status(STATUS_OK, db_rollback(f->db));
            assert_status(STATUS_OK, db_begin(f->db));
            db_count_reset(f->db);
            assert_status(STATUS_OK, db_results_claim(f->db, f->arena, 7, 9, claims, count));
        }
        assert_i64((int64_t)db_count(f->db).statements, (int64_t)statements[kind]);
        assert_status(STATUS_OK, db_commit(f->db));
        assert_i64(
            test_sql_integer(f->database, "SELECT COUNT(*) FROM result WHERE server_state = 4"),
            (int64_t)count);
        assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM workunit WHERE hr_class = 4"
                                                 " AND transition_time = 1800001000"),
                   kind == 1 ? 2 : 1);
        test_sql(f->database, "UPDATE result SET server_state = 2, hostid = 0;"
                              "UPDATE workunit SET transition_time = 2147483647, hr_class = 0");
    }
}

/* A workunit whose transition comes before, as the lock has shown, is not written for nothing. */
static void a_workunit_that_stays_as_it_is_is_not_written(void **state)
{
    struct test_fixture *f = *state;
    struct claim claims[2] = {claim_of(1), claim_of(2)};

    test_sql(f->database, "UPDATE workunit SET transition_time = 7");
    claims[0].is_due_before = claims[1].is_due_before = true;
    assert_status(STATUS_OK, db_begin(f->db));
    db_count_reset(f->db);
    assert_status(STATUS_OK, db_results_claim(f->db, f->arena, 7, 9, claims, 2));
    assert_i64((int64_t)db_count(f->db).statements, 1);
    assert_status(STATUS_OK, db_rollback(f->db));
    claims[1].commit_hr_class = 3;
    claim_for_good(f, claims, 2);
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM workunit WHERE"
                                             " transition_time = 7 AND hr_class = 3 AND id = 2"),
               1);
    assert_i64(
        test_sql_integer(f->database, "SELECT COUNT(*) FROM workunit WHERE transition_time <> 7"),
        0);
}

/* Counted by the server, not by us: the library must not fall back to one command per row. Others
 * may use the server at the same time, so it is tried until once nobody did. */
enum { QUIET_TRIES = 1000 };
static void a_bulk_execution_is_one_command(void **state)
{
    struct test_fixture *f = *state;
    struct claim claims[10];
    int64_t least = INT64_MAX;
    static const char commands[] = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
                                   " WHERE VARIABLE_NAME = 'QUESTIONS'";

    for (int i = 0; i < 10; i++) {
        claims[i] = claim_of(10 + i);
        claims[i].report_deadline += i;
    }
    for (int i = 0; i < QUIET_TRIES && least > 3; i++) {
        assert_status(STATUS_OK, db_begin(f->db));
        assert_status(STATUS_OK, db_run_text(f->db, "DO 0")); /* and it has begun */

        int64_t before = test_sql_integer(f->database, commands), after;

        assert_status(STATUS_OK, db_results_claim(f->db, f->arena, 7, 9, claims, 10));
        after = test_sql_integer(f->database, commands);
        least = after - before < least ? after - before : least;
        assert_status(STATUS_OK, db_rollback(f->db));
    }
    assert_in_range(least, 1, 3); /* results, workunits, and the one that counts */
}

static struct job_key key_of(int workunit)
{
    return (struct job_key){.resultid = 1000 + workunit, .workunitid = workunit};
}

/* Whoever has it, and since whatever second: this host, by an earlier request in the same second,
 * or another one. The claim itself then finds fewer rows than are meant, and says so by itself or,
 * where it was sent ahead, by the next command. */
static void what_was_sent_is_not_unsent_under_the_lock(void **state)
{
    struct test_fixture *f = *state;
    const struct claim mine[3] = {claim_of(1), claim_of(2), claim_of(3)};
    const struct job_key keys[3] = {key_of(1), key_of(2), key_of(3)};
    struct locked_job jobs[3];

    for (int64_t host = 7; host <= 8; host++) {
        test_sql(f->database,
                 "UPDATE result SET server_state = 4, hostid = %lld, userid = 9, sent_time = %d,"
                 " report_deadline = %d, app_version_id = 5, flops_estimate = 1e10 WHERE id = 1002",
                 (long long)host, NOW, NOW + 1000);
        assert_status(STATUS_OK, db_jobs_lock(f->db, f->arena, keys, 3, NULL, jobs));
        for (int i = 0; i < 3; i++)
            assert_int_equal(jobs[i].is_unsent, i != 1);
        assert_status(STATUS_OK, db_results_claim(f->db, f->arena, 7, 9, mine, 3));
        assert_status(STATUS_DB_RETRY, db_commit(f->db));
        assert_status(STATUS_OK, db_rollback(f->db));
        db_send_ahead(f->db, false);
        assert_status(STATUS_DB_RETRY, db_results_claim(f->db, f->arena, 7, 9, mine, 3));
        assert_status(STATUS_OK, db_rollback(f->db));
        db_send_ahead(f->db, true);
    }
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM result WHERE hostid <> 0"), 1);
}

static void locking_reads_the_counts_in_one_round_trip(void **state)
{
    struct test_fixture *f = *state;
    const struct job_key keys[] = {key_of(5), key_of(3), key_of(999), key_of(4)};
    const struct counted_results counts = {.userid = 9, .hostid = 7};
    struct locked_job jobs[4];

    test_sql(f->database, "UPDATE result SET userid = 9, hostid = 70 WHERE id = 1004;"
                          "UPDATE result SET userid = 9, hostid = 7 WHERE id = 1005;"
                          "UPDATE workunit SET hr_class = 6, app_version_id = 2, error_mask = 16,"
                          " canonical_resultid = 1004, transition_time = 8 WHERE id = 4");
    assert_status(STATUS_OK, db_jobs_lock(f->db, f->arena, keys, 4, &counts, jobs));
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_begin(f->db));
    db_count_reset(f->db);
    assert_status(STATUS_OK, db_jobs_lock(f->db, f->arena, keys, 4, &counts, jobs));
    assert_i64((int64_t)db_count(f->db).round_trips, 1);
    assert_null(jobs[2].row);
    assert_i64(jobs[1].row->id, 3);
    assert_i64(jobs[1].row->results_of_user, 0);
    assert_i64(jobs[3].row->id, 4);
    assert_i64(jobs[3].row->results_of_user, 1);
    assert_i64(jobs[3].row->results_of_host, 0);
    assert_i64(jobs[3].row->hr_class, 6);
    assert_i64(jobs[3].row->app_version_id, 2);
    assert_i64(jobs[3].row->error_mask, 16);
    assert_i64(jobs[3].row->canonical_resultid, 1004);
    assert_i64(jobs[3].row->transition_time, 8);
    assert_i64(jobs[0].row->results_of_host, 1);
    assert_status(STATUS_OK, db_jobs_lock(f->db, f->arena, keys, 4, NULL, jobs));
    assert_null(jobs[2].row);
    assert_i64(jobs[3].row->id, 4);
    assert_i64(jobs[3].row->results_of_user, 0); /* not asked for */
    assert_i64(jobs[3].row->hr_class, 6);
    assert_i64(jobs[3].row->app_version_id, 2);
    assert_i64(jobs[3].row->error_mask, 16);
    assert_i64(jobs[3].row->canonical_resultid, 1004);
    assert_i64(jobs[3].row->transition_time, 8);
}

static void locking_reads_the_documents(void **state)
{
    struct test_fixture *f = *state;
    const struct job_key keys[] = {key_of(9), key_of(2), {.resultid = 1003, .workunitid = 4}};
    struct locked_job jobs[3];

    assert_status(STATUS_OK, db_jobs_lock(f->db, f->arena, keys, 3, NULL, jobs));
    assert_text(jobs[0].documents.result_name, "wu_9_0");
    assert_text(jobs[0].documents.workunit_name, "wu_9");
    assert_text(jobs[0].documents.result_xml, "<result>9");
    assert_text(jobs[1].documents.workunit_xml, "<workunit>2</workunit>");
    assert_null(jobs[2].row); /* of another workunit than was said */
}

/* However many there are, and whatever else their workunits have. */
static void results_of_one_workunit_share_it(void **state)
{
    enum { SAME = 300 };
    struct test_fixture *f = *state;
    struct job_key keys[SAME + 1];
    struct locked_job jobs[SAME + 1];

    test_sql(f->database, "INSERT INTO result (id, workunitid, appid, name, server_state) SELECT"
                          " 5000 + seq, 7, 1, CONCAT('more_', seq), 2 FROM seq_1_to_400");
    for (int i = 0; i < SAME; i++)
        keys[i] = (struct job_key){.resultid = 5400 - i, .workunitid = 7};
    keys[SAME] = key_of(6);
    assert_status(STATUS_OK, db_jobs_lock(f->db, f->arena, keys, SAME + 1, NULL, jobs));
    for (int i = 0; i < SAME; i++) {
        assert_ptr_equal(jobs[i].row, jobs[0].row);
        assert_text(jobs[i].documents.result_name,
                    text_string(f->arena, text_print(f->arena, "more_%d", 400 - i)));
    }
    assert_i64(jobs[0].row->id, 7);
    assert_i64(jobs[SAME].row->id, 6);
}

static void what_was_met_is_seen_without_locks(void **state)
{
    struct test_fixture *f = *state;
    const int64_t ids[] = {5, 3, 999, 4, 4};
    struct had_workunit *rows = NULL;
    size_t count = 0;

    test_sql(f->database, "UPDATE result SET userid = 9, hostid = 70 WHERE id = 1004;"
                          "UPDATE result SET userid = 8, hostid = 7 WHERE id = 1005;"
                          "START TRANSACTION; SELECT id FROM workunit FOR UPDATE");
    assert_status(STATUS_OK, db_workunits_had(f->db, f->arena, ids, 5, 9, 7, &rows, &count));
    test_sql(f->database, "ROLLBACK");
    assert_int_equal(count, 2);
    assert_i64(rows[0].id, 4);
    assert_true(rows[0].by_user);
    assert_false(rows[0].by_host);
    assert_i64(rows[1].id, 5);
    assert_false(rows[1].by_user);
    assert_true(rows[1].by_host);
}

struct waiter {
    struct test_fixture *f;
    int64_t results_of_user;
    enum status status;
};

static void *lock_two(void *argument)
{
    struct waiter *waiter = argument;
    const struct job_key keys[] = {key_of(1), {.resultid = 2002, .workunitid = 2}};
    const struct counted_results counts = {.userid = 9, .hostid = 70};
    struct arena *arena = arena_create((size_t)1024 * 1024);
    struct locked_job jobs[2];

    waiter->status = db_jobs_lock(waiter->f->other, arena, keys, 2, &counts, jobs);
    if (waiter->status == STATUS_OK && jobs[0].row != NULL && jobs[1].row != NULL)
        waiter->results_of_user = jobs[1].row->results_of_user;
    arena_destroy(arena);
    return NULL;
}

/* The count must be what is true once the lock is held, not when the statement began: a user's two
 * hosts ask at once, and the second waits while the first takes the job. */
static void counts_are_as_fresh_as_the_lock(void **state)
{
    struct test_fixture *f = *state;
    const struct job_key second = key_of(2);
    struct locked_job job;
    struct waiter waiter = {.f = f, .results_of_user = -1};
    struct claim claim = claim_of(2);
    pthread_t thread;

    test_sql(f->database, "INSERT INTO result (id, workunitid, appid, name, server_state)"
                          " VALUES (2002, 2, 1, 'wu_2_1', 2)");
    assert_status(STATUS_OK, db_jobs_lock(f->db, f->arena, &second, 1, NULL, &job));
    assert_int_equal(pthread_create(&thread, NULL, lock_two, &waiter), 0);
    test_database_wait_for_lock_wait(
        f->database); /* it has counted workunit 1 by now and waits for workunit 2 */
    claim_for_good(f, &claim, 1);
    (void)pthread_join(thread, NULL);
    assert_status(STATUS_OK, waiter.status);
    assert_i64(waiter.results_of_user, 1);
}

struct racer {
    struct test_database *database;
    int64_t hostid;
    int got;
    enum status status;
};

static void *race(void *argument)
{
    struct racer *racer = argument;
    struct arena *arena = arena_create((size_t)16 * 1024 * 1024);
    struct db *db = test_database_open(racer->database);

    for (int round = 0; round < 20; round++) {
        struct claim claims[20];
        struct job_key keys[20];
        struct locked_job jobs[20];
        struct counted_results counts;
        bool is_unsent;

        for (int i = 0; i < 20; i++) { /* each in an order of its own */
            int workunit = (int)((i * 7 + racer->hostid * 3 + round) % 20) + 1;

            claims[i] = claim_of(workunit);
            claims[i].sent_time += round;
            keys[i] = key_of(workunit);
        }
        counts.userid = counts.hostid = racer->hostid;
        racer->status = db_jobs_lock(db, arena, keys, 20, round % 2 == 0 ? &counts : NULL, jobs);
        is_unsent = racer->status == STATUS_OK && jobs[round].is_unsent;
        if (is_unsent)
            racer->status = db_results_claim(db, arena, racer->hostid, 9, claims + round, 1);
        if (racer->status == STATUS_OK)
            racer->status = db_commit(db);
        if (racer->status != STATUS_OK)
            break;
        racer->got += is_unsent;
        arena_reset(arena);
    }
    db_close(db);
    arena_destroy(arena);
    return NULL;
}

static void racing_hosts_share_the_jobs_without_deadlock(void **state)
{
    struct test_fixture *f = *state;
    struct racer racers[4];
    pthread_t threads[4];
    int sum = 0;

    for (int i = 0; i < 4; i++) {
        racers[i] = (struct racer){.database = f->database, .hostid = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        assert_status(STATUS_OK, racers[i].status);
        assert_i64(
            test_sql_integer(f->database, "SELECT COUNT(*) FROM result WHERE hostid = %d", i + 1),
            racers[i].got);
        sum += racers[i].got;
    }
    assert_true(sum > 0);
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM result WHERE server_state = 4"),
               sum);
}

static void documents_come_in_the_order_asked_for(void **state)
{
    struct test_fixture *f = *state;
    const int64_t ids[] = {1009, 12345, 1002};
    struct job_documents documents[3];

    assert_status(STATUS_OK, db_job_documents(f->db, f->arena, ids, 3, documents));
    assert_text(documents[0].result_name, "wu_9_0");
    assert_text(documents[0].workunit_name, "wu_9");
    assert_text(documents[0].result_xml, "<result>9");
    assert_text(documents[1].result_xml, "");
    assert_text(documents[2].workunit_xml, "<workunit>2</workunit>");
}

static struct candidate_filter filter_of(const int64_t *apps, size_t app_count, size_t rows_max)
{
    return (struct candidate_filter){.appids = apps,
                                     .appid_count = app_count,
                                     .memory_max = 1e9,
                                     .disk_max = 1e9,
                                     .rows_max = rows_max};
}

static void candidates_come_by_priority(void **state)
{
    struct test_fixture *f = *state;
    const int64_t apps[] = {1, 2};
    struct candidate_filter filter = filter_of(apps, 2, 25);
    struct candidate *candidates;
    size_t count;

    add_jobs(f->database, 21, 22, 2, 5);
    add_jobs(f->database, 31, 32, 1, -1800000000);
    add_jobs(f->database, 41, 42, 3, 7);
    assert_status(STATUS_OK, db_candidates(f->db, f->arena, &filter, &candidates, &count));
    assert_int_equal(count, 24);
    assert_i64(candidates[0].priority, 5);
    assert_i64(candidates[1].priority, 5);
    assert_i64(candidates[2].priority, 0);
    assert_i64(candidates[23].priority, -1800000000);
    assert_i64(candidates[0].workunit.id, candidates[0].workunitid);
    assert_i64(candidates[0].appid, 2);
}

static void the_oldest_of_the_best_come_first(void **state)
{
    struct test_fixture *f = *state;
    const int64_t app = 1;
    struct candidate_filter filter = filter_of(&app, 1, 5);
    struct candidate *candidates;
    size_t count;

    assert_status(STATUS_OK, db_candidates(f->db, f->arena, &filter, &candidates, &count));
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++)
        assert_in_range(candidates[i].workunitid, 1, 5);
}

static void candidates_are_narrowed_in_the_database(void **state)
{
    struct test_fixture *f = *state;
    const int64_t app = 1;
    struct candidate_filter filter = filter_of(&app, 1, 100);
    struct candidate *candidates;
    size_t count;

    filter.userid = 9;
    test_sql(f->database, "UPDATE workunit SET rsc_memory_bound = 2e9 WHERE id = 1;"
                          "UPDATE workunit SET rsc_disk_bound = 2e9 WHERE id = 2;"
                          "UPDATE workunit SET transitioner_flags = 1 WHERE id = 3;"
                          "UPDATE workunit SET error_mask = 16 WHERE id = 4;"
                          "UPDATE workunit SET batch = 8 WHERE id = 5;"
                          "UPDATE workunit SET batch = 9 WHERE id = 6;"
                          "UPDATE result SET server_state = 1 WHERE id = 1007;"
                          "DELETE FROM workunit WHERE id = 8");
    assert_status(STATUS_OK, db_candidates(f->db, f->arena, &filter, &candidates, &count));
    assert_int_equal(count, 13);
    for (size_t i = 0; i < count; i++)
        assert_true(candidates[i].workunitid == 6 || candidates[i].workunitid > 8);
}

static void different_hosts_get_different_orders(void **state)
{
    struct test_fixture *f = *state;
    const int64_t app = 1;
    struct candidate_filter filter = filter_of(&app, 1, 20);
    struct candidate *one, *two;
    size_t count;
    int alike = 0;

    filter.spread = 1;
    assert_status(STATUS_OK, db_candidates(f->db, f->arena, &filter, &one, &count));
    filter.spread = 2;
    assert_status(STATUS_OK, db_candidates(f->db, f->arena, &filter, &two, &count));
    for (size_t i = 0; i < count; i++)
        alike += one[i].resultid == two[i].resultid;
    assert_in_range(alike, 0, 9);
}

static bool is_third(const void *context, const struct candidate *candidate)
{
    int *asked = *(int *const *)context;

    (*asked)++;
    return candidate->workunitid % 3 == 0;
}

/* Each row is looked at once, by falling priority and number, and what suits is kept. */
static void what_suits_is_found_part_by_part(void **state)
{
    static const int64_t kept[] = {21, 24, 18, 15, 12, 9, 6, 3};
    struct test_fixture *f = *state;
    const int64_t app = 1;
    int asked = 0, *const context = &asked;
    struct candidate_place place = CANDIDATE_TOP;
    struct candidate_filter filter = filter_of(&app, 1, 3);
    struct candidate *candidates;
    size_t count, seen = 0;

    filter.below = &place;
    filter.suits = is_third;
    filter.context = &context;
    add_jobs(f->database, 21, 22, 1, 5);
    add_jobs(f->database, 23, 24, 1, 4);
    while (!place.is_end) {
        assert_status(STATUS_OK, db_candidates(f->db, f->arena, &filter, &candidates, &count));
        assert_in_range(count, 0, 3);
        for (size_t i = 0; i < count; i++, seen++) {
            bool is_there = false;

            for (size_t j = seen - i; j < seen - i + count; j++) /* shuffled within a part */
                is_there = is_there || kept[j] == candidates[i].workunitid;
            assert_true(is_there);
        }
    }
    assert_int_equal(seen, 8);
    assert_int_equal(asked, 24);
}

/* A flood of better jobs of another app, beyond what a query looks at, hides nothing. */
static void a_flood_of_other_jobs_hides_nothing(void **state)
{
    struct test_fixture *f = *state;
    const int64_t app = 1;
    struct candidate_filter filter = filter_of(&app, 1, 100);
    struct candidate *candidates;
    size_t count;

    test_sql(f->database, "INSERT INTO result (workunitid, appid, name, server_state, priority)"
                          " SELECT 1, 2, CONCAT('flood_', seq), 2, seq %% 2 FROM"
                          " seq_1_to_450000");
    assert_status(STATUS_OK, db_candidates(f->db, f->arena, &filter, &candidates, &count));
    assert_int_equal(count, 20);
}

#define CASE(name) cmocka_unit_test_setup(name, setup)

/* --- pages of unsent jobs -----------------------------------------------------------------------
 */

/* By priority: workunits that lie together, far apart, that are shared, over, or not there. */
static void a_page_has_each_job_with_its_workunit(void **state)
{
    struct test_fixture *f = *state;
    struct unsent_job *jobs;
    size_t count;

    test_sql(f->database, "UPDATE workunit SET rsc_fpops_est = id * 10;"
                          " UPDATE result SET priority = 3 WHERE id > 1010;"
                          " UPDATE workunit SET id = 900000 WHERE id = 12;"
                          " UPDATE result SET workunitid = 900000 WHERE id = 1012;"
                          " UPDATE result SET workunitid = 13 WHERE id = 1014;"
                          " UPDATE workunit SET error_mask = 1 WHERE id = 15;"
                          " DELETE FROM workunit WHERE id IN (5, 16)");
    for (int64_t priority = 0; priority <= 3; priority += 3) {
        int64_t first = priority == 0 ? 1001 : 1011;

        assert_status(STATUS_OK, db_unsent_page(f->db, f->arena, priority, 0, 100, &jobs, &count));
        assert_int_equal(count, 10);
        for (size_t i = 0; i < count; i++) {
            int64_t id = first + (int64_t)i, workunit = id - 1000;
            bool is_there = id != 1005 && id != 1016;

            workunit = id == 1012 ? 900000 : id == 1014 ? 13 : workunit;
            assert_i64(jobs[i].resultid, id);
            assert_i64(jobs[i].priority, priority);
            assert_i64(jobs[i].workunit.id, workunit);
            assert_int_equal(jobs[i].is_free, is_there && id != 1015);
            if (is_there)
                assert_true(jobs[i].workunit.rsc_fpops_est ==
                            10 * (id == 1012 ? 12.0 : (double)workunit));
        }
    }
    assert_status(STATUS_OK, db_unsent_page(f->db, f->arena, 3, 1011, 4, &jobs, &count));
    assert_int_equal(count, 4);
    assert_i64(jobs[3].resultid, 1015);
    assert_status(STATUS_OK, db_unsent_page(f->db, f->arena, 3, 1020, 4, &jobs, &count));
    assert_int_equal(count, 0);
    test_sql(f->database, "UPDATE result SET server_state = 5 WHERE id = 1017");
    assert_status(STATUS_OK, db_unsent_new(f->db, f->arena, 1016, 100, &jobs, &count));
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(jobs[i].is_free, i > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_claim_writes_result_and_workunit),
        CASE(a_claim_never_raises_transition_time_nor_uncommits),
        CASE(claiming_ten_takes_two_statements),
        CASE(claiming_a_few_takes_one_statement),
        CASE(every_value_of_a_claim_counts),
        CASE(a_workunit_that_stays_as_it_is_is_not_written),
        CASE(a_bulk_execution_is_one_command),
        CASE(what_was_sent_is_not_unsent_under_the_lock),
        CASE(locking_reads_the_counts_in_one_round_trip),
        CASE(locking_reads_the_documents),
        CASE(results_of_one_workunit_share_it),
        CASE(what_was_met_is_seen_without_locks),
        CASE(counts_are_as_fresh_as_the_lock),
        CASE(racing_hosts_share_the_jobs_without_deadlock),
        CASE(documents_come_in_the_order_asked_for),
        CASE(candidates_come_by_priority),
        CASE(the_oldest_of_the_best_come_first),
        CASE(candidates_are_narrowed_in_the_database),
        CASE(different_hosts_get_different_orders),
        CASE(what_suits_is_found_part_by_part),
        CASE(a_page_has_each_job_with_its_workunit),
        CASE(a_flood_of_other_jobs_hides_nothing), /* last: it leaves much to be deleted */
    };

    return cmocka_run_group_tests(tests, test_fixture_open, test_fixture_close);
}
