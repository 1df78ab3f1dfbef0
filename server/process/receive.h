/* SPDX-License-Identifier: Apache-2.0 */
/* Accepting and answering are apart: one thread, the receiver, accepts every connection and reads
 * the requests; worker threads take them when they are whole.
 *
 * The queue of the listening socket therefore does not fill, and web servers need not answer 502.
 * A peer that is slow or silent holds memory, which is bounded, and no thread. Peers take turns:
 * one piece of each is read at a time, and a request of several pieces may hold only memory that
 * is still free. Small requests therefore never wait for a large one, or for its memory. Large
 * bodies of one account are read one after the other (body_turns.h). How many requests wait, and
 * for how long, is known from the first second. A request that cannot be served within a client's
 * patience is answered at once by a page that asks the client to come again: by the receiver when
 * it arrives, or by the worker that finds it too old. Requests that report results are refused
 * only after all others. waiting.h decides the order of waiting requests. It treats requests as
 * strangers' unless a worker recently found their key in the database (known_keys.h).
 *
 * States of a connection: it is read (from accept until its request is whole, with a time limit),
 * then it waits in the line, then it is a worker's, which answers and closes it. One that sends
 * what no web server sends, or runs out of time, is closed. */
#ifndef SERVER_PROCESS_RECEIVE_H
#define SERVER_PROCESS_RECEIVE_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/join/join_page.h"
#include "server/policy/refusal/delay.h"
#include "server/process/body_turns.h"
#include "server/process/waiting.h"
#include "server/web/fcgi_records.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct listener;
struct load_meter;
struct receiver;

/* What is not kept is answered by the receiver alone: `bytes` are of no use. */
enum received_body {
    BODY_KEPT,
    BODY_TOO_LARGE,   /* for any request */
    BODY_WITHOUT_ROOM /* it is asked to come again */
};

/* A request, whole, as FastCGI records. */
struct received {
    struct waiting_entry waits; /* first: the line gives this back */
    int connection;             /* the worker closes it */
    char *bytes;
    size_t length, capacity;
    uint64_t account; /* of the key in its head, as request_account says */
    bool has_key;     /* there is one */
    bool is_known;    /* this process found it of late */
    bool is_found;    /* it is right: the worker's, before receiver_finish */
    enum join_page page;
    enum received_body body;
    struct load load; /* of the server, when it came */

    /* The receiver's own. */
    struct fcgi_check check;
    uint64_t accepted_ns;
    bool is_dear;                      /* see waiting_is_dear */
    bool is_large;                     /* it asked for its account's turn */
    struct body_turn_entry large;      /* under the receiver's lock */
    size_t came;                       /* bytes, kept or not */
    uint64_t taken_ns, taken_cpu_ns;   /* when a worker took it, and that thread's CPU until then */
    uint64_t others_ns, others_cpu_ns; /* what the thread did since then for others: the worker's */
    uint32_t events;                   /* that it is polled for; 0: it is new */
    struct received *prev, *next;
};

/* A thread that takes requests: zero at first, then the receiver's own. It stays where it is until
 * receiver_take has told the thread of the end. */
struct receiver_worker {
    bool is_working;   /* it has taken a request and has not come back for another */
    uint64_t taken_ns; /* monotonic: when it took the last one */
    struct receiver_worker *prev, *next;
};

/* The page for a request that is not served, HTTP head and all: too large, or too many wait. Any
 * thread. */
typedef void refusal_page(void *context, const struct received *received, struct buffer *ret_page);

struct receiver_options {
    size_t body_max;        /* bytes of a request's body */
    size_t memory_spare;    /* bytes of all requests that are read or wait, beside two bodies */
    size_t connections_max; /* that are read, wait or are served */
    size_t workers;         /* threads that call receiver_take */
    size_t processors;      /* of the machine */
    const char *processor_times; /* the file that tells how busy they are, see busy_meter_open */
    size_t share;                /* see waiting_create */
    uint64_t first_record_ns, whole_ns; /* after accept: for the first record, for all of them */
    uint64_t patience_ns;               /* no request is served that has waited longer */
    struct load_meter *meter;           /* NULL: nobody is asked to come again for load */
    double load_target;                 /* see load_meter_arrival */
    refusal_page *refuse;
    void *context;
};

/* What is going on; any thread may read it. */
struct receiver_figures {
    size_t reading, waiting; /* connections, requests */
    double oldest;           /* s that the oldest request has waited */
    size_t memory;           /* bytes */
    size_t workers_working;  /* that have a request in hand */
    size_t workers_limit;    /* that work at a time, see concurrency.h */
};

/* Starts the thread. The listener stays the caller's and is stopped by listener_stop: then what
 * has come is still read and served, and receiver_take ends. */
MUST_CHECK enum status receiver_start(const struct receiver_options *options,
                                      struct listener *listener, struct receiver **ret_receiver,
                                      struct failure *failure);
/* Any thread: no more is read and none is given out; connections that are not a worker's are closed
 * at receiver_join. */
void receiver_cut(struct receiver *receiver);
/* Waits for its end. NULL is fine. */
void receiver_join(struct receiver *receiver);

/* The next request, waiting for one; NULL after the end. The worker has nothing in hand any more.
 * One that shares COMMITs leaves requests to those that work, while that is better for all
 * (concurrency.h). */
struct received *receiver_take(struct receiver *receiver, struct receiver_worker *worker,
                               bool shares);
/* One more, without waiting for it: NULL also where none waits that may be served now. */
struct received *receiver_take_waiting(struct receiver *receiver, struct receiver_worker *worker);
bool receiver_has_waiting(struct receiver *receiver);
/* Of one that was taken: others may wait for it. It is a request of an account whose requests are
 * not dear, and not long, as it costs by its length. Pure. */
enum { LIGHT_BODY_MAX = 64 * 1024 };
bool received_is_light(const struct received *received);
/* Its bytes are needed no more. */
void receiver_free_bytes(struct receiver *receiver, struct received *received);
/* It is answered and its connection closed. Frees it. */
void receiver_finish(struct receiver *receiver, struct received *received);

/* From now on. */
void receiver_set_limits(struct receiver *receiver, size_t body_max, double load_target);
/* How many servers work on the database, see concurrency.h. */
void receiver_set_servers(struct receiver *receiver, size_t servers);
void receiver_figures(struct receiver *receiver, struct receiver_figures *ret_figures);

/* The share of the threads that one account may hold while others wait: half, and two at least. */
size_t receiver_share(size_t threads);

#endif
