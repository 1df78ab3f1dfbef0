/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl deploy systemd: what an instance of the units needs beside them. Those of a project that
 * lies where they look for it, and belongs to their user, need nothing; for others there are a link
 * and drop-ins. */
#include "config/config.h"
#include "server/base/arena.h"
#include "tools/qmctl/deploy/deployment.h"
#include "tools/qmctl/session/commands.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

#define UNIT_USER "quartermaster" /* of the units, as is the group of that name */

/* What the project's folder says. */
struct owner {
    const char *user, *group;
    bool is_root; /* no service should be */
    bool is_home, uploads_elsewhere;
    const char *uploads; /* upload_dir */
    bool has_boinc_daemons;
};

static const char *print(struct deployment *deployment, const char *before, const char *name,
                         const char *after)
{
    struct arena *arena = deployment->session->arena;

    return text_string(arena, text_print(arena, "%s%s%s", before, name, after));
}

/* --- the project ----------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *folder)
{
    return strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/';
}

static enum status find_owner(struct deployment *deployment, struct owner *owner)
{
    struct session *session = deployment->session;
    const char *project = deployment->place.project;
    const char *usual = print(deployment, project, "/upload", "");
    struct text given = session->config->upload_dir;
    const struct passwd *user;
    const struct group *group;
    struct stat found;

    if (stat(project, &found) != 0)
        return fail(&session->failure, STATUS_IO, "%s: %s", project, strerror(errno));
    user = getpwuid(found.st_uid);
    /* Root's group may have been that of who made the folder. */
    group = getgrgid(found.st_gid != 0 || user == NULL ? found.st_gid : user->pw_gid);
    if (user == NULL || group == NULL)
        return fail(&session->failure, STATUS_NOT_FOUND,
                    "%s belongs to a user or a group that has no name", project);
    owner->is_root = found.st_uid == 0;
    owner->user = owner->is_root ? UNIT_USER : print(deployment, user->pw_name, "", "");
    owner->group = owner->is_root ? UNIT_USER : print(deployment, group->gr_name, "", "");
    owner->is_home = is_below(project, "/home") || is_below(project, "/root");
    owner->uploads = given.length > 0 ? text_string(session->arena, given) : usual;
    owner->uploads_elsewhere = strcmp(owner->uploads, usual) != 0;
    owner->has_boinc_daemons = access(print(deployment, project, "/bin/start", ""), F_OK) == 0;
    return STATUS_OK;
}

static enum status set_values(struct deployment *deployment, const struct owner *owner)
{
    struct session *session = deployment->session;
    struct deploy_place *place = &deployment->place;
    enum status status = deploy_place_set(session, place, "OWNER", owner->user);

    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "GROUP", owner->group);
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "FOLDER", owner->uploads);
    if (status == STATUS_OK)
        status = deploy_place_set(session, place, "WEB_GROUP", place->group);
    return status;
}

/* --- drop-ins -------------------------------------------------------------------------------- */

/* `kind`: what stands between the program's name and the instance, as "-upload@". A drop-in that
 * has nothing to say is not made, but one that is there is brought up to date. */
static enum status add_drop_in(struct deployment *deployment, const char *kind, const char *type,
                               const char *sample, bool is_needed)
{
    struct session *session = deployment->session;
    const char *units = option_value(session, "units");
    const char *unit = print(deployment, UNIT_USER, kind, deployment->place.file_name);
    const char *folder = text_string(
        session->arena, text_print(session->arena, "%s/%s.%s.d",
                                   units != NULL ? units : "/etc/systemd/system", unit, type));
    const char *path = print(deployment, folder, "/deploy.conf", "");
    struct deploy_file *file = &deployment->files[deployment->file_count];
    enum status status;

    if (!is_needed && access(path, F_OK) != 0)
        return STATUS_OK;
    status = deployment_add(deployment, sample, path, true);
    if (status == STATUS_OK)
        file->makes_folder = true;
    return status;
}

static enum status add_service(struct deployment *deployment, const struct owner *owner,
                               const char *kind, bool has_own_user, bool writes_uploads)
{
    struct deploy_place *place = &deployment->place;
    const bool owned = strcmp(owner->user, UNIT_USER) != 0 && !has_own_user;
    const bool grouped = strcmp(owner->group, UNIT_USER) != 0;
    const bool elsewhere = owner->uploads_elsewhere && writes_uploads;

    deploy_place_set_part(place, "owner", owned);
    deploy_place_set_part(place, "group", grouped);
    deploy_place_set_part(place, "home", owner->is_home);
    deploy_place_set_part(place, "elsewhere", elsewhere);
    return add_drop_in(deployment, kind, "service", "unit-service.conf",
                       owned || grouped || owner->is_home || elsewhere);
}

static enum status add_socket(struct deployment *deployment, const char *kind)
{
    return add_drop_in(deployment, kind, "socket", "unit-socket.conf",
                       strcmp(deployment->place.group, "www-data") != 0);
}

static enum status add_files(struct deployment *deployment, const struct owner *owner)
{
    enum status status = add_service(deployment, owner, "@", false, false);

