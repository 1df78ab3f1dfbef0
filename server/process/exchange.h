/* SPDX-License-Identifier: Apache-2.0 */
/* One exchange with a web server: a request as it was received, what libfcgi makes of it, and what
 * is needed until its reply is sent. A worker has several of them, since requests that share a
 * transaction wait for its COMMIT together; each is used by one request after the other. */
#ifndef SERVER_PROCESS_EXCHANGE_H
#define SERVER_PROCESS_EXCHANGE_H

#include "server/base/buffer.h"
#include "server/base/status.h"
#include "server/base/text.h"
#include "server/process/server.h"
#include "server/process/web_request.h"
#include "server/recording/recording.h"
#include "server/rpc/request.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct config;
struct fcgi;
struct received;

struct exchange {
    struct fcgi *fcgi; /* NULL for CGI */
    struct arena *arena;
    size_t arena_bytes_max;

    /* Of the request that is being served. */
    struct received *received;
    struct snapshot snapshot;
    struct web_request web;
    struct buffer body, reply;
    struct request request;
    struct recorded record;
    bool is_in_use;
    bool is_served;                /* and not only refused */
    uint64_t left_ns, left_cpu_ns; /* when the thread turned to others, and its CPU until then */

    /* The web server's connection, for whoever must end an exchange that takes too long. */
    pthread_mutex_t lock;
    int connection;       /* -1: none, or none that may be cut */
    uint64_t deadline_ns; /* monotonic */
};

MUST_CHECK enum status exchange_init(struct exchange *exchange, bool has_fcgi);
void exchange_clear(struct exchange *exchange); /* also one that exchange_init failed for */

/* An arena of the size that the configuration in force says; NULL: no memory. */
struct arena *exchange_arena(struct exchange *exchange, const struct config *config);

/* Takes the received records, of which the connection is the exchange's from now on. False: it is
 * closed. */
bool exchange_begin(struct exchange *exchange, struct received *received);
/* Closes the connection: nothing more is sent. */
void exchange_finish(struct exchange *exchange);

/* The request was read: until something is sent, nobody waits for the web server, and the exchange
 * is not cut. */
void exchange_works(struct exchange *exchange);
/* Between the two the thread does something for other requests. */
void exchange_leave(struct exchange *exchange);
void exchange_resume(struct exchange *exchange);
/* How long the thread has worked for it, until now. */
uint64_t exchange_held_ns(const struct exchange *exchange, uint64_t now_ns);

void exchange_send(struct exchange *exchange, struct text head, struct text content);
/* A page or reply behind the head of web_reply_head. */
void exchange_reply(struct exchange *exchange, const char *content_type,
                    const struct web_request *web, struct text reply);
const char *exchange_variable(void *context, const char *name); /* a variable_reader */

/* Any thread: shuts the connection down if its time is over at `now_ns`; UINT64_MAX: in any case.
 */
void exchange_cut_overdue(struct exchange *exchange, uint64_t now_ns);

#endif
