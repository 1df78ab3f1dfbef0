/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/fates_keeper.h"

#include "db/db.h"
#include "db/fate_rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/metric.h"
#include "server/fates/fates.h"
#include "server/fates/fates_summary.h"
#include "server/project/catalog.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    DAY_HOURS = 24,
    VERSIONS_MOST = 200,    /* that are kept, those that failed most */
    HOSTS_LOOKED_AT = 1000, /* of those that failed most */
    HOSTS_MOST = 20,        /* of these that are kept */
    HOST_FAILED_LEAST = 5,
    HOUR_S = 3600
};
#define READING_BYTES_MAX ((size_t)16 * 1024 * 1024)

/* One reading; it is replaced by the next one as a whole. */
struct fates_reading {
    struct arena *arena;
    struct version_fates *versions;
    size_t version_count, versions_failing, hosts_failing;
    struct host_fates_read *hosts;
    size_t host_count;
    int64_t by_fate[FATE_NUMBERS]; /* of the hour that runs and the one before */
    int64_t at;
};

/* Lies at its number modulo the week. */
struct fates_hour {
    int64_t number; /* epoch / HOUR_S */
    int64_t by_fate[FATE_NUMBERS];
};

struct fates_keeper {
    pthread_mutex_t lock;
    struct fates_reading reading; /* its arena is NULL: there is none yet */
    struct fates_hour hours[FATES_WEEK_HOURS];
    int64_t first_hour; /* of which anything was counted; 0: none */
    int64_t read_hour;  /* of the last reading; 0: none */
};

struct fates_keeper *fates_keeper_create(void)
{
    struct fates_keeper *keeper = calloc(1, sizeof(*keeper));

    if (keeper != NULL && pthread_mutex_init(&keeper->lock, NULL) != 0) {
        free(keeper);
        return NULL;
    }
    return keeper;
}

