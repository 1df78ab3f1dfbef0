/* SPDX-License-Identifier: Apache-2.0 */
/* How a worker serves what waits in the line: one request after the other, and where more wait,
 * several in one transaction (server/request/request_group.h).
 *
 * Where others wait when a request was taken, some of them are taken with it. They are read, what
 * they ask of the database first is asked for all of them, and they are run one after the other.
 * Each keeps its exchange open, and those that wait by then join them likewise, until
 * nobody waits who may be one, or the first has waited long enough. Then all are committed and
 * answered. Whatever cannot join, such as a large request or one under another configuration,
 * is served behind that. */
#include "server/process/worker.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/process/exchange.h"
#include "server/process/fcgi.h"
#include "server/process/group_time.h"
#include "server/process/health.h"
#include "server/process/load_meter.h"
#include "server/process/metrics.h"
#include "server/process/receive.h"
#include "server/process/server.h"
#include "server/process/status_gather.h"
#include "server/process/web_request.h"
#include "server/recording/recording.h"
#include "server/request/walk.h"
#include "server/status/status_page.h"

#include <string.h>

#include "server/base/banned.h"

enum {
    ALONE_AFTER_TROUBLE = 16, /* requests: what was in the way may still be there */
    /* Bytes of a reply that a socket takes at once, though nobody reads them. Longer ones are sent
     * last: a web server that passes them on to a slow client keeps nobody else's reply up. */
    SHORT_REPLY = 64 * 1024,
    HOST_ROWS_BYTES_MAX = 4 * 1024 * 1024 /* of what is read for several requests */
};

/* --- one exchange ----------------------------------------------------------------------------- */

/* Sends what is written, and ends the exchange. */
static void close_exchange(struct worker *worker, struct exchange *exchange)
{
    struct received *received = exchange->received;
    uint64_t now_ns;

    buffer_free(&exchange->reply);
    buffer_free(&exchange->body);
    snapshot_release(&exchange->snapshot);
    exchange_finish(exchange);
    now_ns = clock_ns();
    if (received->check.body_bytes > 0)
        metrics_note_served(received->taken_ns - received->waits.arrived_ns,
                            now_ns - received->taken_ns);
    if (exchange->is_served && !server_options(worker->server)->clock_from_request)
        load_meter_served(server_load(worker->server), exchange_held_ns(exchange, now_ns));
    exchange->is_in_use = false;
    receiver_finish(worker->receiver, received);
}

static void send_reply(struct worker *worker, struct exchange *exchange)
{
    exchange_reply(exchange, "text/xml", &exchange->web, buffer_text(&exchange->reply));
    close_exchange(worker, exchange);
}

static void answer(struct worker *worker, struct exchange *exchange, enum outcome outcome)
{
    worker_end_request(worker, exchange, outcome);
    send_reply(worker, exchange);
    recording_keep(server_recording(worker->server), &exchange->record);
}

static struct exchange *unused_exchange(struct worker *worker)
{
    size_t i = 0;

    while (i < worker->exchange_count && worker->exchanges[i].is_in_use)
        i++;
    must(i < worker->exchange_count);
    return &worker->exchanges[i];
}

/* NULL: it is closed. */
static struct exchange *open_exchange(struct worker *worker, struct received *received)
{
    struct exchange *exchange = unused_exchange(worker);

    if (!exchange_begin(exchange, received)) {
        receiver_finish(worker->receiver, received);
        return NULL;
    }
    exchange->is_in_use = true;
    receiver_free_bytes(worker->receiver, received);
    server_snapshot(worker->server, &exchange->snapshot);
    exchange->web = (struct web_request){0};
    exchange->is_served = false;
    exchange->body = buffer_on_heap((size_t)exchange->snapshot.config->request_bytes_max);
    exchange->reply = buffer_on_heap((size_t)exchange->snapshot.config->request_memory_max);
    return exchange;
}

/* --- those that share a transaction ----------------------------------------------------------- */

static bool others_wait(void *context)
{
    struct worker *worker = context;

    return group_time_is_left(&worker->group_time, clock_ns()) &&
           (worker->begun_count > 0 || receiver_has_waiting(worker->receiver));
}

