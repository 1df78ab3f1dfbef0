/* SPDX-License-Identifier: Apache-2.0 */
/* One plain struct per kind of row: NAME_row for each TABLE of columns.def, and for each ROWS of
 * statements.def, admin.def and files.def. Texts live in the arena of the call. */
#ifndef DB_ROWS_H
#define DB_ROWS_H

#include "server/base/text.h"

#include <stddef.h>
#include <stdint.h>

#define ROW_FIELD_ID      int64_t
#define ROW_FIELD_INTEGER int64_t
#define ROW_FIELD_REAL    double
#define ROW_FIELD_STRING  struct text

#define TABLE(row, table)                                struct row##_row {
#define COLUMN(row, column, type, presence, explanation) ROW_FIELD_##type column;
#define END_TABLE(row) \
    }                  \
    ;
#include "db/columns.def"
#undef TABLE
#undef COLUMN
#undef END_TABLE

#define ROWS(name, columns, sql) \
    struct name##_row {          \
        columns                  \
    };
#define ID(name)      int64_t name;
#define INTEGER(name) int64_t name;
#define REAL(name)    double name;
#define STRING(name)  struct text name;
#define ROW(row)      struct row##_row row;
#include "db/every_statement.def"

#endif
