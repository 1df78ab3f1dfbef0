/* SPDX-License-Identifier: Apache-2.0 */
/* Apps, their versions, platforms and accounts, as an administrator adds and looks them up. None of
 * this is on the path of a request, so there is one statement for each question and no batching. */
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

static enum status find_id(struct db *db, enum statement statement, struct text name,
                           int64_t *ret_id)
{
    struct db_cell cell;
    enum status status = db_query_one(db, NULL, statement, DB_VALUES(db_text(name)), &cell, 1);
    if (status == STATUS_OK)
        *ret_id = cell.integer;
    return status;
}

static enum status inserted(const struct db *db, enum status status, int64_t *ret_id)
{
    if (status == STATUS_OK)
        *ret_id = db_inserted_id(db);
    return status;
}

enum status db_admin_platform_find(struct db *db, struct text name, int64_t *ret_id)
{
    return find_id(db, STATEMENT_admin_platform_find, name, ret_id);
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
    return db_run(db, STATEMENT_admin_platform_add,
                  DB_VALUES(db_integer(now), db_text(name), db_text(friendly_name)), NULL);
}

enum status db_admin_app_add(struct db *db, struct text name, struct text friendly_name,
                             int64_t now, int64_t *ret_id)
{
    enum status status =
        db_run(db, STATEMENT_admin_app_add,
               DB_VALUES(db_integer(now), db_text(name), db_text(friendly_name)), NULL);
    return inserted(db, status, ret_id);
}

/* The one row of a query, or STATUS_NOT_FOUND. */
static enum status one_row(struct db *db, struct arena *arena, enum statement statement,
                           const struct db_value value, enum row_kind kind, void *ret_row)
{
    struct db_rows rows;
    enum status status = db_query(db, arena, statement, &value, 1, &rows);
    if (status != STATUS_OK)
        return status;
    bool found = db_rows_next(&rows);
    if (found)
        (void)db_cells_to_row(rows.cells, kind, ret_row);
    status = db_rows_end(&rows);
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

enum status db_admin_app_find(struct db *db, struct arena *arena, struct text name,
                              struct app_row *ret_app)
{
    return one_row(db, arena, STATEMENT_admin_app_find, db_text(name), ROW_app, ret_app);
}

enum status db_admin_app_deprecate(struct db *db, int64_t id, bool deprecated)
{
    return db_run(db, STATEMENT_admin_app_deprecate, DB_VALUES(db_integer(deprecated), db_id(id)),
                  NULL);
}

enum status db_admin_version_add(struct db *db, const struct new_version *version, int64_t *ret_id)
{
    enum status status =
        db_run(db, STATEMENT_admin_version_add,
               DB_VALUES(db_integer(version->now), db_id(version->appid),
                         db_integer(version->version_num), db_id(version->platformid),
                         db_text(version->plan_class), db_bytes(version->xml_doc, DB_MEDIUM_MOST)),
               NULL);
    return inserted(db, status, ret_id);
}

enum status db_admin_versions(struct db *db, struct arena *arena, struct version_entry **ret_rows,
                              size_t *ret_count)
{
    struct db_rows rows;
    size_t count = 0;
    enum status status = db_query(db, arena, STATEMENT_admin_versions, DB_NO_VALUES, &rows);
    if (status != STATUS_OK)
        return status;
    struct version_entry *entries = ARENA_ARRAY(arena, rows.row_count, struct version_entry);
    while (entries != NULL && count < rows.row_count && db_rows_next(&rows)) {
        struct version_entry *entry = &entries[count++];
        const struct db_cell *behind = db_cells_to_row(rows.cells, ROW_app_version, &entry->row);
        entry->app = behind[0].text;
        entry->platform = behind[1].text;
    }
    status = db_rows_end(&rows);
    if (entries == NULL)
        return STATUS_NO_MEMORY;
    *ret_rows = entries;
    *ret_count = count;
    return status;
}

enum status db_admin_version_deprecate(struct db *db, int64_t id, bool deprecated)
{
    return db_run(db, STATEMENT_admin_version_deprecate,
                  DB_VALUES(db_integer(deprecated), db_id(id)), NULL);
}

enum status db_admin_version_save_document(struct db *db, int64_t id, struct text xml_doc)
{
    return db_run(db, STATEMENT_admin_version_save_document,
                  DB_VALUES(db_bytes(xml_doc, DB_MEDIUM_MOST), db_id(id)), NULL);
}

enum status db_admin_user_add(struct db *db, const struct new_user *user, int64_t *ret_id)
{
    enum status status =
        db_run(db, STATEMENT_admin_user_add,
               DB_VALUES(db_integer(user->now), db_text(user->email_addr), db_text(user->name),
                         db_text(user->authenticator), db_text(user->passwd_hash),
                         db_text(user->cross_project_id)),
               NULL);
    return inserted(db, status, ret_id);
}

enum status db_admin_user_find(struct db *db, struct arena *arena, struct text email_addr,
                               int64_t id, struct user_row *ret_user)
{
    if (id != 0)
        return one_row(db, arena, STATEMENT_admin_user_by_id, db_id(id), ROW_user, ret_user);
    return one_row(db, arena, STATEMENT_admin_user_by_email, db_text(email_addr), ROW_user,
                   ret_user);
}

enum status db_admin_users(struct db *db, struct arena *arena, size_t most,
                           struct user_row **ret_rows, size_t *ret_count)
{
    struct db_rows rows;
    size_t count = 0;
    enum status status =
        db_query(db, arena, STATEMENT_admin_users, DB_VALUES(db_id((int64_t)most)), &rows);
    if (status != STATUS_OK)
        return status;
    struct user_row *users = ARENA_ARRAY(arena, rows.row_count, struct user_row);
    while (users != NULL && count < rows.row_count && db_rows_next(&rows))
        (void)db_cells_to_row(rows.cells, ROW_user, &users[count++]);
    status = db_rows_end(&rows);
    if (users == NULL)
        return STATUS_NO_MEMORY;
    *ret_rows = users;
    *ret_count = count;
    return status;
}
