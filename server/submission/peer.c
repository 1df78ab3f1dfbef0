/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/peer.h"

#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/file.h"
#include "server/web/fcgi_records.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/banned.h"

/* Silence is borne for so long, and on the whole so many bytes have to come each second. */
enum { PATIENCE_S = 60, BYTES_PER_SECOND_LEAST = 1000, DROP_S = 10 };
/* Below this many bytes a second a line is slow, once it was waited for so long. */
enum { SLOW_AFTER_S = 5, SLOW_BYTES_PER_SECOND = 100000 };
#define NS_OF_S UINT64_C(1000000000)

/* --- how slow it is ---------------------------------------------------------------------------
 */

static void begin_wait(struct peer *peer)
{
    atomic_store(&peer->waiting_ns, clock_ns());
}

static void end_wait(struct peer *peer, ssize_t bytes)
{
    atomic_fetch_add(&peer->waited_ns, clock_ns() - atomic_load(&peer->waiting_ns));
    atomic_store(&peer->waiting_ns, 0);
    if (bytes > 0)
        atomic_fetch_add(&peer->moved, (uint64_t)bytes);
}

static void begin_count(struct peer *peer)
{
    atomic_store(&peer->moved, 0);
    atomic_store(&peer->waited_ns, 0);
    atomic_store(&peer->waiting_ns, 0);
}

uint64_t peer_slowness(const struct peer *peer)
{
    uint64_t since_ns = atomic_load(&peer->waiting_ns), now_ns = clock_ns();
    uint64_t waited_ns = atomic_load(&peer->waited_ns), slowness;

    if (since_ns == 0 || now_ns < since_ns ||
        waited_ns + now_ns - since_ns < SLOW_AFTER_S * NS_OF_S)
        return 0;
    slowness = (waited_ns + now_ns - since_ns) / (atomic_load(&peer->moved) + 1);
    return slowness > NS_OF_S / SLOW_BYTES_PER_SECOND ? slowness : 0;
}

/* --- what comes ------------------------------------------------------------------------------- */

static bool is_overdue(const struct peer *peer)
{
    uint64_t allowed_ns = (PATIENCE_S + peer->got / BYTES_PER_SECOND_LEAST) * NS_OF_S;

    return clock_ns() - peer->begun_ns > allowed_ns;
}

/* The next piece into peer->rest; false: there is none, and will be none. */
static bool hear(struct peer *peer, int seconds)
{
    struct pollfd wait = {.fd = peer->from, .events = POLLIN};
    size_t most = PEER_PIECE;
    ssize_t got;
    bool is_there;

    if (peer->is_cgi && peer->left < PEER_PIECE)
        most = (size_t)peer->left;
    do {
        if (most == 0 || is_overdue(peer))
            return false;
        begin_wait(peer);
        is_there = poll(&wait, 1, seconds * 1000) != 0;
        got = is_there ? read(peer->from, peer->piece, most) : 0;
        end_wait(peer, got);
    } while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    peer->got += (uint64_t)got;
    peer->left -= got;
    peer->rest = (struct text){peer->piece, (size_t)got};
    return true;
}

enum status peer_begin(struct peer *peer, int connection)
{
    struct text unused;

    peer->from = peer->to = connection;
    peer->is_cgi = peer->has_ended = peer->is_broken = false;
    peer->begun_ns = clock_ns();
    peer->got = 0;
    begin_count(peer);
    peer->left = 0;
    peer->rest = NO_TEXT;
    fcgi_stream_begin(&peer->stream);
    for (;;) {
        switch (fcgi_stream_next(&peer->stream, &peer->rest, &unused)) {
        case FCGI_PIECE_VARIABLES:
            return STATUS_OK;
        case FCGI_PIECE_NONE:
            if (hear(peer, PATIENCE_S))
                continue;
            break;
        case FCGI_PIECE_BODY:
        case FCGI_PIECE_END:
        case FCGI_PIECE_UNSOUND:
            break;
        }
        buffer_free(&peer->stream.variables);
        return STATUS_IO;
    }
}

