/* SPDX-License-Identifier: Apache-2.0 */
/* Writes statements out. The notation is that of statements.def; a mistake in it is found by the
 * test that prepares every statement, and costs the statement, not the process. */
#include "db/statement.h"

#include "db/db.h"
#include "server/base/buffer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static const struct {
    const char *name, *sql;
} statements[STATEMENT_COUNT] = {
#define STATEMENT(name, sql) [STATEMENT_##name] = {#name, sql},
#include "db/admin.def"
#include "db/files.def"
#include "db/statements.def"
#undef STATEMENT
};

static const struct {
    const char *name;
    int64_t number;
} states[] = {
#define STATE(group, name, number, word) {#group "_" #name, number},
#include "db/states.def"
#undef STATE
};

static const size_t list_sizes[STATEMENT_SIZES] = {1, 4, 16, 64, DB_LIST_MOST};

#define PARAMETERS_MOST (2 * DB_LIST_MOST + 256)

/* One writing-out under way. */
struct expansion {
    const char *name, *source;
    size_t list_size;
    const struct actual_columns *columns; /* NULL: everything is there */
    struct buffer sql;
    struct statement_parameter *parameters;
    size_t parameter_count, value_count;
    struct failure *failure;
};

size_t statement_list_size(size_t size_index)
{
    return list_sizes[size_index];
}

size_t statement_size_index(size_t element_count)
{
    size_t index = 0;

    while (index + 1 < STATEMENT_SIZES && list_sizes[index] < element_count)
        index++;
    return index;
}

const char *statement_name(enum statement statement)
{
    return statements[statement].name;
}

const char *statement_source(enum statement statement)
{
    return statements[statement].sql;
}

bool statement_has_list(enum statement statement)
{
    return strstr(statements[statement].sql, "{list}") != NULL;
}

static enum status mistake(struct expansion *x, const char *at, size_t length, const char *what)
{
    return fail(x->failure, STATUS_DB_BUG, "statement %s: {%.*s}: %s", x->name, (int)length, at,
                what);
}

static enum status add_parameter(struct expansion *x, struct statement_parameter parameter)
{
    if (x->parameter_count == PARAMETERS_MOST)
        return fail(x->failure, STATUS_DB_BUG, "statement %s: too many parameters", x->name);
    parameter.value = x->value_count;
    x->parameters[x->parameter_count++] = parameter;
    buffer_add_char(&x->sql, '?');
    return STATUS_OK;
}

static bool is_missing(const struct expansion *x, const struct row_table *table,
                       const struct row_column *column)
{
    return x->columns != NULL &&
           actual_column_find(x->columns, table->table, column->name, strlen(column->name)) == NULL;
}

static void add_select_column(struct expansion *x, const struct row_table *table,
                              const struct row_column *column)
{
    if (!is_missing(x, table, column))
        buffer_print(&x->sql, "%s.%s", table->table, column->name);
    else
        buffer_add_string(&x->sql, column->type == COLUMN_STRING ? "''" : "0");
}

static void add_row(struct expansion *x, const struct row_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (i > 0)
            buffer_add_string(&x->sql, ", ");
        add_select_column(x, table, &table->columns[i]);
    }
}

/* Whether `name` stands in the text as a word of its own. */
static bool text_names(const char *text, size_t text_length, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i + length <= text_length; i++) {
        if (memcmp(text + i, name, length) != 0)
            continue;
        if (i > 0 && (isalnum((unsigned char)text[i - 1]) || text[i - 1] == '_'))
            continue;
        if (i + length == text_length ||
            (!isalnum((unsigned char)text[i + length]) && text[i + length] != '_'))
            return true;
    }
    return false;
}

/* {set ROW except A B} */
static enum status add_set(struct expansion *x, const char *at, size_t length)
{
    size_t row_length = strcspn(at, " }");
    const char *except = at + row_length;
    size_t except_length = length - row_length;
    const struct row_table *table = row_table_find(at, row_length);
    bool first = true;

    if (table == NULL)
        return mistake(x, at, length, "no such row");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        const struct actual_column *actual = NULL;
        struct statement_parameter parameter = {
            .source = PARAMETER_COLUMN, .index = i, .column = column};
        enum status status;

