/* SPDX-License-Identifier: Apache-2.0 */
/* A worker serves one request after the other with a database connection and an arena of its own,
 * and shares nothing with its neighbours but the snapshot, which nobody changes.
 *
 * The connection is opened when it is first needed. While the database is away it is tried again
 * after growing pauses, and the requests between are answered at once that the project is down. */
#include "server/process/worker.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/files/host_files.h"
#include "server/join/join.h"
#include "server/policy/host/host_record.h"
#include "server/process/fcgi.h"
#include "server/process/health.h"
#include "server/process/load_meter.h"
#include "server/process/metrics.h"
#include "server/process/receive.h"
#include "server/process/server.h"
#include "server/process/status_keeper.h"
#include "server/process/web_request.h"
#include "server/project/project.h"
#include "server/recording/recording.h"
#include "server/request/walk.h"
#include "server/status/status_page.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

/* Pauses between tries to connect double from the first to the longest, in ns. */
static const double reconnect_first = 0.1, reconnect_longest = 5; /* s */

/* Sending a reply may take this long. */
static const uint64_t exchange_longest_ns = UINT64_C(300000000000);

static void wait_seconds(double seconds)
{
    struct timespec pause = {.tv_sec = (time_t)seconds};

    pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
    nanosleep(&pause, NULL);
}

void worker_init(struct worker *worker, struct server *server, struct fcgi *fcgi)
{
    *worker = (struct worker){.server = server,
                              .fcgi = fcgi,
                              .files = files_create(server_files(server)),
                              .record = NOTHING_RECORDED,
                              .connection = -1};
    pthread_mutex_init(&worker->lock, NULL);
}

void worker_close_database(struct worker *worker)
{
    db_close(worker->db);
    worker->db = NULL;
    config_release(worker->db_config);
    worker->db_config = NULL;
}

void worker_clear(struct worker *worker)
{
    worker_close_database(worker);
    files_destroy(worker->files);
    buffer_free(&worker->record.text);
    arena_destroy(worker->arena);
    fcgi_destroy(worker->fcgi);
    pthread_mutex_destroy(&worker->lock);
}

/* The next try to connect comes after a pause that grows with the failures. */
static void put_off_database(struct worker *worker)
{
    worker->db_failures++;
    worker->db_not_before_ns =
        clock_ns() +
        (uint64_t)(1e9 * backoff_pause(reconnect_first, reconnect_longest, worker->db_failures));
}

/* The connection to go by, NULL while the database is away. */
static struct db *database(struct worker *worker, struct config *config)
{
    struct failure failure = {0};

    if (worker->db != NULL && worker->db_config != config) /* maybe another database now */
        worker_close_database(worker);
    if (worker->db != NULL || clock_ns() < worker->db_not_before_ns)
        return worker->db;
    if (db_open(config, &worker->db, &failure) != STATUS_OK) {
        worker->db = NULL;
        counter_add(COUNTER_db_connections_failed, 1);
        if (worker->db_failures == 0)
            log_event(LOG_LEVEL_WARNING, "database_away", text_from(failure.text));
        put_off_database(worker);
        return NULL;
    }
    if (worker->db_failures > 0)
        log_line(LOG_LEVEL_WARNING, "event=database_back");
    worker->db_failures = 0;
    worker->db_config = config_hold(config);
    return worker->db;
}

/* An arena of the size that the configuration in force says. */
static struct arena *arena_for(struct worker *worker, const struct config *config)
{
    size_t bytes_max = (size_t)config->request_memory_max;

    if (worker->arena == NULL || worker->arena_bytes_max != bytes_max) {
        arena_destroy(worker->arena);
        worker->arena = arena_create(bytes_max);
        worker->arena_bytes_max = bytes_max;
    }
    return worker->arena;
}

/* Where the clock is the requests', the receiver cannot know the load: nothing that is measured
 * means anything. There the command line says what a request costs, or there is no load. */
static struct load simulated_load(struct worker *worker, const struct config *config,
                                  const struct web_request *web)
{
    double now = web->now < 1e10 ? web->now : 1e10; /* as ns it must fit */

    if (server_options(worker->server)->service_time <= 0 || !web->is_simulated)
        return (struct load){.backlog = 0};
    return load_meter_arrival(server_load(worker->server), config->load_target,
                              (uint64_t)(now * 1e9));
}

/* A CGI program lives too short to know, and simulated time is not the database's. */
static double away_for(const struct worker *worker)
{
    if (worker->fcgi == NULL || server_options(worker->server)->clock_from_request)
        return -1;
    return server_database_away_for(worker->server, clock_ns());
}

