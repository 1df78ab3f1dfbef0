/* SPDX-License-Identifier: Apache-2.0 */
/* Where candidates come from: batches of unsent jobs in order of falling priority, out of the job
 * pool of the process, or without a pool by a query of the database for this host. They are hints
 * only: the database decides at claim time. Candidates are taken out of the pool: no other request
 * of this process is offered them until source_finish. */
#ifndef SERVER_HANDOUT_SOURCE_H
#define SERVER_HANDOUT_SOURCE_H

#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"
#include "server/policy/limits/amounts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;
struct source; /* of one search; in the request's arena */

/* Work is wanted (`explains`: if nothing is sent, reasons will be needed), or only always-on apps
 * are to be served. `left` is what of the request is left as jobs are chosen. NULL: no memory. */
struct source *source_open(struct request *request, const struct host_view *view,
                           const struct amounts *left, bool explains);

/* The next batch, complete with what the checks ask about a job; count 0: there is none.
 * `some_lost` tells whether others got a job of the last batch first. Once nothing suits, a last
 * batch holds a few jobs that the filter had held back, so that the reasons can be said. */
MUST_CHECK enum status source_next(struct source *source, bool some_lost, struct job **ret_jobs,
                                   size_t *ret_count);
/* Whether the last batch, one for explanations, had no place for all jobs. */
bool source_is_cut(const struct source *source);

/* After claims of a batch failed because the pool did not know what the database does: asks which
 * of the batch's other jobs are still unsent, and does so with every batch that follows before it
 * is offered. What is unsent no more leaves the pool. So jobs that were withdrawn in thousands cost
 * a few queries, and not a failed claim each. */
MUST_CHECK enum status source_recheck(struct source *source, struct job *jobs, size_t count);

/* A candidate that somebody else got. */
void source_lost(struct request *request, int64_t resultid);
/* A candidate whose row is not as the pool holds it: the pool reads it again. */
void source_changed(struct request *request, int64_t resultid);

/* After each attempt at the transaction: of what was taken, jobs that were sent leave the pool,
 * the others go back. To be called before the arena is rewound. */
void source_finish(struct request *request, bool is_committed);

#endif
