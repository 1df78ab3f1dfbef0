/* SPDX-License-Identifier: Apache-2.0 */
/* One emulated host, against a server that is a few lines. */
#include "tests/support/test.h"
#include "tools/volunteers/volunteer.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define HOUR  3600.0
#define DAY   86400.0
#define BEGIN 1e9

static struct population steady(void)
{
    struct population population = population_measured();

    population.always_on = true;
    population.error_rate = population.abandon_rate = population.estimate_sigma = 0;
    population.flops_min = population.flops_max = 1e9;
    return population;
}

/* Jobs of an hour, as many as are asked for, due in `bound` s; acknowledges everything. */
static void serve(struct volunteer *volunteer, const struct volunteer_question *question,
                  double bound, double *number)
{
    struct incoming_job *jobs = calloc(INCOMING_JOBS_MAX, sizeof(*jobs));
    struct text *acks = calloc(VOLUNTEER_JOBS_MAX, sizeof(*acks));
    char(*names)[32] = calloc(INCOMING_JOBS_MAX, sizeof(*names));
    char(*done)[32] = calloc(VOLUNTEER_JOBS_MAX, sizeof(*done));
    struct incoming incoming = {
        .cpu = FETCH_NONE_NOW, .request_delay = 10, .hostid = 1, .jobs = jobs, .acks = acks};
    double seconds = question->outgoing.cpu_seconds, instances = question->outgoing.cpu_instances;

    for (size_t i = 0; i < question->outgoing.job_count; i++)
        if (question->jobs[i].done) { /* the host's own copy goes as it reads */
            snprintf(done[i], sizeof(done[i]), "%s", question->jobs[i].name);
            acks[incoming.ack_count++] = text_from(done[i]);
        }
    while ((seconds > 0 || instances > 0) && incoming.job_count < 100) {
        size_t i = incoming.job_count++;

        snprintf(names[i], sizeof(names[i]), "job_%.0f", ++*number);
        jobs[i] = (struct incoming_job){.name = text_from(names[i]),
                                        .deadline = volunteer->now + bound,
                                        .operations = HOUR * 1e9};
        seconds -= HOUR;
        instances -= 1;
    }
    volunteer_hear(volunteer, question, &incoming);
    free(jobs);
    free(acks);
    free(names);
    free(done);
}

static struct tally_of_host live(const struct population *population, uint64_t seed, double days,
                                 double bound)
{
    struct volunteer_question *question = calloc(1, sizeof(*question));
    struct volunteer volunteer;
    struct tally_of_host tally;
    double number = 0;

    assert_true(volunteer_init(&volunteer, population, seed, 0, BEGIN));
    while (volunteer.now < BEGIN + days * DAY) {
        if (volunteer_ask(&volunteer, question))
            serve(&volunteer, question, bound, &number);
        volunteer_live(&volunteer, fmin(volunteer_next_event(&volunteer), BEGIN + days * DAY));
    }
    tally = volunteer.tally;
    volunteer_free(&volunteer);
    free(question);
    return tally;
}

static void a_steady_host_with_work_is_never_idle(void **state)
{
    (void)state;
    const struct population population = steady();

    for (uint64_t seed = 1; seed < 6; seed++) {
        struct tally_of_host tally = live(&population, seed, 10, 30 * DAY);

        assert_true(tally.used > 0.99 * tally.present);
        assert_real(tally.wasted, 0, 0);
        assert_int_equal(tally.lost_acks + tally.failed_rpcs, 0);
        /* Work for hours in each: not one for each job. */
        assert_true(tally.rpcs < 40 * 10);
        assert_true(tally.jobs > 200);
    }
}

static void late_and_failed_jobs_are_waste(void **state)
{
    (void)state;
    struct population population = steady();
    struct tally_of_host tally = live(&population, 1, 10, 0.5 * HOUR);

    assert_true(tally.late == tally.jobs && tally.wasted > 0.9 * tally.used);
    population.error_rate = 0.5;
    tally = live(&population, 1, 10, 30 * DAY);
    assert_true(tally.failed > tally.jobs / 4 && tally.failed < tally.jobs * 3 / 4);
    assert_true(tally.wasted > 0 && tally.wasted < tally.used / 2);
}

static void absence_is_no_idleness(void **state)
{
    (void)state;
    struct population population = steady();
    struct tally_of_host always = live(&population, 3, 60, 30 * DAY), sometimes;

    population.always_on = false;
    sometimes = live(&population, 3, 60, 365 * DAY);
    assert_true(sometimes.present < 0.9 * always.present);
    assert_true(sometimes.used > 0.95 * sometimes.present);
}

/* So that two configurations of a server can be compared. */
static void presence_does_not_depend_on_what_is_computed(void **state)
{
    (void)state;
    struct population population = population_measured();
    struct tally_of_host good = live(&population, 7, 60, 30 * DAY), bad;

    population.error_rate = 0.7;
    bad = live(&population, 7, 60, HOUR);
    assert_true(bad.jobs != good.jobs);
    assert_real(bad.present, good.present, 1e-3 * good.present);
}

static void the_same_seed_lives_the_same_life(void **state)
{
    (void)state;
    const struct population population = population_measured();
    struct tally_of_host a = live(&population, 7, 60, 3 * DAY);
    struct tally_of_host b = live(&population, 7, 60, 3 * DAY);
    struct tally_of_host c = live(&population, 8, 60, 3 * DAY);

    assert_memory_equal(&a, &b, sizeof(a));
    assert_memory_not_equal(&a, &c, sizeof(a));
}

static void a_silent_server_is_left_alone_longer_and_longer(void **state)
{
    (void)state;
    const struct population population = steady();
    struct volunteer_question *question = calloc(1, sizeof(*question));
    struct volunteer volunteer;

    assert_true(volunteer_init(&volunteer, &population, 1, 0, BEGIN));
    while (volunteer.now < BEGIN + 2 * DAY) {
        if (volunteer_ask(&volunteer, question))
            volunteer_hear_nothing(&volunteer);
        volunteer_live(&volunteer, volunteer_next_event(&volunteer));
    }
    assert_true(volunteer.tally.failed_rpcs > 10 && volunteer.tally.failed_rpcs < 40);
    volunteer_free(&volunteer);
    free(question);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_host_with_work_is_never_idle),
        cmocka_unit_test(late_and_failed_jobs_are_waste),
        cmocka_unit_test(absence_is_no_idleness),
        cmocka_unit_test(presence_does_not_depend_on_what_is_computed),
        cmocka_unit_test(the_same_seed_lives_the_same_life),
        cmocka_unit_test(a_silent_server_is_left_alone_longer_and_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
