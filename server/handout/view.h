/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to what the policies look at. */
#ifndef SERVER_HANDOUT_VIEW_H
#define SERVER_HANDOUT_VIEW_H

#include "server/policy/dispatch/checks.h"

struct request;

/* After the authenticate and report steps. False: no memory. */
bool view_make(const struct request *request, struct host_view *ret_view);

/* Counts a job in progress for the limits of its app; `counts` is as long as view->app_limits. */
void view_count_job(struct app_count *counts, const struct host_view *view, int64_t appid,
                    size_t resource);

/* Seconds added to stored deadlines. */
int64_t view_grace_period(const struct config *config);

#endif
