/* SPDX-License-Identifier: Apache-2.0 */
/* FastCGI records taken apart as they come, for requests that are too large to wait for: the web
 * server sends the variables, and then pieces of the body while it gets them. Nothing of the body
 * is copied or kept. Pure but for the memory of the variables.
 *
 * What is taken is what fcgi_records.h takes; an ABORT record (the client went away) is the end of
 * it. */
#ifndef SERVER_WEB_FCGI_STREAM_H
#define SERVER_WEB_FCGI_STREAM_H

#include "server/base/buffer.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fcgi_piece {
    FCGI_PIECE_NONE,      /* all bytes were taken; more are needed */
    FCGI_PIECE_VARIABLES, /* the request's variables are there, in `variables`: fcgi_variable_in */
    FCGI_PIECE_BODY,      /* bytes of the body */
    FCGI_PIECE_END,       /* the body is at its end; what follows is not looked at */
    FCGI_PIECE_UNSOUND    /* no web server sends this, or it gave the request up: close */
};

/* One connection; begin with fcgi_stream_begin. */
struct fcgi_stream {
    struct buffer variables; /* on the heap; free it when they have been read */
    unsigned request_id;     /* 0: not known yet */
    bool variables_are_whole, has_ended;
    /* The record under way. */
    unsigned char head[8], begin[8];
    size_t head_length, content_length, content_left, padding_left;
};

void fcgi_stream_begin(struct fcgi_stream *stream);
/* Takes from the front of *bytes up to what it answers. */
enum fcgi_piece fcgi_stream_next(struct fcgi_stream *stream, struct text *bytes,
                                 struct text *ret_body);

#endif
