/* SPDX-License-Identifier: Apache-2.0 */
/* Every statement against the real schema, and against one that lacks every optional column. */
#include "db/db.h"
#include "db/mariadb.h"
#include "db/schema.h"
#include "db/statement.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

static void prepare_all(struct db *db)
{
    for (int i = 0; i < STATEMENT_FILES; i++) {
        enum statement statement = (enum statement)i;

        for (size_t j = 0;
             j < (statement_list(statement_definition(statement)) != NULL ? STATEMENT_SIZES : 1);
             j++) {
            if (db_prepare(db, statement, statement_list_size(j)) != STATUS_OK)
                fail_msg("%s: %s", statement_name(statement), db_error(db));
        }
    }
}

static void every_statement_prepares(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct db *db = test_database_open(database);

    (void)state;
    prepare_all(db);
    db_close(db);
    test_database_add_web_tables(database);
    db = test_database_open(database);
    prepare_all(db);
    db_close(db);
    test_database_destroy(database);
}

/* A database of early 2010 with everything that came later taken away. */
static void every_statement_prepares_without_optional_columns(void **state)
{
    struct test_database *database = test_database_create(true, "latin1");
    struct db *db;

    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        for (size_t j = 0; j < row_tables[i].column_count; j++) {
            const struct row_column *column = &row_tables[i].columns[j];

            if (row_column_is_optional(column))
                test_sql(database, "ALTER TABLE %s DROP COLUMN IF EXISTS %s", row_tables[i].table,
                         column->name);
        }
    }
    db = test_database_open(database);
    prepare_all(db);
    db_close(db);
    test_database_destroy(database);
}

/* A column that two tables have is looked for in the right one. */
static void a_statement_asks_its_own_table(void **state)
{
    static const struct {
        const char *table, *columns;
    } cases[] = {{"result", "DROP COLUMN size_class, DROP COLUMN app_version_id"},
                 {"workunit", "DROP COLUMN size_class, DROP COLUMN app_version_id,"
                              " DROP COLUMN app_version_num"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_database *database = test_database_create(true, NULL);
        struct db *db;

        test_sql(database, "ALTER TABLE %s %s", cases[i].table, cases[i].columns);
        db = test_database_open(database);
        prepare_all(db);
        db_close(db);
        test_database_destroy(database);
    }
}

/* {if TABLE.COLUMN|...} with a misspelt name would silently never be used. */
static void conditions_name_columns_of_the_schema(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct db *db;

    (void)state;
    test_database_add_web_tables(database); /* which are no tables of ours */
    db = test_database_open(database);
    for (int i = 0; i < STATEMENT_FILES; i++) {
        const struct statement_definition *definition = statement_definition((enum statement)i);
        struct statement_text with = {0}, all = {0};

        assert_status(STATUS_OK,
                      statement_write(definition, 4, db_actual_columns(db), &with, NULL));
        assert_status(STATUS_OK, statement_write(definition, 4, NULL, &all, NULL));
        assert_int_equal(with.parameter_count, all.parameter_count);
        statement_text_free(&with);
        statement_text_free(&all);
    }
    db_close(db);
    test_database_destroy(database);
}

/* A project without science apps does not search each document for the name of one. */
static void derived_columns_are_left_out_where_they_are_always_0(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct arena *arena = arena_create(1 << 20);

    (void)state;
    test_sql(database, "INSERT INTO workunit (id, name, batch, xml_doc) VALUES (5, 'w', 7,"
                       " '<workunit>\n<buda_app_name>fold</buda_app_name>\n</workunit>')");
    for (int has_apps = 0; has_apps <= 1; has_apps++) {
        const struct statement_definition *definition =
            statement_definition(STATEMENT_workunits_between);
        struct statement_text text = {0};
        struct workunit_row *row;
        struct db *db;
        size_t count;

        test_database_config(database)->has_buda_apps = has_apps != 0;
        db = test_database_open(database);
        assert_status(STATUS_OK,
                      DB_ALL(db, workunits_between, arena, &row, &count, .first = 5, .last = 5));
        assert_i64((int64_t)count, 1);
        assert_int_equal(row->buda_app != 0, has_apps);
        assert_i64(row->batch, 7);
        assert_status(STATUS_OK,
                      statement_write(definition, 4, db_actual_columns(db), &text, NULL));
        assert_int_equal(strstr(text.sql, "buda_app_name") != NULL, has_apps);
        statement_text_free(&text);
        db_close(db);
    }
    arena_destroy(arena);
    test_database_destroy(database);
}

/* MariaDB allows 16,382 for all connections together; the manual of `threads` says how many we may
 * use on each. */
static void a_connection_prepares_a_bounded_number(void **state)
{
    size_t count = 0;

    (void)state;
    for (int i = STATEMENT_actual_columns; i < STATEMENT_FILES; i++)
        count +=
            statement_list(statement_definition((enum statement)i)) != NULL ? STATEMENT_SIZES : 1;
    assert_in_range(count, 100, 300);
}

/* Whether rows that are compared get ids by AUTO_INCREMENT is seen from the schema. */
static void rows_that_get_ids_are_called_new(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    static const char insert[] = "INSERT INTO ";
    size_t count = 0;

    (void)state;
    for (int i = 0; i < STATEMENT_FILES; i++) {
        const struct statement_definition *definition = statement_definition((enum statement)i);
        const char *table = definition->sql + sizeof(insert) - 1;
        bool has_ids;

        if (strncmp(definition->sql, insert, sizeof(insert) - 1) != 0 ||
            (definition->count != COUNT_ALL && definition->count != COUNT_NEW))
            continue;
        has_ids = test_sql_integer(database,
                                   "SELECT COUNT(*) FROM information_schema.COLUMNS"
                                   " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%.*s'"
                                   " AND EXTRA = 'auto_increment'",
                                   (int)strcspn(table, " "), table) > 0;
        if (has_ids != (definition->count == COUNT_NEW))
            fail_msg("%s is of rows that get %s ids", definition->name, has_ids ? "their" : "no");
        count += has_ids;
    }
    assert_int_equal(count, 13);
    test_database_destroy(database);
}

/* What may wait is kept by its values, and passed by for others' rows. */
static void what_may_wait_says_whose_rows_it_writes(void **state)
{
    size_t count = 0;

    (void)state;
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        const struct statement_definition *definition = statement_definition((enum statement)i);
        bool has_text = false;

        if (definition->latest != LATEST_END)
            continue;
        for (const struct db_member *value = definition->values; value->name != NULL; value++)
            has_text = has_text || value->type == DB_STRING || value->type == DB_STRINGS ||
                       value->type == DB_BYTE_STRINGS;
        if (has_text || statement_subject(definition) == NULL ||
            definition->count == COUNT_SINGLY || definition->count == COUNT_MENDED)
            fail_msg("%s cannot wait", definition->name);
        count++;
    }
    assert_int_equal(count, 5);
}

