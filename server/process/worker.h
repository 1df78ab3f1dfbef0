/* SPDX-License-Identifier: Apache-2.0 */
/* A worker: what one thread needs to serve requests (exchanges with the web server, its connections
 * to both databases), and how it makes a reply from a body. */
#ifndef SERVER_PROCESS_WORKER_H
#define SERVER_PROCESS_WORKER_H

#include "server/base/buffer.h"
#include "server/base/status.h"
#include "server/base/text.h"
#include "server/join/join_page.h"
#include "server/process/exchange.h"
#include "server/process/group_time.h"
#include "server/process/receive.h"
#include "server/request/request_group.h"
#include "server/rpc/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct files;
struct load;
struct server;
struct snapshot;
struct web_request;

struct worker {
    struct server *server;
    struct receiver *receiver; /* NULL for CGI */
    struct receiver_worker taking;

    /* The connection to the database and the configuration that it was opened with. */
    struct db *db;
    struct config *db_config;
    bool db_was_away;          /* a request found it useless */
    int db_failures;           /* in a row */
    uint64_t db_not_before_ns; /* monotonic: the next try to connect */

    struct files *files; /* the link to the file database */

    /* CGI has one. */
    struct exchange exchanges[REQUEST_GROUP_MOST];
    size_t exchange_count;
    /* Those that wait for the COMMIT of a transaction that they share, as in `group`; and those
     * that are read, and are run next. */
    struct exchange *members[REQUEST_GROUP_MOST], *begun[REQUEST_GROUP_MOST];
    size_t begun_count;
    struct request_group group;
    struct group_time group_time;
    size_t alone_left; /* requests that share nothing, after some that did were tried again */
};

/* Without a receiver for CGI. After a failure worker_clear is still to be called. */
MUST_CHECK enum status worker_init(struct worker *worker, struct server *server,
                                   struct receiver *receiver);
void worker_clear(struct worker *worker);
/* It is opened again when it is needed. */
void worker_close_database(struct worker *worker);
/* Between two transactions: gives a connection up that is of no use, and rolls back what is open.
 */
void worker_tend_database(struct worker *worker);

/* Runs one request of CGI; the reply is in `ret_reply`, the log line is written. */
void worker_answer(struct worker *worker, const struct snapshot *snapshot,
                   const struct web_request *web, struct buffer *ret_reply);
/* Fills in exchange->request. `load` is the server's when the request came. False: no memory; the
 * reply stays empty, and the client comes again. */
bool worker_begin_request(struct worker *worker, struct exchange *exchange,
                          const struct snapshot *snapshot, const struct load *load);
/* When it has an outcome: writes exchange->reply, the log line and the figures, and says in
 * exchange->is_served whether it was served, and not only refused. */
void worker_end_request(struct worker *worker, struct exchange *exchange, enum outcome outcome);

/* Answers a page for joining (not JOIN_NONE), by exchange->web and with the exchange's memory;
 * false: it refused somebody who may be guessing. */
bool worker_join(struct worker *worker, struct exchange *exchange, const struct snapshot *snapshot,
                 enum join_page page, struct text query, struct buffer *ret_page);

/* Thread main (worker_serve.c): serves what the receiver has, until it ends. */
void worker_serve(struct worker *worker);
/* Any thread: shuts connections down whose time is over at `now_ns`; UINT64_MAX: in any case. */
void worker_cut_overdue(struct worker *worker, uint64_t now_ns);

#endif
