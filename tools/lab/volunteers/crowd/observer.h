/* SPDX-License-Identifier: Apache-2.0 */
/* How the loop of events reports a run to other code, such as figures, that is no part of the
 * loop. Calls come one at a time, in the order in which RPCs end. With one request at a time that
 * is the order of virtual time; with several, time may step back by the window. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_OBSERVER_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metrics;
struct volunteer;

enum { CROWD_OBSERVERS_MAX = 8 };

/*      name        word            how an RPC ended */
#define RPC_OUTCOMES(OUTCOME)                                                      \
    OUTCOME(SENT, "sent")         /* with jobs */                                  \
    OUTCOME(EMPTY, "empty")       /* jobs were wanted, none came */                \
    OUTCOME(REPORTED, "reported") /* no job was wanted, none came */               \
    OUTCOME(DOWN, "down")         /* the server says that the project is down */   \
    OUTCOME(OUTAGE, "outage")     /* nobody listened: an outage of the scenario */ \
    OUTCOME(FAILED, "failed")     /* really: no connection, no HTTP 200, no whole reply */

enum rpc_outcome {
#define RPC_OUTCOME_ENUM(name, word) RPC_##name,
    RPC_OUTCOMES(RPC_OUTCOME_ENUM)
#undef RPC_OUTCOME_ENUM
        RPC_OUTCOME_COUNT
};

struct rpc {
    double time; /* virtual, s since 1970 */
    size_t host, project;
    enum rpc_outcome outcome;
    bool wanted_work, no_work_deadlines;
    size_t reported, acked, jobs; /* reported: with the request; jobs: with the reply */
    double request_delay;         /* s; 0: none */
};

struct sample {
    double time;
    const struct volunteer *volunteers; /* all have lived until then */
    size_t count;
    /* One for each project, of the server's counters then; NULL: nobody asked for them. A page that
     * could not be read has no entries. */
    const struct metrics *metrics;
    size_t project_count;
    bool is_first, is_last; /* before the first event, after the last */
};

/* Functions may be NULL. What they are given is valid during the call only. */
struct observer {
    void *context;
    void (*rpc)(void *context, const struct rpc *rpc);
    /* At the beginning, every sample_hours of virtual time, and at the end. */
    void (*sample)(void *context, const struct sample *sample);
    /* The host is about to live from volunteer->now until then; nothing of it changes meanwhile. */
    void (*interval)(void *context, size_t host, const struct volunteer *volunteer, double until);
};

#endif
