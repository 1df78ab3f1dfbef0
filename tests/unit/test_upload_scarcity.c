/* SPDX-License-Identifier: Apache-2.0 */
/* Who gives way when the disk or the connections of uploads are scarce. */
#include "server/base/random.h"
#include "server/upload/upload_scarcity.h"
#include "tests/support/test.h"

#include <stdlib.h>

#define GB INT64_C(1000000000)

static void an_announcement_counts_for_three_times_what_came(void **state)
{
    (void)state;
    assert_i64(upload_reserved(0, 50 * GB), 0);
    assert_i64(upload_reserved(100, 50 * GB), 300);
    assert_i64(upload_reserved(25, 100), 75);
    assert_i64(upload_reserved(26, 100), 74);
    assert_i64(upload_reserved(100, 100), 0);
    assert_i64(upload_reserved(0, 0), 0);
    assert_i64(upload_reserved(INT64_C(900000000000000), INT64_C(1000000000000000)),
               INT64_C(100000000000000)); /* the largest that may be announced */
}

/* Ten GB are left; those that have brought less of their file go. */
static void the_least_advanced_give_way_on_the_disk(void **state)
{
    struct upload_pace paces[] = {{.at = 2 * GB, .nbytes = 4 * GB},
                                  {.at = 1 * GB, .nbytes = 50 * GB},
                                  {.at = 3 * GB, .nbytes = 10 * GB},
                                  {.at = 100, .nbytes = 50 * GB}};

    (void)state;
    assert_int_equal(upload_yield_disk(paces, 4, 20 * GB), 0);
    assert_int_equal(upload_yield_disk(paces, 4, 10 * GB), 2);
    assert_i64(paces[0].at, 100);
    assert_i64(paces[1].at, GB);
    assert_int_equal(upload_yield_disk(paces, 4, 9 * GB), 2);
    assert_int_equal(upload_yield_disk(paces, 4, 9 * GB - 1), 3);
    assert_int_equal(upload_yield_disk(paces, 4, 2 * GB), 3);
    assert_int_equal(upload_yield_disk(paces, 4, 2 * GB - 1), 4);
    assert_int_equal(upload_yield_disk(paces, 4, -1), 4);
    assert_int_equal(upload_yield_disk(paces, 0, -1), 0);
}

/* Uploads that are begun while their announcements count for little, on a disk that cannot hold
 * them all. */
struct disk {
    int64_t free_bytes;
    struct upload_pace uploads[200];
    bool is_begun[200], is_done[200];
    size_t count, done;
};

static int64_t reserved_of(const struct disk *disk)
{
    int64_t sum = 0;

    for (size_t i = 0; i < disk->count; i++)
        if (disk->is_begun[i])
            sum += upload_reserved(disk->uploads[i].at, disk->uploads[i].nbytes);
    return sum;
}

static void begin_what_fits(struct disk *disk)
{
    for (size_t i = 0; i < disk->count; i++) {
        const struct upload_pace *upload = &disk->uploads[i];

        if (!disk->is_done[i] && !disk->is_begun[i] &&
            upload->nbytes - upload->at <= disk->free_bytes - reserved_of(disk))
            disk->is_begun[i] = true;
    }
}

static void bring(struct disk *disk, int64_t most)
{
    for (size_t i = 0; i < disk->count; i++) {
        struct upload_pace *upload = &disk->uploads[i];
        int64_t left = upload->nbytes - upload->at;
        int64_t comes = left < most ? left : most;

        if (!disk->is_begun[i])
            continue;
        upload->at += comes;
        disk->free_bytes -= comes;
        if (upload->at == upload->nbytes) {
            disk->is_begun[i] = false;
            disk->is_done[i] = true;
            disk->done++;
        }
    }
}

static void share(struct disk *disk)
{
    struct upload_pace paces[200];
    size_t count = 0, yielding;

    for (size_t i = 0; i < disk->count; i++)
        if (disk->is_begun[i]) {
            paces[count] = disk->uploads[i];
            paces[count++].subject = &disk->is_begun[i];
        }
    yielding = upload_yield_disk(paces, count, disk->free_bytes);
    for (size_t i = 0; i < yielding; i++)
        *(bool *)paces[i].subject = false;
}

static struct disk disk_with(size_t count, int64_t nbytes, int64_t free_bytes)
{
    struct disk disk = {.free_bytes = free_bytes, .count = count};

