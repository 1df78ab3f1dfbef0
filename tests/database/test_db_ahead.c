/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that are sent before the answers to earlier ones are read (db/mariadb_wire.c): that
 * they share a round trip, and that whatever goes wrong with one of them is noticed before COMMIT.
 * The calls that send ahead are those of a request: reports, claims, statistics, the host's row. */
#include "tests/support/serving.h"

#include "config/config.h"
#include "db/db.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOW = SERVING_NOW, HOST = 1, MANY = 20000 };

static struct test_database *database;
static struct serving server;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    serving_add_hosts(database, 2);
    serving_open(&server, database);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    serving_close(&server);
    test_database_destroy(database);
    return 0;
}

static void add_jobs(int first, int count, int host)
{
    serving_add_jobs(database, &(struct new_jobs){.first = first, .count = count, .host = host});
}

static struct claim claim_of(int number)
{
    return (struct claim){.resultid = number,
                          .workunitid = number,
                          .sent_time = NOW,
                          .report_deadline = NOW + 1000,
                          .app_version_id = 11,
                          .flops_estimate = 1e9};
}

static enum status claim(int number)
{
    const struct claim one = claim_of(number);

    return db_results_claim(server.db, server.arena, HOST, 1, &one, 1);
}

/* Statistics of a version whose row is there. */
static enum status count_sent(int64_t jobs)
{
    const struct host_app_version_change change = {.app_version_id = 11, .jobs_sent = jobs};

    return db_host_app_versions_save(server.db, HOST, &change, 1);
}

static int64_t in_progress(void)
{
    return test_sql_integer(database,
                            "SELECT COUNT(*) FROM result WHERE server_state = 4 AND hostid = 1");
}

static int64_t sent_today(void)
{
    return test_sql_integer(database, "SELECT n_jobs_today FROM host_app_version");
}

static enum status commit_host(void)
{
    static uint64_t token;

    return db_host_commit(
        server.db,
        &(struct host_ending){.hostid = HOST, .token = ++token, .now = NOW, .has_guard = true});
}

static void begin_scene(void)
{
    test_sql(database, "INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day,"
                       " n_jobs_today) VALUES (1, 11, 100, 0)");
    add_jobs(1, 20, 0);
    for (int turn = 0; turn < 2; turn++) { /* the guard row is made, statements are prepared */
        assert_status(STATUS_OK, claim(1));
        assert_status(STATUS_OK, count_sent(0));
        assert_status(STATUS_OK, commit_host());
        test_sql(database, "UPDATE result SET server_state = 2, hostid = 0");
    }
    db_count_reset(server.db);
}

static void what_is_written_shares_one_round_trip(void **state)
{
    (void)state;
    begin_scene();
    assert_status(STATUS_OK, claim(2));
    assert_status(STATUS_OK, count_sent(3));
    assert_int_equal(db_count(server.db).round_trips, 0);
    assert_status(STATUS_OK, commit_host());
    assert_int_equal(db_count(server.db).statements, 4);
    assert_int_equal(db_count(server.db).round_trips, 2);
    assert_i64(in_progress(), 1);
    assert_i64(sent_today(), 3);
}

/* Nothing of the transaction is kept, the next attempt waits for each answer and so finds out by
 * itself, and what comes after a COMMIT is sent ahead again. */
static void a_row_that_is_not_there_is_noticed_before_commit(void **state)
{
    (void)state;
    begin_scene();
    test_sql(database, "UPDATE result SET server_state = 4, hostid = 77 WHERE id = 5");
    assert_status(STATUS_OK, claim(5));
    assert_status(STATUS_OK, count_sent(3));
    assert_status(STATUS_DB_RETRY, commit_host());
    assert_status(STATUS_DB_RETRY, db_commit(server.db));
    assert_status(STATUS_OK, db_rollback(server.db));
    assert_i64(sent_today(), 0);
    assert_false(db_sends_ahead(server.db));
    assert_status(STATUS_DB_RETRY, claim(5));
    assert_status(STATUS_OK, db_rollback(server.db));
    assert_status(STATUS_OK, claim(6));
    assert_status(STATUS_OK, commit_host());
    assert_true(db_sends_ahead(server.db));
    assert_i64(in_progress(), 1);
}

/* The server goes on behind an error; all of it is undone. */
static void an_error_comes_to_light_in_its_own_place(void **state)
{
    (void)state;
    begin_scene();
    test_sql(database, "CREATE TRIGGER no_claim BEFORE UPDATE ON result FOR EACH ROW"
                       " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not this one'");
    assert_status(STATUS_OK, claim(7));
    assert_status(STATUS_OK, count_sent(3));
    assert_status(STATUS_DB_RETRY, commit_host());
    assert_non_null(strstr(db_error(server.db), "not this one"));
    assert_status(STATUS_OK, db_rollback(server.db));
    assert_i64(sent_today(), 0);
    assert_status(STATUS_DB_REFUSED, claim(7));
    assert_status(STATUS_OK, db_rollback(server.db));
}

