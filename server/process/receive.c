/* SPDX-License-Identifier: Apache-2.0 */
/* The receiver's thread waits in epoll for the listening socket, its connections, the stop, and a
 * word from workers that memory came free. Mostly a request is there whole when its connection is
 * accepted, and then it never sees epoll.
 *
 * What the thread shares with the workers is the line, under one mutex, and the sum of memory. A
 * connection that has sent something goes on only while the sum allows, and is stalled otherwise:
 * not read until memory comes free, or its time is over. */
#include "server/process/receive.h"

#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/process/listen.h"
#include "server/process/load_meter.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "server/base/banned.h"

enum {
    READ_BYTES = 64 * 1024, /* of one read */
    EVENTS_AT_ONCE = 256,
    ACCEPTS_AT_ONCE = 64,
    TICK_MS = 500, /* how late a time limit may be noticed */
    REST_MS = 50,  /* no descriptors or memory: until the next try to accept */
    NOTE_S = 10,   /* between two lines in the log about one thing */
    WAITING_MOST = 200000
};
#define PAGE_BYTES_MAX 65536

/* Whose word an event is, where it is not a connection's. */
static char listener_word, memory_word;

struct receiver {
    struct receiver_options options;
    struct listener *listener;
    pthread_t thread;
    int epoll, memory_event;
    bool hears_listener;     /* it is in the epoll */
    uint64_t rest_until_ns;  /* no accept before */
    uint64_t quiet_until_ns; /* no line in the log about requests turned away before */

    char piece[READ_BYTES];   /* what the last read brought */
    struct received *reading; /* utlist */
    _Atomic size_t reading_count, memory, body_max;
    _Atomic double load_target;
    _Atomic bool some_are_stalled;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t added;
    struct waiting_line *line;
    size_t waiting_with_reports;
    bool has_ended;
};

/* --- memory ----------------------------------------------------------------------------------- */

static void drop(struct receiver *receiver, struct received *incoming)
{
    atomic_fetch_sub(&receiver->memory, incoming->capacity + sizeof(*incoming));
    free(incoming->bytes);
    free(incoming);
}

/* Whether one more read can be kept. What came with the first read always can: accepting ends
 * before memory does. */
static bool has_room(struct receiver *receiver, struct received *incoming)
{
    if (incoming->length == 0 ||
        atomic_load(&receiver->memory) + READ_BYTES <= receiver->options.memory_max)
        return true;
    incoming->is_stalled = true;
    atomic_store(&receiver->some_are_stalled, true);
    return false;
}

/* Memory for a request grows by half, so that a silent peer holds none and a small request what it
 * needs. */
static bool keep(struct receiver *receiver, struct received *incoming, size_t got)
{
    size_t wanted = incoming->length + got;

    if (wanted > incoming->capacity) {
        size_t capacity = incoming->length == 0 ? got : wanted + wanted / 2;
        char *grown = realloc(incoming->bytes, capacity);

        if (grown == NULL)
            return false;
        atomic_fetch_add(&receiver->memory, capacity - incoming->capacity);
        incoming->bytes = grown;
        incoming->capacity = capacity;
    }
    memcpy(incoming->bytes + incoming->length, receiver->piece, got);
    incoming->length = wanted;
    return true;
}

/* --- whole requests --------------------------------------------------------------------------- */

/* The value of the first element <name> in the head of the body. */
static struct text value_of(struct text body, struct text start, struct text end)
{
    size_t at = text_find(body, start);
    struct text rest;

    if (at == body.length)
        return NO_TEXT;
    rest =
        (struct text){.at = body.at + at + start.length, .length = body.length - at - start.length};
    return text_first(rest, text_find(rest, end));
}

