/* SPDX-License-Identifier: Apache-2.0 */
/* Twice a second a few stat(2) calls; what they show is acted on in this thread, and the result
 * swapped in as a whole, so that a request sees the old state or the new.
 *
 * A file is read when it has changed and then looked the same twice, since an editor may still be
 * writing. A configuration with errors is logged and the old one stays; what was read is not read
 * again until it changes. reread_db counts once for each process, and stays for two seconds, so
 * that all processes of a folder see it. */
#include "server/process/watch.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/fates/fates.h"
#include "server/process/duties.h"
#include "server/process/fates_keeper.h"
#include "server/process/health.h"
#include "server/process/project_keeper.h"
#include "server/process/project_look.h"
#include "server/process/server.h"
#include "server/process/status_gather.h"
#include "server/process/status_keeper.h"
#include "server/project/buda_files.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/recording/recording.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { TICK_MS = 500, WHY_BYTES_MAX = 1000 };
#define WAIT_NOTED 0.05 /* s */

/* Until the catalog was read once, and after a failure, in ns. */
static const uint64_t catalog_retry_ns = UINT64_C(1000000000);

/* How long reread_db stays, in ns: several looks of every process. */
static const uint64_t reread_stays_ns = UINT64_C(2000000000);

/* What stat says of a file; all zero when there is none. */
struct stamp {
    struct timespec modified;
    off_t size;
    ino_t inode;
};

/* How often the database is examined, when it can be worked with and when it cannot; and how often
 * the project's folder is checked. In ns. */
static const uint64_t examine_ns = UINT64_C(10000000000), trouble_ns = UINT64_C(2000000000);
static const uint64_t folder_ns = UINT64_C(60000000000), backlog_ns = UINT64_C(60000000000);

static const uint64_t fading_ns = UINT64_C(600000000000); /* whether it is our turn */
static const uint64_t fates_ns = UINT64_C(10000000000), fates_read_ns = UINT64_C(60000000000);

enum watched {
    WATCHED_CONFIG,
    WATCHED_AUX,
    WATCHED_KEY, /* from here on: what project_load reads */
    WATCHED_KEY_DIR,
    WATCHED_GUI_URLS,
    WATCHED_PROJECT_FILES,
    WATCHED_PLAN_CLASSES,
    WATCHED_TERMS,
    WATCHED_BUDA,
    WATCHED_COUNT
};
static const char *const watched_names[WATCHED_COUNT] = {
    [WATCHED_CONFIG] = "config.xml",
    [WATCHED_AUX] = "config_aux.xml",
    [WATCHED_KEY] = "code_sign_public",
    [WATCHED_KEY_DIR] = "the folder of keys",
    [WATCHED_GUI_URLS] = "gui_urls.xml",
    [WATCHED_PROJECT_FILES] = "project_files.xml",
    [WATCHED_PLAN_CLASSES] = "plan_class_spec.xml",
    [WATCHED_TERMS] = "terms_of_use.txt",
    [WATCHED_BUDA] = "buda_apps",
};
#define WATCHED_PROJECT_FIRST WATCHED_KEY

struct watcher {
    struct server *server;
    pthread_t thread;
    int wake; /* eventfd */
    atomic_bool stopping, reload;

    struct stamp seen[WATCHED_COUNT];   /* half a second ago */
    struct stamp loaded[WATCHED_COUNT]; /* when it was read */
    size_t buda_ticks;                  /* until buda_apps is looked at again */
    struct stamp reread;                /* the reread_db that was acted on */
    uint64_t reread_until_ns;           /* when it is removed; 0: it cannot be */

    struct db *db;
    struct config *db_config; /* that db was opened with */
    uint64_t catalog_due_ns, duties_due_ns, fading_due_ns, fates_due_ns, fates_read_due_ns;
    struct fading fading;
    bool catalog_failed; /* and was logged */

    struct config *begun; /* what the process began with */
    uint64_t examine_due_ns, folder_due_ns, backlog_due_ns;
    enum db_trouble trouble; /* that was logged */
    bool clocks_are_apart;   /* likewise */
    uint64_t folder_logged;  /* by project_look */
};

static void stamp_file(const char *path, struct stamp *ret_stamp)
{
    struct stat info;

    memset(ret_stamp, 0, sizeof(*ret_stamp));
    if (stat(path, &info) == 0)
        *ret_stamp =
            (struct stamp){.modified = info.st_mtim, .size = info.st_size, .inode = info.st_ino};
}

