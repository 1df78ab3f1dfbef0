/* SPDX-License-Identifier: Apache-2.0 */
/* Fetching work for CPUs and coprocessors. */
#include "server/base/random.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/client/fetch.h"

#include <math.h>

#include "server/base/banned.h"

enum { A, B, GPU = 1 };
#define DAY 86400.0

/* One CPU, one GPU of twice its speed, two projects with equal shares; of one host at a time. */
static struct fetch_host two_projects(void)
{
    static struct fetch_project projects[2];
    struct fetch_host host = {.resource_count = 2, .projects = projects, .project_count = 2};

    projects[A] = projects[B] = (struct fetch_project){.share = 100};

    host.resources[CLIENT_CPU] = (struct fetch_resource){.count = 1, .flops = 1e9};
    host.resources[GPU] = (struct fetch_resource){.count = 1, .flops = 2e9};
    return host;
}

static struct fetch_job job(size_t project, size_t resource, double left)
{
    struct fetch_job made = {.project = project, .left = left};

    made.uses[resource] = 1;
    return made;
}

enum { JOBS_MAX = 200 };
struct queue {
    struct fetch_job jobs[JOBS_MAX];
    size_t count;
};

/* The server of a project: jobs of about an hour for what is asked for, if it has such. */
static void answer(struct queue *queue, const struct fetch_request *request, bool has_cpu,
                   enum fetch_answer *ret_answers, struct random *random)
{
    for (size_t r = 0; r < 2; r++) {
        double seconds = request->seconds[r], instances = request->instances[r];

        ret_answers[r] = r == CLIENT_CPU && !has_cpu ? FETCH_UNSUPPORTED : FETCH_NONE_NOW;
        while (ret_answers[r] != FETCH_UNSUPPORTED && (seconds > 0 || instances > 0) &&
               queue->count < JOBS_MAX) {
            struct fetch_job sent = job(request->project, r, 1800 + random_unit(random) * 3600);

            queue->jobs[queue->count++] = sent;
            seconds -= sent.left;
            instances -= 1;
            ret_answers[r] = FETCH_SENT;
        }
    }
}

/* Runs the queue for `step` s, at most until a job ends; counts what each project got. */
static double run(struct queue *queue, double step, double used[2][2])
{
    for (size_t i = 0; i < queue->count; i++)
        if (queue->jobs[i].running)
            step = fmin(step, queue->jobs[i].left);
    for (size_t i = 0; i < queue->count; i++) {
        struct fetch_job *ran = &queue->jobs[i];

        for (size_t r = 0; ran->running && r < 2; r++)
            used[ran->project][r] += ran->uses[r] * step;
        if (ran->running)
            ran->left -= step;
    }
    return step;
}

static void drop_done(struct queue *queue)
{
    size_t kept = 0;

    for (size_t i = 0; i < queue->count; i++)
        if (queue->jobs[i].left > 1e-6)
            queue->jobs[kept++] = queue->jobs[i];
    queue->count = kept;
}

static void the_gpu_goes_three_quarters_to_the_one_without_cpu_jobs(void **state)
{
    (void)state;
    struct fetch_host host = two_projects();
    struct queue queue = {.count = 0};
    struct random random = {.state = 6};
    double used[2][2] = {{0}}, now = 0, idle = 0;

    while (now < 300 * DAY) {
        struct fetch_request request;
        double step;

        fetch_simulate(&host, queue.jobs, queue.count, DAY / 2, now);
        for (int contacts = 0; contacts < 4 && fetch_choose(&host, now, &request); contacts++) {
            enum fetch_answer answers[CLIENT_RESOURCES] = {FETCH_SILENCE};

            answer(&queue, &request, request.project == B, answers, &random);
            fetch_handle_reply(&host, &request, answers, now, &random);
            fetch_simulate(&host, queue.jobs, queue.count, DAY / 2, now);
        }
        idle += (host.resources[0].idle + host.resources[1].idle) * 600;
        step = run(&queue, 600, used);
        fetch_accumulate_debt(&host, queue.jobs, queue.count, step, now);
        drop_done(&queue);
        now += step;
    }
    assert_real(used[A][CLIENT_CPU], 0, 0);
    assert_real(used[B][CLIENT_CPU] / now, 1, 0.02);
    assert_real(used[A][GPU] / now, 0.75, 0.02);
    assert_real(used[B][GPU] / now, 0.25, 0.02);
    assert_true(idle / now < 0.02);
    for (size_t p = 0; p < 2; p++) /* debts stay within some days */
        assert_true(fabs(fetch_overall_debt(&host, p)) < 5 * DAY);
}

