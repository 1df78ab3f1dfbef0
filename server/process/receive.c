/* SPDX-License-Identifier: Apache-2.0 */
/* The receiver's thread waits in epoll for the listening socket, its connections, the stop, and a
 * word from others: all is to end, or a large body may be read. Mostly a request is there whole
 * when its connection is accepted, and then it never sees epoll.
 *
 * What the thread shares with the workers is the line and the turns of large bodies, under one
 * mutex, and the sums of memory and connections. Accepting rests while memory is used up. */
#include "server/process/receive.h"

#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/process/busy_meter.h"
#include "server/process/concurrency.h"
#include "server/process/known_keys.h"
#include "server/process/load_meter.h"
#include "server/rpc/request.h"
#include "server/web/event_loop.h"
#include "server/web/listen.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "server/base/banned.h"

enum {
    READ_BYTES = 64 * 1024, /* of one read */
    ACCEPTS_AT_ONCE = 64,
    TICK_MS = 500, /* how late a time limit may be noticed */
    REST_MS = 50,  /* no descriptors or memory: until the next try to accept */
    NOTE_S = 10,   /* between two lines in the log about one thing */
    SHARE_LEAST = 2,
    NICENESS = -10
};
#define PAGE_BYTES_MAX 65536
#define NS_OF_MS       UINT64_C(1000000)
#define NS_OF_S        UINT64_C(1000000000)

/* A worker that sleeps until it is called. */
struct sleeper {
    pthread_cond_t call;
    bool is_called; /* and in the list no more */
    struct sleeper *next;
};

struct receiver {
    struct receiver_options options;
    struct listener *listener;
    pthread_t thread;
    struct event_loop loop;
    uint64_t rest_until_ns; /* no accept before */

    char piece[READ_BYTES]; /* what the last read brought, or the beginning of a body */
    struct received *reading;

    _Atomic size_t connections, reading_now, memory, body_max;
    _Atomic double load_target;
    _Atomic bool is_cut;
    _Atomic uint64_t quiet_until_ns; /* no line in the log about requests turned away before */

    struct busy_meter processors;

    pthread_mutex_t lock; /* of what follows */
    struct waiting_line *line;
    struct body_turns turns; /* of entries `large` */
    struct known_keys known;
    bool has_ended;
    struct concurrency concurrency;
    struct receiver_worker *working; /* those that have requests in hand */
    struct sleeper *sleepers;        /* the worker that worked last first */
    bool is_watched; /* one of them looks now and then whether those that work get on */
};

size_t receiver_share(size_t threads)
{
    return threads / 2 > SHARE_LEAST ? threads / 2 : SHARE_LEAST;
}

/* --- memory ----------------------------------------------------------------------------------- */

static size_t memory_max(const struct receiver *receiver)
{
    return receiver->options.memory_spare + 2 * atomic_load(&receiver->body_max);
}

/* Its account's next large body may be read. Any thread. */
static void leave_body_turn(struct receiver *receiver, struct received *received)
{
    bool is_granted;

    if (!received->is_large)
        return;
    received->is_large = false;
    pthread_mutex_lock(&receiver->lock);
    is_granted = body_turns_leave(&receiver->turns, &received->large);
    pthread_mutex_unlock(&receiver->lock);
    if (is_granted)
        event_loop_wake(&receiver->loop);
}

/* Connection, bytes and all; the connection is closed. */
static void drop(struct receiver *receiver, struct received *received)
{
    receiver_free_bytes(receiver, received);
    leave_body_turn(receiver, received);
    atomic_fetch_sub(&receiver->memory, sizeof(*received));
    atomic_fetch_sub(&receiver->connections, 1);
    free(received);
}

/* A request of several reads may hold as much as is still free, so that there is always room for
 * smaller ones; a part is free for small ones alone. Small ones grow until all is used up: then one
 * read more is there, since accepting ends before memory does. */
