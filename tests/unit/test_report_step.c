/* SPDX-License-Identifier: Apache-2.0 */
/* The report step before a database that fails or changes under it, which a real one does too
 * rarely. */
#include "server/rpc/request.h"

#include "config/config.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/project/catalog.h"
#include "server/rpc/in_progress.h"
#include "tests/support/db_fake.h"
#include "tests/support/test.h"

enum { ROWS = 8 };

static struct arena *arena;
static struct config config;
static struct request request;
static struct reported_result results[ROWS];
static struct app_version_row app_versions[] = {
    {.id = 70}, {.id = 71, .plan_class = {.at = "mt2", .length = 3}}};
static const struct catalog catalog = {.rows = {.versions = app_versions, .version_count = 2}};
static struct host_app_version_row versions[1];
static struct host_app_version_change changes[ROWS];

/* --- the stage -------------------------------------------------------------------------------- */

static int setup(void **state)
{
    (void)state;
    arena = arena_create(1 << 20);
    db_fake_begin("results_by_name results_in_progress host_owners reports_save"
                  " host_detach_results");
    memset(&config, 0, sizeof(config));
    memset(&request, 0, sizeof(request));
    memset(results, 0, sizeof(results));
    memset(versions, 0, sizeof(versions));
    memset(changes, 0, sizeof(changes));
    for (int64_t host = 41; host <= 51; host += 10) /* of this user, and of another */
        db_fake.hosts[db_fake.host_count++] =
            (struct host_row){.id = host, .userid = host == 41 ? 17 : 18};
    versions[0] = (struct host_app_version_row){.app_version_id = 70, .max_jobs_per_day = 40};
    request.config = &config;
    request.catalog = &catalog;
    request.arena = arena;
    request.now = 10000;
    request.message.results = results;
    request.attempt.host = (struct host_row){.id = 3, .userid = 17, .p_ncpus = 4};
    request.attempt.user = (struct user_row){.id = 17, .teamid = 6};
    request.attempt.version_changes = changes;
    request.attempt.version_change_capacity = ROWS;
    request.attempt.versions = versions;
    request.attempt.version_count = 1;
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static struct result_row *add_row(const char *name, int64_t server_state, int64_t outcome)
{
    struct result_row *row = &db_fake.jobs[db_fake.job_count++].result;

    *row = (struct result_row){.id = 100 + (int64_t)db_fake.job_count,
                               .workunitid = 200 + (int64_t)db_fake.job_count,
                               .appid = 1,
                               .name = text_from(name),
                               .server_state = server_state,
                               .outcome = outcome,
                               .hostid = 3,
                               .userid = 17,
                               .sent_time = 9000,
                               .app_version_id = 70};
    return row;
}

static struct reported_result *add_report(const char *name)
{
    struct reported_result *reported = &results[request.message.result_count++];

    *reported = (struct reported_result){.name = text_from(name),
                                         .state = CLIENT_FILES_UPLOADED,
                                         .has_exit_status = true,
                                         .final_cpu_time = 50,
                                         .final_elapsed_time = 60,
                                         .stderr_out = TEXT("said")};
    return reported;
}

static const char *acks(void)
{
    static char names[200];
    size_t length = 0;

    names[0] = '\0';
    for (const struct text_item *item = request.attempt.answer.acks.first; item != NULL;
         item = item->next)
        length += (size_t)snprintf(names + length, sizeof(names) - length, "%s" TEXT_FORMAT,
                                   length > 0 ? " " : "", TEXT_ARG(item->text));
    return names;
}

static void report_acknowledging(const char *names)
{
    assert_int_equal(step_report(&request), NEXT_STEP);
    assert_string_equal(acks(), names);
}

/* --- cases ------------------------------------------------------------------------------------ */

static void an_expected_report_is_booked(void **state)
{
    (void)state;
    add_row("a_0", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("a_0");
    report_acknowledging("a_0");
    assert_int_equal(request.attempt.booked, 1);
    assert_int_equal(db_fake.report_count, 1);
    assert_i64(db_fake.reports[0].id, 101);
    assert_i64(db_fake.reports[0].workunitid, 201);
    assert_i64(db_fake.reports[0].hostid, 3);
    assert_i64(db_fake.reports[0].teamid, 6);
    assert_i64(db_fake.reports[0].received_time, 10000);
    assert_i64(db_fake.reports[0].outcome, OUTCOME_SUCCESS);
    assert_text(db_fake.reports[0].stderr_out, "said");
    assert_int_equal(db_fake_calls("results_by_name"), 1);
    assert_int_equal(db_fake_calls("reports_save"), 1);
}

static void reports_are_answered_in_their_order(void **state)
{
    (void)state;
    add_row("b", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_row("d", RESULT_OVER, OUTCOME_CLIENT_ERROR);
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("d");
    add_report("c"); /* unknown */
    add_report("b");
    add_report("a");
    report_acknowledging("d c b a");
    assert_int_equal(request.attempt.booked, 2);
    assert_false(request.attempt.force_resend);
}

static void of_equal_names_the_first_counts(void **state)
{
    (void)state;
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("a")->exit_status = 1;
    add_report("a")->exit_status = 2;
    add_report("a")->exit_status = 3;
    report_acknowledging("a");
    assert_int_equal(db_fake.report_count, 1);
    assert_i64(db_fake.reports[0].exit_status, 1);
}

static void a_name_in_another_case_is_unknown(void **state)
{
    (void)state;
    add_row("Job", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("job");
    report_acknowledging("job");
    assert_int_equal(db_fake_calls("reports_save"), 0);
}

static void words_in_names_mean_nothing(void **state)
{
    (void)state;
    add_row("upload_download_1", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("upload_download_1");
    step_report(&request);
    assert_int_equal(db_fake.report_count, 1);
}

static void names_that_no_row_can_have_are_not_looked_up(void **state)
{
    static char name[400];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    add_report(name);
    add_report("");
    assert_int_equal(step_report(&request), NEXT_STEP);
    assert_int_equal(db_fake_calls("results_by_name"), 0);
    assert_int_equal(request.attempt.answer.acks.count, 1);
}

static void hosts_of_the_same_user_may_report_for_one_another(void **state)
{
    (void)state;
    add_row("mine", RESULT_IN_PROGRESS, OUTCOME_INIT)->hostid = 41;
    add_row("theirs", RESULT_IN_PROGRESS, OUTCOME_INIT)->hostid = 51;
    add_row("nobodys", RESULT_IN_PROGRESS, OUTCOME_INIT)->hostid = 61;
    add_report("mine");
    add_report("theirs");
    add_report("nobodys");
    report_acknowledging("mine theirs nobodys");
    assert_int_equal(db_fake.report_count, 1);
    assert_i64(db_fake.reports[0].id, 101);
    assert_i64(db_fake.reports[0].hostid, 3);
}

static void a_success_reported_again_asks_for_lost_jobs(void **state)
{
    (void)state;
    add_row("a", RESULT_OVER, OUTCOME_SUCCESS);
    add_report("a");
    report_acknowledging("a");
    assert_true(request.attempt.force_resend);
    assert_int_equal(db_fake_calls("reports_save"), 0);
}

static void whatever_call_fails_nothing_is_acknowledged(void **state)
{
    (void)state;
    for (int calls = 0;; calls++) {
        enum next next;

        teardown(NULL);
        setup(NULL);
        add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
        add_row("b", RESULT_IN_PROGRESS, OUTCOME_INIT)->hostid = 41;
        add_row("c", RESULT_OVER, OUTCOME_SUCCESS);
        add_report("a");
        add_report("b");
        add_report("c");
        add_report("unknown");
        db_fake.calls_left = calls;
        next = step_report(&request);
        if (next == NEXT_STEP) {
            assert_int_equal(calls, 3);
            assert_string_equal(acks(), "a b c unknown");
            return;
        }
        assert_int_equal(next, NEXT_FAILED);
        assert_string_equal(acks(), "");
        assert_int_equal(request.attempt.booked, 0);
        assert_int_not_equal(request.failure.status, STATUS_OK);
    }
}

/* Whatever of the arrays is the one for which there is no room. */
static void without_memory_nothing_is_acknowledged(void **state)
{
    enum next next = NEXT_FAILED;
    size_t bytes = 0, failed = 0;

    for (; next == NEXT_FAILED; failed++) {
        assert_string_equal(acks(), "");
        teardown(state);
        setup(state);
        arena_destroy(arena);
        request.arena = arena = arena_create(bytes);
        add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
        add_row("b", RESULT_IN_PROGRESS, OUTCOME_INIT)->hostid = 41;
        add_report("a");
        add_report("b");
        next = step_report(&request);
        assert_true(next == NEXT_STEP || arena_lacked(arena) > bytes);
        bytes = arena_lacked(arena);
    }
    assert_int_equal(next, NEXT_STEP);
    assert_true(failed > 5);
}

static void another_server_books_both(void)
{
    db_fake.books_nothing = true;
    for (size_t i = 0; i < db_fake.job_count; i++) {
        db_fake.jobs[i].result.server_state = RESULT_OVER;
        db_fake.jobs[i].result.outcome = OUTCOME_SUCCESS;
        db_fake.jobs[i].result.received_time = 9999;
    }
}

static void what_another_server_booked_meanwhile_is_acknowledged(void **state)
{
    (void)state;
    db_fake.before_reports = another_server_books_both;
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("a");
    report_acknowledging("a");
    assert_int_equal(request.attempt.booked, 0);
    assert_true(request.attempt.force_resend);
    assert_int_equal(request.attempt.version_change_count, 0);
}

static void what_could_still_be_booked_is_not_acknowledged(void **state)
{
    (void)state;
    db_fake.books_nothing = true;
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_row("b", RESULT_OVER, OUTCOME_CLIENT_ERROR);
    add_report("a");
    add_report("b");
    report_acknowledging("b");
}

/* A later step will read what is in progress. */
static void plan_to_read(void)
{
    request.attempt.plan.reads_in_progress = true;
}

static void reports_are_found_in_what_is_in_progress(void **state)
{
    (void)state;
    plan_to_read();
    request.message.other_result_count = 2;
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_row("b", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_row("c", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("c");
    add_report("a")->exit_status = 1;
    add_report("a")->exit_status = 2;
    report_acknowledging("c a");
    assert_int_equal(db_fake_calls("results_in_progress"), 1);
    assert_int_equal(db_fake.in_progress_most, 3 + 2 + IN_PROGRESS_SPARE);
    assert_int_equal(db_fake_calls("results_by_name"), 0);
    assert_int_equal(db_fake.report_count, 2);
    assert_i64(db_fake.reports[1].id, 101);
    assert_i64(db_fake.reports[1].exit_status, 1);
    assert_true(request.attempt.in_progress_is_read); /* for the steps behind: what is left */
    assert_int_equal(request.attempt.in_progress_count, 1);
    assert_i64(request.attempt.in_progress[0].id, 102);
}

static void only_names_that_are_not_in_progress_are_looked_up(void **state)
{
    (void)state;
    plan_to_read();
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_row("late", RESULT_OVER, OUTCOME_NO_REPLY);
    add_row("others", RESULT_IN_PROGRESS, OUTCOME_INIT)->hostid = 41;
    add_row("stays", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("a");
    add_report("late");
    add_report("others");
    add_report("unknown");
    report_acknowledging("a late others unknown");
    assert_int_equal(request.attempt.booked, 3);
    assert_int_equal(db_fake_calls("results_in_progress"), 1);
    assert_int_equal(db_fake_calls("results_by_name"), 1);
    assert_int_equal(request.attempt.in_progress_count, 1);
    assert_i64(request.attempt.in_progress[0].id, 104);
}

static void a_new_host_has_nothing_in_progress(void **state)
{
    (void)state;
    plan_to_read();
    request.attempt.host_is_new = true;
    add_row("a", RESULT_OVER, OUTCOME_SUCCESS);
    add_report("a");
    assert_int_equal(step_report(&request), NEXT_STEP);
    assert_int_equal(db_fake_calls("results_in_progress"), 0);
    assert_int_equal(db_fake_calls("results_by_name"), 1);
}

static void what_another_booked_meanwhile_is_read_anew(void **state)
{
    (void)state;
    plan_to_read();
    db_fake.before_reports = another_server_books_both;
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("a");
    report_acknowledging("a");
    assert_int_equal(request.attempt.booked, 0);
    assert_true(request.attempt.force_resend);
    assert_int_equal(db_fake_calls("results_by_name"), 1); /* by name, as it is now */
    assert_false(request.attempt.in_progress_is_read);
}

static void a_failed_list_acknowledges_nothing(void **state)
{
    (void)state;
    plan_to_read();
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("a");
    db_fake.calls_left = 0;
    assert_int_equal(step_report(&request), NEXT_FAILED);
    assert_string_equal(acks(), "");
}

static void lost_jobs_are_given_up_after_the_reports(void **state)
{
    (void)state;
    request.attempt.detaches = true;
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("a");
    assert_int_equal(step_report(&request), NEXT_STEP);
    assert_int_equal(db_fake_calls("host_detach_results"), 1);
    assert_string_equal(db_fake_record("reports_save host_detach_results"),
                        "reports_save host_detach_results(3)");
    assert_int_equal(request.attempt.booked, 1);
}

static void lost_jobs_are_given_up_without_reports_too(void **state)
{
    (void)state;
    request.attempt.detaches = true;
    assert_int_equal(step_report(&request), NEXT_STEP);
    assert_int_equal(db_fake_calls("host_detach_results"), 1);
    db_fake.calls_left = 0;
    assert_int_equal(step_report(&request), NEXT_FAILED);
}

static void quotas_change_once_per_report(void **state)
{
    (void)state;
    config.daily_result_quota = 100;
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_row("b", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_row("c", RESULT_IN_PROGRESS, OUTCOME_INIT)->app_version_id = -2;
    add_report("a")->exit_status = 1;
    add_report("b")->exit_status = 1;
    add_report("c")->exit_status = 1;
    step_report(&request);
    assert_int_equal(request.attempt.version_change_count, 2);
    assert_i64(changes[0].app_version_id, 70);
    assert_true(changes[0].sets_max_jobs_per_day);
    assert_i64(changes[0].max_jobs_per_day, 38);
    assert_true(changes[0].resets_consecutive_valid);
    assert_i64(changes[1].app_version_id, 1000002);
    assert_i64(changes[1].max_jobs_per_day, 99);
    assert_false(changes[1].resets_consecutive_valid); /* no row that could hold one */
}

static void without_a_quota_only_the_row_of_valid_ones_breaks(void **state)
{
    (void)state;
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_row("b", RESULT_IN_PROGRESS, OUTCOME_INIT)->app_version_id = 99;
    add_report("a")->exit_status = 1;
    add_report("b")->exit_status = 1;
    step_report(&request);
    assert_int_equal(request.attempt.version_change_count, 1);
    assert_false(changes[0].sets_max_jobs_per_day);
    assert_true(changes[0].resets_consecutive_valid);
}

static void times_are_repaired_by_version(void **state)
{
    static const struct {
        double elapsed;
        int64_t version;
    } cases[] = {{120, 70}, {60, 71}, {60, 99}, {60, -2}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        teardown(NULL);
        setup(NULL);
        add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT)->app_version_id = cases[i].version;
        add_report("a")->final_cpu_time = 120;
        step_report(&request);
        assert_real(db_fake.reports[0].elapsed_time, cases[i].elapsed, 1e-9);
        assert_real(db_fake.reports[0].cpu_time, 120, 1e-9);
    }
}

static void successes_may_lose_their_stderr(void **state)
{
    (void)state;
    config.dont_store_success_stderr = true;
    add_row("a", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_row("b", RESULT_IN_PROGRESS, OUTCOME_INIT);
    add_report("a");
    add_report("b")->exit_status = 1;
    step_report(&request);
    assert_text(db_fake.reports[0].stderr_out, "");
    assert_text(db_fake.reports[1].stderr_out, "said");
}

static void a_full_arena_acknowledges_nothing(void **state)
{
    (void)state;
    arena_destroy(arena);
    arena = arena_create(512);
    request.arena = arena;
    for (int i = 0; i < ROWS; i++)
        add_report("a");
    if (step_report(&request) == NEXT_STEP)
        assert_true(arena_overflowed(arena));
    else
        assert_string_equal(acks(), "");
}

static void reports_that_are_left_are_told(void **state)
{
    (void)state;
    request.message.results_left = 50000;
    assert_int_equal(step_report(&request), NEXT_STEP);
    assert_int_equal(request.attempt.answer.message_count, 1);
    assert_true(
        text_contains(request.attempt.answer.messages[0].text, TEXT("reports 50000 tasks")));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(an_expected_report_is_booked),
        CASE(reports_are_answered_in_their_order),
        CASE(of_equal_names_the_first_counts),
        CASE(a_name_in_another_case_is_unknown),
        CASE(words_in_names_mean_nothing),
        CASE(names_that_no_row_can_have_are_not_looked_up),
        CASE(hosts_of_the_same_user_may_report_for_one_another),
        CASE(a_success_reported_again_asks_for_lost_jobs),
        CASE(whatever_call_fails_nothing_is_acknowledged),
        CASE(without_memory_nothing_is_acknowledged),
        CASE(what_another_server_booked_meanwhile_is_acknowledged),
        CASE(what_could_still_be_booked_is_not_acknowledged),
        CASE(reports_are_found_in_what_is_in_progress),
        CASE(only_names_that_are_not_in_progress_are_looked_up),
        CASE(a_new_host_has_nothing_in_progress),
        CASE(what_another_booked_meanwhile_is_read_anew),
        CASE(a_failed_list_acknowledges_nothing),
        CASE(lost_jobs_are_given_up_after_the_reports),
        CASE(lost_jobs_are_given_up_without_reports_too),
        CASE(quotas_change_once_per_report),
        CASE(without_a_quota_only_the_row_of_valid_ones_breaks),
        CASE(times_are_repaired_by_version),
        CASE(successes_may_lose_their_stderr),
        CASE(a_full_arena_acknowledges_nothing),
        CASE(reports_that_are_left_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
