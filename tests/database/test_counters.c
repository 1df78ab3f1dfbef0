/* SPDX-License-Identifier: Apache-2.0 */
/* A statement that computes with what a row holds works whatever that is: every table has a row
 * with each column at its maximum, as the schema says, and every statement with an operator of
 * arithmetic meets it with its values at both ends. */
#include "config/config.h"
#include "db/files.h"
#include "db/mariadb.h"
#include "db/statement.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY = INT32_MAX, /* of each row, in all tables, so that joins find it */
    ENDS_MOST = 10,  /* values that are tried each at both ends; of more all at the same end */
    VALUES_BYTES = 2048,
    ROW_BYTES = 8192
};
#define TEXT_OF_ROWS "m"

/* --- the rows -------------------------------------------------------------------------------- */

/* The tables of the file database, beside the project's, for statements of both. */
static void add_file_tables(struct test_database *database)
{
    struct config *config = test_database_config(database);
    struct failure failure = {0};
    char name[128];

    (void)snprintf(name, sizeof(name), TEXT_FORMAT "_files", TEXT_ARG(config->db_name));
    assert_status(STATUS_OK, config_set(config, TEXT("files_db_name"), text_from(name), &failure));
    assert_status(STATUS_OK, db_files_make(config, &failure));
    test_sql(database,
             "CREATE TABLE host_file LIKE %s.host_file; CREATE TABLE file_order LIKE"
             " %s.file_order; DROP DATABASE %s",
             name, name, name);
}

/* A row in which every column has the largest value of its type; but a number of a row, or of
 * another table's row, is KEY. */
static void add_largest_row(struct test_database *database, const char *table)
{
    test_sql(database,
             "SET time_zone = '+00:00'; SET @columns = (SELECT GROUP_CONCAT('`', COLUMN_NAME, '` ="
             " ', CASE WHEN DATA_TYPE = 'bigint' AND COLUMN_NAME REGEXP 'id$|^token$' THEN %d"
             " WHEN DATA_TYPE = 'tinyint' THEN 127 WHEN DATA_TYPE = 'smallint' THEN 32767"
             " WHEN DATA_TYPE = 'int' THEN 2147483647"
             " WHEN DATA_TYPE = 'bigint' THEN 9223372036854775807"
             " WHEN DATA_TYPE = 'double' THEN '1.7976931348623157e308'"
             " WHEN DATA_TYPE = 'timestamp' THEN '''2038-01-19 03:14:07''' ELSE '''" TEXT_OF_ROWS
             "''' END) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
             " AND TABLE_NAME = '%s'); SET @row = CONCAT('REPLACE INTO `%s` SET ', @columns);"
             " EXECUTE IMMEDIATE @row",
             KEY, table, table);
}

static void add_largest_rows(struct test_database *database)
{
    char *names = text_keep(
        test_sql_text(database, "SELECT GROUP_CONCAT(TABLE_NAME) FROM information_schema.TABLES"
                                " WHERE TABLE_SCHEMA = DATABASE()"));
    struct text left = text_from(names);
    size_t count = 0;

    for (; left.length > 0; count++) {
        struct text table = text_split(&left, ',');
        char name[64];

        (void)snprintf(name, sizeof(name), TEXT_FORMAT, TEXT_ARG(table));
        add_largest_row(database, name);
    }
    assert_in_range(count, 30, 100);
    free(names);
}

/* --- the values ------------------------------------------------------------------------------ */

static bool has_ends(const struct db_member *value)
{
    return value->type == DB_INTEGER || value->type == DB_REAL || value->type == DB_ROW;
}

static unsigned count_ends(const struct statement_definition *definition)
{
    unsigned count = 0;

    for (const struct db_member *value = definition->values; value->name != NULL; value++)
        count += has_ends(value);
    return count;
}

static const void *row_at(enum row_kind kind, bool is_high)
{
    static char row[ROW_BYTES];
    const struct row_table *table = &row_tables[kind];

    memset(row, 0, sizeof(row));
    for (size_t i = 0; is_high && i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        const int64_t number = INT16_MAX; /* some are no larger */
        const double real = DBL_MAX;

        if (column->type == COLUMN_REAL)
            memcpy(row + column->offset, &real, sizeof(real));
        else if (column->type != COLUMN_STRING)
            memcpy(row + column->offset, &number, sizeof(number));
    }
    return row;
}

/* `ends`: a bit for each value that has two. */
static void set_values(const struct statement_definition *definition, unsigned ends, char *at)
{
    static const int64_t key = KEY;
    static const struct text text = {TEXT_OF_ROWS, sizeof(TEXT_OF_ROWS) - 1};
    const struct db_ids ids = {&key, 1};
    const struct db_texts texts = {&text, 1};

    for (const struct db_member *value = definition->values; value->name != NULL; value++) {
        const bool is_high = has_ends(value) && (ends & 1) != 0;
        const int64_t integer = is_high ? INT32_MAX : 0;
        const double real = is_high ? DBL_MAX : DBL_MIN;
        const void *row = value->type == DB_ROW ? row_at(value->row, is_high) : NULL;
        const struct {
            const void *from;
            size_t size;
        } sources[] = {[DB_ID] = {&key, sizeof(key)},
                       [DB_INTEGER] = {&integer, sizeof(integer)},
                       [DB_REAL] = {&real, sizeof(real)},
                       [DB_STRING] = {&text, sizeof(text)},
                       [DB_BYTES] = {&text, sizeof(text)},
                       [DB_ROW] = {(const void *)&row, sizeof(row)},
                       [DB_SUBJECTS] = {&ids, sizeof(ids)},
                       [DB_IDS] = {&ids, sizeof(ids)},
                       [DB_RISING_IDS] = {&ids, sizeof(ids)},
                       [DB_STRINGS] = {&texts, sizeof(texts)},
                       [DB_BYTE_STRINGS] = {&texts, sizeof(texts)}};

        assert_true(value->offset + sources[value->type].size <= VALUES_BYTES);
        memcpy(at + value->offset, sources[value->type].from, sources[value->type].size);
        ends >>= has_ends(value);
    }
}

