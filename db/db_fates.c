/* SPDX-License-Identifier: Apache-2.0 */
#include "db/fate_rows.h"

#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum { PRUNED_MOST = 5000 /* rows of a table in one call */ };

enum status db_fates_add(struct db *db, struct arena *arena, const struct fate_count *counts,
                         size_t count)
{
    struct fate_add_values *values = ARENA_ARRAY(arena, count, struct fate_add_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct fate_add_values){.hour = counts[i].hour,
                                             .process = counts[i].process,
                                             .appid = counts[i].appid,
                                             .app_version_id = counts[i].app_version_id,
                                             .batch = counts[i].batch,
                                             .fate = counts[i].fate,
                                             .exit_status = counts[i].exit_status,
                                             .results = counts[i].results};
    return DB_RUN_BULK(db, fate_add, values, count, NULL);
}

enum status db_fates_add_hosts(struct db *db, struct arena *arena, const struct host_fates *hosts,
                               size_t count)
{
    struct fate_add_host_values *values = ARENA_ARRAY(arena, count, struct fate_add_host_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct fate_add_host_values){.hostid = hosts[i].hostid,
                                                  .ended = hosts[i].ended,
                                                  .failed = hosts[i].failed,
                                                  .counted_at = hosts[i].counted_at};
    return DB_RUN_BULK(db, fate_add_host, values, count, NULL);
}

enum status db_fates_prune(struct db *db, int64_t hour, int64_t host_before)
{
    enum status status = DB_RUN(db, fate_prune, NULL, .hour = hour, .most = PRUNED_MOST);

    return status == STATUS_OK
               ? DB_RUN(db, fate_prune_hosts, NULL, .before = host_before, .most = PRUNED_MOST)
               : status;
}

enum status db_fates_by_version(struct db *db, struct arena *arena, int64_t since_hour,
                                struct fate_version_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, fate_by_version, arena, ret_rows, ret_count, .since = since_hour);
}

enum status db_fates_by_hour(struct db *db, struct arena *arena, int64_t since_hour, int64_t appid,
                             struct fate_hour_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, fate_by_hour, arena, ret_rows, ret_count, .since = since_hour,
                  .appid = appid);
}

enum status db_fates_by_batch(struct db *db, struct arena *arena, int64_t since_hour,
                              struct fate_batch_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, fate_by_batch, arena, ret_rows, ret_count, .since = since_hour);
}

enum status db_fates_worst_hosts(struct db *db, struct arena *arena, int64_t now,
                                 double failed_least, int64_t most, struct fate_host_row **ret_rows,
                                 size_t *ret_count)
{
    return DB_ALL(db, fate_worst_hosts, arena, ret_rows, ret_count, .now = now,
                  .failed_least = failed_least, .most = most);
}
