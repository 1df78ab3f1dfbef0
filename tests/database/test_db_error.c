/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong between us and the database, and what each of it is called. */
#include "db/admin.h"
#include "db/db.h"
#include "db/mariadb.h"
#include "db/mariadb_internal.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/request/walk.h"
#include "tests/support/database.h"
#include "tests/support/serving.h"
#include "tests/support/test.h"

#include <mysqld_error.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct test_database *database;
    struct db *db, *other;
    struct arena *arena;
};

static int open_all(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->database = test_database_create(true, NULL);
    f->arena = arena_create((size_t)16 * 1024 * 1024);
    *state = f;
    return 0;
}

static int close_all(void **state)
{
    struct fixture *f = *state;

    arena_destroy(f->arena);
    test_sql(f->database, "SET GLOBAL read_only = 0"); /* if a case failed between */
    test_database_destroy(f->database);
    free(f);
    return 0;
}

static int setup(void **state)
{
    struct fixture *f = *state;

    test_database_clear(f->database);
    test_sql(f->database, "INSERT INTO user SET id = 1, email_addr = 'a', authenticator = 'a';"
                          "INSERT INTO user SET id = 2, email_addr = 'b', authenticator = 'b'");
    f->db = test_database_open(f->database);
    f->other = test_database_open(f->database);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    db_close(f->db);
    db_close(f->other);
    return 0;
}

/* Ends every connection to the schema but the test's own. */
static void kill_connections(struct fixture *f)
{
    struct text ids =
        test_sql_text(f->database, "SELECT GROUP_CONCAT(ID) FROM information_schema.PROCESSLIST"
                                   " WHERE DB = DATABASE() AND ID <> CONNECTION_ID()");
    char *list = text_keep(ids);

    ids = text_from(list);
    while (ids.length > 0) {
        struct text id = text_split(&ids, ',');

        test_sql(f->database, "KILL " TEXT_FORMAT, TEXT_ARG(id));
    }
    free(list);
    test_database_wait(f->database, "NOT EXISTS (SELECT 1 FROM information_schema.PROCESSLIST"
                                    " WHERE DB = DATABASE() AND ID <> CONNECTION_ID())");
}

static void a_lost_connection_is_gone_and_can_be_reopened(void **state)
{
    struct fixture *f = *state;
    uint64_t token;

    assert_status(STATUS_OK, db_host_guard(f->db, 7, 1, 1));
    kill_connections(f);
    assert_status(STATUS_DB_GONE, db_host_guard(f->db, 8, 1, 1));
    assert_true(strlen(db_error(f->db)) > 0);
    assert_int_equal(db_count(f->db).errors[DB_ERROR_LOST], 1);
    assert_status(STATUS_OK, db_reopen(f->db));
    assert_int_equal(db_count(f->db).errors[DB_ERROR_LOST], 1); /* the request counts it later */
    db_count_reset(f->db);
    assert_int_equal(db_count(f->db).errors[DB_ERROR_LOST], 0);
    assert_status(STATUS_NOT_FOUND, db_host_token(f->db, 7, &token)); /* rolled back */
    assert_status(STATUS_OK, db_host_guard(f->db, 7, 2, 1));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_status(STATUS_OK, db_host_token(f->db, 7, &token));
    assert_true(token == 2);
}

static void a_connection_lost_at_commit_is_unknown(void **state)
{
    struct fixture *f = *state;
    uint64_t token = 0;

    assert_status(STATUS_OK, db_host_guard(f->db, 7, 1, 1));
    kill_connections(f);
    assert_status(STATUS_DB_UNKNOWN, db_commit(f->db));
    assert_status(STATUS_OK, db_reopen(f->db));
    db_keep_token(f->db); /* then COMMIT is not the first to notice */
    assert_status(STATUS_OK, db_host_guard(f->db, 7, 1, 1));
    kill_connections(f);
    assert_status(STATUS_DB_GONE, db_commit(f->db)); /* COMMIT was not sent */
    assert_status(STATUS_OK, db_reopen(f->db));
    assert_status(STATUS_NOT_FOUND, db_host_token(f->db, 7, &token)); /* it did not happen */
    assert_status(STATUS_OK, db_rollback(f->db));
    kill_connections(f);
    assert_status(STATUS_DB_UNKNOWN, db_commit(f->db)); /* of nothing: COMMIT alone */
}