static void debt_grows_only_where_jobs_are_likely(void **state)
{
    (void)state;
    struct fetch_host host = two_projects();

    host.projects[B].accounts[GPU].supplies = true;
    fetch_accumulate_debt(&host, NULL, 0, 1000, 0);
    assert_real(host.projects[A].accounts[GPU].debt, 0, 0);
    assert_real(host.projects[A].accounts[CLIENT_CPU].debt, 0, 0);
    assert_real(host.projects[B].accounts[GPU].debt, 1000, 1e-3);

    /* Nor while it is backed off. */
    host.projects[B].accounts[GPU].backoff_end = 5000;
    fetch_accumulate_debt(&host, NULL, 0, 1000, 4999);
    assert_real(host.projects[B].accounts[GPU].debt, 1000, 1e-3);
}

static void debts_of_all_resources_add_up_by_speed(void **state)
{
    (void)state;
    struct fetch_host host = two_projects();

    host.projects[A].accounts[CLIENT_CPU].debt = -100;
    host.projects[A].accounts[GPU].debt = 70;
    assert_real(fetch_overall_debt(&host, A), 40, 1e-9);
}

/* Whoever is asked for another reason is asked for work only if it is that project's turn. */
static void only_whose_turn_it_is_is_asked_beside(void **state)
{
    (void)state;
    struct fetch_host host = two_projects();
    struct fetch_request request;

    host.projects[B].accounts[CLIENT_CPU].debt = host.projects[B].accounts[GPU].debt = 1000;
    fetch_simulate(&host, NULL, 0, DAY / 2, 0);
    assert_false(fetch_add_to_contact(&host, A, 0, &request));
    assert_true(fetch_add_to_contact(&host, B, 0, &request));
    assert_real(request.seconds[GPU], DAY / 2, 1e-6);
}

static void shortfall_is_what_the_queue_leaves_idle(void **state)
{
    (void)state;
    struct fetch_host host = two_projects();
    struct fetch_job jobs[] = {job(A, GPU, 400), job(B, CLIENT_CPU, 100), job(B, CLIENT_CPU, 50)};

    host.resources[CLIENT_CPU].count = 4;
    fetch_simulate(&host, jobs, 3, 1000, 0);
    assert_real(host.resources[CLIENT_CPU].idle, 2, 0);
    assert_real(host.resources[GPU].idle, 0, 0);
    assert_real(host.resources[CLIENT_CPU].shortfall, 4000 - 150, 1e-9);
    assert_real(host.resources[GPU].shortfall, 600, 1e-9);
    /* By project, of its half: 2000 - 150, 500 - 400. */
    assert_real(host.projects[B].accounts[CLIENT_CPU].shortfall, 1850, 1e-9);
    assert_real(host.projects[A].accounts[GPU].shortfall, 100, 1e-9);
    /* Shares are among those that may be asked. */
    host.projects[A].accounts[CLIENT_CPU].backoff_end = 1;
    fetch_simulate(&host, jobs, 3, 1000, 0);
    assert_real(host.projects[B].accounts[CLIENT_CPU].shortfall, 3850, 1e-9);
    assert_real(host.projects[A].accounts[CLIENT_CPU].shortfall, 0, 0);
}

static void idle_coprocessors_then_idle_cpus_then_shortfalls(void **state)
{
    (void)state;
    struct fetch_host host = two_projects();
    struct fetch_request request;
    struct fetch_job jobs[] = {job(A, GPU, 100), job(B, CLIENT_CPU, 100)};

    fetch_simulate(&host, NULL, 0, 1000, 0);
    assert_true(fetch_choose(&host, 0, &request));
    assert_real(request.seconds[GPU], 1000, 0);
    assert_real(request.instances[GPU], 1, 0);
    assert_real(request.seconds[CLIENT_CPU], 0, 0); /* one resource at a time */
    assert_real(request.instances[CLIENT_CPU], 0, 0);

    fetch_simulate(&host, jobs, 1, 1000, 0);
    assert_true(fetch_choose(&host, 0, &request));
    assert_real(request.seconds[CLIENT_CPU], 1000, 0);
    assert_real(request.seconds[GPU], 0, 0);

    fetch_simulate(&host, jobs, 2, 1000, 0);
    assert_true(fetch_choose(&host, 0, &request));
    assert_real(request.seconds[CLIENT_CPU], 900, 0);
    assert_real(request.seconds[GPU], 900, 0);
    assert_real(request.instances[GPU] + request.instances[CLIENT_CPU], 0, 0);
    assert_real(request.scalar, 900, 0);

    jobs[0].left = jobs[1].left = 1000;
    fetch_simulate(&host, jobs, 2, 1000, 0);
    assert_false(fetch_choose(&host, 0, &request));
}

static void a_gpu_that_nobody_serves_does_not_idle_the_cpu(void **state)
{
    (void)state;
    struct fetch_host host = two_projects();
    struct fetch_request request;

    host.projects[A].accounts[GPU].backoff_end = host.projects[B].accounts[GPU].backoff_end = 10;
    fetch_simulate(&host, NULL, 0, 1000, 0);
    assert_true(fetch_choose(&host, 0, &request));
    assert_real(request.seconds[CLIENT_CPU], 1000, 0);
    assert_real(request.instances[CLIENT_CPU], 1, 0);
}

