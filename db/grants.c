/* SPDX-License-Identifier: Apache-2.0 */
/* Names and passwords cannot be parameters of these statements, so they are quoted here. */
#include "db/grants.h"

#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"

#include "server/base/banned.h"

/* A string of SQL: backslashes and quotes doubled. */
static void add_string(struct buffer *sql, struct text text)
{
    buffer_add_char(sql, '\'');
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '\'' || text.at[i] == '\\')
            buffer_add_char(sql, text.at[i]);
        buffer_add_char(sql, text.at[i]);
    }
    buffer_add_char(sql, '\'');
}

/* In a GRANT of all its tables the name of a database is a pattern, in which _ and % stand for
 * others. */
static void add_database(struct buffer *sql, struct text name, bool is_pattern)
{
    buffer_add_char(sql, '`');
    for (size_t i = 0; i < name.length; i++) {
        if (is_pattern && (name.at[i] == '_' || name.at[i] == '%' || name.at[i] == '\\'))
            buffer_add_char(sql, '\\');
        if (name.at[i] == '`')
            buffer_add_char(sql, '`');
        buffer_add_char(sql, name.at[i]);
    }
    buffer_add_char(sql, '`');
}

static void add_grantee(struct buffer *sql, const struct db_grantee *grantee)
{
    add_string(sql, grantee->user);
    buffer_add_char(sql, '@');
    add_string(sql, grantee->host);
}

static struct text make_user(struct arena *arena, const struct db_grantee *grantee)
{
    struct buffer sql = buffer_in(arena);

    buffer_add_string(&sql, "CREATE USER IF NOT EXISTS ");
    add_grantee(&sql, grantee);
    if (grantee->password.length == 0) {
        buffer_add_string(&sql, " IDENTIFIED VIA unix_socket");
    } else {
        buffer_add_string(&sql, " IDENTIFIED BY ");
        add_string(&sql, grantee->password);
    }
    return buffer_text(&sql);
}

static struct db_grant make_right(struct arena *arena, const struct db_grantee *grantee,
                                  struct text database, const char *table, const char *rights)
{
    bool is_all = table[0] == '*';
    struct buffer sql = buffer_in(arena);

    buffer_print(&sql, "GRANT %s ON ", rights);
    add_database(&sql, database, is_all);
    buffer_print(&sql, ".%s TO ", table);
    add_grantee(&sql, grantee);
    return (struct db_grant){.sql = buffer_text(&sql),
                             .words = is_all ? text_print(arena, "%s on all tables of " TEXT_FORMAT,
                                                          rights, TEXT_ARG(database))
                                             : text_print(arena, "%s on table %s of " TEXT_FORMAT,
                                                          rights, table, TEXT_ARG(database))};
}

static struct db_grant make_grantee(struct arena *arena, const struct db_grantee *grantee)
{
    return (struct db_grant){
        .sql = make_user(arena, grantee),
        .words = text_print(arena, "user " TEXT_FORMAT " from " TEXT_FORMAT ", if there was none",
                            TEXT_ARG(grantee->user), TEXT_ARG(grantee->host))};
}

size_t db_grants_make(struct arena *arena, const struct db_grantee *grantee, struct text database,
                      struct db_grant ret_grants[DB_GRANTS_MAX])
{
    ret_grants[0] = make_grantee(arena, grantee);
    ret_grants[1] = make_right(arena, grantee, database, "*", "SELECT, INSERT, UPDATE, DELETE");
    return 2;
}

size_t db_grants_make_submission(struct arena *arena, const struct db_grantee *grantee,
                                 struct text database, struct db_grant ret_grants[DB_GRANTS_MAX])
{
    size_t count = 0;

    ret_grants[count++] = make_grantee(arena, grantee);
    ret_grants[count++] = make_right(arena, grantee, database, "*", "SELECT");
#define ADD_RIGHT(table, rights) \
    must(count < DB_GRANTS_MAX); \
    ret_grants[count++] = make_right(arena, grantee, database, table, rights);
    SUBMISSION_RIGHTS(ADD_RIGHT)
#undef ADD_RIGHT
    return count;
}

enum status db_grants_apply(const struct config *config, const struct db_grant *grants,
                            size_t count, struct failure *failure)
{
    struct arena *arena = arena_create((size_t)1024 * 1024);
    struct db *db = NULL;
    enum status status = arena == NULL ? fail(failure, STATUS_NO_MEMORY, "no memory")
                                       : db_connect(config, &db, failure);

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = db_run_text(db, text_string(arena, grants[i].sql));
        if (status != STATUS_OK)
            (void)fail(
                failure, status, TEXT_FORMAT ": %s%s", TEXT_ARG(grants[i].words), db_error(db),
                status == STATUS_DB_BUG ? " (qmctl init makes tables that are missing)" : "");
    }
    db_close(db);
    arena_destroy(arena);
    return status;
}