/* Hand-out fails, and the reports of the same request are kept all the same. */
static void reports_survive_claims_that_fail(void **state)
{
    const struct answer *answer;

    (void)state;
    begin_scene();
    add_jobs(100, 2, HOST);
    test_sql(database, "CREATE TRIGGER no_claim BEFORE UPDATE ON result FOR EACH ROW BEGIN"
                       " IF NEW.server_state = 4 THEN SIGNAL SQLSTATE '45000'; END IF; END");
    answer = serving_ask(&server,
                         &(struct asking){.host = HOST,
                                          .work_seconds = 1000,
                                          .elements = "<result>\n<name>r_100</name>\n"
                                                      "<state>5</state>\n</result>\n"
                                                      "<other_results>\n</other_results>\n"},
                         NOW, 1);
    assert_int_equal(server.request.attempts, 2);
    assert_int_equal(answer->acks.count, 1);
    assert_int_equal(answer->job_count, 0);
    assert_i64(test_sql_integer(database, "SELECT server_state FROM result WHERE id = 100"), 5);
}

/* The transaction is over when the next statement arrives; that one is in another, which is undone.
 */
static void a_deadlock_undoes_what_was_sent_behind_it(void **state)
{
    struct failure failure = {0};
    struct db *other;
    const struct job_key first = {.resultid = 8, .workunitid = 8};
    struct locked_job locked;

    (void)state;
    begin_scene();
    assert_status(STATUS_OK, db_open(server.config, &other, &failure));
    assert_status(STATUS_OK, db_jobs_lock(other, server.arena, &first, 1, NULL, &locked));
    assert_status(STATUS_OK, claim(8)); /* waits for the other one until its time is up */
    assert_status(STATUS_OK, count_sent(3));
    assert_status(STATUS_DB_RETRY, commit_host());
    assert_status(STATUS_OK, db_rollback(server.db));
    assert_status(STATUS_OK, db_rollback(other));
    db_close(other);
    assert_true(db_sends_ahead(server.db)); /* nothing is wrong with the statement */
    assert_i64(sent_today(), 0);
    assert_i64(in_progress(), 0);
}

/* --- queries ------------------------------------------------------------------------------- */

static size_t ask_versions(int64_t host)
{
    struct host_app_version_row *rows;
    size_t count;

    assert_status(STATUS_OK, db_host_app_versions(server.db, server.arena, host, &rows, &count));
    return count;
}

static size_t ask_results(void)
{
    struct result_row *rows;
    size_t count;

    assert_status(STATUS_OK,
                  db_results_in_progress(server.db, server.arena, HOST, MANY, &rows, &count));
    return count;
}

static void questions_share_one_round_trip(void **state)
{
    (void)state;
    begin_scene();
    add_jobs(100, 3, HOST);
    (void)ask_versions(HOST);
    (void)ask_results();
    db_count_reset(server.db);
    assert_status(STATUS_OK, db_host_ask_ahead(server.db, HOST, false, MANY));
    assert_int_equal(ask_results(), 3);
    assert_int_equal(ask_versions(HOST), 1);
    assert_int_equal(db_count(server.db).statements, 2);
    assert_int_equal(db_count(server.db).round_trips, 1);
    assert_int_equal(ask_versions(HOST), 1); /* nobody has asked for these */
    assert_int_equal(db_count(server.db).statements, 3);
}

static void an_answer_is_given_to_the_same_question_only(void **state)
{
    (void)state;
    begin_scene();
    test_sql(database, "INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day,"
                       " n_jobs_today) VALUES (2, 11, 1, 1), (2, 12, 1, 1)");
    assert_status(STATUS_OK, db_host_ask_ahead(server.db, 2, false, MANY));
    assert_int_equal(ask_versions(HOST), 1);
    assert_status(STATUS_OK, db_host_ask_ahead(server.db, HOST, false, MANY));
    assert_int_equal(ask_versions(2), 2);
}

/* What was read before something was written is not what is there now. */
static void an_answer_from_before_a_write_is_not_used(void **state)
{
    (void)state;
    begin_scene();
    assert_status(STATUS_OK, db_host_ask_ahead(server.db, HOST, false, MANY));
    assert_status(STATUS_OK, claim(9));
    assert_int_equal(ask_results(), 1);
}

/* Nor is what was read in one transaction what is there in the next one. */
static void an_answer_ends_with_its_transaction(void **state)
{
    (void)state;
    begin_scene();
    for (int turn = 0; turn < 2; turn++) {
        assert_status(STATUS_OK, db_host_ask_ahead(server.db, HOST, false, MANY));
        assert_status(STATUS_OK, turn == 0 ? db_commit(server.db) : db_rollback(server.db));
        add_jobs(100 + turn, 1, HOST);
        assert_int_equal(ask_results(), turn + 1);
    }
}

/* Undoing makes unseen what was seen. */
static void an_answer_from_before_a_rollback_is_not_used(void **state)
{
    (void)state;
    begin_scene();
    assert_status(STATUS_OK, db_savepoint(server.db));
    assert_status(STATUS_OK, claim(9));
    assert_status(STATUS_OK, db_host_ask_ahead(server.db, HOST, false, MANY));
    assert_status(STATUS_OK, db_rollback_to_savepoint(server.db));
    assert_int_equal(ask_results(), 0);
}

