/* SPDX-License-Identifier: Apache-2.0 */
/* A visitor begins with the message of a modest present-day host; the walk is repeated on deadlock,
 * as the server would. */
#include "tests/support/visitor.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "tests/support/database.h"
#include "tests/support/requests.h"
#include "tests/support/test.h"

#include <stdlib.h>

struct test_database *visitors_create(void)
{
    struct test_database *database = test_database_create(true, NULL);

    test_sql(database, "SET sql_mode = '';"
                       "INSERT INTO platform SET id = 1, name = 'x86_64-pc-linux-gnu',"
                       " user_friendly_name = '';"
                       "INSERT INTO user SET id = 17, email_addr = 'a@example.org', name = 'a',"
                       " authenticator = '" VISITOR_KEY "', teamid = 6;"
                       "INSERT INTO user SET id = 18, email_addr = 'b@example.org', name = 'b',"
                       " authenticator = '" OTHER_KEY "'");
    return database;
}

void visitors_clear(struct test_database *database)
{
    test_sql(database, "TRUNCATE host; TRUNCATE qm_host; TRUNCATE result; TRUNCATE workunit;"
                       "TRUNCATE host_app_version; TRUNCATE msg_from_host; TRUNCATE msg_to_host;"
                       "UPDATE user SET global_prefs = NULL, cross_project_id = ''");
}

struct visitor *visitor_create(struct test_database *database)
{
    static const struct project_keys no_keys;
    struct visitor *visitor = calloc(1, sizeof(*visitor));
    struct catalog *catalog;

    if (visitor == NULL)
        abort();
    visitor->arena = arena_create((size_t)64 << 20);
    visitor->request.arena = visitor->arena;
    visitor->request.config = test_database_config(database);
    visitor->request.keys = &no_keys;
    visitor->request.db = test_database_open(database);
    assert_status(STATUS_OK, catalog_load(visitor->request.db, &catalog));
    db_rollback(visitor->request.db);
    visitor->request.catalog = visitor->catalog = catalog;
    visitor->request.now = VISITOR_NOW;
    visitor->request.seed = 1;
    visitor->request.transport.remote_addr = TEXT("192.0.2.1");
    message_of_a_host(&visitor->request.message);
    visitor->request.message.authenticator = TEXT(VISITOR_KEY);
    return visitor;
}

void visitor_destroy(struct visitor *visitor)
{
    db_close(visitor->request.db);
    catalog_release(visitor->catalog);
    arena_destroy(visitor->arena);
    free(visitor);
}

static enum next walk_once(struct request *request)
{
    static enum next (*const steps[])(struct request * request) = {step_authenticate, step_report,
                                                                   step_messages, step_record};
    enum status status;

    memset(&request->attempt, 0, sizeof(request->attempt));
    memset(&request->failure, 0, sizeof(request->failure));
    request->token++;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        enum next next = steps[i](request);

        if (next != NEXT_STEP)
            return next;
    }
    status = db_host_commit(
        request->db, &(struct host_ending){
                         .hostid = request->attempt.host.id,
                         .token = request->token,
                         .now = (int64_t)request->now,
                         .contact = request->attempt.contact_waits ? &request->attempt.host : NULL,
                         .presence = request->attempt.presence,
                         .has_guard = request->attempt.has_guard});
    return status == STATUS_OK ? NEXT_STEP : request_failed(request, status, "commit");
}

enum next visitor_walk(struct visitor *visitor)
{
    struct request *request = &visitor->request;
    enum next next;

    do {
        next = walk_once(request);
        if (next != NEXT_STEP)
            db_rollback(request->db);
    } while (next == NEXT_FAILED && request->failure.status == STATUS_DB_RETRY);
    return next;
}

const char *visitor_acks(struct visitor *visitor)
{
    struct buffer names = buffer_in(visitor->arena);

    for (const struct text_item *item = visitor->request.attempt.answer.acks.first; item != NULL;
         item = item->next) {
        if (names.length > 0)
            buffer_add_char(&names, ' ');
        buffer_add(&names, item->text);
    }
    return text_string(visitor->arena, buffer_text(&names));
}
