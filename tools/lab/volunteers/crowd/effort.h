/* SPDX-License-Identifier: Apache-2.0 */
/* What a run cost and what went wrong in it, apart from what it showed. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_EFFORT_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

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

/* On standard error, with the CPU time and memory of this process. is_good: the run ended well. */
void crowd_effort_print(const struct crowd_effort *effort, bool is_good);

#endif
