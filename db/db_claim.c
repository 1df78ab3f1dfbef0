/* SPDX-License-Identifier: Apache-2.0 */
/* Taking jobs for a host. Whoever changes results of a workunit for a host has locked the workunit
 * before, so what the lock call counts stays true until the end of the transaction; BOINC's own
 * programs change results too, which the condition on the result's state catches. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum status db_workunits_lock(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                              int64_t userid, int64_t hostid, struct locked_workunit **ret_rows,
                              size_t *ret_count)
{
    size_t id_count, found = 0;
    int64_t *sorted = list_sorted(arena, ids, count, &id_count);
    struct locked_workunit *items = ARENA_ARRAY(arena, count, struct locked_workunit);

    if (sorted == NULL || items == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < id_count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status = db_query(
            db, arena, STATEMENT_workunits_lock,
            DB_VALUES(db_id(userid), db_id(hostid), db_numbers(sorted + i, list_part(id_count, i))),
            &rows);

        if (status != STATUS_OK)
            return status;
        while (found < count && db_rows_next(&rows)) {
            const struct db_cell *cells = rows.cells;

            items[found++] = (struct locked_workunit){.id = cells[0].integer,
                                                      .hr_class = cells[1].integer,
                                                      .app_version_id = cells[2].integer,
                                                      .error_mask = cells[3].integer,
                                                      .canonical_resultid = cells[4].integer,
                                                      .results_of_user = cells[5].integer,
                                                      .results_of_host = cells[6].integer};
        }
        if (db_rows_end(&rows) != STATUS_OK)
            return rows.status;
    }
    *ret_rows = items;
    *ret_count = found;
    return STATUS_OK;
}

enum status db_workunits_met(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                             int64_t userid, int64_t hostid, struct met_workunit **ret_rows,
                             size_t *ret_count)
{
    size_t id_count, found = 0;
    int64_t *sorted = list_sorted(arena, ids, count, &id_count);
    struct met_workunit *items = ARENA_ARRAY(arena, count, struct met_workunit);

    if (sorted == NULL || items == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < id_count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status = db_query(db, arena, STATEMENT_workunits_met,
                                      DB_VALUES(db_id(userid), db_id(hostid),
                                                db_numbers(sorted + i, list_part(id_count, i)),
                                                db_id(userid), db_id(hostid)),
                                      &rows);

        if (status != STATUS_OK)
            return status;
        while (found < count && db_rows_next(&rows)) {
            const struct db_cell *cells = rows.cells;

            items[found++] = (struct met_workunit){.id = cells[0].integer,
                                                   .by_user = cells[1].integer != 0,
                                                   .by_host = cells[2].integer != 0};
        }
        if (db_rows_end(&rows) != STATUS_OK)
            return rows.status;
    }
    *ret_rows = items;
    *ret_count = found;
    return STATUS_OK;
}

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

#define CLAIM_VALUES 12

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

static enum status claim_results(struct db *db, int64_t hostid, int64_t userid,
                                 const struct claim *claims, size_t count, struct db_value *values,
                                 uint64_t *ret_affected)
{
    enum status status;

    for (size_t i = 0; i < count; i++) {
        const struct claim *claim = &claims[i];
        struct db_value *value = values + i * CLAIM_VALUES;

        *value++ = db_id(hostid);
        *value++ = db_id(userid);
        *value++ = db_integer(claim->sent_time);
        *value++ = db_integer(claim->report_deadline);
        *value++ = db_id(claim->app_version_id);
        *value++ = db_real(claim->flops_estimate);
        *value++ = db_integer(claim->report_deadline);
        *value++ = db_integer(claim->commit_hr_class);
        *value++ = db_integer(claim->commit_hr_class);
        *value++ = db_id(claim->commit_app_version_id);
        *value++ = db_id(claim->commit_app_version_id);
        *value = db_id(claim->resultid);
    }
    status = db_run_bulk(db, STATEMENT_claim_result, values, CLAIM_VALUES, count, ret_affected);
    if (status == STATUS_OK)
        *ret_affected /= 2; /* a result and its workunit */
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

/* What went to a version that is not trusted needs another instance to be compared with. */
static enum status replicate_claimed(struct db *db, const struct claim *claims, size_t count,
                                     const bool *is_claimed, struct db_value *values)
{
    size_t raised = 0;

    for (size_t i = 0; i < count; i++) {
        struct db_value *value = values + raised * 4;

        if (!is_claimed[i] || claims[i].replicate_target == 0)
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
        status = claim_results(db, hostid, userid, sorted, count, values, &affected);
    if (status != STATUS_OK)
        return status;
    if (affected < count)
        status =
            find_claimed(db, arena, hostid, claims, count, ids, id_count, affected, ret_claimed);
    for (size_t i = 0; affected >= count && i < count; i++)
        ret_claimed[i] = true;
    if (status != STATUS_OK)
        return status;
    return replicate_claimed(db, claims, count, ret_claimed, values);
}

enum status db_job_documents(struct db *db, struct arena *arena, const int64_t *resultids,
                             size_t count, struct job_documents *ret_documents)
{
    size_t id_count;
    int64_t *ids = list_sorted(arena, resultids, count, &id_count);
    struct job_documents *documents = ARENA_ARRAY(arena, count, struct job_documents);

    if (ids == NULL || documents == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < id_count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status =
            db_query(db, arena, STATEMENT_job_documents,
                     DB_VALUES(db_numbers(ids + i, list_part(id_count, i))), &rows);

        if (status != STATUS_OK)
            return status;
        while (db_rows_next(&rows)) {
            size_t found = list_find(ids, id_count, rows.cells[0].integer);

            if (found < id_count)
                documents[found] = (struct job_documents){.result_name = rows.cells[1].text,
                                                          .result_xml = rows.cells[2].text,
                                                          .workunit_name = rows.cells[3].text,
                                                          .workunit_xml = rows.cells[4].text};
        }
        if (db_rows_end(&rows) != STATUS_OK)
            return rows.status;
    }
    for (size_t i = 0; i < count; i++)
        ret_documents[i] = documents[list_find(ids, id_count, resultids[i])];
    return STATUS_OK;
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
