/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/status_gather.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/policy/plan_class/plan_demands.h"
#include "server/pool/pool.h"
#include "server/process/health.h"
#include "server/process/metrics.h"
#include "server/process/server.h"
#include "server/process/status_keeper.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/request/walk.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { RESOURCES_SHOWN = 16 };
#define ARENA_BYTES_MAX ((size_t)64 * 1024 * 1024)

void status_gather_turn(struct server *server)
{
    struct status_figures figures = {.now = 0};
    double levels[DAY_LEVELS];

    server_take_figures(server, &figures);
    levels[STATUS_WAITING] = (double)figures.waiting;
    levels[STATUS_UNSENT] = (double)figures.pool_jobs;
    status_keeper_add(server_status(server), levels);
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

bool status_gather_page(struct server *server, const struct snapshot *snapshot,
                        struct buffer *ret_page)
{
    struct arena *arena = arena_create(ARENA_BYTES_MAX);
    const struct config *config = snapshot->config;
    struct status_finding findings[TOPIC_COUNT];
    struct health_figures health;
    struct status_figures figures = {
        .project = config->long_name.length > 0 ? config->long_name : TEXT("Quartermaster"),
        .now = (int64_t)time(NULL),
        .process = (int64_t)getpid(),
    };
    bool is_had = arena != NULL;

    server_take_figures(server, &figures);
    take_health(server, &health, findings, &figures);
    take_steps(&figures);
    if (is_had && snapshot->catalog != NULL)
        is_had = take_apps(server, snapshot, arena, &figures);
    if (is_had)
        status_keeper_write(server_status(server), &figures, ret_page);
    arena_destroy(arena);
    return is_had && !ret_page->overflowed;
}
