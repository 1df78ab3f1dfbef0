/* SPDX-License-Identifier: Apache-2.0 */
/* Apps, app versions and platforms, whole tables at a time. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

/* All rows of a query whose columns are one row of `kind`. */
static enum status read_table(struct db *db, struct arena *arena, enum statement statement,
                              enum row_kind kind, void **ret_rows, size_t *ret_count)
{
    struct db_rows rows;
    size_t size = row_tables[kind].size, count = 0;
    char *items;
    enum status status = db_query(db, arena, statement, DB_NO_VALUES, &rows);

    if (status != STATUS_OK)
        return status;
    items = arena_alloc_array(arena, rows.row_count, size);
    while (items != NULL && db_rows_next(&rows))
        (void)db_cells_to_row(rows.cells, kind, items + size * count++);
    status = db_rows_end(&rows);
    *ret_rows = items;
    *ret_count = count;
    return status == STATUS_OK && items == NULL ? STATUS_TOO_LARGE : status;
}

static enum status read_host_flops(struct db *db, struct arena *arena, struct catalog_rows *found)
{
    struct db_rows rows;
    enum status status = db_query(db, arena, STATEMENT_host_flops, DB_NO_VALUES, &rows);

    if (status != STATUS_OK)
        return status;
    found->host_flops = ARENA_ARRAY(arena, rows.row_count, double);
    while (found->host_flops != NULL && db_rows_next(&rows))
        found->host_flops[found->host_flops_count++] = rows.cells[0].real;
    status = db_rows_end(&rows);
    return status == STATUS_OK && found->host_flops == NULL ? STATUS_TOO_LARGE : status;
}

enum status db_catalog(struct db *db, struct arena *arena, struct catalog_rows *ret_rows)
{
    struct catalog_rows found = {0};
    void *apps, *versions, *platforms;
    enum status status = read_table(db, arena, STATEMENT_apps, ROW_app, &apps, &found.app_count);

    if (status == STATUS_OK)
        status = read_table(db, arena, STATEMENT_app_versions, ROW_app_version, &versions,
                            &found.version_count);
    if (status == STATUS_OK)
        status = read_table(db, arena, STATEMENT_platforms, ROW_platform, &platforms,
                            &found.platform_count);
    if (status == STATUS_OK)
        status = read_host_flops(db, arena, &found);
    if (status != STATUS_OK)
        return status;
    found.apps = apps;
    found.versions = versions;
    found.platforms = platforms;
    *ret_rows = found;
    return STATUS_OK;
}
