/* SPDX-License-Identifier: Apache-2.0 */
/* A file system is nearly full below 100 MB or 1,000 files; one that says 0 of 0 has no bound. */
#include "server/check/disk_room.h"

#include "tests/support/case_arena.h"
#include "tests/support/test.h"

#include <sys/statvfs.h>

static void room_is_told_where_little_is_left(void **state)
{
    const struct {
        struct statvfs room;
        const char *words;
    } cases[] = {
        {{.f_frsize = 1000, .f_blocks = 1000000, .f_bavail = 100000}, ""},
        {{.f_frsize = 1000, .f_blocks = 1000000, .f_bavail = 99999}, "99 more MB (df)"},
        {{.f_frsize = 4096, .f_blocks = 9}, "0 more MB (df)"},
        {{.f_frsize = 1000, .f_blocks = 0, .f_bavail = 0}, ""},
        {{.f_frsize = 4096,
          .f_blocks = 999999,
          .f_bavail = 999999,
          .f_files = 5000,
          .f_favail = 1000},
         ""},
        {{.f_frsize = 4096,
          .f_blocks = 999999,
          .f_bavail = 999999,
          .f_files = 5000,
          .f_favail = 999},
         "less than 1000 more files (df -i)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_text(disk_room_complaint(&cases[i].room, case_arena), cases[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(room_is_told_where_little_is_left, case_arena_setup,
                                        case_arena_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
