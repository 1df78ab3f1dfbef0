/* SPDX-License-Identifier: Apache-2.0 */
/* What is looked at before jobs are taken: workunits and results under lock, with the documents
 * that are sent, and without locks what a user or host has met. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

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

static enum status query_locked(struct db *db, struct arena *arena,
                                const struct counted_results *counts, const int64_t *workunits,
                                const int64_t *results, size_t count, struct db_rows *ret_rows)
{
    struct db_value workunit_ids = db_numbers(workunits, count);
    struct db_value result_ids = db_numbers(results, count);

    if (counts == NULL)
        return db_query(db, arena, STATEMENT_jobs_lock, DB_VALUES(workunit_ids, result_ids),
                        ret_rows);
    return db_query(
        db, arena, STATEMENT_jobs_lock_counting,
        DB_VALUES(db_id(counts->userid), db_id(counts->hostid), workunit_ids, result_ids),
        ret_rows);
}

static struct locked_workunit read_locked(const struct db_cell *cells, bool counts)
{
    return (struct locked_workunit){.id = cells[3].integer,
                                    .hr_class = cells[6].integer,
                                    .app_version_id = cells[7].integer,
                                    .error_mask = cells[8].integer,
                                    .canonical_resultid = cells[9].integer,
                                    .transition_time = cells[10].integer,
                                    .results_of_user = counts ? cells[11].integer : 0,
                                    .results_of_host = counts ? cells[12].integer : 0};
}

/* The workunits so far, in order of id. */
struct locked_list {
    struct locked_workunit *rows;
    size_t count;
};

/* Rows come by workunit, so what is said of one is the last that was said, if anything was. */
static struct locked_workunit *take_workunit(struct locked_list *list, const struct db_cell *cells,
                                             bool counts)
{
    if (list->count == 0 || list->rows[list->count - 1].id != cells[3].integer)
        list->rows[list->count++] = read_locked(cells, counts);
    return &list->rows[list->count - 1];
}

static enum status take_locked(struct db_rows *rows, bool counts, const struct wanted *wanted,
                               size_t count, struct locked_list *list, struct locked_job *jobs)
{
    while (db_rows_next(rows)) {
        const struct db_cell *cells = rows->cells;
        const struct wanted key = {.key = {cells[0].integer, cells[3].integer}};
        const struct wanted *found =
            bsearch(&key, wanted, count, sizeof(wanted[0]), compare_wanted);

        if (found == NULL) /* named for another workunit than it is of */
            continue;
        jobs[found->place] = (struct locked_job){.row = take_workunit(list, cells, counts),
                                                 .documents = {.result_name = cells[1].text,
                                                               .result_xml = cells[2].text,
                                                               .workunit_name = cells[4].text,
                                                               .workunit_xml = cells[5].text}};
    }
    return db_rows_end(rows);
}

enum status db_jobs_lock(struct db *db, struct arena *arena, const struct job_key *keys,
                         size_t count, const struct counted_results *counts,
                         struct locked_job *ret_jobs)
{
    struct wanted *wanted = ARENA_ARRAY(arena, count, struct wanted);
    struct locked_list list = {.rows = ARENA_ARRAY(arena, count, struct locked_workunit)};
    int64_t *workunitids = ARENA_ARRAY(arena, count, int64_t);
    int64_t *resultids = ARENA_ARRAY(arena, count, int64_t);

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
    for (size_t i = 0; i < count; i += DB_LIST_MOST) {
        size_t part = list_part(count, i);
        struct db_rows rows;
        enum status status =
            query_locked(db, arena, counts, workunitids + i, resultids + i, part, &rows);

        if (status == STATUS_OK)
            status = take_locked(&rows, counts != NULL, wanted + i, part, &list, ret_jobs);
        if (status != STATUS_OK)
            return status;
    }
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
