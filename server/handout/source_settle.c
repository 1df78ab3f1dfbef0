/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of jobs that were taken out of the pool: sent ones leave it, the others go back. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/handout/source.h"
#include "server/pool/pool.h"
#include "server/rpc/request.h"

#include <string.h>

#include "server/base/banned.h"

static bool was_sent(const struct answer *answer, int64_t resultid)
{
    for (size_t i = 0; i < answer->job_count; i++)
        if (answer->jobs[i].resultid == resultid)
            return true;
    return false;
}

bool source_reserve_taken(struct request *request, size_t count)
{
    struct pool_taken *taken = &request->taken;
    size_t capacity = taken->capacity > 0 ? taken->capacity : 256;
    int64_t *ids;

    while (capacity - taken->count < count)
        capacity *= 2;
    if (capacity <= taken->capacity)
        return true;
    ids = ARENA_ARRAY(request->arena, capacity, int64_t);
    if (ids == NULL)
        return false;
    if (taken->count > 0)
        memcpy(ids, taken->ids, taken->count * sizeof(ids[0]));
    taken->ids = ids;
    taken->capacity = capacity;
    return true;
}

bool source_note_taken(struct request *request, const struct pool_answer *answer)
{
    struct pool_taken *taken = &request->taken;
    bool done = source_reserve_taken(request, answer->count);

    for (size_t i = 0; i < answer->count; i++) {
        if (done)
            taken->ids[taken->count++] = answer->jobs[i].resultid;
        else
            pool_return(request->pool, &answer->jobs[i].resultid, 1);
    }
    return done;
}

/* What the answer holds is met from now on. */
static void note_met(struct request *request)
{
    const struct visit *visit = &request->visit;

    for (size_t i = 0; i < visit->answer.job_count; i++) {
        int64_t workunitid = visit->answer.jobs[i].workunitid;

        if (request->config->one_result_per_user_per_wu)
            pool_note_had(request->pool, POOL_USER, visit->user.id, &workunitid, 1);
        if (request->config->one_result_per_host_per_wu)
            pool_note_had(request->pool, POOL_HOST, visit->host.id, &workunitid, 1);
    }
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
    if (is_committed && request->pool != NULL)
        note_met(request);
}

void source_lost(struct request *request, int64_t resultid)
{
    if (request->pool != NULL)
        pool_drop(request->pool, &resultid, 1);
}

void source_doubt(struct request *request, int64_t resultid)
{
    if (request->pool != NULL)
        pool_reread(request->pool, &resultid, 1);
}
