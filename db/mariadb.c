/* SPDX-License-Identifier: Apache-2.0 */
/* The only user of <mysql.h>: a connection with its prepared statements.
 *
 * A statement is prepared when it is first used on a connection, once for each size of its list,
 * and kept; its result is read into the client at once, so that nothing is ever left on the wire
 * and statements may be used in any order. The library never reconnects: locks and the open
 * transaction would be gone without anybody's knowing.
 *
 * Errors are classed here and nowhere else (db_error_status). One command may be sent ahead of its
 * answer (db_savepoint): the answer is read before the next command, which then fails in its
 * stead. */
#include "db/mariadb.h"

#include "config/config.h"
#include "db/look.h"
#include "db/statement.h"
#include "db/value.h"
#include "server/base/arena.h"

#include <ctype.h>
#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

#define DB_MAGIC              0x51444231u
#define CONNECT_TIMEOUT_S     5
#define ANSWER_TIMEOUT_S      60
#define FILES_TIMEOUT_S       5 /* of the file database: no request waits long for it */
#define SCRATCH_BYTES_MAX     ((size_t)256 * 1024 * 1024)
#define SERVER_VERSION_OLDEST 100200 /* 10.2: array binding */

struct db_prepared {
    MYSQL_STMT *handle;
    struct statement_text text;
    unsigned array_size; /* rows bound for the last execution; 0: not in bulk */
    size_t column_count;
    MYSQL_BIND *results;
    int64_t *integers; /* what results point into, one per column */
    double *reals;
    unsigned long *lengths;
    my_bool *nulls;
    my_bool *are_unsigned;
    struct db_cell *cells;
};

struct db {
    uint32_t magic;
    char *host, *socket, *user, *password, *name;   /* as the options say */
    unsigned port, connect_timeout, answer_timeout; /* s */
    bool only_looks;                                /* see db_look_only */
    bool with_database, looks; /* whether db_reopen chooses a database, looks at its tables */
    MYSQL *mysql;
    bool awaits_answer; /* of a command that was sent ahead */
    struct db_prepared *prepared[STATEMENT_COUNT][STATEMENT_SIZES];
    struct database_look look;
    struct arena *scratch; /* parameters of one execution */
    int64_t inserted_id;
    struct db_count count;
    uint64_t fail_at; /* for tests: calls until one fails; 0: never */
    enum status fail_with;
    char error[512];
};

/* --- errors -------------------------------------------------------------------------------- */

enum status db_error_status(unsigned error, bool committing)
{
    switch (error) {
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
    case ER_CHECKREAD: /* Galera: the row changed since it was read */
    case ER_TABLE_DEF_CHANGED:
    case ER_QUERY_INTERRUPTED:
    case ER_STATEMENT_TIMEOUT:
    case ER_NEED_REPREPARE:
        return STATUS_DB_RETRY;
    case CR_CONNECTION_ERROR:
    case CR_CONN_HOST_ERROR:
    case CR_UNKNOWN_HOST:
    case ER_CON_COUNT_ERROR:
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_OPTION_PREVENTS_STATEMENT: /* --read-only: the writer is elsewhere by now; at COMMIT */
    case ER_READ_ONLY_MODE:            /* too, where the transaction is rolled back */
        return STATUS_DB_GONE;
    case CR_SERVER_GONE_ERROR:
    case CR_SERVER_LOST:
    case CR_SERVER_LOST_EXTENDED:
    case CR_SERVER_HANDSHAKE_ERR:
    case CR_COMMANDS_OUT_OF_SYNC:
    case CR_MALFORMED_PACKET:
    case ER_SERVER_SHUTDOWN:
    case ER_CONNECTION_KILLED:
    case ER_NEW_ABORTING_CONNECTION:
    case ER_ABORTING_CONNECTION:
    case ER_NET_READ_ERROR:
    case ER_NET_READ_INTERRUPTED:
    case ER_NET_ERROR_ON_WRITE:
    case ER_NET_WRITE_INTERRUPTED:
    case ER_UNKNOWN_COM_ERROR: /* also Galera: this node is not ready */
    case ER_ERROR_DURING_COMMIT:
        return committing ? STATUS_DB_UNKNOWN : STATUS_DB_GONE;
    case CR_OUT_OF_MEMORY:
        return STATUS_NO_MEMORY;
    case ER_PARSE_ERROR:
    case ER_BAD_FIELD_ERROR:
    case ER_NO_SUCH_TABLE:
    case ER_WRONG_VALUE_COUNT_ON_ROW:
    case ER_NON_UNIQ_ERROR:
    case ER_WRONG_ARGUMENTS:
        return STATUS_DB_BUG;
    default: /* constraints, rights, space, settings, values: the server will not have it */
        return error >= CR_MIN_ERROR && error <= CR_MAX_ERROR ? STATUS_DB_BUG : STATUS_DB_REFUSED;
    }
}

