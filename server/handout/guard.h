/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a request whose jobs could not be booked: its reports are kept. */
#ifndef SERVER_HANDOUT_GUARD_H
#define SERVER_HANDOUT_GUARD_H

#include "server/rpc/request.h"

#include <stdbool.h>

/* Marks the point to which guard_failed goes back; everything before it is kept. */
MUST_CHECK enum status guard_begin(struct request *request);

/* After a failure of the database. What the transaction cannot survive fails the request
 * (NEXT_FAILED); else everything since guard_begin (if `has_begun`) is taken back, the volunteer is
 * told, and the walk goes on without jobs (NEXT_STEP). */
enum next guard_failed(struct request *request, enum status status, const char *what,
                       bool has_begun);

#endif
