/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows take a report, what is stored of it, and what it does to quotas. */
#include "server/policy/host/bounds.h"
#include "server/policy/result/report_verdict.h"

#include "db/states.h"
#include "server/base/random.h"
#include "server/parse/message.h"
#include "tests/support/test.h"

enum { HOST = 3, USER = 17 };

static void every_row_has_its_case(void **state)
{
    static const struct {
        enum report_case wanted;
        int64_t server_state, outcome, received_time, hostid, owner;
    } cases[] = {
        {REPORT_EXPECTED, RESULT_IN_PROGRESS, OUTCOME_INIT, 0, HOST, -1},
        {REPORT_ALREADY_RECEIVED, RESULT_IN_PROGRESS, OUTCOME_INIT, 99, HOST, -1},
        {REPORT_MOVED, RESULT_IN_PROGRESS, OUTCOME_INIT, 0, 4, USER},
        {REPORT_OTHER_USER, RESULT_IN_PROGRESS, OUTCOME_INIT, 0, 4, 18},
        {REPORT_OTHER_USER, RESULT_IN_PROGRESS, OUTCOME_INIT, 0, 4, -1},
        {REPORT_OTHER_USER, RESULT_IN_PROGRESS, OUTCOME_INIT, 0, 0, -1},
        {REPORT_ALREADY_OVER, RESULT_OVER, OUTCOME_INIT, 0, HOST, -1},
        {REPORT_ALREADY_SUCCESS, RESULT_OVER, OUTCOME_SUCCESS, 99, HOST, -1},
        {REPORT_ALREADY_SUCCESS, RESULT_OVER, OUTCOME_SUCCESS, 99, 4, 18},
        {REPORT_ALREADY_OVER, RESULT_OVER, OUTCOME_COULDNT_SEND, 0, HOST, -1},
        {REPORT_ALREADY_OVER, RESULT_OVER, OUTCOME_CLIENT_ERROR, 99, HOST, -1},
        {REPORT_LATE, RESULT_OVER, OUTCOME_NO_REPLY, 0, HOST, -1},
        {REPORT_ALREADY_RECEIVED, RESULT_OVER, OUTCOME_NO_REPLY, 99, HOST, -1},
        {REPORT_MOVED, RESULT_OVER, OUTCOME_NO_REPLY, 0, 4, USER},
        {REPORT_ALREADY_OVER, RESULT_OVER, OUTCOME_DIDNT_NEED, 0, HOST, -1},
        {REPORT_ALREADY_OVER, RESULT_OVER, OUTCOME_VALIDATE_ERROR, 99, HOST, -1},
        {REPORT_LATE, RESULT_OVER, OUTCOME_CLIENT_DETACHED, 0, HOST, -1},
        {REPORT_ALREADY_RECEIVED, RESULT_OVER, OUTCOME_CLIENT_DETACHED, 99, HOST, -1},
        {REPORT_ALREADY_OVER, RESULT_OVER, 42, 0, HOST, -1},
        {REPORT_NEVER_SENT, RESULT_UNSENT, OUTCOME_INIT, 0, 0, -1},
        {REPORT_NEVER_SENT, RESULT_INACTIVE, OUTCOME_INIT, 0, 0, -1},
        {REPORT_ALREADY_OVER, 3, OUTCOME_INIT, 0, HOST, -1},
    };

    (void)state;
    assert_int_equal(report_judge(NULL, HOST, USER, -1), REPORT_UNKNOWN);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct result_row row = {
            .server_state = cases[i].server_state,
            .outcome = cases[i].outcome,
            .received_time = cases[i].received_time,
            .hostid = cases[i].hostid,
        };
        enum report_case got = report_judge(&row, HOST, USER, cases[i].owner);

        if (got != cases[i].wanted)
            fail_msg("row %zu: %s", i, report_verdicts[got].word);
        /* the owner is asked for exactly where it decides */
        if (report_judge(&row, HOST, USER, USER) != report_judge(&row, HOST, USER, -1))
            assert_true(report_needs_owner(&row, HOST));
        else
            assert_false(report_needs_owner(&row, HOST));
    }
}

static void whatever_is_not_booked_is_acknowledged(void **state)
{
    (void)state;
    for (int i = 0; i < REPORT_CASE_COUNT; i++) {
        assert_true(report_verdicts[i].books || report_verdicts[i].acknowledges);
        assert_true(strlen(report_verdicts[i].word) > 0);
    }
}

