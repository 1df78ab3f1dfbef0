/* SPDX-License-Identifier: Apache-2.0 */
/* The job pool: unsent jobs in memory, for all threads of a process. No I/O here; fill.h brings the
 * jobs. What it holds are hints: the database decides at claim time.
 *
 * Jobs that no host can tell apart form a class, and classes that differ in amounts only (bytes,
 * FLOP, seconds) form a group. The first class that a host has room for is found by descending a
 * tree per group, so a request costs about the logarithm of what is held, whether a million jobs
 * are one class or a million classes. Order: priority, then this server's own part, then age. */
#ifndef SERVER_POOL_POOL_H
#define SERVER_POOL_POOL_H

#include "db/rows.h"
#include "server/base/status.h"

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
    uint32_t class_number;              /* in answers, for pool_take_more */
    int64_t stream_batch, stream_owner; /* of the batch, where a job stream names them; else 0 */
    struct workunit_row workunit;       /* copied; of its texts the keywords are kept */
};

/* Adds jobs, or brings those that are held up to date. Where the pool is full a job of a class that
 * has less than its fair share pushes one of a larger class out; any other is left out, and the
 * pool is not complete any more. STATUS_NO_MEMORY: some were left out for lack of memory. */
MUST_CHECK enum status pool_put(struct pool *pool, const struct pool_job *jobs, size_t count);
/* They are somebody's, or over: forgotten, whoever holds them. */
void pool_drop(struct pool *pool, const int64_t *resultids, size_t count);

/* A sweep looks at everything unsent in the database. In between, jobs that the database shows are
 * confirmed; what was neither confirmed nor put since the beginning is dropped at the end. */
void pool_sweep_begin(struct pool *pool);
/* Confirms those of the jobs, all of one priority, that are held as such, and leaves the others in
 * `ids`, whose new count it returns. */
size_t pool_confirm(struct pool *pool, int64_t priority, int64_t *ids, size_t count);
/* The sweep passed over unsent jobs without reading them. */
void pool_lacks(struct pool *pool);
/* Call until it answers false; a piece of the work each time. */
bool pool_sweep_end(struct pool *pool);

/* Jobs that turned out other than the pool thought, and are to be read again; they are held no
 * more, and until the look after the one that hands them out the pool knows that it lacks some.
 * Returns how many were written into `ret_ids`. */
void pool_distrust(struct pool *pool, const int64_t *resultids, size_t count);
size_t pool_distrusted(struct pool *pool, int64_t *ret_ids, size_t most);

/* The servers that are alive divide the jobs; each takes its own first. Without this call all jobs
 * are its own. pool_divide_some: again until it answers false. */
enum { POOL_SERVERS_MAX = 64 };
void pool_divide(struct pool *pool, int64_t own, const int64_t *servers, size_t count);
bool pool_divide_some(struct pool *pool);

/* --- asking ---------------------------------------------------------------------------------- */

enum pool_limit {
    POOL_MEMORY,    /* bytes */
    POOL_DISK,      /* bytes */
    POOL_BANDWIDTH, /* bytes per s */
    POOL_SPEED,     /* FLOP per s that meet the delay bound on an idle host */
    POOL_LIMIT_COUNT
};

/* What the jobs of a group have in common. */
struct pool_group {
    int64_t appid, hr_class, app_version_id, app_version_num;
    int64_t user; /* the only one who may have them (user_filter); 0: anybody */
    int64_t stream_batch, stream_owner; /* see struct pool_job */
};

/* Wants that are served side by side, as of CPU and coprocessors, and of job streams. */
enum { POOL_LANES = 4096 };

/* What a host can take of a group, and how much of it is wanted. */
struct pool_terms {
    double limits[POOL_LIMIT_COUNT]; /* HUGE_VAL: none */
    double flop, jobs; /* a class gives as many jobs as make up the FLOP, and `jobs` more */
    size_t lane;       /* below POOL_LANES: what is found fills the lane */
};

/* Called with the pool locked: quick, and never back into the pool. False: nothing of the group. */
typedef bool pool_judge(void *context, const struct pool_group *group,
                        struct pool_terms *ret_terms);

/* Where a search ended, so that the next one can go on behind. Zero: at the beginning. */
struct pool_place {
    bool is_set, is_foreign;
    int64_t priority, resultid;
};

/* Who may have one result of each workunit. */
enum pool_subject { POOL_USER, POOL_HOST, POOL_SUBJECTS };

struct pool_question {
    pool_judge *judge;
    void *context;
    size_t jobs_max, classes_max;
    double reserve;  /* a lane is full when it holds so many times what is wanted */
    size_t lane_max; /* or so many jobs; 0: any number */
    /* By enum pool_subject, where such a rule is in force, else 0: jobs are passed over that
     * pool_met told about, and of neighbours of one workunit one is given. */
    int64_t subjects[POOL_SUBJECTS];
    const int64_t *held; /* results that the asker has in its hands already */
    size_t held_count;
    const int64_t *passed_over; /* likewise these workunits; sorted */
    size_t passed_over_count;
};

struct pool_answer {
    struct pool_job *jobs; /* in the arena */
    size_t count;
    struct pool_place place; /* up to it nothing was left out: of the last class looked at, or
                              * where the first lane was full */
    bool gave_up;            /* the search took too long */
    bool is_short;           /* there may be more: it gave up, jobs are missing from the pool, or
                              * others have some in their hands that would pass */
};

/* The best classes behind `after` that pass, and from each some jobs, which nobody else is given
 * until pool_return or pool_drop. False: no memory. */
MUST_CHECK bool pool_take(struct pool *pool, struct arena *arena,
                          const struct pool_question *question, struct pool_place after,
                          struct pool_answer *ret_answer);
/* More of classes that an answer came from, as many as each is to give; not more than
 * question->jobs_max. Classes that have none are passed over. */
struct pool_more {
    uint32_t class_number;
    size_t jobs;
};
MUST_CHECK bool pool_take_more(struct pool *pool, struct arena *arena,
                               const struct pool_question *question, const struct pool_more *more,
                               size_t count, struct pool_answer *ret_answer);
/* Taken, and not used after all. */
void pool_return(struct pool *pool, const int64_t *resultids, size_t count);

/* The user or host has had results of these workunits. A fact that the database has committed: it
 * is kept for a while, as long as there is room. pool_met_age forgets what was told before the last
 * time that it was called. */
void pool_met(struct pool *pool, enum pool_subject subject, int64_t id, const int64_t *workunitids,
              size_t count);
void pool_met_age(struct pool *pool);

/* Why nothing passes: of the groups that do, the job that came nearest to each limit (the one that
 * needs least and passes the other limits, else the one that needs least), and one of each of the
 * other groups. At most `jobs_max`; not reserved, and there is a place for one more. False: no
 * memory. */
MUST_CHECK bool pool_explain(struct pool *pool, struct arena *arena,
                             const struct pool_question *question, struct pool_answer *ret_answer);

/* --- figures --------------------------------------------------------------------------------- */

struct pool_figures {
    size_t jobs, taken, own; /* held; in somebody's hands; of this server's part */
    size_t classes, groups;
    size_t bytes;
    bool is_filled;   /* a whole sweep is done: what is not here was not there */
    bool is_complete; /* filled, and nothing was left out */
};
void pool_figures(struct pool *pool, struct pool_figures *ret_figures);
/* Whether there is room for more, or a class that gave jobs away lacks some that were left out. */
bool pool_is_low(struct pool *pool);

#endif
