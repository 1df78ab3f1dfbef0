/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a host, as its client or the database says it. */
#include "server/policy/edf/workload.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/policy/edf/deadline.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define NOW  1.7e9
#define HOUR 3600.0
#define DAY  86400.0

static struct arena *arena;
static struct message message;
static struct amounts asked;
static struct ip_result listed[WORKLOAD_MEMORY_MAX + 1];
static struct own_job own[4];
static struct other_result others[4];
static struct workload_sources sources;
static struct budget budget;

static int setup(void **state)
{
    (void)state;
    arena = arena_create((size_t)16 << 20);
    message = (struct message){.client_major = 7,
                               .client_minor = 20,
                               .has_ip_results = true,
                               .ip_results = listed,
                               .has_other_results = true,
                               .other_results = others};
    asked = (struct amounts){.resource_count = 1};
    asked.resources[0] = (struct resource){.type = TEXT("CPU"), .count = 1};
    sources = (struct workload_sources){.message = &message,
                                        .asked = &asked,
                                        .availability = {.cpu = 1, .gpu = 1},
                                        .now = NOW,
                                        .ignore_overdue = 7 * DAY,
                                        .own = own,
                                        .jobs_max = 10,
                                        .budget = &budget};
    budget = (struct budget){0};
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void list(const char *name, double remaining, double due)
{
    listed[message.ip_result_count++] = (struct ip_result){.name = text_from(name),
                                                           .time_remaining = remaining,
                                                           .has_report_deadline = true,
                                                           .report_deadline = NOW + due,
                                                           .avg_ncpus = 1};
}

static struct own_job *add_own(const char *name, double wall_time, double due)
{
    own[sources.own_count] = (struct own_job){
        .name = text_from(name), .job = {.wall_time = wall_time, .deadline = due, .cpus = 1}};
    return &own[sources.own_count++];
}

static void add_coproc(const char *type)
{
    asked.resources[asked.resource_count++] =
        (struct resource){.type = text_from(type), .count = 1};
}

static struct workload *make(void)
{
    struct workload *workload = workload_make(arena, &sources);

    assert_non_null(workload);
    return workload;
}

/* Whether a CPU job of `wall_time` due in `due` may be sent. */
static enum workload_answer try_cpu(struct workload *workload, double wall_time, double due)
{
    struct edf_job job = {.wall_time = wall_time, .deadline = due, .cpus = 1};
    struct edf_reason reason;

    return workload_try(workload, &job, false, &reason);
}

/* An own job of an hour and 6 GB, and as many of others that need not be done, on 2 CPUs and 10 GB:
 * whether another such job can be done within `due`. */
static enum workload_answer try_beside(size_t others_count, double due)
{
    struct edf_job job = {.wall_time = HOUR, .deadline = due, .cpus = 1, .memory = 6e9};
    struct edf_reason reason;

    message.ip_result_count = sources.own_count = 0;
    list("mine", HOUR, HOUR);
    add_own("mine", HOUR, HOUR)->job.memory = 6e9;
    for (size_t i = 0; i < others_count; i++) {
        list("other", 1, 0);
        listed[message.ip_result_count - 1].has_report_deadline = false;
    }
    asked.resources[RESOURCE_CPU].count = 2;
    sources.memory = 10e9;
    return workload_try(make(), &job, false, &reason);
}

/* A longer queue is simulated as if memory did not matter, so more may be sent than fits. */
static void memory_counts_in_queues_up_to_a_bound(void **state)
{
    (void)state;
    assert_int_equal(try_beside(0, 1.5 * HOUR), WORKLOAD_LATE);
    assert_int_equal(try_beside(0, 2 * HOUR), WORKLOAD_IN_TIME);
    assert_int_equal(try_beside(WORKLOAD_MEMORY_MAX - 1, 1.5 * HOUR), WORKLOAD_LATE);
    assert_int_equal(try_beside(WORKLOAD_MEMORY_MAX, 1.5 * HOUR), WORKLOAD_IN_TIME);
    assert_int_equal(try_beside(WORKLOAD_MEMORY_MAX, 0.5 * HOUR), WORKLOAD_LATE);
}

/* The list tells nothing of memory, whoever's the job is; the database tells it of our own. */
static void memory_of_a_listed_job_is_what_the_database_knows(void **state)
{
    struct edf_job job = {.wall_time = HOUR, .deadline = 1.5 * HOUR, .cpus = 1, .memory = 6e9};
    struct edf_reason reason;

    (void)state;
    asked.resources[RESOURCE_CPU].count = 2;
    sources.memory = 10e9;
    list("mine", HOUR, HOUR);
    assert_int_equal(workload_try(make(), &job, false, &reason), WORKLOAD_IN_TIME);
    add_own("mine", HOUR, HOUR)->job.memory = 6e9;
    assert_int_equal(workload_try(make(), &job, false, &reason), WORKLOAD_LATE);
    sources.memory = 0; /* it does not matter */
    assert_int_equal(workload_try(make(), &job, false, &reason), WORKLOAD_IN_TIME);
}

static void a_queue_that_is_too_large_is_unknown(void **state)
{
    struct workload *workload;

    (void)state;
    list("a", HOUR, 2 * HOUR);
    list("b", HOUR, 2 * HOUR);
    budget.spent = BUDGET_MOST;
    workload = make();
    assert_int_equal(workload->count, 2);
    assert_true(isinf(workload->occupied[RESOURCE_CPU]));
    assert_int_equal(try_cpu(workload, HOUR, INFINITY), WORKLOAD_UNKNOWN);
    assert_real(workload_retry_delay(workload), HOUR, 0);
}

/* Without a list own jobs stand in for it, but not those that are always on, that are being
 * aborted, or that are overdue for longer than such are looked at. */
static void own_jobs_that_keep_nothing_busy_do_not_stand_in(void **state)
{
    static const struct text aborted[] = {{.at = "b", .length = 1}};

    (void)state;
    message.has_ip_results = false;
    sources.aborted = aborted;
    sources.aborted_count = 1;
    add_own("a", HOUR, DAY)->is_always_on = true;
    add_own("b", HOUR, DAY);
    add_own("c", HOUR, -8 * DAY);
    add_own("d", HOUR, -6 * DAY);
    assert_int_equal(make()->count, 1);
    assert_text(make()->names[0], "d");
}

/* A coprocessor is as busy as the client says in one number. */
static void a_delay_keeps_coprocessors_busy(void **state)
{
    struct edf_job job = {
        .wall_time = HOUR, .deadline = 5 * HOUR, .cpus = 0.1, .resource = 1, .instances = 1};
    struct edf_reason reason;

    (void)state;
    message.has_ip_results = false;
    add_coproc("NVIDIA");
    asked.resources[1].estimated_delay = 4.5 * HOUR;
    assert_int_equal(workload_try(make(), &job, false, &reason), WORKLOAD_LATE);
    job.deadline = 6 * HOUR;
    assert_int_equal(workload_try(make(), &job, false, &reason), WORKLOAD_IN_TIME);
}

static void remaining_time_is_run_time(void **state)
{
    (void)state;
    list("a", 10 * HOUR, 100 * HOUR);
    sources.availability.cpu = 0.5;
    assert_real(make()->jobs[0].wall_time, 20 * HOUR, 0);
}

static void a_task_without_a_deadline_is_never_due(void **state)
{
    (void)state;
    list("a", 10 * HOUR, 0);
    listed[0].has_report_deadline = false;
    assert_true(isinf(make()->jobs[0].deadline));
    assert_int_equal(try_cpu(make(), HOUR, HOUR), WORKLOAD_IN_TIME);
}

static void coprocessors_are_told_by_the_list(void **state)
{
    (void)state;
    add_coproc("NVIDIA");
    add_coproc("ATI");
    add_coproc("intel_gpu");
    for (int i = 0; i < 3; i++)
        list("a", HOUR, DAY);
    listed[0].ncudas = 0.5;
    listed[1].natis = 1;
    listed[2].nintel_gpus = 2;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(make()->jobs[i].resource, i + 1);
    assert_real(make()->jobs[0].instances, 0.5, 0);
}

static void a_coprocessor_that_is_gone_keeps_nothing_busy(void **state)
{
    (void)state;
    list("a", 100 * HOUR, HOUR);
    listed[0].ncudas = 1;
    assert_int_equal(try_cpu(make(), HOUR, HOUR), WORKLOAD_IN_TIME);
}

static void a_generic_coprocessor_task_of_ours_is_looked_up(void **state)
{
    (void)state;
    add_coproc("miner");
    list("ours", 10 * HOUR, 100 * HOUR);
    listed[0].avg_ncpus = 0.1;
    add_own("ours", 20 * HOUR, 100 * HOUR)->job.resource = 1;
    own[0].job.instances = 1;
    assert_int_equal(make()->jobs[0].resource, 1);
    assert_real(make()->jobs[0].wall_time, 10 * HOUR, 0);
    assert_real(make()->jobs[0].cpus, 0.1, 0);
}

static void old_lists_tell_no_coprocessors(void **state)
{
    (void)state;
    message.client_major = 6;
    message.client_minor = 2;
    add_coproc("NVIDIA");
    list("ours", 10 * HOUR, 100 * HOUR);
    list("alien", 10 * HOUR, 100 * HOUR);
    add_own("ours", 20 * HOUR, 100 * HOUR)->job.resource = 1;
    own[0].job.instances = 1;
    own[0].job.cpus = 0.2;
    assert_int_equal(make()->jobs[0].resource, 1);
    assert_real(make()->jobs[0].cpus, 0.2, 0);
    assert_int_equal(make()->jobs[1].resource, RESOURCE_CPU);
}

static void own_rows_are_read_only_where_they_help(void **state)
{
    struct coproc coprocs[1] = {{.type = TEXT("NVIDIA"), .count = 1}};

    (void)state;
    assert_false(workload_needs_own(&message, true)); /* an empty list */
    list("a", HOUR, DAY);
    assert_false(workload_needs_own(&message, false));
    assert_true(workload_needs_own(&message, true));
    message.coprocs = coprocs;
    message.coproc_count = 1;
    assert_false(workload_needs_own(&message, false));
    coprocs[0].type = TEXT("apple_gpu");
    assert_true(workload_needs_own(&message, false));
    coprocs[0] = (struct coproc){.type = TEXT("NVIDIA"), .count = 1};
    message.client_major = 6;
    message.client_minor = 10;
    assert_true(workload_needs_own(&message, false));
    message.coproc_count = 0;
    message.has_ip_results = false;
    assert_true(workload_needs_own(&message, false));
}

static void own_jobs_stand_in_for_an_absent_list(void **state)
{
    (void)state;
    add_own("ours", 10 * HOUR, 100 * HOUR);
    message.has_ip_results = false;
    assert_int_equal(try_cpu(make(), 10 * HOUR, 110 * HOUR), WORKLOAD_IN_TIME);
    assert_int_equal(try_cpu(make(), 101 * HOUR, 110 * HOUR), WORKLOAD_LATE);
    assert_int_equal(try_cpu(make(), 95 * HOUR, 95 * HOUR), WORKLOAD_DELAYS);
}

static void an_empty_list_is_a_free_host(void **state)
{
    (void)state;
    add_own("ours", 10 * HOUR, 100 * HOUR);
    asked.resources[0].estimated_delay = 50 * HOUR;
    assert_int_equal(make()->count, 0);
    assert_int_equal(try_cpu(make(), HOUR, HOUR), WORKLOAD_IN_TIME);
}

static void the_client_knows_of_more_than_our_jobs(void **state)
{
    (void)state;
    asked.resources[0].count = 2;
    asked.resources[0].estimated_delay = 20 * HOUR;
    add_own("ours", 10 * HOUR, 100 * HOUR);
    message.has_ip_results = false;
    assert_int_equal(try_cpu(make(), HOUR, 15 * HOUR), WORKLOAD_LATE);
    assert_int_equal(try_cpu(make(), HOUR, 21 * HOUR), WORKLOAD_IN_TIME);
    asked.resources[0].estimated_delay = HOUR; /* ours alone take longer */
    assert_int_equal(make()->count, 1);
}

static void some_tasks_take_no_turn(void **state)
{
    const struct text aborted[1] = {TEXT("unwanted")};

    (void)state;
    list("always", 100 * HOUR, HOUR);
    list("unwanted", 100 * HOUR, HOUR);
    list("stuck", 100 * HOUR, -7.01 * DAY);
    list("late", 100 * HOUR, -6.99 * DAY);
    add_own("always", HOUR, HOUR)->is_always_on = true;
    sources.aborted = aborted;
    sources.aborted_count = 1;
    assert_int_equal(make()->count, 1);
    assert_text(make()->names[0], "late");
}

static void resent_jobs_are_part_of_the_baseline(void **state)
{
    struct edf_job resent = {.wall_time = 10 * HOUR, .deadline = 10 * HOUR, .cpus = 1};

    (void)state;
    sources.resent = &resent;
    sources.resent_count = 1;
    assert_int_equal(try_cpu(make(), HOUR, 5 * HOUR), WORKLOAD_DELAYS);
    assert_int_equal(try_cpu(make(), HOUR, 11 * HOUR), WORKLOAD_IN_TIME);
}

static void jobs_due_before_the_host_connects_are_withheld(void **state)
{
    struct edf_job job = {.wall_time = 1, .deadline = DAY - 1, .cpus = 1};
    struct edf_reason reason;

    (void)state;
    sources.connection_period = DAY;
    assert_int_equal(try_cpu(make(), 1, DAY), WORKLOAD_IN_TIME);
    assert_int_equal(try_cpu(make(), 1, DAY - 1), WORKLOAD_CONNECTION);
    assert_int_equal(workload_try(make(), &job, true, &reason), WORKLOAD_IN_TIME);
}

static void the_delay_lasts_until_a_task_is_done(void **state)
{
    (void)state;
    assert_real(workload_retry_delay(make()), HOUR, 0);
    list("long", 10 * HOUR, 10 * DAY);
    list("short", 0.25 * HOUR, 20 * DAY); /* behind the long one */
    assert_real(workload_retry_delay(make()), HOUR, 0);
    listed[0].time_remaining = 600;
    assert_real(workload_retry_delay(make()), 600, 0);
    listed[0].time_remaining = 1;
    assert_real(workload_retry_delay(make()), 60, 0);
    add_coproc("NVIDIA");
    message.ip_result_count = 1;
    listed[0].time_remaining = 600;
    listed[0].ncudas = 1;
    assert_real(workload_retry_delay(make()), 600, 0);
}

/* workload_sim 0: the delay that the client says fills the processors, whatever it lists. */
static void a_list_that_is_ignored_is_estimated_delay(void **state)
{
    (void)state;
    list("a", 10 * HOUR, 20 * HOUR);
    sources.ignores_list = true;
    assert_int_equal(try_cpu(make(), HOUR, HOUR), WORKLOAD_IN_TIME);
    assert_real(make()->occupied[RESOURCE_CPU], 0, 0);
    asked.resources[RESOURCE_CPU].estimated_delay = 2 * HOUR;
    assert_real(make()->occupied[RESOURCE_CPU], 1, 0);
    assert_int_equal(try_cpu(make(), HOUR, 3 * HOUR), WORKLOAD_IN_TIME);
    assert_int_equal(try_cpu(make(), HOUR, 3 * HOUR - 1), WORKLOAD_LATE);
    sources.connection_period = 4 * HOUR;
    assert_int_equal(try_cpu(make(), HOUR, 3 * HOUR), WORKLOAD_CONNECTION);
}

/* Jobs for the coprocessors may take CPUs from what nobody knows the deadlines of. */
static void estimated_delay_is_never_late(void **state)
{
    struct edf_job job = {
        .wall_time = HOUR, .deadline = DAY, .cpus = 1, .resource = 1, .instances = 1};
    struct workload *workload;
    struct edf_reason reason;

    (void)state;
    sources.ignores_list = true;
    add_coproc("NVIDIA");
    asked.resources[1].count = 4;
    asked.resources[RESOURCE_CPU].count = 2;
    asked.resources[RESOURCE_CPU].estimated_delay = 10 * HOUR;
    workload = make();
    for (int i = 0; i < 4; i++) {
        assert_int_equal(workload_try(workload, &job, false, &reason), WORKLOAD_IN_TIME);
        edf_take(workload->edf, &job);
    }
}

static void list_ours(double remaining, double due)
{
    list("ours", remaining, due);
    others[0].name = TEXT("ours");
    message.other_result_count = 1;
}

/* A report must not wait past a deadline of ours; those of others are not our concern. */
static void the_delay_leaves_time_for_reports(void **state)
{
    (void)state;
    list_ours(2 * HOUR, 2 * HOUR + 300);
    assert_real(workload_retry_delay(make()), 300, 0);
    assert_real(workload_retry_longest(make()), 300, 0);
    listed[0].report_deadline = NOW + 2 * HOUR + 1; /* a delay there always is */
    assert_real(workload_retry_delay(make()), 60, 0);
    listed[0].report_deadline = NOW + 2 * HOUR;
    assert_real(workload_retry_delay(make()), 60, 0);
    listed[0].report_deadline = NOW + 10 * HOUR; /* within a day, and time enough */
    assert_real(workload_retry_delay(make()), HOUR, 0);
    list("alien", 2 * HOUR, HOUR * 12);
    listed[1].report_deadline = NOW + 12 * HOUR + 1;
    assert_real(workload_retry_delay(make()), HOUR, 0);
    listed[1].report_deadline = NOW + 4 * HOUR + 1; /* before ours, which is in time all the same */
    assert_real(workload_retry_delay(make()), HOUR, 0);
}

/* Where the list is not simulated, each task is taken to be done after its own time. */
static void ignored_tasks_bind_the_delay_all_the_same(void **state)
{
    (void)state;
    sources.ignores_list = true;
    sources.availability.cpu = 0.5;
    list_ours(HOUR, 2 * HOUR + 300);
    list("alien", HOUR, 2 * HOUR + 120);
    assert_real(workload_retry_delay(make()), 300, 0);
    asked.resources[RESOURCE_CPU].estimated_delay = 120;
    assert_real(workload_retry_delay(make()), 120, 0);
    assert_real(workload_retry_longest(make()), 300, 0);
    listed[0].report_deadline = NOW + HOUR; /* late anyway */
    assert_real(workload_retry_longest(make()), HOUR, 0);
}

/* But not where to compare their names would take what the simulation needs. */
static void names_of_ignored_tasks_refuse_no_work(void **state)
{
    static struct other_result many[100];

    (void)state;
    sources.ignores_list = true;
    list_ours(HOUR, HOUR + 300);
    add_own("own", HOUR, DAY);
    budget.most = 20000;
    many[0] = others[0];
    message.other_results = many;
    message.other_result_count = 100;
    assert_int_equal(try_cpu(make(), HOUR, DAY), WORKLOAD_IN_TIME);
    assert_real(workload_retry_longest(make()), DEADLINE_RETRY_MAX, 0);
    budget.spent = 0;
    message.other_result_count = 1;
    assert_real(workload_retry_longest(make()), 300, 0);
    sources.ignores_list = false; /* a list that is simulated has its names whatever they cost */
    budget.spent = 0;
    message.other_result_count = 100;
    assert_real(workload_retry_longest(make()), 300, 0);
}

/* What is late by any delay is not hurt by one. */
static void a_late_task_binds_no_delay(void **state)
{
    (void)state;
    list_ours(2 * HOUR, -HOUR);
    assert_real(workload_retry_delay(make()), HOUR, 0);
    listed[0].report_deadline = NOW + HOUR;
    assert_real(workload_retry_delay(make()), HOUR, 0);
    listed[0].report_deadline = NOW + 2 * HOUR + 300; /* late behind another one */
    list("alien", HOUR, HOUR);
    assert_real(workload_retry_delay(make()), HOUR, 0);
}

/* Whatever allocation fails, there is no queue, or one of which nothing is known, or the whole. */
static void without_memory_there_is_no_queue(void **state)
{
    enum workload_answer answer = WORKLOAD_UNKNOWN;
    size_t bytes = 0, failed = 0, unknown = 0;

    list("listed", HOUR, DAY);
    add_own("own", HOUR, DAY);
    sources.resent = &own[0].job;
    sources.resent_count = 1;
    while (answer == WORKLOAD_UNKNOWN) {
        struct workload *workload;

        teardown(state);
        arena = arena_create(bytes);
        budget = (struct budget){0};
        workload = workload_make(arena, &sources);
        failed += workload == NULL;
        unknown += workload != NULL;
        if (workload != NULL) {
            assert_int_equal(workload->count, 2);
            answer = try_cpu(workload, 30 * HOUR, DAY);
        }
        assert_true(answer == WORKLOAD_LATE || arena_lacked(arena) > bytes);
        bytes = arena_lacked(arena);
    }
    assert_int_equal(answer, WORKLOAD_LATE);
    assert_true(failed > 20 && unknown > 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(memory_counts_in_queues_up_to_a_bound),
        CASE(memory_of_a_listed_job_is_what_the_database_knows),
        CASE(a_queue_that_is_too_large_is_unknown),
        CASE(own_jobs_that_keep_nothing_busy_do_not_stand_in),
        CASE(a_delay_keeps_coprocessors_busy),
        CASE(remaining_time_is_run_time),
        CASE(a_list_that_is_ignored_is_estimated_delay),
        CASE(estimated_delay_is_never_late),
        CASE(ignored_tasks_bind_the_delay_all_the_same),
        CASE(names_of_ignored_tasks_refuse_no_work),
        CASE(a_task_without_a_deadline_is_never_due),
        CASE(coprocessors_are_told_by_the_list),
        CASE(a_coprocessor_that_is_gone_keeps_nothing_busy),
        CASE(a_generic_coprocessor_task_of_ours_is_looked_up),
        CASE(old_lists_tell_no_coprocessors),
        CASE(own_rows_are_read_only_where_they_help),
        CASE(own_jobs_stand_in_for_an_absent_list),
        CASE(an_empty_list_is_a_free_host),
        CASE(the_client_knows_of_more_than_our_jobs),
        CASE(some_tasks_take_no_turn),
        CASE(resent_jobs_are_part_of_the_baseline),
        CASE(jobs_due_before_the_host_connects_are_withheld),
        CASE(the_delay_lasts_until_a_task_is_done),
        CASE(the_delay_leaves_time_for_reports),
        CASE(a_late_task_binds_no_delay),
        CASE(without_memory_there_is_no_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
