/* SPDX-License-Identifier: Apache-2.0 */
/* The receiver against peers on a real socket: quick, slow, silent, hostile, and too many. */
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/process/concurrency.h"
#include "server/process/load_meter.h"
#include "server/process/receive.h"
#include "server/rpc/request.h"
#include "server/web/listen.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WORKERS = 4,
    BODY_MAX = 100000,
    MEMORY_MAX = 1 << 20,
    /* Beyond it are at most two reads, and what one more takes, with a quarter to grow, before the
     * body is forgotten. */
    MEMORY_MOST = MEMORY_MAX + 2 * 65536 + (131072 * 5 / 4 - 65536) + 1000
};

struct place {
    char dir[64], where[112];
    struct sockaddr_un address;
    struct load_meter meter;
    struct listener *listener;
    struct receiver *receiver;
    _Atomic int refused, refused_as_too_large;
    struct receiver_worker taking, others[WORKERS]; /* of the test's thread, and of its others */
    _Atomic size_t other_count;
};

static void write_page(void *context, const struct received *received, struct buffer *ret_page)
{
    struct place *place = context;

    atomic_fetch_add(
        received->body == BODY_TOO_LARGE ? &place->refused_as_too_large : &place->refused, 1);
    buffer_add_string(ret_page, "Content-Type: text/xml\r\n\r\ncome again");
}

static struct place *open_place(void)
{
    struct place *place = calloc(1, sizeof(*place));

    assert_non_null(place);
    snprintf(place->dir, sizeof(place->dir), "/tmp/qm-receive.XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    snprintf(place->where, sizeof(place->where), "unix:%s/socket", place->dir);
    place->address.sun_family = AF_UNIX;
    snprintf(place->address.sun_path, sizeof(place->address.sun_path), "%s/socket", place->dir);
    place->meter.workers = 1;
    assert_status(STATUS_OK, listener_open(place->where, (struct socket_access){.mode = 0600},
                                           &place->listener, NULL));
    return place;
}

static struct receiver_options options_for(struct place *place, size_t body_max)
{
    return (struct receiver_options){.body_max = body_max,
                                     .memory_spare = MEMORY_MAX - 2 * BODY_MAX,
                                     .connections_max = 100,
                                     .workers = WORKERS,
                                     .processors = 2,
                                     .processor_times = "/proc/stat",
                                     .share = 2,
                                     .first_record_ns = UINT64_C(1000000000),
                                     .whole_ns = UINT64_C(4000000000),
                                     .patience_ns = UINT64_C(1000000000),
                                     .meter = &place->meter,
                                     .load_target = 0.7,
                                     .refuse = write_page,
                                     .context = place};
}

static void start_receiver_for(struct place *place, size_t body_max)
{
    const struct receiver_options options = options_for(place, body_max);

    assert_status(STATUS_OK, receiver_start(&options, place->listener, &place->receiver, NULL));
}

static void start_receiver(struct place *place)
{
    start_receiver_for(place, BODY_MAX);
}

static int start(void **state)
{
    struct place *place = open_place();

    start_receiver(place);
    *state = place;
    return 0;
}

static int open_only(void **state)
{
    *state = open_place();
    return 0;
}

static int stop(void **state)
{
    struct place *place = *state;
    struct received *received;

    listener_stop(place->listener);
    while ((received = receiver_take(place->receiver, &place->taking, true)) != NULL) {
        close(received->connection);
        receiver_finish(place->receiver, received);
    }
    receiver_join(place->receiver);
    listener_close(place->listener);
    rmdir(place->dir);
    free(place);
    return 0;
}

static int connect_to(const struct place *place)
{
    int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(
        connect(peer, (const struct sockaddr *)&place->address, sizeof(place->address)), 0);
    return peer;
}

static void add_record(struct buffer *out, unsigned type, const char *content, size_t length)
{
    const char head[8] = {1, (char)type, 0, 1, (char)(length >> 8), (char)(length & 0xff), 0, 0};

    buffer_add(out, (struct text){.at = head, .length = sizeof(head)});
    buffer_add(out, (struct text){.at = content, .length = length});
}

static struct buffer request_with(const char *body, size_t repeats)
{
    static const char responder[8] = {0, 1};
    struct buffer out = buffer_on_heap(1 << 24);

