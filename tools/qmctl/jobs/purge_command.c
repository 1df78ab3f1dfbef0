/* SPDX-License-Identifier: Apache-2.0 */
/* Old finished jobs leave the database, some at a time: locked, archived, and deleted in one
 * transaction, which is committed after the disk has the archive. Interrupted at any moment, the
 * jobs are in the archive or in the database, or in both; then the next run archives them again. */
#include "config/config.h"
#include "db/admin.h"
#include "db/purge.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "server/passes/archive.h"
#include "server/passes/ending.h"
#include "server/passes/pass_lease.h"
#include "server/passes/pass_repeat.h"
#include "server/project/project.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/progress_line.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "server/base/banned.h"

enum {
    PART_JOBS = 64,
    AGE_DAYS = 30,
    AGE_DAYS_MAX = 36500,
    DAY = 86400,
    LOOKED_AT = 10000 /* of the jobs that stay, the oldest, to say what keeps them */
};
#define PART_BYTES ((size_t)1 << 30)

struct purge {
    struct session *session;
    struct purge_filter filter;
    struct archive *archive; /* NULL: without */
    struct arena *arena;     /* of one transaction */
    struct pass_lease *lease;
    int64_t after; /* the last that was looked at */
    int64_t jobs_max, jobs, results;
};

struct purged_jobs {
    struct purge *purge;
    const int64_t *ids;
    size_t count;
};

static enum status try_some(void *subject)
{
    const struct purged_jobs *jobs = subject;
    struct purge *purge = jobs->purge;
    struct db *db = purge->session->db;
    struct purge_rows rows;
    enum status status;

    arena_reset(purge->arena);
    status = pass_lease_check(purge->lease);
    if (status == STATUS_NOT_FOUND)
        return db_rollback(db); /* others have them */
    if (status == STATUS_OK)
        status = db_purge_lock(db, purge->arena, &purge->filter, jobs->ids, jobs->count, &rows);
    if (status == STATUS_OK && rows.workunit_count == 0)
        return db_rollback(db);
    if (status == STATUS_OK && purge->archive != NULL)
        status = archive_add(purge->archive, &rows, &purge->session->failure);
    if (status == STATUS_OK)
        status = db_purge_delete(db, purge->arena, &rows);
    if (status == STATUS_OK)
        status = db_commit(db);
    if (purge->archive != NULL && (status == STATUS_OK || status == STATUS_DB_UNKNOWN))
        archive_keep(purge->archive); /* the rows may be gone */
    if (status == STATUS_OK) {
        purge->jobs += (int64_t)rows.workunit_count;
        purge->results += (int64_t)rows.result_count;
    }
    return status;
}

static enum status find_due(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct purge *purge = subject;

    return db_purge_due(purge->session->db, &purge->filter, purge->after, ret_ids, most, ret_count);
}

static size_t part_jobs(const struct purge *purge)
{
    int64_t left = purge->jobs_max - purge->jobs;

    return purge->jobs_max > 0 && left < PART_JOBS ? (size_t)left : PART_JOBS;
}

static enum status purge_all(struct purge *purge)
{
    int64_t ids[PART_JOBS];
    size_t count;
    enum status status;

    do {
        status = pass_lease_take(purge->lease, find_due, purge, ids, part_jobs(purge), &count);
        if (status == STATUS_OK && count > 0) {
            purge->after = ids[count - 1];
            status = repeat_transaction(purge->session->db, try_some,
                                        &(struct purged_jobs){purge, ids, count});
        }
        progress(purge->session, "jobs purged", purge->jobs);
    } while (status == STATUS_OK && count > 0 &&
             (purge->jobs_max == 0 || purge->jobs < purge->jobs_max));
    return session_db_failed(purge->session, status, "purge");
}

struct lost_rows {
    struct db *db;
    struct purge_lost done; /* committed */
    size_t count;
};

static enum status try_lost(void *subject)
{
    struct lost_rows *rows = subject;
    struct purge_lost lost = rows->done;
    enum status status = db_purge_lost(rows->db, &lost, &rows->count);

    if (status == STATUS_OK)
        status = db_commit(rows->db);
    if (status == STATUS_OK)
        rows->done = lost;
    return status;
}

/* Rows of ours whose host or job another program has deleted. */
static enum status purge_lost_rows(struct purge *purge)
{
    struct lost_rows rows = {.db = purge->session->db, .count = 1};
    enum status status = STATUS_OK;

