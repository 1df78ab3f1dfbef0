/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from the database that are sent as they are: preferences, messages to a host, the
 * project's own blocks. Clients copy such a block up to its end tag and read the rest of the reply
 * after it, so a block without its end, or with one inside, would swallow or uncover what is not
 * its own. Each is judged before it is sent; a bad one is left out and costs only itself. */
#include "server/project/blob.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/markup.h"
#include "server/base/xml.h"

#include <string.h>

#include "server/base/banned.h"

/* Larger than any column that we send. */
enum { BLOB_BYTES_MAX = 1 << 20 };

/* A copy that an XML parser of the strict kind judges by its tags alone. */
static char *copy_of_tags(struct arena *arena, struct text text, size_t *ret_length)
{
    static const char open[] = "<x>", close[] = "</x>";
    size_t length = text.length + sizeof open - 1 + sizeof close - 1;
    char *copy = arena_alloc(arena, length);

    if (copy == NULL)
        return NULL;
    memcpy(copy, open, sizeof open - 1);
    char *at = copy + sizeof open - 1;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        *at++ = byte > 127 || byte == '&' ? 'x' : text.at[i];
    }
    memcpy(at, close, sizeof close - 1);
    *ret_length = length;
    return copy;
}

static bool tags_are_closed(struct arena *arena, struct text text)
{
    const struct xml_limits limits = {
        .bytes_max = 2 * (size_t)BLOB_BYTES_MAX, .depth_max = 64, .elements_max = 100000};
    const struct xml_handler handler = {0};
    struct arena_mark mark = arena_mark(arena);
    size_t length = 0;
    char *copy = copy_of_tags(arena, text, &length);
    enum status status = STATUS_NO_MEMORY;

    if (copy != NULL)
        status = xml_walk((struct text){.at = copy, .length = length}, &limits, &handler, NULL);
    arena_rewind(arena, mark);
    return status == STATUS_OK;
}

bool blob_is_sound(struct arena *arena, struct text text)
{
    if (text.length > BLOB_BYTES_MAX)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        if (byte < ' ' && byte != '\n' && byte != '\t' && byte != '\r')
            return false;
    }
    /* Readers of lines find this one wherever it stands, even in a comment. */
    if (text_contains(text, TEXT("scheduler_reply>")))
        return false;
    return tags_are_closed(arena, text);
}

bool blob_content(struct arena *arena, struct text text, const char *name, struct text *ret_content)
{
    struct text open = text_print(arena, "<%s>", name);
    struct text close = text_print(arena, "</%s>", name);

    text = text_trim(text);
    while (open.length > 0 && close.length > 0 && text_starts(text, open)) {
        text = (struct text){.at = text.at + open.length, .length = text.length - open.length};
        if (text_ends(text, close))
            text = text_first(text, text.length - close.length);
        text = text_trim(text);
    }
    if (text_contains(text, close) || text_contains(text, open) || !blob_is_sound(arena, text))
        return false;
    *ret_content = text;
    return true;
}

/* "&amp;", "&#38;", "&#x26;": what XML knows without further ado. */
static bool is_reference(struct text text)
{
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    size_t digits = text_starts(text, TEXT("&#x")) ? 3 : 2, at = digits;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (text_starts(text, text_from(names[i])))
            return true;
    if (!text_starts(text, TEXT("&#")))
        return false;
    while (at < text.length && text_hex_digit(text.at[at]) >= 0)
        at++;
    return at > digits && at < text.length && text.at[at] == ';';
}

/* The line of the first & that begins no reference; 0: there is none. */
static int line_of_ampersand(struct text text)
{
    int line = 1;
    size_t next = 0; /* to be looked at */

    for (size_t i = 0; i < text.length; i++) {
        struct text rest = {text.at + i, text.length - i};

        line += text.at[i] == '\n';
        if (i < next)
            continue;
        if (text.at[i] == '&' && !is_reference(rest))
            return line;
        next = i + markup_at(rest).length;
    }
    return 0;
}

/* The file's own declaration, after which our element would not be the first, as blanks. */
static struct text without_declaration(struct arena *arena, struct text text)
{
    const struct markup first = markup_at(text);
    size_t end = first.kind == MARKUP_INSTRUCTION ? first.length : 0;
    struct buffer buffer = buffer_in(arena);

    for (size_t i = 0; i < end; i++)
        buffer_add_char(&buffer, text.at[i] == '\n' ? '\n' : ' ');
    buffer_add(&buffer, (struct text){text.at + end, text.length - end});
    return buffer_text(&buffer);
}

enum status blob_is_xml(struct arena *arena, struct text text, struct failure *failure)
{
    const struct xml_limits limits = {
        .bytes_max = 2 * (size_t)BLOB_BYTES_MAX, .depth_max = 64, .elements_max = 100000};
    const struct xml_handler handler = {0};
    int line = line_of_ampersand(text);

    if (line > 0)
        return fail(failure, STATUS_INVALID, "line %d: a \"&\" that is not \"&amp;\"", line);
    text = text_print(arena, "<x>" TEXT_FORMAT "</x>", TEXT_ARG(without_declaration(arena, text)));
    return xml_walk(text, &limits, &handler, failure);
}
