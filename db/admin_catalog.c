/* SPDX-License-Identifier: Apache-2.0 */
/* Apps, their versions, platforms and accounts, as an administrator adds and looks them up. None of
 * this is on the path of a request, so there is one statement for each question and no batching. */
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

static enum status inserted(const struct db *db, enum status status, int64_t *ret_id)
{
    if (status == STATUS_OK)
        *ret_id = db_inserted_id(db);
    return status;
}

enum status db_admin_platform_find(struct db *db, struct text name, int64_t *ret_id)
{
    struct id_row row;
    enum status status = DB_ONE(db, admin_platform_find, NULL, &row, .name = name);

    if (status == STATUS_OK)
        *ret_id = row.id;
    return status;
}

enum status db_admin_platform_add(struct db *db, struct text name, struct text friendly_name,
                                  int64_t now, bool *ret_added)
{
    int64_t id;
    enum status status = db_admin_platform_find(db, name, &id);

    if (status == STATUS_OK)
        *ret_added = false;
    if (status != STATUS_NOT_FOUND)
        return status;
    *ret_added = true;
    return DB_RUN(db, admin_platform_add, NULL, .create_time = now, .name = name,
                  .friendly_name = friendly_name);
}

enum status db_admin_app_add(struct db *db, struct text name, struct text friendly_name,
                             int64_t now, int64_t *ret_id)
{
    enum status status = DB_RUN(db, admin_app_add, NULL, .create_time = now, .name = name,
                                .friendly_name = friendly_name);

    return inserted(db, status, ret_id);
}

enum status db_admin_app_find(struct db *db, struct arena *arena, struct text name,
                              struct app_row *ret_app)
{
    return DB_ONE(db, admin_app_find, arena, ret_app, .name = name);
}

enum status db_admin_app_settings(struct db *db, struct arena *arena,
                                  struct app_setting_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_app_settings, arena, ret_rows, ret_count, DB_NO_VALUES);
}

enum status db_admin_app_settings_lock(struct db *db, struct arena *arena, int64_t id,
                                       struct app_setting_row *ret_row)
{
    return DB_ONE(db, admin_app_settings_lock, arena, ret_row, .id = id);
}

enum status db_admin_app_settings_save(struct db *db, const struct app_setting_row *row)
{
    return DB_RUN(db, admin_app_settings_save, NULL, .app_setting = row, .id = row->id);
}

enum status db_admin_version_add(struct db *db, const struct new_version *version, int64_t *ret_id)
{
    enum status status =
        DB_RUN(db, admin_version_add, NULL, .create_time = version->now, .appid = version->appid,
               .version_num = version->version_num, .platformid = version->platformid,
               .plan_class = version->plan_class, .xml_doc = version->xml_doc);

    return inserted(db, status, ret_id);
}

enum status db_admin_versions(struct db *db, struct arena *arena,
                              struct version_entry_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_versions, arena, ret_rows, ret_count, DB_NO_VALUES);
}

enum status db_admin_version_settings_lock(struct db *db, struct arena *arena, int64_t id,
                                           struct version_setting_row *ret_row)
{
    return DB_ONE(db, admin_version_settings_lock, arena, ret_row, .id = id);
}

enum status db_admin_version_settings_save(struct db *db, const struct version_setting_row *row)
{
    return DB_RUN(db, admin_version_settings_save, NULL, .version_setting = row, .id = row->id);
}

enum status db_admin_version_save_document(struct db *db, int64_t id, struct text xml_doc)
{
    return DB_RUN(db, admin_version_save_document, NULL, .id = id, .xml_doc = xml_doc);
}

enum status db_admin_keyless_tables(struct db *db, struct arena *arena,
                                    struct keyless_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_keyless_tables, arena, ret_rows, ret_count, DB_NO_VALUES);
}

enum status db_admin_user_find(struct db *db, struct arena *arena, struct text email_addr,
                               int64_t id, struct user_row *ret_user)
{
    enum status status;

    if (id != 0)
        return DB_ONE(db, admin_user_by_id, arena, ret_user, .id = id);
    status = db_account_by_email(db, arena, email_addr, ret_user);
    /* A collation takes an accent for none: that would be somebody else. */
    if (status == STATUS_OK && !text_equal_nocase(ret_user->email_addr, email_addr))
        status = STATUS_NOT_FOUND;
    return status;
}

enum status db_admin_user_settings(struct db *db, struct arena *arena, int64_t id, bool locks,
                                   struct account_settings_row *ret_row)
{
    return locks ? DB_ONE(db, account_settings_lock, arena, ret_row, .id = id)
                 : DB_ONE(db, account_settings, arena, ret_row, .id = id);
}

enum status db_admin_user_save_settings(struct db *db, int64_t id,
                                        const struct account_settings_row *row, int64_t now)
{
    return DB_RUN(db, account_settings_save, NULL, .id = id, .email_addr = row->email_addr,
                  .name = row->name, .country = row->country, .postal_code = row->postal_code,
                  .send_email = row->send_email, .show_hosts = row->show_hosts,
                  .email_validated = row->email_validated, .donated = row->donated,
                  .seti_id = row->seti_id, .now = now);
}

enum status db_admin_users(struct db *db, struct arena *arena, size_t most,
                           struct user_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_users, arena, ret_rows, ret_count, .most = (int64_t)most);
}
