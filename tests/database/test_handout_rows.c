/* SPDX-License-Identifier: Apache-2.0 */
/* Whole requests against a real database: who gets which jobs, and what rows say afterwards. The
 * races between servers are run with threads, each a server of its own. */
#include "tests/support/serving.h"

#include "config/config.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/project/catalog.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdlib.h>

enum { NOW = SERVING_NOW, HOSTS = 8, USERS = 2 };

static struct test_database *database;
static struct config *config;
static int last_linux_host; /* those after it run Windows */

/* --- rows ------------------------------------------------------------------------------------- */

/* Two users, hosts 1..8 of user 1 or 2 in turn, one app with a version for Linux. */
static int setup(void **state)
{
    (void)state;
    last_linux_host = HOSTS;
    database = test_database_create(true, NULL);
    config = test_database_config(database);
    test_database_add_app(database);
    test_sql(database,
             "SET SESSION sql_mode = ''; INSERT INTO platform SET id = 2, name = 'anonymous'");
    for (int i = 1; i <= USERS; i++)
        test_sql(database,
                 "INSERT INTO user SET id = %d, name = 'user%d', email_addr = 'u%d@example.org',"
                 " authenticator = 'key%d', create_time = 1",
                 i, i, i, i);
    for (int i = 1; i <= HOSTS; i++)
        test_sql(database,
                 "INSERT INTO host SET id = %d, userid = %d, create_time = 1, rpc_time = 0,"
                 " rpc_seqno = 0, host_cpid = 'cpid%d'",
                 i, 1 + (i - 1) % USERS, i);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_database_destroy(database);
    return 0;
}

/* Workunits id .. id+count-1, each with `instances` unsent results 10*id, 10*id+1, ... */
static void add_jobs(int id, int count, int instances, double fpops)
{
    for (int i = id; i < id + count; i++) {
        test_sql(database,
                 "INSERT INTO workunit SET id = %d, name = 'wu%d', appid = 1, rsc_fpops_est = %g,"
                 " rsc_fpops_bound = 1e15, rsc_memory_bound = 1e6, rsc_disk_bound = 1e6,"
                 " delay_bound = 86400, transition_time = 2147483647, target_nresults = %d,"
                 " min_quorum = %d, xml_doc = '<workunit>\\n</workunit>\\n'",
                 i, i, fpops, instances, instances);
        for (int j = 0; j < instances; j++)
            test_sql(database,
                     "INSERT INTO result SET id = %d, workunitid = %d, appid = 1,"
                     " name = 'wu%d_%d', server_state = 2, priority = 0,"
                     " xml_doc_in = '<result>\\n</result>\\n'",
                     10 * i + j, i, i, j);
    }
}

/* --- a server --------------------------------------------------------------------------------- */

static struct serving *start_server(void)
{
    struct serving *server = calloc(1, sizeof(*server));

    assert_non_null(server);
    serving_open(server, database);
    return server;
}

static void stop_server(struct serving *server)
{
    serving_close(server);
    free(server);
}

/* What the host says beside its identity; `rest` goes in as it is. */
static const struct answer *serve(struct serving *server, int host, double now, const char *rest)
{
    struct text body;

    arena_reset(server->arena);
    body = text_print(
        server->arena,
        "<scheduler_request>\n<authenticator>key%d</authenticator>\n<hostid>%d</hostid>\n"
        "<rpc_seqno>1</rpc_seqno>\n<core_client_major_version>8</core_client_major_version>\n"
        "<core_client_minor_version>0</core_client_minor_version>\n"
        "<core_client_release>2</core_client_release>\n"
        "%s\n<host_info>\n<p_ncpus>4</p_ncpus>\n<p_fpops>1e9</p_fpops>\n<m_nbytes>4e9</m_nbytes>\n"
        "<d_total>1e12</d_total>\n<d_free>1e12</d_free>\n<os_name>%s</os_name>\n"
        "<p_vendor>GenuineIntel</p_vendor>\n<p_model>Intel Core</p_model>\n"
        "</host_info>\n</scheduler_request>\n",
        1 + (host - 1) % USERS, host, rest,
        host > last_linux_host ? "Microsoft Windows 11" : "Linux");
    return serving_send(server, body, now, (uint64_t)now + (uint64_t)host);
}

