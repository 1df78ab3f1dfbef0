/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of one request, and what becomes of it.
 *
 * Parse and screen run once, and ask the database nothing; a transaction begins meanwhile, since
 * nearly every request needs one. What follows is that transaction (transaction.c). Invariants: the
 * reply is written after the commit and never before it; an attempt that is rolled back
 * acknowledges nothing and hands out nothing; there is always a reply, if only a short one
 * (short_answers.c). */
#include "server/request/walk.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/fates/fates.h"
#include "server/files/host_files.h"
#include "server/handout/handout.h"
#include "server/parse/parse.h"
#include "server/reply/reply.h"
#include "server/request/availability_log.h"
#include "server/request/reason_counts.h"
#include "server/rpc/request_delay.h"

#include <string.h>

#include "server/base/banned.h"

/* More than any real request nests: a venue's preferences stand six deep. */
enum { REQUEST_DEPTH_MAX = 100 };

static size_t results_max(const struct config *config)
{
    int64_t most = MESSAGE_RESULTS_MAX;

    if (config->max_results_accepted > 0 && config->max_results_accepted < most)
        most = config->max_results_accepted;
    if (config->report_max > 0 && config->report_max < most)
        most = config->report_max;
    return (size_t)most;
}

/* A report is looked up by its name, judged and booked, by three statements for many. At most half
 * of the budget goes for reports, and what is left over comes again with the next request. */
enum { REPORT_COST = 2500 };
_Static_assert(MESSAGE_RESULTS_MAX <= BUDGET_MOST / 2 / REPORT_COST, "none is kept for nothing");

static void bound_reports(struct request *request)
{
    struct message *message = &request->message;
    size_t taken = budget_spend_on(&request->budget, message->result_count, REPORT_COST);

    message->results_left += message->result_count - taken;
    message->result_count = taken;
}

enum next step_parse(struct request *request)
{
    const struct parse_limits limits = {.results_max = results_max(request->config),
                                        .depth_max = REQUEST_DEPTH_MAX};
    enum status status;

    if (request->transport.body_too_large)
        status = fail(&request->failure, STATUS_TOO_LARGE, "body above request_bytes_max");
    else
        status = parse_request(request->transport.body, &limits, request->arena, &request->message,
                               &request->failure);
    if (status != STATUS_OK)
        return request_failed(request, status, "request");
    request->client_version = message_client_version(&request->message);
    bound_reports(request);
    counter_add(COUNTER_elements_dropped, request->message.elements_dropped);
    counter_add(COUNTER_reports_left, request->message.results_left);
    return NEXT_STEP;
}

/* Before the transaction's first question. Answers whether there is anything to be asked of the
 * database; if not, the answer stands. */
static bool prepare(struct request *request, struct arena_mark start, bool begins)
{
    enum next next = begins ? request_run_step(request, STEP_head) : NEXT_STEP;

    if (next == NEXT_REPLY)
        return false;
    /* What failed in the head's question fails in the transaction, which is tried again. */
    next = request_run_step(request, STEP_parse);
    if (next != NEXT_STEP) {
        arena_rewind(request->arena, start);
        message_init(&request->message);
        if (request->failure.status == STATUS_INVALID)
            request_answer_unreadable(request);
        else
            request_answer_too_large(request);
        return false;
    }
    if (request->stop_sched) {
        request_answer_down(request);
        return false;
    }
    if (request->catalog == NULL) {
        request_answer_away(request);
        return false;
    }
    next = request_run_step(request, STEP_screen);
    if (next == NEXT_FAILED) {
        arena_rewind(request->arena, start);
        message_init(&request->message);
        request_answer_too_large(request);
        return false;
    }
    request->attempt.answer = request->early;
    if (next == NEXT_REPLY)
        return false;
    if (request->db == NULL) {
        request_answer_away(request);
        return false;
    }
    return true;
}

/* A rolled back transaction gives nothing away, whatever its steps had written down. */
static void keep_words_only(struct attempt *attempt)
{
    struct answer *answer = &attempt->answer;

    attempt->booked = attempt->reported_count = attempt->resent = attempt->jobs_sent = 0;
    answer->acks = answer->aborts = answer->aborts_if_not_started = (struct text_items){0};
    answer->host_messages = (struct text_items){0};
    answer->job_count = 0;
    answer->message_ack = false;
    answer->no_work_deadlines = false;
}

static void write_reply(const struct request *request, struct buffer *ret_reply)
{
    const struct attempt *attempt = &request->attempt;
    const struct reply_sources sources = {.answer = &attempt->answer,
                                          .config = request->config,
                                          .blocks = request->blocks,
                                          .user = &attempt->user,
                                          .host = &attempt->host,
                                          .team_name = attempt->team_name,
                                          .has_weak_key = attempt->is_weak,
                                          .client_version = request->client_version,
                                          .arena = request->arena};

    reply_write(&sources, ret_reply);
}

