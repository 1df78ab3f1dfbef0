/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs for given hosts, users or teams. Their results are often made only when they are asked for,
 * under the lock of the workunit, so that of two hosts of a user one gets the job. And the owners
 * of batches. */
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include "server/base/banned.h"

enum status db_assignments(struct db *db, struct arena *arena,
                           const struct assignment_filter *filter,
                           struct assignment **ret_assignments, size_t *ret_count)
{
    struct assignment_row *rows;
    struct assignment *items;
    size_t count;
    enum status status =
        DB_ALL(db, assignments, arena, &rows, &count, .targeted = filter->targeted,
               .broadcast = filter->broadcast, .hostid = filter->hostid, .userid = filter->userid,
               .teamid = filter->teamid, .most = (int64_t)filter->most);

    if (status != STATUS_OK)
        return status;
    items = ARENA_ARRAY(arena, count, struct assignment);
    if (items == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct assignment){.id = rows[i].id,
                                       .workunitid = rows[i].workunitid,
                                       .is_broadcast = rows[i].multi != 0,
                                       .workunit = rows[i].workunit};
    *ret_assignments = items;
    *ret_count = count;
    return STATUS_OK;
}

enum status db_assigned_lock(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                             int64_t hostid, struct assigned_workunit_row **ret_rows,
                             size_t *ret_count)
{
    return DB_ALL(db, assigned_lock, arena, ret_rows, ret_count,
                  .ids = db_sorted_ids(arena, ids, count), .hostid = hostid);
}

enum status db_assigned_insert(struct db *db, const struct assigned_result *result, int64_t *ret_id)
{
    const struct workunit_row *workunit = result->workunit;
    enum status status = DB_RUN(
        db, assigned_insert, NULL, .create_time = result->create_time, .workunitid = workunit->id,
        .appid = workunit->appid, .name = result->name, .xml_doc_in = result->xml_doc_in,
        .batch = workunit->batch, .random = result->random, .priority = workunit->priority);

    if (status == STATUS_OK)
        *ret_id = db_inserted_id(db);
    return status;
}

enum status db_assignments_delete(struct db *db, const int64_t *ids, size_t count)
{
    return DB_RUN(db, assignments_delete, NULL, .ids = {ids, count});
}
