/* SPDX-License-Identifier: Apache-2.0 */
/* What the two kinds of questions share: the search for a host, and the groups that it goes
 * through. */
#ifndef SERVER_POOL_ASK_PARTS_H
#define SERVER_POOL_ASK_PARTS_H

#include "server/pool/pool.h"
#include "server/pool/pool_internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A group that passed, and the best of its classes that was not picked yet. */
struct runner {
    slot group, best;
    struct standing standing;
    struct pool_terms terms;
};

struct search {
    struct pool *pool;
    struct arena *arena;
    const struct pool_question *question;
    struct runner *runners;
    size_t runner_count;
    slot *others; /* groups that did not pass */
    size_t other_count;
    double filled[POOL_LANES]; /* times what is wanted */
    size_t lane_jobs[POOL_LANES];
    struct pool_place full_at; /* where the first lane was full */
    size_t steps;
    bool gave_up;
    slot *picked; /* jobs, class by class */
    size_t picked_count, walk;
    bool has_rule; /* of one result per workunit */
    uint64_t met_keys[POOL_SUBJECTS];
};

/* Finds the groups that pass. False: no memory. */
bool ask_begin(struct search *search);
/* One job for the answer; its texts are copied, as the class may be gone when they are read. False:
 * no memory. */
bool ask_describe_job(struct search *search, const struct class_node *node, slot number,
                      struct pool_job *ret_job);

#endif
