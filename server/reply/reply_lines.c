/* SPDX-License-Identifier: Apache-2.0 */
/* Lines. Clients before 6.13.2 read the reply with a buffer of 256 bytes and search each piece for
 * tags, so every element of ours stands on a line of its own that fits into that buffer, newline
 * included. What is for people is cut to fit; what is a name goes whole or not at all. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/marked.h"
#include "server/parse/client_age.h"
#include "server/reply/reply_parts.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

/* A number in plain decimals must fit its line too, whatever a database row holds. */
#define LINE_REAL_MAX 1e100
/* Whole numbers up to it are exact. */
#define WHOLE_MAX 9007199254740992.0

static size_t escaped_size(unsigned char byte)
{
    if (byte == '&')
        return strlen("&amp;");
    if (byte == '<' || byte == '>')
        return strlen("&lt;");
    if (byte > 127)
        return strlen("&#128;");
    if (byte == MARK_BEGIN[0])
        return strlen("_(\"");
    if (byte == MARK_END[0])
        return strlen("\")");
    if (byte == '\n' || byte == '\r')
        return strlen("&#10;");
    if (byte == '\t')
        return strlen("&#9;");
    return byte < ' ' ? 0 : 1;
}

size_t escaped_length(struct text text)
{
    size_t length = 0;

    for (size_t i = 0; i < text.length; i++)
        length += escaped_size((unsigned char)text.at[i]);
    return length;
}

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

struct text escaped_fit(struct text text, size_t room)
{
    size_t used = 0, end = 0;

    while (end < text.length) {
        used += escaped_size((unsigned char)text.at[end]);
        if (used > room)
            break;
        end++;
    }
    if (end == text.length)
        return text;
    /* A character of UTF-8 has at most three further bytes; more are no UTF-8. */
    for (size_t back = 0; back <= 3 && back <= end; back++)
        if (!continues_character(text.at[end - back]))
            return text_first(text, end - back);
    return text_first(text, end);
}

static size_t room_in_line(const char *name)
{
    size_t tags = 2 * strlen(name) + strlen("<></>");

    return tags < REPLY_LINE_MAX ? REPLY_LINE_MAX - tags : 0;
}

static void add_tag(struct reply *reply, const char *before, const char *name, const char *after)
{
    buffer_add_string(reply->out, before);
    buffer_add_string(reply->out, name);
    buffer_add_string(reply->out, after);
}

void line_begin(struct reply *reply, const char *name)
{
    add_tag(reply, "<", name, ">\n");
}

void line_end(struct reply *reply, const char *name)
{
    add_tag(reply, "</", name, ">\n");
}

void line_flag(struct reply *reply, const char *name)
{
    add_tag(reply, "<", name, "/>\n");
}

void line_integer(struct reply *reply, const char *name, int64_t number)
{
    add_tag(reply, "<", name, ">");
    buffer_add_integer(reply->out, number);
    add_tag(reply, "</", name, ">\n");
}

void line_real(struct reply *reply, const char *name, double number)
{
    if (!isfinite(number))
        number = 0;
    number = fmin(fmax(number, -LINE_REAL_MAX), LINE_REAL_MAX);
    add_tag(reply, "<", name, ">");
    if (fabs(number) < WHOLE_MAX && number == trunc(number)) { /* mostly, and much faster */
        buffer_add_integer(reply->out, (int64_t)number);
        buffer_add_string(reply->out, ".000000");
    } else {
        buffer_print(reply->out, "%.6f", number);
    }
    add_tag(reply, "</", name, ">\n");
}

void line_name(struct reply *reply, const char *name, struct text text)
{
    add_tag(reply, "<", name, ">");
    buffer_add_xml(reply->out, text);
    add_tag(reply, "</", name, ">\n");
}

void line_text(struct reply *reply, const char *name, struct text text)
{
    line_name(reply, name, escaped_fit(text, room_in_line(name)));
}

bool line_fits(const char *name, struct text text)
{
    return escaped_length(text) <= room_in_line(name);
}

bool line_holds(int64_t client_version, const char *name, struct text text)
{
    return client_version >= CLIENT_READS_XML || line_fits(name, text);
}

void lines_verbatim(struct reply *reply, struct text text)
{
    buffer_add(reply->out, text);
    if (text.length > 0 && text.at[text.length - 1] != '\n')
        buffer_add_char(reply->out, '\n');
}

/* --- texts that were written already ------------------------------------------------------ */

static struct text *find_slot(const struct text_set *set, struct text text)
{
    size_t i = (size_t)text_hash(text) & (set->slot_count - 1);

    while (set->slots[i].at != NULL && !text_equal(set->slots[i], text))
        i = (i + 1) & (set->slot_count - 1);
    return &set->slots[i];
}

static bool grow(struct text_set *set)
{
    struct text_set larger = *set;

    larger.slot_count = set->slot_count == 0 ? 64 : 2 * set->slot_count;
    larger.slots = ARENA_ARRAY(set->arena, larger.slot_count, struct text);
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->slots[i].at != NULL)
            *find_slot(&larger, set->slots[i]) = set->slots[i];
    *set = larger;
    return true;
}

bool text_set_add(struct text_set *set, struct text text)
{
    if (text.at == NULL)
        text = TEXT("");
    if (2 * (set->count + 1) > set->slot_count && !grow(set))
        return true;
    struct text *slot = find_slot(set, text);
    if (slot->at != NULL)
        return false;
    *slot = text;
    set->count++;
    return true;
}
