/* SPDX-License-Identifier: Apache-2.0 */
/* One plain struct per kind of row, made from columns.def. Texts live in the arena of the call. */
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

#endif
