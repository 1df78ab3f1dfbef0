/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of qmload's hosts: of which kinds they are, and what they ask for and report. */
#include "tests/support/test.h"

#include "tools/lab/qmload/load_host.h"
#include "tools/lab/qmload/load_upload.h"

#include "server/base/banned.h"

enum { REQUESTS = 10000, JOBS = 5 };

static size_t count(struct text text, struct text what)
{
    size_t times = 0, at;

    while ((at = text_find(text, what)) < text.length) {
        times++;
        text = (struct text){.at = text.at + at + what.length,
                             .length = text.length - at - what.length};
    }
    return times;
}

/* Writes many requests of one host that has five jobs; counts those that ask for `seconds` and what
 * is reported in these. */
static size_t write_requests(const struct load_profile *profile, const char *seconds,
                             size_t *ret_reports)
{
    struct load_host host;
    struct buffer request = buffer_on_heap(0), wanted = buffer_on_heap(0);
    size_t matching = 0;

    *ret_reports = 0;
    host_init(&host, profile, 7);
    for (int i = 0; i < JOBS; i++) {
        char name[] = "job_0";

        name[4] = (char)('0' + i);
        host_add_job(&host, text_from(name));
    }
    buffer_print(&wanted, "<work_req_seconds>%s</work_req_seconds>", seconds);
    for (int i = 0; i < REQUESTS; i++) {
        request.length = 0;
        host_write_request(&host, &request);
        if (count(buffer_text(&request), buffer_text(&wanted)) == 0)
            continue;
        matching++;
        *ret_reports += count(buffer_text(&request), TEXT("<final_cpu_time>"));
    }
    host_clear(&host);
    buffer_free(&request);
    buffer_free(&wanted);
    return matching;
}

static void kinds_come_as_often_as_their_weights_say(void **state)
{
    const struct load_profile profile = {.seconds = 100,
                                         .ncpus = 1,
                                         .run = 1,
                                         .kinds = {{.weight = 1, .jobs = 3, .reports = 0},
                                                   {.weight = 3, .jobs = 0, .reports = 2},
                                                   {.weight = 6, .jobs = 0.5, .reports = 9}},
                                         .kind_count = 3};
    size_t reports, many, none, few;

    (void)state;
    many = write_requests(&profile, "300.000000", &reports);
    assert_in_range(many, REQUESTS / 10 - 200, REQUESTS / 10 + 200);
    assert_int_equal(reports, 0);
    none = write_requests(&profile, "0.000000", &reports);
    assert_in_range(none, 3 * REQUESTS / 10 - 300, 3 * REQUESTS / 10 + 300);
    assert_int_equal(reports, 2 * none);
    few = write_requests(&profile, "50.000000", &reports);
    assert_int_equal(many + none + few, REQUESTS);
    assert_int_equal(reports, JOBS * few); /* no more than there are */
}

static void without_kinds_all_is_asked_for_and_reported(void **state)
{
    const struct load_profile profile = {.seconds = 100, .ncpus = 1};
    size_t reports;

    (void)state;
    assert_int_equal(write_requests(&profile, "100.000000", &reports), REQUESTS);
    assert_int_equal(reports, JOBS * REQUESTS);
}

static const char reply[] =
    "<scheduler_reply>\n<userid>1</userid>\n<hostid>3</hostid>\n"
    "<file_info>\n<name>other</name>\n</file_info>\n"
    "<file_info>\n<name>w_0_0</name>\n<generated_locally/>\n<upload_when_present/>\n"
    "<max_nbytes>20000</max_nbytes>\n<url>http://u/h</url>\n"
    "<xml_signature>\nab\n.\n</xml_signature>\n</file_info>\n"
    "<result>\n<name>w_0</name>\n<file_ref>\n<file_name>w_0_0</file_name>\n</file_ref>\n</result>\n"
    "<result>\n<name>v_0</name>\n</result>\n</scheduler_reply>\n";

static void check_request(struct load_job *job, int64_t bytes, const char *has)
{
    struct buffer request = buffer_on_heap(0);

    assert_text(upload_write(job, bytes, &request), "http://u/h");
    assert_int_equal(count(buffer_text(&request), text_from(has)), 1);
    buffer_free(&request);
}

