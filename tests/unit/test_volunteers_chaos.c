/* SPDX-License-Identifier: Apache-2.0 */
/* Emulated hosts of all policies through whatever may happen to them: nothing is counted twice, the
 * same seed is the same life, and nothing breaks. */
#include "server/base/random.h"
#include "tests/support/emulation.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/host/habits.h"
#include "tools/lab/volunteers/host/life.h"
#include "tools/lab/volunteers/host/scheduler_rpc.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define DAY 86400.0

/* Every combination of policies, by number; false: there are no more. */
static bool choose_combination(struct population *population, size_t number)
{
    struct habits *habits = &population->habits;
    size_t *indices[HABITS] = {
        [HABIT_RUN] = &habits->run,           [HABIT_FETCH] = &habits->fetch,
        [HABIT_ESTIMATE] = &habits->estimate, [HABIT_REQUEST] = &habits->request,
        [HABIT_DISK] = &habits->disk,
    };

    for (size_t t = 0; t < HABITS; t++) {
        *indices[t] = number % habit_tables[t].count;
        number /= habit_tables[t].count;
    }
    return number == 0;
}

static struct emulation *varied(size_t combination)
{
    struct emulation *emulation = emulation_create();
    struct population *population = &emulation->population;

    *population = population_measured();
    if (!choose_combination(population, combination)) {
        emulation_free(emulation);
        return NULL;
    }
    population->cpus_max = 4;
    population->projects = 4;
    population->projects_min = 2;
    population->share_min = 1;
    population->gpu_parts[0] = population->gpu_parts[1] = population->gpu_parts[2] = 0.7;
    population->gpu_count_max = 3;
    population->error_rate = 0.1;
    population->disk_min = 10e9;
    population->disk_max = 30e9;
    population->disk_swing = 0.9;
    population->job_bytes_max = 2e9;
    population->job_sticky = 0.5;
    population->leave_days = 200;
    population->restart = 100;
    population->leave_in_memory = combination % 2 == 0;
    population->sleeps = combination % 7 == 0;
    population->network_min = combination % 5 == 0 ? 0 : 1e6;
    population->network_max = 1e8;
    population->cpus_percent = combination % 11 == 0 ? 50 : 100;
    population->attach_count = population->later_share_count = population->file_scale_count = 4;
    for (size_t p = 0; p < 4; p++) {
        population->attach_days[p] = 0.4 * (double)((p + combination) % 4);
        population->later_shares[p] = (double)(p + 1);
        population->file_scales[p] = 0.3 * (double)p;
        emulation->projects[p].file_bytes = 1e8 * (double)p;
        emulation->projects[p].file_is_output = p == 2;
    }
    population->later_shares_days = 1.5;
    for (size_t p = 0; p < 4; p++) {
        emulation->projects[p].coproc_cpus = 0.3 * (double)p;
        emulation->projects[p].run_time = 3000 * (double)(p * p + 1);
        for (size_t r = 1; r < CLIENT_RESOURCES; r++)
            emulation->projects[p].serves[r] = (p + r) % 2 == 0;
    }
    emulation->projects[3].bound = 40000;
    return emulation;
}

static void used_is_no_more_than_there_is(void **state)
{
    (void)state;
    size_t combination = 0;
    struct emulation *emulation;

    for (; (emulation = varied(combination)) != NULL; combination++) {
        const struct host_tally *tally = &emulation->volunteer.tally;
        double by_resource = 0, by_project = 0;

        emulation_begin(emulation, combination);
        emulation_run(emulation, 3);
        for (size_t r = 0; r < emulation->volunteer.fetch.resource_count; r++) {
            const struct tally_resource *resource = &tally->resources[r];

            assert_true(resource->used <= resource->present * (1 + 1e-9));
            assert_true(resource->used + resource->starved <= resource->present * (1 + 1e-9));
            by_resource += resource->used * emulation->volunteer.fetch.resources[r].flops;
        }
        for (size_t p = 0; p < emulation->volunteer.project_count; p++)
            by_project += emulation->volunteer.projects[p].tally.flops_used;
        /* Files take half an hour at most; without them some hosts are on for seconds only. */
        if (emulation->volunteer.on_time > (emulation->volunteer.machine.network <= 0 ? 60 : 3600))
            assert_true(tally->flops_used > 0);
        assert_true(tally->flops_used <= tally->flops_total * (1 + 1e-9));
        assert_true(tally->flops_wasted <= tally->flops_used * (1 + 1e-9));
        assert_true(tally->flops_lost >= 0 &&
                    tally->flops_lost <= tally->flops_wasted * (1 + 1e-9));
        assert_real(by_resource, tally->flops_used, 1e-9 * tally->flops_used);
        assert_real(by_project, tally->flops_used, 1e-9 * tally->flops_used);
        assert_int_equal(tally->lost_acks, 0);
        emulation_free(emulation);
    }
    assert_true(combination >= (size_t)3 * 4 * 2 * 2 * 3);
}

