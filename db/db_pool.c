/* SPDX-License-Identifier: Apache-2.0 */
/* Reading unsent jobs for a job pool, page by page: by priority and age along the index of unsent
 * results, and by id from where the reader was last. No page looks at more results than it may
 * return, so filters are applied to what was read, not by the database. Their workunits are read
 * behind them. */
#include "db/mariadb.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>

#include "server/base/banned.h"

/* Workunits of jobs that were made together lie together, and then all between them are read;
 * others are looked up one by one. */
enum { READ_FOR_EACH = 2 };

static enum status read_workunits(struct db *db, struct arena *arena, struct db_ids ids,
                                  struct workunit_row **ret_rows, size_t *ret_count)
{
    enum status status;

    *ret_count = 0;
    if (ids.count == 0)
        return STATUS_OK;
    if (ids.items == NULL)
        return STATUS_TOO_LARGE;
    if ((uint64_t)ids.items[ids.count - 1] - (uint64_t)ids.items[0] < READ_FOR_EACH * ids.count)
        status = DB_ALL(db, workunits_between, arena, ret_rows, ret_count, .first = ids.items[0],
                        .last = ids.items[ids.count - 1]);
    else
        status = DB_ALL(db, workunits_by_id, arena, ret_rows, ret_count, .ids = ids);
    if (status == STATUS_OK && *ret_count > 1)
        qsort(*ret_rows, *ret_count, sizeof(**ret_rows), sorted_compare_ids);
    return status;
}

static bool is_free(const struct unsent_result_row *result, const struct workunit_row *workunit)
{
    return result->server_state == RESULT_UNSENT && workunit->error_mask == 0 &&
           workunit->canonical_resultid == 0 && workunit->transitioner_flags == TRANSITIONER_NORMAL;
}

static struct unsent_job job_of(const struct unsent_result_row *result,
                                const struct workunit_row *workunits, size_t count)
{
    struct unsent_job job = {.resultid = result->id,
                             .priority = result->priority,
                             .workunit = {.id = result->workunitid}};
    const struct workunit_row *found =
        count == 0
            ? NULL
            : bsearch(&job.workunit, workunits, count, sizeof(workunits[0]), sorted_compare_ids);

    if (found == NULL) /* deleted: the result is no job any more */
        return job;
    job.workunit = *found;
    job.is_free = is_free(result, found);
    return job;
}

/* The rows that a query has given, with their workunits. */
static enum status read_jobs(struct db *db, struct unsent_result_cursor *rows, struct arena *arena,
                             size_t most, struct unsent_job **ret_jobs, size_t *ret_count)
{
    struct unsent_result_row *results = ARENA_ARRAY(arena, most, struct unsent_result_row);
    int64_t *ids = ARENA_ARRAY(arena, most, int64_t);
    struct unsent_job *jobs = ARENA_ARRAY(arena, most, struct unsent_job);
    struct workunit_row *workunits = NULL;
    size_t count = 0, workunit_count = 0;
    enum status status;

    while (results != NULL && count < most && DB_NEXT(rows, &results[count]))
        count++;
    status = DB_END(rows);
    if (status == STATUS_OK && (results == NULL || ids == NULL || jobs == NULL))
        status = STATUS_TOO_LARGE;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        ids[i] = results[i].workunitid;
    if (status == STATUS_OK)
        status = read_workunits(db, arena, db_sorted_ids(arena, ids, count), &workunits,
                                &workunit_count);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        jobs[i] = job_of(&results[i], workunits, workunit_count);
    *ret_jobs = jobs;
    *ret_count = count;
    return STATUS_OK;
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
    struct unsent_result_cursor rows;
    enum status status = DB_QUERY(db, unsent_page, arena, &rows, .priority = priority, .after = id,
                                  .most = (int64_t)most);

    return status == STATUS_OK ? read_jobs(db, &rows, arena, most, ret_jobs, ret_count) : status;
}

enum status db_unsent_ids(struct db *db, struct arena *arena, int64_t priority, int64_t id,
                          size_t most, int64_t **ret_ids, size_t *ret_count)
{
    int64_t *ids = ARENA_ARRAY(arena, most, int64_t);
    struct id_cursor rows;
    enum status status;

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    *ret_ids = ids;
    status = DB_QUERY(db, unsent_ids, arena, &rows, .priority = priority, .after = id,
                      .most = (int64_t)most);
    return status == STATUS_OK ? db_read_ids(&rows, ids, most, ret_count) : status;
}

enum status db_unsent_new(struct db *db, struct arena *arena, int64_t id, size_t most,
                          struct unsent_job **ret_jobs, size_t *ret_count)
{
    struct unsent_result_cursor rows;
    enum status status = DB_QUERY(db, unsent_new, arena, &rows, .after = id, .most = (int64_t)most);

    return status == STATUS_OK ? read_jobs(db, &rows, arena, most, ret_jobs, ret_count) : status;
}

enum status db_unsent_by_id(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                            struct unsent_job **ret_jobs, size_t *ret_count)
{
    struct unsent_result_cursor rows;
    enum status status = DB_QUERY(db, unsent_by_id, arena, &rows, .ids = {ids, count});

    return status == STATUS_OK ? read_jobs(db, &rows, arena, count, ret_jobs, ret_count) : status;
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

enum { WAITED_LATELY = 2 /* s */ };

enum status db_server_hosts_wait(struct db *db, int64_t id)
{
    return DB_RUN(db, server_hosts_wait, NULL, .id = id);
}

enum status db_servers_hosts_wait(struct db *db, bool *ret_do)
{
    struct servers_waiting_row row;
    enum status status =
        DB_ONE(db, servers_waiting, NULL, &row, .patience = (int64_t)WAITED_LATELY);

    if (status == STATUS_OK)
        *ret_do = row.servers > 0;
    return status;
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
