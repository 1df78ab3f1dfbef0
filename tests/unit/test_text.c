/* SPDX-License-Identifier: Apache-2.0 */
/* Slices and numbers of server/base/text.c. */
#include "server/base/arena.h"
#include "server/base/markup.h"
#include "server/base/text.h"
#include "tests/support/test.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

static void empty_slices_may_be_null(void **state)
{
    (void)state;
    assert_true(text_equal(NO_TEXT, TEXT("")));
    assert_true(text_is(text_from(NULL), ""));
    assert_true(text_starts(TEXT("a"), NO_TEXT));
    assert_true(text_starts(NO_TEXT, NO_TEXT));
    assert_true(text_ends(NO_TEXT, NO_TEXT));
    assert_true(text_contains(NO_TEXT, NO_TEXT));
    assert_false(text_contains(NO_TEXT, TEXT("a")));
    assert_int_equal(text_find(NO_TEXT, TEXT("a")), 0);
    assert_int_equal(text_compare(NO_TEXT, TEXT("")), 0);
    assert_int_equal(text_trim(NO_TEXT).length, 0);
}

static void parts_are_found(void **state)
{
    (void)state;
    struct text text = TEXT("windows_x86_64");
    assert_true(text_starts(text, TEXT("windows")));
    assert_false(text_starts(TEXT("win"), TEXT("windows")));
    assert_true(text_ends(text, TEXT("_64")));
    assert_false(text_ends(text, TEXT("_65")));
    assert_true(text_contains(text, TEXT("x86")));
    assert_false(text_contains(text, TEXT("X86")));
    assert_true(text_contains_nocase(text, TEXT("X86")));
    assert_true(text_contains_nocase(text, TEXT("_64")));
    assert_false(text_contains_nocase(text, TEXT("_64x")));
    assert_int_equal(text_find(text, TEXT("_")), 7);
    assert_int_equal(text_find(text, TEXT("arm")), text.length);
    assert_true(text_equal_nocase(text, TEXT("Windows_X86_64")));
    assert_false(text_equal_nocase(TEXT("[a"), TEXT("{a")));
}

static void order_is_bytewise_shorter_first(void **state)
{
    (void)state;
    assert_true(text_compare(TEXT("ab"), TEXT("abc")) < 0);
    assert_true(text_compare(TEXT("b"), TEXT("abc")) > 0);
    assert_true(text_compare(TEXT("\xff"), TEXT("a")) > 0);
    assert_int_equal(text_compare(TEXT("a"), TEXT("a")), 0);
}

static void split_walks_all_parts(void **state)
{
    (void)state;
    struct text rest = TEXT("a,,b");
    assert_text(text_split(&rest, ','), "a");
    assert_text(text_split(&rest, ','), "");
    assert_text(text_split(&rest, ','), "b");
    assert_int_equal(rest.length, 0);
    assert_text(text_split(&rest, ','), "");
    assert_text(text_trim(TEXT(" \t\r\n a b \v\f")), "a b");
    assert_text(text_first(TEXT("abc"), 2), "ab");
    assert_text(text_first(TEXT("abc"), 9), "abc");
    assert_text(text_behind_last(TEXT("a/b/c"), '/'), "c");
    assert_text(text_behind_last(TEXT("a/"), '/'), "");
    assert_text(text_behind_last(TEXT("abc"), '/'), "abc");
    assert_text(text_behind_last(NO_TEXT, '/'), "");
}

static void copies_live_in_the_arena(void **state)
{
    (void)state;
    struct arena *arena = arena_create(100);
    char given[] = "abc";
    struct text copy = text_copy(arena, text_from(given));
    const char *string = text_string(arena, (struct text){.at = given, .length = 2});
    struct text print = text_print(arena, "%s-%d", given, 7);
    given[0] = 'x';
    assert_text(copy, "abc");
    assert_text(text_lower_case(arena, TEXT("aZ\xC3\x84[0")), "az\xC3\x84[0");
    assert_string_equal(string, "ab");
    assert_text(print, "abc-7");

    assert_false(arena_overflowed(arena));
    assert_text(text_print(arena, "%200d", 1), "");
    assert_true(arena_overflowed(arena));
    assert_string_equal(text_string(arena, text_from("01234567890123456789012345678901234567890"
                                                     "01234567890123456789012345678901234567890")),
                        "");
    arena_destroy(arena);
}

