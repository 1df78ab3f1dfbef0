/* SPDX-License-Identifier: Apache-2.0 */
/* The page of counters: those of counters.def, and how often each reason of reasons.def was said.
 */
#ifndef SERVER_PROCESS_METRICS_H
#define SERVER_PROCESS_METRICS_H

struct buffer;

/* In the text format of Prometheus. Nothing but numbers: no names of hosts, users or jobs. */
void metrics_write(struct buffer *ret_page);

#endif
