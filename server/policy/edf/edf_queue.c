/* SPDX-License-Identifier: Apache-2.0 */
/* Two ways to know that a job is in time. Exactly: laying all jobs before it, and it. Loads are
 * kept for every so many places, so that laying begins near the place in question; what a new job
 * makes untrue is laid again only when it is asked for.
 *
 * Or by a bound, in no time: while a job waits, those before it take nearly everything (the level),
 * so it waits at most for what they take in all, divided by the level. Hence
 *
 *     level * (limit - wall time) - what those before it take - what coprocessor jobs keep away
 *
 * is what may be added before it (its spare), whatever the arrangement. Where all CPU jobs take
 * the same and coprocessor jobs keep nothing away, a new job makes no other later by more than
 * its own length; then limit - finish is a bound too, and mostly a better one. */
#include "server/policy/edf/edf_queue.h"

#include "server/base/arena.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define ROUNDING 1e-9 /* of amounts, relative: far more than sums of doubles are wrong by */

enum { PLACES_MIN = 8 };

/* --- bounds ---------------------------------------------------------------------------------- */

struct edf_group *edf_queue_group(struct edf_queue *queue, const struct edf_need *need)
{
    return &queue->groups[need->type == RESOURCE_CPU ? EDF_CPUS : EDF_COPROCS];
}

double edf_queue_amount(const struct edf_need *need)
{
    return (double)(need->type == RESOURCE_CPU ? need->cpus : need->count) * need->wall_time;
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
        kept_away = edf_load_kept_away(&queue->groups[EDF_CPUS].saved[0], &queue->shape,
                                       entry->limit, &queue->cursor);
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
            fmax(cpus->spare[i], (entry->limit - entry->finish) * (double)entry->need.cpus);
        cpus->sharp = i + 1;
    }
}

/* All bounds anew. */
static bool survey(struct edf_queue *queue)
{
    if (!edf_queue_find_base(queue))
        return false;
    for (int g = 0; g < EDF_GROUPS; g++) {
        struct edf_group *group = &queue->groups[g];
        double sums[RESOURCES_MAX] = {0};

        for (size_t i = 0; i < group->count; i++) {
            struct edf_entry *entry = group->order[i];
            double *sum = &sums[entry->need.type];

            group->higher[i] = *sum;
            *sum += edf_queue_amount(&entry->need);
            group->spare[i] = spare_of(queue, entry, group->higher[i]);
        }
        group->sharp = 0;
        if (g == EDF_CPUS)
            sharpen(queue, group->known);
        find_least(group, 0);
    }
    return true;
}

/* What jobs of its type before a place take. */
static double higher_at(const struct edf_group *group, size_t place, size_t type)
{
    while (place-- > 0) {
        const struct edf_need *need = &group->order[place]->need;
        if (need->type == type)
            return group->higher[place] + edf_queue_amount(need);
    }
    return 0;
}

