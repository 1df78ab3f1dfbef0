/* SPDX-License-Identifier: Apache-2.0 */
/* Samples hold paths and names as they are, so whatever would need quoting in one of the
 * configurations is refused here. */
#include "tools/qmctl/deploy/deploy_place.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"

#include <curl/curl.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { HTTP_PORT = 80, HTTPS_PORT = 443, PORT_MAX = 65535 };

/* --- URLs ------------------------------------------------------------------------------------ */

struct url {
    struct text host; /* of IPv6 in brackets */
    struct text path; /* without slashes at its ends */
    int64_t port;     /* 0: the usual one */
    bool is_https;
};

static struct text url_part(struct arena *arena, CURLU *handle, CURLUPart part)
{
    char *value = NULL;
    struct text text;

    if (curl_url_get(handle, part, &value, 0) != CURLUE_OK)
        return NO_TEXT;
    text = text_copy(arena, text_from(value));
    curl_free(value);
    return text;
}

static struct text without_slashes(struct text path)
{
    while (text_starts(path, TEXT("/")))
        path = (struct text){path.at + 1, path.length - 1};
    while (text_ends(path, TEXT("/")))
        path.length--;
    return path;
}

static enum status url_read(struct session *session, const char *option, struct text url,
                            struct url *ret_url)
{
    CURLU *handle = curl_url();
    CURLUcode code = CURLUE_OUT_OF_MEMORY;

    *ret_url = (struct url){.port = 0};
    if (handle != NULL)
        code = curl_url_set(handle, CURLUPART_URL, text_string(session->arena, url), 0);
    if (code == CURLUE_OK) {
        ret_url->host = url_part(session->arena, handle, CURLUPART_HOST);
        ret_url->path = without_slashes(url_part(session->arena, handle, CURLUPART_PATH));
        ret_url->is_https = text_is(url_part(session->arena, handle, CURLUPART_SCHEME), "https");
        if (!text_to_i64(url_part(session->arena, handle, CURLUPART_PORT), &ret_url->port))
            ret_url->port = 0;
    }
    curl_url_cleanup(handle);
    if (code != CURLUE_OK)
        return fail(&session->failure, STATUS_INVALID, "%s is \"" TEXT_FORMAT "\", which is no URL",
                    option, TEXT_ARG(url));
    return STATUS_OK;
}

/* The paths at which the samples serve the project: what comes before the slash of /cgi, /download
 * and so on, so of a project at the root of a host nothing. */
struct served {
    struct text path, cgi;
};

/* Whether a URL is at one of these paths of the project's host, or on another. */
static enum status is_at(struct session *session, const struct url *master, const char *option,
                         struct text url, const struct text paths[2], bool *ret_is_at)
{
    struct url found;
    enum status status = url_read(session, option, url, &found);

    *ret_is_at = status == STATUS_OK && (!text_equal_nocase(found.host, master->host) ||
                                         text_equal(found.path, without_slashes(paths[0])) ||
                                         text_equal(found.path, without_slashes(paths[1])));
    return status;
}

/* A URL on the same host must be where the samples have it; what is elsewhere is not theirs. */
static enum status check_url(struct session *session, const struct url *master, const char *option,
                             struct text url, const struct text paths[2])
{
    bool is_there = true;
    enum status status = STATUS_OK;

    if (url.length > 0)
        status = is_at(session, master, option, url, paths, &is_there);
    if (status != STATUS_OK || is_there)
        return status;
    return fail(&session->failure, STATUS_INVALID,
                "%s is " TEXT_FORMAT
                ", but for this master_url the web server would serve " TEXT_FORMAT
                ": change config.xml, or a copy of the sample by hand",
                option, TEXT_ARG(url), TEXT_ARG(paths[0]));
}

/* Downloads may go on where they are served today: files need no more than a web server. */
static enum status find_downloads(struct session *session, const struct url *master,
                                  const struct served *served, struct text *ret_elsewhere)
{
    struct text url = session->config->download_url;
    struct text usual = text_print(session->arena, TEXT_FORMAT "/download", TEXT_ARG(served->path));
    bool is_there = true;
    enum status status = STATUS_OK;

    if (url.length > 0)
        status = is_at(session, master, "download_url", url, (const struct text[2]){usual, usual},
                       &is_there);
    *ret_elsewhere = is_there ? NO_TEXT : url;
    return status;
}

