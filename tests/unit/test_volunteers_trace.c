/* SPDX-License-Identifier: Apache-2.0 */
/* What the processors of one host did over time. */
#include "server/base/buffer.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/figures/trace.h"

#include "server/base/banned.h"

enum { CPU, GPU };
static const char *const names[] = {"CPU", "GPU"};

static void check(const struct trace *trace, size_t which, size_t slot, size_t project,
                  double begin, double end)
{
    assert_true(which < trace->count);
    assert_int_equal(trace->segments[which].slot, slot);
    assert_int_equal(trace->segments[which].project, project);
    assert_real(trace->segments[which].begin, begin, 0);
    assert_real(trace->segments[which].end, end, 0);
}

/* 1 and 2 run; 1 ends and 3 takes its CPU; 2 stays where it is. */
static void a_job_keeps_its_processor(void **state)
{
    (void)state;
    static const struct trace_job early[] = {{.id = 1, .project = 5, .uses = {1}},
                                             {.id = 2, .project = 6, .uses = {1}}};
    static const struct trace_job late[] = {{.id = 3, .project = 7, .uses = {1}},
                                            {.id = 2, .project = 6, .uses = {1}}};
    struct trace trace;

    trace_init(&trace, (const size_t[]){2, 0}, 2);
    trace_run(&trace, 0, 10, early, 2);
    trace_run(&trace, 10, 30, late, 2);
    assert_int_equal(trace.count, 3);
    check(&trace, 0, 0, 5, 0, 10);
    check(&trace, 1, 1, 6, 0, 30);
    check(&trace, 2, 0, 7, 10, 30);
    trace_free(&trace);
}

static void jobs_of_a_project_that_follow_each_other_are_one_segment(void **state)
{
    (void)state;
    struct trace trace;

    trace_init(&trace, (const size_t[]){1}, 1);
    for (uint64_t i = 0; i < 1000; i++)
        trace_run(&trace, (double)i, (double)i + 1,
                  &(struct trace_job){.id = i, .project = 1, .uses = {1}}, 1);
    trace_run(&trace, 2000, 2001, &(struct trace_job){.id = 1, .project = 1, .uses = {1}}, 1);
    assert_int_equal(trace.count, 2);
    check(&trace, 0, 0, 1, 0, 1000);
    check(&trace, 1, 0, 1, 2000, 2001); /* idle between */
    trace_free(&trace);
}

static void a_job_is_on_all_that_it_uses(void **state)
{
    (void)state;
    static const struct trace_job jobs[] = {{.id = 1, .project = 1, .uses = {0.1, 1}},
                                            {.id = 2, .project = 2, .uses = {3, 0}},
                                            {.id = 3, .project = 3, .uses = {2, 0}}};
    struct trace trace;

    trace_init(&trace, (const size_t[]){4, 1}, 2);
    trace_run(&trace, 0, 10, jobs, 3);
    assert_int_equal(trace.count, 5); /* 3 has one CPU only: there are no more to be shown */
    check(&trace, 2, 2, 2, 0, 10);
    check(&trace, 3, 3, 3, 0, 10);
    check(&trace, 4, 4, 1, 0, 10);
    trace_free(&trace);
}

static void times_when_it_is_off_are_seen(void **state)
{
    (void)state;
    const struct trace_job job = {.id = 1, .project = 0, .uses = {1, 0}};
    struct buffer buffer = buffer_on_heap(1 << 16);
    struct trace trace;

    trace_init(&trace, (const size_t[]){1, 1}, 2);
    trace_run(&trace, 86400, 172800, &job, 1);
    trace_off(&trace, 172800, 259200);
    trace_off(&trace, 259200, 302400);
    trace_run(&trace, 302400, 345600, &job, 1);
    trace_write(&trace, names, 86400, &buffer);
    assert_text(buffer_text(&buffer), "row,resource,number,project,begin_days,end_days\n"
                                      "1,CPU,1,1,0.000000,1.000000\n"
                                      "1,CPU,1,0,1.000000,2.500000\n"
                                      "2,GPU,1,0,1.000000,2.500000\n"
                                      "1,CPU,1,1,2.500000,3.000000\n");
    buffer_free(&buffer);
    trace_free(&trace);
}

static void segments_are_bounded(void **state)
{
    (void)state;
    struct trace trace;

    trace_init(&trace, (const size_t[]){1}, 1);
    for (size_t i = 0; i <= TRACE_SEGMENTS_MAX; i++)
        trace_run(&trace, (double)i, (double)i + 1,
                  &(struct trace_job){.id = i, .project = i % 2, .uses = {1}}, 1);
    assert_int_equal(trace.count, TRACE_SEGMENTS_MAX);
    assert_true(trace.overflowed);
    trace_free(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_keeps_its_processor),
        cmocka_unit_test(jobs_of_a_project_that_follow_each_other_are_one_segment),
        cmocka_unit_test(a_job_is_on_all_that_it_uses),
        cmocka_unit_test(times_when_it_is_off_are_seen),
        cmocka_unit_test(segments_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
