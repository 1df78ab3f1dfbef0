/* SPDX-License-Identifier: Apache-2.0 */
/* The job pool: unsent jobs in memory, for all threads of a process, so that a request finds
 * candidates without asking the database.
 *
 * One thread brings the jobs (fill.h): pool_put and pool_drop as it reads them, sweeps that drop
 * what is unsent no more. A request asks (ask.c): pool_take picks jobs for a host and takes them,
 * pool_explain says what came nearest where nothing fits. After each attempt at its transaction it
 * gives back what it did not send (pool_return), and drops what it sent, or what the database would
 * not give (pool_drop, pool_reread). What the pool holds are hints: the claim in the database
 * decides.
 *
 * A job here is free, or taken by one request and found by no other. It is dropped when it was
 * sent, when a sweep did not see it, or when a job of a smaller class needs its place.
 *
 * Jobs that no host can tell apart form a class, and classes that differ in amounts only (bytes,
 * FLOP, seconds) form a group. The first class that a host has the memory, disk and speed for is
 * found by descending a tree per group, so a request costs about the logarithm of what is held,
 * whether a million jobs are one class or a million classes. Order: priority, then this server's
 * own part, then age; but of a class's jobs that are others' part the youngest come first.
 *
 * One mutex guards all of it, held for a bounded piece of work only; nothing here does I/O. Any
 * thread may call; the texts of an answer are copied into the caller's arena. */
#ifndef SERVER_POOL_POOL_H
#define SERVER_POOL_POOL_H

#include "db/rows.h"
#include "server/base/status.h"
#include "server/policy/dispatch/class_limits.h"
#include "server/policy/dispatch/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct pool;

/* At most `jobs_max` jobs are held. With `by_user` the batch is a group of its own (user_filter).
 * NULL: no memory. */
struct pool *pool_create(size_t jobs_max, bool by_user);
void pool_destroy(struct pool *pool); /* NULL is fine */

/* --- filling --------------------------------------------------------------------------------- */

struct pool_job {
    int64_t resultid, priority;
    uint32_t class_number;        /* in answers, for pool_take_more */
    struct stream stream;         /* its key; in answers the weight and the clock besides */
    struct workunit_row workunit; /* copied; of its texts the keywords are kept */
};

/* Adds jobs, or brings those that are held up to date. Where the pool is full a job of a class that
 * has less than its fair share pushes one of a larger class out; any other is left out, and the
 * pool is not complete any more. STATUS_NO_MEMORY: some were left out for lack of memory. */
MUST_CHECK enum status pool_put(struct pool *pool, const struct pool_job *jobs, size_t count);
/* They were sent, or are over: removed, even if they are taken. */
void pool_drop(struct pool *pool, const int64_t *resultids, size_t count);

/* A sweep reads all that is unsent in the database. Meanwhile jobs that the database shows are
 * confirmed; what was neither confirmed nor put since the beginning is dropped at the end. */
void pool_sweep_begin(struct pool *pool);
/* Confirms those of the jobs, all of one priority, that are held as such, and leaves the others in
 * `ids`, whose new count it returns. */
size_t pool_confirm(struct pool *pool, int64_t priority, int64_t *ids, size_t count);
/* The sweep left unsent jobs out, without reading them. */
void pool_lacks(struct pool *pool);
/* Call until it returns false; each call does a piece of the work. */
bool pool_sweep_end(struct pool *pool);

/* Jobs that turned out other than the pool holds them are dropped, to be read again. The filler
 * fetches their ids with pool_to_reread, which returns how many it wrote into `ret_ids`; until its
 * next call the pool counts them as missing. */
void pool_reread(struct pool *pool, const int64_t *resultids, size_t count);
size_t pool_to_reread(struct pool *pool, int64_t *ret_ids, size_t most);

/* The servers that are alive divide the jobs; each takes its own first. Without this call all jobs
 * are its own. pool_divide_some: again until it returns false. */