        if (text_names(except, except_length, column->name) || is_missing(x, table, column))
            continue;
        if (x->columns != NULL)
            actual =
                actual_column_find(x->columns, table->table, column->name, strlen(column->name));
        parameter.kind = actual != NULL ? actual->kind : ACTUAL_TEXT;
        parameter.bytes_max = actual != NULL ? actual->bytes_max : DB_TEXT_MOST;
        buffer_print(&x->sql, "%s%s = ", first ? "" : ", ", column->name);
        status = add_parameter(x, parameter);
        if (status != STATUS_OK)
            return status;
        first = false;
    }
    x->value_count++;
    return STATUS_OK;
}

static void add_required(struct expansion *x, const char *table, size_t table_length)
{
    if (x->columns == NULL)
        return;
    for (size_t i = 0; i < x->columns->count; i++) {
        const struct actual_column *column = &x->columns->items[i];
        const char *value = "0";

        if (!column->required || strlen(column->table) != table_length ||
            memcmp(column->table, table, table_length) != 0 ||
            text_names(x->source, strlen(x->source), column->name) ||
            text_names(x->sql.at, x->sql.length, column->name))
            continue;
        if (column->kind == ACTUAL_TEXT || column->kind == ACTUAL_BYTES)
            value = "''";
        else if (column->kind == ACTUAL_TIME)
            value = "CURRENT_TIMESTAMP";
        buffer_print(&x->sql, ", `%s` = %s", column->name, value);
    }
}

/* Whether the database has "TABLE.COLUMN", be it one of our rows' or not. */
static bool has_column(const struct expansion *x, const char *at, size_t length)
{
    const char *dot = memchr(at, '.', length);

    for (size_t i = 0; x->columns != NULL && dot != NULL && i < x->columns->count; i++) {
        const struct actual_column *column = &x->columns->items[i];

        if (strlen(column->table) == (size_t)(dot - at) &&
            memcmp(column->table, at, (size_t)(dot - at)) == 0 &&
            strlen(column->name) == length - (size_t)(dot - at) - 1 &&
            memcmp(column->name, dot + 1, strlen(column->name)) == 0)
            return true;
    }
    return x->columns == NULL;
}

/* "RESULT_UNSENT" */
static bool add_state(struct expansion *x, const char *at, size_t length)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (strlen(states[i].name) == length && memcmp(states[i].name, at, length) == 0) {
            buffer_print(&x->sql, "%" PRId64, states[i].number);
            return true;
        }
    }
    return false;
}

/* The optional column that "TABLE.COLUMN" names. */
static enum status find_column(struct expansion *x, const char *at, size_t length,
                               const struct row_table **ret_table,
                               const struct row_column **ret_column)
{
    const char *dot = memchr(at, '.', length);

    for (size_t i = 0; dot != NULL && i < ROW_COUNT; i++) {
        const struct row_table *table = &row_tables[i];

        if (strlen(table->table) != (size_t)(dot - at) ||
            memcmp(table->table, at, (size_t)(dot - at)) != 0)
            continue;
        *ret_column = row_column_find(table, dot + 1, length - (size_t)(dot - at) - 1);
        *ret_table = table;
        if (*ret_column != NULL)
            return STATUS_OK;
    }
    return mistake(x, at, length, "no such column");
}

static enum status expand(struct expansion *x, const char *at, size_t length);

static enum status expand_braces(struct expansion *x, const char *at, size_t length)
{
    const struct row_table *table = row_table_find(at, length);
    const struct row_column *column = NULL;
    enum status status = STATUS_OK;

