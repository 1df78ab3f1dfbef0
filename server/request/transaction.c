/* SPDX-License-Identifier: Apache-2.0 */
/* What follows after parse and screen is one transaction, which is tried again as a whole when the
 * database asks for it (deadlock, lock wait) or loses us before COMMIT: the arena goes back to its
 * mark, struct attempt is zeroed, every attempt starts from the same message.
 *
 * COMMIT is the one moment whose outcome a lost connection hides. Every attempt therefore leaves a
 * token of its own in the host's guard row, by its last statement, and a new connection can see
 * whether it is there. A token is never used for two attempts, or the trace of one could be taken
 * for the other. On a cluster, what another node has not told yet may be missing; but then the
 * next attempt changes the same row, and only one of the two can be kept.
 *
 * Where other requests wait, the transaction is not committed here, and goes on with theirs
 * (request_group.h). */
#include "server/request/walk.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/random.h"
#include "server/handout/shares.h"
#include "server/handout/source.h"
#include "server/request/request_group.h"

#include <string.h>

#include "server/base/banned.h"

/* How often a connection that is lost again is opened to look up the outcome of a COMMIT. */
enum { REOPENS_MAX = 3 };

/* Waits between attempts double from the first to the longest, each times a random fraction. */
static const double wait_first = 0.004; /* s */
static const double wait_longest = 0.25;

/* Nor is one tried again that has waited for the database for so long: a lock of all tables, as a
 * backup takes it, outlasts each try, and the thread is missed by those in the line. */
static const uint64_t waited_most_ns = UINT64_C(5000000000);

/* Parts of the request's seed, so that one use of it does not foretell another. */
enum { SEED_WAIT = 1, SEED_TOKEN };

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

/* Opens the connection again, for another try. */
static enum outcome reconnect(struct request *request)
{
    if (db_reopen(request->db) != STATUS_OK) {
        fail(&request->failure, STATUS_DB_GONE, "database: %s", db_error(request->db));
        return OUTCOME_DOWN;
    }
    counter_add(COUNTER_db_reconnects, 1);
    return OUTCOME_AGAIN;
}

/* Whether the token of one of them is there. They were committed together or not at all; one token
 * may be missing because the host's next request was served meanwhile. */
static enum status find_token(struct request *const *requests, size_t count, bool *ret_is_there)
{
    struct db *db = requests[0]->db;
    enum status status = STATUS_OK;

    *ret_is_there = false;
    for (size_t i = 0; i < count && status == STATUS_OK && !*ret_is_there; i++) {
        uint64_t token = 0;

        status = db_host_token(db, requests[i]->attempt.host.id, &token);
        *ret_is_there = status == STATUS_OK && token == requests[i]->token;
        if (status == STATUS_NOT_FOUND)
            status = STATUS_OK;
    }
    db_rollback(db);
    return status;
}

/* As long as nobody knows, nothing is tried again: the client's next request shows what it got. */
static enum outcome look_up_commit(struct request *const *requests, size_t count)
{
    enum status status = STATUS_DB_GONE;
    bool is_there = false;

    counter_add(COUNTER_db_unknown_outcomes, 1);
    for (int i = 0; i < REOPENS_MAX && status == STATUS_DB_GONE; i++) {
        if (reconnect(requests[0]) == OUTCOME_DOWN)
            return OUTCOME_DOWN;
        status = find_token(requests, count, &is_there);
    }
    if (is_there)
        return OUTCOME_COMMITTED;
    return status == STATUS_OK ? OUTCOME_AGAIN : OUTCOME_LATER;
}

enum outcome request_commit_all(struct request *const *requests, size_t count)
{
    enum status status = db_commit(requests[0]->db);

    if (status == STATUS_OK)
        return OUTCOME_COMMITTED;
    return status == STATUS_DB_UNKNOWN ? look_up_commit(requests, count) : OUTCOME_AGAIN;
}

static struct host_ending ending_of(const struct request *request)
{
    const struct attempt *attempt = &request->attempt;

    return (struct host_ending){.hostid = attempt->host.id,
                                .token = request->token,
                                .now = (int64_t)request->now,
                                .contact = attempt->contact_waits ? &attempt->host : NULL,
                                .presence = attempt->presence,
                                .has_guard = attempt->has_guard};
}

static enum outcome commit(struct request *request)
{
    uint64_t begun = clock_ns();
    const struct host_ending ending = ending_of(request);
    enum status status = db_host_commit(request->db, &ending);
    enum outcome outcome = OUTCOME_COMMITTED;

