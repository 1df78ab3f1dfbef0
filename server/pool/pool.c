/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the pool: jobs come, change, go.
 *
 * Invariants, whenever the lock is free: a job is in the hash; it is either in a list of its class
 * or in somebody's hands, never both; a class is in its group's tree just while one of its lists
 * holds a job. The lock is held for a bounded piece of work only: long walks go in pieces. */
#include "server/pool/pool.h"

#include "server/base/random.h"
#include "server/pool/pool_internal.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum {
    POOL_MAGIC = 0x706f6f6c,
    SAMPLE = 16,          /* jobs looked at to find a large class */
    LOW_WATER = 64,       /* jobs of a class that lacks some */
    DISTRUSTED_MAX = 4096 /* beyond it the sweep must do */
};

void pool_lock(struct pool *pool)
{
    must(pool->magic == POOL_MAGIC);
    pthread_mutex_lock(&pool->lock);
}

void pool_unlock(struct pool *pool)
{
    pthread_mutex_unlock(&pool->lock);
}

struct pool *pool_create(size_t jobs_max, bool by_user)
{
    struct pool *pool = calloc(1, sizeof(*pool));
    size_t buckets = 1024;

    if (pool == NULL)
        return NULL;
    while (buckets < jobs_max && buckets < (size_t)1 << 31)
        buckets *= 2;
    pthread_mutex_init(&pool->lock, NULL);
    *pool = (struct pool){.magic = POOL_MAGIC,
                          .lock = pool->lock,
                          .by_user = by_user,
                          .jobs_max = jobs_max,
                          .hash_mask = buckets - 1,
                          .sweep = 1,
                          .jobs = {.size = sizeof(struct job_node)},
                          .classes = {.size = sizeof(struct class_node)},
                          .groups = {.size = sizeof(struct group_node)}};
    /* Memory that nobody writes to yet costs nothing. */
    pool->job_hash = calloc(buckets, sizeof(slot));
    pool->class_hash = calloc(buckets, sizeof(slot));
    pool->group_hash = calloc(GROUP_BUCKETS, sizeof(slot));
    pool->distrusted = calloc(DISTRUSTED_MAX, sizeof(int64_t));
    if (pool->job_hash == NULL || pool->class_hash == NULL || pool->group_hash == NULL ||
        pool->distrusted == NULL) {
        pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL)
        return;
    for (slot i = 1; i < pool->classes.used; i++)
        free(class_at(pool, i)->key.keywords); /* NULL in free slots */
    slots_clear(&pool->jobs);
    slots_clear(&pool->classes);
    slots_clear(&pool->groups);
    free(pool->job_hash);
    free(pool->class_hash);
    free(pool->group_hash);
    free(pool->group_list);
    free(pool->distrusted);
    met_clear(&pool->met);
    pthread_mutex_destroy(&pool->lock);
    pool->magic = 0;
    free(pool);
}

/* --- one job --------------------------------------------------------------------------------- */

static slot *bucket_of(const struct pool *pool, int64_t resultid)
{
    return &pool->job_hash[random_mix(2, (uint64_t)resultid) & pool->hash_mask];
}

slot pool_find(const struct pool *pool, int64_t resultid)
{
    slot number = *bucket_of(pool, resultid);

    while (number != 0 && job_at(pool, number)->resultid != resultid)
        number = job_at(pool, number)->hash_next;
    return number;
}

static size_t held_of(const struct class_node *node)
{
    return (size_t)node->taken + node->lists[OWN].count + node->lists[FOREIGN].count;
}

/* Out of its class, wherever it is. */
static void detach(struct pool *pool, slot number)
{
    struct job_node *job = job_at(pool, number);
    struct class_node *node = class_at(pool, job->class_number);

    if (job->is_taken)
        node->taken--;
    else
        class_unlink(pool, number);
    if (node->has_more && held_of(node) == LOW_WATER)
        pool->low++;
    class_forget_if_empty(pool, job->class_number);
}