static void of_those_that_may_be_asked_the_one_owed_most(void **state)
{
    (void)state;
    struct fetch_host host = two_projects();

    host.projects[B].accounts[GPU].debt = 500;
    fetch_init(&host, 0);
    assert_int_equal(fetch_select_project(&host, CLIENT_CPU, 0), B);
    /* Unless what it has queued makes up for it. */
    host.projects[B].accounts[CLIENT_CPU].shortfall = -1500;
    assert_int_equal(fetch_select_project(&host, CLIENT_CPU, 0), A);
    host.projects[A].min_rpc_time = 10;
    assert_int_equal(fetch_select_project(&host, CLIENT_CPU, 0), B);
    host.projects[B].excluded = true;
    assert_int_equal(fetch_select_project(&host, CLIENT_CPU, 0), 2);
    assert_int_equal(fetch_select_project(&host, CLIENT_CPU, 10), A);
}

static void back_off_doubles_to_a_day_and_a_job_ends_it(void **state)
{
    (void)state;
    struct fetch_host host = two_projects();
    struct random random = {.state = 7};
    struct fetch_request request = {.project = A, .seconds = {0, 100}};
    enum fetch_answer answers[CLIENT_RESOURCES] = {FETCH_NONE_NOW, FETCH_NONE_NOW};
    struct fetch_account *gpu = &host.projects[A].accounts[GPU];
    double interval = FETCH_BACKOFF_MIN;

    gpu->supplies = true;
    for (int i = 0; i < 12; i++) {
        fetch_handle_reply(&host, &request, answers, 0, &random);
        assert_real(gpu->backoff, interval, 0);
        assert_true(gpu->backoff_end >= interval / 2 && gpu->backoff_end <= interval);
        assert_true(gpu->backoff_end <= DAY);
        interval = fmin(2 * interval, DAY);
    }
    assert_true(gpu->supplies);
    /* What was not asked for is not held against it. */
    assert_real(host.projects[A].accounts[CLIENT_CPU].backoff_end, 0, 0);
    /* The least delay of what is lacking, and never before its minimum RPC time. */
    assert_true(isinf(fetch_next_contact(&host, A)));
    host.resources[GPU].idle = 1;
    assert_real(fetch_next_contact(&host, A), gpu->backoff_end, 0);
    host.resources[CLIENT_CPU].shortfall = 1000;
    assert_real(fetch_next_contact(&host, A), 0, 0);
    host.projects[A].accounts[CLIENT_CPU].backoff_end = 77;
    assert_real(fetch_next_contact(&host, A), 77, 0);
    host.projects[A].min_rpc_time = 99;
    assert_real(fetch_next_contact(&host, A), 99, 0);

    answers[GPU] = FETCH_SENT;
    fetch_handle_reply(&host, &request, answers, 0, &random);
    assert_real(gpu->backoff, 0, 0);
    assert_real(gpu->backoff_end, 0, 0);
}

static void each_of_the_three_answers_has_its_effect(void **state)
{
    (void)state;
    static const struct {
        enum fetch_answer answer;
        bool supplied, supplies;
        double backoff;
    } cases[] = {
        {FETCH_SENT, false, true, 0},
        {FETCH_NONE_NOW, true, true, FETCH_BACKOFF_MIN},
        {FETCH_NONE_NOW, false, false, FETCH_BACKOFF_MIN},
        {FETCH_UNSUPPORTED, true, false, FETCH_BACKOFF_MAX},
        {FETCH_SILENCE, true, false, FETCH_BACKOFF_MIN},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fetch_host host = two_projects();
        struct random random = {.state = 8};
        struct fetch_request request = {.project = A, .instances = {0, 1}};
        enum fetch_answer answers[CLIENT_RESOURCES] = {FETCH_SILENCE};

        host.projects[A].accounts[GPU].supplies = cases[i].supplied;
        answers[GPU] = cases[i].answer;
        fetch_handle_reply(&host, &request, answers, 0, &random);
        assert_int_equal(host.projects[A].accounts[GPU].supplies, cases[i].supplies);
        assert_real(host.projects[A].accounts[GPU].backoff, cases[i].backoff, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gpu_goes_three_quarters_to_the_one_without_cpu_jobs),
        cmocka_unit_test(debt_grows_only_where_jobs_are_likely),
        cmocka_unit_test(debts_of_all_resources_add_up_by_speed),
        cmocka_unit_test(only_whose_turn_it_is_is_asked_beside),
        cmocka_unit_test(shortfall_is_what_the_queue_leaves_idle),
        cmocka_unit_test(idle_coprocessors_then_idle_cpus_then_shortfalls),
        cmocka_unit_test(a_gpu_that_nobody_serves_does_not_idle_the_cpu),
        cmocka_unit_test(of_those_that_may_be_asked_the_one_owed_most),
        cmocka_unit_test(back_off_doubles_to_a_day_and_a_job_ends_it),
        cmocka_unit_test(each_of_the_three_answers_has_its_effect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
