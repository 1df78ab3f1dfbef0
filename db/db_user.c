/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts. Only preferences and the cross-project id are ever written. */
#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_user_by_id(struct db *db, struct arena *arena, int64_t id, struct user_row *ret_user,
                          struct text *ret_team_name)
{
    struct user_with_team_row row;
    enum status status = DB_ONE(db, user_by_id, arena, &row, .id = id);

    if (status != STATUS_OK)
        return status;
    *ret_user = row.user;
    *ret_team_name = row.team_name;
    return STATUS_OK;
}

/* The database compares as its collation says, without case and trailing spaces; a key is a key
 * only byte by byte. */
enum status db_user_by_authenticator(struct db *db, struct arena *arena, struct text authenticator,
                                     struct user_row *ret_user, struct text *ret_team_name)
{
    struct user_with_team_row row;
    enum status status;

    if (authenticator.length == 0)
        return STATUS_NOT_FOUND;
    status = DB_ONE(db, user_by_authenticator, arena, &row, .authenticator = authenticator);
    if (status != STATUS_OK)
        return status;
    if (!text_equal(row.user.authenticator, authenticator))
        return STATUS_NOT_FOUND;
    *ret_user = row.user;
    *ret_team_name = row.team_name;
    return STATUS_OK;
}

enum status db_user_lock(struct db *db, int64_t id)
{
    struct id_row row;

    return DB_ONE(db, user_lock, NULL, &row, .id = id);
}

enum status db_user_save_global_prefs(struct db *db, int64_t userid, struct text global_prefs)
{
    return DB_RUN(db, user_save_global_prefs, NULL, .id = userid, .global_prefs = global_prefs);
}

enum status db_user_save_cross_project_id(struct db *db, int64_t userid,
                                          struct text cross_project_id)
{
    return DB_RUN(db, user_save_cross_project_id, NULL, .id = userid,
                  .cross_project_id = cross_project_id);
}
