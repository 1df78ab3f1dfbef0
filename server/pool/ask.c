/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of a request: which jobs are there for this host, and if there are none, which came
 * nearest.
 *
 * First the jobs are picked, then they are taken: taking moves a class, and the search would find
 * it again. A job that the user or host may not have, as it had a result of the workunit before
 * (had_before.c), is passed over within its class. */
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/pool/pool.h"
#include "server/pool/pool_internal.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

enum {
    STEPS_MAX = 1 << 18, /* classes examined in one question: some milliseconds */
    STEPS_SHARE = 4,     /* a search may use this part of those that are left */
    WALK_MAX = 1 << 20,  /* jobs of the classes that were found, passed over or not */
    CHOICE = 2,          /* jobs more than are wanted, so that one that wants one has a choice */
    OWNERS_IN_VAIN =
        256 /* streams of owners that are looked at for a host that none of them suits */
};
#define FPOPS_UNKNOWN 1e12
#define ROUNDING      1e-6 /* of what fills a lane */

/* A group that passed, and the best of its classes that was not picked yet. */
struct group_runner {
    slot group, best;
    size_t stream; /* in the search's list */
    struct class_rank rank;
    struct pool_terms terms;
};

struct pool_search {
    struct pool *pool;
    struct arena *arena;
    const struct pool_question *question;
    struct group_runner *runners;
    size_t runner_count, runner_capacity;
    slot *others; /* groups that did not pass; NULL: it does not matter which */
    size_t other_count;
    struct stream *streams; /* that are looked at; their clocks run with what is picked */
    size_t stream_count, stream_capacity;
    bool by_turn;
    size_t owners; /* streams of owners that were looked at, the furthest behind first */
    double *lanes; /* how full each is, in times what is wanted */
    size_t lane_capacity;
    struct pool_place full_at; /* where the first lane was full */
    size_t steps;
    bool gave_up;
    bool is_cut;               /* it gave up among jobs that do not suit, */
    struct class_rank reached; /* behind this class, of the group where it got least far */
    slot *picked;              /* jobs, class by class */
    size_t picked_count, walk;
    bool has_rule; /* of one result per workunit */
    uint64_t had_keys[POOL_SUBJECTS];
};

/* Grows a list until it has place `at`; new places are zeroed. False: no memory. */
static bool make_room(struct arena *arena, void **items, size_t at, size_t *capacity,
                      size_t item_size)
{
    size_t old = *capacity;
    void *larger;

    if (at < old)
        return true;
    while (*capacity <= at)
        *capacity = *capacity == 0 ? 4 : *capacity * 2;
    larger = arena_alloc_array(arena, *capacity, item_size);
    if (larger != NULL && old > 0)
        memcpy(larger, *items, old * item_size);
    *items = larger;
    return larger != NULL;
}

static struct pool_place place_of(const struct class_rank *rank)
{
    return (struct pool_place){true, rank->is_of_others, rank->priority, rank->resultid};
}

/* A group was searched in part only, as jobs in it do not suit; the next search begins there. */
static void note_cut(struct pool_search *search, const struct class_rank *reached)
{
    if (!search->is_cut || rank_compare(reached, &search->reached) < 0)
        search->reached = *reached;
    search->is_cut = true;
}

static bool class_suits(void *context, const struct class_node *node)
{
    const struct pool_search *search = context;
    struct pool_job common;

    class_describe(search->pool, node, &common);
    return search->question->suits(search->question->context, &common);
}

/* For the classes of a group that suit. */
static struct tree_search search_in(struct pool_search *search, const struct pool_terms *terms,
                                    size_t steps)
{
    return (struct tree_search){.limits = terms->limits,
                                .suits = search->question->suits != NULL ? class_suits : NULL,
                                .context = search,
                                .steps = steps};
}

static const struct class_rank before_all = {.priority = INT64_MAX, .resultid = INT64_MIN};

/* The best class of the runner's group behind `after`. */
static void run(struct pool_search *search, struct group_runner *runner,
                const struct class_rank *after)
{
    size_t steps = search->steps / STEPS_SHARE;
    struct tree_search tree = search_in(search, &runner->terms, steps);

    tree.reached = after != NULL ? *after : before_all;
    runner->best =
        tree_first(search->pool, group_at(search->pool, runner->group)->root, after, &tree);
    search->steps -= steps - tree.steps;
    if (runner->best != 0)
        runner->rank = class_rank_of(class_at(search->pool, runner->best));
    else if (tree.steps == 0) {
        search->gave_up = true;
        if (tree.met_unsuited)
            note_cut(search, &tree.reached);
    }
}

