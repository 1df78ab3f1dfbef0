/* SPDX-License-Identifier: Apache-2.0 */
/* What the two kinds of source share, and what the user or the host already had. */
#ifndef SERVER_HANDOUT_SOURCE_PARTS_H
#define SERVER_HANDOUT_SOURCE_PARTS_H

#include "server/handout/source.h"
#include "server/pool/pool.h"

/* What the options that could run jobs of a group ask of the pool, and for which groups that holds.
 */
struct source_wish {
    size_t turn; /* of the source, in which it was made; another: it is none */
    int64_t appid, version_num, committed_id, buda_app; /* of the groups */
    const struct version_option *last;                  /* of those that suit; NULL: none does */
    double speed;                                       /* of the fastest, see class_speed */
    double flop, jobs;                                  /* how much is wanted */
};
enum { WISHES_KEPT = 64 };

struct source {
    struct request *request;
    const struct host_view *view;
    const struct amounts *left; /* of the request */
    const int64_t *appids;      /* whose jobs this host may be able to run and asked for */
    size_t appid_count;
    size_t rows_last;              /* of the last batch */
    const struct job *jobs_last;   /* that a query gave as the last batch */
    struct candidate_place *below; /* NULL: no query was one for rows below others */
    int queries;
    bool explains;
    bool was_wide; /* the last batch was one for explanations: nothing was held back */

    bool has_pool; /* perhaps not filled yet: then the database is asked before "no work" is said */
    bool pool_is_done;
    struct pool_place place;      /* where its last search ended */
    bool pool_is_short;           /* a search of it may have missed something */
    bool gave_up;                 /* a bound ended the search, and not the pool */
    bool others_have;             /* other requests have taken jobs that would suit as well */
    bool is_rechecking;           /* claims failed: each batch is checked before it is offered */
    size_t recheck_page;          /* then, while probing: jobs of the next page */
    int batches;                  /* of the pool */
    const struct pool_job *batch; /* the last one, as the pool gave it */
    bool is_probing;              /* the last one was of no use: take one job of many classes */
    int takes;                    /* searches of the pool */
    size_t asks_left; /* candidates that may still be asked about: who already had them */
    struct pool_job had_example;            /* one that was already had; resultid 0: none */
    struct source_wish wishes[WISHES_KEPT]; /* by what they are for */
    size_t turn;                            /* batches; wishes are for one, as less is left */
    struct job class_job;                   /* what the jobs of a group have in common */
    struct workunit_row class_workunit;
    size_t sent_before; /* jobs, when the last one was given */
};

/* --- source_pool.c ---------------------------------------------------------------------------- */

/* The next batch. Count 0: the pool has no more for this host; then source->pool_is_short says that
 * the database may have. `got_some`: of the last batch. */
MUST_CHECK enum status source_pool_next(struct source *source, bool got_some, bool some_lost,
                                        struct job **ret_jobs, size_t *ret_count);
/* What came nearest, for the reasons. */
MUST_CHECK enum status source_pool_explain(struct source *source, struct job **ret_jobs,
                                           size_t *ret_count);

/* --- source_taken.c ------------------------------------------------------------------------ */

/* What comes out of the pool is written down at once: whatever happens to the request, it is given
 * back. False: no memory; then it was. */
bool source_note_taken(struct request *request, const struct pool_answer *answer);
/* Makes place for as many. False: no memory. */
bool source_make_place(struct request *request, size_t count);

/* --- source_recheck.c ------------------------------------------------------------------------- */

enum { RECHECK_FIRST = 256, RECHECK_MOST = 4096 }; /* jobs of the first page, and of any */

/* The size of the page after one on which everything was gone. */
size_t recheck_grown(size_t page);

/* Marks which of the jobs, in order of priority, are not unsent any more or of workunits that are
 * over: these leave the pool. What is marked before is not asked about, and what would cost too
 * much to find out is not marked. */
MUST_CHECK enum status recheck_jobs(struct request *request, const struct pool_job *jobs,
                                    size_t count, bool *is_gone);

/* --- already_had.c ---------------------------------------------------------------------------- */

/* Sets user_had_one and host_had_one of the jobs where the configuration has a rule about them.
 * Without a rule nothing is asked. */
MUST_CHECK enum status had_mark(struct request *request, struct job *jobs, size_t count);

/* Says in the question whose rules hold, and which workunits are in the reply. False: no memory. */
bool had_ask(struct request *request, struct pool_question *question);

/* Leaves of an answer to such a question only what nobody already had, as much as each class was to
 * give and `kept_max` in all: the rest goes back, is remembered, and more of the same classes is
 * asked about, until source->asks_left jobs were. While rechecking also only what is still unsent:
 * the rest leaves the pool. The answer is taken already, and so is what takes its place. What
 * was left out because it was had gives source->had_example. */
MUST_CHECK enum status had_sift(struct source *source, const struct pool_question *question,
                                size_t kept_max, struct pool_answer *answer);

#endif
