/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are to be deleted. Files go first, then the rows say so; if a pass is interrupted in
 * between, the next one finds the files gone. Conventions as in db.h. */
#ifndef DB_FILE_DELETION_H
#define DB_FILE_DELETION_H

#include "db/db.h"

#define DB_DELETION_MOST 256

/* Rows of a file_delete_state by id behind `after`, with their documents; at most
 * DB_DELETION_MOST. Fewer: there are no others. */
MUST_CHECK enum status db_deletion_results(struct db *db, struct arena *arena, int64_t state,
                                           int64_t after, struct deletable_row **ret_rows,
                                           size_t *ret_count);
MUST_CHECK enum status db_deletion_workunits(struct db *db, struct arena *arena, int64_t state,
                                             int64_t after, struct deletable_row **ret_rows,
                                             size_t *ret_count);
/* Files that submitters brought, by id behind `after`; at most DB_DELETION_MOST. `are_held`: those
 * that have to stay whether or not a job needs them, as their time has not come or a batch of
 * theirs may get jobs; else the others. None where the database has no such files. */
MUST_CHECK enum status db_deletion_job_files(struct db *db, struct arena *arena, bool are_held,
                                             int64_t now, int64_t after,
                                             struct job_file_row **ret_rows, size_t *ret_count);
/* They are gone; ids rise. */
MUST_CHECK enum status db_deletion_forget_job_files(struct db *db, const int64_t *ids,
                                                    size_t count);
/* The new state of those that still are READY or ERROR. */
MUST_CHECK enum status db_deletion_save_results(struct db *db, struct arena *arena,
                                                const int64_t *ids, size_t count, int64_t state);
MUST_CHECK enum status db_deletion_save_workunits(struct db *db, struct arena *arena,
                                                  const int64_t *ids, size_t count, int64_t state);

#endif
