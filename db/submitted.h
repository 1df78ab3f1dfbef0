/* SPDX-License-Identifier: Apache-2.0 */
/* What submitters see over the web: of their own batches and jobs, and of nobody else's. Whatever
 * belongs to another user is not found. Conventions as in db.h. */
#ifndef DB_SUBMITTED_H
#define DB_SUBMITTED_H

#include "db/db.h"

/* Without locks. STATUS_NOT_FOUND: the user submits no jobs, or none of this application. */
MUST_CHECK enum status db_submitter_rights(struct db *db, int64_t userid,
                                           struct submitter_rights_row *ret_rights);
MUST_CHECK enum status db_submitter_has_app(struct db *db, int64_t userid, int64_t appid);

/* Those that are not retired, rising, behind `after`. */
MUST_CHECK enum status db_owned_batches(struct db *db, struct arena *arena, int64_t userid,
                                        int64_t after, size_t most,
                                        struct owned_batch_row **ret_rows, size_t *ret_count);
/* By number, or when that is 0 by its name, byte for byte; the newest of several. */
MUST_CHECK enum status db_owned_batch(struct db *db, struct arena *arena, int64_t userid,
                                      int64_t id, struct text name,
                                      struct owned_batch_row *ret_row);
/* Of all instances of its jobs, s. */
MUST_CHECK enum status db_batch_cpu_time(struct db *db, int64_t batch, double *ret_seconds);

MUST_CHECK enum status db_database_now(struct db *db, int64_t *ret_now);
/* Rising, behind `after`. `since`, of the database's clock: only what changed then or later; 0:
 * all. */
MUST_CHECK enum status db_owned_jobs(struct db *db, struct arena *arena, int64_t batch,
                                     int64_t after, int64_t since, size_t most,
                                     struct owned_job_row **ret_rows, size_t *ret_count);
/* By number, or when that is 0 by name. */
MUST_CHECK enum status db_owned_job(struct db *db, struct arena *arena, int64_t userid, int64_t id,
                                    struct text name, struct owned_job_row *ret_row);
/* Of these jobs, whose ids rise: by job, then by id. */
MUST_CHECK enum status db_owned_instances(struct db *db, struct arena *arena,
                                          const struct owned_job_row *jobs, size_t job_count,
                                          struct owned_instance_row **ret_rows, size_t *ret_count);
/* The canonical one or, where the job has none, the last that came back. STATUS_NOT_FOUND: none
 * did. */
MUST_CHECK enum status db_ended_instance(struct db *db, struct arena *arena,
                                         const struct owned_job_row *job,
                                         struct ended_instance_row *ret_row);

#endif
