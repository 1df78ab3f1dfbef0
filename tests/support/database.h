/* SPDX-License-Identifier: Apache-2.0 */
/* A schema of one's own in the tests' private MariaDB (QM_TEST_SOCKET). Every helper fails the test
 * when the database does. */
#ifndef TESTS_SUPPORT_DATABASE_H
#define TESTS_SUPPORT_DATABASE_H

#include "config/config.h"
#include "db/db.h"

#include <stdbool.h>
#include <stdint.h>

struct test_database;

/* Makes an empty schema (its name holds the process number), with the project's tables if asked
 * for; dropped by test_database_destroy. `character_set` NULL: utf8mb4. */
struct test_database *test_database_create(bool with_tables, const char *character_set);
void test_database_destroy(struct test_database *database);
/* Empties every table but qm_schema; quicker than a new schema. */
void test_database_clear(struct test_database *database);
/* The least that jobs need: platform 1 (Linux), app 1 ("app") and its version 11. */
void test_database_add_app(struct test_database *database);
/* Those of BOINC's web pages that db/person.def names, with the columns that it names: for
 * connections that are opened later. */
void test_database_add_web_tables(struct test_database *database);
/* Options that point at it; belongs to the database. Change others with config_set. */
struct config *test_database_config(struct test_database *database);
/* A connection of the server's kind; the caller closes it. */
struct db *test_database_open(struct test_database *database);

/* One or more statements, separated by semicolons, each committed by itself. The format is
 * printf's; nothing is escaped. An INSERT may leave out columns: they become 0 or "". */
void test_sql(struct test_database *database, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The first cell of the first row; a missing row fails the test, NULL is INT64_MIN or "". */
int64_t test_sql_integer(struct test_database *database, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
double test_sql_real(struct test_database *database, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Lives until the next call of it. */
struct text test_sql_text(struct test_database *database, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Waits until the condition, an expression of SQL, holds; fails the test after some seconds. */
void test_database_wait(struct test_database *database, const char *condition);
/* Until a transaction of this database waits for the lock of a row. */
void test_database_wait_for_lock_wait(struct test_database *database);

/* A schema with the project's tables, two connections and an arena: setup and teardown of cmocka,
 * with the fixture as their state. */
struct test_fixture {
    struct test_database *database;
    struct db *db, *other;
    struct arena *arena;
};
int test_fixture_open(void **state);
/* Over a schema that was made otherwise; it belongs to the fixture. */
int test_fixture_open_over(void **state, struct test_database *database);
int test_fixture_close(void **state);
/* As it was when it was opened. */
void test_fixture_clear(struct test_fixture *fixture);

#endif
