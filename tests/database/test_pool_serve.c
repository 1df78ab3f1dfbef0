/* SPDX-License-Identifier: Apache-2.0 */
/* Whole requests served out of a job pool. */
#include "tests/support/pool_server.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "server/project/catalog.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOW = SERVING_NOW, POOL_MAX = 200000, FLOOD = 100000, FLOOD_MAX = 10000000, KINDS = 12000 };
enum { APP = 1, OLD_APP = 2 };

static struct test_database *database;
static struct config *config;
static struct pool_server server;

/* --- the world ------------------------------------------------------------------------------- */

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    config = test_database_config(database);
    serving_add_hosts(database, 4);
    test_sql(database,
             "SET SESSION sql_mode = '';"
             "INSERT INTO app SET id = 2, name = 'old', user_friendly_name = 'Old', weight = 1,"
             " deprecated = 1;"
             "INSERT INTO app_version SET id = 21, appid = 2, version_num = 100, platformid = 1,"
             " plan_class = '', xml_doc = '<app_version>\\n</app_version>\\n'");
    pool_server_open(&server, database, 1, POOL_MAX);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pool_server_close(&server);
    test_database_destroy(database);
    return 0;
}

/* Jobs of 1e11 FLOP; `memory` is SQL in terms of seq. */
static void add_jobs_of(int app, int first, int count, int priority, const char *memory)
{
    serving_add_jobs(
        database,
        &(struct new_jobs){
            .first = first, .count = count, .appid = app, .priority = priority, .memory = memory});
}

static void add_jobs(int first, int count, int priority, const char *memory)
{
    add_jobs_of(APP, first, count, priority, memory);
}

static const struct answer *ask(struct pool_server *of, int host, double memory, int seconds)
{
    return serving_ask(&of->serving,
                       &(struct asking){.host = host, .work_seconds = seconds, .memory = memory},
                       NOW, (uint64_t)host);
}

static size_t ask_new(struct pool_server *of, int host, int seconds)
{
    (void)ask(of, host, 4e9, seconds);
    return of->serving.request.attempt.jobs_sent;
}

static struct pool_figures figures_of(const struct pool_server *of)
{
    struct pool_figures now;

    pool_figures(of->serving.pool, &now);
    return now;
}

static struct pool_figures figures(void)
{
    return figures_of(&server);
}

static void set_rule(const char *name, const char *value)
{
    assert_status(STATUS_OK, config_set(config, text_from(name), text_from(value), NULL));
}

/* --- stories --------------------------------------------------------------------------------- */

/* Jobs of a flood: QM_FLOOD_JOBS, for more than the suite has time for. */
static int flood_size(void)
{
    const char *given = getenv("QM_FLOOD_JOBS");
    int64_t jobs = FLOOD;

    if (given != NULL && (!text_to_i64(text_from(given), &jobs) || jobs < 1 || jobs > FLOOD_MAX))
        fail_msg("QM_FLOOD_JOBS is a number from 1 to %d", (int)FLOOD_MAX);
    return (int)jobs;
}

/* Behind so many jobs of a higher priority that no host can have, half of them each of a class of
 * its own, the one that everybody can have is found by the first request after the fill, and
 * without asking the database. Times are printed, never judged. */
static void expect_flood_to_delay_nothing(const char *what, int app, const char *memory)
{
    uint64_t fallbacks = counter_value(COUNTER_pool_fallbacks);
    int flood = flood_size();
    double began = clock_seconds(), filled, asked;
    const struct answer *answer;
    struct pool_server large;

    add_jobs_of(app, 1, flood, 9, memory);
    add_jobs(flood + 1, 1, 0, "1e6");
    printf("%d %s: made in %.1f s", flood, what, clock_seconds() - began);
    pool_server_open(&large, database, 3, (size_t)flood + 1);
    began = clock_seconds();
    while (!figures_of(&large).is_filled)
        pool_server_pass(&large, 1);
    filled = clock_seconds();
    assert_int_equal(figures_of(&large).jobs, flood + 1);
    answer = ask(&large, 1, 4e9, 100);
    asked = clock_seconds();
    assert_int_equal(answer->job_count, 1);
    assert_i64(answer->jobs[0].resultid, flood + 1);
    assert_int_equal(counter_value(COUNTER_pool_fallbacks), fallbacks);
    assert_int_equal(figures_of(&large).jobs, flood);
    assert_int_equal(figures_of(&large).taken, 0);
    printf(", filled in %.1f s, the request took %.2f ms\n", filled - began,
           (asked - filled) * 1e3);
    pool_server_close(&large);
}

