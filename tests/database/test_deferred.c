/* SPDX-License-Identifier: Apache-2.0 */
/* What parts of a shared transaction write at their end waits for the end of them all
 * (db/mariadb_tail.c): that one command of each kind writes it, that no statement sees the
 * database without it, and what becomes of it where a part or the transaction fails. */
#include "tests/support/serving.h"

#include "db/db.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/mariadb_internal.h"

#include <string.h>

enum { NOW = SERVING_NOW, HOSTS = 8, VERSION = 11 };

static struct test_database *database;
static struct serving server;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    serving_add_hosts(database, HOSTS);
    serving_add_jobs(database, &(struct new_jobs){.first = 1, .count = 700});
    test_sql(database, "INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day,"
                       " n_jobs_today) SELECT id, 11, 100, 0 FROM host;"
                       "INSERT INTO qm_host (hostid, rpcs, token, changed, presence)"
                       " SELECT id, 0, 0, 0, 'old' FROM host");
    serving_open(&server, database);
    assert_status(STATUS_OK, db_wait_for_locks(server.db, false));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    serving_close(&server);
    test_database_destroy(database);
    return 0;
}

/* --- parts ----------------------------------------------------------------------------------- */

static enum status take_jobs(int64_t host, int64_t first, size_t count)
{
    struct claim claims[400];

    assert_true(count <= 400);
    for (size_t i = 0; i < count; i++)
        claims[i] = (struct claim){.resultid = first + (int64_t)i,
                                   .workunitid = first + (int64_t)i,
                                   .sent_time = NOW,
                                   .report_deadline = NOW + 1000 + host,
                                   .app_version_id = VERSION,
                                   .flops_estimate = 1e9};
    return db_results_claim(server.db, server.arena, host, 1, claims, count);
}

static enum status count_jobs(int64_t host, int64_t jobs)
{
    const struct host_app_version_change change = {.app_version_id = VERSION, .jobs_sent = jobs};

    return db_host_app_versions_save(server.db, host, &change, 1);
}

static enum status end_part(int64_t host)
{
    const struct host_row contact = {.id = host, .rpc_seqno = 100 + host, .rpc_time = NOW};
    char bytes[] = {'x', '\0', (char)('0' + host), '\xff'};
    struct host_ending ending = {.hostid = host,
                                 .token = 1000 + (uint64_t)host,
                                 .now = NOW,
                                 .contact = &contact,
                                 .has_guard = true};
    enum status status;

    if (host % 2 == 1)
        ending.presence = (struct text){bytes, sizeof(bytes)};
    status = db_part_end(server.db, &ending);
    memset(bytes, 0, sizeof(bytes)); /* what waits is a copy */
    return status;
}

static enum status lock_job(int64_t number, bool *ret_is_unsent)
{
    const struct job_key key = {number, number};
    struct locked_job job;
    enum status status = db_jobs_lock(server.db, server.arena, &key, 1, NULL, &job);

    *ret_is_unsent = status == STATUS_OK && job.is_unsent;
    return status;
}

/* A part of one host that takes jobs from `first` on, of which the first is locked. */
static void run_part(int64_t host, int64_t first, size_t count)
{
    bool is_unsent;

    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, lock_job(first, &is_unsent));
    assert_true(is_unsent);
    assert_status(STATUS_OK, take_jobs(host, first, count));
    assert_status(STATUS_OK, count_jobs(host, (int64_t)count));
    assert_status(STATUS_OK, end_part(host));
}

/* A report, which a part writes at once and which leaves waiting what is others'. */
static void book_report(int64_t host)
{
    const struct result_report report = {
        .id = 150, .workunitid = 150, .hostid = host, .received_time = NOW};
    bool is_booked;

    test_sql(database, "UPDATE result SET server_state = 4, hostid = %lld WHERE id = 150",
             (long long)host);
    assert_status(STATUS_OK, db_reports_save(server.db, server.arena, &report, 1, NOW, &is_booked));
}

static int waiting(void)
{
    return (int)server.db->tail.count;
}

