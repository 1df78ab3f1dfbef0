/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps: everything unsent, by falling priority and rising id. The first sweep reads whole rows
 * and fills the pool, and so does one after a change of job streams; later ones read ids from the
 * index alone, and rows only of jobs that the pool does not hold as they are. What a sweep does not
 * see is dropped at its end. */
#include "server/pool/fill_parts.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/policy/dispatch/stream.h"
#include "server/pool/pool.h"

#include "server/base/banned.h"

enum {
    IDS_PAGE = 4000,
    QUERIES_MAX = 64, /* in one step */
    UNKNOWN_MOST = 64 /* rows read per page of ids while the pool is full */
};
static const double sweep_soon = 2;          /* s behind the last one, while the pool is low */
static const double simulated_sweep = 21600; /* s of simulated time between two, at least */
static const double had_seconds = 600;       /* who had what is remembered for twice that at most */

static void begin_sweep(struct filler *filler, double now)
{
    pool_sweep_begin(filler->pool);
    if (now >= filler->sweep.had_due) {
        pool_forget_had(filler->pool);
        filler->sweep.had_due = now + had_seconds;
    }
    filler->sweep.is_under_way = true;
    filler->sweep.is_ending = filler->sweep.has_priority = false;
    filler->sweep.priority = INT32_MAX;
    filler->sweep.began = now;
}

/* The next priority with unsent jobs; without one the sweep comes to its end. */
static enum status find_priority(struct filler *filler, struct db *db)
{
    enum status status =
        db_unsent_priority(db, filler->arena, filler->sweep.priority, &filler->sweep.priority);

    if (status == STATUS_NOT_FOUND) {
        filler->sweep.is_ending = true;
        return STATUS_OK;
    }
    filler->sweep.has_priority = status == STATUS_OK;
    filler->sweep.id = 0;
    return status;
}

static void end_priority(struct filler *filler)
{
    filler->sweep.has_priority = false;
    if (filler->sweep.priority <= INT32_MIN)
        filler->sweep.is_ending = true;
    filler->sweep.priority--;
}

/* Of many only some, evenly: a full pool learns what it lacks without reading it all. */
static size_t thin_out(int64_t *ids, size_t count, size_t most)
{
    if (count <= most)
        return count;
    for (size_t i = 0; i < most; i++)
        ids[i] = ids[i * count / most];
    return most;
}

static enum status sweep_rows(struct filler *filler, struct db *db, size_t *ret_count)
{
    struct unsent_job *rows;
    enum status status = db_unsent_page(db, filler->arena, filler->sweep.priority, filler->sweep.id,
                                        FILL_ROWS_PAGE, &rows, ret_count);

    if (status == STATUS_OK)
        status = fill_take_rows(filler, db, rows, *ret_count);
    if (status != STATUS_OK) /* the page comes again */
        return status;
    if (*ret_count > 0)
        filler->sweep.id = rows[*ret_count - 1].resultid;
    if (*ret_count < FILL_ROWS_PAGE)
        end_priority(filler);
    return STATUS_OK;
}

static enum status sweep_ids(struct filler *filler, struct db *db,
                             const struct pool_figures *figures, size_t *ret_count)
{
    bool is_full = !figures->is_complete && !pool_is_low(filler->pool);
    struct unsent_job *rows = NULL;
    int64_t *ids = NULL;
    size_t count = 0, unknown, row_count = 0;
    int64_t last;
    enum status status = db_unsent_ids(db, filler->arena, filler->sweep.priority, filler->sweep.id,
                                       IDS_PAGE, &ids, &count);

    if (status != STATUS_OK)
        return status;
    *ret_count = count;
    last = count > 0 ? ids[count - 1] : filler->sweep.id;
    unknown = pool_confirm(filler->pool, filler->sweep.priority, ids, count);
    if (is_full && unknown > UNKNOWN_MOST)
        pool_lacks(filler->pool);
    if (is_full)
        unknown = thin_out(ids, unknown, UNKNOWN_MOST);
    if (unknown > 0)
        status = db_unsent_by_id(db, filler->arena, ids, unknown, &rows, &row_count);
    if (status == STATUS_OK)
        status = fill_take_rows(filler, db, rows, row_count);
    if (status != STATUS_OK)
        return status;
    filler->sweep.id = last;
    if (count < IDS_PAGE)
        end_priority(filler);
    return STATUS_OK;
}

static double sweep_interval(const struct filler *filler, const struct config *config)
{
    return filler->is_simulated && config->pool_sweep < simulated_sweep ? simulated_sweep
                                                                        : config->pool_sweep;
}

static void end_sweep(struct filler *filler, const struct config *config, double now)
{
    struct pool_figures figures;
    struct filler_figures own;

    for (int i = 0; pool_sweep_end(filler->pool); i++)
        if (i == FILL_PIECES)
            return;
    filler->sweep.is_under_way = false;
    filler->sweep.due = now + sweep_interval(filler, config);
    pthread_mutex_lock(&filler->lock);
    filler->figures.sweep_seconds = now - filler->sweep.began;
    filler->figures.sweeps++;
    own = filler->figures;
    filler->figures.lag_most = 0;
    pthread_mutex_unlock(&filler->lock);
    counter_add(COUNTER_pool_sweeps, 1);
    pool_figures(filler->pool, &figures);
    log_line(own.sweeps == 1 ? LOG_LEVEL_NORMAL : LOG_LEVEL_DEBUG,
             "event=pool_swept jobs=%zu own=%zu classes=%zu groups=%zu bytes=%zu complete=%d"
             " servers=%zu seconds=%.3f lag=%.3f lag_most=%.3f",
             figures.jobs, figures.own, figures.classes, figures.groups, figures.bytes,
             figures.is_complete, own.servers, own.sweep_seconds, own.lag, own.lag_most);
}

enum status fill_sweep(struct filler *filler, struct db *db, const struct config *config,
                       double now)
{
    struct pool_figures figures;
    size_t count = 0;

    pool_figures(filler->pool, &figures);
    if (!filler->sweep.is_under_way) {
        double soonest = filler->sweep.due - sweep_interval(filler, config) + sweep_soon;
        uint64_t digest = streams_digest(config);
        bool other_streams = digest != filler->sweep.streams_digest;
        if (now < filler->sweep.due && !other_streams &&
            !(pool_is_low(filler->pool) && now >= soonest))
            return STATUS_OK;
        begin_sweep(filler, now);
        filler->sweep.reads_again = other_streams;
        filler->sweep.streams_digest = digest;
        if (other_streams)
            fill_log_streams(filler->arena, config);
        return fill_weigh_streams(filler, db, config);
    }
    if (filler->sweep.is_ending) {
        end_sweep(filler, config, now);
        return STATUS_OK;
    }
    /* A project may have as many priorities as jobs, so a step takes several. */
    for (int i = 0; i < QUERIES_MAX && count < FILL_ROWS_PAGE && !filler->sweep.is_ending; i++) {
        size_t read = 0;
        enum status status;

        if (!filler->sweep.has_priority)
            status = find_priority(filler, db);
        else
            status = figures.is_filled && !filler->sweep.reads_again
                         ? sweep_ids(filler, db, &figures, &read)
                         : sweep_rows(filler, db, &read);
        if (status != STATUS_OK)
            return status;
        count += read;
        arena_reset(filler->arena);
    }
    return STATUS_OK;
}
