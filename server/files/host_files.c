/* SPDX-License-Identifier: Apache-2.0 */
/* The file database follows the requests: the list of a host's sticky files in each of them is
 * compared with its rows, and the difference is written, in a few statements however many files
 * there are. It comes after the commit of the scheduling transaction and never into it.
 *
 * What changed of the files is found in files_list.c, what becomes of orders in files_orders.c.
 *
 * Invariants: nothing that happens here changes what was committed or fails the request; a failure
 * ends the link for a while, is counted, and is logged when it begins and when it ends. */
#include "server/files/host_files.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/files/files_update.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum {
    LAST_SEEN_STEP = 3600 /* s */
};

/* Pauses between tries to connect double from the first to the longest, in ns. */
static const double pause_first = 1, pause_longest = 60; /* s */

struct files {
    struct files_health *health;
    struct db *db;
    struct config *config; /* that it was opened with */
    int failures;          /* in a row */
    uint64_t not_before_ns;
};

/* --- the link -------------------------------------------------------------------------------- */

struct files *files_create(struct files_health *health)
{
    struct files *files = calloc(1, sizeof(*files));

    if (files != NULL)
        files->health = health;
    return files;
}

static void disconnect(struct files *files)
{
    db_close(files->db);
    files->db = NULL;
    config_release(files->config);
    files->config = NULL;
}

void files_destroy(struct files *files)
{
    if (files == NULL)
        return;
    disconnect(files);
    free(files);
}

static void link_failed(struct files *files, const char *why, uint64_t now_ns)
{
    counter_add(COUNTER_files_failures, 1);
    if (!atomic_exchange(&files->health->is_away, true))
        log_event(LOG_LEVEL_WARNING, "file_database_away", text_from(why));
    disconnect(files);
    files->failures++;
    files->not_before_ns =
        now_ns + (uint64_t)(1e9 * backoff_pause(pause_first, pause_longest, files->failures));
}

static void link_works(struct files *files)
{
    files->failures = 0;
    if (atomic_load(&files->health->is_away) && atomic_exchange(&files->health->is_away, false))
        log_line(LOG_LEVEL_WARNING, "event=file_database_back");
}

struct files *files_ready(struct files *files, struct config *config, uint64_t now_ns)
{
    struct failure failure = {0};

    if (files == NULL)
        return NULL;
    if (files->db != NULL && files->config != config)
        disconnect(files);
    if (config->files_db_name.length == 0)
        return NULL;
    if (files->db != NULL)
        return files;
    if (now_ns < files->not_before_ns)
        return NULL;
    if (db_files_open(config, &files->db, &failure) != STATUS_OK) {
        files->db = NULL;
        link_failed(files, failure.text, now_ns);
        return NULL;
    }
    files->config = config_hold(config);
    return files;
}

/* Ends what was asked, and judges the link by how it went. */
static bool finish(struct request *request, enum status status)
{
    struct files *files = request->files;

    if (status == STATUS_OK)
        status = db_commit(files->db);
    if (status == STATUS_OK) {
        link_works(files);
        return true;
    }
    if (status == STATUS_DB_RETRY || status == STATUS_TOO_LARGE || status == STATUS_NO_MEMORY) {
        counter_add(COUNTER_files_failures, 1);
        if (db_rollback(files->db) == STATUS_OK)
            return false; /* the next request of the host says the same */
    }
    link_failed(files, db_error(files->db), clock_ns());
    request->files = NULL;
    return false;
}

static enum status read_rows(struct request *request, struct host_files *ret_files)
{
    struct db *db = request->files->db;
    struct arena *arena = request->arena;
    int64_t hostid = request->visit.host.id;
    enum status status =
        db_files_of_host(db, arena, hostid, &ret_files->rows, &ret_files->row_count);

    if (status == STATUS_OK)
        status =
            db_file_orders_open(db, arena, hostid, &ret_files->orders, &ret_files->order_count);
    return status;
}

bool files_read(struct request *request, struct host_files *ret_files)
{
    *ret_files = (struct host_files){0};
    return request->files != NULL && finish(request, read_rows(request, ret_files));
}

/* --- the update ------------------------------------------------------------------------------ */

/* last_seen is exact to an hour, so that a host that comes often is not written down each time. */
static bool is_seen_anew(const struct update *update)
{
    for (size_t i = 0; update->has_list && i < update->known.row_count; i++)
        if (update->known.rows[i].first_seen > 0 &&
            update->known.rows[i].last_seen < update->now - LAST_SEEN_STEP)
            return true;
    return false;
}

static enum status write(struct update *update)
{
    struct db *db = update->request->files->db;
    struct arena *arena = update->request->arena;
    enum status status = STATUS_OK;

    if (update->gone_count > 0)
        status = db_files_forget(db, update->hostid, update->gone, update->gone_count);
    if (status == STATUS_OK && update->save_count > 0)
        status = db_files_save(db, arena, update->saves, update->save_count);
    if (status == STATUS_OK && is_seen_anew(update))
        status = db_files_seen(db, update->hostid, update->now);
    if (status == STATUS_OK && is_seen_anew(update))
        status = db_file_orders_clean_host(db, update->hostid, update->now);
    if (status == STATUS_OK && update->added_count > 0)
        status = db_file_orders_add(db, arena, update->added, update->added_count);
    if (status == STATUS_OK && update->changed_count > 0)
        status = db_file_orders_save(db, arena, update->changed, update->changed_count);
    return status;
}

void files_update(struct request *request)
{
    struct update update = {
        .request = request, .hostid = request->visit.host.id, .now = (int64_t)request->now};
    struct answer *answer = &request->visit.answer;
    struct text_items deletions = answer->delete_files, messages = answer->host_messages;
    struct arena_mark mark = arena_mark(request->arena);
    enum status status;

    if (request->files == NULL || answer->kind != ANSWER_FULL || update.hostid <= 0)
        return;
    status = read_rows(request, &update.known);
    if (status == STATUS_OK)
        status = update_compare_files(&update) && update_give_orders(&update) ? write(&update)
                                                                              : STATUS_NO_MEMORY;
    (void)finish(request, status);
    if (arena_overflowed(request->arena)) { /* the reply needs it more */
        arena_rewind(request->arena, mark);
        answer->delete_files = deletions;
        answer->host_messages = messages;
    }
}
