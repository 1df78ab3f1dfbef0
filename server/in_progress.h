/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs that a host is working on, by the database: several steps ask, one query answers. */
#ifndef SERVER_IN_PROGRESS_H
#define SERVER_IN_PROGRESS_H

#include "db/db.h"
#include "server/base/status.h"

#include <stddef.h>

struct request;

/* Oldest first; read at the first call of an attempt, after the reports were booked. However many
 * of them the client lists, IN_PROGRESS_SPARE others are among them. Jobs claimed in this attempt
 * may be missing. The rows belong to the visit. */
enum { IN_PROGRESS_SPARE = 10000 };
MUST_CHECK enum status jobs_in_progress(struct request *request, const struct host_job **ret_jobs,
                                        size_t *ret_count);

/* The rows were changed: the next call reads them anew. */
void jobs_in_progress_forget(struct request *request);

#endif