static bool holds_more_than_is_free(const struct receiver *receiver,
                                    const struct received *received)
{
    size_t large_max = memory_max(receiver) - receiver->options.memory_spare / 4;
    size_t memory = atomic_load(&receiver->memory);

    if (received->length <= READ_BYTES)
        return memory > memory_max(receiver) + 2 * READ_BYTES;
    return memory + received->length > large_max;
}

static bool resize(struct receiver *receiver, struct received *received, size_t capacity)
{
    char *bytes = realloc(received->bytes, capacity);

    if (bytes == NULL)
        return false;
    atomic_fetch_add(&receiver->memory, capacity - received->capacity);
    received->bytes = bytes;
    received->capacity = capacity;
    return true;
}

/* Memory for a request grows by a quarter, so that a silent peer holds none and a small request
 * what it needs. */
static bool keep(struct receiver *receiver, struct received *received, size_t got)
{
    size_t wanted = received->length + got;

    if (wanted > received->capacity &&
        !resize(receiver, received, received->length == 0 ? got : wanted + wanted / 4))
        return false;
    memcpy(received->bytes + received->length, receiver->piece, got);
    received->length = wanted;
    received->came += got;
    return true;
}

/* --- who takes what waits; under the lock ----------------------------------------------------- */

static bool permits_another(const struct receiver *receiver)
{
    const uint64_t now_ns = clock_ns();
    const struct receiver_worker *worker;
    size_t getting_on = 0;

    DL_FOREACH(receiver->working, worker)
    {
        getting_on += concurrency_gets_on(worker->taken_ns, now_ns);
    }
    return concurrency_permits(&receiver->concurrency, getting_on);
}

/* The one that worked last: of it and of its connection's thread in the database most is still in
 * the processors' caches. */
static void wake_one(struct receiver *receiver)
{
    struct sleeper *sleeper = receiver->sleepers;

    LL_DELETE(receiver->sleepers, sleeper);
    sleeper->is_called = true;
    pthread_cond_signal(&sleeper->call);
}

/* A worker comes and takes a request, or looks after those that wait. */
static void call_worker(struct receiver *receiver)
{
    if (receiver->sleepers != NULL && (!receiver->is_watched || permits_another(receiver)))
        wake_one(receiver);
}

/* When one of those that get on will have taken nothing for too long. */
static uint64_t next_look_ns(const struct receiver *receiver, uint64_t now_ns)
{
    uint64_t oldest_ns = now_ns;
    const struct receiver_worker *worker;

    DL_FOREACH(receiver->working, worker)
    {
        if (concurrency_gets_on(worker->taken_ns, now_ns) && worker->taken_ns < oldest_ns)
            oldest_ns = worker->taken_ns;
    }
    return oldest_ns + CONCURRENCY_STUCK_NS;
}

/* Until there may be something to do. Where requests wait for those that work, one of the others
 * keeps watch. */
static void stand_by(struct receiver *receiver, struct sleeper *sleeper)
{
    const uint64_t until_ns = next_look_ns(receiver, clock_ns());
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_OF_S),
                                   .tv_nsec = (long)(until_ns % NS_OF_S)};

    sleeper->is_called = false;
    LL_PREPEND(receiver->sleepers, sleeper);
    if (waiting_length(receiver->line) == 0 || receiver->is_watched) {
        while (!sleeper->is_called)
            pthread_cond_wait(&sleeper->call, &receiver->lock);
    } else {
        receiver->is_watched = true;
        pthread_cond_clockwait(&sleeper->call, &receiver->lock, CLOCK_MONOTONIC, &until);
        receiver->is_watched = false;
    }
    if (!sleeper->is_called)
        LL_DELETE(receiver->sleepers, sleeper);
}

/* NULL: nobody waits who may be served now. */
static struct received *take_entry(struct receiver *receiver, struct receiver_worker *worker)
{
    struct waiting_entry *entry = waiting_take(receiver->line);
    struct received *received = (struct received *)entry;

