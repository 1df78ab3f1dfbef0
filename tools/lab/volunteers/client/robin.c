/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation goes from one end of a result to the next. Each project with CPU results gets CPUs
 * by its share, but no more than its results can use; what it leaves goes to the others, again by
 * share. The results of a project get equal parts. Coprocessor results run at full speed, in their
 * order, as long as there are instances, and take their CPUs first.
 *
 * A project lacks the part of its share of all CPUs that it does not get, even if others use it
 * meanwhile; the host lacks only what nobody uses. So the total shortfall is not the sum of the
 * projects'. CPUs that are idle only because results wait for a coprocessor do not count as
 * lacking. */
#include "tools/lab/volunteers/client/robin.h"

#include <math.h>

#include "server/base/banned.h"

#define LEAST 1e-9 /* CPUs */

static bool waits(const struct robin_result *result)
{
    return result->nearly_runnable && result->simulated_left > 0;
}

/* Returns the CPUs that are left; those of results waiting for a coprocessor go to *ret_waiting. */
static double assign_coprocs(const struct robin_host *host, struct robin_project *projects,
                             struct robin_result *results, size_t count, double *ret_waiting)
{
    double used[CLIENT_COPROCS] = {0}, cpus = host->cpus;

    *ret_waiting = 0;
    for (size_t i = 0; i < count; i++) {
        struct robin_result *result = &results[i];

        result->rate = 0;
        if (!waits(result) || result->coproc == CLIENT_NO_COPROC)
            continue;
        if (used[result->coproc] + result->coprocs <= host->coprocs[result->coproc] + LEAST) {
            used[result->coproc] += result->coprocs;
            cpus -= result->cpus;
            projects[result->project].rate += result->cpus;
            result->rate = 1;
        } else {
            *ret_waiting += result->cpus;
        }
    }
    return fmax(0, cpus);
}

/* Divides CPUs by share among those who wish for any. Returns what nobody wishes for. */
static double assign_cpus(struct robin_project *projects, size_t count, double cpus)
{
    /* Each round fulfils somebody's wish or gives all. */
    for (size_t round = 0; round <= count && cpus > LEAST; round++) {
        double shares = 0, round_cpus = cpus;

        for (size_t p = 0; p < count; p++)
            shares += projects[p].wish > LEAST ? projects[p].share : 0;
        for (size_t p = 0; p < count && shares > 0; p++) {
            double part;

            if (projects[p].wish <= LEAST)
                continue;
            part = fmin(projects[p].wish, round_cpus * projects[p].share / shares);
            projects[p].wish -= part;
            projects[p].rate += part;
            cpus -= part;
        }
    }
    return fmax(0, cpus);
}

/* Sets all rates. Returns the CPUs that are idle for lack of work. */
static double assign(const struct robin_host *host, struct robin_project *projects,
                     size_t project_count, struct robin_result *results, size_t result_count)
{
    double cpus, idle, waiting;

    for (size_t p = 0; p < project_count; p++)
        projects[p].rate = projects[p].wish = 0;
    cpus = assign_coprocs(host, projects, results, result_count, &waiting);
    for (size_t i = 0; i < result_count; i++)
        if (waits(&results[i]) && results[i].coproc == CLIENT_NO_COPROC)
            projects[results[i].project].wish += results[i].cpus;
    for (size_t i = 0; i < result_count; i++)
        if (waits(&results[i]) && results[i].coproc == CLIENT_NO_COPROC)
            results[i].rate = projects[results[i].project].wish;
    idle = assign_cpus(projects, project_count, cpus);
    /* What became of the wish of its project: of each result the same part. */
    for (size_t i = 0; i < result_count; i++)
        if (waits(&results[i]) && results[i].coproc == CLIENT_NO_COPROC)
            results[i].rate =
                results[i].rate > 0 ? 1 - projects[results[i].project].wish / results[i].rate : 1;
    return fmax(0, idle - waiting);
}

static void add_shortfalls(const struct robin_host *host, struct robin_project *projects,
                           size_t count, double interval)
{
    double shares = 0;

    for (size_t p = 0; p < count; p++)
        shares += projects[p].share;
    for (size_t p = 0; p < count && shares > 0; p++)
        projects[p].shortfall +=
            interval * fmax(0, projects[p].share / shares * host->cpus - projects[p].rate);
}

static double until_next_end(const struct robin_result *results, size_t count)
{
    double least = INFINITY;

    for (size_t i = 0; i < count; i++)
        if (waits(&results[i]) && results[i].rate > LEAST)
            least = fmin(least, results[i].simulated_left / results[i].rate);
    return least;
}

static void advance(struct robin_result *results, size_t count, double interval, double now)
{
    for (size_t i = 0; i < count; i++) {
        struct robin_result *result = &results[i];

        if (!waits(result) || result->rate <= LEAST)
            continue;
        result->simulated_left -= interval * result->rate;
        if (result->simulated_left > LEAST * (1 + now))
            continue;
        result->simulated_left = 0;
        result->finish = now;
    }
}

double robin_simulate(const struct robin_host *host, struct robin_project *projects,
                      size_t project_count, struct robin_result *results, size_t result_count,
                      double queue)
{
    double now = 0, total = 0;

    for (size_t p = 0; p < project_count; p++) {
        projects[p].shortfall = 0;
        projects[p].deadlines_missed = 0;
    }
    for (size_t i = 0; i < result_count; i++) {
        results[i].finish = results[i].left > 0 ? INFINITY : 0;
        results[i].simulated_left =
            host->available_fraction > 0 ? results[i].left / host->available_fraction : INFINITY;
    }
    for (;;) {
        double idle = assign(host, projects, project_count, results, result_count);
        double interval = until_next_end(results, result_count);
        double within = fmin(interval, fmax(0, queue - now));

        total += within * idle;
        add_shortfalls(host, projects, project_count, within);
        if (isinf(interval))
            break;
        now += interval;
        advance(results, result_count, interval, now);
    }
    for (size_t i = 0; i < result_count; i++) {
        results[i].deadline_missed =
            results[i].nearly_runnable && results[i].finish > results[i].deadline;
        projects[results[i].project].deadlines_missed += results[i].deadline_missed;
    }
    return total;
}
