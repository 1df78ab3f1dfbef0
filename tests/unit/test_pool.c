/* SPDX-License-Identifier: Apache-2.0 */
/* The job pool against a slow and obvious one: a list of jobs, looked through from end to end. */
#include "server/pool/pool.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "server/pool/fill.h"
#include "tests/support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { MODEL_MAX = 60, ROUNDS = 4000, QUESTIONS = 25 };

/* --- the slow one ---------------------------------------------------------------------------- */

struct model_job {
    struct pool_job job;
    bool is_held, is_taken, is_foreign;
};

/* Who has met the workunit of a job: a user, a host. */
enum { SUBJECTS = 3 }; /* 0: nobody */

struct model {
    struct model_job jobs[MODEL_MAX];
    bool met[POOL_SUBJECTS][SUBJECTS][MODEL_MAX];
    struct random random;
};

/* A host: which groups, and how large. */
struct host {
    uint64_t apps; /* bits */
    int64_t hr_class;
    struct pool_terms terms;
};

static bool judge(void *context, const struct pool_group *group, struct pool_terms *ret_terms)
{
    const struct host *host = context;

    *ret_terms = host->terms;
    return (host->apps >> group->appid & 1) != 0 &&
           (group->hr_class == 0 || group->hr_class == host->hr_class);
}

static bool may_have(const struct host *host, const struct pool_job *job)
{
    return (host->apps >> job->workunit.appid & 1) != 0 &&
           (job->workunit.hr_class == 0 || job->workunit.hr_class == host->hr_class);
}

static double amount(const struct pool_job *job, int which)
{
    const struct workunit_row *workunit = &job->workunit;
    const double amounts[POOL_LIMIT_COUNT] = {
        [POOL_MEMORY] = workunit->rsc_memory_bound,
        [POOL_DISK] = workunit->rsc_disk_bound,
        [POOL_BANDWIDTH] = workunit->rsc_bandwidth_bound,
        [POOL_SPEED] = workunit->rsc_fpops_est / ((double)workunit->delay_bound + 1e-6)};

    return amounts[which];
}

static bool has_room(const struct host *host, const struct pool_job *job, int except)
{
    for (int i = 0; i < POOL_LIMIT_COUNT; i++)
        if (i != except && amount(job, i) > host->terms.limits[i])
            return false;
    return true;
}

static bool same_class(const struct pool_job *a, const struct pool_job *b)
{
    return a->priority == b->priority && a->workunit.appid == b->workunit.appid &&
           a->workunit.hr_class == b->workunit.hr_class &&
           a->workunit.rsc_memory_bound == b->workunit.rsc_memory_bound &&
           a->workunit.rsc_disk_bound == b->workunit.rsc_disk_bound &&
           a->workunit.rsc_bandwidth_bound == b->workunit.rsc_bandwidth_bound &&
           a->workunit.rsc_fpops_est == b->workunit.rsc_fpops_est &&
           a->workunit.delay_bound == b->workunit.delay_bound &&
           a->workunit.batch == b->workunit.batch &&
           text_equal(a->workunit.keywords, b->workunit.keywords);
}

static bool is_here(const struct model_job *job)
{
    return job->is_held && !job->is_taken;
}

static bool stands_before(const struct model_job *a, const struct model_job *b)
{
    if (a->job.priority != b->job.priority)
        return a->job.priority > b->job.priority;
    if (a->is_foreign != b->is_foreign)
        return b->is_foreign;
    return a->job.resultid < b->job.resultid;
}

/* Whether no job of its class stands before it. */
static bool leads(const struct model *model, const struct model_job *job)
{
    for (size_t i = 0; i < MODEL_MAX; i++)
        if (is_here(&model->jobs[i]) && same_class(&model->jobs[i].job, &job->job) &&
            stands_before(&model->jobs[i], job))
            return false;
    return true;
}

static struct model_job *next_leader(struct model *model, const struct host *host,
                                     const struct model_job *after)
{
    struct model_job *best = NULL;

    for (size_t i = 0; i < MODEL_MAX; i++) {
        struct model_job *job = &model->jobs[i];
        if (is_here(job) && may_have(host, &job->job) && has_room(host, &job->job, -1) &&
            (after == NULL || stands_before(after, job)) &&
            (best == NULL || stands_before(job, best)) && leads(model, job))
            best = job;
    }
    return best;
}

