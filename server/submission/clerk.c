/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/clerk.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/project/project.h"
#include "server/submission/desk.h"
#include "server/submission/file_face.h"
#include "server/submission/form.h"
#include "server/submission/output_face.h"
#include "server/submission/peer.h"
#include "server/submission/rpc_face.h"
#include "server/submission/submit_desk.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

#define REQUEST_BYTES ((size_t)256 << 20)
#define PAGE_BYTES    ((size_t)1 << 20)
enum { SMALL_BODY_MAX = 16 * 1024 };
/* s, from the first to the longest pause between tries to connect */
static const double reconnect_first = 0.1, reconnect_longest = 5;

/* --- its database ------------------------------------------------------------------------------
 */

static void close_database(struct clerk *clerk)
{
    db_close(clerk->db);
    clerk->db = NULL;
    config_release(clerk->db_config);
    clerk->db_config = NULL;
}

static void open_database(struct clerk *clerk, struct config *config)
{
    struct failure failure = {.status = STATUS_OK};

    if (clerk->db != NULL && clerk->db_config != config) /* maybe another database now */
        close_database(clerk);
    if (clerk->db != NULL || clock_ns() < clerk->db_not_before_ns)
        return;
    if (db_admin_open(config, &clerk->db, &failure) == STATUS_OK) {
        clerk->db_failures = 0;
        clerk->db_config = config_hold(config);
        return;
    }
    clerk->db = NULL;
    counter_add(COUNTER_db_connections_failed, 1);
    if (clerk->db_failures++ == 0)
        log_event(LOG_LEVEL_WARNING, "database_away", text_from(failure.text));
    clerk->db_not_before_ns =
        clock_ns() +
        (uint64_t)(1e9 * backoff_pause(reconnect_first, reconnect_longest, clerk->db_failures));
}

/* A connection that was lost is opened again for the next request. */
static void leave_database(struct clerk *clerk, bool was_away)
{
    if (clerk->db != NULL && (was_away || db_end(clerk->db) != STATUS_OK))
        close_database(clerk);
}

/* --- its request -------------------------------------------------------------------------------
 */

/* The field "request" goes to the spool; others are passed over. */
struct form_reading {
    struct clerk *clerk;
    struct failure *failure;
    bool is_request, was_there;
};

static enum status begin_field(void *context, struct text name, bool is_file)
{
    struct form_reading *reading = context;

    reading->is_request = !reading->was_there && !is_file && text_is(name, "request");
    reading->was_there = reading->was_there || reading->is_request;
    return STATUS_OK;
}

static enum status add_bytes(void *context, struct text bytes)
{
    struct form_reading *reading = context;

    return reading->is_request ? spool_add(reading->clerk->spool, bytes, reading->failure)
                               : STATUS_OK;
}

static enum status end_field(void *context)
{
    struct form_reading *reading = context;

    reading->is_request = false;
    return STATUS_OK;
}

static enum status read_body(struct clerk *clerk, const struct form_taker *taker,
                             struct failure *failure)
{
    struct form form;
    enum status status =
        form_begin(&form, peer_variable(clerk->peer, "CONTENT_TYPE"), taker, failure);

    while (status == STATUS_OK) {
        struct text bytes;

        if (peer_next(clerk->peer, &bytes) != STATUS_OK)
            return fail(failure, STATUS_INVALID, "the request did not come whole");
        if (bytes.length == 0)
            return form_end(&form);
        status = form_add(&form, bytes);
    }
    return status;
}

static enum status read_form(struct clerk *clerk, struct failure *failure)
{
    struct form_reading reading = {.clerk = clerk, .failure = failure};
    const struct form_taker taker = {
        .context = &reading, .begin = begin_field, .add = add_bytes, .end = end_field};

    return read_body(clerk, &taker, failure);
}

static bool is_stopped(const struct config *config)
{
    char path[PATH_MAX];

    project_path(config, "stop_web", path, sizeof(path));
    return access(path, F_OK) == 0;
}

static void log_exchange(const struct rpc_exchange *exchange, uint64_t begun_ns)
{
    log_line_with(exchange->error == 0 ? LOG_LEVEL_NORMAL : LOG_LEVEL_WARNING, "why",
                  text_from(exchange->desk->failure->text),
                  "event=submission command=" TEXT_FORMAT " user=%lld error=%d seconds=%.3f "
                  "address=" TEXT_FORMAT,
                  TEXT_ARG(exchange->command), (long long)exchange->userid, exchange->error,
                  (double)(clock_ns() - begun_ns) / 1e9, TEXT_ARG(exchange->desk->address));
}

static struct desk open_desk(struct clerk *clerk, struct config *config, struct failure *failure)
{
    return (struct desk){.config = config,
                         .arena = clerk->arena,
                         .failure = failure,
                         .limits = clerk->limits,
                         .pauses = clerk->pauses,
                         .address = peer_variable(clerk->peer, "REMOTE_ADDR"),
                         .now = (int64_t)time(NULL),
                         .is_to_end = clerk->is_to_end,
                         .context = clerk->context};
}

