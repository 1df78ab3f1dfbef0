/* SPDX-License-Identifier: Apache-2.0 */
/* Files of uploads in a folder of their own: where they lie, what may not happen to them. */
#include "tests/support/folder.h"
#include "tests/support/test.h"

#include "server/upload/upload_store.h"
#include "tests/support/case_arena.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/project/hierarchy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { NOBODY = 65534 };

static char folder[64];
static struct upload_store *store;

static const char *below(const char *path)
{
    return text_string(case_arena, text_print(case_arena, "%s/%s", folder, path));
}

/* These stand before libc's; the next one fails with its trouble, unless that is 0. */
static int fsync_trouble, fchmod_trouble;

int fsync(int descriptor)
{
    errno = fsync_trouble;
    fsync_trouble = 0;
    return errno != 0 ? -1 : fdatasync(descriptor);
}

int fchmod(int descriptor, mode_t mode)
{
    char path[64];

    errno = fchmod_trouble;
    fchmod_trouble = 0;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    return errno != 0 ? -1 : chmod(path, mode);
}

static void open_store(int64_t fanout)
{
    const struct upload_store_options options = {
        .dir = folder, .fanout = fanout, .initial_mode = 0644, .completed_mode = -1};
    struct failure failure = {0};

    upload_store_close(store);
    store = NULL;
    assert_status(STATUS_OK, upload_store_open(&options, &store, &failure));
}

static int setup(void **state)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/upload_store.XXXXXX");
    if (case_arena_setup(state) != 0 || mkdtemp(folder) == NULL)
        return 1;
    open_store(1024);
    return 0;
}

/* The superuser may open anything: as somebody who has the folder, but not the superuser's rights.
 */
static void become_another(void)
{
    if (getuid() != 0)
        return;
    assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
    assert_int_equal(chown(below(".partial"), NOBODY, NOBODY), 0);
    assert_int_equal(seteuid(NOBODY), 0);
}

static int teardown(void **state)
{
    if (getuid() == 0 && seteuid(0) != 0)
        return 1;
    upload_store_close(store);
    store = NULL;
    (void)test_folder_remove(folder);
    return case_arena_teardown(state);
}

static struct upload_on_disk look(const char *name)
{
    struct upload_on_disk on_disk;

    upload_store_look(store, name, &on_disk);
    return on_disk;
}

static const char *md5_of(const char *content)
{
    char md5[MD5_HEX_SIZE];

    md5_hex(text_from(content), NO_TEXT, md5);
    return text_string(case_arena, text_from(md5));
}

static int begin(const char *name, int64_t offset)
{
    int descriptor = -1;

    assert_int_equal(upload_store_begin(store, name, offset, &descriptor), BEGUN);
    return descriptor;
}

static void add(int descriptor, int64_t at, const char *content)
{
    size_t written;

    assert_true(upload_store_write(descriptor, at, text_from(content), &written));
    assert_int_equal(written, strlen(content));
}

static enum upload_finished put(const char *name, const char *content, const char *md5)
{
    int descriptor = begin(name, 0);
    enum upload_finished finished;

    add(descriptor, 0, content);
    finished = upload_store_finish(store, name, descriptor, (int64_t)strlen(content), md5);
    int reason = errno;
    close(descriptor);
    errno = reason;
    return finished;
}

