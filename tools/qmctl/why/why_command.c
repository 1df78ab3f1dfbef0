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
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/marked.h"
#include "server/rpc/request.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/why/why_parts.h"

#include <inttypes.h>

#include "server/base/banned.h"

/* --- the host --------------------------------------------------------------------------------- */

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

static enum status ask(struct question *question)
{
    struct host_row host;
    struct user_row user;
    enum status status = find_host(question, &host, &user);

    if (status == STATUS_OK)
        status = why_host(question, &host, &user);
    if (status != STATUS_OK)
        return status;
    return session_db_failed(question->session,
                             db_admin_assigned_jobs(question->session->db, host.id, user.id,
                                                    user.teamid, &question->assigned),
                             "assigned jobs");
}

/* Here people read them, and no Manager. */
static void unmark_messages(struct question *question)
{
    struct answer *answer = &question->request.attempt.answer;

    for (size_t i = 0; i < answer->message_count; i++)
        answer->messages[i].text = marked_plain(question->session->arena, answer->messages[i].text);
}

/* --- the command ------------------------------------------------------------------------------ */

enum exit_code command_why(struct session *session)
{
    struct question *question;
    enum exit_code code = EXIT_FAILED;
    enum status status = STATUS_NO_MEMORY;

    if (option_given(session, "jobs") || option_given(session, "job"))
        return why_jobs_print(session);
    if (session->argument_count == 0)
        return usage_failed(session, "why needs the number of a host, --job NAME or --jobs");
    question = ARENA_NEW(session->arena, struct question);
    if (question == NULL)
        return session_failed(session);
    question->session = session;
    question->each = option_given(session, "each");
    status = why_begin(question);
    if (status == STATUS_OK)
        status = ask(question);
    if (status == STATUS_OK)
        status = why_judge(question);
    if (status == STATUS_OK)
        unmark_messages(question);
    code = status == STATUS_OK ? why_print(question) : session_failed(session);
    why_end(question);
    return code;
}
