/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing. One resource at a time, one job at a time: each choice changes what is left, and with
 * it which job fits best next. A job that was refused for a resource stays refused for it, since
 * no job that is chosen frees anything, and of what a job is preferred by, a choice changes two
 * figures. So all jobs of a level are judged once, and after each choice only the best of the
 * rest again; when a version has had its daily quota, all are.
 *
 * The level comes first, which is the priority but for jobs of owners' streams (stream_level), then
 * the stream that is behind, then the priority within it, then the request: of these jobs one that
 * that fits beats one that overshoots, and where all overshoot the smallest does the least harm;
 * the score decides between those that fit, and between the smallest. */
#include "server/policy/dispatch/choose.h"

#include "server/policy/dispatch/score.h"

#include <math.h>

#include "server/base/banned.h"

static int64_t job_level(const struct job *job)
{
    return stream_level(job->stream.key, job->priority);
}

static double size_of(const struct job *job)
{
    return job->use.wall_time * job->use.instances;
}

/* Whether the job can be taken for this resource now; notes why not, unless that is still open.
 * `kind` leaves the deadline out or not. */
static bool is_possible(const struct host_view *view, const struct tally *tally,
                        enum check_kind kind, size_t resource, struct job *job,
                        struct choice_notes *notes)
{
    struct refusal refusal = {.reason = REASON_ALWAYS_ON};

    if (job->is_gone || job->refused_on == resource + 1)
        return false;
    if ((job->app == NULL || job->app->non_cpu_intensive == 0) &&
        job_check(view, tally, kind, resource, job, &refusal))
        return true;
    job->refused_on = resource + 1;
    refusals_add(&notes->refusals, &refusal);
    if (reason_is_deadline(refusal.reason))
        job->is_late = notes->late[resource] = true;
    return false;
}

static bool rank_is_better(const struct job_rank *rank, const struct job_rank *best)
{
    if (rank->clock != best->clock)
        return rank->clock < best->clock;
    if (rank->priority != best->priority)
        return rank->priority > best->priority;
    if (rank->fits != best->fits)
        return rank->fits;
    if (!rank->fits && rank->size != best->size)
        return rank->size < best->size;
    if (rank->slack != best->slack)
        return rank->slack < best->slack;
    return rank->score > best->score;
}

/* The jobs of one level, from place `from` to before `to`, while one resource is served. */
struct span {
    size_t from, to;
    bool is_ranked; /* each that passes everything but the deadline, beside what was chosen then */
};

/* Tight jobs are for idle processors, and for whoever can do them with a margin; the others leave
 * the rest to do. Powers of two, so that the score decides between jobs that are much alike. */
static int slack_of(const struct host_view *view, const struct job *job)
{
    return view->config->deadline_margin > 1 && job->use.wall_time > 0
               ? ilogb((double)job->delay_bound / job->use.wall_time)
               : 0;
}

/* What of a rank changes with each choice. */
static void rank_anew(const struct tally *tally, struct job *job)
{
    job->rank.clock = job->stream.clock;
    job->rank.fits = amounts_fits(&tally->left, &job->use);
}

static void rank_jobs(const struct host_view *view, const struct tally *tally, size_t resource,
                      struct job *jobs, size_t count, struct span *span, struct choice_notes *notes)
{
    size_t i = span->from;

    for (; i < count && job_level(&jobs[i]) == job_level(&jobs[span->from]); i++) {
        struct job *job = &jobs[i];

        job->is_candidate = is_possible(view, tally, CHECK_UNTIMED, resource, job, notes);
        if (!job->is_candidate)
            continue;
        job->rank = (struct job_rank){.priority = job->priority,
                                      .slack = slack_of(view, job),
                                      .size = size_of(job),
                                      .score = job_score(view, job)};
        rank_anew(tally, job);
    }
    span->to = i;
    span->is_ranked = true;
}

static struct job *best_of(struct job *jobs, const struct span *span)
{
    struct job *best = NULL;

    for (size_t i = span->from; i < span->to; i++)
        if (jobs[i].is_candidate && (best == NULL || rank_is_better(&jobs[i].rank, &best->rank)))
            best = &jobs[i];
    return best;
}

/* The best of the span is judged by all checks, since what was chosen after it was ranked may be in
 * its way; the others stay as they were ranked. Deadlines cost most, so they are judged in order of
 * rank, until one is met. */
static struct job *choose_of_span(const struct host_view *view, const struct tally *tally,
                                  size_t resource, struct job *jobs, const struct span *span,
                                  struct choice_notes *notes)
{
    struct job *best;

    while ((best = best_of(jobs, span)) != NULL) {
        best->is_candidate = false;
        if (is_possible(view, tally, CHECK_NEW, resource, best, notes))
            return best;
    }
    return NULL;
}

static struct job *choose_one(const struct host_view *view, const struct tally *tally,
                              size_t resource, struct job *jobs, size_t count, struct span *span,
                              struct choice_notes *notes)
{
    while (span->from < count) {
        struct job *best;

        if (!span->is_ranked)
            rank_jobs(view, tally, resource, jobs, count, span, notes);
        else
            for (size_t i = span->from; i < span->to; i++)
                if (jobs[i].is_candidate)
                    rank_anew(tally, &jobs[i]);
        best = choose_of_span(view, tally, resource, jobs, span, notes);
        if (best != NULL)
            return best;
        *span = (struct span){.from = span->to};
    }
    return NULL;
}

/* Whether the version has no more than the daily quota by what was chosen. */
static bool fills_quota(const struct host_view *view, const struct tally *tally,
                        const struct version_option *option)
{
    return option->daily_limit != LIMIT_NONE &&
           option->jobs_today + tally->option_jobs[version_counter(&view->options, option)] >=
               option->daily_limit;
}

