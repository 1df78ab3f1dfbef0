/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl check-config: prints what project_check finds, and whether uploads arrive, which only a
 * tool asks: the server speaks to nobody. */
#include "server/base/arena.h"
#include "server/check/project_check.h"
#include "tools/qmctl/commands.h"
#include "tools/qmctl/upload_check.h"

#include <stdio.h>

#include "server/base/banned.h"

struct counts {
    int errors, warnings;
    bool stops; /* config.xml may not be readable */
};

static void print_found(void *context, enum check_severity severity, const char *text)
{
    struct counts *counts = context;

    counts->stops = counts->stops || severity == CHECK_STOPS;
    printf("%s: %s\n", severity == CHECK_WARNING ? "warning" : "error", text);
    if (severity == CHECK_WARNING)
        counts->warnings++;
    else
        counts->errors++;
}

enum exit_code command_check_config(struct session *session)
{
    struct counts counts = {0};

    project_check(session->arena, session->project, !option_given(session, "no-db"), print_found,
                  &counts);
    if (!option_given(session, "no-web") && !counts.stops && session_config(session) == STATUS_OK) {
        struct text problem = upload_templates_problem(session);
        if (problem.length > 0)
            print_found(&counts, CHECK_WARNING, text_string(session->arena, problem));
    }
    printf("%d errors, %d warnings\n", counts.errors, counts.warnings);
    return counts.errors == 0 ? EXIT_DONE : EXIT_FAILED;
}
