/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that decides how foreign bytes and numbers are made to fit: nothing that a client
 * says may fail the statement that stores it. */
#include "db/db_value.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

/* Length of the well-formed sequence at `at`, 0 if there is none. */
static size_t sequence_length(const unsigned char *at, size_t left, unsigned longest)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } kinds[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};

    for (size_t length = 1; length <= 4; length++) {
        uint32_t point;

        if ((at[0] & kinds[length - 1].mask) != kinds[length - 1].lead)
            continue;
        if (length > left || length > longest)
            return 0;
        point = at[0] & (unsigned char)~kinds[length - 1].mask;
        for (size_t i = 1; i < length; i++) {
            if ((at[i] & 0xC0) != 0x80)
                return 0;
            point = point << 6 | (at[i] & 0x3F);
        }
        if (point < kinds[length - 1].least || point > 0x10FFFF ||
            (point >= 0xD800 && point <= 0xDFFF))
            return 0;
        return length;
    }
    return 0;
}

struct text value_text(struct arena *arena, struct text text, unsigned bytes_per_character,
                       size_t most)
{
    const unsigned char *bytes = (const unsigned char *)text.at;
    size_t bound = most == 0 || text.length < most ? text.length : most;
    size_t length = 0;
    char *copy = NULL;

    if (bytes_per_character == 0)
        return text_first(text, bound);
    while (length < bound) {
        size_t step = sequence_length(bytes + length, text.length - length, bytes_per_character);

        if (length + step > bound)
            break;
        if (step == 0) {
            if (copy == NULL) {
                copy = arena_alloc(arena, bound);
                if (copy == NULL)
                    return text_first(text, length);
                memcpy(copy, text.at, bound);
            }
            copy[length] = '?';
            step = 1;
        }
        length += step;
    }
    return (struct text){.at = copy != NULL ? copy : text.at, .length = length};
}

int64_t value_int32(int64_t number)
{
    if (number > INT32_MAX)
        return INT32_MAX;
    return number < INT32_MIN ? INT32_MIN : number;
}

double value_finite(double number)
{
    return isfinite(number) ? number : 0;
}

struct text value_like_prefix(struct arena *arena, struct text prefix)
{
    struct buffer buffer = buffer_in(arena);

    if (prefix.length == 0)
        return NO_TEXT;
    for (size_t i = 0; i < prefix.length; i++) {
        if (prefix.at[i] == '%' || prefix.at[i] == '_' || prefix.at[i] == '\\')
            buffer_add_char(&buffer, '\\');
        buffer_add_char(&buffer, prefix.at[i]);
    }
    buffer_add_char(&buffer, '%');
    return buffer_text(&buffer);
}
