/* SPDX-License-Identifier: Apache-2.0 */
/* Which results are still in the database. */
#ifndef TOOLS_QMCTL_KNOWN_RESULTS_H
#define TOOLS_QMCTL_KNOWN_RESULTS_H

#include "tools/qmctl/project_session.h"

enum { KNOWN_RESULTS_MOST = 256 };

/* So many names at most, of ASCII. A result whose name differs in capitals counts as well, where
 * the database takes such names for the same. Needs memory of the arena. */
MUST_CHECK enum status known_results(struct session *session, struct arena *arena,
                                     const struct text *names, size_t count, bool *ret_known);

#endif
