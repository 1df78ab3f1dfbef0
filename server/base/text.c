/* SPDX-License-Identifier: Apache-2.0 */
/* Slices and numbers. No function here looks beyond a slice, none needs a final NUL, and none
 * depends on the process's locale: requests and tables are in the C locale's language whatever the
 * machine's is. Empty slices may have a null pointer, which memcmp and memmem must not see. */
#include "server/base/text.h"

#include "server/base/arena.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* Longer than the digits of the largest double written out in full ("%f": 309 and 6 more). */
enum { REAL_LENGTH_MAX = 400 };

static char lower(char character)
{
    return character >= 'A' && character <= 'Z' ? (char)(character - 'A' + 'a') : character;
}

static bool is_space(char character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

struct text text_from(const char *string)
{
    if (string == NULL)
        return NO_TEXT;
    return (struct text){.at = string, .length = strlen(string)};
}

/* Names that differ mostly do so in their first byte, which costs no call. */
bool text_equal(struct text a, struct text b)
{
    return a.length == b.length &&
           (a.length == 0 || (a.at[0] == b.at[0] && memcmp(a.at, b.at, a.length) == 0));
}

bool text_equal_nocase(struct text a, struct text b)
{
    if (a.length != b.length)
        return false;
    for (size_t i = 0; i < a.length; i++)
        if (lower(a.at[i]) != lower(b.at[i]))
            return false;
    return true;
}

bool text_is(struct text text, const char *string)
{
    return text_equal(text, text_from(string));
}

bool text_starts(struct text text, struct text prefix)
{
    return text.length >= prefix.length && text_equal(text_first(text, prefix.length), prefix);
}

bool text_ends(struct text text, struct text suffix)
{
    if (suffix.length == 0)
        return true;
    if (text.length < suffix.length)
        return false;
    struct text end = {.at = text.at + text.length - suffix.length, .length = suffix.length};
    return text_equal(end, suffix);
}

bool text_contains(struct text text, struct text part)
{
    return part.length == 0 || text_find(text, part) < text.length;
}

bool text_contains_nocase(struct text text, struct text part)
{
    if (part.length == 0)
        return true;
    for (size_t i = 0; i + part.length <= text.length; i++) {
        struct text here = {.at = text.at + i, .length = part.length};
        if (text_equal_nocase(here, part))
            return true;
    }
    return false;
}

int text_compare(struct text a, struct text b)
{
    size_t common = a.length < b.length ? a.length : b.length;
    int order = common == 0 ? 0 : memcmp(a.at, b.at, common);
    if (order != 0)
        return order;
    return (a.length > b.length) - (a.length < b.length);
}

uint64_t text_hash(struct text text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.at[i]) * UINT64_C(1099511628211);
    return hash;
}

struct text text_trim(struct text text)
{
    while (text.length > 0 && is_space(text.at[0])) {
        text.at++;
        text.length--;
    }
    while (text.length > 0 && is_space(text.at[text.length - 1]))
        text.length--;
    return text;
}

struct text text_without_mark(struct text text)
{
    const struct text mark = TEXT("\xef\xbb\xbf");

    return text_starts(text, mark)
               ? (struct text){.at = text.at + mark.length, .length = text.length - mark.length}
               : text;
}

struct text text_first(struct text text, size_t most)
{
    if (text.length > most)
        text.length = most;
    return text;
}

size_t text_find(struct text text, struct text part)
{
    if (part.length == 0)
        return 0;
    if (text.length < part.length)
        return text.length;
    const char *found = memmem(text.at, text.length, part.at, part.length);
    return found == NULL ? text.length : (size_t)(found - text.at);
}

size_t text_character(struct text text)
{
    unsigned char first = text.length > 0 ? (unsigned char)text.at[0] : 0xFF;
    size_t length = first < 0x80   ? 1
                    : first < 0xC2 ? 0
                    : first < 0xE0 ? 2
                    : first < 0xF0 ? 3
                    : first < 0xF5 ? 4
                                   : 0;
    unsigned char second;

    if (length == 0 || length > text.length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text.at[i] & 0xC0) != 0x80)
            return 0;
    }
    if (length < 3)
        return length;
    second = (unsigned char)text.at[1];
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F))
        return 0;
    return length;
}

struct text text_split(struct text *rest, char separator)
{
    struct text first = *rest;
    const char *found = rest->length == 0 ? NULL : memchr(rest->at, separator, rest->length);
    if (found == NULL) {
        *rest = NO_TEXT;
        return first;
    }
    first.length = (size_t)(found - first.at);
    *rest = (struct text){.at = found + 1, .length = rest->length - first.length - 1};
    return first;
}

struct text text_behind_last(struct text text, char separator)
{
    size_t begin = text.length;

