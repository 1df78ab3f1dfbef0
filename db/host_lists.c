/* SPDX-License-Identifier: Apache-2.0 */
#include "db/host_lists.h"

#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_host_list(struct db *db, struct arena *arena, const struct host_filter *filter,
                         struct host_line_row **ret_rows, size_t *ret_count)
{
    int64_t before = filter->before != 0 ? filter->before : INT64_MAX;

    if (filter->order == HOST_ORDER_NEWEST)
        return DB_ALL(db, hosts_newest, arena, ret_rows, ret_count, .userid = filter->userid,
                      .platformid = filter->platformid, .since = filter->since, .before = before,
                      .is_banned = filter->is_banned, .is_ownerless = filter->is_ownerless,
                      .now = filter->now, .most = (int64_t)filter->most);
    return DB_ALL(db, hosts_by_rank, arena, ret_rows, ret_count, .rank = (int64_t)filter->order,
                  .userid = filter->userid, .platformid = filter->platformid,
                  .since = filter->since, .before = before, .is_banned = filter->is_banned,
                  .is_ownerless = filter->is_ownerless, .now = filter->now,
                  .most = (int64_t)filter->most);
}

enum status db_host_ban(struct db *db, int64_t id, bool is_banned, bool *ret_was)
{
    struct host_ban_row row;
    enum status status = DB_ONE(db, host_ban_lock, NULL, &row, .id = id);

    if (status != STATUS_OK)
        return status;
    *ret_was = row.max_results_day == HOST_BANNED;
    return *ret_was == is_banned ? STATUS_OK
                                 : DB_RUN(db, host_ban, NULL, .id = id,
                                          .max_results_day = is_banned ? HOST_BANNED : 0);
}

enum status db_host_clear(struct db *db, int64_t id, uint64_t *ret_versions)
{
    struct host_ban_row row;
    enum status status = DB_ONE(db, host_ban_lock, NULL, &row, .id = id);

    if (status == STATUS_OK)
        status = DB_RUN(db, host_clear_quotas, ret_versions, .hostid = id);
    return status == STATUS_OK ? DB_RUN(db, host_clear_fates, NULL, .hostid = id) : status;
}
