/* SPDX-License-Identifier: Apache-2.0 */
/* The disks of whole emulated hosts. */
#include "tests/support/emulation.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/host/habits.h"
#include "tools/lab/volunteers/host/host_disk.h"

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

    population->habits.disk = habit_find(&habit_tables[HABIT_DISK], text_from(disk));
    assert_true(population->habits.disk < habit_tables[HABIT_DISK].count);
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
    const struct host_disk *disk = &emulation->volunteer.disk;
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

    emulation->projects[B].serves[CLIENT_CPU] = false;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 4);
    assert_real(usage(emulation, A), 39.5 * GB, 0.6 * GB);
    emulation->projects[B].serves[CLIENT_CPU] = true;
    emulation_run(emulation, 12);
    assert_real(usage(emulation, A), 30 * GB, 1.1 * GB);
    assert_real(usage(emulation, B), 10 * GB, 1.1 * GB);
    assert_true(emulation->volunteer.tally.disk_deletions > 20);
    assert_int_equal(emulation->volunteer.tally.disk_refusals, 0);
    emulation_free(emulation);
}

/* 4-2: a project that comes later finds the disk full, and gets its share of it from the other. */
static void a_late_project_gets_its_share_of_a_full_disk(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("2004", 50);

    emulation->population.attach_days[B] = 4;
    emulation->population.attach_count = 2;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 3.9);
    assert_real(usage(emulation, A), 39.5 * GB, 0.6 * GB);
    assert_int_equal(emulation->projects[B].rpcs, 0);
    emulation_run(emulation, 8);
    assert_real(usage(emulation, A), 20 * GB, 1.1 * GB);
    assert_real(usage(emulation, B), 20 * GB, 1.1 * GB);
    assert_int_equal(emulation->volunteer.tally.disk_refusals, 0);
    emulation_free(emulation);
}

static void the_disk_follows_changed_shares(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("2004", 75);

    emulation->population.later_shares[A] = 25;
    emulation->population.later_shares[B] = 75;
    emulation->population.later_share_count = 2;
    emulation->population.later_shares_days = 8;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 7.9);
    assert_real(usage(emulation, A), 30 * GB, 1.1 * GB);
    emulation_run(emulation, 16);
    assert_real(usage(emulation, A), 10 * GB, 1.1 * GB);
    assert_real(usage(emulation, B), 30 * GB, 1.1 * GB);
    emulation_free(emulation);
}

/* 4-10: what a result template says of an output file; its size is the job's, and its project's. */
static void outputs_are_kept_as_their_templates_say(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("present", 50);
    const struct host_disk *disk = &emulation->volunteer.disk;

    emulation->population.job_bytes_min = emulation->population.job_bytes_max = GB;
    emulation->population.file_scales[A] = 0.5;
    emulation->population.file_scales[B] = 2;
    emulation->population.file_scale_count = 2;
    for (size_t p = A; p <= B; p++) {
        emulation->projects[p].file_is_output = true;
        emulation->projects[p].file_priority = 5;
        emulation->projects[p].file_life = 3 * DAY;
    }
    emulation_begin(emulation, 1);
    emulation_run(emulation, 1);
    assert_in_range(disk->count, 20, 40);
    for (size_t i = 0; i < disk->count; i++) {
        const struct disk_file *file = disk->files[i];

        assert_true(file->name != NULL && file->sticky);
        assert_int_equal(file->priority, 5);
        assert_real(file->expires, EMULATION_BEGIN + 3.5 * DAY, 0.51 * DAY);
        assert_real(file->bytes, file->project == A ? 0.5 * GB : 2 * GB, 0);
    }
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

    emulation->projects[B].serves[CLIENT_CPU] = false;
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
    emulation->projects[B].serves[CLIENT_CPU] = false;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 4);
    emulation->projects[B].serves[CLIENT_CPU] = true;
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

