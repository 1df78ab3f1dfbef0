/* SPDX-License-Identifier: Apache-2.0 */
/* Making a project: step by step, each of which looks first whether its work is done. So it can be
 * repeated, goes on after an interruption, and on the folder of a BOINC project adds only what is
 * missing. */
#include "server/submit/new_project.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/schema.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/random.h"
#include "server/base/shown.h"
#include "server/check/master_url.h"
#include "server/project/keys.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/db_admin_user.h"
#include "tools/qmctl/session/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

#define SCHEDULERS_MAX 32

static const char *below(struct session *session, const char *name)
{
    return text_string(session->arena, text_print(session->arena, "%s/%s", session->project, name));
}

static void say_state(struct output_table *steps, const char *what, struct text state)
{
    table_text(steps, text_from(what));
    table_words(steps, state);
}

static void say(struct output_table *steps, const char *what, bool made)
{
    say_state(steps, what, made ? TEXT("made") : TEXT("existed"));
}

static enum status make_folder(struct session *session, const char *path, mode_t mode,
                               bool *ret_made)
{
    *ret_made = file_make_folder(path, mode);
    if (!*ret_made && errno != EEXIST)
        return fail(&session->failure, STATUS_IO, "%s: %s", path, strerror(errno));
    return STATUS_OK;
}

static enum status make_folders(struct session *session, struct output_table *steps)
{
    static const char *const names[] = {"keys", "download",  "upload", "templates",
                                        "html", "html/user", "log"};
    bool made;
    enum status status = make_folder(session, session->project, 0755, &made);
    char absolute[4096];
    if (status != STATUS_OK)
        return status;
    say(steps, "project folder", made);
    if (realpath(session->project, absolute) == NULL)
        return fail(&session->failure, STATUS_IO, "%s: %s", session->project, strerror(errno));
    session->project = text_string(session->arena, text_copy(session->arena, text_from(absolute)));
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == STATUS_OK; i++) {
        status = make_folder(session, below(session, names[i]), 0775, &made);
        if (made)
            say(steps, names[i], made);
    }
    return status;
}

static bool is_url(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.at[i] <= ' ' || text.at[i] == '"' || text.at[i] == '<')
            return false;
    return text_starts(text, TEXT("http://")) || text_starts(text, TEXT("https://"));
}

/* Where BOINC has it, and the samples for web servers: at /NAME_cgi/cgi for a project at /NAME/. */
static struct text usual_scheduler(struct session *session, struct text master_url)
{
    struct text base = text_first(master_url, master_url.length - 1);
    size_t host = text_find(base, TEXT("://")) + 3;
    bool has_name = host < base.length &&
                    text_contains((struct text){base.at + host, base.length - host}, TEXT("/"));

    return text_print(session->arena, has_name ? TEXT_FORMAT "_cgi/cgi" : TEXT_FORMAT "/cgi",
                      TEXT_ARG(base));
}

/* For a user of the database that is yet to be made. */
static struct text random_password(struct session *session)
{
    return text_print(session->arena, "%016" PRIx64 "%016" PRIx64, random_u64(), random_u64());
}

static enum status find_password(struct session *session, struct text *ret_password)
{
    const char *file = option_value(session, "db-passwd-file");

    *ret_password = text_from(option_value(session, "db-passwd"));
    if (file != NULL)
        return password_read(session, file, ret_password);
    if (ret_password->length == 0 && option_given(session, "db-admin") &&
        option_given(session, "db-user"))
        *ret_password = random_password(session);
    return STATUS_OK;
}

