/* SPDX-License-Identifier: Apache-2.0 */
/* Debt is the CPU time that a host owes a project: each period adds the project's share of all
 * work done, and takes off the work that was done for it. Projects that have nothing to run
 * neither count nor are owed anything. Processors are given out one by one, each to the project
 * with the largest anticipated debt. Within a project a running result goes before a preempted
 * one, and that before a new one, so that few results are begun at once.
 *
 * Where BOINC's description of 2004 leaves a choice open, this is what is done here:
 * - Only projects that have an unchosen result left are considered, since the aim is to keep all
 *   processors busy.
 * - A project with a share of 0 counts as never starving and asks for nothing: at the rate of its
 *   share it would never finish a result.
 * - As soon as one project is below T, work is requested of every project below 2T; while none
 *   is, of nobody.
 * - In the first period no work has been done yet, so a CPU that is given out lowers no debt, and
 *   all CPUs go to one project. The next period makes up for it.
 * - Running results of a project keep the order in which they are given; so do preempted ones.
 * - The two urgencies (work is needed; it is needed now) lead to the same requests. */
#include "tools/lab/volunteers/client/debt.h"

#include <math.h>

#include "server/base/banned.h"

static double sum_shares(const struct debt_project *projects, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += projects[i].share;
    return sum;
}

static bool has_runnable(const struct debt_result *results, size_t count, size_t project)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].project == project && results[i].runnable)
            return true;
    return false;
}

static double spent(const struct debt_result *result)
{
    return result->running ? result->cpu_time - result->cpu_time_at_schedule : 0;
}

/* Returns the work done in the period. */
static double adjust_debts(struct debt_project *projects, size_t project_count,
                           const struct debt_result *results, size_t result_count)
{
    double total = 0, shares = 0;

    for (size_t i = 0; i < result_count; i++)
        total += spent(&results[i]);
    for (size_t p = 0; p < project_count; p++)
        if (has_runnable(results, result_count, p))
            shares += projects[p].share;
    for (size_t p = 0; p < project_count; p++) {
        if (!has_runnable(results, result_count, p)) {
            projects[p].debt = 0;
            continue;
        }
        if (shares > 0)
            projects[p].debt += projects[p].share / shares * total;
        for (size_t i = 0; i < result_count; i++)
            if (results[i].project == p)
                projects[p].debt -= spent(&results[i]);
    }
    return total;
}

/* Whether a should be run rather than b, both of one project. */
static bool goes_before(const struct debt_result *a, const struct debt_result *b)
{
    if (a->running != b->running)
        return a->running;
    if (a->active != b->active)
        return a->active;
    return !a->active && a->deadline < b->deadline;
}

static struct debt_result *next_result(const struct debt_project *projects,
                                       struct debt_result *results, size_t result_count)
{
    struct debt_result *best = NULL;

    for (size_t i = 0; i < result_count; i++) {
        struct debt_result *result = &results[i];

        if (!result->runnable || result->scheduled)
            continue;
        if (best == NULL)
            best = result;
        else if (best->project == result->project)
            best = goes_before(result, best) ? result : best;
        else if (projects[result->project].anticipated > projects[best->project].anticipated)
            best = result;
        else if (projects[result->project].anticipated == projects[best->project].anticipated &&
                 result->project < best->project)
            best = result;
    }
    return best;
}

size_t debt_schedule(struct debt_project *projects, size_t project_count,
                     struct debt_result *results, size_t result_count, size_t cpus)
{
    double total = adjust_debts(projects, project_count, results, result_count);
    size_t chosen = 0;

    for (size_t p = 0; p < project_count; p++)
        projects[p].anticipated = projects[p].debt;
    for (size_t i = 0; i < result_count; i++)
        results[i].scheduled = false;
    for (; chosen < cpus; chosen++) {
        struct debt_result *result = next_result(projects, results, result_count);

        if (result == NULL)
            break;
        result->scheduled = true;
        projects[result->project].anticipated -= total / (double)cpus;
    }
    for (size_t i = 0; i < result_count; i++) {
        results[i].running = results[i].scheduled;
        results[i].active = results[i].active || results[i].scheduled;
        results[i].cpu_time_at_schedule = results[i].cpu_time;
    }
    return chosen;
}

static double share_fraction(const struct debt_project *projects, size_t project_count,
                             size_t project)
{
    double sum = sum_shares(projects, project_count);

    return sum > 0 ? projects[project].share / sum : 0;
}

/* CPU time that the project gets in a second. */
static double processing_rate(const struct debt_host *host, const struct debt_project *projects,
                              size_t project_count, size_t project)
{
    return share_fraction(projects, project_count, project) * (double)host->cpus *
           host->active_fraction;
}

size_t debt_min_results(const struct debt_host *host, const struct debt_project *projects,
                        size_t project_count, size_t project)
{
    return (size_t)ceil((double)host->cpus * share_fraction(projects, project_count, project));
}

/* Whether b comes before a among the results that are left out, the latest deadlines. */
static bool is_later(const struct debt_result *results, size_t b, size_t a)
{
    if (results[b].deadline != results[a].deadline)
        return results[b].deadline > results[a].deadline;
    return b > a;
}

double debt_time_to_count(const struct debt_host *host, const struct debt_project *projects,
                          size_t project_count, const struct debt_result *results,
                          size_t result_count, size_t project, size_t kept)
{
    double rate = processing_rate(host, projects, project_count, project), work = 0;

    if (rate <= 0)
        return INFINITY;
    for (size_t i = 0; i < result_count; i++) {
        size_t later = 0;

        if (results[i].project != project || !results[i].runnable)
            continue;
        for (size_t j = 0; j < result_count; j++)
            if (results[j].project == project && results[j].runnable && is_later(results, j, i))
                later++;
        if (later >= kept)
            work += results[i].cpu_time_left;
    }
    return work / rate;
}

enum debt_urgency debt_request_work(const struct debt_host *host, struct debt_project *projects,
                                    size_t project_count, const struct debt_result *results,
                                    size_t result_count)
{
    enum debt_urgency urgency = DEBT_WORK_NOT_NEEDED;

    for (size_t p = 0; p < project_count; p++) {
        size_t needed = debt_min_results(host, projects, project_count, p);
        double time = debt_time_to_count(host, projects, project_count, results, result_count, p,
                                         needed > 0 ? needed - 1 : 0);
        double lacking = fmax(0, 2 * host->connection_period - time);

        if (time == 0)
            urgency = DEBT_WORK_NEEDED_NOW;
        else if (time < host->connection_period && urgency == DEBT_WORK_NOT_NEEDED)
            urgency = DEBT_WORK_NEEDED;
        projects[p].work_request =
            lacking > 0 ? lacking * processing_rate(host, projects, project_count, p) : 0;
    }
    if (urgency == DEBT_WORK_NOT_NEEDED)
        for (size_t p = 0; p < project_count; p++)
            projects[p].work_request = 0;
    return urgency;
}
