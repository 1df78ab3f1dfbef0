/* SPDX-License-Identifier: Apache-2.0 */
/* The rows are kept in struct attempt, so another try at the transaction reads them again. */
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
    struct attempt *attempt = &request->attempt;
    size_t count = 0;
    enum status status;

    status = db_jobs_in_progress(request->db, request->arena, attempt->host.id, rows_most(request),
                                 &attempt->in_progress_jobs, &count);

    if (status != STATUS_OK)
        return status;
    attempt->in_progress = ARENA_ARRAY(request->arena, count, struct result_row);
    if (attempt->in_progress == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        attempt->in_progress[i] = attempt->in_progress_jobs[i].result;
    attempt->in_progress_count = count;
    attempt->in_progress_has_jobs = true;
    return STATUS_OK;
}

enum status in_progress_ask_ahead(struct request *request)
{
    const struct request_plan *plan = &request->attempt.plan;

    if (!plan->reads_in_progress || !plan->reads_versions)
        return STATUS_OK;
    return db_host_ask_ahead(request->db, request->attempt.host.id, plan->needs_workunits,
                             rows_most(request));
}

void in_progress_take(struct request *request, struct result_row *rows, size_t count)
{
    struct attempt *attempt = &request->attempt;

    attempt->in_progress = rows;
    attempt->in_progress_count = count;
    attempt->in_progress_is_read = true;
}

enum status results_in_progress(struct request *request, const struct result_row **ret_rows,
                                size_t *ret_count)
{
    struct attempt *attempt = &request->attempt;
    enum status status = STATUS_OK;

    if (!attempt->in_progress_is_read && !attempt->host_is_new)
        status = attempt->plan.needs_workunits
                     ? read_jobs(request)
                     : db_results_in_progress(request->db, request->arena, attempt->host.id,
                                              rows_most(request), &attempt->in_progress,
                                              &attempt->in_progress_count);
    if (status != STATUS_OK)
        return status;
    attempt->in_progress_is_read = true;
    *ret_rows = attempt->in_progress;
    *ret_count = attempt->in_progress_count;
    return STATUS_OK;
}

enum status jobs_in_progress(struct request *request, const struct host_job **ret_jobs,
                             size_t *ret_count)
{
    struct attempt *attempt = &request->attempt;
    enum status status = STATUS_OK;

    if (!attempt->in_progress_has_jobs && !attempt->host_is_new)
        status = read_jobs(request);
    if (status != STATUS_OK)
        return status;
    attempt->in_progress_is_read = true;
    *ret_jobs = attempt->in_progress_jobs;
    *ret_count = attempt->in_progress_count;
    return STATUS_OK;
}

void results_in_progress_drop(struct request *request,
                              bool (*is_gone)(const void *context, const struct result_row *row),
                              const void *context)
{
    struct attempt *attempt = &request->attempt;
    size_t kept = 0;

    for (size_t i = 0; i < attempt->in_progress_count; i++) {
        if (is_gone(context, &attempt->in_progress[i]))
            continue;
        attempt->in_progress[kept] = attempt->in_progress[i];
        if (attempt->in_progress_has_jobs)
            attempt->in_progress_jobs[kept] = attempt->in_progress_jobs[i];
        kept++;
    }
    attempt->in_progress_count = kept;
}

void jobs_in_progress_forget(struct request *request)
{
    struct attempt *attempt = &request->attempt;

    attempt->in_progress_is_read = attempt->in_progress_has_jobs = false;
    attempt->in_progress_count = 0;
}
