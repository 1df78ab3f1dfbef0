/* SPDX-License-Identifier: Apache-2.0 */
/* One emulated host of one project: comes and goes, computes, fetches work by the policy of
 * fetch.h, reports. Knows no network and no clock: it is told the time, says when it next has
 * something to do, and what it asks. */
#ifndef TOOLS_VOLUNTEERS_VOLUNTEER_H
#define TOOLS_VOLUNTEERS_VOLUNTEER_H

#include "server/base/random.h"
#include "tools/volunteers/fetch.h"
#include "tools/volunteers/incoming.h"
#include "tools/volunteers/outgoing.h"
#include "tools/volunteers/population.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VOLUNTEER_JOBS_MAX = 1000 };

struct volunteer_job {
    char name[256];
    double deadline;
    double estimate, left; /* s of run time: what is estimated in all; what is really left */
    double elapsed;
    bool will_fail, done;
};

/* What a run is judged by. Times in s of one CPU unless said otherwise. */
struct tally_of_host {
    double present; /* that its CPUs were there */
    double used;    /* of that, spent on jobs */
    double wasted;  /* on jobs that ended after their deadline, or failed */
    uint64_t rpcs, failed_rpcs, empty_replies;
    uint64_t jobs, late, failed, abandoned, lost_acks, deadline_flags;
};

struct volunteer {
    const struct population *population;
    struct machine machine;
    struct random random, presence; /* two, so that its jobs do not change when it is there */
    uint64_t mark;
    bool is_on;
    double now, next_change;  /* of presence */
    double on_time, off_time; /* so far, s: what it takes for its on-fraction */
    int64_t hostid, rpc_seqno;
    unsigned failures;
    double next_report; /* INFINITY: nothing to report */
    struct fetch_host fetch;
    struct volunteer_job *jobs;
    size_t job_count;
    struct tally_of_host tally;
};

MUST_CHECK bool volunteer_init(struct volunteer *volunteer, const struct population *population,
                               uint64_t seed, uint64_t number, double now); /* false: no memory */
void volunteer_free(struct volunteer *volunteer);

/* Lives until `now`: not beyond what volunteer_next_event said. */
void volunteer_live(struct volunteer *volunteer, double now);
double volunteer_next_event(const struct volunteer *volunteer);

/* What an RPC needs besides the account. The jobs are in a list of the caller's. */
struct volunteer_question {
    struct fetch_request request;
    struct outgoing outgoing;
    struct outgoing_job jobs[VOLUNTEER_JOBS_MAX];
};
/* False: nothing to ask or report now. */
bool volunteer_ask(struct volunteer *volunteer, struct volunteer_question *ret_question);
void volunteer_hear(struct volunteer *volunteer, const struct volunteer_question *question,
                    const struct incoming *incoming);
void volunteer_hear_nothing(struct volunteer *volunteer);

#endif
