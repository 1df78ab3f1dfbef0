/* SPDX-License-Identifier: Apache-2.0 */
/* A host asks when its fetch policy wants work, or when something is to be reported, and never
 * before a project's minimum RPC time. Each request reports everything that there is to report to
 * its project, and asks for what the policy would fetch there. Of several schedulers one is tried
 * after the other (contact.h). A master page that is due is read first: without it there is
 * nobody to ask. */
#include "tools/lab/volunteers/host/scheduler_rpc.h"

#include "tools/lab/volunteers/client/duration.h"
#include "tools/lab/volunteers/client/marks.h"
#include "tools/lab/volunteers/client/rpc_session.h"
#include "tools/lab/volunteers/host/contact.h"
#include "tools/lab/volunteers/host/habits.h"
#include "tools/lab/volunteers/host/host_disk.h"
#include "tools/lab/volunteers/host/job_queue.h"
#include "tools/lab/volunteers/host/life.h"
#include "tools/lab/volunteers/host/runtime_estimate.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define POLL         60.0 /* s, at least, from one question to the fetch policy to the next */
#define CONTACTS_MIN 1.0  /* s between contacts to a project that asks for no delay */

static const struct fetch_policy *policy_of(const struct volunteer *volunteer)
{
    return &fetch_policies[volunteer->population->habits.fetch];
}

/* Brings debts up to date. */
static void book_usage(struct volunteer *volunteer)
{
    double interval = volunteer->on_time - volunteer->booked_until;

    if (interval <= 0)
        return;
    for (size_t p = 0; p < volunteer->project_count; p++)
        marks_book(&volunteer->fetch.projects[p], volunteer_unbooked_flops(volunteer, p), interval);
    if (policy_of(volunteer)->book != NULL)
        policy_of(volunteer)->book(volunteer, interval);
    volunteer->booked_until = volunteer->on_time;
    for (size_t p = 0; p < volunteer->project_count; p++)
        for (size_t r = 0; r < CLIENT_RESOURCES; r++)
            volunteer->projects[p].used[r] = 0;
}

/* --- the question ------------------------------------------------------------------------- */

static bool grow_one(void **list, size_t *capacity, size_t count, size_t size)
{
    void *grown;

    if (count <= *capacity)
        return true;
    grown = realloc(*list, count * 2 * size);
    if (grown == NULL)
        return false;
    *list = grown;
    *capacity = count * 2;
    return true;
}

static bool grow(struct volunteer_question *question, size_t jobs, size_t files)
{
    void *job_list = question->jobs, *file_list = question->files;
    bool good = grow_one(&job_list, &question->job_capacity, jobs, sizeof(*question->jobs)) &&
                grow_one(&file_list, &question->file_capacity, files, sizeof(*question->files));

    question->jobs = job_list;
    question->files = file_list;
    return good;
}

static void describe_jobs(const struct volunteer *volunteer, struct volunteer_question *question)
{
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        question->jobs[i] = (struct outgoing_job){.name = job->name,
                                                  .version = job->version,
                                                  .deadline = job->deadline,
                                                  .left = estimate_left(volunteer, job),
                                                  .is_own = job->project == question->attached,
                                                  .done = job->done,
                                                  .failed = job->failed,
                                                  .aborted = job->aborted,
                                                  .unstarted_late = job->unstarted_late,
                                                  .elapsed = job->elapsed,
                                                  .cpus = job->cpus,
                                                  .coproc = job->coproc,
                                                  .coprocs = job->coprocs};
    }
    question->outgoing.jobs = question->jobs;
    question->outgoing.job_count = volunteer->job_count;
}

/* Whether the project is fetchable, overworked or latency-limited (client/schedule.h). */
static bool may_have_jobs(const struct volunteer *volunteer, size_t project)
{
    const struct volunteer_project *asked = &volunteer->projects[project];

    return volunteer->fetch.projects[project].min_rpc_time <= volunteer->now ||
           asked->long_debt < -volunteer->population->period ||
           (asked->no_work_deadlines && asked->reply_delay_end > volunteer->now);
}

/* The share of a project among those with jobs, or those that may get some too. */
static double fraction(const struct volunteer *volunteer, size_t project, bool potential)
{
    bool counts[CLIENT_PROJECTS_MAX] = {false};
    double shares = 0;

    for (size_t i = 0; i < volunteer->job_count; i++)
        counts[volunteer->jobs[i].project] |= !volunteer->jobs[i].done;
    for (size_t p = 0; p < volunteer->project_count; p++)
        if (p == project || counts[p] || (potential && may_have_jobs(volunteer, p)))
            shares += volunteer->fetch.projects[p].share;
    return shares > 0 ? volunteer->fetch.projects[project].share / shares : 1;
}

static double share_fraction(const struct volunteer *volunteer, size_t project)
{
    double shares = 0;

    for (size_t p = 0; p < volunteer->project_count; p++)
        shares += volunteer->fetch.projects[p].share;
    return shares > 0 ? volunteer->fetch.projects[project].share / shares : 1;
}

