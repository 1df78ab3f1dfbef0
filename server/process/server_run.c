/* SPDX-License-Identifier: Apache-2.0 */
/* The process from start to stop.
 *
 * The main thread only waits for signals, once a second looks for exchanges with the web server
 * that take too long, and at the end waits for the others.
 *
 * A stop is a drain: no new connections, the requests under way are finished and answered. A second
 * signal, or the end of patience, cuts the connections; a transaction that then goes on belongs to
 * a client that will ask again. */
#include "server/process/server_parts.h"

#include "config/config.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "server/process/fcgi.h"
#include "server/process/listen.h"
#include "server/process/notify.h"
#include "server/process/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

/* How long a drain may take, and how long the threads have after their connections were cut. */
static const uint64_t drain_longest_ns = UINT64_C(30000000000);
static const uint64_t cut_longest_ns = UINT64_C(5000000000);

static void *thread_main(void *context)
{
    struct thread *thread = context;

    worker_serve(&thread->worker, thread->server->listener);
    atomic_fetch_sub(&thread->server->threads_running, 1);
    return NULL;
}

static enum status start_thread(struct server *server, struct failure *failure)
{
    struct thread *thread = &server->threads[server->thread_count];
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
    stop_pool(server);
    watcher_stop(server->watcher);
    listener_close(server->listener);
    if (status == STATUS_OK)
        log_line(LOG_LEVEL_NORMAL, "event=stopped");
    return status;
}
