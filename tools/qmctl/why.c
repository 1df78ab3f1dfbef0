/* SPDX-License-Identifier: Apache-2.0 */
/* Why a host gets no jobs, or which it would get. The question is put to the server's own code: the
 * steps parse, screen and authenticate read a request, the view and the funnel of checks judge each
 * class of unsent jobs, and the rules that a claim looks at under lock judge what is left. Nothing
 * is written: the connection refuses it, locks no rows, and is rolled back.
 *
 * What is not asked: reports of the request are not booked and lost jobs are not sent again before;
 * jobs assigned to hosts count as reserved, even for their host; files are not deleted for disk
 * space; jobs of a class are taken to be alike in what their documents say. */
#include "config/config.h"
#include "db/admin.h"
#include "server/answer.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/catalog.h"
#include "server/project.h"
#include "server/request.h"
#include "server/select/claim.h"
#include "server/select/queue.h"
#include "server/select/view.h"
#include "tools/qmctl/commands.h"
#include "tools/qmctl/output.h"
#include "tools/qmctl/why_request.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

#define REQUEST_BYTES_MAX ((size_t)64 << 20)

/* How one class of jobs fares on one resource, or several classes that fare alike. */
struct verdict {
    const struct app_row *app;
    struct text app_name;
    size_t resource;
    int64_t jobs;
    bool may_be_sent;
    struct refusal refusal; /* the nearest to being none */
    const struct version_option *option;
    double wall_time;
};

struct question {
    struct session *session;
    struct request request;
    struct host_view view;
    struct tally tally;
    struct assumptions assumptions;
    struct job_class *classes;
    size_t class_count;
    struct verdict *verdicts;
    size_t verdict_count;
    bool each; /* classes are not put together */
};

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
    if (status != STATUS_OK)
        return status;
    if (!view_make(request, &question->view))
        return fail(&question->session->failure, STATUS_NO_MEMORY, "no memory");
    status = queue_read(request, &question->view);
    if (status != STATUS_OK)
        return session_db_failed(question->session, status, "the host's queue");
    if (!tally_begin(&question->view, request->arena, (size_t)question->view.limits.reply,
                     &question->tally))
        return fail(&question->session->failure, STATUS_NO_MEMORY, "no memory");
    return STATUS_OK;
}

/* --- classes of jobs ----------------------------------------------------------------------------
 */

static enum status read_classes(struct question *question)
{
    struct session *session = question->session;
    const struct config *config = session->config;
    const char *app_name = option_value(session, "app");
    int64_t most = 5000;
    struct job_class_filter filter = {
        .userid = config->one_result_per_user_per_wu ? question->view.userid : 0,
        .hostid = config->one_result_per_host_per_wu ? question->view.host->id : 0,
        .by_batch = config->user_filter,
    };
    enum status status = option_number(session, "most", 1, 1000000, &most);

    if (app_name != NULL) {
        const struct app_row *app =
            catalog_app_by_name(question->request.catalog, text_from(app_name));
        if (app == NULL)
            return fail(&session->failure, STATUS_NOT_FOUND, "there is no application \"%s\"",
                        app_name);
        filter.appid = app->id;
    }
    filter.most = (size_t)most;
    if (status == STATUS_OK)
        status = session_db_failed(session,
                                   db_admin_job_classes(session->db, session->arena, &filter,
                                                        &question->classes, &question->class_count),
                                   "unsent jobs");
    if (status == STATUS_OK && question->class_count == filter.most)
        assume(session, &question->assumptions,
               "no classes of jobs beyond the first %zu (--most N)", filter.most);
    return status;
}

static void judge(const struct question *question, const struct job_class *class, size_t resource,
                  struct verdict *ret_verdict)
{
    const struct host_view *view = &question->view;
    const struct workunit_row *workunit = &class->job.workunit;
    const struct app_row *app = catalog_app(question->request.catalog, class->job.appid);
    struct job job = {.resultid = class->job.resultid,
                      .priority = class->job.priority,
                      .workunit = workunit,
                      .app = app};
    struct locked_workunit locked = {.id = workunit->id,
                                     .hr_class = workunit->hr_class,
                                     .app_version_id = workunit->app_version_id,
                                     .error_mask = workunit->error_mask,
                                     .canonical_resultid = workunit->canonical_resultid,
                                     .results_of_user = class->user_has_one,
                                     .results_of_host = class->host_has_one};
    bool is_always_on = app != NULL && app->non_cpu_intensive != 0;
    enum reason reason;

