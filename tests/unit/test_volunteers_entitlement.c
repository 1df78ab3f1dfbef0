/* SPDX-License-Identifier: Apache-2.0 */
/* Dividing resources between projects that can use some of them. */
#include "server/base/random.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/client/entitlement.h"

#include "server/base/banned.h"

enum { CPU = 1, GPU = 2 };

static void one_with_the_gpu_alone_leaves_its_rival_the_cpu(void **state)
{
    (void)state;
    const double flops[] = {1, 2}, counts[] = {1, 1};
    struct entitlement projects[] = {{.share = 1, .uses = GPU}, {.share = 1, .uses = CPU | GPU}};

    entitlement_divide(flops, counts, 2, projects, 2);
    assert_real(projects[0].instances[0], 0, 1e-6);
    assert_real(projects[0].instances[1], 0.75, 1e-6);
    assert_real(projects[1].instances[0], 1, 1e-6);
    assert_real(projects[1].instances[1], 0.25, 1e-6);
}

static void what_one_alone_can_use_is_its_own(void **state)
{
    (void)state;
    const double flops[] = {4, 10}, counts[] = {4, 1};
    struct entitlement projects[] = {{.share = 1, .uses = GPU}, {.share = 9, .uses = CPU}};

    entitlement_divide(flops, counts, 2, projects, 2);
    assert_real(projects[0].instances[1], 1, 1e-6);
    assert_real(projects[1].instances[0], 4, 1e-6);
}

static void equals_are_divided_by_share(void **state)
{
    (void)state;
    const double flops[] = {4, 0}, counts[] = {4, 0};
    struct entitlement projects[] = {{.share = 3, .uses = CPU}, {.share = 1, .uses = CPU}};

    entitlement_divide(flops, counts, 2, projects, 2);
    assert_real(projects[0].instances[0], 3, 1e-6);
    assert_real(projects[1].instances[0], 1, 1e-6);
}

/* Nobody has more per share than one whose resources he uses and could leave to him. */
static void nobody_could_be_raised_at_the_cost_of_a_richer_one(void **state)
{
    (void)state;
    struct random random = {.state = 5};

    for (int round = 0; round < 500; round++) {
        double flops[3], counts[] = {4, 2, 1}, used[3] = {0}, level[6] = {0};
        struct entitlement projects[6];

        for (size_t r = 0; r < 3; r++)
            flops[r] = 1 + random_unit(&random) * 20;
        for (size_t p = 0; p < 6; p++)
            projects[p] = (struct entitlement){.share = 1 + random_unit(&random) * 5,
                                               .uses = (unsigned)(random_next(&random) % 8)};
        entitlement_divide(flops, counts, 3, projects, 6);
        for (size_t p = 0; p < 6; p++)
            for (size_t r = 0; r < 3; r++) {
                used[r] += projects[p].instances[r];
                level[p] += projects[p].instances[r] / counts[r] * flops[r] / projects[p].share;
                assert_true(projects[p].uses >> r & 1 || projects[p].instances[r] < 1e-9);
            }
        for (size_t p = 0; p < 6; p++)
            for (size_t r = 0; r < 3; r++) {
                if (!(projects[p].uses >> r & 1))
                    continue;
                assert_real(used[r], counts[r], 1e-4); /* nothing usable is left over */
                for (size_t q = 0; q < 6; q++)
                    if (projects[q].instances[r] > 1e-4)
                        assert_true(level[q] <= level[p] + 1e-4);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_with_the_gpu_alone_leaves_its_rival_the_cpu),
        cmocka_unit_test(what_one_alone_can_use_is_its_own),
        cmocka_unit_test(equals_are_divided_by_share),
        cmocka_unit_test(nobody_could_be_raised_at_the_cost_of_a_richer_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
