/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates from the job pool. The pool is given a host's limits for each group; they are those
 * of the table of checks (class_limits), so that nothing is passed over that could be sent.
 *
 * A batch holds what is wanted, or of several classes up to twice as much, so that there is a
 * choice. What one request reserves no other finds, so of jobs that no host can tell apart it
 * reserves no more than it wants. Jobs of workunits that the user or the host already had are no
 * part of a batch (already_had.c). If nothing of it could be sent, the reason is one that the pool
 * does not know; then the search goes on behind it with one job of each class, many at a time,
 * until it has been through a bounded number of classes. Where claims fail, the database is asked
 * before more is offered (source_recheck.c). */
#include "server/handout/source_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/random.h"
#include "server/base/sorted.h"
#include "server/policy/dispatch/checks.h"
#include "server/policy/version/own_versions.h"
#include "server/pool/pool.h"
#include "server/project/catalog.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

enum {
    BATCHES_MAX = 16, /* of one search */
    TAKES_MAX = 256,  /* likewise: questions to the pool, most of them behind what was had */
    JOBS_TO_EXPLAIN = 50,
    PROBE_MAX = 500,    /* classes of which one job is tried at a time */
    TIMES_WANTED = 2,   /* times what is wanted, where it takes several classes */
    PROBE_TIMES = 4096, /* likewise: more than a page has classes, so that no lane is full */
    LOCALITY_JOBS = 64,
    OPTION_COST = 20, /* units of the budget */
};
_Static_assert(POOL_LANES >= 2 * RESOURCES_MAX, "there are lanes for always-on apps");
/* --- what the host can take ------------------------------------------------------------------ */

static bool app_is_asked(const struct source *source, int64_t appid)
{
    for (size_t i = 0; i < source->appid_count; i++)
        if (source->appids[i] == appid)
            return true;
    return false;
}

/* The groups that a wish is for. */
static struct source_wish key_of(const struct app_row *app, const struct pool_group *group)
{
    return (struct source_wish){
        .appid = app->id,
        .version_num = group->app_version_num,
        .committed_id = app->homogeneous_app_version != 0 ? group->app_version_id : 0,
        .buda_app = group->buda_app,
    };
}

/* Whether the option could run jobs of the groups, and something of its resource is wanted. */
static bool option_suits(const struct source *source, const struct version_option *option,
                         const struct source_wish *wish)
{
    const struct version_demand demand = {.version_num = wish->version_num,
                                          .committed_id = wish->committed_id,
                                          .is_homogeneous =
                                              option->app->homogeneous_app_version != 0};

    return option->app->id == wish->appid && option_runs(source->view, option) &&
           (option->app->non_cpu_intensive != 0 || amounts_wants(source->left, option->resource)) &&
           version_is_asked_for(option, &demand);
}

/* How much of the option's resource is wanted, as FLOP and as jobs. */
static void add_wanted(const struct source *source, const struct version_option *option,
                       double speed, struct source_wish *wish)
{
    const struct amounts *left = source->left;
    const struct resource *resource = &left->resources[option->resource];
    double seconds =
        left->is_scalar ? left->scalar_seconds * fmax(resource->count, 1) : resource->seconds;
    double per_job =
        option->resource == RESOURCE_CPU ? option->usage.avg_ncpus : option->usage.coproc_count;

    if (!(per_job > 0.01))
        per_job = 0.01;
    wish->flop = fmax(wish->flop, seconds * speed / per_job);
    wish->jobs = fmax(wish->jobs, ceil(resource->instances / per_job));
}

static void add_option(const struct source *source, const struct version_option *option,
                       struct source_wish *wish)
{
    double speed;

    if (!option_suits(source, option, wish))
        return;
    speed = class_speed(source->view, option);
    if (wish->last == NULL || option > wish->last)
        wish->last = option;
    wish->speed = fmax(wish->speed, speed);
    if (option->app->non_cpu_intensive == 0)
        add_wanted(source, option, speed, wish);
}

static void fill_wish(const struct source *source, struct source_wish *wish)
{
    const struct version_options *options = &source->view->options;
    const struct option_span span = version_options_for(options, wish->buda_app);
    struct own_span own;

    if (options->own == NULL) {
        for (size_t i = 0; i < span.count; i++)
            add_option(source, &span.items[i], wish);
        return;
    }
    if (wish->buda_app != 0)
        return;
    own = own_versions_of_app(options->own, wish->appid, wish->version_num);
    if (!budget_spend(options->own->budget, own.count * OPTION_COST))
        return; /* nothing suits: this goes on under the lock of the pool */
    for (size_t i = 0; i < own.count; i++)
        add_option(source, own.items[i].option, wish);
}

/* Groups that differ in nothing that options ask about share a wish, or each group of the pool
 * would walk all options. */
