/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a statement, written out for the columns that a database has and for a size of its
 * lists, with where each parameter comes from and where each column goes. Here names become places;
 * behind this there are no names any more, only offsets. */
#ifndef DB_STATEMENT_H
#define DB_STATEMENT_H

#include "db/columns.h"
#include "db/mariadb.h"
#include "server/base/status.h"

#include <stddef.h>

struct buffer;

/* --- what the tables say ------------------------------------------------------------------- */

/* As statements.def explains them. */
enum db_type {
    DB_ID,
    DB_INTEGER,
    DB_REAL,
    DB_STRING,
    DB_BYTES,
    DB_ROW,
    DB_SUBJECTS, /* no part of the SQL */
    DB_IDS,      /* from here on lists */
    DB_RISING_IDS,
    DB_STRINGS,
    DB_BYTE_STRINGS
};
/* Whose rows a statement touches, as one of its values says. */
enum statement_subject { SUBJECT_ANY, SUBJECT_HOST, SUBJECT_WORKUNIT };
/* A value of a statement, or a column of a row. */
struct db_member {
    const char *name; /* NULL: behind the last */
    enum db_type type;
    size_t offset; /* in the struct */
    size_t most;   /* bytes that a text keeps; 0: all */
    enum row_kind row;
    enum statement_subject subject;
};
/* A ROWS, or a TABLE of columns.def as a row that has nothing else. */
struct db_row_type {
    const char *name, *sql;
    const struct db_member *columns;
    size_t size;
};
/* COUNT and LATEST of statements.def. */
enum statement_count { COUNT_ALL, COUNT_NEW, COUNT_BOTH, COUNT_ASKED, COUNT_SINGLY, COUNT_MENDED };
enum statement_latest { LATEST_NOW, LATEST_AHEAD, LATEST_END };
struct statement_definition {
    const char *name, *sql;
    const struct db_member *values;
    const struct db_row_type *(*rows)(void); /* NULL: it gives none */
    enum statement_count count;
    enum statement_latest latest;
};
const struct statement_definition *statement_definition(enum statement statement);
bool db_type_is_list(enum db_type type);
/* NULL: the statement has no list. */
const struct db_member *statement_list(const struct statement_definition *definition);
/* The value that says whose rows the statement touches. NULL: anybody's. */
const struct db_member *statement_subject(const struct statement_definition *definition);

/* --- written out --------------------------------------------------------------------------- */

enum parameter_source {
    PARAMETER_VALUE,   /* the value itself */
    PARAMETER_ELEMENT, /* element `index` of the value, a list; the last one if it is shorter */
    PARAMETER_COLUMN   /* `column` of the value, a row */
};
struct statement_parameter {
    enum parameter_source source;
    enum db_type type; /* of the value; of a column of a row: as its type and its kind say */
    size_t offset;     /* of the value in the struct of values */
    size_t index;
    const struct row_column *column;
    size_t most;
};
struct statement_column {
    const char *name;
    enum column_type type;
    size_t offset; /* in the row */
};
struct statement_text {
    char *sql; /* on the heap, NUL-terminated */
    struct statement_parameter *parameters;
    size_t parameter_count;
    struct statement_column *columns;
    size_t column_count;
    size_t *left_out; /* offsets of integers in the row that are not selected, and 0 */
    size_t left_out_count;
    size_t row_size;
};

/* Lists are padded to one of these sizes by repeating their last element, so that a statement is
 * prepared a few times only. */
#define STATEMENT_SIZES 5
size_t statement_list_size(size_t size_index);
size_t statement_size_index(size_t element_count);

const char *statement_name(enum statement statement);
/* Of a statement that is written out: it neither writes nor locks. */
bool statement_only_reads(const char *sql);
/* `columns` NULL: a database that has everything. STATUS_DB_BUG: a mistake in the table, which the
 * failure tells; STATUS_NO_MEMORY. */
MUST_CHECK enum status statement_write(const struct statement_definition *definition,
                                       size_t list_size, const struct actual_columns *columns,
                                       struct statement_text *ret_text, struct failure *failure);
/* What the database calls the columns of the prepared statement, and whether they are numbers, must
 * be what was declared. STATUS_DB_BUG: it is not. */
struct given_column {
    const char *name;
    bool is_number;
};
MUST_CHECK enum status statement_check_columns(const struct statement_definition *definition,
                                               const struct statement_text *text,
                                               const struct given_column *given, size_t count,
                                               struct failure *failure);
void statement_text_free(struct statement_text *text);
/* Every statement as it would be prepared, "NAME: SQL;" a line each, for --print-sql. */
void statement_print_all(const struct actual_columns *columns, struct buffer *ret_text);

#endif