/* Steps of six minutes, until a job is done but not reported, and another runs. */
static bool has_done_and_running(const struct volunteer *volunteer)
{
    bool done = false, running = false;

    for (size_t i = 0; i < volunteer->job_count; i++) {
        done = done || volunteer->jobs[i].done;
        running = running || volunteer->jobs[i].running;
    }
    return done && running;
}

/* 4-24: others leave room for one job's files. All stops until the one that is done is
 * acknowledged; the host, which is never switched off, goes on by itself. */
static void all_goes_on_when_a_result_was_acknowledged(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("present", 50);
    struct volunteer *volunteer = &emulation->volunteer;
    double days = 0;
    uint64_t jobs;

    emulation->population.job_bytes_min = emulation->population.job_bytes_max = 3 * GB;
    emulation->projects[A].file_bytes = emulation->projects[B].file_bytes = 0;
    emulation_begin(emulation, 1);
    while (days < 2 && !has_done_and_running(volunteer))
        emulation_run(emulation, days += 0.1 / 24);
    assert_true(has_done_and_running(volunteer));
    volunteer->disk.others = 35 * GB;
    volunteer->is_stuck = true; /* to be judged */
    host_disk_poll(volunteer);
    assert_true(volunteer->is_stuck);
    volunteer->stale = true;
    jobs = volunteer->tally.jobs;
    emulation_run(emulation, days + 0.2 / 24);
    for (size_t i = 0; volunteer->is_stuck && i < volunteer->job_count; i++)
        assert_false(volunteer->jobs[i].running);
    emulation_run(emulation, days + 1);
    assert_false(volunteer->is_stuck);
    assert_true(volunteer->tally.jobs > jobs);
    assert_true(usage(emulation, A) + usage(emulation, B) <= 5 * GB);
    emulation_free(emulation);
}

/* 4-8, and what is said again: it raises and never lowers. */
static void files_begin_as_the_room_says_and_are_only_raised(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("present", 50);
    struct volunteer *volunteer = &emulation->volunteer;
    struct incoming_file file = {.name = TEXT("shared"), .bytes = GB, .sticky = true};
    struct volunteer_job job = {.project = A};
    struct incoming_job incoming = {.files = &file, .file_count = 1};
    const struct disk_file *kept;
    double bytes;

    emulation_begin(emulation, 1);
    assert_true(host_disk_admit(volunteer, &job, &incoming, &bytes));
    kept = volunteer->disk.files[0];
    assert_int_equal(kept->priority, 1);
    assert_real(kept->expires, EMULATION_BEGIN + 60 * DAY, 0);
    host_disk_release(volunteer, &job);
    file.priority = 3;
    file.life = 90 * DAY;
    assert_true(host_disk_admit(volunteer, &job, &incoming, &bytes));
    host_disk_release(volunteer, &job);
    assert_int_equal(kept->priority, 3);
    assert_real(kept->expires, EMULATION_BEGIN + 90 * DAY, 0);
    file.priority = 1;
    file.life = DAY;
    assert_true(host_disk_admit(volunteer, &job, &incoming, &bytes));
    host_disk_release(volunteer, &job);
    assert_int_equal(kept->priority, 3);
    assert_real(kept->expires, EMULATION_BEGIN + 90 * DAY, 0);
    assert_int_equal(volunteer->disk.count, 1);
    emulation_free(emulation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_the_disk_are_kept_where_both_want_them),
        cmocka_unit_test(a_late_project_gets_its_share_of_a_full_disk),
        cmocka_unit_test(the_disk_follows_changed_shares),
        cmocka_unit_test(outputs_are_kept_as_their_templates_say),
        cmocka_unit_test(without_disk_no_file_is_kept),
        cmocka_unit_test(each_policy_deletes_what_it_says),
        cmocka_unit_test(requests_of_2004_tell_three_amounts),
        cmocka_unit_test(requests_of_today_list_sticky_files),
        cmocka_unit_test(violations_end_files_then_jobs_then_all),
        cmocka_unit_test(all_goes_on_when_a_result_was_acknowledged),
        cmocka_unit_test(files_begin_as_the_room_says_and_are_only_raised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
