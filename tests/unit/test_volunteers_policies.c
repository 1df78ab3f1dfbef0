/* SPDX-License-Identifier: Apache-2.0 */
/* The ways of clients, each as a whole host lives by it. */
#include "tests/support/emulation.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/host/habits.h"
#include "tools/lab/volunteers/host/job_queue.h"
#include "tools/lab/volunteers/host/life.h"
#include "tools/lab/volunteers/host/runtime_estimate.h"
#include "tools/lab/volunteers/host/scheduler_rpc.h"

#include <math.h>

#include "server/base/banned.h"

enum { A, B, C };
#define DAY 86400.0

static void choose_policies(struct emulation *emulation, const char *run, const char *fetch)
{
    struct habits *habits = &emulation->population.habits;

    habits->run = habit_find(&habit_tables[HABIT_RUN], text_from(run));
    habits->fetch = habit_find(&habit_tables[HABIT_FETCH], text_from(fetch));
    assert_true(habits->run < habit_tables[HABIT_RUN].count);
    assert_true(habits->fetch < habit_tables[HABIT_FETCH].count);
}

/* Two projects, so many CPUs, a buffer of half a day. */
static struct emulation *two_projects(const char *run, const char *fetch, double share_of_a,
                                      double share_of_b)
{
    struct emulation *emulation = emulation_create();
    struct population *population = &emulation->population;

    choose_policies(emulation, run, fetch);
    population->cpus_max = 1;
    population->projects = population->share_count = 2;
    population->shares[A] = share_of_a;
    population->shares[B] = share_of_b;
    population->projects_min = 2;
    population->buffer_min_days = population->buffer_max_days = 0.5;
    return emulation;
}

static double flops_of(const struct emulation *emulation, size_t project)
{
    return emulation->volunteer.projects[project].tally.flops_used;
}

/* What a project got of all that was computed. */
static double part_of(const struct emulation *emulation, size_t project)
{
    return flops_of(emulation, project) / emulation->volunteer.tally.flops_used;
}

/* CPU 1, GPU 2: A with GPU jobs alone gets 1.5 of that, B with both the CPU and a quarter. */
static void by_resources_the_gpu_goes_three_quarters_to_a(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("deadline", "resources", 100, 100);
    const struct host_tally *tally = &emulation->volunteer.tally;
    double time = 60 * DAY;

    emulation->population.gpu_parts[0] = 1;
    emulation->population.gpu_speed_min = emulation->population.gpu_speed_max = 2;
    emulation->projects[A].serves[CLIENT_CPU] = false;
    emulation->projects[A].serves[CLIENT_NVIDIA] = true;
    emulation->projects[B].serves[CLIENT_NVIDIA] = true;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 60);
    assert_real(tally->resources[CLIENT_CPU].used / time, 1, 0.02);
    assert_real(tally->resources[CLIENT_NVIDIA].used / time, 1, 0.02);
    /* B alone uses CPUs. */
    assert_real(flops_of(emulation, A) / 2e9 / time, 0.75, 0.02);
    assert_real((flops_of(emulation, B) - 1e9 * time) / 2e9 / time, 0.25, 0.02);
    emulation_free(emulation);
}

/* A has GPU jobs, B both. The GPU goes to whom is owed most of all that was computed, not of the
 * CPU alone, so it takes turns. */
static void by_recent_use_projects_take_turns_on_a_gpu(void **state)
{
    (void)state;
    static const char *const runs[] = {"robin", "recent"};
    double gaps[2], parts[2];

    for (size_t i = 0; i < 2; i++) {
        struct emulation *emulation = two_projects(runs[i], "marks", 100, 100);
        const struct tally_project *tally;

        emulation->population.gpu_parts[0] = 1;
        emulation->projects[A].serves[CLIENT_CPU] = false;
        emulation->projects[A].serves[CLIENT_NVIDIA] = true;
        emulation->projects[B].serves[CLIENT_NVIDIA] = true;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 2);
        tally = &emulation->volunteer.projects[A].tally;
        gaps[i] = sqrt(tally->gap_squares / tally->present);
        parts[i] = part_of(emulation, A);
        emulation_free(emulation);
    }
    assert_real(parts[1], 0.5, 0.05);
    assert_true(gaps[1] < 3600 && gaps[0] > 2 * 3600);
}

