/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody may do with a file, who enters a folder, and what stands in for closed streams. */
#include "server/base/file.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* As many file systems of containers do. */
static bool refuse_files_without_a_name(void)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(lines) / sizeof(lines[0]), .filter = lines};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool is_kept_without_a_name(const char *folder)
{
    static const char words[] = "kept";
    struct stat info;
    char got[sizeof(words)] = "";
    int file;

    (void)setenv("TMPDIR", folder, 1);
    (void)refuse_files_without_a_name(); /* where filters are not allowed the rest is still true */
    file = file_open_nameless();
    return file >= 0 && fstat(file, &info) == 0 && info.st_nlink == 0 &&
           (info.st_mode & 0777) == 0600 && file_write_all(file, text_from(words)) &&
           pread(file, got, sizeof(got), 0) == (ssize_t)strlen(words) && strcmp(got, words) == 0;
}

static void what_is_kept_for_a_while_has_no_name_in_any_file_system(void **state)
{
    char folder[] = "/tmp/qm-nameless-XXXXXX";
    int status = 0;
    pid_t child;

    (void)state;
    assert_non_null(mkdtemp(folder));
    child = fork();
    if (child == 0)
        _exit(is_kept_without_a_name(folder) ? EXIT_SUCCESS : EXIT_FAILURE);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(rmdir(folder), 0);
    (void)setenv("TMPDIR", folder, 1); /* which is gone */
    assert_int_equal(file_open_nameless(), -1);
    (void)setenv("TMPDIR", "", 1);
    status = file_open_nameless();
    assert_true(status >= 0);
    (void)close(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_by_its_owner_and_by_whoever_is_in_its_group),
        cmocka_unit_test(a_user_is_known_with_his_groups),
        cmocka_unit_test(others_enter_a_folder_whatever_the_umask),
        cmocka_unit_test(no_file_takes_the_place_of_a_closed_stream),
        cmocka_unit_test(what_is_kept_for_a_while_has_no_name_in_any_file_system),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
