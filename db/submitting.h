/* SPDX-License-Identifier: Apache-2.0 */
/* A batch while its jobs are made, which takes many transactions. Its row is INIT, announces how
 * many jobs there will be, so that they count for the submitter's limit, says that it is being
 * submitted, and is renewed as long as somebody is at it. Its jobs are held: no transition has seen
 * them, as their transition_time is never and they have no results.
 *
 *     begin -> jobs, renew, jobs, renew ... -> accept -> release in parts -> end
 *                     \ drop in parts, undo or forget
 *
 * db_submission_accept is the point of no return. A batch that nobody renews for a minute is
 * abandoned: before that point its jobs are dropped, behind it released. Conventions as in db.h. */
#ifndef DB_SUBMITTING_H
#define DB_SUBMITTING_H

#include "db/batches.h"

/* A row that goes again where nothing comes of the jobs. */
MUST_CHECK enum status db_submission_add(struct db *db, const struct new_batch *batch,
                                         int64_t *ret_id);
/* All four: STATUS_NOT_FOUND: the batch is not in that state (any more). */
MUST_CHECK enum status db_submission_begin(struct db *db, int64_t id, int64_t jobs,
                                           double logical_end_time);
MUST_CHECK enum status db_submission_renew(struct db *db, int64_t id);
MUST_CHECK enum status db_submission_accept(struct db *db, int64_t id);
/* Locks a row that is abandoned; *ret_is_accepted: it is behind the point of no return. */
MUST_CHECK enum status db_submission_lock_abandoned(struct db *db, int64_t id,
                                                    bool *ret_is_accepted);
/* Jobs of the batch, held or not. */
MUST_CHECK enum status db_submission_counted(struct db *db, int64_t id, int64_t *ret_jobs);
enum { SUBMISSION_PART = 2048 };
/* Where the next part begins; zeroed at first. */
struct submission_place {
    int64_t after; /* this job */
    bool is_last;  /* nothing more */
};
/* The next held jobs, SUBMISSION_PART at most, become due now, or are deleted; *place moves behind
 * them. */
MUST_CHECK enum status db_submission_release(struct db *db, struct arena *arena, int64_t id,
                                             int64_t now, struct submission_place *place);
MUST_CHECK enum status db_submission_drop(struct db *db, struct arena *arena, int64_t id,
                                          struct submission_place *place);
/* All are released. */
MUST_CHECK enum status db_submission_end(struct db *db, int64_t id);
/* All are dropped: the row goes, or is empty again. */
MUST_CHECK enum status db_submission_undo(struct db *db, int64_t id);
/* What came of a submission for this batch. STATUS_NOT_FOUND: the batch went with it. */
MUST_CHECK enum status db_submission_fate(struct db *db, int64_t id,
                                          struct submission_fate_row *ret_fate);
MUST_CHECK enum status db_submissions_abandoned(struct db *db, struct arena *arena, size_t most,
                                                struct abandoned_row **ret_rows, size_t *ret_count);

/* Jobs that the submitter has in progress, with those of batches being submitted. Under the lock of
 * db_submitter_lock. `exactly`: reads all of them, where otherwise those that ended of late may
 * count too. */
MUST_CHECK enum status db_submitter_jobs(struct db *db, int64_t userid, bool exactly,
                                         int64_t *ret_jobs);
/* `since`: app versions whose statistics are older do not count. */
MUST_CHECK enum status db_submitter_share(struct db *db, int64_t userid, int64_t appid,
                                          double since, struct submitter_share_row *ret_share);
MUST_CHECK enum status db_submitter_advance(struct db *db, int64_t userid,
                                            double logical_start_time);
/* The credit a day of all users. */
MUST_CHECK enum status db_users_credit(struct db *db, double *ret_credit);

#endif