static void attach(struct pool *pool, slot number, slot class_number)
{
    struct job_node *job = job_at(pool, number);

    job->class_number = class_number;
    if (job->is_taken)
        class_take(pool, class_number);
    else
        class_link(pool, number);
}

void pool_forget(struct pool *pool, slot number)
{
    struct job_node *job = job_at(pool, number);
    slot *link = bucket_of(pool, job->resultid);

    detach(pool, number);
    while (*link != number)
        link = &job_at(pool, *link)->hash_next;
    *link = job->hash_next;
    pool->taken -= job->is_taken;
    pool->own -= !job->is_foreign;
    slots_give(&pool->jobs, number);
}

static bool add(struct pool *pool, const struct pool_job *from, slot class_number)
{
    slot number = slots_take(&pool->jobs), *bucket;
    struct job_node *job;

    if (number == 0)
        return false;
    job = job_at(pool, number);
    bucket = bucket_of(pool, from->resultid);
    job->resultid = from->resultid;
    job->workunitid = from->workunit.id;
    job->hash_next = *bucket;
    *bucket = number;
    job->sweep = pool->sweep;
    job->is_foreign = pool_is_foreign(pool, from->resultid);
    pool->own += !job->is_foreign;
    attach(pool, number, class_number);
    return true;
}

/* --- the bound ------------------------------------------------------------------------------- */

/* Makes room for a job of this class by taking the youngest one of a class that has more than its
 * share, or of lower priority where all are small. A class is met in the sample the more often the
 * larger it is. */
static bool push_out(struct pool *pool, slot class_number)
{
    const struct class_node *node = class_at(pool, class_number);
    size_t held = held_of(node), share = pool->jobs_max / pool->classes.live;
    slot victim = 0, job;

    if (held >= (share > 0 ? share : 1))
        return false;
    for (int i = 0; i < SAMPLE; i++) {
        slot at = (slot)(1 + random_mix(3, ++pool->chance) % (pool->jobs.used - 1));
        const struct class_node *other, *best = victim == 0 ? NULL : class_at(pool, victim);

        if (job_at(pool, at)->class_number == 0 || job_at(pool, at)->is_taken)
            continue;
        other = class_at(pool, job_at(pool, at)->class_number);
        if (held_of(other) <= held + 1 && other->key.priority >= node->key.priority)
            continue;
        if (best == NULL || held_of(other) > held_of(best) ||
            (held_of(other) == held_of(best) && other->key.priority < best->key.priority))
            victim = job_at(pool, at)->class_number;
    }
    if (victim == 0)
        return false;
    job = class_at(pool, victim)->lists[FOREIGN].last;
    if (job == 0)
        job = class_at(pool, victim)->lists[OWN].last;
    if (held_of(class_at(pool, victim)) > 1)
        class_at(pool, victim)->has_more = true;
    else
        pool->lacks_class = true;
    pool_forget(pool, job);
    pool->lacks_some = pool->lacks_now = true;
    return true;
}

/* Of a job that is not held. False: no memory. */
static bool put_new(struct pool *pool, const struct pool_job *job)
{
    slot class_number = class_of(pool, job);
    bool done = class_number != 0;

    if (class_number == 0)
        return false;
    if (pool->jobs.live >= pool->jobs_max && !push_out(pool, class_number)) {
        pool->lacks_some = pool->lacks_now = true;
        class_at(pool, class_number)->has_more = held_of(class_at(pool, class_number)) > 0;
        pool->lacks_class = pool->lacks_class || !class_at(pool, class_number)->has_more;
    } else {
        done = add(pool, job, class_number);
    }
    class_forget_if_empty(pool, class_number);
    return done;
}

