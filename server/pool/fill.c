/* SPDX-License-Identifier: Apache-2.0 */
/* Filling. Three readers share one connection and take turns, a piece each:
 *
 *   news    results with ids above the highest one seen (fill_news.c)
 *   doubts  jobs that were not what the pool thought, by id
 *   sweep   everything unsent; what a sweep does not meet is dropped (fill_sweep.c)
 *
 * and the server says that it is alive, and sees which others are. Nothing is locked; each piece is
 * a transaction of its own. fill_thread.c says when steps are made. */
#include "server/pool/fill_parts.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/pool/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { FILLER_MAGIC = 0x66696c6c, DOUBTS_MOST = 256, ARENA_BYTES = 64 << 20 };
static const double beat_seconds = 5, silence_seconds = 20;
static const double sweep_pause = 0.02; /* between the pieces of a sweep, but for the first one */

struct filler *filler_create(struct pool *pool, struct config *config, int64_t server_id)
{
    struct filler *filler = calloc(1, sizeof(*filler));
    char host[FILL_NAME_BYTES / 2] = "";
    pthread_condattr_t attributes;

    if (filler == NULL)
        return NULL;
    filler->magic = FILLER_MAGIC;
    filler->arena = arena_create(ARENA_BYTES);
    if (filler->arena == NULL) {
        free(filler);
        return NULL;
    }
    filler->pool = pool;
    filler->config = config_hold(config);
    filler->server_id = server_id;
    filler->figures.servers = 1;
    (void)gethostname(host, sizeof(host) - 1);
    snprintf(filler->name, sizeof(filler->name), "%s:%ld", host, (long)getpid());
    pthread_mutex_init(&filler->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&filler->wake, &attributes);
    pthread_cond_init(&filler->done, &attributes);
    pthread_condattr_destroy(&attributes);
    return filler;
}

void filler_destroy(struct filler *filler)
{
    if (filler == NULL)
        return;
    fill_stop_thread(filler);
    config_release(filler->config);
    arena_destroy(filler->arena);
    pthread_cond_destroy(&filler->wake);
    pthread_cond_destroy(&filler->done);
    pthread_mutex_destroy(&filler->lock);
    filler->magic = 0;
    free(filler);
}

void filler_set_config(struct filler *filler, struct config *config)
{
    struct config *old;

    pthread_mutex_lock(&filler->lock);
    old = filler->config;
    filler->config = config_hold(config);
    pthread_mutex_unlock(&filler->lock);
    config_release(old);
}

struct config *fill_hold_config(struct filler *filler)
{
    struct config *config;

    pthread_mutex_lock(&filler->lock);
    config = config_hold(filler->config);
    pthread_mutex_unlock(&filler->lock);
    return config;
}

void filler_figures(struct filler *filler, struct filler_figures *ret_figures)
{
    pthread_mutex_lock(&filler->lock);
    *ret_figures = filler->figures;
    pthread_mutex_unlock(&filler->lock);
}

enum status fill_take_rows(struct filler *filler, struct db *db, const struct unsent_job *rows,
                           size_t count)
{
    struct pool_job *jobs = ARENA_ARRAY(filler->arena, count, struct pool_job);
    int64_t *gone = ARENA_ARRAY(filler->arena, count, int64_t);
    size_t job_count = 0, gone_count = 0;
    struct config *config;
    enum status status;

    if (jobs == NULL || gone == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].is_free)
            jobs[job_count++] = (struct pool_job){.resultid = rows[i].resultid,
                                                  .priority = rows[i].priority,
                                                  .workunit = rows[i].workunit};
        else
            gone[gone_count++] = rows[i].resultid;
    }
    config = fill_hold_config(filler);
    status = fill_mark_streams(db, filler->arena, config, jobs, job_count);
    config_release(config);
    if (status != STATUS_OK)
        return status;
    pool_drop(filler->pool, gone, gone_count);
    if (pool_put(filler->pool, jobs, job_count) != STATUS_OK)
        log_line(LOG_LEVEL_WARNING, "event=pool_no_memory");
    return STATUS_OK;
}

