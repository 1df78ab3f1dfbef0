/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as they end up in the database: each kind of row, repetition, late results, the texts,
 * and how many round trips a request takes. */
#include "config/config.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/requests.h"
#include "tests/support/test.h"
#include "tests/support/visitor.h"

#include <pthread.h>
#include <stdlib.h>

enum { HOST = 3, RESULTS_MAX = 1000 };

static struct test_database *database;
static struct visitor *visitor;
static struct request *request;
static struct reported_result results[RESULTS_MAX];

static int setup_all(void **state)
{
    (void)state;
    database = visitors_create();
    return 0;
}

static int teardown_all(void **state)
{
    (void)state;
    test_database_destroy(database);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    visitors_clear(database);
    test_sql(database,
             "INSERT INTO host SET id = 3, userid = 17, rpc_seqno = 5, rpc_time = %d, p_ncpus = 4;"
             "INSERT INTO host SET id = 4, userid = 17;"
             "INSERT INTO host SET id = 5, userid = 18;"
             "INSERT INTO host_app_version SET host_id = 3, app_version_id = 70,"
             " max_jobs_per_day = 10, consecutive_valid = 5, n_jobs_today = 2",
             VISITOR_NOW - 60);
    memset(results, 0, sizeof(results));
    visitor = visitor_create(database);
    request = &visitor->request;
    request->message.hostid = HOST;
    request->message.rpc_seqno = 6;
    request->message.results = results;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    visitor_destroy(visitor);
    return 0;
}

static void add_row(int64_t id, const char *rest)
{
    test_sql(database,
             "INSERT INTO workunit SET id = %lld, appid = 1, name = 'w%lld',"
             " transition_time = 2147483647;"
             "INSERT INTO result SET id = %lld, workunitid = %lld, name = 'r%lld', appid = 1,"
             " userid = 17, app_version_id = 70, sent_time = %d, report_deadline = 77,"
             " granted_credit = 8, %s",
             (long long)id, (long long)id, (long long)id, (long long)id, (long long)id,
             VISITOR_NOW - 1000, rest);
}

static struct reported_result *add_report(const char *name)
{
    struct reported_result *reported = &results[request->message.result_count++];

    *reported = (struct reported_result){.name = text_from(name),
                                         .state = CLIENT_FILES_UPLOADED,
                                         .has_exit_status = true,
                                         .final_cpu_time = 50,
                                         .final_elapsed_time = 60,
                                         .app_version_num = 103,
                                         .peak_working_set_size = 1e6,
                                         .stderr_out = TEXT("<![CDATA[\nsaid\xE9\n]]>"),
                                         .xml_doc_out = TEXT("<file_info>x</file_info>\n")};
    return reported;
}

static int64_t column(int64_t id, const char *name)
{
    return test_sql_integer(database, "SELECT %s FROM result WHERE id = %lld", name, (long long)id);
}

static int64_t transition(int64_t id)
{
    return test_sql_integer(database, "SELECT transition_time FROM workunit WHERE id = %lld",
                            (long long)id);
}

static void a_success_is_stored(void **state)
{
    (void)state;
    add_row(31, "server_state = 4, hostid = 3");
    add_report("r31");
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_string_equal(visitor_acks(visitor), "r31");
    assert_int_equal(request->attempt.booked, 1);
    assert_i64(column(31, "server_state"), RESULT_OVER);
    assert_i64(column(31, "outcome"), OUTCOME_SUCCESS);
    assert_i64(column(31, "validate_state"), VALIDATE_INIT);
    assert_i64(column(31, "client_state"), CLIENT_FILES_UPLOADED);
    assert_i64(column(31, "received_time"), VISITOR_NOW);
    assert_i64(column(31, "hostid"), HOST);
    assert_i64(column(31, "userid"), 17);
    assert_i64(column(31, "teamid"), 6);
    assert_i64(column(31, "app_version_num"), 103);
    assert_i64(column(31, "cpu_time"), 50);
    assert_i64(column(31, "elapsed_time"), 60);
    assert_i64(column(31, "peak_working_set_size"), 1000000);
    assert_i64(column(31, "sent_time"), VISITOR_NOW - 1000);
    assert_i64(column(31, "report_deadline"), 77);
    assert_i64(column(31, "granted_credit"), 8);
    assert_i64(transition(31), VISITOR_NOW);
    assert_text(test_sql_text(database, "SELECT stderr_out FROM result"),
                "<![CDATA[\nsaid\xE9\n]]>");
    assert_text(test_sql_text(database, "SELECT xml_doc_out FROM result"),
                "<file_info>x</file_info>\n");
}

