/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a query. They are read into the client at once, so that nothing is ever left on the
 * wire and statements may be used in any order; texts go into the caller's arena. */
#include "db/mariadb_internal.h"

#include "server/base/arena.h"

#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

enum status db_query(struct db *db, struct arena *arena, enum statement statement,
                     const struct db_value *values, size_t value_count, struct db_rows *ret_rows)
{
    struct db_prepared *prepared;
    enum status status = mariadb_find_prepared(
        db, statement, mariadb_list_length(values, value_count), value_count, &prepared);

    if (status == STATUS_OK)
        status = mariadb_execute(db, statement, prepared, values, value_count, 1, false);
    if (status == STATUS_OK && mysql_stmt_store_result(prepared->handle) != 0)
        status = mariadb_note_statement(db, statement, prepared->handle);
    if (status != STATUS_OK)
        return status;
    *ret_rows = (struct db_rows){.db = db,
                                 .prepared = prepared,
                                 .arena = arena,
                                 .row_count = mysql_stmt_num_rows(prepared->handle),
                                 .column_count = prepared->column_count,
                                 .is_cut = mysql_stmt_warning_count(prepared->handle) > 0,
                                 .cells = prepared->cells,
                                 .status = STATUS_OK};
    return STATUS_OK;
}

static enum status fetch_text(struct db_rows *rows, unsigned column, struct text *ret_text)
{
    unsigned long length = rows->prepared->lengths[column];
    my_bool is_null = 0, is_cut = 0;
    char *at;
    MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING,
                       .buffer_length = length,
                       .length = &length,
                       .is_null = &is_null,
                       .error = &is_cut};

    *ret_text = NO_TEXT;
    if (length == 0 || rows->arena == NULL)
        return STATUS_OK;
    at = arena_alloc(rows->arena, length + 1);
    if (at == NULL) {
        (void)snprintf(rows->db->error, sizeof(rows->db->error), "row too large for the arena");
        return STATUS_TOO_LARGE;
    }
    bind.buffer = at;
    if (mysql_stmt_fetch_column(rows->prepared->handle, &bind, column, 0) != 0)
        return mariadb_note(rows->db, "fetch", mysql_stmt_errno(rows->prepared->handle),
                            mysql_stmt_error(rows->prepared->handle), false);
    *ret_text = (struct text){.at = at, .length = length};
    return STATUS_OK;
}

static enum status fetch_cell(struct db_rows *rows, unsigned column)
{
    const struct db_prepared *prepared = rows->prepared;
    struct db_cell *cell = &prepared->cells[column];

    *cell = (struct db_cell){.is_null = prepared->nulls[column]};
    if (cell->is_null)
        return STATUS_OK;
    if (prepared->results[column].buffer_type == MYSQL_TYPE_STRING)
        return fetch_text(rows, column, &cell->text);
    if (prepared->results[column].buffer_type == MYSQL_TYPE_DOUBLE) {
        cell->real = prepared->reals[column];
        if (cell->real > -0x1p63 && cell->real < 0x1p63)
            cell->integer = (int64_t)cell->real;
        return STATUS_OK;
    }
    cell->integer = prepared->integers[column];
    cell->real = (double)cell->integer;
    if (prepared->are_unsigned[column] && cell->integer < 0) {
        cell->integer = INT64_MAX;
        cell->real = 0x1p63;
    }
    return STATUS_OK;
}

bool db_rows_next(struct db_rows *rows)
{
    int answer;

    if (rows->prepared == NULL)
        return false;
    answer = mysql_stmt_fetch(rows->prepared->handle);
    if (answer == 0 || answer == MYSQL_DATA_TRUNCATED) {
        for (unsigned i = 0; i < rows->column_count && rows->status == STATUS_OK; i++)
            rows->status = fetch_cell(rows, i);
        if (rows->status == STATUS_OK)
            return true;
    } else if (answer != MYSQL_NO_DATA) {
        rows->status = mariadb_note(rows->db, "fetch", mysql_stmt_errno(rows->prepared->handle),
                                    mysql_stmt_error(rows->prepared->handle), false);
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

enum status db_query_one(struct db *db, struct arena *arena, enum statement statement,
                         const struct db_value *values, size_t value_count,
                         struct db_cell *ret_cells, size_t most)
{
    struct db_rows rows;
    enum status status = db_query(db, arena, statement, values, value_count, &rows);
    bool found;

    if (status != STATUS_OK)
        return status;
    found = db_rows_next(&rows);
    if (found)
        memcpy(ret_cells, rows.cells,
               (most < rows.column_count ? most : rows.column_count) * sizeof(ret_cells[0]));
    status = db_rows_end(&rows);
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

const struct db_cell *db_cells_to_row(const struct db_cell *cells, enum row_kind kind, void *row)
{
    const struct row_table *table = &row_tables[kind];

    for (size_t i = 0; i < table->column_count; i++, cells++) {
        char *at = (char *)row + table->columns[i].offset;

        switch (table->columns[i].type) {
        case COLUMN_ID:
        case COLUMN_INTEGER:
            memcpy(at, &cells->integer, sizeof(cells->integer));
            break;
        case COLUMN_REAL:
            memcpy(at, &cells->real, sizeof(cells->real));
            break;
        case COLUMN_STRING:
        default:
            memcpy(at, &cells->text, sizeof(cells->text));
            break;
        }
    }
    return cells;
}
