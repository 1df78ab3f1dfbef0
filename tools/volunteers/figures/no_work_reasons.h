/* SPDX-License-Identifier: Apache-2.0 */
/* Why servers had no job for hosts: their counters of reasons, over all projects. */
#ifndef TOOLS_VOLUNTEERS_FIGURES_NO_WORK_REASONS_H
#define TOOLS_VOLUNTEERS_FIGURES_NO_WORK_REASONS_H

#include "server/base/text.h"

#include <stddef.h>

struct metrics;

enum { REFUSALS_MAX = 128, REFUSALS_WORD_BYTES = 48 };

struct refusal {
    char word[REFUSALS_WORD_BYTES];
    double first, before, now; /* servers may have been running before */
};

/* Zero it before use. */
struct refusals {
    struct refusal items[REFUSALS_MAX];
    size_t count, readings;
};

/* The present counters of all projects. */
void refusals_read(struct refusals *refusals, const struct metrics *projects, size_t count);
/* Since the first reading; since the one before. */
double refusals_total(const struct refusal *refusal);
double refusals_latest(const struct refusal *refusal);

#endif
