/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay found, added up by kinds of differences, requests and hosts; pure. */
#ifndef SERVER_REPLAY_REPLAY_TALLY_H
#define SERVER_REPLAY_REPLAY_TALLY_H

#include "server/replay/replay.h"

/* For one kind of processor. A host's jobs are added up over all its requests: it gets more or
 * fewer in all, and `hosts_none` of those with fewer get none any more. */
struct replay_change {
    int64_t requests_more, requests_fewer;
    int64_t jobs_more, jobs_fewer; /* of these requests */
    int64_t hosts_more, hosts_fewer, hosts_none;
};

/* Requests whose answer changed from one word to another; "jobs" stands for getting some. */
enum { REPLAY_SHIFTS_MAX = 256 };
struct replay_shift {
    char from[32], to[32];
    int64_t requests, hosts;
};

struct replay_figures {
    int64_t requests, hosts; /* put to both */
    int64_t asked;           /* of the requests, those that ask for work */
    int64_t as_recorded;     /* of the requests: the circumstances of then give what was recorded */
    int64_t same;            /* of those: the other circumstances give the same */
    int64_t other_versions;  /* as many jobs for each processor, but of other apps or versions */
    int64_t sooner, later;   /* requests whose client is told a shorter or a longer delay */
    struct replay_change changes[REPLAY_PROCESSORS];
    struct replay_shift shifts[REPLAY_SHIFTS_MAX];
    size_t shift_count;
    int64_t other_shifts; /* requests beyond these */
    /* Requests of which the circumstances of then give something else than was recorded, and what:
     * these are compared no further. */
    int64_t fewer_than_recorded, more_than_recorded, others_than_recorded, reasons_not_recorded,
        delays_not_recorded;
};

struct replay_tally;
/* NULL: no memory. */
struct replay_tally *replay_tally_create(void);
void replay_tally_destroy(struct replay_tally *tally); /* NULL is fine */

/* One request: what was recorded, what the circumstances of then give now (the control), and what
 * the others give. STATUS_NO_MEMORY. */
struct replay_comparison {
    struct text host; /* its pseudonym */
    bool asks;
    struct replay_outcome recorded, control, changed;
};
MUST_CHECK enum status replay_tally_add(struct replay_tally *tally,
                                        const struct replay_comparison *comparison);

/* Valid until the next call for this tally. */
const struct replay_figures *replay_tally_figures(struct replay_tally *tally);

#endif
