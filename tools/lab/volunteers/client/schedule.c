/* SPDX-License-Identifier: Apache-2.0 */
/* Results are chosen one by one. First come those of projects with missed deadlines, by deadline;
 * then results that run and have not had their period; then results of the project that is owed
 * most. Every choice lowers what its project is owed. Coprocessor results are chosen in all three
 * ways before any CPU result, so that coprocessors stay busy.
 *
 * Where BOINC's description of 2006 leaves a choice open, this is what is done here:
 * - Anticipated debts are set once, at the beginning, and not again before each choice, which
 *   would choose one project for ever.
 * - Of the results of endangered projects, the earliest that is not scheduled yet is chosen.
 * - Each choice, in all three ways, lowers what its project is owed by the same charge: a period
 *   of one CPU, unless the result has a charge of its own. Else more results of a project would
 *   follow the one that keeps its period.
 * - A suspended project is in no state at all, not even potentially runnable.
 * - Only runnable projects have a short-term debt. It is normalized after each period, so a
 *   project that becomes runnable again begins with the least.
 * - Idle CPUs are filled before any result is preempted, and a result is preempted only if it
 *   uses the kind of processor that another one waits for.
 * - A result that uses more CPUs than the host has counts as using all of them; else it would
 *   never run. */
#include "tools/lab/volunteers/client/schedule.h"

#include <math.h>

#include "server/base/banned.h"

#define LEAST 1e-9 /* instances */

bool schedule_result_is_runnable(const struct schedule_result *result,
                                 const struct schedule_project *projects)
{
    return !result->suspended && !projects[result->project].suspended && !result->done &&
           result->files == SCHEDULE_FILES_HERE;
}

bool schedule_result_is_nearly_runnable(const struct schedule_result *result,
                                        const struct schedule_project *projects)
{
    return !result->suspended && !projects[result->project].suspended && !result->done &&
           result->files != SCHEDULE_FILES_DEFERRED;
}

static struct schedule_state judge(const struct schedule_host *host,
                                   const struct schedule_project *projects, size_t which,
                                   const struct schedule_result *results, size_t result_count,
                                   double now)
{
    const struct schedule_project *project = &projects[which];
    struct schedule_state state = {.runnable = false};
    bool some_deferred = false;

    if (project->suspended)
        return state;
    for (size_t i = 0; i < result_count; i++) {
        if (results[i].project != which || results[i].done)
            continue;
        state.runnable = state.runnable || schedule_result_is_runnable(&results[i], projects);
        state.downloading = state.downloading || results[i].files == SCHEDULE_FILES_COMING;
        some_deferred = some_deferred || results[i].files == SCHEDULE_FILES_DEFERRED;
    }
    state.downloading = state.downloading && !some_deferred;
    state.deferred = project->min_rpc_time > now;
    state.overworked = project->long_debt < -host->period;
    state.fetchable =
        !state.deferred && !project->no_new_work && !state.overworked && !project->master_pending;
    state.latency_limited = project->no_work_deadlines && project->reply_delay_end > now;
    state.potentially_runnable = state.runnable || state.downloading || state.fetchable ||
                                 state.overworked || state.latency_limited;
    return state;
}

void schedule_judge_projects(const struct schedule_host *host, struct schedule_project *projects,
                             size_t project_count, const struct schedule_result *results,
                             size_t result_count, double now)
{
    for (size_t p = 0; p < project_count; p++)
        projects[p].state = judge(host, projects, p, results, result_count, now);
}

static void adjust_short_debts(struct schedule_project *projects, size_t count)
{
    double used = 0, shares = 0, least = INFINITY;

    for (size_t p = 0; p < count; p++)
        if (projects[p].state.runnable) {
            used += projects[p].cpu_time;
            shares += projects[p].share;
        }
    for (size_t p = 0; p < count; p++) {
        if (!projects[p].state.runnable)
            continue;
        projects[p].short_debt +=
            (shares > 0 ? used * projects[p].share / shares : 0) - projects[p].cpu_time;
        least = fmin(least, projects[p].short_debt);
    }
    for (size_t p = 0; p < count; p++)
        projects[p].short_debt = projects[p].state.runnable
                                     ? fmin(projects[p].short_debt - least, SCHEDULE_SHORT_DEBT_MAX)
                                     : 0;
}