/* Complaint 1517: what nobody can run stood before what everybody can. */
static void a_flood_that_nobody_can_run_delays_nothing(void **state)
{
    (void)state;
    expect_flood_to_delay_nothing("jobs too large for any host", APP,
                                  "IF(seq % 2 = 0, 1e12, 1e12 + seq)");
}

static void a_flood_of_a_deprecated_app_delays_nothing(void **state)
{
    (void)state;
    expect_flood_to_delay_nothing("jobs of a deprecated app", OLD_APP, "1e6 + seq % 2 * seq");
}

/* The same without a pool, where the first query gives but the first of them. */
static void expect_kinds_to_hide_nothing(const char *elements)
{
    struct asking asking = {.host = 2, .work_seconds = 100, .elements = elements};
    const struct answer *answer;
    struct serving plain;

    add_jobs(KINDS + 2, 1, 0, "1e6");
    serving_open(&plain, database);
    answer = serving_ask(&plain, &asking, NOW, 2);
    assert_int_equal(answer->job_count, 1);
    assert_i64(answer->jobs[0].resultid, KINDS + 2);
    serving_close(&plain);
}

/* Jobs of kinds of their own that this host may not have, though it is large and fast enough; more
 * of them than requests look at one by one. `sql` makes them such, `elements` are of the request.
 */
static void expect_kinds_to_delay_nothing(const char *sql, const char *elements)
{
    uint64_t fallbacks = counter_value(COUNTER_pool_fallbacks);
    struct asking asking = {.host = 1, .work_seconds = 100, .elements = elements};
    const struct answer *answer;
    struct pool_server large;

    add_jobs(1, KINDS, 9, "1e6 + seq");
    add_jobs(KINDS + 1, 1, 0, "1e6");
    test_sql(database, "%s", sql);
    pool_server_open(&large, database, 3, POOL_MAX);
    while (!figures_of(&large).is_filled)
        pool_server_pass(&large, 1);
    answer = serving_ask(&large.serving, &asking, NOW, 1);
    assert_int_equal(answer->job_count, 1);
    assert_i64(answer->jobs[0].resultid, KINDS + 1);
    assert_int_equal(counter_value(COUNTER_pool_fallbacks), fallbacks);
    assert_int_equal(figures_of(&large).taken, 0);
    pool_server_close(&large);
    expect_kinds_to_hide_nothing(elements);
}

static void a_flood_for_quick_hosts_delays_nothing(void **state)
{
    (void)state;
    expect_kinds_to_delay_nothing(
        "UPDATE workunit SET batch = 1 + id % 13 WHERE id <= 12000;"
        "INSERT INTO qm_hurry (batch, wanted, within) SELECT seq, 1, 3600 FROM seq_1_to_13",
        NULL);
}

static void a_flood_of_marked_jobs_delays_nothing(void **state)
{
    (void)state;
    set_rule("batch_accel", "1");
    expect_kinds_to_delay_nothing("UPDATE app SET n_size_classes = 2 WHERE id = 1;"
                                  "UPDATE workunit SET priority = 1 WHERE id <= 12000",
                                  NULL);
}

static void a_flood_for_reliable_hosts_delays_nothing(void **state)
{
    (void)state;
    set_rule("reliable_on_priority", "5");
    expect_kinds_to_delay_nothing("DO 0", NULL);
}

