/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that hold something of a project in common with others (server/passes/pass_lease.h) end
 * by a signal only when they have given it back; a second signal ends them at once. */
#ifndef TOOLS_QMCTL_SESSION_ENDING_H
#define TOOLS_QMCTL_SESSION_ENDING_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT, where they are not ignored, are only noted. */
void ending_catch(void);
/* One of them came: nothing new is to be begun. */
bool ending_is_wanted(void);
/* Sleeps, not longer than until one comes. */
void ending_sleep(double seconds);
/* Ends the process by the signal that came, if one did. */
void ending_obey(void);

#endif
