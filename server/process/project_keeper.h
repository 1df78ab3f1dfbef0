/* SPDX-License-Identifier: Apache-2.0 */
/* The latest figures of the whole project: jobs by state, now and by the hour, jobs that no host
 * can run, and what passes could not do. The watcher reads them once a minute from a few rows of
 * qm_figures and qm_pass, which other programs may have written; metrics and pages show them
 * without another query. */
#ifndef SERVER_PROCESS_PROJECT_KEEPER_H
#define SERVER_PROCESS_PROJECT_KEEPER_H

#include "server/base/status.h"
#include "server/status/project_page.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buffer;
struct db;
struct project_keeper;

struct project_keeper *project_keeper_create(void);         /* NULL: no memory */
void project_keeper_destroy(struct project_keeper *keeper); /* NULL is fine */

/* What was read before stays where this fails. The transaction is the caller's. */
MUST_CHECK enum status project_keeper_read(struct project_keeper *keeper, struct db *db,
                                           int64_t now);

/* What the disks of the project's folder, of uploads and of downloads are like. It may wait for a
 * file system that does not answer, which the pages must not. */
struct config;
void project_keeper_look_at_disks(struct project_keeper *keeper, const struct config *config);

/* Any thread, all of these. How long the last count took, in s; 0: none is known. */
double project_keeper_count_seconds(struct project_keeper *keeper);
/* Totals, the week, stuck jobs, passes and disks, copied into the arena. False: no memory. */
bool project_keeper_figures(struct project_keeper *keeper, struct arena *arena, int64_t now,
                            struct project_hour week[WEEK_SLOTS], struct project_figures *figures);
/* Gauges, in the text format of Prometheus; nothing of what is not known. */
void project_keeper_write(struct project_keeper *keeper, int64_t now, struct buffer *ret_page);

#endif
