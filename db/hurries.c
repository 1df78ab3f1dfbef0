/* SPDX-License-Identifier: Apache-2.0 */
#include "db/hurries.h"

#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_hurries(struct db *db, struct arena *arena, struct hurry_row **ret_rows,
                       size_t *ret_count)
{
    return DB_ALL(db, hurries, arena, ret_rows, ret_count, DB_NO_VALUES);
}

enum status db_hurry_want(struct db *db, int64_t batch, bool is_wanted)
{
    return DB_RUN(db, hurry_want, NULL, .batch = batch, .wanted = is_wanted);
}

enum status db_hurry_limit(struct db *db, int64_t batch, int64_t within)
{
    return DB_RUN(db, hurry_limit, NULL, .batch = batch, .within = within);
}

enum status db_hurry_forget(struct db *db)
{
    return DB_RUN(db, hurry_forget, NULL, DB_NO_VALUES);
}

enum status db_hurry_open(struct db *db, struct arena *arena, int64_t batch, size_t most,
                          struct open_result_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, batch_open_results, arena, ret_rows, ret_count, .batch = batch,
                  .most = (int64_t)most);
}

enum status db_hurry_answers(struct db *db, struct arena *arena, int64_t batch, size_t most,
                             struct batch_answer_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, batch_answers, arena, ret_rows, ret_count, .batch = batch,
                  .most = (int64_t)most);
}

enum status db_hurry_copy(struct db *db, const int64_t *workunitids, size_t count, int64_t now)
{
    return DB_RUN(db, hurry_copy, NULL, .ids = {workunitids, count}, .now = now);
}

enum status db_hurry_settle(struct db *db, const int64_t *workunitids, size_t count)
{
    return DB_RUN(db, hurry_settle, NULL, .ids = {workunitids, count});
}
