/* SPDX-License-Identifier: Apache-2.0 */
/* Science apps of BOINC's universal docker app: what of the folder buda_apps can be used, and which
 * jobs wait for it. */
#include "db/admin.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/passes/pass_repeat.h"
#include "tools/qmctl/project/buda_apps.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>

#include "server/base/banned.h"

enum { JOBS_MOST = 100000 };

static enum status read_jobs(struct session *session, struct buda_jobs_row **ret_jobs,
                             size_t *ret_count)
{
    enum status status = session_db(session);

    return status == STATUS_OK
               ? session_db_failed(session,
                                   db_admin_buda_jobs(session->db, session->arena, JOBS_MOST,
                                                      ret_jobs, ret_count),
                                   "jobs")
               : status;
}

static void add_line(struct output_table *table, const struct buda_app *app, struct text name,
                     const struct buda_jobs_row *jobs)
{
    table_text(table, name);
    table_text(table, app != NULL ? app->long_name : NO_TEXT);
    table_number(table, app != NULL ? (int64_t)app->count : 0);
    table_number(table, jobs != NULL ? jobs->unsent : 0);
    table_number(table, jobs != NULL ? jobs->in_progress : 0);
}

static const struct buda_jobs_row *jobs_of(const struct buda_jobs_row *jobs, size_t count,
                                           int64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (jobs[i].number == number)
            return &jobs[i];
    return NULL;
}

enum exit_code command_buda_list(struct session *session)
{
    static const char *const titles[] = {"app", "long_name", "variants", "unsent", "in_progress"};
    struct output_table table = TABLE_BEGIN(session, "apps", titles);
    struct buda_apps apps;
    struct buda_jobs_row *jobs = NULL;
    size_t count = 0;
    enum status status = buda_apps_read(session, &apps);

    if (status == STATUS_OK)
        status = read_jobs(session, &jobs, &count);
    if (status != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < apps.app_count; i++)
        add_line(&table, &apps.apps[i], apps.apps[i].name,
                 jobs_of(jobs, count, apps.apps[i].number));
    for (size_t i = 0; i < count; i++)
        if (buda_app_find(&apps, jobs[i].number) == NULL)
            add_line(&table, NULL, jobs[i].name, &jobs[i]);
    table_print(&table);
    return EXIT_DONE;
}

/* --- one of them ------------------------------------------------------------------------------ */

/* NULL: told. */
static const struct buda_app *find_app(struct session *session, const struct buda_apps *apps,
                                       const char *name)
{
    const struct buda_app *app = buda_app_find(apps, buda_number(text_from(name)));
    struct text *known = ARENA_ARRAY(session->arena, apps->app_count, struct text);

    if (app != NULL)
        return app;
    for (size_t i = 0; known != NULL && i < apps->app_count; i++)
        known[i] = apps->apps[i].name;
    (void)session_unknown(session, "science app", name, known, known != NULL ? apps->app_count : 0,
                          "qmctl buda check");
    return NULL;
}

/* What is known of variants, by rising number. */
struct variant_figures {
    struct variant_jobs_row *jobs;
    struct variant_speed_row *speeds;
    size_t job_count, speed_count;
};

static enum status read_figures(struct session *session, struct variant_figures *ret_figures)
{
    enum status status = session_db(session);

    *ret_figures = (struct variant_figures){0};
    if (status == STATUS_OK)
        status =
            session_db_failed(session,
                              db_admin_variant_jobs(session->db, session->arena, JOBS_MOST,
                                                    &ret_figures->jobs, &ret_figures->job_count),
                              "jobs");
    if (status == STATUS_OK)
        status = session_db_failed(session,
                                   db_admin_variant_speeds(session->db, session->arena, JOBS_MOST,
                                                           &ret_figures->speeds,
                                                           &ret_figures->speed_count),
                                   "speeds");
    return status;
}

static void add_figures(struct output_table *table, const struct variant_figures *figures,
                        int64_t number)
{
    struct variant_jobs_row jobs = {0};
    struct variant_speed_row speed = {0};

    for (size_t i = 0; i < figures->job_count; i++)
        if (figures->jobs[i].variant == number)
            jobs = figures->jobs[i];
    for (size_t i = 0; i < figures->speed_count; i++)
        if (figures->speeds[i].variant == number)
            speed = figures->speeds[i];
    table_number(table, jobs.in_progress);
    table_number(table, jobs.succeeded);
    table_number(table, jobs.failed);
    table_number(table, jobs.lost);
    table_number(table, speed.hosts);
    table_real(table, speed.flops / 1e9, 3);
}

enum exit_code command_buda_show(struct session *session)
{
    static const char *const titles[] = {"variant",     "cpu_type",  "plan_class", "bytes",
                                         "in_progress", "succeeded", "failed",     "lost",
                                         "hosts",       "gflops"};
    struct output_table table = TABLE_BEGIN(session, "variants", titles);
    struct variant_figures figures;
    struct buda_apps apps;
    const struct buda_app *app;

