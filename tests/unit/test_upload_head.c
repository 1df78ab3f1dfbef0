/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of uploads, as clients of all generations write them, and as nobody should. */
#include "tests/support/test.h"

#include "server/upload/upload_head.h"
#include "tests/support/case_arena.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"

#include "server/base/banned.h"

static struct upload_head read_whole(struct text body)
{
    struct upload_head head;
    size_t length;

    assert_true(upload_head_read(body, false, &head, &length));
    return head;
}

static void captured_heads_are_read(void **state)
{
    static const struct {
        const char *path, *name, *md5;
        int64_t nbytes;
    } captures[] = {
        {"tests/captures/151-upload-00.upload", "job_file_0_0", "9623ae8c59d2a2924a936244e14583ec",
         236},
        {"tests/captures/152-upload-01.upload", "job_two_0_1", "4807f818bea1dfb70cd57842cdf1e0b9",
         15},
        {"tests/captures/154-upload-00-v8.upload", "job_file_0_0",
         "6918b19445bd4c87f1d4766162053689", 236},
        {"tests/captures/155-upload-01-v8.upload", "job_two_0_1",
         "4807f818bea1dfb70cd57842cdf1e0b9", 15},
    };

    (void)state;
    for (size_t i = 0; i < sizeof captures / sizeof captures[0]; i++) {
        struct failure failure = {0};
        struct upload_head head;
        struct text body;
        size_t length;

        assert_status(STATUS_OK, file_read(case_arena, captures[i].path, 65536, &body, &failure));
        assert_true(upload_head_read(body, false, &head, &length));
        assert_int_equal(head.kind, UPLOAD_FILE);
        assert_null(head.fault);
        assert_string_equal(head.name, captures[i].name);
        assert_string_equal(head.md5, captures[i].md5);
        assert_i64(head.nbytes, captures[i].nbytes);
        assert_i64(head.offset, 0);
        assert_i64((int64_t)(body.length - length), captures[i].nbytes);
        assert_true(head.has_max_nbytes);
        assert_real(head.max_nbytes, 100000, 0);
        /* However it is cut, it is not whole before. */
        for (size_t cut = 0; cut < length; cut++)
            assert_false(upload_head_read(text_first(body, cut), false, &head, &length));
    }
}

static void a_query_is_read_on_many_lines_and_on_one(void **state)
{
    struct upload_head head;
    size_t length;

    (void)state;
    head = read_whole(TEXT("<data_server_request>\n"
                           "    <core_client_major_version>8</core_client_major_version>\n"
                           "    <get_file_size>foo_0_0</get_file_size>\n</data_server_request>\n"));
    assert_int_equal(head.kind, UPLOAD_QUERY);
    assert_string_equal(head.name, "foo_0_0");
    assert_null(head.fault);
    head = read_whole(TEXT("<data_server_request><get_file_size> a&b </get_file_size>"));
    assert_string_equal(head.name, "a&b");
    assert_false(
        upload_head_read(TEXT("<get_file_size>foo_0_0</get_file_siz"), false, &head, &length));
    assert_true(upload_head_read(TEXT("<get_file_size>foo"), true, &head, &length));
    assert_int_equal(head.kind, UPLOAD_UNKNOWN);
}

/* Client 3.00: what the server told of the file, in its order; no release, no checksum. */
static void heads_of_old_clients_are_read(void **state)
{
    struct upload_head head;

    (void)state;
    head = read_whole(TEXT("<data_server_request>\n"
                           "    <core_client_major_version>3</core_client_major_version>\n"
                           "    <core_client_minor_version>0</core_client_minor_version>\n"
                           "<file_upload>\n<file_info>\n"
                           "\t<name>wu_1_0_r1234567_0</name>\n<generated_locally/>\n"
                           "  <upload_when_present/>\n<max_nbytes>5000.000000</max_nbytes>\n"
                           "    <url>http://a.b/cgi/file_upload_handler</url>\n"
                           "<xml_signature>\n00ff\n.\n</xml_signature>\n</file_info>\n"
                           "<nbytes>4000</nbytes>\n<offset>100</offset>\n<data>\nXYZ"));
    assert_int_equal(head.kind, UPLOAD_FILE);
    assert_null(head.fault);
    assert_string_equal(head.name, "wu_1_0_r1234567_0");
    assert_real(head.max_nbytes, 5000, 0);
    assert_text(head.signature, "00ff\n.");
    assert_i64(head.nbytes, 4000);
    assert_i64(head.offset, 100);
    assert_string_equal(head.md5, "");
}

