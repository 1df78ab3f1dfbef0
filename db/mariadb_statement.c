/* SPDX-License-Identifier: Apache-2.0 */
/* A statement's life on a connection: prepared when it is first used (on a cluster, when the
 * connection is opened), once for each size of its list, and kept; bound to values, in one row of
 * them or in many, and executed; its rows fetched. Of transactions nothing is known here.
 *
 * Values and rows are structs whose members the written-out statement (statement.h) knows by their
 * offsets: from the caller's struct into the parameters, from the columns into the caller's struct.
 * Rows are read into the client at once, so that nothing is ever left on the wire and statements
 * may be used in any order. */
#include "db/mariadb_internal.h"

#include "db/db_value.h"
#include "db/statement.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/sorted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* --- preparing ----------------------------------------------------------------------------- */

static void free_prepared(struct db_prepared *prepared)
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
    free(prepared);
}

void mariadb_forget_prepared(struct db *db)
{
    for (size_t i = 0; i < STATEMENT_COUNT; i++) {
        for (size_t j = 0; j < STATEMENT_SIZES; j++) {
            free_prepared(db->prepared[i][j]);
            db->prepared[i][j] = NULL;
        }
    }
}

static bool is_number(const MYSQL_FIELD *field)
{
    return IS_NUM(field->type) && field->type != MYSQL_TYPE_TIMESTAMP &&
           field->type != MYSQL_TYPE_NULL;
}

static bool is_whole(const MYSQL_FIELD *field)
{
    return field->type != MYSQL_TYPE_DOUBLE && field->type != MYSQL_TYPE_FLOAT &&
           field->type != MYSQL_TYPE_DECIMAL && field->type != MYSQL_TYPE_NEWDECIMAL;
}

/* The database's own names of the columns are those of the table. */
static enum status check_columns(const struct statement_definition *definition,
                                 const struct db_prepared *prepared, const MYSQL_FIELD *fields,
                                 size_t count, struct failure *failure)
{
    struct given_column *given = calloc(count + 1, sizeof(given[0]));
    enum status status;

    if (given == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        given[i] = (struct given_column){fields[i].name, is_number(&fields[i])};
    status = statement_check_columns(definition, &prepared->text, given, count, failure);
    free(given);
    return status;
}

/* Numbers are fetched as they come; texts have no buffer, only their length, and are fetched into
 * the arena when that is known. */
static enum status bind_results(struct db_prepared *prepared, const MYSQL_FIELD *fields,
                                size_t count)
{
    prepared->results = calloc(count, sizeof(prepared->results[0]));
    prepared->integers = calloc(count, sizeof(prepared->integers[0]));
    prepared->reals = calloc(count, sizeof(prepared->reals[0]));
    prepared->lengths = calloc(count, sizeof(prepared->lengths[0]));
    prepared->nulls = calloc(count, sizeof(prepared->nulls[0]));
    if (prepared->results == NULL || prepared->integers == NULL || prepared->reals == NULL ||
        prepared->lengths == NULL || prepared->nulls == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        MYSQL_BIND *bind = &prepared->results[i];

        bind->is_null = &prepared->nulls[i];
        bind->length = &prepared->lengths[i];
        if (!is_number(&fields[i])) {
            bind->buffer_type = MYSQL_TYPE_STRING;
            continue;
        }
        bind->buffer_type = is_whole(&fields[i]) ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_DOUBLE;
        bind->buffer =
            is_whole(&fields[i]) ? (void *)&prepared->integers[i] : (void *)&prepared->reals[i];
        bind->buffer_length = sizeof(int64_t);
        bind->is_unsigned = (fields[i].flags & UNSIGNED_FLAG) != 0;
    }
    return mysql_stmt_bind_result(prepared->handle, prepared->results) == 0 ? STATUS_OK
                                                                            : STATUS_NO_MEMORY;
}

/* The library keeps what it was told of the columns, and copies it at each execution: a seventh of
 * all instructions of a request went for names that nobody reads once they were checked. It copies
 * no name that is not there. */
static void forget_names(MYSQL_FIELD *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        MYSQL_FIELD *field = &fields[i];

        field->name = field->org_name = field->table = field->org_table = field->db =
            field->catalog = field->def = NULL;
        field->name_length = field->org_name_length = field->table_length =
            field->org_table_length = field->db_length = field->catalog_length = field->def_length =
                0;
    }
}

