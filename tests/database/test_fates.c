/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of results is counted when it is committed, and written in rows whose number is
 * bounded. */
#include "db/fate_rows.h"
#include "server/base/arena.h"
#include "server/fates/fates.h"
#include "tests/support/database.h"
#include "tests/support/serving.h"
#include "tests/support/test.h"

#include <string.h>

#include "server/base/banned.h"

enum { NOW = SERVING_NOW, HOUR = 3600, DAY = 24 * HOUR };

static struct test_database *database;
static struct serving serving;
static struct fates *fates;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    serving_add_hosts(database, 2);
    serving_open(&serving, database);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    serving_close(&serving);
    test_database_destroy(database);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    test_database_clear(database);
    test_sql(database, "INSERT INTO qm_duty SET name = 'old fates', due = 0");
    serving_add_hosts(database, 2);
    fates = serving.fates = fates_create();
    return fates == NULL;
}

static int end(void **state)
{
    (void)state;
    fates_destroy(fates);
    return 0;
}

static void add(int64_t now, struct fate_entry entry)
{
    fates_add(fates, now, &entry, 1);
}

static void flush(void)
{
    assert_status(STATUS_OK, fates_flush(fates, serving.db));
}

/* An hour goes by. */
static void flush_an_hour_later(void)
{
    test_sql(database, "UPDATE qm_duty SET due = 0");
    flush();
}

static int64_t counted(const char *where)
{
    return test_sql_integer(database, "SELECT COALESCE(SUM(results), 0) FROM qm_fate WHERE %s",
                            where);
}

static void requests_are_counted_once_they_are_committed(void **state)
{
    const char *reports =
        "<result>\n<name>r_1</name>\n<state>5</state>\n<exit_status>0"
        "</exit_status>\n</result>\n<result>\n<name>r_2</name>\n<state>3</state>\n"
        "<exit_status>-186</exit_status>\n</result>\n<result>\n<name>r_3</name>\n"
        "<state>6</state>\n<exit_status>202</exit_status>\n</result>\n";

    (void)state;
    serving_add_jobs(database, &(struct new_jobs){.first = 1, .count = 3, .host = 1});
    serving_add_jobs(database, &(struct new_jobs){.first = 11, .count = 2});
    test_sql(database, "UPDATE result SET app_version_id = 11, batch = 5 WHERE hostid = 1");
    (void)serving_ask(&serving, &(struct asking){.host = 1, .elements = reports}, NOW, 1);
    (void)serving_ask(&serving, &(struct asking){.host = 2, .work_seconds = 1}, NOW, 1);
    assert_i64(counted("1"), 0);
    flush();
    assert_i64(counted("fate = 2 AND batch = 0 AND appid = 1 AND app_version_id = 11"), 1);
    assert_i64(counted("fate = 3 AND batch = 0 AND exit_status = -186"), 1);
    assert_i64(counted("fate = 4 AND batch = 0 AND exit_status = 202"), 1);
    assert_i64(counted("fate = 1 AND batch = 0 AND app_version_id = 11"), 1);
    assert_i64(counted("batch = 5 AND app_version_id = 0 AND exit_status = 0"), 3);
    assert_i64(test_sql_integer(database, "SELECT ended = 2 AND failed = 1 FROM qm_host_fate"
                                          " WHERE hostid = 1"),
               1);
    /* The same reports again are acknowledged, and are no news. */
    (void)serving_ask(&serving, &(struct asking){.host = 1, .elements = reports}, NOW + 1, 1);
    flush();
    assert_i64(counted("batch = 0 AND fate IN (2, 3, 4)"), 3);
}

/* Each process has rows of its own. */
static void sums_are_added_to_rows_of_their_hour_and_process(void **state)
{
    struct fates *other = fates_create();
    struct fate_entry entry = {.appid = 1, .app_version_id = 2, .fate = FATE_SUCCESS};

    (void)state;
    add(NOW, entry);
    add(NOW + HOUR, entry);
    flush();
    add(NOW + HOUR, entry);
    flush();
    flush(); /* nothing */
    fates_add(other, NOW, &entry, 1);
    assert_status(STATUS_OK, fates_flush(other, serving.db));
    fates_destroy(other);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_fate"), 3);
    assert_i64(counted("hour = 1795000000 DIV 3600"), 2);
    assert_i64(counted("hour = 1795000000 DIV 3600 + 1"), 2);
}

