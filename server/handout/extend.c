/* SPDX-License-Identifier: Apache-2.0 */
/* More time for this host's jobs that will be late but are under way (policy(7) 11.3). What the
 * client lists says which jobs may be concerned; nearly always there are none, and nothing is asked
 * of the database. The deadline is written at the end of the transaction, and only if the job is
 * still in progress then: a time-out that came first stands. */
#include "server/handout/handout.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/base/sorted.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/refusal/delay.h"
#include "server/policy/result/extension.h"
#include "server/policy/version/estimate.h"
#include "server/reply/answer.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

/* A part of the request's seed. */
enum { SEED_CONTACT = 0x6578 };

/* A listed job that may get more time. */
struct candidate_job {
    struct text name;
    const struct ip_result *running; /* NULL: it is computed */
};

static int compare_running(const void *a, const void *b)
{
    return text_compare((*(const struct ip_result *const *)a)->name,
                        (*(const struct ip_result *const *)b)->name);
}

static int compare_candidates(const void *a, const void *b)
{
    return text_compare(((const struct candidate_job *)a)->name,
                        ((const struct candidate_job *)b)->name);
}

/* The client's queue by name. NULL: no memory. */
static const struct ip_result **sort_queue(struct request *request)
{
    const struct message *message = &request->message;
    const struct ip_result **queue =
        ARENA_ARRAY(request->arena, message->ip_result_count, const struct ip_result *);

    for (size_t i = 0; queue != NULL && i < message->ip_result_count; i++)
        queue[i] = &message->ip_results[i];
    if (queue != NULL && message->ip_result_count > 1)
        qsort(queue, message->ip_result_count, sizeof(queue[0]), compare_running);
    return queue;
}

static const struct ip_result *find_running(const struct ip_result *const *queue, size_t count,
                                            struct text name)
{
    const struct ip_result key = {.name = name}, *key_at = &key;
    const struct ip_result *const *found =
        count == 0 ? NULL : bsearch(&key_at, queue, count, sizeof(queue[0]), compare_running);

    return found != NULL ? *found : NULL;
}

/* Sorted by name; also when the first of the deadlines that lie ahead comes. NULL: no memory. */
static struct candidate_job *find_candidates(struct request *request, size_t *ret_count)
{
    const struct message *message = &request->message;
    const struct ip_result **queue = sort_queue(request);
    struct candidate_job *found =
        ARENA_ARRAY(request->arena, message->other_result_count, struct candidate_job);
    double first = INFINITY;

    *ret_count = 0;
    if (queue == NULL || found == NULL)
        return NULL;
    for (size_t i = 0; i < message->other_result_count; i++) {
        struct text name = message->other_results[i].name;
        const struct ip_result *running = find_running(queue, message->ip_result_count, name);

        if (running == NULL || (running->has_report_deadline &&
                                extension_concerns(running->report_deadline, request->now)))
            found[(*ret_count)++] = (struct candidate_job){.name = name, .running = running};
        if (running != NULL && running->has_report_deadline &&
            running->report_deadline > request->now)
            first = fmin(first, running->report_deadline);
    }
    if (*ret_count > 1)
        qsort(found, *ret_count, sizeof(found[0]), compare_candidates);
    request->attempt.first_deadline = first;
    return found;
}

static int64_t deadline_of(const struct request *request, const struct candidate_job *candidate,
                           const struct host_job *row)
{
    const struct availability availability = request_expected_availability(request);
    const struct ip_result *running = candidate->running;
    struct extension_facts facts = {.now = request->now,
                                    .sent_time = row->result.sent_time,
                                    .delay_bound = row->workunit.delay_bound,
                                    .stored = row->result.report_deadline,
                                    .grace = grace_period(request->config),
                                    .is_computed = running == NULL};

    if (running != NULL) {
        bool uses_coproc = running->ncudas + running->natis + running->nintel_gpus > 0;

        facts.told = running->report_deadline;
        facts.left = running->time_remaining;
        facts.availability = uses_coproc ? availability.gpu : availability.cpu;
    }
    return extension_deadline(&facts);
}

static enum status extend(struct request *request, const struct candidate_job *candidates,
                          size_t count)
{
    const struct host_job *rows = NULL;
    struct extended_result *extended;
    size_t row_count = 0, extended_count = 0;
    enum status status = jobs_in_progress(request, &rows, &row_count);

    if (status != STATUS_OK)
        return status;
    extended = ARENA_ARRAY(request->arena, row_count, struct extended_result);
    if (extended == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < row_count; i++) {
        const struct candidate_job key = {.name = rows[i].result.name};
        const struct candidate_job *candidate =
            bsearch(&key, candidates, count, sizeof(key), compare_candidates);
        int64_t deadline;

        if (candidate == NULL)
            continue;
        deadline = deadline_of(request, candidate, &rows[i]);
        if (deadline > rows[i].result.report_deadline)
            extended[extended_count++] = (struct extended_result){
                .id = rows[i].result.id, .workunitid = rows[i].workunit.id, .deadline = deadline};
    }
    return extended_count == 0
               ? STATUS_OK
               : db_results_extend(request->db, request->arena, extended, extended_count);
}

/* Clients without a queue in their requests do not say what they are working on. Where names cost
 * too much, the jobs wait for another request. */
static bool may_extend(struct request *request)
{
    const struct message *message = &request->message;

    return request->config->extend_deadlines && message->has_ip_results &&
           message->other_result_count > 0 && !request->attempt.host_is_new &&
           !request->attempt.detaches &&
           budget_spend(&request->attempt.budget,
                        budget_of_sorting_names(message->ip_result_count) +
                            budget_of_sorting_names(message->other_result_count) +
                            budget_of_searching_names(message->other_result_count,
                                                      message->ip_result_count) +
                            budget_of_searching_names(in_progress_named(request),
                                                      message->other_result_count));
}

enum next step_extend(struct request *request)
{
    struct candidate_job *candidates;
    size_t count = 0;
    enum status status = STATUS_OK;

    request->attempt.first_deadline = INFINITY;
    if (!may_extend(request))
        return NEXT_STEP;
    candidates = find_candidates(request, &count);
    if (candidates == NULL)
        return request_failed(request, STATUS_NO_MEMORY, "extensions");
    if (count > 0)
        status = extend(request, candidates, count);
    if (status == STATUS_DB_REFUSED || status == STATUS_DB_BUG) { /* it is asked at each contact */
        log_line_with(LOG_LEVEL_CRITICAL, "error", text_from(db_error(request->db)),
                      "event=deadlines_not_extended host=%lld",
                      (long long)request->attempt.host.id);
        return NEXT_STEP;
    }
    return status == STATUS_OK ? NEXT_STEP : request_failed(request, status, "extensions");
}

/* What is spread by chance comes no later than it should. */
void extend_next_contact(struct request *request)
{
    const struct config *config = request->config;
    struct answer *answer = &request->attempt.answer;
    double first = request->attempt.first_deadline;
    double least = delay_in_reply(answer->request_delay, config->min_sendwork_interval);
    double contact;

    if (!config->extend_deadlines ||
        (request->message.other_result_count == 0 && answer->job_count == 0))
        return;
    for (size_t i = 0; i < answer->job_count; i++)
        first = fmin(first, (double)answer->jobs[i].report_deadline);
    contact = extension_contact(request->now, first, least) / (1 + config->delay_jitter);
    contact = delay_spread(contact, &request->load, config->delay_jitter,
                           random_mix(request->seed, SEED_CONTACT));
    answer->next_contact = fmax(contact, least);
}
