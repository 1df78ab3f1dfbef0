/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in BOINC's notations, and the one message whose inside is not markup: what an
 * application sends up is written into the request as it is, behind two lines of the client's. */
#include "server/parse/values.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"

#include "server/base/banned.h"

enum { NAME_BYTES_MAX = 255 };

static int hex_digit(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    if (character >= 'A' && character <= 'F')
        return character - 'A' + 10;
    return -1;
}

static bool read_hexadecimal(struct text digits, int64_t *ret_number)
{
    int64_t number = 0;

    if (digits.length == 0 || digits.length > 15)
        return false;
    for (size_t i = 0; i < digits.length; i++) {
        int digit = hex_digit(digits.at[i]);

        if (digit < 0)
            return false;
        number = number * 16 + digit;
    }
    *ret_number = number;
    return true;
}

bool value_integer(struct text text, int64_t *ret_number)
{
    text = text_trim(text);
    if (text.length == 0) {
        *ret_number = 0;
        return true;
    }
    if (text_starts(text, TEXT("0x")) || text_starts(text, TEXT("0X")))
        return read_hexadecimal((struct text){text.at + 2, text.length - 2}, ret_number);
    return text_to_i64(text, ret_number);
}

bool value_real(struct text text, double *ret_number)
{
    if (text_trim(text).length > 0)
        return text_to_real(text, ret_number);
    *ret_number = 0;
    return true;
}

/* What stands between two tags, and where the whole begins and ends in `raw`. */
static bool find_between(struct text raw, struct text start_tag, struct text end_tag,
                         struct text *ret_text, size_t *ret_begin, size_t *ret_end)
{
    size_t begin = text_find(raw, start_tag), from = begin + start_tag.length, length;
    struct text rest;

    if (begin == raw.length)
        return false;
    rest = (struct text){raw.at + from, raw.length - from};
    length = text_find(rest, end_tag);
    if (length == rest.length || length > NAME_BYTES_MAX)
        return false;
    *ret_text = text_trim((struct text){rest.at, length});
    *ret_begin = begin;
    *ret_end = from + length + end_tag.length;
    return true;
}

struct trickle_up value_trickle(struct arena *arena, struct text raw)
{
    struct trickle_up trickle = {.xml = raw};
    struct buffer rest = buffer_in(arena);
    size_t begin, end;

    if (!find_between(raw, TEXT("<result_name>"), TEXT("</result_name>"), &trickle.result_name,
                      &begin, &end))
        trickle.result_name = NO_TEXT;
    if (!find_between(raw, TEXT("<variety>"), TEXT("</variety>"), &trickle.variety, &begin, &end))
        return trickle;
    while (begin > 0 && (raw.at[begin - 1] == ' ' || raw.at[begin - 1] == '\t'))
        begin--;
    if (end < raw.length && raw.at[end] == '\r')
        end++;
    if (end < raw.length && raw.at[end] == '\n')
        end++;
    buffer_add(&rest, (struct text){raw.at, begin});
    buffer_add(&rest, (struct text){raw.at + end, raw.length - end});
    trickle.xml = buffer_text(&rest);
    return trickle;
}
