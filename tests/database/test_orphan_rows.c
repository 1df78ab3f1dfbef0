/* SPDX-License-Identifier: Apache-2.0 */
/* Rows whose owners are gone: which are found, and what becomes of results. */
#include "db/admin.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

#define NOW 1800000000

static struct test_fixture *fixture;

static int setup(void **state)
{
    (void)test_fixture_open(state);
    fixture = *state;
    test_sql(fixture->database,
             "INSERT INTO user (id, email_addr, name, authenticator) VALUES (1, 'a', 'a', 'a')");
    return 0;
}

/* 1 has an owner, 2 lost it, 3 was merged into 1, 4 into one that is gone, 5 names itself; 6 to
 * 2005 have an owner, and 2006 has none. */
static void hosts_without_an_owner_are_found(void **state)
{
    static const int64_t wanted[] = {2, 4, 5, 2006};
    struct orphan_place place = {.id = 0};
    size_t found = 0;
    int looks = 0;

    (void)state;
    test_sql(fixture->database,
             "INSERT INTO host (id, userid, rpc_seqno) VALUES (1, 1, 9), (2, 99, 1), (3, 0, 1),"
             " (4, 0, 3000), (5, 0, 5);"
             "INSERT INTO host (id, userid) SELECT seq, 1 + (seq = 2006) FROM seq_6_to_2006");
    while (!place.is_done) {
        struct db_id_list hosts;

        assert_status(STATUS_OK,
                      db_admin_orphan_hosts(fixture->db, fixture->arena, &place, &hosts));
        for (size_t i = 0; i < hosts.count; i++)
            assert_i64(hosts.items[i], wanted[found++]);
        looks++;
    }
    assert_int_equal(found, 4);
    assert_int_equal(looks, 3);
}

static struct orphan_results sweep(bool is_rehearsed)
{
    struct orphan_results sums = {.looked_at = 0};
    struct orphan_place place = {.id = 0};

    while (!place.is_done) {
        struct orphan_results part;

        assert_status(STATUS_OK, db_admin_orphan_results(fixture->db, fixture->arena, is_rehearsed,
                                                         NOW, &place, &part));
        assert_status(STATUS_OK, db_commit(fixture->db));
        assert_true(part.looked_at <= ORPHANS_LOOKED_AT);
        sums.looked_at += part.looked_at;
        sums.without_workunit += part.without_workunit;
        sums.without_host += part.without_host;
    }
    return sums;
}

static int64_t count(const char *what)
{
    return test_sql_integer(fixture->database, "SELECT COUNT(*) FROM %s", what);
}

/* Of 1,500 results number 3 and 1400 have no workunit; the host of 5 (in progress), 6 (not judged),
 * 7 (valid) and 1400 is gone. */
static void results_without_job_or_host_end(void **state)
{
    struct orphan_results sums;

    (void)state;
    test_sql(
        fixture->database,
        "INSERT INTO host (id, userid) VALUES (1, 1);"
        "INSERT INTO workunit (id, name, transition_time) SELECT seq, seq, 2000000000"
        " FROM seq_1_to_1500;"
        "INSERT INTO result (id, name, workunitid, server_state, hostid, stderr_out) SELECT seq,"
        " seq, IF(seq IN (3, 1400), 9000 + seq, seq), 2 + 2 * (seq = 4), seq = 4, 'said'"
        " FROM seq_1_to_1500;"
        "UPDATE result SET hostid = 50 WHERE id IN (5, 6, 7, 1400);"
        "UPDATE result SET server_state = 4 WHERE id = 5;"
        "UPDATE result SET server_state = 5, outcome = 1, validate_state = id = 7"
        " WHERE id IN (6, 7)");
    sums = sweep(true);
    assert_i64((int64_t)sums.looked_at, 1500);
    assert_i64((int64_t)sums.without_workunit, 2);
    assert_i64((int64_t)sums.without_host, 3);
    assert_i64(count("result"), 1500);
    assert_i64(count("result WHERE hostid = 50"), 4);
    sums = sweep(false);
    assert_i64((int64_t)sums.without_workunit, 2);
    assert_i64((int64_t)sums.without_host, 3);
    assert_i64(count("result"), 1498);
    assert_i64(count("result WHERE id IN (3, 1400)"), 0);
    assert_i64(count("result WHERE hostid = 50"), 0);
    assert_i64(count("result WHERE id IN (5, 6) AND server_state = 5 AND outcome = 7"
                     " AND validate_state = 2 AND hostid = 0 AND stderr_out = ''"),
               2);
    assert_i64(count("result WHERE id = 7 AND outcome = 1 AND validate_state = 1"), 1);
    assert_i64(count("result WHERE id = 4 AND server_state = 4 AND hostid = 1"), 1);
    assert_i64(count("workunit WHERE transition_time = 1800000000 AND id IN (5, 6)"), 2);
    assert_i64(count("workunit WHERE transition_time = 1800000000"), 2);
    sums = sweep(false);
    assert_i64((int64_t)(sums.without_workunit + sums.without_host), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(hosts_without_an_owner_are_found),
        CASE(results_without_job_or_host_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
