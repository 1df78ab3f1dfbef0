/* SPDX-License-Identifier: Apache-2.0 */
/* One lock guards the day and the events. While a page is written from them it is held, for about a
 * millisecond: the watcher may wait for it, and no request does. */
#include "server/process/status_keeper.h"

#include "db/figure_rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/file.h"
#include "server/pool/fill.h"
#include "server/process/metrics.h"
#include "server/request/reason_counts.h"
#include "server/status/slot_words.h"
#include "server/status/status_page.h"
#include "server/upload/upload.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

enum { EVENTS = 16, WORDS_BYTES = 600, WHAT_BYTES = 40, PROCESSES_MOST = 1000, HOUR_S = 3600 };
#define UPLOAD_FIGURES_BYTES_MAX ((size_t)128 * 1024)
#define LOAD_BYTES_MAX           ((size_t)32 * 1024 * 1024)

/* A ring, and the rows by which it is the same everywhere. */
struct kept_ring {
    struct slot_ring *ring;
    enum figure_kind kind;
    int64_t slot_s;
    size_t slots;
    int64_t again_s; /* of which rows are read again each time: others may still write them */
    bool is_loaded;  /* as far back as it goes */
};
enum { HOUR, DAY, RINGS };

struct kept_event {
    int64_t at;
    bool is_refused;
    char what[WHAT_BYTES];
    char words[WORDS_BYTES];
    size_t length;
};

struct status_keeper {
    pthread_mutex_t lock;
    int64_t process;
    struct kept_ring rings[RINGS];
    struct arena *processes_arena; /* owns these; NULL: they are not known */
    struct status_process *processes;
    size_t process_count;
    struct status_uploads uploads;
    struct kept_event events[EVENTS]; /* a ring */
    size_t noted;                     /* events, so far */
};