void fates_keeper_destroy(struct fates_keeper *keeper)
{
    if (keeper == NULL)
        return;
    arena_destroy(keeper->reading.arena);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct text platform_of(const struct catalog *catalog, int64_t id)
{
    for (size_t i = 0; i < catalog->rows.platform_count; i++)
        if (catalog->rows.platforms[i].id == id)
            return catalog->rows.platforms[i].name;
    return TEXT("of an unknown platform");
}

static struct text version_words(struct arena *arena, const struct catalog *catalog,
                                 const struct fates_summary *summary)
{
    const struct app_row *app = catalog_app(catalog, summary->appid);
    const struct app_version_row *version = catalog_version(catalog, summary->app_version_id);

    return fates_version_words(arena, summary, app != NULL ? app->name : NO_TEXT, version,
                               version != NULL ? platform_of(catalog, version->platformid)
                                               : NO_TEXT);
}

static enum status read_versions(struct fates_reading *reading, struct db *db,
                                 const struct catalog *catalog)
{
    struct fate_version_row *rows = NULL;
    const struct fates_summary *all;
    size_t count = 0;
    enum status status =
        db_fates_by_version(db, reading->arena, fates_since(reading->at, DAY_HOURS), &rows, &count);

    if (status != STATUS_OK)
        return status;
    all = fates_summarize(reading->arena, rows, count, &count);
    reading->versions = ARENA_ARRAY(reading->arena, VERSIONS_MOST, struct version_fates);
    if (all == NULL || reading->versions == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        bool fails = fates_alarm(all[i].ended, all[i].failed);

        reading->versions_failing += fails;
        if (reading->version_count < VERSIONS_MOST)
            reading->versions[reading->version_count++] =
                (struct version_fates){.version = version_words(reading->arena, catalog, &all[i]),
                                       .sent = all[i].sent,
                                       .ended = all[i].ended,
                                       .failed = all[i].failed,
                                       .worst_exit = all[i].worst_exit,
                                       .worst_exits = all[i].worst_exits,
                                       .fails = fails};
    }
    return arena_overflowed(reading->arena) ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Of the hours those that may have changed: all of the week the first time. */
static enum status read_hours(struct fates_keeper *keeper, struct fates_reading *reading,
                              struct db *db, struct fate_hour_row **ret_rows, size_t *ret_count)
{
    int64_t hour = reading->at / HOUR_S, since = hour - FATES_WEEK_HOURS + 1;

    if (keeper->read_hour != 0 && keeper->read_hour <= hour) /* no other thread writes it */
        since = keeper->read_hour - 1;
    return db_fates_by_hour(db, reading->arena, since, 0, ret_rows, ret_count);
}

/* Under the lock. Rows come by the hour. */
static void take_hours(struct fates_keeper *keeper, struct fates_reading *reading,
                       const struct fate_hour_row *rows, size_t count)
{
    int64_t now = reading->at / HOUR_S;

    for (size_t i = 0; i < count; i++) {
        struct fates_hour *hour = &keeper->hours[(uint64_t)rows[i].hour % FATES_WEEK_HOURS];

        if (fate_kind_of(rows[i].fate) == NULL)
            continue;
        if (i == 0 || rows[i].hour != rows[i - 1].hour)
            *hour = (struct fates_hour){.number = rows[i].hour};
        hour->by_fate[rows[i].fate] += rows[i].results;
        if (rows[i].hour >= now - 1)
            reading->by_fate[rows[i].fate] += rows[i].results;
        if (keeper->first_hour == 0 || rows[i].hour < keeper->first_hour)
            keeper->first_hour = rows[i].hour;
    }
    keeper->read_hour = now;
}

static enum status read_hosts(struct fates_reading *reading, struct db *db)
{
    struct fate_host_row *rows = NULL;
    size_t count = 0;
    enum status status = db_fates_worst_hosts(db, reading->arena, reading->at, HOST_FAILED_LEAST,
                                              HOSTS_LOOKED_AT, &rows, &count);

    if (status != STATUS_OK)
        return status;
    reading->hosts = ARENA_ARRAY(reading->arena, HOSTS_MOST, struct host_fates_read);
    if (reading->hosts == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        int64_t ended = llround(fmin(rows[i].ended, 1e15));
        int64_t failed = llround(fmin(rows[i].failed, 1e15));

        reading->hosts_failing += rows[i].failed >= rows[i].ended;
        if (reading->host_count < HOSTS_MOST)
            reading->hosts[reading->host_count++] =
                (struct host_fates_read){.id = rows[i].hostid,
                                         .ended = ended,
                                         .failed = failed,
                                         .at = rows[i].counted_at,
                                         .fails = fates_alarm(ended, failed)};
    }
    return STATUS_OK;
}

enum status fates_keeper_read(struct fates_keeper *keeper, struct db *db,
                              const struct catalog *catalog, int64_t now)
{
    struct fates_reading reading = {.arena = arena_create(READING_BYTES_MAX), .at = now}, old;
    struct fate_hour_row *hours = NULL;
    size_t hour_count = 0;
    enum status status =
        reading.arena == NULL ? STATUS_NO_MEMORY : read_versions(&reading, db, catalog);

    if (status == STATUS_OK)
        status = read_hours(keeper, &reading, db, &hours, &hour_count);
    if (status == STATUS_OK)
        status = read_hosts(&reading, db);
    if (status != STATUS_OK) {
        arena_destroy(reading.arena);
        return status;
    }
    pthread_mutex_lock(&keeper->lock);
    take_hours(keeper, &reading, hours, hour_count);
    old = keeper->reading;
    keeper->reading = reading;
    pthread_mutex_unlock(&keeper->lock);
    arena_destroy(old.arena);
    return STATUS_OK;
}

/* --- showing ---------------------------------------------------------------------------------- */

static void write_reading(const struct fates_reading *reading, struct buffer *page)
{
    metric_head(page, "results", "gauge",
                "results of the project by outcome, in this hour and the previous one");
    for (int i = 1; i < FATE_NUMBERS; i++)
        metric_value(page, "results", "fate", text_from(fate_kind_of(i)->word),
                     (double)reading->by_fate[i]);
    metric_head(page, "version_results", "gauge",
                "results of a version that ended in the last day");
    for (size_t i = 0; i < reading->version_count; i++)
        metric_value(page, "version_results", "version", reading->versions[i].version,
                     (double)reading->versions[i].ended);
    metric_head(page, "version_failures", "gauge",
                "results of a version that failed in the last day");
    for (size_t i = 0; i < reading->version_count; i++)
        metric_value(page, "version_failures", "version", reading->versions[i].version,
                     (double)reading->versions[i].failed);
    metric_gauge(page, "versions_failing",
                 "versions with more than a fifth of their results failed in the last day",
                 (double)reading->versions_failing);
    metric_gauge(page, "hosts_failing", "hosts whose recent results all failed (at least five)",
                 (double)reading->hosts_failing);
}

void fates_keeper_write(struct fates_keeper *keeper, struct buffer *ret_page)
{
    pthread_mutex_lock(&keeper->lock);
    if (keeper->reading.arena != NULL)
        write_reading(&keeper->reading, ret_page);
    pthread_mutex_unlock(&keeper->lock);
}

static void copy_week(const struct fates_keeper *keeper, int64_t now,
                      struct hour_fates week[FATES_WEEK_HOURS])
{
    int64_t first = now / HOUR_S - FATES_WEEK_HOURS + 1;

    for (int64_t i = 0; i < FATES_WEEK_HOURS; i++) {
        const struct fates_hour *hour = &keeper->hours[(uint64_t)(first + i) % FATES_WEEK_HOURS];

        week[i] = (struct hour_fates){.is_known = keeper->first_hour != 0 &&
                                                  first + i >= keeper->first_hour &&
                                                  first + i <= keeper->read_hour};
        for (int j = 0; hour->number == first + i && j < FATE_NUMBERS; j++)
            week[i].by_fate[j] = hour->by_fate[j];
    }
}

bool fates_keeper_figures(struct fates_keeper *keeper, struct arena *arena, int64_t now,
                          struct fates_figures *ret_figures)
{
    const struct fates_reading *reading = &keeper->reading;
    struct version_fates *versions;
    struct host_fates_read *hosts;

    *ret_figures = (struct fates_figures){0};
    pthread_mutex_lock(&keeper->lock);
    versions = ARENA_ARRAY(arena, reading->version_count, struct version_fates);
    hosts = ARENA_ARRAY(arena, reading->host_count, struct host_fates_read);
    for (size_t i = 0; versions != NULL && i < reading->version_count; i++) {
        versions[i] = reading->versions[i];
        versions[i].version = text_copy(arena, versions[i].version);
    }
    for (size_t i = 0; hosts != NULL && i < reading->host_count; i++)
        hosts[i] = reading->hosts[i];
    ret_figures->versions = versions;
    ret_figures->version_count = reading->version_count;
    ret_figures->versions_failing = reading->versions_failing;
    ret_figures->hosts = hosts;
    ret_figures->host_count = reading->host_count;
    ret_figures->hosts_failing = reading->hosts_failing;
    ret_figures->read_at = reading->at;
    copy_week(keeper, now, ret_figures->week);
    pthread_mutex_unlock(&keeper->lock);
    return versions != NULL && hosts != NULL && !arena_overflowed(arena);
}
