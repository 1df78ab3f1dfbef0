/* SPDX-License-Identifier: Apache-2.0 */
/* Which results a database knows, for files that nothing else leads to. Conventions as in db.h. */
#ifndef DB_FILE_SWEEP_H
#define DB_FILE_SWEEP_H

#include "db/db.h"

/* Those of these names that results have. The database may take names for the same that differ in
 * capitals: then it is its own spelling that comes back. */
MUST_CHECK enum status db_sweep_known_results(struct db *db, struct arena *arena,
                                              const struct text *names, size_t count,
                                              struct text **ret_known, size_t *ret_count);
/* Above all ids that results of this database have or had; 0: that cannot be told. */
MUST_CHECK enum status db_sweep_next_result(struct db *db, int64_t *ret_id);

#endif
