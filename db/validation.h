/* SPDX-License-Identifier: Apache-2.0 */
/* What validations ask of the database: they read some workunits without locks, compare files while
 * nothing is open, and then lock, compare what they read, and write, all in one transaction. Rows
 * are locked by id in the order user, team, host, workunit, results (those of one workunit after
 * those of the one before), host_app_version, app_version. Ids rise, each once. Conventions as in
 * db.h. */
#ifndef DB_VALIDATION_H
#define DB_VALIDATION_H

#include "db/db.h"
#include "db/validation_rows.h"

/* Workunits of an app that are to be validated, by id behind `after`. */
MUST_CHECK enum status db_validation_due(struct db *db, int64_t appid, int64_t after,
                                         int64_t *ret_ids, size_t most, size_t *ret_count);
/* A workunit that is not to be validated (any more) is not among the rows, though its results are.
 */
MUST_CHECK enum status db_validation_read(struct db *db, struct arena *arena, const int64_t *ids,
                                          size_t count, struct validation_rows *ret_rows);
/* result.xml_doc_in of some results, which come by id. */
MUST_CHECK enum status db_output_documents(struct db *db, struct arena *arena, const int64_t *ids,
                                           size_t count, struct output_document_row **ret_rows,
                                           size_t *ret_count);
/* A host with a version, as in host_app_version; 0: none. */
struct credited_pair {
    int64_t hostid, version;
};
/* Locks them, their results, and all that is to be credited for results of these pairs, in any
 * order. Workunits as above; DB_RETRY where a host has changed hands meanwhile. */
MUST_CHECK enum status db_validation_lock(struct db *db, struct arena *arena, const int64_t *ids,
                                          size_t count, const struct credited_pair *pairs,
                                          size_t pair_count, struct validation_rows *ret_rows);
/* What is then changed and saved. */
MUST_CHECK enum status db_validation_copy(struct arena *arena, const struct validation_rows *rows,
                                          struct validation_rows *ret_copy);
/* Writes what differs. Both hold the same rows. */
MUST_CHECK enum status db_validation_save(struct db *db, struct arena *arena,
                                          const struct validation_rows *before,
                                          const struct validation_rows *after);
/* To be looked at later. *ret_count: how many were still to be validated. */
MUST_CHECK enum status db_validation_postpone(struct db *db, const int64_t *ids, size_t count,
                                              int64_t until, size_t *ret_count);

#endif
