/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/run.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/process/fcgi.h"
#include "server/process/figures.h"
#include "server/process/load_meter.h"
#include "server/process/receive.h"
#include "server/process/server.h"
#include "server/process/watch.h"
#include "server/process/web_request.h"
#include "server/process/worker.h"
#include "server/request/walk.h"
#include "server/web/listen.h"
#include "server/web/notify.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "server/base/banned.h"

/* A web server sends a request at once, and clients give up after minutes; nginx waits 60 s. */
static const uint64_t first_record_ns = UINT64_C(5000000000);
static const uint64_t whole_request_ns = UINT64_C(60000000000);
static const uint64_t patience_ns = UINT64_C(30000000000);

enum {
    DESCRIPTORS_KEPT = 64,
    DESCRIPTORS_OF_WORKER = 4 + 2 * REQUEST_GROUP_MOST,
    CONNECTIONS_LEAST = 64
};

/* Of all requests that are read or wait, beside two of the largest. */
#define WAITING_BYTES_MAX ((size_t)256 * 1024 * 1024)
#define REFUSAL_BYTES_MAX ((size_t)256 * 1024)

/* How long a drain may take, and how long the threads have after their connections were cut. */
static const uint64_t drain_longest_ns = UINT64_C(30000000000);
static const uint64_t cut_longest_ns = UINT64_C(5000000000);

struct running;

struct worker_thread {
    struct worker worker;
    struct running *running;
    pthread_t id;
};

struct running {
    struct server *server;
    struct listener *listener;
    struct receiver *receiver;
    struct watcher *watcher;
    struct figures_thread *figures;
    struct worker_thread *threads;
    int thread_count;
    atomic_int threads_running;
};

static void *thread_main(void *context)
{
    struct worker_thread *thread = context;

    worker_serve(&thread->worker);
    atomic_fetch_sub(&thread->running->threads_running, 1);
    return NULL;
}

static enum status start_thread(struct running *running, struct failure *failure)
{
    struct worker_thread *thread = &running->threads[running->thread_count];

    thread->running = running;
    if (worker_init(&thread->worker, running->server, running->receiver) != STATUS_OK) {
        worker_clear(&thread->worker);
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    }
    atomic_fetch_add(&running->threads_running, 1);
    if (pthread_create(&thread->id, NULL, thread_main, thread) != 0) {
        atomic_fetch_sub(&running->threads_running, 1);
        worker_clear(&thread->worker);
        return fail(failure, STATUS_IO, "no thread: %s", strerror(errno));
    }
    running->thread_count++;
    return STATUS_OK;
}

static int threads_wanted(const struct server *server, const struct config *config)
{
    int threads = server_options(server)->threads;
    return threads > 0 ? threads : (int)config->threads;
}

static enum status start_threads(struct running *running, const struct config *config,
                                 struct failure *failure)
{
    int wanted = threads_wanted(running->server, config);
    enum status status = STATUS_OK;

    running->threads = calloc((size_t)wanted, sizeof(*running->threads));
    if (running->threads == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    while (status == STATUS_OK && running->thread_count < wanted)
        status = start_thread(running, failure);
    return status;
}

/* For the receiver: a page for a request that is not served. */
static void write_refusal(void *context, const struct received *received, struct buffer *ret_page)
{
    struct running *running = context;
    struct arena *arena = arena_create(REFUSAL_BYTES_MAX);
    struct buffer reply = buffer_on_heap(REFUSAL_BYTES_MAX);
    const struct web_request web = {0};
    struct snapshot snapshot;
    struct timespec now;
    struct request request = {.arena = arena, .seed = random_u64(), .load = received->load};

    if (received->page != JOIN_NONE) {
        join_write_error(&reply, JOIN_BUSY);
        web_page_head(ret_page, reply.length);
        buffer_add(ret_page, buffer_text(&reply));
        goto done;
    }
    if (arena == NULL)
        goto done; /* an empty page: the client comes again */
    clock_gettime(CLOCK_REALTIME, &now);
    request.now = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    server_snapshot(running->server, &snapshot);
    request.config = snapshot.config;
    request_turn_away(&request, received->body == BODY_TOO_LARGE, &reply);
    web_reply_head(ret_page, "text/xml", &web, reply.length);
    buffer_add(ret_page, buffer_text(&reply));
    snapshot_release(&snapshot);
done:
    arena_destroy(arena);
    buffer_free(&reply);
}

/* Each request that is read, waits or is served has a descriptor: as many as the administrator
 * allows, but for those of the process and of the workers, which have connections to both databases
 * and, for each exchange, a file in memory and a second descriptor of the connection. */
static size_t connections_max(int threads)
{
    size_t kept = DESCRIPTORS_KEPT + (size_t)threads * DESCRIPTORS_OF_WORKER;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_LEAST;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur > kept + CONNECTIONS_LEAST ? (size_t)limit.rlim_cur - kept
                                                     : CONNECTIONS_LEAST;
}

/* Before the first thread that asks it. */
static void prepare_load_meter(struct server *server, int threads)
{
    const struct server_options *options = server_options(server);
    struct load_meter *load = server_load(server);

    atomic_store(&load->workers, threads);
    if (options->clock_from_request)
        atomic_store(&load->service_ns, (uint64_t)(options->service_time * 1e9));
}

static enum status start_receiver(struct running *running, const struct config *config,
                                  struct failure *failure)
{
    struct server *server = running->server;
    int threads = threads_wanted(server, config);
    const struct receiver_options options = {
        .body_max = (size_t)config->request_bytes_max,
        .memory_spare = WAITING_BYTES_MAX,
        .connections_max = connections_max(threads),
        .workers = (size_t)threads,
        .processors = (size_t)sysconf(_SC_NPROCESSORS_ONLN),
        .processor_times = "/proc/stat",
        .share = receiver_share((size_t)threads),
        .first_record_ns = first_record_ns,
        .whole_ns = whole_request_ns,
        .patience_ns = patience_ns,
        .meter = server_options(server)->clock_from_request ? NULL : server_load(server),
        .load_target = config->load_target,
        .refuse = write_refusal,
        .context = running,
    };
    enum status status;

