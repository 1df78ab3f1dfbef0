/* SPDX-License-Identifier: Apache-2.0 */
#include "server/upload/upload_lines.h"

#include "config/config.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/upload/upload_finisher.h"
#include "server/upload/upload_intake.h"
#include "server/upload/upload_project.h"
#include "server/upload/upload_scarcity.h"
#include "server/web/event_loop.h"
#include "server/web/fcgi_records.h"
#include "server/web/fcgi_stream.h"
#include "server/web/listen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "server/base/banned.h"

enum {
    READ_BYTES = 256 * 1024,  /* of one read */
    READS_AT_ONCE = 4,        /* of one line, before the others have their turn */
    EVENTS_BEFORE_ACCEPT = 4, /* few, since the kernel keeps only 4,096 newcomers */
    ACCEPTS_AT_ONCE = 1024,   /* of which nothing is heard yet */
    TICK_MS = 500,
    RESPONSE_BYTES_MAX = 1 << 20,
    BYTES_PER_SECOND_LEAST = 10,
    SILENT_PART = 10, /* of upload_patience: silence in which another connection may take over */
    PLACES_PART = 32, /* of all: so many give way at a time to newcomers */
    DESCRIPTORS_KEPT = 64, /* for all else */
    DESCRIPTORS_OF_LINE = 2
};
#define NS_OF_S UINT64_C(1000000000)

/* A web server sends the variables at once, but they may wait here behind those of thousands; an
 * answer is small; and whoever has it needs no more than this to stop sending. */
static const uint64_t variables_ns = 60 * NS_OF_S;
static const uint64_t answering_ns = 60 * NS_OF_S;
static const uint64_t dropping_ns = 60 * NS_OF_S;
/* While no line is free: of those that have not said what they want, or have their answer. */
static const uint64_t scarce_ns = 10 * NS_OF_S;

enum upload_line_stage {
    LINE_READING,
    LINE_FINISHING, /* the intake is the finisher's */
    LINE_ANSWERING,
    LINE_DROPPING, /* the answer is sent; what comes is dropped */
    LINE_OVER
};

struct upload_line {
    struct finisher_job job; /* the first member: what comes back is the line */
    int connection;
    uint32_t events; /* that it is polled for; 0: it is not in the epoll */
    enum upload_line_stage stage;
    bool has_intake, body_has_ended;
    struct fcgi_stream stream;
    struct upload_intake intake;
    struct buffer response; /* records */
    size_t sent;
    uint64_t stage_ns;  /* when the stage began */
    uint64_t heard_ns;  /* when the last bytes came */
    uint64_t window_ns; /* since when `window_bytes` came */
    size_t window_bytes;
    struct upload_line *prev, *next;
};

struct upload_lines {
    struct listener *listener;
    struct upload_finisher *finisher;
    pthread_t thread;
    struct event_loop loop;
    bool accepts;
    size_t lines_max;
    struct upload_line *all;
    struct upload_line *over; /* ended while events are looked at */
    _Atomic int count;
    _Atomic bool is_cut, has_ended;
    pthread_mutex_t lock; /* of what follows */
    struct upload_project *project;
    char piece[READ_BYTES];
};

/* Whose word an event is, where it is not a line's. */
static char finisher_mark;

static struct upload_project *current_project(struct upload_lines *lines)
{
    struct upload_project *project;

    pthread_mutex_lock(&lines->lock);
    project = upload_project_hold(lines->project);
    pthread_mutex_unlock(&lines->lock);
    return project;
}

/* --- one line --------------------------------------------------------------------------------- */

static void enter(struct upload_line *line, enum upload_line_stage stage)
{
    line->stage = stage;
    line->stage_ns = clock_ns();
}

/* Its memory stays until the events of this turn are looked at: one of them may be its own. */
static void end_line(struct upload_lines *lines, struct upload_line *line)
{
    if (line->stage == LINE_OVER)
        return;
    close(line->connection);
    buffer_free(&line->stream.variables);
    buffer_free(&line->response);
    if (line->has_intake)
        upload_intake_drop(&line->intake);
    line->stage = LINE_OVER;
    DL_DELETE(lines->all, line);
    DL_APPEND(lines->over, line);
    atomic_fetch_sub(&lines->count, 1);
}

static void free_over(struct upload_lines *lines)
{
    struct upload_line *line, *next;

    DL_FOREACH_SAFE(lines->over, line, next)
    {
        free(line);
    }
    lines->over = NULL;
}

