/* SPDX-License-Identifier: Apache-2.0 */
/* Why servers had no job for hosts: their counters of reasons, summed over all projects. Servers
 * may have been running before, so what counts is by how much a counter has grown since the first
 * reading. */
#ifndef TOOLS_LAB_VOLUNTEERS_FIGURES_NO_WORK_REASONS_H
#define TOOLS_LAB_VOLUNTEERS_FIGURES_NO_WORK_REASONS_H

#include "server/base/text.h"

#include <stddef.h>

struct metrics;

enum { NO_WORK_MAX = 128, NO_WORK_WORD_BYTES = 48 };

struct no_work_reason {
    char word[NO_WORK_WORD_BYTES];
    double first, before, now; /* at the first reading, the one before, the last */
};

/* Zero it before use. */
struct no_work_reasons {
    struct no_work_reason items[NO_WORK_MAX];
    size_t count, readings;
};

/* The present counters of all projects. */
void no_work_read(struct no_work_reasons *reasons, const struct metrics *projects, size_t count);
/* Since the first reading; since the one before. */
double no_work_total(const struct no_work_reason *reason);
double no_work_latest(const struct no_work_reason *reason);

#endif
