/* SPDX-License-Identifier: Apache-2.0 */
/* A request of a host goes through the server's own steps, up to what the checks look at: as the
 * host is now, or as it would be on an idle day: without jobs, with nothing on its disk, no quota
 * used up and no request just before. */
#include "tools/qmctl/why/why_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/handout/view.h"
#include "server/policy/limits/limits.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/rpc/world.h"

#include <math.h>

#include "server/base/banned.h"

#define REQUEST_BYTES_MAX ((size_t)64 << 20)

enum status why_begin(struct question *question)
{
    struct session *session = question->session;
    enum status status = session_db(session);

    if (status == STATUS_OK)
        status = project_load(session->config, &question->project, &session->failure);
    if (status == STATUS_OK)
        status = session_db_failed(session, db_read_only(session->db), "database");
    if (status == STATUS_OK)
        status =
            session_db_failed(session, catalog_load(session->db, &question->catalog), "catalog");
    if (status == STATUS_OK && session->config->learn_availability)
        status = session_db_failed(
            session, catalog_load_crowd(session->db, CROWD_MOST, question->catalog), "crowd");
    return status;
}

void why_end(struct question *question)
{
    if (question->session->db != NULL)
        (void)db_rollback(question->session->db);
    catalog_release(question->catalog);
    project_release(question->project);
}

/* An idle host has not asked just before, and a drained project is no fault of the host. */
static void begin_request(struct question *question, const struct host_row *host)
{
    struct session *session = question->session;
    double now = (double)session->now;

    if (question->is_idle)
        now = fmax(now, (double)host->rpc_time + session->config->min_sendwork_interval);
    question->request = (struct request){
        .config = session->config,
        .catalog = question->catalog,
        .keys = &question->project->keys,
        .plan_classes = &question->project->plan_classes,
        .buda = &question->project->buda,
        .blocks = &question->project->blocks,
        .db = session->db,
        .world = &database_world,
        .arena = session->arena,
        .now = now,
        .seed = (uint64_t)session->now,
        .stop_work = !question->is_idle && project_has_file(session->config, "stop_work"),
        .is_read_only = true};
}

static enum status read_request(struct question *question, const struct host_row *host)
{
    struct session *session = question->session;
    const char *path = option_value(session, "request");

    if (path == NULL)
        return why_request_make(session, host, question->is_idle, &question->assumptions,
                                &question->request.transport.body);
    assume(session, &question->assumptions,
           "the request is that of the file, but for the host's number and account key");
    return file_read(session->arena, path, REQUEST_BYTES_MAX, &question->request.transport.body,
                     &session->failure);
}

/* As if no project had anything on the disk. A figure of 0 would mean that it is not known. */
static void empty_disk(struct message *message)
{
    if (!(message->d_boinc_used_total > 0) || !message->has_d_free)
        return;
    message->d_free += message->d_boinc_used_total;
    message->d_boinc_used_total = 1;
    message->d_boinc_used_project = 0;
}

/* Whoever sent the request, it is this host's now. */
static void sign_request(struct question *question, const struct host_row *host,
                         const struct user_row *user)
{
    struct message *message = &question->request.message;

    if (option_value(question->session, "request") == NULL)
        why_request_complete(question->session, message);
    message->hostid = host->id;
    message->rpc_seqno = host->rpc_seqno + 1;
    message->authenticator = user->authenticator;
    if (question->is_idle)
        empty_disk(message);
    if (message->result_count > 0)
        assume(question->session, &question->assumptions,
               "what the request reports (" COUNT_FORMAT ") is not booked",
               COUNT_ARG(message->result_count, "result"));
}

static enum status run_step(struct question *question, enum next (*step)(struct request *),
                            bool *ret_is_answered)
{
    struct request *request = &question->request;
    enum next next = step(request);

    *ret_is_answered = next == NEXT_REPLY;
    if (next != NEXT_FAILED)
        return STATUS_OK;
    return fail(&question->session->failure, request->failure.status, "%s", request->failure.text);
}

/* What the checks see of an idle host: its jobs are not read. */
static enum status read_idle(struct question *question)
{
    struct request *request = &question->request;
    struct host_view *view = &question->view;
    enum status status = view_read(request, VIEW_ANSWER, view);

    if (status != STATUS_OK)
        return status;
    view->is_backup = false;
    for (size_t i = 0; i < view->options.count; i++)
        view->options.items[i].daily_limit = LIMIT_NONE;
    request->attempt.plan.queue_needs_rows = false;
    return STATUS_OK;
}

enum status why_host(struct question *question, const struct host_row *host,
                     const struct user_row *user)
{
    struct request *request = &question->request;
    bool is_answered = false;
    enum status status;

    begin_request(question, host);
    status = read_request(question, host);
    if (status == STATUS_OK)
        status = run_step(question, step_parse, &is_answered);
    if (status != STATUS_OK)
        return status;
    sign_request(question, host, user);
    status = run_step(question, step_screen, &is_answered);
    request->attempt.answer = request->early;
    if (status == STATUS_OK && !is_answered)
        status = run_step(question, step_authenticate, &is_answered);
    if (status != STATUS_OK)
        return status;
    status =
        question->is_idle ? read_idle(question) : view_read(request, VIEW_SELECT, &question->view);
    if (status == STATUS_OK) /* whatever jobs take of memory */
        status = view_read_queue(request, &question->view, INFINITY);
    if (status != STATUS_OK)
        return session_db_failed(question->session, status, "what the host has");
    if (!tally_begin(&question->view, request->arena, (size_t)question->view.limits.reply,
                     &question->tally))
        return fail(&question->session->failure, STATUS_NO_MEMORY, "no memory");
    return STATUS_OK;
}
