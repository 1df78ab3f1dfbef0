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
#define STATEMENT(name, count, values, sql)     STATEMENT_##name,
#define LATER(name, count, latest, values, sql) STATEMENT_##name,
#define QUERY(name, rows, values, sql)          STATEMENT_##name,
#define FILES_BEGIN \
    STATEMENT_FILES, STATEMENT_BEFORE_FILES = STATEMENT_FILES - 1, /* the file database's */
#include "db/every_statement.def"
    STATEMENT_COUNT
};

/* --- values -------------------------------------------------------------------------------- */

#define DB_TEXT_MOST   254      /* varchar: what BOINC's programs can hold as well */
#define DB_BLOB_MOST   65535    /* blob and text */
#define DB_MEDIUM_MOST 16777215 /* mediumblob and mediumtext */
#define DB_LIST_MOST   256      /* elements of a list that go out in one part */
/* Of the server's max_allowed_packet: the longest message that a job sends up fits in twice. */
#define DB_PACKET_LEAST (512 * 1024)

/* Lists of any length. All lists of a statement are as long, and are cut at the same places: part
 * by part the statement is executed, not at all for an empty list. A list without items that has a
 * count did not fit into its arena: STATUS_TOO_LARGE. */
struct db_ids {
    const int64_t *items;
    size_t count;
};
struct db_texts {
    const struct text *items;
    size_t count;
};
/* With which variant of a science app a result is sent; it is locked. May be sent ahead. */
struct sent_variant {
    int64_t resultid, workunitid;
    int64_t variant;
};
MUST_CHECK enum status db_result_variants_save(struct db *db, struct arena *arena,
                                               const struct sent_variant *sent, size_t count);
/* The same ids in rising order, each once: the order in which rows are locked. */
struct db_ids db_sorted_ids(struct arena *arena, const int64_t *ids, size_t count);

/* struct NAME_values for each statement, its members called as in the table. */
#define NONE                    char none;
#define ID(name)                int64_t name;
#define INTEGER(name)           int64_t name;
#define REAL(name)              double name;
#define STRING(name)            struct text name;
#define LONG_STRING(name, most) struct text name;
#define BYTES(name, most)       struct text name;
#define IDS(name)               struct db_ids name;
#define RISING_IDS(name)        struct db_ids name;
#define HOST(name)              int64_t name;
#define HOSTS(name)             struct db_ids name;
#define WORKUNITS(name)         struct db_ids name;
#define OF_WORKUNITS(name)      struct db_ids name;
#define STRINGS(name)           struct db_texts name;
#define BYTE_STRINGS(name)      struct db_texts name;
#define ROW(row)                const struct row##_row *row;
#define STATEMENT(name, count, values, sql) \
    struct name##_values {                  \
        values                              \
    };
#define LATER(name, count, latest, values, sql) \
    struct name##_values {                      \
        values                                  \
    };
#define QUERY(name, rows, values, sql) \
    struct name##_values {             \
        values                         \
    };                                 \
    typedef struct rows##_row name##_gives;
#include "db/every_statement.def"

/* For a statement without values. */
#define DB_NO_VALUES .none = 0

/* --- execution ----------------------------------------------------------------------------- */

/* The statement is called by its name in the table, its values by theirs:
 * DB_RUN(db, host_guard_renew, &affected, .token = token, .now = now, .hostid = id). The compiler
 * refuses a value that is not of this statement, and lint/statements.sh a call that leaves one out.
 */

/* Writes: runs a statement that gives no rows, as late as the table (LATEST) and the transaction
 * let it. `affected` (uint64_t *, may be NULL unless the table says ASKED): rows that matched, of
 * all parts, or that are meant where the answer is not waited for. Fewer than ALL or BOTH of the
 * table: DB_RETRY, of this or of a later command. */
