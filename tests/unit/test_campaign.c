/* SPDX-License-Identifier: Apache-2.0 */
/* The campaign's history and what its auditor takes from it. */
#include "server/policy/limits/limits.h"
#include "tests/support/test.h"
#include "tools/lab/campaign/audit.h"
#include "tools/lab/campaign/history.h"

#include <stdlib.h>
#include <unistd.h>

enum { DAY = 86400, NOW = 1795000000, HOST = 7 };

static void a_day_is_the_servers(void **state)
{
    (void)state;
    for (int64_t host = 1; host <= 200; host++) {
        for (int64_t time = NOW; time < NOW + DAY; time += 613)
            assert_int_equal(quota_day_is_new(host, time, time + 613),
                             audit_day(host, time) != audit_day(host, time + 613));
    }
}

static int64_t turn_of(int64_t host)
{
    int64_t time = NOW;

    while (audit_day(host, time) == audit_day(host, time + 1))
        time++;
    return time + 1;
}

static void jobs_near_the_turn_of_a_day_are_left_out(void **state)
{
    const struct audit_limits near = {.daily = 1};
    const struct audit_limits apart = {.daily = 1, .clocks_were_hours_apart = true};
    struct extract_row row = {.hostid = HOST};
    const struct {
        int64_t since;
        bool is_counted, is_counted_apart;
    } cases[] = {{-7201, true, true}, {-7200, true, false}, {-11, true, false},
                 {-10, false, false}, {-9, false, false},   {9, false, false},
                 {10, true, false},   {7199, true, false},  {7200, true, true}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        row.sent_time = turn_of(HOST) + cases[i].since;
        assert_int_equal(audit_counts_for_day(&near, &row), cases[i].is_counted);
        assert_int_equal(audit_counts_for_day(&apart, &row), cases[i].is_counted_apart);
    }
    row.target_user = 1;
    assert_false(audit_counts_for_day(&near, &row));
}

/* Jobs of one version on one host in one server's day. */
static int64_t beyond_quota(size_t count, int64_t target_user, bool is_one_version)
{
    static char name[] = "job";
    const struct audit_limits limits = {.daily = 3};
    struct extract_row rows[8];
    const struct extract extract = {.rows = rows, .count = count};
    struct history history = {0};
    struct audit audit;
    int64_t found;

    for (size_t i = 0; i < count; i++)
        rows[i] = (struct extract_row){.name = name,
                                       .id = (int64_t)i,
                                       .workunitid = (int64_t)i,
                                       .server_state = STATE_IN_PROGRESS,
                                       .hostid = HOST,
                                       .app_version_id = 1,
                                       .sent_time = turn_of(HOST) + DAY / 2,
                                       .target_user = target_user,
                                       .is_one_version = is_one_version};
    audit = audit_run(&history, &extract, &limits);
    found = audit.findings[RULE_daily_quota].count;
    audit_clear(&audit);
    history_clear(&history);
    return found;
}

static void more_than_the_quota_is_found(void **state)
{
    (void)state;
    assert_int_equal(beyond_quota(3, 0, false), 0);
    assert_int_equal(beyond_quota(4, 0, false), 1);
    assert_int_equal(beyond_quota(8, 5, false), 0);
    assert_int_equal(beyond_quota(8, 0, true), 0);
}

/* Versions of two results of one job, the second of which is in progress. */
static int64_t versions_differ(int64_t outcome_of_first)
{
    static char name[] = "job";
    const struct audit_limits limits = {.daily = 0};
    struct extract_row rows[2] = {{.name = name, .server_state = STATE_OVER},
                                  {.name = name, .server_state = STATE_IN_PROGRESS}};
    const struct extract extract = {.rows = rows, .count = 2};
    struct history history = {0};
    struct audit audit;
    int64_t found;

    for (int i = 0; i < 2; i++) {
        rows[i].id = rows[i].hostid = rows[i].userid = rows[i].app_version_id = i + 1;
        rows[i].is_one_version = 1;
    }
    rows[0].outcome = outcome_of_first;
    audit = audit_run(&history, &extract, &limits);
    found = audit.findings[RULE_one_version].count;
    audit_clear(&audit);
    history_clear(&history);
    return found;
}

static void what_failed_binds_nobody(void **state)
{
    (void)state;
    assert_int_equal(versions_differ(OUTCOME_OF_SUCCESS), 1);
    assert_int_equal(versions_differ(OUTCOME_OF_ERROR), 0);
}

static void append_line(const char *path, const char *line)
{
    FILE *file = history_append(path);

    assert_non_null(file);
    assert_true(fprintf(file, "%s", line) > 0);
    assert_int_equal(fclose(file), 0);
}