struct locker {
    struct db *db;
    uint64_t token;
    enum status status;
};

static void *look_up_token(void *argument)
{
    struct locker *locker = argument;

    locker->status = db_host_token(locker->db, 7, &locker->token);
    return NULL;
}

/* The answer to a COMMIT may be lost long before it is done. */
static void a_token_is_looked_up_when_its_transaction_has_ended(void **state)
{
    struct fixture *f = *state;

    for (uint64_t token = 1; token <= 2; token++) { /* a new row, then a changed one */
        struct locker locker = {.db = f->db};
        pthread_t thread;

        assert_status(STATUS_OK, db_host_guard(f->other, 7, token, 1));
        assert_int_equal(pthread_create(&thread, NULL, look_up_token, &locker), 0);
        test_database_wait_for_lock_wait(f->database);
        assert_status(STATUS_OK, db_commit(f->other));
        (void)pthread_join(thread, NULL);
        assert_status(STATUS_OK, locker.status);
        assert_true(locker.token == token);
        assert_status(STATUS_OK, db_rollback(f->db));
    }
}

static void a_savepoint_keeps_what_came_before(void **state)
{
    struct fixture *f = *state;

    assert_status(STATUS_OK, db_host_guard(f->db, 7, 1, 1));
    assert_status(STATUS_OK, db_savepoint(f->db));
    assert_status(STATUS_OK, db_host_guard(f->db, 8, 1, 1));
    assert_status(STATUS_OK, db_rollback_to_savepoint(f->db));
    assert_status(STATUS_OK, db_savepoint(f->db));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_host"), 1);
}

static void a_savepoint_sent_ahead_fails_the_next(void **state)
{
    struct fixture *f = *state;
    enum status sent;

    assert_status(STATUS_OK, db_host_guard(f->db, 7, 1, 1));
    kill_connections(f);
    sent = db_savepoint(f->db); /* may not have noticed yet */
    assert_true(sent == STATUS_OK || sent == STATUS_DB_GONE);
    assert_status(STATUS_DB_GONE, db_host_guard(f->db, 8, 1, 1));
}

/* As another node of a cluster may end it: nobody tells. */
static void lose_transaction(struct db *db)
{
    assert_status(STATUS_OK, db_run_text(db, "ROLLBACK"));
}

static enum status commit_host(struct db *db, uint64_t token)
{
    return db_host_commit(
        db, &(struct host_ending){.hostid = 7, .token = token, .now = 1, .has_guard = true});
}

static void a_transaction_lost_in_silence_commits_nothing(void **state)
{
    struct fixture *f = *state;
    uint64_t token;

    db_keep_token(f->db);
    /* Each of the two ends, with the guard row there and without. */
    for (int turn = 0; turn < 2; turn++) {
        uint64_t begun = (uint64_t)turn + 1;

        assert_status(STATUS_OK, db_user_save_cross_project_id(f->db, 1, TEXT("first half")));
        lose_transaction(f->db);
        assert_status(STATUS_OK, db_user_save_cross_project_id(f->db, 2, TEXT("second half")));
        assert_status(STATUS_DB_RETRY, commit_host(f->db, begun));
        assert_status(STATUS_OK, db_rollback(f->db));

        assert_status(STATUS_OK, db_user_lock(f->db, 1));
        lose_transaction(f->db);
        assert_status(STATUS_OK, db_user_save_cross_project_id(f->db, 2, TEXT("second half")));
        assert_status(STATUS_DB_RETRY, db_commit(f->db));
        assert_status(STATUS_DB_RETRY, db_commit(f->db)); /* it stays so until the rollback */
        assert_status(STATUS_OK, db_rollback(f->db));
        assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM user"
                                                 " WHERE cross_project_id LIKE '%%half'"),
                   0);

        assert_status(STATUS_OK, db_user_lock(f->db, 1));
        assert_status(STATUS_OK, commit_host(f->db, begun));
        assert_status(STATUS_OK, db_host_token(f->db, 7, &token));
        assert_true(token == begun);
        assert_status(STATUS_OK, db_rollback(f->db));
    }
}

