/* SPDX-License-Identifier: Apache-2.0 */
/* Disk space shared between projects. */
#include "server/base/random.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/client/storage.h"

#include "server/base/banned.h"

#define GB  1e9
#define DAY 86400.0

enum { A, B, FILES_MAX = 16 };

struct disk {
    struct storage_project projects[2];
    struct storage_file files[FILES_MAX];
    struct storage storage;
};

/* 100 GB for projects: A may use 75, B 25. */
static void set_up(struct disk *disk)
{
    *disk = (struct disk){.projects = {{.share = 75}, {.share = 25}}};
    disk->storage = (struct storage){.total_limit = 101 * GB,
                                     .core_usage = 1 * GB,
                                     .projects = disk->projects,
                                     .project_count = 2,
                                     .files = disk->files};
}

/* Files come one s after the other. */
static struct storage_file *add(struct disk *disk, size_t project, double gigabytes)
{
    size_t number = disk->storage.file_count++;

    disk->files[number] = storage_new_file(project, gigabytes * GB, (double)number);
    return &disk->files[number];
}

static void a_may_use_three_quarters_and_b_one(void **state)
{
    (void)state;
    struct disk disk;

    set_up(&disk);
    assert_real(storage_limit(&disk.storage, A), 75 * GB, 1);
    assert_real(storage_limit(&disk.storage, B), 25 * GB, 1);
    /* What A leaves, B may use. */
    (void)add(&disk, A, 10);
    assert_true(storage_make_room(&disk.storage, B, 60 * GB, 100));
    (void)add(&disk, B, 60);
    assert_real(storage_usage(&disk.storage, B), 60 * GB, 1);
    assert_real(storage_free(&disk.storage), 30 * GB, 1);
    assert_int_equal(storage_greatest_offender(&disk.storage), B);
    assert_false(disk.files[0].deleted || disk.files[1].deleted);
}

static void offenders_make_room_down_to_their_limit(void **state)
{
    (void)state;
    struct disk disk;

    set_up(&disk);
    (void)add(&disk, A, 40);
    for (int i = 0; i < 6; i++)
        (void)add(&disk, B, 10);
    assert_true(storage_make_room(&disk.storage, A, 20 * GB, 100));
    /* 60 go to 20, the first below 25; nothing of A is touched. */
    assert_real(storage_usage(&disk.storage, B), 20 * GB, 1);
    assert_real(storage_usage(&disk.storage, A), 40 * GB, 1);
    /* The oldest use first. */
    assert_true(disk.files[1].deleted && disk.files[4].deleted);
    assert_false(disk.files[5].deleted || disk.files[6].deleted);
}

static void low_priorities_of_all_offenders_go_before_higher_ones(void **state)
{
    (void)state;
    struct disk disk;

    set_up(&disk);
    (void)add(&disk, A, 40);
    add(&disk, B, 20)->priority = STORAGE_HIGH;
    add(&disk, B, 20)->priority = STORAGE_MEDIUM;
    (void)add(&disk, B, 20);
    assert_true(storage_make_room(&disk.storage, A, 15 * GB, 100));
    /* Low alone is enough, though B is an offender still. */
    assert_true(disk.files[3].deleted);
    assert_false(disk.files[1].deleted || disk.files[2].deleted);
    assert_true(storage_make_room(&disk.storage, A, 35 * GB, 100));
    assert_true(disk.files[2].deleted);
    assert_false(disk.files[1].deleted);
}

static void own_files_go_last_and_only_if_that_helps(void **state)
{
    (void)state;
    struct disk disk;

    set_up(&disk);
    (void)add(&disk, A, 40);
    (void)add(&disk, A, 30);
    add(&disk, B, 25)->references = 1;
    assert_false(storage_make_room(&disk.storage, A, 80 * GB, 100));
    assert_false(disk.files[0].deleted || disk.files[1].deleted);
    assert_true(storage_make_room(&disk.storage, A, 40 * GB, 100));
    assert_true(disk.files[0].deleted);
    assert_false(disk.files[1].deleted || disk.files[2].deleted);
}

