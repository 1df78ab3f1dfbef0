/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run: figures on standard output and over time, and pictures. */
#ifndef TOOLS_LAB_VOLUNTEERS_FIGURES_RUN_REPORT_H
#define TOOLS_LAB_VOLUNTEERS_FIGURES_RUN_REPORT_H

#include "server/base/status.h"
#include "tools/lab/volunteers/crowd/observer.h"

#include <stddef.h>

struct command_line;
struct run_report;
struct scenario;

/* Options and scenario stay the caller's. Files that cannot be written fail here, not after the
 * run. */
MUST_CHECK enum status run_report_create(const struct command_line *options,
                                         const struct scenario *scenario,
                                         struct run_report **ret_report, struct failure *failure);
void run_report_destroy(struct run_report *report); /* NULL is fine */
/* The observers to be given to the crowd. Returns how many. */
size_t run_report_observers(struct run_report *report,
                            struct observer ret_observers[CROWD_OBSERVERS_MAX]);
/* After the run: figures to standard output, pictures. */
MUST_CHECK enum status run_report_finish(struct run_report *report, struct failure *failure);

#endif
