/* SPDX-License-Identifier: Apache-2.0 */
/* A simulation of the queue says for each resource what is idle now, and what will be idle within
 * the buffer. An idle instance goes before a mere shortfall, coprocessors before CPUs. Of the
 * projects that may have such jobs the one is asked that is owed most, less what it has queued. A
 * resource of which a project sends nothing is not asked for again until a back-off is over,
 * which doubles each time.
 *
 * Where BOINC's description of 2009 leaves a choice open, this is what is done here:
 * - A project is owed the instances that it gets when all resources together are divided by share
 *   (entitlement.c). With plain shares of each resource, two projects of equal share, one of
 *   which can use the GPU only, would end with half of the GPU each; with a GPU twice as fast as
 *   the CPUs the division gives the one three quarters of the GPU, the other the rest and the
 *   CPUs. As it sums up to all that there is, no debt grows because a resource has one user only.
 *   The shortfall of one resource goes by plain shares.
 * - Debt grows only where a project is likely to supply jobs and is not backed off: a project
 *   that is empty for a while is owed nothing meanwhile, but counts again as soon as it may be
 *   asked.
 * - What is owed is the share times the interval, less what was used.
 * - The back-off of a resource doubles when that resource was asked for in vain, also if the
 *   reply had jobs for others. Otherwise a request for two resources that always brings jobs of
 *   one would never be backed off for the other.
 * - A project is contacted when its minimum RPC time and the shortest back-off of a lacking
 *   resource are over, and it is asked for the resources whose back-off is over, and no others.
 * - Overworked projects need no rule of their own: who is owed least is asked last. Never to ask
 *   it would idle a resource that it alone serves.
 * - A request for one resource alone has shortfalls of 0 for the others. They are 0 in the
 *   request only; the state keeps them, or a GPU that no project serves would keep idle CPUs from
 *   being filled.
 * - A reply may say of a resource "none now", which leaves the project as it was, or
 *   "unsupported", which means that it has no versions for it, and begins the longest back-off at
 *   once. A server that says nothing of resources counts as one that has no versions, until it
 *   sends a job. */
#include "tools/lab/volunteers/client/fetch.h"

#include "server/base/random.h"
#include "tools/lab/volunteers/client/entitlement.h"

#include <math.h>

#include "server/base/banned.h"

static bool is_backed_off(const struct fetch_project *project, size_t resource, double now)
{
    return project->accounts[resource].backoff_end > now;
}

void fetch_init(struct fetch_host *host, double now)
{
    for (size_t r = 0; r < host->resource_count; r++) {
        struct fetch_resource *resource = &host->resources[r];
        double shares = 0;

        resource->used = resource->shortfall = resource->idle = 0;
        resource->saturated = INFINITY;
        for (size_t p = 0; p < host->project_count; p++)
            if (!is_backed_off(&host->projects[p], r, now))
                shares += host->projects[p].share;
        for (size_t p = 0; p < host->project_count; p++) {
            struct fetch_account *account = &host->projects[p].accounts[r];

            account->used = account->shortfall = account->queued = 0;
            account->share = shares > 0 && !is_backed_off(&host->projects[p], r, now)
                                 ? host->projects[p].share / shares * resource->count
                                 : 0;
        }
    }
}

void fetch_set_idle(struct fetch_host *host)
{
    for (size_t r = 0; r < host->resource_count; r++)
        host->resources[r].idle = fmax(0, host->resources[r].count - host->resources[r].used);
}

void fetch_accumulate_shortfall(struct fetch_host *host, double interval, double now)
{
    for (size_t r = 0; r < host->resource_count; r++) {
        struct fetch_resource *resource = &host->resources[r];

        resource->shortfall += interval * fmax(0, resource->count - resource->used);
        for (size_t p = 0; p < host->project_count; p++) {
            struct fetch_account *account = &host->projects[p].accounts[r];

            if (!is_backed_off(&host->projects[p], r, now))
                account->shortfall += interval * (account->share - account->used);
        }
    }
}

/* Jobs that are not over, those of coprocessors apart; and how many of them run. */
struct lists {
    struct fetch_job *coprocs, *cpus;
    size_t running;
};

static bool uses_coproc(const struct fetch_host *host, const struct fetch_job *job)
{
    for (size_t r = CLIENT_CPU + 1; r < host->resource_count; r++)
        if (job->uses[r] > 0)
            return true;
    return false;
}

static struct lists list_jobs(const struct fetch_host *host, struct fetch_job *jobs, size_t count)
{
    struct lists lists = {.coprocs = NULL};

    for (size_t i = count; i-- > 0;) {
        struct fetch_job **list = uses_coproc(host, &jobs[i]) ? &lists.coprocs : &lists.cpus;

        jobs[i].simulated_left = jobs[i].left;
        jobs[i].running = false;
        if (jobs[i].left <= 0)
            continue;
        jobs[i].next = *list;
        *list = &jobs[i];
    }
    return lists;
}

