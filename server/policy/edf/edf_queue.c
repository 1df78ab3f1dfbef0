/* SPDX-License-Identifier: Apache-2.0 */
/* Two ways to know that a job is in time. Exactly: laying all jobs before it, and it. Profiles are
 * kept for every so many places, so that laying begins near the place in question; what a new job
 * makes untrue is laid again only when it is asked for.
 *
 * Or by a bound, in no time: while a job waits, those before it take nearly everything (the level),
 * so it waits at most for what they take in all, divided by the level. Hence
 *
 *     level * (limit - wall time) - what those before it take - what coprocessor jobs keep away
 *
 * is what may be added before it (its spare), whatever the arrangement. It may wait for memory,
 * too, and then those before it take nearly all of that: what a job takes of memory counts by the
 * weight that makes the time of either kind of waiting no longer than that sum. Where all CPU jobs
 * take the same and coprocessor jobs keep nothing away, a new job makes no other later by more than
 * its own length; then limit - finish is a bound too, and mostly a better one. */
#include "server/policy/edf/edf_queue.h"

#include "server/base/arena.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define ROUNDING 1e-9 /* of amounts, relative: far more than sums of doubles are wrong by */

/* Units of the budget for one job. */
enum { SURVEY_COST = 12, FIND_COST = 1, TAKE_COST = 3, BEGIN_COST = 10, WALK = 64 };

/* For taking jobs that are certain: a fifth of a request's budget. */
#define TAKING_MOST (BUDGET_MOST / 5)

enum { PLACES_MIN = 8, SAVED_ROOM = 1 << 19 /* numbers of 8 bytes */ };

/* --- bounds ---------------------------------------------------------------------------------- */

struct edf_group *edf_queue_group(struct edf_queue *queue, const struct edf_need *need)
{
    return &queue->groups[need->type == RESOURCE_CPU ? EDF_CPUS : EDF_COPROCS];
}

/* The same while it runs. */
static double rate_of(const struct edf_queue *queue, const struct edf_need *need)
{
    if (need->type != RESOURCE_CPU)
        return (double)need->count;
    return (double)need->cpus + (double)need->memory * queue->memory_weight;
}

double edf_queue_amount(const struct edf_queue *queue, const struct edf_need *need)
{
    return rate_of(queue, need) * need->wall_time;
}

static double spare_of(struct edf_queue *queue, const struct edf_entry *entry, double higher)
{
    const struct edf_need *need = &entry->need;
    double level = (double)edf_shape_level(&queue->shape, need);
    double kept_away = 0;

    if (isinf(entry->limit) || (need->wall_time <= 0 && entry->limit >= 0))
        return INFINITY;
    if (level <= 0)
        return -INFINITY;
    if (need->type == RESOURCE_CPU)
        kept_away = edf_kept_until(&queue->kept, entry->limit);
    return level * (entry->limit - need->wall_time) - higher - kept_away -
           ROUNDING * (level * (fabs(entry->limit) + need->wall_time) + higher + kept_away);
}

/* After changes from some place on. */
static void find_least(struct edf_group *group, size_t from)
{
    double least = INFINITY;

    group->least_spare[group->count] = INFINITY;
    for (size_t i = group->count; i-- > 0;) {
        least = group->spare[i] < least ? group->spare[i] : least;
        if (i < from && group->least_spare[i] == least)
            return; /* and so are all before */
        group->least_spare[i] = least;
    }
}

/* Where the finish of each CPU job is a bound too, those before a place, which are known. */
static void sharpen(struct edf_queue *queue, size_t place)
{
    struct edf_group *cpus = &queue->groups[EDF_CPUS];

    if (edf_shape_slots(&queue->shape) == 0)
        return;
    for (size_t i = cpus->sharp; i < place; i++) {
        const struct edf_entry *entry = cpus->order[i];
        cpus->spare[i] =
            fmax(cpus->spare[i], (entry->limit - entry->finish) * rate_of(queue, &entry->need));
        cpus->sharp = i + 1;
    }
}

/* All bounds anew. */
static bool survey(struct edf_queue *queue)
{
    if (budget_is_used_up(queue->budget) ||
        !budget_spend(queue->budget, queue->entry_count * SURVEY_COST) ||
        !edf_queue_find_base(queue))
        return false;
    queue->memory_weight = edf_shape_memory_weight(&queue->shape);
    for (int g = 0; g < EDF_GROUPS; g++) {
        struct edf_group *group = &queue->groups[g];
        double sums[RESOURCES_MAX] = {0};

        for (size_t i = 0; i < group->count; i++) {
            struct edf_entry *entry = group->order[i];
            double *sum = &sums[entry->need.type];

            group->higher[i] = *sum;
            *sum += edf_queue_amount(queue, &entry->need);
            group->spare[i] = spare_of(queue, entry, group->higher[i]);
        }
        group->sharp = 0;
        if (g == EDF_CPUS)
            sharpen(queue, group->known);
        find_least(group, 0);
    }
    queue->is_surveyed = true;
    return true;
}

