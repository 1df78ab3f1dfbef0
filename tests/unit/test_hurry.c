/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a batch in a hurry: which jobs get one result more, and who may have what is left. */
#include "server/policy/result/hurry.h"

#include "db/states.h"
#include "tests/support/case_arena.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

#define NOW  1800000000
#define HOUR 3600
enum { ANSWERS = 100, JOBS_MOST = 1100 };

/* 100 answers with turnarounds of 1 to 100 h: 30 of them within 30 h, half within 50; the newest
 * came a minute ago, one more each half an hour before. */
static struct batch_answer_row answers[ANSWERS];
static struct open_result_row open_rows[JOBS_MOST];
static size_t open_count;
static struct hurry_plan plan;

static int setup(void **state)
{
    (void)state;
    for (int64_t i = 0; i < ANSWERS; i++)
        answers[i] = (struct batch_answer_row){.received_time = NOW - 60 - i * HOUR / 2,
                                               .turnaround = (double)((i + 1) * HOUR)};
    open_count = 0;
    return case_arena_setup(state);
}

/* With a host that returns results after `usual` hours, since `since` hours, and was heard of just
 * now. */
static struct open_result_row *add(int64_t job, double usual, double since)
{
    struct open_result_row *row = &open_rows[open_count++];

    *row = (struct open_result_row){.workunitid = job,
                                    .server_state = RESULT_IN_PROGRESS,
                                    .sent_time = NOW - (int64_t)(since * HOUR),
                                    .avg_turnaround = usual * HOUR,
                                    .heard_time = NOW,
                                    .min_quorum = 1,
                                    .target_nresults = 1,
                                    .max_total_results = 20,
                                    .max_error_results = 10,
                                    .results = 1};
    return row;
}

static struct open_result_row *add_unsent(int64_t job)
{
    struct open_result_row *row = add(job, 0, 0);

    row->server_state = RESULT_UNSENT;
    row->sent_time = row->heard_time = 0;
    return row;
}

static void decide_at(size_t answer_count)
{
    const struct hurry_facts facts = {.now = NOW,
                                      .open = open_rows,
                                      .open_count = open_count,
                                      .answers = answers,
                                      .answer_count = answer_count};

    assert_status(STATUS_OK, hurry_decide(&facts, case_arena, &plan));
}

static bool copied(int64_t job)
{
    for (size_t i = 0; i < plan.job_count; i++)
        if (plan.jobs[i] == job)
            return true;
    return false;
}

/* --- which jobs ------------------------------------------------------------------------------- */

static void a_job_that_will_be_late_gets_one_more(void **state)
{
    (void)state;
    add(1, 40, 5);         /* 35 h left */
    add(2, 40, 11);        /* 29 h */
    add(3, 0, 19);         /* a host without history: half of the answers take up to 50 h: 31 h */
    add(4, 0, 21);         /* 29 h */
    add(5, 10, 31);        /* overdue: as long again, 31 h */
    add(6, 10, 29);        /* 29 h */
    add(7, 40, 10);        /* 30 h, as a new result would take */
    add(8, 1.0 / HOUR, 5); /* a host that returned one at once */
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 3);
    assert_true(copied(1) && copied(3) && copied(5));
}

static void who_is_silent_is_later(void **state)
{
    (void)state;
    add(1, 40, 10)->heard_time = NOW - 16200;
    add(2, 40, 10)->heard_time = NOW - 16201;
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 1);
    assert_true(copied(2));
}

static void the_first_of_several_hosts_counts(void **state)
{
    (void)state;
    add(1, 90, 5);
    add(1, 40, 11);
    add(2, 90, 5);
    add(2, 40, 9);
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 1);
    assert_true(copied(2));
}

