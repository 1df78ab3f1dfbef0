/* SPDX-License-Identifier: Apache-2.0 */
#include "db/written.h"

#include "server/base/banned.h"

enum status written_read(struct id_cursor *rows, struct db_ids ids, uint64_t affected,
                         bool *ret_is_ours)
{
    struct id_row row;
    uint64_t found = 0;

    for (; DB_NEXT(rows, &row); found++) {
        size_t place = sorted_find_id(ids.items, ids.count, row.id);

        if (place < ids.count)
            ret_is_ours[place] = true;
    }
    if (DB_END(rows) != STATUS_OK)
        return DB_END(rows);
    return found == affected ? STATUS_OK : STATUS_DB_RETRY;
}
