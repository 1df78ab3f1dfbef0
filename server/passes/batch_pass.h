/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the rows of batches up to date (db/batches.h draws their states): counts of jobs while
 * these end, and when that will be (batch_date_pass.h); batches whose `expire_time` has passed are
 * aborted and retired; an administrator or the owner can end one early. Each step can be repeated
 * after an interruption. */
#ifndef SERVER_PASSES_BATCH_PASS_H
#define SERVER_PASSES_BATCH_PASS_H

#include "server/passes/job_change_pass.h"

/* Kept from round to round; zeroed at first. */
struct batch_schedule {
    double refresh_at; /* clock_seconds(); not before, as it means counting all their jobs */
};

/* Refreshes the batches that are in progress, so rarely that counting takes a hundredth of the time
 * at most, and ends those that have expired. The first that fails ends the pass; it is tried again
 * in the next round. */
MUST_CHECK enum status batch_pass(struct pass_owner *owner, int64_t now,
                                  struct batch_schedule *schedule);

/* Cancels the unfinished jobs of a batch; those that have an answer stay as they are. Then the
 * batch is ABORTED, unless it is retired. One whose jobs are just submitted is ABORTED first, which
 * ends that (db/submitting.h). */
MUST_CHECK enum status batch_abort(struct pass_owner *owner, int64_t id, int64_t now,
                                   struct job_change_sums *ret_sums);
/* Nobody fetches its answers any more: the batch is RETIRED, and the transition of its jobs is due,
 * after which their output files may be deleted. STATUS_INVALID: jobs of it are unfinished; their
 * number is in *ret_unfinished. */
MUST_CHECK enum status batch_retire(struct pass_owner *owner, int64_t id, int64_t now,
                                    int64_t *ret_unfinished);

#endif
