/* SPDX-License-Identifier: Apache-2.0 */
/* A statement's life on a connection: prepared when it is first used (on a cluster, when the
 * connection is opened), once for each size of its list, and kept; bound to values, in one row of
 * them or in many, and executed; its rows fetched.
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

void mariadb_prepared_free(struct db_prepared *prepared)
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
                             db->facts.columns.count == 0 ? NULL : &db->facts.columns,
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
    mariadb_prepared_free(prepared);
    return status;
}

/* The statement for a list of that many elements, at the beginning of a command. */
static enum status find_prepared(struct db *db, enum statement statement, size_t list_count,
                                 struct db_prepared **ret_prepared)
{
    size_t size_index = statement_size_index(list_count);
    struct db_prepared **prepared = &db->prepared[statement][size_index];
    enum status status = mariadb_check(db);

    if (status == STATUS_OK && *prepared == NULL)
        status = mariadb_read_answers(db);
    if (status == STATUS_OK && *prepared == NULL)
        status =
            prepare(db, statement_definition(statement), statement_list_size(size_index), prepared);
    *ret_prepared = *prepared;
    return status;
}

/* The same, for executing it: what waits is written first, and what locks or writes begins a
 * transaction if none has begun. */
static enum status make_ready(struct db *db, enum statement statement, size_t list_count,
                              struct db_prepared **ret_prepared)
{
    enum status status = find_prepared(db, statement, list_count, ret_prepared);

    if (status != STATUS_OK)
        return status;
    must(*ret_prepared != NULL);
    status = mariadb_settle(db);
    if (status != STATUS_OK || (*ret_prepared)->only_reads)
        return status;
    db->turn++;
    if ((*ret_prepared)->results == NULL)
        status = mariadb_mark_part(db);
    return status == STATUS_OK ? mariadb_begin(db) : status;
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

    if (!db->facts.is_cluster || !db->keeps_token)
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

    return find_prepared(db, statement, list_count, &prepared);
}

enum status db_try(struct db *db, const struct statement_definition *definition)
{
    struct db_prepared *prepared = NULL;
    enum status status = mariadb_before_command(db);

    if (status == STATUS_OK)
        status = prepare(db, definition, 1, &prepared);
    mariadb_prepared_free(prepared);
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
    return db->facts.packet_bytes - PACKET_HEAD_BYTES;
}

/* What is executed at a time: rows of values, of whose lists a part is taken. */
struct execution {
    const char *values;
    size_t values_size, row_count;
    bool in_bulk;
    size_t list_from, list_count;
};

static const char *value_at(const struct execution *execution, size_t row,
                            const struct statement_parameter *parameter)
{
    return execution->values + row * execution->values_size + parameter->offset;
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
    return value_text(db->scratch, text, db->facts.bytes_per_character, parameter->most);
}

/* A parameter of all rows: the array form of a binding, of which a single row is the plain form
 * (but for texts, where the array is one of pointers). */
static enum status bind_texts(struct db *db, const struct execution *execution,
                              const struct statement_parameter *parameter, MYSQL_BIND *bind)
{
    size_t count = execution->row_count;
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
    double *reals = arena_alloc_array(db->scratch, execution->row_count, sizeof(reals[0]));

    if (reals == NULL)
        return mariadb_lacks_memory(db);
    for (size_t row = 0; row < execution->row_count; row++)
        reals[row] = real_of(execution, row, parameter);
    bind->buffer_type = MYSQL_TYPE_DOUBLE;
    bind->buffer = reals;
    return STATUS_OK;
}

