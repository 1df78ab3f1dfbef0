/* SPDX-License-Identifier: Apache-2.0 */
/* A project is asked for what it lacks itself. If the host lacks work though no project does, any
 * that may be asked will do, and if there is none, an overworked one: busy CPUs come before
 * shares. Then all sizes are made to sum up to what the host lacks.
 *
 * Where the old text leaves a choice or contradicts itself:
 * - Its sizes "sum to total_shortfall and are proportional to resource_share": so the shortfalls of
 *   the projects decide only who is asked, and a size of 1 is a mark, not an amount.
 * - Where the host lacks nothing, sizes stay the shortfalls of the projects: such a project has
 *   results too few for its share, though others use the CPUs.
 * - In its code two conditions lost what follows them; by the first list of conditions they
 *   exclude.
 * - Projects that need no CPU take no part in this. They are asked for 1 s as long as they have no
 *   result, under the same conditions.
 * - A function frs, the share among fetchable projects, is defined and used nowhere. A request is
 *   divided by the share among potentially runnable ones, as its last paragraph has it; that is
 *   done where the request is made (talk.c), and only for clients that knew no resources. */
#include "tools/volunteers/client/shortfall.h"

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
