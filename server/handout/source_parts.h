/* SPDX-License-Identifier: Apache-2.0 */
/* What the two kinds of source share, and what the user or the host already had. */
#ifndef SERVER_HANDOUT_SOURCE_PARTS_H
#define SERVER_HANDOUT_SOURCE_PARTS_H

#include "server/handout/source.h"
#include "server/pool/pool.h"

/* What the options that could run jobs of a group ask of the pool, and for which groups that holds.
 */
struct source_wish {
    bool is_set;
    int64_t appid, version_num, committed_id; /* of the groups */
    const struct version_option *last;        /* of those that suit; NULL: none does */
    double speed;                             /* of the fastest, see source_speed */
    double flop, jobs;                        /* how much is wanted */
};
enum { WISHES_KEPT = 64 };

struct source {
    struct request *request;
    const struct host_view *view;
    const struct amounts *left; /* of the request */
    const int64_t *appids;      /* whose jobs this host may be able to run and asked for */
    size_t appid_count;
    size_t rows_last; /* of the last batch */
    int queries;
    bool explains;
    bool was_wide; /* the last batch was one for explanations: nothing was held back */

    bool has_pool; /* perhaps not filled yet: then the database is asked before "no work" is said */
    bool pool_is_done;
    struct pool_place place;      /* where its last search ended */
    bool pool_is_short;           /* a search of it may have missed something */
    bool others_have;             /* other requests have taken jobs that would suit as well */
    bool looks;                   /* claims failed: the database is asked before jobs are offered */
    int batches;                  /* of the pool */
    const struct pool_job *batch; /* the last one, as the pool gave it */
    bool is_probing;              /* the last one was of no use: take one job of many classes */
    int takes;                    /* searches of the pool */
    size_t asks_left; /* candidates that may still be asked about: who already had them */
    struct pool_job had_example;            /* one that was already had; resultid 0: none */
    struct source_wish wishes[WISHES_KEPT]; /* of this batch, by what they are for */
    size_t sent_before;                     /* jobs, when the last one was given */
};

/* --- source.c --------------------------------------------------------------------------------- */

/* FLOP a second, by the clock on the wall, that a job of the option does here. */
double source_speed(const struct host_view *view, const struct version_option *option);

/* --- source_pool.c ---------------------------------------------------------------------------- */

/* The next batch. Count 0: the pool has no more for this host; then source->pool_is_short says that
 * the database may have. `got_some`: of the last batch. */
MUST_CHECK enum status source_pool_next(struct source *source, bool got_some, bool some_lost,
                                        struct job **ret_jobs, size_t *ret_count);
/* What came nearest, for the reasons. */
MUST_CHECK enum status source_pool_explain(struct source *source, struct job **ret_jobs,
                                           size_t *ret_count);

/* --- source_reserved.c ------------------------------------------------------------------------ */

/* What comes out of the pool is written down at once: whatever happens to the request, it is given
 * back. False: no memory; then it was. */
bool source_note_reserved(struct request *request, const struct pool_answer *answer);
/* Makes place for as many. False: no memory. */
bool source_make_place(struct request *request, size_t count);

/* --- source_gone.c ---------------------------------------------------------------------------- */

/* Which of the jobs, in order of priority, are not unsent any more or of workunits that are over;
 * of what would cost too much to find out it says that they are there. */
MUST_CHECK enum status gone_find(struct request *request, const struct pool_job *jobs, size_t count,
                                 bool *ret_gone);

/* --- already_had.c ---------------------------------------------------------------------------- */

/* Sets user_had_one and host_had_one of the jobs where the configuration has a rule about them.
 * Without a rule nothing is asked. */
MUST_CHECK enum status had_mark(struct request *request, struct job *jobs, size_t count);

/* Says in the question whose rules hold, and which workunits are in the reply. False: no memory. */
bool had_ask(struct request *request, struct pool_question *question);

/* Leaves of an answer to such a question only what nobody already had, as much as each class was to
 * give: the rest goes back, is remembered, and more of the same classes is asked about, until
 * *asks_left jobs were. With `looks` also only what is still unsent: the rest leaves the pool.
 * The answer is reserved already, and so is what takes its place. *ret_example: one that was left
 * out because it was had; resultid 0: none. */
MUST_CHECK enum status had_sift(struct request *request, const struct pool_question *question,
                                bool looks, size_t *asks_left, struct pool_answer *answer,
                                struct pool_job *ret_example);

#endif
