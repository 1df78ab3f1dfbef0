/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of worst_bodies.def: made, and walked through a whole server before the fake
 * database, with what they cost. */
#ifndef TESTS_SUPPORT_WORST_BODIES_H
#define TESTS_SUPPORT_WORST_BODIES_H

#include "server/base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum worst_setting {
    WORST_ASKS = 1,       /* for work */
    WORST_LIMITS = 2,     /* jobs in progress are limited by app */
    WORST_ABORTS = 4,     /* send_result_abort */
    WORST_KEYWORDS = 8,   /* keyword_sched */
    WORST_OWN = 16,       /* the client brings its own versions */
    WORST_MANY_CPUS = 32, /* 256 of them */
    WORST_MEMORY = 64,    /* jobs do not all fit into it; the host has some of the project's */
};

struct worst_body {
    const char *name;
    size_t times; /* of the piece, or what the function makes of it */
    unsigned settings;
    const char *before, *piece, *after; /* NULL: made by the function */
    void (*make)(struct buffer *body, size_t times);
    const char *bound; /* what keeps the work small, for people */
};
extern const struct worst_body worst_bodies[];
extern const size_t worst_body_count;

/* The whole request, of a client of today with this key and number. The caller frees it. */
struct buffer worst_body_make(const struct worst_body *worst, const char *key, int64_t hostid);

/* What one request cost. */
struct worst_cost {
    size_t body;               /* bytes */
    double parse_ms, whole_ms; /* CPU time of this thread: of parsing alone, of everything */
    uint64_t units;            /* of the budget */
    bool is_over_budget;
    size_t arena, reply; /* bytes */
    int calls;           /* of the database */
    size_t jobs, acks;   /* in the reply */
    const char *reason;  /* why there are no jobs; NULL: there are, or none were asked for */
};
/* Walks it before the fake database, which has jobs for it. `times_parsing`: it is parsed once
 * more, by itself. */
void worst_body_walk(const struct worst_body *worst, bool times_parsing,
                     struct worst_cost *ret_cost);

#endif
