/* SPDX-License-Identifier: Apache-2.0 */
/* What requests cost the database. The figures of the table are kept here, so that a statement more
 * is a decision and no accident; and a request of any size is one transaction whose statements grow
 * with it a few hundred rows at a time. Times are printed, never judged. */
#include "tests/support/serving.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { NOW = SERVING_NOW, HOST = 1 };

static struct test_database *database;
static struct serving server;
static struct request *const request = &server.request;

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    serving_add_hosts(database, 1);
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

/* Jobs of 100 s on a host of 1 GFLOPS; in progress on the host or unsent. */
static void add_jobs_of(int first, int count, bool in_progress, const char *memory)
{
    serving_add_jobs(database, &(struct new_jobs){.first = first,
                                                  .count = count,
                                                  .host = in_progress ? HOST : 0,
                                                  .memory = memory});
}

static void add_jobs(int first, int count, bool in_progress)
{
    add_jobs_of(first, count, in_progress, NULL);
}

/* Lists jobs as queued, or reports them as done. */
static void add_names(struct buffer *body, const char *element, int first, int count)
{
    for (int i = first; i < first + count; i++)
        buffer_print(body,
                     "<%s>\n<name>r_%d</name>\n<state>5</state>\n<exit_status>0</exit_status>\n"
                     "<final_cpu_time>90</final_cpu_time>\n"
                     "<final_elapsed_time>100</final_elapsed_time>\n</%s>\n",
                     element, i, element);
}

struct asked {
    int report_first, reports; /* jobs that are done */
    int queue_first, queued;   /* jobs that are not */
    double seconds;            /* of work wanted */
    int cpus;                  /* of the host; 0: 4 */
    bool has_workload;         /* the queue is told with times and deadlines too */
    const char *memory;        /* that each job takes, bytes; NULL: next to nothing */
};

/* The queue as clients since 6.11 tell it: of an hour each, some of four threads, due in half a day
 * and later, in twice the time that it needs. */
static void add_workload(struct buffer *body, const struct asked *asked)
{
    double span = 2 * asked->queued * 3600.0 / asked->cpus;

    buffer_add_string(body, "<in_progress_results>\n");
    for (int i = 0; i < asked->queued; i++)
        buffer_print(body,
                     "<ip_result>\n<name>r_%d</name>\n<report_deadline>%.0f</report_deadline>\n"
                     "<time_remaining>%d</time_remaining>\n<avg_ncpus>%d</avg_ncpus>\n"
                     "</ip_result>\n",
                     asked->queue_first + i, NOW + 43200 + span * (i % 1000) / 1000,
                     1800 + i % 3600, i % 8 == 0 ? 4 : 1);
    buffer_add_string(body, "</in_progress_results>\n");
}

static void serve(const struct asked *asked, double now)
{
    struct buffer elements = buffer_on_heap(0);

    add_names(&elements, "result", asked->report_first, asked->reports);
    buffer_add_string(&elements, "<other_results>\n");
    add_names(&elements, "other_result", asked->queue_first, asked->queued);
    buffer_add_string(&elements, "</other_results>\n");
    if (asked->has_workload)
        add_workload(&elements, asked);
    buffer_add_char(&elements, '\0');
    serving_ask(&server,
                &(struct asking){.host = HOST,
                                 .work_seconds = asked->seconds,
                                 .cpus = asked->cpus,
                                 .elements = buffer_text(&elements).at},
                now, (uint64_t)now);
    assert_int_equal(request->attempts, 1);
    buffer_free(&elements);
}

static size_t acknowledged(void)
{
    return request->attempt.answer.acks.count;
}

/* --- the table -------------------------------------------------------------------------------- */

enum switches { DEFAULTS, EVERYTHING };

/* Budget: 5 reports and 10 jobs in 8 round trips with the commit, whatever is switched on; a host's
 * first job of a version costs two more, and job sources that a project adds what they ask. */
