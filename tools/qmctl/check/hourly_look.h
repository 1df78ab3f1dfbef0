/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that take too long for a server, or need the network: jobs that no host can have, and
 * whether clients reach the project. */
#ifndef TOOLS_QMCTL_CHECK_HOURLY_LOOK_H
#define TOOLS_QMCTL_CHECK_HOURLY_LOOK_H

#include "server/base/status.h"

#include <stdbool.h>

struct session;

/* Begins to look, if nobody has within the hour, in a thread with memory and a connection of its
 * own, which leaves for servers what it finds and says on standard error what it could not. The
 * session's connection is at the end of a transaction before and after. NULL in *ret_look: not yet
 * due. */
struct hourly_look;
MUST_CHECK enum status hourly_look_begin(struct session *session, struct hourly_look **ret_look);
/* False: it is under way. NULL is over. */
bool hourly_look_is_over(const struct hourly_look *look);
/* Waits for its end. NULL is fine. */
void hourly_look_end(struct hourly_look *look);

#endif
