/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of db/transaction_state.h, each walked by the function that it names, on a database.
 * That no other line can be walked is unit/test_transaction_state.c's. */
#include "tests/support/serving.h"

#include "db/db.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/mariadb_internal.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOW = SERVING_NOW };

static struct test_database *database;
static struct serving server;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    serving_add_hosts(database, 4);
    serving_add_jobs(database, &(struct new_jobs){.first = 1, .count = 20});
    test_sql(database, "INSERT INTO qm_host (hostid, rpcs, token, changed)"
                       " SELECT id, 0, 0, 0 FROM host;"
                       " UPDATE result SET server_state = 4, hostid = 2 WHERE id = 9");
    serving_open(&server, database);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    serving_close(&server);
    test_database_destroy(database);
    return 0;
}

/* --- steps ----------------------------------------------------------------------------------- */

static enum status reads(void)
{
    struct user_row user;
    struct text team;

    return db_user_by_id(server.db, server.arena, 1, &user, &team);
}

static enum status locks(void)
{
    struct host_row host;

    return db_host_lock(server.db, server.arena, 3, &host);
}

static enum status writes(void)
{
    const struct host_row host = {.id = 4, .rpc_seqno = 5};

    return db_host_save(server.db, &host);
}

/* Leaves waiting what is others'. */
static enum status writes_a_report(void)
{
    const struct result_report report = {
        .id = 9, .workunitid = 9, .hostid = 2, .received_time = NOW};
    bool is_booked;

    return db_reports_save(server.db, server.arena, &report, 1, NOW, &is_booked);
}

/* Of a job that is not there: the answer, which is read later, is an error. */
static enum status claims_what_is_gone(void)
{
    const struct claim claim = {
        .resultid = 777, .workunitid = 777, .sent_time = NOW, .report_deadline = NOW + 1};

    return db_results_claim(server.db, server.arena, 1, 1, &claim, 1);
}

static enum status waits_for_no_locks(void)
{
    return db_wait_for_locks(server.db, false);
}

static enum status begins(void)
{
    return db_begin(server.db);
}

static enum status begins_part(void)
{
    return db_part_begin(server.db);
}

static enum status ends_part(void)
{
    const struct host_row contact = {.id = 1, .rpc_seqno = 100, .rpc_time = NOW};

    return db_part_end(
        server.db,
        &(struct host_ending){
            .hostid = 1, .token = 1001, .now = NOW, .contact = &contact, .has_guard = true});
}

static enum status undoes_part(void)
{
    return db_part_undo(server.db);
}

static enum status saves(void)
{
    return db_savepoint(server.db);
}

static enum status goes_back(void)
{
    return db_rollback_to_savepoint(server.db);
}

static enum status commits(void)
{
    return db_commit(server.db);
}

static enum status commits_host(void)
{
    return db_host_commit(
        server.db, &(struct host_ending){.hostid = 3, .token = 1, .now = NOW, .has_guard = true});
}

static enum status rolls_back(void)
{
    return db_rollback(server.db);
}

static enum status ends(void)
{
    return db_end(server.db);
}

static enum status reopens(void)
{
    return db_reopen(server.db);
}

static enum status loses_transaction(void)
{
    return db_run_text(server.db, "ROLLBACK");
}

/* --- walks ----------------------------------------------------------------------------------- */

struct walk_step {
    enum status (*take)(void);
    const char *name;
    enum status status;
    enum transaction_done done;
    enum transaction_part part;
};
#define STEP(take, status, done, part)                                \
    {                                                                 \
        take, #take, STATUS_##status, TRANSACTION_##done, PART_##part \
    }

static void walk(const struct walk_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum status status = steps[i].take();

        if (status != steps[i].status || server.db->state.done != steps[i].done ||
            server.db->state.part != steps[i].part)
            fail_msg("step %zu, %s: %s, and is in state %d, part %d", i, steps[i].name,
                     status_word(status), server.db->state.done, server.db->state.part);
    }
}
#define WALK(steps) walk(steps, sizeof(steps) / sizeof((steps)[0]))

