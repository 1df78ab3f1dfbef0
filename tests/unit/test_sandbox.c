/* SPDX-License-Identifier: Apache-2.0 */
/* Input files out of a submitter's sandbox: of both kinds of BOINC's web pages, and never anything
 * else. */
#include "tests/support/folder.h"
#include "tests/support/test.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/project/hierarchy.h"
#include "server/submit/sandbox.h"
#include "server/submit/stage.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

#define HELLO      "5d41402abc4b2a76b9719d911017c592" /* MD5 of "hello", as is the folder 340 */
#define HELLO_LINK "sb 5 " HELLO
enum { ADA = 7, BOB = 8, NOBODY = 65534 };

struct fixture {
    struct arena *arena;
    char dir[64];
    struct config config;
    struct failure failure;
};

static const char *path_of(struct fixture *fixture, const char *name)
{
    return text_string(fixture->arena, text_print(fixture->arena, "%s/%s", fixture->dir, name));
}

static void make_folder(struct fixture *fixture, const char *name)
{
    assert_int_equal(mkdir(path_of(fixture, name), 0755), 0);
}

static void write_file(struct fixture *fixture, const char *name, const char *content)
{
    assert_status(STATUS_OK, file_write(path_of(fixture, name), text_from(content), 0644, NULL));
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    (void)snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/qm-sandbox-XXXXXX");
    if (mkdtemp(fixture->dir) == NULL)
        return -1;
    fixture->arena = arena_create(64 << 20);
    fixture->config.project_dir_path = text_from(fixture->dir);
    fixture->config.download_dir = text_print(fixture->arena, "%s/download", fixture->dir);
    fixture->config.uldl_dir_fanout = 1024;
    make_folder(fixture, "download");
    make_folder(fixture, "sandbox");
    make_folder(fixture, "sandbox/7");
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    (void)test_folder_remove(fixture->dir);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static size_t files_seen;

static int count_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)path, (void)info, (void)where;
    files_seen += kind == FTW_F;
    return 0;
}

static size_t files_in(struct fixture *fixture, const char *name)
{
    files_seen = 0;
    assert_int_equal(nftw(path_of(fixture, name), count_one, 8, FTW_PHYS), 0);
    return files_seen;
}

/* By a stage of its own, which ends as that of a call that failed. */
static enum status try_file(struct fixture *fixture, int64_t userid, struct text name)
{
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    struct job_file file;
    enum status status;

    fixture->failure = (struct failure){.status = STATUS_OK};
    status = stage_sandbox(stage, userid, name, &file, &fixture->failure);
    stage_end(stage, false);
    return status;
}

static void assert_refused(struct fixture *fixture, int64_t userid, struct text name,
                           enum status wanted, const char *words)
{
    size_t before = files_in(fixture, "download");

    assert_status(wanted, try_file(fixture, userid, name));
    if (strstr(fixture->failure.text, words) == NULL)
        fail_msg("\"%s\" is told, without \"%s\"", fixture->failure.text, words);
    assert_int_equal(files_in(fixture, "download"), before);
}

static void assert_taken(struct fixture *fixture, const char *name, const char *content)
{
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    struct text there;
    struct job_file file;

    assert_status(STATUS_OK, stage_sandbox(stage, ADA, text_from(name), &file, &fixture->failure));
    assert_int_equal(file.bytes, strlen(content));
    assert_status(
        STATUS_OK,
        file_read(fixture->arena,
                  path_of(fixture, text_string(fixture->arena,
                                               hierarchy_path(fixture->arena, TEXT("download"),
                                                              file.name, 1024))),
                  1000, &there, &fixture->failure));
    assert_text(there, content);
    stage_end(stage, true);
}

/* --- what is taken ---------------------------------------------------------------------------- */

static void a_file_is_named_by_its_content(void **state)
{
    struct fixture *fixture = *state;
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    struct job_file file;

    write_file(fixture, "sandbox/7/a b.txt", "hello");
    write_file(fixture, "sandbox/7/same", "hello");
    for (int i = 0; i < 2; i++) {
        assert_status(STATUS_OK,
                      stage_sandbox(stage, ADA, TEXT("a b.txt"), &file, &fixture->failure));
        assert_text(file.name, "jf_" HELLO);
        assert_string_equal(file.md5, HELLO);
        assert_i64(file.bytes, 5);
        write_file(fixture, "sandbox/7/a b.txt", "other"); /* not of the jobs of this call */
    }
    assert_status(STATUS_OK, stage_sandbox(stage, ADA, TEXT("same"), &file, &fixture->failure));
    assert_text(file.name, "jf_" HELLO);
    assert_status(STATUS_OK, stage_content(stage, TEXT("hello"), &file, &fixture->failure));
    assert_int_equal(stage_copied(stage), 1);
    stage_end(stage, true);
    assert_int_equal(access(path_of(fixture, "download/340/jf_" HELLO), R_OK), 0);
    assert_taken(fixture, "a b.txt", "other");
    write_file(fixture, "sandbox/7/empty", "");
    assert_taken(fixture, "empty", "");
}

