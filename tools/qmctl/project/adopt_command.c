/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl adopt: says what moving a running BOINC project over would mean
 * (server/adoption/adoption.h), and with --apply does what has to change. Each change looks by
 * itself whether it is done, so the command goes on where it was interrupted, and finds nothing to
 * do the second time. */
#include "server/adoption/adoption.h"

#include "config/config.h"
#include "db/adoption_rows.h"
#include "db/schema.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/shown.h"
#include "tools/qmctl/deploy/deploy_place.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/db_admin_user.h"
#include "tools/qmctl/session/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

static void put(struct output_table *table, const char *level, const char *topic, struct text where,
                struct text words)
{
    table_text(table, text_from(level));
    table_text(table, text_from(topic));
    table_text(table, where);
    table_words(table, words);
}

/* --- the look ----------------------------------------------------------------------------------
 */

/* What is not there cannot be looked at. */
static enum status find_project(struct session *session)
{
    const char *dir = session->arguments[0];
    const char *config =
        text_string(session->arena, text_print(session->arena, "%s/config.xml", dir));
    char *real = realpath(dir, NULL);
    struct stat info;

    if (real == NULL)
        return fail(&session->failure, STATUS_NOT_FOUND, "%s: %s", dir, strerror(errno));
    session->project = text_string(session->arena, text_copy(session->arena, text_from(real)));
    free(real);
    if (stat(session->project, &info) != 0 || !S_ISDIR(info.st_mode))
        return fail(&session->failure, STATUS_NOT_FOUND, "%s is not a folder", dir);
    if (access(config, F_OK) != 0 && errno == ENOENT)
        return fail(&session->failure, STATUS_NOT_FOUND,
                    "%s: there is no config.xml, so this is not a project's folder", dir);
    return STATUS_OK;
}

/* Who starts the server, on which socket, for which web server: as qmctl deploy takes it. */
static void say_place(struct session *session, struct output_table *table,
                      struct adoption *adoption)
{
    struct deploy_place found, *place = &found;
    enum status status = deploy_place_find(session, place);
    struct text lacks;

    if (status != STATUS_OK) {
        adoption->counts[ADOPTION_WARNING]++;
        put(table, "warning", "server", TEXT("qmctl deploy"),
            text_copy(session->arena, text_from(session->failure.text)));
        session->failure = (struct failure){.status = STATUS_OK};
        return;
    }
    put(table, "note", "server", TEXT("qmctl deploy systemd"),
        text_print(session->arena,
                   "makes the service quartermaster@%s, which listens on %s; the web server's "
                   "group, %s, may open this socket",
                   place->file_name, place->socket, place->group));
    put(table, "note", "server", TEXT("qmctl deploy apache"),
        text_print(session->arena,
                   "lets Apache pass %s/cgi to it instead of starting BOINC's cgi (with "
                   "--no-uploads BOINC's file_upload_handler stays); qmctl deploy nginx is for "
                   "nginx",
                   deploy_place_value(place, "CGI")));
    lacks = deploy_lacks(session, place, place->project, X_OK);
    if (lacks.length > 0) {
        adoption->counts[ADOPTION_WARNING]++;
        put(table, "warning", "server", TEXT("web server"), lacks);
    }
}

static enum exit_code judged(const struct adoption *adoption)
{
    if (adoption->counts[ADOPTION_ERROR] > 0)
        return EXIT_FAILED;
    return adoption->counts[ADOPTION_CHANGE] > 0 ? EXIT_NOTHING : EXIT_DONE;
}

/* Of the levels from `least` on. */
static void say_findings(struct output_table *table, const struct adoption *adoption,
                         enum adoption_level least)
{
    for (size_t i = 0; i < adoption->count; i++) {
        const struct adoption_finding *finding = &adoption->findings[i];

        if (finding->level >= least)
            put(table, adoption_level_word(finding->level), finding->topic, finding->where,
                finding->words);
    }
}

static void say_counts(const struct session *session, const struct adoption *adoption)
{
    if (session->form != FORM_TEXT)
        return;
    shown_line(stdout, COUNT_FORMAT ", " COUNT_FORMAT ", " COUNT_FORMAT "%s",
               COUNT_ARG(adoption->counts[ADOPTION_ERROR], "error"),
               COUNT_ARG(adoption->counts[ADOPTION_WARNING], "warning"),
               COUNT_ARG(adoption->counts[ADOPTION_CHANGE], "change"),
               adoption->counts[ADOPTION_CHANGE] == 0 ? ": nothing to change"
               : adoption->stops                      ? "; first correct the errors"
                                                      : "; --apply makes them");
}

