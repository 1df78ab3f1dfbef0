/* SPDX-License-Identifier: Apache-2.0 */
/* When a batch will be done (server/policy/result/batch_date.h): reads what that is estimated from,
 * and writes it down. Done by batch_pass; and for jobs that somebody thinks of submitting. */
#ifndef SERVER_PASSES_BATCH_DATE_PASS_H
#define SERVER_PASSES_BATCH_DATE_PASS_H

#include "server/passes/pass.h"
#include "server/policy/result/batch_date.h"

struct batch_dates;

/* What is read once for all batches, in the owner's arena. Batches that are not in progress any
 * more have no date. */
MUST_CHECK enum status batch_dates_begin(struct pass_owner *owner, int64_t now,
                                         struct batch_dates **ret_dates);
/* For a batch in progress; cheapest by rising number, since what goes before one usually goes
 * before the next. Leaves in the owner's arena what it knows of the batch's app. */
MUST_CHECK enum status batch_date_batch(struct pass_owner *owner, struct batch_dates *dates,
                                        int64_t batch, bool hurry);

/* Jobs that are not submitted yet. */
struct jobs_planned {
    int64_t appid, count, priority, delay_bound;
};
/* If they were submitted now. */
MUST_CHECK enum status batch_date_of_planned(struct pass_owner *owner,
                                             const struct jobs_planned *planned, int64_t now,
                                             struct batch_date *ret_date);

#endif
