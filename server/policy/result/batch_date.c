/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy/result/batch_date.h"

#include "db/states.h"
#include "server/base/arena.h"
#include "server/policy/result/report_verdict.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    POINTS = 240,      /* in time, in equal ratios */
    FIRST_S = 60,      /* the second of them; the first is 0 */
    BOUNDS_AHEAD = 20, /* the last of them, in delay bounds */
    AGAIN_S = 900,     /* until what is made again is sent */
    ANSWERS_LEAST = 10,
    SENT_LEAST = 5,    /* of a batch, before its own rate counts */
    SPAN_LEAST = 1800, /* s: in less than that a rate says little */
    SLICES = 50,       /* the unsent jobs, by when they are sent */
    OPEN_MOST = 8,     /* results of a job that are looked at */
    HALVINGS = 20      /* of the time in which a date is searched */
};
#define DATE_MOST_S 3.2e8 /* ten years: a later date says nothing */
#define SOON        0.3   /* of the jobs are done within a time that counts as soon */
#define OPEN_LEAST \
    1e-9 /* of the results; of one that is older than any, nothing but that is known */

/* How fast the hand-out goes on, compared with the last hours, and how likely that is. */
static const struct {
    double factor, weight;
} paces[] = {{0.7, 0.25}, {1, 0.5}, {1.3, 0.25}};

struct curve {
    double at[POINTS];
};

/* The course of one result, and of a job that has one at a time. */
struct job_course {
    double time[POINTS];
    double ratio_log;
    double bound;          /* s until a silent result is made again */
    struct curve answered; /* part of the results that were answered within the time */
    struct curve failed;
    struct curve done; /* part of the jobs */
};

/* --- curves ----------------------------------------------------------------------------------- */

static void set_times(struct job_course *course)
{
    course->ratio_log = log(BOUNDS_AHEAD * course->bound / FIRST_S) / (POINTS - 2);
    for (int k = 1; k < POINTS; k++)
        course->time[k] = FIRST_S * exp(course->ratio_log * (k - 1));
}

/* The last point that is not behind `time`. */
static int point_before(const struct job_course *course, double time)
{
    int k;

    if (time < FIRST_S)
        return 0;
    k = 1 + (int)(log(time / FIRST_S) / course->ratio_log);
    return k < POINTS - 1 ? k : POINTS - 1;
}

static double value_at(const struct job_course *course, const struct curve *curve, double time)
{
    double part;
    int k;

    if (time <= 0)
        return 0;
    k = point_before(course, time);
    if (k == POINTS - 1)
        return curve->at[k];
    part = (time - course->time[k]) / (course->time[k + 1] - course->time[k]);
    return curve->at[k] + fmin(fmax(part, 0), 1) * (curve->at[k + 1] - curve->at[k]);
}

/* --- what becomes of a result ----------------------------------------------------------------- */

struct ending {
    double after; /* s */
    bool answered, failed;
};

static int compare_endings(const void *a, const void *b)
{
    double first = ((const struct ending *)a)->after, second = ((const struct ending *)b)->after;

    return (first > second) - (first < second);
}

/* What the project ended was observed until then; what is silent, until now. */
static struct ending ending_of(const struct recent_result_row *row, int64_t now)
{
    bool is_over = row->server_state == RESULT_OVER && row->outcome != OUTCOME_NO_REPLY;
    int64_t end = is_over && row->received_time > 0 ? row->received_time : now;
    bool is_success = is_over && row->outcome == OUTCOME_SUCCESS;
    bool answered = is_success && row->validate_state != VALIDATE_INVALID;

    return (struct ending){.after = (double)(end > row->sent_time ? end - row->sent_time : 0),
                           .answered = answered,
                           .failed =
                               is_over && !answered &&
                               (is_success || report_is_failure(row->outcome, row->exit_status))};
}

/* Of each state the latest `recent_most` are known: below the first of them only those of the other
 * state would be. */
static int64_t first_known(const struct batch_date_facts *facts)
{
    size_t over = 0, open = 0;
    int64_t first = 0;

    for (size_t i = 0; i < facts->recent_count; i++) {
        size_t *count = facts->recent[i].server_state == RESULT_OVER ? &over : &open;

        if (++*count == facts->recent_most && facts->recent[i].id > first)
            first = facts->recent[i].id;
    }
    return first;
}

