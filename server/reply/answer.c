/* SPDX-License-Identifier: Apache-2.0 */
/* Filling the answer. The steps only ever add to it: a delay can be raised and never lowered, a
 * message is said once, and however much goes wrong in one request, the volunteer gets a bounded
 * number of messages. */
#include "server/reply/answer.h"

#include "server/base/arena.h"

#include <stdarg.h>
#include <stdio.h>

#include "server/base/banned.h"

/* Longer than any text of ours with the longest names in it. */
enum { MESSAGE_LENGTH_MAX = 1000 };

void text_items_add(struct arena *arena, struct text_items *items, struct text text)
{
    struct text_item *item = ARENA_NEW(arena, struct text_item);

    if (item == NULL)
        return; /* the arena remembers */
    item->text = text;
    if (items->last != NULL)
        items->last->next = item;
    else
        items->first = item;
    items->last = item;
    items->count++;
}

static struct answer_message *find_message(struct answer *answer, struct text text)
{
    for (size_t i = 0; i < answer->message_count; i++)
        if (text_equal(answer->messages[i].text, text))
            return &answer->messages[i];
    return NULL;
}

void answer_say(struct arena *arena, struct answer *answer, enum message_priority priority,
                const char *format, ...)
{
    char line[MESSAGE_LENGTH_MAX + 1];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length <= 0)
        return;
    if (length > MESSAGE_LENGTH_MAX)
        length = MESSAGE_LENGTH_MAX;
    /* A message is one line of the reply, whatever names it was made from. */
    for (int i = 0; i < length; i++)
        if (line[i] == '\n' || line[i] == '\r' || line[i] == '\t')
            line[i] = ' ';

    struct text text = {.at = line, .length = (size_t)length};
    struct answer_message *same = find_message(answer, text);
    if (same != NULL) {
        if (priority == MESSAGE_NOTICE)
            same->priority = MESSAGE_NOTICE;
        return;
    }
    if (answer->message_count >= ANSWER_MESSAGES_MAX)
        return;
    if (answer->message_count == ANSWER_MESSAGES_MAX - 1) {
        text = TEXT("There is more to say than fits here; see the project's web site");
        priority = MESSAGE_LOW;
    }
    text = text_copy(arena, text);
    if (text.length > 0)
        answer->messages[answer->message_count++] =
            (struct answer_message){.priority = priority, .text = text};
}

void answer_reason(struct answer *answer, enum reason reason)
{
    for (size_t i = 0; i < answer->reason_count; i++)
        if (answer->reasons[i] == reason)
            return;
    if (answer->reason_count < ANSWER_REASONS_MAX)
        answer->reasons[answer->reason_count++] = reason;
}

void answer_refuse(struct arena *arena, struct answer *answer, const struct refusal *refusal)
{
    answer_reason(answer, refusal->reason);
    if (reason_is_silent(refusal->reason))
        return;
    answer_say(arena, answer, reason_is_notice(refusal->reason) ? MESSAGE_NOTICE : MESSAGE_LOW,
               TEXT_FORMAT, TEXT_ARG(reason_explain(arena, refusal)));
}

const char *answer_first_reason(const struct answer *answer)
{
    return answer->reason_count > 0 ? reason_word(answer->reasons[0]) : NULL;
}

void answer_delay(struct answer *answer, double delay)
{
    if (delay > answer->request_delay)
        answer->request_delay = delay;
}