static bool stamp_equal(const struct stamp *a, const struct stamp *b)
{
    return a->modified.tv_sec == b->modified.tv_sec && a->modified.tv_nsec == b->modified.tv_nsec &&
           a->size == b->size && a->inode == b->inode;
}

static void stamp_in_project(const struct config *config, const char *name, struct stamp *ret_stamp)
{
    char path[PATH_MAX];

    project_path(config, name, path, sizeof(path));
    stamp_file(path, ret_stamp);
}

static void stamp_all(const struct config *config, struct stamp ret_stamps[WATCHED_COUNT])
{
    char path[PATH_MAX];

    stamp_in_project(config, "config.xml", &ret_stamps[WATCHED_CONFIG]);
    stamp_in_project(config, "config_aux.xml", &ret_stamps[WATCHED_AUX]);
    stamp_in_project(config, "gui_urls.xml", &ret_stamps[WATCHED_GUI_URLS]);
    stamp_in_project(config, "project_files.xml", &ret_stamps[WATCHED_PROJECT_FILES]);
    stamp_in_project(config, "plan_class_spec.xml", &ret_stamps[WATCHED_PLAN_CLASSES]);
    stamp_in_project(config, "terms_of_use.txt", &ret_stamps[WATCHED_TERMS]);
    project_key_path(config, "code_sign_public", path, sizeof(path));
    stamp_file(path, &ret_stamps[WATCHED_KEY]);
    project_key_path(config, "", path, sizeof(path));
    stamp_file(path, &ret_stamps[WATCHED_KEY_DIR]);
}

enum { BUDA_FILES_A_TICK = 256 };

/* Many files are looked at less often, so that a tick takes as long as with few. */
static void stamp_buda(struct watcher *watcher, const struct config *config, struct stamp *stamp)
{
    char path[PATH_MAX];
    size_t count;

    *stamp = watcher->seen[WATCHED_BUDA];
    if (watcher->buda_ticks > 0) {
        watcher->buda_ticks--;
        return;
    }
    project_path(config, "buda_apps", path, sizeof(path));
    stamp->inode = (ino_t)buda_files_stamp(path, &count);
    watcher->buda_ticks = count / BUDA_FILES_A_TICK;
}

/* The errors, or what else went wrong. */
static void note_refusal(struct watcher *watcher, struct arena *arena,
                         const struct config_findings *findings, const struct failure *failure)
{
    struct buffer words = buffer_in(arena);

    for (size_t i = 0; i < findings->count; i++) {
        const struct config_finding *finding = &findings->items[i];

        if (finding->is_error)
            buffer_print(&words, "%s" TEXT_FORMAT ":%d: " TEXT_FORMAT, words.length > 0 ? "\n" : "",
                         TEXT_ARG(finding->file), finding->line, TEXT_ARG(finding->text));
    }
    status_keeper_note(server_status(watcher->server), "config.xml", true,
                       words.length > 0 ? buffer_text(&words) : text_from(failure->text));
}

static void reload_config(struct watcher *watcher, const struct config *old)
{
    struct arena *arena = arena_create(FINDINGS_BYTES_MAX);
    struct config_findings findings = {0};
    struct failure failure = {0};
    struct config *config = NULL;
    const char *dir;

    if (arena == NULL)
        return;
    dir = text_string(arena, old->project_dir_path);
    if (config_load(dir, arena, &config, &findings, &failure) == STATUS_OK) {
        struct buffer words = buffer_in(arena);

        /* Of a folder that is gone the jobs are still known, and refused. */
        config->has_buda_apps = config->has_buda_apps || old->has_buda_apps;
        log_findings(&findings);
        log_line(LOG_LEVEL_NORMAL, "event=config_loaded changes=%zu",
                 config_log_changes(old, config, &words));
        status_keeper_note(server_status(watcher->server), "config.xml", false,
                           words.length > 0 ? buffer_text(&words) : TEXT("no option changed"));
        health_note_config(server_health(watcher->server),
                           config_restarts_wanted(watcher->begun, config, PROGRAM_SERVER));
        counter_add(COUNTER_config_reloads, 1);
        server_replace_config(watcher->server, config);
    } else {
        log_findings(&findings);
        counter_add(COUNTER_config_refusals, 1);
        health_note_refusal(server_health(watcher->server));
        note_refusal(watcher, arena, &findings, &failure);
        log_event(LOG_LEVEL_CRITICAL, "config_refused", text_from(failure.text));
    }
    arena_destroy(arena);
}

