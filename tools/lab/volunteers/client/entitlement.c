/* SPDX-License-Identifier: Apache-2.0 */
/* Processing, summed over all resources, is to be in proportion to shares as far as the projects
 * can use the resources: nobody's processing per share can be raised without lowering that of a
 * project that has no more (max-min fairness).
 *
 * Some set of resources is the scarcest: what it can do, divided by the shares of the projects that
 * can use nothing else, is the least. Those projects get exactly this level, and use the set up;
 * the other projects share the rest in the same way. Within a set a project takes what is free of
 * the resources that it can use; where that is not enough, other projects move to
 * other resources of the set. */
#include "tools/lab/volunteers/client/entitlement.h"

#include "server/base/status.h"

#include <math.h>
#include <stdbool.h>

#include "server/base/banned.h"

#define LEAST 1e-9 /* of the whole: not worth moving */

struct division {
    const double *counts, *flops;
    size_t resource_count;
    struct entitlement *projects; /* instances hold FLOPS while dividing */
    size_t project_count;
    double free[ENTITLEMENT_RESOURCES_MAX];
    double least;
};

static bool is_served(const struct entitlement *project, unsigned open)
{
    return (project->uses & open) == 0;
}

/* The level of the projects that can use nothing open but `set`; INFINITY: there are none. */
static double level_of(const struct division *division, unsigned set, unsigned open)
{
    double flops = 0, shares = 0;

    for (size_t r = 0; r < division->resource_count; r++)
        if (set >> r & 1)
            flops += division->flops[r];
    for (size_t p = 0; p < division->project_count; p++) {
        const struct entitlement *project = &division->projects[p];

        if (!is_served(project, open) && (project->uses & open & ~set) == 0)
            shares += project->share;
    }
    return shares > 0 ? flops / shares : INFINITY;
}

/* A chain of resources to one with something free, from those that `project` can use: each hands
 * on to the next by a project that has some of it and can use the other. */
struct chain {
    size_t from[ENTITLEMENT_RESOURCES_MAX]; /* the resource before; itself: the first */
    size_t mover[ENTITLEMENT_RESOURCES_MAX];
    unsigned reached;
    size_t queue[ENTITLEMENT_RESOURCES_MAX], queued;
};

static void reach(struct chain *chain, size_t resource, size_t from, size_t mover)
{
    if (chain->reached >> resource & 1)
        return;
    chain->reached |= 1U << resource;
    chain->from[resource] = from;
    chain->mover[resource] = mover;
    chain->queue[chain->queued++] = resource;
}

/* Returns the end of the chain; resource_count if there is none. */
static size_t find_free(const struct division *division, const struct entitlement *project,
                        unsigned set, struct chain *chain)
{
    *chain = (struct chain){.queued = 0};
    for (size_t r = 0; r < division->resource_count; r++)
        if (project->uses >> r & set >> r & 1)
            reach(chain, r, r, 0);
    for (size_t next = 0; next < chain->queued; next++) {
        size_t r = chain->queue[next];

        if (division->free[r] > division->least)
            return r;
        for (size_t p = 0; p < division->project_count; p++)
            for (size_t to = 0; to < division->resource_count; to++)
                if (division->projects[p].instances[r] > division->least &&
                    division->projects[p].uses >> to & set >> to & 1)
                    reach(chain, to, r, p);
    }
    return division->resource_count;
}

static void give(struct division *division, struct entitlement *project, double flops, unsigned set)
{
    struct chain chain;

    /* Each round uses something up; the bound is for rounding. */
    for (int round = 0; round < 1000 && flops > division->least; round++) {
        size_t end = find_free(division, project, set, &chain), r;
        double moved = flops;

        if (end == division->resource_count)
            return;
        moved = fmin(moved, division->free[end]);
        for (r = end; chain.from[r] != r; r = chain.from[r])
            moved = fmin(moved, division->projects[chain.mover[r]].instances[chain.from[r]]);
        for (r = end; chain.from[r] != r; r = chain.from[r]) {
            division->projects[chain.mover[r]].instances[chain.from[r]] -= moved;
            division->projects[chain.mover[r]].instances[r] += moved;
        }
        project->instances[r] += moved;
        division->free[end] -= moved;
        flops -= moved;
    }
}

/* The scarcest set of open resources; 0: nobody is left. Of equals the smallest number. */
static unsigned scarcest(const struct division *division, unsigned open, double *ret_level)
{
    unsigned best = 0;

    *ret_level = INFINITY;
    for (unsigned set = 1; set < 1U << division->resource_count; set++) {
        double level = (set & ~open) == 0 ? level_of(division, set, open) : INFINITY;

        if (level < *ret_level) {
            *ret_level = level;
            best = set;
        }
    }
    return best;
}

void entitlement_divide(const double *flops, const double *counts, size_t resource_count,
                        struct entitlement *projects, size_t project_count)
{
    struct division division = {.counts = counts,
                                .flops = flops,
                                .resource_count = resource_count,
                                .projects = projects,
                                .project_count = project_count};
    unsigned open, set;
    double level;

    must(resource_count <= ENTITLEMENT_RESOURCES_MAX);
    open = (1U << resource_count) - 1;
    for (size_t r = 0; r < resource_count; r++) {
        division.free[r] = flops[r];
        division.least += flops[r] * LEAST;
    }
    for (size_t p = 0; p < project_count; p++)
        for (size_t r = 0; r < ENTITLEMENT_RESOURCES_MAX; r++)
            projects[p].instances[r] = 0;
    while ((set = scarcest(&division, open, &level)) != 0) {
        for (size_t p = 0; p < project_count; p++)
            if (!is_served(&projects[p], open) && (projects[p].uses & open & ~set) == 0)
                give(&division, &projects[p], level * projects[p].share, set);
        open &= ~set;
    }
    for (size_t p = 0; p < project_count; p++)
        for (size_t r = 0; r < resource_count; r++)
            projects[p].instances[r] *= flops[r] > 0 ? counts[r] / flops[r] : 0;
}
