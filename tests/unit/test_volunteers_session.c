/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of scheduler RPCs. */
#include "server/base/random.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/client/rpc_session.h"

#include <math.h>

#include "server/base/banned.h"

#define WEEK (7 * 86400.0)
#define NOW  1e9

static const struct session_queue empty = {.estimated = 0, .low = 1000, .high = 5000};
static const struct session_queue enough = {.estimated = 2000, .low = 1000, .high = 5000};
static const struct session_queue full = {.estimated = 5000, .low = 1000, .high = 5000};

static struct session_project owed(double share, double cpu)
{
    return (struct session_project){
        .share = share, .cpu_average = cpu, .average_time = NOW, .scheduler_count = 1};
}

static void cpu_time_is_forgotten_by_a_factor_of_e_in_a_week(void **state)
{
    (void)state;
    struct session_project project = owed(2, 0);

    assert_true(isinf(session_debt(&project, NOW)));
    session_account_cpu(&project, 1000, NOW);
    assert_real(session_debt(&project, NOW), 0.002, 1e-12);
    assert_real(session_debt(&project, NOW + WEEK), 0.002 * exp(1), 1e-12);
    session_account_cpu(&project, 1000, NOW + WEEK);
    assert_real(project.cpu_average, 1000 + 1000 / exp(1), 1e-9);
}

static void back_off_doubles_within_bounds_and_is_spread(void **state)
{
    (void)state;
    struct random random = {.state = 1};
    double least = INFINITY, most = 0;

    for (unsigned failures = 1; failures < 100; failures++) {
        double longest = fmin(60 * pow(2, failures), SESSION_BACKOFF_MAX);
        double delay = session_backoff(failures, &random);

        assert_true(delay >= longest / 2 && delay <= longest);
        if (failures > 10) {
            least = fmin(least, delay);
            most = fmax(most, delay);
        }
    }
    /* 90 hosts that failed as often do not come back group. */
    assert_true(most - least > 0.4 * SESSION_BACKOFF_MAX);
}

static void work_is_fetched_by_debt_until_the_high_water_mark(void **state)
{
    (void)state;
    struct session_project projects[] = {owed(1, 100), owed(1, 10), owed(1, 50)};
    struct rpc_session session = {.kind = SESSION_NONE};
    struct session_queue queue = empty;
    struct session_step step;

    session_poll(&session, projects, 3, &queue, NOW);
    assert_int_equal(session.kind, SESSION_GET_WORK);
    step = session_next(&session, projects, 3, &queue, NOW);
    assert_int_equal(step.action, SESSION_RPC);
    assert_int_equal(step.project, 1);
    assert_real(step.work_request, 5000, 0);
    queue.estimated += 3000; /* it sends less than was asked for */
    session_rpc_succeeded(&session, projects, 0, NOW);

    /* Above the low mark the session goes on, to the next in debt. */
    step = session_next(&session, projects, 3, &queue, NOW);
    assert_int_equal(step.action, SESSION_RPC);
    assert_int_equal(step.project, 2);
    assert_real(step.work_request, 2000, 0);
    queue.estimated += 2000;
    session_rpc_succeeded(&session, projects, 0, NOW);
    step = session_next(&session, projects, 3, &queue, NOW);
    assert_int_equal(step.action, SESSION_OVER);
    assert_int_equal(session.kind, SESSION_NONE);
}

static void a_project_is_left_alone_until_its_minimum_rpc_time(void **state)
{
    (void)state;
    struct session_project projects[] = {owed(1, 1), owed(1, 10)};
    struct rpc_session session = {.kind = SESSION_NONE};
    struct session_step step;

    session_poll(&session, projects, 2, &empty, NOW);
    (void)session_next(&session, projects, 2, &empty, NOW);
    session_rpc_succeeded(&session, projects, 3600, NOW);
    assert_real(projects[0].min_rpc_time, NOW + 3600, 0);
    step = session_next(&session, projects, 2, &empty, NOW);
    assert_int_equal(step.project, 1);
    session_rpc_succeeded(&session, projects, 0, NOW);
    /* Both were asked once: that is all, though work is lacking. */
    assert_int_equal(session_next(&session, projects, 2, &empty, NOW).action, SESSION_OVER);

    session_poll(&session, projects, 2, &empty, NOW + 3599);
    assert_int_equal(session_next(&session, projects, 2, &empty, NOW + 3599).project, 1);
    session_rpc_succeeded(&session, projects, 0, NOW + 3599);
    assert_int_equal(session_next(&session, projects, 2, &empty, NOW + 3599).action, SESSION_OVER);
    session_poll(&session, projects, 2, &empty, NOW + 3600);
    assert_int_equal(session_next(&session, projects, 2, &empty, NOW + 3600).project, 0);
}

