/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and texts of every kind on their way in and out, in a new schema and in one of 2011: hosts,
 * users, statistics, messages, jobs, the catalog. */
#include "db/db.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/project/catalog.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1800000000

/* As in 2011. */
static int open_old(void **state)
{
    static const char *const tables[] = {"host", "user", "result", "workunit", "msg_from_host"};
    struct test_database *database = test_database_create(true, "latin1");

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        test_sql(database, "ALTER TABLE %s CONVERT TO CHARACTER SET %s", tables[i], "latin1");
    test_sql(database,
             "ALTER TABLE host DROP COLUMN product_name,"
             " DROP COLUMN gpu_active_frac, DROP COLUMN p_ngpus, DROP COLUMN p_gpu_fpops,"
             " DROP COLUMN misc;"
             "ALTER TABLE result DROP COLUMN size_class, DROP COLUMN peak_swap_size,"
             " DROP COLUMN peak_working_set_size, DROP COLUMN peak_disk_usage;"
             "ALTER TABLE workunit DROP COLUMN transitioner_flags,"
             " DROP COLUMN size_class, DROP COLUMN keywords, DROP COLUMN app_version_num;"
             "ALTER TABLE app DROP COLUMN non_cpu_intensive, DROP COLUMN locality_scheduling,"
             " DROP COLUMN n_size_classes, DROP COLUMN fraction_done_exact;"
             "ALTER TABLE app_version DROP COLUMN beta");
    return test_fixture_open_over(state, database);
}

/* A user with a team, one without, and ten jobs in progress on host 7. */
static int setup(void **state)
{
    struct test_fixture *f = *state;

    test_fixture_clear(f);
    test_sql(f->database, "INSERT INTO team SET id = 4, name = 'Bees';"
                          "INSERT INTO user SET id = 9, name = 'Ada', email_addr = 'ada@x',"
                          " authenticator = 'abc123', teamid = 4, expavg_credit = 2.5,"
                          " project_prefs = '<p/>';"
                          "INSERT INTO user SET id = 10, email_addr = 'b@x', authenticator = 'z'");
    test_sql(f->database,
             "INSERT INTO workunit (id, appid, name, transition_time)"
             " SELECT seq, 1, CONCAT('wu_', seq), 2147483647 FROM seq_1_to_10;"
             "INSERT INTO result (id, workunitid, appid, name, server_state, hostid, userid,"
             " sent_time, report_deadline)"
             " SELECT 1000 + seq, seq, 1, CONCAT('wu_', seq, '_0'), 4, 7, 9, %d - seq, %d"
             " FROM seq_1_to_10",
             NOW - 1000, NOW + 1000);
    return 0;
}

/* --- hosts and users ------------------------------------------------------------------------ */

static struct host_row a_host(void)
{
    return (struct host_row){.create_time = NOW,
                             .userid = 9,
                             .rpc_time = NOW,
                             .domain_name = TEXT("hive"),
                             .last_ip_addr = TEXT("10.0.0.7"),
                             .os_name = TEXT("Linux"),
                             .p_model = TEXT("Model [1]"),
                             .m_nbytes = 8e9,
                             .p_ncpus = 4,
                             .p_fpops = 1.25e9,
                             .on_frac = 0.5,
                             .venue = TEXT("home"),
                             .host_cpid = TEXT("0123456789abcdef0123456789abcdef"),
                             .product_name = TEXT("Box"),
                             .p_ngpus = 2,
                             .misc = TEXT("{}")};
}

static void a_host_is_inserted_and_read_back(void **state)
{
    struct test_fixture *f = *state;
    struct host_row host = a_host(), read;
    int64_t id = 0;

    assert_status(STATUS_OK, db_host_insert(f->db, &host, &id));
    assert_true(id > 0);
    assert_status(STATUS_OK, db_host_lock(f->db, f->arena, id, &read));
    assert_i64(read.id, id);
    assert_i64(read.userid, 9);
    assert_text(read.domain_name, "hive");
    assert_text(read.venue, "home");
    assert_real(read.p_fpops, 1.25e9, 0);
    assert_i64(read.p_ncpus, 4);
    assert_status(STATUS_OK, db_commit(f->db));
    assert_real(test_sql_real(f->database, "SELECT expavg_time FROM host"), NOW, 0);
    assert_status(STATUS_NOT_FOUND, db_host_lock(f->db, f->arena, id + 1, &read));
}

static void newer_columns_are_stored_too(void **state)
{
    struct test_fixture *f = *state;
    struct host_row host = a_host();
    int64_t id;

    assert_status(STATUS_OK, db_host_insert(f->db, &host, &id));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_text(test_sql_text(f->database, "SELECT CONCAT_WS(' ', product_name, p_ngpus, misc)"
                                           " FROM host"),
                "Box 2 {}");
}

static void an_update_leaves_what_others_write(void **state)
{
    struct test_fixture *f = *state;
    struct host_row host = a_host();

    assert_status(STATUS_OK, db_host_insert(f->db, &host, &host.id));
    assert_status(STATUS_OK, db_commit(f->db));
    test_sql(f->database, "UPDATE host SET total_credit = 5, expavg_credit = 6, userid = 10,"
                          " venue = 'work', avg_turnaround = 7, max_results_day = -1,"
                          " error_rate = 8, create_time = 3");
    host.rpc_seqno = 44;
    host.domain_name = TEXT("new");
    host.p_fpops = NAN;
    host.timezone = INT64_C(99999999999);
    assert_status(STATUS_OK, db_host_save(f->db, &host));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_text(test_sql_text(f->database,
                              "SELECT CONCAT_WS(' ', rpc_seqno, domain_name, p_fpops, timezone,"
                              " total_credit, expavg_credit, userid, venue, avg_turnaround,"
                              " max_results_day, error_rate, create_time) FROM host"),
                "44 new 0 2147483647 5 6 10 work 7 -1 8 3");
}

static bool belongs_to_others(const char *column)
{
    static const char *const others[] = {"id",         "create_time",    "userid",
                                         "venue",      "total_credit",   "expavg_credit",
                                         "error_rate", "avg_turnaround", "max_results_day"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(column, others[i]) == 0)
            return true;
    return false;
}

