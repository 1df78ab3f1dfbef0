/* SPDX-License-Identifier: Apache-2.0 */
/* The workload is two lists in order of precedence, coprocessor jobs and CPU jobs, each job with
 * the time until which it may end. A new job disturbs only those behind its place. Most questions
 * are answered by bounds, without a look at the arrangement (see edf_queue.c); else jobs are laid,
 * from the place on to the last one whose bound does not hold, and no further than to the first
 * that ends too late. What makes it fast beyond that:
 *
 * - Coprocessor jobs that leave as many CPUs as before leave the CPU jobs as they are.
 * - Jobs refused are remembered; where what is added only makes things worse, anything that is not
 *   easier is refused without a look, until the workload is reset.
 *
 * When the budget of the request is used up, only what the bounds prove is accepted. */
#include "server/policy/edf/edf.h"

#include "server/base/arena.h"
#include "server/base/between.h"
#include "server/base/budget.h"
#include "server/policy/edf/edf_queue.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define US            1e6  /* in a second */
#define WALL_TIME_MAX 1e9  /* s */
#define DEADLINE_MAX  1e12 /* s */
#define INSTANCES_MAX 1e5
#define PAGES_MAX     4e9 /* fits 32 bits */
#define CHOSEN_SPARE  1e3 /* us that a new job may end after its deadline */
#define LISTED_SPARE  1e6 /* us by which a listed job may become later */

enum { REFUSED_MAX = 32 /* remembered */, NOT_LISTED = -1, FEW = 8 /* to sort */ };

enum { NOTE_COST = 60 /* units for a job, memory included */ };

struct refused {
    struct edf_need need;
    double deadline;
    size_t place;
    uint64_t taken, coprocs_taken;
    enum edf_verdict verdict;
    struct edf_reason reason;
};

struct edf {
    struct edf_queue queue;
    const struct edf_job *listed;
    bool is_lost; /* no memory, or the baseline is beyond the budget */
    bool is_exhausted;
    struct refused refused[REFUSED_MAX];
    size_t refused_count, refused_next;
    uint64_t taken, coprocs_taken;
};

/* --- numbers --------------------------------------------------------------------------------- */

