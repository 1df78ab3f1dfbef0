/* SPDX-License-Identifier: Apache-2.0 */
/* Reading unsent jobs for a job pool, page by page: by priority and age along the index of unsent
 * results, and by id from where the reader was last. No page looks at more rows than it may
 * return, so filters are applied to what was read, not by the database. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "db/states.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

/* id, server_state, priority, workunit */
static enum status read_jobs(struct db_rows *rows, size_t most, struct unsent_job *jobs,
                             size_t *count)
{
    while (*count < most && db_rows_next(rows)) {
        struct unsent_job *job = &jobs[(*count)++];
        const struct workunit_row *workunit = &job->workunit;

        job->resultid = rows->cells[0].integer;
        job->priority = rows->cells[2].integer;
        (void)db_cells_to_row(rows->cells + 3, ROW_workunit, &job->workunit);
        job->is_free = rows->cells[1].integer == RESULT_UNSENT && workunit->error_mask == 0 &&
                       workunit->canonical_resultid == 0 &&
                       workunit->transitioner_flags == TRANSITIONER_NORMAL;
    }
    return db_rows_end(rows);
}

static enum status query_jobs(struct db *db, struct arena *arena, enum statement statement,
                              const struct db_value *values, size_t value_count, size_t most,
                              struct unsent_job **ret_jobs, size_t *ret_count)
{
    struct unsent_job *jobs = ARENA_ARRAY(arena, most, struct unsent_job);
    struct db_rows rows;
    enum status status;

    *ret_count = 0;
    *ret_jobs = jobs;
    if (jobs == NULL)
        return STATUS_TOO_LARGE;
    status = db_query(db, arena, statement, values, value_count, &rows);
    return status == STATUS_OK ? read_jobs(&rows, most, jobs, ret_count) : status;
}

enum status db_unsent_priority(struct db *db, struct arena *arena, int64_t most,
                               int64_t *ret_priority)
{
    struct db_cell cell;
    enum status status =
        db_query_one(db, arena, STATEMENT_unsent_priority, DB_VALUES(db_integer(most)), &cell, 1);

    if (status == STATUS_OK && cell.is_null)
        return STATUS_NOT_FOUND;
    if (status == STATUS_OK)
        *ret_priority = cell.integer;
    return status;
}

enum status db_unsent_page(struct db *db, struct arena *arena, int64_t priority, int64_t id,
                           size_t most, struct unsent_job **ret_jobs, size_t *ret_count)
{
    return query_jobs(db, arena, STATEMENT_unsent_page,
                      DB_VALUES(db_integer(priority), db_id(id), db_integer((int64_t)most)), most,
                      ret_jobs, ret_count);
}

enum status db_unsent_ids(struct db *db, struct arena *arena, int64_t priority, int64_t id,
                          size_t most, int64_t **ret_ids, size_t *ret_count)
{
    int64_t *ids = ARENA_ARRAY(arena, most, int64_t);
    struct db_rows rows;
    size_t count = 0;
    enum status status;

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    status = db_query(db, arena, STATEMENT_unsent_ids,
                      DB_VALUES(db_integer(priority), db_id(id), db_integer((int64_t)most)), &rows);
    if (status != STATUS_OK)
        return status;
    while (count < most && db_rows_next(&rows))
        ids[count++] = rows.cells[0].integer;
    *ret_ids = ids;
    *ret_count = count;
    return db_rows_end(&rows);
}

enum status db_unsent_new(struct db *db, struct arena *arena, int64_t id, size_t most,
                          struct unsent_job **ret_jobs, size_t *ret_count)
{
    return query_jobs(db, arena, STATEMENT_unsent_new,
                      DB_VALUES(db_id(id), db_integer((int64_t)most)), most, ret_jobs, ret_count);
}

enum status db_unsent_by_id(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                            struct unsent_job **ret_jobs, size_t *ret_count)
{
    struct unsent_job *jobs = ARENA_ARRAY(arena, count, struct unsent_job);
    enum status status = STATUS_OK;

    *ret_count = 0;
    *ret_jobs = jobs;
    if (jobs == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; status == STATUS_OK && i < count; i += DB_LIST_MOST) {
        struct db_rows rows;

        status = db_query(db, arena, STATEMENT_unsent_by_id,
                          DB_VALUES(db_numbers(ids + i, list_part(count, i))), &rows);
        if (status == STATUS_OK)
            status = read_jobs(&rows, count, jobs, ret_count);
    }
    return status;
}

enum status db_result_last_id(struct db *db, struct arena *arena, int64_t *ret_id)
{
    struct db_cell cell;
    enum status status = db_query_one(db, arena, STATEMENT_unsent_last_id, DB_NO_VALUES, &cell, 1);

    if (status == STATUS_OK)
        *ret_id = cell.integer;
    return status;
}

/* --- servers --------------------------------------------------------------------------------- */

enum status db_server_beat(struct db *db, int64_t id, struct text name)
{
    return db_run(db, STATEMENT_server_beat, DB_VALUES(db_id(id), db_long_text(name, 191)), NULL);
}

enum status db_server_leave(struct db *db, int64_t id)
{
    return db_run(db, STATEMENT_server_leave, DB_VALUES(db_id(id)), NULL);
}

enum status db_servers_alive(struct db *db, struct arena *arena, int64_t patience, int64_t *ret_ids,
                             size_t most, size_t *ret_count)
{
    struct db_rows rows;
    size_t count = 0;
    enum status status =
        db_query(db, arena, STATEMENT_servers_alive,
                 DB_VALUES(db_integer(patience), db_integer((int64_t)most)), &rows);

    if (status != STATUS_OK)
        return status;
    while (count < most && db_rows_next(&rows))
        ret_ids[count++] = rows.cells[0].integer;
    *ret_count = count;
    return db_rows_end(&rows);
}
