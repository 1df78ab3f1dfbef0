/* SPDX-License-Identifier: Apache-2.0 */
/* db/adoption_rows.h: what an old database lacks, and that the tables of it are complete. */
#include "db/adoption_rows.h"
#include "db/columns.h"
#include "db/mariadb.h"
#include "db/schema.h"
#include "db/statement.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

/* Each revision that columns.def names is an era, and brings a column. */
static void every_era_has_columns_and_every_column_an_era(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        for (size_t j = 0; j < row_tables[i].column_count; j++) {
            const struct row_column *column = &row_tables[i].columns[j];
            bool has_era = !row_column_is_optional(column) || row_column_is_ours(column);

            if (row_column_is_ours(column) != (strncmp(column->name, "qm_", 3) == 0))
                fail_msg("%s.%s: qm_ is for columns of ours", row_tables[i].table, column->name);
            for (size_t k = 0; k < adoption_era_count && !has_era; k++)
                has_era = strtol(column->presence + strlen("SINCE_"), NULL, 10) ==
                          adoption_eras[k].revision;
            if (!has_era)
                fail_msg("%s.%s: %s is not in eras.def", row_tables[i].table, column->name,
                         column->presence);
        }
    }
    for (size_t k = 1; k < adoption_era_count; k++)
        assert_true(adoption_eras[k - 1].revision < adoption_eras[k].revision);
}

/* Whoever looks at a project before its tables are upgraded does not miss what the upgrade brings.
 */
static void a_column_of_ours_is_missed_like_a_table_of_ours(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct db *db;

    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        for (size_t j = 0; j < row_tables[i].column_count; j++) {
            const char *table = row_tables[i].table, *column = row_tables[i].columns[j].name;
            struct failure failure = {0};

            if (!row_column_is_ours(&row_tables[i].columns[j]))
                continue;
            test_sql(database, "ALTER TABLE %s RENAME COLUMN %s TO away", table, column);
            assert_status(STATUS_OK, db_adoption_open(test_database_config(database), &db, NULL));
            assert_status(STATUS_OK, db_adoption_tables(db, false, &failure));
            assert_status(STATUS_DB_REFUSED, db_adoption_tables(db, true, &failure));
            assert_non_null(strstr(failure.text, column));
            assert_non_null(strstr(failure.text, "qmctl init"));
            db_close(db);
            test_sql(database, "ALTER TABLE %s RENAME COLUMN away TO %s", table, column);
        }
    }
    test_database_destroy(database);
}

static void what_is_missing_is_named_by_era(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct arena *arena = arena_create(1 << 20);
    struct db *db;

    (void)state;
    for (int is_old = 0; is_old < 2; is_old++) {
        assert_status(STATUS_OK, db_adoption_open(test_database_config(database), &db, NULL));
        for (size_t k = 0; k < adoption_era_count; k++) {
            struct text lacks = db_adoption_lacks(db, arena, &adoption_eras[k]);

            if (!is_old)
                assert_text(lacks, "");
            else if (adoption_eras[k].revision == 27001)
                assert_text(lacks, "app.n_size_classes, workunit.size_class, result.size_class");
            else if (adoption_eras[k].revision == 27030)
                assert_text(lacks, "host.misc");
            else
                assert_true(lacks.length > 0);
        }
        db_close(db);
        for (size_t i = 0; i < ROW_COUNT && !is_old; i++)
            for (size_t j = 0; j < row_tables[i].column_count; j++)
                if (row_column_is_optional(&row_tables[i].columns[j]))
                    test_sql(database, "ALTER TABLE %s DROP COLUMN IF EXISTS %s",
                             row_tables[i].table, row_tables[i].columns[j].name);
    }
    arena_destroy(arena);
    test_database_destroy(database);
}

