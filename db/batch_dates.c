/* SPDX-License-Identifier: Apache-2.0 */
#include "db/batch_dates.h"

#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_recent_results(struct db *db, struct arena *arena, int64_t appid, size_t most,
                              struct recent_result_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, recent_results, arena, ret_rows, ret_count, .appid = appid,
                  .most = (int64_t)most);
}

enum status db_batch_lacking(struct db *db, struct arena *arena, int64_t batch, size_t most,
                             struct lacking_result_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, batch_lacking_results, arena, ret_rows, ret_count, .batch = batch,
                  .most = (int64_t)most);
}

enum status db_batch_hand_out(struct db *db, int64_t batch, int64_t since,
                              struct batch_hand_out_row *ret_row)
{
    return DB_ONE(db, batch_hand_out, NULL, ret_row, .batch = batch, .since = since);
}

enum status db_results_ahead(struct db *db, int64_t priority, int64_t from, int64_t before,
                             int64_t most, int64_t *ret_count)
{
    struct results_counted_row row = {.results = 0};
    enum status status = DB_ONE(db, results_ahead, NULL, &row, .priority = priority, .from = from,
                                .before = before, .most = most);

    *ret_count = row.results;
    return status;
}

enum status db_batch_date_note(struct db *db, const struct batch_date_note *note)
{
    enum status status =
        DB_RUN(db, batch_date_write, NULL, .batch = note->batch, .half = note->half);

    return status == STATUS_OK
               ? DB_RUN(db, batch_date_note, NULL, .batch = note->batch, .half = note->half,
                        .most = note->most, .ahead = note->ahead, .now = note->now)
               : status;
}

enum status db_batch_dates_forget(struct db *db)
{
    return DB_RUN(db, batch_dates_forget, NULL, DB_NO_VALUES);
}
