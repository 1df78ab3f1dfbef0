/* SPDX-License-Identifier: Apache-2.0 */
/* Files on their way to a host. */
#include "tests/support/emulation.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/host/habits.h"
#include "tools/lab/volunteers/host/job_queue.h"
#include "tools/lab/volunteers/host/life.h"
#include "tools/lab/volunteers/host/robin_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/base/banned.h"

/* Always on, two CPUs, 1,000 bytes a second. */
static struct emulation *slow_network(void)
{
    struct emulation *emulation = emulation_create();

    emulation->population.cpus_min = emulation->population.cpus_max = 2;
    emulation->population.network_min = emulation->population.network_max = 1000;
    emulation_begin(emulation, 1);
    return emulation;
}

static void queue_job(struct volunteer *volunteer, const char *file, double bytes)
{
    char name[32];
    const struct incoming_file files[] = {{.name = text_from(file), .bytes = bytes}};
    struct incoming_job job = {.deadline = volunteer->now + 1e6 + (double)volunteer->job_count,
                               .operations = 3600e9,
                               .use.flops = 1e9,
                               .use.cpus = 1,
                               .files = files,
                               .file_count = 1};

    snprintf(name, sizeof(name), "job_%zu", volunteer->job_count);
    job.name = text_from(name);
    job_queue_receive(volunteer, 0, &job);
    volunteer_choose(volunteer);
}

static void run_for(struct volunteer *volunteer, double seconds)
{
    double end = volunteer->now + seconds;

    while (volunteer->now < end) {
        volunteer->next_poll = INFINITY;
        volunteer_live(volunteer, fmin(volunteer_next_event(volunteer), end));
    }
}

static void files_come_one_after_the_other_while_the_host_is_on(void **state)
{
    (void)state;
    struct emulation *emulation = slow_network();
    struct volunteer *volunteer = &emulation->volunteer;
    double begin = volunteer->now, away;

    queue_job(volunteer, "a", 1e6);
    queue_job(volunteer, "b", 1e6);
    run_for(volunteer, 999);
    assert_false(volunteer->jobs[0].running || volunteer->jobs[1].running);
    run_for(volunteer, 2);
    assert_true(volunteer->jobs[0].running && !volunteer->jobs[1].running);
    assert_real(volunteer->jobs[0].left, 3599, 0.01);
    /* Off for a while: nothing comes. */
    volunteer->next_change = begin + 1500;
    run_for(volunteer, 499.5);
    assert_false(volunteer->is_on);
    away = volunteer->next_change - volunteer->now + 0.01;
    assert_true(away >= 1);
    run_for(volunteer, away);
    assert_true(volunteer->is_on);
    volunteer->next_change = INFINITY;
    run_for(volunteer, 498);
    assert_false(volunteer->jobs[1].running);
    run_for(volunteer, 4);
    assert_true(volunteer->jobs[1].running);
    emulation_free(emulation);
}

static void a_file_that_is_here_need_not_come_again(void **state)
{
    (void)state;
    struct emulation *emulation = slow_network();
    struct volunteer *volunteer = &emulation->volunteer;

    emulation->population.habits.disk = habit_find(&habit_tables[HABIT_DISK], TEXT("present"));
    queue_job(volunteer, "both", 5e5);
    queue_job(volunteer, "both", 5e5);
    assert_real(volunteer->jobs[0].coming, 5e5, 0);
    assert_real(volunteer->jobs[1].coming, 0, 0);
    emulation_free(emulation);
}

/* Of a project that may not be asked meanwhile. */
static void its_project_is_downloading_until_then(void **state)
{
    (void)state;
    struct emulation *emulation = slow_network();
    struct volunteer *volunteer = &emulation->volunteer;
    struct robin_view *view = calloc(1, sizeof(*view));

    assert_non_null(view);
    volunteer->fetch.projects[0].min_rpc_time = volunteer->now + 1e6;
    queue_job(volunteer, "a", 1e6);
    robin_view_take(volunteer, view);
    assert_true(view->projects[0].state.downloading);
    assert_true(view->projects[0].state.potentially_runnable);
    assert_false(view->projects[0].state.runnable);
    /* It is nearly runnable: the queue is not empty. */
    robin_view_simulate(volunteer, view, 3600);
    assert_real(view->total_shortfall, 3600, 1);
    run_for(volunteer, 1001);
    robin_view_take(volunteer, view);
    assert_true(view->projects[0].state.runnable);
    assert_false(view->projects[0].state.downloading);
    free(view);
    emulation_free(emulation);
}

static void look_whether_files_are_here(struct emulation *emulation, void *context)
{
    const struct volunteer *volunteer = &emulation->volunteer;
    size_t *waiting = context;

    for (size_t i = 0; i < volunteer->job_count; i++) {
        *waiting += volunteer->jobs[i].coming > 0;
        assert_false(volunteer->jobs[i].begun && volunteer->jobs[i].coming > 0);
    }
}

static void nothing_runs_without_its_files(void **state)
{
    (void)state;
    for (size_t run = 0; run < habit_tables[HABIT_RUN].count; run++) {
        struct emulation *emulation = emulation_create();
        struct volunteer *volunteer = &emulation->volunteer;
        size_t waiting = 0;

        emulation->population.habits.run = run;
        emulation->population.network_min = emulation->population.network_max = 1000;
        emulation->population.buffer_min_days = emulation->population.buffer_max_days = 0.1;
        emulation->population.gpu_parts[0] = 1;
        emulation->population.cpus_max = 1;
        emulation->projects[0].serves[CLIENT_NVIDIA] = true;
        emulation->projects[0].file_bytes = 1e6; /* 17 minutes for jobs of an hour */
        emulation->look = look_whether_files_are_here;
        emulation->context = &waiting;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 5);
        assert_true(waiting > 0);
        /* Only at first does anything idle. */
        assert_true(tally_idle_fraction(&volunteer->tally) > 0.001);
        assert_true(tally_idle_fraction(&volunteer->tally) < 0.05);
        emulation_free(emulation);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_one_after_the_other_while_the_host_is_on),
        cmocka_unit_test(a_file_that_is_here_need_not_come_again),
        cmocka_unit_test(its_project_is_downloading_until_then),
        cmocka_unit_test(nothing_runs_without_its_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
