/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline simulation. `test_edf compare N`, `long N`, `hostile N` and `promise N` do more of
 * the random cases; `qmbench edf` measures. */
#include "server/policy/edf/edf.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "tests/support/edf_slow.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define HOUR 3600.0
#define DAY  86400.0

enum { ARENA_BYTES = 256 << 20 };

static struct budget budget;

static int make_arena(void **state)
{
    budget = (struct budget){0};
    *state = arena_create(ARENA_BYTES);
    return *state == NULL;
}

static int drop_arena(void **state)
{
    arena_destroy(*state);
    return 0;
}

static struct edf_host host_of(double cpus, double gpus)
{
    return (struct edf_host){.counts = {cpus, gpus}, .resource_count = gpus > 0 ? 2 : 1};
}

static struct edf_job cpu_job(double wall_time, double deadline)
{
    return (struct edf_job){.wall_time = wall_time, .deadline = deadline, .cpus = 1};
}

static struct edf_job gpu_job(double wall_time, double deadline, double cpus)
{
    return (struct edf_job){
        .wall_time = wall_time, .deadline = deadline, .cpus = cpus, .resource = 1, .instances = 1};
}

/* How many of equal jobs are accepted, one after the other. */
static int accepted(struct edf *edf, struct edf_job job, int offered, struct edf_reason *ret_reason)
{
    for (int i = 0; i < offered; i++) {
        if (edf_try(edf, &job, ret_reason) != EDF_IN_TIME)
            return i;
        edf_take(edf, &job);
    }
    return offered;
}

/* --- the examples of the definition ---------------------------------------------------------- */

static void fills_four_cpus_with_32_jobs(void **state)
{
    struct edf_host host = host_of(4, 0);
    struct edf *edf = edf_create(*state, &host, NULL, 0, 108, &budget);
    struct edf_reason reason;

    assert_int_equal(accepted(edf, cpu_job(28803, 3 * DAY), 108, &reason), 32);
    assert_real(reason.finish / HOUR, 72.0075, 1e-9);
    assert_false(reason.has_listed);
}

static void fills_a_gpu_beside_busy_cpus(void **state)
{
    struct edf_host host = host_of(4, 1);
    struct edf_job listed[4];
    struct edf_reason reason;
    struct edf_job job = gpu_job(10 * HOUR, 30 * HOUR, 1);

    for (int i = 0; i < 4; i++)
        listed[i] = cpu_job(24 * HOUR, 30 * HOUR);
    assert_int_equal(edf_try(edf_create(*state, &host, listed, 4, 1, &budget), &job, &reason),
                     EDF_IN_TIME);
}

static void fills_a_cpu_beside_a_busy_gpu(void **state)
{
    struct edf_host host = host_of(1, 1);
    struct edf_job listed[4];
    struct edf_reason reason;
    struct edf_job job = cpu_job(5 * HOUR, 24.5 * HOUR);

    for (int i = 0; i < 4; i++)
        listed[i] = gpu_job(5 * HOUR, 24 * HOUR, 0.1);
    assert_int_equal(edf_try(edf_create(*state, &host, listed, 4, 1, &budget), &job, &reason),
                     EDF_IN_TIME);
}

static void small_jobs_go_behind_a_tight_one(void **state)
{
    struct edf_host host = host_of(1, 0);
    struct edf_job listed = cpu_job(HOUR, HOUR);
    struct edf_reason reason;

    assert_int_equal(accepted(edf_create(*state, &host, &listed, 1, 500, &budget),
                              cpu_job(0.9, 10 * DAY), 500, &reason),
                     500);
}

static void one_small_job_goes_before_a_tight_one(void **state)
{
    struct edf_host host = host_of(1, 0);
    struct edf_job listed = cpu_job(HOUR, HOUR);
    struct edf_reason reason;

    assert_int_equal(accepted(edf_create(*state, &host, &listed, 1, 500, &budget),
                              cpu_job(0.9, 1000), 500, &reason),
                     1);
    assert_true(reason.has_listed);
    assert_int_equal(reason.listed, 0);
    assert_real(reason.lateness_before, 0, 0);
    assert_real(reason.lateness_after, 1.8, 1e-6);
}