static void another_folder_may_be_configured(void **state)
{
    struct fixture *fixture = *state;

    write_file(fixture, "sandbox/7/a", "hello");
    make_folder(fixture, "elsewhere");
    make_folder(fixture, "elsewhere/7");
    write_file(fixture, "elsewhere/7/a", "there");
    assert_taken(fixture, "a", "hello");
    fixture->config.sandbox_dir = TEXT("elsewhere"); /* from the project's folder */
    assert_taken(fixture, "a", "there");
    fixture->config.sandbox_dir = text_print(fixture->arena, "%s/sandbox", fixture->dir);
    assert_taken(fixture, "a", "hello");
}

static void a_link_of_former_years_leads_to_the_content(void **state)
{
    struct fixture *fixture = *state;
    char folder[HIERARCHY_FOLDER_SIZE];
    const char *content;

    hierarchy_folder(TEXT("sb_7_" HELLO), 1024, folder);
    make_folder(fixture,
                text_string(fixture->arena, text_print(fixture->arena, "download/%s", folder)));
    content =
        text_string(fixture->arena, text_print(fixture->arena, "download/%s/sb_7_" HELLO, folder));
    write_file(fixture, "sandbox/7/a", HELLO_LINK);
    assert_refused(fixture, ADA, TEXT("a"), STATUS_NOT_FOUND, "content that is not there");
    write_file(fixture, content, "hell");
    assert_refused(fixture, ADA, TEXT("a"), STATUS_NOT_FOUND, "another size");
    write_file(fixture, content, "jello");
    assert_refused(fixture, ADA, TEXT("a"), STATUS_INVALID, "not the one that was put there");
    write_file(fixture, content, "hello");
    assert_taken(fixture, "a", "hello");
    /* What belongs to another is not reached by it, nor what is only called so. */
    make_folder(fixture, "sandbox/8");
    write_file(fixture, "sandbox/8/a", HELLO_LINK);
    assert_refused(fixture, BOB, TEXT("a"), STATUS_NOT_FOUND, "content that is not there");
    assert_int_equal(unlink(path_of(fixture, content)), 0);
    write_file(fixture, "outside", "hello");
    assert_int_equal(symlink(path_of(fixture, "outside"), path_of(fixture, content)), 0);
    assert_refused(fixture, ADA, TEXT("a"), STATUS_NOT_FOUND, "content that is not there");
    /* Where newer pages are, it is a text like any other. */
    make_folder(fixture, "sandbox/7/.md5");
    assert_taken(fixture, "a", HELLO_LINK);
}

static void only_a_whole_link_is_one(void **state)
{
    static const struct {
        const char *entry;
        int64_t bytes; /* -1: it is none */
    } cases[] = {{HELLO_LINK, 5},
                 {HELLO_LINK "\n", 5},
                 {"sb 0 d41d8cd98f00b204e9800998ecf8427e", 0},
                 {"sb 9223372036854775807 " HELLO, INT64_MAX},
                 {"sb 9223372036854775808 " HELLO, -1},
                 {HELLO_LINK "\n\n", -1},
                 {HELLO_LINK " ", -1},
                 {" " HELLO_LINK, -1},
                 {"sb  5 " HELLO, -1},
                 {"sb -5 " HELLO, -1},
                 {"sb +5 " HELLO, -1},
                 {"sb 5e1 " HELLO, -1},
                 {"sb " HELLO, -1},
                 {"sb 5 5d41402abc4b2a76b9719d911017c59", -1},
                 {"sb 5 5D41402ABC4B2A76B9719D911017C592", -1},
                 {"sb 5 ../../../../../../../../etc/passwd", -1},
                 {"SB 5 " HELLO, -1},
                 {"sb 5", -1},
                 {"sb ", -1},
                 {"", -1}};
    struct sandbox_link link;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool is_one = sandbox_link_read(text_from(cases[i].entry), &link);

        if (is_one != (cases[i].bytes >= 0))
            fail_msg("\"%s\" is %sa link", cases[i].entry, is_one ? "" : "not ");
        if (is_one)
            assert_i64(link.bytes, cases[i].bytes);
    }
}

