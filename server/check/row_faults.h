/* SPDX-License-Identifier: Apache-2.0 */
/* What a few rows of the database tell by themselves: jobs that wait for something that is gone,
 * numbers that are used up, and what a wrong clock leaves behind. */
#ifndef SERVER_CHECK_ROW_FAULTS_H
#define SERVER_CHECK_ROW_FAULTS_H

#include "db/rows.h"

#include <stddef.h>

struct buffer;

enum { LOST_JOBS_MOST = 10000 }; /* are counted */

/* Each adds a line for everything that is wrong. */
void lost_jobs_judge(const struct lost_jobs_row *lost, struct buffer *faults);
void used_ids_judge(const struct used_ids_row *rows, size_t count, struct buffer *faults);
void clock_traces_judge(const struct clock_traces_row *traces, struct buffer *advice);

#endif
