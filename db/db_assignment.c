/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs for given hosts, users or teams. Their results are often made only when they are asked for,
 * under the lock of the workunit, so that of two hosts of a user one gets the job. And the owners
 * of batches. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum status db_assignments(struct db *db, struct arena *arena,
                           const struct assignment_filter *filter,
                           struct assignment **ret_assignments, size_t *ret_count)
{
    struct assignment *items;
    size_t count = 0;
    struct db_rows rows;
    enum status status = db_query(
        db, arena, STATEMENT_assignments,
        DB_VALUES(db_integer(filter->targeted), db_id(filter->hostid), db_id(filter->userid),
                  db_id(filter->teamid), db_integer(filter->broadcast), db_id(filter->userid),
                  db_id(filter->teamid), db_integer((int64_t)filter->most)),
        &rows);

    if (status != STATUS_OK)
        return status;
    items = ARENA_ARRAY(arena, rows.row_count, struct assignment);
    if (items == NULL) {
        (void)db_rows_end(&rows);
        return STATUS_TOO_LARGE;
    }
    while (db_rows_next(&rows)) {
        struct assignment *item = &items[count++];

        item->id = rows.cells[0].integer;
        item->workunitid = rows.cells[1].integer;
        item->is_broadcast = rows.cells[2].integer != 0;
        (void)db_cells_to_row(rows.cells + 3, ROW_workunit, &item->workunit);
    }
    status = db_rows_end(&rows);
    if (status == STATUS_OK) {
        *ret_assignments = items;
        *ret_count = count;
    }
    return status;
}

enum status db_assigned_lock(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                             int64_t hostid, struct assigned_workunit **ret_rows, size_t *ret_count)
{
    size_t id_count, found = 0;
    int64_t *sorted = list_sorted(arena, ids, count, &id_count);
    struct assigned_workunit *items = ARENA_ARRAY(arena, count, struct assigned_workunit);

    if (sorted == NULL || items == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < id_count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status = db_query(
            db, arena, STATEMENT_assigned_lock,
            DB_VALUES(db_id(hostid), db_numbers(sorted + i, list_part(id_count, i))), &rows);

        if (status != STATUS_OK)
            return status;
        while (found < count && db_rows_next(&rows)) {
            const struct db_cell *cells = rows.cells;

            items[found++] = (struct assigned_workunit){.id = cells[0].integer,
                                                        .error_mask = cells[1].integer,
                                                        .canonical_resultid = cells[2].integer,
                                                        .need_validate = cells[3].integer,
                                                        .transition_time = cells[4].integer,
                                                        .target_nresults = cells[5].integer,
                                                        .result_template_file = cells[6].text,
                                                        .results_of_host = cells[7].integer,
                                                        .unsent = cells[8].integer,
                                                        .in_progress = cells[9].integer,
                                                        .success = cells[10].integer,
                                                        .unsent_resultid = cells[11].integer};
        }
        if (db_rows_end(&rows) != STATUS_OK)
            return rows.status;
    }
    *ret_rows = items;
    *ret_count = found;
    return STATUS_OK;
}

enum status db_assigned_insert(struct db *db, const struct assigned_result *result, int64_t *ret_id)
{
    const struct workunit_row *workunit = result->workunit;
    enum status status =
        db_run(db, STATEMENT_assigned_insert,
               DB_VALUES(db_integer(result->create_time), db_id(workunit->id),
                         db_id(workunit->appid), db_text(result->name),
                         db_bytes(result->xml_doc_in, DB_BLOB_MOST), db_integer(workunit->batch),
                         db_integer(result->random), db_integer(workunit->priority)),
               NULL);

    if (status == STATUS_OK)
        *ret_id = db_inserted_id(db);
    return status;
}

enum status db_assignments_delete(struct db *db, const int64_t *ids, size_t count)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < count; i += DB_LIST_MOST)
        status = db_run(db, STATEMENT_assignments_delete,
                        DB_VALUES(db_numbers(ids + i, list_part(count, i))), NULL);
    return status;
}

enum status db_batch_owners(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                            int64_t *ret_userids)
{
    size_t id_count;
    int64_t *sorted = list_sorted(arena, ids, count, &id_count);

    if (sorted == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        ret_userids[i] = 0;
    for (size_t i = 0; i < id_count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status =
            db_query(db, arena, STATEMENT_batch_owners,
                     DB_VALUES(db_numbers(sorted + i, list_part(id_count, i))), &rows);

        if (status != STATUS_OK)
            return status;
        while (db_rows_next(&rows))
            for (size_t j = 0; j < count; j++)
                if (ids[j] == rows.cells[0].integer)
                    ret_userids[j] = rows.cells[1].integer;
        if (db_rows_end(&rows) != STATUS_OK)
            return rows.status;
    }
    return STATUS_OK;
}