static void poll_for(struct upload_lines *lines, struct upload_line *line, uint32_t events)
{
    uint32_t before = line->events;

    if (line->stage == LINE_OVER)
        return;
    line->events = events;
    if (!event_loop_poll(&lines->loop, line->connection, before, events, line))
        end_line(lines, line);
}

static void send_response(struct upload_lines *lines, struct upload_line *line)
{
    while (line->sent < line->response.length) {
        ssize_t put = send(line->connection, line->response.at + line->sent,
                           line->response.length - line->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            poll_for(lines, line, EPOLLIN | EPOLLOUT);
            return;
        }
        if (put < 0) {
            end_line(lines, line);
            return;
        }
        line->sent += (size_t)put;
    }
    if (line->body_has_ended) {
        end_line(lines, line);
        return;
    }
    /* nginx passes an answer on when it sees the end of the connection, not by FastCGI's own word.
     */
    (void)shutdown(line->connection, SHUT_WR);
    enter(line, LINE_DROPPING);
    poll_for(lines, line, EPOLLIN);
}

static void respond(struct upload_lines *lines, struct upload_line *line, struct text response)
{
    line->response = buffer_on_heap(RESPONSE_BYTES_MAX);
    fcgi_add_response(&line->response, line->stream.request_id, response);
    enter(line, LINE_ANSWERING);
    send_response(lines, line);
}

static void respond_intake(struct upload_lines *lines, struct upload_line *line)
{
    struct buffer response = buffer_on_heap(RESPONSE_BYTES_MAX);

    upload_intake_response(&line->intake, &response);
    respond(lines, line, buffer_text(&response));
    buffer_free(&response);
}

/* Whoever looks by a browser gets a page; counters only whom the web server lets ask for them, by a
 * variable that no client can set. */
static void respond_page(struct upload_lines *lines, struct upload_line *line)
{
    struct buffer page = buffer_on_heap(RESPONSE_BYTES_MAX);
    struct buffer response = buffer_on_heap(RESPONSE_BYTES_MAX);

    if (text_is(fcgi_variable_in(buffer_text(&line->stream.variables), "QM_PAGE"), "metrics"))
        counters_write(&page);
    else
        buffer_add_string(&page, "BOINC clients upload their results here; there is nothing to be "
                                 "seen.\n");
    buffer_print(&response, "Content-Type: text/plain\r\nContent-Length: %zu\r\n\r\n", page.length);
    buffer_add(&response, buffer_text(&page));
    respond(lines, line, buffer_text(&response));
    buffer_free(&response);
    buffer_free(&page);
}

/* The variables are there. */
static void begin_request(struct upload_lines *lines, struct upload_line *line)
{
    struct text variables = buffer_text(&line->stream.variables);
    struct text method = fcgi_variable_in(variables, "REQUEST_METHOD");

    if (method.length > 0 && !text_is(method, "POST")) {
        respond_page(lines, line);
    } else {
        struct upload_project *project = current_project(lines);

        upload_intake_begin(&line->intake, project, fcgi_variable_in(variables, "REMOTE_ADDR"));
        line->has_intake = true;
        line->window_ns = clock_ns();
        upload_project_release(project);
    }
    buffer_free(&line->stream.variables);
    line->stream.variables = buffer_on_heap(FCGI_VARIABLES_MAX);
}

/* After the intake has heard something. */
static void follow_intake(struct upload_lines *lines, struct upload_line *line)
{
    if (line->stage != LINE_READING)
        return;
    if (line->intake.stage == UPLOAD_ANSWERED) {
        respond_intake(lines, line);
    } else if (line->intake.stage == UPLOAD_TO_FINISH) {
        enter(line, LINE_FINISHING);
        poll_for(lines, line, 0);
        if (line->stage == LINE_FINISHING)
            upload_finisher_give(lines->finisher, &line->job);
    }
}

static void take_end(struct upload_lines *lines, struct upload_line *line)
{
    line->body_has_ended = true;
    if (line->stage == LINE_DROPPING) {
        end_line(lines, line);
    } else if (line->stage == LINE_READING && line->has_intake) {
        upload_intake_end(&line->intake);
        follow_intake(lines, line);
    }
}

/* Web servers send what they have, often a few hundred bytes in a record. What came of the body
 * with one read is put together where it came, so that it goes to the disk at once. */
static void gather(struct upload_lines *lines, size_t *gathered, struct text body)
{
    memmove(lines->piece + *gathered, body.at, body.length);
    *gathered += body.length;
}

static void hand_over(struct upload_lines *lines, struct upload_line *line, size_t gathered)
{
    line->window_bytes += gathered;
    if (gathered == 0 || line->stage != LINE_READING)
        return;
    upload_intake_add(&line->intake, (struct text){lines->piece, gathered});
    follow_intake(lines, line);
}