/* The stream of a job that was chosen is further on for the jobs that are left of it. */
static void charge_stream(const struct host_view *view, struct job *jobs, size_t count,
                          const struct job *chosen)
{
    struct stream_key key = chosen->stream.key;
    double flops = stream_flops(chosen->workunit->rsc_fpops_est);

    if (view->streams == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        if (stream_key_equal(jobs[i].stream.key, key))
            stream_advance(&jobs[i].stream, flops);
}

bool choose_is_idle(const struct host_view *view, const struct tally *tally,
                    struct choice_notes *notes)
{
    bool is_idle = true;

    for (size_t resource = 0; resource < tally->left.resource_count; resource++) {
        struct refusal refusal;

        if (!amounts_wants(&tally->left, resource))
            continue;
        if (resource_is_closed(view, tally, resource, &refusal))
            refusals_add(&notes->refusals, &refusal);
        else
            is_idle = false;
    }
    return is_idle;
}

size_t choose_jobs(const struct host_view *view, struct tally *tally, struct job *jobs,
                   size_t count, struct job **ret_chosen, struct choice_notes *notes)
{
    size_t chosen = 0;

    for (size_t i = 0; i < count; i++)
        jobs[i].refused_on = 0;
    /* Coprocessors from the last to the first, then the CPU. */
    for (size_t resource = tally->left.resource_count; resource-- > 0;) {
        struct refusal refusal;
        struct span span = {0};

        if (amounts_wants(&tally->left, resource) &&
            resource_is_closed(view, tally, resource, &refusal)) {
            refusals_add(&notes->refusals, &refusal);
            continue;
        }
        while (amounts_wants(&tally->left, resource) && tally->jobs < view->limits.reply) {
            struct job *job = choose_one(view, tally, resource, jobs, count, &span, notes);
            if (job == NULL)
                break;
            job->is_gone = true;
            tally_take(tally, view, job);
            charge_stream(view, jobs, count, job);
            if (fills_quota(view, tally, job->option))
                span.is_ranked = false; /* other jobs run by other versions from now on */
            ret_chosen[chosen++] = job;
        }
    }
    return chosen;
}

void choose_none(const struct host_view *view, const struct tally *tally, struct job *jobs,
                 size_t count, struct choice_notes *notes)
{
    for (size_t i = 0; i < count; i++)
        jobs[i].refused_on = 0;
    for (size_t resource = tally->left.resource_count; resource-- > 0;)
        for (size_t i = 0; i < count && amounts_wants(&tally->left, resource); i++)
            (void)is_possible(view, tally, CHECK_UNTIMED, resource, &jobs[i], notes);
}

static bool suits_some_resource(const struct host_view *view, const struct tally *tally,
                                struct job *job)
{
    struct refusal refusal;

    for (size_t resource = 0; resource < tally->left.resource_count; resource++)
        if (job_check(view, tally, CHECK_ALWAYS_ON, resource, job, &refusal))
            return true;
    return false;
}

/* For each resource that is asked for, as with other jobs. */
static void note_always_on(const struct host_view *view, const struct tally *tally, struct job *job,
                           struct choice_notes *notes)
{
    struct refusal refusal;

    for (size_t resource = 0; resource < tally->left.resource_count; resource++)
        if (amounts_wants(&tally->left, resource) &&
            !job_check(view, tally, CHECK_ALWAYS_ON, resource, job, &refusal))
            refusals_add(&notes->refusals, &refusal);
}

size_t choose_always_on(const struct host_view *view, struct tally *tally, struct job *jobs,
                        size_t count, struct id_list has_job, struct job **ret_chosen,
                        struct choice_notes *notes)
{
    size_t chosen = 0;

    for (size_t i = 0; i < count && tally->jobs < view->limits.reply; i++) {
        struct job *job = &jobs[i];
        bool has_one = false;

        if (job->is_gone || job->app == NULL || job->app->non_cpu_intensive == 0 ||
            id_list_has(has_job, job->app->id))
            continue;
        for (size_t j = 0; j < chosen && !has_one; j++)
            has_one = ret_chosen[j]->app == job->app;
        if (has_one)
            continue;
        if (!suits_some_resource(view, tally, job)) {
            note_always_on(view, tally, job, notes);
            continue;
        }
        job->is_gone = true;
        tally_take(tally, view, job);
        ret_chosen[chosen++] = job;
    }
    return chosen;
}

/* --- assigned jobs ---------------------------------------------------------------------------- */

/* s; a transition that another server wants at once is written with its clock, which may be ahead
 * of ours by as much. */
static const int64_t clocks_apart = 60;

/* A host gets each assigned workunit once. A broadcast goes to every host that it is for, whatever
 * others made of it; a targeted job to as many of those as the workunit wants results, and not
 * before the transitioner and the validator are done with it. */
enum assignment_verdict assignment_decide(const struct assignment_question *question)
{
    int64_t needed =
        question->wanted_results - question->unsent - question->in_progress - question->success;

    if (question->error_mask != 0 || question->results_of_host > 0)
        return ASSIGNMENT_NOT;
    if (question->is_broadcast)
        return question->has_unsent ? ASSIGNMENT_UNSENT : ASSIGNMENT_NEW;
    if (question->canonical_resultid != 0)
        return ASSIGNMENT_NOT;
    if (question->has_unsent)
        return ASSIGNMENT_UNSENT;
    if (question->need_validate != 0 || question->transition_time <= question->now + clocks_apart)
        return ASSIGNMENT_NOT;
    return needed > 0 ? ASSIGNMENT_NEW : ASSIGNMENT_NOT;
}