    if (status == STATUS_DB_UNKNOWN) {
        outcome = look_up_commit(&request, 1);
    } else if (status != STATUS_OK) {
        request_failed(request, status, "commit");
        outcome = outcome_of(status);
    }
    request->commit_ns += clock_ns() - begun;
    return outcome;
}

static enum outcome join(struct request *request)
{
    uint64_t begun = clock_ns();
    const struct host_ending ending = ending_of(request);
    enum status status = db_part_end(request->db, &ending);

    request->commit_ns += clock_ns() - begun;
    if (status != STATUS_OK) {
        request_failed(request, status, "part");
        return outcome_of(status);
    }
    db_count_take(request->db, &request->counted);
    return OUTCOME_JOINED;
}

/* A request that was tried before goes on alone: what was in the way may be the others. */
static bool may_share(const struct request *request, const struct request_group *group)
{
    return group != NULL && request->attempts == 1 && db_can_share(request->db);
}

/* Whom others may join waits for no locks, as they do not. */
static enum next begin_attempt(struct request *request, bool may_be_shared)
{
    enum status status = db_wait_for_locks(request->db, !may_be_shared);

    if (status == STATUS_OK && request->is_joining)
        status = db_part_begin(request->db);
    return status == STATUS_OK ? NEXT_STEP : request_failed(request, status, "beginning");
}

enum outcome request_attempt(struct request *request, struct request_group *group)
{
    bool may_be_shared;

    if (request->attempts++ > 0) { /* what was read belonged to the first one's transaction */
        request->host_rows = NULL;
        request->others_are_read = false;
    }
    request->token = random_mix(request->seed, SEED_TOKEN + (uint64_t)request->attempts);
    memset(&request->failure, 0, sizeof(request->failure));
    memset(&request->attempt, 0, sizeof(request->attempt));
    request->attempt.answer = request->early;
    request->attempt.budget = request->budget;
    may_be_shared = request->is_joining || may_share(request, group);
    if (begin_attempt(request, may_be_shared) != NEXT_STEP)
        return outcome_of(request->failure.status);
    for (int step = STEP_TRANSACTION; step < STEP_COUNT; step++) {
        switch (request_run_step(request, (enum step)step)) {
        case NEXT_STEP:
            break;
        case NEXT_REPLY:
            return OUTCOME_REPLY;
        case NEXT_FAILED:
            return outcome_of(request->failure.status);
        }
    }
    if (request->is_joining || (may_be_shared && group->others_wait(group->context)))
        return join(request);
    return commit(request);
}

/* What cannot be had shows at the next statement. */
static void catch_up(struct request *request)
{
    request->catch_up = CATCH_UP_DONE;
    (void)!db_catch_up(request->db);
}

static bool may_be_tried_again(const struct request *request)
{
    return request->attempts < request->config->request_tries &&
           request->counted.waited_ns + db_count(request->db).waited_ns < waited_most_ns;
}

static void wait_before_retry(const struct request *request)
{
    struct random random = {
        .state = random_mix(request->seed, SEED_WAIT + ((uint64_t)request->attempts << 8))};
    double longest = backoff_pause(wait_first, wait_longest, request->attempts);

    if (request->wait == NULL)
        return;
    request->wait(longest * random_unit(&random));
}

void request_committed(struct request *request)
{
    source_finish(request, true);
    shares_commit(request);
    counter_add(COUNTER_requests_over_budget, budget_is_used_up(&request->attempt.budget));
}

enum outcome request_transact(struct request *request, struct request_group *group)
{
    for (;;) {
        enum outcome outcome = request_attempt(request, group);

        if (outcome == OUTCOME_JOINED)
            return outcome;
        if (outcome == OUTCOME_COMMITTED) {
            request_committed(request);
            return outcome;
        }
        source_finish(request, false);
        db_rollback(request->db); /* the host that was named is free for its owner */
        if (outcome == OUTCOME_REPLY)
            return outcome;
        if (outcome == OUTCOME_GONE)
            outcome = reconnect(request);
        arena_rewind(request->arena, request->mark);
        if (outcome != OUTCOME_AGAIN)
            return outcome;
        if (!may_be_tried_again(request))
            return OUTCOME_LATER;
        counter_add(COUNTER_db_retries, 1);
        if (request->catch_up == CATCH_UP_WANTED)
            catch_up(request);
        else
            wait_before_retry(request);
    }
}
