/* SPDX-License-Identifier: Apache-2.0 */
/* What an administrator looks at: queues and hosts. */
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

static void count_state(struct queue_line *line, int64_t state, int64_t jobs, int64_t oldest)
{
    switch (state) {
    case RESULT_INACTIVE:
        line->inactive = jobs;
        break;
    case RESULT_UNSENT:
        line->unsent = jobs;
        line->oldest_unsent = oldest;
        break;
    case RESULT_IN_PROGRESS:
        line->in_progress = jobs;
        break;
    default:
        line->over += jobs;
        break;
    }
}

enum status db_admin_queue(struct db *db, struct arena *arena, bool by_batch,
                           struct queue_line **ret_rows, size_t *ret_count)
{
    struct db_rows rows;
    size_t count = 0;
    enum status status =
        db_query(db, arena, by_batch ? STATEMENT_admin_queue_by_batch : STATEMENT_admin_queue,
                 DB_NO_VALUES, &rows);
    if (status != STATUS_OK)
        return status;
    struct queue_line *lines = ARENA_ARRAY(arena, rows.row_count, struct queue_line);
    while (lines != NULL && db_rows_next(&rows)) {
        const struct db_cell *cells = rows.cells;
        struct queue_line *line = count > 0 ? &lines[count - 1] : NULL;
        if (line == NULL || !text_equal(line->app, cells[0].text) ||
            line->batch != cells[1].integer) {
            line = &lines[count++];
            line->app = cells[0].text;
            line->batch = cells[1].integer;
        }
        count_state(line, cells[2].integer, cells[3].integer, cells[4].integer);
    }
    status = db_rows_end(&rows);
    if (lines == NULL)
        return STATUS_NO_MEMORY;
    *ret_rows = lines;
    *ret_count = count;
    return status;
}

enum status db_admin_short_deadlines(struct db *db, struct arena *arena, size_t looked_at,
                                     int64_t below, struct app_deadline **ret_rows,
                                     size_t *ret_count)
{
    struct db_rows rows;
    size_t count = 0;
    enum status status = db_query(db, arena, STATEMENT_admin_short_deadlines,
                                  DB_VALUES(db_id((int64_t)looked_at), db_integer(below)), &rows);
    if (status != STATUS_OK)
        return status;
    struct app_deadline *apps = ARENA_ARRAY(arena, rows.row_count, struct app_deadline);
    while (apps != NULL && db_rows_next(&rows))
        apps[count++] =
            (struct app_deadline){.app = rows.cells[0].text, .shortest = rows.cells[1].integer};
    status = db_rows_end(&rows);
    if (apps == NULL)
        return STATUS_NO_MEMORY;
    *ret_rows = apps;
    *ret_count = count;
    return status;
}

static enum status add_counts(struct db *db, struct host_entry *hosts, const int64_t *ids,
                              size_t count)
{
    struct db_rows rows;
    enum status status =
        db_query(db, NULL, STATEMENT_admin_host_counts, DB_VALUES(db_numbers(ids, count)), &rows);
    if (status != STATUS_OK)
        return status;
    while (db_rows_next(&rows))
        for (size_t i = 0; i < count; i++)
            if (ids[i] == rows.cells[0].integer) {
                hosts[i].in_progress = rows.cells[1].integer;
                hosts[i].success = rows.cells[2].integer;
                hosts[i].error = rows.cells[3].integer;
            }
    return db_rows_end(&rows);
}

enum status db_admin_hosts(struct db *db, struct arena *arena, int64_t id, int64_t userid,
                           size_t most, struct host_entry **ret_rows, size_t *ret_count)
{
    struct db_rows rows;
    int64_t ids[DB_LIST_MOST];
    size_t count = 0;
    if (most > DB_LIST_MOST)
        most = DB_LIST_MOST;
    struct db_value values[] = {db_id(id != 0 ? id : userid), db_id((int64_t)most)};
    enum status status = id != 0
                             ? db_query(db, arena, STATEMENT_admin_host_by_id, values, 1, &rows)
                             : db_query(db, arena, STATEMENT_admin_hosts_of_user, values, 2, &rows);
    if (status != STATUS_OK)
        return status;
    struct host_entry *hosts = ARENA_ARRAY(arena, most, struct host_entry);
    while (hosts != NULL && count < most && db_rows_next(&rows)) {
        (void)db_cells_to_row(rows.cells, ROW_host, &hosts[count].row);
        ids[count] = hosts[count].row.id;
        count++;
    }
    status = db_rows_end(&rows);
    if (hosts == NULL)
        return STATUS_NO_MEMORY;
    if (status == STATUS_OK && count > 0)
        status = add_counts(db, hosts, ids, count);
    *ret_rows = hosts;
    *ret_count = count;
    return status;
}

