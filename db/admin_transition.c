/* SPDX-License-Identifier: Apache-2.0 */
/* Transitions. What is due is looked for without locks; then some of it is locked in the usual
 * order, workunits before results, so that neither a server nor another copy of the command can
 * change what the decision was made from. BOINC's daemons take no locks of their own, but their
 * writes wait for ours; what they wrote before is what we read. Only changed rows are written. */
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

_Static_assert(DB_DUE_MOST == DB_LIST_MOST, "what is locked together is one part of a list");

enum status db_admin_due(struct db *db, int64_t now, struct due_place *place, int64_t *ret_ids,
                         size_t most, size_t *ret_count)
{
    struct due_cursor rows;
    struct due_row row;
    size_t count = 0;
    enum status status =
        DB_QUERY(db, transition_due, NULL, &rows, .after_time = place->transition_time,
                 .after_id = place->id, .now = now, .most = (int64_t)most);

    if (status != STATUS_OK)
        return status;
    while (count < most && DB_NEXT(&rows, &row)) {
        *place = (struct due_place){.transition_time = row.transition_time, .id = row.id};
        ret_ids[count++] = row.id;
    }
    *ret_count = count;
    return DB_END(&rows);
}

enum status db_admin_due_lock(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                              int64_t now, struct due_rows *ret_rows)
{
    /* 0 would be a class. */
    bool has_size_class =
        actual_column_find(db_actual_columns(db), "workunit", "size_class", 10) != NULL;
    int64_t *locked;
    enum status status;

    *ret_rows = (struct due_rows){.workunit_count = 0};
    status = DB_ALL(db, transition_lock_workunits, arena, &ret_rows->workunits,
                    &ret_rows->workunit_count, .ids = db_sorted_ids(arena, ids, count), .now = now);
    if (status != STATUS_OK)
        return status;
    locked = ARENA_ARRAY(arena, ret_rows->workunit_count, int64_t);
    if (locked == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < ret_rows->workunit_count; i++) {
        locked[i] = ret_rows->workunits[i].id;
        if (!has_size_class)
            ret_rows->workunits[i].size_class = -1;
    }
    return DB_ALL(db, transition_lock_results, arena, &ret_rows->results, &ret_rows->result_count,
                  .workunitids = {locked, ret_rows->workunit_count});
}

static enum status save_workunits(struct db *db, struct arena *arena,
                                  const struct due_workunit_row *rows, size_t count)
{
    struct transition_save_workunit_values *values =
        ARENA_ARRAY(arena, count, struct transition_save_workunit_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct transition_save_workunit_values){
            .id = rows[i].id,
            .need_validate = rows[i].need_validate,
            .canonical_resultid = rows[i].canonical_resultid,
            .transition_time = rows[i].transition_time,
            .error_mask = rows[i].error_mask,
            .file_delete_state = rows[i].file_delete_state,
            .assimilate_state = rows[i].assimilate_state,
            .hr_class = rows[i].hr_class,
            .app_version_id = rows[i].app_version_id};
    return DB_RUN_BULK(db, transition_save_workunit, values, count, NULL);
}

static enum status save_results(struct db *db, struct arena *arena,
                                const struct due_result_row *rows, size_t count)
{
    struct transition_save_result_values *values =
        ARENA_ARRAY(arena, count, struct transition_save_result_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] =
            (struct transition_save_result_values){.id = rows[i].id,
                                                   .server_state = rows[i].server_state,
                                                   .outcome = rows[i].outcome,
                                                   .validate_state = rows[i].validate_state,
                                                   .file_delete_state = rows[i].file_delete_state};
    return DB_RUN_BULK(db, transition_save_result, values, count, NULL);
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
    return DB_RUN(db, transition_postpone, NULL, .id = id, .now = now, .until = until);
}

enum status db_admin_time_outs_save(struct db *db, struct arena *arena,
                                    const struct time_outs *time_outs, size_t count,
                                    int64_t daily_result_quota)
{
    struct transition_time_outs_values *values =
        ARENA_ARRAY(arena, count, struct transition_time_outs_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] =
            (struct transition_time_outs_values){.hostid = time_outs[i].hostid,
                                                 .app_version_id = time_outs[i].app_version_id,
                                                 .quota = daily_result_quota,
                                                 .count = time_outs[i].count};
    return DB_RUN_BULK(db, transition_time_outs, values, count, NULL);
}