/* --- doubts and neighbours ------------------------------------------------------------------- */

static enum status read_doubts(struct filler *filler, struct db *db)
{
    int64_t ids[DOUBTS_MOST];
    size_t count = pool_distrusted(filler->pool, ids, DOUBTS_MOST), row_count = 0;
    struct unsent_job *rows = NULL;
    enum status status;

    if (count == 0)
        return STATUS_OK;
    status = db_unsent_by_id(db, filler->arena, ids, count, &rows, &row_count);
    if (status == STATUS_OK)
        return fill_take_rows(filler, db, rows, row_count);
    pool_distrust(filler->pool, ids, count); /* later, then */
    return status;
}

static enum status beat(struct filler *filler, struct db *db, double now)
{
    int64_t ids[POOL_SERVERS_MAX] = {0};
    size_t count = 0;
    enum status status;

    filler->beat_due = now + beat_seconds;
    status = db_server_beat(db, filler->server_id, text_from(filler->name));
    if (status == STATUS_OK)
        status = db_servers_alive(db, filler->arena, (int64_t)silence_seconds, ids,
                                  POOL_SERVERS_MAX, &count);
    if (status == STATUS_OK)
        status = db_commit(db);
    if (status == STATUS_DB_BUG) {
        log_event(LOG_LEVEL_WARNING, "pool_not_shared", text_from(db_error(db)));
        filler->cannot_beat = true;
        db_rollback(db);
        return STATUS_OK;
    }
    if (status != STATUS_OK)
        return status;
    pool_divide(filler->pool, filler->server_id, ids, count);
    pthread_mutex_lock(&filler->lock);
    filler->figures.servers = count;
    pthread_mutex_unlock(&filler->lock);
    return STATUS_OK;
}

enum status filler_leave(struct filler *filler, struct db *db)
{
    enum status status = db_server_leave(db, filler->server_id);
    return status == STATUS_OK ? db_commit(db) : status;
}

/* --- steps ----------------------------------------------------------------------------------- */

static enum status begin(struct filler *filler, struct db *db, double now)
{
    enum status status = fill_news_begin(filler, db, now);

    filler->has_begun = status == STATUS_OK;
    filler->sweep.due = now;
    return status;
}

static enum status step(struct filler *filler, struct db *db, const struct config *config,
                        double now, double *ret_pause)
{
    enum status status = filler->has_begun ? STATUS_OK : begin(filler, db, now);
    bool more = false;
    double beat_time = filler->is_simulated ? clock_seconds() : now; /* the others' time is real */

    if (status == STATUS_OK && beat_time >= filler->beat_due && !filler->cannot_beat)
        status = beat(filler, db, beat_time);
    if (status == STATUS_OK)
        status = fill_news(filler, db, config, now, &more);
    if (status == STATUS_OK)
        status = read_doubts(filler, db);
    if (status == STATUS_OK)
        status = fill_news_again(filler, db, now);
    if (status == STATUS_OK)
        status = fill_sweep(filler, db, config, now);
    *ret_pause = filler->news.due - now;
    if (pool_divide_some(filler->pool) || more || filler->news.looks_again)
        *ret_pause = 0;
    else if (filler->sweep.is_under_way && (filler->figures.sweeps == 0 || filler->is_simulated))
        *ret_pause = 0;
    else if (filler->sweep.is_under_way && *ret_pause > sweep_pause)
        *ret_pause = sweep_pause;
    return status;
}

enum status filler_step(struct filler *filler, struct db *db, double now, double *ret_pause)
{
    struct config *config = fill_hold_config(filler);
    enum status status;

    must(filler->magic == FILLER_MAGIC);
    status = step(filler, db, config, now, ret_pause);
    db_rollback(db);
    arena_reset(filler->arena);
    config_release(config);
    return status;
}
