/* SPDX-License-Identifier: Apache-2.0 */
/* Which efficiency an app's versions are measured by, and each one's factor. */
#include "server/policy/version/credit_scale.h"

#include "tests/support/test.h"

#include <math.h>

#define CPU(n, avg)                                 \
    {                                               \
        .is_gpu = false, .pfc_n = n, .pfc_avg = avg \
    }
#define GPU(n, avg)                                \
    {                                              \
        .is_gpu = true, .pfc_n = n, .pfc_avg = avg \
    }

static void the_base_follows_the_kinds(void **state)
{
    static const struct {
        double base; /* expected */
        size_t count;
        struct version_efficiency versions[3];
    } cases[] = {
        {0, 0, {CPU(0, 0)}},
        {0, 1, {CPU(1000, 2)}}, /* one CPU version has none to be compared with */
        {2, 2, {CPU(1000, 2), CPU(1000, 2)}},
        {2.5, 2, {CPU(300, 3), CPU(300, 2)}},
        {2.25, 2, {CPU(200, 3), CPU(600, 2)}}, /* weighted by samples */
        {0, 2, {CPU(100, 3), CPU(300, 2)}},    /* 100 are too few for a voice */
        {1, 1, {GPU(200, 10)}},                /* a tenth */
        {1, 2, {GPU(200, 10), GPU(200, 10)}},
        {1, 2, {GPU(200, 10), CPU(100, 1)}},
        {2, 2, {GPU(200, 10), CPU(200, 2)}}, /* the smaller one */
        {2, 2, {GPU(200, 2), CPU(200, 10)}},
        {2, 3, {GPU(200, 10), CPU(200, 2), GPU(50, 1)}},
        {0, 2, {CPU(200, NAN), CPU(200, 2)}},
        {0, 2, {CPU(200, 0), CPU(200, 2)}},
        {0, 2, {CPU(200, -1), CPU(INFINITY, 2)}},
        {0, 2, {CPU(1e300, 1e300), CPU(1e300, 1e300)}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double base = credit_scale_base(cases[i].versions, cases[i].count);

        if (!(fabs(base - cases[i].base) < 1e-12))
            fail_msg("case %zu: %g instead of %g", i, base, cases[i].base);
    }
}

static void a_version_with_samples_gets_a_factor(void **state)
{
    const struct version_efficiency few = CPU(99, 4), enough = CPU(100, 4), broken = GPU(200, NAN),
                                    tiny = GPU(200, 1e-320);

    (void)state;
    assert_true(credit_scale_of(&few, 2) == 0);
    assert_true(credit_scale_of(&enough, 2) == 0.5);
    assert_true(credit_scale_of(&enough, 0) == 0);
    assert_true(credit_scale_of(&broken, 2) == 0);
    assert_true(credit_scale_of(&tiny, 2) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_base_follows_the_kinds),
        cmocka_unit_test(a_version_with_samples_gets_a_factor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
