/* SPDX-License-Identifier: Apache-2.0 */
/* `qmctl purge`: which jobs are old enough, where their archive is, and what keeps those that stay.
 */
#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "server/passes/archive.h"
#include "server/passes/purge_pass.h"
#include "server/project/project.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/ending.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/pass_session.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "server/base/banned.h"

enum {
    AGE_DAYS = 30,
    AGE_DAYS_MAX = 36500,
    DAY = 86400,
    LOOKED_AT = 10000 /* of the jobs that stay, the oldest, to say what keeps them */
};

static enum status open_archive(struct session *session, struct archive **ret_archive)
{
    const char *folder = option_value(session, "archive");
    char path[PATH_MAX];

    if (option_given(session, "no-archive"))
        return STATUS_OK;
    project_path(session->config, "archives", path, sizeof(path));
    return archive_open(folder != NULL ? folder : path, session->now, ret_archive,
                        &session->failure);
}

static void print_counts(struct session *session, const struct purge_counts *counts)
{
    static const char *const titles[] = {"jobs", "results"};
    struct output_table table = TABLE_BEGIN(session, "counts", titles);

    table_number(&table, counts->jobs);
    table_number(&table, counts->results);
    table_tell(&table,
               text_print(session->arena, COUNT_FORMAT " with " COUNT_FORMAT " purged",
                          COUNT_ARG(counts->jobs, "job"), COUNT_ARG(counts->results, "result")));
}

/* For people: scripts read the counts. */
static enum status tell_holds(struct session *session, const struct purge_filter *filter)
{
    struct purge_hold_row *holds;
    size_t count;
    enum status status =
        db_purge_holds(session->db, session->arena, filter, LOOKED_AT, &holds, &count);

    if (status != STATUS_OK)
        return session_db_failed(session, status, "purge");
    for (size_t i = 0; i < count; i++)
        shown_line(stderr, "kept: " COUNT_FORMAT " " TEXT_FORMAT, COUNT_ARG(holds[i].jobs, "job"),
                   TEXT_ARG(holds[i].words));
    return session_db_failed(session, db_rollback(session->db), "purge");
}

enum exit_code command_purge(struct session *session)
{
    struct purge_settings settings = {.jobs_max = 0};
    struct purge_counts counts = {.jobs = 0};
    struct pass_owner owner;
    const char *app_name = option_value(session, "app");
    struct app_row app = {.id = 0};
    int64_t days = AGE_DAYS;
    enum status status = option_number(session, "min-age-days", 0, AGE_DAYS_MAX, &days), closed;

    if (option_given(session, "archive") && option_given(session, "no-archive"))
        return usage_failed(session, "--archive and --no-archive exclude each other");
    if (status == STATUS_OK)
        status = option_number(session, "limit", 1, INT64_MAX, &settings.jobs_max);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK && app_name != NULL)
        status = session_app(session, app_name, &app);
    if (status == STATUS_OK && option_given(session, "no-archive")) {
        enum exit_code code =
            confirm(session, TEXT("old jobs and their results, written nowhere"), TEXT("purge"));

        if (code != EXIT_DONE)
            return code;
    }
    if (status == STATUS_OK)
        status = open_archive(session, &settings.archive);
    if (status != STATUS_OK)
        return session_failed(session);
    ending_catch();
    settings.filter.appid = app.id;
    settings.filter.before = session->now + 1 - days * DAY;
    owner = session_owner(session);
    status = purge_pass(&owner, &settings, &counts);
    closed = archive_close(settings.archive, &session->failure);
    print_counts(session, &counts);
    if (fflush(stdout) == 0)
        ending_obey();
    if (status == STATUS_OK && settings.jobs_max == 0)
        status = tell_holds(session, &settings.filter);
    return status == STATUS_OK && closed == STATUS_OK ? EXIT_DONE : session_failed(session);
}
