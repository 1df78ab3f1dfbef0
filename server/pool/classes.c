/* SPDX-License-Identifier: Apache-2.0 */
/* Which class a job belongs to, and its place in the order. A class is in its group's tree while it
 * has a job to give; it lives on without one while jobs of it are taken. */
#include "server/base/random.h"
#include "server/pool/pool_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* An old job that comes late is put where it belongs only if that is near an end of the list;
 * otherwise it counts as young. The order by age is not exact. */
enum { WALK_MAX = 64 };

static void make_keys(const struct pool *pool, const struct pool_job *job,
                      struct pool_group *ret_group, struct class_key *ret_class)
{
    const struct workunit_row *workunit = &job->workunit;

    memset(ret_group, 0, sizeof(*ret_group));
    ret_group->appid = workunit->appid;
    ret_group->hr_class = workunit->hr_class;
    ret_group->app_version_id = workunit->app_version_id;
    ret_group->app_version_num = workunit->app_version_num;
    ret_group->user = pool->by_user ? workunit->batch : 0;
    ret_group->stream = job->stream.key;
    ret_group->buda_app = workunit->buda_app;
    memset(ret_class, 0, sizeof(*ret_class));
    class_amounts(workunit, ret_class->amounts);
    ret_class->fpops_est = workunit->rsc_fpops_est;
    ret_class->fpops_bound = workunit->rsc_fpops_bound;
    ret_class->priority = job->priority;
    ret_class->batch = workunit->batch;
    ret_class->workunit_priority = workunit->priority;
    ret_class->delay_bound = workunit->delay_bound;
    ret_class->target_nresults = workunit->target_nresults;
    ret_class->min_quorum = workunit->min_quorum;
    ret_class->size_class = workunit->size_class;
}

/* The power of four that the amount lies above. */
static int8_t size_of(double amount)
{
    int exponent;

    if (!(amount > 1))
        return 0;
    exponent = amount < 1e30 ? ilogb(amount) : 100;
    return (int8_t)(1 + exponent / 2);
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const char *at = bytes;

    for (; size > 0; size -= size < sizeof(uint64_t) ? size : sizeof(uint64_t)) {
        uint64_t word = 0;

        memcpy(&word, at, size < sizeof(word) ? size : sizeof(word));
        hash = random_mix(hash, word);
        at += sizeof(word);
    }
    return hash;
}

/* --- groups ---------------------------------------------------------------------------------- */

static size_t group_bucket(const struct pool_group *key, const int8_t *sizes)
{
    uint64_t hash = hash_bytes(hash_bytes(1, key, sizeof(*key)), sizes, CLASS_LIMIT_COUNT);
    return hash % GROUP_BUCKETS;
}

static slot group_make(struct pool *pool, const struct pool_group *key, const int8_t *sizes)
{
    struct group_node *node;
    slot number;

    if (pool->group_count == pool->group_capacity) {
        size_t capacity = pool->group_capacity == 0 ? 64 : pool->group_capacity * 2;
        slot *list = realloc(pool->group_list, capacity * sizeof(list[0]));

        if (list == NULL)
            return 0;
        pool->group_list = list;
        pool->group_capacity = capacity;
    }
    number = slots_take(&pool->groups);
    if (number == 0)
        return 0;
    node = group_at(pool, number);
    node->key = *key;
    memcpy(node->sizes, sizes, CLASS_LIMIT_COUNT);
    if (!stream_add_group(pool, number)) {
        slots_give(&pool->groups, number);
        return 0;
    }
    node->list_at = pool->group_count;
    pool->group_list[pool->group_count++] = number;
    return number;
}

static slot group_of(struct pool *pool, const struct pool_group *key, const double *amounts)
{
    int8_t sizes[CLASS_LIMIT_COUNT];
    slot *bucket, number;

    for (int i = 0; i < CLASS_LIMIT_COUNT; i++)
        sizes[i] = size_of(amounts[i]);
    bucket = &pool->group_hash[group_bucket(key, sizes)];
    for (number = *bucket; number != 0; number = group_at(pool, number)->hash_next) {
        const struct group_node *node = group_at(pool, number);
        if (memcmp(&node->key, key, sizeof(*key)) == 0 &&
            memcmp(node->sizes, sizes, sizeof(sizes)) == 0)
            return number;
    }
    number = group_make(pool, key, sizes);
    if (number != 0) {
        group_at(pool, number)->hash_next = *bucket;
        *bucket = number;
    }
    return number;
}

