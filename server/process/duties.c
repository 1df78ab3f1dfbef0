/* SPDX-License-Identifier: Apache-2.0 */
/* Two duties: the comparison of app versions, and credit that fades.
 *
 * A project's feeder compares the efficiency of app versions from time to time; without one, a
 * server does it: policy(7) 13.2.
 *
 * Taking the turn and doing the work are one transaction, so no lease can outlive its holder. Two
 * that do it nevertheless (a feeder that still runs) compute the same from the same rows. The
 * validator writes app_version all the time, under the condition that a row is as it was read; so
 * do we, and read the rows again that were not. */
#include "server/process/duties.h"

#include "server/base/arena.h"
#include "server/policy/version/credit_scale.h"
#include "server/policy/version/version_choice.h"
#include "server/project/catalog.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { ATTEMPTS_MAX = 3 };
#define DUTY_BYTES_MAX ((size_t)64 * 1024 * 1024)
static const double same_within = 1e-9; /* of a scale */

/* The versions that the feeder would know: the newest, or all that app.min_version lets pass. */
static bool is_compared(const struct catalog *catalog, const struct app_row *app,
                        const struct app_version_row *version)
{
    if (version->appid != app->id)
        return false;
    return app->min_version > 0 ? version->version_num >= app->min_version
                                : catalog_version_is_current(catalog, version);
}

static int compare_id(const void *key, const void *row)
{
    int64_t id = *(const int64_t *)key, other = ((const struct version_samples_row *)row)->id;
    return (id > other) - (id < other);
}

/* What the rows say, and what they should. */
struct comparison {
    const struct catalog *catalog;
    struct version_samples_row *rows; /* by id */
    size_t row_count;
    struct version_efficiency *versions;   /* of one app */
    const struct version_samples_row **of; /* their rows */
    struct version_scale *scales;          /* to be changed, of all apps */
    size_t scale_count;
    struct app_efficiency *apps;
    size_t app_count;
};

static void compare_app(struct comparison *comparison, const struct app_row *app)
{
    const struct catalog_rows *rows = &comparison->catalog->rows;
    size_t count = 0;
    double base;

    for (size_t i = 0; i < rows->version_count; i++) {
        const struct app_version_row *version = &rows->versions[i];
        const struct version_samples_row *row;

        if (!is_compared(comparison->catalog, app, version))
            continue;
        row = bsearch(&version->id, comparison->rows, comparison->row_count, sizeof(*row),
                      compare_id);
        if (row == NULL)
            continue;
        comparison->of[count] = row;
        comparison->versions[count++] = (struct version_efficiency){
            .is_gpu = !text_is(plan_class_type(version->plan_class), "CPU"),
            .pfc_n = row->pfc_n,
            .pfc_avg = row->pfc_avg,
        };
    }
    base = credit_scale_base(comparison->versions, count);
    if (base <= 0)
        return;
    comparison->apps[comparison->app_count++] =
        (struct app_efficiency){.appid = app->id, .min_avg_pfc = base};
    for (size_t i = 0; i < count; i++) {
        double scale = credit_scale_of(&comparison->versions[i], base);
        double now = comparison->of[i]->pfc_scale;

        if (scale > 0 && !(fabs(scale - now) <= same_within * scale))
            comparison->scales[comparison->scale_count++] =
                (struct version_scale){.read = *comparison->of[i], .pfc_scale = scale};
    }
}

/* *ret_is_done: no row was changed by others between reading and writing. */
static enum status compare_all(struct db *db, const struct catalog *catalog, struct arena *arena,
                               bool *ret_is_done)
{
    const struct catalog_rows *rows = &catalog->rows;
    struct comparison comparison = {
        .catalog = catalog,
        .versions = ARENA_ARRAY(arena, rows->version_count, struct version_efficiency),
        .of = ARENA_ARRAY(arena, rows->version_count, const struct version_samples_row *),
        .scales = ARENA_ARRAY(arena, rows->version_count, struct version_scale),
        .apps = ARENA_ARRAY(arena, rows->app_count, struct app_efficiency)};
    uint64_t saved = 0;
    enum status status = db_version_samples(db, arena, &comparison.rows, &comparison.row_count);

    if (status != STATUS_OK)
        return status;
    if (arena_overflowed(arena))
        return STATUS_TOO_LARGE;
    if (comparison.row_count > 0) {
        for (size_t i = 0; i < rows->app_count; i++)
            if (rows->apps[i].deprecated == 0)
                compare_app(&comparison, &rows->apps[i]);
    }
    if (comparison.scale_count > 0)
        status =
            db_version_scales_save(db, arena, comparison.scales, comparison.scale_count, &saved);
    if (status == STATUS_OK && comparison.app_count > 0)
        status = db_app_efficiencies_save(db, arena, comparison.apps, comparison.app_count);
    *ret_is_done = saved == comparison.scale_count;
    return status;
}

enum status duty_credit_scales(struct db *db, const struct catalog *catalog, int64_t interval,
                               bool *ret_done)
{
    struct arena *arena = arena_create(DUTY_BYTES_MAX);
    bool is_ours = false, is_done = false;
    enum status status = STATUS_NO_MEMORY;

    if (arena != NULL)
        status = db_duty_take(db, TEXT("credit scales"), interval, &is_ours);
    for (int i = 0; i < ATTEMPTS_MAX && status == STATUS_OK && is_ours && !is_done; i++)
        status = compare_all(db, catalog, arena, &is_done);
    if (status == STATUS_OK && is_ours)
        status = db_commit(db);
    if (status != STATUS_OK || !is_ours)
        (void)db_rollback(db);
    arena_destroy(arena);
    *ret_done = status == STATUS_OK && is_ours;
    return status;
}

/* --- credit that fades ------------------------------------------------------------------------ */

/* Rows that faded within a day are left alone, so a round each hour finds a part of them, and what
 * a server that died has left is done an hour later. */
enum { FADING_SECONDS = 3600 };

static enum status fading_step(struct db *db, struct arena *arena, struct fading *fading,
                               int64_t now)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < FADING_PARTS && status == STATUS_OK && fading->is_under_way; i++) {
        size_t looked_at = 0;

        status = db_credit_fade(db, arena, now, &fading->place, &looked_at);
        if (status == STATUS_OK)
            status = db_commit(db);
        fading->looked_at += looked_at;
        fading->is_under_way = status == STATUS_OK && fading->place.table != FADING_END;
        arena_reset(arena);
    }
    return status;
}

enum status duty_fading_credit(struct db *db, struct fading *fading, int64_t now, bool *ret_ended)
{
    struct arena *arena = arena_create(DUTY_BYTES_MAX);
    enum status status = arena == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    bool was_under_way;

    if (status == STATUS_OK && !fading->is_under_way) {
        *fading = (struct fading){.looked_at = 0};
        status = db_duty_take(db, TEXT("fading credit"), FADING_SECONDS, &fading->is_under_way);
        if (status == STATUS_OK)
            status = db_commit(db);
    }
    was_under_way = fading->is_under_way;
    if (status == STATUS_OK)
        status = fading_step(db, arena, fading, now);
    if (status != STATUS_OK) {
        fading->is_under_way = false;
        (void)db_rollback(db);
    }
    arena_destroy(arena);
    *ret_ended = status == STATUS_OK && was_under_way && !fading->is_under_way;
    return status;
}