static void an_error_is_stored_and_costs_quota(void **state)
{
    struct config *config = test_database_config(database);

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("daily_result_quota"), TEXT("100"), NULL));
    add_row(31, "server_state = 4, hostid = 3");
    add_report("r31")->exit_status = -1073741819;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_status(STATUS_OK, config_set(config, TEXT("daily_result_quota"), TEXT("0"), NULL));
    assert_i64(column(31, "outcome"), OUTCOME_CLIENT_ERROR);
    assert_i64(column(31, "validate_state"), VALIDATE_INVALID);
    assert_i64(column(31, "exit_status"), -1073741819);
    assert_i64(test_sql_integer(database, "SELECT max_jobs_per_day FROM host_app_version"), 9);
    assert_i64(test_sql_integer(database, "SELECT consecutive_valid FROM host_app_version"), 0);
}

/* The table of policy(7) 3.1: what happens to a row, and that all are acknowledged. */
static void every_kind_of_row_is_answered(void **state)
{
    static const struct {
        bool booked, resends;
        const char *row;
    } cases[] = {
        {true, false, "server_state = 4, hostid = 3"},
        {true, false, "server_state = 4, hostid = 4"},
        {false, false, "server_state = 4, hostid = 5"},
        {false, false, "server_state = 4, hostid = 99"},
        {false, false, "server_state = 4, hostid = 3, received_time = 9"},
        {false, false, "server_state = 2, hostid = 0"},
        {false, false, "server_state = 1, hostid = 0"},
        {false, true, "server_state = 5, outcome = 1, hostid = 3, received_time = 9"},
        {false, false, "server_state = 5, outcome = 0, hostid = 3"},
        {false, false, "server_state = 5, outcome = 2, hostid = 3"},
        {false, false, "server_state = 5, outcome = 3, hostid = 3, received_time = 9"},
        {true, false, "server_state = 5, outcome = 4, hostid = 3"},
        {true, false, "server_state = 5, outcome = 4, hostid = 4"},
        {false, false, "server_state = 5, outcome = 4, hostid = 5"},
        {false, false, "server_state = 5, outcome = 4, hostid = 3, received_time = 9"},
        {false, false, "server_state = 5, outcome = 5, hostid = 3"},
        {false, false, "server_state = 5, outcome = 6, hostid = 3, received_time = 9"},
        {true, false, "server_state = 5, outcome = 7, hostid = 3"},
        {false, false, "server_state = 5, outcome = 7, hostid = 3, received_time = 9"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        teardown(NULL);
        setup(NULL);
        add_row(31, cases[i].row);
        add_report("r31");
        assert_int_equal(visitor_walk(visitor), NEXT_STEP);
        if (strcmp(visitor_acks(visitor), "r31") != 0 ||
            (column(31, "received_time") == VISITOR_NOW) != cases[i].booked ||
            (transition(31) == VISITOR_NOW) != cases[i].booked ||
            (request->attempt.booked == 1) != cases[i].booked ||
            request->attempt.force_resend != cases[i].resends)
            fail_msg("%s", cases[i].row);
    }
}

static void unknown_names_are_acknowledged(void **state)
{
    (void)state;
    add_row(31, "server_state = 4, hostid = 3");
    add_report("R31"); /* not the row's name */
    add_report("x' OR 1=1 -- ");
    add_report("caf\xE9");
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_string_equal(visitor_acks(visitor), "R31 x' OR 1=1 --  caf\xE9");
    assert_i64(column(31, "server_state"), RESULT_IN_PROGRESS);
}

static void a_repeated_report_changes_nothing(void **state)
{
    (void)state;
    add_row(31, "server_state = 4, hostid = 3");
    add_row(32, "server_state = 4, hostid = 3");
    add_report("r31");
    add_report("r32")->exit_status = 203;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    results[1].exit_status = 194; /* as the aborted process ends later */
    request->now += 5;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(visitor_walk(visitor), NEXT_STEP);
        assert_string_equal(visitor_acks(visitor), "r31 r32");
        assert_int_equal(request->attempt.booked, 0);
        assert_true(request->attempt.force_resend);
    }
    assert_i64(column(32, "exit_status"), 203);
    assert_i64(column(31, "received_time"), VISITOR_NOW);
}