/* `why`: for the status page. */
static void reload_project(struct watcher *watcher, const struct config *config, struct text why)
{
    struct status_keeper *status = server_status(watcher->server);
    struct failure failure = {0};
    struct project *project = NULL;

    if (project_load(config, &project, &failure) != STATUS_OK) {
        log_event(LOG_LEVEL_CRITICAL, "keys_refused", text_from(failure.text));
        status_keeper_note(status, "keys and project files", true, text_from(failure.text));
        return;
    }
    if (project->plan_failure.status != STATUS_OK) { /* logged already; the old ones stay */
        status_keeper_note(status, "plan_class_spec.xml", true,
                           text_from(project->plan_failure.text));
        project_release(project);
        return;
    }
    log_line(LOG_LEVEL_NORMAL, "event=keys_loaded old_keys=%zu plan_classes=%zu",
             project->keys.old_key_count, project->plan_classes.count);
    status_keeper_note(status, "keys and project files", false, why);
    server_replace_project(watcher->server, project);
}

/* Whether this file differs from the one that was read, and is no longer being written. */
static bool is_new(struct watcher *watcher, const struct stamp *stamps, enum watched which)
{
    return !stamp_equal(&stamps[which], &watcher->loaded[which]) &&
           stamp_equal(&stamps[which], &watcher->seen[which]);
}

/* The watched files from `first` on, before `end`: whether one is new, and which in `ret_why`. They
 * count as read then. */
static bool take_changes(struct watcher *watcher, const struct stamp *stamps, int first, int end,
                         bool reload, struct buffer *ret_why)
{
    bool is_changed = reload;

    if (reload)
        buffer_add_string(ret_why, "asked for by SIGHUP");
    for (int which = first; which < end; which++) {
        if (!is_new(watcher, stamps, (enum watched)which))
            continue;
        is_changed = true;
        buffer_print(ret_why, "%s%s changed", ret_why->length > 0 ? ", " : "",
                     watched_names[which]);
    }
    for (int which = first; is_changed && which < end; which++)
        watcher->loaded[which] = stamps[which];
    return is_changed;
}

static void check_files(struct watcher *watcher, const struct config *config, bool reload)
{
    struct buffer unused = buffer_on_heap(WHY_BYTES_MAX), why = buffer_on_heap(WHY_BYTES_MAX);
    struct stamp stamps[WATCHED_COUNT];
    bool config_is_new, project_is_new;

    stamp_all(config, stamps);
    stamp_buda(watcher, config, &stamps[WATCHED_BUDA]);
    config_is_new = take_changes(watcher, stamps, 0, WATCHED_PROJECT_FIRST, reload, &unused);
    project_is_new =
        take_changes(watcher, stamps, WATCHED_PROJECT_FIRST, WATCHED_COUNT, reload, &why);
    memcpy(watcher->seen, stamps, sizeof(stamps));
    /* The first science app: connections that read which job is whose are opened by a config. */
    config_is_new = config_is_new ||
                    (project_is_new && !config->has_buda_apps && stamps[WATCHED_BUDA].inode != 0);
    if (config_is_new)
        reload_config(watcher, config);
    if (project_is_new)
        reload_project(watcher, config, buffer_text(&why));
    if (config_is_new || project_is_new)
        watcher->examine_due_ns = watcher->folder_due_ns = 0;
    buffer_free(&why);
    buffer_free(&unused);
}

static void check_reread(struct watcher *watcher, const struct config *config)
{
    struct stamp reread;
    char path[PATH_MAX];

    project_path(config, "reread_db", path, sizeof(path));
    stamp_file(path, &reread);
    if (reread.inode == 0)
        return;
    if (!stamp_equal(&reread, &watcher->reread)) {
        log_line(LOG_LEVEL_NORMAL, "event=reread_db");
        watcher->reread = reread;
        watcher->reread_until_ns = clock_ns() + reread_stays_ns;
        watcher->catalog_due_ns = 0;
        /* size_census_APP may be new as well */
        reload_project(watcher, config,
                       TEXT("asked for by reread_db, with applications and versions"));
    } else if (watcher->reread_until_ns != 0 && clock_ns() >= watcher->reread_until_ns) {
        watcher->reread_until_ns = 0;
        if (unlink(path) != 0 && errno != ENOENT) /* another process may be faster */
            log_event(LOG_LEVEL_WARNING, "reread_db_not_removed", text_from(strerror(errno)));
    }
}

