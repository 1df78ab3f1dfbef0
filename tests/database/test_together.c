/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that share a transaction (server/request/together.h), on a real database: that one
 * COMMIT keeps them, that whatever goes wrong with one of them costs the others nothing, and that
 * what comes of any number of them is what comes of the same requests one after the other. */
#include "server/request/together.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/base/random.h"
#include "server/pool/pool.h"
#include "tests/support/database.h"
#include "tests/support/pool_server.h"
#include "tests/support/serving.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

enum { NOW = SERVING_NOW, HOSTS = 6, JOBS = 60, OF_HOST = 10 };

static struct test_database *database;
static struct serving server, neighbour;

/* A request on its way. */
struct visitor {
    struct arena *arena;
    struct request request;
    struct buffer reply;
    enum outcome outcome;
};
static struct visitor visitors[TOGETHER_MOST + 1];
static size_t visitor_count;

static bool always(void *context)
{
    (void)context;
    return true;
}

static struct together group, other_group;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    for (size_t i = 0; i < TOGETHER_MOST + 1; i++)
        visitors[i] = (struct visitor){.arena = arena_create((size_t)1 << 26),
                                       .reply = buffer_on_heap((size_t)1 << 24)};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < TOGETHER_MOST + 1; i++) {
        arena_destroy(visitors[i].arena);
        buffer_free(&visitors[i].reply);
    }
    test_database_destroy(database);
    return 0;
}

static void make_hosts(void)
{
    test_database_clear(database);
    serving_add_hosts(database, HOSTS);
    test_sql(database, "INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day)"
                       " SELECT id, 11, 100 FROM host");
}

/* Jobs for all, and hosts that the server knows: they have a guard row, and say nothing new. */
static void make_rows(void)
{
    make_hosts();
    for (int host = 1; host <= HOSTS; host++)
        (void)serving_ask(&neighbour, &(struct asking){.host = host}, NOW - 1000, 1);
    serving_add_jobs(database, &(struct new_jobs){.first = 1, .count = JOBS});
}

static int begin_case(void **state)
{
    (void)state;
    make_hosts();
    serving_open(&server, database);
    serving_open(&neighbour, database);
    make_rows();
    group = other_group = (struct together){.others_wait = always};
    visitor_count = 0;
    return 0;
}

static int end_case(void **state)
{
    (void)state;
    serving_close(&neighbour);
    serving_close(&server);
    return 0;
}

static struct visitor *come(struct serving *at, const struct asking *asking)
{
    struct visitor *visitor = &visitors[visitor_count++];

    arena_reset(visitor->arena);
    visitor->reply.length = 0;
    serving_prepare(at, visitor->arena, asking, NOW, 100 + visitor_count, &visitor->request);
    assert_true(request_begin(&visitor->request));
    return visitor;
}

/* One host asks for a job. */
static struct visitor *ask(struct serving *at, int host)
{
    return come(at, &(struct asking){.host = host, .work_seconds = 1});
}

static enum outcome add(struct together *to, struct visitor *visitor)
{
    return together_add(to, &visitor->request);
}

/* Commits, and answers each. */
static enum outcome finish(struct together *to)
{
    enum outcome all = together_commit(to);

    for (size_t i = 0; i < to->count; i++)
        for (size_t j = 0; j < visitor_count; j++)
            if (to->members[i] == &visitors[j].request) {
                visitors[j].outcome = together_outcome(to, i, all);
                request_end(&visitors[j].request, visitors[j].outcome, &visitors[j].reply);
            }
    to->count = 0;
    to->is_lost = false;
    return all;
}

/* Behind the others, alone. */
static void run_alone(struct visitor *visitor)
{
    visitor->outcome = request_transact(&visitor->request, NULL);
    request_end(&visitor->request, visitor->outcome, &visitor->reply);
}

