/* SPDX-License-Identifier: Apache-2.0 */
/* The database as the world. */
#include "server/rpc/world.h"

#include "server/rpc/request.h"

#include "server/base/banned.h"

static enum status savepoint(struct request *request)
{
    return db_savepoint(request->db);
}

static enum status rollback_to_savepoint(struct request *request)
{
    return db_rollback_to_savepoint(request->db);
}

static enum status candidates(struct request *request, const struct candidate_filter *filter,
                              struct candidate **ret_candidates, size_t *ret_count)
{
    return db_candidates(request->db, request->arena, filter, ret_candidates, ret_count);
}

static enum status unsent_by_id(struct request *request, const int64_t *ids, size_t count,
                                struct unsent_job **ret_jobs, size_t *ret_count)
{
    return db_unsent_by_id(request->db, request->arena, ids, count, ret_jobs, ret_count);
}

static enum status workunits_had(struct request *request, const int64_t *ids, size_t count,
                                 struct had_workunit **ret_rows, size_t *ret_count)
{
    return db_workunits_had(request->db, request->arena, ids, count, request->attempt.user.id,
                            request->attempt.host.id, ret_rows, ret_count);
}

static enum status job_documents(struct request *request, const int64_t *resultids, size_t count,
                                 struct job_documents *ret_documents)
{
    return db_job_documents(request->db, request->arena, resultids, count, ret_documents);
}

static enum status jobs_lock(struct request *request, const struct job_key *keys,
                             const struct workunit_row *const *believed, size_t count,
                             const struct counted_results *counts, struct locked_job *ret_jobs)
{
    (void)believed;
    return db_jobs_lock(request->db, request->arena, keys, count, counts, ret_jobs);
}

static enum status results_claim(struct request *request, const struct claim *claims, size_t count)
{
    return db_results_claim(request->db, request->arena, request->attempt.host.id,
                            request->attempt.user.id, claims, count);
}

const struct world database_world = {
    .has_documents = true,
    .savepoint = savepoint,
    .rollback_to_savepoint = rollback_to_savepoint,
    .candidates = candidates,
    .unsent_by_id = unsent_by_id,
    .workunits_had = workunits_had,
    .job_documents = job_documents,
    .jobs_lock = jobs_lock,
    .results_claim = results_claim,
};