static void describe_host(const struct volunteer *volunteer, struct volunteer_question *question)
{
    const struct volunteer_project *project = &volunteer->projects[question->attached];
    struct outgoing *outgoing = &question->outgoing;

    *outgoing = (struct outgoing){
        .platform =
            volunteer->machine.is_windows ? TEXT("windows_x86_64") : TEXT("x86_64-pc-linux-gnu"),
        .hostid = project->hostid,
        .rpc_seqno = project->rpc_seqno,
        .mark = volunteer->mark,
        .machine = &volunteer->machine,
        .on_fraction = volunteer_on_fraction(volunteer),
        .active_time = volunteer->on_time,
        .share_fraction = share_fraction(volunteer, question->attached),
        .runnable_fraction = fraction(volunteer, question->attached, false),
        .potential_fraction = fraction(volunteer, question->attached, true),
        .correction = project->correction,
        .is_scalar = request_policies[volunteer->population->habits.request].is_scalar,
        .scalar = question->request.scalar,
        .lists_queue = project->full_workload,
        .versions = &project->versions,
    };
    /* A client that asks in one number means wall time in which the project gets its share. In
     * today's requests the same element is the largest of the resources' amounts. */
    if (outgoing->is_scalar)
        outgoing->scalar =
            duration_project_normalize(&(struct duration_availability){outgoing->on_fraction, 1, 1},
                                       outgoing->potential_fraction, question->request.scalar);
    /* Policies count time that the host is on; requests are in wall time, as servers estimate jobs.
     */
    for (size_t r = 0; r < CLIENT_RESOURCES; r++)
        outgoing->demands[r] = (struct outgoing_demand){.seconds = question->request.seconds[r] /
                                                                   outgoing->on_fraction,
                                                        .instances = question->request.instances[r],
                                                        .delay = estimate_busy_delay(volunteer, r)};
}

static void describe_disk(const struct volunteer *volunteer, struct volunteer_question *question)
{
    struct outgoing_disk *disk = &question->outgoing.disk;

    host_disk_tell(volunteer, question->attached, disk);
    disk->files = question->files;
    for (size_t i = 0; i < volunteer->disk.count; i++) {
        const struct disk_file *file = volunteer->disk.files[i];

        if (file->sticky && file->name != NULL && file->project == question->attached)
            question->files[disk->file_count++] =
                (struct outgoing_file){.name = file->name, .bytes = file->bytes};
    }
}

/* The host's project to report to now; project_count: none. */
static size_t due_report(const struct volunteer *volunteer)
{
    size_t p = 0;

    while (p < volunteer->project_count &&
           (volunteer->projects[p].next_report > volunteer->now ||
            volunteer->fetch.projects[p].min_rpc_time > volunteer->now))
        p++;
    return p;
}

/* Every event of the host sets next_poll to now; this is for the case that no event comes first. */
static void poll_later(struct volunteer *volunteer)
{
    double later = fmax(POLL, volunteer->machine.buffer / 2);

    if (volunteer->lacks_work && !volunteer->is_stuck)
        later = fmax(POLL, policy_of(volunteer)->next(volunteer) - volunteer->now);
    volunteer->next_poll = volunteer->now + later;
}

/* Whom to contact, and what to ask for; project_count: nobody. */
static size_t choose_contact(struct volunteer *volunteer, struct fetch_request *ret_request)
{
    bool in_sessions = policy_of(volunteer)->in_sessions;
    size_t project = in_sessions ? volunteer->project_count : contact_due_master(volunteer);

    if (project < volunteer->project_count) {
        *ret_request = (struct fetch_request){.project = project, .reads_master = true};
        return project;
    }
    book_usage(volunteer);
    project = contact_unfinished(volunteer);
    if (project < volunteer->project_count) {
        *ret_request = volunteer->asked;
        ret_request->turn = volunteer->projects[project].contact.turn;
        return project;
    }
    if (volunteer->now >= volunteer->next_poll) {
        if (!volunteer->is_stuck &&
            policy_of(volunteer)->choose(volunteer, POLICY_ANY_PROJECT, ret_request))
            return ret_request->project;
        poll_later(volunteer);
    }
    project = due_report(volunteer);
    if (project == volunteer->project_count)
        return project;
    /* A session may begin with another project; then the report waits for the session's end. */
    if (volunteer->is_stuck || !policy_of(volunteer)->choose(volunteer, project, ret_request))
        *ret_request = (struct fetch_request){.project = project};
    return ret_request->project;
}

bool volunteer_ask(struct volunteer *volunteer, struct volunteer_question *question)
{
    if (!volunteer->is_on || !grow(question, volunteer->job_count, volunteer->disk.count))
        return false;
    question->request = (struct fetch_request){.project = 0};
    question->attached = choose_contact(volunteer, &question->request);
    if (question->attached == volunteer->project_count)
        return false;
    question->project = volunteer->projects[question->attached].which;
    volunteer->asked = question->request;
    if (question->request.reads_master)
        return true;
    question->scheduler = contact_scheduler(volunteer, question->attached, question->request.turn,
                                            policy_of(volunteer)->in_sessions);
    /* A request that one scheduler did not take goes to the next one with the same rpc_seqno. */
    volunteer->projects[question->attached].rpc_seqno += question->request.turn == 0;
    volunteer->tally.rpcs++;
    describe_host(volunteer, question);
    describe_disk(volunteer, question);
    describe_jobs(volunteer, question);
    return true;
}