static bool fits_coprocs(const struct fetch_host *host, const struct fetch_job *job)
{
    for (size_t r = CLIENT_CPU + 1; r < host->resource_count; r++)
        if (job->uses[r] > 0 &&
            host->resources[r].used + job->uses[r] > host->resources[r].count + 1e-9)
            return false;
    return true;
}

static bool all_coprocs_are_full(const struct fetch_host *host)
{
    for (size_t r = CLIENT_CPU + 1; r < host->resource_count; r++)
        if (host->resources[r].used < host->resources[r].count - 1e-9)
            return false;
    return true;
}

static double start(struct fetch_host *host, struct lists *lists, struct fetch_job *job,
                    double shortest)
{
    job->running = true;
    lists->running++;
    for (size_t r = 0; r < host->resource_count; r++) {
        host->resources[r].used += job->uses[r];
        host->projects[job->project].accounts[r].used += job->uses[r];
    }
    return fmin(shortest, job->simulated_left);
}

/* In their order, as many as fit: a look at those behind ends when everything is taken, so that a
 * step costs about what runs. Of the CPUs that coprocessor jobs use only whole ones are gone.
 * Returns how long the assignment lasts; 0: nothing runs. */
static double assign(struct fetch_host *host, struct lists *lists)
{
    double shortest = INFINITY, cpus_left;

    lists->running = 0;
    for (size_t r = 0; r < host->resource_count; r++) {
        host->resources[r].used = 0;
        for (size_t p = 0; p < host->project_count; p++)
            host->projects[p].accounts[r].used = 0;
    }
    for (struct fetch_job *job = lists->coprocs; job != NULL; job = job->next) {
        job->running = false;
        if (fits_coprocs(host, job))
            shortest = start(host, lists, job, shortest);
        else if (all_coprocs_are_full(host))
            break;
    }
    cpus_left = host->resources[CLIENT_CPU].count - floor(host->resources[CLIENT_CPU].used + 1e-9);
    for (struct fetch_job *job = lists->cpus; job != NULL && cpus_left > 1e-9; job = job->next) {
        job->running = job->uses[CLIENT_CPU] <= cpus_left + 1e-9;
        if (!job->running)
            continue;
        cpus_left -= job->uses[CLIENT_CPU];
        shortest = start(host, lists, job, shortest);
    }
    return isinf(shortest) ? 0 : shortest;
}

/* Lets all that runs run, and takes what is over off the list. */
static void advance(struct lists *lists, struct fetch_job **list, double interval)
{
    while (*list != NULL && lists->running > 0) {
        struct fetch_job *job = *list;

        if (job->running) {
            job->simulated_left =
                job->simulated_left > interval ? job->simulated_left - interval : 0;
            job->running = false;
            lists->running--;
        }
        if (job->simulated_left <= 0)
            *list = job->next;
        else
            list = &job->next;
    }
}

static void note_saturation(struct fetch_host *host, double at)
{
    for (size_t r = 0; r < host->resource_count; r++)
        if (isinf(host->resources[r].saturated) &&
            host->resources[r].used < host->resources[r].count - 1e-6)
            host->resources[r].saturated = at;
}

void fetch_simulate(struct fetch_host *host, struct fetch_job *jobs, size_t job_count,
                    double buffer, double now)
{
    struct lists lists = list_jobs(host, jobs, job_count);

    fetch_init(host, now);
    for (size_t i = 0; i < job_count; i++)
        for (size_t r = 0; r < host->resource_count && jobs[i].left > 0; r++)
            host->projects[jobs[i].project].accounts[r].queued += jobs[i].uses[r];
    for (double at = 0; at < buffer;) {
        double lasts = assign(host, &lists);
        double interval = lasts > 0 ? fmin(lasts, buffer - at) : buffer - at;

        if (at <= 0)
            fetch_set_idle(host);
        note_saturation(host, at);
        fetch_accumulate_shortfall(host, interval, now);
        if (at + interval <= at) /* less than a double can tell */
            break;
        at += interval;
        advance(&lists, &lists.coprocs, interval);
        advance(&lists, &lists.cpus, interval);
    }
    lists = list_jobs(host, jobs, job_count);
    (void)assign(host, &lists);
}

void fetch_accumulate_debt(struct fetch_host *host, const struct fetch_job *jobs, size_t job_count,
                           double interval, double now)
{
    struct entitlement owed[CLIENT_PROJECTS_MAX];
    double flops[CLIENT_RESOURCES], counts[CLIENT_RESOURCES];

    for (size_t r = 0; r < host->resource_count; r++) {
        counts[r] = host->resources[r].count;
        flops[r] = host->resources[r].flops * counts[r];
    }
    for (size_t p = 0; p < host->project_count; p++) {
        owed[p] = (struct entitlement){.share = host->projects[p].share};
        for (size_t r = 0; r < host->resource_count; r++)
            if (host->projects[p].accounts[r].supplies &&
                !is_backed_off(&host->projects[p], r, now))
                owed[p].uses |= 1U << r;
    }
    entitlement_divide(flops, counts, host->resource_count, owed, host->project_count);
    for (size_t r = 0; r < host->resource_count; r++) {
        for (size_t p = 0; p < host->project_count; p++)
            host->projects[p].accounts[r].debt += owed[p].instances[r] * interval;
        for (size_t i = 0; i < job_count; i++)
            if (jobs[i].running)
                host->projects[jobs[i].project].accounts[r].debt -= jobs[i].uses[r] * interval;
    }
}

