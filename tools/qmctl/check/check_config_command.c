/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl check-config: prints what project_check finds, and whether clients find the project, can
 * download and upload, which only a tool asks: the server speaks to nobody. */
#include "server/base/arena.h"
#include "server/check/project_check.h"
#include "tools/qmctl/check/upload_check.h"
#include "tools/qmctl/check/web_check.h"
#include "tools/qmctl/check/web_question.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <stdio.h>

#include "server/base/banned.h"

struct printed {
    struct session *session;
    struct output_table table; /* where it is not for people */
    struct check_counts counts;
};

static void print_found(void *context, const struct check_finding *finding)
{
    struct printed *printed = context;
    struct session *session = printed->session;

    check_count(&printed->counts, finding);
    if (session->form == FORM_TEXT) {
        check_print(stdout, finding);
        return;
    }
    table_text(&printed->table, text_from(check_severity_word(finding->severity)));
    table_text(&printed->table, text_from(check_topic_word(finding->topic)));
    table_words(&printed->table, text_copy(session->arena, text_from(finding->text)));
}

static void print_problem(struct printed *printed, enum check_topic topic, struct text problem)
{
    const char *words = text_string(printed->session->arena, problem);

    if (problem.length > 0)
        print_found(printed, &(const struct check_finding){CHECK_WARNING, topic, words});
}

static void look_at_web(struct printed *printed, bool has_database)
{
    struct session *session = printed->session;

    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    print_problem(printed, TOPIC_options, master_page_check(session).problem);
    if (has_database)
        print_problem(printed, TOPIC_versions, download_check(session).problem);
    print_problem(printed, TOPIC_uploads, upload_templates_problem(session));
    curl_global_cleanup();
}

enum exit_code command_check_config(struct session *session)
{
    static const char *const titles[] = {"severity", "topic", "words"};
    struct printed printed = {.session = session,
                              .table = TABLE_BEGIN(session, "findings", titles)};

    project_check(session->project,
                  option_given(session, "no-db") ? CHECK_NO_DATABASE : CHECK_DATABASE, print_found,
                  &printed);
    if (!option_given(session, "no-web") && printed.counts.errors[TOPIC_config] == 0 &&
        session_config(session) == STATUS_OK)
        look_at_web(&printed, !option_given(session, "no-db"));
    if (session->form == FORM_TEXT)
        check_print_counts(stdout, &printed.counts);
    else
        table_print(&printed.table);
    return printed.counts.error_count == 0 ? EXIT_DONE : EXIT_FAILED;
}
