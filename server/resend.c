/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that the host should have, against the list of those it says it has.
 *
 * Lost ones (in progress here, not listed there) are sent again, as the reply that carried them was
 * lost or the client was reset; or given up, so that others get the work soon. They are this host's
 * already, so neither the amounts of the request nor its limits per day count, whatever resource
 * they use; what they take is taken off the request before new jobs are chosen. Rows are read
 * and written as sets. A lost job comes again for the version that it was sent for, if the host
 * still runs that one, else for another.
 *
 * Listed ones that nobody needs any more are aborted, if the project wants that. */
#include "server/policy/resend.h"
#include "server/answer.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/catalog.h"
#include "server/in_progress.h"
#include "server/policy/abort.h"
#include "server/policy/amounts.h"
#include "server/request.h"
#include "server/select/answer_work.h"
#include "server/select/claim.h"
#include "server/select/document.h"
#include "server/select/guard.h"
#include "server/select/view.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum {
    NAMED_MAX = 20 /* more tasks than this are not named one by one */
};

/* --- names ---------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* The listed names, sorted. NULL: no memory. */
static struct text *listed_names(const struct request *request)
{
    const struct message *message = &request->message;
    struct text *names = ARENA_ARRAY(request->arena, message->other_result_count, struct text);

    for (size_t i = 0; names != NULL && i < message->other_result_count; i++)
        names[i] = message->other_results[i].name;
    if (names != NULL && message->other_result_count > 0)
        qsort(names, message->other_result_count, sizeof(names[0]), compare_names);
    return names;
}

static bool is_listed(const struct text *names, size_t count, struct text name)
{
    return count > 0 && bsearch(&name, names, count, sizeof(names[0]), compare_names) != NULL;
}

/* --- lost jobs ---------------------------------------------------------------------------------
 */

struct lost {
    const struct host_job *row;
    struct job job;
    int64_t deadline; /* as the client is told */
    struct job_documents documents;
};
struct search {
    struct request *request;
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
    for (size_t i = 0; i < view->options.count; i++)
        if (view->options.items[i].app == job->app &&
            view->options.items[i].app_version_id == job->sent_version_id)
            return view->options.items[i].resource;
    return view->asked.resource_count;
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

    tally_take_resent(&search->tally, &use);
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
                .sent_version_id = row->result.app_version_id},
        .deadline = resend_deadline(&row->result, &row->workunit, view_grace_period(config), now),
    };

    if (lost.deadline == 0) /* timed out already */
        return;
    if (row->workunit.id != 0) {
        bool runs = can_run(search, &lost.job);
        if (runs && (config->ignore_delay_bound ||
                     deadline_is_met(lost.job.use.wall_time, (double)(lost.deadline - now)))) {
            take(search, &lost);
            return;
        }
    }
    search->over[search->over_count++] = *row;
}

/* Divides what is in progress but not listed. */
static enum status find_lost(struct search *search)
{
    struct request *request = search->request;
    size_t listed_count = request->message.other_result_count;
    size_t most = (size_t)search->view.limits.reply;
    const struct text *names = listed_names(request);
    const struct host_job *rows = NULL;
    size_t count = 0;
    enum status status;

    if (names == NULL)
        return STATUS_NO_MEMORY;
    status = jobs_in_progress(request, &rows, &count);
    if (status != STATUS_OK)
        return status;
    search->again = ARENA_ARRAY(request->arena, count, struct lost);
    search->over = ARENA_ARRAY(request->arena, count, struct host_job);
    if (search->again == NULL || search->over == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count && search->again_count < most; i++)
        if (!is_listed(names, listed_count, rows[i].result.name))
            sort_out(search, &rows[i]);
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
        const char *fault = documents_fault(&documents[i]);

        lost->documents = documents[i];
        if (fault == NULL) {
            search->again[kept++] = *lost;
            continue;
        }
        counter_add(COUNTER_jobs_faulty, 1);
        log_line(LOG_LEVEL_WARNING, "event=job_not_sent result=%lld host=%lld why=\"%s\"",
                 (long long)lost->job.resultid, (long long)request->visit.host.id, fault);
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
            .report_deadline = lost->deadline + view_grace_period(request->config),
            .app_version_id = lost->job.option->app_version_id,
            .flops_estimate = lost->job.option->usage.peak_flops,
        };
    }
    if (search->again_count > 0)
        status = db_jobs_resend(request->db, rows, search->again_count);
    if (status == STATUS_OK && search->over_count > 0)
        status = db_jobs_give_up(request->db, search->over, search->over_count, now - 1);
    jobs_in_progress_forget(request);
    return status;
}

