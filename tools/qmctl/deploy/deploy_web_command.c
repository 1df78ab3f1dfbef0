/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl deploy nginx and apache: the samples of config/, filled in for a project, and what the web
 * server would stumble over. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/check/project_check.h"
#include "tools/qmctl/deploy/deployment.h"
#include "tools/qmctl/session/commands.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

/* --- what the web server needs --------------------------------------------------------------- */

/* The server that listens there has to let the web server in; where none does yet, it is told how.
 */
static void look_at_socket(struct deployment *deployment, const char *path, const char *option,
                           const char *unit)
{
    const struct deploy_place *place = &deployment->place;
    struct arena *arena = deployment->session->arena;
    struct text problem = deploy_lacks(deployment->session, place, path, W_OK);

    if (access(path, F_OK) != 0 && deployment_is_service(deployment, path))
        deployment_say(
            deployment, "run",
            text_print(arena, "systemctl enable --now quartermaster%s@%s", unit, place->file_name));
    else if (access(path, F_OK) != 0)
        deployment_say(deployment, "run",
                       text_print(arena, "%s%s --project %s --listen unix:%s --socket-group %s",
                                  place->program, option, place->project, path, place->group));
    else if (problem.length > 0)
        deployment_warn(deployment,
                        text_print(arena,
                                   TEXT_FORMAT ": start quartermaster with --socket-group %s",
                                   TEXT_ARG(problem), place->group));
}

static void look_at_sockets(struct deployment *deployment)
{
    look_at_socket(deployment, deployment->place.socket, "", "");
    if (deployment->place.takes_uploads)
        look_at_socket(deployment, deployment->place.uploads_socket, " --upload", "-upload");
    if (deployment->session->config->submission)
        look_at_socket(deployment, deployment->place.submission_socket, " --submit", "-submit");
}

static void look_at_path(struct deployment *deployment, const char *path, int wanted)
{
    deployment_warn(deployment,
                    deploy_lacks(deployment->session, &deployment->place, path, wanted));
}

enum { DAYS_LEFT_FEW = 14 };

/* The web server reads them as root. */
static void look_at_certificate(struct deployment *deployment)
{
    struct session *session = deployment->session;
    const char *certificate = option_value(session, "certificate");
    const char *key = option_value(session, "key");
    struct failure failure = {.status = STATUS_OK};
    int days = 0;

    if (certificate == NULL || key == NULL)
        return;
    if (certificate_check(certificate, key, deploy_place_value(&deployment->place, "HOST"),
                          session->now, &days, &failure) != STATUS_OK)
        deployment_warn(deployment, text_print(session->arena, "certificate: %s", failure.text));
    else if (days < DAYS_LEFT_FEW)
        deployment_warn(deployment,
                        text_print(session->arena, "certificate: %s expires in " COUNT_FORMAT,
                                   certificate, COUNT_ARG(days, "day")));
}

/* With others no client takes files, and no upload is taken. */
static void warn_of_key(void *context, const struct check_finding *finding)
{
    struct deployment *deployment = context;

    if (finding->topic == TOPIC_keys)
        deployment_warn(deployment,
                        text_copy(deployment->session->arena, text_from(finding->text)));
}

static void look_at_folders(struct deployment *deployment)
{
    struct text elsewhere = deployment->place.downloads_elsewhere;

    if (elsewhere.length > 0)
        deployment_warn(deployment,
                        text_print(deployment->session->arena,
                                   "download_url is " TEXT_FORMAT
                                   ": nothing is written for it, so whatever serves it must keep "
                                   "serving it",
                                   TEXT_ARG(elsewhere)));
    else
        look_at_path(deployment, deploy_place_value(&deployment->place, "DOWNLOAD"), R_OK | X_OK);
    if (!deployment->place.has_boinc_pages)
        look_at_path(deployment, deploy_place_value(&deployment->place, "PAGES"), R_OK | X_OK);
    look_at_certificate(deployment);
    project_check(deployment->session->project, CHECK_NO_DATABASE, warn_of_key, deployment);
    if (deployment->place.is_https && !deployment->place.has_tls)
        deployment_warn(deployment,
                        TEXT("clients use https, as master_url says: without --certificate and "
                             "--key this web server answers only http, behind another web server"));
}

/* The group of a file may read what the web server's user may not: then he can be put into it. */
static void say_membership(struct deployment *deployment, const char *path)
{
    const struct deploy_place *place = &deployment->place;
    const struct group *group;
    struct stat found;

    if (deploy_lacks(deployment->session, place, path, R_OK).length == 0 ||
        stat(path, &found) != 0 || found.st_gid == 0 || (found.st_mode & S_IRGRP) == 0 ||
        (group = getgrgid(found.st_gid)) == NULL)
        return;
    deployment_say(deployment, "run",
                   text_print(deployment->session->arena,
                              "usermod -a -G %s %s && systemctl restart apache2", group->gr_name,
                              place->group));
}

