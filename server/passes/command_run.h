/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command of the project's (what --validate and --assimilate name) and waits for it.
 *
 * The command is text for the shell, as the administrator wrote it; names and paths follow as
 * arguments of their own and never become part of that text. It reads nothing, its standard output
 * is dropped, its standard error is ours. It runs in a process group of its own, which is ended as
 * a whole when the time is up, or when we are to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT, unless
 * they are ignored): then its exit status does not count, whatever it is, and we end by the same
 * signal. Where we are killed (SIGKILL) it is killed too, but not what it has started itself. */
#ifndef SERVER_PASSES_COMMAND_RUN_H
#define SERVER_PASSES_COMMAND_RUN_H

#include "server/base/text.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

/* What a command says by its exit status. Any other status, a signal and a time-out say that it did
 * not do its work; 2 too, which shells, cmp, diff and interpreters end with when they are used
 * wrongly or cannot read a file. */
enum command_exit { COMMAND_YES = 0, COMMAND_NO = 1, COMMAND_LATER = 3 };

struct command_call {
    const char *command;
    const char *const *arguments;
    size_t argument_count;
    const char *const *environment; /* NAME=VALUE, beside our own and before it; ends with NULL */
    int64_t seconds_max;
};

/* NAME=VALUE, in the arena. */
const char *command_number(struct arena *arena, const char *name, int64_t value);
const char *command_text(struct arena *arena, const char *name, struct text value);

/* STATUS_OK: it ended by itself with *ret_exit, a row of the enum above. STATUS_IO: it could not be
 * started, took too long, or ended otherwise; why is in `failure`. */
MUST_CHECK enum status command_run(const struct command_call *call, enum command_exit *ret_exit,
                                   struct failure *failure);

#endif
