/* SPDX-License-Identifier: Apache-2.0 */
/* The filler as its owner has it: made, given another configuration, asked for figures, ended. */
#include "server/pool/fill_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/metric.h"
#include "server/pool/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { ARENA_BYTES = 64 << 20 };

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

void filler_figures(struct filler *filler, struct filler_figures *ret_figures)
{
    pthread_mutex_lock(&filler->lock);
    *ret_figures = filler->figures;
    pthread_mutex_unlock(&filler->lock);
}

double filler_lag(const struct filler *filler, const struct filler_figures *figures)
{
    double since = clock_seconds() - figures->read_at;

    return filler != NULL && !filler->is_simulated && figures->read_at > 0 && since > figures->lag
               ? since
               : figures->lag;
}

void filler_write_figures(struct filler *filler, struct pool *pool, struct buffer *ret_page)
{
    struct pool_figures held;
    struct filler_figures filled = {0};

    pool_figures(pool, &held);
    if (filler != NULL)
        filler_figures(filler, &filled);
    const struct {
        const char *name, *help;
        double value;
    } gauges[] = {
        {"pool_jobs", "unsent jobs held in memory", (double)held.jobs},
        {"pool_own_jobs", "of these, jobs of this server's part", (double)held.own},
        {"pool_taken_jobs", "of these, jobs that requests have taken", (double)held.taken},
        {"pool_classes", "kinds of jobs held", (double)held.classes},
        {"pool_groups", "groups of kinds", (double)held.groups},
        {"pool_bytes", "memory set aside for the pool, which need not be in use",
         (double)held.bytes},
        {"pool_complete", "1 if every unsent job is held", held.is_complete ? 1 : 0},
        {"pool_lag_seconds", "between the last two readings of new jobs, or since the last one",
         filler_lag(filler, &filled)},
        {"pool_sweep_seconds", "that the last sweep took", filled.sweep_seconds},
        {"pool_servers", "servers that share the database's jobs", (double)filled.servers},
    };

    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++)
        metric_gauge(ret_page, gauges[i].name, gauges[i].help, gauges[i].value);
}
