/* SPDX-License-Identifier: Apache-2.0 */
/* What a host says of what it can do is kept with the request that brought it, once. */
#include "tests/support/serving.h"

#include "tests/support/database.h"
#include "tests/support/test.h"

enum { NOW = SERVING_NOW };

static struct test_database *database;
static struct serving serving;

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

static void come(int host, const char *elements)
{
    static double now = NOW;

    now += 100;
    (void)serving_ask(&serving, &(struct asking){.host = host, .elements = elements}, now, 1);
}

static struct text kept_of(int host)
{
    return test_sql_text(database, "SELECT request FROM qm_host_said WHERE hostid = %d", host);
}

#define GPU(driver)                                                                     \
    "<coprocs>\n<coproc_cuda>\n<count>1</count>\n<drvVersion>" driver "</drvVersion>\n" \
    "</coproc_cuda>\n</coprocs>\n"

static void what_has_changed_is_written(void **state)
{
    (void)state;
    come(1, GPU("100"));
    assert_true(text_contains(kept_of(1), TEXT("<drvVersion>100</drvVersion>")));
    assert_true(text_contains(kept_of(1), TEXT("<core_client_major_version>8<")));
    come(1, GPU("200"));
    assert_true(text_contains(kept_of(1), TEXT("<drvVersion>200</drvVersion>")));
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_host_said"), 1);
    come(2, GPU("300"));
    assert_true(text_contains(kept_of(1), TEXT("<drvVersion>200</drvVersion>")));
}

static void what_is_as_before_is_not(void **state)
{
    (void)state;
    come(1, GPU("100"));
    test_sql(database, "UPDATE qm_host_said SET request = 'untouched'");
    come(1, GPU("100"));
    assert_text(kept_of(1), "untouched");
}

/* The row counts and proves a COMMIT as one that was there before. */
static void a_guard_row_that_is_made_for_it_is_one(void **state)
{
    (void)state;
    come(1, GPU("100"));
    assert_i64(test_sql_integer(database, "SELECT rpcs FROM qm_host WHERE hostid = 1"), 1);
    assert_true(test_sql_integer(database, "SELECT token FROM qm_host WHERE hostid = 1") != 0);
    come(1, GPU("200"));
    assert_i64(test_sql_integer(database, "SELECT rpcs FROM qm_host WHERE hostid = 1"), 2);
}

/* A host that was made by this request, too; and what fails leaves nothing. */
static void it_is_kept_with_the_request_or_not_at_all(void **state)
{
    (void)state;
    come(0, GPU("100"));
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_host_said JOIN host"
                                          " ON host.id = hostid WHERE hostid > 2"),
               1);
    test_sql(database, "RENAME TABLE qm_host_said TO away");
    come(1, GPU("100"));
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_host WHERE hostid = 1"), 0);
    assert_i64(test_sql_integer(database, "SELECT rpc_seqno FROM host WHERE id = 1"), 0);
    test_sql(database, "RENAME TABLE away TO qm_host_said");
    come(1, GPU("100"));
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_host_said WHERE hostid = 1"), 1);
}

static const char bare[] =
    "<scheduler_request>\n<authenticator>key</authenticator>\n<hostid>1</hostid>\n"
    "<rpc_seqno>9</rpc_seqno>\n<platform_name>x86_64-pc-linux-gnu</platform_name>\n"
    "</scheduler_request>\n";

static void a_request_that_describes_nothing_changes_nothing(void **state)
{
    (void)state;
    come(1, GPU("100"));
    (void)serving_send(&serving, text_from(bare), NOW + 5000, 1);
    assert_true(text_contains(kept_of(1), TEXT("<drvVersion>100</drvVersion>")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_has_changed_is_written, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_as_before_is_not, setup, teardown),
        cmocka_unit_test_setup_teardown(a_guard_row_that_is_made_for_it_is_one, setup, teardown),
        cmocka_unit_test_setup_teardown(it_is_kept_with_the_request_or_not_at_all, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_that_describes_nothing_changes_nothing, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
