/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/volunteers/crowd/command.h"

#include "server/base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { COMMAND_BYTES_MAX = 64 << 10 };

extern char **environ;

static bool fill_in(struct text command, double now, struct buffer *words)
{
    const struct text place = TEXT("{now}");

    while (command.length > 0) {
        size_t at = text_find(command, place);

        buffer_add(words, text_first(command, at));
        if (at == command.length)
            break;
        buffer_print(words, "%" PRId64, (int64_t)now);
        command = (struct text){command.at + at + place.length, command.length - at - place.length};
    }
    buffer_add_char(words, '\0');
    return !words->overflowed;
}

/* Returns how it ended as waitpid has it, or -1. */
static int run(char *words)
{
    char shell[] = "sh", option[] = "-c";
    char *const arguments[] = {shell, option, words, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int ended = -1, error;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    error = posix_spawn(&child, "/bin/sh", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return -1;
    while (waitpid(child, &ended, 0) < 0)
        if (errno != EINTR)
            return -1;
    return ended;
}

enum status command_run(const char *command, double now, struct failure *failure)
{
    struct buffer words = buffer_on_heap(COMMAND_BYTES_MAX);
    enum status status = STATUS_OK;
    int ended;

    if (!fill_in(text_from(command), now, &words)) {
        buffer_free(&words);
        return fail(failure, STATUS_TOO_LARGE, "too long a command");
    }
    ended = run(words.at);
    if (ended == -1)
        status = fail(failure, STATUS_IO, "%s: cannot be run", words.at);
    else if (WIFSIGNALED(ended))
        status = fail(failure, STATUS_IO, "%s: ended by signal %d", words.at, WTERMSIG(ended));
    else if (WEXITSTATUS(ended) != 0)
        status = fail(failure, STATUS_IO, "%s: exit status %d", words.at, WEXITSTATUS(ended));
    buffer_free(&words);
    return status;
}