/* The thread works for this one of those that wait for the COMMIT: finds out what became of it, and
 * sends its reply if it is short. */
static enum outcome end_member(struct worker *worker, size_t index, enum outcome all)
{
    struct exchange *exchange = worker->members[index];
    enum outcome outcome = request_group_outcome(&worker->group, index, all);

    worker_end_request(worker, exchange, outcome);
    if (exchange->reply.length <= SHORT_REPLY)
        send_reply(worker, exchange);
    else
        exchange_leave(exchange);
    return outcome;
}

/* Commits those that wait for it, and answers them. The COMMIT is the first one's work. Nobody's
 * reply waits for a disk that another's record is written to. */
static void finish_group(struct worker *worker)
{
    struct request_group *group = &worker->group;
    struct exchange **members = worker->members;
    bool is_long[REQUEST_GROUP_MOST] = {false};
    enum outcome all;

    exchange_resume(members[0]);
    all = request_group_commit(group);
    if (all != OUTCOME_COMMITTED)
        worker->alone_left = ALONE_AFTER_TROUBLE;
    for (size_t i = 0; i < group->count; i++) {
        if (i > 0)
            exchange_resume(members[i]);
        if (end_member(worker, i, all) == OUTCOME_DOWN) /* nobody else need find out */
            all = OUTCOME_DOWN;
        is_long[i] = members[i]->reply.length > SHORT_REPLY; /* 0: it was sent */
    }
    for (size_t i = 0; i < group->count; i++)
        if (is_long[i]) {
            exchange_resume(members[i]);
            send_reply(worker, members[i]);
        }
    for (size_t i = 0; i < group->count; i++)
        recording_keep(server_recording(worker->server), &members[i]->record);
    request_group_end(group);
    worker->group_time.begun_ns = clock_ns(); /* where others were begun */
}

/* The same, if any wait for it, before something is done for a request that was taken. Its account
 * does not pay for that time. */
static void finish_others(struct worker *worker, struct received *taken)
{
    uint64_t begun_ns, begun_cpu_ns;

    if (worker->group.count == 0)
        return;
    begun_ns = clock_ns();
    begun_cpu_ns = clock_thread_ns();
    finish_group(worker);
    taken->others_ns += clock_ns() - begun_ns;
    taken->others_cpu_ns += clock_thread_ns() - begun_cpu_ns;
}

/* --- running them ----------------------------------------------------------------------------- */

/* Whether the request may share its transaction. Where those that do meet locked rows, some have
 * their own, and wait for locks: to try again costs more than a COMMIT. */
static bool shares(struct worker *worker, const struct exchange *exchange)
{
    if (exchange->snapshot.config->requests_per_commit <= 1)
        return false;
    if (worker->group.count > 0 || worker->alone_left == 0)
        return true;
    worker->alone_left--;
    return false;
}

static enum outcome run_request(struct worker *worker, struct exchange *exchange)
{
    struct request *request = &exchange->request;
    enum outcome outcome;

    if (!shares(worker, exchange))
        return request_transact(request, NULL);
    outcome = request_group_add(&worker->group, request);
    if (request->attempts > 1 || outcome == OUTCOME_AGAIN)
        worker->alone_left = ALONE_AFTER_TROUBLE;
    if (outcome != OUTCOME_AGAIN)
        return outcome;
    finish_others(worker, exchange->received);
    return request_transact(request, NULL);
}

/* Runs what was begun, and answers it if it is not to wait for a COMMIT. */
static void run(struct worker *worker, struct exchange *exchange)
{
    uint64_t begun_ns = clock_ns();
    enum outcome outcome = run_request(worker, exchange);

    group_time_note_run(&worker->group_time, clock_ns() - begun_ns);
    if (outcome == OUTCOME_JOINED) {
        worker->members[worker->group.count - 1] = exchange;
        exchange_leave(exchange);
    } else {
        answer(worker, exchange, outcome);
    }
}

/* What they ask of the database first is the work of the first of them. */
static void read_for_all(struct worker *worker)
{
    struct request *requests[REQUEST_GROUP_MOST];

    for (size_t i = 0; i < worker->begun_count; i++)
        requests[i] = &worker->begun[i]->request;
    exchange_resume(worker->begun[0]);
    request_group_read(&worker->group, requests, worker->begun_count);
    exchange_leave(worker->begun[0]);
}

