/* SPDX-License-Identifier: Apache-2.0 */
/* How many RPCs came in each interval of virtual time, by how they ended: arrivals, as a server
 * sees them. */
#ifndef TOOLS_LAB_VOLUNTEERS_FIGURES_ARRIVALS_H
#define TOOLS_LAB_VOLUNTEERS_FIGURES_ARRIVALS_H

#include "server/base/status.h"
#include "tools/lab/volunteers/crowd/observer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

enum { ARRIVALS_BINS_MAX = 1000000 };

struct arrivals_bin {
    uint64_t rpcs[RPC_OUTCOME_COUNT];
    uint64_t jobs, reported;
};

struct arrivals {
    double begin, width; /* s since 1970, s */
    struct arrivals_bin *bins;
    size_t count;
};

/* From `begin` to `end` in intervals of `width`, or of the least multiple of it by two that keeps
 * their number below the bound. False: no memory. What lies outside is not counted. */
MUST_CHECK bool arrivals_init(struct arrivals *arrivals, double begin, double end, double width);
void arrivals_free(struct arrivals *arrivals);
void arrivals_count(struct arrivals *arrivals, const struct rpc *rpc);
/* For crowd_observe; the arrivals must outlive the run. */
struct observer arrivals_observer(struct arrivals *arrivals);

/* The name of an outcome's column. */
const char *rpc_outcome_word(enum rpc_outcome outcome);
/* CSV: a row for each interval with its beginning in days, a column for each outcome. */
void arrivals_write(const struct arrivals *arrivals, struct buffer *buffer);

#endif
