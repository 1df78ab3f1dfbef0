/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of one request, and what happens when the world does not hold still.
 *
 * Parse and screen run once, without the database. What follows is one transaction, which is tried
 * again as a whole when the database asks for it (deadlock, lock wait) or loses us before COMMIT:
 * the arena goes back to its mark, the visit is zeroed, every attempt starts from the same message.
 * Invariants: the reply is written after the commit and never before it; an attempt that is rolled
 * back acknowledges nothing and hands out nothing; there is always a reply.
 *
 * COMMIT is the one moment whose outcome a lost connection hides. Every attempt therefore leaves a
 * token of its own in the host's guard row, and a new connection can see whether it is there. A
 * token is never used for two attempts, or the trace of one could be taken for the other. */
#include "server/request.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/random.h"
#include "server/delay.h"
#include "server/files.h"
#include "server/metrics.h"
#include "server/parse/parse.h"
#include "server/reply.h"
#include "server/select/source.h"

#include <string.h>

#include "server/base/banned.h"

/* How an attempt at the transaction ended. */
enum outcome {
    OUTCOME_COMMITTED,
    OUTCOME_REPLY, /* a step answered; nothing is to be kept */
    OUTCOME_AGAIN,
    OUTCOME_GONE, /* lost before COMMIT: connect, then again */
    OUTCOME_DOWN,
    OUTCOME_LATER,
    OUTCOME_TOO_LARGE
};

static const struct {
    const char *name;
    enum next (*run)(struct request *request);
} steps[STEP_COUNT] = {
#define STEP_ROW(name_) [STEP_##name_] = {.name = #name_, .run = step_##name_},
    REQUEST_STEPS(STEP_ROW)
#undef STEP_ROW
};

/* The first step that belongs to the transaction. */
#define STEP_TRANSACTION STEP_authenticate

/* More than any real request nests: a venue's preferences stand six deep. */
enum { REQUEST_DEPTH_MAX = 100 };

/* How often a connection that is lost again is opened to look up the outcome of a COMMIT. */
enum { LOOKS_MAX = 3 };

/* Waits between attempts double from the first to the longest, each times a random fraction. */
static const double wait_first = 0.004; /* s */
static const double wait_longest = 0.25;

/* Parts of the request's seed, so that one use of it does not foretell another. */
enum { SEED_WAIT = 1, SEED_TOKEN };

/* Replaces the answer by a short one that changes nothing at the client but its patience. */
static void answer_short(struct request *request, enum answer_kind kind, double delay,
                         const char *reason, const char *text)
{
    struct visit *visit = &request->visit;
    struct answer *answer = &visit->answer;
    int64_t hostid = visit->host.id, userid = visit->user.id; /* for the log line */

    memset(visit, 0, sizeof(*visit));
    visit->host.id = hostid;
    visit->user.id = userid;
    answer->kind = kind;
    answer->first_reason = reason;
    answer_say(request->arena, answer, MESSAGE_LOW, "%s", text);
    answer_delay(answer, delay);
}

static double delay_of(const struct request *request, enum delay_cause cause)
{
    return delay_of_request(request, cause,
                            cause == DELAY_DOWN ? request->config->maintenance_delay : 0);
}

static void answer_down(struct request *request, const char *reason, const char *text)
{
    answer_short(request, ANSWER_DOWN, delay_of(request, DELAY_DOWN), reason, text);
}

static void answer_away(struct request *request)
{
    request->database_was_away = true;
    if (request->failure.status == STATUS_OK)
        fail(&request->failure, STATUS_DB_GONE, "no connection to the database");
    answer_down(request, "database", "The project's database is not available");
}

static void answer_later(struct request *request)
{
    counter_add(COUNTER_replies_later, 1);
    answer_short(request, ANSWER_NUCLEUS, delay_of(request, DELAY_BUSY), "later",
                 "The server is busy; your computer will try again soon");
}

static void answer_too_large(struct request *request)
{
    counter_add(COUNTER_requests_too_large, 1);
    answer_short(request, ANSWER_NUCLEUS, delay_of(request, DELAY_DOWN), "request_too_large",
                 "Your computer's request is too large for this server");
}

static void answer_unreadable(struct request *request)
{
    const char *why = text_string(
        request->arena,
        text_print(request->arena, "Incomplete or unreadable request: %s", request->failure.text));

    counter_add(COUNTER_requests_unreadable, 1);
    answer_short(request, ANSWER_NUCLEUS, delay_of(request, DELAY_BUSY), "request_unreadable", why);
}

static size_t results_max(const struct config *config)
{
    int64_t most = MESSAGE_RESULTS_MAX;

    if (config->max_results_accepted > 0 && config->max_results_accepted < most)
        most = config->max_results_accepted;
    if (config->report_max > 0 && config->report_max < most)
        most = config->report_max;
    return (size_t)most;
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
    counter_add(COUNTER_elements_dropped, request->message.elements_dropped);
    return NEXT_STEP;
}

static enum next run_step(struct request *request, enum step step)
{
    uint64_t begun = clock_ns();
    enum next next = steps[step].run(request);

