/* SPDX-License-Identifier: Apache-2.0 */
/* config.xml is written by hand for readers that are no XML parsers. What they take and XML does
 * not is made good here: a bare & (in URLs and regular expressions), a < that begins no tag, "--"
 * in comments, bytes that are not UTF-8, control characters. Comments and declarations are dropped
 * but for their line ends, and CDATA becomes escaped text. Whatever is then still not well-formed,
 * such as a missing end tag, is the operator's to mend: guessing there would give options to the
 * wrong element. */
#include "config/internal.h"

#include "server/base/buffer.h"
#include "server/base/markup.h"

#include <string.h>

#include "server/base/banned.h"

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static bool begins_tag(struct text rest)
{
    if (rest.length < 2)
        return false;
    char next = rest.at[1];
    return next == '/' || next == '_' || next == '!' || (next >= 'a' && next <= 'z') ||
           (next >= 'A' && next <= 'Z');
}

static struct text after(struct text text, size_t count)
{
    return (struct text){.at = text.at + count, .length = text.length - count};
}

/* Decimal references to what XML allows; the others stay as they were typed. */
static bool is_reference(struct text rest)
{
    static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    size_t length = 2;
    unsigned number = 0;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (text_starts(rest, text_from(known[i])))
            return true;
    if (!text_starts(rest, TEXT("&#")))
        return false;
    for (; length < rest.length && length < 8 && is_digit(rest.at[length]); length++)
        number = number * 10 + (unsigned)(rest.at[length] - '0');
    if (length == rest.length || rest.at[length] != ';')
        return false;
    return number == 9 || number == 10 || number == 13 || (number >= 32 && number < 0xd800);
}

static void add_character(struct buffer *buffer, char character)
{
    unsigned char byte = (unsigned char)character;

    if (byte > 127)
        buffer_print(buffer, "&#%u;", byte);
    else if (byte >= 32 || byte == '\t' || byte == '\n')
        buffer_add_char(buffer, character);
    else
        buffer_add_char(buffer, ' ');
}

static void add_line_ends(struct buffer *buffer, struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.at[i] == '\n')
            buffer_add_char(buffer, '\n');
}

static void add_escaped(struct buffer *buffer, struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '&')
            buffer_add_string(buffer, "&amp;");
        else if (text.at[i] == '<')
            buffer_add_string(buffer, "&lt;");
        else if (text.at[i] == '>')
            buffer_add_string(buffer, "&gt;");
        else
            add_character(buffer, text.at[i]);
    }
}

/* Returns how long what begins here is, 0 where it is nothing of that kind, or never ends, for the
 * parser to complain of. */
static size_t repair_markup(struct text rest, struct buffer *buffer)
{
    const struct markup markup = markup_at(rest);

    if (markup.length > 0 && markup.kind == MARKUP_CDATA)
        add_escaped(buffer, markup.inside);
    else if (markup.length > 0)
        add_line_ends(buffer, markup.inside);
    return markup.length;
}

void config_repair(struct text document, struct buffer *ret_repaired)
{
    struct text rest = document;
    size_t length;

    for (; rest.length > 0; rest = after(rest, length)) {
        length = rest.at[0] == '<' ? repair_markup(rest, ret_repaired) : 0;
        if (length > 0)
            continue;
        length = 1;
        if (rest.at[0] == '<' && !begins_tag(rest)) {
            buffer_add_string(ret_repaired, "&lt;");
        } else if (rest.at[0] == '&' && !is_reference(rest)) {
            buffer_add_string(ret_repaired, "&amp;");
        } else if (text_starts(rest, TEXT("]]>"))) {
            buffer_add_string(ret_repaired, "]]&gt;");
            length = 3;
        } else {
            add_character(ret_repaired, rest.at[0]);
        }
    }
}

size_t config_unrepair(char *text, size_t length)
{
    size_t kept = 0;

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        /* U+0080 to U+00FF in UTF-8: one byte of the file */
        if ((byte == 0xc2 || byte == 0xc3) && i + 1 < length) {
            unsigned char second = (unsigned char)text[++i];
            byte = (unsigned char)((byte & 3) << 6 | (second & 0x3f));
        }
        text[kept++] = (char)byte;
    }
    return kept;
}