/* Rules of one result per workunit. */
static bool is_passed_over(const struct model *model, const struct pool_question *question,
                           const struct model_job *job)
{
    for (int i = 0; i < POOL_SUBJECTS; i++)
        if (model->met[i][question->subjects[i]][job->job.resultid])
            return true;
    for (size_t i = 0; i < question->passed_over_count; i++)
        if (question->passed_over[i] == job->job.workunit.id)
            return true;
    return false;
}

/* The next job of the same class and part; `after` NULL: the first. */
static struct model_job *next_alike(struct model *model, const struct pool_question *question,
                                    const struct model_job *leader, bool is_foreign,
                                    const struct model_job *after)
{
    struct model_job *best = NULL;

    for (size_t i = 0; i < MODEL_MAX; i++) {
        struct model_job *job = &model->jobs[i];
        if (is_here(job) && same_class(&job->job, &leader->job) && job->is_foreign == is_foreign &&
            (after == NULL || stands_before(after, job)) && !is_passed_over(model, question, job) &&
            (best == NULL || stands_before(job, best)))
            best = job;
    }
    return best;
}

/* From the own part of a class if it has any, else from the others'. */
static size_t pick_alike(struct model *model, const struct pool_question *question,
                         const struct model_job *leader, bool is_foreign, double wanted,
                         int64_t *ret_ids)
{
    const struct model_job *job = NULL;
    size_t count = 0;

    do {
        job = next_alike(model, question, leader, is_foreign, job);
        if (job != NULL)
            ret_ids[count++] = job->job.resultid;
    } while (job != NULL && (double)count < wanted);
    if (count == 0 && !is_foreign)
        return pick_alike(model, question, leader, true, wanted, ret_ids);
    return count;
}

static size_t ask_model(struct model *model, const struct host *host,
                        const struct pool_question *question, int64_t *ret_ids)
{
    struct model_job *leader = next_leader(model, host, NULL);
    size_t count = 0, classes = 0;

    for (; leader != NULL && classes < question->classes_max && count < question->jobs_max;
         leader = next_leader(model, host, leader)) {
        double wanted =
            ceil(host->terms.flop / leader->job.workunit.rsc_fpops_est) + host->terms.jobs;
        size_t got =
            pick_alike(model, question, leader, leader->is_foreign,
                       fmin(wanted, (double)(question->jobs_max - count)), ret_ids + count);

        count += got;
        classes += got > 0;
    }
    for (size_t i = 0; i < count; i++)
        model->jobs[ret_ids[i]].is_taken = true;
    return count;
}

/* The least of an amount among the jobs that the host has room for otherwise; HUGE_VAL: none. */
static double least(const struct model *model, const struct host *host, int which, bool strict)
{
    double best = HUGE_VAL;

    for (size_t i = 0; i < MODEL_MAX; i++) {
        const struct pool_job *job = &model->jobs[i].job;
        if (is_here(&model->jobs[i]) && may_have(host, job) &&
            (!strict || has_room(host, job, which)))
            best = fmin(best, amount(job, which));
    }
    return best;
}

/* Which ids are another server's, found out one by one. */
static const int64_t two_servers[] = {11, 22};
static bool theirs[MODEL_MAX];

static void find_parts(void)
{
    for (int64_t id = 0; id < MODEL_MAX; id++) {
        struct pool *pool = pool_create(1, false);
        struct pool_job job = {.resultid = id};
        struct pool_figures figures;

        pool_divide(pool, two_servers[0], two_servers, 2);
        assert_status(STATUS_OK, pool_put(pool, &job, 1));
        pool_figures(pool, &figures);
        theirs[id] = figures.own == 0;
        pool_destroy(pool);
    }
}

/* Two servers, or the other one is gone. */
static void divide_jobs(struct model *model, struct pool *pool)
{
    size_t servers = 1 + (size_t)(random_next(&model->random) % 2);

    pool_divide(pool, two_servers[0], two_servers, servers);
    while (pool_divide_some(pool))
        ;
    for (size_t i = 0; i < MODEL_MAX; i++)
        model->jobs[i].is_foreign = servers == 2 && theirs[i];
}

/* --- random cases ---------------------------------------------------------------------------- */

static int64_t below(struct random *random, int64_t bound)
{
    return (int64_t)(random_next(random) % (uint64_t)bound);
}

