/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over finished workunits, with an answer or given up: a command gets each of them, and
 * the workunit is marked only after the command has succeeded. The command therefore gets each at
 * least once; QM_JOB_ID tells it which ones it had before. No transaction is open while it runs.
 * Jobs of a batch that has an owner are not given to it: the owner fetches their answers. */
#ifndef SERVER_PASSES_ASSIMILATION_PASS_H
#define SERVER_PASSES_ASSIMILATION_PASS_H

#include "server/passes/pass.h"

/* Jobs whose command has failed, which are passed over for a while; kept from round to round. */
struct assimilation_failures {
    struct {
        int64_t id, until;
    } items[1000];
    size_t count;
};

/* Adds to *counts, also on failure what was done before it. Without settings->assimilate nothing.
 */
MUST_CHECK enum status assimilation_pass(struct pass_owner *owner,
                                         const struct pass_settings *settings,
                                         struct assimilation_failures *failures,
                                         struct pass_counts *counts);

#endif
