/* SPDX-License-Identifier: Apache-2.0 */
/* Applications and their versions. */
#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/project/hierarchy.h"
#include "server/project/keys.h"
#include "server/submit/stage.h"
#include "server/submit/version_document.h"
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

enum exit_code command_app_add(struct session *session)
{
    static const char *const titles[] = {"id", "app"};
    struct output_table done = TABLE_BEGIN(session, "applications", titles);
    struct text name = text_from(session->arguments[0]);
    struct text friendly = text_from(option_value(session, "friendly"));
    const char *what = text_string(
        session->arena, text_print(session->arena, "application %s", session->arguments[0]));
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
    static const char *const titles[] = {"id", "name", "friendly_name", "deprecated"};
    struct output_table table = TABLE_BEGIN(session, "applications", titles);
    struct catalog_rows rows;
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(session, db_catalog(session->db, session->arena, &rows), "apps");
    if (status != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < rows.app_count; i++) {
        table_number(&table, rows.apps[i].id);
        table_text(&table, rows.apps[i].name);
        table_text(&table, rows.apps[i].user_friendly_name);
        table_text(&table, yes_or_no(rows.apps[i].deprecated));
    }
    table_print(&table);
    return EXIT_DONE;
}

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

enum exit_code command_app_deprecate(struct session *session)
{
    static const char *const titles[] = {"app", "deprecated"};
    struct output_table done = TABLE_BEGIN(session, "applications", titles);
    struct app_row app;
    bool deprecated = !option_given(session, "undo");
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status = session_app(session, session->arguments[0], &app);
    if (status == STATUS_OK)
        status = session_db_failed(session, db_admin_app_deprecate(session->db, app.id, deprecated),
                                   "app");
    if (status == STATUS_OK)
        status = session_commit_catalog(session);
    if (status != STATUS_OK)
        return session_failed(session);
    table_text(&done, app.name);
    table_text(&done, yes_or_no(deprecated));
    table_tell(&done, text_print(session->arena, "%s is %s", session->arguments[0],
                                 deprecated ? "deprecated" : "in use"));
    return EXIT_DONE;
}

enum exit_code command_version_list(struct session *session)
{
    static const char *const titles[] = {"id",         "app",        "version",   "platform",
                                         "plan_class", "deprecated", "statistics"};
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
        table_text(&table, text_print(session->arena, "%" PRId64 ".%02" PRId64,
                                      row->version_num / 100, row->version_num % 100));
        table_text(&table, rows[i].platform);
        table_text(&table, row->plan_class);
        table_text(&table, yes_or_no(row->deprecated));
        table_real(&table, row->pfc_n, 0);
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_version_deprecate(struct session *session)
{
    static const char *const titles[] = {"id", "deprecated"};
    struct output_table done = TABLE_BEGIN(session, "versions", titles);
    int64_t id;
    bool deprecated = !option_given(session, "undo");
    if (!text_to_i64(text_from(session->arguments[0]), &id) || id <= 0)
        return usage_failed(session, "\"%s\" is not the number of a version",
                            session->arguments[0]);
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status = db_admin_version_deprecate(session->db, id, deprecated);
    if (status == STATUS_NOT_FOUND)
        (void)fail(&session->failure, status, "there is no such version");
    status = session_db_failed(session, status, "version");
    if (status == STATUS_OK)
        status = session_commit_catalog(session);
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, id);
    table_text(&done, yes_or_no(deprecated));
    table_tell(&done, text_print(session->arena, "version %" PRId64 " is %s", id,
                                 deprecated ? "deprecated" : "in use"));
    return EXIT_DONE;
}

/* --- version add --------------------------------------------------------------------------- */

static struct text last_part(struct text path)
{
    while (text_contains(path, TEXT("/")))
        (void)text_split(&path, '/');
    return path;
}

static bool option_lists(const struct session *session, const char *option, const char *value)
{
    const char *given;
    for (size_t index = 0; (given = option_next(session, option, &index)) != NULL;)
        if (strcmp(given, value) == 0)
            return true;
    return false;
}

/* NAME of --logical NAME=FILE, or NAME of an argument NAME=FILE. */
static struct text logical_name(const struct session *session, const char *path)
{
    const char *given;
    for (size_t index = 0; (given = option_next(session, "logical", &index)) != NULL;) {
        struct text rest = text_from(given);
        struct text name = text_split(&rest, '=');
        if (text_is(rest, path) || text_equal(rest, last_part(text_from(path))))
            return name;
    }
    return NO_TEXT;
}

/* Programs of different versions and platforms often have the same file name. */
static struct text main_name(struct session *session, const struct version_document *version,
                             const char *path)
{
    const char *plan_class = option_value(session, "plan-class");
    struct text suffix = text_ends(text_from(path), TEXT(".exe")) ? TEXT(".exe") : NO_TEXT;
    if (option_given(session, "keep-name"))
        return last_part(text_from(path));
    return text_print(session->arena, TEXT_FORMAT "_%" PRId64 ".%02" PRId64 "_%s%s%s" TEXT_FORMAT,
                      TEXT_ARG(version->app_name), version->version_num / 100,
                      version->version_num % 100, session->arguments[2],
                      plan_class == NULL ? "" : "__", plan_class == NULL ? "" : plan_class,
                      TEXT_ARG(suffix));
}