static void whole_numbers_are_read_whole(void **state)
{
    static const struct {
        const char *text;
        bool is_number;
        int64_t number;
    } cases[] = {
        {"0", true, 0},
        {" 42\n", true, 42},
        {"-7", true, -7},
        {"+7", true, 7},
        {"007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999999", false, 0},
        {"", false, 0},
        {" ", false, 0},
        {"-", false, 0},
        {"+-1", false, 0},
        {"1 2", false, 0},
        {"12.0", false, 0},
        {"0x10", false, 0},
        {"1e3", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t number = 12345;
        bool is_number = text_to_i64(text_from(cases[i].text), &number);
        if (is_number != cases[i].is_number || number != (is_number ? cases[i].number : 12345))
            fail_msg("\"%s\" gives %d, %lld", cases[i].text, is_number, (long long)number);
    }
}

static void whole_numbers_may_be_written_as_real_ones(void **state)
{
    static const struct {
        const char *text;
        bool is_number;
        int64_t number;
    } cases[] = {
        {"864000.000000", true, 864000},
        {" -7.0\n", true, -7},
        {"5.", true, 5},
        {"42", true, 42},
        {"9223372036854775807.0", true, INT64_MAX},
        {"864000.000001", false, 0},
        {"1.5", false, 0},
        {".0", false, 0},
        {".", false, 0},
        {"-.0", false, 0},
        {"", false, 0},
        {"5 .0", false, 0},
        {"5.0.0", false, 0},
        {"1e3", false, 0},
        {"5.0x", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t number = 12345;
        bool is_number = text_to_whole(text_from(cases[i].text), &number);
        if (is_number != cases[i].is_number || number != (is_number ? cases[i].number : 12345))
            fail_msg("\"%s\" gives %d, %lld", cases[i].text, is_number, (long long)number);
    }
}

static void a_byte_order_mark_is_taken_off(void **state)
{
    (void)state;
    assert_text(text_without_mark(TEXT("\xef\xbb\xbf<a/>")), "<a/>");
    assert_text(text_without_mark(TEXT("<a/>\xef\xbb\xbf")), "<a/>\xef\xbb\xbf");
    assert_text(text_without_mark(NO_TEXT), "");
}

static void assert_markup(const char *text, enum markup_kind kind, const char *inside,
                          size_t length)
{
    const struct markup markup = markup_at(text_from(text));

    assert_int_equal(markup.kind, kind);
    assert_text(markup.inside, inside);
    assert_int_equal(markup.length, length);
}

static void what_is_no_element_is_told_from_elements(void **state)
{
    (void)state;
    assert_markup("<!-- a> --><b/>", MARKUP_COMMENT, " a> ", 11);
    assert_markup("<![CDATA[<a>]]>]]>", MARKUP_CDATA, "<a>", 15);
    assert_markup("<?xml version=\"1.0\"?>\n", MARKUP_INSTRUCTION, "xml version=\"1.0\"", 21);
    assert_markup("<!-- a ->", MARKUP_COMMENT, " a ->", 0);
    assert_markup("<!--->", MARKUP_COMMENT, "->", 0);
    assert_markup("<a/>", MARKUP_NONE, "", 0);
    assert_markup("", MARKUP_NONE, "", 0);
    assert_text(markup_skip(TEXT("\n<?xml?> <!-- <a/> -->\r\n<b/> ")), "<b/>");
    assert_text(markup_skip(TEXT(" <![CDATA[a]]>")), "<![CDATA[a]]>");
    assert_text(markup_skip(TEXT("<!-- open")), "<!-- open");
}

static const struct {
    const char *text;
    bool is_number;
    double number;
} real_cases[] = {
    {"0", true, 0},       {" 1.5\t", true, 1.5}, {"-.5", true, -0.5},       {"5.", true, 5},
    {"+2", true, 2},      {"1e3", true, 1000},   {"1.25E-2", true, 0.0125}, {"1e+3", true, 1000},
    {"1e-400", true, 0},  {"1e400", false, 0},   {"-1e400", false, 0},      {"", false, 0},
    {".", false, 0},      {"-", false, 0},       {"e5", false, 0},          {"1e", false, 0},
    {"1e+", false, 0},    {"1,5", false, 0},     {"1.5x", false, 0},        {"1 5", false, 0},
    {"0x10", false, 0},   {"inf", false, 0},     {"-infinity", false, 0},   {"nan", false, 0},
    {"1.#INF", false, 0},
};

static void reals_are_finite_decimal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(real_cases) / sizeof(real_cases[0]); i++) {
        double number = 12345;
        bool is_number = text_to_real(text_from(real_cases[i].text), &number);
        double wanted = is_number ? real_cases[i].number : 12345;
        if (is_number != real_cases[i].is_number || number < wanted || number > wanted)
            fail_msg("\"%s\" gives %d, %g", real_cases[i].text, is_number, number);
    }
}

