/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/server.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/metric.h"
#include "server/base/random.h"
#include "server/fates/fates.h"
#include "server/files/host_files.h"
#include "server/join/join_limits.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "server/process/fates_keeper.h"
#include "server/process/health.h"
#include "server/process/load_meter.h"
#include "server/process/project_keeper.h"
#include "server/process/receive.h"
#include "server/process/status_keeper.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/recording/recording.h"
#include "server/status/status_page.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

enum { SERVER_MAGIC = 0x716d7376 };

struct server {
    unsigned magic;
    struct server_options options;
    pthread_mutex_t lock; /* of `current` */
    struct snapshot current;
    struct load_meter load;
    _Atomic uint64_t database_away_ns; /* since when; 0: it is there */
    struct fates *fates;
    struct fates_keeper *fates_keeper;
    struct project_keeper *project_keeper;
    struct recording recording;
    struct files_health files;
    struct join_limits *join_limits;
    struct health *health;
    struct status_keeper *status;
    int64_t id;    /* positive, of this process, in rows of the database */
    int64_t began; /* epoch */
    size_t threads;

    struct pool *pool;     /* NULL: none; set before the workers begin, cleared after their end: who
                              is no worker takes `lock` */
    struct filler *filler; /* likewise; under `lock` */
    struct receiver
        *receiver; /* NULL: none; set before the workers begin, cleared after their end */
};

/* --- what requests share ---------------------------------------------------------------------- */

const struct server_options *server_options(const struct server *server)
{
    return &server->options;
}

struct load_meter *server_load(struct server *server)
{
    return &server->load;
}

struct recording *server_recording(struct server *server)
{
    return &server->recording;
}

struct fates *server_fates(struct server *server)
{
    return server->fates;
}

struct fates_keeper *server_fates_keeper(struct server *server)
{
    return server->fates_keeper;
}

struct project_keeper *server_project_keeper(struct server *server)
{
    return server->project_keeper;
}

struct join_limits *server_join_limits(struct server *server)
{
    return server->join_limits;
}

struct health *server_health(struct server *server)
{
    return server->health;
}

struct status_keeper *server_status(struct server *server)
{
    return server->status;
}

struct pool *server_pool(struct server *server)
{
    return server->pool;
}

static void write_jobs_of_apps(struct pool *pool, const struct catalog *catalog,
                               struct buffer *ret_page)
{
    size_t count = catalog->rows.app_count;
    int64_t *apps = calloc(count + 1, sizeof(*apps));
    size_t *jobs = calloc(count + 1, sizeof(*jobs));

    if (apps != NULL && jobs != NULL) {
        for (size_t i = 0; i < count; i++)
            apps[i] = catalog->rows.apps[i].id;
        pool_count_by_app(pool, apps, count, jobs);
        metric_head(ret_page, "pool_app_jobs", "gauge", "unsent jobs held in memory, by app");
        for (size_t i = 0; i < count; i++)
            metric_value(ret_page, "pool_app_jobs", "app", catalog->rows.apps[i].name,
                         (double)jobs[i]);
    }
    free(jobs);
    free(apps);
}

void server_write_pool_figures(struct server *server, const struct catalog *catalog,
                               struct buffer *ret_page)
{
    if (server->pool == NULL) /* set before the threads begin, and the filler with it */
        return;
    filler_write_figures(server->filler, server->pool, ret_page);
    if (catalog != NULL)
        write_jobs_of_apps(server->pool, catalog, ret_page);
}

void server_write_number(struct server *server, struct buffer *ret_page)
{
    struct filler_figures figures = {.server_id = 0};

    if (server->filler != NULL)
        filler_figures(server->filler, &figures);
    if (figures.server_id != 0)
        buffer_print(ret_page, "Server: %" PRId64 "\n", figures.server_id);
}

void server_note_database(struct server *server, bool is_there, uint64_t now_ns)
{
    uint64_t none = 0;

    if (is_there)
        health_note_served(server->health, (int64_t)time(NULL));
    if (!is_there) /* the first to notice says when */
        (void)atomic_compare_exchange_strong(&server->database_away_ns, &none, now_ns);
    else if (atomic_load(&server->database_away_ns) != 0)
        atomic_store(&server->database_away_ns, 0);
    atomic_store(&server->load.is_away, !is_there);
}

