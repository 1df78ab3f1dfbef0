/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of what became of results (server/fates/fates.h). Conventions as in db.h. */
#ifndef DB_FATE_ROWS_H
#define DB_FATE_ROWS_H

#include "db/db.h"
#include "db/rows.h"

/* Adds to the rows of these keys; a number that is added to is never above the largest. A command
 * that is interrupted half-way may lose some: they are figures, and nothing depends on them. */
struct fate_count {
    int64_t hour; /* since the epoch */
    int64_t process, appid, app_version_id, batch, fate, exit_status, results;
};
MUST_CHECK enum status db_fates_add(struct db *db, struct arena *arena,
                                    const struct fate_count *counts, size_t count);
struct host_fates {
    int64_t hostid;
    double ended, failed; /* results */
    int64_t counted_at;   /* epoch */
};
MUST_CHECK enum status db_fates_add_hosts(struct db *db, struct arena *arena,
                                          const struct host_fates *hosts, size_t count);
/* Deletes some of the rows of earlier hours, and of hosts without a result since `host_before`
 * (epoch); others go with a later call. */
MUST_CHECK enum status db_fates_prune(struct db *db, int64_t hour, int64_t host_before);

/* Sums since an hour. By version, fate and exit status; by hour and fate, of all or of one app. */
MUST_CHECK enum status db_fates_by_version(struct db *db, struct arena *arena, int64_t since_hour,
                                           struct fate_version_row **ret_rows, size_t *ret_count);
MUST_CHECK enum status db_fates_by_hour(struct db *db, struct arena *arena, int64_t since_hour,
                                        int64_t appid, struct fate_hour_row **ret_rows,
                                        size_t *ret_count);
MUST_CHECK enum status db_fates_by_batch(struct db *db, struct arena *arena, int64_t since_hour,
                                         struct fate_batch_row **ret_rows, size_t *ret_count);
/* Hosts of which at least `failed_least` results failed of late, those that failed most first. */
MUST_CHECK enum status db_fates_worst_hosts(struct db *db, struct arena *arena, int64_t now,
                                            double failed_least, int64_t most,
                                            struct fate_host_row **ret_rows, size_t *ret_count);

#endif
