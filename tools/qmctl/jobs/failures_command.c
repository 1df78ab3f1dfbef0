/* SPDX-License-Identifier: Apache-2.0 */
/* Who fails: what became of results of late, by version, exit status, host or batch. */
#include "db/admin.h"
#include "db/fate_rows.h"
#include "server/base/arena.h"
#include "server/fates/fates.h"
#include "server/fates/fates_summary.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { HOURS = 24, HOSTS = 20, HOST_FAILED_LEAST = 1 };

/* What a version is called; empty texts: it is gone, or the volunteer's own. */
struct version_name {
    struct text app, platform, plan_class;
    struct text number;
};

struct failures_look {
    struct session *session;
    int64_t since; /* hour */
    struct version_entry_row *versions;
    size_t version_count;
};

static struct version_name name_of(const struct failures_look *look, int64_t app_version_id)
{
    struct version_name name = {.number = TEXT("?")};

    if (app_version_id < 0)
        name.number = TEXT("own");
    for (size_t i = 0; i < look->version_count; i++) {
        const struct version_entry_row *entry = &look->versions[i];
        int64_t number = entry->app_version.version_num;

        if (entry->app_version.id == app_version_id)
            return (struct version_name){.app = entry->app,
                                         .platform = entry->platform,
                                         .plan_class = entry->app_version.plan_class,
                                         .number = text_print(look->session->arena,
                                                              "%" PRId64 ".%02" PRId64,
                                                              number / 100, number % 100)};
    }
    return name;
}

static struct text app_of(const struct failures_look *look, int64_t appid)
{
    for (size_t i = 0; i < look->version_count; i++)
        if (look->versions[i].app_version.appid == appid)
            return look->versions[i].app;
    return appid == 0 ? NO_TEXT : text_print(look->session->arena, "number %" PRId64, appid);
}

static void put_version(struct output_table *table, const struct failures_look *look, int64_t appid,
                        int64_t app_version_id)
{
    struct version_name name = name_of(look, app_version_id);

    table_text(table, name.app.length > 0 ? name.app : app_of(look, appid));
    table_text(table, name.number);
    table_text(table, name.platform);
    table_text(table, name.plan_class);
}

/* The columns from "sent" to "state". */
static void put_summary(struct output_table *table, const struct fates_summary *summary)
{
    const int64_t *by_fate = summary->by_fate;

    table_number(table, summary->sent);
    table_number(table, by_fate[FATE_SUCCESS]);
    table_number(table, by_fate[FATE_CLIENT_ERROR]);
    table_number(table, by_fate[FATE_NO_REPLY]);
    table_number(table, by_fate[FATE_INVALID] + by_fate[FATE_VALIDATE_ERROR]);
    table_real(table, 100 * fates_share(summary->ended, summary->failed), 1);
    table_text(table, fates_alarm(summary->ended, summary->failed) ? TEXT("FAILS") : TEXT("ok"));
}

static enum status read_versions(struct failures_look *look, struct fate_version_row **ret_rows,
                                 size_t *ret_count)
{
    struct session *session = look->session;

    return session_db_failed(
        session, db_fates_by_version(session->db, session->arena, look->since, ret_rows, ret_count),
        "qm_fate");
}

static enum status print_versions(struct failures_look *look)
{
    static const char *const titles[] = {"app",     "version",  "platform", "plan_class",
                                         "sent",    "success",  "error",    "no_reply",
                                         "invalid", "failed_%", "state",    "words"};
    struct output_table table = TABLE_BEGIN(look->session, "results", titles);
    struct fate_version_row *rows = NULL;
    const struct fates_summary *all;
    size_t count = 0;
    enum status status = read_versions(look, &rows, &count);

    if (status != STATUS_OK)
        return status;
    all = fates_summarize(look->session->arena, rows, count, &count);
    if (all == NULL)
        return fail(&look->session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < count; i++) {
        put_version(&table, look, all[i].appid, all[i].app_version_id);
        put_summary(&table, &all[i]);
        table_words(
            &table,
            all[i].worst_exits == 0
                ? NO_TEXT
                : text_print(look->session->arena, "mostly exit status %" PRId64 ", " TEXT_FORMAT,
                             all[i].worst_exit,
                             TEXT_ARG(fates_exit_words(look->session->arena, all[i].worst_exit))));
    }
    table_print(&table);
    return STATUS_OK;
}

