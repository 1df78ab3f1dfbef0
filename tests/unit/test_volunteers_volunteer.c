/* SPDX-License-Identifier: Apache-2.0 */
/* One emulated host of one project. */
#include "tests/support/emulation.h"
#include "tests/support/test.h"

#include <math.h>

#include "server/base/banned.h"

#define HOUR 3600.0
#define DAY  86400.0

static struct host_tally live(const struct population *population, uint64_t seed, double days,
                              double bound)
{
    struct emulation *emulation = emulation_create();
    struct host_tally tally;

    emulation->population = *population;
    emulation->projects[0].bound = bound;
    emulation_begin(emulation, seed);
    emulation_run(emulation, days);
    tally = emulation->volunteer.tally;
    emulation_free(emulation);
    return tally;
}

static void a_steady_host_with_work_is_never_idle(void **state)
{
    (void)state;
    const struct population population = emulation_steady();

    for (uint64_t seed = 1; seed < 6; seed++) {
        struct host_tally tally = live(&population, seed, 10, 30 * DAY);

        assert_true(tally.flops_used > 0.99 * tally.flops_total);
        assert_real(tally.flops_wasted, 0, 0);
        assert_int_equal(tally.lost_acks + tally.failed_rpcs, 0);
        /* Work for hours in each: not one for each job. */
        assert_true(tally.rpcs < 40 * 10);
        assert_true(tally.jobs > 200);
    }
}

static void late_and_failed_jobs_are_waste(void **state)
{
    (void)state;
    struct population population = emulation_steady();
    struct host_tally tally = live(&population, 1, 10, 0.5 * HOUR);

    assert_true(tally.late == tally.jobs && tally.flops_wasted > 0.9 * tally.flops_used);
    population.error_rate = 0.5;
    tally = live(&population, 1, 10, 30 * DAY);
    assert_true(tally.failed > tally.jobs / 4 && tally.failed < tally.jobs * 3 / 4);
    assert_true(tally.flops_wasted > 0 && tally.flops_wasted < tally.flops_used / 2);
}

static void absence_is_no_idleness(void **state)
{
    (void)state;
    struct population population = emulation_steady();
    struct host_tally always = live(&population, 3, 60, 30 * DAY), sometimes;

    population.always_on = false;
    sometimes = live(&population, 3, 60, 365 * DAY);
    assert_true(sometimes.flops_total < 0.9 * always.flops_total);
    assert_true(sometimes.flops_used > 0.95 * sometimes.flops_total);
}

struct looks {
    size_t count;
    double least_on;
};

/* Whoever has nothing lacks the whole buffer, which is wall time, like what servers count. */
static void lacks_its_buffer(struct emulation *emulation, void *context)
{
    const struct outgoing *outgoing = &emulation->question.outgoing;
    const struct machine *machine = &emulation->volunteer.machine;
    struct looks *looks = context;

    for (size_t i = 0; i < outgoing->job_count; i++)
        if (!outgoing->jobs[i].done)
            return;
    if (!volunteer_wants_work(&emulation->question))
        return;
    assert_real(outgoing->demands[CLIENT_CPU].seconds, machine->buffer * (double)machine->cpus, 1);
    /* What it says of its presence is one thing, in two elements. */
    assert_real(outgoing->on_fraction,
                (outgoing->active_time + DAY) / (emulation->volunteer.now - EMULATION_BEGIN + DAY),
                1e-9);
    looks->least_on = fmin(looks->least_on, outgoing->on_fraction);
    looks->count++;
}

static void who_is_often_away_asks_for_a_whole_buffer_too(void **state)
{
    (void)state;
    struct emulation *emulation = emulation_create();
    struct looks looks = {.least_on = 1};

    emulation->population.always_on = false;
    emulation->projects[0].jobs_max = 1;
    emulation->projects[0].request_delay = 6 * HOUR; /* its queue is empty by then */
    emulation->look = lacks_its_buffer;
    emulation->context = &looks;
    emulation_begin(emulation, 3);
    emulation_run(emulation, 60);
    assert_true(looks.count > 2 && looks.least_on < 0.7);
    emulation_free(emulation);
}

/* How long a job takes is a product, of which each factor is drawn for what it belongs to. */
static void jobs_are_slow_by_host_and_by_workunit(void **state)
{
    (void)state;
    struct emulation *emulation = emulation_create();
    const struct volunteer *volunteer = &emulation->volunteer;

    emulation->population.host_sigma = emulation->population.workunit_sigma = 1;
    emulation_begin(emulation, 5);
    emulation_run(emulation, 0.01);
    assert_true(volunteer->job_count > 1 && volunteer->machine.slowness != 1);
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        assert_real(job->duration,
                    HOUR * volunteer->machine.slowness *
                        population_workunit_error(&emulation->population, 5, text_from(job->name)),
                    1e-6 * job->duration);
    }
    emulation_free(emulation);
}

/* A client that has been there for long knows its presence, and says what it had of it. */
static void a_host_with_a_history_knows_its_presence(void **state)
{
    (void)state;
    struct emulation *young = emulation_create(), *old = emulation_create();

    young->population.always_on = old->population.always_on = false;
    old->population.history_days = 2000;
    emulation_begin(young, 3);
    emulation_begin(old, 3);
    assert_real(volunteer_on_fraction(&young->volunteer), 1, 0);
    assert_true(volunteer_on_fraction(&old->volunteer) < 0.6);
    assert_real(old->volunteer.on_time + old->volunteer.off_time, 2000 * DAY, 1);
    assert_true(old->volunteer.is_on && old->volunteer.next_change > EMULATION_BEGIN);
    assert_real(old->volunteer.booked_until, old->volunteer.on_time, 0);
    emulation_free(young);
    emulation_free(old);
}

/* So that two configurations of a server can be compared. */
static void presence_does_not_depend_on_what_is_computed(void **state)
{
    (void)state;
    struct population population = population_measured();
    struct host_tally good = live(&population, 7, 60, 30 * DAY), bad;

    population.error_rate = 0.7;
    bad = live(&population, 7, 60, HOUR);
    assert_true(bad.jobs != good.jobs);
    assert_real(bad.flops_total, good.flops_total, 1e-3 * good.flops_total);
}

static void the_same_seed_lives_the_same_life(void **state)
{
    (void)state;
    const struct population population = population_measured();
    struct host_tally a = live(&population, 7, 60, 3 * DAY);
    struct host_tally b = live(&population, 7, 60, 3 * DAY);
    struct host_tally c = live(&population, 8, 60, 3 * DAY);

    assert_memory_equal(&a, &b, sizeof(a));
    assert_memory_not_equal(&a, &c, sizeof(a));
}

static void a_silent_server_is_left_alone_longer_and_longer(void **state)
{
    (void)state;
    struct emulation *emulation = emulation_create();

    emulation->projects[0].is_silent = true;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 2);
    assert_in_range(emulation->volunteer.tally.failed_rpcs, 11, 39);
    emulation_free(emulation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_host_with_work_is_never_idle),
        cmocka_unit_test(late_and_failed_jobs_are_waste),
        cmocka_unit_test(absence_is_no_idleness),
        cmocka_unit_test(who_is_often_away_asks_for_a_whole_buffer_too),
        cmocka_unit_test(jobs_are_slow_by_host_and_by_workunit),
        cmocka_unit_test(a_host_with_a_history_knows_its_presence),
        cmocka_unit_test(presence_does_not_depend_on_what_is_computed),
        cmocka_unit_test(the_same_seed_lives_the_same_life),
        cmocka_unit_test(a_silent_server_is_left_alone_longer_and_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
