/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/deploy/deploy_file.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { BYTES_MAX = 1 << 20, MODE = 0644, FOLDER_MODE = 0755, NOT_STARTED = 127 };

#define HEAD "# Written by qmctl deploy, which overwrites it unless it was changed; checksum "

static struct text with_head(struct arena *arena, struct text text)
{
    char md5[MD5_HEX_SIZE];

    md5_hex(text, NO_TEXT, md5);
    return text_print(arena, HEAD "%s\n" TEXT_FORMAT, md5, TEXT_ARG(text));
}

/* Whether the rest is still what its first line was made for. */
static bool is_untouched(struct text text)
{
    struct text rest = text, line = text_split(&rest, '\n');
    char md5[MD5_HEX_SIZE];

    if (!text_starts(line, TEXT(HEAD)))
        return false;
    md5_hex(rest, NO_TEXT, md5);
    return text_is((struct text){line.at + sizeof(HEAD) - 1, line.length - sizeof(HEAD) + 1}, md5);
}

enum status deploy_file_look(struct arena *arena, const char *path, struct text text,
                             bool has_comments, struct deploy_file *ret_file,
                             struct failure *failure)
{
    struct failure unread = {0};
    enum status status;

    *ret_file = (struct deploy_file){
        .path = path, .text = has_comments ? with_head(arena, text) : text, .state = DEPLOY_NEW};
    status = file_read(arena, path, BYTES_MAX, &ret_file->there, &unread);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK)
        return fail(failure, status, "%s", unread.text);
    if (text_equal(ret_file->there, ret_file->text))
        ret_file->state = DEPLOY_SAME;
    else
        ret_file->state = is_untouched(ret_file->there) ? DEPLOY_OLD : DEPLOY_CHANGED;
    return STATUS_OK;
}

static enum status make_folder(const char *path, struct failure *failure)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');

    must(slash != NULL);
    (void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
    if (mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST)
        return fail(failure, STATUS_IO, "%s: %s", folder, strerror(errno));
    return STATUS_OK;
}

enum status deploy_file_write(const struct deploy_file *file, struct failure *failure)
{
    if (file->makes_folder && make_folder(file->path, failure) != STATUS_OK)
        return STATUS_IO;
    return file_write(file->path, file->text, MODE, failure);
}

/* Ends the process. */
static void become_diff(const struct deploy_file *file, int wanted)
{
    const char *there = file->state == DEPLOY_NEW ? "/dev/null" : file->path;

    if (dup2(wanted, STDIN_FILENO) >= 0)
        (void)execlp("diff", "diff", "-u", "--label", there, "--label", file->path, "--", there,
                     "-", (char *)NULL);
    _exit(NOT_STARTED);
}

enum status deploy_file_diff(const struct deploy_file *file, struct failure *failure)
{
    int wanted = memfd_create("wanted", MFD_CLOEXEC);
    int ended = 0;
    pid_t child = -1;

    (void)fflush(stdout);
    if (wanted >= 0 && file_write_all(wanted, file->text) && lseek(wanted, 0, SEEK_SET) == 0)
        child = fork();
    if (child == 0)
        become_diff(file, wanted);
    if (child > 0)
        while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
            ;
    if (wanted >= 0)
        close(wanted);
    if (child < 0)
        return fail(failure, STATUS_IO, "diff: %s", strerror(errno));
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) > 1)
        return fail(failure, STATUS_IO, "diff: the program cannot be run (package diffutils)");
    return STATUS_OK;
}