static int64_t jobs_of(int64_t host)
{
    return test_sql_integer(database,
                            "SELECT COUNT(*) FROM result JOIN workunit ON workunit.id = workunitid"
                            " WHERE server_state = 4 AND hostid = %lld AND userid = 1"
                            " AND report_deadline = %d + hostid"
                            " AND transition_time = report_deadline",
                            (long long)host, NOW + 1000);
}

/* All that a part writes, or nothing of it. */
static void assert_kept(int64_t host, int64_t jobs)
{
    assert_i64(jobs_of(host), jobs);
    assert_i64(test_sql_integer(database,
                                "SELECT n_jobs_today FROM host_app_version WHERE host_id = %lld",
                                (long long)host),
               jobs);
    assert_i64(
        test_sql_integer(database, "SELECT rpc_seqno FROM host WHERE id = %lld", (long long)host),
        jobs > 0 ? 100 + host : 0);
    assert_i64(test_sql_integer(database, "SELECT rpcs * token FROM qm_host WHERE hostid = %lld",
                                (long long)host),
               jobs > 0 ? 1000 + host : 0);
    assert_i64(test_sql_integer(database,
                                "SELECT presence = IF(%d, CONCAT(x'7800', '%lld', x'ff'), 'old')"
                                " FROM qm_host WHERE hostid = %lld",
                                jobs > 0 && host % 2 == 1, (long long)host, (long long)host),
               1);
}

static void assert_nothing_kept(void)
{
    for (int64_t host = 1; host <= HOSTS; host++)
        assert_kept(host, 0);
}

/* --- what it costs --------------------------------------------------------------------------- */

/* As before any part. */
static void undo_all(void)
{
    test_sql(database, "UPDATE result SET server_state = 2, hostid = 0;"
                       " UPDATE workunit SET transition_time = 2147483647;"
                       " UPDATE host_app_version SET n_jobs_today = 0;"
                       " UPDATE host SET rpc_seqno = 0; UPDATE qm_host SET rpcs = 0,"
                       " presence = 'old'");
}

/* Of eight parts each sends the query that locks its job, and nothing else. */
static void one_command_of_each_kind_writes_all(void **state)
{
    enum { TRACE = 1, KINDS = 3, COMMIT = 1 };

    (void)state;
    for (int turn = 0; turn < 2; turn++) { /* first everything is prepared */
        undo_all();
        db_count_reset(server.db);
        for (int host = 1; host <= HOSTS; host++)
            run_part(host, host, 1);
        assert_int_equal(db_count(server.db).statements, TRACE + HOSTS);
        assert_int_equal(db_count(server.db).round_trips, HOSTS);
        assert_status(STATUS_OK, db_commit(server.db));
    }
    assert_int_equal(db_count(server.db).statements, TRACE + HOSTS + KINDS + COMMIT);
    assert_int_equal(db_count(server.db).round_trips, HOSTS + 2);
    for (int host = 1; host <= HOSTS; host++)
        assert_kept(host, 1);
}

/* Results and workunits apart where a part takes more than a few, whose lists are not as long as
 * each other. */
static void lists_of_any_length_are_written_together(void **state)
{
    static const size_t counts[HOSTS] = {10, 4, 1, 20, 5, 64, 3, 7};
    int64_t first = 1;

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        undo_all();
        db_count_reset(server.db);
        first = 1;
        for (int host = 1; host <= HOSTS; first += (int64_t)counts[host - 1], host++)
            run_part(host, first, counts[host - 1]);
        assert_status(STATUS_OK, db_commit(server.db));
    }
    assert_int_equal(db_count(server.db).statements, 1 + HOSTS + 5 + 1);
    for (int host = 1; host <= HOSTS; host++)
        assert_kept(host, (int64_t)counts[host - 1]);
}

/* Lists that one statement cannot hold go out in parts. */
static void a_long_list_waits_as_well(void **state)
{
    (void)state;
    assert_true(DB_LIST_MOST < 300);
    run_part(1, 1, 4);
    run_part(2, 100, 300);
    run_part(3, 500, 1);
    assert_int_equal(waiting(), 11);
    assert_status(STATUS_OK, db_commit(server.db));
    assert_kept(1, 4);
    assert_kept(2, 300);
    assert_kept(3, 1);
}