static void shares_are_reached_by_every_policy(void **state)
{
    (void)state;
    static const struct {
        const char *run, *fetch;
        double cpus, tolerance;
    } cases[] = {
        {"debt", "debt", 1, 0.02},       {"debt", "debt", 4, 0.02},
        {"robin", "demand", 1, 0.02},    {"robin", "demand", 4, 0.02},
        {"debt", "sessions", 1, 0.05},   {"deadline", "resources", 1, 0.02},
        {"robin", "resources", 4, 0.02}, {"deadline", "demand", 1, 0.05},
        {"recent", "marks", 1, 0.02},    {"recent", "marks", 4, 0.02},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct emulation *emulation = two_projects(cases[i].run, cases[i].fetch, 75, 25);
        const struct host_tally *tally = &emulation->volunteer.tally;
        uint64_t seed = 1;

        emulation->population.cpus_max = cases[i].cpus > 1 ? 4 : 1;
        emulation_begin(emulation, seed);
        while ((double)emulation->volunteer.machine.cpus < cases[i].cpus) {
            volunteer_free(&emulation->volunteer);
            emulation_begin(emulation, ++seed);
        }
        emulation_run(emulation, 40);
        assert_real(tally_idle_fraction(tally), 0, 0.01);
        assert_real(part_of(emulation, A), 0.75, cases[i].tolerance);
        emulation_free(emulation);
    }
}

/* 0-2: by the period, so that both of two projects run every few hours. */
static void round_robin_and_debt_rotate_where_deadlines_do_not(void **state)
{
    (void)state;
    static const char *const runs[] = {"deadline", "debt", "robin"};
    double gaps[3];

    for (size_t i = 0; i < 3; i++) {
        struct emulation *emulation = two_projects(runs[i], "debt", 50, 50);
        const struct tally_project *tally;

        emulation->projects[A].run_time = emulation->projects[B].run_time = 5 * 3600;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 30);
        tally = &emulation->volunteer.projects[A].tally;
        gaps[i] = sqrt(tally->gap_squares / tally->present);
        emulation_free(emulation);
    }
    assert_true(gaps[1] < 3600 && gaps[2] < 3600);
    assert_true(gaps[0] > 3 * 3600);
}

/* Work that would be late is not sent for ten days. */
static void a_latency_limited_project_gains_debt_and_gets_work_later(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("robin", "demand", 50, 50);
    double before;

    emulation->projects[B].refuses_for_deadlines = true;
    emulation->projects[B].request_delay = 4 * 3600;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 10);
    assert_real(flops_of(emulation, B), 0, 0);
    assert_true(emulation->projects[B].refused > 10);
    assert_true(emulation->volunteer.tally.deadline_flags == emulation->projects[B].refused);
    /* Half of what ran, and as much less for the other. */
    assert_true(emulation->volunteer.projects[B].long_debt > 0.4 * 5 * DAY);
    assert_true(emulation->volunteer.projects[A].long_debt < -0.4 * 5 * DAY);

    emulation->projects[B].refuses_for_deadlines = false;
    emulation->projects[B].request_delay = 10;
    emulation_run(emulation, 11); /* until what is queued of A is done */
    before = flops_of(emulation, A);
    emulation_run(emulation, 14);
    assert_real(flops_of(emulation, A), before, 3600e9);
    emulation_free(emulation);
}

/* Jobs of B are due soon after they come: by turns they would be late. */
static void endangered_jobs_run_first(void **state)
{
    (void)state;
    static const char *const runs[] = {"robin", "debt"};
    uint64_t late[2], reported[2];

    for (size_t i = 0; i < 2; i++) {
        struct emulation *emulation = two_projects(runs[i], "demand", 80, 20);

        emulation->projects[B].run_time = 4 * 3600;
        emulation->projects[B].bound = 10 * 3600;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 40);
        late[i] = emulation->volunteer.tally.late;
        reported[i] = emulation->projects[B].reported;
        emulation_free(emulation);
    }
    assert_true(reported[0] > 20 && reported[1] > 20);
    assert_true(late[0] * 10 < reported[0]);
    assert_true(late[1] * 3 > reported[1]);
}

/* P1(0.1, 1, .5) P2(1, 24, .25) P3(1, 24, .25) on two CPUs: short tasks of P1 on one CPU, and on
 * the other tasks of P2 and P3 by turns, each for its whole hour. */
static const double scenario_1_shares[] = {0.5, 0.25, 0.25};