static void group_forget_if_empty(struct pool *pool, slot number)
{
    struct group_node *node = group_at(pool, number);
    slot *link, last;

    if (node->classes > 0)
        return;
    link = &pool->group_hash[group_bucket(&node->key, node->sizes)];
    while (*link != number)
        link = &group_at(pool, *link)->hash_next;
    *link = node->hash_next;
    stream_remove_group(pool, number);
    last = pool->group_list[--pool->group_count];
    pool->group_list[node->list_at] = last;
    group_at(pool, last)->list_at = node->list_at;
    slots_give(&pool->groups, number);
}

/* --- classes --------------------------------------------------------------------------------- */

static bool class_equals(const struct class_node *node, const struct class_key *key,
                         struct text keywords)
{
    return memcmp(&node->key, key, offsetof(struct class_key, keywords)) == 0 &&
           text_equal(text_from(node->key.keywords), keywords);
}

static uint64_t hash_class(slot group, const struct class_key *key, struct text keywords)
{
    uint64_t hash = hash_bytes(group, key, offsetof(struct class_key, keywords));
    return keywords.length > 0 ? hash_bytes(hash, keywords.at, keywords.length) : hash;
}

static slot class_make(struct pool *pool, slot group, const struct class_key *key,
                       struct text keywords)
{
    slot number = slots_take(&pool->classes);
    struct class_node *node;

    if (number == 0)
        return 0;
    node = class_at(pool, number);
    node->key = *key;
    if (keywords.length > 0) {
        node->key.keywords = text_keep(keywords);
        if (node->key.keywords == NULL) {
            slots_give(&pool->classes, number);
            return 0;
        }
    }
    node->group = group;
    group_at(pool, group)->classes++;
    return number;
}

/* A text as it is kept: a NUL byte ends it. */
static struct text kept_keywords(const struct pool_job *job)
{
    struct text rest = job->workunit.keywords;
    return text_split(&rest, '\0');
}

slot class_of(struct pool *pool, const struct pool_job *job)
{
    struct text keywords = kept_keywords(job);
    struct pool_group group_key;
    struct class_key key;
    slot group, number, *bucket;
    uint64_t hash;

    make_keys(pool, job, &group_key, &key);
    group = group_of(pool, &group_key, key.amounts);
    if (group == 0)
        return 0;
    hash = hash_class(group, &key, keywords);
    bucket = &pool->class_hash[hash & pool->hash_mask];
    for (number = *bucket; number != 0; number = class_at(pool, number)->hash_next) {
        const struct class_node *node = class_at(pool, number);
        if (node->hash == hash && node->group == group && class_equals(node, &key, keywords))
            return number;
    }
    number = class_make(pool, group, &key, keywords);
    if (number == 0) {
        group_forget_if_empty(pool, group);
        return 0;
    }
    class_at(pool, number)->hash = hash;
    class_at(pool, number)->hash_next = *bucket;
    *bucket = number;
    return number;
}

bool class_is_of(const struct pool *pool, slot number, const struct pool_job *job)
{
    const struct class_node *node = class_at(pool, number);
    struct pool_group group;
    struct class_key key;

    make_keys(pool, job, &group, &key);
    return memcmp(&group, &group_at(pool, node->group)->key, sizeof(group)) == 0 &&
           class_equals(node, &key, kept_keywords(job));
}

void class_forget_if_empty(struct pool *pool, slot number)
{
    struct class_node *node = class_at(pool, number);
    slot group = node->group, *link;

    if (node->taken > 0 || node->lists[OWN].count > 0 || node->lists[OTHERS].count > 0)
        return;
    must(!node->is_in_tree);
    if (node->has_more) { /* what was left out of it is missing now */
        pool->low++;
        pool->ran_out++;
    }
    link = &pool->class_hash[node->hash & pool->hash_mask];
    while (*link != number)
        link = &class_at(pool, *link)->hash_next;
    *link = node->hash_next;
    free(node->key.keywords);
    slots_give(&pool->classes, number);
    group_at(pool, group)->classes--;
    group_forget_if_empty(pool, group);
}

void class_tidy_out(struct pool *pool)
{
    size_t kept = 0;

    for (size_t i = 0; i < pool->out_count; i++) {
        struct class_node *node = class_at(pool, pool->out[i]);

        if (node->taken > 0)
            pool->out[kept++] = pool->out[i];
        else
            node->is_out = false;
    }
    pool->out_count = kept;
}