/* The worked example of README.md beside the simulation: A, B and C, and four candidates. */
static void the_example_of_the_page(void **state)
{
    struct edf_host host = host_of(4, 0);
    const struct edf_job listed[3] = {
        {.wall_time = 4 * HOUR, .deadline = 5 * HOUR, .cpus = 3},
        {.wall_time = 6 * HOUR, .deadline = 12 * HOUR, .cpus = 2},
        {.wall_time = 10 * HOUR, .deadline = 12 * HOUR, .cpus = 1},
    };
    const struct edf_job behind = cpu_job(2 * HOUR, 24 * HOUR), small = cpu_job(HOUR, 11 * HOUR);
    const struct edf_job late = {.wall_time = 3 * HOUR, .deadline = 6 * HOUR, .cpus = 2};
    const struct edf_job wide = {.wall_time = 5 * HOUR, .deadline = 11 * HOUR, .cpus = 2};
    struct edf *edf = edf_create(*state, &host, listed, 3, 1, &budget);
    double finishes[3];
    struct edf_reason reason;

    edf_finishes(edf, finishes, 3);
    assert_real(finishes[0], 4 * HOUR, 1e-6);
    assert_real(finishes[1], 10 * HOUR, 1e-6);
    assert_real(finishes[2], 10 * HOUR, 1e-6);
    assert_int_equal(edf_try(edf, &behind, &reason), EDF_IN_TIME);
    assert_real(reason.finish, 0, 0); /* the bound sufficed: nothing was laid */
    assert_int_equal(edf_try(edf, &small, &reason), EDF_IN_TIME);
    assert_real(reason.finish, HOUR, 1e-6);
    assert_int_equal(edf_try(edf, &late, &reason), EDF_LATE);
    assert_real(reason.finish, 7 * HOUR, 1e-6);
    assert_int_equal(edf_try(edf, &wide, &reason), EDF_DELAYS);
    assert_int_equal(reason.listed, 2);
    assert_real(reason.lateness_before, 0, 0);
    assert_real(reason.lateness_after, 3 * HOUR, 1e-6);
}

/* --- more of the definition ------------------------------------------------------------------ */

/* 108 requests, each with what was accepted before as its queue, within `span` s in all, in which
 * the CPUs work. */
static size_t accepted_in_108_requests(struct arena *arena, double span)
{
    struct edf_host host = host_of(4, 0);
    struct edf_job queue[108];
    size_t count = 0;

    for (int request = 0; request < 108; request++) {
        struct edf_job job = cpu_job(28803, 3 * DAY);
        struct edf_reason reason;

        if (edf_try(edf_create(arena, &host, queue, count, 1, &budget), &job, &reason) ==
            EDF_IN_TIME)
            queue[count++] = job;
        for (size_t i = 0; i < count; i++) {
            queue[i].wall_time -= i < 4 ? span / 108 : 0;
            queue[i].deadline -= span / 108;
        }
    }
    return count;
}

static void accepts_32_jobs_in_108_requests(void **state)
{
    assert_int_equal(accepted_in_108_requests(*state, 0), 32);
}

/* Nine rounds take 27 s longer than three days: once those are over, there is room for four more,
 * and for none after them within hours. */
static void accepts_36_jobs_in_108_requests_of_68_minutes(void **state)
{
    assert_int_equal(accepted_in_108_requests(*state, 68 * 60), 36);
}