/* An index that a statement names is one that is looked for by its name. */
static void every_index_that_a_statement_names_is_needed(void **state)
{
    static const char hint[] = "FORCE INDEX (";
    size_t hints = 0;

    (void)state;
    for (int i = 0; i < STATEMENT_FILES; i++) {
        const char *at = statement_definition((enum statement)i)->sql;

        while ((at = strstr(at, hint)) != NULL) {
            size_t length = strcspn(at += strlen(hint), ")");
            bool is_there = strncmp(at, "PRIMARY", length) == 0;

            hints++;
            for (size_t j = 0; j < needed_index_count && !is_there; j++)
                is_there = needed_indexes[j].how == INDEX_BY_NAME &&
                           strlen(needed_indexes[j].name) == length &&
                           strncmp(at, needed_indexes[j].name, length) == 0;
            if (!is_there)
                fail_msg("%.*s is not in needed_indexes.def", (int)length, at);
        }
    }
    assert_true(hints > 20);
}

static void indexes_are_found_missed_and_made(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct arena *arena = arena_create(4 << 20);
    struct adoption_index_row *rows;
    struct db *db;
    size_t count;

    (void)state;
    for (int round = 0; round < 3; round++) {
        assert_status(STATUS_OK, db_adoption_open(test_database_config(database), &db, NULL));
        assert_status(STATUS_OK, db_adoption_indexes(db, arena, &rows, &count));
        db_close(db);
        for (size_t i = 0; i < needed_index_count; i++) {
            const struct needed_index *needed = &needed_indexes[i];
            enum index_state state_now = needed_index_state(needed, rows, count);

            if (round != 1)
                assert_int_equal(state_now, INDEX_THERE);
            else if (strcmp(needed->name, "ind_res_st") == 0)
                assert_int_equal(state_now, INDEX_MISSING); /* by another name it is none */
            else if (strcmp(needed->name, "wu_val") == 0)
                assert_int_equal(state_now, INDEX_OTHERWISE);
            else if (strcmp(needed->name, "msg_to_host") == 0)
                assert_int_equal(state_now, INDEX_THERE); /* by any name, and with more columns */
            else if (strcmp(needed->name, "hap") == 0)
                assert_int_equal(state_now, INDEX_MISSING); /* not unique */
        }
        if (round == 0)
            test_sql(
                database,
                "ALTER TABLE result DROP KEY ind_res_st, ADD KEY other (server_state, priority);"
                "ALTER TABLE workunit DROP KEY wu_val, ADD KEY wu_val (need_validate, appid);"
                "ALTER TABLE msg_to_host DROP KEY msg_to_host,"
                " ADD KEY mine (hostid, handled, id);"
                "ALTER TABLE host_app_version DROP PRIMARY KEY,"
                " ADD KEY mine (host_id, app_version_id)");
        if (round == 1)
            test_sql(database,
                     "ALTER TABLE workunit DROP KEY wu_val;"
                     "ALTER TABLE host_app_version ADD UNIQUE hap (host_id, app_version_id)");
        for (size_t i = 0; i < needed_index_count && round == 1; i++) {
            const struct needed_index *needed = &needed_indexes[i];

            for (int twice = 0; twice < 2 && needed->how == INDEX_BY_NAME; twice++)
                assert_status(STATUS_OK,
                              db_schema_add_index(test_database_config(database), needed->table,
                                                  needed->name, needed->columns, NULL));
        }
    }
    arena_destroy(arena);
    test_database_destroy(database);
}