/* Whose request it is and whether it reports, by a look at the beginning of its body. */
static void look_at_head(struct received *incoming)
{
    enum { KEY_WITHIN = 4096, KEY_MOST = 255 };
    struct text body = {.at = incoming->bytes + incoming->check.body_at,
                        .length = incoming->check.body_length};
    struct text key =
        value_of(text_first(body, KEY_WITHIN), TEXT("<authenticator>"), TEXT("</authenticator>"));

    incoming->waits.account = text_hash(text_trim(text_first(key, KEY_MOST)));
    incoming->waits.has_reports = text_contains(body, TEXT("<result>"));
}

static void close_connection(struct received *incoming)
{
    close(incoming->connection);
    incoming->connection = -1;
}

/* Answers without a worker. The page is small, and what a socket does not take at once is lost with
 * the connection: then the peer is not reading. */
static void refuse(struct receiver *receiver, struct received *incoming)
{
    struct buffer page = buffer_on_heap(PAGE_BYTES_MAX), out = buffer_on_heap(PAGE_BYTES_MAX * 2);
    struct text text;

    receiver->options.refuse(receiver->options.context, incoming, &page);
    fcgi_add_response(&out, incoming->request_id, buffer_text(&page));
    text = buffer_text(&out);
    (void)send(incoming->connection, text.at, text.length, MSG_DONTWAIT | MSG_NOSIGNAL);
    close_connection(incoming);
    buffer_free(&out);
    buffer_free(&page);
    drop(receiver, incoming);
}

/* Whether a request that comes now would wait longer than clients do. */
static bool is_beyond_patience(const struct receiver *receiver, size_t before)
{
    double rate = load_meter_rate(receiver->options.meter, 1);

    if (before >= WAITING_MOST ||
        atomic_load(&receiver->memory) > receiver->options.memory_max / 4 * 3)
        return true;
    return rate > 0 && (double)before / rate * 1e9 > (double)receiver->options.patience_ns;
}

/* Counts it, and tells the log once in a while. */
static void note_turned_away(struct receiver *receiver, size_t before, uint64_t now_ns)
{
    counter_add(COUNTER_requests_turned_away, 1);
    if (now_ns < receiver->quiet_until_ns)
        return;
    receiver->quiet_until_ns = now_ns + (uint64_t)NOTE_S * 1000000000;
    log_line(LOG_LEVEL_WARNING, "event=turning_away waiting=%zu rate=%.1f memory=%zu", before,
             load_meter_rate(receiver->options.meter, 1), atomic_load(&receiver->memory));
}

