/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates from the job pool; for source.c. */
#ifndef SERVER_HANDOUT_SOURCE_POOL_H
#define SERVER_HANDOUT_SOURCE_POOL_H

#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"
#include "server/policy/refusal/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;
struct source;

/* The next batch. Count 0: the pool has no more for this host; then source->pool_is_short says that
 * the database may have. `got_some`: of the last batch. */
MUST_CHECK enum status source_pool_next(struct source *source, bool got_some, bool some_lost,
                                        struct job **ret_jobs, size_t *ret_count);
/* What came nearest, for the reasons. */
MUST_CHECK enum status source_pool_explain(struct source *source, struct job **ret_jobs,
                                           size_t *ret_count);

#endif