    for (size_t i = 0; i < count; i++)
        disk.uploads[i].nbytes = nbytes;
    return disk;
}

/* Twenty files of 1 GB at once for 10 GB: no half files take the place of whole ones. */
static void more_than_the_disk_holds_does_not_end_in_halves(void **state)
{
    struct disk disk = disk_with(20, GB, 10 * GB);

    (void)state;
    for (int step = 0; step < 1000; step++) {
        begin_what_fits(&disk);
        bring(&disk, GB / 100);
        share(&disk);
        assert_true(disk.free_bytes >= 0);
    }
    assert_true(disk.done >= 6); /* of 10 that fit; the others' parts are on the disk */
}

/* 44 lines drip, each of 50 GB; an honest file after another comes, as fast as the disk lets it. */
static void who_makes_progress_goes_before_who_drips(void **state)
{
    struct disk disk = disk_with(100, GB, 60 * GB);

    (void)state;
    for (size_t i = 0; i < 44; i++) {
        disk.uploads[i].nbytes = 50 * GB;
        disk.uploads[i].at = 100;
        disk.is_begun[i] = true;
    }
    for (int step = 0; step < 400; step++) {
        begin_what_fits(&disk);
        for (size_t i = 0; i < 44; i++)
            if (disk.is_begun[i])
                disk.uploads[i].at += 12 * 60, disk.free_bytes -= 12 * 60;
        for (size_t i = 44; i < 100; i++)
            if (disk.is_begun[i]) {
                disk.uploads[i].at += GB / 4;
                disk.free_bytes -= GB / 4;
                if (disk.uploads[i].at == GB) {
                    disk.is_begun[i] = false;
                    disk.is_done[i] = true;
                    disk.done++;
                }
            }
        share(&disk);
    }
    assert_int_equal(disk.done, 56);
}

/* Beside the obvious way: those that stay fit, and whoever has a larger part than one that stays
 * stays, too; of those that go the best would not fit. */
static void any_uploads_are_shared_out_alike(void **state)
{
    struct random random = {.state = 11};

    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        struct upload_pace paces[12];
        size_t count = random_next(&random) % 13;
        int64_t free_bytes = (int64_t)(random_next(&random) % 3000), sum = 0;
        size_t yielding;

        for (size_t i = 0; i < count; i++) {
            int64_t nbytes = 1 + (int64_t)(random_next(&random) % 1000);
            int64_t at = (int64_t)(random_next(&random) % (uint64_t)(nbytes + 1));

            paces[i] = (struct upload_pace){.at = at, .nbytes = nbytes};
        }
        yielding = upload_yield_disk(paces, count, free_bytes);
        for (size_t i = yielding; i < count; i++)
            sum += upload_reserved(paces[i].at, paces[i].nbytes);
        assert_true(sum <= free_bytes);
        if (yielding > 0)
            assert_true(sum + upload_reserved(paces[yielding - 1].at, paces[yielding - 1].nbytes) >
                        free_bytes);
        for (size_t i = 1; i < count; i++)
            assert_true(paces[i - 1].at * paces[i].nbytes <= paces[i].at * paces[i - 1].nbytes);
    }
}

static void the_slowest_give_their_places(void **state)
{
    struct upload_pace paces[] = {{.age = 100, .rate = 5000, .at = 1},
                                  {.age = 2.9, .rate = 0, .at = 2},
                                  {.age = 3, .rate = 12, .at = 3},
                                  {.age = 50, .rate = 13, .at = 4}};

    (void)state;
    assert_int_equal(upload_yield_places(paces, 4, 1), 1);
    assert_i64(paces[0].at, 3);
    assert_int_equal(upload_yield_places(paces, 4, 2), 2);
    assert_i64(paces[1].at, 4);
    assert_int_equal(upload_yield_places(paces, 4, 10), 3); /* one is too young to be judged */
    assert_i64(paces[3].at, 2);
    assert_int_equal(upload_yield_places(paces, 0, 10), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_announcement_counts_for_three_times_what_came),
        cmocka_unit_test(the_least_advanced_give_way_on_the_disk),
        cmocka_unit_test(more_than_the_disk_holds_does_not_end_in_halves),
        cmocka_unit_test(who_makes_progress_goes_before_who_drips),
        cmocka_unit_test(any_uploads_are_shared_out_alike),
        cmocka_unit_test(the_slowest_give_their_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
