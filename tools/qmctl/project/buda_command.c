/* SPDX-License-Identifier: Apache-2.0 */
/* Science apps of BOINC's universal docker app: what of the folder buda_apps can be used, and which
 * jobs wait for it. */
#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/project/buda_files.h"
#include "server/project/project.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <limits.h>

#include "server/base/banned.h"

/* What the folder has, with the words of the server's log for what cannot be used. */
static enum status read_files(struct session *session, struct buda_apps *ret_apps)
{
    struct plan_classes classes;
    char folder[PATH_MAX];
    enum status status = session_config(session);

    if (status == STATUS_OK)
        status = project_plan_classes(session->config, &classes, &session->failure);
    if (status != STATUS_OK)
        return status;
    project_path(session->config, "buda_apps", folder, sizeof(folder));
    if (!buda_files_read(folder, &classes, session->arena, ret_apps))
        status = fail(&session->failure, STATUS_NO_MEMORY, "buda_apps: no memory");
    plan_classes_free(&classes);
    return status;
}

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
    enum status status = read_files(session, &apps);

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

enum exit_code command_buda_show(struct session *session)
{
    static const char *const titles[] = {"variant", "cpu_type", "plan_class", "bytes"};
    struct output_table table = TABLE_BEGIN(session, "variants", titles);
    struct text *known;
    struct buda_apps apps;
    const struct buda_app *app;

    if (read_files(session, &apps) != STATUS_OK)
        return session_failed(session);
    app = buda_app_find(&apps, buda_number(text_from(session->arguments[0])));
    if (app == NULL) {
        known = ARENA_ARRAY(session->arena, apps.app_count, struct text);
        for (size_t i = 0; known != NULL && i < apps.app_count; i++)
            known[i] = apps.apps[i].name;
        (void)session_unknown(session, "science app", session->arguments[0], known,
                              known != NULL ? apps.app_count : 0, "qmctl buda check");
        return session_failed(session);
    }
    for (size_t i = 0; i < app->count; i++) {
        const struct buda_variant *variant = &apps.variants[app->first + i];
        const struct buda_kind *kind = &apps.kinds[variant->kind];

        table_text(&table, variant->name);
        table_text(&table, text_from(buda_cpu_word(kind->cpu)));
        table_text(&table, kind->plan_class);
        table_number(&table, (int64_t)(variant->file_infos.length + variant->file_refs.length));
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_buda_check(struct session *session)
{
    static const char *const titles[] = {"file", "words"};
    struct output_table table = TABLE_BEGIN(session, "faults", titles);
    struct buda_apps apps;

    if (read_files(session, &apps) != STATUS_OK)
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