static int64_t jobs_of(int host)
{
    return test_sql_integer(database,
                            "SELECT COUNT(*) FROM result WHERE id <= %d AND server_state = 4"
                            " AND hostid = %d",
                            JOBS, host);
}

static void assert_got_a_job(const struct visitor *visitor)
{
    assert_int_equal(visitor->outcome, OUTCOME_COMMITTED);
    assert_int_equal(visitor->request.visit.jobs_sent, 1);
    assert_true(text_contains(buffer_text(&visitor->reply), TEXT("<wu_name>w_")));
    assert_i64(jobs_of((int)visitor->request.visit.host.id), 1);
    assert_i64(test_sql_integer(database, "SELECT token FROM qm_host WHERE hostid = %lld",
                                (long long)visitor->request.visit.host.id),
               (int64_t)visitor->request.token);
}

static void one_commit_keeps_all(void **state)
{
    uint64_t commits = 0, trips = 0, before = counter_value(COUNTER_requests_together);
    struct db_count alone;

    (void)state;
    for (int turn = 0; turn < 2; turn++)
        (void)serving_ask(&server, &(struct asking){.host = 5, .work_seconds = 1}, NOW, 1);
    alone = server.request.counted;
    for (int turn = 0; turn < 2; turn++) { /* statements are prepared in the first */
        make_rows();
        visitor_count = 0;
        for (int host = 1; host <= 4; host++)
            assert_int_equal(add(&group, ask(&server, host)), OUTCOME_JOINED);
        for (int host = 1; host <= 4; host++)
            assert_i64(jobs_of(host), 0);
        assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_got_a_job(&visitors[i]);
        assert_int_equal(visitors[i].request.together, 4);
        commits += visitors[i].request.counted.commits;
        trips += visitors[i].request.counted.round_trips;
    }
    assert_int_equal(commits, 1);
    assert_in_range(trips, 1, 4 * (alone.round_trips - 2) + 2); /* writing and COMMIT are shared */
    /* No COMMIT; and the savepoint of its part is that of its choice of jobs. */
    assert_int_equal(visitors[1].request.counted.statements, alone.statements - 1);
    assert_int_equal(counter_value(COUNTER_requests_together), before + 8);
}

/* How long the database says that transactions waited for locks, in s. */
static double waited(void)
{
    return test_sql_real(database, "SELECT VARIABLE_VALUE / 1000 FROM"
                                   " information_schema.GLOBAL_STATUS"
                                   " WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_TIME'");
}

/* It does not wait, the others are committed at once, and then it waits as anybody does. */
static void a_guest_that_meets_a_locked_row_is_tried_alone(void **state)
{
    struct visitor *first = ask(&server, 1), *guest;
    struct host_row row;
    double before = waited();

    (void)state;
    assert_status(STATUS_OK, db_host_lock(neighbour.db, neighbour.arena, 2, &row));
    assert_int_equal(add(&group, first), OUTCOME_JOINED);
    guest = ask(&server, 2);
    assert_int_equal(add(&group, guest), OUTCOME_AGAIN);
    assert_false(group.is_lost);

    assert_true(waited() - before < 1); /* or it would be 2 */
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_got_a_job(first);
    assert_int_equal(first->request.attempts, 1);
    assert_int_equal(first->request.together, 1);
    assert_status(STATUS_OK, db_rollback(neighbour.db));
    run_alone(guest);
    assert_got_a_job(guest);
    assert_int_equal(guest->request.attempts, 2);
}

