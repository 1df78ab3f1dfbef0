/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline simulation as it is defined, walking through time from one completion to the next:
 * slow and obvious, for comparing. */
#ifndef TESTS_SUPPORT_EDF_SLOW_H
#define TESTS_SUPPORT_EDF_SLOW_H

#include "server/base/random.h"
#include "server/policy/edf/edf.h"

enum { EDF_SLOW_MAX = 512 };

struct edf_slow {
    struct edf_host host;
    struct edf_job jobs[EDF_SLOW_MAX]; /* listed ones first, then chosen ones */
    size_t listed, count;
    double baseline[EDF_SLOW_MAX]; /* lateness of the listed ones alone, s */
    double finish[EDF_SLOW_MAX];   /* of the last run */
};

void edf_slow_begin(struct edf_slow *slow, const struct edf_host *host,
                    const struct edf_job *listed, size_t count);
/* Whether the job may be sent (rule B). Leaves its schedule in `finish`, the job last. */
bool edf_slow_try(struct edf_slow *slow, const struct edf_job *job);
void edf_slow_take(struct edf_slow *slow, const struct edf_job *job);
/* Of the last run. */
double edf_slow_lateness(const struct edf_slow *slow, size_t index);

/* A random host and queue, of all kinds: few and many CPUs, threads, coprocessors, ties, nothing
 * left to do, overdue, never due, overloaded. `jobs` has room for `jobs_max`. */
void edf_random_host(struct random *random, struct edf_host *ret_host);
void edf_random_job(struct random *random, const struct edf_host *host, struct edf_job *ret_job);

/* A queue of which the simulation is endless: one job at a time on 8 CPUs, each leaving a gap of
 * another width than the next, which stay open for one tiny job that comes last. */
struct edf_job edf_endless_job(size_t index, size_t count);

/* Compares on one random workload: each candidate's verdict and, where it is accepted, the
 * lateness of all listed jobs. NULL, or what differs, in `words` of `size` bytes. */
struct arena;
const char *edf_compare(struct arena *arena, uint64_t seed, char *words, size_t size);
/* The same with up to 200 listed jobs. */
const char *edf_compare_long(struct arena *arena, uint64_t seed, char *words, size_t size);
/* The same with queues as a client would make them up that wants the simulation to have much to do:
 * up to 150 jobs of tiny parts of a CPU, ends before those of earlier jobs or in no order, equal
 * deadlines, gaps that stay open, parts of CPUs that coprocessor jobs take at every moment. */
const char *edf_compare_hostile(struct arena *arena, uint64_t seed, char *words, size_t size);
/* Several random requests of one host, time passing in between: that no accepted job is late and
 * no listed one later than it was, in the end. */
const char *edf_check_promise(struct arena *arena, uint64_t seed, char *words, size_t size);

#endif
