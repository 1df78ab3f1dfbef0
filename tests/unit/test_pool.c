/* SPDX-License-Identifier: Apache-2.0 */
/* The job pool, claim by claim. (All of it, against a slow one: test_pool_random.c.) */
#include "server/pool/pool.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "server/pool/fill.h"
#include "tests/support/pool_host.h"
#include "tests/support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

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

static struct pool_job plain_job(int64_t id)
{
    return (struct pool_job){.resultid = id,
                             .workunit = {.id = id,
                                          .rsc_memory_bound = 1,
                                          .rsc_disk_bound = 1,
                                          .rsc_fpops_est = 1,
                                          .delay_bound = 1000}};
}

static void put_jobs(struct pool *pool, struct pool_job job, int64_t first, int64_t count)
{
    for (int64_t i = first; i < first + count; i++) {
        job.resultid = job.workunit.id = i;
        assert_status(STATUS_OK, pool_put(pool, &job, 1));
    }
}

static struct pool_host anybody = {.apps = UINT64_MAX,
                                   .terms = {.limits = {10, 10, 10, 1000}, .jobs = 1}};

static struct pool_answer ask(struct pool *pool, struct pool_host *host, size_t jobs,
                              size_t classes)
{
    struct pool_question question = {.judge = pool_host_judge,
                                     .context = host,
                                     .jobs_max = jobs,
                                     .classes_max = classes,
                                     .times_wanted = HUGE_VAL};
    struct pool_answer answer;

    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    return answer;
}

static void end_sweep(struct pool *pool)
{
    while (pool_sweep_end(pool))
        ;
}

/* The worked example of README.md beside the pool. */
static void the_example_of_the_page(void **state)
{
    static const struct {
        int64_t first, count, appid, priority;
        double memory;
    } rows[] = {{1, 2, 1, 5, 3}, {3, 3, 1, 0, 2}, {6, 1, 2, 3, 1}};
    static const int64_t wanted[2][3] = {{6, 3, 4}, {1, 2, 5}};
    static const double memory[2] = {2.5, 4};
    struct pool *pool = pool_create(1000, false);
    struct pool_figures figures;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pool_job job = plain_job(rows[i].first);

        job.priority = rows[i].priority;
        job.workunit.appid = rows[i].appid;
        job.workunit.rsc_memory_bound = rows[i].memory;
        put_jobs(pool, job, rows[i].first, rows[i].count);
    }
    pool_figures(pool, &figures);
    assert_int_equal(figures.groups, 2);
    assert_int_equal(figures.classes, 3);
    for (int turn = 0; turn < 2; turn++) {
        struct pool_host host = anybody;
        struct pool_answer answer;

        host.terms.jobs = 2;
        host.terms.limits[CLASS_MEMORY] = memory[turn];
        answer = ask(pool, &host, 3, 3);
        assert_int_equal(answer.count, 3);
        for (int i = 0; i < 3; i++)
            assert_i64(answer.jobs[i].resultid, wanted[turn][i]);
    }
    pool_drop(pool, wanted[0], 3);
    pool_figures(pool, &figures);
    assert_int_equal(figures.jobs, 3);
    assert_int_equal(figures.taken, 3);
    pool_return(pool, wanted[1], 3);
    pool_figures(pool, &figures);
    assert_int_equal(figures.taken, 0);
    pool_destroy(pool);
}

static void a_search_goes_on_where_it_ended(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_question question = {.judge = pool_host_judge,
                                     .context = &anybody,
                                     .jobs_max = 3,
                                     .classes_max = 3,
                                     .times_wanted = HUGE_VAL};
    struct pool_place place = {0};
    int64_t wanted = 1;

    (void)state;
    for (int64_t i = 1; i <= 9; i++) {
        struct pool_job job = plain_job(i);
        job.workunit.rsc_memory_bound = (double)i;
        put_jobs(pool, job, i, 1);
    }
    for (int i = 0; i < 3; i++) {
        struct pool_answer answer;

        assert_true(pool_take(pool, arena, &question, place, &answer));
        assert_int_equal(answer.count, 3);
        for (size_t j = 0; j < 3; j++)
            assert_i64(answer.jobs[j].resultid, wanted++);
        place = answer.place;
    }
    pool_destroy(pool);
}

