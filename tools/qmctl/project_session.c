/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration and database are opened when a subcommand first asks for them, so that signing a
 * file needs no database and making a project no configuration. */
#include "tools/qmctl/project_session.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"

#include <stdio.h>

#include "server/base/banned.h"

static void print_findings(const struct config_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].is_error)
            fprintf(stderr, TEXT_FORMAT ":%d: " TEXT_FORMAT "\n", TEXT_ARG(findings->items[i].file),
                    findings->items[i].line, TEXT_ARG(findings->items[i].text));
}

enum status session_config(struct session *session)
{
    struct config_findings findings = {.count = 0};
    if (session->config != NULL)
        return STATUS_OK;
    enum status status = config_load(session->project, session->arena, &session->config, &findings,
                                     &session->failure);
    if (status != STATUS_OK)
        print_findings(&findings);
    return status;
}

enum status session_db(struct session *session)
{
    enum status status = session_config(session);
    if (status != STATUS_OK || session->db != NULL)
        return status;
    return db_admin_open(session->config, &session->db, &session->failure);
}

enum status session_db_failed(struct session *session, enum status status, const char *what)
{
    if (status == STATUS_OK)
        return status;
    const char *reason = session->db == NULL ? "" : db_error(session->db);
    return fail(&session->failure, status, "%s: %s%s%s", what, status_word(status),
                reason[0] == '\0' ? "" : ": ", reason);
}

enum exit_code session_failed(struct session *session)
{
    fprintf(stderr, "qmctl: %s\n",
            session->failure.text[0] == '\0' ? "failed" : session->failure.text);
    return EXIT_FAILED;
}
