/* SPDX-License-Identifier: Apache-2.0 */
/* Why nothing passes: what came nearest, by each limit. */
#include "server/base/arena.h"
#include "server/pool/ask_parts.h"

#include <math.h>

#include "server/base/banned.h"

static bool add_class(struct search *search, slot number, struct pool_answer *answer)
{
    const struct class_node *node = class_at(search->pool, number);
    slot job = node->lists[node->is_foreign ? FOREIGN : OWN].first;

    if (answer->count >= search->question->jobs_max)
        return true;
    return ask_describe_job(search, node, job, &answer->jobs[answer->count++]);
}

/* Over all groups that passed; without `strict` whatever the other limits say. */
static slot nearest(struct search *search, enum pool_limit which, bool strict)
{
    double best = HUGE_VAL;
    slot found = 0;

    for (size_t i = 0; i < search->runner_count; i++) {
        const struct runner *runner = &search->runners[i];
        slot number = tree_least(search->pool, group_at(search->pool, runner->group)->root, which,
                                 strict ? runner->terms.limits : NULL, &best, &search->steps);
        if (number != 0)
            found = number;
    }
    return found;
}

static bool explain(struct search *search, struct pool_answer *answer)
{
    answer->jobs = ARENA_ARRAY(search->arena, search->question->jobs_max + 1, struct pool_job);
    if (answer->jobs == NULL || !ask_begin(search))
        return false;
    for (int which = 0; which < POOL_LIMIT_COUNT; which++) {
        slot number = nearest(search, (enum pool_limit)which, true);

        if (number == 0)
            number = nearest(search, (enum pool_limit)which, false);
        if (number != 0 && !add_class(search, number, answer))
            return false;
    }
    for (size_t i = 0; i < search->other_count; i++)
        if (!add_class(search, group_at(search->pool, search->others[i])->root, answer))
            return false;
    return true;
}

bool pool_explain(struct pool *pool, struct arena *arena, const struct pool_question *question,
                  struct pool_answer *ret_answer)
{
    struct search search = {.pool = pool, .arena = arena, .question = question};
    bool done;

    *ret_answer = (struct pool_answer){0};
    pool_lock(pool);
    done = explain(&search, ret_answer);
    ret_answer->is_short = search.steps == 0;
    pool_unlock(pool);
    return done;
}
