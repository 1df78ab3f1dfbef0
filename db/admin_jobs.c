/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs are made by the thousand: rows go in bulk, and the numbers that the database gave to new
 * workunits are asked for by name afterwards, since a bulk insert tells only the first and other
 * programs insert at the same time. Workunits are always locked before results. */
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

#define TEMPLATE_FILE_MOST 63 /* workunit.result_template_file */
#define WORKUNIT_VALUES    25 /* `?` of admin_workunit_add */
#define RESULT_VALUES      10
#define ASSIGNMENT_VALUES  5
#define CANCEL_ROWS        DB_LIST_MOST

/* In the order of the statement's text. */
static void fill_workunit(const struct new_workunit *row, struct db_value *value)
{
    *value++ = db_integer(row->create_time);
    *value++ = db_id(row->appid);
    *value++ = db_text(row->name);
    *value++ = db_bytes(row->xml_doc, DB_BLOB_MOST);
    *value++ = db_integer(row->batch);
    *value++ = db_real(row->rsc_fpops_est);
    *value++ = db_real(row->rsc_fpops_bound);
    *value++ = db_real(row->rsc_memory_bound);
    *value++ = db_real(row->rsc_disk_bound);
    *value++ = db_real(row->rsc_bandwidth_bound);
    *value++ = db_real(row->credit);
    *value++ = db_integer(row->transition_time);
    *value++ = db_integer(row->delay_bound);
    *value++ = db_integer(row->hr_class);
    *value++ = db_integer(row->min_quorum);
    *value++ = db_integer(row->target_nresults);
    *value++ = db_integer(row->max_error_results);
    *value++ = db_integer(row->max_total_results);
    *value++ = db_integer(row->max_success_results);
    *value++ = db_long_text(row->result_template_file, TEMPLATE_FILE_MOST);
    *value++ = db_integer(row->priority);
    *value++ = db_integer(row->size_class);
    *value++ = db_text(row->keywords);
    *value++ = db_integer(row->app_version_num);
    *value = db_integer(row->transitioner_flags);
}

struct named {
    struct text name;
    size_t index;
};