double server_database_away_for(const struct server *server, uint64_t now_ns)
{
    uint64_t since_ns = atomic_load(&server->database_away_ns);

    return since_ns == 0 || now_ns <= since_ns ? 0 : (double)(now_ns - since_ns) * 1e-9;
}

void server_write_waiting(struct server *server, struct buffer *ret_page)
{
    struct receiver_figures figures;

    metric_gauge(ret_page, "up", "1: this process answers", 1);
    metric_head(ret_page, "build_info", "gauge", "1, with the version as a label");
    metric_value(ret_page, "build_info", "version", text_from(server->options.version), 1);
    metric_gauge(ret_page, "start_time_seconds", "when the process began, as seconds since 1970",
                 (double)server->began);
    health_write(server->health, (int64_t)time(NULL), ret_page);
    fates_keeper_write(server->fates_keeper, ret_page);
    project_keeper_write(server->project_keeper, (int64_t)time(NULL), ret_page);
    metric_gauge(ret_page, "database_away_seconds", "how long requests have found no database",
                 server_database_away_for(server, clock_ns()));
    if (server->receiver == NULL)
        return;
    receiver_figures(server->receiver, &figures);
    metric_gauge(ret_page, "connections_reading",
                 "connections whose request has not arrived completely", (double)figures.reading);
    metric_gauge(ret_page, "requests_waiting", "requests that wait for a worker thread",
                 (double)figures.waiting);
    metric_gauge(ret_page, "requests_waiting_seconds", "how long the oldest of these has waited",
                 figures.oldest);
    metric_gauge(ret_page, "workers_working", "worker threads busy with a request",
                 (double)figures.workers_working);
    metric_gauge(ret_page, "workers_limit", "worker threads that may work at a time",
                 (double)figures.workers_limit);
    metric_gauge(ret_page, "requests_waiting_bytes",
                 "memory held by requests that are being read or wait", (double)figures.memory);
}

/* Under the server's lock. */
static void take_pool_figures(struct server *server, struct status_figures *figures)
{
    struct pool_figures held;
    struct filler_figures filled = {0};

    figures->has_pool = server->pool != NULL;
    figures->pool_lag = NAN;
    if (server->pool == NULL)
        return;
    pool_figures(server->pool, &held);
    figures->pool_jobs = held.jobs;
    figures->pool_taken = held.taken;
    figures->pool_own = held.own;
    figures->pool_bytes = held.bytes;
    figures->pool_is_filled = held.is_filled;
    figures->pool_is_complete = held.is_complete;
    if (server->filler == NULL)
        return;
    filler_figures(server->filler, &filled);
    figures->servers = filled.servers;
    figures->pool_sweeps = filled.sweeps;
    figures->pool_sweep_seconds = filled.sweep_seconds;
    if (filled.read_at > 0)
        figures->pool_lag = filler_lag(server->filler, &filled);
}

void server_take_figures(struct server *server, struct status_figures *figures)
{
    struct receiver_figures line = {0};

    figures->version = server->options.version;
    figures->began = server->began;
    figures->threads = server->threads;
    figures->away_for = server_database_away_for(server, clock_ns());
    pthread_mutex_lock(&server->lock); /* while the server stops, the watcher still runs */
    if (server->receiver != NULL)
        receiver_figures(server->receiver, &line);
    take_pool_figures(server, figures);
    pthread_mutex_unlock(&server->lock);
    figures->reading = line.reading;
    figures->waiting = line.waiting;
    figures->oldest_wait = line.oldest;
    figures->waiting_bytes = line.memory;
}

void server_follow_time(struct server *server, double now)
{
    if (server->filler != NULL) /* set before the threads begin */
        filler_follow(server->filler, now);
}

struct files_health *server_files(struct server *server)
{
    return &server->files;
}

void server_snapshot(struct server *server, struct snapshot *ret_snapshot)
{
    must(server->magic == SERVER_MAGIC);
    pthread_mutex_lock(&server->lock);
    *ret_snapshot = server->current;
    config_hold(ret_snapshot->config);
    project_hold(ret_snapshot->project);
    if (ret_snapshot->catalog != NULL)
        catalog_hold(ret_snapshot->catalog);
    pthread_mutex_unlock(&server->lock);
}