static enum status note(struct db *db, const char *what, unsigned error, const char *why,
                        bool committing)
{
    enum status status = db_error_status(error, committing);

    (void)snprintf(db->error, sizeof(db->error), "%s: error %u (%s)", what, error, why);
    for (char *c = db->error; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ')
            *c = ' ';
    }
    return status;
}

static enum status note_connection(struct db *db, const char *what, bool committing)
{
    return note(db, what, mysql_errno(db->mysql), mysql_error(db->mysql), committing);
}

static enum status note_statement(struct db *db, enum statement statement, MYSQL_STMT *handle)
{
    char what[96];

    (void)snprintf(what, sizeof(what), "statement %s", statement_name(statement));
    return note(db, what, mysql_stmt_errno(handle), mysql_stmt_error(handle), false);
}

static enum status lacks_memory(struct db *db)
{
    (void)snprintf(db->error, sizeof(db->error), "no memory");
    return STATUS_NO_MEMORY;
}

const char *db_error(const struct db *db)
{
    return db->error;
}

/* --- one command --------------------------------------------------------------------------- */

/* Reads the answer of the command that was sent ahead, if any, and gives a test its turn. */
static enum status begin_command(struct db *db)
{
    must(db->magic == DB_MAGIC);
    if (db->fail_at > 0 && --db->fail_at == 0) {
        (void)snprintf(db->error, sizeof(db->error), "failure asked for by a test");
        return db->fail_with;
    }
    if (db->mysql == NULL) {
        (void)snprintf(db->error, sizeof(db->error), "not connected");
        return STATUS_DB_GONE;
    }
    if (db->awaits_answer) {
        db->awaits_answer = false;
        if (mysql_read_query_result(db->mysql) != 0)
            return note_connection(db, "command sent ahead", false);
    }
    return STATUS_OK;
}

enum status db_run_text(struct db *db, const char *sql)
{
    enum status status = begin_command(db);

    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    db->count.round_trips++;
    if (mysql_real_query(db->mysql, sql, strlen(sql)) != 0)
        return note_connection(db, text_string(db->scratch, text_first(text_from(sql), 60)), false);
    return STATUS_OK;
}

enum status db_commit(struct db *db)
{
    enum status status = begin_command(db);

    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    db->count.round_trips++;
    db->count.commits++;
    return mysql_real_query(db->mysql, "COMMIT", 6) == 0 ? STATUS_OK
                                                         : note_connection(db, "COMMIT", true);
}

enum status db_rollback(struct db *db)
{
    must(db->magic == DB_MAGIC);
    if (db->mysql == NULL)
        return STATUS_DB_GONE;
    if (db->awaits_answer) { /* whatever it was, it is undone now */
        db->awaits_answer = false;
        (void)mysql_read_query_result(db->mysql);
    }
    db->count.statements++;
    db->count.round_trips++;
    return mysql_real_query(db->mysql, "ROLLBACK", 8) == 0 ? STATUS_OK
                                                           : note_connection(db, "ROLLBACK", false);
}

/* Nothing hangs on the answer, and jobs are being chosen meanwhile: nobody waits for it, so it is
 * no round trip. */
static enum status refuse_writes(struct db *db)
{
    return db_run_text(db, "SET SESSION TRANSACTION READ ONLY");
}

enum status db_look_only(struct db *db)
{
    enum status status = db_rollback(db);

    must(db->magic == DB_MAGIC);
    db->only_looks = true;
    return status == STATUS_OK ? refuse_writes(db) : status;
}

enum status db_savepoint(struct db *db)
{
    static const char sql[] = "SAVEPOINT qm";
    enum status status = begin_command(db);

    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    if (mysql_send_query(db->mysql, sql, sizeof(sql) - 1) != 0)
        return note_connection(db, sql, false);
    db->awaits_answer = true;
    return STATUS_OK;
}

