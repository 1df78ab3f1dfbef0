/* SPDX-License-Identifier: Apache-2.0 */
/* The page for a monitoring system: the counters of counters.def, how often each reason of
 * reasons.def was said, and how long requests waited and took. */
#ifndef SERVER_PROCESS_METRICS_H
#define SERVER_PROCESS_METRICS_H

#include <stdint.h>

struct buffer;
struct request;
struct status_figures;

/* Any thread: a request that a worker has run, and the time from its turn to its last byte. */
void metrics_note_request(const struct request *request);
void metrics_note_served(uint64_t waited_ns, uint64_t served_ns);

/* For the status page: its totals of errors and of times (enum status_total), and the bounds of
 * times in its figures. */
void metrics_take_totals(uint64_t *ret_totals);
void metrics_take_bounds(struct status_figures *figures);

/* In the text format of Prometheus. Nothing but numbers: no names of hosts, users or jobs. */
void metrics_write(struct buffer *ret_page);

#endif
