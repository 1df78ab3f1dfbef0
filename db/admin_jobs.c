/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs are made by the thousand: rows go in bulk, and the numbers that the database gave to new
 * workunits are asked for by name afterwards, since a bulk insert tells only the first and other
 * programs insert at the same time. Workunits are always locked before results. */
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

static struct admin_workunit_add_values workunit_values(const struct new_workunit *row)
{
    return (struct admin_workunit_add_values){.create_time = row->create_time,
                                              .appid = row->appid,
                                              .name = row->name,
                                              .xml_doc = row->xml_doc,
                                              .batch = row->batch,
                                              .rsc_fpops_est = row->rsc_fpops_est,
                                              .rsc_fpops_bound = row->rsc_fpops_bound,
                                              .rsc_memory_bound = row->rsc_memory_bound,
                                              .rsc_disk_bound = row->rsc_disk_bound,
                                              .rsc_bandwidth_bound = row->rsc_bandwidth_bound,
                                              .credit = row->credit,
                                              .transition_time = row->transition_time,
                                              .delay_bound = row->delay_bound,
                                              .hr_class = row->hr_class,
                                              .min_quorum = row->min_quorum,
                                              .target_nresults = row->target_nresults,
                                              .max_error_results = row->max_error_results,
                                              .max_total_results = row->max_total_results,
                                              .max_success_results = row->max_success_results,
                                              .result_template_file = row->result_template_file,
                                              .priority = row->priority,
                                              .size_class = row->size_class,
                                              .keywords = row->keywords,
                                              .app_version_num = row->app_version_num,
                                              .transitioner_flags = row->transitioner_flags};
}

struct named {
    struct text name;
    size_t index;
};

static int compare_named(const void *a, const void *b)
{
    return text_compare(((const struct named *)a)->name, ((const struct named *)b)->name);
}

enum status db_admin_workunit_ids(struct db *db, struct arena *arena,
                                  const struct new_workunit *rows, size_t count, int64_t *ret_ids,
                                  size_t *ret_found)
{
    struct named *sorted = ARENA_ARRAY(arena, count, struct named);
    struct text *names = ARENA_ARRAY(arena, count, struct text);
    struct id_of_name_cursor ids;
    struct id_of_name_row id;
    enum status status;

    *ret_found = 0;
    if (sorted == NULL || names == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = (struct named){.name = rows[i].name, .index = i};
        names[i] = rows[i].name;
        ret_ids[i] = 0;
    }
    qsort(sorted, count, sizeof *sorted, compare_named);
    status = DB_QUERY(db, admin_workunit_ids, arena, &ids, .names = {names, count});
    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&ids, &id)) {
        struct named key = {.name = id.name};
        const struct named *hit = bsearch(&key, sorted, count, sizeof *sorted, compare_named);

        if (hit == NULL)
            continue;
        ret_ids[hit->index] = id.id;
        (*ret_found)++;
    }
    return DB_END(&ids);
}

enum status db_admin_workunits_add(struct db *db, struct arena *arena,
                                   const struct new_workunit *rows, size_t count, int64_t *ret_ids)
{
    struct admin_workunit_add_values *values =
        ARENA_ARRAY(arena, count, struct admin_workunit_add_values);
    size_t found = 0;
    enum status status;

    if (values == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        values[i] = workunit_values(&rows[i]);
    status = DB_RUN_BULK(db, admin_workunit_add, values, count, NULL);
    if (status == STATUS_OK)
        status = db_admin_workunit_ids(db, arena, rows, count, ret_ids, &found);
    return status == STATUS_OK && found < count ? STATUS_DB_BUG : status;
}

enum status db_admin_results_add(struct db *db, struct arena *arena, const struct new_result *rows,
                                 size_t count)
{
    struct admin_result_add_values *values =
        ARENA_ARRAY(arena, count, struct admin_result_add_values);

    if (values == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct admin_result_add_values){.create_time = rows[i].create_time,
                                                     .workunitid = rows[i].workunitid,
                                                     .server_state = rows[i].server_state,
                                                     .name = rows[i].name,
                                                     .xml_doc_in = rows[i].xml_doc_in,
                                                     .batch = rows[i].batch,
                                                     .random = rows[i].random,
                                                     .appid = rows[i].appid,
                                                     .priority = rows[i].priority,
                                                     .size_class = rows[i].size_class};
    return DB_RUN_BULK(db, admin_result_add, values, count, NULL);
}

enum status db_admin_target_exists(struct db *db, const struct job_target *target, bool *ret_exists)
{
    struct target_row row;
    enum status status =
        DB_ONE(db, admin_target_exists, NULL, &row, .type = target->type, .id = target->id);

    if (status == STATUS_OK)
        *ret_exists = row.is_there != 0;
    return status;
}

enum status db_admin_assignments_add(struct db *db, struct arena *arena,
                                     const struct job_target *target, const int64_t *workunitids,
                                     size_t count, int64_t now)
{
    struct admin_assignment_add_values *values =
        ARENA_ARRAY(arena, count, struct admin_assignment_add_values);

    if (values == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct admin_assignment_add_values){.create_time = now,
                                                         .target_id = target->id,
                                                         .target_type = target->type,
                                                         .multi = target->is_multi,
                                                         .workunitid = workunitids[i]};
    return DB_RUN_BULK(db, admin_assignment_add, values, count, NULL);
}

enum status db_admin_message_add(struct db *db, int64_t hostid, struct text variety,
                                 struct text xml, int64_t now)
{
    return DB_RUN(db, admin_message_add, NULL, .create_time = now, .hostid = hostid,
                  .variety = variety, .xml = xml);
}