static struct pool_job random_job(struct random *random, int64_t id)
{
    struct pool_job job = {
        .resultid = id,
        .priority = below(random, 3) - 1,
        .workunit = {.id = 1000 + id,
                     .appid = below(random, 3),
                     .hr_class = below(random, 4) == 0 ? 1 + below(random, 2) : 0,
                     .batch = below(random, 2),
                     .rsc_memory_bound = (double)(1 + below(random, 6)),
                     .rsc_disk_bound = (double)(1 + below(random, 6)),
                     .rsc_bandwidth_bound = (double)below(random, 2),
                     .rsc_fpops_est = (double)(10 << below(random, 4)),
                     .delay_bound = 10 << below(random, 3)}};

    if (below(random, 4) == 0)
        job.workunit.keywords = below(random, 2) == 0 ? TEXT("1 2") : TEXT("3");
    return job;
}

static struct host random_host(struct random *random)
{
    return (struct host){
        .apps = (uint64_t)below(random, 8),
        .hr_class = below(random, 3),
        .terms = {.limits = {[POOL_MEMORY] = (double)below(random, 8),
                             [POOL_DISK] = (double)below(random, 8),
                             [POOL_BANDWIDTH] = below(random, 2) == 0 ? 0 : HUGE_VAL,
                             [POOL_SPEED] = (double)(1 << below(random, 5))},
                  .flop = (double)(below(random, 3) * 40),
                  .jobs = (double)below(random, 3)}};
}

static void put_some(struct model *model, struct pool *pool)
{
    for (size_t i = 0; i < MODEL_MAX; i++) {
        struct model_job *job = &model->jobs[i];

        if (below(&model->random, 3) == 0 || job->is_taken)
            continue;
        job->job = random_job(&model->random, (int64_t)i);
        job->is_held = true;
        assert_status(STATUS_OK, pool_put(pool, &job->job, 1));
    }
}

/* Facts of single workunits, of which some users and hosts have many. */
static void meet_some(struct model *model, struct pool *pool)
{
    for (int i = 0; i < 20; i++) {
        enum pool_subject subject = below(&model->random, 2) == 0 ? POOL_USER : POOL_HOST;
        int64_t id = 1 + below(&model->random, SUBJECTS - 1);
        int64_t job = below(&model->random, MODEL_MAX), workunitid = 1000 + job;

        model->met[subject][id][job] = true;
        pool_met(pool, subject, id, &workunitid, 1);
    }
}

static void drop_some(struct model *model, struct pool *pool)
{
    int64_t id = below(&model->random, MODEL_MAX);

    pool_drop(pool, &id, 1);
    model->jobs[id].is_held = model->jobs[id].is_taken = false;
}

static void give_back_some(struct model *model, struct pool *pool)
{
    for (size_t i = 0; i < MODEL_MAX; i++) {
        struct model_job *job = &model->jobs[i];
        int64_t id = (int64_t)i;

        if (!job->is_taken || below(&model->random, 2) == 0)
            continue;
        job->is_taken = false;
        pool_return(pool, &id, 1);
    }
}

static void sweep(struct model *model, struct pool *pool)
{
    pool_sweep_begin(pool);
    for (size_t i = 0; i < MODEL_MAX; i++) {
        struct model_job *job = &model->jobs[i];
        int64_t id = (int64_t)i;

        if (below(&model->random, 4) == 0) {
            job->is_held = job->is_held && job->is_taken;
            continue;
        }
        assert_int_equal(pool_confirm(pool, job->job.priority, &id, 1), job->is_held ? 0 : 1);
    }
    while (pool_sweep_end(pool))
        ;
}