static void change(struct host_row *host, const struct row_column *column)
{
    static const int64_t integer = 77;
    static const double real = 0.77;
    const struct text text = TEXT("another");
    char *at = (char *)host + column->offset;

    switch (column->type) {
    case COLUMN_ID:
    case COLUMN_INTEGER:
        memcpy(at, &integer, sizeof(integer));
        break;
    case COLUMN_REAL:
        memcpy(at, &real, sizeof(real));
        break;
    case COLUMN_STRING:
        memcpy(at, &text, sizeof(text));
        break;
    }
}

/* As a request does it. */
static void save(struct db *db, const struct host_row *was, const struct host_row *host,
                 uint64_t token, struct text presence, bool has_guard)
{
    bool waits = db_host_says_the_same(was, host);

    if (!waits)
        assert_status(STATUS_OK, db_host_save(db, host));
    assert_status(STATUS_OK,
                  db_host_commit(db, &(struct host_ending){.hostid = host->id,
                                                           .token = token,
                                                           .now = NOW,
                                                           .contact = waits ? host : NULL,
                                                           .presence = presence,
                                                           .has_guard = has_guard}));
}

/* Each end writes what is new of the host's presence, and leaves it where nothing is: with the
 * contact and without, for a guard row that is there, one that is not, and one that a token proves.
 */
static void presence_goes_with_the_guard_row(void **state)
{
    struct test_fixture *f = *state;
    const char *const written[] = {"one", "", "two", "three", "", "four"};
    const char *const kept[] = {"one", "one", "two", "three", "three", "four"};
    struct host_row host = a_host();

    assert_status(STATUS_OK, db_host_insert(f->db, &host, &host.id));
    assert_status(STATUS_OK, db_commit(f->db));
    for (int keeps = 0; keeps < 2; keeps++) {
        if (keeps > 0)
            db_keep_token(f->db);
        test_sql(f->database, "DELETE FROM qm_host");
        for (int with_contact = 0; with_contact < 2; with_contact++) {
            for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
                bool has_guard = i > 0 && i != 3; /* where nobody knows, too */
                struct host_with_user found;

                assert_status(STATUS_OK, db_host_lock_with_user(f->db, f->arena, host.id, &found));
                if (i > 0)
                    assert_text(found.presence, kept[i - 1]);
                host = found.host;
                host.rpc_seqno++;
                host.timezone += with_contact == 0;
                save(f->db, &found.host, &host, 5, text_from(written[i]), has_guard);
                assert_i64(test_sql_integer(f->database,
                                            "SELECT COUNT(*) FROM qm_host WHERE presence = '%s'",
                                            kept[i]),
                           1);
            }
        }
    }
}

/* The first contact makes the guard row, the next ones are one statement with it; also where a
 * token proves the transaction. */
static void a_contact_goes_with_the_guard_row(void **state)
{
    struct test_fixture *f = *state;
    static const uint64_t statements[] = {3, 2, 2}; /* COMMIT among them */
    struct host_row was = a_host(), host, other = a_host();

    assert_status(STATUS_OK, db_host_insert(f->db, &other, &other.id));
    assert_status(STATUS_OK, db_host_insert(f->db, &was, &was.id));
    assert_status(STATUS_OK, db_commit(f->db));
    for (int turn = 0; turn < 3; turn++) {
        uint64_t token = 0;

        if (turn == 2)
            db_keep_token(f->db);
        assert_status(STATUS_OK, db_host_lock(f->db, f->arena, was.id, &was));
        host = was;
        host.rpc_seqno++;
        host.d_free = 5e9 + turn;
        db_count_reset(f->db);
        save(f->db, &was, &host, 90 + (uint64_t)turn, NO_TEXT, turn > 0);
        assert_i64((int64_t)db_count(f->db).statements, (int64_t)statements[turn]);
        assert_status(STATUS_OK, db_host_token(f->db, host.id, &token));
        assert_i64((int64_t)token, 90 + turn);
        assert_status(STATUS_OK, db_host_lock(f->db, f->arena, was.id, &was));
        assert_true(row_is_equal(&row_tables[ROW_host], &host, &was));
        assert_status(STATUS_OK, db_rollback(f->db));
        assert_i64(test_sql_integer(f->database, "SELECT rpcs FROM qm_host"), 1 + turn);
    }
    assert_status(STATUS_OK, db_host_lock(f->db, f->arena, other.id, &was));
    assert_i64(was.rpc_seqno, other.rpc_seqno);
}

/* Whoever takes it for there is told, whether answers are waited for or not; nothing is kept. */
static void a_guard_row_that_is_gone_costs_the_attempt(void **state)
{
    struct test_fixture *f = *state;
    struct host_row host = a_host();
    struct host_ending ending;

    assert_status(STATUS_OK, db_host_insert(f->db, &host, &host.id));
    assert_status(STATUS_OK, db_commit(f->db));
    host.rpc_seqno++;
    ending = (struct host_ending){
        .hostid = host.id, .token = 5, .now = NOW, .contact = &host, .has_guard = true};
    for (int ahead = 0; ahead <= 1; ahead++) {
        struct host_row found;

        db_send_ahead(f->db, ahead != 0);
        assert_status(STATUS_OK, db_host_lock(f->db, f->arena, host.id, &found));
        assert_status(STATUS_DB_RETRY, db_host_commit(f->db, &ending));
        assert_status(STATUS_OK, db_rollback(f->db));
        assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM qm_host"), 0);
        assert_i64(test_sql_integer(f->database, "SELECT rpc_seqno FROM host WHERE id = %lld",
                                    (long long)host.id),
                   host.rpc_seqno - 1);
    }
    assert_status(STATUS_OK, db_host_lock(f->db, f->arena, host.id, &(struct host_row){0}));
    ending.has_guard = false;
    assert_status(STATUS_OK, db_host_commit(f->db, &ending));
    assert_i64(test_sql_integer(f->database, "SELECT token FROM qm_host"), 5);
    test_sql(f->database, "DELETE FROM qm_host");
}

/* Each column alone: those of a contact, and those that call for the whole row. */
static void whatever_changes_is_saved(void **state)
{
    struct test_fixture *f = *state;
    const struct row_table *table = &row_tables[ROW_host];
    struct host_row was = a_host(), host, read;
    bool has_guard = false;
    size_t saved = 0;

    assert_status(STATUS_OK, db_host_insert(f->db, &was, &was.id));
    for (size_t i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];

        if (belongs_to_others(column->name) ||
            actual_column_find(db_actual_columns(f->db), table->table, column->name,
                               strlen(column->name)) == NULL)
            continue;
        assert_status(STATUS_OK, db_host_lock(f->db, f->arena, was.id, &was));
        host = was;
        change(&host, column);
        assert_false(row_is_equal(table, &was, &host));
        save(f->db, &was, &host, i, NO_TEXT, has_guard);
        has_guard = true;
        assert_status(STATUS_OK, db_host_lock(f->db, f->arena, was.id, &read));
        if (!row_is_equal(table, &host, &read))
            fail_msg("%s alone was not saved", column->name);
        saved++;
    }
    assert_true(saved > 25);
}

