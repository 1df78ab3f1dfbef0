/* SPDX-License-Identifier: Apache-2.0 */
/* Whom of a project's schedulers a host contacts, by whatever it fetches: each case for all ways.
 */
#include "server/base/random.h"
#include "tests/support/emulation.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/host/habits.h"

#include <math.h>

#include "server/base/banned.h"

enum { A, B, C };
#define DAY  86400.0
#define WAYS habit_tables[HABIT_FETCH].count

/* One project with schedulers 1 and 2 on its master page. The host keeps half a day of work. */
static struct emulation *on_pages(size_t fetch)
{
    struct emulation *emulation = emulation_create();
    struct population *population = &emulation->population;

    population->habits.fetch = fetch;
    population->reads_masters = true;
    population->cpus_max = 1;
    population->buffer_min_days = population->buffer_max_days = 0.5;
    for (size_t p = 0; p < 3; p++) {
        emulation->projects[p].page[0] = 1;
        emulation->projects[p].page[1] = 2;
        emulation->projects[p].page_count = 2;
    }
    return emulation;
}

static void the_page_is_read_before_the_first_contact(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);

        emulation_begin(emulation, 1);
        emulation_run(emulation, 60 / DAY);
        assert_int_equal(emulation->projects[A].pages_read, 1);
        assert_true(emulation->projects[A].sent > 0);
        emulation_run(emulation, 3);
        assert_int_equal(emulation->projects[A].pages_read, 1);
        emulation_free(emulation);
    }
}

static void without_a_page_there_is_nobody_to_ask(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);
        struct emulated_project *project = &emulation->projects[A];

        project->page_count = 0;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 1);
        /* From minutes to four hours between. */
        assert_in_range(project->pages_read, 9, 30);
        assert_int_equal(project->rpcs + emulation->volunteer.tally.rpcs, 0);
        project->page_count = 2;
        emulation_run(emulation, 1.2);
        assert_true(project->sent > 0);
        emulation_free(emulation);
    }
}

/* The last RPC to scheduler 1, which is dead, and how many went to 2 instead. */
struct pair {
    double time, seconds;
    int64_t rpc_seqno;
    uint64_t seen;
};

static void look_at_pairs(struct emulation *emulation, void *context)
{
    const struct volunteer_question *question = &emulation->question;
    struct pair *pair = context;

    if (question->scheduler == 1) {
        *pair = (struct pair){.time = emulation->volunteer.now,
                              .seconds = question->request.seconds[CLIENT_CPU],
                              .rpc_seqno = question->outgoing.rpc_seqno,
                              .seen = pair->seen};
    } else if (question->request.turn > 0) {
        assert_real(emulation->volunteer.now, pair->time, 0);
        assert_real(question->request.seconds[CLIENT_CPU], pair->seconds, 0);
        assert_int_equal(question->outgoing.rpc_seqno, pair->rpc_seqno);
        pair->seen++;
    }
}

static void the_next_scheduler_gets_the_same_request_at_once(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);
        struct emulated_project *project = &emulation->projects[A];
        struct pair pair = {.seen = 0};

        project->dead = 1U << 1;
        emulation->look = look_at_pairs;
        emulation->context = &pair;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 10);
        assert_true(pair.seen > 0);
        assert_int_equal(pair.seen, project->rpcs_of[1]);
        assert_int_equal(emulation->volunteer.tally.failed_rpcs, project->rpcs_of[1]);
        assert_int_equal(emulation->volunteer.projects[A].session.failures, 0);
        assert_int_equal(project->pages_read, 1);
        assert_real(tally_idle_fraction(&emulation->volunteer.tally), 0, 0.01);
        emulation_free(emulation);
    }
}

static void sessions_begin_with_the_first_others_with_any(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);
        const struct emulated_project *project = &emulation->projects[A];

        emulation_begin(emulation, 1);
        emulation_run(emulation, 40);
        assert_true(project->rpcs > 30);
        if (fetch_policies[fetch].in_sessions)
            assert_int_equal(project->rpcs_of[2], 0);
        else
            assert_in_range(project->rpcs_of[2] * 100 / project->rpcs, 30, 70);
        emulation_free(emulation);
    }
}

static void a_project_that_moved_is_found_after_ten_failures(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);
        struct emulated_project *project = &emulation->projects[A];
        uint64_t before;

        project->page_count = 1;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 2);
        before = project->rpcs_of[1];
        project->dead = 1U << 1;
        project->page[0] = 3;
        emulation_run(emulation, 5);
        assert_int_equal(project->rpcs_of[1] - before, SESSION_MASTER_PERIOD);
        assert_int_equal(project->pages_read, 2);
        assert_true(project->rpcs_of[3] > 0);
        assert_int_equal(project->rpcs_of[2], 0);
        assert_int_equal(emulation->volunteer.projects[A].session.failures, 0);
        assert_true(emulation->volunteer.job_count > 0);
        emulation_free(emulation);
    }
}

/* Twelve hours for the first ten, then two to four each: where the count began again with the page
 * it would be twelve hours for each ten. */
