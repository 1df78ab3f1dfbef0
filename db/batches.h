/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: jobs that were made together, for somebody. A job belongs to the batch whose number is
 * in workunit.batch; result.batch repeats it. A batch may be no more than that number. With a row
 * of `batch` it has a name, an owner and a state, as BOINC's web pages read them:
 *
 *      db_batch_add        jobs are added       all jobs are over
 *     ----------> INIT ----------> IN_PROGRESS ----------> COMPLETE
 *                                       <----------
 *                            jobs are added, or tried again
 *
 *     any but RETIRED -- aborted --> ABORTED;  COMPLETE or ABORTED -- retired --> RETIRED
 *
 * What the row says of the jobs (njobs, fraction_done, nerror_jobs, credit_canonical) was true when
 * db_batch_refresh counted them last. Without db_has_batches only
 * db_batch_list may be called. Conventions as in db.h. */
#ifndef DB_BATCHES_H
#define DB_BATCHES_H

#include "db/db.h"

struct answer_filter;

enum { BATCH_STATE_NONE = -1 /* there is no row of the batch, only its jobs */ };
#define BATCH_NAME_MOST 255 /* bytes */

struct batch_view {
    struct batch_row row;
    int64_t unsent, in_progress; /* results */
};
/* The highest number first, with all counts: reads the jobs of these batches. Of the filter appid,
 * batch, before and most matter. */
MUST_CHECK enum status db_batch_list(struct db *db, struct arena *arena,
                                     const struct answer_filter *filter,
                                     struct batch_view **ret_batches, size_t *ret_count);

/* By number, or when that is 0 by name. STATUS_NOT_FOUND: there is no such row; STATUS_INVALID: the
 * name is that of several. */
MUST_CHECK enum status db_batch_find(struct db *db, struct arena *arena, int64_t id,
                                     struct text name, struct batch_entry_row *ret_batch);
/* Locks the row. STATUS_NOT_FOUND. */
MUST_CHECK enum status db_batch_lock(struct db *db, struct arena *arena, int64_t id,
                                     struct batch_entry_row *ret_batch);

struct new_batch {
    struct text name;
    int64_t userid; /* 0: the project's own */
    int64_t appid;
    int64_t now;
    int64_t expire_time; /* epoch; 0: never */
};
MUST_CHECK enum status db_batch_add(struct db *db, const struct new_batch *batch, int64_t *ret_id);
MUST_CHECK enum status db_batch_rename(struct db *db, int64_t id, struct text name);
MUST_CHECK enum status db_batch_give(struct db *db, int64_t id, int64_t userid);
MUST_CHECK enum status db_batch_expire(struct db *db, int64_t id, int64_t expire_time);
/* Jobs were added: a new batch, or one that was complete, is in progress. */
MUST_CHECK enum status db_batch_open(struct db *db, int64_t id);
/* `state`: BATCH_ABORTED or BATCH_RETIRED. A batch that is being retired has `now` as its
 * expire_time, until whoever is through sets that to 0. */
MUST_CHECK enum status db_batch_end(struct db *db, int64_t id, int64_t state, int64_t now);
/* Counts the jobs and writes what the row says of them, and the state that follows. Reads every job
 * of the batch, without locks. *ret_unfinished: jobs with neither an answer nor an error. */
MUST_CHECK enum status db_batch_refresh(struct db *db, int64_t id, int64_t now,
                                        int64_t *ret_unfinished);
/* Which of these are not retired, so that somebody may still want the answers: rising, each once,
 * in the arena. A number without a row is not held. */
MUST_CHECK enum status db_batches_held(struct db *db, struct arena *arena, const int64_t *batches,
                                       size_t count, int64_t **ret_held, size_t *ret_count);
/* Numbers of batches in progress, or of those whose expire_time has passed, behind `after`. */
MUST_CHECK enum status db_batches_in_progress(struct db *db, struct arena *arena, int64_t after,
                                              size_t most, struct id_row **ret_ids,
                                              size_t *ret_count);
MUST_CHECK enum status db_batches_expired(struct db *db, struct arena *arena, int64_t after,
                                          int64_t now, size_t most, struct id_row **ret_ids,
                                          size_t *ret_count);

#endif