enum status db_rollback_to_savepoint(struct db *db)
{
    return db_run_text(db, "ROLLBACK TO SAVEPOINT qm");
}

struct db_count db_count(const struct db *db)
{
    return db->count;
}

void db_count_reset(struct db *db)
{
    db->count = (struct db_count){0};
}

void db_fail_nth(struct db *db, uint64_t nth, enum status status)
{
    db->fail_at = nth;
    db->fail_with = status;
}

int64_t db_inserted_id(const struct db *db)
{
    return db->inserted_id;
}

const struct actual_columns *db_actual_columns(const struct db *db)
{
    return &db->look.columns;
}

bool db_is_cluster(const struct db *db)
{
    return db->look.is_cluster;
}

/* --- preparing ----------------------------------------------------------------------------- */

static void prepared_free(struct db_prepared *prepared)
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
        return lacks_memory(db);
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
        status = note_statement(db, statement, prepared->handle);
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
        (void)lacks_memory(db);
    prepared_free(prepared);
    return status;
}

static size_t value_list_length(const struct db_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i].type == DB_VALUE_NUMBERS || values[i].type == DB_VALUE_TEXTS ||
            values[i].type == DB_VALUE_NAMES)
            return values[i].most;
    }
    return 1;
}

static enum status find_prepared(struct db *db, enum statement statement, size_t list_count,
                                 size_t value_count, struct db_prepared **ret_prepared)
{
    size_t size_index = statement_size_index(list_count);
    enum status status = begin_command(db);

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
    enum status status = begin_command(db);

    if (status != STATUS_OK || db->prepared[statement][size_index] != NULL)
        return status;
    return prepare(db, statement, size_index, &prepared);
}

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
        return lacks_memory(db);
    for (size_t i = 0; i < count; i++) {
        const struct statement_parameter *parameter = &prepared->text.parameters[i];
        int64_t *numbers = arena_alloc_array(db->scratch, row_count, sizeof(numbers[0]));
        double *reals = arena_alloc_array(db->scratch, row_count, sizeof(reals[0]));
        const char **texts = arena_alloc_array(db->scratch, row_count, sizeof(texts[0]));
        unsigned long *lengths = arena_alloc_array(db->scratch, row_count, sizeof(lengths[0]));

        if (numbers == NULL || reals == NULL || texts == NULL || lengths == NULL)
            return lacks_memory(db);
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
        return lacks_memory(db);
    if (prepared->array_size != array_size) {
        (void)mysql_stmt_attr_set(prepared->handle, STMT_ATTR_ARRAY_SIZE, &array_size);
        prepared->array_size = array_size;
    }
    if (count > 0 && mysql_stmt_bind_param(prepared->handle, binds) != 0)
        return lacks_memory(db);
    return STATUS_OK;
}

/* --- execution ----------------------------------------------------------------------------- */

static enum status execute(struct db *db, enum statement statement, struct db_prepared *prepared,
                           const struct db_value *values, size_t value_count, size_t row_count,
                           bool in_bulk)
{
    enum status status = bind_parameters(db, prepared, values, value_count, row_count, in_bulk);

    if (status == STATUS_OK) {
        db->count.statements++;
        db->count.round_trips++;
        if (mysql_stmt_execute(prepared->handle) != 0)
            status = note_statement(db, statement, prepared->handle);
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
    enum status status = find_prepared(db, statement, value_list_length(values, value_count),
                                       value_count, &prepared);

    if (status == STATUS_OK)
        status = execute(db, statement, prepared, values, value_count, 1, false);
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
        enum status status = find_prepared(db, statement, 1, value_count, &prepared);

        if (status == STATUS_OK)
            status = execute(db, statement, prepared, values + row * value_count, value_count, rows,
                             true);
        if (status != STATUS_OK)
            return status;
        affected += mysql_stmt_affected_rows(prepared->handle);
        row += rows;
    }
    if (ret_affected != NULL)
        *ret_affected = affected;
    return STATUS_OK;
}

/* --- fetching ------------------------------------------------------------------------------ */

