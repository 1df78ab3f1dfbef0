/* SPDX-License-Identifier: Apache-2.0 */
/* Making tables, again and again, from nothing, from half and from an existing project. */
#include "config/config.h"
#include "db/admin.h"
#include "db/columns.h"
#include "db/db.h"
#include "db/schema.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdlib.h>

/* Everything about the tables that could change. */
static struct text picture(struct test_database *database)
{
    test_sql(database, "SET SESSION group_concat_max_len = 1000000");
    return test_sql_text(
        database, "SELECT CONCAT((SELECT GROUP_CONCAT(CONCAT_WS(':', TABLE_NAME, COLUMN_NAME,"
                  " COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT) ORDER BY TABLE_NAME,"
                  " ORDINAL_POSITION) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA ="
                  " DATABASE()), (SELECT GROUP_CONCAT(CONCAT_WS(':', TABLE_NAME, INDEX_NAME,"
                  " SEQ_IN_INDEX, COLUMN_NAME) ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX)"
                  " FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()))");
}

/* Of a database after the first upgrades; a number may be left out. */
static int64_t version_after(size_t upgrades)
{
    return upgrades == 0 ? 0 : schema_upgrade_number(&schema_upgrades[upgrades - 1]);
}

static void again_changes_nothing(void **state)
{
    struct test_database *database = test_database_create(false, NULL);
    struct config *config = test_database_config(database);
    struct schema_report report;
    char *before;
    struct text text;

    (void)state;
    assert_status(STATUS_OK, db_schema_upgrade(config, &report, NULL));
    assert_true(report.created_tables);
    assert_false(report.created_database);
    assert_i64(report.version_before, 0);
    assert_i64(report.version_now, version_after(schema_upgrade_count));
    text = picture(database);
    before = text_keep(text);
    assert_true(strlen(before) > 10000);
    assert_status(STATUS_OK, db_schema_upgrade(config, &report, NULL));
    assert_false(report.created_tables);
    assert_i64(report.version_before, report.version_now);
    assert_text(picture(database), before);
    free(before);
    test_database_destroy(database);
}

static void a_missing_database_is_made(void **state)
{
    struct test_database *database = test_database_create(false, NULL);
    struct config *config = test_database_config(database);
    struct schema_report report;

    (void)state;
    test_sql(database, "DROP DATABASE " TEXT_FORMAT, TEXT_ARG(config->db_name));
    assert_status(STATUS_OK, db_schema_upgrade(config, &report, NULL));
    assert_true(report.created_database);
    test_sql(database, "USE " TEXT_FORMAT, TEXT_ARG(config->db_name));
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result"), 0);
    test_database_destroy(database);
}

static void an_interrupted_run_is_completed(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct schema_report report;

    (void)state;
    test_sql(database, "DROP TABLE host, credit_team, qm_host; DELETE FROM qm_schema;"
                       "INSERT INTO qm_schema VALUES (0, 'schema', 0)");
    assert_status(STATUS_OK, db_schema_upgrade(test_database_config(database), &report, NULL));
    assert_true(report.created_tables);
    db_close(test_database_open(database));
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM credit_team"), 0);
    test_database_destroy(database);
}

static void an_existing_project_gets_only_our_tables(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct schema_report report;

    (void)state;
    test_sql(database, "DROP TABLE qm_host, qm_workunit, qm_schema, credit_team;"
                       "ALTER TABLE result DROP COLUMN size_class");
    assert_status(STATUS_OK, db_schema_upgrade(test_database_config(database), &report, NULL));
    assert_false(report.created_tables);
    db_close(test_database_open(database));
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM information_schema.TABLES"
                                          " WHERE TABLE_SCHEMA = DATABASE()"
                                          " AND TABLE_NAME = 'credit_team'"),
               0);
    test_database_destroy(database);
}

/* --- earlier states ------------------------------------------------------------------------------
 */

/* How many statements a file has; runs the first `count` of them. */
static size_t run_statements(struct test_database *database, const char *sql, size_t count)
{
    struct text rest = text_from(sql);
    size_t found = 0;

    while (text_trim(rest).length > 0) {
        size_t end = text_find(rest, TEXT(";\n"));

        if (found++ < count)
            test_sql(database, TEXT_FORMAT, TEXT_ARG(text_first(rest, end)));
        end = end + 2 < rest.length ? end + 2 : rest.length;
        rest = (struct text){rest.at + end, rest.length - end};
    }
    return found;
}

