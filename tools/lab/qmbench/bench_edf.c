/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline simulation. Two kinds of queues: CPU jobs of one CPU; and those mixed with jobs of
 * four CPUs and with jobs of four coprocessors, which take parts of CPUs. Each roomy, with twice
 * the time that it needs; full, its jobs being due when they can just be done; and late, all of
 * them overdue. Every class of candidates has a length and a deadline of its own, and up to eight
 * jobs; 64 jobs are taken at most.
 *
 * Besides, hostile queues, each made so that some part of the simulation has the most to do: jobs
 * of tiny parts of a CPU that end each before those that go before it; the same, all alike; ends in
 * no order; gaps that stay open everywhere for one that is left to the end; coprocessors that keep
 * other amounts away at every moment. `work` is what was charged to the budget, all in all: at
 * most BUDGET_MOST and one step. */
#include "server/policy/edf/edf.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/random.h"
#include "tools/lab/qmbench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/banned.h"

#define HOUR 3600.0

enum { ARENA_BYTES = 512 << 20, SAME_MAX = 8, TAKEN_MAX = 64, COPROCS = 4, HOSTILE_CLASSES = 20 };
enum kind { ONE_CPU, MIXED, KINDS };
enum state { ROOMY, FULL, LATE, STATES };
enum hostility { FALLING, ALIKE, STREWN, GAPS, COPROC_PARTS, HOSTILITIES };

struct subject {
    enum kind kind;
    enum state state;
    size_t queue, classes;
    double cpus;
};

struct edf_measure {
    double baseline, choice, served; /* us; choice: all questions; served: to the last job taken */
    size_t taken, unknown;
    uint64_t work; /* units */
};

/* Of this thread, so that what else the machine does is not counted. */
static double microseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Half an hour to one and a half. */
static struct edf_job job_of(struct random *random, const struct subject *subject)
{
    struct edf_job job = {.wall_time = HOUR * (0.5 + random_unit(random)), .cpus = 1};
    double chance = random_unit(random), due = random_unit(random);
    double needs = (double)subject->queue * (subject->kind == MIXED ? 1.3 : 1) / subject->cpus;

    if (subject->kind == MIXED && chance < 0.2) {
        job.resource = 1;
        job.instances = 1;
        job.cpus = 0.5 + random_unit(random);
        needs = 0.2 * (double)subject->queue / COPROCS;
    } else if (subject->kind == MIXED && chance < 0.36) {
        job.cpus = 4;
    }
    if (subject->state == ROOMY)
        job.deadline = 2 * (needs + 1) * HOUR * (0.2 + due);
    else
        job.deadline = needs * HOUR * due + (subject->state == FULL ? 2 * HOUR : -needs * HOUR);
    return job;
}

static void choose(struct edf *edf, struct random *random, const struct subject *subject,
                   struct edf_measure *outcome)
{
    double begun = microseconds();

    for (size_t i = 0; i < subject->classes; i++) {
        struct edf_job job = job_of(random, subject);

        if (subject->state == LATE)
            job.deadline = 200 * HOUR * random_unit(random);
        for (int same = 0; same < SAME_MAX; same++) {
            struct edf_reason reason;
            enum edf_verdict verdict = edf_try(edf, &job, &reason);

            outcome->unknown += verdict == EDF_TOO_LARGE;
            if (verdict != EDF_IN_TIME || outcome->taken == TAKEN_MAX)
                break;
            edf_take(edf, &job);
            outcome->taken++;
            outcome->served = microseconds() - begun;
        }
    }
    outcome->choice = microseconds() - begun;
}

static struct edf_measure measure(struct arena *arena, const struct subject *subject)
{
    struct edf_host host = {.counts = {subject->cpus, COPROCS},
                            .resource_count = subject->kind == MIXED ? 2 : 1};
    struct random random = {.state = 7};
    struct edf_job *jobs;
    struct edf_measure outcome = {0};
    struct budget budget = {0};
    struct edf *edf;
    double begun;

    arena_reset(arena);
    jobs = ARENA_ARRAY(arena, subject->queue, struct edf_job);
    if (jobs == NULL)
        return outcome;
    for (size_t i = 0; i < subject->queue; i++)
        jobs[i] = job_of(&random, subject);
    begun = microseconds();
    edf = edf_create(arena, &host, jobs, subject->queue, TAKEN_MAX, &budget);
    outcome.baseline = microseconds() - begun;
    if (edf != NULL)
        choose(edf, &random, subject, &outcome);
    outcome.work = budget.spent;
    return outcome;
}

