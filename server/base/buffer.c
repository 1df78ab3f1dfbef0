/* SPDX-License-Identifier: Apache-2.0 */
/* Appending never fails in the caller's face: a full arena, heap or bound sets the mark, what did
 * not fit is left out whole, and everything after it is ignored. So an overflowed buffer holds a
 * prefix of what was meant, and nobody has to test each line of a reply. */
#include "server/base/buffer.h"

#include "server/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { FIRST_CAPACITY = 256, INTEGER_DIGITS = 20 };

struct buffer buffer_in(struct arena *arena)
{
    return (struct buffer){.arena = arena};
}

struct buffer buffer_on_heap(size_t length_max)
{
    return (struct buffer){.length_max = length_max};
}

void buffer_free(struct buffer *buffer)
{
    if (buffer->arena != NULL)
        return;
    free(buffer->at);
    *buffer = (struct buffer){.length_max = buffer->length_max};
}

static bool buffer_resize(struct buffer *buffer, size_t capacity)
{
    char *at = buffer->arena != NULL ? arena_alloc(buffer->arena, capacity)
                                     : realloc(buffer->at, capacity);
    if (at == NULL)
        return false;
    if (buffer->arena != NULL && buffer->length > 0)
        memcpy(at, buffer->at, buffer->length);
    buffer->at = at;
    buffer->capacity = capacity;
    return true;
}

/* Room for `more` bytes after what is there; sets the mark when there is none. */
static bool buffer_make_room(struct buffer *buffer, size_t more)
{
    if (buffer->overflowed)
        return false;
    size_t most = buffer->length_max > 0 ? buffer->length_max : SIZE_MAX / 2;
    if (more > most - buffer->length) {
        buffer->overflowed = true;
        return false;
    }
    size_t needed = buffer->length + more;
    if (needed <= buffer->capacity)
        return true;
    size_t capacity = buffer->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : buffer->capacity * 2;
    if (!buffer_resize(buffer, capacity < needed ? needed : capacity))
        buffer->overflowed = true;
    return !buffer->overflowed;
}

void buffer_add(struct buffer *buffer, struct text text)
{
    if (text.length == 0 || !buffer_make_room(buffer, text.length))
        return;
    memcpy(buffer->at + buffer->length, text.at, text.length);
    buffer->length += text.length;
}

void buffer_add_string(struct buffer *buffer, const char *string)
{
    buffer_add(buffer, text_from(string));
}

void buffer_add_char(struct buffer *buffer, char character)
{
    buffer_add(buffer, (struct text){.at = &character, .length = 1});
}

void buffer_add_integer(struct buffer *buffer, int64_t number)
{
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char digits[INTEGER_DIGITS];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0)
        digits[--at] = '-';
    buffer_add(buffer, (struct text){.at = digits + at, .length = sizeof(digits) - at});
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
    char small[256]; /* most prints are one line */
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(small, sizeof(small), format, arguments);
    va_end(arguments);
    must(length >= 0);
    if ((size_t)length < sizeof(small)) {
        buffer_add(buffer, (struct text){.at = small, .length = (size_t)length});
        return;
    }
    char *large = malloc((size_t)length + 1);
    if (large == NULL) {
        buffer->overflowed = true;
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(large, (size_t)length + 1, format, arguments);
    va_end(arguments);
    buffer_add(buffer, (struct text){.at = large, .length = (size_t)length});
    free(large);
}

static bool xml_needs_escape(unsigned char byte)
{
    return byte < 32 || byte > 127 || byte == '&' || byte == '<' || byte == '>';
}

void buffer_add_xml(struct buffer *buffer, struct text text)
{
    size_t begin = 0; /* of the stretch that goes out as it is */

    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        if (!xml_needs_escape(byte))
            continue;
        buffer_add(buffer, (struct text){.at = text.at + begin, .length = i - begin});
        begin = i + 1;
        if (byte == '&')
            buffer_add(buffer, TEXT("&amp;"));
        else if (byte == '<')
            buffer_add(buffer, TEXT("&lt;"));
        else if (byte == '>')
            buffer_add(buffer, TEXT("&gt;"));
        else if (byte > 127 || byte == '\t' || byte == '\n' || byte == '\r')
            buffer_print(buffer, "&#%u;", byte);
    }
    if (begin < text.length)
        buffer_add(buffer, (struct text){.at = text.at + begin, .length = text.length - begin});
}

void buffer_add_element(struct buffer *buffer, int indent, const char *name, struct text value)
{
    buffer_print(buffer, "%*s<%s>", indent, "", name);
    buffer_add_xml(buffer, value);
    buffer_print(buffer, "</%s>\n", name);
}

struct text buffer_text(const struct buffer *buffer)
{
    return (struct text){.at = buffer->at, .length = buffer->length};
}
