/* SPDX-License-Identifier: Apache-2.0 */
/* What the optimizer makes of each statement of a request where the tables are large: nothing may
 * go through a table of a project, whatever a host or its user says. */
#include "db/db.h"
#include "db/mariadb.h"
#include "db/statement.h"
#include "server/base/buffer.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdlib.h>

enum { ROWS = 50000, ROWS_MOST = ROWS / 5 };

static const enum statement asked[] = {
#define ROWS(name, columns, sql)
#define FRAGMENT(name, sql)
#define STATEMENT(name, count, values, sql)     STATEMENT_##name,
#define LATER(name, count, latest, values, sql) STATEMENT_##name,
#define QUERY(name, rows, values, sql)          STATEMENT_##name,
#include "db/statements.def"
#undef ROWS
#undef FRAGMENT
#undef STATEMENT
#undef QUERY
};

/* What `qmctl status` counts, and what the dates of batches are estimated from. */
static const enum statement of_others[] = {STATEMENT_admin_validations_waiting,
                                           STATEMENT_admin_assimilations_waiting,
                                           STATEMENT_admin_deletions_waiting,
                                           STATEMENT_admin_oldest_waiting,
                                           STATEMENT_recent_results,
                                           STATEMENT_batch_lacking_results,
                                           STATEMENT_batch_hand_out,
                                           STATEMENT_results_ahead};

/* They read in order of an index and end after so many rows. */
static const enum statement bounded[] = {
    STATEMENT_fading_users, STATEMENT_fading_hosts,     STATEMENT_fading_teams,
    STATEMENT_candidates,   STATEMENT_candidates_below, STATEMENT_candidates_by_app,
    STATEMENT_host_flops,   STATEMENT_unsent_new,       STATEMENT_unsent_page,
    STATEMENT_unsent_ids,   STATEMENT_host_presences};

static bool is_bounded(enum statement statement)
{
    for (size_t i = 0; i < sizeof(bounded) / sizeof(bounded[0]); i++)
        if (bounded[i] == statement)
            return true;
    return false;
}

/* Every value is 5, and those of a list 5, 6, 7 ... */
static void fill_in(const char *sql, struct buffer *ret_sql)
{
    int value = 5;

    for (const char *at = sql; *at != '\0'; at++) {
        if (*at != '?') {
            buffer_add_char(ret_sql, *at);
            continue;
        }
        value = at - sql > 3 && strncmp(at - 3, "?, ", 3) == 0 ? value + 1 : 5;
        if (at - sql > 6 && (strncmp(at - 6, "LIMIT ", 6) == 0 || at[-2] == 'D'))
            buffer_print(ret_sql, "%d", value); /* LIMIT and ROWS EXAMINED take no text */
        else
            buffer_print(ret_sql, "'%d'", value);
    }
    buffer_add_char(ret_sql, '\0');
}

/* The most rows that a table of the plan is read for. */
static int64_t most_rows(struct text plan)
{
    static const char key[] = "\"rows\": ";
    int64_t most = 0;

    for (size_t i = 0; i + sizeof(key) < plan.length; i++) {
        int64_t rows = strncmp(plan.at + i, key, sizeof(key) - 1) == 0
                           ? strtoll(plan.at + i + sizeof(key) - 1, NULL, 10)
                           : 0;
        if (rows > most)
            most = rows;
    }
    return most;
}

/* User 5 has a fleet of computers that all have the same name. */
static void fill(struct test_database *database)
{
    test_sql(
        database,
        "INSERT INTO app (id, name) SELECT seq, seq FROM seq_1_to_10;"
        "INSERT INTO user (id, email_addr, authenticator, name, teamid) SELECT seq,"
        " CONCAT('u', seq), seq, CONCAT('n', seq), seq %% 100 FROM seq_1_to_%d;"
        "INSERT INTO host (id, userid, domain_name, last_ip_addr, os_name, p_model, host_cpid,"
        " expavg_credit) SELECT seq, IF(seq < 3000, 5, 1 + seq %% 5000), '5', '5', '5', '5',"
        " seq, seq %% 7 * 10 FROM seq_1_to_%d;"
        "INSERT INTO workunit (id, appid, name) SELECT seq, 1 + seq %% 10, seq FROM"
        " seq_1_to_%d;"
        "INSERT INTO result (id, workunitid, appid, name, server_state, hostid, userid,"
        " priority) SELECT seq, seq, 1 + seq %% 10, seq, ELT(1 + seq %% 3, 2, 4, 5),"
        " seq %% 7000, seq %% 900, seq %% 3 FROM seq_1_to_%d;"
        "INSERT INTO host_app_version (host_id, app_version_id) SELECT seq %% 10000,"
        " seq DIV 10000 FROM seq_1_to_%d;"
        "INSERT INTO qm_host SELECT seq, 1, 1, 1, 1, 'p' FROM seq_1_to_%d;"
        "INSERT INTO msg_to_host (hostid, handled) SELECT seq, 1 FROM seq_1_to_%d;"
        "INSERT INTO assignment (target_id, target_type, multi, workunitid) SELECT seq,"
        " 1 + seq %% 3, seq %% 2, seq FROM seq_1_to_%d;"
        "INSERT INTO batch (id, user_id) SELECT seq, seq FROM seq_1_to_%d;"
        "ANALYZE TABLE app, user, host, workunit, result, host_app_version, qm_host, msg_to_host,"
        " assignment, batch",
        ROWS, ROWS, ROWS, ROWS, ROWS, ROWS, ROWS, ROWS, ROWS);
}