#define PLATFORM "<platform_name>x86_64-pc-linux-gnu</platform_name>\n"
#define SECONDS(n) \
    PLATFORM "<work_req_seconds>" #n "</work_req_seconds>\n<cpu_req_secs>" #n "</cpu_req_secs>\n"
#define NO_OTHERS "<other_results>\n</other_results>\n"

static int64_t count_results(const char *condition)
{
    return test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE %s", condition);
}

/* --- one host --------------------------------------------------------------------------------- */

static void rows_say_what_the_reply_says(void **state)
{
    struct serving *server = start_server();
    const struct answer *answer;

    (void)state;
    add_jobs(1, 5, 1, 1e11);
    assert_status(STATUS_OK, config_set(config, TEXT("report_grace_period"), TEXT("500"), NULL));
    answer = serve(server, 1, NOW, SECONDS(250) NO_OTHERS);
    assert_int_equal(answer->job_count, 3);
    assert_i64(count_results("server_state = 4 AND hostid = 1 AND userid = 1"), 3);
    assert_i64(count_results("server_state = 2 AND hostid = 0"), 2);
    for (size_t i = 0; i < 3; i++) {
        long long id = (long long)answer->jobs[i].resultid;
        assert_i64(
            test_sql_integer(database, "SELECT report_deadline FROM result WHERE id = %lld", id),
            NOW + 86400 + 500);
        assert_i64(answer->jobs[i].report_deadline, NOW + 86400);
        assert_i64(
            test_sql_integer(database, "SELECT app_version_id FROM result WHERE id = %lld", id),
            11);
        assert_i64(test_sql_integer(database,
                                    "SELECT transition_time FROM workunit WHERE id = %lld",
                                    (long long)answer->jobs[i].workunitid),
                   NOW + 86400 + 500);
    }
    assert_i64(test_sql_integer(database, "SELECT n_jobs_today FROM host_app_version"
                                          " WHERE host_id = 1 AND app_version_id = 11"),
               3);
    assert_true(text_contains(buffer_text(&server->reply), TEXT("<wu_name>wu")));
    assert_true(server->request.counted.round_trips <= 15);
    assert_int_equal(server->request.counted.commits, 1);
    stop_server(server);
}

static void a_lost_reply_costs_nothing(void **state)
{
    struct serving *server = start_server();
    const struct answer *answer;
    int64_t ids[3];
    char rest[1000];

    (void)state;
    add_jobs(1, 9, 1, 1e11);
    answer = serve(server, 1, NOW, SECONDS(250) NO_OTHERS);
    for (size_t i = 0; i < 3; i++)
        ids[i] = answer->jobs[i].resultid;
    answer = serve(server, 1, NOW + 60, SECONDS(250) NO_OTHERS);
    assert_int_equal(answer->job_count, 3);
    for (size_t i = 0; i < 3; i++) {
        bool is_there = false;
        for (size_t j = 0; j < 3; j++)
            is_there = is_there || answer->jobs[j].resultid == ids[i];
        assert_true(is_there && answer->jobs[i].is_resent);
    }
    assert_i64(count_results("server_state = 4"), 3);
    assert_i64(test_sql_integer(database, "SELECT n_jobs_today FROM host_app_version"), 3);
    /* The client got them: nothing is lost, and new ones come. */
    test_sql(database, "UPDATE result SET name = CONCAT('got', id) WHERE server_state = 4");
    snprintf(rest, sizeof(rest),
             SECONDS(50) "<other_results>\n"
                         "<other_result><name>got%lld</name></other_result>\n"
                         "<other_result><name>got%lld</name></other_result>\n"
                         "<other_result><name>got%lld</name></other_result>\n"
                         "</other_results>\n",
             (long long)ids[0], (long long)ids[1], (long long)ids[2]);
    answer = serve(server, 1, NOW + 120, rest);
    assert_int_equal(answer->job_count, 1);
    assert_false(answer->jobs[0].is_resent);
    stop_server(server);
}

