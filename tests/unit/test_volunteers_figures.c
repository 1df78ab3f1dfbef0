/* SPDX-License-Identifier: Apache-2.0 */
/* What a crowd is judged by. */
#include "server/base/buffer.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/figures/merit.h"

#include <math.h>
#include <stdio.h>

#include "server/base/banned.h"

static double value_of(const struct merit *figures, const char *name)
{
    const struct merit_figure *figure = merit_find(name);

    assert_non_null(figure);
    return figure->value(figures);
}

/* One CPU of 1 GFLOPS for 100 s, 80 s of it busy, 20 s of these for nothing; four CPUs of 10 GFLOPS
 * for 50 s, busy all the time: 2,080 of 2,100 GFLOP used, 20 wasted. */
static void fast_hosts_count_for_more(void **state)
{
    (void)state;
    struct host_tally slow = {.flops_total = 100e9,
                              .flops_used = 80e9,
                              .flops_wasted = 20e9,
                              .rpcs = 30,
                              .jobs = 4,
                              .late = 1};
    struct host_tally fast = {.flops_total = 2000e9, .flops_used = 2000e9, .rpcs = 10, .jobs = 16};
    struct merit figures = {.days = 1};

    slow.resources[CLIENT_CPU] = (struct tally_resource){.present = 100, .used = 80, .starved = 5};
    fast.resources[CLIENT_CPU] = (struct tally_resource){.present = 200, .used = 200};
    fast.resources[CLIENT_ATI] = (struct tally_resource){.present = 50, .starved = 40};
    fast.resources[CLIENT_NVIDIA] = (struct tally_resource){.present = 7, .starved = 2};
    merit_add_host(&figures, &slow, NULL, NULL, 0, 3600);
    merit_add_host(&figures, &fast, NULL, NULL, 0, 3600);
    assert_real(value_of(&figures, "hosts"), 2, 0);
    assert_real(value_of(&figures, "idle_fraction"), 20.0 / 2100, 1e-12);
    assert_real(value_of(&figures, "wasted_fraction"), 20.0 / 2100, 1e-12);
    assert_real(value_of(&figures, "useful_fraction"), 2060.0 / 2100, 1e-12);
    assert_real(value_of(&figures, "cpu_seconds"), 300, 1e-9);
    assert_real(value_of(&figures, "cpu_starved_seconds"), 5, 1e-9);
    assert_real(value_of(&figures, "gpu_seconds"), 57, 1e-9);
    assert_real(value_of(&figures, "gpu_starved_seconds"), 42, 1e-9);
    assert_real(value_of(&figures, "rpcs_per_job"), 1, 1e-12); /* 40 RPCs, 20 jobs */
    assert_real(value_of(&figures, "rpcs_per_day"), 20, 1e-12);
    assert_real(value_of(&figures, "late"), 1, 0);
}

/* Two hosts with shares 3 : 1. On the first A got 600 of 1,000 GFLOP instead of 750: both are off
 * by 150, a violation of 0.3. On the second, which did 3,000, all is as it should be. */
static void share_violation_is_weighted_by_what_was_computed(void **state)
{
    (void)state;
    static const struct tally_project a1 = {.flops_used = 600e9}, b1 = {.flops_used = 400e9};
    static const struct tally_project a2 = {.flops_used = 2250e9}, b2 = {.flops_used = 750e9};
    const struct tally_project *first[] = {&a1, &b1}, *second[] = {&a2, &b2};
    const double shares[] = {3, 1};
    const struct host_tally nothing = {0};
    struct merit figures = {.days = 1};

    merit_add_host(&figures, &nothing, first, shares, 2, 3600);
    assert_real(value_of(&figures, "share_violation"), 0.3, 1e-12);
    merit_add_host(&figures, &nothing, second, shares, 2, 3600);
    assert_real(value_of(&figures, "share_violation"), 0.075, 1e-12);
}

static void one_project_has_no_shares_to_violate(void **state)
{
    (void)state;
    static const struct tally_project all = {
        .flops_used = 600e9, .present = 10, .gap_squares = 9e9};
    const struct tally_project *projects[] = {&all};
    const double shares[] = {1};
    const struct host_tally nothing = {0};
    struct merit figures = {.days = 1};

    merit_add_host(&figures, &nothing, projects, shares, 1, 3600);
    assert_real(value_of(&figures, "share_violation"), 0, 0);
    assert_real(value_of(&figures, "monotony"), 0, 0);
}

/* A ran all the time. B waited for 6 h of 6 h: the mean of the squares of its gap is (6 h)^2 / 3,
 * its root 3.46 h. So the mean of both is 1.73 h, 0.866 of two periods of 1 h: 1 - 1 / 1.866. */
static void monotony_is_a_mean_of_hosts(void **state)
{
    (void)state;
    struct tally_project a = {.flops_used = 0}, b = {.flops_used = 0};
    const struct tally_project *alone[] = {&a, &b}, *equal[] = {&a, &a};
    const double shares[] = {1, 1};
    const struct host_tally nothing = {0};
    struct merit figures = {.days = 1};

    tally_project_runs(&a, 6 * 3600, 1e12);
    tally_project_waits(&b, 6 * 3600);
    merit_add_host(&figures, &nothing, alone, shares, 2, 3600);
    assert_real(value_of(&figures, "monotony"), 1 - 1 / (1 + sqrt(12) / 4), 1e-9);
    merit_add_host(&figures, &nothing, equal, shares, 2, 3600);
    assert_real(value_of(&figures, "monotony"), (1 - 1 / (1 + sqrt(12) / 4)) / 2, 1e-9);
}