/* Where there is no more room for what waits, it is written. */
static void more_than_there_is_room_for(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++)
        for (int host = 1; host <= HOSTS; host++) {
            assert_status(STATUS_OK, db_part_begin(server.db));
            assert_status(STATUS_OK, take_jobs(host, 1 + round * HOSTS + host - 1, 1));
            assert_status(STATUS_OK, count_jobs(host, 1));
            assert_status(STATUS_OK, end_part(host));
        }
    assert_status(STATUS_OK, db_commit(server.db));
    for (int host = 1; host <= HOSTS; host++) {
        assert_i64(jobs_of(host), 12);
        assert_i64(test_sql_integer(database, "SELECT rpcs FROM qm_host WHERE hostid = %d", host),
                   12);
    }
}

/* What goes wrong then is told, although what waits could be written. */
static void a_failure_is_told_where_there_is_no_more_room(void **state)
{
    (void)state;
    assert_status(STATUS_OK, db_part_begin(server.db));
    for (int i = 0; i < TAIL_MOST; i++)
        assert_status(STATUS_OK, count_jobs(1, 1));
    assert_int_equal(server.db->tail.count, TAIL_MOST);
    db_fail_nth(server.db, 1, STATUS_DB_RETRY);
    assert_status(STATUS_DB_RETRY, count_jobs(1, 1));
    assert_status(STATUS_OK, db_rollback(server.db));
    assert_nothing_kept();
}

/* Whoever waits for locks is alone. */
static void who_is_alone_writes_at_once(void **state)
{
    (void)state;
    assert_status(STATUS_OK, db_wait_for_locks(server.db, true));
    assert_false(db_defers(server.db));
    db_count_reset(server.db);
    assert_status(STATUS_OK, take_jobs(1, 1, 1));
    assert_status(STATUS_OK, count_jobs(1, 1));
    assert_true(db_count(server.db).statements >= 2);
    assert_status(STATUS_OK, db_rollback(server.db));
    assert_nothing_kept();
}

/* Of many rows that are written at once each may have to do with what waits. */
static void each_row_of_many_is_looked_at(void **state)
{
    static const int64_t workunits[] = {601, 602, 1};
    struct report_save_values rows[3] = {0};
    uint64_t affected;

    (void)state;
    for (int i = 0; i < 3; i++)
        rows[i] = (struct report_save_values){
            .workunitids = {&workunits[i], 1}, .id = workunits[i], .hostid = 2};
    for (int from = 0; from <= 1; from++) {
        run_part(1, 1, 1);
        assert_status(STATUS_OK, db_part_begin(server.db));
        assert_int_not_equal(server.db->tail.count, 0);
        assert_status(STATUS_OK, DB_RUN_BULK(server.db, report_save, rows + from, 2, &affected));
        assert_int_equal(server.db->tail.count == 0, from == 1);
        assert_status(STATUS_OK, db_rollback(server.db));
        assert_status(STATUS_OK, db_commit(server.db)); /* from which on what may wait does */
    }
}

/* A list without ids writes nothing: no transaction begins for it, and no part. */
static void what_writes_nothing_begins_nothing(void **state)
{
    (void)state;
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, db_assignments_delete(server.db, NULL, 0));
    assert_false(transaction_state_has_begun(server.db->state));
    assert_false(transaction_state_is_marked(server.db->state));
    assert_status(STATUS_OK, db_rollback(server.db));
}

/* --- what sees it ---------------------------------------------------------------------------- */

static size_t jobs_in_progress_of(int64_t host)
{
    struct host_job *jobs;
    size_t count;

    assert_status(STATUS_OK,
                  db_jobs_in_progress(server.db, server.arena, host, 100, &jobs, &count));
    return count;
}