/* Below a path the scheduler is at PATH_cgi/cgi. Who has the whole host may have it anywhere, as a
 * project has that once was below a path: its clients go on with the URL that they know. */
static enum status find_served(struct session *session, const struct url *master,
                               struct served *ret_served)
{
    const struct config *config = session->config;
    struct arena *arena = session->arena;
    struct url found;

    *ret_served = (struct served){.path = NO_TEXT};
    if (master->path.length > 0) {
        ret_served->path = text_print(arena, "/" TEXT_FORMAT, TEXT_ARG(master->path));
        ret_served->cgi = text_print(arena, "/" TEXT_FORMAT "_cgi", TEXT_ARG(master->path));
        return STATUS_OK;
    }
    for (size_t i = 0; i < config->scheduler_url.count; i++) {
        enum status status =
            url_read(session, "scheduler_url", config->scheduler_url.items[i], &found);

        if (status != STATUS_OK)
            return status;
        if (!text_equal_nocase(found.host, master->host) || !text_ends(found.path, TEXT("/cgi")))
            continue;
        ret_served->cgi = text_print(arena, "/" TEXT_FORMAT,
                                     TEXT_ARG(text_first(found.path, found.path.length - 4)));
        break;
    }
    return STATUS_OK;
}

static enum status check_urls(struct session *session, const struct url *master,
                              const struct served *served, bool takes_uploads)
{
    const struct config *config = session->config;
    struct arena *arena = session->arena;
    struct text scheduler = text_print(arena, TEXT_FORMAT "/cgi", TEXT_ARG(served->cgi));
    const struct text uploads[2] = {
        text_print(arena, TEXT_FORMAT "/file_upload_handler", TEXT_ARG(served->path)),
        text_print(arena, TEXT_FORMAT "/file_upload_handler", TEXT_ARG(served->cgi))};
    enum status status = STATUS_OK;

    for (size_t i = 0; i < config->scheduler_url.count && status == STATUS_OK; i++)
        status = check_url(session, master, "scheduler_url", config->scheduler_url.items[i],
                           (const struct text[2]){scheduler, scheduler});
    if (status == STATUS_OK && takes_uploads)
        status = check_url(session, master, "upload_url", config->upload_url, uploads);
    return status;
}

/* --- values ---------------------------------------------------------------------------------- */

static bool is_plain(struct text text)
{
    static const char others[] = "_./~-:,=@";

    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              strchr(others, c) != NULL || c == '[' || c == ']') ||
            c == '\0')
            return false;
    }
    return true;
}

enum status deploy_place_set(struct session *session, struct deploy_place *place, const char *word,
                             const char *value)
{
    struct sample_filling *filling = &place->filling;

    if (value == NULL)
        value = "";
    if (!is_plain(text_from(value)))
        return fail(&session->failure, STATUS_INVALID,
                    "\"%s\" cannot be part of a configuration: only letters, digits and _./~-:,=@ "
                    "can",
                    value);
    must(filling->value_count < DEPLOY_VALUES_MAX);
    place->values[filling->value_count++] = (struct sample_value){word, text_from(value)};
    return STATUS_OK;
}

void deploy_place_set_part(struct deploy_place *place, const char *word, bool holds)
{
    for (size_t i = 0; i < place->filling.part_count; i++)
        if (strcmp(place->parts[i].word, word) == 0) {
            place->parts[i].holds = holds;
            return;
        }
    must(place->filling.part_count < DEPLOY_PARTS_MAX);
    place->parts[place->filling.part_count++] = (struct sample_part){word, holds};
}

static const char *string(struct session *session, struct text text)
{
    return text_string(session->arena, text);
}

static const char *or_else(const char *value, const char *otherwise)
{
    return value != NULL ? value : otherwise;
}

/* Letters, digits and _, and `also`; whatever else becomes _. */
static const char *as_word(struct session *session, struct text text, const char *also)
{
    struct buffer word = buffer_in(session->arena);

    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       (c != '\0' && strchr(also, c) != NULL);

        buffer_add_char(&word, is_word ? c : '_');
    }
    return string(session, buffer_text(&word));
}

