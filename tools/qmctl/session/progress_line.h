/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the progress of a long command. */
#ifndef TOOLS_QMCTL_SESSION_PROGRESS_LINE_H
#define TOOLS_QMCTL_SESSION_PROGRESS_LINE_H

#include "tools/qmctl/session/project_session.h"

/* To be called for every piece of the work: `count` of `what` ("jobs purged") are done. Every two
 * seconds that is a line on standard error, where that is a terminal; never with --quiet. Another
 * `what`, or a lower count, begins anew. */
void progress(struct session *session, const char *what, int64_t count);

#endif
