/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the database server that bound what a statement may be, read or change: a connection
 * keeps to those that it cannot change for itself, and changes the others. They are global, so no
 * other test runs beside this one. */
#include "db/admin.h"
#include "db/adoption_rows.h"
#include "db/mariadb_internal.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <unistd.h>

enum { NOW = 1800000000, REPORTS = 40, BLOB = 65535, TRICKLE = 262143, MEBIBYTE = 1 << 20 };

static struct text long_text(struct arena *arena, size_t length)
{
    char *at = arena_alloc(arena, length);

    assert_non_null(at);
    memset(at, 'x', length);
    return (struct text){at, length};
}

/* Connections that are opened from now on find it so. */
static struct db *open_with(struct test_fixture *f, const char *settings)
{
    test_sql(f->database, "SET GLOBAL %s", settings);
    return test_database_open(f->database);
}

static int restore(void **state)
{
    struct test_fixture *f = *state;

    test_sql(f->database,
             "SET GLOBAL max_allowed_packet = DEFAULT, sql_select_limit = DEFAULT,"
             " max_join_size = DEFAULT, sql_safe_updates = 0, group_concat_max_len = DEFAULT,"
             " init_connect = ''");
    return test_fixture_close(state);
}

/* --- max_allowed_packet ---------------------------------------------------------------------- */

static void long_reports_go_out_in_small_packets(void **state)
{
    struct test_fixture *f = *state;
    struct db *db = open_with(f, "max_allowed_packet = 1048576");
    struct result_report reports[REPORTS];
    bool booked[REPORTS];

    test_sql(f->database,
             "INSERT INTO workunit (id, name) SELECT seq, seq FROM seq_1_to_%d;"
             "INSERT INTO result (id, workunitid, name, hostid, server_state)"
             " SELECT seq, seq, seq, 7, 4 FROM seq_1_to_%d",
             REPORTS, REPORTS);
    for (int i = 0; i < REPORTS; i++)
        reports[i] = (struct result_report){.id = i + 1,
                                            .workunitid = i + 1,
                                            .hostid = 7,
                                            .received_time = NOW,
                                            .outcome = OUTCOME_SUCCESS,
                                            .stderr_out = long_text(f->arena, BLOB),
                                            .xml_doc_out = long_text(f->arena, BLOB)};
    assert_status(STATUS_OK, db_reports_save(db, f->arena, reports, REPORTS, NOW, booked));
    assert_status(STATUS_OK, db_commit(db));
    assert_int_equal(test_sql_integer(f->database,
                                      "SELECT SUM(LENGTH(stderr_out) + LENGTH(xml_doc_out))"
                                      " FROM result WHERE server_state = 5"),
                     2 * REPORTS * BLOB);
    db_close(db);
}

/* The longest that a request may bring, where packets are the smallest that a server works with. */
static void each_value_of_a_request_fits(void **state)
{
    struct test_fixture *f = *state;
    struct db *db = open_with(f, "max_allowed_packet = 524288");
    struct message_from_host messages[9];

    for (size_t i = 0; i < 9; i++)
        messages[i] =
            (struct message_from_host){.variety = TEXT("a"), .xml = long_text(f->arena, TRICKLE)};
    assert_status(STATUS_OK, db_messages_from_host_save(db, 7, NOW, messages, 9));
    assert_status(STATUS_OK, db_commit(db));
    assert_int_equal(test_sql_integer(f->database, "SELECT SUM(LENGTH(xml)) FROM msg_from_host"),
                     9 * TRICKLE);
    db_close(db);
}

/* Rows of lists are as long as the longest list of them. */
static void rows_of_long_lists_are_not_sent_at_once(void **state)
{
    enum { ROWS = 1000 };
    struct test_fixture *f = *state;
    struct db *db = open_with(f, "max_allowed_packet = 1048576");
    struct claim_workunits_values values[ROWS];
    int64_t ids[DB_LIST_MOST];

    test_sql(f->database, "INSERT INTO workunit (id, name) SELECT seq, seq FROM seq_1_to_%d",
             DB_LIST_MOST);
    for (int64_t i = 0; i < DB_LIST_MOST; i++)
        ids[i] = i + 1;
    for (size_t i = 0; i < ROWS; i++)
        values[i] = (struct claim_workunits_values){.ids = {ids, i == 0 ? DB_LIST_MOST : 1},
                                                    .report_deadline = NOW};
    assert_status(STATUS_OK, DB_RUN_BULK(db, claim_workunits, values, ROWS, NULL));
    assert_status(STATUS_OK, db_commit(db));
    db_close(db);
}