/* In the order in which they came. Where the transaction ends on the way, the next of them begins
 * another one. */
static void run_begun(struct worker *worker)
{
    struct exchange *begun[REQUEST_GROUP_MOST];
    size_t count = worker->begun_count;

    if (count > 1)
        read_for_all(worker);
    memcpy(begun, worker->begun, sizeof(begun));
    for (size_t i = 0; i < count; i++) {
        worker->begun_count = count - 1 - i;
        exchange_resume(begun[i]);
        if (worker->group.is_lost || !group_time_is_left(&worker->group_time, clock_ns()))
            finish_others(worker, begun[i]->received);
        run(worker, begun[i]);
    }
}

/* All that was taken before this one, whose account does not pay for that time. */
static void settle_others(struct worker *worker, struct received *taken)
{
    uint64_t begun_ns = clock_ns(), begun_cpu_ns = clock_thread_ns();

    run_begun(worker);
    if (worker->group.count > 0)
        finish_group(worker);
    taken->others_ns += clock_ns() - begun_ns;
    taken->others_cpu_ns += clock_thread_ns() - begun_cpu_ns;
}

/* --- what is asked for ------------------------------------------------------------------------ */

static void serve_page(struct worker *worker, struct exchange *exchange, enum join_page page)
{
    struct buffer head = buffer_on_heap(4096);

    web_request_read(&exchange->web, server_options(worker->server)->clock_from_request,
                     exchange_variable, exchange);
    exchange_works(exchange);
    (void)worker_join(worker, exchange, &exchange->snapshot, page,
                      text_from(exchange_variable(exchange, "QUERY_STRING")), &exchange->reply);
    web_page_head(&head, exchange->reply.length);
    exchange_send(exchange, buffer_text(&head), buffer_text(&exchange->reply));
    buffer_free(&head);
}

static void serve_status(struct worker *worker, struct exchange *exchange, enum page_kind kind)
{
    struct buffer head = buffer_on_heap(4096), page = buffer_on_heap(STATUS_BYTES_MAX);

    if (status_gather_page(worker->server, &exchange->snapshot, kind, &page)) {
        web_status_head(&head, page.length);
        exchange_send(exchange, buffer_text(&head), buffer_text(&page));
    } else {
        const struct web_request web = {.is_unavailable = true};

        exchange_reply(exchange, "text/plain", &web, TEXT("There is no memory for the page.\n"));
    }
    buffer_free(&page);
    buffer_free(&head);
}

static void serve_public(struct worker *worker, struct exchange *exchange, enum public_page kind)
{
    struct buffer head = buffer_on_heap(4096), page = buffer_on_heap(STATUS_BYTES_MAX);

    if (status_gather_public(worker->server, &exchange->snapshot, kind, &page) == STATUS_OK) {
        web_public_head(&head, page.length);
        exchange_send(exchange, buffer_text(&head), buffer_text(&page));
    } else {
        const struct web_request web = {.is_unavailable = true};

        exchange_reply(exchange, "text/plain", &web,
                       TEXT("The project has not been counted yet.\n"));
    }
    buffer_free(&page);
    buffer_free(&head);
}

/* What is no scheduler request, or cannot be read as one. False: it is one. */
static bool serve_other(struct worker *worker, struct exchange *exchange)
{
    const struct config *config = exchange->snapshot.config;
    enum join_page page = web_request_join_page(exchange_variable, exchange, config);
    enum page_kind status_page = web_request_status_page(exchange_variable, exchange);
    enum public_page public_page = web_request_public_page(exchange_variable, exchange);
    struct web_request web = {0};

    if (page == JOIN_NONE && public_page == PUBLIC_NONE && status_page == PAGE_KINDS &&
        web_request_is_post(exchange_variable, exchange, config, &exchange->reply))
        return false;
    settle_others(worker, exchange->received); /* it may ask the database, and be long */
    if (page != JOIN_NONE) {
        serve_page(worker, exchange, page);
        return true;
    }
    if (public_page != PUBLIC_NONE) {
        serve_public(worker, exchange, public_page);
        return true;
    }
    if (status_page != PAGE_KINDS) {
        serve_status(worker, exchange, status_page);
        return true;
    }
    if (text_is(text_from(exchange_variable(exchange, "QM_PAGE")), "metrics")) {
        server_write_pool_figures(worker->server, exchange->snapshot.catalog, &exchange->reply);
        server_write_waiting(worker->server, &exchange->reply);
    } else {
        web_write_state(&web, health_problem(server_health(worker->server)), &exchange->reply);
        server_write_number(worker->server, &exchange->reply);
    }
    exchange_reply(exchange, "text/plain", &web, buffer_text(&exchange->reply));
    return true;
}