/* A page in BOINC's XML. */
static void serve_rpc(struct clerk *clerk, struct config *config, bool of_files)
{
    uint64_t begun_ns = clock_ns();
    struct failure failure = {.status = STATUS_OK};
    struct desk desk = open_desk(clerk, config, &failure);
    struct rpc_exchange exchange = {.desk = &desk,
                                    .spool = clerk->spool,
                                    .send = peer_send,
                                    .context = clerk->peer,
                                    .is_stopped = is_stopped(config)};
    struct file_face face;
    struct form_taker taker;
    enum status status;

    spool_begin(clerk->spool, config->submit_request_bytes_max);
    open_database(clerk, config);
    desk.db = clerk->db;
    file_face_begin(&face, &exchange);
    taker = file_face_taker(&face);
    status = of_files ? read_body(clerk, &taker, &failure) : read_form(clerk, &failure);
    peer_send(clerk->peer, TEXT("Content-Type: text/xml; charset=utf-8\r\n\r\n"));
    if (of_files)
        file_face_answer(&face, status);
    else
        rpc_answer(&exchange, status);
    leave_database(clerk, exchange.error == RPC_DATABASE_AWAY);
    counter_add(exchange.error == 0 ? COUNTER_submissions_answered : COUNTER_submissions_refused,
                1);
    log_exchange(&exchange, begun_ns);
    spool_end(clerk->spool);
}

/* What a form of a few bytes holds, as it came. */
static struct text read_small_body(struct clerk *clerk)
{
    struct buffer body = buffer_in(clerk->arena);
    struct text bytes;

    body.length_max = SMALL_BODY_MAX;
    while (peer_next(clerk->peer, &bytes) == STATUS_OK && bytes.length > 0)
        buffer_add(&body, bytes);
    return body.overflowed ? NO_TEXT : buffer_text(&body);
}

static void serve_output(struct clerk *clerk, struct config *config, bool is_posted)
{
    uint64_t begun_ns = clock_ns();
    struct failure failure = {.status = STATUS_OK};
    struct desk desk = open_desk(clerk, config, &failure);
    struct output_exchange exchange = {.desk = &desk,
                                       .is_posted = is_posted,
                                       .parameters =
                                           is_posted ? read_small_body(clerk)
                                                     : peer_variable(clerk->peer, "QUERY_STRING"),
                                       .spool = clerk->spool,
                                       .send = peer_send,
                                       .context = clerk->peer};

    open_database(clerk, config);
    desk.db = clerk->db;
    output_answer(&exchange);
    clerk->peer->is_broken = clerk->peer->is_broken || exchange.is_broken;
    leave_database(clerk, exchange.status == 503);
    counter_add(exchange.status == 200 ? COUNTER_submissions_answered : COUNTER_submissions_refused,
                1);
    log_line_with(LOG_LEVEL_NORMAL, "why", text_from(failure.text),
                  "event=output user=%lld status=%d broken=%d seconds=%.3f address=" TEXT_FORMAT,
                  (long long)exchange.userid, exchange.status, exchange.is_broken,
                  (double)(clock_ns() - begun_ns) / 1e9, TEXT_ARG(desk.address));
}

/* Counters only for whom the web server lets ask for them, by a variable that no client can set. */
static void serve_page(struct clerk *clerk)
{
    struct buffer page = buffer_on_heap(PAGE_BYTES);

    buffer_add_string(&page, "Content-Type: text/plain\r\n\r\n");
    if (text_is(peer_variable(clerk->peer, "QM_PAGE"), "metrics"))
        counters_write(&page);
    else
        buffer_add_string(&page, "Programs submit jobs here; there is nothing to be seen.\n");
    peer_send(clerk->peer, buffer_text(&page));
    buffer_free(&page);
}

/* A web server may take the last part of the path for a path behind a script. */
static bool is_page(const struct clerk *clerk, struct text page)
{
    return text_ends(peer_variable(clerk->peer, "SCRIPT_NAME"), page) ||
           text_ends(peer_variable(clerk->peer, "PATH_INFO"), page);
}

void clerk_serve(struct clerk *clerk, struct config *config)
{
    struct text method = peer_variable(clerk->peer, "REQUEST_METHOD");
    bool is_get = text_is(method, "GET") || text_is(method, "HEAD");

    if (is_page(clerk, TEXT("/get_output.php")))
        serve_output(clerk, config, !is_get);
    else if (is_get)
        serve_page(clerk);
    else
        serve_rpc(clerk, config, is_page(clerk, TEXT("/job_file.php")));
    peer_end(clerk->peer);
    arena_reset(clerk->arena);
}

void clerk_recover(struct clerk *clerk, struct config *config)
{
    struct failure failure = {.status = STATUS_OK};
    struct desk desk = {.config = config,
                        .arena = clerk->arena,
                        .failure = &failure,
                        .now = (int64_t)time(NULL),
                        .is_to_end = clerk->is_to_end,
                        .context = clerk->context};

    open_database(clerk, config);
    desk.db = clerk->db;
    if (desk.db != NULL && desk_recover(&desk) != STATUS_OK)
        log_event(LOG_LEVEL_WARNING, "not_recovered", text_from(failure.text));
    close_database(clerk);
    arena_reset(clerk->arena);
}

/* --- its memory --------------------------------------------------------------------------------
 */

enum status clerk_open(struct clerk *clerk)
{
    *clerk = (struct clerk){.arena = arena_create(REQUEST_BYTES),
                            .peer = calloc(1, sizeof(*clerk->peer)),
                            .spool = calloc(1, sizeof(*clerk->spool))};
    if (clerk->arena == NULL || clerk->peer == NULL || clerk->spool == NULL) {
        clerk_close(clerk);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

void clerk_close(struct clerk *clerk)
{
    close_database(clerk);
    arena_destroy(clerk->arena);
    free(clerk->peer);
    free(clerk->spool);
    *clerk = (struct clerk){.arena = NULL};
}
