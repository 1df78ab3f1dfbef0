/* SPDX-License-Identifier: Apache-2.0 */
/* What is lost when a job stops before it is done. */
#include "server/base/random.h"
#include "tests/support/emulation.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/host/job_queue.h"
#include "tools/lab/volunteers/host/life.h"

#include <math.h>
#include <stdio.h>

#include "server/base/banned.h"

#define FLOPS 1e9

/* One CPU and one GPU of its speed, always on, a checkpoint every 300 s. */
static struct emulation *one_host(void)
{
    struct emulation *emulation = emulation_create();
    struct population *population = &emulation->population;

    population->cpus_max = 1;
    population->gpu_parts[0] = 1;
    population->gpu_speed_min = population->gpu_speed_max = 1;
    population->checkpoint = 300;
    emulation_begin(emulation, 1);
    return emulation;
}

/* Jobs stand in order of deadline. */
static void queue_job(struct volunteer *volunteer, size_t resource, double seconds, double due)
{
    char name[32];
    struct incoming_job job = {.deadline = volunteer->now + due,
                               .operations = seconds * FLOPS,
                               .use.flops = FLOPS,
                               .use.cpus = resource == CLIENT_CPU ? 1 : 0,
                               .use.coproc = resource,
                               .use.coprocs = resource == CLIENT_CPU ? 0 : 1};

    snprintf(name, sizeof(name), "job_%zu", volunteer->job_count);
    job.name = text_from(name);
    job_queue_receive(volunteer, 0, &job);
    volunteer_choose(volunteer);
}

/* To its next event, at most until `end`; it asks nobody for anything, and reports nothing. */
static void step(struct volunteer *volunteer, double end)
{
    volunteer->next_poll = volunteer->projects[0].next_report = INFINITY;
    volunteer_live(volunteer, fmin(volunteer_next_event(volunteer), end));
}

static void run_for(struct volunteer *volunteer, double seconds)
{
    double end = volunteer->now + seconds;

    while (volunteer->now < end)
        step(volunteer, end);
}

/* Off, and on again at the same moment. */
static void switch_off_and_on(struct volunteer *volunteer)
{
    for (int i = 0; i < 2; i++) {
        volunteer->next_change = volunteer->now;
        volunteer_live(volunteer, volunteer->now);
    }
    volunteer->next_change = INFINITY;
    assert_true(volunteer->is_on);
}

static void a_host_switched_off_goes_on_from_its_last_checkpoint(void **state)
{
    (void)state;
    struct emulation *emulation = one_host();
    struct volunteer *volunteer = &emulation->volunteer;
    double begin = volunteer->now;

    queue_job(volunteer, CLIENT_CPU, 2000, 1e6);
    run_for(volunteer, 1000);
    assert_real(volunteer->jobs[0].left, 1000, 1e-3);
    switch_off_and_on(volunteer);
    assert_real(volunteer->jobs[0].left, 1100, 1e-2);
    assert_real(volunteer->jobs[0].elapsed, 900, 1e-2);
    assert_real(volunteer->tally.flops_lost, 100 * FLOPS, 1e-2 * FLOPS);
    assert_real(volunteer->jobs[0].begun_at, begin + 1000, 1e-2); /* for a whole period */
    while (volunteer->tally.jobs == 0)
        step(volunteer, INFINITY);
    assert_real(volunteer->now - begin, 2100, 1e-2);
    /* What was used stays used; what the job took is without what was lost. */
    assert_real(volunteer->tally.flops_used, 2100 * FLOPS, 1e-2 * FLOPS);
    assert_real(volunteer->tally.flops_wasted, 100 * FLOPS, 1e-2 * FLOPS);
    assert_real(volunteer->jobs[0].flops, 2000 * FLOPS, 1e-2 * FLOPS);
    assert_real(volunteer->projects[0].tally.flops_used, 2100 * FLOPS, 1e-2 * FLOPS);
    /* A job that is done is safe. */
    switch_off_and_on(volunteer);
    assert_real(volunteer->jobs[0].elapsed, 2000, 1e-2);
    emulation_free(emulation);
}

static void a_host_that_sleeps_goes_on_where_it_was(void **state)
{
    (void)state;
    struct emulation *emulation = one_host();
    struct volunteer *volunteer = &emulation->volunteer;

    emulation->population.sleeps = true;
    queue_job(volunteer, CLIENT_CPU, 2000, 1e6);
    run_for(volunteer, 1000);
    switch_off_and_on(volunteer);
    assert_real(volunteer->jobs[0].left, 1000, 1e-3);
    assert_real(volunteer->jobs[0].begun_at, volunteer->now - 1000, 1e-2);
    assert_real(volunteer->tally.flops_lost, 0, 0);
    emulation_free(emulation);
}

static void what_was_not_begun_by_its_deadline_is_dropped(void **state)
{
    (void)state;
    for (int drops = 0; drops < 2; drops++) {
        struct emulation *emulation = one_host();
        struct volunteer *volunteer = &emulation->volunteer;

        emulation->population.drops_unstarted = drops == 1;
        queue_job(volunteer, CLIENT_CPU, 4000, 1000); /* begun, and late: it goes on */
        queue_job(volunteer, CLIENT_CPU, 4000, 3000);
        run_for(volunteer, 5000);
        assert_int_equal(volunteer->tally.jobs, 1);
        assert_int_equal(volunteer->tally.aborted, drops);
        assert_int_equal(volunteer->jobs[1].unstarted_late, drops);
        assert_int_equal(volunteer->jobs[1].running, !drops);
        emulation_free(emulation);
    }
}