static enum status take_columns(const struct statement_definition *definition,
                                struct db_prepared *prepared, struct failure *failure)
{
    MYSQL_RES *metadata = mysql_stmt_result_metadata(prepared->handle);
    size_t count = metadata == NULL ? 0 : mysql_num_fields(metadata);
    MYSQL_FIELD *fields = metadata == NULL ? NULL : mysql_fetch_fields(metadata);
    enum status status = check_columns(definition, prepared, fields, count, failure);

    if (status == STATUS_OK && count > 0)
        status = bind_results(prepared, fields, count);
    if (status == STATUS_OK)
        forget_names(fields, count);
    if (metadata != NULL)
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

static enum status prepare(struct db *db, const struct statement_definition *definition,
                           size_t list_size, struct db_prepared **ret_prepared)
{
    struct db_prepared *prepared = calloc(1, sizeof(*prepared));
    struct failure failure = {0};
    enum status status;
    uint64_t begun_ns;
    bool failed;

    if (prepared == NULL)
        return mariadb_lacks_memory(db);
    status = statement_write(definition, list_size,
                             db->traits.columns.count == 0 ? NULL : &db->traits.columns,
                             &prepared->text, &failure);
    if (status != STATUS_OK)
        goto failed;
    if (db->reads_only)
        leave_locks_out(prepared->text.sql);
    prepared->only_reads = statement_only_reads(prepared->text.sql);
    prepared->handle = mysql_stmt_init(db->mysql);
    status = STATUS_NO_MEMORY;
    if (prepared->handle == NULL)
        goto failed;
    db->count.prepares++;
    begun_ns = clock_ns();
    failed =
        mysql_stmt_prepare(prepared->handle, prepared->text.sql, strlen(prepared->text.sql)) != 0;
    mariadb_add_wait(db, begun_ns);
    if (failed) {
        status = mariadb_note_statement(db, definition, prepared->handle);
        goto failed;
    }
    /* A placeholder that was miscounted would let the library read past our array. */
    must(mysql_stmt_param_count(prepared->handle) == prepared->text.parameter_count);
    status = take_columns(definition, prepared, &failure);
    if (status != STATUS_OK)
        goto failed;
    *ret_prepared = prepared;
    return STATUS_OK;

failed:
    if (failure.text[0] != '\0')
        mariadb_note_own(db, "%s", failure.text);
    else if (status == STATUS_NO_MEMORY)
        (void)mariadb_lacks_memory(db);
    free_prepared(prepared);
    return status;
}

enum status mariadb_find(struct db *db, enum statement statement, size_t list_count,
                         struct db_prepared **ret_prepared)
{
    size_t size_index = statement_size_index(list_count);
    struct db_prepared **prepared = &db->prepared[statement][size_index];
    enum status status = STATUS_OK;

    if (*prepared == NULL)
        status = mariadb_read_answers(db);
    if (status == STATUS_OK && *prepared == NULL)
        status =
            prepare(db, statement_definition(statement), statement_list_size(size_index), prepared);
    must(status != STATUS_OK || *prepared != NULL);
    *ret_prepared = *prepared;
    return status;
}

/* What this connection may execute. Those of admin.def stand before those of statements.def, whose
 * first is actual_columns. */
static bool may_execute(const struct db *db, enum statement statement)
{
    if (!db->inspects)
        return statement >= STATEMENT_FILES;
    return statement < STATEMENT_FILES && (db->is_admin || statement >= STATEMENT_actual_columns);
}

enum status mariadb_prepare_ahead(struct db *db)
{
    enum status status = STATUS_OK;

    if (!db->traits.is_cluster || !db->keeps_token)
        return STATUS_OK;
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        const enum statement statement = (enum statement)i;
        size_t sizes =
            statement_list(statement_definition(statement)) == NULL ? 1 : STATEMENT_SIZES;

        for (size_t j = 0; j < sizes && may_execute(db, statement); j++) {
            status = db_prepare(db, statement, statement_list_size(j));
            if (status == STATUS_DB_BUG || status == STATUS_DB_REFUSED)
                break; /* a table that not every project has: whoever needs it is told then */
            if (status != STATUS_OK)
                return status;
        }
    }
    return STATUS_OK;
}

enum status db_prepare(struct db *db, enum statement statement, size_t list_count)
{
    struct db_prepared *prepared;
    enum status status = mariadb_check(db);