static struct emulation *scenario_1(const char *run)
{
    static const double run_times[] = {360, 3600, 3600}, bounds[] = {1, 24, 24};
    struct emulation *emulation = two_projects(run, "demand", 50, 50);
    struct volunteer *volunteer = &emulation->volunteer;

    emulation->population.projects = emulation->population.share_count = 3;
    emulation->population.projects_min = 3;
    emulation->population.buffer_min_days = emulation->population.buffer_max_days = 0.02;
    for (size_t p = 0; p < 3; p++) {
        emulation->population.shares[p] = scenario_1_shares[p];
        emulation->projects[p].run_time = run_times[p];
        emulation->projects[p].bound = bounds[p] * 3600;
    }
    emulation_begin(emulation, 1);
    volunteer->machine.cpus = 2;
    volunteer->fetch.resources[CLIENT_CPU].count = 2;
    return emulation;
}

static void scenario_1_runs_long_tasks_to_their_end(void **state)
{
    (void)state;
    struct emulation *emulation = scenario_1("robin");
    struct volunteer *volunteer = &emulation->volunteer;
    size_t stopped = 0, looks = 0;

    for (int step = 0; step < 2000; step++) {
        emulation_run(emulation, step / 100.0);
        for (size_t i = 0; i < volunteer->job_count; i++, looks++)
            stopped +=
                volunteer->jobs[i].begun && !volunteer->jobs[i].running && !volunteer->jobs[i].done;
    }
    assert_real(tally_idle_fraction(&volunteer->tally), 0, 0.01);
    assert_true(volunteer->tally.late * 100 < volunteer->tally.jobs);
    for (size_t p = 0; p < 3; p++)
        assert_real(part_of(emulation, p), scenario_1_shares[p], 0.03);
    assert_true(stopped * 50 < looks);
    emulation_free(emulation);
}

/* P1(1000, 2000, .5) P2(1, 10, .5) on one CPU: by its share the long task takes just as long as it
 * may, and the short ones never wait for it. */
static void a_long_task_ends_in_time_beside_short_ones(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("robin", "demand", 50, 50);
    const struct volunteer *volunteer = &emulation->volunteer;

    emulation->population.buffer_min_days = emulation->population.buffer_max_days = 0.1;
    emulation->projects[A].run_time = 1000 * 3600;
    emulation->projects[A].bound = 2000 * 3600;
    emulation->projects[A].jobs_max = 1;
    emulation->projects[B].bound = 10 * 3600;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 2000.0 / 24 + 1);
    assert_int_equal(volunteer->tally.late, 0);
    assert_int_equal(emulation->projects[A].reported, 1);
    assert_true(emulation->projects[B].reported > 900);
    assert_real(part_of(emulation, A), 0.5, 0.03);
    assert_real(tally_idle_fraction(&volunteer->tally), 0, 0.01);
    emulation_free(emulation);
}

/* Goal 6 of that time: where starting again takes minutes, following debts at once costs most of a
 * CPU, keeping to periods and checkpoints next to nothing. */
static double scenario_1_loses(const char *run)
{
    struct emulation *emulation = scenario_1(run);
    double lost;

    emulation->population.restart = 300;
    emulation->population.checkpoint = 1800;
    emulation_run(emulation, 20);
    lost = tally_lost_fraction(&emulation->volunteer.tally);
    emulation_free(emulation);
    return lost;
}

static void whole_periods_save_what_starting_again_costs(void **state)
{
    (void)state;
    assert_true(scenario_1_loses("robin") < 0.02);
    assert_true(scenario_1_loses("debt") > 0.25); /* half of one of the two CPUs */
}

/* 3-13: nobody is in danger: who is to stop does so at a checkpoint, and loses nothing. By debt
 * alone he stops at once. */
static void who_waits_for_a_checkpoint_loses_nothing(void **state)
{
    (void)state;
    static const char *const runs[] = {"robin", "debt"};
    double lost[2];

    for (size_t i = 0; i < 2; i++) {
        struct emulation *emulation = two_projects(runs[i], "debt", 50, 50);

        emulation->population.checkpoint = 1000;
        emulation->projects[A].run_time = emulation->projects[B].run_time = 5 * 3600;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 30);
        lost[i] = tally_lost_fraction(&emulation->volunteer.tally);
        assert_real(tally_wasted_fraction(&emulation->volunteer.tally), lost[i], 1e-9);
        emulation_free(emulation);
    }
    assert_true(lost[0] < 1e-4);
    assert_true(lost[1] > 0.05);
}

