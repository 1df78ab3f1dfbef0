/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that share a transaction (server/request/request_group.h), on a real database: that one
 * COMMIT keeps them, that whatever goes wrong with one of them costs the others nothing, and that
 * what comes of any number of them is what comes of the same requests one after the other. */
#include "server/request/request_group.h"

#include "config/config.h"
#include "db/columns.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/base/crypto.h"
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
static struct visitor visitors[REQUEST_GROUP_MOST + 1];
static size_t visitor_count;

static bool always(void *context)
{
    (void)context;
    return true;
}

static struct request_group group, other_group;
static struct arena *shared_arena;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    shared_arena = arena_create((size_t)1 << 22);
    for (size_t i = 0; i < REQUEST_GROUP_MOST + 1; i++)
        visitors[i] = (struct visitor){.arena = arena_create((size_t)1 << 26),
                                       .reply = buffer_on_heap((size_t)1 << 24)};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < REQUEST_GROUP_MOST + 1; i++) {
        arena_destroy(visitors[i].arena);
        buffer_free(&visitors[i].reply);
    }
    arena_destroy(shared_arena);
    test_database_destroy(database);
    return 0;
}

/* Half of the hosts are one user's. */
static int owner_of(int host)
{
    return host <= 3 ? 1 : host;
}

static const char *key_of(int host)
{
    static const char *const keys[HOSTS + 1] = {NULL, "key", "key", "key", "key4", "key5", "key6"};

    return keys[host];
}

/* Elements of a request: the client has preferences of that time, by its owner's own web page. */
static int write_preferences(char *at, size_t size, int host, int mod_time)
{
    char email[32], hash[MD5_HEX_SIZE];

    if (owner_of(host) == 1)
        (void)snprintf(email, sizeof(email), "u@example.org");
    else
        (void)snprintf(email, sizeof(email), "u%d@example.org", host);
    md5_hex(text_from(email), NO_TEXT, hash);
    return snprintf(at, size,
                    "<global_preferences>\n<mod_time>%d</mod_time>\n</global_preferences>\n"
                    "<global_prefs_source_email_hash>%s</global_prefs_source_email_hash>\n",
                    mod_time, hash);
}

static void make_hosts(void)
{
    test_database_clear(database);
    serving_add_hosts(database, HOSTS);
    for (int host = 4; host <= HOSTS; host++)
        test_sql(database,
                 "INSERT INTO user SET id = %d, name = 'user%d', email_addr = 'u%d@example.org',"
                 " authenticator = '%s', create_time = 1;"
                 "UPDATE host SET userid = %d WHERE id = %d",
                 host, host, host, key_of(host), owner_of(host), host);
    test_sql(database, "INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day)"
                       " SELECT id, 11, 100 FROM host");
}

/* Jobs for all, and hosts that the server knows: they have a guard row, and say nothing new. */
static void make_rows(void)
{
    make_hosts();
    for (int host = 1; host <= HOSTS; host++)
        (void)serving_ask(&neighbour, &(struct asking){.host = host, .key = key_of(host)},
                          NOW - 1000, 1);
    serving_add_jobs(database, &(struct new_jobs){.first = 1, .count = JOBS});
}

static int begin_case(void **state)
{
    (void)state;
    make_hosts();
    serving_open(&server, database);
    serving_open(&neighbour, database);
    make_rows();
    arena_reset(shared_arena);
    group = (struct request_group){.others_wait = always, .arena = shared_arena};
    other_group = (struct request_group){.others_wait = always};
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
    return come(at, &(struct asking){.host = host, .key = key_of(host), .work_seconds = 1});
}

static enum outcome add(struct request_group *to, struct visitor *visitor)
{
    return request_group_add(to, &visitor->request);
}

/* Commits, and answers each. */
static enum outcome finish(struct request_group *to)
{
    enum outcome all = request_group_commit(to);

