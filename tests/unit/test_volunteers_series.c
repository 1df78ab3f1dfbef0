/* SPDX-License-Identifier: Apache-2.0 */
/* What observers of an emulated crowd are given: arrivals in intervals, and a server's counters. */
#include "server/base/buffer.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/figures/arrivals.h"
#include "tools/lab/volunteers/wire/metrics_page.h"

#include "server/base/banned.h"

static void rpcs_are_counted_in_their_interval_by_outcome(void **state)
{
    (void)state;
    struct arrivals arrivals;
    struct observer observer;

    assert_true(arrivals_init(&arrivals, 1000, 1300, 60));
    assert_int_equal(arrivals.count, 5);
    observer = arrivals_observer(&arrivals);
    observer.rpc(observer.context, &(struct rpc){.time = 1000, .outcome = RPC_SENT, .jobs = 3});
    observer.rpc(observer.context, &(struct rpc){.time = 1059.9, .outcome = RPC_SENT, .jobs = 4});
    observer.rpc(observer.context,
                 &(struct rpc){.time = 1060, .outcome = RPC_OUTAGE, .reported = 2});
    assert_int_equal(arrivals.bins[0].rpcs[RPC_SENT], 2);
    assert_int_equal(arrivals.bins[0].jobs, 7);
    assert_int_equal(arrivals.bins[1].rpcs[RPC_SENT], 0);
    assert_int_equal(arrivals.bins[1].rpcs[RPC_OUTAGE], 1);
    assert_int_equal(arrivals.bins[1].reported, 2);
    arrivals_free(&arrivals);
}

static void what_lies_outside_is_not_counted(void **state)
{
    (void)state;
    struct arrivals arrivals;

    assert_true(arrivals_init(&arrivals, 1000, 1100, 50));
    arrivals_count(&arrivals, &(struct rpc){.time = 999});
    arrivals_count(&arrivals, &(struct rpc){.time = 1100});
    arrivals_count(&arrivals, &(struct rpc){.time = 1050, .outcome = RPC_OUTCOME_COUNT});
    for (size_t i = 0; i < arrivals.count; i++)
        for (int outcome = 0; outcome < RPC_OUTCOME_COUNT; outcome++)
            assert_int_equal(arrivals.bins[i].rpcs[outcome], 0);
    arrivals_free(&arrivals);
}

static void intervals_grow_where_there_would_be_too_many(void **state)
{
    (void)state;
    struct arrivals arrivals;

    assert_true(arrivals_init(&arrivals, 0, 3600.0 * 24 * 365 * 10, 1));
    assert_true(arrivals.count <= ARRIVALS_BINS_MAX);
    assert_true(arrivals.width * (double)arrivals.count >= 3600.0 * 24 * 365 * 10);
    assert_true(arrivals.width * (double)arrivals.count < 3600.0 * 24 * 365 * 10 + arrivals.width);
    arrivals_free(&arrivals);
}

static void a_page_of_counters_is_read(void **state)
{
    (void)state;
    static struct metrics metrics;

    metrics_add_page(&metrics, TEXT("# HELP qm_a_total something\n# TYPE qm_a_total counter\n"
                                    "qm_a_total 12\nqm_no_work_total{reason=\"disk\"} 3\n"
                                    "\nodd\n qm_odd many\n"));
    assert_int_equal(metrics.count, 2);
    assert_real(metrics_value(&metrics, "qm_a_total"), 12, 0);
    assert_real(metrics_value(&metrics, "qm_no_work_total{reason=\"disk\"}"), 3, 0);
    assert_real(metrics_value(&metrics, "qm_b_total"), 0, 0);
}

static void counters_of_several_processes_add_up(void **state)
{
    (void)state;
    static struct metrics metrics;

    metrics_add_page(&metrics, TEXT("a 1\nb 2\n"));
    metrics_add_page(&metrics, TEXT("b 3\nc 4"));
    assert_real(metrics_value(&metrics, "a"), 1, 0);
    assert_real(metrics_value(&metrics, "b"), 5, 0);
    assert_real(metrics_value(&metrics, "c"), 4, 0);
}

static void a_page_beyond_the_bounds_costs_only_what_is_beyond(void **state)
{
    (void)state;
    static struct metrics metrics;
    struct buffer page = buffer_on_heap(0);

    for (int i = 0; i < METRICS_NAME_BYTES; i++)
        buffer_add_char(&page, 'x');
    buffer_add_string(&page, " 1\n");
    for (int i = 0; i < METRICS_MAX + 10; i++)
        buffer_print(&page, "name_%d %d\n", i, i);
    metrics_add_page(&metrics, buffer_text(&page));
    assert_int_equal(metrics.count, METRICS_MAX);
    assert_real(metrics_value(&metrics, "name_0"), 0, 0);
    assert_real(metrics_value(&metrics, "name_511"), 511, 0);
    buffer_free(&page);
}

static void outcomes_have_words(void **state)
{
    (void)state;

    for (int i = 0; i < RPC_OUTCOME_COUNT; i++)
        assert_string_not_equal(rpc_outcome_word((enum rpc_outcome)i), "?");
    assert_string_equal(rpc_outcome_word(RPC_OUTCOME_COUNT), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rpcs_are_counted_in_their_interval_by_outcome),
        cmocka_unit_test(what_lies_outside_is_not_counted),
        cmocka_unit_test(intervals_grow_where_there_would_be_too_many),
        cmocka_unit_test(a_page_of_counters_is_read),
        cmocka_unit_test(counters_of_several_processes_add_up),
        cmocka_unit_test(a_page_beyond_the_bounds_costs_only_what_is_beyond),
        cmocka_unit_test(outcomes_have_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