static void a_flood_with_unwanted_keywords_delays_nothing(void **state)
{
    (void)state;
    set_rule("keyword_sched", "1");
    expect_kinds_to_delay_nothing("UPDATE workunit SET keywords = '7 12' WHERE id <= 12000",
                                  "<user_keywords><no>12</no></user_keywords>");
}

/* Every job is of a kind of its own, and one only is small enough. */
static void a_rare_host_finds_its_job_at_once(void **state)
{
    const struct answer *answer;

    (void)state;
    add_jobs(1, 30000, 0, "IF(seq = 17000, 1e8, 3e8 + seq * 1e4)");
    pool_server_pass(&server, 5);
    answer = ask(&server, 1, 2e8, 100);
    assert_int_equal(answer->job_count, 1);
    assert_i64(answer->jobs[0].resultid, 17000);
}

static void the_nearest_miss_is_told(void **state)
{
    const struct answer *answer;

    (void)state;
    add_jobs(1, 3000, 0, "3e9 + seq * 1e6");
    pool_server_pass(&server, 5);
    answer = ask(&server, 1, 1e9, 100);
    assert_int_equal(answer->job_count, 0);
    assert_true(text_contains(buffer_text(&server.serving.reply), TEXT("needs")));
    assert_true(text_contains(buffer_text(&server.serving.reply), TEXT("of memory")));
    assert_int_equal(figures().taken, 0);
}

static void what_others_took_is_replaced_in_the_same_request(void **state)
{
    const struct answer *answer;

    (void)state;
    add_jobs(1, 50, 0, "1e6");
    pool_server_pass(&server, 5);
    test_sql(database, "UPDATE result SET server_state = 4, hostid = 3 WHERE id <= 20");
    answer = ask(&server, 1, 4e9, 250);
    assert_int_equal(answer->job_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(answer->jobs[i].resultid > 20);
    assert_int_equal(figures().taken, 0);
    assert_in_range(figures().jobs, 27, 46); /* what was lost is held no more */
}

/* A host that has nothing to do asks for more than it can do by the deadline, and the pool holds
 * enough, of which nothing is there any more. That is told, and no deadline. */
static void what_is_withdrawn_is_not_called_late(void **state)
{
    static const char *const withdrawals[] = {
        "UPDATE result SET server_state = 5, outcome = 5",
        "UPDATE workunit, result SET error_mask = 16, server_state = 5, outcome = 5",
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct answer *answer;

        add_jobs((int)i * 100 + 1, 100, 0, "1e6");
        test_sql(database, "UPDATE workunit SET rsc_fpops_est = 5e13, delay_bound = 86400");
        pool_server_pass(&server, 5);
        test_sql(database, "%s", withdrawals[i]);
        answer = ask(&server, 1 + (int)i, 4e9, 28 * 86400);
        assert_int_equal(answer->job_count, 0);
        assert_false(answer->no_work_deadlines);
        assert_string_equal(answer_first_reason(answer), i == 0 ? "others_faster" : "no_jobs");
        assert_true(answer->request_delay >= 60 && answer->request_delay < 300);
        assert_false(text_contains(buffer_text(&server.serving.reply), TEXT("in time")));
    }
}

/* Round trips of a request for three jobs, and how many it got. */
static uint64_t count_round_trips(int host, size_t *ret_jobs)
{
    *ret_jobs = ask(&server, host, 4e9, 250)->job_count;
    return server.serving.request.counted.round_trips;
}

/* Jobs by the thousand, in one class or each in its own, are withdrawn in the database. What is
 * left of lower priority is found, in few round trips; and soon nothing is to be seen of it any
 * more. */
static void thousands_withdrawn_cost_few_round_trips(void **state)
{
    static const struct {
        const char *memory, *withdrawal, *rule;
        uint64_t first; /* round trips at most */
    } cases[] = {
        {"1e6", "UPDATE result SET server_state = 5, outcome = 5 WHERE id <= 20000", "0", 24},
        {"1e6", "UPDATE workunit SET error_mask = 16 WHERE id <= 20000", "0", 24},
        {"1e6", "UPDATE workunit SET error_mask = 16 WHERE id <= 20000", "1", 24},
        {"1e6 + seq", "UPDATE result SET server_state = 5, outcome = 5 WHERE id <= 20000", "0", 24},
    };
    enum { WITHDRAWN = 20000 };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t usual, first, later = 0;
        size_t jobs;

        (void)teardown(state);
        (void)setup(state);
        set_rule("one_result_per_user_per_wu", cases[i].rule);
        set_rule("resend_lost_results", "0");
        add_jobs(1, WITHDRAWN, 9, cases[i].memory);
        add_jobs(WITHDRAWN + 1, 50, 0, "2e6");
        pool_server_pass(&server, 5);
        for (int turn = 0; turn < 2; turn++) /* statements are prepared */
            (void)count_round_trips(1, &jobs);
        usual = count_round_trips(1, &jobs);
        assert_int_equal(jobs, 3);
        test_sql(database, "%s", cases[i].withdrawal);
        first = count_round_trips(2, &jobs);
        assert_int_equal(jobs, 3);
        for (int turn = 0; turn < 3; turn++) {
            later = count_round_trips(1, &jobs);
            assert_int_equal(jobs, 3);
        }
        printf("%zu: %llu round trips, the first after it was withdrawn %llu, then %llu\n", i,
               (unsigned long long)usual, (unsigned long long)first, (unsigned long long)later);
        assert_in_range(first, usual, cases[i].first);
        assert_int_equal(later, usual);
    }
}

