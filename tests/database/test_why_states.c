/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl why beside true requests, of hosts that could run what there is, but for the state that
 * they are in: with jobs in progress, a full disk, their user's preferences for this venue, a quota
 * that is used up; and of jobs that are for some hosts only: committed to a kind of computer or a
 * version, of a batch, of a test application, with keywords, had by the same user. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "server/policy/limits/limits.h"
#include "tests/support/database.h"
#include "tests/support/test.h"
#include "tests/support/why.h"

#include <stdio.h>
#include <time.h>

enum {
    HOSTS = 300,
    USERS = 25,
    SEED = 77,
    SECOND = 800, /* a job of an app that has another */
    DAY = 86400,
    SOON = 60,          /* s */
    IN_PROGRESS = 1000, /* jobs above are in progress */
    VERSION = 10        /* of app N: N + 10 */
};

static struct test_database *database;
static struct why_comparison *comparison;

static const struct why_option options[] = {
    {"daily_result_quota", "8"},
    {"max_wus_in_progress", "3"},
    {"one_result_per_user_per_wu", "1"},
    {"one_result_per_host_per_wu", "1"},
    {"user_filter", "1"},
    {"keyword_sched", "1"},
    {"reliable_on_priority", "10"},
};

/* --- the project ------------------------------------------------------------------------------ */

static const struct {
    const char *app, *version, *workunit, *result; /* what each sets, beyond the usual */
} apps[] = {
    {"", "", "rsc_fpops_est = 1e11", ""},
    {"beta = 1", "", "", ""},
    {"", "beta = 1", "", ""},
    {"homogeneous_redundancy = 1", "", "hr_class = 1", ""},
    {"homogeneous_redundancy = 2", "", "hr_class = 2", ""},
    {"homogeneous_app_version = 1", "", "app_version_id = 99", ""},
    {"", "", "rsc_disk_bound = 2e10", ""},
    {"", "", "rsc_memory_bound = 2e9", ""},
    {"", "", "rsc_fpops_est = 8e13", ""},
    {"", "", "batch = 3", "batch = 3"},
    {"", "", "keywords = '7 8'", ""},
    {"", "", "rsc_bandwidth_bound = 1e6", ""},
    {"", "", "priority = 20", "priority = 20"},
    {"", "plan_class = 'cuda_fermi'", "", ""},
    {"", "", "rsc_fpops_est = 3e13, delay_bound = 40000", ""},
    {"deprecated = 1", "", "", ""},
    {"", "", "error_mask = 16", ""},
    {"non_cpu_intensive = 1", "", "", ""},
};
enum { APPS = sizeof apps / sizeof *apps };

static const char *comma(const char *setting)
{
    return setting[0] == '\0' ? "" : ", ";
}

static void add_job(int id, int app, const char *workunit, const char *result)
{
    test_sql(database,
             "INSERT INTO workunit SET id = %d, name = 'w_%d', appid = %d, rsc_fpops_est = 1e11,"
             " rsc_fpops_bound = 1e17, rsc_memory_bound = 1e6, rsc_disk_bound = 1e6,"
             " delay_bound = 86400, transition_time = 2147483647, target_nresults = 1,"
             " min_quorum = 1, xml_doc = '<workunit>\\n</workunit>\\n';"
             "INSERT INTO result SET id = %d, name = 'r_%d', workunitid = %d, appid = %d,"
             " server_state = 5, xml_doc_in = '<result>\\n</result>\\n'%s%s",
             id, id, app, id, id, id, app, comma(result), result);
    if (workunit[0] != '\0')
        test_sql(database, "UPDATE workunit SET %s WHERE id = %d", workunit, id);
}

static void add_app(int app)
{
    test_sql(database,
             "INSERT INTO app SET id = %d, name = 'app_%d', user_friendly_name = 'App %d',"
             " weight = 1%s%s;"
             "INSERT INTO app_version SET id = %d, appid = %d, version_num = 103, platformid = 1,"
             " xml_doc = '<file_info>\\n<name>f</name>\\n<url>http://127.0.0.1/f</url>\\n"
             "<executable/>\\n<nbytes>9</nbytes>\\n</file_info>\\n<app_version>\\n"
             "<app_name>app_%d</app_name>\\n<version_num>103</version_num>\\n<file_ref>\\n"
             "<file_name>f</file_name>\\n<main_program/>\\n</file_ref>\\n</app_version>\\n'%s%s",
             app, app, app, comma(apps[app - 1].app), apps[app - 1].app, VERSION + app, app, app,
             comma(apps[app - 1].version), apps[app - 1].version);
    add_job(app, app, apps[app - 1].workunit, apps[app - 1].result);
}

