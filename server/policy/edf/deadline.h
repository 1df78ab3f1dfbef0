/* SPDX-License-Identifier: Apache-2.0 */
/* One job and its deadline (policy(7) 8.5, 11.1), without a look at others; pure. Times are in s
 * from now. */
#ifndef SERVER_POLICY_EDF_DEADLINE_H
#define SERVER_POLICY_EDF_DEADLINE_H

#include <stdbool.h>

/* Times within a microsecond are equal. */
bool deadline_is_met(double finish, double delay_bound);

/* How long a client waits that got nothing because of deadlines. */
#define DEADLINE_RETRY_MIN 60.0
#define DEADLINE_RETRY_MAX 3600.0
/* For how long at most, since a delay holds back reports too, so that one of the project's own jobs
 * is not late for it: what is left of its deadline when it is done. A job that is late anyway binds
 * nothing. */
double deadline_allows_delay(double deadline, double finish);

#endif
