/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a job can be done in time (policy(7) 8.4, 8.5); pure. The plain check: when each instance
 * of a resource is free next, and jobs begun in the order of their choice. */
#ifndef SERVER_POLICY_EDF_DEADLINE_H
#define SERVER_POLICY_EDF_DEADLINE_H

#include "server/base/text.h"
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

/* How long a client waits that got nothing because of deadlines. */
#define DEADLINE_RETRY_MIN 60.0
#define DEADLINE_RETRY_MAX 3600.0
/* For how long at most, since a delay holds back reports too, so that one of the project's own jobs
 * is not late for it: what is left of its deadline when it is done. A job that is late anyway binds
 * nothing. Both in s from now. */
double deadline_allows_delay(double deadline, double finish);

/* The same for a client whose list is not simulated: each job is taken to be done after its own
 * remaining time. `own` are the names of this project's jobs, sorted. The longest delay that they
 * allow, and the one that makes sense: until the first listed job is done, if that is not longer.
 */
double deadline_retry_longest(const struct message *message, const struct text *own,
                              size_t own_count, double availability, double now);
double deadline_retry_delay(const struct message *message, double availability, double longest);

#endif
