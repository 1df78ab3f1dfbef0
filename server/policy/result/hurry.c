/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy/result/hurry.h"

#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    ANSWERS_LEAST = 10,     /* before them nothing is known of the batch */
    COPIES_MOST = 5,        /* results of a job with hosts at a time */
    UNSENT_PART = 20,       /* at the end at most this part of what is left has no host */
    COPIED_PERCENT = 5,     /* of the jobs may have one result more at a time, */
    COPIED_LEAST = 25,      /* or so many */
    SILENCE_USUAL_S = 16200 /* hosts with jobs come about as often */
};
#define SOON 0.3 /* of the answers have a turnaround that counts as soon */

/* A job without an answer. */
struct open_job {
    const struct open_result_row *first; /* of its results */
    size_t count, sent, unsent;
    double gain; /* s: how much later it will probably be back than a new result of it */
};

static double turnaround_at(const struct hurry_facts *facts, double part)
{
    return facts->answers[(size_t)(part * (double)(facts->answer_count - 1))].turnaround;
}

/* How long it will probably take until the result is back, s: what has taken long takes as long
 * again. */
static double time_left(const struct hurry_facts *facts, const struct open_result_row *result)
{
    double elapsed = (double)(facts->now - result->sent_time);
    double silence = (double)(facts->now - result->heard_time) - SILENCE_USUAL_S;
    double expected =
        result->avg_turnaround > 0 ? result->avg_turnaround : turnaround_at(facts, 0.5);

    return fmax(expected - elapsed, elapsed) + fmax(silence, 0);
}

static int compare_reals(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;

    return (first > second) - (first < second);
}

/* Of a job that may have a copy: when its quorum is complete, if all that its hosts have is valid;
 * INFINITY: never. */
static double job_left(const struct hurry_facts *facts, const struct open_job *job)
{
    int64_t lacking = job->first->min_quorum - job->first->successes;
    double left[COPIES_MOST];
    size_t count = 0;

    for (size_t i = 0; i < job->count; i++)
        if (job->first[i].server_state == RESULT_IN_PROGRESS)
            left[count++] = time_left(facts, &job->first[i]);
    if (lacking < 1 || (size_t)lacking > count)
        return INFINITY;
    qsort(left, count, sizeof left[0], compare_reals);
    return left[lacking - 1];
}

/* The job whose rows begin at `at`. */
static struct open_job take_job(const struct hurry_facts *facts, size_t at)
{
    struct open_job job = {.first = &facts->open[at]};

    while (at + job.count < facts->open_count &&
           facts->open[at + job.count].workunitid == job.first->workunitid) {
        job.sent += job.first[job.count].server_state == RESULT_IN_PROGRESS;
        job.unsent += job.first[job.count].server_state == RESULT_UNSENT;
        job.count++;
    }
    return job;
}

/* Whether it wants more results than its quorum, and has them. If so many are there to compare, a
 * validation may have asked for more. */
static bool is_settled(const struct open_job *job)
{
    const struct open_result_row *row = job->first;
    int64_t quorum = row->min_quorum > 1 ? row->min_quorum : 1;

    return row->target_nresults > quorum && row->successes < quorum &&
           row->successes + (int64_t)job->count >= row->target_nresults;
}

/* Whether the transition would make one more result, and another loss after it would not end the
 * job. */
static bool may_have_copy(const struct open_job *job)
{
    const struct open_result_row *row = job->first;

    return job->unsent == 0 && job->sent < COPIES_MOST &&
           row->results + 1 <= row->max_total_results - (row->max_error_results - row->errors);
}

/* Results that are beyond what the job lacks, but for late ones, which are no hope any more: else
 * the first to be late would keep all others from getting a copy. */
static size_t copies_of(const struct hurry_facts *facts, const struct open_job *job)
{
    int64_t lacking = job->first->min_quorum - job->first->successes;
    int64_t copies = (int64_t)(job->sent + job->unsent) - (lacking > 1 ? lacking : 1), hopes = 0;
    double soon = turnaround_at(facts, SOON);

    for (size_t i = 0; i < job->count; i++)
        hopes +=
            job->first[i].server_state == RESULT_UNSENT || time_left(facts, &job->first[i]) <= soon;
    copies = copies < hopes ? copies : hopes;
    return copies > 0 ? (size_t)copies : 0;
}

