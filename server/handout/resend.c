/* SPDX-License-Identifier: Apache-2.0 */
/* Lost jobs (in progress here, not listed there) are sent again, as the reply that carried them was
 * lost or the client was reset; or given up, so that others get the work soon (policy(7) 11.1).
 * They are this host's already, so neither the amounts of the request nor its limits per day count,
 * whatever resource they use; what they take is taken off the request before new jobs are chosen.
 * Rows are read and written as sets. A lost job comes again for the version that it was sent for,
 * if the host still runs that one, else for another. */
#include "config/config.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/base/sorted.h"
#include "server/handout/claim.h"
#include "server/handout/handout.h"
#include "server/handout/view.h"
#include "server/policy/edf/deadline.h"
#include "server/policy/result/reconcile.h"
#include "server/policy/version/buda.h"
#include "server/project/catalog.h"
#include "server/reply/answer.h"
#include "server/reply/reply.h"
#include "server/rpc/in_progress.h"

#include <stdlib.h>

#include "server/base/banned.h"

struct lost {
    const struct host_job *row;
    struct job job;
    int64_t deadline; /* as the client is told */
    struct job_documents documents;
};
struct search {
    struct request *request;
    const struct text *names; /* of the jobs that the client lists, sorted */
    struct host_view view;
    struct tally tally;
    struct lost *again; /* to be sent again */
    size_t again_count;
    struct host_job *over; /* to be given up */
    size_t over_count;
};

/* What the version runs on that the job was sent for; resource_count: there is no such version. */
static size_t resource_of_then(const struct host_view *view, const struct job *job)
{
    const struct version_option *option =
        job->app != NULL ? version_option_find(&view->options, job->app->id, job->sent_version_id,
                                               job->sent_variant)
                         : NULL;

    return option != NULL ? option->resource : view->asked.resource_count;
}

/* Whether the host can run the job, if possible as it was sent; sets its version and use. */
static bool can_run(struct search *search, struct job *job)
{
    const struct host_view *view = &search->view;
    size_t count = view->asked.resource_count, first = resource_of_then(view, job);
    struct refusal refusal;

    if (first < count && job_check(view, &search->tally, CHECK_RESEND, first, job, &refusal))
        return true;
    for (size_t resource = 0; resource < count; resource++)
        if (resource != first &&
            job_check(view, &search->tally, CHECK_RESEND, resource, job, &refusal))
            return true;
    return false;
}

static void take(struct search *search, const struct lost *lost)
{
    const struct tally_use use = {.use = lost->job.use,
                                  .workunitid = lost->job.workunit->id,
                                  .appid = lost->job.app->id,
                                  .disk = lost->job.workunit->rsc_disk_bound,
                                  .is_always_on = lost->job.app->non_cpu_intensive != 0};

    tally_take_use(&search->tally, &use);
    search->again[search->again_count++] = *lost;
}

static void sort_out(struct search *search, const struct host_job *row)
{
    const struct config *config = search->request->config;
    int64_t now = (int64_t)search->request->now;
    struct lost lost = {
        .row = row,
        .job = {.resultid = row->result.id,
                .workunit = &row->workunit,
                .app = catalog_app(search->request->catalog, row->result.appid),
                .sent_version_id = row->result.app_version_id,
                .sent_variant = row->result.variant},
        .deadline = resend_deadline(&row->result, &row->workunit, grace_period(config), now),
    };

    if (lost.deadline == 0) /* timed out already */
        return;
    if (row->workunit.id != 0) {
        bool runs = can_run(search, &lost.job);
        double time = workload_time(&lost.job.use, &search->view.stretch);
        if (runs &&
            (config->ignore_delay_bound || deadline_is_met(time, (double)(lost.deadline - now)))) {
            take(search, &lost);
            return;
        }
    }
    search->over[search->over_count++] = *row;
}

/* What is in progress but not listed. */
static enum status find_lost(struct search *search, struct result_row **ret_rows, size_t *ret_count)
{
    struct request *request = search->request;
    size_t listed_count = request->message.other_result_count, count = 0;
    const struct result_row *rows = NULL;
    enum status status = results_in_progress(request, &rows, &count);