static void sessions_keep_the_queue_between_its_marks(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("debt", "sessions", 50, 50);

    emulation_begin(emulation, 1);
    for (int day = 1; day <= 20; day++) {
        double queued = 0;

        emulation_run(emulation, day);
        for (size_t i = 0; i < emulation->volunteer.job_count; i++)
            if (!emulation->volunteer.jobs[i].done)
                queued += emulation->volunteer.jobs[i].left;
        assert_true(queued > DAY / 4 - 4000 && queued < DAY / 2 + 4000);
    }
    /* From mark to mark, and an hour's delay of reports for both. */
    assert_true(emulation->volunteer.tally.rpcs < 20 * 24 * 2);
    assert_int_equal(emulation->volunteer.tally.lost_acks, 0);
    emulation_free(emulation);
}

/* What contacts were for, and the first that wanted work of each project. */
struct contacts {
    size_t both, reports, requests;
    double seconds[2], time[2];
};

static void look_at_contacts(struct emulation *emulation, void *context)
{
    const struct volunteer_question *question = &emulation->question;
    struct contacts *contacts = context;
    bool wants = volunteer_wants_work(question), reports = false;

    for (size_t i = 0; i < question->outgoing.job_count; i++)
        reports |= question->outgoing.jobs[i].is_own && question->outgoing.jobs[i].done;
    contacts->both += wants && reports;
    contacts->reports += !wants && reports;
    contacts->requests += wants && !reports;
    if (wants && contacts->time[question->project] == 0) {
        contacts->time[question->project] = emulation->volunteer.now;
        contacts->seconds[question->project] = question->outgoing.demands[CLIENT_CPU].seconds;
    }
}

/* requirements 0-12, 1-9: work is asked for and reported in one where both are due, and without the
 * other where not. */
static void contacts_are_for_work_for_reports_and_for_both(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < habit_tables[HABIT_FETCH].count; fetch++) {
        struct emulation *emulation =
            two_projects("debt", habit_word(&habit_tables[HABIT_FETCH], fetch), 75, 25);
        struct contacts contacts = {.both = 0};

        emulation->look = look_at_contacts;
        emulation->context = &contacts;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 20);
        assert_true(contacts.both > 5 && contacts.requests > 1);
        if (fetch_policies[fetch].in_sessions)
            assert_true(contacts.reports > 5);
        assert_int_equal(emulation->volunteer.tally.lost_acks, 0);
        emulation_free(emulation);
    }
}

/* requirements 0-8, 0-9, 0-15: T is half of the buffer; an empty host asks everybody at once for
 * what the project's part of its CPUs does in 2T, and nobody again before one of them would starve
 * in T. */
static void by_debt_every_project_is_filled_up_to_twice_the_period(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("debt", "debt", 75, 25);
    struct contacts contacts = {.both = 0};

    emulation->look = look_at_contacts;
    emulation->context = &contacts;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 0.2);
    assert_real(contacts.seconds[A], 0.75 * 0.5 * DAY, 1);
    assert_real(contacts.seconds[B], 0.25 * 0.5 * DAY, 1);
    assert_real(contacts.time[A], EMULATION_BEGIN, 0);
    assert_real(contacts.time[B], EMULATION_BEGIN, 0);
    assert_int_equal(contacts.requests, 2);
    assert_int_equal(contacts.both, 0);
    emulation_run(emulation, 0.35);
    assert_true(contacts.requests + contacts.both > 2);
    emulation_free(emulation);
}

static void look_at_reports(struct emulation *emulation, void *context)
{
    const struct outgoing *outgoing = &emulation->question.outgoing;
    size_t *reported = context;

    for (size_t i = 0; i < outgoing->job_count; i++)
        if (outgoing->jobs[i].is_own && outgoing->jobs[i].done) {
            assert_true(outgoing->jobs[i].deadline >= emulation->volunteer.now);
            ++*reported;
        }
}

/* requirement 1-4: jobs of an hour, due in two: there is no time to wait for others to report with.
 */
static void what_is_due_soon_is_reported_in_time(void **state)
{
    (void)state;

    for (size_t fetch = 0; fetch < habit_tables[HABIT_FETCH].count; fetch++) {
        struct emulation *emulation =
            two_projects("deadline", habit_word(&habit_tables[HABIT_FETCH], fetch), 50, 50);
        size_t reported = 0;

        emulation->population.projects = 1;
        emulation->population.buffer_min_days = emulation->population.buffer_max_days = 0.01;
        emulation->population.buffer_extra_days = 0;
        emulation->projects[A].bound = 2 * 3600;
        emulation->look = look_at_reports;
        emulation->context = &reported;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 5);
        assert_true(reported > 5 * 20);
        emulation_free(emulation);
    }
}