    if (entry == NULL)
        return NULL;
    received->is_dear = waiting_is_dear(entry);
    received->taken_ns = clock_ns();
    received->taken_cpu_ns = clock_thread_ns();
    worker->taken_ns = received->taken_ns;
    return received;
}

static void note_working(struct receiver *receiver, struct receiver_worker *worker, bool is_working)
{
    if (is_working && !worker->is_working)
        DL_APPEND(receiver->working, worker);
    else if (!is_working && worker->is_working)
        DL_DELETE(receiver->working, worker);
    worker->is_working = is_working;
}

/* The same for a worker that has nothing else to do. NULL: the end. */
static struct received *wait_for_entry(struct receiver *receiver, struct receiver_worker *worker,
                                       bool shares)
{
    struct received *received = NULL;
    struct sleeper sleeper = {.call = PTHREAD_COND_INITIALIZER};

    note_working(receiver, worker, false);
    while (!atomic_load(&receiver->is_cut)) {
        if (!shares || receiver->has_ended || permits_another(receiver))
            received = take_entry(receiver, worker);
        if (received != NULL || receiver->has_ended)
            break;
        stand_by(receiver, &sleeper);
    }
    note_working(receiver, worker, received != NULL);
    pthread_cond_destroy(&sleeper.call);
    if (waiting_length(receiver->line) > 0)
        call_worker(receiver);
    return received;
}

/* --- whole requests --------------------------------------------------------------------------- */

/* Under this number all who join stand in the line; it is that of no key. */
#define ACCOUNT_OF_JOINING UINT64_C(1)

/* Pages for joining have no body: only their variables tell what they are. Look-ups take much CPU:
 * who joins waits for others who do, and nobody else for them. */
static void look_at_page(struct receiver *receiver, struct received *received)
{
    const struct text bytes = {.at = received->bytes, .length = received->length};
    const struct text variables = {
        .at = receiver->piece, .length = fcgi_copy_variables(bytes, receiver->piece, READ_BYTES)};

    received->page = join_page_asked(fcgi_variable_in(variables, "REQUEST_METHOD"),
                                     fcgi_variable_in(variables, "SCRIPT_NAME"),
                                     fcgi_variable_in(variables, "PATH_INFO"));
    if (received->page != JOIN_NONE)
        received->waits.account = ACCOUNT_OF_JOINING;
}

/* The beginning of its body, as far as it is there; valid until the next read. */
static struct text head_of(struct receiver *receiver, const struct received *received)
{
    const struct text bytes = {.at = received->bytes, .length = received->length};

    return (struct text){.at = receiver->piece,
                         .length =
                             fcgi_copy_body(&received->check, bytes, receiver->piece, READ_BYTES)};
}

/* Whose request it is and whether it reports, by a look at the beginning of its body. */
static void look_at_head(struct receiver *receiver, struct received *received)
{
    const struct text head = head_of(receiver, received);
    struct text key = NO_TEXT;

    received->has_key = request_find_key(head, &key);
    received->account = received->waits.account = request_account(key);
    received->waits.has_reports = text_contains(head, TEXT("<result>"));
}

/* Under the lock. A page of figures has no key, and is no stranger's. */
static void choose_line(struct receiver *receiver, struct received *received)
{
    if (received->body != BODY_KEPT || received->check.body_bytes == 0)
        return;
    received->is_known = received->has_key && known_keys_has(&receiver->known, received->account,
                                                             received->waits.arrived_ns);
    if (!received->is_known) {
        received->waits.account = WAITING_STRANGERS;
        counter_add(COUNTER_requests_of_strangers, 1);
    }
}

/* Answers without serving. The page is small, and what a socket does not take at once is lost with
 * the connection: then the peer is not reading. */