static void a_failure_is_that_of_all_schedulers(void **state)
{
    (void)state;
    struct session_project projects[] = {owed(1, 1), owed(1, 10)};
    struct rpc_session session = {.kind = SESSION_NONE};
    struct random random = {.state = 6};

    projects[0].scheduler_count = 3;
    session_poll(&session, projects, 2, &empty, NOW);
    for (size_t url = 0; url < 3; url++) {
        assert_int_equal(session_next(&session, projects, 2, &empty, NOW).url, url);
        assert_int_equal(projects[0].failures, 0);
        assert_real(projects[0].min_rpc_time, 0, 0);
        session_rpc_failed(&session, projects, NOW, &random);
    }
    assert_int_equal(projects[0].failures, 1);
    assert_in_range(projects[0].min_rpc_time - NOW, 60, 120);
    /* The session goes on with the next project. */
    assert_int_equal(session_next(&session, projects, 2, &empty, NOW).project, 1);
}

static void a_project_that_says_it_is_down_is_asked_once(void **state)
{
    (void)state;
    struct session_project projects[] = {owed(1, 1)};
    struct rpc_session session = {.kind = SESSION_NONE};
    struct random random = {.state = 7};

    projects[0].scheduler_count = 3;
    session_poll(&session, projects, 1, &empty, NOW);
    assert_int_equal(session_next(&session, projects, 1, &empty, NOW).url, 0);
    session_project_is_down(&session, projects, NOW, &random);
    assert_int_equal(projects[0].failures, 1);
    assert_true(projects[0].min_rpc_time > NOW);
    assert_int_equal(session_next(&session, projects, 1, &empty, NOW).action, SESSION_OVER);
}

static void every_scheduler_is_tried_before_a_failure_counts(void **state)
{
    (void)state;
    struct session_project projects[] = {owed(1, 1)};
    struct rpc_session session = {.kind = SESSION_NONE};
    struct random random = {.state = 2};

    projects[0].scheduler_count = 3;
    projects[0].failures = 2;
    session_poll(&session, projects, 1, &empty, NOW);
    for (size_t url = 0; url < 2; url++) {
        struct session_step step = session_next(&session, projects, 1, &empty, NOW);

        assert_int_equal(step.action, SESSION_RPC);
        assert_int_equal(step.url, url);
        session_rpc_failed(&session, projects, NOW, &random);
        assert_int_equal(projects[0].failures, 2);
    }
    assert_int_equal(session_next(&session, projects, 1, &empty, NOW).url, 2);
    session_rpc_succeeded(&session, projects, 0, NOW);
    assert_int_equal(projects[0].failures, 0);
}

/* Fails until the master page is asked for; returns the failures counted then. */
static unsigned fail_until_master(struct session_project *project,
                                  const struct session_queue *queue, struct random *random)
{
    double now = NOW;

    for (int i = 0; i < 100; i++) {
        struct rpc_session session = {.kind = SESSION_NONE};
        struct session_step step;

        now = fmax(now, project->min_rpc_time);
        session_poll(&session, project, 1, queue, now);
        for (step = session_next(&session, project, 1, queue, now); step.action == SESSION_RPC;
             step = session_next(&session, project, 1, queue, now))
            session_rpc_failed(&session, project, now, random);
        if (step.action == SESSION_READ_MASTER)
            return project->failures;
    }
    return 0;
}

static void the_master_page_is_read_again_after_ten_failures(void **state)
{
    (void)state;
    struct session_project getting = owed(1, 1), reporting = owed(1, 1);
    struct random random = {.state = 3};
    double waiting;

    reporting.has_overdue_results = true;
    assert_int_equal(fail_until_master(&getting, &empty, &random), SESSION_MASTER_PERIOD);
    assert_int_equal(fail_until_master(&reporting, &full, &random), SESSION_MASTER_PERIOD);

    /* Nothing new there: the host goes on waiting. */
    waiting = getting.min_rpc_time;
    session_master_read(&getting, 1, 0);
    assert_int_equal(getting.failures, SESSION_MASTER_PERIOD);
    assert_real(getting.min_rpc_time, waiting, 0);
    /* It is not there: one failure more. */
    session_master_failed(&getting, NOW, &random);
    assert_int_equal(getting.failures, SESSION_MASTER_PERIOD + 1);
    assert_int_equal(fail_until_master(&getting, &empty, &random), 2 * SESSION_MASTER_PERIOD);
    /* The project has moved: it is asked at once. */
    session_master_read(&getting, 2, 1);
    assert_int_equal(getting.failures, 0);
    assert_real(getting.min_rpc_time, 0, 0);
    assert_int_equal(getting.scheduler_count, 2);
    /* Of two one is left: nothing new. */
    getting.failures = 1;
    session_master_read(&getting, 1, 0);
    assert_int_equal(getting.failures, 1);
    assert_int_equal(getting.scheduler_count, 1);
}

