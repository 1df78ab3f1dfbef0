/* SPDX-License-Identifier: Apache-2.0 */
/* A project is asked for what it lacks itself. If the host lacks work although no project does,
 * any project that may be asked is; if there is none, an overworked one, because busy CPUs come
 * before shares. Then all sizes are scaled so that their sum is what the host lacks.
 *
 * Where BOINC's description of 2006 leaves a choice open, this is what is done here:
 * - Sizes are proportional to resource shares and sum up to the total shortfall. So the
 *   shortfalls of projects decide only who is asked, and a size of 1 before the scaling is a
 *   mark, not an amount.
 * - If the host lacks nothing, sizes stay the shortfalls of the projects: such a project has too
 *   few results for its share, although other projects use the CPUs.
 * - Suspended projects, deferred ones and those that want no new work are never asked.
 * - A project whose applications need no CPU takes no part in this. It is asked for 1 s, under
 *   the same conditions, as long as it has no result.
 * - Sizes become wall time of the project's share where the request is made
 *   (host/scheduler_rpc.c), and only for clients that ask in one number. */
#include "tools/lab/volunteers/client/shortfall.h"

#include <math.h>

#include "server/base/banned.h"

static bool may_ask(const struct shortfall_project *project, bool overworked_too)
{
    return !project->suspended && !project->deferred && !project->no_new_work &&
           (overworked_too || !project->overworked);
}

static bool has_some(const struct shortfall_project *projects, size_t count)
{
    for (size_t p = 0; p < count; p++)
        if (!projects[p].no_cpu && projects[p].size > 0)
            return true;
    return false;
}

static void mark(struct shortfall_project *projects, size_t count, bool overworked_too)
{
    for (size_t p = 0; p < count; p++)
        if (!projects[p].no_cpu && may_ask(&projects[p], overworked_too))
            projects[p].size = 1;
}

static void normalize(struct shortfall_project *projects, size_t count, double total)
{
    double shares = 0;

    for (size_t p = 0; p < count; p++)
        if (!projects[p].no_cpu && projects[p].size > 0)
            shares += projects[p].share;
    for (size_t p = 0; p < count && shares > 0; p++)
        if (!projects[p].no_cpu && projects[p].size > 0)
            projects[p].size = total * projects[p].share / shares;
}

void shortfall_set_sizes(struct shortfall_project *projects, size_t count, double total_shortfall)
{
    for (size_t p = 0; p < count; p++) {
        double wanted =
            projects[p].no_cpu ? !projects[p].has_nearly_runnable : projects[p].shortfall;

        projects[p].size = may_ask(&projects[p], false) ? wanted : 0;
    }
    if (total_shortfall <= 0)
        return;
    for (int overworked_too = 0; overworked_too <= 1; overworked_too++)
        if (!has_some(projects, count))
            mark(projects, count, overworked_too);
    normalize(projects, count, total_shortfall);
}

size_t shortfall_choose_project(const struct shortfall_project *projects, size_t count)
{
    size_t best = count;

    for (size_t p = 0; p < count; p++)
        if (projects[p].size > 0 &&
            (best == count || projects[p].long_debt + projects[p].shortfall >
                                  projects[best].long_debt + projects[best].shortfall))
            best = p;
    return best;
}