static void adjust_long_debts(struct schedule_project *projects, size_t count)
{
    double used = 0, shares = 0, sum = 0;

    for (size_t p = 0; p < count; p++)
        if (projects[p].state.potentially_runnable) {
            used += projects[p].cpu_time;
            shares += projects[p].share;
        }
    for (size_t p = 0; p < count; p++) {
        if (projects[p].state.potentially_runnable)
            projects[p].long_debt +=
                (shares > 0 ? used * projects[p].share / shares : 0) - projects[p].cpu_time;
        sum += projects[p].long_debt;
    }
    for (size_t p = 0; p < count; p++)
        projects[p].long_debt -= sum / (double)count;
}

void schedule_adjust_debts(struct schedule_project *projects, size_t count)
{
    adjust_short_debts(projects, count);
    adjust_long_debts(projects, count);
    for (size_t p = 0; p < count; p++)
        projects[p].cpu_time = 0;
}

/* Instances that are left to give. */
struct free_instances {
    double cpus, host_cpus;
    double coprocs[CLIENT_COPROCS];
};

static struct free_instances all_of(const struct schedule_host *host)
{
    struct free_instances left = {.cpus = host->cpus, .host_cpus = host->cpus};

    for (size_t c = 0; c < CLIENT_COPROCS; c++)
        left.coprocs[c] = host->coprocs[c];
    return left;
}

/* A coprocessor result needs its coprocessor; its CPUs it takes even where none is left. */
static bool fits(const struct free_instances *left, const struct schedule_result *result)
{
    if (result->coproc != CLIENT_NO_COPROC)
        return result->coprocs <= left->coprocs[result->coproc] + LEAST;
    return left->cpus > LEAST && fmin(result->cpus, left->host_cpus) <= left->cpus + LEAST;
}

/* sign: 1 to take, -1 to give back. */
static void take(struct free_instances *left, const struct schedule_result *result, double sign)
{
    left->cpus -= sign * fmin(result->cpus, left->host_cpus);
    if (result->coproc != CLIENT_NO_COPROC)
        left->coprocs[result->coproc] -= sign * result->coprocs;
}

struct choice {
    const struct schedule_host *host;
    struct schedule_project *projects;
    struct schedule_result *results;
    size_t result_count;
    double now;
    bool coprocs; /* whether it is their turn */
    struct free_instances left;
    size_t scheduled;
};

static bool may_choose(const struct choice *choice, const struct schedule_result *result)
{
    return !result->scheduled && (result->coproc != CLIENT_NO_COPROC) == choice->coprocs &&
           schedule_result_is_runnable(result, choice->projects) && fits(&choice->left, result);
}

static void choose(struct choice *choice, struct schedule_result *result)
{
    result->scheduled = true;
    choice->scheduled++;
    take(&choice->left, result, 1);
    choice->projects[result->project].anticipated -=
        result->charge > 0 ? result->charge : choice->host->period / choice->host->cpus;
}

static void choose_endangered(struct choice *choice)
{
    struct schedule_result *best;

    do {
        best = NULL;
        for (size_t i = 0; i < choice->result_count; i++) {
            struct schedule_result *result = &choice->results[i];

            if (choice->projects[result->project].endangered > 0 && may_choose(choice, result) &&
                (best == NULL || result->deadline < best->deadline))
                best = result;
        }
        if (best != NULL) {
            choice->projects[best->project].endangered--;
            choose(choice, best);
        }
    } while (best != NULL);
}

static void choose_unfinished_periods(struct choice *choice)
{
    for (size_t i = 0; i < choice->result_count; i++) {
        struct schedule_result *result = &choice->results[i];

        if (result->running && choice->now - result->begun < choice->host->period &&
            may_choose(choice, result))
            choose(choice, result);
    }
}