/* Jobs that were sent again were counted when they were sent first. */
static void fates_sent(const struct request *request)
{
    const struct attempt *attempt = &request->attempt;

    for (size_t i = 0; i < attempt->answer.job_count; i++) {
        const struct answer_job *job = &attempt->answer.jobs[i];
        struct fate_entry entry = {.hostid = attempt->host.id,
                                   .appid = job->appid,
                                   .app_version_id = job->app_version_id,
                                   .batch = job->workunit->batch,
                                   .fate = FATE_SENT};

        if (!job->is_resent)
            fates_add(request->fates, (int64_t)request->now, &entry, 1);
    }
}

static void count_committed(const struct request *request)
{
    const struct attempt *attempt = &request->attempt;

    fates_add(request->fates, (int64_t)request->now, attempt->reported, attempt->reported_count);
    fates_sent(request);

    counter_add(COUNTER_reports_acknowledged, attempt->answer.acks.count);
    counter_add(COUNTER_reports_booked, attempt->booked);
    counter_add(COUNTER_jobs_sent, attempt->jobs_sent);
    counter_add(COUNTER_jobs_resent, attempt->resent);
    counter_add(COUNTER_hosts_created, attempt->host_is_new);
}

/* Of the answer that goes out, whatever became of the request. */
static void count_reasons(const struct request *request)
{
    const struct answer *answer = &request->attempt.answer;

    for (size_t i = 0; i < answer->reason_count; i++)
        reason_count_add(answer->reasons[i]);
}

static void answer_outcome(struct request *request, enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_NONE:
        break;
    case OUTCOME_JOINED: /* it has no outcome yet */
        must(false);
        break;
    case OUTCOME_COMMITTED:
        counter_add(COUNTER_replies_full, 1);
        count_committed(request);
        break;
    case OUTCOME_REPLY:
        counter_add(COUNTER_replies_refused, 1);
        keep_words_only(&request->attempt);
        break;
    case OUTCOME_TOO_LARGE:
        request_answer_too_large(request);
        break;
    case OUTCOME_DOWN:
    case OUTCOME_GONE:
        request_answer_away(request);
        break;
    case OUTCOME_AGAIN:
    case OUTCOME_LATER:
        request_answer_later(request);
        break;
    }
}

bool request_begin(struct request *request)
{
    struct arena_mark start = arena_mark(request->arena);
    bool begins = request->db != NULL && !request->stop_sched && request->catalog != NULL &&
                  !request->transport.body_too_large;

    request->begun_ns = clock_ns();
    counter_add(COUNTER_requests, 1);
    if (request->db != NULL)
        db_count_reset(request->db);
    if (begins) /* on a cluster, while we parse; what fails shows at the first statement */
        (void)db_begin(request->db);
    memset(&request->attempt, 0, sizeof(request->attempt));
    memset(&request->early, 0, sizeof(request->early));
    if (!prepare(request, start, begins))
        return false;
    request->mark = arena_mark(request->arena);
    return true;
}

void request_end(struct request *request, enum outcome outcome, struct buffer *ret_reply)
{
    if (request->db != NULL)
        db_count_take(request->db, &request->counted);
    answer_outcome(request, outcome);
    if (outcome == OUTCOME_COMMITTED) {
        files_update(request);
        availability_log_keep(request);
    }
    delay_by_load(request); /* whoever was served comes back too */
    if (outcome == OUTCOME_COMMITTED)
        extend_next_contact(request);
    write_reply(request, ret_reply);
    if (ret_reply->overflowed) { /* half a reply would be worse: what is sent comes again */
        ret_reply->length = 0;
        ret_reply->overflowed = false;
        fail(&request->failure, STATUS_TOO_LARGE, "reply above its bound");
        request_answer_later(request);
        write_reply(request, ret_reply);
    }
    count_reasons(request);
    request->total_ns = clock_ns() - request->begun_ns;
}

void request_run(struct request *request, struct buffer *ret_reply)
{
    enum outcome outcome = OUTCOME_NONE;

    if (request_begin(request))
        outcome = request_transact(request, NULL);
    request_end(request, outcome, ret_reply);
}

void request_turn_away(struct request *request, bool is_too_large, struct buffer *ret_reply)
{
    message_init(&request->message);
    if (is_too_large)
        request_answer_too_large(request);
    else
        request_answer_later(request);
    delay_by_load(request);
    count_reasons(request);
    write_reply(request, ret_reply);
    if (is_too_large) /* the others are too many for a line each */
        request_log(request, ret_reply->length);
}
