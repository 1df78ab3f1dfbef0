/* SPDX-License-Identifier: Apache-2.0 */
/* Samples are gone through line by line: a line is a mark, or belongs to parts that all hold, or is
 * passed over. */
#include "config/sample.h"

#include "server/base/buffer.h"

#include <string.h>

#include "server/base/banned.h"

enum { DEPTH_MAX = 4 };

const struct config_sample *sample_find(const char *name)
{
    for (size_t i = 0; i < sample_count; i++)
        if (strcmp(samples[i].name, name) == 0)
            return &samples[i];
    return NULL;
}

/* --- parts ----------------------------------------------------------------------------------- */

struct open_parts {
    struct text words[DEPTH_MAX];
    bool holds[DEPTH_MAX];
    size_t depth;
};

static bool all_hold(const struct open_parts *open)
{
    for (size_t i = 0; i < open->depth; i++)
        if (!open->holds[i])
            return false;
    return true;
}

/* A line that is nothing but #<WORD> or #</WORD>. */
static bool is_mark(struct text line, struct text *ret_word, bool *ret_ends)
{
    line = text_trim(line);
    if (!text_starts(line, TEXT("#<")) || !text_ends(line, TEXT(">")))
        return false;
    *ret_ends = line.at[2] == '/';
    *ret_word = (struct text){line.at + 2 + *ret_ends, line.length - 3 - *ret_ends};
    return true;
}

static enum status begin_part(struct open_parts *open, const struct sample_filling *filling,
                              struct text word, struct failure *failure)
{
    if (open->depth == DEPTH_MAX)
        return fail(failure, STATUS_INVALID, "parts lie in each other too deeply");
    for (size_t i = 0; i < filling->part_count; i++)
        if (text_is(word, filling->parts[i].word)) {
            open->words[open->depth] = word;
            open->holds[open->depth++] = filling->parts[i].holds;
            return STATUS_OK;
        }
    if (!text_is(word, "by_hand"))
        return fail(failure, STATUS_NOT_FOUND, "it is unknown whether " TEXT_FORMAT " holds",
                    TEXT_ARG(word));
    open->words[open->depth] = word;
    open->holds[open->depth++] = false;
    return STATUS_OK;
}

static enum status end_part(struct open_parts *open, struct text word, struct failure *failure)
{
    if (open->depth == 0 || !text_equal(open->words[open->depth - 1], word))
        return fail(failure, STATUS_INVALID, TEXT_FORMAT " ends without a beginning",
                    TEXT_ARG(word));
    open->depth--;
    return STATUS_OK;
}

/* --- values ---------------------------------------------------------------------------------- */

static bool is_of_word(char c)
{
    return (c >= 'A' && c <= 'Z') || c == '_';
}

/* How long the @WORD@ is that the text begins with; 0: it begins with none. */
static size_t word_length(struct text text)
{
    size_t length = 1;

    if (text.length == 0 || text.at[0] != '@')
        return 0;
    while (length < text.length && is_of_word(text.at[length]))
        length++;
    return length > 1 && length < text.length && text.at[length] == '@' ? length + 1 : 0;
}

static enum status add_value(const struct sample_filling *filling, struct text word,
                             struct buffer *buffer, struct failure *failure)
{
    for (size_t i = 0; i < filling->value_count; i++)
        if (text_is(word, filling->values[i].word)) {
            buffer_add(buffer, filling->values[i].value);
            return STATUS_OK;
        }
    return fail(failure, STATUS_NOT_FOUND, "there is no value for @" TEXT_FORMAT "@",
                TEXT_ARG(word));
}

static enum status add_line(const struct sample_filling *filling, struct text line,
                            struct buffer *buffer, struct failure *failure)
{
    enum status status = STATUS_OK;

    while (line.length > 0 && status == STATUS_OK) {
        size_t length = word_length(line);

        if (length > 0)
            status = add_value(filling, (struct text){line.at + 1, length - 2}, buffer, failure);
        else
            buffer_add_char(buffer, line.at[0]);
        length = length > 0 ? length : 1;
        line = (struct text){line.at + length, line.length - length};
    }
    buffer_add_char(buffer, '\n');
    return status;
}

/* Of a text, or of a comment: it goes with the part before it. */
static bool is_empty(struct text line)
{
    line = text_trim(line);
    return line.length == 0 || text_is(line, "#");
}

/* --- the whole ------------------------------------------------------------------------------- */

enum status sample_fill(const struct config_sample *sample, const struct sample_filling *filling,
                        struct buffer *buffer, struct failure *failure)
{
    struct open_parts open = {.depth = 0};
    struct text rest = text_from(sample->text);
    enum status status = STATUS_OK;
    bool was_passed_over = false;

    while (rest.length > 0 && status == STATUS_OK) {
        struct text line = text_split(&rest, '\n'), word;
        bool ends = false;

        if (is_mark(line, &word, &ends)) {
            was_passed_over = ends && !all_hold(&open);
            status =
                ends ? end_part(&open, word, failure) : begin_part(&open, filling, word, failure);
        } else if (all_hold(&open)) {
            if (!was_passed_over || !is_empty(line))
                status = add_line(filling, line, buffer, failure);
            was_passed_over = false;
        }
    }
    if (status == STATUS_OK && open.depth > 0)
        status = fail(failure, STATUS_INVALID, TEXT_FORMAT " does not end",
                      TEXT_ARG(open.words[open.depth - 1]));
    return status;
}
