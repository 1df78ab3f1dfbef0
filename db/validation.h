/* SPDX-License-Identifier: Apache-2.0 */
/* What a validation asks of the database: it reads a workunit without locks, compares files while
 * nothing is open, and then locks, compares what it read, and writes, all in one transaction of one
 * workunit. Rows are locked by id in the order user, team, host, workunit, results,
 * host_app_version, app_version. Conventions as in db.h. */
#ifndef DB_VALIDATION_H
#define DB_VALIDATION_H

#include "db/db.h"
#include "db/validation_rows.h"

/* Workunits of an app that are to be validated, by id behind `after`. */
MUST_CHECK enum status db_validation_due(struct db *db, int64_t appid, int64_t after,
                                         int64_t *ret_ids, size_t most, size_t *ret_count);
/* NOT_FOUND: it is not to be validated (any more). */
MUST_CHECK enum status db_validation_read(struct db *db, struct arena *arena, int64_t id,
                                          struct validation_rows *ret_rows);
/* result.xml_doc_in of some results, by id. */
MUST_CHECK enum status db_output_documents(struct db *db, struct arena *arena, const int64_t *ids,
                                           size_t count, struct output_document_row **ret_rows,
                                           size_t *ret_count);
/* Locks it, its results, and all that is to be credited for results of these hosts with these
 * versions (as in host_app_version; 0: none), pair by pair. NOT_FOUND as above; DB_RETRY where a
 * host has changed hands meanwhile. */
MUST_CHECK enum status db_validation_lock(struct db *db, struct arena *arena, int64_t id,
                                          const int64_t *hostids, const int64_t *versions,
                                          size_t count, struct validation_rows *ret_rows);
/* Writes what differs. Both hold the same rows. */
MUST_CHECK enum status db_validation_save(struct db *db, struct arena *arena,
                                          const struct validation_rows *before,
                                          const struct validation_rows *after);
/* To be looked at later; NOT_FOUND is no answer: it need not be there any more. */
MUST_CHECK enum status db_validation_postpone(struct db *db, int64_t id, int64_t until);

#endif
