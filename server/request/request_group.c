/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/request_group.h"

#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/handout/source.h"
#include "server/request/plan_conditions.h"
#include "server/rpc/in_progress.h"

#include "server/base/banned.h"

/* The jobs in progress of several hosts are read by one query. A host that names more than
 * NAMED_MOST reads its own, so that the others do not wait for them. The database may have more
 * than the hosts name; if it has NOT_NAMED_MOST more of all of them, each reads its own. */
enum { NAMED_MOST = 250, NOT_NAMED_MOST = 1000 };

/* --- what is read for several requests -------------------------------------------------------- */

static void forget_rows(struct request_group *group)
{
    for (size_t i = 0; i < group->reader_count; i++)
        group->readers[i]->host_rows = NULL;
    group->reader_count = 0;
}

/* What will be read of a host that is neither new nor refused; what is asked besides is read then.
 * Returns how many of its jobs it names, if these are read. */
static size_t note_reader(struct request_group *group, struct request *request)
{
    const struct request_plan plan = request_plan_make(request);
    int64_t hostid = request->message.hostid;
    size_t named = in_progress_named(request);
    bool wants_results = plan.reads_in_progress && !plan.needs_workunits && named <= NAMED_MOST;

    if (hostid <= 0)
        return 0;
    group->host_rows[group->reader_count] = (struct host_rows){
        .hostid = hostid, .wants_versions = plan.reads_versions, .wants_results = wants_results};
    group->readers[group->reader_count++] = request;
    return wants_results ? named : 0;
}

/* Nothing is left of it but locks, if there were members. */
static void undo_reading(struct request_group *group, struct db *db)
{
    group->reader_count = 0;
    if (group->count == 0)
        (void)db_rollback(db); /* what it cannot undo shows at the next statement */
    else if (db_part_undo(db) != STATUS_OK)
        group->is_lost = true;
}

void request_group_read(struct request_group *group, struct request *const *requests, size_t count)
{
    struct db *db = requests[0]->db;
    size_t results_most = NOT_NAMED_MOST;
    enum status status;

    must(!group->is_lost && count <= REQUEST_GROUP_MOST);
    forget_rows(group);
    if (group->arena == NULL || !db_can_share(db))
        return;
    if (group->count == 0) /* what was read for a first one that did not join is left */
        arena_reset(group->arena);
    group->read_at = group->count;
    for (size_t i = 0; i < count; i++)
        results_most += note_reader(group, requests[i]);
    if (group->reader_count < 2) {
        group->reader_count = 0;
        return;
    }
    status = db_wait_for_locks(db, false);
    if (status == STATUS_OK && group->count > 0)
        status = db_part_begin(db);
    if (status == STATUS_OK)
        status = db_hosts_read_rows(db, group->arena, group->host_rows, group->reader_count,
                                    results_most);
    if (status != STATUS_OK)
        undo_reading(group, db);
    counter_add(COUNTER_requests_read_for, group->reader_count);
    for (size_t i = 0; i < group->reader_count; i++)
        group->readers[i]->host_rows = &group->host_rows[i];
}

/* Before the request is run. One that ran since may have changed what was read of its user or of
 * one of his hosts. */
static void check_rows(const struct request_group *group, struct request *request)
{
    for (size_t i = group->read_at; request->host_rows != NULL && i < group->count; i++)
        if (request->host_rows->known.host.userid == group->members[i]->attempt.user.id)
            request->host_rows = NULL;
}

/* --- those that join --------------------------------------------------------------------------*/

static void add(struct request_group *group, struct request *request, bool is_refused)
{
    group->is_refused[group->count] = is_refused;
    group->members[group->count++] = request;
}

/* One attempt, of which nothing is left if it does not join. */
static enum outcome run_joining(struct request_group *group, struct request *request)
{
    enum outcome outcome;

    request->is_joining = true;
    outcome = request_attempt(request, group);
    request->is_joining = false;
    if (outcome == OUTCOME_JOINED)
        return outcome;
    source_finish(request, false);
    if (db_part_undo(request->db) != STATUS_OK)
        group->is_lost = true;
    db_count_take(request->db, &request->counted);
    if (outcome == OUTCOME_REPLY && !group->is_lost)
        return outcome;
    arena_rewind(request->arena, request->mark);
    counter_add(COUNTER_requests_apart, 1);
    return OUTCOME_AGAIN;
}

enum outcome request_group_add(struct request_group *group, struct request *request)
{
    bool is_first = group->count == 0;
    enum outcome outcome;

    must(group->count < REQUEST_GROUP_MOST && !group->is_lost);
    check_rows(group, request);
    request->others_are_read = group->reader_count > 0;
    outcome = is_first ? request_transact(request, group) : run_joining(group, request);
    request->host_rows = NULL;
    if (outcome == OUTCOME_JOINED || (outcome == OUTCOME_REPLY && !is_first)) {
        add(group, request, outcome == OUTCOME_REPLY);
        return OUTCOME_JOINED;
    }
    if (is_first) /* the transaction in which it was read has ended */
        forget_rows(group);
    return outcome;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* The requests that wrote something. */
static size_t those_kept(const struct request_group *group,
                         struct request *ret_kept[REQUEST_GROUP_MOST])
{
    size_t count = 0;

    for (size_t i = 0; i < group->count; i++)
        if (!group->is_refused[i])
            ret_kept[count++] = group->members[i];
    return count;
}

enum outcome request_group_commit(struct request_group *group)
{
    struct request *kept[REQUEST_GROUP_MOST];
    size_t count = those_kept(group, kept);
    struct request *first = group->members[0]; /* is always one of them */
    enum outcome outcome = OUTCOME_AGAIN;
    uint64_t begun_ns = clock_ns(), took_ns;

    forget_rows(group);
    if (!group->is_lost)
        outcome = request_commit_all(kept, count);
    if (outcome != OUTCOME_COMMITTED)
        db_rollback(first->db);
    took_ns = clock_ns() - begun_ns;
    db_count_take(first->db, &first->counted);
    for (size_t i = 0; i < count; i++) {
        kept[i]->commit_ns += took_ns;
        kept[i]->group_size = outcome == OUTCOME_COMMITTED ? count : 0;
    }
    if (outcome == OUTCOME_COMMITTED)
        counter_add(COUNTER_requests_together, count > 1 ? count : 0);
    else
        counter_add(COUNTER_transactions_split, 1);
    return outcome;
}

enum outcome request_group_outcome(const struct request_group *group, size_t index,
                                   enum outcome all)
{
    struct request *request = group->members[index];

    if (all == OUTCOME_COMMITTED) {
        if (group->is_refused[index])
            return OUTCOME_REPLY;
        request_committed(request);
        return all;
    }
    source_finish(request, false);
    arena_rewind(request->arena, request->mark);
    return all == OUTCOME_AGAIN ? request_transact(request, NULL) : all;
}

void request_group_end(struct request_group *group)
{
    group->count = 0;
    group->is_lost = false;
    if (group->arena != NULL)
        arena_reset(group->arena);
}