double edf_queue_spare(struct edf_queue *queue, const struct edf_entry *entry, size_t place)
{
    const struct edf_group *group = edf_queue_group(queue, &entry->need);

    return spare_of(queue, entry, higher_at(group, place, entry->need.type));
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

static bool save(struct edf_queue *queue, struct edf_group *group, size_t index)
{
    struct edf_load *saved = &group->saved[index];
    size_t rows = group == &queue->groups[EDF_CPUS] ? 2 : queue->shape.types;

    if (saved->room < queue->work.count &&
        !edf_load_alloc(saved, queue->arena, queue->work.count + queue->work.count / 2 + 8, rows))
        return false;
    edf_load_copy(saved, &queue->work);
    return true;
}

double edf_queue_lay(struct edf_queue *queue, const struct edf_need *need)
{
    return edf_load_add(&queue->work, &queue->shape, need, &queue->steps);
}

static bool lay_before(struct edf_queue *queue, struct edf_group *group, size_t place)
{
    size_t from = lesser(place, group->known) / queue->places;

    edf_load_copy(&queue->work, &group->saved[from]);
    for (size_t i = from * queue->places; i < place; i++) {
        double finish = edf_queue_lay(queue, &group->order[i]->need);

        if (i < group->known)
            continue;
        group->order[i]->finish = finish;
        group->known = i + 1;
        if (group->known % queue->places == 0 && !save(queue, group, group->known / queue->places))
            return false;
        if (queue->steps > queue->steps_max)
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

bool edf_queue_find_base(struct edf_queue *queue)
{
    struct edf_group *coprocs = &queue->groups[EDF_COPROCS], *cpus = &queue->groups[EDF_CPUS];
    double more;

    if (queue->is_base_known)
        return true;
    if (edf_shape_burden(&queue->shape) == 0)
        edf_load_clear(&queue->work, &queue->shape); /* whatever they do */
    else if (!lay_before(queue, coprocs, coprocs->count))
        return false;
    edf_load_begin_cpu_jobs(&queue->base, &queue->work, &queue->shape);
    queue->is_base_known = true;
    if (cpus->saved[0].room > 0 && edf_load_equal(&queue->base, &cpus->saved[0]))
        return true;
    more = cpus->saved[0].room > 0 ? edf_load_kept_away_more(&cpus->saved[0], &queue->base) : 0;
    if (more > 0)
        lessen(cpus, more);
    cpus->known = 0;
    queue->cursor = (struct edf_cursor){0};
    edf_load_copy(&queue->work, &queue->base);
    return save(queue, cpus, 0);
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
    return true;
}

/* --- the listed jobs ------------------------------------------------------------------------- */

bool edf_queue_init(struct edf_queue *queue, struct arena *arena, const struct edf_shape *shape,
                    size_t room, uint64_t steps_max)
{
    size_t rows = shape->types > 2 ? shape->types : 2;

    *queue =
        (struct edf_queue){.arena = arena, .shape = *shape, .room = room, .steps_max = steps_max};
    queue->places = room / EDF_SAVED_MAX + 1 > PLACES_MIN ? room / EDF_SAVED_MAX + 1 : PLACES_MIN;
    queue->listed = ARENA_ARRAY(arena, room, struct edf_entry);
    queue->entries = ARENA_ARRAY(arena, room, struct edf_entry);
    if (queue->listed == NULL || queue->entries == NULL)
        return false;
    for (int g = 0; g < EDF_GROUPS; g++) {
        struct edf_group *group = &queue->groups[g];
        group->order = ARENA_ARRAY(arena, room, struct edf_entry *);
        group->baseline = ARENA_ARRAY(arena, room, struct edf_entry *);
        group->higher = ARENA_ARRAY(arena, room, double);
        group->spare = ARENA_ARRAY(arena, room, double);
        group->least_spare = ARENA_ARRAY(arena, room + 1, double);
        if (group->order == NULL || group->baseline == NULL || group->higher == NULL ||
            group->spare == NULL || group->least_spare == NULL)
            return false;
    }
    /* One job adds one segment at most; one is there, one more joins them in the end. */
    if (!edf_load_alloc(&queue->work, arena, room + 3, rows) ||
        !edf_load_alloc(&queue->base, arena, room + 3, rows))
        return false;
    edf_load_clear(&queue->work, shape);
    return save(queue, &queue->groups[EDF_COPROCS], 0);
}

void edf_queue_list(struct edf_queue *queue, const struct edf_entry *entry)
{
    struct edf_group *group = edf_queue_group(queue, &entry->need);

    (void)edf_shape_note(&queue->shape, &entry->need);
    queue->listed[queue->entry_count] = *entry;
    group->order[group->count++] = &queue->listed[queue->entry_count++];
}

/* By deadline; a merge, for listing order decides between equals. */
static void sort(struct edf_entry **order, struct edf_entry **other, size_t count)
{
    size_t half = count / 2, i = 0, j = half;

    if (count < 2)
        return;
    sort(order, other, half);
    sort(order + half, other, count - half);
    memcpy(other, order, half * sizeof(struct edf_entry *));
    for (size_t at = 0; i < half; at++)
        order[at] =
            j >= count || other[i]->deadline <= order[j]->deadline ? other[i++] : order[j++];
}

bool edf_queue_begin(struct edf_queue *queue, double spare)
{
    queue->entry_count = 0;
    for (int g = 0; g < EDF_GROUPS; g++) {
        struct edf_group *group = &queue->groups[g];
        const struct edf_entry *longest = NULL;

        sort(group->order, group->baseline, group->count);
        for (size_t i = 0; i < group->count; i++) { /* one after the other in memory too */
            struct edf_entry *entry = &queue->entries[queue->entry_count++];
            *entry = *group->order[i];
            group->order[i] = group->baseline[i] = entry;
        }
        if (!edf_queue_before(queue, group, group->count))
            return false;
        for (size_t i = 0; i < group->count; i++) {
            struct edf_entry *entry = group->order[i];

            entry->limit = fmax(entry->deadline, entry->finish) + spare;
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
    queue->is_base_known = false;
    return survey(queue);
}

/* --- chosen jobs ----------------------------------------------------------------------------- */

bool edf_queue_note(struct edf_queue *queue, const struct edf_need *need)
{
    enum edf_change change = edf_shape_note(&queue->shape, need);

    if (change == EDF_SAME)
        return true;
    if (change == EDF_LOADS)
        edf_queue_group(queue, need)->known = 0;
    queue->is_base_known = false;
    return survey(queue);
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
    group->higher[place] = higher_at(group, place, entry->need.type);
    group->spare[place] = spare_of(queue, taken, group->higher[place]);
    group->known = lesser(group->known, place);
    group->sharp = lesser(group->sharp, place);
    group->lowest = lesser(group->lowest, place);
}

bool edf_queue_take(struct edf_queue *queue, const struct edf_entry *entry, size_t place)
{
    struct edf_group *group = edf_queue_group(queue, &entry->need);
    double amount = edf_queue_amount(&entry->need);

    if (queue->entry_count >= queue->room)
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