/* After a restart a client of 3.00 to 6.12 echoes the lines of its own state file, which say how
 * many bytes were there when they were written, and behind them it says what it sends. */
static void behind_an_echo_the_last_counts(void **state)
{
    static const char echoed[] =
        "<file_upload>\n<file_info>\n    <name>wu_1_0_r7_0</name>\n    <nbytes>%s</nbytes>\n"
        "    <max_nbytes>5000.000000</max_nbytes>\n    <generated_locally/>\n"
        "    <md5_cksum>%s</md5_cksum>\n    <status>1</status>\n    <upload_when_present/>\n"
        "<xml_signature>\n00ff\n.\n</xml_signature>\n</file_info>\n<nbytes>%s</nbytes>\n"
        "<md5_cksum>%s</md5_cksum>\n<offset>%s</offset>\n<data>\nXYZ";
    static const char first_md5[] = "d41d8cd98f00b204e9800998ecf8427e",
                      last_md5[] = "9623ae8c59d2a2924a936244e14583ec";
    struct upload_head head;

    (void)state;
    head = read_whole(text_print(case_arena, echoed, "0.000000", "", "4000", last_md5, "100"));
    assert_null(head.fault);
    assert_i64(head.nbytes, 4000);
    assert_i64(head.offset, 100);
    assert_string_equal(head.md5, last_md5);
    assert_string_equal(head.name, "wu_1_0_r7_0");
    assert_real(head.max_nbytes, 5000, 0);
    assert_text(head.signature, "00ff\n.");
    head = read_whole(text_print(case_arena, echoed, "0", first_md5, "4000", last_md5, "0"));
    assert_i64(head.nbytes, 4000);
    assert_string_equal(head.md5, last_md5);
    head = read_whole(text_print(case_arena, echoed, "0", first_md5, "0", first_md5, "0"));
    assert_null(head.fault);
    assert_i64(head.nbytes, 0);
    head = read_whole(text_print(case_arena, echoed, "7", "", "3.9", "", "0"));
    assert_non_null(head.fault);
    head = read_whole(text_print(case_arena, echoed, "7", first_md5, "4000", "", "0"));
    assert_string_equal(head.md5, "");
}

/* What is signed says so once: a second one is whoever's. */
static void of_what_is_signed_the_first_counts(void **state)
{
    struct upload_head head;

    (void)state;
    head = read_whole(TEXT("<file_upload>\n<file_info>\n<name>a</name>\n<name>b</name>\n"
                           "<max_nbytes>5</max_nbytes>\n<max_nbytes>6</max_nbytes>\n"
                           "<xml_signature>\n0\n.\n</xml_signature>\n"
                           "<xml_signature>\n1\n.\n</xml_signature>\n</file_info>\n"
                           "<nbytes>4</nbytes>\n<offset>0</offset>\n<data>\n"));
    assert_string_equal(head.name, "a");
    assert_real(head.max_nbytes, 5, 0);
    assert_text(head.signature, "0\n.");
}

/* Since client 5.9.3 with a checksum between the two numbers. Lines may end with CR LF. */
static void order_and_line_ends_are_free(void **state)
{
    const struct text body = TEXT("<file_upload>\r\n<offset>7</offset>\r\n"
                                  "<md5_cksum>9623AE8C59D2A2924A936244E14583EC</md5_cksum>\r\n"
                                  "<nbytes>9</nbytes>\r\n<name>n</name>\r\n<data>\r\n\r\nX");
    struct upload_head head;
    size_t length;

    (void)state;
    assert_true(upload_head_read(body, false, &head, &length));
    assert_null(head.fault);
    assert_i64(head.offset, 7);
    assert_i64(head.nbytes, 9);
    assert_string_equal(head.md5, "9623ae8c59d2a2924a936244e14583ec");
    assert_text(((struct text){body.at + length, 2}), "\r\n");
}

static struct upload_head with(const char *name, const char *nbytes, const char *offset)
{
    struct text body = text_print(case_arena,
                                  "<file_upload>\n<file_info>\n<name>%s</name>\n</file_info>\n"
                                  "<nbytes>%s</nbytes>\n<offset>%s</offset>\n<data>\n",
                                  name, nbytes, offset);

    return read_whole(body);
}

