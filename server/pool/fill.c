/* SPDX-License-Identifier: Apache-2.0 */
/* Filling. Three readers share one connection and take turns, a page each:
 *
 *   news     results with ids above the highest one seen. Ids are given before commits, so a
 *            lower one may show later: now and then the reader goes back to where it was a minute
 *            ago
 *   sweep    everything unsent, by falling priority and rising id. The first sweep reads whole
 *            rows and fills the pool, and so does one after a change of job streams; later ones
 * read ids from the index alone, and rows only of jobs that the pool does not hold as they are.
 * What a sweep does not meet is dropped doubts   jobs that were not what the pool thought, by id
 *
 * and the server says that it is alive, and sees which others are. Nothing is locked; each page is
 * a transaction of its own.
 *
 * In simulated time months pass in minutes: a look every second would be all that the database
 * does, and by real time the pool would be days behind. So the thread then works only while a
 * request waits for it, in long steps of that time, and what a request finds does not depend on how
 * fast anything is. */
#include "server/pool/fill.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/policy/stream.h"
#include "server/pool/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    FILLER_MAGIC = 0x66696c6c,
    ROWS_PAGE = 1000,
    IDS_PAGE = 4000,
    NEWS_PAGES = 8, /* in one step */
    SWEEP_QUERIES = 64,
    UNKNOWN_MOST = 64, /* rows read per page of ids while the pool is full */
    DOUBTS_MOST = 256,
    MARKS = 16,
    ARENA_BYTES = 64 << 20,
    NAME_BYTES = 128
};
static const double beat_seconds = 5, silence_seconds = 20;
static const double mark_seconds = 5, window_seconds = 60, window_every = 10;
static const double sweep_pause = 0.02, sweep_soon = 2;
static const double reconnect_pause = 1;
/* In simulated time. What takes longer than the patience (real) is not waited for. */
static const double simulated_step = 600, simulated_sweep = 21600, simulated_patience = 120;
static const double another_run = 86400; /* s back: no request that was overtaken */
static const double met_seconds = 600;   /* twice that at most is remembered what was met */

struct filler {
    unsigned magic;
    struct pool *pool;
    struct arena *arena;
    int64_t server_id;
    char name[NAME_BYTES];

    pthread_mutex_t lock; /* of the config pointer, the figures, the times and the conditions */
    pthread_cond_t wake, done;
    struct config *config;
    struct filler_figures figures;
    bool stopping;

    pthread_t thread;
    bool has_thread;

    bool is_simulated;
    /* Simulated time that has passed: what requests want (-1: none came), the last step, the next.
     * A clock of requests may be set back; this one only goes on. */
    double wanted, reached, due, latest; /* latest: of the requests' clock */

    bool has_begun;
    double beat_due;
    bool cannot_beat; /* no such table: alone */

    int64_t mark; /* highest id seen */
    double news_due, caught_up_at, mark_due, window_due;
    int64_t marks[MARKS]; /* mark as it was, every mark_seconds; a ring */
    size_t mark_count;
    bool looks_again; /* behind window_id */
    int64_t window_id;

    bool is_sweeping, is_ending, has_priority;
    int64_t sweep_priority, sweep_id;
    double sweep_due, sweep_began;
    double met_due;
    uint64_t streams_key;
    bool reads_again; /* this sweep: the job streams are others now */
};

