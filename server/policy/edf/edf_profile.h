/* SPDX-License-Identifier: Apache-2.0 */
/* A profile lists the free processors of a host over time. Profiles are stored and compared, and
 * one describes what jobs for coprocessors leave to CPU jobs. edf_load.h places the jobs. Times
 * are whole microseconds; pure. */
#ifndef SERVER_POLICY_EDF_EDF_PROFILE_H
#define SERVER_POLICY_EDF_EDF_PROFILE_H

#include "server/policy/edf/edf_shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Segments of time, neighbours never equal. One lasts until the next begins, the last for ever: in
 * that one nothing runs. Of each there is a row of what is free by segment. For coprocessor jobs:
 * what their CPU parts may take, then each type of coprocessors. For CPU jobs: what they may take;
 * and what of the CPUs they have left, where some take less than a CPU and the difference between
 * the two is not always the same. The last row is of memory, where that matters.
 *
 * Where CPU jobs need no more than one of a number of slots (edf_shape_slots), there are no rows:
 * `starts` are the times until which slots are taken (edf_slots.h). */
struct edf_profile {
    size_t count, room; /* segments */
    size_t rows;
    size_t memory;  /* the row of memory; 0: there is none */
    double *starts; /* us */
    int64_t *free;  /* `rows` times `room` */
};

/* Room for `room` segments; false: no memory. */
bool edf_profile_alloc(struct edf_profile *profile, struct arena *arena, size_t room, size_t rows);
/* Nothing runs, and coprocessor jobs will be laid. */
void edf_profile_clear(struct edf_profile *profile, const struct edf_shape *shape);
/* Turns what coprocessor jobs leave into what CPU jobs may take. */
void edf_profile_turn_to_cpus(struct edf_profile *profile, const struct edf_shape *shape);
/* Both as CPU jobs find them before any is laid: only the first row counts, and memory. */
bool edf_profile_equal(const struct edf_profile *one, const struct edf_profile *other);
/* The most that another such profile ever keeps away more, until any time: millionths times us. */
double edf_profile_kept_away_more(const struct edf_profile *base, const struct edf_profile *other);

/* What coprocessor jobs keep away from CPU jobs until some time. */
struct edf_kept {
    const struct edf_profile *base;
    int64_t all;     /* that CPU jobs may take where nothing is kept away */
    double *before;  /* by segment: kept away before it, millionths times us */
    size_t at, room; /* at: of the last question, where the next one is likely to be */
};
/* False: no memory. */
bool edf_kept_begin(struct edf_kept *kept, struct arena *arena, const struct edf_profile *base,
                    const struct edf_shape *shape);
double edf_kept_until(struct edf_kept *kept, double time);

#endif