    add_record(&out, 1, responder, sizeof(responder));
    add_record(&out, 4, "", 0);
    for (size_t i = 0; i < repeats; i++)
        add_record(&out, 5, body, strlen(body));
    add_record(&out, 5, "", 0);
    return out;
}

static void send_all(int peer, struct text text)
{
    while (text.length > 0) {
        ssize_t sent = send(peer, text.at, text.length, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        text.at += sent;
        text.length -= (size_t)sent;
    }
}

static void post(int peer, const char *body)
{
    struct buffer bytes = request_with(body, 1);

    send_all(peer, buffer_text(&bytes));
    buffer_free(&bytes);
}

/* Bytes that come until the peer's connection is closed, or none for 5 s (-1). */
static ssize_t read_to_end(int peer)
{
    struct pollfd wait = {.fd = peer, .events = POLLIN};
    char bytes[4096];
    ssize_t got, total = 0;

    for (;;) {
        if (poll(&wait, 1, 5000) <= 0)
            return -1;
        got = recv(peer, bytes, sizeof(bytes), 0);
        if (got <= 0)
            return total;
        total += got;
    }
}

/* Posts a request with the key from a peer that does not wait for its answer. */
static int post_key(struct place *place, const char *key)
{
    char body[200];
    int peer = connect_to(place);

    snprintf(body, sizeof(body), "<scheduler_request><authenticator>%s</authenticator>", key);
    post(peer, body);
    return peer;
}

static void serve_as(struct place *place, struct received *received, bool is_found)
{
    received->is_found = is_found;
    close(received->connection);
    receiver_finish(place->receiver, received);
}

/* The key is right, and a request with it was served. */
static void know(struct place *place, const char *key)
{
    int peer = post_key(place, key);

    serve_as(place, receiver_take(place->receiver, &place->taking, true), true);
    close(peer);
}

/* The head of a request as nginx may cut it: the key in three records, the report in the last. */
static void the_key_and_reports_are_found_in_any_record(void **state)
{
    static const char *const pieces[] = {"<scheduler_request>\n  <authen", "ticator>4",
                                         "2</authenticator>", "<result>"};
    static const char responder[8] = {0, 1};
    struct place *place = *state;
    struct buffer bytes = buffer_on_heap(4096);
    int peer = connect_to(place);
    struct received *received;

    add_record(&bytes, 1, responder, sizeof(responder));
    add_record(&bytes, 4, "", 0);
    for (size_t i = 0; i < 4; i++)
        add_record(&bytes, 5, pieces[i], strlen(pieces[i]));
    add_record(&bytes, 5, "", 0);
    send_all(peer, buffer_text(&bytes));
    received = receiver_take(place->receiver, &place->taking, true);
    assert_true(received->has_key);
    assert_true(received->account == request_account(TEXT("42")));
    assert_true(received->waits.has_reports);
    close(received->connection);
    receiver_finish(place->receiver, received);
    post(connect_to(place), "<scheduler_request>"); /* no key: that is for others to judge */
    received = receiver_take(place->receiver, &place->taking, true);
    assert_false(received->has_key);
    close(received->connection);
    receiver_finish(place->receiver, received);
    close(peer);
    buffer_free(&bytes);
}

static void a_request_is_given_out_whole(void **state)
{
    struct place *place = *state;
    struct buffer bytes = request_with("<scheduler_request><result>", 1);
    int peer = connect_to(place);
    struct received *received;

    for (size_t i = 0; i < bytes.length; i++) /* byte by byte */
        send_all(peer, (struct text){.at = buffer_text(&bytes).at + i, .length = 1});
    received = receiver_take(place->receiver, &place->taking, true);
    assert_non_null(received);
    assert_int_equal(received->length, bytes.length);
    assert_memory_equal(received->bytes, buffer_text(&bytes).at, bytes.length);
    assert_true(received->waits.has_reports);
    assert_int_equal(received->check.request_id, 1);
    close(received->connection);
    receiver_finish(place->receiver, received);
    assert_int_equal(read_to_end(peer), 0);
    close(peer);
    buffer_free(&bytes);
}

static void silent_and_slow_peers_hold_nobody_up(void **state)
{
    struct place *place = *state;
    int silent[50], quick = 0;
    struct received *received;

    for (size_t i = 0; i < 50; i++)
        silent[i] = connect_to(place);
    quick = connect_to(place);
    post(quick, "<scheduler_request>");
    received = receiver_take(place->receiver, &place->taking, true);
    assert_non_null(received);
    close(received->connection);
    receiver_finish(place->receiver, received);
    for (size_t i = 0; i < 50; i++) {
        assert_int_equal(read_to_end(silent[i]), 0); /* closed after the time for a first record */
        close(silent[i]);
    }
    close(quick);
}

static void what_no_web_server_sends_ends_the_connection(void **state)
{
    struct place *place = *state;
    int peer = connect_to(place);

    send_all(peer, TEXT("GET / HTTP/1.0\r\n\r\n"));
    assert_int_equal(read_to_end(peer), 0);
    close(peer);
}

static void a_body_beyond_its_bound_is_answered(void **state)
{
    struct place *place = *state;
    char piece[1001] = "";
    struct buffer bytes, larger;
    int peer = connect_to(place);

    memset(piece, 'x', sizeof(piece) - 1);
    bytes = request_with(piece, BODY_MAX / 1000 + 1);
    send_all(peer, buffer_text(&bytes));
    assert_in_range(read_to_end(peer), 40, 200);
    assert_int_equal(atomic_load(&place->refused_as_too_large), 1);
    close(peer);
    peer = connect_to(place);
    larger = request_with(piece, BODY_MAX / 1000 * 3);
    send_all(peer, buffer_text(&larger));
    assert_int_equal(read_to_end(peer), 0); /* of that size it is not even read */
    close(peer);
    buffer_free(&bytes);
    buffer_free(&larger);
}

/* The time for a first record is not the time for all of a large body that is not kept. */
static void a_large_body_may_come_slowly(void **state)
{
    struct place *place = *state;
    char piece[1001] = "";
    struct buffer bytes;
    int peer = connect_to(place);
    size_t half;

    memset(piece, 'x', sizeof(piece) - 1);
    bytes = request_with(piece, BODY_MAX / 1000 * 3 / 2);
    half = bytes.length - 20000;
    send_all(peer, text_first(buffer_text(&bytes), half));
    usleep(2200000);
    send_all(peer,
             (struct text){.at = buffer_text(&bytes).at + half, .length = bytes.length - half});
    assert_in_range(read_to_end(peer), 40, 200);
    close(peer);
    buffer_free(&bytes);
}

static void padding_does_not_get_around_the_bound(void **state)
{
    struct place *place = *state;
    char record[8 + 1 + 255] = {1, 5, 0, 1, 0, 1, (char)255, 0, 'x'};
    struct buffer bytes = buffer_on_heap(1 << 24);
    int peer = connect_to(place);

    static const char responder[8] = {0, 1};
    uint64_t before = counter_value(COUNTER_connections_unsound);

    add_record(&bytes, 1, responder, sizeof(responder));
    add_record(&bytes, 4, "", 0);
    for (size_t i = 0; i < 5000; i++) /* 5,000 bytes of body */
        buffer_add(&bytes, (struct text){.at = record, .length = sizeof(record)});
    send_all(peer, buffer_text(&bytes));
    assert_int_equal(read_to_end(peer), 0);
    assert_int_equal(counter_value(COUNTER_connections_unsound), before + 1);
    close(peer);
    buffer_free(&bytes);
}

/* A request costs a second, and patience is a second: of those of one account beyond, each is
 * answered at once; one that reports is kept, and so is one of another account, whose turn comes.
 */
static void too_many_are_asked_to_come_again(void **state)
{
    struct place *place = *state;
    int peers[10], figures_for[2], other, reporter;
    struct receiver_figures figures;

    know(place, "1");
    know(place, "9");
    load_meter_served(&place->meter, UINT64_C(1000000000));
    for (size_t i = 0; i < 10; i++)
        peers[i] = post_key(place, "1");
    for (size_t i = 2; i < 10; i++)
        assert_in_range(read_to_end(peers[i]), 40, 200);
    assert_int_equal(atomic_load(&place->refused), 8);
    other = post_key(place, "9");
    reporter = connect_to(place);
    post(reporter, "<scheduler_request><authenticator>1</authenticator><result>");
    for (size_t i = 0; i < 2; i++) { /* pages of figures have no body, and are not turned away */
        figures_for[i] = connect_to(place);
        post(figures_for[i], "");
    }
    for (int tries = 0; tries < 500; tries++) {
        receiver_figures(place->receiver, &figures);
        if (figures.waiting == 6)
            break;
        usleep(10000);
    }
    assert_int_equal(figures.waiting, 6);
    assert_true(figures.oldest > 0);
    struct received *received = receiver_take(place->receiver, &place->taking, true);
    assert_true(received->waits.has_reports);
    assert_true(received->load.backlog > 1);
    close(received->connection);
    receiver_finish(place->receiver, received);
    for (size_t i = 0; i < 10; i++)
        close(peers[i]);
    for (size_t i = 0; i < 2; i++)
        close(figures_for[i]);
    close(other);
    close(reporter);
}

/* Pages for joining are known by their variables: they are turned away as scheduler requests are.
 */
static void pages_for_joining_are_turned_away_too(void **state)
{
    static const char variables[] = "\x0e\x03REQUEST_METHODGET"
                                    "\x0b\x18SCRIPT_NAME/test/lookup_account.php"
                                    "\x09\x00PATH_INFO";
    static const char responder[8] = {0, 1};
    struct place *place = *state;
    struct buffer bytes = buffer_on_heap(4096);
    struct received *received;
    int peers[10];

    add_record(&bytes, 1, responder, sizeof(responder));
    add_record(&bytes, 4, variables, 9); /* in the midst of a name */
    add_record(&bytes, 4, variables + 9, sizeof(variables) - 1 - 9);
    add_record(&bytes, 4, "", 0);
    add_record(&bytes, 5, "", 0);
    load_meter_served(&place->meter, UINT64_C(1000000000));
    for (size_t i = 0; i < 10; i++) {
        peers[i] = connect_to(place);
        send_all(peers[i], buffer_text(&bytes));
    }
    for (size_t i = 2; i < 10; i++)
        assert_in_range(read_to_end(peers[i]), 40, 200);
    assert_int_equal(atomic_load(&place->refused), 8);
    received = receiver_take(place->receiver, &place->taking, true);
    assert_int_equal(received->page, JOIN_LOOKUP);
    /* It takes much CPU, so pages of figures and requests without a key must not wait behind it. */
    assert_true(received->waits.account != request_account(NO_TEXT));
    assert_true(received->load.backlog <= 1); /* clients with jobs wait no longer for it */
    close(received->connection);
    receiver_finish(place->receiver, received);
    for (size_t i = 0; i < 10; i++)
        close(peers[i]);
    buffer_free(&bytes);
}

static bool may_go_first(void)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(setpriority(PRIO_PROCESS, 0, -10) == 0 ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

static void end_request(struct place *place, struct received *received)
{
    close(received->connection);
    receiver_finish(place->receiver, received);
}

static void wait_for_waiting(const struct place *place, size_t count)
{
    struct receiver_figures figures;

    do {
        usleep(1000);
        receiver_figures(place->receiver, &figures);
    } while (figures.waiting < count);
}

static void who_takes_what_waits_does_not_wait(void **state)
{
    struct place *place = *state;
    int peer = connect_to(place);

    assert_false(receiver_has_waiting(place->receiver));
    assert_null(receiver_take_waiting(place->receiver, &place->taking));
    post(peer, "<scheduler_request>");
    wait_for_waiting(place, 1);
    assert_true(receiver_has_waiting(place->receiver));
    end_request(place, receiver_take_waiting(place->receiver, &place->taking));
    assert_false(receiver_has_waiting(place->receiver));
    close(peer);
}

static void who_is_long_or_no_request_is_not_light(void **state)
{
    static const struct received request = {
        .has_key = true, .body = BODY_KEPT, .check = {.body_bytes = LIGHT_BODY_MAX}};
    struct received one = request;

    (void)state;
    assert_true(received_is_light(&one));
    one.check.body_bytes++;
    assert_false(received_is_light(&one));
    one.check.body_bytes = 0;
    assert_false(received_is_light(&one));
    one = request;
    one.page = JOIN_LOOKUP;
    assert_false(received_is_light(&one));
    one = request;
    one.has_key = false;
    assert_false(received_is_light(&one));
    one = request;
    one.body = BODY_TOO_LARGE;
    assert_false(received_is_light(&one));
    one = request;
    one.is_dear = true;
    assert_false(received_is_light(&one));
}

/* Whether an account is held to one thread after a request during which the thread has worked for
 * longer than a usual one takes. */
static bool is_dear_after(struct place *place, const char *body, bool was_for_others)
{
    int peers[3];
    struct received *taken, *next;
    bool is_dear;

    for (size_t i = 0; i < 3; i++) {
        peers[i] = connect_to(place);
        post(peers[i], body);
    }
    wait_for_waiting(place, 3);
    taken = receiver_take(place->receiver, &place->taking, true);
    while (clock_thread_ns() - taken->taken_cpu_ns < 2 * WAITING_DEAR_NS)
        ;
    if (was_for_others)
        taken->others_cpu_ns = clock_thread_ns() - taken->taken_cpu_ns;
    end_request(place, taken);
    taken = receiver_take(place->receiver, &place->taking, true);
    next = receiver_take_waiting(place->receiver, &place->taking);
    is_dear = next == NULL;
    assert_int_equal(taken->is_dear, is_dear);
    assert_int_equal(received_is_light(taken), !is_dear);
    end_request(place, taken);
    end_request(place, is_dear ? receiver_take(place->receiver, &place->taking, true) : next);
    for (size_t i = 0; i < 3; i++)
        close(peers[i]);
    return is_dear;
}

static void the_time_for_others_is_not_the_accounts(void **state)
{
    struct place *place = *state;

    know(place, "dear");
    know(place, "cheap");
    assert_true(
        is_dear_after(place, "<scheduler_request><authenticator>dear</authenticator>", false));
    assert_false(
        is_dear_after(place, "<scheduler_request><authenticator>cheap</authenticator>", true));
}

/* --- a busy machine --------------------------------------------------------------------------- */

/* A machine whose only processor is always busy, and another worker than the test's. */
struct busy_place {
    struct place *place;
    char times[144];
    pthread_t processor, worker;
    bool shares;
    _Atomic bool is_over;
    uint64_t taken_ns;
    pthread_barrier_t all_have_taken;
};

static void *use_processor(void *context)
{
    struct busy_place *busy = context;
    char line[64];
    int file = open(busy->times, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    for (int ticks = 1; !atomic_load(&busy->is_over); ticks++) {
        int length = snprintf(line, sizeof(line), "cpu  %08d 0 0 0 0 0 0 0\n", ticks);

        assert_int_equal(pwrite(file, line, (size_t)length, 0), length);
        usleep(1000);
    }
    close(file);
    return NULL;
}

static void *take_one(void *context)
{
    struct busy_place *busy = context;
    struct place *place = busy->place;
    struct received *taken = receiver_take(place->receiver, &place->others[0], busy->shares);

    assert_non_null(taken);
    busy->taken_ns = taken->taken_ns;
    end_request(busy->place, taken);
    return NULL;
}

static void start_busy(struct busy_place *busy, struct place *place, bool shares)
{
    struct receiver_options options = options_for(place, BODY_MAX);
    struct receiver_figures figures;

    *busy = (struct busy_place){.place = place, .shares = shares};
    snprintf(busy->times, sizeof(busy->times), "%s/times", place->dir);
    pthread_create(&busy->processor, NULL, use_processor, busy);
    while (access(busy->times, R_OK) != 0)
        usleep(1000);
    options.processors = 0;
    options.processor_times = busy->times;
    assert_status(STATUS_OK, receiver_start(&options, place->listener, &place->receiver, NULL));
    do { /* it looks where something happens */
        int peer = connect_to(place);

        usleep(10000);
        close(peer);
        receiver_figures(place->receiver, &figures);
    } while (figures.workers_limit > 1);
}

static void end_busy(struct busy_place *busy)
{
    atomic_store(&busy->is_over, true);
    pthread_join(busy->processor, NULL);
    unlink(busy->times);
}

/* One request is served by a worker that does not get on, another one comes. How long after the
 * first was taken the other worker takes it, in ns. */
static uint64_t until_another_takes(struct busy_place *busy)
{
    int peers[2] = {connect_to(busy->place), connect_to(busy->place)};
    struct received *first;
    uint64_t passed_ns;

    post(peers[0], "<scheduler_request><authenticator>one</authenticator>");
    first = receiver_take(busy->place->receiver, &busy->place->taking, true);
    pthread_create(&busy->worker, NULL, take_one, busy);
    post(peers[1], "<scheduler_request><authenticator>another</authenticator>");
    pthread_join(busy->worker, NULL);
    passed_ns = busy->taken_ns - first->taken_ns;
    end_request(busy->place, first);
    close(peers[0]);
    close(peers[1]);
    return passed_ns;
}

static void on_a_busy_machine_others_stand_by_for_a_moment(void **state)
{
    struct busy_place busy;

    start_busy(&busy, *state, true);
    for (int i = 0; i < 10; i++)
        assert_true(until_another_takes(&busy) >= CONCURRENCY_STUCK_NS);
    end_busy(&busy);
}

/* When another worker takes what is posted, in ns. */
static uint64_t when_another_takes(struct busy_place *busy)
{
    int peer = connect_to(busy->place);

    pthread_create(&busy->worker, NULL, take_one, busy);
    post(peer, "<scheduler_request><authenticator>another</authenticator>");
    pthread_join(busy->worker, NULL);
    close(peer);
    return busy->taken_ns;
}

/* Nobody waits for it a second time. */
static void a_worker_that_does_not_get_on_does_not_count(void **state)
{
    struct busy_place busy;
    struct received *first;
    uint64_t taken_ns, next_ns;
    int peer;

    start_busy(&busy, *state, true);
    peer = connect_to(busy.place);
    post(peer, "<scheduler_request><authenticator>one</authenticator>");
    first = receiver_take(busy.place->receiver, &busy.place->taking, true);
    next_ns = when_another_takes(&busy);
    assert_true(next_ns - first->taken_ns >= CONCURRENCY_STUCK_NS);
    do {
        taken_ns = next_ns;
        next_ns = when_another_takes(&busy);
    } while (next_ns - taken_ns >= CONCURRENCY_STUCK_NS); /* if the machine is slow */
    end_request(busy.place, first);
    close(peer);
    end_busy(&busy);
}

/* A worker that takes another request gets on. */
static void a_member_counts_as_well(void **state)
{
    struct busy_place busy;
    struct received *taken[2];
    int peers[2];

    start_busy(&busy, *state, true);
    for (size_t i = 0; i < 2; i++)
        peers[i] = connect_to(busy.place);
    post(peers[0], "<scheduler_request><authenticator>one</authenticator>");
    taken[0] = receiver_take(busy.place->receiver, &busy.place->taking, true);
    usleep(CONCURRENCY_STUCK_NS / 2000);
    post(peers[1], "<scheduler_request><authenticator>a second</authenticator>");
    wait_for_waiting(busy.place, 1);
    taken[1] = receiver_take_waiting(busy.place->receiver, &busy.place->taking);
    assert_non_null(taken[1]);
    assert_true(when_another_takes(&busy) - taken[1]->taken_ns >= CONCURRENCY_STUCK_NS);
    for (size_t i = 0; i < 2; i++) {
        end_request(busy.place, taken[i]);
        close(peers[i]);
    }
    end_busy(&busy);
}

static void who_shares_no_commit_does_not_stand_by(void **state)
{
    struct busy_place busy;

    start_busy(&busy, *state, false);
    while (until_another_takes(&busy) >= CONCURRENCY_STUCK_NS) /* if the machine is slow */
        ;
    end_busy(&busy);
}

static void *take_and_hold(void *context)
{
    struct busy_place *busy = context;
    struct place *place = busy->place;
    size_t number = atomic_fetch_add(&place->other_count, 1);
    struct received *taken = receiver_take(place->receiver, &place->others[number], true);

    assert_non_null(taken);
    pthread_barrier_wait(&busy->all_have_taken);
    end_request(busy->place, taken);
    return NULL;
}

/* Where none of those that work gets on, all others begin, one after the other. */
static void whoever_takes_one_leaves_a_watch_behind(void **state)
{
    struct busy_place busy;
    pthread_t workers[WORKERS];
    int peers[WORKERS];

    start_busy(&busy, *state, true);
    pthread_barrier_init(&busy.all_have_taken, NULL, WORKERS);
    for (size_t i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, take_and_hold, &busy);
    for (size_t i = 0; i < WORKERS; i++) {
        peers[i] = connect_to(busy.place);
        post(peers[i], "<scheduler_request>");
    }
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
        close(peers[i]);
    }
    pthread_barrier_destroy(&busy.all_have_taken);
    end_busy(&busy);
}

struct counting_worker {
    struct place *place;
    struct receiver_worker taking;
    pthread_t thread;
    pthread_barrier_t *all_have_taken;
    _Atomic int taken;
};

/* Takes requests until the end. All have taken one before the first goes on. */
static void *take_all(void *context)
{
    struct counting_worker *worker = context;
    struct received *taken;

    while ((taken = receiver_take(worker->place->receiver, &worker->taking, true)) != NULL) {
        if (atomic_fetch_add(&worker->taken, 1) == 0)
            pthread_barrier_wait(worker->all_have_taken);
        end_request(worker->place, taken);
    }
    return NULL;
}

static void wait_until_all_sleep(const struct place *place)
{
    struct receiver_figures figures;

    do {
        usleep(1000);
        receiver_figures(place->receiver, &figures);
    } while (figures.workers_working > 0 || figures.waiting > 0);
}

/* Where one is enough, the others rest. */
static void who_worked_last_is_called_first(void **state)
{
    enum { REQUESTS = 20 };
    struct place *place = *state;
    struct counting_worker workers[WORKERS] = {{0}};
    pthread_barrier_t all_have_taken;
    int peers[WORKERS], most = 0, sum = 0;

    pthread_barrier_init(&all_have_taken, NULL, WORKERS);
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i].place = place;
        workers[i].all_have_taken = &all_have_taken;
        pthread_create(&workers[i].thread, NULL, take_all, &workers[i]);
        peers[i] = connect_to(place);
        post(peers[i], "<scheduler_request>");
    }
    for (size_t i = 0; i < WORKERS; i++) {
        (void)read_to_end(peers[i]);
        close(peers[i]);
    }
    for (int i = 0; i < REQUESTS; i++) {
        int peer = connect_to(place);

        wait_until_all_sleep(place);
        post(peer, "<scheduler_request>");
        (void)read_to_end(peer); /* it is taken */
        close(peer);
    }
    listener_stop(place->listener);
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].taken;
        most = workers[i].taken > most ? workers[i].taken : most;
    }
    pthread_barrier_destroy(&all_have_taken);
    assert_int_equal(sum, REQUESTS + WORKERS);
    assert_int_equal(most, REQUESTS + 1);
}

