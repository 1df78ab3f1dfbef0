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
        values[i] = (struct claim_results_values){.workunitids = {&claims[i].workunitid, 1},
                                                  .ids = {&claims[i].resultid, 1},
                                                  .hostid = hostid,
                                                  .userid = userid,
                                                  .sent_time = claims[i].sent_time,
                                                  .report_deadline = claims[i].report_deadline,
                                                  .app_version_id = claims[i].app_version_id,
                                                  .flops_estimate = claims[i].flops_estimate};
    }
    if (are_alike) {
        values[0].workunitids = workunitids;
        values[0].ids = ids;
    }
    return DB_RUN_BULK(db, claim_results, values, are_alike ? 1 : count, NULL);
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
    return DB_RUN_BULK(db, claim_workunits, values, are_alike ? 1 : changed, NULL);
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

static enum status claim_few(struct db *db, int64_t hostid, int64_t userid,
                             const struct claim *claims, struct db_ids ids,
                             struct db_ids workunitids)
{
    return DB_RUN(db, claim_few, NULL, .workunitids = workunitids, .ids = ids, .hostid = hostid,
                  .userid = userid, .sent_time = claims[0].sent_time,
                  .report_deadline = claims[0].report_deadline,
                  .app_version_id = claims[0].app_version_id,
                  .flops_estimate = claims[0].flops_estimate, .hr_class = claims[0].commit_hr_class,
                  .committed_id = claims[0].commit_app_version_id);
}

/* Results before workunits, which are locked. The claims are in order of result. */
static enum status claim_many(struct db *db, struct arena *arena, int64_t hostid, int64_t userid,
                              struct claim *claims, size_t count, struct db_ids ids,
                              struct db_ids workunitids)
{
    enum status status = claim_results(db, arena, hostid, userid, claims, count, ids, workunitids);

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

/* Before the claims, which then go on waiting for the end of the transaction. */
static enum status save_variants(struct db *db, struct arena *arena, const struct claim *claims,
                                 size_t count)
{
    struct sent_variant *sent;
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += claims[i].variant != 0;
    if (found == 0)
        return STATUS_OK;
    sent = ARENA_ARRAY(arena, found, struct sent_variant);
    if (sent == NULL)
        return STATUS_TOO_LARGE;
    found = 0;
    for (size_t i = 0; i < count; i++)
        if (claims[i].variant != 0)
            sent[found++] = (struct sent_variant){.resultid = claims[i].resultid,
                                                  .workunitid = claims[i].workunitid,
                                                  .variant = claims[i].variant};
    return db_result_variants_save(db, arena, sent, found);
}

enum status db_results_claim(struct db *db, struct arena *arena, int64_t hostid, int64_t userid,
                             const struct claim *claims, size_t count)
{
    struct claim *sorted = ARENA_ARRAY(arena, count, struct claim);
    int64_t *resultids = ARENA_ARRAY(arena, count, int64_t);
    int64_t *workunits = ARENA_ARRAY(arena, count, int64_t);
    struct db_ids ids, workunitids;
    enum status status;

    if (sorted == NULL || resultids == NULL || workunits == NULL)
        return STATUS_TOO_LARGE;
    if (count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = claims[i];
        resultids[i] = claims[i].resultid;
        workunits[i] = claims[i].workunitid;
    }
    ids = (struct db_ids){resultids, sorted_ids(resultids, count)};
    workunitids = (struct db_ids){workunits, sorted_ids(workunits, count)};
    qsort(sorted, count, sizeof(sorted[0]), compare_by_workunit);
    status = guard_workunits(db, arena, sorted, count);
    if (status == STATUS_OK)
        status = save_variants(db, arena, claims, count);
    qsort(sorted, count, sizeof(sorted[0]), sorted_compare_ids);
    if (status == STATUS_OK)
        status = are_few_alike(sorted, count)
                     ? claim_few(db, hostid, userid, sorted, ids, workunitids)
                     : claim_many(db, arena, hostid, userid, sorted, count, ids, workunitids);
    return status == STATUS_OK ? replicate_claimed(db, arena, sorted, count) : status;
}

enum status db_results_reject(struct db *db, struct arena *arena, const int64_t *resultids,
                              const int64_t *workunitids, size_t count, int64_t now)
{
    const struct db_ids workunits = db_sorted_ids(arena, workunitids, count);
    enum status status = DB_RUN(db, workunits_transition_now, NULL, .ids = workunits, .now = now);

    return status == STATUS_OK ? DB_RUN(db, results_reject, NULL, .workunitids = workunits,
                                        .ids = db_sorted_ids(arena, resultids, count))
                               : status;
}