static void look_for_reports(struct emulation *emulation, void *context)
{
    const struct outgoing *outgoing = &emulation->question.outgoing;
    size_t *most = context, count = 0;

    for (size_t i = 0; i < outgoing->job_count; i++)
        count += outgoing->jobs[i].done;
    *most = count > *most ? count : *most;
}

/* No more than 64 wait for an hour to be over, and none that is due before the buffer ends. */
static void reports_wait_neither_for_many_nor_for_deadlines(void **state)
{
    (void)state;
    static const struct {
        double run_time, bound;
        size_t most;
    } cases[] = {{50, 30 * DAY, 64}, {600, 3 * DAY, 1}, {600, 30 * DAY, 7}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct emulation *emulation = two_projects("recent", "marks", 50, 0);
        size_t most = 0;

        emulation->population.projects = 1;
        emulation->population.projects_min = 1;
        emulation->population.buffer_min_days = emulation->population.buffer_max_days =
            i == 1 ? 4 : 0.1;
        emulation->projects[A].run_time = cases[i].run_time;
        emulation->projects[A].bound = cases[i].bound;
        emulation->look = look_for_reports;
        emulation->context = &most;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 1);
        assert_int_equal(most, cases[i].most);
        emulation_free(emulation);
    }
}

/* 1-8: all jobs of A fail within a second: it is asked once in hours, not every minute. */
static void failed_jobs_hold_their_project_back(void **state)
{
    (void)state;
    uint64_t rpcs[2];

    for (int failing = 0; failing < 2; failing++) {
        struct emulation *emulation = two_projects("debt", "sessions", 50, 50);

        emulation->projects[B].serves[CLIENT_CPU] = false;
        emulation->projects[A].run_time = 1;
        emulation->projects[A].jobs_max = 1;
        emulation->population.error_rate = failing;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 2);
        rpcs[failing] = emulation->projects[A].rpcs;
        emulation_free(emulation);
    }
    assert_true(rpcs[1] * 10 < rpcs[0]);
}

static void corrected_estimates_come_near_the_truth(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("deadline", "resources", 50, 50);
    struct volunteer *volunteer = &emulation->volunteer;

    emulation->population.habits.estimate =
        habit_find(&habit_tables[HABIT_ESTIMATE], TEXT("corrected"));
    emulation->projects[A].optimism = 3; /* jobs take 3 h */
    emulation_begin(emulation, 1);
    emulation_run(emulation, 20);
    assert_real(volunteer->projects[A].correction, 3, 0.01);
    assert_real(volunteer->projects[B].correction, 1, 0.01);
    assert_true(volunteer->job_count > 2);
    for (size_t i = 0; i < volunteer->job_count; i++)
        if (!volunteer->jobs[i].done)
            assert_real(estimate_left(volunteer, &volunteer->jobs[i]),
                        fmax(volunteer->jobs[i].left, 60), 60);
    emulation_free(emulation);
}

static void look_at_scalar(struct emulation *emulation, void *context)
{
    const struct outgoing *outgoing = &emulation->question.outgoing;

    (void)context;
    assert_true(outgoing->is_scalar);
    assert_real(outgoing->scalar,
                outgoing->demands[CLIENT_CPU].seconds / outgoing->potential_fraction /
                    outgoing->on_fraction,
                1e-6 * outgoing->scalar);
}

static void one_number_is_in_wall_time_of_the_share(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("robin", "demand", 75, 25);

    emulation->population.habits.request = habit_find(&habit_tables[HABIT_REQUEST], TEXT("scalar"));
    emulation->look = look_at_scalar;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 3);
    assert_true(emulation->projects[A].rpcs > 1 && emulation->projects[B].rpcs > 1);
    emulation_free(emulation);
}

