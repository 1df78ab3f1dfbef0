/* SPDX-License-Identifier: Apache-2.0 */
/* The host's queue, for the deadline simulation. */
#ifndef SERVER_HANDOUT_HOST_QUEUE_H
#define SERVER_HANDOUT_HOST_QUEUE_H

#include "server/base/status.h"

struct host_view;
struct request;

/* Sets view->workload from the request, the answer so far (resent jobs, aborts) and, where they are
 * needed, the host's rows; leaves it NULL when the simulation is turned off. */
MUST_CHECK enum status queue_read(struct request *request, struct host_view *view);

#endif
