/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from the shape of a host's jobs, by numbers worked out by hand. */
#include "server/policy/edf/edf_shape.h"

#include "tests/support/test.h"

#include "server/base/banned.h"

static struct edf_shape host_with(int64_t pages)
{
    struct edf_shape shape = {.cpus = 4 * EDF_UNIT, .types = 2, .memory = pages};

    shape.counts[1] = 2 * EDF_UNIT;
    return shape;
}

static enum edf_change note_cpu(struct edf_shape *shape, int64_t cpus, uint32_t pages)
{
    const struct edf_need need = {.wall_time = 1, .cpus = cpus, .memory = pages};

    return edf_shape_note(shape, &need);
}

static enum edf_change note_coproc(struct edf_shape *shape, uint32_t pages)
{
    const struct edf_need need = {.wall_time = 1, .count = EDF_UNIT, .type = 1, .memory = pages};

    return edf_shape_note(shape, &need);
}

static int64_t level_of(const struct edf_shape *shape, int64_t cpus)
{
    const struct edf_need need = {.wall_time = 1, .cpus = cpus};

    return edf_shape_level(shape, &need);
}

static void a_job_more_changes_what_it_changes(void **state)
{
    struct edf_shape shape = host_with(1000);

    (void)state;
    assert_int_equal(note_cpu(&shape, EDF_UNIT, 300), EDF_LOADS);
    assert_int_equal(note_cpu(&shape, EDF_UNIT, 300), EDF_SAME);
    assert_int_equal(note_cpu(&shape, EDF_UNIT, 600), EDF_BOUNDS);
    assert_int_equal(note_cpu(&shape, EDF_UNIT, 400), EDF_LOADS); /* the grain */
    assert_int_equal(note_cpu(&shape, EDF_UNIT, 200), EDF_LOADS); /* the least */
    assert_int_equal(note_coproc(&shape, 0), EDF_LOADS);
    assert_int_equal(note_coproc(&shape, 0), EDF_SAME);
    shape = host_with(0);
    note_cpu(&shape, EDF_UNIT, 0);
    assert_false(shape.memory_taken.is_known);
    shape = host_with(1);
    note_cpu(&shape, EDF_UNIT, 1);
    assert_true(shape.memory_taken.is_known);
}

/* 4 CPUs and 1,000 pages: three jobs of 300 pages run at a time. While one waits for memory, 900
 * pages are in use, which count as 4 CPUs. */
static void equal_jobs_have_slots(void **state)
{
    struct edf_shape shape = host_with(1000);

    (void)state;
    note_cpu(&shape, EDF_UNIT, 300);
    assert_true(edf_shape_is_even(&shape));
    assert_int_equal(edf_shape_slots(&shape), 3);
    assert_int_equal(level_of(&shape, EDF_UNIT), 4 * EDF_UNIT);
    assert_real(edf_shape_memory_weight(&shape), 4e6 / 900, 1e-9);
    shape.memory = 1200; /* all of them have it */
    assert_int_equal(edf_shape_slots(&shape), 4);
    assert_real(edf_shape_memory_weight(&shape), 0, 0);
    shape.memory = 1199;
    assert_int_equal(edf_shape_slots(&shape), 3);
    assert_real(edf_shape_memory_weight(&shape), 4e6 / 900, 1e-9);
}

/* One of 300 waits while more than 700 of 1,000 pages are in use, so 800 as the grain is 100. */
static void unequal_memory_has_a_weight_and_no_slots(void **state)
{
    struct edf_shape shape = host_with(1000);

    (void)state;
    note_cpu(&shape, EDF_UNIT, 300);
    note_cpu(&shape, EDF_UNIT, 200);
    assert_false(edf_shape_is_even(&shape));
    assert_int_equal(edf_shape_slots(&shape), 0);
    assert_real(edf_shape_memory_weight(&shape), 4e6 / 800, 1e-9);
}

static void memory_of_coprocessor_jobs_leaves_no_bound(void **state)
{
    struct edf_shape shape = host_with(1000);

    (void)state;
    note_cpu(&shape, EDF_UNIT, 300);
    note_coproc(&shape, 0);
    assert_int_equal(edf_shape_burden(&shape), 0);
    assert_int_equal(level_of(&shape, EDF_UNIT), 4 * EDF_UNIT);
    assert_int_equal(edf_shape_slots(&shape), 3);
    note_coproc(&shape, 1);
    assert_int_equal(edf_shape_burden(&shape), 1);
    assert_int_equal(level_of(&shape, EDF_UNIT), 0);
    assert_int_equal(edf_shape_slots(&shape), 0);
}

/* Two coprocessor jobs of a CPU each leave 3 of the 4 CPUs, whatever memory they take. */
static void cpu_parts_keep_cpus_away(void **state)
{
    struct edf_need need = {.wall_time = 1, .cpus = EDF_UNIT, .count = EDF_UNIT, .type = 1};
    struct edf_shape shape = host_with(1000);

    (void)state;
    note_cpu(&shape, EDF_UNIT, 300);
    edf_shape_note(&shape, &need);
    assert_int_equal(edf_shape_burden(&shape), EDF_UNIT);
    need.memory = 10;
    edf_shape_note(&shape, &need);
    assert_int_equal(edf_shape_burden(&shape), EDF_UNIT);
}

/* Jobs that take nothing of the CPUs run in any number; those of a millionth nearly so. */
static void jobs_of_next_to_no_cpu_wait_for_memory_alone(void **state)
{
    struct edf_shape shape = host_with(1000);

    (void)state;
    assert_false(edf_shape_is_even(&shape));
    note_cpu(&shape, 0, 300);
    assert_false(edf_shape_is_even(&shape));
    assert_int_equal(edf_shape_slots(&shape), 0);
    assert_real(edf_shape_memory_weight(&shape), 4e6 / 900, 1e-9);
    shape = host_with(1000);
    note_cpu(&shape, 1, 300);
    assert_true(edf_shape_is_even(&shape));
    assert_real(edf_shape_memory_weight(&shape), 4e6 / 900, 1e-9);
    shape = host_with(5000000);
    note_cpu(&shape, 1, 1);
    assert_real(edf_shape_memory_weight(&shape), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_more_changes_what_it_changes),
        cmocka_unit_test(equal_jobs_have_slots),
        cmocka_unit_test(unequal_memory_has_a_weight_and_no_slots),
        cmocka_unit_test(memory_of_coprocessor_jobs_leaves_no_bound),
        cmocka_unit_test(cpu_parts_keep_cpus_away),
        cmocka_unit_test(jobs_of_next_to_no_cpu_wait_for_memory_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
