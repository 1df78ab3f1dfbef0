/* SPDX-License-Identifier: Apache-2.0 */
#include "db/assimilation.h"
#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_assimilation_due(struct db *db, int64_t appid, int64_t after, int64_t *ret_ids,
                                size_t most, size_t *ret_count)
{
    struct id_cursor rows;
    enum status status = DB_QUERY(db, assimilation_due, NULL, &rows, .appid = appid, .after = after,
                                  .most = (int64_t)most);

    return status == STATUS_OK ? db_read_ids(&rows, ret_ids, most, ret_count) : status;
}

enum status db_assimilation_last(struct db *db, int64_t appid, int64_t *ret_id)
{
    struct id_row row;
    enum status status = DB_ONE(db, assimilation_last, NULL, &row, .appid = appid);

    if (status == STATUS_OK)
        *ret_id = row.id;
    return status;
}

enum status db_assimilation_jobs(struct db *db, struct arena *arena, const int64_t *ids,
                                 size_t count, struct finished_job_row **ret_jobs,
                                 size_t *ret_count)
{
    return DB_ALL(db, assimilation_jobs, arena, ret_jobs, ret_count, .ids = {ids, count});
}

enum status db_assimilation_save(struct db *db, const int64_t *ids, size_t count,
                                 const struct assimilated *as, size_t *ret_count)
{
    uint64_t affected = 0;
    enum status status =
        DB_RUN(db, assimilation_save, &affected, .ids = {ids, count},
               .assimilate_state = as->assimilate_state, .error_bits = as->error_bits,
               .transition_time = as->transition_time);

    if (status == STATUS_OK)
        *ret_count = (size_t)affected;
    return status;
}