static void a_project_without_schedulers_begins_with_its_master_page(void **state)
{
    (void)state;
    struct session_project project = {.share = 1, .fetch_master = true};
    struct rpc_session session = {.kind = SESSION_NONE};
    struct random random = {.state = 5};

    session_poll(&session, &project, 1, &empty, NOW);
    assert_int_equal(session_next(&session, &project, 1, &empty, NOW).action, SESSION_READ_MASTER);
    session_master_failed(&project, NOW, &random);
    /* In this session no more, and in no other until the back-off is over. */
    assert_int_equal(session_next(&session, &project, 1, &empty, NOW).action, SESSION_OVER);
    assert_true(project.min_rpc_time > NOW);
    session_poll(&session, &project, 1, &empty, NOW + 1);
    assert_int_equal(session_next(&session, &project, 1, &empty, NOW + 1).action, SESSION_OVER);
    session_poll(&session, &project, 1, &empty, project.min_rpc_time);
    assert_int_equal(session_next(&session, &project, 1, &empty, project.min_rpc_time).action,
                     SESSION_READ_MASTER);
    session_master_read(&project, 2, 2);
    assert_int_equal(session_next(&session, &project, 1, &empty, NOW).action, SESSION_OVER);
    session_poll(&session, &project, 1, &empty, NOW);
    assert_int_equal(session_next(&session, &project, 1, &empty, NOW).action, SESSION_RPC);
}

static void overdue_results_are_reported_once_there_is_enough_work(void **state)
{
    (void)state;
    struct session_project projects[] = {owed(1, 1), owed(1, 10)};
    struct rpc_session session = {.kind = SESSION_NONE};
    struct session_step step;

    projects[1].has_overdue_results = true;
    session_poll(&session, projects, 2, &empty, NOW);
    assert_int_equal(session.kind, SESSION_GET_WORK);
    session = (struct rpc_session){.kind = SESSION_NONE};
    session_poll(&session, projects, 2, &enough, NOW);
    assert_int_equal(session.kind, SESSION_REPORT);
    /* Not the one most in debt: it is asked for no work. */
    step = session_next(&session, projects, 2, &enough, NOW);
    assert_int_equal(step.project, 1);
    assert_real(step.work_request, 0, 0);
    session_rpc_succeeded(&session, projects, 0, NOW);
    assert_int_equal(session_next(&session, projects, 2, &enough, NOW).action, SESSION_OVER);

    projects[0].has_overdue_results = true;
    session_poll(&session, projects, 2, &enough, NOW);
    step = session_next(&session, projects, 2, &enough, NOW);
    assert_int_equal(step.project, 0);
    assert_real(step.work_request, 3000, 0);
}

static void reports_wait_for_the_minimum_rpc_time(void **state)
{
    (void)state;
    struct session_project projects[] = {owed(1, 1)};
    struct rpc_session session = {.kind = SESSION_NONE};

    projects[0].has_overdue_results = true;
    projects[0].min_rpc_time = NOW + 1;
    session_poll(&session, projects, 1, &full, NOW);
    assert_int_equal(session.kind, SESSION_NONE);
    session_poll(&session, projects, 1, &full, NOW + 1);
    assert_int_equal(session.kind, SESSION_REPORT);
}

static void failed_computations_hold_their_project_back(void **state)
{
    (void)state;
    struct session_project project = owed(1, 1);
    struct random random = {.state = 4};
    double last = 0;

    for (int i = 0; i < 6; i++) {
        session_computation_failed(&project, NOW, &random);
        assert_true(project.min_rpc_time >= NOW + last);
        last = project.min_rpc_time - NOW;
    }
    assert_true(last >= 1920);
}

static void a_failed_computation_ends_no_delay(void **state)
{
    (void)state;
    struct session_project project = owed(1, 1);
    struct random random = {.state = 8};

    project.min_rpc_time = NOW + 86400;
    session_computation_failed(&project, NOW, &random);
    assert_real(project.min_rpc_time, NOW + 86400, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_time_is_forgotten_by_a_factor_of_e_in_a_week),
        cmocka_unit_test(back_off_doubles_within_bounds_and_is_spread),
        cmocka_unit_test(work_is_fetched_by_debt_until_the_high_water_mark),
        cmocka_unit_test(a_project_is_left_alone_until_its_minimum_rpc_time),
        cmocka_unit_test(every_scheduler_is_tried_before_a_failure_counts),
        cmocka_unit_test(a_failure_is_that_of_all_schedulers),
        cmocka_unit_test(a_project_that_says_it_is_down_is_asked_once),
        cmocka_unit_test(the_master_page_is_read_again_after_ten_failures),
        cmocka_unit_test(a_project_without_schedulers_begins_with_its_master_page),
        cmocka_unit_test(overdue_results_are_reported_once_there_is_enough_work),
        cmocka_unit_test(reports_wait_for_the_minimum_rpc_time),
        cmocka_unit_test(failed_computations_hold_their_project_back),
        cmocka_unit_test(a_failed_computation_ends_no_delay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
