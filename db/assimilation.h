/* SPDX-License-Identifier: Apache-2.0 */
/* Finished workunits that are to be given on. Nothing stays locked: between reading one and saving
 * what became of it, it is only marked as it was. Ids rise, each once. Conventions as in db.h. */
#ifndef DB_ASSIMILATION_H
#define DB_ASSIMILATION_H

#include "db/db.h"

/* Those of an app, by id behind `after`. */
MUST_CHECK enum status db_assimilation_due(struct db *db, int64_t appid, int64_t after,
                                           int64_t *ret_ids, size_t most, size_t *ret_count);
/* The last of them; NOT_FOUND: there is none. */
MUST_CHECK enum status db_assimilation_last(struct db *db, int64_t appid, int64_t *ret_id);
/* Those of them, with their canonical results, "" where there is none. One that is not to be given
 * on any more is left out. */
MUST_CHECK enum status db_assimilation_jobs(struct db *db, struct arena *arena, const int64_t *ids,
                                            size_t count, struct finished_job_row **ret_jobs,
                                            size_t *ret_count);
/* What becomes of a job: ASSIMILATE_DONE, or INIT: later. The transition comes at that time, or
 * before. */
struct assimilated {
    int64_t assimilate_state, error_bits, transition_time;
};
/* One that is no more READY stays as it is. *ret_count: how many were READY. */
MUST_CHECK enum status db_assimilation_save(struct db *db, const int64_t *ids, size_t count,
                                            const struct assimilated *as, size_t *ret_count);

#endif
