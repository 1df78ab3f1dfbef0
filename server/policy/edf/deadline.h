/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a job can be done in time (policy(7) 8.4, 8.5); pure. The plain check: when each instance
 * of a resource is free next, and jobs begun in the order of their choice. */
#ifndef SERVER_POLICY_EDF_DEADLINE_H
#define SERVER_POLICY_EDF_DEADLINE_H

#include "server/parse/message.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* When the instances of one resource are free, in s from now, ascending. */
struct busy {
    double *free_at;
    size_t count;
};

/* All instances free after `delay`. False: no memory. */
bool busy_make(struct arena *arena, double instances, double delay, struct busy *ret_busy);
/* When a job that takes `instances` for `wall_time` would be done. One that asks for more than
 * there are asks for all. */
double busy_finish(const struct busy *busy, double instances, double wall_time);
void busy_book(struct busy *busy, double instances, double wall_time);

/* Times within a microsecond are equal. */
bool deadline_is_met(double finish, double delay_bound);

/* The longest that a client may be kept away because of deadlines: it also holds back its reports.
 */
double deadline_retry_longest(const struct message *message, double now);
/* How long a client waits that got nothing because of deadlines: until the first listed job is
 * done, never longer than an hour nor past the day before the earliest listed deadline. */
double deadline_retry_delay(const struct message *message, double availability, double now);

#endif
