/* SPDX-License-Identifier: Apache-2.0 */
/* Job streams in the pool: whose turn it is, against a slow and obvious one, and what thousands of
 * owners cost a request. */
#include "server/pool/pool.h"

#include "server/base/arena.h"
#include "server/base/random.h"
#include "tests/support/pool_host.h"
#include "tests/support/test.h"

#include <math.h>

static struct arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = arena_create(1 << 26);
    return 0;
}

static int destroy_arena(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static struct stream owner(int64_t id, double weight)
{
    return (struct stream){.key = {STREAM_USER, id}, .weight = weight};
}

/* Each job a class of its own. */
static struct pool_job job_of(int64_t id, struct stream stream, int64_t priority)
{
    return (struct pool_job){.resultid = id,
                             .priority = priority,
                             .stream = stream,
                             .workunit = {.id = id,
                                          .rsc_memory_bound = 1 + (double)id * 1e-9,
                                          .rsc_disk_bound = 1,
                                          .rsc_fpops_est = 100,
                                          .delay_bound = 1000}};
}

static int judged;

static bool count_and_judge(void *context, const struct pool_group *group,
                            struct pool_terms *ret_terms)
{
    judged++;
    return pool_host_judge(context, group, ret_terms);
}

static struct pool_host anybody = {.apps = UINT64_MAX,
                                   .terms = {.limits = {10, 10, 10, 1000}, .jobs = 1}};

static struct pool_answer take(struct pool *pool, size_t jobs)
{
    struct pool_question question = {.judge = count_and_judge,
                                     .context = &anybody,
                                     .jobs_max = jobs,
                                     .classes_max = jobs,
                                     .times_wanted = HUGE_VAL,
                                     .by_turn = true};
    struct pool_answer answer;

    judged = 0;
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    return answer;
}

static void charge(struct pool *pool, struct stream_key key, double flops)
{
    pool_charge(pool, &(struct pool_booking){.key = key, .flops = flops});
}

/* --- against a slow one ----------------------------------------------------------------------- */

enum { JOBS = 40, STREAMS = 7, ROUNDS = 3000 };

struct slow {
    struct pool_job jobs[JOBS];
    bool is_taken[JOBS];
    double clocks[STREAMS];
};

static const struct stream streams[STREAMS] = {
    {.key = {STREAM_REST, 0}, .weight = 2},   {.key = {STREAM_APP, 5}, .weight = 1},
    {.key = {STREAM_BATCH, 9}, .weight = 3},  {.key = {STREAM_USER, 11}, .weight = 1},
    {.key = {STREAM_USER, 12}, .weight = 2},  {.key = {STREAM_USER, 13}, .weight = 4},
    {.key = {STREAM_USER, 14}, .weight = 0.5}};

static size_t stream_at(const struct pool_job *job)
{
    size_t at = 0;

    while (!stream_key_equal(streams[at].key, job->stream.key))
        at++;
    return at;
}

/* Whether job `a` is to go before `b`. */
static bool goes_before(const struct slow *slow, const struct pool_job *a, const struct pool_job *b)
{
    int64_t level = a->stream.key.kind == STREAM_USER ? 0 : a->priority;
    int64_t other_level = b->stream.key.kind == STREAM_USER ? 0 : b->priority;
    double clock = slow->clocks[stream_at(a)], other_clock = slow->clocks[stream_at(b)];

    if (level != other_level)
        return level > other_level;
    if (clock != other_clock)
        return clock < other_clock;
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->resultid < b->resultid;
}

static size_t take_slowly(struct slow *slow, size_t most, int64_t *ret_ids)
{
    size_t count = 0;

    while (count < most) {
        size_t best = JOBS;

        for (size_t i = 0; i < JOBS; i++)
            if (!slow->is_taken[i] &&
                (best == JOBS || goes_before(slow, &slow->jobs[i], &slow->jobs[best])))
                best = i;
        if (best == JOBS)
            break;
        slow->is_taken[best] = true;
        slow->clocks[stream_at(&slow->jobs[best])] += 100 / slow->jobs[best].stream.weight;
        ret_ids[count++] = slow->jobs[best].resultid;
    }
    return count;
}

static int64_t below(struct random *random, int64_t bound)
{
    return (int64_t)(random_next(random) % (uint64_t)bound);
}

static void fill_both(struct random *random, struct slow *slow, struct pool *pool)
{
    for (int64_t i = 0; i < JOBS; i++) {
        slow->jobs[i] = job_of(i + 1, streams[below(random, STREAMS)], below(random, 4) - 1);
        assert_status(STATUS_OK, pool_put(pool, &slow->jobs[i], 1));
    }
}

static void charge_both(struct random *random, struct slow *slow, struct pool *pool)
{
    for (int i = 0; i < 20; i++) {
        int64_t stream = below(random, STREAMS);
        double flops = 100 * (1 + (double)below(random, 3));
        struct stream known = streams[stream];

        charge(pool, known.key, flops);
        pool_stream_find(pool, &known);
        slow->clocks[stream] = known.clock;
    }
}

static void turns_are_those_of_the_slow_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct random random = {.state = seed};
        struct pool *pool = pool_create(1000, false);
        struct slow slow = {0};
        size_t most = 1 + (size_t)below(&random, JOBS), wanted;
        struct pool_answer answer;
        int64_t ids[JOBS];

        fill_both(&random, &slow, pool);
        charge_both(&random, &slow, pool);
        if (seed % 3 == 0)
            pool_streams_tidy(pool);
        answer = take(pool, most);
        wanted = take_slowly(&slow, most, ids);
        assert_int_equal(answer.count, wanted);
        for (size_t i = 0; i < wanted; i++)
            assert_i64(answer.jobs[i].resultid, ids[i]);
        pool_destroy(pool);
        arena_reset(arena);
    }
}

