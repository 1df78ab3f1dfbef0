/* SPDX-License-Identifier: Apache-2.0 */
/* What is free on a host over time while jobs are laid onto it in order of precedence. Since no
 * job disturbs one that goes before it, laying them one after the other gives the same schedule as
 * walking through time does. Times are whole microseconds; pure. */
#ifndef SERVER_POLICY_EDF_EDF_LOAD_H
#define SERVER_POLICY_EDF_EDF_LOAD_H

#include "server/policy/edf/edf_shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Mostly segments of time, neighbours never equal. One lasts until the next begins, the last for
 * ever: in that one nothing runs. Of each there is a row of what is free by segment. For
 * coprocessor jobs: what their CPU parts may take, then each type of coprocessors. For CPU jobs:
 * what they may take; and, where some take less than a CPU, what of the CPUs they have left.
 *
 * Where CPU jobs need no more than one of a number of slots (edf_shape_slots), there are no rows,
 * and each job takes the slot that is free first. */
struct edf_load {
    size_t count, room; /* segments */
    size_t rows;
    double *starts;                   /* us */
    int64_t *free;                    /* `rows` times `room` */
    double full_until[RESOURCES_MAX]; /* us, by need.type: no room for any such job before */
};

/* Room for `room` segments; each job that is laid adds one at most. */
bool edf_load_alloc(struct edf_load *load, struct arena *arena, size_t room, size_t rows);
/* Nothing runs, and coprocessor jobs will be laid. */
void edf_load_clear(struct edf_load *load, const struct edf_shape *shape);
/* What a load of all coprocessor jobs leaves to CPU jobs. */
void edf_load_begin_cpu_jobs(struct edf_load *load, const struct edf_load *coprocs,
                             const struct edf_shape *shape);
/* A copy leaves out the time that is full to everyone. */
void edf_load_copy(struct edf_load *load, const struct edf_load *from);
bool edf_load_equal(const struct edf_load *one, const struct edf_load *other);

/* What coprocessor jobs keep away from CPU jobs until some time: millionths times us. The
 * cursor, zero at first, lets the next question about the same load begin where this one ended. */
struct edf_cursor {
    size_t at;
    double sum; /* before segment `at` */
};
double edf_load_kept_away(const struct edf_load *base, const struct edf_shape *shape, double time,
                          struct edf_cursor *cursor);
/* The most that another load of coprocessor jobs ever keeps away more, until any time. */
double edf_load_kept_away_more(const struct edf_load *base, const struct edf_load *other);

/* Lays a job; returns when it is done. Adds to *steps what it cost: segments looked at. */
double edf_load_add(struct edf_load *load, const struct edf_shape *shape,
                    const struct edf_need *need, uint64_t *steps);

#endif
