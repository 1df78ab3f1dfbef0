/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts as they are made and looked up by those who join. */
#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_account_by_email(struct db *db, struct arena *arena, struct text email_addr,
                                struct user_row *ret_user)
{
    return DB_ONE(db, user_by_email, arena, ret_user, .email_addr = email_addr);
}

enum status db_account_had_email(struct db *db, struct text email_addr)
{
    struct id_row row;

    return DB_ONE(db, user_by_former_email, NULL, &row, .email_addr = email_addr);
}

enum status db_account_has_name(struct db *db, struct text name)
{
    struct id_row row;

    return DB_ONE(db, user_by_name, NULL, &row, .name = name);
}

enum status db_account_create(struct db *db, const struct new_account *account, int64_t *ret_id)
{
    struct id_row team = {.id = 0};
    enum status status = STATUS_OK;

    if (account->team_name.length > 0)
        status = DB_ONE(db, team_joinable, NULL, &team, .name = account->team_name);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = DB_RUN(
            db, user_insert, NULL, .now = account->now, .email_addr = account->email_addr,
            .name = account->name, .authenticator = account->authenticator,
            .passwd_hash = account->passwd_hash, .cross_project_id = account->cross_project_id,
            .teamid = team.id, .show_hosts = !account->hides_hosts);
    if (status == STATUS_OK)
        *ret_id = db_inserted_id(db);
    return status;
}

enum status db_account_consent(struct db *db, int64_t userid, bool consents, struct text source,
                               int64_t now)
{
    return DB_RUN(db, consent_insert, NULL, .userid = userid, .now = now, .consents = consents,
                  .source = source);
}

enum status db_account_save_passwd_hash(struct db *db, int64_t id, struct text former,
                                        struct text passwd_hash)
{
    return DB_RUN(db, user_save_passwd_hash, NULL, .id = id, .passwd_hash = passwd_hash,
                  .former = former);
}
