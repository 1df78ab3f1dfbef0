/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a request (server/rpc/request_plan.h) from what is known of it. */
#ifndef SERVER_REQUEST_PLAN_CONDITIONS_H
#define SERVER_REQUEST_PLAN_CONDITIONS_H

#include "server/rpc/request_plan.h"

#include <stdbool.h>

struct request;

/* The plan of a request whose host is known and whose reasons against work have all been found. */
struct request_plan request_plan_make(const struct request *request);

/* Whether jobs may come without being refused: then it matters whether the client could check their
 * signatures. Needs nothing of the host. */
bool request_may_bring_jobs(const struct request *request);

#endif
