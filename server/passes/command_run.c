/* SPDX-License-Identifier: Apache-2.0 */
/* Signals are blocked while the command runs and are waited for, the child's end among them, so
 * that none gets lost between looking and waiting. */
#include "server/passes/command_run.h"

#include "server/base/arena.h"
#include "server/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { GRACE = 5 /* s between the request to end and the end */, NOT_STARTED = 127 };

extern char **environ;

const char *command_number(struct arena *arena, const char *name, int64_t value)
{
    return text_string(arena, text_print(arena, "%s=%" PRId64, name, value));
}

const char *command_text(struct arena *arena, const char *name, struct text value)
{
    return text_string(arena, text_print(arena, "%s=" TEXT_FORMAT, name, TEXT_ARG(value)));
}

/* sh -c 'COMMAND "$@"' sh ARGUMENT... */
static char **make_arguments(const struct command_call *call, char *script)
{
    static char shell[] = "sh", option[] = "-c";
    char **words = calloc(call->argument_count + 5, sizeof(*words));

    if (words == NULL)
        return NULL;
    words[0] = shell;
    words[1] = option;
    words[2] = script;
    words[3] = shell;
    memcpy(words + 4, call->arguments, call->argument_count * sizeof(*words));
    return words;
}

static char *make_script(const char *command)
{
    static const char tail[] = " \"$@\"";
    size_t size = strlen(command) + sizeof(tail);
    char *script = malloc(size);

    if (script != NULL)
        (void)snprintf(script, size, "%s%s", command, tail);
    return script;
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
static char **make_environment(const char *const *additions)
{
    size_t own = 0, count = 0;
    char **words;

    while (environ[own] != NULL)
        own++;
    while (additions != NULL && additions[count] != NULL)
        count++;
    words = calloc(own + count + 1, sizeof(*words));
    if (words == NULL)
        return NULL;
    if (count > 0)
        memcpy(words, additions, count * sizeof(*words));
    for (size_t i = 0; i < own; i++)
        if (!is_replaced(environ[i], additions))
            words[count++] = environ[i];
    return words;
}

/* What the child does: it ends with us, also where nothing but the kernel can see to it. */
_Noreturn static void become_command(char **words, char **environment, const sigset_t *mask,
                                     pid_t parent)
{
    int nothing = open("/dev/null", O_RDWR);

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nothing < 0 || getppid() != parent)
        _exit(NOT_STARTED);
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(nothing, STDOUT_FILENO);
    if (nothing > STDERR_FILENO)
        (void)close(nothing);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    (void)execve("/bin/sh", words, environment);
    _exit(NOT_STARTED);
}

/* -1: errno says why. */
static pid_t spawn(char **words, char **environment, const sigset_t *mask)
{
    pid_t parent = getpid(), child = fork();

    if (child == 0)
        become_command(words, environment, mask, parent);
    if (child > 0)
        (void)setpgid(child, child); /* whoever is first: it may have to be ended at once */
    return child;
}

/* Waits for the child or one of the signals, until `deadline`. 0: the child has ended and is
 * reaped; SIGALRM: the time is up; else the signal that came. */
static int await(pid_t child, const sigset_t *signals, double deadline, int *ret_status)
{
    for (;;) {
        double left = deadline - clock_seconds();
        struct timespec span = {.tv_sec = (time_t)(left > 0 ? left : 0)};
        int found;

        if (waitpid(child, ret_status, WNOHANG) == child)
            return 0;
        if (left <= 0)
            return SIGALRM;
        span.tv_nsec = (long)((left - (double)span.tv_sec) * 1e9);
        found = sigtimedwait(signals, NULL, &span);
        if (found > 0 && found != SIGCHLD)
            return found;
    }
}

/* Asks the whole group to end, then ends it. */
static void end_group(pid_t child, const sigset_t *signals)
{
    int ignored;
    double deadline = clock_seconds() + GRACE;
    int found;

    (void)kill(-child, SIGTERM);
    do
        found = await(child, signals, deadline, &ignored);
    while (found != 0 && found != SIGALRM);
    (void)kill(-child, SIGKILL);
    if (found != 0)
        (void)waitpid(child, &ignored, 0);
}

static enum status judge(int status, enum command_exit *ret_exit, struct failure *failure)
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

/* Signals that are ignored end neither us nor the command: SIGHUP under nohup, SIGINT of a job that
 * a shell has begun in the background. */
static void watch_signals(sigset_t *ret_signals)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action;

    (void)signal(SIGCHLD, SIG_DFL); /* or the child's end could not be waited for */
    (void)sigemptyset(ret_signals);
    (void)sigaddset(ret_signals, SIGCHLD);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            (void)sigaddset(ret_signals, ending[i]);
}

static enum status run(const struct command_call *call, char **words, char **environment,
                       enum command_exit *ret_exit, struct failure *failure)
{
    sigset_t signals, before;
    pid_t child;
    int error, found, status = 0;

    watch_signals(&signals);
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    child = spawn(words, environment, &before);
    error = child < 0 ? errno : 0;
    found = error != 0
                ? 0
                : await(child, &signals, clock_seconds() + (double)call->seconds_max, &status);
    if (found != 0)
        end_group(child, &signals);
    if (found != 0 && found != SIGALRM)
        (void)raise(found); /* comes when it is no longer blocked */
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return fail(failure, STATUS_IO, "the command could not be started: %s", strerror(error));
    if (found != 0)
        return fail(failure, STATUS_IO, "the command took longer than %" PRId64 " s",
                    call->seconds_max);
    return judge(status, ret_exit, failure);
}

enum status command_run(const struct command_call *call, enum command_exit *ret_exit,
                        struct failure *failure)
{
    char *script = make_script(call->command);
    char **words = script == NULL ? NULL : make_arguments(call, script);
    char **environment = make_environment(call->environment);
    enum status status = STATUS_NO_MEMORY;

    if (words != NULL && environment != NULL)
        status = run(call, words, environment, ret_exit, failure);
    else
        (void)fail(failure, status, "no memory");
    free(environment);
    free(words);
    free(script);
    return status;
}