static void what_is_lost_and_of_no_use_times_out_now(void **state)
{
    struct serving *server = start_server();

    (void)state;
    add_jobs(1, 1, 1, 1e11);
    serve(server, 1, NOW, SECONDS(1) NO_OTHERS);
    test_sql(database, "UPDATE workunit SET error_mask = 16");
    assert_int_equal(serve(server, 1, NOW + 60, SECONDS(1) NO_OTHERS)->job_count, 0);
    assert_i64(test_sql_integer(database, "SELECT report_deadline FROM result"), NOW + 59);
    assert_true(test_sql_integer(database, "SELECT transition_time FROM workunit") <= NOW + 60);
    stop_server(server);
}

static void unneeded_jobs_are_aborted(void **state)
{
    struct serving *server = start_server();
    const struct answer *answer;

    (void)state;
    add_jobs(1, 3, 1, 1e11);
    assert_status(STATUS_OK, config_set(config, TEXT("send_result_abort"), TEXT("1"), NULL));
    serve(server, 1, NOW, SECONDS(250) NO_OTHERS);
    test_sql(database, "UPDATE workunit SET error_mask = 16 WHERE id = 1;"
                       "UPDATE result SET hostid = 3 WHERE workunitid = 2");
    answer = serve(server, 1, NOW + 60,
                   PLATFORM "<other_results>\n<other_result><name>wu1_0</name></other_result>\n"
                            "<other_result><name>wu2_0</name></other_result>\n"
                            "<other_result><name>wu3_0</name></other_result>\n"
                            "<other_result><name>unheard_of</name></other_result>\n"
                            "</other_results>\n");
    assert_int_equal(answer->aborts.count, 2);
    assert_text(answer->aborts.first->text, "wu1_0");
    assert_text(answer->aborts.last->text, "unheard_of");
    stop_server(server);
}

/* 1,000 s at 1 GFLOPS with share 0.5, on 0.8 and active 0.9: 360 GFLOP, in jobs of 90. */
static void an_old_request_is_in_project_normalized_seconds(void **state)
{
    static const char old[] =
        PLATFORM "<work_req_seconds>1000</work_req_seconds>\n<prrs_fraction>0.5</prrs_fraction>\n"
                 "<time_stats>\n<on_frac>0.8</on_frac>\n<active_frac>0.9</active_frac>\n"
                 "</time_stats>\n" NO_OTHERS;
    struct serving *server = start_server();

    (void)state;
    add_jobs(1, 20, 1, 9e10);
    assert_int_equal(serve(server, 1, NOW, old)->job_count, 4);
    assert_status(STATUS_OK, config_set(config, TEXT("share_in_scalar_request"), TEXT("0"), NULL));
    assert_int_equal(serve(server, 3, NOW, old)->job_count, 8);
    stop_server(server);
}

static void own_versions_have_numbers_of_their_own(void **state)
{
    struct serving *server = start_server();
    const struct answer *answer;

    (void)state;
    add_jobs(1, 1, 1, 1e11);
    answer = serve(server, 1, NOW,
                   "<platform_name>anonymous</platform_name>\n<cpu_req_secs>1</cpu_req_secs>\n"
                   "<app_versions>\n<app_version>\n<app_name>app</app_name>\n"
                   "<version_num>100</version_num>\n<flops>2e9</flops>\n</app_version>\n"
                   "</app_versions>\n" NO_OTHERS);
    assert_int_equal(answer->job_count, 1);
    assert_i64(test_sql_integer(database, "SELECT app_version_id FROM result"), -2);
    assert_i64(answer->jobs[0].app_version_id, -2); /* as a report of it will say */
    assert_i64(test_sql_integer(database, "SELECT app_version_id FROM host_app_version"), 1000002);
    stop_server(server);
}

