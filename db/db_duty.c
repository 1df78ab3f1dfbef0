/* SPDX-License-Identifier: Apache-2.0 */
/* Duties that one of the servers does for all, and what they write. The columns written here
 * belong to other programs as well, so a row is changed only if it still is what was read. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum status db_duty_take(struct db *db, struct text name, int64_t interval, bool *ret_is_ours)
{
    uint64_t affected = 0;
    enum status status = DB_RUN(db, duty_take, &affected, .name = name, .interval = interval);

    if (status == STATUS_OK)
        *ret_is_ours = affected == 1;
    return status;
}

enum status db_version_samples(struct db *db, struct arena *arena,
                               struct version_samples_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, version_samples, arena, ret_rows, ret_count, DB_NO_VALUES);
}

enum status db_version_scales_save(struct db *db, struct arena *arena,
                                   const struct version_scale *scales, size_t count,
                                   uint64_t *ret_saved)
{
    struct version_scale_save_values *values =
        ARENA_ARRAY(arena, count, struct version_scale_save_values);

    *ret_saved = 0;
    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct version_scale_save_values){.id = scales[i].read.id,
                                                       .pfc_scale = scales[i].pfc_scale,
                                                       .pfc_n = scales[i].read.pfc_n,
                                                       .scale_was = scales[i].read.pfc_scale};
    return DB_RUN_BULK(db, version_scale_save, values, count, ret_saved);
}

enum status db_app_efficiencies_save(struct db *db, struct arena *arena,
                                     const struct app_efficiency *apps, size_t count)
{
    struct app_efficiency_save_values *values =
        ARENA_ARRAY(arena, count, struct app_efficiency_save_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct app_efficiency_save_values){.id = apps[i].appid,
                                                        .min_avg_pfc = apps[i].min_avg_pfc};
    return DB_RUN_BULK(db, app_efficiency_save, values, count, NULL);
}
