/* SPDX-License-Identifier: Apache-2.0 */
/* The process: what all requests share, the worker threads, and the start and stop of both. */
#ifndef SERVER_PROCESS_SERVER_H
#define SERVER_PROCESS_SERVER_H

#include "server/base/status.h"
#include "server/rpc/request.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct project;
struct buffer;
struct listener;
struct pool;
struct load_meter;
struct stream_ledger;
struct files_health;
struct server;

/* What the command line says. */
struct server_options {
    const char *project_dir;
    const char *listen; /* NULL: the inherited socket */
    unsigned socket_mode;
    int threads; /* 0: config.xml says it */
    bool clock_from_request;
    double
        service_time; /* s that a request costs a worker, where the clock is theirs; 0: no load */
};

/* What one request goes by: immutable, held until snapshot_release, whatever is reloaded
 * meanwhile. The catalog is NULL until the database was reached once. */
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
/* A request is there whose clock is to be gone by. */
void server_follow_time(struct server *server, double now);
void server_write_pool_figures(struct server *server, struct buffer *ret_page);

void server_snapshot(struct server *server, struct snapshot *ret_snapshot);
void snapshot_release(struct snapshot *snapshot);

/* For the watcher: each takes over the caller's reference. */
void server_replace_config(struct server *server, struct config *config);
void server_replace_catalog(struct server *server, struct catalog *catalog);
void server_replace_project(struct server *server, struct project *project);
void server_set_stop_sched(struct server *server, bool stop_sched);

#endif
