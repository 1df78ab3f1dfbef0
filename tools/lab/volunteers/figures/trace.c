/* SPDX-License-Identifier: Apache-2.0 */
/* Adjacent segments of one project on one processor are joined: a picture shows projects, not jobs,
 * and so a month of short jobs stays small. */
#include "tools/lab/volunteers/figures/trace.h"

#include "server/base/buffer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { SEGMENTS_FIRST = 256 };

void trace_init(struct trace *trace, const size_t *instances, size_t resource_count)
{
    *trace = (struct trace){.slot_count = 0};
    for (size_t r = 0; r < resource_count && r < CLIENT_RESOURCES; r++)
        for (size_t i = 0; i < instances[r] && trace->slot_count < TRACE_SLOTS_MAX; i++)
            trace->slots[trace->slot_count++] =
                (struct trace_slot){.resource = r, .number = i, .last = SIZE_MAX};
}

void trace_free(struct trace *trace)
{
    free(trace->segments);
    trace->segments = NULL;
    trace->count = trace->capacity = 0;
}

static bool make_room(struct trace *trace)
{
    size_t capacity = trace->capacity > 0 ? trace->capacity * 2 : SEGMENTS_FIRST;
    struct trace_segment *larger;

    if (trace->count >= TRACE_SEGMENTS_MAX)
        return false;
    if (trace->count < trace->capacity)
        return true;
    larger = realloc(trace->segments, capacity * sizeof(*larger));
    if (larger == NULL)
        return false;
    trace->segments = larger;
    trace->capacity = capacity;
    return true;
}

static void extend(struct trace *trace, size_t which, size_t project, double begin, double end)
{
    struct trace_slot *slot = &trace->slots[which];

    if (slot->last != SIZE_MAX && trace->segments[slot->last].project == project &&
        trace->segments[slot->last].end >= begin) {
        trace->segments[slot->last].end = end;
        return;
    }
    if (!make_room(trace)) {
        trace->overflowed = true;
        return;
    }
    slot->last = trace->count;
    trace->segments[trace->count++] =
        (struct trace_segment){.slot = which, .project = project, .begin = begin, .end = end};
}

static bool has_place(const struct trace *trace, uint64_t id, size_t resource)
{
    for (size_t i = 0; i < trace->slot_count; i++)
        if (trace->slots[i].resource == resource && trace->slots[i].busy &&
            trace->slots[i].job == id)
            return true;
    return false;
}

static bool runs(uint64_t id, const struct trace_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (jobs[i].id == id)
            return true;
    return false;
}

/* The job on processors of the resource that it has, or on free ones. */
static void place(struct trace *trace, const struct trace_job *job, size_t resource, bool is_new,
                  double begin, double end)
{
    size_t wanted = (size_t)(job->uses[resource] + 0.5), placed = 0;

    for (size_t i = 0; i < trace->slot_count && placed < wanted; i++) {
        struct trace_slot *slot = &trace->slots[i];

        if (slot->resource != resource ||
            (is_new ? slot->busy : !slot->busy || slot->job != job->id))
            continue;
        slot->busy = true;
        slot->job = job->id;
        placed++;
        extend(trace, i, job->project, begin, end);
    }
}

void trace_run(struct trace *trace, double begin, double end, const struct trace_job *jobs,
               size_t count)
{
    if (end <= begin)
        return;
    for (size_t i = 0; i < trace->slot_count; i++)
        if (trace->slots[i].busy && !runs(trace->slots[i].job, jobs, count))
            trace->slots[i].busy = false;
    /* Jobs that ran before keep their places; only then new ones get theirs. */
    for (size_t r = 0; r < CLIENT_RESOURCES; r++) {
        for (size_t j = 0; j < count; j++)
            if (has_place(trace, jobs[j].id, r))
                place(trace, &jobs[j], r, false, begin, end);
        for (size_t j = 0; j < count; j++)
            if (!has_place(trace, jobs[j].id, r))
                place(trace, &jobs[j], r, true, begin, end);
    }
}

void trace_off(struct trace *trace, double begin, double end)
{
    for (size_t i = 0; i < trace->slot_count && end > begin; i++) {
        trace->slots[i].busy = false;
        extend(trace, i, TRACE_OFF, begin, end);
    }
}

void trace_write(const struct trace *trace, const char *const *resource_names, double origin,
                 struct buffer *buffer)
{
    buffer_print(buffer, "row,resource,number,project,begin_days,end_days\n");
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_segment *segment = &trace->segments[i];
        const struct trace_slot *slot = &trace->slots[segment->slot];

        buffer_print(buffer, "%zu,%s,%zu,%" PRId64 ",%.6f,%.6f\n", segment->slot + 1,
                     resource_names[slot->resource], slot->number + 1,
                     segment->project == TRACE_OFF ? 0 : (int64_t)segment->project + 1,
                     (segment->begin - origin) / 86400, (segment->end - origin) / 86400);
    }
}