static void round_trips_are_counted(void **state)
{
    static const struct {
        const char *name;
        struct asked asked; /* job numbers from 100 are reported, from 200 queued */
        int unsent;
        enum switches switches;
        size_t jobs;
        uint64_t statements, round_trips; /* without the COMMIT, at most */
        size_t kilobytes;                 /* of the arena, at most: each byte is zeroed */
    } cases[] = {
        {"nothing to do", {.seconds = 0}, 0, DEFAULTS, 0, 2, 2, 40},
        {"work wanted, none there", {.seconds = 1000}, 0, DEFAULTS, 0, 6, 5, 200},
        {"1 job", {.seconds = 1}, 50, DEFAULTS, 1, 9, 5, 250},
        {"10 jobs", {.seconds = 1000}, 50, DEFAULTS, 10, 10, 5, 250},
        {"3 reports, no jobs", {.reports = 3, .seconds = 1000}, 0, DEFAULTS, 0, 8, 5, 200},
        {"5 reports, 10 jobs",
         {.reports = 5, .queued = 7, .seconds = 1000},
         50,
         DEFAULTS,
         10,
         12,
         5,
         280},
        {"the same, in short memory",
         {.reports = 5, .queued = 7, .seconds = 1000, .memory = "1e9"},
         50,
         DEFAULTS,
         10,
         13,
         6,
         280},
        {"the same, all options",
         {.reports = 5, .queued = 7, .seconds = 1000},
         50,
         EVERYTHING,
         10,
         13,
         7,
         280},
        {"the same, short queue",
         {.reports = 5, .queued = 7, .seconds = 5000},
         10,
         EVERYTHING,
         10,
         13,
         7,
         280},
    };

    (void)state;
    printf("%-26s %10s %11s %7s %8s\n", "request", "statements", "round trips", "commits", "kB");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        /* The first requests of a kind make the rows that are the host's, and then prepare what
         * changes them. */
        for (int turn = 0; turn < 3; turn++) {
            struct asked asked = cases[i].asked;
            struct db_count count;

            test_sql(database, "DELETE FROM result; DELETE FROM workunit");
            assert_status(STATUS_OK,
                          config_set(server.config, TEXT("msg_to_host"),
                                     cases[i].switches == EVERYTHING ? TEXT("1") : TEXT("0"),
                                     NULL));
            assert_status(STATUS_OK,
                          config_set(server.config, TEXT("send_result_abort"),
                                     cases[i].switches == EVERYTHING ? TEXT("1") : TEXT("0"),
                                     NULL));
            asked.report_first = 100;
            asked.queue_first = 200;
            if (asked.reports > 0)
                add_jobs_of(100, asked.reports, true, asked.memory);
            if (asked.queued > 0)
                add_jobs_of(200, asked.queued, true, asked.memory);
            if (cases[i].unsent > 0)
                add_jobs_of(1000, cases[i].unsent, false, asked.memory);
            serve(&asked, NOW + 100 * (double)(2 * i) + turn);
            assert_int_equal(request->attempt.jobs_sent, cases[i].jobs);
            assert_int_equal(acknowledged(), (size_t)asked.reports);
            count = server.request.counted;
            assert_int_equal(count.commits, 1);
            if (turn < 2)
                continue;
            assert_int_equal(count.prepares, 0);
            printf("%-26s %10llu %11llu %7llu %8zu\n", cases[i].name,
                   (unsigned long long)count.statements, (unsigned long long)count.round_trips,
                   (unsigned long long)count.commits, arena_used(server.arena) >> 10);
            assert_in_range(arena_used(server.arena) >> 10, 1, cases[i].kilobytes);
            assert_in_range(count.round_trips - count.commits, 1, cases[i].round_trips);
            assert_in_range(count.statements - count.commits, 1, cases[i].statements);
        }
    }
}

/* What a cluster pays for the proof that no transaction was lost. */
static void the_token_is_a_statement_but_no_round_trip(void **state)
{
    const struct asked nothing = {.seconds = 0};
    struct db_count count[2];

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1)
            db_keep_token(server.db);
        for (int i = 0; i < 3; i++)
            serve(&nothing, NOW + 10 * turn + i);
        count[turn] = server.request.counted;
    }
    assert_int_equal(count[1].statements, count[0].statements + 1);
    assert_int_equal(count[1].round_trips, count[0].round_trips);
}

/* Complaint 2957: sending lost jobs again "can cripple a heavily loaded database". Looking for them
 * costs one query where some are in progress, and any number of them goes again in as many round
 * trips. Where the queue is not simulated, no workunits are read for the sake of those that might
 * be lost, so those that are cost one query more. */
