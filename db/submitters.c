/* SPDX-License-Identifier: Apache-2.0 */
#include "db/submitters.h"

#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_submitter_list(struct db *db, struct arena *arena, struct submitter_row **ret_rows,
                              size_t *ret_count)
{
    return DB_ALL(db, submitters, arena, ret_rows, ret_count, DB_NO_VALUES);
}

enum status db_submitter_lock(struct db *db, int64_t userid,
                              struct submitter_rights_row *ret_rights)
{
    return DB_ONE(db, submitter_lock, NULL, ret_rights, .user_id = userid);
}

enum status db_submitter_save(struct db *db, int64_t userid,
                              const struct submitter_rights_row *rights)
{
    return DB_RUN(db, submitter_save, NULL, .user_id = userid, .quota = rights->quota,
                  .submit_all = rights->submit_all, .manage_all = rights->manage_all,
                  .max_jobs_in_progress = rights->max_jobs_in_progress);
}

enum status db_submitter_allow(struct db *db, int64_t userid, int64_t appid)
{
    return DB_RUN(db, submitter_app_add, NULL, .user_id = userid, .app_id = appid);
}

enum status db_submitter_forbid(struct db *db, int64_t userid, int64_t appid)
{
    return DB_RUN(db, submitter_app_remove, NULL, .user_id = userid, .app_id = appid);
}

enum status db_submitter_remove(struct db *db, int64_t userid, bool *ret_was)
{
    uint64_t rows = 0;
    enum status status = DB_RUN(db, submitter_apps_remove, NULL, .user_id = userid);

    if (status == STATUS_OK)
        status = DB_RUN(db, submitter_remove, &rows, .user_id = userid);
    *ret_was = rows > 0;
    return status;
}
