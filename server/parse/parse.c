/* SPDX-License-Identifier: Apache-2.0 */
/* The repaired request, element by element, into struct message. The table says where each text
 * goes; the parts of this room know what the table cannot say: how lists grow and what an entry
 * needs to be kept (parse_items.c), and how texts become fields (parse_leaves.c). Here is the walk,
 * and what can be said only at its end. */
#include "server/parse/parse.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/xml.h"
#include "server/parse/parse_parts.h"
#include "server/parse/repair.h"

#include <string.h>

#include "server/base/banned.h"

enum status parse_full(struct reader *reader)
{
    return fail(reader->failure, STATUS_TOO_LARGE, "the request needs more memory than it may use");
}

static enum status on_start(void *context, struct text name, int line)
{
    struct reader *reader = context;
    struct level *outer = reader->depth == 0 ? NULL : &reader->levels[reader->depth - 1];
    struct level *level = &reader->levels[reader->depth];
    bool there = true;

    (void)line;
    if (reader->depth == PARSE_LEVELS_MAX)
        return fail(reader->failure, STATUS_TOO_LARGE, "too many levels");
    *level = (struct level){.context = CONTEXT_REQUEST, .record = (char *)&reader->message};
    reader->depth++;
    reader->text_length = 0;
    if (outer == NULL)
        return STATUS_OK;
    level->element = element_find(outer->context, name);
    if (level->element == NULL)
        return fail(reader->failure, STATUS_INVALID, "an element that the repair should have left");
    level->context = level->element->child;
    level->record = outer->record;
    if (level->element->kind == ELEMENT_ITEM)
        return parse_begin_item(reader, level->element, &level->record);
    if (level->element->kind != ELEMENT_INSIDE)
        return STATUS_OK;
    if (level->element->flag_offset != ELEMENT_NOWHERE)
        memcpy(outer->record + level->element->flag_offset, &there, sizeof there);
    level->record = outer->record + level->element->offset;
    return STATUS_OK;
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct reader *reader = context;

    (void)line;
    if (piece.length > PARSE_TEXT_SIZE - reader->text_length)
        return fail(reader->failure, STATUS_TOO_LARGE, "too long a text");
    memcpy(reader->text + reader->text_length, piece.at, piece.length);
    reader->text_length += piece.length;
    return STATUS_OK;
}

static enum status on_end(void *context, struct text name, int line)
{
    struct reader *reader = context;
    struct level *level = &reader->levels[--reader->depth];
    struct text text = {reader->text, reader->text_length};

    (void)name;
    (void)line;
    if (level->element == NULL || level->element->kind == ELEMENT_INSIDE)
        return STATUS_OK;
    if (level->element->kind != ELEMENT_ITEM)
        return parse_store_text(reader, level - 1, level->element, text);
    parse_end_item(reader, level);
    return STATUS_OK;
}

static void keep_if_positive(bool *flag, double *number)
{
    if (*number >= 0)
        return;
    *flag = false;
    *number = 0;
}

static void complete(struct reader *reader)
{
    struct message *message = &reader->message;
    size_t count = message->platforms[0].length > 0 ? 1 : 0;

    for (size_t i = 0; i < reader->alternate_count && count < MESSAGE_PLATFORMS_MAX; i++)
        message->platforms[count++] = reader->alternates[i].name;
    message->platform_count = count;
    message->anonymous_platform = count > 0 && text_is(message->platforms[0], "anonymous");
    message->code_sign_key = text_trim(message->code_sign_key);
    if (message->p_ncpus < 1)
        message->p_ncpus = 1;
    keep_if_positive(&message->has_project_disk_free, &message->project_disk_free);
    keep_if_positive(&message->has_potentially_free_offender, &message->potentially_free_offender);
    keep_if_positive(&message->has_potentially_free_self, &message->potentially_free_self);
    message->elements_dropped += reader->repaired->dropped;
}

static enum status read_repaired(struct reader *reader)
{
    struct text document = buffer_text(&reader->repaired->document);
    const struct xml_limits limits = {.bytes_max = document.length,
                                      .depth_max = reader->limits->depth_max,
                                      .elements_max = document.length};
    const struct xml_handler handler = {reader, on_start, on_text, on_end};
    enum status status = xml_walk(document, &limits, &handler, reader->failure);

    if (status != STATUS_OK)
        return status;
    complete(reader);
    return arena_overflowed(reader->arena) ? parse_full(reader) : STATUS_OK;
}

enum status parse_request(struct text body, const struct parse_limits *limits, struct arena *arena,
                          struct message *ret_message, struct failure *failure)
{
    struct reader *reader = ARENA_NEW(arena, struct reader);
    struct repaired repaired;
    enum status status = repair_request(body, &repaired, failure);

    if (status == STATUS_OK && reader == NULL)
        status = fail(failure, STATUS_TOO_LARGE, "no memory to read the request");
    if (status == STATUS_OK) {
        message_init(&reader->message);
        reader->body = body;
        reader->limits = limits;
        reader->repaired = &repaired;
        reader->arena = arena;
        reader->failure = failure;
        status = read_repaired(reader);
    }
    if (status == STATUS_OK)
        *ret_message = reader->message;
    repair_free(&repaired);
    return status;
}