static void lost_jobs_cost_no_more_than_new_ones(void **state)
{
    static const struct {
        int lost;
        double seconds;
        size_t jobs;          /* new ones besides */
        uint64_t round_trips; /* without the COMMIT, at most */
        const char *workload_sim;
    } cases[] = {{0, 1, 1, 10, "1"},    {1, 1, 0, 9, "1"},  {40, 1, 0, 9, "1"},
                 {5, 1000, 5, 14, "1"}, {0, 1, 1, 10, "0"}, {40, 1, 0, 9, "0"}};

    (void)state;
    printf("%-26s %10s %11s\n", "lost jobs", "statements", "round trips");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int turn = 0; turn < 2; turn++) {
            const struct asked asked = {.seconds = cases[i].seconds};
            struct db_count count;

            test_sql(database, "DELETE FROM result; DELETE FROM workunit");
            assert_status(STATUS_OK, config_set(server.config, TEXT("workload_sim"),
                                                text_from(cases[i].workload_sim), NULL));
            if (cases[i].lost > 0)
                add_jobs(100, cases[i].lost, true);
            add_jobs(1000, 50, false);
            serve(&asked, NOW + 100 * (double)(2 * i) + turn);
            assert_int_equal(request->attempt.resent, (size_t)cases[i].lost);
            assert_int_equal(request->attempt.jobs_sent, cases[i].jobs);
            count = server.request.counted;
            assert_int_equal(count.commits, 1);
            if (turn == 0)
                continue;
            printf("%-26d %10llu %11llu\n", cases[i].lost, (unsigned long long)count.statements,
                   (unsigned long long)count.round_trips);
            assert_in_range(count.round_trips - count.commits, 1, cases[i].round_trips);
        }
}

/* --- large requests --------------------------------------------------------------------------- */

static void print_steps(const char *what)
{
    static const char *const names[] = {
#define NAME(name, brief) #name,
        REQUEST_STEPS(NAME)
#undef NAME
    };

    printf("%s: %.3f s:", what, (double)request->total_ns * 1e-9);
    for (int i = 0; i < STEP_COUNT; i++)
        printf(" %s %.3f", names[i], (double)request->step_ns[i] * 1e-9);
    printf(" commit %.3f; %llu statements, %zu MB in the arena\n",
           (double)request->commit_ns * 1e-9, (unsigned long long)server.request.counted.statements,
           arena_used(server.arena) >> 20);
}

/* 256 names or workunits to a statement, up to 4096 reports to a bulk. */
static void report_many(int count)
{
    const struct asked asked = {.report_first = 1, .reports = count};
    uint64_t lists = ((uint64_t)count + 255) / 256, bulks = ((uint64_t)count + 4095) / 4096;
    char what[64];

    add_jobs(1, count, true);
    serve(&asked, NOW);
    snprintf(what, sizeof(what), "%d reports", count);
    print_steps(what);
    assert_int_equal(acknowledged(), (size_t)count);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE server_state = 5"
                                          " AND outcome = 1 AND received_time = 1795000000"),
               count);
    assert_i64(test_sql_integer(database,
                                "SELECT COUNT(*) FROM workunit WHERE transition_time = 1795000000"),
               count);
    assert_in_range(server.request.counted.statements, 1, 10 + 2 * lists + bulks);
    assert_int_equal(server.request.counted.commits, 1);
}

static void ten_thousand_reports_are_one_transaction(void **state)
{
    (void)state;
    report_many(10000);
}

/* Of more, the first are taken: as many as the budget pays for. */
static void more_reports_than_a_request_may_hold(void **state)
{
    enum { SENT = 3 * MESSAGE_RESULTS_MAX };
    const struct asked asked = {.report_first = 1, .reports = SENT};

    (void)state;
    add_jobs(1, SENT, true);
    serve(&asked, NOW);
    print_steps("30000 reports");
    assert_int_equal(acknowledged(), MESSAGE_RESULTS_MAX);
    assert_int_equal(request->message.results_left, SENT - MESSAGE_RESULTS_MAX);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE server_state = 5"),
               MESSAGE_RESULTS_MAX);
    assert_int_equal(request->attempt.resent, 0); /* what was not read may be what is lost */
}

/* Arrays of one row less than a power of two, 4095 at most: the least that leaves no id out. */
static uint64_t arrays_of_new_rows(int rows)
{
    uint64_t arrays = 0;

    for (int most = 4095; rows > 0; most = (most - 1) / 2)
        for (; rows >= most; rows -= most)
            arrays++;
    return arrays;
}

