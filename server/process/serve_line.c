/* SPDX-License-Identifier: Apache-2.0 */
/* How a worker serves what waits in the line: one request after the other, and where more wait,
 * several in one transaction (server/request/together.h).
 *
 * A request whose steps are done while others wait keeps its exchange open. The next one is then
 * served with the exchange behind it, and so on, until nobody waits who may be a guest, or the
 * first one has waited long enough. Then all are committed and answered. Whatever cannot be a
 * guest, such as a large request or one under another configuration, is served behind that. */
#include "server/process/worker.h"

#include "config/config.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/process/exchange.h"
#include "server/process/fcgi.h"
#include "server/process/health.h"
#include "server/process/load_meter.h"
#include "server/process/metrics.h"
#include "server/process/receive.h"
#include "server/process/server.h"
#include "server/process/status_keeper.h"
#include "server/process/web_request.h"
#include "server/recording/recording.h"
#include "server/request/walk.h"
#include "server/status/status_page.h"

#include "server/base/banned.h"

/* No guests are taken in by a transaction that began longer ago. */
static const uint64_t together_longest_ns = UINT64_C(25000000);

enum {
    ALONE_AFTER_TROUBLE = 16, /* requests: what was in the way may still be there */
    /* Bytes of a reply that a socket takes at once, though nobody reads them. Longer ones are sent
     * last: a web server that passes them on to a slow client keeps nobody else's reply up. */
    SHORT_REPLY = 64 * 1024
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

static bool open_exchange(struct worker *worker, struct exchange *exchange,
                          struct received *received)
{
    if (!exchange_begin(exchange, received)) {
        receiver_finish(worker->receiver, received);
        return false;
    }
    receiver_free_bytes(worker->receiver, received);
    server_snapshot(worker->server, &exchange->snapshot);
    exchange->web = (struct web_request){0};
    exchange->is_served = false;
    exchange->body = buffer_on_heap((size_t)exchange->snapshot.config->request_bytes_max);
    exchange->reply = buffer_on_heap((size_t)exchange->snapshot.config->request_memory_max);
    return true;
}

/* --- those that share a transaction ----------------------------------------------------------- */

static bool others_wait(void *context)
{
    struct worker *worker = context;
    const struct exchange *first = &worker->exchanges[0];

    return clock_ns() - first->received->taken_ns < together_longest_ns &&
           receiver_has_waiting(worker->receiver);
}

/* The next guest of those that wait for the COMMIT; NULL: there is none. */
static struct received *take_guest(struct worker *worker)
{
    const struct exchange *first = &worker->exchanges[0];

    if (worker->together.is_lost ||
        worker->together.count >= (size_t)first->snapshot.config->requests_per_commit ||
        clock_ns() - first->received->taken_ns >= together_longest_ns)
        return NULL;
    return receiver_take_waiting(worker->receiver);
}

/* The thread works for this one of those that wait for the COMMIT: finds out what became of it, and
 * sends its reply if it is short. */
static enum outcome end_member(struct worker *worker, size_t index, enum outcome all)
{
    struct exchange *exchange = &worker->exchanges[index];
    enum outcome outcome = together_outcome(&worker->together, index, all);

