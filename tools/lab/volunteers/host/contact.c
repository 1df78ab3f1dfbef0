/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of 2003 try a project's schedulers in the order of its master page; later ones begin with
 * any of them, so that equal servers get equal parts. Both go on with the next at once, with the
 * same request, and count a failure when none is left.
 *
 * Clients of today differ in what they do after ten failures: they count from 0 again, and contact
 * the project at once even if its page names no new scheduler. Here all keep to the older rule. */
#include "tools/lab/volunteers/host/contact.h"

#include "tools/lab/volunteers/client/rpc_session.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define PAUSE 600.0 /* s to the next question, when no project has to be waited for */

/* The rules of sessions count a project's failures for all policies; the minimum RPC time is kept
 * with the fetch policies, so it is copied there and back. */
static struct session_project *lend(struct volunteer *volunteer, size_t project)
{
    struct session_project *session = &volunteer->projects[project].session;

    session->min_rpc_time = volunteer->fetch.projects[project].min_rpc_time;
    return session;
}

static void take_back(struct volunteer *volunteer, size_t project)
{
    volunteer->fetch.projects[project].min_rpc_time =
        volunteer->projects[project].session.min_rpc_time;
}

void contact_attach(struct volunteer *volunteer, size_t project)
{
    struct session_project *session = &volunteer->projects[project].session;

    session->fetch_master = volunteer->population->reads_masters;
    session->scheduler_count = session->fetch_master ? 0 : 1;
}

size_t contact_scheduler(struct volunteer *volunteer, size_t project, size_t turn, bool in_order)
{
    struct contact *contact = &volunteer->projects[project].contact;
    size_t count = volunteer->projects[project].session.scheduler_count;

    if (count == 0)
        return 0;
    if (turn == 0)
        contact->first = count > 1 && !in_order ? random_next(&volunteer->random) % count : 0;
    return contact->schedulers[(contact->first + turn) % count];
}

/* INFINITY: not at all. */
static double master_time(const struct volunteer *volunteer, size_t project)
{
    const struct session_project *session = &volunteer->projects[project].session;

    if (!volunteer->population->reads_masters || !session->fetch_master)
        return INFINITY;
    return session->scheduler_count > 0
               ? volunteer->now
               : fmax(volunteer->fetch.projects[project].min_rpc_time, volunteer->now);
}

size_t contact_due_master(const struct volunteer *volunteer)
{
    size_t p = 0;

    while (p < volunteer->project_count && master_time(volunteer, p) > volunteer->now)
        p++;
    return p;
}

double contact_next_master(const struct volunteer *volunteer)
{
    double next = INFINITY;

    for (size_t p = 0; p < volunteer->project_count; p++)
        next = fmin(next, master_time(volunteer, p));
    return next;
}

size_t contact_unfinished(const struct volunteer *volunteer)
{
    size_t p = 0;

    while (p < volunteer->project_count && volunteer->projects[p].contact.turn == 0)
        p++;
    return p;
}

void contact_succeeded(struct volunteer *volunteer, size_t project)
{
    volunteer->projects[project].session.failures = 0;
    volunteer->projects[project].contact.turn = 0;
}

void contact_failed(struct volunteer *volunteer, size_t project, bool is_down)
{
    struct contact *contact = &volunteer->projects[project].contact;
    struct session_project *session = &volunteer->projects[project].session;

    contact->turn++;
    if (!is_down && contact->turn < session->scheduler_count)
        return;
    contact->turn = 0;
    session_project_failed(lend(volunteer, project), volunteer->now, &volunteer->random);
    take_back(volunteer, project);
}

static bool knows(const struct volunteer_project *project, uint8_t scheduler)
{
    for (size_t i = 0; i < project->session.scheduler_count; i++)
        if (project->contact.schedulers[i] == scheduler)
            return true;
    return false;
}

void contact_hear_master(struct volunteer *volunteer, size_t project, const uint8_t *schedulers,
                         size_t count)
{
    struct volunteer_project *reader = &volunteer->projects[project];
    struct session_project *session = lend(volunteer, project);
    size_t news = 0;

    if (count > CONTACT_SCHEDULERS_MAX)
        count = CONTACT_SCHEDULERS_MAX;
    for (size_t i = 0; i < count; i++)
        news += !knows(reader, schedulers[i]);
    if (count == 0) {
        session_master_failed(session, volunteer->now, &volunteer->random);
    } else {
        session_master_read(session, count, news);
        memcpy(reader->contact.schedulers, schedulers, count * sizeof(schedulers[0]));
    }
    take_back(volunteer, project);
}

/* --- when a project may be asked ------------------------------------------------------------- */

bool contact_is_deferred(const struct volunteer *volunteer, size_t project)
{
    return volunteer->fetch.projects[project].min_rpc_time > volunteer->now;
}

void contact_wait_if_empty(struct volunteer *volunteer, const struct fetch_request *request,
                           const enum fetch_answer answers[CLIENT_RESOURCES])
{
    struct volunteer_project *project = &volunteer->projects[request->project];
    bool any = false;

    for (size_t r = 0; r < CLIENT_RESOURCES; r++)
        any = any || answers[r] == FETCH_SENT;
    if (any)
        project->empties = 0;
    /* A project that has work, but none in time, says itself when to come again. */
    if (any || request->seconds[CLIENT_CPU] <= 0 || project->no_work_deadlines)
        return;
    project->empties++;
    volunteer->fetch.projects[request->project].min_rpc_time =
        volunteer->now + session_backoff(project->empties, &volunteer->random);
}

double contact_next_free(const struct volunteer *volunteer)
{
    double next = INFINITY;

    for (size_t p = 0; p < volunteer->project_count; p++)
        if (contact_is_deferred(volunteer, p))
            next = fmin(next, volunteer->fetch.projects[p].min_rpc_time);
    return isinf(next) ? volunteer->now + PAUSE : next;
}