/* --- claim by claim --------------------------------------------------------------------------- */

/* Each of 3,000 owners has jobs, one of them a flood of the highest priority. Who is behind is
 * found without a look at the others. */
static void thousands_of_owners_cost_a_request_little(void **state)
{
    enum { OWNERS = 3000, FLOOD = 5000 };
    struct pool *pool = pool_create(100000, false);
    struct pool_figures before, after;
    struct pool_answer answer;

    (void)state;
    for (int64_t i = 1; i <= OWNERS; i++) {
        struct pool_job job = job_of(i, owner(i, 1), 0);

        assert_status(STATUS_OK, pool_put(pool, &job, 1));
        charge(pool, job.stream.key, 1000 + (double)((i * 7919) % OWNERS));
    }
    for (int64_t i = 0; i < FLOOD; i++) {
        struct pool_job job = job_of(10000 + i, owner(5, 1), 1000000);

        assert_status(STATUS_OK, pool_put(pool, &job, 1));
    }
    pool_figures(pool, &before);
    answer = take(pool, 3);
    pool_figures(pool, &after);
    assert_int_equal(answer.count, 3);
    for (size_t i = 0; i < 3; i++) /* those that had least */
        assert_i64((answer.jobs[i].resultid * 7919) % OWNERS, (int64_t)i);
    assert_in_range(judged, 3, 10);
    assert_in_range(after.examined - before.examined, 3, 20);
    pool_destroy(pool);
}

/* Of many owners none of which has a job for the host only some are looked at; who asks without
 * turns sees all. */
static void a_search_in_vain_ends(void **state)
{
    struct pool *pool = pool_create(100000, false);
    struct pool_answer answer;

    (void)state;
    for (int64_t i = 1; i <= 1000; i++) {
        struct pool_job job = job_of(i, owner(i, 1), 0);

        job.workunit.rsc_memory_bound = 1e9;
        assert_status(STATUS_OK, pool_put(pool, &job, 1));
    }
    answer = take(pool, 3);
    assert_int_equal(answer.count, 0);
    assert_in_range(judged, 200, 300);
    pool_destroy(pool);
}

static void what_was_given_is_kept_and_read_again(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_job job = job_of(1, owner(7, 2), 0);
    struct stream stream = owner(7, 1);
    struct pool_stream *given;
    size_t count;

    (void)state;
    assert_status(STATUS_OK, pool_put(pool, &job, 1));
    charge(pool, job.stream.key, 100);
    assert_true(pool_streams(pool, arena, &given, &count));
    assert_int_equal(count, 1);
    assert_true(given[0].has_jobs);
    assert_real(given[0].new_flops, 100, 0);
    assert_real(given[0].new_clock, 50, 0);
    charge(pool, job.stream.key, 10); /* while it is written */
    pool_streams_written(pool, given, count);
    given[0].stream.clock = 1050; /* another server gave it 2,000 FLOP */
    given[0].flops = 2100;
    pool_streams_read(pool, given, count);
    assert_true(pool_streams(pool, arena, &given, &count));
    assert_real(given[0].new_flops, 10, 0);
    assert_real(given[0].flops, 2110, 0);
    pool_stream_find(pool, &stream);
    assert_real(stream.clock, 1055, 0);
    assert_real(stream.weight, 2, 0);
    pool_streams_weigh(pool, &(struct stream){.key = stream.key, .weight = 5}, 1);
    pool_stream_find(pool, &stream);
    assert_real(stream.weight, 5, 0);
    pool_destroy(pool);
}

/* A server that has just begun knows how far the others are: who is new gets no more ahead than by
 * the backlog of one that had nothing to give. */
static void a_new_stream_is_not_behind_by_all_the_past(void **state)
{
    struct pool *pool = pool_create(1000, false);
    const struct pool_stream past = {
        .stream = {.key = {STREAM_USER, 1}, .clock = 1e6}, .begun = 1e6 - 100, .flops = 1e6};
    struct stream fresh = owner(2, 1);

    (void)state;
    pool_streams_read(pool, &past, 1);
    charge(pool, fresh.key, 100);
    charge(pool, fresh.key, 100);
    pool_stream_find(pool, &fresh);
    assert_real(fresh.clock, 1e6 - 100 - 500 * 100 + 100, 1);
    pool_destroy(pool);
}

/* A stream that is further behind than counts, and holds nothing, is forgotten. */
static void what_says_nothing_is_forgotten(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_stream *given;
    size_t count;

    (void)state;
    charge(pool, owner(1, 1).key, 1);
    assert_true(pool_streams(pool, arena, &given, &count));
    pool_streams_written(pool, given, count);
    for (int i = 0; i < 2000; i++)
        charge(pool, owner(2, 1).key, 100);
    pool_streams_tidy(pool);
    assert_true(pool_streams(pool, arena, &given, &count));
    assert_int_equal(count, 1);
    assert_i64(given[0].stream.key.id, 2);
    pool_destroy(pool);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_arena, destroy_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(turns_are_those_of_the_slow_one),
        CASE(thousands_of_owners_cost_a_request_little),
        CASE(a_search_in_vain_ends),
        CASE(what_was_given_is_kept_and_read_again),
        CASE(a_new_stream_is_not_behind_by_all_the_past),
        CASE(what_says_nothing_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
