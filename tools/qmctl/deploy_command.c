/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl deploy nginx and apache: the samples of config/, filled in for a project.
 *
 * Everything that is to be written is made first and compared with what is there; where one file
 * was changed by somebody, none is written. What an administrator has to do besides, and what the
 * web server would stumble over, is said in words and as commands, and not done. */
#include "config/config.h"
#include "config/sample.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "tools/qmctl/commands.h"
#include "tools/qmctl/deploy_file.h"
#include "tools/qmctl/deploy_place.h"
#include "tools/qmctl/output.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { FILES_MAX = 4 };

struct deployment {
    struct session *session;
    struct deploy_place place;
    struct output_table table;
    struct deploy_file files[FILES_MAX];
    size_t file_count;
};

/* --- what is said ---------------------------------------------------------------------------- */

/* `step`: one word, such as "written" of a file, or "run" of a command. */
static void say(struct deployment *deployment, const char *step, struct text words)
{
    table_text(&deployment->table, text_from(step));
    table_words(&deployment->table, words);
}

static void warn(struct deployment *deployment, struct text problem)
{
    if (problem.length > 0)
        say(deployment, "warning", problem);
}

/* --- files ----------------------------------------------------------------------------------- */

static enum status add_file(struct deployment *deployment, const char *sample, const char *path,
                            bool has_comments)
{
    struct session *session = deployment->session;
    struct buffer buffer = buffer_in(session->arena);
    enum status status =
        sample_fill(sample_find(sample), &deployment->place.filling, &buffer, &session->failure);

    if (status != STATUS_OK)
        return status;
    if (buffer.overflowed)
        return fail(&session->failure, STATUS_TOO_LARGE, "%s: too large", sample);
    return deploy_file_look(session->arena, path, buffer_text(&buffer), has_comments,
                            &deployment->files[deployment->file_count++], &session->failure);
}

/* EXIT_NOTHING: something would change. */
static enum exit_code show_files(struct deployment *deployment)
{
    static const char *const words[] = {[DEPLOY_NEW] = "new",
                                        [DEPLOY_SAME] = "same",
                                        [DEPLOY_OLD] = "old",
                                        [DEPLOY_CHANGED] = "changed"};
    struct session *session = deployment->session;
    enum exit_code code = EXIT_DONE;

    for (size_t i = 0; i < deployment->file_count; i++) {
        const struct deploy_file *file = &deployment->files[i];

        if (file->state != DEPLOY_SAME) {
            code = EXIT_NOTHING;
            if (session->form == FORM_TEXT &&
                deploy_file_diff(file, &session->failure) != STATUS_OK)
                return session_failed(session);
        }
        say(deployment, words[file->state], text_from(file->path));
    }
    return code;
}

static enum exit_code write_files(struct deployment *deployment)
{
    struct session *session = deployment->session;
    bool may_overwrite = option_given(session, "force");

    for (size_t i = 0; i < deployment->file_count && !may_overwrite; i++)
        if (deployment->files[i].state == DEPLOY_CHANGED) {
            (void)fail(
                &session->failure, STATUS_INVALID,
                "%s was changed, or written by somebody else: nothing was written (--dry-run "
                "shows the difference, --force writes over it)",
                deployment->files[i].path);
            return session_failed(session);
        }
    for (size_t i = 0; i < deployment->file_count; i++) {
        const struct deploy_file *file = &deployment->files[i];

        if (file->state != DEPLOY_SAME && deploy_file_write(file, &session->failure) != STATUS_OK)
            return session_failed(session);
        say(deployment, file->state == DEPLOY_SAME ? "same" : "written", text_from(file->path));
    }
    return EXIT_DONE;
}

/* --- what the web server needs --------------------------------------------------------------- */

/* The server that listens there has to let the web server in; where none does yet, it is told how.
 */
static void look_at_socket(struct deployment *deployment, const char *path, const char *option)
{
    const struct deploy_place *place = &deployment->place;
    struct arena *arena = deployment->session->arena;
    struct text problem = deploy_lacks(deployment->session, place, path, W_OK);

    if (access(path, F_OK) != 0)
        say(deployment, "run",
            text_print(arena, "%s%s --project %s --listen unix:%s --socket-group %s",
                       place->program, option, place->project, path, place->group));
    else if (problem.length > 0)
        warn(deployment,
             text_print(arena, TEXT_FORMAT ": start quartermaster with --socket-group %s",
                        TEXT_ARG(problem), place->group));
}

static void look_at_sockets(struct deployment *deployment)
{
    look_at_socket(deployment, deployment->place.socket, "");
    if (deployment->place.takes_uploads)
        look_at_socket(deployment, deployment->place.uploads_socket, " --upload");
}

static const char *value_of(const struct deployment *deployment, const char *word)
{
    for (size_t i = 0; i < deployment->place.filling.value_count; i++)
        if (strcmp(deployment->place.values[i].word, word) == 0)
            return deployment->place.values[i].value.at;
    return "";
}

static void look_at_path(struct deployment *deployment, const char *path, int wanted)
{
    warn(deployment, deploy_lacks(deployment->session, &deployment->place, path, wanted));
}

static void look_at_folders(struct deployment *deployment)
{
    look_at_path(deployment, value_of(deployment, "DOWNLOAD"), R_OK | X_OK);
    if (!deployment->place.has_boinc_pages)
        look_at_path(deployment, value_of(deployment, "PAGES"), R_OK | X_OK);
    if (deployment->place.is_https && !deployment->place.has_tls)
        warn(deployment, TEXT("clients come by https, as master_url says: without --certificate "
                              "and --key this web "
                              "server answers http alone, for another one that stands before it"));
}

