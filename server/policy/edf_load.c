/* SPDX-License-Identifier: Apache-2.0 */
/* Laying jobs onto a load. A job runs in every segment where there is room for it, from the first
 * on, until its time is used up; so it adds at most one boundary, where it ends. Equal neighbours
 * are joined on the way, which keeps the list about as long as the number of jobs running at once:
 * in the part of time that is full they all become one. */
#include "server/policy/edf_load.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

bool edf_need_is_plain(const struct edf_need *need)
{
    return need->type == 0 && need->cpus == EDF_UNIT;
}

void edf_load_clear(struct edf_load *load, const struct edf_capacity *capacity)
{
    load->count = load->is_plain ? (size_t)(capacity->cpus / EDF_UNIT) : 1;
    if (load->is_plain) {
        for (size_t i = 0; i < load->count; i++)
            load->free_at[i] = 0;
        return;
    }
    load->segments[0] = (struct edf_segment){0};
    memset(load->full_until, 0, sizeof(load->full_until));
    for (size_t i = 0; i < load->types; i++)
        load->used[i] = 0;
}

void edf_load_copy(struct edf_load *load, const struct edf_load *from)
{
    load->is_plain = from->is_plain;
    load->count = from->count;
    load->types = from->types;
    if (from->is_plain) {
        memcpy(load->free_at, from->free_at, from->count * sizeof(double));
        return;
    }
    memcpy(load->full_until, from->full_until, sizeof(load->full_until));
    memcpy(load->segments, from->segments, from->count * sizeof(load->segments[0]));
    if (from->types > 0)
        memcpy(load->used, from->used, from->count * from->types * sizeof(int64_t));
}

/* The CPU that is free first gets the job. Since all jobs are there from the beginning, nothing is
 * ever interrupted: a CPU job of one CPU runs on to its end. */
static double add_plain(struct edf_load *load, double wall_time, uint64_t *steps)
{
    double finish = load->free_at[0] + wall_time;
    size_t at = 0;

    for (size_t child = 1; child < load->count; child = 2 * at + 1) {
        if (child + 1 < load->count && load->free_at[child + 1] < load->free_at[child])
            child++;
        if (finish <= load->free_at[child])
            break;
        load->free_at[at] = load->free_at[child];
        at = child;
        ++*steps;
    }
    load->free_at[at] = finish;
    return finish;
}

static bool has_room(const struct edf_capacity *capacity, const struct edf_segment *segment,
                     const int64_t *used, const struct edf_need *need)
{
    int64_t most = capacity->cpus + EDF_UNIT;

    if (need->type > 0)
        return used[need->type - 1] + need->count <= capacity->counts[need->type - 1] &&
               segment->coproc_cpus + need->cpus <= most;
    return segment->cpu_jobs < capacity->cpus && segment->cpu_jobs + need->cpus < most &&
           segment->coproc_cpus + segment->cpu_jobs + need->cpus <= most;
}

/* Appends a segment at *at unless it is like the one before. */
static void put(struct edf_load *load, size_t *at, const struct edf_segment *segment,
                const int64_t *used)
{
    size_t row = load->types * sizeof(int64_t);

    if (*at > 0) {
        const struct edf_segment *before = &load->segments[*at - 1];
        if (before->coproc_cpus == segment->coproc_cpus && before->cpu_jobs == segment->cpu_jobs &&
            (row == 0 || memcmp(load->used + (*at - 1) * load->types, used, row) == 0))
            return;
    }
    load->segments[*at] = *segment;
    if (row > 0 && load->used + *at * load->types != used)
        memcpy(load->used + *at * load->types, used, row);
    ++*at;
}

/* Moves the segments from `from` on to `at`, to the end of the list. */
static void move_tail(struct edf_load *load, size_t at, size_t from)
{
    size_t tail = load->count - from;

    if (at != from) {
        memmove(load->segments + at, load->segments + from, tail * sizeof(load->segments[0]));
        if (load->types > 0)
            memmove(load->used + at * load->types, load->used + from * load->types,
                    tail * load->types * sizeof(int64_t));
    }
    load->count = at + tail;
}

