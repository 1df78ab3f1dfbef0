/* SPDX-License-Identifier: Apache-2.0 */
/* What is to happen when, in virtual time. Entries of the same time come out in the order in which
 * they were added, so that a run can be repeated. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_AGENDA_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_AGENDA_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agenda_entry {
    double time; /* s */
    uint64_t number;
    size_t who;
};

/* Zero it before use. */
struct agenda {
    struct agenda_entry *entries; /* a heap, the first thing first */
    size_t count, capacity;
    uint64_t next_number;
};

MUST_CHECK bool agenda_add(struct agenda *agenda, double time, size_t who); /* false: no memory */
double agenda_next(const struct agenda *agenda); /* the earliest time; INFINITY: nothing is left */
/* False: nothing is left. */
bool agenda_take(struct agenda *agenda, struct agenda_entry *ret_entry);
void agenda_free(struct agenda *agenda);

#endif
