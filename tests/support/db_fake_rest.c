/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that requests can make and no unit test has an answer for: to be answered here when one
 * needs them. They stand here so that nothing of the room db is linked. */
#include "tests/support/db_fake_parts.h"

#include "db/files.h"

const char db_fake_rest = 1;

#define NO_ANSWER(call, ...)      \
    enum status call(__VA_ARGS__) \
    {                             \
        return CALL(0);           \
    }

NO_ANSWER(db_catalog, struct db *db, struct arena *arena, struct catalog_rows *ret_rows)
NO_ANSWER(db_hurries, struct db *db, struct arena *arena, struct hurry_row **ret_rows,
          size_t *ret_count)
NO_ANSWER(db_host_flops, struct db *db, struct arena *arena, int64_t most, double **ret_flops,
          size_t *ret_count)
NO_ANSWER(db_host_presences, struct db *db, struct arena *arena, int64_t most,
          struct text **ret_presences, size_t *ret_count)

NO_ANSWER(db_assigned_insert, struct db *db, const struct assigned_result *result, int64_t *ret_id)
NO_ANSWER(db_assignments_delete, struct db *db, const int64_t *ids, size_t count)

NO_ANSWER(db_files_open, const struct config *config, struct db **ret_db, struct failure *failure)
NO_ANSWER(db_files_of_host, struct db *db, struct arena *arena, int64_t hostid,
          struct host_file_row **ret_rows, size_t *ret_count)
NO_ANSWER(db_files_save, struct db *db, struct arena *arena, const struct host_file_row *rows,
          size_t count)
NO_ANSWER(db_files_seen, struct db *db, int64_t hostid, int64_t now)
NO_ANSWER(db_files_forget, struct db *db, int64_t hostid, const struct text *names, size_t count)
NO_ANSWER(db_file_orders_open, struct db *db, struct arena *arena, int64_t hostid,
          struct file_order_row **ret_orders, size_t *ret_count)
NO_ANSWER(db_file_orders_add, struct db *db, struct arena *arena,
          const struct file_order_row *orders, size_t count)
NO_ANSWER(db_file_orders_save, struct db *db, struct arena *arena,
          const struct file_order_row *orders, size_t count)
NO_ANSWER(db_file_orders_clean_host, struct db *db, int64_t hostid, int64_t now)

void db_close(struct db *db)
{
}