/* So many bytes of lines->piece. */
static void take_records(struct upload_lines *lines, struct upload_line *line, size_t length)
{
    struct text bytes = {lines->piece, length}, body;
    enum fcgi_piece piece;
    size_t gathered = 0;

    while ((piece = fcgi_stream_next(&line->stream, &bytes, &body)) == FCGI_PIECE_BODY ||
           piece == FCGI_PIECE_VARIABLES) {
        if (piece == FCGI_PIECE_BODY)
            gather(lines, &gathered, body);
        else
            begin_request(lines, line);
        if (line->stage == LINE_OVER)
            return;
    }
    hand_over(lines, line, gathered);
    if (piece == FCGI_PIECE_END) {
        take_end(lines, line);
    } else if (piece == FCGI_PIECE_UNSOUND && line->stage == LINE_FINISHING) {
        line->body_has_ended = true; /* the answer will not find anybody */
    } else if (piece == FCGI_PIECE_UNSOUND) {
        counter_add(COUNTER_connections_unsound, 1);
        end_line(lines, line);
    }
}

/* False: nothing more is there at the moment, or the line is over or waits for its file. */
static bool read_some(struct upload_lines *lines, struct upload_line *line)
{
    ssize_t got = recv(line->connection, lines->piece, READ_BYTES, MSG_DONTWAIT);

    if (got < 0 && errno == EINTR)
        return true;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return false;
    if (got <= 0) {
        end_line(lines, line);
        return false;
    }
    line->heard_ns = clock_ns();
    take_records(lines, line, (size_t)got);
    return got == READ_BYTES && line->stage != LINE_OVER && line->stage != LINE_FINISHING;
}

static void go_on(struct upload_lines *lines, struct upload_line *line)
{
    if (line->stage == LINE_ANSWERING)
        send_response(lines, line);
    for (int i = 0; i < READS_AT_ONCE && line->stage != LINE_OVER && line->stage != LINE_FINISHING;
         i++)
        if (!read_some(lines, line))
            break;
    if (line->stage == LINE_READING)
        poll_for(lines, line, EPOLLIN);
}

static void take_back_finished(struct upload_lines *lines)
{
    struct finisher_job *job;

    while ((job = upload_finisher_take_back(lines->finisher)) != NULL) {
        struct upload_line *line = (struct upload_line *)job;

        enter(line, LINE_ANSWERING);
        respond_intake(lines, line);
    }
}

/* --- accepting -------------------------------------------------------------------------------- */

static bool has_room(const struct upload_lines *lines)
{
    return (size_t)atomic_load(&lines->count) < lines->lines_max;
}

/* False: rest for a moment. */
static bool accept_some(struct upload_lines *lines)
{
    for (int i = 0; i < ACCEPTS_AT_ONCE && has_room(lines); i++) {
        struct upload_line *line;
        int connection = -1;
        enum status status = listener_accept(lines->listener, &connection);

        if (status == STATUS_NOT_FOUND)
            lines->accepts = false;
        if (status != STATUS_OK)
            return false;
        if (connection < 0)
            return true;
        line = calloc(1, sizeof(*line));
        if (line == NULL) {
            close(connection);
            return false;
        }
        line->connection = connection;
        line->job.intake = &line->intake;
        fcgi_stream_begin(&line->stream);
        enter(line, LINE_READING);
        DL_APPEND(lines->all, line);
        atomic_fetch_add(&lines->count, 1);
        poll_for(lines, line, EPOLLIN);
    }
    return true;
}

/* --- time ------------------------------------------------------------------------------------- */

/* Whether too little came for too long. A head has one patience from its beginning to its end. */
static bool is_too_slow(struct upload_line *line, uint64_t now_ns)
{
    double patience = line->intake.project->config->upload_patience;
    uint64_t patience_ns = (uint64_t)(patience * (double)NS_OF_S);
    bool is_slow = line->intake.stage == UPLOAD_HEARING ||
                   (double)line->window_bytes < patience * BYTES_PER_SECOND_LEAST;

    if (now_ns - line->window_ns < patience_ns)
        return false;
    line->window_ns = now_ns;
    line->window_bytes = 0;
    return is_slow;
}

static bool has_said_nothing(const struct upload_line *line)
{
    return line->stage == LINE_READING &&
           (!line->has_intake || line->intake.stage == UPLOAD_HEARING);
}

