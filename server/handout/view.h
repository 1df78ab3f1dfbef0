/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to what the policies look at: what was asked for, what the host is and has, what
 * its user allows, and each app version as this host would run it. It is collected once for a step;
 * from then on nobody reads the request itself. */
#ifndef SERVER_HANDOUT_VIEW_H
#define SERVER_HANDOUT_VIEW_H

#include "server/base/status.h"
#include "server/policy/dispatch/host_view.h"

struct answer_job;
struct request;

/* What a view is for; a table in view.c says what each purpose needs. */
enum view_purpose {
    VIEW_RESEND,  /* which lost jobs the host can run */
    VIEW_ANSWER,  /* no jobs: what is said of each resource, no more */
    VIEW_UNASKED, /* jobs that are sent without being asked for: of always-on apps, assigned */
    VIEW_SELECT,  /* new jobs; also for qmctl why */
    VIEW_PURPOSES
};

/* Needs the plan of the request. When the database refuses or fails, the view is still good for
 * VIEW_ANSWER; after STATUS_NO_MEMORY it is good for nothing. */
MUST_CHECK enum status view_read(struct request *request, enum view_purpose purpose,
                                 struct host_view *ret_view);

/* The queue of the host, for the deadline simulation: to be called before jobs are judged, with the
 * largest of their memory bounds (bytes). Where all jobs fit into memory, none of it is simulated;
 * where they may not, what the host's own jobs take is read, and the simulation made anew once.
 * Leaves view->workload NULL when the simulation is turned off. */
MUST_CHECK enum status view_read_queue(struct request *request, struct host_view *view,
                                       double largest_memory);

/* Bytes that a job of the answer counts in the simulation. */
double view_memory_of(const struct host_view *view, const struct answer_job *job);

#endif