    return status == STATUS_OK ? mariadb_find(db, statement, list_count, &prepared) : status;
}

enum status db_try(struct db *db, const struct statement_definition *definition)
{
    struct db_prepared *prepared = NULL;
    enum status status = mariadb_before_command(db);

    if (status == STATUS_OK)
        status = prepare(db, definition, 1, &prepared);
    free_prepared(prepared);
    return status;
}

/* --- binding ------------------------------------------------------------------------------- */

enum {
    VALUE_BYTES = 16,             /* of a number in a packet, or beside a text, and some more */
    PACKET_HEAD_BYTES = 16 * 1024 /* what stands before the values, at most */
};

/* How many bytes of values the server takes at once. */
static size_t packet_room(const struct db *db)
{
    return db->traits.packet_bytes - PACKET_HEAD_BYTES;
}

static const char *value_at(const struct execution *execution, size_t row,
                            const struct statement_parameter *parameter)
{
    return (const char *)execution->rows.values + row * execution->rows.size + parameter->offset;
}

/* Which element of the list a parameter stands for: behind the end of the part, and of the list,
 * the last one again. */
static size_t element_of(const struct execution *execution,
                         const struct statement_parameter *parameter, size_t count)
{
    size_t end = execution->list_from + execution->list_count;
    size_t at = execution->list_from + parameter->index;

    end = end < count ? end : count;
    return at < end ? at : end - 1;
}

/* A value that is no list, or a column of a value that is a row. */
static const char *plain_at(const struct execution *execution, size_t row,
                            const struct statement_parameter *parameter)
{
    const char *at = value_at(execution, row, parameter), *pointed;

    if (parameter->source != PARAMETER_COLUMN)
        return at;
    memcpy(&pointed, at,
           sizeof(pointed)); /* NOLINT(bugprone-multi-level-implicit-pointer-conversion) */
    return pointed + parameter->column->offset;
}

static int64_t integer_of(const struct execution *execution, size_t row,
                          const struct statement_parameter *parameter)
{
    int64_t number;

    if (parameter->source == PARAMETER_ELEMENT) {
        struct db_ids list;

        memcpy(&list, value_at(execution, row, parameter), sizeof(list));
        return list.items[element_of(execution, parameter, list.count)];
    }
    memcpy(&number, plain_at(execution, row, parameter), sizeof(number));
    return parameter->type == DB_INTEGER ? value_int32(number) : number;
}

static double real_of(const struct execution *execution, size_t row,
                      const struct statement_parameter *parameter)
{
    double number;

    memcpy(&number, plain_at(execution, row, parameter), sizeof(number));
    return value_finite(number);
}

static struct text text_of(const struct db *db, const struct execution *execution, size_t row,
                           const struct statement_parameter *parameter)
{
    struct text text;

    if (parameter->source == PARAMETER_ELEMENT) {
        struct db_texts list;

        memcpy(&list, value_at(execution, row, parameter), sizeof(list));
        text = list.items[element_of(execution, parameter, list.count)];
    } else {
        memcpy(&text, plain_at(execution, row, parameter), sizeof(text));
    }
    if (parameter->type == DB_BYTES || parameter->type == DB_BYTE_STRINGS)
        return text_first(text, parameter->most == 0 ? text.length : parameter->most);
    return value_text(db->scratch, text, db->traits.bytes_per_character, parameter->most);
}

/* A parameter of all rows: the array form of a binding, of which a single row is the plain form
 * (but for texts, where the array is one of pointers). */
static enum status bind_texts(struct db *db, const struct execution *execution,
                              const struct statement_parameter *parameter, MYSQL_BIND *bind)
{
    size_t count = execution->rows.count;
    const char **texts = arena_alloc_array(db->scratch, count, sizeof(texts[0]));
    unsigned long *lengths = arena_alloc_array(db->scratch, count, sizeof(lengths[0]));
    size_t bytes = 0;

    if (texts == NULL || lengths == NULL)
        return mariadb_lacks_memory(db);
    for (size_t row = 0; row < count; row++) {
        struct text text = text_of(db, execution, row, parameter);

        texts[row] = text.at == NULL ? "" : text.at;
        lengths[row] = text.length;
        bytes += text.length;
    }
    if (bytes > packet_room(db))
        return mariadb_refuse_packet(db);
    bind->buffer_type = parameter->type == DB_BYTES || parameter->type == DB_BYTE_STRINGS
                            ? MYSQL_TYPE_LONG_BLOB
                            : MYSQL_TYPE_STRING;
    bind->length = lengths;
    if (execution->in_bulk) {
        bind->buffer = texts;
    } else {
        memcpy(&bind->buffer, &texts[0], sizeof(bind->buffer)); /* only read */
        bind->buffer_length = lengths[0];
    }
    return STATUS_OK;
}

