/* SPDX-License-Identifier: Apache-2.0 */
/* What there is besides what a request was given: for the recording. Each group gives as many of
 * its first classes as there is place for, and of each class some jobs are counted one by one, as a
 * search would go through them, so that what the asker had before does not count. */
#include "server/base/arena.h"
#include "server/pool/pool.h"
#include "server/pool/pool_internal.h"

#include <math.h>

#include "server/base/banned.h"

enum { STEPS_MAX = 20000 /* classes examined in all */ };

struct survey_walk {
    const struct pool *pool;
    struct arena *arena;
    uint64_t had_keys[POOL_SUBJECTS];
    size_t classes_max;  /* in all */
    size_t of_group_max; /* classes of one group */
    size_t of_class_max; /* jobs of one class that are looked at */
    size_t steps;
    struct pool_survey *survey;
};

static bool was_had(const struct survey_walk *walk, int64_t workunitid)
{
    for (int i = 0; i < POOL_SUBJECTS; i++)
        if (had_before(&walk->pool->had, walk->had_keys[i], workunitid))
            return true;
    return false;
}

static void count_jobs(const struct survey_walk *walk, const struct class_node *node,
                       struct pool_survey_class *class)
{
    size_t left = walk->of_class_max;
    int64_t last = 0;

    for (int part = OWN; part < PARTS; part++)
        for (slot number = node->lists[part].first; number != 0 && left > 0;
             number = job_at(walk->pool, number)->next, left--) {
            const struct job_node *job = job_at(walk->pool, number);

            if (was_had(walk, job->workunitid))
                continue;
            class->workunits += class->jobs == 0 || job->workunitid != last;
            last = job->workunitid;
            class->jobs++;
        }
}

static bool add_class(struct survey_walk *walk, const struct class_node *node)
{
    struct pool_survey *survey = walk->survey;
    struct pool_survey_class *class = &survey->classes[survey->count];

    *class = (struct pool_survey_class){.is_of_others = node->is_of_others};
    class_describe(walk->pool, node, &class->job);
    class->job.resultid = node->oldest;
    class->job.workunit.keywords = text_copy(walk->arena, class->job.workunit.keywords);
    count_jobs(walk, node, class);
    survey->count += class->jobs > 0;
    return !arena_overflowed(walk->arena);
}

/* The first classes of a group. False: no memory. */
static bool add_group(struct survey_walk *walk, const struct group_node *group)
{
    const double limits[CLASS_LIMIT_COUNT] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    struct tree_search any = {.limits = limits, .steps = walk->steps};
    struct class_rank rank, *after = NULL;

    for (size_t i = 0; i <= walk->of_group_max; i++) {
        slot number = tree_first(walk->pool, group->root, after, &any);

        if (number == 0)
            break;
        if (i == walk->of_group_max || walk->survey->count == walk->classes_max) {
            walk->survey->is_cut = true;
            break;
        }
        if (!add_class(walk, class_at(walk->pool, number)))
            return false;
        rank = class_rank_of(class_at(walk->pool, number));
        after = &rank;
    }
    walk->steps = any.steps;
    return true;
}

static size_t share_of(size_t all, size_t among)
{
    return among == 0 || all < among ? 1 : all / among;
}

bool pool_survey(struct pool *pool, struct arena *arena,
                 const struct pool_survey_question *question, struct pool_survey *ret_survey)
{
    struct survey_walk walk = {.pool = pool,
                               .arena = arena,
                               .classes_max = question->classes_max,
                               .steps = STEPS_MAX,
                               .survey = ret_survey};
    bool done = true;

    *ret_survey = (struct pool_survey){
        .classes = ARENA_ARRAY(arena, question->classes_max, struct pool_survey_class)};
    if (ret_survey->classes == NULL)
        return false;
    for (int i = 0; i < POOL_SUBJECTS; i++)
        walk.had_keys[i] = had_key((enum pool_subject)i, question->subjects[i]);
    pool_lock(pool);
    walk.of_group_max = share_of(question->classes_max, pool->group_count);
    walk.of_class_max = share_of(question->jobs_max, pool->classes.live < question->classes_max
                                                         ? pool->classes.live
                                                         : question->classes_max);
    for (size_t i = 0; i < pool->group_count && done; i++)
        done = add_group(&walk, group_at(pool, pool->group_list[i]));
    if (!pool->was_filled || pool->lacks_some || walk.steps == 0)
        ret_survey->is_cut = true;
    pool_unlock(pool);
    return done;
}