/* Of rows that are not there: what is said of the count is what is done. */
static void a_count_that_falls_short_is_noticed(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct db *db = test_database_open(database);
    static const char nothing[8192];
    const struct db_ids one = {(const int64_t *)(const void *)nothing, 1};
    const void *row = nothing;
    size_t noticed = 0;

    (void)state;
    db_send_ahead(db, false);
    for (int i = 0; i < STATEMENT_FILES; i++) {
        const struct statement_definition *definition = statement_definition((enum statement)i);
        char values[2048] = {0};
        uint64_t affected = 0;
        bool is_compared;
        enum status status;

        if (definition->rows != NULL || strncmp(definition->sql, "UPDATE", 6) != 0)
            continue;
        for (const struct db_member *value = definition->values; value->name != NULL; value++) {
            assert_true(value->offset + sizeof(one) < sizeof(values));
            if (db_type_is_list(value->type))
                memcpy(values + value->offset, &one, sizeof(one));
            else if (value->type == DB_ROW)
                memcpy(values + value->offset, &row, sizeof(row));
        }
        status = db_run(db, (enum statement)i, values, sizeof(values), 1, &affected);
        is_compared = definition->count == COUNT_ALL || definition->count == COUNT_BOTH;
        if (status != (is_compared ? STATUS_DB_RETRY : STATUS_OK))
            fail_msg("%s answers %s: %s", definition->name, status_word(status), db_error(db));
        assert_int_equal(affected, 0);
        noticed += status == STATUS_DB_RETRY;
        assert_status(STATUS_OK, db_rollback(db));
    }
    assert_in_range(noticed, 10, 30);
    db_close(db);
    test_database_destroy(database);
}

/* An array's sum does not tell which of its rows fell short: where fewer are right, each goes by
 * itself. */
static void what_may_fall_short_goes_singly(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct db *db = test_database_open(database);
    struct server_leave_values gone[3] = {{.id = 1}, {.id = 2}, {.id = 3}};

    (void)state;
    assert_status(STATUS_OK, db_begin(db));
    db_count_reset(db);
    assert_status(STATUS_OK, DB_RUN_BULK(db, server_leave, gone, 3, NULL));
    assert_int_equal(db_count(db).round_trips, 3);
    assert_status(STATUS_OK, db_rollback(db));
    db_close(db);
    test_database_destroy(database);
}

static void all_statements_can_be_printed(void **state)
{
    struct buffer text = buffer_on_heap(1024 * 1024);

    (void)state;
    statement_print_all(NULL, &text);
    assert_false(text.overflowed);
    assert_true(text_contains(buffer_text(&text), TEXT("host_lock: SELECT host.id, ")));
    assert_true(text_contains(buffer_text(&text), TEXT("server_state = 2")));
    assert_false(text_contains(buffer_text(&text), TEXT("{")));
    buffer_free(&text);
}

/* A list of any length goes out in parts, and its rows come through one cursor; a list whose rows
 * are locked in its order is refused where it does not rise. */