/* Programs that the web server starts work as its user. */
static void look_at_programs(struct deployment *deployment)
{
    const struct config *config = deployment->session->config;
    struct arena *arena = deployment->session->arena;
    const char *project = deployment->place.project;
    const char *file = text_string(arena, text_print(arena, "%s/config.xml", project));
    struct text uploads = config->upload_dir;

    look_at_path(deployment, deployment->place.program, R_OK | X_OK);
    look_at_path(deployment, file, R_OK);
    say_membership(deployment, file);
    if (config->db_user.length == 0)
        deployment_say(deployment, "run",
                       text_print(arena, "qmctl --project %s deploy mariadb --user %s --apply",
                                  project, deployment->place.group));
    if (deployment->place.takes_uploads && uploads.length > 0)
        look_at_path(deployment, text_string(arena, uploads), R_OK | W_OK | X_OK);
}

/* --- the commands ---------------------------------------------------------------------------- */

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
    status = deployment_add(deployment, "nginx.conf", path, true);
    if (status != STATUS_OK || locations == NULL)
        return status;
    set_nginx_parts(deployment, false, false, true);
    return deployment_add(deployment, "nginx.conf", locations, true);
}

enum exit_code command_deploy_nginx(struct session *session)
{
    const char *locations = option_value(session, "locations");
    struct deployment deployment;
    enum exit_code code;

    if (deployment_begin(session, &deployment) != STATUS_OK ||
        add_nginx_files(&deployment) != STATUS_OK)
        return session_failed(session);
    code = deployment_put(&deployment);
    if (code == EXIT_FAILED)
        return code;
    if (deployment.place.has_boinc_pages)
        deployment_warn(
            &deployment,
            TEXT("the project has BOINC's web pages (html/user/index.php), which need a location "
                 "with PHP for its folder; without it there is no master page"));
    look_at_folders(&deployment);
    look_at_sockets(&deployment);
    if (locations != NULL)
        deployment_say(&deployment, "add",
                       text_print(session->arena, "include %s; to the server block of %s",
                                  locations, deploy_place_value(&deployment.place, "HOST")));
    deployment_say(&deployment, "run", TEXT("nginx -t && systemctl reload nginx"));
    return deployment_end(&deployment, code);
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

/* One file; of a project that has a whole host, where it comes by https too, one for each. */
static enum status add_apache_site(struct deployment *deployment, const char *sample,
                                   const char *path, bool is_https)
{
    struct deploy_place *place = &deployment->place;
    bool has_root = place->is_root && !place->has_boinc_pages;

    deploy_place_set_part(place, "root", has_root);
    deploy_place_set_part(place, "below", !has_root);
    deploy_place_set_part(place, "http", !is_https);
    deploy_place_set_part(place, "https", is_https);
    return deployment_add(deployment, sample, path, true);
}

struct sites {
    const char *paths[2]; /* the second is NULL where there is one */
};

static enum status add_apache_files(struct deployment *deployment, const char *sample,
                                    struct sites *ret_sites)
{
    const struct deploy_place *place = &deployment->place;
    struct arena *arena = deployment->session->arena;
    const char *path = path_of(deployment, "/etc/apache2/sites-available");
    struct text stem = text_from(path);
    enum status status;

