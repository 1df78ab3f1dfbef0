/* SPDX-License-Identifier: Apache-2.0 */
/* How many RPCs came in each interval of virtual time, by how they ended: arrivals, as a server
 * sees them. */
#ifndef TOOLS_VOLUNTEERS_FIGURES_ARRIVALS_H
#define TOOLS_VOLUNTEERS_FIGURES_ARRIVALS_H

#include "server/base/status.h"
#include "tools/volunteers/crowd/observer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERIES_BINS_MAX = 1000000 };

struct series_bin {
    uint64_t rpcs[RPC_OUTCOME_COUNT];
    uint64_t jobs, reported;
};

struct series {
    double begin, width; /* s since 1970, s */
    struct series_bin *bins;
    size_t count;
};

/* From `begin` to `end` in intervals of `width`, or of the least multiple of it by two that keeps
 * their number below the bound. False: no memory. What lies outside is not counted. */
MUST_CHECK bool series_init(struct series *series, double begin, double end, double width);
void series_free(struct series *series);
void series_count(struct series *series, const struct rpc *rpc);
/* To be told to the crowd; the series must outlive the run. */
struct observer series_observer(struct series *series);

#endif
