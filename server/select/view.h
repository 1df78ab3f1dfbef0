/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to what the policies look at. */
#ifndef SERVER_SELECT_VIEW_H
#define SERVER_SELECT_VIEW_H

#include "server/policy/checks.h"

struct request;

/* After the authenticate and report steps. False: no memory. */
bool view_make(const struct request *request, struct host_view *ret_view);

/* Seconds added to stored deadlines. */
int64_t view_grace_period(const struct config *config);

#endif
