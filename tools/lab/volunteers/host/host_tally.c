/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of merit are those of BOINC's simulator of clients; where it sums over time steps,
 * these are integrals, because virtual time has no steps. */
#include "tools/lab/volunteers/host/host_tally.h"

#include <math.h>

#include "server/base/banned.h"

void tally_add(struct host_tally *sum, const struct host_tally *one)
{
    sum->flops_total += one->flops_total;
    sum->flops_used += one->flops_used;
    sum->flops_wasted += one->flops_wasted;
    sum->flops_lost += one->flops_lost;
    for (size_t r = 0; r < CLIENT_RESOURCES; r++) {
        sum->resources[r].present += one->resources[r].present;
        sum->resources[r].used += one->resources[r].used;
        sum->resources[r].starved += one->resources[r].starved;
    }
#define TALLY_SUM(name) sum->name += one->name;
    TALLY_COUNTS(TALLY_SUM)
#undef TALLY_SUM
}

double tally_idle_fraction(const struct host_tally *tally)
{
    return tally->flops_total > 0 ? 1 - tally->flops_used / tally->flops_total : 0;
}

double tally_wasted_fraction(const struct host_tally *tally)
{
    return tally->flops_total > 0 ? tally->flops_wasted / tally->flops_total : 0;
}

double tally_lost_fraction(const struct host_tally *tally)
{
    return tally->flops_total > 0 ? tally->flops_lost / tally->flops_total : 0;
}

void tally_project_runs(struct tally_project *project, double interval, double flops)
{
    project->present += interval;
    project->gap = 0;
    project->flops_used += flops;
}

void tally_project_waits(struct tally_project *project, double interval)
{
    double before = project->gap, after = before + interval;

    project->present += interval;
    project->gap = after;
    project->gap_squares += (after * after * after - before * before * before) / 3;
}

double tally_share_violation(const struct tally_project *const *projects, const double *shares,
                             size_t count)
{
    double used = 0, all = 0, off = 0;

    for (size_t p = 0; p < count; p++) {
        used += projects[p]->flops_used;
        all += shares[p];
    }
    if (used <= 0 || all <= 0)
        return 0;
    for (size_t p = 0; p < count; p++)
        off += fabs(projects[p]->flops_used - used * shares[p] / all);
    return off / used;
}

double tally_monotony(const struct tally_project *const *projects, size_t count, double period)
{
    double sum = 0, typical;

    for (size_t p = 0; p < count; p++)
        if (projects[p]->present > 0)
            sum += sqrt(projects[p]->gap_squares / projects[p]->present);
    if (count == 0 || period <= 0)
        return 0;
    typical = sum / (double)count / (period * (double)count);
    return 1 - 1 / (typical + 1);
}