/* Each has what the other's guest wants. */
static void two_that_want_each_others_hosts_do_not_wait(void **state)
{
    struct visitor *here[2], *there[2];
    double before = waited();

    (void)state;
    here[0] = ask(&server, 1);
    assert_int_equal(add(&group, here[0]), OUTCOME_JOINED);
    there[0] = ask(&neighbour, 2);
    assert_int_equal(add(&other_group, there[0]), OUTCOME_JOINED);
    here[1] = ask(&server, 2);
    assert_int_equal(add(&group, here[1]), OUTCOME_AGAIN);
    there[1] = ask(&neighbour, 1);
    assert_int_equal(add(&other_group, there[1]), OUTCOME_AGAIN);

    assert_true(waited() - before < 1); /* or it would be 2 */
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_int_equal(finish(&other_group), OUTCOME_COMMITTED);
    run_alone(here[1]);
    run_alone(there[1]);
    for (int host = 1; host <= 2;
         host++) /* the second visit of each lists no job: it is sent again */
        assert_i64(jobs_of(host), 1);
    assert_int_equal(here[1]->request.visit.resent + there[1]->request.visit.resent, 2);
}

/* The first one waits for no lock either, as it may have guests; tried again, it does. */
static void the_first_waits_for_a_lock_only_when_tried_again(void **state)
{
    double before = waited();
    struct host_row row;

    (void)state;
    assert_status(STATUS_OK, db_host_lock(neighbour.db, neighbour.arena, 1, &row));
    server.config->request_tries = 1;
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_LATER);
    assert_true(waited() - before < 1);
    server.config->request_tries = 2;
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_LATER);
    assert_true(waited() - before >= 1);
    assert_status(STATUS_OK, db_rollback(neighbour.db));
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    server.config->request_tries = 8;
}

static int64_t token_of(int host)
{
    return test_sql_integer(database, "SELECT token FROM qm_host WHERE hostid = %d", host);
}

/* The savepoint of a part serves for one within it, but only while the part has written nothing. */
static void a_part_keeps_what_it_wrote_before_its_savepoint(void **state)
{
    struct db *db = server.db;

    (void)state;
    assert_status(STATUS_OK, db_host_guard(db, 1, 71, NOW));
    assert_status(STATUS_OK, db_wait_for_locks(db, false));
    assert_status(STATUS_OK, db_part_begin(db));
    assert_status(STATUS_OK, db_savepoint(db));
    assert_status(STATUS_OK, db_host_guard(db, 2, 72, NOW));
    assert_status(STATUS_OK, db_rollback_to_savepoint(db));
    assert_status(STATUS_OK, db_host_guard(db, 3, 73, NOW));
    assert_status(STATUS_OK, db_savepoint(db));
    assert_status(STATUS_OK, db_host_guard(db, 4, 74, NOW));
    assert_status(STATUS_OK, db_rollback_to_savepoint(db));
    assert_status(STATUS_OK, db_commit(db));
    assert_i64(token_of(1), 71);
    assert_true(token_of(2) != 72);
    assert_i64(token_of(3), 73);
    assert_true(token_of(4) != 74);
}

