/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of applications. */
#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "server/project/project.h"
#include "tools/qmctl/project/version_rows.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

static struct text yes_or_no(bool value)
{
    return value ? TEXT("yes") : TEXT("no");
}

/* The version of that number; a number of none is said with those that there are. */
static enum status find_version(struct session *session, const char *typed,
                                struct version_entry_row *ret_entry)
{
    struct version_entry_row *rows = NULL;
    struct text *known;
    size_t count = 0;
    int64_t id = 0;
    enum status status;

    if (!text_to_i64(text_from(typed), &id) || id <= 0) {
        session->is_usage = true;
        return fail(&session->failure, STATUS_INVALID,
                    "\"%s\" is not the number of a version (qmctl version list)", typed);
    }
    status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_versions(session->db, session->arena, &rows, &count), "versions");
    if (status != STATUS_OK)
        return status;
    known = ARENA_ARRAY(session->arena, count, struct text);
    for (size_t i = 0; i < count && known != NULL; i++) {
        if (rows[i].app_version.id == id) {
            *ret_entry = rows[i];
            return STATUS_OK;
        }
        known[i] =
            text_print(session->arena, "%" PRId64 " (" TEXT_FORMAT ")", rows[i].app_version.id,
                       TEXT_ARG(version_title(session->arena, &rows[i])));
    }
    return session_unknown(session, "version", typed, known, known == NULL ? 0 : count,
                           "qmctl version add");
}

/* "beta yes, min_core_version 7.16.0": what is not as usual, and has no column of its own. */
static struct text settings_words(struct arena *arena, const struct app_version_row *version)
{
    const struct version_setting_row row = {.beta = version->beta,
                                            .min_core_version = version->min_core_version,
                                            .max_core_version = version->max_core_version};

    return setting_change_unusual(arena, &version_settings, &row);
}

enum exit_code command_version_list(struct session *session)
{
    static const char *const titles[] = {"id",         "app",        "version",    "platform",
                                         "plan_class", "deprecated", "statistics", "settings"};
    struct output_table table = TABLE_BEGIN(session, "versions", titles);
    struct version_entry_row *rows;
    size_t count = 0;
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_versions(session->db, session->arena, &rows, &count), "versions");
    if (status != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < count; i++) {
        const struct app_version_row *row = &rows[i].app_version;
        if (session->argument_count > 0 && !text_is(rows[i].app, session->arguments[0]))
            continue;
        table_number(&table, row->id);
        table_text(&table, rows[i].app);
        table_text(&table, version_number_words(session->arena, row->version_num));
        table_text(&table, rows[i].platform);
        table_text(&table, row->plan_class);
        table_text(&table, yes_or_no(row->deprecated));
        table_real(&table, row->pfc_n, 0);
        table_words(&table, settings_words(session->arena, row));
    }
    table_print(&table);
    return EXIT_DONE;
}

/* --- what is set of them -----------------------------------------------------------------------
 */

/* A version of a class that nobody knows is never sent. */
static void warn_of_class(struct session *session, struct text plan_class)
{
    struct failure unused = {.status = STATUS_OK};
    struct plan_classes classes;

    if (plan_class.length == 0 ||
        project_plan_classes(session->config, &classes, &unused) != STATUS_OK)
        return;
    if (!plan_class_is_known(&classes, plan_class))
        shown_line(stderr,
                   "warning: there is no plan class " TEXT_FORMAT
                   " (plan_class_spec.xml), so this version is never sent",
                   TEXT_ARG(plan_class));
    plan_classes_free(&classes);
}

static enum exit_code change_version(struct session *session, const struct setting_values *values,
                                     const struct version_entry_row *entry)
{
    struct version_setting_row before = {.id = 0}, after = {.id = 0};

    if (setting_change(session, &version_rows, entry->app_version.id, values, &before, &after) !=
        STATUS_OK)
        return session_failed(session);
    setting_change_print(session, &version_rows, values, "version",
                         version_title(session->arena, entry), &before, &after);
    if (!text_equal(before.plan_class, after.plan_class))
        warn_of_class(session, after.plan_class);
    return EXIT_DONE;
}

enum exit_code command_version_set(struct session *session)
{
    struct version_entry_row entry = {.app = NO_TEXT};
    struct setting_values values;
    enum status status = setting_values_need(session, &version_settings, &values);

    if (status == STATUS_OK)
        status = find_version(session, session->arguments[0], &entry);
    if (status != STATUS_OK)
        return session_failed(session);
    return change_version(session, &values, &entry);
}

enum exit_code command_version_deprecate(struct session *session)
{
    static const char *const titles[] = {"id", "deprecated"};
    struct output_table done = TABLE_BEGIN(session, "versions", titles);
    bool deprecated = !option_given(session, "undo");
    struct setting_values values = {.typed = {NULL}};
    struct version_setting_row before = {.id = 0}, after = {.id = 0};
    struct version_entry_row entry = {.app = NO_TEXT};
    enum status status = find_version(session, session->arguments[0], &entry);

    setting_values_add(&values, &version_settings, "deprecated", deprecated ? "yes" : "no");
    if (status == STATUS_OK)
        status =
            setting_change(session, &version_rows, entry.app_version.id, &values, &before, &after);
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, after.id);
    table_text(&done, yes_or_no(after.deprecated));
    table_tell(&done, text_print(session->arena, "version %" PRId64 " is %s", after.id,
                                 deprecated ? "deprecated" : "in use"));
    return EXIT_DONE;
}
