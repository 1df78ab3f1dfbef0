/* SPDX-License-Identifier: Apache-2.0 */
/* Which users and hosts had a result of which workunits already, for the rules of one result per
 * user or host: jobs that are not for whoever asks are passed over without another query. Only what
 * the database has committed comes in, and it stays true until the workunit is deleted; still it is
 * forgotten after a while, as somebody may repair the database by hand, and to bound the memory. A
 * fact that was forgotten costs a query. */
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

static uint64_t fact_of(uint64_t key, int64_t workunitid)
{
    uint64_t fact = random_mix(key, (uint64_t)workunitid);
    return fact != 0 ? fact : 1;
}

/* The place of the fact, or the free one where it belongs. */
static uint64_t *place_of(uint64_t *table, size_t mask, uint64_t fact)
{
    size_t at = (size_t)fact & mask;

    while (table[at] != 0 && table[at] != fact)
        at = (at + 1) & mask;
    return &table[at];
}

bool had_before(const struct had_facts *facts, uint64_t key, int64_t workunitid)
{
    uint64_t fact;

    if (key == 0 || facts->young == NULL)
        return false;
    fact = fact_of(key, workunitid);
    return *place_of(facts->young, facts->mask, fact) != 0 ||
           *place_of(facts->old, facts->mask, fact) != 0;
}

size_t had_bytes(const struct had_facts *facts)
{
    return facts->young == NULL ? 0 : 2 * (facts->mask + 1) * sizeof(facts->young[0]);
}

void had_clear(struct had_facts *facts)
{
    free(facts->young);
    free(facts->old);
    *facts = (struct had_facts){0};
}

/* As many as the pool has buckets for jobs. Without memory nothing is kept. */
static bool make_tables(struct had_facts *facts, size_t mask)
{
    facts->mask = mask;
    facts->young = calloc(mask + 1, sizeof(facts->young[0]));
    facts->old = calloc(mask + 1, sizeof(facts->old[0]));
    if (facts->young == NULL || facts->old == NULL)
        had_clear(facts);
    return facts->young != NULL;
}

static void age(struct had_facts *facts)
{
    uint64_t *table = facts->old;

    if (facts->young == NULL)
        return;
    memset(table, 0, (facts->mask + 1) * sizeof(table[0]));
    facts->old = facts->young;
    facts->young = table;
    facts->count = 0;
}

void pool_note_had(struct pool *pool, enum pool_subject subject, int64_t id,
                   const int64_t *workunitids, size_t count)
{
    struct had_facts *facts = &pool->had;
    uint64_t key = had_key(subject, id);

    pool_lock(pool);
    for (size_t i = 0; i < count && key != 0; i++) {
        uint64_t fact = fact_of(key, workunitids[i]), *place;

        if (facts->young == NULL && !make_tables(facts, pool->hash_mask))
            break;
        if (facts->count >= (facts->mask + 1) / 4 * 3)
            age(facts);
        place = place_of(facts->young, facts->mask, fact);
        facts->count += *place == 0;
        *place = fact;
    }
    pool_unlock(pool);
}

void pool_forget_had(struct pool *pool)
{
    pool_lock(pool);
    age(&pool->had);
    pool_unlock(pool);
}
