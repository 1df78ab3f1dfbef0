/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of estimates, from results that came back. */
#include "tests/support/case_arena.h"
#include "tests/support/test.h"

#include "server/submit/estimate_advice.h"

#include "server/base/banned.h"

enum { COUNT = 101 };
static struct estimate_sample samples[COUNT];

/* Between 1 and `spread` times `factor` what was estimated, in an order of no meaning. */
static void fill(double factor, double spread, double bound)
{
    for (int i = 0; i < COUNT; i++) {
        double place = (double)(i * 37 % COUNT) / (COUNT - 1);

        samples[i] = (struct estimate_sample){.flop = factor * (1 + (spread - 1) * place) * 1e12,
                                              .fpops_est = 1e12,
                                              .fpops_bound = bound * 1e12};
    }
}

static void percentiles(void **state)
{
    struct estimate_spread spread;

    (void)state;
    fill(2, 2, 100);
    spread = estimate_spread_of(samples, COUNT);
    assert_int_equal(spread.count, COUNT);
    assert_real(spread.low, 2.1, 1e-9);
    assert_real(spread.median, 3, 1e-9);
    assert_real(spread.high, 3.9, 1e-9);
    assert_true(spread.near_bound == 0);
    spread = estimate_spread_of(samples, 0);
    assert_int_equal(spread.count, 0);
    assert_true(spread.median == 0);
    spread = estimate_spread_of(samples, 1);
    assert_true(spread.low == spread.high);
}

static struct text words(double factor, double spread, double bound, size_t count)
{
    struct estimate_spread result;

    fill(factor, spread, bound);
    result = estimate_spread_of(samples, count);
    return estimate_words(case_arena, &result);
}

static void advice(void **state)
{
    (void)state;
    assert_text(words(1, 1, 100, 9), "too few results to tell");
    assert_text(words(1, 1, 100, 10), "rsc_fpops_est is right");
    assert_text(words(0.51, 1, 100, COUNT), "rsc_fpops_est is right");
    assert_text(words(4, 1, 100, COUNT), "rsc_fpops_est is too small: multiply it by 4");
    assert_text(words(0.25, 1, 100, COUNT), "rsc_fpops_est is too large: multiply it by 0.25");
    assert_text(words(0.05, 40, 100, COUNT), "rsc_fpops_est is right; jobs differ 13 times: give"
                                             " each its own estimate");
    assert_text(words(1, 1, 1.9, COUNT), "rsc_fpops_est is right; 100 % use more than half of"
                                         " rsc_fpops_bound, at which clients give up: raise it");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, case_arena_setup, case_arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(percentiles), CASE(advice)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
