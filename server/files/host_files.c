/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's link to the file database: opened, judged by how each transaction went, closed. */
#include "server/files/host_files.h"

#include "config/config.h"
#include "db/files.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/files/file_lists.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

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

struct db *files_connection(const struct files *files)
{
    return files->db;
}

bool files_end(struct request *request, enum status status)
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

enum status files_begin(struct request *request, struct host_files *ret_files)
{
    struct db *db = request->files->db;
    struct arena *arena = request->arena;
    int64_t hostid = request->attempt.host.id;
    enum status status;

    *ret_files = (struct host_files){0};
    status = db_files_of_host(db, arena, hostid, &ret_files->rows, &ret_files->row_count);
    if (status == STATUS_OK)
        status =
            db_file_orders_open(db, arena, hostid, &ret_files->orders, &ret_files->order_count);
    return status;
}

bool files_read(struct request *request, struct host_files *ret_files)
{
    *ret_files = (struct host_files){0};
    return request->files != NULL && files_end(request, files_begin(request, ret_files));
}