/* A lane for each app. */
static bool judge_by_app(void *context, const struct pool_group *group,
                         struct pool_terms *ret_terms)
{
    bool suits = pool_host_judge(context, group, ret_terms);

    ret_terms->lane = (size_t)group->appid;
    return suits;
}

/* Of the first app a full lane, and the second app far behind; then the search goes on in the
 * first. */
/* Jobs of a class are all the same to a host, so more than it wants are of no use to it. */
static void a_class_gives_no_more_than_is_wanted(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_host host = anybody;
    struct pool_question question = {.judge = pool_host_judge,
                                     .context = &host,
                                     .jobs_max = 100,
                                     .classes_max = 100,
                                     .times_wanted = 2};
    struct pool_answer answer;
    struct pool_job job = plain_job(1);

    (void)state;
    host.terms.flop = 10; /* of jobs that take 1 */
    host.terms.jobs = 4;
    put_jobs(pool, job, 1, 100);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_int_equal(answer.count, 10);

    /* Of several classes twice as much and a few more, for a choice. */
    for (int i = 0; i < 5; i++) {
        job.workunit.rsc_memory_bound = 2 + i;
        put_jobs(pool, job, 101 + 6 * i, 6);
    }
    for (int64_t id = 1; id <= 100; id++)
        pool_drop(pool, &id, 1);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_int_equal(answer.count, 24);
    pool_destroy(pool);
}

static void a_full_lane_is_gone_on_with(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_question question = {.judge = judge_by_app,
                                     .context = &anybody,
                                     .jobs_max = 100,
                                     .classes_max = 100,
                                     .times_wanted = 4.0 / 3}; /* four jobs */
    struct pool_place place = {0};
    struct pool_answer answer;

    (void)state;
    for (int64_t i = 1; i <= 9; i++) {
        struct pool_job job = plain_job(i);
        job.workunit.rsc_memory_bound = (double)i;
        job.workunit.appid = i == 9;
        put_jobs(pool, job, i, 1);
    }
    for (int turn = 0; turn < 2; turn++) {
        assert_true(pool_take(pool, arena, &question, place, &answer));
        assert_int_equal(answer.count, turn == 0 ? 5 : 4);
        for (size_t j = 0; j < 4; j++)
            assert_i64(answer.jobs[j].resultid, 1 + 4 * turn + (int64_t)j);
        place = answer.place;
    }
    pool_destroy(pool);
}

static void jobs_of_streams_are_groups(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_job job = plain_job(1);
    struct pool_figures figures;

    (void)state;
    put_jobs(pool, job, 1, 1);
    job.stream.key = (struct stream_key){STREAM_BATCH, 7};
    put_jobs(pool, job, 2, 1);
    job.stream.key = (struct stream_key){STREAM_USER, 8};
    put_jobs(pool, job, 3, 1);
    job.workunit.batch = 9; /* named by no stream */
    put_jobs(pool, job, 4, 1);
    pool_figures(pool, &figures);
    assert_int_equal(figures.groups, 3);
    assert_int_equal(figures.classes, 4);
    pool_destroy(pool);
}

static void a_changed_job_moves(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_job job = plain_job(2);
    int64_t id = 2;

    (void)state;
    put_jobs(pool, plain_job(1), 1, 2);
    assert_int_equal(pool_confirm(pool, 5, &id, 1), 1); /* not as held: to be read again */
    job.priority = 5;
    assert_status(STATUS_OK, pool_put(pool, &job, 1));
    assert_int_equal(pool_confirm(pool, 5, &id, 1), 0);
    assert_i64(ask(pool, &anybody, 1, 1).jobs[0].resultid, 2);
    pool_destroy(pool);
}

