/* SPDX-License-Identifier: Apache-2.0 */
/* A host with a client of 2003, which fetches and reports in sessions of RPCs
 * (client/rpc_session.h). The high-water mark is the buffer, the low one half of it. Where there
 * are no master pages, each project has one scheduler, and reading its page would name no other. */
#include "tools/lab/volunteers/host/contact.h"
#include "tools/lab/volunteers/host/policy.h"
#include "tools/lab/volunteers/host/runtime_estimate.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

static struct session_queue measure(const struct volunteer *volunteer)
{
    double high = volunteer->machine.buffer * volunteer_on_fraction(volunteer) *
                  volunteer->fetch.resources[CLIENT_CPU].count;
    struct session_queue queue = {.low = high / 2, .high = high};

    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        if (!job->done && job->coproc == CLIENT_CPU)
            queue.estimated += estimate_left(volunteer, job) * job->cpus;
    }
    return queue;
}

/* The rules of sessions take all projects as one array. `reporting`: the one whose results are
 * overdue. */
static void borrow(const struct volunteer *volunteer, size_t reporting,
                   struct session_project projects[CLIENT_PROJECTS_MAX])
{
    for (size_t p = 0; p < volunteer->project_count; p++) {
        projects[p] = volunteer->projects[p].session;
        projects[p].share = volunteer->fetch.projects[p].share;
        projects[p].min_rpc_time = volunteer->fetch.projects[p].min_rpc_time;
        projects[p].has_overdue_results = p == reporting;
    }
}

static void give_back(struct volunteer *volunteer,
                      const struct session_project projects[CLIENT_PROJECTS_MAX])
{
    for (size_t p = 0; p < volunteer->project_count; p++) {
        volunteer->projects[p].session = projects[p];
        volunteer->fetch.projects[p].min_rpc_time = projects[p].min_rpc_time;
    }
}

/* When a session ends, the next may begin at once: master pages have been read by then. */
static struct session_step next_step(struct volunteer *volunteer,
                                     struct session_project projects[CLIENT_PROJECTS_MAX],
                                     const struct session_queue *queue)
{
    struct rpc_session *session = &volunteer->session;
    struct session_step step = {.action = SESSION_OVER};

    for (int left = session->kind == SESSION_NONE ? 1 : 2; left > 0 && step.action == SESSION_OVER;
         left--) {
        session_poll(session, projects, volunteer->project_count, queue, volunteer->now);
        do {
            step = session_next(session, projects, volunteer->project_count, queue, volunteer->now);
        } while (step.action == SESSION_READ_MASTER && !volunteer->population->reads_masters);
    }
    return step;
}

bool fetch_by_sessions(struct volunteer *volunteer, size_t project,
                       struct fetch_request *ret_request)
{
    struct session_project projects[CLIENT_PROJECTS_MAX];
    struct session_queue queue = measure(volunteer);
    struct session_step step;

    volunteer->lacks_work = queue.estimated < queue.low;
    if (volunteer->job_count >= VOLUNTEER_JOBS_MAX)
        return false;
    /* A session for work ends before one to report begins. */
    if (project != POLICY_ANY_PROJECT && volunteer->session.kind != SESSION_NONE)
        return false;
    borrow(volunteer, project, projects);
    step = next_step(volunteer, projects, &queue);
    give_back(volunteer, projects);
    if (step.action == SESSION_OVER)
        return false;
    *ret_request = (struct fetch_request){.project = step.project,
                                          .reads_master = step.action == SESSION_READ_MASTER,
                                          .turn = step.url,
                                          .scalar = step.work_request};
    ret_request->seconds[CLIENT_CPU] = step.work_request;
    return true;
}

static bool is_talking_to(const struct volunteer *volunteer, size_t project)
{
    return volunteer->session.talking && volunteer->session.project == project;
}

void fetch_by_sessions_hear(struct volunteer *volunteer, const struct fetch_request *request,
                            const enum fetch_answer answers[CLIENT_RESOURCES])
{
    struct session_project projects[CLIENT_PROJECTS_MAX];

    contact_wait_if_empty(volunteer, request, answers);
    if (!is_talking_to(volunteer, request->project))
        return;
    borrow(volunteer, POLICY_ANY_PROJECT, projects);
    session_rpc_succeeded(&volunteer->session, projects,
                          volunteer->fetch.projects[request->project].min_rpc_time - volunteer->now,
                          volunteer->now);
    give_back(volunteer, projects);
}

void fetch_by_sessions_hear_nothing(struct volunteer *volunteer, size_t project, bool is_down)
{
    struct session_project projects[CLIENT_PROJECTS_MAX];

    /* A report outside of a session does not try the other schedulers. */
    if (!is_talking_to(volunteer, project)) {
        contact_failed(volunteer, project, true);
        return;
    }
    borrow(volunteer, POLICY_ANY_PROJECT, projects);
    if (is_down)
        session_project_is_down(&volunteer->session, projects, volunteer->now, &volunteer->random);
    else
        session_rpc_failed(&volunteer->session, projects, volunteer->now, &volunteer->random);
    give_back(volunteer, projects);
}

void fetch_by_sessions_job_over(struct volunteer *volunteer, const struct volunteer_job *job)
{
    struct session_project projects[CLIENT_PROJECTS_MAX];
    size_t project = job->project;
    unsigned failures;

    if (!job->failed)
        return;
    borrow(volunteer, POLICY_ANY_PROJECT, projects);
    /* Failed jobs and failed RPCs are counted apart: an RPC that succeeds ends the count of RPCs,
     * and with one count for both, a project whose jobs all fail would never wait longer. */
    failures = projects[project].failures;
    projects[project].failures = volunteer->projects[project].failed_jobs - 1;
    session_computation_failed(&projects[project], volunteer->now, &volunteer->random);
    projects[project].failures = failures;
    give_back(volunteer, projects);
}

void fetch_by_sessions_book(struct volunteer *volunteer, double interval)
{
    (void)interval;
    for (size_t p = 0; p < volunteer->project_count; p++)
        if (volunteer->projects[p].used[CLIENT_CPU] > 0)
            session_account_cpu(&volunteer->projects[p].session,
                                volunteer->projects[p].used[CLIENT_CPU], volunteer->now);
}
