/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are run as virtual time passes. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_COMMAND_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_COMMAND_H

#include "server/base/status.h"

/* Runs it by the shell, with each {now} replaced by the time in whole seconds, and waits for it.
 * Its standard output is dropped, its standard error is shown. STATUS_IO: it could not be run, or
 * did not end with 0; STATUS_TOO_LARGE: the command is too long. */
MUST_CHECK enum status command_run(const char *command, double now, struct failure *failure);

#endif
