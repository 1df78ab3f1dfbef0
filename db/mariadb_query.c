/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: queries pass the door of mariadb_run.c, part by part of their list, and give their rows
 * one after the other. */
#include "db/mariadb_internal.h"

#include "db/statement.h"
#include "server/base/arena.h"

#include <string.h>

#include "server/base/banned.h"

/* Whether the rows are those that were asked for ahead. Nobody gets them twice. */
static bool take_answered(const struct db *db, struct db_prepared *prepared, const void *values,
                          size_t values_size)
{
    bool is_answered = prepared->answered_turn == db->turn &&
                       memcmp(prepared->answered_values, values, values_size) == 0;

    prepared->answered_turn = 0;
    return is_answered;
}

enum status db_query_ahead(struct db *db, enum statement statement, const void *values,
                           size_t values_size)
{
    const struct execution execution = {.rows = {values, values_size, 1}, .list_count = 1};
    struct db_prepared *prepared;
    enum status status;

    must(statement_list(statement_definition(statement)) == NULL && values_size <= DB_QUERY_BYTES);
    if (!db_sends_ahead(db))
        return STATUS_OK;
    status = mariadb_pass_reading(db, statement, &execution.rows, 1, &prepared);
    if (status == STATUS_OK)
        status = mariadb_send_with(db, statement, prepared, &execution, DB_ANY_COUNT);
    if (status != STATUS_OK)
        return status;
    must(prepared->only_reads);
    memcpy(prepared->answered_values, values, values_size);
    prepared->answered_turn = db->turn;
    return STATUS_OK;
}

/* Asks for the next part of the list. `values_size`: 0 behind the first part. */
static enum status query_part(struct db_rows *rows, const void *values, size_t values_size)
{
    const struct execution execution = {.rows = {values, values_size, 1},
                                        .list_from = rows->next,
                                        .list_count =
                                            mariadb_part_of(rows->list_count, rows->next)};
    struct db_prepared *prepared;
    enum status status = mariadb_pass_reading(rows->db, rows->statement, &execution.rows,
                                              execution.list_count, &prepared);

    if (status == STATUS_OK) {
        if (values_size > 0 && take_answered(rows->db, prepared, values, values_size)) {
            status = mariadb_read_answers(rows->db);
        } else {
            status = mariadb_execute_with(rows->db, rows->statement, prepared, &execution);
            if (status == STATUS_OK)
                status = mariadb_store_rows(rows->db, rows->statement, prepared);
        }
    }
    rows->status = status;
    if (status != STATUS_OK)
        return status;
    rows->next += execution.list_count;
    rows->prepared = prepared;
    rows->row_count = mysql_stmt_num_rows(prepared->handle);
    rows->is_cut = mysql_stmt_warning_count(prepared->handle) > 0;
    return STATUS_OK;
}

enum status db_query(struct db *db, enum statement statement, const void *values,
                     size_t values_size, struct arena *arena, struct db_rows *ret_rows)
{
    size_t count;
    enum status status = mariadb_measure_lists(db, statement_definition(statement), values, &count);

    ret_rows->db = db;
    ret_rows->prepared = NULL;
    ret_rows->arena = arena;
    ret_rows->statement = statement;
    ret_rows->row_count = 0;
    ret_rows->is_cut = false;
    ret_rows->next = 0;
    ret_rows->list_count = count;
    ret_rows->status = status;
    if (status != STATUS_OK || count == 0)
        return status;
    if (count > DB_LIST_MOST)
        memcpy(ret_rows->values.bytes, values, values_size);
    return query_part(ret_rows, values, values_size);
}

bool db_rows_next(struct db_rows *rows, void *ret_row)
{
    while (rows->prepared != NULL && rows->status == STATUS_OK) {
        if (mariadb_fetch(rows, ret_row)) {
            if (rows->status == STATUS_OK)
                return true;
            break;
        }
        (void)db_rows_end(rows);
        if (rows->next < rows->list_count)
            (void)query_part(rows, rows->values.bytes, 0);
    }
    (void)db_rows_end(rows);
    return false;
}

enum status db_rows_end(struct db_rows *rows)
{
    if (rows->prepared != NULL)
        (void)mysql_stmt_free_result(rows->prepared->handle);
    rows->prepared = NULL;
    return rows->status;
}

enum status db_one(struct db *db, enum statement statement, const void *values, size_t values_size,
                   struct arena *arena, void *ret_row)
{
    struct db_rows rows;
    enum status status = db_query(db, statement, values, values_size, arena, &rows);
    bool found;

    if (status != STATUS_OK)
        return status;
    found = db_rows_next(&rows, ret_row);
    status = db_rows_end(&rows);
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

static void *grown(struct arena *arena, const void *items, size_t count, size_t room, size_t size)
{
    void *copy = arena_alloc_array(arena, room, size);

    if (copy != NULL)
        memcpy(copy, items, count * size);
    return copy;
}

enum status db_all(struct db *db, enum statement statement, const void *values, size_t values_size,
                   struct arena *arena, void *ret_items, size_t *ret_count)
{
    char *items;
    size_t count = 0, room, size = 0;
    struct db_rows rows;
    enum status status = db_query(db, statement, values, values_size, arena, &rows);

    if (status != STATUS_OK)
        return status;
    /* Most lists bring a row for each of their elements at most. */
    room = rows.list_count > DB_LIST_MOST ? rows.list_count : rows.row_count;
    if (rows.prepared != NULL)
        size = rows.prepared->text.row_size;
    items = arena_alloc_array(arena, room + 1, size); /* the last is only looked into */
    while (items != NULL && db_rows_next(&rows, items + size * count)) {
        if (++count > room) { /* a row of another part, at least */
            room = 2 * (count + rows.row_count);
            items = grown(arena, items, count, room + 1, size);
        }
    }
    status = db_rows_end(&rows);
    if (status == STATUS_OK && items == NULL)
        status = STATUS_TOO_LARGE;
    if (status != STATUS_OK)
        return status;
    memcpy(ret_items, &items, sizeof(items)); /* whatever it points to */
    *ret_count = count;
    return STATUS_OK;
}

enum status db_read_ids(struct id_cursor *rows, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct id_row row = {.id = 0};
    size_t count = 0;

    while (count < most && DB_NEXT(rows, &row))
        ret_ids[count++] = row.id;
    *ret_count = count;
    return DB_END(rows);
}