/* The program beside this one. */
static const char *own_neighbour(struct session *session, const char *name)
{
    char path[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *slash;

    if (length <= 0)
        return name;
    path[length] = '\0';
    slash = strrchr(path, '/');
    return string(session, text_print(session->arena, "%.*s/%s",
                                      slash == NULL ? 0 : (int)(slash - path), path, name));
}

static bool machine_has_ipv6(void)
{
    int tried = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (tried >= 0)
        close(tried);
    return tried >= 0;
}

/* "PORT", or "ADDRESS:PORT". */
static const char *listen_at(struct session *session, int64_t port)
{
    const char *address = option_value(session, "address");

    return string(session, text_print(session->arena, "%s%s%d", or_else(address, ""),
                                      address == NULL ? "" : ":", (int)port));
}

static enum status set_ports(struct session *session, struct deploy_place *place,
                             const struct url *master)
{
    int64_t port = master->is_https || master->port == 0 ? HTTP_PORT : master->port;
    int64_t tls_port = !master->is_https || master->port == 0 ? HTTPS_PORT : master->port;
    enum status status = option_number(session, "port", 1, PORT_MAX, &port);

    if (status == STATUS_OK)
        status = option_number(session, "tls-port", 1, PORT_MAX, &tls_port);
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "ADDRESS", listen_at(session, port));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "PORT",
                                  string(session, text_print(session->arena, "%d", (int)port)));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "TLS_ADDRESS", listen_at(session, tls_port));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "TLS_PORT",
                                  string(session, text_print(session->arena, "%d", (int)tls_port)));
    return status;
}

static enum status set_certificate(struct session *session, struct deploy_place *place)
{
    const char *certificate = option_value(session, "certificate");
    const char *key = option_value(session, "key");
    enum status status;

    place->has_tls = certificate != NULL;
    if ((certificate == NULL) != (key == NULL)) {
        session->is_usage = true;
        return fail(&session->failure, STATUS_INVALID,
                    "--certificate and --key must be used together");
    }
    status = deploy_place_set(session, place, "CERTIFICATE", certificate);
    return status == STATUS_OK ? deploy_place_set(session, place, "KEY", key) : status;
}

static const char *of_project(struct session *session, struct deploy_place *place, struct text path,
                              const char *usual)
{
    if (path.length == 0)
        path = text_from(usual);
    if (text_starts(path, TEXT("/")))
        return string(session, path);
    return string(session,
                  text_print(session->arena, "%s/" TEXT_FORMAT, place->project, TEXT_ARG(path)));
}

static enum status find_folders(struct session *session, struct deploy_place *place)
{
    char absolute[PATH_MAX];
    enum status status;

    if (realpath(session->project, absolute) == NULL)
        return fail(&session->failure, STATUS_IO, "%s: %s", session->project, strerror(errno));
    place->project = string(session, text_copy(session->arena, text_from(absolute)));
    place->has_boinc_pages =
        access(of_project(session, place, NO_TEXT, "html/user/index.php"), F_OK) == 0;
    status = deploy_place_set(session, place, "PROJECT", place->project);
    if (status == STATUS_OK)
        status =
            deploy_place_set(session, place, "DOWNLOAD",
                             of_project(session, place, session->config->download_dir, "download"));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "PAGES",
                                  of_project(session, place, NO_TEXT, "html/user"));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "DOWN",
                                  of_project(session, place, NO_TEXT, "scheduler-down.asis"));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "JOIN_DOWN",
                                  of_project(session, place, NO_TEXT, "join-down.asis"));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "SUBMISSION_DOWN",
                                  of_project(session, place, NO_TEXT, "submission-down.asis"));
    return status;
}

static const char *usual_socket(struct session *session, const struct deploy_place *place,
                                const char *kind)
{
    return string(session, text_print(session->arena, "/run/quartermaster/%s%s.socket",
                                      place->file_name, kind));
}

static enum status find_sockets(struct session *session, struct deploy_place *place)
{
    enum status status;

    place->socket = or_else(option_value(session, "socket"), usual_socket(session, place, ""));
    place->uploads_socket =
        or_else(option_value(session, "uploads"), usual_socket(session, place, "-upload"));
    place->submission_socket =
        or_else(option_value(session, "submission"), usual_socket(session, place, "-submit"));
    place->program =
        or_else(option_value(session, "program"), own_neighbour(session, "quartermaster"));
    status = deploy_place_set(session, place, "SOCKET", place->socket);
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "UPLOADS", place->uploads_socket);
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "SUBMISSION", place->submission_socket);
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "PROGRAM", place->program);
    return status;
}