static const struct source_wish *wish_for(struct source *source, const struct source_wish *key)
{
    uint64_t hash = random_mix(random_mix((uint64_t)key->appid, (uint64_t)key->version_num),
                               random_mix((uint64_t)key->committed_id, (uint64_t)key->buda_app));
    struct source_wish *wish = &source->wishes[hash % WISHES_KEPT];

    if (wish->turn == source->turn && wish->appid == key->appid &&
        wish->version_num == key->version_num && wish->committed_id == key->committed_id &&
        wish->buda_app == key->buda_app)
        return wish;
    *wish = *key;
    wish->turn = source->turn;
    fill_wish(source, wish);
    return wish;
}

static bool may_have_group(struct source *source, const struct app_row *app,
                           const struct pool_group *group)
{
    source->class_workunit.hr_class = group->hr_class;
    source->class_workunit.batch = group->user;
    source->class_workunit.buda_app = group->buda_app;
    source->class_job.workunit = &source->class_workunit;
    source->class_job.app = app;
    return group_is_open(source->view, &source->class_job);
}

/* The lane of an always-on app is its own: one job of it is wanted, whatever else is. */
static size_t lane_of(const struct source *source, const struct app_row *app, size_t resource)
{
    return app->non_cpu_intensive == 0
               ? resource
               : RESOURCES_MAX + (size_t)(app - source->request->catalog->rows.apps) %
                                     (POOL_LANES - RESOURCES_MAX);
}

static bool judge(void *context, const struct pool_group *group, struct pool_terms *ret_terms)
{
    struct source *source = context;
    const struct app_row *app = catalog_app(source->request->catalog, group->appid);
    const struct source_wish *wish;
    struct source_wish key;

    if (app == NULL || !app_is_asked(source, group->appid) || !may_have_group(source, app, group))
        return false;
    memset(ret_terms, 0, sizeof(*ret_terms));
    key = key_of(app, group);
    wish = wish_for(source, &key);
    if (wish->last == NULL)
        return false;
    ret_terms->lane = lane_of(source, app, wish->last->resource);
    ret_terms->flop = wish->flop;
    ret_terms->jobs = wish->jobs;
    class_limits(source->view, app->non_cpu_intensive != 0 ? CHECK_ALWAYS_ON : CHECK_NEW,
                 wish->speed, ret_terms->limits);
    if (app->locality_scheduling != 0 && source->request->message.file_count > 0)
        ret_terms->jobs += LOCALITY_JOBS;
    if (source->is_probing)
        ret_terms->flop = ret_terms->jobs = 0; /* one of each class */
    return true;
}

static bool suits(void *context, const struct pool_job *common)
{
    const struct source *source = context;
    struct job job = {.priority = common->priority,
                      .workunit = &common->workunit,
                      .app = catalog_app(source->request->catalog, common->workunit.appid)};

    return job.app != NULL && class_is_open(source->view, &job);
}

/* --- batches --------------------------------------------------------------------------------- */

static struct job *jobs_of(struct source *source, const struct pool_answer *answer)
{
    struct request *request = source->request;
    struct job *jobs = ARENA_ARRAY(request->arena, answer->count, struct job);

    for (size_t i = 0; jobs != NULL && i < answer->count; i++)
        jobs[i] =
            (struct job){.resultid = answer->jobs[i].resultid,
                         .priority = answer->jobs[i].priority,
                         .stream = answer->jobs[i].stream,
                         .workunit = &answer->jobs[i].workunit,
                         .app = catalog_app(request->catalog, answer->jobs[i].workunit.appid)};
    return jobs;
}

/* What the request has taken so far, and of that what it sends. False: no memory. */
static bool ask_beside_held(struct source *source, struct pool_question *question)
{
    const struct request *request = source->request;
    const struct answer *answer = &request->attempt.answer;
    int64_t *used = ARENA_ARRAY(request->arena, answer->job_count, int64_t);

    if (used == NULL)
        return false;
    for (size_t i = 0; i < answer->job_count; i++)
        used[i] = answer->jobs[i].resultid;
    question->used = used;
    question->used_count = sorted_ids(used, answer->job_count);
    question->taken = request->taken.ids;
    question->taken_count = request->taken.count;
    return true;
}

/* *ret_kept: how many of the jobs may be offered. While rechecking most of a probe will be left
 * out, so it is asked for more. */
static bool ask(struct source *source, struct pool_question *ret_question, size_t *ret_kept)
{
    size_t reply = (size_t)fmax((double)source->view->limits.reply, 1);
    size_t most = (size_t)source->view->config->candidate_rows;
    size_t jobs = source->is_probing ? PROBE_MAX : TIMES_WANTED * reply + 16;

    if (source->request->message.file_count > 0)
        jobs += LOCALITY_JOBS;
    jobs = jobs < most ? jobs : most;
    *ret_kept = jobs;
    if (source->is_probing && source->is_rechecking && jobs < source->recheck_page)
        jobs = source->recheck_page;
    *ret_question =
        (struct pool_question){.judge = judge,
                               .suits = suits,
                               .context = source,
                               .jobs_max = jobs,
                               .classes_max = jobs,
                               .times_wanted = source->is_probing ? PROBE_TIMES : TIMES_WANTED,
                               .by_turn = source->view->streams != NULL && !source->is_probing};
    return ask_beside_held(source, ret_question) && had_ask(source->request, ret_question);
}