    *ret_count = 0;
    if (status != STATUS_OK)
        return status;
    *ret_rows = ARENA_ARRAY(request->arena, count, struct result_row);
    if (*ret_rows == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (!sorted_has_name(search->names, listed_count, rows[i].name))
            (*ret_rows)[(*ret_count)++] = rows[i];
    return STATUS_OK;
}

/* These with their workunits, oldest first as they are. */
static enum status read_lost(struct request *request, const struct result_row *rows, size_t count,
                             struct host_job **ret_jobs, size_t *ret_count)
{
    const struct attempt *attempt = &request->attempt;
    struct text *names = ARENA_ARRAY(request->arena, count, struct text);
    size_t found = 0;
    enum status status;

    *ret_count = 0;
    *ret_jobs = ARENA_ARRAY(request->arena, count, struct host_job);
    if (names == NULL || *ret_jobs == NULL)
        return STATUS_NO_MEMORY;
    if (attempt->in_progress_has_jobs) { /* in the same order */
        for (size_t i = 0; i < attempt->in_progress_count && *ret_count < count; i++)
            if (attempt->in_progress_jobs[i].result.id == rows[*ret_count].id)
                (*ret_jobs)[(*ret_count)++] = attempt->in_progress_jobs[i];
        return STATUS_OK;
    }
    for (size_t i = 0; i < count; i++)
        names[i] = rows[i].name;
    status = db_jobs_by_name(request->db, request->arena, request->attempt.host.id, names, count,
                             ret_jobs, &found);
    for (size_t i = 0; status == STATUS_OK && i < found; i++) /* a moment ago they all were */
        if ((*ret_jobs)[i].result.server_state == RESULT_IN_PROGRESS)
            (*ret_jobs)[(*ret_count)++] = (*ret_jobs)[i];
    if (*ret_count > 1)
        qsort(*ret_jobs, *ret_count, sizeof((*ret_jobs)[0]), db_compare_jobs_by_age);
    return status;
}

/* Divides what was lost: as many as the reply may hold are sent again. */
static enum status sort_out_lost(struct search *search)
{
    struct request *request = search->request;
    size_t most = (size_t)search->view.limits.reply, count = 0, part;
    struct result_row *rows = NULL;
    enum status status = find_lost(search, &rows, &count);

    if (status != STATUS_OK)
        return status;
    search->again = ARENA_ARRAY(request->arena, count, struct lost);
    search->over = ARENA_ARRAY(request->arena, count, struct host_job);
    if (search->again == NULL || search->over == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count && search->again_count < most; i += part) {
        struct host_job *jobs = NULL;
        size_t job_count = 0;

        part = most - search->again_count < count - i ? most - search->again_count : count - i;
        status = read_lost(request, rows + i, part, &jobs, &job_count);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < job_count; j++)
            sort_out(search, &jobs[j]);
    }
    return STATUS_OK;
}

/* Moves jobs whose documents cannot be written to those that are given up. */
static enum status read_documents(struct search *search)
{
    struct request *request = search->request;
    size_t count = search->again_count, kept = 0;
    int64_t *ids = ARENA_ARRAY(request->arena, count, int64_t);
    struct job_documents *documents = ARENA_ARRAY(request->arena, count, struct job_documents);
    enum status status;

    if (ids == NULL || documents == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        ids[i] = search->again[i].job.resultid;
    status = db_job_documents(request->db, request->arena, ids, count, documents);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        struct lost *lost = &search->again[i];
        const struct answer_job job = claim_describe(&lost->job, &documents[i]);
        const char *fault = reply_job_fault(&job, request->client_version);

        lost->documents = documents[i];
        if (fault == NULL) {
            search->again[kept++] = *lost;
            continue;
        }
        counter_add(COUNTER_jobs_faulty, 1);
        log_line(LOG_LEVEL_WARNING, "event=job_not_sent result=%lld host=%lld why=\"%s\"",
                 (long long)lost->job.resultid, (long long)request->attempt.host.id, fault);
        search->over[search->over_count++] = *lost->row;
    }
    search->again_count = kept;
    return STATUS_OK;
}

static enum status store(struct search *search)
{
    struct request *request = search->request;
    struct resent_job *rows = ARENA_ARRAY(request->arena, search->again_count, struct resent_job);
    int64_t now = (int64_t)request->now;
    enum status status = STATUS_OK;

