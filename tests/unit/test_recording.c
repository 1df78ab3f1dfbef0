/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the recording: what is in them, who may read them, and which are removed. */
#include "server/recording/recording.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/project/catalog.h"
#include "server/rpc/request.h"
#include "tests/support/folder.h"
#include "tests/support/requests.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { DAY = 86400, BIG = 64 << 20 };

static struct arena *arena;
static struct config config;
static struct catalog catalog;
static struct request request;
static struct recording recording;
static char folder[64];
static glob_t files;

static int make_project(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/qm-recording-XXXXXX");
    arena = arena_create(BIG);
    config = (struct config){.record_requests = true, .record_max_mb = 8, .record_days = 7};
    catalog = (struct catalog){.serial = 1};
    request = (struct request){
        .config = &config, .catalog = &catalog, .arena = arena, .now = (double)time(NULL)};
    message_of_a_host(&request.message);
    request.message.authenticator = TEXT("0123456789abcdef0123456789abcdef");
    request.attempt.host.id = 4242;
    request.attempt.user.id = 17;
    recording_init(&recording);
    log_set_level(LOG_LEVEL_CRITICAL);
    if (arena == NULL || mkdtemp(folder) == NULL)
        return -1;
    config.project_dir_path = text_from(folder);
    return 0;
}

static int remove_project(void **state)
{
    (void)state;
    globfree(&files);
    files = (glob_t){0};
    recording_clear(&recording);
    arena_destroy(arena);
    return test_folder_remove(folder);
}

static void record(void)
{
    struct recorded record = NOTHING_RECORDED;

    recording_turn(&recording, &config, (int64_t)request.now);
    recording_take(&recording, &request, &record);
    recording_keep(&recording, &record);
}

static size_t count_files(void)
{
    globfree(&files);
    files = (glob_t){0};
    (void)glob(text_string(arena, text_print(arena, "%s/recorded_requests/*", folder)), 0, NULL,
               &files);
    return files.gl_pathc;
}

static struct text content(size_t file)
{
    struct text text = NO_TEXT;

    assert_true(file < count_files());
    assert_status(STATUS_OK, file_read(arena, files.gl_pathv[file], BIG, &text, NULL));
    return text;
}

static size_t count_of(struct text text, const char *part)
{
    size_t count = 0, at;

    while ((at = text_find(text, text_from(part))) < text.length) {
        text = (struct text){.at = text.at + at + 1, .length = text.length - at - 1};
        count++;
    }
    return count;
}

/* In all files. */
static size_t count_records(void)
{
    size_t count = 0;

    for (size_t i = 0; i < count_files(); i++)
        count += count_of(content(i), "<recorded>\n");
    return count;
}

static void nothing_is_kept_unless_asked_for(void **state)
{
    (void)state;
    config.record_requests = false;
    record();
    assert_int_equal(count_files(), 0);
    assert_int_not_equal(
        access(text_string(arena, text_print(arena, "%s/recorded_requests", folder)), F_OK), 0);
}