static void an_untrusted_host_makes_a_second_instance_needed(void **state)
{
    struct serving *server = start_server();

    (void)state;
    test_sql(database, "UPDATE app SET target_nresults = 2");
    catalog_release(server->catalog);
    assert_status(STATUS_OK, catalog_load(server->db, &server->catalog));
    add_jobs(1, 1, 1, 1e11);
    assert_int_equal(serve(server, 1, NOW, SECONDS(1) NO_OTHERS)->job_count, 1);
    assert_i64(test_sql_integer(database, "SELECT target_nresults FROM workunit"), 2);
    assert_i64(test_sql_integer(database, "SELECT min_quorum FROM workunit"), 2);
    assert_i64(test_sql_integer(database, "SELECT transition_time FROM workunit"), NOW);
    stop_server(server);
}

/* A job that may have one instance, one that may have five, one whose maximum is the greatest
 * number, and one whose quorum is above the app's. */
static void what_a_job_had_to_spare_it_has_still(void **state)
{
    struct serving *server = start_server();

    (void)state;
    test_sql(database, "UPDATE app SET target_nresults = 2");
    catalog_release(server->catalog);
    assert_status(STATUS_OK, catalog_load(server->db, &server->catalog));
    add_jobs(1, 4, 1, 1e11);
    test_sql(database, "UPDATE workunit SET max_total_results = ELT(id, 1, 5, 2147483647, 0),"
                       " max_success_results = ELT(id, 1, 3, 2147483647, 0),"
                       " max_error_results = 1, min_quorum = IF(id = 4, 3, 1)");
    assert_int_equal(serve(server, 1, NOW, SECONDS(500) NO_OTHERS)->job_count, 4);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM workunit WHERE target_nresults = 2"
                                          " AND max_total_results = ELT(id, 2, 6, 2147483647, 2)"
                                          " AND max_success_results = ELT(id, 2, 4, 2147483647, 2)"
                                          " AND min_quorum = ELT(id, 2, 2, 2, 3)"),
               4);
    assert_i64(test_sql_integer(database, "SELECT SUM(max_error_results) FROM workunit"), 4);
    stop_server(server);
}

static void a_faulty_document_ends_its_job(void **state)
{
    struct serving *server = start_server();

    (void)state;
    add_jobs(1, 2, 1, 1e11);
    test_sql(database, "UPDATE result SET xml_doc_in = '<result></result>' WHERE id = 10");
    assert_int_equal(serve(server, 1, NOW, SECONDS(500) NO_OTHERS)->job_count, 1);
    assert_i64(count_results("id = 10 AND server_state = 5 AND outcome = 2 AND hostid = 0"), 1);
    assert_i64(test_sql_integer(database, "SELECT transition_time FROM workunit WHERE id = 1"),
               NOW);
    assert_i64(
        test_sql_integer(database, "SELECT COUNT(*) FROM workunit WHERE transition_time = %d", NOW),
        1);
    stop_server(server);
}

/* More rare jobs than one query brings are still all found. */
static void a_large_request_reaches_beyond_one_query(void **state)
{
    struct serving *server = start_server();

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("candidate_rows"), TEXT("10"), NULL));
    add_jobs(1, 30, 1, 1e11);
    assert_int_equal(serve(server, 1, NOW, SECONDS(2500) NO_OTHERS)->job_count, 25);
    stop_server(server);
}

/* --- several servers -------------------------------------------------------------------------- */

struct volunteer {
    int host;
    int rounds;
    size_t got;
    size_t doubles; /* jobs that another had got too, by the row */
    pthread_t thread;
};

/* Each host asks again and again; every job in a reply is this host's in the database. */
static void *ask_for_work(void *context)
{
    struct volunteer *volunteer = context;
    struct serving *server = start_server();

    for (int i = 0; i < volunteer->rounds; i++) {
        const struct answer *answer =
            serve(server, volunteer->host, NOW + i, SECONDS(250)); /* no list: nothing is lost */

        if (answer->kind == ANSWER_FULL)
            volunteer->got += answer->job_count;
    }
    stop_server(server);
    return NULL;
}

