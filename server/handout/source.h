/* SPDX-License-Identifier: Apache-2.0 */
/* Where candidates come from: batches of unsent jobs in order of falling priority, out of the job
 * pool of the process, or by a query of the database for this host where there is none. What it
 * gives are hints only: the database decides at claim time. */
#ifndef SERVER_HANDOUT_SOURCE_H
#define SERVER_HANDOUT_SOURCE_H

#include "db/db.h"
#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"
#include "server/pool/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

struct source {
    struct request *request;
    const struct host_view *view;
    const struct amounts *left; /* of the request, as jobs are chosen; NULL: all of it */
    const int64_t *appids;      /* whose jobs this host may be able to run and asked for */
    size_t appid_count;
    size_t rows_last; /* of the last batch */
    int queries;
    bool explains; /* reasons will be needed if nothing is sent */
    bool was_wide; /* the last batch was one for explanations: nothing was held back */

    bool has_pool; /* perhaps not filled yet: then the database is asked before "no work" is said */
    bool pool_is_done;
    struct pool_place place;     /* where its last search ended */
    bool pool_is_short;          /* a search of it may have missed something */
    int batches;                 /* of the pool */
    bool is_probing;             /* the last one was of no use: look far and wide */
    int takes;                   /* searches of the pool */
    size_t looks;                /* left: jobs asked about for rules of single workunits */
    struct pool_job met_example; /* one that such a rule refused; resultid 0: none */
    size_t sent_before;          /* jobs, when the last one was given */
};

/* Work is wanted (`explains`), or only always-on apps are to be served. False: no memory. */
bool source_open(struct request *request, const struct host_view *view, bool explains,
                 struct source *ret_source);

/* The next batch; count 0: there is none. `some_sent` tells whether any job of the batches before
 * was got; `some_lost` whether others got there first. Once nothing suits, a last batch holds a few
 * jobs that the filter had held back, so that the reasons can be said. */
MUST_CHECK enum status source_next(struct source *source, bool some_sent, bool some_lost,
                                   struct job **ret_jobs, size_t *ret_count);

/* FLOP a second, by the clock on the wall, that a job of the option does here. */
double source_speed(const struct host_view *view, const struct version_option *option);

/* What is taken out of the pool is written down at once: whatever happens to the request, it is
 * given back. False: no memory; then it was. */
bool source_note_taken(struct request *request, const struct pool_answer *answer);
/* Makes place for as many. */
bool source_reserve_taken(struct request *request, size_t count);
/* After each attempt at the transaction: what was taken out of the pool and not sent goes back.
 * Call before the arena is rewound. */
void source_settle(struct request *request, bool is_committed);
/* A job that somebody else got; one that is not as the pool thought. */
void source_lost(struct request *request, int64_t resultid);
void source_doubt(struct request *request, int64_t resultid);
/* Whether the last batch, one for explanations, had no place for all jobs. */
bool source_is_cut(const struct source *source);

#endif