    if (buda_apps_read(session, &apps) != STATUS_OK)
        return session_failed(session);
    app = find_app(session, &apps, session->arguments[0]);
    if (app == NULL || read_figures(session, &figures) != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < app->count; i++) {
        const struct buda_variant *variant = &apps.variants[app->first + i];
        const struct buda_kind *kind = &apps.kinds[variant->kind];

        table_text(&table, variant->name);
        table_text(&table, text_from(buda_cpu_word(kind->cpu)));
        table_text(&table, kind->plan_class);
        table_number(&table, (int64_t)(variant->file_infos.length + variant->file_refs.length));
        add_figures(&table, &figures, variant->number);
    }
    table_print(&table);
    return EXIT_DONE;
}

/* --- speeds that are forgotten ---------------------------------------------------------------- */

struct variant_forgetting {
    struct session *session;
    int64_t *variants, last;
    size_t count;
    bool is_rehearsed; /* each transaction is undone */
    bool is_done;
    uint64_t rows;
};

/* One transaction: some hosts. */
static enum status forget_part(void *subject)
{
    struct variant_forgetting *forgetting = subject;
    struct db *db = forgetting->session->db;
    int64_t last = forgetting->last;
    uint64_t rows = 0;
    enum status status =
        db_admin_variants_forget(db, forgetting->variants, forgetting->count, &last, &rows);

    if (status == STATUS_OK)
        status = forgetting->is_rehearsed ? db_rollback(db) : db_commit(db);
    if (status != STATUS_OK)
        return status;
    forgetting->is_done = last == 0;
    forgetting->last = last;
    forgetting->rows += rows;
    return STATUS_OK;
}

enum exit_code command_buda_forget(struct session *session)
{
    static const char *const titles[] = {"app", "host_variants"};
    struct output_table done = TABLE_BEGIN(session, "apps", titles);
    struct variant_forgetting forgetting = {.session = session,
                                            .is_rehearsed = option_given(session, "dry-run")};
    struct buda_apps apps;
    const struct buda_app *app;
    enum exit_code code = EXIT_DONE;
    enum status status;

    if (buda_apps_read(session, &apps) != STATUS_OK)
        return session_failed(session);
    app = find_app(session, &apps, session->arguments[0]);
    if (app == NULL || session_db(session) != STATUS_OK)
        return session_failed(session);
    (void)db_rollback(session->db);
    if (!forgetting.is_rehearsed)
        code = confirm(session,
                       text_print(session->arena, "what is known of run times of %s on each host",
                                  session->arguments[0]),
                       app->name);
    if (code != EXIT_DONE)
        return code;
    forgetting.variants = ARENA_ARRAY(session->arena, app->count, int64_t);
    status = forgetting.variants != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    for (; status == STATUS_OK && forgetting.count < app->count; forgetting.count++)
        forgetting.variants[forgetting.count] = apps.variants[app->first + forgetting.count].number;
    while (status == STATUS_OK && app->count > 0 && !forgetting.is_done)
        status = repeat_transaction(session->db, forget_part, &forgetting);
    if (session_db_failed(session, status, "speeds") != STATUS_OK)
        return session_failed(session);
    table_text(&done, app->name);
    table_number(&done, (int64_t)forgetting.rows);
    table_tell(&done, text_print(session->arena,
                                 forgetting.is_rehearsed
                                     ? "would forget the run times of " TEXT_FORMAT ", of %" PRIu64
                                       " pairs of host and variant"
                                     : "the run times of " TEXT_FORMAT " are forgotten, of %" PRIu64
                                       " pairs of host and variant; they are estimated by plan "
                                       "classes until there are new ones",
                                 TEXT_ARG(app->name), forgetting.rows));
    return EXIT_DONE;
}

enum exit_code command_buda_check(struct session *session)
{
    static const char *const titles[] = {"file", "words"};
    struct output_table table = TABLE_BEGIN(session, "faults", titles);
    struct buda_apps apps;

    if (buda_apps_read(session, &apps) != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < apps.fault_count && i < BUDA_FAULTS_KEPT; i++) {
        table_text(&table, apps.faults[i].file);
        table_words(&table, apps.faults[i].words);
    }
    if (apps.fault_count > BUDA_FAULTS_KEPT) {
        table_text(&table, TEXT("buda_apps"));
        table_words(&table,
                    text_print(session->arena, "in addition, " COUNT_FORMAT " cannot be used",
                               COUNT_ARG(apps.fault_count - BUDA_FAULTS_KEPT, "file")));
    }
    table_print(&table);
    return apps.fault_count == 0 ? EXIT_DONE : EXIT_FAILED;
}