static void a_transaction_of_its_own(void **state)
{
    static const struct walk_step steps[] = {
        STEP(rolls_back, OK, IDLE, NONE),   STEP(ends, OK, IDLE, NONE),
        STEP(begins, OK, IDLE, NONE), /* there is no token */
        STEP(reads, OK, READING, NONE),     STEP(reads, OK, READING, NONE),
        STEP(commits, OK, IDLE, NONE),      STEP(reads, OK, READING, NONE),
        STEP(ends, OK, IDLE, NONE),         STEP(waits_for_no_locks, OK, READING, NONE),
        STEP(locks, OK, WRITING, NONE),     STEP(reads, OK, WRITING, NONE),
        STEP(commits, OK, IDLE, NONE),      STEP(writes, OK, WRITING, NONE),
        STEP(saves, OK, WRITING, NONE),     STEP(writes, OK, WRITING, NONE),
        STEP(goes_back, OK, WRITING, NONE), STEP(commits_host, OK, IDLE, NONE),
        STEP(locks, OK, WRITING, NONE),     STEP(rolls_back, OK, IDLE, NONE),
        STEP(locks, OK, WRITING, NONE),     STEP(reopens, OK, IDLE, NONE),
        STEP(reads, OK, READING, NONE),     STEP(reopens, OK, IDLE, NONE),
    };

    (void)state;
    WALK(steps);
}

static void one_that_begins_with_a_token(void **state)
{
    static const struct walk_step steps[] = {
        STEP(begins, OK, WRITING, NONE),
        STEP(rolls_back, OK, IDLE, NONE),
        STEP(reads, OK, READING, NONE),
        STEP(locks, OK, WRITING, NONE),
        STEP(commits, OK, IDLE, NONE),
        STEP(locks, OK, WRITING, NONE),
        STEP(loses_transaction, OK, WRITING, NONE),
        STEP(writes, OK, WRITING, NONE),
        STEP(commits, DB_RETRY, SPOILED, NONE),
        STEP(commits, DB_RETRY, SPOILED, NONE),
        STEP(reads, OK, SPOILED, NONE),
        STEP(rolls_back, OK, IDLE, NONE),
    };

    (void)state;
    db_keep_token(server.db);
    WALK(steps);
}

static void what_was_sent_ahead_fails(void **state)
{
    static const struct walk_step steps[] = {
        STEP(claims_what_is_gone, OK, WRITING, NONE),
        STEP(commits, DB_RETRY, SPOILED, NONE),
        STEP(writes, OK, SPOILED, NONE),
        STEP(commits, DB_RETRY, SPOILED, NONE),
        STEP(ends, OK, IDLE, NONE),
        STEP(waits_for_no_locks, OK, READING, NONE),
        STEP(reopens, OK, IDLE, NONE), /* which sends ahead again */
        STEP(claims_what_is_gone, OK, WRITING, NONE),
        STEP(reopens, OK, IDLE, NONE),
    };

    (void)state;
    WALK(steps);
}

static void parts(void **state)
{
    static const struct walk_step steps[] = {
        STEP(undoes_part, DB_RETRY, IDLE, NONE), /* there is none */
        STEP(waits_for_no_locks, OK, READING, NONE),
        STEP(begins_part, OK, READING, BEGUN),
        STEP(begins_part, OK, READING, BEGUN),
        STEP(saves, OK, READING, BEGUN),
        STEP(reads, OK, READING, BEGUN),
        STEP(goes_back, OK, READING, BEGUN),
        STEP(locks, OK, WRITING, BEGUN),
        STEP(undoes_part, OK, WRITING, ENDED),
        STEP(undoes_part, DB_RETRY, WRITING, ENDED),
        STEP(begins_part, OK, WRITING, BEGUN),
        STEP(ends_part, OK, WRITING, ENDED), /* what it writes waits */
        STEP(begins_part, OK, WRITING, BEGUN),
        STEP(writes, OK, WRITING, MARKED), /* the other's in front of the savepoint */
        STEP(goes_back, OK, WRITING, MARKED),
        STEP(saves, OK, WRITING, SAVED),
        STEP(saves, OK, WRITING, SAVED),
        STEP(writes, OK, WRITING, SAVED),
        STEP(goes_back, OK, WRITING, SAVED),
        STEP(undoes_part, OK, WRITING, ENDED),
        STEP(begins_part, OK, WRITING, BEGUN),
        STEP(writes, OK, WRITING, MARKED),
        STEP(undoes_part, OK, WRITING, ENDED),
        STEP(begins_part, OK, WRITING, BEGUN),
        STEP(writes, OK, WRITING, MARKED),
        STEP(saves, OK, WRITING, SAVED),
        STEP(ends_part, OK, WRITING, ENDED),
        STEP(begins_part, OK, WRITING, BEGUN),
        STEP(writes, OK, WRITING, MARKED),
        STEP(ends_part, OK, WRITING, ENDED),
        STEP(commits, OK, IDLE, NONE),
    };

    (void)state;
    WALK(steps);
    assert_i64(test_sql_integer(database, "SELECT token FROM qm_host WHERE hostid = 1"), 1001);
}