static void choose_by_debt(struct choice *choice)
{
    struct schedule_result *best;

    do {
        best = NULL;
        for (size_t i = 0; i < choice->result_count; i++) {
            struct schedule_result *result = &choice->results[i];

            if (!may_choose(choice, result))
                continue;
            if (best == NULL || choice->projects[result->project].anticipated >
                                    choice->projects[best->project].anticipated)
                best = result;
            else if (result->project == best->project && result->running && !best->running)
                best = result;
        }
        if (best != NULL)
            choose(choice, best);
    } while (best != NULL);
}

size_t schedule_choose(const struct schedule_host *host, struct schedule_project *projects,
                       size_t project_count, struct schedule_result *results, size_t result_count,
                       double now)
{
    struct choice choice = {.host = host,
                            .projects = projects,
                            .results = results,
                            .result_count = result_count,
                            .now = now,
                            .left = all_of(host)};

    for (size_t p = 0; p < project_count; p++) {
        projects[p].anticipated = projects[p].short_debt;
        projects[p].endangered = projects[p].deadlines_missed;
    }
    for (size_t i = 0; i < result_count; i++)
        results[i].scheduled = false;
    for (int turn = 0; turn < 2; turn++) {
        choice.coprocs = turn == 0;
        choose_endangered(&choice);
        choose_unfinished_periods(&choice);
        choose_by_debt(&choice);
    }
    return choice.scheduled;
}

static void begin(struct free_instances *left, struct schedule_result *result, double now)
{
    result->running = true;
    result->begun = now;
    take(left, result, 1);
}

static void preempt(struct free_instances *left, struct schedule_result *result)
{
    result->running = false;
    take(left, result, -1);
}

/* Whether what `other` uses is what `result` waits for. */
static bool helps(const struct schedule_result *other, const struct schedule_result *result)
{
    if (result->coproc != CLIENT_NO_COPROC)
        return other->coproc == result->coproc;
    return other->cpus > LEAST;
}

/* Whose preemption costs least, of those whose end helps `result`; NULL: there is none. */
static struct schedule_result *victim_for(struct schedule_result *results, size_t count,
                                          const struct schedule_result *result)
{
    struct schedule_result *best = NULL;

    for (size_t i = 0; i < count; i++) {
        struct schedule_result *other = &results[i];

        if (!other->running || other->scheduled || !helps(other, result))
            continue;
        if (best == NULL || other->since_checkpoint < best->since_checkpoint)
            best = other;
    }
    return best;
}

static void begin_what_fits(struct free_instances *left, struct schedule_result *results,
                            size_t count, double now)
{
    for (int endangered = 1; endangered >= 0; endangered--)
        for (size_t i = 0; i < count; i++)
            if (results[i].scheduled && !results[i].running &&
                (results[i].deadline_missed || !endangered) && fits(left, &results[i]))
                begin(left, &results[i], now);
}

/* Whether somebody waits for what `result` uses. */
static bool is_waited_for(const struct schedule_result *results, size_t count,
                          const struct schedule_result *result)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].scheduled && !results[i].running && helps(result, &results[i]))
            return true;
    return false;
}

void schedule_enforce(const struct schedule_host *host, struct schedule_result *results,
                      size_t count, double chosen_at, double now)
{
    struct free_instances left = all_of(host);

    for (size_t i = 0; i < count; i++) {
        if (results[i].done)
            results[i].running = false;
        if (results[i].running)
            take(&left, &results[i], 1);
    }
    begin_what_fits(&left, results, count, now);
    for (size_t i = 0; i < count; i++) {
        struct schedule_result *result = &results[i], *victim;

        if (!result->scheduled || result->running || !result->deadline_missed)
            continue;
        while (!fits(&left, result) && (victim = victim_for(results, count, result)) != NULL)
            preempt(&left, victim);
        if (fits(&left, result))
            begin(&left, result, now);
    }
    for (size_t i = 0; i < count; i++)
        if (results[i].running && !results[i].scheduled && results[i].checkpoint > chosen_at &&
            is_waited_for(results, count, &results[i])) {
            preempt(&left, &results[i]);
            begin_what_fits(&left, results, count, now);
        }
}
