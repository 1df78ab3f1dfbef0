/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a host's app versions (host_app_version). The validator writes the same rows, so
 * every change is relative to what the row holds at that moment. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum status db_host_app_versions(struct db *db, struct arena *arena, int64_t hostid,
                                 struct host_app_version_row **ret_rows, size_t *ret_count)
{
    struct host_app_version_row *items;
    size_t count = 0;
    struct db_rows rows;
    enum status status =
        db_query(db, arena, STATEMENT_host_app_versions, DB_VALUES(db_id(hostid)), &rows);

    if (status != STATUS_OK)
        return status;
    items = ARENA_ARRAY(arena, rows.row_count, struct host_app_version_row);
    while (items != NULL && db_rows_next(&rows))
        (void)db_cells_to_row(rows.cells, ROW_host_app_version, &items[count++]);
    status = db_rows_end(&rows);
    if (status == STATUS_OK && items == NULL)
        status = STATUS_TOO_LARGE;
    if (status == STATUS_OK) {
        *ret_rows = items;
        *ret_count = count;
    }
    return status;
}

#define SAVE_VALUES 9

/* One round trip for each, but only when a host gets its first job of a version. */
static enum status inherit(struct db *db, int64_t hostid,
                           const struct host_app_version_change *changes, size_t count)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (changes[i].inherits)
            status = db_run(db, STATEMENT_host_app_version_inherit,
                            DB_VALUES(db_id(hostid), db_id(changes[i].app_version_id)), NULL);
    }
    return status;
}

static int compare_changes(const void *a, const void *b)
{
    const struct host_app_version_change *left = a, *right = b;

    return (left->app_version_id > right->app_version_id) -
           (left->app_version_id < right->app_version_id);
}

enum status db_host_app_versions_save(struct db *db, int64_t hostid,
                                      const struct host_app_version_change *changes, size_t count)
{
    struct host_app_version_change *sorted = calloc(count + 1, sizeof(sorted[0]));
    struct db_value *values = calloc(count + 1, SAVE_VALUES * sizeof(values[0]));
    enum status status = STATUS_NO_MEMORY;

    if (sorted == NULL || values == NULL)
        goto done;
    for (size_t i = 0; i < count; i++)
        sorted[i] = changes[i];
    qsort(sorted, count, sizeof(sorted[0]), compare_changes);
    for (size_t i = 0; i < count; i++) {
        const struct host_app_version_change *change = &sorted[i];
        struct db_value *value = values + i * SAVE_VALUES;
        int64_t quota = change->sets_max_jobs_per_day ? change->max_jobs_per_day : 0;

        *value++ = db_id(hostid);
        *value++ = db_id(change->app_version_id);
        *value++ = db_integer(change->jobs_sent);
        *value++ = db_integer(quota);
        *value++ = db_integer(change->reset_today);
        *value++ = db_integer(change->jobs_sent);
        *value++ = db_integer(change->sets_max_jobs_per_day);
        *value++ = db_integer(quota);
        *value++ = db_integer(change->resets_consecutive_valid);
    }
    status = inherit(db, hostid, sorted, count);
    if (status == STATUS_OK)
        status = db_run_bulk(db, STATEMENT_host_app_version_save, values, SAVE_VALUES, count, NULL);
done:
    free(sorted);
    free(values);
    return status;
}
