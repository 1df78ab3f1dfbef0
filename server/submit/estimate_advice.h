/* SPDX-License-Identifier: Apache-2.0 */
/* Whether rsc_fpops_est of an application's jobs is what they take, from results that came back.
 * Pure. */
#ifndef SERVER_SUBMIT_ESTIMATE_ADVICE_H
#define SERVER_SUBMIT_ESTIMATE_ADVICE_H

#include "server/base/text.h"

#include <stddef.h>

struct arena;

/* A result that was a success. */
struct estimate_sample {
    double flop;      /* elapsed time * peak FLOPS of what it used */
    double fpops_est; /* of its workunit, above 0 */
    double fpops_bound;
};
struct estimate_spread {
    size_t count;
    double low, median, high; /* flop / fpops_est: 5th, 50th, 95th percentile; 0: no samples */
    double near_bound;        /* the part of them that used more than half of fpops_bound */
};
/* Sorts the samples in place. */
struct estimate_spread estimate_spread_of(struct estimate_sample *samples, size_t count);
/* What follows from it for who makes the jobs. */
struct text estimate_words(struct arena *arena, const struct estimate_spread *spread);

#endif
