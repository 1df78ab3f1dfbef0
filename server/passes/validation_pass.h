/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the workunits that are to be validated: each is read, its results' files are
 * compared with nothing open, and the verdicts are written in one transaction, if everything is as
 * it was read. */
#ifndef SERVER_PASSES_VALIDATION_PASS_H
#define SERVER_PASSES_VALIDATION_PASS_H

#include "server/passes/pass.h"

/* How results are compared by `settings`. NULL as `validate` and no trust: not at all, and then
 * there is nothing to pass over. Adds to *counts, also on failure what was committed before it. */
MUST_CHECK enum status validation_pass(struct pass_owner *owner,
                                       const struct pass_settings *settings,
                                       struct pass_counts *counts);

#endif