/* The groups of a stream that pass join the search, each with its best class behind `after`. False:
 * no memory. */
static bool add_stream(struct pool_search *search, const struct stream_node *node,
                       const struct class_rank *after)
{
    struct pool *pool = search->pool;
    size_t at = search->stream_count;

    if (!make_room(search->arena, (void **)&search->streams, at, &search->stream_capacity,
                   sizeof(search->streams[0])))
        return false;
    search->streams[search->stream_count++] = stream_now(pool, node);
    for (slot number = node->first_group; number != 0;
         number = group_at(pool, number)->stream_next) {
        const struct group_node *group = group_at(pool, number);
        struct group_runner *runner;

        if (group->root == 0)
            continue;
        if (!make_room(search->arena, (void **)&search->runners, search->runner_count,
                       &search->runner_capacity, sizeof(search->runners[0])))
            return false;
        runner = &search->runners[search->runner_count];
        *runner = (struct group_runner){.group = number, .stream = at};
        if (!search->question->judge(search->question->context, &group->key, &runner->terms)) {
            if (search->others != NULL)
                search->others[search->other_count++] = number;
            continue;
        }
        must(runner->terms.lane < POOL_LANES);
        if (!make_room(search->arena, (void **)&search->lanes, runner->terms.lane,
                       &search->lane_capacity, sizeof(search->lanes[0])))
            return false;
        run(search, runner, after);
        search->runner_count++;
    }
    return true;
}

static bool add_streams(struct pool_search *search, const struct stream_list *list,
                        const struct class_rank *after)
{
    for (size_t i = 0; i < list->count; i++)
        if (!add_stream(search, list->nodes[i], after))
            return false;
    return true;
}

/* Finds the groups that pass; of owners' streams none yet, where these come by turn. False: no
 * memory. */
static bool begin(struct pool_search *search, const struct class_rank *after)
{
    const struct stream_clocks *clocks = &search->pool->streams;

    search->by_turn = search->question->by_turn && clocks->named.count + clocks->owners.count > 1;
    return add_streams(search, &clocks->named, after) &&
           (search->by_turn || add_streams(search, &clocks->owners, after));
}

static bool is_full(const struct pool_search *search, size_t lane)
{
    return search->lanes[lane] >= search->question->times_wanted - ROUNDING;
}

static int64_t level_of(const struct pool_search *search, const struct group_runner *runner)
{
    return stream_level(search->streams[runner->stream].key, runner->rank.priority);
}

static double clock_of(const struct pool_search *search, const struct group_runner *runner)
{
    return search->streams[runner->stream].clock;
}

static bool is_before(const struct pool_search *search, const struct group_runner *a,
                      const struct group_runner *b)
{
    if (search->by_turn) {
        if (level_of(search, a) != level_of(search, b))
            return level_of(search, a) > level_of(search, b);
        if (clock_of(search, a) != clock_of(search, b))
            return clock_of(search, a) < clock_of(search, b);
    }
    return rank_compare(&a->rank, &b->rank) < 0;
}

static struct group_runner *best_runner(struct pool_search *search)
{
    struct group_runner *best = NULL;

    for (size_t i = 0; i < search->runner_count; i++) {
        struct group_runner *runner = &search->runners[i];
        if (runner->best != 0 && !is_full(search, runner->terms.lane) &&
            (best == NULL || is_before(search, runner, best)))
            best = runner;
    }
    return best;
}

/* Whether a job of an owner's stream that was not looked at yet, and of none further behind, may
 * come before the best one. */
static bool owner_comes_before(const struct pool_search *search, const struct stream_node *owner,
                               const struct group_runner *best, size_t in_vain)
{
    int64_t level;

    if (best == NULL)
        return in_vain < OWNERS_IN_VAIN;
    level = level_of(search, best);
    return level < 0 || (level == 0 && clock_of(search, best) >= owner->stream.clock);
}

