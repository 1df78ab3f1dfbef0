/* SPDX-License-Identifier: Apache-2.0 */
/* Booking reported results. A report is acknowledged only if its row was really written, so every
 * call says which ones were, or, where it is sent ahead, COMMIT fails unless all were. */
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum status db_results_by_name(struct db *db, struct arena *arena, const struct text *names,
                               size_t count, struct result_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, results_by_name, arena, ret_rows, ret_count, .names = {names, count});
}

static struct report_save_values report_values(const struct result_report *report)
{
    return (struct report_save_values){.workunitids = {&report->workunitid, 1},
                                       .id = report->id,
                                       .hostid = report->hostid,
                                       .teamid = report->teamid,
                                       .received_time = report->received_time,
                                       .client_state = report->client_state,
                                       .outcome = report->outcome,
                                       .validate_state = report->validate_state,
                                       .exit_status = report->exit_status,
                                       .app_version_num = report->app_version_num,
                                       .cpu_time = report->cpu_time,
                                       .elapsed_time = report->elapsed_time,
                                       .peak_working_set_size = report->peak_working_set_size,
                                       .peak_swap_size = report->peak_swap_size,
                                       .peak_disk_usage = report->peak_disk_usage,
                                       .stderr_out = report->stderr_out,
                                       .xml_doc_out = report->xml_doc_out};
}

/* Which of the rows were written, among those of `ids`. The answer holds every row that was, as it
 * is this host's and over; if it holds no more rows than were written, it holds no others. No time
 * is compared: an earlier request may have been booked in the same second, by the clock of another
 * server too. Where a row looks so that was over before, which of them were written cannot be told;
 * where one is still open, an array was interrupted and answered as if it were done. Then the
 * answer is STATUS_DB_RETRY: another attempt reads the rows anew, and nothing is counted twice. */
static enum status read_booked(struct booked_cursor *rows, struct db_ids ids, uint64_t affected,
                               bool *ret_is_booked)
{
    struct booked_row row;
    uint64_t found = 0;
    bool was_passed_over = false;

    for (; DB_NEXT(rows, &row); found++) {
        size_t place = sorted_find_id(ids.items, ids.count, row.id);

        was_passed_over = was_passed_over || row.is_open != 0;
        if (place < ids.count)
            ret_is_booked[place] = true;
    }
    if (DB_END(rows) != STATUS_OK)
        return DB_END(rows);
    return found == affected && !was_passed_over ? STATUS_OK : STATUS_DB_RETRY;
}

/* Only asked when the count of the update fell short. */
static enum status find_booked(struct db *db, struct arena *arena,
                               const struct result_report *reports, size_t count, struct db_ids ids,
                               uint64_t affected, bool *ret_booked)
{
    struct booked_cursor rows;
    bool *is_booked = ARENA_ARRAY(arena, ids.count, bool);
    enum status status;

    if (is_booked == NULL)
        return STATUS_TOO_LARGE;
    status = DB_QUERY(db, reports_booked, arena, &rows, .ids = ids, .hostid = reports[0].hostid);
    if (status == STATUS_OK)
        status = read_booked(&rows, ids, affected, is_booked);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        ret_booked[i] = is_booked[sorted_find_id(ids.items, ids.count, reports[i].id)];
    return status;
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

/* In slices, so that values of very many reports are never in memory at once. */
static enum status save_results(struct db *db, struct arena *arena,
                                const struct result_report *const *reports, size_t count,
                                uint64_t *ret_affected)
{
    size_t slice = count < DB_BULK_ROWS ? count : DB_BULK_ROWS;
    struct report_save_values *values = ARENA_ARRAY(arena, slice, struct report_save_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    *ret_affected = 0;
    for (size_t i = 0; i < count; i += slice) {
        size_t rows = count - i < slice ? count - i : slice;
        uint64_t affected = 0;
        enum status status;

        for (size_t j = 0; j < rows; j++)
            values[j] = report_values(reports[i + j]);
        status = DB_RUN_BULK(db, report_save, values, rows, &affected);
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
    struct db_ids workunitids;
    size_t id_count;
    uint64_t affected = 0;
    enum status status;

    if (ids == NULL || workunits == NULL)
        return STATUS_TOO_LARGE;
    if (count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        workunits[i] = reports[i].workunitid;
        ret_booked[i] = false;
    }
    sorted = sort_reports(arena, reports, count, &id_count);
    if (sorted == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < id_count; i++)
        ids[i] = sorted[i]->id;
    workunitids = (struct db_ids){workunits, sorted_ids(workunits, count)};
    status = DB_RUN(db, workunits_transition_now, NULL, .ids = workunitids, .now = now);
    if (status == STATUS_OK)
        status = save_results(db, arena, sorted, id_count, &affected);
    if (status != STATUS_OK)
        return status;
    if (affected < id_count)
        return find_booked(db, arena, reports, count, (struct db_ids){ids, id_count}, affected,
                           ret_booked);
    for (size_t i = 0; i < count; i++)
        ret_booked[i] = true;
    return STATUS_OK;
}