/* Endings rise. Those that have not ended yet count among the others as long as they are observed
 * (the product-limit estimate, with two ways to end). One more than were seen stays silent: the
 * next may be of a kind that there was none of. */
static void estimate_course(const struct ending *endings, size_t count, struct job_course *course)
{
    double open = 1, answered = 0, failed = 0;
    size_t next = 0;

    for (int k = 0; k < POINTS; k++) {
        for (; next < count && endings[next].after <= course->time[k]; next++) {
            double part = open / (double)(count + 1 - next);

            answered += endings[next].answered ? part : 0;
            failed += endings[next].failed ? part : 0;
            open -= endings[next].answered || endings[next].failed ? part : 0;
        }
        course->answered.at[k] = answered;
        course->failed.at[k] = failed;
    }
}

/* --- what becomes of a job -------------------------------------------------------------------- */

static double open_at(const struct job_course *course, double age)
{
    return 1 - value_at(course, &course->answered, age) - value_at(course, &course->failed, age);
}

/* Of a job one of whose results was sent `age` ago and has not ended: whether it is done `time`
 * from now. */
static double done_within(const struct job_course *course, double age, double time)
{
    double open = fmax(open_at(course, age), OPEN_LEAST), end = age + time;
    double due = fmin(end, fmax(course->bound, age));
    double answered_before = value_at(course, &course->answered, age);
    double answered_due = value_at(course, &course->answered, due);
    double done = answered_due - answered_before;
    double failed = value_at(course, &course->failed, age), silent, late;
    int last = point_before(course, due);

    for (int k = point_before(course, age) + 1; k <= last + 1 && k < POINTS; k++) {
        double until = fmin(course->time[k], due);
        double failed_then = value_at(course, &course->failed, until);

        done += (failed_then - failed) * value_at(course, &course->done, end - until - AGAIN_S);
        failed = failed_then;
    }
    if (end <= due)
        return fmin(done / open, 1);
    silent = fmax(open_at(course, due), OPEN_LEAST);
    late = fmin((value_at(course, &course->answered, end) - answered_due) / silent, 1);
    done += silent * (1 - (1 - late) * (1 - value_at(course, &course->done, end - due - AGAIN_S)));
    return fmin(done / open, 1);
}

/* A job that is made again is like any other, so each point follows from those before. */
static void estimate_done(struct job_course *course)
{
    for (int k = 1; k < POINTS; k++) {
        course->done.at[k] = course->done.at[k - 1];
        course->done.at[k] = fmax(done_within(course, 0, course->time[k]), course->done.at[k - 1]);
    }
}

/* --- what becomes of the batch ---------------------------------------------------------------- */

/* A job's results that are with hosts. */
struct dated_job {
    int points[OPEN_MOST]; /* of their ages */
    int count, lacking;
};

struct dated_batch {
    struct job_course course;
    struct dated_job *jobs; /* with several results */
    size_t job_count;
    double by_age[POINTS]; /* jobs with one, by the point of its age */
    bool has_age[POINTS];  /* some result */
    double unsent;         /* results */
    double begin, end;     /* s from now: of their hand-out */
    double copied;         /* s from now: when late jobs have one result more; INFINITY: never */
};

/* The chance that at least `lacking` of these come true. */
static double chance_of(const double *chances, int count, int lacking)
{
    double as_many[OPEN_MOST + 1] = {1};
    double fewer = 0;

    for (int i = 0; i < count; i++)
        for (int n = i + 1; n >= 0; n--)
            as_many[n] = as_many[n] * (1 - chances[i]) + (n > 0 ? as_many[n - 1] * chances[i] : 0);
    for (int n = 0; n < lacking && n <= count; n++)
        fewer += as_many[n];
    return 1 - fewer;
}

/* The logarithm of the chance, which a copy that was sent `copied` from now may raise. */
static double log_chance(const struct dated_batch *batch, double chance, double time)
{
    double copy = isfinite(batch->copied)
                      ? value_at(&batch->course, &batch->course.done, time - batch->copied)
                      : 0;

    return log(fmax(1 - (1 - chance) * (1 - copy), 1e-300));
}

static double log_of_several(const struct dated_batch *batch, const double *by_age, double time)
{
    double sum = 0;

    for (size_t i = 0; i < batch->job_count; i++) {
        const struct dated_job *job = &batch->jobs[i];
        double chances[OPEN_MOST] = {0};

        for (int n = 0; n < job->count; n++)
            chances[n] = by_age[job->points[n]];
        sum += log_chance(batch, chance_of(chances, job->count, job->lacking), time);
    }
    return sum;
}

