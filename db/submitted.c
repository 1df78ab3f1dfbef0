/* SPDX-License-Identifier: Apache-2.0 */
#include "db/submitted.h"

#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum status db_submitter_rights(struct db *db, int64_t userid,
                                struct submitter_rights_row *ret_rights)
{
    return DB_ONE(db, submitter_rights, NULL, ret_rights, .user_id = userid);
}

enum status db_submitter_has_app(struct db *db, int64_t userid, int64_t appid)
{
    struct id_row row;

    return DB_ONE(db, submitter_app, NULL, &row, .user_id = userid, .app_id = appid);
}

enum status db_owned_batches(struct db *db, struct arena *arena, int64_t userid, int64_t after,
                             size_t most, struct owned_batch_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, owned_batches, arena, ret_rows, ret_count, .user_id = userid, .after = after,
                  .most = (int64_t)most);
}

enum status db_owned_batch(struct db *db, struct arena *arena, int64_t userid, int64_t id,
                           struct text name, struct owned_batch_row *ret_row)
{
    return id != 0 ? DB_ONE(db, owned_batch, arena, ret_row, .user_id = userid, .id = id)
                   : DB_ONE(db, owned_batch_named, arena, ret_row, .user_id = userid, .name = name);
}

enum status db_batch_cpu_time(struct db *db, int64_t batch, double *ret_seconds)
{
    struct cpu_sum_row row;
    enum status status = DB_ONE(db, batch_cpu_time, NULL, &row, .batch = batch);

    if (status == STATUS_OK)
        *ret_seconds = row.cpu_time;
    return status;
}

enum status db_database_now(struct db *db, int64_t *ret_now)
{
    struct database_now_row row;
    enum status status = DB_ONE(db, database_now, NULL, &row, DB_NO_VALUES);

    if (status == STATUS_OK)
        *ret_now = row.now;
    return status;
}

enum status db_owned_jobs(struct db *db, struct arena *arena, int64_t batch, int64_t after,
                          int64_t since, size_t most, struct owned_job_row **ret_rows,
                          size_t *ret_count)
{
    return DB_ALL(db, owned_jobs, arena, ret_rows, ret_count, .batch = batch, .after = after,
                  .since = since, .most = (int64_t)most);
}

enum status db_owned_job(struct db *db, struct arena *arena, int64_t userid, int64_t id,
                         struct text name, struct owned_job_row *ret_row)
{
    return id != 0 ? DB_ONE(db, owned_job, arena, ret_row, .user_id = userid, .id = id)
                   : DB_ONE(db, owned_job_named, arena, ret_row, .user_id = userid, .name = name);
}

enum status db_owned_instances(struct db *db, struct arena *arena, const struct owned_job_row *jobs,
                               size_t job_count, struct owned_instance_row **ret_rows,
                               size_t *ret_count)
{
    int64_t *ids = ARENA_ARRAY(arena, job_count, int64_t);

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < job_count; i++)
        ids[i] = jobs[i].id;
    return DB_ALL(db, owned_instances, arena, ret_rows, ret_count, .workunitids = {ids, job_count});
}

enum status db_ended_instance(struct db *db, struct arena *arena, const struct owned_job_row *job,
                              struct ended_instance_row *ret_row)
{
    return DB_ONE(db, ended_instance, arena, ret_row, .workunitid = job->id,
                  .id = job->canonical_resultid);
}

/* --- what jobs gave back ---------------------------------------------------------------------- */

enum status db_output_of_result(struct db *db, struct arena *arena, struct text name,
                                struct owned_output_row *ret_row)
{
    return DB_ONE(db, owned_output_of_result, arena, ret_row, .name = name);
}

enum status db_output_of_job(struct db *db, struct arena *arena, int64_t id, struct text name,
                             struct owned_output_row *ret_row)
{
    return id != 0 ? DB_ONE(db, owned_output_of_job_id, arena, ret_row, .id = id)
                   : DB_ONE(db, owned_output_of_job, arena, ret_row, .name = name);
}

enum status db_outputs_of_batch(struct db *db, struct arena *arena, int64_t batch, int64_t after,
                                size_t most, struct owned_output_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, owned_outputs, arena, ret_rows, ret_count, .batch = batch, .after = after,
                  .most = (int64_t)most);
}

enum status db_batch_user(struct db *db, int64_t batch, int64_t *ret_userid)
{
    struct batch_user_row row;
    enum status status = DB_ONE(db, batch_user, NULL, &row, .id = batch);

    if (status == STATUS_OK)
        *ret_userid = row.user_id;
    return status;
}

/* --- files that submitters bring -------------------------------------------------------------- */

enum status db_job_file_is_of_others(struct db *db, struct text name, int64_t userid, bool *ret_is)
{
    struct id_row row;
    enum status status =
        DB_ONE(db, job_file_of_others, NULL, &row, .name = name, .user_id = userid);

    *ret_is = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status db_job_file_is_noted(struct db *db, struct arena *arena, struct text name, bool *ret_is)
{
    struct job_file_row row;
    enum status status = DB_ONE(db, job_file_find, arena, &row, .name = name);

    *ret_is = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status db_job_file_note(struct db *db, struct arena *arena, struct text name, double now,
                             double delete_time, int64_t batch)
{
    struct job_file_row row;
    enum status status = DB_RUN(db, job_file_add, NULL, .name = name, .create_time = now,
                                .delete_time = delete_time);

    if (status == STATUS_OK)
        status = DB_ONE(db, job_file_find, arena, &row, .name = name);
    if (status == STATUS_OK && !text_equal(row.name, name))
        return STATUS_INVALID;
    return status == STATUS_OK && batch != 0
               ? DB_RUN(db, job_file_assign, NULL, .job_file_id = row.id, .batch_id = batch)
               : status;
}
