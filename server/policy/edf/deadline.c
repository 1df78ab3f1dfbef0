/* SPDX-License-Identifier: Apache-2.0 */
/* The plain deadline check. The client's estimated_delay says when a new job would begin; from
 * there on jobs are dealt to instances as they become free. No host is exempt, an idle one
 * neither: a job that cannot be done in time is of no use to anybody. Room is left for the
 * simulation of the whole queue, which answers the same question better. */
#include "server/policy/edf/deadline.h"

#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define EQUAL_WITHIN 1e-6 /* s */

bool busy_make(struct arena *arena, double instances, double delay, struct busy *ret_busy)
{
    size_t count = instances >= 1 ? (size_t)fmin(instances, 4096) : 1;

    ret_busy->free_at = ARENA_ARRAY(arena, count, double);
    if (ret_busy->free_at == NULL)
        return false;
    ret_busy->count = count;
    for (size_t i = 0; i < count; i++)
        ret_busy->free_at[i] = delay;
    return true;
}

/* Whole instances that a job occupies. Parts of one are rounded up: the plain check does not
 * divide an instance. */
static size_t taken(const struct busy *busy, double instances)
{
    if (!(instances > 1))
        return 1;
    return instances >= (double)busy->count ? busy->count : (size_t)ceil(instances);
}

double busy_finish(const struct busy *busy, double instances, double wall_time)
{
    return busy->free_at[taken(busy, instances) - 1] + wall_time;
}

void busy_book(struct busy *busy, double instances, double wall_time)
{
    size_t count = taken(busy, instances);
    double finish = busy_finish(busy, instances, wall_time);
    size_t at = count;

    /* The first `count` leave the sorted list and come back where `finish` belongs. */
    while (at < busy->count && busy->free_at[at] < finish)
        at++;
    memmove(busy->free_at, busy->free_at + count, (at - count) * sizeof(double));
    for (size_t i = at - count; i < at; i++)
        busy->free_at[i] = finish;
}

bool deadline_is_met(double finish, double delay_bound)
{
    return finish <= delay_bound + EQUAL_WITHIN;
}

double deadline_allows_delay(double deadline, double finish)
{
    if (!isfinite(finish) || !deadline_is_met(finish, deadline))
        return DEADLINE_RETRY_MAX;
    return fmin(fmax(deadline - finish, DEADLINE_RETRY_MIN), DEADLINE_RETRY_MAX);
}

static double time_left(const struct ip_result *job, double availability)
{
    return job->time_remaining / fmax(availability, 0.01);
}

double deadline_retry_longest(const struct message *message, const struct text *own,
                              size_t own_count, double availability, double now)
{
    double longest = DEADLINE_RETRY_MAX;

    for (size_t i = 0; i < message->ip_result_count; i++) {
        const struct ip_result *job = &message->ip_results[i];
        if (job->has_report_deadline && sorted_has_name(own, own_count, job->name))
            longest = fmin(longest, deadline_allows_delay(job->report_deadline - now,
                                                          time_left(job, availability)));
    }
    return longest;
}

double deadline_retry_delay(const struct message *message, double availability, double longest)
{
    double delay = DEADLINE_RETRY_MAX;

    for (size_t i = 0; i < message->ip_result_count; i++)
        delay = fmin(delay, time_left(&message->ip_results[i], availability));
    if (message->ip_result_count == 0 && message->estimated_delay > 0)
        delay = fmin(delay, message->estimated_delay);
    return fmin(fmax(delay, DEADLINE_RETRY_MIN), longest);
}
