/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/figures.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/log.h"
#include "server/process/project_count.h"
#include "server/process/project_keeper.h"
#include "server/process/server.h"
#include "server/process/status_keeper.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { TURN_MS = 60000 };

struct figures_thread {
    struct server *server;
    pthread_t thread;
    int wake; /* eventfd */
    atomic_bool stopping;
    bool failed; /* the last turn, and it was logged */
};

static enum status save(struct server *server, struct db *db)
{
    enum status status = status_keeper_save(server_status(server), db);

    return status == STATUS_OK ? db_commit(db) : status;
}

/* Counts the project's jobs if it is our turn, and reads what whoever did has left. */
static enum status read_project(struct server *server, const struct snapshot *snapshot,
                                struct db *db)
{
    struct project_keeper *keeper = server_project_keeper(server);
    double pause = project_keeper_count_seconds(keeper) * PROJECT_COUNT_PAUSE;
    int64_t now = (int64_t)time(NULL),
            interval = pause > PROJECT_COUNT_S ? (int64_t)pause : PROJECT_COUNT_S;
    enum status status = STATUS_OK;
    bool done = false;

    if (snapshot->catalog != NULL)
        status = duty_project_figures(db, snapshot->catalog, now, interval, &done);
    if (status == STATUS_OK)
        status = project_keeper_read(keeper, db, now);
    if (status == STATUS_OK && done)
        log_line(LOG_LEVEL_DEBUG, "event=project_counted seconds=%.3f",
                 project_keeper_count_seconds(keeper));
    return status;
}

/* Where something cannot be had, pages show what was read before. `is_last`: the process ends, and
 * nobody reads any more. */
static void turn(struct figures_thread *thread, bool is_last)
{
    struct server *server = thread->server;
    struct failure failure = {0};
    struct snapshot snapshot;
    struct db *db = NULL;
    enum status status;

    server_snapshot(server, &snapshot);
    status_keeper_look_at_uploads(server_status(server), snapshot.config->upload_dir);
    status = db_open(snapshot.config, &db, &failure);
    if (status == STATUS_OK) {
        status = save(server, db);
        if (status == STATUS_OK && !is_last)
            status = status_keeper_load(server_status(server), db);
        if (status == STATUS_OK && !is_last)
            status = read_project(server, &snapshot, db);
        (void)db_failed(db, status, "qm_figures", &failure);
        db_close(db);
    }
    if (status != STATUS_OK && !thread->failed)
        log_event(LOG_LEVEL_WARNING, "figures_not_kept", text_from(failure.text));
    thread->failed = status != STATUS_OK;
    snapshot_release(&snapshot);
}

static void *run(void *context)
{
    struct figures_thread *thread = context;
    struct pollfd wait = {.fd = thread->wake, .events = POLLIN};

    while (!atomic_load(&thread->stopping)) {
        uint64_t count;

        turn(thread, false);
        if (poll(&wait, 1, TURN_MS) > 0 && read(thread->wake, &count, sizeof(count)) < 0)
            continue;
    }
    turn(thread, true);
    return NULL;
}

void figures_wake(struct figures_thread *thread)
{
    uint64_t one = 1;
    ssize_t written = write(thread->wake, &one, sizeof(one));

    (void)written; /* it can only fail when it is readable already */
}

enum status figures_start(struct server *server, struct figures_thread **ret_thread,
                          struct failure *failure)
{
    struct figures_thread *thread = calloc(1, sizeof(*thread));

    if (thread == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    thread->server = server;
    thread->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (thread->wake < 0 || pthread_create(&thread->thread, NULL, run, thread) != 0) {
        if (thread->wake >= 0)
            close(thread->wake);
        free(thread);
        return fail(failure, STATUS_IO, "no thread for figures: %s", strerror(errno));
    }
    *ret_thread = thread;
    return STATUS_OK;
}

void figures_stop(struct figures_thread *thread)
{
    if (thread == NULL)
        return;
    atomic_store(&thread->stopping, true);
    figures_wake(thread);
    pthread_join(thread->thread, NULL);
    close(thread->wake);
    free(thread);
}