    request->step_ns[step] += clock_ns() - begun;
    if (arena_overflowed(request->arena)) {
        memset(&request->failure, 0, sizeof(request->failure));
        return request_failed(request, STATUS_TOO_LARGE, steps[step].name);
    }
    return next;
}

/* Before the transaction. Answers whether there is anything to be asked of the database; if not,
 * the answer stands. */
static bool prepare(struct request *request, struct arena_mark start)
{
    enum next next = run_step(request, STEP_parse);

    if (next != NEXT_STEP) {
        arena_rewind(request->arena, start);
        message_init(&request->message);
        if (request->failure.status == STATUS_INVALID)
            answer_unreadable(request);
        else
            answer_too_large(request);
        return false;
    }
    if (request->stop_sched) {
        answer_down(request, "stop_sched", "Project is temporarily shut down for maintenance");
        return false;
    }
    if (request->catalog == NULL) {
        answer_away(request);
        return false;
    }
    next = run_step(request, STEP_screen);
    if (next == NEXT_FAILED) {
        arena_rewind(request->arena, start);
        message_init(&request->message);
        answer_too_large(request);
        return false;
    }
    request->visit.answer = request->early;
    if (next == NEXT_REPLY)
        return false;
    if (request->db == NULL) {
        answer_away(request);
        return false;
    }
    return true;
}

static enum outcome outcome_of(enum status status)
{
    switch (status) {
    case STATUS_DB_RETRY:
        return OUTCOME_AGAIN;
    case STATUS_DB_GONE:
    case STATUS_DB_UNKNOWN: /* only COMMIT hides its outcome; elsewhere nothing was kept */
        return OUTCOME_GONE;
    case STATUS_TOO_LARGE:
        return OUTCOME_TOO_LARGE;
    case STATUS_OK:
    case STATUS_NOT_FOUND:
    case STATUS_INVALID:
    case STATUS_NO_MEMORY:
    case STATUS_IO:
    case STATUS_DB_REFUSED:
    case STATUS_DB_BUG:
    case STATUS_COUNT:
        break;
    }
    return OUTCOME_LATER;
}

/* Opens the connection again. After a COMMIT without an answer `host` is where to look. */
static enum outcome reconnect(struct request *request, enum outcome then)
{
    if (db_reopen(request->db) != STATUS_OK) {
        fail(&request->failure, STATUS_DB_GONE, "database: %s", db_error(request->db));
        return OUTCOME_DOWN;
    }
    counter_add(COUNTER_db_reconnects, 1);
    return then;
}

/* As long as nobody knows, nothing is tried again: the client's next request shows what it got. */
static enum outcome look_up_commit(struct request *request)
{
    uint64_t token = 0;
    enum status status = STATUS_DB_GONE;

    counter_add(COUNTER_db_unknown_outcomes, 1);
    for (int i = 0; i < LOOKS_MAX && status == STATUS_DB_GONE; i++) {
        if (reconnect(request, OUTCOME_AGAIN) == OUTCOME_DOWN)
            return OUTCOME_DOWN;
        status = db_host_token(request->db, request->visit.host.id, &token);
        db_rollback(request->db);
    }
    if (status == STATUS_OK && token == request->token)
        return OUTCOME_COMMITTED;
    return status == STATUS_OK || status == STATUS_NOT_FOUND ? OUTCOME_AGAIN : OUTCOME_LATER;
}

static enum outcome commit(struct request *request)
{
    uint64_t begun = clock_ns();
    enum status status = db_commit(request->db);
    enum outcome outcome = OUTCOME_COMMITTED;

    if (status == STATUS_DB_UNKNOWN)
        outcome = look_up_commit(request);
    else if (status != STATUS_OK) {
        request_failed(request, status, "commit");
        outcome = outcome_of(status);
    }
    request->commit_ns += clock_ns() - begun;
    return outcome;
}

static enum outcome attempt(struct request *request)
{
    request->attempts++;
    request->token = random_mix(request->seed, SEED_TOKEN + (uint64_t)request->attempts);
    memset(&request->failure, 0, sizeof(request->failure));
    memset(&request->visit, 0, sizeof(request->visit));
    request->visit.answer = request->early;
    for (int step = STEP_TRANSACTION; step < STEP_COUNT; step++) {
        switch (run_step(request, (enum step)step)) {
        case NEXT_STEP:
            break;
        case NEXT_REPLY:
            return OUTCOME_REPLY;
        case NEXT_FAILED:
            return outcome_of(request->failure.status);
        }
    }
    return commit(request);
}

/* A rolled back transaction gives nothing away, whatever its steps had written down. */
static void keep_words_only(struct visit *visit)
{
    struct answer *answer = &visit->answer;

    visit->booked = visit->resent = visit->jobs_sent = 0;
    answer->acks = answer->aborts = answer->aborts_if_not_started = (struct text_items){0};
    answer->host_messages = (struct text_items){0};
    answer->job_count = 0;
    answer->message_ack = false;
    answer->no_work_deadlines = false;
}

