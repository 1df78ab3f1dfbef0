/* SPDX-License-Identifier: Apache-2.0 */
/* Leases: one is there for as long as it is renewed, and what its pass finds due leaves it out.
 * That whole passes go by them is shown by integration/leases.sh. */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/admin.h"
#include "db/assimilation.h"
#include "db/file_deletion.h"
#include "db/lease.h"
#include "db/mariadb.h"
#include "db/purge.h"
#include "db/validation.h"

#include "server/base/banned.h"

enum { NOW = 1800000000 };

static void take(struct test_fixture *fixture, const struct lease_key *key, int64_t first,
                 int64_t last)
{
    assert_status(STATUS_OK, db_lease_turn(fixture->db, key));
    assert_status(STATUS_OK, db_lease_add(fixture->db, key, first, last));
    assert_status(STATUS_OK, db_commit(fixture->db));
}

static bool is_valid(struct test_fixture *fixture, const struct lease_key *key)
{
    bool is = false;

    assert_status(STATUS_OK, db_lease_renew(fixture->db, key, &is));
    assert_status(STATUS_OK, db_commit(fixture->db));
    return is;
}

static bool exists(struct test_fixture *fixture, const struct lease_key *key)
{
    bool does = false;

    assert_status(STATUS_OK, db_lease_exists(fixture->db, key, &does));
    return does;
}

static void a_lease_lasts_while_it_is_renewed(void **state)
{
    struct test_fixture *fixture = *state;
    const struct lease_key key = {TEXT("validation"), 1, 77}, other = {TEXT("validation"), 1, 78};
    const struct lease_key elsewhere = {TEXT("validation"), 2, 77};

    assert_false(exists(fixture, &key));
    take(fixture, &key, 5, 9);
    assert_true(exists(fixture, &other)); /* whoever asks */
    assert_false(exists(fixture, &elsewhere));
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT valid_until - UNIX_TIMESTAMP() >= %d - 5"
                                " AND valid_until - UNIX_TIMESTAMP() <= %d"
                                " FROM qm_lease WHERE token = 77",
                                DB_LEASE_SECONDS, DB_LEASE_SECONDS),
               1);
    assert_true(is_valid(fixture, &key));
    assert_false(is_valid(fixture, &other));
    assert_false(is_valid(fixture, &elsewhere));
    test_sql(fixture->database, "UPDATE qm_lease SET valid_until = UNIX_TIMESTAMP() + 1"
                                " WHERE token = 77");
    assert_true(is_valid(fixture, &key)); /* at the last moment */
    test_sql(fixture->database, "UPDATE qm_lease SET valid_until = UNIX_TIMESTAMP()"
                                " WHERE token = 77");
    assert_false(is_valid(fixture, &key));
    assert_false(is_valid(fixture, &key)); /* nor was it renewed by asking */
    assert_false(exists(fixture, &key));
    test_sql(fixture->database, "UPDATE qm_lease SET valid_until = UNIX_TIMESTAMP() + 7200"
                                " WHERE token = 77");
    assert_false(exists(fixture, &key)); /* the clock was set back */
    assert_false(is_valid(fixture, &key));
}

/* The nodes of a cluster have a clock each; a clock that was set back is farther away. */
static void a_lease_is_seen_where_the_clock_differs(void **state)
{
    static const struct {
        int left; /* s, by the clock of who looks */
        bool is_seen;
    } cases[] = {{0, false},
                 {1, true},
                 {DB_LEASE_SECONDS, true},
                 {2 * DB_LEASE_SECONDS, true},
                 {2 * DB_LEASE_SECONDS + 1, false}};
    struct test_fixture *fixture = *state;
    const struct lease_key key = {TEXT("purge"), 0, 1};

    take(fixture, &key, 1, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char sql[160];

        (void)snprintf(sql, sizeof(sql),
                       "SET SESSION timestamp = (SELECT valid_until FROM qm_lease WHERE token = 1)"
                       " - %d",
                       cases[i].left);
        assert_status(STATUS_OK, db_run_text(fixture->db, sql));
        assert_int_equal(exists(fixture, &key), cases[i].is_seen);
    }
}