static void what_cannot_be_written_is_kept(void **state)
{
    struct fate_entry entry = {.hostid = 3, .appid = 1, .fate = FATE_NO_REPLY};

    (void)state;
    add(NOW, entry);
    add(NOW + HOUR, entry);
    test_sql(database, "RENAME TABLE qm_host_fate TO away");
    assert_int_not_equal(STATUS_OK, fates_flush(fates, serving.db));
    assert_i64(counted("1"), 0);
    test_sql(database, "RENAME TABLE away TO qm_host_fate");
    add(NOW + HOUR, entry);
    assert_status(STATUS_OK, db_reopen(serving.db));
    flush();
    assert_i64(counted("1"), 3);
    assert_i64(counted("hour = 1795000000 DIV 3600"), 1);
    assert_i64(test_sql_integer(database, "SELECT failed FROM qm_host_fate WHERE hostid = 3"), 3);
}

/* Anybody may report any exit status: rows stay bounded, and each result is counted somewhere. */
static void the_rows_of_an_hour_are_bounded(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 3 * FATES_KEYS_MAX; i++) {
        add(NOW, (struct fate_entry){.appid = 1,
                                     .app_version_id = 1 + i % 2,
                                     .fate = FATE_CLIENT_ERROR,
                                     .exit_status = i});
        if (i % 1000 == 0)
            flush();
    }
    for (int64_t i = 0; i < FATES_KEYS_MAX; i++)
        add(NOW, (struct fate_entry){.appid = 2, .app_version_id = 100 + i, .fate = FATE_SENT});
    add(NOW, (struct fate_entry){.appid = 3, .app_version_id = 1, .fate = FATE_SUCCESS});
    flush();
    assert_true(test_sql_integer(database, "SELECT COUNT(*) FROM qm_fate") <= FATES_KEYS_MAX);
    assert_i64(counted("fate = 3"), 3 * FATES_KEYS_MAX);
    assert_i64(counted("fate = 1"), FATES_KEYS_MAX);
    assert_i64(counted("fate = 2"), 1);
    assert_true(counted("fate = 3 AND exit_status = 0 AND app_version_id = 1") > 100);
    /* The next hour begins with nothing. */
    add(NOW + HOUR,
        (struct fate_entry){
            .appid = 1, .app_version_id = 1, .fate = FATE_CLIENT_ERROR, .exit_status = 7});
    flush();
    assert_i64(counted("hour > 1795000000 DIV 3600 AND exit_status = 7"), 1);
}

static void older_results_of_a_host_count_less(void **state)
{
    struct fate_host_row *rows;
    size_t count = 0;

    (void)state;
    for (int i = 0; i < 8; i++)
        add(NOW, (struct fate_entry){.hostid = 1, .appid = 1, .fate = FATE_CLIENT_ERROR});
    flush();
    add(NOW + 5 * DAY, (struct fate_entry){.hostid = 1, .appid = 1, .fate = FATE_SUCCESS});
    add(NOW + 5 * DAY, (struct fate_entry){.hostid = 2, .appid = 1, .fate = FATE_CLIENT_ERROR});
    flush();
    assert_status(STATUS_OK, db_fates_worst_hosts(serving.db, serving.arena, NOW + 10 * DAY, 0.5,
                                                  10, &rows, &count));
    assert_int_equal(count, 2);
    assert_i64(rows[0].hostid, 1);
    assert_real(rows[0].failed, 2, 1e-9);
    assert_real(rows[0].ended, 2.5, 1e-9);
    assert_real(rows[1].failed, 0.5, 1e-9);
    assert_status(STATUS_OK, db_fates_worst_hosts(serving.db, serving.arena, NOW + 10 * DAY, 1, 10,
                                                  &rows, &count));
    assert_int_equal(count, 1);
    assert_status(STATUS_OK, db_rollback(serving.db));
}