/* The inner part of general preferences, or of a venue's. */
static void add_global(struct random *random, struct buffer *text)
{
    if (why_happens(random, 0.5))
        buffer_print(text, "<disk_max_used_gb>%zu</disk_max_used_gb>\n", why_pick(random, 40));
    if (why_happens(random, 0.5))
        buffer_print(text, "<disk_max_used_pct>%zu</disk_max_used_pct>\n", why_pick(random, 100));
    if (why_happens(random, 0.3))
        buffer_print(text, "<disk_min_free_gb>%zu</disk_min_free_gb>\n", why_pick(random, 20));
    if (why_happens(random, 0.5))
        buffer_print(text,
                     "<ram_max_used_busy_pct>%zu</ram_max_used_busy_pct>\n"
                     "<ram_max_used_idle_pct>%zu</ram_max_used_idle_pct>\n",
                     20 + why_pick(random, 80), 20 + why_pick(random, 80));
    if (why_happens(random, 0.3))
        buffer_print(text, "<max_ncpus_pct>%zu</max_ncpus_pct>\n", why_pick(random, 100));
    if (why_happens(random, 0.3))
        buffer_print(text, "<work_buf_min_days>%g</work_buf_min_days>\n", 2 * random_unit(random));
}

static void add_project(struct random *random, struct buffer *text)
{
    if (why_happens(random, 0.3))
        for (int app = 1; app <= APPS; app++)
            if (why_happens(random, 0.6))
                buffer_print(text, "<app_id>%d</app_id>\n", app);
    if (why_happens(random, 0.3))
        buffer_add_string(text, "<allow_non_preferred_apps>1</allow_non_preferred_apps>\n");
    if (why_happens(random, 0.4))
        buffer_add_string(text, "<allow_beta_work>1</allow_beta_work>\n");
    if (why_happens(random, 0.2))
        buffer_add_string(text, "<no_gpus>1</no_gpus>\n");
    if (why_happens(random, 0.1))
        buffer_add_string(text, "<no_cpu>1</no_cpu>\n");
    if (why_happens(random, 0.3))
        buffer_print(text, "<max_jobs>%zu</max_jobs>\n", 1 + why_pick(random, 4));
    if (why_happens(random, 0.3))
        buffer_print(text, "<max_cpus>%zu</max_cpus>\n", 1 + why_pick(random, 4));
}

static void add_parts(struct random *random, void (*add)(struct random *, struct buffer *),
                      struct buffer *text)
{
    add(random, text);
    if (why_happens(random, 0.5)) {
        buffer_add_string(text, "<venue name=\"home\">\n");
        add(random, text);
        buffer_add_string(text, "</venue>\n");
    }
}

static void add_user(int user)
{
    struct random random = {.state = random_mix(SEED, (uint64_t)user)};
    struct buffer global = buffer_on_heap(0), project = buffer_on_heap(0);

    buffer_add_string(&global, "<mod_time>1000</mod_time>\n");
    add_parts(&random, add_global, &global);
    if (why_happens(&random, 0.1))
        buffer_add_string(&project, "<resource_share>0</resource_share>\n");
    buffer_add_string(&project, "<project_specific>\n");
    add_parts(&random, add_project, &project);
    buffer_add_string(&project, "</project_specific>\n");
    test_sql(database,
             "INSERT INTO user SET id = %d, name = 'u%d', email_addr = 'u%d@example.org',"
             " authenticator = 'key%d', create_time = 1, seti_id = %d,"
             " global_prefs = '<global_preferences>\\n" TEXT_FORMAT "</global_preferences>\\n',"
             " project_prefs = '<project_preferences>\\n" TEXT_FORMAT "</project_preferences>\\n'",
             user, user, user, user, why_happens(&random, 0.05), TEXT_ARG(buffer_text(&global)),
             TEXT_ARG(buffer_text(&project)));
    buffer_free(&global);
    buffer_free(&project);
}

static int user_of(int host)
{
    return 1 + host % USERS;
}

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    test_sql(database, "SET SESSION sql_mode = '';"
                       "INSERT INTO platform (id, name) VALUES (1, 'x86_64-pc-linux-gnu')");
    for (int app = 1; app <= APPS; app++)
        add_app(app);
    for (int user = 1; user <= USERS; user++)
        add_user(user);
    test_sql(database,
             "INSERT INTO host (id, userid, create_time, host_cpid, venue)"
             " SELECT seq, 1 + seq %% %d, 1, CONCAT('cpid', seq),"
             " ELT(1 + seq %% 3, '', 'home', 'work') FROM seq_1_to_%d",
             USERS, HOSTS);
    add_job(SECOND, 11, "keywords = '9'", "");
    comparison = why_open(database, options, sizeof options / sizeof *options);
    for (int user = 1; user <= USERS; user += 2)
        why_write_file(comparison, "kw_prefs", user, "1 2\n7\n");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    why_close(comparison);
    test_database_destroy(database);
    return 0;
}

