/* SPDX-License-Identifier: Apache-2.0 */
/* A version from files that are named one by one, or from folders (version_tree.h). */
#include "config/config.h"
#include "db/rows.h"
#include "server/base/arena.h"
#include "server/project/hierarchy.h"
#include "server/project/keys.h"
#include "server/submit/stage.h"
#include "tools/qmctl/project/version_rows.h"
#include "tools/qmctl/project/version_tree.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

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
        if (text_is(rest, path) || text_equal(rest, text_behind_last(text_from(path), '/')))
            return name;
    }
    return NO_TEXT;
}

/* Programs of different versions and platforms often have the same file name. */
static struct text main_name(struct session *session, const struct version_document *version,
                             const char *path)
{
    const char *plan_class = option_value(session, "plan_class");
    struct text suffix = text_ends(text_from(path), TEXT(".exe")) ? TEXT(".exe") : NO_TEXT;
    if (option_given(session, "keep-name"))
        return text_behind_last(text_from(path), '/');
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
    struct text name =
        is_main ? main_name(session, version, path) : text_behind_last(text_from(path), '/');
    enum status status = stage_program(stage, path, name, is_main, &file.file, &file.is_executable,
                                       &session->failure);
    if (status == STATUS_OK && option_given(session, "gzip"))
        status = stage_gzip(stage, &file.file, &session->failure);
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

static struct version_document described(const struct session *session)
{
    return (struct version_document){.config = session->config,
                                     .app_name = text_from(session->arguments[0]),
                                     .api_version = text_from(option_value(session, "api")),
                                     .file_prefix = text_from(option_value(session, "file-prefix")),
                                     .dont_throttle = option_given(session, "dont-throttle"),
                                     .needs_network = option_given(session, "needs-network"),
                                     .is_wrapper = option_given(session, "wrapper")};
}

static enum exit_code add_from_files(struct session *session)
{
    struct version_document version;
    struct version_place place = {.platform = text_from(session->arguments[2]),
                                  .plan_class = text_from(option_value(session, "plan_class"))};
    struct setting_values values;
    struct app_row app = {.id = 0};
    int64_t id = 0, number = 0;
    enum status status =
        version_number_read(text_from(session->arguments[1]), &number, &session->failure);
    session->is_usage = status != STATUS_OK;
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = session_app(session, session->arguments[0], &app);
    if (status == STATUS_OK)
        status = version_find_platform(session, session->arguments[2], &place.platformid);
    if (status != STATUS_OK)
        return session_failed(session);
    place.appid = app.id;
    version = described(session);
    version.version_num = number;
    (void)setting_values_given(session, &version_settings, &values);
    struct stage *stage = stage_create(session->arena, session->config);
    if (stage == NULL)
        return session_failed(session);
    status = add_files(session, stage, &version);
    if (status == STATUS_OK)
        status = version_insert(session, &version, &place, &values, &id);
    stage_end(stage, status == STATUS_OK || status == STATUS_DB_UNKNOWN);
    if (status != STATUS_OK)
        return session_failed(session);
    tell_version(session, id, version.file_count);
    return EXIT_DONE;
}

enum exit_code command_version_add(struct session *session)
{
    if (option_given(session, "from"))
        return version_tree_add(session);
    if (session->argument_count < 4)
        return usage_failed(session, "version add needs APP VERSION PLATFORM FILE..., or --from");
    return add_from_files(session);
}
