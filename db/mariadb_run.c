/* SPDX-License-Identifier: Apache-2.0 */
/* Values are bound to a prepared statement, in one row or in many, and it is executed. */
#include "db/mariadb_internal.h"

#include "db/value.h"
#include "server/base/arena.h"

#include <string.h>

#include "server/base/banned.h"

/* --- binding ------------------------------------------------------------------------------- */

/* One parameter in one row, in the form that goes to the server. */
struct bound {
    enum enum_field_types type;
    int64_t integer;
    double real;
    struct text text;
};

static struct bound bound_text(const struct db *db, struct text text, bool is_bytes, size_t most)
{
    struct bound bound = {.type = is_bytes ? MYSQL_TYPE_LONG_BLOB : MYSQL_TYPE_STRING};

    bound.text = is_bytes ? text_first(text, most == 0 ? text.length : most)
                          : value_text(db->scratch, text, db->look.bytes_per_character, most);
    return bound;
}

static struct bound bound_column(const struct db *db, const struct statement_parameter *parameter,
                                 const char *row)
{
    const char *at = row + parameter->column->offset;
    struct bound bound = {.type = MYSQL_TYPE_LONGLONG};
    struct text text;

    switch (parameter->column->type) {
    case COLUMN_ID:
        memcpy(&bound.integer, at, sizeof(bound.integer));
        return bound;
    case COLUMN_INTEGER:
        memcpy(&bound.integer, at, sizeof(bound.integer));
        bound.integer = value_int32(bound.integer);
        return bound;
    case COLUMN_REAL:
        bound.type = MYSQL_TYPE_DOUBLE;
        memcpy(&bound.real, at, sizeof(bound.real));
        bound.real = value_finite(bound.real);
        return bound;
    case COLUMN_STRING:
    default:
        memcpy(&text, at, sizeof(text));
        return bound_text(db, text, parameter->kind == ACTUAL_BYTES, parameter->bytes_max);
    }
}

static struct bound bound_value(const struct db *db, const struct statement_parameter *parameter,
                                const struct db_value *values)
{
    const struct db_value *value = &values[parameter->value];
    size_t element = parameter->index < value->most ? parameter->index : value->most - 1;

    switch (value->type) {
    case DB_VALUE_INTEGER:
        return (struct bound){.type = MYSQL_TYPE_LONGLONG, .integer = value->integer};
    case DB_VALUE_REAL:
        return (struct bound){.type = MYSQL_TYPE_DOUBLE, .real = value->real};
    case DB_VALUE_TEXT:
        return bound_text(db, value->text, false, value->most);
    case DB_VALUE_BYTES:
        return bound_text(db, value->text, true, value->most);
    case DB_VALUE_NUMBERS:
        return (struct bound){.type = MYSQL_TYPE_LONGLONG,
                              .integer = ((const int64_t *)value->items)[element]};
    case DB_VALUE_TEXTS:
        return bound_text(db, ((const struct text *)value->items)[element], false, 0);
    case DB_VALUE_NAMES:
        return bound_text(db, ((const struct text *)value->items)[element], true, 0);
    case DB_VALUE_ROW:
    default:
        must(parameter->source == PARAMETER_COLUMN);
        return bound_column(db, parameter, value->items);
    }
}

/* Parameters of `row_count` rows, column by column: the array form of a binding, of which a single
 * row is the plain form (but for texts, where the array is one of pointers). */
