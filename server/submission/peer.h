/* SPDX-License-Identifier: Apache-2.0 */
/* The web server that hands one request over, by FastCGI on a connection or as a CGI program's
 * environment, standard input and output: the request's variables, its body in pieces as they come,
 * and the answer in pieces as it is made. Waits for whatever is slow, but not for ever. */
#ifndef SERVER_SUBMISSION_PEER_H
#define SERVER_SUBMISSION_PEER_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/web/fcgi_stream.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PEER_PIECE = 64 * 1024 };

struct peer {
    int from, to; /* the same connection, or standard input and output */
    bool is_cgi;
    bool has_ended; /* the body: nothing more comes */
    bool is_broken; /* the answer cannot be sent on */
    int64_t left;   /* CGI: of the body, as far as the web server says */
    uint64_t begun_ns;
    uint64_t got; /* bytes, of all */
    /* For peer_slowness, by another thread. */
    _Atomic uint64_t moved;      /* bytes, either way */
    _Atomic uint64_t waited_ns;  /* for the web server, in all */
    _Atomic uint64_t waiting_ns; /* since when it is waited for; 0: it is not */
    struct fcgi_stream stream;
    struct text rest; /* of the piece, not looked at yet */
    char piece[PEER_PIECE];
};

/* STATUS_IO: no request came. The connection stays the caller's. */
MUST_CHECK enum status peer_begin(struct peer *peer, int connection);
void peer_begin_cgi(struct peer *peer);
/* Of the request; it lives as long as the peer. Empty: it has none. */
struct text peer_variable(const struct peer *peer, const char *name);
/* The next bytes of the body, which live until the next call; empty: it has ended. STATUS_IO: the
 * web server went away, or was silent for too long. */
MUST_CHECK enum status peer_next(struct peer *peer, struct text *ret_bytes);
/* Bytes of the answer, its HTTP head first; an rpc_send, whose context
 * is the peer. */
void peer_send(void *context, struct text bytes);
/* How long each byte, either way, has been waited for on the average, ns; 0: it is not waited for
 * at the moment, or was not for long yet, or it is not slow. Any thread. */
uint64_t peer_slowness(const struct peer *peer);
/* The answer was sent. What still comes of the body is dropped, since web servers may fail to pass
 * an answer on while they have something to give. */
void peer_end(struct peer *peer);

#endif
