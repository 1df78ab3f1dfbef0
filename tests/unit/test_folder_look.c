/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of the fan-out as it is found, and files that are deleted only as they were found. */
#include "server/submit/folder_look.h"

#include "tests/support/test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

static char root_path[PATH_MAX];
static int root;

static int make_root(void **state)
{
    (void)state;
    snprintf(root_path, sizeof(root_path), "/tmp/test_folder_look.XXXXXX");
    if (mkdtemp(root_path) == NULL)
        return -1;
    root = folder_look_open(root_path);
    return root < 0 ? -1 : mkdirat(root, "3f", 0700);
}

static int remove_root(void **state)
{
    static const char *const names[] = {"3f/a", "3f/b", "3f/.hidden", "3f", "a", "1"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (unlinkat(root, names[i], 0) != 0)
            (void)unlinkat(root, names[i], AT_REMOVEDIR);
    (void)close(root);
    return rmdir(root_path);
}

static int write_file(const char *name, const char *bytes)
{
    int file = openat(root, name, O_RDWR | O_CREAT | O_TRUNC, 0600);

    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
    return file;
}

static struct stat stat_of(const char *name)
{
    struct stat found;

    assert_int_equal(fstatat(root, name, &found, AT_SYMLINK_NOFOLLOW), 0);
    return found;
}

static bool is_there(const char *name)
{
    return faccessat(root, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void what_was_found_is_deleted(void **state)
{
    struct stat found;

    (void)state;
    close(write_file("3f/a", "x"));
    found = stat_of("3f/a");
    assert_int_equal(folder_look_delete(root, "3f", "a", &found), FOLDER_DELETED);
    assert_false(is_there("3f/a"));
    assert_int_equal(folder_look_delete(root, "3f", "a", &found), FOLDER_CHANGED);
    assert_int_equal(folder_look_delete(root, "40", "a", &found), FOLDER_CHANGED);
}

static void what_changed_meanwhile_stays(void **state)
{
    struct stat found;
    int file;

    (void)state;
    file = write_file("3f/a", "x");
    found = stat_of("3f/a");
    assert_int_equal(write(file, "y", 1), 1);
    close(file);
    assert_int_equal(folder_look_delete(root, "3f", "a", &found), FOLDER_CHANGED);
    found = stat_of("3f/a");
    close(write_file("3f/b", "xy")); /* another one of the same size takes its place */
    assert_int_equal(renameat(root, "3f/b", root, "3f/a"), 0);
    assert_int_equal(folder_look_delete(root, "3f", "a", &found), FOLDER_CHANGED);
    assert_true(is_there("3f/a"));
}

/* BOINC's upload handler locks what it writes to. */
static void what_somebody_writes_to_stays(void **state)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat found;
    int file;

    (void)state;
    file = write_file("3f/a", "x");
    found = stat_of("3f/a");
    assert_int_equal(fcntl(file, F_OFD_SETLK, &lock), 0);
    assert_int_equal(folder_look_delete(root, "3f", "a", &found), FOLDER_CHANGED);
    assert_true(is_there("3f/a"));
    close(file);
    assert_int_equal(folder_look_delete(root, "3f", "a", &found), FOLDER_DELETED);
}

static void no_link_is_followed(void **state)
{
    struct stat found;

    (void)state;
    close(write_file("a", "x"));
    found = stat_of("a");
    assert_int_equal(symlinkat("../a", root, "3f/a"), 0);
    assert_int_equal(folder_look_delete(root, "3f", "a", &found), FOLDER_CHANGED);
    assert_int_equal(symlinkat("3f", root, "1"), 0);
    close(write_file("3f/b", "x"));
    found = stat_of("3f/b");
    assert_int_equal(folder_look_delete(root, "1", "b", &found), FOLDER_CHANGED);
    assert_true(is_there("a") && is_there("3f/b"));
}

struct visits {
    int count;
    mode_t kinds[8];
};

static enum status count_visit(void *context, const struct folder_found *found)
{
    struct visits *visits = context;

    assert_true(visits->count < 8);
    visits->kinds[visits->count++] = found->stat.st_mode & S_IFMT;
    return STATUS_OK;
}

static void all_but_hidden_names_are_visited(void **state)
{
    struct visits visits = {.count = 0};
    struct failure failure = {.status = STATUS_OK};

    (void)state;
    close(write_file("3f/a", "x"));
    close(write_file("3f/.hidden", "x"));
    assert_int_equal(symlinkat("3f", root, "1"), 0);
    assert_int_equal(folder_look(root, 0x3f, 1024, count_visit, &visits, &failure), STATUS_OK);
    assert_int_equal(visits.count, 1);
    assert_int_equal(folder_look(root, 2, 1024, count_visit, &visits, &failure), STATUS_OK);
    assert_int_equal(visits.count, 1); /* there is none */
    assert_int_equal(folder_look(root, 1, 1024, count_visit, &visits, &failure), STATUS_OK);
    assert_int_equal(visits.count, 2);
    assert_int_equal(visits.kinds[1], S_IFLNK);
    assert_int_equal(folder_look(root, 0, 0, count_visit, &visits, &failure), STATUS_OK);
    assert_int_equal(visits.count, 3); /* without fan-out folders are none of its */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_found_is_deleted),        CASE(what_changed_meanwhile_stays),
        CASE(what_somebody_writes_to_stays),    CASE(no_link_is_followed),
        CASE(all_but_hidden_names_are_visited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