static void lists_go_out_in_parts(void **state)
{
    enum { COUNT = 2 * DB_LIST_MOST + 3 };
    static int64_t ids[COUNT];
    struct test_database *database = test_database_create(true, NULL);
    struct db *db = test_database_open(database);
    struct arena *arena = arena_create(1 << 20);
    struct host_owner_cursor rows;
    struct host_owner_row row, *all;
    size_t found = 0;
    uint64_t affected;

    (void)state;
    test_sql(database,
             "SET SESSION sql_mode = ''; INSERT INTO host (id, userid) SELECT seq, 1000 + seq"
             " FROM seq_1_to_%d; INSERT INTO workunit (id, name) SELECT seq, seq FROM seq_1_to_%d",
             COUNT, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        ids[i] = (int64_t)i + 1;
    assert_status(STATUS_OK, db_begin(db));
    db_count_reset(db);
    assert_status(STATUS_OK, DB_QUERY(db, host_owners, arena, &rows, .ids = {ids, COUNT}));
    while (DB_NEXT(&rows, &row)) {
        assert_i64(row.userid, 1000 + row.id);
        found++;
    }
    assert_status(STATUS_OK, DB_END(&rows));
    assert_int_equal(found, COUNT);
    assert_int_equal(db_count(db).round_trips, 3);
    assert_status(STATUS_OK, DB_ALL(db, host_owners, arena, &all, &found, .ids = {ids, COUNT}));
    assert_int_equal(found, COUNT);
    assert_i64(all[COUNT - 1].userid, 1000 + COUNT);
    assert_status(STATUS_OK,
                  DB_RUN(db, workunits_transition_now, &affected, .ids = {ids, COUNT}, .now = 5));
    assert_int_equal(affected, COUNT);
    db_count_reset(db);
    assert_status(STATUS_OK, DB_ALL(db, host_owners, arena, &all, &found, .ids = {ids, 0}));
    assert_int_equal(found, 0);
    assert_int_equal(db_count(db).round_trips, 0);
    ids[7] = 3;
    assert_status(STATUS_DB_BUG,
                  DB_RUN(db, workunits_transition_now, NULL, .ids = {ids, COUNT}, .now = 5));
    assert_true(text_contains(text_from(db_error(db)), TEXT("does not rise")));
    assert_status(STATUS_TOO_LARGE,
                  DB_ALL(db, host_owners, arena, &all, &found, .ids = {NULL, COUNT}));
    arena_destroy(arena);
    db_close(db);
    test_database_destroy(database);
}

static const struct db_row_type *rows_of_owners(void)
{
    return statement_definition(STATEMENT_host_owners)->rows();
}

/* What the database calls the columns counts: two exchanged, one called otherwise, one too many,
 * none at all, and a text for a number. */
static void a_mistake_is_found_when_it_is_prepared(void **state)
{
    static const struct db_member none[] = {{.name = NULL}};
    static const struct {
        const char *sql, *words;
    } mistakes[] = {
        {"SELECT userid, id FROM host", "column 1 is userid, id is declared"},
        {"SELECT id, userid AS owner FROM host", "column 2 is owner, userid is declared"},
        {"SELECT id, userid, rpc_time FROM host", "gives 3 columns, 2 are declared"},
        {"UPDATE host SET userid = 1 WHERE id = 0", "gives 0 columns, 2 are declared"},
        {"SELECT id, domain_name AS userid FROM host", "column userid is no number"},
        {"SELECT id, userid FROM host WHERE id = :id", "no such value is declared"},
    };
    struct statement_definition definition = {
        "tried", "SELECT id, userid FROM host", none, rows_of_owners, COUNT_SINGLY, LATEST_NOW};
    struct test_database *database = test_database_create(true, NULL);
    struct db *db = test_database_open(database);

    (void)state;
    assert_status(STATUS_OK, db_try(db, &definition));
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        definition.sql = mistakes[i].sql;
        assert_status(STATUS_DB_BUG, db_try(db, &definition));
        if (strstr(db_error(db), mistakes[i].words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", db_error(db), mistakes[i].words);
    }
    db_close(db);
    test_database_destroy(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_prepares),
        cmocka_unit_test(every_statement_prepares_without_optional_columns),
        cmocka_unit_test(a_statement_asks_its_own_table),
        cmocka_unit_test(conditions_name_columns_of_the_schema),
        cmocka_unit_test(derived_columns_are_left_out_where_they_are_always_0),
        cmocka_unit_test(a_connection_prepares_a_bounded_number),
        cmocka_unit_test(a_count_that_falls_short_is_noticed),
        cmocka_unit_test(rows_that_get_ids_are_called_new),
        cmocka_unit_test(what_may_wait_says_whose_rows_it_writes),
        cmocka_unit_test(what_may_fall_short_goes_singly),
        cmocka_unit_test(all_statements_can_be_printed),
        cmocka_unit_test(lists_go_out_in_parts),
        cmocka_unit_test(a_mistake_is_found_when_it_is_prepared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