/* Jobs of minutes for a buffer of days: the bound is reached. */
static void a_queue_has_its_bound(void **state)
{
    (void)state;
    size_t most = 0;

    for (size_t fetch = 0; fetch < habit_tables[HABIT_FETCH].count; fetch++) {
        struct emulation *emulation = emulation_create();

        emulation->population.habits.fetch = fetch;
        emulation->population.buffer_min_days = emulation->population.buffer_max_days = 10;
        emulation->projects[0].run_time = 300;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 0.2);
        assert_true(emulation->volunteer.job_count <= VOLUNTEER_JOBS_MAX);
        most = emulation->volunteer.job_count > most ? emulation->volunteer.job_count : most;
        emulation_free(emulation);
    }
    assert_true(most > VOLUNTEER_JOBS_MAX - 50);
}

static void the_same_seed_is_the_same_life(void **state)
{
    (void)state;
    struct emulation *first;

    /* Each way of each kind is met; all combinations would be many. */
    for (size_t combination = 0; (first = varied(combination)) != NULL; combination += 7) {
        struct emulation *second = varied(combination);

        emulation_begin(first, 5);
        emulation_begin(second, 5);
        emulation_run(first, 3);
        emulation_run(second, 3);
        assert_memory_equal(&first->volunteer.tally, &second->volunteer.tally,
                            sizeof(first->volunteer.tally));
        assert_int_equal(first->events, second->events);
        assert_int_equal(first->volunteer.job_count, second->volunteer.job_count);
        emulation_free(first);
        emulation_free(second);
    }
}

enum { NAMES = 40, JOBS = 12 };

static double odd_number(struct random *random)
{
    static const double numbers[] = {0, -1, 1, 0.3, 1e-9, 1e3, 1e6, 1e12, 1e18, 1e300};

    return numbers[random_next(random) % (sizeof(numbers) / sizeof(numbers[0]))];
}

/* Jobs of names that come again, with amounts that make no sense; acks and aborts of any. */
static void answer_oddly(struct volunteer *volunteer, const struct volunteer_question *question,
                         struct random *random)
{
    struct incoming_job jobs[JOBS];
    struct incoming_abort aborts[JOBS];
    struct incoming_file files[JOBS];
    struct text acks[JOBS];
    struct incoming incoming = {.is_down = random_next(random) % 20 == 0,
                                .no_work_deadlines = random_next(random) % 4 == 0,
                                .send_full_workload = random_next(random) % 4 == 0,
                                .hostid = (int64_t)(random_next(random) % 3),
                                .request_delay = fmin(odd_number(random), 1e6),
                                .jobs = jobs,
                                .acks = acks,
                                .aborts = aborts,
                                .deletions = acks,
                                .deletion_count = random_next(random) % JOBS,
                                .deletes_by_expiry = random_next(random) % 2 == 0,
                                .job_count = random_next(random) % JOBS,
                                .ack_count = random_next(random) % JOBS,
                                .abort_count = random_next(random) % JOBS};
    char text[NAMES][24];

    for (size_t i = 0; i < NAMES; i++)
        snprintf(text[i], sizeof(text[i]), "a&<%zu", i);
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] = (struct incoming_job){
            .name = text_from(text[random_next(random) % NAMES]),
            .deadline = volunteer->now + odd_number(random) * (random_unit(random) - 0.5),
            .operations = odd_number(random),
            .use.flops = odd_number(random),
            .use.cpus = odd_number(random),
            .use.coproc = (size_t)random_next(random) % CLIENT_RESOURCES,
            .use.coprocs = odd_number(random),
            .files = files,
            .file_count = random_next(random) % JOBS};
        files[i] = (struct incoming_file){.name = text_from(text[random_next(random) % NAMES]),
                                          .bytes = fabs(odd_number(random)),
                                          .priority = (int)(random_next(random) % 6),
                                          .life = odd_number(random),
                                          .sticky = random_next(random) % 2 == 0};
        acks[i] = text_from(text[random_next(random) % NAMES]);
        aborts[i] = (struct incoming_abort){.name = text_from(text[random_next(random) % NAMES]),
                                            .if_not_started = random_next(random) % 2 == 0};
    }
    for (size_t r = 0; r < CLIENT_RESOURCES; r++)
        incoming.answers[r] = (enum fetch_answer)(random_next(random) % 4);
    volunteer_hear(volunteer, question, &incoming);
}

static void ten_thousand_odd_events_break_nothing(void **state)
{
    (void)state;
    struct emulation *emulation;
    struct random random = {.state = 99};

    for (size_t combination = 0; (emulation = varied(combination)) != NULL; combination++) {
        struct volunteer *volunteer = &emulation->volunteer;
        double before;

        emulation->population.leave_days = 0;
        emulation_begin(emulation, combination);
        before = volunteer->now;
        for (int i = 0; i < 10000 / 100; i++) {
            if (volunteer_ask(volunteer, &emulation->question)) {
                if (random_next(&random) % 10 == 0)
                    volunteer_hear_nothing(volunteer, &emulation->question);
                else
                    answer_oddly(volunteer, &emulation->question, &random);
            }
            assert_true(volunteer_next_event(volunteer) >= volunteer->now);
            volunteer_live(volunteer, volunteer_next_event(volunteer));
        }
        assert_true(volunteer->now > before);
        assert_true(volunteer->tally.flops_used <= volunteer->tally.flops_total * (1 + 1e-9));
        emulation_free(emulation);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_is_no_more_than_there_is),
        cmocka_unit_test(a_queue_has_its_bound),
        cmocka_unit_test(the_same_seed_is_the_same_life),
        cmocka_unit_test(ten_thousand_odd_events_break_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
