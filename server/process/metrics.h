/* SPDX-License-Identifier: Apache-2.0 */
/* The page of counters: those of counters.def, and how often each reason of reasons.def was said.
 */
#ifndef SERVER_PROCESS_METRICS_H
#define SERVER_PROCESS_METRICS_H

#include "server/policy/refusal/reason.h"

#include <stdint.h>

struct buffer;

/* Any thread. A host was told this reason for getting no job. */
void metrics_count_reason(enum reason reason);
uint64_t metrics_reason(enum reason reason);

/* In the text format of Prometheus. Nothing but numbers: no names of hosts, users or jobs. */
void metrics_write(struct buffer *ret_page);

#endif
