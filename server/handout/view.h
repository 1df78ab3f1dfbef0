/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to what the policies look at: what was asked for, what the host is and has, what
 * its user allows, and each app version as this host would run it. It is collected once for a step;
 * from then on nobody reads the request itself. */
#ifndef SERVER_HANDOUT_VIEW_H
#define SERVER_HANDOUT_VIEW_H

#include "server/base/status.h"
#include "server/policy/dispatch/host_view.h"

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

/* Seconds added to stored deadlines. */
int64_t view_grace_period(const struct config *config);

#endif
