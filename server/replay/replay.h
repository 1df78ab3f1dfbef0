/* SPDX-License-Identifier: Apache-2.0 */
/* The replay room: recorded requests are answered again, with the options of that time or with
 * others. The steps of a real request run (parse, screen, the judgement of authenticate, select),
 * over a pool filled with the jobs of that time. There is no database: its answers are in the
 * record, and nothing is claimed.
 *
 * Each request is replayed by itself. Jobs that a host would have received from an earlier request
 * under the other options do not count: a replay shows the first effect of a change.
 *
 * Not decided again: reports are booked, and lost and assigned jobs are sent, as they were.
 * Unknown on both sides: job streams, keywords and preferences in files of the project, the files
 * that a host holds, size classes of apps. */
#ifndef SERVER_REPLAY_REPLAY_H
#define SERVER_REPLAY_REPLAY_H

#include "server/base/status.h"
#include "server/policy/refusal/reason.h"
#include "server/recording/recorded_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct catalog;
struct config;
struct plan_classes;

/* Kinds of processors, as administrators think of them. */
enum replay_processor {
    REPLAY_CPU,
    REPLAY_NVIDIA,
    REPLAY_AMD,
    REPLAY_INTEL,
    REPLAY_APPLE,
    REPLAY_OTHER,
    REPLAY_PROCESSORS
};
const char *replay_processor_word(enum replay_processor processor);

/* What became of a request. */
struct replay_outcome {
    int64_t jobs[REPLAY_PROCESSORS]; /* new ones */
    int64_t job_count;
    uint64_t versions; /* equal for equal numbers of jobs of the same apps and versions */
    double delay;      /* s, until the client may ask again */
    /* Of a request that got no new job: */
    bool is_said[REASON_COUNT]; /* each reason that was given */
    char why[32];               /* the decisive one, in a word; "": nothing was asked for */
};
bool replay_reasons_equal(const struct replay_outcome *a, const struct replay_outcome *b);
bool replay_outcome_equal(const struct replay_outcome *a, const struct replay_outcome *b);

/* What was recorded. */
struct replay_outcome replay_recorded(const struct recorded_request *record);

/* Under what it is put. */
struct replay_world {
    const struct config *config;
    const struct plan_classes *plan_classes;
    const struct catalog *catalog;
};
/* What becomes of it now. `arena` is for this call's work; *ret_asks: it asks for work. Only
 * records of full replies can be put. STATUS_INVALID: its request cannot be read. */
MUST_CHECK enum status replay_request(const struct recorded_request *record,
                                      const struct replay_world *world, struct arena *arena,
                                      struct replay_outcome *ret_outcome, bool *ret_asks,
                                      struct failure *failure);

#endif