    worker_end_request(worker, exchange, outcome);
    if (exchange->reply.length <= SHORT_REPLY)
        send_reply(worker, exchange);
    else
        exchange_leave(exchange);
    return outcome;
}

/* Commits those that wait for it, and answers them. The COMMIT is the first one's work. Nobody's
 * reply waits for a disk that another's record is written to. */
static void finish_together(struct worker *worker)
{
    struct together *together = &worker->together;
    struct exchange *exchanges = worker->exchanges;
    bool is_long[TOGETHER_MOST] = {false};
    enum outcome all;

    exchange_resume(&exchanges[0]);
    all = together_commit(together);
    if (all != OUTCOME_COMMITTED)
        worker->alone_left = ALONE_AFTER_TROUBLE;
    for (size_t i = 0; i < together->count; i++) {
        if (i > 0)
            exchange_resume(&exchanges[i]);
        if (end_member(worker, i, all) == OUTCOME_DOWN) /* nobody else need find out */
            all = OUTCOME_DOWN;
        is_long[i] = exchanges[i].reply.length > SHORT_REPLY; /* 0: it was sent */
    }
    for (size_t i = 0; i < together->count; i++)
        if (is_long[i]) {
            exchange_resume(&exchanges[i]);
            send_reply(worker, &exchanges[i]);
        }
    for (size_t i = 0; i < together->count; i++)
        recording_keep(server_recording(worker->server), &exchanges[i].record);
    together->count = 0;
    together->is_lost = false;
}

/* The same, if any wait for it, before something is done for a request that was taken. Its account
 * does not pay for that time. */
static void finish_others(struct worker *worker, struct received *taken)
{
    uint64_t begun_ns, begun_cpu_ns;

    if (worker->together.count == 0)
        return;
    begun_ns = clock_ns();
    begun_cpu_ns = clock_thread_ns();
    finish_together(worker);
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
    (void)worker_join(worker, &exchange->snapshot, &exchange->web, page,
                      text_from(exchange_variable(exchange, "QUERY_STRING")), &exchange->reply);
    web_page_head(&head, exchange->reply.length);
    exchange_send(exchange, buffer_text(&head), buffer_text(&exchange->reply));
    buffer_free(&head);
}

static void serve_status(struct worker *worker, struct exchange *exchange)
{
    struct buffer head = buffer_on_heap(4096), page = buffer_on_heap(STATUS_BYTES_MAX);

    if (status_keeper_write(worker->server, &exchange->snapshot, &page)) {
        web_status_head(&head, page.length);
        exchange_send(exchange, buffer_text(&head), buffer_text(&page));
    } else {
        const struct web_request web = {.is_unavailable = true};

        exchange_reply(exchange, "text/plain", &web, TEXT("There is no memory for the page.\n"));
    }
    buffer_free(&page);
    buffer_free(&head);
}

/* What is no scheduler request, or cannot be read as one. False: it is one. */
static bool serve_other(struct worker *worker, struct exchange *exchange)
{
    const struct config *config = exchange->snapshot.config;
    enum join_page page = web_request_join_page(exchange_variable, exchange, config);
    bool is_status = web_request_is_status(exchange_variable, exchange);
    struct web_request web = {0};

    if (page == JOIN_NONE && !is_status &&
        web_request_is_post(exchange_variable, exchange, config, &exchange->reply))
        return false;
    finish_others(worker, exchange->received); /* it may ask the database, and be long */
    if (page != JOIN_NONE) {
        serve_page(worker, exchange, page);
        return true;
    }
    if (is_status) {
        serve_status(worker, exchange);
        return true;
    }
    if (text_is(text_from(exchange_variable(exchange, "QM_PAGE")), "metrics")) {
        server_write_pool_figures(worker->server, exchange->snapshot.catalog, &exchange->reply);
        server_write_waiting(worker->server, &exchange->reply);
    } else {
        web_write_state(&web, health_problem(server_health(worker->server)), &exchange->reply);
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
    web->transport.account = exchange->received->waits.account;
    exchange_works(exchange);
    return true;
}

/* Whether the exchange is the next one behind those that wait for the COMMIT, and under the same
 * configuration. */
static bool may_join(const struct worker *worker, const struct exchange *exchange)
{
    return exchange == &worker->exchanges[worker->together.count] &&
           (worker->together.count == 0 || exchange->snapshot.config == worker->db_config);
}

/* Whether the request may share its transaction. Where those that do meet locked rows, some have
 * their own, and wait for locks: to try again costs more than a COMMIT. */
static bool shares(struct worker *worker, const struct exchange *exchange)
{
    if (!may_join(worker, exchange) || exchange->snapshot.config->requests_per_commit <= 1)
        return false;
    if (worker->together.count > 0 || worker->alone_left == 0)
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
    outcome = together_add(&worker->together, request);
    if (request->attempts > 1 || outcome == OUTCOME_AGAIN)
        worker->alone_left = ALONE_AFTER_TROUBLE;
    if (outcome != OUTCOME_AGAIN)
        return outcome;
    finish_others(worker, exchange->received);
    return request_transact(request, NULL);
}

static void serve_request(struct worker *worker, struct exchange *exchange)
{
    struct request *request = &exchange->request;
    enum outcome outcome = OUTCOME_NONE;

    if (!may_join(worker, exchange))
        finish_others(worker, exchange->received);
    if (!worker_begin_request(worker, exchange, &exchange->snapshot, &exchange->received->load)) {
        send_reply(worker, exchange);
        return;
    }
    if (request_begin(request))
        outcome = run_request(worker, exchange);
    if (outcome == OUTCOME_JOINED)
        exchange_leave(exchange);
    else
        answer(worker, exchange, outcome);
}

static void serve_received(struct worker *worker, struct received *received)
{
    struct exchange *exchange;

    if (!received_is_light(received))
        finish_others(worker, received);
    exchange = &worker->exchanges[worker->together.count];
    if (!open_exchange(worker, exchange, received))
        return;
    if (!serve_other(worker, exchange) && read_request(worker, exchange)) {
        serve_request(worker, exchange);
        return;
    }
    close_exchange(worker, exchange);
}

/* Whether its requests may share a COMMIT, as far as is known. */
static bool shares_commits(const struct worker *worker)
{
    return worker->db != NULL && db_can_share(worker->db) &&
           worker->db_config->requests_per_commit > 1;
}

void worker_serve(struct worker *worker)
{
    struct received *received;

    worker->together = (struct together){.others_wait = others_wait, .context = worker};
    while ((received = receiver_take(worker->receiver, shares_commits(worker))) != NULL) {
        serve_received(worker, received);
        while (worker->together.count > 0) {
            received = take_guest(worker);
            if (received != NULL)
                serve_received(worker, received);
            else
                finish_together(worker);
        }
        worker_tend_database(worker); /* who was refused has heard so by now */
    }
}