/* A database as a program left it that knew so many upgrades. */
static struct test_database *database_of_version(int64_t version)
{
    struct test_database *database = test_database_create(false, NULL);

    (void)run_statements(database, schema_sql, SIZE_MAX);
    test_sql(database, "CREATE TABLE qm_schema (version BIGINT NOT NULL PRIMARY KEY,"
                       " name VARCHAR(191) NOT NULL, done TINYINT NOT NULL)"
                       " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;"
                       "INSERT INTO qm_schema VALUES (0, 'schema', 1)");
    for (int64_t i = 0; i < version; i++) {
        (void)run_statements(database, schema_upgrades[i].sql, SIZE_MAX);
        test_sql(database, "INSERT INTO qm_schema VALUES (%lld, '%s', 1)",
                 (long long)schema_upgrade_number(&schema_upgrades[i]), schema_upgrades[i].name);
    }
    return database;
}

/* Killed after any of the statements of any upgrade, before it was noted: the next run ends where
 * one without an interruption ends. */
static void an_upgrade_that_was_cut_goes_on(void **state)
{
    struct test_database *whole = test_database_create(true, NULL);
    struct text text = picture(whole);
    char *wanted = text_keep(text);

    (void)state;
    for (size_t i = 0; i < schema_upgrade_count; i++) {
        size_t count = 1;

        for (size_t cut = 0; cut <= count; cut++) {
            struct test_database *database = database_of_version((int64_t)i);
            struct schema_report report;

            count = run_statements(database, schema_upgrades[i].sql, cut);
            assert_status(STATUS_OK,
                          db_schema_upgrade(test_database_config(database), &report, NULL));
            assert_i64(report.version_before, version_after(i));
            assert_i64(report.version_now, version_after(schema_upgrade_count));
            text = picture(database);
            if (!text_is(text, wanted))
                fail_msg("%s, cut after %zu statements", schema_upgrades[i].name, cut);
            test_database_destroy(database);
        }
    }
    free(wanted);
    test_database_destroy(whole);
}

/* What has to stay: a server of the version before goes on while the tables are upgraded, and comes
 * back when the new one is not wanted. Its statements find each column as it was; a column that it
 * does not know has a value without it; no row that it writes is one too many. */
static void keep_state(struct test_database *database)
{
    test_sql(database,
             "CREATE TEMPORARY TABLE were_columns AS SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE,"
             " IS_NULLABLE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE();"
             "CREATE TEMPORARY TABLE were_unique AS SELECT TABLE_NAME,"
             " GROUP_CONCAT(COLUMN_NAME ORDER BY COLUMN_NAME) AS columns"
             " FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()"
             " AND NON_UNIQUE = 0 GROUP BY TABLE_NAME, INDEX_NAME");
}

static int64_t changed_columns(struct test_database *database)
{
    return test_sql_integer(database,
                            "SELECT COUNT(*) FROM were_columns w"
                            " LEFT JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = DATABASE()"
                            " AND c.TABLE_NAME = w.TABLE_NAME AND c.COLUMN_NAME = w.COLUMN_NAME"
                            " AND c.COLUMN_TYPE = w.COLUMN_TYPE AND c.IS_NULLABLE = w.IS_NULLABLE"
                            " WHERE c.COLUMN_NAME IS NULL");
}

static int64_t demanding_columns(struct test_database *database)
{
    return test_sql_integer(
        database, "SELECT COUNT(*) FROM information_schema.COLUMNS c"
                  " WHERE c.TABLE_SCHEMA = DATABASE() AND c.IS_NULLABLE = 'NO'"
                  " AND c.COLUMN_DEFAULT IS NULL AND c.EXTRA NOT LIKE '%%auto_increment%%'"
                  " AND c.TABLE_NAME IN (SELECT TABLE_NAME FROM were_columns)"
                  " AND CONCAT(c.TABLE_NAME, '.', c.COLUMN_NAME) NOT IN"
                  " (SELECT CONCAT(w.TABLE_NAME, '.', w.COLUMN_NAME) FROM were_columns w)");
}

static int64_t new_unique_keys(struct test_database *database)
{
    return test_sql_integer(
        database, "SELECT COUNT(*) FROM (SELECT TABLE_NAME, GROUP_CONCAT(COLUMN_NAME ORDER BY"
                  " COLUMN_NAME) AS columns FROM information_schema.STATISTICS WHERE"
                  " TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 GROUP BY TABLE_NAME, INDEX_NAME) n"
                  " WHERE n.TABLE_NAME IN (SELECT TABLE_NAME FROM were_columns)"
                  " AND (n.TABLE_NAME, n.columns) NOT IN (SELECT TABLE_NAME, columns FROM"
                  " were_unique)");
}