enum { POOL_SERVERS_MAX = 64 };
void pool_divide(struct pool *pool, int64_t own, const int64_t *servers, size_t count);
bool pool_divide_some(struct pool *pool);

/* --- asking ---------------------------------------------------------------------------------- */

/* What the jobs of a group have in common. */
struct pool_group {
    int64_t appid, hr_class, app_version_id, app_version_num;
    int64_t user; /* the only one who may have them (user_filter); 0: anybody */
    struct stream_key stream;
    int64_t buda_app; /* science app; 0: none */
};

/* Separate demands that are served side by side: the CPU, each coprocessor, each always-on app. */
enum { POOL_LANES = 256 };

/* What a host can take of a group, and how much of it is wanted. */
struct pool_terms {
    double limits[CLASS_LIMIT_COUNT]; /* HUGE_VAL: none */
    double flop, jobs; /* a class gives as many jobs as make up the FLOP, and `jobs` at least */
    size_t lane;       /* below POOL_LANES: what is found fills the lane */
};

/* Called with the pool locked: quick, and never back into the pool. False: nothing of the group. */
typedef bool pool_judge(void *context, const struct pool_group *group,
                        struct pool_terms *ret_terms);

/* Where a search ended, so that the next one can go on behind. Zero: at the beginning. */
struct pool_place {
    bool is_set, is_of_others;
    int64_t priority, resultid;
};

/* Who may have one result of each workunit. */
enum pool_subject { POOL_USER, POOL_HOST, POOL_SUBJECTS };

/* Likewise, whether the host may have jobs of a class that is within the limits: `common` is what
 * they have in common. */
typedef bool pool_suits(void *context, const struct pool_job *common);

struct pool_question {
    pool_judge *judge;
    pool_suits *suits; /* NULL: any class */
    void *context;
    size_t jobs_max, classes_max;
    double
        times_wanted; /* a lane is full when it holds so many times what is wanted and a few more */
    /* The job stream that is behind comes first, below what priority puts before it (stream_level).
     * Where the pool knows more than one, the answer has no place then, and of streams of owners
     * only some are looked at (is_by_turn). */
    bool by_turn;
    /* By enum pool_subject, where such a rule is in force, else 0: jobs of workunits in
     * pool_note_had are passed over, and of neighbours of one workunit one is given. */
    int64_t subjects[POOL_SUBJECTS];
    const int64_t *taken; /* results that the asker has already */
    size_t taken_count;
    const int64_t *used; /* of these, those that it can use; sorted */
    size_t used_count;
    const int64_t *passed_over; /* likewise these workunits; sorted */
    size_t passed_over_count;
};

struct pool_answer {
    struct pool_job *jobs; /* in the arena */
    size_t count;
    struct pool_place place; /* up to it nothing was left out: of the last class seen, or
                              * where the first lane was full */
    bool is_by_turn;         /* there may be more jobs in any place */
    bool gave_up;            /* the search took too long */
    bool is_short;           /* there may be more: it gave up, jobs are missing from the pool, or
                              * others have taken some that would pass */
    bool others_have; /* others have taken some that would pass, and of their class nothing is left
                       * here, nor was any of it of no use to the asker */
};

/* The best classes behind `after` that pass, and from each some jobs, which nobody else is given
 * until pool_return or pool_drop. False: no memory. */
MUST_CHECK bool pool_take(struct pool *pool, struct arena *arena,
                          const struct pool_question *question, struct pool_place after,
                          struct pool_answer *ret_answer);
/* More of classes that an answer came from, as many as each is to give; not more than
 * question->jobs_max. Classes that have none are left out. */
struct pool_more {
    uint32_t class_number;
    size_t jobs;
};
MUST_CHECK bool pool_take_more(struct pool *pool, struct arena *arena,
                               const struct pool_question *question, const struct pool_more *more,
                               size_t count, struct pool_answer *ret_answer);
/* Taken, and not used after all. */
void pool_return(struct pool *pool, const int64_t *resultids, size_t count);

/* The user or host had results of these workunits already. Only what the database has committed:
 * it is kept for a while, as far as memory goes. pool_forget_had forgets what was noted before its
 * last call. */