static void only_an_uploaded_result_with_exit_0_is_a_success(void **state)
{
    static const struct {
        int64_t outcome, validate, state, exit_status, stored_validate;
    } cases[] = {
        {OUTCOME_SUCCESS, VALIDATE_INIT, 5, 0, VALIDATE_INIT},
        {OUTCOME_SUCCESS, VALIDATE_TOO_LATE, 5, 0, VALIDATE_TOO_LATE},
        {OUTCOME_CLIENT_ERROR, VALIDATE_INVALID, 5, 1, VALIDATE_INIT},
        {OUTCOME_CLIENT_ERROR, VALIDATE_INVALID, 3, 0, VALIDATE_INIT}, /* no output file */
        {OUTCOME_CLIENT_ERROR, VALIDATE_INVALID, 3, -185, VALIDATE_INIT},
        {OUTCOME_CLIENT_ERROR, VALIDATE_INVALID, 6, 203, VALIDATE_INIT},
        {OUTCOME_CLIENT_ERROR, VALIDATE_INVALID, 7, -187, VALIDATE_INIT},
        {OUTCOME_CLIENT_ERROR, VALIDATE_INVALID, 0, 0, VALIDATE_INIT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t outcome, validate;

        report_outcome(cases[i].state, cases[i].exit_status, cases[i].stored_validate, &outcome,
                       &validate);
        assert_i64(outcome, cases[i].outcome);
        assert_i64(validate, cases[i].validate);
    }
}

static void a_missing_exit_status_is_an_error_unless_all_was_uploaded(void **state)
{
    struct reported_result reported = {.state = CLIENT_COMPUTE_ERROR};

    (void)state;
    assert_i64(report_exit_status(&reported), -162);
    reported.state = CLIENT_FILES_UPLOADED;
    assert_i64(report_exit_status(&reported), 0);
    reported.has_exit_status = true;
    reported.exit_status = 3;
    assert_i64(report_exit_status(&reported), 3);
}

static void exit_codes_fit_their_column(void **state)
{
    (void)state;
    assert_i64(bound_exit_status(-1073741819), -1073741819);
    assert_i64(bound_exit_status(INT64_C(3221225477)), -1073741819); /* 0xc0000005 unsigned */
    assert_i64(bound_exit_status(INT64_MAX), INT32_MAX);
    assert_i64(bound_exit_status(INT64_MIN), INT32_MIN);
    assert_i64(bound_int32(INT64_C(3221225477)), INT32_MAX);
}

static void times_are_repaired(void **state)
{
    static const struct {
        double cpu, elapsed; /* wanted */
        double sent_cpu, sent_elapsed;
        bool single;
        double turnaround;
        int64_t ncpus;
    } cases[] = {
        {90, 100, 90, 100, true, 1000, 4},
        {120, 120, 120, 100, true, 1000, 4},  /* one thread cannot use more CPU than time */
        {120, 100, 120, 100, false, 1000, 4}, /* several can */
        {50, 50, 50, 0, false, 1000, 4},      /* a client that does not know elapsed time */
        {0, 0, 0, -5, false, 1000, 4},
        {20, 20, 20, -5, false, 1000, 4},
        {100, 100, 500, 500, true, 100, 1},   /* no longer than it was away */
        {500, 500, 500, 500, true, -1, 1},    /* sent in the future: not asked */
        {400, 100, 900, 100, false, 1000, 4}, /* no more than all CPUs all the time */
        {100, 100, 900, 100, false, 1000, 0},
        {0, 10, -3, 10, true, 1000, 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct report_times sent = {.cpu_time = cases[i].sent_cpu,
                                    .elapsed_time = cases[i].sent_elapsed};
        struct report_times got =
            report_repair_times(sent, cases[i].single, cases[i].turnaround, cases[i].ncpus);

        assert_real(got.cpu_time, cases[i].cpu, 1e-9);
        assert_real(got.elapsed_time, cases[i].elapsed, 1e-9);
    }
}

static void repaired_times_are_always_possible(void **state)
{
    struct random random = {.state = 11};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct report_times sent = {.cpu_time = (random_unit(&random) - 0.2) * 1e4,
                                    .elapsed_time = (random_unit(&random) - 0.2) * 1e4};
        bool single = random_next(&random) % 2 == 0;
        double turnaround = random_unit(&random) * 1e4;
        int64_t ncpus = (int64_t)(random_next(&random) % 9);
        struct report_times got = report_repair_times(sent, single, turnaround, ncpus);

        assert_true(got.cpu_time >= 0 && got.elapsed_time >= 0);
        assert_true(got.elapsed_time <= turnaround);
        assert_true(got.cpu_time <= got.elapsed_time * (double)(ncpus < 1 ? 1 : ncpus));
        assert_true(got.cpu_time <= sent.cpu_time || sent.cpu_time < 0);
        if (single && sent.cpu_time > 0)
            assert_true(got.elapsed_time >=
                        (sent.cpu_time < turnaround ? sent.cpu_time : turnaround) - 1e-9);
    }
}

static void long_stderr_keeps_its_end(void **state)
{
    static char text[70000];
    struct text cut;

    (void)state;
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '!';
    cut = report_bound_stderr((struct text){.at = text, .length = sizeof(text)});
    assert_int_equal(cut.length, 65535);
    assert_int_equal(cut.at[cut.length - 1], '!');
    cut = report_bound_stderr(TEXT("short"));
    assert_text(cut, "short");
}

static void a_cut_goes_through_no_character(void **state)
{
    const struct text text = TEXT("a\xC3\xA9\xE2\x82\xAC"
                                  "b"); /* a, 2 bytes, 3 bytes, b */

    (void)state;
    assert_text(bound_head(text, 2), "a");
    assert_text(bound_head(text, 3), "a\xC3\xA9");
    assert_text(bound_head(text, 5), "a\xC3\xA9");
    assert_text(bound_head(text, 6), "a\xC3\xA9\xE2\x82\xAC");
    assert_text(bound_head(text, 7), "a\xC3\xA9\xE2\x82\xAC"
                                     "b");
    assert_text(bound_head(text, 0), "");
    assert_text(bound_tail(text, 0), "");
    assert_text(bound_tail(text, 1), "b");
    assert_text(bound_tail(text, 3), "b");
    assert_text(bound_tail(text, 4), "\xE2\x82\xAC"
                                     "b");
    assert_text(bound_tail(text, 5), "\xE2\x82\xAC"
                                     "b");
    assert_text(bound_head(TEXT("\x80\x80\x80\x80\x80\x80\x80\x80"), 6),
                "\x80\x80\x80\x80\x80\x80");
    assert_text(bound_tail(TEXT("a\xF0\x9F\x98\x80z"), 4), "z"); /* of a character of 4 bytes */
    /* What follows the text is not looked at. */
    assert_text(bound_tail((struct text){.at = "a\x80\x80\x80", .length = 3}, 2), "");
}

static void documents_of_files_stay_whole(void **state)
{
    static char text[80000];
    const char *one = "<file_info><name>f</name></file_info>\n";
    size_t length = 0;
    struct text cut;

    (void)state;
    while (length + strlen(one) < sizeof(text)) {
        memcpy(text + length, one, strlen(one));
        length += strlen(one);
    }
    cut = report_bound_files((struct text){.at = text, .length = length});
    assert_true(cut.length <= 65535 && cut.length > 65535 - strlen(one));
    assert_true(text_ends(cut, TEXT("</file_info>")));
    memset(text, 'x', sizeof(text));
    cut = report_bound_files((struct text){.at = text, .length = sizeof(text)});
    assert_int_equal(cut.length, 0);
    assert_text(report_bound_files(TEXT("<file_info/>\n")), "<file_info/>\n");
}

static void statistics_have_ids_of_their_own(void **state)
{
    (void)state;
    assert_i64(report_statistics_id(7, 12), 12);
    assert_i64(report_statistics_id(7, -2), 7000002);
    assert_i64(report_statistics_id(7, -6), 7000006);
    assert_i64(report_statistics_id(5000, -3), INT64_C(5000000003));
    assert_i64(report_statistics_id(7, 0), 0);
    assert_i64(report_statistics_id(7, -1), 0);
}

static void quotas_follow_the_table(void **state)
{
    static const struct {
        int64_t wanted, before, quota, outcome, exit_status;
    } cases[] = {
        {8, 4, 100, OUTCOME_SUCCESS, 0},
        {100, 60, 100, OUTCOME_SUCCESS, 0},
        {100, 50, 100, OUTCOME_SUCCESS, 0},
        {100, 51, 100, OUTCOME_SUCCESS, 0},
        {150, 150, 100, OUTCOME_SUCCESS, 0}, /* validated results raised it */
        {100, 0, 100, OUTCOME_SUCCESS, 0},
        {99, 0, 100, OUTCOME_CLIENT_ERROR, 1},
        {99, 150, 100, OUTCOME_CLIENT_ERROR, 1},
        {49, 50, 100, OUTCOME_CLIENT_ERROR, 1},
        {1, 2, 100, OUTCOME_CLIENT_ERROR, 1},
        {1, 1, 100, OUTCOME_CLIENT_ERROR, 1},
        {50, 50, 100, OUTCOME_CLIENT_ERROR, 202}, /* aborted by the project */
        {50, 50, 100, OUTCOME_CLIENT_ERROR, 200}, /* not begun by its deadline */
        {49, 50, 100, OUTCOME_CLIENT_ERROR, 201},
        {0, 0, 0, OUTCOME_CLIENT_ERROR, 1}, /* no quota: nothing to keep */
        {0, 0, 0, OUTCOME_SUCCESS, 0},
        {7, 7, 0, OUTCOME_CLIENT_ERROR, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_i64(report_quota_after(cases[i].before, cases[i].quota, cases[i].outcome,
                                      cases[i].exit_status),
                   cases[i].wanted);
    assert_true(report_is_failure(OUTCOME_CLIENT_ERROR, 1));
    assert_false(report_is_failure(OUTCOME_CLIENT_ERROR, 202));
    assert_false(report_is_failure(OUTCOME_SUCCESS, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_its_case),
        cmocka_unit_test(whatever_is_not_booked_is_acknowledged),
        cmocka_unit_test(only_an_uploaded_result_with_exit_0_is_a_success),
        cmocka_unit_test(a_missing_exit_status_is_an_error_unless_all_was_uploaded),
        cmocka_unit_test(exit_codes_fit_their_column),
        cmocka_unit_test(times_are_repaired),
        cmocka_unit_test(repaired_times_are_always_possible),
        cmocka_unit_test(long_stderr_keeps_its_end),
        cmocka_unit_test(a_cut_goes_through_no_character),
        cmocka_unit_test(documents_of_files_stay_whole),
        cmocka_unit_test(statistics_have_ids_of_their_own),
        cmocka_unit_test(quotas_follow_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