static void occupy(struct edf_segment *segment, int64_t *used, const struct edf_need *need)
{
    if (need->type == 0) {
        segment->cpu_jobs += need->cpus;
        return;
    }
    segment->coproc_cpus += need->cpus;
    used[need->type - 1] += need->count;
}

/* The segment in which a moment is. */
static size_t segment_at(const struct edf_load *load, double time)
{
    size_t low = 0, high = load->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (load->segments[middle].start <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void read_used(const struct edf_load *load, size_t at, int64_t *ret_used)
{
    if (load->types > 0)
        memcpy(ret_used, load->used + at * load->types, load->types * sizeof(int64_t));
}

/* Lays the rest of a job, `left`, that ends within segment i, whose new list has got to `at`. */
static double end_inside(struct edf_load *load, const struct edf_need *need, size_t i, size_t at,
                         double left)
{
    struct edf_segment segment = load->segments[i], rest = segment;
    int64_t used[RESOURCES_MAX], rest_used[RESOURCES_MAX];

    read_used(load, i, used);
    read_used(load, i, rest_used);
    occupy(&segment, used, need);
    rest.start = segment.start + left;
    move_tail(load, i + 2, i + 1); /* one becomes two */
    put(load, &at, &segment, used);
    put(load, &at, &rest, rest_used);
    move_tail(load, at, i + 2);
    return rest.start;
}

double edf_load_add(struct edf_load *load, const struct edf_capacity *capacity,
                    const struct edf_need *need, uint64_t *steps)
{
    const struct edf_need least = {.type = need->type,
                                   .cpus = capacity->least_cpus[need->type],
                                   .count = capacity->least_count[need->type]};
    double left = need->wall_time;
    int64_t used[RESOURCES_MAX];
    bool is_full = true; /* so far */
    size_t at;           /* where the next segment is written, never beyond where it is read */

    ++*steps;
    if (left <= 0)
        return 0; /* nothing left to do is done */
    if (load->is_plain)
        return add_plain(load, left, steps);
    at = segment_at(load, load->full_until[need->type]);
    for (size_t i = at; i < load->count; i++) {
        struct edf_segment segment = load->segments[i];
        double end = i + 1 < load->count ? load->segments[i + 1].start : INFINITY;
        bool has = false;

        ++*steps;
        read_used(load, i, used);
        if (has_room(capacity, &segment, used, need)) {
            if (end - segment.start > left)
                return end_inside(load, need, i, at, left);
            occupy(&segment, used, need);
            left -= end - segment.start;
            has = true;
        }
        is_full = is_full && !has_room(capacity, &segment, used, &least);
        if (is_full)
            load->full_until[need->type] = end;
        put(load, &at, &segment, used);
        if (has && left <= 0) { /* what follows may now be like this one */
            segment = load->segments[i + 1];
            read_used(load, i + 1, used);
            put(load, &at, &segment, used);
            move_tail(load, at, i + 2);
            return end;
        }
    }
    return INFINITY; /* not reached: the last segment is empty and has room for every job */
}

/* How many whole CPUs the coprocessor jobs leave to the others. */
static int64_t whole_left(const struct edf_segment *segment, const struct edf_capacity *capacity)
{
    int64_t left = (capacity->cpus + EDF_UNIT - segment->coproc_cpus) / EDF_UNIT;

    return left * EDF_UNIT > capacity->cpus ? capacity->cpus / EDF_UNIT : left;
}

bool edf_load_leaves_all(const struct edf_load *load, const struct edf_capacity *capacity)
{
    for (size_t i = 0; i < load->count; i++)
        if (whole_left(&load->segments[i], capacity) != capacity->cpus / EDF_UNIT)
            return false;
    return true;
}

bool edf_load_leaves_same(const struct edf_load *one, const struct edf_load *other,
                          const struct edf_capacity *capacity)
{
    size_t i = 0, j = 0;

    for (;;) {
        double next_i = i + 1 < one->count ? one->segments[i + 1].start : INFINITY;
        double next_j = j + 1 < other->count ? other->segments[j + 1].start : INFINITY;

        if (whole_left(&one->segments[i], capacity) != whole_left(&other->segments[j], capacity))
            return false;
        if (isinf(next_i) && isinf(next_j))
            return true;
        i += next_i <= next_j;
        j += next_j <= next_i;
    }
}
