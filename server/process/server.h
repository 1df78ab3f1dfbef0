/* SPDX-License-Identifier: Apache-2.0 */
/* The process around the requests, from start to stop.
 *
 * main.c reads the command line and makes a struct server, which loads the configuration and the
 * project's files. As a CGI program it answers one request (cgi.c) and ends. As a FastCGI server
 * it opens the socket (listen.c) and starts: the watcher (watch.c), a thread that notices what the
 * administrator changes; the thread that keeps the job pool like the database (server/pool/fill.h);
 * the receiver (receive.c), which accepts connections and reads requests; and the workers
 * (worker.c). A worker takes a request that is there whole, has libfcgi read it (fcgi.c), takes a
 * snapshot, lets server/request/ make the reply, and writes it.
 *
 * A snapshot is what one request goes by: configuration, catalog and project files, all immutable
 * and with a count of holders. `current` is swapped under one mutex that is held for a few pointer
 * copies; what was replaced lives until its last request lets go. The load meter, the streams'
 * ledger, the pool and the state of the file database are shared as they are, and each says itself
 * how threads may use it. Everything else of a request belongs to its worker.
 *
 * The main thread waits for signals: SIGHUP has the log opened and everything read again, SIGTERM
 * and SIGINT stop. Once a second it cuts connections on which a web server takes too long.
 *
 * A stop is a drain: no new connections, the requests under way are finished and answered. A
 * second signal, or 30 seconds, cuts the connections; a transaction that goes on then belongs to a
 * client that will ask again. */
#ifndef SERVER_PROCESS_SERVER_H
#define SERVER_PROCESS_SERVER_H

#include "server/base/status.h"
#include "server/rpc/request.h"

#include <stdbool.h>
#include <stdint.h>

struct project;
struct buffer;
struct listener;
struct pool;
struct load_meter;
struct stream_ledger;
struct files_health;
struct server;

enum { FINDINGS_BYTES_MAX = 64 << 20 }; /* of a config.xml being read */

/* What the command line says. */
struct server_options {
    const char *project_dir;
    const char *listen; /* NULL: the inherited socket */
    unsigned socket_mode;
    int threads; /* 0: config.xml says it */
    bool clock_from_request;
    /* s that a request costs a worker, where the clock is the requests'; 0: no load */
    double service_time;
};

/* Held until snapshot_release, whatever is reloaded meanwhile. The catalog is NULL until the
 * database was reached once. */
struct snapshot {
    struct config *config;
    struct catalog *catalog;
    struct project *project;
    bool stop_sched;
};

/* Loads config.xml (findings go to the log) and the project's other files. The caller owns
 * *ret_server. */
MUST_CHECK enum status server_create(const struct server_options *options,
                                     struct server **ret_server, struct failure *failure);
void server_destroy(struct server *server); /* NULL is fine */

/* FastCGI: starts the threads, and returns when they have ended, after SIGTERM or SIGINT.
 * STATUS_IO: the drain took longer than it may, threads are still at work. */
MUST_CHECK enum status server_run(struct server *server, struct failure *failure);
/* CGI: one request from the environment and standard input. */
MUST_CHECK enum status server_run_cgi(struct server *server, struct failure *failure);

const struct server_options *server_options(const struct server *server);
struct load_meter *server_load(struct server *server);
/* What job streams have had in this process. */
struct stream_ledger *server_ledger(struct server *server);
struct files_health *server_files(struct server *server);

/* NULL: none. */
struct pool *server_pool(struct server *server);
/* The clock of a request is the time for the job pool (simulated time). */
void server_follow_time(struct server *server, double now);
void server_write_pool_figures(struct server *server, struct buffer *ret_page);
/* Gauges of the receiver, in the text format of Prometheus; nothing in a CGI program. */
void server_write_waiting(struct server *server, struct buffer *ret_page);

void server_snapshot(struct server *server, struct snapshot *ret_snapshot);
void snapshot_release(struct snapshot *snapshot);

/* For the watcher: each takes over the caller's reference. */
void server_replace_config(struct server *server, struct config *config);
void server_replace_catalog(struct server *server, struct catalog *catalog);
void server_replace_project(struct server *server, struct project *project);
void server_set_stop_sched(struct server *server, bool stop_sched);

#endif