static void a_late_queue_may_not_get_later(void **state)
{
    struct edf_host host = host_of(1, 0);
    struct edf_job listed = cpu_job(200 * HOUR, -4 * DAY);
    struct edf *edf = edf_create(*state, &host, &listed, 1, 4, &budget);
    struct edf_job soon = cpu_job(HOUR, 24 * HOUR), later = cpu_job(HOUR, 201 * HOUR);
    struct edf_reason reason;

    assert_real(edf_lateness(edf, 0), 296 * HOUR, 1e-6);
    assert_int_equal(edf_try(edf, &soon, &reason), EDF_LATE);
    assert_true(reason.has_listed);
    assert_int_equal(edf_try(edf, &later, &reason), EDF_IN_TIME);
}

/* A listed job that is late already may not get later by more than a second, and both are told. */
static void how_late_a_listed_job_was_before_is_told(void **state)
{
    struct edf_host host = host_of(1, 0);
    struct edf_job listed[3] = {cpu_job(30 * HOUR, 20 * HOUR), cpu_job(HOUR, 200 * HOUR),
                                cpu_job(HOUR, INFINITY)};
    struct edf *edf = edf_create(*state, &host, listed, 3, 1, &budget);
    struct edf_job job = cpu_job(HOUR, 5 * HOUR);
    struct edf_reason reason;

    assert_int_equal(edf_try(edf, &job, &reason), EDF_DELAYS);
    assert_true(reason.has_listed);
    assert_int_equal(reason.listed, 0);
    assert_real(reason.lateness_before, 10 * HOUR, 1e-6);
    assert_real(reason.lateness_after, 11 * HOUR, 1e-6);
    assert_real(edf_lateness(edf, 1), 0, 0);
    assert_real(edf_lateness(edf, 2), 0, 0);
}

/* Whatever allocation fails, there is an answer. */
static void without_memory_nothing_is_accepted(void **state)
{
    struct edf_host host = host_of(2, 1);
    struct edf_job listed[3] = {cpu_job(HOUR, 5 * HOUR), gpu_job(HOUR, 5 * HOUR, 0.5),
                                cpu_job(2 * HOUR, 9 * HOUR)};
    struct edf_job job = cpu_job(HOUR, 5 * HOUR);
    enum edf_verdict verdict = EDF_LATE;
    size_t bytes = 0, without = 0, unknown = 0;

    (void)state;
    while (verdict != EDF_IN_TIME) {
        struct arena *small = arena_create(bytes);
        struct edf *edf = edf_create(small, &host, listed, 3, 2, &budget);
        struct edf_reason reason;

        if (edf != NULL) {
            verdict = edf_try(edf, &job, &reason);
            assert_true(verdict == EDF_TOO_LARGE || verdict == EDF_IN_TIME);
            unknown += verdict == EDF_TOO_LARGE;
        }
        without += edf == NULL;
        assert_true(verdict == EDF_IN_TIME || arena_lacked(small) > bytes);
        bytes = arena_lacked(small);
        arena_destroy(small);
    }
    assert_true(without > 0 && unknown > 0);
}

/* Also for jobs that may be chosen there is much to set up. */
static void room_is_charged(void **state)
{
    enum { ROOM = 10000 };
    struct edf_host host = host_of(1, 0);

    assert_non_null(edf_create(*state, &host, NULL, 0, ROOM, &budget));
    assert_in_range(budget.spent, 5 * ROOM, 50 * ROOM);
}

static void a_wide_job_asks_for_all_at_most(void **state)
{
    struct edf_host host = host_of(4, 0);
    struct edf_job job = cpu_job(10 * HOUR, 20 * HOUR);
    struct edf_reason reason;

    job.cpus = 16;
    assert_int_equal(accepted(edf_create(*state, &host, NULL, 0, 9, &budget), job, 9, &reason), 2);
}

