/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of an emulated crowd. */
#include "server/base/random.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/crowd/agenda.h"
#include "tools/lab/volunteers/host/population.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { DRAWS = 200000 };

static void the_laws_have_their_means(void **state)
{
    (void)state;
    struct random random = {.state = 11};
    double weibull = 0, log_normal = 0, exponential = 0;

    for (int i = 0; i < DRAWS; i++) {
        weibull += population_weibull(&random, 0.393, 2.964) / DRAWS;
        log_normal += population_log_normal(&random, 1, 0.5) / DRAWS;
        exponential += population_exponential(&random, 5.77) / DRAWS;
    }
    assert_real(weibull, 2.964 * tgamma(1 + 1 / 0.393), 0.4); /* 10.35 h */
    assert_real(log_normal, exp(1 + 0.125), 0.02);
    assert_real(exponential, 5.77, 0.1);
}

static void machines_are_within_bounds_and_differ(void **state)
{
    (void)state;
    const struct population population = population_measured();
    struct random random = {.state = 12};
    bool seen[17] = {false};

    for (int i = 0; i < 2000; i++) {
        struct machine machine = population_draw_machine(&population, &random);

        assert_true(machine.cpus >= 1 && machine.cpus <= 16);
        seen[machine.cpus] = true;
        assert_true(machine.flops >= 0.07e9 && machine.flops <= 117.71e9);
        assert_true(machine.disk >= population.disk_min && machine.disk <= population.disk_max);
        assert_true(machine.buffer >= 0.1 * 86400 && machine.buffer <= 1.5 * 86400);
        assert_true(population_draw_presence(&population, &random) >= 0);
        assert_true(population_draw_absence(&population, &random) <= population.off_max);
    }
    assert_true(seen[1] && seen[2] && seen[4] && seen[8] && seen[16] && !seen[3]);
}

static void the_same_seed_gives_the_same_crowd(void **state)
{
    (void)state;
    const struct population population = population_measured();
    struct random one = {.state = 13}, other = {.state = 13};

    for (int i = 0; i < 100; i++) {
        struct machine a = population_draw_machine(&population, &one);
        struct machine b = population_draw_machine(&population, &other);

        assert_int_equal(a.cpus, b.cpus);
        assert_real(a.flops, b.flops, 0);
        assert_real(population_draw_error(&population, &one),
                    population_draw_error(&population, &other), 0);
    }
}

static void the_agenda_is_in_order_of_time_and_of_writing(void **state)
{
    (void)state;
    struct agenda agenda = {0};
    struct agenda_entry entry, last = {.time = -1};
    struct random random = {.state = 14};
    size_t taken = 0;

    for (size_t i = 0; i < 5000; i++) {
        assert_true(agenda_add(&agenda, (double)(random_next(&random) % 100), i));
        if (i % 3 == 2) { /* not all at once */
            assert_true(agenda_take(&agenda, &entry));
            taken++;
        }
    }
    while (agenda_take(&agenda, &entry)) {
        assert_true(entry.time > last.time ||
                    (entry.time >= last.time && entry.number > last.number));
        assert_int_equal(entry.number, entry.who);
        last = entry;
        taken++;
    }
    assert_int_equal(taken, 5000);
    agenda_free(&agenda);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_laws_have_their_means),
        cmocka_unit_test(machines_are_within_bounds_and_differ),
        cmocka_unit_test(the_same_seed_gives_the_same_crowd),
        cmocka_unit_test(the_agenda_is_in_order_of_time_and_of_writing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