enum status db_query(struct db *db, struct arena *arena, enum statement statement,
                     const struct db_value *values, size_t value_count, struct db_rows *ret_rows)
{
    struct db_prepared *prepared;
    enum status status = find_prepared(db, statement, value_list_length(values, value_count),
                                       value_count, &prepared);

    if (status == STATUS_OK)
        status = execute(db, statement, prepared, values, value_count, 1, false);
    if (status == STATUS_OK && mysql_stmt_store_result(prepared->handle) != 0)
        status = note_statement(db, statement, prepared->handle);
    if (status != STATUS_OK)
        return status;
    *ret_rows = (struct db_rows){.db = db,
                                 .prepared = prepared,
                                 .arena = arena,
                                 .row_count = mysql_stmt_num_rows(prepared->handle),
                                 .column_count = prepared->column_count,
                                 .is_cut = mysql_stmt_warning_count(prepared->handle) > 0,
                                 .cells = prepared->cells,
                                 .status = STATUS_OK};
    return STATUS_OK;
}

static enum status fetch_text(struct db_rows *rows, unsigned column, struct text *ret_text)
{
    unsigned long length = rows->prepared->lengths[column];
    my_bool is_null = 0, is_cut = 0;
    char *at;
    MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING,
                       .buffer_length = length,
                       .length = &length,
                       .is_null = &is_null,
                       .error = &is_cut};

    *ret_text = NO_TEXT;
    if (length == 0 || rows->arena == NULL)
        return STATUS_OK;
    at = arena_alloc(rows->arena, length + 1);
    if (at == NULL) {
        (void)snprintf(rows->db->error, sizeof(rows->db->error), "row too large for the arena");
        return STATUS_TOO_LARGE;
    }
    bind.buffer = at;
    if (mysql_stmt_fetch_column(rows->prepared->handle, &bind, column, 0) != 0)
        return note(rows->db, "fetch", mysql_stmt_errno(rows->prepared->handle),
                    mysql_stmt_error(rows->prepared->handle), false);
    *ret_text = (struct text){.at = at, .length = length};
    return STATUS_OK;
}

static enum status fetch_cell(struct db_rows *rows, unsigned column)
{
    const struct db_prepared *prepared = rows->prepared;
    struct db_cell *cell = &prepared->cells[column];

    *cell = (struct db_cell){.is_null = prepared->nulls[column]};
    if (cell->is_null)
        return STATUS_OK;
    if (prepared->results[column].buffer_type == MYSQL_TYPE_STRING)
        return fetch_text(rows, column, &cell->text);
    if (prepared->results[column].buffer_type == MYSQL_TYPE_DOUBLE) {
        cell->real = prepared->reals[column];
        if (cell->real > -0x1p63 && cell->real < 0x1p63)
            cell->integer = (int64_t)cell->real;
        return STATUS_OK;
    }
    cell->integer = prepared->integers[column];
    cell->real = (double)cell->integer;
    if (prepared->are_unsigned[column] && cell->integer < 0) {
        cell->integer = INT64_MAX;
        cell->real = 0x1p63;
    }
    return STATUS_OK;
}

bool db_rows_next(struct db_rows *rows)
{
    int answer;

    if (rows->prepared == NULL)
        return false;
    answer = mysql_stmt_fetch(rows->prepared->handle);
    if (answer == 0 || answer == MYSQL_DATA_TRUNCATED) {
        for (unsigned i = 0; i < rows->column_count && rows->status == STATUS_OK; i++)
            rows->status = fetch_cell(rows, i);
        if (rows->status == STATUS_OK)
            return true;
    } else if (answer != MYSQL_NO_DATA) {
        rows->status = note(rows->db, "fetch", mysql_stmt_errno(rows->prepared->handle),
                            mysql_stmt_error(rows->prepared->handle), false);
    }
    (void)db_rows_end(rows);
    return false;
}

enum status db_rows_end(struct db_rows *rows)
{
    if (rows->prepared != NULL)
        (void)mysql_stmt_free_result(rows->prepared->handle);
    rows->prepared = NULL;
    return rows->status;
}

enum status db_query_one(struct db *db, struct arena *arena, enum statement statement,
                         const struct db_value *values, size_t value_count,
                         struct db_cell *ret_cells, size_t most)
{
    struct db_rows rows;
    enum status status = db_query(db, arena, statement, values, value_count, &rows);
    bool found;