/* To the nearest whole number; of no more than 1e18. */
static int64_t whole(double value)
{
    return (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

static int64_t millionths(double value)
{
    return whole(between(value, 0, INSTANCES_MAX) * EDF_UNIT);
}

static int64_t pages(double bytes)
{
    return (int64_t)between(bytes / EDF_PAGE, 0, PAGES_MAX);
}

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

static bool can_run(const struct edf_shape *shape, const struct edf_job *job)
{
    return job->resource == RESOURCE_CPU ||
           (job->resource < shape->types && shape->counts[job->resource] > 0);
}

static double deadline_of(const struct edf_job *job)
{
    if (isinf(job->deadline))
        return job->deadline;
    return (double)whole(between(job->deadline, -DEADLINE_MAX, DEADLINE_MAX) * US);
}

static struct edf_need need_of(const struct edf_shape *shape, const struct edf_job *job)
{
    struct edf_need need = {.wall_time =
                                (double)whole(between(job->wall_time, 0, WALL_TIME_MAX) * US),
                            .cpus = at_most(millionths(job->cpus), shape->cpus),
                            .type = (uint32_t)job->resource};

    if (job->resource != RESOURCE_CPU)
        need.count = at_most(millionths(job->instances), shape->counts[job->resource]);
    if (shape->memory > 0)
        need.memory = (uint32_t)at_most(pages(job->memory), shape->memory);
    return need;
}

/* All in us. */
static double lateness(double finish, double deadline)
{
    return isinf(deadline) ? 0 : fmax(0, finish - deadline);
}

static struct edf_entry entry_of(const struct edf_shape *shape, const struct edf_job *job)
{
    double deadline = deadline_of(job);

    return (struct edf_entry){.need = need_of(shape, job),
                              .deadline = deadline,
                              .limit = deadline + CHOSEN_SPARE,
                              .listed = NOT_LISTED};
}

/* --- the baseline ---------------------------------------------------------------------------- */

/* A listed job's turn: by deadline; listing order decides between equals. */
struct turn {
    double deadline;
    size_t index;
};

static void sort_few(struct turn *turns, size_t count)
{
    for (size_t at = 1; at < count; at++) {
        struct turn turn = turns[at];
        size_t to = at;

        for (; to > 0 && turn.deadline < turns[to - 1].deadline; to--)
            turns[to] = turns[to - 1];
        turns[to] = turn;
    }
}

/* By merging halves, in listing order at first: so equals stay. Which half is next cannot be
 * foreseen, so there is no branch on it. */
static void sort(struct turn *turns, struct turn *other, size_t count)
{
    size_t half = count / 2, at = 0, i = 0, j = half;

    if (count <= FEW) {
        sort_few(turns, count);
        return;
    }
    sort(turns, other, half);
    sort(turns + half, other, count - half);
    if (turns[half - 1].deadline <= turns[half].deadline)
        return;
    memcpy(other, turns, half * sizeof(turns[0]));
    while (i < half && j < count) {
        bool is_first = other[i].deadline <= turns[j].deadline;
        const struct turn *next = is_first ? &other[i] : &turns[j];

        turns[at++] = *next;
        i += is_first;
        j += !is_first;
    }
    memcpy(turns + at, other + i, (half - i) * sizeof(turns[0]));
}

/* The listed jobs that can run, by turn, coprocessor jobs first. The shape notes them. */
static struct turn *turns_of(struct arena *arena, struct edf_shape *shape,
                             const struct edf_job *listed, size_t count,
                             size_t ret_counts[EDF_GROUPS])
{
    struct turn *turns = ARENA_ARRAY(arena, count, struct turn);
    struct turn *other = ARENA_ARRAY(arena, count / 2 + 1, struct turn);
    size_t kept = 0;

    if (turns == NULL || other == NULL)
        return NULL;
    for (int g = 0; g < EDF_GROUPS; g++) {
        size_t begin = kept;

        for (size_t i = 0; i < count; i++) {
            struct edf_need need;

            if (!can_run(shape, &listed[i]) ||
                (listed[i].resource == RESOURCE_CPU) != (g == EDF_CPUS))
                continue;
            need = need_of(shape, &listed[i]);
            (void)edf_shape_note(shape, &need);
            turns[kept++] = (struct turn){.deadline = deadline_of(&listed[i]), .index = i};
        }
        ret_counts[g] = kept - begin;
        sort(turns + begin, other, kept - begin);
    }
    return turns;
}

struct edf *edf_create(struct arena *arena, const struct edf_host *host,
                       const struct edf_job *listed, size_t count, size_t room,
                       struct budget *budget)
{
    struct edf *edf = ARENA_NEW(arena, struct edf);
    size_t counts[EDF_GROUPS] = {0};
    const struct turn *turns;
    struct edf_shape shape = {
        .cpus = millionths(floor(between(host->counts[RESOURCE_CPU], 1, INSTANCES_MAX))),
        .types = host->resource_count < RESOURCES_MAX ? host->resource_count : RESOURCES_MAX,
        .memory = pages(host->memory),
    };

    for (size_t type = 1; type < shape.types; type++)
        shape.counts[type] = millionths(host->counts[type]);
    if (!budget_spend(budget, count * NOTE_COST + budget_of_sorting(count)))
        count = 0;
    turns = turns_of(arena, &shape, listed, count, counts);
    if (edf == NULL || turns == NULL ||
        !edf_queue_init(&edf->queue, arena, &shape, counts, room + 1, budget))
        return NULL;
    edf->listed = listed;
    for (size_t i = 0; i < counts[EDF_COPROCS] + counts[EDF_CPUS]; i++) {
        struct edf_entry entry = entry_of(&shape, &listed[turns[i].index]);

        entry.listed = (ptrdiff_t)turns[i].index;
        edf_queue_list(&edf->queue, &entry);
    }
    edf->is_lost = !edf_queue_begin(&edf->queue, LISTED_SPARE);
    return edf;
}

void edf_reset(struct edf *edf)
{
    if (edf->is_lost || edf->taken == 0)
        return;
    edf->is_lost = !edf_queue_reset(&edf->queue);
    edf->taken = edf->coprocs_taken = edf->refused_count = edf->refused_next = 0;
}

/* --- jobs refused before --------------------------------------------------------------------- */

/* Whether an answer holds for this job too: the same question, or one that is not easier. */
static bool is_no_easier(const struct edf *edf, const struct refused *refused,
                         const struct edf_entry *entry, size_t place)
{
    const struct edf_need *need = &entry->need;
    bool is_now = edf->taken == refused->taken;
    bool is_longer = need->wall_time >= refused->need.wall_time;
    bool is_here = is_now && place == refused->place && entry->deadline <= refused->deadline;

    if (refused->need.type != need->type || refused->need.cpus != need->cpus ||
        refused->need.count != need->count || refused->need.memory != need->memory || !is_longer)
        return false;
    if (is_here && (refused->verdict == EDF_LATE || need->wall_time == refused->need.wall_time))
        return true;
    /* One more job may let another of different size start earlier; not where all are alike. */
    return need->type == RESOURCE_CPU && edf_shape_is_even(&edf->queue.shape) &&
           (is_here || (entry->deadline == refused->deadline &&
                        (edf->coprocs_taken == refused->coprocs_taken ||
                         edf_shape_burden(&edf->queue.shape) == 0)));
}

static const struct refused *find_refused(const struct edf *edf, const struct edf_entry *entry,
                                          size_t place)
{
    for (size_t i = 0; i < edf->refused_count; i++)
        if (is_no_easier(edf, &edf->refused[i], entry, place))
            return &edf->refused[i];
    return NULL;
}

static void remember(struct edf *edf, const struct edf_entry *entry, size_t place,
                     enum edf_verdict verdict, const struct edf_reason *reason)
{
    edf->refused[edf->refused_next] = (struct refused){.need = entry->need,
                                                       .deadline = entry->deadline,
                                                       .place = place,
                                                       .taken = edf->taken,
                                                       .coprocs_taken = edf->coprocs_taken,
                                                       .verdict = verdict,
                                                       .reason = *reason};
    edf->refused_next = (edf->refused_next + 1) % REFUSED_MAX;
    if (edf->refused_count < REFUSED_MAX)
        edf->refused_count++;
}

/* --- one job more ---------------------------------------------------------------------------- */

static const struct edf_entry *longest_before(const struct edf_group *group, size_t place)
{
    while (place-- > 0)
        if (group->order[place]->listed != NOT_LISTED)
            return group->order[place]->longest;
    return NULL;
}

/* The longest listed job that goes before. */
static void blame(const struct edf *edf, const struct edf_group *group, size_t place,
                  struct edf_reason *reason)
{
    const struct edf_group *coprocs = &edf->queue.groups[EDF_COPROCS];
    const struct edf_entry *longest = longest_before(group, place);

    if (longest == NULL && group != coprocs)
        longest = longest_before(coprocs, coprocs->count);
    if (longest == NULL)
        return;
    reason->has_listed = true;
    reason->listed = (size_t)longest->listed;
    reason->lateness_before = reason->lateness_after =
        lateness(longest->alone, longest->deadline) / US;
}

/* Lays the jobs of a group onto `work`. */
static enum edf_verdict lay_rest(struct edf *edf, const struct edf_group *group, size_t from,
                                 size_t until, struct edf_reason *reason)
{
    for (size_t i = from; i < until; i++) {
        const struct edf_entry *entry = group->order[i];
        double finish = edf_queue_lay(&edf->queue, &entry->need);

        if (budget_is_used_up(edf->queue.budget))
            return EDF_TOO_LARGE;
        if (finish <= entry->limit)
            continue;
        if (entry->listed == NOT_LISTED) {
            blame(edf, group, i, reason);
            return EDF_DELAYS;
        }
        reason->has_listed = true;
        reason->listed = (size_t)entry->listed;
        reason->lateness_before = (entry->limit - LISTED_SPARE - entry->deadline) / US;
        reason->lateness_after = (finish - entry->deadline) / US;
        return EDF_DELAYS;
    }
    return EDF_IN_TIME;
}

/* The coprocessor jobs and a new one are in `work`: whether the CPU jobs stay in time. */
static enum edf_verdict judge_cpu_jobs(struct edf *edf, struct edf_reason *reason)
{
    struct edf_queue *queue = &edf->queue;
    const struct edf_group *cpus = &queue->groups[EDF_CPUS];
    const struct edf_profile *base = &cpus->saved[0].profile;

    if (!edf_queue_write_base(queue))
        return EDF_TOO_LARGE;
    if (edf_profile_equal(&queue->base, base))
        return EDF_IN_TIME;
    if (!edf_queue_read(queue, &queue->base))
        return EDF_TOO_LARGE;
    return lay_rest(edf, cpus, 0,
                    edf_queue_until(cpus, 0, edf_profile_kept_away_more(base, &queue->base)),
                    reason);
}

static enum edf_verdict judge(struct edf *edf, const struct edf_entry *entry, size_t place,
                              struct edf_reason *reason)
{
    struct edf_queue *queue = &edf->queue;
    struct edf_group *group = edf_queue_group(queue, &entry->need);
    bool may_burden = entry->need.type != RESOURCE_CPU && edf_shape_burden(&queue->shape) > 0;
    double amount = edf_queue_amount(queue, &entry->need);
    size_t until = edf_queue_until(group, place, amount);
    enum edf_verdict verdict;
    double finish;

    if (until == place && !may_burden && edf_queue_spare(queue, entry, place) >= 0)
        return EDF_IN_TIME;
    if ((until > place && !edf_queue_sharpen(queue, group, until)) ||
        !edf_queue_before(queue, group, place))
        return EDF_TOO_LARGE;
    until = edf_queue_until(group, place, amount);
    finish = edf_queue_lay(queue, &entry->need);
    reason->finish = finish / US;
    if (finish > entry->limit) {
        blame(edf, group, place, reason);
        return EDF_LATE;
    }
    verdict = lay_rest(edf, group, place, may_burden ? group->count : until, reason);
    return verdict == EDF_IN_TIME && may_burden ? judge_cpu_jobs(edf, reason) : verdict;
}

static enum edf_verdict try(struct edf *edf, const struct edf_job *job,
                            struct edf_reason *ret_reason)
{
    const struct refused *refused;
    enum edf_verdict verdict;
    struct edf_entry entry;
    size_t place;

    *ret_reason = (struct edf_reason){0};
    if (!can_run(&edf->queue.shape, job))
        return EDF_LATE;
    if (edf->is_lost)
        return EDF_TOO_LARGE;
    entry = entry_of(&edf->queue.shape, job);
    if (!edf_queue_note(&edf->queue, &entry.need) || !edf_queue_find_base(&edf->queue))
        return EDF_TOO_LARGE;
    place = edf_queue_place(edf_queue_group(&edf->queue, &entry.need), entry.deadline);
    refused = find_refused(edf, &entry, place);
    if (refused != NULL) {
        *ret_reason = refused->reason;
        return refused->verdict;
    }
    verdict = judge(edf, &entry, place, ret_reason);
    if (verdict == EDF_LATE || verdict == EDF_DELAYS)
        remember(edf, &entry, place, verdict, ret_reason);
    return verdict;
}

enum edf_verdict edf_try(struct edf *edf, const struct edf_job *job, struct edf_reason *ret_reason)
{
    enum edf_verdict verdict = try(edf, job, ret_reason);

    edf->is_exhausted = edf->is_exhausted || verdict == EDF_TOO_LARGE;
    return verdict;
}

void edf_take(struct edf *edf, const struct edf_job *job)
{
    struct edf_entry entry;

    if (edf->is_lost || !can_run(&edf->queue.shape, job))
        return;
    entry = entry_of(&edf->queue.shape, job);
    edf_queue_note(&edf->queue, &entry.need);
    edf->is_lost =
        !edf_queue_take(&edf->queue, &entry,
                        edf_queue_place(edf_queue_group(&edf->queue, &entry.need), entry.deadline));
    edf->taken++;
    edf->coprocs_taken += entry.need.type != RESOURCE_CPU;
}

/* --- what is known of listed jobs ------------------------------------------------------------ */

double edf_lateness(struct edf *edf, size_t listed)
{
    for (int g = 0; g < EDF_GROUPS; g++) {
        struct edf_group *group = &edf->queue.groups[g];

        if (edf->is_lost || !edf_queue_before(&edf->queue, group, group->count))
            return INFINITY;
        for (size_t i = 0; i < group->count; i++)
            if (group->order[i]->listed == (ptrdiff_t)listed)
                return lateness(group->order[i]->finish, group->order[i]->deadline) / US;
    }
    return isinf(edf->listed[listed].deadline) ? 0 : INFINITY;
}

bool edf_is_exhausted(const struct edf *edf)
{
    return edf->is_exhausted;
}

double edf_first_done(const struct edf *edf)
{
    double first = INFINITY;

    for (int g = 0; g < EDF_GROUPS; g++) {
        const struct edf_group *group = &edf->queue.groups[g];
        for (size_t i = 0; i < group->baseline_count; i++)
            if (group->baseline[i]->alone > 0)
                first = fmin(first, group->baseline[i]->alone);
    }
    return first / US;
}

void edf_finishes(const struct edf *edf, double *ret_finishes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ret_finishes[i] = INFINITY;
    for (int g = 0; g < EDF_GROUPS && !edf->is_lost; g++) {
        const struct edf_group *group = &edf->queue.groups[g];
        for (size_t i = 0; i < group->baseline_count; i++)
            ret_finishes[group->baseline[i]->listed] = group->baseline[i]->alone / US;
    }
}
