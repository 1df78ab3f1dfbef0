/* SPDX-License-Identifier: Apache-2.0 */
/* FastCGI records as bytes: whether those that came make up a whole request that libfcgi can read.
 *
 * libfcgi trusts its peer. A length of 2 GiB in the variables ends the process by an assertion,
 * and a peer that says nothing holds the thread that reads from it. The receiver (receive.h)
 * therefore collects the bytes of each connection and asks here, as they come, whether they are
 * sound and complete; libfcgi sees them only then. Nothing is copied or kept but a few numbers:
 * the check goes on where it stopped, so its work is linear in the bytes. Pure.
 *
 * What is taken is what web servers send to a responder: one request, its variables (PARAMS), its
 * body (STDIN), each ended by an empty record; management records before it are not answered. */
#ifndef SERVER_WEB_FCGI_RECORDS_H
#define SERVER_WEB_FCGI_RECORDS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

enum fcgi_progress {
    FCGI_INCOMPLETE, /* sound so far */
    FCGI_COMPLETE,   /* the whole request is there; what follows is not looked at */
    FCGI_UNSOUND     /* no web server sends this: close the connection */
};

/* Bytes of all variables, and so of one. */
enum { FCGI_VARIABLES_MAX = 64 * 1024 };

/* One connection's check; all zero at its beginning. */
struct fcgi_check {
    /* Bytes that were looked at. A record of the body is counted when its head is there: this may
     * be beyond what has come. */
    size_t at;
    enum fcgi_stage {
        FCGI_STAGE_BEGIN,
        FCGI_STAGE_PARAMS,
        FCGI_STAGE_STDIN,
        FCGI_STAGE_DONE
    } stage;
    unsigned request_id;
    size_t variable_bytes;
    /* In the stream of variables: bytes of a name or value still to come, and a length half read.
     */
    uint64_t content_left;
    unsigned length_bytes_left, lengths_read;
    uint32_t length;
    /* The body. */
    size_t body_bytes;
    size_t body_at; /* offset of its first record */
};

/* Looks at what came since the last call; `bytes` begins at the connection's first byte. */
enum fcgi_progress fcgi_check(struct fcgi_check *check, struct text bytes);

/* Copies the beginning of the body, which may lie in many records (a web server cuts it where its
 * own buffers end), `size` bytes at most. Returns how many there are. */
size_t fcgi_copy_body(const struct fcgi_check *check, struct text bytes, char *to, size_t size);

/* Copies the variables of a sound request, `size` bytes at most. Returns how many there are. */
size_t fcgi_copy_variables(struct text bytes, char *to, size_t size);
/* The value of the first variable of that name; empty where it is not there, or was cut. */
struct text fcgi_variable_in(struct text variables, const char *name);

/* Appends a piece of the response to that request (HTTP head and body) in records, and its end. */
void fcgi_add_output(struct buffer *out, unsigned request_id, struct text text);
void fcgi_add_end(struct buffer *out, unsigned request_id);
/* Both: a whole response. */
void fcgi_add_response(struct buffer *out, unsigned request_id, struct text text);

#endif
