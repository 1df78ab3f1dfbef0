/* SPDX-License-Identifier: Apache-2.0 */
/* Apps, app versions and platforms, whole tables at a time. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

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
        status =
            DB_ALL(db, retired_versions, arena, &found.retired, &found.retired_count, DB_NO_VALUES);
    if (status == STATUS_OK)
        *ret_rows = found;
    return status;
}

enum status db_host_flops(struct db *db, struct arena *arena, int64_t most, double **ret_flops,
                          size_t *ret_count)
{
    struct host_flops_row *rows;
    size_t count;
    double *flops;
    enum status status = DB_ALL(db, host_flops, arena, &rows, &count, .most = most);

    if (status != STATUS_OK)
        return status;
    flops = ARENA_ARRAY(arena, count, double);
    if (flops == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        flops[i] = rows[i].p_fpops;
    *ret_flops = flops;
    *ret_count = count;
    return STATUS_OK;
}

enum status db_host_presences(struct db *db, struct arena *arena, int64_t most,
                              struct text **ret_presences, size_t *ret_count)
{
    struct host_presence_row *rows;
    enum status status = DB_ALL(db, host_presences, arena, &rows, ret_count, .most = most);

    *ret_presences = NULL;
    if (status != STATUS_OK)
        return status;
    *ret_presences = ARENA_ARRAY(arena, *ret_count, struct text);
    for (size_t i = 0; *ret_presences != NULL && i < *ret_count; i++)
        (*ret_presences)[i] = rows[i].presence;
    return *ret_presences != NULL ? STATUS_OK : STATUS_TOO_LARGE;
}