static void a_coprocessor_that_is_not_there_takes_nothing(void **state)
{
    struct edf_host host = host_of(1, 0);
    struct edf_job listed = gpu_job(100 * HOUR, HOUR, 1), job = cpu_job(HOUR, HOUR);
    struct edf *edf = edf_create(*state, &host, &listed, 1, 1, &budget);
    struct edf_reason reason;

    assert_int_equal(edf_try(edf, &job, &reason), EDF_IN_TIME);
    assert_int_equal(edf_try(edf, &listed, &reason), EDF_LATE);
}

static void tolerances_are_as_written(void **state)
{
    struct edf_host host = host_of(1, 0);
    struct edf_job listed = cpu_job(HOUR, HOUR);
    struct edf_job in_time = cpu_job(1000.001, 1000), late = cpu_job(1000.002, 1000);
    struct edf_job second = cpu_job(1, 1000), more = cpu_job(1.001, 1000);
    struct edf_reason reason;

    assert_int_equal(edf_try(edf_create(*state, &host, NULL, 0, 1, &budget), &in_time, &reason),
                     EDF_IN_TIME);
    assert_int_equal(edf_try(edf_create(*state, &host, NULL, 0, 1, &budget), &late, &reason),
                     EDF_LATE);
    assert_int_equal(edf_try(edf_create(*state, &host, &listed, 1, 1, &budget), &second, &reason),
                     EDF_IN_TIME);
    assert_int_equal(edf_try(edf_create(*state, &host, &listed, 1, 1, &budget), &more, &reason),
                     EDF_DELAYS);
}

static void is_as_before_after_a_reset(void **state)
{
    struct edf_host host = host_of(2, 1);
    struct edf_job listed[2] = {cpu_job(HOUR, 5 * HOUR), gpu_job(HOUR, 5 * HOUR, 0.5)};
    struct edf *edf = edf_create(*state, &host, listed, 2, 100, &budget);
    struct edf_reason reason;
    int first = accepted(edf, cpu_job(HOUR, 5 * HOUR), 100, &reason);

    edf_reset(edf);
    assert_int_equal(first, 9);
    assert_int_equal(accepted(edf, cpu_job(HOUR, 5 * HOUR), 100, &reason), first);
}

static void numbers_beyond_sense_do_no_harm(void **state)
{
    struct edf_host host = {.counts = {NAN, -1, 1e300}, .resource_count = 3};
    struct edf_job listed[] = {
        {.wall_time = NAN, .deadline = NAN, .cpus = NAN},
        {.wall_time = 1e300, .deadline = -1e300, .cpus = 1e300},
        {.wall_time = INFINITY, .deadline = INFINITY, .cpus = -1, .resource = 2, .instances = -1},
        {.wall_time = 1, .deadline = 1, .resource = SIZE_MAX},
    };
    struct edf *edf = edf_create(*state, &host, listed, 4, 4, &budget);
    struct edf_reason reason;

    for (int i = 0; i < 4; i++)
        if (edf_try(edf, &listed[i], &reason) == EDF_IN_TIME)
            edf_take(edf, &listed[i]);
}

/* --- much to do ------------------------------------------------------------------------------ */

/* Jobs of tiny parts of a CPU, all late, due in the order that they are listed in, each of which
 * ends 5 s before the one listed before it. */
static struct edf_job falling_job(size_t index)
{
    return (struct edf_job){.wall_time = 25 * DAY - 5 * (double)index,
                            .deadline = 9 * DAY + (double)index,
                            .cpus = 1e-5 * (double)(1 + index % 7)};
}

/* The same, with ends in no order, and half of them on coprocessors that keep other amounts away at
 * every moment. */
static struct edf_job strewn_job(size_t index)
{
    struct edf_job job = falling_job(index);

    job.wall_time = 25 * DAY - (double)(index * 7919 % 100003);
    job.resource = index % 2;
    job.instances = 1e-5;
    return job;
}

typedef struct edf_job queue_of(size_t index);

static struct edf *create_hostile(struct arena *arena, queue_of *job, size_t count)
{
    struct edf_host host = host_of(64, 4);
    struct edf_job *listed;