static void a_part_that_is_mixed(void **state)
{
    static const struct walk_step to_mixed[] = {
        STEP(begins_part, OK, READING, BEGUN), STEP(ends_part, OK, READING, ENDED),
        STEP(begins_part, OK, READING, BEGUN), STEP(writes_a_report, OK, WRITING, MARKED),
        STEP(writes, OK, WRITING, MIXED),
    };
    static const struct walk_step to_mixed_behind_savepoint[] = {
        STEP(begins_part, OK, READING, BEGUN), STEP(ends_part, OK, READING, ENDED),
        STEP(begins_part, OK, READING, BEGUN), STEP(writes_a_report, OK, WRITING, MARKED),
        STEP(saves, OK, WRITING, SAVED),       STEP(writes, OK, WRITING, MIXED),
        STEP(saves, OK, WRITING, MIXED),
    };
    static const struct walk_step is_undone[] = {
        STEP(undoes_part, DB_RETRY, SPOILED, ENDED),
        STEP(commits, DB_RETRY, SPOILED, ENDED),
        STEP(rolls_back, OK, IDLE, NONE),
    };
    static const struct walk_step goes[] = {
        STEP(goes_back, DB_RETRY, SPOILED, MIXED),
        STEP(rolls_back, OK, IDLE, NONE),
    };
    static const struct walk_step stays[] = {
        STEP(ends_part, OK, WRITING, ENDED),
        STEP(commits, OK, IDLE, NONE),
    };

    (void)state;
    assert_status(STATUS_OK, waits_for_no_locks());
    assert_status(STATUS_OK, rolls_back());
    WALK(to_mixed);
    WALK(is_undone);
    WALK(to_mixed_behind_savepoint);
    WALK(goes);
    WALK(to_mixed);
    WALK(stays);
}

/* The part that has not written goes back to nothing, if its transaction is still there. */
static void a_trace_that_is_gone(void **state)
{
    static const struct walk_step steps[] = {
        STEP(waits_for_no_locks, OK, READING, NONE),
        STEP(begins_part, OK, READING, BEGUN),
        STEP(locks, OK, WRITING, BEGUN),
        STEP(loses_transaction, OK, WRITING, BEGUN),
        STEP(undoes_part, DB_RETRY, SPOILED, ENDED),
        STEP(begins_part, OK, SPOILED, BEGUN),
        STEP(rolls_back, OK, IDLE, NONE),
    };

    (void)state;
    WALK(steps);
}

/* --- what is refused ------------------------------------------------------------------------- */

/* What is not drawn ends the process, before anything is sent. */
static void a_part_that_wrote_and_did_not_end_lets_none_begin(void **state)
{
    static const struct walk_step steps[] = {
        STEP(waits_for_no_locks, OK, READING, NONE),
        STEP(begins_part, OK, READING, BEGUN),
        STEP(writes, OK, WRITING, MARKED),
    };
    pid_t child;
    int how;

    (void)state;
    WALK(steps);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        mariadb_move(server.db, PART_BEGINS);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT);
    assert_status(STATUS_OK, db_rollback(server.db));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_transaction_of_its_own),
        CASE(one_that_begins_with_a_token),
        CASE(what_was_sent_ahead_fails),
        CASE(parts),
        CASE(a_part_that_is_mixed),
        CASE(a_trace_that_is_gone),
        CASE(a_part_that_wrote_and_did_not_end_lets_none_begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
