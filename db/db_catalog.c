/* SPDX-License-Identifier: Apache-2.0 */
/* Apps, app versions and platforms, whole tables at a time. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

static enum status read_host_flops(struct db *db, struct arena *arena, struct catalog_rows *found)
{
    struct host_flops_row *rows;
    enum status status =
        DB_ALL(db, host_flops, arena, &rows, &found->host_flops_count, DB_NO_VALUES);

    if (status != STATUS_OK)
        return status;
    found->host_flops = ARENA_ARRAY(arena, found->host_flops_count, double);
    if (found->host_flops == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < found->host_flops_count; i++)
        found->host_flops[i] = rows[i].p_fpops;
    return STATUS_OK;
}

enum status db_catalog(struct db *db, struct arena *arena, struct catalog_rows *ret_rows)
{
    struct catalog_rows found = {0};
    enum status status = DB_ALL(db, apps, arena, &found.apps, &found.app_count, DB_NO_VALUES);

    if (status == STATUS_OK)
        status =
            DB_ALL(db, app_versions, arena, &found.versions, &found.version_count, DB_NO_VALUES);
    if (status == STATUS_OK)
        status =
            DB_ALL(db, platforms, arena, &found.platforms, &found.platform_count, DB_NO_VALUES);
    if (status == STATUS_OK)
        status = read_host_flops(db, arena, &found);
    if (status == STATUS_OK)
        *ret_rows = found;
    return status;
}
