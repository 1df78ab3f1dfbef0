/* SPDX-License-Identifier: Apache-2.0 */
/* Every statement against the real schema, and against one that lacks every optional column. */
#include "db/db.h"
#include "db/mariadb.h"
#include "db/schema.h"
#include "db/statement.h"
#include "server/base/buffer.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdlib.h>

static void prepare_all(struct db *db)
{
    for (int i = 0; i < STATEMENT_FILES; i++) {
        enum statement statement = (enum statement)i;

        for (size_t j = 0; j < (statement_has_list(statement) ? STATEMENT_SIZES : 1); j++) {
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
    test_sql(database, "ALTER TABLE result DROP COLUMN elapsed_time, DROP COLUMN flops_estimate,"
                       " DROP COLUMN peak_working_set_size, DROP COLUMN peak_swap_size,"
                       " DROP COLUMN peak_disk_usage");
    db = test_database_open(database);
    prepare_all(db);
    db_close(db);
    test_database_destroy(database);
}

/* {if TABLE.COLUMN|...} with a misspelt name would silently never be used. */
static void conditions_name_columns_of_the_schema(void **state)
{
    struct test_database *database = test_database_create(true, NULL);
    struct db *db = test_database_open(database);

    (void)state;
    for (int i = 0; i < STATEMENT_FILES; i++) {
        struct statement_text with = {0}, all = {0};

        assert_status(STATUS_OK,
                      statement_expand((enum statement)i, 4, db_actual_columns(db), &with, NULL));
        assert_status(STATUS_OK, statement_expand((enum statement)i, 4, NULL, &all, NULL));
        assert_int_equal(with.parameter_count, all.parameter_count);
        assert_int_equal(with.value_count, all.value_count);
        statement_text_free(&with);
        statement_text_free(&all);
    }
    db_close(db);
    test_database_destroy(database);
}

/* MariaDB allows 16,382 for all connections together; the manual of `threads` says how many we may
 * use on each. */
static void a_connection_prepares_a_bounded_number(void **state)
{
    size_t count = 0;

    (void)state;
    for (int i = STATEMENT_actual_columns; i < STATEMENT_FILES; i++)
        count += statement_has_list((enum statement)i) ? STATEMENT_SIZES : 1;
    assert_in_range(count, 100, 160);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_prepares),
        cmocka_unit_test(every_statement_prepares_without_optional_columns),
        cmocka_unit_test(conditions_name_columns_of_the_schema),
        cmocka_unit_test(a_connection_prepares_a_bounded_number),
        cmocka_unit_test(all_statements_can_be_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
