/* SPDX-License-Identifier: Apache-2.0 */
/* The host's own row, its guard row, and what a machine that came back as new leaves behind. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

static enum status read_host(struct db *db, struct arena *arena, enum statement statement,
                             const struct db_value *values, size_t value_count,
                             struct host_row *ret_host)
{
    struct db_rows rows;
    bool found;
    enum status status = db_query(db, arena, statement, values, value_count, &rows);

    if (status != STATUS_OK)
        return status;
    found = db_rows_next(&rows);
    if (found)
        (void)db_cells_to_row(rows.cells, ROW_host, ret_host);
    status = db_rows_end(&rows);
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

/* The token uses the whole 64 bits; the column is signed, which changes none of them. */
enum status db_host_guard(struct db *db, int64_t hostid, uint64_t token, int64_t now)
{
    return db_run(db, STATEMENT_host_guard,
                  DB_VALUES(db_id(hostid), db_id((int64_t)token), db_id(now)), NULL);
}

enum status db_host_token(struct db *db, int64_t hostid, uint64_t *ret_token)
{
    struct db_cell cell;
    enum status status =
        db_query_one(db, NULL, STATEMENT_host_token, DB_VALUES(db_id(hostid)), &cell, 1);

    if (status == STATUS_OK)
        *ret_token = (uint64_t)cell.integer;
    return status;
}

enum status db_host_lock(struct db *db, struct arena *arena, int64_t id, struct host_row *ret_host)
{
    return read_host(db, arena, STATEMENT_host_lock, DB_VALUES(db_id(id)), ret_host);
}

enum status db_host_lock_with_user(struct db *db, struct arena *arena, int64_t id,
                                   struct host_row *ret_host, struct user_row *ret_user,
                                   struct text *ret_team_name, bool *ret_has_user)
{
    struct db_rows rows;
    bool found;
    enum status status =
        db_query(db, arena, STATEMENT_host_lock_with_user, DB_VALUES(db_id(id)), &rows);

    if (status != STATUS_OK)
        return status;
    *ret_has_user = false;
    found = db_rows_next(&rows);
    if (found) {
        const struct db_cell *cells = db_cells_to_row(rows.cells, ROW_host, ret_host);

        *ret_has_user = !cells->is_null; /* user.id */
        cells = db_cells_to_row(cells, ROW_user, ret_user);
        *ret_team_name = cells->text;
    }
    status = db_rows_end(&rows);
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

enum status db_host_newest_by_cpid(struct db *db, struct arena *arena, int64_t userid,
                                   struct text host_cpid, struct host_row *ret_host)
{
    return read_host(db, arena, STATEMENT_host_newest_by_cpid,
                     DB_VALUES(db_id(userid), db_text(host_cpid)), ret_host);
}

enum status db_host_newest_alike(struct db *db, struct arena *arena, int64_t userid,
                                 int64_t id_above, const struct host_row *like,
                                 struct host_row *ret_host)
{
    return read_host(db, arena, STATEMENT_host_newest_alike,
                     DB_VALUES(db_id(userid), db_id(id_above), db_text(like->domain_name),
                               db_text(like->last_ip_addr), db_text(like->os_name),
                               db_text(like->p_model), db_real(like->m_nbytes)),
                     ret_host);
}

enum status db_host_insert(struct db *db, const struct host_row *host, int64_t *ret_id)
{
    enum status status = db_run(db, STATEMENT_host_insert,
                                DB_VALUES(db_row(host), db_real((double)host->create_time)), NULL);

    if (status == STATUS_OK)
        *ret_id = db_inserted_id(db);
    return status;
}

/* A host of before this server's time has no guard row yet. */
enum status db_host_save(struct db *db, const struct host_row *host, uint64_t token, int64_t now)
{
    uint64_t affected = 0;
    enum status status =
        db_run(db, STATEMENT_host_save, DB_VALUES(db_row(host), db_id(host->id)), NULL);

    if (status == STATUS_OK)
        status = db_run(db, STATEMENT_host_guard_renew,
                        DB_VALUES(db_id((int64_t)token), db_id(now), db_id(host->id)), &affected);
    if (status == STATUS_OK && affected == 0)
        status = db_host_guard(db, host->id, token, now);
    return status;
}

/* The ids are read first so that workunits are locked before results, as everywhere. */
enum status db_host_detach_results(struct db *db, int64_t hostid, int64_t now, uint64_t *ret_count)
{
    struct arena *arena = arena_create((size_t)64 * 1024 * 1024);
    int64_t *results, *workunits;
    size_t count = 0, result_count = 0, workunit_count = 0;
    struct db_rows rows;
    enum status status = STATUS_NO_MEMORY;

    *ret_count = 0;
    if (arena != NULL)
        status = db_query(db, arena, STATEMENT_host_results_in_progress, DB_VALUES(db_id(hostid)),
                          &rows);
    if (status != STATUS_OK)
        goto done;
    results = ARENA_ARRAY(arena, rows.row_count, int64_t);
    workunits = ARENA_ARRAY(arena, rows.row_count, int64_t);
    while (results != NULL && workunits != NULL && db_rows_next(&rows)) {
        results[count] = rows.cells[0].integer;
        workunits[count++] = rows.cells[1].integer;
    }
    status = db_rows_end(&rows);
    if (status == STATUS_OK) {
        results = list_sorted(arena, results, count, &result_count);
        workunits = list_sorted(arena, workunits, count, &workunit_count);
        if (results == NULL || workunits == NULL)
            status = STATUS_TOO_LARGE;
    }
    for (size_t i = 0; status == STATUS_OK && i < workunit_count; i += DB_LIST_MOST)
        status = db_run(
            db, STATEMENT_workunits_transition_now,
            DB_VALUES(db_integer(now), db_numbers(workunits + i, list_part(workunit_count, i))),
            NULL);
    for (size_t i = 0; status == STATUS_OK && i < result_count; i += DB_LIST_MOST) {
        uint64_t affected = 0;

        status =
            db_run(db, STATEMENT_results_detach,
                   DB_VALUES(db_integer(now), db_numbers(results + i, list_part(result_count, i)),
                             db_id(hostid)),
                   &affected);
        *ret_count += affected;
    }
done:
    arena_destroy(arena);
    return status;
}

enum status db_host_owners(struct db *db, struct arena *arena, const int64_t *hostids, size_t count,
                           int64_t *ret_userids)
{
    size_t sorted_count;
    int64_t *sorted = list_sorted(arena, hostids, count, &sorted_count);
    int64_t *owners = ARENA_ARRAY(arena, count, int64_t);

    if (sorted == NULL || owners == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < sorted_count; i++)
        owners[i] = -1;
    for (size_t i = 0; i < sorted_count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status =
            db_query(db, arena, STATEMENT_host_owners,
                     DB_VALUES(db_numbers(sorted + i, list_part(sorted_count, i))), &rows);

        if (status != STATUS_OK)
            return status;
        while (db_rows_next(&rows)) {
            size_t place = list_find(sorted, sorted_count, rows.cells[0].integer);

            if (place < sorted_count)
                owners[place] = rows.cells[1].integer;
        }
        if (db_rows_end(&rows) != STATUS_OK)
            return rows.status;
    }
    for (size_t i = 0; i < count; i++)
        ret_userids[i] = owners[list_find(sorted, sorted_count, hostids[i])];
    return STATUS_OK;
}
