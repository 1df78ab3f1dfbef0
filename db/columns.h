/* SPDX-License-Identifier: Apache-2.0 */
/* Two pictures of columns: those that our rows are made of (columns.def), and those that the
 * database at hand has (its information schema). */
#ifndef DB_COLUMNS_H
#define DB_COLUMNS_H

#include "db/rows.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* --- ours ---------------------------------------------------------------------------------- */

enum row_kind {
#define TABLE(row, table) ROW_##row,
#define COLUMN(row, column, type, presence, explanation)
#define END_TABLE(row)
#include "db/columns.def"
#undef TABLE
#undef COLUMN
#undef END_TABLE
    ROW_COUNT
};

enum column_type { COLUMN_ID, COLUMN_INTEGER, COLUMN_REAL, COLUMN_STRING };
struct row_column {
    const char *name;
    enum column_type type;
    const char *presence; /* "ALWAYS", "SINCE_nnnnn" or "OURS" */
    size_t offset;        /* in the row struct */
    const char *explanation;
};
struct row_table {
    const char *row, *table;
    const struct row_column *columns;
    size_t column_count;
    size_t size; /* of the row struct */
};
extern const struct row_table row_tables[ROW_COUNT];

/* NULL: no such row. */
const struct row_table *row_table_find(const char *row, size_t length);
const struct row_column *row_column_find(const struct row_table *table, const char *name,
                                         size_t length);
bool row_column_is_optional(const struct row_column *column); /* BOINC brought it later */
bool row_column_is_ours(const struct row_column *column);     /* an upgrade of ours brings it */
bool row_column_is_derived(const struct row_column *column);  /* selected, and no column */
/* Whether two rows of the table say the same in each column; a number that is none says nothing. */
bool row_is_equal(const struct row_table *table, const void *a, const void *b);

/* --- the database's ------------------------------------------------------------------------ */

enum actual_kind {
    ACTUAL_NUMBER,
    ACTUAL_TEXT,  /* with a character set */
    ACTUAL_BYTES, /* blobs */
    ACTUAL_TIME
};
struct actual_column {
    const char *table, *name;
    size_t name_length;
    enum actual_kind kind;
    bool required;    /* an insert has to supply it: NOT NULL, no default, not automatic */
    size_t bytes_max; /* of texts and blobs */
};
struct actual_columns {
    struct actual_column *items; /* by table, then as they stand in it */
    size_t count;
    bool without_derived; /* derived columns of rows are not selected, and 0 */
};
/* NULL: the database has no such column. */
const struct actual_column *actual_column_find(const struct actual_columns *columns,
                                               const char *table, const char *name,
                                               size_t name_length);
bool actual_table_exists(const struct actual_columns *columns, const char *table);

#endif