/* Whoever asks for a host's jobs leaves waiting what is others'. */
static void who_asks_for_a_hosts_jobs_sees_them(void **state)
{
    struct host_row contact = {.id = 3, .rpc_time = NOW};

    (void)state;
    run_part(1, 1, 2);
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_int_equal(jobs_in_progress_of(2), 0);
    assert_int_not_equal(waiting(), 0);
    assert_int_equal(jobs_in_progress_of(1), 2);
    assert_int_equal(waiting(), 0);
    /* its own, before it has ended */
    assert_status(STATUS_OK, take_jobs(2, 11, 1));
    assert_int_not_equal(waiting(), 0);
    assert_int_equal(jobs_in_progress_of(2), 1);
    assert_status(STATUS_OK, end_part(2));
    /* and of a host without a guard row */
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, take_jobs(3, 21, 1));
    assert_status(STATUS_OK,
                  db_part_end(server.db,
                              &(struct host_ending){.hostid = 3, .now = NOW, .contact = &contact}));
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_int_equal(jobs_in_progress_of(3), 1);
    assert_status(STATUS_OK, db_rollback(server.db));
}

/* Another part locks a job that an earlier one has taken, and one of the same workunit. */
static void who_locks_what_was_taken_sees_it(void **state)
{
    struct claim claim = {.resultid = 1,
                          .workunitid = 1,
                          .sent_time = NOW,
                          .report_deadline = NOW + 1001,
                          .app_version_id = VERSION,
                          .flops_estimate = 1e9,
                          .commit_hr_class = 77};
    const struct job_key sibling = {2, 1};
    struct locked_job job;
    bool is_unsent;

    (void)state;
    test_sql(database, "UPDATE result SET workunitid = 1 WHERE id = 2");
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, db_results_claim(server.db, server.arena, 1, 1, &claim, 1));
    assert_status(STATUS_OK, end_part(1));
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, lock_job(3, &is_unsent));
    assert_true(is_unsent);
    assert_int_equal(waiting(), 2); /* it has nothing to do with it */
    assert_status(STATUS_OK, db_jobs_lock(server.db, server.arena, &sibling, 1, NULL, &job));
    assert_int_equal(waiting(), 0);
    assert_true(job.is_unsent);
    assert_i64(job.row->hr_class, 77);
    assert_i64(job.row->transition_time, NOW + 1001);
    assert_status(STATUS_OK, lock_job(1, &is_unsent));
    assert_false(is_unsent);
    assert_status(STATUS_OK, db_rollback(server.db));
}

/* A host that comes again in the same transaction. */
static void who_reads_a_host_sees_it(void **state)
{
    struct host_with_user known;
    struct host_rows hosts[2] = {{.hostid = 3, .wants_versions = true},
                                 {.hostid = 4, .wants_versions = true, .wants_results = true}};

    (void)state;
    run_part(1, 1, 1);
    run_part(2, 2, 1);
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, db_hosts_read_rows(server.db, server.arena, hosts, 2, 100));
    assert_int_equal(waiting(), 6); /* these are others */
    hosts[1] = (struct host_rows){.hostid = 1, .wants_versions = true, .wants_results = true};
    assert_status(STATUS_OK, db_hosts_read_rows(server.db, server.arena, hosts, 2, 100));
    assert_int_equal(waiting(), 0);
    assert_i64(hosts[1].known.host.rpc_seqno, 101);
    assert_i64(hosts[1].versions[0].n_jobs_today, 1);
    assert_int_equal(hosts[1].result_count, 1);
    run_part(3, 3, 1);
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, db_host_lock_with_user(server.db, server.arena, 3, &known));
    assert_i64(known.host.rpc_seqno, 103);
    assert_status(STATUS_OK, db_commit(server.db));
    for (int host = 1; host <= 3; host++)
        assert_kept(host, 1);
}

/* No results are asked for, so no query is sent; what follows is no less careful for it. */
static void a_query_that_is_not_sent_lets_nothing_pass(void **state)
{
    struct host_rows hosts[2] = {{.hostid = 3}, {.hostid = 4}};
    struct host_with_user known;

    (void)state;
    run_part(1, 1, 1);
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, db_hosts_read_rows(server.db, server.arena, hosts, 2, 100));
    assert_status(STATUS_OK, db_host_lock_with_user(server.db, server.arena, 1, &known));
    assert_i64(known.host.rpc_seqno, 101);
    assert_status(STATUS_OK, db_rollback(server.db));
}