bool volunteer_wants_work(const struct volunteer_question *question)
{
    for (size_t r = 0; r < CLIENT_RESOURCES; r++)
        if (question->request.seconds[r] > 0 || question->request.instances[r] > 0)
            return true;
    return question->request.scalar > 0;
}

void volunteer_question_free(struct volunteer_question *question)
{
    free(question->jobs);
    free(question->files);
    *question = (struct volunteer_question){.jobs = NULL};
}

/* --- the answer --------------------------------------------------------------------------- */

static void take_failure(struct volunteer *volunteer, const struct volunteer_question *question,
                         bool is_down)
{
    volunteer->tally.failed_rpcs++;
    if (policy_of(volunteer)->hear_nothing != NULL)
        policy_of(volunteer)->hear_nothing(volunteer, question->attached, is_down);
    else
        contact_failed(volunteer, question->attached, is_down);
    volunteer->next_poll = volunteer->now;
}

void volunteer_hear_nothing(struct volunteer *volunteer, const struct volunteer_question *question)
{
    take_failure(volunteer, question, false);
}

void volunteer_hear_master(struct volunteer *volunteer, const struct volunteer_question *question,
                           const uint8_t *schedulers, size_t count)
{
    contact_hear_master(volunteer, question->attached, schedulers, count);
    volunteer->next_poll = volunteer->now;
}

static void set_delay(struct volunteer *volunteer, size_t project, double delay)
{
    double *time = &volunteer->fetch.projects[project].min_rpc_time;

    *time = fmax(*time, volunteer->now + fmax(delay, CONTACTS_MIN));
}

static void take_jobs(struct volunteer *volunteer, const struct volunteer_question *question,
                      const struct incoming *incoming)
{
    struct volunteer_project *project = &volunteer->projects[question->attached];
    enum fetch_answer answers[CLIENT_RESOURCES];
    uint64_t refusals;

    for (size_t r = 0; r < CLIENT_RESOURCES; r++) {
        answers[r] = incoming->answers[r];
        if (answers[r] == FETCH_UNSUPPORTED)
            project->unsupported |= 1U << r;
        else if (answers[r] != FETCH_SILENCE)
            project->unsupported &= ~(1U << r);
    }
    refusals = volunteer->tally.disk_refusals;
    for (size_t i = 0; i < incoming->job_count; i++) {
        answers[incoming->jobs[i].use.coproc] = FETCH_SENT;
        job_queue_receive(volunteer, question->attached, &incoming->jobs[i]);
    }
    volunteer->tally.empty_replies += incoming->job_count == 0 && volunteer_wants_work(question);
    if (policy_of(volunteer)->hear != NULL)
        policy_of(volunteer)->hear(volunteer, &question->request, answers);
    /* A project whose files find no room waits longer each time; else its jobs would come and fail
     * for ever. */
    if (volunteer->tally.disk_refusals > refusals)
        set_delay(volunteer, question->attached,
                  session_backoff(++project->refusals, &volunteer->random));
    else if (incoming->job_count > 0)
        project->refusals = 0;
}

void volunteer_hear(struct volunteer *volunteer, const struct volunteer_question *question,
                    const struct incoming *incoming)
{
    size_t p = question->attached;
    struct volunteer_project *project = &volunteer->projects[p];

    if (incoming->is_down) {
        take_failure(volunteer, question, true);
        set_delay(volunteer, p, incoming->request_delay);
        return;
    }
    contact_succeeded(volunteer, p);
    if (incoming->hostid > 0 && incoming->hostid != project->hostid) {
        project->hostid = incoming->hostid;
        project->rpc_seqno = 0;
    }
    project->full_workload |= incoming->send_full_workload;
    project->no_work_deadlines = incoming->no_work_deadlines;
    project->reply_delay_end = volunteer->now + incoming->request_delay;
    volunteer->tally.deadline_flags += incoming->no_work_deadlines;
    host_disk_obey(volunteer, p, incoming);
    for (size_t i = 0; i < incoming->abort_count; i++)
        job_queue_abort(volunteer, p, incoming->aborts[i].name, incoming->aborts[i].if_not_started);
    job_queue_acknowledge(volunteer, p, incoming->acks, incoming->ack_count);
    host_disk_poll(volunteer);
    take_jobs(volunteer, question, incoming);
    set_delay(volunteer, p, incoming->request_delay);
    if (incoming->next_rpc_delay > 0)
        project->next_report =
            fmin(project->next_report, volunteer->now + incoming->next_rpc_delay);
    volunteer->next_poll = volunteer->now;
    if (volunteer->stale)
        volunteer_choose(volunteer);
}
