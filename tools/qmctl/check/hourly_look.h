/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that take too long for a server, or need the network: jobs that no host can have, and
 * whether clients reach the project. */
#ifndef TOOLS_QMCTL_CHECK_HOURLY_LOOK_H
#define TOOLS_QMCTL_CHECK_HOURLY_LOOK_H

#include "server/base/status.h"

struct session;

/* Looks, and leaves for servers what it finds, if nobody has within the hour. The session's
 * connection, which is at the end of a transaction, stays as it is. */
MUST_CHECK enum status hourly_look(struct session *session);

#endif
