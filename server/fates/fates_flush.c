/* SPDX-License-Identifier: Apache-2.0 */
/* From memory to the tables. Rows that are too old are deleted a piece at a time, by one process
 * for all, once an hour: qm_host_fate has no index on the time, so finding them reads the whole
 * table. */
#include "db/db.h"
#include "server/base/arena.h"
#include "server/fates/fates.h"
#include "server/fates/fates_parts.h"

#include "server/base/banned.h"

enum { HOUR_SECONDS = 3600, DAY_HOURS = 24, PRUNE_SECONDS = HOUR_SECONDS };
#define FLUSH_BYTES_MAX ((size_t)8 * 1024 * 1024)

static enum status prune(struct db *db, int64_t hour)
{
    bool is_ours = false;
    enum status status = db_duty_take(db, TEXT("old fates"), PRUNE_SECONDS, &is_ours);

    return status == STATUS_OK && is_ours
               ? db_fates_prune(db, hour - FATES_DAYS * DAY_HOURS,
                                (hour - FATES_HOST_DAYS * DAY_HOURS) * HOUR_SECONDS)
               : status;
}

static enum status write(struct db *db, struct arena *arena, const struct fates_sums *sums)
{
    enum status status = db_fates_add(db, arena, sums->counts, sums->count);

    if (status == STATUS_OK)
        status = db_fates_add_hosts(db, arena, sums->hosts, sums->host_count);
    if (status == STATUS_OK)
        status = prune(db, sums->hour);
    return status == STATUS_OK ? db_commit(db) : status;
}

enum status fates_flush(struct fates *fates, struct db *db)
{
    struct arena *arena = arena_create(FLUSH_BYTES_MAX);
    struct fates_sums sums;
    enum status status = STATUS_OK;

    if (arena == NULL)
        return STATUS_NO_MEMORY;
    if (!fates_take(fates, arena, &sums))
        status = STATUS_NO_MEMORY;
    else if (sums.count + sums.host_count > 0)
        status = write(db, arena, &sums);
    if (status != STATUS_OK) {
        (void)db_rollback(db);
        if (status != STATUS_NO_MEMORY && status != STATUS_DB_UNKNOWN)
            fates_give_back(fates, &sums);
    }
    arena_destroy(arena);
    return status;
}
