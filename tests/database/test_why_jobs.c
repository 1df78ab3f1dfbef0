/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that nobody can have: `qmctl why --jobs` and `qmctl status` name the reason of each set-up
 * that makes all jobs impossible, and say nothing of what passes by itself. */
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"
#include "tests/support/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { HOSTS = 6, USERS = 3, APART = 1000, BYTES = 4000, EXIT_SOME_ARE_LOST = 3 };

static struct test_database *database;
static struct why_comparison *comparison;

static const struct why_option options[] = {
    {"one_result_per_user_per_wu", "1"},
    {"min_sendwork_interval", "3600"},
    {"max_wus_in_progress", "1"},
    {"daily_result_quota", "2"},
};

/* --- the project ------------------------------------------------------------------------------ */

/* Hosts with an odd number have little memory. */
static void come(int host)
{
    struct arena *arena = why_arena(comparison);

    arena_reset(arena);
    why_come(
        comparison,
        text_print(
            arena,
            "<scheduler_request>\n<authenticator>key%d</authenticator>\n<hostid>%d</hostid>\n"
            "<rpc_seqno>1</rpc_seqno>\n<core_client_major_version>7</core_client_major_version>\n"
            "<core_client_minor_version>20</core_client_minor_version>\n<core_client_release>5"
            "</core_client_release>\n<platform_name>x86_64-pc-linux-gnu</platform_name>\n"
            "<host_info>\n<p_ncpus>4</p_ncpus>\n<p_vendor>GenuineIntel</p_vendor>\n"
            "<p_model>Intel(R) Core(TM) i7 [Family 6 Model 60 Stepping 3]</p_model>\n"
            "<p_fpops>2e9</p_fpops>\n<m_nbytes>%s</m_nbytes>\n<d_total>1e11</d_total>\n"
            "<d_free>5e10</d_free>\n<os_name>Linux</os_name>\n</host_info>\n<disk_usage>\n"
            "<d_boinc_used_total>4e10</d_boinc_used_total>\n"
            "<d_boinc_used_project>4e10</d_boinc_used_project>\n</disk_usage>\n"
            "<other_results>\n</other_results>\n</scheduler_request>\n",
            1 + host % USERS, host * APART, host % 2 == 1 ? "4e9" : "1.6e10"),
        (double)time(NULL));
}

static void make_project(void)
{
    test_sql(database,
             "SET SESSION sql_mode = '';"
             "INSERT INTO platform (id, name) VALUES (1, 'x86_64-pc-linux-gnu'),"
             " (2, 'windows_x86_64');"
             "INSERT INTO app SET id = 1, name = 'work', user_friendly_name = 'Work', weight = 1;"
             "INSERT INTO app_version SET id = 1, appid = 1, version_num = 103, platformid = 1,"
             " xml_doc = '<file_info>\\n<name>f</name>\\n<url>http://127.0.0.1/f</url>\\n"
             "<executable/>\\n<nbytes>9</nbytes>\\n</file_info>\\n<app_version>\\n"
             "<app_name>work</app_name>\\n<version_num>103</version_num>\\n<file_ref>\\n"
             "<file_name>f</file_name>\\n<main_program/>\\n</file_ref>\\n</app_version>\\n';"
             "INSERT INTO user (id, name, email_addr, authenticator, create_time) SELECT seq,"
             " CONCAT('u', seq), CONCAT('u', seq), CONCAT('key', seq), 1 FROM seq_1_to_%d;"
             "INSERT INTO host (id, userid, create_time, host_cpid) SELECT seq * %d,"
             " 1 + seq %% %d, 1, CONCAT('cpid', seq) FROM seq_1_to_%d;"
             "INSERT INTO workunit (id, name, appid, rsc_fpops_est, rsc_fpops_bound,"
             " rsc_memory_bound, rsc_disk_bound, delay_bound, transition_time, min_quorum) SELECT"
             " seq, CONCAT('job_', seq), 1, 1e11, 1e17, 1e6, 1e6, 86400, 2147483647, 1"
             " FROM seq_1_to_5;"
             "INSERT INTO result (id, name, workunitid, appid, server_state) SELECT seq,"
             " CONCAT('job_', seq, '_0'), seq, 1, 2 FROM seq_1_to_5",
             USERS, APART, USERS, HOSTS);
}

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    comparison = why_open(database, options, sizeof options / sizeof *options);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    why_close(comparison);
    test_database_destroy(database);
    return 0;
}