void class_take(struct pool *pool, slot number)
{
    struct class_node *node = class_at(pool, number);

    node->taken++;
    if (node->is_out)
        return;
    if (pool->out_count == CLASSES_OUT_MAX)
        class_tidy_out(pool);
    if (pool->out_count == CLASSES_OUT_MAX)
        return;
    node->is_out = true;
    pool->out[pool->out_count++] = number;
}

/* Brings the tree up to date with the lists. */
static void update_rank(struct pool *pool, slot number)
{
    struct class_node *node = class_at(pool, number);
    struct group_node *group = group_at(pool, node->group);
    bool has_own = node->lists[OWN].first != 0;
    slot first = node->lists[has_own ? OWN : OTHERS].first;
    int64_t oldest = first == 0 ? 0 : job_at(pool, first)->resultid;

    if (node->is_in_tree && first != 0 && node->oldest == oldest && node->is_of_others == !has_own)
        return;
    if (node->is_in_tree)
        tree_remove(pool, &group->root, number);
    node->is_in_tree = first != 0;
    if (first == 0)
        return;
    node->oldest = oldest;
    node->is_of_others = !has_own;
    tree_insert(pool, &group->root, number);
}

/* The job that a new one of this age comes behind; 0: it is the first. */
static slot place_in(const struct pool *pool, const struct job_list *list, int64_t resultid)
{
    slot before = 0, next = list->first, last = list->last;

    for (int i = 0; i < WALK_MAX; i++) {
        if (next == 0 || job_at(pool, next)->resultid > resultid)
            return before;
        before = next;
        next = job_at(pool, next)->next;
        if (job_at(pool, last)->resultid < resultid)
            return last;
        if (job_at(pool, last)->previous == 0)
            return 0;
        last = job_at(pool, last)->previous;
    }
    return list->last;
}

void class_link(struct pool *pool, slot job_number)
{
    struct job_node *job = job_at(pool, job_number);
    struct class_node *node = class_at(pool, job->class_number);
    struct job_list *list = &node->lists[job->is_of_others ? OTHERS : OWN];

    job->previous = place_in(pool, list, job->resultid);
    job->next = job->previous == 0 ? list->first : job_at(pool, job->previous)->next;
    if (job->previous == 0)
        list->first = job_number;
    else
        job_at(pool, job->previous)->next = job_number;
    if (job->next == 0)
        list->last = job_number;
    else
        job_at(pool, job->next)->previous = job_number;
    list->count++;
    update_rank(pool, job->class_number);
}

void class_unlink(struct pool *pool, slot job_number)
{
    struct job_node *job = job_at(pool, job_number);
    struct class_node *node = class_at(pool, job->class_number);
    struct job_list *list = &node->lists[job->is_of_others ? OTHERS : OWN];

    if (job->previous == 0)
        list->first = job->next;
    else
        job_at(pool, job->previous)->next = job->next;
    if (job->next == 0)
        list->last = job->previous;
    else
        job_at(pool, job->next)->previous = job->previous;
    job->next = job->previous = 0;
    list->count--;
    update_rank(pool, job->class_number);
}

void class_describe(const struct pool *pool, const struct class_node *node,
                    struct pool_job *ret_job)
{
    const struct class_key *key = &node->key;
    const struct pool_group *group = &group_at(pool, node->group)->key;

    *ret_job = (struct pool_job){
        .priority = key->priority,
        .stream = stream_now(pool, group_at(pool, node->group)->stream),
        .workunit = {.appid = group->appid,
                     .batch = key->batch,
                     .rsc_fpops_est = key->fpops_est,
                     .rsc_fpops_bound = key->fpops_bound,
                     .rsc_memory_bound = key->amounts[CLASS_MEMORY],
                     .rsc_disk_bound = key->amounts[CLASS_DISK],
                     .rsc_bandwidth_bound = key->amounts[CLASS_BANDWIDTH],
                     .delay_bound = key->delay_bound,
                     .hr_class = group->hr_class,
                     .min_quorum = key->min_quorum,
                     .target_nresults = key->target_nresults,
                     .priority = key->workunit_priority,
                     .app_version_id = group->app_version_id,
                     .size_class = key->size_class,
                     .keywords = text_from(key->keywords),
                     .app_version_num = group->app_version_num,
                     .buda_app = group->buda_app},
    };
}
