/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of a request: what is there for this host, and if nothing, what came nearest.
 *
 * First the best classes are found, then their jobs are taken: taking moves a class, and the search
 * would meet it again. */
#include "server/base/arena.h"
#include "server/pool/internal.h"
#include "server/pool/pool.h"

#include <math.h>

#include "server/base/banned.h"

enum {
    STEPS_MAX = 1 << 18, /* classes looked at in one question: some milliseconds */
    STEPS_SHARE = 4      /* a search may use this part of those that are left */
};
#define FPOPS_UNKNOWN 1e12

/* A group that passed, and the best of its classes that was not picked yet. */
struct runner {
    slot group, best;
    struct standing standing;
    struct pool_terms terms;
};

struct pick {
    slot class_number;
    size_t jobs;
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
    size_t steps;
    bool gave_up;
};

static bool search_begin(struct search *search)
{
    struct pool *pool = search->pool;

    search->steps = STEPS_MAX;
    search->runners = ARENA_ARRAY(search->arena, pool->group_count, struct runner);
    search->others = ARENA_ARRAY(search->arena, pool->group_count, slot);
    if (search->runners == NULL || search->others == NULL)
        return false;
    for (size_t i = 0; i < pool->group_count; i++) {
        struct runner *runner = &search->runners[search->runner_count];
        const struct group_node *group = group_at(pool, pool->group_list[i]);

        if (group->root == 0)
            continue;
        runner->group = pool->group_list[i];
        if (search->question->judge(search->question->context, &group->key, &runner->terms))
            search->runner_count++;
        else
            search->others[search->other_count++] = pool->group_list[i];
    }
    return true;
}

static void run(struct search *search, struct runner *runner, const struct standing *after)
{
    size_t steps = search->steps / STEPS_SHARE, given = steps;

    runner->best = tree_first(search->pool, group_at(search->pool, runner->group)->root, after,
                              runner->terms.limits, &steps);
    search->steps -= given - steps;
    search->gave_up = search->gave_up || steps == 0;
    if (runner->best != 0)
        runner->standing = class_standing(class_at(search->pool, runner->best));
}

static struct runner *leader(struct search *search)
{
    struct runner *best = NULL;

    for (size_t i = 0; i < search->runner_count; i++) {
        struct runner *runner = &search->runners[i];
        if (runner->best != 0 && search->filled[runner->terms.lane] < search->question->reserve &&
            (best == NULL || standing_compare(&runner->standing, &best->standing) < 0))
            best = runner;
    }
    return best;
}

/* How many jobs of a class are asked for; they fill the lane. */
static size_t jobs_wanted(struct search *search, const struct class_node *node,
                          const struct pool_terms *terms, size_t most)
{
    double fpops = node->key.fpops_est > 0 ? node->key.fpops_est : FPOPS_UNKNOWN;
    double wanted = ceil(fmax(terms->flop, 0) / fpops) + fmax(terms->jobs, 0);
    uint32_t held = node->lists[node->is_foreign ? FOREIGN : OWN].count;
    size_t jobs = wanted < (double)most ? (size_t)wanted : most;

    if (jobs == 0)
        jobs = 1;
    jobs = jobs < held ? jobs : held;
    search->filled[terms->lane] += (double)jobs / fmax(wanted, 1);
    return jobs;
}

static bool describe_job(struct search *search, const struct class_node *node, slot number,
                         struct pool_job *ret_job)
{
    const struct job_node *job = job_at(search->pool, number);

    class_describe(search->pool, node, ret_job);
    ret_job->resultid = job->resultid;
    ret_job->workunit.id = job->workunitid;
    /* The class may be gone when this is read. */
    ret_job->workunit.keywords = text_copy(search->arena, ret_job->workunit.keywords);
    return !arena_overflowed(search->arena);
}

static bool take_jobs(struct search *search, const struct pick *pick, struct pool_answer *answer)
{
    struct pool *pool = search->pool;
    struct class_node *node = class_at(pool, pick->class_number);
    struct job_list *list = &node->lists[node->is_foreign ? FOREIGN : OWN];

    for (size_t i = 0; i < pick->jobs; i++) {
        slot number = list->first;

        if (!describe_job(search, node, number, &answer->jobs[answer->count]))
            return false;
        job_at(pool, number)->is_taken = true;
        node->taken++;
        pool->taken++;
        class_unlink(pool, number);
        answer->count++;
    }
    return true;
}

static bool take(struct search *search, struct pool_place after, struct pool_answer *answer)
{
    const struct pool_question *question = search->question;
    const struct standing behind = {after.priority, after.resultid, after.is_foreign};
    struct pick *picks = ARENA_ARRAY(search->arena, question->classes_max, struct pick);
    size_t pick_count = 0, jobs = 0;

    answer->jobs = ARENA_ARRAY(search->arena, question->jobs_max, struct pool_job);
    if (picks == NULL || answer->jobs == NULL || !search_begin(search))
        return false;
    for (size_t i = 0; i < search->runner_count; i++)
        run(search, &search->runners[i], after.is_set ? &behind : NULL);
    while (pick_count < question->classes_max && jobs < question->jobs_max) {
        struct runner *best = leader(search);
        struct pick *pick = &picks[pick_count];

        if (best == NULL)
            break;
        answer->place = (struct pool_place){true, best->standing.is_foreign,
                                            best->standing.priority, best->standing.resultid};
        *pick = (struct pick){best->best, jobs_wanted(search, class_at(search->pool, best->best),
                                                      &best->terms, question->jobs_max - jobs)};
        jobs += pick->jobs;
        pick_count++;
        run(search, best, &best->standing);
    }
    for (size_t i = 0; i < pick_count; i++)
        if (!take_jobs(search, &picks[i], answer))
            return false; /* what was taken is in the answer: the caller returns it */
    return true;
}

bool pool_take(struct pool *pool, struct arena *arena, const struct pool_question *question,
               struct pool_place after, struct pool_answer *ret_answer)
{
    struct search search = {.pool = pool, .arena = arena, .question = question};
    bool done, lacks;

    *ret_answer = (struct pool_answer){.place = after};
    pthread_mutex_lock(&pool->lock);
    lacks = !pool->was_filled || pool->lacks_some || pool->taken > 0 ||
            pool->distrusted_count + pool->distrusted_out > 0;
    done = take(&search, after, ret_answer);
    ret_answer->is_short = lacks || search.gave_up;
    pthread_mutex_unlock(&pool->lock);
    return done;
}

/* --- nearest misses -------------------------------------------------------------------------- */

static bool add_class(struct search *search, slot number, struct pool_answer *answer)
{
    const struct class_node *node = class_at(search->pool, number);
    slot job = node->lists[node->is_foreign ? FOREIGN : OWN].first;

    if (answer->count >= search->question->jobs_max)
        return true;
    return describe_job(search, node, job, &answer->jobs[answer->count++]);
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
    answer->jobs = ARENA_ARRAY(search->arena, search->question->jobs_max, struct pool_job);
    if (answer->jobs == NULL || !search_begin(search))
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
    pthread_mutex_lock(&pool->lock);
    done = explain(&search, ret_answer);
    ret_answer->is_short = search.steps == 0;
    pthread_mutex_unlock(&pool->lock);
    return done;
}