    if (status != STATUS_OK)
        return status;
    found = db_rows_next(&rows);
    if (found)
        memcpy(ret_cells, rows.cells,
               (most < rows.column_count ? most : rows.column_count) * sizeof(ret_cells[0]));
    status = db_rows_end(&rows);
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

const struct db_cell *db_cells_to_row(const struct db_cell *cells, enum row_kind kind, void *row)
{
    const struct row_table *table = &row_tables[kind];

    for (size_t i = 0; i < table->column_count; i++, cells++) {
        char *at = (char *)row + table->columns[i].offset;

        switch (table->columns[i].type) {
        case COLUMN_ID:
        case COLUMN_INTEGER:
            memcpy(at, &cells->integer, sizeof(cells->integer));
            break;
        case COLUMN_REAL:
            memcpy(at, &cells->real, sizeof(cells->real));
            break;
        case COLUMN_STRING:
        default:
            memcpy(at, &cells->text, sizeof(cells->text));
            break;
        }
    }
    return cells;
}

/* --- connecting ---------------------------------------------------------------------------- */

static void start_library(void)
{
    (void)mysql_library_init(0, NULL, NULL);
}

static void disconnect(struct db *db)
{
    for (size_t i = 0; i < STATEMENT_COUNT; i++) {
        for (size_t j = 0; j < STATEMENT_SIZES; j++) {
            prepared_free(db->prepared[i][j]);
            db->prepared[i][j] = NULL;
        }
    }
    if (db->mysql != NULL)
        mysql_close(db->mysql);
    db->mysql = NULL;
    db->awaits_answer = false;
    database_look_free(&db->look);
}

static enum status connect_to_server(struct db *db)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned no = 0;

    (void)pthread_once(&once, start_library);
    db->mysql = mysql_init(NULL);
    if (db->mysql == NULL)
        return lacks_memory(db);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &db->connect_timeout);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_READ_TIMEOUT, &db->answer_timeout);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_WRITE_TIMEOUT, &db->answer_timeout);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_LOCAL_INFILE, &no);
    (void)mysql_optionsv(db->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(db->mysql, db->host, db->user, db->password,
                           db->with_database ? db->name : NULL, db->port, db->socket,
                           CLIENT_FOUND_ROWS) == NULL) {
        enum status status = note_connection(db, "connecting", false);

        /* Whether the server may be asked again is for db_error_status; who we are is not. */
        return status == STATUS_DB_BUG ? STATUS_DB_GONE : status;
    }
    if (strstr(mysql_get_server_info(db->mysql), "MariaDB") == NULL ||
        mysql_get_server_version(db->mysql) < SERVER_VERSION_OLDEST) {
        (void)snprintf(db->error, sizeof(db->error),
                       "the database server is %s; MariaDB 10.2 or later is needed",
                       mysql_get_server_info(db->mysql));
        return STATUS_DB_REFUSED;
    }
    return db_run_text(db, "SET SESSION autocommit = 0, tx_isolation = 'READ-COMMITTED',"
                           " sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"
                           " innodb_lock_wait_timeout = 10, lock_wait_timeout = 10,"
                           " character_set_results = NULL");
}

/* BOINC names columns' character sets nowhere; what the database has is what we send. */
static enum status set_character_set(struct db *db)
{
    char sql[160];

    (void)snprintf(sql, sizeof(sql),
                   "SET SESSION character_set_client = %s, character_set_connection = %s",
                   db->look.character_set, db->look.character_set);
    return db_run_text(db, sql);
}

static enum status open_connection(struct db *db)
{
    struct failure failure = {0};
    enum status status = connect_to_server(db);

    if (status == STATUS_OK && db->looks) {
        status = database_look(db, &db->look, &failure);
        if (failure.text[0] != '\0')
            (void)snprintf(db->error, sizeof(db->error), "%s", failure.text);
        if (status == STATUS_OK)
            status = set_character_set(db);
        if (status == STATUS_OK)
            status = db_commit(db);
        if (status == STATUS_OK && db->only_looks)
            status = refuse_writes(db);
        db_count_reset(db);
    }
    if (status != STATUS_OK)
        disconnect(db);
    return status;
}

/* Not strndup, which may look beyond the text for its end. */
static char *string_of(struct text text)
{
    char *string = malloc(text.length + 1);

    if (string == NULL)
        return NULL;
    if (text.length > 0)
        memcpy(string, text.at, text.length);
    string[text.length] = '\0';
    return string;
}

/* Where a database is. */
struct place {
    struct text host, socket, user, password, name;
    unsigned connect_timeout, answer_timeout; /* s */
};