static void the_newest_host_is_found(void **state)
{
    struct test_fixture *f = *state;
    struct host_row host = a_host(), found;
    int64_t first, second;

    assert_status(STATUS_OK, db_host_insert(f->db, &host, &first));
    assert_status(STATUS_OK, db_host_insert(f->db, &host, &second));
    assert_status(STATUS_OK, db_host_newest_by_cpid(f->db, f->arena, 9, host.host_cpid, &found));
    assert_i64(found.id, second);
    assert_status(STATUS_NOT_FOUND,
                  db_host_newest_by_cpid(f->db, f->arena, 10, host.host_cpid, &found));
    assert_status(STATUS_OK, db_host_newest_alike(f->db, f->arena, 9, &host, &found));
    assert_i64(found.id, second);
    assert_status(STATUS_NOT_FOUND, db_host_newest_alike(f->db, f->arena, 10, &host, &found));
    host.m_nbytes += 1;
    assert_status(STATUS_NOT_FOUND, db_host_newest_alike(f->db, f->arena, 9, &host, &found));
}

static void a_token_is_kept_only_by_commit(void **state)
{
    struct test_fixture *f = *state;
    uint64_t token = 0;

    assert_status(STATUS_NOT_FOUND, db_host_token(f->db, 7, &token));
    assert_status(STATUS_OK, db_host_guard(f->db, 7, UINT64_MAX - 1, NOW));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_status(STATUS_OK, db_host_guard(f->db, 7, 5, NOW));
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_host_token(f->db, 7, &token));
    assert_true(token == UINT64_MAX - 1);
    assert_status(STATUS_OK, db_host_guard(f->db, 7, 5, NOW));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT rpcs FROM qm_host"), 2);
}

static void a_user_comes_with_the_team(void **state)
{
    struct test_fixture *f = *state;
    struct user_row user;
    struct text team;

    assert_status(STATUS_OK, db_user_by_id(f->db, f->arena, 9, &user, &team));
    assert_text(user.name, "Ada");
    assert_text(user.project_prefs, "<p/>");
    assert_text(team, "Bees");
    assert_status(STATUS_OK, db_user_by_authenticator(f->db, f->arena, TEXT("z"), &user, &team));
    assert_i64(user.id, 10);
    assert_text(user.name, ""); /* NULL */
    assert_text(team, "");
    assert_status(STATUS_NOT_FOUND, db_user_by_id(f->db, f->arena, 11, &user, &team));
    assert_status(STATUS_OK, db_user_lock(f->db, 9));
    assert_status(STATUS_NOT_FOUND, db_user_lock(f->db, 11));
}

static void a_key_is_compared_byte_by_byte(void **state)
{
    struct test_fixture *f = *state;
    struct user_row user;
    struct text team;
    static const char *const wrong[] = {"ABC123", "abc123 ", "abc12", "", "abc123\xff", "abc1%"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_status(STATUS_NOT_FOUND,
                      db_user_by_authenticator(f->db, f->arena, text_from(wrong[i]), &user, &team));
    assert_status(STATUS_OK,
                  db_user_by_authenticator(f->db, f->arena, TEXT("abc123"), &user, &team));
}

static void owners_come_in_the_order_asked_for(void **state)
{
    struct test_fixture *f = *state;
    const int64_t ids[] = {52, 51, 99, 52};
    int64_t owners[4];

    test_sql(f->database, "INSERT INTO host SET id = 51, userid = 9;"
                          "INSERT INTO host SET id = 52, userid = 10");
    assert_status(STATUS_OK, db_host_owners(f->db, f->arena, ids, 4, owners));
    assert_i64(owners[0], 10);
    assert_i64(owners[1], 9);
    assert_i64(owners[2], -1);
    assert_i64(owners[3], 10);
}

/* --- statistics, messages ------------------------------------------------------------------- */

static void version_statistics_change_relatively(void **state)
{
    struct test_fixture *f = *state;
    const struct host_app_version_change changes[] = {
        {.app_version_id = 3000000000004, .jobs_sent = 2},
        {.app_version_id = 5,
         .jobs_sent = 3,
         .reset_today = true,
         .sets_max_jobs_per_day = true,
         .max_jobs_per_day = 40,
         .resets_consecutive_valid = true},
        {.app_version_id = 4, .jobs_sent = 1}};
    struct host_app_version_row *rows;
    size_t count;

    test_sql(f->database,
             "INSERT INTO host_app_version SET host_id = 7, app_version_id = 4, n_jobs_today = 6,"
             " max_jobs_per_day = 9, consecutive_valid = 8, pfc_n = 2;"
             "INSERT INTO host_app_version SET host_id = 7, app_version_id = 5, n_jobs_today = 6,"
             " max_jobs_per_day = 9, consecutive_valid = 8");
    assert_status(STATUS_OK, db_host_app_versions_save(f->db, 7, changes, 3));
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_begin(f->db));
    db_count_reset(f->db);
    assert_status(STATUS_OK, db_host_app_versions_save(f->db, 7, changes, 3));
    assert_i64((int64_t)db_count(f->db).round_trips, 3); /* which are missing; the one that is */
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_host_app_versions_save(f->db, 7, changes, 1));
    assert_status(STATUS_OK, db_rollback(f->db));
    test_sql(f->database,
             "INSERT INTO host_app_version SET host_id = 7, app_version_id = 3000000000004");
    assert_status(STATUS_OK, db_begin(f->db));
    db_count_reset(f->db);
    assert_status(STATUS_OK, db_host_app_versions_save(f->db, 7, changes, 3));
    assert_i64((int64_t)db_count(f->db).round_trips, 1);
    assert_status(STATUS_OK, db_host_app_versions(f->db, f->arena, 7, &rows, &count));
    assert_int_equal(count, 3);
    assert_i64(rows[0].n_jobs_today, 7);
    assert_i64(rows[0].max_jobs_per_day, 9);
    assert_i64(rows[0].consecutive_valid, 8);
    assert_real(rows[0].pfc_n, 2, 0);
    assert_i64(rows[1].n_jobs_today, 3);
    assert_i64(rows[1].max_jobs_per_day, 40);
    assert_i64(rows[1].consecutive_valid, 0);
    assert_i64(rows[2].app_version_id, 3000000000004);
    assert_i64(rows[2].n_jobs_today, 2);
    assert_i64(rows[2].max_jobs_per_day, 0);
}

