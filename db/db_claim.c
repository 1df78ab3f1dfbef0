/* SPDX-License-Identifier: Apache-2.0 */
/* Taking jobs for a host. Whoever changes results of a workunit for a host has locked the workunit
 * before, so what the lock call counts stays true until the end of the transaction; BOINC's own
 * programs change results too, which the condition on the result's state catches. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

static int compare_by_workunit(const void *a, const void *b)
{
    const struct claim *left = a, *right = b;

    return (left->workunitid > right->workunitid) - (left->workunitid < right->workunitid);
}

static int compare_by_result(const void *a, const void *b)
{
    const struct claim *left = a, *right = b;

    return (left->resultid > right->resultid) - (left->resultid < right->resultid);
}

#define CLAIM_VALUES    7 /* of a result */
#define WORKUNIT_VALUES 6

/* Row locks end at the node of a cluster; there a row that both really change is needed. */
static enum status guard_workunits(struct db *db, const struct claim *claims, size_t count,
                                   struct db_value *values)
{
    if (!db_is_cluster(db))
        return STATUS_OK;
    for (size_t i = 0; i < count; i++)
        values[i] = db_id(claims[i].workunitid);
    return db_run_bulk(db, STATEMENT_claim_guard, values, 1, count, NULL);
}

static void result_values(const struct claim *claim, int64_t hostid, int64_t userid,
                          struct db_value id, struct db_value *value)
{
    *value++ = db_id(hostid);
    *value++ = db_id(userid);
    *value++ = db_integer(claim->sent_time);
    *value++ = db_integer(claim->report_deadline);
    *value++ = db_id(claim->app_version_id);
    *value++ = db_real(claim->flops_estimate);
    *value = id;
}

static bool is_written_alike(const struct claim *a, const struct claim *b)
{
    return a->sent_time == b->sent_time && a->report_deadline == b->report_deadline &&
           a->app_version_id == b->app_version_id && a->flops_estimate == b->flops_estimate;
}

/* Jobs of one kind, as most replies hold, are written by one statement and not by one for each. The
 * ids are those of the claims, sorted. */
static enum status claim_results(struct db *db, int64_t hostid, int64_t userid,
                                 const struct claim *claims, size_t count, const int64_t *ids,
                                 size_t id_count, struct db_value *values, uint64_t *ret_affected)
{
    bool are_alike = true;
    enum status status = STATUS_OK;

    for (size_t i = 1; i < count; i++)
        are_alike = are_alike && is_written_alike(&claims[0], &claims[i]);
    if (!are_alike) {
        for (size_t i = 0; i < count; i++)
            result_values(&claims[i], hostid, userid, db_id(claims[i].resultid),
                          values + i * CLAIM_VALUES);
        return db_run_bulk(db, STATEMENT_claim_results, values, CLAIM_VALUES, count, ret_affected);
    }
    for (size_t i = 0; status == STATUS_OK && i < id_count; i += DB_LIST_MOST) {
        uint64_t affected = 0;

        result_values(&claims[0], hostid, userid, db_numbers(ids + i, list_part(id_count, i)),
                      values);
        status = db_run(db, STATEMENT_claim_results, values, CLAIM_VALUES, &affected);
        *ret_affected += affected;
    }
    return status;
}

/* Which results are this host's now. Only asked when some were not got. A result that this host got
 * in the same second by an earlier RPC looks the same; then the counts differ, and the transaction
 * is to be repeated rather than a job sent twice. */
static enum status find_claimed(struct db *db, struct arena *arena, int64_t hostid,
                                const struct claim *claims, size_t count, const int64_t *ids,
                                size_t id_count, uint64_t affected, bool *ret_claimed)
{
    bool *is_ours = ARENA_ARRAY(arena, id_count, bool);
    uint64_t found = 0;

    if (is_ours == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < id_count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status = db_query(db, arena, STATEMENT_claims_made,
                                      DB_VALUES(db_numbers(ids + i, list_part(id_count, i)),
                                                db_id(hostid), db_integer(claims[0].sent_time)),
                                      &rows);

        if (status != STATUS_OK)
            return status;
        for (; db_rows_next(&rows); found++) {
            size_t place = list_find(ids, id_count, rows.cells[0].integer);

            if (place < id_count)
                is_ours[place] = true;
        }
        if (db_rows_end(&rows) != STATUS_OK)
            return rows.status;
    }
    for (size_t i = 0; i < count; i++)
        ret_claimed[i] = is_ours[list_find(ids, id_count, claims[i].resultid)];
    return found == affected ? STATUS_OK : STATUS_DB_RETRY;
}