static void a_refused_guest_is_answered_with_the_others(void **state)
{
    struct visitor *first = ask(&server, 1), *guest, *last;

    (void)state;
    assert_int_equal(add(&group, first), OUTCOME_JOINED);
    guest = come(&server, &(struct asking){.key = "nobody"});
    assert_int_equal(add(&group, guest), OUTCOME_JOINED);
    last = ask(&server, 3);
    assert_int_equal(add(&group, last), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_int_equal(guest->outcome, OUTCOME_REPLY);
    assert_true(text_contains(buffer_text(&guest->reply), TEXT("does not know the account key")));
    assert_got_a_job(first);
    assert_got_a_job(last);
}

/* Who names a host with a key that is not its owner's keeps nobody from it, nor from a COMMIT. */
static void a_wrong_key_for_a_host_is_tried_alone(void **state)
{
    struct visitor *first = ask(&server, 1), *guest;

    (void)state;
    assert_int_equal(add(&group, first), OUTCOME_JOINED);
    guest = come(&server, &(struct asking){.host = 2, .key = "nobody"});
    assert_int_equal(add(&group, guest), OUTCOME_AGAIN);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_got_a_job(first);
    run_alone(guest);
    assert_int_equal(guest->outcome, OUTCOME_REPLY);
}

static void a_new_host_joins(void **state)
{
    struct visitor *first = ask(&server, 1), *guest;

    (void)state;
    assert_int_equal(add(&group, first), OUTCOME_JOINED);
    guest = come(&server, &(struct asking){.work_seconds = 1});
    assert_int_equal(add(&group, guest), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_got_a_job(first);
    assert_got_a_job(guest);
    assert_true(guest->request.visit.host_is_new);
}

/* Nothing was kept, so each gets its job alone. */
static void assert_each_alone(void)
{
    uint64_t before = counter_value(COUNTER_transactions_split);

    assert_int_equal(finish(&group), OUTCOME_AGAIN);
    assert_int_equal(counter_value(COUNTER_transactions_split), before + 1);
    for (size_t i = 0; i < visitor_count; i++) {
        assert_got_a_job(&visitors[i]);
        assert_int_equal(visitors[i].request.together, 0);
        assert_true(visitors[i].request.attempts >= 2);
        assert_i64(test_sql_integer(database, "SELECT rpcs FROM qm_host WHERE hostid = %zu", i + 1),
                   2);
    }
}

static void three_join(void)
{
    for (int host = 1; host <= 3; host++)
        assert_int_equal(add(&group, ask(&server, host)), OUTCOME_JOINED);
}

static void kill_the_connection(const struct serving *which)
{
    int64_t id = test_sql_integer(
        database,
        "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> "
        "CONNECTION_ID() ORDER BY ID %s LIMIT 1",
        which == &server ? "ASC" : "DESC");

    test_sql(database, "KILL %lld", (long long)id);
    test_database_wait(database, "(SELECT COUNT(*) FROM information_schema.PROCESSLIST"
                                 " WHERE DB = DATABASE() AND ID <> CONNECTION_ID()) = 1");
}

static void a_lost_connection_costs_each_an_attempt(void **state)
{
    (void)state;
    three_join();
    kill_the_connection(&server);
    assert_each_alone();
}

static void a_deadlock_at_the_commit_costs_each_an_attempt(void **state)
{
    (void)state;
    three_join();
    db_fail_nth(server.db, 1, STATUS_DB_RETRY);
    assert_each_alone();
}

static void a_commit_that_nobody_answered_and_that_did_not_happen(void **state)
{
    (void)state;
    three_join();
    db_fail_nth(server.db, 1, STATUS_DB_UNKNOWN);
    assert_each_alone();
}

/* The host of the last one has been served by another server meanwhile. */
static void a_commit_that_nobody_answered_and_that_did_happen(void **state)
{
    (void)state;
    three_join();
    assert_status(STATUS_OK, db_commit(server.db));
    assert_int_equal(serving_ask(&neighbour, &(struct asking){.host = 3}, NOW, 9)->kind,
                     ANSWER_FULL);
    db_fail_nth(server.db, 1, STATUS_DB_UNKNOWN);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(visitors[i].outcome, OUTCOME_COMMITTED);
        assert_int_equal(visitors[i].request.attempts, 1);
        assert_i64(jobs_of((int)i + 1), 1);
    }
}

/* A host of before this server's time: it gets its row when it is tried alone. */
static void without_guard_row(int host)
{
    struct visitor *last;

    test_sql(database, "DELETE FROM qm_host WHERE hostid = %d", host);
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
    assert_int_equal(add(&group, ask(&server, 2)), OUTCOME_JOINED);
    last = ask(&server, 3);
    /* That the row is missing is found by whoever reads the answer to what was sent ahead. */
    assert_int_equal(add(&group, last), host == 3 ? OUTCOME_JOINED : OUTCOME_AGAIN);
    assert_int_equal(finish(&group), OUTCOME_AGAIN);
    if (host != 3)
        run_alone(last);
    for (size_t i = 0; i < 3; i++)
        assert_got_a_job(&visitors[i]);
    assert_i64(test_sql_integer(database, "SELECT rpcs FROM qm_host WHERE hostid = %d", host), 1);
}

static void a_host_without_a_guard_row_is_tried_alone(void **state)
{
    (void)state;
    without_guard_row(3);
}

static void so_is_one_that_has_guests(void **state)
{
    (void)state;
    without_guard_row(2);
}

/* Two requests of one host, as of a client whose first reply was lost. */
static void a_host_may_come_twice(void **state)
{
    (void)state;
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_int_equal(visitors[0].request.visit.jobs_sent, 1);
    /* The second does not list the job of the first, so it gets that again. */
    assert_true(visitors[1].request.visit.resent > 0);
    assert_i64(test_sql_integer(database, "SELECT rpcs FROM qm_host WHERE hostid = 1"), 3);
}

/* Wherever a guest fails, what it had reserved in the pool goes back, and what was sent leaves. */
static void no_job_stays_reserved(void **state)
{
    enum { COMMANDS = 14 };
    struct pool_server pooled;
    struct pool_figures now;
    int failures = 0;

    (void)state;
    server.config->min_sendwork_interval = 0;
    server.config->resend_lost_results = false;
    pool_server_open(&pooled, database, 1, 1000);
    pool_server_pass(&pooled, 5);
    pool_figures(pooled.serving.pool, &now);
    assert_int_equal(now.jobs, JOBS);
    for (uint64_t nth = 1; nth <= COMMANDS; nth++) {
        struct visitor *guest;
        enum outcome outcome;
        size_t used;

        visitor_count = 0;
        assert_int_equal(add(&group, ask(&pooled.serving, 1)), OUTCOME_JOINED);
        guest = ask(&pooled.serving, 2);
        used = arena_used(guest->arena);
        db_fail_nth(pooled.serving.db, nth, STATUS_DB_RETRY);
        outcome = add(&group, guest);
        db_fail_nth(pooled.serving.db, 0, STATUS_OK);
        (void)finish(&group);
        if (outcome == OUTCOME_AGAIN) {
            failures++;
            assert_int_equal(arena_used(guest->arena), used);
            run_alone(guest);
        }
        assert_int_equal(visitors[0].outcome, OUTCOME_COMMITTED);
        assert_int_equal(guest->outcome, OUTCOME_COMMITTED);
        pool_figures(pooled.serving.pool, &now);
        assert_int_equal(now.taken, 0);
        assert_int_equal(now.jobs, JOBS - 2 * nth);
        assert_i64(jobs_of(1) + jobs_of(2), 2 * (int64_t)nth);
    }
    assert_in_range(failures, 5, COMMANDS - 1); /* the last ones are beyond its commands */
    pool_server_close(&pooled);
}

/* A worker has room for as many as an administrator can ask for. */
static void as_many_may_share_as_there_is_room_for(void **state)
{
    char most[8], more[8];

    (void)state;
    (void)snprintf(most, sizeof(most), "%d", TOGETHER_MOST);
    (void)snprintf(more, sizeof(more), "%d", TOGETHER_MOST + 1);
    assert_status(STATUS_OK,
                  config_set(server.config, TEXT("requests_per_commit"), text_from(most), NULL));
    assert_status(STATUS_INVALID,
                  config_set(server.config, TEXT("requests_per_commit"), text_from(more), NULL));
}

static void nothing_is_shared_where_a_loss_would_be_silent(void **state)
{
    (void)state;
    db_keep_token(server.db); /* as on a cluster */
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_COMMITTED);
    db_send_ahead(neighbour.db, false);
    assert_int_equal(add(&group, ask(&neighbour, 2)), OUTCOME_COMMITTED);
}