static void taking_gives_back_what_was_held_and_what_is_nobodys(void **state)
{
    struct test_fixture *fixture = *state;
    const struct lease_key keys[] = {{TEXT("purge"), 0, 1},
                                     {TEXT("purge"), 0, 2},
                                     {TEXT("purge"), 0, 3},
                                     {TEXT("outputs"), 0, 2}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        take(fixture, &keys[i], 1, 2);
    test_sql(fixture->database, "UPDATE qm_lease SET valid_until = 1 WHERE token = 2");
    assert_status(STATUS_OK, db_lease_turn(fixture->db, &keys[0]));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_text(test_sql_text(fixture->database,
                              "SELECT GROUP_CONCAT(pass, token ORDER BY pass, token)"
                              " FROM qm_lease WHERE token <> 0"),
                "outputs2,purge3");
    assert_status(STATUS_OK, db_lease_release(fixture->db, &keys[2]));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_false(exists(fixture, &keys[2]));
}

/* Two who take at once: the second waits until the first has committed, and sees what it took. */
static void who_takes_waits_for_the_other(void **state)
{
    struct test_fixture *fixture = *state;
    const struct lease_key first = {TEXT("purge"), 0, 1}, second = {TEXT("purge"), 0, 2};
    struct db *other;

    take(fixture, &first, 1, 2);
    assert_status(STATUS_OK, db_admin_open(test_database_config(fixture->database), &other, NULL));
    assert_status(STATUS_OK, db_lease_turn(fixture->db, &first));
    assert_status(STATUS_OK, db_run_text(other, "SET SESSION innodb_lock_wait_timeout = 1"));
    assert_status(STATUS_DB_RETRY, db_lease_turn(other, &second));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_status(STATUS_OK, db_rollback(other));
    assert_status(STATUS_OK, db_lease_turn(other, &second));
    assert_status(STATUS_OK, db_rollback(other));
    db_close(other);
}

/* --- what is due ------------------------------------------------------------------------------ */

static enum status due_transitions(struct test_fixture *fixture, int64_t *ids, size_t *count)
{
    struct due_place place = {.id = 0};

    return db_admin_due(fixture->db, NOW, &place, ids, 9, count);
}
static enum status due_validations(struct test_fixture *fixture, int64_t *ids, size_t *count)
{
    return db_validation_due(fixture->db, 1, 0, ids, 9, count);
}
static enum status due_assimilations(struct test_fixture *fixture, int64_t *ids, size_t *count)
{
    return db_assimilation_due(fixture->db, 1, 0, ids, 9, count);
}
static enum status due_outputs(struct test_fixture *fixture, int64_t *ids, size_t *count)
{
    struct deletable_row *rows;
    enum status status =
        db_deletion_results(fixture->db, fixture->arena, FILE_DELETE_READY, 0, &rows, count);

    for (size_t i = 0; status == STATUS_OK && i < *count; i++)
        ids[i] = rows[i].id;
    return status;
}
static enum status due_purges(struct test_fixture *fixture, int64_t *ids, size_t *count)
{
    const struct purge_filter filter = {.before = NOW};

    return db_purge_due(fixture->db, &filter, 0, ids, 9, count);
}

static void what_is_due_leaves_out_what_is_somebodys(void **state)
{
    static const struct {
        enum status (*find)(struct test_fixture *fixture, int64_t *ids, size_t *count);
        const char *pass;
        int64_t appid;
    } passes[] = {{due_transitions, "transition", 0},
                  {due_validations, "validation", 1},
                  {due_assimilations, "assimilation", 1},
                  {due_outputs, "outputs", 0},
                  {due_purges, "purge", 0}};
    struct test_fixture *fixture = *state;
    int64_t ids[DB_DELETION_MOST];
    size_t count;

    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, appid, need_validate, assimilate_state,"
             " file_delete_state, transition_time, mod_time) SELECT seq, seq, 1, 1, 1, 2, 5,"
             " FROM_UNIXTIME(1000) FROM seq_1_to_5;"
             "INSERT INTO result (id, name, workunitid, server_state, file_delete_state)"
             " SELECT seq, seq, 9, 5, 1 FROM seq_1_to_5");
    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
        const struct lease_key key = {text_from(passes[i].pass), passes[i].appid, 7};

        if (passes[i].find == due_purges)
            test_sql(fixture->database, "UPDATE workunit SET error_mask = 16,"
                                        " assimilate_state = 2, mod_time = mod_time");
        assert_status(STATUS_OK, passes[i].find(fixture, ids, &count));
        assert_int_equal(count, 5);
        take(fixture, &key, 2, 4);
        assert_status(STATUS_OK, passes[i].find(fixture, ids, &count));
        assert_int_equal(count, 2);
        assert_i64(ids[0], 1);
        assert_i64(ids[1], 5);
        test_sql(fixture->database, "UPDATE qm_lease SET valid_until = UNIX_TIMESTAMP()");
        assert_status(STATUS_OK, passes[i].find(fixture, ids, &count));
        assert_int_equal(count, 5);
        test_sql(fixture->database,
                 "UPDATE qm_lease SET valid_until = UNIX_TIMESTAMP() + 60,"
                 " pass = 'another', token = %d WHERE token = 7",
                 100 + (int)i);
        assert_status(STATUS_OK, passes[i].find(fixture, ids, &count));
        assert_int_equal(count, 5);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, test_fixture_open, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(a_lease_lasts_while_it_is_renewed),
        CASE(a_lease_is_seen_where_the_clock_differs),
        CASE(taking_gives_back_what_was_held_and_what_is_nobodys),
        CASE(who_takes_waits_for_the_other),
        CASE(what_is_due_leaves_out_what_is_somebodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