static int compare_named(const void *a, const void *b)
{
    return text_compare(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Numbers of the rows [start, start + count), which are at most a list long. */
static enum status find_ids(struct db *db, struct arena *arena, const struct named *sorted,
                            const struct text *names, size_t count, size_t all, int64_t *ret_ids)
{
    struct db_rows rows;
    size_t found = 0;
    enum status status =
        db_query(db, arena, STATEMENT_admin_workunit_ids, DB_VALUES(db_texts(names, count)), &rows);
    if (status != STATUS_OK)
        return status;
    while (db_rows_next(&rows)) {
        struct named key = {.name = rows.cells[1].text};
        const struct named *hit = bsearch(&key, sorted, all, sizeof key, compare_named);
        if (hit == NULL)
            continue;
        ret_ids[hit->index] = rows.cells[0].integer;
        found++;
    }
    status = db_rows_end(&rows);
    return status == STATUS_OK && found < count ? STATUS_DB_BUG : status;
}

static enum status find_all_ids(struct db *db, struct arena *arena, const struct new_workunit *rows,
                                size_t count, int64_t *ret_ids)
{
    struct named *sorted = ARENA_ARRAY(arena, count, struct named);
    struct text *names = ARENA_ARRAY(arena, count, struct text);
    enum status status = STATUS_OK;
    if (sorted == NULL || names == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = (struct named){.name = rows[i].name, .index = i};
        names[i] = rows[i].name;
    }
    qsort(sorted, count, sizeof *sorted, compare_named);
    for (size_t start = 0; start < count && status == STATUS_OK; start += DB_LIST_MOST) {
        size_t part = count - start < DB_LIST_MOST ? count - start : DB_LIST_MOST;
        status = find_ids(db, arena, sorted, names + start, part, count, ret_ids);
    }
    return status;
}

enum status db_admin_workunits_add(struct db *db, struct arena *arena,
                                   const struct new_workunit *rows, size_t count, int64_t *ret_ids)
{
    struct db_value *values = ARENA_ARRAY(arena, count * WORKUNIT_VALUES, struct db_value);
    if (values == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        fill_workunit(&rows[i], values + i * WORKUNIT_VALUES);
    enum status status =
        db_run_bulk(db, STATEMENT_admin_workunit_add, values, WORKUNIT_VALUES, count, NULL);
    return status == STATUS_OK ? find_all_ids(db, arena, rows, count, ret_ids) : status;
}

enum status db_admin_results_add(struct db *db, struct arena *arena, const struct new_result *rows,
                                 size_t count)
{
    struct db_value *values = ARENA_ARRAY(arena, count * RESULT_VALUES, struct db_value);
    if (values == NULL)
        return STATUS_NO_MEMORY;
    struct db_value *value = values;
    for (size_t i = 0; i < count; i++) {
        const struct new_result *row = &rows[i];
        *value++ = db_integer(row->create_time);
        *value++ = db_id(row->workunitid);
        *value++ = db_integer(row->server_state);
        *value++ = db_text(row->name);
        *value++ = db_bytes(row->xml_doc_in, DB_BLOB_MOST);
        *value++ = db_integer(row->batch);
        *value++ = db_integer(row->random);
        *value++ = db_id(row->appid);
        *value++ = db_integer(row->priority);
        *value++ = db_integer(row->size_class);
    }
    return db_run_bulk(db, STATEMENT_admin_result_add, values, RESULT_VALUES, count, NULL);
}

enum status db_admin_target_exists(struct db *db, const struct job_target *target, bool *ret_exists)
{
    struct db_cell cell;
    enum status status = db_query_one(db, NULL, STATEMENT_admin_target_exists,
                                      DB_VALUES(db_integer(target->type), db_id(target->id),
                                                db_id(target->id), db_id(target->id)),
                                      &cell, 1);

    if (status == STATUS_OK)
        *ret_exists = cell.integer != 0;
    return status;
}

enum status db_admin_assignments_add(struct db *db, struct arena *arena,
                                     const struct job_target *target, const int64_t *workunitids,
                                     size_t count, int64_t now)
{
    struct db_value *values = ARENA_ARRAY(arena, count * ASSIGNMENT_VALUES, struct db_value);
    struct db_value *value = values;

    if (values == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        *value++ = db_integer(now);
        *value++ = db_id(target->id);
        *value++ = db_integer(target->type);
        *value++ = db_integer(target->is_multi);
        *value++ = db_id(workunitids[i]);
    }
    return db_run_bulk(db, STATEMENT_admin_assignment_add, values, ASSIGNMENT_VALUES, count, NULL);
}

/* The next workunits behind *last, in order of number. */
static enum status find_workunits(struct db *db, const struct job_filter *filter, int64_t last,
                                  int64_t ids[CANCEL_ROWS], size_t *ret_count)
{
    struct db_rows rows;
    enum statement statement = STATEMENT_admin_cancel_find_app;
    struct db_value key = db_id(filter->appid);
    if (filter->name.length > 0) {
        statement = STATEMENT_admin_cancel_find_name;
        key = db_text(filter->name);
    } else if (filter->batch != 0) {
        statement = STATEMENT_admin_cancel_find_batch;
        key = db_id(filter->batch);
    }
    enum status status =
        db_query(db, NULL, statement, DB_VALUES(key, db_id(last), db_id(CANCEL_ROWS)), &rows);
    if (status != STATUS_OK)
        return status;
    *ret_count = 0;
    while (*ret_count < CANCEL_ROWS && db_rows_next(&rows))
        ids[(*ret_count)++] = rows.cells[0].integer;
    return db_rows_end(&rows);
}

static enum status cancel_some(struct db *db, const int64_t *ids, size_t count, int64_t now,
                               struct cancelled *sums)
{
    struct db_cell cell;
    uint64_t workunits, results = 0;
    enum status status = db_run(db, STATEMENT_admin_cancel_workunits,
                                DB_VALUES(db_integer(now), db_numbers(ids, count)), &workunits);
    if (status == STATUS_OK)
        status =
            db_run(db, STATEMENT_admin_cancel_results, DB_VALUES(db_numbers(ids, count)), &results);
    if (status == STATUS_OK)
        status = db_query_one(db, NULL, STATEMENT_admin_cancel_still_out,
                              DB_VALUES(db_numbers(ids, count)), &cell, 1);
    if (status != STATUS_OK)
        return status;
    sums->workunits += workunits;
    sums->unsent += results;
    sums->in_progress += (uint64_t)cell.integer;
    return STATUS_OK;
}

enum status db_admin_cancel(struct db *db, const struct job_filter *filter, int64_t now,
                            struct cancelled *ret_cancelled)
{
    int64_t ids[CANCEL_ROWS];
    int64_t last = 0;
    size_t count;
    *ret_cancelled = (struct cancelled){0};
    do {
        enum status status = find_workunits(db, filter, last, ids, &count);
        if (status == STATUS_OK && count > 0)
            status = cancel_some(db, ids, count, now, ret_cancelled);
        if (status != STATUS_OK)
            return status;
        if (count > 0)
            last = ids[count - 1];
    } while (count == CANCEL_ROWS);
    return STATUS_OK;
}

enum status db_admin_message_add(struct db *db, int64_t hostid, struct text variety,
                                 struct text xml, int64_t now)
{
    return db_run(db, STATEMENT_admin_message_add,
                  DB_VALUES(db_integer(now), db_id(hostid), db_text(variety),
                            db_long_text(xml, DB_MEDIUM_MOST)),
                  NULL);
}
