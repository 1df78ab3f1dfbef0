/* SPDX-License-Identifier: Apache-2.0 */
/* The day that daily quotas are counted in (policy(7) 3.4); pure. */
#ifndef SERVER_POLICY_LIMITS_QUOTA_DAY_H
#define SERVER_POLICY_LIMITS_QUOTA_DAY_H

#include <stdbool.h>
#include <stdint.h>

/* Each host has a midnight of its own, so that a project's hosts do not come back all at once.
 * Whether it lay between the two times (epoch); a host that was never here begins a new day. */
bool quota_day_is_new(int64_t hostid, int64_t previous_time, int64_t now);

#endif
