/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates, from the job pool (source_pool.c) or by query.
 *
 * By query: what can never be right for this host is left out by the database, so that
 * a flood of such jobs cannot hide the others. A batch that was claimed as a whole, or partly by
 * others, is followed by a fresh one: claimed rows are not unsent any more, so it reaches further
 * down. A full one that was of no use, because of jobs that are not for this host by what their
 * class says, is followed by others that leave these out, and begin where the one before ended. The
 * number of queries is bounded. */
#include "server/handout/source_parts.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/counters.h"
#include "server/base/random.h"
#include "server/handout/shares.h"
#include "server/policy/disk/document_files.h"
#include "server/policy/version/own_versions.h"
#include "server/project/catalog.h"
#include "server/rpc/request.h"
#include "server/rpc/world.h"

#include <math.h>

#include "server/base/banned.h"

enum {
    QUERIES_MAX = 6,              /* of one search */
    EXAMINED_BESIDE_POOL = 50000, /* rows in each: what suits is most likely in the pool */
    ASKS_MAX = 1 << 17, /* candidates of one search of which it is asked who already had them */
    ROWS_TO_EXPLAIN = 50,
    DOCUMENTS_MAX = 256, /* read for locality */
    LOCALITY_LITE = 1
};
#define NO_BOUND 1e300

/* Whether a job of the option might be sent now. */
static bool option_may_suit(const struct source *source, const struct version_option *option)
{
    return option_runs(source->view, option) &&
           (option->app->non_cpu_intensive != 0 ||
            (source->explains && amounts_wants(&source->view->asked, option->resource)));
}

/* Whether any job of the app might be sent now, as far as the app itself and its versions say. */
static bool app_may_suit(const struct source *source, const struct app_row *app)
{
    const struct version_options *options = &source->view->options;
    const struct option_span all = version_options_all(options);
    struct own_span own;

    if (!app_is_open(source->view, app))
        return false;
    if (options->own != NULL) {
        if (app->homogeneous_app_version != 0) /* to which no version of a client's own belongs */
            return false;
        own = own_versions_of_app(options->own, app->id, 0);
        for (size_t i = 0; i < own.count; i++)
            if (option_may_suit(source, own.items[i].option))
                return true;
        return false;
    }
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].app == app && option_may_suit(source, &all.items[i]))
            return true;
    return false;
}

struct source *source_open(struct request *request, const struct host_view *view,
                           const struct amounts *left, bool explains)
{
    const struct catalog_rows *rows = &request->catalog->rows;
    int64_t *appids = ARENA_ARRAY(request->arena, rows->app_count, int64_t);
    struct source *source = ARENA_NEW(request->arena, struct source);

    if (appids == NULL || source == NULL)
        return NULL;
    *source = (struct source){.request = request,
                              .view = view,
                              .left = left,
                              .appids = appids,
                              .explains = explains,
                              .has_pool = request->pool != NULL,
                              .asks_left = ASKS_MAX,
                              .sent_before = request->attempt.jobs_sent};
    for (size_t i = 0; i < rows->app_count; i++)
        if (app_may_suit(source, &rows->apps[i]))
            appids[source->appid_count++] = rows->apps[i].id;
    return source;
}

static enum status query(struct source *source, const struct candidate_filter *filter,
                         struct job **ret_jobs, size_t *ret_count)
{
    struct request *request = source->request;
    struct candidate *candidates = NULL;
    struct job *jobs;
    size_t count = 0;
    enum status status = request->world->candidates(request, filter, &candidates, &count);