bool worker_answer(struct worker *worker, const struct snapshot *snapshot,
                   const struct web_request *web, const struct load *load, struct buffer *ret_reply)
{
    struct request request = {.config = snapshot->config,
                              .catalog = snapshot->catalog,
                              .keys = &snapshot->project->keys,
                              .blocks = &snapshot->project->blocks,
                              .plan_classes = &snapshot->project->plan_classes,
                              .ledger = worker->fcgi != NULL ? server_ledger(worker->server) : NULL,
                              .pool = server_pool(worker->server),
                              .arena = arena_for(worker, snapshot->config),
                              .now = web->now,
                              .seed = web->seed,
                              .transport = web->transport,
                              .stop_sched = snapshot->stop_sched,
                              .stop_work = snapshot->stop_work,
                              .database_away_for = away_for(worker),
                              .wait = wait_seconds};
    bool is_served;

    request.load = server_options(worker->server)->clock_from_request
                       ? simulated_load(worker, snapshot->config, web)
                       : *load;
    if (web->is_simulated)
        server_follow_time(worker->server, web->now);
    if (request.arena == NULL) {
        log_line(LOG_LEVEL_CRITICAL, "event=no_memory");
        return false; /* an empty reply: the client comes again */
    }
    if (!snapshot->stop_sched && snapshot->catalog != NULL)
        request.db = database(worker, snapshot->config);
    request.files = files_ready(worker->files, snapshot->config, clock_ns());
    request_run(&request, ret_reply);
    request_log(&request, ret_reply->length);
    metrics_note_request(&request);
    if (worker->fcgi != NULL) /* a CGI program has nobody who begins files */
        recording_take(server_recording(worker->server), &request, &worker->record);
    if (request.database_was_away && worker->db != NULL) {
        worker_close_database(worker);
        put_off_database(worker);
    }
    is_served = request.attempts > 0 && request.visit.answer.kind == ANSWER_FULL;
    if (is_served || request.database_was_away)
        server_note_database(worker->server, is_served, clock_ns());
    arena_reset(worker->arena);
    return is_served;
}

bool worker_join(struct worker *worker, const struct snapshot *snapshot,
                 const struct web_request *web, enum join_page page, struct text query,
                 struct buffer *ret_page)
{
    struct config *config = snapshot->config;
    struct join_request request = {
        .page = page,
        .query = query,
        .address =
            host_record_external_address(web->transport.forwarded_for, web->transport.remote_addr,
                                         config->trusted_proxy.items, config->trusted_proxy.count),
        .project = {.config = config,
                    .catalog = snapshot->catalog,
                    .terms_of_use = snapshot->project->blocks.terms_of_use,
                    .terms_are_lost = snapshot->project->blocks.terms_are_lost,
                    .is_stopped = snapshot->stop_sched},
        .limits = server_join_limits(worker->server),
        .arena = arena_for(worker, config),
        .now = (int64_t)web->now,
    };

    if (request.arena == NULL) {
        log_line(LOG_LEVEL_CRITICAL, "event=no_memory");
        join_write_error(ret_page, JOIN_DOWN);
        return true;
    }
    if (page != JOIN_CONFIG && !snapshot->stop_sched)
        request.db = database(worker, config);
    join_answer(&request, ret_page);
    join_log(&request);
    if (request.database_was_away && worker->db != NULL) {
        worker_close_database(worker);
        put_off_database(worker);
        server_note_database(worker->server, false, clock_ns());
    }
    arena_reset(worker->arena);
    return !join_refuses_guess(&request);
}

static const char *read_fcgi_variable(void *context, const char *name)
{
    return fcgi_variable(context, name);
}

/* Gives the exchange `ns` from now on, 0: no limit. */
static void set_deadline(struct worker *worker, uint64_t ns)
{
    pthread_mutex_lock(&worker->lock);
    worker->deadline_ns = ns == 0 ? UINT64_MAX : clock_ns() + ns;
    pthread_mutex_unlock(&worker->lock);
}

/* Puts the connection, or none (-1), where worker_cut_overdue finds it: a descriptor of its own,
 * since libfcgi closes the other one when it likes. */
static void show_connection(struct worker *worker, int connection)
{
    pthread_mutex_lock(&worker->lock);
    if (worker->connection >= 0)
        close(worker->connection);
    worker->connection = connection < 0 ? -1 : fcntl(connection, F_DUPFD_CLOEXEC, 0);
    worker->deadline_ns = clock_ns() + exchange_longest_ns;
    pthread_mutex_unlock(&worker->lock);
}

void worker_cut_overdue(struct worker *worker, uint64_t now_ns)
{
    pthread_mutex_lock(&worker->lock);
    if (worker->connection >= 0 && (now_ns >= worker->deadline_ns || now_ns == UINT64_MAX))
        shutdown(worker->connection, SHUT_RDWR);
    pthread_mutex_unlock(&worker->lock);
}

static void write_reply(struct worker *worker, const char *content_type,
                        const struct web_request *web, struct text reply)
{
    struct buffer head = buffer_on_heap(4096);

    set_deadline(worker, exchange_longest_ns);
    web_reply_head(&head, content_type, web, reply.length);
    fcgi_write(worker->fcgi, buffer_text(&head));
    fcgi_write(worker->fcgi, reply);
    buffer_free(&head);
}