static void of_a_quorum_the_one_that_completes_it_counts(void **state)
{
    (void)state;
    for (int64_t job = 1; job <= 3; job++) {
        add(job, 40, 11)->min_quorum = 2;
        add(job, 90, 5)->min_quorum = 2;
    }
    add(4, 40, 5)->min_quorum = 2;
    add(4, 90, 5)->min_quorum = 2;
    open_rows[6].successes = 1;    /* of job 4: its quick host is enough, and late */
    add(5, 90, 5)->min_quorum = 3; /* the transition makes what it lacks */
    add(5, 90, 5)->min_quorum = 3;
    open_rows[2].successes = 1; /* of job 2: its quick host is enough */
    open_rows[4].successes = 2; /* of job 3: it is complete, if they agree */
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 2);
    assert_true(copied(1) && copied(4));
}

static void what_is_unsent_or_spent_gets_none(void **state)
{
    (void)state;
    add(1, 90, 5);
    add_unsent(1);
    add(2, 90, 5)->results = 10; /* 20 - (10 - 0) = 10 */
    add(3, 90, 5)->results = 9;
    add(4, 90, 5)->results = 8;
    add(7, 90, 5)->results = 13; /* 20 - (10 - 4) = 14 */
    open_rows[open_count - 1].errors = 4;
    add(8, 90, 5)->results = 14;
    open_rows[open_count - 1].errors = 4;
    for (int i = 0; i < 5; i++)
        add(5, 90, 5)->results = 5;
    for (int i = 0; i < 4; i++)
        add(6, 90, 5)->results = 4;
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 4);
    assert_true(copied(3) && copied(4) && copied(6) && copied(7));
}

/* --- when, and how many ----------------------------------------------------------------------- */

static void before_the_end_none_gets_one(void **state)
{
    (void)state;
    for (int64_t job = 1; job <= 38; job++)
        add(job, 90, 5);
    for (int64_t job = 39; job <= 40; job++)
        add_unsent(job);
    decide_at(ANSWERS);
    assert_true(plan.job_count > 0); /* one in twenty is without a host */
    add_unsent(41);
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 0);
    open_count--;
    decide_at(9);
    assert_i64((int64_t)plan.job_count, 0);
    decide_at(10);
    assert_true(plan.job_count > 0);
}

static void a_part_gets_one_the_latest_first(void **state)
{
    (void)state;
    for (int64_t job = 1; job <= 520; job++)
        add(job, 50 + (double)job, 5);
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 31); /* of 620 */
    assert_i64(plan.jobs[0], 490);
    assert_i64(plan.jobs[30], 520);
    open_count = 300;
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 25);
}

/* A copy that is late itself makes room for another one. */
static void copies_under_way_count(void **state)
{
    (void)state;
    for (int64_t job = 1; job <= 30; job++)
        add(job, 90, 5);
    add(31, 40, 10);
    add(31, 90, 5);
    for (int64_t job = 32; job <= 33; job++) {
        add(job, 90, 5);
        add(job, 40, 10); /* 30 h left */
    }
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 22);
    open_rows[open_count - 1].avg_turnaround = 41 * HOUR; /* late as well */
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 23);
    open_count--;
    add_unsent(33);
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 22);
}

/* Else the transition would make a lost copy again and again, beyond what copies may take. */
static void who_has_a_copy_wants_no_more_than_the_quorum(void **state)
{
    static const struct {
        int64_t quorum, wanted, successes, with_hosts, unsent;
        bool is_settled;
    } cases[] = {{1, 2, 0, 1, 1, true},  {1, 2, 0, 2, 0, true},  {1, 2, 0, 1, 0, false},
                 {1, 1, 0, 1, 0, false}, {0, 1, 0, 1, 0, false}, {2, 3, 1, 2, 0, true},
                 {2, 3, 1, 1, 0, false}, {2, 3, 2, 1, 0, false}, {2, 2, 0, 2, 0, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_count = 0;
        for (int64_t result = 0; result < cases[i].with_hosts; result++)
            (void)add(1, 20, 1);
        for (int64_t result = 0; result < cases[i].unsent; result++)
            (void)add_unsent(1);
        for (size_t row = 0; row < open_count; row++) {
            open_rows[row].min_quorum = cases[i].quorum;
            open_rows[row].target_nresults = cases[i].wanted;
            open_rows[row].successes = cases[i].successes;
        }
        (void)add(2, 20, 1);
        decide_at(ANSWERS);
        assert_i64((int64_t)plan.settled_count, cases[i].is_settled);
        if (cases[i].is_settled)
            assert_i64(plan.settled[0], 1);
        add_unsent(3); /* far from the end */
        decide_at(ANSWERS);
        assert_i64((int64_t)plan.settled_count, 0);
    }
}

static void what_a_quorum_lacks_is_no_copy(void **state)
{
    (void)state;
    for (int64_t job = 1; job <= 30; job++) {
        add(job, 90, 5)->min_quorum = 2;
        add(job, 40, 11)->min_quorum = 2;
    }
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 25);
    for (size_t i = 0; i < open_count; i++)
        open_rows[i].successes = 1;
    add(31, 90, 5);
    decide_at(ANSWERS);
    assert_i64((int64_t)plan.job_count, 0);
}

