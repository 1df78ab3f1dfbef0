/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/command_look.h"

#include "server/passes/command_start.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { WORD_BYTES = 4096, LOOK_SECONDS = 60 };

/* The first word as the shell takes it; false: it is too long, or the shell would change it. */
static bool first_word(const char *command, char ret_word[WORD_BYTES])
{
    static const char ends[] = " \t\n;|&<>()";
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./-+@%:,";
    const char *begin = command + strspn(command, " \t\n");
    size_t length = strspn(begin, plain);

    if (length == 0 || length >= WORD_BYTES ||
        (begin[length] != '\0' && strchr(ends, begin[length]) == NULL))
        return false;
    memcpy(ret_word, begin, length);
    ret_word[length] = '\0';
    return true;
}

static enum status look_at_file(const char *path, struct failure *failure)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return fail(failure, STATUS_IO, "%s is not a program", path);
    if (access(path, X_OK) != 0)
        return fail(failure, STATUS_IO, "%s cannot be executed (chmod +x): %s", path,
                    strerror(errno));
    return STATUS_OK;
}

/* Whether the shell finds it: a program, or a word of its own. */
static bool is_found(const char *word)
{
    const char *arguments[] = {word};
    const struct command_call call = {.command = "command -v",
                                      .arguments = arguments,
                                      .argument_count = 1,
                                      .input = -1,
                                      .output = -1};
    struct failure failure = {.status = STATUS_OK};
    enum command_exit found = COMMAND_NO;
    sigset_t none;
    pid_t pid;
    int ended;

    (void)sigemptyset(&none);
    if (command_start(&call, &none, &pid, &failure) != STATUS_OK)
        return false;
    if (!command_has_ended(pid, LOOK_SECONDS, &ended)) {
        command_end(&pid, 1);
        return false;
    }
    return command_judge(ended, &found, &failure) == STATUS_OK && found == COMMAND_YES;
}

enum status command_look(const char *command, struct failure *failure)
{
    char word[WORD_BYTES];

    if (!first_word(command, word))
        return STATUS_OK;
    if (strchr(word, '/') != NULL)
        return look_at_file(word, failure);
    return is_found(word) ? STATUS_OK
                          : fail(failure, STATUS_IO,
                                 "the shell finds no command \"%s\"; a file in the current folder "
                                 "is ./%s",
                                 word, word);
}
