/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/status_gather.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/fates/fates_summary.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/policy/plan_class/plan_demands.h"
#include "server/pool/pool.h"
#include "server/process/fates_keeper.h"
#include "server/process/health.h"
#include "server/process/metrics.h"
#include "server/process/project_keeper.h"
#include "server/process/server.h"
#include "server/process/status_keeper.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/request/walk.h"
#include "server/status/project_page.h"
#include "server/status/public_page.h"
#include "server/status/status_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { RESOURCES_SHOWN = 16, STREAMS_SHOWN = 32 };
#define ARENA_BYTES_MAX ((size_t)64 * 1024 * 1024)

void status_gather_turn(struct server *server)
{
    struct status_figures figures = {.now = 0};
    double levels[SLOT_LEVELS];

    server_take_figures(server, &figures);
    levels[STATUS_UNSENT] = figures.has_pool ? (double)figures.pool_jobs : NAN;
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

/* --- the page "Server" ------------------------------------------------------------------------ */

static void take_health(struct server *server, struct health_figures *health,
                        struct status_finding findings[TOPIC_COUNT], struct status_figures *figures)
{
    health_figures(server_health(server), figures->now, health);
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
                                              .errors = health->checks.errors[i],
                                              .warnings = health->checks.warnings[i]};
    figures->findings = findings;
    figures->finding_count = TOPIC_COUNT;
    figures->database_checked = health->checks_at;
    figures->web_checked = health->web_at;
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

static struct text name_of_project(const struct config *config)
{
    return config->long_name.length > 0 ? config->long_name : TEXT("Quartermaster");
}

static bool gather_server(struct server *server, const struct snapshot *snapshot,
                          struct arena *arena, struct buffer *ret_page)
{
    struct status_finding findings[TOPIC_COUNT];
    struct health_figures health;
    struct status_figures figures = {
        .project = name_of_project(snapshot->config),
        .now = (int64_t)time(NULL),
        .process = (int64_t)getpid(),
    };

    server_take_figures(server, &figures);
    take_health(server, &health, findings, &figures);
    take_steps(&figures);
    if (snapshot->catalog != NULL && !take_apps(server, snapshot, arena, &figures))
        return false;
    status_keeper_write(server_status(server), &figures, ret_page);
    return true;
}

/* --- the page "Project" ----------------------------------------------------------------------- */

static bool take_fates(struct server *server, struct arena *arena, struct fates_figures *fates,
                       struct project_hour week[WEEK_SLOTS], struct project_figures *figures)
{
    struct project_version *versions;
    struct project_host *hosts;

    if (!fates_keeper_figures(server_fates_keeper(server), arena, figures->now, fates))
        return false;
    versions = ARENA_ARRAY(arena, fates->version_count, struct project_version);
    hosts = ARENA_ARRAY(arena, fates->host_count, struct project_host);
    if (versions == NULL || hosts == NULL)
        return false;
    for (size_t i = 0; i < fates->version_count; i++) {
        const struct version_fates *version = &fates->versions[i];

        versions[i] = (struct project_version){
            .version = version->version,
            .sent = version->sent,
            .ended = version->ended,
            .failed = version->failed,
            .worst =
                version->worst_exits == 0 ? NO_TEXT : fates_exit_words(arena, version->worst_exit),
            .fails = version->fails};
    }
    for (size_t i = 0; i < fates->host_count; i++)
        hosts[i] = (struct project_host){.id = fates->hosts[i].id,
                                         .ended = fates->hosts[i].ended,
                                         .failed = fates->hosts[i].failed,
                                         .at = fates->hosts[i].at,
                                         .fails = fates->hosts[i].fails};
    for (size_t i = 0; i < WEEK_SLOTS; i++) {
        week[i].has_fates = fates->week[i].is_known;
        memcpy(week[i].fates, fates->week[i].by_fate, sizeof(week[i].fates));
    }
    figures->fates_read = fates->read_at;
    figures->versions = versions;
    figures->version_count = fates->version_count;
    figures->versions_failing = fates->versions_failing;
    figures->hosts = hosts;
    figures->host_count = fates->host_count;
    figures->hosts_failing = fates->hosts_failing;
    return true;
}

static struct text words_of_stream(struct arena *arena, const struct catalog *catalog,
                                   struct stream_key key)
{
    const struct app_row *app = NULL;

    switch ((enum stream_kind)key.kind) {
    case STREAM_APP:
        if (catalog != NULL)
            app = catalog_app(catalog, key.id);
        return app != NULL ? text_print(arena, "app " TEXT_FORMAT, TEXT_ARG(app->name))
                           : text_print(arena, "app number %" PRId64, key.id);
    case STREAM_USER:
        return text_print(arena, "user %" PRId64, key.id);
    case STREAM_BATCH:
        return text_print(arena, "batch %" PRId64, key.id);
    case STREAM_REST:
        break;
    }
    return TEXT("rest");
}

/* Those that have jobs, then those that had most. */
static int compare_streams(const void *a, const void *b)
{
    const struct pool_stream *left = a, *right = b;

    if (left->has_jobs != right->has_jobs)
        return left->has_jobs ? -1 : 1;
    return (left->flops < right->flops) - (left->flops > right->flops);
}

static bool take_streams(struct server *server, const struct snapshot *snapshot,
                         struct arena *arena, struct project_figures *figures)
{
    struct pool_stream *given;
    struct project_stream *streams;
    double weights = 0, flops = 0;
    size_t count;

    if (!streams_exist(snapshot->config) || server_pool(server) == NULL)
        return true;
    if (!pool_streams(server_pool(server), arena, &given, &count))
        return false;
    if (count > 0)
        qsort(given, count, sizeof(given[0]), compare_streams);
    for (size_t i = 0; i < count; i++) {
        weights += given[i].has_jobs ? given[i].stream.weight : 0;
        flops += given[i].flops;
    }
    count = count < STREAMS_SHOWN ? count : STREAMS_SHOWN;
    streams = ARENA_ARRAY(arena, count, struct project_stream);
    if (streams == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        streams[i] = (struct project_stream){
            .words = words_of_stream(arena, snapshot->catalog, given[i].stream.key),
            .share = given[i].has_jobs ? given[i].stream.weight / weights : NAN,
            .had = flops > 0 ? given[i].flops / flops : NAN};
    figures->streams = streams;
    figures->stream_count = count;
    return true;
}

static void take_findings(struct server *server, struct project_figures *figures)
{
    struct health_figures health;

    health_figures(server_health(server), figures->now, &health);
    figures->job_errors = health.checks.errors[TOPIC_jobs];
    figures->version_errors = health.checks.errors[TOPIC_versions];
}

static bool gather_project(struct server *server, const struct snapshot *snapshot,
                           struct arena *arena, struct buffer *ret_page)
{
    struct project_hour *week = ARENA_ARRAY(arena, WEEK_SLOTS, struct project_hour);
    struct fates_figures *fates = ARENA_NEW(arena, struct fates_figures);
    struct project_figures figures = {.project = name_of_project(snapshot->config),
                                      .now = (int64_t)time(NULL)};

    if (week == NULL || fates == NULL)
        return false;
    if (!project_keeper_figures(server_project_keeper(server), arena, figures.now, week,
                                &figures) ||
        !take_fates(server, arena, fates, week, &figures) ||
        !take_streams(server, snapshot, arena, &figures))
        return false;
    take_findings(server, &figures);
    if (snapshot->catalog != NULL) {
        figures.apps = snapshot->catalog->rows.apps;
        figures.app_count = snapshot->catalog->rows.app_count;
    }
    project_page_write(&figures, ret_page);
    return true;
}

/* --- what anybody may know -------------------------------------------------------------------- */

/* "example.org" of "https://example.org:8080/project/". */
static struct text host_of(struct text url)
{
    size_t begin = text_find(url, TEXT("://"));
    struct text host =
        begin < url.length ? (struct text){url.at + begin + 3, url.length - begin - 3} : url;

    host = text_split(&host, '/');
    return text_split(&host, ':');
}

enum status status_gather_public(struct server *server, const struct snapshot *snapshot,
                                 enum public_page kind, struct buffer *ret_page)
{
    struct arena *arena = arena_create(ARENA_BYTES_MAX);
    struct project_hour *week =
        arena == NULL ? NULL : ARENA_ARRAY(arena, WEEK_SLOTS, struct project_hour);
    struct project_figures figures = {.now = (int64_t)time(NULL)};
    struct public_figures known = {
        .host = host_of(snapshot->config->master_url),
        .scheduler_serves = health_problem(server_health(server)) == NULL,
    };
    struct status_uploads uploads = status_keeper_uploads(server_status(server));
    enum status status = STATUS_OK;

    known.has_uploads = uploads.at != 0;
    known.uploads_are_taken = !uploads.is_stopped && figures.now - uploads.at <= UPLOADS_SILENT_S;
    if (week == NULL || !project_keeper_figures(server_project_keeper(server), arena, figures.now,
                                                week, &figures)) {
        status = STATUS_NO_MEMORY;
    } else if (figures.totals->at == 0 || snapshot->catalog == NULL) {
        status = STATUS_NOT_FOUND;
    } else {
        known.totals = figures.totals;
        known.apps = snapshot->catalog->rows.apps;
        known.app_count = snapshot->catalog->rows.app_count;
        if (kind == PUBLIC_COUNTS)
            public_counts_write(known.totals, ret_page);
        else
            public_page_write(&known, ret_page);
        status = ret_page->overflowed ? STATUS_NO_MEMORY : STATUS_OK;
    }
    arena_destroy(arena);
    return status;
}

/* --- any page --------------------------------------------------------------------------------- */

bool status_gather_page(struct server *server, const struct snapshot *snapshot, enum page_kind kind,
                        struct buffer *ret_page)
{
    struct arena *arena = arena_create(ARENA_BYTES_MAX);
    bool is_had =
        arena != NULL && (kind == PAGE_PROJECT ? gather_project(server, snapshot, arena, ret_page)
                                               : gather_server(server, snapshot, arena, ret_page));

    arena_destroy(arena);
    return is_had && !ret_page->overflowed;
}
