/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a statement, written out for the columns that a database has and for a size of its
 * list, with where each parameter comes from. */
#ifndef DB_STATEMENT_H
#define DB_STATEMENT_H

#include "db/columns.h"
#include "db/mariadb.h"
#include "server/base/status.h"

#include <stddef.h>

struct buffer;

enum parameter_source {
    PARAMETER_VALUE,   /* the value itself */
    PARAMETER_ELEMENT, /* element `index` of the value, a list; the last one if it is shorter */
    PARAMETER_COLUMN   /* column `index` of the value, a row */
};
struct statement_parameter {
    enum parameter_source source;
    size_t value;
    size_t index;
    const struct row_column *column; /* PARAMETER_COLUMN */
    enum actual_kind kind;
    size_t bytes_max;
};
struct statement_text {
    char *sql; /* on the heap, NUL-terminated */
    struct statement_parameter *parameters;
    size_t parameter_count;
    size_t value_count; /* that the caller gives */
};

/* Lists are padded to one of these sizes by repeating their last element, so that a statement is
 * prepared a few times only. */
#define STATEMENT_SIZES 5
size_t statement_list_size(size_t size_index);
size_t statement_size_index(size_t element_count);

const char *statement_name(enum statement statement);
const char *statement_source(enum statement statement);
bool statement_has_list(enum statement statement);
/* `columns` NULL: a database that has everything. STATUS_DB_BUG: a mistake in the text, which the
 * failure tells; STATUS_NO_MEMORY. */
MUST_CHECK enum status statement_expand(enum statement statement, size_t list_size,
                                        const struct actual_columns *columns,
                                        struct statement_text *ret_text, struct failure *failure);
void statement_text_free(struct statement_text *text);
/* Every statement as it would be prepared, "NAME: SQL;" a line each, for --print-sql. */
void statement_print_all(const struct actual_columns *columns, struct buffer *ret_text);

#endif