    *ret_verdict = (struct verdict){.app = app,
                                    .app_name = app != NULL ? app->name : TEXT("?"),
                                    .resource = resource,
                                    .jobs = class->count};
    if (resource_is_closed(view, &question->tally, resource, &ret_verdict->refusal) ||
        !job_check(view, &question->tally, is_always_on ? CHECK_ALWAYS_ON : CHECK_NEW, resource,
                   &job, &ret_verdict->refusal) ||
        app == NULL) { /* which the check refuses */
        ret_verdict->option = job.option;
        return;
    }
    ret_verdict->option = job.option;
    ret_verdict->wall_time = job.use.wall_time;
    reason = claim_judge(view, &job, &locked);
    ret_verdict->may_be_sent = reason == REASON_COUNT;
    if (!ret_verdict->may_be_sent)
        ret_verdict->refusal = (struct refusal){.reason = reason, .name = app->user_friendly_name};
}

static bool are_alike(const struct verdict *a, const struct verdict *b)
{
    return a->app == b->app && a->resource == b->resource && a->may_be_sent == b->may_be_sent &&
           a->option == b->option &&
           (a->may_be_sent || (a->refusal.reason == b->refusal.reason &&
                               text_equal(a->refusal.name, b->refusal.name)));
}

static double excess(const struct refusal *refusal)
{
    double distance = refusal->need - refusal->have;

    return distance < 0 ? -distance : distance;
}

/* Of those that fare alike the one that came nearest to being sent stands for all. */
static void add_verdict(struct question *question, const struct verdict *verdict)
{
    for (size_t i = 0; i < question->verdict_count && !question->each; i++) {
        struct verdict *known = &question->verdicts[i];

        if (!are_alike(known, verdict))
            continue;
        known->jobs += verdict->jobs;
        if (excess(&verdict->refusal) < excess(&known->refusal))
            known->refusal = verdict->refusal;
        return;
    }
    question->verdicts[question->verdict_count++] = *verdict;
}

static enum status judge_classes(struct question *question)
{
    const struct amounts *asked = &question->view.asked;

    question->verdicts = ARENA_ARRAY(question->session->arena,
                                     question->class_count * asked->resource_count, struct verdict);
    if (question->verdicts == NULL)
        return fail(&question->session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < question->class_count; i++)
        for (size_t resource = 0; resource < asked->resource_count; resource++) {
            struct verdict verdict;

            if (!amounts_wants(asked, resource))
                continue;
            judge(question, &question->classes[i], resource, &verdict);
            add_verdict(question, &verdict);
        }
    return STATUS_OK;
}

/* --- output --------------------------------------------------------------------------------------
 */

static bool host_is_refused(const struct question *question)
{
    const struct request *request = &question->request;

    return request->work_forbidden || request->visit.work_refused ||
           request->message.dont_send_work || request->visit.answer.kind != ANSWER_FULL;
}

static struct text version_words(struct arena *arena, const struct version_option *option)
{
    if (option == NULL)
        return TEXT("-");
    if (option->version == NULL)
        return TEXT("the client's own");
    return text_print(arena, "%" PRId64 ": %" PRId64 ".%02" PRId64 " " TEXT_FORMAT "%s" TEXT_FORMAT,
                      option->version->id, option->version->version_num / 100,
                      option->version->version_num % 100, TEXT_ARG(option->platform),
                      option->version->plan_class.length > 0 ? " " : "",
                      TEXT_ARG(option->version->plan_class));
}

static void print_head(const struct question *question)
{
    const struct answer *answer = &question->request.visit.answer;

    for (size_t i = 0; i < question->assumptions.count; i++)
        printf("assumed: " TEXT_FORMAT "\n", TEXT_ARG(question->assumptions.lines[i]));
    for (size_t i = 0; i < answer->message_count; i++)
        printf("the host is told: " TEXT_FORMAT "\n", TEXT_ARG(answer->messages[i].text));
    if (answer->request_delay > 0)
        printf("and to come again after %.0f s\n", answer->request_delay);
    putchar('\n');
}