/* --- what is not ------------------------------------------------------------------------------ */

static void names_are_one_plain_component(void **state)
{
    static char long_name[SANDBOX_NAME_MAX + 2];
    const struct text names[] = {TEXT("../8/secret"),
                                 TEXT(".."),
                                 TEXT("."),
                                 TEXT(".md5"),
                                 TEXT(".hidden"),
                                 TEXT("/etc/passwd"),
                                 TEXT("a/b"),
                                 TEXT("a/"),
                                 TEXT(""),
                                 TEXT("a\nb"),
                                 TEXT("a\0b"),
                                 TEXT("a\x7f"),
                                 {long_name, SANDBOX_NAME_MAX + 1}};
    struct fixture *fixture = *state;

    memset(long_name, 'x', SANDBOX_NAME_MAX + 1);
    make_folder(fixture, "sandbox/8");
    write_file(fixture, "sandbox/8/secret", "of another");
    make_folder(fixture, "sandbox/7/a");
    write_file(fixture, "sandbox/7/a/b", "below");
    write_file(fixture, "sandbox/7/.hidden", "hidden");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_refused(fixture, ADA, names[i], STATUS_INVALID, "names have 1 to 255 bytes");
    assert_refused(fixture, ADA, text_first(text_from(long_name), SANDBOX_NAME_MAX),
                   STATUS_NOT_FOUND, "there is none");
}

static void what_is_no_plain_file_is_not_read(void **state)
{
    static const char *const names[] = {"link", "dangling", "folder", "pipe", "self"};
    struct fixture *fixture = *state;

    write_file(fixture, "outside", "secret");
    assert_int_equal(symlink(path_of(fixture, "outside"), path_of(fixture, "sandbox/7/link")), 0);
    assert_int_equal(symlink("/nothing", path_of(fixture, "sandbox/7/dangling")), 0);
    assert_int_equal(symlink("self", path_of(fixture, "sandbox/7/self")), 0);
    make_folder(fixture, "sandbox/7/folder");
    assert_int_equal(mkfifo(path_of(fixture, "sandbox/7/pipe"), 0644), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_refused(fixture, ADA, text_from(names[i]), STATUS_INVALID, "not a plain file");
    make_folder(fixture, "elsewhere");
    write_file(fixture, "elsewhere/a", "secret");
    assert_int_equal(symlink(path_of(fixture, "elsewhere"), path_of(fixture, "sandbox/8")), 0);
    assert_refused(fixture, BOB, TEXT("a"), STATUS_INVALID, "not a plain file");
}

static void what_is_missing_is_told(void **state)
{
    struct fixture *fixture = *state;

    assert_refused(fixture, ADA, TEXT("a"), STATUS_NOT_FOUND,
                   "\"a\" of the sandbox: there is none");
    assert_refused(fixture, BOB, TEXT("a"), STATUS_NOT_FOUND, "you have no sandbox");
    fixture->config.sandbox_dir = TEXT("/nothing/here");
    assert_refused(fixture, ADA, TEXT("a"), STATUS_NOT_FOUND, "the project has no sandboxes");
    fixture->config.download_dir = NO_TEXT;
    assert_status(STATUS_INVALID, try_file(fixture, ADA, TEXT("a")));
}

/* Nor may root, as somebody else. */
static void what_may_not_be_read_is_told_with_the_right_that_is_needed(void **state)
{
    static const char *const closed[] = {"sandbox/7/a", "sandbox/7", "sandbox"};
    struct fixture *fixture = *state;
    bool is_root = geteuid() == 0;

    write_file(fixture, "sandbox/7/a", "hello");
    assert_int_equal(chmod(fixture->dir, 0755), 0);
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        const char *path = path_of(fixture, closed[i]);
        struct sandbox_file file;

        fixture->failure = (struct failure){.status = STATUS_OK};
        assert_int_equal(chmod(path, 0), 0);
        if (is_root)
            assert_int_equal(seteuid(NOBODY), 0);
        assert_status(STATUS_IO, sandbox_open(fixture->arena, &fixture->config, ADA, TEXT("a"),
                                              &file, &fixture->failure));
        if (is_root)
            assert_int_equal(seteuid(0), 0);
        assert_non_null(strstr(fixture->failure.text, "needs the right to enter sandbox_dir"));
        assert_null(strstr(fixture->failure.text, fixture->dir)); /* which is told to submitters */
        assert_int_equal(chmod(path, 0755), 0);
    }
}

/* --- what changes ----------------------------------------------------------------------------- */

enum { PIECE = 64 * 1024, PIECES = 4 };

