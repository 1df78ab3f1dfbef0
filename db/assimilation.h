/* SPDX-License-Identifier: Apache-2.0 */
/* Finished workunits that are to be given on. Nothing stays locked: between reading one and saving
 * what became of it, it is only marked as it was. Conventions as in db.h. */
#ifndef DB_ASSIMILATION_H
#define DB_ASSIMILATION_H

#include "db/db.h"

/* Those of an app, by id behind `after`. */
MUST_CHECK enum status db_assimilation_due(struct db *db, int64_t appid, int64_t after,
                                           int64_t *ret_ids, size_t most, size_t *ret_count);
/* The last of them; NOT_FOUND: there is none. */
MUST_CHECK enum status db_assimilation_last(struct db *db, int64_t appid, int64_t *ret_id);
/* One of them with its canonical result, "" where there is none. NOT_FOUND: it is not to be given
 * on any more. */
MUST_CHECK enum status db_assimilation_job(struct db *db, struct arena *arena, int64_t id,
                                           struct finished_job_row *ret_job);
/* ASSIMILATE_DONE, or INIT: later. The transition comes at that time, or before. One that is no
 * more READY stays as it is. */
MUST_CHECK enum status db_assimilation_save(struct db *db, int64_t id, int64_t assimilate_state,
                                            int64_t error_bits, int64_t transition_time);

#endif