static void workunit_values(const struct claim *claim, struct db_value id, struct db_value *value)
{
    *value++ = db_integer(claim->report_deadline);
    *value++ = db_integer(claim->commit_hr_class);
    *value++ = db_integer(claim->commit_hr_class);
    *value++ = db_id(claim->commit_app_version_id);
    *value++ = db_id(claim->commit_app_version_id);
    *value = id;
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

/* The workunits of what was got; as for the results, jobs of one kind together. The claims are in
 * order of workunit. */
static enum status change_workunits(struct db *db, struct arena *arena, const struct claim *claims,
                                    size_t count, struct db_value *values)
{
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    const struct claim *first = NULL;
    bool are_alike = true;
    size_t changed = 0;
    enum status status = STATUS_OK;

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        if (leaves_workunit(&claims[i]))
            continue;
        first = first == NULL ? &claims[i] : first;
        are_alike = are_alike && is_committed_alike(first, &claims[i]);
        ids[changed] = claims[i].workunitid;
        workunit_values(&claims[i], db_id(ids[changed]), values + changed * WORKUNIT_VALUES);
        changed++;
    }
    if (!are_alike)
        return db_run_bulk(db, STATEMENT_claim_workunits, values, WORKUNIT_VALUES, changed, NULL);
    for (size_t i = 0; status == STATUS_OK && i < changed; i += DB_LIST_MOST) {
        workunit_values(first, db_numbers(ids + i, list_part(changed, i)), values);
        status = db_run(db, STATEMENT_claim_workunits, values, WORKUNIT_VALUES, NULL);
    }
    return status;
}

/* What went to a version that is not trusted needs another instance to be compared with. */
static enum status replicate_claimed(struct db *db, const struct claim *claims, size_t count,
                                     struct db_value *values)
{
    size_t raised = 0;

    for (size_t i = 0; i < count; i++) {
        struct db_value *value = values + raised * 4;

        if (claims[i].replicate_target == 0)
            continue;
        *value++ = db_integer(claims[i].replicate_target);
        *value++ = db_integer(claims[i].replicate_target);
        *value++ = db_integer(claims[i].sent_time);
        *value = db_id(claims[i].workunitid);
        raised++;
    }
    return raised == 0 ? STATUS_OK
                       : db_run_bulk(db, STATEMENT_claim_replicate, values, 4, raised, NULL);
}

/* The claims that were got, in order of workunit. NULL: the arena is full. */
static struct claim *claims_got(struct arena *arena, const struct claim *claims, size_t count,
                                const bool *is_claimed, size_t *ret_count)
{
    struct claim *got = ARENA_ARRAY(arena, count, struct claim);

    *ret_count = 0;
    for (size_t i = 0; got != NULL && i < count; i++)
        if (is_claimed[i])
            got[(*ret_count)++] = claims[i];
    if (*ret_count > 1)
        qsort(got, *ret_count, sizeof(got[0]), compare_by_workunit);
    return got;
}

enum status db_results_claim(struct db *db, struct arena *arena, int64_t hostid, int64_t userid,
                             const struct claim *claims, size_t count, bool *ret_claimed)
{
    struct claim *sorted = ARENA_ARRAY(arena, count, struct claim);
    struct db_value *values = ARENA_ARRAY(arena, count * CLAIM_VALUES, struct db_value);
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    size_t id_count;
    uint64_t affected = 0;
    enum status status;

    if (sorted == NULL || values == NULL || ids == NULL)
        return STATUS_TOO_LARGE;
    if (count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = claims[i];
        ids[i] = claims[i].resultid;
        ret_claimed[i] = false;
    }
    ids = list_sorted(arena, ids, count, &id_count);
    if (ids == NULL)
        return STATUS_TOO_LARGE;
    qsort(sorted, count, sizeof(sorted[0]), compare_by_workunit);
    status = guard_workunits(db, sorted, count, values);
    qsort(sorted, count, sizeof(sorted[0]), compare_by_result);
    if (status == STATUS_OK)
        status = claim_results(db, hostid, userid, sorted, count, ids, id_count, values, &affected);
    if (status != STATUS_OK)
        return status;
    if (affected < count)
        status =
            find_claimed(db, arena, hostid, claims, count, ids, id_count, affected, ret_claimed);
    for (size_t i = 0; affected >= count && i < count; i++)
        ret_claimed[i] = true;
    if (status != STATUS_OK)
        return status;
    sorted = claims_got(arena, claims, count, ret_claimed, &count);
    if (sorted == NULL)
        return STATUS_TOO_LARGE;
    status = change_workunits(db, arena, sorted, count, values);
    return status == STATUS_OK ? replicate_claimed(db, sorted, count, values) : status;
}

enum status db_results_reject(struct db *db, struct arena *arena, const int64_t *resultids,
                              const int64_t *workunitids, size_t count, int64_t now)
{
    size_t id_count, workunit_count;
    int64_t *ids = list_sorted(arena, resultids, count, &id_count);
    int64_t *workunits = list_sorted(arena, workunitids, count, &workunit_count);
    enum status status = STATUS_OK;

    if (ids == NULL || workunits == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; status == STATUS_OK && i < workunit_count; i += DB_LIST_MOST)
        status = db_run(
            db, STATEMENT_workunits_transition_now,
            DB_VALUES(db_integer(now), db_numbers(workunits + i, list_part(workunit_count, i))),
            NULL);
    for (size_t i = 0; status == STATUS_OK && i < id_count; i += DB_LIST_MOST)
        status = db_run(db, STATEMENT_results_reject,
                        DB_VALUES(db_numbers(ids + i, list_part(id_count, i))), NULL);
    return status;
}
