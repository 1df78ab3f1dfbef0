/* SPDX-License-Identifier: Apache-2.0 */
/* One lock guards the day and the events. While a page is written from them it is held, for about a
 * millisecond: the watcher may wait for it, and no request does. */
#include "server/process/status_keeper.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/policy/plan_class/plan_demands.h"
#include "server/pool/pool.h"
#include "server/process/health.h"
#include "server/process/metrics.h"
#include "server/process/server.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/request/reason_counts.h"
#include "server/request/walk.h"
#include "server/status/status_page.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { EVENTS = 16, WORDS_BYTES = 600, WHAT_BYTES = 40, RESOURCES_SHOWN = 16 };
#define ARENA_BYTES_MAX ((size_t)64 * 1024 * 1024)

struct kept_event {
    int64_t at;
    bool is_refused;
    char what[WHAT_BYTES];
    char words[WORDS_BYTES];
    size_t length;
};

struct status_keeper {
    pthread_mutex_t lock;
    struct day_ring *day;
    struct kept_event events[EVENTS]; /* a ring */
    size_t noted;                     /* events, so far */
};

static double time_of_day(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct status_keeper *status_keeper_create(void)
{
    struct status_keeper *keeper = calloc(1, sizeof(*keeper));

    if (keeper == NULL)
        return NULL;
    keeper->day = day_ring_create(STATUS_TOTALS, time_of_day(), clock_seconds());
    if (keeper->day == NULL) {
        free(keeper);
        return NULL;
    }
    pthread_mutex_init(&keeper->lock, NULL);
    return keeper;
}

void status_keeper_destroy(struct status_keeper *keeper)
{
    if (keeper == NULL)
        return;
    day_ring_destroy(keeper->day);
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

void status_keeper_turn(struct server *server)
{
    struct status_keeper *keeper = server_status(server);
    struct status_figures figures = {.now = 0};
    uint64_t totals[STATUS_TOTALS];
    double levels[DAY_LEVELS];

    server_take_figures(server, &figures);
    levels[STATUS_WAITING] = (double)figures.waiting;
    levels[STATUS_UNSENT] = (double)figures.pool_jobs;
    take_totals(totals);
    pthread_mutex_lock(&keeper->lock);
    day_ring_add(keeper->day, time_of_day(), clock_seconds(), totals, levels);
    pthread_mutex_unlock(&keeper->lock);
}

/* --- applications ----------------------------------------------------------------------------- */

/* The kinds of processors of all versions; a set of them is a number with a bit for each. */
struct kinds {
    struct text types[RESOURCES_SHOWN];
    size_t count;
};

/* The processor that versions of a plan class are for. */
static struct text type_of(const struct plan_classes *classes, struct text name)
{
    struct text type = NO_TEXT;
    const struct plan_class *class;
    struct plan_class builtin;

    if (name.length > 0 && classes->is_builtin) {
        if (plan_class_builtin(name, &builtin))
            type = plan_class_coproc(&builtin);
    } else if (name.length > 0) {
        class = plan_class_find(classes, name);
        if (class != NULL)
            type = plan_class_coproc(class);
    }
    return type.length > 0 ? type : TEXT("CPU");
}

/* 0: there are too many kinds. */
static unsigned bit_of(struct kinds *kinds, struct arena *arena, struct text type)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (text_equal(kinds->types[i], type))
            return 1U << i;
    if (kinds->count == RESOURCES_SHOWN)
        return 0;
    kinds->types[kinds->count] = text_copy(arena, type);
    return 1U << kinds->count++;
}

static struct text words_of(struct arena *arena, const struct kinds *kinds, unsigned set)
{
    struct buffer words = buffer_in(arena);

    for (size_t i = 0; i < kinds->count; i++)
        if ((set & 1U << i) != 0) {
            buffer_add_string(&words, words.length > 0 ? ", " : "");
            buffer_add(&words, kinds->types[i]);
        }
    return buffer_text(&words);
}

static int compare_apps(const void *a, const void *b)
{
    const struct status_app *one = a, *other = b;

    if (one->jobs != other->jobs)
        return one->jobs > other->jobs ? -1 : 1;
    return text_compare(one->name, other->name);
}

/* For each application of the catalog, by its place, for which kinds it has versions. */
static void find_kinds(const struct snapshot *snapshot, struct arena *arena, struct kinds *kinds,
                       unsigned *ret_sets)
{
    const struct catalog_rows *rows = &snapshot->catalog->rows;

    for (size_t i = 0; i < rows->version_count; i++) {
        const struct app_version_row *version = &rows->versions[i];
        const struct app_row *app = catalog_app(snapshot->catalog, version->appid);

        if (app != NULL && catalog_version_is_current(snapshot->catalog, version))
            ret_sets[app - rows->apps] |= bit_of(
                kinds, arena, type_of(&snapshot->project->plan_classes, version->plan_class));
    }
}

/* Applications that are in use, or have jobs all the same, those with most jobs first. */
static bool take_apps(struct server *server, const struct snapshot *snapshot, struct arena *arena,
                      struct status_figures *figures)
{
    const struct catalog_rows *rows = &snapshot->catalog->rows;
    size_t count = rows->app_count;
    struct status_app *apps = ARENA_ARRAY(arena, count, struct status_app);
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    size_t *jobs = ARENA_ARRAY(arena, count, size_t);
    unsigned *sets = ARENA_ARRAY(arena, count, unsigned);
    struct status_resource *resources = ARENA_ARRAY(arena, RESOURCES_SHOWN, struct status_resource);
    struct kinds kinds = {.count = 0};

    if (apps == NULL || ids == NULL || jobs == NULL || sets == NULL || resources == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        ids[i] = rows->apps[i].id;
    if (server_pool(server) != NULL)
        pool_count_by_app(server_pool(server), ids, count, jobs);
    find_kinds(snapshot, arena, &kinds, sets);
    for (size_t i = 0; i < count; i++) {
        if (rows->apps[i].deprecated != 0 && jobs[i] == 0)
            continue;
        apps[figures->app_count++] =
            (struct status_app){.name = rows->apps[i].name,
                                .title = rows->apps[i].user_friendly_name,
                                .resources = words_of(arena, &kinds, sets[i]),
                                .jobs = jobs[i]};
        for (size_t kind = 0; kind < kinds.count; kind++)
            if ((sets[i] & 1U << kind) != 0) {
                resources[kind].apps++;
                resources[kind].jobs += jobs[i];
            }
    }
    for (size_t kind = 0; kind < kinds.count; kind++)
        resources[kind].type = kinds.types[kind];
    qsort(apps, figures->app_count, sizeof(apps[0]), compare_apps);
    figures->apps = apps;
    figures->resources = resources;
    figures->resource_count = kinds.count;
    return !arena_overflowed(arena);
}

/* --- the page --------------------------------------------------------------------------------- */

static void take_health(struct server *server, struct health_figures *health,
                        struct status_finding findings[TOPIC_COUNT], struct status_figures *figures)
{
    health_figures(server_health(server), health);
    figures->is_stopped = health->is_stopped;
    figures->sends_no_jobs = health->sends_no_jobs;
    figures->trouble = health->trouble;
    figures->examined = health->examined;
    figures->clock_ahead = health->clock_ahead;
    figures->restarts_wanted = health->restarts_wanted;
    figures->config_was_refused = health->was_refused;
    figures->backlog = health->has_backlog ? &health->backlog : NULL;
    for (int i = 0; i < TOPIC_COUNT; i++)
        findings[i] = (struct status_finding){.topic = check_topic_word((enum check_topic)i),
                                              .errors = health->folder.errors[i],
                                              .warnings = health->folder.warnings[i]};
    figures->findings = findings;
    figures->finding_count = TOPIC_COUNT;
}

static void take_steps(struct status_figures *figures)
{
    for (int i = 0; i < STEP_COUNT; i++) {
        figures->steps[i].word = request_step_word((enum step)i);
        figures->steps[i].brief = request_step_brief((enum step)i);
    }
    figures->steps[STEP_COUNT].word = "commit";
    figures->steps[STEP_COUNT].brief = "commits, and waits until that is durable";
    metrics_take_bounds(figures);
}

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

bool status_keeper_write(struct server *server, const struct snapshot *snapshot,
                         struct buffer *ret_page)
{
    struct status_keeper *keeper = server_status(server);
    struct arena *arena = arena_create(ARENA_BYTES_MAX);
    const struct config *config = snapshot->config;
    struct status_finding findings[TOPIC_COUNT];
    struct status_event events[EVENTS];
    uint64_t totals[STATUS_TOTALS];
    struct health_figures health;
    struct status_figures figures = {
        .project = config->long_name.length > 0 ? config->long_name : TEXT("Quartermaster"),
        .now = (int64_t)time(NULL),
        .process = (int64_t)getpid(),
        .totals = totals,
    };
    bool is_had = arena != NULL;

    server_take_figures(server, &figures);
    take_health(server, &health, findings, &figures);
    take_steps(&figures);
    if (is_had && snapshot->catalog != NULL)
        is_had = take_apps(server, snapshot, arena, &figures);
    if (is_had) {
        pthread_mutex_lock(&keeper->lock);
        take_totals(totals);
        take_events(keeper, events, &figures);
        figures.day = keeper->day;
        status_page_write(&figures, ret_page);
        pthread_mutex_unlock(&keeper->lock);
    }
    arena_destroy(arena);
    return is_had && !ret_page->overflowed;
}
