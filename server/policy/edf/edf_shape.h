/* SPDX-License-Identifier: Apache-2.0 */
/* What a host offers to its jobs, what a job takes of it, and of what shape all its jobs are: the
 * least, the most and the common divisor of what they take. From these follow bounds of waiting
 * that hold however the jobs are arranged; pure. */
#ifndef SERVER_POLICY_EDF_EDF_SHAPE_H
#define SERVER_POLICY_EDF_EDF_SHAPE_H

#include "server/policy/limits/amounts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Amounts are whole millionths of one CPU or coprocessor: sums are exact in any order. */
#define EDF_UNIT 1000000
/* Memory is in whole pages, rounded down: what fits by the byte fits by the page. */
#define EDF_PAGE 4096

/* What is free at a time is a row of each resource: of all of them, and of memory. */
enum { EDF_ROWS_MAX = RESOURCES_MAX + 1 };

/* What a job takes while it runs; never more than there is. */
struct edf_need {
    double wall_time;    /* us */
    int64_t cpus, count; /* of a coprocessor job: its CPU part, and its coprocessors */
    uint32_t type;       /* 0: a CPU job, else its coprocessor's resource */
    uint32_t memory;     /* pages; 0 where it does not matter */
};

struct edf_range {
    bool is_known; /* there is a job */
    int64_t least, most, grain;
};

struct edf_shape {
    int64_t cpus;                  /* at least one whole */
    int64_t counts[RESOURCES_MAX]; /* of coprocessors, by type; 0: none */
    size_t types;                  /* resources; types from here on are not on the host */
    int64_t memory;                /* pages; 0: it does not matter */
    struct edf_range cpus_taken[RESOURCES_MAX], counts_taken[RESOURCES_MAX]; /* by type */
    struct edf_range memory_taken, memory_of_coprocs; /* pages, by CPU and by coprocessor jobs */
};

/* What a job more changes of the shape: nothing; the bounds; also what loads rest on. */
enum edf_change { EDF_SAME, EDF_BOUNDS, EDF_LOADS };
enum edf_change edf_shape_note(struct edf_shape *shape, const struct edf_need *need);

/* What CPU jobs may take in all beside coprocessor jobs that take `parts` of the CPUs. */
int64_t edf_shape_cpus_beside(const struct edf_shape *shape, int64_t parts);
/* Where nothing is kept away from CPU jobs: so much of what they may take must be free for any of
 * them to run, because they may not begin while all CPUs are in use. */
int64_t edf_shape_floor(const struct edf_shape *shape);
/* Some CPU job takes less than a CPU. */
bool edf_shape_has_small(const struct edf_shape *shape);
/* All CPU jobs take the same, of memory too: one job more makes none earlier, whatever the
 * coprocessor jobs. */
bool edf_shape_is_even(const struct edf_shape *shape);
/* Besides, coprocessor jobs never keep anything away from them: how many can always run at a time.
 * 0: it is not so. */
int64_t edf_shape_slots(const struct edf_shape *shape);

/* While a job waits for processors, jobs that go before it take at least this much of its resource;
 * CPU jobs and the burden together. 0: nothing can be said. */
int64_t edf_shape_level(const struct edf_shape *shape, const struct edf_need *need);
/* While a CPU job waits for memory, those before it take so much of it that this weight makes no
 * less than the level of it, in millionths of a CPU for a page. 0: none waits for memory. */
double edf_shape_memory_weight(const struct edf_shape *shape);
/* The most that coprocessor jobs can ever keep from CPU jobs at a time; above 0 too where they keep
 * nothing away but memory. */
int64_t edf_shape_burden(const struct edf_shape *shape);

#endif