void snapshot_release(struct snapshot *snapshot)
{
    catalog_release(snapshot->catalog);
    project_release(snapshot->project);
    config_release(snapshot->config);
    memset(snapshot, 0, sizeof(*snapshot));
}

void server_replace_config(struct server *server, struct config *config)
{
    struct config *old;

    pthread_mutex_lock(&server->lock);
    old = server->current.config;
    server->current.config = config;
    if (server->filler != NULL)
        filler_set_config(server->filler, config);
    if (server->receiver != NULL)
        receiver_set_limits(server->receiver, (size_t)config->request_bytes_max,
                            config->load_target);
    pthread_mutex_unlock(&server->lock);
    log_set_level((enum log_level)config->sched_debug_level);
    config_release(old);
}

void server_replace_catalog(struct server *server, struct catalog *catalog)
{
    struct catalog *old;

    pthread_mutex_lock(&server->lock);
    old = server->current.catalog;
    server->current.catalog = catalog;
    pthread_mutex_unlock(&server->lock);
    catalog_release(old);
}

void server_replace_project(struct server *server, struct project *project)
{
    struct project *old;

    pthread_mutex_lock(&server->lock);
    old = server->current.project;
    server->current.project = project;
    pthread_mutex_unlock(&server->lock);
    project_release(old);
}

void server_set_receiver(struct server *server, struct receiver *receiver)
{
    const struct config *config;

    pthread_mutex_lock(&server->lock);
    config = server->current.config; /* maybe another by now than the receiver began with */
    server->receiver = receiver;
    if (receiver != NULL)
        receiver_set_limits(receiver, (size_t)config->request_bytes_max, config->load_target);
    pthread_mutex_unlock(&server->lock);
}

void server_look_for_servers(struct server *server)
{
    struct filler_figures figures;

    pthread_mutex_lock(&server->lock);
    if (server->filler != NULL && server->receiver != NULL) {
        filler_figures(server->filler, &figures);
        receiver_set_servers(server->receiver, figures.servers);
    }
    pthread_mutex_unlock(&server->lock);
}

bool server_hosts_wait(struct server *server, double seconds, int64_t *ret_server_id)
{
    struct filler_figures filled = {.server_id = 0};
    struct receiver_figures line = {.oldest = 0};

    pthread_mutex_lock(&server->lock);
    if (server->filler != NULL && server->receiver != NULL) {
        filler_figures(server->filler, &filled);
        receiver_figures(server->receiver, &line);
    }
    pthread_mutex_unlock(&server->lock);
    *ret_server_id = filled.server_id;
    return filled.server_id != 0 && line.oldest >= seconds;
}

static void note_stop(const char *name, bool was_there, bool is_there)
{
    if (was_there != is_there)
        log_line(LOG_LEVEL_WARNING, "event=%s present=%d", name, is_there);
}

void server_look_for_stops(struct server *server)
{
    struct snapshot before;
    bool stop_sched, stop_work;

    server_snapshot(server, &before);
    stop_sched = project_has_file(before.config, "stop_sched");
    stop_work = project_has_file(before.config, "stop_work");
    pthread_mutex_lock(&server->lock);
    server->current.stop_sched = stop_sched;
    server->current.stop_work = stop_work;
    pthread_mutex_unlock(&server->lock);
    health_note_stop(server->health, stop_sched, before.config->dont_send_jobs || stop_work);
    note_stop("stop_sched", before.stop_sched, stop_sched);
    note_stop("stop_work", before.stop_work, stop_work);
    snapshot_release(&before);
}

/* --- start ------------------------------------------------------------------------------------ */

void log_findings(const struct config_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct config_finding *finding = &findings->items[i];
        struct buffer line = buffer_on_heap(4096);

        buffer_add_string(&line, "event=config_finding");
        log_add_pair(&line, "file", finding->file);
        buffer_print(&line, " line=%d", finding->line);
        log_add_pair(&line, "why", finding->text);
        log_line(finding->is_error ? LOG_LEVEL_CRITICAL : LOG_LEVEL_WARNING, TEXT_FORMAT,
                 TEXT_ARG(buffer_text(&line)));
        buffer_free(&line);
    }
}