/* No abort goes unreported there. */
static void a_single_server_needs_no_token(void **state)
{
    struct fixture *f = *state;
    uint64_t token = 0;

    for (uint64_t begun = 1; begun <= 2; begun++) { /* a new guard row, then a changed one */
        db_count_reset(f->db);
        assert_status(STATUS_OK, db_begin(f->db));
        assert_status(STATUS_OK, db_user_lock(f->db, 1));
        assert_status(STATUS_OK, commit_host(f->db, begun));
        assert_i64((int64_t)db_count(f->db).statements, 3); /* the guard row, and COMMIT */
        assert_i64((int64_t)db_count(f->db).round_trips, 3);
        assert_status(STATUS_OK, db_host_token(f->db, 7, &token));
        assert_true(token == begun);
        assert_status(STATUS_OK, db_rollback(f->db));
    }
    assert_true(db_sees_losses(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_connection"), 0);
    db_keep_token(f->db);
    assert_status(STATUS_OK, db_reopen(f->db)); /* a test's wish outlives the connection */
    assert_status(STATUS_OK, db_user_lock(f->db, 1));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_connection"), 1);
}

/* What only reads begins nothing; the first statement that locks or writes does. */
static void reading_leaves_no_trace(void **state)
{
    struct fixture *f = *state;
    struct user_row user;
    struct text team;

    db_keep_token(f->db);
    db_count_reset(f->db);
    for (int i = 0; i < 2; i++) {
        assert_status(STATUS_OK, db_user_by_id(f->db, f->arena, 1, &user, &team));
        assert_status(STATUS_OK, db_commit(f->db));
    }
    assert_i64((int64_t)db_count(f->db).statements, 4); /* and COMMIT */
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_connection"), 0);

    assert_status(STATUS_OK, db_user_by_id(f->db, f->arena, 1, &user, &team));
    assert_status(STATUS_OK, db_user_save_cross_project_id(f->db, 1, TEXT("first half")));
    lose_transaction(f->db);
    assert_status(STATUS_OK, db_user_save_cross_project_id(f->db, 2, TEXT("second half")));
    assert_status(STATUS_DB_RETRY, db_commit(f->db));
}

/* A connection that cannot roll back is used no more. */
static void a_rollback_that_fails_ends_the_connection(void **state)
{
    struct fixture *f = *state;

    assert_status(STATUS_OK, db_user_lock(f->db, 1));
    kill_connections(f);
    assert_status(STATUS_DB_GONE, db_rollback(f->db));
    assert_status(STATUS_DB_GONE, db_user_lock(f->db, 1));
    assert_string_equal(db_error(f->db), "not connected");
    assert_status(STATUS_DB_GONE, db_rollback(f->db));
    assert_status(STATUS_OK, db_reopen(f->db));
    assert_status(STATUS_OK, db_user_lock(f->db, 1));
}

static void a_rollback_in_the_middle_begins_anew(void **state)
{
    struct fixture *f = *state;

    assert_status(STATUS_OK, db_user_lock(f->db, 1));
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_user_lock(f->db, 2));
    assert_status(STATUS_OK, db_savepoint(f->db));
    assert_status(STATUS_OK, db_user_lock(f->db, 1));
    assert_status(STATUS_OK, db_rollback_to_savepoint(f->db));
    assert_status(STATUS_OK, commit_host(f->db, 1));
    assert_status(STATUS_OK, db_user_lock(f->db, 2));
    assert_status(STATUS_OK, db_savepoint(f->db));
    lose_transaction(f->db);
    assert_status(STATUS_DB_RETRY, db_rollback_to_savepoint(f->db));
}

/* The row's date is renewed while its connection lives, though not with each transaction. */
static void a_living_connection_is_young(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int age;
        bool is_renewed;
    } cases[] = {{43000, false}, {43300, true}, {90000, true}};

    db_keep_token(f->db);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_status(STATUS_OK, db_user_lock(f->db, 1));
        assert_status(STATUS_OK, db_commit(f->db));
        test_sql(f->database, "UPDATE qm_connection SET made = UNIX_TIMESTAMP() - %d",
                 cases[i].age);
        assert_status(STATUS_OK, db_user_lock(f->db, 1));
        assert_status(STATUS_OK, db_commit(f->db));
        assert_int_equal(test_sql_integer(f->database, "SELECT UNIX_TIMESTAMP() - MAX(made) < 60"
                                                       " FROM qm_connection"),
                         cases[i].is_renewed);
    }
}