static void a_record_is_whole_private_and_without_numbers_of_people(void **state)
{
    struct stat info;
    struct text text;

    (void)state;
    record();
    record();
    assert_int_equal(count_files(), 1);
    text = content(0);
    assert_true(text_starts(text, TEXT("<circumstances>\n<key>")));
    assert_int_equal(count_of(text, "<circumstances>\n"), 1);
    assert_int_equal(count_of(text, "<recorded>\n<format>3</format>\n"), 2);
    assert_true(text_ends(text, TEXT("</recorded>\n")));
    assert_false(text_contains(text, TEXT("4242")));
    assert_false(text_contains(text, request.message.authenticator));
    assert_true(text_contains(text, TEXT("<host>x")));
    assert_int_equal(stat(files.gl_pathv[0], &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(
        stat(text_string(arena, text_print(arena, "%s/recorded_requests", folder)), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
}

/* The line <host> of the file. */
static struct text host_line(size_t file)
{
    struct text text = content(file);
    size_t at = text_find(text, TEXT("<host>"));

    assert_true(at < text.length);
    text = (struct text){.at = text.at + at, .length = text.length - at};
    return text_split(&text, '\n');
}

static void each_day_has_a_file_and_pseudonyms_of_its_own(void **state)
{
    (void)state;
    record();
    request.now += DAY;
    record();
    assert_int_equal(count_files(), 2);
    assert_false(text_equal(host_line(0), host_line(1)));
}

static void files_are_removed_after_their_days(void **state)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - 8 * DAY}, {.tv_sec = time(NULL) - 8 * DAY}};

    (void)state;
    record();
    assert_int_equal(count_files(), 1);
    assert_int_equal(utimensat(AT_FDCWD, files.gl_pathv[0], times, 0), 0);
    request.now += DAY;
    record();
    assert_int_equal(count_files(), 1);
    config.record_days = 365; /* what is not too old stays */
    request.now += DAY;
    record();
    assert_int_equal(count_files(), 2);
}

static void neither_strangers_nor_long_lists_are_recorded(void **state)
{
    uint64_t before = counter_value(COUNTER_requests_not_recorded);

    (void)state;
    record();
    request.attempt.user.id = 0;
    record();
    assert_true(counter_value(COUNTER_requests_not_recorded) == before);
    request.attempt.user.id = 17;
    request.transport.body = (struct text){.at = "", .length = RECORDED_BODY_MAX + 1};
    record();
    assert_true(counter_value(COUNTER_requests_not_recorded) == before + 1);
    assert_int_equal(count_records(), 1);
    request.transport.body.length = RECORDED_BODY_MAX;
    record();
    assert_int_equal(count_records(), 2);
}

/* An option or the catalog is another: it is told before the first record that names it. */
static void new_circumstances_are_told_once(void **state)
{
    (void)state;
    record();
    config.serial++;
    config.max_wus_in_progress = 5;
    record();
    record();
    assert_int_equal(count_of(content(0), "<circumstances>\n"), 2);
    assert_int_equal(count_of(content(0), "<max_wus_in_progress>5<"), 1);
    catalog.serial++; /* read again, and nothing in it is new */
    record();
    assert_int_equal(count_of(content(0), "<circumstances>\n"), 2);
    request.now += DAY; /* in another file they are told again */
    record();
    assert_int_equal(count_of(content(1), "<circumstances>\n"), 1);
}

/* Its pseudonyms would join nothing there. */
static void a_record_does_not_go_to_the_file_of_another_secret(void **state)
{
    uint64_t before = counter_value(COUNTER_requests_not_recorded);
    struct recorded late = NOTHING_RECORDED;

    (void)state;
    record();
    recording_take(&recording, &request, &late);
    assert_true(late.text.length > 0);
    request.now += DAY;
    recording_turn(&recording, &config, (int64_t)request.now);
    recording_keep(&recording, &late);
    assert_int_equal(count_files(), 2);
    assert_int_equal(content(1).length, 0);
    assert_true(counter_value(COUNTER_requests_not_recorded) == before + 1);
}

/* A disk may hang while another thread's record is written. */
static void what_is_written_keeps_no_request_waiting(void **state)
{
    struct recorded waiting = NOTHING_RECORDED;

    (void)state;
    record();
    pthread_mutex_lock(&recording.writing);
    recording_take(&recording, &request, &waiting);
    pthread_mutex_unlock(&recording.writing);
    assert_true(waiting.text.length > 0);
    recording_keep(&recording, &waiting);
}

static void the_file_ends_when_the_option_is_taken_back(void **state)
{
    struct text before;

    (void)state;
    record();
    before = content(0);
    config.record_requests = false;
    record();
    config.record_requests = true;
    record();
    assert_int_equal(count_files(), 2);
    assert_int_equal(content(0).length, before.length);
}

enum { BOUND = 8 << 20 /* of record_max_mb */, LONG = 300 << 10 };

static uint64_t bytes_of_files(void)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count_files(); i++)
        bytes += content(i).length;
    return bytes;
}

static void record_much(struct recording *into)
{
    struct recorded record = NOTHING_RECORDED;

    recording_turn(into, &config, (int64_t)request.now);
    recording_take(into, &request, &record);
    while (record.text.length > 0 && record.text.length < LONG)
        buffer_add_string(&record.text, "some more to fill the file with\n");
    recording_keep(into, &record);
}

static void all_together_stay_within_their_bound(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) { /* some 18 MB, of which 8 MiB may stay */
        record_much(&recording);
        assert_true(bytes_of_files() <= BOUND);
        arena_reset(arena);
    }
    assert_true(bytes_of_files() > BOUND / 2);
}

/* Each as of a process of its own: what they may still write counts too. */
static void the_open_files_of_others_count_as_full(void **state)
{
    enum { PROCESSES = 10 };
    static struct recording others[PROCESSES];
    uint64_t before = counter_value(COUNTER_requests_not_recorded);

    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        recording_init(&others[i]);
        request.now += 1; /* another name */
        record_much(&others[i]);
        arena_reset(arena);
    }
    assert_int_equal(count_files(), 8);
    assert_true(counter_value(COUNTER_requests_not_recorded) == before + PROCESSES - 8);
    recording_clear(&others[0]); /* its file is closed, and the oldest: it makes place */
    record_much(&others[PROCESSES - 1]);
    assert_int_equal(count_files(), 8);
    for (int i = 1; i < PROCESSES; i++)
        recording_clear(&others[i]);
}

static void what_cannot_be_written_is_counted(void **state)
{
    uint64_t before = counter_value(COUNTER_requests_not_recorded);

    (void)state;
    assert_status(STATUS_OK,
                  file_write(text_string(arena, text_print(arena, "%s/recorded_requests", folder)),
                             TEXT("in the way"), 0600, NULL));
    record();
    record();
    assert_true(counter_value(COUNTER_requests_not_recorded) == before + 2);
    assert_int_equal(request.failure.status, STATUS_OK);
}

#define IN_PROJECT(test) cmocka_unit_test_setup_teardown(test, make_project, remove_project)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PROJECT(nothing_is_kept_unless_asked_for),
        IN_PROJECT(a_record_is_whole_private_and_without_numbers_of_people),
        IN_PROJECT(each_day_has_a_file_and_pseudonyms_of_its_own),
        IN_PROJECT(files_are_removed_after_their_days),
        IN_PROJECT(neither_strangers_nor_long_lists_are_recorded),
        IN_PROJECT(a_record_does_not_go_to_the_file_of_another_secret),
        IN_PROJECT(what_is_written_keeps_no_request_waiting),
        IN_PROJECT(the_file_ends_when_the_option_is_taken_back),
        IN_PROJECT(new_circumstances_are_told_once),
        IN_PROJECT(all_together_stay_within_their_bound),
        IN_PROJECT(the_open_files_of_others_count_as_full),
        IN_PROJECT(what_cannot_be_written_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