/* *ret_leader: the best class of all, NULL: there is none. False: no memory. */
static bool find_leader(struct pool_search *search, struct group_runner **ret_leader)
{
    const struct stream_list *owners = &search->pool->streams.owners;
    struct group_runner *best = best_runner(search);
    size_t in_vain = 0;

    while (search->by_turn && search->owners < owners->count &&
           owner_comes_before(search, owners->nodes[search->owners], best, in_vain++)) {
        if (!add_stream(search, owners->nodes[search->owners++], NULL))
            return false;
        best = best_runner(search);
    }
    *ret_leader = best;
    return true;
}

/* How many jobs of a class are asked for. */
static double jobs_wanted(const struct class_node *node, const struct pool_terms *terms)
{
    double fpops = node->key.fpops_est > 0 ? node->key.fpops_est : FPOPS_UNKNOWN;
    return fmax(fmax(1, terms->jobs), ceil(fmax(terms->flop, 0) / fpops));
}

/* For rules of one result per workunit. `last`: the job that was picked before; 0: none. */
static bool is_passed_over(const struct pool_search *search, const struct job_node *job, slot last)
{
    const struct pool_question *question = search->question;
    int64_t workunitid = job->workunitid;

    if (!search->has_rule)
        return false;
    if (last != 0 && job_at(search->pool, last)->workunitid == workunitid)
        return true;
    for (int i = 0; i < POOL_SUBJECTS; i++)
        if (had_before(&search->pool->had, search->had_keys[i], workunitid))
            return true;
    return sorted_find_id(question->passed_over, question->passed_over_count, workunitid) <
           question->passed_over_count;
}

/* Up to `most` jobs of a class. Returns how many there were. Of the other servers' part, where the
 * class has jobs of its own part, only if these are all passed over; and the youngest first, as the
 * others begin with the oldest: these are taken or will be next. */
static size_t pick(struct pool_search *search, const struct class_node *node, size_t most)
{
    size_t begin = search->picked_count;
    slot last = 0;

    for (int part = node->is_of_others ? OTHERS : OWN; part < PARTS; part++) {
        const struct job_list *list = &node->lists[part];

        for (slot number = part == OWN ? list->first : list->last; number != 0;
             number = part == OWN ? job_at(search->pool, number)->next
                                  : job_at(search->pool, number)->previous) {
            if (search->picked_count - begin >= most || search->walk == 0)
                break;
            search->walk--;
            if (is_passed_over(search, job_at(search->pool, number), last))
                continue;
            search->picked[search->picked_count++] = last = number;
        }
        if (search->picked_count > begin)
            break;
    }
    search->gave_up = search->gave_up || search->walk == 0;
    return search->picked_count - begin;
}

/* One job for the answer. False: no memory. */
static bool describe_job(struct pool_search *search, const struct class_node *node, slot number,
                         struct pool_job *ret_job)
{
    const struct job_node *job = job_at(search->pool, number);

    class_describe(search->pool, node, ret_job);
    ret_job->resultid = job->resultid;
    ret_job->class_number = job->class_number;
    ret_job->workunit.id = job->workunitid;
    /* The class may be gone when this is read. */
    ret_job->workunit.keywords = text_copy(search->arena, ret_job->workunit.keywords);
    return !arena_overflowed(search->arena);
}

static bool take_picked(struct pool_search *search, struct pool_answer *answer)
{
    struct pool *pool = search->pool;

    answer->jobs = ARENA_ARRAY(search->arena, search->picked_count, struct pool_job);
    if (answer->jobs == NULL)
        return false;
    for (size_t i = 0; i < search->picked_count; i++) {
        struct job_node *job = job_at(pool, search->picked[i]);
        struct class_node *node = class_at(pool, job->class_number);

        if (job->is_taken) /* of a class that was named twice */
            continue;
        if (!describe_job(search, node, search->picked[i], &answer->jobs[answer->count]))
            return false; /* what was taken is in the answer: the caller returns it */
        job->is_taken = true;
        class_take(pool, job->class_number);
        pool->taken++;
        class_unlink(pool, search->picked[i]);
        answer->count++;
    }
    return true;
}

static bool pick_begin(struct pool_search *search)
{
    const struct pool_question *question = search->question;

    search->walk = WALK_MAX;
    for (int i = 0; i < POOL_SUBJECTS; i++) {
        search->had_keys[i] = had_key((enum pool_subject)i, question->subjects[i]);
        search->has_rule = search->has_rule || question->subjects[i] != 0;
    }
    search->picked = ARENA_ARRAY(search->arena, question->jobs_max, slot);
    return search->picked != NULL;
}