static void old_rows_go(void **state)
{
    const struct fate_entry sent = {.appid = 1, .fate = FATE_SENT};

    (void)state;
    add(NOW, (struct fate_entry){.hostid = 1, .appid = 1, .fate = FATE_NO_REPLY});
    flush_an_hour_later();
    add(NOW + FATES_DAYS * DAY, sent);
    flush_an_hour_later();
    assert_i64(counted("fate = 5"), 1);
    add(NOW + FATES_DAYS * DAY + HOUR, sent);
    flush(); /* somebody looked within this hour */
    assert_i64(counted("fate = 5"), 1);
    add(NOW + FATES_DAYS * DAY + HOUR, sent);
    flush_an_hour_later();
    assert_i64(counted("fate = 5"), 0);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_host_fate"), 1);
    add(NOW + FATES_HOST_DAYS * DAY + HOUR, sent);
    flush_an_hour_later();
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_host_fate"), 0);
}

static void sums_are_read_by_version_and_hour(void **state)
{
    struct fate_version_row *versions;
    struct fate_hour_row *hours;
    struct fate_batch_row *batches;
    size_t count = 0;

    (void)state;
    for (int i = 0; i < 3; i++)
        add(NOW,
            (struct fate_entry){.appid = 1, .app_version_id = 2, .batch = 9, .fate = FATE_VALID});
    add(NOW, (struct fate_entry){.appid = 2, .app_version_id = 4, .fate = FATE_VALID});
    flush();
    assert_status(STATUS_OK,
                  db_fates_by_version(serving.db, serving.arena, NOW / HOUR, &versions, &count));
    assert_int_equal(count, 2);
    assert_i64(versions[0].app_version_id, 2);
    assert_i64(versions[0].results, 3);
    assert_status(STATUS_OK,
                  db_fates_by_hour(serving.db, serving.arena, NOW / HOUR, 0, &hours, &count));
    assert_int_equal(count, 1);
    assert_i64(hours[0].results, 4);
    assert_status(STATUS_OK,
                  db_fates_by_hour(serving.db, serving.arena, NOW / HOUR, 2, &hours, &count));
    assert_i64(hours[0].results, 1);
    assert_status(STATUS_OK,
                  db_fates_by_batch(serving.db, serving.arena, NOW / HOUR, &batches, &count));
    assert_int_equal(count, 1);
    assert_i64(batches[0].batch, 9);
    assert_i64(batches[0].results, 3);
    assert_status(STATUS_OK, db_fates_by_version(serving.db, serving.arena, NOW / HOUR + 1,
                                                 &versions, &count));
    assert_int_equal(count, 0);
    assert_status(STATUS_OK, db_rollback(serving.db));
}

/* Numbers are stored: a number that changed would make old rows say something else. */
static void fates_have_numbers(void **state)
{
    (void)state;
    for (int64_t number = 1; number <= FATE_VALIDATE_ERROR; number++) {
        assert_non_null(fate_kind_of(number));
        assert_i64(fate_kind_of(number)->fate, number);
    }
    assert_null(fate_kind_of(0));
    assert_null(fate_kind_of(FATE_VALIDATE_ERROR + 1));
    assert_string_equal(fate_kind_of(5)->word, "no reply");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_are_counted_once_they_are_committed, begin, end),
        cmocka_unit_test_setup_teardown(sums_are_added_to_rows_of_their_hour_and_process, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(the_rows_of_an_hour_are_bounded, begin, end),
        cmocka_unit_test_setup_teardown(older_results_of_a_host_count_less, begin, end),
        cmocka_unit_test_setup_teardown(old_rows_go, begin, end),
        cmocka_unit_test_setup_teardown(sums_are_read_by_version_and_hour, begin, end),
        cmocka_unit_test(fates_have_numbers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
