/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of jobs that were taken out of the pool: sent ones leave it, the others go back. */
#include "server/pool/pool.h"
#include "server/request.h"
#include "server/select/source.h"

#include "server/base/banned.h"

static bool was_sent(const struct answer *answer, int64_t resultid)
{
    for (size_t i = 0; i < answer->job_count; i++)
        if (answer->jobs[i].resultid == resultid)
            return true;
    return false;
}

void source_settle(struct request *request, bool is_committed)
{
    struct pool_taken *taken = &request->taken;

    for (size_t i = 0; i < taken->count; i++) {
        if (is_committed && was_sent(&request->visit.answer, taken->ids[i]))
            pool_drop(request->pool, &taken->ids[i], 1);
        else
            pool_return(request->pool, &taken->ids[i], 1);
    }
    *taken = (struct pool_taken){0};
}

void source_lost(struct request *request, int64_t resultid)
{
    if (request->pool != NULL)
        pool_drop(request->pool, &resultid, 1);
}

void source_doubt(struct request *request, int64_t resultid)
{
    if (request->pool != NULL)
        pool_distrust(request->pool, &resultid, 1);
}