/* Of the longest list each is a row; what comes after is lost, and acknowledged with it. */
static void as_many_trickles_as_a_request_may_hold(void **state)
{
    const struct asking asking = {.host = HOST, .cpus = 4};
    const uint64_t arrays = arrays_of_new_rows(MESSAGE_TRICKLES_MAX);
    struct buffer elements = buffer_on_heap(0);
    struct asking with_trickles = asking;
    struct db_count without;

    (void)state;
    serving_ask(&server, &asking, NOW, 1);
    serving_ask(&server, &asking, NOW + 60, 2);
    without = server.request.counted;
    for (int i = 0; i < MESSAGE_TRICKLES_MAX + 7; i++)
        buffer_print(&elements, "<msg_from_host>\n<variety>v</variety>\n%d\n</msg_from_host>\n", i);
    buffer_add_char(&elements, '\0');
    with_trickles.elements = buffer_text(&elements).at;
    serving_ask(&server, &with_trickles, NOW + 120, 3);
    buffer_free(&elements);
    print_steps("10007 trickles");
    assert_int_equal(request->attempts, 1);
    assert_true(request->attempt.answer.message_ack);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM msg_from_host"),
               MESSAGE_TRICKLES_MAX);
    /* The key of so large a body is looked up before it is parsed. */
    assert_int_equal(server.request.counted.statements, without.statements + 1 + arrays);
    assert_in_range(server.request.counted.round_trips, 1, without.round_trips + 2 * arrays);
    assert_int_equal(server.request.counted.commits, 1);
}

/* A thousand kinds of jobs, for a host of 256 CPUs: what its times cost is no query.
 */
static void a_long_workload_is_simulated(void **state)
{
    const struct asked asked = {
        .queue_first = 1, .queued = 10000, .seconds = 3e5, .cpus = 256, .has_workload = true};

    (void)state;
    assert_status(STATUS_OK, config_set(server.config, TEXT("max_ncpus"), TEXT("256"), NULL));
    add_jobs(1, asked.queued, true);
    add_jobs(200000, 1000, false);
    test_sql(database, "UPDATE workunit SET rsc_fpops_est = 1e12 + id %% 1000 * 1e9,"
                       " delay_bound = 3600 * (1 + id %% 100) WHERE id >= 200000");
    serve(&asked, NOW);
    print_steps("10000 jobs with times");
    assert_int_equal(request->attempt.resent, 0);
    assert_in_range(request->attempt.jobs_sent, 1, 1000);
    assert_in_range(server.request.counted.statements, 1, 17);
}

/* All of them are in progress, and looked at for lost jobs, for unneeded ones, and by limits. */
static void a_long_queue_is_read_by_one_query(void **state)
{
    enum { QUEUED = 10000 };
    struct asked asked = {.queue_first = 1, .queued = QUEUED, .seconds = 10};

    (void)state;
    assert_status(STATUS_OK, config_set(server.config, TEXT("send_result_abort"), TEXT("1"), NULL));
    add_jobs(1, QUEUED, true);
    add_jobs(200000, 50, false);
    serve(&asked, NOW);
    print_steps("10000 jobs in the queue");
    assert_int_equal(request->attempt.resent, 0);
    assert_int_equal(request->attempt.answer.aborts.count, 0);
    assert_in_range(server.request.counted.statements, 1, 17);
    /* Half of the list is of no project's job; three of the host's own jobs are missing in it. */
    asked.queue_first = 4;
    test_sql(database, "UPDATE result SET name = CONCAT('y_', id) WHERE id > 5000 AND id < 10001;"
                       "UPDATE result SET hostid = 0, server_state = 2 WHERE id > 5000"
                       " AND id < 10001");
    serve(&asked, NOW + 60);
    print_steps("half of them unknown");
    assert_int_equal(request->attempt.resent, 3);
    assert_int_equal(request->attempt.answer.aborts.count, 5003);
    assert_in_range(server.request.counted.statements, 1, 100);
}

