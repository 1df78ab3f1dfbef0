/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that the database says a host has: listed, sent again, or given up. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

static enum status read_jobs(struct db_rows *rows, size_t most, struct host_job *jobs,
                             size_t *count)
{
    while (*count < most && db_rows_next(rows)) {
        struct host_job *job = &jobs[(*count)++];
        const struct db_cell *cells = db_cells_to_row(rows->cells, ROW_result, &job->result);

        (void)db_cells_to_row(cells, ROW_workunit, &job->workunit);
    }
    return db_rows_end(rows);
}

static int compare_by_age(const void *a, const void *b)
{
    const struct result_row *left = a, *right = b;

    if (left->sent_time != right->sent_time)
        return left->sent_time < right->sent_time ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

int db_compare_jobs_by_age(const void *job, const void *other)
{
    return compare_by_age(&((const struct host_job *)job)->result,
                          &((const struct host_job *)other)->result);
}

static enum status query_in_progress(struct db *db, struct arena *arena, enum statement statement,
                                     int64_t hostid, size_t most, struct db_rows *ret_rows)
{
    return db_query(
        db, arena, statement,
        DB_VALUES(db_id(hostid), db_integer((int64_t)(most < INT32_MAX ? most : INT32_MAX))),
        ret_rows);
}

enum status db_results_in_progress(struct db *db, struct arena *arena, int64_t hostid, size_t most,
                                   struct result_row **ret_rows, size_t *ret_count)
{
    struct result_row *items;
    size_t count = 0;
    struct db_rows rows;
    enum status status =
        query_in_progress(db, arena, STATEMENT_results_in_progress, hostid, most, &rows);

    if (status != STATUS_OK)
        return status;
    items = ARENA_ARRAY(arena, rows.row_count, struct result_row);
    while (items != NULL && db_rows_next(&rows))
        (void)db_cells_to_row(rows.cells, ROW_result, &items[count++]);
    status = db_rows_end(&rows);
    if (status == STATUS_OK && items == NULL)
        status = STATUS_TOO_LARGE;
    if (status != STATUS_OK)
        return status;
    if (count > 1)
        qsort(items, count, sizeof(items[0]), compare_by_age);
    *ret_rows = items;
    *ret_count = count;
    return STATUS_OK;
}

enum status db_jobs_in_progress(struct db *db, struct arena *arena, int64_t hostid, size_t most,
                                struct host_job **ret_jobs, size_t *ret_count)
{
    struct host_job *jobs;
    size_t count = 0;
    struct db_rows rows;
    enum status status =
        query_in_progress(db, arena, STATEMENT_jobs_in_progress, hostid, most, &rows);

    if (status != STATUS_OK)
        return status;
    jobs = ARENA_ARRAY(arena, rows.row_count, struct host_job);
    if (jobs == NULL) {
        (void)db_rows_end(&rows);
        return STATUS_TOO_LARGE;
    }
    status = read_jobs(&rows, rows.row_count, jobs, &count);
    if (status != STATUS_OK)
        return status;
    if (count > 1)
        qsort(jobs, count, sizeof(jobs[0]), db_compare_jobs_by_age);
    *ret_jobs = jobs;
    *ret_count = count;
    return STATUS_OK;
}

enum status db_jobs_by_name(struct db *db, struct arena *arena, int64_t hostid,
                            const struct text *names, size_t count, struct host_job **ret_jobs,
                            size_t *ret_count)
{
    struct host_job *jobs = ARENA_ARRAY(arena, count, struct host_job);
    size_t found = 0;

    if (jobs == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status =
            db_query(db, arena, STATEMENT_jobs_by_name,
                     DB_VALUES(db_texts(names + i, list_part(count, i)), db_id(hostid)), &rows);

        if (status == STATUS_OK)
            status = read_jobs(&rows, count, jobs, &found);
        if (status != STATUS_OK)
            return status;
    }
    *ret_jobs = jobs;
    *ret_count = found;
    return STATUS_OK;
}

/* One row of values for the workunit and for the result of each job. */
struct change {
    int64_t workunitid, resultid, transition_time;
    struct db_value result_values[5];
};

static int compare_by_workunit(const void *a, const void *b)
{
    const struct change *left = a, *right = b;

    return (left->workunitid > right->workunitid) - (left->workunitid < right->workunitid);
}

static int compare_by_result(const void *a, const void *b)
{
    const struct change *left = a, *right = b;

    return (left->resultid > right->resultid) - (left->resultid < right->resultid);
}

/* Workunits in order of id, then results in order of id. */
static enum status save_changes(struct db *db, struct change *changes, size_t count,
                                enum statement statement, size_t result_value_count)
{
    struct db_value *values = calloc(count + 1, 5 * sizeof(values[0]));
    enum status status;

    if (values == NULL)
        return STATUS_NO_MEMORY;
    qsort(changes, count, sizeof(changes[0]), compare_by_workunit);
    for (size_t i = 0; i < count; i++) {
        values[2 * i] = db_integer(changes[i].transition_time);
        values[2 * i + 1] = db_id(changes[i].workunitid);
    }
    status = db_run_bulk(db, STATEMENT_workunit_transition_by, values, 2, count, NULL);
    qsort(changes, count, sizeof(changes[0]), compare_by_result);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < result_value_count; j++)
            values[result_value_count * i + j] = changes[i].result_values[j];
    }
    if (status == STATUS_OK)
        status = db_run_bulk(db, statement, values, result_value_count, count, NULL);
    free(values);
    return status;
}

enum status db_jobs_resend(struct db *db, const struct resent_job *jobs, size_t count)
{
    struct change *changes = calloc(count + 1, sizeof(changes[0]));
    enum status status;

    if (changes == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        changes[i] = (struct change){
            .workunitid = jobs[i].workunitid,
            .resultid = jobs[i].resultid,
            .transition_time = jobs[i].report_deadline,
            .result_values = {db_integer(jobs[i].sent_time), db_integer(jobs[i].report_deadline),
                              db_id(jobs[i].app_version_id), db_real(jobs[i].flops_estimate),
                              db_id(jobs[i].resultid)}};
    status = save_changes(db, changes, count, STATEMENT_result_resend, 5);
    free(changes);
    return status;
}

enum status db_jobs_give_up(struct db *db, const struct host_job *jobs, size_t count,
                            int64_t deadline)
{
    struct change *changes = calloc(count + 1, sizeof(changes[0]));
    enum status status;

    if (changes == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        changes[i] =
            (struct change){.workunitid = jobs[i].result.workunitid,
                            .resultid = jobs[i].result.id,
                            .transition_time = deadline,
                            .result_values = {db_integer(deadline), db_id(jobs[i].result.id)}};
    status = save_changes(db, changes, count, STATEMENT_result_give_up, 2);
    free(changes);
    return status;
}
