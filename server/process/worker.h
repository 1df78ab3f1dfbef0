/* SPDX-License-Identifier: Apache-2.0 */
/* A worker: what one thread needs to serve requests one after the other (its arena, its connections
 * to both databases, its libfcgi request), and how it makes a reply from a body. */
#ifndef SERVER_PROCESS_WORKER_H
#define SERVER_PROCESS_WORKER_H

#include "server/base/buffer.h"
#include "server/base/status.h"
#include "server/base/text.h"
#include "server/join/join_page.h"
#include "server/recording/recording.h"
#include "server/rpc/request.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct config;
struct fcgi;
struct files;
struct load;
struct receiver;
struct server;
struct snapshot;
struct web_request;

struct worker {
    struct server *server;
    struct fcgi *fcgi; /* NULL for CGI */
    struct arena *arena;
    size_t arena_bytes_max;

    /* The connection to the database and the configuration that it was opened with. */
    struct db *db;
    struct config *db_config;
    int db_failures;           /* in a row */
    uint64_t db_not_before_ns; /* monotonic: the next try to connect */

    struct files *files; /* the link to the file database */

    struct recorded record; /* of the request that is being served */

    /* The web server's connection, for whoever must end an exchange that takes too long. */
    pthread_mutex_t lock;
    int connection;       /* -1: none, or none that may be cut */
    uint64_t deadline_ns; /* monotonic */
};

void worker_init(struct worker *worker, struct server *server, struct fcgi *fcgi);
void worker_clear(struct worker *worker);
/* It is opened again when it is needed. */
void worker_close_database(struct worker *worker);

/* Runs one request; the reply is in `ret_reply`, the log line is written. `load` is the server's
 * when the request came. True: it was served, and not only refused. */
bool worker_answer(struct worker *worker, const struct snapshot *snapshot,
                   const struct web_request *web, const struct load *load,
                   struct buffer *ret_reply);

/* Answers a page for joining (not JOIN_NONE); false: it refused somebody who may be guessing. */
bool worker_join(struct worker *worker, const struct snapshot *snapshot,
                 const struct web_request *web, enum join_page page, struct text query,
                 struct buffer *ret_page);

/* Thread main: serves what the receiver has, until it ends. */
void worker_serve(struct worker *worker, struct receiver *receiver);
/* Any thread: shuts the connection down if its time is over at `now_ns`; UINT64_MAX: in any case.
 */
void worker_cut_overdue(struct worker *worker, uint64_t now_ns);

#endif