/* Every second row has been booked by somebody else since; the same rows are named twice. */
static void many_reports_that_others_booked(void **state)
{
    enum { COUNT = 5000 };
    struct result_report *reports = calloc(COUNT, sizeof(reports[0]));
    bool *booked = calloc(COUNT, sizeof(booked[0]));

    (void)state;
    assert_true(reports != NULL && booked != NULL);
    add_jobs(1, COUNT, true);
    test_sql(database,
             "UPDATE result SET server_state = 5, outcome = 1, hostid = 77, received_time = 7"
             " WHERE id %% 2 = 0");
    for (int i = 0; i < COUNT; i++)
        reports[i] = (struct result_report){.id = COUNT - i / 2,
                                            .workunitid = COUNT - i / 2,
                                            .hostid = HOST,
                                            .received_time = NOW,
                                            .exit_status = i % 2,
                                            .outcome = 1};
    assert_status(STATUS_OK, db_begin(server.db));
    assert_status(STATUS_OK, db_reports_save(server.db, server.arena, reports, COUNT, NOW, booked));
    assert_status(STATUS_DB_RETRY, db_commit(server.db));
    assert_status(STATUS_OK, db_rollback(server.db));
    db_count_reset(server.db);
    assert_status(STATUS_OK, db_reports_save(server.db, server.arena, reports, COUNT, NOW, booked));
    assert_status(STATUS_OK, db_commit(server.db));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(booked[i], reports[i].id % 2 == 1);
    assert_i64(test_sql_integer(database,
                                "SELECT COUNT(*) FROM result WHERE received_time = %d"
                                " AND exit_status = 0",
                                NOW),
               COUNT / 4);
    assert_int_equal(db_count(server.db).statements, 10 + 1 + 10 + 1); /* and COMMIT */
    free(reports);
    free(booked);
}

/* --- single statements ------------------------------------------------------------------------ */

/* With each request, from the second on by an update. */
static void the_guard_row_changes_with_every_request(void **state)
{
    const struct asked nothing = {.seconds = 0};
    int64_t rpcs = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        serve(&nothing, NOW + i);
        assert_true(test_sql_integer(database, "SELECT rpcs FROM qm_host") > rpcs);
        rpcs = test_sql_integer(database, "SELECT rpcs FROM qm_host");
        assert_true((uint64_t)test_sql_integer(database, "SELECT token FROM qm_host") ==
                    request->token);
        assert_i64(test_sql_integer(database, "SELECT changed FROM qm_host"), NOW + i);
        assert_i64(test_sql_integer(database, "SELECT rpc_time FROM host"), NOW + i);
    }
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_host"), 1);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM host"), 1);
}

/* A host's first job of a version costs one more round trip, for what its past says. */
static void a_new_version_inherits_what_the_host_did(void **state)
{
    const struct asked one = {.seconds = 1};

    (void)state;
    add_jobs(1, 50, false);
    test_sql(database,
             "SET SESSION sql_mode = '';"
             "INSERT INTO app_version SET id = 9, appid = 1, version_num = 98, platformid = 1,"
             " plan_class = '', deprecated = 1;"
             "INSERT INTO app_version SET id = 10, appid = 1, version_num = 99, platformid = 1,"
             " plan_class = '', deprecated = 1;"
             "INSERT INTO app_version SET id = 12, appid = 1, version_num = 99, platformid = 1,"
             " plan_class = 'mt';"
             "INSERT INTO app_version SET id = 13, appid = 1, version_num = 99, platformid = 2;"
             "INSERT INTO app_version SET id = 14, appid = 2, version_num = 99, platformid = 1;"
             "INSERT INTO host_app_version (host_id, app_version_id, et_n, et_avg, et_var,"
             " turnaround_avg, max_jobs_per_day, n_jobs_today, consecutive_valid)"
             " VALUES (1, 9, 90, 1, 1, 1, 1, 1, 1), (1, 10, 50, 2, 3, 4, 60, 7, 80),"
             " (1, 12, 1, 1, 1, 1, 1, 1, 1), (1, 13, 1, 1, 1, 1, 1, 1, 1),"
             " (1, 14, 1, 1, 1, 1, 1, 1, 1), (2, 10, 1, 1, 1, 1, 1, 1, 1)");
    test_sql(database, "UPDATE host SET rpc_time = %d", NOW - 1);
    serve(&one, NOW);
    assert_int_equal(request->attempt.jobs_sent, 1);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM host_app_version"), 7);
    assert_i64(test_sql_integer(database,
                                "SELECT COUNT(*) FROM host_app_version WHERE host_id = 1"
                                " AND app_version_id = 11 AND et_n = 50 AND et_avg = 2"
                                " AND et_var = 3 AND turnaround_avg = 4 AND max_jobs_per_day = 60"
                                " AND n_jobs_today = 8 AND consecutive_valid = 80"),
               1);
    assert_i64(test_sql_integer(database, "SELECT n_jobs_today FROM host_app_version"
                                          " WHERE host_id = 1 AND app_version_id = 10"),
               7);
    test_sql(database, "UPDATE host_app_version SET et_n = 51 WHERE app_version_id = 10;"
                       "UPDATE result SET name = CONCAT('x', id) WHERE server_state = 4");
    serve(&one, NOW + 1);
    assert_i64(test_sql_integer(database, "SELECT et_n FROM host_app_version"
                                          " WHERE host_id = 1 AND app_version_id = 11"),
               50);
}

