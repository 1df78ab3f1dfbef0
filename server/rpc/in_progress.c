/* SPDX-License-Identifier: Apache-2.0 */
/* The rows are kept in the visit, so another attempt at the transaction reads them again. */
#include "server/rpc/in_progress.h"

#include "server/base/arena.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

size_t in_progress_named(const struct request *request)
{
    return request->message.other_result_count + request->message.result_count;
}

static size_t rows_most(const struct request *request)
{
    return in_progress_named(request) + IN_PROGRESS_SPARE;
}

static enum status read_jobs(struct request *request)
{
    struct visit *visit = &request->visit;
    size_t count = 0;
    enum status status;

    status = db_jobs_in_progress(request->db, request->arena, visit->host.id, rows_most(request),
                                 &visit->in_progress_jobs, &count);

    if (status != STATUS_OK)
        return status;
    visit->in_progress = ARENA_ARRAY(request->arena, count, struct result_row);
    if (visit->in_progress == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        visit->in_progress[i] = visit->in_progress_jobs[i].result;
    visit->in_progress_count = count;
    visit->in_progress_has_jobs = true;
    return STATUS_OK;
}

enum status in_progress_ask_ahead(struct request *request)
{
    const struct request_plan *plan = &request->visit.plan;

    if (!plan->reads_in_progress || !plan->reads_versions)
        return STATUS_OK;
    return db_host_ask_ahead(request->db, request->visit.host.id, plan->needs_workunits,
                             rows_most(request));
}

void in_progress_take(struct request *request, struct result_row *rows, size_t count)
{
    struct visit *visit = &request->visit;

    visit->in_progress = rows;
    visit->in_progress_count = count;
    visit->in_progress_is_read = true;
}

enum status results_in_progress(struct request *request, const struct result_row **ret_rows,
                                size_t *ret_count)
{
    struct visit *visit = &request->visit;
    enum status status = STATUS_OK;

    if (!visit->in_progress_is_read && !visit->host_is_new)
        status = visit->plan.needs_workunits
                     ? read_jobs(request)
                     : db_results_in_progress(request->db, request->arena, visit->host.id,
                                              rows_most(request), &visit->in_progress,
                                              &visit->in_progress_count);
    if (status != STATUS_OK)
        return status;
    visit->in_progress_is_read = true;
    *ret_rows = visit->in_progress;
    *ret_count = visit->in_progress_count;
    return STATUS_OK;
}

enum status jobs_in_progress(struct request *request, const struct host_job **ret_jobs,
                             size_t *ret_count)
{
    struct visit *visit = &request->visit;
    enum status status = STATUS_OK;

    if (!visit->in_progress_has_jobs && !visit->host_is_new)
        status = read_jobs(request);
    if (status != STATUS_OK)
        return status;
    visit->in_progress_is_read = true;
    *ret_jobs = visit->in_progress_jobs;
    *ret_count = visit->in_progress_count;
    return STATUS_OK;
}

void results_in_progress_drop(struct request *request,
                              bool (*is_gone)(const void *context, const struct result_row *row),
                              const void *context)
{
    struct visit *visit = &request->visit;
    size_t kept = 0;

    for (size_t i = 0; i < visit->in_progress_count; i++) {
        if (is_gone(context, &visit->in_progress[i]))
            continue;
        visit->in_progress[kept] = visit->in_progress[i];
        if (visit->in_progress_has_jobs)
            visit->in_progress_jobs[kept] = visit->in_progress_jobs[i];
        kept++;
    }
    visit->in_progress_count = kept;
}

void jobs_in_progress_forget(struct request *request)
{
    struct visit *visit = &request->visit;

    visit->in_progress_is_read = visit->in_progress_has_jobs = false;
    visit->in_progress_count = 0;
}