static enum status bind_parameters(struct db *db, struct db_prepared *prepared,
                                   const struct db_value *values, size_t value_count,
                                   size_t row_count, bool in_bulk)
{
    size_t count = prepared->text.parameter_count;
    MYSQL_BIND *binds = arena_alloc_array(db->scratch, count, sizeof(binds[0]));
    unsigned array_size = in_bulk ? (unsigned)row_count : 0;

    if (binds == NULL)
        return mariadb_lacks_memory(db);
    for (size_t i = 0; i < count; i++) {
        const struct statement_parameter *parameter = &prepared->text.parameters[i];
        int64_t *numbers = arena_alloc_array(db->scratch, row_count, sizeof(numbers[0]));
        double *reals = arena_alloc_array(db->scratch, row_count, sizeof(reals[0]));
        const char **texts = arena_alloc_array(db->scratch, row_count, sizeof(texts[0]));
        unsigned long *lengths = arena_alloc_array(db->scratch, row_count, sizeof(lengths[0]));

        if (numbers == NULL || reals == NULL || texts == NULL || lengths == NULL)
            return mariadb_lacks_memory(db);
        for (size_t row = 0; row < row_count; row++) {
            struct bound bound = bound_value(db, parameter, values + row * value_count);

            binds[i].buffer_type = bound.type;
            numbers[row] = bound.integer;
            reals[row] = bound.real;
            texts[row] = bound.text.at == NULL ? "" : bound.text.at;
            lengths[row] = bound.text.length;
        }
        binds[i].length = lengths;
        if (binds[i].buffer_type == MYSQL_TYPE_LONGLONG) {
            binds[i].buffer = numbers;
        } else if (binds[i].buffer_type == MYSQL_TYPE_DOUBLE) {
            binds[i].buffer = reals;
        } else if (in_bulk) {
            binds[i].buffer = texts;
        } else {
            memcpy(&binds[i].buffer, &texts[0], sizeof(binds[i].buffer)); /* only read */
            binds[i].buffer_length = lengths[0];
        }
    }
    if (arena_overflowed(db->scratch))
        return mariadb_lacks_memory(db);
    if (prepared->array_size != array_size) {
        (void)mysql_stmt_attr_set(prepared->handle, STMT_ATTR_ARRAY_SIZE, &array_size);
        prepared->array_size = array_size;
    }
    if (count > 0 && mysql_stmt_bind_param(prepared->handle, binds) != 0)
        return mariadb_lacks_memory(db);
    return STATUS_OK;
}

/* --- execution ----------------------------------------------------------------------------- */

enum status mariadb_execute(struct db *db, enum statement statement, struct db_prepared *prepared,
                            const struct db_value *values, size_t value_count, size_t row_count,
                            bool in_bulk)
{
    enum status status = bind_parameters(db, prepared, values, value_count, row_count, in_bulk);

    if (status == STATUS_OK) {
        db->count.statements++;
        db->count.round_trips++;
        if (mysql_stmt_execute(prepared->handle) != 0)
            status = mariadb_note_statement(db, statement, prepared->handle);
    }
    if (status == STATUS_OK)
        db->inserted_id = (int64_t)mysql_stmt_insert_id(prepared->handle);
    arena_reset(db->scratch);
    return status;
}

enum status db_run(struct db *db, enum statement statement, const struct db_value *values,
                   size_t value_count, uint64_t *ret_affected)
{
    struct db_prepared *prepared;
    enum status status = mariadb_find_prepared(
        db, statement, mariadb_list_length(values, value_count), value_count, &prepared);

    if (status == STATUS_OK)
        status = mariadb_execute(db, statement, prepared, values, value_count, 1, false);
    if (status == STATUS_OK && ret_affected != NULL)
        *ret_affected = mysql_stmt_affected_rows(prepared->handle);
    return status;
}

/* How many rows from `row` on go into one packet. */
static size_t bulk_rows(const struct db_value *values, size_t value_count, size_t row,
                        size_t row_count)
{
    size_t bytes = 0, end = row;

    while (end < row_count && end - row < DB_BULK_ROWS) {
        for (size_t i = 0; i < value_count; i++)
            bytes += 16 + values[end * value_count + i].text.length;
        if (end > row && bytes > DB_BULK_BYTES)
            break;
        end++;
    }
    return end - row;
}

enum status db_run_bulk(struct db *db, enum statement statement, const struct db_value *values,
                        size_t value_count, size_t row_count, uint64_t *ret_affected)
{
    uint64_t affected = 0;

    for (size_t row = 0; row < row_count;) {
        size_t rows = bulk_rows(values, value_count, row, row_count);
        struct db_prepared *prepared;
        enum status status = mariadb_find_prepared(db, statement, 1, value_count, &prepared);

        if (status == STATUS_OK)
            status = mariadb_execute(db, statement, prepared, values + row * value_count,
                                     value_count, rows, true);
        if (status != STATUS_OK)
            return status;
        affected += mysql_stmt_affected_rows(prepared->handle);
        row += rows;
    }
    if (ret_affected != NULL)
        *ret_affected = affected;
    return STATUS_OK;
}
