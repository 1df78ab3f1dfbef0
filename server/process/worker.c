/* SPDX-License-Identifier: Apache-2.0 */
/* A worker serves requests with a database connection and arenas of its own, and shares nothing
 * with its neighbours but the snapshot, which nobody changes.
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
#include "server/process/load_meter.h"
#include "server/process/metrics.h"
#include "server/process/server.h"
#include "server/process/web_request.h"
#include "server/project/project.h"
#include "server/recording/recording.h"
#include "server/request/walk.h"
#include "server/rpc/world.h"

#include <stdlib.h>
#include <time.h>

#include "server/base/banned.h"

/* Pauses between tries to connect double from the first to the longest, in ns. */
static const double reconnect_first = 0.1, reconnect_longest = 5; /* s */

static void wait_seconds(double seconds)
{
    struct timespec pause = {.tv_sec = (time_t)seconds};

    pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
    nanosleep(&pause, NULL);
}

enum status worker_init(struct worker *worker, struct server *server, struct receiver *receiver)
{
    enum status status = STATUS_OK;

    *worker = (struct worker){.server = server,
                              .receiver = receiver,
                              .exchange_count = receiver != NULL ? REQUEST_GROUP_MOST : 1,
                              .files = files_create(server_files(server))};
    for (size_t i = 0; i < worker->exchange_count; i++)
        if (exchange_init(&worker->exchanges[i], receiver != NULL) != STATUS_OK)
            status = STATUS_NO_MEMORY;
    return status;
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
    for (size_t i = 0; i < worker->exchange_count; i++)
        exchange_clear(&worker->exchanges[i]);
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

void worker_tend_database(struct worker *worker)
{
    if (worker->db != NULL && worker->db_was_away) {
        worker_close_database(worker);
        put_off_database(worker);
    }
    worker->db_was_away = false;
    if (worker->db != NULL)
        (void)db_end(worker->db);
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
    if (worker->receiver == NULL || server_options(worker->server)->clock_from_request)
        return -1;
    return server_database_away_for(worker->server, clock_ns());
}

bool worker_begin_request(struct worker *worker, struct exchange *exchange,
                          const struct snapshot *snapshot, const struct load *load)
{
    const struct web_request *web = &exchange->web;
    struct request *request = &exchange->request;

    *request = (struct request){.config = snapshot->config,
                                .catalog = snapshot->catalog,
                                .keys = &snapshot->project->keys,
                                .blocks = &snapshot->project->blocks,
                                .plan_classes = &snapshot->project->plan_classes,
                                .buda = &snapshot->project->buda,
                                .fates = server_fates(worker->server),
                                .world = &database_world,
                                .pool = server_pool(worker->server),
                                .arena = exchange_arena(exchange, snapshot->config),
                                .now = web->now,
                                .seed = web->seed,
                                .transport = web->transport,
                                .stop_sched = snapshot->stop_sched,
                                .stop_work = snapshot->stop_work,
                                .database_away_for = away_for(worker),
                                .wait = wait_seconds};
    request->load = server_options(worker->server)->clock_from_request
                        ? simulated_load(worker, snapshot->config, web)
                        : *load;
    if (web->is_simulated)
        server_follow_time(worker->server, web->now);
    if (request->arena == NULL) {
        log_line(LOG_LEVEL_CRITICAL, "event=no_memory");
        return false;
    }
    if (!snapshot->stop_sched && snapshot->catalog != NULL)
        request->db = database(worker, snapshot->config);
    request->files = files_ready(worker->files, snapshot->config, clock_ns());
    return true;
}

/* Behind the reply. True: the request was served, and not only refused. */
static bool note_request(struct worker *worker, struct exchange *exchange, size_t reply_bytes)
{
    struct request *request = &exchange->request;
    bool is_served;

    request_log(request, reply_bytes);
    metrics_note_request(request);
    if (worker->receiver != NULL) /* a CGI program has nobody who begins files */
        recording_take(server_recording(worker->server), request, &exchange->record);
    worker->db_was_away = worker->db_was_away || request->database_was_away;
    is_served = request->attempts > 0 && request->attempt.answer.kind == ANSWER_FULL;
    if (is_served || request->database_was_away)
        server_note_database(worker->server, is_served, clock_ns());
    arena_reset(request->arena);
    return is_served;
}

void worker_end_request(struct worker *worker, struct exchange *exchange, enum outcome outcome)
{
    request_end(&exchange->request, outcome, &exchange->reply);
    exchange->received->is_found =
        outcome == OUTCOME_COMMITTED && exchange->request.attempt.user.id != 0;
    exchange->is_served = note_request(worker, exchange, exchange->reply.length);
}

void worker_answer(struct worker *worker, const struct snapshot *snapshot,
                   const struct web_request *web, struct buffer *ret_reply)
{
    static const struct load no_load; /* a program of one request cannot know of others */
    struct exchange *exchange = &worker->exchanges[0];

    exchange->web = *web;
    if (!worker_begin_request(worker, exchange, snapshot, &no_load))
        return;
    request_run(&exchange->request, ret_reply);
    (void)note_request(worker, exchange, ret_reply->length);
    worker_tend_database(worker);
}

bool worker_join(struct worker *worker, struct exchange *exchange, const struct snapshot *snapshot,
                 enum join_page page, struct text query, struct buffer *ret_page)
{
    const struct web_request *web = &exchange->web;
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
        .arena = exchange_arena(exchange, config),
        .now = (int64_t)web->now,
    };

    if (request.arena == NULL) {
        log_line(LOG_LEVEL_CRITICAL, "event=no_memory");
        join_write_error(ret_page, JOIN_DOWN);
        return true;
    }
    if (page != JOIN_CONFIG && !snapshot->stop_sched)
        request.db = database(worker, config);
    if (request.db != NULL) /* what fails shows at the first statement */
        (void)!db_wait_for_locks(request.db, true);
    join_answer(&request, ret_page);
    join_log(&request);
    if (request.database_was_away && worker->db != NULL)
        server_note_database(worker->server, false, clock_ns());
    worker->db_was_away = worker->db_was_away || request.database_was_away;
    arena_reset(request.arena);
    return !join_refuses_guess(&request);
}

void worker_cut_overdue(struct worker *worker, uint64_t now_ns)
{
    for (size_t i = 0; i < worker->exchange_count; i++)
        exchange_cut_overdue(&worker->exchanges[i], now_ns);
}
