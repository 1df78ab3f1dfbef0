/* SPDX-License-Identifier: Apache-2.0 */
/* The two marks of a buffer, as present-day clients have them: figures as a real client of 7.20.5
 * asked for them. */
#include "tools/lab/volunteers/client/marks.h"

#include "tests/support/test.h"

#include <math.h>

static struct fetch_project projects[2];
static struct fetch_host host;
static double priorities[2];
static const struct marks marks = {.low = 1728, .high = 3456};

static void begin(size_t count)
{
    memset(projects, 0, sizeof(projects));
    projects[0].share = 200;
    projects[1].share = 100;
    host = (struct fetch_host){.resource_count = 1,
                               .resources[CLIENT_CPU] = {.count = 4, .flops = 1e9},
                               .projects = projects,
                               .project_count = count};
    priorities[0] = priorities[1] = 0;
}

static void simulate(struct fetch_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        jobs[i].uses[CLIENT_CPU] = 1;
    fetch_simulate(&host, jobs, count, marks.high, 0);
    marks_rank(&host, &marks, jobs, count, priorities);
}

static void an_idle_host_fills_up_to_the_high_mark(void **state)
{
    struct fetch_job job = {.left = 600};
    struct fetch_request request;

    (void)state;
    begin(1);
    simulate(&job, 1);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_real(request.seconds[CLIENT_CPU], 4 * 3456 - 600, 1e-6); /* 13224 */
    assert_real(request.instances[CLIENT_CPU], 3, 1e-9);
    assert_real(request.scalar, 4 * 3456 - 600, 1e-6);
}

static void between_the_marks_only_a_contact_adds(void **state)
{
    struct fetch_job jobs[16];
    struct fetch_request request;

    (void)state;
    begin(1);
    for (int i = 0; i < 16; i++)
        jobs[i] = (struct fetch_job){.left = 600};
    simulate(jobs, 16); /* four each: busy for 2400 s */
    assert_real(host.resources[CLIENT_CPU].saturated, 2400, 1e-6);
    assert_false(marks_choose(&host, &marks, priorities, 0, &request));
    assert_true(marks_add(&host, &marks, priorities, 0, 0, &request));
    assert_real(request.seconds[CLIENT_CPU], 4 * (3456 - 2400), 1e-6);
    assert_real(marks_next(&host, &marks, 0), 2400 - 1728, 1e-6);
    for (int i = 0; i < 16; i++)
        jobs[i].left = 3456;
    simulate(jobs, 16);
    assert_true(isinf(host.resources[CLIENT_CPU].saturated));
    assert_false(marks_add(&host, &marks, priorities, 0, 0, &request));
    assert_real(marks_next(&host, &marks, 0), 3456 - 1728, 1e-6);
}

static void a_backup_is_asked_for_an_idle_instance_only(void **state)
{
    struct fetch_job jobs[] = {{.left = 600}, {.left = 600}, {.left = 600}, {.left = 600}};
    struct fetch_request request;

    (void)state;
    begin(1);
    projects[0].share = 0.5;
    simulate(jobs, 4);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request)); /* any share will do */
    projects[0].share = 0;
    simulate(jobs, 4);
    assert_false(marks_choose(&host, &marks, priorities, 0, &request));
    simulate(jobs, 3);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
}

static void the_first_idle_instance_counts(void **state)
{
    struct fetch_job jobs[] = {{.left = 9000}, {.left = 9000}, {.left = 9000}, {.left = 1000}};
    struct fetch_request request;

    (void)state;
    begin(1);
    simulate(jobs, 4);
    assert_real(host.resources[CLIENT_CPU].saturated, 1000, 1e-6);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_real(request.seconds[CLIENT_CPU], 2456, 1e-6);
    assert_real(request.instances[CLIENT_CPU], 0, 1e-9);
}

static void who_got_less_for_its_share_comes_first(void **state)
{
    struct fetch_request request;

    (void)state;
    begin(2);
    marks_book(&projects[0], 3e12, 60);
    marks_book(&projects[1], 1e12, 60);
    simulate(NULL, 0);
    assert_real(priorities[0], -(3.0 / 4) / (2.0 / 3), 1e-9);
    assert_real(priorities[1], -(1.0 / 4) / (1.0 / 3), 1e-9);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_int_equal(request.project, 1);
    assert_real(request.seconds[CLIENT_CPU], 4 * 3456, 1e-6);
    assert_real(request.instances[CLIENT_CPU], 4, 1e-6);
    marks_book(&projects[1], 1e12, 60);
    simulate(NULL, 0);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_int_equal(request.project, 0);
}

static void what_is_queued_counts_as_got(void **state)
{
    struct fetch_job jobs[] = {{.left = 1728}, {.left = 1728}};
    struct fetch_request request;

    (void)state;
    begin(2);
    simulate(jobs, 2);
    assert_real(priorities[0], -2 * 1728.0 / (4 * 3456), 1e-9);
    assert_real(priorities[1], 0, 1e-9);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_int_equal(request.project, 1);
    /* A contact to the other asks for nothing: this one is before it. */
    assert_false(marks_add(&host, &marks, priorities, 0, 0, &request));
    assert_true(marks_add(&host, &marks, priorities, 1, 0, &request));
}

