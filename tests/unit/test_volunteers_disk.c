/* SPDX-License-Identifier: Apache-2.0 */
/* The disks of whole emulated hosts. */
#include "tests/support/emulation.h"
#include "tests/support/test.h"
#include "tools/volunteers/policy.h"

#include <math.h>

#include "server/base/banned.h"

enum { A, B };
#define DAY 86400.0
#define GB  1e9

/* Two projects whose jobs of an hour leave files of 1 GB on a disk of 40. */
static struct emulation *two_projects(const char *disk, double share_of_a)
{
    struct emulation *emulation = emulation_create();
    struct population *population = &emulation->population;

    population->habits.disk = policy_find(&policy_tables[POLICY_DISK], text_from(disk));
    assert_true(population->habits.disk < policy_tables[POLICY_DISK].count);
    population->cpus_max = 1;
    population->projects = population->share_count = 2;
    population->shares[A] = share_of_a;
    population->shares[B] = 100 - share_of_a;
    population->projects_min = 2;
    population->buffer_min_days = population->buffer_max_days = 0.1;
    population->disk_min = population->disk_max = 40 * GB;
    emulation->projects[A].file_bytes = emulation->projects[B].file_bytes = GB;
    return emulation;
}

static double usage(const struct emulation *emulation, size_t project)
{
    const struct disk *disk = &emulation->volunteer.disk;
    double bytes = 0;

    for (size_t i = 0; i < disk->count; i++)
        bytes += disk->files[i]->project == project ? disk->files[i]->bytes : 0;
    return bytes;
}

/* 4-2: A may use three quarters, B one; while B uses less, A may use that too. */
static void shares_of_the_disk_are_kept_where_both_want_them(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("present", 75);

    emulation->projects[B].serves[FETCH_CPU] = false;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 4);
    assert_real(usage(emulation, A), 39.5 * GB, 0.6 * GB);
    emulation->projects[B].serves[FETCH_CPU] = true;
    emulation_run(emulation, 12);
    assert_real(usage(emulation, A), 30 * GB, 1.1 * GB);
    assert_real(usage(emulation, B), 10 * GB, 1.1 * GB);
    assert_true(emulation->volunteer.tally.disk_deletions > 20);
    assert_int_equal(emulation->volunteer.tally.disk_refusals, 0);
    emulation_free(emulation);
}

static void without_disk_no_file_is_kept(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("none", 50);

    emulation_begin(emulation, 1);
    emulation_run(emulation, 4);
    assert_int_equal(emulation->volunteer.disk.count, 0);
    assert_int_equal(emulation->volunteer.tally.disk_deletions, 0);
    emulation_free(emulation);
}

/* Number of the job that brought a file: "file_7". */
static unsigned long long number_of(const struct disk_file *file)
{
    unsigned long long number = 0;

    for (const char *at = file->name + 5; *at != '\0'; at++)
        number = number * 10 + (unsigned long long)(*at - '0');
    return number;
}

static double oldest(const struct emulation *emulation)
{
    double least = INFINITY;

    for (size_t i = 0; i < emulation->volunteer.disk.count; i++)
        least = fmin(least, (double)number_of(emulation->volunteer.disk.files[i]));
    return least;
}

/* 4-13, 4-25: the first that came; what is of higher priority stays; what expired goes first. */
static void each_policy_deletes_what_it_says(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("present", 50);

    emulation->projects[B].serves[FETCH_CPU] = false;
    emulation->projects[A].file_priority = 5;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 1);
    emulation->projects[A].file_priority = 1;
    emulation_run(emulation, 63);
    assert_real(oldest(emulation), 1, 0);
    /* The first are older than sixty days by now. */
    emulation->projects[A].deletes_by_expiry = true;
    emulation_run(emulation, 66);
    assert_true(oldest(emulation) > 63 * 24 - 40);
    emulation_free(emulation);
}

static void look_at_amounts(struct emulation *emulation, void *context)
{
    const struct outgoing_disk *disk = &emulation->question.outgoing.disk;
    bool *differ = context;

    assert_true(disk->tells_amounts);
    assert_true(disk->amounts[0] <= disk->amounts[1] && disk->amounts[1] <= disk->amounts[2]);
    assert_true(disk->amounts[2] <= 40 * GB);
    assert_true(disk->used + disk->free <= 40 * GB + 1);
    assert_true(disk->used_by_project <= disk->used);
    *differ =
        *differ || (disk->amounts[0] < disk->amounts[1] && disk->amounts[1] < disk->amounts[2]);
}

static void requests_of_2004_tell_three_amounts(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("2004", 50);
    bool differ = false;

    emulation->look = look_at_amounts;
    emulation->context = &differ;
    emulation->projects[B].serves[FETCH_CPU] = false;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 4);
    emulation->projects[B].serves[FETCH_CPU] = true;
    emulation_run(emulation, 8);
    assert_true(differ);
    emulation_free(emulation);
}

static void look_at_files(struct emulation *emulation, void *context)
{
    const struct outgoing_disk *disk = &emulation->question.outgoing.disk;
    size_t *most = context;

    assert_false(disk->tells_amounts);
    assert_real(disk->share, 20 * GB, 1e7);
    *most = disk->file_count > *most ? disk->file_count : *most;
    for (size_t i = 0; i < disk->file_count; i++)
        assert_real(disk->files[i].bytes, GB, 0);
}

static void requests_of_today_list_sticky_files(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("present", 50);
    size_t most = 0;

    emulation->look = look_at_files;
    emulation->context = &most;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 4);
    assert_in_range(most, 18, 22);
    emulation_free(emulation);
}

/* 4-4: first files go, then jobs that were not begun, and then all stops until there is room. */
static void violations_end_files_then_jobs_then_all(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("present", 50);
    const struct volunteer *volunteer = &emulation->volunteer;
    bool was_stuck = false;

    emulation->population.always_on = false;
    emulation->population.disk_swing = 1;
    emulation->population.buffer_min_days = emulation->population.buffer_max_days = 0.5;
    emulation->projects[A].file_bytes = emulation->projects[B].file_bytes = 3 * GB;
    emulation_begin(emulation, 2);
    for (int quarter = 0; quarter < 4 * 200; quarter++) {
        double limit;

        emulation_run(emulation, quarter / 4.0);
        limit = 40 * GB - volunteer->disk.others;
        was_stuck = was_stuck || volunteer->is_stuck;
        if (!volunteer->is_stuck)
            assert_true(usage(emulation, A) + usage(emulation, B) <= limit + 1);
        for (size_t i = 0; i < volunteer->job_count; i++)
            assert_false(volunteer->is_stuck && volunteer->jobs[i].running);
    }
    assert_true(was_stuck);
    assert_true(volunteer->tally.aborted > 0);
    assert_true(volunteer->tally.disk_deletions > 0);
    assert_true(volunteer->tally.disk_refusals > 0);
    assert_true(volunteer->tally.jobs > 100);
    emulation_free(emulation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_the_disk_are_kept_where_both_want_them),
        cmocka_unit_test(without_disk_no_file_is_kept),
        cmocka_unit_test(each_policy_deletes_what_it_says),
        cmocka_unit_test(requests_of_2004_tell_three_amounts),
        cmocka_unit_test(requests_of_today_list_sticky_files),
        cmocka_unit_test(violations_end_files_then_jobs_then_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
