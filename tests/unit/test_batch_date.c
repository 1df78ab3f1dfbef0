/* SPDX-License-Identifier: Apache-2.0 */
/* When a batch will be done: against what comes of playing it many times, and in single steps. */
#include "server/policy/result/batch_date.h"

#include "db/states.h"
#include "server/base/random.h"
#include "tests/support/case_arena.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define NOW  1800000000
#define HOUR 3600
enum { RECENT = 200, OPEN_MOST = 500, PLAYED = 1500, CASES = 6, AGAIN = 900 };

static struct recent_result_row recent[RECENT];
static struct lacking_result_row open_rows[OPEN_MOST];
static struct batch_date_facts facts;
static struct batch_date date;

static void set_recent(size_t i, double hours, int64_t outcome)
{
    recent[i] = (struct recent_result_row){.id = (int64_t)(10000 - i),
                                           .server_state = RESULT_OVER,
                                           .outcome = outcome,
                                           .sent_time = NOW - 100 * 24 * HOUR};
    recent[i].received_time = recent[i].sent_time + (int64_t)(hours * HOUR);
}

/* Answers after 1 to 20 h, due in 40. */
static int setup(void **state)
{
    for (size_t i = 0; i < RECENT; i++)
        set_recent(i, (double)(i + 1) / 10, OUTCOME_SUCCESS);
    facts = (struct batch_date_facts){.now = NOW,
                                      .recent = recent,
                                      .recent_count = RECENT,
                                      .recent_most = 1000,
                                      .open = open_rows,
                                      .own = {0, 0},
                                      .all = {100, 10 * HOUR},
                                      .delay_bound = (int64_t)40 * HOUR};
    return case_arena_setup(state);
}

static struct lacking_result_row *add(int64_t job, double since)
{
    struct lacking_result_row *row = &open_rows[facts.open_count++];

    *row = (struct lacking_result_row){.workunitid = job,
                                       .server_state = RESULT_IN_PROGRESS,
                                       .sent_time = NOW - (int64_t)(since * HOUR),
                                       .lacking = 1,
                                       .delay_bound = facts.delay_bound};
    return row;
}

static void add_unsent(int64_t job)
{
    struct lacking_result_row *row = add(job, 0);

    row->server_state = RESULT_UNSENT;
    row->sent_time = 0;
}

static void decide(void)
{
    assert_status(STATUS_OK, batch_date_decide(&facts, case_arena, &date));
}

static void assert_hours(int64_t moment, double least, double most)
{
    double hours = (double)(moment - NOW) / HOUR;

    if (moment == 0 || hours < least || hours > most)
        fail_msg("%.2f h, wanted are %.2f to %.2f", hours, least, most);
}

/* --- the slow twin ---------------------------------------------------------------------------- */

/* Until a job is done, one of whose results was sent `age` ago: that ends as one of the latest does
 * that had not ended by then. */
static double play_job(struct random *random, double age)
{
    double due = fmax((double)facts.delay_bound - age, 0), after, again;

    for (int tries = 0; tries < 10000; tries++) {
        const struct recent_result_row *row =
            &recent[(size_t)(random_unit(random) * RECENT) % RECENT];
        bool is_answer = row->outcome == OUTCOME_SUCCESS;

        after = (double)(row->received_time - row->sent_time) - age;
        if (row->server_state == RESULT_IN_PROGRESS ||
            random_unit(random) < 1.0 / (RECENT + 1)) /* one more than were seen */
            return due + AGAIN + play_job(random, 0);
        if (after <= 0)
            continue;
        if (after <= due)
            return is_answer ? after : after + AGAIN + play_job(random, 0);
        again = due + AGAIN + play_job(random, 0);
        return is_answer ? fmin(after, again) : again;
    }
    return due + AGAIN + play_job(random, 0);
}

static double play_batch(struct random *random)
{
    static const double factors[] = {0.7, 1, 1, 1.3};
    double factor = factors[(size_t)(random_unit(random) * 4) % 4], last = 0, failing = 0;
    double unsent = 0, sent = 0, rate, begin, end;

    for (size_t i = 0; i < RECENT; i++)
        failing += (double)(recent[i].outcome == OUTCOME_CLIENT_ERROR) / RECENT;
    for (size_t i = 0; i < facts.open_count; i++)
        unsent += open_rows[i].server_state == RESULT_UNSENT;
    rate = factor * (double)facts.all.sent / (double)facts.all.span;
    begin = (double)facts.ahead / rate;
    end = begin + unsent / (1 - failing) / rate;
    for (size_t i = 0, next; i < facts.open_count; i = next) {
        double first = INFINITY, second = INFINITY;

        for (next = i;
             next < facts.open_count && open_rows[next].workunitid == open_rows[i].workunitid;
             next++) {
            double done;

            if (open_rows[next].server_state == RESULT_UNSENT)
                done = begin + (end - begin) * (sent++ + 0.5) / unsent + play_job(random, 0);
            else
                done = play_job(random, (double)(NOW - open_rows[next].sent_time));
            second = fmin(second, fmax(first, done));
            first = fmin(first, done);
        }
        last = fmax(last, open_rows[i].lacking > 1 ? second : first);
    }
    return last;
}

