/* SPDX-License-Identifier: Apache-2.0 */
/* `qmctl files sweep`: what lies in the project's folders though nothing leads there any more. */
#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/passes/download_look.h"
#include "server/passes/upload_sweep.h"
#include "server/project/project.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/pass_session.h"

#include <limits.h>

#include "server/base/banned.h"

static const char *const kind_words[SWEEP_KIND_COUNT] = {
#define KIND_WORDS(name, words) words,
    SWEEP_KINDS(KIND_WORDS)
#undef KIND_WORDS
};

static enum status find_archives(struct session *session, struct upload_sweep_settings *settings)
{
    const char **folders = ARENA_ARRAY(session->arena, session->option_count + 1, const char *);
    const char *given;
    char path[PATH_MAX];

    if (folders == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t index = 0; (given = option_next(session, "archive", &index)) != NULL;)
        folders[settings->archive_count++] = given;
    if (settings->archive_count == 0) {
        project_path(session->config, "archives", path, sizeof(path));
        folders[settings->archive_count++] =
            text_string(session->arena, text_copy(session->arena, text_from(path)));
    }
    settings->archives = folders;
    return STATUS_OK;
}

static enum status list_file(void *context, const char *folder, struct text name, double bytes)
{
    struct output_table *table = context;
    struct session *session = table->session;
    struct arena_mark mark = arena_mark(session->arena);
    enum status status;

    table_text(table, text_copy(session->arena, text_from(folder)));
    table_text(table, name);
    table_real(table, bytes, 0);
    status = table_flush(table);
    arena_rewind(session->arena, mark);
    return status == STATUS_OK ? status : fail(&session->failure, status, "no memory");
}

static void add_row(struct output_table *table, const char *folder, const char *words,
                    const struct sweep_count *count)
{
    table_text(table, text_from(folder));
    table_number(table, count->files);
    table_real(table, count->bytes, 0);
    table_words(table, text_from(words));
}

static void add_uploads(struct output_table *table, const struct sweep_count *counts)
{
    for (int kind = 0; kind < SWEEP_KIND_COUNT; kind++)
        if (counts[kind].files > 0)
            add_row(table, "upload_dir", kind_words[kind], &counts[kind]);
}

static enum status add_downloads(struct output_table *table, int64_t now)
{
    struct session *session = table->session;
    struct sweep_count named, unnamed;
    struct pass_owner owner;
    enum status status = STATUS_OK;

    if (session->config->download_dir.length == 0)
        return STATUS_OK;
    owner = session_owner(session);
    status = download_look(&owner, now, &named, &unnamed);
    if (status != STATUS_OK)
        return status;
    add_row(table, "download_dir", "kept: older than 30 days, and a job or version names them",
            &named);
    add_row(
        table, "download_dir",
        "kept: older than 30 days, and no job or version names them (nothing here deletes them)",
        &unnamed);
    return STATUS_OK;
}

static enum status report(struct session *session, struct upload_sweep_settings *settings)
{
    static const char *const titles[] = {"folder", "files", "bytes", "what"};
    struct output_table table = TABLE_BEGIN(session, "files", titles);
    struct sweep_count counts[SWEEP_KIND_COUNT];
    struct pass_owner owner = session_owner(session);
    enum status status = upload_sweep(&owner, settings, counts);

    add_uploads(&table, counts);
    if (status == STATUS_OK)
        status = add_downloads(&table, settings->now);
    table_print(&table);
    return status == STATUS_OK && counts[SWEEP_failed].files > 0
               ? fail(&session->failure, STATUS_IO, "some files could not be deleted")
               : status;
}

static enum status list(struct session *session, struct upload_sweep_settings *settings)
{
    static const char *const titles[] = {"folder", "file", "bytes"};
    struct output_table table = TABLE_BEGIN(session, "files", titles);
    struct sweep_count counts[SWEEP_KIND_COUNT];
    struct pass_owner owner = session_owner(session);
    enum status status;

    settings->visit = list_file;
    settings->context = &table;
    status = upload_sweep(&owner, settings, counts);
    table_print(&table);
    return status == STATUS_OK && counts[SWEEP_failed].files > 0
               ? fail(&session->failure, STATUS_IO, "some files could not be deleted")
               : status;
}

enum exit_code command_files_sweep(struct session *session)
{
    struct upload_sweep_settings settings = {.now = session->now,
                                             .deletes = option_given(session, "delete") &&
                                                        !option_given(session, "dry-run")};
    enum exit_code code = EXIT_DONE;
    enum status status = option_number(session, "now", 1, INT32_MAX - 1, &settings.now);

    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = find_archives(session, &settings);
    if (status == STATUS_OK && settings.deletes)
        code = confirm(session, TEXT("uploaded files of purged jobs"), TEXT("delete"));
    if (code != EXIT_DONE)
        return code;
    if (status == STATUS_OK)
        status =
            option_given(session, "list") ? list(session, &settings) : report(session, &settings);
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}
