/* SPDX-License-Identifier: Apache-2.0 */
/* What runs on a host over time while jobs are laid onto it in order of precedence. Since no job
 * disturbs one that goes before it, laying them one after the other gives the same schedule as
 * walking through time does. Times are whole microseconds, amounts whole millionths: sums are
 * exact and do not depend on their order. */
#ifndef SERVER_POLICY_EDF_LOAD_H
#define SERVER_POLICY_EDF_LOAD_H

#include "server/policy/amounts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EDF_UNIT 1000000 /* of one CPU or coprocessor */

struct edf_capacity {
    int64_t cpus;                  /* at least one whole */
    size_t types;                  /* of coprocessors */
    int64_t counts[RESOURCES_MAX]; /* by type, from 0 */
    /* The least that any job takes, by need.type: where not even that is free, nobody looks. */
    int64_t least_cpus[RESOURCES_MAX], least_count[RESOURCES_MAX];
};

/* What a job takes while it runs; never more than there is. */
struct edf_need {
    double wall_time; /* us */
    int64_t cpus, count;
    size_t type; /* 0: a CPU job, else 1 + the type */
};
bool edf_need_is_plain(const struct edf_need *need);

/* From `start` until the next segment's, the last one for ever and empty. */
struct edf_segment {
    double start; /* us */
    int64_t coproc_cpus, cpu_jobs;
};

/* One of two shapes. Plain: every job is a CPU job of one whole CPU; then it is enough to know when
 * each CPU is free next. Else: segments, neighbours never equal. */
struct edf_load {
    bool is_plain;
    size_t count;
    double *free_at; /* plain: a heap of `count` CPUs, the first to be free on top */
    struct edf_segment *segments;
    int64_t *used; /* coprocessors in use: `types` for each segment */
    size_t types;
    double full_until[RESOURCES_MAX]; /* us, by need.type: no room for any such job before */
};

/* Nothing runs. The arrays are given: the CPUs of free_at, or room for one segment more than jobs
 * that will be laid. `types` is 0 when only CPU jobs will follow. */
void edf_load_clear(struct edf_load *load, const struct edf_capacity *capacity);
void edf_load_copy(struct edf_load *load, const struct edf_load *from);

/* Lays a job onto the load; returns when it is done. Adds to *steps what it cost. */
double edf_load_add(struct edf_load *load, const struct edf_capacity *capacity,
                    const struct edf_need *need, uint64_t *steps);

/* Whether coprocessor jobs never take so much that a CPU job of whole CPUs could notice; and
 * whether such jobs cannot tell two loads apart. */
bool edf_load_leaves_all(const struct edf_load *load, const struct edf_capacity *capacity);
bool edf_load_leaves_same(const struct edf_load *one, const struct edf_load *other,
                          const struct edf_capacity *capacity);

#endif