    while (status == STATUS_OK && rows.count > 0)
        status = repeat_transaction(rows.db, try_lost, &rows);
    return session_db_failed(purge->session, status, "purge");
}

static enum status run(struct purge *purge)
{
    enum status status = STATUS_NO_MEMORY;

    purge->lease = pass_lease_create(purge->session, "purge", 0);
    if (purge->lease != NULL)
        status = purge_all(purge);
    else
        (void)fail(&purge->session->failure, status, "no memory");
    pass_lease_destroy(purge->lease);
    return status == STATUS_OK ? purge_lost_rows(purge) : status;
}

static enum status open_archive(struct purge *purge)
{
    struct session *session = purge->session;
    const char *folder = option_value(session, "archive");
    char path[PATH_MAX];

    if (option_given(session, "no-archive"))
        return STATUS_OK;
    project_path(session->config, "archives", path, sizeof(path));
    return archive_open(folder != NULL ? folder : path, session->now, &purge->archive,
                        &session->failure);
}

static void print_counts(const struct purge *purge)
{
    static const char *const titles[] = {"jobs", "results"};
    struct output_table table = TABLE_BEGIN(purge->session, "counts", titles);

    table_number(&table, purge->jobs);
    table_number(&table, purge->results);
    table_tell(&table,
               text_print(purge->session->arena, "%" PRId64 " jobs with %" PRId64 " results purged",
                          purge->jobs, purge->results));
}

/* What each word of the statement purge_holds means to an administrator. */
static const struct {
    const char *reason, *words;
} purge_holds[] = {
    {"age", "have changed within --min-age-days"},
    {"assimilation", "wait for assimilation (qmctl transition --assimilate COMMAND, or none)"},
    {"due", "became due meanwhile, or another command has them"},
    {"files", "wait until their files are deleted (qmctl transition --delete-files)"},
    {"name", "stay because their name has \"nodelete\" in it"},
    {"results", "have results that are not over"},
    {"unfinished", "are not finished"},
};

static const char *words_of(struct text reason)
{
    for (size_t i = 0; i < sizeof(purge_holds) / sizeof(purge_holds[0]); i++)
        if (text_is(reason, purge_holds[i].reason))
            return purge_holds[i].words;
    return "stay for a reason without a name";
}

/* For people: scripts read the counts. */
static enum status tell_holds(const struct purge *purge)
{
    struct session *session = purge->session;
    struct purge_hold_row *holds;
    size_t count;
    enum status status =
        db_purge_holds(session->db, session->arena, &purge->filter, LOOKED_AT, &holds, &count);

    if (status != STATUS_OK)
        return session_db_failed(session, status, "purge");
    for (size_t i = 0; i < count; i++)
        shown_line(stderr, "%s%" PRId64 " jobs %s", i > 0 ? "" : "of the oldest that stay, ",
                   holds[i].jobs, words_of(holds[i].reason));
    return session_db_failed(session, db_rollback(session->db), "purge");
}

enum exit_code command_purge(struct session *session)
{
    struct purge purge = {.session = session};
    const char *app_name = option_value(session, "app");
    struct app_row app = {.id = 0};
    int64_t days = AGE_DAYS;
    enum status status = option_number(session, "min-age-days", 0, AGE_DAYS_MAX, &days), closed;

    if (option_given(session, "archive") && option_given(session, "no-archive"))
        return usage_failed(session, "--archive and --no-archive exclude each other");
    if (status == STATUS_OK)
        status = option_number(session, "limit", 1, INT64_MAX, &purge.jobs_max);
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
        status = open_archive(&purge);
    if (status != STATUS_OK)
        return session_failed(session);
    ending_catch();
    purge.filter.appid = app.id;
    purge.filter.before = session->now + 1 - days * DAY;
    purge.arena = arena_create(PART_BYTES);
    status =
        purge.arena == NULL ? fail(&session->failure, STATUS_NO_MEMORY, "no memory") : run(&purge);
    closed = archive_close(purge.archive, &session->failure);
    arena_destroy(purge.arena);
    print_counts(&purge);
    if (fflush(stdout) == 0)
        ending_obey();
    if (status == STATUS_OK && purge.jobs_max == 0)
        status = tell_holds(&purge);
    return status == STATUS_OK && closed == STATUS_OK ? EXIT_DONE : session_failed(session);
}
