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

void web_look(struct session *session, bool has_database, struct web_look *ret_look)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    *ret_look = (struct web_look){.master_page = master_page_check(session)};
    if (has_database)
        ret_look->download = download_check(session);
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
    struct check_counts counts = {.errors[TOPIC_web] =
                                      (unsigned)(look->master_page.problem.length > 0) +
                                      (unsigned)(look->download.problem.length > 0) +
                                      (unsigned)(look->uploads.length > 0)};

    return keep(session, FIGURES_WEB, &counts);
}

enum status checks_keep(struct session *session, const struct check_counts *counts)
{
    return keep(session, FIGURES_CHECKS, counts);
}