/* The chance that all is done `time` from now. */
static double batch_done_within(const struct dated_batch *batch, double time)
{
    double by_age[POINTS], sum = 0;

    for (int k = 0; k < POINTS; k++) {
        by_age[k] =
            batch->has_age[k] ? done_within(&batch->course, batch->course.time[k], time) : 0;
        if (batch->by_age[k] > 0)
            sum += batch->by_age[k] * log_chance(batch, by_age[k], time);
    }
    sum += log_of_several(batch, by_age, time);
    for (int i = 0; i < SLICES && batch->unsent > 0; i++) {
        double sent = batch->begin + (batch->end - batch->begin) * (i + 0.5) / SLICES;
        double done = value_at(&batch->course, &batch->course.done, time - sent);

        sum += batch->unsent / SLICES * log_chance(batch, done, time);
    }
    return exp(sum);
}

/* --- from the facts --------------------------------------------------------------------------- */

static enum status learn_course(const struct batch_date_facts *facts, struct arena *arena,
                                struct job_course *course, bool *ret_known)
{
    struct ending *endings = ARENA_ARRAY(arena, facts->recent_count, struct ending);
    int64_t first = first_known(facts);
    size_t count = 0, answers = 0;

    if (endings == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < facts->recent_count; i++) {
        if (facts->recent[i].sent_time <= 0 || facts->recent[i].id < first)
            continue;
        endings[count] = ending_of(&facts->recent[i], facts->now);
        answers += endings[count++].answered;
    }
    *ret_known = answers >= ANSWERS_LEAST;
    if (!*ret_known)
        return STATUS_OK;
    qsort(endings, count, sizeof endings[0], compare_endings);
    course->bound = fmax((double)facts->delay_bound, 2 * FIRST_S);
    set_times(course);
    estimate_course(endings, count, course);
    estimate_done(course);
    return STATUS_OK;
}

/* The nearest. */
static int point_of_age(const struct job_course *course, int64_t age)
{
    int k = age > 0 ? point_before(course, (double)age) : 0;

    return k < POINTS - 1 && (double)age - course->time[k] > course->time[k + 1] - (double)age
               ? k + 1
               : k;
}

/* What a job lacks and no host has waits for an unsent result. */
static void take_job(const struct batch_date_facts *facts, size_t at, size_t end,
                     struct dated_batch *batch)
{
    int64_t lacking = facts->open[at].lacking, unsent = 0;
    struct dated_job job = {.count = 0};

    if (lacking < 1)
        return; /* its answers are being looked at */

    for (; at < end; at++) {
        if (facts->open[at].server_state != RESULT_IN_PROGRESS) {
            unsent += facts->open[at].server_state == RESULT_UNSENT ? 1 : lacking;
        } else if (job.count < OPEN_MOST) {
            int point = point_of_age(&batch->course, facts->now - facts->open[at].sent_time);

            job.points[job.count++] = point;
            batch->has_age[point] = true;
        }
    }
    if (lacking > job.count)
        batch->unsent += (double)(unsent < lacking - job.count ? unsent : lacking - job.count);
    job.lacking = lacking < job.count ? (int)lacking : job.count;
    if (job.count == 1)
        batch->by_age[job.points[0]]++;
    else if (job.count > 1)
        batch->jobs[batch->job_count++] = job;
}

static void take_jobs(const struct batch_date_facts *facts, struct dated_batch *batch)
{
    for (size_t at = 0, end; at < facts->open_count; at = end) {
        end = at + 1;
        while (end < facts->open_count && facts->open[end].workunitid == facts->open[at].workunitid)
            end++;
        take_job(facts, at, end, batch);
    }
}

/* Results beyond those that were read are like them. */
static void add_more(const struct batch_date_facts *facts, struct dated_batch *batch)
{
    double sent = (double)batch->job_count;

    for (int k = 0; k < POINTS; k++)
        sent += batch->by_age[k];
    batch->unsent += (double)(facts->more_unsent > 0 ? facts->more_unsent : 0);
    if (facts->more_sent <= 0)
        return;
    if (sent < 1) {
        batch->by_age[0] += (double)facts->more_sent;
        batch->has_age[0] = true;
    }
    for (int k = 0; k < POINTS && sent >= 1; k++)
        batch->by_age[k] *= 1 + (double)facts->more_sent / sent;
}

