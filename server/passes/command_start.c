/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/command_start.h"

#include "server/base/arena.h"
#include "server/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    GRACE = 5, /* s between the request to end and the end */
    NOT_STARTED = 127,
    STACK_BYTES = 256 * 1024 /* execvpe has PATH in it */
};

extern char **environ;

const char *command_number(struct arena *arena, const char *name, int64_t value)
{
    return text_string(arena, text_print(arena, "%s=%" PRId64, name, value));
}

const char *command_text(struct arena *arena, const char *name, struct text value)
{
    return text_string(arena, text_print(arena, "%s=" TEXT_FORMAT, name, TEXT_ARG(value)));
}

/* --- words --------------------------------------------------------------------------------------
 */

/* Both ways to start it; words and texts are on the heap. */
struct command_words {
    char *text, *script;
    char **plain; /* NULL: it is not plain */
    char **shell; /* sh -c 'COMMAND "$@"' sh ARGUMENT... */
    char **environment;
};

static void free_words(struct command_words *words)
{
    free(words->text);
    free(words->script);
    free(words->plain);
    free(words->shell);
    free(words->environment);
}

/* Nothing in it means anything to a shell, which a "=" in the first word does. */
static bool is_plain(const char *command)
{
    static const char fit[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-./:@%+, =";
    const char *first = command + strspn(command, " ");
    size_t length = strcspn(first, " ");

    return length > 0 && strspn(command, fit) == strlen(command) &&
           memchr(first, '=', length) == NULL;
}

static size_t count_words(const char *command)
{
    size_t count = 0;

    for (command += strspn(command, " "); *command != '\0'; command += strspn(command, " ")) {
        count++;
        command += strcspn(command, " ");
    }
    return count;
}

static bool make_plain(const struct command_call *call, struct command_words *words)
{
    size_t count = 0;

    words->text = text_keep(text_from(call->command));
    words->plain = calloc(count_words(call->command) + call->argument_count + 1, sizeof(char *));
    if (words->text == NULL || words->plain == NULL)
        return false;
    for (char *at = words->text + strspn(words->text, " "); *at != '\0'; at += strspn(at, " ")) {
        words->plain[count++] = at;
        at += strcspn(at, " ");
        if (*at != '\0')
            *at++ = '\0';
    }
    if (call->arguments != NULL)
        memcpy(words->plain + count, call->arguments, call->argument_count * sizeof(char *));
    return true;
}

static bool make_shell(const struct command_call *call, struct command_words *words)
{
    static char shell[] = "sh", option[] = "-c";
    const char *tail = call->arguments == NULL ? "" : " \"$@\"";
    size_t size = strlen(call->command) + strlen(tail) + 1;

    words->script = malloc(size);
    words->shell = calloc(call->argument_count + 5, sizeof(char *));
    if (words->script == NULL || words->shell == NULL)
        return false;
    (void)snprintf(words->script, size, "%s%s", call->command, tail);
    words->shell[0] = shell;
    words->shell[1] = option;
    words->shell[2] = words->script;
    words->shell[3] = shell;
    if (call->arguments != NULL)
        memcpy(words->shell + 4, call->arguments, call->argument_count * sizeof(char *));
    return true;
}

/* Of the same name as one of `additions`, all of the form NAME=VALUE. */
static bool is_replaced(const char *variable, const char *const *additions)
{
    size_t length = strcspn(variable, "=");

    for (size_t i = 0; additions != NULL && additions[i] != NULL; i++)
        if (strncmp(variable, additions[i], length + 1) == 0)
            return true;
    return false;
}

/* Each name once: of two that are alike some shells take the first, others the last. */
static bool make_environment(const char *const *additions, struct command_words *words)
{
    size_t own = 0, count = 0;

    while (environ[own] != NULL)
        own++;
    while (additions != NULL && additions[count] != NULL)
        count++;
    words->environment = calloc(own + count + 1, sizeof(char *));
    if (words->environment == NULL)
        return false;
    if (additions != NULL && count > 0)
        memcpy(words->environment, additions, count * sizeof(char *));
    for (size_t i = 0; i < own; i++)
        if (!is_replaced(environ[i], additions))
            words->environment[count++] = environ[i];
    return true;
}

static bool make_words(const struct command_call *call, struct command_words *words)
{
    return make_shell(call, words) && make_environment(call->environment, words) &&
           (!is_plain(call->command) || make_plain(call, words));
}

/* --- starting -----------------------------------------------------------------------------------
 */

/* Of the child: what it needs to become the command. */
struct becoming {
    const struct command_words *words;
    int input, output;
    const sigset_t *mask;
    pid_t parent;
};

/* What the child does in our memory, while we wait: system calls and nothing else, and no handler
 * of ours is called. It ends with us, also where nothing but the kernel can see to it, which
 * posix_spawn cannot be told. */
static int become_command(void *argument)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    const struct becoming *becoming = argument;
    struct sigaction action;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != becoming->parent || dup2(becoming->input, STDIN_FILENO) < 0 ||
        dup2(becoming->output, STDOUT_FILENO) < 0)
        return NOT_STARTED;
    (void)signal(SIGPIPE, SIG_DFL);
    for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
        if (sigaction(caught[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            (void)signal(caught[i], SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, becoming->mask, NULL);
    if (becoming->words->plain != NULL)
        (void)execvpe(becoming->words->plain[0], becoming->words->plain,
                      becoming->words->environment);
    (void)execve("/bin/sh", becoming->words->shell, becoming->words->environment);
    return NOT_STARTED;
}

/* As vfork, on a stack of its own: copying our memory would take longer than most commands. -1:
 * errno says why. */
static pid_t spawn(struct becoming *becoming)
{
    char *stack = malloc(STACK_BYTES);
    sigset_t all, before;
    pid_t pid;
    int error;

    if (stack == NULL)
        return -1;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = clone(become_command, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, becoming);
    error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(stack);
    errno = error;
    return pid;
}

enum status command_start(const struct command_call *call, const sigset_t *mask, pid_t *ret_pid,
                          struct failure *failure)
{
    struct command_words words = {.text = NULL};
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct becoming becoming = {.words = &words,
                                .input = call->input < 0 ? nothing : call->input,
                                .output = call->output < 0 ? nothing : call->output,
                                .mask = mask,
                                .parent = getpid()};
    enum status status = STATUS_OK;

    if (!make_words(call, &words)) {
        status = fail(failure, STATUS_NO_MEMORY, "no memory");
    } else {
        *ret_pid = spawn(&becoming);
        if (*ret_pid < 0)
            status =
                fail(failure, STATUS_IO, "the command could not be started: %s", strerror(errno));
    }
    free_words(&words);
    if (nothing >= 0)
        (void)close(nothing);
    return status;
}

/* --- ending -------------------------------------------------------------------------------------
 */

enum status command_judge(int status, enum command_exit *ret_exit, struct failure *failure)
{
    if (WIFSIGNALED(status))
        return fail(failure, STATUS_IO, "the command ended by signal %d", WTERMSIG(status));
    switch (WEXITSTATUS(status)) {
    case COMMAND_YES:
    case COMMAND_NO:
    case COMMAND_LATER:
        *ret_exit = (enum command_exit)WEXITSTATUS(status);
        return STATUS_OK;
    default:
        return fail(failure, STATUS_IO, "the command ended with status %d", WEXITSTATUS(status));
    }
}

bool command_has_ended(pid_t pid, double seconds, int *ret_status)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    double deadline = clock_seconds() + seconds;

    while (waitpid(pid, ret_status, WNOHANG) == 0) {
        if (clock_seconds() >= deadline)
            return false;
        (void)nanosleep(&moment, NULL);
    }
    (void)kill(-pid, SIGKILL);
    return true;
}

void command_end(const pid_t *pids, size_t count)
{
    double deadline = clock_seconds() + GRACE;
    int status;

    for (size_t i = 0; i < count; i++)
        (void)kill(-pids[i], SIGTERM);
    for (size_t i = 0; i < count; i++) {
        if (command_has_ended(pids[i], deadline - clock_seconds(), &status))
            continue;
        (void)kill(-pids[i], SIGKILL);
        (void)waitpid(pids[i], &status, 0);
    }
}