static void a_page_without_anything_new_ends_no_back_off(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);
        struct emulated_project *project = &emulation->projects[A];

        project->page_count = 1;
        project->dead = 1U << 1;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 5);
        assert_in_range(project->rpcs, 35, 65);
        assert_int_equal(project->pages_read, 1 + project->rpcs / SESSION_MASTER_PERIOD);
        assert_int_equal(emulation->volunteer.projects[A].session.failures, project->rpcs);
        emulation_free(emulation);
    }
}

static void a_project_that_says_it_is_down_is_asked_once(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);
        struct emulated_project *project = &emulation->projects[A];

        project->is_down = true;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 1);
        assert_in_range(project->rpcs, 9, 30);
        assert_int_equal(emulation->volunteer.projects[A].session.failures, project->rpcs);
        emulation_free(emulation);
    }
}

/* Half of the jobs that it still has fail meanwhile. */
static void jobs_that_fail_say_nothing_of_schedulers(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);
        const struct host_tally *tally = &emulation->volunteer.tally;
        uint64_t failed_jobs;

        emulation->population.error_rate = 0.5;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 1);
        assert_int_equal(tally->failed_rpcs, 0);
        failed_jobs = tally->failed;
        emulation->projects[A].dead = 1U << 1 | 1U << 2;
        emulation_run(emulation, 1.4);
        assert_true(tally->failed > failed_jobs && tally->failed_rpcs > 2);
        assert_int_equal(emulation->volunteer.projects[A].session.failures, tally->failed_rpcs / 2);
        emulation_free(emulation);
    }
}

/* Pages and schedulers come and go; who has a living one on its page is worked for. That no other
 * than those on the page read last are asked, the emulation looks at itself. */
static void pages_and_schedulers_may_change_at_any_time(void **state)
{
    (void)state;
    struct random random = {.state = 5};
    uint64_t pages_read = 0;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);
        const struct volunteer *volunteer = &emulation->volunteer;

        emulation->population.projects = 3;
        emulation->population.projects_min = 3;
        emulation->population.always_on = false;
        emulation->population.error_rate = 0.1;
        emulation_begin(emulation, fetch);
        for (int day = 1; day < 60; day++) {
            for (size_t p = 0; p < 3; p++) {
                struct emulated_project *project = &emulation->projects[p];

                project->dead = day < 50 ? (uint8_t)random_next(&random) : 0;
                project->is_down = day < 50 && random_next(&random) % 8 == 0;
                if (random_next(&random) % 4 != 0)
                    continue;
                project->page_count = random_next(&random) % 4;
                for (size_t i = 0; i < project->page_count; i++)
                    project->page[i] = (uint8_t)((random_next(&random) + i) % 8);
            }
            emulation_run(emulation, day);
        }
        for (size_t p = 0; p < 3; p++) {
            const struct emulated_project *project = &emulation->projects[p];

            assert_true(project->pages_read > 0 && project->rpcs > 10);
            pages_read += project->pages_read;
            assert_true(project->read_count == 0 || volunteer->projects[p].session.failures < 10);
        }
        assert_true(volunteer->tally.jobs > 50);
        assert_int_equal(volunteer->tally.lost_acks, 0);
        emulation_free(emulation);
    }
    assert_true(pages_read > 2 * WAYS * 3); /* not only at attach */
}

/* requirement 1-3: whose master page is to be read is asked for nothing meanwhile, but the others
 * are. */
static void others_are_worked_for_meanwhile(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < WAYS; fetch++) {
        struct emulation *emulation = on_pages(fetch);

        emulation->population.projects = 2;
        emulation->population.projects_min = 2;
        emulation->projects[A].page_count = 0;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 4);
        assert_int_equal(emulation->projects[A].rpcs, 0);
        assert_true(emulation->projects[A].pages_read > 5);
        assert_true(emulation->projects[B].reported > 80);
        emulation_free(emulation);
    }
}

/* A job of 20 days keeps the host busy; the server wants to hear of it every six hours. */
static void a_host_comes_as_often_as_it_is_asked_to(void **state)
{
    (void)state;

    for (int asks = 0; asks < 2; asks++) {
        struct emulation *emulation = emulation_create();

        emulation->population.buffer_min_days = emulation->population.buffer_max_days = 0.1;
        emulation->projects[A].run_time = 20 * 86400.0;
        emulation->projects[A].bound = 40 * 86400.0;
        emulation->projects[A].next_rpc_delay = asks ? 6 * 3600.0 : 0;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 10);
        if (asks)
            assert_in_range(emulation->projects[A].rpcs, 38, 44);
        else
            assert_in_range(emulation->projects[A].rpcs, 1, 5);
        emulation_free(emulation);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_read_before_the_first_contact),
        cmocka_unit_test(without_a_page_there_is_nobody_to_ask),
        cmocka_unit_test(the_next_scheduler_gets_the_same_request_at_once),
        cmocka_unit_test(sessions_begin_with_the_first_others_with_any),
        cmocka_unit_test(a_project_that_moved_is_found_after_ten_failures),
        cmocka_unit_test(a_page_without_anything_new_ends_no_back_off),
        cmocka_unit_test(a_project_that_says_it_is_down_is_asked_once),
        cmocka_unit_test(jobs_that_fail_say_nothing_of_schedulers),
        cmocka_unit_test(pages_and_schedulers_may_change_at_any_time),
        cmocka_unit_test(others_are_worked_for_meanwhile),
        cmocka_unit_test(a_host_comes_as_often_as_it_is_asked_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