/* --- any number of requests, together and one after the other --------------------------------- */

enum { SCRIPT = 40 };

static uint64_t below(struct random *random, uint64_t bound)
{
    return random_next(random) % bound;
}

struct script_line {
    struct asking asking;
    char elements[600];
};

static void write_script(uint64_t seed, struct script_line *lines)
{
    static const double seconds[] = {0, 1, 1, 250};
    struct random random = {.state = seed};

    for (size_t i = 0; i < SCRIPT; i++) {
        struct script_line *line = &lines[i];
        int host = 1 + (int)below(&random, HOSTS);
        size_t length = 0;

        for (uint64_t reports = below(&random, 4); reports > 0; reports--)
            length += (size_t)snprintf(
                line->elements + length, sizeof(line->elements) - length,
                "<result><name>r_%d</name><state>%d</state><final_cpu_time>9</final_cpu_time>"
                "</result>\n",
                1000 * host + (int)below(&random, OF_HOST), below(&random, 3) > 0 ? 5 : 3);
        (void)snprintf(line->elements + length, sizeof(line->elements) - length,
                       "<other_results>\n</other_results>\n");
        line->asking = (struct asking){.host = host,
                                       .key = below(&random, 12) == 0 ? "nobody" : NULL,
                                       .work_seconds = seconds[below(&random, 4)],
                                       .elements = line->elements};
    }
}