static enum status read_new_project(struct session *session, struct new_project *project,
                                    struct text urls[SCHEDULERS_MAX])
{
    static const char *const needed[] = {"url", "name", "db-name"};
    struct text url = text_from(option_value(session, "url"));
    enum master_url_fault fault = master_url_judge(url);
    const char *given;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!option_given(session, needed[i]))
            return fail(&session->failure, STATUS_INVALID, "a new project needs --%s", needed[i]);
    *project = (struct new_project){.dir = text_from(session->project),
                                    .master_url = master_url_spelled(session->arena, url),
                                    .name = text_from(option_value(session, "name")),
                                    .db_name = text_from(option_value(session, "db-name")),
                                    .db_host = text_from(option_value(session, "db-host")),
                                    .db_socket = text_from(option_value(session, "db-socket")),
                                    .db_user = text_from(option_value(session, "db-user")),
                                    .scheduler_urls = urls};
    if (find_password(session, &project->db_passwd) != STATUS_OK)
        return session->failure.status;
    if (fault != MASTER_URL_NONE)
        return fail(&session->failure, STATUS_INVALID, "--url: \"" TEXT_FORMAT "\" %s",
                    TEXT_ARG(text_first(url, 100)), master_url_fault_words(fault));
    for (size_t index = 0; (given = option_next(session, "scheduler", &index)) != NULL;) {
        if (project->scheduler_count == SCHEDULERS_MAX)
            return fail(&session->failure, STATUS_TOO_LARGE, "more than %d schedulers",
                        SCHEDULERS_MAX);
        urls[project->scheduler_count++] = text_from(given);
    }
    if (project->scheduler_count == 0)
        urls[project->scheduler_count++] = usual_scheduler(session, project->master_url);
    for (size_t i = 0; i < project->scheduler_count; i++)
        if (!is_url(urls[i]))
            return fail(&session->failure, STATUS_INVALID, "\"" TEXT_FORMAT "\" is not a URL",
                        TEXT_ARG(text_first(urls[i], 100)));
    return STATUS_OK;
}

/* The database's password may stand in it. */
static enum status make_config(struct session *session, struct output_table *steps,
                               const struct new_project *project)
{
    struct buffer buffer = buffer_in(session->arena);
    project_write_config(project, &buffer);
    enum status status =
        file_write(below(session, "config.xml"), buffer_text(&buffer), 0640, &session->failure);
    if (status == STATUS_OK)
        say(steps, "config.xml", true);
    return status;
}

static enum status make_keys(struct session *session, struct output_table *steps)
{
    bool made[2];
    enum status status = keys_create(session->arena, session->config, made, &session->failure);
    for (int i = 0; i < 2 && status == STATUS_OK; i++)
        say(steps,
            text_string(session->arena, text_print(session->arena, "keys: %s", key_pairs[i])),
            made[i]);
    return status;
}

/* A project that has a page of its own keeps it; then its schedulers are its own affair. */
static enum status make_master_page(struct session *session, struct output_table *steps)
{
    const char *path = below(session, "html/user/index.html");
    const struct config *config = session->config;
    struct buffer buffer = buffer_in(session->arena);
    bool has_page =
        access(path, F_OK) == 0 || access(below(session, "html/user/index.php"), F_OK) == 0;
    enum status status = STATUS_OK;
    if (!has_page && config->scheduler_url.count > 0) {
        status = project_write_master_page(config->long_name, config->scheduler_url.items,
                                           config->scheduler_url.count, &buffer, &session->failure);
        if (status == STATUS_OK)
            status = file_write(path, buffer_text(&buffer), 0644, &session->failure);
    }
    if (status == STATUS_OK)
        say(steps, "master page", !has_page && config->scheduler_url.count > 0);
    return status;
}

static enum status make_database(struct session *session, struct output_table *steps)
{
    struct schema_report report = {.created_tables = false};
    enum status status = db_schema_upgrade(session->config, &report, &session->failure);
    if (status != STATUS_OK)
        return status;
    say(steps, "database", report.created_database);
    say(steps, "tables", report.created_tables);
    if (report.version_before != report.version_now)
        say_state(steps, "tables of Quartermaster",
                  text_print(session->arena, "from %" PRId64 " to %" PRId64, report.version_before,
                             report.version_now));
    return STATUS_OK;
}

static enum status make_platforms(struct session *session, struct output_table *steps)
{
    size_t count = 0;
    enum status status = session_db(session);
    for (size_t i = 0; i < standard_platform_count && status == STATUS_OK; i++) {
        bool added = false;
        status = session_db_failed(
            session,
            db_admin_platform_add(session->db, text_from(standard_platforms[i].name),
                                  text_from(standard_platforms[i].friendly_name), session->now,
                                  &added),
            "platforms");
        count += added;
    }
    if (status == STATUS_OK && count > 0)
        status = session_commit_catalog(session);
    if (status == STATUS_OK)
        say_state(steps, "platforms", text_print(session->arena, "%zu added", count));
    return status;
}

static bool has_other_password(const struct session *session)
{
    return option_given(session, "db-passwd") &&
           !text_is(session->config->db_passwd, option_value(session, "db-passwd"));
}