void pool_note_had(struct pool *pool, enum pool_subject subject, int64_t id,
                   const int64_t *workunitids, size_t count);
void pool_forget_had(struct pool *pool);

/* Why nothing passes: of the groups that do, the job that came nearest to each limit (the one that
 * needs least and passes the other limits, else the one that needs least), and one of each of the
 * other groups. At most `jobs_max`; not taken, and there is a place for one more. False: no
 * memory. */
MUST_CHECK bool pool_explain(struct pool *pool, struct arena *arena,
                             const struct pool_question *question, struct pool_answer *ret_answer);

/* What is free now, as far as the bounds allow: of each group its first classes, of each class up
 * to an equal share of `jobs_max` jobs, counted without those of workunits that the subjects had.
 */
struct pool_survey_question {
    int64_t subjects[POOL_SUBJECTS]; /* as in struct pool_question */
    size_t classes_max, jobs_max;
};
struct pool_survey_class {
    struct pool_job job; /* what they have in common; resultid: of the oldest */
    bool is_of_others;   /* none of them is of this server's part */
    int64_t jobs, workunits;
};
struct pool_survey {
    struct pool_survey_class *classes; /* in the arena, in no order */
    size_t count;
    bool is_cut; /* there are more classes, or jobs that the pool does not hold */
};
/* False: no memory. */
MUST_CHECK bool pool_survey(struct pool *pool, struct arena *arena,
                            const struct pool_survey_question *question,
                            struct pool_survey *ret_survey);

/* --- job streams (policy(7) 10.3) ------------------------------------------------------------- */

/* Jobs that were sent: a list, in any order. */
struct pool_booking {
    struct pool_booking *next;
    struct stream_key key;
    double flops; /* stream_flops */
};
void pool_charge(struct pool *pool, const struct pool_booking *first);
/* The clock of a stream, and its weight if the pool knows it; the key, and else the weight, are
 * given. */
void pool_stream_find(struct pool *pool, struct stream *stream);
/* Weights that are new. A stream of which nothing is known is passed over. */
void pool_streams_weigh(struct pool *pool, const struct stream *streams, size_t count);

/* What a stream was given. */
struct pool_stream {
    struct stream stream;
    bool has_jobs;               /* the pool holds some */
    double flops;                /* FLOP, as far as this server knows of all servers */
    double new_clock, new_flops; /* of these, what only this process knows */
    double begun;                /* for pool_streams_read: its clock when it was served last */
};
/* In no order; in the arena. False: no memory. */
MUST_CHECK bool pool_streams(struct pool *pool, struct arena *arena,
                             struct pool_stream **ret_streams, size_t *ret_count);
/* The new figures of these streams were written where other servers read them. */
void pool_streams_written(struct pool *pool, const struct pool_stream *streams, size_t count);
/* Clocks and FLOP of all servers, as they were read there; without memory they are passed over. */
void pool_streams_read(struct pool *pool, const struct pool_stream *streams, size_t count);
/* Now and then: brings clocks that fell too far behind forward, forgets what says nothing more. */
void pool_streams_tidy(struct pool *pool);

/* --- figures --------------------------------------------------------------------------------- */

struct pool_figures {
    size_t jobs, taken, own; /* held; taken; of this server's part */
    size_t classes, groups;
    uint64_t examined; /* classes that searches looked at */
    size_t bytes;      /* set aside; of tables that few jobs are in, most is not in use */
    bool is_filled;    /* a whole sweep is done: what is not here was not there */
    bool is_complete;  /* filled, and nothing was left out */
};
void pool_figures(struct pool *pool, struct pool_figures *ret_figures);
/* How many jobs are held of each of the applications, whose numbers rise. */
void pool_count_by_app(struct pool *pool, const int64_t *appids, size_t count, size_t *ret_jobs);
/* Whether more jobs could be held, or a class that gave jobs away lacks some that were left out. */
bool pool_is_low(struct pool *pool);

#endif