static void it_is_filled_after_a_sweep_and_complete_if_all_fitted(void **state)
{
    struct pool *pool = pool_create(10, false);
    struct pool_figures figures;

    (void)state;
    pool_sweep_begin(pool);
    put_jobs(pool, plain_job(1), 1, 10);
    pool_figures(pool, &figures);
    assert_false(figures.is_filled);
    assert_true(ask(pool, &anybody, 1, 1).is_short);
    pool_drop(pool, (const int64_t[]){1}, 1);
    end_sweep(pool);
    pool_figures(pool, &figures);
    assert_true(figures.is_filled && figures.is_complete);
    assert_false(ask(pool, &anybody, 1, 1).is_short);
    put_jobs(pool, plain_job(1), 20, 2);
    pool_figures(pool, &figures);
    assert_true(figures.is_filled && !figures.is_complete);
    assert_false(ask(pool, &anybody, 1, 1).is_short); /* what was left out is like the others */
    pool_drop(pool, (const int64_t[]){2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 21}, 11);
    assert_true(ask(pool, &anybody, 1, 1).is_short);
    pool_sweep_begin(pool);
    put_jobs(pool, plain_job(1), 20, 2);
    end_sweep(pool);
    assert_false(ask(pool, &anybody, 1, 1).is_short);
    pool_destroy(pool);
}

/* More classes than jobs that there is room for. */
static void a_class_that_found_no_room_is_missed(void **state)
{
    struct pool *pool = pool_create(3, false);

    (void)state;
    pool_sweep_begin(pool);
    for (int64_t i = 1; i <= 4; i++) {
        struct pool_job job = plain_job(i);

        job.workunit.rsc_fpops_est = (double)i;
        assert_status(STATUS_OK, pool_put(pool, &job, 1));
    }
    end_sweep(pool);
    assert_true(ask(pool, &anybody, 1, 1).is_short);
    pool_sweep_begin(pool);
    put_jobs(pool, plain_job(1), 1, 3);
    end_sweep(pool);
    assert_false(ask(pool, &anybody, 1, 1).is_short);
    pool_destroy(pool);
}

/* Another may give its job back: that matters to whom it suits, and who sees no other like it. */
static void what_others_hold_may_be_missed(void **state)
{
    struct pool *pool = pool_create(100, false);
    struct pool_job large = plain_job(1), alike = plain_job(2);
    struct pool_host slow = anybody;
    struct pool_question question = {.judge = pool_host_judge,
                                     .context = &anybody,
                                     .jobs_max = 1,
                                     .classes_max = 1,
                                     .times_wanted = HUGE_VAL};
    struct pool_answer mine;

    (void)state;
    large.workunit.rsc_memory_bound = 5;
    slow.terms.limits[CLASS_MEMORY] = 4;
    pool_sweep_begin(pool);
    assert_status(STATUS_OK, pool_put(pool, &large, 1));
    put_jobs(pool, alike, 2, 4);
    end_sweep(pool);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &mine));
    assert_i64(mine.jobs[0].resultid, 1);
    assert_false(ask(pool, &slow, 1, 1).is_short); /* not for it: needs too much */
    assert_true(ask(pool, &anybody, 1, 1).is_short);
    question.taken = &mine.jobs[0].resultid;
    question.taken_count = 1;
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &mine));
    assert_false(mine.is_short);                   /* the large one is its own */
    assert_false(ask(pool, &slow, 1, 1).is_short); /* the last like job 2 */
    assert_true(ask(pool, &slow, 1, 1).is_short);
    question.taken = NULL;
    question.taken_count = 0;
    pool_return(pool, (const int64_t[]){1, 2, 3, 4, 5}, 5);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &mine));
    assert_false(mine.is_short);
    pool_destroy(pool);
}

