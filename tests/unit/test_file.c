/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody may do with a file. */
#include "server/base/file.h"
#include "tests/support/test.h"

#include <unistd.h>

static const struct stat kept = {.st_uid = 1, .st_gid = 7, .st_mode = S_IFREG | 0640};

static void a_file_is_read_by_its_owner_and_by_whoever_is_in_its_group(void **state)
{
    const struct file_user owner = {.user = 1}, other = {.user = 2};
    const struct file_user member = {.user = 2, .groups = {5, 7}, .group_count = 2};

    (void)state;
    assert_true(file_may(&kept, &owner, R_OK | W_OK));
    assert_true(file_may(&kept, &member, R_OK));
    assert_false(file_may(&kept, &member, W_OK));
    assert_false(file_may(&kept, &other, R_OK));
}

static void a_user_is_known_with_his_groups(void **state)
{
    struct file_user named, numbered;

    (void)state;
    file_user_named("daemon", &named);
    file_user_numbered(named.user, 0, &numbered);
    assert_int_equal(named.group_count, 1);
    assert_int_equal(numbered.group_count, 1);
    assert_int_equal(named.groups[0], numbered.groups[0]);
    file_user_numbered(4000000, 4000001, &numbered);
    assert_int_equal(numbered.groups[0], 4000001);
    assert_int_equal(numbered.group_count, 1);
    file_user_named("nobody of this name", &named);
    assert_int_equal(named.group_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_by_its_owner_and_by_whoever_is_in_its_group),
        cmocka_unit_test(a_user_is_known_with_his_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
