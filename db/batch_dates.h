/* SPDX-License-Identifier: Apache-2.0 */
/* When batches will be done: what that is estimated from, and the estimates
 * (batch.est_completion_time, table qm_batch_date; policy(7) 13.10). Conventions as in db.h. */
#ifndef DB_BATCH_DATES_H
#define DB_BATCH_DATES_H

#include "db/db.h"

/* --- what it is estimated from ---------------------------------------------------------------- */

/* Of an app: its latest results that are over, and that are with hosts, at most `most` of each; the
 * latest first. */
MUST_CHECK enum status db_recent_results(struct db *db, struct arena *arena, int64_t appid,
                                         size_t most, struct recent_result_row **ret_rows,
                                         size_t *ret_count);
/* Of a batch's jobs without an answer: results that are unsent or with hosts, by job, at most
 * `most`. A job without any has one row of state 0. */
MUST_CHECK enum status db_batch_lacking(struct db *db, struct arena *arena, int64_t batch,
                                        size_t most, struct lacking_result_row **ret_rows,
                                        size_t *ret_count);
/* Of all its results, those sent after `since` among them. Reads each. */
MUST_CHECK enum status db_batch_hand_out(struct db *db, int64_t batch, int64_t since,
                                         struct batch_hand_out_row *ret_row);
/* Unsent results of higher priority, and of the same with a number below `before`; counts at most
 * `most` of each. To go on counting: those of the same from `from` on alone (0: all). */
MUST_CHECK enum status db_results_ahead(struct db *db, int64_t priority, int64_t from,
                                        int64_t before, int64_t most, int64_t *ret_count);

/* --- the estimates ---------------------------------------------------------------------------- */

struct batch_date_note {
    int64_t batch;
    int64_t half, most; /* epoch; 0: not known */
    int64_t ahead, now;
};
/* Nothing is written into a row of batch that is not in progress. */
MUST_CHECK enum status db_batch_date_note(struct db *db, const struct batch_date_note *note);
/* Those of batches that are not in progress. */
MUST_CHECK enum status db_batch_dates_forget(struct db *db);

#endif
