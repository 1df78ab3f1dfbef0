/* SPDX-License-Identifier: Apache-2.0 */
/* What follows after parse and screen is one transaction, which is tried again as a whole when the
 * database asks for it (deadlock, lock wait) or loses us before COMMIT: the arena goes back to its
 * mark, the visit is zeroed, every attempt starts from the same message.
 *
 * COMMIT is the one moment whose outcome a lost connection hides. Every attempt therefore leaves a
 * token of its own in the host's guard row, by its last statement, and a new connection can see
 * whether it is there. A token is never used for two attempts, or the trace of one could be taken
 * for the other. On a cluster, what another node has not told yet may be missing; but then the
 * next attempt changes the same row, and only one of the two can be kept. */
#include "server/request/walk.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/random.h"
#include "server/handout/source.h"
#include "server/handout/stream_ledger.h"

#include <string.h>

#include "server/base/banned.h"

/* How often a connection that is lost again is opened to look up the outcome of a COMMIT. */
enum { REOPENS_MAX = 3 };

/* Waits between attempts double from the first to the longest, each times a random fraction. */
static const double wait_first = 0.004; /* s */
static const double wait_longest = 0.25;

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

/* As long as nobody knows, nothing is tried again: the client's next request shows what it got. */
static enum outcome look_up_commit(struct request *request)
{
    uint64_t token = 0;
    enum status status = STATUS_DB_GONE;

    counter_add(COUNTER_db_unknown_outcomes, 1);
    for (int i = 0; i < REOPENS_MAX && status == STATUS_DB_GONE; i++) {
        if (reconnect(request) == OUTCOME_DOWN)
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
    enum status status =
        db_host_commit(request->db, request->visit.host.id, request->token, (int64_t)request->now,
                       request->visit.contact_waits ? &request->visit.host : NULL);
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
    request->visit.budget = request->budget;
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
    return commit(request);
}

/* What cannot be had shows at the next statement. */
static void catch_up(struct request *request)
{
    request->catch_up = CATCH_UP_DONE;
    (void)!db_catch_up(request->db);
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

enum outcome request_transact(struct request *request, struct arena_mark mark)
{
    for (;;) {
        enum outcome outcome = attempt(request);

        source_finish(request, outcome == OUTCOME_COMMITTED);
        if (outcome == OUTCOME_COMMITTED) {
            shares_commit(request);
            counter_add(COUNTER_requests_over_budget, budget_is_used_up(&request->visit.budget));
            return outcome;
        }
        db_rollback(request->db); /* the host that was named is free for its owner */
        if (outcome == OUTCOME_REPLY)
            return outcome;
        if (outcome == OUTCOME_GONE)
            outcome = reconnect(request);
        arena_rewind(request->arena, mark);
        if (outcome != OUTCOME_AGAIN)
            return outcome;
        if (request->attempts >= request->config->request_tries)
            return OUTCOME_LATER;
        counter_add(COUNTER_db_retries, 1);
        if (request->catch_up == CATCH_UP_WANTED)
            catch_up(request);
        else
            wait_before_retry(request);
    }
}
