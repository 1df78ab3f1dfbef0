/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared statements: one is prepared when it is first used on a connection, once for each size of
 * its list, and kept. */
#include "db/mariadb_internal.h"

#include "db/statement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

void mariadb_prepared_free(struct db_prepared *prepared)
{
    if (prepared == NULL)
        return;
    if (prepared->handle != NULL)
        (void)mysql_stmt_close(prepared->handle);
    statement_text_free(&prepared->text);
    free(prepared->results);
    free(prepared->integers);
    free(prepared->reals);
    free(prepared->lengths);
    free(prepared->nulls);
    free(prepared->are_unsigned);
    free(prepared->cells);
    free(prepared);
}

/* Numbers are fetched as they come; texts have no buffer, only their length, and are fetched into
 * the arena when that is known. */
static enum status bind_results(struct db_prepared *prepared)
{
    MYSQL_RES *metadata = mysql_stmt_result_metadata(prepared->handle);
    size_t count = metadata == NULL ? 0 : mysql_num_fields(metadata);
    const MYSQL_FIELD *fields = metadata == NULL ? NULL : mysql_fetch_fields(metadata);
    enum status status = STATUS_NO_MEMORY;

    if (count == 0)
        return STATUS_OK;
    prepared->results = calloc(count, sizeof(prepared->results[0]));
    prepared->integers = calloc(count, sizeof(prepared->integers[0]));
    prepared->reals = calloc(count, sizeof(prepared->reals[0]));
    prepared->lengths = calloc(count, sizeof(prepared->lengths[0]));
    prepared->nulls = calloc(count, sizeof(prepared->nulls[0]));
    prepared->are_unsigned = calloc(count, sizeof(prepared->are_unsigned[0]));
    prepared->cells = calloc(count, sizeof(prepared->cells[0]));
    if (prepared->results == NULL || prepared->integers == NULL || prepared->reals == NULL ||
        prepared->lengths == NULL || prepared->nulls == NULL || prepared->are_unsigned == NULL ||
        prepared->cells == NULL)
        goto done;
    for (size_t i = 0; i < count; i++) {
        MYSQL_BIND *bind = &prepared->results[i];

        bind->is_null = &prepared->nulls[i];
        bind->length = &prepared->lengths[i];
        if (IS_NUM(fields[i].type) && fields[i].type != MYSQL_TYPE_TIMESTAMP &&
            fields[i].type != MYSQL_TYPE_NULL) {
            bool is_whole =
                fields[i].type != MYSQL_TYPE_DOUBLE && fields[i].type != MYSQL_TYPE_FLOAT &&
                fields[i].type != MYSQL_TYPE_DECIMAL && fields[i].type != MYSQL_TYPE_NEWDECIMAL;

            bind->buffer_type = is_whole ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_DOUBLE;
            bind->buffer = is_whole ? (void *)&prepared->integers[i] : (void *)&prepared->reals[i];
            bind->buffer_length = sizeof(int64_t);
            bind->is_unsigned = (fields[i].flags & UNSIGNED_FLAG) != 0;
            prepared->are_unsigned[i] = bind->is_unsigned;
        } else {
            bind->buffer_type = MYSQL_TYPE_STRING;
        }
    }
    if (mysql_stmt_bind_result(prepared->handle, prepared->results) == 0) {
        prepared->column_count = count;
        status = STATUS_OK;
    }
done:
    mysql_free_result(metadata);
    return status;
}

/* A transaction that is read only may not lock rows either. */
static void leave_locks_out(char *sql)
{
    static const char lock[] = " FOR UPDATE";
    char *found;

    while ((found = strstr(sql, lock)) != NULL)
        memset(found, ' ', sizeof(lock) - 1);
}

static enum status prepare(struct db *db, enum statement statement, size_t size_index,
                           struct db_prepared **ret_prepared)
{
    struct db_prepared *prepared = calloc(1, sizeof(*prepared));
    struct failure failure = {0};
    enum status status;

    if (prepared == NULL)
        return mariadb_lacks_memory(db);
    status = statement_expand(statement, statement_list_size(size_index),
                              db->look.columns.count == 0 ? NULL : &db->look.columns,
                              &prepared->text, &failure);
    if (status != STATUS_OK) {
        (void)snprintf(db->error, sizeof(db->error), "%s", failure.text);
        goto failed;
    }
    if (db->only_looks)
        leave_locks_out(prepared->text.sql);
    prepared->handle = mysql_stmt_init(db->mysql);
    status = STATUS_NO_MEMORY;
    if (prepared->handle == NULL)
        goto failed;
    db->count.prepares++;
    if (mysql_stmt_prepare(prepared->handle, prepared->text.sql, strlen(prepared->text.sql)) != 0) {
        status = mariadb_note_statement(db, statement, prepared->handle);
        goto failed;
    }
    /* A placeholder that was miscounted would let the library read past our array. */
    must(mysql_stmt_param_count(prepared->handle) == prepared->text.parameter_count);
    status = bind_results(prepared);
    if (status != STATUS_OK)
        goto failed;
    db->prepared[statement][size_index] = prepared;
    *ret_prepared = prepared;
    return STATUS_OK;

failed:
    if (status == STATUS_NO_MEMORY)
        (void)mariadb_lacks_memory(db);
    mariadb_prepared_free(prepared);
    return status;
}

size_t mariadb_list_length(const struct db_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i].type == DB_VALUE_NUMBERS || values[i].type == DB_VALUE_TEXTS ||
            values[i].type == DB_VALUE_NAMES)
            return values[i].most;
    }
    return 1;
}

enum status mariadb_find_prepared(struct db *db, enum statement statement, size_t list_count,
                                  size_t value_count, struct db_prepared **ret_prepared)
{
    size_t size_index = statement_size_index(list_count);
    enum status status = mariadb_begin(db);

    if (status != STATUS_OK)
        return status;
    must(list_count >= 1 && list_count <= DB_LIST_MOST);
    *ret_prepared = db->prepared[statement][size_index];
    if (*ret_prepared == NULL)
        status = prepare(db, statement, size_index, ret_prepared);
    if (status == STATUS_OK)
        must(*ret_prepared != NULL && (*ret_prepared)->text.value_count == value_count);
    return status;
}

enum status db_prepare(struct db *db, enum statement statement, size_t list_count)
{
    struct db_prepared *prepared;
    size_t size_index = statement_size_index(list_count);
    enum status status = mariadb_begin(db);

    if (status != STATUS_OK || db->prepared[statement][size_index] != NULL)
        return status;
    return prepare(db, statement, size_index, &prepared);
}
