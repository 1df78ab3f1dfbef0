/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/command_answer.h"

#include "server/base/banned.h"

static bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

static void pass_blanks(struct text *rest)
{
    while (rest->length > 0 && is_blank(rest->at[0]))
        *rest = (struct text){rest->at + 1, rest->length - 1};
}

/* White space, and then this character, which is cut off with it. */
static bool take(struct text *rest, char character)
{
    pass_blanks(rest);
    if (rest->length == 0 || rest->at[0] != character)
        return false;
    *rest = (struct text){rest->at + 1, rest->length - 1};
    return true;
}

/* White space, and then a whole number as JSON writes it. */
static bool take_whole(struct text *rest, int64_t *ret_number)
{
    struct text number;
    size_t sign, length;

    pass_blanks(rest);
    sign = rest->length > 0 && rest->at[0] == '-';
    for (length = sign; length < rest->length; length++)
        if (rest->at[length] < '0' || rest->at[length] > '9')
            break;
    number = text_first(*rest, length);
    *rest = (struct text){rest->at + length, rest->length - length};
    return length > sign && (number.at[sign] != '0' || length == sign + 1) &&
           text_to_i64(number, ret_number);
}

/* Behind a quotation mark: a member's name, its colon and its number. */
static bool take_member(struct text *rest, bool *has_id, struct answer_line *answer)
{
    const struct text id = TEXT("id\""), verdict = TEXT("verdict\"");
    bool is_id = text_starts(*rest, id);
    size_t length = is_id ? id.length : verdict.length;

    if (!is_id && !text_starts(*rest, verdict))
        return false;
    if (is_id ? *has_id : answer->has_verdict)
        return false;
    *rest = (struct text){rest->at + length, rest->length - length};
    if (is_id)
        *has_id = true;
    else
        answer->has_verdict = true;
    return take(rest, ':') && take_whole(rest, is_id ? &answer->id : &answer->verdict);
}

bool answer_line_read(struct text line, struct answer_line *ret_answer)
{
    bool has_id = false;

    *ret_answer = (struct answer_line){.has_verdict = false};
    if (!take(&line, '{'))
        return false;
    do
        if (!take(&line, '"') || !take_member(&line, &has_id, ret_answer))
            return false;
    while (take(&line, ','));
    if (!take(&line, '}') || !has_id)
        return false;
    pass_blanks(&line);
    return line.length == 0;
}