static void only_unreferenced_sticky_files_are_deleted(void **state)
{
    (void)state;
    struct disk disk;

    set_up(&disk);
    add(&disk, A, 50)->references = 1;
    add(&disk, A, 50)->sticky = false;
    assert_int_equal(storage_next_file(&disk.storage, A, STORAGE_HIGH, 100), 2);
    assert_false(storage_make_room(&disk.storage, A, 1 * GB, 100));
}

static void files_begin_low_and_live_sixty_days(void **state)
{
    (void)state;
    const struct storage_file file = storage_new_file(B, 5, 1000);

    assert_int_equal(file.priority, 1);
    assert_real(file.last_used, 1000, 0);
    assert_real(file.expires, 1000 + 60 * DAY, 0);
}

static void each_policy_has_its_order(void **state)
{
    (void)state;
    struct disk disk;

    set_up(&disk);
    for (int i = 0; i < 3; i++)
        (void)add(&disk, A, 1);
    disk.files[0].last_used = 50;
    disk.files[1].priority = STORAGE_HIGH;
    disk.files[1].expires = 90;
    /* Least recently used. */
    assert_int_equal(storage_next_file(&disk.storage, A, STORAGE_HIGH, 100), 2);
    /* By priority: as they came. */
    disk.projects[A].by_priority = true;
    assert_int_equal(storage_next_file(&disk.storage, A, STORAGE_HIGH, 100), 0);
    /* By expiry: what is expired, whatever its priority; what will expire is not. */
    disk.projects[A].by_expiry = true;
    assert_int_equal(storage_next_file(&disk.storage, A, STORAGE_LOW, 100), 1);
    assert_int_equal(storage_next_file(&disk.storage, A, STORAGE_LOW, 90), 0);
}

static void violations_are_mended_by_files_then_by_results(void **state)
{
    (void)state;
    struct disk disk;
    const size_t first[] = {2}, second[] = {3};
    struct storage_result results[] = {
        {.project = A, .files = first, .file_count = 1, .running = true},
        {.project = B, .files = second, .file_count = 1},
        {.project = B, .waits_for_ack = true},
    };

    set_up(&disk);
    (void)add(&disk, A, 20);
    (void)add(&disk, B, 20);
    add(&disk, A, 20)->references = 1;
    add(&disk, B, 4)->references = 1;
    disk.files[3].sticky = false;
    disk.storage.results = results;
    disk.storage.result_count = 3;
    assert_false(storage_enforce(&disk.storage, 100));
    assert_false(disk.files[0].deleted || disk.files[1].deleted);

    disk.storage.total_limit = 45 * GB; /* one file has to go: of the offenders */
    assert_false(storage_enforce(&disk.storage, 100));
    assert_true(disk.files[1].deleted);
    assert_false(disk.files[0].deleted);
    assert_false(results[1].dropped);

    disk.storage.total_limit = 22 * GB; /* all files, and a result that nobody runs */
    assert_false(storage_enforce(&disk.storage, 100));
    assert_true(disk.files[0].deleted && disk.files[3].deleted && results[1].dropped);
    assert_false(results[0].dropped || results[2].dropped);

    disk.storage.total_limit = 10 * GB; /* nothing is left to delete: all stops */
    assert_true(storage_enforce(&disk.storage, 100));
    assert_false(disk.files[2].deleted);
}

