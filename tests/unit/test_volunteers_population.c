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
#define HOUR 3600.0
#define DAY  86400.0

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

/* Another part changes nothing else of a machine. */
static void systems_are_drawn_by_their_parts(void **state)
{
    (void)state;
    const struct population population = {
        .windows_part = 0.6, .containers_part = 0.3, .wsl_gpu_part = 0.5};
    struct population windows = population;
    struct random one = {.state = 14}, other = {.state = 14};
    double on_windows = 0, with_containers = 0, blind = 0;

    windows.windows_part = 1;
    for (int i = 0; i < DRAWS; i++) {
        struct machine machine = {.cpus = 1}, same = {.cpus = 1};

        population_draw_system(&population, &one, &machine);
        population_draw_system(&windows, &other, &same);
        assert_int_equal(machine.has_containers, same.has_containers);
        assert_true(same.is_windows);
        assert_true(machine.containers_see_gpus || machine.is_windows);
        on_windows += machine.is_windows;
        with_containers += machine.has_containers;
        blind += !machine.containers_see_gpus;
    }
    assert_real(on_windows / DRAWS, 0.6, 0.01);
    assert_real(with_containers / DRAWS, 0.3, 0.01);
    assert_real(blind / DRAWS, 0.3, 0.01);
}

/* The part of a time in which a host is on. */
static double presence_of(const struct population *population, struct attendance *attendance,
                          uint64_t seed, double days)
{
    struct random random = {.state = seed};
    double begin = 1.76e9, now = begin, on = 0;
    bool is_on = population_is_on(population, attendance, now);

    while (now < begin + days * DAY) {
        double stay = population_draw_stay(population, attendance, &random, is_on, now);

        on += is_on ? stay : 0;
        now += stay;
        is_on = !is_on;
    }
    return on / (now - begin);
}

static void hosts_that_differ_are_there_for_different_times(void **state)
{
    (void)state;
    struct population population = population_measured();
    struct attendance rare = {.longer = 0.3}, mean = {.longer = 1}, often = {.longer = 3};
    struct random random = {.state = 15};
    double sum = 0, squares = 0;

    assert_true(presence_of(&population, &rare, 1, 4000) <
                presence_of(&population, &mean, 1, 4000) - 0.05);
    assert_true(presence_of(&population, &mean, 1, 4000) <
                presence_of(&population, &often, 1, 4000) - 0.05);
    for (int i = 0; i < 1000; i++)
        assert_real(population_draw_attendance(&population, &random).longer, 1, 0);
    population.presence_sigma = 1;
    for (int i = 0; i < DRAWS; i++) {
        double factor = log(population_draw_attendance(&population, &random).longer);

        sum += factor / DRAWS;
        squares += factor * factor / DRAWS;
    }
    assert_real(sum, 0, 0.02);
    assert_real(squares, 1, 0.02);
}

/* 2026-01-03 is a Saturday. */
static void who_keeps_hours_is_there_on_working_days(void **state)
{
    (void)state;
    struct population population = population_measured();
    struct random random = {.state = 16};
    const double saturday = 1767398400;

    population.office_part = 1;
    for (int i = 0; i < 100; i++) {
        struct attendance attendance = population_draw_attendance(&population, &random);
        double open = attendance.closes - attendance.opens, now = saturday + i * HOUR, arrived = 0;
        bool is_on = population_is_on(&population, &attendance, now);

        assert_true(attendance.keeps_hours && open >= 8 * HOUR && open <= 10 * HOUR);
        assert_false(population_is_on(&population, &attendance, saturday + DAY + 12 * HOUR));
        assert_true(population_is_on(&population, &attendance, saturday + 2 * DAY + 12 * HOUR));
        for (int stay = 0; stay < 40; stay++) {
            double until =
                now + population_draw_stay(&population, &attendance, &random, is_on, now);

            if (is_on && arrived > 0) {
                assert_true(fmod(floor((arrived - saturday) / DAY), 7) >= 2);
                assert_real(until - arrived, open, HOUR);
            }
            is_on = !is_on;
            arrived = is_on ? until : 0;
            now = until;
        }
        assert_real(presence_of(&population, &attendance, (uint64_t)i, 700), open / DAY * 5 / 7,
                    0.01);
    }
}

static void copies_of_a_workunit_have_one_factor(void **state)
{
    (void)state;
    struct population population = population_measured();
    double first, sum = 0, squares = 0;

    assert_real(population_workunit_error(&population, 1, TEXT("w_1")), 1, 0);
    population.workunit_sigma = 1;
    first = population_workunit_error(&population, 1, TEXT("w_1"));
    assert_real(population_workunit_error(&population, 1, TEXT("w_1")), first, 0);
    assert_true(population_workunit_error(&population, 1, TEXT("w_2")) != first);
    assert_true(population_workunit_error(&population, 2, TEXT("w_1")) != first);
    for (uint64_t seed = 0; seed < 20000; seed++) {
        double factor = log(population_workunit_error(&population, seed, TEXT("w")));

        sum += factor / 20000;
        squares += factor * factor / 20000;
    }
    assert_real(sum, 0, 0.03);
    assert_real(squares, 1, 0.05);
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
        cmocka_unit_test(systems_are_drawn_by_their_parts),
        cmocka_unit_test(hosts_that_differ_are_there_for_different_times),
        cmocka_unit_test(who_keeps_hours_is_there_on_working_days),
        cmocka_unit_test(copies_of_a_workunit_have_one_factor),
        cmocka_unit_test(the_agenda_is_in_order_of_time_and_of_writing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
