/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration and database are opened when a subcommand first asks for them, so that signing a
 * file needs no database and making a project no configuration. */
#include "tools/qmctl/session/project_session.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/batches.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/near_name.h"
#include "server/base/shown.h"
#include "server/project/project.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

static void print_finding(const struct config_finding *finding)
{
    shown_line(stderr, TEXT_FORMAT ":%d: %s" TEXT_FORMAT, TEXT_ARG(finding->file), finding->line,
               finding->is_error ? "" : "warning: ", TEXT_ARG(finding->text));
}

void print_config_errors(const struct config_findings *findings)
{
    size_t errors = 0;

    for (size_t i = 0; i < findings->count; i++)
        errors += findings->items[i].is_error;
    for (size_t i = 0; i < findings->count && errors > 1; i++)
        if (findings->items[i].is_error)
            print_finding(&findings->items[i]);
}

void print_config_warnings(const struct config_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].is_error)
            print_finding(&findings->items[i]);
}

static bool is_project(const struct session *session)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/config.xml", session->project);

    return length < 0 || (size_t)length >= sizeof(path) || access(path, F_OK) == 0 ||
           errno != ENOENT;
}

static enum status load_config(struct session *session, struct config_findings *ret_findings)
{
    *ret_findings = (struct config_findings){.count = 0};
    if (session->config != NULL)
        return STATUS_OK;
    return config_load(session->project, session->arena, &session->config, ret_findings,
                       &session->failure);
}

enum status session_config(struct session *session)
{
    struct config_findings findings;
    enum status status = load_config(session, &findings);

    if (status != STATUS_OK && !is_project(session)) {
        bool is_here = strcmp(session->project, ".") == 0;
        session->failure = (struct failure){.status = STATUS_OK};
        return fail(&session->failure, status, "there is no config.xml in %s%s",
                    is_here ? "this folder" : session->project,
                    is_here ? ": go to the project's folder, or give --project DIR" : "");
    }
    if (status != STATUS_OK)
        print_config_errors(&findings);
    return status;
}

bool session_config_partly(struct session *session, bool *ret_is_whole)
{
    struct config_findings findings;
    struct failure unused = {.status = STATUS_OK};

    *ret_is_whole = true;
    if (session->config != NULL)
        return true;
    return config_load_partly(session->project, session->arena, &session->config, ret_is_whole,
                              &findings, &unused) == STATUS_OK ||
           session->config != NULL;
}

enum status session_db(struct session *session)
{
    enum status status = session_config(session);
    if (status != STATUS_OK || session->db != NULL)
        return status;
    return db_admin_open(session->config, &session->db, &session->failure);
}

enum status session_db_failed(struct session *session, enum status status, const char *what)
{
    return db_failed(session->db, status, what, &session->failure);
}

enum status session_unknown(struct session *session, const char *what, const char *name,
                            const struct text *known, size_t count, const char *advice)
{
    enum { NAMES_MOST = 10 };
    struct buffer words = buffer_in(session->arena);
    struct near_name near;

    near_name_begin(&near, text_from(name));
    for (size_t i = 0; i < count; i++)
        near_name_try(&near, text_string(session->arena, known[i]));
    if (near.nearest != NULL)
        buffer_print(&words, "; did you mean %s?", near.nearest);
    else if (count == 0)
        buffer_print(&words, ", nor any other (%s)", advice);
    for (size_t i = 0; i < count && i < NAMES_MOST && near.nearest == NULL; i++)
        buffer_print(&words, "%s" TEXT_FORMAT, i == 0 ? "; there are: " : ", ", TEXT_ARG(known[i]));
    if (count > NAMES_MOST && near.nearest == NULL)
        buffer_print(&words, " and %zu more", count - NAMES_MOST);
    return fail(&session->failure, STATUS_NOT_FOUND, "there is no %s \"%s\"" TEXT_FORMAT, what,
                name, TEXT_ARG(buffer_text(&words)));
}

enum status session_app(struct session *session, const char *name, struct app_row *ret_app)
{
    struct app_row *apps = NULL;
    struct text *names;
    size_t count = 0;
    enum status status = db_admin_app_find(session->db, session->arena, text_from(name), ret_app);

    if (status != STATUS_NOT_FOUND)
        return session_db_failed(session, status, name);
    status = db_admin_apps(session->db, session->arena, &apps, &count);
    names = ARENA_ARRAY(session->arena, count, struct text);
    if (status != STATUS_OK || names == NULL)
        count = 0;
    for (size_t i = 0; i < count; i++)
        names[i] = apps[i].name;
    return session_unknown(session, "application", name, names, count, "qmctl app add");
}

enum status session_user(struct session *session, const char *given, struct user_row *ret_user)
{
    enum status status =
        db_admin_user_find(session->db, session->arena, text_from(given), 0, ret_user);

