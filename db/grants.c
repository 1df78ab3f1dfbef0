/* SPDX-License-Identifier: Apache-2.0 */
/* Names and passwords cannot be parameters of these statements, so they are quoted here. */
#include "db/grants.h"

#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"

#include "server/base/banned.h"

#define RIGHTS "SELECT, INSERT, UPDATE, DELETE"

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

/* In GRANT the name of a database is a pattern, in which _ and % stand for others. */
static void add_database(struct buffer *sql, struct text name)
{
    buffer_add_char(sql, '`');
    for (size_t i = 0; i < name.length; i++) {
        if (name.at[i] == '_' || name.at[i] == '%' || name.at[i] == '\\')
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

static struct text make_rights(struct arena *arena, const struct db_grantee *grantee,
                               struct text database)
{
    struct buffer sql = buffer_in(arena);

    buffer_add_string(&sql, "GRANT " RIGHTS " ON ");
    add_database(&sql, database);
    buffer_add_string(&sql, ".* TO ");
    add_grantee(&sql, grantee);
    return buffer_text(&sql);
}

void db_grants_make(struct arena *arena, const struct db_grantee *grantee, struct text database,
                    struct db_grant ret_grants[DB_GRANTS_MAX])
{
    ret_grants[0].sql = make_user(arena, grantee);
    ret_grants[0].words =
        text_print(arena, "user " TEXT_FORMAT " from " TEXT_FORMAT ", if there was none",
                   TEXT_ARG(grantee->user), TEXT_ARG(grantee->host));
    ret_grants[1].sql = make_rights(arena, grantee, database);
    ret_grants[1].words =
        text_print(arena, RIGHTS " on all tables of " TEXT_FORMAT, TEXT_ARG(database));
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
            (void)fail(failure, status, TEXT_FORMAT ": %s", TEXT_ARG(grants[i].words),
                       db_error(db));
    }
    db_close(db);
    arena_destroy(arena);
    return status;
}
