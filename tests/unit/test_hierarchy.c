/* SPDX-License-Identifier: Apache-2.0 */
/* Where files lie: the folder must be the one that a project's other programs compute. */
#include "tests/support/test.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/project/hierarchy.h"

#include <stdlib.h>

#include "server/base/banned.h"

static int setup(void **state)
{
    *state = arena_create(1 << 20);
    return *state == NULL;
}

static int teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

static void flat_without_fanout(void **state)
{
    assert_text(hierarchy_path(*state, TEXT("/d/download"), TEXT("in_1"), 0), "/d/download/in_1");
}

/* The MD5 of "a" is 0cc175b9..., of "abc" 90015098...: the seven digits are cc175b9 and 0015098. */
static void folder_from_seven_digits(void **state)
{
    char folder[HIERARCHY_FOLDER_SIZE];
    (void)state;
    hierarchy_folder(TEXT("a"), 1024, folder);
    assert_string_equal(folder, "1b9"); /* 0xcc175b9 % 0x400 */
    hierarchy_folder(TEXT("abc"), 1024, folder);
    assert_string_equal(folder, "98"); /* 0x0015098 % 0x400, no zero in front */
    hierarchy_folder(TEXT("a"), 1000, folder);
    assert_string_equal(folder, "b1"); /* 0xcc175b9 % 1000 = 177 */
}

static void url_like_path(void **state)
{
    struct buffer buffer = buffer_in(*state);
    assert_text(hierarchy_path(*state, TEXT("/d/download/"), TEXT("a"), 1024), "/d/download/1b9/a");
    hierarchy_write(&buffer, TEXT("http://x/d/?a=1&b"), TEXT("a"), 1024);
    assert_text(buffer_text(&buffer), "http://x/d/?a=1&amp;b/1b9/a");
}

/* Slow and obvious: the digits as a number by strtol. */
static void agrees_with_the_obvious_way(void **state)
{
    for (int i = 0; i < 500; i++) {
        char hex[MD5_HEX_SIZE], folder[HIERARCHY_FOLDER_SIZE], digits[8] = "", wanted[16];
        struct text name = text_print(*state, "job_%d_input", i * 7919);
        hierarchy_folder(name, 1 + i, folder);
        md5_hex(name, NO_TEXT, hex);
        memcpy(digits, hex + 1, 7);
        snprintf(wanted, sizeof wanted, "%lx", strtol(digits, NULL, 16) % (1 + i));
        assert_string_equal(folder, wanted);
    }
}

static void what_is_wrong_with_a_name_is_said(void **state)
{
    static const struct {
        const char *name, *fault;
    } bad[] = {{"", "is empty"},
               {".hidden", "begins with a dot"},
               {"../x", "begins with a dot"},
               {"a/b", "contains a slash"},
               {"a\\b", "contains a slash"},
               {"a..b", "contains two dots in a row"},
               {"a%20b", "contains a percent sign"},
               {"a b", "contains a blank"},
               {"a\nb", "contains a control character"},
               {"a\177b", "contains a control character"},
               {"\xc3\xa4", "contains a character that is not ASCII"},
               {"a<b", "contains one of the characters \" ' < > & ?"},
               {"a#b", "contains the character #"}};
    char name[300];
    struct failure failure = {.status = STATUS_OK};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *fault = file_name_fault(text_from(bad[i].name));

        assert_non_null(fault);
        assert_string_equal(fault, bad[i].fault);
        fault = job_name_fault(text_from(bad[i].name));
        assert_int_equal(fault == NULL, strcmp(bad[i].name, "a#b") == 0);
    }
    assert_null(file_name_fault(TEXT("in_0001-a.b+c=d@e,f~g")));
    memset(name, 'a', sizeof name);
    assert_null(file_name_fault((struct text){name, 200}));
    assert_string_equal(file_name_fault((struct text){name, 201}), "has more than 200 bytes");
    assert_int_equal(file_name_check("job's name", TEXT("a"), &failure), STATUS_OK);
    assert_int_equal(file_name_check("job's name", TEXT("a b"), &failure), STATUS_INVALID);
    assert_string_equal(failure.text, "the job's name \"a b\" contains a blank");
}

/* A job's program may open a file in a folder, by a name with blanks. */
static void names_by_which_a_file_is_opened(void **state)
{
    (void)state;
    assert_null(open_name_fault(TEXT("data/in 1")));
    assert_string_equal(open_name_fault(NO_TEXT), "is empty");
    assert_string_equal(open_name_fault(TEXT("../in")), "contains two dots in a row");
    assert_string_equal(open_name_fault(TEXT("50%")), "contains a percent sign");
}

static void clients_tell_uploads_from_downloads_by_a_word(void **state)
{
    (void)state;
    assert_null(url_upload_fault(TEXT("https://x/demo_cgi/file_upload_handler")));
    assert_null(url_upload_fault(TEXT("https://x/file_upload_handler2?a=b")));
    assert_non_null(url_upload_fault(TEXT("https://x/demo_cgi/fuh")));
    assert_non_null(url_upload_fault(TEXT("https://x/demo_cgi/FILE_UPLOAD_HANDLER")));
    assert_non_null(url_upload_fault(NO_TEXT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(flat_without_fanout, setup, teardown),
        cmocka_unit_test_setup_teardown(folder_from_seven_digits, setup, teardown),
        cmocka_unit_test_setup_teardown(url_like_path, setup, teardown),
        cmocka_unit_test_setup_teardown(agrees_with_the_obvious_way, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_with_a_name_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(names_by_which_a_file_is_opened, setup, teardown),
        cmocka_unit_test(clients_tell_uploads_from_downloads_by_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
