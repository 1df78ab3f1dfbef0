/* SPDX-License-Identifier: Apache-2.0 */
/* Batches in a hurry (table qm_hurry; policy(7) 13.9). Conventions as in db.h. */
#ifndef DB_HURRIES_H
#define DB_HURRIES_H

#include "db/db.h"

/* With more jobs without an answer a batch is not near its end. */
#define HURRY_JOBS_MOST 20000

/* Somebody wants this batch to be in a hurry, or not any more. */
MUST_CHECK enum status db_hurry_want(struct db *db, int64_t batch, bool is_wanted);
/* within: s, 0: any host gets what is left. */
MUST_CHECK enum status db_hurry_limit(struct db *db, int64_t batch, int64_t within);
/* Batches that are over, or are gone. */
MUST_CHECK enum status db_hurry_forget(struct db *db);

/* Of the jobs without an answer: results that are unsent or with hosts, by job, at most `most`. */
MUST_CHECK enum status db_hurry_open(struct db *db, struct arena *arena, int64_t batch, size_t most,
                                     struct open_result_row **ret_rows, size_t *ret_count);
/* The latest canonical results, at most `most`, by rising turnaround. */
MUST_CHECK enum status db_hurry_answers(struct db *db, struct arena *arena, int64_t batch,
                                        size_t most, struct batch_answer_row **ret_rows,
                                        size_t *ret_count);
/* Their next transition, which is due, makes each job one result more than it has; they go before
 * other jobs of their batch. Jobs with an answer, an error or an unsent result are left alone, and
 * those that lack a result already. */
MUST_CHECK enum status db_hurry_copy(struct db *db, const int64_t *workunitids, size_t count,
                                     int64_t now);
/* Jobs that have as many results as they want, want as many as their quorum from now on. Jobs with
 * an answer, an error, or a quorum of results to compare are left alone. */
MUST_CHECK enum status db_hurry_settle(struct db *db, const int64_t *workunitids, size_t count);

#endif
