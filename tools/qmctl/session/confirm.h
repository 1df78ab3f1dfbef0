/* SPDX-License-Identifier: Apache-2.0 */
/* The question before what cannot be undone, or is somebody else's. */
#ifndef TOOLS_QMCTL_SESSION_CONFIRM_H
#define TOOLS_QMCTL_SESSION_CONFIRM_H

#include "tools/qmctl/session/project_session.h"

/* Says on standard error what is going to be lost, and asks on the terminal for the word that
 * stands for it; --yes answers beforehand. For commands that are marked `asks`. No transaction is
 * open while somebody thinks. EXIT_DONE: go on. EXIT_FAILED: the answer was another word.
 * EXIT_USAGE: there is neither a terminal nor --yes. Whatever is not EXIT_DONE has been explained,
 * and nothing has been done. */
MUST_CHECK enum exit_code confirm(struct session *session, struct text lost, struct text word);
/* The same before a change of a project that others work with. */
MUST_CHECK enum exit_code confirm_change(struct session *session, struct text changes,
                                         struct text word);

#endif