/* What a killed crowd left of a line is not the beginning of the next one. */
static void a_torn_line_is_cut_off(void **state)
{
    char path[] = "/tmp/qm-campaign-XXXXXX";
    int descriptor = mkstemp(path);
    struct history history = {0};

    (void)state;
    assert_true(descriptor >= 0);
    close(descriptor);
    append_line(path, "b 1 5 Genuine");
    append_line(path, "b 1 6 GenuineIntel\n");
    append_line(path, "q 1 1\nq 1");
    append_line(path, "q 1 2\n");
    assert_true(history_read(&history, path));
    assert_int_equal(history.odd_lines, 0);
    assert_int_equal(history.requests, 2);
    assert_int_equal(history_machine(&history, 1)->user, 6);
    assert_int_equal(history_machine(&history, 1)->rpc_seqno, 2);
    history_clear(&history);
    unlink(path);
}

static void only_a_missing_history_is_an_empty_one(void **state)
{
    struct history history = {0};

    (void)state;
    assert_true(history_read(&history, "/tmp/qm-campaign-is-not-there"));
    assert_false(history_read(&history, "/dev/null/history"));
    assert_null(history_append("/dev/null/history"));
}

/* A result that nobody was told of is lost where its machine is there, and counted where it is not.
 */
static void what_gone_machines_hold_is_counted(void **state)
{
    static char name[] = "job";
    struct extract_row row = {
        .name = name, .server_state = STATE_IN_PROGRESS, .hostid = HOST, .userid = 1};
    const struct extract extract = {.rows = &row, .count = 1};
    const struct audit_limits limits = {0};
    const struct {
        const char *line;
        int64_t lost, gone;
    } cases[] = {{"e 1", 1, 0}, {"d 1", 0, 1}, {"i 1 8", 0, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct history history = {0};
        struct audit audit;

        history_take(&history, TEXT("b 1 1 GenuineIntel"));
        history_take(&history, TEXT("i 1 7"));
        history_take(&history, text_from(cases[i].line));
        audit = audit_run(&history, &extract, &limits);
        assert_int_equal(audit.findings[RULE_job_not_told].count, cases[i].lost);
        assert_int_equal(audit.gone, cases[i].gone);
        audit_clear(&audit);
        history_clear(&history);
    }
}

/* A job that a server gave up because of a clock makes room for another: only such a one. */
static int64_t beyond_limit(int64_t outcome, bool clocks_were_hours_apart)
{
    static char names[3][8] = {"job_1", "job_2", "job_3"};
    const struct audit_limits limits = {.in_progress = 2,
                                        .clocks_were_hours_apart = clocks_were_hours_apart};
    struct extract_row rows[3];
    const struct extract extract = {.rows = rows, .count = 3};
    struct history history = {0};
    struct audit audit;
    int64_t found;

    history_take(&history, TEXT("b 1 1 GenuineIntel"));
    history_take(&history, TEXT("i 1 7"));
    history_take(&history, TEXT("g 1 7 job_1 0"));
    history_take(&history, TEXT("g 1 7 job_2 0"));
    history_take(&history, TEXT("g 1 7 job_3 0"));
    for (int i = 0; i < 3; i++)
        rows[i] = (struct extract_row){.name = names[i],
                                       .id = i,
                                       .workunitid = i,
                                       .server_state = STATE_OVER,
                                       .outcome = i == 0 ? outcome : 0,
                                       .hostid = HOST,
                                       .userid = 1};
    audit = audit_run(&history, &extract, &limits);
    found = audit.findings[RULE_most_in_progress].count;
    audit_clear(&audit);
    history_clear(&history);
    return found;
}

static void a_detached_job_makes_room(void **state)
{
    (void)state;
    assert_int_equal(beyond_limit(OUTCOME_OF_DETACHED, true), 0);
    assert_int_equal(beyond_limit(OUTCOME_OF_DETACHED, false), 1);
    assert_int_equal(beyond_limit(OUTCOME_OF_SUCCESS, true), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_is_the_servers),
        cmocka_unit_test(jobs_near_the_turn_of_a_day_are_left_out),
        cmocka_unit_test(more_than_the_quota_is_found),
        cmocka_unit_test(what_failed_binds_nobody),
        cmocka_unit_test(a_torn_line_is_cut_off),
        cmocka_unit_test(only_a_missing_history_is_an_empty_one),
        cmocka_unit_test(what_gone_machines_hold_is_counted),
        cmocka_unit_test(a_detached_job_makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