    for (size_t i = 0; i < to->count; i++)
        for (size_t j = 0; j < visitor_count; j++)
            if (to->members[i] == &visitors[j].request) {
                visitors[j].outcome = request_group_outcome(to, i, all);
                request_end(&visitors[j].request, visitors[j].outcome, &visitors[j].reply);
            }
    request_group_end(to);
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

static int64_t requests_of(int host)
{
    return test_sql_integer(database, "SELECT rpcs FROM qm_host WHERE hostid = %d", host);
}

static void assert_got_a_job(const struct visitor *visitor)
{
    assert_int_equal(visitor->outcome, OUTCOME_COMMITTED);
    assert_int_equal(visitor->request.attempt.jobs_sent, 1);
    assert_true(text_contains(buffer_text(&visitor->reply), TEXT("<wu_name>w_")));
    assert_i64(jobs_of((int)visitor->request.attempt.host.id), 1);
    assert_i64(test_sql_integer(database, "SELECT token FROM qm_host WHERE hostid = %lld",
                                (long long)visitor->request.attempt.host.id),
               (int64_t)visitor->request.token);
}

static void one_commit_keeps_all(void **state)
{
    uint64_t commits = 0, trips = 0, before = counter_value(COUNTER_requests_together);
    struct db_count alone;

    (void)state;
    /* Each gets a job; a second request of the same host would get its lost one again, which is
     * another road. */
    for (int host = 5; host <= 6; host++)
        (void)serving_ask(&server,
                          &(struct asking){.host = host, .key = key_of(host), .work_seconds = 1},
                          NOW, 1);
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
        assert_int_equal(visitors[i].request.group_size, 4);
        commits += visitors[i].request.counted.commits;
        trips += visitors[i].request.counted.round_trips;
    }
    assert_int_equal(commits, 1);
    assert_in_range(trips, 1, 4 * (alone.round_trips - 2) + 2); /* writing and COMMIT are shared */
    /* No savepoint and no COMMIT; what it writes waits for the next one's first question, which it
     * has asked for the one before. */
    assert_int_equal(visitors[1].request.counted.statements, alone.statements - 1);
    assert_int_equal(counter_value(COUNTER_requests_together), before + 8);
}

/* How long a request has waited for the database, in s. The database's own figures of waits are
 * those of all connections, also of other tests. */
static double waited(const struct visitor *visitor)
{
    return (double)(visitor->request.counted.waited_ns + db_count(visitor->request.db).waited_ns) /
           1e9;
}
enum { LOCK_WAIT = 2 }; /* s, for a locked row */

/* It does not wait, the others are committed at once, and then it waits as anybody does. */
static void a_member_that_meets_a_locked_row_is_tried_alone(void **state)
{
    struct visitor *first = ask(&server, 1), *second;
    struct host_row row;

    (void)state;
    assert_status(STATUS_OK, db_host_lock(neighbour.db, neighbour.arena, 2, &row));
    assert_int_equal(add(&group, first), OUTCOME_JOINED);
    second = ask(&server, 2);
    assert_int_equal(add(&group, second), OUTCOME_AGAIN);
    assert_false(group.is_lost);
    assert_true(waited(second) < LOCK_WAIT);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_got_a_job(first);
    assert_int_equal(first->request.attempts, 1);
    assert_int_equal(first->request.group_size, 1);
    assert_status(STATUS_OK, db_rollback(neighbour.db));
    run_alone(second);
    assert_got_a_job(second);
    assert_int_equal(second->request.attempts, 2);
}

/* Each has what the other group's second wants. */
static void two_that_want_each_others_hosts_do_not_wait(void **state)
{
    struct visitor *here[2], *there[2];

    (void)state;
    here[0] = ask(&server, 1);
    assert_int_equal(add(&group, here[0]), OUTCOME_JOINED);
    there[0] = ask(&neighbour, 2);
    assert_int_equal(add(&other_group, there[0]), OUTCOME_JOINED);
    here[1] = ask(&server, 2);
    assert_int_equal(add(&group, here[1]), OUTCOME_AGAIN);
    there[1] = ask(&neighbour, 1);
    assert_int_equal(add(&other_group, there[1]), OUTCOME_AGAIN);
    assert_true(waited(here[1]) < LOCK_WAIT && waited(there[1]) < LOCK_WAIT);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_int_equal(finish(&other_group), OUTCOME_COMMITTED);
    run_alone(here[1]);
    run_alone(there[1]);
    for (int host = 1; host <= 2;
         host++) /* the second request of each lists no job: it is sent again */
        assert_i64(jobs_of(host), 1);
    assert_int_equal(here[1]->request.attempt.resent + there[1]->request.attempt.resent, 2);
}