/* Where the result is lost, its workunit is not written, and nobody is asked which one it is. */
static void a_lost_claim_leaves_the_workunit_alone(void **state)
{
    struct claim claims[3];
    struct job_key keys[3];
    struct locked_job locked[3];
    size_t count = 0;

    (void)state;
    add_jobs(1, 3, false);
    test_sql(database, "UPDATE result SET server_state = 4, hostid = 77 WHERE id = 2");
    for (int i = 0; i < 3; i++)
        keys[i] = (struct job_key){.resultid = 3 - i, .workunitid = 3 - i};
    assert_status(STATUS_OK, db_begin(server.db));
    db_count_reset(server.db);
    assert_status(STATUS_OK, db_jobs_lock(server.db, server.arena, keys, 3, NULL, locked));
    for (int i = 0; i < 3; i++)
        if (locked[i].is_unsent)
            claims[count++] = (struct claim){.resultid = keys[i].resultid,
                                             .workunitid = keys[i].workunitid,
                                             .sent_time = NOW,
                                             .report_deadline = NOW + 100,
                                             .app_version_id = 11,
                                             .commit_hr_class = 5,
                                             .commit_app_version_id = 11};
    assert_int_equal(count, 2);
    assert_status(STATUS_OK, db_results_claim(server.db, server.arena, HOST, 1, claims, count));
    assert_int_equal(db_count(server.db).statements, 2);
    assert_status(STATUS_OK, db_commit(server.db));
    assert_i64(
        test_sql_integer(database,
                         "SELECT COUNT(*) FROM workunit WHERE id IN (1, 3)"
                         " AND transition_time = %d AND hr_class = 5 AND app_version_id = 11",
                         NOW + 100),
        2);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM workunit WHERE id = 2"
                                          " AND transition_time = 2147483647 AND hr_class = 0"
                                          " AND app_version_id = 0"),
               1);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE hostid = 77"), 1);
}

/* A query that looked at as many rows as it may gives way to one for the host's apps alone. */
static void a_flood_of_another_app_hides_nothing(void **state)
{
    const int64_t app = 2;
    struct candidate_filter filter = {
        .appids = &app, .appid_count = 1, .memory_max = 1e300, .disk_max = 1e300, .rows_max = 10};
    struct candidate *candidates;
    size_t count;

    (void)state;
    add_jobs(1, 3000, false);
    test_sql(database, "UPDATE result SET appid = 2, priority = -1 WHERE id IN (4, 1500)");
    assert_status(STATUS_OK, db_begin(server.db));
    db_count_reset(server.db);
    assert_status(STATUS_OK, db_candidates(server.db, server.arena, &filter, &candidates, &count));
    assert_int_equal(count, 2);
    assert_int_equal(db_count(server.db).round_trips, 1);
    filter.examined_max = 1000;
    assert_status(STATUS_OK, db_candidates(server.db, server.arena, &filter, &candidates, &count));
    assert_int_equal(count, 2);
    assert_int_equal(db_count(server.db).round_trips, 3);
    test_sql(database, "UPDATE result SET server_state = 5 WHERE appid = 2");
    filter.examined_max = 0;
    assert_status(STATUS_OK, db_candidates(server.db, server.arena, &filter, &candidates, &count));
    assert_int_equal(count, 0);
    assert_int_equal(db_count(server.db).round_trips, 4);
    (void)db_rollback(server.db);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(round_trips_are_counted),
        CASE(the_token_is_a_statement_but_no_round_trip),
        CASE(lost_jobs_cost_no_more_than_new_ones),
        CASE(ten_thousand_reports_are_one_transaction),
        CASE(more_reports_than_a_request_may_hold),
        CASE(as_many_trickles_as_a_request_may_hold),
        CASE(a_long_workload_is_simulated),
        CASE(a_long_queue_is_read_by_one_query),
        CASE(many_reports_that_others_booked),
        CASE(the_guard_row_changes_with_every_request),
        CASE(a_new_version_inherits_what_the_host_did),
        CASE(a_lost_claim_leaves_the_workunit_alone),
        CASE(a_flood_of_another_app_hides_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
