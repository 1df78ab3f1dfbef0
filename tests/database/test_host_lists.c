/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts in the orders that an administrator asks for, and what a ban and a reset write. */
#include "db/host_lists.h"

#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

#define NOW 1800000000

static struct test_fixture *fixture;

/* Host 1 has not been measured and asked last; 2 is banned and fails; 3 has jobs and a version for
 * platform 2; 4 has lost its owner; 5 was merged into 1; 6 failed long ago. */
static int setup(void **state)
{
    (void)test_fixture_open(state);
    fixture = *state;
    test_sql(
        fixture->database,
        "INSERT INTO platform (id, name) VALUES (101, 'one'), (102, 'two');"
        "INSERT INTO app_version (id, version_num, platformid) VALUES (11, 1, 101), (12, 1, 102),"
        " (13, 2, 102);"
        "INSERT INTO user (id, email_addr, name, authenticator) VALUES (7, 'a@x', 'a', 'a'),"
        " (8, 'b@x', 'b', 'b');"
        "INSERT INTO host (id, userid, rpc_time, p_fpops, max_results_day) VALUES"
        " (1, 7, 1799999999, 1e9, 0), (2, 8, 1799000000, 3e9, -1), (3, 7, 1798000000, 2e9, 0),"
        " (4, 99, 1790000000, 4e9, 0), (5, 0, 1799999999, 9e9, 0), (6, 8, 1700000000, 5e8, 0);"
        "INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day, n_jobs_today,"
        " consecutive_valid) VALUES (1, 11, 3, 2, 5), (3, 12, 1, 1, 0), (3, 13, 4, 4, 4),"
        " (3, 11, 1, 1, 0);"
        "INSERT INTO qm_host_fate VALUES (1, 10, 1, 1800000000), (2, 8, 8, 1800000000),"
        " (6, 6.4e7, 6.4e7, 1798617600);"
        "INSERT INTO result (id, name, hostid, server_state) VALUES (1, '1', 3, 4), (2, '2', 3, 4),"
        " (3, '3', 3, 5), (4, '4', 1, 4)");
    return 0;
}

static size_t list(const struct host_filter *filter, struct host_line_row **ret_rows)
{
    struct host_filter now = *filter;
    size_t count;

    now.now = NOW;
    now.most = now.most != 0 ? now.most : 100;
    assert_status(STATUS_OK, db_host_list(fixture->db, fixture->arena, &now, ret_rows, &count));
    return count;
}

static void hosts_come_in_the_order_and_by_the_filter(void **state)
{
    static const struct {
        struct host_filter filter;
        int64_t wanted[6]; /* ids */
    } cases[] = {
        {{.order = HOST_ORDER_NEWEST}, {6, 4, 3, 2, 1}},
        {{.order = HOST_ORDER_NEWEST, .most = 2}, {6, 4}},
        {{.order = HOST_ORDER_CONTACT}, {1, 2, 3, 4, 6}},
        {{.order = HOST_ORDER_CONTACT, .most = 2}, {1, 2}},
        {{.order = HOST_ORDER_FAILURES}, {6, 2, 1, 4, 3}},
        {{.order = HOST_ORDER_JOBS}, {3, 1, 6, 4, 2}},
        {{.order = HOST_ORDER_SPEED}, {4, 2, 3, 6, 1}},
        {{.order = HOST_ORDER_NEWEST, .userid = 7}, {3, 1}},
        {{.order = HOST_ORDER_SPEED, .userid = 8}, {2, 6}},
        {{.order = HOST_ORDER_NEWEST, .platformid = 101}, {3, 1}},
        {{.order = HOST_ORDER_CONTACT, .platformid = 102}, {3}},
        {{.order = HOST_ORDER_NEWEST, .platformid = 103}, {0}},
        {{.order = HOST_ORDER_NEWEST, .is_banned = true}, {2}},
        {{.order = HOST_ORDER_CONTACT, .is_banned = true, .userid = 7}, {0}},
        {{.order = HOST_ORDER_NEWEST, .is_ownerless = true}, {4}},
        {{.order = HOST_ORDER_NEWEST, .since = 1798000000}, {3, 2, 1}},
        {{.order = HOST_ORDER_CONTACT, .before = 1798000000}, {4, 6}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct host_line_row *rows;
        size_t count = list(&cases[i].filter, &rows), wanted = 0;

        while (wanted < 6 && cases[i].wanted[wanted] != 0)
            wanted++;
        assert_int_equal(count, wanted);
        for (size_t k = 0; k < count; k++)
            assert_i64(rows[k].id, cases[i].wanted[k]);
    }
}

static void a_line_says_what_is_known(void **state)
{
    struct host_line_row *rows;

    (void)state;
    assert_int_equal(list(&(struct host_filter){.order = HOST_ORDER_NEWEST}, &rows), 5);
    assert_text(rows[2].platforms, "one two");
    assert_text(rows[2].email_addr, "a@x");
    assert_i64(rows[2].in_progress, 2);
    assert_i64(rows[1].has_owner, 0);
    assert_i64(rows[3].max_results_day, HOST_BANNED);
    assert_true(rows[3].ended == 8 && rows[3].failed == 8);
    assert_true(rows[0].failed > 6e6 && rows[0].failed < 7e6); /* sixteen days ago: 2^-3.2 */
}

static void a_ban_is_one_number(void **state)
{
    bool was = true;

    (void)state;
    assert_status(STATUS_OK, db_host_ban(fixture->db, 1, true, &was));
    assert_false(was);
    assert_status(STATUS_OK, db_host_ban(fixture->db, 1, true, &was));
    assert_true(was);
    assert_status(STATUS_OK, db_host_ban(fixture->db, 2, false, &was));
    assert_true(was);
    assert_status(STATUS_NOT_FOUND, db_host_ban(fixture->db, 77, true, &was));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT GROUP_CONCAT(id) FROM host WHERE max_results_day = -1"),
               1);
    /* A number that somebody else put there is no ban, and stays. */
    test_sql(fixture->database, "UPDATE host SET max_results_day = 5 WHERE id = 3");
    assert_status(STATUS_OK, db_host_ban(fixture->db, 3, false, &was));
    assert_false(was);
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_i64(test_sql_integer(fixture->database, "SELECT max_results_day FROM host WHERE id = 3"),
               5);
}

static void what_failures_did_is_forgotten(void **state)
{
    uint64_t versions = 0;

    (void)state;
    test_sql(fixture->database, "INSERT INTO qm_host_fate VALUES (3, 5, 5, 1800000000)");
    assert_status(STATUS_OK, db_host_clear(fixture->db, 3, &versions));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_int_equal(versions, 3);
    assert_i64(test_sql_integer(fixture->database, "SELECT COUNT(*) FROM host_app_version WHERE"
                                                   " max_jobs_per_day = 0 AND n_jobs_today = 0"),
               3);
    assert_i64(test_sql_integer(fixture->database, "SELECT consecutive_valid FROM host_app_version"
                                                   " WHERE host_id = 3 AND app_version_id = 13"),
               4);
    assert_i64(
        test_sql_integer(fixture->database, "SELECT COUNT(*) FROM qm_host_fate WHERE hostid = 3"),
        0);
    assert_i64(test_sql_integer(fixture->database, "SELECT COUNT(*) FROM qm_host_fate"), 3);
    assert_status(STATUS_NOT_FOUND, db_host_clear(fixture->db, 77, &versions));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(hosts_come_in_the_order_and_by_the_filter),
        CASE(a_line_says_what_is_known),
        CASE(a_ban_is_one_number),
        CASE(what_failures_did_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