    if (rows == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < search->again_count; i++) {
        const struct lost *lost = &search->again[i];
        rows[i] = (struct resent_job){
            .resultid = lost->job.resultid,
            .workunitid = lost->job.workunit->id,
            .sent_time = now,
            .report_deadline = lost->deadline + grace_period(request->config),
            .app_version_id = lost->job.option->app_version_id,
            .flops_estimate = lost->job.option->stored_peak,
            .variant = lost->job.option->variant != NULL ? lost->job.option->variant->number : 0,
        };
    }
    if (search->again_count > 0)
        status = db_jobs_resend(request->db, request->arena, rows, search->again_count);
    if (status == STATUS_OK && search->over_count > 0)
        status = db_jobs_give_up(request->db, search->over, search->over_count, now - 1);
    jobs_in_progress_forget(request);
    return status;
}

static enum status answer_lost(struct search *search)
{
    struct request *request = search->request;
    struct answer *answer = &request->attempt.answer;
    struct answer_job *jobs = ARENA_ARRAY(request->arena, search->again_count, struct answer_job);

    if (jobs == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < search->again_count; i++) {
        const struct lost *lost = &search->again[i];
        jobs[i] = claim_describe(&lost->job, &lost->documents);
        jobs[i].is_resent = jobs[i].is_checked = true;
        jobs[i].report_deadline = lost->deadline;
        if (i < NAMED_MAX)
            answer_say(request->arena, answer, MESSAGE_LOW, "Resent lost task " TEXT_FORMAT,
                       TEXT_ARG(lost->row->result.name));
    }
    if (search->again_count > NAMED_MAX)
        answer_say(request->arena, answer, MESSAGE_LOW, "Resent %zu lost tasks in all",
                   search->again_count);
    for (size_t i = 0; i < search->over_count && i < NAMED_MAX; i++)
        answer_say(request->arena, answer, MESSAGE_LOW,
                   "Didn't resend lost task " TEXT_FORMAT ", which this computer cannot finish",
                   TEXT_ARG(search->over[i].result.name));
    request->attempt.resent = search->again_count;
    return handout_add_jobs(request, jobs, search->again_count) ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum next resend_lost(struct request *request, const struct text *names)
{
    struct search *search = ARENA_NEW(request->arena, struct search);
    bool has_savepoint = false;
    enum status status = STATUS_NO_MEMORY;

    if (search != NULL) {
        search->request = request;
        search->names = names;
        status = view_read(request, VIEW_RESEND, &search->view);
        if (status == STATUS_OK && !tally_begin(&search->view, request->arena, 0, &search->tally))
            status = STATUS_NO_MEMORY;
        if (status == STATUS_OK)
            status = sort_out_lost(search);
    }
    if (status == STATUS_OK && search->again_count + search->over_count == 0)
        return NEXT_STEP;
    if (status == STATUS_OK && search->again_count > 0)
        status = read_documents(search);
    if (status == STATUS_OK) {
        status = db_savepoint(request->db);
        has_savepoint = status == STATUS_OK;
    }
    if (status == STATUS_OK)
        status = store(search);
    if (status == STATUS_OK)
        status = answer_lost(search);
    return status == STATUS_OK ? NEXT_STEP
                               : handout_failed(request, status, "lost jobs", has_savepoint);
}

/* The names of the jobs that the client lists, sorted. *ret_names NULL: that costs too much. */
static enum status sort_listed_names(struct request *request, const struct text **ret_names)
{
    const struct message *message = &request->message;
    size_t count = message->other_result_count;
    struct text *names;

    *ret_names = NULL;
    if (!budget_spend(&request->attempt.budget, budget_of_sorting_names(count)))
        return STATUS_OK;
    names = ARENA_ARRAY(request->arena, count, struct text);
    if (names == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        names[i] = message->other_results[i].name;
    sorted_names(names, count);
    *ret_names = names;
    return STATUS_OK;
}

/* Where names cost too much, lost jobs and aborts wait for another request. */
enum next step_resend(struct request *request)
{
    const struct attempt *attempt = &request->attempt;
    bool resends =
        attempt->plan.will_resend || (attempt->plan.resends_if_booked && attempt->force_resend);
    const struct text *names = NULL;
    enum next next = NEXT_STEP;
    enum status status = STATUS_OK;

    if (resends || attempt->plan.aborts)
        status = sort_listed_names(request, &names);
    if (status != STATUS_OK)
        return request_failed(request, status, "names");
    if (names != NULL && resends)
        next = resend_lost(request, names);
    if (names != NULL && next == NEXT_STEP && attempt->plan.aborts)
        next = abort_unneeded(request, names);
    return next;
}
