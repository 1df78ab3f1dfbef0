/* SPDX-License-Identifier: Apache-2.0 */
/* The room's inner door to the database: statements of statements.def and admin.def are prepared
 * once per connection, bound, executed and fetched. Used by db_*.c and admin_*.c only; the rest of
 * the program uses db.h and admin.h. */
#ifndef DB_MARIADB_H
#define DB_MARIADB_H

#include "db/columns.h"
#include "db/db.h"
#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct config;

/* --- statements ---------------------------------------------------------------------------- */

enum statement {
#define STATEMENT(name, sql) STATEMENT_##name,
#include "db/admin.def"
#include "db/statements.def"
    STATEMENT_FILES, /* from here on they are for the file database */
    STATEMENT_BEFORE_FILES = STATEMENT_FILES - 1,
#include "db/files.def"
#undef STATEMENT
    STATEMENT_COUNT
};

/* --- values -------------------------------------------------------------------------------- */

/* One value per `?` of the statement, in order of writing; a list per {list}, a row per {set}. */
enum db_value_type {
    DB_VALUE_INTEGER,
    DB_VALUE_REAL,
    DB_VALUE_TEXT,    /* for a column with a character set: made valid in it, then cut */
    DB_VALUE_BYTES,   /* for a blob: cut, nothing else */
    DB_VALUE_NUMBERS, /* a list */
    DB_VALUE_TEXTS,   /* a list; used for comparisons: never cut */
    DB_VALUE_NAMES,   /* the same for columns of bytes */
    DB_VALUE_ROW
};
struct db_value {
    enum db_value_type type;
    int64_t integer;
    double real;
    struct text text;
    size_t most; /* bytes that a text keeps; elements of a list */
    const void *items;
};

#define DB_TEXT_MOST   254      /* varchar: what BOINC's programs can hold as well */
#define DB_BLOB_MOST   65535    /* blob and text */
#define DB_MEDIUM_MOST 16777215 /* mediumblob and mediumtext */
#define DB_LIST_MOST   256      /* elements of one list; the caller sends longer ones in parts */

struct db_value db_id(int64_t id);
struct db_value db_integer(int64_t number); /* brought into the range of an int column */
struct db_value db_real(double number);     /* 0 when not finite */
struct db_value db_text(struct text text);  /* DB_TEXT_MOST */
struct db_value db_long_text(struct text text, size_t most);
struct db_value db_bytes(struct text bytes, size_t most);
struct db_value db_numbers(const int64_t *items, size_t count); /* 1 to DB_LIST_MOST */
struct db_value db_texts(const struct text *items, size_t count);
struct db_value db_names(const struct text *items, size_t count);
struct db_value db_row(const void *row); /* of the kind that {set} names */

/* DB_VALUES(db_id(7), db_text(name)) is the two arguments `values, value_count`. */
#define DB_VALUES(...)                      \
    (const struct db_value[]){__VA_ARGS__}, \
        sizeof((const struct db_value[]){__VA_ARGS__}) / sizeof(struct db_value)
#define DB_NO_VALUES NULL, 0

/* --- execution ----------------------------------------------------------------------------- */

/* Executes a statement that returns no rows. `ret_affected` (may be NULL): rows that matched. */
MUST_CHECK enum status db_run(struct db *db, enum statement statement,
                              const struct db_value *values, size_t value_count,
                              uint64_t *ret_affected);
/* The same for many rows of values in one round trip (or one per DB_BULK_BYTES or DB_BULK_ROWS):
 * row i has values[i * value_count ...]. No lists, no {set}. ret_affected is the sum. */
#define DB_BULK_BYTES (4 * 1024 * 1024)
#define DB_BULK_ROWS  ((size_t)4096)
MUST_CHECK enum status db_run_bulk(struct db *db, enum statement statement,
                                   const struct db_value *values, size_t value_count,
                                   size_t row_count, uint64_t *ret_affected);
/* The id given by AUTO_INCREMENT to the (first) row of the last insert. */
int64_t db_inserted_id(const struct db *db);

/* A cell has its number in both forms when the column is a number; a NULL is 0 and "". */
struct db_cell {
    bool is_null;
    int64_t integer;
    double real;
    struct text text;
};
/* An executed query, to be read to its end or ended early. */
struct db_rows {
    struct db *db;
    struct db_prepared *prepared;
    struct arena *arena;
    uint64_t row_count; /* all rows are here already */
    size_t column_count;
    bool is_cut;                 /* the server stopped looking: ROWS EXAMINED */
    const struct db_cell *cells; /* of the present row */
    enum status status;
};
/* Texts are copied into the arena as rows are read. */
MUST_CHECK enum status db_query(struct db *db, struct arena *arena, enum statement statement,
                                const struct db_value *values, size_t value_count,
                                struct db_rows *ret_rows);
bool db_rows_next(struct db_rows *rows); /* false at the end, and then rows->status says why */
enum status db_rows_end(struct db_rows *rows); /* answers rows->status */
/* The first row only; STATUS_NOT_FOUND if there is none. ret_cells has room for `most`. */
MUST_CHECK enum status db_query_one(struct db *db, struct arena *arena, enum statement statement,
                                    const struct db_value *values, size_t value_count,
                                    struct db_cell *ret_cells, size_t most);
/* Fills a row struct from the cells that {row} stands for; returns the cell behind them. */
const struct db_cell *db_cells_to_row(const struct db_cell *cells, enum row_kind kind, void *row);

/* Prepares a statement without executing it, for tests. */
MUST_CHECK enum status db_prepare(struct db *db, enum statement statement, size_t list_count);

/* SQL text that is ours, without parameters: schema files, session settings. */
MUST_CHECK enum status db_run_text(struct db *db, const char *sql);

/* --- connection ---------------------------------------------------------------------------- */

/* Connects and sets the session up, but looks at no table: for making a schema. Without a
 * database when `with_database` is false. */
MUST_CHECK enum status db_connect(const struct config *config, bool with_database,
                                  struct db **ret_db, struct failure *failure);
/* The same for the file database, by the files_db_* options. */
MUST_CHECK enum status db_connect_files(const struct config *config, bool with_database,
                                        struct db **ret_db, struct failure *failure);
/* What the database's tables really have; valid until db_reopen. */
const struct actual_columns *db_actual_columns(const struct db *db);
bool db_is_cluster(const struct db *db); /* several writers: row locks end at this node */

/* Which answer an error number stands for; `committing`: COMMIT was under way. */
enum status db_error_status(unsigned error, bool committing);

#endif
