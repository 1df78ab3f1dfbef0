/* SPDX-License-Identifier: Apache-2.0 */
/* Why a host gets no jobs, or which it would get. The question is put to the server's own code: the
 * steps parse, screen and authenticate read a request, view_read collects what select would know of
 * the host, the funnel of checks judges each class of unsent jobs, and the rules that a claim looks
 * at under lock judge what is left. Nothing is written: the connection refuses it, locks no rows,
 * and is rolled back.
 *
 * What is not asked: reports of the request are not booked and lost jobs are not sent again before;
 * jobs assigned to the host are counted, and not judged; files are not deleted for disk space; jobs
 * of a class are taken to be alike in what their documents say. */
#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/base/marked.h"
#include "server/handout/view.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/rpc/request.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/why/why_parts.h"

#include <inttypes.h>
#include <math.h>

#include "server/base/banned.h"

#define REQUEST_BYTES_MAX ((size_t)64 << 20)

/* --- the request ------------------------------------------------------------------------------ */

static enum status find_host(struct question *question, struct host_row *ret_host,
                             struct user_row *ret_user)
{
    struct session *session = question->session;
    struct host_entry *hosts = NULL;
    size_t count = 0;
    int64_t id = 0;

    if (!text_to_i64(text_from(session->arguments[0]), &id) || id <= 0)
        return fail(&session->failure, STATUS_INVALID, "\"%s\" is not the number of a host",
                    session->arguments[0]);
    enum status status = session_db_failed(
        session, db_admin_hosts(session->db, session->arena, id, 0, 1, &hosts, &count), "host");
    if (status == STATUS_OK && count == 0)
        return fail(&session->failure, STATUS_NOT_FOUND, "there is no such host");
    if (status != STATUS_OK)
        return status;
    *ret_host = hosts[0].row;
    if (hosts[0].row.userid == 0)
        return fail(&session->failure, STATUS_NOT_FOUND,
                    "the host was merged into another (host %" PRId64 ")", hosts[0].row.rpc_seqno);
    return session_db_failed(
        session,
        db_admin_user_find(session->db, session->arena, NO_TEXT, hosts[0].row.userid, ret_user),
        "the host's user");
}

static enum status read_request(struct question *question, const struct host_row *host)
{
    struct session *session = question->session;
    const char *path = option_value(session, "request");

    if (path == NULL)
        return why_request_make(session, host, &question->assumptions,
                                &question->request.transport.body);
    assume(session, &question->assumptions,
           "the request is that of the file, but for the host's number and account key");
    return file_read(session->arena, path, REQUEST_BYTES_MAX, &question->request.transport.body,
                     &session->failure);
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
    if (message->result_count > 0)
        assume(question->session, &question->assumptions,
               "the %zu results that the request reports are not booked", message->result_count);
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

static enum status walk(struct question *question)
{
    struct request *request = &question->request;
    struct host_row host;
    struct user_row user;
    bool is_answered = false;
    enum status status = find_host(question, &host, &user);

    if (status == STATUS_OK)
        status = read_request(question, &host);
    if (status == STATUS_OK)
        status = run_step(question, step_parse, &is_answered);
    if (status != STATUS_OK)
        return status;
    sign_request(question, &host, &user);
    status = run_step(question, step_screen, &is_answered);
    request->visit.answer = request->early;
    if (status == STATUS_OK && !is_answered)
        status = run_step(question, step_authenticate, &is_answered);
    if (status == STATUS_OK)
        status = session_db_failed(question->session,
                                   db_admin_assigned_jobs(question->session->db, host.id, user.id,
                                                          user.teamid, &question->assigned),
                                   "assigned jobs");
    if (status != STATUS_OK)
        return status;
    status = view_read(request, VIEW_SELECT, &question->view);
    if (status == STATUS_OK) /* whatever jobs take of memory */
        status = view_read_queue(request, &question->view, INFINITY);
    if (status != STATUS_OK)
        return session_db_failed(question->session, status, "what the host has");
    if (!tally_begin(&question->view, request->arena, (size_t)question->view.limits.reply,
                     &question->tally))
        return fail(&question->session->failure, STATUS_NO_MEMORY, "no memory");
    return STATUS_OK;
}

/* Here people read them, and no Manager. */
static void unmark_messages(struct question *question)
{
    struct answer *answer = &question->request.visit.answer;

    for (size_t i = 0; i < answer->message_count; i++)
        answer->messages[i].text = marked_plain(question->session->arena, answer->messages[i].text);
}

/* --- the command ------------------------------------------------------------------------------ */

static enum status prepare(struct question *question, struct project **ret_project,
                           struct catalog **ret_catalog)
{
    struct session *session = question->session;
    enum status status = session_db(session);

    if (status == STATUS_OK)
        status = project_load(session->config, ret_project, &session->failure);
    if (status == STATUS_OK)
        status = session_db_failed(session, db_read_only(session->db), "database");
    if (status == STATUS_OK)
        status = session_db_failed(session, catalog_load(session->db, ret_catalog), "catalog");
    if (status != STATUS_OK)
        return status;
    question->request =
        (struct request){.config = session->config,
                         .catalog = *ret_catalog,
                         .keys = &(*ret_project)->keys,
                         .plan_classes = &(*ret_project)->plan_classes,
                         .blocks = &(*ret_project)->blocks,
                         .db = session->db,
                         .arena = session->arena,
                         .now = (double)session->now,
                         .seed = (uint64_t)session->now,
                         .stop_work = project_has_file(session->config, "stop_work"),
                         .is_read_only = true};
    return STATUS_OK;
}

enum exit_code command_why(struct session *session)
{
    struct question *question = ARENA_NEW(session->arena, struct question);
    struct project *project = NULL;
    struct catalog *catalog = NULL;
    enum exit_code code = EXIT_FAILED;
    enum status status = STATUS_NO_MEMORY;

    if (question != NULL) {
        question->session = session;
        question->each = option_given(session, "each");
        status = prepare(question, &project, &catalog);
    }
    if (status == STATUS_OK)
        status = walk(question);
    if (status == STATUS_OK)
        status = why_judge(question);
    if (status == STATUS_OK)
        unmark_messages(question);
    code = status == STATUS_OK ? why_print(question) : session_failed(session);
    if (session->db != NULL)
        (void)db_rollback(session->db);
    catalog_release(catalog);
    project_release(project);
    return code;
}