/* The rows of connections that ended are not kept for ever. Those that live keep theirs, and nobody
 * waits for them, in whatever state they are. */
static void old_connections_are_forgotten(void **state)
{
    struct fixture *f = *state;

    db_keep_token(f->db);
    for (int i = 0; i < 2; i++) {
        assert_status(STATUS_OK, db_user_lock(f->db, 1));
        assert_status(STATUS_OK, db_commit(f->db));
        if (i == 0)
            test_sql(f->database, "UPDATE qm_connection SET made = UNIX_TIMESTAMP() - 90000");
    }
    assert_status(STATUS_OK, db_user_lock(f->db, 1)); /* holds its row, which is the youngest */
    test_sql(f->database, "INSERT INTO qm_connection (id, token, made) VALUES (1, 1,"
                          " UNIX_TIMESTAMP() - 90000), (2, 1, UNIX_TIMESTAMP() - 80000)");
    for (int i = 0; i < 2000; i++) {
        struct db *db;

        if (test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_connection WHERE id = 1") == 0)
            break;
        db = test_database_open(f->database);
        db_keep_token(db);
        db_close(db);
    }
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_connection WHERE id = 1"), 0);
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_connection WHERE id = 2"), 1);
    assert_status(STATUS_OK, db_commit(f->db));
}

static void *lock_the_first(void *argument)
{
    struct locker *locker = argument;

    locker->status = db_user_lock(locker->db, 1);
    if (locker->status != STATUS_OK)
        (void)db_rollback(locker->db);
    return NULL;
}

static void a_deadlock_is_to_be_repeated(void **state)
{
    struct fixture *f = *state;
    struct locker locker = {.db = f->other};
    pthread_t thread;
    enum status status;

    assert_status(STATUS_OK, db_user_lock(f->db, 1));
    assert_status(STATUS_OK, db_user_lock(f->other, 2));
    assert_int_equal(pthread_create(&thread, NULL, lock_the_first, &locker), 0);
    test_database_wait_for_lock_wait(f->database);
    status = db_user_lock(f->db, 2);
    (void)db_rollback(f->db);
    (void)pthread_join(thread, NULL);
    assert_true((status == STATUS_DB_RETRY) != (locker.status == STATUS_DB_RETRY));
    assert_int_equal(db_count(f->db).errors[DB_ERROR_DEADLOCK] +
                         db_count(f->other).errors[DB_ERROR_DEADLOCK],
                     1);
    assert_true(status == STATUS_OK || status == STATUS_DB_RETRY);
}

/* By what it waits for, which another connection holds for a while. */
static void waiting_is_measured(void **state)
{
    struct fixture *f = *state;
    struct locker locker = {.db = f->other};
    pthread_t thread;

    assert_status(STATUS_OK, db_user_lock(f->db, 1));
    db_count_reset(f->db);
    db_count_reset(f->other);
    assert_int_equal(pthread_create(&thread, NULL, lock_the_first, &locker), 0);
    test_database_wait_for_lock_wait(f->database);
    usleep(200000);
    assert_true(db_count(f->db).waited_ns == 0); /* the pause is not the database's */
    assert_status(STATUS_OK, db_rollback(f->db));
    (void)pthread_join(thread, NULL);
    assert_status(STATUS_OK, locker.status);
    assert_in_range(db_count(f->db).waited_ns, 1, 199999999);
    assert_in_range(db_count(f->other).waited_ns, 200000000, UINT64_C(3000000000));
}

static void classes_of_errors(void **state)
{
    static const struct {
        unsigned error;
        bool committing;
        enum status status;
    } cases[] = {{ER_LOCK_DEADLOCK, false, STATUS_DB_RETRY},
                 {ER_LOCK_DEADLOCK, true, STATUS_DB_RETRY}, /* a cluster says it there */
                 {ER_LOCK_WAIT_TIMEOUT, false, STATUS_DB_RETRY},
                 {ER_CHECKREAD, false, STATUS_DB_RETRY},
                 {2006, false, STATUS_DB_GONE},
                 {2013, false, STATUS_DB_GONE},
                 {2055, false, STATUS_DB_GONE},
                 {2002, false, STATUS_DB_GONE},
                 {2013, true, STATUS_DB_UNKNOWN},
                 {ER_CONNECTION_KILLED, true, STATUS_DB_UNKNOWN},
                 {ER_DUP_ENTRY, false, STATUS_DB_REFUSED},
                 {ER_ACCESS_DENIED_ERROR, false, STATUS_DB_REFUSED},
                 {ER_OPTION_PREVENTS_STATEMENT, false, STATUS_DB_GONE},
                 {ER_OPTION_PREVENTS_STATEMENT, true, STATUS_DB_UNKNOWN},
                 {ER_LOCK_WAIT_TIMEOUT, true, STATUS_DB_UNKNOWN},
                 {ER_QUERY_INTERRUPTED, true, STATUS_DB_UNKNOWN},
                 {ER_STATEMENT_TIMEOUT, true, STATUS_DB_UNKNOWN},
                 {ER_UNKNOWN_COM_ERROR, true, STATUS_DB_UNKNOWN},
                 {ER_ERROR_DURING_COMMIT, true, STATUS_DB_UNKNOWN},
                 {ER_SP_DOES_NOT_EXIST, false, STATUS_DB_RETRY},
                 {ER_READ_ONLY_MODE, false, STATUS_DB_GONE},
                 {ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, false, STATUS_DB_REFUSED},
                 {1665, false, STATUS_DB_REFUSED},
                 {ER_PARSE_ERROR, false, STATUS_DB_BUG},
                 {ER_BAD_FIELD_ERROR, false, STATUS_DB_BUG}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (db_error_status(cases[i].error, cases[i].committing) != cases[i].status)
            fail_msg("error %u is %s", cases[i].error,
                     status_word(db_error_status(cases[i].error, cases[i].committing)));
    }
}

/* For people an error has words of ours before those of the database, and its number last. */
static void errors_are_told_in_words(void **state)
{
    struct fixture *f = *state;
    const char *too_long = "x23456789.x23456789.x23456789.x23456789.x23456789.x23456789.x23456789."
                           "x23456789.x23456789.x23456789.x23456789.x23456789.x23456789.x23456789."
                           "x23456789.x23456789.x23456789.x23456789.x23456789.x23456789.x23456789.";
    enum status status;
    int64_t id;

    assert_status(STATUS_OK, db_admin_app_add(f->db, TEXT("twice"), TEXT("Twice"), 1, &id));
    status = db_admin_app_add(f->db, TEXT("twice"), TEXT("Twice"), 1, &id);
    assert_status(STATUS_DB_REFUSED, status);
    assert_string_equal(db_explain(f->db, status),
                        "it already exists (statement admin_app_add: Duplicate entry 'twice' for "
                        "key 'name' (error 1062))");
    status = db_admin_app_add(f->db, text_from(too_long), TEXT("Twice"), 1, &id);
    assert_non_null(strstr(db_explain(f->db, status), "a text is too long for its column ("));
    assert_string_equal(db_explain(f->db, STATUS_NOT_FOUND), "not found");
    assert_status(STATUS_OK, db_rollback(f->db));
    test_sql(f->database, "RENAME TABLE platform TO elsewhere");
    status = db_admin_platform_find(f->db, TEXT("x"), &id);
    test_sql(f->database, "RENAME TABLE elsewhere TO platform");
    assert_non_null(strstr(db_explain(f->db, status), "the database lacks tables"));
    kill_connections(f);
    status = db_admin_platform_find(f->db, TEXT("x"), &id);
    assert_non_null(strstr(db_explain(f->db, status), "the database cannot be reached"));
    assert_status(STATUS_OK, db_reopen(f->db));
    db_fail_nth(f->db, 1, STATUS_DB_REFUSED);
    status = db_admin_platform_find(f->db, TEXT("x"), &id);
    assert_string_equal(db_explain(f->db, status),
                        "database refused (failure asked for by a test)");
}

#define BEGIN_WAITS                                                   \
    "EXISTS (SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO" \
    " LIKE 'INSERT INTO qm_connection%%' AND STATE LIKE 'Waiting for table%%')"

/* Whoever is refused without the database's help does not wait for it. */
static void a_refusal_does_not_wait_for_the_database(void **state)
{
    struct fixture *f = *state;
    struct buffer reply = buffer_on_heap(0);
    struct request request = {.config = test_database_config(f->database),
                              .catalog = (const struct catalog *)(const void *)f,
                              .db = f->db,
                              .arena = f->arena,
                              .transport = {.body = TEXT("no request")}};

    db_keep_token(f->db);
    test_sql(f->database, "LOCK TABLES qm_connection WRITE");
    request_run(&request, &reply);
    assert_true(text_contains(buffer_text(&reply), TEXT("<scheduler_reply>")));
    test_database_wait(f->database, BEGIN_WAITS);
    test_sql(f->database, "UNLOCK TABLES");
    assert_status(STATUS_OK, db_end(f->db));
    assert_status(STATUS_OK, db_end(f->db)); /* nothing is open any more */
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_connection"), 0);
    buffer_free(&reply);
}

/* What the administrator's command shows, and what a server reads at its start. */
static void reads_all(struct db *db, struct arena *arena)
{
    struct catalog_rows catalog;
    struct queue_line *queue;
    struct short_deadline_row *deadlines;
    struct app_slack_row *slacks;
    struct version_entry_row *versions;
    struct user_row *users;
    struct host_entry *hosts;
    struct last_contact_row contact;
    bool is_sample;
    size_t count;
    int64_t number;

    assert_status(STATUS_OK, db_catalog(db, arena, &catalog));
    assert_status(STATUS_OK, db_admin_queue(db, arena, true, &queue, &count));
    assert_status(STATUS_OK, db_admin_short_deadlines(db, arena, 10, 10, &deadlines, &count));
    assert_status(STATUS_OK, db_admin_slacks(db, arena, 10, 3, &slacks, &count));
    assert_status(STATUS_OK, db_admin_versions(db, arena, &versions, &count));
    assert_status(STATUS_OK, db_admin_users(db, arena, 10, &users, &count));
    assert_status(STATUS_OK, db_admin_hosts(db, arena, 0, 1, 10, &hosts, &count));
    assert_status(STATUS_OK, db_admin_queue_counted(db, arena, 10, &queue, &count));
    assert_status(STATUS_OK, db_admin_last_contact(db, 1, 10, &contact, &is_sample));
    assert_status(STATUS_OK, db_result_last_id(db, arena, &number));
}

/* A primary that was failed over becomes read-only under its connections; whoever connects again
 * finds the new one. The tests' own account may write all the same. */
static void a_read_only_server_is_gone(void **state)
{
    struct fixture *f = *state;
    struct config *config = test_database_config(f->database);
    struct text user = text_print(f->arena, "qm_plain_%ld", (long)getpid()), own = config->db_user;
    struct failure failure = {0};
    struct db *db = NULL;
    uint64_t token;

    test_sql(f->database, "CREATE USER '" TEXT_FORMAT "'@'localhost'", TEXT_ARG(user));
    test_sql(f->database, "GRANT ALL ON " TEXT_FORMAT ".* TO '" TEXT_FORMAT "'@'localhost'",
             TEXT_ARG(config->db_name), TEXT_ARG(user));
    config->db_user = user;
    assert_status(STATUS_OK, db_open(config, &db, &failure));
    config->db_user = own;

    test_sql(f->database, "SET GLOBAL read_only = 1");
    assert_status(STATUS_DB_GONE, db_host_guard(db, 7, 1, 1));
    assert_non_null(strstr(db_error(db), "1290"));
    assert_status(STATUS_DB_GONE, db_reopen(db));
    assert_non_null(strstr(db_error(db), "read-only"));
    test_sql(f->database, "SET GLOBAL read_only = 0");
    assert_status(STATUS_OK, db_reopen(db));
    assert_status(STATUS_OK, db_host_guard(db, 7, 2, 1));

    assert_status(STATUS_OK, db_commit(db));
    test_sql(f->database, "SET GLOBAL read_only = 1");
    reads_all(db, f->arena);
    assert_status(STATUS_OK, db_commit(db)); /* of what only read */
    test_sql(f->database, "SET GLOBAL read_only = 0");
    assert_status(STATUS_OK, db_host_guard(db, 8, 2, 1));

    test_sql(f->database, "SET GLOBAL read_only = 1");
    assert_status(STATUS_DB_UNKNOWN, db_commit(db));
    test_sql(f->database, "SET GLOBAL read_only = 0");
    assert_status(STATUS_OK, db_reopen(db));
    assert_status(STATUS_NOT_FOUND, db_host_token(db, 8, &token)); /* it was rolled back */
    db_close(db);
    test_sql(f->database, "DROP USER '" TEXT_FORMAT "'@'localhost'", TEXT_ARG(user));
}

static void a_constraint_refuses(void **state)
{
    struct fixture *f = *state;
    struct db *db;

    test_sql(f->database, "ALTER TABLE user ADD CONSTRAINT short CHECK (cross_project_id <> 'x')");
    db = test_database_open(f->database);
    assert_status(STATUS_DB_REFUSED, db_user_save_cross_project_id(db, 1, TEXT("x")));
    assert_status(STATUS_OK, db_user_save_cross_project_id(db, 1, TEXT("y")));
    db_close(db); /* an open transaction would hold up the next statement */
    test_sql(f->database, "ALTER TABLE user DROP CONSTRAINT short");
}

static void a_refused_opening_says_why(void **state)
{
    struct fixture *f = *state;
    struct db *db = NULL;
    struct failure failure = {0};
    struct test_database *empty = test_database_create(false, NULL);

    assert_status(STATUS_DB_REFUSED, db_open(test_database_config(empty), &db, &failure));
    assert_non_null(strstr(failure.text, "qmctl init"));
    test_database_destroy(empty);

    failure = (struct failure){0};
    test_sql(f->database, "ALTER TABLE qm_host RENAME TO away");
    assert_status(STATUS_DB_REFUSED, db_open(test_database_config(f->database), &db, &failure));
    assert_non_null(strstr(failure.text, "qm_host"));
    test_sql(f->database, "ALTER TABLE away RENAME TO qm_host");

    failure = (struct failure){0};
    test_sql(f->database, "ALTER TABLE host CHANGE p_ncpus other INT NOT NULL");
    assert_status(STATUS_DB_REFUSED, db_open(test_database_config(f->database), &db, &failure));
    assert_non_null(strstr(failure.text, "p_ncpus"));
    test_sql(f->database, "ALTER TABLE host CHANGE other p_ncpus INT NOT NULL");
    assert_null(db);
}

static void no_server_is_gone(void **state)
{
    struct test_database *database = test_database_create(false, NULL);
    struct db *db = NULL;
    struct failure failure = {0};

    (void)state;
    assert_status(STATUS_OK, config_set(test_database_config(database), TEXT("db_socket"),
                                        TEXT("/nonexistent/socket"), &failure));
    assert_status(STATUS_DB_GONE, db_open(test_database_config(database), &db, &failure));
    assert_non_null(strstr(failure.text, "/nonexistent/socket"));
    test_database_destroy(database);
}

static void the_nth_command_can_be_made_to_fail(void **state)
{
    struct fixture *f = *state;

    db_fail_nth(f->db, 2, STATUS_DB_RETRY);
    assert_status(STATUS_OK, db_user_lock(f->db, 1));
    assert_status(STATUS_DB_RETRY, db_user_lock(f->db, 1));
    assert_status(STATUS_OK, db_user_lock(f->db, 1));
}

static void a_connection_prepares_each_statement_once(void **state)
{
    struct fixture *f = *state;

    db_count_reset(f->db);
    for (int i = 0; i < 5; i++)
        assert_status(STATUS_OK, db_user_lock(f->db, 1));
    assert_i64((int64_t)db_count(f->db).prepares, 1);
    assert_i64((int64_t)db_count(f->db).round_trips, 5);
    assert_i64((int64_t)db_count(f->db).statements, 5);
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64((int64_t)db_count(f->db).commits, 1);
}

/* On a cluster a prepare in the middle of a transaction may hide its end. */
static void on_a_cluster_nothing_is_prepared_inside_a_transaction(void **state)
{
    struct fixture *f = *state;
    struct asking asking = {.host = 5, .work_seconds = 1000};
    struct serving serving;
    struct host_row host;

    test_database_add_app(f->database);
    test_sql(f->database, "SET SESSION sql_mode = '';"
                          "INSERT INTO user SET id = 17, email_addr = 'c', authenticator = 'key';"
                          "INSERT INTO host SET id = 5, userid = 17");
    serving_add_jobs(f->database, &(struct new_jobs){.first = 1, .count = 8});
    serving_open(&serving, f->database);
    serving.db->traits.is_cluster = true;
    db_keep_token(serving.db);
    assert_status(STATUS_OK, mariadb_prepare_ahead(serving.db));
    for (int i = 0; i < 2; i++) { /* jobs, then the same again, which were lost */
        (void)serving_ask(&serving, &asking, 1800000000 + i * 1000, 1);
        assert_true(serving.request.attempt.jobs_sent + serving.request.attempt.resent > 0);
        assert_int_equal(db_count(serving.db).prepares, 0);
    }
    serving_close(&serving);

    f->db->traits.is_cluster = f->db->is_admin = true;
    db_keep_token(f->db);
    assert_status(STATUS_OK, mariadb_prepare_ahead(f->db));
    assert_true(db_count(f->db).prepares > 100);
    db_count_reset(f->db);
    for (int i = 0; i < STATEMENT_FILES; i++) {
        bool has_list = statement_list(statement_definition((enum statement)i)) != NULL;

        for (size_t j = 1; j <= (has_list ? DB_LIST_MOST : 1); j *= 4)
            assert_status(STATUS_OK, db_prepare(f->db, (enum statement)i, j));
    }
    assert_int_equal(db_count(f->db).prepares, 0);

    /* What then may only read locks nothing, though it was prepared with locks. */
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_read_only(f->db));
    assert_status(STATUS_OK, db_host_lock(f->db, f->arena, 5, &host));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_lost_connection_is_gone_and_can_be_reopened),
        CASE(a_connection_lost_at_commit_is_unknown),
        CASE(a_token_is_looked_up_when_its_transaction_has_ended),
        CASE(a_savepoint_keeps_what_came_before),
        CASE(a_savepoint_sent_ahead_fails_the_next),
        CASE(a_transaction_lost_in_silence_commits_nothing),
        CASE(a_single_server_needs_no_token),
        CASE(reading_leaves_no_trace),
        CASE(a_rollback_that_fails_ends_the_connection),
        CASE(a_rollback_in_the_middle_begins_anew),
        CASE(a_living_connection_is_young),
        CASE(old_connections_are_forgotten),
        CASE(a_deadlock_is_to_be_repeated),
        CASE(waiting_is_measured),
        CASE(classes_of_errors),
        CASE(errors_are_told_in_words),
        CASE(a_refusal_does_not_wait_for_the_database),
        CASE(a_read_only_server_is_gone),
        CASE(a_constraint_refuses),
        CASE(a_refused_opening_says_why),
        CASE(no_server_is_gone),
        CASE(the_nth_command_can_be_made_to_fail),
        CASE(a_connection_prepares_each_statement_once),
        CASE(on_a_cluster_nothing_is_prepared_inside_a_transaction),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