/* With rules of single workunits one job of a class is not as good as another. */
static void what_others_hold_may_be_the_only_one_of_its_workunit(void **state)
{
    struct pool *pool = pool_create(100, false);
    struct pool_question question = {.judge = pool_host_judge,
                                     .context = &anybody,
                                     .jobs_max = 1,
                                     .classes_max = 1,
                                     .times_wanted = HUGE_VAL,
                                     .subjects = {[POOL_USER] = 7}};
    struct pool_answer answer;

    (void)state;
    pool_sweep_begin(pool);
    put_jobs(pool, plain_job(1), 1, 3);
    end_sweep(pool);
    (void)ask(pool, &anybody, 1, 1);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_true(answer.is_short);
    pool_destroy(pool);
}

/* More classes in others' hands than are told apart. */
static void of_very_much_in_hands_anything_may_be_missed(void **state)
{
    struct pool *pool = pool_create(10000, false);
    struct pool_host slow = anybody;

    (void)state;
    slow.terms.limits[CLASS_MEMORY] = 0.5;
    pool_sweep_begin(pool);
    for (int64_t i = 1; i <= 5000; i++) {
        struct pool_job job = plain_job(i);

        job.workunit.rsc_fpops_est = (double)i;
        assert_status(STATUS_OK, pool_put(pool, &job, 1));
    }
    end_sweep(pool);
    (void)ask(pool, &anybody, 4000, 4000);
    assert_false(ask(pool, &slow, 1, 1).is_short);
    (void)ask(pool, &anybody, 900, 900);
    assert_true(ask(pool, &slow, 1, 1).is_short);
    for (int64_t i = 1; i <= 5000; i++)
        pool_return(pool, &i, 1);
    (void)ask(pool, &anybody, 10, 10);
    assert_false(ask(pool, &slow, 1, 1).is_short);
    pool_destroy(pool);
}

/* A full pool: what is rare gets in, what is plenty makes room, whatever its priority. */
static void a_flood_hides_nothing(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_job flood = plain_job(0), rare = plain_job(0);
    struct pool_host small = anybody;
    struct pool_figures figures;

    (void)state;
    flood.priority = 100;
    flood.workunit.rsc_memory_bound = 5;
    pool_sweep_begin(pool);
    put_jobs(pool, flood, 1, 5000);
    put_jobs(pool, rare, 6000, 300);
    rare.workunit.rsc_disk_bound = 2;
    put_jobs(pool, rare, 7000, 1);
    end_sweep(pool);
    pool_figures(pool, &figures);
    assert_int_equal(figures.jobs, 1000);
    assert_int_equal(figures.classes, 3);
    assert_false(figures.is_complete);
    small.terms.limits[CLASS_MEMORY] = 1;
    small.terms.jobs = 1000;
    assert_int_equal(ask(pool, &small, 1000, 10).count, 301);
    assert_int_equal(ask(pool, &anybody, 1, 1).count, 1);
    pool_destroy(pool);
}

static void a_class_that_lacks_some_asks_for_more_when_low(void **state)
{
    struct pool *pool = pool_create(200, false);
    struct pool_host all = anybody;
    struct pool_answer answer;

    (void)state;
    all.terms.jobs = 1000;
    pool_sweep_begin(pool);
    put_jobs(pool, plain_job(1), 1, 300);
    end_sweep(pool);
    assert_false(pool_is_low(pool));
    answer = ask(pool, &all, 190, 1);
    for (size_t i = 0; i < answer.count; i++)
        pool_drop(pool, &answer.jobs[i].resultid, 1);
    assert_true(pool_is_low(pool));
    pool_sweep_begin(pool);
    put_jobs(pool, plain_job(1), 200, 100);
    end_sweep(pool);
    assert_false(pool_is_low(pool));
    pool_destroy(pool);
}