static void messages_are_kept_and_handed_out_once(void **state)
{
    struct test_fixture *f = *state;
    const struct message_from_host messages[] = {{TEXT("a"), TEXT("<x/>")},
                                                 {TEXT("b"), TEXT("caf\xe9")}};
    struct text *xml;
    size_t count;

    assert_status(STATUS_OK, db_messages_from_host_save(f->db, 7, NOW, messages, 2));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM msg_from_host WHERE hostid = 7"
                                             " AND handled = 0 AND create_time = 1800000000"),
               2);
    test_sql(f->database, "INSERT INTO msg_to_host (id, hostid, xml) VALUES (2, 7, 'two'),"
                          " (1, 7, 'one'), (3, 8, 'other')");
    assert_status(STATUS_OK, db_messages_to_host_take(f->db, f->arena, 7, &xml, &count));
    assert_int_equal(count, 2);
    assert_text(xml[0], "one");
    assert_text(xml[1], "two");
    assert_status(STATUS_OK, db_messages_to_host_take(f->db, f->arena, 7, &xml, &count));
    assert_int_equal(count, 0);
}

/* --- jobs that a host has ------------------------------------------------------------------- */

static struct result_report report_of(int workunit)
{
    return (struct result_report){.id = 1000 + workunit,
                                  .workunitid = workunit,
                                  .hostid = 7,
                                  .received_time = NOW,
                                  .client_state = CLIENT_FILES_UPLOADED,
                                  .outcome = OUTCOME_SUCCESS,
                                  .cpu_time = 12.5,
                                  .elapsed_time = 13.5,
                                  .stderr_out = TEXT("stderr"),
                                  .xml_doc_out = TEXT("<file_info>")};
}

static void booking_five_takes_two_statements(void **state)
{
    struct test_fixture *f = *state;
    struct result_report reports[5];
    bool booked[5];

    for (int i = 0; i < 5; i++)
        reports[i] = report_of(5 - i);
    assert_status(STATUS_OK, db_reports_save(f->db, f->arena, reports, 5, NOW, booked));
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_begin(f->db));
    db_count_reset(f->db);
    assert_status(STATUS_OK, db_reports_save(f->db, f->arena, reports, 5, NOW, booked));
    assert_i64((int64_t)db_count(f->db).statements, 2);
    for (int i = 0; i < 5; i++)
        assert_true(booked[i]);
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM result JOIN workunit"
                                             " ON workunit.id = workunitid WHERE server_state = 5"
                                             " AND outcome = 1 AND elapsed_time = 13.5"
                                             " AND transition_time = 1800000000"),
               5);
}

static void only_rows_that_await_a_report_are_booked(void **state)
{
    struct test_fixture *f = *state;
    struct result_report reports[7];
    bool booked[7];
    static const bool wanted[7] = {true, true, true, false, false, false, false};

    for (int i = 0; i < 7; i++)
        reports[i] = report_of(i + 1);
    test_sql(f->database,
             "UPDATE result SET server_state = 5, outcome = 4 WHERE id = 1002;" /* no reply */
             "UPDATE result SET server_state = 5, outcome = 7 WHERE id = 1003;" /* detached */
             "UPDATE result SET received_time = 5 WHERE id = 1004;"
             "UPDATE result SET server_state = 5, outcome = 1, hostid = 8 WHERE id = 1005;"
             "UPDATE result SET server_state = 2 WHERE id = 1006;"
             "DELETE FROM result WHERE id = 1007");
    assert_status(STATUS_OK, db_reports_save(f->db, f->arena, reports, 7, NOW, booked));
    assert_status(STATUS_DB_RETRY, db_commit(f->db)); /* sent ahead, all of them were meant */
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_reports_save(f->db, f->arena, reports, 7, NOW, booked));
    for (int i = 0; i < 7; i++)
        assert_int_equal(booked[i], wanted[i]);
    assert_status(STATUS_OK, db_commit(f->db));
}

/* What this host has reported before, in whatever second, may look like what was written now. Which
 * is which is asked of another attempt. */
static void what_was_booked_before_is_not_taken_for_new(void **state)
{
    struct test_fixture *f = *state;
    const struct result_report reports[2] = {report_of(1), report_of(2)};
    bool booked[2];

    db_send_ahead(f->db, false);
    for (int second = -5; second <= 5; second += 5) {
        test_sql(f->database,
                 "UPDATE result SET server_state = 5, outcome = 1, received_time = %d"
                 " WHERE id = 1002",
                 NOW + second);
        assert_status(STATUS_DB_RETRY, db_reports_save(f->db, f->arena, reports, 2, NOW, booked));
        assert_status(STATUS_OK, db_rollback(f->db));
    }
    db_send_ahead(f->db, true);
}

static void numbers_that_no_column_holds_cost_nothing(void **state)
{
    struct test_fixture *f = *state;
    struct result_report report = report_of(1);
    bool booked = false;

    report.exit_status = INT64_C(-9000000000);
    report.app_version_num = INT64_MAX;
    report.cpu_time = NAN;
    report.elapsed_time = INFINITY;
    assert_status(STATUS_OK, db_reports_save(f->db, f->arena, &report, 1, NOW, &booked));
    assert_true(booked);
    assert_status(STATUS_OK, db_commit(f->db));
    assert_text(test_sql_text(f->database,
                              "SELECT CONCAT_WS(' ', exit_status, app_version_num, cpu_time,"
                              " elapsed_time) FROM result WHERE id = 1001"),
                "-2147483648 2147483647 0 0");
}

static void results_are_found_by_name_in_parts(void **state)
{
    struct test_fixture *f = *state;
    struct text names[600];
    struct result_row *rows;
    size_t count;

    for (int i = 0; i < 600; i++)
        names[i] = text_print(f->arena, "wu_%d_0", 600 - i);
    assert_status(STATUS_OK, db_results_by_name(f->db, f->arena, names, 600, &rows, &count));
    assert_int_equal(count, 10);
    assert_i64(rows[0].report_deadline, NOW + 1000);
    assert_status(STATUS_OK, db_results_by_name(f->db, f->arena, names, 0, &rows, &count));
    assert_int_equal(count, 0);
}

