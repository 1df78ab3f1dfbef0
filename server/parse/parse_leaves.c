/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of leaves: each becomes what the table says its field is, a number, bytes of the message's
 * own, or a place in the body. What cannot be read is left out and counted. */
#include "server/parse/parse_parts.h"

#include "server/base/arena.h"
#include "server/parse/bytes.h"
#include "server/parse/repair.h"
#include "server/parse/values.h"

#include <string.h>

#include "server/base/banned.h"

static struct text reference(const struct reader *reader, struct text text)
{
    struct text offset_text = text_split(&text, ' ');
    int64_t offset, length;

    if (!text_to_i64(offset_text, &offset) || !text_to_i64(text, &length) || offset < 0 ||
        length < 0 || (uint64_t)offset > reader->body.length ||
        (uint64_t)length > reader->body.length - (uint64_t)offset)
        return NO_TEXT;
    return (struct text){reader->body.at + offset, (size_t)length};
}

static enum status add_trickle(struct reader *reader, const struct element *element,
                               struct text text)
{
    struct message *message = &reader->message;

    if (message->trickles == NULL) {
        size_t wanted = reader->repaired->counts[element - elements];

        reader->trickle_capacity = least(wanted, MESSAGE_TRICKLES_MAX);
        message->trickles = ARENA_ARRAY(reader->arena, reader->trickle_capacity, struct trickle_up);
        if (message->trickles == NULL)
            return parse_full(reader);
    }
    if (message->trickle_count == reader->trickle_capacity)
        message->elements_dropped++;
    else
        message->trickles[message->trickle_count++] = value_trickle(reader->arena, text);
    return STATUS_OK;
}

static enum status add_keyword(struct reader *reader, const struct element *element, int64_t number)
{
    char *list_at = (char *)&reader->message + element->offset;
    char *count_at = (char *)&reader->message + element->flag_offset;
    size_t most = least(reader->repaired->counts[element - elements], MESSAGE_KEYWORDS_MAX);
    size_t count = read_size(count_at);
    int64_t *list = read_pointer(list_at);

    if (list == NULL) {
        list = ARENA_ARRAY(reader->arena, most, int64_t);
        if (list == NULL)
            return parse_full(reader);
        memcpy(list_at, &list, sizeof list);
    }
    if (count == most) {
        reader->message.elements_dropped++;
        return STATUS_OK;
    }
    list[count++] = number;
    memcpy(count_at, &count, sizeof count);
    return STATUS_OK;
}

static void add_piece(struct reader *reader, struct text piece)
{
    if (reader->piece_count == MESSAGE_RESULT_FILES_MAX)
        reader->message.elements_dropped++;
    else
        reader->pieces[reader->piece_count++] = piece;
}

/* Whether the usual spelling of the same field was read before. */
static bool gives_way(const struct level *level, const struct element *element)
{
    for (size_t i = 0; i < element_count; i++)
        if (level->seen[i] && elements[i].offset == element->offset &&
            (elements[i].marks & ELEMENT_OTHER) == 0)
            return true;
    return false;
}

static void store(struct level *level, const struct element *element, const void *value,
                  size_t size)
{
    bool there = true;

    if ((element->marks & ELEMENT_OTHER) != 0 && gives_way(level, element))
        return;
    memcpy(level->record + element->offset, value, size);
    if (element->flag_offset != ELEMENT_NOWHERE)
        memcpy(level->record + element->flag_offset, &there, sizeof there);
    level->seen[element - elements] = true;
}

static enum status store_string(struct reader *reader, struct level *level,
                                const struct element *element, struct text text)
{
    struct text bytes = NO_TEXT;
    char *copy;

    if (text.length > 0) {
        copy = arena_alloc(reader->arena, text.length);
        if (copy == NULL)
            return parse_full(reader);
        bytes = (struct text){copy, bytes_restore(text, copy)};
    }
    /* The type of a vendor's coprocessor is said by its tag. */
    if (level->context != CONTEXT_COPROC || strcmp(element->name, "type") != 0 ||
        ((struct coproc *)(void *)level->record)->is_generic)
        store(level, element, &bytes, sizeof bytes);
    return STATUS_OK;
}

static enum status store_number(struct reader *reader, struct level *level,
                                const struct element *element, struct text text)
{
    int64_t number = 0;
    double real = 0;
    bool readable =
        element->kind == ELEMENT_REAL ? value_real(text, &real) : value_integer(text, &number);

    if ((element->marks & ELEMENT_DEMAND) != 0)
        reader->message.has_resource_request = true;
    if (!readable || (element->kind == ELEMENT_FLAG && text.length == 0)) {
        reader->message.elements_dropped++;
        return STATUS_OK;
    }
    if (element->kind == ELEMENT_KEYWORD)
        return add_keyword(reader, element, number);
    if (element->kind == ELEMENT_REAL)
        store(level, element, &real, sizeof real);
    else if (element->kind == ELEMENT_INTEGER)
        store(level, element, &number, sizeof number);
    else
        store(level, element, &(bool){number != 0}, sizeof(bool));
    return STATUS_OK;
}

enum status parse_store_text(struct reader *reader, struct level *level,
                             const struct element *element, struct text text)
{
    struct text raw;

    switch (element->kind) {
    case ELEMENT_STRING:
        return store_string(reader, level, element, text);
    case ELEMENT_INTEGER:
    case ELEMENT_REAL:
    case ELEMENT_FLAG:
    case ELEMENT_KEYWORD:
        return store_number(reader, level, element, text);
    case ELEMENT_BLOB:
        raw = reference(reader, text);
        store(level, element, &raw, sizeof raw);
        return STATUS_OK;
    case ELEMENT_WHOLE:
        add_piece(reader, reference(reader, text));
        return STATUS_OK;
    case ELEMENT_TRICKLE:
        return add_trickle(reader, element, reference(reader, text));
    case ELEMENT_INSIDE:
    case ELEMENT_ITEM:
        break;
    }
    return STATUS_OK;
}