static int compare_reals(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;

    return (first > second) - (first < second);
}

static void assert_near(int64_t moment, double played, size_t number)
{
    double estimated = (double)(moment - NOW);

    if (moment == 0 || fabs(estimated - played) > 0.06 * played + HOUR / 2.0)
        fail_msg("case %zu: %.1f h, played %.1f h", number, estimated / HOUR, played / HOUR);
}

/* Turnarounds of all lengths, errors that come early, and hosts that never answer. */
static void draw_case(struct random *random)
{
    double errors = random_unit(random) * 0.2, silent = random_unit(random) * 0.15;
    double spread = 0.3 + random_unit(random);
    size_t with_hosts = (size_t)(random_unit(random) * 150), pairs = 20;
    size_t unsent = 1 + (size_t)(random_unit(random) * 150);

    for (size_t i = 0; i < RECENT; i++) {
        double hours = 6 * exp(spread * random_normal(random)), what = random_unit(random);

        set_recent(i, what < errors ? hours / 4 : hours,
                   what < errors ? OUTCOME_CLIENT_ERROR : OUTCOME_SUCCESS);
        if (what > 1 - silent)
            recent[i].server_state = RESULT_IN_PROGRESS;
    }
    for (size_t i = 0; i < with_hosts; i++)
        add((int64_t)i, 30 * random_unit(random));
    for (size_t i = 0; i < pairs; i++) {
        int64_t lacking = 1 + (random_unit(random) < 0.5);

        add((int64_t)(1000 + i), 10 * random_unit(random))->lacking = lacking;
        add((int64_t)(1000 + i), 10 * random_unit(random))->lacking = lacking;
    }
    for (size_t i = 0; i < unsent; i++)
        add_unsent((int64_t)(2000 + i));
    facts.ahead = (int64_t)(300 * random_unit(random));
    facts.all.sent = 30 + (int64_t)(300 * random_unit(random));
}

static void dates_are_those_of_playing_it(void **state)
{
    static double played[PLAYED];

    for (size_t number = 0; number < CASES; number++) {
        struct random random = {.state = number + 1};

        case_arena_teardown(state);
        setup(state);
        draw_case(&random);
        decide();
        for (size_t i = 0; i < PLAYED; i++)
            played[i] = play_batch(&random);
        qsort(played, PLAYED, sizeof played[0], compare_reals);
        assert_near(date.half, played[PLAYED / 2], number);
        assert_near(date.most, played[PLAYED * 9 / 10], number);
    }
}

/* --- its parts -------------------------------------------------------------------------------- */

static void one_job_is_back_like_the_latest(void **state)
{
    (void)state;
    add(1, 0);
    decide();
    assert_hours(date.half, 9.5, 10.5);
    assert_hours(date.most, 17.5, 18.5);
    open_rows[0].sent_time = NOW - 10 * HOUR; /* the rest take 10 to 20 h */
    decide();
    assert_hours(date.half, 4.5, 5.5);
    assert_hours(date.most, 8.5, 9.5);
}

static void what_goes_before_takes_its_time(void **state)
{
    (void)state;
    add_unsent(1);
    decide();
    assert_hours(date.half, 9.5, 10.7);
    facts.ahead = 1000; /* 10 an hour go out */
    decide();
    assert_hours(date.half, 108, 114);
    assert_hours(date.most, 145, 165);
    facts.own = (struct hand_out){4, HOUR};
    decide();
    assert_hours(date.half, 108, 114);
    facts.own = (struct hand_out){5, HOUR}; /* it goes out already */
    decide();
    assert_hours(date.half, 9.5, 10.7);
}

static void the_rate_of_a_moment_counts_for_half_an_hour(void **state)
{
    (void)state;
    for (int64_t job = 1; job <= 100; job++)
        add_unsent(job);
    facts.own = (struct hand_out){5, 1};
    decide();
    assert_hours(date.half, 26, 34);
}