static size_t run_volunteers(struct volunteer *volunteers, int count, int rounds)
{
    size_t got = 0;

    for (int i = 0; i < count; i++) {
        volunteers[i] = (struct volunteer){.host = i + 1, .rounds = rounds};
        assert_int_equal(pthread_create(&volunteers[i].thread, NULL, ask_for_work, &volunteers[i]),
                         0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(volunteers[i].thread, NULL);
        got += volunteers[i].got;
    }
    return got;
}

static void no_job_goes_to_two_hosts(void **state)
{
    struct volunteer volunteers[4];
    size_t got;

    (void)state;
    add_jobs(1, 120, 1, 1e11);
    got = run_volunteers(volunteers, 4, 15);
    assert_i64(count_results("server_state = 4"), (int64_t)got);
    assert_int_equal(got, 120);
    for (int i = 0; i < 4; i++)
        assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE hostid = %d",
                                    volunteers[i].host),
                   (int64_t)volunteers[i].got);
}

static void one_per_user_holds_among_servers(void **state)
{
    struct volunteer volunteers[4];

    (void)state;
    assert_status(STATUS_OK,
                  config_set(config, TEXT("one_result_per_user_per_wu"), TEXT("1"), NULL));
    add_jobs(1, 40, 3, 1e11);
    run_volunteers(volunteers, 4, 15);
    assert_i64(test_sql_integer(database,
                                "SELECT COUNT(*) FROM (SELECT workunitid FROM result WHERE"
                                " server_state = 4 GROUP BY workunitid, userid"
                                " HAVING COUNT(*) > 1) AS t"),
               0);
    assert_i64(count_results("server_state = 4"), 80); /* one for each of two users */
}

static void a_workunit_stays_with_one_version(void **state)
{
    struct volunteer volunteers[4];

    (void)state;
    test_sql(database, "UPDATE app SET homogeneous_app_version = 1;"
                       "INSERT INTO app_version SET id = 12, appid = 1, version_num = 101,"
                       " platformid = 1, plan_class = '', min_core_version = 0,"
                       " xml_doc = '<app_version>\\n</app_version>\\n'");
    add_jobs(1, 30, 3, 1e11);
    test_sql(database, "UPDATE workunit SET app_version_id = 11 WHERE id MOD 2 = 0");
    run_volunteers(volunteers, 4, 15);
    assert_i64(count_results("server_state = 4"), 90);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result JOIN workunit"
                                          " ON workunit.id = workunitid WHERE result.app_version_id"
                                          " <> workunit.app_version_id"),
               0);
    assert_i64(count_results("app_version_id = 11"), 45);
}

/* Two hosts of each of two kinds ask at once; the first to get a job of a workunit decides. */
static void a_workunit_stays_with_one_kind_of_host(void **state)
{
    struct volunteer volunteers[4];

    (void)state;
    last_linux_host = 2;
    assert_status(STATUS_OK, config_set(config, TEXT("homogeneous_redundancy"), TEXT("2"), NULL));
    add_jobs(1, 40, 3, 1e11);
    run_volunteers(volunteers, 4, 25);
    assert_i64(count_results("server_state = 4"), 120);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result JOIN workunit"
                                          " ON workunit.id = workunitid WHERE hr_class <>"
                                          " IF(hostid <= 2, 258, 386)"),
               0);
    assert_true(count_results("hostid <= 2") > 0);
    assert_true(count_results("hostid > 2") > 0);
}

/* Makes workunit `id` one for its target, without results, as create_work does. */
static void assign(int id, int target_type, int target_id, int multi)
{
    add_jobs(id, 1, 0, 1e11);
    test_sql(database,
             "UPDATE workunit SET transitioner_flags = 2, target_nresults = 1,"
             " max_total_results = 10, result_template_file = 'templates/none_out.xml'"
             " WHERE id = %d;"
             "INSERT INTO assignment SET create_time = 1, target_type = %d, target_id = %d,"
             " multi = %d, workunitid = %d, resultid = 0",
             id, target_type, target_id, multi, id);
}

