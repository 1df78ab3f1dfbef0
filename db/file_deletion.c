/* SPDX-License-Identifier: Apache-2.0 */
#include "db/file_deletion.h"
#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_deletion_results(struct db *db, struct arena *arena, int64_t state, int64_t after,
                                struct deletable_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, deletion_results, arena, ret_rows, ret_count, .state = state, .after = after,
                  .most = DB_DELETION_MOST);
}

enum status db_deletion_workunits(struct db *db, struct arena *arena, int64_t state, int64_t after,
                                  struct deletable_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, deletion_workunits, arena, ret_rows, ret_count, .state = state,
                  .after = after, .most = DB_DELETION_MOST);
}

enum status db_deletion_job_files(struct db *db, struct arena *arena, bool are_held, int64_t now,
                                  int64_t after, struct job_file_row **ret_rows, size_t *ret_count)
{
    return are_held ? DB_ALL(db, deletion_held_files, arena, ret_rows, ret_count, .now = now,
                             .after = after, .most = DB_DELETION_MOST)
                    : DB_ALL(db, deletion_due_files, arena, ret_rows, ret_count, .now = now,
                             .after = after, .most = DB_DELETION_MOST);
}

enum status db_deletion_forget_job_files(struct db *db, const int64_t *ids, size_t count)
{
    const struct db_ids gone = {ids, count};
    enum status status = DB_RUN(db, deletion_forget_assigned, NULL, .ids = gone);

    return status == STATUS_OK ? DB_RUN(db, deletion_forget_files, NULL, .ids = gone) : status;
}

enum status db_deletion_save_results(struct db *db, struct arena *arena, const int64_t *ids,
                                     size_t count, int64_t state)
{
    return DB_RUN(db, deletion_save_results, NULL, .ids = db_sorted_ids(arena, ids, count),
                  .state = state);
}

enum status db_deletion_save_workunits(struct db *db, struct arena *arena, const int64_t *ids,
                                       size_t count, int64_t state)
{
    return DB_RUN(db, deletion_save_workunits, NULL, .ids = db_sorted_ids(arena, ids, count),
                  .state = state);
}
