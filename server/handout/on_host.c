/* SPDX-License-Identifier: Apache-2.0 */
/* The limits count what the client lists or what the database knows, whichever is more: old clients
 * list nothing, and what a host has lost is still its own until its deadline. Otherwise a host that
 * loses or breaks its jobs would be given more and more. */
#include "server/handout/on_host.h"

#include "server/base/arena.h"
#include "server/handout/view.h"
#include "server/reply/answer.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

/* Resent jobs are counted with the answer. */
static bool is_in_answer(const struct answer *answer, int64_t resultid)
{
    for (size_t i = 0; i < answer->job_count; i++)
        if (answer->jobs[i].resultid == resultid)
            return true;
    return false;
}

/* A version that is not known any more was one for the CPU, as most are. */
static size_t resource_of(const struct host_view *view, int64_t app_version_id)
{
    for (size_t i = 0; i < view->options.count; i++)
        if (view->options.items[i].app_version_id == app_version_id)
            return view->options.items[i].resource;
    return RESOURCE_CPU;
}

static void count_more(struct app_count *count, const struct app_count *other)
{
    if (other->total > count->total)
        count->total = other->total;
    for (size_t i = 0; i < RESOURCES_MAX; i++)
        if (other->by_resource[i] > count->by_resource[i])
            count->by_resource[i] = other->by_resource[i];
}

enum status on_host_count(struct request *request, struct host_view *view)
{
    int64_t in_progress[RESOURCES_MAX] = {0}, total = 0;
    struct app_count *apps;
    const struct result_row *rows = NULL;
    size_t count = 0;
    enum status status;

    if (!request->visit.plan.counts_rows)
        return STATUS_OK;
    status = results_in_progress(request, &rows, &count);
    if (status != STATUS_OK)
        return status;
    apps = ARENA_ARRAY(request->arena, view->app_limit_count, struct app_count);
    if (apps == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct result_row *row = &rows[i];
        size_t resource = resource_of(view, row->app_version_id);

        if (row->report_deadline < (int64_t)view->now ||
            is_in_answer(&request->visit.answer, row->id))
            continue;
        if (resource < view->asked.resource_count)
            in_progress[resource]++;
        total++;
        view_count_job(apps, view, row->appid, resource);
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
