/* SPDX-License-Identifier: Apache-2.0 */
/* Of the resources whose first instance will be idle before the low mark, coprocessors first, one
 * is chosen; the project is asked for all that it lacks up to the high mark, and for the other
 * resources too if it would be the first there as well. */
#include "tools/lab/volunteers/client/marks.h"

#include <math.h>

#include "server/base/banned.h"

#define HALF_LIFE 864000.0 /* s */

void marks_book(struct fetch_project *project, double flops, double interval)
{
    project->recent = project->recent * exp2(-interval / HALF_LIFE) + flops;
}

double marks_peak_flops(const struct fetch_host *host)
{
    double flops = 0;

    for (size_t r = 0; r < host->resource_count; r++)
        flops += host->resources[r].count * host->resources[r].flops;
    return flops;
}

static double flops_left(const struct fetch_host *host, const struct fetch_job *job)
{
    double flops = 0;

    for (size_t r = 0; r < host->resource_count; r++)
        flops += job->uses[r] * host->resources[r].flops;
    return flops * job->left;
}

void marks_rank(const struct fetch_host *host, const struct marks *marks,
                const struct fetch_job *jobs, size_t job_count, double *ret_priorities)
{
    double recent = 0, shares = 0, full = marks->high * marks_peak_flops(host);

    for (size_t p = 0; p < host->project_count; p++) {
        recent += host->projects[p].recent;
        shares += host->projects[p].share;
    }
    for (size_t p = 0; p < host->project_count; p++) {
        const struct fetch_project *project = &host->projects[p];

        ret_priorities[p] = 0;
        if (recent > 0 && project->share > 0)
            ret_priorities[p] = -(project->recent / recent) / (project->share / shares);
        if (project->share <= 0) /* for idle processors, behind all others */
            ret_priorities[p] = -1000;
    }
    for (size_t i = 0; i < job_count && full > 0; i++)
        ret_priorities[jobs[i].project] -= flops_left(host, &jobs[i]) / full;
}

static bool may_be_asked(const struct fetch_host *host, size_t project, size_t resource, double now)
{
    const struct fetch_project *asked = &host->projects[project];

    return !asked->excluded && asked->min_rpc_time <= now &&
           asked->accounts[resource].backoff_end <= now &&
           (asked->share > 0 || host->resources[resource].idle > 0);
}

/* The first among those that may be asked for the resource; project_count: none. */
static size_t first(const struct fetch_host *host, const double *priorities, size_t resource,
                    double now)
{
    size_t best = host->project_count;

    for (size_t p = 0; p < host->project_count; p++)
        if (may_be_asked(host, p, resource, now) &&
            (best == host->project_count || priorities[p] >= priorities[best]))
            best = p;
    return best;
}

/* A project is asked for jobs for what is idle, or for its share of all instances, of those that
 * may be asked, if it has fewer queued. */
static void want(const struct fetch_host *host, size_t resource, double now,
                 struct fetch_request *request)
{
    const struct fetch_resource *wanted = &host->resources[resource];
    const struct fetch_project *project = &host->projects[request->project];
    double shares = 0, part;

    request->instances[resource] = wanted->idle;
    request->seconds[resource] = project->share > 0 ? wanted->shortfall : 1;
    request->scalar = fmax(request->scalar, request->seconds[resource]);
    if (project->share <= 0)
        return;
    for (size_t p = 0; p < host->project_count; p++)
        if (may_be_asked(host, p, resource, now))
            shares += host->projects[p].share;
    part = wanted->count * project->share / shares - project->accounts[resource].queued;
    request->instances[resource] = fmax(wanted->idle, part);
}

static bool lacks(const struct fetch_host *host, size_t resource, double mark)
{
    return host->resources[resource].count > 0 && host->resources[resource].saturated <= mark;
}

bool marks_add(const struct fetch_host *host, const struct marks *marks, const double *priorities,
               size_t project, double now, struct fetch_request *ret_request)
{
    bool any = false;

    *ret_request = (struct fetch_request){.project = project};
    for (size_t r = 0; r < host->resource_count; r++)
        if (lacks(host, r, marks->high) && first(host, priorities, r, now) == project) {
            want(host, r, now, ret_request);
            any = true;
        }
    return any;
}

bool marks_choose(const struct fetch_host *host, const struct marks *marks,
                  const double *priorities, double now, struct fetch_request *ret_request)
{
    for (size_t r = host->resource_count; r-- > 0;) { /* coprocessors before the CPU */
        size_t project =
            lacks(host, r, marks->low) ? first(host, priorities, r, now) : host->project_count;

        if (project < host->project_count)
            return marks_add(host, marks, priorities, project, now, ret_request);
    }
    return false;
}

double marks_next(const struct fetch_host *host, const struct marks *marks, double now)
{
    double next = INFINITY;

    for (size_t r = 0; r < host->resource_count; r++) {
        /* Beyond the high mark nothing is known. */
        double low = now + fmin(host->resources[r].saturated, marks->high) - marks->low;

        for (size_t p = 0; host->resources[r].count > 0 && p < host->project_count; p++) {
            const struct fetch_project *project = &host->projects[p];
            double free = fmax(project->min_rpc_time, project->accounts[r].backoff_end);

            if (!project->excluded)
                next = fmin(next, fmax(free, low));
        }
    }
    return next;
}