/* --- for whom --------------------------------------------------------------------------------- */

static void what_is_left_is_for_those_who_return_it_soon(void **state)
{
    (void)state;
    add(1, 90, 5);
    decide_at(ANSWERS);
    assert_i64(plan.within, 30 * HOUR);
    /* 12 answers in 6 h: 16 results take 8 h */
    for (int64_t job = 2; job <= 17; job++)
        add_unsent(job);
    decide_at(ANSWERS);
    assert_i64(plan.within, 38 * HOUR);
    answers[11].received_time = NOW - 6 * HOUR; /* 11 answers now */
    decide_at(ANSWERS);
    assert_i64(plan.within, 139419);
    answers[11].received_time++;
    open_count = 3;
    for (int i = 1; i < ANSWERS; i++)
        answers[i].received_time -= 6 * HOUR;
    decide_at(ANSWERS); /* one answer */
    assert_i64(plan.within, 42 * HOUR);
    for (int i = 1; i < ANSWERS; i++)
        answers[i].received_time += 6 * HOUR;
    for (int64_t job = 4; job <= 140; job++)
        add_unsent(job);
    decide_at(ANSWERS);
    assert_i64(plan.within, 30 * HOUR + 139 * HOUR / 2);
    add_unsent(141);
    decide_at(ANSWERS);
    assert_i64(plan.within, 0); /* as long as the longest turnaround */
}

/* What no host takes does not wait for ever. */
static void the_longer_nothing_comes_the_more_hosts_get_it(void **state)
{
    (void)state;
    add(1, 90, 5);
    for (int i = 0; i < ANSWERS; i++)
        answers[i].received_time -= 7 * HOUR - 60;
    decide_at(ANSWERS);
    assert_i64(plan.within, 30 * HOUR);
    add_unsent(2);
    add_unsent(3);
    decide_at(ANSWERS);
    assert_i64(plan.within, 44 * HOUR); /* as if the next answer came now */
    for (int i = 0; i < ANSWERS; i++)
        answers[i].received_time -= 28 * HOUR;
    decide_at(ANSWERS);
    assert_i64(plan.within, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_that_will_be_late_gets_one_more, setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(who_is_silent_is_later, setup, case_arena_teardown),
        cmocka_unit_test_setup_teardown(the_first_of_several_hosts_counts, setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(of_a_quorum_the_one_that_completes_it_counts, setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(what_is_unsent_or_spent_gets_none, setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(before_the_end_none_gets_one, setup, case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_part_gets_one_the_latest_first, setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(copies_under_way_count, setup, case_arena_teardown),
        cmocka_unit_test_setup_teardown(who_has_a_copy_wants_no_more_than_the_quorum, setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(what_a_quorum_lacks_is_no_copy, setup, case_arena_teardown),
        cmocka_unit_test_setup_teardown(what_is_left_is_for_those_who_return_it_soon, setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(the_longer_nothing_comes_the_more_hosts_get_it, setup,
                                        case_arena_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
