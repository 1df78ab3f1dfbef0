/* SPDX-License-Identifier: Apache-2.0 */
/* A project's database may be twenty years old: which columns it has is asked, never assumed, once
 * per connection. What we cannot work with is refused here, in words that tell the administrator
 * what to do, rather than by a failing statement later. */
#include "db/inspect.h"

#include "db/mariadb.h"
#include "server/base/arena.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

#define INSPECT_BYTES_MAX ((size_t)16 * 1024 * 1024)

/* Tables that we use beside those of columns.def. */
static const struct {
    const char *name;
    bool is_ours;
} other_tables[] = {
    {"msg_from_host", false},   {"msg_to_host", false},    {"team", false},
    {"qm_connection", true},    {"qm_duty", true},         {"qm_host", true},
    {"qm_host_said", true},     {"qm_host_fate", true},    {"qm_figures", true},
    {"qm_batch_outputs", true}, {"qm_hurry", true},        {"qm_lease", true},
    {"qm_fate", true},          {"qm_pass", true},         {"qm_stream", true},
    {"qm_workunit", true},      {"qm_host_variant", true}, {"qm_result_variant", true}};

static enum actual_kind kind_of(struct text data_type)
{
    if (text_contains(data_type, TEXT("char")) || text_contains(data_type, TEXT("text")) ||
        text_starts(data_type, TEXT("enum")))
        return ACTUAL_TEXT;
    if (text_contains(data_type, TEXT("blob")) || text_contains(data_type, TEXT("binary")))
        return ACTUAL_BYTES;
    if (text_contains(data_type, TEXT("time")) || text_starts(data_type, TEXT("date")))
        return ACTUAL_TIME;
    return ACTUAL_NUMBER;
}

static const char *keep_name(char **at, struct text name)
{
    char *kept = *at;

    if (name.length > 0)
        memcpy(kept, name.at, name.length);
    kept[name.length] = '\0';
    *at += name.length + 1;
    return kept;
}

/* The character set of result.name stands for all: every text that we write or compare goes to
 * columns that were made together with it. */
static void take_character_set(struct database_traits *traits, struct text name)
{
    if (name.length == 0 || name.length >= sizeof(traits->character_set))
        return;
    for (size_t i = 0; i < name.length; i++) {
        if (!isalnum((unsigned char)name.at[i]) && name.at[i] != '_')
            return;
    }
    memcpy(traits->character_set, name.at, name.length);
    traits->character_set[name.length] = '\0';
    traits->bytes_per_character = 0;
    if (text_is(name, "utf8mb4"))
        traits->bytes_per_character = 4;
    else if (text_starts(name, TEXT("utf8")))
        traits->bytes_per_character = 3;
}

static void take_column(struct database_traits *traits, const struct actual_column_row *row,
                        char **names)
{
    struct actual_column *column = &traits->columns.items[traits->columns.count++];
    bool is_varying = text_contains(row->data_type, TEXT("char"));

    column->table = keep_name(names, row->table_name);
    column->name = keep_name(names, row->column_name);
    column->name_length = row->column_name.length;
    column->kind = kind_of(row->data_type);
    column->required = text_is(row->is_nullable, "NO") && row->has_no_default != 0 &&
                       !text_contains(row->extra, TEXT("auto_increment"));
    column->bytes_max = (size_t)(is_varying ? row->characters_max : row->bytes_max);
    if (is_varying && column->bytes_max > DB_TEXT_MOST)
        column->bytes_max = DB_TEXT_MOST;
    if (strcmp(column->table, "result") == 0 && strcmp(column->name, "name") == 0)
        take_character_set(traits, row->character_set);
}

static enum status read_columns(struct db *db, struct arena *arena, struct database_traits *traits)
{
    struct actual_column_row *rows;
    size_t count;
    char *names;
    enum status status = DB_ALL(db, actual_columns, arena, &rows, &count, DB_NO_VALUES);

    if (status != STATUS_OK)
        return status;
    traits->columns.items = calloc(count + 1, sizeof(traits->columns.items[0]));
    traits->names = names = malloc((count + 1) * 130); /* two names of at most 64 bytes */
    if (traits->columns.items == NULL || traits->names == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (rows[i].table_name.length <= 64 && rows[i].column_name.length <= 64)
            take_column(traits, &rows[i], &names);
    return STATUS_OK;
}

struct db_texts inspect_tables(struct arena *arena)
{
    const size_t count = ROW_COUNT + sizeof(other_tables) / sizeof(other_tables[0]);
    struct text *names = ARENA_ARRAY(arena, count, struct text);

    for (size_t i = 0; names != NULL && i < count; i++)
        names[i] =
            text_from(i < ROW_COUNT ? row_tables[i].table : other_tables[i - ROW_COUNT].name);
    return (struct db_texts){names, count};
}

enum status inspect_columns(const struct actual_columns *columns, bool wants_ours,
                            struct failure *failure)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct row_table *table = &row_tables[i];

