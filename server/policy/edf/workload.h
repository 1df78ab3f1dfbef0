/* SPDX-License-Identifier: Apache-2.0 */
/* The work that a host has before it can do more: its queue as the client lists it, corrected by
 * what the project knows of its own jobs, or an estimate if there is no list; and whether another
 * job can be done in time as well (policy(7) 8.1, 8.2); pure. */
#ifndef SERVER_POLICY_EDF_WORKLOAD_H
#define SERVER_POLICY_EDF_WORKLOAD_H

#include "server/base/text.h"
#include "server/parse/message.h"
#include "server/policy/edf/edf.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/version/estimate.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct budget;

/* A job of this project on the host, by the database. */
struct own_job {
    struct text name;
    struct edf_job job; /* wall time: of the whole job; deadline in s from now, without grace. Its
                           memory is all that is known of that of a listed job */
    bool is_always_on;  /* it takes no turn */
};

/* In a longer queue memory is left out: where jobs take different amounts of it, few questions are
 * answered by bounds, and each other one takes the longer the longer the queue is. */
enum { WORKLOAD_MEMORY_MAX = 256 };

struct workload_sources {
    const struct message *message;
    const struct amounts *asked;
    struct availability availability;
    double now;
    double ignore_overdue;    /* s: listed jobs later than this are left out */
    double connection_period; /* s; 0: no rule A */
    double memory;            /* bytes that jobs may use; 0: it does not matter */
    bool ignores_list;        /* workload_sim 0: what is queued is known by estimated_delay alone */
    const struct own_job *own; /* where they are needed: see workload_needs_own */
    size_t own_count;
    const struct edf_job *resent; /* in this reply */
    size_t resent_count;
    const struct text *aborted; /* names */
    size_t aborted_count;
    size_t jobs_max;       /* that may be chosen */
    struct budget *budget; /* of the request; outlives the workload */
};

struct workload {
    struct edf *edf;
    const struct edf_job *jobs; /* listed, then resent ones */
    const struct text *names;   /* of each; empty: not known */
    size_t count;
    double connection_period;
    double occupied[RESOURCES_MAX]; /* instances that these jobs occupy; INFINITY: not known */
    double first_done;              /* s until the first of them is done; INFINITY: there is none */
    double longest_delay; /* s that the client may be kept away, for the sake of reports */
};

/* Whether the list is absent, or does not tell what this project's jobs run on. */
bool workload_needs_own(const struct message *message, bool has_always_on_apps);

/* NULL: no memory. */
struct workload *workload_make(struct arena *arena, const struct workload_sources *sources);

enum workload_answer {
    WORKLOAD_IN_TIME,
    WORKLOAD_CONNECTION, /* rule A: due before the host connects again */
    WORKLOAD_LATE,       /* rule B: it would be late itself */
    WORKLOAD_DELAYS,     /* rule B: others would be */
    WORKLOAD_UNKNOWN     /* rule B: the queue is too large to be told */
};
/* `skips_connection` turns rule A off. */
enum workload_answer workload_try(struct workload *workload, const struct edf_job *job,
                                  bool skips_connection, struct edf_reason *ret_reason);
/* The wall time that deadlines go by: that of amounts, times `stretch`, as the two may go by
 * different availabilities. */
double workload_time(const struct amount_use *use, const struct availability *stretch);
/* `deadline`: s from now; `memory`: bytes, 0 where it does not matter. */
struct edf_job workload_job(const struct amount_use *use, const struct availability *stretch,
                            double deadline, double memory);

/* How long a client may be kept away that got nothing because of deadlines: its reports are held
 * back too (deadline_allows_delay); never less than DEADLINE_RETRY_MIN. And how long it makes
 * sense: until a queued job is done. */
double workload_retry_longest(const struct workload *workload);
double workload_retry_delay(const struct workload *workload);

#endif
