/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/deploy/deployment.h"

#include "config/sample.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

/* --- what is said ---------------------------------------------------------------------------- */

void deployment_say(struct deployment *deployment, const char *step, struct text words)
{
    table_text(&deployment->steps, text_from(step));
    table_words(&deployment->steps, words);
}

void deployment_warn(struct deployment *deployment, struct text problem)
{
    if (problem.length > 0)
        deployment_say(deployment, "warning", problem);
}

/* --- files ----------------------------------------------------------------------------------- */

enum status deployment_add(struct deployment *deployment, const char *sample, const char *path,
                           bool has_comments)
{
    struct session *session = deployment->session;
    struct buffer buffer = buffer_in(session->arena);
    enum status status =
        sample_fill(sample_find(sample), &deployment->place.filling, &buffer, &session->failure);

    must(deployment->file_count < DEPLOY_FILES_MAX);
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
        deployment_say(deployment, words[file->state], text_from(file->path));
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
                "%s was changed, or written by somebody else: nothing was written (--dry-run shows "
                "the difference, --force overwrites it)",
                deployment->files[i].path);
            return session_failed(session);
        }
    for (size_t i = 0; i < deployment->file_count; i++) {
        const struct deploy_file *file = &deployment->files[i];

        if (file->state != DEPLOY_SAME && deploy_file_write(file, &session->failure) != STATUS_OK)
            return session_failed(session);
        deployment_say(deployment, file->state == DEPLOY_SAME ? "same" : "written",
                       text_from(file->path));
    }
    return EXIT_DONE;
}

enum exit_code deployment_put(struct deployment *deployment)
{
    return option_given(deployment->session, "dry-run") ? show_files(deployment)
                                                        : write_files(deployment);
}

/* --- from beginning to end ------------------------------------------------------------------- */

enum status deployment_begin(struct session *session, struct deployment *deployment)
{
    static const char *const titles[] = {"step", "words"};

    *deployment =
        (struct deployment){.session = session, .steps = TABLE_BEGIN(session, "steps", titles)};
    return deploy_place_find(session, &deployment->place);
}

enum exit_code deployment_end(struct deployment *deployment, enum exit_code code)
{
    table_print(&deployment->steps);
    return code;
}

bool deployment_has_units(void)
{
    static const char *const folders[] = {"/etc", "/lib", "/usr/lib", "/usr/local/lib"};
    char path[64];

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/systemd/system/quartermaster@.service", folders[i]);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

bool deployment_is_service(const struct deployment *deployment, const char *socket)
{
    const char *name = deployment->place.file_name;
    char path[PATH_MAX], there[PATH_MAX];

    (void)snprintf(path, sizeof(path), "/run/quartermaster/%s", name);
    if (!deployment_has_units() || strncmp(socket, path, strlen(path)) != 0)
        return false;
    (void)snprintf(path, sizeof(path), "/var/lib/quartermaster/%s", name);
    return realpath(path, there) != NULL && strcmp(there, deployment->place.project) == 0;
}