static void jobs_in_progress_come_oldest_first(void **state)
{
    struct test_fixture *f = *state;
    struct result_row *rows;
    struct host_job *jobs;
    size_t count;

    test_sql(f->database, "UPDATE result SET server_state = 5 WHERE id = 1004;"
                          "UPDATE result SET hostid = 8 WHERE id = 1005;"
                          "DELETE FROM workunit WHERE id = 10");
    assert_status(STATUS_OK, db_results_in_progress(f->db, f->arena, 7, 100, &rows, &count));
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_begin(f->db));
    db_count_reset(f->db);
    assert_status(STATUS_OK, db_results_in_progress(f->db, f->arena, 7, 100, &rows, &count));
    assert_i64((int64_t)db_count(f->db).round_trips, 1);
    assert_int_equal(count, 8);
    assert_i64(rows[0].id, 1010);
    assert_i64(rows[7].id, 1001);
    assert_status(STATUS_OK, db_jobs_in_progress(f->db, f->arena, 7, 100, &jobs, &count));
    assert_int_equal(count, 8);
    assert_i64(jobs[0].result.id, 1010);
    assert_i64(jobs[0].workunit.id, 0); /* gone */
    assert_i64(jobs[7].result.id, 1001);
    assert_text(jobs[7].workunit.name, "wu_1");
    assert_status(STATUS_OK, db_results_in_progress(f->db, f->arena, 7, 3, &rows, &count));
    assert_int_equal(count, 3);
    assert_status(STATUS_OK, db_jobs_in_progress(f->db, f->arena, 7, 3, &jobs, &count));
    assert_int_equal(count, 3);
}

static void jobs_are_found_by_name_for_their_host_only(void **state)
{
    struct test_fixture *f = *state;
    const struct text names[] = {TEXT("wu_1_0"), TEXT("wu_2_0"), TEXT("wu_3_0"), TEXT("nothing")};
    struct host_job *jobs;
    size_t count;

    test_sql(f->database, "UPDATE result SET hostid = 8 WHERE id = 1001;"
                          "UPDATE result SET server_state = 5, outcome = 4 WHERE id = 1002;"
                          "UPDATE result SET server_state = 5, outcome = 1 WHERE id = 1003");
    assert_status(STATUS_OK, db_jobs_by_name(f->db, f->arena, 7, names, 4, &jobs, &count));
    assert_int_equal(count, 1);
    assert_i64(jobs[0].result.id, 1002);
    assert_i64(jobs[0].workunit.id, 2);
}

static void a_resent_job_gets_its_new_times(void **state)
{
    struct test_fixture *f = *state;
    const struct resent_job jobs[] = {{.resultid = 1002,
                                       .workunitid = 2,
                                       .sent_time = NOW,
                                       .report_deadline = NOW + 500,
                                       .app_version_id = -3,
                                       .flops_estimate = 2e9},
                                      {.resultid = 1001, .workunitid = 1, .sent_time = NOW}};

    assert_status(STATUS_OK, db_jobs_resend(f->db, f->arena, jobs, 2));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_text(test_sql_text(f->database,
                              "SELECT CONCAT_WS(' ', server_state, hostid, sent_time,"
                              " report_deadline, result.app_version_id, flops_estimate,"
                              " transition_time)"
                              " FROM result JOIN workunit ON workunit.id = workunitid"
                              " WHERE result.id = 1002"),
                "4 7 1800000000 1800000500 -3 2000000000 1800000500");
}

/* What is not the host's any more is not answered as if it were. */
static void a_job_that_is_over_is_neither_resent_nor_given_up(void **state)
{
    struct test_fixture *f = *state;
    const struct resent_job resent[] = {{.resultid = 1001, .workunitid = 1, .sent_time = NOW},
                                        {.resultid = 1002, .workunitid = 2, .sent_time = NOW}};
    struct host_job *jobs;
    size_t count;

    assert_status(STATUS_OK, db_jobs_in_progress(f->db, f->arena, 7, 2, &jobs, &count));
    assert_status(STATUS_OK, db_rollback(f->db));
    test_sql(f->database, "UPDATE result SET server_state = 5, outcome = 4 WHERE id = 1001");
    assert_status(STATUS_DB_RETRY, db_jobs_resend(f->db, f->arena, resent, 2));
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_DB_RETRY, db_jobs_give_up(f->db, jobs, count, NOW - 1));
    assert_status(STATUS_OK, db_rollback(f->db));

    /* A workunit that was gone when the job was read is not missed. */
    test_sql(f->database, "UPDATE result SET server_state = 4, outcome = 0 WHERE id = 1001;"
                          "DELETE FROM workunit WHERE id = 1");
    assert_status(STATUS_DB_RETRY, db_jobs_give_up(f->db, jobs, count, NOW - 1));
    assert_status(STATUS_OK, db_rollback(f->db));
    assert_status(STATUS_OK, db_jobs_in_progress(f->db, f->arena, 7, 2, &jobs, &count));
    assert_status(STATUS_OK, db_jobs_give_up(f->db, jobs, count, NOW - 1));
    assert_status(STATUS_OK, db_commit(f->db));
}

/* What others did first stands: the job is over, or has a later deadline. */
static void a_deadline_moves_only_to_a_later_time(void **state)
{
    struct test_fixture *f = *state;
    const struct extended_result later[] = {{.id = 1002, .workunitid = 2, .deadline = NOW + 900},
                                            {.id = 1001, .workunitid = 1, .deadline = NOW + 900}};

    test_sql(f->database, "UPDATE result SET report_deadline = 1800000500, server_state = 4 WHERE"
                          " id IN (1001, 1002);"
                          "UPDATE workunit SET transition_time = 1800000500 WHERE id IN (1, 2)");
    assert_status(STATUS_OK, db_results_extend(f->db, f->arena, later, 1));
    test_sql(f->database, "UPDATE result SET server_state = 5, outcome = 4 WHERE id = 1001");
    assert_status(STATUS_OK, db_results_extend(f->db, f->arena, later, 2));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT report_deadline FROM result WHERE id = 1001"),
               NOW + 500);
    assert_i64(test_sql_integer(f->database, "SELECT report_deadline FROM result WHERE id = 1002"),
               NOW + 900);
    test_sql(f->database, "UPDATE result SET report_deadline = 1800001000 WHERE id = 1002");
    assert_status(STATUS_OK, db_results_extend(f->db, f->arena, later, 1));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT report_deadline FROM result WHERE id = 1002"),
               NOW + 1000);
    assert_i64(test_sql_integer(f->database, "SELECT MIN(transition_time) FROM workunit"
                                             " WHERE id IN (1, 2)"),
               NOW + 500);
}

