/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/server.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/files/host_files.h"
#include "server/handout/shares.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "server/process/fcgi.h"
#include "server/process/listen.h"
#include "server/process/load_meter.h"
#include "server/process/receive.h"
#include "server/process/watch.h"
#include "server/process/web_request.h"
#include "server/process/worker.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/request/walk.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { SERVER_MAGIC = 0x716d7376 };

/* A web server sends a request at once, and clients give up after minutes; nginx waits 60 s. */
static const uint64_t first_record_ns = UINT64_C(5000000000);
static const uint64_t whole_request_ns = UINT64_C(60000000000);
static const uint64_t patience_ns = UINT64_C(30000000000);

/* Of all requests that wait, beside one of the largest. */
#define WAITING_BYTES_MAX ((size_t)256 * 1024 * 1024)
#define REFUSAL_BYTES_MAX ((size_t)256 * 1024)

/* How long a drain may take, and how long the threads have after their connections were cut. */
static const uint64_t drain_longest_ns = UINT64_C(30000000000);
static const uint64_t cut_longest_ns = UINT64_C(5000000000);

struct worker_thread {
    struct worker worker;
    struct server *server;
    pthread_t id;
};

struct server {
    unsigned magic;
    struct server_options options;
    pthread_mutex_t lock; /* of `current` */
    struct snapshot current;
    struct load_meter load;
    struct stream_ledger *ledger;
    struct files_health files;

    struct pool *pool;     /* NULL: none */
    struct filler *filler; /* likewise; under `lock` */

    struct listener *listener;
    struct receiver *receiver;   /* likewise; its pointer changes once, before the threads begin */
    struct arena *refusal_arena; /* of the receiver's thread */
    struct watcher *watcher;
    struct worker_thread *threads;
    int thread_count;
    atomic_int threads_running;
};

/* --- what requests share -----------------------------------------------------------------------
 */

const struct server_options *server_options(const struct server *server)
{
    return &server->options;
}

struct load_meter *server_load(struct server *server)
{
    return &server->load;
}

struct stream_ledger *server_ledger(struct server *server)
{
    return server->ledger;
}

struct pool *server_pool(struct server *server)
{
    return server->pool;
}

void server_write_pool_figures(struct server *server, struct buffer *ret_page)
{
    if (server->pool != NULL) /* set before the threads begin, and the filler with it */
        filler_write_figures(server->filler, server->pool, ret_page);
}

static void write_gauge(struct buffer *page, const char *name, const char *help, double value)
{
    buffer_print(page, "# HELP quartermaster_%s %s\n# TYPE quartermaster_%s gauge\n", name, help,
                 name);
    buffer_print(page, "quartermaster_%s %.9g\n", name, value);
}

