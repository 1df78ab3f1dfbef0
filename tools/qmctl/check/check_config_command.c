/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl check-config: prints what project_check finds, and whether clients find the project, can
 * download and upload, which only a tool asks: the server speaks to nobody. */
#include "server/base/arena.h"
#include "server/check/project_check.h"
#include "tools/qmctl/check/web_look.h"
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

static void print_problem(struct printed *printed, struct text problem)
{
    const char *words = text_string(printed->session->arena, problem);

    if (problem.length > 0)
        print_found(printed, &(const struct check_finding){CHECK_WARNING, TOPIC_web, words});
}

/* Servers go on showing the last look where this one could not be left for them. */
static bool kept(struct printed *printed, enum status status)
{
    if (status != STATUS_OK)
        printed->session->failure = (struct failure){.status = STATUS_OK};
    return status == STATUS_OK;
}

static void look_at_web(struct printed *printed, bool has_database, bool keeps)
{
    struct web_look look;

    web_look(printed->session, has_database, &look);
    for (size_t i = 0; i < WEB_PAGES; i++)
        print_problem(printed, look.pages[i].problem);
    print_problem(printed, look.uploads);
    if (keeps)
        (void)kept(printed, web_look_keep(printed->session, &look));
}

enum exit_code command_check_config(struct session *session)
{
    static const char *const titles[] = {"severity", "topic", "words"};
    struct printed printed = {.session = session,
                              .table = TABLE_BEGIN(session, "findings", titles)};
    bool has_database, keeps;

    has_database = !option_given(session, "no-db");
    project_check(session->project, has_database ? CHECK_DATABASE : CHECK_NO_DATABASE, print_found,
                  &printed);
    if (printed.counts.errors[TOPIC_config] == 0 && session_config(session) == STATUS_OK) {
        keeps = has_database && kept(&printed, checks_keep(session, &printed.counts));
        if (!option_given(session, "no-web"))
            look_at_web(&printed, has_database, keeps);
    }
    if (session->form == FORM_TEXT)
        check_print_counts(stdout, &printed.counts);
    else
        table_print(&printed.table);
    return printed.counts.error_count == 0 ? EXIT_DONE : EXIT_FAILED;
}