static enum status find_group(struct session *session, struct deploy_place *place)
{
    place->group = or_else(option_value(session, "group"), "www-data");
    if (getgrnam(place->group) == NULL)
        return fail(&session->failure, STATUS_NOT_FOUND,
                    "there is no group %s: name the web server's group with --group", place->group);
    return STATUS_OK;
}

/* By the path of its URL. Of a project at the root of a host by its folder, as its services are. */
static enum status set_names(struct session *session, struct deploy_place *place,
                             const struct url *master, const struct served *served)
{
    const char *slash = strrchr(place->project, '/');
    struct text name =
        master->path.length > 0 ? master->path : text_from(slash == NULL ? "" : slash + 1);
    enum status status;

    place->is_root = master->path.length == 0;
    place->file_name = as_word(session, name, "-.");
    status = deploy_place_set(session, place, "WORD", as_word(session, name, ""));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "PATH", string(session, served->path));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "CGI", string(session, served->cgi));
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "HOST", string(session, master->host));
    return status;
}

enum status deploy_place_find(struct session *session, struct deploy_place *ret_place)
{
    struct deploy_place *place = ret_place;
    struct url master;
    struct served served;
    enum status status = session_config(session);

    *place = (struct deploy_place){.project = NULL};
    place->filling.values = place->values;
    place->filling.parts = place->parts;
    if (status == STATUS_OK && session->config->master_url.length == 0)
        status = fail(&session->failure, STATUS_INVALID, "the option master_url is not set");
    if (status == STATUS_OK)
        status = url_read(session, "master_url", session->config->master_url, &master);
    if (status != STATUS_OK)
        return status;
    place->is_https = master.is_https;
    place->takes_uploads = !option_given(session, "no-uploads");
    status = find_served(session, &master, &served);
    if (status == STATUS_OK)
        status = check_urls(session, &master, &served, place->takes_uploads);
    if (status == STATUS_OK)
        status = find_downloads(session, &master, &served, &place->downloads_elsewhere);
    if (status == STATUS_OK)
        status = find_folders(session, place);
    if (status == STATUS_OK)
        status = set_names(session, place, &master, &served);
    if (status == STATUS_OK)
        status = set_ports(session, place, &master);
    if (status == STATUS_OK)
        status = set_certificate(session, place);
    if (status == STATUS_OK)
        status = find_sockets(session, place);
    if (status == STATUS_OK)
        status = find_group(session, place);
    deploy_place_set_part(place, "pages", !place->has_boinc_pages);
    deploy_place_set_part(place, "joining", session->config->joining);
    deploy_place_set_part(place, "uploads", place->takes_uploads);
    deploy_place_set_part(place, "submission", session->config->submission);
    deploy_place_set_part(place, "downloads", place->downloads_elsewhere.length == 0);
    deploy_place_set_part(place, "ipv6", !option_given(session, "address") && machine_has_ipv6());
    deploy_place_set_part(place, "tls", place->has_tls);
    deploy_place_set_part(place, "below", !place->is_root);
    return status;
}

const char *deploy_place_value(const struct deploy_place *place, const char *word)
{
    for (size_t i = 0; i < place->filling.value_count; i++)
        if (strcmp(place->values[i].word, word) == 0)
            return place->values[i].value.at;
    return "";
}

/* --- what the web server may do -------------------------------------------------------------- */

struct text deploy_lacks(struct session *session, const struct deploy_place *place,
                         const char *path, int wanted)
{
    const struct group *group = getgrnam(place->group);
    struct file_user who;
    struct stat found;

    if (group == NULL || stat(path, &found) != 0)
        return NO_TEXT;
    file_user_named(place->group, &who);
    if (who.group_count < FILE_USER_GROUPS_MAX)
        who.groups[who.group_count++] = group->gr_gid;
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        const char *folder =
            string(session, text_copy(session->arena, (struct text){path, (size_t)(slash - path)}));
        struct stat above;

        if (stat(folder, &above) == 0 && !file_may(&above, &who, X_OK))
            return text_print(session->arena, "%s cannot be entered by %s", folder, place->group);
    }
    if (file_may(&found, &who, wanted))
        return NO_TEXT;
    return text_print(session->arena, "%s cannot be %s by %s (mode %03o)", path,
                      (wanted & W_OK) != 0 ? "written to" : "read", place->group,
                      (unsigned)found.st_mode & 0777u);
}
