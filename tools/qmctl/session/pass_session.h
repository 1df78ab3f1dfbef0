/* SPDX-License-Identifier: Apache-2.0 */
/* A session as the owner of a pass: failures of single jobs and progress become lines on standard
 * error, and a signal ends the pass (ending.h). */
#ifndef TOOLS_QMCTL_SESSION_PASS_SESSION_H
#define TOOLS_QMCTL_SESSION_PASS_SESSION_H

#include "server/passes/pass.h"
#include "tools/qmctl/session/project_session.h"

/* To be called when the database is open. */
struct pass_owner session_owner(struct session *session);

#endif