static void between_two_moments_is_what_happened_then(void **state)
{
    (void)state;
    const struct host_tally early = {.flops_total = 100, .flops_used = 90, .jobs = 7, .rpcs = 20};
    const struct host_tally late = {
        .flops_total = 300, .flops_used = 190, .flops_wasted = 50, .jobs = 12, .rpcs = 30};
    struct merit before = {.days = 1}, now = {.days = 3}, since;

    merit_add_host(&before, &early, NULL, NULL, 0, 3600);
    merit_add_host(&now, &late, NULL, NULL, 0, 3600);
    since = merit_since(&before, &now);
    assert_real(value_of(&since, "days"), 2, 1e-12);
    assert_real(value_of(&since, "hosts"), 1, 0);
    assert_real(value_of(&since, "idle_fraction"), 0.5, 1e-12);
    assert_real(value_of(&since, "wasted_fraction"), 0.25, 1e-12);
    assert_real(value_of(&since, "jobs"), 5, 0);
    assert_real(value_of(&since, "rpcs_per_job"), 1, 1e-12);
    assert_real(value_of(&since, "rpcs_per_day"), 5, 1e-12);
}

static void every_count_is_a_figure(void **state)
{
    (void)state;
    struct host_tally tally = {0};
    struct merit figures = {.days = 1};
    double next = 0;

#define NUMBER(name) tally.name = (uint64_t)++next;
    TALLY_COUNTS(NUMBER)
#undef NUMBER
    merit_add_host(&figures, &tally, NULL, NULL, 0, 3600);
    next = 0;
#define CLAIM(name) assert_real(value_of(&figures, #name), ++next, 0);
    TALLY_COUNTS(CLAIM)
#undef CLAIM
}

static void nothing_done_makes_no_figure_infinite(void **state)
{
    (void)state;
    const struct merit figures = {.hosts = 0};

    for (size_t i = 0; i < merit_count(); i++)
        assert_real(merit_at(i)->value(&figures), 0, 0);
}

static size_t count_of(struct text text, char character)
{
    size_t count = 0;

    for (size_t i = 0; i < text.length; i++)
        count += text.at[i] == character;
    return count;
}

static void all_figures_are_written(void **state)
{
    (void)state;
    const struct merit figures = {
        .hosts = 2, .days = 2.5, .sum = {.flops_total = 3, .flops_used = 2, .jobs = 1000000}};
    struct buffer json = buffer_on_heap(1 << 16), names = buffer_on_heap(1 << 16),
                  values = buffer_on_heap(1 << 16);

    merit_write_json(&figures, &json);
    merit_write_names(&names);
    merit_write_values(&figures, &values);
    for (size_t i = 0; i < merit_count(); i++) {
        char quoted[64];

        snprintf(quoted, sizeof(quoted), "\"%s\": ", merit_at(i)->name);
        assert_true(text_contains(buffer_text(&json), text_from(quoted)));
        assert_true(text_contains(buffer_text(&names), text_from(merit_at(i)->name)));
        assert_ptr_equal(merit_find(merit_at(i)->name), merit_at(i));
    }
    assert_int_equal(count_of(buffer_text(&names), ','), merit_count() - 1);
    assert_int_equal(count_of(buffer_text(&values), ','), merit_count() - 1);
    assert_true(text_contains(buffer_text(&json), TEXT("\"days\": 2.5,")));
    assert_true(text_contains(buffer_text(&json), TEXT("\"idle_fraction\": 0.333333,")));
    assert_true(text_contains(buffer_text(&json), TEXT("\"jobs\": 1000000,")));
    assert_true(text_starts(buffer_text(&values), TEXT("2,2.5,0,0,0.333333,")));
    buffer_free(&json);
    buffer_free(&names);
    buffer_free(&values);
}

/* A has the GPU for 3 of 4 h and no CPU. */
static void parts_of_projects_are_of_what_was_used(void **state)
{
    (void)state;
    const struct tally_project a = {.flops_used = 6, .used = {[CLIENT_NVIDIA] = 3}};
    const struct tally_project b = {.flops_used = 6, .used = {[CLIENT_CPU] = 4, [CLIENT_ATI] = 1}};
    struct merit_projects parts = {.count = 0};
    struct buffer buffer = buffer_on_heap(1 << 16);

    merit_add_project(&parts, 0, &a);
    merit_write_project_names(&parts, &buffer);
    assert_text(buffer_text(&buffer), ""); /* the only one has all */
    merit_add_project(&parts, 1, &b);
    merit_write_project_names(&parts, &buffer);
    merit_write_project_values(&parts, &buffer);
    merit_write_project_json(&parts, &buffer);
    assert_text(
        buffer_text(&buffer),
        ",p1_cpu_fraction,p1_gpu_fraction,p1_flops_fraction,p2_cpu_fraction,p2_gpu_fraction,"
        "p2_flops_fraction,0.000000,0.750000,0.500000,1.000000,0.250000,0.500000,\n "
        "\"p1_cpu_fraction\": 0.000000, \"p1_gpu_fraction\": 0.750000, "
        "\"p1_flops_fraction\": 0.500000,\n \"p2_cpu_fraction\": 1.000000, "
        "\"p2_gpu_fraction\": 0.250000, \"p2_flops_fraction\": 0.500000");
    buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_hosts_count_for_more),
        cmocka_unit_test(share_violation_is_weighted_by_what_was_computed),
        cmocka_unit_test(one_project_has_no_shares_to_violate),
        cmocka_unit_test(monotony_is_a_mean_of_hosts),
        cmocka_unit_test(between_two_moments_is_what_happened_then),
        cmocka_unit_test(every_count_is_a_figure),
        cmocka_unit_test(nothing_done_makes_no_figure_infinite),
        cmocka_unit_test(all_figures_are_written),
        cmocka_unit_test(parts_of_projects_are_of_what_was_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
