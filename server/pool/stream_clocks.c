/* SPDX-License-Identifier: Apache-2.0 */
/* What each job stream was given, and whose turn it is. A stream is known while it holds groups of
 * jobs, or while its clock says more than that of one that is new. */
#include "server/base/arena.h"
#include "server/pool/pool.h"
#include "server/pool/pool_internal.h"

#include <stdlib.h>
#include <string.h>

#define uthash_nonfatal_oom(entry) ((entry)->is_unkept = true)
#define HASH_NONFATAL_OOM          1
#include <uthash.h>

#include "server/base/banned.h"

struct stream_entry {
    struct stream_node node;
    UT_hash_handle hh;
    bool is_unkept; /* there was no memory for its place in the hash */
};

static struct stream_node *find(const struct pool *pool, struct stream_key key)
{
    struct stream_entry *entry;

    HASH_FIND(hh, pool->streams.all, &key, sizeof(key), entry);
    return entry == NULL ? NULL : &entry->node;
}

/* Made if it is not known; NULL: no memory. */
static struct stream_node *find_or_make(struct pool *pool, struct stream_key key)
{
    struct stream_node *node = find(pool, key);
    struct stream_entry *entry;

    if (node != NULL)
        return node;
    entry = calloc(1, sizeof(*entry));
    if (entry == NULL)
        return NULL;
    entry->node.stream = (struct stream){.key = key, .weight = 1};
    HASH_ADD(hh, pool->streams.all, node.stream.key, sizeof(key), entry);
    if (!entry->is_unkept)
        return &entry->node;
    free(entry);
    return NULL;
}

struct stream stream_now(const struct pool *pool, const struct stream_node *node)
{
    struct stream stream = node->stream;

    stream.clock = stream_clock(&pool->streams.pace, stream.clock, stream.weight);
    return stream;
}

/* --- the order of turns ----------------------------------------------------------------------- */

static struct stream_list *list_of(struct pool *pool, const struct stream_node *node)
{
    return node->stream.key.kind == STREAM_USER ? &pool->streams.owners : &pool->streams.named;
}

/* The first of those that are no further behind. */
static size_t place_of(const struct stream_list *list, double clock)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->nodes[middle]->stream.clock < clock)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool list_insert(struct stream_list *list, struct stream_node *node)
{
    size_t at;

    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        struct stream_node **nodes = realloc(list->nodes, capacity * sizeof(nodes[0]));

        if (nodes == NULL)
            return false;
        list->nodes = nodes;
        list->capacity = capacity;
    }
    at = place_of(list, node->stream.clock);
    memmove(list->nodes + at + 1, list->nodes + at, (list->count - at) * sizeof(node));
    list->nodes[at] = node;
    list->count++;
    return true;
}

static void list_remove(struct stream_list *list, const struct stream_node *node)
{
    size_t at = place_of(list, node->stream.clock);

    while (list->nodes[at] != node) /* of equal clocks */
        at++;
    list->count--;
    memmove(list->nodes + at, list->nodes + at + 1, (list->count - at) * sizeof(node));
}

static void set_clock(struct pool *pool, struct stream_node *node, double clock)
{
    struct stream_list *list = list_of(pool, node);

    if (node->stream.clock == clock)
        return;
    if (node->first_group != 0)
        list_remove(list, node);
    node->stream.clock = clock;
    if (node->first_group != 0)
        must(list_insert(list, node)); /* there is room: it was there before */
}

/* --- groups ----------------------------------------------------------------------------------- */

bool stream_add_group(struct pool *pool, slot number)
{
    struct group_node *group = group_at(pool, number);
    struct stream_node *node = find_or_make(pool, group->key.stream);

    if (node == NULL || (node->first_group == 0 && !list_insert(list_of(pool, node), node)))
        return false;
    group->stream = node;
    group->stream_previous = node->last_group;
    if (node->last_group != 0)
        group_at(pool, node->last_group)->stream_next = number;
    else
        node->first_group = number;
    node->last_group = number;
    return true;
}

void stream_remove_group(struct pool *pool, slot number)
{
    const struct group_node *group = group_at(pool, number);
    struct stream_node *node = group->stream;

    if (group->stream_previous == 0 && group->stream_next == 0)
        list_remove(list_of(pool, node), node);
    if (group->stream_previous != 0)
        group_at(pool, group->stream_previous)->stream_next = group->stream_next;
    else
        node->first_group = group->stream_next;
    if (group->stream_next != 0)
        group_at(pool, group->stream_next)->stream_previous = group->stream_previous;
    else
        node->last_group = group->stream_previous;
}