/* Nobody who stands by is left behind, nor what he would have taken. */
static void a_stop_ends_who_stands_by(void **state)
{
    struct place *place = *state;
    struct busy_place busy;
    struct received *first;
    int peers[2];

    start_busy(&busy, place, true);
    for (size_t i = 0; i < 2; i++) {
        peers[i] = connect_to(place);
        post(peers[i], "<scheduler_request>");
    }
    wait_for_waiting(place, 2);
    listener_stop(place->listener);
    first = receiver_take(place->receiver, &place->taking, true);
    pthread_create(&busy.worker, NULL, take_one, &busy);
    pthread_join(busy.worker, NULL);
    end_request(place, first);
    assert_null(receiver_take(place->receiver, &place->taking, true));
    for (size_t i = 0; i < 2; i++)
        close(peers[i]);
    end_busy(&busy);
}

/* Of the process' threads the receiver goes before the others, where the system permits it. */
static void the_receiver_goes_first(void **state)
{
    struct place *place = *state;
    int peer = connect_to(place), first = 0, others = 0;
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    struct received *received;

    post(peer, "<scheduler_request>");
    received =
        receiver_take(place->receiver, &place->taking, true); /* so that the thread is at work */
    while ((task = readdir(tasks)) != NULL) {
        if (task->d_name[0] == '.')
            continue;
        if (getpriority(PRIO_PROCESS, (id_t)strtoul(task->d_name, NULL, 10)) == -10)
            first++;
        else
            others++;
    }
    assert_int_equal(first, may_go_first() ? 1 : 0);
    assert_in_range(others, 1, 5); /* a sanitizer has a thread, too */
    closedir(tasks);
    close(received->connection);
    receiver_finish(place->receiver, received);
    close(peer);
}