enum status db_admin_host_results(struct db *db, struct arena *arena, int64_t hostid, size_t most,
                                  struct host_result_entry **ret_rows, size_t *ret_count)
{
    struct db_rows rows;
    size_t count = 0;
    enum status status = db_query(db, arena, STATEMENT_admin_host_results,
                                  DB_VALUES(db_id(hostid), db_id((int64_t)most)), &rows);
    if (status != STATUS_OK)
        return status;
    struct host_result_entry *entries =
        ARENA_ARRAY(arena, rows.row_count, struct host_result_entry);
    while (entries != NULL && db_rows_next(&rows)) {
        struct host_result_entry *entry = &entries[count++];
        entry->app = db_cells_to_row(rows.cells, ROW_result, &entry->row)->text;
    }
    status = db_rows_end(&rows);
    if (entries == NULL)
        return STATUS_NO_MEMORY;
    *ret_rows = entries;
    *ret_count = count;
    return status;
}

enum status db_admin_job_classes(struct db *db, struct arena *arena,
                                 const struct job_class_filter *filter, struct job_class **ret_rows,
                                 size_t *ret_count)
{
    struct db_rows rows;
    struct db_value user = db_id(filter->userid), host = db_id(filter->hostid);
    struct db_value app = db_id(filter->appid);
    enum status status =
        db_query(db, arena, STATEMENT_admin_job_classes,
                 DB_VALUES(user, user, host, host, app, app, db_integer(filter->by_batch),
                           db_integer((int64_t)filter->most)),
                 &rows);
    size_t count = 0;

    if (status != STATUS_OK)
        return status;
    struct job_class *classes = ARENA_ARRAY(arena, rows.row_count, struct job_class);
    while (classes != NULL && db_rows_next(&rows)) {
        const struct db_cell *cells = rows.cells;
        struct job_class *class = &classes[count++];

        class->job = (struct candidate){
            .resultid = cells[0].integer, .appid = cells[1].integer, .priority = cells[2].integer};
        class->count = cells[3].integer;
        class->user_has_one = cells[4].integer != 0;
        class->host_has_one = cells[5].integer != 0;
        (void)db_cells_to_row(cells + 6, ROW_workunit, &class->job.workunit);
        class->job.workunitid = class->job.workunit.id;
    }
    status = db_rows_end(&rows);
    if (classes == NULL)
        return STATUS_NO_MEMORY;
    *ret_rows = classes;
    *ret_count = count;
    return status;
}

enum status db_admin_host_platforms(struct db *db, struct arena *arena, int64_t hostid,
                                    struct text **ret_names, size_t *ret_count)
{
    struct db_rows rows;
    size_t count = 0;
    enum status status =
        db_query(db, arena, STATEMENT_admin_host_platforms, DB_VALUES(db_id(hostid)), &rows);
    if (status != STATUS_OK)
        return status;
    struct text *names = ARENA_ARRAY(arena, rows.row_count, struct text);
    while (names != NULL && db_rows_next(&rows))
        names[count++] = rows.cells[0].text;
    status = db_rows_end(&rows);
    if (names == NULL)
        return STATUS_NO_MEMORY;
    *ret_names = names;
    *ret_count = count;
    return status;
}

enum status db_admin_last_contact(struct db *db, int64_t since, int64_t *ret_last,
                                  int64_t *ret_count)
{
    struct db_cell cells[2];
    enum status status = db_query_one(db, NULL, STATEMENT_admin_last_contact,
                                      DB_VALUES(db_integer(since)), cells, 2);

    if (status != STATUS_OK)
        return status;
    *ret_last = cells[0].integer;
    *ret_count = cells[1].integer;
    return STATUS_OK;
}
