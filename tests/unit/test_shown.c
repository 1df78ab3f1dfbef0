/* SPDX-License-Identifier: Apache-2.0 */
/* What may be shown of a text that somebody else wrote. */
#include "server/base/shown.h"
#include "server/base/text.h"
#include "tests/support/test.h"

#include <stdlib.h>

#include "server/base/banned.h"

static char *written(struct text text, const char *kept)
{
    char *at = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&at, &length);

    shown_write(out, text, kept);
    (void)fclose(out);
    return at;
}

static void assert_written(struct text text, const char *kept, const char *wanted)
{
    char *got = written(text, kept);

    assert_string_equal(got, wanted);
    free(got);
}

static void what_controls_is_a_question_mark(void **state)
{
    (void)state;
    assert_written(TEXT("a\x1b[2Jb"), "", "a?[2Jb");
    assert_written(TEXT("\a\b\r\n\t\0\x1f\x7f "), "", "???????? ");
    assert_written(TEXT("one\ntwo\tthree\r"), "\n\t", "one\ntwo\tthree?");
    assert_written((struct text){.at = "\0", .length = 1}, "\n", "?");
}

/* U+0080 to U+009F; U+00A0 is a blank. */
static void the_second_range_too(void **state)
{
    (void)state;
    assert_written(TEXT("\xc2\x80\xc2\x9b\x33\x31m\xc2\x9f"), "", "??31m?");
    assert_written(TEXT("\xc2\xa0"), "", "\xc2\xa0");
    assert_written(TEXT("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9d"), "",
                   "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9d");
}

static void what_is_no_utf_8_is_a_question_mark_for_each_byte(void **state)
{
    (void)state;
    assert_written(TEXT("\x9b\x33\xfe\xc3"), "", "?3??");
    assert_written(TEXT("\xe2\x82\x1b[2J"), "", "???[2J");
    assert_written(TEXT("\xed\xa0\x80"), "", "???");
}

static void a_line_is_one_line(void **state)
{
    char *at = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&at, &length);

    (void)state;
    shown_line(out, "host " TEXT_FORMAT ", %d", TEXT_ARG(TEXT("x\nFORGED\x1b[m")), 7);
    (void)fclose(out);
    assert_string_equal(at, "host x?FORGED?[m, 7\n");
    free(at);
}

static void in_place_it_is_blanks(void **state)
{
    char line[] = "a\x1b\xc2\x9b\x9b\n\xc3\xa4\xe2\x82";

    (void)state;
    shown_blank(line, strlen(line));
    assert_string_equal(line, "a     \xc3\xa4  ");
}

/* Byte by byte, as a terminal of UTF-8 reads it, nothing is left that it obeys: random bytes, with
 * many of those that matter. */
static void nothing_passes_of_random_bytes(void **state)
{
    static const char often[] = "\x1b\x9b\xc2\x80\x9f\x7f\xe2\x82\xf0\x9f[m\n";
    unsigned random = 7;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        char bytes[12];

        for (size_t j = 0; j < sizeof(bytes); j++) {
            random = random * 1103515245u + 12345u;
            bytes[j] = (random >> 16) % 4 == 0 ? (char)(random >> 20)
                                               : often[(random >> 18) % (sizeof(often) - 1)];
        }
        char *got = written((struct text){.at = bytes, .length = sizeof(bytes)}, "");
        for (const unsigned char *at = (const unsigned char *)got; *at != '\0'; at++) {
            assert_true(*at >= ' ' && *at != 0x7f);
            if (*at == 0xC2)
                assert_true(at[1] >= 0xA0);
        }
        for (struct text rest = text_from(got); rest.length > 0;) {
            bool fit;

            (void)shown_next(&rest, &fit);
            assert_true(fit);
        }
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_controls_is_a_question_mark),
        cmocka_unit_test(the_second_range_too),
        cmocka_unit_test(what_is_no_utf_8_is_a_question_mark_for_each_byte),
        cmocka_unit_test(a_line_is_one_line),
        cmocka_unit_test(in_place_it_is_blanks),
        cmocka_unit_test(nothing_passes_of_random_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
