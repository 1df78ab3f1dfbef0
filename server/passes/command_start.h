/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a command of the project's (what --validate, --assimilate and their like name), and ends
 * it.
 *
 * A command is as the administrator wrote it. Plain words are a program and its arguments, which is
 * started without a shell; whatever else is in it, or a word that is no program, is text for the
 * shell. Names and paths follow as arguments of their own and never become part of that text.
 *
 * It reads nothing and its standard output is dropped, unless the caller has pipes for them; its
 * standard error is ours. It runs in a process group of its own, which is ended as a whole. Where
 * we are killed (SIGKILL) it is killed too, but not what it has started itself. */
#ifndef SERVER_PASSES_COMMAND_START_H
#define SERVER_PASSES_COMMAND_START_H

#include "server/base/text.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* What a command says by its exit status. Any other status, a signal and a time-out say that it did
 * not do its work; 2 too, which shells, cmp, diff and interpreters end with when they are used
 * wrongly or cannot read a file. */
enum command_exit { COMMAND_YES = 0, COMMAND_NO = 1, COMMAND_LATER = 3 };

struct command_call {
    const char *command;
    const char *const *arguments; /* NULL: none is ever given */
    size_t argument_count;
    const char *const *environment; /* NAME=VALUE, beside our own and before it; ends with NULL */
    int input, output;              /* -1: /dev/null */
};

/* NAME=VALUE, in the arena. */
const char *command_number(struct arena *arena, const char *name, int64_t value);
const char *command_text(struct arena *arena, const char *name, struct text value);

/* `mask`: the signals that it has blocked. STATUS_IO: it could not be started; why is in `failure`.
 */
MUST_CHECK enum status command_start(const struct command_call *call, const sigset_t *mask,
                                     pid_t *ret_pid, struct failure *failure);
/* Of a status of waitpid. STATUS_IO: it did not do its work; why is in `failure`. */
MUST_CHECK enum status command_judge(int status, enum command_exit *ret_exit,
                                     struct failure *failure);
/* Whether it ends within so many seconds; then it is reaped, and what is left of its group is
 * ended. */
bool command_has_ended(pid_t pid, double seconds, int *ret_status);
/* The groups of these are asked to end, and ended some seconds later; returns when all are reaped.
 */
void command_end(const pid_t *pids, size_t count);

#endif