static double time_of_day(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct status_keeper *status_keeper_create(int64_t process)
{
    struct status_keeper *keeper = calloc(1, sizeof(*keeper));

    if (keeper == NULL)
        return NULL;
    *keeper = (struct status_keeper){.process = process,
                                     .rings = {[HOUR] = {.kind = FIGURES_MINUTE,
                                                         .slot_s = HOUR_SLOT_S,
                                                         .slots = HOUR_SLOTS,
                                                         .again_s = 4 * HOUR_SLOT_S},
                                               [DAY] = {.kind = FIGURES_SLOT,
                                                        .slot_s = DAY_SLOT_S,
                                                        .slots = DAY_SLOTS,
                                                        .again_s = HOUR_S + DAY_SLOT_S}}};
    pthread_mutex_init(&keeper->lock, NULL);
    for (int i = 0; i < RINGS; i++) {
        struct kept_ring *kept = &keeper->rings[i];

        kept->ring = slot_ring_create(kept->slot_s, kept->slots, STATUS_TOTALS, time_of_day(),
                                      clock_seconds());
        if (kept->ring == NULL) {
            status_keeper_destroy(keeper);
            return NULL;
        }
    }
    return keeper;
}

void status_keeper_destroy(struct status_keeper *keeper)
{
    if (keeper == NULL)
        return;
    for (int i = 0; i < RINGS; i++)
        slot_ring_destroy(keeper->rings[i].ring);
    arena_destroy(keeper->processes_arena);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}

/* --- the past --------------------------------------------------------------------------------- */

/* As much of the words as there is room for, whole characters, and a sign where something is
 * missing. */
static size_t keep_words(char *kept, struct text words)
{
    static const char more[] = " ...";
    struct text rest = words;
    size_t length = 0;

    if (words.length <= WORDS_BYTES) {
        if (words.length > 0)
            memcpy(kept, words.at, words.length);
        return words.length;
    }
    for (;;) {
        size_t next = text_character(rest);

        next = next == 0 ? 1 : next;
        if (length + next > WORDS_BYTES - (sizeof(more) - 1))
            break;
        length += next;
        rest = (struct text){rest.at + next, rest.length - next};
    }
    memcpy(kept, words.at, length);
    memcpy(kept + length, more, sizeof(more) - 1);
    return length + sizeof(more) - 1;
}

void status_keeper_note(struct status_keeper *keeper, const char *what, bool is_refused,
                        struct text words)
{
    struct kept_event *event;

    pthread_mutex_lock(&keeper->lock);
    event = &keeper->events[keeper->noted++ % EVENTS];
    *event = (struct kept_event){.at = (int64_t)time(NULL), .is_refused = is_refused};
    memcpy(event->what, what, strnlen(what, WHAT_BYTES - 1));
    event->length = keep_words(event->words, words);
    pthread_mutex_unlock(&keeper->lock);
}

static void take_totals(uint64_t ret_totals[STATUS_TOTALS])
{
#define TAKE_COUNTER(name, words) ret_totals[STATUS_##name] = counter_value(COUNTER_##name);
    STATUS_TRAFFIC(TAKE_COUNTER)
    STATUS_DATABASE(TAKE_COUNTER)
#undef TAKE_COUNTER
    for (int i = 0; i < REASON_COUNT; i++)
        ret_totals[STATUS_REASONS + i] = reason_count((enum reason)i);
    metrics_take_totals(ret_totals);
}

void status_keeper_add(struct status_keeper *keeper, const double levels[SLOT_LEVELS])
{
    uint64_t totals[STATUS_TOTALS];

    take_totals(totals);
    pthread_mutex_lock(&keeper->lock);
    for (int i = 0; i < RINGS; i++)
        slot_ring_add(keeper->rings[i].ring, time_of_day(), clock_seconds(), totals, levels);
    pthread_mutex_unlock(&keeper->lock);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The slot that runs, and the one before, which may have gone on since it was written. */
static enum status save_ring(struct status_keeper *keeper, const struct kept_ring *kept,
                             struct db *db)
{
    enum status status = STATUS_OK;

    for (size_t age = 0; status == STATUS_OK && age < 2; age++) {
        struct buffer words = buffer_on_heap(FIGURES_BYTES_MOST);
        struct slot_share own;
        int64_t begin;

        pthread_mutex_lock(&keeper->lock);
        own = slot_ring_own(kept->ring, age);
        begin = slot_ring_slot(kept->ring, age).begin;
        if (own.seconds > 0)
            slot_words_write(&own, &words);
        pthread_mutex_unlock(&keeper->lock);
        if (words.overflowed)
            status = STATUS_NO_MEMORY;
        else if (words.length > 0)
            status = db_figures_write(db, kept->kind, begin, keeper->process, buffer_text(&words));
        buffer_free(&words);
    }
    return status;
}

enum status status_keeper_save(struct status_keeper *keeper, struct db *db)
{
    enum status status = STATUS_OK;

    for (int i = 0; status == STATUS_OK && i < RINGS; i++)
        status = save_ring(keeper, &keeper->rings[i], db);
    return status;
}

/* Rows come by their beginnings: what others have in a slot is in one piece. */
static void take_rows(struct status_keeper *keeper, struct kept_ring *kept,
                      const struct figures_row *rows, size_t count, struct slot_sum *sum)
{
    for (size_t i = 0, next; i < count; i = next) {
        slot_sum_begin(sum);
        for (next = i; next < count && rows[next].begin == rows[i].begin; next++)
            if (rows[next].process != keeper->process)
                slot_words_add(rows[next].figures, sum);
        struct slot_share others = {.seconds = sum->seconds, .counts = sum->counts};
        memcpy(others.levels, sum->levels, sizeof(others.levels));
        pthread_mutex_lock(&keeper->lock);
        slot_ring_set_others(kept->ring, rows[i].begin, &others);
        pthread_mutex_unlock(&keeper->lock);
    }
}

/* What a process has in rows of the last hour. */
static void sum_process(const struct figures_row *rows, size_t count, int64_t since,
                        int64_t process, struct slot_sum *sum, struct status_process *ret_process)
{
    slot_sum_begin(sum);
    for (size_t i = 0; i < count; i++)
        if (rows[i].process == process && rows[i].begin >= since)
            slot_words_add(rows[i].figures, sum);
    ret_process->requests = sum->counts[STATUS_requests];
    ret_process->jobs_sent = sum->counts[STATUS_jobs_sent];
    ret_process->reports = sum->counts[STATUS_reports_booked];
    ret_process->mean =
        sum->counts[STATUS_TIMED] == 0
            ? NAN
            : (double)sum->counts[STATUS_SERVED_NS] * 1e-9 / (double)sum->counts[STATUS_TIMED];
}

static enum status load_processes(struct status_keeper *keeper, struct db *db,
                                  const struct figures_row *rows, size_t count, int64_t now,
                                  struct slot_sum *sum)
{
    struct arena *arena = arena_create(LOAD_BYTES_MAX), *old = arena;
    struct server_known_row *servers = NULL;
    struct status_process *processes = NULL;
    size_t server_count = 0;
    enum status status = STATUS_NO_MEMORY;

    if (arena != NULL)
        status = db_servers_known(db, arena, PROCESSES_MOST, &servers, &server_count);
    if (status == STATUS_OK)
        processes = ARENA_ARRAY(arena, server_count, struct status_process);
    if (status == STATUS_OK && processes == NULL)
        status = STATUS_NO_MEMORY;
    for (size_t i = 0; status == STATUS_OK && i < server_count; i++) {
        processes[i] = (struct status_process){.name = servers[i].name,
                                               .is_this = servers[i].id == keeper->process,
                                               .is_silent = servers[i].heard_ago > SERVER_SILENT_S,
                                               .up_for = (double)servers[i].began_ago,
                                               .silent_for = (double)servers[i].heard_ago};
        sum_process(rows, count, now - HOUR_S, servers[i].id, sum, &processes[i]);
    }
    if (status == STATUS_OK) {
        pthread_mutex_lock(&keeper->lock);
        old = keeper->processes_arena;
        keeper->processes_arena = arena;
        keeper->processes = processes;
        keeper->process_count = server_count;
        pthread_mutex_unlock(&keeper->lock);
    }
    arena_destroy(old);
    return status;
}

enum status status_keeper_load(struct status_keeper *keeper, struct db *db)
{
    struct arena *arena = arena_create(LOAD_BYTES_MAX);
    struct slot_sum *sum = arena == NULL ? NULL : ARENA_NEW(arena, struct slot_sum);
    struct figures_row *rows = NULL;
    int64_t now = (int64_t)time(NULL);
    size_t count = 0;
    enum status status = sum == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    for (int i = 0; status == STATUS_OK && i < RINGS; i++) {
        struct kept_ring *kept = &keeper->rings[i];
        int64_t back = kept->is_loaded ? kept->again_s : kept->slot_s * (int64_t)kept->slots;

        status = db_figures_read(db, arena, kept->kind, now - back, &rows, &count);
        if (status == STATUS_OK)
            take_rows(keeper, kept, rows, count, sum);
        kept->is_loaded = kept->is_loaded || status == STATUS_OK;
    }
    if (status == STATUS_OK) /* the rows of the day, which reach an hour back at least */
        status = load_processes(keeper, db, rows, count, now, sum);
    arena_destroy(arena);
    return status;
}

/* --- uploads ---------------------------------------------------------------------------------- */

static int64_t number_of(struct text words, const char *name)
{
    return (int64_t)counter_of_words(words, name);
}

void status_keeper_look_at_uploads(struct status_keeper *keeper, struct text upload_dir)
{
    struct arena *arena = arena_create(UPLOAD_FIGURES_BYTES_MAX);
    struct status_uploads uploads = {.at = 0};
    struct failure failure;
    struct text words;

    if (arena != NULL && upload_dir.length > 0 &&
        file_read(arena,
                  text_string(arena, text_print(arena, TEXT_FORMAT "/" UPLOAD_FIGURES_FILE,
                                                TEXT_ARG(upload_dir))),
                  UPLOAD_FIGURES_BYTES_MAX / 2, &words, &failure) == STATUS_OK)
        uploads = (struct status_uploads){.at = number_of(words, "at"),
                                          .began = number_of(words, "began"),
                                          .is_stopped = number_of(words, "stopped") != 0,
                                          .done = counter_of_words(words, "uploads_done"),
                                          .bytes = counter_of_words(words, "uploads_bytes"),
                                          .later = counter_of_words(words, "uploads_later"),
                                          .refused = counter_of_words(words, "uploads_refused"),
                                          .cut = counter_of_words(words, "uploads_cut"),
                                          .yielded = counter_of_words(words, "uploads_yielded")};
    pthread_mutex_lock(&keeper->lock);
    keeper->uploads = uploads;
    pthread_mutex_unlock(&keeper->lock);
    arena_destroy(arena);
}

struct status_uploads status_keeper_uploads(struct status_keeper *keeper)
{
    struct status_uploads uploads;

    pthread_mutex_lock(&keeper->lock);
    uploads = keeper->uploads;
    pthread_mutex_unlock(&keeper->lock);
    return uploads;
}

/* --- the page --------------------------------------------------------------------------------- */

/* Under the lock. */
static void take_events(const struct status_keeper *keeper, struct status_event events[EVENTS],
                        struct status_figures *figures)
{
    size_t count = keeper->noted < EVENTS ? keeper->noted : EVENTS;

    for (size_t i = 0; i < count; i++) {
        const struct kept_event *event = &keeper->events[(keeper->noted - 1 - i) % EVENTS];

        events[i] = (struct status_event){.at = event->at,
                                          .is_refused = event->is_refused,
                                          .what = text_from(event->what),
                                          .words = {event->words, event->length}};
    }
    figures->events = events;
    figures->event_count = count;
}

void status_keeper_write(struct status_keeper *keeper, struct status_figures *figures,
                         struct buffer *ret_page)
{
    struct status_event events[EVENTS];
    uint64_t totals[STATUS_TOTALS];

    pthread_mutex_lock(&keeper->lock);
    take_totals(totals);
    take_events(keeper, events, figures);
    figures->totals = totals;
    figures->hour = keeper->rings[HOUR].ring;
    figures->day = keeper->rings[DAY].ring;
    figures->uploads = keeper->uploads;
    figures->processes = keeper->processes;
    figures->process_count = keeper->process_count;
    status_page_write(figures, ret_page);
    pthread_mutex_unlock(&keeper->lock);
}
