/* SPDX-License-Identifier: Apache-2.0 */
/* Transitions. What is due is looked for without locks; then some of it is locked in the house's
 * order, workunits before results, so that neither a server nor another copy of the command can
 * change what the decision was made from. BOINC's daemons take no locks of their own, but their
 * writes wait for ours; what they wrote before is what we read. Only changed rows are written. */
#include "db/admin.h"
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

#define WORKUNIT_VALUES 9
#define RESULT_VALUES   5
#define TIME_OUT_VALUES 6

_Static_assert(DB_DUE_MOST == DB_LIST_MOST, "what is locked together is one list");

enum status db_admin_due(struct db *db, int64_t now, struct due_place *place, int64_t *ret_ids,
                         size_t most, size_t *ret_count)
{
    struct db_rows rows;
    size_t count = 0;
    enum status status = db_query(db, NULL, STATEMENT_transition_due,
                                  DB_VALUES(db_integer(place->transition_time), db_id(place->id),
                                            db_integer(place->transition_time), db_integer(now),
                                            db_id((int64_t)most)),
                                  &rows);

    if (status != STATUS_OK)
        return status;
    while (count < most && db_rows_next(&rows)) {
        *place = (struct due_place){.transition_time = rows.cells[1].integer,
                                    .id = rows.cells[0].integer};
        ret_ids[count++] = place->id;
    }
    *ret_count = count;
    return db_rows_end(&rows);
}

/* All rows of a query that are one row each of ours; *ret_rows is an array of such structs. */
static enum status lock_rows(struct db *db, struct arena *arena, enum statement statement,
                             const struct db_value *values, size_t value_count, enum row_kind kind,
                             size_t size, void **ret_rows, size_t *ret_count)
{
    struct db_rows rows;
    char *items;
    size_t count = 0;
    enum status status = db_query(db, arena, statement, values, value_count, &rows);

    if (status != STATUS_OK)
        return status;
    items = arena_alloc_array(arena, rows.row_count, size);
    if (items == NULL) {
        (void)db_rows_end(&rows);
        return STATUS_TOO_LARGE;
    }
    while (db_rows_next(&rows))
        (void)db_cells_to_row(rows.cells, kind, items + size * count++);
    *ret_rows = items;
    *ret_count = count;
    return db_rows_end(&rows);
}

enum status db_admin_due_lock(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                              int64_t now, struct due_rows *ret_rows)
{
    /* 0 would be a class. */
    bool has_size_class =
        actual_column_find(db_actual_columns(db), "workunit", "size_class", 10) != NULL;
    size_t id_count;
    int64_t *sorted = list_sorted(arena, ids, count, &id_count);
    void *rows = NULL;
    enum status status;

    *ret_rows = (struct due_rows){.workunit_count = 0};
    if (sorted == NULL)
        return STATUS_TOO_LARGE;
    if (id_count == 0)
        return STATUS_OK;
    status = lock_rows(db, arena, STATEMENT_transition_lock_workunits,
                       DB_VALUES(db_numbers(sorted, id_count), db_integer(now)), ROW_due_workunit,
                       sizeof(struct due_workunit_row), &rows, &ret_rows->workunit_count);
    if (status != STATUS_OK || ret_rows->workunit_count == 0)
        return status;
    ret_rows->workunits = rows;
    for (size_t i = 0; i < ret_rows->workunit_count; i++) {
        sorted[i] = ret_rows->workunits[i].id;
        if (!has_size_class)
            ret_rows->workunits[i].size_class = -1;
    }
    status = lock_rows(db, arena, STATEMENT_transition_lock_results,
                       DB_VALUES(db_numbers(sorted, ret_rows->workunit_count)), ROW_due_result,
                       sizeof(struct due_result_row), &rows, &ret_rows->result_count);
    ret_rows->results = rows;
    return status;
}

static enum status save_workunits(struct db *db, struct arena *arena,
                                  const struct due_workunit_row *rows, size_t count)
{
    struct db_value *values = ARENA_ARRAY(arena, count * WORKUNIT_VALUES, struct db_value);
    struct db_value *value = values;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        *value++ = db_integer(rows[i].need_validate);
        *value++ = db_id(rows[i].canonical_resultid);
        *value++ = db_integer(rows[i].transition_time);
        *value++ = db_integer(rows[i].error_mask);
        *value++ = db_integer(rows[i].file_delete_state);
        *value++ = db_integer(rows[i].assimilate_state);
        *value++ = db_integer(rows[i].hr_class);
        *value++ = db_id(rows[i].app_version_id);
        *value++ = db_id(rows[i].id);
    }
    return db_run_bulk(db, STATEMENT_transition_save_workunit, values, WORKUNIT_VALUES, count,
                       NULL);
}

static enum status save_results(struct db *db, struct arena *arena,
                                const struct due_result_row *rows, size_t count)
{
    struct db_value *values = ARENA_ARRAY(arena, count * RESULT_VALUES, struct db_value);
    struct db_value *value = values;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        *value++ = db_integer(rows[i].server_state);
        *value++ = db_integer(rows[i].outcome);
        *value++ = db_integer(rows[i].validate_state);
        *value++ = db_integer(rows[i].file_delete_state);
        *value++ = db_id(rows[i].id);
    }
    return db_run_bulk(db, STATEMENT_transition_save_result, values, RESULT_VALUES, count, NULL);
}

enum status db_admin_due_save(struct db *db, struct arena *arena, const struct due_rows *changed)
{
    enum status status = STATUS_OK;

    if (changed->workunit_count > 0)
        status = save_workunits(db, arena, changed->workunits, changed->workunit_count);
    if (status == STATUS_OK && changed->result_count > 0)
        status = save_results(db, arena, changed->results, changed->result_count);
    return status;
}

enum status db_admin_due_postpone(struct db *db, int64_t id, int64_t now, int64_t until)
{
    return db_run(db, STATEMENT_transition_postpone,
                  DB_VALUES(db_integer(until), db_id(id), db_integer(now)), NULL);
}

enum status db_admin_time_outs_save(struct db *db, struct arena *arena,
                                    const struct time_outs *time_outs, size_t count,
                                    int64_t daily_result_quota)
{
    struct db_value *values = ARENA_ARRAY(arena, count * TIME_OUT_VALUES, struct db_value);
    struct db_value *value = values;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    if (count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        *value++ = db_integer(daily_result_quota);
        *value++ = db_integer(daily_result_quota);
        *value++ = db_integer(daily_result_quota);
        *value++ = db_integer(time_outs[i].count);
        *value++ = db_id(time_outs[i].hostid);
        *value++ = db_id(time_outs[i].app_version_id);
    }
    return db_run_bulk(db, STATEMENT_transition_time_outs, values, TIME_OUT_VALUES, count, NULL);
}