static void forget_state(struct test_database *database)
{
    test_sql(database, "DROP TEMPORARY TABLE were_columns, were_unique");
}

static void an_upgrade_only_adds(void **state)
{
    struct test_database *database = database_of_version(0);

    (void)state;
    for (size_t i = 0; i < schema_upgrade_count; i++) {
        keep_state(database);
        (void)run_statements(database, schema_upgrades[i].sql, SIZE_MAX);
        if (changed_columns(database) + demanding_columns(database) + new_unique_keys(database) > 0)
            fail_msg("%s takes away or demands", schema_upgrades[i].name);
        forget_state(database);
    }
    /* And each of these would be seen. */
    keep_state(database);
    test_sql(database, "ALTER TABLE qm_host MODIFY token BIGINT; ALTER TABLE qm_server DROP name");
    assert_i64(changed_columns(database), 2);
    test_sql(database, "ALTER TABLE qm_host ADD wanted BIGINT NOT NULL,"
                       " ADD free BIGINT, ADD usual BIGINT NOT NULL DEFAULT 0");
    assert_i64(demanding_columns(database), 1);
    test_sql(database, "ALTER TABLE host ADD UNIQUE qm_only (userid)");
    assert_i64(new_unique_keys(database), 1);
    test_database_destroy(database);
}

static int64_t primary_keys(struct test_database *database)
{
    return test_sql_integer(database, "SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS"
                                      " WHERE TABLE_SCHEMA = DATABASE()"
                                      " AND TABLE_NAME IN ('host_app_version', 'credited_job')"
                                      " AND CONSTRAINT_TYPE = 'PRIMARY KEY'");
}

/* What we made gets the keys that earlier versions left out; a running project is told. */
static void every_table_of_ours_gets_a_primary_key(void **state)
{
    static const char before[] =
        "ALTER TABLE host_app_version DROP PRIMARY KEY, ADD UNIQUE hap (host_id, app_version_id);"
        "ALTER TABLE credited_job DROP PRIMARY KEY,"
        " ADD UNIQUE credited_job_user_wu (userid, workunitid);"
        "DELETE FROM qm_schema WHERE version >= 6";
    struct test_database *database = test_database_create(true, NULL);
    struct arena *arena = arena_create(1 << 20);
    struct schema_report report;
    struct keyless_row *tables;
    struct db *db;
    size_t count;

    (void)state;
    assert_i64(primary_keys(database), 2);
    for (int is_ours = 1; is_ours >= 0; is_ours--) {
        test_sql(database, before);
        test_sql(database, "INSERT INTO host_app_version SET host_id = %d, app_version_id = 1",
                 is_ours);
        if (!is_ours)
            test_sql(database, "DELETE FROM qm_schema");
        assert_status(STATUS_OK, db_schema_upgrade(test_database_config(database), &report, NULL));
        assert_false(report.created_tables);
        assert_i64(primary_keys(database), is_ours ? 2 : 0);
        db = test_database_open(database);
        assert_status(STATUS_OK, db_admin_keyless_tables(db, arena, &tables, &count));
        assert_int_equal(count, is_ours ? 0 : 2);
        db_close(db);
    }
    assert_text(tables[1].name, "host_app_version");
    assert_text(tables[1].columns_of_key, "host_id, app_version_id");
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM host_app_version"), 2);
    arena_destroy(arena);
    test_database_destroy(database);
}

/* What a project of former years lacks of BOINC's tables of batches is made, as in a new one; what
 * is there stays. */
static void tables_of_batches_are_made(void **state)
{
    static const char *const gone[] = {"batch, user_submit, user_submit_app, job_file,"
                                       " batch_file_assoc",
                                       "batch_file_assoc"};
    struct test_database *whole = test_database_create(true, NULL);
    struct text text = picture(whole);
    char *wanted = text_keep(text);

    (void)state;
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        struct test_database *database = database_of_version(0);

        test_sql(database, "INSERT INTO job_file (name) VALUES ('kept'); DROP TABLE %s", gone[i]);
        assert_status(STATUS_OK, db_schema_upgrade(test_database_config(database), NULL, NULL));
        text = picture(database);
        if (!text_is(text, wanted))
            fail_msg("without %s", gone[i]);
        assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM job_file"), (int64_t)i);
        test_database_destroy(database);
    }
    free(wanted);
    test_database_destroy(whole);
}

