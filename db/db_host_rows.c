/* SPDX-License-Identifier: Apache-2.0 */
/* What the requests of several hosts ask first, by one statement of each kind for all of them. The
 * rows of a statement are sorted by host, and each host gets its part of them. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

/* The ids of those that are meant; NULL: of all. */
static struct db_ids ids_of(struct arena *arena, const struct host_rows *hosts, size_t count,
                            bool (*is_meant)(const struct host_rows *hosts))
{
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    size_t meant = 0;

    if (ids == NULL)
        return (struct db_ids){.count = count};
    for (size_t i = 0; i < count; i++)
        if (is_meant == NULL || is_meant(&hosts[i]))
            ids[meant++] = hosts[i].hostid;
    return db_sorted_ids(arena, ids, meant);
}

static bool lacks_versions(const struct host_rows *hosts)
{
    return hosts->is_found && hosts->wants_versions;
}

static bool lacks_results(const struct host_rows *hosts)
{
    return hosts->is_found && hosts->wants_results;
}

static enum status lock_hosts(struct db *db, struct arena *arena, struct host_rows *hosts,
                              size_t count)
{
    struct host_with_user_cursor rows;
    struct host_with_user_row row;
    const struct db_ids ids = ids_of(arena, hosts, count, NULL);
    enum status status;

    status = DB_QUERY(db, hosts_lock_with_user, arena, &rows, .ids = ids);
    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&rows, &row)) {
        for (size_t i = 0; i < count; i++) {
            if (hosts[i].hostid != row.host.id)
                continue;
            hosts[i].is_found = true;
            hosts[i].known = db_host_with_user(&row);
        }
    }
    return DB_END(&rows);
}

static int compare_versions(const void *a, const void *b)
{
    const struct host_app_version_row *left = a, *right = b;

    if (left->host_id != right->host_id)
        return left->host_id < right->host_id ? -1 : 1;
    return (left->app_version_id > right->app_version_id) -
           (left->app_version_id < right->app_version_id);
}

static enum status read_versions(struct db *db, struct arena *arena, struct host_rows *hosts,
                                 size_t count)
{
    struct host_app_version_row *rows;
    size_t row_count;
    const struct db_ids ids = ids_of(arena, hosts, count, lacks_versions);
    enum status status;

    status = DB_ALL(db, hosts_app_versions, arena, &rows, &row_count, .hostids = ids);
    if (status != STATUS_OK)
        return status;
    if (row_count > 1)
        qsort(rows, row_count, sizeof(rows[0]), compare_versions);
    for (size_t i = 0; i < count; i++) {
        hosts[i].has_versions = lacks_versions(&hosts[i]);
        for (size_t j = 0; j < row_count && hosts[i].has_versions; j++)
            if (rows[j].host_id == hosts[i].hostid && hosts[i].version_count++ == 0)
                hosts[i].versions = &rows[j];
    }
    return STATUS_OK;
}

static int compare_results(const void *a, const void *b)
{
    const struct result_row *left = a, *right = b;

    if (left->hostid != right->hostid)
        return left->hostid < right->hostid ? -1 : 1;
    return db_compare_results_by_age(a, b);
}

static enum status read_results(struct db *db, struct arena *arena, struct host_rows *hosts,
                                size_t count, size_t most)
{
    struct result_row *rows;
    size_t row_count;
    const struct db_ids ids = ids_of(arena, hosts, count, lacks_results);
    enum status status;

    status = DB_ALL(db, hosts_results_in_progress, arena, &rows, &row_count, .hostids = ids,
                    .most = (int64_t)most);
    if (status != STATUS_OK || row_count >= most)
        return status;
    if (row_count > 1)
        qsort(rows, row_count, sizeof(rows[0]), compare_results);
    for (size_t i = 0; i < count; i++) {
        hosts[i].has_results = lacks_results(&hosts[i]);
        for (size_t j = 0; j < row_count && hosts[i].has_results; j++)
            if (rows[j].hostid == hosts[i].hostid && hosts[i].result_count++ == 0)
                hosts[i].results = &rows[j];
    }
    return STATUS_OK;
}

enum status db_hosts_read_rows(struct db *db, struct arena *arena, struct host_rows *hosts,
                               size_t count, size_t results_most)
{
    enum status status = lock_hosts(db, arena, hosts, count);

    if (status == STATUS_OK)
        status = read_versions(db, arena, hosts, count);
    return status == STATUS_OK ? read_results(db, arena, hosts, count, results_most) : status;
}