    if (table != NULL) {
        add_row(x, table);
    } else if (length == 4 && memcmp(at, "list", 4) == 0) {
        for (size_t i = 0; i < x->list_size && status == STATUS_OK; i++) {
            if (i > 0)
                buffer_add_string(&x->sql, ", ");
            status = add_parameter(
                x, (struct statement_parameter){.source = PARAMETER_ELEMENT, .index = i});
        }
        x->value_count++;
    } else if (length > 4 && memcmp(at, "set ", 4) == 0) {
        status = add_set(x, at + 4, length - 4);
    } else if (length > 9 && memcmp(at, "required ", 9) == 0) {
        add_required(x, at + 9, length - 9);
    } else if (length > 3 && memcmp(at, "if ", 3) == 0) {
        const char *bar = memchr(at, '|', length);
        size_t inner = bar == NULL ? 0 : length - (size_t)(bar - at) - 1;

        if (bar == NULL)
            return mistake(x, at, length, "has no |");
        if (has_column(x, at + 3, (size_t)(bar - at) - 3))
            return expand(x, bar + 1, inner);
        for (size_t i = 0; i < inner; i++) /* values of what is left out are passed over */
            x->value_count += bar[1 + i] == '?';
    } else if (!add_state(x, at, length)) {
        status = find_column(x, at, length, &table, &column);
        if (status == STATUS_OK)
            add_select_column(x, table, column);
    }
    return status;
}

static enum status expand(struct expansion *x, const char *at, size_t length)
{
    const char *end = at + length;
    enum status status = STATUS_OK;

    while (at < end && status == STATUS_OK) {
        if (*at == '?') {
            status = add_parameter(x, (struct statement_parameter){.source = PARAMETER_VALUE});
            x->value_count++;
            at++;
        } else if (*at == '{') {
            const char *close = memchr(at, '}', (size_t)(end - at));

            if (close == NULL)
                return mistake(x, at + 1, (size_t)(end - at) - 1, "is not closed");
            status = expand_braces(x, at + 1, (size_t)(close - at) - 1);
            at = close + 1;
        } else {
            buffer_add_char(&x->sql, *at++);
        }
    }
    return status;
}

/* A connection keeps some hundred statements, of which most have few parameters. */
static struct statement_parameter *fitting(struct statement_parameter *parameters, size_t count)
{
    size_t kept = count > 0 ? count : 1;
    struct statement_parameter *fitted = realloc(parameters, kept * sizeof(parameters[0]));

    return fitted != NULL ? fitted : parameters;
}

enum status statement_expand(enum statement statement, size_t list_size,
                             const struct actual_columns *columns, struct statement_text *ret_text,
                             struct failure *failure)
{
    struct expansion x = {.name = statements[statement].name,
                          .source = statements[statement].sql,
                          .list_size = list_size,
                          .columns = columns,
                          .sql = buffer_on_heap(64 * 1024),
                          .failure = failure};
    enum status status;

    x.parameters = calloc(PARAMETERS_MOST, sizeof(x.parameters[0]));
    if (x.parameters == NULL)
        return fail(failure, STATUS_NO_MEMORY, "statement %s: no memory", x.name);
    status = expand(&x, x.source, strlen(x.source));
    buffer_add_char(&x.sql, '\0');
    if (status == STATUS_OK && x.sql.overflowed)
        status = fail(failure, STATUS_NO_MEMORY, "statement %s: no memory", x.name);
    if (status != STATUS_OK) {
        free(x.parameters);
        buffer_free(&x.sql);
        return status;
    }
    *ret_text = (struct statement_text){.sql = x.sql.at,
                                        .parameters = fitting(x.parameters, x.parameter_count),
                                        .parameter_count = x.parameter_count,
                                        .value_count = x.value_count};
    return STATUS_OK;
}

void statement_text_free(struct statement_text *text)
{
    free(text->sql);
    free(text->parameters);
    *text = (struct statement_text){0};
}

void statement_print_all(const struct actual_columns *columns, struct buffer *ret_text)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        struct statement_text text;
        struct failure failure = {0};

        if (statement_expand((enum statement)i, 4, columns, &text, &failure) == STATUS_OK) {
            buffer_print(ret_text, "%s: ", statements[i].name);
            buffer_add_string(ret_text, text.sql);
            buffer_add_string(ret_text, ";\n");
            statement_text_free(&text);
        } else {
            buffer_print(ret_text, "%s\n", failure.text);
        }
    }
}

void db_print_sql(struct buffer *ret_text)
{
    statement_print_all(NULL, ret_text);
}