static enum exit_code look(struct session *session, struct output_table *table,
                           struct adoption *adoption)
{
    bool shows_all = session->form != FORM_TEXT || option_given(session, "all");

    say_findings(table, adoption, shows_all ? ADOPTION_OK : ADOPTION_NOTE);
    say_place(session, table, adoption);
    table_print(table);
    say_counts(session, adoption);
    return judged(adoption);
}

/* --- the changes -------------------------------------------------------------------------------
 */

/* All upgrades are one act: the first stands for them. */
static enum status act(struct session *session, const struct adoption_finding *finding,
                       bool *has_tables)
{
    switch (finding->act) {
    case ACT_INDEX: {
        const struct needed_index *needed = &needed_indexes[finding->number];

        return db_schema_add_index(session->config, needed->table, needed->name, needed->columns,
                                   &session->failure);
    }
    case ACT_TABLES:
        if (*has_tables)
            return STATUS_OK;
        *has_tables = true;
        return db_schema_upgrade(session->config, NULL, &session->failure);
    case ACT_OPTION:
        return adoption_add_option(session->project, session->arena, finding->option,
                                   finding->value, &session->failure);
    case ACT_NONE:
    default:
        return STATUS_OK;
    }
}

static enum status apply(struct session *session, struct output_table *table,
                         const struct adoption *adoption)
{
    bool has_tables = false;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < adoption->count && status == STATUS_OK; i++) {
        const struct adoption_finding *finding = &adoption->findings[i];

        if (finding->level != ADOPTION_CHANGE)
            continue;
        status = act(session, finding, &has_tables);
        if (status == STATUS_OK)
            put(table, "ok", finding->topic, finding->where,
                text_print(session->arena, "done: " TEXT_FORMAT, TEXT_ARG(finding->words)));
    }
    return status;
}

static struct text changes_in_words(struct session *session, const struct adoption *adoption)
{
    struct buffer words = buffer_in(session->arena);

    buffer_print(&words, "To change in %s:", session->project);
    for (size_t i = 0; i < adoption->count; i++) {
        const struct adoption_finding *finding = &adoption->findings[i];

        if (finding->level == ADOPTION_CHANGE)
            buffer_print(&words, "\n- %s " TEXT_FORMAT ": " TEXT_FORMAT, finding->topic,
                         TEXT_ARG(finding->where), TEXT_ARG(finding->words));
    }
    return buffer_text(&words);
}

static enum status load_and_look(struct session *session, struct adoption *ret_adoption)
{
    enum status status;

    config_release(session->config);
    session->config = NULL;
    status = session_config(session);
    if (status == STATUS_OK)
        status = db_admin_user_take(session);
    if (status == STATUS_OK)
        status = adoption_look(session->project, session->config, session->arena, ret_adoption);
    if (status == STATUS_NO_MEMORY)
        (void)fail(&session->failure, status, "no memory");
    return status;
}

enum exit_code command_adopt(struct session *session)
{
    static const char *const titles[] = {"level", "topic", "where", "words"};
    struct output_table table = TABLE_BEGIN(session, "findings", titles);
    struct adoption adoption;
    enum status status = find_project(session);

    if (status == STATUS_OK)
        status = load_and_look(session, &adoption);
    if (status != STATUS_OK)
        return session_failed(session);
    if (!option_given(session, "apply") || adoption.stops)
        return look(session, &table, &adoption);
    if (adoption.counts[ADOPTION_CHANGE] > 0) {
        enum exit_code code =
            confirm_change(session, changes_in_words(session, &adoption), TEXT("apply"));

        if (code != EXIT_DONE)
            return code;
    }
    status = apply(session, &table, &adoption);
    if (status == STATUS_OK)
        status = load_and_look(session, &adoption);
    if (status == STATUS_OK)
        say_findings(&table, &adoption, ADOPTION_CHANGE);
    if (table.cell_count > 0)
        table_print(&table);
    if (status != STATUS_OK)
        return session_failed(session);
    say_counts(session, &adoption);
    return judged(&adoption);
}
