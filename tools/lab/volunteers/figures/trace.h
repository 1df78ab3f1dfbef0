/* SPDX-License-Identifier: Apache-2.0 */
/* What the processors of one host did over time: segments of a processor and a project, for a
 * picture. Each job keeps its processors while it runs; a new one gets the lowest that are free. */
#ifndef TOOLS_LAB_VOLUNTEERS_FIGURES_TRACE_H
#define TOOLS_LAB_VOLUNTEERS_FIGURES_TRACE_H

#include "tools/lab/volunteers/client/client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

enum { TRACE_SLOTS_MAX = 512, TRACE_SEGMENTS_MAX = 200000 };
#define TRACE_OFF SIZE_MAX /* no project: the host was off */

struct trace_job {
    uint64_t id; /* the same as long as it is the same job */
    size_t project;
    double uses[CLIENT_RESOURCES]; /* instances; what is below half of one shows nowhere */
};

struct trace_segment {
    size_t slot, project;
    double begin, end;
};

struct trace_slot {
    size_t resource, number; /* the third CPU is 2 of resource 0 */
    uint64_t job;            /* meaningful while busy */
    bool busy;
    size_t last; /* segment; SIZE_MAX: none yet */
};

struct trace {
    struct trace_slot slots[TRACE_SLOTS_MAX];
    size_t slot_count;
    struct trace_segment *segments;
    size_t count, capacity;
    bool overflowed; /* segments are missing: too many, or no memory */
};

/* So many instances of each resource. */
void trace_init(struct trace *trace, const size_t *instances, size_t resource_count);
void trace_free(struct trace *trace);
/* These jobs ran from `begin` to `end`. Times of later calls never lie before those of earlier
 * ones. */
void trace_run(struct trace *trace, double begin, double end, const struct trace_job *jobs,
               size_t count);
void trace_off(struct trace *trace, double begin, double end);
/* CSV: row of the picture, resource, number, project (from 1; 0: off), begin and end in days since
 * `origin`. */
void trace_write(const struct trace *trace, const char *const *resource_names, double origin,
                 struct buffer *buffer);

#endif
