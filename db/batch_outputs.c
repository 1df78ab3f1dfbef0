/* SPDX-License-Identifier: Apache-2.0 */
#include "db/batch_outputs.h"

#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_batch_outputs_next(struct db *db, int64_t after, struct outputs_count_row *ret_batch)
{
    return DB_ONE(db, batch_outputs_next, NULL, ret_batch, .after = after);
}

enum status db_batch_outputs(struct db *db, struct arena *arena,
                             const struct outputs_count_row *batch, size_t most,
                             struct job_output_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, batch_outputs, arena, ret_rows, ret_count, .batch = batch->id,
                  .after = batch->place, .most = (int64_t)most);
}

enum status db_batch_outputs_save(struct db *db, const struct outputs_count_row *batch)
{
    return DB_RUN(db, batch_outputs_save, NULL, .batch = batch->id,
                  .fraction_done = batch->fraction_done, .nerror_jobs = batch->nerror_jobs,
                  .place = batch->place, .counting = batch->counting);
}

enum status db_batch_outputs_forget(struct db *db)
{
    return DB_RUN(db, batch_outputs_forget, NULL, DB_NO_VALUES);
}