/* Programs that the web server starts work as its user. */
static void look_at_programs(struct deployment *deployment)
{
    struct arena *arena = deployment->session->arena;
    const char *project = deployment->place.project;
    struct text uploads = deployment->session->config->upload_dir;

    look_at_path(deployment, deployment->place.program, R_OK | X_OK);
    look_at_path(deployment, text_string(arena, text_print(arena, "%s/config.xml", project)), R_OK);
    if (deployment->place.takes_uploads && uploads.length > 0)
        look_at_path(deployment, text_string(arena, uploads), R_OK | W_OK | X_OK);
}

/* --- the commands ---------------------------------------------------------------------------- */

static enum status begin(struct session *session, struct deployment *deployment)
{
    static const char *const titles[] = {"step", "words"};

    *deployment =
        (struct deployment){.session = session, .table = TABLE_BEGIN(session, "steps", titles)};
    return deploy_place_find(session, &deployment->place);
}

static enum exit_code put(struct deployment *deployment)
{
    return option_given(deployment->session, "dry-run") ? show_files(deployment)
                                                        : write_files(deployment);
}

static enum exit_code end(struct deployment *deployment, enum exit_code code)
{
    table_print(&deployment->table);
    return code;
}

static const char *path_of(struct deployment *deployment, const char *folder)
{
    const char *given = option_value(deployment->session, "file");
    struct arena *arena = deployment->session->arena;

    if (given != NULL)
        return given;
    return text_string(arena, text_print(arena, "%s/%s.conf", folder, deployment->place.file_name));
}

/* Whether the file that is filled next has these parts. */
static void set_nginx_parts(struct deployment *deployment, bool top, bool host, bool locations)
{
    deploy_place_set_part(&deployment->place, "top", top);
    deploy_place_set_part(&deployment->place, "host", host);
    deploy_place_set_part(&deployment->place, "locations", locations);
}

/* In one file; or in two, of which a server block that is there already includes the second. */
static enum status add_nginx_files(struct deployment *deployment)
{
    const char *locations = option_value(deployment->session, "locations");
    const char *path = path_of(deployment, "/etc/nginx/conf.d");
    enum status status;

    set_nginx_parts(deployment, true, locations == NULL, locations == NULL);
    status = add_file(deployment, "nginx.conf", path, true);
    if (status != STATUS_OK || locations == NULL)
        return status;
    set_nginx_parts(deployment, false, false, true);
    return add_file(deployment, "nginx.conf", locations, true);
}

enum exit_code command_deploy_nginx(struct session *session)
{
    const char *locations = option_value(session, "locations");
    struct deployment deployment;
    enum exit_code code;

    if (begin(session, &deployment) != STATUS_OK || add_nginx_files(&deployment) != STATUS_OK)
        return session_failed(session);
    code = put(&deployment);
    if (code == EXIT_FAILED)
        return code;
    if (deployment.place.has_boinc_pages)
        warn(&deployment,
             TEXT("the project has web pages of BOINC (html/user/index.php), which need a "
                  "location with PHP for its folder; without it there is no master page"));
    look_at_folders(&deployment);
    look_at_sockets(&deployment);
    if (locations != NULL)
        say(&deployment, "add",
            text_print(session->arena, "include %s; to the server block of %s", locations,
                       value_of(&deployment, "HOST")));
    say(&deployment, "run", TEXT("nginx -t && systemctl reload nginx"));
    return end(&deployment, code);
}

static const struct way {
    const char *word, *sample, *modules;
    bool has_sockets; /* quartermaster runs by itself */
} ways[] = {
    {"proxy-fcgi", "apache-proxy-fcgi.conf", "proxy_fcgi asis", true},
    {"fcgid", "apache-fcgid.conf", "fcgid asis", false},
    {"cgi", "apache-cgi.conf", "cgid asis", false},
};

static const struct way *find_way(const struct session *session)
{
    const char *word = option_value(session, "how");

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (word == NULL || strcmp(word, ways[i].word) == 0)
            return &ways[i];
    return NULL;
}

enum exit_code command_deploy_apache(struct session *session)
{
    const struct way *way = find_way(session);
    struct arena *arena = session->arena;
    struct deployment deployment;
    enum exit_code code;

    if (way == NULL)
        return usage_failed(session, "--how %s: wanted proxy-fcgi, fcgid or cgi",
                            option_value(session, "how"));
    if (begin(session, &deployment) != STATUS_OK ||
        add_file(&deployment, way->sample, path_of(&deployment, "/etc/apache2/sites-available"),
                 true) != STATUS_OK ||
        add_file(&deployment, "scheduler-down.asis", value_of(&deployment, "DOWN"), false) !=
            STATUS_OK)
        return session_failed(session);
    code = put(&deployment);
    if (code == EXIT_FAILED)
        return code;
    look_at_folders(&deployment);
    if (way->has_sockets)
        look_at_sockets(&deployment);
    else
        look_at_programs(&deployment);
    say(&deployment, "run",
        text_print(arena, "a2enmod %s%s && a2ensite %s", way->modules,
                   deployment.place.has_tls ? " ssl" : "", deployment.place.file_name));
    say(&deployment, "run", TEXT("apache2ctl configtest && systemctl reload apache2"));
    return end(&deployment, code);
}
