/* SPDX-License-Identifier: Apache-2.0 */
/* A command that copies files has to know whether its rows are there, even where the answer to
 * COMMIT is lost. The rows are looked for on a new connection; the look locks, so it waits until
 * the server has ended the transaction of the old one. */
#include "db/admin.h"
#include "db/mariadb.h"

#include "server/base/banned.h"

static enum status told_by_look(struct db *db, enum status look)
{
    enum status ended = db_end(db);

    if (look == STATUS_NOT_FOUND)
        return STATUS_DB_GONE;
    return look == STATUS_OK && ended == STATUS_OK ? STATUS_OK : STATUS_DB_UNKNOWN;
}

enum status db_admin_jobs_commit(struct db *db, struct text last)
{
    enum status status = db_commit(db);
    struct id_row row;

    if (status != STATUS_DB_UNKNOWN || last.length == 0 || db_reopen(db) != STATUS_OK)
        return status;
    return told_by_look(db, DB_ONE(db, admin_workunit_there, NULL, &row, .name = last));
}

enum status db_admin_version_commit(struct db *db, int64_t id)
{
    enum status status = db_commit(db);
    struct id_row row;

    if (status != STATUS_DB_UNKNOWN || db_reopen(db) != STATUS_OK)
        return status;
    return told_by_look(db, DB_ONE(db, admin_version_there, NULL, &row, .id = id));
}