static bool is_same_place(const struct pool_place *a, const struct pool_place *b)
{
    return a->is_set == b->is_set && a->resultid == b->resultid && a->priority == b->priority;
}

/* One batch, without what user or host already had; *ret_ends: nothing is behind it. */
static enum status take(struct source *source, struct pool_answer *ret_answer, bool *ret_ends)
{
    struct request *request = source->request;
    struct pool_question question;
    size_t kept_max;
    enum status status;
    bool done;

    if (!ask(source, &question, &kept_max))
        return STATUS_NO_MEMORY;
    done = pool_take(request->pool, request->arena, &question, source->place, ret_answer);
    if (!source_note_taken(request, ret_answer) || !done)
        return STATUS_NO_MEMORY;
    *ret_ends = ret_answer->count == 0 && !ret_answer->is_by_turn &&
                (!ret_answer->gave_up || is_same_place(&source->place, &ret_answer->place));
    source->place = ret_answer->place;
    source->others_have = ret_answer->others_have;
    status = had_sift(source, &question, kept_max, ret_answer);
    ret_answer->is_short = ret_answer->is_short || ret_answer->gave_up;
    return status;
}

/* The same. What nothing is kept of leaves no memory behind, unless something else points there. */
static enum status take_and_rewind(struct source *source, struct pool_answer *ret_answer,
                                   bool *ret_ends)
{
    const struct request *request = source->request;
    struct arena_mark mark = arena_mark(request->arena);
    const int64_t *taken_before = request->taken.ids;
    int64_t example_before = source->had_example.resultid;
    enum status status = take(source, ret_answer, ret_ends);

    if (status == STATUS_OK && ret_answer->count == 0 && request->taken.ids == taken_before &&
        source->had_example.resultid == example_before)
        arena_rewind(request->arena, mark);
    return status;
}

static void give_up(struct source *source)
{
    source->pool_is_short = source->gave_up = true;
}

enum status source_pool_next(struct source *source, bool got_some, bool some_lost,
                             struct job **ret_jobs, size_t *ret_count)
{
    bool again = got_some || some_lost, ends = false;
    struct pool_answer answer = {0};
    enum status status = STATUS_OK;

    *ret_count = 0;
    source->turn++; /* less may be wanted than before */
    if (source->batches++ >= BATCHES_MAX) {
        give_up(source);
        return STATUS_OK;
    }
    if (again)
        memset(&source->place, 0, sizeof(source->place));
    source->is_probing = source->batches > 1 && !again;
    while (status == STATUS_OK && answer.count == 0 && !ends) {
        if (source->takes++ >= TAKES_MAX || (source->is_rechecking && source->asks_left == 0)) {
            give_up(source);
            return STATUS_OK;
        }
        status = take_and_rewind(source, &answer, &ends);
        if (source->is_probing) /* it is of use while rechecking, which begins with the first */
            source->recheck_page =
                answer.count == 0 ? recheck_grown(source->recheck_page) : RECHECK_FIRST;
        source->is_probing = true; /* of the classes so far, all was had already, or is gone */
        source->pool_is_short = source->pool_is_short || answer.is_short;
    }
    if (status != STATUS_OK)
        return status;
    source->batch = answer.jobs;
    *ret_count = answer.count;
    *ret_jobs = jobs_of(source, &answer);
    return *ret_jobs == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Falling priority, as the choice wants it. */
static void sort(struct pool_answer *answer)
{
    for (size_t i = 1; i < answer->count; i++)
        for (size_t j = i; j > 0 && answer->jobs[j - 1].priority < answer->jobs[j].priority; j--) {
            struct pool_job job = answer->jobs[j];
            answer->jobs[j] = answer->jobs[j - 1];
            answer->jobs[j - 1] = job;
        }
}

enum status source_pool_explain(struct source *source, struct job **ret_jobs, size_t *ret_count)
{
    struct request *request = source->request;
    struct pool_question question = {
        .judge = judge, .context = source, .jobs_max = JOBS_TO_EXPLAIN};
    struct pool_answer answer;

    source->turn++;
    /* There is one place more, for an example of what was already had. */
    if (!pool_explain(request->pool, request->arena, &question, &answer))
        return STATUS_NO_MEMORY;
    if (source->had_example.resultid != 0)
        answer.jobs[answer.count++] = source->had_example;
    sort(&answer);
    *ret_count = answer.count;
    *ret_jobs = jobs_of(source, &answer);
    return *ret_jobs == NULL ? STATUS_NO_MEMORY : had_mark(request, *ret_jobs, *ret_count);
}