static bool has_other_schedulers(const struct session *session)
{
    const struct config *config = session->config;
    const char *given;
    size_t count = 0;

    for (size_t index = 0; (given = option_next(session, "scheduler", &index)) != NULL; count++)
        if (count >= config->scheduler_url.count ||
            !text_is(config->scheduler_url.items[count], given))
            return true;
    return count > 0 && count != config->scheduler_url.count;
}

/* Whoever mistyped something, and gives the command once more, has to hear that config.xml was not
 * written again. */
static enum status compare_config(struct session *session)
{
    const struct config *config = session->config;
    const char *url = option_value(session, "url");
    const struct {
        const char *option, *element;
        struct text given, there;
    } pairs[] = {
        {"url", "master_url", master_url_spelled(session->arena, text_from(url)),
         master_url_spelled(session->arena, config->master_url)},
        {"name", "long_name", text_from(option_value(session, "name")), config->long_name},
        {"db-name", "db_name", text_from(option_value(session, "db-name")), config->db_name},
        {"db-host", "db_host", text_from(option_value(session, "db-host")), config->db_host},
        {"db-socket", "db_socket", text_from(option_value(session, "db-socket")),
         config->db_socket},
        {"db-user", "db_user", text_from(option_value(session, "db-user")), config->db_user},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (option_given(session, pairs[i].option) && !text_equal(pairs[i].given, pairs[i].there))
            return fail(&session->failure, STATUS_INVALID,
                        "%s says %s \"" TEXT_FORMAT "\", not \"" TEXT_FORMAT
                        "\": change it there, or omit --%s",
                        below(session, "config.xml"), pairs[i].element, TEXT_ARG(pairs[i].there),
                        TEXT_ARG(pairs[i].given), pairs[i].option);
    if (has_other_password(session) || has_other_schedulers(session))
        return fail(&session->failure, STATUS_INVALID,
                    "%s contains a different %s: change it there, or omit --%s",
                    below(session, "config.xml"),
                    has_other_password(session) ? "db_passwd" : "scheduler_url",
                    has_other_password(session) ? "db-passwd" : "scheduler");
    return STATUS_OK;
}

/* A new project has the address as clients spell it. That of a project that is there is neither
 * refused nor changed: this command only adds what is missing. */
static void warn_of_address(struct session *session, bool is_new)
{
    struct text url =
        is_new ? text_from(option_value(session, "url")) : session->config->master_url;
    struct text spelled = master_url_spelled(session->arena, url);
    struct text without_slash = text_first(spelled, spelled.length - 1);
    enum master_url_fault fault = master_url_judge(url);

    if (fault != MASTER_URL_NONE)
        shown_line(stderr, "warning: master_url " TEXT_FORMAT " %s", TEXT_ARG(url),
                   master_url_fault_words(fault));
    else if (!text_equal(url, spelled) && !text_equal(url, without_slash))
        shown_line(stderr, "warning: clients spell " TEXT_FORMAT " as " TEXT_FORMAT "%s",
                   TEXT_ARG(url), TEXT_ARG(spelled), is_new ? ", and so does config.xml" : "");
}

enum exit_code command_init(struct session *session)
{
    static const char *const titles[] = {"what", "state"};
    struct output_table steps = TABLE_BEGIN(session, "steps", titles);
    struct text urls[SCHEDULERS_MAX];
    struct new_project project;
    session->project = session->arguments[0];
    bool has_config = access(below(session, "config.xml"), F_OK) == 0;
    /* What was given is checked before anything is made. */
    if (!has_config && read_new_project(session, &project, urls) != STATUS_OK)
        return usage_failed(session, "%s", session->failure.text);
    enum status status = make_folders(session, &steps);
    project.dir = text_from(session->project);
    if (status == STATUS_OK && !has_config)
        status = make_config(session, &steps, &project);
    else if (status == STATUS_OK)
        say(&steps, "config.xml", false);
    if (status == STATUS_OK)
        status = session_config(session);
    if (status == STATUS_OK && has_config)
        status = compare_config(session);
    if (status == STATUS_OK) {
        warn_of_address(session, !has_config);
        status = db_admin_user_take(session);
    }
    if (status == STATUS_OK)
        status = make_keys(session, &steps);
    if (status == STATUS_OK)
        status = make_master_page(session, &steps);
    if (status == STATUS_OK)
        status = make_database(session, &steps);
    if (status == STATUS_OK)
        status = make_platforms(session, &steps);
    if (steps.cell_count > 0)
        table_print(&steps);
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}