/* What stands against every job, whatever it is. */
static void add_refused_host(const struct question *question, struct output_table *table)
{
    const struct request *request = &question->request;
    const struct answer *answer = &request->visit.answer;

    table_text(table, TEXT("*"));
    table_text(table, TEXT("*"));
    table_number(table, 0);
    table_text(table, TEXT("no"));
    table_text(table, request->message.dont_send_work ? TEXT("dont_send_work")
                      : answer->first_reason != NULL  ? text_from(answer->first_reason)
                                                      : TEXT("host"));
    table_text(table, TEXT("-"));
    table_words(table, request->message.dont_send_work ? TEXT("The client asked for no work")
                       : answer->message_count > 0
                           ? answer->messages[answer->message_count - 1].text
                           : TEXT("-"));
}

static void print_table(const struct question *question)
{
    static const char *const titles[] = {"app",    "resource", "jobs", "sent",
                                         "reason", "version",  "why"};
    struct session *session = question->session;
    struct output_table table = TABLE_BEGIN(session, titles);

    if (host_is_refused(question))
        add_refused_host(question, &table);
    for (size_t i = 0; i < question->verdict_count; i++) {
        const struct verdict *verdict = &question->verdicts[i];

        table_text(&table, verdict->app_name);
        table_text(&table, question->view.asked.resources[verdict->resource].type);
        table_number(&table, verdict->jobs);
        table_text(&table, !verdict->may_be_sent       ? TEXT("no")
                           : host_is_refused(question) ? TEXT("otherwise")
                                                       : TEXT("may be"));
        table_text(&table, verdict->may_be_sent ? TEXT("-")
                                                : text_from(reason_word(verdict->refusal.reason)));
        table_text(&table, version_words(session->arena, verdict->option));
        table_words(&table, verdict->may_be_sent
                                ? text_print(session->arena, "It would take %.2f hours",
                                             verdict->wall_time / 3600)
                                : reason_explain(session->arena, &verdict->refusal));
    }
    if (question->verdict_count == 0 && !host_is_refused(question)) {
        for (size_t i = 0; i < 2; i++)
            table_text(&table, TEXT("*"));
        table_number(&table, 0);
        table_text(&table, TEXT("no"));
        bool has_jobs = question->class_count > 0;
        table_text(&table, has_jobs ? TEXT("no_request") : text_from(reason_word(REASON_NO_JOBS)));
        table_text(&table, TEXT("-"));
        table_words(&table, has_jobs ? TEXT("The request asks for no work")
                                     : TEXT("There are no unsent jobs"));
    }
    table_print(&table);
}

static enum exit_code print_answer(const struct question *question)
{
    bool some = false;

    if (question->session->form == FORM_TEXT)
        print_head(question);
    print_table(question);
    for (size_t i = 0; i < question->verdict_count; i++)
        some = some || question->verdicts[i].may_be_sent;
    return some && !host_is_refused(question) ? EXIT_DONE : EXIT_NOTHING;
}

/* --- the command ---------------------------------------------------------------------------------
 */

static enum status prepare(struct question *question, struct project **ret_project,
                           struct catalog **ret_catalog)
{
    struct session *session = question->session;
    enum status status = session_db(session);

    if (status == STATUS_OK)
        status = project_load(session->config, ret_project, &session->failure);
    if (status == STATUS_OK)
        status = session_db_failed(session, db_look_only(session->db), "database");
    if (status == STATUS_OK)
        status = session_db_failed(session, catalog_load(session->db, ret_catalog), "catalog");
    if (status != STATUS_OK)
        return status;
    question->request = (struct request){.config = session->config,
                                         .catalog = *ret_catalog,
                                         .keys = &(*ret_project)->keys,
                                         .plan_classes = &(*ret_project)->plan_classes,
                                         .blocks = &(*ret_project)->blocks,
                                         .db = session->db,
                                         .arena = session->arena,
                                         .now = (double)session->now,
                                         .seed = (uint64_t)session->now,
                                         .only_looks = true};
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
        status = read_classes(question);
    if (status == STATUS_OK)
        status = judge_classes(question);
    code = status == STATUS_OK ? print_answer(question) : session_failed(session);
    if (session->db != NULL)
        (void)db_rollback(session->db);
    catalog_release(catalog);
    project_release(project);
    return code;
}
