/* SPDX-License-Identifier: Apache-2.0 */
/* The host as the rules of 2006 to 2010 see it (client/schedule.h, client/robin.h): its projects
 * and jobs as arrays of theirs, in the order in which the jobs came. Choosing what runs and
 * fetching work both begin with such a view. It is valid as long as the host does not live on. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_ROBIN_VIEW_H
#define TOOLS_LAB_VOLUNTEERS_HOST_ROBIN_VIEW_H

#include "tools/lab/volunteers/client/robin.h"
#include "tools/lab/volunteers/client/schedule.h"
#include "tools/lab/volunteers/host/volunteer.h"

struct robin_view {
    struct schedule_host host;
    struct schedule_project projects[CLIENT_PROJECTS_MAX];
    struct schedule_result results[VOLUNTEER_JOBS_MAX];
    struct robin_project robin_projects[CLIENT_PROJECTS_MAX];
    struct robin_result robin_results[VOLUNTEER_JOBS_MAX];
    struct volunteer_job *jobs[VOLUNTEER_JOBS_MAX]; /* in the order in which they came */
    size_t count;                                   /* of jobs that are not over */
    double total_shortfall;                         /* s of normalized CPU time */
};

/* The host's jobs, and the states of its projects. */
void robin_view_take(struct volunteer *volunteer, struct robin_view *ret_view);
/* Adds the CPU time since the last call to both debts of the projects; the host keeps them. */
void robin_view_adjust_debts(struct volunteer *volunteer, struct robin_view *view);
/* Simulates round robin for the next `queue` s: which jobs miss their deadlines, and shortfalls. */
void robin_view_simulate(const struct volunteer *volunteer, struct robin_view *view, double queue);

#endif
