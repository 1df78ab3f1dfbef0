/* SPDX-License-Identifier: Apache-2.0 */
/* Taking jobs for a host. Whoever changes results of a workunit for a host has locked the workunit
 * before, and these results too, so what the lock call counts and finds unsent stays true until the
 * end of the transaction, whoever else changes results. The update has the condition all the same:
 * fewer rows than are meant mean that the transaction is not whole any more. */
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>

#include "server/base/banned.h"

static int compare_by_workunit(const void *a, const void *b)
{
    const struct claim *left = a, *right = b;

    return (left->workunitid > right->workunitid) - (left->workunitid < right->workunitid);
}

/* Row locks end at the node of a cluster; there a row that both really change is needed. */
static enum status guard_workunits(struct db *db, struct arena *arena, const struct claim *claims,
                                   size_t count)
{
    struct claim_guard_values *values;

    if (!db_is_cluster(db))
        return STATUS_OK;
    values = ARENA_ARRAY(arena, count, struct claim_guard_values);
    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct claim_guard_values){.workunitid = claims[i].workunitid};
    return DB_RUN_BULK(db, claim_guard, values, count, NULL);
}

static bool is_written_alike(const struct claim *a, const struct claim *b)
{
    return a->sent_time == b->sent_time && a->report_deadline == b->report_deadline &&
           a->app_version_id == b->app_version_id && a->flops_estimate == b->flops_estimate;
}

/* Jobs of one kind, as most replies hold, are written by one statement and not by one for each. The
 * ids are those of the claims, sorted. */
static enum status claim_results(struct db *db, struct arena *arena, int64_t hostid, int64_t userid,
                                 const struct claim *claims, size_t count, struct db_ids ids,
                                 struct db_ids workunitids)
{
    struct claim_results_values *values = ARENA_ARRAY(arena, count, struct claim_results_values);
    bool are_alike = true;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        are_alike = are_alike && is_written_alike(&claims[0], &claims[i]);
        values[i] = (struct claim_results_values){.ids = {&claims[i].resultid, 1},
                                                  .hostid = hostid,
                                                  .userid = userid,
                                                  .sent_time = claims[i].sent_time,
                                                  .report_deadline = claims[i].report_deadline,
                                                  .app_version_id = claims[i].app_version_id,
                                                  .flops_estimate = claims[i].flops_estimate};
    }
    if (are_alike)
        values[0].ids = ids;
    return DB_DEFER(db, claim_results, SUBJECT_WORKUNIT, workunitids, DB_ANY_COUNT, values,
                    are_alike ? 1 : count);
}

static bool leaves_workunit(const struct claim *claim)
{
    return claim->is_due_before && claim->commit_hr_class == 0 && claim->commit_app_version_id == 0;
}

static bool is_committed_alike(const struct claim *a, const struct claim *b)
{
    return a->report_deadline == b->report_deadline && a->commit_hr_class == b->commit_hr_class &&
           a->commit_app_version_id == b->commit_app_version_id;
}

/* As for the results. The claims are in order of workunit. */
static enum status change_workunits(struct db *db, struct arena *arena, const struct claim *claims,
                                    size_t count)
{
    struct claim_workunits_values *values =
        ARENA_ARRAY(arena, count, struct claim_workunits_values);
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    const struct claim *first = NULL;
    bool are_alike = true;
    size_t changed = 0;

    if (values == NULL || ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        if (leaves_workunit(&claims[i]))
            continue;
        first = first == NULL ? &claims[i] : first;
        are_alike = are_alike && is_committed_alike(first, &claims[i]);
        ids[changed] = claims[i].workunitid;
        values[changed] =
            (struct claim_workunits_values){.ids = {&ids[changed], 1},
                                            .report_deadline = claims[i].report_deadline,
                                            .hr_class = claims[i].commit_hr_class,
                                            .committed_id = claims[i].commit_app_version_id};
        changed++;
    }
    if (changed == 0)
        return STATUS_OK;
    if (are_alike)
        values[0].ids = (struct db_ids){ids, changed};
    return DB_DEFER(db, claim_workunits, SUBJECT_WORKUNIT, ((struct db_ids){ids, changed}),
                    DB_ANY_COUNT, values, are_alike ? 1 : changed);
}

enum { FEW = 3 };

/* Whether results and workunits can be written by one statement: they are few, and all are written
 * alike. The claims are in order of result. */
