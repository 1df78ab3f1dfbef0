/* SPDX-License-Identifier: Apache-2.0 */
/* Where files lie: the folder must be the one that a project's other programs compute. */
#include "tests/support/test.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/submit/hierarchy.h"

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

static void names_that_clients_refuse(void **state)
{
    static const char *const bad[] = {"",    ".hidden", "a/b", "a..b", "a%20b", "a b",     "a\nb",
                                      "a<b", "a&b",     "a?b", "a#b",  "a\\b",  "\xc3\xa4"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(file_name_usable(text_from(bad[i])));
    assert_true(file_name_usable(TEXT("in_0001-a.b+c=d@e,f~g")));
    char name[300];
    memset(name, 'a', sizeof name);
    assert_true(file_name_usable((struct text){name, 200}));
    assert_false(file_name_usable((struct text){name, 201}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(flat_without_fanout, setup, teardown),
        cmocka_unit_test_setup_teardown(folder_from_seven_digits, setup, teardown),
        cmocka_unit_test_setup_teardown(url_like_path, setup, teardown),
        cmocka_unit_test_setup_teardown(agrees_with_the_obvious_way, setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_clients_refuse, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
