/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs that a host has.
 *
 * Limits count what the client lists or what the database knows, whichever is more: old clients
 * list nothing, and what a host has lost is still its own until its deadline. Otherwise a host that
 * loses or breaks its jobs would be given more and more.
 *
 * The deadline simulation needs the time and the processors that each job takes. Where the client
 * does not tell them, a row of the database stands for what the version that it was sent for takes
 * on this host today; of a version that is gone nothing is known but that most take one CPU. */
#include "server/handout/view_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/sorted.h"
#include "server/handout/view.h"
#include "server/policy/edf/workload.h"
#include "server/policy/version/estimate.h"
#include "server/project/catalog.h"
#include "server/reply/answer.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/memory_peaks.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

#define DAY 86400.0

enum { ASSIGNED_SPARE = 256 /* jobs that are sent beyond the reply's limit */ };

static void count_of_app(struct app_count *counts, const struct host_view *view, int64_t appid,
                         size_t resource)
{
    for (size_t i = 0; i < view->app_limit_count; i++)
        if (view->app_limits[i].appid == appid) {
            counts[i].total++;
            if (resource < view->asked.resource_count)
                counts[i].by_resource[resource]++;
        }
}

/* --- by the client's list --------------------------------------------------------------------- */

/* The resource that a listed job uses; resource_count: one that the host does not show. */
static size_t resource_of_listed(const struct message *message, const struct amounts *amounts,
                                 const struct other_result *job)
{
    struct text type = NO_TEXT;

    if (job->app_version >= 0 && (size_t)job->app_version < message->app_version_count)
        type = message->app_versions[job->app_version].coproc_type;
    else if (job->plan_class.length > 0)
        type = plan_class_type(job->plan_class);
    return text_is(type, "CPU") ? RESOURCE_CPU : amounts_resource(amounts, type);
}

/* The app of a listed job; 0: clients before 6.11 do not say it. */
static int64_t app_of_listed(const struct request *request, const struct other_result *job)
{
    const struct message *message = &request->message;
    const struct app_row *app = NULL;

    if (job->app_version >= 0 && (size_t)job->app_version < message->app_version_count)
        app =
            catalog_app_by_name(request->catalog, message->app_versions[job->app_version].app_name);
    return app != NULL ? app->id : 0;
}

/* Units of the budget for a listed job, and for it and a limit of an app. */
enum { LISTED_COST = 30, APP_COST = 100, LIMIT_COST = 2 };

void view_count_listed(struct request *request, struct host_view *view)
{
    const struct message *message = &request->message;
    uint64_t cost = LISTED_COST;

    if (view->app_limit_count > 0)
        cost += APP_COST + view->app_limit_count * LIMIT_COST;
    if (!budget_spend(&request->attempt.budget, message->other_result_count * cost))
        return;
    for (size_t i = 0; i < message->other_result_count; i++) {
        const struct other_result *job = &message->other_results[i];
        size_t resource = resource_of_listed(message, &view->asked, job);

        if (resource < view->asked.resource_count)
            view->in_progress[resource]++;
        view->in_progress_total++;
        if (view->app_limit_count > 0)
            count_of_app(view->app_counts, view, app_of_listed(request, job), resource);
    }
}

/* --- by the database -------------------------------------------------------------------------- */

/* The results in the answer, sorted: jobs that are sent again are counted with it. False: no
 * memory. */
static bool sort_answer(const struct request *request, struct id_list *ret_answered)
{
    const struct answer *answer = &request->attempt.answer;
    int64_t *ids = ARENA_ARRAY(request->arena, answer->job_count, int64_t);

    if (ids == NULL)
        return false;
    for (size_t i = 0; i < answer->job_count; i++)
        ids[i] = answer->jobs[i].resultid;
    *ret_answered = (struct id_list){.ids = ids, .count = sorted_ids(ids, answer->job_count)};
    return true;
}

static bool is_answered(struct id_list answered, int64_t resultid)
{
    return sorted_find_id(answered.ids, answered.count, resultid) < answered.count;
}

/* A version that is not known any more was one for the CPU, as most are. */
static size_t resource_of(const struct host_view *view, const struct result_row *row)
{
    const struct version_option *option =
        version_option_find(&view->options, 0, row->app_version_id, row->variant);

    return option != NULL ? option->resource : RESOURCE_CPU;
}