static void a_job_given_up_is_looked_at_soon(void **state)
{
    struct test_fixture *f = *state;
    struct host_job *jobs;
    size_t count;

    assert_status(STATUS_OK, db_jobs_in_progress(f->db, f->arena, 7, 2, &jobs, &count));
    assert_status(STATUS_OK, db_jobs_give_up(f->db, jobs, count, NOW - 1));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT COUNT(*) FROM result"
                                             " JOIN workunit ON workunit.id = workunitid"
                                             " WHERE report_deadline = transition_time"
                                             " AND transition_time = 1799999999"),
               2);
}

static void a_detached_host_loses_its_jobs(void **state)
{
    struct test_fixture *f = *state;

    test_sql(f->database, "UPDATE result SET server_state = 5, outcome = 1 WHERE id = 1001;"
                          "UPDATE result SET hostid = 8 WHERE id = 1002");
    assert_status(STATUS_OK, db_host_detach_results(f->db, 7, NOW));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database,
                                "SELECT COUNT(*) FROM result"
                                " JOIN workunit ON workunit.id = workunitid"
                                " WHERE server_state = 5 AND outcome = 7 AND hostid = 7"
                                " AND received_time = 1800000000 AND transition_time = 1800000000"),
               8);
}

static void a_job_is_found_and_claimed(void **state)
{
    struct test_fixture *f = *state;
    const int64_t app = 1;
    struct candidate_filter filter = {
        .appids = &app, .appid_count = 1, .memory_max = 1, .disk_max = 1, .rows_max = 10};
    struct candidate *candidates;
    struct locked_job locked;
    struct job_key key;
    size_t count;
    struct claim claim = {.sent_time = NOW, .report_deadline = NOW, .app_version_id = -2};

    test_sql(f->database, "UPDATE result SET server_state = 2, hostid = 0 WHERE id = 1006");
    assert_status(STATUS_OK, db_candidates(f->db, f->arena, &filter, &candidates, &count));
    assert_int_equal(count, 1);
    claim.resultid = candidates[0].resultid;
    claim.workunitid = candidates[0].workunitid;
    key = (struct job_key){claim.resultid, claim.workunitid};
    assert_status(STATUS_OK, db_jobs_lock(f->db, f->arena, &key, 1, NULL, &locked));
    assert_non_null(locked.row);
    assert_true(locked.is_unsent);
    assert_status(STATUS_OK, db_results_claim(f->db, f->arena, 7, 9, &claim, 1));
}

/* --- texts ---------------------------------------------------------------------------------- */

static void blobs_keep_every_byte(void **state)
{
    struct test_fixture *f = *state;
    char bytes[3 * 256];
    struct text blob = {.at = bytes, .length = sizeof(bytes)};
    struct user_row user;
    struct text team;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 7);
    assert_status(STATUS_OK, db_user_save_global_prefs(f->db, 9, blob));
    assert_status(STATUS_OK, db_user_by_id(f->db, f->arena, 9, &user, &team));
    assert_true(text_equal(user.global_prefs, blob));
}

static void a_hostile_name_is_only_a_name(void **state)
{
    struct test_fixture *f = *state;
    static const char name[] = "'; DROP TABLE host; -- \\' \" ` % _ {list} ? \n\t\x1a";
    struct host_row host = a_host(), read;
    struct text names[] = {text_from(name)};
    struct user_row user;
    struct text team;
    struct result_row *rows;
    size_t count;

    assert_status(STATUS_OK, db_host_insert(f->db, &host, &host.id));
    host.domain_name = host.p_model = host.os_version = host.external_ip_addr = text_from(name);
    assert_status(STATUS_OK, db_host_save(f->db, &host));
    assert_status(STATUS_OK, db_host_lock(f->db, f->arena, host.id, &read));
    assert_text(read.domain_name, name);
    assert_text(read.external_ip_addr, name);
    assert_status(STATUS_OK, db_host_newest_alike(f->db, f->arena, 9, &host, &read));
    assert_status(STATUS_OK, db_user_save_cross_project_id(f->db, 9, text_from(name)));
    assert_status(STATUS_OK, db_user_by_id(f->db, f->arena, 9, &user, &team));
    assert_text(user.cross_project_id, name);
    assert_status(STATUS_NOT_FOUND,
                  db_user_by_authenticator(f->db, f->arena, text_from(name), &user, &team));
    assert_status(STATUS_OK, db_results_by_name(f->db, f->arena, names, 1, &rows, &count));
    assert_int_equal(count, 0);
}

/* In a UTF-8 schema what is no UTF-8 becomes '?', and what is too long is cut between
 * characters. */
static void bad_utf8_is_stored_as_question_marks(void **state)
{
    struct test_fixture *f = *state;
    struct host_row host = a_host(), read;
    char longer[600];

    host.domain_name = TEXT("caf\xe9 \xc3\xa9 \xf0\x9f\x90\x9d \xed\xa0\x80 \xc0\xaf \xe2\x82");
    memset(longer, 'x', sizeof(longer));
    for (int i = 1; i + 1 < 600; i += 2)
        memcpy(longer + i, "\xc3\xa9", 2);
    host.p_model = (struct text){.at = longer, .length = sizeof(longer)};
    assert_status(STATUS_OK, db_host_insert(f->db, &host, &host.id));
    assert_status(STATUS_OK, db_host_lock(f->db, f->arena, host.id, &read));
    assert_text(read.domain_name, "caf? \xc3\xa9 \xf0\x9f\x90\x9d ??? ?? ??");
    assert_int_equal(read.p_model.length, 253);
    assert_int_equal(memcmp(read.p_model.at, longer, 253), 0);
}