/* 3-16: who is deferred and has no jobs counts only if it is overworked or latency-limited. */
static void the_share_is_among_those_that_could_have_jobs(void **state)
{
    (void)state;
    static const struct {
        double deferred, debt, limited, fraction; /* s; s of debt; s */
    } cases[] = {{0, 0, 0, 0.75},
                 {600, 0, 0, 1},
                 {600, -1e6, 0, 0.75},
                 {600, 0, 600, 0.75},
                 {600, 0, -1, 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct emulation *emulation = two_projects("robin", "demand", 75, 25);
        struct volunteer *volunteer = &emulation->volunteer;

        emulation_begin(emulation, 1);
        volunteer->fetch.projects[B].min_rpc_time = volunteer->now + cases[i].deferred;
        volunteer->projects[B].long_debt = cases[i].debt;
        volunteer->projects[B].no_work_deadlines = cases[i].limited != 0;
        volunteer->projects[B].reply_delay_end = volunteer->now + cases[i].limited;
        assert_true(volunteer_ask(volunteer, &emulation->question));
        assert_int_equal(emulation->question.attached, A);
        assert_real(emulation->question.outgoing.potential_fraction, cases[i].fraction, 1e-9);
        assert_real(emulation->question.outgoing.runnable_fraction, 1, 1e-9);
        assert_real(emulation->question.outgoing.share_fraction, 0.75, 1e-9);
        emulation_free(emulation);
    }
}

/* 3-17: counts requests for work of hosts that did not come for that. */
static void look_at_deadlines(struct emulation *emulation, void *context)
{
    size_t *count = context;

    *count += emulation->volunteer.now < emulation->volunteer.next_poll &&
              volunteer_wants_work(&emulation->question);
}

static void who_comes_to_report_asks_for_work_too(void **state)
{
    (void)state;
    static const char *const fetches[] = {"resources", "marks", "demand"};

    for (size_t i = 0; i < sizeof(fetches) / sizeof(fetches[0]); i++) {
        struct emulation *emulation = two_projects("deadline", fetches[i], 50, 50);
        size_t count = 0;

        /* One that ends is less than is worth a contact; its report is due before the next ends. */
        emulation->projects[A].run_time = emulation->projects[B].run_time = 4000;
        emulation->look = look_at_deadlines;
        emulation->context = &count;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 20);
        assert_true(count > 20);
        emulation_free(emulation);
    }
}

/* Clients of today do not wait on for a project of which they have done a job: it may have a limit
 * that they were at. */
static void a_job_that_is_done_ends_the_wait_for_its_project(void **state)
{
    (void)state;
    static const char *const fetches[] = {"marks", "present"};
    double waits[2] = {0};

    for (size_t i = 0; i < 2; i++) {
        struct emulation *emulation = two_projects("recent", fetches[i], 50, 50);
        struct volunteer *volunteer = &emulation->volunteer;
        const struct fetch_account *account;

        emulation_begin(emulation, 1);
        emulation_run(emulation, 1);
        emulation->projects[A].refuses_for_deadlines = true;
        emulation->projects[B].refuses_for_deadlines = true;
        account = &volunteer->fetch.projects[A].accounts[CLIENT_CPU];
        /* As long as it has jobs, one of an hour after the other. */
        for (double day = 1; volunteer->job_count > 0 && day < 3; day += 0.01) {
            emulation_run(emulation, day);
            if (volunteer->job_count > 0)
                waits[i] = fmax(waits[i], account->backoff);
        }
        emulation_free(emulation);
    }
    assert_true(waits[1] >= FETCH_BACKOFF_MIN && waits[0] >= 4 * waits[1]);
}

/* 2-26: as clients keep both in their state file. */
static void debts_and_back_offs_outlive_an_absence(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("deadline", "resources", 50, 50);
    struct volunteer *volunteer = &emulation->volunteer;
    struct fetch_account before[2];

    emulation->projects[B].keeps_silent_of_resources = true;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 2);
    emulation->projects[B].serves[CLIENT_CPU] = false;
    emulation_run(emulation, 4);
    for (size_t p = 0; p < 2; p++)
        before[p] = volunteer->fetch.projects[p].accounts[CLIENT_CPU];
    assert_true(before[A].debt != 0 && before[B].backoff > 0);
    for (int i = 0; i < 2; i++) { /* off, and on again */
        volunteer->next_change = volunteer->now + 10;
        volunteer_live(volunteer, volunteer->next_change);
    }
    assert_true(volunteer->is_on);
    for (size_t p = 0; p < 2; p++) {
        const struct fetch_account *account = &volunteer->fetch.projects[p].accounts[CLIENT_CPU];

        assert_real(account->debt, before[p].debt, 0);
        assert_real(account->backoff, before[p].backoff, 0);
        assert_real(account->backoff_end, before[p].backoff_end, 0);
    }
    emulation_free(emulation);
}

