/* SPDX-License-Identifier: Apache-2.0 */
/* Documents are not recorded, nor what a user or host had before. */
#include "server/replay/recorded_world.h"

#include "server/base/arena.h"
#include "server/rpc/request.h"

#include <string.h>

#include "server/base/banned.h"

/* There is nothing to take back. */
static enum status savepoint(struct request *request)
{
    (void)request;
    return STATUS_OK;
}

static enum status candidates(struct request *request, const struct candidate_filter *filter,
                              struct candidate **ret_candidates, size_t *ret_count)
{
    (void)request;
    (void)filter;
    *ret_candidates = NULL;
    *ret_count = 0;
    return STATUS_OK;
}

static enum status unsent_by_id(struct request *request, const int64_t *ids, size_t count,
                                struct unsent_job **ret_jobs, size_t *ret_count)
{
    *ret_jobs = ARENA_ARRAY(request->arena, count, struct unsent_job);
    if (*ret_jobs == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        (*ret_jobs)[i] = (struct unsent_job){.resultid = ids[i], .is_free = true};
    *ret_count = count;
    return STATUS_OK;
}

static enum status workunits_had(struct request *request, const int64_t *ids, size_t count,
                                 struct had_workunit **ret_rows, size_t *ret_count)
{
    (void)request;
    (void)ids;
    (void)count;
    *ret_rows = NULL;
    *ret_count = 0;
    return STATUS_OK;
}

static enum status job_documents(struct request *request, const int64_t *resultids, size_t count,
                                 struct job_documents *ret_documents)
{
    (void)request;
    (void)resultids;
    memset(ret_documents, 0, count * sizeof(ret_documents[0]));
    return STATUS_OK;
}

/* Results of one workunit share what is said of it. */
static enum status jobs_lock(struct request *request, const struct job_key *keys,
                             const struct workunit_row *const *believed, size_t count,
                             const struct counted_results *counts, struct locked_job *ret_jobs)
{
    struct locked_workunit *rows = ARENA_ARRAY(request->arena, count, struct locked_workunit);

    (void)counts;
    if (rows == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct locked_workunit){.id = keys[i].workunitid,
                                           .hr_class = believed[i]->hr_class,
                                           .app_version_id = believed[i]->app_version_id};
        ret_jobs[i] = (struct locked_job){.row = &rows[i], .is_unsent = true};
        for (size_t j = 0; j < i; j++)
            if (keys[j].workunitid == keys[i].workunitid)
                ret_jobs[i].row = ret_jobs[j].row;
    }
    return STATUS_OK;
}

static enum status results_claim(struct request *request, const struct claim *claims, size_t count)
{
    (void)request;
    (void)claims;
    (void)count;
    return STATUS_OK;
}

const struct world recorded_world = {
    .savepoint = savepoint,
    .rollback_to_savepoint = savepoint,
    .candidates = candidates,
    .unsent_by_id = unsent_by_id,
    .workunits_had = workunits_had,
    .job_documents = job_documents,
    .jobs_lock = jobs_lock,
    .results_claim = results_claim,
};
