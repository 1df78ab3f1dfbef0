/* SPDX-License-Identifier: Apache-2.0 */
#include "db/purge.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum status db_purge_due(struct db *db, const struct purge_filter *filter, int64_t after,
                         int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct id_cursor rows;
    enum status status =
        DB_QUERY(db, purge_due, NULL, &rows, .after = after, .before = filter->before,
                 .appid = filter->appid, .most = (int64_t)most);

    return status == STATUS_OK ? db_read_ids(&rows, ret_ids, most, ret_count) : status;
}

static int64_t *list_workunits(struct arena *arena, const struct purge_rows *rows)
{
    int64_t *ids = ARENA_ARRAY(arena, rows->workunit_count, int64_t);

    for (size_t i = 0; ids != NULL && i < rows->workunit_count; i++)
        ids[i] = rows->workunits[i].archived_workunit.id;
    return ids;
}

/* A result that was sent since the workunit was found cannot be: its workunit is locked now, and
 * was over. Still, what is not over is not deleted. */
static bool is_all_over(const struct purge_rows *rows)
{
    for (size_t i = 0; i < rows->result_count; i++)
        if (rows->results[i].archived_result.server_state != RESULT_OVER)
            return false;
    return true;
}

enum status db_purge_lock(struct db *db, struct arena *arena, const struct purge_filter *filter,
                          const int64_t *ids, size_t count, struct purge_rows *ret_rows)
{
    int64_t *locked;
    enum status status;

    *ret_rows = (struct purge_rows){.workunit_count = 0};
    status = DB_ALL(db, purge_lock_workunits, arena, &ret_rows->workunits,
                    &ret_rows->workunit_count, .ids = db_sorted_ids(arena, ids, count),
                    .before = filter->before, .appid = filter->appid);
    if (status != STATUS_OK)
        return status;
    locked = list_workunits(arena, ret_rows);
    if (locked == NULL)
        return STATUS_TOO_LARGE;
    status = DB_ALL(db, purge_lock_results, arena, &ret_rows->results, &ret_rows->result_count,
                    .workunitids = {locked, ret_rows->workunit_count});
    return status == STATUS_OK && !is_all_over(ret_rows) ? STATUS_DB_RETRY : status;
}

enum status db_purge_delete(struct db *db, struct arena *arena, const struct purge_rows *rows)
{
    int64_t *workunits = list_workunits(arena, rows);
    int64_t *results = ARENA_ARRAY(arena, rows->result_count, int64_t);
    enum status status;

    if (workunits == NULL || results == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < rows->result_count; i++)
        results[i] = rows->results[i].archived_result.id;
    status = DB_RUN(db, purge_delete_assignments, NULL,
                    .workunitids = {workunits, rows->workunit_count});
    if (status == STATUS_OK)
        status =
            DB_RUN(db, purge_delete_guards, NULL, .workunitids = {workunits, rows->workunit_count});
    if (status == STATUS_OK)
        status = DB_RUN(db, purge_delete_results, NULL,
                        .ids = db_sorted_ids(arena, results, rows->result_count));
    if (status == STATUS_OK)
        status = DB_RUN(db, purge_delete_variants, NULL,
                        .ids = db_sorted_ids(arena, results, rows->result_count));
    if (status == STATUS_OK)
        status = DB_RUN(db, purge_delete_workunits, NULL, .ids = {workunits, rows->workunit_count});
    return status;
}

enum { LOST_AT_ONCE = 1000 };

static enum status delete_lost_hosts(struct db *db, struct purge_lost *lost, size_t *ret_count)
{
    int64_t ids[LOST_AT_ONCE];
    struct id_cursor rows;
    enum status status =
        DB_QUERY(db, purge_lost_hosts, NULL, &rows, .after = lost->hostid, .most = LOST_AT_ONCE);

    if (status == STATUS_OK)
        status = db_read_ids(&rows, ids, LOST_AT_ONCE, ret_count);
    if (status != STATUS_OK || *ret_count == 0)
        return status;
    lost->hostid = ids[*ret_count - 1];
    status = DB_RUN(db, person_guards, NULL, .hostids = {ids, *ret_count});
    if (status == STATUS_OK)
        status = DB_RUN(db, person_variants, NULL, .hostids = {ids, *ret_count});
    return status == STATUS_OK ? DB_RUN(db, person_said, NULL, .hostids = {ids, *ret_count})
                               : status;
}

static enum status delete_lost_workunits(struct db *db, struct purge_lost *lost, size_t *ret_count)
{
    int64_t ids[LOST_AT_ONCE];
    struct id_cursor rows;
    enum status status = DB_QUERY(db, purge_lost_workunits, NULL, &rows, .after = lost->workunitid,
                                  .most = LOST_AT_ONCE);

    if (status == STATUS_OK)
        status = db_read_ids(&rows, ids, LOST_AT_ONCE, ret_count);
    if (status != STATUS_OK || *ret_count == 0)
        return status;
    lost->workunitid = ids[*ret_count - 1];
    return DB_RUN(db, purge_delete_guards, NULL, .workunitids = {ids, *ret_count});
}

static enum status delete_lost_results(struct db *db, struct purge_lost *lost, size_t *ret_count)
{
    int64_t ids[LOST_AT_ONCE];
    struct id_cursor rows;
    enum status status = DB_QUERY(db, purge_lost_results, NULL, &rows, .after = lost->resultid,
                                  .most = LOST_AT_ONCE);

    if (status == STATUS_OK)
        status = db_read_ids(&rows, ids, LOST_AT_ONCE, ret_count);
    if (status != STATUS_OK || *ret_count == 0)
        return status;
    lost->resultid = ids[*ret_count - 1];
    return DB_RUN(db, purge_delete_variants, NULL, .ids = {ids, *ret_count});
}

enum status db_purge_lost(struct db *db, struct purge_lost *lost, size_t *ret_count)
{
    size_t hosts = 0, workunits = 0, results = 0;
    enum status status = delete_lost_hosts(db, lost, &hosts);

    if (status == STATUS_OK)
        status = delete_lost_workunits(db, lost, &workunits);
    if (status == STATUS_OK)
        status = delete_lost_results(db, lost, &results);
    *ret_count = hosts + workunits + results;
    return status;
}

enum status db_purge_holds(struct db *db, struct arena *arena, const struct purge_filter *filter,
                           int64_t most, struct purge_hold_row **ret_holds, size_t *ret_count)
{
    return DB_ALL(db, purge_holds, arena, ret_holds, ret_count, .before = filter->before,
                  .appid = filter->appid, .most = most);
}
