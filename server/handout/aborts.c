/* SPDX-License-Identifier: Apache-2.0 */
/* Listed jobs that nobody needs any more are aborted: the host's own by their rows, which nearly
 * always were read for other reasons; others by name, wherever they are. What is
 * not certain is not aborted, nor is what the request reports: that is done, and acknowledged. */
#include "server/handout/handout.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/log.h"
#include "server/base/sorted.h"
#include "server/policy/result/reconcile.h"
#include "server/reply/answer.h"
#include "server/rpc/in_progress.h"

#include <stdlib.h>

#include "server/base/banned.h"

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

/* The names of the jobs that the request reports, sorted when they are first asked for. */
struct reported {
    struct text *names; /* NULL: not known */
    bool is_asked;
};

static struct text *sort_reported(struct request *request)
{
    const struct message *message = &request->message;
    size_t count = message->result_count;
    struct text *names = NULL;

    if (budget_spend(&request->attempt.budget, budget_of_sorting_names(count)))
        names = ARENA_ARRAY(request->arena, count, struct text);
    for (size_t i = 0; names != NULL && i < count; i++)
        names[i] = message->results[i].name;
    if (names != NULL)
        sorted_names(names, count);
    return names;
}

/* Where names cost too much, any may be reported. */
static bool is_reported(struct request *request, struct reported *reported, struct text name)
{
    if (request->message.result_count == 0)
        return false;
    if (!reported->is_asked)
        reported->names = sort_reported(request);
    reported->is_asked = true;
    return reported->names == NULL ||
           sorted_has_name(reported->names, request->message.result_count, name);
}

static void abort_job(struct request *request, struct text name, enum abort_kind kind)
{
    struct answer *answer = &request->attempt.answer;

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
 * were read for other reasons. The others are asked for by name, here and in read_unknown, which is
 * charged here: STATUS_NOT_FOUND if it costs too much. */
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
        if (sorted_has_name(names, count, rows[i].result.name))
            jobs[job_count++] = rows[i];
    if (job_count > 0)
        qsort(jobs, job_count, sizeof(jobs[0]), compare_jobs);
    unknown = names_without(request, names, count, jobs, job_count, &unknown_count);
    if (unknown == NULL)
        return STATUS_NO_MEMORY;
    if (!budget_spend(&request->attempt.budget, unknown_count * 2 * BUDGET_ROW))
        return STATUS_NOT_FOUND;
    if (unknown_count > 0)
        status = db_jobs_by_name(request->db, request->arena, request->attempt.host.id, unknown,
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

enum next abort_unneeded(struct request *request, const struct text *names)
{
    size_t count = request->message.other_result_count;
    struct host_job *jobs = NULL;
    struct result_row *rows = NULL;
    struct reported reported = {0};
    size_t job_count = 0, row_count = 0;
    enum status status = read_listed(request, names, count, &jobs, &job_count);

    if (status == STATUS_NOT_FOUND) /* aborts wait for a request that lists fewer strangers */
        return NEXT_STEP;
    if (status == STATUS_OK)
        status = read_unknown(request, names, count, jobs, job_count, &rows, &row_count);
    if (status == STATUS_OK && row_count > 0)
        qsort(rows, row_count, sizeof(rows[0]), compare_rows);
    if (status == STATUS_DB_REFUSED || status == STATUS_DB_BUG) {
        /* Nobody knows what is needed. */
        log_line_with(LOG_LEVEL_CRITICAL, "error", text_from(db_error(request->db)),
                      "event=aborts_not_looked_up host=%lld", (long long)request->attempt.host.id);
        return NEXT_STEP;
    }
    if (status != STATUS_OK)
        return request_failed(request, status, "aborts");
    for (size_t i = 0; i < count; i++) {
        struct text name = request->message.other_results[i].name;
        const struct host_job *job = find_job(jobs, job_count, name);
        const struct result_row *row = job != NULL ? &job->result : find_row(rows, row_count, name);
        enum abort_kind kind =
            abort_decide(row, job != NULL ? &job->workunit : NULL, request->attempt.user.id);
        if (kind != ABORT_NOT && !is_reported(request, &reported, name))
            abort_job(request, name, kind);
    }
    return NEXT_STEP;
}
