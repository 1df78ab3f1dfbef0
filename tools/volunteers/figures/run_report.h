/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a run and given out: figures on standard output and over time, pictures. */
#ifndef TOOLS_VOLUNTEERS_FIGURES_RUN_REPORT_H
#define TOOLS_VOLUNTEERS_FIGURES_RUN_REPORT_H

#include "server/base/status.h"
#include "tools/volunteers/crowd/observer.h"

#include <stddef.h>

struct options;
struct report;
struct scenario;

/* Options and scenario stay the caller's. Files that cannot be written fail here, not after the
 * run. */
MUST_CHECK enum status report_create(const struct options *options, const struct scenario *scenario,
                                     struct report **ret_report, struct failure *failure);
void report_destroy(struct report *report); /* NULL is fine */
/* Whom the crowd is to tell; how many. */
size_t report_observers(struct report *report, struct observer ret_observers[CROWD_OBSERVERS_MAX]);
/* After the run: figures to standard output, pictures. */
MUST_CHECK enum status report_finish(struct report *report, struct failure *failure);

#endif
