/* SPDX-License-Identifier: Apache-2.0 */
/* The table of statements, walked: each prepares on the project's tables, at every size of its
 * list. */
#include "db/mariadb.h"
#include "db/statement.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

static struct test_database *database;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_database_destroy(database);
    return 0;
}

static void every_statement_prepares(void **state)
{
    struct db *db = test_database_open(database);

    (void)state;
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        enum statement statement = (enum statement)i;
        size_t sizes = statement_has_list(statement) ? STATEMENT_SIZES : 1;

        for (size_t size = 0; size < sizes; size++) {
            if (db_prepare(db, statement, statement_list_size(size)) != STATUS_OK)
                fail_msg("%s, %zu elements: %s", statement_name(statement),
                         statement_list_size(size), db_error(db));
        }
    }
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_statement_prepares, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
