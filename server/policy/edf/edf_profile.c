/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of segments, each written once from front to end and then only read. */
#include "server/policy/edf/edf_profile.h"

#include "server/base/arena.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

bool edf_profile_alloc(struct edf_profile *profile, struct arena *arena, size_t room, size_t rows)
{
    *profile = (struct edf_profile){.room = room, .rows = rows};
    profile->starts = ARENA_ARRAY(arena, room, double);
    profile->free = ARENA_ARRAY(arena, room * rows, int64_t);
    return profile->starts != NULL && profile->free != NULL;
}

void edf_profile_clear(struct edf_profile *profile, const struct edf_shape *shape)
{
    profile->count = 1;
    profile->rows = shape->types;
    profile->starts[0] = 0;
    profile->free[0] = shape->cpus + EDF_UNIT;
    for (size_t type = 1; type < shape->types; type++)
        profile->free[type * profile->room] = shape->counts[type];
    profile->memory = shape->memory > 0 ? profile->rows++ : 0;
    if (profile->memory > 0)
        profile->free[profile->memory * profile->room] = shape->memory;
}

/* The free memory, by segment; NULL: it does not matter. */
static int64_t *memory_of(const struct edf_profile *profile)
{
    return profile->memory > 0 ? profile->free + profile->memory * profile->room : NULL;
}

void edf_profile_turn_to_cpus(struct edf_profile *profile, const struct edf_shape *shape)
{
    int64_t *memory = memory_of(profile);
    size_t kept = 0;

    if (edf_shape_slots(shape) > 0) {
        profile->rows = profile->count = profile->memory = 0;
        return;
    }
    for (size_t i = 0; i < profile->count; i++) {
        int64_t parts = shape->cpus + EDF_UNIT - profile->free[i];
        int64_t free = edf_shape_cpus_beside(shape, parts);

        if (kept > 0 && profile->free[kept - 1] == free &&
            (memory == NULL || memory[kept - 1] == memory[i]))
            continue;
        profile->starts[kept] = profile->starts[i];
        if (memory != NULL)
            memory[kept] = memory[i];
        profile->free[kept++] = free;
    }
    profile->count = kept;
    profile->rows = kept > 1 && edf_shape_has_small(shape) ? 2 : 1;
    profile->memory = memory != NULL ? profile->rows++ : 0;
    if (memory != NULL)
        memmove(memory_of(profile), memory, kept * sizeof(memory[0]));
    for (size_t i = 0; i < kept && profile->rows - (memory != NULL) > 1; i++)
        profile->free[profile->room + i] = shape->cpus;
}

bool edf_profile_equal(const struct edf_profile *one, const struct edf_profile *other)
{
    const int64_t *memory = memory_of(one), *other_memory = memory_of(other);

    if (one->count != other->count || one->rows != other->rows || one->memory != other->memory)
        return false;
    for (size_t i = 0; i < one->count && one->rows > 0; i++)
        if (one->starts[i] != other->starts[i] || one->free[i] != other->free[i])
            return false;
    return memory == NULL || memcmp(memory, other_memory, one->count * sizeof(memory[0])) == 0;
}

double edf_profile_kept_away_more(const struct edf_profile *base, const struct edf_profile *other)
{
    double sum = 0, most = 0, time = 0;

    if (base->rows == 0 || other->rows == 0)
        return 0; /* nothing is kept away */
    for (size_t i = 0, j = 0; i + 1 < base->count || j + 1 < other->count;) {
        double next_i = i + 1 < base->count ? base->starts[i + 1] : INFINITY;
        double next_j = j + 1 < other->count ? other->starts[j + 1] : INFINITY;
        double next = fmin(next_i, next_j);

        sum += (double)(base->free[i] - other->free[j]) * (next - time);
        most = fmax(most, sum);
        time = next;
        i += next_i <= next;
        j += next_j <= next;
    }
    return most;
}

bool edf_kept_begin(struct edf_kept *kept, struct arena *arena, const struct edf_profile *base,
                    const struct edf_shape *shape)
{
    double sum = 0;

    kept->base = base;
    kept->all = edf_shape_cpus_beside(shape, 0);
    kept->at = 0;
    if (kept->room < base->count) {
        kept->room = base->count + base->count / 2 + 1;
        kept->before = ARENA_ARRAY(arena, kept->room, double);
    }
    if (kept->before == NULL && base->count > 0)
        return false;
    for (size_t i = 0; i < base->count && base->rows > 0; i++) {
        kept->before[i] = sum;
        if (i + 1 < base->count)
            sum += (double)(kept->all - base->free[i]) * (base->starts[i + 1] - base->starts[i]);
    }
    return true;
}

static bool is_in(const struct edf_profile *base, size_t at, double time)
{
    return base->starts[at] <= time && (at + 1 == base->count || base->starts[at + 1] > time);
}

static size_t segment_at(const struct edf_profile *base, double time)
{
    size_t low = 0, high = base->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (base->starts[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double edf_kept_until(struct edf_kept *kept, double time)
{
    const struct edf_profile *base = kept->base;

    if (time <= 0 || base->rows == 0)
        return 0;
    if (!is_in(base, kept->at, time))
        kept->at = segment_at(base, time);
    return kept->before[kept->at] +
           (double)(kept->all - base->free[kept->at]) * (time - base->starts[kept->at]);
}