/* --- what becomes of it ---------------------------------------------------------------------- */

static void an_undone_part_leaves_the_others(void **state)
{
    bool is_unsent;

    (void)state;
    run_part(1, 1, 1);
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, lock_job(2, &is_unsent));
    assert_status(STATUS_OK, take_jobs(2, 2, 1));
    assert_status(STATUS_OK, count_jobs(2, 1));
    assert_status(STATUS_OK, db_part_undo(server.db));
    run_part(3, 3, 2);
    assert_status(STATUS_OK, db_commit(server.db));
    assert_kept(1, 1);
    assert_kept(2, 0);
    assert_kept(3, 2);
}

/* The part has everything written before it writes itself, and behind its savepoint only its own.
 */
static void a_part_that_wrote_is_undone_alone(void **state)
{
    const struct host_row host = {.id = 2, .rpc_seqno = 5};

    (void)state;
    run_part(1, 1, 1);
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, take_jobs(2, 2, 1));
    assert_status(STATUS_OK, db_host_save(server.db, &host));
    assert_int_equal(waiting(), 0);
    assert_status(STATUS_OK, count_jobs(2, 1));
    assert_status(STATUS_OK, db_part_undo(server.db));
    run_part(3, 3, 1);
    assert_status(STATUS_OK, db_commit(server.db));
    assert_kept(1, 1);
    assert_kept(2, 0);
    assert_kept(3, 1);
}

/* A report passes by what waits, and then something has it written behind the report. */
static void what_cannot_be_undone_alone_says_so(void **state)
{
    const struct host_row host = {.id = 2, .rpc_seqno = 5};

    (void)state;
    for (int writes = 0; writes <= 1; writes++) {
        run_part(1, 1, 1);
        assert_status(STATUS_OK, db_part_begin(server.db));
        book_report(2);
        assert_int_equal(waiting(), 3);
        if (writes)
            assert_status(STATUS_OK, db_host_save(server.db, &host));
        assert_status(writes ? STATUS_DB_RETRY : STATUS_OK, db_part_undo(server.db));
        assert_status(STATUS_OK, db_rollback(server.db));
    }
    assert_nothing_kept();
}

/* The same behind its own savepoint. */
static void what_cannot_be_taken_back_alone_says_so(void **state)
{
    const struct host_row host = {.id = 2, .rpc_seqno = 5};

    (void)state;
    run_part(1, 1, 1);
    assert_status(STATUS_OK, db_part_begin(server.db));
    book_report(2);
    assert_status(STATUS_OK, db_savepoint(server.db));
    assert_int_equal(waiting(), 3);
    assert_status(STATUS_OK, db_host_save(server.db, &host));
    assert_status(STATUS_DB_RETRY, db_rollback_to_savepoint(server.db));
    assert_status(STATUS_OK, db_rollback(server.db));
    assert_nothing_kept();
}

static void a_savepoint_forgets_what_came_since(void **state)
{
    (void)state;
    run_part(1, 1, 1);
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, db_savepoint(server.db));
    assert_status(STATUS_OK, take_jobs(2, 2, 1));
    assert_status(STATUS_OK, db_rollback_to_savepoint(server.db));
    assert_int_equal(waiting(), 3);
    assert_status(STATUS_OK, take_jobs(2, 3, 1));
    assert_status(STATUS_OK, count_jobs(2, 1));
    assert_status(STATUS_OK, end_part(2));
    assert_status(STATUS_OK, db_commit(server.db));
    assert_kept(1, 1);
    assert_kept(2, 1);
}

