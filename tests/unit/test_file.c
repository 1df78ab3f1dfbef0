/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody may do with a file, who enters a folder, and what stands in for closed streams. */
#include "server/base/file.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
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

static void others_enter_a_folder_whatever_the_umask(void **state)
{
    static const struct {
        mode_t mask, of_parent, asked, wanted;
    } cases[] = {
        {0022, 0755, 0775, 0755},  {0002, 0755, 0775, 0775},  {0077, 0755, 0775, 0755},
        {0077, 0755, 0750, 0750},  {0077, 0755, 0700, 0700},  {0027, 0755, 0775, 0755},
        {0077, 02775, 0775, 0755}, {0002, 02775, 0775, 0775},
    };
    char parent[] = "/tmp/qm-folder-XXXXXX", folder[sizeof(parent) + 2];
    mode_t before;

    (void)state;
    assert_non_null(mkdtemp(parent));
    (void)snprintf(folder, sizeof(folder), "%s/a", parent);
    before = umask(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        mode_t set = cases[i].of_parent & S_ISGID;
        struct stat made;

        assert_int_equal(chmod(parent, cases[i].of_parent), 0);
        (void)umask(cases[i].mask);
        assert_true(file_make_folder(folder, cases[i].asked));
        assert_int_equal(stat(folder, &made), 0);
        assert_int_equal(made.st_mode & 07777, cases[i].wanted | set);
        assert_int_equal(rmdir(folder), 0);
    }
    (void)umask(before);
    assert_int_equal(rmdir(parent), 0);
}

/* Whether a program whose streams are closed, as `closed` says of 0, 1 and 2, opens no file in
 * place of one of them, and fails to read and to write. */
static bool closed_streams_stay_so(unsigned closed)
{
    char byte = 'a';

    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if ((closed >> stream & 1) != 0)
            (void)close(stream);
    file_occupy_standard();
    return open("/dev/zero", O_RDWR | O_CLOEXEC) > STDERR_FILENO &&
           ((closed & 1) == 0 || read(STDIN_FILENO, &byte, 1) < 0) &&
           ((closed & 2) == 0 || write(STDOUT_FILENO, &byte, 1) < 0) &&
           ((closed & 4) == 0 || write(STDERR_FILENO, &byte, 1) == 1);
}

static void no_file_takes_the_place_of_a_closed_stream(void **state)
{
    (void)state;
    for (unsigned closed = 0; closed < 8; closed++) {
        pid_t child = fork();
        int status = 0;

        if (child == 0)
            _exit(closed_streams_stay_so(closed) ? EXIT_SUCCESS : EXIT_FAILURE);
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_by_its_owner_and_by_whoever_is_in_its_group),
        cmocka_unit_test(a_user_is_known_with_his_groups),
        cmocka_unit_test(others_enter_a_folder_whatever_the_umask),
        cmocka_unit_test(no_file_takes_the_place_of_a_closed_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
