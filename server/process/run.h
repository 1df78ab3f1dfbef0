/* SPDX-License-Identifier: Apache-2.0 */
/* The process around the requests, from start to stop.
 *
 * main.c reads the command line and makes a struct server (server.h), which loads the
 * configuration and the project's files. As a CGI program it answers one request (cgi.c) and ends.
 * As a FastCGI server (run.c) it opens the socket (listen.c) and starts: the watcher (watch.c), a
 * thread that notices what the administrator changes; the thread that keeps the job pool like the
 * database (server/pool/fill.h); the receiver (receive.c), which accepts connections and reads
 * requests; and the workers (worker.c). A worker takes a request that is there whole
 * (worker_serve.c), has libfcgi read it (exchange.c, fcgi.c), takes a snapshot, lets
 * server/request/ make the reply, and writes it. Requests that cannot be served in time are turned
 * away by the receiver's thread.
 *
 * A snapshot is what one request reads: configuration, catalog and project files, all immutable
 * and with a count of holders. `current` is swapped under one mutex that is held for a few pointer
 * copies; the old snapshot lives until its last request has ended. The load meter, the pool and the
 * state of the file database are shared as they are, and each says itself how threads may use it.
 * Everything else of a request belongs to its worker.
 *
 * The main thread waits for signals: SIGHUP has the log opened and everything read again, SIGTERM
 * and SIGINT stop. Once a second it cuts connections on which a web server takes too long.
 *
 * A stop is a drain: no new connections, the requests under way are finished and answered. A
 * second signal, or 30 seconds, cuts the connections; a transaction that goes on then belongs to a
 * client that will ask again. */
#ifndef SERVER_PROCESS_RUN_H
#define SERVER_PROCESS_RUN_H

#include "server/base/status.h"

struct server;

/* FastCGI: starts the threads, and returns when they have ended, after SIGTERM or SIGINT.
 * STATUS_IO: the drain took longer than it may, threads are still at work. */
MUST_CHECK enum status run_fastcgi(struct server *server, struct failure *failure);
/* CGI: one request from the environment and standard input. */
MUST_CHECK enum status run_cgi(struct server *server, struct failure *failure);

#endif
