/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of candidates that were taken: sent ones leave the pool, the others go back. */
#include "server/handout/source_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include <string.h>

#include "server/base/banned.h"

bool source_make_place(struct request *request, size_t count)
{
    struct taken_jobs *taken = &request->taken;
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
    struct taken_jobs *taken = &request->taken;
    bool done = source_make_place(request, answer->count);

    for (size_t i = 0; i < answer->count; i++) {
        if (done)
            taken->ids[taken->count++] = answer->jobs[i].resultid;
        else
            pool_return(request->pool, &answer->jobs[i].resultid, 1);
    }
    return done;
}

/* User and host have had what the answer holds from now on. */
static void note_had(struct request *request)
{
    const struct attempt *attempt = &request->attempt;

    for (size_t i = 0; i < attempt->answer.job_count; i++) {
        int64_t workunitid = attempt->answer.jobs[i].workunitid;

        if (request->config->one_result_per_user_per_wu)
            pool_note_had(request->pool, POOL_USER, attempt->user.id, &workunitid, 1);
        if (request->config->one_result_per_host_per_wu)
            pool_note_had(request->pool, POOL_HOST, attempt->host.id, &workunitid, 1);
    }
}

/* What was sent leaves the pool, wherever this request had it from: other requests may have taken
 * it. */
static void drop_sent(struct request *request)
{
    const struct answer *answer = &request->attempt.answer;

    for (size_t i = 0; i < answer->job_count; i++)
        if (!answer->jobs[i].is_resent)
            pool_drop(request->pool, &answer->jobs[i].resultid, 1);
}

void source_finish(struct request *request, bool is_committed)
{
    struct taken_jobs *taken = &request->taken;

    if (request->pool == NULL)
        return;
    if (is_committed)
        drop_sent(request);
    pool_return(request->pool, taken->ids, taken->count);
    *taken = (struct taken_jobs){0};
    if (is_committed)
        note_had(request);
}

void source_lost(struct request *request, int64_t resultid)
{
    if (request->pool != NULL)
        pool_drop(request->pool, &resultid, 1);
}

void source_changed(struct request *request, int64_t resultid)
{
    if (request->pool != NULL)
        pool_reread(request->pool, &resultid, 1);
}