static void servers_take_their_own_part_first(void **state)
{
    const int64_t servers[] = {11, 22};
    struct pool_host all = anybody;
    bool seen[1001] = {false};
    size_t both = 0;

    (void)state;
    all.terms.jobs = 2000;
    for (int server = 0; server < 2; server++) {
        struct pool *pool = pool_create(1000, false);
        struct pool_figures figures;
        struct pool_answer answer;

        put_jobs(pool, plain_job(1), 1, 1000);
        pool_divide(pool, servers[server], servers, 2);
        while (pool_divide_some(pool))
            ;
        pool_figures(pool, &figures);
        assert_in_range(figures.own, 400, 600);
        answer = ask(pool, &all, 1000, 1);
        assert_int_equal(answer.count, figures.own);
        for (size_t i = 0; i < answer.count; i++) {
            both += seen[answer.jobs[i].resultid];
            seen[answer.jobs[i].resultid] = true;
        }
        /* The other's part is there too, behind. */
        assert_int_equal(ask(pool, &all, 1000, 1).count, 1000 - figures.own);
        pool_destroy(pool);
    }
    assert_int_equal(both, 0);
    for (int i = 1; i <= 1000; i++)
        assert_true(seen[i]);
}

static void the_part_of_a_silent_server_is_taken_over(void **state)
{
    const int64_t servers[] = {11, 22, 33};
    struct pool *pool = pool_create(1000, false);
    struct pool_figures before, after;

    (void)state;
    pool_divide(pool, 11, servers, 3);
    put_jobs(pool, plain_job(1), 1, 1000);
    pool_figures(pool, &before);
    pool_divide(pool, 11, servers, 2);
    while (pool_divide_some(pool))
        ;
    pool_figures(pool, &after);
    assert_in_range(before.own, 250, 420);
    assert_in_range(after.own, before.own + 80, 600);
    pool_divide(pool, 11, servers, 1);
    while (pool_divide_some(pool))
        ;
    pool_figures(pool, &after);
    assert_int_equal(after.own, 1000);
    assert_int_equal(ask(pool, &anybody, 1, 1).jobs[0].resultid, 1);
    pool_destroy(pool);
}

static void a_distrusted_job_is_read_again(void **state)
{
    struct pool *pool = pool_create(1000, false);
    int64_t ids[10];

    (void)state;
    put_jobs(pool, plain_job(1), 1, 2);
    pool_reread(pool, (const int64_t[]){2}, 1);
    assert_int_equal(pool_to_reread(pool, ids, 10), 1);
    assert_i64(ids[0], 2);
    assert_int_equal(pool_to_reread(pool, ids, 10), 0);
    assert_int_equal(ask(pool, &anybody, 10, 1).count, 1);
    pool_destroy(pool);
}

static void it_lacks_what_is_in_doubt(void **state)
{
    struct pool *pool = pool_create(1000, false);
    int64_t ids[10];

    (void)state;
    pool_sweep_begin(pool);
    put_jobs(pool, plain_job(1), 1, 2);
    end_sweep(pool);
    pool_drop(pool, (const int64_t[]){1}, 1);
    pool_reread(pool, (const int64_t[]){2}, 1);
    assert_true(ask(pool, &anybody, 1, 1).is_short);
    assert_int_equal(pool_to_reread(pool, ids, 10), 1);
    assert_true(ask(pool, &anybody, 1, 1).is_short); /* it is being read */
    assert_int_equal(pool_to_reread(pool, ids, 10), 0);
    assert_false(ask(pool, &anybody, 1, 1).is_short);
    pool_destroy(pool);
}

static void its_figures_are_on_the_page(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct buffer page = buffer_on_heap(0);

    (void)state;
    put_jobs(pool, plain_job(1), 1, 3);
    filler_write_figures(NULL, pool, &page);
    assert_true(text_contains(buffer_text(&page), TEXT("\nquartermaster_pool_jobs 3\n")));
    assert_true(text_contains(buffer_text(&page), TEXT("\nquartermaster_pool_complete 0\n")));
    buffer_free(&page);
    pool_destroy(pool);
}

