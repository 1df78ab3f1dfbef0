/* SPDX-License-Identifier: Apache-2.0 */
/* Applications and platforms. */
#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/near_name.h"
#include "server/base/shown.h"
#include "server/policy/host/hr_class.h"
#include "server/project/hierarchy.h"
#include "server/submit/catalog_settings.h"
#include "server/submit/new_project.h"
#include "tools/qmctl/project/setting_change.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

static struct text yes_or_no(bool value)
{
    return value ? TEXT("yes") : TEXT("no");
}

/* --- what is set of them -----------------------------------------------------------------------
 */

static enum status lock_row(struct db *db, struct arena *arena, int64_t id, void *ret_row)
{
    return db_admin_app_settings_lock(db, arena, id, ret_row);
}

static enum status save_row(struct db *db, const void *row)
{
    return db_admin_app_settings_save(db, row);
}

static enum status check_row(const void *row, struct failure *failure)
{
    return app_settings_check(row, failure);
}

static const struct setting_rows app_rows = {&app_settings, lock_row, save_row, check_row};

enum exit_code command_app_add(struct session *session)
{
    static const char *const titles[] = {"id", "app"};
    struct output_table done = TABLE_BEGIN(session, "applications", titles);
    struct text name = text_from(session->arguments[0]);
    struct text friendly = text_from(option_value(session, "user_friendly_name"));
    const char *what = text_string(
        session->arena, text_print(session->arena, "application %s", session->arguments[0]));
    struct setting_values values;
    int64_t id = 0;
    if (file_name_fault(name) != NULL)
        return usage_failed(session, "the application's name \"%s\" %s", session->arguments[0],
                            file_name_fault(name));
    if (friendly.length == 0)
        friendly = name;
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_app_add(session->db, name, friendly, session->now, &id), what);
    if (status == STATUS_OK && setting_values_given(session, &app_settings, &values) > 0)
        status = setting_apply(session, &app_rows, id, &values);
    if (status == STATUS_OK)
        status = session_commit_catalog(session);
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, id);
    table_text(&done, name);
    table_tell(&done,
               text_print(session->arena, "%s is application %" PRId64, session->arguments[0], id));
    return EXIT_DONE;
}

enum exit_code command_app_list(struct session *session)
{
    static const char *const titles[] = {"id", "name", "friendly_name", "deprecated", "settings"};
    struct output_table table = TABLE_BEGIN(session, "applications", titles);
    struct app_setting_row *rows = NULL;
    size_t count = 0;
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_app_settings(session->db, session->arena, &rows, &count), "apps");
    if (status != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < count; i++) {
        struct app_setting_row others = rows[i];

        others.deprecated = 0;
        others.user_friendly_name = NO_TEXT;
        table_number(&table, rows[i].id);
        table_text(&table, rows[i].name);
        table_text(&table, rows[i].user_friendly_name);
        table_text(&table, yes_or_no(rows[i].deprecated));
        table_words(&table, setting_change_unusual(session->arena, &app_settings, &others));
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_app_show(struct session *session)
{
    static const char *const titles[] = {"setting", "value", "usual", "meaning"};
    struct output_table table = TABLE_BEGIN(session, "settings", titles);
    struct app_setting_row *rows = NULL;
    struct app_row app = {.id = 0};
    size_t count = 0, i = 0;
    enum status status = session_db(session);

    if (status == STATUS_OK)
        status = session_app(session, session->arguments[0], &app);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_app_settings(session->db, session->arena, &rows, &count), "apps");
    while (status == STATUS_OK && i < count && rows[i].id != app.id)
        i++;
    if (status != STATUS_OK || i == count)
        return session_failed(session);
    for (size_t s = 0; s < app_settings.count; s++) {
        const struct catalog_setting *setting = &app_settings.items[s];

        table_text(&table, text_from(setting->name));
        table_text(&table, catalog_setting_words(session->arena, setting, &rows[i]));
        table_text(&table, text_from(setting->usual));
        table_words(&table, text_from(setting->help));
    }
    table_print(&table);
    return EXIT_DONE;
}

/* No version would be used any more. */
static void warn_of_versions(struct session *session, const struct app_row *app)
{
    struct version_entry_row *rows = NULL;
    size_t count = 0;
    int64_t newest = 0;

    if (app->min_version == 0 ||
        db_admin_versions(session->db, session->arena, &rows, &count) != STATUS_OK)
        return;
    for (size_t i = 0; i < count; i++)
        if (rows[i].app_version.appid == app->id && rows[i].app_version.deprecated == 0 &&
            rows[i].app_version.version_num > newest)
            newest = rows[i].app_version.version_num;
    if (newest < app->min_version)
        shown_line(stderr,
                   "warning: no version in use is as new as min_version: the newest is %" PRId64
                   ".%02" PRId64 ", so hosts get no jobs",
                   newest / 100, newest % 100);
}

/* What the settings do together with config.xml and the versions. */
static void advise(struct session *session, const struct text name)
{
    struct buffer advice = buffer_in(session->arena);
    struct app_row app;

    if (db_admin_app_find(session->db, session->arena, name, &app) != STATUS_OK)
        return;
    app_advice(session->config, &app, &advice);
    session_warn(buffer_text(&advice));
    warn_of_versions(session, &app);
}