    arena_reset(arena);
    budget = (struct budget){0};
    listed = ARENA_ARRAY(arena, count, struct edf_job);
    assert_non_null(listed);
    for (size_t i = 0; i < count; i++)
        listed[i] = job(i);
    return edf_create(arena, &host, listed, count, 10, &budget);
}

/* All fit side by side, so each is late by what it is longer than its deadline is away. */
static void assert_all_begin_at_once(struct edf *edf, queue_of *job, size_t count)
{
    for (size_t i = 0; i < count; i += 1 + count / 50) {
        struct edf_job listed = job(i);
        assert_real(edf_lateness(edf, i), listed.wall_time - listed.deadline, 1e-5);
    }
}

static void ten_thousand_hostile_jobs_are_simulated(void **state)
{
    enum { MANY = 10000, QUESTIONS = 10 };
    static queue_of *const queues[] = {falling_job, strewn_job};

    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
        struct edf *edf = create_hostile(*state, queues[i], MANY);

        assert_true(budget.spent < BUDGET_MOST / 3);
        for (int hours = 1; hours <= QUESTIONS / 2; hours++) {
            struct edf_job whole = cpu_job(hours * HOUR, 7 * DAY), all = whole;
            struct edf_reason reason;

            all.cpus = 64;
            assert_int_equal(edf_try(edf, &whole, &reason), EDF_IN_TIME);
            assert_int_equal(edf_try(edf, &all, &reason), EDF_DELAYS);
        }
        assert_false(edf_is_exhausted(edf));
        budget.most = UINT64_MAX; /* for questions that only a test asks */
        assert_all_begin_at_once(edf, queues[i], MANY);
    }
}

/* Twice the jobs, about twice the work. */
static void work_grows_as_the_queue_does(void **state)
{
    enum { SOME = 5000 };
    uint64_t some;

    create_hostile(*state, falling_job, SOME);
    some = budget.spent;
    create_hostile(*state, falling_job, 4 * SOME);
    assert_true(budget.spent < 5 * some);
}

/* However large, the work ends with the budget, and the answer says so. */
static void the_budget_is_kept(void **state)
{
    enum { MANY = 100000, QUESTIONS = 1000 };
    static queue_of *const queues[] = {falling_job, strewn_job};

    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
        struct edf *edf = create_hostile(*state, queues[i], MANY);
        enum edf_verdict verdict = EDF_IN_TIME;
        struct edf_reason reason;

        for (int hours = 0; hours < QUESTIONS; hours++) {
            struct edf_job job = cpu_job(hours * HOUR / 10, 7 * DAY);
            verdict = edf_try(edf, &job, &reason);
        }
        assert_int_equal(verdict, EDF_TOO_LARGE);
        assert_true(edf_is_exhausted(edf));
        assert_in_range(budget.spent, BUDGET_MOST, BUDGET_MOST + BUDGET_MOST / 10);
    }
}

static void a_hundred_thousand_jobs_are_simulated_where_work_is_allowed(void **state)
{
    enum { MANY = 100000 };
    struct edf_host host = host_of(64, 4);
    struct edf_job *listed;
    struct edf *edf;

    budget = (struct budget){.most = UINT64_MAX};
    listed = ARENA_ARRAY(*state, MANY, struct edf_job);
    assert_non_null(listed);
    for (size_t i = 0; i < MANY; i++)
        listed[i] = falling_job(i);
    edf = edf_create(*state, &host, listed, MANY, 10, &budget);
    assert_all_begin_at_once(edf, falling_job, MANY);
}

static void nothing_is_known_without_a_budget(void **state)
{
    struct edf_host host = host_of(4, 0);
    struct edf_job listed = cpu_job(HOUR, HOUR), job = cpu_job(HOUR, INFINITY);
    struct edf_reason reason;
    struct edf *edf;

    budget = (struct budget){.spent = UINT64_MAX};
    edf = edf_create(*state, &host, &listed, 1, 1, &budget);
    assert_int_equal(edf_try(edf, &job, &reason), EDF_TOO_LARGE);
    assert_true(edf_is_exhausted(edf));
    assert_true(isinf(edf_first_done(edf)));
    assert_true(isinf(edf_lateness(edf, 0)));
}

