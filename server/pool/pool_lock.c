/* SPDX-License-Identifier: Apache-2.0 */
/* The one lock of a pool, which all its parts take. */
#include "server/pool/pool_internal.h"

#include "server/base/log.h"

#include "server/base/banned.h"

void pool_lock(struct pool *pool)
{
    must(pool->magic == POOL_MAGIC);
    pthread_mutex_lock(&pool->lock);
}

void pool_unlock(struct pool *pool)
{
    pthread_mutex_unlock(&pool->lock);
}