/* Behind a report, whose savepoint is another one than the part's. */
static void a_savepoint_behind_a_write_keeps_the_write(void **state)
{
    const struct host_row host = {.id = 3, .rpc_seqno = 5};

    (void)state;
    assert_status(STATUS_OK, db_part_begin(server.db));
    book_report(2);
    assert_status(STATUS_OK, db_savepoint(server.db));
    assert_status(STATUS_OK, take_jobs(2, 2, 1));
    assert_status(STATUS_OK, db_host_save(server.db, &host)); /* has the claim written */
    assert_status(STATUS_OK, db_rollback_to_savepoint(server.db));
    assert_status(STATUS_OK, take_jobs(2, 3, 1));
    assert_status(STATUS_OK, count_jobs(2, 1));
    assert_status(STATUS_OK, end_part(2));
    assert_status(STATUS_OK, db_commit(server.db));
    assert_kept(2, 1);
    assert_i64(test_sql_integer(database, "SELECT server_state FROM result WHERE id = 150"), 5);
}

static void a_savepoint_behind_what_waits_keeps_it(void **state)
{
    const struct host_row host = {.id = 3, .rpc_seqno = 5};

    (void)state;
    run_part(1, 1, 1);
    assert_status(STATUS_OK, db_part_begin(server.db));
    assert_status(STATUS_OK, take_jobs(2, 2, 1));
    assert_status(STATUS_OK, db_savepoint(server.db));
    assert_status(STATUS_OK, take_jobs(2, 3, 1));
    assert_status(STATUS_OK, db_host_save(server.db, &host));
    assert_status(STATUS_OK, db_rollback_to_savepoint(server.db));
    assert_status(STATUS_OK, count_jobs(2, 1));
    assert_status(STATUS_OK, end_part(2));
    assert_status(STATUS_OK, db_commit(server.db));
    assert_kept(1, 1);
    assert_kept(2, 1);
    assert_i64(test_sql_integer(database, "SELECT hostid FROM result WHERE id = 3"), 0);
}

/* A part that has not written has no savepoint of its own, by which a loss would show. */
static void a_transaction_that_is_lost_is_noticed(void **state)
{
    bool is_unsent;

    (void)state;
    for (int undo = 0; undo <= 1; undo++) {
        run_part(1, 1, 1);
        assert_status(STATUS_OK, db_part_begin(server.db));
        assert_status(STATUS_OK, db_savepoint(server.db));
        assert_status(STATUS_OK, lock_job(2, &is_unsent));
        assert_status(STATUS_OK, db_run_text(server.db, "ROLLBACK")); /* by the server */
        if (undo)
            assert_int_not_equal(db_part_undo(server.db), STATUS_OK);
        else
            assert_int_not_equal(db_rollback_to_savepoint(server.db), STATUS_OK);
        assert_status(STATUS_OK, db_rollback(server.db));
    }
    assert_nothing_kept();
}

/* One part's row is gone: nothing of any is kept, and until the next COMMIT nothing waits. */
static void a_row_that_is_missing_costs_all(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0)
            test_sql(database, "UPDATE result SET server_state = 5 WHERE id = 2");
        else if (kind == 1)
            test_sql(database, "UPDATE result SET server_state = 2 WHERE id = 2;"
                               " DELETE FROM host_app_version WHERE host_id = 2");
        else
            test_sql(database, "INSERT INTO host_app_version (host_id, app_version_id,"
                               " max_jobs_per_day, n_jobs_today) VALUES (2, 11, 100, 0);"
                               " DELETE FROM qm_host WHERE hostid = 2");
        run_part(1, 1, 1);
        assert_status(STATUS_OK, db_part_begin(server.db));
        assert_status(STATUS_OK, take_jobs(2, 2, 1));
        assert_status(STATUS_OK, count_jobs(2, 1));
        assert_status(STATUS_OK, end_part(2));
        assert_status(STATUS_DB_RETRY, db_commit(server.db));
        assert_status(STATUS_OK, db_rollback(server.db));
        assert_kept(1, 0);
        assert_false(db_defers(server.db));
        assert_status(STATUS_OK, db_run_text(server.db, "DO 0"));
        assert_status(STATUS_OK, db_commit(server.db));
        assert_true(db_defers(server.db));
    }
}

