/* SPDX-License-Identifier: Apache-2.0 */
/* Duties that one of the servers does for all, and what they write. The columns written here
 * belong to other programs as well, so a row is changed only if it still is what was read. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum status db_duty_take(struct db *db, struct text name, int64_t interval, bool *ret_is_ours)
{
    uint64_t affected = 0;
    enum status status =
        db_run(db, STATEMENT_duty_take,
               DB_VALUES(db_integer(interval), db_text(name), db_integer(interval)), &affected);

    if (status == STATUS_OK)
        *ret_is_ours = affected == 1;
    return status;
}

enum status db_version_samples(struct db *db, struct arena *arena,
                               struct version_samples **ret_rows, size_t *ret_count)
{
    struct version_samples *items;
    size_t count = 0;
    struct db_rows rows;
    enum status status = db_query(db, arena, STATEMENT_version_samples, DB_NO_VALUES, &rows);

    if (status != STATUS_OK)
        return status;
    items = ARENA_ARRAY(arena, rows.row_count, struct version_samples);
    while (items != NULL && db_rows_next(&rows))
        items[count++] = (struct version_samples){.id = rows.cells[0].integer,
                                                  .pfc_n = rows.cells[1].real,
                                                  .pfc_avg = rows.cells[2].real,
                                                  .pfc_scale = rows.cells[3].real};
    status = db_rows_end(&rows);
    if (status == STATUS_OK && items == NULL)
        status = STATUS_TOO_LARGE;
    if (status == STATUS_OK) {
        *ret_rows = items;
        *ret_count = count;
    }
    return status;
}

enum { SCALE_VALUES = 4, BASE_VALUES = 2 };

enum status db_version_scales_save(struct db *db, struct arena *arena,
                                   const struct version_scale *scales, size_t count,
                                   uint64_t *ret_saved)
{
    struct db_value *values = ARENA_ARRAY(arena, count * SCALE_VALUES, struct db_value);

    *ret_saved = 0;
    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        struct db_value *value = values + i * SCALE_VALUES;

        value[0] = db_real(scales[i].pfc_scale);
        value[1] = db_id(scales[i].read.id);
        value[2] = db_real(scales[i].read.pfc_n);
        value[3] = db_real(scales[i].read.pfc_scale);
    }
    return db_run_bulk(db, STATEMENT_version_scale_save, values, SCALE_VALUES, count, ret_saved);
}

enum status db_app_efficiencies_save(struct db *db, struct arena *arena,
                                     const struct app_efficiency *apps, size_t count)
{
    struct db_value *values = ARENA_ARRAY(arena, count * BASE_VALUES, struct db_value);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        values[i * BASE_VALUES] = db_real(apps[i].min_avg_pfc);
        values[i * BASE_VALUES + 1] = db_id(apps[i].appid);
    }
    return db_run_bulk(db, STATEMENT_app_efficiency_save, values, BASE_VALUES, count, NULL);
}
