/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl check-config: prints what project_check finds, and whether uploads arrive, which only a
 * tool asks: the server speaks to nobody. */
#include "server/base/arena.h"
#include "server/check/project_check.h"
#include "tools/qmctl/check/upload_check.h"
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

enum exit_code command_check_config(struct session *session)
{
    static const char *const titles[] = {"severity", "topic", "words"};
    struct printed printed = {.session = session,
                              .table = TABLE_BEGIN(session, "findings", titles)};

    project_check(session->project,
                  option_given(session, "no-db") ? CHECK_NO_DATABASE : CHECK_DATABASE, print_found,
                  &printed);
    if (!option_given(session, "no-web") && printed.counts.errors[TOPIC_config] == 0 &&
        session_config(session) == STATUS_OK) {
        struct text problem = upload_templates_problem(session);

        if (problem.length > 0)
            print_found(&printed,
                        &(const struct check_finding){CHECK_WARNING, TOPIC_uploads,
                                                      text_string(session->arena, problem)});
    }
    if (session->form == FORM_TEXT)
        check_print_counts(stdout, &printed.counts);
    else
        table_print(&printed.table);
    return printed.counts.error_count == 0 ? EXIT_DONE : EXIT_FAILED;
}
