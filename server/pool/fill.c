/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of filling. New results are read in pages behind the highest id seen. Ids are given
 * before commits, so a lower one may show later: now and then the reader goes back to where it was
 * a minute ago, and reads on from there, a page each step. */
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

enum {
    PAGES_MAX = 8, /* of new jobs in one step */
    REREAD_MOST = 256
};
static const double mark_seconds = 5, window_seconds = 60, window_every = 10;
static const double beat_seconds = 5;
static const double look_seconds = 1;   /* until one that came is left its part of the jobs */
static const double sweep_pause = 0.02; /* between the pieces of a sweep, but for the first one */

/* --- new jobs --------------------------------------------------------------------------------- */

/* New jobs begin where the table ends now; the first sweep brings all before. */
static enum status begin_news(struct filler *filler, struct db *db, double now)
{
    enum status status = db_result_last_id(db, filler->arena, &filler->news.mark);

    db_rollback(db);
    filler->news.caught_up_at = filler->news.mark_due = now;
    filler->news.window_due = now + window_every;
    return status;
}

/* One page behind *id; *ret_more: it was full. */
static enum status read_page(struct filler *filler, struct db *db, int64_t *id, bool *ret_more)
{
    struct unsent_job *rows;
    size_t count = 0;
    enum status status = db_unsent_new(db, filler->arena, *id, FILL_ROWS_PAGE, &rows, &count);

    if (status != STATUS_OK)
        return status;
    status = fill_take_rows(filler, db, rows, count);
    if (status != STATUS_OK) /* the page comes again */
        return status;
    *ret_more = count == FILL_ROWS_PAGE;
    if (count > 0)
        *id = rows[count - 1].resultid;
    return STATUS_OK;
}

static void note_caught_up(struct filler *filler, double now)
{
    double lag = now - filler->news.caught_up_at;

    pthread_mutex_lock(&filler->lock);
    filler->figures.lag = lag;
    filler->figures.read_at = now;
    if (lag > filler->figures.lag_most)
        filler->figures.lag_most = lag;
    pthread_mutex_unlock(&filler->lock);
    filler->news.caught_up_at = now;
}

/* Some pages of new jobs, if it is time; *ret_more: there are more. */
static enum status read_new_pages(struct filler *filler, struct db *db, const struct config *config,
                                  double now, bool *ret_more)
{
    enum status status = STATUS_OK;
    bool more = true;

    *ret_more = false;
    if (now < filler->news.due)
        return STATUS_OK;
    for (int i = 0; i < PAGES_MAX && more && status == STATUS_OK; i++) {
        status = read_page(filler, db, &filler->news.mark, &more);
        db_rollback(db);
        arena_reset(filler->arena);
    }
    if (status != STATUS_OK)
        return status;
    if (!more)
        note_caught_up(filler, now);
    filler->news.due = more ? now : now + config->pool_refresh;
    *ret_more = more;
    return status;
}

/* Where the mark was a minute ago, or as long ago as we know. */
static int64_t mark_then(const struct news_reader *news)
{
    size_t age = (size_t)(window_seconds / mark_seconds);

    if (news->mark_count < age)
        age = news->mark_count;
    return age == 0 ? news->mark : news->marks[(news->mark_count - age) % FILL_MARKS];
}

/* A database brought back from a copy begins again at lower ids. */
static enum status lower_mark(struct filler *filler, struct db *db)
{
    struct news_reader *news = &filler->news;
    int64_t last = news->mark;
    enum status status = db_result_last_id(db, filler->arena, &last);

    if (status == STATUS_OK && last < news->mark)
        news->mark = last;
    return status;
}

/* Now and then, a page of ids that were passed before. */
static enum status read_window(struct filler *filler, struct db *db, double now)
{
    struct news_reader *news = &filler->news;
    bool more = false;
    enum status status = STATUS_OK;

    if (now >= news->mark_due) {
        news->marks[news->mark_count++ % FILL_MARKS] = news->mark;
        news->mark_due = now + mark_seconds;
    }
    if (!news->is_in_window && now >= news->window_due) {
        news->is_in_window = true;
        news->window_id = mark_then(news);
        news->window_due = now + window_every;
        status = lower_mark(filler, db);
    }
    if (status == STATUS_OK && news->is_in_window) {
        status = read_page(filler, db, &news->window_id, &more);
        if (status == STATUS_OK)
            news->is_in_window = more && news->window_id < news->mark;
    }
    return status;
}

/* --- jobs to read again, and other servers ---------------------------------------------------- */

static enum status reread(struct filler *filler, struct db *db)
{
    int64_t ids[REREAD_MOST];
    size_t count = pool_to_reread(filler->pool, ids, REREAD_MOST), row_count = 0;
    struct unsent_job *rows = NULL;
    enum status status;

    if (count == 0)
        return STATUS_OK;
    status = db_unsent_by_id(db, filler->arena, ids, count, &rows, &row_count);
    if (status == STATUS_OK)
        status = fill_take_rows(filler, db, rows, row_count);
    if (status != STATUS_OK)
        pool_reread(filler->pool, ids, count); /* later, then */
    return status;
}

/* Says now and then that this server lives, and looks more often which others do: until both know
 * of each other, both take the same jobs first. */
static enum status beat(struct filler *filler, struct db *db, double now)
{
    int64_t ids[POOL_SERVERS_MAX] = {0};
    size_t count = 0;
    enum status status = STATUS_OK;

    if (now >= filler->beat_due) {
        filler->beat_due = now + beat_seconds;
        status = db_server_beat(db, filler->server_id, text_from(filler->name));
    }
    filler->look_due = now + look_seconds;
    if (status == STATUS_OK)
        status =
            db_servers_alive(db, filler->arena, SERVER_SILENT_S, ids, POOL_SERVERS_MAX, &count);
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
    filler->figures.server_id = filler->server_id;
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
    enum status status = begin_news(filler, db, now);

    filler->has_begun = status == STATUS_OK;
    filler->sweep.due = now;
    return status;
}

static bool divide_some(struct pool *pool)
{
    bool more = true;

    for (int i = 0; i < FILL_PIECES && more; i++)
        more = pool_divide_some(pool);
    return more;
}

static enum status step(struct filler *filler, struct db *db, const struct config *config,
                        double now, double *ret_pause)
{
    enum status status = filler->has_begun ? STATUS_OK : begin(filler, db, now);
    bool more = false;
    double beat_time = filler->is_simulated ? clock_seconds() : now; /* the others' time is real */

    if (status == STATUS_OK && beat_time >= filler->look_due && !filler->cannot_beat)
        status = beat(filler, db, beat_time);
    if (status == STATUS_OK)
        status = read_new_pages(filler, db, config, now, &more);
    if (status == STATUS_OK)
        status = reread(filler, db);
    if (status == STATUS_OK)
        status = read_window(filler, db, now);
    if (status == STATUS_OK)
        status = fill_sweep(filler, db, config, now);
    if (status == STATUS_OK)
        status = fill_keep_streams(filler, db, config, now);
    *ret_pause = filler->news.due - now;
    if (divide_some(filler->pool) || more || filler->news.is_in_window)
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