/* The first one waits for no lock either, as others may join it; tried again, it does. */
static void the_first_waits_for_a_lock_only_when_tried_again(void **state)
{
    struct visitor *first = ask(&server, 1);
    struct host_row row;

    (void)state;
    assert_status(STATUS_OK, db_host_lock(neighbour.db, neighbour.arena, 1, &row));
    server.config->request_tries = 1;
    assert_int_equal(add(&group, first), OUTCOME_LATER);
    assert_true(waited(first) < LOCK_WAIT);
    server.config->request_tries = 2;
    first = ask(&server, 1);
    assert_int_equal(add(&group, first), OUTCOME_LATER);
    assert_true(waited(first) > 0.9 * LOCK_WAIT);
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

static void a_refused_member_is_answered_with_the_others(void **state)
{
    struct visitor *first = ask(&server, 1), *second, *last;

    (void)state;
    assert_int_equal(add(&group, first), OUTCOME_JOINED);
    second = come(&server, &(struct asking){.key = "nobody"});
    assert_int_equal(add(&group, second), OUTCOME_JOINED);
    last = ask(&server, 3);
    assert_int_equal(add(&group, last), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_int_equal(second->outcome, OUTCOME_REPLY);
    assert_true(text_contains(buffer_text(&second->reply), TEXT("Invalid or missing account key")));
    assert_got_a_job(first);
    assert_got_a_job(last);
}

/* Who names a host with a key that is not its owner's keeps nobody from it, nor from a COMMIT. */
static void a_wrong_key_for_a_host_is_tried_alone(void **state)
{
    struct visitor *first = ask(&server, 1), *second;

    (void)state;
    assert_int_equal(add(&group, first), OUTCOME_JOINED);
    second = come(&server, &(struct asking){.host = 2, .key = "nobody"});
    assert_int_equal(add(&group, second), OUTCOME_AGAIN);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_got_a_job(first);
    run_alone(second);
    assert_int_equal(second->outcome, OUTCOME_REPLY);
}

static void a_new_host_joins(void **state)
{
    struct visitor *first = ask(&server, 1), *second;

    (void)state;
    assert_int_equal(add(&group, first), OUTCOME_JOINED);
    second = come(&server, &(struct asking){.work_seconds = 1});
    assert_int_equal(add(&group, second), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_got_a_job(first);
    assert_got_a_job(second);
    assert_true(second->request.attempt.host_is_new);
}

/* Nothing was kept, so each gets its job alone. */
static void assert_each_alone(void)
{
    uint64_t before = counter_value(COUNTER_transactions_split);

    assert_int_equal(finish(&group), OUTCOME_AGAIN);
    assert_int_equal(counter_value(COUNTER_transactions_split), before + 1);
    for (size_t i = 0; i < visitor_count; i++) {
        assert_got_a_job(&visitors[i]);
        assert_int_equal(visitors[i].request.group_size, 0);
        assert_true(visitors[i].request.attempts >= 2);
        assert_i64(requests_of((int)i + 1), 2);
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
    assert_int_equal(
        serving_ask(&neighbour, &(struct asking){.host = 3, .key = key_of(3)}, NOW, 9)->kind,
        ANSWER_FULL);
    db_fail_nth(server.db, 1, STATUS_DB_UNKNOWN);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(visitors[i].outcome, OUTCOME_COMMITTED);
        assert_int_equal(visitors[i].request.attempts, 1);
        assert_i64(jobs_of((int)i + 1), 1);
    }
}

/* Hosts of before this server's time: they say nothing new, and get their guard rows. */
static void hosts_without_guard_rows_join(void **state)
{
    (void)state;
    for (int host = 4; host <= HOSTS; host++)
        test_sql(database, "DELETE FROM qm_host WHERE hostid = %d", host);
    for (int host = 4; host <= HOSTS; host++)
        assert_int_equal(add(&group, ask(&server, host)), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    for (size_t i = 0; i < visitor_count; i++) {
        assert_got_a_job(&visitors[i]);
        assert_int_equal(visitors[i].request.group_size, visitor_count);
        assert_i64(requests_of(4 + (int)i), 1);
    }
    assert_i64(test_sql_integer(database,
                                "SELECT COUNT(*) FROM host WHERE id >= 4 AND rpc_time ="
                                " %d AND rpc_seqno = 1",
                                (int)NOW),
               HOSTS - 3);
}

/* Two requests of one host, as of a client whose first reply was lost. */
static void a_host_may_come_twice(void **state)
{
    (void)state;
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_int_equal(visitors[0].request.attempt.jobs_sent, 1);
    /* The second does not list the job of the first, so it gets that again. */
    assert_true(visitors[1].request.attempt.resent > 0);
    assert_i64(requests_of(1), 3);
}

/* Wherever one that joins fails, what it had taken from the pool goes back, and what was sent
 * leaves. */
static void no_job_stays_reserved(void **state)
{
    enum { COMMANDS = 20 };
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
        struct visitor *second;
        enum outcome outcome;
        size_t used;

        visitor_count = 0;
        assert_int_equal(add(&group, ask(&pooled.serving, 1)), OUTCOME_JOINED);
        second = ask(&pooled.serving, 2);
        used = arena_used(second->arena);
        db_fail_nth(pooled.serving.db, nth, STATUS_DB_RETRY);
        outcome = add(&group, second);
        db_fail_nth(pooled.serving.db, 0, STATUS_OK);
        (void)finish(&group);
        if (outcome == OUTCOME_AGAIN) {
            failures++;
            assert_int_equal(arena_used(second->arena), used);
            run_alone(second);
        }
        assert_int_equal(visitors[0].outcome, OUTCOME_COMMITTED);
        assert_int_equal(second->outcome, OUTCOME_COMMITTED);
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
    (void)snprintf(most, sizeof(most), "%d", REQUEST_GROUP_MOST);
    (void)snprintf(more, sizeof(more), "%d", REQUEST_GROUP_MOST + 1);
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

/* --- what is read for several ----------------------------------------------------------------- */

static void read_for(size_t count)
{
    struct request *requests[REQUEST_GROUP_MOST];

    for (size_t i = 0; i < count; i++)
        requests[i] = &visitors[visitor_count - count + i].request;
    request_group_read(&group, requests, count);
}

/* Comes, and asks for a job, while something is in progress on it. */
static void hosts_come(int first, int last)
{
    for (int host = first; host <= last; host++)
        (void)ask(&server, host);
}

static void assert_read_as_by_itself(const struct host_rows *host_rows)
{
    struct db *db = neighbour.db;
    struct arena *arena = neighbour.arena;
    const struct host_with_user *known = &host_rows->known;
    struct host_with_user host;
    struct host_app_version_row *versions;
    struct result_row *results;
    size_t count;

    assert_status(STATUS_OK, db_host_lock_with_user(db, arena, host_rows->hostid, &host));
    assert_status(STATUS_OK, db_rollback(db));
    assert_true(host_rows->is_found && known->has_user && host.has_user);
    assert_true(row_is_equal(&row_tables[ROW_host], &host.host, &known->host));
    assert_true(row_is_equal(&row_tables[ROW_user], &host.user, &known->user));
    assert_true(text_equal(known->team_name, host.team_name));
    assert_true(known->has_guard == host.has_guard);

    assert_status(STATUS_OK, db_host_app_versions(db, arena, host_rows->hostid, &versions, &count));
    assert_int_equal(host_rows->version_count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(
            row_is_equal(&row_tables[ROW_host_app_version], &versions[i], &host_rows->versions[i]));
    assert_status(STATUS_OK,
                  db_results_in_progress(db, arena, host_rows->hostid, 100, &results, &count));
    assert_int_equal(host_rows->result_count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(row_is_equal(&row_tables[ROW_result], &results[i], &host_rows->results[i]));
}

/* Host 4 has as many versions and jobs as one can want, host 5 has none of either. */
static void what_is_read_for_several_is_what_each_would_read(void **state)
{
    struct host_rows host_rows[4] = {0};

    (void)state;
    test_sql(database, "INSERT INTO team SET id = 3, name = 'The team';"
                       "UPDATE user SET teamid = 3 WHERE id = 4;"
                       "DELETE FROM host_app_version WHERE host_id = 5;"
                       "DELETE FROM qm_host WHERE hostid = 5;"
                       "INSERT INTO host_app_version (host_id, app_version_id, n_jobs_today)"
                       " SELECT 4, seq, seq FROM seq_12_to_40");
    serving_add_jobs(database, &(struct new_jobs){.first = 3000, .count = 2, .host = 3});
    serving_add_jobs(database, &(struct new_jobs){.first = 4000, .count = 50, .host = 4});
    test_sql(database, "UPDATE result SET sent_time = sent_time + RAND(1) * 1000 WHERE hostid = 4");
    for (int i = 0; i < 4; i++)
        host_rows[i] = (struct host_rows){
            .hostid = i == 3 ? 99 : 5 - i, .wants_versions = true, .wants_results = i < 3};
    assert_status(STATUS_OK, db_hosts_read_rows(server.db, server.arena, host_rows, 4, 100));
    assert_status(STATUS_OK, db_rollback(server.db));
    for (size_t i = 0; i < 3; i++) {
        assert_true(host_rows[i].has_versions && host_rows[i].has_results);
        assert_read_as_by_itself(&host_rows[i]);
    }
    assert_false(host_rows[0].known.has_guard);
    assert_true(host_rows[1].known.has_guard);
    assert_int_equal(host_rows[0].version_count, 0);
    assert_int_equal(host_rows[1].version_count, 30);
    assert_int_equal(host_rows[1].result_count, 50);
    assert_false(host_rows[3].is_found || host_rows[3].has_versions || host_rows[3].has_results);

    /* One more than there is room for. */
    memset(host_rows, 0, sizeof(host_rows));
    host_rows[0] = (struct host_rows){.hostid = 3, .wants_results = true};
    host_rows[1] = (struct host_rows){.hostid = 4, .wants_versions = true, .wants_results = true};
    assert_status(STATUS_OK, db_hosts_read_rows(server.db, server.arena, host_rows, 2, 52));
    assert_false(host_rows[0].has_results || host_rows[1].has_results || host_rows[0].has_versions);
    assert_true(host_rows[0].is_found && host_rows[1].is_found && host_rows[1].has_versions);
    assert_status(STATUS_OK, db_hosts_read_rows(server.db, server.arena, host_rows, 2, 53));
    assert_true(host_rows[0].has_results && host_rows[1].has_results);
}

/* Two come, and the guard row of one changes between the reading and the end. */
static void two_come_and_meanwhile(int first, const char *statement)
{
    visitor_count = 0;
    hosts_come(first, first + 1);
    read_for(2);
    test_sql(database, "%s", statement);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(add(&group, &visitors[i]), OUTCOME_JOINED);
}

static void a_guard_row_may_come_but_not_go(void **state)
{
    (void)state;
    test_sql(database, "DELETE FROM qm_host WHERE hostid = 4");
    two_come_and_meanwhile(4,
                           "INSERT INTO qm_host SET hostid = 4, rpcs = 6, token = 0, changed = 0");
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_int_equal(visitors[0].request.attempts, 1);
    assert_i64(requests_of(4), 7);

    two_come_and_meanwhile(5, "DELETE FROM qm_host WHERE hostid = 6");
    assert_int_equal(finish(&group), OUTCOME_AGAIN);
    assert_int_equal(visitors[1].outcome, OUTCOME_COMMITTED);
    assert_int_equal(visitors[1].request.attempts, 2);
    assert_i64(requests_of(6), 1);
}

static uint64_t statements_of_all(void)
{
    uint64_t statements = 0;

    for (size_t i = 0; i < visitor_count; i++)
        statements += visitors[i].request.counted.statements;
    return statements;
}

/* Four of different users: with the first of them, and joining others. */
static void what_several_ask_first_is_asked_once(void **state)
{
    enum { EACH = 3 }; /* host, versions, results */
    uint64_t alone, before = counter_value(COUNTER_requests_read_for);

    (void)state;
    server.config->resend_lost_results = true;
    server.config->workload_sim = false; /* or it would need the workunits of its jobs */
    assert_status(STATUS_OK, db_wait_for_locks(server.db, false));
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
    hosts_come(3, 6);
    for (size_t i = 1; i < 5; i++)
        assert_int_equal(add(&group, &visitors[i]), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    alone = statements_of_all();
    for (int with_members = 0; with_members < 2; with_members++) {
        make_rows();
        visitor_count = 0;
        if (with_members)
            assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
        hosts_come(3, 6);
        read_for(4);
        for (size_t i = visitor_count - 4; i < visitor_count; i++) {
            assert_non_null(visitors[i].request.host_rows);
            assert_int_equal(add(&group, &visitors[i]), OUTCOME_JOINED);
            assert_null(visitors[i].request.host_rows);
        }
        assert_int_equal(finish(&group), OUTCOME_COMMITTED);
        for (size_t i = 0; i < visitor_count; i++)
            assert_got_a_job(&visitors[i]);
    }
    assert_int_equal(counter_value(COUNTER_requests_read_for), before + 2 * 4);
    assert_int_equal(statements_of_all(), alone - EACH * (4 - 1));
}

/* Names so many jobs, and asks for another. */
static void come_with_list(int host, size_t count)
{
    struct buffer list = buffer_on_heap(0);

    buffer_add_string(&list, "<other_results>\n");
    for (size_t i = 0; i < count; i++)
        buffer_print(&list, "<other_result><name>no_such_job_%zu</name></other_result>\n", i);
    buffer_add_string(&list, "</other_results>\n");
    buffer_add_char(&list, '\0');
    (void)come(&server,
               &(struct asking){
                   .host = host, .key = key_of(host), .elements = list.at, .work_seconds = 1});
    buffer_free(&list);
}

/* Host 4 has three times as many jobs as are read for all hosts that name none. */
static void a_host_with_many_jobs_leaves_the_others_theirs(void **state)
{
    enum { MANY = 3000, MOST = 250 };

    (void)state;
    server.config->resend_lost_results = true;
    server.config->workload_sim = false;
    serving_add_jobs(database, &(struct new_jobs){.first = 3000, .count = 2, .host = 3});
    serving_add_jobs(database, &(struct new_jobs){.first = 4000, .count = MANY, .host = 4});
    hosts_come(3, 3);
    come_with_list(4, MOST + 1);
    hosts_come(5, 5);
    read_for(3);
    for (size_t i = 0; i < 3; i++)
        assert_true(visitors[i].request.host_rows->has_results == (i != 1));
    assert_int_equal(visitors[0].request.host_rows->result_count, 2);

    /* As long as the lists are true, all are read. */
    serving_add_jobs(database, &(struct new_jobs){.first = 8000, .count = 1247, .host = 5});
    for (size_t named = MOST - 1; named <= MOST; named++) {
        visitor_count = 0;
        hosts_come(3, 3);
        come_with_list(5, named);
        read_for(2);
        assert_true(visitors[0].request.host_rows->has_results == (named == MOST));
        assert_true(visitors[1].request.host_rows->has_results == (named == MOST));
    }
    visitor_count = 0;
    come_with_list(4, MOST + 1);
    hosts_come(3, 3);
    hosts_come(5, 5);
    read_for(3);
    for (size_t i = 0; i < 3; i++)
        assert_false(visitors[i].request.host_rows->has_results);
}

/* The first one changes the preferences of both. */
static void of_one_user_only_the_first_goes_by_what_was_read(void **state)
{
    char changed[300];

    (void)state;
    (void)write_preferences(changed, sizeof(changed), 1, 1000);
    (void)come(&server, &(struct asking){.host = 1, .elements = changed});
    (void)ask(&server, 2);
    (void)ask(&server, 4);
    read_for(3);
    for (size_t i = 0; i < 3; i++) {
        assert_non_null(visitors[i].request.host_rows);
        assert_int_equal(add(&group, &visitors[i]), OUTCOME_JOINED);
        assert_true((visitors[2].request.host_rows != NULL) == (i < 2));
    }
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_true(text_contains(visitors[1].request.attempt.user.global_prefs, TEXT("1000")));
    assert_true(text_contains(buffer_text(&visitors[1].reply), TEXT("<mod_time>1000")));
    assert_got_a_job(&visitors[2]);
}

/* Then nobody has them, and nothing is lost. */
static void where_one_host_is_locked_each_reads_for_itself(void **state)
{
    struct host_row row;

    (void)state;
    for (int with_members = 0; with_members < 2; with_members++) {
        make_rows();
        visitor_count = 0;
        if (with_members)
            assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
        assert_status(STATUS_OK, db_host_lock(neighbour.db, neighbour.arena, 4, &row));
        hosts_come(3, 5);
        read_for(3);
        for (size_t i = visitor_count - 3; i < visitor_count; i++)
            assert_null(visitors[i].request.host_rows);
        assert_false(group.is_lost);
        assert_int_equal(add(&group, &visitors[visitor_count - 3]), OUTCOME_JOINED);
        assert_int_equal(add(&group, &visitors[visitor_count - 2]), OUTCOME_AGAIN);
        assert_int_equal(finish(&group), OUTCOME_COMMITTED);
        assert_status(STATUS_OK, db_rollback(neighbour.db));
        run_alone(&visitors[visitor_count - 2]);
        run_alone(&visitors[visitor_count - 1]);
        for (size_t i = 0; i < visitor_count; i++)
            assert_got_a_job(&visitors[i]);
    }
}

static void assert_forgotten(void)
{
    for (size_t i = 0; i < visitor_count; i++)
        assert_null(visitors[i].request.host_rows);
}

/* What was read is worth nothing without the locks. */
static void what_was_read_ends_with_its_transaction(void **state)
{
    (void)state;
    (void)come(&server, &(struct asking){.host = 3, .key = "nobody"});
    hosts_come(4, 5);
    read_for(3);
    assert_non_null(visitors[1].request.host_rows);
    assert_int_equal(add(&group, &visitors[0]), OUTCOME_REPLY);
    assert_forgotten();

    read_for(3);
    assert_int_equal(add(&group, &visitors[1]), OUTCOME_JOINED);
    assert_non_null(visitors[2].request.host_rows);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_forgotten();
    assert_got_a_job(&visitors[1]);
    run_alone(&visitors[2]);
    assert_got_a_job(&visitors[2]);
}

/* It gives the lock of the host back, by a rollback, which is not for a transaction whose other
 * locks are counted on. */
static void who_names_anothers_host_ends_it_too(void **state)
{
    (void)state;
    (void)come(&server, &(struct asking){.host = 6, .key = key_of(1), .work_seconds = 1});
    hosts_come(4, 5);
    read_for(3);
    assert_non_null(visitors[1].request.host_rows);
    assert_int_equal(add(&group, &visitors[0]), OUTCOME_COMMITTED);
    assert_int_equal(visitors[0].request.attempts, 2);
    assert_true(visitors[0].request.attempt.host.id != 6);
    assert_forgotten();
    for (size_t i = 1; i < 3; i++)
        assert_int_equal(add(&group, &visitors[i]), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_got_a_job(&visitors[1]);
    assert_got_a_job(&visitors[2]);
}

/* A host that was merged into another one: what was read is the old one's. */
static void a_forwarded_host_reads_for_itself(void **state)
{
    (void)state;
    test_sql(database, "UPDATE host SET userid = 0, rpc_seqno = 4 WHERE id = 3;"
                       "INSERT INTO host_app_version (host_id, app_version_id) SELECT 3, seq FROM"
                       " seq_12_to_40");
    (void)come(&server, &(struct asking){.host = 3, .key = key_of(4), .work_seconds = 1});
    (void)ask(&server, 5);
    read_for(2);
    assert_int_equal(visitors[0].request.host_rows->version_count, 30);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(add(&group, &visitors[i]), OUTCOME_JOINED);
    assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    assert_int_equal(visitors[0].request.attempt.host.id, 4);
    assert_int_equal(visitors[0].request.attempt.version_count, 1);
    assert_got_a_job(&visitors[0]);
    assert_got_a_job(&visitors[1]);
}

static void change_preferences(double seconds)
{
    (void)seconds;
    test_sql(database, "UPDATE user SET global_prefs = 'new' WHERE id = 1");
}

/* Nor is it for another attempt, which sees what others changed between the two. */
static void who_is_tried_again_reads_anew(void **state)
{
    (void)state;
    hosts_come(3, 4);
    read_for(2);
    visitors[0].request.wait = change_preferences;
    db_fail_nth(server.db, 3, STATUS_DB_RETRY);
    assert_int_equal(add(&group, &visitors[0]), OUTCOME_COMMITTED);
    assert_int_equal(visitors[0].request.attempts, 2);
    assert_true(text_equal(visitors[0].request.attempt.user.global_prefs, TEXT("new")));
    assert_forgotten();
    visitors[0].outcome = OUTCOME_COMMITTED;
    request_end(&visitors[0].request, OUTCOME_COMMITTED, &visitors[0].reply);
    assert_got_a_job(&visitors[0]);
    run_alone(&visitors[1]);
    assert_got_a_job(&visitors[1]);
}

/* However often it is read for those only that join, memory is enough. */
static void what_is_read_takes_no_more_memory_each_time(void **state)
{
    size_t used = 0;

    (void)state;
    test_sql(database, "UPDATE user SET global_prefs = REPEAT('x', 60000)");
    for (int turn = 0; turn < 40; turn++) {
        visitor_count = 0;
        assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
        hosts_come(4, 6);
        read_for(3);
        for (size_t i = 1; i < 4; i++) {
            assert_non_null(visitors[i].request.host_rows);
            assert_int_equal(add(&group, &visitors[i]), OUTCOME_JOINED);
        }
        if (turn == 0)
            used = arena_used(shared_arena);
        assert_true(used > 180000 && arena_used(shared_arena) <= used + 1000);
        assert_int_equal(finish(&group), OUTCOME_COMMITTED);
    }
}

/* The members are tried again, too. */
static void a_transaction_may_be_lost_while_it_is_read(void **state)
{
    (void)state;
    assert_int_equal(add(&group, ask(&server, 1)), OUTCOME_JOINED);
    hosts_come(3, 4);
    kill_the_connection(&server);
    read_for(2);
    assert_true(group.is_lost);
    assert_forgotten();
    assert_int_equal(finish(&group), OUTCOME_AGAIN);
    run_alone(&visitors[1]);
    run_alone(&visitors[2]);
    for (size_t i = 0; i < 3; i++)
        assert_got_a_job(&visitors[i]);
}

/* --- any number of requests, together and one after the other --------------------------------- */

enum { SCRIPT = 40 };

static uint64_t below(struct random *random, uint64_t bound)
{
    return random_next(random) % bound;
}

struct script_line {
    struct asking asking;
    char elements[800];
};

static void write_script(uint64_t seed, struct script_line *lines)
{
    static const double seconds[] = {0, 1, 1, 250};
    struct random random = {.state = seed};

    for (size_t i = 0; i < SCRIPT; i++) {
        struct script_line *line = &lines[i];
        int host = 1 + (int)below(&random, HOSTS);
        size_t length = 0;

        if (below(&random, 4) == 0)
            length += (size_t)write_preferences(line->elements, sizeof(line->elements), host,
                                                1000 + (int)i);
        for (uint64_t reports = below(&random, 4); reports > 0; reports--)
            length += (size_t)snprintf(
                line->elements + length, sizeof(line->elements) - length,
                "<result><name>r_%d</name><state>%d</state><final_cpu_time>9</final_cpu_time>"
                "</result>\n",
                1000 * (below(&random, 4) > 0 ? host : 1 + (int)below(&random, HOSTS)) +
                    (int)below(&random, OF_HOST),
                below(&random, 3) > 0 ? 5 : 3);
        (void)snprintf(line->elements + length, sizeof(line->elements) - length,
                       "<other_results>\n</other_results>\n");
        line->asking = (struct asking){.host = host,
                                       .key = below(&random, 12) == 0 ? "nobody" : key_of(host),
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
        " (SELECT GROUP_CONCAT(CONCAT_WS(',', id, global_prefs) ORDER BY id SEPARATOR ';')"
        "   FROM user),"
        " (SELECT GROUP_CONCAT(CONCAT_WS(',', hostid, rpcs) ORDER BY hostid SEPARATOR ';')"
        "   FROM qm_host))");
}

static size_t were_read; /* requests that had what they ask first */

struct play {
    char *rows, *replies[SCRIPT];
};

static void begin_line(const struct script_line *lines, size_t i)
{
    struct visitor *visitor = &visitors[visitor_count++];

    arena_reset(visitor->arena);
    visitor->reply.length = 0;
    serving_prepare(&server, visitor->arena, &lines[i].asking, NOW + 10 * (double)i, i,
                    &visitor->request);
    assert_true(request_begin(&visitor->request));
}

/* Those that have come, some of them joining the first. What they ask first is read for them
 * in parts of any size. */
static void run_in_groups(struct random *random)
{
    size_t read_until = 0;

    for (size_t i = 0; i < visitor_count; i++) {
        struct visitor *visitor = &visitors[i];

        if (below(random, 6) == 0)
            db_fail_nth(server.db, 1 + below(random, 12), STATUS_DB_RETRY);
        if (i >= read_until && !group.is_lost) {
            struct request *requests[REQUEST_GROUP_MOST];
            size_t count = 1 + (size_t)below(random, visitor_count - i);

            for (size_t j = 0; j < count; j++)
                requests[j] = &visitors[i + j].request;
            request_group_read(&group, requests, count);
            read_until = i + count;
        }
        if (group.is_lost)
            finish(&group);
        were_read += visitor->request.host_rows != NULL;
        visitor->outcome = request_group_add(&group, &visitor->request);
        if (visitor->outcome == OUTCOME_AGAIN) {
            finish(&group);
            run_alone(visitor);
        } else if (visitor->outcome != OUTCOME_JOINED) {
            request_end(&visitor->request, visitor->outcome, &visitor->reply);
        }
    }
    if (below(random, 6) == 0)
        db_fail_nth(server.db, 1, STATUS_DB_RETRY);
    if (group.count > 0)
        finish(&group);
    db_fail_nth(server.db, 0, STATUS_OK);
}

/* `random` NULL: one after the other. Else together, with failures here and there. */
static void play(const struct script_line *lines, struct random *random, struct play *ret_play)
{
    make_rows();
    test_sql(database, "DELETE FROM qm_host WHERE hostid %% 2 = 0");
    for (int host = 1; host <= HOSTS; host++)
        serving_add_jobs(
            database,
            &(struct new_jobs){.first = 1000 * host, .count = OF_HOST, .host = host, .fpops = 1e9});
    for (size_t i = 0; i < SCRIPT; i += visitor_count) {
        size_t most = random == NULL ? 1 : 1 + (size_t)below(random, REQUEST_GROUP_MOST);

        visitor_count = 0;
        while (visitor_count < most && i + visitor_count < SCRIPT)
            begin_line(lines, i + visitor_count);
        if (random == NULL)
            run_alone(&visitors[0]);
        else
            run_in_groups(random);
        for (size_t j = 0; j < visitor_count; j++)
            ret_play->replies[i + j] = text_keep(buffer_text(&visitors[j].reply));
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

        server.config->workload_sim = seed % 2 == 0;
        server.config->max_wus_in_progress = seed % 3 == 0 ? 4 : 0;
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
    assert_true(were_read > 50);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_case, end_case)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_commit_keeps_all),
        CASE(a_member_that_meets_a_locked_row_is_tried_alone),
        CASE(two_that_want_each_others_hosts_do_not_wait),
        CASE(the_first_waits_for_a_lock_only_when_tried_again),
        CASE(a_part_keeps_what_it_wrote_before_its_savepoint),
        CASE(a_refused_member_is_answered_with_the_others),
        CASE(a_wrong_key_for_a_host_is_tried_alone),
        CASE(a_new_host_joins),
        CASE(a_lost_connection_costs_each_an_attempt),
        CASE(a_deadlock_at_the_commit_costs_each_an_attempt),
        CASE(a_commit_that_nobody_answered_and_that_did_not_happen),
        CASE(a_commit_that_nobody_answered_and_that_did_happen),
        CASE(hosts_without_guard_rows_join),
        CASE(a_host_may_come_twice),
        CASE(no_job_stays_reserved),
        CASE(as_many_may_share_as_there_is_room_for),
        CASE(nothing_is_shared_where_a_loss_would_be_silent),
        CASE(what_is_read_for_several_is_what_each_would_read),
        CASE(a_guard_row_may_come_but_not_go),
        CASE(what_several_ask_first_is_asked_once),
        CASE(a_host_with_many_jobs_leaves_the_others_theirs),
        CASE(of_one_user_only_the_first_goes_by_what_was_read),
        CASE(where_one_host_is_locked_each_reads_for_itself),
        CASE(what_was_read_ends_with_its_transaction),
        CASE(who_is_tried_again_reads_anew),
        CASE(who_names_anothers_host_ends_it_too),
        CASE(a_forwarded_host_reads_for_itself),
        CASE(what_is_read_takes_no_more_memory_each_time),
        CASE(a_transaction_may_be_lost_while_it_is_read),
        CASE(what_comes_of_them_is_what_comes_of_each),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