static void with_user_filter_the_batch_is_told(void **state)
{
    struct pool *pool = pool_create(1000, true);
    struct pool_job job = plain_job(1);
    struct pool_figures figures;

    (void)state;
    put_jobs(pool, job, 1, 1);
    job.workunit.batch = 7;
    put_jobs(pool, job, 2, 1);
    pool_figures(pool, &figures);
    assert_int_equal(figures.groups, 2);
    pool_destroy(pool);
}

static struct pool_question user_question(size_t jobs)
{
    return (struct pool_question){.judge = pool_host_judge,
                                  .context = &anybody,
                                  .jobs_max = jobs,
                                  .classes_max = jobs,
                                  .times_wanted = HUGE_VAL,
                                  .subjects = {[POOL_USER] = 7}};
}

static void what_a_user_has_met_is_for_others(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_question question = user_question(1);
    struct pool_answer answer;

    (void)state;
    put_jobs(pool, plain_job(1), 1, 5);
    pool_note_had(pool, POOL_USER, 7, (const int64_t[]){1, 2}, 2);
    pool_note_had(pool, POOL_HOST, 7, (const int64_t[]){3}, 1);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_i64(answer.jobs[0].resultid, 3);
    question.subjects[POOL_USER] = 8;
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_i64(answer.jobs[0].resultid, 1);
    pool_destroy(pool);
}

static void more_of_a_class_is_had_while_there_is_some(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_question question = user_question(3);
    struct pool_more more = {.jobs = 2};
    struct pool_answer answer;

    (void)state;
    put_jobs(pool, plain_job(1), 1, 5);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_int_equal(answer.count, 1);
    pool_return(pool, &answer.jobs[0].resultid, 1);
    pool_note_had(pool, POOL_USER, 7, (const int64_t[]){1, 3}, 2);
    more.class_number = answer.jobs[0].class_number;
    assert_true(
        pool_take_more(pool, arena, &question, (struct pool_more[]){more, more}, 2, &answer));
    assert_int_equal(answer.count, 2); /* though it is named twice */
    assert_i64(answer.jobs[0].resultid, 2);
    assert_i64(answer.jobs[1].resultid, 4);
    for (int64_t id = 1; id <= 5; id++)
        pool_drop(pool, &id, 1);
    assert_true(pool_take_more(pool, arena, &question, &more, 1, &answer)); /* the class is gone */
    assert_int_equal(answer.count, 0);
    pool_destroy(pool);
}

static void of_one_workunit_one_is_given(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_question question = user_question(10);
    struct pool_host all = anybody;
    struct pool_answer answer;

    (void)state;
    all.terms.jobs = 10;
    question.context = &all;
    for (int64_t id = 1; id <= 9; id++) {
        struct pool_job job = plain_job(id);

        job.workunit.id = 1 + (id - 1) / 3;
        assert_status(STATUS_OK, pool_put(pool, &job, 1));
    }
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_int_equal(answer.count, 3);
    question.subjects[POOL_USER] = 0;
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_int_equal(answer.count, 6);
    pool_destroy(pool);
}

static void what_was_met_is_forgotten_in_the_end(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_question question = user_question(1);
    struct pool_answer answer;
    struct pool_figures figures;

    (void)state;
    put_jobs(pool, plain_job(1), 1, 3);
    pool_note_had(pool, POOL_USER, 7, (const int64_t[]){1}, 1);
    pool_forget_had(pool);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_i64(answer.jobs[0].resultid, 2);
    pool_forget_had(pool);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_i64(answer.jobs[0].resultid, 1);
    /* Any number of pairs in the same room, the youngest of them known. */
    for (int64_t i = 10; i < 10000; i++)
        pool_note_had(pool, POOL_USER, 7, &i, 1);
    pool_note_had(pool, POOL_USER, 7, (const int64_t[]){3}, 1);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_int_equal(answer.count, 0);
    pool_figures(pool, &figures);
    assert_in_range(figures.bytes, 1, 2000000);
    pool_destroy(pool);
}

