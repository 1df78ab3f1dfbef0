/* SPDX-License-Identifier: Apache-2.0 */
/* The batch in a request to submit or to estimate: the elements of <batch>, and its <job>s one by
 * one, with memory for one of them. */
#ifndef SERVER_SUBMISSION_RPC_BATCH_H
#define SERVER_SUBMISSION_RPC_BATCH_H

#include "server/submission/submit_desk.h"

struct spool;

/* All but the jobs; texts live in the arena. STATUS_INVALID: it cannot be read, or has numbers that
 * are none. */
MUST_CHECK enum status rpc_batch_read(struct spool *spool, struct arena *arena,
                                      struct wanted_batch *ret_wanted, struct failure *failure);

/* For wanted_jobs: its source. */
struct rpc_batch_jobs {
    struct spool *spool;
    struct failure *failure;
};
MUST_CHECK enum status rpc_batch_walk(void *source, wanted_job_call *call, void *context);

#endif
