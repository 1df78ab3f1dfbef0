/* SPDX-License-Identifier: Apache-2.0 */
/* What the record of a host with a version entitles it to: whether its results come soon and are
 * right (reliable: it gets retries and the last jobs of a batch), and whether they need no check
 * (trusted); and the shorter deadlines of jobs that are for reliable hosts (policy(7) 4.4, 7.5);
 * pure. */
#ifndef SERVER_POLICY_VERSION_RELIABILITY_H
#define SERVER_POLICY_VERSION_RELIABILITY_H

#include "config/config.h"
#include "db/rows.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether results of this priority are for reliable hosts only. */
bool priority_needs_reliable(const struct config *config, int64_t priority);

/* Whether this host's results with a version come soon and are right. */
bool version_is_reliable(const struct host_app_version_row *row, const struct config *config,
                         struct text os_name, struct text p_vendor);

/* Whether this host's results with a version need no check; `chance` is uniform in [0, 1), drawn
 * once per request: the longer the row of valid results, the fewer of them are checked. */
bool version_is_trusted(int64_t consecutive_valid, double chance);

/* `wanted` s instead of a longer delay bound, for a job that is expected to take `wall_time` s:
 * more where that is too little for comfort. */
int64_t shorter_delay_bound(int64_t delay_bound, double wanted, double wall_time);
/* Seconds that a job for a reliable host gets. */
int64_t reduced_delay_bound(int64_t delay_bound, double fraction, double wall_time);

#endif
