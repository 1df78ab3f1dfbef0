/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/check/web_look.h"

#include "db/db.h"
#include "db/figure_rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/check/project_check.h"
#include "tools/qmctl/check/upload_check.h"
#include "tools/qmctl/check/web_question.h"
#include "tools/qmctl/session/project_session.h"

#include <time.h>

#include "server/base/banned.h"

const char *web_page_name(enum web_page page)
{
    static const char *const names[WEB_PAGES] = {[WEB_MASTER_PAGE] = "master page",
                                                 [WEB_DOWNLOADS] = "downloads",
                                                 [WEB_SUBMISSION] = "submission"};

    return names[page];
}

void web_look(struct session *session, bool has_database, struct web_look *ret_look)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    *ret_look = (struct web_look){.pages = {[WEB_MASTER_PAGE] = master_page_check(session),
                                            [WEB_SUBMISSION] = submission_check(session)}};
    if (has_database)
        ret_look->pages[WEB_DOWNLOADS] = download_check(session);
    ret_look->uploads = upload_templates_problem(session);
    curl_global_cleanup();
}

static enum status keep(struct session *session, enum figure_kind kind,
                        const struct check_counts *counts)
{
    struct buffer words = buffer_in(session->arena);
    struct db *db = NULL;
    enum status status = db_open(session->config, &db, &session->failure);

    if (status != STATUS_OK)
        return status;
    check_counts_write(counts, (int64_t)time(NULL), &words);
    status = db_figures_write(db, kind, 0, 0, buffer_text(&words));
    if (status == STATUS_OK)
        status = db_commit(db);
    status = db_failed(db, status, "qm_figures", &session->failure);
    db_close(db);
    return status;
}

enum status web_look_keep(struct session *session, const struct web_look *look)
{
    struct check_counts counts = {.errors[TOPIC_web] = (unsigned)(look->uploads.length > 0)};

    for (size_t i = 0; i < WEB_PAGES; i++)
        counts.errors[TOPIC_web] += (unsigned)(look->pages[i].problem.length > 0);
    return keep(session, FIGURES_WEB, &counts);
}

enum status checks_keep(struct session *session, const struct check_counts *counts)
{
    return keep(session, FIGURES_CHECKS, counts);
}