static struct edf_job hostile_job(struct random *random, enum hostility hostility, size_t index,
                                  size_t count)
{
    double part = (double)index / (double)count, chance = random_unit(random);
    struct edf_job job = {.wall_time = 600 * HOUR - 5 * (double)index,
                          .deadline = 216 * HOUR + 5 * (double)index,
                          .cpus = 1e-5 * (1 + (double)(index % 7))};

    switch (hostility) {
    case ALIKE:
        job.cpus = 1e-5;
        break;
    case STREWN:
        job.wall_time = 600 * HOUR * chance;
        break;
    case GAPS:
        job.wall_time = index % 2 == 0 || part < 0.5 ? HOUR : 600 * HOUR;
        job.cpus = part >= 0.5 ? 1e-4 : index % 2 == 0 ? 40 : 64;
        break;
    case COPROC_PARTS:
        job.wall_time = 600 * HOUR * chance;
        if (index % 2 == 0) {
            job.resource = 1;
            job.instances = 1e-4;
            job.cpus = 1e-4 * (1 + (double)(index % 7));
        }
        break;
    case FALLING:
    case HOSTILITIES:
        break;
    }
    return job;
}

static void measure_hostile(struct arena *arena, enum hostility hostility, size_t queue)
{
    static const char *const names[] = {"falling", "alike", "strewn", "gaps", "coproc"};
    struct edf_host host = {.counts = {64, COPROCS}, .resource_count = 2};
    struct random random = {.state = 7};
    struct budget budget = {0};
    struct edf_reason reason;
    size_t answered = 0;
    struct edf_job *jobs;
    double begun, baseline;
    struct edf *edf;

    arena_reset(arena);
    jobs = ARENA_ARRAY(arena, queue, struct edf_job);
    if (jobs == NULL)
        return;
    for (size_t i = 0; i < queue; i++)
        jobs[i] = hostile_job(&random, hostility, i, queue);
    begun = microseconds();
    edf = edf_create(arena, &host, jobs, queue, TAKEN_MAX, &budget);
    baseline = microseconds() - begun;
    if (edf == NULL)
        return;
    for (size_t i = 0; i < HOSTILE_CLASSES; i++) {
        struct edf_job job = {
            .wall_time = HOUR * (1 + (double)i), .deadline = 168 * HOUR, .cpus = 1};

        answered += edf_try(edf, &job, &reason) != EDF_TOO_LARGE;
    }
    printf("%6zu %-8s %12.0f %16.0f %12.0f %9zu\n", queue, names[hostility], baseline,
           microseconds() - begun, (double)budget.spent / 1e3, answered);
}

int bench_edf(int argc, char **argv)
{
    static const char *const kinds[] = {"one-CPU", "mixed"};
    static const char *const states[] = {"roomy", "full", "late"};
    static const double cpus[] = {1, 16, 256};
    struct arena *arena = arena_create(ARENA_BYTES);

    (void)argc;
    (void)argv;
    if (arena == NULL)
        return EXIT_FAILURE;
    printf("jobs of the queue   CPUs  baseline us  1 class us  1000 classes us  served us  "
           "taken  unknown  work / 1000\n");
    for (enum kind kind = ONE_CPU; kind < KINDS; kind++)
        for (enum state state = ROOMY; state < STATES; state++)
            for (size_t queue = 10; queue <= 10000; queue *= 10)
                for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
                    struct subject subject = {.kind = kind,
                                              .state = state,
                                              .queue = queue,
                                              .classes = 1,
                                              .cpus = cpus[i]};
                    struct edf_measure one = measure(arena, &subject), many;

                    subject.classes = 1000;
                    many = measure(arena, &subject);
                    printf("%6zu %-7s %-5s %4.0f %12.0f %11.0f %16.0f %10.0f %6zu %8zu %12.0f\n",
                           queue, kinds[kind], states[state], cpus[i], one.baseline, one.choice,
                           many.choice, many.served, many.taken, many.unknown,
                           (double)many.work / 1e3);
                }
    printf("\nhostile queue    baseline us   20 classes us   work / 1000  answered\n");
    for (enum hostility hostility = FALLING; hostility < HOSTILITIES; hostility++)
        for (size_t queue = 1000; queue <= 100000; queue *= 10)
            measure_hostile(arena, hostility, queue);
    arena_destroy(arena);
    return EXIT_SUCCESS;
}