static void whoever_may_not_be_asked_is_passed_over(void **state)
{
    struct fetch_request request;

    (void)state;
    begin(2);
    projects[1].recent = 1;
    projects[0].min_rpc_time = 10;
    simulate(NULL, 0);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_int_equal(request.project, 1);
    projects[1].accounts[CLIENT_CPU].backoff_end = 20;
    assert_false(marks_choose(&host, &marks, priorities, 0, &request));
    assert_real(marks_next(&host, &marks, 0), 10, 1e-9);
    assert_true(marks_choose(&host, &marks, priorities, 10, &request));
    assert_int_equal(request.project, 0);
    projects[0].excluded = true;
    assert_false(marks_choose(&host, &marks, priorities, 10, &request));
}

static void a_project_without_a_share_is_for_idle_processors(void **state)
{
    struct fetch_job jobs[4];
    struct fetch_request request;

    (void)state;
    begin(2);
    projects[0].share = 0;
    simulate(NULL, 0);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_int_equal(request.project, 1);
    projects[1].excluded = true;
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_int_equal(request.project, 0);
    assert_real(request.seconds[CLIENT_CPU], 1, 1e-9);
    assert_real(request.instances[CLIENT_CPU], 4, 1e-9);
    for (int i = 0; i < 4; i++)
        jobs[i] = (struct fetch_job){.left = 100};
    simulate(jobs, 4);
    assert_false(marks_choose(&host, &marks, priorities, 0, &request));
}

static void one_request_is_for_all_resources(void **state)
{
    struct fetch_job jobs[4];
    struct fetch_request request;

    (void)state;
    begin(1);
    host.resource_count = 2;
    host.resources[1] = (struct fetch_resource){.count = 1, .flops = 1e11};
    for (int i = 0; i < 4; i++)
        jobs[i] = (struct fetch_job){.left = 2000};
    simulate(jobs, 4); /* CPUs between the marks, nothing for the coprocessor */
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_real(request.seconds[1], 3456, 1e-6);
    assert_real(request.instances[1], 1, 1e-9);
    assert_real(request.seconds[CLIENT_CPU], 4 * (3456 - 2000), 1e-6);
    projects[0].accounts[1].backoff_end = 99; /* CPUs alone are no reason to ask */
    assert_false(marks_choose(&host, &marks, priorities, 0, &request));
}

/* Another project is before it for the coprocessor only. */
static void a_contact_adds_what_its_project_is_first_for(void **state)
{
    struct fetch_request request;

    (void)state;
    begin(2);
    host.resource_count = 2;
    host.resources[1] = (struct fetch_resource){.count = 1, .flops = 1e11};
    projects[1].recent = 1;
    projects[0].accounts[1].backoff_end = 99;
    simulate(NULL, 0);
    assert_true(marks_add(&host, &marks, priorities, 0, 0, &request));
    assert_int_equal(request.project, 0);
    assert_real(request.seconds[CLIENT_CPU], 4 * 3456, 1e-6);
    assert_real(request.seconds[1] + request.instances[1], 0, 1e-9);
    assert_true(marks_add(&host, &marks, priorities, 1, 0, &request));
    assert_int_equal(request.project, 1);
    assert_real(request.seconds[CLIENT_CPU] + request.instances[CLIENT_CPU], 0, 1e-9);
    assert_real(request.seconds[1], 3456, 1e-6);
}

static void who_has_less_than_its_share_asks_for_instances(void **state)
{
    struct fetch_job jobs[4];
    struct fetch_request request;

    (void)state;
    begin(2);
    for (int i = 0; i < 4; i++)
        jobs[i] = (struct fetch_job){.left = 100};
    simulate(jobs, 4);
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_int_equal(request.project, 1);
    assert_real(request.instances[CLIENT_CPU], 4.0 / 3, 1e-6);
    jobs[0].project = jobs[1].project = 1;
    simulate(jobs, 4);
    priorities[1] = 1;
    assert_true(marks_choose(&host, &marks, priorities, 0, &request));
    assert_int_equal(request.project, 1);
    assert_real(request.instances[CLIENT_CPU], 0, 1e-6);
}

static void old_work_counts_less(void **state)
{
    (void)state;
    begin(1);
    marks_book(&projects[0], 8e12, 0);
    marks_book(&projects[0], 0, 864000);
    assert_real(projects[0].recent, 4e12, 1e3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_host_fills_up_to_the_high_mark),
        cmocka_unit_test(between_the_marks_only_a_contact_adds),
        cmocka_unit_test(a_backup_is_asked_for_an_idle_instance_only),
        cmocka_unit_test(the_first_idle_instance_counts),
        cmocka_unit_test(who_got_less_for_its_share_comes_first),
        cmocka_unit_test(what_is_queued_counts_as_got),
        cmocka_unit_test(whoever_may_not_be_asked_is_passed_over),
        cmocka_unit_test(a_project_without_a_share_is_for_idle_processors),
        cmocka_unit_test(one_request_is_for_all_resources),
        cmocka_unit_test(a_contact_adds_what_its_project_is_first_for),
        cmocka_unit_test(who_has_less_than_its_share_asks_for_instances),
        cmocka_unit_test(old_work_counts_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
