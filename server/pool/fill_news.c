/* SPDX-License-Identifier: Apache-2.0 */
/* New results, by id: pages behind the highest one seen. Ids are given before commits, so a lower
 * one may show later: now and then the reader goes back to where it was a minute ago, and reads on
 * from there, a page each step. */
#include "server/pool/fill_parts.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum { PAGES_MAX = 8 /* in one step */ };
static const double mark_seconds = 5, window_seconds = 60, window_every = 10;

enum status fill_news_begin(struct filler *filler, struct db *db, double now)
{
    enum status status = db_result_last_id(db, filler->arena, &filler->news.mark);

    db_rollback(db);
    filler->news.caught_up_at = filler->news.mark_due = now;
    filler->news.window_due = now + window_every;
    return status;
}

/* One page behind *id; *ret_more: it was full. */
static enum status read_news(struct filler *filler, struct db *db, int64_t *id, bool *ret_more)
{
    struct unsent_job *rows;
    size_t count = 0;
    enum status status = db_unsent_new(db, filler->arena, *id, FILL_ROWS_PAGE, &rows, &count);

    if (status != STATUS_OK)
        return status;
    *ret_more = count == FILL_ROWS_PAGE;
    if (count > 0)
        *id = rows[count - 1].resultid;
    return fill_take_rows(filler, db, rows, count);
}

static void note_caught_up(struct filler *filler, double now)
{
    double lag = now - filler->news.caught_up_at;

    pthread_mutex_lock(&filler->lock);
    filler->figures.lag = lag;
    if (lag > filler->figures.lag_most)
        filler->figures.lag_most = lag;
    pthread_mutex_unlock(&filler->lock);
    filler->news.caught_up_at = now;
}

enum status fill_news(struct filler *filler, struct db *db, const struct config *config, double now,
                      bool *ret_more)
{
    enum status status = STATUS_OK;
    bool more = true;

    *ret_more = false;
    if (now < filler->news.due)
        return STATUS_OK;
    for (int i = 0; i < PAGES_MAX && more && status == STATUS_OK; i++) {
        status = read_news(filler, db, &filler->news.mark, &more);
        db_rollback(db);
        arena_reset(filler->arena);
    }
    if (status == STATUS_OK && !more)
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

enum status fill_news_again(struct filler *filler, struct db *db, double now)
{
    struct news_reader *news = &filler->news;
    bool more = false;
    enum status status = STATUS_OK;

    if (now >= news->mark_due) {
        news->marks[news->mark_count++ % FILL_MARKS] = news->mark;
        news->mark_due = now + mark_seconds;
    }
    if (!news->looks_again && now >= news->window_due) {
        news->looks_again = true;
        news->window_id = mark_then(news);
        news->window_due = now + window_every;
        status = lower_mark(filler, db);
    }
    if (status == STATUS_OK && news->looks_again) {
        status = read_news(filler, db, &news->window_id, &more);
        news->looks_again = more && news->window_id < news->mark;
    }
    return status;
}
