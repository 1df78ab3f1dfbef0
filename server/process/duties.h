/* SPDX-License-Identifier: Apache-2.0 */
/* Work on the database that one of the servers does for all of them. */
#ifndef SERVER_PROCESS_DUTIES_H
#define SERVER_PROCESS_DUTIES_H

#include "db/db.h"
#include "server/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct catalog;

/* Writes app_version.pfc_scale and app.min_avg_pfc, if nobody has within `interval` seconds. One
 * transaction of its own, rolled back on failure: the duty is due then as before. */
MUST_CHECK enum status duty_credit_scales(struct db *db, const struct catalog *catalog,
                                          int64_t interval, bool *ret_done);

#endif