static double rate_of(struct hand_out hand_out)
{
    int64_t span = hand_out.span > SPAN_LEAST ? hand_out.span : SPAN_LEAST;

    return (double)hand_out.sent / (double)span;
}

/* As far as its latest results are known. */
static double rate_of_app(const struct batch_date_facts *facts, int64_t span)
{
    struct hand_out lately = {.span = span};

    for (size_t i = 0; i < facts->recent_count; i++)
        lately.sent += facts->recent[i].sent_time > facts->now - span;
    return rate_of(lately);
}

/* How fast the batch is handed out, results/s, and after what. While its own jobs go out, their
 * rate has everything in it: priorities, streams, and who may have them. What its app was given is
 * a part of the project's, which may not be counted yet. */
static double pace_of(const struct batch_date_facts *facts, double *ret_ahead)
{
    bool goes_out = facts->own.sent >= SENT_LEAST;
    double rate;

    *ret_ahead = goes_out ? 0 : (double)facts->ahead;
    if (goes_out)
        return rate_of(facts->own);
    rate = fmax(rate_of(facts->all), rate_of_app(facts, BATCH_DATE_SPAN));
    return rate > 0 ? rate : fmax(rate_of(facts->week), rate_of_app(facts, BATCH_DATE_WEEK));
}

/* False: nothing is known of its rate. */
static bool set_hand_out(const struct batch_date_facts *facts, double factor,
                         struct dated_batch *batch)
{
    double ahead, rate = factor * pace_of(facts, &ahead), soon;
    double failing = fmin(batch->course.failed.at[POINTS - 1], 0.9);
    int k = 0;

    if (batch->unsent > 0 && rate <= 0)
        return false;
    batch->begin = batch->unsent > 0 ? ahead / rate : 0;
    batch->end = batch->unsent > 0 ? batch->begin + batch->unsent / (1 - failing) / rate : 0;
    while (k < POINTS - 1 && batch->course.done.at[k] < SOON)
        k++;
    soon = batch->course.time[k];
    batch->copied = facts->hurry ? batch->end + soon + AGAIN_S : INFINITY;
    return true;
}

/* The chance, whatever the pace, in *ret_chance. False as above. */
static bool chance_within(const struct batch_date_facts *facts, double time,
                          struct dated_batch *batch, double *ret_chance)
{
    *ret_chance = 0;
    for (size_t i = 0; i < sizeof paces / sizeof paces[0]; i++) {
        if (!set_hand_out(facts, paces[i].factor, batch))
            return false;
        *ret_chance += paces[i].weight * batch_done_within(batch, time);
    }
    return true;
}

/* When it is at least `wanted`, epoch; 0: not known. */
static int64_t find_date(const struct batch_date_facts *facts, double wanted,
                         struct dated_batch *batch)
{
    double low = 0, high, chance;

    if (!set_hand_out(facts, paces[0].factor, batch))
        return 0;
    high = batch->end + batch->course.time[POINTS - 1];
    if (!chance_within(facts, high, batch, &chance) || chance < wanted)
        return 0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;

        if (chance_within(facts, middle, batch, &chance) && chance >= wanted)
            high = middle;
        else
            low = middle;
    }
    return high < DATE_MOST_S ? facts->now + (int64_t)ceil(high) : 0;
}

enum status batch_date_decide(const struct batch_date_facts *facts, struct arena *arena,
                              struct batch_date *ret_date)
{
    struct dated_batch *batch = ARENA_NEW(arena, struct dated_batch);
    bool is_known;
    enum status status;

    *ret_date = (struct batch_date){.half = 0};
    if (batch == NULL)
        return STATUS_NO_MEMORY;
    batch->jobs = ARENA_ARRAY(arena, facts->open_count, struct dated_job);
    if (batch->jobs == NULL)
        return STATUS_NO_MEMORY;
    status = learn_course(facts, arena, &batch->course, &is_known);
    if (status != STATUS_OK || !is_known)
        return status;
    take_jobs(facts, batch);
    add_more(facts, batch);
    ret_date->half = find_date(facts, 0.5, batch);
    ret_date->most = find_date(facts, 0.9, batch);
    return STATUS_OK;
}
