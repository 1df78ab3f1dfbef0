/* SPDX-License-Identifier: Apache-2.0 */
/* How jobs, classes and groups lie in memory; for the files of this folder. */
#ifndef SERVER_POOL_POOL_INTERNAL_H
#define SERVER_POOL_POOL_INTERNAL_H

#include "server/pool/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything is named by a slot number, half as long as a pointer; 0 is none. */
typedef uint32_t slot;

/* Items that never move, in blocks; free ones form a chain. */
struct slots {
    size_t size; /* of an item; its first member is the slot of the next free one */
    char **blocks;
    size_t block_count;
    slot end, free; /* numbers from `end` on were never given */
    size_t live;
};
enum { BLOCK_ITEMS = 4096 };

static inline void *slot_item(const struct slots *slots, slot number)
{
    return slots->blocks[number / BLOCK_ITEMS] + slots->size * (number % BLOCK_ITEMS);
}
slot slots_take(struct slots *slots); /* zeroed; 0: no memory */
void slots_give(struct slots *slots, slot number);
void slots_clear(struct slots *slots);

/* 40 bytes, of which there may be millions. */
struct job_node {
    slot next_free;
    slot class_number; /* 0: a free slot */
    int64_t resultid, workunitid;
    slot next, previous; /* in its class's list */
    slot hash_next;
    uint16_t sweep; /* that it was seen in */
    bool is_of_others, is_taken;
};

/* What makes a class, apart from its group. Compared as bytes: zeroed before it is filled. */
struct class_key {
    double amounts[CLASS_LIMIT_COUNT];
    double fpops_est, fpops_bound;
    int64_t priority, batch, delay_bound;
    int64_t workunit_priority; /* what the result's was raised from */
    int64_t target_nresults, min_quorum, size_class;
    char *keywords; /* compared by what it points at; NULL: none */
};

enum { OWN, OTHERS, PARTS };

struct job_list {
    slot first, last;
    uint32_t count;
};

/* The place of a class in the order of the whole pool. */
struct class_rank {
    int64_t priority, resultid; /* of its oldest job */
    bool is_of_others;          /* it has none of its own part */
};

struct class_node {
    slot next_free;
    slot group;
    slot hash_next;
    slot left, right;               /* in the tree, while it has jobs to give */
    float least[CLASS_LIMIT_COUNT]; /* of its subtree; rounded down */
    bool is_in_tree, is_of_others;
    bool has_more; /* some were left out */
    bool is_out;   /* named in the pool's list of classes with taken jobs */
    bool is_seen;  /* while that list is read: the asker took a job that is of no use to it */
    uint32_t asker_taken; /* likewise: of the taken ones, those of the asker */
    int64_t oldest;       /* its oldest job, as the tree knows it */
    uint32_t taken;
    uint64_t hash;
    struct job_list lists[PARTS]; /* by age, as far as that is cheap */
    struct class_key key;
};

/* Beside what a group has in common its classes are of like size (a factor of four): whether a host
 * can take them is then mostly decided for the group as a whole, and the search in its tree does
 * not wander where each limit is passed by some class, but none passes all. */
struct group_node {
    slot next_free;
    slot hash_next;
    slot root;
    struct pool_group key;
    int8_t sizes[CLASS_LIMIT_COUNT];
    uint32_t classes, jobs;
    size_t list_at; /* in group_list */
    struct stream_node *stream;
    slot stream_next, stream_previous; /* in its list of groups */
};
enum { GROUP_BUCKETS = 4096 };

struct stream_entry;
struct stream_node;
/* Those that hold groups. */
struct stream_list {
    struct stream_node **nodes;
    size_t count, capacity;
};
/* What streams had (stream_clocks.c). Streams of owners, of which there may be thousands, are in
 * order of their clocks; that of one that fell too far behind may stand further behind than it
 * counts (stream_clock), until it is tidied. */
struct stream_clocks {
    struct stream_entry *all; /* a hash of the nodes by key */
    struct stream_list named, owners;
    struct stream_pace pace;
};

/* Who had a result of which workunit, as 64 bits mixed of both: two pairs that mix to the same are
 * less likely than a fault of the memory. Two tables of open addressing, made when the first pair
 * comes: once the young one is three quarters full, or old enough, it becomes the old one. */
struct had_pairs {
    uint64_t *young, *old; /* NULL: none; 0 in free places */
    size_t mask;           /* of both */
    size_t count;          /* in the young one */
};

/* Of more classes with taken jobs only the number is known. */
enum { CLASSES_OUT_MAX = 4096 };

struct pool {
    unsigned magic;
    pthread_mutex_t lock;
    bool by_user;
    size_t jobs_max;
    struct slots jobs, classes, groups;
    slot *job_hash, *class_hash, *group_hash;
    size_t hash_mask;
    slot *group_list; /* all, in no order */
    size_t group_count, group_capacity;
    size_t taken, own;
    uint64_t examined;
    slot out[CLASSES_OUT_MAX]; /* classes with jobs taken, and some that have them back */
    size_t out_count;