static bool is_overdue(struct upload_line *line, bool is_scarce, uint64_t now_ns)
{
    uint64_t age = now_ns - line->stage_ns;

    if (is_scarce && age > scarce_ns && (has_said_nothing(line) || line->stage == LINE_DROPPING))
        return true;
    switch (line->stage) {
    case LINE_READING:
        return line->has_intake ? is_too_slow(line, now_ns) : age > variables_ns;
    case LINE_ANSWERING:
        return age > answering_ns;
    case LINE_DROPPING:
        return age > dropping_ns;
    case LINE_FINISHING:
    case LINE_OVER:
        break;
    }
    return false;
}

/* A client whose line broke may be back long before anybody knows that the old one is dead. */
static void rest_if_silent(struct upload_line *line, uint64_t now_ns)
{
    if (line->stage == LINE_READING && line->has_intake &&
        (double)(now_ns - line->heard_ns) >
            line->intake.project->config->upload_patience * (double)NS_OF_S / SILENT_PART)
        upload_intake_rest(&line->intake);
}

static void end_overdue(struct upload_lines *lines)
{
    struct upload_line *line, *next;
    uint64_t now_ns = clock_ns();
    bool is_scarce = !has_room(lines);

    DL_FOREACH_SAFE(lines->all, line, next)
    {
        if (is_overdue(line, is_scarce, now_ns)) {
            counter_add(COUNTER_connections_overdue, line->stage == LINE_DROPPING ? 0 : 1);
            end_line(lines, line);
        } else {
            rest_if_silent(line, now_ns);
        }
    }
}

/* --- what is scarce --------------------------------------------------------------------------- */

static bool is_taking(const struct upload_line *line)
{
    return line->stage == LINE_READING && line->has_intake && line->intake.stage == UPLOAD_TAKING;
}

static struct upload_pace pace_of(struct upload_line *line, uint64_t now_ns)
{
    const struct upload_intake *intake = &line->intake;
    double age = (double)(now_ns - intake->begun_ns) * 1e-9;
    double came = (double)(intake->at - intake->head.offset);

    return (struct upload_pace){.age = age,
                                .rate = age > 0 ? came / age : 0,
                                .at = intake->at,
                                .nbytes = intake->head.nbytes,
                                .subject = line};
}

/* On the heap; NULL: none, or no memory, and then nobody gives way this time. `on_disk`: only those
 * that count for some of it. */
static struct upload_pace *find_paces(struct upload_lines *lines, bool on_disk, size_t *ret_count)
{
    struct upload_pace *paces = calloc((size_t)atomic_load(&lines->count) + 1, sizeof(*paces));
    struct upload_line *line;
    uint64_t now_ns = clock_ns();

    *ret_count = 0;
    if (paces == NULL)
        return NULL;
    DL_FOREACH(lines->all, line)
    {
        if (is_taking(line) && (!on_disk || line->intake.reserved > 0))
            paces[(*ret_count)++] = pace_of(line, now_ns);
    }
    return paces;
}

