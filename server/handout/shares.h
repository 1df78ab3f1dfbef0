/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a request in the shares of job streams (policy(7) 10.3): of which stream its jobs
 * are, and what each was given. */
#ifndef SERVER_HANDOUT_SHARES_H
#define SERVER_HANDOUT_SHARES_H

#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

/* The streams of config.xml for the view; nothing where there is none but the rest. False: no
 * memory. */
bool shares_read(const struct request *request, struct host_view *view);
/* Sets the stream of each job, with the clock that it has in this request, and brings the jobs into
 * the order of their levels. Jobs of the pool know their streams. */
MUST_CHECK enum status shares_mark(struct request *request, const struct host_view *view,
                                   struct job *jobs, size_t count);
/* The job was got: for what is chosen after it in this request, and for shares_commit. */
void shares_book(struct request *request, const struct host_view *view, const struct job *job);
/* After the commit: charges the streams of what was sent, for the requests to come. */
void shares_commit(struct request *request);

#endif
