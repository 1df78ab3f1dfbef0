/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/project_keeper.h"

#include "config/config.h"
#include "db/figure_rows.h"
#include "db/pass_note.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/metric.h"
#include "server/project/project.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "server/base/banned.h"

enum { HOUR_S = 3600 };
#define READING_BYTES_MAX ((size_t)16 * 1024 * 1024)

/* Hours lie at their number modulo the week. */
struct totals_hour {
    int64_t number; /* epoch / HOUR_S */
    double totals[TOTAL_COUNT];
};

struct project_keeper {
    pthread_mutex_t lock;
    struct arena *arena; /* of the last reading; NULL: there was none */
    struct project_totals totals;
    struct stuck_jobs stuck;
    struct pass_note_row *passes;
    size_t pass_count;
    struct totals_hour hours[WEEK_SLOTS];
    int64_t read_hour; /* of the last reading; 0: none */
    struct project_disk disks[PROJECT_DISKS_MOST];
    size_t disk_count;
};

struct project_keeper *project_keeper_create(void)
{
    struct project_keeper *keeper = calloc(1, sizeof(*keeper));

    if (keeper != NULL && pthread_mutex_init(&keeper->lock, NULL) != 0) {
        free(keeper);
        return NULL;
    }
    return keeper;
}

void project_keeper_destroy(struct project_keeper *keeper)
{
    if (keeper == NULL)
        return;
    arena_destroy(keeper->arena);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The rows of one reading, in its arena. */
struct project_reading {
    struct arena *arena;
    struct project_totals totals;
    struct stuck_jobs stuck;
    struct pass_note_row *passes;
    size_t pass_count;
    struct figures_row *hours;
    size_t hour_count;
};

static enum status read_rows(struct project_reading *reading, struct db *db, int64_t since)
{
    struct figures_row *rows;
    size_t count;
    enum status status = db_figures_read(db, reading->arena, FIGURES_NOW, 0, &rows, &count);

    if (status == STATUS_OK && count > 0 &&
        !project_totals_read(reading->arena, rows[0].figures, &reading->totals))
        status = STATUS_NO_MEMORY;
    if (status == STATUS_OK)
        status = db_figures_read(db, reading->arena, FIGURES_STUCK, 0, &rows, &count);
    if (status == STATUS_OK && count > 0 &&
        !stuck_words_read(reading->arena, rows[0].figures, &reading->stuck))
        status = STATUS_NO_MEMORY;
    if (status == STATUS_OK)
        status = db_pass_notes(db, reading->arena, &reading->passes, &reading->pass_count);
    return status == STATUS_OK ? db_figures_read(db, reading->arena, FIGURES_PROJECT, since,
                                                 &reading->hours, &reading->hour_count)
                               : status;
}

/* Under the lock. */
static bool take_hours(struct project_keeper *keeper, const struct project_reading *reading)
{
    for (size_t i = 0; i < reading->hour_count; i++) {
        int64_t number = reading->hours[i].begin / HOUR_S;
        struct totals_hour *hour = &keeper->hours[(uint64_t)number % WEEK_SLOTS];
        struct project_totals totals;

        if (!project_totals_read(reading->arena, reading->hours[i].figures, &totals))
            return false;
        hour->number = number;
        memcpy(hour->totals, totals.values, sizeof(hour->totals));
    }
    return true;
}

/* Of the hours those that may have changed: all of them the first time. */
enum status project_keeper_read(struct project_keeper *keeper, struct db *db, int64_t now)
{
    struct project_reading reading = {.arena = arena_create(READING_BYTES_MAX)};
    int64_t hour = now / HOUR_S, first = keeper->read_hour == 0 || keeper->read_hour > hour
                                             ? hour - WEEK_SLOTS + 1
                                             : keeper->read_hour - 1;
    enum status status =
        reading.arena == NULL ? STATUS_NO_MEMORY : read_rows(&reading, db, first * HOUR_S);
    struct arena *old = reading.arena;

    if (status == STATUS_OK) {
        pthread_mutex_lock(&keeper->lock);
        if (take_hours(keeper, &reading)) {
            old = keeper->arena;
            keeper->arena = reading.arena;
            keeper->totals = reading.totals;
            keeper->stuck = reading.stuck;
            keeper->passes = reading.passes;
            keeper->pass_count = reading.pass_count;
            keeper->read_hour = hour;
        } else {
            status = STATUS_NO_MEMORY;
        }
        pthread_mutex_unlock(&keeper->lock);
    }
    arena_destroy(old);
    return status;
}

/* --- disks ------------------------------------------------------------------------------------ */

/* What lies on the same file system shares a line. */
struct disk_look {
    struct project_disk disks[PROJECT_DISKS_MOST];
    dev_t devices[PROJECT_DISKS_MOST];
    size_t count;
};

static void look_at_disk(struct disk_look *look, const char *words, const char *path)
{
    struct project_disk disk = {.is_known = false};
    struct stat info = {.st_dev = 0};
    struct statvfs space;

    disk.is_known = stat(path, &info) == 0 && statvfs(path, &space) == 0;
    if (disk.is_known) {
        disk.bytes = (uint64_t)space.f_frsize * space.f_blocks;
        disk.free = (uint64_t)space.f_frsize * space.f_bavail;
    }
    for (size_t i = 0; disk.is_known && i < look->count; i++)
        if (look->disks[i].is_known && look->devices[i] == info.st_dev) {
            size_t length = strlen(look->disks[i].words);

            snprintf(look->disks[i].words + length, sizeof(look->disks[i].words) - length, ", %s",
                     words);
            return;
        }
    snprintf(disk.words, sizeof(disk.words), "%s", words);
    look->devices[look->count] = info.st_dev;
    look->disks[look->count++] = disk;
}

static void look_at_folder(struct disk_look *look, const char *words, struct text folder)
{
    char *path = folder.length > 0 ? text_keep(folder) : NULL;

    if (path != NULL)
        look_at_disk(look, words, path);
    free(path);
}

void project_keeper_look_at_disks(struct project_keeper *keeper, const struct config *config)
{
    struct disk_look look = {.count = 0};
    char path[PATH_MAX];

    project_path(config, "", path, sizeof(path));
    look_at_disk(&look, "the project's folder", path);
    look_at_folder(&look, "uploads", config->upload_dir);
    look_at_folder(&look, "downloads", config->download_dir);
    pthread_mutex_lock(&keeper->lock);
    memcpy(keeper->disks, look.disks, sizeof(keeper->disks));
    keeper->disk_count = look.count;
    pthread_mutex_unlock(&keeper->lock);
}

/* --- showing ---------------------------------------------------------------------------------- */

double project_keeper_count_seconds(struct project_keeper *keeper)
{
    double seconds;

    pthread_mutex_lock(&keeper->lock);
    seconds = keeper->totals.seconds;
    pthread_mutex_unlock(&keeper->lock);
    return seconds;
}

/* Under the lock. */
static bool copy_totals(struct project_keeper *keeper, struct arena *arena,
                        struct project_totals **ret_totals)
{
    struct project_totals *totals = ARENA_NEW(arena, struct project_totals);
    const struct project_totals *kept = &keeper->totals;

    if (totals == NULL)
        return false;
    *totals = *kept;
    totals->apps = ARENA_ARRAY(arena, kept->app_count, struct project_app);
    totals->batches = ARENA_ARRAY(arena, kept->batch_count, struct project_batch);
    if (totals->apps == NULL || totals->batches == NULL)
        return false;
    for (size_t i = 0; i < kept->app_count; i++)
        totals->apps[i] = kept->apps[i];
    for (size_t i = 0; i < kept->batch_count; i++) {
        totals->batches[i] = kept->batches[i];
        totals->batches[i].name = text_copy(arena, kept->batches[i].name);
    }
    *ret_totals = totals;
    return true;
}

static bool copy_stuck(struct project_keeper *keeper, struct arena *arena,
                       struct stuck_jobs **ret_stuck)
{
    struct stuck_jobs *stuck = ARENA_NEW(arena, struct stuck_jobs);
    struct stuck_class *classes = ARENA_ARRAY(arena, keeper->stuck.count, struct stuck_class);

    if (stuck == NULL || classes == NULL)
        return false;
    *stuck = keeper->stuck;
    stuck->classes = classes;
    for (size_t i = 0; i < stuck->count; i++) {
        const struct stuck_class *kept = &keeper->stuck.classes[i];

        classes[i] = (struct stuck_class){.app = text_copy(arena, kept->app),
                                          .job = text_copy(arena, kept->job),
                                          .words = text_copy(arena, kept->words),
                                          .jobs = kept->jobs};
    }
    *ret_stuck = stuck;
    return true;
}

static bool copy_passes(struct project_keeper *keeper, struct arena *arena,
                        struct project_figures *figures)
{
    struct pass_note_row *passes = ARENA_ARRAY(arena, keeper->pass_count, struct pass_note_row);

    if (passes == NULL)
        return false;
    for (size_t i = 0; i < keeper->pass_count; i++) {
        passes[i] = keeper->passes[i];
        passes[i].pass = text_copy(arena, keeper->passes[i].pass);
        passes[i].app = text_copy(arena, keeper->passes[i].app);
        passes[i].words = text_copy(arena, keeper->passes[i].words);
    }
    figures->passes = passes;
    figures->pass_count = keeper->pass_count;
    return true;
}

bool project_keeper_figures(struct project_keeper *keeper, struct arena *arena, int64_t now,
                            struct project_hour week[WEEK_SLOTS], struct project_figures *figures)
{
    struct project_totals *totals = NULL;
    struct stuck_jobs *stuck = NULL;
    struct project_disk *disks = ARENA_ARRAY(arena, PROJECT_DISKS_MOST, struct project_disk);
    int64_t first = now / HOUR_S - WEEK_SLOTS + 1;
    bool is_had;

    pthread_mutex_lock(&keeper->lock);
    is_had = copy_totals(keeper, arena, &totals) && copy_stuck(keeper, arena, &stuck) &&
             copy_passes(keeper, arena, figures) && disks != NULL;
    for (size_t i = 0; disks != NULL && i < keeper->disk_count; i++)
        disks[i] = keeper->disks[i];
    figures->disk_count = keeper->disk_count;
    for (int64_t i = 0; i < WEEK_SLOTS; i++) {
        const struct totals_hour *hour = &keeper->hours[(uint64_t)(first + i) % WEEK_SLOTS];

        week[i].has_totals = hour->number == first + i && hour->number > 0;
        memcpy(week[i].totals, hour->totals, sizeof(week[i].totals));
    }
    pthread_mutex_unlock(&keeper->lock);
    figures->disks = disks;
    figures->totals = totals;
    figures->stuck = stuck;
    figures->week = week;
    figures->week_begin = first * HOUR_S;
    return is_had && !arena_overflowed(arena);
}

/* Under the lock. */
static size_t passes_failing(const struct project_keeper *keeper, int64_t now)
{
    size_t count = 0;

    for (size_t i = 0; i < keeper->pass_count; i++)
        count += pass_state_of(&keeper->passes[i], now) == PASS_FAILS;
    return count;
}

void project_keeper_write(struct project_keeper *keeper, int64_t now, struct buffer *ret_page)
{
    pthread_mutex_lock(&keeper->lock);
    if (keeper->arena != NULL)
        metric_gauge(ret_page, "passes_failing",
                     "validations, assimilations and the like, by application, that have failed "
                     "for every job recently",
                     (double)passes_failing(keeper, now));
    if (keeper->totals.at != 0)
        metric_gauge(ret_page, "deletions_waiting",
                     "workunits whose input files may be deleted, at the last count",
                     keeper->totals.values[TOTAL_workunits_waiting_for_deletion]);
    if (keeper->totals.at != 0)
        metric_gauge(ret_page, "batch_outputs_bytes",
                     "bytes in output files of batches that are not retired, at the last count",
                     keeper->totals.values[TOTAL_batch_outputs_bytes]);
    if (stuck_is_current(&keeper->stuck, now)) {
        metric_gauge(ret_page, "jobs_without_hosts",
                     "waiting jobs that fitted none of the hosts asked at the last look",
                     (double)keeper->stuck.jobs);
        metric_gauge(ret_page, "jobs_without_hosts_asked", "hosts asked at the last look",
                     (double)keeper->stuck.hosts);
    }
    pthread_mutex_unlock(&keeper->lock);
}