static void amounts_count_offenders_then_the_project_itself(void **state)
{
    (void)state;
    struct disk disk;
    struct storage_amounts amounts;

    set_up(&disk);
    (void)add(&disk, A, 30);
    add(&disk, B, 30)->references = 1;
    for (int i = 0; i < 3; i++)
        (void)add(&disk, B, 10);
    amounts = storage_tell_amounts(&disk.storage, A, 100);
    assert_real(amounts.free, 10 * GB, 1);
    assert_real(amounts.with_offenders, 40 * GB, 1);
    assert_real(amounts.with_self, 70 * GB, 1);
    /* For the offender its own files are the third amount. */
    amounts = storage_tell_amounts(&disk.storage, B, 100);
    assert_real(amounts.with_offenders, 10 * GB, 1);
    assert_real(amounts.with_self, 40 * GB, 1);
    /* The first project is an offender as any other is. */
    set_up(&disk);
    for (int i = 0; i < 8; i++)
        (void)add(&disk, A, 10);
    amounts = storage_tell_amounts(&disk.storage, B, 100);
    assert_real(amounts.free, 20 * GB, 1);
    assert_real(amounts.with_offenders, 30 * GB, 1);
    set_up(&disk);
    (void)add(&disk, A, 30);
    add(&disk, B, 30)->references = 1;
    for (int i = 0; i < 3; i++)
        (void)add(&disk, B, 10);
    /* Of an excess of 5 GB one file of 10 is told. */
    disk.files[1].bytes = 1 * GB;
    disk.files[2].bytes = 9 * GB;
    amounts = storage_tell_amounts(&disk.storage, A, 100);
    assert_real(amounts.with_offenders - amounts.free, 9 * GB, 1);
    for (size_t i = 0; i < disk.storage.file_count; i++)
        assert_false(disk.files[i].deleted);
}

static void undelete(struct disk *disk)
{
    for (size_t i = 0; i < disk->storage.file_count; i++)
        disk->files[i].deleted = false;
}

static bool loses_files(const struct disk *disk, size_t project)
{
    for (size_t i = 0; i < disk->storage.file_count; i++)
        if (disk->files[i].project == project && disk->files[i].deleted)
            return true;
    return false;
}

/* Up to the first amount nobody loses a file, up to the second the project itself does not, up to
 * the third there is room at all. */
static void amounts_are_what_making_room_brings(void **state)
{
    (void)state;
    struct random random = {.state = 10};
    int seconds = 0; /* rounds in which the second amount was more */

    for (int round = 0; round < 200; round++) {
        struct disk disk;
        struct storage_amounts amounts;

        set_up(&disk);
        while (disk.storage.file_count < FILES_MAX) {
            struct storage_file *file =
                add(&disk, (size_t)(random_next(&random) % 2), random_unit(&random) * 12);

            file->priority = 1 + (int)(random_next(&random) % 5);
            file->references = random_next(&random) % 3 == 0;
        }
        amounts = storage_tell_amounts(&disk.storage, A, 100);
        assert_true(amounts.free <= amounts.with_offenders);
        assert_true(amounts.with_offenders <= amounts.with_self);
        assert_int_equal(storage_make_room(&disk.storage, A, amounts.with_self + 1, 100), 0);
        undelete(&disk);
        if (amounts.free > 1) {
            assert_true(storage_make_room(&disk.storage, A, amounts.free - 1, 100));
            assert_false(loses_files(&disk, A) || loses_files(&disk, B));
        }
        if (amounts.with_offenders > amounts.free + 2) {
            assert_true(storage_make_room(&disk.storage, A, amounts.with_offenders - 1, 100));
            assert_true(loses_files(&disk, B) && !loses_files(&disk, A));
            undelete(&disk);
            seconds++;
        }
        if (amounts.with_self > amounts.with_offenders + 2) {
            assert_true(storage_make_room(&disk.storage, A, amounts.with_self - 1, 100));
            assert_true(loses_files(&disk, A));
        }
    }
    assert_true(seconds > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_may_use_three_quarters_and_b_one),
        cmocka_unit_test(offenders_make_room_down_to_their_limit),
        cmocka_unit_test(low_priorities_of_all_offenders_go_before_higher_ones),
        cmocka_unit_test(own_files_go_last_and_only_if_that_helps),
        cmocka_unit_test(only_unreferenced_sticky_files_are_deleted),
        cmocka_unit_test(files_begin_low_and_live_sixty_days),
        cmocka_unit_test(each_policy_has_its_order),
        cmocka_unit_test(violations_are_mended_by_files_then_by_results),
        cmocka_unit_test(amounts_count_offenders_then_the_project_itself),
        cmocka_unit_test(amounts_are_what_making_room_brings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
