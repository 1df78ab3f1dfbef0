/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/together.h"

#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/handout/source.h"
#include "server/request/plan_facts.h"
#include "server/rpc/in_progress.h"

#include "server/base/banned.h"

/* The jobs in progress of several hosts are read by one query. A host that names more than
 * NAMED_MOST reads its own, so that the others do not wait for them. The database may have more
 * than the hosts name; if it has NOT_NAMED_MOST more of all of them, each reads its own. */
enum { NAMED_MOST = 250, NOT_NAMED_MOST = 1000 };

/* --- what is read for several requests -------------------------------------------------------- */

static void forget_facts(struct together *together)
{
    for (size_t i = 0; i < together->reader_count; i++)
        together->readers[i]->facts = NULL;
    together->reader_count = 0;
}

/* What will be read of a host that is neither new nor refused; what is asked besides is read then.
 * Returns how many of its jobs it names, if these are read. */
static size_t note_reader(struct together *together, struct request *request)
{
    const struct request_plan plan = request_plan_make(request);
    int64_t hostid = request->message.hostid;
    size_t named = in_progress_named(request);
    bool wants_results = plan.reads_in_progress && !plan.needs_workunits && named <= NAMED_MOST;

    if (hostid <= 0)
        return 0;
    together->facts[together->reader_count] = (struct host_facts){
        .hostid = hostid, .wants_versions = plan.reads_versions, .wants_results = wants_results};
    together->readers[together->reader_count++] = request;
    return wants_results ? named : 0;
}

/* Nothing is left of it but locks, if there were members. */
static void undo_reading(struct together *together, struct db *db)
{
    together->reader_count = 0;
    if (together->count == 0)
        (void)db_rollback(db); /* what it cannot undo shows at the next statement */
    else if (db_part_undo(db) != STATUS_OK)
        together->is_lost = true;
}

void together_read(struct together *together, struct request *const *requests, size_t count)
{
    struct db *db = requests[0]->db;
    size_t results_most = NOT_NAMED_MOST;
    enum status status;

    must(!together->is_lost && count <= TOGETHER_MOST);
    forget_facts(together);
    if (together->arena == NULL || !db_can_share(db))
        return;
    if (together->count == 0) /* what was read for a first one that did not join is left */
        arena_reset(together->arena);
    together->read_at = together->count;
    for (size_t i = 0; i < count; i++)
        results_most += note_reader(together, requests[i]);
    if (together->reader_count < 2) {
        together->reader_count = 0;
        return;
    }
    status = db_wait_for_locks(db, false);
    if (status == STATUS_OK && together->count > 0)
        status = db_part_begin(db);
    if (status == STATUS_OK)
        status = db_hosts_read_facts(db, together->arena, together->facts, together->reader_count,
                                     results_most);
    if (status != STATUS_OK)
        undo_reading(together, db);
    counter_add(COUNTER_requests_read_for, together->reader_count);
    for (size_t i = 0; i < together->reader_count; i++)
        together->readers[i]->facts = &together->facts[i];
}

/* Before the request is run. One that ran since may have changed what was read of its user or of
 * one of his hosts. */
static void check_facts(const struct together *together, struct request *request)
{
    for (size_t i = together->read_at; request->facts != NULL && i < together->count; i++)
        if (request->facts->known.host.userid == together->members[i]->attempt.user.id)
            request->facts = NULL;
}

/* --- guests ----------------------------------------------------------------------------------- */

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
    bool is_first = together->count == 0;
    enum outcome outcome;

    must(together->count < TOGETHER_MOST && !together->is_lost);
    check_facts(together, request);
    request->others_are_read = together->reader_count > 0;
    outcome = is_first ? request_transact(request, together) : run_guest(together, request);
    request->facts = NULL;
    if (outcome == OUTCOME_JOINED || (outcome == OUTCOME_REPLY && !is_first)) {
        add(together, request, outcome == OUTCOME_REPLY);
        return OUTCOME_JOINED;
    }
    if (is_first) /* the transaction in which it was read has ended */
        forget_facts(together);
    return outcome;
}

/* --- the end ---------------------------------------------------------------------------------- */

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

    forget_facts(together);
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

void together_end(struct together *together)
{
    together->count = 0;
    together->is_lost = false;
    if (together->arena != NULL)
        arena_reset(together->arena);
}
