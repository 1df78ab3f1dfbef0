/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a host's app versions (host_app_version). The validator writes the same rows, so
 * every change is relative to what the row holds at that moment. */
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum status db_host_app_versions(struct db *db, struct arena *arena, int64_t hostid,
                                 struct host_app_version_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, host_app_versions, arena, ret_rows, ret_count, .hostid = hostid);
}

/* A row that is not there, as far as is known. */
static enum status add_row(struct db *db, const struct host_app_version_change_values *row)
{
    return DB_RUN(db, host_app_version_add, NULL, .hostid = row->hostid,
                  .app_version_id = row->app_version_id, .jobs_sent = row->jobs_sent,
                  .quota = row->quota, .sets_quota = row->sets_quota,
                  .reset_today = row->reset_today, .resets_valid = row->resets_valid);
}

/* The host's first jobs of a version: *ret_is_copied tells whether the host's past with another
 * version gave it a row, which is then to be changed; else it was made. */
static enum status begin_row(struct db *db, const struct host_app_version_change_values *row,
                             bool *ret_is_copied)
{
    uint64_t copied = 0;
    enum status status = DB_RUN(db, host_app_version_inherit, &copied, .hostid = row->hostid,
                                .app_version_id = row->app_version_id);

    *ret_is_copied = copied > 0;
    return status == STATUS_OK && copied == 0 ? add_row(db, row) : status;
}

/* Rows that nobody knew to be missing. What is there was changed before, all of it, or an
 * interruption was taken for the end. */
static enum status add_missing(struct db *db, int64_t hostid,
                               const struct host_app_version_change_values *values, size_t count,
                               uint64_t changed)
{
    bool *is_there = calloc(count, sizeof(is_there[0]));
    struct host_app_version_cursor rows;
    struct host_app_version_row row;
    uint64_t there = 0;
    enum status status = is_there == NULL
                             ? STATUS_NO_MEMORY
                             : DB_QUERY(db, host_app_versions, NULL, &rows, .hostid = hostid);

    if (status != STATUS_OK)
        goto done;
    while (DB_NEXT(&rows, &row)) {
        for (size_t i = 0; i < count; i++) {
            if (values[i].app_version_id == row.app_version_id) {
                is_there[i] = true;
                there++;
            }
        }
    }
    status = DB_END(&rows);
    if (status == STATUS_OK && there != changed)
        status = STATUS_DB_RETRY;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        if (!is_there[i])
            status = add_row(db, &values[i]);
done:
    free(is_there);
    return status;
}

/* What is missing where the answer is not waited for is added by the next attempt. */
static enum status change_rows(struct db *db, int64_t hostid,
                               const struct host_app_version_change_values *values, size_t count)
{
    uint64_t changed = 0;
    enum status status = DB_RUN_BULK(db, host_app_version_change, values, count, &changed);

    return status == STATUS_OK && changed < count ? add_missing(db, hostid, values, count, changed)
                                                  : status;
}

enum status db_host_app_versions_save(struct db *db, int64_t hostid,
                                      const struct host_app_version_change *changes, size_t count)
{
    struct host_app_version_change *sorted = calloc(count + 1, sizeof(sorted[0]));
    struct host_app_version_change_values *values = calloc(count + 1, sizeof(values[0]));
    size_t kept = 0; /* of the values: rows that are there */
    enum status status = STATUS_NO_MEMORY;

    if (sorted == NULL || values == NULL)
        goto done;
    for (size_t i = 0; i < count; i++)
        sorted[i] = changes[i];
    qsort(sorted, count, sizeof(sorted[0]), sorted_compare_ids);
    status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct host_app_version_change *change = &sorted[i];
        bool is_there = true;

        values[kept] = (struct host_app_version_change_values){
            .hostid = hostid,
            .app_version_id = change->app_version_id,
            .jobs_sent = change->jobs_sent,
            .quota = change->max_jobs_per_day,
            .sets_quota = change->sets_max_jobs_per_day,
            .reset_today = change->reset_today,
            .resets_valid = change->resets_consecutive_valid};
        if (change->inherits)
            status = begin_row(db, &values[kept], &is_there);
        kept += is_there;
    }
    if (status == STATUS_OK)
        status = change_rows(db, hostid, values, kept);
done:
    free(sorted);
    free(values);
    return status;
}
