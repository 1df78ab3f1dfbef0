/* SPDX-License-Identifier: Apache-2.0 */
/* Single values of a request. Bytes keep their identity: printable ASCII stands for itself, a byte
 * from 128 up becomes the character of the same number, and the few that XML forbids or would act
 * upon become private-use characters. Each of BOINC's entities means one byte and is decoded on the
 * way. Numbers are in BOINC's notations. A trickle is the one message whose inside is no markup:
 * what an app sends up is written into the request as it is, behind two lines of the client's. */
#include "server/parse/values.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <string.h>

#include "server/base/banned.h"

/* --- texts ------------------------------------------------------------------------------------ */

enum { PRIVATE_USE = 0xE000 /* + byte */ };

static bool is_plain(unsigned char byte)
{
    return byte >= ' ' && byte < 127 && byte != '<' && byte != '>' && byte != '&';
}

static void write_byte(struct buffer *document, unsigned char byte)
{
    unsigned code = byte >= 128 ? byte : PRIVATE_USE + byte;

    if (code >= 0x800)
        buffer_add_char(document, (char)(0xE0 | code >> 12));
    if (code >= 0x800)
        buffer_add_char(document, (char)(0x80 | (code >> 6 & 0x3F)));
    else
        buffer_add_char(document, (char)(0xC0 | code >> 6));
    buffer_add_char(document, (char)(0x80 | (code & 0x3F)));
}

void bytes_write(struct buffer *document, struct text bytes)
{
    size_t begin = 0;

    for (size_t i = 0; i < bytes.length; i++) {
        if (is_plain((unsigned char)bytes.at[i]))
            continue;
        buffer_add(document, (struct text){bytes.at + begin, i - begin});
        write_byte(document, (unsigned char)bytes.at[i]);
        begin = i + 1;
    }
    if (begin < bytes.length)
        buffer_add(document, (struct text){bytes.at + begin, bytes.length - begin});
}

size_t bytes_restore(struct text text, char *to)
{
    const unsigned char *from = (const unsigned char *)text.at;
    size_t length = 0;

    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = from[i];

        if (byte >= 0xE0 && i + 2 < text.length) { /* U+E0xx: the byte is in the last 8 bits */
            byte = (unsigned char)(from[i + 1] << 6 | (from[i + 2] & 0x3F));
            i += 2;
        } else if (byte >= 0xC0 && i + 1 < text.length) {
            byte = (unsigned char)(byte << 6 | (from[i + 1] & 0x3F));
            i += 1;
        }
        to[length++] = (char)byte;
    }
    return length;
}

/* The byte that an entity at the start of `text` stands for; its length, or 0 if it is none. No
 * text of a message holds a NUL byte, so none can be written as &#0; either. */
static size_t read_entity(struct text text, char *ret_byte)
{
    const struct {
        struct text written;
        char byte;
    } entities[] = {{TEXT("&lt;"), '<'},   {TEXT("&gt;"), '>'},    {TEXT("&amp;"), '&'},
                    {TEXT("&quot;"), '"'}, {TEXT("&apos;"), '\''}, {TEXT("&#xD;"), '\r'},
                    {TEXT("&#xA;"), '\n'}};
    unsigned number = 0;
    size_t at = 2;

    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        if (!text_starts(text, entities[i].written))
            continue;
        *ret_byte = entities[i].byte;
        return entities[i].written.length;
    }
    if (!text_starts(text, TEXT("&#")))
        return 0;
    for (; at < text.length && at < 6 && text.at[at] >= '0' && text.at[at] <= '9'; at++)
        number = number * 10 + (unsigned)(text.at[at] - '0');
    if (at == 2 || at == text.length || text.at[at] != ';' || number == 0 || number > 255)
        return 0;
    *ret_byte = (char)number;
    return at + 1;
}

bool bytes_read_text(struct text text, size_t bytes_max, char *to, struct text *ret_text)
{
    size_t length = 0;
    bool quoted;

    text = text_trim(text);
    quoted = text_starts(text, TEXT("<![CDATA[")) && text_ends(text, TEXT("]]>"));
    if (quoted)
        text = (struct text){text.at + 9, text.length - 12};
    for (size_t i = 0, used; i < text.length; i += used) {
        char byte = text.at[i];

        used = 0;
        if (byte == '&' && !quoted)
            used = read_entity((struct text){text.at + i, text.length - i}, &byte);
        if (used == 0)
            used = 1;
        if (length == bytes_max)
            return false;
        to[length++] = byte;
    }
    *ret_text = (struct text){to, length};
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool read_hexadecimal(struct text digits, int64_t *ret_number)
{
    int64_t number = 0;

    if (digits.length == 0 || digits.length > 15)
        return false;
    for (size_t i = 0; i < digits.length; i++) {
        int digit = text_hex_digit(digits.at[i]);

        if (digit < 0)
            return false;
        number = number * 16 + digit;
    }
    *ret_number = number;
    return true;
}

bool value_integer(struct text text, int64_t *ret_number)
{
    int64_t number = 0;

    text = text_trim(text);
    if (text_starts(text, TEXT("0x")) || text_starts(text, TEXT("0X"))) {
        if (!read_hexadecimal((struct text){text.at + 2, text.length - 2}, &number))
            return false;
    } else if (text.length > 0 && !text_to_i64(text, &number)) {
        return false;
    }
    if (number < -VALUE_INTEGER_MOST || number > VALUE_INTEGER_MOST)
        return false;
    *ret_number = number;
    return true;
}

bool value_real(struct text text, double *ret_number)
{
    double number = 0;

    if (text_trim(text).length > 0 && !text_to_real(text, &number))
        return false;
    if (number > VALUE_REAL_MOST || number < -VALUE_REAL_MOST)
        return false;
    *ret_number = number < VALUE_REAL_LEAST && number > -VALUE_REAL_LEAST ? 0 : number;
    return true;
}

/* --- trickles --------------------------------------------------------------------------------- */

enum { NAME_BYTES_MAX = 255 };

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
    size_t begin, end, length;
    char *rest;

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
    length = begin + raw.length - end;
    rest = length == 0 ? NULL : arena_alloc(arena, length);
    trickle.xml = NO_TEXT;
    if (rest == NULL)
        return trickle;
    memcpy(rest, raw.at, begin);
    memcpy(rest + begin, raw.at + end, raw.length - end);
    trickle.xml = (struct text){rest, length};
    return trickle;
}
