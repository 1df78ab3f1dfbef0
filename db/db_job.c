/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that the database says a host has: listed, sent again, or given up. */
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>

#include "server/base/banned.h"

int db_compare_results_by_age(const void *result, const void *other)
{
    const struct result_row *left = result, *right = other;

    if (left->sent_time != right->sent_time)
        return left->sent_time < right->sent_time ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

int db_compare_jobs_by_age(const void *job, const void *other)
{
    return db_compare_results_by_age(&((const struct host_job *)job)->result,
                                     &((const struct host_job *)other)->result);
}

/* The rows of a query as jobs. */
static enum status take_jobs(struct arena *arena, const struct host_job_row *rows, size_t count,
                             struct host_job **ret_jobs, size_t *ret_count)
{
    struct host_job *jobs = ARENA_ARRAY(arena, count, struct host_job);

    if (jobs == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        jobs[i] = (struct host_job){.result = rows[i].result, .workunit = rows[i].workunit};
    *ret_jobs = jobs;
    *ret_count = count;
    return STATUS_OK;
}

enum status db_host_ask_ahead(struct db *db, int64_t hostid, bool with_workunits, size_t most)
{
    enum status status = DB_QUERY_AHEAD(db, host_app_versions, .hostid = hostid);

    if (status != STATUS_OK)
        return status;
    return with_workunits
               ? DB_QUERY_AHEAD(db, jobs_in_progress, .hostid = hostid, .most = (int64_t)most)
               : DB_QUERY_AHEAD(db, results_in_progress, .hostid = hostid, .most = (int64_t)most);
}

enum status db_results_in_progress(struct db *db, struct arena *arena, int64_t hostid, size_t most,
                                   struct result_row **ret_rows, size_t *ret_count)
{
    enum status status = DB_ALL(db, results_in_progress, arena, ret_rows, ret_count,
                                .hostid = hostid, .most = (int64_t)most);

    if (status == STATUS_OK && *ret_count > 1)
        qsort(*ret_rows, *ret_count, sizeof((*ret_rows)[0]), db_compare_results_by_age);
    return status;
}

enum status db_host_memory_peaks(struct db *db, struct arena *arena, int64_t hostid, size_t most,
                                 struct memory_peak **ret_peaks, size_t *ret_count)
{
    struct memory_peak_row *rows;
    enum status status = DB_ALL(db, host_memory_peaks, arena, &rows, ret_count, .hostid = hostid,
                                .most = (int64_t)most);

    if (status != STATUS_OK)
        return status;
    *ret_peaks = ARENA_ARRAY(arena, *ret_count, struct memory_peak);
    if (*ret_peaks == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < *ret_count; i++)
        (*ret_peaks)[i] = (struct memory_peak){.appid = rows[i].appid,
                                               .app_version_id = rows[i].app_version_id,
                                               .bytes = rows[i].bytes};
    return STATUS_OK;
}

enum status db_jobs_in_progress(struct db *db, struct arena *arena, int64_t hostid, size_t most,
                                struct host_job **ret_jobs, size_t *ret_count)
{
    struct host_job_row *rows;
    size_t count;
    enum status status =
        DB_ALL(db, jobs_in_progress, arena, &rows, &count, .hostid = hostid, .most = (int64_t)most);

    if (status == STATUS_OK)
        status = take_jobs(arena, rows, count, ret_jobs, ret_count);
    if (status == STATUS_OK && count > 1)
        qsort(*ret_jobs, count, sizeof((*ret_jobs)[0]), db_compare_jobs_by_age);
    return status;
}

enum status db_jobs_by_name(struct db *db, struct arena *arena, int64_t hostid,
                            const struct text *names, size_t count, struct host_job **ret_jobs,
                            size_t *ret_count)
{
    struct host_job_row *rows;
    size_t found;
    enum status status =
        DB_ALL(db, jobs_by_name, arena, &rows, &found, .names = {names, count}, .hostid = hostid);

    return status == STATUS_OK ? take_jobs(arena, rows, found, ret_jobs, ret_count) : status;
}

/* Workunits before results, and both in order of id. */
static enum status save_transitions(struct db *db, struct workunit_transition_by_values *values,
                                    size_t count)
{
    qsort(values, count, sizeof(values[0]), sorted_compare_ids);
    return DB_RUN_BULK(db, workunit_transition_by, values, count, NULL);
}

enum status db_jobs_resend(struct db *db, struct arena *arena, const struct resent_job *jobs,
                           size_t count)
{
    struct workunit_transition_by_values *transitions =
        ARENA_ARRAY(arena, count, struct workunit_transition_by_values);
    struct result_resend_values *results = ARENA_ARRAY(arena, count, struct result_resend_values);
    struct sent_variant *sent = ARENA_ARRAY(arena, count, struct sent_variant);
    size_t sent_count = 0;
    enum status status;

    if (transitions == NULL || results == NULL || sent == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        transitions[i] = (struct workunit_transition_by_values){.id = jobs[i].workunitid,
                                                                .time = jobs[i].report_deadline};
        results[i] = (struct result_resend_values){.id = jobs[i].resultid,
                                                   .sent_time = jobs[i].sent_time,
                                                   .report_deadline = jobs[i].report_deadline,
                                                   .app_version_id = jobs[i].app_version_id,
                                                   .flops_estimate = jobs[i].flops_estimate};
        if (jobs[i].variant != 0)
            sent[sent_count++] = (struct sent_variant){.resultid = jobs[i].resultid,
                                                       .workunitid = jobs[i].workunitid,
                                                       .variant = jobs[i].variant};
    }
    status = save_transitions(db, transitions, count);
    qsort(results, count, sizeof(results[0]), sorted_compare_ids);
    if (status == STATUS_OK)
        status = DB_RUN_BULK(db, result_resend, results, count, NULL);
    return status == STATUS_OK && sent_count > 0
               ? db_result_variants_save(db, arena, sent, sent_count)
               : status;
}

enum status db_results_extend(struct db *db, struct arena *arena,
                              const struct extended_result *results, size_t count)
{
    struct result_extend_values *values = ARENA_ARRAY(arena, count, struct result_extend_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct result_extend_values){.id = results[i].id,
                                                  .workunitids = {&results[i].workunitid, 1},
                                                  .report_deadline = results[i].deadline};
    qsort(values, count, sizeof(values[0]), sorted_compare_ids);
    return DB_RUN_BULK(db, result_extend, values, count, NULL);
}

enum status db_jobs_give_up(struct db *db, const struct host_job *jobs, size_t count,
                            int64_t deadline)
{
    struct workunit_transition_by_values *transitions = calloc(count + 1, sizeof(transitions[0]));
    size_t transition_count = 0;
    struct result_give_up_values *results = calloc(count + 1, sizeof(results[0]));
    enum status status = STATUS_NO_MEMORY;

    if (transitions == NULL || results == NULL)
        goto done;
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].workunit.id != 0)
            transitions[transition_count++] =
                (struct workunit_transition_by_values){.id = jobs[i].workunit.id, .time = deadline};
        results[i] =
            (struct result_give_up_values){.id = jobs[i].result.id, .report_deadline = deadline};
    }
    status = save_transitions(db, transitions, transition_count);
    qsort(results, count, sizeof(results[0]), sorted_compare_ids);
    if (status == STATUS_OK)
        status = DB_RUN_BULK(db, result_give_up, results, count, NULL);
done:
    free(transitions);
    free(results);
    return status;
}
