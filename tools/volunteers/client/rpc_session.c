/* SPDX-License-Identifier: Apache-2.0 */
/* A get-work session goes from project to project, the most indebted first, until the queue is at
 * its high-water mark; a report session talks to one. With each project it tries one scheduler
 * after the other. At its end the master pages of projects that failed too often are read.
 *
 * Where the old text leaves a choice or contradicts itself:
 * - Its loop asks a project that sends nothing and no delay again, for ever. Here a session
 *   contacts each project once.
 * - It starts reports whatever the minimum RPC time; but that is "the earliest time at which a
 *   scheduling RPC should be done", so it holds for reports too.
 * - It counts nrpc_failures and backs off by min_rpc_failures: one counter is meant.
 * - It asks for the master page in get-work sessions only. A host with enough work would then
 *   never find a project that moved, so reports that fail ask for it too.
 * - It never takes the mark off again. A page is read once for a mark; that it was not there
 *   counts as a failure, so that another tenth failure sets the mark again. Before the first page
 *   was read there is nobody else to fail: then the mark stays, and holds when its time has come.
 * - It asks whether the page names new schedulers and not what becomes of those that it names no
 *   more: the set has changed, so they are forgotten.
 * - It does not say whether "the project is down" is an error of the RPC. It is a failure of the
 *   project, but no reason to ask the other schedulers, which would say the same.
 * - It says of each of three reasons that it sets the minimum RPC time. All of them have to be
 * over: a result that fails does not shorten what the project asked for.
 * - The numbers of the back-off are not in it: they are those of all clients since. */
#include "tools/volunteers/client/rpc_session.h"

#include "server/base/random.h"

#include <math.h>

#include "server/base/banned.h"

#define DECAY_TIME            (7 * 86400.0) /* s, for a factor of e */
#define BACKOFF_FIRST         60.0          /* s */
#define BACKOFF_DOUBLINGS_MAX 10

static double decayed(const struct session_project *project, double now)
{
    return project->cpu_average * exp(-fmax(0, now - project->average_time) / DECAY_TIME);
}

void session_account_cpu(struct session_project *project, double cpu_time, double now)
{
    project->cpu_average = decayed(project, now) + cpu_time;
    project->average_time = now;
}

double session_debt(const struct session_project *project, double now)
{
    double average = decayed(project, now);

    if (project->share <= 0)
        return 0;
    return average > 0 ? project->share / average : INFINITY;
}

double session_backoff(unsigned failures, struct random *random)
{
    int doublings = failures < BACKOFF_DOUBLINGS_MAX ? (int)failures : BACKOFF_DOUBLINGS_MAX;
    double longest = fmin(ldexp(BACKOFF_FIRST, doublings), SESSION_BACKOFF_MAX);

    return longest * (0.5 + random_unit(random) / 2);
}

static void count_failure(struct session_project *project, double now, struct random *random)
{
    project->failures++;
    project->min_rpc_time =
        fmax(project->min_rpc_time, now + session_backoff(project->failures, random));
}

void session_computation_failed(struct session_project *project, double now, struct random *random)
{
    count_failure(project, now, random);
}

void session_project_failed(struct session_project *project, double now, struct random *random)
{
    count_failure(project, now, random);
    if (project->failures % SESSION_MASTER_PERIOD == 0)
        project->fetch_master = true;
}

bool session_master_is_due(const struct session_project *project, double now)
{
    return project->fetch_master && (project->scheduler_count > 0 || project->min_rpc_time <= now);
}

static bool may_contact(const struct session_project *project, double now)
{
    return project->min_rpc_time <= now && project->scheduler_count > 0;
}

void session_poll(struct rpc_session *session, struct session_project *projects, size_t count,
                  const struct session_queue *queue, double now)
{
    if (session->kind != SESSION_NONE)
        return;
    *session = (struct rpc_session){.kind = SESSION_NONE};
    for (size_t p = 0; p < count; p++)
        projects[p].contacted = false;
    if (queue->estimated < queue->low) {
        session->kind = SESSION_GET_WORK;
        return;
    }
    for (size_t p = 0; p < count; p++)
        if (projects[p].has_overdue_results && may_contact(&projects[p], now)) {
            *session = (struct rpc_session){.kind = SESSION_REPORT, .talking = true, .project = p};
            return;
        }
}

/* The project to get work from; `count` if there is none. */
static size_t choose_project(const struct session_project *projects, size_t count, double now)
{
    size_t best = count;

    for (size_t p = 0; p < count; p++)
        if (!projects[p].contacted && may_contact(&projects[p], now) &&
            (best == count || session_debt(&projects[p], now) > session_debt(&projects[best], now)))
            best = p;
    return best;
}

static bool has_greatest_debt(const struct session_project *projects, size_t count, size_t project,
                              double now)
{
    for (size_t p = 0; p < count; p++)
        if (session_debt(&projects[p], now) > session_debt(&projects[project], now))
            return false;
    return true;
}

static struct session_step finish(struct rpc_session *session, struct session_project *projects,
                                  size_t count, double now)
{
    session->over = true;
    for (size_t p = 0; p < count; p++)
        if (session_master_is_due(&projects[p], now)) {
            projects[p].fetch_master = false;
            return (struct session_step){.action = SESSION_READ_MASTER, .project = p};
        }
    session->kind = SESSION_NONE;
    return (struct session_step){.action = SESSION_OVER};
}

struct session_step session_next(struct rpc_session *session, struct session_project *projects,
                                 size_t count, const struct session_queue *queue, double now)
{
    double lacking = fmax(0, queue->high - queue->estimated);

    if (session->kind == SESSION_NONE)
        return (struct session_step){.action = SESSION_OVER};
    if (!session->over && !session->talking && session->kind == SESSION_GET_WORK && lacking > 0) {
        size_t best = choose_project(projects, count, now);

        if (best < count) {
            session->talking = true;
            session->project = best;
            session->url = 0;
        }
    }
    if (session->over || !session->talking)
        return finish(session, projects, count, now);
    projects[session->project].contacted = true;
    if (session->kind == SESSION_REPORT &&
        !has_greatest_debt(projects, count, session->project, now))
        lacking = 0;
    return (struct session_step){.action = SESSION_RPC,
                                 .project = session->project,
                                 .url = session->url,
                                 .work_request = lacking};
}

static void stop_talking(struct rpc_session *session)
{
    session->talking = false;
    session->over = session->over || session->kind == SESSION_REPORT;
}

void session_rpc_succeeded(struct rpc_session *session, struct session_project *projects,
                           double request_delay, double now)
{
    struct session_project *project = &projects[session->project];

    project->failures = 0;
    project->min_rpc_time = request_delay > 0 ? now + request_delay : 0;
    stop_talking(session);
}

void session_rpc_failed(struct rpc_session *session, struct session_project *projects, double now,
                        struct random *random)
{
    struct session_project *project = &projects[session->project];

    session->url++;
    if (session->url < project->scheduler_count)
        return;
    session_project_failed(project, now, random);
    stop_talking(session);
}

void session_project_is_down(struct rpc_session *session, struct session_project *projects,
                             double now, struct random *random)
{
    session_project_failed(&projects[session->project], now, random);
    stop_talking(session);
}

void session_master_read(struct session_project *project, size_t schedulers, size_t new_schedulers)
{
    project->fetch_master = false;
    project->scheduler_count = schedulers;
    if (new_schedulers == 0)
        return;
    project->failures = 0;
    project->min_rpc_time = 0;
}

void session_master_failed(struct session_project *project, double now, struct random *random)
{
    count_failure(project, now, random);
    project->fetch_master = project->scheduler_count == 0;
}
