/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the project's jobs, volunteers and batches, by one server for all, and leaves the figures
 * in qm_figures: those of now, and the values of each hour. */
#ifndef SERVER_PROCESS_PROJECT_COUNT_H
#define SERVER_PROCESS_PROJECT_COUNT_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct catalog;
struct config;
struct db;

/* Every ten minutes, and where counting is long, so seldom that it takes a hundredth of the time.
 */
enum { PROJECT_COUNT_S = 600, PROJECT_COUNT_PAUSE = 100 };

/* If nobody has within `interval` seconds. Where it fails, it is due after the interval. Deletes
 * figures that are kept no longer, too. */
MUST_CHECK enum status duty_project_figures(struct db *db, const struct config *config,
                                            const struct catalog *catalog, int64_t now,
                                            int64_t interval, bool *ret_done);

#endif
