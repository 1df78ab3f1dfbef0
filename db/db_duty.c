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

/* --- credit that fades ------------------------------------------------------------------------ */

enum { DAY = 86400 };

/* Behind a part: the next one of the table, or the next table. */
static void go_on(struct fading_place *place, int64_t last, size_t count)
{
    if (count == FADING_ROWS)
        place->after = last;
    else
        *place = (struct fading_place){.table = place->table + 1};
}

static enum status fade_rows(struct db *db, struct arena *arena, int64_t now,
                             struct fading_place *place, size_t *ret_count)
{
    bool are_users = place->table == FADING_USERS;
    int64_t before = now - DAY, ids[FADING_ROWS], last = 0;
    struct fading_row *rows;
    struct db_ids due = {.items = ids};
    enum status status = are_users
                             ? DB_ALL(db, fading_users, arena, &rows, ret_count, .before = before,
                                      .after = place->after, .most = FADING_ROWS)
                             : DB_ALL(db, fading_hosts, arena, &rows, ret_count, .before = before,
                                      .after = place->after, .most = FADING_ROWS);

    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < *ret_count; i++) {
        last = rows[i].id;
        if (rows[i].is_due != 0)
            ids[due.count++] = rows[i].id;
    }
    go_on(place, last, *ret_count);
    if (due.count == 0)
        return STATUS_OK;
    return are_users ? DB_RUN(db, fade_users, NULL, .ids = due, .now = now, .before = before)
                     : DB_RUN(db, fade_hosts, NULL, .ids = due, .now = now, .before = before);
}

static enum status fade_teams(struct db *db, struct arena *arena, int64_t now,
                              struct fading_place *place, size_t *ret_count)
{
    int64_t before = now - DAY, ids[FADING_ROWS], last = 0;
    struct team_size_save_values sizes[FADING_ROWS];
    struct fading_team_row *rows;
    struct db_ids due = {.items = ids};
    size_t size_count = 0;
    enum status status = DB_ALL(db, fading_teams, arena, &rows, ret_count, .before = before,
                                .after = place->after, .most = FADING_ROWS);

    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < *ret_count; i++) {
        last = rows[i].id;
        if (rows[i].is_due != 0)
            ids[due.count++] = rows[i].id;
        if (rows[i].nusers != rows[i].members)
            sizes[size_count++] =
                (struct team_size_save_values){.id = rows[i].id, .nusers = rows[i].members};
    }
    go_on(place, last, *ret_count);
    if (due.count > 0)
        status = DB_RUN(db, fade_teams, NULL, .ids = due, .now = now, .before = before);
    return status == STATUS_OK && size_count > 0
               ? DB_RUN_BULK(db, team_size_save, sizes, size_count, NULL)
               : status;
}

enum status db_credit_fade(struct db *db, struct arena *arena, int64_t now,
                           struct fading_place *place, size_t *ret_looked_at)
{
    *ret_looked_at = 0;
    switch (place->table) {
    case FADING_USERS:
    case FADING_HOSTS:
        return fade_rows(db, arena, now, place, ret_looked_at);
    case FADING_TEAMS:
        return fade_teams(db, arena, now, place, ret_looked_at);
    case FADING_VERSIONS:
        place->table = FADING_END;
        return DB_RUN(db, fade_versions, NULL, .now = now, .before = now - DAY);
    case FADING_END:
        break;
    }
    return STATUS_OK;
}
