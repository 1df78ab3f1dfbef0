/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline simulation: whether a host can run one job more without being late with it or
 * later with any other (rule B, policy(7) 8.3). A host runs its jobs by deadline, coprocessor jobs
 * before CPU jobs, and one that does not fit is passed over, for want of processors or of memory; a
 * job of an earlier deadline interrupts. Pure. Times in this interface are in s from now.
 *
 * README.md explains it with an example, and says which file does what. `workload` makes jobs of
 * what a client lists; `edf` judges a candidate among them; `edf_queue` holds them in order, with
 * bounds that answer most questions; what bounds cannot answer is laid onto the `edf_load`.
 * All work is charged to the budget of the request. */
#ifndef SERVER_POLICY_EDF_EDF_H
#define SERVER_POLICY_EDF_EDF_H

#include "server/policy/limits/amounts.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct budget;

struct edf_host {
    double counts[RESOURCES_MAX]; /* instances by resource; those of the CPU: usable ones */
    size_t resource_count;
    double memory; /* bytes that jobs may use; 0: no matter */
};

struct edf_job {
    double wall_time;
    double deadline;  /* INFINITY: goes last and is never late; -INFINITY (if listed): first */
    double cpus;      /* of a coprocessor job: its CPU part */
    size_t resource;  /* RESOURCE_CPU; at least resource_count: the host lacks it */
    double instances; /* of its coprocessor */
    double memory;    /* bytes while it runs; 0: none, or not known */
};

enum edf_verdict {
    EDF_IN_TIME,
    EDF_LATE,     /* it would be late itself */
    EDF_DELAYS,   /* a listed job would be later than without new jobs, or a chosen one late */
    EDF_TOO_LARGE /* not known within the budget; no room for it either */
};

/* What a verdict rests on. */
struct edf_reason {
    double finish;   /* of the job asked about; unknown (0) when not simulated */
    bool has_listed; /* a listed job is in the way: the one made later, or the longest before it */
    size_t listed;   /* its index */
    double lateness_before, lateness_after; /* of that job; equal when it is only in the way */
};

/* The baseline: how late each listed job is with those alone. Not more than `room` jobs will be
 * taken. All work is charged to the budget, which outlives the simulation, as `listed` does. When
 * it is used up before the baseline is known, every verdict is EDF_TOO_LARGE. NULL: no memory. */
struct edf;
struct edf *edf_create(struct arena *arena, const struct edf_host *host,
                       const struct edf_job *listed, size_t count, size_t room,
                       struct budget *budget);
/* Back to the baseline. */
void edf_reset(struct edf *edf);
enum edf_verdict edf_try(struct edf *edf, const struct edf_job *job, struct edf_reason *ret_reason);
/* It joins the workload, whatever edf_try thinks of it. */
void edf_take(struct edf *edf, const struct edf_job *job);
/* The lateness of a listed job in the present workload, s; INFINITY: not known. */
double edf_lateness(struct edf *edf, size_t listed);
/* Whether a question was too large. */
bool edf_is_exhausted(const struct edf *edf);
/* When the first listed job that has anything left to do is done; INFINITY: there is none. */
double edf_first_done(const struct edf *edf);
/* When each listed job is done with those alone, by its index; INFINITY: not known, or never. */
void edf_finishes(const struct edf *edf, double *ret_finishes, size_t count);

#endif
