/* SPDX-License-Identifier: Apache-2.0 */
/* The text format of Prometheus, as far as we write it. */
#include "server/base/buffer.h"
#include "server/base/metric.h"
#include "tests/support/test.h"

#include <math.h>

static void a_gauge_has_its_head(void **state)
{
    struct buffer page = buffer_on_heap(1000);

    (void)state;
    metric_gauge(&page, "lag", "s behind", 0.25);
    assert_text(buffer_text(&page),
                "# HELP quartermaster_lag s behind\n# TYPE quartermaster_lag gauge\n"
                "quartermaster_lag 0.25\n");
    buffer_free(&page);
}

static void what_a_label_may_not_hold_is_escaped(void **state)
{
    struct buffer page = buffer_on_heap(1000);

    (void)state;
    metric_value(&page, "jobs", "app", TEXT("a\"b\\c\n1"), 3);
    assert_text(buffer_text(&page), "quartermaster_jobs{app=\"a\\\"b\\\\c\\n1\"} 3\n");
    buffer_free(&page);
    metric_value(&page, "jobs", "app", TEXT("\xc3\xa4\x1b\xc2\x9b\xe4"), 3);
    assert_text(buffer_text(&page), "quartermaster_jobs{app=\"\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd"
                                    "\xef\xbf\xbd\"} 3\n");
    buffer_free(&page);
}

/* A bucket counts what took as long as its bound, or shorter, those of the buckets before too. */
static void a_histogram_adds_up(void **state)
{
    struct histogram histogram = {.sum_ns = 0};
    struct buffer page = buffer_on_heap(10000);

    (void)state;
    histogram_add(&histogram, 500000);
    histogram_add(&histogram, 500001);
    histogram_add(&histogram, UINT64_C(30000000000));
    histogram_add(&histogram, UINT64_C(30000000001));
    histogram_write(&histogram, "time", "step", "parse", &page);
    assert_true(text_contains(buffer_text(&page),
                              TEXT("quartermaster_time_bucket{step=\"parse\",le=\"0.0005\"} 1\n"
                                   "quartermaster_time_bucket{step=\"parse\",le=\"0.001\"} 2\n")));
    assert_true(text_contains(buffer_text(&page),
                              TEXT("{step=\"parse\",le=\"10\"} 2\n"
                                   "quartermaster_time_bucket{step=\"parse\",le=\"30\"} 3\n"
                                   "quartermaster_time_bucket{step=\"parse\",le=\"+Inf\"} 4\n"
                                   "quartermaster_time_sum{step=\"parse\"} 60.001000002\n"
                                   "quartermaster_time_count{step=\"parse\"} 4\n")));
    page.length = 0;
    histogram_write(&histogram, "time", NULL, NULL, &page);
    assert_true(text_contains(buffer_text(&page), TEXT("quartermaster_time_bucket{le=\"+Inf\"} 4\n"
                                                       "quartermaster_time_sum 60.001000002\n"
                                                       "quartermaster_time_count 4\n")));
    buffer_free(&page);
}

/* A bound is told, not what lies between two of them. */
static void a_bound_is_the_least_that_a_share_keeps(void **state)
{
    struct histogram histogram = {.sum_ns = 0};

    (void)state;
    assert_real(histogram_bound(&histogram, 0.99), 0, 0);
    for (int i = 0; i < 99; i++)
        histogram_add(&histogram, 900000);
    histogram_add(&histogram, UINT64_C(31000000000));
    assert_i64((int64_t)histogram_count(&histogram), 100);
    assert_i64((int64_t)histogram_sum_ns(&histogram), INT64_C(31089100000));
    assert_real(histogram_bound(&histogram, 0.5), 0.001, 0);
    assert_real(histogram_bound(&histogram, 0.99), 0.001, 0);
    assert_true(isinf(histogram_bound(&histogram, 0.991)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gauge_has_its_head),
        cmocka_unit_test(what_a_label_may_not_hold_is_escaped),
        cmocka_unit_test(a_histogram_adds_up),
        cmocka_unit_test(a_bound_is_the_least_that_a_share_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
