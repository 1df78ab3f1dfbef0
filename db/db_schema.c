/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the tables of a new project and brings those of an existing one up to date.
 *
 * MariaDB cannot undo a CREATE TABLE, so a run may stop half-way. Hence every statement of the
 * files may be run again, and the table qm_schema says how far we got: row 0 stands for schema.sql
 * (done or not), row N for upgrade N. Two administrators at once take turns by a named lock. */
#include "db/schema.h"

#include "config/config.h"
#include "db/files.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static const char own_table[] = "CREATE TABLE IF NOT EXISTS qm_schema ("
                                " version BIGINT NOT NULL PRIMARY KEY,"
                                " name VARCHAR(191) NOT NULL,"
                                " done TINYINT NOT NULL"
                                ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4";

/* Of these a project's database has all, and an unfinished one of ours has some. */
static const char *const project_tables[] = {"host", "result", "user", "workunit"};

int64_t schema_upgrade_number(const struct schema_upgrade *upgrade)
{
    return strtoll(upgrade->name, NULL, 10);
}

static enum status explain(struct db *db, struct failure *failure, enum status status,
                           const char *what)
{
    return status == STATUS_OK ? status : fail(failure, status, "%s: %s", what, db_error(db));
}

/* Runs the statements of a file one by one; a comment line belongs to the one behind it. */
static enum status run_file(struct db *db, const char *name, const char *sql,
                            struct failure *failure)
{
    struct text rest = text_from(sql);
    enum status status = STATUS_OK;

    while (status == STATUS_OK && text_trim(rest).length > 0) {
        size_t end = text_find(rest, TEXT(";\n"));
        struct buffer statement = buffer_on_heap(64 * 1024);

        buffer_add(&statement, text_first(rest, end));
        buffer_add_char(&statement, '\0');
        rest.at += end;
        rest.length -= end;
        if (rest.length > 0) {
            rest.at += 2;
            rest.length -= 2;
        }
        status = statement.overflowed ? STATUS_NO_MEMORY : db_run_text(db, statement.at);
        buffer_free(&statement);
    }
    return explain(db, failure, status, name);
}

/* What the database holds before we begin. */
struct contents {
    uint64_t tables, project_tables;
    bool begun, unfinished; /* we were here before; schema.sql was not completed */
    int64_t version;
};

static enum status look_at_tables(struct db *db, struct arena *arena, struct contents *contents)
{
    struct name_cursor names;
    struct name_row table;
    struct schema_version_cursor versions;
    struct schema_version_row version;
    bool is_ours = false;
    enum status status = DB_QUERY(db, schema_tables, arena, &names, DB_NO_VALUES);

    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&names, &table)) {
        contents->tables++;
        for (size_t i = 0; i < sizeof(project_tables) / sizeof(project_tables[0]); i++)
            contents->project_tables += text_is(table.name, project_tables[i]);
        is_ours = is_ours || text_is(table.name, "qm_schema");
    }
    status = DB_END(&names);
    if (status != STATUS_OK || !is_ours)
        return status;
    status = DB_QUERY(db, schema_versions, arena, &versions, DB_NO_VALUES);
    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&versions, &version)) {
        contents->begun = true;
        if (version.version == 0)
            contents->unfinished = version.done == 0;
        else
            contents->version = version.version;
    }
    return DB_END(&versions);
}

static enum status note_version(struct db *db, int64_t version, const char *name, bool done,
                                struct failure *failure)
{
    enum status status =
        DB_RUN(db, schema_note, NULL, .version = version, .name = text_from(name), .done = done);

    if (status == STATUS_OK)
        status = db_commit(db);
    return explain(db, failure, status, "qm_schema");
}

static enum status create_tables(struct db *db, struct schema_report *report,
                                 struct failure *failure)
{
    enum status status = note_version(db, 0, "schema", false, failure);

    if (status == STATUS_OK)
        status = run_file(db, "schema", schema_sql, failure);
    if (status == STATUS_OK)
        status = note_version(db, 0, "schema", true, failure);
    report->created_tables = status == STATUS_OK;
    return status;
}

static enum status upgrade(struct db *db, struct text database, struct schema_report *report,
                           struct failure *failure)
{
    struct arena *arena = arena_create((size_t)4 * 1024 * 1024);
    struct contents contents = {0};
    const size_t all = sizeof(project_tables) / sizeof(project_tables[0]);
    enum status status = STATUS_NO_MEMORY;
    int64_t newest = schema_upgrade_number(&schema_upgrades[schema_upgrade_count - 1]);