static void a_refused_host_still_reports(void **state)
{
    (void)state;
    test_sql(database, "UPDATE host SET max_results_day = -1 WHERE id = 3");
    add_row(31, "server_state = 4, hostid = 3");
    add_report("r31");
    request->work_forbidden = true;
    request->message.platforms[0] = TEXT("unknown");
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_string_equal(visitor_acks(visitor), "r31");
    assert_i64(column(31, "server_state"), RESULT_OVER);
    assert_true(request->attempt.work_refused);
}

static void a_rolled_back_report_is_not_stored(void **state)
{
    (void)state;
    add_row(31, "server_state = 4, hostid = 3");
    add_report("r31");
    assert_int_equal(step_authenticate(request), NEXT_STEP);
    assert_int_equal(step_report(request), NEXT_STEP);
    assert_status(STATUS_OK, db_rollback(request->db));
    assert_i64(column(31, "server_state"), RESULT_IN_PROGRESS);
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(column(31, "server_state"), RESULT_OVER);
}

static void a_lost_connection_acknowledges_nothing(void **state)
{
    (void)state;
    add_row(31, "server_state = 4, hostid = 3");
    add_report("r31");
    add_report("unknown");
    assert_int_equal(step_authenticate(request), NEXT_STEP);
    test_sql(database, "BEGIN NOT ATOMIC FOR c IN (SELECT id FROM information_schema.PROCESSLIST"
                       " WHERE db = DATABASE() AND id <> CONNECTION_ID())"
                       " DO EXECUTE IMMEDIATE CONCAT('KILL ', c.id); END FOR; END");
    assert_int_equal(step_report(request), NEXT_FAILED);
    assert_string_equal(visitor_acks(visitor), "");
    assert_i64(column(31, "server_state"), RESULT_IN_PROGRESS);
}

static void long_texts_are_cut_to_their_columns(void **state)
{
    static char text[100000];
    struct reported_result *reported;

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text + sizeof(text) - 3, "end", 3);
    add_row(31, "server_state = 4, hostid = 3");
    reported = add_report("r31");
    reported->stderr_out = (struct text){.at = text, .length = sizeof(text)};
    reported->xml_doc_out = (struct text){.at = text, .length = sizeof(text)};
    reported->exit_status = INT64_MAX;
    reported->state = INT64_MIN;
    reported->app_version_num = INT64_MAX;
    reported->final_cpu_time = 1e300;
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_i64(column(31, "LENGTH(stderr_out)"), 65535);
    assert_text(test_sql_text(database, "SELECT RIGHT(stderr_out, 3) FROM result"), "end");
    assert_i64(column(31, "LENGTH(xml_doc_out)"), 0);
    assert_i64(column(31, "exit_status"), INT32_MAX);
}

static void the_captured_reports_are_booked(void **state)
{
    static const char *const captures[] = {"005", "029", "031", "041", "128"};

    (void)state;
    for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++) {
        struct text body = capture_read(captures[i]);
        struct parsed *parsed = parse_body(body);
        const struct message *message = &parsed->message;

        assert_status(STATUS_OK, parsed->status);
        teardown(NULL);
        setup(NULL);
        for (size_t j = 0; j < message->result_count; j++)
            test_sql(database,
                     "INSERT INTO result SET workunitid = 1, name = '%.*s', server_state = 4,"
                     " hostid = 3, userid = 17, appid = 1, sent_time = %d",
                     TEXT_ARG(message->results[j].name), VISITOR_NOW - 86400);
        request->message = *message;
        request->message.hostid = HOST;
        request->message.rpc_seqno = 6;
        assert_int_equal(visitor_walk(visitor), NEXT_STEP);
        assert_true(message->result_count > 0);
        assert_int_equal(request->attempt.booked, message->result_count);
        assert_int_equal(request->attempt.answer.acks.count, message->result_count);
        for (size_t j = 0; j < message->result_count; j++) {
            const struct reported_result *reported = &message->results[j];
            bool is_success = reported->state == 5 && reported->exit_status == 0;

            assert_i64(test_sql_integer(database, "SELECT outcome FROM result WHERE name = '%.*s'",
                                        TEXT_ARG(reported->name)),
                       is_success ? OUTCOME_SUCCESS : OUTCOME_CLIENT_ERROR);
        }
        parsed_free(parsed);
        text_free(body);
    }
}

