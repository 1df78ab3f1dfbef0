/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a line: variables, and words with their quotes. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "tests/scenarios/story.h"

#include "server/base/banned.h"

enum { WORDS_MAX = 64 };

void story_set(struct story *story, struct text name, struct text value)
{
    for (struct variable *variable = story->variables; variable != NULL; variable = variable->next)
        if (text_equal(variable->name, name)) {
            variable->value = text_copy(story->arena, value);
            return;
        }
    struct variable *variable = ARENA_NEW(story->arena, struct variable);
    *variable = (struct variable){.name = text_copy(story->arena, name),
                                  .value = text_copy(story->arena, value),
                                  .next = story->variables};
    story->variables = variable;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

struct text story_fill_in(struct story *story, struct text line)
{
    struct buffer out = buffer_in(story->arena);

    for (size_t i = 0; i < line.length; i++) {
        size_t length = 0;
        while (line.at[i] == '$' && i + 1 + length < line.length &&
               is_name_character(line.at[i + 1 + length]))
            length++;
        if (length == 0) {
            buffer_add_char(&out, line.at[i]);
            continue;
        }
        struct text name = {.at = line.at + i + 1, .length = length};
        const struct variable *variable = story->variables;
        while (variable != NULL && !text_equal(variable->name, name))
            variable = variable->next;
        if (variable == NULL)
            story_fail(story, "no variable $" TEXT_FORMAT, TEXT_ARG(name));
        buffer_add(&out, variable->value);
        i += length;
    }
    return buffer_text(&out);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* A character after a backslash; moves on over what \xHH takes more. */
static char escaped_character(struct story *story, struct text *rest)
{
    char c = rest->length > 0 ? rest->at[0] : '\\';

    if (c == 'n')
        return '\n';
    if (c == 't')
        return '\t';
    if (c == 'r')
        return '\r';
    if (c != 'x')
        return c;
    if (rest->length < 3 || hex_value(rest->at[1]) < 0 || hex_value(rest->at[2]) < 0)
        story_fail(story, "\\x wants two hex digits");
    c = (char)(hex_value(rest->at[1]) * 16 + hex_value(rest->at[2]));
    *rest = (struct text){.at = rest->at + 2, .length = rest->length - 2};
    return c;
}

/* The next word; quotes may begin anywhere in it and keep blanks; in them a backslash escapes. */
static bool next_word(struct story *story, struct text *rest, struct text *ret_word)
{
    struct buffer word = buffer_in(story->arena);
    bool quoted = false, any = false;

    while (rest->length > 0 && rest->at[0] == ' ')
        *rest = (struct text){.at = rest->at + 1, .length = rest->length - 1};
    while (rest->length > 0 && (quoted || rest->at[0] != ' ')) {
        char c = rest->at[0];
        *rest = (struct text){.at = rest->at + 1, .length = rest->length - 1};
        any = true;
        if (c == '"') {
            quoted = !quoted;
            continue;
        }
        if (c == '\\' && quoted) {
            c = escaped_character(story, rest);
            *rest = (struct text){.at = rest->at + 1, .length = rest->length - 1};
        }
        buffer_add_char(&word, c);
    }
    if (quoted)
        story_fail(story, "a quote is not closed");
    *ret_word = buffer_text(&word);
    return any;
}

void story_split(struct story *story, struct text line, struct words *ret_words)
{
    struct text *items = ARENA_ARRAY(story->arena, WORDS_MAX, struct text);
    struct text rest = line;
    size_t count = 0;

    while (count < WORDS_MAX && next_word(story, &rest, &items[count]))
        if (++count == 1)
            ret_words->rest = text_trim(rest);
    ret_words->items = items;
    ret_words->count = count;
}