/* One of the jobs is there, and the bound of what is asked about ends the search before the others
 * are found: the database is asked. Pages that were of no use leave no memory behind. */
static void who_got_one_before_thousands_withdrawn_gets_the_others(void **state)
{
    (void)state;
    add_jobs(1, 1, 10, "1e6");
    add_jobs(2, 20000, 9, "1e6 + seq");
    add_jobs(30001, 50, 0, "2e6");
    pool_server_pass(&server, 5);
    test_sql(database,
             "UPDATE result SET server_state = 5, outcome = 5 WHERE id BETWEEN 2 AND 20001");
    assert_int_equal(ask(&server, 1, 4e9, 250)->job_count, 3);
    assert_int_equal(figures().taken, 0);
    printf("%zu bytes of memory\n", arena_used(server.serving.arena));
    assert_in_range(arena_used(server.serving.arena), 1, 2 << 20);
}

/* Another program gives most jobs another priority, and the pool is asked for the withdrawn ones
 * before them: it reads them again, and does not take them for withdrawn. */
static void a_changed_priority_is_no_withdrawal(void **state)
{
    const struct answer *answer;

    (void)state;
    add_jobs(1, 5000, 9, "1e6");
    add_jobs(30001, 50, 0, "2e6");
    pool_server_pass(&server, 5);
    test_sql(database, "UPDATE result SET server_state = 5, outcome = 5 WHERE id <= 1000;"
                       "UPDATE result SET priority = 5 WHERE id > 1000 AND id <= 5000");
    assert_int_equal(ask(&server, 1, 4e9, 250)->job_count, 3);
    pool_server_pass(&server, 2);
    answer = ask(&server, 2, 4e9, 250);
    assert_int_equal(answer->job_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_in_range(answer->jobs[i].resultid, 1001, 5000);
}

static void before_the_first_fill_the_database_is_asked(void **state)
{
    (void)state;
    add_jobs(1, 5, 0, "1e6");
    assert_int_equal(ask(&server, 1, 4e9, 100)->job_count, 1);
}

static void an_incomplete_pool_asks_the_database_before_no(void **state)
{
    struct pool_server small;
    const struct answer *answer;

    (void)state;
    add_jobs(1, 100, 0, "1e6");
    pool_server_open(&small, database, 2, 20);
    pool_server_pass(&small, 1);
    pool_drop(small.serving.pool, (int64_t[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10);
    pool_drop(small.serving.pool, (int64_t[]){11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, 10);
    answer = ask(&small, 1, 4e9, 100);
    assert_int_equal(answer->job_count, 1);
    pool_server_close(&small);
}

static bool anything(void *context, const struct pool_group *group, struct pool_terms *ret_terms)
{
    (void)context;
    (void)group;
    *ret_terms =
        (struct pool_terms){.limits = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL}, .jobs = 20};
    return true;
}

/* Nobody knows whether another request will use what it holds: whoever wants more than the pool has
 * left, and could do it, asks the database. */
static void who_got_some_looks_further_while_there_are_jobs(void **state)
{
    uint64_t fallbacks = counter_value(COUNTER_pool_fallbacks);
    struct pool_question question = {
        .judge = anything, .jobs_max = 20, .classes_max = 9, .times_wanted = 9};
    struct pool_answer taken;

    (void)state;
    add_jobs(1, 40, 0, "1e6");
    pool_server_pass(&server, 5);
    assert_true(pool_take(server.serving.pool, server.serving.arena, &question,
                          (struct pool_place){0}, &taken));
    assert_int_equal(taken.count, 20);
    assert_int_equal(ask(&server, 1, 4e9, 3000)->job_count, 30);
    assert_int_equal(counter_value(COUNTER_pool_fallbacks), fallbacks + 1);
    assert_int_equal(figures().taken, 20 - 10); /* of those that the other holds it got ten */
    assert_int_equal(ask(&server, 2, 4e9, 3000)->job_count, 10);
    assert_int_equal(figures().taken, 0);

    /* What is in nobody's hands is not looked for. */
    add_jobs(41, 20, 0, "1e6");
    pool_server_pass(&server, 5);
    fallbacks = counter_value(COUNTER_pool_fallbacks);
    assert_int_equal(ask(&server, 3, 4e9, 3000)->job_count, 20);
    assert_int_equal(counter_value(COUNTER_pool_fallbacks), fallbacks);
}

/* A job that another thread holds may come back: "no" is not said because of it. */
static void jobs_in_other_hands_are_no_reason_for_no(void **state)
{
    uint64_t fallbacks = counter_value(COUNTER_pool_fallbacks);
    struct pool_question question = {
        .judge = anything, .jobs_max = 9, .classes_max = 9, .times_wanted = 9};
    struct pool_answer taken;

    (void)state;
    pool_server_pass(&server, 5);
    assert_int_equal(ask(&server, 1, 4e9, 100)->job_count, 0);
    assert_int_equal(counter_value(COUNTER_pool_fallbacks), fallbacks);
    add_jobs(1, 3, 0, "1e6");
    pool_server_pass(&server, 5);
    assert_true(pool_take(server.serving.pool, server.serving.arena, &question,
                          (struct pool_place){0}, &taken));
    assert_int_equal(taken.count, 3);
    assert_int_equal(ask(&server, 1, 4e9, 100)->job_count, 1);
    assert_int_equal(counter_value(COUNTER_pool_fallbacks), fallbacks + 1);
}

/* But not because of one that is not for this host, nor of others like those that it sees. */
static void what_is_no_use_to_a_host_may_be_in_other_hands(void **state)
{
    uint64_t fallbacks = counter_value(COUNTER_pool_fallbacks);
    struct pool_question question = {
        .judge = anything, .jobs_max = 2, .classes_max = 9, .times_wanted = 9};
    struct pool_answer taken;

    (void)state;
    add_jobs(1, 3, 0, "8e9");
    pool_server_pass(&server, 5);
    assert_true(pool_take(server.serving.pool, server.serving.arena, &question,
                          (struct pool_place){0}, &taken));
    assert_int_equal(taken.count, 2);
    assert_int_equal(ask(&server, 1, 4e9, 100)->job_count, 0);
    assert_int_equal(counter_value(COUNTER_pool_fallbacks), fallbacks);
}

static void a_failed_transaction_gives_the_jobs_back(void **state)
{
    (void)state;
    add_jobs(1, 40, 0, "1e6");
    pool_server_pass(&server, 5);
    assert_status(STATUS_OK, config_set(config, TEXT("request_tries"), TEXT("1"), NULL));
    for (uint64_t nth = 1; nth < 12; nth++) {
        db_fail_nth(server.serving.db, nth, STATUS_DB_RETRY);
        (void)ask(&server, 2, 4e9, 10);
        db_fail_nth(server.serving.db, 0, STATUS_OK);
        assert_int_equal(figures().taken, 0);
        assert_int_equal(
            figures().jobs,
            test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE server_state = 2"));
    }
    assert_status(STATUS_OK, config_set(config, TEXT("request_tries"), TEXT("5"), NULL));
}

static void two_servers_want_different_jobs_and_one_dies(void **state)
{
    uint64_t lost = counter_value(COUNTER_claims_lost);
    struct pool_server other;
    size_t got = 0;

    (void)state;
    add_jobs(1, 400, 0, "1e6");
    assert_status(STATUS_OK, config_set(config, TEXT("resend_lost_results"), TEXT("0"), NULL));
    pool_server_open(&other, database, 2, POOL_MAX);
    for (int i = 0; i < 2; i++) {
        pool_server_pass(&server, 6);
        pool_server_pass(&other, 6);
    }
    for (int i = 0; i < 10; i++) {
        got += ask_new(&server, 1, 250);
        got += ask_new(&other, 2, 250);
    }
    assert_int_equal(got, 60);
    assert_int_equal(counter_value(COUNTER_claims_lost), lost);
    pool_server_close(&other);
    /* What is left is served without waiting for anybody. */
    for (int i = 0; i < 60; i++)
        got += ask_new(&server, 3, 950);
    assert_int_equal(got, 400);
}

/* --- one result per user or host ------------------------------------------------------------- */

enum { MANY = 100000 };

/* Workunits of which the user's host has had a result, besides the one that is unsent. */
static void add_met_jobs(int first, int count, int priority, const char *memory, int host)
{
    add_jobs(first, count, priority, memory);
    test_sql(database,
             "INSERT INTO result (id, workunitid, appid, name, server_state, outcome, hostid,"
             " userid) SELECT 1000000 + seq, seq, 1, CONCAT('wu', seq, '_1'), 5, 1, %d, 1"
             " FROM seq_%d_to_%d",
             host, first, first + count - 1);
}

/* What stands before the two jobs that the user may have is his, whatever it looks like, and
 * however many there are; to know it again costs nothing. */
static void find_the_only_ones(int count, const char *memory, int own_host)
{
    uint64_t statements;

    add_met_jobs(1, count, 0, memory, own_host);
    add_jobs(200000, 2, 0, "1e6");
    pool_server_pass(&server, 5);
    assert_int_equal(figures().jobs, count + 2);
    assert_status(STATUS_OK, config_set(config, TEXT("resend_lost_results"), TEXT("0"), NULL));
    for (int i = 0; i < 3; i++) {
        db_count_reset(server.serving.db);
        assert_int_equal(ask_new(&server, 1, 100), i < 2 ? 1 : 0);
        if (i < 2)
            assert_in_range(server.serving.request.attempt.answer.jobs[0].resultid, 200000, 200001);
        statements = server.serving.request.counted.statements;
        printf("%llu statements, %.3f s\n", (unsigned long long)statements,
               (double)server.serving.request.total_ns * 1e-9);
        assert_in_range(statements, 1, i == 0 ? 20 + (uint64_t)count / 240 : 16);
        assert_int_equal(figures().taken, 0);
        assert_int_equal(figures().jobs, count + (i == 0 ? 1 : 0));
    }
    assert_true(text_contains(buffer_text(&server.serving.reply),
                              TEXT("already had a copy of each available task")));
}

static void behind_many_jobs_of_other_users_one_is_found(void **state)
{
    (void)state;
    set_rule("one_result_per_user_per_wu", "1");
    find_the_only_ones(MANY, "1e6", 2);
}

static void behind_many_jobs_of_other_hosts_one_is_found(void **state)
{
    (void)state;
    set_rule("one_result_per_host_per_wu", "1");
    find_the_only_ones(MANY / 10, "1e6", 1);
}

static void behind_many_kinds_of_jobs_of_other_users_one_is_found(void **state)
{
    (void)state;
    set_rule("one_result_per_user_per_wu", "1");
    find_the_only_ones(MANY, "1e6 + seq", 2);
}

/* While the pool is filled it is of use already. */
static void what_is_read_is_found_before_the_rest_is(void **state)
{
    double pause;

    (void)state;
    set_rule("one_result_per_user_per_wu", "1");
    add_met_jobs(1, 30000, 0, "1e6", 2);
    test_sql(database, "DELETE FROM result WHERE id = 1003000");
    do
        assert_status(STATUS_OK, filler_step(server.filler, server.serving.db, 1000, &pause));
    while (figures().jobs < 3000);
    assert_false(figures().is_filled);
    assert_int_equal(ask_new(&server, 1, 100), 1);
    assert_i64(server.serving.request.attempt.answer.jobs[0].resultid, 3000);
}

/* What the pool cannot know refuses the first, a rule of workunits the next. */
static void behind_other_reasons_one_is_found_too(void **state)
{
    (void)state;
    set_rule("one_result_per_user_per_wu", "1");
    add_jobs(1, 500, 9, "1e6 + seq");
    add_jobs(1001, 2000, 9, "1e6");
    test_sql(database, "UPDATE workunit SET delay_bound = 105");
    set_rule("untried_margin", "3"); /* they may take three times as long */
    add_met_jobs(10001, 20000, 9, "2e6", 2);
    add_met_jobs(40001, 2000, 8, "1e6 + seq", 2);
    add_jobs(200000, 1, 0, "1e6");
    pool_server_pass(&server, 5);
    assert_int_equal(ask_new(&server, 1, 100), 1);
    assert_i64(server.serving.request.attempt.answer.jobs[0].resultid, 200000);
    assert_int_equal(figures().taken, 0);
}

/* A pair is one after the commit only. */
static void what_was_rolled_back_was_not_met(void **state)
{
    size_t got = 0, failed = 0;

    (void)state;
    set_rule("one_result_per_user_per_wu", "1");
    set_rule("resend_lost_results", "0");
    set_rule("request_tries", "1");
    add_jobs(1, 40, 0, "1e6");
    pool_server_pass(&server, 5);
    for (uint64_t nth = 1; got < 40 && nth < 40; nth++) {
        size_t sent;

        db_fail_nth(server.serving.db, nth, STATUS_DB_RETRY);
        (void)ask_new(&server, 1, 100);
        db_fail_nth(server.serving.db, 0, STATUS_OK);
        sent = (size_t)test_sql_integer(database,
                                        "SELECT COUNT(*) FROM result WHERE server_state = 4");
        failed += sent == got;
        got = sent;
    }
    assert_in_range(failed, 5, 30);
    while (ask_new(&server, 1, 100) > 0)
        got++;
    assert_int_equal(got, 40);
}

/* Whatever is repaired in the database by hand is seen in the end. */
static void what_is_not_true_is_forgotten(void **state)
{
    const int64_t workunits[] = {1, 2, 3, 4, 5, 6};

    (void)state;
    set_rule("one_result_per_user_per_wu", "1");
    set_rule("resend_lost_results", "0");
    add_jobs(1, 6, 0, "1e6");
    pool_server_pass(&server, 5);
    pool_note_had(server.serving.pool, POOL_USER, 1, workunits, 6);
    /* Where "no" would be the answer one is looked at again, for the reason. */
    assert_int_equal(ask_new(&server, 1, 250), 1);
    for (int i = 0; i < 2; i++) {
        server.clock += 1000;
        pool_server_pass(&server, 2);
    }
    assert_int_equal(ask_new(&server, 1, 250), 3);
}

/* --- job streams ----------------------------------------------------------------------------- */

/* Ten jobs of the second stream stand behind many of the first, of one kind or each of its own. By
 * the weights they go out with the first twenty. */
static void share_with_a_flood(const char *stream, int app, int flood, const char *memory)
{
    size_t of_second = 0;

    test_sql(database, "UPDATE app SET deprecated = 0;"
                       "INSERT INTO batch (id, user_id) VALUES (10, 5), (20, 6), (21, 6)");
    catalog_release(server.serving.catalog);
    assert_status(STATUS_OK, catalog_load(server.serving.db, &server.serving.catalog));
    add_jobs(1, flood, 0, memory);
    test_sql(database, "UPDATE workunit SET batch = 10");
    add_jobs_of(app, 200001, 10, 0, "1e6");
    test_sql(database, "UPDATE workunit SET batch = 20 WHERE id > 200000");
    pool_server_pass(&server, 5);
    set_rule("resend_lost_results", "0");
    set_rule("stream", stream);
    pool_server_pass(&server, 5); /* the jobs it holds are told apart anew */
    for (int i = 0; i < 6; i++) {
        const struct answer *answer = ask(&server, 1, 4e9, 350);

        assert_int_equal(answer->job_count, 4);
        for (size_t j = 0; j < 4; j++)
            of_second += answer->jobs[j].resultid > 200000;
    }
    assert_int_equal(of_second, 10);
}

static void an_app_gets_its_share_behind_a_flood(void **state)
{
    (void)state;
    share_with_a_flood("app old 1", OLD_APP, 5000, "1e6 + seq");
}

static void a_batch_gets_its_share_behind_a_flood(void **state)
{
    (void)state;
    share_with_a_flood("batch 20 1", APP, 5000, "1e6 + seq");
}

static void a_submitter_gets_its_share_behind_a_flood(void **state)
{
    (void)state;
    share_with_a_flood("user 6 1", APP, FLOOD, "1e6 + seq");
}

static void a_stream_gets_its_share_behind_a_flood_of_one_kind(void **state)
{
    (void)state;
    share_with_a_flood("user 6 1", APP, 5000, "2e6");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_flood_that_nobody_can_run_delays_nothing),
        CASE(a_flood_of_a_deprecated_app_delays_nothing),
        CASE(a_flood_for_quick_hosts_delays_nothing),
        CASE(a_flood_of_marked_jobs_delays_nothing),
        CASE(a_flood_for_reliable_hosts_delays_nothing),
        CASE(a_flood_with_unwanted_keywords_delays_nothing),
        CASE(a_rare_host_finds_its_job_at_once),
        CASE(the_nearest_miss_is_told),
        CASE(what_others_took_is_replaced_in_the_same_request),
        CASE(what_is_withdrawn_is_not_called_late),
        CASE(thousands_withdrawn_cost_few_round_trips),
        CASE(who_got_one_before_thousands_withdrawn_gets_the_others),
        CASE(a_changed_priority_is_no_withdrawal),
        CASE(before_the_first_fill_the_database_is_asked),
        CASE(an_incomplete_pool_asks_the_database_before_no),
        CASE(who_got_some_looks_further_while_there_are_jobs),
        CASE(jobs_in_other_hands_are_no_reason_for_no),
        CASE(what_is_no_use_to_a_host_may_be_in_other_hands),
        CASE(a_failed_transaction_gives_the_jobs_back),
        CASE(two_servers_want_different_jobs_and_one_dies),
        CASE(behind_many_jobs_of_other_users_one_is_found),
        CASE(behind_many_jobs_of_other_hosts_one_is_found),
        CASE(behind_many_kinds_of_jobs_of_other_users_one_is_found),
        CASE(what_is_read_is_found_before_the_rest_is),
        CASE(behind_other_reasons_one_is_found_too),
        CASE(what_was_rolled_back_was_not_met),
        CASE(what_is_not_true_is_forgotten),
        CASE(an_app_gets_its_share_behind_a_flood),
        CASE(a_batch_gets_its_share_behind_a_flood),
        CASE(a_submitter_gets_its_share_behind_a_flood),
        CASE(a_stream_gets_its_share_behind_a_flood_of_one_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
