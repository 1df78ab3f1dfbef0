/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the workunits that are due: some hundred at a time, each time in a transaction of
 * its own. */
#ifndef SERVER_PASSES_TRANSITION_PASS_H
#define SERVER_PASSES_TRANSITION_PASS_H

#include "server/passes/pass.h"

/* Adds to *counts, also on failure what was committed before it. */
MUST_CHECK enum status transition_pass(struct pass_owner *owner,
                                       const struct pass_settings *settings,
                                       struct pass_counts *counts);

#endif
