/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting what the deadline simulation needs to know. What a row of the database stands for in
 * time and processors is taken from the version that it was sent for, as this host would run it
 * today; of a version that is gone nothing is known but that most take one CPU. */
#include "server/handout/host_queue.h"

#include "server/base/arena.h"
#include "server/handout/view.h"
#include "server/policy/dispatch/checks.h"
#include "server/policy/edf/workload.h"
#include "server/project/catalog.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

#define DAY 86400.0

enum { ASSIGNED_SPARE = 256 /* jobs that are sent beyond the reply's limit */ };

static const struct version_option *option_of(const struct host_view *view,
                                              const struct result_row *row)
{
    for (size_t i = 0; i < view->options.count; i++)
        if (view->options.items[i].app_version_id == row->app_version_id &&
            view->options.items[i].app->id == row->appid)
            return &view->options.items[i];
    return NULL;
}

static struct own_job own_job_of(const struct request *request, const struct host_view *view,
                                 const struct host_job *row)
{
    const struct app_row *app = catalog_app(request->catalog, row->result.appid);
    const struct version_option *option = option_of(view, &row->result);
    double flops = option != NULL ? option->usage.projected_flops
                                  : estimate_cpu_flops(request->visit.host.p_fpops);
    struct own_job own = {.name = row->result.name,
                          .is_always_on = app != NULL && app->non_cpu_intensive != 0,
                          .job = {.cpus = 1}};

    if (option != NULL) {
        own.job.cpus = option->usage.avg_ncpus;
        own.job.resource = option->resource;
        own.job.instances = option->usage.coproc_count;
    }
    own.job.wall_time = estimate_wall_time(
        row->workunit.rsc_fpops_est, flops,
        own.job.resource == RESOURCE_CPU ? view->availability.cpu : view->availability.gpu,
        view->correction);
    own.job.deadline =
        (double)(row->result.report_deadline - view_grace_period(request->config)) - view->now;
    return own;
}

static bool is_resent(const struct answer *answer, int64_t resultid)
{
    for (size_t i = 0; i < answer->job_count; i++)
        if (answer->jobs[i].resultid == resultid)
            return true;
    return false;
}

static enum status read_own(struct request *request, const struct host_view *view,
                            struct workload_facts *facts)
{
    const struct host_job *rows = NULL;
    size_t count = 0;
    struct own_job *own;
    enum status status = jobs_in_progress(request, &rows, &count);

    if (status != STATUS_OK)
        return status;
    own = ARENA_ARRAY(request->arena, count, struct own_job);
    if (own == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (!is_resent(&request->visit.answer, rows[i].result.id))
            own[facts->own_count++] = own_job_of(request, view, &rows[i]);
    facts->own = own;
    return STATUS_OK;
}

/* Resent jobs and aborts of the answer. */
static bool read_answer(struct request *request, const struct host_view *view,
                        struct workload_facts *facts)
{
    const struct answer *answer = &request->visit.answer;
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
        if (job->app->non_cpu_intensive == 0)
            resent[facts->resent_count++] =
                workload_job(&use, (double)job->report_deadline - view->now);
    }
    for (const struct text_item *item = answer->aborts.first; item != NULL; item = item->next)
        aborted[facts->aborted_count++] = item->text;
    facts->resent = resent;
    facts->aborted = aborted;
    return true;
}

enum status queue_read(struct request *request, struct host_view *view)
{
    const struct config *config = request->config;
    struct workload_facts facts = {
        .message = &request->message,
        .asked = &view->asked,
        .availability = view->availability,
        .now = view->now,
        .ignore_overdue = config->edf_ignore_overdue * DAY,
        .connection_period = request->visit.prefs.work_buf_min_days * DAY,
        .jobs_max = (size_t)view->limits.reply + ASSIGNED_SPARE,
        .budget = &request->visit.budget,
    };

    if (config->ignore_delay_bound || !config->workload_sim)
        return STATUS_OK;
    if (request->visit.plan.queue_needs_rows) {
        enum status status = read_own(request, view, &facts);
        if (status != STATUS_OK)
            return status;
    }
    if (!read_answer(request, view, &facts))
        return STATUS_NO_MEMORY;
    view->workload = workload_make(request->arena, &facts);
    return view->workload != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}