    while (begin > 0 && text.at[begin - 1] != separator)
        begin--;
    return begin == 0 ? text : (struct text){text.at + begin, text.length - begin};
}

struct text text_copy(struct arena *arena, struct text text)
{
    if (text.length == 0)
        return NO_TEXT;
    char *copy = arena_alloc(arena, text.length);
    if (copy == NULL)
        return NO_TEXT;
    memcpy(copy, text.at, text.length);
    return (struct text){.at = copy, .length = text.length};
}

struct text text_lower_case(struct arena *arena, struct text text)
{
    char *copy = text.length == 0 ? NULL : arena_alloc(arena, text.length);

    if (copy == NULL)
        return NO_TEXT;
    for (size_t i = 0; i < text.length; i++)
        copy[i] = lower(text.at[i]);
    return (struct text){.at = copy, .length = text.length};
}

char *text_keep(struct text text)
{
    char *string = malloc(text.length + 1);

    if (string == NULL)
        return NULL;
    if (text.length > 0)
        memcpy(string, text.at, text.length);
    string[text.length] = '\0';
    return string;
}

const char *text_string(struct arena *arena, struct text text)
{
    char *copy = text.length == SIZE_MAX ? NULL : arena_alloc(arena, text.length + 1);
    if (copy == NULL)
        return "";
    if (text.length > 0)
        memcpy(copy, text.at, text.length);
    return copy; /* the arena zeroes, so the final NUL is there */
}

struct text text_print(struct arena *arena, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    must(length >= 0);
    char *print = arena_alloc(arena, (size_t)length + 1);
    if (print == NULL)
        return NO_TEXT;
    va_start(arguments, format);
    (void)vsnprintf(print, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return (struct text){.at = print, .length = (size_t)length};
}

bool text_to_i64(struct text text, int64_t *ret_number)
{
    text = text_trim(text);
    bool negative = text.length > 0 && text.at[0] == '-';
    size_t at = negative || (text.length > 0 && text.at[0] == '+') ? 1 : 0;
    if (at == text.length)
        return false;

    int64_t number = 0;
    for (; at < text.length; at++) {
        if (!is_digit(text.at[at]))
            return false;
        int digit = text.at[at] - '0';
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, negative ? -digit : digit, &number))
            return false;
    }
    *ret_number = number;
    return true;
}

bool text_to_whole(struct text text, int64_t *ret_number)
{
    text = text_trim(text);
    size_t point = text_find(text, TEXT("."));

    for (size_t at = point + 1; at < text.length; at++)
        if (text.at[at] != '0')
            return false;
    if (point > 0 && !is_digit(text.at[point - 1]))
        return false;
    return text_to_i64(text_first(text, point), ret_number);
}

/* [+-] digits [. digits] [e [+-] digits], with at least one digit before the exponent: what strtod
 * takes, without hexadecimal, "inf" and "nan". */
static bool looks_like_real(struct text text)
{
    size_t at = 0, digits = 0;

    if (at < text.length && (text.at[at] == '+' || text.at[at] == '-'))
        at++;
    for (; at < text.length && is_digit(text.at[at]); at++)
        digits++;
    if (at < text.length && text.at[at] == '.')
        for (at++; at < text.length && is_digit(text.at[at]); at++)
            digits++;
    if (digits == 0)
        return false;
    if (at < text.length && lower(text.at[at]) == 'e') {
        at++;
        if (at < text.length && (text.at[at] == '+' || text.at[at] == '-'))
            at++;
        if (at == text.length)
            return false;
        while (at < text.length && is_digit(text.at[at]))
            at++;
    }
    return at == text.length;
}

bool text_to_real(struct text text, double *ret_number)
{
    char string[REAL_LENGTH_MAX + 1] = {0};

    text = text_trim(text);
    if (text.length > REAL_LENGTH_MAX || !looks_like_real(text))
        return false;
    memcpy(string, text.at, text.length);

    locale_t c_locale = newlocale(LC_ALL_MASK, "C", NULL); /* a constant of libc: costs nothing */
    must(c_locale != NULL);
    double number = strtod_l(string, NULL, c_locale);
    freelocale(c_locale);
    if (!isfinite(number))
        return false;
    *ret_number = number;
    return true;
}

int text_hex_digit(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    if (character >= 'A' && character <= 'F')
        return character - 'A' + 10;
    return -1;
}

bool text_is_hex(struct text text, size_t length)
{
    for (size_t i = 0; i < text.length; i++)
        if (text_hex_digit(text.at[i]) < 0)
            return false;
    return text.length == length;
}

bool text_is_lower_hex(struct text text, size_t length)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.at[i] >= 'A' && text.at[i] <= 'F')
            return false;
    return text_is_hex(text, length);
}