static void serve_page(struct worker *worker, const struct snapshot *snapshot, enum join_page page,
                       struct buffer *reply)
{
    struct buffer head = buffer_on_heap(4096);
    struct web_request web = {0};

    web_request_read(&web, server_options(worker->server)->clock_from_request, read_fcgi_variable,
                     worker->fcgi);
    set_deadline(worker, 0);
    (void)worker_join(worker, snapshot, &web, page,
                      text_from(fcgi_variable(worker->fcgi, "QUERY_STRING")), reply);
    set_deadline(worker, exchange_longest_ns);
    web_page_head(&head, reply->length);
    fcgi_write(worker->fcgi, buffer_text(&head));
    fcgi_write(worker->fcgi, buffer_text(reply));
    buffer_free(&head);
}

static void serve_status(struct worker *worker, const struct snapshot *snapshot)
{
    struct buffer head = buffer_on_heap(4096), page = buffer_on_heap(STATUS_BYTES_MAX);

    if (status_keeper_write(worker->server, snapshot, &page)) {
        set_deadline(worker, exchange_longest_ns);
        web_status_head(&head, page.length);
        fcgi_write(worker->fcgi, buffer_text(&head));
        fcgi_write(worker->fcgi, buffer_text(&page));
    } else {
        const struct web_request web = {.is_unavailable = true};

        write_reply(worker, "text/plain", &web, TEXT("There is no memory for the page.\n"));
    }
    buffer_free(&page);
    buffer_free(&head);
}

/* Whether it was served, and not only refused. */
static bool serve_request(struct worker *worker, const struct snapshot *snapshot,
                          const struct received *received)
{
    struct buffer body = buffer_on_heap((size_t)snapshot->config->request_bytes_max);
    struct buffer reply = buffer_on_heap((size_t)snapshot->config->request_memory_max);
    struct web_request web = {0};
    enum join_page page = web_request_join_page(read_fcgi_variable, worker->fcgi, snapshot->config);
    enum status status;
    bool is_served = false;

    if (page != JOIN_NONE) {
        serve_page(worker, snapshot, page, &reply);
        goto done;
    }
    if (web_request_is_status(read_fcgi_variable, worker->fcgi)) {
        serve_status(worker, snapshot);
        goto done;
    }
    if (!web_request_is_post(read_fcgi_variable, worker->fcgi, snapshot->config, &reply)) {
        if (text_is(text_from(fcgi_variable(worker->fcgi, "QM_PAGE")), "metrics")) {
            server_write_pool_figures(worker->server, snapshot->catalog, &reply);
            server_write_waiting(worker->server, &reply);
        } else {
            web_write_state(&web, health_problem(server_health(worker->server)), &reply);
        }
        write_reply(worker, "text/plain", &web, buffer_text(&reply));
        goto done;
    }
    status = fcgi_read_body(worker->fcgi, &body);
    if (status == STATUS_IO)
        goto done;
    web.transport.body_too_large = status == STATUS_TOO_LARGE;
    if (!web.transport.body_too_large)
        web.transport.body = buffer_text(&body);
    web_request_read(&web, server_options(worker->server)->clock_from_request, read_fcgi_variable,
                     worker->fcgi);
    set_deadline(worker, 0);
    web.transport.has_account = received->has_key;
    web.transport.account = received->waits.account;
    is_served = worker_answer(worker, snapshot, &web, &received->load, &reply);
    write_reply(worker, "text/xml", &web, buffer_text(&reply));
done:
    buffer_free(&reply);
    buffer_free(&body);
    return is_served;
}

/* What it took is measured from the turn to the last byte, for the receiver's forecast. */
static void serve_received(struct worker *worker, struct receiver *receiver,
                           struct received *received)
{
    const struct text records = {.at = received->bytes, .length = received->length};
    uint64_t begun_ns = clock_ns();
    bool is_served = false;

    show_connection(worker, received->connection);
    if (fcgi_begin(worker->fcgi, records, received->connection) == STATUS_OK) {
        struct snapshot snapshot;

        receiver_free_bytes(receiver, received);
        server_snapshot(worker->server, &snapshot);
        is_served = serve_request(worker, &snapshot, received);
        snapshot_release(&snapshot);
        fcgi_finish(worker->fcgi);
        recording_keep(server_recording(worker->server), &worker->record);
    }
    show_connection(worker, -1);
    if (received->check.body_bytes > 0)
        metrics_note_served(received->taken_ns - received->waits.arrived_ns, clock_ns() - begun_ns);
    if (is_served && !server_options(worker->server)->clock_from_request)
        load_meter_served(server_load(worker->server), clock_ns() - begun_ns);
    if (worker->db != NULL) /* who was refused has heard so by now */
        (void)db_end(worker->db);
}

void worker_serve(struct worker *worker, struct receiver *receiver)
{
    struct received *received;

    while ((received = receiver_take(receiver)) != NULL) {
        serve_received(worker, receiver, received);
        receiver_finish(receiver, received);
    }
}