static void check_triggers(struct watcher *watcher, const struct config *config)
{
    server_look_for_stops(watcher->server);
    server_look_for_servers(watcher->server);
    check_reread(watcher, config);
}

static void close_database(struct watcher *watcher)
{
    db_close(watcher->db);
    watcher->db = NULL;
    config_release(watcher->db_config);
    watcher->db_config = NULL;
}

static enum status load_catalog(struct watcher *watcher, struct config *config,
                                struct failure *failure)
{
    struct catalog *catalog = NULL;
    enum status status;

    if (watcher->db != NULL && watcher->db_config != config)
        close_database(watcher);
    if (watcher->db == NULL) {
        status = db_open(config, &watcher->db, failure);
        if (status != STATUS_OK) {
            watcher->db = NULL;
            return status;
        }
        watcher->db_config = config_hold(config);
    }
    status = catalog_load(watcher->db, &catalog);
    if (status == STATUS_OK && config->learn_availability)
        status = catalog_load_crowd(watcher->db, CROWD_MOST, catalog);
    if (status != STATUS_OK) {
        catalog_release(catalog);
        fail(failure, status, "catalog: %s", db_error(watcher->db));
        close_database(watcher);
        return status;
    }
    db_rollback(watcher->db);
    server_replace_catalog(watcher->server, catalog);
    return STATUS_OK;
}

static void refresh_catalog(struct watcher *watcher, struct config *config)
{
    struct failure failure = {0};

    if (clock_ns() < watcher->catalog_due_ns)
        return;
    if (load_catalog(watcher, config, &failure) != STATUS_OK) {
        if (!watcher->catalog_failed) {
            log_event(LOG_LEVEL_WARNING, "catalog_not_read", text_from(failure.text));
            status_keeper_note(server_status(watcher->server), "applications and versions", true,
                               text_from(failure.text));
        }
        watcher->catalog_failed = true;
        watcher->catalog_due_ns = clock_ns() + catalog_retry_ns;
        return;
    }
    if (watcher->catalog_failed) {
        log_line(LOG_LEVEL_WARNING, "event=catalog_read_again");
        status_keeper_note(server_status(watcher->server), "applications and versions", false,
                           TEXT("read again after a failure"));
    }
    watcher->catalog_failed = false;
    watcher->catalog_due_ns = clock_ns() + (uint64_t)(config->catalog_refresh * 1e9);
}

/* A duty that failed is tried again at the next interval; others may do it before. */
static void do_duties(struct watcher *watcher, const struct snapshot *snapshot)
{
    int64_t interval = snapshot->config->credit_scale_interval;
    bool done = false;

    if (interval == 0 || watcher->db == NULL || snapshot->catalog == NULL ||
        clock_ns() < watcher->duties_due_ns)
        return;
    watcher->duties_due_ns = clock_ns() + (uint64_t)interval * UINT64_C(1000000000);
    if (duty_credit_scales(watcher->db, snapshot->catalog, interval, &done) != STATUS_OK) {
        log_event(LOG_LEVEL_WARNING, "credit_scales_not_written", text_from(db_error(watcher->db)));
        close_database(watcher); /* the next reading of the catalog opens another connection */
    } else if (done) {
        log_line(LOG_LEVEL_DEBUG, "event=credit_scales_written");
    }
}

/* While a round is under way a step of it is done in each tick. */
static void fade_credit(struct watcher *watcher)
{
    bool ended = false;

    if (watcher->db == NULL ||
        (!watcher->fading.is_under_way && clock_ns() < watcher->fading_due_ns))
        return;
    watcher->fading_due_ns = clock_ns() + fading_ns;
    if (duty_fading_credit(watcher->db, &watcher->fading, (int64_t)time(NULL), &ended) !=
        STATUS_OK) {
        log_event(LOG_LEVEL_WARNING, "credit_not_faded", text_from(db_error(watcher->db)));
        close_database(watcher);
    } else if (ended) {
        log_line(LOG_LEVEL_DEBUG, "event=credit_faded rows=%zu", watcher->fading.looked_at);
    }
}