static void what_is_too_large_is_refused_unless_it_is_certain(void **state)
{
    enum { MANY = 12000 };
    struct edf_host host = host_of(8, 0);
    struct edf_job *listed = ARENA_ARRAY(*state, MANY, struct edf_job);
    struct edf_job soon = cpu_job(HOUR, 2 * HOUR), never = cpu_job(HOUR, INFINITY);
    struct edf_reason reason;
    struct edf *edf;

    assert_non_null(listed);
    for (size_t i = 0; i < MANY; i++)
        listed[i] = edf_endless_job(i, MANY);
    edf = edf_create(*state, &host, listed, MANY, 2, &budget);
    assert_false(budget_is_used_up(&budget));
    budget_spend(&budget, BUDGET_MOST);
    assert_false(edf_is_exhausted(edf));
    assert_int_equal(edf_try(edf, &soon, &reason), EDF_TOO_LARGE);
    assert_true(edf_is_exhausted(edf));
    assert_int_equal(edf_try(edf, &never, &reason), EDF_IN_TIME);
    edf_take(edf, &never);
    assert_int_equal(edf_try(edf, &never, &reason), EDF_IN_TIME);
}

/* Small jobs begin while some of the CPUs is left, also where all are alike. */
static void half_jobs_begin_while_a_cpu_is_left(void **state)
{
    struct edf_host host = host_of(2, 0);
    struct edf_job job = cpu_job(HOUR, HOUR);
    struct edf_reason reason;

    job.cpus = 0.5;
    assert_int_equal(accepted(edf_create(*state, &host, NULL, 0, 9, &budget), job, 9, &reason), 4);
}

/* --- random workloads ------------------------------------------------------------------------ */

typedef const char *random_case(struct arena *arena, uint64_t seed, char *words, size_t size);