/* All that requests write, but for tokens. */
static struct text all_rows(void)
{
    test_sql(database, "SET SESSION group_concat_max_len = 100000000");
    return test_sql_text(
        database,
        "SELECT CONCAT_WS('\n',"
        " (SELECT GROUP_CONCAT(CONCAT_WS(',', id, server_state, outcome, client_state, hostid,"
        "   userid, app_version_id, sent_time, received_time, report_deadline, exit_status, "
        "cpu_time)"
        "   ORDER BY id SEPARATOR ';') FROM result),"
        " (SELECT GROUP_CONCAT(CONCAT_WS(',', id, transition_time, hr_class, app_version_id)"
        "   ORDER BY id SEPARATOR ';') FROM workunit),"
        " (SELECT GROUP_CONCAT(CONCAT_WS(',', id, rpc_time, rpc_seqno, p_fpops, d_free)"
        "   ORDER BY id SEPARATOR ';') FROM host),"
        " (SELECT GROUP_CONCAT(CONCAT_WS(',', host_id, app_version_id, n_jobs_today,"
        "   max_jobs_per_day, consecutive_valid) ORDER BY host_id SEPARATOR ';')"
        "   FROM host_app_version),"
        " (SELECT GROUP_CONCAT(CONCAT_WS(',', hostid, rpcs) ORDER BY hostid SEPARATOR ';')"
        "   FROM qm_host))");
}

struct play {
    char *rows, *replies[SCRIPT];
};

/* `random` NULL: one after the other. Else together, with failures here and there. */
static void play(const struct script_line *lines, struct random *random, struct play *ret_play)
{
    make_rows();
    for (int host = 1; host <= HOSTS; host++)
        serving_add_jobs(
            database,
            &(struct new_jobs){.first = 1000 * host, .count = OF_HOST, .host = host, .fpops = 1e9});
    for (size_t i = 0; i < SCRIPT;) {
        size_t most = random == NULL ? 1 : 1 + (size_t)below(random, TOGETHER_MOST);
        size_t begun = i;

        visitor_count = 0;
        while (i < SCRIPT && i - begun < most) {
            struct visitor *visitor = &visitors[visitor_count++];

            arena_reset(visitor->arena);
            visitor->reply.length = 0;
            serving_prepare(&server, visitor->arena, &lines[i].asking, NOW + 10 * (double)i, i,
                            &visitor->request);
            i++;
            visitor->outcome = OUTCOME_NONE;
            if (!request_begin(&visitor->request)) {
                request_end(&visitor->request, OUTCOME_NONE, &visitor->reply);
                continue;
            }
            if (random == NULL) {
                run_alone(visitor);
                continue;
            }
            if (below(random, 6) == 0)
                db_fail_nth(server.db, 1 + below(random, 12), STATUS_DB_RETRY);
            visitor->outcome = together_add(&group, &visitor->request);
            if (visitor->outcome == OUTCOME_AGAIN && group.count > 0) {
                finish(&group);
                run_alone(visitor);
            } else if (visitor->outcome != OUTCOME_JOINED) {
                request_end(&visitor->request, visitor->outcome, &visitor->reply);
            }
        }
        if (group.count > 0)
            finish(&group);
        db_fail_nth(server.db, 0, STATUS_OK);
        for (size_t j = 0; j < visitor_count; j++)
            ret_play->replies[begun + j] = text_keep(buffer_text(&visitors[j].reply));
    }
    ret_play->rows = text_keep(all_rows());
}

