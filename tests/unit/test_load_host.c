/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of qmload's hosts: of which kinds they are, and what they ask for and report. */
#include "tests/support/test.h"

#include "tools/lab/qmload/load_host.h"

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

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(kinds_come_as_often_as_their_weights_say),
        cmocka_unit_test(without_kinds_all_is_asked_for_and_reported),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
