/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes wait in the output files of batches that are not retired (table qm_batch_outputs).
 * Nothing deletes such files, so a batch is counted again only when jobs of it have ended since.
 * Conventions as in db.h. */
#ifndef DB_BATCH_OUTPUTS_H
#define DB_BATCH_OUTPUTS_H

#include "db/db.h"

/* The first batch behind `after` of which jobs have ended that are not counted, or whose counting
 * is under way. STATUS_NOT_FOUND: there is none. */
MUST_CHECK enum status db_batch_outputs_next(struct db *db, int64_t after,
                                             struct outputs_count_row *ret_batch);
/* Of the next `most` ended jobs behind batch->place: what they gave back, by job. A job has at
 * least one row; where it has no output, the document is empty. */
MUST_CHECK enum status db_batch_outputs(struct db *db, struct arena *arena,
                                        const struct outputs_count_row *batch, size_t most,
                                        struct job_output_row **ret_rows, size_t *ret_count);
MUST_CHECK enum status db_batch_outputs_save(struct db *db, const struct outputs_count_row *batch);
/* Batches that are retired, or gone. */
MUST_CHECK enum status db_batch_outputs_forget(struct db *db);

#endif