    if (status == STATUS_NOT_FOUND)
        return fail(&session->failure, status, "there is no account \"%s\" (qmctl user list)",
                    given);
    return session_db_failed(session, status, "user");
}

enum status session_account(struct session *session, struct user_row *ret_user)
{
    int64_t id = 0;
    enum status status = option_number(session, "id", 1, INT64_MAX, &id);

    if (status == STATUS_OK && id == 0 && session->argument_count == 0) {
        session->is_usage = true;
        return fail(&session->failure, STATUS_INVALID, "%s needs an e-mail address or --id",
                    session->command->name);
    }
    if (status == STATUS_OK)
        status = session_db(session);
    if (status != STATUS_OK)
        return status;
    status = db_admin_user_find(
        session->db, session->arena,
        session->argument_count > 0 ? text_from(session->arguments[0]) : NO_TEXT, id, ret_user);
    if (status == STATUS_NOT_FOUND)
        return fail(&session->failure, status, "there is no such account (qmctl user list)");
    return session_db_failed(session, status, "user");
}

enum status session_batches(struct session *session)
{
    enum status status = session_db(session);

    if (status == STATUS_OK && !db_has_batches(session->db))
        return fail(&session->failure, STATUS_NOT_FOUND,
                    "the database has no tables for batches and submitters: it is older than they "
                    "are, and BOINC's html/ops/db_update.php adds them");
    return status;
}

enum status session_batch(struct session *session, const char *given, int64_t *ret_id)
{
    struct batch_entry_row batch;
    enum status status;

    if (text_to_i64(text_from(given), ret_id)) {
        if (*ret_id >= 1 && *ret_id <= INT32_MAX)
            return STATUS_OK;
        session->is_usage = true;
        return fail(&session->failure, STATUS_INVALID,
                    "%s is not the number of a batch: they are from 1 to %d", given, INT32_MAX);
    }
    status = session_batches(session);
    if (status != STATUS_OK)
        return status;
    status = db_batch_find(session->db, session->arena, 0, text_from(given), &batch);
    if (status == STATUS_NOT_FOUND)
        return fail(&session->failure, status, "there is no batch \"%s\" (qmctl batch list)",
                    given);
    if (status == STATUS_INVALID)
        return fail(&session->failure, status,
                    "several batches have the name \"%s\": use the number of the one that you mean "
                    "(qmctl batch list)",
                    given);
    if (status == STATUS_OK)
        *ret_id = batch.id;
    return session_db_failed(session, status, "batch");
}

enum status session_batch_name(struct session *session, struct text name)
{
    int64_t number;
    bool is_fit = name.length > 0 && name.length <= BATCH_NAME_MOST &&
                  !text_to_i64(name, &number) && text_equal(text_trim(name), name);

    for (size_t i = 0; i < name.length; i++)
        is_fit = is_fit && (unsigned char)name.at[i] >= ' ' && name.at[i] != 127;
    if (is_fit)
        return STATUS_OK;
    session->is_usage = true;
    return fail(&session->failure, STATUS_INVALID,
                "\"%.60s\" cannot be the name of a batch: it has 1 to %d bytes, no blanks around "
                "it, no control characters, and is not a number",
                text_string(session->arena, name), BATCH_NAME_MOST);
}

/* By the file of BOINC's own tools. Without it servers find out after catalog_refresh seconds, so a
 * folder that is not ours to write into is no failure. */
void session_catalog_changed(const struct session *session)
{
    char path[PATH_MAX];
    int file;

    project_path(session->config, "reread_db", path, sizeof(path));
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    /* It may lie there since a moment ago: its time says that it is meant anew. */
    if (file < 0 || !file_give(file, path) || futimens(file, NULL) != 0)
        shown_line(stderr, "warning: %s: %s; servers see this after %.0f s", path, strerror(errno),
                   session->config->catalog_refresh);
    if (file >= 0)
        close(file);
}

static enum status committed(struct session *session, enum status status)
{
    if (status == STATUS_OK)
        session_catalog_changed(session);
    return session_db_failed(session, status, "commit");
}

enum status session_commit_catalog(struct session *session)
{
    return committed(session, db_commit(session->db));
}

enum status session_commit_version(struct session *session, int64_t id)
{
    return committed(session, db_admin_version_commit(session->db, id));
}

void session_warn(struct text lines)
{
    while (lines.length > 0) {
        struct text line = text_split(&lines, '\n');

        shown_line(stderr, "warning: " TEXT_FORMAT, TEXT_ARG(line));
    }
}

enum exit_code session_failed(struct session *session)
{
    shown_line(stderr, "qmctl: %s",
               session->failure.text[0] == '\0' ? "failed" : session->failure.text);
    return session->is_usage ? EXIT_USAGE : EXIT_FAILED;
}
