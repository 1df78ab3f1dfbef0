/* SPDX-License-Identifier: Apache-2.0 */
/* When a batch will be done (server/policy/result/batch_date.h): reads what that is estimated from,
 * and writes it down. Done by batch_pass. */
#ifndef SERVER_PASSES_BATCH_DATE_PASS_H
#define SERVER_PASSES_BATCH_DATE_PASS_H

#include "server/passes/pass.h"

/* Batches that are not in progress any more have no date. */
MUST_CHECK enum status batch_dates_begin(struct pass_owner *owner);
/* For a batch in progress. */
MUST_CHECK enum status batch_date_batch(struct pass_owner *owner, int64_t batch, bool hurry,
                                        int64_t now);

#endif