static enum status bind_reals(struct db *db, const struct execution *execution,
                              const struct statement_parameter *parameter, MYSQL_BIND *bind)
{
    double *reals = arena_alloc_array(db->scratch, execution->rows.count, sizeof(reals[0]));

    if (reals == NULL)
        return mariadb_lacks_memory(db);
    for (size_t row = 0; row < execution->rows.count; row++)
        reals[row] = real_of(execution, row, parameter);
    bind->buffer_type = MYSQL_TYPE_DOUBLE;
    bind->buffer = reals;
    return STATUS_OK;
}

static enum status bind_integers(struct db *db, const struct execution *execution,
                                 const struct statement_parameter *parameter, MYSQL_BIND *bind)
{
    int64_t *integers = arena_alloc_array(db->scratch, execution->rows.count, sizeof(integers[0]));

    if (integers == NULL)
        return mariadb_lacks_memory(db);
    for (size_t row = 0; row < execution->rows.count; row++)
        integers[row] = integer_of(execution, row, parameter);
    bind->buffer_type = MYSQL_TYPE_LONGLONG;
    bind->buffer = integers;
    return STATUS_OK;
}

static enum status bind_parameter(struct db *db, const struct execution *execution,
                                  const struct statement_parameter *parameter, MYSQL_BIND *bind)
{
    switch (parameter->type) {
    case DB_REAL:
        return bind_reals(db, execution, parameter, bind);
    case DB_STRING:
    case DB_BYTES:
    case DB_STRINGS:
    case DB_BYTE_STRINGS:
        return bind_texts(db, execution, parameter, bind);
    case DB_ID:
    case DB_INTEGER:
    case DB_ROW: /* these two are never parameters themselves */
    case DB_SUBJECTS:
    case DB_IDS:
    case DB_RISING_IDS:
    default:
        return bind_integers(db, execution, parameter, bind);
    }
}

