/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/together.h"

#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/handout/source.h"

#include "server/base/banned.h"

static void add(struct together *together, struct request *request, bool is_refused)
{
    together->is_refused[together->count] = is_refused;
    together->members[together->count++] = request;
}

/* One attempt, of which nothing is left if it does not join. */
static enum outcome run_guest(struct together *together, struct request *request)
{
    enum outcome outcome;

    request->is_guest = true;
    outcome = request_attempt(request, together);
    request->is_guest = false;
    if (outcome == OUTCOME_JOINED)
        return outcome;
    source_finish(request, false);
    if (db_part_undo(request->db) != STATUS_OK)
        together->is_lost = true;
    db_count_take(request->db, &request->counted);
    if (outcome == OUTCOME_REPLY && !together->is_lost)
        return outcome;
    arena_rewind(request->arena, request->mark);
    counter_add(COUNTER_requests_apart, 1);
    return OUTCOME_AGAIN;
}

enum outcome together_add(struct together *together, struct request *request)
{
    enum outcome outcome;

    must(together->count < TOGETHER_MOST && !together->is_lost);
    if (together->count == 0) {
        outcome = request_transact(request, together);
    } else {
        outcome = run_guest(together, request);
        if (outcome == OUTCOME_REPLY) {
            add(together, request, true);
            return OUTCOME_JOINED;
        }
    }
    if (outcome == OUTCOME_JOINED)
        add(together, request, false);
    return outcome;
}

/* The requests that wrote something. */
static size_t those_kept(const struct together *together, struct request *ret_kept[TOGETHER_MOST])
{
    size_t count = 0;

    for (size_t i = 0; i < together->count; i++)
        if (!together->is_refused[i])
            ret_kept[count++] = together->members[i];
    return count;
}

enum outcome together_commit(struct together *together)
{
    struct request *kept[TOGETHER_MOST];
    size_t count = those_kept(together, kept);
    struct request *first = together->members[0]; /* is always one of them */
    enum outcome outcome = OUTCOME_AGAIN;
    uint64_t begun_ns = clock_ns(), took_ns;

    if (!together->is_lost)
        outcome = request_commit_all(kept, count);
    if (outcome != OUTCOME_COMMITTED)
        db_rollback(first->db);
    took_ns = clock_ns() - begun_ns;
    db_count_take(first->db, &first->counted);
    for (size_t i = 0; i < count; i++) {
        kept[i]->commit_ns += took_ns;
        kept[i]->together = outcome == OUTCOME_COMMITTED ? count : 0;
    }
    if (outcome == OUTCOME_COMMITTED)
        counter_add(COUNTER_requests_together, count > 1 ? count : 0);
    else
        counter_add(COUNTER_transactions_split, 1);
    return outcome;
}

enum outcome together_outcome(const struct together *together, size_t index, enum outcome all)
{
    struct request *request = together->members[index];

    if (all == OUTCOME_COMMITTED) {
        if (together->is_refused[index])
            return OUTCOME_REPLY;
        request_committed(request);
        return all;
    }
    source_finish(request, false);
    arena_rewind(request->arena, request->mark);
    return all == OUTCOME_AGAIN ? request_transact(request, NULL) : all;
}
