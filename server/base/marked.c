/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/marked.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"

#include "server/base/banned.h"

static bool is_mark(char byte)
{
    return byte == MARK_BEGIN[0] || byte == MARK_END[0];
}

static bool has_marks(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (is_mark(text.at[i]))
            return true;
    return false;
}

struct text marked_plain(struct arena *arena, struct text text)
{
    struct buffer plain;

    if (!has_marks(text))
        return text;
    plain = buffer_in(arena);
    for (size_t i = 0; i < text.length; i++)
        if (!is_mark(text.at[i]))
            buffer_add_char(&plain, text.at[i]);
    return buffer_text(&plain);
}

/* What stands before a place, and behind it, apart from marks; 0: nothing. */
static char byte_before(struct text text, size_t at, int steps)
{
    while (at > 0) {
        at--;
        if (!is_mark(text.at[at]) && steps-- == 1)
            return text.at[at];
    }
    return '\0';
}

static char byte_behind(struct text text, size_t at)
{
    for (at++; at < text.length; at++)
        if (!is_mark(text.at[at]))
            return text.at[at];
    return '\0';
}

static bool begins_behind(struct text text, size_t at)
{
    return byte_before(text, at, 2) == '_' && byte_before(text, at, 1) == '(';
}

/* Each begin has its end before the next begins, and nothing beside them looks like another. */
static bool is_balanced(struct text text)
{
    bool is_open = false;

    for (size_t i = 0; i < text.length; i++) {
        bool ends = text.at[i] == MARK_END[0];

        if (!is_mark(text.at[i]))
            continue;
        if (ends != is_open || (ends ? begins_behind(text, i) : byte_behind(text, i) == ')'))
            return false;
        is_open = !is_open;
    }
    return !is_open;
}

/* A quote that would make a mark, with what is beside it. */
static bool looks_like_mark(struct text text, size_t at)
{
    return text.at[at] == '"' && (begins_behind(text, at) || byte_behind(text, at) == ')');
}

void marked_write(struct text text, struct buffer *buffer)
{
    bool marks = is_balanced(text);

    for (size_t i = 0; i < text.length; i++) {
        if (marks && is_mark(text.at[i]))
            buffer_add_string(buffer, text.at[i] == MARK_BEGIN[0] ? "_(\"" : "\")");
        else if (looks_like_mark(text, i))
            buffer_add_char(buffer, '\'');
        else
            buffer_add_xml(buffer, (struct text){.at = text.at + i, .length = 1});
    }
}
