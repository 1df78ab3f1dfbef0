/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of statements, and the writing-out. The notation is that of statements.def; a mistake
 * in it is found by the test that prepares every statement, and costs the statement, not the
 * process. */
#include "db/statement.h"

#include "db/db.h"
#include "db/files.h"
#include "server/base/buffer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/base/banned.h"

/* --- the tables ---------------------------------------------------------------------------- */

/* A function for each row type and statement: so that `here` may stand for its own struct, whose
 * members the table names. */
#define TABLE(row_, table)                                                                      \
    static const struct db_row_type *rows_##row_(void)                                          \
    {                                                                                           \
        static const struct db_member columns[] = {{.name = #row_, DB_ROW, .row = ROW_##row_},  \
                                                   {.name = NULL}};                             \
        static const struct db_row_type type = {#row_, "", columns, sizeof(struct row_##_row)}; \
                                                                                                \
        return &type;                                                                           \
    }
#define COLUMN(row, column, type, presence, explanation)
#define END_TABLE(row)
#include "db/columns.def"
#undef TABLE
#undef COLUMN
#undef END_TABLE

#define ROWS(name_, columns_, sql_)                                                   \
    static const struct db_row_type *rows_##name_(void)                               \
    {                                                                                 \
        typedef struct name_##_row here;                                              \
        static const struct db_member columns[] = {columns_{.name = NULL}};           \
        static const struct db_row_type type = {#name_, sql_, columns, sizeof(here)}; \
                                                                                      \
        return &type;                                                                 \
    }
#define ID(name)      {#name, DB_ID, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define INTEGER(name) {#name, DB_INTEGER, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define REAL(name)    {#name, DB_REAL, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define STRING(name)  {#name, DB_STRING, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define ROW(row)      {#row, DB_ROW, offsetof(here, row), 0, ROW_##row, SUBJECT_ANY},
#include "db/every_statement.def"

static const struct db_row_type *(*const row_types[])(void) = {
#define ROWS(name, columns, sql) rows_##name,
#include "db/every_statement.def"
#define TABLE(row, table) rows_##row,
#define COLUMN(row, column, type, presence, explanation)
#define END_TABLE(row)
#include "db/columns.def"
#undef TABLE
#undef COLUMN
#undef END_TABLE
};

#define DEFINITION(name_, rows_, count_, latest_, sql_, ...)                                  \
    static const struct statement_definition *define_##name_(void)                            \
    {                                                                                         \
        typedef struct name_##_values here;                                                   \
        static const struct db_member values[] = {__VA_ARGS__{.name = NULL}};                 \
        static const struct statement_definition definition = {#name_,  sql_,     values,     \
                                                               (rows_), (count_), (latest_)}; \
                                                                                              \
        (void)sizeof(here);                                                                   \
        return &definition;                                                                   \
    }
#define STATEMENT(name, count, values, sql) \
    DEFINITION(name, NULL, COUNT_##count, LATEST_NOW, sql, values)
#define LATER(name, count, latest, values, sql) \
    DEFINITION(name, NULL, COUNT_##count, LATEST_##latest, sql, values)
#define QUERY(name, rows, values, sql) \
    DEFINITION(name, rows_##rows, COUNT_SINGLY, LATEST_NOW, sql, values)
#define NONE
#define ID(name)      {#name, DB_ID, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define INTEGER(name) {#name, DB_INTEGER, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define REAL(name)    {#name, DB_REAL, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define STRING(name)  {#name, DB_STRING, offsetof(here, name), DB_TEXT_MOST, ROW_COUNT, SUBJECT_ANY},
#define LONG_STRING(name, most) \
    {#name, DB_STRING, offsetof(here, name), most, ROW_COUNT, SUBJECT_ANY},
#define BYTES(name, most) {#name, DB_BYTES, offsetof(here, name), most, ROW_COUNT, SUBJECT_ANY},
#define IDS(name)         {#name, DB_IDS, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define RISING_IDS(name)  {#name, DB_RISING_IDS, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define HOST(name)        {#name, DB_ID, offsetof(here, name), 0, ROW_COUNT, SUBJECT_HOST},
#define HOSTS(name)       {#name, DB_RISING_IDS, offsetof(here, name), 0, ROW_COUNT, SUBJECT_HOST},
#define WORKUNITS(name) \
    {#name, DB_RISING_IDS, offsetof(here, name), 0, ROW_COUNT, SUBJECT_WORKUNIT},
#define OF_WORKUNITS(name) \
    {#name, DB_SUBJECTS, offsetof(here, name), 0, ROW_COUNT, SUBJECT_WORKUNIT},
#define STRINGS(name) {#name, DB_STRINGS, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define BYTE_STRINGS(name) \
    {#name, DB_BYTE_STRINGS, offsetof(here, name), 0, ROW_COUNT, SUBJECT_ANY},
#define ROW(row) {#row, DB_ROW, offsetof(here, row), 0, ROW_##row, SUBJECT_ANY},
#include "db/every_statement.def"

static const struct statement_definition *(*const definitions[STATEMENT_COUNT])(void) = {
#define STATEMENT(name, count, values, sql)     [STATEMENT_##name] = define_##name,
#define LATER(name, count, latest, values, sql) [STATEMENT_##name] = define_##name,
#define QUERY(name, rows, values, sql)          [STATEMENT_##name] = define_##name,
#include "db/every_statement.def"
};

static const struct {
    const char *name, *sql;
} fragments[] = {
#define FRAGMENT(name, sql) {#name, sql},
#include "db/every_statement.def"
};

static const struct {
    const char *name;
    int64_t number;
} states[] = {
#define STATE(group, name, number, word) {#group "_" #name, number},
#include "db/states.def"
#undef STATE
};

const struct statement_definition *statement_definition(enum statement statement)
{
    return definitions[statement]();
}

bool db_type_is_list(enum db_type type)
{
    return type >= DB_IDS;
}

const struct db_member *statement_list(const struct statement_definition *definition)
{
    for (const struct db_member *value = definition->values; value->name != NULL; value++)
        if (db_type_is_list(value->type))
            return value;
    return NULL;
}

const struct db_member *statement_subject(const struct statement_definition *definition)
{
    for (const struct db_member *value = definition->values; value->name != NULL; value++)
        if (value->subject != SUBJECT_ANY)
            return value;
    return NULL;
}

bool statement_only_reads(const char *sql)
{
    static const char select[] = "SELECT ";

    while (*sql == '(')
        sql++;
    return strncmp(sql, select, sizeof(select) - 1) == 0 && strstr(sql, "FOR UPDATE") == NULL &&
           strstr(sql, "LOCK IN SHARE MODE") == NULL;
}

const char *statement_name(enum statement statement)
{
    return statement_definition(statement)->name;
}

/* --- writing out --------------------------------------------------------------------------- */

static const size_t list_sizes[STATEMENT_SIZES] = {1, 4, 16, 64, DB_LIST_MOST};

#define PARAMETERS_MOST (2 * DB_LIST_MOST + 256)
#define COLUMNS_MOST    256
#define VALUES_MOST     64 /* of one statement */

/* One writing-out under way. */
struct expansion {
    const struct statement_definition *definition;
    size_t list_size;
    const struct actual_columns *columns; /* NULL: everything is there */
    struct buffer sql;
    struct statement_parameter *parameters;
    size_t parameter_count;
    bool is_used[VALUES_MOST];
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

static enum status mistake(struct expansion *x, const char *at, size_t length, const char *what)
{
    return fail(x->failure, STATUS_DB_BUG, "statement %s: \"%.*s\": %s", x->definition->name,
                (int)length, at, what);
}

static enum status add_parameter(struct expansion *x, struct statement_parameter parameter)
{
    if (x->parameter_count == PARAMETERS_MOST)
        return fail(x->failure, STATUS_DB_BUG, "statement %s: too many parameters",
                    x->definition->name);
    x->parameters[x->parameter_count++] = parameter;
    buffer_add_char(&x->sql, '?');
    return STATUS_OK;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t word_length(const char *at, const char *end)
{
    size_t length = 0;

    while (at + length < end && is_word(at[length]))
        length++;
    return length;
}

static bool name_is(const char *name, const char *at, size_t length)
{
    return strlen(name) == length && memcmp(name, at, length) == 0;
}

/* The value of that name, which is used by this. NULL: there is none. */
static const struct db_member *use_value(struct expansion *x, const char *at, size_t length)
{
    const struct db_member *values = x->definition->values;

    for (size_t i = 0; i < VALUES_MOST && values[i].name != NULL; i++) {
        if (name_is(values[i].name, at, length)) {
            x->is_used[i] = true;
            return &values[i];
        }
    }
    return NULL;
}

/* :name */
static enum status add_value(struct expansion *x, const char *at, size_t length)
{
    const struct db_member *value = use_value(x, at, length);
    enum status status = STATUS_OK;
    bool is_list;

    if (value == NULL)
        return mistake(x, at - 1, length + 1, "no such value is declared");
    if (value->type == DB_ROW)
        return mistake(x, at - 1, length + 1, "is a row, for {set}");
    if (value->type == DB_SUBJECTS)
        return mistake(x, at - 1, length + 1, "is no part of the SQL");
    is_list = db_type_is_list(value->type);
    for (size_t i = 0; status == STATUS_OK && i < (is_list ? x->list_size : 1); i++) {
        if (i > 0)
            buffer_add_string(&x->sql, ", ");
        status = add_parameter(
            x, (struct statement_parameter){.source = is_list ? PARAMETER_ELEMENT : PARAMETER_VALUE,
                                            .type = value->type,
                                            .offset = value->offset,
                                            .index = i,
                                            .most = value->most});
    }
    return status;
}

/* What is selected as a column that is none. NULL: nobody says it. */
static const char *derivation(const struct row_table *table, const struct row_column *column)
{
    const size_t length = strlen(table->table);

    for (size_t i = 0; i < sizeof(fragments) / sizeof(fragments[0]); i++)
        if (strncmp(fragments[i].name, table->table, length) == 0 &&
            fragments[i].name[length] == '_' &&
            strcmp(fragments[i].name + length + 1, column->name) == 0)
            return fragments[i].sql;
    return NULL;
}

static bool is_missing(const struct expansion *x, const struct row_table *table,
                       const struct row_column *column)
{
    return x->columns != NULL &&
           actual_column_find(x->columns, table->table, column->name, strlen(column->name)) == NULL;
}

static bool is_left_out(const struct expansion *x, const struct row_column *column)
{
    return x->columns != NULL && x->columns->without_derived && row_column_is_derived(column);
}

/* The column, or what stands for it where it is missing or left out; in a select list that is
 * called as the column is. */
static void add_select_column(struct expansion *x, const struct row_table *table,
                              const struct row_column *column, bool in_list)
{
    if (row_column_is_derived(column) && !is_left_out(x, column))
        buffer_print(&x->sql, "(%s)%s%s", derivation(table, column), in_list ? " AS " : "",
                     in_list ? column->name : "");
    else if (!row_column_is_derived(column) && !is_missing(x, table, column))
        buffer_print(&x->sql, "%s.%s", table->table, column->name);
    else
        buffer_print(&x->sql, "%s%s%s", column->type == COLUMN_STRING ? "''" : "0",
                     in_list ? " AS " : "", in_list ? column->name : "");
}

static void add_row(struct expansion *x, const struct row_table *table)
{
    for (size_t i = 0, selected = 0; i < table->column_count; i++) {
        if (is_left_out(x, &table->columns[i]))
            continue;
        if (selected++ > 0)
            buffer_add_string(&x->sql, ", ");
        add_select_column(x, table, &table->columns[i], true);
    }
}

/* Whether `name` stands in the text as a word of its own, and not as that of a value. */
static bool text_names(const char *text, size_t text_length, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i + length <= text_length; i++) {
        if (memcmp(text + i, name, length) != 0)
            continue;
        if (i > 0 && (is_word(text[i - 1]) || text[i - 1] == ':'))
            continue;
        if (i + length == text_length || !is_word(text[i + length]))
            return true;
    }
    return false;
}

/* How a column of a row is bound: as its type says, and a text as that of the database's column. */
static struct statement_parameter column_parameter(const struct row_column *column,
                                                   const struct actual_column *actual)
{
    static const enum db_type types[] = {[COLUMN_ID] = DB_ID,
                                         [COLUMN_INTEGER] = DB_INTEGER,
                                         [COLUMN_REAL] = DB_REAL,
                                         [COLUMN_STRING] = DB_STRING};
    struct statement_parameter parameter = {.source = PARAMETER_COLUMN,
                                            .type = types[column->type],
                                            .column = column,
                                            .most = DB_TEXT_MOST};

    if (actual != NULL) {
        parameter.most = actual->bytes_max;
        if (column->type == COLUMN_STRING && actual->kind == ACTUAL_BYTES)
            parameter.type = DB_BYTES;
    }
    return parameter;
}

/* {set ROW except A B} */
static enum status add_set(struct expansion *x, const char *at, size_t length)
{
    size_t row_length = word_length(at, at + length);
    const char *except = at + row_length;
    const struct row_table *table = row_table_find(at, row_length);
    const struct db_member *value = use_value(x, at, row_length);
    enum status status = STATUS_OK;
    bool first = true;

    if (table == NULL || value == NULL || value->type != DB_ROW)
        return mistake(x, at, length, "no such row is declared");
    for (size_t i = 0; status == STATUS_OK && i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        const struct actual_column *actual = NULL;
        struct statement_parameter parameter;

        if (text_names(except, length - row_length, column->name))
            continue;
        if (x->columns != NULL) {
            actual =
                actual_column_find(x->columns, table->table, column->name, strlen(column->name));
            if (actual == NULL)
                continue;
        }
        parameter = column_parameter(column, actual);
        parameter.offset = value->offset;
        buffer_print(&x->sql, "%s%s = ", first ? "" : ", ", column->name);
        status = add_parameter(x, parameter);
        first = false;
    }
    return status;
}

static void add_required(struct expansion *x, const char *table, size_t table_length)
{
    if (x->columns == NULL)
        return;
    for (size_t i = 0; i < x->columns->count; i++) {
        const struct actual_column *column = &x->columns->items[i];
        const char *value = "0";

        if (!column->required || !name_is(column->table, table, table_length) ||
            text_names(x->definition->sql, strlen(x->definition->sql), column->name) ||
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

        if (name_is(column->table, at, (size_t)(dot - at)) &&
            name_is(column->name, dot + 1, length - (size_t)(dot - at) - 1))
            return true;
    }
    return x->columns == NULL;
}

/* "RESULT_UNSENT" */
static bool add_state(struct expansion *x, const char *at, size_t length)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (name_is(states[i].name, at, length)) {
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

        if (!name_is(table->table, at, (size_t)(dot - at)))
            continue;
        *ret_column = row_column_find(table, dot + 1, length - (size_t)(dot - at) - 1);
        *ret_table = table;
        if (*ret_column != NULL)
            return STATUS_OK;
    }
    return mistake(x, at, length, "no such row, fragment, state or column");
}

static enum status expand(struct expansion *x, const char *at, size_t length);

/* The text of a FRAGMENT, or the select list of a ROWS. NULL: there is none of that name. */
static const char *find_fragment(const char *at, size_t length)
{
    for (size_t i = 0; i < sizeof(fragments) / sizeof(fragments[0]); i++)
        if (name_is(fragments[i].name, at, length))
            return fragments[i].sql;
    for (size_t i = 0; i < sizeof(row_types) / sizeof(row_types[0]); i++)
        if (name_is(row_types[i]()->name, at, length))
            return row_types[i]()->sql;
    return NULL;
}

/* {if TABLE.COLUMN|SQL}, {unless TABLE.COLUMN|SQL} */
static enum status expand_condition(struct expansion *x, const char *at, size_t length, bool wanted)
{
    const char *bar = memchr(at, '|', length), *end = at + length;

    if (bar == NULL)
        return mistake(x, at, length, "has no |");
    if (has_column(x, at, (size_t)(bar - at)) == wanted)
        return expand(x, bar + 1, (size_t)(end - bar) - 1);
    for (at = bar + 1; at < end; at++) /* what is left out uses its values all the same */
        if (*at == ':')
            (void)use_value(x, at + 1, word_length(at + 1, end));
    return STATUS_OK;
}

static enum status expand_braces(struct expansion *x, const char *at, size_t length)
{
    const struct row_table *table = row_table_find(at, length);
    const struct row_column *column = NULL;
    const char *fragment = find_fragment(at, length);
    enum status status = STATUS_OK;

    if (table != NULL) {
        add_row(x, table);
    } else if (fragment != NULL) {
        status = expand(x, fragment, strlen(fragment));
    } else if (length > 4 && memcmp(at, "set ", 4) == 0) {
        status = add_set(x, at + 4, length - 4);
    } else if (length > 9 && memcmp(at, "required ", 9) == 0) {
        add_required(x, at + 9, length - 9);
    } else if (length > 3 && memcmp(at, "if ", 3) == 0) {
        status = expand_condition(x, at + 3, length - 3, true);
    } else if (length > 7 && memcmp(at, "unless ", 7) == 0) {
        status = expand_condition(x, at + 7, length - 7, false);
    } else if (!add_state(x, at, length)) {
        status = find_column(x, at, length, &table, &column);
        if (status == STATUS_OK)
            add_select_column(x, table, column, false);
    }
    return status;
}

/* Of the brace at `at`: others may stand within. NULL: there is none. */
static const char *closing_brace(const char *at, const char *end)
{
    int open = 0;

    for (; at < end; at++) {
        open += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        if (open == 0)
            return at;
    }
    return NULL;
}

static enum status expand(struct expansion *x, const char *at, size_t length)
{
    const char *end = at + length;
    enum status status = STATUS_OK;

    while (at < end && status == STATUS_OK) {
        if (*at == ':') {
            size_t name_length = word_length(at + 1, end);

            status = add_value(x, at + 1, name_length);
            at += 1 + name_length;
        } else if (*at == '{') {
            const char *close = closing_brace(at, end);

            if (close == NULL)
                return mistake(x, at, (size_t)(end - at), "is not closed");
            status = expand_braces(x, at + 1, (size_t)(close - at) - 1);
            at = close + 1;
        } else if (*at == '?') {
            status = mistake(x, at, 1, "values have names");
        } else {
            buffer_add_char(&x->sql, *at++);
        }
    }
    return status;
}

static enum status check_values(struct expansion *x)
{
    const struct db_member *values = x->definition->values;

    for (size_t i = 0; values[i].name != NULL; i++) {
        if (i == VALUES_MOST)
            return mistake(x, values[i].name, strlen(values[i].name), "too many values");
        if (!x->is_used[i] && values[i].type != DB_SUBJECTS)
            return mistake(x, values[i].name, strlen(values[i].name), "the value is not used");
    }
    return STATUS_OK;
}

static void list_column(const struct expansion *x, const struct row_column *column,
                        size_t row_offset, struct statement_text *text)
{
    const size_t offset = row_offset + column->offset;

    if (is_left_out(x, column))
        text->left_out[text->left_out_count++] = offset;
    else
        text->columns[text->column_count++] =
            (struct statement_column){.name = column->name, .type = column->type, .offset = offset};
}

/* The columns of a row one by one, those of rows in it too. */
static enum status list_columns(struct expansion *x, const struct db_row_type *type,
                                struct statement_text *text)
{
    static const enum column_type types[] = {[DB_ID] = COLUMN_ID,
                                             [DB_INTEGER] = COLUMN_INTEGER,
                                             [DB_REAL] = COLUMN_REAL,
                                             [DB_STRING] = COLUMN_STRING};

    text->columns = calloc(COLUMNS_MOST, sizeof(text->columns[0]));
    text->left_out = calloc(COLUMNS_MOST, sizeof(text->left_out[0]));
    if (text->columns == NULL || text->left_out == NULL)
        return fail(x->failure, STATUS_NO_MEMORY, "statement %s: no memory", x->definition->name);
    text->row_size = type->size;
    for (const struct db_member *member = type->columns; member->name != NULL; member++) {
        const struct row_table *table = member->type == DB_ROW ? &row_tables[member->row] : NULL;
        size_t count = table != NULL ? table->column_count : 1;

        if (text->column_count + count > COLUMNS_MOST)
            return mistake(x, member->name, strlen(member->name), "too many columns");
        if (table == NULL)
            text->columns[text->column_count++] = (struct statement_column){
                .name = member->name, .type = types[member->type], .offset = member->offset};
        for (size_t i = 0; table != NULL && i < count; i++)
            list_column(x, &table->columns[i], member->offset, text);
    }
    return STATUS_OK;
}

/* A connection keeps some hundred statements, of which most have few parameters and columns. */
static void *fitting(void *items, size_t count, size_t size)
{
    void *fitted = items == NULL ? NULL : realloc(items, (count > 0 ? count : 1) * size);

    return fitted != NULL ? fitted : items;
}

enum status statement_write(const struct statement_definition *definition, size_t list_size,
                            const struct actual_columns *columns, struct statement_text *ret_text,
                            struct failure *failure)
{
    struct expansion x = {.definition = definition,
                          .list_size = list_size,
                          .columns = columns,
                          .sql = buffer_on_heap(64 * 1024),
                          .failure = failure};
    struct statement_text text = {0};
    enum status status = STATUS_OK;

    x.parameters = calloc(PARAMETERS_MOST, sizeof(x.parameters[0]));
    if (x.parameters == NULL)
        status = fail(failure, STATUS_NO_MEMORY, "statement %s: no memory", definition->name);
    if (status == STATUS_OK)
        status = expand(&x, definition->sql, strlen(definition->sql));
    if (status == STATUS_OK)
        status = check_values(&x);
    if (status == STATUS_OK && definition->rows != NULL)
        status = list_columns(&x, definition->rows(), &text);
    buffer_add_char(&x.sql, '\0');
    if (status == STATUS_OK && x.sql.overflowed)
        status = fail(failure, STATUS_NO_MEMORY, "statement %s: no memory", definition->name);
    text.sql = x.sql.at;
    text.parameters = fitting(x.parameters, x.parameter_count, sizeof(x.parameters[0]));
    text.parameter_count = x.parameter_count;
    text.columns = fitting(text.columns, text.column_count, sizeof(text.columns[0]));
    text.left_out = fitting(text.left_out, text.left_out_count, sizeof(text.left_out[0]));
    if (status == STATUS_OK)
        *ret_text = text;
    else
        statement_text_free(&text);
    return status;
}

enum status statement_check_columns(const struct statement_definition *definition,
                                    const struct statement_text *text,
                                    const struct given_column *given, size_t count,
                                    struct failure *failure)
{
    if (count != text->column_count)
        return fail(failure, STATUS_DB_BUG, "statement %s: gives %zu columns, %zu are declared",
                    definition->name, count, text->column_count);
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(given[i].name, text->columns[i].name) != 0)
            return fail(failure, STATUS_DB_BUG, "statement %s: column %zu is %s, %s is declared",
                        definition->name, i + 1, given[i].name, text->columns[i].name);
        if (given[i].is_number == (text->columns[i].type == COLUMN_STRING))
            return fail(failure, STATUS_DB_BUG, "statement %s: column %s is %s number",
                        definition->name, given[i].name, given[i].is_number ? "a" : "no");
    }
    return STATUS_OK;
}

void statement_text_free(struct statement_text *text)
{
    free(text->sql);
    free(text->parameters);
    free(text->left_out);
    free(text->columns);
    *text = (struct statement_text){0};
}

void statement_print_all(const struct actual_columns *columns, struct buffer *ret_text)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        const struct statement_definition *definition = definitions[i]();
        struct statement_text text;
        struct failure failure = {0};

        if (statement_write(definition, 4, columns, &text, &failure) == STATUS_OK) {
            buffer_print(ret_text, "%s: ", definition->name);
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