        if (!actual_table_exists(columns, table->table))
            return fail(failure, STATUS_DB_REFUSED,
                        "there is no table \"%s\": db_name is not a project's database, or it is"
                        " still empty (qmctl init makes the tables)",
                        table->table);
        for (size_t j = 0; j < table->column_count; j++) {
            const struct row_column *column = &table->columns[j];

            if (row_column_is_derived(column) ||
                actual_column_find(columns, table->table, column->name, strlen(column->name)) !=
                    NULL)
                continue;
            if (row_column_is_ours(column) && !wants_ours)
                continue;
            if (row_column_is_ours(column))
                return fail(failure, STATUS_DB_REFUSED,
                            "table \"%s\" has no column \"%s\": run qmctl init, which adds it",
                            table->table, column->name);
            if (!row_column_is_optional(column))
                return fail(failure, STATUS_DB_REFUSED,
                            "table \"%s\" has no column \"%s\": the database is older than March"
                            " 2010; bring it up to date with BOINC's own upgrade script first",
                            table->table, column->name);
        }
    }
    for (size_t i = 0; i < sizeof(other_tables) / sizeof(other_tables[0]); i++) {
        if ((wants_ours || !other_tables[i].is_ours) &&
            !actual_table_exists(columns, other_tables[i].name))
            return fail(failure, STATUS_DB_REFUSED, "there is no table \"%s\"%s",
                        other_tables[i].name,
                        other_tables[i].is_ours ? ": run qmctl init, which adds our tables" : "");
    }
    return STATUS_OK;
}

static enum status check_settings(struct db *db, struct arena *arena,
                                  struct database_traits *traits, struct failure *failure)
{
    struct setting_cursor rows;
    struct setting_row setting;
    bool logs = false, by_statement = false, answers = false, has_wsrep = false;
    int64_t packet = DB_PACKET_LEAST; /* a proxy may keep it to itself */
    enum status status = DB_QUERY(db, server_settings, arena, &rows, DB_NO_VALUES);

    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&rows, &setting)) {
        answers = true;
        if (text_equal_nocase(setting.name, TEXT("LOG_BIN"))) {
            logs = text_equal_nocase(setting.value, TEXT("ON"));
        } else if (text_equal_nocase(setting.name, TEXT("BINLOG_FORMAT"))) {
            by_statement = text_equal_nocase(setting.value, TEXT("STATEMENT"));
        } else if (text_equal_nocase(setting.name, TEXT("WSREP_ON"))) {
            has_wsrep = true;
            traits->is_cluster = !text_equal_nocase(setting.value, TEXT("OFF"));
        } else if (text_equal_nocase(setting.name, TEXT("MAX_ALLOWED_PACKET"))) {
            if (!text_to_i64(setting.value, &packet))
                packet = DB_PACKET_LEAST;
        } else if (text_equal_nocase(setting.name, TEXT("READ_ONLY"))) {
            traits->is_read_only = !text_equal_nocase(setting.value, TEXT("OFF"));
        }
    }
    status = DB_END(&rows);
    if (!has_wsrep) /* a server that was built without it has no such variable, but others */
        traits->is_cluster = !answers;
    traits->packet_bytes = (size_t)packet;
    if (status == STATUS_OK && packet < DB_PACKET_LEAST)
        return fail(failure, STATUS_DB_REFUSED,
                    "the database server takes %" PRId64
                    " bytes at once, and a server needs %d: set max_allowed_packet in its "
                    "configuration (MariaDB's default is 16M)",
                    packet, DB_PACKET_LEAST);
    if (status == STATUS_OK && logs && by_statement)
        return fail(failure, STATUS_DB_REFUSED,
                    "the database server writes its binary log by statement, which refuses our"
                    " isolation level (error 1665): set binlog_format = ROW (or MIXED) in its"
                    " configuration");
    return status;
}

enum status database_inspect(struct db *db, bool is_project, struct database_traits *ret_traits,
                             struct failure *failure)
{
    struct arena *arena = arena_create(INSPECT_BYTES_MAX);
    struct database_traits traits = {
        .character_set = "utf8mb4", .bytes_per_character = 4, .packet_bytes = DB_PACKET_LEAST};
    enum status status = STATUS_NO_MEMORY;

    if (arena != NULL)
        status = read_columns(db, arena, &traits);
    if (status == STATUS_OK)
        status = check_settings(db, arena, &traits, failure);
    if (status == STATUS_OK && is_project)
        status = inspect_columns(&traits.columns, true, failure);
    arena_destroy(arena);
    if (status != STATUS_OK)
        database_traits_free(&traits);
    else
        *ret_traits = traits;
    return status;
}

void database_traits_free(struct database_traits *traits)
{
    free(traits->columns.items);
    free(traits->names);
    *traits = (struct database_traits){.bytes_per_character = 4, .packet_bytes = DB_PACKET_LEAST};
}