static void count_more(struct app_count *count, const struct app_count *other)
{
    if (other->total > count->total)
        count->total = other->total;
    for (size_t i = 0; i < RESOURCES_MAX; i++)
        if (other->by_resource[i] > count->by_resource[i])
            count->by_resource[i] = other->by_resource[i];
}

static enum status count_rows(struct request *request, struct host_view *view)
{
    int64_t in_progress[RESOURCES_MAX] = {0}, total = 0;
    struct app_count *apps;
    const struct result_row *rows = NULL;
    struct id_list answered;
    size_t count = 0;
    enum status status;

    if (!sort_answer(request, &answered))
        return STATUS_NO_MEMORY;
    status = results_in_progress(request, &rows, &count);
    if (status != STATUS_OK)
        return status;
    apps = ARENA_ARRAY(request->arena, view->app_limit_count, struct app_count);
    if (apps == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct result_row *row = &rows[i];
        size_t resource = resource_of(view, row);

        if (row->report_deadline < (int64_t)view->now || is_answered(answered, row->id))
            continue;
        if (resource < view->asked.resource_count)
            in_progress[resource]++;
        total++;
        count_of_app(apps, view, row->appid, resource);
    }
    for (size_t i = 0; i < view->asked.resource_count; i++)
        if (in_progress[i] > view->in_progress[i])
            view->in_progress[i] = in_progress[i];
    if (total > view->in_progress_total)
        view->in_progress_total = total;
    for (size_t i = 0; i < view->app_limit_count; i++)
        count_more(&view->app_counts[i], &apps[i]);
    return STATUS_OK;
}

/* Which apps have a job here, which is asked of those that are always on. The client's list cannot
 * say: it gives names only. */
static enum status find_always_on(struct request *request, struct host_view *view)
{
    const struct result_row *rows = NULL;
    size_t count = 0;
    int64_t *ids;
    enum status status = results_in_progress(request, &rows, &count);

    if (status != STATUS_OK)
        return status;
    ids = ARENA_ARRAY(request->arena, count, int64_t);
    if (ids == NULL)
        return STATUS_NO_MEMORY;
    view->apps_held.ids = ids;
    for (size_t i = 0; i < count; i++)
        if (rows[i].report_deadline >= (int64_t)request->now)
            ids[view->apps_held.count++] = rows[i].appid;
    return STATUS_OK;
}

enum status view_count_rows(struct request *request, struct host_view *view)
{
    const struct request_plan *plan = &request->attempt.plan;
    enum status status = plan->counts_rows ? count_rows(request, view) : STATUS_OK;

    if (status == STATUS_OK && plan->serves_always_on)
        status = find_always_on(request, view);
    return status;
}

/* --- the queue -------------------------------------------------------------------------------- */

static struct own_job own_job_of(const struct request *request, const struct host_view *view,
                                 const struct host_job *row)
{
    const struct app_row *app = catalog_app(request->catalog, row->result.appid);
    const struct version_option *option = version_option_find(
        &view->options, row->result.appid, row->result.app_version_id, row->result.variant);
    double flops = option != NULL ? option->usage.projected_flops
                                  : estimate_cpu_flops(request->attempt.host.p_fpops);
    struct own_job own = {.name = row->result.name,
                          .is_always_on = app != NULL && app->non_cpu_intensive != 0,
                          .job = {.cpus = 1}};

    if (option != NULL) {
        own.job.cpus = option->usage.avg_ncpus;
        own.job.resource = option->resource;
        own.job.instances = option->usage.coproc_count;
    }
    own.job.memory = memory_counted(view, option, row->workunit.rsc_memory_bound);
    own.job.wall_time = estimate_wall_time(row->workunit.rsc_fpops_est, flops,
                                           own.job.resource == RESOURCE_CPU ? view->expected.cpu
                                                                            : view->expected.gpu,
                                           view->correction);
    own.job.deadline =
        (double)(row->result.report_deadline - grace_period(request->config)) - view->now;
    return own;
}

static enum status read_own(struct request *request, const struct host_view *view,
                            struct workload_sources *sources)
{
    const struct host_job *rows = NULL;
    size_t count = 0;
    struct id_list answered;
    struct own_job *own;
    enum status status = jobs_in_progress(request, &rows, &count);