static enum status answer_lost(struct search *search)
{
    struct request *request = search->request;
    struct answer *answer = &request->visit.answer;
    struct answer_job *jobs = ARENA_ARRAY(request->arena, search->again_count, struct answer_job);

    if (jobs == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < search->again_count; i++) {
        const struct lost *lost = &search->again[i];
        jobs[i] = claim_describe(&lost->job, &lost->documents);
        jobs[i].is_resent = true;
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
    request->visit.resent = search->again_count;
    return answer_add_jobs(request, jobs, search->again_count) ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum next resend_lost(struct request *request)
{
    struct search *search = ARENA_NEW(request->arena, struct search);
    bool has_begun = false;
    enum status status = STATUS_NO_MEMORY;

    if (search != NULL) {
        search->request = request;
        bool has_view = view_make(request, &search->view);

        /* Whatever pass a job was sent in, it was sent. */
        search->view.disk =
            search->view.space.amounts[request->config->delete_from_self ? DISK_PASSES - 1 : 1];
        if (has_view && tally_begin(&search->view, request->arena, 0, &search->tally))
            status = find_lost(search);
    }
    if (status == STATUS_OK && search->again_count + search->over_count == 0)
        return NEXT_STEP;
    if (status == STATUS_OK && search->again_count > 0)
        status = read_documents(search);
    if (status == STATUS_OK) {
        status = guard_begin(request);
        has_begun = status == STATUS_OK;
    }
    if (status == STATUS_OK)
        status = store(search);
    if (status == STATUS_OK)
        status = answer_lost(search);
    return status == STATUS_OK ? NEXT_STEP : guard_failed(request, status, "lost jobs", has_begun);
}

/* --- aborts --------------------------------------------------------------------------------------
 */

static int compare_jobs(const void *a, const void *b)
{
    return text_compare(((const struct host_job *)a)->result.name,
                        ((const struct host_job *)b)->result.name);
}

static int compare_rows(const void *a, const void *b)
{
    return text_compare(((const struct result_row *)a)->name, ((const struct result_row *)b)->name);
}

/* Of sorted rows the one of this name, byte by byte; the database may have ignored case. */
static const struct host_job *find_job(const struct host_job *jobs, size_t count, struct text name)
{
    const struct host_job key = {.result = {.name = name}};
    return count == 0 ? NULL : bsearch(&key, jobs, count, sizeof(key), compare_jobs);
}

static const struct result_row *find_row(const struct result_row *rows, size_t count,
                                         struct text name)
{
    const struct result_row key = {.name = name};
    return count == 0 ? NULL : bsearch(&key, rows, count, sizeof(key), compare_rows);
}

static void abort_job(struct request *request, struct text name, enum abort_kind kind)
{
    struct answer *answer = &request->visit.answer;

    if (kind == ABORT_IF_NOT_STARTED) {
        text_items_add(request->arena, &answer->aborts_if_not_started, name);
        return;
    }
    text_items_add(request->arena, &answer->aborts, name);
    if (answer->aborts.count <= NAMED_MAX)
        answer_say(request->arena, answer, MESSAGE_LOW,
                   "Task " TEXT_FORMAT " is not needed any more", TEXT_ARG(name));
}

/* Those of the listed names that none of the sorted jobs has. NULL: no memory. */
static struct text *names_without(struct request *request, const struct text *names, size_t count,
                                  const struct host_job *jobs, size_t job_count, size_t *ret_count)
{
    struct text *unknown = ARENA_ARRAY(request->arena, count, struct text);
    size_t unknown_count = 0;

    for (size_t i = 0; unknown != NULL && i < count; i++)
        if (find_job(jobs, job_count, names[i]) == NULL)
            unknown[unknown_count++] = names[i];
    *ret_count = unknown_count;
    return unknown;
}

/* The listed jobs of this host, sorted by name. Nearly always all of them are in progress, and
 * were read for other reasons. */
static enum status read_listed(struct request *request, const struct text *names, size_t count,
                               struct host_job **ret_jobs, size_t *ret_count)
{
    const struct host_job *rows = NULL;
    struct host_job *jobs, *more = NULL;
    struct text *unknown;
    size_t row_count = 0, job_count = 0, unknown_count, more_count = 0;
    enum status status = jobs_in_progress(request, &rows, &row_count);

    if (status != STATUS_OK)
        return status;
    jobs = ARENA_ARRAY(request->arena, row_count, struct host_job);
    if (jobs == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < row_count; i++)
        if (is_listed(names, count, rows[i].result.name))
            jobs[job_count++] = rows[i];
    if (job_count > 0)
        qsort(jobs, job_count, sizeof(jobs[0]), compare_jobs);
    unknown = names_without(request, names, count, jobs, job_count, &unknown_count);
    if (unknown == NULL)
        return STATUS_NO_MEMORY;
    if (unknown_count > 0)
        status = db_jobs_by_name(request->db, request->arena, request->visit.host.id, unknown,
                                 unknown_count, &more, &more_count);
    if (status != STATUS_OK)
        return status;
    *ret_jobs = ARENA_ARRAY(request->arena, job_count + more_count, struct host_job);
    *ret_count = job_count + more_count;
    if (*ret_jobs == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < *ret_count; i++)
        (*ret_jobs)[i] = i < job_count ? jobs[i] : more[i - job_count];
    if (*ret_count > 0)
        qsort(*ret_jobs, *ret_count, sizeof(jobs[0]), compare_jobs);
    return STATUS_OK;
}

/* The rows of the listed jobs that are not this host's, wherever they are. */
static enum status read_unknown(struct request *request, const struct text *names, size_t count,
                                const struct host_job *jobs, size_t job_count,
                                struct result_row **ret_rows, size_t *ret_count)
{
    size_t unknown_count;
    struct text *unknown = names_without(request, names, count, jobs, job_count, &unknown_count);

    *ret_rows = NULL;
    *ret_count = 0;
    if (unknown == NULL)
        return STATUS_NO_MEMORY;
    if (unknown_count == 0)
        return STATUS_OK;
    return db_results_by_name(request->db, request->arena, unknown, unknown_count, ret_rows,
                              ret_count);
}

static enum next abort_unneeded(struct request *request)
{
    size_t count = request->message.other_result_count;
    const struct text *names = listed_names(request);
    struct host_job *jobs = NULL;
    struct result_row *rows = NULL;
    size_t job_count = 0, row_count = 0;
    enum status status = STATUS_NO_MEMORY;

    if (names != NULL)
        status = read_listed(request, names, count, &jobs, &job_count);
    if (status == STATUS_OK)
        status = read_unknown(request, names, count, jobs, job_count, &rows, &row_count);
    if (status == STATUS_OK && row_count > 0)
        qsort(rows, row_count, sizeof(rows[0]), compare_rows);
    if (status == STATUS_DB_REFUSED || status == STATUS_DB_BUG) {
        /* In doubt nothing is aborted. */
        log_line(LOG_LEVEL_CRITICAL, "event=aborts_not_looked_up host=%lld error=\"%s\"",
                 (long long)request->visit.host.id, db_error(request->db));
        return NEXT_STEP;
    }
    if (status != STATUS_OK)
        return request_failed(request, status, "aborts");
    for (size_t i = 0; i < count; i++) {
        struct text name = request->message.other_results[i].name;
        const struct host_job *job = find_job(jobs, job_count, name);
        const struct result_row *row = job != NULL ? &job->result : find_row(rows, row_count, name);
        enum abort_kind kind =
            abort_decide(row, job != NULL ? &job->workunit : NULL, request->visit.user.id);
        if (kind != ABORT_NOT)
            abort_job(request, name, kind);
    }
    return NEXT_STEP;
}

/* Resent only when work is asked for, and may be given: who wants none would not run them. One that
 * comes too early may be here because the reply was lost, and these jobs are its own already. */
static bool may_resend(const struct request *request)
{
    return request->message.has_other_results && !request->message.results_truncated &&
           !request->work_forbidden &&
           (!request->visit.work_refused || request->visit.too_recent) &&
           (request->config->resend_lost_results || request->visit.force_resend) &&
           message_wants_work(&request->message);
}

enum next step_resend(struct request *request)
{
    enum next next = NEXT_STEP;

    if (may_resend(request) && !request->visit.host_is_new)
        next = resend_lost(request);
    if (next == NEXT_STEP && request->config->send_result_abort &&
        request->message.other_result_count > 0)
        next = abort_unneeded(request);
    return next;
}