static bool put(struct pool *pool, const struct pool_job *job)
{
    slot number = pool_find(pool, job->resultid), class_number;

    if (number == 0)
        return put_new(pool, job);
    job_at(pool, number)->sweep = pool->sweep;
    if (class_is_of(pool, job_at(pool, number)->class_number, job))
        return true;
    class_number = class_of(pool, job);
    if (class_number == 0) {
        pool_forget(pool, number);
        return false;
    }
    detach(pool, number);
    attach(pool, number, class_number);
    return true;
}

enum status pool_put(struct pool *pool, const struct pool_job *jobs, size_t count)
{
    bool done = true;

    for (size_t i = 0; i < count;) {
        size_t end = i + POOL_PIECE < count ? i + POOL_PIECE : count;

        pool_lock(pool);
        for (; i < end; i++)
            if (!put(pool, &jobs[i])) {
                pool->lacks_some = pool->lacks_now = pool->lacks_class = true;
                done = false;
            }
        pool_unlock(pool);
    }
    return done ? STATUS_OK : STATUS_NO_MEMORY;
}

void pool_drop(struct pool *pool, const int64_t *resultids, size_t count)
{
    pool_lock(pool);
    for (size_t i = 0; i < count; i++) {
        slot number = pool_find(pool, resultids[i]);
        if (number != 0)
            pool_forget(pool, number);
    }
    pool_unlock(pool);
}

void pool_return(struct pool *pool, const int64_t *resultids, size_t count)
{
    pool_lock(pool);
    for (size_t i = 0; i < count; i++) {
        slot number = pool_find(pool, resultids[i]);

        if (number == 0 || !job_at(pool, number)->is_taken)
            continue;
        class_at(pool, job_at(pool, number)->class_number)->taken--;
        pool->taken--;
        job_at(pool, number)->is_taken = false;
        class_link(pool, number);
    }
    pool_unlock(pool);
}

void pool_distrust(struct pool *pool, const int64_t *resultids, size_t count)
{
    pool_drop(pool, resultids, count);
    pool_lock(pool);
    for (size_t i = 0; i < count && pool->distrusted_count < DISTRUSTED_MAX; i++)
        pool->distrusted[pool->distrusted_count++] = resultids[i];
    if (pool->distrusted_count == DISTRUSTED_MAX)
        pool->lacks_some = pool->lacks_class = true; /* until the end of a sweep */
    pool_unlock(pool);
}

size_t pool_distrusted(struct pool *pool, int64_t *ret_ids, size_t most)
{
    size_t count = 0;

    pool_lock(pool);
    while (count < most && pool->distrusted_count > 0)
        ret_ids[count++] = pool->distrusted[--pool->distrusted_count];
    pool->distrusted_out = count;
    pool_unlock(pool);
    return count;
}

/* --- figures --------------------------------------------------------------------------------- */

static size_t bytes_of(const struct slots *slots)
{
    return slots->block_count * (BLOCK_ITEMS * slots->size + sizeof(slots->blocks[0]));
}

void pool_figures(struct pool *pool, struct pool_figures *ret_figures)
{
    pool_lock(pool);
    *ret_figures = (struct pool_figures){
        .jobs = pool->jobs.live,
        .taken = pool->taken,
        .own = pool->own,
        .classes = pool->classes.live,
        .groups = pool->groups.live,
        .bytes = bytes_of(&pool->jobs) + bytes_of(&pool->classes) + bytes_of(&pool->groups) +
                 2 * (pool->hash_mask + 1) * sizeof(slot) + GROUP_BUCKETS * sizeof(slot) +
                 met_bytes(&pool->met),
        .is_filled = pool->was_filled,
        .is_complete = pool->was_filled && !pool->lacks_some};
    pool_unlock(pool);
}

bool pool_is_low(struct pool *pool)
{
    bool is_low;

    pool_lock(pool);
    is_low = pool->low > 0 ||
             (pool->lacks_some && pool->jobs.live < pool->jobs_max - pool->jobs_max / 10);
    pool_unlock(pool);
    return is_low;
}