static void refuse(struct receiver *receiver, struct received *received)
{
    struct buffer page = buffer_on_heap(PAGE_BYTES_MAX), out = buffer_on_heap(PAGE_BYTES_MAX * 2);
    struct text text;

    receiver->options.refuse(receiver->options.context, received, &page);
    fcgi_add_response(&out, received->check.request_id, buffer_text(&page));
    text = buffer_text(&out);
    (void)send(received->connection, text.at, text.length, MSG_DONTWAIT | MSG_NOSIGNAL);
    close(received->connection);
    buffer_free(&out);
    buffer_free(&page);
    drop(receiver, received);
}

/* A page of figures has no body; it is wanted most when requests are turned away. */
static bool may_be_late(const struct receiver *receiver, const struct received *received)
{
    return receiver->options.meter != NULL &&
           (received->check.body_bytes > 0 || received->page != JOIN_NONE);
}

/* Few connections are left, and no request is added to the line: newcomers use them to be asked to
 * come again, which takes no longer than to be read. */
static bool is_full(const struct receiver *receiver)
{
    size_t most = receiver->options.connections_max;

    return atomic_load(&receiver->connections) > most - most / 8;
}

/* Whether it would have waited longer than clients do when its turn comes. */
static bool is_beyond_patience(const struct receiver *receiver, size_t ahead)
{
    double rate = load_meter_rate(receiver->options.meter, 1);

    return rate > 0 && (double)ahead / rate * 1e9 > (double)receiver->options.patience_ns;
}

/* Counts it, and tells the log once in a while. */
static void turn_away(struct receiver *receiver, struct received *received, size_t waiting)
{
    uint64_t now_ns = clock_ns();
    uint64_t quiet_until_ns = atomic_load(&receiver->quiet_until_ns);

    counter_add(COUNTER_requests_turned_away, 1);
    if (now_ns >= quiet_until_ns &&
        atomic_compare_exchange_strong(&receiver->quiet_until_ns, &quiet_until_ns,
                                       now_ns + NOTE_S * NS_OF_S))
        log_line(LOG_LEVEL_WARNING, "event=turning_away waiting=%zu connections=%zu memory=%zu",
                 waiting, atomic_load(&receiver->connections), atomic_load(&receiver->memory));
    refuse(receiver, received);
}

