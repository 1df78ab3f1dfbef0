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

/* --- what jobs gave back. These find anybody's: whose they are is in the row ------------------ */

MUST_CHECK enum status db_output_of_result(struct db *db, struct arena *arena, struct text name,
                                           struct owned_output_row *ret_row);
/* Of the canonical result; by number, or when that is 0 by name. */
MUST_CHECK enum status db_output_of_job(struct db *db, struct arena *arena, int64_t id,
                                        struct text name, struct owned_output_row *ret_row);
/* Of canonical results, by job, behind the job `after`. */
MUST_CHECK enum status db_outputs_of_batch(struct db *db, struct arena *arena, int64_t batch,
                                           int64_t after, size_t most,
                                           struct owned_output_row **ret_rows, size_t *ret_count);
MUST_CHECK enum status db_batch_user(struct db *db, int64_t batch, int64_t *ret_userid);

/* --- files that submitters bring -------------------------------------------------------------- */

/* Whether it was brought for batches, and none of them is the user's. */
MUST_CHECK enum status db_job_file_is_noted(struct db *db, struct arena *arena, struct text name,
                                            bool *ret_is);
MUST_CHECK enum status db_job_file_is_of_others(struct db *db, struct text name, int64_t userid,
                                                bool *ret_is);
/* Notes that the file is there, until `delete_time` at least, for a batch where that is not 0.
 * STATUS_INVALID: another has this name but for capitals. */
MUST_CHECK enum status db_job_file_note(struct db *db, struct arena *arena, struct text name,
                                        double now, double delete_time, int64_t batch);

#endif