static void silence_ends_when_it_is_due(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECENT; i++)
        recent[i].server_state = i % 10 == 0 ? RESULT_IN_PROGRESS : RESULT_OVER;
    add(1, 30); /* all that answer have answered by then */
    decide();
    assert_hours(date.half, 20.5, 22.4); /* 10 h until it is due, and then like a new one */
    open_rows[0].sent_time = NOW - 50 * HOUR;
    decide();
    assert_hours(date.half, 11, 12.2);
    recent[0].server_state = RESULT_OVER;
    for (size_t i = 0; i < RECENT; i += 10) { /* the same, after the time-out */
        recent[i].server_state = RESULT_OVER;
        recent[i].outcome = OUTCOME_NO_REPLY;
        recent[i].received_time = 0;
    }
    decide();
    assert_hours(date.half, 11, 12.2);
}

/* Results that were sent lately have not ended yet because they are new. */
static void what_is_new_is_not_late(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECENT; i += 2) {
        recent[i].server_state = RESULT_IN_PROGRESS;
        recent[i].sent_time = NOW - (int64_t)(10 * HOUR);
    }
    for (size_t i = 1; i < RECENT; i += 2)
        recent[i].received_time = recent[i].sent_time + (int64_t)(i % 4 == 1 ? 5 : 15) * HOUR;
    for (size_t i = 0; i < RECENT; i += 4) {
        recent[i].server_state = RESULT_OVER;
        recent[i].received_time = recent[i].sent_time + (int64_t)5 * HOUR;
    }
    add(1, 0);
    decide(); /* half take 5 h, half 15 */
    assert_hours(date.most, 14, 16);
    for (size_t i = 0; i < RECENT; i++)
        recent[i].outcome = i % 4 == 2 ? OUTCOME_DIDNT_NEED : recent[i].outcome;
    decide();
    assert_hours(date.most, 14, 16);
}

static void failures_are_made_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECENT; i++)
        set_recent(i, i % 2 == 0 ? 1 : 10, i % 2 == 0 ? OUTCOME_CLIENT_ERROR : OUTCOME_SUCCESS);
    add(1, 0);
    decide(); /* a half after 10 h, a quarter after 11.25, an eighth after 12.5 */
    assert_hours(date.most, 13.2, 14.5);
    for (size_t i = 0; i < RECENT; i += 2) {
        recent[i].outcome = OUTCOME_SUCCESS;
        recent[i].validate_state = VALIDATE_INVALID;
    }
    decide();
    assert_hours(date.most, 13.2, 14.5);
    for (size_t i = 0; i < RECENT; i += 2)
        recent[i].validate_state = VALIDATE_VALID;
    decide();
    assert_hours(date.most, 9.5, 10.7);
    for (size_t i = 0; i < RECENT; i += 2) {
        recent[i].outcome = OUTCOME_CLIENT_ERROR;
        recent[i].exit_status = 202; /* the project ended it */
    }
    decide();
    assert_hours(date.most, 9.5, 10.7);
}

/* Only what is above the lowest number of either state is known whole. */
static void what_is_known_of_one_state_alone_does_not_count(void **state)
{
    (void)state;
    for (size_t i = RECENT / 2; i < RECENT; i++) {
        recent[i].server_state = RESULT_IN_PROGRESS;
        recent[i].sent_time = NOW - (int64_t)1000 * HOUR;
    }
    add(1, 0);
    decide();
    assert_hours(date.half, 9, 60);
    facts.recent_most = RECENT / 2;
    decide();
    assert_hours(date.half, 4.5, 5.5);
}

static void a_quorum_needs_both_and_a_copy_one(void **state)
{
    (void)state;
    add(1, 0)->lacking = 2;
    add(1, 0)->lacking = 2;
    decide();
    assert_hours(date.half, 13.5, 14.8); /* the square root of a half */
    open_rows[0].lacking = open_rows[1].lacking = 1;
    decide();
    assert_hours(date.half, 5.3, 6.4);
    open_rows[1].server_state = RESULT_UNSENT;
    facts.ahead = 100000;
    decide(); /* what is unsent is beyond what it lacks */
    assert_hours(date.half, 9.5, 10.5);
    open_rows[0].lacking = open_rows[1].lacking = 2;
    decide();
    assert_hours(date.half, 1000, 20000);
}