/* --- the walk -------------------------------------------------------------------------------- */

/* Written out, with fragments; `list_size` 1. */
static bool computes(const struct statement_definition *definition)
{
    static const char *const operators[] = {" + ", " - ", " * ", " / ", " % ", "SUM(", "ABS("};
    struct statement_text text = {0};
    bool found = false;

    assert_status(STATUS_OK, statement_write(definition, 1, NULL, &text, NULL));
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        found = found || strstr(text.sql, operators[i]) != NULL;
    statement_text_free(&text);
    return found;
}

/* It changes a row that is there. */
static bool counts_on(const struct statement_definition *definition)
{
    return strncmp(definition->sql, "UPDATE", strlen("UPDATE")) == 0 ||
           strstr(definition->sql, "ON DUPLICATE KEY UPDATE") != NULL;
}

static enum status run(struct test_fixture *fixture, enum statement statement, const char *values,
                       uint64_t *ret_count)
{
    const struct statement_definition *definition = statement_definition(statement);
    char row[ROW_BYTES];
    struct db_rows rows;
    enum status status;

    if (definition->rows == NULL)
        return db_run(fixture->db, statement, values, VALUES_BYTES, 1, ret_count);
    status = db_query(fixture->db, statement, values, DB_QUERY_BYTES, fixture->arena, &rows);
    assert_true(definition->rows()->size <= sizeof(row));
    while (status == STATUS_OK && db_rows_next(&rows, row))
        ++*ret_count;
    return status == STATUS_OK ? db_rows_end(&rows) : status;
}

/* Answers how many rows it met, at the most; what fails is said, and counted. */
static uint64_t walk_ends(struct test_fixture *fixture, enum statement statement, size_t *failures)
{
    const struct statement_definition *definition = statement_definition(statement);
    const unsigned count = count_ends(definition);
    const unsigned step = count > ENDS_MOST ? (1U << count) - 1 : 1;
    uint64_t most = 0;

    assert_true(count < 31);
    for (unsigned ends = 0; ends < 1U << count; ends += step) {
        char values[VALUES_BYTES] = {0};
        uint64_t met = 0;
        enum status status;

        set_values(definition, ends, values);
        status = run(fixture, statement, values, &met);
        if (status != STATUS_OK && status != STATUS_DB_RETRY &&
            strstr(db_error(fixture->db), "Duplicate entry") == NULL) {
            print_error("values %x: %s\n", ends, db_error(fixture->db));
            ++*failures;
        }
        most = met > most ? met : most;
        assert_status(STATUS_OK, db_rollback(fixture->db));
        arena_reset(fixture->arena);
    }
    return most;
}

/* Statements choose rows by these columns: as the rows are, as jobs that can be sent, as orders
 * that are open, and in the end as jobs that hosts have. */
static void change_states(struct test_database *database, int assignment_target)
{
    test_sql(database,
             "UPDATE result SET server_state = 2; UPDATE workunit SET error_mask = 0,"
             " canonical_resultid = 0, transitioner_flags = 0, batch = 0, target_nresults = 1;"
             "UPDATE file_order SET ended = 0; UPDATE qm_connection SET made = 0;"
             "UPDATE qm_lease SET valid_until = UNIX_TIMESTAMP() + 30;"
             "UPDATE user SET expavg_time = 0; UPDATE host SET expavg_time = 0;"
             "UPDATE team SET expavg_time = 0; UPDATE app_version SET expavg_time = 0;"
             "UPDATE assignment SET target_type = %d",
             assignment_target);
}

static void no_statement_fails_by_the_size_of_a_number(void **state)
{
    struct test_fixture *fixture = *state;
    size_t walked = 0, met = 0, failures = 0;

    for (int i = 0; i < STATEMENT_COUNT; i++) {
        const struct statement_definition *definition = statement_definition((enum statement)i);
        uint64_t rows;

        if (i == STATEMENT_FILES || !computes(definition))
            continue;
        add_largest_rows(fixture->database);
        rows = walk_ends(fixture, (enum statement)i, &failures);
        for (int target = ASSIGN_NONE; target <= ASSIGN_USER; target++) {
            change_states(fixture->database, target);
            rows += walk_ends(fixture, (enum statement)i, &failures);
        }
        test_sql(fixture->database, "UPDATE result SET server_state = 4;"
                                    "UPDATE workunit SET target_nresults = 0");
        rows += walk_ends(fixture, (enum statement)i, &failures);
        if (rows == 0 && counts_on(definition))
            fail_msg("%s changes no row", definition->name);
        walked++;
        met += rows > 0;
    }
    assert_int_equal(failures, 0);
    assert_in_range(walked, 20, 150);
    assert_in_range(met, 20, walked);
}

static int setup(void **state)
{
    struct test_database *database = test_database_create(true, NULL);

    add_file_tables(database);
    return test_fixture_open_over(state, database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_statement_fails_by_the_size_of_a_number, setup,
                                        test_fixture_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