void peer_begin_cgi(struct peer *peer)
{
    int64_t left;

    peer->from = STDIN_FILENO;
    peer->to = STDOUT_FILENO;
    peer->is_cgi = true;
    peer->has_ended = peer->is_broken = false;
    peer->begun_ns = clock_ns();
    peer->got = 0;
    begin_count(peer);
    peer->rest = NO_TEXT;
    if (!text_to_i64(text_from(getenv("CONTENT_LENGTH")), &left) || left < 0)
        left = INT64_MAX;
    peer->left = left;
    fcgi_stream_begin(&peer->stream);
}

struct text peer_variable(const struct peer *peer, const char *name)
{
    return peer->is_cgi ? text_from(getenv(name))
                        : fcgi_variable_in(buffer_text(&peer->stream.variables), name);
}

static enum status next_of_cgi(struct peer *peer, struct text *ret_bytes)
{
    peer->has_ended = !hear(peer, PATIENCE_S);
    *ret_bytes = peer->has_ended ? NO_TEXT : peer->rest;
    return peer->has_ended && peer->left > 0 && peer->left < INT64_MAX - (int64_t)peer->got
               ? STATUS_IO
               : STATUS_OK;
}

enum status peer_next(struct peer *peer, struct text *ret_bytes)
{
    *ret_bytes = NO_TEXT;
    if (peer->has_ended)
        return STATUS_OK;
    if (peer->is_cgi)
        return next_of_cgi(peer, ret_bytes);
    for (;;) {
        switch (fcgi_stream_next(&peer->stream, &peer->rest, ret_bytes)) {
        case FCGI_PIECE_BODY:
            return STATUS_OK;
        case FCGI_PIECE_END:
            peer->has_ended = true;
            return STATUS_OK;
        case FCGI_PIECE_NONE:
            if (hear(peer, PATIENCE_S))
                continue;
            return STATUS_IO;
        case FCGI_PIECE_VARIABLES:
        case FCGI_PIECE_UNSOUND:
            return STATUS_IO;
        }
    }
}

/* --- what is answered -------------------------------------------------------------------------
 */

/* Each call has the time that listener_accept gives; whoever takes longer has gone. */
static void send_all(struct peer *peer, struct text bytes)
{
    while (bytes.length > 0 && !peer->is_broken) {
        ssize_t put;

        begin_wait(peer);
        put = peer->is_cgi ? write(peer->to, bytes.at, bytes.length)
                           : send(peer->to, bytes.at, bytes.length, MSG_NOSIGNAL);
        end_wait(peer, put);
        if (put < 0 && errno == EINTR)
            continue;
        peer->is_broken = put <= 0;
        if (put > 0) {
            bytes.at += put;
            bytes.length -= (size_t)put;
        }
    }
}

void peer_send(void *context, struct text bytes)
{
    struct peer *peer = context;
    struct buffer records = buffer_on_heap(0);

    if (peer->is_cgi) {
        send_all(peer, bytes);
        return;
    }
    fcgi_add_output(&records, peer->stream.request_id, bytes);
    send_all(peer, buffer_text(&records));
    peer->is_broken = peer->is_broken || records.overflowed;
    buffer_free(&records);
}

static void drop_rest(struct peer *peer)
{
    uint64_t end_ns = clock_ns() + DROP_S * NS_OF_S;
    struct text unused;

    while (!peer->has_ended && clock_ns() < end_ns)
        if (peer_next(peer, &unused) != STATUS_OK)
            return;
}

void peer_end(struct peer *peer)
{
    struct buffer records = buffer_on_heap(0);

    if (peer->is_cgi) {
        (void)close(peer->to);
    } else {
        fcgi_add_end(&records, peer->stream.request_id);
        send_all(peer, buffer_text(&records));
        (void)shutdown(peer->to, SHUT_WR);
    }
    drop_rest(peer);
    buffer_free(&records);
    buffer_free(&peer->stream.variables);
}
