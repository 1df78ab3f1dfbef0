/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of one database, and whose part each job is. When one comes or goes, jobs change
 * hands, in pieces. */
#include "server/base/random.h"
#include "server/pool/pool.h"
#include "server/pool/pool_internal.h"

#include <string.h>

#include "server/base/banned.h"

/* Each job goes to the living server that its id and the server's number mix best for: when one
 * comes or goes, only its own jobs change hands. */
bool pool_is_of_others(const struct pool *pool, int64_t resultid)
{
    uint64_t best = 0;
    int64_t owner = pool->server;

    for (size_t i = 0; i < pool->server_count; i++) {
        uint64_t mixed = random_mix((uint64_t)pool->servers[i], (uint64_t)resultid);
        if (i == 0 || mixed > best) {
            best = mixed;
            owner = pool->servers[i];
        }
    }
    return owner != pool->server;
}

void pool_divide(struct pool *pool, int64_t own, const int64_t *servers, size_t count)
{
    if (count > POOL_SERVERS_MAX)
        count = POOL_SERVERS_MAX;
    pool_lock(pool);
    if (pool->server != own || pool->server_count != count ||
        (count > 0 && memcmp(pool->servers, servers, count * sizeof(servers[0])) != 0)) {
        pool->server = own;
        pool->server_count = count;
        for (size_t i = 0; i < count; i++)
            pool->servers[i] = servers[i];
        pool->divide_at = 1;
    }
    pool_unlock(pool);
}

static void divide(struct pool *pool, slot number)
{
    struct job_node *job = job_at(pool, number);
    bool of_others = job->class_number != 0 && pool_is_of_others(pool, job->resultid);

    if (job->class_number == 0 || of_others == job->is_of_others)
        return;
    pool->own += job->is_of_others;
    pool->own -= !job->is_of_others;
    if (!job->is_taken)
        class_unlink(pool, number);
    job->is_of_others = of_others;
    if (!job->is_taken)
        class_link(pool, number);
}

bool pool_divide_some(struct pool *pool)
{
    bool more;

    pool_lock(pool);
    if (pool->divide_at != 0) {
        for (int i = 0; i < POOL_PIECE && pool->divide_at < pool->jobs.end; i++)
            divide(pool, pool->divide_at++);
        if (pool->divide_at >= pool->jobs.end)
            pool->divide_at = 0;
    }
    more = pool->divide_at != 0;
    pool_unlock(pool);
    return more;
}
