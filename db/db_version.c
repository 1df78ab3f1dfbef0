/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a host's app versions (host_app_version). The validator writes the same rows, so
 * every change is relative to what the row holds at that moment. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum status db_host_app_versions(struct db *db, struct arena *arena, int64_t hostid,
                                 struct host_app_version_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, host_app_versions, arena, ret_rows, ret_count, .hostid = hostid);
}

/* One round trip for each, but only when a host gets its first job of a version. */
static enum status inherit(struct db *db, int64_t hostid,
                           const struct host_app_version_change *changes, size_t count)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (changes[i].inherits)
            status = DB_RUN(db, host_app_version_inherit, NULL, .hostid = hostid,
                            .app_version_id = changes[i].app_version_id);
    }
    return status;
}

static int compare_changes(const void *a, const void *b)
{
    const struct host_app_version_change *left = a, *right = b;

    return (left->app_version_id > right->app_version_id) -
           (left->app_version_id < right->app_version_id);
}

/* The rows that are not there yet, one by one: the host's first jobs of a version, seldom more than
 * one. What is there was changed before, all of it, or an interruption was taken for the end. */
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
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        if (!is_there[i])
            status = DB_RUN(
                db, host_app_version_add, NULL, .hostid = hostid,
                .app_version_id = values[i].app_version_id, .jobs_sent = values[i].jobs_sent,
                .quota = values[i].quota, .sets_quota = values[i].sets_quota,
                .reset_today = values[i].reset_today, .resets_valid = values[i].resets_valid);
    }
done:
    free(is_there);
    return status;
}

enum status db_host_app_versions_save(struct db *db, int64_t hostid,
                                      const struct host_app_version_change *changes, size_t count)
{
    struct host_app_version_change *sorted = calloc(count + 1, sizeof(sorted[0]));
    struct host_app_version_change_values *values = calloc(count + 1, sizeof(values[0]));
    uint64_t changed = 0;
    enum status status = STATUS_NO_MEMORY;

    if (sorted == NULL || values == NULL)
        goto done;
    for (size_t i = 0; i < count; i++)
        sorted[i] = changes[i];
    qsort(sorted, count, sizeof(sorted[0]), compare_changes);
    for (size_t i = 0; i < count; i++) {
        const struct host_app_version_change *change = &sorted[i];

        values[i] = (struct host_app_version_change_values){
            .hostid = hostid,
            .app_version_id = change->app_version_id,
            .jobs_sent = change->jobs_sent,
            .quota = change->sets_max_jobs_per_day ? change->max_jobs_per_day : 0,
            .sets_quota = change->sets_max_jobs_per_day,
            .reset_today = change->reset_today,
            .resets_valid = change->resets_consecutive_valid};
    }
    status = inherit(db, hostid, sorted, count);
    if (status == STATUS_OK)
        status = DB_RUN_BULK(db, host_app_version_change, values, count, &changed);
    if (status == STATUS_OK && changed < count)
        status = add_missing(db, hostid, values, count, changed);
done:
    free(sorted);
    free(values);
    return status;
}
