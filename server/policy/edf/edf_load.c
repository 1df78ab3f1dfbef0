/* SPDX-License-Identifier: Apache-2.0 */
/* Laying jobs onto a load. A job runs in every segment where there is room for it, from the first
 * on, until its time is used up; so it adds at most one boundary, where it ends. Equal neighbours
 * are joined, which keeps the list about as long as the number of jobs running at once: in the
 * part of time that is full they all become one. A list of some hundred segments lies in the
 * fastest memory, and walking it costs less than keeping any tree of it. */
#include "server/policy/edf/edf_load.h"

#include "server/base/arena.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

/* What a job takes of one row, and how much of it must be free. */
struct demand {
    int64_t *free;
    int64_t takes, needs, least; /* least: that any such job needs */
};
/* Of a second row at most. */
struct demands {
    struct demand first, second;
    bool has_second;
};

bool edf_load_alloc(struct edf_load *load, struct arena *arena, size_t room, size_t rows)
{
    *load = (struct edf_load){.room = room, .rows = rows};
    load->starts = ARENA_ARRAY(arena, room, double);
    load->free = ARENA_ARRAY(arena, room * rows, int64_t);
    return load->starts != NULL && load->free != NULL;
}

void edf_load_clear(struct edf_load *load, const struct edf_shape *shape)
{
    load->count = 1;
    load->rows = shape->types;
    load->starts[0] = 0;
    load->free[0] = shape->cpus + EDF_UNIT;
    for (size_t type = 1; type < shape->types; type++)
        load->free[type * load->room] = shape->counts[type];
    memset(load->full_until, 0, sizeof(load->full_until));
}

static bool is_like_next(const struct edf_load *load, size_t at)
{
    for (const int64_t *row = load->free; row < load->free + load->rows * load->room;
         row += load->room)
        if (row[at] != row[at + 1])
            return false;
    return true;
}

void edf_load_begin_cpu_jobs(struct edf_load *load, const struct edf_load *coprocs,
                             const struct edf_shape *shape)
{
    size_t slots = (size_t)edf_shape_slots(shape);

    memset(load->full_until, 0, sizeof(load->full_until));
    load->count = 0;
    if (slots > 0) {
        load->rows = 0;
        while (load->count < slots && load->count < load->room)
            load->starts[load->count++] = 0; /* more slots than jobs are of no use */
        return;
    }
    load->rows = edf_shape_has_small(shape) ? 2 : 1;
    for (size_t i = 0; i < coprocs->count; i++) {
        int64_t parts = shape->cpus + EDF_UNIT - coprocs->free[i];
        int64_t free = edf_shape_cpus_beside(shape, parts);

        if (load->count > 0 && load->free[load->count - 1] == free)
            continue;
        load->starts[load->count] = coprocs->starts[i];
        if (load->rows > 1)
            load->free[load->room + load->count] = shape->cpus;
        load->free[load->count++] = free;
    }
}