static void who_makes_way_stays_in_memory_by_preference(void **state)
{
    (void)state;
    static const struct {
        bool leave_in_memory;
        size_t resource;
        double ran, lost;
    } cases[] = {
        {false, CLIENT_CPU, 1000, 100},    {true, CLIENT_CPU, 1000, 0},
        {false, CLIENT_CPU, 250, 0}, /* it has no checkpoint to go on from */
        {false, CLIENT_NVIDIA, 1000, 100}, {true, CLIENT_NVIDIA, 1000, 100},
        {true, CLIENT_NVIDIA, 250, 250},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct emulation *emulation = one_host();
        struct volunteer *volunteer = &emulation->volunteer;

        emulation->population.leave_in_memory = cases[i].leave_in_memory;
        queue_job(volunteer, cases[i].resource, 5000, 1e6);
        run_for(volunteer, cases[i].ran);
        queue_job(volunteer, cases[i].resource, 100, 1000); /* due before the other */
        assert_true(volunteer->jobs[0].running && !volunteer->jobs[1].running);
        assert_real(volunteer->tally.flops_lost, cases[i].lost * FLOPS, 1e-2 * FLOPS);
        assert_real(volunteer->jobs[1].left, 5000 - cases[i].ran + cases[i].lost, 1e-2);
        /* Nothing stays when the host is switched off. */
        switch_off_and_on(volunteer);
        assert_real(volunteer->jobs[1].left, cases[i].ran < 300 ? 5000 : 4100, 1e-2);
        emulation_free(emulation);
    }
}

static void starting_again_takes_a_while_that_is_lost(void **state)
{
    (void)state;
    struct emulation *emulation = one_host();
    struct volunteer *volunteer = &emulation->volunteer;

    emulation->population.restart = 200;
    queue_job(volunteer, CLIENT_CPU, 2000, 1e6);
    run_for(volunteer, 100);
    switch_off_and_on(volunteer); /* there was nothing to go on from */
    assert_real(volunteer->jobs[0].left, 2000, 1e-2);
    assert_real(volunteer->tally.flops_lost, 100 * FLOPS, 1e-2 * FLOPS);
    run_for(volunteer, 300);
    switch_off_and_on(volunteer);
    assert_real(volunteer->jobs[0].left, 1700 + 200, 1e-2);
    /* Interrupted while it starts, it has to start again. */
    run_for(volunteer, 150);
    assert_real(volunteer->tally.flops_lost, 250 * FLOPS, 1e-2 * FLOPS);
    switch_off_and_on(volunteer);
    assert_real(volunteer->jobs[0].left, 1700 + 200, 1e-2);
    /* The next checkpoint comes 300 s after it has started. */
    run_for(volunteer, 499);
    switch_off_and_on(volunteer);
    assert_real(volunteer->jobs[0].left, 1700 + 200, 1e-2);
    run_for(volunteer, 501);
    switch_off_and_on(volunteer);
    assert_real(volunteer->jobs[0].left, 1400 + 200, 1e-2);
    assert_real(volunteer->tally.flops_lost, (250 + 499 + 201) * FLOPS, 0.1 * FLOPS);
    emulation_free(emulation);
}

/* The same second by second. */
struct slow {
    double done, saved, since, starting, lost;
};

static void slow_run(struct slow *slow, int seconds)
{
    for (int i = 0; i < seconds; i++)
        if (slow->starting > 0) {
            slow->starting--;
            slow->lost++;
        } else {
            slow->done++;
            if (++slow->since == 300) {
                slow->saved = slow->done;
                slow->since = 0;
            }
        }
}

static void slow_end(struct slow *slow, double restart)
{
    slow->lost += slow->done - slow->saved;
    slow->done = slow->saved;
    slow->since = 0;
    slow->starting = slow->saved > 0 ? restart : 0;
}

static void agrees_with_the_slow_way(void **state)
{
    (void)state;
    struct random random = {.state = 5};

    for (int round = 0; round < 20; round++) {
        struct emulation *emulation = one_host();
        struct volunteer *volunteer = &emulation->volunteer;
        struct slow slow = {.done = 0};

        emulation->population.restart = (double)(random_next(&random) % 500);
        queue_job(volunteer, CLIENT_CPU, 1e6, 1e7);
        for (int turn = 0; turn < 50; turn++) {
            int seconds = 1 + (int)(random_next(&random) % 2000);

            run_for(volunteer, seconds);
            slow_run(&slow, seconds);
            switch_off_and_on(volunteer);
            slow_end(&slow, emulation->population.restart);
            assert_real(volunteer->jobs[0].left, 1e6 - slow.done + slow.starting, 0.5);
            assert_real(volunteer->tally.flops_lost / FLOPS, slow.lost, 0.5);
        }
        assert_true(slow.done > 5000 && slow.lost > 5000);
        emulation_free(emulation);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_switched_off_goes_on_from_its_last_checkpoint),
        cmocka_unit_test(a_host_that_sleeps_goes_on_where_it_was),
        cmocka_unit_test(what_was_not_begun_by_its_deadline_is_dropped),
        cmocka_unit_test(who_makes_way_stays_in_memory_by_preference),
        cmocka_unit_test(starting_again_takes_a_while_that_is_lost),
        cmocka_unit_test(agrees_with_the_slow_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