/* What waits for other programs of the project; figures that cannot be had are not shown. */
static void read_backlog(struct watcher *watcher)
{
    int64_t now = (int64_t)time(NULL);
    struct backlog backlog;

    if (watcher->db == NULL || clock_ns() < watcher->backlog_due_ns)
        return;
    watcher->backlog_due_ns = clock_ns() + backlog_ns;
    if (db_backlog(watcher->db, now, BACKLOG_COUNTED_MOST, &backlog) != STATUS_OK) {
        log_event(LOG_LEVEL_WARNING, "backlog_not_read", text_from(db_error(watcher->db)));
        health_note_backlog(server_health(watcher->server), NULL, now);
        close_database(watcher);
        return;
    }
    (void)db_rollback(watcher->db);
    health_note_backlog(server_health(watcher->server), &backlog, now);
}

/* What becomes of results is written every few seconds, and when the server ends. */
static void flush_fates(struct watcher *watcher)
{
    if (watcher->db == NULL || clock_ns() < watcher->fates_due_ns)
        return;
    watcher->fates_due_ns = clock_ns() + fates_ns;
    if (fates_flush(server_fates(watcher->server), watcher->db) != STATUS_OK) {
        log_event(LOG_LEVEL_WARNING, "fates_not_written", text_from(db_error(watcher->db)));
        close_database(watcher);
    }
}

/* What becomes of results by all processes; where it cannot be had, what was read before is shown.
 * The catalog may have been read a moment ago. */
static void read_fates(struct watcher *watcher)
{
    struct snapshot snapshot;
    enum status status = STATUS_OK;

    if (watcher->db == NULL || clock_ns() < watcher->fates_read_due_ns)
        return;
    server_snapshot(watcher->server, &snapshot);
    if (snapshot.catalog != NULL) {
        watcher->fates_read_due_ns = clock_ns() + fates_read_ns;
        status = fates_keeper_read(server_fates_keeper(watcher->server), watcher->db,
                                   snapshot.catalog, (int64_t)time(NULL));
    }
    snapshot_release(&snapshot);
    if (status == STATUS_OK) {
        (void)db_rollback(watcher->db);
        return;
    }
    log_event(LOG_LEVEL_WARNING, "fates_not_read", text_from(db_error(watcher->db)));
    close_database(watcher);
}

/* --- what the server says of itself ------------------------------------------------------------
 */

static void note_clock(struct watcher *watcher, int64_t ahead)
{
    bool are_apart = db_clocks_are_apart(ahead);
    char words[128];

    db_clock_words(ahead, words, sizeof(words));
    if (are_apart != watcher->clocks_are_apart)
        log_line_with(LOG_LEVEL_WARNING, "why", text_from(words), "event=clocks state=%s",
                      are_apart ? "apart" : "together");
    watcher->clocks_are_apart = are_apart;
    health_note_clock(server_health(watcher->server), ahead);
}

static void examine_database(struct watcher *watcher, const struct config *config)
{
    struct failure failure = {0};
    enum db_trouble trouble;
    int64_t ahead;

    if (clock_ns() < watcher->examine_due_ns)
        return;
    trouble = db_examine(config, &ahead, &failure);
    if (trouble != DB_TROUBLE_NONE && trouble != watcher->trouble)
        log_line_with(LOG_LEVEL_CRITICAL, "why", text_from(failure.text),
                      "event=database_trouble state=%s", db_trouble_words[trouble].word);
    else if (trouble != watcher->trouble)
        log_line(LOG_LEVEL_WARNING, "event=database_trouble state=%s",
                 db_trouble_words[trouble].word);
    watcher->trouble = trouble;
    if (trouble == DB_TROUBLE_NONE)
        note_clock(watcher, ahead);
    health_note_database(server_health(watcher->server), trouble, (int64_t)time(NULL));
    watcher->examine_due_ns = clock_ns() + (trouble == DB_TROUBLE_NONE ? examine_ns : trouble_ns);
}