#define DB_RUN(db, name, affected, ...)                                        \
    db_run((db), STATEMENT_##name, &(const struct name##_values){__VA_ARGS__}, \
           sizeof(struct name##_values), 1, (affected))
/* The same for many rows of values in one round trip (or one per DB_BULK_BYTES or DB_BULK_ROWS):
 * `values` is an array of struct NAME_values; no {set}. */
#define DB_RUN_BULK(db, name, values, count, affected)          \
    ((void)sizeof((values) == (const struct name##_values *)0), \
     db_run((db), STATEMENT_##name, (values), sizeof(struct name##_values), (count), (affected)))
#define DB_ANY_COUNT  UINT64_MAX
#define DB_BULK_BYTES (4 * 1024 * 1024) /* where the server takes as much at once */
#define DB_BULK_ROWS  ((size_t)4096)
/* The id given by AUTO_INCREMENT to the (first) row of the last insert. */
int64_t db_inserted_id(const struct db *db);

/* Executes a query; its rows are then read by DB_NEXT, one part of a list after the other. `cursor`
 * is a struct ROWS_cursor *. Texts are copied into the arena as rows are read; without one (NULL)
 * they are passed over. */
#define DB_QUERY(db, name, arena, cursor, ...)                                    \
    ((void)sizeof((cursor)->type == (const name##_gives *)0),                     \
     db_query((db), STATEMENT_##name, &(const struct name##_values){__VA_ARGS__}, \
              sizeof(struct name##_values), (arena), &(cursor)->rows))
/* Reads nothing: tells early what DB_QUERY, DB_ONE or DB_ALL will ask, with the same values, before
 * anything else is locked or written and in the same transaction. The rows then come with the
 * answers of what is sent meanwhile, instead of in a round trip of their own. Without lists. */
#define DB_QUERY_AHEAD(db, name, ...)                                                  \
    db_query_ahead((db), STATEMENT_##name, &(const struct name##_values){__VA_ARGS__}, \
                   sizeof(struct name##_values))
/* Reads the next row into *row, a struct ROWS_row; false at the end, and then DB_END says why. */
#define DB_NEXT(cursor, row) \
    ((void)sizeof((cursor)->type == (row)), db_rows_next(&(cursor)->rows, (row)))
/* Ends the reading, early or not, and answers how it went. */
#define DB_END(cursor) db_rows_end(&(cursor)->rows)
/* The first row only, into *row; STATUS_NOT_FOUND if there is none. */
#define DB_ONE(db, name, arena, row, ...)                                       \
    ((void)sizeof((row) == (name##_gives *)0),                                  \
     db_one((db), STATEMENT_##name, &(const struct name##_values){__VA_ARGS__}, \
            sizeof(struct name##_values), (arena), (row)))
/* All rows, as an array in the arena: `items` is a struct ROWS_row **, `count` a size_t *. Both are
 * set only by STATUS_OK. */
#define DB_ALL(db, name, arena, items, count, ...)                              \
    ((void)sizeof(*(items) == (name##_gives *)0),                               \
     db_all((db), STATEMENT_##name, &(const struct name##_values){__VA_ARGS__}, \
            sizeof(struct name##_values), (arena), (items), (count)))

#define DB_QUERY_BYTES 128 /* of a query's values */
struct db_prepared;
struct db_rows {
    struct db *db;
    struct db_prepared *prepared; /* NULL: at the end */
    struct arena *arena;
    enum statement statement;
    uint64_t row_count;      /* of the part at hand: all of them are here already */
    bool is_cut;             /* the server stopped looking: ROWS EXAMINED */
    size_t next, list_count; /* elements of the list that went out; all of them */
    union {
        int64_t alignment;
        char bytes[DB_QUERY_BYTES];
    } values; /* where parts are left */
    enum status status;
};
/* struct ROWS_cursor, which knows what rows it gives. */
#define TABLE(row, table)             \
    struct row##_cursor {             \
        struct db_rows rows;          \
        const struct row##_row *type; \
    };
#define COLUMN(row, column, type, presence, explanation)
#define END_TABLE(row)
#include "db/columns.def"
#undef TABLE
#undef COLUMN
#undef END_TABLE
#define ROWS(name, columns, sql)       \
    struct name##_cursor {             \
        struct db_rows rows;           \
        const struct name##_row *type; \
    };
#define QUERY(name, rows, values, sql)                             \
    _Static_assert(sizeof(struct name##_values) <= DB_QUERY_BYTES, \
                   "a cursor keeps the values of " #name);
#include "db/every_statement.def"

/* Its texts stay the row's. */
struct host_with_user db_host_with_user(const struct host_with_user_row *row);
/* The ids of what DB_QUERY has begun to read, `most` at most; ends the reading. */
MUST_CHECK enum status db_read_ids(struct id_cursor *rows, int64_t *ret_ids, size_t most,
                                   size_t *ret_count);

/* What the macros above are made of. */
MUST_CHECK enum status db_run(struct db *db, enum statement statement, const void *values,
                              size_t values_size, size_t row_count, uint64_t *ret_affected);
MUST_CHECK enum status db_query(struct db *db, enum statement statement, const void *values,
                                size_t values_size, struct arena *arena, struct db_rows *ret_rows);
MUST_CHECK enum status db_query_ahead(struct db *db, enum statement statement, const void *values,
                                      size_t values_size);
bool db_rows_next(struct db_rows *rows, void *ret_row);
enum status db_rows_end(struct db_rows *rows);
MUST_CHECK enum status db_one(struct db *db, enum statement statement, const void *values,
                              size_t values_size, struct arena *arena, void *ret_row);
/* ret_items: the address of a pointer to the rows' struct. */
MUST_CHECK enum status db_all(struct db *db, enum statement statement, const void *values,
                              size_t values_size, struct arena *arena, void *ret_items,
                              size_t *ret_count);

/* Prepares a statement without executing it, for tests. */
MUST_CHECK enum status db_prepare(struct db *db, enum statement statement, size_t list_count);
/* The same with one that is in no table, which is forgotten again. */
struct statement_definition;
MUST_CHECK enum status db_try(struct db *db, const struct statement_definition *definition);

/* SQL text that is ours, without parameters: schema files, session settings. */
MUST_CHECK enum status db_run_text(struct db *db, const char *sql);

/* --- connection ---------------------------------------------------------------------------- */

/* Connects to the server and sets the session up, without a database: for making one. */
MUST_CHECK enum status db_connect(const struct config *config, struct db **ret_db,
                                  struct failure *failure);
/* The same for the server of the file database, by the files_db_* options; `with_database` also
 * enters that database, and looks at no table. */
MUST_CHECK enum status db_connect_files(const struct config *config, bool with_database,
                                        struct db **ret_db, struct failure *failure);
/* What the database's tables really have; valid until db_reopen, or a
 * db_rollback that fails. */
const struct actual_columns *db_actual_columns(const struct db *db);
/* Whether statements are sent ahead of their answers now. */
bool db_sends_ahead(const struct db *db);
bool db_is_cluster(const struct db *db); /* several writers: row locks end at this node */

/* Which answer an error number stands for; `committing`: COMMIT was under way. */
enum status db_error_status(unsigned error, bool committing);

#endif