/* 3-4: the preferred part of the CPUs runs jobs, and the server is told. */
static void no_more_cpus_are_used_than_preferred(void **state)
{
    (void)state;
    static const struct {
        double percent, used;
    } cases[] = {{100, 8}, {50, 4}, {30, 2}, {1, 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct emulation *emulation = two_projects("deadline", "resources", 50, 50);
        const struct tally_resource *cpus = &emulation->volunteer.tally.resources[CLIENT_CPU];

        emulation->population.cpus_min = emulation->population.cpus_max = 8;
        emulation->population.cpus_percent = cases[i].percent;
        emulation_begin(emulation, 1);
        emulation_run(emulation, 5);
        assert_real(cpus->used / (5 * DAY), cases[i].used, 0.01);
        assert_real(cpus->present / (5 * DAY), cases[i].used, 0.01);
        assert_i64(emulation->volunteer.machine.cpus, 8);
        assert_real(emulation->volunteer.machine.cpus_percent, cases[i].percent, 0);
        emulation_free(emulation);
    }
}

static void queue_job(struct volunteer *volunteer, size_t coproc, double hours, double due)
{
    char name[32];
    struct incoming_job job = {.deadline = volunteer->now + due * 3600,
                               .operations = hours * 3600e9,
                               .use.flops = 1e9,
                               .use.cpus = coproc == CLIENT_CPU ? 1 : 0,
                               .use.coproc = coproc,
                               .use.coprocs = coproc == CLIENT_CPU ? 0 : 1};

    snprintf(name, sizeof(name), "job_%zu", volunteer->job_count);
    job.name = text_from(name);
    job_queue_receive(volunteer, 0, &job);
}

/* Two CPUs and a GPU. */
static void a_resource_is_busy_with_what_is_in_danger(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("deadline", "resources", 50, 50);
    struct volunteer *volunteer = &emulation->volunteer;

    emulation->population.gpu_parts[0] = 1;
    emulation_begin(emulation, 1);
    volunteer->fetch.resources[CLIENT_CPU].count = 2;
    volunteer->machine.cpus = 2;
    queue_job(volunteer, CLIENT_CPU, 3, 1000);
    queue_job(volunteer, CLIENT_CPU, 4, 3.5);
    assert_real(estimate_busy_delay(volunteer, CLIENT_CPU), 0,
                0); /* one of the two is not in danger */
    queue_job(volunteer, CLIENT_CPU, 5, 4.5);
    assert_real(estimate_busy_delay(volunteer, CLIENT_CPU), 4 * 3600, 1);
    assert_real(estimate_busy_delay(volunteer, CLIENT_NVIDIA), 0, 0);
    queue_job(volunteer, CLIENT_NVIDIA, 2, 1);
    assert_real(estimate_busy_delay(volunteer, CLIENT_NVIDIA), 2 * 3600, 1);
    assert_real(estimate_busy_delay(volunteer, CLIENT_ATI), 0, 0);
    emulation_free(emulation);
}

static void a_host_that_leaves_says_nothing_more(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("deadline", "resources", 50, 50);
    struct volunteer *volunteer = &emulation->volunteer;

    emulation->population.leave_days = 5;
    emulation_begin(emulation, 3);
    assert_true(volunteer->departure > EMULATION_BEGIN && isfinite(volunteer->departure));
    emulation_run(emulation, 100);
    assert_true(volunteer->has_left && isinf(volunteer_next_event(volunteer)));
    assert_false(volunteer_ask(volunteer, &emulation->question));
    assert_int_equal(volunteer->job_count, 0);
    assert_true(volunteer->tally.abandoned > 0 && volunteer->tally.flops_wasted > 0);
    assert_true(volunteer->tally.flops_wasted < volunteer->tally.flops_used);
    emulation_free(emulation);
}

static void each_host_has_some_of_the_projects(void **state)
{
    (void)state;
    struct emulation *emulation = emulation_create();
    size_t seen[6] = {0};

    emulation->population.projects = 6;
    emulation->population.projects_min = 2;
    emulation->population.projects_max = 4;
    emulation->population.share_min = 10;
    emulation->population.share_max = 1000;
    for (uint64_t seed = 0; seed < 300; seed++) {
        const struct volunteer *volunteer = &emulation->volunteer;

        emulation_begin(emulation, seed);
        assert_in_range(volunteer->project_count, 2, 4);
        for (size_t p = 0; p < volunteer->project_count; p++) {
            seen[volunteer->projects[p].which]++;
            assert_true(p == 0 || volunteer->projects[p].which > volunteer->projects[p - 1].which);
            assert_true(volunteer->fetch.projects[p].share >= 10 &&
                        volunteer->fetch.projects[p].share <= 1000);
        }
        volunteer_free(&emulation->volunteer);
    }
    for (size_t p = 0; p < 6; p++) /* 150 each on average */
        assert_in_range(seen[p], 110, 190);
    emulation_free(emulation);
}

/* Reports of one leave the jobs of the other alone; the queue that is listed is that of both. Each
 * job of the own project says which of its versions it is of. */
static void look_at_lists(struct emulation *emulation, void *context)
{
    const struct outgoing *outgoing = &emulation->question.outgoing;
    size_t others = 0, *most = context;

    for (size_t i = 0; i < outgoing->job_count; i++) {
        const struct outgoing_job *job = &outgoing->jobs[i];

        others += !job->is_own && !job->done;
        if (!job->is_own)
            continue;
        assert_true(job->version < outgoing->versions->count);
        assert_int_equal(outgoing->versions->at[job->version].coproc, job->coproc);
        assert_i64(outgoing->versions->at[job->version].number,
                   (int64_t)emulation->question.project);
    }
    /* From the first reply on, which asks for it. */
    assert_true(outgoing->lists_queue ==
                (emulation->projects[emulation->question.project].rpcs > 1));
    *most = others > *most ? others : *most;
}

static void projects_are_apart_but_in_the_list(void **state)
{
    (void)state;
    struct emulation *emulation = two_projects("deadline", "resources", 50, 50);
    size_t most = 0;

    emulation->population.gpu_parts[0] = 1;
    emulation->projects[A].serves[CLIENT_NVIDIA] = true;
    emulation->look = look_at_lists;
    emulation->context = &most;
    emulation_begin(emulation, 1);
    emulation_run(emulation, 20);
    assert_true(most > 2);
    for (size_t p = 0; p < 2; p++)
        assert_true(emulation->projects[p].sent - emulation->projects[p].reported < 40);
    assert_int_equal(emulation->volunteer.tally.lost_acks, 0);
    emulation_free(emulation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_resources_the_gpu_goes_three_quarters_to_a),
        cmocka_unit_test(by_recent_use_projects_take_turns_on_a_gpu),
        cmocka_unit_test(shares_are_reached_by_every_policy),
        cmocka_unit_test(round_robin_and_debt_rotate_where_deadlines_do_not),
        cmocka_unit_test(a_latency_limited_project_gains_debt_and_gets_work_later),
        cmocka_unit_test(endangered_jobs_run_first),
        cmocka_unit_test(scenario_1_runs_long_tasks_to_their_end),
        cmocka_unit_test(a_long_task_ends_in_time_beside_short_ones),
        cmocka_unit_test(whole_periods_save_what_starting_again_costs),
        cmocka_unit_test(who_waits_for_a_checkpoint_loses_nothing),
        cmocka_unit_test(sessions_keep_the_queue_between_its_marks),
        cmocka_unit_test(contacts_are_for_work_for_reports_and_for_both),
        cmocka_unit_test(by_debt_every_project_is_filled_up_to_twice_the_period),
        cmocka_unit_test(what_is_due_soon_is_reported_in_time),
        cmocka_unit_test(reports_wait_neither_for_many_nor_for_deadlines),
        cmocka_unit_test(failed_jobs_hold_their_project_back),
        cmocka_unit_test(corrected_estimates_come_near_the_truth),
        cmocka_unit_test(one_number_is_in_wall_time_of_the_share),
        cmocka_unit_test(the_share_is_among_those_that_could_have_jobs),
        cmocka_unit_test(who_comes_to_report_asks_for_work_too),
        cmocka_unit_test(a_job_that_is_done_ends_the_wait_for_its_project),
        cmocka_unit_test(debts_and_back_offs_outlive_an_absence),
        cmocka_unit_test(no_more_cpus_are_used_than_preferred),
        cmocka_unit_test(a_resource_is_busy_with_what_is_in_danger),
        cmocka_unit_test(a_host_that_leaves_says_nothing_more),
        cmocka_unit_test(each_host_has_some_of_the_projects),
        cmocka_unit_test(projects_are_apart_but_in_the_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