/* Rows that nobody has read yet, more than a socket holds, and behind them a report that is larger
 * than that too: neither side waits for the other for ever. */
static void much_in_both_directions_does_not_block(void **state)
{
    static char output[60000];
    struct result_report reports[8];
    bool booked[8];

    (void)state;
    begin_scene();
    memset(output, 'x', sizeof(output));
    add_jobs(1000, MANY, HOST);
    for (int i = 0; i < 8; i++)
        reports[i] = (struct result_report){.id = 1000 + i,
                                            .workunitid = 1000 + i,
                                            .hostid = HOST,
                                            .received_time = NOW,
                                            .outcome = 1,
                                            .stderr_out = {output, sizeof(output)}};
    assert_status(STATUS_OK, db_host_ask_ahead(server.db, HOST, false, MANY));
    assert_status(STATUS_OK, db_reports_save(server.db, server.arena, reports, 8, NOW, booked));
    assert_int_equal(ask_results(), MANY - 8);
    assert_status(STATUS_OK, commit_host());
}

/* --- connections --------------------------------------------------------------------------- */

/* A primary that was failed over refuses what was sent to it and goes on answering: each answer is
 * that of its own command afterwards, also where nobody connects again. Each time another command
 * is due behind the first that is refused. */
static void a_server_that_becomes_read_only_keeps_answers_in_order(void **state)
{
    char user[32];
    struct text own = server.config->db_user;
    struct failure failure = {0};

    (void)state;
    begin_scene();
    (void)snprintf(user, sizeof(user), "qm_ahead_%ld", (long)getpid());
    test_sql(database, "CREATE USER '%s'@'localhost'", user);
    test_sql(database, "GRANT ALL ON " TEXT_FORMAT ".* TO '%s'@'localhost'",
             TEXT_ARG(server.config->db_name), user);
    db_close(server.db);
    server.config->db_user = text_from(user);
    assert_status(STATUS_OK, db_open(server.config, &server.db, &failure));
    server.config->db_user = own;
    assert_status(STATUS_OK, claim(10)); /* statements are prepared */
    assert_status(STATUS_OK, count_sent(1));
    assert_status(STATUS_OK, db_rollback(server.db));
    for (int behind = 0; behind < 3; behind++) {
        test_sql(database, "SET GLOBAL read_only = 1");
        assert_status(STATUS_OK, claim(10));
        if (behind == 0)
            assert_status(STATUS_OK, db_savepoint(server.db));
        if (behind == 1)
            assert_status(STATUS_OK, count_sent(1));
        assert_status(STATUS_DB_GONE,
                      behind == 2 ? db_host_guard(server.db, HOST, 1, NOW) : db_commit(server.db));
        assert_non_null(strstr(db_error(server.db), "1290"));
        assert_status(STATUS_OK, db_rollback(server.db));
        test_sql(database, "SET GLOBAL read_only = 0");
        assert_int_equal(ask_versions(HOST), 1);
        assert_int_equal(ask_results(), 0);
        assert_status(STATUS_OK, claim(10));
        assert_int_equal(ask_results(), 1);
        assert_status(STATUS_OK, db_rollback(server.db));
    }
    test_sql(database, "DROP USER '%s'@'localhost'", user);
}

static void a_connection_that_is_lost_loses_what_was_sent(void **state)
{
    int64_t id;

    (void)state;
    begin_scene();
    id = test_sql_integer(database, "SELECT MAX(ID) FROM information_schema.PROCESSLIST"
                                    " WHERE DB = DATABASE() AND ID <> CONNECTION_ID()");
    assert_status(STATUS_OK, claim(10));
    test_sql(database, "KILL %lld", (long long)id);
    assert_status(STATUS_DB_GONE, commit_host());
    assert_status(STATUS_OK, db_reopen(server.db));
    assert_i64(in_progress(), 0);
    assert_status(STATUS_OK, claim(10));
    assert_status(STATUS_OK, commit_host());
    assert_i64(in_progress(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_shares_one_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_that_is_not_there_is_noticed_before_commit, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_error_comes_to_light_in_its_own_place, setup, teardown),
        cmocka_unit_test_setup_teardown(reports_survive_claims_that_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(a_deadlock_undoes_what_was_sent_behind_it, setup, teardown),
        cmocka_unit_test_setup_teardown(questions_share_one_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(an_answer_is_given_to_the_same_question_only, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_answer_from_before_a_write_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(an_answer_from_before_a_rollback_is_not_used, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_answer_ends_with_its_transaction, setup, teardown),
        cmocka_unit_test_setup_teardown(much_in_both_directions_does_not_block, setup, teardown),
        cmocka_unit_test_setup_teardown(a_connection_that_is_lost_loses_what_was_sent, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_server_that_becomes_read_only_keeps_answers_in_order,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