/* The segment in which a moment is. */
static size_t segment_at(const struct edf_load *load, double time)
{
    size_t low = 0, high = load->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (load->starts[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void edf_load_copy(struct edf_load *load, const struct edf_load *from)
{
    bool is_for_all = from->full_until[RESOURCE_CPU] > 0; /* only CPU jobs are laid here */
    size_t first = is_for_all ? segment_at(from, from->full_until[RESOURCE_CPU]) : 0;

    load->count = from->count - first;
    load->rows = from->rows;
    memcpy(load->full_until, from->full_until, sizeof(load->full_until));
    memcpy(load->starts, from->starts + first, load->count * sizeof(double));
    for (size_t row = 0; row < from->rows; row++)
        memcpy(load->free + row * load->room, from->free + row * from->room + first,
               load->count * sizeof(int64_t));
}

bool edf_load_equal(const struct edf_load *one, const struct edf_load *other)
{
    if (one->count != other->count || one->rows != other->rows)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (one->starts[i] != other->starts[i])
            return false;
    for (size_t row = 0; row < one->rows; row++)
        if (memcmp(one->free + row * one->room, other->free + row * other->room,
                   one->count * sizeof(int64_t)) != 0)
            return false;
    return true;
}

/* From one segment's start to the next's. */
static double kept_in(const struct edf_load *base, const struct edf_shape *shape, size_t at,
                      double length)
{
    return (double)(edf_shape_cpus_beside(shape, 0) - base->free[at]) * length;
}

double edf_load_kept_away(const struct edf_load *base, const struct edf_shape *shape, double time,
                          struct edf_cursor *cursor)
{
    const double *starts = base->starts;

    if (time <= 0 || base->rows == 0)
        return 0;
    while (cursor->at + 1 < base->count && starts[cursor->at + 1] <= time) {
        cursor->sum +=
            kept_in(base, shape, cursor->at, starts[cursor->at + 1] - starts[cursor->at]);
        cursor->at++;
    }
    while (starts[cursor->at] > time) {
        cursor->at--;
        cursor->sum -=
            kept_in(base, shape, cursor->at, starts[cursor->at + 1] - starts[cursor->at]);
    }
    return cursor->sum + kept_in(base, shape, cursor->at, time - starts[cursor->at]);
}

double edf_load_kept_away_more(const struct edf_load *base, const struct edf_load *other)
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

static struct demands demands_of(struct edf_load *load, const struct edf_shape *shape,
                                 const struct edf_need *need)
{
    struct demand cpus = {.free = load->free,
                          .takes = need->cpus,
                          .needs = need->cpus,
                          .least = shape->cpus_taken[need->type].least};
    struct demands demands = {.first = cpus, .second = cpus};

    if (need->type > 0) {
        demands.has_second = true;
        demands.second = (struct demand){.free = load->free + need->type * load->room,
                                         .takes = need->count,
                                         .needs = need->count,
                                         .least = shape->counts_taken[need->type].least};
    } else if (load->rows > 1) { /* any CPU that is not in use will do */
        demands.has_second = true;
        demands.second = (struct demand){
            .free = load->free + load->room, .takes = need->cpus, .needs = 1, .least = 1};
    }
    return demands;
}

static bool has_room(const struct demands *demands, size_t at)
{
    return demands->first.free[at] >= demands->first.needs &&
           demands->second.free[at] >= demands->second.needs;
}

static bool is_full(const struct demands *demands, size_t at)
{
    return demands->first.free[at] < demands->first.least ||
           demands->second.free[at] < demands->second.least;
}

/* Takes what is demanded `times` times: once, or less than nothing to give it back. */
static void take(const struct demands *demands, size_t from, size_t to, int64_t times)
{
    int64_t first = demands->first.takes * times, second = demands->second.takes * times;

    for (size_t i = from; i < to; i++)
        demands->first.free[i] -= first;
    for (size_t i = from; i < to && demands->has_second; i++)
        demands->second.free[i] -= second;
}

static void move(struct edf_load *load, size_t from, size_t to, size_t count)
{
    memmove(load->starts + to, load->starts + from, count * sizeof(double));
    for (size_t row = 0; row < load->rows; row++) {
        int64_t *free = load->free + row * load->room;
        memmove(free + to, free + from, count * sizeof(int64_t));
    }
}

static void drop(struct edf_load *load, size_t at)
{
    load->count--;
    move(load, at + 1, at, load->count - at);
}

/* Lays a job onto the segments from `from` to before `to`, where it ends or stops at `end`: in the
 * last of them, of which the rest stays as it was, or when that ends. Joins those at both ends with
 * neighbours that are like them now. Returns the segment that follows. */
static size_t occupy(struct edf_load *load, const struct demands *demands, size_t from, size_t to,
                     double end)
{
    bool divides = to == load->count || load->starts[to] > end, joins;

    take(demands, from, to, 1);
    joins = from > 0 && is_like_next(load, from - 1);
    if (divides) {
        if (joins) { /* the first one makes place for the rest of the last */
            move(load, from + 1, from, to - from - 1);
        } else {
            move(load, to - 1, to, load->count - to + 1);
            load->count++;
            to++;
        }
        load->starts[to - 1] = end;
        take(demands, to - 1, to, -1);
        return to - 1;
    }
    if (is_like_next(load, to - 1))
        drop(load, to);
    if (joins)
        drop(load, from);
    return to - joins;
}

/* The first slot is free again when the job is done. */
static double take_slot(struct edf_load *load, double wall_time)
{
    double end = load->starts[0] + wall_time;
    size_t at = segment_at(load, end);

    memmove(load->starts, load->starts + 1, at * sizeof(double));
    load->starts[at] = end;
    return end;
}

double edf_load_add(struct edf_load *load, const struct edf_shape *shape,
                    const struct edf_need *need, uint64_t *steps)
{
    struct demands demands;
    double left = need->wall_time, end;
    size_t first, at, stop;

    ++*steps;
    if (left <= 0)
        return 0; /* nothing left to do is done */
    if (load->rows == 0)
        return take_slot(load, left);
    demands = demands_of(load, shape, need);
    first = at = segment_at(load, load->full_until[need->type]);
    for (;;) {
        size_t begin = at;

        /* The last segment has room for every job, and lasts for ever. */
        while (!has_room(&demands, at))
            at++;
        end = load->starts[at] + left;
        stop = at + 1;
        while (stop < load->count && load->starts[stop] < end && has_room(&demands, stop))
            stop++;
        *steps += stop - begin;
        if (stop == load->count || load->starts[stop] >= end)
            break;
        left -= load->starts[stop] - load->starts[at];
        at = occupy(load, &demands, at, stop, load->starts[stop]);
    }
    (void)occupy(load, &demands, at, stop, end);
    while (is_full(&demands, first))
        first++;
    load->full_until[need->type] = load->starts[first];
    return end;
}
