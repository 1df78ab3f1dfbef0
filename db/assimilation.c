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

enum status db_assimilation_job(struct db *db, struct arena *arena, int64_t id,
                                struct finished_job_row *ret_job)
{
    return DB_ONE(db, assimilation_job, arena, ret_job, .id = id);
}

enum status db_assimilation_save(struct db *db, int64_t id, int64_t assimilate_state,
                                 int64_t error_bits, int64_t transition_time)
{
    return DB_RUN(db, assimilation_save, NULL, .id = id, .assimilate_state = assimilate_state,
                  .error_bits = error_bits, .transition_time = transition_time);
}
