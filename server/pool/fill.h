/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a pool like the database: new jobs within a second or so, everything else by sweeps.
 *
 * A filler is a thread with a connection of its own (fill_thread.c), made by the process at its
 * start and stopped before the pool goes. It makes steps; in each, readers take turns, a piece
 * each, on the one connection:
 *
 *   new jobs       results with ids above the highest one seen (fill.c)
 *   reading again  jobs that were not what the pool thought, by id (fill.c)
 *   sweep          all that is unsent; what a sweep does not see is dropped (fill_sweep.c)
 *
 * and every some seconds the server says in qm_server that it is alive, and each second it reads
 * which others are (servers.c divides the jobs among them). Nothing is locked in the database;
 * each piece is a transaction of its own. The rows go into the pool through fill_take_rows, which
 * adds their job streams (fill_streams.c). Requests meet the filler in two places only: the pool,
 * and in simulated time filler_follow, where they wait for it. */
#ifndef SERVER_POOL_FILL_H
#define SERVER_POOL_FILL_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct config;
struct db;
struct filler;
struct pool;

/* A server that has not said for longer that it is alive counts as dead. */
enum { SERVER_SILENT_S = 20 };

/* `server_id` (positive) tells this server from the others of its database. The pool is the
 * caller's, and outlives the filler. NULL: no memory. */
struct filler *filler_create(struct pool *pool, struct config *config, int64_t server_id);
void filler_destroy(struct filler *filler); /* stops its thread; NULL is fine */
/* Another configuration from now on; any thread. */
void filler_set_config(struct filler *filler, struct config *config);

/* With a thread and a connection of its own. */
MUST_CHECK enum status filler_start(struct filler *filler, struct failure *failure);

/* Before that: the thread goes by the time of requests, and works only while one waits for it: new
 * jobs are seen within ten minutes of that time, everything else within six hours or pool_sweep,
 * whichever is longer. */
void filler_simulate(struct filler *filler);
/* A request came, at so many s since 1970: waits until the thread has done what was due. */
void filler_follow(struct filler *filler, double now);

/* Or step by step: does what is due at `now` (s, any beginning, never backwards), a bounded piece
 * of it, and says in how many seconds there is more to do. After any other status than STATUS_OK
 * the transaction is to be rolled back and the step repeated. */
MUST_CHECK enum status filler_step(struct filler *filler, struct db *db, double now,
                                   double *ret_pause);
/* At a clean stop, so that the other servers take over this one's jobs at once. */
MUST_CHECK enum status filler_leave(struct filler *filler, struct db *db);

struct filler_figures {
    uint64_t sweeps;      /* finished */
    double sweep_seconds; /* of the last one */
    double lag, lag_most; /* s between readings of all new jobs; last, longest */
    double read_at;       /* when the last one was, as filler_step is told the time */
    size_t servers;       /* alive, this one too */
    int64_t server_id;    /* under which qm_server has this one; 0: not yet */
};
void filler_figures(struct filler *filler, struct filler_figures *ret_figures);
/* Of these the lag, in s; where nothing is read any more, the time since. `filler` may be NULL. */
double filler_lag(const struct filler *filler, const struct filler_figures *figures);
/* Those and the pool's, in the text format of Prometheus. `filler` may be NULL. */
void filler_write_figures(struct filler *filler, struct pool *pool, struct buffer *ret_page);

#endif