/* As it is before each set-up: hosts that asked just now, and jobs that all can have. */
static void begin(void)
{
    test_database_clear(database);
    make_project();
    for (int host = 1; host <= HOSTS; host++)
        come(host);
}

/* --- what qmctl says -------------------------------------------------------------------------- */

/* The first line that begins so; its exit status. */
static int ask(const char *command, const char *begins, char ret_line[BYTES])
{
    char words[300], line[BYTES];
    FILE *from;
    int status;

    ret_line[0] = '\0';
    snprintf(words, sizeof words, "'%s/qmctl' %s --project '%s' --tsv", getenv("QM_BINARY_DIR"),
             command, why_project(comparison));
    from = popen(words, "r");
    assert_non_null(from);
    while (fgets(line, sizeof line, from) != NULL)
        if (ret_line[0] == '\0' && strncmp(line, begins, strlen(begins)) == 0)
            snprintf(ret_line, BYTES, "%s", line);
    status = pclose(from);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void assert_says(const char *line, const char *words)
{
    if (strstr(line, words) == NULL)
        print_error("\"%s\" is not in \"%s\"\n", words, line);
    assert_non_null(strstr(line, words));
}

/* --- tests ------------------------------------------------------------------------------------ */

static const struct {
    const char *sql, *reason, *words;
} impossible[] = {
    {"UPDATE app_version SET platformid = 2", "version_platform", "6 hosts: no version for"},
    {"UPDATE workunit SET rsc_memory_bound = 6.4e10", "memory",
     "6 hosts: the jobs need more memory than BOINC may use (the nearest: Work needs 59.61 GB"},
    {"UPDATE workunit SET rsc_disk_bound = 1e15", "disk", "6 hosts: the jobs need more disk space"},
    {"UPDATE workunit SET rsc_fpops_est = 1e16", "deadline", "they are due in 24.00 hours"},
    {"UPDATE app SET homogeneous_redundancy = 1; UPDATE workunit SET hr_class = 5", "hr_committed",
     "other types of computer"},
    {"INSERT INTO result (name, workunitid, appid, server_state, userid, hostid)"
     " SELECT CONCAT('held_', workunit.id, '_', user.id), workunit.id, 1, 5, user.id, 77"
     " FROM workunit JOIN user",
     "one_per_user", "the user's hosts have had"},
    {"UPDATE app SET deprecated = 1", "app_gone", "6 hosts: the application is deprecated"},
    {"UPDATE workunit SET app_version_num = 777", "version_missing", "its version 7.77"},
    {"DELETE FROM app_version", "version_none", "6 hosts: the application has no current version"},
    {"UPDATE app_version SET deprecated = 1", "version_retired", "deprecated"},
    {"UPDATE host SET max_results_day = -1", "host_blacklisted", "the project excludes the host"},
    {"UPDATE app_version SET min_core_version = 80000", "client_too_old",
     "needs BOINC 8.0.0 or later"},
};

static void what_nobody_can_have_is_named(void **state)
{
    char line[BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        char begins[100];

        begin();
        test_sql(database, "SET SESSION sql_mode = ''; %s", impossible[i].sql);
        assert_int_equal(EXIT_SOME_ARE_LOST, ask("why --jobs", "work\t", line));
        snprintf(begins, sizeof begins, "work\tjob_1\t5\t0 of 6\t%s\t", impossible[i].reason);
        assert_says(line, begins);
        assert_says(line, impossible[i].words);
        assert_int_equal(1, ask("status", "jobs\t", line));
        assert_says(line, "jobs\twork\tFAILED\t5 waiting jobs, such as job_1: no fit among");
        assert_says(line, impossible[i].words);
    }
}

/* What a request that comes now would be refused for, and one tomorrow would not. */
static const char *const passing[] = {
    "DO 0", /* but that it would be too early */
    "INSERT INTO result (name, workunitid, appid, server_state, userid, hostid, report_deadline)"
    " SELECT CONCAT('busy_', id), 99, 1, 4, userid, id, UNIX_TIMESTAMP() + 90000 FROM host",
    "INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day, n_jobs_today)"
    " SELECT id, 1, 1, 99 FROM host",
    "UPDATE host SET d_free = 1.2e9, d_boinc_used_total = 8e10, d_boinc_used_project = 8e10;"
    "UPDATE workunit SET rsc_disk_bound = 3e10",
};

static void what_passes_is_nothing(void **state)
{
    char line[BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        begin();
        test_sql(database, "SET SESSION sql_mode = ''; %s", passing[i]);
        assert_int_equal(0, ask("why --jobs", "work\t", line));
        assert_says(line, "work\tjob_1\t5\t6 of 6\t-\t-");
        (void)ask("status", "jobs\t", line);
        assert_says(line, "jobs\t-\tok\t");
    }
}

static void some_hosts_can_have_some(void **state)
{
    char line[BYTES];

    (void)state;
    begin();
    test_sql(database, "UPDATE workunit SET rsc_memory_bound = 6e9 WHERE id <= 3;"
                       "UPDATE workunit SET rsc_memory_bound = 6e10 WHERE id = 5");
    assert_int_equal(EXIT_SOME_ARE_LOST, ask("why --jobs", "work\tjob_1\t3", line));
    assert_says(line, "3 of 6\tmemory\t3 hosts: ");
    (void)ask("why --jobs", "work\tjob_4\t1", line);
    assert_says(line, "6 of 6\t-");
    (void)ask("why --jobs", "work\tjob_5\t1", line);
    assert_says(line, "0 of 6\tmemory\t6 hosts: ");
    (void)ask("status", "jobs\t", line);
    assert_says(line, "1 waiting job, such as job_5: no fit among the hosts asked (6)");
}

/* A line of what servers read. */
static void assert_kept(const char *line)
{
    struct text kept = test_sql_text(
        database, "SELECT CONCAT('\n', figures) FROM qm_figures WHERE kind = 'stuck'");

    if (!text_contains(kept, text_from(line)))
        fail_msg("\"%s\" is not in " TEXT_FORMAT, line, TEXT_ARG(kept));
}

/* By whoever looks: `qmctl status` each time, `qmctl transition` once an hour. */
static void what_was_found_is_left_for_servers(void **state)
{
    char line[BYTES];

    (void)state;
    begin();
    test_sql(database, "INSERT INTO qm_duty (name, due) VALUES ('stuck jobs', 0)");
    assert_int_equal(0, ask("transition", "", line));
    assert_kept("\nkinds 1\nhosts 1\njobs 0\n");
    test_sql(database, "UPDATE workunit SET rsc_memory_bound = 6e10 WHERE id = 5");
    assert_int_equal(0, ask("transition", "", line));
    assert_kept("\njobs 0\n"); /* within the hour */
    (void)ask("status", "jobs\t", line);
    assert_kept(
        "\nhosts 6\njobs 1\nlimited 0\nclass 1\twork\tjob_5\t6 hosts: the jobs need more memory");
    test_sql(database, "UPDATE workunit SET rsc_memory_bound = 1e7;"
                       "UPDATE qm_duty SET due = UNIX_TIMESTAMP() - 1");
    assert_int_equal(0, ask("transition", "", line));
    assert_kept("\nhosts 1\njobs 0\n");
}

/* Few hosts are enough for jobs that most can have, however many there are. Which are drawn is
 * chance. */
static void status_asks_no_more_hosts_than_it_needs(void **state)
{
    static const char says[] = "jobs\t-\tok\tevery kind of waiting job fits a host (hosts asked: ";
    char line[BYTES];

    (void)state;
    begin();
    test_sql(database,
             "INSERT INTO host (id, userid, create_time, host_cpid, rpc_time) SELECT 7000 + seq, 1,"
             " 1, seq, UNIX_TIMESTAMP() FROM seq_1_to_900; INSERT INTO qm_host_said SELECT 7000 +"
             " seq, request FROM qm_host_said, seq_1_to_900 WHERE hostid = %d",
             APART);
    (void)ask("status", "jobs\t", line);
    assert_says(line, says);
    assert_in_range(strtol(line + sizeof(says) - 1, NULL, 10), 1, 20);
    test_sql(database, "UPDATE workunit SET rsc_memory_bound = 6.4e10 WHERE id = 5");
    (void)ask("status", "jobs\t", line);
    assert_says(line,
                "1 waiting job, such as job_5: no fit among the hosts asked, which were drawn");
}

/* The first hosts stand so near to each other that all are read. */
static void hosts_that_stay_away_are_not_asked(void **state)
{
    char line[BYTES];

    (void)state;
    begin();
    test_sql(database, "UPDATE host SET rpc_time = rpc_time - 8 * 86400 WHERE id <= %d", APART);
    assert_int_equal(0, ask("why --jobs", "work\t", line));
    assert_says(line, "5 of 5");
    test_sql(database, "DELETE FROM qm_host_said WHERE hostid > %d", 3 * APART);
    assert_int_equal(0, ask("why --jobs", "work\t", line));
    assert_says(line, "2 of 2");
    test_sql(database, "UPDATE host SET rpc_time = 1");
    assert_int_equal(0, ask("why --jobs", "work\t", line));
    assert_says(line, "work\tjob_1\t5\tnot known\t-\t-");
}

static void of_no_host_it_is_not_known(void **state)
{
    char line[BYTES];

    (void)state;
    begin();
    test_sql(database, "DELETE FROM qm_host_said; UPDATE app_version SET platformid = 2");
    assert_int_equal(0, ask("why --jobs", "work\t", line));
    assert_says(line, "work\tjob_1\t5\tnot known\t-\t-");
    (void)ask("status", "jobs\t", line);
    assert_says(line, "jobs\t-\tunknown\t");
}

/* Of many hosts only some are asked, and the others may be able to. What stands against any host is
 * known without them. */
static void what_a_few_may_have_is_no_failure(void **state)
{
    char line[BYTES];

    (void)state;
    begin();
    test_sql(database,
             "INSERT INTO host (id, userid, create_time, host_cpid, rpc_time) SELECT 7000 + seq, 1,"
             " 1, seq, UNIX_TIMESTAMP() FROM seq_1_to_900; INSERT INTO qm_host_said SELECT 7000 +"
             " seq, request FROM qm_host_said, seq_1_to_900 WHERE hostid = %d;"
             "UPDATE workunit SET rsc_memory_bound = 6.4e10",
             APART);
    assert_int_equal(EXIT_SOME_ARE_LOST, ask("why --jobs", "work\t", line));
    (void)ask("status", "jobs\t", line);
    assert_says(line, "jobs\twork\twarning\t5 waiting jobs, such as job_1: no fit among");
    assert_says(line, "the hosts asked, which were drawn at random (");
    assert_says(line, "): few hosts or none fit. ");
    test_sql(database, "UPDATE app SET deprecated = 1");
    assert_int_equal(1, ask("status", "jobs\t", line));
    assert_says(line, "jobs\twork\tFAILED\t5 waiting jobs");
}

/* One host of six can have it, two have too little memory, and three are excluded. */
static void one_job_is_explained(void **state)
{
    char line[BYTES];

    (void)state;
    begin();
    test_sql(database,
             "UPDATE workunit SET rsc_memory_bound = 6e9 WHERE id = 2;"
             "UPDATE host SET max_results_day = -1 WHERE id >= %d",
             4 * APART);
    assert_int_equal(0, ask("why --job job_2", "work\tjob_2\t1 of 6\t", line));
    assert_says(line, "may be\t-\t-");
    assert_int_equal(0, ask("why --job job_2", "work\tjob_2\t2 of 6\t", line));
    assert_says(line, "no\tmemory\t"
                      "the jobs need more memory than BOINC may use (the nearest: ");
    assert_int_equal(0, ask("why --job job_2", "work\tjob_2\t3 of 6\t", line));
    assert_says(line, "no\thost_blacklisted\t"
                      "the project excludes the host");
    test_sql(database, "UPDATE workunit SET rsc_memory_bound = 6e10 WHERE id = 2");
    assert_int_equal(EXIT_SOME_ARE_LOST, ask("why --job job_2", "work\tjob_2\t0 of 6\t", line));
    assert_says(line, "may be\t-");
    assert_int_equal(0, ask("why --job job_3", "work\tjob_3\t3 of 6\tmay be", line));
    test_sql(database, "UPDATE host SET rpc_time = 1");
    assert_int_equal(0, ask("why --job job_2", "work", line));
    assert_string_equal(line, "work\tjob_2\tnot known\tnot known\t-\t-\n");
}

/* The job's own holders count, and no others. */
static void holders_of_one_job_are_its_own(void **state)
{
    char line[BYTES];

    (void)state;
    begin();
    test_sql(database, "SET SESSION sql_mode = '';"
                       "INSERT INTO result (name, workunitid, appid, server_state, userid, hostid)"
                       " SELECT CONCAT('held_', id), 4, 1, 5, id, 77 FROM user WHERE id = 1");
    assert_int_equal(0, ask("why --job job_4", "work\tjob_4\t4 of 6\tmay be", line));
    assert_says(line, "may be");
    assert_int_equal(0, ask("why --job job_4", "work\tjob_4\t2 of 6\tno\tone_per_user", line));
    assert_says(line, "one_per_user");
    assert_int_equal(0, ask("why --job job_5", "work\tjob_5\t6 of 6\tmay be", line));
    assert_says(line, "may be");
}

static void a_job_that_does_not_wait_is_no_question_of_hosts(void **state)
{
    char line[BYTES];

    (void)state;
    begin();
    test_sql(database, "UPDATE result SET server_state = 5 WHERE id = 3");
    assert_int_equal(1, ask("why 2>&1 --job job_3", "qmctl: ", line));
    assert_says(line, "job \"job_3\" has no unsent result");
    assert_int_equal(1, ask("why 2>&1 --job nobody", "qmctl: ", line));
    assert_says(line, "there is no job \"nobody\"");
    assert_int_equal(2, ask("why 2>&1 --job job_1 --jobs", "qmctl", line));
    assert_int_equal(2, ask("why 2>&1 --job job_1 1000", "qmctl", line));
    assert_int_equal(2, ask("why 2>&1 --job job_1 --app work", "qmctl", line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_can_have_is_named),
        cmocka_unit_test(what_passes_is_nothing),
        cmocka_unit_test(some_hosts_can_have_some),
        cmocka_unit_test(what_was_found_is_left_for_servers),
        cmocka_unit_test(status_asks_no_more_hosts_than_it_needs),
        cmocka_unit_test(hosts_that_stay_away_are_not_asked),
        cmocka_unit_test(of_no_host_it_is_not_known),
        cmocka_unit_test(what_a_few_may_have_is_no_failure),
        cmocka_unit_test(one_job_is_explained),
        cmocka_unit_test(holders_of_one_job_are_its_own),
        cmocka_unit_test(a_job_that_does_not_wait_is_no_question_of_hosts),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
