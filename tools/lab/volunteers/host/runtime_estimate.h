/* SPDX-License-Identifier: Apache-2.0 */
/* How long jobs will still take, as the host's client estimates it, and what follows from that: the
 * queue as work fetch simulates it, and the estimated delay of a resource. The estimate policies
 * are defined here and not with the other tables of habits.h, because those use them. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_RUNTIME_ESTIMATE_H
#define TOOLS_LAB_VOLUNTEERS_HOST_RUNTIME_ESTIMATE_H

#include <stddef.h>

struct fetch_job;
struct volunteer;
struct volunteer_job;

struct estimate_policy {
    const char *name;
    /* The run time in s that is left of a job. */
    double (*left)(const struct volunteer *volunteer, const struct volunteer_job *job);
    /* A job has ended: what later estimates learn from it. NULL: nothing. */
    void (*learn)(struct volunteer *volunteer, const struct volunteer_job *job);
};
enum { ESTIMATE_POLICIES = 2 };
extern const struct estimate_policy estimate_policies[ESTIMATE_POLICIES];

/* Both by the policy of the volunteer. */
double estimate_left(const struct volunteer *volunteer, const struct volunteer_job *job);
void estimate_learn(struct volunteer *volunteer, const struct volunteer_job *job);
/* The jobs that are not over, for fetch_simulate; ret_jobs has room for VOLUNTEER_JOBS_MAX. Returns
 * how many. */
size_t estimate_queue(const struct volunteer *volunteer, struct fetch_job *ret_jobs);
/* The s of wall time until an instance of the resource is free of jobs that are in danger of
 * missing their deadlines: what requests tell as its estimated delay. */
double estimate_busy_delay(const struct volunteer *volunteer, size_t resource);

#endif