static void what_is_not_made_yet_waits_for_it(void **state)
{
    (void)state;
    add_unsent(1);
    facts.ahead = 100;
    decide();
    assert_hours(date.half, 19, 22);
    open_rows[0].server_state = 0;
    decide();
    assert_hours(date.half, 19, 22);
    open_rows[0].lacking = 2;
    decide();
    assert_hours(date.half, 23, 27);
    open_rows[0].lacking = 0; /* it is being looked at */
    decide();
    assert_hours(date.half, 0, 0.5);
    open_rows[0].server_state = RESULT_IN_PROGRESS;
    open_rows[0].sent_time = NOW;
    decide();
    assert_hours(date.half, 0, 0.5);
}

static void what_is_more_than_a_job_lacks_is_not_waited_for(void **state)
{
    (void)state;
    facts.all = (struct hand_out){1, 10 * HOUR};
    add_unsent(1);
    add_unsent(1);
    decide();
    assert_hours(date.half, 14, 17);
    open_rows[0].lacking = open_rows[1].lacking = 2;
    decide();
    assert_hours(date.half, 23, 30);
}

static void what_was_not_read_counts(void **state)
{
    (void)state;
    add(1, 0);
    facts.more_sent = 99;
    decide();
    assert_hours(date.half, 19.7, 20.5); /* the 0.993rd */
    facts.open_count = 0;
    decide();
    assert_hours(date.half, 19.7, 20.5);
    facts.more_sent = 0;
    facts.more_unsent = 100;
    decide();
    assert_hours(date.half, 26, 34);
}

static void a_hurry_brings_it_forward(void **state)
{
    int64_t without;

    (void)state;
    for (size_t i = 0; i < RECENT; i += 10)
        recent[i].server_state = RESULT_IN_PROGRESS;
    for (int64_t job = 1; job <= 100; job++)
        add(job, 5);
    decide();
    without = date.most;
    facts.hurry = true;
    decide();
    assert_true(date.most < without - (int64_t)4 * HOUR);
    assert_true(date.half <= date.most);
}

static void who_knows_nothing_says_nothing(void **state)
{
    (void)state;
    add_unsent(1);
    facts.recent_count = 9;
    decide();
    assert_i64(date.half, 0);
    facts.recent_count = 10;
    decide();
    assert_true(date.half > NOW);
    facts.all.sent = 0;
    decide();
    assert_i64(date.half, 0);
    assert_i64(date.most, 0);
    for (size_t i = 0; i < 10; i++)
        recent[i].sent_time += (int64_t)93 * 24 * HOUR;
    decide();
    assert_i64(date.half, 0);
    for (size_t i = 0; i < 10; i++) /* its app was given some within a week */
        recent[i].sent_time++;
    decide();
    assert_hours(date.half, 14, 30);
    for (size_t i = 0; i < 10; i++) /* within a day */
        recent[i].sent_time += (int64_t)6 * 24 * HOUR;
    decide();
    assert_hours(date.half, 1.5, 6);
    for (size_t i = 0; i < 10; i++)
        recent[i].sent_time = NOW - (int64_t)100 * 24 * HOUR;
    facts.week = (struct hand_out){10, (int64_t)7 * 24 * HOUR};
    decide();
    assert_hours(date.half, 14, 30);
    facts.week.sent = 0;
    open_rows[0].server_state = RESULT_IN_PROGRESS; /* needs no rate */
    open_rows[0].sent_time = NOW;
    decide();
    assert_true(date.half > NOW);
    facts.all = (struct hand_out){1, 1};
    open_rows[0].server_state = RESULT_UNSENT;
    facts.ahead = 1000000; /* 57 years */
    decide();
    assert_i64(date.half, 0);
    for (size_t i = 0; i < RECENT; i++)
        recent[i].outcome = OUTCOME_CLIENT_ERROR;
    facts.ahead = 0;
    decide();
    assert_i64(date.half, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, case_arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(dates_are_those_of_playing_it),
        CASE(one_job_is_back_like_the_latest),
        CASE(what_goes_before_takes_its_time),
        CASE(the_rate_of_a_moment_counts_for_half_an_hour),
        CASE(silence_ends_when_it_is_due),
        CASE(what_is_new_is_not_late),
        CASE(failures_are_made_again),
        CASE(what_is_known_of_one_state_alone_does_not_count),
        CASE(a_quorum_needs_both_and_a_copy_one),
        CASE(what_is_not_made_yet_waits_for_it),
        CASE(what_is_more_than_a_job_lacks_is_not_waited_for),
        CASE(what_was_not_read_counts),
        CASE(a_hurry_brings_it_forward),
        CASE(who_knows_nothing_says_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
