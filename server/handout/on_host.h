/* SPDX-License-Identifier: Apache-2.0 */
/* How many jobs a host has, where a limit hangs on it. */
#ifndef SERVER_HANDOUT_ON_HOST_H
#define SERVER_HANDOUT_ON_HOST_H

#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"

struct request;

/* Raises what the client lists to what the database knows; asks it only if there is a limit. */
MUST_CHECK enum status on_host_count(struct request *request, struct host_view *view);

#endif