struct changing {
    const char *path;
    int piece; /* behind which it happens, of both readings */
    int seen;
    int64_t length; /* that it gets then; -1: it has as many bytes as before, but others */
};

static bool change(void *context)
{
    static const struct timespec long_ago[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct changing *changing = context;

    if (++changing->seen != changing->piece)
        return false;
    if (changing->length >= 0) {
        assert_int_equal(truncate(changing->path, changing->length), 0);
    } else {
        int file = open(changing->path, O_WRONLY | O_CLOEXEC);

        assert_int_equal(pwrite(file, "other", 5, (PIECES - 1) * (off_t)PIECE), 5);
        assert_int_equal(close(file), 0);
    }
    /* However coarse the clock of the file system is; the second reading goes by what is read. */
    if (changing->piece <= PIECES)
        assert_int_equal(utimensat(AT_FDCWD, changing->path, long_ago, 0), 0);
    return false;
}

static void a_file_that_changes_is_refused(void **state)
{
    static char content[PIECES * PIECE + 1];
    static const int64_t lengths[] = {0, PIECE, PIECES * PIECE - 1, PIECES * PIECE + 1, -1};
    struct fixture *fixture = *state;

    memset(content, 'x', sizeof(content) - 1);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        for (int piece = 1; piece < 2 * PIECES; piece++) {
            struct changing changing = {
                .path = path_of(fixture, "sandbox/7/a"), .piece = piece, .length = lengths[i]};
            struct stage *stage = stage_create(fixture->arena, &fixture->config);
            const struct file_watch watch = {change, &changing};
            struct job_file file;

            fixture->failure = (struct failure){.status = STATUS_OK};
            write_file(fixture, "sandbox/7/a", content);
            stage_watch(stage, &watch);
            assert_status(STATUS_INVALID,
                          stage_sandbox(stage, ADA, TEXT("a"), &file, &fixture->failure));
            assert_non_null(strstr(fixture->failure.text, "changed while it was read"));
            assert_non_null(strstr(fixture->failure.text, "\"a\" of the sandbox"));
            stage_end(stage, true);
            assert_int_equal(files_in(fixture, "download"), 0);
        }
}

static bool end_at_once(void *context)
{
    (void)context;
    return true;
}

static void who_waits_can_end_it(void **state)
{
    static const struct file_watch watch = {end_at_once, NULL};
    struct fixture *fixture = *state;
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    struct job_file file;

    write_file(fixture, "sandbox/7/a", "hello");
    stage_watch(stage, &watch);
    assert_status(STATUS_IO, stage_sandbox(stage, ADA, TEXT("a"), &file, &fixture->failure));
    stage_end(stage, true);
    assert_int_equal(files_in(fixture, "download"), 0);
}

static void a_disk_is_not_filled(void **state)
{
    struct fixture *fixture = *state;
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    struct job_file file;

    write_file(fixture, "sandbox/7/a", "hello");
    fixture->config.upload_min_free_gb = 1e12;
    assert_refused(fixture, ADA, TEXT("a"), STATUS_IO, "disk is full");
    fixture->config.upload_min_free_gb = 0;
    assert_taken(fixture, "a", "hello");
    fixture->config.upload_min_free_gb = 1e12;
    assert_taken(fixture, "a", "hello"); /* nothing comes there: it is there */
    assert_status(STATUS_IO, stage_content(stage, TEXT("given inline"), &file, &fixture->failure));
    assert_non_null(strstr(fixture->failure.text, "disk is full"));
    stage_end(stage, true);
    assert_int_equal(files_in(fixture, "download"), 1);
}

/* A place that is made of the content has that content. */
static void another_content_in_its_place_is_told(void **state)
{
    struct fixture *fixture = *state;

    write_file(fixture, "sandbox/7/a", "hello");
    make_folder(fixture, "download/340");
    write_file(fixture, "download/340/jf_" HELLO, "jello");
    assert_refused(fixture, ADA, TEXT("a"), STATUS_INVALID, "exists with different content");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_file_is_named_by_its_content),
        CASE(another_folder_may_be_configured),
        CASE(a_link_of_former_years_leads_to_the_content),
        CASE(only_a_whole_link_is_one),
        CASE(names_are_one_plain_component),
        CASE(what_is_no_plain_file_is_not_read),
        CASE(what_is_missing_is_told),
        CASE(what_may_not_be_read_is_told_with_the_right_that_is_needed),
        CASE(a_file_that_changes_is_refused),
        CASE(who_waits_can_end_it),
        CASE(a_disk_is_not_filled),
        CASE(another_content_in_its_place_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