    if (status == STATUS_OK)
        status = add_socket(deployment, "@");
    if (status == STATUS_OK && deployment->place.takes_uploads)
        status = add_service(deployment, owner, "-upload@", true, true);
    if (status == STATUS_OK && deployment->place.takes_uploads)
        status = add_socket(deployment, "-upload@");
    if (status == STATUS_OK && deployment->session->config->submission)
        status = add_service(deployment, owner, "-submit@", false, false);
    if (status == STATUS_OK && deployment->session->config->submission)
        status = add_socket(deployment, "-submit@");
    if (status == STATUS_OK && !owner->has_boinc_daemons)
        status = add_service(deployment, owner, "-transition@", false, true);
    return status;
}

/* --- the link -------------------------------------------------------------------------------- */

/* EXIT_NOTHING: it would be made. */
static enum exit_code put_link(struct deployment *deployment)
{
    struct session *session = deployment->session;
    const char *projects = option_value(session, "projects");
    const char *path = print(deployment, projects != NULL ? projects : "/var/lib/quartermaster",
                             "/", deployment->place.file_name);
    bool is_dry = option_given(session, "dry-run");
    char there[PATH_MAX];

    if (realpath(path, there) != NULL) {
        if (strcmp(there, deployment->place.project) == 0) {
            deployment_say(deployment, "same", text_from(path));
            return EXIT_DONE;
        }
        (void)fail(&session->failure, STATUS_INVALID, "%s is another project: %s", path, there);
        return session_failed(session);
    }
    if (!is_dry && symlink(deployment->place.project, path) != 0) {
        (void)fail(&session->failure, STATUS_IO, "%s: %s", path, strerror(errno));
        return session_failed(session);
    }
    deployment_say(deployment, is_dry ? "new" : "written",
                   text_print(session->arena, "%s -> %s", path, deployment->place.project));
    return is_dry ? EXIT_NOTHING : EXIT_DONE;
}

/* --- what is left to do ---------------------------------------------------------------------- */

/* The handler's user writes there, and the owner's group deletes. */
static void look_at_uploads(struct deployment *deployment, const struct owner *owner)
{
    struct arena *arena = deployment->session->arena;
    struct stat found;
    const struct passwd *user;

    if (stat(owner->uploads, &found) == 0 && (user = getpwuid(found.st_uid)) != NULL &&
        strcmp(user->pw_name, UNIT_USER "-upload") == 0 && (found.st_mode & 02775) == 02775)
        return;
    deployment_say(deployment, "run",
                   text_print(arena, "install -d -o " UNIT_USER "-upload -g %s -m 2775 %s",
                              owner->group, owner->uploads));
}

static void say_the_rest(struct deployment *deployment, const struct owner *owner)
{
    const struct config *config = deployment->session->config;
    struct arena *arena = deployment->session->arena;
    const char *name = deployment->place.file_name, *project = deployment->place.project;
    struct text units = text_print(arena, UNIT_USER "@%s", name);

    if (!deployment_has_units())
        deployment_warn(deployment,
                        TEXT("the units are not installed: cmake --install, or the package"));
    if (owner->is_root)
        deployment_say(deployment, "run",
                       text_print(arena, "chown -R " UNIT_USER ":" UNIT_USER " %s", project));
    if (config->db_user.length == 0)
        deployment_say(deployment, "run",
                       text_print(arena, "qmctl --project %s deploy mariadb --user %s --apply",
                                  project, owner->user));
    if (deployment->place.takes_uploads) {
        look_at_uploads(deployment, owner);
        units = text_print(arena, TEXT_FORMAT " " UNIT_USER "-upload@%s", TEXT_ARG(units), name);
    }
    if (config->submission)
        units = text_print(arena, TEXT_FORMAT " " UNIT_USER "-submit@%s", TEXT_ARG(units), name);
    if (!owner->has_boinc_daemons)
        units =
            text_print(arena, TEXT_FORMAT " " UNIT_USER "-transition@%s", TEXT_ARG(units), name);
    deployment_say(deployment, "run",
                   text_print(arena,
                              "systemctl daemon-reload && systemctl enable --now " TEXT_FORMAT,
                              TEXT_ARG(units)));
}

enum exit_code command_deploy_systemd(struct session *session)
{
    struct deployment deployment;
    struct owner owner = {.user = NULL};
    enum exit_code files, link;

    if (deployment_begin(session, &deployment) != STATUS_OK ||
        find_owner(&deployment, &owner) != STATUS_OK ||
        set_values(&deployment, &owner) != STATUS_OK || add_files(&deployment, &owner) != STATUS_OK)
        return session_failed(session);
    files = deployment_put(&deployment);
    link = files == EXIT_FAILED ? EXIT_FAILED : put_link(&deployment);
    if (link == EXIT_FAILED)
        return EXIT_FAILED;
    say_the_rest(&deployment, &owner);
    return deployment_end(&deployment, files == EXIT_NOTHING ? EXIT_NOTHING : link);
}
