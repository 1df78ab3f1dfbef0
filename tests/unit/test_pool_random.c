/* SPDX-License-Identifier: Apache-2.0 */
/* The job pool against a slow and obvious one: a list of jobs, looked through from end to end. */
#include "server/pool/pool.h"

#include "server/base/arena.h"
#include "server/base/random.h"
#include "tests/support/pool_host.h"
#include "tests/support/test.h"

#include <math.h>
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

static bool may_have(const struct pool_host *host, const struct pool_job *job)
{
    return (host->apps >> job->workunit.appid & 1) != 0 &&
           (job->workunit.hr_class == 0 || job->workunit.hr_class == host->hr_class);
}

static double amount(const struct pool_job *job, int which)
{
    const struct workunit_row *workunit = &job->workunit;
    const double amounts[CLASS_LIMIT_COUNT] = {
        [CLASS_MEMORY] = workunit->rsc_memory_bound,
        [CLASS_DISK] = workunit->rsc_disk_bound,
        [CLASS_BANDWIDTH] = workunit->rsc_bandwidth_bound,
        [CLASS_SPEED] = workunit->rsc_fpops_est / ((double)workunit->delay_bound + 1e-6)};

    return amounts[which];
}

static bool has_room(const struct pool_host *host, const struct pool_job *job, int except)
{
    for (int i = 0; i < CLASS_LIMIT_COUNT; i++)
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

static struct model_job *next_leader(struct model *model, const struct pool_host *host,
                                     const struct model_job *after)
{
    struct model_job *best = NULL;

    for (size_t i = 0; i < MODEL_MAX; i++) {
        struct model_job *job = &model->jobs[i];
        if (is_here(job) && may_have(host, &job->job) && has_room(host, &job->job, -1) &&
            (host->unwanted_batch == 0 || job->job.workunit.batch != host->unwanted_batch) &&
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

/* Of one class: the youngest of what is others' first. */
static bool is_picked_before(const struct model_job *a, const struct model_job *b)
{
    return a->is_foreign ? a->job.resultid > b->job.resultid : stands_before(a, b);
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
            (after == NULL || is_picked_before(after, job)) &&
            !is_passed_over(model, question, job) && (best == NULL || is_picked_before(job, best)))
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

static size_t ask_model(struct model *model, const struct pool_host *host,
                        const struct pool_question *question, int64_t *ret_ids)
{
    struct model_job *leader = next_leader(model, host, NULL);
    size_t count = 0, classes = 0;

    for (; leader != NULL && classes < question->classes_max && count < question->jobs_max;
         leader = next_leader(model, host, leader)) {
        double wanted =
            fmax(ceil(host->terms.flop / leader->job.workunit.rsc_fpops_est), host->terms.jobs);
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
static double least(const struct model *model, const struct pool_host *host, int which, bool strict)
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

static struct pool_host random_host(struct random *random)
{
    return (struct pool_host){
        .apps = (uint64_t)below(random, 8),
        .hr_class = below(random, 3),
        .unwanted_batch = below(random, 3) == 0 ? 1 : 0,
        .terms = {.limits = {[CLASS_MEMORY] = (double)below(random, 8),
                             [CLASS_DISK] = (double)below(random, 8),
                             [CLASS_BANDWIDTH] = below(random, 2) == 0 ? 0 : HUGE_VAL,
                             [CLASS_SPEED] = (double)(1 << below(random, 5))},
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

/* Pairs of single workunits, of which some users and hosts have many. */
static void meet_some(struct model *model, struct pool *pool)
{
    for (int i = 0; i < 20; i++) {
        enum pool_subject subject = below(&model->random, 2) == 0 ? POOL_USER : POOL_HOST;
        int64_t id = 1 + below(&model->random, SUBJECTS - 1);
        int64_t job = below(&model->random, MODEL_MAX), workunitid = 1000 + job;

        model->met[subject][id][job] = true;
        pool_note_had(pool, subject, id, &workunitid, 1);
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
    struct pool_host host = random_host(&model->random);
    size_t jobs_max = 1 + (size_t)below(&model->random, 20);
    size_t classes_max = 1 + (size_t)below(&model->random, 10);
    struct pool_question question = {.judge = pool_host_judge,
                                     .suits = pool_host_suits,
                                     .context = &host,
                                     .jobs_max = jobs_max,
                                     .classes_max = classes_max,
                                     .times_wanted = HUGE_VAL};
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
    for (int which = 0; which < CLASS_LIMIT_COUNT && jobs_max >= CLASS_LIMIT_COUNT; which++) {
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

static void compare_counts(const struct model *model, struct pool *pool)
{
    const int64_t apps[] = {0, 1, 2, 3};
    size_t jobs[4], wanted[4] = {0};

    for (size_t i = 0; i < MODEL_MAX; i++)
        for (size_t app = 0; app < 4; app++)
            wanted[app] += model->jobs[i].is_held && model->jobs[i].job.workunit.appid == apps[app];
    pool_count_by_app(pool, apps, 4, jobs);
    assert_memory_equal(jobs, wanted, sizeof(jobs));
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
            compare_counts(&model, pool);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_jobs_in_the_same_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