static void a_request_with_reports_takes_few_round_trips(void **state)
{
    char name[20];
    struct db_count count;

    (void)state;
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "r%d", 31 + i);
        add_row(31 + i, "server_state = 4, hostid = 3");
        add_report(text_string(visitor->arena, text_from(name)))->exit_status = 1;
    }
    db_count_reset(request->db);
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    count = db_count(request->db);
    assert_int_equal(count.commits, 1);
    /* host, user, statistics; look-up, two writes; host, statistics, guard; commit: with the 5 that
     * a hand-out takes this stays within 15. */
    assert_in_range(count.round_trips, 1, 10 + 9); /* statements are prepared on first use */
    for (int i = 0; i < 5; i++)                    /* the same again, prepared */
        results[i].name = text_print(visitor->arena, "r%d", 41 + i);
    for (int i = 0; i < 5; i++)
        add_row(41 + i, "server_state = 4, hostid = 3");
    db_count_reset(request->db);
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    assert_int_equal(request->attempt.booked, 5);
    assert_in_range(db_count(request->db).round_trips, 1, 10);
}

static void many_reports_are_booked_at_once(void **state)
{
    struct db_count count;

    (void)state;
    test_sql(database,
             "INSERT INTO workunit (id, appid, name, transition_time)"
             " SELECT seq, 1, CONCAT('w', seq), 2147483647 FROM seq_1_to_1000;"
             "INSERT INTO result (id, workunitid, appid, name, server_state, hostid, userid)"
             " SELECT seq, seq, 1, CONCAT('r', seq), 4, 3, 17 FROM seq_1_to_1000");
    for (int i = 0; i < 1000; i++)
        add_report(
            text_string(visitor->arena, text_print(visitor->arena, "r%d", 1 + i * 7 % 1000)));
    assert_int_equal(visitor_walk(visitor), NEXT_STEP);
    count = db_count(request->db);
    assert_int_equal(request->attempt.answer.acks.count, 1000);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE server_state = 5"),
               1000);
    assert_in_range(count.round_trips, 1, 60);
}

/* --- at the same moment ----------------------------------------------------------------------- */

static pthread_barrier_t barrier;

static void *walk_in_a_thread(void *context)
{
    struct visitor *own = context;

    pthread_barrier_wait(&barrier);
    return visitor_walk(own) == NEXT_STEP ? own : NULL;
}

/* The same request on two connections, and one from another host of the user. */
static void one_report_at_once_is_booked_once(void **state)
{
    enum { THREADS = 3 };
    struct visitor *visitors[THREADS];

    (void)state;
    for (int round = 0; round < 6; round++) {
        pthread_t threads[THREADS];
        size_t booked = 0;

        teardown(NULL);
        setup(NULL);
        for (int i = 0; i < 20; i++)
            add_row(31 + i, "server_state = 4, hostid = 3");
        for (int i = 0; i < 20; i++)
            add_report(text_string(visitor->arena, text_print(visitor->arena, "r%d", 31 + i)));
        pthread_barrier_init(&barrier, NULL, THREADS);
        for (int i = 0; i < THREADS; i++) {
            visitors[i] = visitor_create(database);
            visitors[i]->request.message = request->message;
            visitors[i]->request.message.hostid = i == 2 ? 4 : 3;
            assert_int_equal(pthread_create(&threads[i], NULL, walk_in_a_thread, visitors[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            void *done = NULL;

            pthread_join(threads[i], &done);
            assert_non_null(done);
            booked += visitors[i]->request.attempt.booked;
            assert_int_equal(visitors[i]->request.attempt.answer.acks.count, 20);
            visitor_destroy(visitors[i]);
        }
        pthread_barrier_destroy(&barrier);
        assert_int_equal(booked, 20);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_success_is_stored),
        CASE(an_error_is_stored_and_costs_quota),
        CASE(every_kind_of_row_is_answered),
        CASE(unknown_names_are_acknowledged),
        CASE(a_repeated_report_changes_nothing),
        CASE(a_refused_host_still_reports),
        CASE(a_rolled_back_report_is_not_stored),
        CASE(a_lost_connection_acknowledges_nothing),
        CASE(long_texts_are_cut_to_their_columns),
        CASE(the_captured_reports_are_booked),
        CASE(a_request_with_reports_takes_few_round_trips),
        CASE(many_reports_are_booked_at_once),
        CASE(one_report_at_once_is_booked_once),
    };

    return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
