/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts. Only preferences and the cross-project id are ever written. */
#include "db/mariadb.h"

#include "server/base/banned.h"

static enum status read_user(struct db *db, struct arena *arena, enum statement statement,
                             struct db_value value, struct user_row *ret_user,
                             struct text *ret_team_name)
{
    struct db_rows rows;
    bool found;
    enum status status = db_query(db, arena, statement, DB_VALUES(value), &rows);

    if (status != STATUS_OK)
        return status;
    found = db_rows_next(&rows);
    if (found)
        *ret_team_name = db_cells_to_row(rows.cells, ROW_user, ret_user)->text;
    status = db_rows_end(&rows);
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

enum status db_user_by_id(struct db *db, struct arena *arena, int64_t id, struct user_row *ret_user,
                          struct text *ret_team_name)
{
    return read_user(db, arena, STATEMENT_user_by_id, db_id(id), ret_user, ret_team_name);
}

/* The database compares as its collation says, without case and trailing spaces; a key is a key
 * only byte by byte. */
enum status db_user_by_authenticator(struct db *db, struct arena *arena, struct text authenticator,
                                     struct user_row *ret_user, struct text *ret_team_name)
{
    struct user_row user;
    struct text team_name;
    enum status status;

    if (authenticator.length == 0)
        return STATUS_NOT_FOUND;
    status = read_user(db, arena, STATEMENT_user_by_authenticator, db_long_text(authenticator, 0),
                       &user, &team_name);
    if (status != STATUS_OK)
        return status;
    if (!text_equal(user.authenticator, authenticator))
        return STATUS_NOT_FOUND;
    *ret_user = user;
    *ret_team_name = team_name;
    return STATUS_OK;
}

enum status db_user_lock(struct db *db, int64_t id)
{
    struct db_cell cell;

    return db_query_one(db, NULL, STATEMENT_user_lock, DB_VALUES(db_id(id)), &cell, 1);
}

enum status db_user_save_global_prefs(struct db *db, int64_t userid, struct text global_prefs)
{
    return db_run(db, STATEMENT_user_save_global_prefs,
                  DB_VALUES(db_bytes(global_prefs, DB_BLOB_MOST), db_id(userid)), NULL);
}

enum status db_user_save_cross_project_id(struct db *db, int64_t userid,
                                          struct text cross_project_id)
{
    return db_run(db, STATEMENT_user_save_cross_project_id,
                  DB_VALUES(db_text(cross_project_id), db_id(userid)), NULL);
}