    *ret_sites = (struct sites){.paths = {path}};
    if (text_ends(stem, TEXT(".conf")))
        stem.length -= strlen(".conf");
    if (place->is_root && !place->has_boinc_pages && place->has_tls)
        ret_sites->paths[1] =
            text_string(arena, text_print(arena, TEXT_FORMAT "-tls.conf", TEXT_ARG(stem)));
    status = add_apache_site(deployment, sample, path, false);
    if (status == STATUS_OK && ret_sites->paths[1] != NULL)
        status = add_apache_site(deployment, sample, ret_sites->paths[1], true);
    if (status == STATUS_OK)
        status = deployment_add(deployment, "scheduler-down.asis",
                                deploy_place_value(place, "DOWN"), false);
    if (status == STATUS_OK && deployment->session->config->joining)
        status = deployment_add(deployment, "join-down.asis",
                                deploy_place_value(place, "JOIN_DOWN"), false);
    if (status == STATUS_OK && deployment->session->config->submission)
        status = deployment_add(deployment, "submission-down.asis",
                                deploy_place_value(place, "SUBMISSION_DOWN"), false);
    return status;
}

/* Debian's Apache: its folder, from that of the site's file; NULL: the file lies elsewhere. */
static const char *apache_folder(struct arena *arena, const char *path, const char *kind)
{
    const char *slash = strrchr(path, '/');
    struct text folder = {path, slash == NULL ? 0 : (size_t)(slash - path)};

    if (!text_ends(folder, text_print(arena, "/%s", kind)))
        return NULL;
    return text_string(arena, text_first(folder, folder.length - strlen(kind) - 1));
}

/* The packages of modules that are not in Debian's apache2 itself. */
static void say_packages(struct deployment *deployment, const struct way *way, const char *folder)
{
    struct arena *arena = deployment->session->arena;
    const char *modules = text_string(arena, text_print(arena, "%s/mods-available", folder));
    const char *fcgid = text_string(arena, text_print(arena, "%s/fcgid.load", modules));

    if (strcmp(way->word, "fcgid") == 0 && access(modules, F_OK) == 0 && access(fcgid, F_OK) != 0)
        deployment_say(deployment, "run", TEXT("apt-get install libapache2-mod-fcgid"));
}

static bool listens(struct arena *arena, struct text ports, struct text port)
{
    while (ports.length > 0) {
        struct text line = text_trim(text_split(&ports, '\n'));

        if (!text_starts(line, TEXT("Listen ")))
            continue;
        line = text_trim((struct text){line.at + 7, line.length - 7});
        line = text_split(&line, ' '); /* a protocol may follow */
        if (text_equal(line, port) ||
            text_ends(line, text_print(arena, ":" TEXT_FORMAT, TEXT_ARG(port))))
            return true;
    }
    return false;
}

/* A port that Apache does not listen on yet. */
static void say_port(struct deployment *deployment, const char *folder, const char *word)
{
    enum { PORTS_BYTES_MAX = 1 << 16 };
    struct arena *arena = deployment->session->arena;
    const char *path = text_string(arena, text_print(arena, "%s/ports.conf", folder));
    const char *port = deploy_place_value(&deployment->place, word);
    struct failure unread = {0};
    struct text ports;

    if (file_read(arena, path, PORTS_BYTES_MAX, &ports, &unread) == STATUS_OK &&
        !listens(arena, ports, text_from(port)))
        deployment_say(deployment, "add", text_print(arena, "Listen %s to %s", port, path));
}

static const char *last_part(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct text name = text_from(slash == NULL ? path : slash + 1);

    if (text_ends(name, TEXT(".conf")))
        name.length -= strlen(".conf");
    return text_string(arena, name);
}

/* As an administrator of Debian does it, by links that its commands make; elsewhere by what Apache
 * understands itself. */
static void say_apache_commands(struct deployment *deployment, const struct way *way,
                                const struct sites *sites)
{
    struct arena *arena = deployment->session->arena;
    const char *path = sites->paths[0], *command = "a2ensite";
    const char *folder = apache_folder(arena, path, "sites-available");
    struct text names = text_print(arena, "%s", last_part(arena, path));

    if (folder == NULL) {
        command = "a2enconf";
        folder = apache_folder(arena, path, "conf-available");
    }
    if (sites->paths[1] != NULL)
        names = text_print(arena, TEXT_FORMAT " %s", TEXT_ARG(names),
                           last_part(arena, sites->paths[1]));
    if (folder != NULL) {
        say_packages(deployment, way, folder);
        say_port(deployment, folder, "PORT");
        if (deployment->place.has_tls)
            say_port(deployment, folder, "TLS_PORT");
        deployment_say(deployment, "run",
                       text_print(arena, "a2enmod %s%s && %s " TEXT_FORMAT, way->modules,
                                  deployment->place.has_tls ? " ssl" : "", command,
                                  TEXT_ARG(names)));
    } else {
        deployment_say(deployment, "run",
                       text_print(arena, "a2enmod %s%s", way->modules,
                                  deployment->place.has_tls ? " ssl" : ""));
        for (size_t i = 0; i < 2 && sites->paths[i] != NULL; i++)
            deployment_say(
                deployment, "add",
                text_print(arena, "Include %s to the configuration of Apache", sites->paths[i]));
    }
    deployment_say(deployment, "run", TEXT("apache2ctl configtest && systemctl reload apache2"));
}

enum exit_code command_deploy_apache(struct session *session)
{
    const struct way *way = find_way(session);
    struct deployment deployment;
    struct sites sites;
    enum exit_code code;

    if (way == NULL)
        return usage_failed(session, "--how %s: wanted proxy-fcgi, fcgid or cgi",
                            option_value(session, "how"));
    if (deployment_begin(session, &deployment) != STATUS_OK ||
        add_apache_files(&deployment, way->sample, &sites) != STATUS_OK)
        return session_failed(session);
    code = deployment_put(&deployment);
    if (code == EXIT_FAILED)
        return code;
    look_at_folders(&deployment);
    if (way->has_sockets)
        look_at_sockets(&deployment);
    else
        look_at_programs(&deployment);
    say_apache_commands(&deployment, way, &sites);
    return deployment_end(&deployment, code);
}