    prepare_load_meter(server, threads);
    status = receiver_start(&options, running->listener, &running->receiver, failure);
    if (status == STATUS_OK)
        server_set_receiver(server, running->receiver);
    return status;
}

static void cut_overdue(struct running *running, uint64_t now_ns)
{
    for (int i = 0; i < running->thread_count; i++)
        worker_cut_overdue(&running->threads[i].worker, now_ns);
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

static void run_until_stopped(struct running *running, const sigset_t *signals)
{
    for (;;) {
        int signal_number = wait_for_signal(signals, 1000);

        if (is_stop(signal_number))
            return;
        if (signal_number == SIGHUP) {
            if (log_reopen() != STATUS_OK)
                log_line(LOG_LEVEL_WARNING, "event=log_not_reopened");
            watcher_reload(running->watcher);
            figures_reload(running->figures);
        }
        cut_overdue(running, clock_ns());
    }
}

/* Whether all threads ended in time. */
static bool drain(struct running *running, const sigset_t *signals)
{
    uint64_t end = clock_ns() + drain_longest_ns;
    bool is_cut = false;

    while (atomic_load(&running->threads_running) > 0) {
        bool hurry = is_stop(wait_for_signal(signals, 20));

        if (is_cut && clock_ns() > end)
            return false;
        if (!is_cut && (hurry || clock_ns() > end)) {
            is_cut = true;
            end = clock_ns() + cut_longest_ns;
            log_line(LOG_LEVEL_WARNING, "event=drain_cut running=%d",
                     atomic_load(&running->threads_running));
            if (running->receiver != NULL) /* or each worker would take the next one */
                receiver_cut(running->receiver);
        }
        cut_overdue(running, is_cut ? UINT64_MAX : clock_ns());
    }
    return true;
}

static void join_threads(struct running *running)
{
    for (int i = 0; i < running->thread_count; i++) {
        pthread_join(running->threads[i].id, NULL);
        worker_clear(&running->threads[i].worker);
    }
    free(running->threads);
    running->threads = NULL;
    running->thread_count = 0;
}

static enum status start(struct running *running, struct failure *failure)
{
    const struct server_options *options = server_options(running->server);
    enum status status = fcgi_startup(failure);
    struct snapshot snapshot;

    if (status == STATUS_OK)
        status = listener_open(options->listen, options->socket, &running->listener, failure);
    if (status == STATUS_OK && listener_is_exposed(running->listener))
        log_event(LOG_LEVEL_WARNING, "socket_exposed",
                  TEXT("other machines may reach the socket: let only web servers do so"));
    if (status == STATUS_OK)
        status = watcher_start(running->server, &running->watcher, failure);
    if (status != STATUS_OK)
        return status;
    server_start_pool(running->server);
    status = figures_start(running->server, &running->figures, failure);
    if (status != STATUS_OK)
        return status;
    server_snapshot(running->server, &snapshot);
    status = start_receiver(running, snapshot.config, failure);
    if (status == STATUS_OK)
        status = start_threads(running, snapshot.config, failure);
    snapshot_release(&snapshot);
    return status;
}

enum status run_fastcgi(struct server *server, struct failure *failure)
{
    struct running *running = calloc(1, sizeof(*running));
    sigset_t signals;
    enum status status;

    if (running == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    running->server = server;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* in all threads to come */
    status = start(running, failure);
    if (status == STATUS_OK) {
        log_line(LOG_LEVEL_NORMAL, "event=started version=\"%s\" threads=%d",
                 server_options(server)->version, running->thread_count);
        notify_manager("READY=1");
        run_until_stopped(running, &signals);
    }
    notify_manager("STOPPING=1");
    if (running->listener != NULL)
        listener_stop(running->listener);
    if (!drain(running, &signals)) /* the threads that are left still use `running` */
        return fail(failure, STATUS_IO, "did not end in time: " COUNT_FORMAT,
                    COUNT_ARG(atomic_load(&running->threads_running), "thread"));
    join_threads(running);
    server_set_receiver(server, NULL);
    receiver_join(running->receiver);
    server_stop_pool(server);
    watcher_stop(running->watcher);
    figures_stop(running->figures);
    listener_close(running->listener);
    free(running);
    if (status == STATUS_OK)
        log_line(LOG_LEVEL_NORMAL, "event=stopped");
    return status;
}
