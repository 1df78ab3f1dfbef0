/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/figures.h"

#include "config/config.h"
#include "db/db.h"
#include "db/figure_rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/log.h"
#include "server/process/health.h"
#include "server/process/project_count.h"
#include "server/process/project_keeper.h"
#include "server/process/project_look.h"
#include "server/process/server.h"
#include "server/process/status_gather.h"
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

enum { TURN_MS = 60000, TROUBLE_MS = 5000, LOOK_S = 3600 };
#define CHECKS_BYTES_MAX ((size_t)1024 * 1024)

struct figures_thread {
    struct server *server;
    pthread_t thread;
    int wake; /* eventfd */
    atomic_bool stopping, look_is_wanted;
    bool failed;          /* the last turn, and it was logged */
    int64_t checks_at;    /* when somebody looked at the database last; 0: not known */
    uint64_t look_logged; /* by project_look */
};

static enum status save(struct server *server, struct db *db)
{
    enum status status = status_keeper_save(server_status(server), db);

    return status == STATUS_OK ? db_commit(db) : status;
}

/* Counts the project's jobs if it is our turn, and reads what whoever did has left. */
static enum status read_project(struct server *server, const struct snapshot *snapshot,
                                struct db *db, bool *ret_is_ours)
{
    struct project_keeper *keeper = server_project_keeper(server);
    double pause = project_keeper_count_seconds(keeper) * PROJECT_COUNT_PAUSE;
    int64_t now = (int64_t)time(NULL),
            interval = pause > PROJECT_COUNT_S ? (int64_t)pause : PROJECT_COUNT_S;
    enum status status = STATUS_OK;
    bool done = false;

    *ret_is_ours = false;
    if (snapshot->catalog != NULL)
        status =
            duty_project_figures(db, snapshot->config, snapshot->catalog, now, interval, &done);
    if (status == STATUS_OK)
        status = project_keeper_read(keeper, db, now);
    if (status == STATUS_OK && done)
        log_line(LOG_LEVEL_DEBUG, "event=project_counted seconds=%.3f",
                 project_keeper_count_seconds(keeper));
    *ret_is_ours = done;
    return status;
}

/* --- what is wrong with the project ----------------------------------------------------------- */

/* The row of this kind; at 0: there is none. */
static enum status read_row(struct db *db, enum figure_kind kind, struct check_counts *ret_counts,
                            int64_t *ret_at)
{
    struct arena *arena = arena_create(CHECKS_BYTES_MAX);
    struct figures_row *rows = NULL;
    size_t count = 0;
    enum status status =
        arena == NULL ? STATUS_NO_MEMORY : db_figures_read(db, arena, kind, 0, &rows, &count);

    if (status == STATUS_OK)
        check_counts_read(count > 0 ? rows[0].figures : NO_TEXT, ret_counts, ret_at);
    arena_destroy(arena);
    return status;
}

/* What other processes and qmctl have left. */
static enum status read_checks(struct figures_thread *thread, struct db *db)
{
    struct health *health = server_health(thread->server);
    struct check_counts counts;
    int64_t web_at;
    enum status status = read_row(db, FIGURES_CHECKS, &counts, &thread->checks_at);

    if (status == STATUS_OK) {
        health_note_checks(health, &counts, thread->checks_at);
        status = read_row(db, FIGURES_WEB, &counts, &web_at);
    }
    if (status == STATUS_OK)
        health_note_web(health, &counts, web_at);
    return status;
}

static enum status write_checks(const struct config *config, const struct check_counts *counts,
                                int64_t now)
{
    struct buffer words = buffer_on_heap(CHECKS_BYTES_MAX);
    struct failure failure = {0};
    struct db *db = NULL;
    enum status status = db_open(config, &db, &failure);

    check_counts_write(counts, now, &words);
    if (status == STATUS_OK)
        status = db_figures_write(db, FIGURES_CHECKS, 0, 0, buffer_text(&words));
    if (status == STATUS_OK)
        status = db_commit(db);
    db_close(db);
    buffer_free(&words);
    return status;
}

/* By connections of its own, which it opens one after the other. Where the database goes meanwhile,
 * what was found is shown by this server alone. */
static void look_at_project(struct figures_thread *thread, const struct config *config)
{
    int64_t now = (int64_t)time(NULL);
    struct check_counts found;

    project_look(config, CHECK_DATABASE, &thread->look_logged, &found);
    thread->checks_at = now;
    health_note_checks(server_health(thread->server), &found, now);
    if (write_checks(config, &found, now) != STATUS_OK)
        log_line(LOG_LEVEL_WARNING, "event=checks_not_kept");
}

/* Whoever counts the project's jobs looks, too, if nobody has within an hour. */
static bool look_is_due(struct figures_thread *thread, bool is_ours)
{
    int64_t now = (int64_t)time(NULL);

    return atomic_exchange(&thread->look_is_wanted, false) ||
           (is_ours && (thread->checks_at <= now - LOOK_S || thread->checks_at > now));
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Where something cannot be had, pages show what was read before. `is_last`: the process ends, and
 * nobody reads any more. */
static void turn(struct figures_thread *thread, bool is_last)
{
    struct server *server = thread->server;
    struct failure failure = {0};
    struct snapshot snapshot;
    struct db *db = NULL;
    bool is_ours = false;
    enum status status;

    server_snapshot(server, &snapshot);
    status_keeper_look_at_uploads(server_status(server), snapshot.config->upload_dir);
    status = db_open(snapshot.config, &db, &failure);
    if (status == STATUS_OK) {
        status = save(server, db);
        if (status == STATUS_OK && !is_last)
            status = status_keeper_load(server_status(server), db);
        if (status == STATUS_OK && !is_last)
            status = read_project(server, &snapshot, db, &is_ours);
        if (status == STATUS_OK && !is_last)
            status = read_checks(thread, db);
        (void)db_failed(db, status, "qm_figures", &failure);
        db_close(db);
    }
    if (status != STATUS_OK && !thread->failed)
        log_event(LOG_LEVEL_WARNING, "figures_not_kept", text_from(failure.text));
    thread->failed = status != STATUS_OK;
    if (status == STATUS_OK && !is_last && look_is_due(thread, is_ours))
        look_at_project(thread, snapshot.config);
    snapshot_release(&snapshot);
}

static void *run(void *context)
{
    struct figures_thread *thread = context;
    struct pollfd wait = {.fd = thread->wake, .events = POLLIN};

    while (!atomic_load(&thread->stopping)) {
        uint64_t count;

        turn(thread, false);
        if (poll(&wait, 1, thread->failed ? TROUBLE_MS : TURN_MS) > 0 &&
            read(thread->wake, &count, sizeof(count)) < 0)
            continue;
    }
    status_gather_turn(thread->server); /* what was answered in the last second */
    turn(thread, true);
    return NULL;
}

static void wake(struct figures_thread *thread)
{
    uint64_t one = 1;
    ssize_t written = write(thread->wake, &one, sizeof(one));

    (void)written; /* it can only fail when it is readable already */
}

void figures_reload(struct figures_thread *thread)
{
    atomic_store(&thread->look_is_wanted, true);
    wake(thread);
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
    wake(thread);
    pthread_join(thread->thread, NULL);
    close(thread->wake);
    free(thread);
}