static enum status bind_parameters(struct db *db, struct db_prepared *prepared,
                                   const struct execution *execution)
{
    size_t count = prepared->text.parameter_count;
    MYSQL_BIND *binds = arena_alloc_array(db->scratch, count, sizeof(binds[0]));
    unsigned array_size = execution->in_bulk ? (unsigned)execution->rows.count : 0;
    enum status status = STATUS_OK;

    if (binds == NULL)
        return mariadb_lacks_memory(db);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = bind_parameter(db, execution, &prepared->text.parameters[i], &binds[i]);
    if (status != STATUS_OK)
        return status;
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

/* --- executing ----------------------------------------------------------------------------- */

/* Behind the door of mariadb_run.c: what locks or writes is in a transaction that has begun. */
static enum status bind(struct db *db, struct db_prepared *prepared,
                        const struct execution *execution)
{
    must(prepared->only_reads || transaction_state_has_begun(db->state));
    db->turn += !prepared->only_reads;
    return bind_parameters(db, prepared, execution);
}

enum status mariadb_execute_with(struct db *db, enum statement statement,
                                 struct db_prepared *prepared, const struct execution *execution)
{
    enum status status = bind(db, prepared, execution);

    if (status == STATUS_OK)
        status = mariadb_execute(db, statement, prepared);
    if (status == STATUS_OK)
        db->inserted_id = (int64_t)mysql_stmt_insert_id(prepared->handle);
    arena_reset(db->scratch);
    return status;
}

enum status mariadb_send_with(struct db *db, enum statement statement, struct db_prepared *prepared,
                              const struct execution *execution, uint64_t meant)
{
    enum status status = bind(db, prepared, execution);

    if (status == STATUS_OK)
        status = mariadb_send_statement(db, statement, prepared, meant);
    arena_reset(db->scratch);
    return status;
}

int64_t db_inserted_id(const struct db *db)
{
    return db->inserted_id;
}

struct db_ids db_sorted_ids(struct arena *arena, const int64_t *ids, size_t count)
{
    int64_t *sorted = ARENA_ARRAY(arena, count, int64_t);

    if (sorted == NULL)
        return (struct db_ids){.count = count};
    if (count > 0)
        memcpy(sorted, ids, count * sizeof(sorted[0]));
    return (struct db_ids){sorted, sorted_ids(sorted, count)};
}

static enum status check_rising(struct db *db, const struct statement_definition *definition,
                                struct db_ids ids)
{
    for (size_t i = 1; i < ids.count; i++) {
        if (ids.items[i - 1] > ids.items[i]) {
            mariadb_note_own(db, "statement %s: a list of ids does not rise", definition->name);
            return STATUS_DB_BUG;
        }
    }
    return STATUS_OK;
}

/* `first`: its first list; NULL: it has none. */
static enum status measure_lists(struct db *db, const struct statement_definition *definition,
                                 const struct db_member *first, const char *values,
                                 size_t *ret_count)
{
    enum status status = STATUS_OK;

    *ret_count = 1;
    for (const struct db_member *value = first;
         status == STATUS_OK && value != NULL && value->name != NULL; value++) {
        struct db_ids list; /* or texts, which look the same */

        if (!db_type_is_list(value->type))
            continue;
        memcpy(&list, values + value->offset, sizeof(list));
        must(value == first || list.count == *ret_count);
        *ret_count = list.count;
        if (list.items == NULL && list.count > 0) {
            mariadb_note_own(db, "statement %s: no room for the list %s", definition->name,
                             value->name);
            status = STATUS_TOO_LARGE;
        } else if (value->type == DB_RISING_IDS) {
            status = check_rising(db, definition, list);
        }
    }
    return status;
}

enum status mariadb_measure_lists(struct db *db, const struct statement_definition *definition,
                                  const char *values, size_t *ret_count)
{
    return measure_lists(db, definition, statement_list(definition), values, ret_count);
}

/* How many bytes a row of values has in a packet, at most; `list_size`: elements of each list. */
static size_t row_bytes(const struct statement_definition *definition, const char *values,
                        size_t list_size)
{
    size_t bytes = 0;

    for (const struct db_member *value = definition->values; value->name != NULL; value++) {
        struct text text = NO_TEXT;

        if (value->type == DB_STRING || value->type == DB_BYTES)
            memcpy(&text, values + value->offset, sizeof(text));
        bytes += VALUE_BYTES * (db_type_is_list(value->type) ? list_size : 1) + text.length;
    }
    return bytes;
}

static const char *row_at(const struct value_rows *rows, size_t index)
{
    return (const char *)rows->values + index * rows->size;
}

/* By one row of values: the different ids of its list, which rise. NULL: it has none. */
static uint64_t rows_meant(const struct db_member *member, const char *values)
{
    struct db_ids list;
    uint64_t meant = 0;

    if (member == NULL)
        return 1;
    memcpy(&list, values + member->offset, sizeof(list));
    for (size_t i = 0; i < list.count; i++)
        meant += i == 0 || list.items[i - 1] != list.items[i];
    return meant;
}

uint64_t mariadb_meant(const struct statement_definition *definition, const struct value_rows *rows)
{
    const uint64_t each = definition->count == COUNT_BOTH ? 2 : 1;
    const struct db_member *list;
    uint64_t meant = 0;

    if (definition->count == COUNT_SINGLY || definition->count == COUNT_MENDED)
        return DB_ANY_COUNT;
    list = statement_list(definition);
    for (size_t i = 0; i < rows->count; i++)
        meant += each * rows_meant(list, row_at(rows, i));
    return meant;
}

/* How many of so many new rows take no id more than they are (statements.def, NEW). */
static size_t rows_without_gap(size_t count)
{
    size_t rows = 1;

    while (2 * rows + 1 <= count)
        rows = 2 * rows + 1;
    return rows;
}

/* How many of the rows go into one packet, which the server has to take. */
static size_t array_rows(const struct db *db, const struct statement_definition *definition,
                         const struct value_rows *rows, size_t list_size)
{
    const size_t room = packet_room(db), most = room < DB_BULK_BYTES ? room : DB_BULK_BYTES;
    size_t bytes = 0, end = 0;

    while (end < rows->count && end < DB_BULK_ROWS) {
        bytes += row_bytes(definition, row_at(rows, end), list_size);
        if (end > 0 && bytes > most)
            break;
        end++;
    }
    return definition->count == COUNT_NEW && end > 0 ? rows_without_gap(end) : end;
}

/* The longest list of the rows of values; 1 where the statement has none. */
static enum status measure_rows(struct db *db, const struct statement_definition *definition,
                                const struct value_rows *rows, size_t *ret_most)
{
    const struct db_member *first = statement_list(definition);
    enum status status = STATUS_OK;

    *ret_most = first != NULL ? 0 : 1;
    for (size_t i = 0; first != NULL && status == STATUS_OK && i < rows->count; i++) {
        size_t count;

        status = measure_lists(db, definition, first, row_at(rows, i), &count);
        *ret_most = count > *ret_most ? count : *ret_most;
    }
    return status;
}

size_t mariadb_part_of(size_t list_count, size_t from)
{
    return list_count - from < DB_LIST_MOST ? list_count - from : DB_LIST_MOST;
}

/* A row whose list may be long, part by part; or an array whose lists have one element. */
static enum status write_parts(struct db *db, enum statement statement,
                               const struct value_rows *rows, size_t list_count, uint64_t *affected)
{
    enum status status = STATUS_OK;

    for (size_t from = 0; status == STATUS_OK && from < list_count; from += DB_LIST_MOST) {
        const struct execution execution = {.rows = *rows,
                                            .in_bulk = rows->count > 1,
                                            .list_from = from,
                                            .list_count = mariadb_part_of(list_count, from)};
        struct db_prepared *prepared;

        status = mariadb_find(db, statement, execution.list_count, &prepared);
        if (status == STATUS_OK)
            status = mariadb_execute_with(db, statement, prepared, &execution);
        if (status == STATUS_OK)
            *affected += mysql_stmt_affected_rows(prepared->handle);
    }
    return status;
}

enum status mariadb_check_count(struct db *db, const struct statement_definition *definition,
                                const struct value_rows *rows, uint64_t affected)
{
    const uint64_t meant = mariadb_meant(definition, rows);

    if (meant == DB_ANY_COUNT || affected >= meant)
        return STATUS_OK;
    mariadb_note_own(db, "statement %s: %" PRIu64 " rows of %" PRIu64, definition->name, affected,
                     meant);
    return STATUS_DB_RETRY;
}

/* On a cluster row by row: an array in which another node's write set aborts the transaction may be
 * answered as if nothing had happened. */
enum status mariadb_write_now(struct db *db, enum statement statement,
                              const struct value_rows *rows, uint64_t *ret_affected)
{
    const struct statement_definition *definition = statement_definition(statement);
    size_t list_most = 1;
    enum status status = measure_rows(db, definition, rows, &list_most);
    const bool in_arrays = rows->count > 1 && list_most == 1 && !db->traits.is_cluster &&
                           definition->count != COUNT_SINGLY;
    uint64_t affected = 0;

    for (size_t done = 0, count = 1; status == STATUS_OK && done < rows->count; done += count) {
        struct value_rows part = {row_at(rows, done), rows->size, rows->count - done};
        size_t list_count = list_most;

        part.count = count = in_arrays ? array_rows(db, definition, &part, 1) : 1;
        if (!in_arrays && rows->count > 1)
            status = mariadb_measure_lists(db, definition, part.values, &list_count);
        if (status == STATUS_OK)
            status = write_parts(db, statement, &part, list_count, &affected);
    }
    if (status == STATUS_OK && definition->count != COUNT_ASKED)
        status = mariadb_check_count(db, definition, rows, affected);
    if (status == STATUS_OK)
        *ret_affected = affected;
    return status;
}

/* Whether they go into one packet. */
static bool are_sent(const struct db *db, const struct statement_definition *definition,
                     const struct value_rows *rows, size_t list_most)
{
    if (!db_sends_ahead(db) || list_most == 0 || list_most > DB_LIST_MOST || rows->count == 0)
        return false;
    return rows->count == 1 ||
           (definition->count != COUNT_SINGLY &&
            array_rows(db, definition, rows,
                       statement_list_size(statement_size_index(list_most))) == rows->count);
}

enum status mariadb_write_ahead(struct db *db, enum statement statement,
                                const struct value_rows *rows, uint64_t *ret_affected)
{
    const struct statement_definition *definition = statement_definition(statement);
    struct execution execution = {.rows = *rows, .in_bulk = rows->count > 1};
    struct db_prepared *prepared;
    uint64_t meant;
    enum status status = measure_rows(db, definition, rows, &execution.list_count);

    if (status != STATUS_OK)
        return status;
    if (!are_sent(db, definition, rows, execution.list_count))
        return mariadb_write_now(db, statement, rows, ret_affected);
    meant = mariadb_meant(definition, rows);
    status = mariadb_find(db, statement, execution.list_count, &prepared);
    if (status == STATUS_OK)
        status = mariadb_send_with(db, statement, prepared, &execution, meant);
    if (status == STATUS_OK)
        *ret_affected = meant;
    return status;
}

/* --- fetching ------------------------------------------------------------------------------ */

enum status mariadb_store_rows(struct db *db, enum statement statement,
                               struct db_prepared *prepared)
{
    uint64_t begun_ns = clock_ns();
    bool failed = mysql_stmt_store_result(prepared->handle) != 0;

    mariadb_add_wait(db, begun_ns);
    return failed ? mariadb_note_statement(db, statement_definition(statement), prepared->handle)
                  : STATUS_OK;
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
    if (length == 0 || rows->prepared->nulls[column] || rows->arena == NULL)
        return STATUS_OK;
    at = arena_alloc(rows->arena, length + 1);
    if (at == NULL) {
        mariadb_note_own(rows->db, "row too large for the arena");
        return STATUS_TOO_LARGE;
    }
    bind.buffer = at;
    if (mysql_stmt_fetch_column(rows->prepared->handle, &bind, column, 0) != 0)
        return mariadb_note(rows->db, "fetch", mysql_stmt_errno(rows->prepared->handle),
                            mysql_stmt_error(rows->prepared->handle), false);
    *ret_text = (struct text){.at = at, .length = length};
    return STATUS_OK;
}

static int64_t fetched_integer(const struct db_prepared *prepared, size_t column)
{
    const MYSQL_BIND *bind = &prepared->results[column];
    double real = prepared->reals[column];

    if (prepared->nulls[column])
        return 0;
    if (bind->buffer_type == MYSQL_TYPE_DOUBLE)
        return real > -0x1p63 && real < 0x1p63 ? (int64_t)real : 0;
    return bind->is_unsigned && prepared->integers[column] < 0 ? INT64_MAX
                                                               : prepared->integers[column];
}

static double fetched_real(const struct db_prepared *prepared, size_t column)
{
    if (prepared->nulls[column])
        return 0;
    return prepared->results[column].buffer_type == MYSQL_TYPE_DOUBLE
               ? prepared->reals[column]
               : (double)fetched_integer(prepared, column);
}

static enum status take_row(struct db_rows *rows, char *row)
{
    const struct db_prepared *prepared = rows->prepared;

    for (unsigned i = 0; i < prepared->text.column_count; i++) {
        const struct statement_column *column = &prepared->text.columns[i];
        int64_t integer;
        double real;
        struct text text;
        enum status status;

        switch (column->type) {
        case COLUMN_ID:
        case COLUMN_INTEGER:
            integer = fetched_integer(prepared, i);
            memcpy(row + column->offset, &integer, sizeof(integer));
            break;
        case COLUMN_REAL:
            real = fetched_real(prepared, i);
            memcpy(row + column->offset, &real, sizeof(real));
            break;
        case COLUMN_STRING:
        default:
            status = fetch_text(rows, i, &text);
            if (status != STATUS_OK)
                return status;
            memcpy(row + column->offset, &text, sizeof(text));
            break;
        }
    }
    for (size_t i = 0; i < prepared->text.left_out_count; i++)
        memset(row + prepared->text.left_out[i], 0, sizeof(int64_t));
    return STATUS_OK;
}

bool mariadb_fetch(struct db_rows *rows, void *ret_row)
{
    int answer = mysql_stmt_fetch(rows->prepared->handle);

    if (answer == 0 || answer == MYSQL_DATA_TRUNCATED)
        rows->status = take_row(rows, ret_row);
    else if (answer != MYSQL_NO_DATA)
        rows->status = mariadb_note(rows->db, "fetch", mysql_stmt_errno(rows->prepared->handle),
                                    mysql_stmt_error(rows->prepared->handle), false);
    return answer != MYSQL_NO_DATA;
}
