/* SPDX-License-Identifier: Apache-2.0 */
/* Written from the definition alone; shares no code with what it judges. */
#include "tests/support/edf_slow.h"

#include "server/base/arena.h"
#include "server/base/budget.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

#define ROUNDING 1e-9 /* of amounts */
#define EQUAL    1e-6 /* s */

static double floor_cpus(const struct edf_slow *slow)
{
    return fmax(1, floor(slow->host.counts[RESOURCE_CPU]));
}

static bool never_runs(const struct edf_slow *slow, const struct edf_job *job)
{
    return job->resource != RESOURCE_CPU &&
           (job->resource >= slow->host.resource_count || !(slow->host.counts[job->resource] > 0));
}

/* Whether job `a` goes before job `b`. */
static bool goes_before(const struct edf_slow *slow, size_t a, size_t b)
{
    const struct edf_job *one = &slow->jobs[a], *other = &slow->jobs[b];

    if ((one->resource != RESOURCE_CPU) != (other->resource != RESOURCE_CPU))
        return one->resource != RESOURCE_CPU;
    if (one->deadline < other->deadline || one->deadline > other->deadline)
        return one->deadline < other->deadline;
    return a < b;
}

/* Until all are done, or until a moment, and what is left then. */
static void run_until(struct edf_slow *slow, double until, double *left)
{
    size_t order[EDF_SLOW_MAX];
    bool is_done[EDF_SLOW_MAX], runs[EDF_SLOW_MAX];
    double capacity = floor_cpus(slow), time = 0;
    size_t unfinished = 0;

    for (size_t i = 0; i < slow->count; i++) {
        left[i] = slow->jobs[i].wall_time;
        slow->finish[i] = INFINITY;
        is_done[i] = never_runs(slow, &slow->jobs[i]) || left[i] <= EQUAL;
        if (left[i] <= EQUAL && !never_runs(slow, &slow->jobs[i]))
            slow->finish[i] = 0;
        unfinished += !is_done[i];
        order[i] = i;
        for (size_t j = i; j > 0 && goes_before(slow, order[j], order[j - 1]); j--) {
            size_t swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    }
    while (unfinished > 0 && time < until) {
        double coproc_cpus = 0, cpu_jobs = 0, used[RESOURCES_MAX] = {0}, next = INFINITY;
        double memory = 0;

        for (size_t at = 0; at < slow->count; at++) {
            size_t i = order[at];
            const struct edf_job *job = &slow->jobs[i];
            double cpus = fmin(job->cpus, capacity);
            double bytes = slow->host.memory > 0 ? fmin(job->memory, slow->host.memory) : 0;

            runs[i] = false;
            if (is_done[i] || memory + bytes > slow->host.memory)
                continue;
            if (job->resource != RESOURCE_CPU) {
                double count = slow->host.counts[job->resource];
                double needs = fmin(job->instances, count);
                if (used[job->resource] + needs > count + ROUNDING ||
                    coproc_cpus + cpus > capacity + 1 + ROUNDING)
                    continue;
                used[job->resource] += needs;
                coproc_cpus += cpus;
            } else {
                if (cpu_jobs >= capacity - ROUNDING || cpu_jobs + cpus >= capacity + 1 - ROUNDING ||
                    coproc_cpus + cpu_jobs + cpus > capacity + 1 + ROUNDING)
                    continue;
                cpu_jobs += cpus;
            }
            runs[i] = true;
            memory += bytes;
            next = fmin(next, left[i]);
        }
        next = fmin(next, until - time);
        time += next;
        for (size_t i = 0; i < slow->count; i++) {
            if (!runs[i])
                continue;
            left[i] -= next;
            if (left[i] <= EQUAL) {
                is_done[i] = true;
                slow->finish[i] = time;
                unfinished--;
            }
        }
    }
}

static void run(struct edf_slow *slow)
{
    double left[EDF_SLOW_MAX];

    run_until(slow, INFINITY, left);
}

double edf_slow_lateness(const struct edf_slow *slow, size_t index)
{
    if (isinf(slow->jobs[index].deadline))
        return 0; /* never due */
    return fmax(0, slow->finish[index] - slow->jobs[index].deadline);
}

void edf_slow_begin(struct edf_slow *slow, const struct edf_host *host,
                    const struct edf_job *listed, size_t count)
{
    slow->host = *host;
    slow->listed = slow->count = count;
    memcpy(slow->jobs, listed, count * sizeof(listed[0]));
    run(slow);
    for (size_t i = 0; i < count; i++)
        slow->baseline[i] = edf_slow_lateness(slow, i);
}

bool edf_slow_try(struct edf_slow *slow, const struct edf_job *job)
{
    bool may = !never_runs(slow, job);

    slow->jobs[slow->count++] = *job;
    run(slow);
    for (size_t i = 0; i < slow->count && may; i++) {
        if (never_runs(slow, &slow->jobs[i]))
            continue;
        if (i < slow->listed)
            may = edf_slow_lateness(slow, i) <= slow->baseline[i] + 1 + EQUAL;
        else
            may = edf_slow_lateness(slow, i) <= 1e-3 + EQUAL;
    }
    slow->count--;
    return may;
}

void edf_slow_take(struct edf_slow *slow, const struct edf_job *job)
{
    slow->jobs[slow->count++] = *job;
    run(slow);
}

/* --- random workloads ------------------------------------------------------------------------ */

static size_t below(struct random *random, size_t bound)
{
    return (size_t)(random_unit(random) * (double)bound);
}

void edf_random_host(struct random *random, struct edf_host *ret_host)
{
    static const double cpus[] = {1, 1, 2, 2, 3, 4, 4, 7, 8, 16};

    *ret_host = (struct edf_host){.resource_count = 1 + below(random, 3)};
    ret_host->counts[RESOURCE_CPU] = cpus[below(random, sizeof(cpus) / sizeof(cpus[0]))];
    for (size_t i = 1; i < ret_host->resource_count; i++)
        ret_host->counts[i] = (double)(1 + below(random, 4));
}

enum { MEMORY_UNITS = 24 };

/* On half of the hosts memory matters. */
static void random_memory(struct random *random, struct edf_host *host)
{
    if (below(random, 2) == 0)
        host->memory = MEMORY_UNITS * 1e9;
}

/* What jobs of a workload take of it: mostly the same, or nothing, as others' jobs; seldom
 * anything, up to more than there is. */
struct memory_kind {
    double usual;
    bool is_for_coprocs, is_mixed;
};

static struct memory_kind random_memory_kind(struct random *random)
{
    return (struct memory_kind){.usual = 1e9 * (double)(1 + below(random, MEMORY_UNITS)),
                                .is_for_coprocs = below(random, 3) == 0,
                                .is_mixed = below(random, 3) > 0};
}

static void take_memory(struct random *random, const struct memory_kind *kind, struct edf_job *job)
{
    if (job->resource != RESOURCE_CPU && !kind->is_for_coprocs)
        return;
    job->memory = kind->usual;
    if (!kind->is_mixed)
        return;
    switch (below(random, 4)) {
    case 0:
        job->memory = 0;
        break;
    case 1:
        job->memory = 1e9 * (double)below(random, MEMORY_UNITS + 4);
        break;
    default:
        break;
    }
}

/* Quarters of a second, so that sums are exact in both. */
static double duration(struct random *random)
{
    switch (below(random, 8)) {
    case 0:
        return 0;
    case 1:
        return 0.25 * (double)below(random, 20);
    case 2:
        return 1e6 + (double)below(random, 100);
    case 3:
        return 3600;
    default:
        return 600 * (double)(1 + below(random, 20));
    }
}

void edf_random_job(struct random *random, const struct edf_host *host, struct edf_job *ret_job)
{
    static const double parts[] = {0.1, 0.25, 0.5, 1, 1, 1.5, 2};
    double scale = 3600 * (1 + 10 * random_unit(random));
    struct edf_job job = {.wall_time = duration(random), .cpus = 1};

    job.deadline = floor(scale * random_unit(random));
    switch (below(random, 12)) {
    case 0:
        job.deadline = -job.deadline;
        break;
    case 1:
        job.deadline = INFINITY;
        break;
    case 2:
    case 3:
        job.deadline = 7200; /* ties */
        break;
    case 4:
        job.deadline *= 1000;
        break;
    default:
        break;
    }
    if (below(random, 3) == 0) {
        job.resource = 1 + below(random, 3); /* maybe one that the host lacks */
        job.instances = below(random, 3) == 0 ? 0.5 * (double)(1 + below(random, 5)) : 1;
        job.cpus = parts[below(random, sizeof(parts) / sizeof(parts[0]))];
    } else if (below(random, 3) == 0) {
        job.cpus = below(random, 2) == 0 ? (double)(1 + below(random, 8))
                                         : parts[below(random, sizeof(parts) / sizeof(parts[0]))];
    }
    (void)host;
    *ret_job = job;
}

struct edf_job edf_endless_job(size_t index, size_t count)
{
    bool is_last = index + 1 == count;

    return (struct edf_job){.wall_time = 3600,
                            .deadline = is_last ? INFINITY : 3600 * (double)(index + 1),
                            .cpus = is_last ? 1 : 5 + (double)(index % 3)};
}

static bool differs(double one, double other)
{
    return isinf(one) != isinf(other) || fabs(one - other) > 0.001;
}

/* Of a hostile queue; each kind has the fraction `part` of the queue before it. */
static void hostile_job(struct random *random, size_t kind, double part, struct edf_job *ret_job)
{
    double chance = random_unit(random), tiny = 1e-5 * (double)(1 + below(random, 7));
    struct edf_job job = {.wall_time = 7200 - floor(3600 * part), /* ends before those before it */
                          .deadline = 3600 + floor(3600 * part),
                          .cpus = tiny};

    switch (kind) {
    case 0:
        break;
    case 1: /* all alike */
        job.cpus = 0.01;
        job.deadline = 3600;
        break;
    case 2: /* ends in no order, and parts that fill the CPUs */
        job.wall_time = floor(7200 * chance);
        job.cpus = 0.125 * (double)below(random, 9);
        break;
    case 3: /* gaps of several widths, then one of which they stay open */
        job.wall_time = part < 0.6 ? 60 : floor(7200 * chance);
        job.cpus = part < 0.6 ? (double)below(random, 9) : tiny * (chance < 0.5 ? 1 : 1e5);
        break;
    default: /* coprocessors that keep other amounts away at every moment */
        job.wall_time = floor(7200 * chance);
        job.cpus = 0.25 * (double)below(random, 6);
        job.resource = below(random, 5);
        job.instances = 0.25 * (double)below(random, 5);
        break;
    }
    if (below(random, 5) == 0)
        job.deadline = 5400; /* ties */
    *ret_job = job;
}

/* What a queue is made of. */
enum queue_kind { OF_ALL_KINDS, LONG, HOSTILE };

static void random_queue(struct random *random, const struct edf_host *host, enum queue_kind kind,
                         struct edf_job *listed, size_t count)
{
    bool is_plain = kind != HOSTILE && below(random, 3) == 0;
    size_t hostility = below(random, 5);
    double first_part = below(random, 3) == 0 ? 0.2 : 0;

    for (size_t i = 0; i < count; i++) {
        if (kind == HOSTILE)
            hostile_job(random, hostility, (double)i / (double)count, &listed[i]);
        else
            edf_random_job(random, host, &listed[i]);
        if (is_plain && listed[i].resource == RESOURCE_CPU)
            listed[i].cpus = 1;
        if (first_part > 0 && random_unit(random) < first_part)
            listed[i].deadline = -INFINITY; /* first, and never late */
    }
}

static void random_candidate(struct random *random, const struct edf_host *host,
                             enum queue_kind kind, struct edf_job *ret_job)
{
    if (kind == HOSTILE && below(random, 2) == 0) {
        hostile_job(random, below(random, 5), random_unit(random), ret_job);
        ret_job->deadline = floor(15000 * random_unit(random));
    } else {
        edf_random_job(random, host, ret_job);
        if (below(random, 4) == 0)
            *ret_job = (struct edf_job){
                .wall_time = ret_job->wall_time, .deadline = ret_job->deadline, .cpus = 1};
    }
}

static const char *compare(struct arena *arena, uint64_t seed, enum queue_kind kind, char *words,
                           size_t size)
{
    static const size_t most[] = {[OF_ALL_KINDS] = 24, [LONG] = 200, [HOSTILE] = 150};
    struct random random = {.state = seed};
    struct edf_job listed[EDF_SLOW_MAX];
    size_t count = below(&random, most[kind]), tries = 1 + below(&random, 12);
    struct budget budget = {0};
    struct memory_kind memory;
    struct edf_slow slow;
    struct edf_host host;
    struct edf *edf;

    edf_random_host(&random, &host);
    random_queue(&random, &host, kind, listed, count);
    random_memory(&random, &host);
    memory = random_memory_kind(&random);
    for (size_t i = 0; i < count; i++)
        take_memory(&random, &memory, &listed[i]);
    edf_slow_begin(&slow, &host, listed, count);
    arena_reset(arena);
    edf = edf_create(arena, &host, listed, count, tries, &budget);
    if (edf == NULL)
        return "no memory";
    for (size_t i = 0; i < tries; i++) {
        struct edf_reason reason;
        struct edf_job job;
        bool may;

        random_candidate(&random, &host, kind, &job);
        take_memory(&random, &memory, &job);
        may = edf_slow_try(&slow, &job);
        if ((edf_try(edf, &job, &reason) == EDF_IN_TIME) != may) {
            snprintf(words, size, "seed %llu, candidate %zu: %s by definition",
                     (unsigned long long)seed, i, may ? "in time" : "refused");
            return words;
        }
        if (!may)
            continue;
        edf_slow_take(&slow, &job);
        edf_take(edf, &job);
        for (size_t j = 0; j < count; j++) {
            if (!differs(edf_slow_lateness(&slow, j), edf_lateness(edf, j)))
                continue;
            snprintf(words, size, "seed %llu, after candidate %zu: job %zu late by %.6f, not %.6f",
                     (unsigned long long)seed, i, j, edf_slow_lateness(&slow, j),
                     edf_lateness(edf, j));
            return words;
        }
    }
    return NULL;
}

const char *edf_compare(struct arena *arena, uint64_t seed, char *words, size_t size)
{
    return compare(arena, seed, OF_ALL_KINDS, words, size);
}

const char *edf_compare_long(struct arena *arena, uint64_t seed, char *words, size_t size)
{
    return compare(arena, seed, LONG, words, size);
}

const char *edf_compare_hostile(struct arena *arena, uint64_t seed, char *words, size_t size)
{
    return compare(arena, seed, HOSTILE, words, size);
}

/* --- the promise ----------------------------------------------------------------------------- */

/* One request: offers jobs, takes what is accepted; then everything must still be in time. */
static const char *serve(struct arena *arena, struct random *random, struct edf_slow *slow,
                         char *words, size_t size)
{
    size_t offers = below(random, 8);
    struct edf_job listed[EDF_SLOW_MAX];
    struct memory_kind memory = random_memory_kind(random);
    struct edf_reason reason;
    struct budget budget = {0};
    struct edf *edf;

    arena_reset(arena);
    memcpy(listed, slow->jobs, slow->count * sizeof(listed[0]));
    edf_slow_begin(slow, &slow->host, listed, slow->count);
    edf = edf_create(arena, &slow->host, listed, slow->count, offers, &budget);
    for (size_t i = 0; i < offers && edf != NULL; i++) {
        struct edf_job job;

        edf_random_job(random, &slow->host, &job);
        take_memory(random, &memory, &job);
        if (edf_try(edf, &job, &reason) != EDF_IN_TIME)
            continue;
        edf_take(edf, &job);
        slow->jobs[slow->count++] = job;
    }
    run(slow);
    for (size_t i = 0; i < slow->count; i++) {
        double before = i < slow->listed ? slow->baseline[i] : 0;
        double spare = i < slow->listed ? 1 : 1e-3;
        if (isinf(before) || edf_slow_lateness(slow, i) <= before + spare + EQUAL)
            continue;
        snprintf(words, size, "job %zu of %zu late by %.3f, before %.3f", i, slow->listed,
                 edf_slow_lateness(slow, i), before);
        return words;
    }
    return edf == NULL ? "no memory" : NULL;
}

const char *edf_check_promise(struct arena *arena, uint64_t seed, char *words, size_t size)
{
    struct random random = {.state = seed};
    struct edf_slow slow = {0};
    double left[EDF_SLOW_MAX];

    edf_random_host(&random, &slow.host);
    random_memory(&random, &slow.host);
    for (size_t request = 0; request < 5; request++) {
        double pause = 900 * (double)below(&random, 8);
        const char *wrong = serve(arena, &random, &slow, words, size);
        size_t kept = 0;

        if (wrong != NULL)
            return wrong;
        run_until(&slow, pause, left);
        for (size_t i = 0; i < slow.count; i++) {
            if (left[i] <= EQUAL)
                continue;
            slow.jobs[kept] = slow.jobs[i];
            slow.jobs[kept].wall_time = left[i];
            slow.jobs[kept++].deadline -= pause;
        }
        slow.count = kept;
    }
    return NULL;
}