void streams_clear(struct pool *pool)
{
    struct stream_entry *entry = pool->streams.all;

    HASH_CLEAR(hh, pool->streams.all);
    while (entry != NULL) {
        struct stream_entry *next = entry->hh.next;

        free(entry);
        entry = next;
    }
    free(pool->streams.named.nodes);
    free(pool->streams.owners.nodes);
}

/* --- what was given --------------------------------------------------------------------------- */

void pool_charge(struct pool *pool, const struct pool_booking *first)
{
    pool_lock(pool);
    for (const struct pool_booking *booking = first; booking != NULL; booking = booking->next) {
        struct stream_node *node = find_or_make(pool, booking->key);
        struct stream stream;

        if (node == NULL) /* the next look at the database may know it */
            continue;
        stream = node->stream;
        stream_charge(&pool->streams.pace, &stream, booking->flops);
        node->new_clock += booking->flops / stream.weight;
        node->new_flops += booking->flops;
        node->flops += booking->flops;
        set_clock(pool, node, stream.clock);
    }
    pool_unlock(pool);
}

void pool_stream_find(struct pool *pool, struct stream *stream)
{
    const struct stream_node *node;

    pool_lock(pool);
    node = find(pool, stream->key);
    if (node != NULL)
        *stream = stream_now(pool, node);
    else
        stream->clock = stream_clock(&pool->streams.pace, 0, stream->weight);
    pool_unlock(pool);
}

void pool_streams_weigh(struct pool *pool, const struct stream *streams, size_t count)
{
    pool_lock(pool);
    for (size_t i = 0; i < count; i++) {
        struct stream_node *node = find(pool, streams[i].key);

        if (node != NULL)
            node->stream.weight = streams[i].weight;
    }
    pool_unlock(pool);
}

bool pool_streams(struct pool *pool, struct arena *arena, struct pool_stream **ret_streams,
                  size_t *ret_count)
{
    struct pool_stream *streams;
    const struct stream_entry *entry;
    size_t count = 0;

    pool_lock(pool);
    streams = ARENA_ARRAY(arena, HASH_COUNT(pool->streams.all), struct pool_stream);
    for (entry = pool->streams.all; streams != NULL && entry != NULL; entry = entry->hh.next) {
        const struct stream_node *node = &entry->node;

        streams[count++] = (struct pool_stream){.stream = stream_now(pool, node),
                                                .has_jobs = node->first_group != 0,
                                                .flops = node->flops,
                                                .new_clock = node->new_clock,
                                                .new_flops = node->new_flops};
    }
    pool_unlock(pool);
    *ret_streams = streams;
    *ret_count = count;
    return streams != NULL;
}

void pool_streams_written(struct pool *pool, const struct pool_stream *streams, size_t count)
{
    pool_lock(pool);
    for (size_t i = 0; i < count; i++) {
        struct stream_node *node = find(pool, streams[i].stream.key);

        if (node == NULL)
            continue;
        node->new_clock -= streams[i].new_clock;
        node->new_flops -= streams[i].new_flops;
    }
    pool_unlock(pool);
}

void pool_streams_read(struct pool *pool, const struct pool_stream *streams, size_t count)
{
    pool_lock(pool);
    for (size_t i = 0; i < count; i++) {
        struct stream_node *node = find_or_make(pool, streams[i].stream.key);

        if (node == NULL)
            continue;
        node->flops = streams[i].flops + node->new_flops;
        if (streams[i].begun > pool->streams.pace.front)
            pool->streams.pace.front = streams[i].begun;
        set_clock(pool, node, streams[i].stream.clock + node->new_clock);
    }
    pool_unlock(pool);
}

static int compare_clocks(const void *a, const void *b)
{
    double left = (*(struct stream_node *const *)a)->stream.clock;
    double right = (*(struct stream_node *const *)b)->stream.clock;

    return (left > right) - (left < right);
}

/* All at once: one by one, each would move half of the others. */
void pool_streams_tidy(struct pool *pool)
{
    struct stream_list *owners = &pool->streams.owners;
    struct stream_entry *entry, *next;

    pool_lock(pool);
    HASH_ITER(hh, pool->streams.all, entry, next)
    {
        struct stream_node *node = &entry->node;
        double clock = stream_now(pool, node).clock;
        bool says_nothing = clock > node->stream.clock && node->new_flops <= 0;

        node->stream.clock = clock;
        if (node->first_group == 0 && says_nothing) {
            HASH_DEL(pool->streams.all, entry);
            free(entry);
        }
    }
    if (owners->count > 0)
        qsort(owners->nodes, owners->count, sizeof(owners->nodes[0]), compare_clocks);
    pool_unlock(pool);
}
