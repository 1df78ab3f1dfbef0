/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of running side by side, as numbers (a unit is one CPU):
 *
 *   coprocessor job: its coprocessors are free, and all parts together are at most CPUs + 1;
 *   CPU job: CPU jobs take less than the CPUs before it, less than CPUs + 1 with it, and with the
 *   parts of the coprocessor jobs at most CPUs + 1.
 *
 * CPU jobs take multiples of the grain, so what they may take in all is rounded down to one. All
 * jobs besides: the memory of those that run is at most what jobs may use. */
#include "server/policy/edf/edf_shape.h"

#include <math.h>

#include "server/base/banned.h"

static int64_t common_divisor(int64_t one, int64_t other)
{
    while (other != 0) {
        int64_t rest = one % other;
        one = other;
        other = rest;
    }
    return one;
}

static int64_t round_down(int64_t value, int64_t grain)
{
    return grain > 0 ? value - value % grain : value;
}

static int64_t less(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static enum edf_change note(struct edf_range *range, int64_t amount)
{
    struct edf_range old = *range;

    if (!old.is_known) {
        *range = (struct edf_range){true, amount, amount, amount};
        return EDF_LOADS;
    }
    range->least = less(old.least, amount);
    range->most = amount > old.most ? amount : old.most;
    range->grain = common_divisor(old.grain, amount);
    if (range->least != old.least || range->grain != old.grain)
        return EDF_LOADS;
    return range->most != old.most ? EDF_BOUNDS : EDF_SAME;
}

static enum edf_change note_memory(struct edf_shape *shape, const struct edf_need *need)
{
    if (shape->memory == 0)
        return EDF_SAME;
    return note(need->type == RESOURCE_CPU ? &shape->memory_taken : &shape->memory_of_coprocs,
                need->memory);
}

enum edf_change edf_shape_note(struct edf_shape *shape, const struct edf_need *need)
{
    enum edf_change cpus = note(&shape->cpus_taken[need->type], need->cpus);
    enum edf_change counts =
        need->type == RESOURCE_CPU ? EDF_SAME : note(&shape->counts_taken[need->type], need->count);
    enum edf_change memory = note_memory(shape, need);

    counts = counts > memory ? counts : memory;
    return cpus > counts ? cpus : counts;
}

int64_t edf_shape_cpus_beside(const struct edf_shape *shape, int64_t parts)
{
    int64_t most = shape->cpus + EDF_UNIT - (parts > 0 ? parts : 1);

    return round_down(most > 0 ? most : 0, shape->cpus_taken[RESOURCE_CPU].grain);
}

int64_t edf_shape_floor(const struct edf_shape *shape)
{
    return edf_shape_cpus_beside(shape, 0) - shape->cpus + 1;
}

bool edf_shape_has_small(const struct edf_shape *shape)
{
    const struct edf_range *taken = &shape->cpus_taken[RESOURCE_CPU];

    return taken->is_known && taken->least < EDF_UNIT;
}

bool edf_shape_is_even(const struct edf_shape *shape)
{
    const struct edf_range *taken = &shape->cpus_taken[RESOURCE_CPU];

    return taken->is_known && taken->least == taken->most && taken->least > 0 &&
           shape->memory_taken.least == shape->memory_taken.most;
}

/* What the parts of all coprocessor jobs that may run at a time come to. */
static double parts_most(const struct edf_shape *shape)
{
    double most = 0;

    for (size_t type = 1; type < shape->types; type++) {
        const struct edf_range *count = &shape->counts_taken[type];
        const struct edf_range *part = &shape->cpus_taken[type];
        int64_t at_once;

        if (!count->is_known || part->most == 0)
            continue;
        if (count->least == 0)
            return INFINITY;
        at_once = shape->counts[type] / count->least;
        most += (double)at_once * (double)part->most;
    }
    return most;
}

int64_t edf_shape_level(const struct edf_shape *shape, const struct edf_need *need)
{
    int64_t have = shape->counts[need->type], takes = need->count;
    int64_t grain = shape->counts_taken[need->type].grain;

    if (shape->memory_of_coprocs.most > 0)
        return 0; /* what waits for memory may wait for any of them */
    if (need->type == RESOURCE_CPU) {
        have = edf_shape_cpus_beside(shape, 0);
        takes = need->cpus;
        grain = shape->cpus_taken[RESOURCE_CPU].grain;
        return less(shape->cpus, have - takes + grain);
    }
    if (parts_most(shape) > (double)(shape->cpus + EDF_UNIT))
        return 0; /* jobs of other coprocessors may keep it waiting */
    return round_down(have, grain) - takes + grain;
}

double edf_shape_memory_weight(const struct edf_shape *shape)
{
    const struct edf_range *cpus = &shape->cpus_taken[RESOURCE_CPU];
    const struct edf_range *memory = &shape->memory_taken;
    struct edf_need least = {.cpus = cpus->least};
    int64_t at_once = cpus->least > 0 ? edf_shape_cpus_beside(shape, 0) / cpus->least : 0;

    if (memory->most == 0 ||
        (cpus->least > 0 && (double)at_once * (double)memory->most <= (double)shape->memory))
        return 0; /* as many as can run have it */
    return (double)edf_shape_level(shape, &least) /
           (double)(round_down(shape->memory, memory->grain) - memory->most + memory->grain);
}

int64_t edf_shape_burden(const struct edf_shape *shape)
{
    double most = fmin(parts_most(shape), (double)(shape->cpus + EDF_UNIT));
    int64_t burden = edf_shape_cpus_beside(shape, 0) - edf_shape_cpus_beside(shape, (int64_t)most);

    return burden == 0 && shape->memory_of_coprocs.most > 0 ? 1 : burden;
}

int64_t edf_shape_slots(const struct edf_shape *shape)
{
    int64_t takes = shape->cpus_taken[RESOURCE_CPU].least, memory = shape->memory_taken.most;
    int64_t slots;

    if (!edf_shape_is_even(shape) || edf_shape_burden(shape) > 0)
        return 0;
    /* The last one begins while some of the CPUs is left. */
    slots = less(edf_shape_cpus_beside(shape, 0) / takes, (shape->cpus + takes - 1) / takes);
    return memory > 0 ? less(slots, shape->memory / memory) : slots;
}