static void compare_answers(struct model *model, struct pool *pool, struct arena *arena)
{
    struct host host = random_host(&model->random);
    size_t jobs_max = 1 + (size_t)below(&model->random, 20);
    size_t classes_max = 1 + (size_t)below(&model->random, 10);
    struct pool_question question = {.judge = judge,
                                     .context = &host,
                                     .jobs_max = jobs_max,
                                     .classes_max = classes_max,
                                     .reserve = HUGE_VAL};
    struct pool_answer answer;
    int64_t ids[MODEL_MAX];
    int64_t passed_over[] = {1000 + below(&model->random, 20), 1030 + below(&model->random, 20)};
    size_t count;

    if (below(&model->random, 2) == 0) {
        question.subjects[POOL_USER] = below(&model->random, SUBJECTS);
        question.subjects[POOL_HOST] = question.subjects[POOL_USER] == 0
                                           ? 1 + below(&model->random, SUBJECTS - 1)
                                           : below(&model->random, SUBJECTS);
        question.passed_over = passed_over;
        question.passed_over_count = (size_t)below(&model->random, 3);
    }
    assert_true(pool_explain(pool, arena, &question, &answer));
    for (int which = 0; which < POOL_LIMIT_COUNT && jobs_max >= POOL_LIMIT_COUNT; which++) {
        double wanted = least(model, &host, which, true);
        bool found = false;

        if (wanted == HUGE_VAL)
            wanted = least(model, &host, which, false);
        for (size_t i = 0; i < answer.count; i++)
            found = found ||
                    (amount(&answer.jobs[i], which) == wanted && may_have(&host, &answer.jobs[i]));
        assert_true(found || wanted == HUGE_VAL);
    }
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    count = ask_model(model, &host, &question, ids);
    assert_int_equal(answer.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct pool_job *got = &answer.jobs[i], *wanted = &model->jobs[ids[i]].job;

        assert_i64(got->resultid, wanted->resultid);
        assert_i64(got->workunit.id, wanted->workunit.id);
        assert_true(same_class(got, wanted));
    }
}

static void same_jobs_in_the_same_order(void **state)
{
    struct arena *arena = arena_create(1 << 24);

    (void)state;
    find_parts();
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct pool *pool = pool_create(MODEL_MAX, seed % 2 == 0);
        struct model model = {.random = {.state = seed}};
        struct pool_figures figures;

        for (int i = 0; i < QUESTIONS; i++) {
            if (i % 5 == 0)
                put_some(&model, pool);
            if (i % 9 == 4)
                divide_jobs(&model, pool);
            if (i % 6 == 3)
                meet_some(&model, pool);
            drop_some(&model, pool);
            if (i % 7 == 6)
                sweep(&model, pool);
            compare_answers(&model, pool, arena);
            give_back_some(&model, pool);
            arena_reset(arena);
        }
        for (int64_t id = 0; id < MODEL_MAX; id++)
            pool_drop(pool, &id, 1);
        pool_figures(pool, &figures);
        assert_int_equal(figures.jobs + figures.taken + figures.own, 0);
        assert_int_equal(figures.classes + figures.groups, 0);
        pool_destroy(pool);
    }
    arena_destroy(arena);
}

/* --- single claims --------------------------------------------------------------------------- */

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

static struct host anybody = {.apps = UINT64_MAX,
                              .terms = {.limits = {10, 10, 10, 1000}, .jobs = 1}};

static struct pool_answer ask(struct pool *pool, struct host *host, size_t jobs, size_t classes)
{
    struct pool_question question = {.judge = judge,
                                     .context = host,
                                     .jobs_max = jobs,
                                     .classes_max = classes,
                                     .reserve = HUGE_VAL};
    struct pool_answer answer;

    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    return answer;
}

static void end_sweep(struct pool *pool)
{
    while (pool_sweep_end(pool))
        ;
}

static void a_search_goes_on_where_it_ended(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_question question = {
        .judge = judge, .context = &anybody, .jobs_max = 3, .classes_max = 3, .reserve = HUGE_VAL};
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
    bool suits = judge(context, group, ret_terms);

    ret_terms->lane = (size_t)group->appid;
    return suits;
}

/* Of the first app a full lane, and the second app far behind; then the search goes on in the
 * first. */
