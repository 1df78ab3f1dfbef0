/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of filling share: the filler, and what each of its readers remembers from one step
 * to the next. */
#ifndef SERVER_POOL_FILL_PARTS_H
#define SERVER_POOL_FILL_PARTS_H

#include "server/pool/fill.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct config;
struct db;
struct pool;
struct pool_job;
struct unsent_job;

enum { FILLER_MAGIC = 0x66696c6c };
enum { FILL_ROWS_PAGE = 1000, FILL_NAME_BYTES = 128, FILL_MARKS = 16 };
/* Of work on the pool alone, in one step: a step has round trips of its own, and a pool of a
 * million jobs has thousands of pieces. */
enum { FILL_PIECES = 64 };

/* Times are those that filler_step is given. */
struct news_reader {
    int64_t mark; /* highest id seen */
    double due, caught_up_at, mark_due, window_due;
    int64_t marks[FILL_MARKS]; /* mark as it was, every some seconds; a ring */
    size_t mark_count;
    bool is_in_window; /* behind window_id */
    int64_t window_id;
};

struct sweep_reader {
    bool is_under_way, is_ending, has_priority;
    int64_t priority, id; /* read so far */
    double due, began;
    double had_due; /* when the pool is to forget the older half of who had what */
    uint64_t streams_digest;
    bool reads_again; /* this sweep: the job streams are others now */
};

/* Clocks of job streams, in the database. */
struct stream_keeper {
    double due, read_at; /* read_at 0: never */
};

/* Simulated time that has passed: what requests want (-1: none came), the last step, the next.
 * A clock of requests may be set back; this one only goes on. */
struct fill_clock {
    double wanted, reached, due, latest; /* latest: of the requests' clock */
};

struct filler {
    unsigned magic;
    struct pool *pool;
    struct arena *arena;
    int64_t server_id;
    char name[FILL_NAME_BYTES];

    pthread_mutex_t lock; /* of the config pointer, the figures, the clock and the conditions */
    pthread_cond_t wake, done;
    struct config *config;
    struct filler_figures figures;
    bool stopping;

    pthread_t thread;
    bool has_thread;

    bool is_simulated;
    struct fill_clock clock;
    bool is_away; /* the database, when it was last tried; under the lock */

    bool has_begun;
    double beat_due, look_due;
    bool cannot_beat; /* no such table: alone */

    struct news_reader news;
    struct sweep_reader sweep;
    struct stream_keeper streams;
};

/* --- fill_rows.c ------------------------------------------------------------------------------ */

struct config *fill_hold_config(struct filler *filler);
/* Puts what can be handed out into the pool, drops what cannot. */
MUST_CHECK enum status fill_take_rows(struct filler *filler, struct db *db,
                                      const struct unsent_job *rows, size_t count);

/* --- fill_sweep.c ----------------------------------------------------------------------------- */

/* A piece of a sweep, if one is under way or due. */
MUST_CHECK enum status fill_sweep(struct filler *filler, struct db *db, const struct config *config,
                                  double now);

/* --- fill_streams.c --------------------------------------------------------------------------- */

/* Says of each job which stream it is of. */
MUST_CHECK enum status fill_mark_streams(struct db *db, struct arena *arena,
                                         const struct config *config, struct pool_job *jobs,
                                         size_t count);
/* Names lines of config.xml that are none. */
void fill_log_streams(struct arena *arena, const struct config *config);
/* Brings the weights of owners' streams up to date. */
MUST_CHECK enum status fill_weigh_streams(struct filler *filler, struct db *db,
                                          const struct config *config);
/* Now and then: writes what was handed out of each stream, and reads what other servers did. */
MUST_CHECK enum status fill_keep_streams(struct filler *filler, struct db *db,
                                         const struct config *config, double now);

/* --- fill_thread.c ---------------------------------------------------------------------------- */

/* How long (s) to wait after a step that asked for `pause` and took `worked`; was_asked: requests
 * used the database meanwhile. */
double fill_rest(double pause, double worked, bool was_asked);
void fill_stop_thread(struct filler *filler);

#endif
