/* SPDX-License-Identifier: Apache-2.0 */
/* Old finished workunits with their results: locked and read whole, then deleted in the same
 * transaction. Conventions as in db.h. */
#ifndef DB_PURGE_H
#define DB_PURGE_H

#include "db/db.h"

struct purge_filter {
    int64_t before; /* changed last before this moment (epoch) */
    int64_t appid;  /* 0: any */
};
struct purge_rows {
    struct purged_workunit_row *workunits; /* by id */
    size_t workunit_count;
    struct purged_result_row *results; /* by workunit and id */
    size_t result_count;
};

/* Ids behind `after`, rising. Nothing is locked. */
MUST_CHECK enum status db_purge_due(struct db *db, const struct purge_filter *filter, int64_t after,
                                    int64_t *ret_ids, size_t most, size_t *ret_count);
/* Locks those that still can be purged, with all their results. */
MUST_CHECK enum status db_purge_lock(struct db *db, struct arena *arena,
                                     const struct purge_filter *filter, const int64_t *ids,
                                     size_t count, struct purge_rows *ret_rows);
/* Deletes what was locked, and what else is kept of the workunits: assignments, and our own row. */
MUST_CHECK enum status db_purge_delete(struct db *db, struct arena *arena,
                                       const struct purge_rows *rows);

/* Up to where all was looked at. Zeroed at first. */
struct purge_lost {
    int64_t hostid, workunitid, resultid;
};
/* Deletes some rows of ours whose host, workunit or result another program has deleted. Of how many
 * of these; 0: of none that is behind these. */
MUST_CHECK enum status db_purge_lost(struct db *db, struct purge_lost *lost, size_t *ret_count);

/* What keeps the `most` oldest workunits: words of PURGE_HOLDS in db/admin.def with counts, the
 * most first. In the arena. Nothing is locked. */
MUST_CHECK enum status db_purge_holds(struct db *db, struct arena *arena,
                                      const struct purge_filter *filter, int64_t most,
                                      struct purge_hold_row **ret_holds, size_t *ret_count);

#endif