    if (status != STATUS_OK)
        return status;
    jobs = ARENA_ARRAY(request->arena, count, struct job);
    if (jobs == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        jobs[i] = (struct job){.resultid = candidates[i].resultid,
                               .priority = candidates[i].priority,
                               .workunit = &candidates[i].workunit,
                               .app = catalog_app(request->catalog, candidates[i].appid)};
    source->queries++;
    source->rows_last = count;
    source->jobs_last = jobs;
    *ret_jobs = jobs;
    *ret_count = count;
    return had_mark(request, jobs, count);
}

/* Each host begins elsewhere among jobs of equal priority, and elsewhere again after a lost race.
 */
static uint64_t spread_of(const struct source *source)
{
    return random_mix((uint64_t)source->view->host->id, (uint64_t)source->queries);
}

/* For jobs of any app: one query asks for all, and jobs of an always-on app have no deadline. */
static void limits_of_all(const struct source *source, double ret_limits[CLASS_LIMIT_COUNT])
{
    const struct host_view *view = source->view;
    const struct option_span all = version_options_all(&view->options);
    enum check_kind kind = CHECK_NEW;
    double fastest = 0;

    for (size_t i = 0; i < all.count; i++) {
        const struct version_option *option = &all.items[i];

        if (option->app->non_cpu_intensive != 0)
            kind = CHECK_ALWAYS_ON;
        if (option->resource < view->asked.resource_count)
            fastest = fmax(fastest, class_speed(view, option));
    }
    class_limits(view, kind, fastest, ret_limits);
}

/* As the pool judges classes before their jobs. */
static bool is_open(const struct source *source, const struct job *job)
{
    struct job common = {.priority = job->priority, .workunit = job->workunit, .app = job->app};

    return common.app != NULL && group_is_open(source->view, &common) &&
           class_is_open(source->view, &common);
}

static bool suits(const void *context, const struct candidate *candidate)
{
    const struct source *source = context;
    const struct job job = {.priority = candidate->priority,
                            .workunit = &candidate->workunit,
                            .app = catalog_app(source->request->catalog, candidate->appid)};

    return is_open(source, &job);
}

/* Whether jobs of the last batch that are not for this host may have hidden others. */
static bool hides_some(const struct source *source)
{
    bool hides = false;

    if (source->rows_last < (size_t)source->view->config->candidate_rows)
        return false;
    for (size_t i = 0; i < source->rows_last && !hides; i++)
        hides = !is_open(source, &source->jobs_last[i]);
    return hides;
}

static enum status query_suitable(struct source *source, struct job **ret_jobs, size_t *ret_count)
{
    const struct config *config = source->view->config;
    double limits[CLASS_LIMIT_COUNT];
    struct candidate_filter filter = {
        .appids = source->appids,
        .appid_count = source->appid_count,
        .userid = config->user_filter ? source->view->userid : 0,
        .rows_max = (size_t)config->candidate_rows,
        .examined_max = source->request->pool == NULL ? 0 : EXAMINED_BESIDE_POOL,
        .spread = spread_of(source),
        .below = source->below,
        .suits = suits,
        .context = source,
    };

    limits_of_all(source, limits);
    filter.memory_max = limits[CLASS_MEMORY];
    filter.disk_max = limits[CLASS_DISK];
    filter.speed_max = isinf(limits[CLASS_SPEED]) ? 0 : limits[CLASS_SPEED];
    return query(source, &filter, ret_jobs, ret_count);
}

/* A few jobs of the apps that are in use, or of those that are not any more, whatever they need. */
static enum status query_apps(struct source *source, bool in_use, struct job **ret_jobs,
                              size_t *ret_count)
{
    const struct catalog_rows *rows = &source->request->catalog->rows;
    int64_t *appids = ARENA_ARRAY(source->request->arena, rows->app_count, int64_t);
    struct candidate_filter filter = {.appids = appids,
                                      .memory_max = NO_BOUND,
                                      .disk_max = NO_BOUND,
                                      .rows_max = ROWS_TO_EXPLAIN,
                                      .spread = spread_of(source)};

    if (appids == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < rows->app_count; i++)
        if ((rows->apps[i].deprecated == 0) == in_use)
            appids[filter.appid_count++] = rows->apps[i].id;
    if (filter.appid_count == 0)
        return STATUS_OK;
    return query(source, &filter, ret_jobs, ret_count);
}

/* What is left of an app that is not in use any more tells something only if there is nothing else,
 * and must not hide it. */
static enum status query_any(struct source *source, struct job **ret_jobs, size_t *ret_count)
{
    enum status status = query_apps(source, true, ret_jobs, ret_count);

    source->was_wide = true;
    return status == STATUS_OK && *ret_count == 0 ? query_apps(source, false, ret_jobs, ret_count)
                                                  : status;
}

/* Until something suits, or there is nothing more to look at. */
static enum status query_below(struct source *source, struct job **ret_jobs, size_t *ret_count)
{
    enum status status = STATUS_OK;

    while (status == STATUS_OK && *ret_count == 0 && !source->below->is_end &&
           source->queries < QUERIES_MAX)
        status = query_suitable(source, ret_jobs, ret_count);
    return status;
}

/* False: no memory. */
static bool begin_below(struct source *source)
{
    source->below = ARENA_NEW(source->request->arena, struct candidate_place);
    if (source->below != NULL)
        *source->below = CANDIDATE_TOP;
    return source->below != NULL;
}

static enum status next_of_query(struct source *source, bool got_some, bool some_lost,
                                 struct job **ret_jobs, size_t *ret_count)
{
    bool some_sent = source->request->attempt.jobs_sent > 0;
    bool is_first = source->queries == 0;
    bool was_full = source->rows_last >= (size_t)source->view->config->candidate_rows;
    bool more = is_first || some_lost || (some_sent && was_full);