    uint16_t sweep;
    slot sweep_at;                          /* while ending one */
    bool was_filled, lacks_some, lacks_now; /* lacks_now: left out during this sweep */
    bool lacks_class;      /* no job of some class may be here; until nothing is left out */
    size_t low;            /* classes that lack some and ran low */
    size_t ran_out;        /* and of those, that have none left; until the next sweep ends */
    size_t ran_out_before; /* this one */
    uint64_t chance;       /* for whom to push out */

    int64_t servers[POOL_SERVERS_MAX], server;
    size_t server_count;
    slot divide_at; /* 0: divided */

    struct had_pairs had;
    struct stream_clocks streams;

    int64_t *reread_ids;
    size_t reread_count;
    size_t reread_out; /* handed out last, perhaps not put back yet */
};

static inline struct job_node *job_at(const struct pool *pool, slot number)
{
    return slot_item(&pool->jobs, number);
}
static inline struct class_node *class_at(const struct pool *pool, slot number)
{
    return slot_item(&pool->classes, number);
}
static inline struct group_node *group_at(const struct pool *pool, slot number)
{
    return slot_item(&pool->groups, number);
}

/* --- pool_lock.c ------------------------------------------------------------------------------ */

enum { POOL_MAGIC = 0x706f6f6c };

void pool_lock(struct pool *pool);
void pool_unlock(struct pool *pool);

/* --- pool.c ----------------------------------------------------------------------------------- */

enum { POOL_PIECE = 512 /* jobs per time that the lock is held */ };

slot pool_find(const struct pool *pool, int64_t resultid); /* 0: it is not there */
void pool_forget(struct pool *pool, slot job_number);

/* --- servers.c -------------------------------------------------------------------------------- */

/* Whether the job belongs to another server's part. */
bool pool_is_of_others(const struct pool *pool, int64_t resultid);

/* --- tree.c ----------------------------------------------------------------------------------- */

/* Negative: `a` is served before `b`. */
int rank_compare(const struct class_rank *a, const struct class_rank *b);
struct class_rank class_rank_of(const struct class_node *node);

/* By class_rank_of, which may change only while the class is not in the tree. */
void tree_insert(const struct pool *pool, slot *root, slot number);
void tree_remove(const struct pool *pool, slot *root, slot number);
/* Which classes a search is for, and how far it got. */
struct tree_search {
    const double *limits;
    bool (*suits)(void *context, const struct class_node *node); /* NULL: any within the limits */
    void *context;
    size_t steps;              /* counts down by what is examined; at 0 the search gives up */
    struct class_rank reached; /* up to here nothing was left out, where it gave up */
    bool met_unsuited;
};
/* The first behind `after` (NULL: of all); 0: none, or it gave up. */
slot tree_first(const struct pool *pool, slot root, const struct class_rank *after,
                struct tree_search *search);
bool tree_fits(const struct class_node *node, const struct tree_search *search);
/* The one that needs least of `which` and is within the other limits (NULL: no limits), if that is
 * less than *best; 0: none. */
slot tree_least(const struct pool *pool, slot root, enum class_limit which, const double *limits,
                double *best, size_t *steps);

/* --- had_before.c ----------------------------------------------------------------------------- */

/* Of a subject; 0 stands for none. */
uint64_t had_key(enum pool_subject subject, int64_t id);
bool had_before(const struct had_pairs *pairs, uint64_t key, int64_t workunitid);
size_t had_bytes(const struct had_pairs *pairs);
void had_clear(struct had_pairs *pairs);

/* --- stream_clocks.c -------------------------------------------------------------------------- */

struct stream_node {
    struct stream stream;
    double flops, new_clock, new_flops; /* see struct pool_stream */
    slot first_group, last_group;
};

/* Puts a group into its stream, which is made if it is not known; false: no memory. */
bool stream_add_group(struct pool *pool, slot number);
void stream_remove_group(struct pool *pool, slot number);
/* As it counts. */
struct stream stream_now(const struct pool *pool, const struct stream_node *node);
void streams_clear(struct pool *pool);

/* --- classes.c -------------------------------------------------------------------------------- */

/* The class that a job belongs to, made if there is none; 0: no memory. */
slot class_of(struct pool *pool, const struct pool_job *job);
/* Whether the job would still be of this class. */
bool class_is_of(const struct pool *pool, slot number, const struct pool_job *job);
/* Puts a job into the list of its class, or takes it out. The class moves to where its oldest job
 * puts it; one without jobs, given away or not, is forgotten. */
void class_link(struct pool *pool, slot job_number);
void class_unlink(struct pool *pool, slot job_number);
void class_forget_if_empty(struct pool *pool, slot number);
/* One more job of the class is taken. It is named in pool->out then; a class whose
 * jobs came back stays there until it is tidied. */
void class_take(struct pool *pool, slot number);
void class_tidy_out(struct pool *pool);
void class_describe(const struct pool *pool, const struct class_node *node,
                    struct pool_job *ret_job);

#endif
