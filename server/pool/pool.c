/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the pool: jobs come, change, go.
 *
 * Invariants, whenever the lock is free: a job is in the hash; it is either in a list of its class
 * or taken, never both; a class is in its group's tree just while one of its lists
 * holds a job. The lock is held for a bounded piece of work only: longer work goes in pieces. */
#include "server/pool/pool.h"

#include "server/base/random.h"
#include "server/base/sorted.h"
#include "server/pool/pool_internal.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum {
    ID_RUN = 4096,    /* ids that lie side by side */
    SAMPLE = 16,      /* jobs examined to find a large class */
    LOW_WATER = 64,   /* jobs of a class that lacks some */
    REREAD_MAX = 4096 /* for more of them the next sweep must do */
};

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
    pool->reread_ids = calloc(REREAD_MAX, sizeof(int64_t));
    if (pool->job_hash == NULL || pool->class_hash == NULL || pool->group_hash == NULL ||
        pool->reread_ids == NULL) {
        pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL)
        return;
    for (slot i = 1; i < pool->classes.end; i++)
        free(class_at(pool, i)->key.keywords); /* NULL in free slots */
    slots_clear(&pool->jobs);
    slots_clear(&pool->classes);
    slots_clear(&pool->groups);
    free(pool->job_hash);
    free(pool->class_hash);
    free(pool->group_hash);
    free(pool->group_list);
    free(pool->reread_ids);
    streams_clear(pool);
    had_clear(&pool->had);
    pthread_mutex_destroy(&pool->lock);
    pool->magic = 0;
    free(pool);
}

/* --- one job --------------------------------------------------------------------------------- */

/* Jobs are mostly read in the order of their ids. Neighbours have neighbouring buckets, so that one
 * line of the processor's cache serves many of them; runs of ids lie in no order, so that ids which
 * grow by a power of two do not meet in a few buckets. */
static slot *bucket_of(const struct pool *pool, int64_t resultid)
{
    uint64_t run = (uint64_t)resultid / ID_RUN;

    return &pool->job_hash[(random_mix(2, run) + (uint64_t)resultid) & pool->hash_mask];
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
    return (size_t)node->taken + node->lists[OWN].count + node->lists[OTHERS].count;
}

/* Out of its class, wherever it is. */
static void detach(struct pool *pool, slot number)
{
    struct job_node *job = job_at(pool, number);
    struct class_node *node = class_at(pool, job->class_number);

    group_at(pool, node->group)->jobs--;
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
    group_at(pool, class_at(pool, class_number)->group)->jobs++;
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
    pool->own -= !job->is_of_others;
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
    job->is_of_others = pool_is_of_others(pool, from->resultid);
    pool->own += !job->is_of_others;
    attach(pool, number, class_number);
    return true;
}

/* --- the bound ------------------------------------------------------------------------------- */

/* Makes room for a job of this class by taking the youngest one of a class that has more than its
 * share, or of lower priority where all are small. A class is in the sample the more often the
 * larger it is. */
static bool push_out(struct pool *pool, slot class_number)
{
    const struct class_node *node = class_at(pool, class_number);
    size_t held = held_of(node), share = pool->jobs_max / pool->classes.live;
    slot victim = 0, job;

    if (held >= (share > 0 ? share : 1))
        return false;
    for (int i = 0; i < SAMPLE; i++) {
        slot at = (slot)(1 + random_mix(3, ++pool->chance) % (pool->jobs.end - 1));
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
    job = class_at(pool, victim)->lists[OTHERS].last;
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

static void weigh_stream(struct pool *pool, slot class_number, const struct pool_job *job)
{
    if (job->stream.weight > 0)
        group_at(pool, class_at(pool, class_number)->group)->stream->stream.weight =
            job->stream.weight;
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
        weigh_stream(pool, class_number, job);
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
    if (class_is_of(pool, job_at(pool, number)->class_number, job)) {
        weigh_stream(pool, job_at(pool, number)->class_number, job);
        return true;
    }
    class_number = class_of(pool, job);
    if (class_number == 0) {
        pool_forget(pool, number);
        return false;
    }
    detach(pool, number);
    attach(pool, number, class_number);
    weigh_stream(pool, class_number, job);
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
    for (size_t i = 0; i < count;) {
        size_t end = i + POOL_PIECE < count ? i + POOL_PIECE : count;

        pool_lock(pool);
        for (; i < end; i++) {
            slot number = pool_find(pool, resultids[i]);
            if (number != 0)
                pool_forget(pool, number);
        }
        pool_unlock(pool);
    }
}

static void put_back(struct pool *pool, int64_t resultid)
{
    slot number = pool_find(pool, resultid);

    if (number == 0 || !job_at(pool, number)->is_taken)
        return;
    class_at(pool, job_at(pool, number)->class_number)->taken--;
    pool->taken--;
    job_at(pool, number)->is_taken = false;
    class_link(pool, number);
}

void pool_return(struct pool *pool, const int64_t *resultids, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t end = i + POOL_PIECE < count ? i + POOL_PIECE : count;

        pool_lock(pool);
        for (; i < end; i++)
            put_back(pool, resultids[i]);
        pool_unlock(pool);
    }
}

void pool_reread(struct pool *pool, const int64_t *resultids, size_t count)
{
    pool_drop(pool, resultids, count);
    pool_lock(pool);
    for (size_t i = 0; i < count && pool->reread_count < REREAD_MAX; i++)
        pool->reread_ids[pool->reread_count++] = resultids[i];
    if (pool->reread_count == REREAD_MAX)
        pool->lacks_some = pool->lacks_class = true; /* until the end of a sweep */
    pool_unlock(pool);
}

size_t pool_to_reread(struct pool *pool, int64_t *ret_ids, size_t most)
{
    size_t count = 0;

    pool_lock(pool);
    while (count < most && pool->reread_count > 0)
        ret_ids[count++] = pool->reread_ids[--pool->reread_count];
    pool->reread_out = count;
    pool_unlock(pool);
    return count;
}

/* --- sweeps ----------------------------------------------------------------------------------- */

/* What a sweep sees is marked, and at its end, in pieces, what was not seen goes. Only then is it
 * known whether anything was left out for lack of memory. */

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
    for (int i = 0; i < POOL_PIECE && pool->sweep_at < pool->jobs.end; i++, pool->sweep_at++) {
        const struct job_node *job = job_at(pool, pool->sweep_at);
        if (job->class_number != 0 && !job->is_taken && job->sweep != pool->sweep)
            pool_forget(pool, pool->sweep_at);
    }
    more = pool->sweep_at < pool->jobs.end;
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
        .examined = pool->examined,
        .bytes = bytes_of(&pool->jobs) + bytes_of(&pool->classes) + bytes_of(&pool->groups) +
                 2 * (pool->hash_mask + 1) * sizeof(slot) + GROUP_BUCKETS * sizeof(slot) +
                 had_bytes(&pool->had),
        .is_filled = pool->was_filled,
        .is_complete = pool->was_filled && !pool->lacks_some};
    pool_unlock(pool);
}

void pool_count_by_app(struct pool *pool, const int64_t *appids, size_t count, size_t *ret_jobs)
{
    for (size_t i = 0; i < count; i++)
        ret_jobs[i] = 0;
    pool_lock(pool);
    for (size_t g = 0; g < pool->group_count; g++) {
        const struct group_node *group = group_at(pool, pool->group_list[g]);
        size_t at = sorted_find_id(appids, count, group->key.appid);

        if (at < count)
            ret_jobs[at] += group->jobs;
    }
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