    *ret_jobs = NULL;
    *ret_count = 0;
    if (source->was_wide || source->queries >= QUERIES_MAX)
        return STATUS_OK;
    if (source->below == NULL && !is_first && !got_some && !some_lost && hides_some(source) &&
        !begin_below(source))
        return STATUS_NO_MEMORY;
    if (source->below != NULL) {
        enum status status = query_below(source, ret_jobs, ret_count);
        if (status != STATUS_OK || *ret_count > 0)
            return status;
    } else if (more && source->appid_count > 0) {
        enum status status = query_suitable(source, ret_jobs, ret_count);
        if (status != STATUS_OK || *ret_count > 0)
            return status;
    }
    if (some_sent || !source->explains)
        return STATUS_OK;
    return query_any(source, ret_jobs, ret_count);
}

/* --- of both kinds ---------------------------------------------------------------------------- */

static enum status next_batch(struct source *source, bool some_lost, struct job **ret_jobs,
                              size_t *ret_count)
{
    struct request *request = source->request;
    bool some_sent = request->attempt.jobs_sent > 0;
    bool got_some = request->attempt.jobs_sent > source->sent_before;
    enum status status;

    source->sent_before = request->attempt.jobs_sent;
    if (!source->has_pool)
        return next_of_query(source, got_some, some_lost, ret_jobs, ret_count);
    if (!source->pool_is_done) {
        status = source_pool_next(source, got_some, some_lost, ret_jobs, ret_count);
        if (status != STATUS_OK || *ret_count > 0)
            return status;
        source->pool_is_done = true;
        /* "No work", or less than is wanted, is said only if the database says so too, where the
         * pool cannot know. */
        source->has_pool =
            some_sent ? !source->others_have && !source->gave_up : !source->pool_is_short;
        if (!source->has_pool) {
            counter_add(COUNTER_pool_fallbacks, 1);
            return next_of_query(source, got_some, some_lost, ret_jobs, ret_count);
        }
    }
    *ret_jobs = NULL;
    *ret_count = 0;
    if (some_sent || !source->explains || source->was_wide)
        return STATUS_OK;
    source->was_wide = true;
    return source_pool_explain(source, ret_jobs, ret_count);
}

/* Which of the jobs have files on the host (policy(7) 10.7). The names of a job's files are in its
 * document, which candidates come without. So documents are read, but of a bounded number of jobs,
 * the first ones: they are of the highest priority. */
static enum status mark_locality(struct request *request, struct job *jobs, size_t count)
{
    int64_t ids[DOCUMENTS_MAX];
    struct job *of[DOCUMENTS_MAX];
    size_t wanted = 0, name_count;
    struct job_documents *documents;
    struct text *names;
    enum status status;

    for (size_t i = 0; i < count && wanted < DOCUMENTS_MAX && request->message.file_count > 0; i++)
        if (jobs[i].app != NULL && jobs[i].app->locality_scheduling == LOCALITY_LITE) {
            of[wanted] = &jobs[i];
            ids[wanted++] = jobs[i].resultid;
        }
    if (wanted == 0)
        return STATUS_OK;
    if (!budget_spend(&request->attempt.budget,
                      budget_of_sorting_names(request->message.file_count)))
        return STATUS_OK;
    names = ARENA_ARRAY(request->arena, request->message.file_count, struct text);
    documents = ARENA_ARRAY(request->arena, wanted, struct job_documents);
    if (names == NULL || documents == NULL)
        return STATUS_NO_MEMORY;
    name_count = files_present(&request->message, names);
    if (name_count == 0)
        return STATUS_OK;
    status = request->world->job_documents(request, ids, wanted, documents);
    for (size_t i = 0; status == STATUS_OK && i < wanted; i++)
        of[i]->has_file = document_has_file(documents[i].workunit_xml, names, name_count);
    return status;
}

enum status source_next(struct source *source, bool some_lost, struct job **ret_jobs,
                        size_t *ret_count)
{
    enum status status = next_batch(source, some_lost, ret_jobs, ret_count);

    if (status == STATUS_OK && *ret_count > 0)
        status = mark_locality(source->request, *ret_jobs, *ret_count);
    if (status == STATUS_OK && *ret_count > 0)
        status = shares_mark(source->request, source->view, *ret_jobs, *ret_count);
    return status;
}

bool source_is_cut(const struct source *source)
{
    return source->was_wide && source->rows_last >= ROWS_TO_EXPLAIN;
}
