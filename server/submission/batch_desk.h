/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on batches and jobs that are there (db/batches.h draws the states of a batch). All can
 * be done again: what is aborted or retired already is left as it is. Conventions as in desk.h. */
#ifndef SERVER_SUBMISSION_BATCH_DESK_H
#define SERVER_SUBMISSION_BATCH_DESK_H

#include "server/submission/desk.h"

/* Whether a text may be the name of a batch; what is wrong with it is in `failure`. */
MUST_CHECK enum status batch_name_check(struct text name, struct failure *failure);

/* An empty one, to which jobs are submitted later. `expire_time`: epoch; 0: never. */
MUST_CHECK enum status desk_create_batch(struct desk *desk, const struct submitter *submitter,
                                         const struct app_row *app, struct text name,
                                         double expire_time, int64_t *ret_id);
MUST_CHECK enum status desk_expire_batch(struct desk *desk, const struct owned_batch_row *batch,
                                         double expire_time);
/* Unfinished jobs are cancelled; those with an answer stay. */
MUST_CHECK enum status desk_abort_batch(struct desk *desk, const struct owned_batch_row *batch);
/* The submitter has what he wants; unfinished jobs are cancelled first. */
MUST_CHECK enum status desk_retire_batch(struct desk *desk, const struct owned_batch_row *batch);
/* All of them, or where one is not the submitter's, none. */
MUST_CHECK enum status desk_abort_jobs(struct desk *desk, const struct submitter *submitter,
                                       const struct text *names, size_t count);

/* Counts its jobs, where that may have changed anything, and reads the row again. */
MUST_CHECK enum status desk_refresh(struct desk *desk, const struct submitter *submitter,
                                    struct owned_batch_row *batch);

/* One job with its instances. */
struct desk_job {
    const struct owned_job_row *row;
    const struct owned_instance_row *instances;
    size_t instance_count;
};
typedef void desk_job_call(void *context, const struct desk_job *job);
/* Calls it for each job of the batch, by number. `since`, of the database's clock: for those that
 * changed then or later; 0: for all. What it is given lives until it returns. */
MUST_CHECK enum status desk_each_job(struct desk *desk, int64_t batch, int64_t since,
                                     desk_job_call *call, void *context);
/* By number, or when that is 0 by name. In the arena. */
MUST_CHECK enum status desk_find_job(struct desk *desk, const struct submitter *submitter,
                                     int64_t id, struct text name, struct owned_job_row *ret_job);

#endif