/* In an older schema bytes pass as they are, in both directions. */
static void an_old_schema_passes_bytes(void **state)
{
    struct test_fixture *f = *state;
    static const char name[] = "caf\xe9 \xc3\xa9 \xf0\x9f\x90\x9d \x81\x8d\x8f\x90\x9d \xff";
    struct host_row host = a_host(), read;

    host.domain_name = text_from(name);
    assert_status(STATUS_OK, db_host_insert(f->db, &host, &host.id));
    assert_status(STATUS_OK, db_host_lock(f->db, f->arena, host.id, &read));
    assert_text(read.domain_name, name);
    assert_status(STATUS_OK, db_host_newest_alike(f->db, f->arena, 9, &host, &read));
    assert_status(STATUS_OK, db_commit(f->db));
    assert_i64(test_sql_integer(f->database, "SELECT LENGTH(domain_name) FROM host"),
               (int64_t)strlen(name));
    assert_i64(read.p_ngpus, 0); /* no such column here */
    assert_text(read.product_name, "");
}

static void large_documents_come_whole(void **state)
{
    struct test_fixture *f = *state;
    struct catalog_rows rows;
    struct job_documents documents[1];
    const int64_t id = 1001;

    test_sql(f->database,
             "INSERT INTO app_version SET id = 1, xml_doc = REPEAT('0123456789abcdef', 65536);"
             "INSERT INTO app_version SET id = 2, xml_doc = NULL, platformid = 1;"
             "UPDATE workunit SET xml_doc = REPEAT('w', 65535) WHERE id = 1;"
             "UPDATE result SET xml_doc_in = REPEAT('r', 60000) WHERE id = 1001");
    assert_status(STATUS_OK, db_catalog(f->db, f->arena, &rows));
    assert_int_equal(rows.version_count, 2);
    assert_int_equal(rows.versions[0].xml_doc.length, 1048576);
    assert_int_equal(memcmp(rows.versions[0].xml_doc.at + 1048560, "0123456789abcdef", 16), 0);
    assert_int_equal(rows.versions[1].xml_doc.length, 0);
    assert_status(STATUS_OK, db_job_documents(f->db, f->arena, &id, 1, documents));
    assert_int_equal(documents[0].workunit_xml.length, 65535);
    assert_int_equal(documents[0].result_xml.length, 60000);
    assert_int_equal(documents[0].result_xml.at[59999], 'r');
}

static void a_full_arena_is_an_answer(void **state)
{
    struct test_fixture *f = *state;
    struct arena *small = arena_create(100000);
    struct catalog_rows rows;

    test_sql(f->database,
             "INSERT INTO app_version SET id = 1, xml_doc = REPEAT('0123456789abcdef', 65536)");
    assert_status(STATUS_TOO_LARGE, db_catalog(f->db, small, &rows));
    assert_status(STATUS_OK, db_commit(f->db)); /* and the connection is still good */
    assert_status(STATUS_OK, db_catalog(f->db, f->arena, &rows));
    arena_destroy(small);
}

/* --- catalog -------------------------------------------------------------------------------- */

/* So many rows are looked at, whatever stands in them, and none of those that are no host's. */
static void a_crowd_is_of_the_newest_hosts(void **state)
{
    struct test_fixture *f = *state;
    struct catalog *catalog = NULL;
    struct text *presences;
    size_t count;

    for (int i = 1; i <= 30; i++)
        test_sql(f->database,
                 "INSERT INTO qm_host (hostid, rpcs, token, changed, presence)"
                 " VALUES (%d, 1, 1, 1, '%s'), (-%d, 1, 1, 1, 'user')",
                 i, i % 2 == 0 ? "known" : "", i);
    assert_status(STATUS_OK, db_host_presences(f->db, f->arena, 10, &presences, &count));
    assert_int_equal(count, 5);
    assert_text(presences[0], "known");
    assert_status(STATUS_OK, db_host_presences(f->db, f->arena, 1000, &presences, &count));
    assert_int_equal(count, 15);
    /* Ten with one observation of two days, all of them of 0.75. */
    test_sql(f->database,
             "UPDATE qm_host SET presence = CONCAT(REPEAT(CHAR(1), 12), x'0000803f', x'0000403f',"
             " x'0000403f') WHERE hostid > 20");
    assert_status(STATUS_OK, catalog_load(f->db, &catalog));
    assert_real(catalog->crowd.cpu, 0, 0);
    assert_status(STATUS_OK, catalog_load_crowd(f->db, 9, catalog));
    assert_real(catalog->crowd.cpu, 0, 0);
    assert_status(STATUS_OK, catalog_load_crowd(f->db, CROWD_MOST, catalog));
    assert_real(catalog->crowd.cpu, 0.75, 0);
    assert_real(catalog->crowd.gpu, 0.75, 0);
    catalog_release(catalog);
}

static void only_the_newest_version_is_current(void **state)
{
    struct test_fixture *f = *state;
    struct catalog *catalog = NULL;

    test_sql(f->database,
             "INSERT INTO platform (id, name, deprecated) VALUES (1, 'p', 0), (2, 'q', 1);"
             "INSERT INTO app (id, name, min_version) VALUES (1, 'a', 0), (2, 'b', 120);"
             "INSERT INTO app_version (id, appid, platformid, version_num, plan_class,"
             " min_core_version, deprecated) VALUES"
             " (1, 1, 1, 100, '', 612, 0), (2, 1, 1, 102, '', 70028, 0),"
             " (3, 1, 1, 101, '', 0, 0), (4, 1, 1, 100, 'cuda', 0, 0),"
             " (5, 1, 2, 100, '', 0, 0), (6, 2, 1, 110, '', 0, 0),"
             " (7, 1, 1, 200, '', 0, 1);"
             "UPDATE app_version SET xml_doc = '<app_version></app_version>'");
    assert_status(STATUS_OK, catalog_load(f->db, &catalog));
    assert_int_equal(catalog->rows.version_count, 6);
    for (size_t i = 0; i < 6; i++) /* rows 2, 4 and 5 */
        assert_int_equal(catalog_version_is_current(catalog, &catalog->rows.versions[i]),
                         i == 1 || i == 3 || i == 4);
    assert_null(catalog_version(catalog, 7));
    assert_i64(catalog_version(catalog, 1)->min_core_version, 61200);
    assert_i64(catalog_version(catalog, 2)->min_core_version, 70028);
    assert_i64(catalog_app_by_name(catalog, TEXT("b"))->id, 2);
    assert_null(catalog_app(catalog, 3));
    assert_i64(catalog_platform_by_name(catalog, TEXT("p"))->id, 1);
    catalog->versions_current = NULL; /* the slow way gives the same */
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(catalog_version_is_current(catalog, &catalog->rows.versions[i]),
                         i == 1 || i == 3 || i == 4);
    catalog_release(catalog_hold(catalog));
    catalog_release(catalog);
}

