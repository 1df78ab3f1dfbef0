/* SPDX-License-Identifier: Apache-2.0 */
/* Where handing out gets its data once the asking host is known: from the database for a client,
 * from a record for a replayed request (server/replay/). What was read about the host before is in
 * the attempt. */
#ifndef SERVER_RPC_WORLD_H
#define SERVER_RPC_WORLD_H

#include "db/db.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

/* Rows live in the request's arena. Each function is what db/db.h says of the call of its name. */
struct world {
    /* Without them nobody can tell whether a job can be written, and each can. */
    bool has_documents;
    enum status (*savepoint)(struct request *request);
    enum status (*rollback_to_savepoint)(struct request *request);
    /* Unsent jobs, beside those of the pool. */
    enum status (*candidates)(struct request *request, const struct candidate_filter *filter,
                              struct candidate **ret_candidates, size_t *ret_count);
    /* Which of these jobs are still there. */
    enum status (*unsent_by_id)(struct request *request, const int64_t *ids, size_t count,
                                struct unsent_job **ret_jobs, size_t *ret_count);
    /* Which of these workunits the user or the host already had. */
    enum status (*workunits_had)(struct request *request, const int64_t *ids, size_t count,
                                 struct had_workunit **ret_rows, size_t *ret_count);
    enum status (*job_documents)(struct request *request, const int64_t *resultids, size_t count,
                                 struct job_documents *ret_documents);
    /* `believed`: the workunit of each of `keys`, as it was when the job was chosen. */
    enum status (*jobs_lock)(struct request *request, const struct job_key *keys,
                             const struct workunit_row *const *believed, size_t count,
                             const struct counted_results *counts, struct locked_job *ret_jobs);
    enum status (*results_claim)(struct request *request, const struct claim *claims, size_t count);
};

extern const struct world database_world;

#endif
