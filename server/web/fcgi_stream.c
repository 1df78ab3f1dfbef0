/* SPDX-License-Identifier: Apache-2.0 */
#include "server/web/fcgi_stream.h"

#include "server/web/fcgi_records.h"

#include <string.h>

#include "server/base/banned.h"

/* What a record is of: the second byte of its head. */
enum { HEAD_BYTES = 8, BEGIN_BYTES = 8, OF_BEGIN = 1, OF_VARIABLES = 4, OF_BODY = 5 };

void fcgi_stream_begin(struct fcgi_stream *stream)
{
    *stream = (struct fcgi_stream){.variables = buffer_on_heap(FCGI_VARIABLES_MAX)};
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct text take(struct text *bytes, size_t most)
{
    struct text taken = text_first(*bytes, most);

    bytes->at += taken.length;
    bytes->length -= taken.length;
    return taken;
}

static unsigned number_at(const unsigned char *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* The head of a record is whole. False: none that may come now. */
static bool begin_record(struct fcgi_stream *stream)
{
    const unsigned char *head = stream->head;
    unsigned id = number_at(head + 2);

    stream->content_length = stream->content_left = number_at(head + 4);
    stream->padding_left = head[6];
    if (stream->request_id == 0) {
        stream->request_id = id;
        return head[1] == OF_BEGIN && id != 0 && stream->content_length == BEGIN_BYTES;
    }
    return id == stream->request_id &&
           head[1] == (stream->variables_are_whole ? OF_BODY : OF_VARIABLES);
}

/* Content of the record under way. False: the request is none that we take. */
static bool take_content(struct fcgi_stream *stream, struct text part)
{
    switch (stream->head[1]) {
    case OF_BEGIN:
        memcpy(stream->begin + stream->content_length - stream->content_left, part.at, part.length);
        stream->content_left -= part.length;
        /* The role is that of a responder. */
        return stream->content_left > 0 || number_at(stream->begin) == 1;
    case OF_VARIABLES:
        buffer_add(&stream->variables, part);
        stream->content_left -= part.length;
        return !stream->variables.overflowed;
    default:
        stream->content_left -= part.length;
        return true;
    }
}

/* A record without content ends the variables, and then the body. */
static enum fcgi_piece end_of_stream(struct fcgi_stream *stream)
{
    if (stream->head[1] == OF_VARIABLES) {
        stream->variables_are_whole = true;
        return FCGI_PIECE_VARIABLES;
    }
    stream->has_ended = true;
    return FCGI_PIECE_END;
}

/* One step; FCGI_PIECE_NONE: go on while there are bytes. */
static enum fcgi_piece step(struct fcgi_stream *stream, struct text *bytes, struct text *ret_body)
{
    if (stream->content_left > 0) {
        struct text part = take(bytes, stream->content_left);

        if (!take_content(stream, part))
            return FCGI_PIECE_UNSOUND;
        *ret_body = part;
        return stream->head[1] == OF_BODY ? FCGI_PIECE_BODY : FCGI_PIECE_NONE;
    }
    if (stream->padding_left > 0) {
        stream->padding_left -= take(bytes, stream->padding_left).length;
        return FCGI_PIECE_NONE;
    }
    struct text part = take(bytes, HEAD_BYTES - stream->head_length);
    memcpy(stream->head + stream->head_length, part.at, part.length);
    stream->head_length += part.length;
    if (stream->head[0] != 1) /* the version */
        return FCGI_PIECE_UNSOUND;
    if (stream->head_length < HEAD_BYTES)
        return FCGI_PIECE_NONE;
    stream->head_length = 0;
    if (!begin_record(stream))
        return FCGI_PIECE_UNSOUND;
    return stream->content_left == 0 ? end_of_stream(stream) : FCGI_PIECE_NONE;
}

enum fcgi_piece fcgi_stream_next(struct fcgi_stream *stream, struct text *bytes,
                                 struct text *ret_body)
{
    enum fcgi_piece piece = FCGI_PIECE_NONE;

    *ret_body = NO_TEXT;
    if (stream->has_ended)
        return FCGI_PIECE_END;
    while (bytes->length > 0 && piece == FCGI_PIECE_NONE)
        piece = step(stream, bytes, ret_body);
    return piece;
}

/* --- variables -------------------------------------------------------------------------------- */

/* A length of one byte, or of four if the first bit is set. */
static bool take_length(struct text *list, size_t *ret_length)
{
    const unsigned char *at = (const unsigned char *)list->at;
    size_t bytes = list->length > 0 && at[0] >= 0x80 ? 4 : 1;

    if (list->length < bytes)
        return false;
    *ret_length = at[0] & 0x7fu;
    for (size_t i = 1; i < bytes; i++)
        *ret_length = *ret_length << 8 | at[i];
    (void)take(list, bytes);
    return true;
}

bool fcgi_stream_variable(struct text variables, const char *name, struct text *ret_value)
{
    size_t name_length, value_length;

    while (take_length(&variables, &name_length) && take_length(&variables, &value_length)) {
        struct text found = take(&variables, smaller(name_length, variables.length));
        struct text value = take(&variables, smaller(value_length, variables.length));

        if (found.length < name_length || value.length < value_length)
            return false;
        if (text_is(found, name)) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}
