/* SPDX-License-Identifier: Apache-2.0 */
/* The answer as a table, a row for the classes that fare alike. What stands against the host as a
 * whole is the first row, and what the others say is then what would be otherwise. */
#include "server/base/shown.h"
#include "tools/qmctl/why/why_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/marked.h"
#include "server/policy/limits/preferences.h"
#include "server/reply/answer.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

static bool host_is_refused(const struct question *question)
{
    const struct request *request = &question->request;

    return request->work_forbidden || request->attempt.work_refused ||
           request->message.dont_send_work || request->attempt.answer.kind != ANSWER_FULL;
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

/* For whom jobs are withheld that are due before the host connects again. */
static void print_connection_rule(const struct question *question)
{
    const struct config *config = question->request.config;
    bool is_strict =
        preferences_connection_rule(config, question->view.client_version) == EDF_MIN_QUEUE_ALWAYS;
    bool is_told = false;

    for (size_t i = 0; i < question->verdict_count && !is_told; i++)
        is_told = question->verdicts[i].refusal.reason == REASON_CONNECTION &&
                  !question->verdicts[i].may_be_sent;
    if (!is_told)
        return;
    shown_line(
        stdout,
        "edf_min_queue: jobs that are due within the %.2f days for which the host stores work are"
        " withheld, %s%s",
        question->view.workload->connection_period / 86400,
        is_strict ? "even while it is idle" : "but for idle processors",
        config->edf_min_queue != EDF_MIN_QUEUE_BY_CLIENT ? ""
        : is_strict                                      ? " (by_client: a client before 7.0)"
                                                         : " (by_client: a client since 7.0)");
}

/* They have no unsent result before the host asks, and are no row of the table. */
static void print_assigned(const struct question *question)
{
    const struct config *config = question->request.config;

    if (question->assigned > 0)
        shown_line(stdout,
                   "not judged here: %" PRId64 " unfinished job%s for this host, its user or its"
                   " team%s",
                   question->assigned, question->assigned == 1 ? "" : "s",
                   config->enable_assignment || config->enable_assignment_multi
                       ? ", which it gets before others"
                       : "; none is sent while enable_assignment is off in config.xml");
}

static void print_head(const struct question *question)
{
    const struct answer *answer = &question->request.attempt.answer;

    for (size_t i = 0; i < question->assumptions.count; i++)
        shown_line(stdout, "assumed: " TEXT_FORMAT, TEXT_ARG(question->assumptions.lines[i]));
    for (size_t i = 0; i < answer->message_count; i++)
        shown_line(stdout, "the host reads: " TEXT_FORMAT, TEXT_ARG(answer->messages[i].text));
    if (answer->request_delay > 0)
        shown_line(stdout, "and to come again after %.0f s", answer->request_delay);
    print_connection_rule(question);
    print_assigned(question);
    putchar('\n');
}

/* A row of no class, but of them all. */
static void add_row_for_all(struct output_table *table, struct text reason, struct text words)
{
    table_text(table, TEXT("*"));
    table_text(table, TEXT("*"));
    table_number(table, 0);
    table_text(table, TEXT("no"));
    table_text(table, reason);
    table_text(table, TEXT("-"));
    table_words(table, words);
}

/* What stands against every job, whatever it is. */
static void add_refused_host(const struct question *question, struct output_table *table)
{
    const struct answer *answer = &question->request.attempt.answer;

    if (question->request.message.dont_send_work)
        add_row_for_all(table, TEXT("dont_send_work"), TEXT("The client asked for no work"));
    else
        add_row_for_all(
            table, answer->reason_count > 0 ? text_from(answer_first_reason(answer)) : TEXT("host"),
            answer->message_count > 0 ? answer->messages[answer->message_count - 1].text
                                      : TEXT("-"));
}

static void print_table(const struct question *question)
{
    static const char *const titles[] = {"app",    "resource", "jobs", "sent",
                                         "reason", "version",  "why"};
    struct session *session = question->session;
    struct output_table table = TABLE_BEGIN(session, "classes of jobs", titles);

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
        table_words(
            &table,
            verdict->may_be_sent
                ? text_print(session->arena, "It would take %.2f hours", verdict->wall_time / 3600)
                : marked_plain(session->arena, reason_explain(session->arena, &verdict->refusal)));
    }
    if (question->verdict_count == 0 && !host_is_refused(question))
        add_row_for_all(&table,
                        question->class_count > 0 ? TEXT("no_request")
                                                  : text_from(reason_word(REASON_NO_JOBS)),
                        question->class_count > 0 ? TEXT("The request asks for no work")
                                                  : TEXT("There are no unsent jobs"));
    table_print(&table);
}

enum exit_code why_print(const struct question *question)
{
    bool some = false;

    if (question->session->form == FORM_TEXT)
        print_head(question);
    print_table(question);
    for (size_t i = 0; i < question->verdict_count; i++)
        some = some || question->verdicts[i].may_be_sent;
    return some && !host_is_refused(question) ? EXIT_DONE : EXIT_NOTHING;
}
