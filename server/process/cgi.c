/* SPDX-License-Identifier: Apache-2.0 */
/* Plain CGI: one request from the environment and standard input, one reply on standard output,
 * then the end. Slow, since every request opens its own connection to the database, but it runs
 * wherever a web server does. */
#include "config/config.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/fates/fates.h"
#include "server/process/health.h"
#include "server/process/run.h"
#include "server/process/server.h"
#include "server/process/web_request.h"
#include "server/process/worker.h"
#include "server/project/catalog.h"
#include "server/project/project.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    READ_SIZE = 65536,
    SILENCE_MS = 60000, /* how long the web server may keep us waiting for more */
    GUESS_PAUSE_S = 3   /* after a wrong password: a program of one request counts no tries */
};

static const char *read_environment(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

/* CONTENT_LENGTH bytes, or all there are when it is absent. Beyond the bound as much again is read
 * and dropped, since web servers fail when nobody takes what they send. */
static enum status read_body(struct buffer *ret_body)
{
    struct text length_text = text_from(getenv("CONTENT_LENGTH"));
    int64_t length = INT64_MAX;
    size_t total = 0;
    char piece[READ_SIZE];

    if (length_text.length > 0 && (!text_to_i64(length_text, &length) || length < 0))
        return STATUS_INVALID;
    for (int64_t left = length; left > 0 && total / 2 <= ret_body->length_max;) {
        struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
        size_t most = left < READ_SIZE ? (size_t)left : READ_SIZE;
        ssize_t got;

        if (poll(&wait, 1, SILENCE_MS) == 0)
            return STATUS_IO;
        got = read(STDIN_FILENO, piece, most);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return STATUS_IO;
        if (got == 0)
            break;
        left -= got;
        buffer_add(ret_body, (struct text){.at = piece, .length = (size_t)got});
        total += (size_t)got;
    }
    return ret_body->overflowed ? STATUS_TOO_LARGE : STATUS_OK;
}

static enum status write_reply(const char *content_type, const struct web_request *web,
                               struct text reply)
{
    struct buffer head = buffer_on_heap(4096);
    bool is_written;

    web_reply_head(&head, content_type, web, reply.length);
    is_written =
        file_write_all(STDOUT_FILENO, buffer_text(&head)) && file_write_all(STDOUT_FILENO, reply);
    buffer_free(&head);
    return is_written ? STATUS_OK : STATUS_IO;
}

static enum status write_page(struct text page)
{
    struct buffer head = buffer_on_heap(4096);
    bool is_written;

    web_page_head(&head, page.length);
    is_written =
        file_write_all(STDOUT_FILENO, buffer_text(&head)) && file_write_all(STDOUT_FILENO, page);
    buffer_free(&head);
    return is_written ? STATUS_OK : STATUS_IO;
}

/* What few projects need. */
static enum status load_more(struct db *db, const struct config *config, struct catalog *catalog)
{
    enum status status = STATUS_OK;

    if (config->learn_availability)
        status = catalog_load_crowd(db, CROWD_FOR_ONE, catalog);
    if (status == STATUS_OK && config_hurry_lacks(config) == NULL)
        status = catalog_load_hurries(db, catalog);
    return status;
}

static void load_catalog(struct worker *worker, struct snapshot *snapshot)
{
    struct failure failure = {0};
    struct catalog *catalog = NULL;

    if (snapshot->stop_sched)
        return;
    if (db_open(snapshot->config, &worker->db, &failure) != STATUS_OK) {
        worker->db = NULL;
        log_event(LOG_LEVEL_WARNING, "database_away", text_from(failure.text));
        return;
    }
    worker->db_config = config_hold(snapshot->config);
    if (catalog_load_for_one(worker->db, &catalog) != STATUS_OK)
        return;
    if (load_more(worker->db, snapshot->config, catalog) != STATUS_OK) {
        catalog_release(catalog);
        return;
    }
    db_rollback(worker->db);
    snapshot->catalog = catalog;
}

/* Anybody may ask, and each time costs anew: so one row is written, and no more is tried. */
static const char *state_problem(struct server *server, const struct snapshot *snapshot)
{
    struct failure failure = {0};

    if (!snapshot->stop_sched) {
        enum db_trouble trouble = db_examine_writing(snapshot->config, &failure);

        health_note_database(server_health(server), trouble, (int64_t)time(NULL));
    }
    if (failure.text[0] != '\0')
        log_event(LOG_LEVEL_WARNING, "database_examined", text_from(failure.text));
    return health_problem(server_health(server));
}

/* Behind the reply: nobody waits for it but the web server. */
static void flush_fates(struct worker *worker)
{
    if (worker->db != NULL && fates_flush(server_fates(worker->server), worker->db) != STATUS_OK)
        log_event(LOG_LEVEL_WARNING, "fates_not_written", text_from(db_error(worker->db)));
}

enum status run_cgi(struct server *server, struct failure *failure)
{
    struct worker worker;
    struct snapshot snapshot;
    struct web_request web = {0};
    struct buffer body, reply;
    const char *content_type = "text/xml";
    enum join_page page;
    enum status status = worker_init(&worker, server, NULL);

    if (status != STATUS_OK) {
        worker_clear(&worker);
        return fail(failure, status, "no memory");
    }
    server_look_for_stops(server);
    server_snapshot(server, &snapshot);
    body = buffer_on_heap((size_t)snapshot.config->request_bytes_max);
    reply = buffer_on_heap((size_t)snapshot.config->request_memory_max);
    page = web_request_join_page(read_environment, NULL, snapshot.config);
    if (page != JOIN_NONE) {
        web_request_read(&worker.exchanges[0].web, server_options(server)->clock_from_request,
                         read_environment, NULL);
        load_catalog(&worker, &snapshot);
        if (!worker_join(&worker, &worker.exchanges[0], &snapshot, page,
                         text_from(getenv("QUERY_STRING")), &reply)) {
            worker_close_database(&worker); /* who waits holds no connection */
            sleep(GUESS_PAUSE_S);
        }
        status = write_page(buffer_text(&reply));
        goto done;
    }
    if (web_request_is_post(read_environment, NULL, snapshot.config, &reply)) {
        status = read_body(&body);
        if (status == STATUS_IO)
            goto done;
        web.transport.body_too_large = status == STATUS_TOO_LARGE;
        if (status == STATUS_OK)
            web.transport.body = buffer_text(&body);
        web_request_read(&web, server_options(server)->clock_from_request, read_environment, NULL);
        load_catalog(&worker, &snapshot);
        worker_answer(&worker, &snapshot, &web, &reply);
    } else {
        content_type = "text/plain";
        web_write_state(&web, state_problem(server, &snapshot), &reply);
    }
    status = write_reply(content_type, &web, buffer_text(&reply));
    flush_fates(&worker);
done:
    if (status != STATUS_OK)
        fail(failure, status, "the web server broke the request off");
    buffer_free(&reply);
    buffer_free(&body);
    snapshot_release(&snapshot);
    worker_clear(&worker);
    return status;
}