/* Before it is sent, as the server would close the connection. */
static void a_value_that_is_too_large_is_refused_in_words(void **state)
{
    struct test_fixture *f = *state;
    struct db *db = open_with(f, "max_allowed_packet = 1048576");
    struct text document = long_text(f->arena, MEBIBYTE);
    enum status status = db_admin_version_save_document(db, 1, document);

    assert_status(STATUS_DB_REFUSED, status);
    assert_non_null(strstr(db_explain(db, status), "max_allowed_packet"));
    assert_status(STATUS_OK, db_rollback(db));
    assert_status(STATUS_OK, db_host_guard(db, 7, 1, NOW)); /* the connection lives */
    assert_status(STATUS_OK, db_commit(db));
    db_close(db);
}

static void smaller_packets_are_no_database_for_a_server(void **state)
{
    struct test_fixture *f = *state;
    struct failure failure = {0};
    struct db *db = NULL;

    test_sql(f->database, "SET GLOBAL max_allowed_packet = 523264");
    assert_status(STATUS_DB_REFUSED, db_open(test_database_config(f->database), &db, &failure));
    assert_non_null(strstr(failure.text, "set max_allowed_packet"));
}

/* --- what a session may change --------------------------------------------------------------- */

static void lists_are_read_to_their_end(void **state)
{
    struct test_fixture *f = *state;
    struct db *db = open_with(f, "sql_select_limit = 1");
    struct catalog_rows rows;

    test_sql(f->database, "INSERT INTO app (name) VALUES ('a'), ('b'), ('c')");
    assert_status(STATUS_OK, db_catalog(db, f->arena, &rows));
    assert_int_equal(rows.app_count, 3);
    db_close(db);
}

static void joins_are_not_too_large(void **state)
{
    struct test_fixture *f = *state;
    struct db *db = open_with(f, "max_join_size = 1");
    struct version_entry_row *versions;
    size_t count;

    test_sql(f->database, "INSERT INTO app (name) VALUES ('a'), ('b'), ('c')");
    assert_status(STATUS_OK, db_admin_versions(db, f->arena, &versions, &count));
    db_close(db);
}

static void rows_are_changed_without_a_key(void **state)
{
    struct test_fixture *f = *state;
    struct db *db = open_with(f, "sql_safe_updates = 1");

    assert_status(STATUS_OK, db_server_leave(db, 1));
    db_close(db);
}

static void columns_of_an_index_come_whole(void **state)
{
    struct test_fixture *f = *state;
    struct db *db = open_with(f, "group_concat_max_len = 4");
    struct adoption_index_row *rows;
    size_t count, found = 0;

    assert_status(STATUS_OK, db_adoption_indexes(db, f->arena, &rows, &count));
    for (size_t i = 0; i < count; i++)
        found += text_is(rows[i].columns_of_key, "server_state,priority");
    assert_int_equal(found, 1);
    db_close(db);
}

/* --- who stands still ------------------------------------------------------------------------ */

/* A minute is made a second: where nothing was set it stays 0, which is for ever. */
static void holds_nothing_for_long(struct test_fixture *f, struct db *idle)
{
    struct db *other = test_database_open(f->database);
    enum status status = STATUS_DB_RETRY;

    assert_status(STATUS_OK, db_run_text(idle, "SET SESSION idle_write_transaction_timeout ="
                                               " @@idle_write_transaction_timeout DIV 60"));
    assert_status(STATUS_OK, db_run_text(idle, "UPDATE app SET weight = 2"));
    for (int tries = 0; tries < 30 && status == STATUS_DB_RETRY; tries++) {
        status = db_run_text(other, "UPDATE app SET weight = 3");
        if (status != STATUS_OK)
            assert_status(STATUS_OK, db_rollback(other));
    }
    assert_status(STATUS_OK, status);
    assert_status(STATUS_OK, db_commit(other));
    assert_status(STATUS_DB_GONE, db_run_text(idle, "UPDATE app SET weight = 4"));
    assert_status(STATUS_OK, db_reopen(idle));
    assert_i64(test_sql_integer(f->database, "SELECT @@GLOBAL.idle_write_transaction_timeout"), 0);
    db_close(other);
}