/* --- hosts ------------------------------------------------------------------------------------ */

static const int clients[][3] = {{5, 10, 45}, {6, 12, 34}, {7, 4, 2}, {8, 2, 6}};

/* The state before the host comes: the same for its two requests. */
struct state {
    size_t jobs; /* in progress */
    double d_free, used;
    size_t cpus, client;
    bool has_gpu;
};

static struct state state_of(int host)
{
    struct random random = {.state = random_mix(SEED + 1, (uint64_t)host)};

    return (struct state){.jobs = why_happens(&random, 0.5) ? why_pick(&random, 8) : 0,
                          .d_free = why_happens(&random, 0.4) ? 2e10 * random_unit(&random) : 1e11,
                          .used = why_happens(&random, 0.7) ? 3e10 * random_unit(&random) : 0,
                          .cpus = (size_t)1 << why_pick(&random, 4),
                          .client = why_pick(&random, sizeof clients / sizeof *clients),
                          .has_gpu = why_happens(&random, 0.3)};
}

/* Asks for nothing, or for a day of each processor. */
static struct text request_of(struct arena *arena, int host, int seqno, bool asks)
{
    struct buffer text = buffer_in(arena);
    struct state state = state_of(host);
    const int *client = clients[state.client];
    double seconds = asks ? DAY : 0;

    buffer_print(&text,
                 "<scheduler_request>\n<authenticator>key%d</authenticator>\n<hostid>%d</hostid>\n"
                 "<rpc_seqno>%d</rpc_seqno>\n<core_client_major_version>%d"
                 "</core_client_major_version>\n<core_client_minor_version>%d"
                 "</core_client_minor_version>\n<core_client_release>%d</core_client_release>\n"
                 "<platform_name>x86_64-pc-linux-gnu</platform_name>\n"
                 "<work_req_seconds>%g</work_req_seconds>\n",
                 user_of(host), host, seqno, client[0], client[1], client[2],
                 seconds * (double)state.cpus);
    if (client[0] >= 6)
        buffer_print(&text,
                     "<client_cap_plan_class>1</client_cap_plan_class>\n"
                     "<cpu_req_secs>%g</cpu_req_secs>\n",
                     seconds * (double)state.cpus);
    buffer_print(&text,
                 "<host_info>\n<p_ncpus>%zu</p_ncpus>\n<p_fpops>2e9</p_fpops>\n"
                 "<m_nbytes>4e9</m_nbytes>\n<d_total>1.5e11</d_total>\n<d_free>%.0f</d_free>\n"
                 "<os_name>Linux</os_name>\n<p_vendor>%s</p_vendor>\n<p_model>%s</p_model>\n"
                 "</host_info>\n<net_stats>\n<bwdown>%g</bwdown>\n</net_stats>\n",
                 state.cpus, state.d_free, host % 5 == 0 ? "Unheard" : "GenuineIntel",
                 host % 5 == 0 ? "of" : "Intel(R) Core(TM) i7 [Family 6 Model 60 Stepping 3]",
                 host % 3 == 0 ? 5e5 : 5e6);
    if (state.used > 0)
        buffer_print(&text,
                     "<disk_usage>\n<d_boinc_used_total>%.0f</d_boinc_used_total>\n"
                     "<d_boinc_used_project>%.0f</d_boinc_used_project>\n</disk_usage>\n",
                     state.used, state.used / 2);
    if (client[0] >= 6 && state.has_gpu)
        buffer_print(&text,
                     "<coprocs>\n<coproc_cuda>\n<count>1</count>\n<name>GeForce</name>\n"
                     "<req_secs>%g</req_secs>\n<have_cuda>1</have_cuda>\n<drvVersion>53000"
                     "</drvVersion>\n<cudaVersion>12000</cudaVersion>\n<totalGlobalMem>4e9"
                     "</totalGlobalMem>\n<major>7</major>\n<minor>5</minor>\n<peak_flops>1e12"
                     "</peak_flops>\n</coproc_cuda>\n</coprocs>\n",
                     seconds);
    buffer_add_string(&text, "<other_results>\n");
    for (size_t i = 0; i < state.jobs; i++)
        buffer_print(&text, "<other_result>\n<name>r_%zu</name>\n</other_result>\n",
                     IN_PROGRESS + i);
    buffer_add_string(&text, "</other_results>\n</scheduler_request>\n");
    return buffer_text(&text);
}