/* What jobs of its type before a place take; INFINITY: to find it costs too much. */
static double higher_at(struct edf_queue *queue, const struct edf_group *group, size_t place,
                        size_t type)
{
    for (size_t i = place; i-- > 0;) {
        const struct edf_need *need = &group->order[i]->need;
        if (need->type == type)
            return group->higher[i] + edf_queue_amount(queue, need);
        if ((place - i) % WALK == 0 && !budget_spend(queue->budget, WALK))
            return INFINITY;
    }
    return 0;
}

double edf_queue_spare(struct edf_queue *queue, const struct edf_entry *entry, size_t place)
{
    const struct edf_group *group = edf_queue_group(queue, &entry->need);

    return spare_of(queue, entry, higher_at(queue, group, place, entry->need.type));
}

size_t edf_queue_until(const struct edf_group *group, size_t from, double amount)
{
    size_t low = from, high = group->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (group->least_spare[middle] >= amount)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* --- loads ----------------------------------------------------------------------------------- */

static size_t lesser(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* What is free in `work`. Where it would take too much memory, it is not kept. */
static bool save(struct edf_queue *queue, struct edf_group *group, size_t index)
{
    struct edf_saved *saved = &group->saved[index];
    bool is_of_cpus = group == &queue->groups[EDF_CPUS];
    size_t count = edf_load_size(&queue->work);
    size_t rows = (is_of_cpus ? 2 : queue->shape.types) + (queue->shape.memory > 0);
    uint64_t cost = 0;

    saved->is_kept = false;
    if (saved->profile.room < count || saved->profile.room == 0) {
        size_t room = count + count / 4 + 8;

        if (index > 0 && room * (rows + 1) > queue->saved_room)
            return true;
        queue->saved_room -= room * (rows + 1) < queue->saved_room ? room * (rows + 1) : 0;
        if (!edf_profile_alloc(&saved->profile, queue->arena, room, rows))
            return false;
    }
    /* The first one is also what the bounds of CPU jobs rest on: nothing is left out. */
    edf_load_write(&queue->work, &queue->shape, is_of_cpus && index > 0, &saved->profile, &cost);
    saved->is_kept = true;
    return budget_spend(queue->budget, cost);
}

bool edf_queue_read(struct edf_queue *queue, const struct edf_profile *profile)
{
    uint64_t cost = 0;
    bool is_read = edf_load_read(&queue->work, queue->arena, profile, &queue->shape, &cost);

    return budget_spend(queue->budget, cost) && is_read;
}

/* There are as many rows as may be needed. */
static bool make_room(struct edf_queue *queue, struct edf_profile *profile, size_t count)
{
    size_t rows = (queue->shape.types > 2 ? queue->shape.types : 2) + (queue->shape.memory > 0);

    return count <= profile->room ||
           edf_profile_alloc(profile, queue->arena, count + count / 4 + 8, rows);
}

bool edf_queue_write_base(struct edf_queue *queue)
{
    uint64_t cost = 0;

    if (!make_room(queue, &queue->base, edf_load_size(&queue->work)))
        return false;
    edf_load_write(&queue->work, &queue->shape, false, &queue->base, &cost);
    edf_profile_turn_to_cpus(&queue->base, &queue->shape);
    return budget_spend(queue->budget, 2 * cost); /* what is made of it is compared too */
}

double edf_queue_lay(struct edf_queue *queue, const struct edf_need *need)
{
    uint64_t cost = 0;
    double finish = edf_load_add(&queue->work, need, &cost);

    budget_spend(queue->budget, cost);
    return finish;
}

static bool lay_before(struct edf_queue *queue, struct edf_group *group, size_t place)
{
    size_t from = lesser(place, group->known) / queue->places;

    if (budget_is_used_up(queue->budget))
        return false;
    while (!group->saved[from].is_kept)
        from--; /* the first one is always kept */
    if (!edf_queue_read(queue, &group->saved[from].profile))
        return false;
    for (size_t i = from * queue->places; i < place; i++) {
        double finish = edf_queue_lay(queue, &group->order[i]->need);

        if (budget_is_used_up(queue->budget))
            return false;
        if (i < group->known)
            continue;
        group->order[i]->finish = finish;
        group->known = i + 1;
        if (group->known % queue->places == 0 && !save(queue, group, group->known / queue->places))
            return false;
    }
    return true;
}

static void lessen(struct edf_group *group, double amount)
{
    for (size_t i = 0; i < group->count; i++)
        group->spare[i] -= amount;
    find_least(group, 0);
}

/* Takes over the base that the coprocessor jobs leave now. */
static bool change_base(struct edf_queue *queue)
{
    struct edf_group *cpus = &queue->groups[EDF_CPUS];
    struct edf_saved *first = &cpus->saved[0];

    if (first->is_kept) {
        double more = edf_profile_kept_away_more(&first->profile, &queue->base);
        if (more > 0)
            lessen(cpus, more);
        budget_spend(queue->budget, FIND_COST * cpus->count);
    }
    cpus->known = 0;
    return edf_queue_read(queue, &queue->base) && save(queue, cpus, 0) &&
           edf_kept_begin(&queue->kept, queue->arena, &first->profile, &queue->shape);
}

bool edf_queue_find_base(struct edf_queue *queue)
{
    struct edf_group *coprocs = &queue->groups[EDF_COPROCS], *cpus = &queue->groups[EDF_CPUS];

    if (queue->is_base_known)
        return true;
    if (edf_shape_burden(&queue->shape) == 0) { /* whatever they do */
        if (!make_room(queue, &queue->base, 1))
            return false;
        edf_profile_clear(&queue->base, &queue->shape);
        edf_profile_turn_to_cpus(&queue->base, &queue->shape);
    } else {
        if (!lay_before(queue, coprocs, coprocs->count) || !edf_queue_write_base(queue))
            return false;
    }
    if ((!cpus->saved[0].is_kept || !edf_profile_equal(&queue->base, &cpus->saved[0].profile)) &&
        !change_base(queue)) {
        queue->is_surveyed = false;
        return false;
    }
    queue->is_base_known = true;
    return true;
}

bool edf_queue_before(struct edf_queue *queue, struct edf_group *group, size_t place)
{
    return (group == &queue->groups[EDF_COPROCS] || edf_queue_find_base(queue)) &&
           lay_before(queue, group, place);
}

bool edf_queue_sharpen(struct edf_queue *queue, const struct edf_group *group, size_t place)
{
    struct edf_group *cpus = &queue->groups[EDF_CPUS];

    if (group != cpus || place <= cpus->sharp || edf_shape_slots(&queue->shape) == 0)
        return true;
    if (!edf_queue_before(queue, cpus, place))
        return false;
    sharpen(queue, place);
    find_least(cpus, 0);
    return budget_spend(queue->budget, FIND_COST * cpus->count);
}

/* --- the listed jobs ------------------------------------------------------------------------- */

static bool init_group(struct edf_group *group, struct arena *arena, size_t room, size_t places)
{
    group->saved = ARENA_ARRAY(arena, room / places + 1, struct edf_saved);
    group->order = ARENA_ARRAY(arena, room, struct edf_entry *);
    group->baseline = ARENA_ARRAY(arena, room, struct edf_entry *);
    group->higher = ARENA_ARRAY(arena, room, double);
    group->spare = ARENA_ARRAY(arena, room, double);
    group->least_spare = ARENA_ARRAY(arena, room + 1, double);
    return group->saved != NULL && group->order != NULL && group->baseline != NULL &&
           group->higher != NULL && group->spare != NULL && group->least_spare != NULL;
}

bool edf_queue_init(struct edf_queue *queue, struct arena *arena, const struct edf_shape *shape,
                    const size_t listed[EDF_GROUPS], size_t chosen, struct budget *budget)
{
    struct edf_saved *first;
    size_t room = listed[EDF_COPROCS] + listed[EDF_CPUS] + chosen;

    *queue = (struct edf_queue){.arena = arena,
                                .budget = budget,
                                .taking = {.most = TAKING_MOST},
                                .shape = *shape,
                                .room = room,
                                .saved_room = SAVED_ROOM};
    budget_spend(budget, room * BEGIN_COST);
    queue->places = room / EDF_SAVED_MAX + 1 > PLACES_MIN ? room / EDF_SAVED_MAX + 1 : PLACES_MIN;
    queue->entries = ARENA_ARRAY(arena, room, struct edf_entry);
    if (queue->entries == NULL)
        return false;
    for (int g = 0; g < EDF_GROUPS; g++)
        if (!init_group(&queue->groups[g], arena, listed[g] + chosen, queue->places))
            return false;
    /* One job adds one segment at most; one is there, one more is asked about. */
    edf_load_init(&queue->work, room + 3);
    first = &queue->groups[EDF_COPROCS].saved[0];
    if (!make_room(queue, &first->profile, 1))
        return false;
    edf_profile_clear(&first->profile, shape);
    first->is_kept = true;
    return true;
}

void edf_queue_list(struct edf_queue *queue, const struct edf_entry *entry)
{
    struct edf_group *group = edf_queue_group(queue, &entry->need);
    struct edf_entry *listed = &queue->entries[queue->entry_count++];

    *listed = *entry;
    group->order[group->count] = group->baseline[group->count] = listed;
    group->count++;
}

bool edf_queue_begin(struct edf_queue *queue, double spare)
{
    for (int g = 0; g < EDF_GROUPS; g++) {
        struct edf_group *group = &queue->groups[g];
        const struct edf_entry *longest = NULL;

        if (!edf_queue_before(queue, group, group->count))
            return false;
        for (size_t i = 0; i < group->count; i++) {
            struct edf_entry *entry = group->order[i];

            entry->limit =
                isinf(entry->deadline) ? INFINITY : fmax(entry->deadline, entry->finish) + spare;
            entry->alone = entry->finish;
            if (longest == NULL || entry->need.wall_time > longest->need.wall_time)
                longest = entry;
            entry->longest = longest;
        }
        group->baseline_count = group->lowest = group->count;
    }
    return survey(queue);
}

bool edf_queue_reset(struct edf_queue *queue)
{
    for (int g = 0; g < EDF_GROUPS; g++) {
        struct edf_group *group = &queue->groups[g];

        group->known = lesser(group->known, group->lowest);
        group->count = group->lowest = group->baseline_count;
        if (group->count > 0)
            memcpy(group->order, group->baseline, group->count * sizeof(struct edf_entry *));
    }
    queue->entry_count = queue->groups[EDF_COPROCS].count + queue->groups[EDF_CPUS].count;
    queue->is_base_known = queue->is_surveyed = false;
    return survey(queue);
}

/* --- chosen jobs ----------------------------------------------------------------------------- */

bool edf_queue_note(struct edf_queue *queue, const struct edf_need *need)
{
    enum edf_change change = edf_shape_note(&queue->shape, need);

    if (change == EDF_LOADS)
        edf_queue_group(queue, need)->known = 0;
    if (change != EDF_SAME)
        queue->is_base_known = queue->is_surveyed = false;
    return queue->is_surveyed || survey(queue);
}

size_t edf_queue_place(const struct edf_group *group, double deadline)
{
    size_t low = 0, high = group->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (group->order[middle]->deadline <= deadline)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct edf_queue *queue, struct edf_group *group, const struct edf_entry *entry,
                   size_t place)
{
    struct edf_entry *taken = &queue->entries[queue->entry_count++];
    size_t behind = group->count++ - place;

    *taken = *entry;
    taken->alone = INFINITY;
    memmove(group->order + place + 1, group->order + place, behind * sizeof(struct edf_entry *));
    memmove(group->higher + place + 1, group->higher + place, behind * sizeof(double));
    memmove(group->spare + place + 1, group->spare + place, behind * sizeof(double));
    group->order[place] = taken;
    group->higher[place] = higher_at(queue, group, place, entry->need.type);
    group->spare[place] = spare_of(queue, taken, group->higher[place]);
    group->known = lesser(group->known, place);
    group->sharp = lesser(group->sharp, place);
    group->lowest = lesser(group->lowest, place);
}

bool edf_queue_take(struct edf_queue *queue, const struct edf_entry *entry, size_t place)
{
    struct edf_group *group = edf_queue_group(queue, &entry->need);
    double amount = edf_queue_amount(queue, &entry->need);
    uint64_t cost = TAKE_COST * (group->count - place) + FIND_COST * group->count;

    if (queue->entry_count >= queue->room ||
        (!budget_spend(queue->budget, cost) && !budget_spend(&queue->taking, cost)))
        return false;
    insert(queue, group, entry, place);
    for (size_t i = place + 1; i < group->count; i++) {
        if (entry->need.type != RESOURCE_CPU && group->order[i]->need.type != entry->need.type)
            continue;
        group->higher[i] += amount;
        group->spare[i] -= amount;
    }
    find_least(group, place);
    if (group == &queue->groups[EDF_COPROCS])
        queue->is_base_known = false;
    return true;
}
