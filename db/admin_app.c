/* SPDX-License-Identifier: Apache-2.0 */
/* What an administrator looks up and mends of one application: classes of homogeneous redundancy,
 * statistics, estimates. Each call reads or locks a bounded piece. */
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum { LOCKED_MOST = 256 };

enum status db_admin_app_is_new(struct db *db, int64_t appid, bool *ret_is_new)
{
    struct id_row row;
    enum status status = DB_ONE(db, admin_app_job, NULL, &row, .appid = appid);

    *ret_is_new = status == STATUS_NOT_FOUND;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status db_admin_classed_jobs(struct db *db, struct arena *arena, int64_t appid, int64_t after,
                                  size_t most, struct classed_job_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_classed_jobs, arena, ret_rows, ret_count, .appid = appid,
                  .after = after, .most = (int64_t)most);
}

enum status db_admin_host_kinds(struct db *db, struct arena *arena, int64_t before, size_t most,
                                struct host_kind_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_host_kinds, arena, ret_rows, ret_count, .before = before,
                  .most = (int64_t)most);
}

enum status db_admin_class_release(struct db *db, int64_t appid, int64_t hr_class, int64_t *last,
                                   struct class_released *ret_released)
{
    int64_t ids[LOCKED_MOST];
    struct id_cursor rows;
    size_t count = 0;
    uint64_t released = 0;
    enum status status = DB_QUERY(db, admin_class_jobs, NULL, &rows, .appid = appid,
                                  .hr_class = hr_class, .after = *last, .most = LOCKED_MOST);

    *ret_released = (struct class_released){0};
    if (status == STATUS_OK)
        status = db_read_ids(&rows, ids, LOCKED_MOST, &count);
    if (status != STATUS_OK || count == 0) {
        *last = status == STATUS_OK ? 0 : *last;
        return status;
    }
    /* Whoever hands a job out locks it first, so that no result goes out between these two. */
    status = DB_QUERY(db, admin_class_lock, NULL, &rows, .ids = {ids, count});
    if (status == STATUS_OK)
        status = DB_END(&rows);
    if (status == STATUS_OK)
        status =
            DB_RUN(db, admin_class_release, &released, .ids = {ids, count}, .hr_class = hr_class);
    if (status != STATUS_OK)
        return status;
    ret_released->released = released;
    ret_released->kept = count - released;
    *last = ids[count - 1];
    return STATUS_OK;
}

enum status db_admin_statistics_forget(struct db *db, int64_t appid)
{
    enum status status = DB_RUN(db, admin_forget_versions, NULL, .appid = appid);

    return status == STATUS_OK ? DB_RUN(db, admin_forget_app, NULL, .appid = appid) : status;
}

enum status db_admin_host_statistics_forget(struct db *db, int64_t appid, int64_t *last,
                                            uint64_t *ret_rows)
{
    int64_t ids[LOCKED_MOST];
    struct id_cursor rows;
    size_t count = 0;
    enum status status = DB_QUERY(db, admin_forget_find, NULL, &rows, .appid = appid,
                                  .after = *last, .most = LOCKED_MOST);

    *ret_rows = 0;
    if (status == STATUS_OK)
        status = db_read_ids(&rows, ids, LOCKED_MOST, &count);
    if (status == STATUS_OK && count > 0)
        status = DB_RUN(db, admin_forget_hosts, ret_rows, .hostids = {ids, count}, .appid = appid);
    if (status == STATUS_OK)
        *last = count == 0 ? 0 : ids[count - 1];
    return status;
}

enum status db_admin_variants_forget(struct db *db, const int64_t *variants, size_t count,
                                     int64_t *last, uint64_t *ret_rows)
{
    const struct db_ids of = {variants, count};
    int64_t ids[LOCKED_MOST];
    struct id_cursor rows;
    size_t found = 0;
    enum status status = DB_QUERY(db, admin_variant_hosts, NULL, &rows, .variants = of,
                                  .after = *last, .most = LOCKED_MOST);

    *ret_rows = 0;
    if (status == STATUS_OK)
        status = db_read_ids(&rows, ids, LOCKED_MOST, &found);
    if (status == STATUS_OK && found > 0)
        status = DB_RUN(db, admin_variants_forget, ret_rows, .variants = of, .after = *last,
                        .last = ids[found - 1]);
    if (status == STATUS_OK)
        *last = found == 0 ? 0 : ids[found - 1];
    return status;
}

enum status db_admin_run_times(struct db *db, struct arena *arena, int64_t appid, size_t most,
                               struct run_time_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_run_times, arena, ret_rows, ret_count, .appid = appid,
                  .most = (int64_t)most);
}