/* Where a row begins that differs. */
static size_t first_difference(const struct play *a, const struct play *b)
{
    size_t at = 0, row = 0;

    for (; a->rows[at] == b->rows[at] && a->rows[at] != '\0'; at++)
        if (a->rows[at] == ';' || a->rows[at] == '\n')
            row = at + 1;
    return row;
}

static void what_comes_of_them_is_what_comes_of_each(void **state)
{
    static struct script_line lines[SCRIPT];
    uint64_t together = counter_value(COUNTER_requests_together);
    uint64_t apart = counter_value(COUNTER_requests_apart);
    uint64_t split = counter_value(COUNTER_transactions_split);

    (void)state;
    server.config->min_sendwork_interval = 0;
    server.config->resend_lost_results = false;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct random random = {.state = seed};
        struct play alone, shared;

        write_script(seed, lines);
        play(lines, NULL, &alone);
        play(lines, &random, &shared);
        for (size_t i = 0; i < SCRIPT; i++) {
            if (strcmp(alone.replies[i], shared.replies[i]) != 0)
                fail_msg("seed %llu, request %zu: alone\n%s\ntogether\n%s",
                         (unsigned long long)seed, i, alone.replies[i], shared.replies[i]);
            free(alone.replies[i]);
            free(shared.replies[i]);
        }
        if (strcmp(alone.rows, shared.rows) != 0)
            fail_msg("seed %llu: rows differ at \"%.60s\", and together \"%.60s\"",
                     (unsigned long long)seed, alone.rows + first_difference(&alone, &shared),
                     shared.rows + first_difference(&alone, &shared));
        free(alone.rows);
        free(shared.rows);
    }
    assert_true(counter_value(COUNTER_requests_together) > together + 100);
    assert_true(counter_value(COUNTER_requests_apart) > apart + 5);
    assert_true(counter_value(COUNTER_transactions_split) > split + 5);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_case, end_case)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_commit_keeps_all),
        CASE(a_guest_that_meets_a_locked_row_is_tried_alone),
        CASE(two_that_want_each_others_hosts_do_not_wait),
        CASE(the_first_waits_for_a_lock_only_when_tried_again),
        CASE(a_part_keeps_what_it_wrote_before_its_savepoint),
        CASE(a_refused_guest_is_answered_with_the_others),
        CASE(a_wrong_key_for_a_host_is_tried_alone),
        CASE(a_new_host_joins),
        CASE(a_lost_connection_costs_each_an_attempt),
        CASE(a_deadlock_at_the_commit_costs_each_an_attempt),
        CASE(a_commit_that_nobody_answered_and_that_did_not_happen),
        CASE(a_commit_that_nobody_answered_and_that_did_happen),
        CASE(a_host_without_a_guard_row_is_tried_alone),
        CASE(so_is_one_that_has_guests),
        CASE(a_host_may_come_twice),
        CASE(no_job_stays_reserved),
        CASE(as_many_may_share_as_there_is_room_for),
        CASE(nothing_is_shared_where_a_loss_would_be_silent),
        CASE(what_comes_of_them_is_what_comes_of_each),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
