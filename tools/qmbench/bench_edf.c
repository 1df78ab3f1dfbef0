/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline simulation. Two kinds of queues: CPU jobs of one CPU; and those mixed with jobs of
 * four CPUs and with jobs of four coprocessors, which take parts of CPUs. Each roomy, with twice
 * the time that it needs; full, its jobs being due when they can just be done; and late, all of
 * them overdue. Every class of candidates has a length and a deadline of its own, and up to eight
 * jobs; 64 jobs are taken at most. */
#include "server/policy/edf/edf.h"

#include "server/base/arena.h"
#include "server/base/random.h"
#include "tools/qmbench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/banned.h"

#define HOUR 3600.0

enum { ARENA_BYTES = 512 << 20, SAME_MAX = 8, TAKEN_MAX = 64, COPROCS = 4 };
enum kind { ONE_CPU, MIXED, KINDS };
enum state { ROOMY, FULL, LATE, STATES };

struct subject {
    enum kind kind;
    enum state state;
    size_t queue, classes;
    double cpus;
};

struct outcome {
    double baseline, choice, served; /* us; choice: all questions; served: to the last job taken */
    size_t taken, unknown;
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
                   struct outcome *outcome)
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

static struct outcome measure(struct arena *arena, const struct subject *subject)
{
    struct edf_host host = {.counts = {subject->cpus, COPROCS},
                            .resource_count = subject->kind == MIXED ? 2 : 1};
    struct random random = {.state = 7};
    struct edf_job *jobs;
    struct outcome outcome = {0};
    struct edf *edf;
    double begun;

    arena_reset(arena);
    jobs = ARENA_ARRAY(arena, subject->queue, struct edf_job);
    if (jobs == NULL)
        return outcome;
    for (size_t i = 0; i < subject->queue; i++)
        jobs[i] = job_of(&random, subject);
    begun = microseconds();
    edf = edf_create(arena, &host, jobs, subject->queue, TAKEN_MAX);
    outcome.baseline = microseconds() - begun;
    if (edf != NULL)
        choose(edf, &random, subject, &outcome);
    return outcome;
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
           "taken  unknown\n");
    for (enum kind kind = ONE_CPU; kind < KINDS; kind++)
        for (enum state state = ROOMY; state < STATES; state++)
            for (size_t queue = 10; queue <= 10000; queue *= 10)
                for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
                    struct subject subject = {.kind = kind,
                                              .state = state,
                                              .queue = queue,
                                              .classes = 1,
                                              .cpus = cpus[i]};
                    struct outcome one = measure(arena, &subject), many;

                    subject.classes = 1000;
                    many = measure(arena, &subject);
                    printf("%6zu %-7s %-5s %4.0f %12.0f %11.0f %16.0f %10.0f %6zu %8zu\n", queue,
                           kinds[kind], states[state], cpus[i], one.baseline, one.choice,
                           many.choice, many.served, many.taken, many.unknown);
                }
    arena_destroy(arena);
    return EXIT_SUCCESS;
}