static void hex_digits_of_either_case(void **state)
{
    static const char digits[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";

    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        const char character = (char)byte;
        const char *lower_at = character == '\0' ? NULL : strchr(digits, character);
        const char *upper_at = character == '\0' ? NULL : strchr(upper, character);
        struct text text = {&character, 1};
        int value = lower_at != NULL   ? (int)(lower_at - digits)
                    : upper_at != NULL ? (int)(upper_at - upper)
                                       : -1;

        assert_int_equal(text_hex_digit(character), value);
        assert_int_equal(text_is_hex(text, 1), value >= 0);
        assert_int_equal(text_is_lower_hex(text, 1), lower_at != NULL);
    }
    assert_true(text_is_hex(TEXT("0aF"), 3));
    assert_false(text_is_hex(TEXT("0aF"), 4));
    assert_false(text_is_hex(TEXT("0aF"), 2));
    assert_false(text_is_lower_hex(TEXT("0aF"), 3));
    assert_true(text_is_lower_hex(TEXT("0af"), 3));
    assert_false(text_is_lower_hex(TEXT("0af"), 2));
}

static void reals_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < sizeof(commas) / sizeof(commas[0]); i++)
        if (setlocale(LC_NUMERIC, commas[i]) != NULL)
            break;
    reals_are_finite_decimal(state);
    setlocale(LC_NUMERIC, "C");
}

static void longest_double_is_read_and_longer_text_refused(void **state)
{
    (void)state;
    char digits[1000];
    double number;
    int length = snprintf(digits, sizeof(digits), "%f", 1.7976931348623157e308);
    assert_true(text_to_real(text_from(digits), &number));
    assert_true(number > 1.7e308);
    memset(digits, '0', sizeof(digits));
    assert_false(text_to_real((struct text){.at = digits, .length = sizeof(digits)}, &number));
    assert_true(length > 300);
}

static void nothing_beyond_the_slice_is_read(void **state)
{
    (void)state;
    int64_t number = 0;
    double real = 0;
    char *exact = malloc(3); /* under the address sanitizer a byte more would be seen */
    assert_non_null(exact);
    memcpy(exact, "123", 3);
    struct text text = {.at = exact, .length = 3};
    assert_true(text_to_i64(text, &number) && text_to_real(text, &real));
    assert_i64(number, 123);
    assert_real(real, 123, 0);
    assert_true(text_to_i64(text_first(text, 2), &number));
    assert_i64(number, 12);
    free(exact);
}

static void a_part_is_kept_with_an_end(void **state)
{
    char *kept = text_keep(text_first(TEXT("abcdef"), 3)), *empty = text_keep(NO_TEXT);

    (void)state;
    assert_string_equal(kept, "abc");
    assert_string_equal(empty, "");
    free(kept);
    free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_kept_with_an_end),
        cmocka_unit_test(empty_slices_may_be_null),
        cmocka_unit_test(parts_are_found),
        cmocka_unit_test(order_is_bytewise_shorter_first),
        cmocka_unit_test(split_walks_all_parts),
        cmocka_unit_test(copies_live_in_the_arena),
        cmocka_unit_test(whole_numbers_are_read_whole),
        cmocka_unit_test(whole_numbers_may_be_written_as_real_ones),
        cmocka_unit_test(a_byte_order_mark_is_taken_off),
        cmocka_unit_test(what_is_no_element_is_told_from_elements),
        cmocka_unit_test(reals_are_finite_decimal),
        cmocka_unit_test(hex_digits_of_either_case),
        cmocka_unit_test(reals_do_not_depend_on_the_locale),
        cmocka_unit_test(longest_double_is_read_and_longer_text_refused),
        cmocka_unit_test(nothing_beyond_the_slice_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
