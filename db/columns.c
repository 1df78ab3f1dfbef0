/* SPDX-License-Identifier: Apache-2.0 */
/* columns.def as a table that can be walked, and look-ups in it and in what the database has. Both
 * lists are short and asked only while a statement is written out, so that is done plainly. */
#include "db/columns.h"

#include <string.h>

#include "server/base/banned.h"

#define TABLE(row, table) static const struct row_column row##_columns[] = {
#define COLUMN(row, column, type, presence, explanation) \
    {#column, COLUMN_##type, #presence, offsetof(struct row##_row, column), explanation},
#define END_TABLE(row) \
    }                  \
    ;
#include "db/columns.def"
#undef TABLE
#undef COLUMN
#undef END_TABLE

const struct row_table row_tables[ROW_COUNT] = {
#define TABLE(row, table)                                                                         \
    [ROW_##row] = {#row, #table, row##_columns, sizeof(row##_columns) / sizeof(row##_columns[0]), \
                   sizeof(struct row##_row)},
#define COLUMN(row, column, type, presence, explanation)
#define END_TABLE(row)
#include "db/columns.def"
#undef TABLE
#undef COLUMN
#undef END_TABLE
};

static bool name_is(const char *name, const char *wanted, size_t length)
{
    return strlen(name) == length && memcmp(name, wanted, length) == 0;
}

const struct row_table *row_table_find(const char *row, size_t length)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (name_is(row_tables[i].row, row, length))
            return &row_tables[i];
    }
    return NULL;
}

const struct row_column *row_column_find(const struct row_table *table, const char *name,
                                         size_t length)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (name_is(table->columns[i].name, name, length))
            return &table->columns[i];
    }
    return NULL;
}

bool row_column_is_optional(const struct row_column *column)
{
    return strncmp(column->presence, "SINCE_", strlen("SINCE_")) == 0;
}

bool row_column_is_ours(const struct row_column *column)
{
    return strcmp(column->presence, "OURS") == 0;
}

bool row_column_is_derived(const struct row_column *column)
{
    return strcmp(column->presence, "DERIVED") == 0;
}

static bool column_is_equal(const struct row_column *column, const char *a, const char *b)
{
    int64_t integers[2];
    double reals[2];
    struct text texts[2];

    switch (column->type) {
    case COLUMN_ID:
    case COLUMN_INTEGER:
        memcpy(&integers[0], a + column->offset, sizeof(integers[0]));
        memcpy(&integers[1], b + column->offset, sizeof(integers[1]));
        return integers[0] == integers[1];
    case COLUMN_REAL:
        memcpy(&reals[0], a + column->offset, sizeof(reals[0]));
        memcpy(&reals[1], b + column->offset, sizeof(reals[1]));
        return reals[0] == reals[1];
    case COLUMN_STRING:
    default:
        memcpy(&texts[0], a + column->offset, sizeof(texts[0]));
        memcpy(&texts[1], b + column->offset, sizeof(texts[1]));
        return text_equal(texts[0], texts[1]);
    }
}

bool row_is_equal(const struct row_table *table, const void *a, const void *b)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (!column_is_equal(&table->columns[i], a, b))
            return false;
    return true;
}

const struct actual_column *actual_column_find(const struct actual_columns *columns,
                                               const char *table, const char *name,
                                               size_t name_length)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct actual_column *column = &columns->items[i];

        if (column->name_length == name_length && memcmp(column->name, name, name_length) == 0 &&
            strcmp(column->table, table) == 0)
            return column;
    }
    return NULL;
}

bool actual_table_exists(const struct actual_columns *columns, const char *table)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->items[i].table, table) == 0)
            return true;
    }
    return false;
}