static void assert_file(const char *path, const char *content)
{
    struct failure failure = {0};
    struct text found;

    if (file_read(case_arena, below(path), 65536, &found, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    assert_text(found, content);
}

static void assert_absent(const char *path)
{
    struct stat info;

    if (lstat(below(path), &info) == 0)
        fail_msg("%s is there", path);
}

static void a_file_goes_where_others_look_for_it(void **state)
{
    static const struct {
        int64_t fanout;
        const char *name, *path;
    } places[] = {{1024, "input", "30a/input"},
                  {1024, "foo_0_0", "12b/foo_0_0"},
                  {1024, "uppercase", "40/uppercase"},
                  {1024, "wu_1_0_r1234567_0", "27a/wu_1_0_r1234567_0"},
                  {10, "input", "6/input"},
                  {0, "input", "input"}};

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        open_store(places[i].fanout);
        assert_i64(look(places[i].name).finished, -1);
        assert_int_equal(put(places[i].name, "abc", md5_of("abc")), FINISHED);
        assert_file(places[i].path, "abc");
        assert_i64(look(places[i].name).finished, 3);
        assert_true(upload_store_confirm(store, places[i].name));
    }
    assert_false(upload_store_confirm(store, "absent"));
}

static void a_file_in_parts_is_the_same_file(void **state)
{
    int descriptor = begin("foo_0_0", 0);

    (void)state;
    add(descriptor, 0, "one ");
    close(descriptor);
    assert_i64(look("foo_0_0").partial, 4);
    assert_i64(look("foo_0_0").finished, -1);
    assert_absent("12b/foo_0_0");
    descriptor = begin("foo_0_0", 3); /* less than is there: the rest is sent again */
    assert_i64(look("foo_0_0").partial, 3);
    add(descriptor, 3, "_two");
    assert_int_equal(upload_store_finish(store, "foo_0_0", descriptor, 7, md5_of("one_two")),
                     FINISHED);
    close(descriptor);
    assert_file("12b/foo_0_0", "one_two");
    assert_absent(".partial/foo_0_0");
}

/* Bytes of another content that lay behind do not stay. */
static void nothing_is_left_of_a_longer_partial_file(void **state)
{
    int descriptor = begin("foo_0_0", 0);

    (void)state;
    add(descriptor, 0, "a much longer one");
    close(descriptor);
    assert_int_equal(put("foo_0_0", "short", ""), FINISHED);
    assert_file("12b/foo_0_0", "short");
}

static void an_offset_beyond_the_end_begins_nothing(void **state)
{
    int descriptor = begin("foo_0_0", 0);

    (void)state;
    add(descriptor, 0, "one ");
    close(descriptor);
    assert_int_equal(upload_store_begin(store, "foo_0_0", 5, &descriptor), BEGUN_TOO_SHORT);
    assert_i64(look("foo_0_0").partial, 4);
    assert_int_equal(upload_store_begin(store, "absent", 5, &descriptor), BEGUN_TOO_SHORT);
    assert_absent(".partial/absent");
}

static void without_its_folder_nothing_begins(void **state)
{
    int descriptor = -1;

    (void)state;
    assert_int_equal(rmdir(below(".partial")), 0);
    assert_int_equal(upload_store_begin(store, "foo_0_0", 0, &descriptor), BEGUN_NOT);
    assert_int_equal(errno, ENOENT);
}

static void a_damaged_file_is_dropped(void **state)
{
    (void)state;
    assert_int_equal(put("foo_0_0", "abc", md5_of("abd")), FINISHED_DAMAGED);
    assert_absent("12b/foo_0_0");
    assert_absent(".partial/foo_0_0");
    assert_int_equal(put("foo_0_0", "abc", md5_of("abc")), FINISHED);
}

/* Its bytes may be in memory alone, where the next try would find them. */
static void what_the_disk_did_not_take_is_not_believed(void **state)
{
    (void)state;
    fsync_trouble = EIO;
    assert_int_equal(put("foo_0_0", "abc", md5_of("abc")), FINISHED_NOT);
    assert_int_equal(errno, EIO);
    assert_i64(look("foo_0_0").partial, -1);
    assert_i64(look("foo_0_0").finished, -1);
    assert_int_equal(put("foo_0_0", "abc", md5_of("abc")), FINISHED);
}

/* Else its client would send the last byte again and again, and it would fail again and again: the
 * permissions of another user's file, say, or a piece that the disk cannot read any more. */
static void what_cannot_be_finished_begins_anew(void **state)
{
    const struct upload_store_options options = {
        .dir = folder, .fanout = 1024, .initial_mode = 0644, .completed_mode = 0444};
    struct failure failure = {0};

    (void)state;
    upload_store_close(store);
    store = NULL;
    assert_status(STATUS_OK, upload_store_open(&options, &store, &failure));
    fchmod_trouble = EPERM;
    assert_int_equal(put("foo_0_0", "abc", md5_of("abc")), FINISHED_NOT);
    assert_int_equal(errno, EPERM);
    assert_i64(look("foo_0_0").partial, -1);
    assert_i64(look("foo_0_0").finished, -1);
    assert_int_equal(put("foo_0_0", "abc", md5_of("abc")), FINISHED);
    assert_file("12b/foo_0_0", "abc");
}

/* But what only its place keeps from being finished is whole, and stays. */
static void what_has_no_place_yet_is_kept(void **state)
{
    (void)state;
    assert_int_equal(symlink("nowhere", below("12b")), 0);
    assert_int_equal(put("foo_0_0", "abc", md5_of("abc")), FINISHED_NOT);
    assert_file(".partial/foo_0_0", "abc");
    assert_int_equal(unlink(below("12b")), 0);
    int again = begin("foo_0_0", 2);
    add(again, 2, "c");
    assert_int_equal(upload_store_finish(store, "foo_0_0", again, 3, md5_of("abc")), FINISHED);
    close(again);
}

static void one_connection_at_a_time_writes_a_file(void **state)
{
    int first = begin("foo_0_0", 0), second = -1;

    (void)state;
    add(first, 0, "first");
    assert_true(look("foo_0_0").is_under_way);
    assert_int_equal(upload_store_begin(store, "foo_0_0", 0, &second), BEGUN_BY_ANOTHER);
    assert_i64(look("foo_0_0").partial, 5); /* and nothing was cut off */
    close(first);
    assert_false(look("foo_0_0").is_under_way);
    close(begin("foo_0_0", 5));
}

static void a_finished_file_is_never_replaced(void **state)
{
    int late = begin("foo_0_0", 0);

    (void)state;
    add(late, 0, "late");
    assert_int_equal(mkdir(below("12b"), 0755), 0);
    int other = open(below("12b/foo_0_0"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(write(other, "first", 5), 5);
    close(other);
    assert_int_equal(upload_store_finish(store, "foo_0_0", late, 4, ""), FINISHED_BEFORE);
    close(late);
    assert_file("12b/foo_0_0", "first");
    assert_absent(".partial/foo_0_0");
}

static void what_was_there_before_may_be_continued(void **state)
{
    static const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

    (void)state;
    assert_int_equal(put("foo_0_0", "abc", ""), FINISHED);
    assert_false(look("foo_0_0").is_older);
    assert_int_equal(utimensat(AT_FDCWD, below("12b/foo_0_0"), long_ago, 0), 0);
    assert_true(look("foo_0_0").is_older);
    assert_true(upload_store_adopt(store, "foo_0_0"));
    assert_absent("12b/foo_0_0");
    assert_i64(look("foo_0_0").partial, 3);
    int rest = begin("foo_0_0", 3);
    add(rest, 3, "def");
    assert_int_equal(upload_store_finish(store, "foo_0_0", rest, 6, md5_of("abcdef")), FINISHED);
    close(rest);
    assert_file("12b/foo_0_0", "abcdef");
    assert_false(upload_store_adopt(store, "absent"));
}

static void what_is_another_users_stays_in_its_place(void **state)
{
    (void)state;
    become_another();
    assert_int_equal(put("foo_0_0", "abc", ""), FINISHED);
    assert_int_equal(chmod(below("12b/foo_0_0"), 0444), 0); /* as if it were */
    assert_false(upload_store_adopt(store, "foo_0_0"));
    assert_int_equal(errno, EACCES);
    assert_file("12b/foo_0_0", "abc");
    assert_absent(".partial/foo_0_0");
}

static void links_are_not_followed(void **state)
{
    char outside[] = "/tmp/upload_outside.XXXXXX";
    int descriptor = -1;

    (void)state;
    assert_non_null(mkdtemp(outside));
    const char *target = text_string(case_arena, text_print(case_arena, "%s/target", outside));
    /* A partial file that is a link. */
    assert_int_equal(symlink(target, below(".partial/foo_0_0")), 0);
    assert_non_null(look("foo_0_0").trouble);
    assert_int_equal(upload_store_begin(store, "foo_0_0", 0, &descriptor), BEGUN_NOT);
    assert_int_equal(unlink(below(".partial/foo_0_0")), 0);
    /* A finished one, which is not written over either. */
    assert_int_equal(mkdir(below("12b"), 0755), 0);
    assert_int_equal(symlink(target, below("12b/foo_0_0")), 0);
    assert_non_null(look("foo_0_0").trouble);
    assert_int_equal(put("foo_0_0", "abc", ""), FINISHED_BEFORE);
    assert_int_equal(access(target, F_OK), -1);
    /* A folder. */
    assert_int_equal(unlink(below("12b/foo_0_0")), 0);
    assert_int_equal(rmdir(below("12b")), 0);
    assert_int_equal(symlink(outside, below("12b")), 0);
    assert_non_null(look("foo_0_0").trouble);
    assert_int_equal(put("foo_0_0", "abc", ""), FINISHED_NOT);
    assert_int_equal(rmdir(outside), 0); /* still empty */
}

static void what_is_no_file_is_left_alone(void **state)
{
    int descriptor = -1;

    (void)state;
    assert_int_equal(mkfifo(below(".partial/foo_0_0"), 0600), 0);
    assert_non_null(look("foo_0_0").trouble);
    assert_int_equal(upload_store_begin(store, "foo_0_0", 0, &descriptor), BEGUN_NOT);
    assert_int_equal(upload_store_sweep(store, -1), 0);
}

static void only_abandoned_partial_files_are_swept(void **state)
{
    static const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    int locked = begin("locked", 0);

    (void)state;
    assert_int_equal(put("finished", "abc", ""), FINISHED);
    close(begin("young", 0));
    close(begin("old", 0));
    assert_int_equal(utimensat(AT_FDCWD, below(".partial/old"), long_ago, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, below(".partial/locked"), long_ago, 0), 0);
    assert_int_equal(upload_store_sweep(store, 86400), 1);
    assert_absent(".partial/old");
    assert_file(".partial/young", "");
    assert_file(".partial/locked", "");
    assert_i64(look("finished").finished, 3);
    close(locked);
}

static void permissions_are_the_projects(void **state)
{
    const struct upload_store_options options = {
        .dir = folder, .fanout = 0, .initial_mode = 0640, .completed_mode = 0444};
    struct failure failure = {0};
    struct stat info;

    (void)state;
    upload_store_close(store);
    store = NULL;
    assert_status(STATUS_OK, upload_store_open(&options, &store, &failure));
    close(begin("foo", 0));
    assert_int_equal(stat(below(".partial/foo"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(put("foo", "abc", ""), FINISHED);
    assert_int_equal(stat(below("foo"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0444);
}

/* The process died between giving the last permissions and moving the file. */
static void last_permissions_do_not_keep_a_file_from_going_on(void **state)
{
    static const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

    (void)state;
    become_another();
    int descriptor = begin("foo_0_0", 0);
    add(descriptor, 0, "abc");
    assert_int_equal(fchmod(descriptor, 0444), 0);
    close(descriptor);
    descriptor = begin("foo_0_0", 2);
    add(descriptor, 2, "c");
    assert_int_equal(upload_store_finish(store, "foo_0_0", descriptor, 3, md5_of("abc")), FINISHED);
    close(descriptor);
    descriptor = begin("old", 0);
    assert_int_equal(fchmod(descriptor, 0444), 0);
    close(descriptor);
    assert_int_equal(utimensat(AT_FDCWD, below(".partial/old"), long_ago, 0), 0);
    assert_int_equal(upload_store_sweep(store, 86400), 1);
}

static void a_folder_that_is_not_there_is_no_store(void **state)
{
    const struct upload_store_options options = {.dir = "/nowhere/at/all"};
    struct upload_store *none = NULL;
    struct failure failure = {0};

    (void)state;
    assert_status(STATUS_IO, upload_store_open(&options, &none, &failure));
    assert_null(none);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_file_goes_where_others_look_for_it),
        CASE(a_file_in_parts_is_the_same_file),
        CASE(nothing_is_left_of_a_longer_partial_file),
        CASE(an_offset_beyond_the_end_begins_nothing),
        CASE(without_its_folder_nothing_begins),
        CASE(a_damaged_file_is_dropped),
        CASE(what_the_disk_did_not_take_is_not_believed),
        CASE(what_cannot_be_finished_begins_anew),
        CASE(what_has_no_place_yet_is_kept),
        CASE(one_connection_at_a_time_writes_a_file),
        CASE(a_finished_file_is_never_replaced),
        CASE(what_was_there_before_may_be_continued),
        CASE(what_is_another_users_stays_in_its_place),
        CASE(links_are_not_followed),
        CASE(what_is_no_file_is_left_alone),
        CASE(only_abandoned_partial_files_are_swept),
        CASE(permissions_are_the_projects),
        CASE(last_permissions_do_not_keep_a_file_from_going_on),
        CASE(a_folder_that_is_not_there_is_no_store),
    };

    (void)umask(022);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
