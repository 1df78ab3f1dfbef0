/* SPDX-License-Identifier: Apache-2.0 */
/* How often each reason of reasons.def was given to a host that was refused, over all requests of
 * this process. The counters of server/base/counters.def know nothing of scheduling, so these stand
 * here. */
#ifndef SERVER_REQUEST_REASON_COUNTS_H
#define SERVER_REQUEST_REASON_COUNTS_H

#include "server/policy/refusal/reason.h"

#include <stdint.h>

/* Any thread. */
void reason_count_add(enum reason reason);
uint64_t reason_count(enum reason reason);

#endif