/* The database as this host finds it: some jobs in progress, and instances that its user had. */
static void set_stage(struct random *random, int host, int64_t now)
{
    struct state state = state_of(host);
    const char *const long_job = "rsc_fpops_est = 6e13";

    test_sql(database,
             "DELETE FROM result WHERE workunitid >= %d; DELETE FROM workunit WHERE id >= %d;"
             "UPDATE result SET server_state = 5, hostid = 0, userid = 0;"
             "DELETE FROM host_app_version",
             IN_PROGRESS, IN_PROGRESS);
    for (int i = 0; i < (int)state.jobs; i++) {
        int app = i == 0 && why_happens(random, 0.3) ? APPS : 1; /* the last is always on */

        add_job(IN_PROGRESS + i, app, why_happens(random, 0.3) ? long_job : "", "");
        test_sql(database,
                 "UPDATE result SET server_state = 4, hostid = %d, userid = %d, app_version_id ="
                 " %d, sent_time = %lld, report_deadline = %lld WHERE id = %d",
                 host, user_of(host), VERSION + app, (long long)now - 1000,
                 (long long)now + 40000 + (long long)why_pick(random, DAY), IN_PROGRESS + i);
    }
    for (int app = 1; app <= APPS; app++) /* instances that the user had */
        if (why_happens(random, 0.1))
            test_sql(database,
                     "INSERT INTO result SET id = %d, name = 'r_%d', workunitid = %d, appid = %d,"
                     " server_state = 5, hostid = %d, userid = %d",
                     500 + app, 500 + app, app, app, why_happens(random, 0.5) ? host : HOSTS + 1,
                     user_of(host));
}

static void offer_some(struct random *random)
{
    test_sql(database, "UPDATE result SET server_state = 2 WHERE id IN (%zu, %zu, %zu, %zu, %d)",
             1 + why_pick(random, APPS), 1 + why_pick(random, APPS), 1 + why_pick(random, APPS),
             1 + why_pick(random, APPS), why_happens(random, 0.1) ? SECOND : 0);
}

/* What has been counted of the host today. */
static void use_up_quotas(struct random *random, int host)
{
    for (int app = 1; app <= APPS; app++)
        if (why_happens(random, 0.3))
            test_sql(database,
                     "REPLACE INTO host_app_version SET host_id = %d, app_version_id = %d,"
                     " max_jobs_per_day = %zu, n_jobs_today = %zu, consecutive_valid = %zu",
                     host, VERSION + app, 1 + why_pick(random, 8), why_pick(random, 40),
                     why_pick(random, 20));
}

static void forget_stage(void)
{
    test_sql(database, "DELETE FROM result WHERE id BETWEEN 500 AND 600");
}

/* --- the comparison --------------------------------------------------------------------------- */

/* Then one of the two may still find the quotas used up, and the other finds new ones. */
static bool day_ends_soon(int host, double now)
{
    return quota_day_is_new(host, (int64_t)now, (int64_t)now + SOON);
}

static void what_qmctl_says_is_what_the_host_reads(void **state)
{
    struct random random = {.state = SEED};
    size_t refused = 0, kinds_told = 0;

    (void)state;
    for (int host = 1; host <= HOSTS; host++) {
        struct arena *arena = why_arena(comparison);
        double now = (double)time(NULL); /* qmctl has no other clock */

        if (day_ends_soon(host, now))
            continue;
        set_stage(&random, host, (int64_t)now);
        arena_reset(arena);
        why_come(comparison, request_of(arena, host, 1, false), now);
        offer_some(&random);
        use_up_quotas(&random, host);
        refused += why_compare(comparison, host, request_of(arena, host, 2, true), now + 1);
        forget_stage();
    }
    for (int i = 0; i < REASON_COUNT; i++)
        if (why_was_told(comparison, (enum reason)i)) {
            kinds_told++;
            print_message("%s ", reason_word((enum reason)i));
        }
    print_message("\n%zu of %d hosts were refused, for %zu reasons\n", refused, HOSTS, kinds_told);
    assert_true(refused > HOSTS / 4 && refused < HOSTS * 9 / 10);
    assert_true(kinds_told >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_qmctl_says_is_what_the_host_reads, setup, teardown)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
