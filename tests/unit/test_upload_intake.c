/* SPDX-License-Identifier: Apache-2.0 */
/* Whole requests to upload, in pieces of every size: what stands on the disk and in the answer. */
#include "tests/support/folder.h"
#include "tests/support/test.h"

#include "config/config.h"
#include "server/upload/upload_intake.h"
#include "server/upload/upload_project.h"
#include "server/upload/upload_store.h"
#include "tests/support/case_arena.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/base/log.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

static char folder[64];
static struct upload_project *project;

static const char *below(const char *path)
{
    return text_string(case_arena, text_print(case_arena, "%s/%s", folder, path));
}

static void write_text(const char *path, const char *text)
{
    struct failure failure = {0};

    assert_status(STATUS_OK, file_write(below(path), text_from(text), 0644, &failure));
}

static struct text read_path(const char *path)
{
    struct failure failure = {0};
    struct text text = NO_TEXT;

    if (file_read(case_arena, path, 1 << 19, &text, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    return text;
}

static void load_project(const char *options)
{
    struct failure failure = {0};

    write_text(
        "config.xml",
        text_string(case_arena, text_print(case_arena,
                                           "<boinc><config><upload_dir>%s/upload</upload_dir>"
                                           "<uldl_dir_fanout>1024</uldl_dir_fanout>"
                                           "<upload_min_free_gb>0</upload_min_free_gb>%s"
                                           "</config></boinc>",
                                           folder, options)));
    upload_project_release(project);
    project = NULL;
    if (upload_project_load(folder, &project, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
}

static int setup(void **state)
{
    struct text key;

    (void)snprintf(folder, sizeof(folder), "/tmp/upload_intake.XXXXXX");
    if (case_arena_setup(state) != 0 || mkdtemp(folder) == NULL ||
        mkdir(below("upload"), 0755) != 0 || mkdir(below("keys"), 0755) != 0)
        return 1;
    key = read_path("tests/captures/upload_public");
    write_text("keys/upload_public", text_string(case_arena, key));
    load_project("");
    return 0;
}

static int teardown(void **state)
{
    upload_project_release(project);
    project = NULL;
    (void)test_folder_remove(folder);
    return case_arena_teardown(state);
}

/* As a connection that brings so many bytes at a time, of which only `length` come. */
static struct upload_decision bring(struct text body, size_t length, size_t piece, bool is_cut)
{
    struct upload_intake intake;
    struct upload_decision decision;

    upload_intake_begin(&intake, project, TEXT("192.0.2.7"));
    body = text_first(body, length);
    while (body.length > 0) {
        struct text part = text_first(body, piece);

        upload_intake_add(&intake, part);
        body.at += part.length;
        body.length -= part.length;
    }
    if (!is_cut)
        upload_intake_end(&intake);
    if (intake.stage == UPLOAD_TO_FINISH)
        upload_intake_finish(&intake);
    assert_true(is_cut || intake.stage == UPLOAD_ANSWERED);
    decision = intake.decision;
    upload_intake_drop(&intake);
    return decision;
}

static struct upload_decision send_whole(struct text body)
{
    return bring(body, body.length, body.length, false);
}

static int64_t ask(const char *name)
{
    struct upload_decision decision = send_whole(
        text_print(case_arena, "<data_server_request><get_file_size>%s</get_file_size>", name));

    assert_int_equal(decision.status, UPLOAD_DONE);
    return decision.file_size;
}

static void assert_absent(const char *path)
{
    if (access(below(path), F_OK) == 0)
        fail_msg("%s is there", path);
}

/* The tail of the body, at the place of the name's hash. */
static void captured_uploads_are_stored(void **state)
{
    static const struct {
        const char *capture, *stored;
        size_t nbytes;
    } uploads[] = {{"tests/captures/151-upload-00.upload", "upload/6b/job_file_0_0", 236},
                   {"tests/captures/152-upload-01.upload", "upload/29d/job_two_0_1", 15},
                   {"tests/captures/154-upload-00-v8.upload", "upload/6b/job_file_0_0", 236},
                   {"tests/captures/155-upload-01-v8.upload", "upload/29d/job_two_0_1", 15}};
    static const size_t pieces[] = {1, 2, 7, 64, 1000, 100000};

    (void)state;
    for (size_t i = 0; i < sizeof uploads / sizeof uploads[0]; i++) {
        struct text body = read_path(uploads[i].capture), stored;

        for (size_t j = 0; j < sizeof pieces / sizeof pieces[0]; j++) {
            assert_int_equal(bring(body, body.length, pieces[j], false).status, UPLOAD_DONE);
            stored = read_path(below(uploads[i].stored));
            assert_int_equal(stored.length, uploads[i].nbytes);
            assert_memory_equal(stored.at, body.at + body.length - stored.length, stored.length);
            assert_int_equal(unlink(below(uploads[i].stored)), 0);
        }
    }
}

/* Cut anywhere, asked for, and sent from there. Whoever hears of the end keeps the file: also where
 * it came within the head. */
static void a_cut_upload_goes_on(void **state)
{
    struct text whole = read_path("tests/captures/151-upload-00.upload"), stored;
    struct text head = text_first(whole, text_find(whole, TEXT("<offset>")));
    struct text data = {whole.at + whole.length - 236, 236};

    (void)state;
    for (size_t cut = 0; cut < whole.length; cut += 5) {
        bool is_cut = cut % 2 == 0;
        struct upload_decision decision = bring(whole, cut, 50, is_cut);
        int64_t there;
        struct text rest;

        if (!is_cut)
            assert_int_equal(decision.status, UPLOAD_LATER);
        there = ask("job_file_0_0");
        assert_true(there < 236);
        rest = text_print(case_arena, TEXT_FORMAT "<offset>%lld</offset>\n<data>\n" TEXT_FORMAT,
                          TEXT_ARG(head), (long long)there, (int)(236 - there), data.at + there);
        assert_int_equal(send_whole(rest).status, UPLOAD_DONE);
        stored = read_path(below("upload/6b/job_file_0_0"));
        assert_int_equal(stored.length, 236);
        assert_memory_equal(stored.at, data.at, 236);
        assert_i64(ask("job_file_0_0"), 236);
        assert_int_equal(unlink(below("upload/6b/job_file_0_0")), 0);
        assert_absent("upload/.partial/job_file_0_0");
    }
}

/* The process died after the last byte, before the file was moved. */
static void a_file_that_was_only_to_be_moved_is_finished(void **state)
{
    struct text whole = read_path("tests/captures/152-upload-01.upload"), last;
    struct upload_intake intake;

    (void)state;
    upload_intake_begin(&intake, project, NO_TEXT);
    upload_intake_add(&intake, whole);
    assert_int_equal(intake.stage, UPLOAD_TO_FINISH);
    upload_intake_drop(&intake);
    assert_i64(ask("job_two_0_1"), 14); /* of 15, so that the client sends something */
    last = text_print(case_arena, TEXT_FORMAT "<offset>14</offset>\n<data>\n\n",
                      TEXT_ARG(text_first(whole, text_find(whole, TEXT("<offset>")))));
    assert_int_equal(send_whole(last).status, UPLOAD_DONE);
    assert_text(read_path(below("upload/29d/job_two_0_1")), "data for out_b\n");
}

static struct text upload_of(const char *name, const char *nbytes, const char *offset,
                             const char *extra, const char *data)
{
    return text_print(case_arena,
                      "<file_upload>\n<file_info>\n<name>%s</name>\n</file_info>\n"
                      "<nbytes>%s</nbytes>\n%s<offset>%s</offset>\n<data>\n%s",
                      name, nbytes, extra, offset, data);
}

static void repeats_change_nothing(void **state)
{
    (void)state;
    load_project("<ignore_upload_certificates/>");
    assert_int_equal(send_whole(upload_of("foo_0_0", "3", "0", "", "abc")).status, UPLOAD_DONE);
    assert_int_equal(send_whole(upload_of("foo_0_0", "3", "0", "", "abc")).status, UPLOAD_DONE);
    assert_int_equal(send_whole(upload_of("foo_0_0", "3", "0", "", "xyz")).status, UPLOAD_DONE);
    assert_int_equal(send_whole(upload_of("foo_0_0", "2", "0", "", "xy")).status, UPLOAD_DONE);
    assert_int_equal(send_whole(upload_of("foo_0_0", "0", "0", "", "")).status, UPLOAD_DONE);
    assert_int_equal(send_whole(upload_of("foo_0_0", "4", "0", "", "xyzz")).status, UPLOAD_LATER);
    assert_int_equal(send_whole(upload_of("foo_0_0", "4", "3", "", "z")).status, UPLOAD_LATER);
    assert_text(read_path(below("upload/12b/foo_0_0")), "abc");
    /* Bytes behind the last one are ignored. */
    assert_int_equal(send_whole(upload_of("input", "3", "0", "", "abcdef")).status, UPLOAD_DONE);
    assert_text(read_path(below("upload/30a/input")), "abc");
    assert_int_equal(send_whole(upload_of("uppercase", "0", "0", "", "")).status, UPLOAD_DONE);
    assert_text(read_path(below("upload/40/uppercase")), "");
}

static void hostile_numbers_are_answered_at_once(void **state)
{
    static const char *const wrong[] = {"3.9", "-1", "1e99", "", "99999999999999999999"};

    (void)state;
    load_project("<ignore_upload_certificates/>");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(send_whole(upload_of("n", wrong[i], "0", "", "abc")).status, UPLOAD_NEVER);
    assert_int_equal(send_whole(upload_of("n", "3", "-2", "", "abc")).status, UPLOAD_NEVER);
    assert_int_equal(send_whole(upload_of("n", "3", "2", "", "c")).status, UPLOAD_LATER);
    assert_int_equal(send_whole(upload_of("n", "3", "3", "", "")).status, UPLOAD_LATER);
    assert_int_equal(send_whole(upload_of("n", "9223372036854775807", "0", "", "abc")).status,
                     UPLOAD_NEVER);
    assert_absent("upload/.partial/n");
    assert_int_equal(send_whole(TEXT("x")).status, UPLOAD_LATER);
    assert_int_equal(send_whole(NO_TEXT).status, UPLOAD_LATER);
}

/* Nothing but the project's own certificates, by default. */
static void strangers_store_nothing(void **state)
{
    (void)state;
    assert_int_equal(send_whole(upload_of("foo_0_0", "3", "0", "", "abc")).status, UPLOAD_NEVER);
    assert_int_equal(
        send_whole(upload_of("foo_0_0", "3", "0", "<max_nbytes>9</max_nbytes>\n", "abc")).status,
        UPLOAD_NEVER);
    assert_absent("upload/.partial/foo_0_0");
    assert_absent("upload/12b");
}

/* Whoever sends a head in the smallest pieces has us read little more than one that comes whole. */
static void a_head_in_pieces_is_read_few_times(void **state)
{
    const struct text tags = TEXT("<a>\n<b>\n<file_upload>\n");
    struct upload_intake intake;
    size_t bytes = 0, read = 0;

    (void)state;
    upload_intake_begin(&intake, project, NO_TEXT);
    while (intake.stage == UPLOAD_HEARING) {
        size_t before = intake.next_reading;

        upload_intake_add(&intake, (struct text){tags.at + bytes % tags.length, 1});
        bytes++;
        read += intake.next_reading != before ? bytes : 0;
    }
    assert_int_equal(bytes, UPLOAD_HEAD_BYTES_MAX);
    assert_int_equal(intake.decision.status, UPLOAD_NEVER);
    assert_in_range(read, bytes, 2 * bytes);
    upload_intake_drop(&intake);
}

/* A key file that is damaged is our fault: nobody is told that his certificate is forged. */
static void what_is_no_key_is_not_loaded(void **state)
{
    static const char *const wrong[] = {"", "\n", "1024\n", "1024\n00ff\n.\n", "no key\n"};
    struct upload_project *damaged = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct failure failure = {0};

        write_text("keys/upload_public", wrong[i]);
        assert_status(STATUS_INVALID, upload_project_load(folder, &damaged, &failure));
        assert_true(text_contains(text_from(failure.text), TEXT("upload_public")));
    }
    load_project("<ignore_upload_certificates/>");
}

static void another_checksum_begins_anew(void **state)
{
    char md5[MD5_HEX_SIZE];
    const char *element;

    (void)state;
    md5_hex(TEXT("abc"), NO_TEXT, md5);
    element = text_string(case_arena, text_print(case_arena, "<md5_cksum>%s</md5_cksum>\n", md5));
    load_project("<ignore_upload_certificates/>");
    assert_int_equal(send_whole(upload_of("foo_0_0", "3", "0", element, "abd")).status,
                     UPLOAD_LATER);
    assert_i64(ask("foo_0_0"), 0);
    assert_int_equal(send_whole(upload_of("foo_0_0", "3", "0", element, "abc")).status,
                     UPLOAD_DONE);
}

static void two_at_once_do_not_mix(void **state)
{
    struct upload_intake first;

    (void)state;
    load_project("<ignore_upload_certificates/>");
    upload_intake_begin(&first, project, NO_TEXT);
    upload_intake_add(&first, upload_of("foo_0_0", "6", "0", "", "abc"));
    assert_int_equal(send_whole(upload_of("foo_0_0", "6", "0", "", "xyzxyz")).status, UPLOAD_LATER);
    upload_intake_add(&first, TEXT("def"));
    assert_int_equal(first.stage, UPLOAD_TO_FINISH);
    upload_intake_finish(&first);
    assert_int_equal(first.decision.status, UPLOAD_DONE);
    upload_intake_drop(&first);
    assert_text(read_path(below("upload/12b/foo_0_0")), "abcdef");
}

static void a_silent_connection_lets_another_go_on(void **state)
{
    struct upload_intake first;

    (void)state;
    load_project("<ignore_upload_certificates/>");
    upload_intake_begin(&first, project, NO_TEXT);
    upload_intake_add(&first, upload_of("foo_0_0", "6", "0", "", "abc"));
    upload_intake_rest(&first);
    upload_intake_rest(&first);
    assert_i64(ask("foo_0_0"), 2);
    assert_int_equal(send_whole(upload_of("foo_0_0", "6", "2", "", "cdef")).status, UPLOAD_DONE);
    upload_intake_add(&first, TEXT("d"));
    assert_int_equal(first.stage, UPLOAD_ANSWERED);
    assert_int_equal(first.decision.status, UPLOAD_LATER);
    upload_intake_drop(&first);
    assert_text(read_path(below("upload/12b/foo_0_0")), "abcdef");
    assert_absent("upload/.partial/foo_0_0");
}

static void a_silent_connection_goes_on_itself(void **state)
{
    struct upload_intake first, second;

    (void)state;
    load_project("<ignore_upload_certificates/>");
    upload_intake_begin(&first, project, NO_TEXT);
    upload_intake_add(&first, upload_of("foo_0_0", "6", "0", "", "abc"));
    upload_intake_rest(&first);
    upload_intake_add(&first, TEXT("de"));
    assert_int_equal(first.stage, UPLOAD_TAKING);
    assert_int_equal(send_whole(upload_of("foo_0_0", "6", "3", "", "xyz")).status, UPLOAD_LATER);
    upload_intake_rest(&first);
    upload_intake_begin(&second, project, NO_TEXT);
    upload_intake_add(&second, upload_of("foo_0_0", "6", "4", "", "e"));
    upload_intake_add(&first, TEXT("f")); /* while another has the file */
    assert_int_equal(first.decision.status, UPLOAD_LATER);
    upload_intake_drop(&first);
    upload_intake_add(&second, TEXT("f"));
    upload_intake_finish(&second);
    assert_int_equal(second.decision.status, UPLOAD_DONE);
    upload_intake_drop(&second);
    assert_text(read_path(below("upload/12b/foo_0_0")), "abcdef");
}

static void the_project_can_stop_uploads(void **state)
{
    struct text body = read_path("tests/captures/152-upload-01.upload");

    (void)state;
    write_text("stop_upload", "");
    assert_int_equal(send_whole(body).status, UPLOAD_LATER);
    assert_int_equal(unlink(below("stop_upload")), 0);
    assert_int_equal(send_whole(body).status, UPLOAD_DONE);
}

/* Bytes that nobody has brought shut nobody out: two thirds of the disk are announced 44 times. */
static void announcements_shut_nobody_out(void **state)
{
    enum { ATTACKERS = 44 };
    struct upload_intake attackers[ATTACKERS];
    struct upload_on_disk on_disk;
    const char *most;
    char data[101];

    (void)state;
    memset(data, 'x', sizeof(data) - 1);
    data[sizeof(data) - 1] = '\0';
    upload_store_look(project->store, "x", &on_disk);
    int64_t two_thirds = on_disk.free_bytes / 3 * 2;
    most = text_string(case_arena, text_print(case_arena, "%lld", (long long)two_thirds));
    load_project("<ignore_upload_certificates/><upload_bytes_max>1000000000000000"
                 "</upload_bytes_max>");
    for (int i = 0; i < ATTACKERS; i++) {
        char name[20];

        snprintf(name, sizeof(name), "drip_%d_0", i);
        upload_intake_begin(&attackers[i], project, NO_TEXT);
        upload_intake_add(&attackers[i], upload_of(name, most, "0", "", data));
        assert_int_equal(attackers[i].stage, UPLOAD_TAKING);
        assert_i64(attackers[i].reserved, 300); /* three times what came */
    }
    assert_string_equal(send_whole(upload_of("input", most, "0", "", "abc")).words,
                        "the upload ended early");
    assert_int_equal(send_whole(upload_of("foo_0_0", "3", "0", "", "abc")).status, UPLOAD_DONE);
    for (int i = 0; i < ATTACKERS; i++)
        upload_intake_drop(&attackers[i]);
}

/* What came counts, and of the rest three times as much; at the end only the rest. */
static void what_comes_is_reserved(void **state)
{
    struct upload_intake first;
    int64_t before = upload_intake_unreserved(project);

    (void)state;
    assert_true(before > 0);
    load_project("<ignore_upload_certificates/>");
    upload_intake_begin(&first, project, NO_TEXT);
    upload_intake_add(&first, upload_of("foo_0_0", "10", "0", "", "ab"));
    assert_i64(first.reserved, 6);
    upload_intake_add(&first, TEXT("c"));
    assert_i64(first.reserved, 7);
    upload_intake_rest(&first);
    assert_i64(first.reserved, 0);
    upload_intake_add(&first, TEXT("d"));
    assert_i64(first.reserved, 6);
    upload_intake_yield_disk(&first);
    assert_i64(first.reserved, 0);
    assert_int_equal(first.stage, UPLOAD_ANSWERED);
    assert_int_equal(first.decision.status, UPLOAD_LATER);
    upload_intake_drop(&first);
    assert_i64(ask("foo_0_0"), 3); /* of 4, which stay */
}

static void one_answer_is_counted_once(void **state)
{
    uint64_t later = counter_value(COUNTER_uploads_later),
             done = counter_value(COUNTER_uploads_done);

    (void)state;
    load_project("<ignore_upload_certificates/>");
    (void)send_whole(TEXT("x"));
    assert_int_equal(counter_value(COUNTER_uploads_later), later + 1);
    (void)send_whole(upload_of("foo_0_0", "3", "0", "", "abc"));
    assert_int_equal(counter_value(COUNTER_uploads_done), done + 1);
}

static void the_project_says_what_is_logged(void **state)
{
    (void)state;
    assert_true(log_wants(LOG_LEVEL_NORMAL));
    assert_false(log_wants(LOG_LEVEL_DEBUG));
    load_project("<fuh_debug_level>4</fuh_debug_level>");
    assert_true(log_wants(LOG_LEVEL_DEBUG));
    /* What is not taken changes nothing. */
    struct upload_project *damaged = NULL;
    struct failure failure = {0};
    write_text("keys/upload_public", "");
    write_text("config.xml",
               "<boinc><config><fuh_debug_level>1</fuh_debug_level></config></boinc>");
    assert_status(STATUS_INVALID, upload_project_load(folder, &damaged, &failure));
    assert_true(log_wants(LOG_LEVEL_DEBUG));
    log_set_level(LOG_LEVEL_NORMAL);
}

static void permissions_are_octal(void **state)
{
    int mode = 7;

    (void)state;
    assert_true(upload_mode_read(TEXT("0644"), -1, &mode));
    assert_int_equal(mode, 0644);
    assert_true(upload_mode_read(TEXT("420"), -1, &mode));
    assert_int_equal(mode, 420);
    assert_true(upload_mode_read(NO_TEXT, -1, &mode));
    assert_int_equal(mode, -1);
    assert_false(upload_mode_read(TEXT("0648"), -1, &mode));
    assert_false(upload_mode_read(TEXT("01777"), -1, &mode));
    assert_false(upload_mode_read(TEXT("99999999999999"), -1, &mode));
    assert_false(upload_mode_read(TEXT("rw"), -1, &mode));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(captured_uploads_are_stored),
        CASE(a_cut_upload_goes_on),
        CASE(a_file_that_was_only_to_be_moved_is_finished),
        CASE(repeats_change_nothing),
        CASE(hostile_numbers_are_answered_at_once),
        CASE(strangers_store_nothing),
        CASE(a_head_in_pieces_is_read_few_times),
        CASE(what_is_no_key_is_not_loaded),
        CASE(another_checksum_begins_anew),
        CASE(two_at_once_do_not_mix),
        CASE(a_silent_connection_lets_another_go_on),
        CASE(a_silent_connection_goes_on_itself),
        CASE(the_project_can_stop_uploads),
        CASE(announcements_shut_nobody_out),
        CASE(what_comes_is_reserved),
        CASE(one_answer_is_counted_once),
        CASE(the_project_says_what_is_logged),
        cmocka_unit_test(permissions_are_octal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