/* Jobs of the runner's best class. */
static size_t pick_best(struct pool_search *search, struct group_runner *best)
{
    const struct pool_question *question = search->question;
    const struct class_node *node = class_at(search->pool, best->best);
    size_t left = question->jobs_max - search->picked_count, lane = best->terms.lane, jobs;
    double wanted = jobs_wanted(node, &best->terms), share = wanted + CHOICE;
    double more =
        fmin(wanted, ceil((question->times_wanted - search->lanes[lane] - ROUNDING) * share));

    jobs = pick(search, node, more < (double)left ? (size_t)more : left);
    search->lanes[lane] += (double)jobs / share;
    stream_advance(&search->streams[best->stream],
                   (double)jobs * stream_flops(node->key.fpops_est));
    run(search, best, &best->rank);
    return jobs;
}

/* Of the place that the jobs of the answer reach to, and where the first group was cut, the nearer.
 */
static struct pool_place place_before_cut(const struct pool_search *search, struct pool_place place)
{
    const struct class_rank at = {place.priority, place.resultid, place.is_of_others};

    return search->picked_count == 0 || rank_compare(&search->reached, &at) < 0
               ? place_of(&search->reached)
               : place;
}

static bool take(struct pool_search *search, struct pool_place after, struct pool_answer *answer)
{
    const struct pool_question *question = search->question;
    const struct class_rank behind = {after.priority, after.resultid, after.is_of_others};
    size_t classes = 0;

    if (!begin(search, after.is_set ? &behind : NULL))
        return false;
    while (classes < question->classes_max && search->picked_count < question->jobs_max) {
        struct group_runner *best;
        size_t lane;

        if (!find_leader(search, &best))
            return false;
        if (best == NULL)
            break;
        lane = best->terms.lane;
        if (!search->by_turn)
            answer->place = place_of(&best->rank);
        classes += pick_best(search, best) > 0;
        if (is_full(search, lane) && !search->full_at.is_set)
            search->full_at = answer->place;
    }
    if (search->full_at.is_set)
        answer->place = search->full_at;
    if (search->is_cut && !search->by_turn)
        answer->place = place_before_cut(search, answer->place);
    return take_picked(search, answer);
}

/* Marks the classes of which the asker has taken jobs already, or takes the marks away. */
static void mark_taken(const struct pool_search *search, bool marks)
{
    const struct pool_question *question = search->question;

    for (size_t i = 0; i < question->taken_count; i++) {
        slot number = pool_find(search->pool, question->taken[i]);
        struct class_node *node;

        if (number == 0)
            continue;
        node = class_at(search->pool, job_at(search->pool, number)->class_number);
        if (!marks)
            node->asker_taken = 0;
        else
            node->asker_taken++;
        node->is_seen =
            marks && (node->is_seen || sorted_find_id(question->used, question->used_count,
                                                      question->taken[i]) == question->used_count);
    }
}

static bool class_is_wished(struct pool_search *search, const struct class_node *node)
{
    struct pool_terms terms;
    struct tree_search tree;

    if (!search->question->judge(search->question->context,
                                 &group_at(search->pool, node->group)->key, &terms))
        return false;
    tree = search_in(search, &terms, 0);
    return tree_fits(node, &tree);
}

/* Whether other requests have taken a job that this host could do and does not see: they may put
 * it back. A job of a class that the host sees is no better; but with rules of one result per user
 * or host it may be. To say yes for any taken job would have hosts that nothing suits ask the
 * database each time that others are busy. Called before the asker takes more. */
static void look_at_others(struct pool_search *search, struct pool_answer *answer)
{
    struct pool *pool = search->pool;
    bool is_served = search->question->used_count > 0;

    if (pool->taken == 0)
        return;
    if (pool->out_count == CLASSES_OUT_MAX)
        class_tidy_out(pool);
    answer->is_short = answer->others_have = pool->out_count == CLASSES_OUT_MAX;
    mark_taken(search, true);
    for (size_t i = 0; i < pool->out_count; i++) {
        const struct class_node *node = class_at(pool, pool->out[i]);

        if (answer->is_short && (answer->others_have || !is_served))
            break;
        if (node->taken <= node->asker_taken || node->is_seen ||
            (node->is_in_tree && !search->has_rule) || !class_is_wished(search, node))
            continue;
        answer->is_short = true;
        answer->others_have = answer->others_have || !node->is_in_tree;
    }
    mark_taken(search, false);
}

