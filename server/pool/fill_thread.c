/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a filler, with a connection of its own: step after step, and the waiting between
 * them.
 *
 * In simulated time months pass in minutes: reading new jobs every second would be all that the
 * database does, and by real time the pool would be days behind. So the thread then works only
 * while a request waits for it, in long steps of that time, and what a request finds does not
 * depend on how fast anything is. While there is no database nobody waits. */
#include "server/pool/fill_parts.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "server/base/banned.h"

static const double reconnect_pause = 1;
static const double most_rest = 0.1; /* s, after a step; new jobs wait for it, too */
static const double simulated_step = 600;
static const double simulated_patience = 120; /* s, real: what takes longer is not waited for */
static const double another_run = 86400;      /* s back: no request that was overtaken */

void filler_simulate(struct filler *filler)
{
    filler->is_simulated = true;
    filler->clock.wanted = -1;
}

/* Whether to go on after so long. */
static bool wait_for(struct filler *filler, double seconds)
{
    double end = clock_seconds() + seconds;
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
    filler->clock.due = filler->clock.reached;
    if (seconds > 0)
        filler->clock.due += seconds > simulated_step ? seconds : simulated_step;
    pthread_cond_broadcast(&filler->done);
    while (!filler->stopping && filler->clock.wanted < filler->clock.due)
        pthread_cond_wait(&filler->wake, &filler->lock);
    filler->clock.reached = filler->clock.wanted;
    stopping = filler->stopping;
    pthread_mutex_unlock(&filler->lock);
    return !stopping;
}

void filler_follow(struct filler *filler, double now)
{
    double end = clock_seconds() + simulated_patience;
    struct timespec until = {.tv_sec = (time_t)end};
    int error = 0;

    if (!filler->has_thread)
        return;
    pthread_mutex_lock(&filler->lock);
    if (now > filler->clock.latest) {
        filler->clock.wanted += filler->clock.wanted < 0 ? 1 : now - filler->clock.latest;
        filler->clock.latest = now;
    } else if (now < filler->clock.latest - another_run) {
        filler->clock.latest = now;
    }
    if (filler->clock.wanted >= filler->clock.due)
        pthread_cond_broadcast(&filler->wake);
    while (!filler->stopping && !filler->is_away && filler->clock.wanted >= filler->clock.due &&
           error != ETIMEDOUT)
        error = pthread_cond_timedwait(&filler->done, &filler->lock, &until);
    pthread_mutex_unlock(&filler->lock);
}

/* The first sweep of a million jobs would take a core for seconds: while requests are served, too,
 * it takes half of one, and as much longer. */
double fill_rest(double pause, double worked, bool was_asked)
{
    double rest = was_asked ? fmin(worked, most_rest) : 0;

    return fmax(pause, rest);
}

/* Steps on one connection, until it fails, the configuration changes or we are to stop. */
static void serve(struct filler *filler, struct db *db, const struct config *config)
{
    double pause = 0;
    uint64_t statements = counter_value(COUNTER_db_statements);

    while (filler->is_simulated ? wait_for_request(filler, pause) : wait_for(filler, pause)) {
        double begun = clock_seconds();
        enum status status;
        uint64_t now_statements;
        bool changed;

        pthread_mutex_lock(&filler->lock);
        changed = filler->config != config;
        pthread_mutex_unlock(&filler->lock);
        if (changed)
            return;
        status = filler_step(
            filler, db, filler->is_simulated ? filler->clock.reached : clock_seconds(), &pause);
        now_statements = counter_value(COUNTER_db_statements);
        if (!filler->is_simulated)
            pause = fill_rest(pause, clock_seconds() - begun, now_statements != statements);
        statements = now_statements;
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

static void say_away(struct filler *filler, bool is_away)
{
    pthread_mutex_lock(&filler->lock);
    filler->is_away = is_away;
    pthread_cond_broadcast(&filler->done);
    pthread_mutex_unlock(&filler->lock);
}

static void *fill(void *context)
{
    struct filler *filler = context;
    double pause = 0;

    while (wait_for(filler, pause)) {
        struct config *config = fill_hold_config(filler);
        struct db *db = NULL;

        if (db_open(config, &db, NULL) == STATUS_OK) {
            say_away(filler, false);
            serve(filler, db, config);
        } else {
            say_away(filler, true);
        }
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

void fill_stop_thread(struct filler *filler)
{
    pthread_mutex_lock(&filler->lock);
    filler->stopping = true;
    pthread_cond_broadcast(&filler->wake);
    pthread_cond_broadcast(&filler->done);
    pthread_mutex_unlock(&filler->lock);
    if (filler->has_thread)
        pthread_join(filler->thread, NULL);
}
