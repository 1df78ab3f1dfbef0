/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for a command of the project's (command_start.h) before the first job needs it. */
#ifndef SERVER_PASSES_COMMAND_LOOK_H
#define SERVER_PASSES_COMMAND_LOOK_H

#include "server/base/status.h"

/* Whether there is such a command at all: the file that its first word names, else what the shell
 * finds. A first word that the shell would change (quotes, variables) is not looked at. STATUS_IO:
 * there is none, or it cannot be executed; why is in `failure`. */
MUST_CHECK enum status command_look(const char *command, struct failure *failure);

#endif