static struct place project_place(const struct config *config)
{
    return (struct place){.host = config->db_host,
                          .socket = config->db_socket,
                          .user = config->db_user,
                          .password = config->db_passwd,
                          .name = config->db_name,
                          .connect_timeout = CONNECT_TIMEOUT_S,
                          .answer_timeout = ANSWER_TIMEOUT_S};
}

/* What is not said is as with the project's database. */
static struct place files_place(const struct config *config)
{
    struct place place = project_place(config);

    if (config->files_db_host.length > 0) {
        place.host = config->files_db_host;
        place.socket = NO_TEXT;
    }
    if (config->files_db_socket.length > 0)
        place.socket = config->files_db_socket;
    if (config->files_db_user.length > 0) {
        place.user = config->files_db_user;
        place.password = config->files_db_passwd;
    }
    place.name = config->files_db_name;
    place.connect_timeout = place.answer_timeout = FILES_TIMEOUT_S;
    return place;
}

/* NULL stays NULL: the library's own choice. */
static bool take(struct text text, char **ret_string)
{
    if (text.length == 0)
        return true;
    *ret_string = string_of(text);
    return *ret_string != NULL;
}

/* Rule 1.7 of sharing a database with BOINC: db_host may be host:port, and the machine's own name
 * stands for its local socket. */
static enum status take_place(struct db *db, const struct place *place)
{
    struct text host = place->host;
    char own[256] = "";
    int64_t port = 0;
    size_t colon = text_find(host, TEXT(":"));

    if (colon < host.length &&
        text_to_i64((struct text){host.at + colon + 1, host.length - colon - 1}, &port) &&
        port > 0 && port < 65536)
        host.length = colon;
    (void)gethostname(own, sizeof(own) - 1);
    if (host.length == 0 || (port == 0 && text_equal_nocase(host, text_from(own))))
        host = TEXT("localhost");
    db->port = (unsigned)port;
    db->connect_timeout = place->connect_timeout;
    db->answer_timeout = place->answer_timeout;
    db->host = string_of(host);
    db->name = string_of(place->name);
    if (db->host == NULL || db->name == NULL || !take(place->socket, &db->socket) ||
        !take(place->user, &db->user) || !take(place->password, &db->password))
        return STATUS_NO_MEMORY;
    return STATUS_OK;
}

static enum status open_db(const struct place *place, bool with_database, bool looks,
                           struct db **ret_db, struct failure *failure)
{
    struct db *db = calloc(1, sizeof(*db));
    enum status status = STATUS_NO_MEMORY;

    if (db == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    db->magic = DB_MAGIC;
    db->with_database = with_database;
    db->looks = looks;
    db->look.bytes_per_character = 4;
    db->scratch = arena_create(SCRATCH_BYTES_MAX);
    if (db->scratch != NULL)
        status = take_place(db, place);
    if (status == STATUS_OK && with_database && db->name[0] == '\0') {
        status = STATUS_DB_REFUSED;
        (void)snprintf(db->error, sizeof(db->error), "the option db_name is not set");
    }
    if (status == STATUS_OK)
        status = open_connection(db);
    if (status != STATUS_OK) {
        (void)fail(failure, status, "database: %s", db->error);
        db_close(db);
        return status;
    }
    *ret_db = db;
    return STATUS_OK;
}

enum status db_open(const struct config *config, struct db **ret_db, struct failure *failure)
{
    struct place place = project_place(config);

    return open_db(&place, true, true, ret_db, failure);
}

enum status db_connect(const struct config *config, bool with_database, struct db **ret_db,
                       struct failure *failure)
{
    struct place place = project_place(config);

    return open_db(&place, with_database, false, ret_db, failure);
}

enum status db_connect_files(const struct config *config, bool with_database, struct db **ret_db,
                             struct failure *failure)
{
    struct place place = files_place(config);

    return open_db(&place, with_database, false, ret_db, failure);
}

enum status db_reopen(struct db *db)
{
    must(db->magic == DB_MAGIC);
    disconnect(db);
    return open_connection(db);
}

void db_close(struct db *db)
{
    if (db == NULL)
        return;
    must(db->magic == DB_MAGIC);
    disconnect(db);
    arena_destroy(db->scratch);
    free(db->host);
    free(db->socket);
    free(db->user);
    free(db->password);
    free(db->name);
    db->magic = 0;
    free(db);
}

const char *db_library_version(void)
{
    return mysql_get_client_info();
}