static void who_stands_still_keeps_no_rows_from_others(void **state)
{
    struct test_fixture *f = *state;
    struct db *server = test_database_open(f->database), *admin;

    test_sql(f->database, "INSERT INTO app (name) VALUES ('a')");
    holds_nothing_for_long(f, server);
    assert_status(STATUS_OK, db_admin_open(test_database_config(f->database), &admin, NULL));
    assert_status(STATUS_OK, db_undo_idle(admin));
    holds_nothing_for_long(f, admin);
    holds_nothing_for_long(f, admin); /* also after db_reopen */
    db_close(admin);
    db_close(server);
}

/* --- a lock of all tables -------------------------------------------------------------------- */

/* As a backup takes it: the server is there, and answers, and is not to be looked for elsewhere. */
static void a_locked_database_is_not_away(void **state)
{
    struct test_fixture *f = *state;
    struct config *config = test_database_config(f->database);
    struct failure failure = {0};

    test_sql(f->database, "FLUSH TABLES WITH READ LOCK");
    assert_int_equal(db_examine(config, NULL, &failure), DB_TROUBLE_LOCKED);
    assert_int_equal(db_examine_writing(config, &failure), DB_TROUBLE_LOCKED);
    test_sql(f->database, "UNLOCK TABLES");
    assert_int_equal(db_examine(config, NULL, &failure), DB_TROUBLE_NONE);
    test_sql(f->database, "LOCK TABLES qm_connection READ");
    assert_int_equal(db_examine(config, NULL, &failure), DB_TROUBLE_LOCKED);
    test_sql(f->database, "UNLOCK TABLES");
}

/* --- clocks ---------------------------------------------------------------------------------- */

/* Of others than the administrator a connection begins with what the server says. */
static void clocks_that_are_apart_are_told(void **state)
{
    static const struct {
        const char *change;
        int64_t ahead;
        bool are_apart;
    } cases[] = {{"+ 259200", 259200, true}, {"- 100", -100, true}, {"+ 30", 30, false}};
    struct test_fixture *f = *state;
    struct config *config = test_database_config(f->database);
    struct text administrator = config->db_user;
    struct text user = text_print(f->arena, "qm_clock_%d", (int)getpid());

    test_sql(f->database, "CREATE USER '" TEXT_FORMAT "'@'localhost'", TEXT_ARG(user));
    test_sql(f->database, "GRANT ALL ON " TEXT_FORMAT ".* TO '" TEXT_FORMAT "'@'localhost'",
             TEXT_ARG(config->db_name), TEXT_ARG(user));
    config->db_user = user;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct failure failure = {0};
        int64_t ahead = 0;
        char words[128];

        test_sql(f->database,
                 "SET GLOBAL init_connect = 'SET SESSION timestamp = UNIX_TIMESTAMP() %s'",
                 cases[i].change);
        assert_int_equal(db_examine(config, &ahead, &failure), DB_TROUBLE_NONE);
        assert_in_range(ahead - cases[i].ahead + 30, 0, 31); /* that clock stands still */
        assert_int_equal(db_clocks_are_apart(ahead), cases[i].are_apart);
        db_clock_words(ahead, words, sizeof(words));
        assert_non_null(
            strstr(words, ahead < 0 ? " s behind this machine's" : " s ahead of this machine's"));
    }
    config->db_user = administrator;
    test_sql(f->database, "DROP USER '" TEXT_FORMAT "'@'localhost'", TEXT_ARG(user));
}

static void a_minute_is_apart(void **state)
{
    (void)state;
    assert_true(db_clocks_are_apart(60) && db_clocks_are_apart(-60));
    assert_false(db_clocks_are_apart(59) || db_clocks_are_apart(-59));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, test_fixture_open, restore)
    const struct CMUnitTest tests[] = {
        CASE(long_reports_go_out_in_small_packets),
        CASE(each_value_of_a_request_fits),
        CASE(rows_of_long_lists_are_not_sent_at_once),
        CASE(a_value_that_is_too_large_is_refused_in_words),
        CASE(smaller_packets_are_no_database_for_a_server),
        CASE(lists_are_read_to_their_end),
        CASE(joins_are_not_too_large),
        CASE(rows_are_changed_without_a_key),
        CASE(columns_of_an_index_come_whole),
        CASE(who_stands_still_keeps_no_rows_from_others),
        CASE(a_locked_database_is_not_away),
        CASE(clocks_that_are_apart_are_told),
        CASE(a_minute_is_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