static void allow_assignments(void)
{
    const char *source = getenv("QM_SOURCE_DIR");

    config->project_dir_path = text_from(source != NULL ? source : ".");
    assert_status(STATUS_OK, config_set(config, TEXT("enable_assignment"), TEXT("1"), NULL));
    assert_status(STATUS_OK, config_set(config, TEXT("enable_assignment_multi"), TEXT("1"), NULL));
    assert_status(STATUS_OK,
                  config_set(config, TEXT("dont_generate_upload_certificates"), TEXT("1"), NULL));
}

/* Its second instance could only go to the same host, which gets one. */
static void an_assigned_job_is_not_replicated(void **state)
{
    struct serving *server;

    (void)state;
    allow_assignments();
    test_sql(database, "UPDATE app SET target_nresults = 2");
    server = start_server();
    assign(1, 1, 1, 0);
    assert_int_equal(serve(server, 1, NOW, SECONDS(1) NO_OTHERS)->job_count, 1);
    assert_i64(test_sql_integer(database, "SELECT target_nresults FROM workunit"), 1);
    stop_server(server);
}

/* As many results as the quorum needs, whatever the target says. */
static void an_assigned_job_goes_to_as_many_hosts_as_its_quorum_needs(void **state)
{
    struct serving *server;

    (void)state;
    allow_assignments();
    server = start_server();
    assign(1, 2, 1, 0);
    test_sql(database, "UPDATE workunit SET min_quorum = 2");
    for (int i = 0; i < 3; i++) /* the hosts of user 1 */
        assert_int_equal(serve(server, 1 + i * USERS, NOW, SECONDS(1) NO_OTHERS)->job_count, i < 2);
    stop_server(server);
}

/* Two hosts of the user it is for ask at the same moment, again and again. */
static void an_assigned_job_goes_to_one_host(void **state)
{
    struct volunteer volunteers[4];

    (void)state;
    allow_assignments();
    for (int i = 1; i <= 20; i++)
        assign(i, 2, 1, 0);
    run_volunteers(volunteers, 4, 15);
    assert_i64(count_results("server_state = 4 AND userid = 1"), 20);
    assert_i64(count_results("1"), 20);
    assert_i64(test_sql_integer(database, "SELECT COUNT(DISTINCT workunitid) FROM result"), 20);
    assert_i64(test_sql_integer(database,
                                "SELECT COUNT(*) FROM workunit"
                                " WHERE transition_time > %d",
                                NOW + 86400 + 100),
               0);
}

static void a_broadcast_reaches_each_host_once(void **state)
{
    struct volunteer volunteers[4];

    (void)state;
    allow_assignments();
    assign(1, 0, 0, 1);
    assign(2, 2, 2, 1);
    test_sql(database, "UPDATE workunit SET canonical_resultid = 77 WHERE id = 1");
    run_volunteers(volunteers, 4, 5);
    assert_i64(count_results("workunitid = 1 AND server_state = 4"), 4);
    assert_i64(count_results("workunitid = 2 AND server_state = 4 AND userid = 2"), 2);
    assert_i64(count_results("1"), 6);
    assert_i64(test_sql_integer(database, "SELECT COUNT(DISTINCT hostid, workunitid) FROM result"),
               6);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(rows_say_what_the_reply_says),
        CASE(a_lost_reply_costs_nothing),
        CASE(what_is_lost_and_of_no_use_times_out_now),
        CASE(unneeded_jobs_are_aborted),
        CASE(an_old_request_is_in_project_normalized_seconds),
        CASE(own_versions_have_numbers_of_their_own),
        CASE(an_untrusted_host_makes_a_second_instance_needed),
        CASE(what_a_job_had_to_spare_it_has_still),
        CASE(a_faulty_document_ends_its_job),
        CASE(a_large_request_reaches_beyond_one_query),
        CASE(no_job_goes_to_two_hosts),
        CASE(one_per_user_holds_among_servers),
        CASE(a_workunit_stays_with_one_version),
        CASE(a_workunit_stays_with_one_kind_of_host),
        CASE(an_assigned_job_is_not_replicated),
        CASE(an_assigned_job_goes_to_as_many_hosts_as_its_quorum_needs),
        CASE(an_assigned_job_goes_to_one_host),
        CASE(a_broadcast_reaches_each_host_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