    if (status != STATUS_OK)
        return status;
    if (!sort_answer(request, &answered))
        return STATUS_NO_MEMORY;
    own = ARENA_ARRAY(request->arena, count, struct own_job);
    if (own == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (!is_answered(answered, rows[i].result.id))
            own[sources->own_count++] = own_job_of(request, view, &rows[i]);
    sources->own = own;
    return STATUS_OK;
}

double view_memory_of(const struct host_view *view, const struct answer_job *job)
{
    const struct version_option *option =
        version_option_of(&view->options, job->version, job->anonymous, job->variant);

    return memory_counted(view, option, job->rsc_memory_bound);
}

/* What jobs of each version took of memory on this host. */
static enum status read_memory(struct request *request, struct host_view *view)
{
    const struct memory_peak *peaks = NULL;
    size_t count = 0;
    enum status status = memory_peaks(request, &peaks, &count);

    if (status != STATUS_OK || !budget_spend(&request->attempt.budget, view->options.count * count))
        return status;
    for (size_t i = 0; i < view->options.count; i++) {
        struct version_option *option = &view->options.items[i];

        for (size_t j = 0; j < count; j++)
            if (peaks[j].app_version_id == option->app_version_id &&
                peaks[j].appid == option->app->id)
                option->memory_peak = peaks[j].bytes;
    }
    return STATUS_OK;
}

/* Resent jobs and aborts of the answer: what is new in it is not yet queued. */
static bool read_answer(struct request *request, const struct host_view *view,
                        struct workload_sources *sources)
{
    const struct answer *answer = &request->attempt.answer;
    struct edf_job *resent = ARENA_ARRAY(request->arena, answer->job_count, struct edf_job);
    struct text *aborted = ARENA_ARRAY(request->arena, answer->aborts.count, struct text);

    if (resent == NULL || aborted == NULL)
        return false;
    for (size_t i = 0; i < answer->job_count; i++) {
        const struct answer_job *job = &answer->jobs[i];
        struct amount_use use = {.resource = amounts_resource(&view->asked, job->usage.coproc_type),
                                 .instances = job->usage.coproc_count,
                                 .cpus = job->usage.avg_ncpus,
                                 .wall_time = job->wall_time};
        if (job->is_resent && job->app->non_cpu_intensive == 0)
            resent[sources->resent_count++] =
                workload_job(&use, &view->stretch, (double)job->report_deadline - view->now,
                             view_memory_of(view, job));
    }
    for (const struct text_item *item = answer->aborts.first; item != NULL; item = item->next)
        aborted[sources->aborted_count++] = item->text;
    sources->resent = resent;
    sources->aborted = aborted;
    return true;
}

/* Where the list of the client says nothing of what jobs take of memory. */
static bool needs_own(const struct request *request, const struct host_view *view)
{
    return request->attempt.plan.queue_needs_rows ||
           (view->simulates_memory && request->config->workload_sim && view->in_progress_total > 0);
}

static enum status make_queue(struct request *request, struct host_view *view)
{
    const struct config *config = request->config;
    struct workload_sources sources = {
        .message = &request->message,
        .asked = &view->asked,
        .availability = view->expected,
        .now = view->now,
        .ignore_overdue = config->edf_ignore_overdue * DAY,
        .connection_period = request->attempt.prefs.work_buf_min_days * DAY,
        .memory = view->simulates_memory ? view->memory : 0,
        .ignores_list = !config->workload_sim,
        .jobs_max = (size_t)view->limits.reply +
                    (request->attempt.plan.serves_assigned ? ASSIGNED_SPARE : 0),
        .budget = &request->attempt.budget,
    };

    if (needs_own(request, view)) {
        enum status status = read_own(request, view, &sources);
        if (status != STATUS_OK)
            return status;
    }
    if (!read_answer(request, view, &sources))
        return STATUS_NO_MEMORY;
    view->workload = workload_make(request->arena, &sources);
    return view->workload != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status view_read_queue(struct request *request, struct host_view *view, double largest_memory)
{
    bool has_memory = view->simulates_memory;
    enum status status = STATUS_OK;

    if (request->config->ignore_delay_bound)
        return STATUS_OK;
    view->simulates_memory = has_memory || memory_may_run_short(view, largest_memory);
    if (view->workload != NULL && view->simulates_memory == has_memory)
        return STATUS_OK;
    if (view->simulates_memory && !view->memory_is_strict)
        status = read_memory(request, view);
    return status == STATUS_OK ? make_queue(request, view) : status;
}
