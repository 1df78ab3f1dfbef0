/* SPDX-License-Identifier: Apache-2.0 */
#include "db/batches.h"

#include "db/admin.h"
#include "db/columns.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include "server/base/banned.h"

/* --- what there is --------------------------------------------------------------------------- */

/* The numbers rise where the rows fall. */
static enum status add_results(struct db *db, const struct answer_filter *filter,
                               const int64_t *numbers, struct batch_view *views, size_t count)
{
    struct batch_results_cursor cursor;
    struct batch_results_row row;
    enum status status = DB_QUERY(db, admin_batch_results, NULL, &cursor,
                                  .batches = {numbers, count}, .appid = filter->appid);

    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&cursor, &row)) {
        size_t at = sorted_find_id(numbers, count, row.batch);

        if (at == count)
            continue;
        views[count - 1 - at].unsent = row.unsent;
        views[count - 1 - at].in_progress = row.in_progress;
    }
    return DB_END(&cursor);
}

enum status db_batch_list(struct db *db, struct arena *arena, const struct answer_filter *filter,
                          struct batch_view **ret_batches, size_t *ret_count)
{
    struct batch_row *rows;
    struct batch_view *views;
    int64_t *numbers;
    size_t count;
    enum status status =
        DB_ALL(db, batches, arena, &rows, &count, .appid = filter->appid, .batch = filter->batch,
               .before = filter->before, .most = (int64_t)filter->most);

    if (status != STATUS_OK)
        return status;
    views = ARENA_ARRAY(arena, count, struct batch_view);
    numbers = ARENA_ARRAY(arena, count, int64_t);
    if (views == NULL || numbers == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        views[i].row = rows[i];
        numbers[count - 1 - i] = rows[i].batch;
    }
    *ret_batches = views;
    *ret_count = count;
    return add_results(db, filter, numbers, views, count);
}

enum status db_batch_find(struct db *db, struct arena *arena, int64_t id, struct text name,
                          struct batch_entry_row *ret_batch)
{
    struct batch_entry_row *rows;
    size_t count;
    enum status status = DB_ALL(db, batch_find, arena, &rows, &count, .id = id, .name = name);

    if (status != STATUS_OK)
        return status;
    if (count == 0)
        return STATUS_NOT_FOUND;
    *ret_batch = rows[0];
    return count == 1 ? STATUS_OK : STATUS_INVALID;
}

enum status db_batch_lock(struct db *db, struct arena *arena, int64_t id,
                          struct batch_entry_row *ret_batch)
{
    return DB_ONE(db, batch_lock, arena, ret_batch, .id = id);
}

/* --- what is done with one ------------------------------------------------------------------- */

enum status db_batch_add(struct db *db, const struct new_batch *batch, int64_t *ret_id)
{
    enum status status = DB_RUN(db, batch_add, NULL, .name = batch->name, .user_id = batch->userid,
                                .app_id = batch->appid, .create_time = batch->now,
                                .expire_time = batch->expire_time);

    if (status == STATUS_OK)
        *ret_id = db_inserted_id(db);
    return status;
}

enum status db_batch_rename(struct db *db, int64_t id, struct text name)
{
    return DB_RUN(db, batch_rename, NULL, .id = id, .name = name);
}

enum status db_batch_give(struct db *db, int64_t id, int64_t userid)
{
    return DB_RUN(db, batch_give, NULL, .id = id, .user_id = userid);
}

enum status db_batch_expire(struct db *db, int64_t id, int64_t expire_time)
{
    return DB_RUN(db, batch_expire, NULL, .id = id, .expire_time = expire_time);
}

enum status db_batch_open(struct db *db, int64_t id)
{
    return DB_RUN(db, batch_open, NULL, .id = id);
}

enum status db_batch_end(struct db *db, int64_t id, int64_t state, int64_t now)
{
    return DB_RUN(db, batch_end, NULL, .id = id, .state = state, .now = now);
}

enum status db_batch_refresh(struct db *db, int64_t id, int64_t now, int64_t *ret_unfinished)
{
    struct batch_count_row count;
    enum status status = DB_ONE(db, batch_count, NULL, &count, .batch = id);

    if (status != STATUS_OK)
        return status;
    *ret_unfinished = count.jobs - count.done - count.failed - count.cancelled;
    return DB_RUN(db, batch_refresh, NULL, .id = id, .jobs = count.jobs,
                  .unfinished = *ret_unfinished, .failed = count.failed + count.cancelled,
                  .credit = count.credit, .now = now);
}

/* --- many ------------------------------------------------------------------------------------ */

enum status db_batches_held(struct db *db, struct arena *arena, const int64_t *batches,
                            size_t count, int64_t **ret_held, size_t *ret_count)
{
    struct id_row *rows;
    enum status status = DB_ALL(db, batches_held, arena, &rows, ret_count,
                                .ids = db_sorted_ids(arena, batches, count));

    *ret_held = status == STATUS_OK ? ARENA_ARRAY(arena, *ret_count, int64_t) : NULL;
    if (status == STATUS_OK && *ret_held == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; status == STATUS_OK && i < *ret_count; i++)
        (*ret_held)[i] = rows[i].id;
    return status;
}

enum status db_batches_in_progress(struct db *db, struct arena *arena, int64_t after, size_t most,
                                   struct id_row **ret_ids, size_t *ret_count)
{
    return DB_ALL(db, batches_in_progress, arena, ret_ids, ret_count, .after = after,
                  .most = (int64_t)most);
}

enum status db_batches_expired(struct db *db, struct arena *arena, int64_t after, int64_t now,
                               size_t most, struct id_row **ret_ids, size_t *ret_count)
{
    return DB_ALL(db, batches_expired, arena, ret_ids, ret_count, .after = after, .now = now,
                  .most = (int64_t)most);
}