static int compare_errors(const void *a, const void *b)
{
    const struct fate_version_row *one = a, *other = b;

    return (one->results < other->results) - (one->results > other->results);
}

static enum status print_errors(struct failures_look *look)
{
    static const char *const titles[] = {"app",         "version", "platform", "plan_class",
                                         "exit_status", "results", "words"};
    struct output_table table = TABLE_BEGIN(look->session, "errors", titles);
    struct fate_version_row *rows = NULL;
    size_t count = 0;
    enum status status = read_versions(look, &rows, &count);

    if (status != STATUS_OK)
        return status;
    qsort(rows, count, sizeof(rows[0]), compare_errors);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].fate != FATE_CLIENT_ERROR && rows[i].fate != FATE_ABORTED)
            continue;
        put_version(&table, look, rows[i].appid, rows[i].app_version_id);
        table_number(&table, rows[i].exit_status);
        table_number(&table, rows[i].results);
        table_words(&table, fates_exit_words(look->session->arena, rows[i].exit_status));
    }
    table_print(&table);
    return STATUS_OK;
}

static enum status print_hosts(struct failures_look *look)
{
    static const char *const titles[] = {"host", "ended", "failed", "failed_%", "last", "state"};
    struct session *session = look->session;
    struct output_table table = TABLE_BEGIN(session, "hosts", titles);
    struct fate_host_row *rows = NULL;
    int64_t most = HOSTS;
    size_t count = 0;
    enum status status = option_number(session, "most", 1, 100000, &most);

    if (status == STATUS_OK)
        status = session_db_failed(session,
                                   db_fates_worst_hosts(session->db, session->arena, session->now,
                                                        HOST_FAILED_LEAST, most, &rows, &count),
                                   "qm_host_fate");
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        int64_t ended = llround(fmin(rows[i].ended, 1e15));
        int64_t failed = llround(fmin(rows[i].failed, 1e15));

        table_number(&table, rows[i].hostid);
        table_number(&table, ended);
        table_number(&table, failed);
        table_real(&table, 100 * fates_share(ended, failed), 1);
        table_time(&table, rows[i].counted_at);
        table_text(&table, fates_alarm(ended, failed) ? TEXT("FAILS") : TEXT("ok"));
    }
    table_print(&table);
    return STATUS_OK;
}

static enum status print_batches(struct failures_look *look)
{
    static const char *const titles[] = {"batch",    "sent",    "success",  "error",
                                         "no_reply", "invalid", "failed_%", "state"};
    struct session *session = look->session;
    struct output_table table = TABLE_BEGIN(session, "batches", titles);
    struct fate_batch_row *rows = NULL;
    const struct fates_summary *all;
    size_t count = 0;
    enum status status = session_db_failed(
        session, db_fates_by_batch(session->db, session->arena, look->since, &rows, &count),
        "qm_fate");

    if (status != STATUS_OK)
        return status;
    all = fates_summarize_batches(session->arena, rows, count, &count);
    if (all == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < count; i++) {
        table_number(&table, all[i].batch);
        put_summary(&table, &all[i]);
    }
    table_print(&table);
    return STATUS_OK;
}

enum exit_code command_failures(struct session *session)
{
    struct failures_look look = {.session = session};
    int64_t hours = HOURS;
    enum status status = option_number(session, "hours", 1, FATES_DAYS * 24, &hours);

    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(
            session,
            db_admin_versions(session->db, session->arena, &look.versions, &look.version_count),
            "app_version");
    if (status != STATUS_OK)
        return session_failed(session);
    look.since = fates_since(session->now, hours);
    if (option_given(session, "errors"))
        status = print_errors(&look);
    else if (option_given(session, "hosts"))
        status = print_hosts(&look);
    else if (option_given(session, "batches"))
        status = print_batches(&look);
    else
        status = print_versions(&look);
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}