    if (arena != NULL)
        status = explain(db, failure, look_at_tables(db, arena, &contents), "examining the tables");
    if (status == STATUS_OK && !contents.begun && contents.tables > 0 &&
        contents.project_tables < all)
        status = fail(failure, STATUS_DB_REFUSED,
                      "database \"" TEXT_FORMAT
                      "\" contains tables, but not those of a project: choose an empty database or "
                      "a BOINC project's",
                      TEXT_ARG(database));
    if (status == STATUS_OK && contents.version > newest)
        status =
            fail(failure, STATUS_DB_REFUSED,
                 "database \"" TEXT_FORMAT "\" was upgraded by a newer program (version %" PRId64
                 ", this program knows %" PRId64 ")",
                 TEXT_ARG(database), contents.version, newest);
    report->version_before = report->version_now = contents.version;
    if (status == STATUS_OK && !contents.begun)
        status = explain(db, failure, db_run_text(db, own_table), "qm_schema");
    if (status == STATUS_OK &&
        (contents.unfinished || (!contents.begun && contents.project_tables < all)))
        status = create_tables(db, report, failure);
    for (size_t i = 0; status == STATUS_OK && i < schema_upgrade_count; i++) {
        int64_t number = schema_upgrade_number(&schema_upgrades[i]);

        if (number <= contents.version)
            continue;
        status = run_file(db, schema_upgrades[i].name, schema_upgrades[i].sql, failure);
        if (status == STATUS_OK)
            status = note_version(db, number, schema_upgrades[i].name, true, failure);
        if (status == STATUS_OK)
            report->version_now = number;
    }
    arena_destroy(arena);
    return status;
}

/* A database name goes into the SQL text as an identifier: quoted, its own quotes doubled. */
static enum status run_with_name(struct db *db, const char *before, struct text name,
                                 const char *after)
{
    struct buffer sql = buffer_on_heap(1024);
    enum status status;

    buffer_add_string(&sql, before);
    buffer_add_char(&sql, '`');
    for (size_t i = 0; i < name.length; i++) {
        if (name.at[i] == '`')
            buffer_add_char(&sql, '`');
        buffer_add_char(&sql, name.at[i]);
    }
    buffer_add_char(&sql, '`');
    buffer_add_string(&sql, after);
    buffer_add_char(&sql, '\0');
    status = sql.overflowed ? STATUS_TOO_LARGE : db_run_text(db, sql.at);
    buffer_free(&sql);
    return status;
}

enum status db_schema_upgrade(const struct config *config, struct schema_report *ret_report,
                              struct failure *failure)
{
    struct schema_report report = {0};
    struct schema_turn_row turn;
    struct schema_count_row count;
    struct db *db = NULL;
    enum status status;

    if (config->db_name.length == 0)
        return fail(failure, STATUS_DB_REFUSED, "the option db_name is not set");
    status = db_connect(config, &db, failure);
    if (status != STATUS_OK)
        return status;
    status = DB_ONE(db, schema_lock, NULL, &turn, DB_NO_VALUES);
    if (status == STATUS_OK && turn.is_ours != 1)
        status = fail(failure, STATUS_DB_RETRY, "another program is upgrading a database here");
    status = explain(db, failure, status, "waiting for our turn");
    if (status == STATUS_OK) {
        status = DB_ONE(db, schema_database, NULL, &count, .name = config->db_name);
        if (status == STATUS_OK && count.schemata == 0) {
            status = run_with_name(db, "CREATE DATABASE IF NOT EXISTS ", config->db_name,
                                   " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci");
            report.created_database = status == STATUS_OK;
        }
        if (status == STATUS_OK)
            status = run_with_name(db, "USE ", config->db_name, "");
        status = explain(db, failure, status, "making the database");
    }
    if (status == STATUS_OK)
        status = upgrade(db, config->db_name, &report, failure);
    db_close(db); /* and with it the lock */
    if (status == STATUS_OK && ret_report != NULL)
        *ret_report = report;
    return status;
}

enum status db_schema_add_index(const struct config *config, const char *table, const char *name,
                                const char *columns, struct failure *failure)
{
    struct buffer sql = buffer_on_heap(1024);
    struct db *db = NULL;
    enum status status = STATUS_NO_MEMORY;

    buffer_print(&sql, "CREATE INDEX IF NOT EXISTS %s ON %s (%s)", name, table, columns);
    buffer_add_char(&sql, '\0');
    if (!sql.overflowed)
        status = db_connect(config, &db, failure);
    if (status == STATUS_OK)
        status = explain(db, failure, run_with_name(db, "USE ", config->db_name, ""), name);
    if (status == STATUS_OK)
        status = explain(db, failure, db_run_text(db, sql.at), name);
    db_close(db);
    buffer_free(&sql);
    return status;
}

/* --- the file database ----------------------------------------------------------------------- */

enum status db_files_open(const struct config *config, struct db **ret_db, struct failure *failure)
{
    if (config->files_db_name.length == 0)
        return fail(failure, STATUS_NOT_FOUND, "the option files_db_name is not set");
    return db_connect_files(config, true, ret_db, failure);
}

enum status db_files_make(const struct config *config, struct failure *failure)
{
    struct db *db = NULL;
    enum status status;

    if (config->files_db_name.length == 0)
        return fail(failure, STATUS_NOT_FOUND, "the option files_db_name is not set");
    if (text_equal(config->files_db_name, config->db_name))
        return fail(failure, STATUS_DB_REFUSED,
                    "files_db_name is the project's database; choose a separate one");
    status = db_connect_files(config, false, &db, failure);
    if (status != STATUS_OK)
        return status;
    status = run_with_name(db, "CREATE DATABASE IF NOT EXISTS ", config->files_db_name,
                           " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci");
    if (status == STATUS_OK)
        status = run_with_name(db, "USE ", config->files_db_name, "");
    status = explain(db, failure, status, "making the file database");
    if (status == STATUS_OK)
        status = run_file(db, "files", files_sql, failure);
    db_close(db);
    return status;
}