static enum status bind_integers(struct db *db, const struct execution *execution,
                                 const struct statement_parameter *parameter, MYSQL_BIND *bind)
{
    int64_t *integers = arena_alloc_array(db->scratch, execution->row_count, sizeof(integers[0]));

    if (integers == NULL)
        return mariadb_lacks_memory(db);
    for (size_t row = 0; row < execution->row_count; row++)
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
    case DB_ROW: /* never a parameter itself */
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
    unsigned array_size = execution->in_bulk ? (unsigned)execution->row_count : 0;
    enum status status = binds == NULL ? mariadb_lacks_memory(db) : STATUS_OK;

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

static enum status execute(struct db *db, enum statement statement, struct db_prepared *prepared,
                           const struct execution *execution)
{
    enum status status = bind_parameters(db, prepared, execution);

    if (status == STATUS_OK)
        status = mariadb_execute(db, statement, prepared);
    if (status == STATUS_OK)
        db->inserted_id = (int64_t)mysql_stmt_insert_id(prepared->handle);
    arena_reset(db->scratch);
    return status;
}

/* The same without waiting for the answer. */
static enum status send(struct db *db, enum statement statement, struct db_prepared *prepared,
                        const struct execution *execution, uint64_t meant)
{
    enum status status = bind_parameters(db, prepared, execution);

    if (status == STATUS_OK)
        status = mariadb_make_room(db, prepared);
    if (status == STATUS_OK)
        status = mariadb_send_statement(db, statement, prepared, meant);
    arena_reset(db->scratch);
    return status;
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

enum status db_read_ids(struct id_cursor *rows, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct id_row row = {.id = 0};
    size_t count = 0;

    while (count < most && DB_NEXT(rows, &row))
        ret_ids[count++] = row.id;
    *ret_count = count;
    return DB_END(rows);
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

/* How long the statement's lists are; 1 where it has none. */
static enum status measure_lists(struct db *db, const struct statement_definition *definition,
                                 const char *values, size_t *ret_count)
{
    const struct db_member *first = statement_list(definition);
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

static size_t part_of(size_t list_count, size_t from)
{
    return list_count - from < DB_LIST_MOST ? list_count - from : DB_LIST_MOST;
}

/* How many rows are meant by one row of values: the different ids of its list, which rise. */
uint64_t mariadb_rows_meant(const struct statement_definition *definition, const char *values)
{
    const struct db_member *member = statement_list(definition);
    struct db_ids list;
    uint64_t meant = 0;

    if (member == NULL)
        return 1;
    memcpy(&list, values + member->offset, sizeof(list));
    for (size_t i = 0; i < list.count; i++)
        meant += i == 0 || list.items[i - 1] != list.items[i];
    return meant;
}

static enum status check_count(struct db *db, const struct statement_definition *definition,
                               uint64_t affected, uint64_t meant)
{
    if (definition->count != COUNT_ALL || affected >= meant)
        return STATUS_OK;
    mariadb_note_own(db, "statement %s: %" PRIu64 " rows of %" PRIu64, definition->name, affected,
                     meant);
    return STATUS_DB_RETRY;
}

enum status db_run(struct db *db, enum statement statement, const void *values,
                   uint64_t *ret_affected)
{
    const struct statement_definition *definition = statement_definition(statement);
    uint64_t affected = 0;
    size_t count;
    enum status status = measure_lists(db, definition, values, &count);

    must(definition->count != COUNT_ASKED || ret_affected != NULL);

    for (size_t from = 0; status == STATUS_OK && from < count; from += DB_LIST_MOST) {
        struct execution execution = {.values = values,
                                      .row_count = 1,
                                      .list_from = from,
                                      .list_count = part_of(count, from)};
        struct db_prepared *prepared;

        status = make_ready(db, statement, execution.list_count, &prepared);
        if (status == STATUS_OK)
            status = execute(db, statement, prepared, &execution);
        if (status == STATUS_OK)
            affected += mysql_stmt_affected_rows(prepared->handle);
    }
    if (status == STATUS_OK)
        status = check_count(db, definition, affected, mariadb_rows_meant(definition, values));
    if (status == STATUS_OK && ret_affected != NULL)
        *ret_affected = affected;
    return status;
}

enum status db_run_ahead(struct db *db, enum statement statement, const void *values)
{
    const struct statement_definition *definition = statement_definition(statement);
    struct execution execution = {.values = values, .row_count = 1};
    struct db_prepared *prepared;
    enum status status = measure_lists(db, definition, values, &execution.list_count);

    must(definition->count != COUNT_ASKED);
    if (status != STATUS_OK)
        return status;
    if (!db_sends_ahead(db) || execution.list_count == 0 || execution.list_count > DB_LIST_MOST)
        return db_run(db, statement, values, NULL);
    status = make_ready(db, statement, execution.list_count, &prepared);
    return status == STATUS_OK
               ? send(db, statement, prepared, &execution,
                      definition->count == COUNT_ALL ? mariadb_rows_meant(definition, values)
                                                     : DB_ANY_COUNT)
               : status;
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

/* How many of the rows go into one packet, which the server has to take. */
static size_t bulk_rows(const struct db *db, const struct statement_definition *definition,
                        const char *values, size_t values_size, size_t row_count, size_t list_size)
{
    const size_t room = packet_room(db), most = room < DB_BULK_BYTES ? room : DB_BULK_BYTES;
    size_t bytes = 0, end = 0;

    while (end < row_count && end < DB_BULK_ROWS) {
        bytes += row_bytes(definition, values + end * values_size, list_size);
        if (end > 0 && bytes > most)
            break;
        end++;
    }
    return end;
}

/* On a cluster row by row: an array in which another node's write set aborts the transaction may be
 * answered as if nothing had happened. */
enum status db_run_bulk(struct db *db, enum statement statement, const void *values,
                        size_t values_size, size_t row_count, uint64_t *ret_affected)
{
    const struct statement_definition *definition = statement_definition(statement);
    const bool in_bulk = !db->facts.is_cluster && definition->count != COUNT_SINGLY;
    const char *row = values;
    uint64_t affected = 0;
    enum status status;

    must(definition->count != COUNT_ASKED || ret_affected != NULL);
    for (size_t left = row_count; left > 0;) {
        size_t rows = in_bulk ? bulk_rows(db, definition, row, values_size, left, 1) : 1;
        struct execution execution = {.values = row,
                                      .values_size = values_size,
                                      .row_count = rows,
                                      .in_bulk = in_bulk,
                                      .list_count = 1};
        struct db_prepared *prepared;

        status = make_ready(db, statement, 1, &prepared);
        if (status == STATUS_OK)
            status = execute(db, statement, prepared, &execution);
        if (status != STATUS_OK)
            return status;
        affected += mysql_stmt_affected_rows(prepared->handle);
        row += rows * values_size;
        left -= rows;
    }
    status = check_count(db, definition, affected, row_count);
    if (status != STATUS_OK)
        return status;
    if (ret_affected != NULL)
        *ret_affected = affected;
    return STATUS_OK;
}

/* In one packet. `list_most`: elements of the longest list. */
static enum status send_bulk(struct db *db, enum statement statement, const void *values,
                             size_t values_size, size_t row_count, size_t list_most, uint64_t meant)
{
    const struct execution execution = {.values = values,
                                        .values_size = values_size,
                                        .row_count = row_count,
                                        .in_bulk = row_count > 1,
                                        .list_count = list_most};
    struct db_prepared *prepared;
    enum status status = make_ready(db, statement, list_most, &prepared);

    return status == STATUS_OK ? send(db, statement, prepared, &execution, meant) : status;
}

enum status db_run_bulk_ahead(struct db *db, enum statement statement, const void *values,
                              size_t values_size, size_t row_count, uint64_t *ret_affected)
{
    const struct statement_definition *definition = statement_definition(statement);
    enum status status;

    must(definition->count != COUNT_SINGLY);
    if (!db_sends_ahead(db) || row_count == 0 ||
        bulk_rows(db, definition, values, values_size, row_count, 1) < row_count)
        return db_run_bulk(db, statement, values, values_size, row_count, ret_affected);
    status = send_bulk(db, statement, values, values_size, row_count, 1, row_count);
    if (status == STATUS_OK && ret_affected != NULL)
        *ret_affected = row_count;
    return status;
}

/* The longest list of the rows of values; 1 where they have none. */
static enum status measure_rows(struct db *db, const struct statement_definition *definition,
                                const char *values, size_t values_size, size_t row_count,
                                size_t *ret_most)
{
    enum status status = STATUS_OK;

    *ret_most = 1;
    for (size_t i = 0; status == STATUS_OK && i < row_count; i++) {
        size_t count;

        status = measure_lists(db, definition, values + i * values_size, &count);
        *ret_most = count > *ret_most ? count : *ret_most;
    }
    return status;
}

enum status mariadb_run_rows(struct db *db, enum statement statement, const void *values,
                             size_t values_size, size_t row_count, uint64_t meant)
{
    const struct statement_definition *definition = statement_definition(statement);
    uint64_t affected = 0;
    size_t list_most;
    enum status status = measure_rows(db, definition, values, values_size, row_count, &list_most);

    must(row_count > 0);
    if (status == STATUS_OK && db_sends_ahead(db) && list_most <= DB_LIST_MOST &&
        bulk_rows(db, definition, values, values_size, row_count,
                  statement_list_size(statement_size_index(list_most))) == row_count)
        return send_bulk(db, statement, values, values_size, row_count, list_most, meant);
    for (size_t i = 0; status == STATUS_OK && i < row_count; i++) {
        uint64_t rows = 0;

        status = db_run(db, statement, (const char *)values + i * values_size, &rows);
        affected += rows;
    }
    if (status != STATUS_OK || affected == meant)
        return status;
    mariadb_note_own(db, "statement %s: %" PRIu64 " rows of %" PRIu64, definition->name, affected,
                     meant);
    return STATUS_DB_RETRY;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Reads all rows of the answer into the client. */
static enum status store_rows(struct db_rows *rows, struct db_prepared *prepared)
{
    uint64_t begun_ns = clock_ns();
    bool failed = mysql_stmt_store_result(prepared->handle) != 0;

    mariadb_add_wait(rows->db, begun_ns);
    return failed ? mariadb_note_statement(rows->db, statement_definition(rows->statement),
                                           prepared->handle)
                  : STATUS_OK;
}

/* Whether the rows are those that were asked for ahead. Nobody gets them twice. */
static bool take_answered(const struct db *db, struct db_prepared *prepared, const void *values,
                          size_t values_size)
{
    bool is_answered = prepared->answered_turn == db->turn &&
                       memcmp(prepared->answered_values, values, values_size) == 0;

    prepared->answered_turn = 0;
    return is_answered;
}

enum status db_query_ahead(struct db *db, enum statement statement, const void *values,
                           size_t values_size)
{
    const struct execution execution = {.values = values, .row_count = 1, .list_count = 1};
    struct db_prepared *prepared;
    enum status status;

    must(statement_list(statement_definition(statement)) == NULL && values_size <= DB_QUERY_BYTES);
    if (!db_sends_ahead(db))
        return STATUS_OK;
    status = make_ready(db, statement, 1, &prepared);
    if (status == STATUS_OK)
        status = send(db, statement, prepared, &execution, DB_ANY_COUNT);
    if (status != STATUS_OK)
        return status;
    must(prepared->only_reads);
    memcpy(prepared->answered_values, values, values_size);
    prepared->answered_turn = db->turn;
    return STATUS_OK;
}

/* Asks for the next part of the list. `values_size`: 0 behind the first part. */
static enum status query_part(struct db_rows *rows, const void *values, size_t values_size)
{
    struct execution execution = {.values = values,
                                  .row_count = 1,
                                  .list_from = rows->next,
                                  .list_count = part_of(rows->list_count, rows->next)};
    struct db_prepared *prepared;
    enum status status = make_ready(rows->db, rows->statement, execution.list_count, &prepared);

    if (status == STATUS_OK) {
        if (values_size > 0 && take_answered(rows->db, prepared, values, values_size)) {
            status = mariadb_read_answers(rows->db);
        } else {
            status = execute(rows->db, rows->statement, prepared, &execution);
            if (status == STATUS_OK)
                status = store_rows(rows, prepared);
        }
    }
    rows->status = status;
    if (status != STATUS_OK)
        return status;
    rows->next += execution.list_count;
    rows->prepared = prepared;
    rows->row_count = mysql_stmt_num_rows(prepared->handle);
    rows->is_cut = mysql_stmt_warning_count(prepared->handle) > 0;
    return STATUS_OK;
}

enum status db_query(struct db *db, enum statement statement, const void *values,
                     size_t values_size, struct arena *arena, struct db_rows *ret_rows)
{
    size_t count;
    enum status status = measure_lists(db, statement_definition(statement), values, &count);

    ret_rows->db = db;
    ret_rows->prepared = NULL;
    ret_rows->arena = arena;
    ret_rows->statement = statement;
    ret_rows->row_count = 0;
    ret_rows->is_cut = false;
    ret_rows->next = 0;
    ret_rows->list_count = count;
    ret_rows->status = status;
    if (status != STATUS_OK || count == 0)
        return status;
    if (count > DB_LIST_MOST)
        memcpy(ret_rows->values.bytes, values, values_size);
    return query_part(ret_rows, values, values_size);
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
    return STATUS_OK;
}

/* Fetches from the part at hand; false at its end. */
static bool next_of_part(struct db_rows *rows, void *ret_row)
{
    int answer = mysql_stmt_fetch(rows->prepared->handle);

    if (answer == 0 || answer == MYSQL_DATA_TRUNCATED)
        rows->status = take_row(rows, ret_row);
    else if (answer != MYSQL_NO_DATA)
        rows->status = mariadb_note(rows->db, "fetch", mysql_stmt_errno(rows->prepared->handle),
                                    mysql_stmt_error(rows->prepared->handle), false);
    return answer != MYSQL_NO_DATA;
}

bool db_rows_next(struct db_rows *rows, void *ret_row)
{
    while (rows->prepared != NULL && rows->status == STATUS_OK) {
        if (next_of_part(rows, ret_row)) {
            if (rows->status == STATUS_OK)
                return true;
            break;
        }
        (void)db_rows_end(rows);
        if (rows->next < rows->list_count)
            (void)query_part(rows, rows->values.bytes, 0);
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

enum status db_one(struct db *db, enum statement statement, const void *values, size_t values_size,
                   struct arena *arena, void *ret_row)
{
    struct db_rows rows;
    enum status status = db_query(db, statement, values, values_size, arena, &rows);
    bool found;

    if (status != STATUS_OK)
        return status;
    found = db_rows_next(&rows, ret_row);
    status = db_rows_end(&rows);
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

static void *grown(struct arena *arena, const void *items, size_t count, size_t room, size_t size)
{
    void *copy = arena_alloc_array(arena, room, size);

    if (copy != NULL)
        memcpy(copy, items, count * size);
    return copy;
}

enum status db_all(struct db *db, enum statement statement, const void *values, size_t values_size,
                   struct arena *arena, void *ret_items, size_t *ret_count)
{
    char *items;
    size_t count = 0, room, size = 0;
    struct db_rows rows;
    enum status status = db_query(db, statement, values, values_size, arena, &rows);

    if (status != STATUS_OK)
        return status;
    /* Most lists bring a row for each of their elements at most. */
    room = rows.list_count > DB_LIST_MOST ? rows.list_count : rows.row_count;
    if (rows.prepared != NULL)
        size = rows.prepared->text.row_size;
    items = arena_alloc_array(arena, room + 1, size); /* the last is only looked into */
    while (items != NULL && db_rows_next(&rows, items + size * count)) {
        if (++count > room) { /* a row of another part, at least */
            room = 2 * (count + rows.row_count);
            items = grown(arena, items, count, room + 1, size);
        }
    }
    status = db_rows_end(&rows);
    if (status == STATUS_OK && items == NULL)
        status = STATUS_TOO_LARGE;
    if (status != STATUS_OK)
        return status;
    memcpy(ret_items, &items, sizeof(items)); /* whatever it points to */
    *ret_count = count;
    return STATUS_OK;
}
