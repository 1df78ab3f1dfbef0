/* SPDX-License-Identifier: Apache-2.0 */
/* Reading unsent jobs for a job pool, page by page: by priority and age along the index of unsent
 * results, and by id from where the reader was last. No page looks at more rows than it may
 * return, so filters are applied to what was read, not by the database. */
#include "db/mariadb.h"
#include "db/states.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

static bool is_free(const struct unsent_job_row *row)
{
    return row->server_state == RESULT_UNSENT && row->workunit.error_mask == 0 &&
           row->workunit.canonical_resultid == 0 &&
           row->workunit.transitioner_flags == TRANSITIONER_NORMAL;
}

/* At most so many of the rows that a query has given. */
static enum status read_jobs(struct unsent_job_cursor *rows, struct arena *arena, size_t most,
                             struct unsent_job **ret_jobs, size_t *ret_count)
{
    struct unsent_job *jobs = ARENA_ARRAY(arena, most, struct unsent_job);
    struct unsent_job_row row;

    *ret_jobs = jobs;
    *ret_count = 0;
    while (jobs != NULL && *ret_count < most && DB_NEXT(rows, &row))
        jobs[(*ret_count)++] = (struct unsent_job){.resultid = row.resultid,
                                                   .priority = row.priority,
                                                   .is_free = is_free(&row),
                                                   .workunit = row.workunit};
    if (DB_END(rows) != STATUS_OK)
        return DB_END(rows);
    return jobs == NULL ? STATUS_TOO_LARGE : STATUS_OK;
}

enum status db_unsent_priority(struct db *db, struct arena *arena, int64_t most,
                               int64_t *ret_priority)
{
    struct priority_row row;
    enum status status = DB_ONE(db, unsent_priority, arena, &row, .most = most);

    if (status == STATUS_OK)
        *ret_priority = row.priority;
    return status;
}

enum status db_unsent_page(struct db *db, struct arena *arena, int64_t priority, int64_t id,
                           size_t most, struct unsent_job **ret_jobs, size_t *ret_count)
{
    struct unsent_job_cursor rows;
    enum status status = DB_QUERY(db, unsent_page, arena, &rows, .priority = priority, .after = id,
                                  .most = (int64_t)most);

    return status == STATUS_OK ? read_jobs(&rows, arena, most, ret_jobs, ret_count) : status;
}

enum status db_unsent_ids(struct db *db, struct arena *arena, int64_t priority, int64_t id,
                          size_t most, int64_t **ret_ids, size_t *ret_count)
{
    int64_t *ids = ARENA_ARRAY(arena, most, int64_t);
    struct id_cursor rows;
    struct id_row row;
    size_t count = 0;
    enum status status;

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    status = DB_QUERY(db, unsent_ids, arena, &rows, .priority = priority, .after = id,
                      .most = (int64_t)most);
    if (status != STATUS_OK)
        return status;
    while (count < most && DB_NEXT(&rows, &row))
        ids[count++] = row.id;
    *ret_ids = ids;
    *ret_count = count;
    return DB_END(&rows);
}

enum status db_unsent_new(struct db *db, struct arena *arena, int64_t id, size_t most,
                          struct unsent_job **ret_jobs, size_t *ret_count)
{
    struct unsent_job_cursor rows;
    enum status status = DB_QUERY(db, unsent_new, arena, &rows, .after = id, .most = (int64_t)most);

    return status == STATUS_OK ? read_jobs(&rows, arena, most, ret_jobs, ret_count) : status;
}

enum status db_unsent_by_id(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                            struct unsent_job **ret_jobs, size_t *ret_count)
{
    struct unsent_job_cursor rows;
    enum status status = DB_QUERY(db, unsent_by_id, arena, &rows, .ids = {ids, count});

    return status == STATUS_OK ? read_jobs(&rows, arena, count, ret_jobs, ret_count) : status;
}

enum status db_result_last_id(struct db *db, struct arena *arena, int64_t *ret_id)
{
    struct id_row row;
    enum status status = DB_ONE(db, unsent_last_id, arena, &row, DB_NO_VALUES);

    if (status == STATUS_OK)
        *ret_id = row.id;
    return status;
}

/* --- servers --------------------------------------------------------------------------------- */

enum status db_server_beat(struct db *db, int64_t id, struct text name)
{
    return DB_RUN(db, server_beat, NULL, .id = id, .name = name);
}

enum status db_server_leave(struct db *db, int64_t id)
{
    return DB_RUN(db, server_leave, NULL, .id = id);
}

enum status db_servers_alive(struct db *db, struct arena *arena, int64_t patience, int64_t *ret_ids,
                             size_t most, size_t *ret_count)
{
    struct id_cursor rows;
    enum status status =
        DB_QUERY(db, servers_alive, arena, &rows, .patience = patience, .most = (int64_t)most);

    return status == STATUS_OK ? db_read_ids(&rows, ret_ids, most, ret_count) : status;
}