static void deliver(struct receiver *receiver, struct received *incoming)
{
    /* A page of figures has no body; it is wanted most when requests are turned away. */
    bool may_be_late = receiver->options.meter != NULL && incoming->check.body_bytes > 0;
    bool is_added = false, is_late = false;
    size_t before;

    incoming->waits.arrived_ns = clock_ns();
    incoming->request_id = incoming->check.request_id;
    if (!incoming->is_too_large)
        look_at_head(incoming);
    if (may_be_late)
        incoming->load =
            load_meter_arrival(receiver->options.meter, atomic_load(&receiver->load_target),
                               incoming->waits.arrived_ns);
    pthread_mutex_lock(&receiver->lock);
    before =
        incoming->waits.has_reports ? receiver->waiting_with_reports : line_length(receiver->line);
    is_late = may_be_late && is_beyond_patience(receiver, before);
    if (!incoming->is_too_large && !is_late) {
        is_added = line_add(receiver->line, &incoming->waits);
        receiver->waiting_with_reports += is_added && incoming->waits.has_reports;
    }
    if (is_added)
        pthread_cond_signal(&receiver->added);
    pthread_mutex_unlock(&receiver->lock);
    if (is_added)
        return;
    if (is_late)
        note_turned_away(receiver, before, incoming->waits.arrived_ns);
    refuse(receiver, incoming);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void stop_reading(struct receiver *receiver, struct received *incoming, bool is_polled)
{
    if (is_polled)
        (void)epoll_ctl(receiver->epoll, EPOLL_CTL_DEL, incoming->connection, NULL);
    DL_DELETE(receiver->reading, incoming);
    atomic_fetch_sub(&receiver->reading_count, 1);
}

static void give_up(struct receiver *receiver, struct received *incoming, bool is_polled)
{
    stop_reading(receiver, incoming, is_polled);
    close_connection(incoming);
    drop(receiver, incoming);
}

/* A body beyond its bound is read to its end, so that the peer listens to the answer, but not
 * kept. */
static void forget_large_body(struct receiver *receiver, struct received *incoming)
{
    struct fcgi_check *check = &incoming->check;

    if (check->body_bytes <= atomic_load(&receiver->body_max))
        return;
    incoming->is_too_large = true;
    memmove(incoming->bytes, incoming->bytes + check->at, incoming->length - check->at);
    incoming->length -= check->at;
    check->at = 0;
}

/* A body of twice the bound is not even read, nor are records that hold more padding than body. */
static bool is_beyond_reading(struct receiver *receiver, const struct received *incoming)
{
    size_t body_max = atomic_load(&receiver->body_max);

    return incoming->check.body_bytes / 2 > body_max ||
           incoming->length / 2 > body_max + FCGI_VARIABLES_MAX + READ_BYTES;
}

enum read_result { READ_MORE, READ_WHOLE, READ_OVER };

static enum read_result read_some(struct receiver *receiver, struct received *incoming)
{
    for (;;) {
        enum fcgi_progress progress;
        ssize_t got;

        if (!has_room(receiver, incoming))
            return READ_MORE;
        got = recv(incoming->connection, receiver->piece, READ_BYTES, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? READ_MORE : READ_OVER;
        if (got == 0 || !keep(receiver, incoming, (size_t)got))
            return READ_OVER;
        progress = fcgi_check(&incoming->check,
                              (struct text){.at = incoming->bytes, .length = incoming->length});
        if (progress == FCGI_UNSOUND || is_beyond_reading(receiver, incoming)) {
            counter_add(COUNTER_connections_unsound, 1);
            return READ_OVER;
        }
        forget_large_body(receiver, incoming);
        if (progress == FCGI_COMPLETE)
            return READ_WHOLE;
    }
}

static void poll_for(struct receiver *receiver, struct received *incoming, int operation)
{
    struct epoll_event event = {.events = incoming->is_stalled ? 0 : EPOLLIN, .data.ptr = incoming};

    if (epoll_ctl(receiver->epoll, operation, incoming->connection, &event) != 0)
        give_up(receiver, incoming, operation == EPOLL_CTL_MOD);
}

static void go_on_reading(struct receiver *receiver, struct received *incoming, bool is_polled)
{
    bool was_stalled = incoming->is_stalled;

    incoming->is_stalled = false;
    switch (read_some(receiver, incoming)) {
    case READ_MORE:
        if (!is_polled)
            poll_for(receiver, incoming, EPOLL_CTL_ADD);
        else if (incoming->is_stalled != was_stalled)
            poll_for(receiver, incoming, EPOLL_CTL_MOD);
        break;
    case READ_WHOLE:
        stop_reading(receiver, incoming, is_polled);
        deliver(receiver, incoming);
        break;
    case READ_OVER:
        give_up(receiver, incoming, is_polled);
        break;
    }
}

static void hear_listener(struct receiver *receiver, bool hears)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &listener_word};

    if (receiver->hears_listener == hears)
        return;
    (void)epoll_ctl(receiver->epoll, hears ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
                    listener_socket(receiver->listener), &event);
    receiver->hears_listener = hears;
}

/* STATUS_NOT_FOUND: nothing more will come. */
static enum status accept_some(struct receiver *receiver)
{
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        struct received *incoming;
        int connection;
        enum status status = STATUS_IO;

