/* SPDX-License-Identifier: Apache-2.0 */
/* What a database that another program made has of what we need. */
#include "db/adoption_rows.h"

#include "db/columns.h"
#include "db/inspect.h"
#include "db/mariadb.h"
#include "db/statement.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

#define ERA(revision, since, what) {revision, since, what},
const struct adoption_era adoption_eras[] = {
#include "db/eras.def"
};
#undef ERA
const size_t adoption_era_count = sizeof(adoption_eras) / sizeof(adoption_eras[0]);

#define NEEDED_INDEX(table, name, columns, how, why) {#table, #name, columns, INDEX_##how, why},
const struct needed_index needed_indexes[] = {
#include "db/needed_indexes.def"
};
#undef NEEDED_INDEX
const size_t needed_index_count = sizeof(needed_indexes) / sizeof(needed_indexes[0]);

enum status db_adoption_tables(struct db *db, bool wants_ours, struct failure *failure)
{
    return inspect_columns(db_actual_columns(db), wants_ours, failure);
}

/* --- columns ------------------------------------------------------------------------------- */

/* Several rows of columns.def read from one table. */
static bool is_first_of_table(size_t row, const char *column)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(row_tables[i].table, row_tables[row].table) == 0 &&
            row_column_find(&row_tables[i], column, strlen(column)) != NULL)
            return false;
    return true;
}

struct text db_adoption_lacks(struct db *db, struct arena *arena, const struct adoption_era *era)
{
    const struct actual_columns *actual = db_actual_columns(db);
    struct buffer list = buffer_in(arena);
    char presence[32];

    (void)snprintf(presence, sizeof(presence), "SINCE_%d", era->revision);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct row_table *table = &row_tables[i];

        for (size_t j = 0; j < table->column_count; j++) {
            const char *name = table->columns[j].name;

            if (strcmp(table->columns[j].presence, presence) != 0 || !is_first_of_table(i, name) ||
                actual_column_find(actual, table->table, name, strlen(name)) != NULL)
                continue;
            if (list.length > 0)
                buffer_add_string(&list, ", ");
            buffer_add_string(&list, table->table);
            buffer_add_char(&list, '.');
            buffer_add_string(&list, name);
        }
    }
    return buffer_text(&list);
}

/* --- indexes ------------------------------------------------------------------------------- */

enum status db_adoption_indexes(struct db *db, struct arena *arena,
                                struct adoption_index_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, adoption_indexes, arena, ret_rows, ret_count, DB_NO_VALUES);
}

/* Whether the index begins with the columns that are needed, or is more than unique. */
static bool serves(const struct needed_index *needed, const struct adoption_index_row *row)
{
    const struct text wanted = text_from(needed->columns);
    const struct text has = row->columns_of_key;

    if (needed->how == INDEX_UNIQUE)
        return row->is_unique != 0 && text_equal_nocase(has, wanted);
    return text_equal_nocase(text_first(has, wanted.length), wanted) &&
           (has.length == wanted.length || has.at[wanted.length] == ',');
}

enum index_state needed_index_state(const struct needed_index *needed,
                                    const struct adoption_index_row *rows, size_t count)
{
    enum index_state state = INDEX_MISSING;

    for (size_t i = 0; i < count; i++) {
        bool has_name = text_equal_nocase(rows[i].index_name, text_from(needed->name));

        if (!text_is(rows[i].table_name, needed->table))
            continue;
        if (serves(needed, &rows[i]) && (has_name || needed->how != INDEX_BY_NAME))
            return INDEX_THERE;
        if (has_name)
            state = INDEX_OTHERWISE;
    }
    return state;
}

/* --- the rest ------------------------------------------------------------------------------ */

enum status db_adoption_engines(struct db *db, struct arena *arena,
                                struct adoption_table_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, adoption_tables, arena, ret_rows, ret_count, .tables = inspect_tables(arena));
}

/* Whether the table's name stands where a statement says what it works on. */
static bool works_on(const char *sql, struct text table)
{
    static const char *const words[] = {"INTO ", "UPDATE ", "FROM ", "JOIN "};
    struct text rest = text_from(sql);
    size_t at;

    for (; (at = text_find(rest, table)) < rest.length;
         rest = (struct text){rest.at + at + 1, rest.length - at - 1}) {
        const struct text before = {sql, (size_t)(rest.at - sql) + at};
        const char behind = rest.at[at + table.length]; /* the text ends in NUL */

        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (text_ends(before, text_from(words[i])) && !isalnum((unsigned char)behind) &&
                behind != '_')
                return true;
    }
    return false;
}

static bool writes(enum statement statement, struct text table)
{
    struct statement_text text = {0};
    bool found;

    if (statement_write(statement_definition(statement), 1, NULL, &text, NULL) != STATUS_OK)
        return false;
    found = strncmp(text.sql, "SELECT", strlen("SELECT")) != 0 && text.sql[0] != '(' &&
            works_on(text.sql, table);
    statement_text_free(&text);
    return found;
}

bool db_adoption_writes(struct text table)
{
    for (int i = STATEMENT_actual_columns; i < STATEMENT_FILES; i++)
        if (writes((enum statement)i, table))
            return true;
    return false;
}

enum status db_adoption_triggers(struct db *db, struct arena *arena,
                                 struct adoption_trigger_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, adoption_triggers, arena, ret_rows, ret_count,
                  .tables = inspect_tables(arena));
}

enum status db_adoption_version(struct db *db, int64_t *ret_version)
{
    struct schema_version_cursor versions;
    struct schema_version_row version;
    enum status status;

    *ret_version = 0;
    if (!actual_table_exists(db_actual_columns(db), "qm_schema"))
        return STATUS_OK;
    status = DB_QUERY(db, schema_versions, NULL, &versions, DB_NO_VALUES);
    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&versions, &version))
        if (version.version > *ret_version && version.done != 0)
            *ret_version = version.version;
    return DB_END(&versions);
}

enum status db_adoption_counts(struct db *db, struct adoption_counts_row *ret_counts)
{
    return DB_ONE(db, adoption_counts, NULL, ret_counts, DB_NO_VALUES);
}
