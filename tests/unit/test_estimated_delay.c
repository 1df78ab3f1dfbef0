/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines with workload_sim 0: what is queued is known by estimated_delay alone (policy(7) 8.4),
 * and the same simulation answers as for queues that are known job by job. Every answer is held
 * against the definition (edf_slow.h), and against a plainer check that would need no simulation:
 * where the two differ, the definition says which of them is right. */
#include "server/policy/edf/workload.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/random.h"
#include "tests/support/edf_slow.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    HOSTS = 1000,
    QUESTIONS = 30,
    INSTANCES_MAX = 16,
    FILLERS_MAX = RESOURCES_MAX * INSTANCES_MAX
};

/* --- the plainer check ----------------------------------------------------------------------- */

/* Each instance of a resource is free after the delay that the client says; jobs are dealt to
 * instances as they get free, in the order of their choice. Parts of an instance take a whole one,
 * and what a coprocessor job takes of the CPUs is not looked at. */
struct plain {
    double free_at[RESOURCES_MAX][INSTANCES_MAX]; /* s from now */
    size_t counts[RESOURCES_MAX];
};

static void plain_begin(struct plain *plain, const struct amounts *asked)
{
    *plain = (struct plain){0};
    for (size_t i = 0; i < asked->resource_count; i++) {
        plain->counts[i] = (size_t)asked->resources[i].count;
        for (size_t j = 0; j < plain->counts[i]; j++)
            plain->free_at[i][j] = asked->resources[i].estimated_delay;
    }
}

static int by_value(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;

    return (first > second) - (first < second);
}

/* When the job would be done; with `takes` its instances are taken until then. */
static double plain_finish(struct plain *plain, const struct edf_job *job, bool takes)
{
    double *free_at = plain->free_at[job->resource];
    size_t count = plain->counts[job->resource];
    double instances = job->resource == RESOURCE_CPU ? job->cpus : job->instances;
    size_t need = instances > 1 ? (size_t)ceil(instances) : 1;
    double finish;

    need = need < count ? need : count;
    qsort(free_at, count, sizeof(free_at[0]), by_value);
    finish = free_at[need - 1] + job->wall_time;
    for (size_t i = 0; i < need && takes; i++)
        free_at[i] = finish;
    return finish;
}

/* --- random hosts ---------------------------------------------------------------------------- */

static void ask_for(struct random *random, const struct edf_host *host, struct amounts *ret_asked)
{
    *ret_asked = (struct amounts){.resource_count = host->resource_count};
    for (size_t i = 0; i < host->resource_count; i++)
        ret_asked->resources[i] = (struct resource){
            .type = i == RESOURCE_CPU ? TEXT("CPU") : TEXT("NVIDIA"),
            .count = host->counts[i],
            .estimated_delay =
                random_unit(random) < 0.3 ? 0 : floor(6 * 3600 * random_unit(random))};
}

/* The definition: the delay is a job on each instance, which goes first and is never late. */
static void define(struct edf_slow *slow, const struct edf_host *host, const struct amounts *asked)
{
    struct edf_job fillers[FILLERS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < asked->resource_count; i++)
        for (size_t j = 0; j < (size_t)host->counts[i]; j++)
            if (asked->resources[i].estimated_delay > 0)
                fillers[count++] =
                    (struct edf_job){.wall_time = asked->resources[i].estimated_delay,
                                     .deadline = -INFINITY,
                                     .resource = i,
                                     .cpus = i == RESOURCE_CPU ? 1 : 0,
                                     .instances = 1};
    edf_slow_begin(slow, host, fillers, count);
}

static void random_job(struct random *random, const struct edf_host *host, struct edf_job *ret_job)
{
    do
        edf_random_job(random, host, ret_job);
    while (ret_job->resource >= host->resource_count); /* nobody is asked about such jobs */
}

struct tally {
    size_t questions, in_time;
    size_t refused_in_time, accepted_late; /* by the plainer check */
};

static void ask_host(struct random *random, struct arena *arena, struct tally *tally)
{
    static struct edf_slow slow;
    const struct message message = {.client_major = 7};
    struct budget budget = {0};
    struct edf_host host;
    struct amounts asked;
    struct plain plain;
    struct workload *workload;

    edf_random_host(random, &host);
    ask_for(random, &host, &asked);
    define(&slow, &host, &asked);
    plain_begin(&plain, &asked);
    arena_reset(arena);
    workload = workload_make(arena, &(struct workload_sources){.message = &message,
                                                               .asked = &asked,
                                                               .availability = {.cpu = 1, .gpu = 1},
                                                               .ignores_list = true,
                                                               .jobs_max = QUESTIONS,
                                                               .budget = &budget});
    assert_non_null(workload);
    for (int i = 0; i < QUESTIONS; i++) {
        struct edf_reason reason;
        struct edf_job job;
        bool may, plain_may;

        random_job(random, &host, &job);
        may = edf_slow_try(&slow, &job);
        plain_may = plain_finish(&plain, &job, false) <= job.deadline + 1e-6;
        assert_int_equal(workload_try(workload, &job, false, &reason) == WORKLOAD_IN_TIME, may);
        tally->questions++;
        tally->in_time += may;
        tally->refused_in_time += may && !plain_may;
        tally->accepted_late += plain_may && !may;
        if (!may)
            continue;
        edf_slow_take(&slow, &job);
        edf_take(workload->edf, &job);
        (void)plain_finish(&plain, &job, true);
    }
}

/* The figures are those of DECISIONS.md: they change with the random jobs, and nothing else. */
static void the_simulation_is_right_where_a_plainer_check_differs(void **state)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct random random = {.state = 1};
    struct tally tally = {0};

    (void)state;
    for (int i = 0; i < HOSTS; i++)
        ask_host(&random, arena, &tally);
    print_message("%zu questions, %zu in time; the plainer check refuses %zu of these, and accepts "
                  "%zu of the others\n",
                  tally.questions, tally.in_time, tally.refused_in_time, tally.accepted_late);
    arena_destroy(arena);
    assert_int_equal(tally.questions, 30000);
    assert_int_equal(tally.in_time, 13980);
    assert_int_equal(tally.refused_in_time, 4388);
    assert_int_equal(tally.accepted_late, 69);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_simulation_is_right_where_a_plainer_check_differs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