/* False: the web server broke it off. */
static bool read_request(struct worker *worker, struct exchange *exchange)
{
    struct web_request *web = &exchange->web;
    enum status status = fcgi_read_body(exchange->fcgi, &exchange->body);

    if (status == STATUS_IO)
        return false;
    web->transport.body_too_large = status == STATUS_TOO_LARGE;
    if (!web->transport.body_too_large)
        web->transport.body = buffer_text(&exchange->body);
    web_request_read(web, server_options(worker->server)->clock_from_request, exchange_variable,
                     exchange);
    web->transport.has_account = exchange->received->has_key;
    web->transport.account = exchange->received->account;
    web->transport.is_known = exchange->received->is_known;
    exchange_works(exchange);
    return true;
}

/* Begins it; where it needs a transaction it is run by run_begun. */
static void begin_request(struct worker *worker, struct exchange *exchange)
{
    if (exchange->snapshot.config != worker->db_config)
        settle_others(worker, exchange->received);
    if (!worker_begin_request(worker, exchange, &exchange->snapshot, &exchange->received->load)) {
        send_reply(worker, exchange);
        return;
    }
    if (!request_begin(&exchange->request)) {
        answer(worker, exchange, OUTCOME_NONE);
        return;
    }
    if (worker->group.count + worker->begun_count == 0)
        worker->group_time.begun_ns = clock_ns();
    worker->begun[worker->begun_count++] = exchange;
    exchange_leave(exchange);
}

/* Nobody waits for a long one but those that come while it is run. */
static void serve_received(struct worker *worker, struct received *received)
{
    bool is_light = received_is_light(received);
    struct exchange *exchange;

    if (!is_light)
        settle_others(worker, received);
    exchange = open_exchange(worker, received);
    if (exchange == NULL)
        return;
    if (!serve_other(worker, exchange) && read_request(worker, exchange))
        begin_request(worker, exchange);
    else
        close_exchange(worker, exchange);
    if (!is_light)
        run_begun(worker);
}

/* Whether its requests may share a COMMIT, as far as is known. */
static bool shares_commits(const struct worker *worker)
{
    return worker->db != NULL && db_can_share(worker->db) &&
           worker->db_config->requests_per_commit > 1;
}

/* Whether another request may be taken in. */
static bool has_room(const struct worker *worker)
{
    const struct request_group *group = &worker->group;
    size_t count = group->count + worker->begun_count;

    return count > 0 && !group->is_lost && shares_commits(worker) &&
           (group->count > 0 || worker->alone_left == 0) &&
           count < (size_t)worker->db_config->requests_per_commit &&
           group_time_has_room(&worker->group_time, worker->begun_count, clock_ns());
}

/* False: nobody waits who may join. */
static bool take_members(struct worker *worker)
{
    struct received *received = NULL;

    while (has_room(worker) &&
           (received = receiver_take_waiting(worker->receiver, &worker->taking)) != NULL)
        serve_received(worker, received);
    return received != NULL;
}

void worker_serve(struct worker *worker)
{
    struct received *received;
    bool others_came;

    worker->group = (struct request_group){
        .others_wait = others_wait, .context = worker, .arena = arena_create(HOST_ROWS_BYTES_MAX)};
    while ((received = receiver_take(worker->receiver, &worker->taking, shares_commits(worker))) !=
           NULL) {
        serve_received(worker, received);
        do {
            others_came = take_members(worker);
            run_begun(worker);
        } while (others_came && worker->group.count > 0);
        if (worker->group.count > 0)
            finish_group(worker);
        worker_tend_database(worker); /* who was refused has heard so by now */
    }
    arena_destroy(worker->group.arena);
}