static void deliver(struct receiver *receiver, struct received *received)
{
    bool is_added = false;
    size_t waiting;

    received->waits.arrived_ns = clock_ns();
    if (received->body == BODY_TOO_LARGE) {
        refuse(receiver, received);
        return;
    }
    if (received->body == BODY_KEPT) {
        look_at_head(receiver, received);
        if (received->check.body_bytes == 0)
            look_at_page(receiver, received);
    }
    if (may_be_late(receiver, received) && received->page == JOIN_NONE)
        received->load =
            load_meter_arrival(receiver->options.meter, atomic_load(&receiver->load_target),
                               received->waits.arrived_ns);
    pthread_mutex_lock(&receiver->lock);
    choose_line(receiver, received);
    waiting = waiting_length(receiver->line);
    if (received->body == BODY_KEPT && !is_full(receiver) &&
        !(may_be_late(receiver, received) &&
          is_beyond_patience(receiver, waiting_ahead(receiver->line, &received->waits))))
        is_added = waiting_add(receiver->line, &received->waits);
    if (is_added)
        call_worker(receiver);
    pthread_mutex_unlock(&receiver->lock);
    if (!is_added)
        turn_away(receiver, received, waiting);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void stop_reading(struct receiver *receiver, struct received *received)
{
    (void)!event_loop_poll(&receiver->loop, received->connection, received->events, 0, received);
    received->events = 0;
    DL_DELETE(receiver->reading, received);
    atomic_fetch_sub(&receiver->reading_now, 1);
}

static void give_up(struct receiver *receiver, struct received *received)
{
    stop_reading(receiver, received);
    close(received->connection);
    drop(receiver, received);
}

/* A body that is not kept is read to its end all the same, so that the peer listens to the answer.
 */
static void forget_body(struct receiver *receiver, struct received *received,
                        enum received_body why)
{
    struct fcgi_check *check = &received->check;
    size_t seen = check->at < received->length ? check->at : received->length;

    received->body = why;
    leave_body_turn(receiver, received);
    memmove(received->bytes, received->bytes + seen, received->length - seen);
    received->length -= seen;
    check->at -= seen;
    (void)resize(receiver, received, received->length + 1);
}

static void forget_large_body(struct receiver *receiver, struct received *received)
{
    if (received->check.body_bytes > atomic_load(&receiver->body_max))
        forget_body(receiver, received, BODY_TOO_LARGE);
    else if (received->body != BODY_KEPT || holds_more_than_is_free(receiver, received))
        forget_body(receiver, received, BODY_WITHOUT_ROOM);
}

/* A body that has become large goes on only when its account has no other in hand. */
static bool may_go_on(struct receiver *receiver, struct received *received)
{
    struct text key = NO_TEXT;
    bool has_turn;

    if (received->body != BODY_KEPT || received->length < BODY_LARGE_BYTES || received->is_large)
        return true;
    received->is_large = true;
    (void)request_find_key(head_of(receiver, received), &key);
    pthread_mutex_lock(&receiver->lock);
    has_turn = body_turns_ask(&receiver->turns, &received->large, request_account(key));
    pthread_mutex_unlock(&receiver->lock);
    return has_turn;
}

/* A body of twice the bound is not even read, nor are records that hold more padding than body. */
static bool is_beyond_reading(const struct receiver *receiver, const struct received *received)
{
    size_t body_max = atomic_load(&receiver->body_max);

    return received->check.body_bytes / 2 > body_max ||
           received->came / 2 > body_max + FCGI_VARIABLES_MAX + READ_BYTES;
}

enum read_result { READ_MORE, READ_LATER, READ_WHOLE, READ_OVER };

/* One read: a peer that sends megabytes as fast as they are read makes nobody wait for its end. */
static enum read_result read_piece(struct receiver *receiver, struct received *received)
{
    enum fcgi_progress progress;
    ssize_t got;

    got = recv(received->connection, receiver->piece, READ_BYTES, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? READ_MORE : READ_OVER;
    if (got == 0 || !keep(receiver, received, (size_t)got))
        return READ_OVER;
    progress = fcgi_check(&received->check,
                          (struct text){.at = received->bytes, .length = received->length});
    if (progress == FCGI_UNSOUND || is_beyond_reading(receiver, received)) {
        counter_add(COUNTER_connections_unsound, 1);
        return READ_OVER;
    }
    forget_large_body(receiver, received);
    if (progress == FCGI_COMPLETE)
        return READ_WHOLE;
    return may_go_on(receiver, received) ? READ_MORE : READ_LATER;
}

/* For EPOLLIN, or 0: not at all. */
static void poll_for(struct receiver *receiver, struct received *received, uint32_t events)
{
    uint32_t before = received->events;

    received->events = events;
    if (!event_loop_poll(&receiver->loop, received->connection, before, events, received))
        give_up(receiver, received);
}

static void go_on_reading(struct receiver *receiver, struct received *received)
{
    switch (read_piece(receiver, received)) {
    case READ_MORE:
        poll_for(receiver, received, EPOLLIN);
        break;
    case READ_LATER:
        poll_for(receiver, received, 0);
        break;
    case READ_WHOLE:
        stop_reading(receiver, received);
        deliver(receiver, received);
        break;
    case READ_OVER:
        give_up(receiver, received);
        break;
    }
}

static struct received *next_granted(struct receiver *receiver)
{
    struct body_turn_entry *entry;

    pthread_mutex_lock(&receiver->lock);
    entry = body_turns_next(&receiver->turns);
    pthread_mutex_unlock(&receiver->lock);
    return entry == NULL ? NULL
                         : (struct received *)((char *)entry - offsetof(struct received, large));
}

/* Large bodies whose turn has come. */
static void resume_reading(struct receiver *receiver)
{
    struct received *received;

    while ((received = next_granted(receiver)) != NULL)
        poll_for(receiver, received, EPOLLIN);
}

static enum status accept_one(struct receiver *receiver, int *ret_connection)
{
    if (atomic_load(&receiver->memory) >= memory_max(receiver) ||
        atomic_load(&receiver->connections) >= receiver->options.connections_max)
        return STATUS_IO;
    return listener_accept(receiver->listener, ret_connection);
}

/* STATUS_NOT_FOUND: nothing more will come. */
static enum status accept_some(struct receiver *receiver)
{
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        struct received *received;
        int connection = -1;
        enum status status = accept_one(receiver, &connection);

        if (status == STATUS_IO) {
            receiver->rest_until_ns = clock_ns() + REST_MS * NS_OF_MS;
            return STATUS_OK;
        }
        if (status != STATUS_OK || connection < 0)
            return status;
        received = calloc(1, sizeof(*received));
        if (received == NULL) {
            close(connection);
            return STATUS_OK;
        }
        received->connection = connection;
        received->accepted_ns = clock_ns();
        atomic_fetch_add(&receiver->memory, sizeof(*received));
        atomic_fetch_add(&receiver->connections, 1);
        atomic_fetch_add(&receiver->reading_now, 1);
        DL_APPEND(receiver->reading, received);
        go_on_reading(receiver, received);
    }
    return STATUS_OK;
}

/* --- time and memory -------------------------------------------------------------------------- */

static bool is_overdue(const struct receiver *receiver, const struct received *received,
                       uint64_t whole_ns, uint64_t now_ns)
{
    uint64_t age = now_ns - received->accepted_ns;

    return age > whole_ns ||
           (received->check.stage == FCGI_STAGE_BEGIN && age > receiver->options.first_record_ns);
}

/* A large body that does not get its turn within a client's patience is asked to come again. */
static void end_patience(struct receiver *receiver, struct received *received, uint64_t now_ns)
{
    bool waits;

    if (!received->is_large)
        return;
    pthread_mutex_lock(&receiver->lock);
    waits = received->large.turn == BODY_TURN_WAITS;
    pthread_mutex_unlock(&receiver->lock);
    if (waits && now_ns - received->accepted_ns > receiver->options.patience_ns) {
        forget_body(receiver, received, BODY_WITHOUT_ROOM);
        poll_for(receiver, received, EPOLLIN);
    }
}

static void end_overdue(struct receiver *receiver, uint64_t whole_ns)
{
    uint64_t now_ns = clock_ns();
    struct received *received, *next;

    DL_FOREACH_SAFE(receiver->reading, received, next)
    {
        if (is_overdue(receiver, received, whole_ns, now_ns)) {
            counter_add(COUNTER_connections_overdue, 1);
            give_up(receiver, received);
        } else {
            end_patience(receiver, received, now_ns);
        }
    }
}

/* --- the thread ------------------------------------------------------------------------------- */

static void note_busy(struct receiver *receiver)
{
    double part = busy_meter_read(&receiver->processors);
    struct load_meter *meter = receiver->options.meter;
    bool requests_wait;
    size_t limit;

    pthread_mutex_lock(&receiver->lock);
    concurrency_note_busy(&receiver->concurrency, part);
    limit = receiver->concurrency.limit;
    requests_wait = waiting_length(receiver->line) > 0;
    pthread_mutex_unlock(&receiver->lock);
    if (meter == NULL)
        return;
    atomic_store(&meter->workers, (double)limit);
    load_meter_look(meter, clock_ns(), requests_wait);
}

static void end_line(struct receiver *receiver)
{
    pthread_mutex_lock(&receiver->lock);
    receiver->has_ended = true;
    while (receiver->sleepers != NULL)
        wake_one(receiver);
    pthread_mutex_unlock(&receiver->lock);
}

static void wait_for_events(struct receiver *receiver, int milliseconds)
{
    void *marks[EVENT_LOOP_MARKS_MAX];
    int count = event_loop_wait(&receiver->loop, milliseconds, marks);

    for (int i = 0; i < count; i++)
        go_on_reading(receiver, marks[i]);
}

/* The system keeps only some thousand connections that nobody has accepted, and a web server says
 * 502 to what comes beyond. So this thread, which does little for each, goes before the workers and
 * before the web server, where the system permits it (LimitNICE of systemd). Linux takes the number
 * 0 for the calling thread alone. */
static void go_first(void)
{
    (void)setpriority(PRIO_PROCESS, 0, NICENESS);
}

static void *receiver_main(void *context)
{
    struct receiver *receiver = context;
    bool accepts = true;
    uint64_t tick_ns = clock_ns(), note_ns = tick_ns;

    go_first();
    while ((accepts || receiver->reading != NULL) && !atomic_load(&receiver->is_cut)) {
        bool rests = clock_ns() < receiver->rest_until_ns;

        event_loop_hear_listener(&receiver->loop, accepts && !rests);
        wait_for_events(receiver, rests ? REST_MS : TICK_MS);
        resume_reading(receiver);
        if (accepts && !rests)
            accepts = accept_some(receiver) == STATUS_OK;
        if (clock_ns() - note_ns >= CONCURRENCY_NOTE_NS) {
            note_ns = clock_ns();
            note_busy(receiver);
        }
        if (clock_ns() - tick_ns > TICK_MS * NS_OF_MS) {
            tick_ns = clock_ns();
            /* After a stop nobody gets more time for a whole request than for its beginning. */
            end_overdue(receiver, listener_is_stopped(receiver->listener)
                                      ? receiver->options.first_record_ns
                                      : receiver->options.whole_ns);
        }
    }
    end_line(receiver);
    return NULL;
}

static enum status prepare(struct receiver *receiver, struct failure *failure)
{
    enum status status = event_loop_open(&receiver->loop, receiver->listener, failure);

    receiver->line = waiting_create(receiver->options.share);
    if (status == STATUS_OK && receiver->line == NULL)
        status = fail(failure, STATUS_NO_MEMORY, "no memory");
    return status;
}

/* After a cut there may be connections that are read or wait. */
static void destroy(struct receiver *receiver)
{
    struct received *received, *next;
    struct waiting_entry *entry;

    DL_FOREACH_SAFE(receiver->reading, received, next)
    {
        give_up(receiver, received);
    }
    while (receiver->line != NULL && (entry = waiting_take(receiver->line)) != NULL) {
        received = (struct received *)entry;
        waiting_finish(receiver->line, entry, (struct thread_use){0});
        close(received->connection);
        drop(receiver, received);
    }
    event_loop_close(&receiver->loop);
    busy_meter_close(&receiver->processors);
    waiting_destroy(receiver->line);
    known_keys_free(&receiver->known);
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
    receiver_set_limits(receiver, options->body_max, options->load_target);
    receiver->processors = busy_meter_open(options->processor_times);
    receiver->concurrency = concurrency_of(options->workers, options->processors);
    pthread_mutex_init(&receiver->lock, NULL);
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

void receiver_cut(struct receiver *receiver)
{
    atomic_store(&receiver->is_cut, true);
    end_line(receiver);
    event_loop_wake(&receiver->loop);
}

void receiver_join(struct receiver *receiver)
{
    if (receiver == NULL)
        return;
    pthread_join(receiver->thread, NULL);
    destroy(receiver);
}

/* --- for others ------------------------------------------------------------------------------- */

enum manner { JOINING, ALONE, SHARING };

static struct received *take_next(struct receiver *receiver, struct receiver_worker *worker,
                                  enum manner manner, size_t *ret_waiting)
{
    struct received *received = NULL;

    pthread_mutex_lock(&receiver->lock);
    if (manner != JOINING)
        received = wait_for_entry(receiver, worker, manner == SHARING);
    else if (!atomic_load(&receiver->is_cut))
        received = take_entry(receiver, worker);
    *ret_waiting = waiting_length(receiver->line);
    pthread_mutex_unlock(&receiver->lock);
    return received;
}

/* By the worker that took it. */
static void finish_turn(struct receiver *receiver, struct received *received)
{
    uint64_t now_ns = clock_ns();
    const struct thread_use use = {.now_ns = now_ns,
                                   .held_ns = now_ns - received->taken_ns - received->others_ns,
                                   .cpu_ns = clock_thread_ns() - received->taken_cpu_ns -
                                             received->others_cpu_ns};

    pthread_mutex_lock(&receiver->lock);
    if (received->is_found) {
        known_keys_add(&receiver->known, received->account, now_ns);
        received->waits.account = received->account;
    }
    waiting_finish(receiver->line, &received->waits, use);
    pthread_mutex_unlock(&receiver->lock);
}

static struct received *take(struct receiver *receiver, struct receiver_worker *worker,
                             enum manner manner)
{
    struct received *received;
    size_t waiting;

    while ((received = take_next(receiver, worker, manner, &waiting)) != NULL) {
        if (!may_be_late(receiver, received) ||
            received->taken_ns - received->waits.arrived_ns <= receiver->options.patience_ns)
            return received;
        finish_turn(receiver, received);
        turn_away(receiver, received, waiting);
    }
    return NULL;
}

struct received *receiver_take(struct receiver *receiver, struct receiver_worker *worker,
                               bool shares)
{
    return take(receiver, worker, shares ? SHARING : ALONE);
}

struct received *receiver_take_waiting(struct receiver *receiver, struct receiver_worker *worker)
{
    return take(receiver, worker, JOINING);
}

bool receiver_has_waiting(struct receiver *receiver)
{
    bool has_waiting;

    pthread_mutex_lock(&receiver->lock);
    has_waiting = waiting_length(receiver->line) > 0;
    pthread_mutex_unlock(&receiver->lock);
    return has_waiting;
}

bool received_is_light(const struct received *received)
{
    return !received->is_dear && received->body == BODY_KEPT && received->page == JOIN_NONE &&
           received->has_key && received->check.body_bytes > 0 &&
           received->check.body_bytes <= LIGHT_BODY_MAX;
}

void receiver_free_bytes(struct receiver *receiver, struct received *received)
{
    free(received->bytes);
    received->bytes = NULL;
    atomic_fetch_sub(&receiver->memory, received->capacity);
    received->length = received->capacity = 0;
}

void receiver_finish(struct receiver *receiver, struct received *received)
{
    finish_turn(receiver, received);
    drop(receiver, received);
}

void receiver_set_limits(struct receiver *receiver, size_t body_max, double load_target)
{
    atomic_store(&receiver->body_max, body_max);
    atomic_store(&receiver->load_target, load_target);
}

void receiver_set_servers(struct receiver *receiver, size_t servers)
{
    pthread_mutex_lock(&receiver->lock);
    concurrency_set_servers(&receiver->concurrency, servers);
    pthread_mutex_unlock(&receiver->lock);
}

void receiver_figures(struct receiver *receiver, struct receiver_figures *ret_figures)
{
    const struct receiver_worker *worker;
    uint64_t oldest_ns;

    pthread_mutex_lock(&receiver->lock);
    oldest_ns = waiting_oldest_ns(receiver->line);
    ret_figures->waiting = waiting_length(receiver->line);
    DL_COUNT(receiver->working, worker, ret_figures->workers_working);
    ret_figures->workers_limit = receiver->concurrency.limit;
    pthread_mutex_unlock(&receiver->lock);
    ret_figures->reading = atomic_load(&receiver->reading_now);
    ret_figures->memory = atomic_load(&receiver->memory);
    ret_figures->oldest = oldest_ns == 0 ? 0 : (double)(clock_ns() - oldest_ns) * 1e-9;
}