static void numbers_are_whole_or_faults(void **state)
{
    static const char *const wrong[] = {"3.9", "-1",   "1e99", "1e3", "",
                                        " ",   "0x10", "nan",  "4,5", "99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_non_null(with("n", wrong[i], "0").fault);
        assert_non_null(with("n", "5", wrong[i]).fault);
    }
    assert_null(with("n", "9223372036854775807", "0").fault);
    assert_null(with("n", "5", "5").fault);
    assert_non_null(with("n", "5", "6").fault);
    assert_non_null(with("n", "5", "-2").fault);
    assert_non_null(read_whole(TEXT("<file_upload>\n<name>n</name>\n<data>\n")).fault);
    assert_null(
        read_whole(TEXT("<file_upload>\n<name>n</name>\n<nbytes>4</nbytes>\n<data>\n")).fault);
    assert_non_null(read_whole(TEXT("<file_upload>\n<name>n</name>\n<nbytes>4</nbytes>\n"
                                    "<max_nbytes>much</max_nbytes><data>\n"))
                        .fault);
}

static void names_cannot_leave_the_folder(void **state)
{
    static const char *const wrong[] = {
        "",         ".",    "..",    "../x", "a/../b", "/etc/x",    "a/b",  ".x",
        ".partial", "a\tb", "a\x7f", "a\nb", "a..b",   "&lt;/&gt;", "\x01", "a&amp;/b"};
    char longest[UPLOAD_NAME_BYTES_MAX + 2];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct upload_head head = with(wrong[i], "1", "0");

        if (head.fault == NULL)
            fail_msg("\"%s\" was taken", wrong[i]);
        assert_string_equal(head.name, "");
    }
    assert_string_equal(with("a%00b", "1", "0").name, "a%00b"); /* no escape here */
    assert_string_equal(with("a b'<\xc3\xbc>", "1", "0").name, "a b'<\xc3\xbc>");
    assert_string_equal(with("a&amp;b&lt;&gt;&quot;&apos;&x", "1", "0").name, "a&b<>\"'&x");
    memset(longest, 'n', sizeof(longest));
    longest[UPLOAD_NAME_BYTES_MAX] = '\0';
    assert_string_equal(with(longest, "1", "0").name, longest);
    longest[UPLOAD_NAME_BYTES_MAX] = 'n';
    longest[UPLOAD_NAME_BYTES_MAX + 1] = '\0';
    assert_non_null(with(longest, "1", "0").fault);
    /* A byte of zero. */
    assert_non_null(read_whole((struct text){"<get_file_size>a\0b</get_file_size>", 34}).fault);
}

/* The line broke: what comes next time may be whole, so it is no fault. */
static void what_ends_without_its_data_was_cut(void **state)
{
    struct upload_head head;
    size_t length;
    struct text body = TEXT("<file_upload>\n<name>n</name>\n<nbytes>4</nbytes>\n");

    (void)state;
    assert_false(upload_head_read(body, false, &head, &length));
    assert_true(upload_head_read(body, true, &head, &length));
    assert_int_equal(head.kind, UPLOAD_UNKNOWN);
    assert_true(upload_head_read(NO_TEXT, true, &head, &length));
    assert_int_equal(head.kind, UPLOAD_UNKNOWN);
}

static void a_head_without_end_is_given_up(void **state)
{
    struct buffer body = buffer_in(case_arena);
    struct upload_head head;
    size_t length;

    (void)state;
    buffer_add_string(&body, "<file_upload><name>");
    while (body.length < UPLOAD_HEAD_BYTES_MAX - 1)
        buffer_add_string(&body, "x");
    assert_false(upload_head_read(buffer_text(&body), false, &head, &length));
    buffer_add_string(&body, "x");
    assert_true(upload_head_read(buffer_text(&body), false, &head, &length));
    assert_int_equal(head.kind, UPLOAD_FILE);
    assert_non_null(head.fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(captured_heads_are_read, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test(a_query_is_read_on_many_lines_and_on_one),
        cmocka_unit_test(heads_of_old_clients_are_read),
        cmocka_unit_test_setup_teardown(behind_an_echo_the_last_counts, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test(of_what_is_signed_the_first_counts),
        cmocka_unit_test(order_and_line_ends_are_free),
        cmocka_unit_test_setup_teardown(numbers_are_whole_or_faults, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(names_cannot_leave_the_folder, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test(what_ends_without_its_data_was_cut),
        cmocka_unit_test_setup_teardown(a_head_without_end_is_given_up, case_arena_setup,
                                        case_arena_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