void server_write_waiting(struct server *server, struct buffer *ret_page)
{
    struct receiver_figures figures;

    if (server->receiver == NULL)
        return;
    receiver_figures(server->receiver, &figures);
    write_gauge(ret_page, "connections_reading", "connections whose request is not there whole",
                (double)figures.reading);
    write_gauge(ret_page, "requests_waiting", "requests that wait for a worker thread",
                (double)figures.waiting);
    write_gauge(ret_page, "requests_waiting_seconds", "how long the oldest of them has waited",
                figures.oldest);
    write_gauge(ret_page, "requests_waiting_bytes", "memory of requests that are read or wait",
                (double)figures.memory);
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

void server_set_stop_sched(struct server *server, bool stop_sched)
{
    bool changed;

    pthread_mutex_lock(&server->lock);
    changed = server->current.stop_sched != stop_sched;
    server->current.stop_sched = stop_sched;
    pthread_mutex_unlock(&server->lock);
    if (changed)
        log_line(LOG_LEVEL_WARNING, "event=stop_sched present=%d", stop_sched);
}

/* --- start -------------------------------------------------------------------------------------
 */

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

enum status server_create(const struct server_options *options, struct server **ret_server,
                          struct failure *failure)
{
    struct server *server = calloc(1, sizeof(*server));
    enum status status;

    if (server == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    server->magic = SERVER_MAGIC;
    server->options = *options;
    pthread_mutex_init(&server->lock, NULL);
    server->ledger = stream_ledger_create();
    status = server->ledger == NULL ? fail(failure, STATUS_NO_MEMORY, "no memory")
                                    : load_config(server, failure);
    if (status == STATUS_OK)
        status = project_load(server->current.config, &server->current.project, failure);
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
    stream_ledger_destroy(server->ledger);
    pthread_mutex_destroy(&server->lock);
    server->magic = 0;
    free(server);
}

static void *thread_main(void *context)
{
    struct worker_thread *thread = context;

    worker_serve(&thread->worker, thread->server->receiver);
    atomic_fetch_sub(&thread->server->threads_running, 1);
    return NULL;
}

static enum status start_thread(struct server *server, struct failure *failure)
{
    struct worker_thread *thread = &server->threads[server->thread_count];
    struct fcgi *fcgi = fcgi_create();

    if (fcgi == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    thread->server = server;
    worker_init(&thread->worker, server, fcgi);
    atomic_fetch_add(&server->threads_running, 1);
    if (pthread_create(&thread->id, NULL, thread_main, thread) != 0) {
        atomic_fetch_sub(&server->threads_running, 1);
        worker_clear(&thread->worker);
        return fail(failure, STATUS_IO, "no thread: %s", strerror(errno));
    }
    server->thread_count++;
    return STATUS_OK;
}

static enum status start_threads(struct server *server, struct failure *failure)
{
    int wanted = server->options.threads > 0 ? server->options.threads
                                             : (int)server->current.config->threads;
    enum status status = STATUS_OK;

    server->load.workers = wanted;
    if (server->options.clock_from_request)
        atomic_store(&server->load.service_ns, (uint64_t)(server->options.service_time * 1e9));
    server->threads = calloc((size_t)wanted, sizeof(*server->threads));
    if (server->threads == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    while (status == STATUS_OK && server->thread_count < wanted)
        status = start_thread(server, failure);
    return status;
}

/* For the receiver: a page for a request that is not served. */
static void write_refusal(void *context, const struct received *incoming, struct buffer *ret_page)
{
    struct server *server = context;
    struct buffer reply = buffer_on_heap(REFUSAL_BYTES_MAX);
    const struct web_request web = {0};
    struct snapshot snapshot;
    struct timespec now;
    struct request request = {
        .arena = server->refusal_arena, .seed = random_u64(), .load = incoming->load};

    clock_gettime(CLOCK_REALTIME, &now);
    request.now = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    server_snapshot(server, &snapshot);
    request.config = snapshot.config;
    request_turn_away(&request, incoming->is_too_large, &reply);
    web_reply_head(ret_page, "text/xml", &web, reply.length);
    buffer_add(ret_page, buffer_text(&reply));
    snapshot_release(&snapshot);
    arena_reset(server->refusal_arena);
    buffer_free(&reply);
}

/* Each request that waits has a descriptor: as many as the administrator allows. */
static void allow_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static enum status start_receiver(struct server *server, struct failure *failure)
{
    const struct config *config = server->current.config;
    int threads = server->options.threads > 0 ? server->options.threads : (int)config->threads;
    const struct receiver_options options = {
        .body_max = (size_t)config->request_bytes_max,
        .memory_max = WAITING_BYTES_MAX + (size_t)config->request_bytes_max,
        .share = threads / 2 > 2 ? (size_t)threads / 2 : 2,
        .first_record_ns = first_record_ns,
        .whole_ns = whole_request_ns,
        .patience_ns = patience_ns,
        .meter = server->options.clock_from_request ? NULL : &server->load,
        .load_target = config->load_target,
        .refuse = write_refusal,
        .context = server,
    };
    struct receiver *receiver = NULL;
    enum status status;

    allow_descriptors();
    server->refusal_arena = arena_create(REFUSAL_BYTES_MAX);
    if (server->refusal_arena == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    status = receiver_start(&options, server->listener, &receiver, failure);
    pthread_mutex_lock(&server->lock);
    server->receiver = receiver;
    pthread_mutex_unlock(&server->lock);
    return status;
}

/* Without a pool requests ask the database themselves, so that a failure here stops nothing. */
static void start_pool(struct server *server)
{
    const struct config *config = server->current.config;
    struct failure failure = {0};
    struct filler *filler;
    int64_t id = (int64_t)(random_u64() >> 1);

    if (config->pool_jobs_max == 0)
        return;
    server->pool = pool_create((size_t)config->pool_jobs_max, config->user_filter);
    if (server->pool == NULL)
        return;
    pthread_mutex_lock(&server->lock);
    filler = filler_create(server->pool, server->current.config, id > 0 ? id : 1);
    server->filler = filler;
    pthread_mutex_unlock(&server->lock);
    if (filler != NULL && server->options.clock_from_request)
        filler_simulate(filler);
    if (filler != NULL && filler_start(filler, &failure) != STATUS_OK)
        log_event(LOG_LEVEL_WARNING, "pool_not_started", text_from(failure.text));
}

static void stop_pool(struct server *server)
{
    struct filler *filler;

    pthread_mutex_lock(&server->lock);
    filler = server->filler;
    server->filler = NULL;
    pthread_mutex_unlock(&server->lock);
    filler_destroy(filler);
    pool_destroy(server->pool);
    server->pool = NULL;
}

/* --- stop --------------------------------------------------------------------------------------
 */

static void cut_overdue(struct server *server, uint64_t now_ns)
{
    for (int i = 0; i < server->thread_count; i++)
        worker_cut_overdue(&server->threads[i].worker, now_ns);
}

/* Waits for one of our signals; 0 when none came in that time. */
static int wait_for_signal(const sigset_t *signals, long milliseconds)
{
    struct timespec most = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = milliseconds % 1000 * 1000000};
    int signal_number = sigtimedwait(signals, NULL, &most);

    return signal_number < 0 ? 0 : signal_number;
}

static bool is_stop(int signal_number)
{
    return signal_number == SIGTERM || signal_number == SIGINT;
}

static void serve_until_stopped(struct server *server, const sigset_t *signals)
{
    for (;;) {
        int signal_number = wait_for_signal(signals, 1000);

        if (is_stop(signal_number))
            return;
        if (signal_number == SIGHUP) {
            if (log_reopen() != STATUS_OK)
                log_line(LOG_LEVEL_WARNING, "event=log_not_reopened");
            watcher_reload(server->watcher);
        }
        cut_overdue(server, clock_ns());
    }
}

/* Whether all threads ended in time. */
static bool drain(struct server *server, const sigset_t *signals)
{
    uint64_t end = clock_ns() + drain_longest_ns;
    bool is_cut = false;

    while (atomic_load(&server->threads_running) > 0) {
        bool hurry = is_stop(wait_for_signal(signals, 20));

        if (is_cut && clock_ns() > end)
            return false;
        if (!is_cut && (hurry || clock_ns() > end)) {
            is_cut = true;
            end = clock_ns() + cut_longest_ns;
            log_line(LOG_LEVEL_WARNING, "event=drain_cut running=%d",
                     atomic_load(&server->threads_running));
        }
        cut_overdue(server, is_cut ? UINT64_MAX : clock_ns());
    }
    return true;
}

static void join_threads(struct server *server)
{
    for (int i = 0; i < server->thread_count; i++) {
        pthread_join(server->threads[i].id, NULL);
        worker_clear(&server->threads[i].worker);
    }
    free(server->threads);
    server->threads = NULL;
    server->thread_count = 0;
}

/* systemd's notification is one datagram to a Unix socket, not worth a library. A failure is not
 * reported: the manager's own time limit then says what is wrong. `state` as in sd_notify(3). */
static void notify_manager(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path == NULL ? 0 : strlen(path);
    int sender;

    if (length < 2 || length >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') /* an abstract name */
        address.sun_path[0] = '\0';
    sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender < 0)
        return;
    (void)sendto(sender, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(sender);
}

enum status server_run(struct server *server, struct failure *failure)
{
    sigset_t signals;
    enum status status;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* in all threads to come */
    status = fcgi_startup(failure);
    if (status == STATUS_OK)
        status = listener_open(server->options.listen, server->options.socket_mode,
                               &server->listener, failure);
    if (status == STATUS_OK)
        status = watcher_start(server, &server->watcher, failure);
    if (status == STATUS_OK)
        start_pool(server);
    if (status == STATUS_OK)
        status = start_receiver(server, failure);
    if (status == STATUS_OK)
        status = start_threads(server, failure);
    if (status == STATUS_OK) {
        log_line(LOG_LEVEL_NORMAL, "event=started version=%s threads=%d", QM_VERSION,
                 server->thread_count);
        notify_manager("READY=1");
        serve_until_stopped(server, &signals);
    }
    notify_manager("STOPPING=1");
    if (server->listener != NULL)
        listener_stop(server->listener);
    if (!drain(server, &signals))
        return fail(failure, STATUS_IO, "%d threads did not end in time",
                    atomic_load(&server->threads_running));
    join_threads(server);
    receiver_join(server->receiver);
    arena_destroy(server->refusal_arena);
    stop_pool(server);
    watcher_stop(server->watcher);
    listener_close(server->listener);
    if (status == STATUS_OK)
        log_line(LOG_LEVEL_NORMAL, "event=stopped");
    return status;
}
