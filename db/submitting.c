/* SPDX-License-Identifier: Apache-2.0 */
#include "db/submitting.h"

#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

/* --- the row ---------------------------------------------------------------------------------- */

enum status db_submission_add(struct db *db, const struct new_batch *batch, int64_t *ret_id)
{
    enum status status =
        DB_RUN(db, submission_add, NULL, .name = batch->name, .user_id = batch->userid,
               .app_id = batch->appid, .create_time = batch->now);

    if (status == STATUS_OK)
        *ret_id = db_inserted_id(db);
    return status;
}

static enum status if_any(enum status status, uint64_t rows)
{
    return status == STATUS_OK && rows == 0 ? STATUS_NOT_FOUND : status;
}

enum status db_submission_begin(struct db *db, int64_t id, int64_t jobs, double logical_end_time)
{
    uint64_t rows = 0;
    enum status status = DB_RUN(db, submission_begin, &rows, .id = id, .jobs = jobs,
                                .logical_end_time = logical_end_time);

    return if_any(status, rows);
}

enum status db_submission_renew(struct db *db, int64_t id)
{
    uint64_t rows = 0;
    enum status status = DB_RUN(db, submission_renew, &rows, .id = id);

    return if_any(status, rows);
}

enum status db_submission_accept(struct db *db, int64_t id)
{
    uint64_t rows = 0;
    enum status status = DB_RUN(db, submission_accept, &rows, .id = id);

    return if_any(status, rows);
}

enum status db_submission_lock_abandoned(struct db *db, int64_t id, bool *ret_is_accepted)
{
    struct abandoned_row row;
    enum status status = DB_ONE(db, submission_abandoned_lock, NULL, &row, .id = id);

    *ret_is_accepted = status == STATUS_OK && row.state != BATCH_INIT;
    return status;
}

enum status db_submission_end(struct db *db, int64_t id)
{
    return DB_RUN(db, submission_end, NULL, .id = id);
}

enum status db_submission_undo(struct db *db, int64_t id)
{
    enum status status = DB_RUN(db, submission_forget, NULL, .id = id);

    return status == STATUS_OK ? DB_RUN(db, submission_undo, NULL, .id = id) : status;
}

enum status db_submission_fate(struct db *db, int64_t id, struct submission_fate_row *ret_fate)
{
    return DB_ONE(db, submission_fate, NULL, ret_fate, .id = id);
}

enum status db_submissions_abandoned(struct db *db, struct arena *arena, size_t most,
                                     struct abandoned_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, submissions_abandoned, arena, ret_rows, ret_count, .most = (int64_t)most);
}

/* --- its jobs --------------------------------------------------------------------------------- */

enum status db_submission_counted(struct db *db, int64_t id, int64_t *ret_jobs)
{
    struct jobs_counted_row row;
    enum status status = DB_ONE(db, submission_counted, NULL, &row, .batch = id);

    if (status == STATUS_OK)
        *ret_jobs = row.jobs;
    return status;
}

static enum status read_held(struct db *db, struct arena *arena, int64_t id,
                             struct submission_place *place, struct db_ids *ret_ids)
{
    int64_t *ids = ARENA_ARRAY(arena, SUBMISSION_PART, int64_t);
    struct id_cursor cursor;
    size_t count = 0;
    enum status status;

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    status = DB_QUERY(db, submission_held, NULL, &cursor, .batch = id, .after = place->after,
                      .most = SUBMISSION_PART);
    if (status == STATUS_OK)
        status = db_read_ids(&cursor, ids, SUBMISSION_PART, &count);
    *ret_ids = (struct db_ids){ids, count};
    place->is_last = status == STATUS_OK && count < SUBMISSION_PART;
    if (status == STATUS_OK && count > 0)
        place->after = ids[count - 1];
    return status;
}

enum status db_submission_release(struct db *db, struct arena *arena, int64_t id, int64_t now,
                                  struct submission_place *place)
{
    struct db_ids ids;
    enum status status = read_held(db, arena, id, place, &ids);

    return status == STATUS_OK
               ? DB_RUN(db, submission_release, NULL, .workunitids = ids, .now = now)
               : status;
}

enum status db_submission_drop(struct db *db, struct arena *arena, int64_t id,
                               struct submission_place *place)
{
    struct db_ids ids;
    enum status status = read_held(db, arena, id, place, &ids);

    return status == STATUS_OK ? DB_RUN(db, submission_drop, NULL, .workunitids = ids) : status;
}

/* --- the submitter ---------------------------------------------------------------------------- */

enum status db_submitter_jobs(struct db *db, int64_t userid, bool exactly, int64_t *ret_jobs)
{
    struct jobs_open_row row;
    enum status status = exactly
                             ? DB_ONE(db, submitter_jobs, NULL, &row, .user_id = userid)
                             : DB_ONE(db, submitter_jobs_at_most, NULL, &row, .user_id = userid);

    if (status == STATUS_OK)
        *ret_jobs = row.jobs;
    return status;
}

enum status db_submitter_share(struct db *db, int64_t userid, int64_t appid, double since,
                               struct submitter_share_row *ret_share)
{
    return DB_ONE(db, submitter_share, NULL, ret_share, .user_id = userid, .app_id = appid,
                  .since = since);
}

enum status db_submitter_advance(struct db *db, int64_t userid, double logical_start_time)
{
    return DB_RUN(db, submitter_advance, NULL, .user_id = userid,
                  .logical_start_time = logical_start_time);
}

enum status db_users_credit(struct db *db, double *ret_credit)
{
    struct credit_sum_row row;
    enum status status = DB_ONE(db, users_credit, NULL, &row, DB_NO_VALUES);

    if (status == STATUS_OK)
        *ret_credit = row.credit;
    return status;
}