/* The second job has no output. */
static void output_is_asked_about_sent_and_reported(void **state)
{
    const struct load_profile profile = {.seconds = 100, .ncpus = 1, .upload_bytes = 10000};
    const struct reply_taker taker = {.job = NULL};
    struct buffer request = buffer_on_heap(0);
    struct load_host host;
    struct load_job *job;

    (void)state;
    host_init(&host, &profile, 7);
    assert_int_equal(host_read_reply(&host, text_from(reply), &taker).kind, REPLY_FULL);
    job = host_next_upload(&host);
    assert_non_null(job);
    check_request(job, 10000, "<get_file_size>w_0_0</get_file_size>");
    assert_false(upload_read_reply(job, 10000, TEXT("<status>1</status>")));
    assert_true(upload_read_reply(job, 10000, TEXT("<status>0</status>")));
    check_request(job, 10000, "<nbytes>10000</nbytes>");
    check_request(job, 10000, "<xml_signature>\nab\n.</xml_signature>");
    assert_ptr_equal(host_next_upload(&host), job);
    assert_true(upload_read_reply(job, 10000, TEXT("<status>0</status>")));
    assert_null(host_next_upload(&host));
    host_write_request(&host, &request);
    assert_int_equal(count(buffer_text(&request), TEXT("<upload_url>http://u/h</upload_url>")), 1);
    assert_int_equal(count(buffer_text(&request), TEXT("<final_cpu_time>")), 2);
    buffer_free(&request);
    host_clear(&host);
}

/* A host lists its queue once it was asked to, unless its client is old; what is left of a job
 * falls. */
static void queues_are_listed_when_asked(void **state)
{
    static const char asks[] =
        "<scheduler_reply>\n<userid>1</userid>\n<send_full_workload/>\n<result>\n<name>w_0</name>\n"
        "<report_deadline>1800000000</report_deadline>\n</result>\n</scheduler_reply>\n";
    const struct load_profile profile = {.seconds = 100, .ncpus = 1, .keeps_jobs = true, .old = 10};
    const struct reply_taker taker = {.job = NULL};

    (void)state;
    for (size_t number = 9; number <= 10; number++) {
        struct buffer request = buffer_on_heap(0);
        size_t lists = number >= 10;
        struct load_host host;

        host_init(&host, &profile, number);
        host_write_request(&host, &request);
        assert_int_equal(count(buffer_text(&request), TEXT("<in_progress_results>")), 0);
        (void)host_read_reply(&host, text_from(asks), &taker);
        for (int i = 0; i < 2; i++)
            host_write_request(&host, &request);
        assert_int_equal(count(buffer_text(&request), TEXT("<other_result>")), 2);
        assert_int_equal(count(buffer_text(&request), TEXT("<ip_result>")), 2 * lists);
        assert_int_equal(count(buffer_text(&request), TEXT("<report_deadline>1800000000<")),
                         2 * lists);
        assert_int_equal(count(buffer_text(&request), TEXT("<time_remaining>125.00<")), lists);
        assert_int_equal(count(buffer_text(&request), TEXT("<time_remaining>83.33<")), lists);
        buffer_free(&request);
        host_clear(&host);
    }
}

static void who_leaves_reports_all_and_asks_for_nothing(void **state)
{
    const struct load_profile profile = {.seconds = 100,
                                         .ncpus = 1,
                                         .kinds = {{.weight = 1, .jobs = 3, .reports = 0}},
                                         .kind_count = 1};
    struct buffer request = buffer_on_heap(0);
    struct load_host host;

    (void)state;
    host_init(&host, &profile, 7);
    host_add_job(&host, TEXT("w_0"));
    host.is_leaving = true;
    host_write_request(&host, &request);
    assert_int_equal(count(buffer_text(&request), TEXT("<final_cpu_time>")), 1);
    assert_int_equal(count(buffer_text(&request), TEXT("<work_req_seconds>0.0")), 1);
    buffer_free(&request);
    host_clear(&host);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(kinds_come_as_often_as_their_weights_say),
        cmocka_unit_test(without_kinds_all_is_asked_for_and_reported),
        cmocka_unit_test(output_is_asked_about_sent_and_reported),
        cmocka_unit_test(queues_are_listed_when_asked),
        cmocka_unit_test(who_leaves_reports_all_and_asks_for_nothing),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