/* Whether jobs are missing that this host could do and sees no others like. Where a class has some
 * here, those that were left out are no better, but with rules of one result per user or host they
 * may be. */
static bool misses_some(const struct pool_search *search)
{
    const struct pool *pool = search->pool;

    return !pool->was_filled || pool->lacks_class || pool->ran_out > 0 ||
           (search->has_rule && pool->lacks_some) || pool->reread_count + pool->reread_out > 0;
}

bool pool_take(struct pool *pool, struct arena *arena, const struct pool_question *question,
               struct pool_place after, struct pool_answer *ret_answer)
{
    struct pool_search search = {
        .pool = pool, .arena = arena, .question = question, .steps = STEPS_MAX};
    bool done;

    *ret_answer = (struct pool_answer){.place = after};
    pool_lock(pool);
    done = pick_begin(&search);
    look_at_others(&search, ret_answer);
    ret_answer->is_short = ret_answer->is_short || misses_some(&search);
    done = done && take(&search, after, ret_answer);
    pool->examined += STEPS_MAX - search.steps;
    ret_answer->is_by_turn = search.by_turn;
    ret_answer->gave_up = search.gave_up;
    ret_answer->is_short = ret_answer->is_short || search.gave_up;
    pool_unlock(pool);
    return done;
}

/* A class that went is an empty place by now, or another class: then its jobs are no worse hints
 * than any. */
static bool take_more(struct pool_search *search, const struct pool_more *more, size_t count,
                      struct pool_answer *answer)
{
    if (!pick_begin(search))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct class_node *node = class_at(search->pool, more[i].class_number);
        size_t left = search->question->jobs_max - search->picked_count;

        if (node->is_in_tree)
            (void)pick(search, node, more[i].jobs < left ? more[i].jobs : left);
    }
    return take_picked(search, answer);
}

bool pool_take_more(struct pool *pool, struct arena *arena, const struct pool_question *question,
                    const struct pool_more *more, size_t count, struct pool_answer *ret_answer)
{
    struct pool_search search = {.pool = pool, .arena = arena, .question = question};
    bool done;

    *ret_answer = (struct pool_answer){0};
    pool_lock(pool);
    done = take_more(&search, more, count, ret_answer);
    ret_answer->gave_up = ret_answer->is_short = search.gave_up;
    pool_unlock(pool);
    return done;
}

/* --- why nothing passes ----------------------------------------------------------------------- */

static bool add_class(struct pool_search *search, slot number, struct pool_answer *answer)
{
    const struct class_node *node = class_at(search->pool, number);
    slot job = node->lists[node->is_of_others ? OTHERS : OWN].first;

    if (answer->count >= search->question->jobs_max)
        return true;
    return describe_job(search, node, job, &answer->jobs[answer->count++]);
}

/* Over all groups that passed; without `strict` whatever the other limits say. */
static slot nearest(struct pool_search *search, enum class_limit which, bool strict)
{
    double best = HUGE_VAL;
    slot found = 0;

    for (size_t i = 0; i < search->runner_count; i++) {
        const struct group_runner *runner = &search->runners[i];
        slot number = tree_least(search->pool, group_at(search->pool, runner->group)->root, which,
                                 strict ? runner->terms.limits : NULL, &best, &search->steps);
        if (number != 0)
            found = number;
    }
    return found;
}

static bool explain(struct pool_search *search, struct pool_answer *answer)
{
    answer->jobs = ARENA_ARRAY(search->arena, search->question->jobs_max + 1, struct pool_job);
    search->others = ARENA_ARRAY(search->arena, search->pool->group_count, slot);
    if (answer->jobs == NULL || search->others == NULL || !begin(search, NULL))
        return false;
    for (int which = 0; which < CLASS_LIMIT_COUNT; which++) {
        slot number = nearest(search, (enum class_limit)which, true);

        if (number == 0)
            number = nearest(search, (enum class_limit)which, false);
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
    struct pool_search search = {
        .pool = pool, .arena = arena, .question = question, .steps = STEPS_MAX};
    bool done;

    *ret_answer = (struct pool_answer){0};
    pool_lock(pool);
    done = explain(&search, ret_answer);
    pool->examined += STEPS_MAX - search.steps;
    ret_answer->is_short = search.steps == 0;
    pool_unlock(pool);
    return done;
}