static double weight(const struct fetch_host *host, size_t resource)
{
    return host->resources[resource].flops / host->resources[CLIENT_CPU].flops;
}

double fetch_overall_debt(const struct fetch_host *host, size_t project)
{
    double debt = 0;

    for (size_t r = 0; r < host->resource_count; r++)
        debt += host->projects[project].accounts[r].debt * weight(host, r);
    return debt;
}

static bool may_ask(const struct fetch_host *host, size_t project, size_t resource, double now)
{
    return !host->projects[project].excluded && host->projects[project].min_rpc_time <= now &&
           !is_backed_off(&host->projects[project], resource, now);
}

size_t fetch_select_project(const struct fetch_host *host, size_t resource, double now)
{
    size_t best = host->project_count;
    double most = -INFINITY;

    for (size_t p = 0; p < host->project_count; p++) {
        double owed = fetch_overall_debt(host, p) +
                      host->projects[p].accounts[resource].shortfall * weight(host, resource);

        if (may_ask(host, p, resource, now) && owed > most) {
            most = owed;
            best = p;
        }
    }
    return best;
}

/* Asks for one resource, or for all that lack something. */
static struct fetch_request make_request(const struct fetch_host *host, size_t project,
                                         size_t resource, bool alone, double now)
{
    struct fetch_request request = {.project = project};

    for (size_t r = 0; r < host->resource_count; r++) {
        if ((alone && r != resource) || !may_ask(host, project, r, now))
            continue;
        request.seconds[r] = host->resources[r].shortfall;
        request.instances[r] = host->resources[r].idle;
        request.scalar = fmax(request.scalar, request.seconds[r]);
    }
    return request;
}

bool fetch_choose(const struct fetch_host *host, double now, struct fetch_request *ret_request)
{
    for (int idle = 1; idle >= 0; idle--)
        /* From the last to the first: coprocessors before the CPU. */
        for (size_t r = host->resource_count; r-- > 0;) {
            const struct fetch_resource *resource = &host->resources[r];
            size_t project;

            if ((idle ? resource->idle : resource->shortfall) <= 0)
                continue;
            project = fetch_select_project(host, r, now);
            if (project == host->project_count)
                continue;
            *ret_request = make_request(host, project, r, idle, now);
            return true;
        }
    return false;
}

bool fetch_add_to_contact(const struct fetch_host *host, size_t project, double now,
                          struct fetch_request *ret_request)
{
    struct fetch_request request = {.project = project};
    bool any = false;

    for (size_t r = 0; r < host->resource_count; r++) {
        if (host->resources[r].shortfall <= 0 || fetch_select_project(host, r, now) != project)
            continue;
        request.seconds[r] = host->resources[r].shortfall;
        request.instances[r] = host->resources[r].idle;
        request.scalar = fmax(request.scalar, request.seconds[r]);
        any = true;
    }
    *ret_request = request;
    return any;
}

double fetch_next_contact(const struct fetch_host *host, size_t project)
{
    double least = INFINITY;

    for (size_t r = 0; r < host->resource_count; r++)
        if (host->resources[r].idle > 0 || host->resources[r].shortfall > 0)
            least = fmin(least, host->projects[project].accounts[r].backoff_end);
    return fmax(least, host->projects[project].min_rpc_time);
}

static void back_off(struct fetch_account *account, double interval, double now,
                     struct random *random)
{
    account->backoff = fmin(fmax(interval, FETCH_BACKOFF_MIN), FETCH_BACKOFF_MAX);
    account->backoff_end = now + account->backoff * (0.5 + random_unit(random) / 2);
}

void fetch_handle_reply(struct fetch_host *host, const struct fetch_request *request,
                        const enum fetch_answer answers[CLIENT_RESOURCES], double now,
                        struct random *random)
{
    for (size_t r = 0; r < host->resource_count; r++) {
        struct fetch_account *account = &host->projects[request->project].accounts[r];
        bool was_asked = request->seconds[r] > 0 || request->instances[r] > 0;

        if (answers[r] == FETCH_SENT) {
            account->supplies = true;
            account->backoff = account->backoff_end = 0;
            continue;
        }
        if (answers[r] == FETCH_UNSUPPORTED) {
            account->supplies = false;
            back_off(account, FETCH_BACKOFF_MAX, now, random);
        } else if (was_asked) {
            if (answers[r] == FETCH_SILENCE)
                account->supplies = false;
            back_off(account, account->backoff * 2, now, random);
        }
    }
}
