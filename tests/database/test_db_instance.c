/* SPDX-License-Identifier: Apache-2.0 */
/* A server set up otherwise than the tests' usual one: reached over TCP, with a binary log by
 * statement. */
#include "db/db.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <unistd.h>

static char directory[4096], port[16];

static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *format, ...)
{
    char command[16384];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    return system(command);
}

static int start(void **state)
{
    char socket[4200];

    (void)state;
    (void)snprintf(directory, sizeof(directory), "%s/mariadb-by-statement",
                   getenv("QM_BINARY_DIR"));
    (void)snprintf(port, sizeof(port), "%ld", 20000 + (long)getpid() % 20000);
    if (run("'%s/tools/private-mariadb' start --port %s '%s' -- --log-bin"
            " --binlog-format=STATEMENT --server-id=1",
            getenv("QM_SOURCE_DIR"), port, directory) != 0)
        exit(1);
    (void)snprintf(socket, sizeof(socket), "%s/socket", directory);
    return setenv("QM_TEST_SOCKET", socket, 1);
}

static int stop(void **state)
{
    (void)state;
    return run("'%s/tools/private-mariadb' stop '%s' && rm -rf '%s'", getenv("QM_SOURCE_DIR"),
               directory, directory);
}

static void a_log_by_statement_is_refused(void **state)
{
    struct test_database *database = test_database_create(false, NULL);
    struct db *db = NULL;
    struct failure failure = {0};

    (void)state;
    assert_status(STATUS_DB_REFUSED, db_open(test_database_config(database), &db, &failure));
    assert_non_null(strstr(failure.text, "binlog_format = ROW"));
    test_database_destroy(database);
}

static void host_and_port_are_understood(void **state)
{
    struct test_database *database = test_database_create(false, NULL);
    struct config *config = test_database_config(database);
    struct db *db = NULL;
    struct failure failure = {0};
    char host[64];

    (void)state;
    (void)snprintf(host, sizeof(host), "127.0.0.1:%s", port);
    assert_status(STATUS_OK, config_set(config, TEXT("db_socket"), TEXT(""), &failure));
    assert_status(STATUS_OK, config_set(config, TEXT("db_host"), text_from(host), &failure));
    assert_status(STATUS_DB_REFUSED, db_open(config, &db, &failure));
    assert_non_null(strstr(failure.text, "binlog_format")); /* so it was reached */
    test_database_destroy(database);
}

static void the_own_name_means_the_socket(void **state)
{
    struct test_database *database = test_database_create(false, NULL);
    struct config *config = test_database_config(database);
    struct db *db = NULL;
    struct failure failure = {0};
    char own[256] = "";

    (void)state;
    (void)gethostname(own, sizeof(own) - 1);
    assert_status(STATUS_OK, config_set(config, TEXT("db_host"), text_from(own), &failure));
    assert_status(STATUS_DB_REFUSED, db_open(config, &db, &failure));
    assert_non_null(strstr(failure.text, "binlog_format"));
    test_database_destroy(database);
}

/* The tool itself: starting twice, a crash, a path that is too long. */
static void the_private_server_survives_misuse(void **state)
{
    const char *tools = getenv("QM_SOURCE_DIR");

    (void)state;
    assert_int_equal(run("'%s/tools/private-mariadb' start '%s'", tools, directory), 0);
    assert_int_equal(run("kill -KILL $(cat '%s/pid') && sleep 0.5", directory), 0);
    assert_int_not_equal(run("'%s/tools/private-mariadb' status '%s' >/dev/null", tools, directory),
                         0);
    assert_int_equal(run("'%s/tools/private-mariadb' start '%s'", tools, directory), 0);
    assert_int_equal(run("'%s/tools/private-mariadb' status '%s' >/dev/null", tools, directory), 0);
    /* A folder whose sockets would have longer paths than a socket may have. */
    assert_int_equal(run("'%s/tools/private-mariadb' start '%s/%0100d'", tools, directory, 7), 0);
    assert_int_equal(run("test -S \"$(readlink -f '%s/%0100d/socket')\"", directory, 7), 0);
    assert_int_equal(run("'%s/tools/private-mariadb' stop '%s/%0100d'", tools, directory, 7), 0);
    assert_int_equal(run("'%s/tools/private-mariadb' stop '%s'", tools, directory), 0);
    assert_int_equal(run("'%s/tools/private-mariadb' stop '%s'", tools, directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_by_statement_is_refused),
        cmocka_unit_test(host_and_port_are_understood),
        cmocka_unit_test(the_own_name_means_the_socket),
        cmocka_unit_test(the_private_server_survives_misuse), /* last: it stops it */
    };

    return cmocka_run_group_tests(tests, start, stop);
}