static void a_full_lane_is_gone_on_with(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_question question = {.judge = judge_by_app,
                                     .context = &anybody,
                                     .jobs_max = 100,
                                     .classes_max = 100,
                                     .reserve = HUGE_VAL,
                                     .lane_max = 4};
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
    job.stream_batch = 7;
    put_jobs(pool, job, 2, 1);
    job.stream_owner = 8;
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
    struct host slow = anybody;
    struct pool_question question = {
        .judge = judge, .context = &anybody, .jobs_max = 1, .classes_max = 1, .reserve = HUGE_VAL};
    struct pool_answer mine;

    (void)state;
    large.workunit.rsc_memory_bound = 5;
    slow.terms.limits[POOL_MEMORY] = 4;
    pool_sweep_begin(pool);
    assert_status(STATUS_OK, pool_put(pool, &large, 1));
    put_jobs(pool, alike, 2, 4);
    end_sweep(pool);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &mine));
    assert_i64(mine.jobs[0].resultid, 1);
    assert_false(ask(pool, &slow, 1, 1).is_short); /* not for it: needs too much */
    assert_true(ask(pool, &anybody, 1, 1).is_short);
    question.held = &mine.jobs[0].resultid;
    question.held_count = 1;
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &mine));
    assert_false(mine.is_short);                   /* the large one is its own */
    assert_false(ask(pool, &slow, 1, 1).is_short); /* the last like job 2 */
    assert_true(ask(pool, &slow, 1, 1).is_short);
    question.held = NULL;
    question.held_count = 0;
    pool_return(pool, (const int64_t[]){1, 2, 3, 4, 5}, 5);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &mine));
    assert_false(mine.is_short);
    pool_destroy(pool);
}

/* With rules of single workunits one job of a class is not as good as another. */
static void what_others_hold_may_be_the_only_one_of_its_workunit(void **state)
{
    struct pool *pool = pool_create(100, false);
    struct pool_question question = {.judge = judge,
                                     .context = &anybody,
                                     .jobs_max = 1,
                                     .classes_max = 1,
                                     .reserve = HUGE_VAL,
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
    struct host slow = anybody;

    (void)state;
    slow.terms.limits[POOL_MEMORY] = 0.5;
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
    struct host small = anybody;
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
    small.terms.limits[POOL_MEMORY] = 1;
    small.terms.jobs = 1000;
    assert_int_equal(ask(pool, &small, 1000, 10).count, 301);
    assert_int_equal(ask(pool, &anybody, 1, 1).count, 1);
    pool_destroy(pool);
}

static void a_class_that_lacks_some_asks_for_more_when_low(void **state)
{
    struct pool *pool = pool_create(200, false);
    struct host all = anybody;
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
    struct host all = anybody;
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
    pool_distrust(pool, (const int64_t[]){2}, 1);
    assert_int_equal(pool_distrusted(pool, ids, 10), 1);
    assert_i64(ids[0], 2);
    assert_int_equal(pool_distrusted(pool, ids, 10), 0);
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
    pool_distrust(pool, (const int64_t[]){2}, 1);
    assert_true(ask(pool, &anybody, 1, 1).is_short);
    assert_int_equal(pool_distrusted(pool, ids, 10), 1);
    assert_true(ask(pool, &anybody, 1, 1).is_short); /* it is being read */
    assert_int_equal(pool_distrusted(pool, ids, 10), 0);
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
    return (struct pool_question){.judge = judge,
                                  .context = &anybody,
                                  .jobs_max = jobs,
                                  .classes_max = jobs,
                                  .reserve = HUGE_VAL,
                                  .subjects = {[POOL_USER] = 7}};
}

static void what_a_user_has_met_is_for_others(void **state)
{
    struct pool *pool = pool_create(1000, false);
    struct pool_question question = user_question(1);
    struct pool_answer answer;

    (void)state;
    put_jobs(pool, plain_job(1), 1, 5);
    pool_met(pool, POOL_USER, 7, (const int64_t[]){1, 2}, 2);
    pool_met(pool, POOL_HOST, 7, (const int64_t[]){3}, 1);
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
    pool_met(pool, POOL_USER, 7, (const int64_t[]){1, 3}, 2);
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
    struct host all = anybody;
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
    pool_met(pool, POOL_USER, 7, (const int64_t[]){1}, 1);
    pool_met_age(pool);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_i64(answer.jobs[0].resultid, 2);
    pool_met_age(pool);
    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_i64(answer.jobs[0].resultid, 1);
    /* Any number of facts in the same room, the youngest of them known. */
    for (int64_t i = 10; i < 10000; i++)
        pool_met(pool, POOL_USER, 7, &i, 1);
    pool_met(pool, POOL_USER, 7, (const int64_t[]){3}, 1);
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
    struct host host = anybody;
    struct pool_question question = {
        .judge = judge, .context = &host, .jobs_max = 7, .classes_max = 3, .reserve = HUGE_VAL};
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
        cmocka_unit_test(same_jobs_in_the_same_order),
        cmocka_unit_test(a_search_goes_on_where_it_ended),
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