/* Only plan classes ask what hosts measured; a program of one request asks few of them. */
static void benchmarks_are_read_where_a_version_has_a_plan_class(void **state)
{
    struct test_fixture *f = *state;
    struct catalog *catalog = NULL;

    test_sql(f->database,
             "INSERT INTO host (userid, expavg_credit, p_fpops)"
             " SELECT 1, 11 + seq, seq * 1e9 FROM seq_1_to_1000;"
             "INSERT INTO host (userid, expavg_credit, p_fpops) VALUES (1, 9, 1e15), (1, 99, 0);"
             "INSERT INTO app (id, name) VALUES (1, 'a');"
             "INSERT INTO app_version (id, appid, platformid, version_num, plan_class, xml_doc)"
             " VALUES (1, 1, 1, 100, '', '<app_version></app_version>')");
    assert_status(STATUS_OK, catalog_load(f->db, &catalog));
    assert_real(catalog->benchmarks.most, 0, 0);
    catalog_release(catalog);
    test_sql(f->database, "UPDATE app_version SET plan_class = 'mt'");
    assert_status(STATUS_OK, catalog_load(f->db, &catalog));
    assert_real(catalog->benchmarks.median, 501e9, 1);
    assert_real(catalog->benchmarks.most, 951e9, 1);
    catalog_release(catalog);
    assert_status(STATUS_OK, catalog_load_for_one(f->db, &catalog));
    assert_real(catalog->benchmarks.median, 801e9, 1);
    assert_real(catalog->benchmarks.most, 981e9, 1);
    catalog_release(catalog);
}

/* A workunit that is committed to a version can go to no other. */
static void deprecated_versions_are_kept_for_what_is_committed(void **state)
{
    struct test_fixture *f = *state;
    struct catalog *catalog = NULL;

    test_sql(f->database,
             "INSERT INTO app (id, name, homogeneous_app_version) VALUES (1, 'a', 0), (2, 'b', 1);"
             "INSERT INTO app_version (id, appid, platformid, version_num, plan_class, deprecated)"
             " VALUES (1, 1, 1, 200, '', 1), (2, 2, 1, 200, '', 1), (3, 2, 1, 100, '', 0);"
             "UPDATE app_version SET xml_doc = '<app_version></app_version>'");
    assert_status(STATUS_OK, catalog_load(f->db, &catalog));
    assert_null(catalog_version(catalog, 1));
    for (int round = 0; round < 2; round++) {
        assert_false(catalog_version_is_current(catalog, catalog_version(catalog, 2)));
        assert_true(catalog_version_is_current(catalog, catalog_version(catalog, 3)));
        catalog->versions_current = NULL; /* the slow way gives the same */
    }
    catalog_release(catalog);
}

static void a_version_that_cannot_be_sent_is_none(void **state)
{
    static const char *const documents[] = {"NULL",
                                            "''",
                                            "'<app_version>'",
                                            "'</app_version>'",
                                            "'<app_version><app_version></app_version>'",
                                            "'<app_version></app_version></scheduler_reply>'"};
    struct test_fixture *f = *state;

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        struct catalog *catalog = NULL;

        test_sql(
            f->database,
            "DELETE FROM app_version; INSERT INTO app_version (id, appid, version_num, xml_doc)"
            " VALUES (1, 1, 100, '<app_version></app_version>'), (2, 1, 101, %s)",
            documents[i]);
        assert_status(STATUS_OK, catalog_load(f->db, &catalog));
        assert_int_equal(catalog->rows.version_count, 1);
        assert_true(catalog_version_is_current(catalog, catalog_version(catalog, 1)));
        catalog_release(catalog);
    }
}

#define CASE(name) cmocka_unit_test_setup(name, setup)
#define CASES_OF_BOTH                                                                              \
    CASE(a_host_is_inserted_and_read_back), CASE(an_update_leaves_what_others_write),              \
        CASE(whatever_changes_is_saved), CASE(the_newest_host_is_found),                           \
        CASE(a_guard_row_that_is_gone_costs_the_attempt), CASE(a_token_is_kept_only_by_commit),    \
        CASE(a_contact_goes_with_the_guard_row), CASE(presence_goes_with_the_guard_row),           \
        CASE(a_crowd_is_of_the_newest_hosts), CASE(a_user_comes_with_the_team),                    \
        CASE(a_key_is_compared_byte_by_byte), CASE(owners_come_in_the_order_asked_for),            \
        CASE(version_statistics_change_relatively), CASE(messages_are_kept_and_handed_out_once),   \
        CASE(booking_five_takes_two_statements), CASE(only_rows_that_await_a_report_are_booked),   \
        CASE(what_was_booked_before_is_not_taken_for_new),                                         \
        CASE(numbers_that_no_column_holds_cost_nothing), CASE(results_are_found_by_name_in_parts), \
        CASE(jobs_in_progress_come_oldest_first),                                                  \
        CASE(jobs_are_found_by_name_for_their_host_only), CASE(a_resent_job_gets_its_new_times),   \
        CASE(a_job_that_is_over_is_neither_resent_nor_given_up),                                   \
        CASE(a_deadline_moves_only_to_a_later_time), CASE(a_job_given_up_is_looked_at_soon),       \
        CASE(a_detached_host_loses_its_jobs), CASE(a_job_is_found_and_claimed),                    \
        CASE(blobs_keep_every_byte), CASE(a_hostile_name_is_only_a_name),                          \
        CASE(large_documents_come_whole), CASE(a_full_arena_is_an_answer),                         \
        CASE(only_the_newest_version_is_current),                                                  \
        CASE(benchmarks_are_read_where_a_version_has_a_plan_class),                                \
        CASE(a_version_that_cannot_be_sent_is_none)

int main(void)
{
    const struct CMUnitTest new_schema[] = {
        CASES_OF_BOTH,
        CASE(newer_columns_are_stored_too),
        CASE(deprecated_versions_are_kept_for_what_is_committed),
        CASE(bad_utf8_is_stored_as_question_marks),
    };
    const struct CMUnitTest old_schema[] = {
        CASES_OF_BOTH,
        CASE(an_old_schema_passes_bytes),
    };
    int failed = cmocka_run_group_tests(new_schema, test_fixture_open, test_fixture_close);

    return failed + cmocka_run_group_tests(old_schema, open_old, test_fixture_close);
}