static bool are_few_alike(const struct claim *claims, size_t count)
{
    if (count > FEW)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (leaves_workunit(&claims[i]) || !is_written_alike(&claims[0], &claims[i]) ||
            !is_committed_alike(&claims[0], &claims[i]))
            return false;
        for (size_t j = 0; j < i; j++)
            if (claims[j].workunitid == claims[i].workunitid)
                return false;
    }
    return true;
}

/* The number of rows is that of both tables. */
static enum status claim_few(struct db *db, int64_t hostid, int64_t userid,
                             const struct claim *claims, struct db_ids ids)
{
    struct claim_few_values values =
        (struct claim_few_values){.ids = ids,
                                  .hostid = hostid,
                                  .userid = userid,
                                  .sent_time = claims[0].sent_time,
                                  .report_deadline = claims[0].report_deadline,
                                  .app_version_id = claims[0].app_version_id,
                                  .flops_estimate = claims[0].flops_estimate,
                                  .hr_class = claims[0].commit_hr_class,
                                  .committed_id = claims[0].commit_app_version_id};
    int64_t workunitids[FEW];

    for (size_t i = 0; i < ids.count; i++)
        workunitids[i] = claims[i].workunitid;
    return DB_DEFER(db, claim_few, SUBJECT_WORKUNIT, ((struct db_ids){workunitids, ids.count}),
                    2 * ids.count, &values, 1);
}

/* Results before workunits, which are locked. The claims are in order of result. */
static enum status claim_many(struct db *db, struct arena *arena, int64_t hostid, int64_t userid,
                              struct claim *claims, size_t count, struct db_ids ids)
{
    int64_t *workunitids = ARENA_ARRAY(arena, count, int64_t);
    enum status status;

    if (workunitids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        workunitids[i] = claims[i].workunitid;
    status = claim_results(db, arena, hostid, userid, claims, count, ids,
                           (struct db_ids){workunitids, count});
    qsort(claims, count, sizeof(claims[0]), compare_by_workunit);
    return status == STATUS_OK ? change_workunits(db, arena, claims, count) : status;
}

/* What went to a version that is not trusted needs another instance to be compared with. */
static enum status replicate_claimed(struct db *db, struct arena *arena, const struct claim *claims,
                                     size_t count)
{
    struct claim_replicate_values *values =
        ARENA_ARRAY(arena, count, struct claim_replicate_values);
    size_t raised = 0;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        if (claims[i].replicate_target != 0)
            values[raised++] =
                (struct claim_replicate_values){.workunitid = claims[i].workunitid,
                                                .instances = claims[i].replicate_target,
                                                .now = claims[i].sent_time};
    return DB_RUN_BULK(db, claim_replicate, values, raised, NULL);
}

enum status db_results_claim(struct db *db, struct arena *arena, int64_t hostid, int64_t userid,
                             const struct claim *claims, size_t count)
{
    struct claim *sorted = ARENA_ARRAY(arena, count, struct claim);
    int64_t *resultids = ARENA_ARRAY(arena, count, int64_t);
    struct db_ids ids;
    enum status status;

    if (sorted == NULL || resultids == NULL)
        return STATUS_TOO_LARGE;
    if (count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = claims[i];
        resultids[i] = claims[i].resultid;
    }
    ids = db_sorted_ids(arena, resultids, count);
    qsort(sorted, count, sizeof(sorted[0]), compare_by_workunit);
    status = guard_workunits(db, arena, sorted, count);
    qsort(sorted, count, sizeof(sorted[0]), sorted_compare_ids);
    if (status == STATUS_OK)
        status = are_few_alike(sorted, count)
                     ? claim_few(db, hostid, userid, sorted, ids)
                     : claim_many(db, arena, hostid, userid, sorted, count, ids);
    return status == STATUS_OK ? replicate_claimed(db, arena, sorted, count) : status;
}

enum status db_results_reject(struct db *db, struct arena *arena, const int64_t *resultids,
                              const int64_t *workunitids, size_t count, int64_t now)
{
    enum status status = DB_RUN(db, workunits_transition_now, NULL,
                                .ids = db_sorted_ids(arena, workunitids, count), .now = now);

    return status == STATUS_OK
               ? DB_RUN(db, results_reject, NULL, .ids = db_sorted_ids(arena, resultids, count))
               : status;
}
