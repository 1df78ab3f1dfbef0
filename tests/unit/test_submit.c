/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, versions, staging, job lines, the master page: everything of server/submit/ that needs
 * files but no database. */
#include "tests/support/folder.h"
#include "tests/support/test.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/xml.h"
#include "server/project/keys.h"
#include "server/submit/inputs_lock.h"
#include "server/submit/job_line.h"
#include "server/submit/new_project.h"
#include "server/submit/placed_list.h"
#include "server/submit/stage.h"
#include "server/submit/version_document.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

struct fixture {
    struct arena *arena;
    char dir[64];
    struct config config;
    struct failure failure;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    snprintf(fixture->dir, sizeof fixture->dir, "/tmp/qm-submit-XXXXXX");
    if (mkdtemp(fixture->dir) == NULL)
        return -1;
    fixture->arena = arena_create(64 << 20);
    fixture->config.project_dir_path = text_from(fixture->dir);
    fixture->config.download_dir = text_print(fixture->arena, "%s/download", fixture->dir);
    fixture->config.download_url = TEXT("http://x/download");
    *state = fixture;
    return mkdir(text_string(fixture->arena, fixture->config.download_dir), 0755);
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    (void)test_folder_remove(fixture->dir);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static const char *write_file(struct fixture *fixture, const char *name, const char *content)
{
    const char *path =
        text_string(fixture->arena, text_print(fixture->arena, "%s/%s", fixture->dir, name));
    assert_status(STATUS_OK, file_write(path, text_from(content), 0644, &fixture->failure));
    return path;
}

/* --- keys ---------------------------------------------------------------------------------- */

static struct text read_key(struct fixture *fixture, const char *name)
{
    struct text key;
    assert_status(STATUS_OK,
                  key_read(fixture->arena, &fixture->config, name, &key, &fixture->failure));
    return key;
}

static void keys_are_made_once(void **state)
{
    struct fixture *fixture = *state;
    struct stat info;
    bool made[2];
    assert_status(STATUS_OK,
                  keys_create(fixture->arena, &fixture->config, made, &fixture->failure));
    assert_true(made[0] && made[1]);
    struct text before = read_key(fixture, "code_sign_private");
    assert_status(STATUS_OK,
                  keys_create(fixture->arena, &fixture->config, made, &fixture->failure));
    assert_false(made[0] || made[1]);
    assert_true(text_equal(before, read_key(fixture, "code_sign_private")));
    assert_int_equal(stat(key_path(fixture->arena, &fixture->config, "upload_private"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_status(STATUS_OK,
                  key_check_pair(fixture->arena, &fixture->config, "upload", &fixture->failure));
}

static void half_a_pair_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    bool made[2];
    assert_status(STATUS_OK,
                  keys_create(fixture->arena, &fixture->config, made, &fixture->failure));
    assert_int_equal(unlink(key_path(fixture->arena, &fixture->config, "upload_public")), 0);
    assert_status(STATUS_INVALID,
                  keys_create(fixture->arena, &fixture->config, made, &fixture->failure));
    assert_non_null(strstr(fixture->failure.text, "private half of the pair upload"));
}

static void halves_of_two_pairs_do_not_match(void **state)
{
    struct fixture *fixture = *state;
    bool made[2];
    assert_status(STATUS_OK,
                  keys_create(fixture->arena, &fixture->config, made, &fixture->failure));
    assert_status(STATUS_OK,
                  file_write(key_path(fixture->arena, &fixture->config, "upload_public"),
                             read_key(fixture, "code_sign_public"), 0644, &fixture->failure));
    assert_status(STATUS_INVALID, key_check_pair(fixture->arena, &fixture->config, "upload", NULL));
}

static void assert_signed(struct fixture *fixture, struct text public_key, struct text text,
                          const char *signature)
{
    char md5[MD5_HEX_SIZE];
    md5_hex(text, NO_TEXT, md5);
    assert_status(STATUS_OK, rsa_verify_md5(public_key, md5, read_key(fixture, signature), NULL));
}

/* After two changes, clients with the first key and clients with the second can both go on. */
static void every_old_key_signs_the_newest(void **state)
{
    struct fixture *fixture = *state;
    struct key_change change;
    struct text keys[3];
    bool made[2];
    assert_status(STATUS_OK,
                  keys_create(fixture->arena, &fixture->config, made, &fixture->failure));
    keys[0] = read_key(fixture, "code_sign_public");
    for (int i = 0; i < 2; i++) {
        assert_status(STATUS_OK, keys_change_prepare(fixture->arena, &fixture->config, &change,
                                                     &fixture->failure));
        assert_int_equal(change.number, i);
        assert_status(STATUS_OK, keys_change_write(fixture->arena, &fixture->config, &change,
                                                   &fixture->failure));
        keys[i + 1] = read_key(fixture, "code_sign_public");
        assert_false(text_equal(keys[i], keys[i + 1]));
    }
    assert_true(text_equal(read_key(fixture, "old_key_0"), keys[0]));
    assert_true(text_equal(read_key(fixture, "old_key_1"), keys[1]));
    assert_signed(fixture, keys[0], keys[2], "signature_0");
    assert_signed(fixture, keys[0], text_trim(keys[2]), "signature_stripped_0");
    assert_signed(fixture, keys[1], keys[2], "signature_1");
    assert_signed(fixture, keys[1], text_trim(keys[2]), "signature_stripped_1");
}

/* A folder stands where a signature is to be written. */
static void a_change_that_fails_leaves_the_keys_as_they_were(void **state)
{
    static const char *const left[] = {"old_private_1", "old_key_1", "signature_1",
                                       "signature_stripped_1"};
    struct fixture *fixture = *state;
    struct arena *arena = fixture->arena;
    struct key_change change;
    struct text former;
    bool made[2];
    assert_status(STATUS_OK, keys_create(arena, &fixture->config, made, &fixture->failure));
    former = read_key(fixture, "code_sign_public");
    for (int i = 0; i < 2; i++) {
        const char *in_the_way = key_path(arena, &fixture->config, "signature_stripped_0");
        assert_status(STATUS_OK,
                      keys_change_prepare(arena, &fixture->config, &change, &fixture->failure));
        assert_int_equal(change.number, i);
        if (i == 1)
            assert_true(unlink(in_the_way) == 0 && mkdir(in_the_way, 0755) == 0);
        assert_status(i == 1 ? STATUS_IO : STATUS_OK,
                      keys_change_write(arena, &fixture->config, &change, &fixture->failure));
    }
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        assert_int_not_equal(access(key_path(arena, &fixture->config, left[i]), F_OK), 0);
    assert_status(STATUS_OK, key_check_pair(arena, &fixture->config, "code_sign", NULL));
    assert_signed(fixture, former, read_key(fixture, "code_sign_public"), "signature_0");
}

/* As where the programs could not be signed by the new one. */
static void a_change_that_is_undone_leaves_the_keys_as_they_were(void **state)
{
    static const char *const left[] = {"old_private_1", "old_key_1", "signature_1",
                                       "signature_stripped_1"};
    struct fixture *fixture = *state;
    struct arena *arena = fixture->arena;
    struct key_change change;
    struct text former = NO_TEXT;
    bool made[2];
    assert_status(STATUS_OK, keys_create(arena, &fixture->config, made, &fixture->failure));
    for (int i = 0; i < 2; i++) {
        former = read_key(fixture, "code_sign_public");
        assert_status(STATUS_OK,
                      keys_change_prepare(arena, &fixture->config, &change, &fixture->failure));
        assert_status(STATUS_OK,
                      keys_change_write(arena, &fixture->config, &change, &fixture->failure));
    }
    assert_status(STATUS_OK, keys_change_undo(arena, &fixture->config, &change, &fixture->failure));
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        assert_int_not_equal(access(key_path(arena, &fixture->config, left[i]), F_OK), 0);
    assert_true(text_equal(read_key(fixture, "code_sign_public"), former));
    assert_status(STATUS_OK, key_check_pair(arena, &fixture->config, "code_sign", NULL));
    assert_signed(fixture, read_key(fixture, "old_key_0"), former, "signature_0");
}

/* A folder stands where the public half is to be written. */
static void half_a_pair_is_not_left(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = fixture->arena;
    const char *public_path = key_path(arena, &fixture->config, "code_sign_public");
    struct key_change change;
    struct text former;
    bool made[2];
    assert_status(STATUS_OK, keys_create(arena, &fixture->config, made, &fixture->failure));
    former = read_key(fixture, "code_sign_private");
    assert_status(STATUS_OK,
                  keys_change_prepare(arena, &fixture->config, &change, &fixture->failure));
    assert_true(unlink(public_path) == 0 && mkdir(public_path, 0755) == 0);
    assert_status(STATUS_IO,
                  keys_change_write(arena, &fixture->config, &change, &fixture->failure));
    assert_true(text_equal(read_key(fixture, "code_sign_private"), former));
    assert_int_not_equal(access(key_path(arena, &fixture->config, "old_key_0"), F_OK), 0);
}

/* --- staging ------------------------------------------------------------------------------- */

static void staged_file_is_copied_and_measured(void **state)
{
    struct fixture *fixture = *state;
    struct job_file file;
    const char *path = write_file(fixture, "a", "abc");
    fixture->config.uldl_dir_fanout = 1024;
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    assert_status(STATUS_OK, stage_input(stage, text_from(path), false, &file, &fixture->failure));
    assert_text(file.name, "a");
    assert_string_equal(file.md5, "900150983cd24fb0d6963f7d28e17f72");
    assert_i64(file.bytes, 3);
    const char *target =
        text_string(fixture->arena, text_print(fixture->arena, "%s/download/1b9/a", fixture->dir));
    assert_int_equal(access(target, R_OK), 0);
    stage_end(stage, false); /* nothing came of it: the copy goes */
    assert_int_not_equal(access(target, R_OK), 0);
}

/* Who copies a large file hears of each piece, first of the reading and then of the copying, and
 * may end it: then nothing of it is left. */
static int pieces, pieces_most;

static bool hear_of_piece(void *context)
{
    (void)context;
    return ++pieces > pieces_most;
}

static void a_large_file_is_watched(void **state)
{
    enum { PIECE = 64 * 1024, PIECES = 5 };
    static char content[PIECES * PIECE + 1];
    const struct file_watch watch = {.is_to_end = hear_of_piece};
    struct fixture *fixture = *state;
    struct job_file file;

    memset(content, 'x', sizeof(content) - 1);
    fixture->config.uldl_dir_fanout = 0;
    for (pieces_most = 0; pieces_most <= 2 * PIECES; pieces_most += PIECES / 2) {
        struct stage *stage = stage_create(fixture->arena, &fixture->config);
        const char *path = write_file(fixture, "large", content);
        bool is_done = pieces_most == 2 * PIECES;
        const char *target = text_string(
            fixture->arena, text_print(fixture->arena, "%s/download/large", fixture->dir));

        pieces = 0;
        stage_watch(stage, &watch);
        assert_status(is_done ? STATUS_OK : STATUS_IO,
                      stage_input(stage, text_from(path), false, &file, &fixture->failure));
        assert_int_equal(pieces, is_done ? pieces_most : pieces_most + 1);
        assert_int_equal(access(target, F_OK) == 0, is_done);
        stage_end(stage, false);
    }
}

/* --- what a call leaves that is killed -------------------------------------------------------- */

static enum placed_fate fate;
static char key_heard[64];
static const char *noted;

static enum placed_fate judge_call(void *context, const char *key)
{
    (void)context;
    (void)snprintf(key_heard, sizeof(key_heard), "%s", key);
    return fate;
}

static bool has_row(void *context, struct text place)
{
    (void)context;
    return text_is(text_behind_last(place, '/'), noted);
}

static size_t lists_of(struct fixture *fixture, bool age)
{
    const char *path = text_string(fixture->arena,
                                   text_print(fixture->arena, "%s/download/.placed", fixture->dir));
    const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    DIR *folder = opendir(path);
    const struct dirent *entry;
    size_t count = 0;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (age)
            assert_int_equal(utimensat(dirfd(folder), entry->d_name, old, 0), 0);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

/* A call that copies "content" to NAME, and a second one that finds a file at its place; it dies
 * with the temporary file of a third. */
static void die_in_the_middle(struct fixture *fixture)
{
    struct placed_list *list =
        placed_list_begin(fixture->arena, fixture->config.download_dir, "batch_7");
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    const char *ours = write_file(fixture, "download/ours", "x"),
               *taken = write_file(fixture, "download/taken", "of another");
    int descriptor = open(ours, O_RDONLY | O_CLOEXEC), other = open(taken, O_RDONLY | O_CLOEXEC);
    struct job_file file;

    stage_list(stage, list);
    assert_status(STATUS_OK, stage_content(stage, TEXT("content"), &file, &fixture->failure));
    assert_true(inputs_made(other));
    placed_list_add(list, ours, -1, taken);
    placed_list_add(list, ours, descriptor, taken);
    (void)close(descriptor);
    (void)close(other);
    assert_int_equal(lists_of(fixture, false), 1);
    placed_list_end(list, false); /* as the end of the process does */
    stage_end(stage, true);
}

static bool lies(struct fixture *fixture, const char *name)
{
    return access(text_string(fixture->arena,
                              text_print(fixture->arena, "%s/download/%s", fixture->dir, name)),
                  F_OK) == 0;
}

static void what_a_killed_call_leaves_is_taken_away(void **state)
{
    static const char name[] = "jf_9a0364b9e99bb480dd25e1f0284c8555";
    static const struct {
        enum placed_fate fate;
        bool is_young, has_row, is_counted_on, list_stays, file_stays;
    } cases[] = {{PLACED_GOES, true, false, false, true, true},
                 {PLACED_WAITS, false, false, false, true, true},
                 {PLACED_STAYS, false, false, false, false, true},
                 {PLACED_GOES, false, true, false, false, true},
                 {PLACED_GOES, false, false, true, false, true},
                 {PLACED_GOES, false, false, false, false, false}};
    struct fixture *fixture = *state;
    const struct placed_judge judge = {judge_call, has_row, fixture};

    fixture->config.uldl_dir_fanout = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *path = text_string(
            fixture->arena, text_print(fixture->arena, "%s/download/%s", fixture->dir, name));

        die_in_the_middle(fixture);
        fate = cases[i].fate;
        noted = cases[i].has_row ? name : "";
        assert_int_equal(lists_of(fixture, !cases[i].is_young), 1);
        if (cases[i].is_counted_on)
            assert_true(inputs_count_on(path));
        placed_lists_clear(fixture->arena, fixture->config.download_dir, 9, &judge);
        assert_int_equal(lists_of(fixture, true), cases[i].list_stays);
        assert_int_equal(lies(fixture, name), cases[i].file_stays);
        assert_int_equal(lies(fixture, "ours"), cases[i].list_stays);
        assert_true(lies(fixture, "taken"));
        fate = PLACED_GOES;
        placed_lists_clear(fixture->arena, fixture->config.download_dir, 9, &judge);
        assert_string_equal(key_heard, "batch_7");
        (void)unlink(path);
    }
}

/* Others may write into the folder, and name what they may not delete. */
static void a_list_of_another_user_is_not_obeyed(void **state)
{
    struct fixture *fixture = *state;
    const struct placed_judge judge = {judge_call, has_row, fixture};
    const char *folder = text_string(
        fixture->arena, text_print(fixture->arena, "%s/download/.placed", fixture->dir));
    const char *path = write_file(fixture, "download/victim", "x"), *list;
    char line[1000];

    (void)snprintf(line, sizeof(line), "0\t%s\t%s\n", path, path);
    assert_true(mkdir(folder, 0775) == 0 || errno == EEXIST);
    list = write_file(fixture, "download/.placed/batch_7.1", line);
    if (geteuid() == 0) /* nobody else can give files away */
        assert_int_equal(chown(list, 1, 1), 0);
    fate = PLACED_GOES;
    assert_int_equal(lists_of(fixture, true), 1);
    placed_lists_clear(fixture->arena, fixture->config.download_dir, 9, &judge);
    assert_int_equal(lies(fixture, "victim"), geteuid() == 0);
    (void)unlink(list);
    (void)unlink(path);
}

/* Nobody takes away what a call that lives has placed, and with its end the list is gone. */
static void a_living_call_keeps_its_files(void **state)
{
    struct fixture *fixture = *state;
    const struct placed_judge judge = {judge_call, has_row, fixture};
    struct placed_list *list =
        placed_list_begin(fixture->arena, fixture->config.download_dir, "files");
    const char *path = write_file(fixture, "download/new", "x");

    fate = PLACED_GOES;
    placed_list_add(list, path, -1, path);
    assert_int_equal(lists_of(fixture, true), 1);
    placed_lists_clear(fixture->arena, fixture->config.download_dir, 9, &judge);
    assert_true(lies(fixture, "new"));
    placed_list_end(list, true);
    assert_int_equal(lists_of(fixture, true), 0);
}

/* As with files that root makes in the folder of somebody else: his service has to clear it. */
static void a_list_of_root_belongs_to_the_owner_of_the_folder(void **state)
{
    enum { OWNER = 4711 };
    struct fixture *fixture = *state;
    const char *folder =
        text_string(fixture->arena, text_print(fixture->arena, "%s/download", fixture->dir));
    struct placed_list *list;
    struct stat info;
    DIR *lists;
    const struct dirent *entry;

    if (geteuid() != 0)
        return;
    assert_int_equal(chown(folder, OWNER, OWNER), 0);
    list = placed_list_begin(fixture->arena, fixture->config.download_dir, PLACED_BY_COMMAND);
    placed_list_add(list, "/nothing", -1, "/nothing");
    lists = opendir(text_string(fixture->arena, text_print(fixture->arena, "%s/.placed", folder)));
    assert_non_null(lists);
    while ((entry = readdir(lists)) != NULL)
        if (strcmp(entry->d_name, "..") != 0) {
            assert_int_equal(fstatat(dirfd(lists), entry->d_name, &info, 0), 0);
            assert_int_equal(info.st_uid, OWNER);
        }
    (void)closedir(lists);
    placed_list_end(list, true);
}

/* Which lists wait for whoever deletes input files. */
static void a_list_that_could_be_cleared_is_found(void **state)
{
    struct fixture *fixture = *state;
    struct text folder = fixture->config.download_dir;
    struct placed_list *list = placed_list_begin(fixture->arena, folder, PLACED_BY_COMMAND);

    assert_false(placed_lists_wait(fixture->arena, folder, PLACED_BY_COMMAND));
    placed_list_add(list, "/nothing", -1, "/nothing");
    assert_int_equal(lists_of(fixture, false), 1);
    assert_false(placed_lists_wait(fixture->arena, folder, PLACED_BY_COMMAND)); /* it is young */
    assert_int_equal(lists_of(fixture, true), 1);
    assert_false(placed_lists_wait(fixture->arena, folder, PLACED_BY_COMMAND)); /* it lives */
    placed_list_end(list, false);
    assert_true(placed_lists_wait(fixture->arena, folder, PLACED_BY_COMMAND));
    assert_false(placed_lists_wait(fixture->arena, folder, "batch_7"));
}

static void name_stands_for_one_content(void **state)
{
    struct fixture *fixture = *state;
    struct job_file file;
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    const char *path = write_file(fixture, "a", "abc");
    assert_status(STATUS_OK, stage_input(stage, text_from(path), false, &file, &fixture->failure));
    stage_end(stage, true);
    write_file(fixture, "a", "abd");
    stage = stage_create(fixture->arena, &fixture->config);
    assert_status(STATUS_INVALID,
                  stage_input(stage, text_from(path), false, &file, &fixture->failure));
    assert_non_null(strstr(fixture->failure.text, "different content"));
    /* By name alone it is what lies there. */
    assert_status(STATUS_OK, stage_input(stage, TEXT("a"), false, &file, &fixture->failure));
    assert_string_equal(file.md5, "900150983cd24fb0d6963f7d28e17f72");
    stage_end(stage, false);
    assert_int_equal(access(text_string(fixture->arena,
                                        text_print(fixture->arena, "%s/download/a", fixture->dir)),
                            R_OK),
                     0); /* it was there before */
}

/* One makes jobs and fails; another has found the same file there meanwhile. */
static void a_copy_that_another_counts_on_stays(void **state)
{
    struct fixture *fixture = *state;
    struct job_file file;
    const char *path = write_file(fixture, "a", "abc");
    const char *target =
        text_string(fixture->arena, text_print(fixture->arena, "%s/download/a", fixture->dir));
    for (int is_over = 0; is_over <= 1; is_over++) {
        struct stage *first = stage_create(fixture->arena, &fixture->config);
        struct stage *second = stage_create(fixture->arena, &fixture->config);
        assert_status(STATUS_OK,
                      stage_input(first, text_from(path), false, &file, &fixture->failure));
        assert_status(STATUS_OK, stage_input(second, is_over ? TEXT("a") : text_from(path), false,
                                             &file, &fixture->failure));
        if (is_over)
            stage_end(second, true);
        stage_end(first, false);
        assert_int_equal(access(target, R_OK), 0);
        if (!is_over)
            stage_end(second, true);
        assert_int_equal(access(target, R_OK), 0);
        assert_int_equal(unlink(target), 0);
    }
}

/* Others make jobs meanwhile, but with other files. */
static void a_copy_that_nobody_counts_on_goes(void **state)
{
    struct fixture *fixture = *state;
    struct job_file file;
    const char *path = write_file(fixture, "a", "abc"), *other = write_file(fixture, "b", "abc");
    const char *target =
        text_string(fixture->arena, text_print(fixture->arena, "%s/download/a", fixture->dir));
    struct stage *first = stage_create(fixture->arena, &fixture->config);
    struct stage *second = stage_create(fixture->arena, &fixture->config);

    assert_status(STATUS_OK, stage_input(first, text_from(path), false, &file, &fixture->failure));
    assert_status(STATUS_OK,
                  stage_input(second, text_from(other), false, &file, &fixture->failure));
    stage_end(first, false);
    assert_int_not_equal(access(target, F_OK), 0);
    stage_end(second, true);
}

struct counting {
    const char *path;
    bool counts;
};

static void *count_on(void *argument)
{
    struct counting *counting = argument;

    counting->counts = inputs_count_on(counting->path);
    return NULL;
}

/* One that found the file waits for the one that takes it away. */
static void nobody_counts_on_what_is_taken_away(void **state)
{
    static const struct timespec moment = {.tv_nsec = 100000000};
    struct fixture *fixture = *state;
    struct counting counting = {.path = write_file(fixture, "a", "abc"), .counts = true};
    int lock = open(counting.path, O_RDONLY | O_CLOEXEC);
    pthread_t other;

    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(pthread_create(&other, NULL, count_on, &counting), 0);
    nanosleep(&moment, NULL); /* it will have come as far as the lock */
    assert_int_equal(unlink(counting.path), 0);
    assert_int_equal(close(lock), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_false(counting.counts);
}

static void missing_and_unusable_files(void **state)
{
    struct fixture *fixture = *state;
    struct job_file file;
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    assert_status(STATUS_NOT_FOUND, stage_input(stage, TEXT("none"), false, &file, NULL));
    assert_status(STATUS_INVALID, stage_input(stage, TEXT("/tmp/a b"), false, &file, NULL));
    assert_status(STATUS_INVALID, stage_input(stage, TEXT("/tmp/.."), false, &file, NULL));
    const char *path = write_file(fixture, "z", "abc");
    assert_status(STATUS_NOT_FOUND, stage_input(stage, text_from(path), true, &file, NULL));
    stage_end(stage, false);
}

/* --- versions ------------------------------------------------------------------------------ */

static void version_numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t number; /* 0: refused */
    } cases[] = {{"1.03", 103}, {"1.0", 100}, {"7.20", 720}, {"103", 103}, {"0.01", 1},
                 {"1.", 0},     {"", 0},      {"1.100", 0},  {"-1", 0},    {"1.2.3", 0},
                 {"0", 0},      {"0.0", 0},   {"x", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct failure failure = {.status = STATUS_OK};
        int64_t number = 0;
        enum status status = version_number_read(text_from(cases[i].text), &number, &failure);
        assert_status(cases[i].number != 0 ? STATUS_OK : STATUS_INVALID, status);
        if (status == STATUS_OK)
            assert_i64(number, cases[i].number);
        else
            assert_non_null(strstr(failure.text, "is not a version such as 1.03"));
    }
}

static void a_version_that_may_be_two_is_refused(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    int64_t number = 0;
    (void)state;
    assert_status(STATUS_INVALID, version_number_read(TEXT("0.9"), &number, &failure));
    assert_string_equal(failure.text, "version 0.9 may mean 0.09 or 0.90: write which");
    assert_i64(number, 9);
}

static struct text write_version(struct fixture *fixture, struct text private_key)
{
    struct version_file files[2] = {{.is_main = true}, {.open_name = TEXT("data")}};
    struct stage *stage = stage_create(fixture->arena, &fixture->config);
    struct buffer buffer = buffer_in(fixture->arena);
    static const char *const names[] = {"prog", "table"};
    for (int i = 0; i < 2; i++) {
        const char *path = write_file(fixture, names[i], names[i]);
        assert_status(STATUS_OK,
                      stage_program(stage, path, text_from(names[i]), i == 0, &files[i].file,
                                    &files[i].is_executable, &fixture->failure));
        assert_status(STATUS_OK, rsa_sign_md5(fixture->arena, private_key, files[i].file.md5,
                                              &files[i].signature, &fixture->failure));
    }
    stage_end(stage, true);
    struct version_document version = {.config = &fixture->config,
                                       .app_name = TEXT("demo"),
                                       .version_num = 103,
                                       .needs_network = true,
                                       .files = files,
                                       .file_count = 2};
    assert_status(STATUS_OK, version_document_write(&version, &buffer, &fixture->failure));
    files[1].is_main = true;
    struct buffer unused = buffer_in(fixture->arena);
    assert_status(STATUS_INVALID, version_document_write(&version, &unused, NULL));
    return buffer_text(&buffer);
}

/* The signature of the first file in a document is over the content of "prog". */
static void assert_first_signature(struct text document, struct text public_key, enum status wanted)
{
    char md5[MD5_HEX_SIZE];
    size_t at = text_find(document, TEXT("<file_signature>\n"));
    assert_true(at < document.length);
    struct text rest = {document.at + at + 17, document.length - at - 17};
    struct text signature = text_first(rest, text_find(rest, TEXT("    </file_signature>")));
    md5_hex(TEXT("prog"), NO_TEXT, md5);
    assert_status(wanted, rsa_verify_md5(public_key, md5, signature, NULL));
}

static void version_document(void **state)
{
    struct fixture *fixture = *state;
    struct rsa_key_texts keys;
    struct stat info;
    assert_status(STATUS_OK, rsa_generate(fixture->arena, &keys, &fixture->failure));
    struct text document = write_version(fixture, keys.private_key);
    assert_true(text_starts(document, TEXT("<file_info>\n"
                                           "    <name>prog</name>\n"
                                           "    <url>http://x/download/prog</url>\n"
                                           "    <executable/>\n"
                                           "    <file_signature>\n")));
    assert_true(text_contains(document, TEXT("    </file_signature>\n"
                                             "    <nbytes>5</nbytes>\n"
                                             "</file_info>\n"
                                             "<app_version>\n"
                                             "    <app_name>demo</app_name>\n"
                                             "    <version_num>103</version_num>\n"
                                             "    <file_ref>\n"
                                             "        <file_name>prog</file_name>\n"
                                             "        <main_program/>\n"
                                             "    </file_ref>\n"
                                             "    <file_ref>\n"
                                             "        <file_name>table</file_name>\n"
                                             "        <open_name>data</open_name>\n"
                                             "    </file_ref>\n"
                                             "    <needs_network/>\n"
                                             "</app_version>\n")));
    assert_false(text_contains(document, TEXT("platform")));
    assert_first_signature(document, keys.public_key, STATUS_OK);
    assert_int_equal(stat(text_string(fixture->arena,
                                      text_print(fixture->arena, "%s/download/prog", fixture->dir)),
                          &info),
                     0);
    assert_int_equal(info.st_mode & 0777, 0755);
}

static void resigned_document_differs_in_signatures_alone(void **state)
{
    struct fixture *fixture = *state;
    struct rsa_key_texts old_keys, new_keys;
    struct text resigned, back;
    assert_status(STATUS_OK, rsa_generate(fixture->arena, &old_keys, &fixture->failure));
    assert_status(STATUS_OK, rsa_generate(fixture->arena, &new_keys, &fixture->failure));
    struct text document = write_version(fixture, old_keys.private_key);
    assert_status(STATUS_OK,
                  version_document_resign(fixture->arena, &fixture->config, document,
                                          new_keys.private_key, &resigned, &fixture->failure));
    assert_first_signature(resigned, new_keys.public_key, STATUS_OK);
    assert_first_signature(resigned, old_keys.public_key, STATUS_INVALID);
    assert_status(STATUS_OK,
                  version_document_resign(fixture->arena, &fixture->config, resigned,
                                          old_keys.private_key, &back, &fixture->failure));
    assert_true(text_equal(back, document));
}

/* What other tools wrote may lack what is to be signed. */
static void a_document_without_signatures_is_not_signed_anew(void **state)
{
    static const char *const documents[] = {
        "<file_info><file_signature>\n</file_signature></file_info>",
        "<file_info><name>prog</name></file_info>",
        "<file_info><name>absent</name><file_signature>\n</file_signature></file_info>"};
    struct fixture *fixture = *state;
    struct rsa_key_texts keys;
    struct text resigned;
    assert_status(STATUS_OK, rsa_generate(fixture->arena, &keys, &fixture->failure));
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++)
        assert_true(version_document_resign(fixture->arena, &fixture->config,
                                            text_from(documents[i]), keys.private_key, &resigned,
                                            NULL) != STATUS_OK);
}

/* --- lines --------------------------------------------------------------------------------- */

static void line_with_everything(void **state)
{
    struct fixture *fixture = *state;
    struct job_line line;
    assert_status(
        STATUS_OK,
        job_line_read(fixture->arena,
                      TEXT("--wu_name w1 -priority -5.0 --command_line \"-a 'b c' -d\" f1 "
                           "--remote_file http://x/y 12.000000 "
                           "0123456789abcdef0123456789abcdef  '/d/f 2'\r"),
                      &line, &fixture->failure));
    assert_text(line.wu_name, "w1");
    assert_text(line.command_line, "-a 'b c' -d");
    assert_true(line.has_priority);
    assert_i64(line.priority, -5);
    assert_int_equal(line.file_count, 3);
    assert_text(line.files[0].name, "f1");
    assert_text(line.files[1].remote_url, "http://x/y");
    assert_i64(line.files[1].bytes, 12);
    assert_text(line.files[2].name, "/d/f 2");
}

static void wrong_lines(void **state)
{
    static const char *const cases[][2] = {
        {"--wu_name", "--wu_name needs a value"},
        {"--wu_nam x", "--wu_nam is not an option of a job's line"},
        {"'a", "a ' is not closed"},
        {"--priority 5x", "priority: not a whole number of 32 bits"},
        {"--priority 3000000000", "priority: not a whole number of 32 bits"},
        {"--remote_file u 0 0123456789abcdef0123456789abcdef",
         "remote_file: the size is not a whole number above 0"},
        {"--remote_file '' 5 0123456789abcdef0123456789abcdef", "remote_file: the URL is empty"},
        {"--remote_file 'http://x/a b' 5 0123456789abcdef0123456789abcdef",
         "remote_file: the URL contains a blank or a control character (write %20 for a blank)"},
        {"--remote_file x/y 5 0123456789abcdef0123456789abcdef",
         "remote_file: the URL does not begin with http:// or https://"},
        {"--remote_file u 5 0123", "remote_file: the MD5 is not 32 lower-case hex digits"},
        {"--remote_file u 5", "--remote_file needs a value"},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct failure failure = {.status = STATUS_OK};
        struct job_line line;
        assert_status(STATUS_INVALID,
                      job_line_read(fixture->arena, text_from(cases[i][0]), &line, &failure));
        assert_string_equal(failure.text, cases[i][1]);
    }
}

static void lines_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    char text[JOB_LINE_MAX + 1];
    struct job_line line;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 == 0 ? 'a' : ' ';
    assert_status(STATUS_TOO_LARGE,
                  job_line_read(fixture->arena, (struct text){text, sizeof text}, &line, NULL));
    assert_status(STATUS_TOO_LARGE, /* too many files */
                  job_line_read(fixture->arena, (struct text){text, JOB_LINE_MAX}, &line, NULL));
    assert_status(STATUS_OK, job_line_read(fixture->arena, (struct text){text, 2 * JOB_FILES_MAX},
                                           &line, NULL));
    assert_int_equal(line.file_count, JOB_FILES_MAX);
}

/* --- a new project ------------------------------------------------------------------------- */

static void master_page_has_short_lines(void **state)
{
    struct fixture *fixture = *state;
    const struct text urls[] = {TEXT("https://a.example/x_cgi/cgi"),
                                TEXT("https://b.example/cgi?a=1&b=2")};
    struct buffer buffer = buffer_in(fixture->arena);
    assert_status(STATUS_OK,
                  project_write_master_page(TEXT("A & B"), urls, 2, &buffer, &fixture->failure));
    struct text page = buffer_text(&buffer);
    assert_true(
        text_contains(page, TEXT("\n<scheduler>https://a.example/x_cgi/cgi</scheduler>\n")));
    assert_true(
        text_contains(page, TEXT("\n<scheduler>https://b.example/cgi?a=1&amp;b=2</scheduler>\n")));
    assert_true(text_contains(
        page, TEXT("\n<link rel=\"boinc_scheduler\" href=\"https://a.example/x_cgi/cgi\">\n")));
    while (page.length > 0)
        assert_true(text_split(&page, '\n').length <= MASTER_PAGE_LINE_MAX);
}

static void long_scheduler_url_is_refused(void **state)
{
    struct fixture *fixture = *state;
    char url[300];
    struct buffer buffer = buffer_in(fixture->arena);
    memset(url, 'u', sizeof url);
    const struct text urls[] = {{url, sizeof url}};
    assert_status(STATUS_TOO_LARGE, project_write_master_page(TEXT("A"), urls, 1, &buffer, NULL));
}

/* What init writes is read back without a finding. */
static void new_config_is_readable(void **state)
{
    struct fixture *fixture = *state;
    const struct text urls[] = {TEXT("https://a.example/cgi"), TEXT("https://b.example/cgi")};
    const struct new_project project = {.dir = text_from(fixture->dir),
                                        .master_url = TEXT("https://a.example/x/"),
                                        .name = TEXT("A & <B>"),
                                        .db_name = TEXT("a"),
                                        .db_passwd = TEXT("p<&>w"),
                                        .scheduler_urls = urls,
                                        .scheduler_count = 2};
    struct buffer buffer = buffer_in(fixture->arena);
    struct config *config;
    struct config_findings findings = {.count = 0};
    project_write_config(&project, &buffer);
    write_file(fixture, "config.xml", text_string(fixture->arena, buffer_text(&buffer)));
    assert_status(STATUS_OK,
                  config_load(fixture->dir, fixture->arena, &config, &findings, &fixture->failure));
    assert_int_equal(findings.count, 0);
    assert_text(config->long_name, "A & <B>");
    assert_text(config->db_passwd, "p<&>w");
    assert_text(config->upload_url, "https://a.example/x/file_upload_handler");
    assert_int_equal(config->scheduler_url.count, 2);
    assert_i64(config->uldl_dir_fanout, 1024);
    assert_true(config->joining);
    config_release(config);
}

static void anonymous_is_a_platform(void **state)
{
    bool is_there = false;
    (void)state;
    for (size_t i = 0; i < standard_platform_count; i++) {
        is_there |= strcmp(standard_platforms[i].name, "anonymous") == 0;
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(standard_platforms[i].name, standard_platforms[j].name);
    }
    assert_true(is_there);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(keys_are_made_once),
        CASE(half_a_pair_is_an_error),
        CASE(halves_of_two_pairs_do_not_match),
        CASE(every_old_key_signs_the_newest),
        CASE(a_change_that_fails_leaves_the_keys_as_they_were),
        CASE(a_change_that_is_undone_leaves_the_keys_as_they_were),
        CASE(half_a_pair_is_not_left),
        CASE(staged_file_is_copied_and_measured),
        CASE(a_large_file_is_watched),
        CASE(what_a_killed_call_leaves_is_taken_away),
        CASE(a_list_of_root_belongs_to_the_owner_of_the_folder),
        CASE(a_list_that_could_be_cleared_is_found),
        CASE(a_living_call_keeps_its_files),
        CASE(a_list_of_another_user_is_not_obeyed),
        CASE(name_stands_for_one_content),
        CASE(a_copy_that_another_counts_on_stays),
        CASE(a_copy_that_nobody_counts_on_goes),
        CASE(nobody_counts_on_what_is_taken_away),
        CASE(missing_and_unusable_files),
        CASE(version_numbers),
        CASE(a_version_that_may_be_two_is_refused),
        CASE(version_document),
        CASE(resigned_document_differs_in_signatures_alone),
        CASE(a_document_without_signatures_is_not_signed_anew),
        CASE(line_with_everything),
        CASE(wrong_lines),
        CASE(lines_are_bounded),
        CASE(master_page_has_short_lines),
        CASE(long_scheduler_url_is_refused),
        CASE(new_config_is_readable),
        CASE(anonymous_is_a_platform),
    };
    xml_startup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