        if (atomic_load(&receiver->memory) < receiver->options.memory_max)
            status = listener_accept(receiver->listener, &connection);
        if (status == STATUS_IO) {
            receiver->rest_until_ns = clock_ns() + (uint64_t)REST_MS * 1000000;
            hear_listener(receiver, false);
            return STATUS_OK;
        }
        if (status != STATUS_OK || connection < 0)
            return status;
        incoming = calloc(1, sizeof(*incoming));
        if (incoming == NULL) {
            close(connection);
            return STATUS_OK;
        }
        incoming->connection = connection;
        incoming->accepted_ns = clock_ns();
        atomic_fetch_add(&receiver->memory, sizeof(*incoming));
        DL_APPEND(receiver->reading, incoming);
        atomic_fetch_add(&receiver->reading_count, 1);
        go_on_reading(receiver, incoming, false);
    }
    return STATUS_OK;
}

/* --- time and memory -------------------------------------------------------------------------- */

static bool is_overdue(const struct receiver *receiver, const struct received *incoming,
                       uint64_t whole_ns, uint64_t now_ns)
{
    uint64_t age = now_ns - incoming->accepted_ns;

    return age > whole_ns ||
           (incoming->check.stage == FCGI_STAGE_BEGIN && age > receiver->options.first_record_ns);
}

/* After a stop nobody gets more time for a whole request than for its beginning. */
static void end_overdue(struct receiver *receiver, uint64_t whole_ns)
{
    uint64_t now_ns = clock_ns();
    struct received *incoming, *next;

    DL_FOREACH_SAFE(receiver->reading, incoming, next)
    {
        if (is_overdue(receiver, incoming, whole_ns, now_ns)) {
            counter_add(COUNTER_connections_overdue, 1);
            give_up(receiver, incoming, true);
        }
    }
}

static void resume_stalled(struct receiver *receiver)
{
    uint64_t count;
    struct received *incoming, *next;

    (void)!read(receiver->memory_event, &count, sizeof(count));
    atomic_store(&receiver->some_are_stalled, false);
    DL_FOREACH_SAFE(receiver->reading, incoming, next)
    {
        if (incoming->is_stalled)
            go_on_reading(receiver, incoming, true);
    }
}

/* --- the thread ------------------------------------------------------------------------------- */

static void end_line(struct receiver *receiver)
{
    pthread_mutex_lock(&receiver->lock);
    receiver->has_ended = true;
    pthread_cond_broadcast(&receiver->added);
    pthread_mutex_unlock(&receiver->lock);
}

static void *receiver_main(void *context)
{
    struct receiver *receiver = context;
    enum status status = STATUS_OK; /* STATUS_NOT_FOUND: stopped */
    uint64_t tick_ns = clock_ns();

    while (status == STATUS_OK || receiver->reading != NULL) {
        struct epoll_event events[EVENTS_AT_ONCE];
        bool rests = clock_ns() < receiver->rest_until_ns, has_memory = false;
        int count;

        hear_listener(receiver, status == STATUS_OK && !rests);
        count = epoll_wait(receiver->epoll, events, EVENTS_AT_ONCE, rests ? REST_MS : TICK_MS);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == &memory_word)
                has_memory = true;
            else if (events[i].data.ptr != &listener_word)
                go_on_reading(receiver, events[i].data.ptr, true);
        }
        if (has_memory) /* not before: it may end connections that other events are about */
            resume_stalled(receiver);
        if (status == STATUS_OK && !rests)
            status = accept_some(receiver);
        if (clock_ns() - tick_ns > (uint64_t)TICK_MS * 1000000) {
            tick_ns = clock_ns();
            end_overdue(receiver, status == STATUS_OK ? receiver->options.whole_ns
                                                      : receiver->options.first_record_ns);
        }
    }
    end_line(receiver);
    return NULL;
}

static enum status prepare(struct receiver *receiver, struct failure *failure)
{
    struct epoll_event memory = {.events = EPOLLIN, .data.ptr = &memory_word};
    struct epoll_event stop = {.events = EPOLLIN | EPOLLET, .data.ptr = &listener_word};

