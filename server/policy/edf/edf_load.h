/* SPDX-License-Identifier: Apache-2.0 */
/* The load of a host while jobs are laid onto it in order of precedence. Since no job disturbs one
 * that goes before it, laying them one after the other gives the same schedule as walking through
 * time does. A profile is read into a load, jobs are laid, and what is free then is read out
 * again; pure. */
#ifndef SERVER_POLICY_EDF_EDF_LOAD_H
#define SERVER_POLICY_EDF_EDF_LOAD_H

#include "server/policy/edf/edf_profile.h"
#include "server/policy/edf/edf_shape.h"
#include "server/policy/edf/edf_slots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#ifndef EDF_FAN
#define EDF_FAN 32 /* entries of a node; a test makes it less */
#endif

/* Nodes of a tree, `EDF_FAN` places in each. Of a leaf, an entry is a segment: when it begins, and
 * by row what is free in it. Of any other, an entry is a node below: when it begins, and by row the
 * least and the most that is free in it, and what is yet to be added to all below. */
struct edf_nodes {
    size_t count, room;
    uint32_t *sizes; /* entries in use, by node */
    double *starts;  /* us */
    uint32_t *children;
    int64_t *low, *high, *owed; /* of a leaf: only low */
};

struct edf_load {
    size_t rows, room;              /* room: segments */
    size_t rows_room;               /* rows that there is memory for */
    size_t memory;                  /* the row of the memory that jobs take; 0: there is none */
    int64_t floor;                  /* of the only row: any CPU job needs so much */
    size_t height;                  /* 0: the root is a leaf */
    uint32_t root;                  /* where nothing is laid yet, as it was read in */
    struct edf_nodes leaves, inner; /* segments; what stands above them */
    struct edf_slots slots;         /* in place of all, where there are no rows */
};

/* Room for `room` segments, those read in and one for each job together. Memory is taken when
 * first something is read that needs it. */
void edf_load_init(struct edf_load *load, size_t room);
/* Each adds to *work what it cost, in units of the budget. False: no memory. */
bool edf_load_read(struct edf_load *load, struct arena *arena, const struct edf_profile *from,
                   const struct edf_shape *shape, uint64_t *work);
/* `profile` has room for edf_load_size segments. What is full to every CPU job at the beginning is
 * left out where there are none but CPU jobs. */
void edf_load_write(const struct edf_load *load, const struct edf_shape *shape, bool is_of_cpus,
                    struct edf_profile *profile, uint64_t *work);
size_t edf_load_size(const struct edf_load *load);
/* Lays a job; returns when it is done, us. */
double edf_load_add(struct edf_load *load, const struct edf_need *need, uint64_t *work);

#endif