/* Those that have the smallest part of their file are asked to come again. */
static void share_disk(struct upload_lines *lines)
{
    struct upload_project *project;
    struct upload_pace *paces = NULL;
    size_t count, yielding;
    int64_t unreserved;

    if (lines->all == NULL)
        return;
    project = current_project(lines);
    unreserved = upload_intake_unreserved(project);
    upload_project_release(project);
    if (unreserved >= 0 || (paces = find_paces(lines, true, &count)) == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        unreserved += upload_reserved(paces[i].at, paces[i].nbytes);
    yielding = upload_yield_disk(paces, count, unreserved);
    for (size_t i = 0; i < yielding; i++) {
        struct upload_line *line = paces[i].subject;

        upload_intake_yield_disk(&line->intake);
        follow_intake(lines, line);
    }
    counter_add(COUNTER_uploads_yielded, yielding);
    free(paces);
}

static bool newcomers_wait(const struct upload_lines *lines)
{
    struct pollfd wait = {.fd = listener_socket(lines->listener), .events = POLLIN};

    return lines->accepts && !has_room(lines) && poll(&wait, 1, 0) > 0;
}

/* The slowest are cut off, as those that are too slow at any time: an answer would keep their
 * places until it is heard. What came of them stays. */
static void share_places(struct upload_lines *lines)
{
    struct upload_pace *paces;
    size_t count, yielding;

    if (!newcomers_wait(lines) || (paces = find_paces(lines, false, &count)) == NULL)
        return;
    yielding = upload_yield_places(paces, count, lines->lines_max / PLACES_PART + 1);
    for (size_t i = 0; i < yielding; i++)
        end_line(lines, paces[i].subject);
    counter_add(COUNTER_uploads_yielded, yielding);
    free(paces);
}

static void end_all(struct upload_lines *lines)
{
    struct upload_line *line, *next;

    DL_FOREACH_SAFE(lines->all, line, next)
    {
        if (line->stage != LINE_FINISHING)
            end_line(lines, line);
    }
}

/* --- the thread ------------------------------------------------------------------------------- */

static void wait_for_events(struct upload_lines *lines)
{
    void *marks[EVENT_LOOP_MARKS_MAX];
    int count = event_loop_wait(&lines->loop, TICK_MS, marks);

    for (int i = 0; i < count; i++) {
        if (lines->accepts && i % EVENTS_BEFORE_ACCEPT == 0)
            (void)accept_some(lines);
        if (marks[i] == &finisher_mark)
            take_back_finished(lines);
        else
            go_on(lines, marks[i]);
    }
    free_over(lines);
}

static void *lines_main(void *context)
{
    struct upload_lines *lines = context;
    uint64_t tick_ns = clock_ns();
    bool rests = false;

    while (lines->accepts || lines->all != NULL) {
        event_loop_hear_listener(&lines->loop, lines->accepts && !rests && has_room(lines));
        wait_for_events(lines);
        if (atomic_load(&lines->is_cut)) {
            lines->accepts = false;
            end_all(lines);
        }
        if (lines->accepts)
            rests = !accept_some(lines);
        if (clock_ns() - tick_ns > TICK_MS * (NS_OF_S / 1000)) {
            tick_ns = clock_ns();
            rests = false;
            end_overdue(lines);
            share_disk(lines);
            share_places(lines);
        }
        free_over(lines);
    }
    atomic_store(&lines->has_ended, true);
    return NULL;
}

/* As many as configuration and descriptors allow. */
static size_t lines_max(const struct config *config)
{
    size_t most = (size_t)config->upload_connections;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur / DESCRIPTORS_OF_LINE < most + DESCRIPTORS_KEPT)
        most = limit.rlim_cur > 4 * DESCRIPTORS_KEPT
                   ? (size_t)limit.rlim_cur / DESCRIPTORS_OF_LINE - DESCRIPTORS_KEPT
                   : DESCRIPTORS_KEPT;
    return most;
}

static enum status prepare(struct upload_lines *lines, struct failure *failure)
{
    enum status status = event_loop_open(&lines->loop, lines->listener, failure);

    if (status == STATUS_OK)
        status = upload_finisher_start((int)lines->project->config->upload_threads,
                                       &lines->finisher, failure);
    if (status == STATUS_OK &&
        !event_loop_poll(&lines->loop, upload_finisher_event(lines->finisher), 0, EPOLLIN,
                         &finisher_mark))
        status = fail(failure, STATUS_IO, "epoll: %s", strerror(errno));
    return status;
}

static void destroy(struct upload_lines *lines)
{
    upload_finisher_stop(lines->finisher);
    event_loop_close(&lines->loop);
    upload_project_release(lines->project);
    pthread_mutex_destroy(&lines->lock);
    free(lines);
}

enum status upload_lines_start(struct listener *listener, struct upload_project *project,
                               struct upload_lines **ret_lines, struct failure *failure)
{
    struct upload_lines *lines = calloc(1, sizeof(*lines));
    enum status status;

    if (lines == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    lines->listener = listener;
    lines->project = upload_project_hold(project);
    lines->accepts = true;
    lines->lines_max = lines_max(project->config);
    pthread_mutex_init(&lines->lock, NULL);
    status = prepare(lines, failure);
    if (status == STATUS_OK && pthread_create(&lines->thread, NULL, lines_main, lines) != 0)
        status = fail(failure, STATUS_IO, "no thread: %s", strerror(errno));
    if (status != STATUS_OK) {
        destroy(lines);
        return status;
    }
    *ret_lines = lines;
    return STATUS_OK;
}

void upload_lines_set_project(struct upload_lines *lines, struct upload_project *project)
{
    struct upload_project *old;

    pthread_mutex_lock(&lines->lock);
    old = lines->project;
    lines->project = upload_project_hold(project);
    pthread_mutex_unlock(&lines->lock);
    upload_project_release(old);
}

int upload_lines_count(struct upload_lines *lines)
{
    return atomic_load(&lines->has_ended) ? -1 : atomic_load(&lines->count);
}

void upload_lines_cut(struct upload_lines *lines)
{
    atomic_store(&lines->is_cut, true);
    event_loop_wake(&lines->loop);
}

void upload_lines_join(struct upload_lines *lines)
{
    if (lines == NULL)
        return;
    pthread_join(lines->thread, NULL);
    destroy(lines);
}
