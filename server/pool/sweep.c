/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps, as the pool sees them: what is met is marked, and at the end, in pieces, what was not met
 * goes. Only then is it known whether anything was left out for lack of room. */
#include "server/pool/pool.h"
#include "server/pool/pool_internal.h"

#include "server/base/banned.h"

void pool_sweep_begin(struct pool *pool)
{
    pool_lock(pool);
    pool->sweep++;
    pool->sweep_at = 1;
    pool->lacks_now = false;
    pool->low = 0;
    pool->ran_out_before = pool->ran_out;
    pool_unlock(pool);
}

size_t pool_confirm(struct pool *pool, int64_t priority, int64_t *ids, size_t count)
{
    size_t left = 0;

    pool_lock(pool);
    for (size_t i = 0; i < count; i++) {
        slot number = pool_find(pool, ids[i]);

        if (number != 0 &&
            class_at(pool, job_at(pool, number)->class_number)->key.priority == priority)
            job_at(pool, number)->sweep = pool->sweep;
        else
            ids[left++] = ids[i];
    }
    pool_unlock(pool);
    return left;
}

void pool_lacks(struct pool *pool)
{
    pool_lock(pool);
    pool->lacks_some = pool->lacks_now = true;
    pool_unlock(pool);
}

bool pool_sweep_end(struct pool *pool)
{
    bool more;

    pool_lock(pool);
    for (int i = 0; i < POOL_PIECE && pool->sweep_at < pool->jobs.used; i++, pool->sweep_at++) {
        const struct job_node *job = job_at(pool, pool->sweep_at);
        if (job->class_number != 0 && !job->is_taken && job->sweep != pool->sweep)
            pool_forget(pool, pool->sweep_at);
    }
    more = pool->sweep_at < pool->jobs.used;
    if (!more) {
        pool->was_filled = true;
        pool->lacks_some = pool->lacks_now;
        pool->lacks_class = pool->lacks_class && pool->lacks_now;
        pool->ran_out -= pool->ran_out_before;
        pool->ran_out_before = 0;
    }
    pool_unlock(pool);
    return more;
}
