/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' way to the database goes past the code under test: the client library is used
 * directly, on a connection of its own with autocommit. */
#include "tests/support/database.h"

#include "db/schema.h"
#include "server/base/arena.h"
#include "tests/support/test.h"

#include <mysql.h>
#include <stdlib.h>
#include <unistd.h>

struct test_database {
    MYSQL *mysql;
    char name[64];
    struct config *config;
    char *text; /* of the last test_sql_text */
};

/* A group's setup that fails does not fail the program in cmocka 1.1.5, so this does. */
_Noreturn static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void run(struct test_database *database, const char *sql)
{
    int more;

    if (mysql_real_query(database->mysql, sql, strlen(sql)) != 0)
        fail_msg("%.200s: %s", sql, mysql_error(database->mysql));
    do {
        MYSQL_RES *result = mysql_store_result(database->mysql);

        if (result != NULL)
            mysql_free_result(result);
        more = mysql_next_result(database->mysql);
        if (more > 0)
            fail_msg("%.200s: %s", sql, mysql_error(database->mysql));
    } while (more == 0);
}

static char *print(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

static char *print(const char *format, va_list arguments)
{
    char *sql = NULL;

    if (vasprintf(&sql, format, arguments) < 0)
        fail_msg("no memory");
    return sql;
}

void test_sql(struct test_database *database, const char *format, ...)
{
    va_list arguments;
    char *sql;

    va_start(arguments, format);
    sql = print(format, arguments);
    va_end(arguments);
    run(database, sql);
    free(sql);
}

static char *first_cell(struct test_database *database, size_t *ret_length, const char *format,
                        va_list arguments) __attribute__((format(printf, 3, 0)));

/* A copy of the first cell, NULL for NULL. */
static char *first_cell(struct test_database *database, size_t *ret_length, const char *format,
                        va_list arguments)
{
    char *sql = print(format, arguments);
    MYSQL_RES *result;
    MYSQL_ROW row;
    char *copy = NULL;

    if (mysql_real_query(database->mysql, sql, strlen(sql)) != 0)
        fail_msg("%.200s: %s", sql, mysql_error(database->mysql));
    result = mysql_store_result(database->mysql);
    row = result == NULL ? NULL : mysql_fetch_row(result);
    if (row == NULL) {
        fail_msg("%.200s: no row", sql);
    } else if (row[0] != NULL) {
        *ret_length = mysql_fetch_lengths(result)[0];
        copy = malloc(*ret_length + 1);
        if (copy == NULL)
            fail_msg("no memory");
        else
            memcpy(copy, row[0], *ret_length + 1);
    }
    mysql_free_result(result);
    free(sql);
    return copy;
}

/* In a function of a variable number of arguments behind `format`. */
#define FIRST_CELL(ret_cell, ret_length)                                    \
    do {                                                                    \
        va_list arguments;                                                  \
        va_start(arguments, format);                                        \
        (ret_cell) = first_cell(database, (ret_length), format, arguments); \
        va_end(arguments);                                                  \
    } while (0)

int64_t test_sql_integer(struct test_database *database, const char *format, ...)
{
    size_t length = 0;
    int64_t number;
    char *cell;

    FIRST_CELL(cell, &length);
    number = cell == NULL ? INT64_MIN : strtoll(cell, NULL, 10);
    free(cell);
    return number;
}

double test_sql_real(struct test_database *database, const char *format, ...)
{
    size_t length = 0;
    double number;
    char *cell;

    FIRST_CELL(cell, &length);
    number = cell == NULL ? 0 : strtod(cell, NULL);
    free(cell);
    return number;
}

struct text test_sql_text(struct test_database *database, const char *format, ...)
{
    size_t length = 0;

    free(database->text);
    database->text = NULL; /* the next line may not return */
    FIRST_CELL(database->text, &length);
    return (struct text){.at = database->text, .length = length};
}

static void set(struct config *config, const char *name, const char *value)
{
    struct failure failure = {0};

    if (config_set(config, text_from(name), text_from(value), &failure) != STATUS_OK)
        fail_msg("option %s: %s", name, failure.text);
}

struct test_database *test_database_create(bool with_tables, const char *character_set)
{
    static int number;
    struct test_database *database = calloc(1, sizeof(*database));
    const char *link = getenv("QM_TEST_SOCKET");
    /* The link's path may be longer than a socket's may be. */
    char *socket = link == NULL ? NULL : realpath(link, NULL);
    struct failure failure = {0};

    if (database == NULL || socket == NULL)
        give_up("QM_TEST_SOCKET", "names no database; run tools/private-mariadb start DIR first");
    database->mysql = mysql_init(NULL);
    if (mysql_real_connect(database->mysql, "localhost", "root", NULL, NULL, 0, socket,
                           CLIENT_MULTI_STATEMENTS) == NULL)
        give_up(socket, mysql_error(database->mysql));
    (void)snprintf(database->name, sizeof(database->name), "test_%ld_%d", (long)getpid(), ++number);
    test_sql(database,
             "SET NAMES utf8mb4; SET sql_mode = '', lock_wait_timeout = 20; DROP DATABASE IF "
             "EXISTS %s; CREATE DATABASE %s CHARACTER SET %s; "
             "USE %s",
             database->name, database->name, character_set == NULL ? "utf8mb4" : character_set,
             database->name);
    if (config_defaults(&database->config) != STATUS_OK)
        give_up("configuration", "no memory");
    set(database->config, "db_name", database->name);
    set(database->config, "db_user", "root");
    set(database->config, "db_socket", socket);
    free(socket);
    if (with_tables && db_schema_upgrade(database->config, NULL, &failure) != STATUS_OK)
        give_up(database->name, failure.text);
    return database;
}

void test_database_destroy(struct test_database *database)
{
    if (database == NULL)
        return;
    test_sql(database, "DROP DATABASE IF EXISTS %s", database->name);
    mysql_close(database->mysql);
    config_release(database->config);
    free(database->text);
    free(database);
}

void test_database_add_app(struct test_database *database)
{
    test_sql(database,
             "INSERT INTO platform SET id = 1, name = 'x86_64-pc-linux-gnu';"
             "INSERT INTO app SET id = 1, name = 'app', user_friendly_name = 'App', weight = 1;"
             "INSERT INTO app_version SET id = 11, appid = 1, version_num = 100, platformid = 1,"
             " plan_class = '', xml_doc = '<app_version>\\n</app_version>\\n'");
}

void test_database_clear(struct test_database *database)
{
    struct text names =
        test_sql_text(database, "SELECT GROUP_CONCAT(TABLE_NAME) FROM information_schema.TABLES"
                                " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'qm_schema'");
    char *list = text_keep(names);

    names = text_from(list);
    while (names.length > 0) {
        struct text name = text_split(&names, ',');

        test_sql(database, "DELETE FROM " TEXT_FORMAT, TEXT_ARG(name));
    }
    free(list);
}

void test_database_add_web_tables(struct test_database *database)
{
    static const struct {
        const char *table, *column;
    } places[] = {
#define PERSON(table, column, holds, becomes)
#define WEB(table, column) {#table, #column},
#include "db/person.def"
#undef PERSON
#undef WEB
    };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        test_sql(database,
                 "CREATE TABLE IF NOT EXISTS %s (id INT AUTO_INCREMENT PRIMARY KEY);"
                 "ALTER TABLE %s ADD COLUMN %s INT NOT NULL",
                 places[i].table, places[i].table, places[i].column);
}

struct config *test_database_config(struct test_database *database)
{
    return database->config;
}

struct db *test_database_open(struct test_database *database)
{
    struct db *db = NULL;
    struct failure failure = {0};

    if (db_open(database->config, &db, &failure) != STATUS_OK)
        give_up(database->name, failure.text);
    return db;
}

void test_database_wait(struct test_database *database, const char *condition)
{
    for (int i = 0; i < 80; i++) {
        if (test_sql_integer(database, "SELECT %s", condition) != 0)
            return;
        usleep(120000); /* INNODB_TRX stays as it is for whoever looks more often */
    }
    fail_msg("never: %s", condition);
}

/* One test at a time: the looks of two would keep INNODB_TRX as it is for both. */
void test_database_wait_for_lock_wait(struct test_database *database)
{
    (void)test_sql_integer(database, "SELECT GET_LOCK('looks at INNODB_TRX', 120)");
    test_database_wait(database, "EXISTS (SELECT 1 FROM information_schema.INNODB_TRX"
                                 " JOIN information_schema.PROCESSLIST ON ID = trx_mysql_thread_id"
                                 " WHERE trx_state = 'LOCK WAIT' AND DB = DATABASE())");
    (void)test_sql_integer(database, "SELECT RELEASE_LOCK('looks at INNODB_TRX')");
}

int test_fixture_open(void **state)
{
    return test_fixture_open_over(state, test_database_create(true, NULL));
}

int test_fixture_open_over(void **state, struct test_database *database)
{
    struct test_fixture *fixture = calloc(1, sizeof(*fixture));

    if (fixture == NULL)
        give_up("fixture", "no memory");
    fixture->database = database;
    fixture->db = test_database_open(fixture->database);
    fixture->other = test_database_open(fixture->database);
    fixture->arena = arena_create((size_t)256 << 20);
    *state = fixture;
    return 0;
}

int test_fixture_close(void **state)
{
    struct test_fixture *fixture = *state;

    db_close(fixture->db);
    db_close(fixture->other);
    arena_destroy(fixture->arena);
    test_database_destroy(fixture->database);
    free(fixture);
    return 0;
}

void test_fixture_clear(struct test_fixture *fixture)
{
    (void)db_rollback(fixture->db);
    (void)db_rollback(fixture->other);
    arena_reset(fixture->arena);
    test_database_clear(fixture->database);
}