/* --- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, JOBS = 3000 };

struct taker {
    struct pool *pool;
    pthread_t thread;
    int *times; /* that a job was got; each by whoever held it */
};

static void *take_all(void *context)
{
    struct taker *taker = context;
    struct arena *own = arena_create(1 << 20);
    struct pool_host host = anybody;
    struct pool_question question = {.judge = pool_host_judge,
                                     .context = &host,
                                     .jobs_max = 7,
                                     .classes_max = 3,
                                     .times_wanted = HUGE_VAL};
    struct random random = {.state = (uint64_t)(uintptr_t)context};

    host.terms.jobs = 3;
    for (;;) {
        struct pool_answer answer;

        if (!pool_take(taker->pool, own, &question, (struct pool_place){0}, &answer) ||
            answer.count == 0)
            break;
        for (size_t i = 0; i < answer.count; i++) {
            int64_t id = answer.jobs[i].resultid;

            if (random_unit(&random) < 0.3) {
                pool_return(taker->pool, &id, 1);
                continue;
            }
            taker->times[id]++; /* not atomic: nobody else may hold the job */
            pool_drop(taker->pool, &id, 1);
        }
        arena_reset(own);
    }
    arena_destroy(own);
    return NULL;
}

static void threads_never_hold_the_same_job(void **state)
{
    struct pool *pool = pool_create(JOBS + 1, false);
    struct taker takers[THREADS];
    int times[JOBS + 1] = {0};
    struct pool_figures figures;

    (void)state;
    for (int64_t i = 1; i <= JOBS; i++) {
        struct pool_job job = plain_job(i);
        job.workunit.rsc_disk_bound = (double)(i % 9);
        put_jobs(pool, job, i, 1);
    }
    for (int i = 0; i < THREADS; i++) {
        takers[i] = (struct taker){.pool = pool, .times = times};
        assert_int_equal(pthread_create(&takers[i].thread, NULL, take_all, &takers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(takers[i].thread, NULL);
    (void)take_all(&takers[0]); /* what was given back while the others were leaving */
    pool_figures(pool, &figures);
    assert_int_equal(figures.jobs, 0);
    for (int i = 1; i <= JOBS; i++)
        assert_int_equal(times[i], 1);
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_page),
        cmocka_unit_test(a_search_goes_on_where_it_ended),
        cmocka_unit_test(a_class_gives_no_more_than_is_wanted),
        cmocka_unit_test(a_full_lane_is_gone_on_with),
        cmocka_unit_test(jobs_of_streams_are_groups),
        cmocka_unit_test(a_changed_job_moves),
        cmocka_unit_test(it_is_filled_after_a_sweep_and_complete_if_all_fitted),
        cmocka_unit_test(a_class_that_found_no_room_is_missed),
        cmocka_unit_test(what_others_hold_may_be_missed),
        cmocka_unit_test(what_others_hold_may_be_the_only_one_of_its_workunit),
        cmocka_unit_test(of_very_much_in_hands_anything_may_be_missed),
        cmocka_unit_test(a_flood_hides_nothing),
        cmocka_unit_test(a_class_that_lacks_some_asks_for_more_when_low),
        cmocka_unit_test(servers_take_their_own_part_first),
        cmocka_unit_test(the_part_of_a_silent_server_is_taken_over),
        cmocka_unit_test(a_distrusted_job_is_read_again),
        cmocka_unit_test(it_lacks_what_is_in_doubt),
        cmocka_unit_test(its_figures_are_on_the_page),
        cmocka_unit_test(with_user_filter_the_batch_is_told),
        cmocka_unit_test(what_a_user_has_met_is_for_others),
        cmocka_unit_test(more_of_a_class_is_had_while_there_is_some),
        cmocka_unit_test(of_one_workunit_one_is_given),
        cmocka_unit_test(what_was_met_is_forgotten_in_the_end),
        cmocka_unit_test(threads_never_hold_the_same_job),
    };

    return cmocka_run_group_tests(tests, make_arena, destroy_arena);
}