static enum status add_file(struct session *session, struct stage *stage,
                            struct version_document *version, const char *argument, bool is_main,
                            struct text private_key, struct version_file *ret_file)
{
    struct version_file file = {.is_main = is_main};
    struct text rest = text_from(argument);
    const char *path = argument;
    if (text_contains(rest, TEXT("="))) {
        file.open_name = text_split(&rest, '=');
        path = rest.at;
    } else {
        file.open_name = logical_name(session, path);
    }
    if (file.open_name.length > 0 && open_name_fault(file.open_name) != NULL)
        return fail(&session->failure, STATUS_INVALID,
                    "the name \"" TEXT_FORMAT "\", by which the program opens %s, %s",
                    TEXT_ARG(file.open_name), path, open_name_fault(file.open_name));
    file.copy_file = option_lists(session, "copy", path);
    struct text name = is_main ? main_name(session, version, path) : last_part(text_from(path));
    enum status status = stage_program(stage, path, name, is_main, &file.file, &file.is_executable,
                                       &session->failure);
    if (status == STATUS_OK)
        status = rsa_sign_md5(session->arena, private_key, file.file.md5, &file.signature,
                              &session->failure);
    if (status == STATUS_OK)
        *ret_file = file;
    return status;
}

static enum status add_files(struct session *session, struct stage *stage,
                             struct version_document *version)
{
    size_t count = session->argument_count - 3, mains = 0;
    const char *main_path = option_value(session, "main");
    struct version_file *files = ARENA_ARRAY(session->arena, count, struct version_file);
    struct text private_key;
    if (files == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    if (main_path == NULL)
        main_path = session->arguments[3];
    enum status status = key_read(session->arena, session->config, "code_sign_private",
                                  &private_key, &session->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        bool is_main = strcmp(session->arguments[3 + i], main_path) == 0;
        mains += is_main;
        status = add_file(session, stage, version, session->arguments[3 + i], is_main, private_key,
                          &files[i]);
    }
    if (status == STATUS_OK && mains != 1)
        status = fail(&session->failure, STATUS_INVALID, "--main %s: %s among the files", main_path,
                      mains == 0 ? "not" : "twice");
    version->files = files;
    version->file_count = count;
    return status;
}

static enum status insert_version(struct session *session, const struct version_document *version,
                                  const struct app_row *app, int64_t platformid, int64_t *ret_id)
{
    struct buffer document = buffer_in(session->arena);
    enum status status = version_document_write(version, &document, &session->failure);
    if (status != STATUS_OK)
        return status;
    const struct new_version row = {.appid = app->id,
                                    .version_num = version->version_num,
                                    .platformid = platformid,
                                    .plan_class = text_from(option_value(session, "plan-class")),
                                    .xml_doc = buffer_text(&document),
                                    .now = session->now};
    status = session_db_failed(
        session, db_admin_version_add(session->db, &row, ret_id),
        text_string(session->arena,
                    text_print(session->arena, "version %s of %s for %s", session->arguments[1],
                               session->arguments[0], session->arguments[2])));
    if (status == STATUS_OK)
        status = session_commit_version(session, *ret_id);
    return status;
}

static void tell_version(struct session *session, int64_t id, size_t files)
{
    static const char *const titles[] = {"id", "app", "version", "platform", "files"};
    struct output_table done = TABLE_BEGIN(session, "versions", titles);

    table_number(&done, id);
    for (size_t i = 0; i < 3; i++)
        table_text(&done, text_from(session->arguments[i]));
    table_number(&done, (int64_t)files);
    table_tell(&done, text_print(session->arena, "version %" PRId64 ": %s %s for %s, " COUNT_FORMAT,
                                 id, session->arguments[0], session->arguments[1],
                                 session->arguments[2], COUNT_ARG(files, "file")));
}

enum exit_code command_version_add(struct session *session)
{
    struct version_document version = {.app_name = text_from(session->arguments[0]),
                                       .api_version = text_from(option_value(session, "api")),
                                       .file_prefix =
                                           text_from(option_value(session, "file-prefix")),
                                       .dont_throttle = option_given(session, "dont-throttle"),
                                       .needs_network = option_given(session, "needs-network"),
                                       .is_wrapper = option_given(session, "wrapper")};
    struct app_row app;
    int64_t platformid, id = 0;
    if (!version_number_read(text_from(session->arguments[1]), &version.version_num))
        return usage_failed(session, "\"%s\" is not a version such as 1.03", session->arguments[1]);
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status = session_app(session, session->arguments[0], &app);
    if (status == STATUS_OK) {
        status = db_admin_platform_find(session->db, text_from(session->arguments[2]), &platformid);
        if (status == STATUS_NOT_FOUND)
            (void)fail(&session->failure, status, "there is no platform \"%s\"",
                       session->arguments[2]);
        status = session_db_failed(session, status, "platform");
    }
    if (status != STATUS_OK)
        return session_failed(session);
    version.config = session->config;
    struct stage *stage = stage_create(session->arena, session->config);
    if (stage == NULL)
        return session_failed(session);
    status = add_files(session, stage, &version);
    if (status == STATUS_OK)
        status = insert_version(session, &version, &app, platformid, &id);
    stage_end(stage, status == STATUS_OK || status == STATUS_DB_UNKNOWN);
    if (status != STATUS_OK)
        return session_failed(session);
    tell_version(session, id, version.file_count);
    return EXIT_DONE;
}