/* With tables of the project alone, by a connection that writes nothing. */
static void our_own_tables_may_be_missing(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct arena *arena = arena_create(1 << 20);
    struct adoption_counts_row counts;
    struct adoption_table_row *tables;
    struct adoption_trigger_row *triggers;
    struct failure failure = {.status = STATUS_OK};
    struct db *db;
    size_t count;
    int64_t version;

    (void)state;
    assert_status(STATUS_OK, db_adoption_open(test_database_config(database), &db, NULL));
    assert_status(STATUS_OK, db_adoption_version(db, &version));
    assert_i64(version, schema_upgrade_number(&schema_upgrades[schema_upgrade_count - 1]));
    db_close(db);
    test_sql(database, "UPDATE qm_schema SET done = 0 WHERE version >= 4");
    assert_status(STATUS_OK, db_adoption_open(test_database_config(database), &db, NULL));
    assert_status(STATUS_OK, db_adoption_version(db, &version));
    assert_i64(version, 3);
    db_close(db);
    test_sql(database, "DROP TABLE qm_schema, qm_host, qm_workunit, qm_duty, qm_server,"
                       " qm_connection, qm_lease, assignment; ALTER TABLE user ENGINE=MyISAM;"
                       "ALTER TABLE team ENGINE=MyISAM; CREATE TRIGGER beside AFTER UPDATE ON host"
                       " FOR EACH ROW SET @a = 1;"
                       "CREATE TABLE forum (id INT) ENGINE=MyISAM; CREATE TRIGGER theirs BEFORE"
                       " INSERT ON forum FOR EACH ROW SET @a = 1;"
                       "INSERT INTO msg_from_host SET id = 1");
    assert_status(STATUS_OK, db_adoption_open(test_database_config(database), &db, NULL));
    assert_status(STATUS_OK, db_adoption_tables(db, false, NULL));
    assert_status(STATUS_DB_REFUSED, db_adoption_tables(db, true, NULL));
    assert_status(STATUS_OK, db_adoption_version(db, &version));
    assert_i64(version, 0);
    assert_status(STATUS_OK, db_adoption_counts(db, &counts));
    assert_i64(counts.trickles, 1);
    assert_i64(counts.messages, 0);
    assert_i64(counts.assignments, 0);
    assert_status(STATUS_OK, db_adoption_engines(db, arena, &tables, &count));
    assert_int_equal(count, 2); /* others' tables are others' affair */
    assert_text(tables[0].name, "team");
    assert_text(tables[1].name, "user");
    assert_status(STATUS_OK, db_adoption_triggers(db, arena, &triggers, &count));
    assert_int_equal(count, 1);
    assert_text(triggers[0].name, "beside");
    assert_text(triggers[0].table_name, "host");
    assert_text(triggers[0].event, "AFTER UPDATE");
    assert_int_not_equal(STATUS_OK, db_run_text(db, "DELETE FROM msg_from_host"));
    db_close(db);
    test_sql(database, "ALTER TABLE result DROP COLUMN priority");
    assert_status(STATUS_OK, db_adoption_open(test_database_config(database), &db, NULL));
    assert_status(STATUS_DB_REFUSED, db_adoption_tables(db, false, &failure));
    assert_non_null(strstr(failure.text, "older than March 2010"));
    db_close(db);
    arena_destroy(arena);
    test_database_destroy(database);
}

/* As the statements of a server say. */
static void a_server_writes_to_its_tables(void **state)
{
    static const char *const written[] = {"app",           "app_version", "assignment",
                                          "consent",       "host",        "host_app_version",
                                          "msg_from_host", "msg_to_host", "qm_host",
                                          "result",        "team",        "user",
                                          "workunit"},
                             *const others[] = {"platform", "batch", "forum", "qm"};

    (void)state;
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
        if (!db_adoption_writes(text_from(written[i])))
            fail_msg("%s is not written", written[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (db_adoption_writes(text_from(others[i])))
            fail_msg("%s is written", others[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_era_has_columns_and_every_column_an_era),
        cmocka_unit_test(a_server_writes_to_its_tables),
        cmocka_unit_test(a_column_of_ours_is_missed_like_a_table_of_ours),
        cmocka_unit_test(what_is_missing_is_named_by_era),
        cmocka_unit_test(every_index_that_a_statement_names_is_needed),
        cmocka_unit_test(indexes_are_found_missed_and_made),
        cmocka_unit_test(our_own_tables_may_be_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
