/* SPDX-License-Identifier: Apache-2.0 */
#include "db/written.h"

#include "server/base/banned.h"

enum status written_read(struct written_cursor *rows, struct db_ids ids, uint64_t affected,
                         bool *ret_is_ours)
{
    struct written_row row;
    uint64_t found = 0;
    bool was_passed_over = false;

    for (; DB_NEXT(rows, &row); found++) {
        size_t place = sorted_find_id(ids.items, ids.count, row.id);

        was_passed_over = was_passed_over || row.is_open != 0;
        if (place < ids.count)
            ret_is_ours[place] = true;
    }
    if (DB_END(rows) != STATUS_OK)
        return DB_END(rows);
    return found == affected && !was_passed_over ? STATUS_OK : STATUS_DB_RETRY;
}
