/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs that a host is working on, by the database: several steps ask, one query answers. */
#ifndef SERVER_RPC_IN_PROGRESS_H
#define SERVER_RPC_IN_PROGRESS_H

#include "db/db.h"
#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Where the plan says that the rows will be asked for, and the statistics of versions too: sends
 * both questions, before the first of the answers is asked for. */
MUST_CHECK enum status in_progress_ask_ahead(struct request *request);

/* Rows that somebody else has read, as the next function would; they belong to the attempt now. */
void in_progress_take(struct request *request, struct result_row *rows, size_t count);

/* How many jobs the request lists or reports. */
size_t in_progress_named(const struct request *request);

/* Oldest first; read at the first call of an attempt; what is booked then leaves them. However many
 * of them the client lists or reports, IN_PROGRESS_SPARE others are among them. Jobs claimed in
 * this attempt may be missing. The rows belong to it. */
enum { IN_PROGRESS_SPARE = 10000 };
MUST_CHECK enum status results_in_progress(struct request *request,
                                           const struct result_row **ret_rows, size_t *ret_count);
/* The same with their workunits, which few requests need. */
MUST_CHECK enum status jobs_in_progress(struct request *request, const struct host_job **ret_jobs,
                                        size_t *ret_count);

/* What `is_gone` says is in progress no more. */
void results_in_progress_drop(struct request *request,
                              bool (*is_gone)(const void *context, const struct result_row *row),
                              const void *context);
/* The rows were changed: the next call reads them anew. */
void jobs_in_progress_forget(struct request *request);

#endif