/* Peers that fill the memory lose what they sent, and end by their time limit; others are served
 * meanwhile. */
static void memory_has_a_bound(void **state)
{
    struct place *place = *state;
    char piece[1001] = "";
    struct buffer bytes;
    int peers[30], small;
    struct receiver_figures figures;
    struct received *received;
    size_t most = 0;
    int tries = 10000;

    memset(piece, 'x', sizeof(piece) - 1);
    bytes = request_with(piece, 90);
    for (size_t i = 0; i < 30; i++) { /* all but the end of 90,000 bytes each */
        peers[i] = connect_to(place);
        (void)send(peers[i], buffer_text(&bytes).at, bytes.length - 8, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    for (int looks = 0; looks < 100; looks++) {
        receiver_figures(place->receiver, &figures);
        if (figures.memory > most)
            most = figures.memory;
        usleep(2000);
    }
    assert_in_range(most, 500000, MEMORY_MOST);
    small = connect_to(place);
    post(small, "<scheduler_request>");
    received = receiver_take(place->receiver, &place->taking, true);
    assert_non_null(received);
    assert_in_range(received->length, 1, 1000);
    close(received->connection);
    receiver_finish(place->receiver, received);
    close(small);
    for (size_t i = 0; i < 30; i++) {
        assert_int_equal(read_to_end(peers[i]), 0);
        close(peers[i]);
    }
    do { /* the memory goes a moment after the connection */
        usleep(1000);
        receiver_figures(place->receiver, &figures);
    } while ((figures.reading > 0 || figures.memory > 0) && tries-- > 0);
    assert_int_equal(figures.memory, 0);
    buffer_free(&bytes);
}

/* Each of them alone is small, and has begun before memory is used up. */
static void many_that_grow_have_a_bound_together(void **state)
{
    struct place *place = *state;
    char piece[1001] = "";
    struct buffer bytes;
    int peers[50];
    struct receiver_figures figures;
    size_t most = 0;

    memset(piece, 'x', sizeof(piece) - 1);
    bytes = request_with(piece, 60);
    for (size_t i = 0; i < 50; i++) {
        peers[i] = connect_to(place);
        send_all(peers[i], text_first(buffer_text(&bytes), 1000));
    }
    do {
        usleep(1000);
        receiver_figures(place->receiver, &figures);
    } while (figures.reading < 50);
    for (size_t i = 0; i < 50; i++) { /* all but the end of 60,000 bytes each */
        send_all(peers[i], (struct text){.at = bytes.at + 1000, .length = bytes.length - 1008});
        receiver_figures(place->receiver, &figures);
        most = figures.memory > most ? figures.memory : most;
    }
    for (int looks = 0; looks < 100; looks++) {
        usleep(1000);
        receiver_figures(place->receiver, &figures);
        most = figures.memory > most ? figures.memory : most;
    }
    assert_in_range(most, 1000000, MEMORY_MOST);
    for (size_t i = 0; i < 50; i++)
        close(peers[i]);
    buffer_free(&bytes);
}

/* Whole requests that take the memory of those to come are asked to come again. */
static void waiting_requests_leave_memory_for_others(void **state)
{
    struct place *place = *state;
    char piece[1001] = "";
    struct buffer bytes;
    int peers[12], small;
    struct receiver_figures figures;
    size_t large;

    memset(piece, 'x', sizeof(piece) - 1);
    bytes = request_with(piece, 90);
    for (size_t i = 0; i < 12; i++) {
        peers[i] = connect_to(place);
        send_all(peers[i], buffer_text(&bytes));
    }
    for (int tries = 0; tries < 500; tries++) {
        receiver_figures(place->receiver, &figures);
        if (figures.waiting + (size_t)atomic_load(&place->refused) == 12)
            break;
        usleep(10000);
    }
    /* 836 kB hold six to eight of 91 kB, of which a quarter more is kept, and 91 kB that are free.
     */
    assert_in_range(figures.waiting, 6, 8);
    assert_int_equal(atomic_load(&place->refused), 12 - figures.waiting);
    large = figures.waiting;
    small = connect_to(place); /* which is not turned away for the large ones */
    post(small, "<scheduler_request>");
    for (int tries = 0; tries < 500 && figures.waiting == large; tries++) {
        usleep(10000);
        receiver_figures(place->receiver, &figures);
    }
    assert_int_equal(figures.waiting, large + 1);
    close(small);
    for (size_t i = 0; i < 12; i++)
        close(peers[i]);
    buffer_free(&bytes);
}

/* Both have sent all when the receiver comes: the small one is not behind the end of the large. */
static void a_large_request_is_read_in_pieces(void **state)
{
    struct place *place = *state;
    char body[1001] = "";
    struct buffer bytes;
    int large = connect_to(place), small = connect_to(place);
    struct received *first;

    memset(body, 'x', sizeof(body) - 1);
    bytes = request_with(body, 90);
    send_all(large, buffer_text(&bytes));
    post(small, "<scheduler_request>");
    start_receiver(place);
    first = receiver_take(place->receiver, &place->taking, true);
    assert_non_null(first);
    assert_in_range(first->length, 1, 1000);
    close(first->connection);
    receiver_finish(place->receiver, first);
    buffer_free(&bytes);
    close(large);
    close(small);
}

enum { LARGE_BYTES = 600000 };

/* A peer that sends a large body, as much of it as is taken, and then waits for the answer. */
struct large_peer {
    const struct place *place;
    const char *key;
    pthread_t thread;
    char answer[1000];
    size_t length; /* of the answer */
};

static void *large_peer_main(void *context)
{
    struct large_peer *peer = context;
    struct buffer bytes;
    char body[1000];
    int connection = connect_to(peer->place);
    ssize_t got = 0;

    snprintf(body, sizeof(body), "<authenticator>%s</authenticator>%*s", peer->key, 800, "");
    bytes = request_with(body, LARGE_BYTES / strlen(body));
    send_all(connection, buffer_text(&bytes));
    while ((got = read(connection, peer->answer + peer->length,
                       sizeof(peer->answer) - peer->length)) > 0)
        peer->length += (size_t)got;
    close(connection);
    buffer_free(&bytes);
    return NULL;
}

static void start_large_peer(struct large_peer *peer, const struct place *place, const char *key)
{
    *peer = (struct large_peer){.place = place, .key = key};
    assert_int_equal(pthread_create(&peer->thread, NULL, large_peer_main, peer), 0);
}

/* Each with another wrong key; 32 of them came before. */
static void whoever_is_known_waits_for_few_strangers(void **state)
{
    enum { STRANGERS = 32 };
    struct place *place = *state;
    int peers[STRANGERS + 1];
    struct received *received;
    size_t before = 0;

    know(place, "honest");
    for (size_t i = 0; i < STRANGERS; i++) {
        char key[20];

        snprintf(key, sizeof(key), "wrong%zu", i);
        peers[i] = post_key(place, key);
    }
    wait_for_waiting(place, STRANGERS);
    peers[STRANGERS] = post_key(place, "honest");
    wait_for_waiting(place, STRANGERS + 1);
    while (!(received = receiver_take(place->receiver, &place->taking, true))->is_known) {
        serve_as(place, received, false);
        before++;
    }
    assert_true(received->account == request_account(TEXT("honest")));
    assert_true(before <= 1);
    serve_as(place, received, true);
    for (size_t i = before; i < STRANGERS; i++)
        serve_as(place, receiver_take(place->receiver, &place->taking, true), false);
    for (size_t i = 0; i < STRANGERS + 1; i++)
        close(peers[i]);
}

static void a_key_that_was_not_found_stays_unknown(void **state)
{
    struct place *place = *state;
    struct received *received;

    for (int i = 0; i < 3; i++) {
        int peer = post_key(place, "wrong");

        received = receiver_take(place->receiver, &place->taking, true);
        assert_false(received->is_known);
        assert_true(received->waits.account == WAITING_STRANGERS);
        assert_true(received->account == request_account(TEXT("wrong")));
        serve_as(place, received, false);
        close(peer);
    }
}

/* The second one stays in its socket until the first is finished; another account's does not. */
static void large_bodies_of_an_account_take_turns(void **state)
{
    struct place *place = *state;
    struct large_peer peers[3];
    struct receiver_figures figures;
    struct received *taken[3];

    start_receiver_for(place, 1 << 21);
    for (size_t i = 0; i < 2; i++)
        start_large_peer(&peers[i], place, "a");
    taken[0] = receiver_take(place->receiver, &place->taking, true);
    start_large_peer(&peers[2], place, "b");
    taken[1] = receiver_take(place->receiver, &place->taking, true);
    assert_int_equal(taken[0]->account, request_account(TEXT("a")));
    assert_int_equal(taken[1]->account, request_account(TEXT("b")));
    do {
        usleep(1000);
        receiver_figures(place->receiver, &figures);
    } while (figures.memory < 2 * LARGE_BYTES + BODY_LARGE_BYTES);
    assert_int_equal(figures.reading, 1);
    end_request(place, taken[1]); /* which is not the other's turn */
    usleep(10000);
    receiver_figures(place->receiver, &figures);
    assert_int_equal(figures.reading, 1);
    end_request(place, taken[0]);
    taken[2] = receiver_take(place->receiver, &place->taking, true);
    assert_int_equal(taken[2]->account, request_account(TEXT("a")));
    assert_true(taken[2]->length > LARGE_BYTES);
    end_request(place, taken[2]);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_join(peers[i].thread, NULL), 0);
    assert_int_equal(atomic_load(&place->refused), 0);
}

/* Whoever holds the turn for longer than clients wait has its account's others told so. */
static void a_large_body_that_waits_too_long_is_asked_to_come_again(void **state)
{
    struct place *place = *state;
    struct large_peer first, second;
    struct received *received;

    start_receiver_for(place, 1 << 21);
    start_large_peer(&first, place, "a");
    received = receiver_take(place->receiver, &place->taking, true);
    start_large_peer(&second, place, "a");
    assert_int_equal(pthread_join(second.thread, NULL), 0);
    assert_true(text_contains((struct text){.at = second.answer, .length = second.length},
                              TEXT("come again")));
    assert_int_equal(atomic_load(&place->refused), 1);
    end_request(place, received);
    assert_int_equal(pthread_join(first.thread, NULL), 0);
}

/* What has waited longer than clients do is not served for nobody. */
static void a_request_that_is_too_old_is_asked_to_come_again(void **state)
{
    struct place *place = *state;
    int old = connect_to(place), young;
    struct received *received;

    post(old, "<scheduler_request>");
    usleep(1100000);
    young = connect_to(place);
    post(young, "<scheduler_request>");
    received = receiver_take(place->receiver, &place->taking, true);
    assert_non_null(received);
    assert_in_range(read_to_end(old), 40, 200);
    close(received->connection);
    receiver_finish(place->receiver, received);
    assert_int_equal(read_to_end(young), 0);
    close(old);
    close(young);
}

static void a_cut_gives_nothing_out(void **state)
{
    struct place *place = *state;
    int whole = connect_to(place), half = connect_to(place);
    struct receiver_figures figures = {0};

    post(whole, "<scheduler_request>");
    send_all(half, (struct text){.at = "\1\1", .length = 2});
    for (int tries = 0; tries < 500 && figures.waiting + figures.reading < 2; tries++) {
        usleep(10000);
        receiver_figures(place->receiver, &figures);
    }
    listener_stop(place->listener);
    receiver_cut(place->receiver);
    assert_null(receiver_take(place->receiver, &place->taking, true));
    close(whole);
    close(half);
}

static void half_of_the_threads_are_the_share(void **state)
{
    static const size_t rows[][2] = {{1, 2}, {2, 2}, {4, 2}, {5, 2}, {6, 3}, {8, 4}, {64, 32}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(receiver_share(rows[i][0]), rows[i][1]);
}

static void a_stop_serves_who_has_come(void **state)
{
    struct place *place = *state;
    int peer = connect_to(place);
    struct received *received;

    post(peer, "<scheduler_request>");
    listener_stop(place->listener);
    received = receiver_take(place->receiver, &place->taking, true);
    assert_non_null(received);
    close(received->connection);
    receiver_finish(place->receiver, received);
    assert_null(receiver_take(place->receiver, &place->taking, true));
    close(peer);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(a_request_is_given_out_whole),
        CASE(silent_and_slow_peers_hold_nobody_up),
        CASE(what_no_web_server_sends_ends_the_connection),
        CASE(a_body_beyond_its_bound_is_answered),
        CASE(a_large_body_may_come_slowly),
        CASE(padding_does_not_get_around_the_bound),
        CASE(too_many_are_asked_to_come_again),
        CASE(pages_for_joining_are_turned_away_too),
        CASE(the_receiver_goes_first),
        cmocka_unit_test_setup_teardown(on_a_busy_machine_others_stand_by_for_a_moment, open_only,
                                        stop),
        cmocka_unit_test_setup_teardown(a_worker_that_does_not_get_on_does_not_count, open_only,
                                        stop),
        cmocka_unit_test_setup_teardown(a_member_counts_as_well, open_only, stop),
        cmocka_unit_test_setup_teardown(who_shares_no_commit_does_not_stand_by, open_only, stop),
        cmocka_unit_test_setup_teardown(whoever_takes_one_leaves_a_watch_behind, open_only, stop),
        cmocka_unit_test_setup_teardown(a_stop_ends_who_stands_by, open_only, stop),
        CASE(who_worked_last_is_called_first),
        CASE(memory_has_a_bound),
        CASE(many_that_grow_have_a_bound_together),
        CASE(the_key_and_reports_are_found_in_any_record),
        CASE(waiting_requests_leave_memory_for_others),
        CASE(who_takes_what_waits_does_not_wait),
        cmocka_unit_test(who_is_long_or_no_request_is_not_light),
        CASE(the_time_for_others_is_not_the_accounts),
        cmocka_unit_test_setup_teardown(a_large_request_is_read_in_pieces, open_only, stop),
        CASE(whoever_is_known_waits_for_few_strangers),
        CASE(a_key_that_was_not_found_stays_unknown),
        cmocka_unit_test_setup_teardown(large_bodies_of_an_account_take_turns, open_only, stop),
        cmocka_unit_test_setup_teardown(a_large_body_that_waits_too_long_is_asked_to_come_again,
                                        open_only, stop),
        CASE(a_request_that_is_too_old_is_asked_to_come_again),
        CASE(a_cut_gives_nothing_out),
        cmocka_unit_test(half_of_the_threads_are_the_share),
        CASE(a_stop_serves_who_has_come),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
