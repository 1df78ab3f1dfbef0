/* SPDX-License-Identifier: Apache-2.0 */
/* The driver: gives hosts time and network. Each event of a host is one step of its life, and at
 * most one RPC; its next event is put down only when that has ended. So a host's own events never
 * change places, however many requests of others are under way. */
#ifndef TOOLS_VOLUNTEERS_CROWD_CROWD_H
#define TOOLS_VOLUNTEERS_CROWD_CROWD_H

#include "server/base/status.h"
#include "tools/volunteers/crowd/observer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crowd;
struct options;
struct scenario;
struct volunteer;

/*      name         words          RPCs that went wrong though the scenario does not want it */
#define CROWD_FAILURES(FAILURE)                              \
    FAILURE(AWAY, "no server there")                         \
    FAILURE(STATUS, "other HTTP status")                     \
    FAILURE(BROKEN, "broken off")                            \
    FAILURE(UNREADABLE, "unreadable reply")                  \
    FAILURE(NO_SCHEDULER, "no scheduler on the master page") \
    FAILURE(TOO_LARGE, "request too large")                  \
    FAILURE(DOWN, "the project is down")                     \
    FAILURE(REFUSED, "the project refuses")

enum crowd_failure {
#define CROWD_FAILURE_ENUM(name, words) CROWD_##name,
    CROWD_FAILURES(CROWD_FAILURE_ENUM)
#undef CROWD_FAILURE_ENUM
        CROWD_FAILURE_COUNT
};
const char *crowd_failure_words(enum crowd_failure failure);

/* What a run cost, apart from what it showed. */
struct crowd_effort {
    double seconds;      /* of real time */
    double end;          /* virtual time that it came to */
    double away_seconds; /* of that, waited for servers that were not there */
    uint64_t rpcs, events;
    uint64_t masters;     /* pages that hosts read, or tried to */
    uint64_t jobs;        /* in replies */
    uint64_t transitions; /* commands run */
    uint64_t failures[CROWD_FAILURE_COUNT];
};

/* Options and scenario stay the caller's and as they are. STATUS_IO, STATUS_INVALID: a master page
 * cannot be read, or names no scheduler. */
MUST_CHECK enum status crowd_create(const struct options *options, const struct scenario *scenario,
                                    struct crowd **ret_crowd, struct failure *failure);
void crowd_destroy(struct crowd *crowd); /* NULL is fine */
/* False: there are too many already. */
MUST_CHECK bool crowd_observe(struct crowd *crowd, struct observer observer);

/* Until the end of the scenario, or until crowd_stop, whose run is a good one too. STATUS_IO: a
 * server stayed away, or a command failed; observers got their last sample. STATUS_INVALID: a
 * project did nothing that it was asked for, or goes by another clock. */
MUST_CHECK enum status crowd_run(struct crowd *crowd, struct failure *failure);
/* From a signal handler too: no new requests, those under way are waited for, for some seconds. */
void crowd_stop(void);
bool crowd_is_stopped(void);

const struct volunteer *crowd_volunteers(const struct crowd *crowd, size_t *ret_count);
const struct crowd_effort *crowd_effort(const struct crowd *crowd);

#endif