static enum status load_config(struct server *server, struct failure *failure)
{
    struct arena *arena = arena_create(FINDINGS_BYTES_MAX);
    struct config_findings findings = {0};
    enum status status;

    if (arena == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    status = config_load(server->options.project_dir, arena, &server->current.config, &findings,
                         failure);
    log_findings(&findings);
    arena_destroy(arena);
    if (status != STATUS_OK)
        server->current.config = NULL;
    return status;
}

/* Who joins holds a quarter of the threads at most: the others are the scheduler's. Where there are
 * few, one may wait for another all the same. */
static size_t join_threads(size_t threads)
{
    return threads >= 8 ? threads / 4 : threads >= 3 ? 2 : 1;
}

enum status server_create(const struct server_options *options, struct server **ret_server,
                          struct failure *failure)
{
    struct server *server = calloc(1, sizeof(*server));
    enum status status;

    if (server == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    server->magic = SERVER_MAGIC;
    server->options = *options;
    server->began = (int64_t)time(NULL);
    pthread_mutex_init(&server->lock, NULL);
    recording_init(&server->recording);
    server->fates = fates_create();
    server->fates_keeper = fates_keeper_create();
    server->health = health_create();
    server->id = (int64_t)(random_u64() >> 1);
    server->id = server->id > 0 ? server->id : 1;
    server->project_keeper = project_keeper_create();
    server->status = status_keeper_create(server->id);
    status = server->fates == NULL || server->fates_keeper == NULL ||
                     server->project_keeper == NULL || server->health == NULL ||
                     server->status == NULL
                 ? fail(failure, STATUS_NO_MEMORY, "no memory")
                 : load_config(server, failure);
    if (status == STATUS_OK)
        status = project_load(server->current.config, &server->current.project, failure);
    if (status == STATUS_OK) {
        server->threads =
            (size_t)(options->threads > 0 ? options->threads : server->current.config->threads);
        server->join_limits = join_limits_create(join_threads(server->threads));
        if (server->join_limits == NULL)
            status = fail(failure, STATUS_NO_MEMORY, "no memory");
    }
    if (status != STATUS_OK) {
        server_destroy(server);
        return status;
    }
    log_set_level((enum log_level)server->current.config->sched_debug_level);
    *ret_server = server;
    return STATUS_OK;
}

void server_destroy(struct server *server)
{
    if (server == NULL)
        return;
    snapshot_release(&server->current);
    fates_destroy(server->fates);
    fates_keeper_destroy(server->fates_keeper);
    project_keeper_destroy(server->project_keeper);
    recording_clear(&server->recording);
    join_limits_destroy(server->join_limits);
    health_destroy(server->health);
    status_keeper_destroy(server->status);
    pthread_mutex_destroy(&server->lock);
    server->magic = 0;
    free(server);
}

/* --- the job pool ----------------------------------------------------------------------------- */

/* Without a pool requests ask the database themselves, so that a failure here stops nothing. */
void server_start_pool(struct server *server)
{
    struct failure failure = {0};
    struct snapshot snapshot;
    struct pool *pool = NULL;
    struct filler *filler;

    server_snapshot(server, &snapshot); /* the watcher may replace the configuration meanwhile */
    if (snapshot.config->pool_jobs_max > 0)
        pool = pool_create((size_t)snapshot.config->pool_jobs_max, snapshot.config->user_filter);
    snapshot_release(&snapshot);
    if (pool == NULL)
        return;
    pthread_mutex_lock(&server->lock);
    server->pool = pool;
    filler = filler_create(pool, server->current.config, server->id);
    server->filler = filler;
    pthread_mutex_unlock(&server->lock);
    if (filler != NULL && server->options.clock_from_request)
        filler_simulate(filler);
    if (filler != NULL && filler_start(filler, &failure) != STATUS_OK)
        log_event(LOG_LEVEL_WARNING, "pool_not_started", text_from(failure.text));
}

void server_stop_pool(struct server *server)
{
    struct filler *filler;
    struct pool *pool;

    pthread_mutex_lock(&server->lock);
    filler = server->filler;
    server->filler = NULL;
    pool = server->pool;
    server->pool = NULL;
    pthread_mutex_unlock(&server->lock);
    filler_destroy(filler);
    pool_destroy(pool);
}