/* The largest gain first. */
static int compare_gains(const void *a, const void *b)
{
    return -compare_reals(&((const struct open_job *)a)->gain, &((const struct open_job *)b)->gain);
}

/* Those that would profit from one more result, the most first, in front. */
static size_t find_late(const struct hurry_facts *facts, struct open_job *jobs, size_t count)
{
    double soon = turnaround_at(facts, SOON);
    size_t late = 0;

    for (size_t i = 0; i < count; i++) {
        jobs[i].gain = may_have_copy(&jobs[i]) ? job_left(facts, &jobs[i]) - soon : 0;
        if (jobs[i].gain > 0 && jobs[i].gain < INFINITY)
            jobs[late++] = jobs[i];
    }
    if (late > 1)
        qsort(jobs, late, sizeof jobs[0], compare_gains);
    return late;
}

/* How long so many results take at the rate of the last hours, s. If nothing came in them, one is
 * taken to come now: so what nobody takes is for more hosts from hour to hour. */
static double time_of(const struct hurry_facts *facts, size_t results)
{
    int64_t latest = 0;
    size_t lately = 0;

    for (size_t i = 0; i < facts->answer_count; i++) {
        lately += facts->answers[i].received_time > facts->now - HURRY_RATE_SPAN;
        if (facts->answers[i].received_time > latest)
            latest = facts->answers[i].received_time;
    }
    return (double)results *
           (lately > 0 ? HURRY_RATE_SPAN / (double)lately : (double)(facts->now - latest));
}

/* A job is for hosts that return it before the one that is sent last would be back. */
static int64_t decide_within(const struct hurry_facts *facts, size_t unsent)
{
    double within = time_of(facts, unsent) + turnaround_at(facts, SOON);

    return within < turnaround_at(facts, 1) ? (int64_t)ceil(within) : 0;
}

/* How many jobs may get one result more; `rest` are without an answer, `copies` under way. */
static size_t room_for_copies(const struct hurry_facts *facts, size_t rest, size_t copies)
{
    size_t most = (facts->answer_count + rest) * COPIED_PERCENT / 100;

    most = most > COPIED_LEAST ? most : COPIED_LEAST;
    return copies < most ? most - copies : 0;
}

enum status hurry_decide(const struct hurry_facts *facts, struct arena *arena,
                         struct hurry_plan *ret_plan)
{
    struct open_job *jobs = ARENA_ARRAY(arena, facts->open_count, struct open_job);
    int64_t *ids = ARENA_ARRAY(arena, facts->open_count, int64_t);
    int64_t *settled = ARENA_ARRAY(arena, facts->open_count, int64_t);
    size_t count = 0, without_host = 0, unsent = 0, copies = 0, settled_count = 0, room;

    *ret_plan = (struct hurry_plan){.jobs = ids, .settled = settled};
    if (jobs == NULL || ids == NULL || settled == NULL)
        return STATUS_NO_MEMORY;
    if (facts->answer_count < ANSWERS_LEAST)
        return STATUS_OK;
    for (size_t at = 0; at < facts->open_count; at += jobs[count++].count) {
        jobs[count] = take_job(facts, at);
        without_host += jobs[count].sent == 0;
        unsent += jobs[count].unsent;
        copies += copies_of(facts, &jobs[count]);
        if (is_settled(&jobs[count]))
            settled[settled_count++] = jobs[count].first->workunitid;
    }
    ret_plan->within = decide_within(facts, unsent);
    if (without_host > count / UNSENT_PART)
        return STATUS_OK;
    ret_plan->settled_count = settled_count;
    room = room_for_copies(facts, count, copies);
    ret_plan->job_count = find_late(facts, jobs, count);
    if (ret_plan->job_count > room)
        ret_plan->job_count = room;
    for (size_t i = 0; i < ret_plan->job_count; i++)
        ids[i] = jobs[i].first->workunitid;
    ret_plan->job_count = sorted_ids(ids, ret_plan->job_count);
    return STATUS_OK;
}