static void check_folder(struct watcher *watcher, const struct config *config)
{
    struct check_counts found;

    if (clock_ns() < watcher->folder_due_ns)
        return;
    watcher->folder_due_ns = clock_ns() + folder_ns;
    project_keeper_look_at_disks(server_project_keeper(watcher->server), config);
    project_look(config, CHECK_NO_DATABASE, &watcher->folder_logged, &found);
    health_note_folder(server_health(watcher->server), &found);
}

/* Passes of other programs then leave it the processors and the database. */
static void say_that_hosts_wait(struct watcher *watcher)
{
    int64_t server_id;

    if (watcher->db == NULL || !server_hosts_wait(watcher->server, WAIT_NOTED, &server_id))
        return;
    if (db_server_hosts_wait(watcher->db, server_id) != STATUS_OK ||
        db_commit(watcher->db) != STATUS_OK) {
        log_event(LOG_LEVEL_WARNING, "waiting_not_said", text_from(db_error(watcher->db)));
        close_database(watcher);
    }
}

static void check_all(struct watcher *watcher)
{
    bool reload = atomic_exchange(&watcher->reload, false);
    struct snapshot snapshot;

    server_snapshot(watcher->server, &snapshot);
    check_files(watcher, snapshot.config, reload);
    snapshot_release(&snapshot);
    server_snapshot(watcher->server, &snapshot); /* maybe a new configuration */
    recording_turn(server_recording(watcher->server), snapshot.config, (int64_t)time(NULL));
    check_triggers(watcher, snapshot.config);
    if (reload)
        watcher->catalog_due_ns = watcher->fates_read_due_ns = watcher->backlog_due_ns = 0;
    refresh_catalog(watcher, snapshot.config);
    do_duties(watcher, &snapshot);
    fade_credit(watcher);
    say_that_hosts_wait(watcher);
    read_backlog(watcher);
    flush_fates(watcher);
    read_fates(watcher);
    examine_database(watcher, snapshot.config);
    check_folder(watcher, snapshot.config);
    health_note_counters(server_health(watcher->server), (int64_t)time(NULL));
    status_gather_turn(watcher->server);
    snapshot_release(&snapshot);
}

static void *watch(void *context)
{
    struct watcher *watcher = context;
    struct pollfd wait = {.fd = watcher->wake, .events = POLLIN};

    while (!atomic_load(&watcher->stopping)) {
        uint64_t count;

        if (poll(&wait, 1, TICK_MS) > 0 && read(watcher->wake, &count, sizeof(count)) < 0)
            continue;
        if (!atomic_load(&watcher->stopping))
            check_all(watcher);
    }
    return NULL;
}

static void wake(struct watcher *watcher)
{
    uint64_t one = 1;
    ssize_t written = write(watcher->wake, &one, sizeof(one));

    (void)written; /* it can only fail when it is readable already */
}

static void watcher_free(struct watcher *watcher)
{
    close_database(watcher);
    config_release(watcher->begun);
    close(watcher->wake);
    free(watcher);
}

enum status watcher_start(struct server *server, struct watcher **ret_watcher,
                          struct failure *failure)
{
    struct watcher *watcher = calloc(1, sizeof(*watcher));
    struct snapshot snapshot;

    if (watcher == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    watcher->server = server;
    watcher->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watcher->wake < 0) {
        free(watcher);
        return fail(failure, STATUS_IO, "eventfd: %s", strerror(errno));
    }
    server_snapshot(server, &snapshot);
    watcher->begun = config_hold(snapshot.config);
    stamp_all(snapshot.config, watcher->loaded);
    stamp_buda(watcher, snapshot.config, &watcher->loaded[WATCHED_BUDA]);
    memcpy(watcher->seen, watcher->loaded, sizeof(watcher->seen));
    snapshot_release(&snapshot);
    check_all(watcher);
    if (pthread_create(&watcher->thread, NULL, watch, watcher) != 0) {
        watcher_free(watcher);
        return fail(failure, STATUS_IO, "watcher: no thread");
    }
    *ret_watcher = watcher;
    return STATUS_OK;
}

void watcher_reload(struct watcher *watcher)
{
    atomic_store(&watcher->reload, true);
    wake(watcher);
}

void watcher_stop(struct watcher *watcher)
{
    if (watcher == NULL)
        return;
    atomic_store(&watcher->stopping, true);
    wake(watcher);
    pthread_join(watcher->thread, NULL);
    watcher->fates_due_ns = 0;
    flush_fates(watcher);
    watcher_free(watcher);
}