static void count_committed(const struct request *request)
{
    const struct visit *visit = &request->visit;

    counter_add(COUNTER_reports_acknowledged, visit->answer.acks.count);
    counter_add(COUNTER_reports_booked, visit->booked);
    counter_add(COUNTER_jobs_sent, visit->jobs_sent);
    counter_add(COUNTER_jobs_resent, visit->resent);
    counter_add(COUNTER_hosts_created, visit->host_is_new);
    for (size_t i = 0; i < visit->answer.reason_count; i++)
        metrics_count_reason(visit->answer.reasons[i]);
}

static void wait_before_retry(const struct request *request)
{
    struct random random = {
        .state = random_mix(request->seed, SEED_WAIT + ((uint64_t)request->attempts << 8))};
    double longest = wait_first;

    if (request->wait == NULL)
        return;
    for (int i = 1; i < request->attempts && longest < wait_longest; i++)
        longest *= 2;
    request->wait(longest * random_unit(&random));
}

/* Tries the transaction until it has an end that the client can be told. */
static enum outcome transact(struct request *request, struct arena_mark mark)
{
    for (;;) {
        enum outcome outcome = attempt(request);

        source_settle(request, outcome == OUTCOME_COMMITTED);
        if (outcome == OUTCOME_COMMITTED)
            return outcome;
        db_rollback(request->db);
        if (outcome == OUTCOME_REPLY)
            return outcome;
        if (outcome == OUTCOME_GONE)
            outcome = reconnect(request, OUTCOME_AGAIN);
        arena_rewind(request->arena, mark);
        if (outcome != OUTCOME_AGAIN)
            return outcome;
        if (request->attempts >= request->config->request_tries)
            return OUTCOME_LATER;
        counter_add(COUNTER_db_retries, 1);
        wait_before_retry(request);
    }
}

static void answer_outcome(struct request *request, enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_COMMITTED:
        count_committed(request);
        break;
    case OUTCOME_REPLY:
        counter_add(COUNTER_replies_refused, 1);
        keep_words_only(&request->visit);
        break;
    case OUTCOME_TOO_LARGE:
        answer_too_large(request);
        break;
    case OUTCOME_DOWN:
    case OUTCOME_GONE:
        answer_away(request);
        break;
    case OUTCOME_AGAIN:
    case OUTCOME_LATER:
        answer_later(request);
        break;
    }
}

void request_run(struct request *request, struct buffer *ret_reply)
{
    uint64_t begun = clock_ns();
    struct arena_mark start = arena_mark(request->arena);

    counter_add(COUNTER_requests, 1);
    if (request->db != NULL)
        db_count_reset(request->db);
    memset(&request->visit, 0, sizeof(request->visit));
    memset(&request->early, 0, sizeof(request->early));
    if (prepare(request, start)) {
        struct arena_mark mark = arena_mark(request->arena);

        enum outcome outcome = transact(request, mark);

        answer_outcome(request, outcome);
        if (outcome == OUTCOME_COMMITTED)
            files_update(request);
    }
    delay_by_load(request); /* whoever was served comes back too */
    reply_write(request, ret_reply);
    if (ret_reply->overflowed) { /* half a reply would be worse: what is sent comes again */
        ret_reply->length = 0;
        ret_reply->overflowed = false;
        fail(&request->failure, STATUS_TOO_LARGE, "reply above its bound");
        answer_later(request);
        reply_write(request, ret_reply);
    }
    request->total_ns = clock_ns() - begun;
}

enum next request_failed(struct request *request, enum status status, const char *what)
{
    const char *words = request->db == NULL ? "" : db_error(request->db);

    fail(&request->failure, status, "%s: %s%s%s", what, status_word(status),
         words[0] == '\0' ? "" : ": ", words);
    request->failure.status = status;
    return NEXT_FAILED;
}

const struct host_app_version_row *request_version(const struct request *request,
                                                   int64_t app_version_id)
{
    const struct visit *visit = &request->visit;

    for (size_t i = 0; i < visit->version_count; i++) {
        if (visit->versions[i].app_version_id == app_version_id)
            return &visit->versions[i];
    }
    return NULL;
}

struct host_app_version_change *request_version_change(struct request *request,
                                                       int64_t app_version_id)
{
    struct visit *visit = &request->visit;
    struct host_app_version_change *change;

    for (size_t i = 0; i < visit->version_change_count; i++) {
        if (visit->version_changes[i].app_version_id == app_version_id)
            return &visit->version_changes[i];
    }
    if (visit->version_change_count == visit->version_change_capacity) {
        size_t capacity =
            visit->version_change_capacity == 0 ? 16 : visit->version_change_capacity * 2;
        struct host_app_version_change *grown =
            ARENA_ARRAY(request->arena, capacity, struct host_app_version_change);

        if (grown == NULL) /* the walk ends after this step */
            return &visit->spare_change;
        if (visit->version_change_count > 0)
            memcpy(grown, visit->version_changes, visit->version_change_count * sizeof(*grown));
        visit->version_changes = grown;
        visit->version_change_capacity = capacity;
    }
    change = &visit->version_changes[visit->version_change_count++];
    change->app_version_id = app_version_id;
    change->reset_today = visit->is_new_day;
    return change;
}
