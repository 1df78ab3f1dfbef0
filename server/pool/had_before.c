/* SPDX-License-Identifier: Apache-2.0 */
/* Which users and hosts had a result of which workunits already, for the rules of one result per
 * user or host: jobs that are not for whoever asks are passed over without another query. Only what
 * the database has committed comes in, and it stays true until the workunit is deleted; still it is
 * forgotten after a while, as somebody may repair the database by hand, and to bound the memory. A
 * pair that was forgotten costs a query. */
#include "server/base/random.h"
#include "server/pool/pool_internal.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { SEED_HAD = 0x6d6574 };

uint64_t had_key(enum pool_subject subject, int64_t id)
{
    uint64_t key = random_mix((uint64_t)SEED_HAD + (uint64_t)subject, (uint64_t)id);

    if (id == 0)
        return 0;
    return key != 0 ? key : 1;
}

static uint64_t pair_of(uint64_t key, int64_t workunitid)
{
    uint64_t pair = random_mix(key, (uint64_t)workunitid);
    return pair != 0 ? pair : 1;
}

/* The place of the pair, or the free one where it belongs. */
static uint64_t *place_of(uint64_t *table, size_t mask, uint64_t pair)
{
    size_t at = (size_t)pair & mask;

    while (table[at] != 0 && table[at] != pair)
        at = (at + 1) & mask;
    return &table[at];
}

bool had_before(const struct had_pairs *pairs, uint64_t key, int64_t workunitid)
{
    uint64_t pair;

    if (key == 0 || pairs->young == NULL)
        return false;
    pair = pair_of(key, workunitid);
    return *place_of(pairs->young, pairs->mask, pair) != 0 ||
           *place_of(pairs->old, pairs->mask, pair) != 0;
}

size_t had_bytes(const struct had_pairs *pairs)
{
    return pairs->young == NULL ? 0 : 2 * (pairs->mask + 1) * sizeof(pairs->young[0]);
}

void had_clear(struct had_pairs *pairs)
{
    free(pairs->young);
    free(pairs->old);
    *pairs = (struct had_pairs){0};
}

/* As many as the pool has buckets for jobs. Without memory nothing is kept. */
static bool make_tables(struct had_pairs *pairs, size_t mask)
{
    pairs->mask = mask;
    pairs->young = calloc(mask + 1, sizeof(pairs->young[0]));
    pairs->old = calloc(mask + 1, sizeof(pairs->old[0]));
    if (pairs->young == NULL || pairs->old == NULL)
        had_clear(pairs);
    return pairs->young != NULL;
}

static void age(struct had_pairs *pairs)
{
    uint64_t *table = pairs->old;

    if (pairs->young == NULL)
        return;
    memset(table, 0, (pairs->mask + 1) * sizeof(table[0]));
    pairs->old = pairs->young;
    pairs->young = table;
    pairs->count = 0;
}

void pool_note_had(struct pool *pool, enum pool_subject subject, int64_t id,
                   const int64_t *workunitids, size_t count)
{
    struct had_pairs *pairs = &pool->had;
    uint64_t key = had_key(subject, id);

    pool_lock(pool);
    for (size_t i = 0; i < count && key != 0; i++) {
        uint64_t pair = pair_of(key, workunitids[i]), *place;

        if (pairs->young == NULL && !make_tables(pairs, pool->hash_mask))
            break;
        if (pairs->count >= (pairs->mask + 1) / 4 * 3)
            age(pairs);
        place = place_of(pairs->young, pairs->mask, pair);
        pairs->count += *place == 0;
        *place = pair;
    }
    pool_unlock(pool);
}

void pool_forget_had(struct pool *pool)
{
    pool_lock(pool);
    age(&pool->had);
    pool_unlock(pool);
}
