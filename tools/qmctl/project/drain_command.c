/* SPDX-License-Identifier: Apache-2.0 */
/* `qmctl drain` and `qmctl resume`: a file in the project's folder, which its servers look for
 * every second. Where each server has a folder of its own, it is that server alone. */
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/project/project.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

static enum status make_file(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    bool is_given = file >= 0 && file_give(file, path);

    return file >= 0 && close(file) == 0 && is_given ? STATUS_OK : STATUS_IO;
}

static enum status remove_file(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT ? STATUS_OK : STATUS_IO;
}

static enum exit_code set_drained(struct session *session, bool drained, struct text sentence)
{
    static const char *const titles[] = {"drained", "was_drained"};
    struct output_table done = TABLE_BEGIN(session, "projects", titles);
    enum status status = session_config(session);
    char path[PATH_MAX];
    bool was_drained;

    if (status != STATUS_OK)
        return session_failed(session);
    was_drained = project_has_file(session->config, "stop_work");
    project_path(session->config, "stop_work", path, sizeof(path));
    status = drained ? make_file(path) : remove_file(path);
    if (status != STATUS_OK) {
        (void)fail(&session->failure, status, "%s: %s", path, strerror(errno));
        return session_failed(session);
    }
    table_text(&done, drained ? TEXT("yes") : TEXT("no"));
    table_text(&done, was_drained ? TEXT("yes") : TEXT("no"));
    table_tell(&done, text_print(session->arena, TEXT_FORMAT "%s", TEXT_ARG(sentence),
                                 drained == was_drained ? " (as before)" : ""));
    return EXIT_DONE;
}

enum exit_code command_drain(struct session *session)
{
    return set_drained(session, true,
                       TEXT("from now on the servers hand out no jobs, but take reports; qmctl "
                            "resume ends this"));
}

enum exit_code command_resume(struct session *session)
{
    return set_drained(session, false, TEXT("the servers hand out jobs"));
}