/* A row that somebody else has locked is not waited for. */
static void a_locked_row_costs_all(void **state)
{
    struct db *other;

    (void)state;
    other = test_database_open(database);
    assert_status(STATUS_OK, db_run_text(other, "UPDATE host_app_version SET n_jobs_today = 50"
                                                " WHERE host_id = 2"));
    run_part(1, 1, 1);
    run_part(2, 2, 1);
    assert_status(STATUS_DB_RETRY, db_commit(server.db));
    assert_status(STATUS_OK, db_rollback(server.db));
    db_close(other);
    assert_nothing_kept();
    run_part(1, 1, 1);
    run_part(2, 2, 1);
    assert_status(STATUS_OK, db_commit(server.db));
    assert_kept(1, 1);
    assert_kept(2, 1);
}

/* --- a connection that ends ------------------------------------------------------------------ */

/* A step of two parts and of their end, in order. */
static enum status take_step(int step)
{
    bool is_unsent;

    switch (step % 6) {
    case 0:
        return db_part_begin(server.db);
    case 1:
        return lock_job(1 + step, &is_unsent);
    case 2:
        return take_jobs(1 + step / 6, step, 1);
    case 3:
        return db_savepoint(server.db);
    case 4:
        return count_jobs(1 + step / 6, 1);
    default:
        return end_part(1 + step / 6);
    }
}
enum { STEPS = 12 };

static long long connection_id(void)
{
    return test_sql_integer(database, "SELECT MAX(ID) FROM information_schema.PROCESSLIST"
                                      " WHERE DB = DATABASE() AND ID <> CONNECTION_ID()");
}

/* Wherever the server drops the connection, someone notices by COMMIT at the latest, nothing is
 * kept, and the next transaction is like any other. */
static void the_server_may_drop_the_connection_anywhere(void **state)
{
    (void)state;
    for (int dropped = 0; dropped <= STEPS; dropped++) {
        enum status status = STATUS_OK;

        for (int step = 0; step < STEPS && status == STATUS_OK; step++) {
            if (step == dropped)
                test_sql(database, "KILL %lld", connection_id());
            status = take_step(step);
        }
        if (dropped == STEPS)
            test_sql(database, "KILL %lld", connection_id());
        if (status == STATUS_OK)
            status = db_commit(server.db);
        assert_true(status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN);
        assert_status(STATUS_DB_GONE, db_rollback(server.db));
        assert_status(STATUS_DB_GONE, db_commit(server.db));
        assert_status(STATUS_OK, db_reopen(server.db));
        assert_nothing_kept();
        assert_status(STATUS_OK, db_wait_for_locks(server.db, false));
    }
    for (int step = 0; step < STEPS; step++)
        assert_status(STATUS_OK, take_step(step));
    assert_status(STATUS_OK, db_commit(server.db));
    assert_kept(1, 1);
    assert_kept(2, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_command_of_each_kind_writes_all),
        CASE(lists_of_any_length_are_written_together),
        CASE(a_long_list_waits_as_well),
        CASE(more_than_there_is_room_for),
        CASE(a_failure_is_told_where_there_is_no_more_room),
        CASE(who_is_alone_writes_at_once),
        CASE(each_row_of_many_is_looked_at),
        CASE(what_writes_nothing_begins_nothing),
        CASE(who_asks_for_a_hosts_jobs_sees_them),
        CASE(who_locks_what_was_taken_sees_it),
        CASE(who_reads_a_host_sees_it),
        CASE(a_query_that_is_not_sent_lets_nothing_pass),
        CASE(an_undone_part_leaves_the_others),
        CASE(a_part_that_wrote_is_undone_alone),
        CASE(what_cannot_be_undone_alone_says_so),
        CASE(what_cannot_be_taken_back_alone_says_so),
        CASE(a_savepoint_forgets_what_came_since),
        CASE(a_savepoint_behind_a_write_keeps_the_write),
        CASE(a_savepoint_behind_what_waits_keeps_it),
        CASE(a_transaction_that_is_lost_is_noticed),
        CASE(a_row_that_is_missing_costs_all),
        CASE(a_locked_row_costs_all),
        CASE(the_server_may_drop_the_connection_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