enum exit_code command_app_set(struct session *session)
{
    struct app_setting_row before = {.id = 0}, after = {.id = 0};
    struct setting_values values;
    struct app_row app;
    enum status status = setting_values_need(session, &app_settings, &values);

    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = session_app(session, session->arguments[0], &app);
    if (status == STATUS_OK)
        status = setting_change(session, &app_rows, app.id, &values, &before, &after);
    if (status != STATUS_OK)
        return session_failed(session);
    setting_change_print(session, &app_rows, &values, "app", app.name, &before, &after);
    advise(session, app.name);
    if (before.homogeneous_redundancy != after.homogeneous_redundancy &&
        before.homogeneous_redundancy != HR_NONE && after.homogeneous_redundancy != HR_NONE)
        shown_line(stderr,
                   "warning: unfinished jobs stay bound to classes of the former kind, which no "
                   "host is of any more: qmctl app classes %s",
                   session->arguments[0]);
    return EXIT_DONE;
}

enum exit_code command_app_deprecate(struct session *session)
{
    static const char *const titles[] = {"app", "deprecated"};
    struct output_table done = TABLE_BEGIN(session, "applications", titles);
    bool deprecated = !option_given(session, "undo");
    struct setting_values values = {.typed = {NULL}};
    struct app_setting_row before = {.id = 0}, after = {.id = 0};
    struct app_row app;
    enum status status = session_db(session);

    setting_values_add(&values, &app_settings, "deprecated", deprecated ? "yes" : "no");
    if (status == STATUS_OK)
        status = session_app(session, session->arguments[0], &app);
    if (status == STATUS_OK)
        status = setting_change(session, &app_rows, app.id, &values, &before, &after);
    if (status != STATUS_OK)
        return session_failed(session);
    table_text(&done, app.name);
    table_text(&done, yes_or_no(deprecated));
    table_tell(&done, text_print(session->arena, "%s is %s", session->arguments[0],
                                 deprecated ? "deprecated" : "in use"));
    return EXIT_DONE;
}

/* --- platforms ---------------------------------------------------------------------------------
 */

enum exit_code command_platform_list(struct session *session)
{
    static const char *const titles[] = {"id", "name", "friendly_name"};
    struct output_table table = TABLE_BEGIN(session, "platforms", titles);
    struct catalog_rows rows;
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status =
            session_db_failed(session, db_catalog(session->db, session->arena, &rows), "platforms");
    if (status != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < rows.platform_count; i++) {
        table_number(&table, rows.platforms[i].id);
        table_text(&table, rows.platforms[i].name);
        table_text(&table, rows.platforms[i].user_friendly_name);
    }
    table_print(&table);
    return EXIT_DONE;
}

/* --- platform add ------------------------------------------------------------------------------
 */

enum { LETTERS_MISSPELT = 2 }; /* names of platforms are alike */

/* What clients call their computers; NULL: nothing that this program knows. */
static const char *standard_name(struct text name)
{
    for (size_t i = 0; i < standard_platform_count; i++)
        if (text_is(name, standard_platforms[i].name))
            return standard_platforms[i].friendly_name;
    return NULL;
}

/* A name that is nearly one that clients have was meant to be that. */
static enum status check_platform_name(struct session *session, struct text name,
                                       struct text *friendly)
{
    const char *fault = file_name_fault(name), *known = standard_name(name);
    struct near_name near;

    session->is_usage = true;
    if (fault != NULL)
        return fail(&session->failure, STATUS_INVALID, "the platform's name \"" TEXT_FORMAT "\" %s",
                    TEXT_ARG(name), fault);
    near_name_begin(&near, name);
    for (size_t i = 0; i < standard_platform_count && known == NULL; i++)
        near_name_try(&near, standard_platforms[i].name);
    if (near.nearest != NULL && near.wrong_letters_below <= LETTERS_MISSPELT &&
        !option_given(session, "force"))
        return fail(&session->failure, STATUS_INVALID,
                    "no known client reports the platform " TEXT_FORMAT
                    "; did you mean %s? (--force adds it all the same)",
                    TEXT_ARG(name), near.nearest);
    if (known == NULL)
        shown_line(stderr,
                   "warning: no known client reports the platform " TEXT_FORMAT
                   "; hosts get its versions only if theirs reports exactly this name",
                   TEXT_ARG(name));
    if (friendly->length == 0)
        *friendly = known != NULL ? text_from(known) : name;
    session->is_usage = false;
    return STATUS_OK;
}

enum exit_code command_platform_add(struct session *session)
{
    static const char *const titles[] = {"id", "platform", "friendly_name"};
    struct output_table done = TABLE_BEGIN(session, "platforms", titles);
    struct text name = text_from(session->arguments[0]);
    struct text friendly = text_from(option_value(session, "user_friendly_name"));
    bool is_new = false;
    int64_t id = 0;
    enum status status = check_platform_name(session, name, &friendly);

    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = db_admin_platform_add(session->db, name, friendly, session->now, &is_new);
    if (status == STATUS_OK && !is_new)
        status = fail(&session->failure, STATUS_INVALID,
                      "platform " TEXT_FORMAT " is there already", TEXT_ARG(name));
    if (status == STATUS_OK)
        status = db_admin_platform_find(session->db, name, &id);
    status = session_db_failed(session, status, "platform");
    if (status == STATUS_OK)
        status = session_commit_catalog(session);
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, id);
    table_text(&done, name);
    table_text(&done, friendly);
    table_tell(&done,
               text_print(session->arena, TEXT_FORMAT " is platform %" PRId64, TEXT_ARG(name), id));
    return EXIT_DONE;
}
