/* SPDX-License-Identifier: Apache-2.0 */
/* Booking reported results. A report is acknowledged only if its row was really written, so every
 * call says which ones were. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum status db_results_by_name(struct db *db, struct arena *arena, const struct text *names,
                               size_t count, struct result_row **ret_rows, size_t *ret_count)
{
    /* A collation that ignores case or accents never makes two rows of one unique name. */
    struct result_row *items = ARENA_ARRAY(arena, count, struct result_row);
    size_t found = 0;

    if (items == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status = db_query(db, arena, STATEMENT_results_by_name,
                                      DB_VALUES(db_texts(names + i, list_part(count, i))), &rows);

        if (status != STATUS_OK)
            return status;
        while (found < count && db_rows_next(&rows))
            (void)db_cells_to_row(rows.cells, ROW_result, &items[found++]);
        if (db_rows_end(&rows) != STATUS_OK)
            return rows.status;
    }
    *ret_rows = items;
    *ret_count = found;
    return STATUS_OK;
}

#define REPORT_VALUES 16

static void report_values(const struct result_report *report, struct db_value *value)
{
    *value++ = db_id(report->hostid);
    *value++ = db_id(report->teamid);
    *value++ = db_integer(report->received_time);
    *value++ = db_integer(report->client_state);
    *value++ = db_integer(report->outcome);
    *value++ = db_integer(report->validate_state);
    *value++ = db_integer(report->exit_status);
    *value++ = db_integer(report->app_version_num);
    *value++ = db_real(report->cpu_time);
    *value++ = db_bytes(report->stderr_out, DB_BLOB_MOST);
    *value++ = db_bytes(report->xml_doc_out, DB_BLOB_MOST);
    *value++ = db_real(report->elapsed_time);
    *value++ = db_real(report->peak_working_set_size);
    *value++ = db_real(report->peak_swap_size);
    *value++ = db_real(report->peak_disk_usage);
    *value = db_id(report->id);
}

/* Which of the rows are ours now. Only asked when the count of the update fell short. A row that
 * looks as if it were ours but was not counted was booked by the same host in the same second
 * before us; which one that is cannot be told from outside, so the transaction is to be repeated,
 * and reads those rows anew. */
static enum status find_booked(struct db *db, struct arena *arena,
                               const struct result_report *reports, size_t count,
                               const int64_t *ids, size_t id_count, uint64_t affected,
                               bool *ret_booked)
{
    bool *is_ours = ARENA_ARRAY(arena, id_count, bool);
    uint64_t found = 0;

    if (is_ours == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < id_count; i += DB_LIST_MOST) {
        struct db_rows rows;
        enum status status =
            db_query(db, arena, STATEMENT_reports_booked,
                     DB_VALUES(db_numbers(ids + i, list_part(id_count, i)),
                               db_id(reports[0].hostid), db_integer(reports[0].received_time)),
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
        ret_booked[i] = is_ours[list_find(ids, id_count, reports[i].id)];
    return found == affected ? STATUS_OK : STATUS_DB_RETRY;
}

/* By id; of two for one row the one that was told first. */
static int compare_reports(const void *a, const void *b)
{
    const struct result_report *left = *(const struct result_report *const *)a;
    const struct result_report *right = *(const struct result_report *const *)b;

    if (left->id != right->id)
        return left->id > right->id ? 1 : -1;
    return (left > right) - (left < right);
}

/* One report for each row, in order of id. NULL: the arena is full. */
static const struct result_report **sort_reports(struct arena *arena,
                                                 const struct result_report *reports, size_t count,
                                                 size_t *ret_count)
{
    const struct result_report **sorted = ARENA_ARRAY(arena, count, const struct result_report *);
    size_t kept = 0;

    if (sorted == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &reports[i];
    qsort(sorted, count, sizeof(sorted[0]), compare_reports);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || sorted[kept - 1]->id != sorted[i]->id)
            sorted[kept++] = sorted[i];
    }
    *ret_count = kept;
    return sorted;
}

static enum status save_results(struct db *db, struct arena *arena,
                                const struct result_report *const *reports, size_t count,
                                uint64_t *ret_affected)
{
    size_t slice = count < DB_BULK_ROWS ? count : DB_BULK_ROWS;
    struct db_value *values = ARENA_ARRAY(arena, slice * REPORT_VALUES, struct db_value);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    *ret_affected = 0;
    for (size_t i = 0; i < count; i += slice) {
        size_t rows = count - i < slice ? count - i : slice;
        uint64_t affected = 0;
        enum status status;

        for (size_t j = 0; j < rows; j++)
            report_values(reports[i + j], values + j * REPORT_VALUES);
        status = db_run_bulk(db, STATEMENT_report_save, values, REPORT_VALUES, rows, &affected);
        if (status != STATUS_OK)
            return status;
        *ret_affected += affected;
    }
    return STATUS_OK;
}

enum status db_reports_save(struct db *db, struct arena *arena, const struct result_report *reports,
                            size_t count, int64_t now, bool *ret_booked)
{
    const struct result_report **sorted;
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    int64_t *workunits = ARENA_ARRAY(arena, count, int64_t);
    size_t id_count, workunit_count;
    uint64_t affected = 0;
    enum status status = STATUS_OK;

    if (ids == NULL || workunits == NULL)
        return STATUS_TOO_LARGE;
    if (count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        workunits[i] = reports[i].workunitid;
        ret_booked[i] = false;
    }
    sorted = sort_reports(arena, reports, count, &id_count);
    workunits = list_sorted(arena, workunits, count, &workunit_count);
    if (sorted == NULL || workunits == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < id_count; i++)
        ids[i] = sorted[i]->id;
    for (size_t i = 0; status == STATUS_OK && i < workunit_count; i += DB_LIST_MOST)
        status = db_run(
            db, STATEMENT_workunits_transition_now,
            DB_VALUES(db_integer(now), db_numbers(workunits + i, list_part(workunit_count, i))),
            NULL);
    if (status == STATUS_OK)
        status = save_results(db, arena, sorted, id_count, &affected);
    if (status != STATUS_OK)
        return status;
    if (affected < id_count)
        return find_booked(db, arena, reports, count, ids, id_count, affected, ret_booked);
    for (size_t i = 0; i < count; i++)
        ret_booked[i] = true;
    return STATUS_OK;
}
