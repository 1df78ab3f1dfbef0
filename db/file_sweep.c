/* SPDX-License-Identifier: Apache-2.0 */
#include "db/file_sweep.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum status db_sweep_known_results(struct db *db, struct arena *arena, const struct text *names,
                                   size_t count, struct text **ret_known, size_t *ret_count)
{
    struct result_name_row *rows;
    struct text *known;
    enum status status =
        DB_ALL(db, sweep_known_results, arena, &rows, ret_count, .names = {names, count});

    if (status != STATUS_OK)
        return status;
    known = ARENA_ARRAY(arena, *ret_count, struct text);
    if (known == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < *ret_count; i++)
        known[i] = rows[i].name;
    *ret_known = known;
    return STATUS_OK;
}

enum status db_sweep_next_result(struct db *db, int64_t *ret_id)
{
    struct id_row row;
    enum status status = DB_ONE(db, sweep_next_result, NULL, &row, DB_NO_VALUES);

    if (status == STATUS_OK)
        *ret_id = row.id;
    return status;
}