    receiver->epoll = epoll_create1(EPOLL_CLOEXEC);
    receiver->memory_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    receiver->line = line_create(receiver->options.share);
    if (receiver->line == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    if (receiver->epoll < 0 || receiver->memory_event < 0 ||
        epoll_ctl(receiver->epoll, EPOLL_CTL_ADD, receiver->memory_event, &memory) != 0 ||
        epoll_ctl(receiver->epoll, EPOLL_CTL_ADD, listener_stop_event(receiver->listener), &stop) !=
            0)
        return fail(failure, STATUS_IO, "epoll: %s", strerror(errno));
    return STATUS_OK;
}

static void destroy(struct receiver *receiver)
{
    if (receiver->epoll >= 0)
        close(receiver->epoll);
    if (receiver->memory_event >= 0)
        close(receiver->memory_event);
    line_destroy(receiver->line);
    pthread_cond_destroy(&receiver->added);
    pthread_mutex_destroy(&receiver->lock);
    free(receiver);
}

enum status receiver_start(const struct receiver_options *options, struct listener *listener,
                           struct receiver **ret_receiver, struct failure *failure)
{
    struct receiver *receiver = calloc(1, sizeof(*receiver));
    enum status status;

    if (receiver == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    receiver->options = *options;
    receiver->listener = listener;
    receiver->epoll = receiver->memory_event = -1;
    atomic_store(&receiver->body_max, options->body_max);
    atomic_store(&receiver->load_target, options->load_target);
    pthread_mutex_init(&receiver->lock, NULL);
    pthread_cond_init(&receiver->added, NULL);
    status = prepare(receiver, failure);
    if (status == STATUS_OK &&
        pthread_create(&receiver->thread, NULL, receiver_main, receiver) != 0)
        status = fail(failure, STATUS_IO, "no thread: %s", strerror(errno));
    if (status != STATUS_OK) {
        destroy(receiver);
        return status;
    }
    *ret_receiver = receiver;
    return STATUS_OK;
}

void receiver_join(struct receiver *receiver)
{
    if (receiver == NULL)
        return;
    pthread_join(receiver->thread, NULL);
    destroy(receiver);
}

/* --- for others ------------------------------------------------------------------------------- */

struct received *receiver_take(struct receiver *receiver)
{
    struct line_entry *entry;

    pthread_mutex_lock(&receiver->lock);
    while ((entry = line_take(receiver->line)) == NULL && !receiver->has_ended)
        pthread_cond_wait(&receiver->added, &receiver->lock);
    if (entry != NULL && entry->has_reports)
        receiver->waiting_with_reports--;
    pthread_mutex_unlock(&receiver->lock);
    return (struct received *)entry;
}

void receiver_finish(struct receiver *receiver, struct received *incoming)
{
    uint64_t one = 1;

    pthread_mutex_lock(&receiver->lock);
    line_finish(receiver->line, &incoming->waits);
    pthread_mutex_unlock(&receiver->lock);
    drop(receiver, incoming);
    if (atomic_load(&receiver->some_are_stalled))
        (void)!write(receiver->memory_event, &one, sizeof(one));
}

void receiver_set_limits(struct receiver *receiver, size_t body_max, double load_target)
{
    atomic_store(&receiver->body_max, body_max);
    atomic_store(&receiver->load_target, load_target);
}

void receiver_figures(struct receiver *receiver, struct receiver_figures *ret_figures)
{
    uint64_t oldest_ns;

    pthread_mutex_lock(&receiver->lock);
    oldest_ns = line_oldest_ns(receiver->line);
    ret_figures->waiting = line_length(receiver->line);
    pthread_mutex_unlock(&receiver->lock);
    ret_figures->reading = atomic_load(&receiver->reading_count);
    ret_figures->memory = atomic_load(&receiver->memory);
    ret_figures->oldest = oldest_ns == 0 ? 0 : (double)(clock_ns() - oldest_ns) * 1e-9;
}
