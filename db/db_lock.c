/* SPDX-License-Identifier: Apache-2.0 */
/* What is read before jobs are taken: workunits and results under lock, with the documents that are
 * sent, and without locks which workunits a user or host already had. */
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>

#include "server/base/banned.h"

/* One result that is to be locked, and where its answer goes. */
struct wanted {
    struct job_key key;
    size_t place;
};

static int compare_wanted(const void *a, const void *b)
{
    const struct job_key *left = &((const struct wanted *)a)->key;
    const struct job_key *right = &((const struct wanted *)b)->key;

    if (left->workunitid != right->workunitid)
        return left->workunitid < right->workunitid ? -1 : 1;
    return (left->resultid > right->resultid) - (left->resultid < right->resultid);
}

/* The workunits so far, in order of id. */
struct locked_list {
    struct locked_workunit *rows;
    size_t count;
};

/* Rows come by workunit, so what is said of one is the last that was said, if anything was. */
static struct locked_workunit *take_workunit(struct locked_list *list,
                                             const struct locked_job_row *row)
{
    if (list->count == 0 || list->rows[list->count - 1].id != row->workunitid)
        list->rows[list->count++] =
            (struct locked_workunit){.id = row->workunitid,
                                     .hr_class = row->hr_class,
                                     .app_version_id = row->app_version_id,
                                     .error_mask = row->error_mask,
                                     .canonical_resultid = row->canonical_resultid,
                                     .transition_time = row->transition_time,
                                     .results_of_user = row->results_of_user,
                                     .results_of_host = row->results_of_host};
    return &list->rows[list->count - 1];
}

static enum status take_locked(struct locked_job_cursor *rows, const struct wanted *wanted,
                               size_t count, struct locked_list *list, struct locked_job *jobs)
{
    struct locked_job_row row;

    while (DB_NEXT(rows, &row)) {
        const struct wanted key = {.key = {row.resultid, row.workunitid}};
        const struct wanted *found =
            bsearch(&key, wanted, count, sizeof(wanted[0]), compare_wanted);

        if (found == NULL) /* named for another workunit than it is of */
            continue;
        jobs[found->place] = (struct locked_job){.row = take_workunit(list, &row),
                                                 .is_unsent = row.is_unsent != 0,
                                                 .documents = {.result_name = row.result_name,
                                                               .result_xml = row.result_xml,
                                                               .workunit_name = row.workunit_name,
                                                               .workunit_xml = row.workunit_xml}};
    }
    return DB_END(rows);
}

enum status db_jobs_lock(struct db *db, struct arena *arena, const struct job_key *keys,
                         size_t count, const struct counted_results *counts,
                         struct locked_job *ret_jobs)
{
    struct wanted *wanted = ARENA_ARRAY(arena, count, struct wanted);
    struct locked_list list = {.rows = ARENA_ARRAY(arena, count, struct locked_workunit)};
    int64_t *workunitids = ARENA_ARRAY(arena, count, int64_t);
    int64_t *resultids = ARENA_ARRAY(arena, count, int64_t);
    struct db_ids workunits, results;
    struct locked_job_cursor rows;
    enum status status;

    if (wanted == NULL || list.rows == NULL || workunitids == NULL || resultids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        wanted[i] = (struct wanted){.key = keys[i], .place = i};
        ret_jobs[i] = (struct locked_job){0};
    }
    if (count > 1)
        qsort(wanted, count, sizeof(wanted[0]), compare_wanted);
    for (size_t i = 0; i < count; i++) {
        workunitids[i] = wanted[i].key.workunitid;
        resultids[i] = wanted[i].key.resultid;
    }
    workunits = (struct db_ids){workunitids, count};
    results = (struct db_ids){resultids, count};
    status =
        counts == NULL
            ? DB_QUERY(db, jobs_lock, arena, &rows, .workunitids = workunits, .resultids = results)
            : DB_QUERY(db, jobs_lock_counting, arena, &rows, .workunitids = workunits,
                       .resultids = results, .userid = counts->userid, .hostid = counts->hostid);
    return status == STATUS_OK ? take_locked(&rows, wanted, count, &list, ret_jobs) : status;
}

enum status db_workunits_had(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                             int64_t userid, int64_t hostid, struct had_workunit **ret_rows,
                             size_t *ret_count)
{
    struct had_workunit *items = ARENA_ARRAY(arena, count, struct had_workunit);
    struct had_workunit_cursor rows;
    struct had_workunit_row row;
    size_t found = 0;
    enum status status;

    if (items == NULL)
        return STATUS_TOO_LARGE;
    status = DB_QUERY(db, workunits_had, arena, &rows, .ids = db_sorted_ids(arena, ids, count),
                      .userid = userid, .hostid = hostid);
    if (status != STATUS_OK)
        return status;
    while (found < count && DB_NEXT(&rows, &row))
        items[found++] = (struct had_workunit){
            .id = row.id, .by_user = row.by_user != 0, .by_host = row.by_host != 0};
    *ret_rows = items;
    *ret_count = found;
    return DB_END(&rows);
}

enum status db_job_documents(struct db *db, struct arena *arena, const int64_t *resultids,
                             size_t count, struct job_documents *ret_documents)
{
    struct db_ids ids = db_sorted_ids(arena, resultids, count);
    struct job_documents *documents = ARENA_ARRAY(arena, count, struct job_documents);
    struct job_document_cursor rows;
    struct job_document_row row;
    enum status status;

    if (documents == NULL)
        return STATUS_TOO_LARGE;
    status = DB_QUERY(db, job_documents, arena, &rows, .ids = ids);
    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&rows, &row)) {
        size_t found = sorted_find_id(ids.items, ids.count, row.id);

        if (found < ids.count)
            documents[found] = (struct job_documents){.result_name = row.result_name,
                                                      .result_xml = row.result_xml,
                                                      .workunit_name = row.workunit_name,
                                                      .workunit_xml = row.workunit_xml};
    }
    for (size_t i = 0; i < count; i++)
        ret_documents[i] = documents[sorted_find_id(ids.items, ids.count, resultids[i])];
    return DB_END(&rows);
}