static const char *many(struct arena *arena, random_case *one, uint64_t count, char *words,
                        size_t size)
{
    for (uint64_t seed = 1; seed <= count; seed++) {
        const char *wrong = one(arena, seed, words, size);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

static void agrees_with_the_slow_one(void **state)
{
    char words[200];
    const char *wrong = many(*state, edf_compare, 20000, words, sizeof(words));

    if (wrong != NULL)
        fail_msg("%s", wrong);
}

static void agrees_on_long_queues(void **state)
{
    char words[200];
    const char *wrong = many(*state, edf_compare_long, 100, words, sizeof(words));

    if (wrong != NULL)
        fail_msg("%s", wrong);
}

static void agrees_on_hostile_queues(void **state)
{
    char words[200];
    const char *wrong = many(*state, edf_compare_hostile, 600, words, sizeof(words));

    if (wrong != NULL)
        fail_msg("%s", wrong);
}

/* 4 CPUs, 25 GB. */
static size_t jobs_that_fit(struct arena *arena, double memory, double bytes, double due,
                            const struct edf_job *listed, size_t count)
{
    struct edf_host host = {.counts = {4}, .resource_count = 1, .memory = memory};
    struct edf_job job = {.wall_time = 72000, .deadline = due, .cpus = 1, .memory = bytes};
    struct budget spent = {0};
    struct edf_reason reason;
    struct edf *edf = edf_create(arena, &host, listed, count, 20, &spent);
    size_t taken = 0;

    assert_non_null(edf);
    while (taken < 20 && edf_try(edf, &job, &reason) == EDF_IN_TIME) {
        edf_take(edf, &job);
        taken++;
    }
    return taken;
}

static void jobs_run_beside_each_other_as_memory_allows(void **state)
{
    const struct edf_job other = {.wall_time = 72000, .deadline = 72000, .cpus = 1};
    struct edf_job own = other, wide = other;

    own.memory = 14e9;
    wide.memory = 60e9;
    assert_int_equal(jobs_that_fit(*state, 25e9, 14e9, 86400, NULL, 0), 1);
    assert_int_equal(jobs_that_fit(*state, 25e9, 14e9, 172800, NULL, 0), 2);
    assert_int_equal(jobs_that_fit(*state, 25e9, 12.5e9, 86400, NULL, 0), 2); /* to the byte */
    assert_int_equal(jobs_that_fit(*state, 25e9, 12.5e9 + 4096, 86400, NULL, 0), 1);
    assert_int_equal(jobs_that_fit(*state, 25e9, 2e9, 86400, NULL, 0), 4);
    assert_int_equal(jobs_that_fit(*state, 0, 14e9, 86400, NULL, 0), 4); /* it does not matter */
    assert_int_equal(jobs_that_fit(*state, 25e9, 14e9, 86400, &other, 1), 1);
    assert_int_equal(jobs_that_fit(*state, 25e9, 14e9, 86400, &own, 1), 0);
    assert_int_equal(jobs_that_fit(*state, 25e9, 11e9, 86400, &own, 1), 1);
    assert_int_equal(jobs_that_fit(*state, 25e9, 1e9, 86400, &wide, 1), 0); /* it takes all */
    assert_int_equal(jobs_that_fit(*state, 25e9, 0, 86400, &wide, 1), 3);
}

static void keeps_its_promise_over_requests(void **state)
{
    char words[200];
    const char *wrong = many(*state, edf_check_promise, 3000, words, sizeof(words));

    if (wrong != NULL)
        fail_msg("%s", wrong);
}

static int by_command(int count, char **words)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    random_case *one = strcmp(words[1], "promise") == 0   ? edf_check_promise
                       : strcmp(words[1], "long") == 0    ? edf_compare_long
                       : strcmp(words[1], "hostile") == 0 ? edf_compare_hostile
                                                          : edf_compare;
    char wrong[200];
    const char *said;

    if (arena == NULL)
        return 1;
    said =
        many(arena, one, count > 2 ? strtoull(words[2], NULL, 10) : 1000000, wrong, sizeof(wrong));
    arena_destroy(arena);
    printf("%s\n", said != NULL ? said : "all agree");
    return said != NULL;
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fills_four_cpus_with_32_jobs, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(fills_a_gpu_beside_busy_cpus, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(fills_a_cpu_beside_a_busy_gpu, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(small_jobs_go_behind_a_tight_one, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(one_small_job_goes_before_a_tight_one, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(the_example_of_the_page, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(accepts_32_jobs_in_108_requests, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(accepts_36_jobs_in_108_requests_of_68_minutes, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(a_late_queue_may_not_get_later, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(how_late_a_listed_job_was_before_is_told, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_accepted, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(room_is_charged, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(a_wide_job_asks_for_all_at_most, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(a_coprocessor_that_is_not_there_takes_nothing, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(tolerances_are_as_written, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(is_as_before_after_a_reset, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(numbers_beyond_sense_do_no_harm, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(what_is_too_large_is_refused_unless_it_is_certain,
                                        make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(ten_thousand_hostile_jobs_are_simulated, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(work_grows_as_the_queue_does, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(the_budget_is_kept, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(a_hundred_thousand_jobs_are_simulated_where_work_is_allowed,
                                        make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(nothing_is_known_without_a_budget, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(half_jobs_begin_while_a_cpu_is_left, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(agrees_with_the_slow_one, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(agrees_on_long_queues, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(agrees_on_hostile_queues, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(keeps_its_promise_over_requests, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(jobs_run_beside_each_other_as_memory_allows, make_arena,
                                        drop_arena),
    };

    if (count > 1)
        return by_command(count, words);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