struct filler *filler_create(struct pool *pool, struct config *config, int64_t server_id)
{
    struct filler *filler = calloc(1, sizeof(*filler));
    char host[NAME_BYTES / 2] = "";
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

void filler_simulate(struct filler *filler)
{
    filler->is_simulated = true;
    filler->wanted = -1;
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

static struct config *hold_config(struct filler *filler)
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

/* --- rows ------------------------------------------------------------------------------------ */

/* Puts what can be handed out, drops what cannot. */
static enum status take_rows(struct filler *filler, struct db *db, const struct unsent_job *rows,
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
    config = hold_config(filler);
    status = fill_mark_streams(db, filler->arena, config, jobs, job_count);
    config_release(config);
    if (status != STATUS_OK)
        return status;
    pool_drop(filler->pool, gone, gone_count);
    if (pool_put(filler->pool, jobs, job_count) != STATUS_OK)
        log_line(LOG_LEVEL_WARNING, "event=pool_no_memory");
    return STATUS_OK;
}

/* --- news ------------------------------------------------------------------------------------ */

/* One page behind *id; *ret_more: it was full. */
static enum status read_news(struct filler *filler, struct db *db, int64_t *id, bool *ret_more)
{
    struct unsent_job *rows;
    size_t count = 0;
    enum status status = db_unsent_new(db, filler->arena, *id, ROWS_PAGE, &rows, &count);

    if (status != STATUS_OK)
        return status;
    *ret_more = count == ROWS_PAGE;
    if (count > 0)
        *id = rows[count - 1].resultid;
    return take_rows(filler, db, rows, count);
}

static void note_caught_up(struct filler *filler, double now)
{
    double lag = now - filler->caught_up_at;

    pthread_mutex_lock(&filler->lock);
    filler->figures.lag = lag;
    if (lag > filler->figures.lag_most)
        filler->figures.lag_most = lag;
    pthread_mutex_unlock(&filler->lock);
    filler->caught_up_at = now;
}

static enum status look_for_news(struct filler *filler, struct db *db, double now, bool *ret_more)
{
    enum status status = STATUS_OK;
    bool more = true;

    for (int i = 0; i < NEWS_PAGES && more && status == STATUS_OK; i++) {
        status = read_news(filler, db, &filler->mark, &more);
        db_rollback(db);
        arena_reset(filler->arena);
    }
    if (status == STATUS_OK && !more)
        note_caught_up(filler, now);
    *ret_more = more;
    return status;
}

/* Where the mark was a minute ago, or as long ago as we know. */
static int64_t mark_then(const struct filler *filler)
{
    size_t age = (size_t)(window_seconds / mark_seconds);

    if (filler->mark_count < age)
        age = filler->mark_count;
    return age == 0 ? filler->mark : filler->marks[(filler->mark_count - age) % MARKS];
}

/* A database brought back from a copy begins again at lower ids. */
static enum status lower_mark(struct filler *filler, struct db *db)
{
    int64_t last = filler->mark;
    enum status status = db_result_last_id(db, filler->arena, &last);

    if (status == STATUS_OK && last < filler->mark)
        filler->mark = last;
    return status;
}

static enum status look_again(struct filler *filler, struct db *db, double now)
{
    bool more = false;
    enum status status = STATUS_OK;

    if (now >= filler->mark_due) {
        filler->marks[filler->mark_count++ % MARKS] = filler->mark;
        filler->mark_due = now + mark_seconds;
    }
    if (!filler->looks_again && now >= filler->window_due) {
        filler->looks_again = true;
        filler->window_id = mark_then(filler);
        filler->window_due = now + window_every;
        status = lower_mark(filler, db);
    }
    if (status == STATUS_OK && filler->looks_again) {
        status = read_news(filler, db, &filler->window_id, &more);
        filler->looks_again = more && filler->window_id < filler->mark;
    }
    return status;
}

/* --- sweep ----------------------------------------------------------------------------------- */

static void begin_sweep(struct filler *filler, double now)
{
    pool_sweep_begin(filler->pool);
    if (now >= filler->met_due) {
        pool_met_age(filler->pool);
        filler->met_due = now + met_seconds;
    }
    filler->is_sweeping = true;
    filler->is_ending = filler->has_priority = false;
    filler->sweep_priority = INT32_MAX;
    filler->sweep_began = now;
}

/* The next priority with unsent jobs; without one the sweep comes to its end. */
static enum status find_priority(struct filler *filler, struct db *db)
{
    enum status status =
        db_unsent_priority(db, filler->arena, filler->sweep_priority, &filler->sweep_priority);

    if (status == STATUS_NOT_FOUND) {
        filler->is_ending = true;
        return STATUS_OK;
    }
    filler->has_priority = status == STATUS_OK;
    filler->sweep_id = 0;
    return status;
}

static void end_priority(struct filler *filler)
{
    filler->has_priority = false;
    if (filler->sweep_priority <= INT32_MIN)
        filler->is_ending = true;
    filler->sweep_priority--;
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
    enum status status = db_unsent_page(db, filler->arena, filler->sweep_priority, filler->sweep_id,
                                        ROWS_PAGE, &rows, ret_count);

    if (status != STATUS_OK)
        return status;
    if (*ret_count > 0)
        filler->sweep_id = rows[*ret_count - 1].resultid;
    status = take_rows(filler, db, rows, *ret_count);
    if (*ret_count < ROWS_PAGE)
        end_priority(filler);
    return status;
}

static enum status sweep_ids(struct filler *filler, struct db *db,
                             const struct pool_figures *figures, size_t *ret_count)
{
    bool is_full = !figures->is_complete && !pool_is_low(filler->pool);
    struct unsent_job *rows = NULL;
    int64_t *ids = NULL;
    size_t count = 0, unknown, row_count = 0;
    int64_t last;
    enum status status = db_unsent_ids(db, filler->arena, filler->sweep_priority, filler->sweep_id,
                                       IDS_PAGE, &ids, &count);

    if (status != STATUS_OK)
        return status;
    *ret_count = count;
    last = count > 0 ? ids[count - 1] : filler->sweep_id;
    unknown = pool_confirm(filler->pool, filler->sweep_priority, ids, count);
    if (is_full && unknown > UNKNOWN_MOST)
        pool_lacks(filler->pool);
    if (is_full)
        unknown = thin_out(ids, unknown, UNKNOWN_MOST);
    if (unknown > 0)
        status = db_unsent_by_id(db, filler->arena, ids, unknown, &rows, &row_count);
    if (status == STATUS_OK)
        status = take_rows(filler, db, rows, row_count);
    if (status != STATUS_OK)
        return status;
    filler->sweep_id = last;
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

    if (pool_sweep_end(filler->pool))
        return;
    filler->is_sweeping = false;
    filler->sweep_due = now + sweep_interval(filler, config);
    pthread_mutex_lock(&filler->lock);
    filler->figures.sweep_seconds = now - filler->sweep_began;
    if (filler->figures.sweeps++ == 0)
        filler->figures.fill_seconds = filler->figures.sweep_seconds;
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

static enum status sweep(struct filler *filler, struct db *db, const struct config *config,
                         double now)
{
    struct pool_figures figures;
    size_t count = 0;

    pool_figures(filler->pool, &figures);
    if (!filler->is_sweeping) {
        double soonest = filler->sweep_due - sweep_interval(filler, config) + sweep_soon;
        uint64_t key = stream_lines_key(config->stream);
        bool other_streams = key != filler->streams_key;
        if (now < filler->sweep_due && !other_streams &&
            !(pool_is_low(filler->pool) && now >= soonest))
            return STATUS_OK;
        begin_sweep(filler, now);
        filler->reads_again = other_streams;
        filler->streams_key = key;
    }
    if (filler->is_ending) {
        end_sweep(filler, config, now);
        return STATUS_OK;
    }
    /* A project may have as many priorities as jobs, so a step takes several. */
    for (int i = 0; i < SWEEP_QUERIES && count < ROWS_PAGE && !filler->is_ending; i++) {
        size_t read = 0;
        enum status status;

        if (!filler->has_priority)
            status = find_priority(filler, db);
        else
            status = figures.is_filled && !filler->reads_again
                         ? sweep_ids(filler, db, &figures, &read)
                         : sweep_rows(filler, db, &read);
        if (status != STATUS_OK)
            return status;
        count += read;
        arena_reset(filler->arena);
    }
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
        return take_rows(filler, db, rows, row_count);
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

static double monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- steps ----------------------------------------------------------------------------------- */

/* New jobs begin where the table ends now; the first sweep brings all before. */
static enum status begin(struct filler *filler, struct db *db, double now)
{
    enum status status = db_result_last_id(db, filler->arena, &filler->mark);

    db_rollback(db);
    filler->has_begun = status == STATUS_OK;
    filler->caught_up_at = filler->sweep_due = filler->mark_due = now;
    filler->window_due = now + window_every;
    return status;
}

static enum status step(struct filler *filler, struct db *db, const struct config *config,
                        double now, double *ret_pause)
{
    enum status status = filler->has_begun ? STATUS_OK : begin(filler, db, now);
    bool more = false;
    double beat_time = filler->is_simulated ? monotonic() : now; /* the others' time is real */

    if (status == STATUS_OK && beat_time >= filler->beat_due && !filler->cannot_beat)
        status = beat(filler, db, beat_time);
    if (status == STATUS_OK && now >= filler->news_due) {
        status = look_for_news(filler, db, now, &more);
        filler->news_due = more ? now : now + config->pool_refresh;
    }
    if (status == STATUS_OK)
        status = read_doubts(filler, db);
    if (status == STATUS_OK)
        status = look_again(filler, db, now);
    if (status == STATUS_OK)
        status = sweep(filler, db, config, now);
    *ret_pause = filler->news_due - now;
    if (pool_divide_some(filler->pool) || more || filler->looks_again)
        *ret_pause = 0;
    else if (filler->is_sweeping && (filler->figures.sweeps == 0 || filler->is_simulated))
        *ret_pause = 0;
    else if (filler->is_sweeping && *ret_pause > sweep_pause)
        *ret_pause = sweep_pause;
    return status;
}

enum status filler_step(struct filler *filler, struct db *db, double now, double *ret_pause)
{
    struct config *config = hold_config(filler);
    enum status status;

    must(filler->magic == FILLER_MAGIC);
    status = step(filler, db, config, now, ret_pause);
    db_rollback(db);
    arena_reset(filler->arena);
    config_release(config);
    return status;
}

/* --- the thread ------------------------------------------------------------------------------ */

/* Whether to go on after so long. */
static bool wait_for(struct filler *filler, double seconds)
{
    double end = monotonic() + seconds;
    struct timespec until = {.tv_sec = (time_t)end};
    bool stopping;
    int error = 0;

    until.tv_nsec = (long)((end - (double)until.tv_sec) * 1e9);
    pthread_mutex_lock(&filler->lock);
    while (!filler->stopping && seconds > 0 && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&filler->wake, &filler->lock, &until);
    stopping = filler->stopping;
    pthread_mutex_unlock(&filler->lock);
    return !stopping;
}

/* The same in simulated time: until a request is there. */
static bool wait_for_request(struct filler *filler, double seconds)
{
    bool stopping;

    pthread_mutex_lock(&filler->lock);
    filler->due = filler->reached;
    if (seconds > 0)
        filler->due += seconds > simulated_step ? seconds : simulated_step;
    pthread_cond_broadcast(&filler->done);
    while (!filler->stopping && filler->wanted < filler->due)
        pthread_cond_wait(&filler->wake, &filler->lock);
    filler->reached = filler->wanted;
    stopping = filler->stopping;
    pthread_mutex_unlock(&filler->lock);
    return !stopping;
}

void filler_follow(struct filler *filler, double now)
{
    double end = monotonic() + simulated_patience;
    struct timespec until = {.tv_sec = (time_t)end};
    int error = 0;

    if (!filler->has_thread)
        return;
    pthread_mutex_lock(&filler->lock);
    if (now > filler->latest) {
        filler->wanted += filler->wanted < 0 ? 1 : now - filler->latest;
        filler->latest = now;
    } else if (now < filler->latest - another_run) {
        filler->latest = now;
    }
    if (filler->wanted >= filler->due)
        pthread_cond_broadcast(&filler->wake);
    while (!filler->stopping && filler->wanted >= filler->due && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&filler->done, &filler->lock, &until);
    pthread_mutex_unlock(&filler->lock);
}

/* Steps on one connection, until it fails, the configuration changes or we are to stop. */
static void serve(struct filler *filler, struct db *db, const struct config *config)
{
    double pause = 0;

    while (filler->is_simulated ? wait_for_request(filler, pause) : wait_for(filler, pause)) {
        enum status status;
        bool changed;

        pthread_mutex_lock(&filler->lock);
        changed = filler->config != config;
        pthread_mutex_unlock(&filler->lock);
        if (changed)
            return;
        status =
            filler_step(filler, db, filler->is_simulated ? filler->reached : monotonic(), &pause);
        if (status == STATUS_OK)
            continue;
        log_event(LOG_LEVEL_WARNING, "pool_not_filled", text_from(db_error(db)));
        if (status != STATUS_DB_RETRY)
            return;
        pause = reconnect_pause;
    }
    if (!filler->cannot_beat && filler_leave(filler, db) != STATUS_OK)
        db_rollback(db);
}

static void *fill(void *context)
{
    struct filler *filler = context;
    double pause = 0;

    while (wait_for(filler, pause)) {
        struct config *config = hold_config(filler);
        struct db *db = NULL;

        if (db_open(config, &db, NULL) == STATUS_OK)
            serve(filler, db, config);
        db_close(db);
        config_release(config);
        pause = reconnect_pause;
    }
    return NULL;
}

enum status filler_start(struct filler *filler, struct failure *failure)
{
    if (pthread_create(&filler->thread, NULL, fill, filler) != 0)
        return fail(failure, STATUS_IO, "pool: no thread");
    filler->has_thread = true;
    return STATUS_OK;
}

void filler_destroy(struct filler *filler)
{
    if (filler == NULL)
        return;
    pthread_mutex_lock(&filler->lock);
    filler->stopping = true;
    pthread_cond_broadcast(&filler->wake);
    pthread_cond_broadcast(&filler->done);
    pthread_mutex_unlock(&filler->lock);
    if (filler->has_thread)
        pthread_join(filler->thread, NULL);
    config_release(filler->config);
    arena_destroy(filler->arena);
    pthread_cond_destroy(&filler->wake);
    pthread_cond_destroy(&filler->done);
    pthread_mutex_destroy(&filler->lock);
    filler->magic = 0;
    free(filler);
}
