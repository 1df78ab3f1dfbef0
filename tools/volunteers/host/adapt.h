/* SPDX-License-Identifier: Apache-2.0 */
/* A host as the rooms of 2006 to 2010 see it, for the policies over them. */
#ifndef TOOLS_VOLUNTEERS_HOST_ADAPT_H
#define TOOLS_VOLUNTEERS_HOST_ADAPT_H

#include "tools/volunteers/client/robin.h"
#include "tools/volunteers/client/schedule.h"
#include "tools/volunteers/host/volunteer.h"

/* What the rooms are given; of a host that lives no longer than this. */
struct adaptation {
    struct schedule_host host;
    struct schedule_project projects[FETCH_PROJECTS_MAX];
    struct schedule_result results[VOLUNTEER_JOBS_MAX];
    struct robin_project robin_projects[FETCH_PROJECTS_MAX];
    struct robin_result robin_results[VOLUNTEER_JOBS_MAX];
    struct volunteer_job *jobs[VOLUNTEER_JOBS_MAX]; /* in the order in which they came */
    size_t count;                                   /* of jobs that are not over */
    double total_shortfall;                         /* s of normalized CPU time */
};

/* Jobs and states of projects. */
void adapt_host(struct volunteer *volunteer, struct adaptation *ret_adaptation);
/* Books CPU time; the debts stay with the host. */
void adapt_settle_debts(struct volunteer *volunteer, struct adaptation *adaptation);
/* Round robin for the next `queue` s: missed deadlines and shortfalls. */
void adapt_simulate(const struct volunteer *volunteer, struct adaptation *adaptation, double queue);

#endif