static void assert_goes_through_no_table(struct test_database *database, enum statement statement,
                                         const char *sql)
{
    struct text plan = test_sql_text(database, "EXPLAIN FORMAT=JSON %s", sql);

    if (most_rows(plan) > ROWS_MOST)
        print_error("%s\n" TEXT_FORMAT "\n", statement_name(statement), TEXT_ARG(plan));
    assert_true(most_rows(plan) <= ROWS_MOST);
}

/* As it would be sent, for so many ids. */
static struct buffer sql_of(struct db *db, enum statement statement)
{
    struct buffer sql = buffer_on_heap(0);
    struct statement_text text = {0};

    assert_status(STATUS_OK, statement_write(statement_definition(statement), 4,
                                             db_actual_columns(db), &text, NULL));
    fill_in(text.sql, &sql);
    statement_text_free(&text);
    return sql;
}

static void no_statement_goes_through_a_table(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct db *db = test_database_open(database);
    size_t looked_at = 0;

    (void)state;
    fill(database);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        struct buffer sql = sql_of(db, asked[i]);

        if (strstr(sql.at, " WHERE ") != NULL && strstr(sql.at, "information_schema") == NULL &&
            !is_bounded(asked[i])) {
            assert_goes_through_no_table(database, asked[i], sql.at);
            looked_at++;
        }
        buffer_free(&sql);
    }
    assert_true(looked_at > 40);
    for (size_t i = 0; i < sizeof(of_others) / sizeof(of_others[0]); i++) {
        struct buffer sql = sql_of(db, of_others[i]);

        assert_goes_through_no_table(database, of_others[i], sql.at);
        buffer_free(&sql);
    }
    assert_true(most_rows(test_sql_text(database, "EXPLAIN FORMAT=JSON SELECT userid FROM host"
                                                  " WHERE timezone = 5")) > ROWS_MOST);
    db_close(db);
    test_database_destroy(database);
}

/* A host that has reported thousands of results and has two in progress. */
static void what_a_host_did_before_costs_nothing(void **state)
{
    static const enum statement asks_it[] = {STATEMENT_results_in_progress,
                                             STATEMENT_hosts_results_in_progress};
    struct test_database *database = test_database_create(true, NULL);
    struct db *db = test_database_open(database);

    (void)state;
    test_sql(
        database,
        "INSERT INTO result (id, workunitid, appid, name, server_state, hostid) SELECT seq, seq,"
        " 1, seq, IF(seq < 3, 4, 5), 5 + (seq > 6000) FROM seq_1_to_%d; ANALYZE TABLE result",
        ROWS);
    for (size_t i = 0; i < sizeof(asks_it) / sizeof(asks_it[0]); i++) {
        struct buffer sql = sql_of(db, asks_it[i]);
        struct text plan = test_sql_text(database, "EXPLAIN FORMAT=JSON %s", sql.at);

        if (most_rows(plan) > 10)
            print_error(TEXT_FORMAT "\n", TEXT_ARG(plan));
        assert_true(most_rows(plan) <= 10);
        buffer_free(&sql);
    }
    db_close(db);
    test_database_destroy(database);
}

/* Jobs that wait for a host have the same transition_time as those that are being submitted, and a
 * project may have millions of them. Whichever are fewer, a submission reads along its batch. */
static void a_submission_reads_no_jobs_but_its_own(void **state)
{
    enum { JOBS = 5000 };
    static const enum statement asks_it[] = {
        STATEMENT_submission_held, STATEMENT_submission_release, STATEMENT_submission_drop};
    struct test_database *database = test_database_create(true, NULL);
    struct db *db = test_database_open(database);

    (void)state;
    for (int held = 100; held <= JOBS; held += JOBS - 100) {
        test_sql(
            database,
            "INSERT INTO workunit (id, appid, name, batch, transition_time) SELECT seq, 1, seq,"
            " IF(seq <= %d, 5, 0), IF(seq <= %d, 2147483647, 1) FROM seq_1_to_%d;"
            "INSERT INTO result (id, workunitid, appid, name) SELECT id, id, 1, name FROM workunit"
            " WHERE batch = 0; ANALYZE TABLE workunit, result",
            JOBS / 2, held, JOBS);
        for (size_t i = 0; i < sizeof(asks_it) / sizeof(asks_it[0]); i++) {
            struct buffer sql = sql_of(db, asks_it[i]);
            struct text plan =
                test_sql_text(database, "EXPLAIN FORMAT=JSON %s%s", sql.at,
                              text_ends(text_from(sql.at), TEXT("LIMIT 5")) ? "000" : "");
            bool reads_others = text_contains(plan, TEXT("\"key\": \"wu_timeout\"")) ||
                                text_contains(plan, TEXT("materializ"));

            if (reads_others)
                print_error(TEXT_FORMAT "\n", TEXT_ARG(plan));
            assert_false(reads_others);
            buffer_free(&sql);
        }
        test_sql(database, "DELETE FROM workunit; DELETE FROM result");
    }
    db_close(db);
    test_database_destroy(database);
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(no_statement_goes_through_a_table),
                                       cmocka_unit_test(what_a_host_did_before_costs_nothing),
                                       cmocka_unit_test(a_submission_reads_no_jobs_but_its_own)};

    return cmocka_run_group_tests(cases, NULL, NULL);
}
