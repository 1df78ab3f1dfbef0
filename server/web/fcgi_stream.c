/* SPDX-License-Identifier: Apache-2.0 */
#include "server/web/fcgi_stream.h"

#include "server/web/fcgi_parts.h"
#include "server/web/fcgi_records.h"

#include <string.h>

#include "server/base/banned.h"

void fcgi_stream_begin(struct fcgi_stream *stream)
{
    *stream = (struct fcgi_stream){.variables = buffer_on_heap(FCGI_VARIABLES_MAX)};
}

static struct text take(struct text *bytes, size_t most)
{
    struct text taken = text_first(*bytes, most);

    bytes->at += taken.length;
    bytes->length -= taken.length;
    return taken;
}

/* The head of a record is whole. False: none that may come now. */
static bool begin_record(struct fcgi_stream *stream)
{
    const unsigned char *head = stream->head;
    unsigned id = fcgi_number(head + 2);

    stream->content_length = stream->content_left = fcgi_number(head + 4);
    stream->padding_left = head[6];
    if (stream->request_id == 0) {
        stream->request_id = id;
        return head[1] == RECORD_BEGIN && id != 0 && stream->content_length == FCGI_BEGIN_BYTES;
    }
    return id == stream->request_id &&
           head[1] == (stream->variables_are_whole ? RECORD_STDIN : RECORD_PARAMS);
}

/* Content of the record under way. False: the request is none that we take. */
static bool take_content(struct fcgi_stream *stream, struct text part)
{
    switch (stream->head[1]) {
    case RECORD_BEGIN:
        memcpy(stream->begin + stream->content_length - stream->content_left, part.at, part.length);
        stream->content_left -= part.length;
        return stream->content_left > 0 || fcgi_number(stream->begin) == FCGI_RESPONDER;
    case RECORD_PARAMS:
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
    if (stream->head[1] == RECORD_PARAMS) {
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
        return stream->head[1] == RECORD_STDIN ? FCGI_PIECE_BODY : FCGI_PIECE_NONE;
    }
    if (stream->padding_left > 0) {
        stream->padding_left -= take(bytes, stream->padding_left).length;
        return FCGI_PIECE_NONE;
    }
    struct text part = take(bytes, FCGI_HEAD_BYTES - stream->head_length);
    memcpy(stream->head + stream->head_length, part.at, part.length);
    stream->head_length += part.length;
    if (stream->head[0] != FCGI_VERSION)
        return FCGI_PIECE_UNSOUND;
    if (stream->head_length < FCGI_HEAD_BYTES)
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