static void a_strange_database_is_refused(void **state)
{
    struct test_database *database = test_database_create(false, NULL);
    struct failure failure = {0};

    (void)state;
    test_sql(database, "CREATE TABLE wp_posts (id INT); CREATE TABLE user (id INT)");
    assert_status(STATUS_DB_REFUSED,
                  db_schema_upgrade(test_database_config(database), NULL, &failure));
    assert_non_null(strstr(failure.text, "not those of a project"));
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM information_schema.TABLES"
                                          " WHERE TABLE_SCHEMA = DATABASE()"),
               2);
    test_database_destroy(database);
}

static void a_newer_database_is_refused(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct failure failure = {0};

    (void)state;
    test_sql(database, "INSERT INTO qm_schema VALUES (9999, 'later', 1)");
    assert_status(STATUS_DB_REFUSED,
                  db_schema_upgrade(test_database_config(database), NULL, &failure));
    assert_non_null(strstr(failure.text, "newer"));
    test_database_destroy(database);
}

static void upgrades_go_by_their_numbers(void **state)
{
    (void)state;
    assert_true(schema_upgrade_count > 0);
    for (size_t i = 0; i < schema_upgrade_count; i++)
        assert_true(version_after(i + 1) > version_after(i));
}

/* What BOINC's programs rely on by position or by name. */
static void shared_tables_are_as_boinc_reads_them(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    static const struct {
        const char *table;
        int columns;
    } tables[] = {{"app", 17},     {"app_version", 16},  {"host", 49},   {"host_app_version", 15},
                  {"user", 32},    {"platform", 5},      {"result", 37}, {"workunit", 35},
                  {"team", 19},    {"msg_from_host", 6}, {"batch", 19},  {"msg_to_host", 6},
                  {"job_file", 4}, {"assignment", 7}};

    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        assert_i64(test_sql_integer(database,
                                    "SELECT COUNT(*) FROM information_schema.COLUMNS"
                                    " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%s'"
                                    " AND COLUMN_NAME NOT LIKE 'qm\\_%%'",
                                    tables[i].table),
                   tables[i].columns);
    assert_text(test_sql_text(database,
                              "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) FROM"
                              " information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()"
                              " AND INDEX_NAME = 'ind_res_st'"),
                "server_state,priority");
    assert_text(test_sql_text(database, "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY TABLE_NAME,"
                                        " ORDINAL_POSITION) FROM information_schema.COLUMNS"
                                        " WHERE TABLE_SCHEMA = DATABASE()"
                                        " AND TABLE_NAME IN ('workunit', 'result')"
                                        " AND COLUMN_TYPE LIKE 'bigint%%'"),
                "id,workunitid,id,canonical_resultid");
    assert_text(test_sql_text(database,
                              "SELECT GROUP_CONCAT(DISTINCT CHARACTER_SET_NAME) FROM"
                              " information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"),
                "utf8mb4");
    test_database_destroy(database);
}

static void every_column_that_we_read_exists(void **state)
{
    struct test_database *database = test_database_create(true, NULL);

    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        for (size_t j = 0; j < row_tables[i].column_count; j++) {
            const int64_t wanted = row_column_is_derived(&row_tables[i].columns[j]) ? 0 : 1;

            if (test_sql_integer(database,
                                 "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE"
                                 " TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%s'"
                                 " AND COLUMN_NAME = '%s'",
                                 row_tables[i].table, row_tables[i].columns[j].name) != wanted)
                fail_msg("%s.%s", row_tables[i].table, row_tables[i].columns[j].name);
        }
    }
    test_database_destroy(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(again_changes_nothing),
        cmocka_unit_test(a_missing_database_is_made),
        cmocka_unit_test(an_interrupted_run_is_completed),
        cmocka_unit_test(an_upgrade_that_was_cut_goes_on),
        cmocka_unit_test(an_upgrade_only_adds),
        cmocka_unit_test(an_existing_project_gets_only_our_tables),
        cmocka_unit_test(every_table_of_ours_gets_a_primary_key),
        cmocka_unit_test(tables_of_batches_are_made),
        cmocka_unit_test(a_strange_database_is_refused),
        cmocka_unit_test(a_newer_database_is_refused),
        cmocka_unit_test(upgrades_go_by_their_numbers),
        cmocka_unit_test(shared_tables_are_as_boinc_reads_them),
        cmocka_unit_test(every_column_that_we_read_exists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
