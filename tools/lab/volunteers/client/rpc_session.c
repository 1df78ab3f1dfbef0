/* SPDX-License-Identifier: Apache-2.0 */
/* A get-work session goes from project to project, the most indebted first, until the queue is at
 * its high-water mark; a report session talks to one project. With each project it tries one
 * scheduler after the other. At its end the master pages of projects that failed too often are
 * read.
 *
 * Where BOINC's description of 2003 leaves a choice open, this is what is done here:
 * - A session contacts each project once; else a project that sends nothing and asks for no delay
 *   would be asked for ever.
 * - The minimum RPC time holds for reports too.
 * - One counter of failures in a row decides both the back-off and the reading of the master
 *   page.
 * - Failed reports ask for the master page too. Otherwise a host with enough work would never
 *   find a project that has moved.
 * - A master page is read once for each mark. If it cannot be read, that is one failure more, and
 *   only another tenth failure sets the mark again. Before the first page was read there is no
 *   scheduler that could fail, so the mark stays, and the page is read when the back-off is over.
 * - Schedulers that a new page names no more are forgotten.
 * - "The project is down" is a failure of the project. Its other schedulers are not tried,
 *   because they would say the same.
 * - The minimum RPC time is the latest of all that was asked for: a result that fails does not
 *   shorten a delay that the project named.
 * - The back-off after n failures is up to 60 s * 2^n, at most 4 h, as in all clients since. */
#include "tools/lab/volunteers/client/rpc_session.h"

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
